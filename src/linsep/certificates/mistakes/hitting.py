"""How light a set of points can be that meets every conflict: a lower bound in exact arithmetic.

Shares y ≥ 0 of the conflicts that load no point with more than its weight, Σ (y_c : i ∈ c) ≤ sᵢ, add up to no more than
the weight of any set that meets them all. A linear program proposes the shares; made feasible in whole numbers they
prove their sum, whatever the program got wrong. What is left of the weights is packed by further linear programs, each
on a finer scale, until the sum is within a unit of what is needed: so weights of any span are added up exactly. Where
one bound is not enough, a point is branched on: it is in the set (and its weight is paid) or it is not (and its
conflicts have to be met by others).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from functools import cached_property
from math import ceil
from time import monotonic
from typing import Any

import numpy as np
from scipy import sparse

from ..._common.types import FloatArray
from ...arithmetic.whole_weights import WholeWeights

Sets = list[frozenset[int]]

#: Shares are whole numbers of this part of a unit of weight.
FINE = 40
#: By how many bits each linear program looks more closely than the one before.
CLOSER = 16
#: The value of a linear program may be off by its scale divided by this, for each share; it only decides what is tried.
DOUBT = 10**5


def hits_weigh_at_least(
    conflicts: Sequence[Collection[int]],
    weights: Sequence[Fraction],
    least: Fraction,
    *,
    nodes: int = 1000,
    time_limit: float | None = None,
) -> bool | None:
    """Whether every set of points that meets all conflicts weighs at least that much; None where that is left open.

    Each point has a positive weight. It is left open after so many cases (`nodes`), or seconds.

    Examples
    --------
    >>> ones, triangle = [Fraction(1)] * 3, [(0, 1), (1, 2), (0, 2)]
    >>> hits_weigh_at_least(triangle, ones, Fraction(2)), hits_weigh_at_least(triangle, ones, Fraction(3))
    (True, False)
    """
    end = np.inf if time_limit is None else monotonic() + time_limit
    whole = WholeWeights.of(weights)
    numbers, needed = whole.numbers.tolist(), ceil(Fraction(least) / whole.unit)
    cases: list[tuple[Sets, int]] = [([frozenset(conflict) for conflict in conflicts], 0)]
    for _ in range(nodes):
        if not cases:
            return True
        if monotonic() > end:
            return None
        sets, paid = cases.pop()
        if paid >= needed or frozenset() in sets:  # heavy enough, or nothing can meet them all
            continue
        if not sets:
            return False
        packing = Packing(sets, numbers)
        x = packing.propose()
        meets_all = all(any(x[i] > 0.5 for i in one) for one in sets)
        if meets_all and paid + sum(numbers[j] for j in x if x[j] > 0.5) < needed:
            return False
        if paid + packing.proves(needed - paid) >= needed:
            continue
        i = _most_uncertain(x)
        cases += [
            ([one for one in sets if i not in one], paid + numbers[i]),
            ([one - {i} for one in sets], paid),
        ]
    return True if not cases else None


class Packing:
    """Shares of conflicts that load no point with more than its weight: a set that meets them all weighs their sum.

    No set of points may be empty; each point has a weight in whole numbers.

    Examples
    --------
    >>> packing = Packing([frozenset({0, 1}), frozenset({1, 2}), frozenset({0, 2})], [1, 1, 1])
    >>> packing.propose()
    {0: 0.5, 1: 0.5, 2: 0.5}
    >>> packing.proves(2)
    2
    """

    def __init__(self, sets: Sets, weights: Sequence[int]) -> None:
        self.sets = [sorted(one) for one in sets]
        self.points = sorted(set().union(*sets))
        place = {i: k for k, i in enumerate(self.points)}
        self.members = [[place[i] for i in one] for one in self.sets]
        self.scale = max(weights[i] for i in self.points) << FINE  # how coarse the next linear program is
        self.left = [weights[i] << FINE for i in self.points]
        self.shares = [0] * len(sets)

    @cached_property
    def _loads(self) -> Any:
        """The matrix that adds up the shares at each point."""
        return incidence(self.members, len(self.points)).T

    @property
    def proven(self) -> int:
        """What is proven: the sum of the shares; since all sets weigh whole numbers, rounded up."""
        return -(-sum(self.shares) >> FINE)

    def take(self, y: FloatArray, scale: int) -> None:
        """Take the shares y · scale, that somebody else proposes."""
        self._move(y, scale << FINE)
        self.scale >>= CLOSER

    def propose(self) -> dict[int, float]:
        """Let a linear program propose all shares; return how much of each point is in the set it meets them with."""
        solved = self._move_by_program([left / self.scale for left in self.left])
        if solved is None:
            return dict.fromkeys(self.points, 0.5)
        return dict(zip(self.points, (-np.asarray(solved.ineqlin.marginals)).tolist(), strict=True))

    def _move_by_program(self, limits: Sequence[float], **within: Any) -> Any:
        """Move the shares by a linear program on the scale at hand, and refine that; return what solved it, or None."""
        from scipy.optimize import linprog  # takes longer to import than all of linsep

        cost = -np.ones(len(self.sets))
        solved = linprog(cost, A_ub=self._loads, b_ub=np.array(limits), **within, method="highs")
        if solved.x is None:
            return None
        self._move(np.asarray(solved.x), self.scale)
        self.scale >>= CLOSER
        return solved

    def proves(self, needed: int) -> int:
        """Return what the proposed shares prove, looking closer as long as it may yet be as much as is needed."""
        while self.proven < needed and self.scale:
            missing = (needed << FINE) - sum(self.shares)
            if missing * DOUBT > len(self.sets) * self.scale << CLOSER:
                break
            self.scale = min(self.scale, missing << CLOSER)
            limits = [min(left, self.scale) / self.scale for left in self.left]
            bounds = [(-min(share, self.scale) / self.scale, 1.0) for share in self.shares]
            if self._move_by_program(limits, bounds=bounds) is None:
                self.scale >>= CLOSER
        return self.proven

    def _move(self, changes: FloatArray, scale: int) -> None:
        """Change the shares by about so much, as far as no point is overloaded; then fill up what room there is."""
        for c, change in enumerate(np.ldexp(changes, FINE).tolist()):
            self._add(c, max(int(change) * scale >> FINE, -self.shares[c]))
        loaded: list[list[int]] = [[] for _ in self.points]
        for c, members in enumerate(self.members):
            for k in members:
                loaded[k].append(c)
        for k, cs in enumerate(loaded):
            for c in sorted(cs, key=lambda c: -self.shares[c]):
                if self.left[k] >= 0:
                    break
                self._add(c, -min(self.shares[c], -self.left[k]))
        for c, members in enumerate(self.members):
            self._add(c, min(self.left[k] for k in members))

    def _add(self, c: int, change: int) -> None:
        self.shares[c] += change
        for k in self.members[c]:
            self.left[k] -= change


def _most_uncertain(x: dict[int, float]) -> int:
    """Return the point that is nearest to being half in the set, or where all are in or out, one that is in."""
    i = min(x, key=lambda j: abs(x[j] - 0.5))
    return i if 1e-6 < x[i] < 1 - 1e-6 else max(x, key=x.__getitem__)


def incidence(conflicts: Sequence[Sequence[int]], n: int) -> sparse.csr_array:
    """Return the matrix with a row for each conflict and ones at its points."""
    indptr = np.cumsum([0, *map(len, conflicts)], dtype=np.int32)  # HiGHS within SciPy before 1.15 takes no others
    indices = np.fromiter((i for conflict in conflicts for i in conflict), dtype=np.int32, count=int(indptr[-1]))
    return sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=(len(conflicts), n))


def lightest_hit(conflicts: Sequence[Sequence[int]], s: FloatArray, seconds: float = np.inf) -> float:
    """Return what every set of points that meets all conflicts weighs at least, as far as HiGHS gets in that time.

    Examples
    --------
    >>> lightest_hit([(0, 1), (1, 2), (3, 4)], np.ones(5))
    2.0
    """
    if not conflicts:
        return 0.0
    options: Any = dict(mip_rel_gap=0.0) | (dict(time_limit=seconds) if np.isfinite(seconds) else {})
    from scipy.optimize import Bounds, LinearConstraint, milp

    n = len(s)
    constraint = LinearConstraint(incidence(conflicts, n), lb=1.0)
    solved = milp(s, constraints=constraint, integrality=np.ones(n, dtype=int), bounds=Bounds(0, 1), options=options)
    if solved.status == 0 and solved.x is not None:
        return float(s[np.asarray(solved.x) > 0.5].sum())
    return 0.0 if solved.mip_dual_bound is None else float(solved.mip_dual_bound)
