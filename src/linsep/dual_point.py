"""Dual points small enough for a file, and the bounds that they prove with every rounding accounted for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ._core import length
from .checking import ClaimError
from .curvature import MANY_FEATURES, Look, examine
from .duality import balanced, penalised, weights
from .enclosure import (
    Interval,
    U,
    agreements,
    combination,
    conjugate_sum,
    dual_value,
    feasible,
    fits,
    gamma,
    into_box,
    primal_value,
    sharp_agreements,
    sharpened,
)
from .problem import Problem

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

__all__ = ["DualPoint", "bound_below", "enclosed_bound", "examined", "feasible_dual", "largest_shares", "sharp_primal"]

#: Agreements that leave more than this share of the objective open are computed with twice the digits: where the
#: curvature proves the gap, without a penalty; and otherwise, where a huge C makes much of little.
BLURRED, COARSE = 1e-12, 1e-7


@dataclass(frozen=True)
class DualPoint:
    """αᵢ = −cᵢ ℓ'(zᵢ) times the scale of its class, except at `rows`, where it is one of `values`.

    z are the agreements with the plane, its intercept moved by `shift`. For a smooth loss near the optimum there are no
    exceptions: α follows from the plane. For the hinge they are the points on the margin; the others are at 0 or at C
    by their side of it.
    """

    positive: float = 1.0
    negative: float = 1.0
    rows: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    values: FloatArray = field(default_factory=lambda: np.empty(0))
    shift: float = 0.0

    def expand(self, problem: Problem, z: FloatArray) -> FloatArray:
        """Return α, balanced but for rounding."""
        alpha = self._by_slope(problem, z)
        if len(self.rows) and not (self.rows.min() >= 0 and self.rows.max() < len(alpha)):
            raise ClaimError("the dual point names a row that the data do not have")
        alpha[self.rows] = self.values
        return balanced(problem, alpha)

    def _by_slope(self, problem: Problem, z: FloatArray) -> FloatArray:
        z = z + self.shift * problem.y
        return -weights(problem) * problem.loss.slope(z) * np.where(problem.y > 0, self.positive, self.negative)

    @classmethod
    def of(cls, problem: Problem, alpha: FloatArray, w: FloatArray, b: float, z: FloatArray | None = None) -> Self:
        """Return the dual point with no more exceptions than α needs; z are the agreements, where they are known."""
        c, z = weights(problem), problem.agreements(w, b) if z is None else z
        positive, negative = largest_shares(problem, alpha, c)
        # Where rounding could put z on the other side of a kink, the slope there is not to be relied on.
        reach = gamma(problem.rows.d + 8) * (np.sqrt(problem.rows.squared_norms()) * length(w) + abs(b))
        sure = problem.loss.slope(z - reach) == problem.loss.slope(z + reach)
        expected = cls(positive, negative)._by_slope(problem, z)
        rows = np.flatnonzero(~sure | (np.abs(alpha - expected) > 4 * U * c))
        return cls(positive, negative, rows, alpha[rows])

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        scalars = {"positive": self.positive, "negative": self.negative, "shift": self.shift}
        return {**scalars, "rows": self.rows.tolist(), "values": self.values.tolist()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        rows, values = np.asarray(data["rows"], dtype=np.int64), np.asarray(data["values"], dtype=np.float64)
        if rows.shape != values.shape:
            raise ValueError(f"a dual point needs as many values as rows, not {len(values)} for {len(rows)}")
        return cls(float(data["positive"]), float(data["negative"]), rows, values, float(data["shift"]))


def largest_shares(problem: Problem, alpha: FloatArray, c: FloatArray) -> tuple[float, float]:
    """Return the largest αᵢ/cᵢ of each class: one, unless the class was scaled down."""
    shares = np.divide(alpha, c, out=np.zeros_like(alpha), where=c > 0)
    positive, negative = (np.where(side, shares, 0.0).max(initial=0.0) for side in (problem.y > 0, problem.y < 0))
    return float(positive), float(negative)


def feasible_dual(problem: Problem, alpha: FloatArray) -> tuple[FloatArray, Interval]:
    """Return an exactly feasible point near α, and an enclosure of its D."""
    loss, penalty, c, X, y = problem.loss, problem.penalty, weights(problem), problem.rows.X, problem.y
    for attempt in range(8):
        alpha = feasible(loss, alpha, y, c, balance=problem.fit_intercept)
        v, radius = combination(X, alpha * y)
        if penalised(problem):
            size = abs(conjugate_sum(loss, alpha, c).high)
            v, radius = sharpened(X, alpha * y, v, radius, penalty, size)
        if penalty.l2 > 0 or fits(penalty, v, radius):
            break
        alpha = alpha * into_box(penalty, v, radius, attempt)
    return alpha, dual_value(loss, penalty, c, alpha, v, radius)


def sharp_primal(problem: Problem, w: FloatArray, b: float) -> tuple[Interval, FloatArray, FloatArray]:
    """Enclose P(w, b), with twice the digits where plain ones leave much of it open; also agreements and radii."""
    c, X, y = weights(problem), problem.rows.X, problem.y
    z, radius = agreements(X, y, w, b)
    primal = primal_value(problem.loss, problem.penalty, c, w, z, radius)
    by_curvature = np.isfinite(problem.loss.self_concordance) and not penalised(problem)
    most = (BLURRED if by_curvature else COARSE) * abs(primal.high)
    if X.shape[1] <= MANY_FEATURES and primal.width > most:
        z, radius = sharp_agreements(X, y, w, b)
        primal = primal_value(problem.loss, problem.penalty, c, w, z, radius)
    return primal, z, radius


def examined(problem: Problem, w: FloatArray, b: float) -> tuple[Interval, Look]:
    """Enclose P(w, b) where there is no penalty, and return what the derivatives there say of the optimum."""
    primal, z, radius = sharp_primal(problem, w, b)
    X, c, intercept = problem.rows.X, weights(problem), problem.fit_intercept
    return primal, examine(problem.loss, X, problem.y, c, z, radius, intercept=intercept)


def enclosed_bound(problem: Problem, w: FloatArray, b: float, dual_point: DualPoint) -> tuple[Interval, Interval]:
    """Enclose P(w, b), and D(α) or, without a penalty, the best bound that can be shown."""
    if not penalised(problem):
        primal, look = examined(problem, w, b)
        return primal, bound_below(problem, primal, look)
    primal, z, _ = sharp_primal(problem, w, b)
    return primal, feasible_dual(problem, dual_point.expand(problem, z))[1]


def bound_below(problem: Problem, primal: Interval, look: Look) -> Interval:
    """Enclose the best bound on the optimum that can be shown without a penalty."""
    # Σ αᵢ yᵢ xᵢ would have to be exactly zero, which only α = 0 is sure to give.
    _, zero = feasible_dual(problem, np.zeros(problem.rows.n))
    low = primal.low - look.gap
    return zero if zero.low >= low else Interval(low, low)
