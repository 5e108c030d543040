"""Bounds on the optimum: a feasible point of the dual problem bounds the objective from below.

For every α with 0-slopes allowed by the loss and, where the intercept is free, Σ αᵢ yᵢ = 0,

    D(α) = −penalty*(Σ αᵢ yᵢ xᵢ) − Σ cᵢ ℓ*(−αᵢ/cᵢ)  ≤  min P  ≤  P(w, b),        cᵢ = C sᵢ.

Any primal point gives such an α: αᵢ = −cᵢ ℓ'(zᵢ), with the heavier class scaled down until the sums agree. The gap
P − D is therefore known at every iterate, whatever found it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ._core import conjugate_sum
from .problem import Point, Problem

FloatArray = NDArray[np.float64]

__all__ = ["Bound", "balanced", "bound", "class_scales", "dual_bound", "penalised", "share", "weights"]


@dataclass(frozen=True)
class Bound:
    """min P lies between `dual` and `primal`."""

    primal: float
    dual: float

    @property
    def gap(self) -> float:
        """How far the primal value can be from the optimum."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the primal value."""
        return self.gap / max(abs(self.primal), np.finfo(float).tiny)


def bound(point: Point) -> Bound:
    """Return the bound that a point's own dual gives.

    Examples
    --------
    >>> from linsep._core import Rows
    >>> from linsep.losses import Logistic
    >>> from linsep.problem import Problem
    >>> problem = Problem(Rows(np.array([[1.0], [-1.0]])), np.array([1.0, -1.0]), Logistic(), C=1.0)
    >>> bound(problem.evaluate(np.array([0.6]), 0.0, split=True)).relative_gap < 0.01
    True
    """
    problem, sums = point.problem, point.sums
    if problem.fit_intercept and not point.split:
        raise ValueError("a bound with a free intercept needs the sums by class: evaluate(w, b, split=True)")
    positive, negative = (
        class_scales(-sums.positive_total, sums.negative_total) if problem.fit_intercept else (1.0, 1.0)
    )
    C = problem.weight_of_loss
    v = C * positive * sums.positive
    if point.split:
        v += C * negative * sums.negative
    shrink = 1.0
    if problem.penalty.l2 == 0:  # only a box of v has a finite conjugate: scale α until v fits
        longest = float(np.abs(v).max(initial=0.0))
        shrink = min(1.0, problem.penalty.l1 / longest) if longest > 0 else 1.0
    conjugates = conjugate_sum(
        problem.y, problem.sample_weight, problem.loss, sums.u, shrink * positive, shrink * negative
    )
    return Bound(point.objective, -problem.penalty.conjugate(shrink * v) - C * conjugates)


def balanced(problem: Problem, alpha: FloatArray) -> FloatArray:
    """Return α with the heavier class scaled down until Σ αᵢ yᵢ = 0, where the intercept is free; never α itself."""
    y = problem.y
    if not problem.fit_intercept:
        return alpha.copy()
    return alpha * np.where(y > 0, *class_scales(float(alpha[y > 0].sum()), float(alpha[y < 0].sum())))


def dual_bound(problem: Problem, alpha: FloatArray) -> float:
    """Return D(α) of a balanced α."""
    y = problem.y
    u = -alpha * y / problem.weight_of_loss
    conjugates = conjugate_sum(y, problem.sample_weight, problem.loss, u, 1.0, 1.0)
    v = problem.rows.rmatvec(alpha * y)
    return -problem.penalty.conjugate(v) - problem.weight_of_loss * conjugates


def class_scales(positive: float, negative: float) -> tuple[float, float]:
    """Return factors, at most one, that make the two classes' sums of α equal; zero where they cannot."""
    if not (positive > 0 and negative > 0):
        return 0.0, 0.0
    return (negative / positive, 1.0) if positive > negative else (1.0, positive / negative)


def weights(problem: Problem) -> FloatArray:
    """cᵢ = C sᵢ."""
    s = np.ones(problem.rows.n) if problem.sample_weight is None else problem.sample_weight
    return problem.weight_of_loss * s


def penalised(problem: Problem) -> bool:
    """Whether there is a penalty at all."""
    return problem.penalty.l2 > 0 or problem.penalty.l1 > 0


def share(gap: float, objective: float) -> float:
    """Return the gap as a share of the objective: 0 where both are."""
    return max(gap, 0.0) / max(abs(objective), np.finfo(float).tiny)
