"""How many threads the kernels use."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import copy_context
from typing import Any, TypeVar

from .._common import threads as system_threads
from .loading import kernels

T = TypeVar("T")

#: More threads than this are a mistake.
MOST = 1024
#: Below this many stored numbers a second thread costs more than it brings.
WORTH_A_THREAD: int = kernels.WORTH_A_THREAD
#: Below this many examples a sum of one number each is taken in one piece.
IN_ONE_PIECE: int = kernels.IN_ONE_PIECE
#: A visit of dual descent waits for its own step, which takes as long as so many stored numbers in other passes.
VISIT_IN_NUMBERS: int = kernels.VISIT_IN_NUMBERS
#: NumPy takes about as long for fewer numbers than this as the interpreter to go from one thread to another.
LONG = 1 << 16


class _Limit(threading.local):
    """How many threads the kernels that this thread calls may use, itself included; None for what is usual."""

    here: int | None = None


_limit = _Limit()


@contextmanager
def at_most_threads(count: int) -> Iterator[None]:
    """Keep the kernels that this thread calls to so many threads: others have work for the rest.

    >>> with at_most_threads(1):
    ...     threads()
    1
    """
    before, _limit.here = _limit.here, count
    try:
        yield
    finally:
        _limit.here = before


def one_thread() -> AbstractContextManager[None]:
    """Keep the kernels to the calling thread: where fits run side by side, more would be in each other's way."""
    return at_most_threads(1)


def threads() -> int:
    """How many threads the kernels use: ``LINSEP_NUM_THREADS``, or the processors this process may run on."""
    if _limit.here is not None:
        return _limit.here
    wanted = os.environ.get("LINSEP_NUM_THREADS", "")
    if wanted and not (wanted.isascii() and wanted.isdigit() and len(wanted) < 9 and 0 < int(wanted) <= MOST):
        raise ValueError(f"LINSEP_NUM_THREADS={wanted[:40]!r} must be a positive whole number, {MOST} at the most")
    if wanted:
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads_for(work: int, enough: int = WORTH_A_THREAD) -> int:
    """How many threads may share a pass over so many numbers; a short one is one thread's anyway."""
    return threads() if work >= enough else 1


class _Here(Executor):
    """Does what it is given at once, in the thread that asks."""

    def submit(self, task: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(task(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001  told to whoever asks for the result, as by any executor
            done.set_exception(error)
        return done


def helpers(count: int) -> Executor:
    """Return so many threads, or, where there is no room for them, what does their work in the one that asks.

    Examples
    --------
    >>> with helpers(2) as pool:
    ...     pool.submit(len, "abc").result()
    3
    """
    return ThreadPoolExecutor(count) if system_threads.is_room(count) else _Here()


def one_ahead(items: Iterator[T]) -> Iterator[T]:
    """Yield the same items, each of which is made in another thread, as it would be here, while one works on the last.

    Examples
    --------
    >>> list(one_ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    around = copy_context()  # how much memory may be taken, above all

    def make() -> T | None:
        return around.run(next, items, None)

    with helpers(1) as maker:
        coming = maker.submit(make)
        while (item := coming.result()) is not None:
            coming = maker.submit(make)
            yield item


def in_threads(body: Callable[[int], None], items: Sequence[int], each: int = LONG) -> None:
    """Call `body` for each item, in as many threads as the kernels use: for work that NumPy does without the GIL.

    `each` is the length of the arrays that it works on: where they are short, threads wait for each other.
    """
    if threads() == 1 or len(items) == 1 or each < LONG:
        for item in items:
            body(item)
        return
    with helpers(threads()) as pool:
        for _ in pool.map(body, items):
            pass
