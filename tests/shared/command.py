"""The command for tests: in a process of its own, or here, where it starts at once."""

import io
import json
import os
import subprocess
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import pytest

from linsep import cli

COMMAND = Path(sys.executable).with_name("linsep.exe" if os.name == "nt" else "linsep")
#: How pandas reads floats to the last digit: of its own accord since 3, which does not want to be told.
EXACTLY = {"float_precision": "round_trip"} if version("pandas").startswith("2.") else {}


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: bytes
    err: bytes


def spawn(*arguments, stdin=b""):
    """Run the installed command in a process of its own."""
    done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, input=stdin, timeout=300, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


def call(*arguments, stdin=b""):
    """Run the command here: what the installed script does, on streams of its own, with a command's warnings."""
    streams = dict(stdin=io.BytesIO(stdin), stdout=io.BytesIO(), stderr=io.BytesIO())
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.resetwarnings()
        patch.setattr(sys, "argv", [str(COMMAND), *map(str, arguments)])
        for name, stream in streams.items():
            patch.setattr(sys, name, io.TextIOWrapper(stream, encoding="utf-8", write_through=True))
        try:
            code = cli.main()
        except SystemExit as end:
            code = end.code
        sys.stdout.detach(), sys.stderr.detach()
    return Done(code or 0, streams["stdout"].getvalue(), streams["stderr"].getvalue())


def run(*arguments, code=0, stdin=b""):
    """Run the command, expect its exit code, and no traceback."""
    done = call(*arguments, stdin=stdin)
    out, err = done.out.decode(), done.err.decode()
    assert done.code == code, (out, err)
    assert "Traceback" not in err
    return out if code == 0 else err


def run_json(*arguments, code=0):
    """Run the command here; return what it says as JSON."""
    done = call(*arguments, "--json")
    assert done.code == code, done.err
    return json.loads(done.out)
