"""`Columns`: examples held by their columns, for methods that move one weight at a time."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy import sparse

from .._common.types import FloatArray, IntArray
from .formats import csr_parts
from .loading import compiled, kernels
from .rows import Rows, Sums

#: So many of the last sums over all columns are remembered: those of the point that a fit at the next C begins with,
#: where the last one ended, and squares of the columns, which are asked for at every C.
REMEMBERED = 3


class ColumnSums(Sums):
    """What one pass gives, of examples held by their columns: sums over these are made when somebody asks for them."""

    def __init__(self, at_scores: Sums, columns: Columns, y: FloatArray | None) -> None:
        # Not by assignment, which a frozen record refuses; what is absent here are the properties below.
        self.__dict__.update(vars(at_scores))
        for name in ("positive", "negative"):
            del self.__dict__[name]
        self.__dict__.update(_columns=columns, _y=y)

    @cached_property
    def _sums(self) -> FloatArray:
        return self.__dict__["_columns"].sums(self.u, self.h, self.__dict__["_y"])  # type: ignore[no-any-return]

    @cached_property
    def positive(self) -> FloatArray:
        """Σ u x over the positive class (over all, if not split)."""
        return np.asarray(self._sums[0])

    @cached_property
    def negative(self) -> FloatArray:
        """Σ u x over the negative class; empty if not split."""
        return self._sums[1] if self.__dict__["_y"] is not None else np.empty(0)

    @property
    def moments(self) -> FloatArray:
        """Σ h x and Σ h x² of each column."""
        return self._sums[2:]


class Columns:
    """Columns of examples, each a row of A: dense or sparse, float32 or float64, as `Rows` knows.

    Examples
    --------
    >>> columns = Rows(np.array([[1.0, 2.0], [3.0, 4.0]])).turned
    >>> columns.matvec(np.array([1.0, -1.0]))
    array([-1., -1.])
    >>> columns.moments(np.ones(2))
    array([[ 4.,  6.],
           [10., 20.]])
    """

    def __init__(self, A: Rows, which: IntArray | None = None) -> None:
        self.A, self.which = A, np.arange(A.n) if which is None else which
        self.n, self.d, self.is_sparse = A.d, len(self.which), A.is_sparse
        self._known: list[tuple[tuple[FloatArray | None, ...], FloatArray]] = []

    @classmethod
    def of(cls, rows: Rows) -> Self:
        """Return the columns of rows, copied."""
        return cls(Rows(_turned(rows), tidy=True))

    @property
    def stored(self) -> int:
        """How many numbers are stored."""
        start = self.A.X.indptr if self.is_sparse else None
        return self.n * self.d if start is None else int((start[self.which + 1] - start[self.which]).sum())

    def columns(self, which: IntArray) -> Self:
        """Return the columns `which` alone; nothing is copied."""
        return type(self)(self.A, self.which[which])

    def rows(self) -> Rows:
        """Return the examples with these columns alone, sorted; of others no entry is looked at."""
        whole = len(self.which) == self.A.n
        return Rows(_turned(self.A if whole else Rows(self.A.X[self.which], tidy=True)), tidy=True)

    def matvec(self, w: FloatArray) -> FloatArray:
        """Xw, in double precision; weights of zero cost nothing."""
        whole = np.zeros(self.A.n)
        whole[self.which] = w
        return self.A.rmatvec(whole)

    def rmatvec(self, u: FloatArray) -> FloatArray:
        """Xᵀu, in double precision."""
        return np.asarray(self.sums(u, u, None)[0])

    def sums(self, u: FloatArray, h: FloatArray, y: FloatArray | None) -> FloatArray:
        """Of each column Σ u x, by class where labels are given, Σ h x and Σ h x²: see `reference.column_sums`."""
        known, asked = self._known, (u, h, y)
        for k, (before, sums) in enumerate(known):
            if all(map(_same, before, asked)):
                self._known = [*known[:k], *known[k + 1 :], known[k]]
                return sums
        out = np.empty((4, self.d))
        kernels.column_sums(self.A._handle, self.which, u, h, y, out, self.A._threads())
        if self.d == self.A.n:  # some columns alone are not asked for twice
            out.flags.writeable = False
            kept = tuple(None if one is None else one.copy() for one in asked)
            self._known = [*known, (kept, out)][-REMEMBERED:]
        return out

    def moments(self, h: FloatArray) -> FloatArray:
        """Σ h x and Σ h x² of each column."""
        return self.sums(h, h, None)[2:]

    def evaluate(
        self,
        y: FloatArray,
        weight: FloatArray | None,
        loss: Any,
        w: FloatArray,
        b: float,
        *,
        split: bool = False,
        curvature: bool = False,
        gradient: bool = True,
    ) -> Sums:
        """Return the same as `Rows.evaluate`, each example a row with its score alone: sums by column wait."""
        scores = Rows(self.matvec(w)[:, None])
        found = scores.evaluate(y, weight, loss, np.ones(1), b, split=split, curvature=True, gradient=False)
        return ColumnSums(found, self, y if split else None) if gradient else found

    def descent(self, *model: FloatArray, **how: Any) -> float:
        """Descend along one weight at a time on a quadratic model; see `reference.column_descent`."""
        return float(kernels.column_descent(self.A._handle, self.which, *model, **how))

    def newton(self, y: FloatArray, c: FloatArray, loss: Any, **how: Any) -> int:
        """Take rough proximal Newton steps, changing `w`, `b` and `scores`; see `reference.column_newton`."""
        loops, A, chosen = self.A._loop(loss)
        return int(loops.column_newton(A, self.which, y, c, chosen, **how))


def _same(a: FloatArray | None, b: FloatArray | None) -> bool:
    return a is b or (a is not None and b is not None and np.array_equal(a, b))


def _turned(rows: Rows) -> Any:
    """Xᵀ, by rows."""
    if not rows.is_sparse:
        return np.ascontiguousarray(rows.X.T)
    if compiled is None:
        return sparse.csr_array(rows.X.T)
    data, indices, indptr = csr_parts(rows.X)
    parts = np.empty(int(indptr[-1]), data.dtype), np.empty(int(indptr[-1]), indices.dtype)
    start = np.empty(rows.d + 1, indptr.dtype)
    compiled.turn(rows._handle, start, *parts, rows._threads())
    return sparse.csr_array((*parts, start), shape=(rows.d, rows.n))
