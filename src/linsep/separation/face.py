"""The span of some rows, exactly: which coefficients it determines, and a direction that moves all the others.

Rows that carry a positive relation, Σ λᵢ aᵢ = 0 with λ > 0, lie on every plane that has no point on its wrong side.
They hold a coefficient j, whatever such plane is added, if and only if e_j is a combination of them.

A direction θ that is zero on these rows has weights on all other coefficients if its free entries are drawn at random,
up to bad luck. That the rest is held is proven by solving for it: nothing here is left to chance but the time it takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from .._common.types import FloatArray, IntArray
from .._core import is_sparse
from ..arithmetic import rational
from ..arithmetic.exact import Clock, ProofTimeoutError, sides
from ..geometry import augment

#: Free entries of a direction are whole numbers up to this.
LARGEST = 2**16
#: Directions that are drawn before the search gives up; each fails with a chance of one in thousands.
TRIES = 5


def signed_rows(X: Any, y: FloatArray, which: Sequence[int] | IntArray | None = None, *, intercept: bool) -> Any:
    """Return the rows aᵢ = yᵢ [xᵢ, 1], all or some of them, dense or sparse as X is."""
    index = np.arange(len(y)) if which is None else np.asarray(which, dtype=np.int64)
    part = X[index].astype(np.float64)
    part = augment(part) if intercept else part
    if is_sparse(part) and len(index):
        return sparse.csr_matrix(sparse.diags(y[index]) @ part)
    return part if is_sparse(part) else part * y[index, None]


class Face:
    """The span of some rows aᵢ.

    Examples
    --------
    >>> X, y = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 1.0]]), np.array([-1.0, 1.0, 1.0])
    >>> face = Face(X, y, [0, 1], intercept=True, clock=Clock(None))
    >>> face.determined([0, 1, 2])
    [0, 2]
    """

    def __init__(self, X: Any, y: FloatArray, rows: Sequence[int], *, intercept: bool, clock: Clock) -> None:
        self.size, self.clock = int(X.shape[1]) + intercept, clock
        A = signed_rows(X, y, rows, intercept=intercept)
        # the last column, the intercept's, is the first to be solved for
        columns = (np.unique(A.indices) if is_sparse(A) else np.flatnonzero(np.abs(A).max(axis=0, initial=0.0)))[::-1]
        M, _, exponents = rational.to_whole(A[:, columns].toarray() if is_sparse(A) else A[:, columns])
        chosen, self._pivot = rational.pivots(M, clock)
        if len(chosen) > rational.WIDEST:
            raise ProofTimeoutError(f"undecided: more than {rational.WIDEST} independent rows lie on the plane")
        self._M, self._columns, self._powers = M[chosen], columns.tolist(), [Fraction(2) ** int(e) for e in exponents]
        self._free = sorted(set(range(len(columns))) - set(self._pivot))
        #: Independent rows that span the face, and as many columns on which they are independent.
        self.basis = [int(rows[k]) for k in chosen]
        self.columns = sorted(self._columns[k] for k in self._pivot)

    def direction(self, seed: int = 0) -> list[Fraction]:
        """Return θ with aᵢ·θ = 0 on the rows, and weights on all coefficients that they do not hold, up to bad luck."""
        drawn = np.random.default_rng(seed).integers(1, LARGEST, self.size)
        theta = [Fraction(int(value)) for value in drawn]
        for k in self._free:  # whole numbers beside the whole columns
            theta[self._columns[k]] /= self._powers[k]
        return self.orthogonal(theta)

    def orthogonal(self, theta: Iterable[Any]) -> list[Fraction]:
        """Return θ with as many coefficients changed as the basis has rows, so that aᵢ·θ = 0 on them exactly."""
        found = [Fraction(value) for value in theta]
        phi = [found[self._columns[k]] * self._powers[k] for k in self._free]  # beside the whole columns
        scale = max((value.denominator for value in phi), default=1)  # all are powers of two
        given = np.array([int(value * scale) for value in phi], dtype=object)
        rhs = -self._M[:, self._free].dot(given)
        N, D = rational.solve(self._M[:, self._pivot], rhs[:, None], self.clock)
        for k, numerator in zip(self._pivot, N[:, 0], strict=True):
            found[self._columns[k]] = Fraction(numerator, D * scale) / self._powers[k]
        return found

    def determined(self, wanted: Sequence[int]) -> list[int]:
        """Return which of these coefficients the rows hold: e_j is a combination of them."""
        place = {self._columns[k]: i for i, k in enumerate(self._pivot)}
        asked = [j for j in wanted if j in place]
        if not asked:
            return []
        square, rest = self._M[:, self._pivot], self._M[:, self._free]
        if len(self._free) <= len(asked):
            # M_pivot⁻¹ M_free: with a row of zeros, that row of M_pivot⁻¹ M is e_j
            N, _ = rational.solve(square, rest, self.clock) if self._free else (rest, 1)
            return [j for j in asked if not N[place[j]].any()]
        units = np.zeros((len(square), len(asked)), dtype=object)
        for k, j in enumerate(asked):
            units[place[j], k] = 1
        N, _ = rational.solve(square.T, units, self.clock)
        return [j for k, j in enumerate(asked) if not rest.T.dot(N[:, k]).any()]


def unbounded(
    X: Any, y: FloatArray, rows: Sequence[int], on_plane: IntArray, *, intercept: bool, clock: Clock
) -> list[int] | None:
    """Return the coefficients that rows with a positive relation do not hold, given a plane θ with aᵢ·θ ≥ 0 for all.

    None if these rows do not span all rows `on_plane`, with aᵢ·θ = 0. If they do, a direction v that is zero on them
    can be added to the plane: θ + εv has no point on its wrong side, so that every j with v_j ≠ 0 is without a finite
    estimate; column d is the intercept.

    Examples
    --------
    >>> X, y = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 1.0]]), np.array([-1.0, 1.0, 1.0])
    >>> unbounded(X, y, [0, 1], np.array([0, 1]), intercept=True, clock=Clock(None))
    [0, 1]
    """
    face = Face(X, y, rows, intercept=intercept, clock=clock)
    for seed in range(TRIES):
        theta = face.direction(seed)
        if sides(X[on_plane], y[on_plane], theta, intercept=intercept, clock=clock).any():
            return None
        moved = [j for j, value in enumerate(theta) if value]
        rest = [j for j, value in enumerate(theta) if not value]
        if len(face.determined(rest)) == len(rest):
            return moved
    raise ProofTimeoutError("undecided: directions drawn at random all have a zero that they need not have")
