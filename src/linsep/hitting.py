"""How light a set of points can be that meets every conflict: a lower bound in exact arithmetic.

Shares y ≥ 0 of the conflicts that load no point with more than its weight, Σ (y_c : i ∈ c) ≤ sᵢ, add up to no more than
the weight of any set that meets them all. A linear program proposes the shares; made feasible in rational numbers they
prove their sum, whatever the program got wrong. Where one bound is not enough, a point is branched on: it is in the set
(and its weight is paid) or it is not (and its conflicts have to be met by others).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from math import ceil
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

FloatArray = NDArray[np.float64]

__all__ = ["hits_weigh_at_least", "incidence", "lightest_hit"]

Sets = list[frozenset[int]]


def hits_weigh_at_least(
    conflicts: Sequence[Collection[int]],
    weights: Sequence[Fraction],
    least: Fraction,
    *,
    nodes: int = 1000,
    time_limit: float | None = None,
) -> bool | None:
    """Whether every set of points that meets all conflicts weighs at least that much; None where that is left open.

    Parameters
    ----------
    conflicts : sequence of sets of points
    weights : Fractions, one a point; positive
    least : Fraction
    nodes : int
        How many cases are looked at before it is left open.
    time_limit : float, optional
        Seconds after which it is left open.

    Examples
    --------
    >>> ones, triangle = [Fraction(1)] * 3, [(0, 1), (1, 2), (0, 2)]
    >>> hits_weigh_at_least(triangle, ones, Fraction(2)), hits_weigh_at_least(triangle, ones, Fraction(3))
    (True, False)
    """
    end = np.inf if time_limit is None else monotonic() + time_limit
    whole = all(weight.denominator == 1 for weight in weights)
    cases: list[tuple[Sets, Fraction]] = [([frozenset(conflict) for conflict in conflicts], Fraction(0))]
    for _ in range(nodes):
        if not cases:
            return True
        if monotonic() > end:
            return None
        sets, paid = cases.pop()
        if paid >= least or frozenset() in sets:  # heavy enough, or nothing can meet them all
            continue
        if not sets:
            return False
        proven, x = _packed(sets, weights)
        total = paid + proven
        if (ceil(total) if whole else total) >= least:
            continue
        i = _most_uncertain(x)
        if i is None:
            if _meets(x, sets) and paid + sum((weights[j] for j in x if x[j] > 0.5), Fraction(0)) < least:
                return False
            i = min(x, key=lambda j: -x[j])
        cases += [
            ([one for one in sets if i not in one], paid + weights[i]),
            ([one - {i} for one in sets], paid),
        ]
    return True if not cases else None


def _packed(sets: Sets, weights: Sequence[Fraction]) -> tuple[Fraction, dict[int, float]]:
    """Return the sum of feasible shares, exactly, and how much of each point the linear program takes into the set."""
    points = sorted(set().union(*sets))
    place = {i: k for k, i in enumerate(points)}
    rows = [place[i] for one in sets for i in one]
    columns = [c for c, one in enumerate(sets) for _ in one]
    M: Any = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(points), len(sets)))
    limits = np.array([float(weights[i]) for i in points])
    from scipy.optimize import linprog  # takes longer to import than all of linsep

    solved = linprog(-np.ones(len(sets)), A_ub=M, b_ub=limits, method="highs")
    if solved.x is None:
        return Fraction(0), dict.fromkeys(points, 0.5)
    x = -np.asarray(solved.ineqlin.marginals)
    return _feasible_sum(solved.x, sets, weights), dict(zip(points, x.tolist(), strict=True))


def _feasible_sum(y: NDArray[np.float64], sets: Sets, weights: Sequence[Fraction]) -> Fraction:
    """Return Σ y with y made feasible: whatever a point is overloaded by, all shares shrink by."""
    shares = [Fraction(max(0.0, float(share))) for share in y]
    load: dict[int, Fraction] = {}
    for one, share in zip(sets, shares, strict=True):
        for i in one:
            load[i] = load.get(i, Fraction(0)) + share
    overload = max((load[i] / weights[i] for i in load), default=Fraction(1))
    return sum(shares, Fraction(0)) / max(Fraction(1), overload)


def _most_uncertain(x: dict[int, float]) -> int | None:
    """Return the point that is nearest to being half in the set, or None where all are in or out."""
    i = min(x, key=lambda j: abs(x[j] - 0.5))
    return i if 1e-6 < x[i] < 1 - 1e-6 else None


def _meets(x: dict[int, float], sets: Sets) -> bool:
    return all(any(x[i] > 0.5 for i in one) for one in sets)


def incidence(conflicts: Sequence[Sequence[int]], n: int) -> sparse.csr_array:
    """Return the matrix with a row for each conflict and ones at its points."""
    indptr = np.cumsum([0, *map(len, conflicts)])
    indices = np.fromiter((i for conflict in conflicts for i in conflict), dtype=np.int64, count=int(indptr[-1]))
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
