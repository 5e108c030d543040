"""Bounds with every rounding enclosed from sums over blocks alone: nothing of every example is in one place.

Whole units add up without rounding wherever they are added. So a dual point is made exactly feasible in three passes:
how the classes are to be scaled, how many units each block has of each class then, and, what is too much taken away
from some blocks, the sums that D(α) is made of.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Self

import numpy as np

from .._common.types import FloatArray, IntArray
from ..arithmetic.enclosure import (
    GRID,
    Interval,
    among_slopes,
    combination,
    conjugate_sum,
    exact_sum,
    fits,
    gamma,
    harmful,
    into_box,
    penalty_conjugate,
    penalty_value,
    take,
    unit,
)
from .class_margins import MassPoint
from .dual_point import DualPoint
from .duality import class_scales, weights
from .examples import Block, Pieces, Several
from .flows import balanced_flow, is_balanced
from .heads import Margin, Softmax
from .objective import Objective
from .softmax_dual import entropy, flow_columns, flow_of, in_units, off_class

#: What is taken away of each block, by the number of its first example: (rows of this class, column, so many units).
Taken = dict[int, list[tuple[int, int, int]]]
#: Of a part: the losses enclosed, scores, and how far these may be off.
Losses = Callable[[Objective], tuple[Interval, FloatArray, FloatArray]]


def summed_bound(
    problem: Objective, w: FloatArray, b: Any, point: DualPoint | MassPoint, losses: Losses, share: float
) -> tuple[Interval, Interval] | None:
    """Enclose P(w, b) and D of an exactly feasible point; None where plain sums leave more than that share open."""
    kind = _KINDS.get(type(problem.head))
    if kind is None or not isinstance(point, DualPoint):
        return None
    point.check_rows(problem.n)
    cut = kind(problem, w, b, point, losses)
    enclosed, largest, sums = problem.examples.sum(cut.look)
    primal = penalty_value(problem.penalty, w.ravel()) + enclosed
    cut = cut.balanced(sums, max(largest))
    found = _feasible(problem, cut, share) if cut.step else None
    return (primal, found) if found is not None and found.low > 0 else None


def _feasible(problem: Objective, cut: _Cut, share: float) -> Interval | None:
    """Enclose D of the point once its units balance and, of an L1 penalty alone, it is in its box."""
    penalty = problem.penalty
    for attempt in range(8):
        if problem.fit_intercept:
            taken = cut.surplus(problem.examples.sum(cut.count))
            if taken is None:
                return None
            cut = replace(cut, taken=taken)
        blocks, v, radius, size, gained, more = problem.examples.sum(cut.sums)
        if problem.fit_intercept and any(more):  # a worker whose scores have other digits than when it counted
            return None
        # Adding up the blocks is off by no more than γ of the sizes of what is added.
        radius = (radius + gamma(blocks) * size) * (1.0 + gamma(blocks + 8))
        if len(harmful(v, radius, penalty, abs(gained.high), share)):
            return None
        if penalty.l2 > 0 or fits(penalty, v, radius):
            break
        cut = replace(cut, shrink=cut.shrink * into_box(penalty, v, radius, attempt))
    found: Interval = gained - penalty_conjugate(penalty, v, radius)
    return found


@dataclass(frozen=True)
class _Cut(ABC):
    """A dual point that is cut to whole units: what is asked of every block on the way."""

    problem: Objective
    w: FloatArray
    b: Any
    point: DualPoint
    losses: Losses
    step: float = 0.0
    shrink: float = 1.0
    taken: Taken | None = None

    @abstractmethod
    def look(self, block: Block) -> Several:
        """Return the losses, the largest number that is to be cut, and what balancing needs to know."""

    @abstractmethod
    def balanced(self, sums: Any, largest: float) -> Self:
        """Return the same with classes that balance but for rounding, and the step."""

    @abstractmethod
    def count(self, block: Block) -> Pieces:
        """Return the number of the first example, and how many units there are of each class."""

    @abstractmethod
    def surplus(self, counts: Sequence[tuple[int, Any]]) -> Taken | None:
        """Return what is to be taken away of each block; None where that is not enough."""

    @abstractmethod
    def sums(self, block: Block) -> Several:
        """Return 1, V, how far it may be off, its size, what the conjugates gain, and what classes give too much."""

    def _taken(self, units: IntArray, block: Block, codes: IntArray, least: int = 0) -> None:
        for k, m, amount in (self.taken or {}).get(block.first, ()):
            column = units if units.ndim == 1 else units[:, m]
            take(column, np.flatnonzero(codes == k), amount, least)


def _combined(part: Objective, columns: Sequence[FloatArray], gained: Interval, more: Sequence[int]) -> Several:
    each = [combination(part.rows.X, one) for one in columns]
    v, radius = (np.concatenate(some) for some in zip(*each, strict=True))
    return Several((1, v, radius, np.abs(v), gained, Several(more)))


@dataclass(frozen=True)
class _OfPlane(_Cut):
    """One plane: units of αᵢ, as many of one class as of the other."""

    scales: tuple[float, float] = (1.0, 1.0)

    def look(self, block: Block) -> Several:
        part = self.problem.on(block)
        losses, z, _ = self.losses(part)
        alpha = self.point.among(block.which).unbalanced(part, z)
        ends = (
            among_slopes(part.loss, np.zeros_like(alpha), weights(part)),
            among_slopes(part.loss, alpha, weights(part)),
        )
        largest = float(np.abs(ends).max(initial=0.0))  # scaled down, α is between
        by_class = np.array([alpha[part.y > 0].sum(), alpha[part.y < 0].sum()])
        return Several((losses, Pieces([largest]), by_class))

    def balanced(self, sums: Any, largest: float) -> Self:
        scales = class_scales(*map(float, sums)) if self.problem.fit_intercept else (1.0, 1.0)
        return replace(self, scales=scales, step=unit(largest))

    def _units(self, block: Block) -> tuple[Objective, IntArray]:
        part = self.problem.on(block)
        alpha = self.point.among(block.which).unbalanced(part, self.losses(part)[1])
        alpha *= self.shrink * np.where(part.y > 0, *self.scales)
        return part, np.trunc(among_slopes(part.loss, alpha, weights(part)) / self.step).astype(np.int64)

    def count(self, block: Block) -> Pieces:
        part, units = self._units(block)
        sides = part.y > 0, part.y < 0
        return Pieces([(block.first, [(exact_sum(units[side]), int(side.sum())) for side in sides])])

    def surplus(self, counts: Sequence[tuple[int, Any]]) -> Taken | None:
        more = sum(each[0][0] - each[1][0] for _, each in counts)
        side, spare = int(more < 0), 0 if self._least == 0 else 2**GRID
        return _dealt(
            abs(more), side, 0, [(first, each[side][0] + spare * each[side][1]) for first, each in counts], {}
        )

    @property
    def _least(self) -> int:
        return 0 if self.problem.loss.slopes[1] <= 0 else -(2**GRID)

    def sums(self, block: Block) -> Several:
        part, units = self._units(block)
        self._taken(units, block, (part.y < 0).astype(np.int64), self._least)
        alpha, more = np.asarray(units * self.step, dtype=np.float64), exact_sum(units[part.y > 0])
        more -= exact_sum(units[part.y < 0])
        return _combined(part, [alpha * part.y], -conjugate_sum(part.loss, alpha, weights(part)), [more])


@dataclass(frozen=True)
class _OfClasses(_Cut):
    """Softmax: units of what is off each example's own class, as many out of every class as into it."""

    mixture: tuple[float, Any] = (0.0, 0.0)

    def look(self, block: Block) -> Several:
        part = self.problem.on(block)
        return Several((self.losses(part)[0], Pieces([float(weights(part).max(initial=0.0))]), 0.0))

    def balanced(self, sums: Any, largest: float) -> Self:
        with np.errstate(all="ignore"):  # the point's own sums are guesses: what they prove is looked at
            mixture = self.problem.evaluate(self.w, self.b).mixture
        return replace(self, mixture=mixture, step=unit(largest, self.problem.classes.bit_length()))

    def _units(self, block: Block) -> tuple[Objective, IntArray]:
        part, (t, q) = self.problem.on(block), self.mixture
        with np.errstate(all="ignore"):
            p = part.evaluate(self.w, self.b).p
            p = self.shrink * (p if t == 0 else (1 - t) * p + t * q)
            c = weights(part)
            return part, in_units(off_class(part, p, c), c, self.step)

    def count(self, block: Block) -> Pieces:
        part, units = self._units(block)
        return Pieces([(block.first, flow_of(units, part.codes, part.classes))])

    def surplus(self, counts: Sequence[tuple[int, Any]]) -> Taken | None:
        classes = range(self.problem.classes)
        flow = [[sum(each[k][m] for _, each in counts) for m in classes] for k in classes]
        left, taken = balanced_flow(flow), Taken()
        for k, m in product(classes, repeat=2):
            _dealt(flow[k][m] - left[k][m], k, m, [(first, each[k][m]) for first, each in counts], taken)
        return taken if is_balanced(left) else None

    def sums(self, block: Block) -> Several:
        part, units = self._units(block)
        self._taken(units, block, part.codes)
        gained = entropy(part, np.asarray(units * self.step, dtype=np.float64), weights(part))
        flow = flow_of(units, part.codes, part.classes)
        more = [sum(row) - sum(other[k] for other in flow) for k, row in enumerate(flow)]
        return _combined(part, flow_columns(part, units, self.step), gained, more)


_KINDS: dict[type, type[_Cut]] = {Margin: _OfPlane, Softmax: _OfClasses}


def _dealt(amount: int, k: int, m: int, there: Sequence[tuple[int, int]], taken: Taken) -> Taken | None:
    """Deal out to the blocks what is to be taken away, to the first as much as it has; None where it is not enough."""
    for first, has in there:
        some = min(amount, has)
        if some > 0:
            taken.setdefault(first, []).append((k, m, some))
            amount -= some
    return None if amount > 0 else taken
