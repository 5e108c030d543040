"""Dual points small enough for a file, and the bounds that they prove with every rounding accounted for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._core import length
from .._reading import ClaimError
from ..arithmetic import decimal_enclosure as decimals
from ..arithmetic.decimal_enclosure import few_numbers, knows
from ..arithmetic.enclosure import (
    EVERYTHING,
    Interval,
    U,
    agreements,
    combination,
    conjugate_sum,
    feasible,
    fits,
    gamma,
    into_box,
    penalty_conjugate,
    primal_value,
    sharp_agreements,
    sharpened,
)
from .curvature import MANY_FEATURES, Look, examine
from .duality import balanced, penalised, weights
from .problem import Problem
from .scaling import better_of, is_tight, middle_of_range, ordinary, tightest

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

    def times(self, m: int) -> Self:
        """Return the dual point of the objective times 2ᵐ."""
        with np.errstate(over="ignore"):
            return self if m == 0 else replace(self, values=np.ldexp(self.values, m))

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
    with np.errstate(over="ignore"):
        shares = np.divide(alpha, c, out=np.zeros_like(alpha), where=c > 0)
    positive, negative = (np.where(side, shares, 0.0).max(initial=0.0) for side in (problem.y > 0, problem.y < 0))
    return float(positive), float(negative)


def feasible_dual(problem: Problem, alpha: FloatArray) -> tuple[FloatArray, Interval]:
    """Return an exactly feasible point near α, and an enclosure of its D."""
    loss, penalty, c, X, y = problem.loss, problem.penalty, weights(problem), problem.rows.X, problem.y
    for attempt in range(8):
        alpha = feasible(loss, alpha, y, c, balance=problem.fit_intercept)
        v, radius = combination(X, alpha * y)
        conjugates = conjugate_sum(loss, alpha, c)
        if penalised(problem):
            v, radius = sharpened(X, alpha * y, v, radius, penalty, abs(conjugates.high))
        if penalty.l2 > 0 or fits(penalty, v, radius):
            break
        alpha = alpha * into_box(penalty, v, radius, attempt)
    return alpha, -penalty_conjugate(penalty, v, radius) - conjugates


def sharp_primal(problem: Problem, w: FloatArray, b: float) -> tuple[Interval, FloatArray, FloatArray]:
    """Enclose P(w, b), with twice the digits where plain ones leave much of it open; also agreements and radii."""
    c, X, y = weights(problem), problem.rows.X, problem.y
    z, radius = agreements(X, y, w, b)
    primal = primal_value(problem.loss, problem.penalty, c, w, z, radius)
    by_curvature = np.isfinite(problem.loss.self_concordance) and not penalised(problem)
    most = (BLURRED if by_curvature else COARSE) * abs(primal.high)
    if X.shape[1] <= MANY_FEATURES and primal.width > most and ordinary(problem, w, b):
        z, radius = sharp_agreements(X, y, w, b)
        primal = primal_value(problem.loss, problem.penalty, c, w, z, radius)
    return primal, z, radius


def examined(problem: Problem, w: FloatArray, b: float) -> tuple[Interval, Look]:
    """Enclose P(w, b) where there is no penalty, and return what the derivatives there say of the optimum."""
    primal, z, radius = sharp_primal(problem, w, b)
    X, c, intercept = problem.rows.X, weights(problem), problem.fit_intercept
    return primal, examine(problem.loss, X, problem.y, c, z, radius, intercept=intercept)


def enclosed_bound(problem: Problem, w: FloatArray, b: float, dual_point: DualPoint) -> tuple[Interval, Interval]:
    """Enclose P(w, b), and D(α) or, without a penalty, the best bound that can be shown.

    Where sizes are out of the ordinary, the problem is looked at in the middle of the range of floats.
    """
    if not (np.isfinite(w).all() and np.isfinite(b)):
        return EVERYTHING, EVERYTHING  # nothing is known of a plane that floats cannot hold
    found = tightest(problem, w, b, lambda scaled, v, m: _enclosed(scaled, v, b, dual_point.times(m)))
    if is_tight(*found) or not (few_numbers(problem.rows.X) and knows(problem.loss)) or ordinary(problem, w, b):
        return found
    return better_of(found, _enclosed_in_decimals(problem, w, b, dual_point))


def _enclosed(problem: Problem, w: FloatArray, b: float, dual_point: DualPoint) -> tuple[Interval, Interval]:
    if not penalised(problem):
        primal, look = examined(problem, w, b)
        return primal, bound_below(problem, primal, look)
    primal, z, _ = sharp_primal(problem, w, b)
    return primal, feasible_dual(problem, dual_point.expand(problem, z))[1]


def bound_below(problem: Problem, primal: Interval, look: Look) -> Interval:
    """Enclose the best bound on the optimum that can be shown without a penalty."""
    # Σ αᵢ yᵢ xᵢ would have to be exactly zero, which only α = 0 is sure to give.
    _, zero = feasible_dual(problem, np.zeros(problem.rows.n))
    usable = np.isfinite(primal.high) and ordinary(problem, np.zeros(problem.rows.d), 0.0)
    low = primal.low - look.gap if usable else -np.inf  # else products on the way could leave the range of floats
    return zero if zero.low >= low else Interval(low, low)


def _enclosed_in_decimals(
    problem: Problem, w: FloatArray, b: float, dual_point: DualPoint
) -> tuple[Interval, Interval]:
    """Enclose the same in arithmetic without a range; without a penalty there is no better bound than zero here."""
    rows = decimals.DecimalRows(problem.rows.X)
    z = decimals.agreements_exactly(rows, problem.y, w, b)
    c = decimals.weights_exactly(problem.weight_of_loss, problem.sample_weight, problem.rows.n)
    penalty = decimals.penalty_value(problem.penalty, decimals.exactly(w))
    primal = decimals.to_interval(decimals.add(penalty, decimals.loss_sum(problem.loss, z, c)))
    if not penalised(problem):
        return primal, Interval(0.0, 0.0)
    return primal, _dual_in_decimals(problem, rows, w, np.array([float(t) for t in z]), c, dual_point)


def _dual_in_decimals(
    problem: Problem,
    rows: decimals.DecimalRows,
    w: FloatArray,
    z: FloatArray,
    c: list[Decimal],
    dual_point: DualPoint,
) -> Interval:
    """Enclose D of a point that is feasible exactly; it is guessed in the middle of the range of floats."""
    scaled = middle_of_range(problem, w)
    limits = np.array([float(t) for t in decimals.scale_exactly(c, decimals.power_of_two(scaled.m))])
    with np.errstate(all="ignore"):
        alpha = dual_point.times(scaled.m).expand(scaled.problem, np.clip(z, -1e300, 1e300))
    back = decimals.power_of_two(-scaled.m)
    for attempt in range(8):
        alpha = feasible(problem.loss, alpha, problem.y, limits, balance=problem.fit_intercept)
        v = rows.combination(decimals.scale_exactly(decimals.exactly(alpha * problem.y), back))
        shrink = 1.0 if problem.penalty.l2 > 0 else decimals.shrinking(problem.penalty, v, attempt)
        if shrink == 1:
            break
        alpha = alpha * shrink
    exact = decimals.scale_exactly(decimals.exactly(alpha), back)
    conjugates = decimals.conjugate_sum(problem.loss, exact, c)
    penalty = decimals.penalty_conjugate(problem.penalty, v)
    return decimals.to_interval(decimals.minus(decimals.add(penalty, conjugates)))
