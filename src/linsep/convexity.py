"""Is a function convex? The midpoint test, with a counterexample where it is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._common.types import FloatArray

__all__ = ["ConvexityTest", "midpoint_test"]


@dataclass(frozen=True)
class ConvexityTest:
    """What the midpoint test found.

    Attributes
    ----------
    convex : bool
        No violation was found. (A counterexample is a proof; its absence is evidence.)
    a, b : array or None
        Two points whose midpoint lies above the chord.
    at_midpoint, on_chord : float
        f((a+b)/2) and (f(a)+f(b))/2 there.
    trials : int
        Pairs that were tried.
    """

    convex: bool
    a: Any
    b: Any
    at_midpoint: float
    on_chord: float
    trials: int

    def __bool__(self) -> bool:
        return self.convex

    def __str__(self) -> str:
        if self.convex:
            return f"no violation of convexity in {self.trials} pairs of points"
        return (
            f"not convex: f at the midpoint of {self.a} and {self.b} is {self.at_midpoint:g}, above {self.on_chord:g}"
        )


def midpoint_test(
    f: Callable[[Any], Any], low: ArrayLike, high: ArrayLike, *, trials: int = 2000, seed: int = 0
) -> ConvexityTest:
    """Look for a, b with f((a+b)/2) > (f(a)+f(b))/2 in the box low ≤ x ≤ high.

    Parameters
    ----------
    f : callable
        Of one number (where `low` is a number) or of one vector.
    low, high : float or array
        Corners of the box.
    trials : int
        How many pairs to try. Every other pair is close together, so that small dents are met too.
    seed : int
        Of the random points.

    Examples
    --------
    >>> from linsep.losses import Hinge, ZeroOne
    >>> midpoint_test(Hinge().value, -3, 3).convex
    True
    >>> test = midpoint_test(ZeroOne().value, -3, 3)
    >>> test.convex, test.at_midpoint > test.on_chord
    (False, True)
    """
    low, high = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    if low.shape != high.shape or np.any(low >= high):
        raise ValueError("low and high must have the same shape, and low must be below high in every coordinate")
    if trials < 1:
        raise ValueError(f"trials={trials} must be at least 1")
    rng = np.random.default_rng(seed)
    for trial in range(trials):
        a, b = rng.uniform(low, high), rng.uniform(low, high)
        if trial % 2:
            b = a + (b - a) * 10.0 ** -rng.uniform(0, 3)
        at_midpoint, at_a, at_b = _scalar(f((a + b) / 2)), _scalar(f(a)), _scalar(f(b))
        on_chord = (at_a + at_b) / 2
        if np.isnan(at_midpoint + on_chord):
            raise ValueError(f"f is not a number at {a}, {b} or between them; choose a box in which it is defined")
        # Rounding in f may lift the midpoint by a few units in the last place.
        if at_midpoint > on_chord + 1e-12 * max(1.0, abs(at_a), abs(at_b)):
            return ConvexityTest(False, a, b, at_midpoint, on_chord, trial + 1)
    return ConvexityTest(True, None, None, np.nan, np.nan, trials)


def _scalar(value: float | FloatArray) -> float:
    return float(np.asarray(value).reshape(()))
