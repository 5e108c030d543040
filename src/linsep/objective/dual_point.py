"""Dual points small enough for a file, and the bounds that they prove with every rounding accounted for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from .._common import reading
from .._common.reading import ClaimError
from .._common.types import FloatArray, IntArray
from .._core import length
from ..arithmetic.enclosure import (
    SHARP,
    Interval,
    U,
    combination,
    conjugate_sum,
    feasible,
    fits,
    gamma,
    into_box,
    penalty_conjugate,
    sharpened,
)
from .duality import balanced, weights
from .objective import Objective


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

    def expand(self, problem: Objective, z: FloatArray) -> FloatArray:
        """Return α, balanced but for rounding."""
        self.check_rows(len(z))
        return balanced(problem, self.unbalanced(problem, z))

    def check_rows(self, n: int) -> None:
        """Raise unless all rows that it names are among so many."""
        if len(self.rows) and not (self.rows.min() >= 0 and self.rows.max() < n):
            raise ClaimError("the dual point names a row that the data do not have")

    def unbalanced(self, problem: Objective, z: FloatArray) -> FloatArray:
        """Return α as it is said."""
        alpha = self._by_slope(problem, z)
        alpha[self.rows] = self.values
        return alpha

    def among(self, which: slice) -> Self:
        """Return what it says of some examples that follow each other, by their numbers among these."""
        these = (self.rows >= which.start) & (self.rows < which.stop)
        return replace(self, rows=self.rows[these] - which.start, values=self.values[these])

    def _by_slope(self, problem: Objective, z: FloatArray) -> FloatArray:
        z = z + self.shift * problem.y
        return -weights(problem) * problem.loss.slope(z) * np.where(problem.y > 0, self.positive, self.negative)

    @classmethod
    def of(cls, problem: Objective, alpha: FloatArray, w: FloatArray, b: float, z: FloatArray | None = None) -> Self:
        """Return the dual point with no more exceptions than α needs; z are the agreements, where they are known."""
        z = problem.agreements(w, b) if z is None else z
        plain = cls(*largest_shares(problem, alpha, weights(problem)))
        rows = exceptions(problem, alpha, plain, w, b, z)
        return replace(plain, rows=rows, values=alpha[rows])

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
        rows = np.asarray(reading.entry(data, "rows"), dtype=np.int64)
        values = np.asarray(reading.entry(data, "values"), dtype=np.float64)
        if rows.shape != values.shape:
            raise ValueError(f"a dual point needs as many values as rows, not {len(values)} for {len(rows)}")
        positive, negative, shift = (float(reading.entry(data, name)) for name in ("positive", "negative", "shift"))
        return cls(positive, negative, rows, values, shift)


def exceptions(
    problem: Objective, alpha: FloatArray, plain: DualPoint, w: FloatArray, b: float, z: FloatArray
) -> IntArray:
    """Return where α is not what follows from the plane's agreements z, or may not be for another reader."""
    # Where rounding could put z on the other side of a kink, the slope there is not to be relied on.
    reach = gamma(problem.d + 8) * (np.sqrt(problem.rows.squared_norms()) * length(w) + abs(b))
    sure = problem.loss.slope(z - reach) == problem.loss.slope(z + reach)
    off = np.abs(alpha - plain._by_slope(problem, z)) > 4 * U * weights(problem)
    return np.flatnonzero(~sure | off)


def largest_shares(problem: Objective, alpha: FloatArray, c: FloatArray) -> tuple[float, float]:
    """Return the largest αᵢ/cᵢ of each class: one, unless the class was scaled down."""
    with np.errstate(over="ignore"):
        shares = np.divide(alpha, c, out=np.zeros_like(alpha), where=c > 0)
    positive, negative = (np.where(side, shares, 0.0).max(initial=0.0) for side in (problem.y > 0, problem.y < 0))
    return float(positive), float(negative)


def feasible_dual(problem: Objective, alpha: FloatArray, share: float = SHARP) -> tuple[FloatArray, Interval]:
    """Return an exactly feasible point near α, and an enclosure of its D, sums leaving no more than that share open."""
    loss, penalty, c, X, y = problem.loss, problem.penalty, weights(problem), problem.rows.X, problem.y
    for attempt in range(8):
        alpha = feasible(loss, alpha, y, c, balance=problem.fit_intercept)
        v, radius = combination(X, alpha * y)
        conjugates = conjugate_sum(loss, alpha, c)
        if problem.penalised:
            v, radius = sharpened(X, alpha * y, v, radius, penalty, abs(conjugates.high), share)
        if penalty.l2 > 0 or fits(penalty, v, radius):
            break
        alpha = alpha * into_box(penalty, v, radius, attempt)
    return alpha, -penalty_conjugate(penalty, v, radius) - conjugates
