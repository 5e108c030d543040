"""A page's server for tests: a process of its own on a free port, ended with the test."""

import subprocess
import sys
from contextlib import contextmanager


@contextmanager
def serving(*words):
    """Yield the address of `linsep play`, which ends afterwards."""
    command = [sys.executable, "-c", "from linsep.cli import run; run()", "play", *map(str, words), "--no-browser"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address = running.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), running.communicate(timeout=10)[1]
        yield address
    finally:
        running.terminate()
        try:
            running.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            running.kill()
            running.communicate()
