"""A matrix that is read block by block, from elsewhere than memory, while numbers of every row are in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .._common.types import FloatArray, IntArray
from .._core import Rows, SoftmaxSums, Sums


class BlockedMatrix:
    """A matrix of n rows and d columns of which some rows at a time can be had, in order, again and again.

    `read` returns an iterator over blocks of rows, dense or CSR, each good until the next one comes.

    Examples
    --------
    >>> X = np.arange(6.0).reshape(3, 2)
    >>> blocked = BlockedMatrix(lambda: iter([X[:2], X[2:]]), 3, 2)
    >>> [part for part, _ in blocked.blocks(1)], blocked.max(axis=0)
    ([slice(0, 1, None), slice(1, 2, None), slice(2, 3, None)], array([4., 5.]))
    """

    dtype = np.dtype(np.float64)

    def __init__(self, read: Callable[[], Iterator[Any]], n: int, d: int) -> None:
        self._read, self.shape = read, (n, d)

    def blocks(self, size: int) -> Iterator[tuple[slice, Any]]:
        """Yield at most so many rows at a time, and which they are."""
        first = 0
        for block in self._read():
            for start in range(0, block.shape[0], size):
                part = block[start : start + size]
                yield slice(first, first + part.shape[0]), part
                first += part.shape[0]

    def _reduce(self, end_of: str, function: Any, axis: int) -> FloatArray:
        found: FloatArray | None = None
        for _, block in self.blocks(2**16):
            end = getattr(block, end_of)(axis=axis)
            ends = np.asarray(end.toarray() if hasattr(end, "toarray") else end, dtype=np.float64).reshape(-1)
            found = ends if found is None else function(found, ends)
        return np.zeros(self.shape[1]) if found is None else found

    def min(self, axis: int) -> FloatArray:
        """Return the smallest number of each column."""
        return self._reduce("min", np.minimum, axis)

    def max(self, axis: int) -> FloatArray:
        """Return the largest number of each column."""
        return self._reduce("max", np.maximum, axis)

    def __getitem__(self, rows: Sequence[int] | IntArray) -> FloatArray:
        """Return single rows, dense."""
        wanted = np.asarray(rows, dtype=np.int64)
        found = np.zeros((len(wanted), self.shape[1]))
        for part, block in self.blocks(2**16):
            places = np.flatnonzero((wanted >= part.start) & (wanted < part.stop))
            some = block[wanted[places] - part.start]
            found[places] = some.toarray() if hasattr(some, "toarray") else some
        return found

    def changed(self, change: Callable[[slice, Any], Any], n: int, d: int) -> BlockedMatrix:
        """Return the matrix of n × d that its blocks are changed into, as they are read."""
        return BlockedMatrix(lambda: (change(*one) for one in self.blocks(2**16)), n, d)


class BlockedRows(Rows):
    """The examples of a `BlockedMatrix`: products with them, and their lengths."""

    def __init__(self, X: BlockedMatrix) -> None:
        self.X, (self.n, self.d), self.is_sparse = X, X.shape, False
        self._norms: FloatArray | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("rows that are read from elsewhere cannot be pickled")

    def _each(self) -> Iterator[tuple[slice, Rows]]:
        for part, block in self.X.blocks(2**16):
            yield part, Rows(block, tidy=True)

    def squared_norms(self) -> FloatArray:
        """‖xᵢ‖² of every row, computed once."""
        if self._norms is None:
            self._norms = np.empty(self.n)
            for part, rows in self._each():
                self._norms[part] = rows.squared_norms()
        return self._norms

    def evaluate(
        self, y: FloatArray, weight: FloatArray | None, loss: Any, w: FloatArray, b: float, **want: bool
    ) -> Sums:
        """Return the sum of losses at (w, b), with what is wanted beside it."""
        each = [
            rows.evaluate(y[part], None if weight is None else weight[part], loss, w, b, **want)
            for part, rows in self._each()
        ]
        numbers = [list(values) for values in zip(*(vars(one).values() for one in each), strict=True)]
        totals: Any = [sum(values) for values in numbers[:6]]
        return Sums(*totals, *(np.concatenate(values) for values in numbers[6:]))

    def hessian_product(self, h: FloatArray, v: FloatArray, c: float) -> FloatArray:
        """Σ h (x·v + c) [x, 1]."""
        return self._sum(np.zeros(self.d + 1), lambda part, rows: rows.hessian_product(h[part], v, c))

    def gram(self, h: FloatArray, which: IntArray) -> FloatArray:
        """Σ h [x, 1][x, 1]ᵀ over the rows `which`, its lower triangle."""
        of = np.zeros(self.n)
        of[which] = h[which]
        found = np.zeros((self.d + 1, self.d + 1))
        return self._sum(found, lambda part, rows: rows.gram(of[part], np.flatnonzero(of[part])))

    def square_rmatvec(self, u: FloatArray) -> FloatArray:
        """Σ uᵢ xᵢ², entry by entry."""
        return self._sum(np.zeros(self.d), lambda part, rows: rows.square_rmatvec(u[part]))

    def columns(self, which: IntArray) -> BlockedRows:
        """Return the same rows with the columns `which` alone."""
        return BlockedRows(self.X.changed(lambda part, block: block[:, which], self.n, len(which)))

    def some(self, which: IntArray | slice) -> BlockedRows:
        """Return the rows `which`, ascending."""
        kept = np.zeros(self.n, dtype=bool)
        kept[which] = True
        return BlockedRows(self.X.changed(lambda part, block: block[kept[part]], int(kept.sum()), self.d))

    def _sum(self, total: FloatArray, task: Callable[[slice, Rows], FloatArray]) -> FloatArray:
        for part, rows in self._each():
            total += task(part, rows)
        return total

    def matvec(self, w: FloatArray) -> FloatArray:
        """Xw for a vector, Xwᵀ for a matrix with one vector in each row."""
        return np.concatenate([rows.matvec(w) for _, rows in self._each()])

    def rmatvec(self, u: FloatArray) -> FloatArray:
        """Xᵀu."""
        return self._sum(np.zeros(self.d), lambda part, rows: rows.rmatvec(u[part]))

    def matmat(self, W: FloatArray) -> FloatArray:
        """XW for a matrix with one vector in each column."""
        return np.concatenate([rows.matmat(W) for _, rows in self._each()])

    def rmatmat(self, U: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """XᵀU for a matrix with one vector in each column; into `out`, if that is given."""
        out = np.empty((self.d, U.shape[1])) if out is None else out
        out[:] = 0.0
        return self._sum(out, lambda part, rows: rows.rmatmat(U[part]))

    def softmax(self, codes: IntArray, weight: FloatArray | None, w: FloatArray, b: FloatArray) -> SoftmaxSums:
        """Return the sum of the losses of a softmax, with what its gradient needs."""
        each = [
            rows.softmax(codes[part], None if weight is None else weight[part], w, b) for part, rows in self._each()
        ]
        values, mistakes, entropies, p, doubt, expected = zip(*each, strict=True)
        sums, totals = zip(*expected, strict=True)
        totalled = sum(values), sum(mistakes), sum(entropies)
        return SoftmaxSums(*totalled, np.concatenate(p), np.concatenate(doubt), (sum(sums), sum(totals)))


def rows_of(X: Any) -> Rows:
    """Return a matrix's rows, wherever they are."""
    return BlockedRows(X) if isinstance(X, BlockedMatrix) else Rows(X)
