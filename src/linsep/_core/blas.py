"""Linear algebra on one thread: between short passes a BLAS that uses several is in the way.

Its threads spin for a while after each product, for the next one, on the processors that the passes need; and where
others are at work too, each of many small factors waits for all of them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from .._common import threads as system_threads

#: Bytes of addresses that a thread of OpenBLAS takes for its first product and keeps: 32 MiB, and what goes with it.
BUFFER = 33 << 20


class _Keeping:
    """Who asks for one thread at present: the first one in takes the others away, the last one out gives them back."""

    def __init__(self) -> None:
        self.lock, self.count = threading.Lock(), 0
        self.limit: Any = None

    def enter(self) -> None:
        with self.lock:
            if self.count == 0:
                self.limit = _libraries().limit(limits=1, user_api="blas")
            self.count += 1

    def leave(self) -> None:
        with self.lock:
            self.count -= 1
            if self.count == 0:
                self.limit.restore_original_limits()


_keeping = _Keeping()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep NumPy's and SciPy's linear algebra to the thread that asks for it, in the whole process.

    Examples
    --------
    >>> with one_blas_thread():
    ...     pass
    """
    _keeping.enter()
    try:
        yield
    finally:
        _keeping.leave()


def take_buffers() -> None:
    """Let linear algebra take the memory it works in, where addresses are limited (`ulimit -v`), or raise MemoryError.

    OpenBLAS asks for it at its first product, and, where it gets none, asks again for ever.
    """
    if system_threads.address_limit() is not None:
        _take_buffers()


@cache
def _take_buffers() -> None:
    libraries = _libraries().select(user_api="blas")
    threads = sum(library.num_threads for library in libraries.lib_controllers)
    if not system_threads.are_free(threads * BUFFER):
        threads = len(libraries)
        libraries.limit(limits=1)  # for good
        if not system_threads.are_free(threads * BUFFER):
            raise MemoryError(f"linear algebra takes {threads * BUFFER >> 20} MB more of addresses (ulimit -v)")
    from scipy.linalg import blas

    square = np.ones((256, 256))  # large enough to be shared among the threads
    square @ square, blas.dgemm(1.0, square, square)


@cache
def _libraries() -> Any:
    """Return the libraries that are loaded, SciPy's own among them."""
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()
