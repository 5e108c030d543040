"""How few mistakes there can be, proven from below: every conflict among the points costs at least one.

A conflict is a set of rows aᵢ with Σ λᵢ aᵢ = 0 for some λ > 0: no v has aᵢ·v > 0 for all of them, so every plane errs
on at least one of the (at most D + 1) points. Hence the least weight of a set of points that hits every conflict is
the least weight of mistakes, and that of the conflicts found so far is a lower bound ("combinatorial Benders").

The bound comes from linear relaxations, x ∈ [0, 1]ⁿ with Σ xᵢ ≥ 1 over each conflict, and from branching: a point is
either a mistake (xᵢ = 1) or right (xᵢ = 0). Points that have to be right are free to use in new conflicts, which then
have few others to choose from; that makes them strong.

Each conflict is checked in whole numbers when it is found and can be checked again by anybody. That the least hitting
set of them is no lighter than stated rests on HiGHS.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from math import ceil
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..hitting import incidence
from ..integers import IntegerRows, conflict_among
from .zero_one_local import linear_program, within

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Mask = NDArray[np.bool_]
Conflict = tuple[int, ...]

T = TypeVar("T")

__all__ = ["Conflict", "Cover", "Patiently"]


class Patiently(Protocol):
    """Calls something that Python could not interrupt, with the seconds that it may take."""

    def __call__(self, call: Callable[[float], T]) -> T:
        """Return call(seconds)."""
        ...


#: What a sum of the relaxation's values may be off by.
SLACK = 1e-5
#: λ below this share of the largest is taken for zero; the exact check tells whether that was right.
NEGLIGIBLE = 1e-9
#: Conflicts looked for in one round, and rounds at the root and at the other nodes.
CONFLICTS, ROOT_ROUNDS, ROUNDS = 6, 150, 5
#: Points that were used once cost this much more, so that the conflicts of a round differ.
USED = 0.3
#: How often the costs of a conflict are adapted to it.
SHARPENED = 4


@dataclass(frozen=True, order=True)
class Node:
    """A part of all hitting sets: those with the points `out` and without the points `kept`."""

    bound: float
    rank: float  # among equal bounds the deepest first
    kept: tuple[int, ...] = ()
    out: tuple[int, ...] = ()


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
    open : list of Node
        What is left to look at.
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
        self.open = [Node(0.0, 0.0)]
        self._leaf = np.inf  # the least bound of the nodes that could neither be cut off nor divided
        self._count = 0

    # -- finding conflicts ----------------------------------------------------------------------------------------

    def find(self, among: IntArray, cost: FloatArray) -> Conflict | None:
        """Return a conflict among these rows, preferably of low cost; None where there seems to be none.

        The empty tuple stands for a vertex whose rows turned out to be no conflict in whole numbers.
        """
        weights = self._vertex(among, cost)
        return None if weights is None else self._checked(among, weights)

    def _vertex(self, among: IntArray, cost: FloatArray) -> FloatArray | None:
        """Return the cheapest vertex of {λ ≥ 0 : Σ λᵢ aᵢ = 0, Σ λᵢ = 1}, in which at most D + 1 are not zero."""
        if len(among) < 2:
            return None
        equations = np.vstack([self.B[among].T, np.ones(len(among))])
        right = np.append(np.zeros(self.B.shape[1]), 1.0)
        solved = self.patiently(
            lambda seconds: linear_program(cost, A_eq=equations, b_eq=right, method="highs-ds", options=within(seconds))
        )
        return None if solved.x is None else np.asarray(solved.x)

    def _checked(self, among: IntArray, weights: FloatArray) -> Conflict:
        """Return the conflict of a vertex, () where its rows turn out to be none in whole numbers."""
        order = np.argsort(-weights, kind="stable")
        support = among[order[weights[order] > NEGLIGIBLE * weights.max()]].tolist()
        chosen = conflict_among([self.integers.row(i) for i in support])
        return () if chosen is None else tuple(sorted(support[k] for k in chosen))

    def add(self, conflict: Conflict) -> bool:
        """Keep a conflict; return whether it is new."""
        if conflict in self._known:
            return False
        self._known.add(conflict)
        self.conflicts.append(conflict)
        return True

    def pack(self) -> Mask:
        """Find conflicts that share no point (no weight); return the rows that are left.

        Their number (the sum of the weights that each uses up) is a lower bound by itself.
        """
        left, proven = self.s.copy(), 0.0
        while True:
            among = np.flatnonzero(left > 0)
            conflict = self.find(among, self.rng.random(len(among)))
            if not conflict:
                return left > 0
            self.add(conflict)
            weight = float(left[list(conflict)].min())
            proven += weight
            left[list(conflict)] -= weight
            self.raise_bound(proven)

    def raise_bound(self, value: float) -> None:
        """Take note of a lower bound; with whole weights it can be rounded up."""
        self.bound = max(self.bound, self.rounded(value))

    def rounded(self, value: float) -> float:
        """Return what is proven where a linear program says `value`: rounded up if all weights are whole."""
        if not np.isfinite(value):
            return value
        return float(ceil(value - SLACK * max(1.0, value))) if self.whole else value * (1 - SLACK)

    # -- hitting them ---------------------------------------------------------------------------------------------

    def relax(self, node: Node) -> tuple[float, FloatArray]:
        """Return the cost of the cheapest x ∈ [0, 1]ⁿ of the node with Σ xᵢ ≥ 1 over each conflict, and that x."""
        limits = np.zeros((len(self.s), 2))
        limits[:, 1] = 1.0
        limits[list(node.kept), 1] = 0.0
        limits[list(node.out), 0] = 1.0
        M: Any = -incidence(self.conflicts, len(self.s))  # the stubs know no sparse constraints
        demands: Any = dict(A_ub=M, b_ub=-np.ones(len(self.conflicts)), bounds=limits)
        solved = self.patiently(
            lambda seconds: linear_program(self.s, **demands, method="highs", options=within(seconds))
        )
        if solved.status == 2:
            return np.inf, np.zeros(len(self.s))
        if solved.x is None or solved.fun is None:
            return node.bound, np.full(len(self.s), 0.5)
        return float(solved.fun), np.asarray(solved.x)

    def separate(self, node: Node, x: FloatArray) -> tuple[int, bool]:
        """Look for conflicts that x does not pay for; return how many are new, and whether there are none at all."""
        among = np.flatnonzero(x < 1 - SLACK)
        used, new = np.zeros(len(x)), 0
        for _ in range(CONFLICTS):
            cost = x + USED * used + 0.01 * self.rng.random(len(x))
            cost[list(node.kept)] = 0.0
            weights = self._vertex(among, cost[among])
            if weights is None:
                return new, new == 0
            found = self._sharpened(among, weights, x, used)
            if not found:
                break
            new += found
        return new, False

    def _sharpened(self, among: IntArray, weights: FloatArray, x: FloatArray, used: FloatArray) -> int:
        """Collect the conflict of a vertex and of some after it that x pays less for; return how many are new.

        A linear program minimises Σ xᵢ λᵢ, and what counts is the sum of xᵢ over the points that have any λᵢ. So the
        next one divides the costs by what λ was: a point that is used costs the same however much of it is used.
        """
        new = 0
        for left in reversed(range(SHARPENED + 1)):
            conflict = list(self._checked(among, weights))
            if conflict and x[conflict].sum() < 1 - SLACK and self.add(tuple(conflict)):
                new += 1
            used[conflict] += 1.0
            cost = (x[among] + 0.002 + 0.05 * USED * used[among]) / (weights / weights.max() + 0.02)
            next_weights = self._vertex(among, cost / cost.max()) if left else None
            if next_weights is None:
                break
            weights = next_weights
        return new

    def step(self, upper: float, enough: Callable[[], bool] = lambda: False) -> Mask | None:
        """Look at one node, with `upper` to beat; return the rows that x leaves right where they may be separable.

        Once it is enough, what is left of the node is put back.
        """
        node = heappop(self.open)
        rounds = ROUNDS if node.kept or node.out else ROOT_ROUNDS
        rest, x, value, settled = None, np.zeros(len(self.s)), node.bound, False
        for _ in range(rounds):
            value, x = self.relax(node)
            if not self.beats(value, upper):
                break
            if not (node.kept or node.out):
                self.raise_bound(value)
            new, settled = self.separate(node, x)
            if new == 0:
                break
            if enough():
                heappush(self.open, replace(node, bound=max(value, node.bound)))
                self.conclude(upper)
                return None
        if self.beats(value, upper):
            if settled:
                rest = x < 1 - SLACK
            self._divide(node, value, x, settled)
        self.conclude(upper)
        return rest

    def conclude(self, upper: float) -> None:
        """Raise the bound to what the nodes allow that are left; where none of them can beat `upper`, to that."""
        least = min(self.open[0].bound if self.open else np.inf, self._leaf)
        if self.beats(least, upper):
            self.raise_bound(least)
        else:
            self.bound = max(self.bound, upper)

    def beats(self, value: float, upper: float) -> bool:
        """Whether a linear program that says `value` leaves room for a hitting set lighter than `upper`."""
        return self.rounded(value) < upper if self.whole else value < upper * (1 - SLACK)

    def _divide(self, node: Node, value: float, x: FloatArray, settled: bool) -> None:
        """Replace the node by two, in which the most uncertain point is right or wrong."""
        value = max(value, node.bound)
        uncertain = np.flatnonzero((x > SLACK) & (x < 1 - SLACK))
        if settled or len(uncertain) == 0:
            self._leaf = min(self._leaf, value)
            return
        i = int(uncertain[np.argmin(np.abs(x[uncertain] - 0.6))])
        for kept, out in (((*node.kept, i), node.out), (node.kept, (*node.out, i))):
            self._count += 1
            heappush(self.open, Node(value, 1e-9 * self._count - len(kept) - len(out), kept, out))
