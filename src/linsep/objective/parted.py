"""A problem whose examples come in parts: all that a method asks for are sums, taken one part after the other.

    P(w, b) = penalty(w) + C · Σ over the parts of Σᵢ sᵢ ℓ(zᵢ)

Nothing here has a number for each example, so that memory does not grow with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .._core import Rows, conjugate_sum
from ..arithmetic.blocked import BlockedMatrix, rows_of
from ..losses import Loss
from ..penalties import L2, NoPenalty, Penalty
from .duality import Bound, class_scales
from .problem import Problem, formula

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

__all__ = ["Block", "Blocks", "Part", "PartedPoint", "PartedProblem", "in_one"]


@dataclass(frozen=True)
class Block:
    """Some examples that follow each other: the number of the first, their rows, and the class of each.

    Those of a sample may have weights: how many of all examples each one stands for.
    """

    first: int
    rows: Rows
    codes: IntArray
    weight: FloatArray | None = None


class Blocks(Protocol):
    """Examples in blocks, which can be gone through again and again; a block is good until the next one comes."""

    n: int
    d: int
    counts: IntArray  # how many examples each class has
    squares: FloatArray  # Σ ‖x‖² over the examples of each class

    def __iter__(self) -> Iterator[Block]: ...


def in_one(blocks: Blocks) -> tuple[Rows, IntArray]:
    """Return the examples as one matrix that is read block by block, and the class of each: for a check, not a fit."""
    codes = np.concatenate([np.array(block.codes, dtype=np.int64) for block in blocks])
    return rows_of(BlockedMatrix(lambda: (block.rows.X for block in blocks), blocks.n, blocks.d)), codes


@dataclass(frozen=True)
class Part:
    """The problem on one block alone, and which of all examples these are."""

    which: slice
    problem: Problem


@dataclass(frozen=True, eq=False)
class PartedProblem:
    """One binary problem: one class against the others.

    Attributes
    ----------
    rows : Blocks
        The examples.
    positive : int
        The class that is +1.
    loss, penalty, C, fit_intercept
        As in `Problem`.
    class_weight : array or None
        s of the examples of each class, all ones if None.

    Examples
    --------
    >>> from linsep.losses import Logistic
    >>> class Two:  # two blocks of one example each
    ...     n, d, counts, squares = 2, 1, np.array([1, 1]), np.array([4.0, 1.0])
    ...     def __iter__(self):
    ...         yield Block(0, Rows(np.array([[1.0]])), np.array([1]))
    ...         yield Block(1, Rows(np.array([[-2.0]])), np.array([0]))
    >>> problem = PartedProblem(Two(), 1, Logistic(), C=10.0)
    >>> round(problem.evaluate(np.array([0.0]), 0.0).objective, 3)  # 10 · 2 log 2
    13.863
    """

    rows: Blocks
    positive: int
    loss: Loss
    penalty: Penalty = field(default_factory=L2)
    C: float = np.inf
    class_weight: FloatArray | None = None
    fit_intercept: bool = True

    def __post_init__(self) -> None:
        if np.isinf(self.C):
            object.__setattr__(self, "penalty", NoPenalty())

    def __iter__(self) -> Iterator[Part]:
        for block in self.rows:
            yield Part(slice(block.first, block.first + block.rows.n), self.on(block.rows, block.codes))

    def on(self, rows: Rows, codes: IntArray, C: float | None = None) -> Problem:
        """Return the same problem on these examples."""
        y = np.where(codes == self.positive, 1.0, -1.0)
        s = None if self.class_weight is None else self.class_weight[codes]
        return Problem(rows, y, self.loss, self.penalty, C or self.C, s, self.fit_intercept)

    @cached_property
    def _weights(self) -> FloatArray:
        return np.ones(len(self.rows.counts)) if self.class_weight is None else self.class_weight

    @cached_property
    def total_weight(self) -> float:
        """Σ sᵢ."""
        return float(self._weights @ self.rows.counts)

    @cached_property
    def weighted_squares(self) -> float:
        """Σ sᵢ ‖xᵢ‖²."""
        return float(self._weights @ self.rows.squares)

    @property
    def weight_of_loss(self) -> float:
        """What multiplies the sum of losses in P."""
        return 1.0 if np.isinf(self.C) else self.C

    @property
    def formula(self) -> str:
        """The objective that is minimised, in one line."""
        return formula(self.loss, self.penalty, self.C, weighted=self.class_weight is not None)

    def evaluate(self, w: FloatArray, b: float, *, hessian: bool = False) -> PartedPoint:
        """Return what one pass over the examples says of (w, b); with the Hessian of the losses, if asked for."""
        d, split = self.rows.d, self.fit_intercept
        sums, gradients = np.zeros(4), np.zeros((2 if split else 1, d))
        bend = np.zeros((d + 1, d + 1)) if hessian else None
        for part in self:
            found = part.problem.evaluate(w, b, split=split, curvature=hessian).sums
            sums += found.positive_total, found.negative_total, found.value, found.mistakes
            gradients[0] += found.positive
            if split:
                gradients[1] += found.negative
            if bend is not None:
                bend += part.problem.rows.gram(found.h, np.flatnonzero(found.h))
        return PartedPoint(self, w, b, sums[:2], float(sums[2]), float(sums[3]), gradients, bend)


@dataclass(frozen=True, eq=False)
class PartedPoint:
    """A point (w, b) and what one pass over the examples says of it."""

    problem: PartedProblem
    w: FloatArray
    b: float
    totals: FloatArray  # Σ u by class, u = s ℓ'(z) y
    value: float  # Σ s ℓ(z)
    mistakes: float  # Σ s over the examples with z ≤ 0
    gradients: FloatArray  # Σ u x by class, if b is free; else in one row
    hessian: FloatArray | None  # Σ s ℓ''(z) [x, 1][x, 1]ᵀ, its lower triangle

    @cached_property
    def objective(self) -> float:
        """P(w, b)."""
        return self.problem.penalty.value(self.w) + self.problem.weight_of_loss * self.value

    @cached_property
    def smooth_gradient(self) -> FloatArray:
        """∇P, for the smooth part of the penalty; its last entry is that of b, if b is free."""
        problem, C = self.problem, self.problem.weight_of_loss
        g = C * self.gradients.sum(axis=0) + problem.penalty.l2 * self.w
        return np.append(g, C * self.totals.sum()) if problem.fit_intercept else g

    @cached_property
    def _dual(self) -> tuple[FloatArray, FloatArray]:
        """−Σ αᵢ yᵢ xᵢ of the feasible α that the point gives, and the scales of the classes: see `duality`."""
        problem = self.problem
        scales = np.ones(1)
        if problem.fit_intercept:
            scales = np.array(class_scales(-float(self.totals[0]), float(self.totals[1])))
        v = problem.weight_of_loss * (scales @ self.gradients)
        if problem.penalty.l2 == 0:
            longest = float(np.abs(v).max(initial=0.0))
            shrink = min(1.0, problem.penalty.l1 / longest) if longest > 0 else 1.0
            v, scales = shrink * v, shrink * scales
        return v, scales

    @cached_property
    def bound(self) -> Bound:
        """A bound on the optimum without another pass over the examples.

        At αᵢ = −cᵢ ℓ'(zᵢ) Fenchel's inequality is an equality, ℓ*(ℓ'(z)) = z ℓ'(z) − ℓ(z), whose sum is known. A class
        that is scaled by p ≤ 1 adds no more than p times its own, because ℓ* is convex and ℓ*(0) = 0; what the class
        has of Σ s ℓ(z) is at most all of it.
        """
        v, scales = self._dual
        products = self.gradients @ self.w + self.b * (self.totals if self.problem.fit_intercept else 0.0)
        conjugates = float(products.sum()) - self.value - float((1.0 - scales) @ (products - self.value))
        dual = -self.problem.penalty.conjugate(v) - self.problem.weight_of_loss * conjugates
        return Bound(self.objective, max(0.0, dual))

    def exact_bound(self) -> Bound:
        """The bound that α gives itself, for which every example is looked at again."""
        problem, (v, scales) = self.problem, self._dual
        conjugates = 0.0
        for part in problem:
            one = part.problem
            u = one.evaluate(self.w, self.b, gradient=False).sums.u
            conjugates += conjugate_sum(one.y, one.sample_weight, one.loss, u, float(scales[0]), float(scales[-1]))
        dual = -problem.penalty.conjugate(v) - problem.weight_of_loss * conjugates
        return Bound(self.objective, dual)
