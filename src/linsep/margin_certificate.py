"""The proof that a plane of maximum margin is one: a plane below, two points of the hulls above."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from operator import index
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .exact import Check, margin_bounds

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

__all__ = ["MarginCertificate"]


@dataclass(frozen=True, eq=False)
class MarginCertificate:
    """The largest margin lies between `low` and `high`: the plane keeps the one, two points of the hulls deny more.

    Attributes
    ----------
    coef, intercept : the plane
    points, weights : arrays
        Rows and weights α ≥ 0 of the dual point: D(α) = Σ αᵢ − ½‖Σ αᵢ yᵢ xᵢ‖² with Σ αᵢ yᵢ = 0.
    low, high : float
        Bounds on the margin 1/‖w‖.
    tol : float
        The relative gap that was asked for.
    classes : tuple
        The negative and the positive label.
    fit_intercept : bool
    """

    coef: FloatArray
    intercept: float
    points: IntArray
    weights: FloatArray
    low: float
    high: float
    tol: float
    classes: tuple[Any, Any]
    fit_intercept: bool = True

    @property
    def primal(self) -> float:
        """½‖w‖² of the plane, scaled until min z = 1."""
        return 0.5 / self.low / self.low if self.low > 0 else np.inf

    @property
    def dual(self) -> float:
        """The lower bound on ½‖w‖² of any plane with z ≥ 1."""
        return 0.5 / self.high / self.high if self.high > 0 else np.inf

    @property
    def gap(self) -> float:
        """How far the plane can be from the optimum."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the primal value."""
        if not (self.low > 0 and self.high > 0):
            return np.inf
        ratio = self.low / self.high
        return 1.0 - ratio * ratio

    @property
    def proven(self) -> bool:
        """Whether the relative gap is at most `tol`."""
        if not (0 < self.low <= self.high < np.inf):
            return False
        ratio = Fraction(self.low) / Fraction(self.high)  # a gap as small as tol can be is one of rounding
        return bool(self.tol > 0) and (self.tol >= 1 or 1 - ratio**2 <= Fraction(self.tol))

    def __str__(self) -> str:
        kept = f"The margin is {self.low:.10g}; no plane has one above {self.high:.10g}"
        verdict = "proven to" if self.proven else "which does not prove"
        return f"{kept}: within {self.relative_gap:.1e} of the optimum, {verdict} tol={self.tol:g}."

    def verify(self, X: Any, y: ArrayLike, *, time_limit: float | None = None) -> Check:
        """Check both bounds on the data, in exact arithmetic and without the solver."""
        labels = np.asarray(y)
        if not np.isin(labels, np.array(self.classes)).all():
            return Check(False, f"y has labels other than {self.classes[0]!r} and {self.classes[1]!r}")
        signs = np.where(labels == self.classes[1], 1.0, -1.0)
        intercept = self.intercept if self.fit_intercept else None
        if np.shape(X)[1] != len(self.coef):
            return Check(False, f"the plane has {len(self.coef)} coefficients, the data {np.shape(X)[1]} columns")
        try:
            found = margin_bounds(X, signs, self.coef, intercept, self.points, self.weights, time_limit=time_limit)
        except ValueError as error:
            return Check(False, str(error))
        if not found[0] >= self.low:  # nor is NaN a bound
            return Check(False, f"the plane keeps a margin of {found[0]!r}, not of {self.low!r}")
        if not found[1] <= self.high:
            return Check(False, f"the dual point allows a margin of {found[1]!r}, more than {self.high!r}")
        return Check(True, f"the largest margin lies between {found[0]!r} and {found[1]!r}")

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate in terms of JSON; infinite bounds are None."""
        return {
            "coef": np.asarray(self.coef).tolist(),
            "intercept": float(self.intercept),
            "points": np.asarray(self.points).tolist(),
            "weights": np.asarray(self.weights).tolist(),
            "low": float(self.low) if np.isfinite(self.low) else None,
            "high": float(self.high) if np.isfinite(self.high) else None,
            "tol": float(self.tol),
            "classes": list(self.classes),
            "fit_intercept": bool(self.fit_intercept),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        negative, positive = data["classes"]
        return cls(
            np.asarray(data["coef"], dtype=np.float64),
            float(data["intercept"]),
            np.array([index(i) for i in data["points"]], dtype=np.int64),
            np.array([float(weight) for weight in data["weights"]], dtype=np.float64),
            -np.inf if data["low"] is None else float(data["low"]),
            np.inf if data["high"] is None else float(data["high"]),
            float(data["tol"]),
            (negative, positive),
            bool(data["fit_intercept"]),
        )
