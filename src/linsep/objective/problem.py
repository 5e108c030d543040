"""One plane on examples in memory: the objective, measures of many planes at once, and the mean objective of one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._common.types import BoolArray, FloatArray
from .._core import Rows
from ..losses import Loss
from ..penalties import L2, Penalty
from .examples import InMemory
from .heads import Margin
from .objective import Objective
from .points import MarginPoint


def Problem(
    rows: Rows,
    y: FloatArray,
    loss: Loss,
    penalty: Penalty | None = None,
    C: float = np.inf,
    sample_weight: FloatArray | None = None,
    fit_intercept: bool = True,
) -> Objective:
    """Return the objective of one plane on examples in memory, with labels ±1.

    Examples
    --------
    >>> from linsep.losses import Hinge
    >>> p = Problem(Rows(np.array([[1.0], [-2.0]])), np.array([1.0, -1.0]), Hinge(), C=10.0)
    >>> p.objective(np.array([0.5]), 0.0)  # ½·0.25 + 10·(0.5 + 0)
    5.125
    """
    examples = InMemory(rows, weight=sample_weight, signs=y)
    return Objective(examples, Margin(loss), L2() if penalty is None else penalty, C, None, fit_intercept)


@dataclass(frozen=True)
class Measures:
    """What is measured of several planes on the same examples, one number each."""

    objective: FloatArray  # F
    risk: FloatArray  # the mean loss
    zero_one: FloatArray  # the share of mistakes, z ≤ 0
    error: FloatArray  # the share of labels that are predicted wrongly; a score of zero is for −1
    gradient_norm: FloatArray  # ‖∇F‖
    finite: BoolArray  # whether all weights are finite numbers
    least: FloatArray  # the lowest agreement, of all examples


def measure(
    problem: Objective, Y: FloatArray, W: FloatArray, b: FloatArray, room: FloatArray | None = None
) -> Measures:
    """Measure the planes in the columns of W, each with the labels in the same column of Y instead of the problem's.

    There is one plane, or a multiple of four; `room` may be given, as large as W, to work in.

    Examples
    --------
    >>> from linsep.losses import Hinge
    >>> p = Problem(Rows(np.array([[1.0], [-2.0]])), np.array([1.0, -1.0]), Hinge())
    >>> measure(p, np.array([[1.0], [-1.0]]), np.array([[0.5]]), np.zeros(1)).risk
    array([0.25])
    """
    total, strength, penalty = problem.total_weight, problem.strength, problem.penalty
    share = dict(total=total, l2=strength * penalty.l2, l1=strength * penalty.l1)
    sums = problem.rows.measure(Y, problem.sample_weight, problem.loss, W, b, **share, room=room)
    value, mistakes, slopes, square, squares, sizes, errors, least = sums
    objective = value / total + strength * (penalty.l2 * 0.5 * squares + penalty.l1 * sizes)
    norm = np.sqrt(square + problem.fit_intercept * (slopes / total) ** 2)
    return Measures(objective, value / total, mistakes / total, errors / total, norm, np.isfinite(sizes), least)


class MeanObjective:
    """F as a function of one vector θ = [w, b] (θ = w without intercept), remembering the last point it looked at."""

    def __init__(self, problem: Objective) -> None:
        self.problem = problem
        self._seen: tuple[FloatArray, MarginPoint] | None = None

    @property
    def coordinates(self) -> tuple[str, ...]:
        """What the numbers of θ are called."""
        return self.problem.coordinates

    def at(self, theta: FloatArray) -> MarginPoint:
        """Return what a pass over the examples says of θ; made once for as long as θ stays the same."""
        if self._seen is None or not np.array_equal(theta, self._seen[0]):
            self._seen = theta.copy(), self.problem.at(theta)
        return self._seen[1]

    def risk(self, theta: FloatArray) -> float:
        """Return the mean loss at θ."""
        return self.at(theta).risk

    def zero_one(self, theta: FloatArray) -> float:
        """Return the share of mistakes at θ."""
        return self.at(theta).zero_one

    def error(self, theta: FloatArray) -> float:
        """Return the share of labels that are predicted wrongly at θ."""
        return self.problem.error(*self.problem.split(theta))

    def value(self, theta: FloatArray) -> float:
        """F(θ)."""
        return self.at(theta).mean_objective

    def gradient(self, theta: FloatArray) -> FloatArray:
        """A (sub)gradient of F at θ."""
        return self.at(theta).mean_gradient
