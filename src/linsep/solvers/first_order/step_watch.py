"""Watching whether a step size is right, and the words to say when it is not.

A step is measured against a stable one: 1/L for a function that bends by L, where L is either known or read off the run
(how much the gradient changed over how far the point moved). Steps that together are no longer than a few stable ones
cannot have arrived anywhere; steps much longer than a stable one climb, or jump over the minimum for ever.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from ..._common.types import FloatArray
from ..._core import length
from ...schedules import Constant, InverseSqrt, Schedule

#: A run whose objective has grown beyond this many times what it began with will not come back.
BLOWN_UP = 1e10
#: How many powers of ten below a step size that is too large others are tried.
DECADES = 12


class StepWatch:
    """Looks at one run, iteration by iteration.

    Parameters
    ----------
    schedule : Schedule
        What the run steps by.
    stable : float or None
        A step size known to be safe; where None, 1/L as measured.
    smooth : bool
        Whether constant steps can arrive: over a kink they jump back and forth, whatever their size.
    works : callable, optional
        Whether a run from the same start with another schedule gets down, or from the best point met where it is told
        ``near=True``: then what is advised has been tried.
    """

    def __init__(
        self,
        schedule: Schedule,
        stable: float | None = None,
        smooth: bool = True,
        works: Callable[..., bool] | None = None,
    ) -> None:
        self.schedule, self._known_stable, self._smooth, self._works = schedule, stable, smooth, works
        self._first_curvature = self._last_curvature = 0.0
        self._reversals: list[bool] = []
        self._lengths: list[float] = []
        self._step, self._travelled = 0, 0.0
        self._start = self._best = np.inf
        self._recent: deque[float] = deque(maxlen=5)
        self._point: tuple[FloatArray, FloatArray] | None = None
        self._move: FloatArray | None = None

    def begin(self, objective: float, step: int = 0) -> None:
        """Note where the run starts."""
        self._step = step
        self._start = self._best = objective

    def blown_up(self, objective: float) -> bool:
        """Whether the run is lost: not a number, or beyond all bounds."""
        scale = 1.0 + abs(self._start)
        if self._known_stable:  # a step moves an agreement by about this much; zero where lengths overflow
            scale += float(self.schedule(0)) / self._known_stable
        return not np.isfinite(objective) or abs(objective) > BLOWN_UP * scale

    def see(self, step: int, theta: FloatArray, gradient: FloatArray, objective: float) -> None:
        """Note a point, its gradient and its objective after `step` steps."""
        self.see_objective(step, objective)
        if self._point is not None:
            move, change = theta - self._point[0], gradient - self._point[1]
            far = length(move)
            if far > 0:
                self._last_curvature = length(change) / far
                self._first_curvature = self._first_curvature or self._last_curvature
                if self._move is not None:
                    self._reversals.append(bool(np.einsum("i,i->", move, self._move) < 0))
                self._move = move
                self._lengths.append(far)
        self._point = theta.copy(), gradient.copy()

    def see_objective(self, step: int, objective: float) -> None:
        """Note the objective alone: where a stable step is known, the points would tell nothing more."""
        self._best = min(self._best, objective)
        self._recent.append(objective)
        self._travelled += (step - self._step) * float(self.schedule(max(0, step - 1)))
        self._step = step

    @property
    def _stable(self) -> float | None:
        if self._known_stable is not None:
            return self._known_stable
        curvature = max(self._first_curvature, self._last_curvature)
        return 1.0 / curvature if curvature > 0 else None

    def after_blow_up(self) -> str:
        """Say that the step size is too large."""
        first = float(self.schedule(0))
        return f"the step size {self.schedule} is too large: the objective grew without bound. {self._smaller(first)}"

    def advice(self, step: int) -> str:
        """Say what was wrong with the steps of a run that has ended after `step` of them; empty if nothing was."""
        eta, first, stable = float(self.schedule(step)), float(self.schedule(0)), self._stable
        if stable is None:
            return ""
        if self._travelled < 3 * stable and first < 0.1 * stable:
            larger = self._tried([stable, *(eta for eta in _round_numbers_below(stable) if eta > first)], stable)
            return f"the step size {self.schedule} is too small: all steps together lead nowhere. Try {larger}"
        if self._known_stable is None and eta > 0.5 * first and self._jumps():
            smaller = self.schedule.with_first(_round(first / 10))  # over a kink it would jump as well
            settles = self._works is not None and self._works(smaller, near=True)
            return (
                f"the step size {self.schedule} is too large near the minimum: the point jumps back and forth over it. "
                f"Try {InverseSqrt(first)}" + f", or {smaller}" * settles
            )
        # An objective that begins or ends at zero has no scale of its own: the perceptron's.
        has_scale = self._start > 0 and self._best > 0
        # Of points that jump about, the last may happen to be a good one.
        up_and_down = max(self._recent, default=0.0) > 1.5 * self._best
        if eta > 2 * stable and has_scale and (self._best >= self._start or up_and_down):
            return f"the step size {self.schedule} is too large: the objective goes up and down. {self._smaller(first)}"
        return ""

    def _jumps(self) -> bool:
        """Whether the last moves go back and forth and get no shorter; those of a point that arrives do."""
        recent = max(6, len(self._reversals) // 4)
        back, moves = self._reversals[-recent:], self._lengths[-recent:]
        if len(back) < 5 or float(np.mean(back)) <= 0.5:
            return False
        half = len(moves) // 2
        return max(moves[half:]) > 0.9 * max(moves[:half])

    def _smaller(self, first: float) -> str:
        return f"Try {self._tried(_round_numbers_below(first), min(self._stable or first / 10, first / 2))}"

    def _tried(self, sizes: Iterable[float], otherwise: float) -> Schedule:
        """Return the first of several step sizes that was seen to get down; a guess where none was, or none tried."""
        found = None if self._works is None else next(filter(self._works, map(self._suggest, sizes)), None)
        return found or self._suggest(otherwise)

    def _suggest(self, eta: float) -> Schedule:
        """Return the same kind of schedule from another first step, or one that decays where a constant would fail."""
        if self._smooth or not isinstance(self.schedule, Constant):
            return self.schedule.with_first(_round(eta))
        return InverseSqrt(_round(eta))


def _round(eta: float) -> float:
    """Return the number to one digit: what a person would try."""
    return float(f"{eta:.1g}")


def _round_numbers_below(eta: float) -> Iterator[float]:
    """Yield what a person would try after a step size that is too large: 0.5, 0.2, 0.1, 0.05, … below 1."""
    power = int(np.floor(np.log10(eta)))
    numbers = (float(f"{digit}e{power - k}") for k in range(DECADES) for digit in (5, 2, 1))
    return (number for number in numbers if 0 < number < eta)
