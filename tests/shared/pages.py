"""A page's server for tests: a process of its own on a free port, ended with the test."""

import contextlib
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager


@contextmanager
def serving(*words):
    """Yield the address of `linsep play`, which ends afterwards."""
    command = [sys.executable, "-c", "from linsep.cli import run; run()", "play", *map(str, words), "--no-browser"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address = running.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), running.communicate(timeout=10)[1]
        _until_it_answers(address)
        yield address
    finally:
        running.terminate()
        try:
            running.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            running.kill()
            running.communicate()


def _until_it_answers(address):
    """Wait until who computes has loaded what that takes, long on a busy machine: an empty file is refused then."""
    origin = address.rstrip("/").rpartition("/")[0]
    request = urllib.request.Request(address + "upload", data=b"", headers={"Origin": origin})
    with contextlib.suppress(urllib.error.HTTPError):
        urllib.request.urlopen(request, timeout=120).close()
