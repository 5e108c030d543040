"""How few mistakes there can be, proven from below: every conflict among the points costs at least one.

A conflict is a set of rows aᵢ with Σ λᵢ aᵢ = 0 for some λ > 0: no v has aᵢ·v > 0 for all of them, so every plane errs
on at least one of the (at most D + 1) points. Hence the least weight of a set of points that hits every conflict found
so far is a lower bound; and once the points outside such a set can be separated, it is the optimum. This is
"combinatorial Benders", or an implicit hitting set.

Each conflict is checked in whole numbers when it is found and can be checked again by anybody. That the least hitting
set of them is no lighter than stated rests on HiGHS.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from ._integers import IntegerRows, is_conflict
from .zero_one_local import within

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Mask = NDArray[np.bool_]
Conflict = tuple[int, ...]

T = TypeVar("T")

__all__ = ["Conflict", "Cover", "HittingSet", "Patiently", "hitting_set"]


class Patiently(Protocol):
    """Calls something that Python could not interrupt, with the seconds that it may take."""

    def __call__(self, call: Callable[[float], T]) -> T:
        """Return call(seconds)."""
        ...


#: What a sum of the relaxation's values may be off by.
SLACK = 1e-6
#: λ below this share of the largest is taken for zero; the exact check tells whether that was right.
NEGLIGIBLE = 1e-9
#: Conflicts looked for in one round.
ROUND = 12


@dataclass(frozen=True)
class HittingSet:
    """A set of points that meets all conflicts, and what is proven about the lightest one."""

    points: Mask
    bound: float
    optimal: bool


class Cover:
    """Collects conflicts and the lower bound that they prove.

    Parameters
    ----------
    A : array of shape (n, D)
        The rows as they are, for exact checks.
    B : array of shape (n, D)
        The same rows up to an invertible linear map and positive factors, well scaled, for linear programs.
    s : array of shape (n,)
        What a mistake costs; positive.
    rng : numpy Generator
    patiently : callable
        Calls what it is given with the seconds that it may take; may raise to end the search.

    Attributes
    ----------
    conflicts : list of tuples of row numbers
    bound : float
        No v makes mistakes of less weight.
    """

    def __init__(
        self, A: FloatArray, B: FloatArray, s: FloatArray, rng: np.random.Generator, patiently: Patiently
    ) -> None:
        self.integers = IntegerRows(A)
        length = np.linalg.norm(B, axis=1)
        self.B = B / np.where(length > 0, length, 1.0)[:, None]
        self.s, self.rng, self.patiently = s, rng, patiently
        self.whole = bool((s == np.round(s)).all())
        self.conflicts: list[Conflict] = []
        self._known: set[Conflict] = set()
        self.bound = 0.0
        self.doubtful = 0

    # -- finding conflicts ----------------------------------------------------------------------------------------

    def find(self, among: IntArray, cost: FloatArray) -> Conflict | None:
        """Return a conflict among these rows, preferably of low cost; None where there is (as good as) none.

        A vertex of {λ ≥ 0 : Σ λᵢ aᵢ = 0, Σ λᵢ = 1} has at most D + 1 entries that are not zero.
        """
        if len(among) < 2:
            return None
        equations = np.vstack([self.B[among].T, np.ones(len(among))])
        right = np.append(np.zeros(self.B.shape[1]), 1.0)
        solved = self.patiently(
            lambda seconds: linprog(cost, A_eq=equations, b_eq=right, method="highs-ds", options=within(seconds))
        )
        if solved.x is None:
            return None
        support = among[solved.x > NEGLIGIBLE * solved.x.max()]
        conflict = tuple(sorted(support.tolist()))
        if is_conflict([self.integers.row(i) for i in conflict]):
            return conflict
        self.doubtful += 1
        return None

    def add(self, conflict: Conflict) -> bool:
        """Keep a conflict; return whether it is new."""
        if conflict in self._known:
            return False
        self._known.add(conflict)
        self.conflicts.append(conflict)
        return True

    def pack(self, allowed: Mask) -> Mask:
        """Find conflicts that share no point (no weight) among the allowed rows; return the rows that are left.

        Their number (the sum of the weights that each uses up) is a lower bound by itself if all rows are allowed.
        """
        left = np.where(allowed, self.s, 0.0)
        proven = 0.0
        while True:
            among = np.flatnonzero(left > 0)
            conflict = self.find(among, self.rng.random(len(among)))
            if conflict is None:
                break
            self.add(conflict)
            weight = left[list(conflict)].min()
            proven += float(weight)
            left[list(conflict)] -= weight
            if allowed.all():
                self.raise_bound(proven)
        return left > 0

    def raise_bound(self, value: float) -> None:
        """Take note of a lower bound; with whole weights it can be rounded up."""
        value = float(ceil(value - SLACK * max(1.0, value))) if self.whole else value * (1 - 1e-9)
        self.bound = max(self.bound, value)

    # -- hitting them ---------------------------------------------------------------------------------------------

    def relax(self) -> FloatArray:
        """Return the cheapest x ∈ [0, 1]ⁿ with Σ xᵢ ≥ 1 over each conflict; its cost is a lower bound."""
        M: Any = -incidence(self.conflicts, len(self.s))  # the stubs know no sparse constraints
        limits: Any = dict(A_ub=M, b_ub=-np.ones(len(self.conflicts)), bounds=(0, 1))
        solved = self.patiently(lambda seconds: linprog(self.s, **limits, method="highs", options=within(seconds)))
        if solved.x is None or solved.fun is None:
            return np.zeros(len(self.s))
        self.raise_bound(float(solved.fun))
        return np.asarray(solved.x)

    def separate(self, x: FloatArray) -> int:
        """Look for conflicts that x does not pay for; return how many are new. Points used once become dear."""
        cost = x + 0.02 * self.rng.random(len(x))
        new = 0
        for _ in range(ROUND):
            among = np.flatnonzero(x < 1 - SLACK)
            conflict = self.find(among, cost[among])
            if conflict is None or x[list(conflict)].sum() >= 1 - SLACK or not self.add(conflict):
                return new
            new += 1
            cost[list(conflict)] += 0.3
        return new

    def hit(self, longest: float) -> HittingSet:
        """Return a light set of points that meets every conflict, the lightest if time allows."""
        solution = self.patiently(lambda seconds: hitting_set(self.conflicts, self.s, min(seconds, longest)))
        self.raise_bound(solution.bound)
        return solution


def incidence(conflicts: list[Conflict], n: int) -> sparse.csr_array:
    """Return the matrix with a row for each conflict and ones at its points."""
    indptr = np.cumsum([0, *map(len, conflicts)])
    indices = np.fromiter((i for conflict in conflicts for i in conflict), dtype=np.int64, count=int(indptr[-1]))
    return sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=(len(conflicts), n))


def hitting_set(conflicts: list[Conflict], s: FloatArray, seconds: float = np.inf) -> HittingSet:
    """Return the lightest set of points that meets every conflict, as far as HiGHS gets in that time.

    Examples
    --------
    >>> hitting_set([(0, 1), (1, 2), (3, 4)], np.ones(5)).bound
    2.0
    """
    n = len(s)
    everything = HittingSet(np.ones(n, dtype=bool), 0.0, False)
    if not conflicts:
        return HittingSet(np.zeros(n, dtype=bool), 0.0, True)
    options: Any = dict(mip_rel_gap=0.0) | within(seconds)
    constraint = LinearConstraint(incidence(conflicts, n), lb=1.0)
    solved = milp(s, constraints=constraint, integrality=np.ones(n, dtype=int), bounds=Bounds(0, 1), options=options)
    bound = 0.0 if solved.mip_dual_bound is None else float(solved.mip_dual_bound)
    if solved.x is None:
        return HittingSet(everything.points, bound, False)
    points = np.asarray(solved.x) > 0.5
    return HittingSet(points, float(s[points].sum()) if solved.status == 0 else bound, solved.status == 0)
