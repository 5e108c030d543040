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

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._common.types import FloatArray
from ...arithmetic.exact import Clock
from ...arithmetic.integers import EPS, IntegerRows, Subspace
from ...arithmetic.whole_weights import WholeWeights
from .climbing import climb

#: Up to this many different rows, in at most three dimensions, every hyperplane is swept.
EXHAUSTIVE = 8000
#: Line searches per dimension without success after which a vector v₀ is taken as it is; it only decides how long a
#: check takes.
PATIENCE = 6


def least_weight_of_mistakes(A: FloatArray, s: Any, v: FloatArray, clock: Clock | None = None) -> Fraction:
    """Return the least Σ sᵢ [aᵢ·v ≤ 0] over all v, exactly, of rows aᵢ ≠ 0 and positive floats or Fractions sᵢ.

    It begins with the v given, which may be any: a good one makes it faster.

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
        self.whole, self.clock = Subspace.whole(integers), clock
        self.s, self.total = weights.numbers, weights.total
        self.about, self.scale = weights.about(), weights.scale
        self.rng = np.random.default_rng(0)
        self.seen: set[frozenset[int]] = set()
        self.all = len(self.whole.basis) <= 3 and len(self.s) <= EXHAUSTIVE

    def least(self, v: FloatArray) -> int:
        return self._least(self.whole, (), 0, self.total, v)

    def _least(self, space: Subspace, pivots: tuple[int, ...], paid: int, known: int, v: FloatArray) -> int:
        """Return the least weight in a subspace, what was paid for vanished rows included, or `known` if it is less."""
        self.clock.check("facets of cells")
        r = len(space.basis)
        if paid >= known or not len(space.rows):
            return min(known, paid)
        if r == 1:
            return min(known, paid + self._least_of_two_sides(space))
        if r == 2:
            return min(known, paid + self._least_of_gaps(space, known - paid))
        z, signs = space.signs(v)
        known = min(known, paid + int(self.s[space.rows[signs <= 0]].sum()))
        gone = np.zeros(len(space.rows), dtype=bool)
        for k in range(len(space.rows)) if self.all else np.flatnonzero(signs <= 0)[np.argsort(-z[signs <= 0])]:
            through = frozenset((*pivots, int(space.rows[k])))
            if gone[k] or through in self.seen:
                continue
            inside, vanished, same = space.hyperplane(int(k))
            weights = self.s[space.rows[vanished]]
            lighter = min(int(weights[same].sum()), int(weights[~same].sum()))
            gone |= vanished
            if len(self.s) - len(inside.rows) == len(through):
                self.seen.add(through)  # no other row vanishes: the order of the pivots does not matter
            start = np.ones(r - 1) if self.all or r == 3 else self._start(inside, z[~vanished])
            known = self._least(inside, tuple(through), paid + lighter, known, start)
        return known

    def _start(self, space: Subspace, z: FloatArray) -> FloatArray:
        """Return a vector with few mistakes, from one whose products with the rows are about z."""
        if not len(space.rows):
            return np.ones(len(space.basis))
        v = np.asarray(np.linalg.lstsq(space.P, z, rcond=None)[0])
        v = v if v.any() and np.isfinite(v).all() else np.ones(len(v))
        return climb(space.P, self.about[space.rows], v, self.rng, PATIENCE * len(v), lambda _: None)

    def _least_of_two_sides(self, space: Subspace) -> int:
        right = np.array([space.exact(k)[0] > 0 for k in range(len(space.rows))])
        s = self.s[space.rows]
        return min(int(s[right].sum()), int(s[~right].sum()))

    def _least_of_gaps(self, space: Subspace, known: int) -> int:
        """Return the least weight of mistakes in two dimensions; where it cannot be less than is known, that."""
        sweep, s = space.sweep(), self.s[space.rows]
        if s.dtype == object:  # sums of long numbers take their time: floats tell where they are of no use
            about = self.about[space.rows]
            rounding = 4 * (len(about) + 1) * EPS * float(about.sum())
            if _least(sweep.right(about), about) > known / self.scale + rounding:
                return known
        return int(_least(sweep.right(s), s))


def _least(right: NDArray[Any], s: NDArray[Any]) -> Any:
    """Return the least weight of what is wrong in any gap, or right: then it is wrong in the opposite direction."""
    return min(right.min(), s.sum() - right.max())
