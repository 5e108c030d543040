"""Rows that occur again and again: solved as one row each, with the sum of their weights.

A weight of 2 is the same as two rows, so that nothing changes but the time it takes. The optimum, the value of every
plane and the duality gap are those of all rows, and the dual variable of a group is shared out by weight:
αᵢ = cᵢ · α_g / c_g, where c_g = Σ cᵢ over the rows of group g.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..._core import Rows
from ..._types import FloatArray, IntArray
from ...objective.objective import Objective
from ..contract import serves
from ..dual.descent import DualDescent
from ..result import Result, Start
from .reduction import Reduction, noted

#: Smaller data are fitted before their repeats are found.
WORTH = 1_000_000
#: Equal pairs that a sample of the rows is to have, if all of them come twice.
PAIRS = 64
#: Passes that may be made to make the certificate small, and which share of the gap they leave: another one over few
#: rows costs next to nothing beside what it took to read them all.
FINISHING, LEFT = 20, 0.001
#: Merging is worth it if it leaves no more than this share of the rows.
SHARE = 0.6


@dataclass(frozen=True, eq=False)
class Repeats(Reduction):
    """Which rows are the same, label included.

    Attributes
    ----------
    group : array of shape (n,)
        The number of each row's group.
    first : array
        One row of each group.
    rows : Rows
        These rows.
    """

    group: IntArray
    first: IntArray
    rows: Rows
    help = "merging"
    needs = frozenset({"rows"})

    @classmethod
    def find(cls, objectives: Sequence[Objective]) -> Repeats | None:
        """Return which rows are the same, where merging them is worth its while."""
        rows = objectives[0].rows
        return None if rows.stored < WORTH else find_repeats(rows, _codes(objectives), worth=WORTH)

    def apply(self, objective: Objective) -> Objective:
        """Return the objective with one row a group."""
        weight = np.bincount(self.group, objective.sample_weight, len(self.first)).astype(np.float64)
        return objective.chosen(self.first, weight, self.rows)

    def start(self, start: Start) -> Start:
        """Return where a run on the merged rows begins: a group's dual variable is the sum of its rows'."""
        alpha = (
            None if start.alpha is None else np.bincount(self.group, start.alpha, len(self.first)).astype(np.float64)
        )
        return replace(start, alpha=alpha)

    def back(self, result: Result, objective: Objective, reduced: Objective) -> Result:
        """Return the merged objective's result as that of the whole one."""
        result = _finished(result, reduced)
        noted(result, f"{len(self.group):,} rows merged into {len(self.first):,} different ones")
        alpha = None if result.alpha is None else self._shares(result.alpha, objective, reduced)
        z = None if result.z is None else result.z[self.group]
        return replace(result, alpha=alpha, z=z, last=replace(result.last, alpha=alpha))

    def _shares(self, alpha: FloatArray, objective: Objective, reduced: Objective) -> FloatArray:
        # α/c first: at a bound that is exactly one, and stays one.
        c = reduced.weight_of_loss * reduced.s
        share = np.divide(alpha, c, out=np.zeros_like(alpha), where=c > 0)[self.group]
        return share * objective.weight_of_loss * objective.s


def _codes(objectives: Sequence[Objective]) -> IntArray:
    """Return the position of each example's class, where each objective tells one from the others."""
    if all(objective.examples is objectives[0].examples for objective in objectives):
        return objectives[0].codes
    return np.asarray(np.argmax([objective.y for objective in objectives], axis=0), dtype=np.int64)


def _finished(result: Result, merged: Objective) -> Result:
    """Return a plane whose own dual point proves as much as the solver's did, where a few more passes find one.

    A dual variable for every row makes a large certificate; for a smooth loss they follow from the plane, if that is
    near enough to the optimum. The passes are over the merged rows, which are few.
    """
    if result.alpha is None or result.proof is None or result.interrupted:
        return result
    if not (merged.loss.smooth and serves(DualDescent, merged)):
        return result
    tol = LEFT * result.proof.relative_gap
    better = DualDescent(tol=tol, max_iter=FINISHING).solve(merged, start=result.last)
    if better.proof is None or better.proof.primal > result.proof.primal:
        return result
    return replace(result, w=better.w, b=better.b, proof=better.proof, alpha=better.alpha)


def find_repeats(rows: Rows, codes: IntArray, *, worth: int = WORTH) -> Repeats | None:
    """Return which rows of the same class are equal; None where merging them would not be worth its while.

    Parameters
    ----------
    rows : Rows
    codes : array of int
        The class of each.
    worth : int
        How many stored numbers there must be.

    Examples
    --------
    >>> rows = Rows(np.array([[1.0], [2.0], [1.0], [1.0], [1.0]]))
    >>> found = find_repeats(rows, np.array([0, 0, 0, 1, 0]), worth=0)
    >>> found.group, found.first
    (array([0, 1, 0, 2, 0]), array([0, 1, 3]))
    """
    if rows.stored < worth or not _likely(rows, codes):
        return None
    found = rows.groups(codes, int(SHARE * rows.n))
    if found is None:
        return None
    group, first = found
    return Repeats(group, first, Rows(rows.X[first], tidy=True))


def _likely(rows: Rows, codes: IntArray) -> bool:
    """Whether a sample of the rows looks as if most rows came twice at the least.

    Among m of n rows that all come k times, (k − 1)/n of the m²/2 pairs are equal: m need only grow like √n. A pair
    counts once for each row that is found again, for a single row may come again thousands of times.
    """
    m = min(rows.n, math.isqrt(2 * PAIRS * rows.n))
    chosen = np.sort(np.random.default_rng(0).choice(rows.n, m, replace=False))
    found = Rows(rows.X[chosen], tidy=True).groups(codes[chosen], m)
    if found is None:
        return False
    again = np.count_nonzero(np.bincount(found[0]) > 1)
    return bool(rows.n * again >= 0.35 * m * m or len(found[1]) <= SHARE * m)  # 0.5 m²/n, if all come twice
