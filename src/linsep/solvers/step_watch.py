"""Watching whether a step size is right, and the words to say when it is not.

Near a minimum a function bends by some curvature L; steps much smaller than 1/L crawl, steps larger than 2/L climb.
L is read off the run itself: how much the gradient changed over how far the point moved.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..schedules import InverseSqrt, Schedule

FloatArray = NDArray[np.float64]

__all__ = ["StepWatch"]

#: A run whose objective has grown beyond this many times what it began with will not come back.
BLOWN_UP = 1e10


class StepWatch:
    """Looks at one run, iteration by iteration.

    Parameters
    ----------
    schedule : Schedule
        What the run steps by.
    steps_per_iteration : int
        1 for gradient descent, the number of examples for a stochastic method.
    stable : float or None
        A step size known to be safe; where None, 1/L as measured.
    """

    def __init__(self, schedule: Schedule, steps_per_iteration: int = 1, stable: float | None = None) -> None:
        self.schedule = schedule
        self.steps = steps_per_iteration
        self._stable = stable
        self._first: float | None = None
        self._curvature = 0.0
        self._first_curvature = 0.0
        self._reversals: list[bool] = []
        self._point: tuple[FloatArray, FloatArray] | None = None
        self._move: FloatArray | None = None

    def blown_up(self, objective: float) -> bool:
        """Whether the run is lost: not a number, or beyond all bounds."""
        if self._first is None:
            self._first = objective
        return not np.isfinite(objective) or abs(objective) > BLOWN_UP * (1.0 + abs(self._first))

    def see(self, theta: FloatArray, gradient: FloatArray) -> None:
        """Note a point and its gradient."""
        if self._point is not None:
            move, change = theta - self._point[0], gradient - self._point[1]
            length = float(np.linalg.norm(move))
            if length > 0:
                self._curvature = float(np.linalg.norm(change)) / length
                self._first_curvature = self._first_curvature or self._curvature
                if self._move is not None:
                    self._reversals.append(bool(move @ self._move < 0))
                self._move = move
        self._point = theta.copy(), gradient.copy()

    def _suggest(self, eta: float, curvature: float) -> float:
        stable = self._stable or (1.0 / curvature if curvature > 0 else eta / 10.0)
        return float(f"{stable:.1g}")

    def after_blow_up(self) -> str:
        """Say that the step size is too large."""
        eta = float(self.schedule(0))
        smaller = min(self._suggest(eta, self._first_curvature), float(f"{eta / 2:.1g}"))
        return (
            f"the step size {self.schedule} is too large: the objective grew without bound. "
            f"Try {self.schedule.with_first(smaller)}"
        )

    def after_max_iter(self, step: int) -> str:
        """Say what is wrong with the step size of a run that used up its iterations; empty if nothing is."""
        eta, first = float(self.schedule(step)), float(self.schedule(0))
        recent = self._reversals[-max(1, len(self._reversals) // 4) :]
        if len(recent) >= 5 and np.mean(recent) > 0.5 and eta > 0.5 * first:
            return (
                f"the step size {self.schedule} is too large near the minimum: the point jumps back and forth over it. "
                f"Try {InverseSqrt(first)}, or {self.schedule.with_first(float(f'{first / 10:.1g}'))}"
            )
        if 0 < eta * self.steps * self._curvature < 0.02:
            larger = max(self._suggest(eta, self._curvature), float(f"{10 * first:.1g}"))
            return f"the step size {self.schedule} is too small: it crawls. Try {self.schedule.with_first(larger)}"
        return ""
