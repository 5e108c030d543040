"""A matrix that is read block by block, from elsewhere than memory: what a check needs of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._core import Rows, SoftmaxSums
from .._types import FloatArray, IntArray


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

    def __getitem__(self, rows: list[int]) -> FloatArray:
        """Return single rows, dense."""
        found = np.zeros((len(rows), self.shape[1]))
        for part, block in self.blocks(2**16):
            if part.start > max(rows, default=0):
                break
            for place, row in enumerate(rows):
                if part.start <= row < part.stop:
                    one = block[[row - part.start]]
                    found[place] = (one.toarray() if hasattr(one, "toarray") else one).reshape(-1)
        return found


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

    def matvec(self, w: FloatArray) -> FloatArray:
        """Xw for a vector, Xwᵀ for a matrix with one vector in each row."""
        return np.concatenate([rows.matvec(w) for _, rows in self._each()])

    def rmatvec(self, u: FloatArray) -> FloatArray:
        """Xᵀu."""
        out = np.zeros(self.d)
        for part, rows in self._each():
            out += rows.rmatvec(u[part])
        return out

    def matmat(self, W: FloatArray) -> FloatArray:
        """XW for a matrix with one vector in each column."""
        return np.concatenate([rows.matmat(W) for _, rows in self._each()])

    def rmatmat(self, U: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """XᵀU for a matrix with one vector in each column; into `out`, if that is given."""
        out = np.empty((self.d, U.shape[1])) if out is None else out
        out[:] = 0.0
        for part, rows in self._each():
            out += rows.rmatmat(U[part])
        return out

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
