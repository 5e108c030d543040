"""How few mistakes there can be, proven from below: every conflict among the points costs at least one.

A conflict is a set of rows aᵢ with Σ λᵢ aᵢ = 0 for some λ > 0: no v has aᵢ·v > 0 for all of them, so every plane errs
on at least one of the (at most D + 1) points. Hence the least weight of a set of points that hits every conflict is
the least weight of mistakes, and that of the conflicts found so far is a lower bound ("combinatorial Benders").

The bound comes from linear relaxations, x ∈ [0, 1]ⁿ with Σ xᵢ ≥ 1 over each conflict, and from branching: a point is
either a mistake (xᵢ = 1) or right (xᵢ = 0). Points that have to be right are free to use in new conflicts, which then
have few others to choose from; that makes them strong.

Each conflict is checked in whole numbers when it is found and can be checked again by anybody. Of the linear programs
nothing is believed: the bound of every part that is given up, and of every part that is left, is the exact sum of
shares that the program's multipliers propose (`hitting.Packing`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from math import inf
from typing import Any

import numpy as np

from ..._common.types import BoolArray, FloatArray, IntArray
from ...arithmetic.integers import IntegerRows, conflict_among
from ...arithmetic.whole_weights import WholeWeights
from ...certificates.mistakes.hitting import Packing, incidence
from .local import linear_program

Conflict = tuple[int, ...]

#: Calls something that Python could not interrupt, with the seconds that it may take.
Patiently = Callable[[Callable[[float], Any]], Any]

#: What a sum of the relaxation's values may be off by, and the relaxation's value; they only decide what is tried.
SLACK, ROUNDING = 1e-5, 1e-6
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
    """A part of all hitting sets: those with the points `out` and without the points `kept`; none weighs less."""

    bound: float  # a whole number of units, or infinite where there is no such set
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
    weights : WholeWeights
        What a mistake costs; positive.
    rng : numpy Generator
    patiently : callable
        Calls what it is given with the seconds that it may take; may raise to end the search.

    Attributes
    ----------
    conflicts : list of tuples of row numbers
    bound : int
        No v makes mistakes of less weight, in units.
    open : list of Node
        What is left to look at.
    """

    def __init__(
        self, A: FloatArray, B: FloatArray, weights: WholeWeights, rng: np.random.Generator, patiently: Patiently
    ) -> None:
        self.integers = IntegerRows(A)
        length = np.linalg.norm(B, axis=1)
        self.B = B / np.where(length > 0, length, 1.0)[:, None]
        self.weights, self.rng, self.patiently = weights, rng, patiently
        self.numbers: list[int] = weights.numbers.tolist()
        self.s, self.scale = weights.about(), weights.scale
        self.conflicts: list[Conflict] = []
        self._sets: list[frozenset[int]] = []
        self._known: set[Conflict] = set()
        self.bound = 0
        self.open = [Node(0, 0.0)]
        self._leaf: float = inf  # the least bound of the nodes that could neither be cut off nor divided
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
        demands: dict[str, Any] = dict(A_eq=equations, b_eq=right, method="highs-ds")
        solved = self.patiently(lambda seconds: linear_program(cost, seconds, **demands))
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
        self._sets.append(frozenset(conflict))
        return True

    def pack(self) -> BoolArray:
        """Find conflicts that share no point (no weight); return the rows that are left.

        Their number (the sum of the weights that each uses up) is a lower bound by itself.
        """
        left, proven = self.weights.numbers.copy(), 0
        while True:
            among = np.flatnonzero(left > 0)
            conflict = self.find(among, self.rng.random(len(among)))
            if not conflict:
                return left > 0
            self.add(conflict)
            weight = int(left[list(conflict)].min())
            proven += weight
            left[list(conflict)] -= weight
            self.bound = max(self.bound, proven)

    # -- hitting them ---------------------------------------------------------------------------------------------

    def relax(self, node: Node) -> tuple[float, FloatArray, FloatArray]:
        """Return the cheapest x ∈ [0, 1]ⁿ of the node with Σ xᵢ ≥ 1 over each conflict: its cost, x, and multipliers.

        All of it is in floats, and no proof of anything.
        """
        limits = np.zeros((len(self.s), 2))
        limits[:, 1] = 1.0
        limits[list(node.kept), 1] = 0.0
        limits[list(node.out), 0] = 1.0
        M: Any = -incidence(self.conflicts, len(self.s))  # the stubs know no sparse constraints
        demands: Any = dict(A_ub=M, b_ub=-np.ones(len(self.conflicts)), bounds=limits)
        solved = self.patiently(lambda seconds: linear_program(self.s, seconds, **demands))
        if solved.x is None or solved.fun is None:
            none = np.zeros(len(self.conflicts))
            return (inf if solved.status == 2 else 0.0), np.full(len(self.s), 0.5), none
        return float(solved.fun), np.asarray(solved.x), -np.asarray(solved.ineqlin.marginals)

    def proven(self, node: Node, y: FloatArray, needed: int = 0) -> float:
        """Return what every hitting set of the node weighs at least, exactly, by shares y of conflicts or better ones.

        Better ones are looked for as long as they may reach what is needed. Infinite, where there is no such set.
        """
        kept, out = set(node.kept), set(node.out)
        paid = sum(self.numbers[i] for i in out)
        sets, places = list[frozenset[int]](), list[int]()
        for place, conflict in enumerate(self._sets):
            if conflict.isdisjoint(out):
                sets.append(conflict - kept)
                places.append(place)
        if frozenset() in sets:
            return inf
        if not sets:
            return max(node.bound, paid)
        packing = Packing(sets, self.numbers)
        shares = np.append(y, np.zeros(len(self._sets) - len(y)))  # conflicts found since have none
        packing.take(shares[places], self.scale)
        return max(node.bound, paid + packing.proves(needed - paid))

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

    def step(self, upper: int, enough: Callable[[], bool] = lambda: False) -> BoolArray | None:
        """Look at one node, with `upper` to beat; return the rows that x leaves right where they may be separable.

        Once it is enough, what is left of the node is put back.
        """
        node = heappop(self.open)
        for _ in range(ROUNDS if node.kept or node.out else ROOT_ROUNDS):
            value, x, y = self.relax(node)
            if self._reaches(value, upper) and self.proven(node, y, upper) >= upper:
                self.conclude(upper)
                return None
            if not (node.kept or node.out) and self._raises(value):
                node = replace(node, bound=self.proven(node, y))
                self.bound = max(self.bound, int(node.bound))
            new, settled = self.separate(node, x)
            if new == 0:
                break
            if enough():
                heappush(self.open, node)
                self.conclude(upper)
                return None
        self._divide(node, x, y, settled)
        self.conclude(upper)
        return x < 1 - SLACK if settled else None

    def conclude(self, upper: int) -> None:
        """Raise the bound to what the nodes allow that are left; where none of them can beat `upper`, to that."""
        least = min(self.open[0].bound if self.open else inf, self._leaf)
        self.bound = max(self.bound, int(min(least, upper)))

    def _reaches(self, value: float, upper: int) -> bool:
        """Whether a linear program that says `value` leaves it possible that no hitting set is lighter than `upper`."""
        doubt = ROUNDING * max(1.0, value)
        return value > (upper - 1) / self.scale + (doubt if self._coarse(doubt) else -doubt)

    def _raises(self, value: float) -> bool:
        """Whether it may be worth the while to look what exactly is proven where a linear program says `value`."""
        doubt = ROUNDING * max(1.0, value)
        return value > self.bound / self.scale + (doubt if self._coarse(doubt) else 0.001 * value)

    def _coarse(self, doubt: float) -> bool:
        """Whether weights are whole numbers of a unit that floats can tell from nothing."""
        return self.scale < 0.25 / doubt

    def _divide(self, node: Node, x: FloatArray, y: FloatArray, settled: bool) -> None:
        """Replace the node by two, in which the most uncertain point is right or wrong.

        Where none is uncertain, x is a hitting set, unless lighter points than the program can see make another one
        lighter: the lightest point of x is branched on, until what is proven is what x weighs.
        """
        uncertain = np.flatnonzero((x > SLACK) & (x < 1 - SLACK))
        whole = settled or len(uncertain) == 0
        weighs = self.weights.where(x > 0.5) if whole else 0
        bound = self.proven(node, y, weighs)
        if whole:
            uncertain = np.setdiff1d(np.flatnonzero(x > 0.5), node.out)
            if bound >= weighs or len(uncertain) == 0:
                self._leaf = min(self._leaf, bound)
                return
            i = int(min(uncertain, key=lambda i: self.numbers[i]))
        else:
            i = int(uncertain[np.argmin(np.abs(x[uncertain] - 0.6))])
        for kept, out in (((*node.kept, i), node.out), (node.kept, (*node.out, i))):
            self._count += 1
            heappush(self.open, Node(bound, 1e-9 * self._count - len(kept) - len(out), kept, out))
