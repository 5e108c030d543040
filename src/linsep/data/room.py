"""How much memory there is for data, and files that would take more than that: told before they are unpacked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

#: A content that is read whole may take this share of the free memory: it lies there beside the table made of it.
SHARE = 1 / 3
#: What the user allows, in bytes.
_limit: ContextVar[float] = ContextVar("limit", default=float("inf"))


@contextmanager
def at_most(size: float) -> Iterator[None]:
    """Let files that are read in here take so many bytes at the most, however much there is."""
    token = _limit.set(size)
    try:
        yield
    finally:
        _limit.reset(token)


def free_memory() -> float:
    """Return how many bytes this process may still take: of the machine, its container, its own limits, the user's.

    Examples
    --------
    >>> with at_most(1000):
    ...     free_memory()
    1000.0
    """
    return float(min(_limit.get(), _of_machine(), _of_container(), _of_process()))


def check_room(name: str, size: float, what: str = "its content") -> None:
    """Raise where something that is read whole is larger than there is room for."""
    from .sources import DataError  # which asks here before it unpacks

    if size > (room := SHARE * free_memory()):
        raise DataError(
            f"{name}: {what} takes {_shown(size)} of memory or more, and there is room for {_shown(room)}; is it what "
            "you think it is? Unpack it to the disk and fit it with --max-memory, or use a machine with more memory"
        )


def _shown(size: float) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.1f} MB"


def _of_machine() -> float:
    return _number("/proc/meminfo", r"MemAvailable:\s*(\d+) kB", 1024)


def _of_container() -> float:
    """Return what is left within the limit of a control group, of version 2 or 1."""
    rooms = [float("inf")]
    for folder, limit, used in (
        ("/sys/fs/cgroup", "memory.max", "memory.current"),
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        most, taken = (_number(f"{folder}/{file}", r"^(\d+)$", 1) for file in (limit, used))
        if most < float("inf") and taken < float("inf"):
            rooms.append(max(0.0, most - taken))
    return min(rooms)


def _of_process() -> float:
    try:
        import resource
    except ImportError:  # Windows
        return float("inf")
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most == resource.RLIM_INFINITY:
        return float("inf")
    return max(0.0, most - _number("/proc/self/status", r"VmSize:\s*(\d+) kB", 1024))


def _number(file: str, pattern: str, unit: int) -> float:
    """Return what the system says in a file, or infinity where it does not."""
    with suppress(OSError):
        if found := re.search(pattern, Path(file).read_text(), re.MULTILINE):
            return float(unit * int(found.group(1)))
    return float("inf")
