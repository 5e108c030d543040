"""A run that survives: cases in a child with bounds on time and memory, begun again after the case that ended it."""

from __future__ import annotations

import faulthandler
import mmap
import os
import random
import resource
import signal
import struct
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

SECONDS = 20  # of a processor, for one case
LOT = 5000  # cases of one child: address space that is reserved and not used adds up


@dataclass(frozen=True)
class Target:
    """Something to attack: how a case is drawn, and what is done with it. It may only return."""

    draw: Callable[[random.Random], Any]
    attack: Callable[[Any], None]


class Endless(Exception):  # noqa: N818
    """A case took too long."""


def _too_long(number: int, frame: FrameType | None) -> None:
    raise Endless(f"no end within {SECONDS} s")


def case_of(name: str, target: Target, number: int) -> Any:
    """Return the case of a number: the same every time."""
    return target.draw(random.Random(f"{name}:{number}"))


def run(name: str, target: Target, first: int, cases: int, memory: int, minutes: float) -> tuple[int, list[str]]:
    """Return how many cases there were, and what was found; a crash is found by the parent."""
    shared, found, until = mmap.mmap(-1, 16), list[str](), time.monotonic() + 60 * minutes
    at, end = first, first + cases
    while at < end and time.monotonic() < until:
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            _child(name, target, range(at, min(at + LOT, end)), shared, writing, memory, until)
        os.close(writing)
        with os.fdopen(reading, "rb") as said:
            found += said.read().decode("utf-8", "replace").splitlines()
        _, status = os.waitpid(pid, 0)
        (done,) = struct.unpack("<q", shared[:8])
        code = os.waitstatus_to_exitcode(status)
        if code != 0:
            found.append(f"{name} {done}: the process ended with {code}")
            at = done + 1
        else:
            at = done
    return at - first, found


def _child(
    name: str, target: Target, numbers: range, shared: mmap.mmap, writing: int, memory: int, until: float
) -> None:
    """Try cases, say what is wrong with them, and never come back."""
    code = 1
    try:
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        faulthandler.enable()
        signal.signal(signal.SIGVTALRM, _too_long)
        for number in numbers:
            shared[:8] = struct.pack("<q", number)
            if time.monotonic() > until:
                break
            try:
                case = case_of(name, target, number)
            except MemoryError:  # of addresses that earlier cases have left reserved: the next child has them again
                if number == numbers.start:
                    raise
                break
            signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
            try:
                target.attack(case)
            except Exception as error:  # noqa: BLE001  whatever else comes out is what is looked for
                where = traceback.extract_tb(error.__traceback__)[-1]
                line = f"{name} {number}: {type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
                os.write(writing, (" ".join(line.split())[:300] + "\n").encode())
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        else:
            shared[:8] = struct.pack("<q", numbers.stop)
        code = 0
    except BaseException:  # noqa: BLE001  the parent's code must not run on in the child
        traceback.print_exc(file=sys.stderr)
    finally:
        os._exit(code)
