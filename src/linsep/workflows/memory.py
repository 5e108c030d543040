"""The memory budget of a fit (--max-memory): what is in use already, and what there is room for."""

from __future__ import annotations

import ctypes
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from ..data.sources import DataError

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}
#: What a fit needs beside Python and its libraries at the least, and leaves free for what nobody counts.
LEAST, SPARE = 80 * 10**6, 24 * 10**6
#: Copies of a matrix of d × d numbers that a Newton step makes, with the one that a block adds.
COPIES = 6


def parse_size(text: str) -> int:
    """Return a number of bytes.

    Examples
    --------
    >>> parse_size("512MB"), parse_size("2 GiB"), parse_size("1e9")
    (512000000, 2147483648, 1000000000)
    """
    found = re.fullmatch(r"\s*([0-9.]+(?:[eE][0-9]+)?)\s*([kKmMgGtT]?[iI]?)[bB]?\s*", text)
    try:
        size = float(found.group(1)) * UNITS[found.group(2).upper()] if found else 0.0
    except (KeyError, ValueError):
        size = 0.0
    if not size >= 1:
        raise DataError(f"--max-memory {text} is no amount of memory; write 512MB, 2GB or the like")
    return int(size)


def peak_memory() -> int:
    """Return how many bytes of memory this process has had at the most."""
    status = Path("/proc/self/status")
    # Linux: what `getrusage` says counts the process that started this one, up to that moment.
    if status.exists() and (found := re.search(r"VmHWM:\s*(\d+) kB", status.read_text())):
        return 1024 * int(found.group(1))
    try:
        import resource
    except ImportError as error:  # Windows
        raise DataError("--max-memory is not possible here: the system does not say what a process uses") from error
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def give_back() -> None:
    """Return what was freed to the system: allocators keep it, and the next stage would come on top of it."""
    pa.default_memory_pool().release_unused()
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):  # of GNU's C library
        trim(0)


@dataclass(frozen=True)
class Budget:
    """What may be used of a limit, beside what Python and its libraries take already.

    What they take is never the same twice, while blocks and samples, and with them the last digits of a fit, must be.
    So the next power of two is set aside for them, if that leaves enough to work in: all shares follow from the limit.

    Examples
    --------
    >>> budget = Budget(limit=512 * 10**6, taken=200 * 10**6)
    >>> budget.free // 10**6, budget.block // 10**6, budget.features
    (219, 9, 1352)
    """

    limit: int  # bytes
    taken: int  # of these

    @classmethod
    def of(cls, limit: int) -> Budget:
        """Return the budget of this process; raise where the limit is too small to work at all."""
        taken = peak_memory()
        least = taken + LEAST + SPARE
        if limit < least:
            raise DataError(
                f"--max-memory {limit / 1e6:,.0f}MB is too small: Python and its libraries take {taken / 1e6:,.0f} MB "
                f"already, and {(LEAST + SPARE) / 1e6:,.0f} MB are the least to work in; give {least / 1e6:,.0f}MB "
                "or more"
            )
        return cls(limit, taken)

    def check(self, what: str) -> None:
        """Raise where the peak is beyond the limit: better at the beginning than never."""
        if (peak := peak_memory()) > self.limit:
            raise DataError(
                f"{what} takes {peak / 1e6:,.0f} MB, more than --max-memory {self.limit / 1e6:,.0f}MB; give "
                f"{1.2 * peak / 1e6:,.0f}MB. A Parquet file, read by pages of all columns at once, takes less with "
                "smaller pages"
            )

    @property
    def free(self) -> int:
        """Bytes to work in."""
        return max(LEAST, self.limit - self.limit_for(0))

    def limit_for(self, room: int) -> int:
        """Return the limit that leaves so many bytes to work in."""
        return (1 << self.taken.bit_length()) + SPARE + room

    @property
    def block(self) -> int:
        """Bytes of a block of rows: several are there at once, as read, as encoded, and as worked on."""
        return min(self.free // 24, 32 * 10**6)

    @property
    def sample(self) -> int:
        """Bytes of a sample of the rows that is worked on in memory."""
        return self.free // 8

    @property
    def features(self) -> int:
        """How many features a matrix of all their products can have."""
        return int((0.4 * self.free / (8 * COPIES)) ** 0.5)
