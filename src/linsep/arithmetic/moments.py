"""Standard deviations of columns, from rows at once or some at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._common.types import FloatArray
from .._core import is_sparse

#: Rows that are looked at together.
ROWS = 4096


def deviations(X: Any, weight: FloatArray | None = None) -> FloatArray:
    """Return the standard deviation of each column, over rows that count once or as much as their weights say.

    Examples
    --------
    >>> deviations(np.array([[0.0, 5.0], [2.0, 5.0]]))
    array([1., 0.])
    >>> deviations(np.array([[0.0, 5.0], [2.0, 5.0]]), np.array([3.0, 1.0]))  # √(3/4 · 1/4) · 2
    array([0.8660254, 0.       ])
    """
    moments = Moments()
    for rows, own in in_blocks(X, weight):
        moments.add(rows, own)
    return moments.deviations()


def in_blocks(X: Any, weight: FloatArray | None = None) -> Iterator[tuple[Any, FloatArray | None]]:
    """Yield the rows of a matrix some at a time, which stay in the cache, with their weights."""
    for first in range(0, X.shape[0], ROWS):
        own = slice(first, first + ROWS)
        yield X[own], None if weight is None else weight[own]


class Moments:
    """Standard deviations of columns, about the means of the first rows, near which those of all rows lie."""

    def __init__(self) -> None:
        self._n, self._shift = 0.0, np.zeros(0)  # Σ s, and about what
        self._sum, self._squares = np.zeros(0), np.zeros(0)

    def add(self, X: Any, weight: FloatArray | None = None) -> None:
        """Go on with the next rows; a sparse matrix is not moved, since most of it is 0."""
        thin = is_sparse(X)
        if not self._n:
            self._shift = np.zeros(X.shape[1]) if thin else np.asarray(X.mean(axis=0), dtype=np.float64)
            self._sum, self._squares = np.zeros(X.shape[1]), np.zeros(X.shape[1])
        self._n += X.shape[0] if weight is None else float(weight.sum())
        for rows, own in [(X, weight)] if thin else in_blocks(X, weight):
            moved, s = rows if thin else rows - self._shift, np.ones(rows.shape[0]) if own is None else own
            self._sum += s @ moved
            self._squares += s @ (_squared(moved) if thin else np.square(moved, out=moved))

    def __add__(self, other: Moments) -> Moments:
        """Return what the rows of both say."""
        if not (self._n and other._n):
            return self if self._n else other
        both, moved = Moments(), other._shift - self._shift
        both._n, both._shift = self._n + other._n, self._shift
        both._sum = self._sum + other._sum + other._n * moved
        both._squares = self._squares + other._squares + moved * (2 * other._sum + other._n * moved)
        return both

    def deviations(self) -> FloatArray:
        """Return one a column."""
        n = self._n or 1.0
        return np.asarray(np.sqrt(np.maximum(self._squares / n - (self._sum / n) ** 2, 0.0)))


def _squared(X: Any) -> Any:
    """Return a sparse matrix with each entry squared; those that are said twice are their sum."""
    return X.power(2) if X.has_canonical_format else X.multiply(X)
