"""The proof that a plane of maximum margin is one: a plane below, two points of the hulls above."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import reading
from .enclosure import Interval, agreements, gamma
from .exact import Check, margin_bounds

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

__all__ = ["KeptMargin", "MarginBounds", "MarginCertificate", "formula", "kept_margin"]

#: A margin known to this share of itself needs no more digits.
TIGHT = 1e-9
#: So many rows that may be the nearest are looked at in rational numbers.
MOST = 500


def formula(fit_intercept: bool) -> str:
    """Return what a plane of maximum margin minimises, in one line."""
    return "½‖w‖² subject to y(w·x + b) ≥ 1" if fit_intercept else "½‖w‖² subject to y w·x ≥ 1"


@dataclass(frozen=True)
class KeptMargin:
    """The margin of a plane: between what it lies, and between what any machine's floats may find it."""

    exact: Interval
    in_floats: Interval

    @property
    def tight(self) -> bool:
        """Whether it is known to a tiny share of itself, and so its sign."""
        low, high = self.exact.low, self.exact.high
        return bool(np.isfinite([low, high]).all()) and high - low <= TIGHT * min(abs(low), abs(high))


def kept_margin(X: Any, y: FloatArray, w: FloatArray, b: float | Fraction, *, augmented: bool = False) -> KeptMargin:
    """Return min yᵢ(w·xᵢ + b)/‖w‖, or over ‖[w, b]‖: in floats, and where those do not tell it in rational numbers.

    Examples
    --------
    >>> kept = kept_margin(np.array([[0.1], [0.3]]), np.array([-1.0, 1.0]), np.array([1.0]), -0.1)
    >>> kept.exact, kept.in_floats.low < 0.0 < kept.in_floats.high
    (Interval(low=0.0, high=0.0), True)
    """
    theta = np.append(w, float(b)) if augmented else w
    if not theta.any():
        return KeptMargin(Interval(0.0, 0.0), Interval(0.0, 0.0))
    with np.errstate(over="ignore", invalid="ignore"):
        z, r = agreements(X, y, w, float(b))
        r = np.where(np.isfinite(z) & np.isfinite(r), r, np.inf) + abs(float(Fraction(b) - Fraction(float(b)))) * 1.5
        z = np.where(np.isfinite(z), z, 0.0)
        low, high = float((z - r).min()), float((z + r).min())
        loose = float((z - 2 * r).min()), float((z + 2 * r).min())
    exact = low, high
    if not high - low <= 0.1 * TIGHT * min(abs(low), abs(high)):
        near = np.flatnonzero(z - r <= high)
        if len(near) <= MOST:
            least = min(_agreement(X, float(y[i]), w, Fraction(b), int(i)) for i in near)
            return KeptMargin(_over_length((least, least), theta), _over_length(loose, theta))
    return KeptMargin(_over_length(exact, theta), _over_length(loose, theta))


@dataclass(frozen=True)
class MarginBounds:
    """What data prove of the largest margin: `kept` and `low` by a plane, `high` by two points of the hulls."""

    kept: KeptMargin
    low: float  # with rounding taken off, as a fit does it
    high: float

    @property
    def best_low(self) -> float:
        """The larger of what is known to be kept."""
        return max(self.low, self.kept.exact.low)

    def differs(self, low: float, high: float) -> str:
        """Return in what bounds that were claimed are not these, or nothing."""
        # Another machine's rounding may have been taken off, as much as here at the most.
        least = self.low - max(self.kept.exact.low - self.low, 0.0) - 1e-12 * abs(self.low)
        if not least <= low <= self.kept.exact.high:
            return f"the plane keeps a margin of {self.kept.exact.low:.12g}, not of {low:.12g}"
        if not (high == self.high or abs(high - self.high) <= 1e-12 * self.high < np.inf):
            return f"the dual point allows a margin of {self.high:.12g}, not of {high:.12g}"
        return ""


def _agreement(X: Any, y: float, w: FloatArray, b: Fraction, i: int) -> Fraction:
    """Return yᵢ(w·xᵢ + b) exactly."""
    row = X[[i]]
    x = np.asarray(row.toarray() if hasattr(row, "toarray") else row, dtype=np.float64).ravel()
    used = np.flatnonzero(x * (w != 0))
    return int(y) * (sum((Fraction(float(x[j])) * Fraction(float(w[j])) for j in used), Fraction(0)) + b)


def _over_length(values: tuple[float | Fraction, float | Fraction], theta: FloatArray) -> Interval:
    """Return the values divided by ‖θ‖, rounded outwards; θ of any size."""
    largest = float(np.abs(theta).max())
    root = Fraction(float(np.sqrt(np.sum((theta / largest) ** 2))))
    off = Fraction(gamma(len(theta) + 8))
    found = []
    for value, outwards in zip(values, (-1, 1), strict=True):
        if not isinstance(value, Fraction) and not np.isfinite(value):
            found.append(float(value))
            continue
        quotient = Fraction(value) / (Fraction(largest) * root)
        found.append(_rounded(quotient + outwards * abs(quotient) * off, outwards * np.inf))
    return Interval(*found)


def _rows(X: Any) -> Any:
    return X if hasattr(X, "shape") and not hasattr(X, "columns") else np.asarray(X, dtype=np.float64)


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
        return 0.5 / self.low**2 if self.low > 0 else np.inf

    @property
    def dual(self) -> float:
        """The lower bound on ½‖w‖² of any plane with z ≥ 1."""
        return 0.5 / self.high**2 if self.high > 0 else np.inf

    @property
    def gap(self) -> float:
        """How far the plane can be from the optimum."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the primal value."""
        return 1.0 - (self.low / self.high) ** 2 if self.low > 0 and self.high > 0 else np.inf

    @property
    def proven(self) -> bool:
        """Whether the relative gap is at most `tol`."""
        return self.relative_gap <= self.tol

    def __str__(self) -> str:
        kept = f"The margin is {self.low:.10g}; no plane has one above {self.high:.10g}"
        verdict = "proven to" if self.proven else "which does not prove"
        return f"{kept}: within {self.relative_gap:.1e} of the optimum, {verdict} tol={self.tol:g}."

    def verify(self, X: Any, y: ArrayLike, *, time_limit: float | None = None) -> Check:
        """Check both bounds on the data, with all rounding accounted for and without the solver."""
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
        if difference := found.differs(self.low, self.high):
            return Check(False, difference)
        return Check(True, f"the largest margin lies between {found.best_low:.12g} and {found.high:.12g}")

    def bounds(self, X: Any, y: FloatArray, *, time_limit: float | None = None) -> MarginBounds:
        """Return what the plane and the points prove on data with labels ±1; raise where they cannot be used."""
        intercept = self.intercept if self.fit_intercept else None
        found = margin_bounds(X, y, self.coef, intercept, self.points, self.weights, time_limit=time_limit)
        return MarginBounds(kept_margin(_rows(X), y, self.coef, intercept or 0.0), *found)

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
