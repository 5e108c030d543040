"""Bounds on the optimum: a feasible point of the dual problem bounds the objective from below.

For every α with 0-slopes allowed by the loss and, where the intercept is free, Σ αᵢ yᵢ = 0,

    D(α) = −penalty*(Σ αᵢ yᵢ xᵢ) − Σ cᵢ ℓ*(−αᵢ/cᵢ)  ≤  min P  ≤  P(w, b),        cᵢ = C sᵢ.

Any primal point gives such an α: αᵢ = −cᵢ ℓ'(zᵢ), with the heavier class scaled down until the sums agree. The gap
P − D is therefore known at every iterate, whatever found it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._common.types import FloatArray
from .._core import conjugate_sum
from ..arithmetic.enclosure import SMALLEST

if TYPE_CHECKING:
    from .objective import Objective


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
        return signed_share(self.gap, self.primal)


def balanced(problem: Objective, alpha: FloatArray) -> FloatArray:
    """Return α with the heavier class scaled down until Σ αᵢ yᵢ = 0, where the intercept is free; never α itself."""
    y = problem.y
    if not problem.fit_intercept:
        return alpha.copy()
    return alpha * np.where(y > 0, *class_scales(float(alpha[y > 0].sum()), float(alpha[y < 0].sum())))


def dual_bound(problem: Objective, alpha: FloatArray, v: FloatArray | None = None) -> float:
    """Return D(α) of a balanced α; v = Σ αᵢ yᵢ xᵢ, where it is known."""
    y = problem.y
    u = -alpha * y / problem.weight_of_loss
    conjugates = conjugate_sum(y, problem.sample_weight, problem.loss, u, 1.0, 1.0)
    v = problem.rows.rmatvec(alpha * y) if v is None else v
    return -problem.penalty.conjugate(v) - problem.weight_of_loss * conjugates


def proven_by(problem: Objective, alpha: FloatArray) -> tuple[float, FloatArray]:
    """Return D of a feasible point near α: balanced and, for L1 alone, scaled into its box; also that point."""
    alpha = balanced(problem, alpha)
    v = problem.rows.rmatvec(alpha * problem.y)
    into = problem.into_box(v)
    if into < 1.0:
        alpha, v = into * alpha, np.clip(into * v, -problem.penalty.l1, problem.penalty.l1)
    return dual_bound(problem, alpha, v), alpha


def class_scales(positive: float, negative: float) -> tuple[float, float]:
    """Return factors, at most one, that make the two classes' sums of α equal; zero where they cannot."""
    if not (positive > 0 and negative > 0):
        return 0.0, 0.0
    return (negative / positive, 1.0) if positive > negative else (1.0, positive / negative)


def weights(problem: Objective) -> FloatArray:
    """cᵢ = C sᵢ, zero only where sᵢ is: a product below the range of floats is the smallest of them."""
    s = problem.sample_weight
    if s is None:
        return np.full(problem.rows.n, problem.weight_of_loss)
    with np.errstate(over="ignore"):  # whoever uses it looks
        return np.maximum(problem.weight_of_loss * s, np.where(s > 0, SMALLEST, 0.0))


def share(gap: float, objective: float) -> float:
    """Return the gap as a share of the objective: 0 where both are, infinite where only the objective is.

    Examples
    --------
    >>> share(1e-310, 2e-310), share(0.0, 0.0), share(1e-310, 0.0)
    (0.5, 0.0, inf)
    """
    return signed_share(max(float(gap), 0.0), objective)


def signed_share(gap: float, objective: float) -> float:
    """Return the same of a gap that rounding may have made negative."""
    gap, size = float(gap), abs(float(objective))
    if size > 0:
        return gap / size
    return gap if gap == 0 or math.isnan(gap) else math.copysign(math.inf, gap)
