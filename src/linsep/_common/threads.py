"""Whether there is room for a thread, or for anything else, where the addresses of a process are limited."""

from __future__ import annotations

import mmap
from contextlib import suppress

#: Bytes that a thread takes of a process's addresses: its stack, and what it allocates before it says that it runs.
#: One that fails to get them dies without a word, and whoever started it waits for ever.
STACK, BESIDE = 8 << 20, 64 << 20


def address_limit() -> int | None:
    """Return how many bytes of addresses this process may use, in all; None for no limit (`ulimit -v`)."""
    with suppress(ImportError):  # elsewhere than on Unix there is no such thing
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        return None if limit == resource.RLIM_INFINITY else limit
    return None


def is_room(count: int = 1) -> bool:
    """Whether so many threads can be started.

    Examples
    --------
    >>> is_room()
    True
    """
    return are_free(BESIDE + count * STACK)


def are_free(size: int) -> bool:
    """Whether so many bytes of addresses can be had in one piece.

    Examples
    --------
    >>> are_free(1 << 20)
    True
    """
    if address_limit() is None:
        return True
    try:
        mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except (OSError, MemoryError):
        return False
    return True
