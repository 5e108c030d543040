"""The margin of a plane, and the bound that convex combinations of the points set to that of any plane."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt, lcm
from typing import Any

import numpy as np

from ._clock import Check, Clock
from ._combinations import combination
from ._rows import ExactRows, FloatArray, IntArray, Number, Numbers, dot, plane_of, rounded, whole_multiple


def margin_bounds(
    X: Any,
    y: Any,
    coef: FloatArray,
    intercept: float | None,
    points: Sequence[int] | IntArray,
    weights: Numbers,
    *,
    time_limit: float | None = None,
) -> tuple[float, float]:
    """Return bounds on the largest margin: what this plane keeps at least, and what no plane can exceed.

    The plane keeps min yᵢ(w·xᵢ + b)/‖w‖. Convex combinations p and q of the classes' points are no nearer to each other
    than twice the margin of any plane, so ½‖p − q‖ is above it (through the origin: ‖Σ βᵢ yᵢ xᵢ‖ with Σ βᵢ = 1). Both
    numbers are those of exact arithmetic, the lower one rounded down and the upper one rounded up.

    Parameters
    ----------
    X, y, coef, intercept
        As for `check_plane`, in floats.
    points, weights
        Rows and positive weights; each class's are divided by their sum.

    Examples
    --------
    >>> low, high = margin_bounds([[0.0], [2.0]], [-1, 1], np.array([1.0]), -1.0, [0, 1], [1.0, 1.0])
    >>> round(low, 12), round(high, 12)
    (1.0, 1.0)
    """
    data, clock = ExactRows(X, y, intercept is not None), Clock(time_limit)
    theta = plane_of(coef, intercept)
    if coef.shape != (data.d,) or not np.isfinite(theta).all() or not coef.any():
        raise ValueError(f"a plane in {data.d} columns needs as many finite coefficients, not all zero")
    kept, _ = plane_margin(data, y, theta, clock=clock)
    return kept, _margin_above(data, points, weights, clock)


def plane_margin(
    X: Any, y: Any, theta: Numbers, *, intercept: bool = True, augmented: bool = False, clock: Clock | None = None
) -> tuple[float, float]:
    """Return the floats between which the margin of a plane lies, min yᵢ(w·xᵢ + b)/‖w‖: next to it, or it itself.

    `augmented` divides by ‖[w, b]‖ instead: the margin of a plane through the origin, of the points [x, 1].

    Examples
    --------
    >>> plane_margin([[0.0], [1.0]], [-1, 1], [Fraction(2), Fraction(-1)])
    (0.5, 0.5)
    """
    data, whole = ExactRows.of(X, y, intercept), whole_multiple(theta)
    z = _least_agreement(data, theta, whole, clock or Clock(None))
    if z == 0:
        return 0.0, 0.0
    square = z**2 / sum(value**2 for value in (whole if augmented else whole[: data.d]))
    low, high = (_root(square, up=up) for up in ((False, True) if z >= 0 else (True, False)))
    return (low, high) if z >= 0 else (-low, -high)


def _least_agreement(data: ExactRows, theta: Numbers, whole: Sequence[int], clock: Clock) -> Fraction:
    """Return min yᵢ aᵢ·θ of θ in whole numbers, exactly; floats only say which rows can have it."""
    lowest, highest = np.empty(data.n), np.empty(data.n)
    for part, z, doubt in data.products(rounded(theta), clock, "the distances of the points"):
        z = np.where(np.isfinite(doubt), z, 0.0)
        lowest[part], highest[part] = z - doubt, z + doubt
    nearest = []
    # what these two sums round is within what doubt allows for
    for i in np.flatnonzero(lowest <= highest.min()).tolist():
        clock.check("the margin of the plane", 5.0 * Clock.STEP)
        total, base = dot(data.row(i), whole)
        nearest.append(int(data.y[i]) * total * Fraction(2) ** base)
    return Fraction(min(nearest))


def check_margin(
    X: Any, y: Any, coef: Numbers, intercept: Number | None, margin: float, *, time_limit: float | None = None
) -> Check:
    """Check that every point is on its own side of a plane and no nearer to it than a margin: y(w·x + b) ≥ margin·‖w‖.

    Examples
    --------
    >>> bool(check_margin([[0.0], [1.0]], [-1, 1], [2.0], -1.0, 0.5))
    True
    >>> check_margin([[0.0], [1.0]], [-1, 1], [2.0], -1.0, 0.5000000000000001).reason
    'a point is nearer to the plane than 0.5000000000000001: its margin is 0.5'
    """
    theta = plane_of(coef, intercept)
    if not np.any(theta[: len(coef)]):
        return Check(False, "a plane needs coefficients that are not all zero")
    if not 0 <= margin < np.inf:
        return Check(False, f"a margin is a finite number, zero or more, not {margin}")
    kept, _ = plane_margin(X, y, theta, intercept=intercept is not None, clock=Clock(time_limit))
    if margin > kept:
        return Check(False, f"a point is nearer to the plane than {margin!r}: its margin is {kept:.12g}")
    return Check(True, f"no point is nearer to the plane than {margin:.6g}")


def _margin_above(data: ExactRows, points: Sequence[int] | IntArray, weights: Numbers, clock: Clock) -> float:
    rows = [int(i) for i in points]
    if not all(isinstance(weight, Fraction) or np.isfinite(weight) for weight in weights):
        raise ValueError("the weights of a bound must be finite numbers")
    exact = whole_multiple([Fraction(weight) for weight in weights])
    if len(set(rows)) < len(rows) or not all(0 <= i < data.n for i in rows) or not all(w > 0 for w in exact):
        raise ValueError("the weights of a bound must be positive, on different rows of X")
    sums = {1.0: 0, -1.0: 0}
    for i, weight in zip(rows, exact, strict=True):
        sums[float(data.y[i])] += weight
    if not data.intercept:
        sums = dict.fromkeys(sums, sum(sums.values()))
    if not all(sums.values()):
        return np.inf
    scale = lcm(*sums.values())
    shares = [weight * (scale // sums[float(data.y[i])]) for i, weight in zip(rows, exact, strict=True)]
    difference, base = combination(data, rows, shares, clock)
    square = Fraction(sum(value**2 for j, value in difference.items() if j < data.d), scale**2) * Fraction(4) ** base
    return _root(square / 4 if data.intercept else square, up=True)


def _root(square: Fraction, *, up: bool) -> float:
    """√square as a float, rounded up or down: exactly, whatever its size.

    Examples
    --------
    >>> _root(Fraction(2), up=False) < 2**0.5 <= _root(Fraction(2), up=True), _root(Fraction(9, 4), up=True)
    (True, 1.5)
    """
    if square == 0:
        return 0.0
    # r/2ᵏ ≤ √square < (r + 1)/2ᵏ with an r of more bits than a float has
    k = 70 - (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    shifted = square * Fraction(4) ** k
    r = isqrt(shifted.numerator // shifted.denominator)
    root = Fraction(r + (up and r * r != shifted)) / Fraction(2) ** k
    try:
        nearest = root.numerator / root.denominator
    except OverflowError:
        return np.inf if up else float(np.finfo(np.float64).max)
    if (Fraction(nearest) < root) if up else (Fraction(nearest) > root):
        return float(np.nextafter(nearest, np.inf if up else 0.0))
    return nearest
