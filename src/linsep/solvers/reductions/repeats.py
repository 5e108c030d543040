"""Rows that occur again and again: solved as one row each, with the sum of their weights.

A weight of 2 is the same as two rows, so that nothing changes but the time it takes. The optimum, the value of every
plane and the duality gap are those of all rows, and the dual variable of a group is shared out by weight:
αᵢ = cᵢ · α_g / c_g, where c_g = Σ cᵢ over the rows of group g.

Of examples elsewhere than in memory one pass gathers the different rows, if there is room for them: what is left is a
problem in memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from ..._common.types import FloatArray, IntArray
from ..._core import Rows, is_sparse
from ...objective.examples import Block, InMemory
from ...objective.objective import Objective
from ..contract import serves
from ..dual.descent import DualDescent
from ..result import Result, Start
from ..workspace import Made
from .reduction import Reduction, noted

#: Smaller data are fitted before their repeats are found.
WORTH = 1_000_000
#: Equal pairs that a sample of the rows is to have, if all of them come twice.
PAIRS = 64
#: Passes that may be made to make the certificate small, and which share of the gap they leave: another one over few
#: rows costs next to nothing beside what it took to read them all.
FINISHING, LEFT = 20, 0.001
#: Numbers of every row in memory that gathering the different ones of them takes.
IN_PASSING = 4
#: Merging is worth it if it leaves no more than this share of the rows.
SHARE = 0.6


@dataclass(frozen=True, eq=False)
class Repeats(Reduction):
    """Which rows are the same, label included."""

    group: IntArray  # the number of each row's group
    first: IntArray  # one row of each group
    rows: Rows  # one of each group
    help = "merging"

    @classmethod
    def find(cls, objectives: Sequence[Objective]) -> Repeats | None:
        """Return which rows are the same, where merging them is worth its while."""
        examples = objectives[0].examples
        if examples.resident is None:
            known = examples.__dict__  # they are the same for every class
            if "_repeats" not in known:
                known["_repeats"] = gather_repeats(examples)
            found: Repeats | None = known["_repeats"]
            return found
        rows = examples.resident
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
        noted(result, f"{len(self.group):,} rows merged into {self.rows.n:,} different ones")
        alpha, z = self._spread(result, objective, reduced)
        return replace(result, alpha=alpha, z=z, last=replace(result.last, alpha=alpha))

    def _spread(self, result: Result, objective: Objective, reduced: Objective) -> tuple[Any, FloatArray | None]:
        """Return the dual variables and the agreements of all rows."""
        z = None if result.z is None else result.z[self.group]
        if result.alpha is None:
            return None, z
        # α/c first: at a bound that is exactly one, and stays one.
        share = _over(result.alpha, reduced.weight_of_loss * reduced.s)[self.group]
        return share * _beside(objective.weight_of_loss * objective.s, share), z


@dataclass(frozen=True, eq=False)
class RepeatsElsewhere(Repeats):
    """Which rows are the same, of examples elsewhere than in memory."""

    codes: IntArray  # the class of each group
    weight: FloatArray  # Σ s of each group
    own: FloatArray | None  # the weight of each row, if they have such

    def apply(self, objective: Objective) -> Objective:
        """Return the objective with one row a group, in memory."""
        return replace(objective, examples=InMemory(self.rows, self.codes, self.weight))

    def _spread(self, result: Result, objective: Objective, reduced: Objective) -> tuple[Any, None]:
        if result.alpha is None:
            return None, None
        share = _over(result.alpha, reduced.weight_of_loss * reduced.s)
        share *= objective.weight_of_loss * objective.by_class[self.codes]
        return Made(lambda which: share[self.group[which]] * (1.0 if self.own is None else self.own[which])), None


def _over(alpha: FloatArray, c: FloatArray) -> FloatArray:
    """α/c, of one number an example or of several."""
    c = _beside(c, alpha)
    return np.divide(alpha, c, out=np.zeros_like(alpha), where=c > 0)


def _beside(c: FloatArray, alpha: FloatArray) -> FloatArray:
    """Return a number for each example in the shape that multiplies its dual variables, one or several."""
    return c if alpha.ndim == 1 else c[:, None]


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
    if better.interrupted:
        return replace(result, interrupted=True)
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
    if rows.stored < worth or not _likely(rows, codes, rows.n):
        return None
    found = rows.groups(codes, int(SHARE * rows.n))
    if found is None:
        return None
    group, first = found
    return Repeats(group, first, Rows(rows.X[first], tidy=True))


def gather_repeats(examples: Any, *, worth: int | None = None) -> RepeatsElsewhere | None:
    """Return which rows in blocks are the same; None where merging them would not be worth its while, or has no room.

    There is room for as many different rows as half a sample has: those that were met may be twice as many.
    """
    most = examples.sample_size
    if not most or examples.holds < IN_PASSING or examples.n * examples.d < (WORTH if worth is None else worth):
        return None
    first = next((block for block in examples if block.rows.n), None)
    if first is None or not _likely(first.rows, first.codes, examples.n):
        return None
    met = _Met(examples.n)
    own = np.empty(examples.n) if examples.weighted else None
    for block in examples:
        met.add(block)
        if own is not None:
            own[block.which] = block.weight
        if met.count > most and met.compacted() > min(most / 2, SHARE * met.done):
            return None
    if met.compacted() > min(most / 2, SHARE * met.done):
        return None
    rows, codes = met.rows(), np.concatenate(met.codes)
    weight = np.bincount(met.group, own, len(codes)).astype(np.float64)
    return RepeatsElsewhere(met.group, np.empty(0, dtype=np.int64), rows, codes, weight, own)


class _Met:
    """The different rows of the blocks that have come by, some perhaps more than once, and the number of each row."""

    def __init__(self, n: int) -> None:
        self.group, self.done, self.count = np.empty(n, dtype=np.int64), 0, 0
        self.parts: list[Any] = []
        self.codes: list[IntArray] = []

    def add(self, block: Block) -> None:
        found = block.rows.groups(block.codes, block.rows.n)
        if found is not None:  # else it is empty
            self.group[block.which] = self.count + found[0]
            self.parts.append(block.rows.X[found[1]])
            self.codes.append(block.codes[found[1]])
            self.count += len(found[1])
            self.done += block.rows.n

    def rows(self) -> Rows:
        return Rows(sparse.vstack(self.parts, format="csr") if is_sparse(self.parts[0]) else np.vstack(self.parts))

    def compacted(self) -> int:
        """Leave each row once; return how many that are."""
        rows, codes = self.rows(), np.concatenate(self.codes)
        found = rows.groups(codes, self.count)
        assert found is not None
        number, first = found
        self.group[: self.done] = number[self.group[: self.done]]
        self.parts, self.codes, self.count = [rows.X[first]], [codes[first]], len(first)
        return self.count


def _likely(rows: Rows, codes: IntArray, n: int) -> bool:
    """Whether a sample of some of n rows looks as if most rows came twice at the least.

    Among m of n rows that all come k times, (k − 1)/n of the m²/2 pairs are equal: m need only grow like √n. A pair
    counts once for each row that is found again, for a single row may come again thousands of times.
    """
    m = min(rows.n, math.isqrt(2 * PAIRS * n))
    chosen = np.sort(np.random.default_rng(0).choice(rows.n, m, replace=False))
    found = Rows(rows.X[chosen], tidy=True).groups(codes[chosen], m)
    if found is None:
        return False
    again = np.count_nonzero(np.bincount(found[0]) > 1)
    return bool(n * again >= 0.35 * m * m or len(found[1]) <= SHARE * m)  # 0.5 m²/n, if all come twice
