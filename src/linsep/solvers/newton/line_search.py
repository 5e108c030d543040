"""Backtracking (Armijo): how far to go along a step so that the objective falls by enough."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: Of the fall that its slope promises a step must make this share: what textbooks take, small enough for any good step.
ARMIJO = 1e-4


def first_lower(
    along: Callable[[float], tuple[Any, float]], objective: float, *, shortest: float, noise: float = 0.0
) -> tuple[Any, float]:
    """Return the first point along a step, halving it, that lowers the objective by enough, and how far along it is.

    None and a length of no use if no step longer than `shortest` does. `along` gives the point at a length (None where
    that is not worth a look) and the change that the slope promises; `noise` is what rounding may hide.

    Examples
    --------
    >>> from types import SimpleNamespace as Point
    >>> first_lower(lambda t: (Point(objective=(1 - 8 * t) ** 2), -16.0 * t), 1.0, shortest=1e-3)[1]
    0.125
    """
    t = 1.0
    while t > shortest:
        new, promised = along(t)
        if new is not None and new.objective <= objective + ARMIJO * promised + noise:
            return new, t
        t *= 0.5
    return None, t
