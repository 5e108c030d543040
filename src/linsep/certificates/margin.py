"""The proof that a plane of maximum margin is one: a plane below, two points of the hulls above."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _reading as reading
from ..arithmetic.enclosure import Interval, agreements, gamma
from ..arithmetic.exact import Check, margin_bounds

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

__all__ = ["MarginCertificate", "differs", "formula", "margin_in_floats"]

#: By what share of themselves bounds may be further apart than they have to.
APART = 1e-9


def formula(fit_intercept: bool) -> str:
    """Return what a plane of maximum margin minimises, in one line."""
    return "½‖w‖² subject to y(w·x + b) ≥ 1" if fit_intercept else "½‖w‖² subject to y w·x ≥ 1"


def margin_in_floats(X: Any, y: FloatArray, w: FloatArray, b: float) -> Interval:
    """Return between what any machine's floats may find min yᵢ(w·xᵢ + b)/‖[w, b]‖.

    Examples
    --------
    >>> found = margin_in_floats(np.array([[0.1], [0.3]]), np.array([-1.0, 1.0]), np.array([1.0]), -0.1)
    >>> found.low < 0.0 < found.high
    True
    """
    theta = np.append(w, b)
    if not theta.any():
        return Interval(0.0, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        z, r = agreements(X, y, w, b)
        r = np.where(np.isfinite(z) & np.isfinite(r), 2 * r, np.inf)
        z = np.where(np.isfinite(z), z, 0.0)
        return _over_length((float((z - r).min()), float((z + r).min())), theta)


def differs(found: tuple[float, float], low: float, high: float) -> str:
    """Return in what bounds that were claimed are not those that data prove, or nothing.

    They may be a little further apart: files of before have rounding taken off.
    """
    least, most = found
    if not (low == least or (1 - APART) * least <= low <= least):
        return f"the plane keeps a margin of {least!r}, not of {low!r}"
    if not (high == most or most <= high <= (1 + APART) * most < np.inf):
        return f"the dual point allows a margin of {most!r}, not of {high!r}"
    return ""


def _over_length(values: tuple[float, float], theta: FloatArray) -> Interval:
    """Return the values divided by ‖θ‖, rounded outwards; θ of any size."""
    largest = float(np.abs(theta).max())
    root = Fraction(float(np.sqrt(np.sum((theta / largest) ** 2))))
    off = Fraction(gamma(len(theta) + 8))
    found = []
    for value, outwards in zip(values, (-1, 1), strict=True):
        if not np.isfinite(value):
            found.append(value)
            continue
        quotient = Fraction(value) / (Fraction(largest) * root)
        found.append(_rounded(quotient + outwards * abs(quotient) * off, outwards * np.inf))
    return Interval(*found)


def _rounded(value: Fraction, towards: float) -> float:
    """Return the float next to a number in that direction; zero is itself."""
    if value == 0:
        return 0.0
    try:
        return float(np.nextafter(float(value), towards))
    except OverflowError:
        largest = float(np.finfo(np.float64).max)
        return float(np.nextafter(largest if value > 0 else -largest, towards))


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
        if np.shape(X)[1] != len(self.coef):
            return Check(False, f"the plane has {len(self.coef)} coefficients, the data {np.shape(X)[1]} columns")
        try:
            found = self.bounds(X, signs, time_limit=time_limit)
        except (ValueError, OverflowError) as error:
            return Check(False, str(error))
        if difference := differs(found, self.low, self.high):
            return Check(False, difference)
        return Check(True, f"the largest margin lies between {found[0]!r} and {found[1]!r}")

    def bounds(self, X: Any, y: FloatArray, *, time_limit: float | None = None) -> tuple[float, float]:
        """Return what the plane and the points prove on data with labels ±1; raise where they cannot be used."""
        intercept = self.intercept if self.fit_intercept else None
        return margin_bounds(X, y, self.coef, intercept, self.points, self.weights, time_limit=time_limit)

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
        negative, positive = reading.items(data, "classes", reading.label)
        return cls(
            np.array(reading.items(data, "coef", reading.number), dtype=np.float64),
            reading.number(data, "intercept"),
            np.array(reading.items(data, "points", reading.whole), dtype=np.int64),
            np.array(reading.items(data, "weights", reading.number), dtype=np.float64),
            -np.inf if data["low"] is None else reading.number(data, "low"),
            np.inf if data["high"] is None else reading.number(data, "high"),
            reading.number(data, "tol"),
            (negative, positive),
            reading.flag(data, "fit_intercept"),
        )
