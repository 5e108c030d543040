"""The fewest mistakes of any plane, by going through facets: the checker of a bound that a search claims.

The rows aᵢ = yᵢ [xᵢ, 1] cut the space of v = [w, b] into open cones, the cells; v errs where aᵢ·v ≤ 0, so all of a cell
errs on the same rows. Every cell has a facet, and a facet is a cell of the same problem on a hyperplane aᵢ·v = 0: the
rows that vanish there are right on one side of it or the other, and the others stay as they are. So the least
weight of mistakes is the least over all hyperplanes of (the lighter side of what vanishes + the least weight there).
In two dimensions the cells are the gaps between lines, and a sweep by slope sees all of them.

- Up to three dimensions (two features and an intercept) all n hyperplanes are swept: O(n² log n), and nothing else to
  trust.
- In more, or where that would take long, only the hyperplanes of the mistakes of some v₀, whichever it is: a best cell
  without v₀ has a facet between itself and v₀, and since stepping over it gains nothing, some row that vanishes on it
  is right in the cell and wrong at v₀.

Signs and the order of slopes are decided by floats where their error bounds allow, by whole numbers elsewhere; weights
are whole numbers of a common unit, so that all sums of them are exact. This file imports nothing of the solvers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._types import BoolArray, FloatArray, IntArray
from ...arithmetic.exact import Clock
from ...arithmetic.integers import IntegerRows, Vector, dot, kernel_step, to_floats
from ...arithmetic.whole_weights import WholeWeights
from .climbing import climb

#: Up to this many different rows, in at most three dimensions, every hyperplane is swept.
EXHAUSTIVE = 8000
EPS = float(np.finfo(np.float64).eps)
#: Products that underflow are off by less than this.
TINY = 1e-290
#: Line searches per dimension without success after which a vector v₀ is taken as it is; it only decides how long a
#: check takes.
PATIENCE = 6


@dataclass(frozen=True)
class _Subspace:
    """A subspace with basis u₁ … u_r (exactly), the rows that do not vanish on it, P = [aᵢ·uⱼ] up to errors E."""

    basis: list[Vector]
    rows: IntArray
    P: FloatArray
    E: FloatArray


def least_weight_of_mistakes(A: FloatArray, s: Any, v: FloatArray, clock: Clock | None = None) -> Fraction:
    """Return the least Σ sᵢ [aᵢ·v ≤ 0] over all v, exactly.

    Parameters
    ----------
    A : array of shape (n, D)
        The rows; none may be zero.
    s : floats or Fractions, n of them
        What a mistake costs; positive.
    v : array of shape (D,)
        Any vector to begin with; a good one makes it faster.
    clock : Clock, optional
        Raises when the time is up.

    Examples
    --------
    >>> A = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 0.0]])  # planes through the origin, two features
    >>> least_weight_of_mistakes(A, [1.0, 1e-16, 2.0], np.array([0.0, 1.0]))
    Fraction(2028240960365167, 20282409603651670423947251286016)
    """
    if not len(A):
        return Fraction(0)
    integers, weights = IntegerRows(A), WholeWeights.of(s)
    least = _Facets(integers, weights, clock or Clock(None)).least(integers.vector(v))
    return weights.value(least)


class _Facets:
    """The recursion over subspaces."""

    def __init__(self, integers: IntegerRows, weights: WholeWeights, clock: Clock) -> None:
        self.integers, self.A, self.clock = integers, integers.floats, clock
        self.s, self.total = weights.numbers, weights.total
        self.about, self.scale = weights.about(), weights.scale
        self.rng = np.random.default_rng(0)
        self.seen: set[frozenset[int]] = set()
        self.all = self.A.shape[1] <= 3 and len(self.A) <= EXHAUSTIVE

    def least(self, v: FloatArray) -> int:
        n, D = self.A.shape
        basis = [[int(i == j) for i in range(D)] for j in range(D)]
        whole = _Subspace(basis, np.arange(n), self.A, np.full(self.A.shape, TINY))
        return self._least(whole, (), 0, self.total, v)

    def _least(self, space: _Subspace, pivots: tuple[int, ...], paid: int, known: int, v: FloatArray) -> int:
        """Return the least weight in a subspace, what was paid for vanished rows included, or `known` if it is less."""
        self.clock.check("facets of cells")
        r = len(space.basis)
        if paid >= known or not len(space.rows):
            return min(known, paid)
        if r == 1:
            return min(known, paid + self._least_of_two_sides(space))
        if r == 2:
            return min(known, paid + self._least_of_gaps(space, known - paid))
        z, signs = self._signs(space, v)
        known = min(known, paid + int(self.s[space.rows[signs <= 0]].sum()))
        gone = np.zeros(len(space.rows), dtype=bool)
        for k in range(len(space.rows)) if self.all else np.flatnonzero(signs <= 0)[np.argsort(-z[signs <= 0])]:
            through = frozenset((*pivots, int(space.rows[k])))
            if gone[k] or through in self.seen:
                continue
            inside, vanished, lighter = self._hyperplane(space, int(k))
            gone |= vanished
            if len(self.A) - len(inside.rows) == len(through):
                self.seen.add(through)  # no other row vanishes: the order of the pivots does not matter
            start = np.ones(r - 1) if self.all or r == 3 else self._start(inside, z[~vanished])
            known = self._least(inside, tuple(through), paid + lighter, known, start)
        return known

    def _start(self, space: _Subspace, z: FloatArray) -> FloatArray:
        """Return a vector with few mistakes, from one whose products with the rows are about z."""
        if not len(space.rows):
            return np.ones(len(space.basis))
        v = np.asarray(np.linalg.lstsq(space.P, z, rcond=None)[0])
        v = v if v.any() and np.isfinite(v).all() else np.ones(len(v))
        return climb(space.P, self.about[space.rows], v, self.rng, PATIENCE * len(v), lambda _: None)

    def _exact(self, space: _Subspace, k: int) -> Vector:
        """Return aₖ·u₁ … aₖ·u_r, exactly."""
        row = self.integers.row(int(space.rows[k]))
        return [dot(row, u) for u in space.basis]

    def _signs(self, space: _Subspace, v: FloatArray) -> tuple[FloatArray, IntArray]:
        """Return aᵢ·v, and its exact sign."""
        z = space.P @ v
        doubt = space.E @ np.abs(v) + 2 * (len(v) + 1) * EPS * (np.abs(space.P) @ np.abs(v)) + TINY
        signs = np.sign(z).astype(np.int64)
        exact = [Fraction(float(x)) for x in v]
        for k in np.flatnonzero(np.abs(z) <= doubt).tolist():
            value = sum((p * x for p, x in zip(self._exact(space, k), exact, strict=True)), Fraction(0))
            signs[k] = (value > 0) - (value < 0)
        return z, signs

    def _hyperplane(self, space: _Subspace, k: int) -> tuple[_Subspace, BoolArray, int]:
        """Return the part where row k vanishes, which rows vanish there, and the weight of their lighter side."""
        p = self._exact(space, k)
        basis = kernel_step(space.basis, p)
        U = to_floats(basis)
        rows = self.A[space.rows]
        P, E = rows @ U, 2 * (len(U) + 3) * EPS * (np.abs(rows) @ np.abs(U)) + TINY
        vanished = np.zeros(len(P), dtype=bool)
        side = {1: 0, -1: 0}
        place = max(range(len(p)), key=lambda j: abs(p[j]))
        for m in np.flatnonzero((np.abs(P) <= E).all(axis=1)).tolist():
            row = self.integers.row(int(space.rows[m]))
            if not any(dot(row, u) for u in basis):  # then it is a multiple of row k on this subspace
                vanished[m] = True
                side[1 if (self._exact(space, m)[place] > 0) == (p[place] > 0) else -1] += int(self.s[space.rows[m]])
        return _Subspace(basis, space.rows[~vanished], P[~vanished], E[~vanished]), vanished, min(side.values())

    def _least_of_two_sides(self, space: _Subspace) -> int:
        right = np.array([self._exact(space, k)[0] > 0 for k in range(len(space.rows))])
        s = self.s[space.rows]
        return min(int(s[right].sum()), int(s[~right].sum()))

    def _least_of_gaps(self, space: _Subspace, known: int) -> int:
        """Return the least weight of mistakes in two dimensions; where it cannot be less than is known, that.

        At v = (−t, 1) the row (p, q) has the product q − p t: it turns at the slope t = q/p, from right to wrong if
        p > 0. From t = −∞ to ∞ half of all directions are seen; −v has the complement of v's mistakes.
        """
        (p, q), (e_p, e_q) = space.P.T, space.E.T
        falls = p > 0
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            t = q / p
            doubt = (e_q + np.abs(t) * e_p) / (np.abs(p) - e_p) + 4 * EPS * np.abs(t) + TINY
        turns = np.ones(len(p), dtype=bool)
        for k in np.flatnonzero(~(np.abs(p) > 2 * e_p)).tolist():
            a, b = self._exact(space, k)
            turns[k], falls[k] = a != 0, (a or b) > 0
            if a:
                t[k], doubt[k] = _quotient(b, a)
        order, last = self._in_order(space, np.flatnonzero(turns), t, doubt)
        if self.s.dtype == object:  # sums of long numbers take their time: floats tell where they are of no use
            about = self.about[space.rows]
            rounding = 4 * (len(about) + 1) * EPS * float(about.sum())
            if _least_of_sums(about, falls, order, last) > known / self.scale + rounding:
                return known
        return int(_least_of_sums(self.s[space.rows], falls, order, last))

    def _in_order(
        self, space: _Subspace, turning: IntArray, t: FloatArray, doubt: FloatArray
    ) -> tuple[IntArray, IntArray]:
        """Return the rows by slope, and after how many of them there is a gap before the next slope."""
        order = turning[np.argsort(t[turning], kind="stable")]
        with np.errstate(over="ignore"):
            above = np.maximum.accumulate(t[order] + doubt[order])
            below = np.minimum.accumulate((t[order] - doubt[order])[::-1])[::-1]
        certain = np.concatenate([[0], np.flatnonzero(above[:-1] < below[1:]) + 1, [len(order)]])
        gaps = []
        crowded = np.flatnonzero(np.diff(certain) > 1)
        for first, end in zip(certain[crowded].tolist(), certain[crowded + 1].tolist(), strict=True):
            slope = {k: Fraction(b, a) for k in order[first:end].tolist() for a, b in [self._exact(space, k)]}
            members = sorted(slope, key=slope.__getitem__)
            order[first:end] = members
            gaps += [first + j for j in range(1, end - first) if slope[members[j - 1]] < slope[members[j]]]
        return order, np.concatenate([certain, np.array(gaps, dtype=np.int64)])


def _least_of_sums(s: NDArray[Any], falls: BoolArray, order: IntArray, last: IntArray) -> Any:
    """Return the least weight of what is wrong in any gap, or right: at t = −∞, rows that fall later are right."""
    sums = np.append(s[:0].sum(), np.cumsum(np.where(falls[order], s[order], -s[order])))[last]
    weight = s[~falls].sum() + sums
    return min(weight.min(), s.sum() - weight.max())


def _quotient(b: int, a: int) -> tuple[float, float]:
    """Return b/a as a float, and how far off that is."""
    try:
        t = b / a
    except OverflowError:
        return (inf if (b > 0) == (a > 0) else -inf), inf
    return t, EPS * abs(t) + TINY
