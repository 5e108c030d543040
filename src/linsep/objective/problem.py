"""The problem a solver is given: examples, labels, a loss, a penalty and how to weigh them.

    P(w, b) = penalty(w) + C · Σᵢ sᵢ ℓ(zᵢ),      zᵢ = yᵢ (w·xᵢ + b)

The intercept b is never penalised, and C = inf means no penalty: P is then Σᵢ sᵢ ℓ(zᵢ). Methods whose step size ought
not to depend on how many examples there are (the lecture's) work on the *mean objective* instead, which has the same
minimiser:

    F(w, b) = Σ sᵢ ℓ(zᵢ) / Σ sᵢ  +  λ · penalty(w),      λ = 1 / (C Σ sᵢ)
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .._core import Rows, Sums
from ..losses import Loss
from ..penalties import L2, NoPenalty, Penalty

FloatArray = NDArray[np.float64]

__all__ = ["MeanObjective", "Measures", "Point", "Problem", "formula", "measure"]


def formula(loss: Loss, penalty: Penalty, C: float, *, weighted: bool) -> str:
    """Return the objective in one line; `weighted`: whether examples have weights."""
    s = "s·" if weighted else ""
    factor = "" if C == 1 or np.isinf(C) else f"{C:g}·"
    losses = f"{factor}Σ {s}{loss.formula}"
    return f"{penalty.formula} + {losses}" if penalty.l2 or penalty.l1 else losses


@dataclass(frozen=True, eq=False)
class Problem:
    """One binary problem.

    Attributes
    ----------
    rows : Rows
        The examples.
    y : array of ±1.0
        Their labels.
    loss : Loss
    penalty : Penalty
    C : float
        How much the losses count against the penalty; inf drops the penalty.
    sample_weight : array or None
        s, all ones if None.
    fit_intercept : bool
        Whether b is free; otherwise it is 0.

    Examples
    --------
    >>> from linsep.losses import Hinge
    >>> p = Problem(Rows(np.array([[1.0], [-2.0]])), np.array([1.0, -1.0]), Hinge(), C=10.0)
    >>> p.objective(np.array([0.5]), 0.0)  # ½·0.25 + 10·(0.5 + 0)
    5.125
    >>> p.formula
    '½‖w‖² + 10·Σ max(0, 1 − z)'
    """

    rows: Rows
    y: FloatArray
    loss: Loss
    penalty: Penalty = field(default_factory=L2)
    C: float = np.inf
    sample_weight: FloatArray | None = None
    fit_intercept: bool = True

    def __post_init__(self) -> None:
        if not self.C > 0:
            raise ValueError(f"C={self.C!r} must be positive; inf means no penalty")
        if np.isinf(self.C):
            object.__setattr__(self, "penalty", NoPenalty())

    @cached_property
    def total_weight(self) -> float:
        """Σ sᵢ."""
        return float(self.rows.n if self.sample_weight is None else self.sample_weight.sum())

    @cached_property
    def mean_square_length(self) -> float:
        """R²: the mean of ‖x‖², with the intercept's 1; one where all examples are (as good as) zero."""
        square = self.mean(self.rows.squared_norms() + self.fit_intercept)
        return square if square > 1e-300 else 1.0

    @property
    def weighted_squares(self) -> float:
        """Σ sᵢ ‖xᵢ‖²."""
        return self.mean(self.rows.squared_norms()) * self.total_weight

    @property
    def strength(self) -> float:
        """λ: what the penalty counts in the mean objective."""
        if np.isinf(self.C):
            return 0.0
        return min(1.0 / self.C / self.total_weight, 1e300)  # the product may fall below the range of floats

    def lean(self) -> Problem:
        """Return the same problem on sparse rows, if these are dense and mostly zeros; else itself."""
        rows = self.rows.lean()
        return self if rows is self.rows else replace(self, rows=rows)

    def agreements(self, w: FloatArray, b: float) -> FloatArray:
        """zᵢ = yᵢ (w·xᵢ + b)."""
        z = self.rows.matvec(w) if w.any() else np.zeros(self.rows.n)
        z += b
        z *= self.y
        return z

    def mean(self, values: FloatArray) -> float:
        """Σ sᵢ vᵢ / Σ sᵢ."""
        if self.sample_weight is None:
            return float(values.sum()) / self.total_weight
        with np.errstate(over="ignore"):
            total = float(self.sample_weight @ values)
        if np.isfinite(total):
            return total / self.total_weight
        return float(self.sample_weight / self.total_weight @ values)  # the sum exceeds the largest float, not the mean

    @property
    def weight_of_loss(self) -> float:
        """What multiplies the sum of losses in P: C, or 1 where there is no penalty."""
        return 1.0 if np.isinf(self.C) else self.C

    def objective(self, w: FloatArray, b: float) -> float:
        """P(w, b)."""
        return self.evaluate(w, b, gradient=False).objective

    def evaluate(
        self, w: FloatArray, b: float, *, split: bool = False, curvature: bool = False, gradient: bool = True
    ) -> Point:
        """Return what one pass over the examples says of (w, b): value, gradient (by class if `split`), curvature."""
        w, what = np.ascontiguousarray(w), dict(split=split, curvature=curvature, gradient=gradient)
        sums = self.rows.evaluate(self.y, self.sample_weight, self.loss, w, b, **what)
        return Point(self, w, b, sums, split)

    def risk(self, w: FloatArray, b: float) -> float:
        """Return the empirical risk: the mean loss."""
        return self.evaluate(w, b, gradient=False).risk

    def zero_one(self, w: FloatArray, b: float) -> float:
        """Return the share of examples with z ≤ 0: mistakes, and points on the plane itself."""
        return self.evaluate(w, b, gradient=False).zero_one

    @property
    def formula(self) -> str:
        """The objective that is minimised, in one line."""
        return formula(self.loss, self.penalty, self.C, weighted=self.sample_weight is not None)


@dataclass(frozen=True)
class Point:
    """A point (w, b) and what one pass over the examples says of it."""

    problem: Problem
    w: FloatArray
    b: float
    sums: Sums
    split: bool  # whether the sums are by class

    @cached_property
    def objective(self) -> float:
        """P(w, b)."""
        return self.problem.penalty.value(self.w) + self.problem.weight_of_loss * self.sums.value

    @property
    def mean_objective(self) -> float:
        """F(w, b)."""
        return self.objective / (self.problem.weight_of_loss * self.problem.total_weight)

    @property
    def risk(self) -> float:
        """The mean loss."""
        return self.sums.value / self.problem.total_weight

    @property
    def zero_one(self) -> float:
        """The share of mistakes."""
        return self.sums.mistakes / self.problem.total_weight

    @cached_property
    def smooth_gradient(self) -> FloatArray:
        """∇P, for the smooth part of the penalty; its last entry is that of b, if b is free."""
        problem, sums = self.problem, self.sums
        g = problem.weight_of_loss * sums.gradient + problem.penalty.l2 * self.w
        if not problem.fit_intercept:
            return g
        return np.append(g, problem.weight_of_loss * (sums.positive_total + sums.negative_total))

    @property
    def mean_gradient(self) -> FloatArray:
        """A (sub)gradient of F; its last entry is that of b, if b is free."""
        problem, sums = self.problem, self.sums
        grad = sums.gradient / problem.total_weight
        grad += problem.strength * problem.penalty.slope(self.w)
        if not problem.fit_intercept:
            return grad
        return np.append(grad, (sums.positive_total + sums.negative_total) / problem.total_weight)


@dataclass(frozen=True)
class Measures:
    """What is measured of several planes on the same examples, one number each.

    Attributes
    ----------
    objective, risk, zero_one, gradient_norm : array
        F, the mean loss, the share of mistakes (z ≤ 0), and ‖∇F‖.
    finite : array of bool
        Whether all weights are finite numbers.
    """

    objective: FloatArray
    risk: FloatArray
    zero_one: FloatArray
    gradient_norm: FloatArray
    finite: NDArray[np.bool_]


def measure(problem: Problem, Y: FloatArray, W: FloatArray, b: FloatArray, room: FloatArray | None = None) -> Measures:
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
    value, mistakes, slopes, square, squares, sizes = sums
    objective = value / total + strength * (penalty.l2 * 0.5 * squares + penalty.l1 * sizes)
    norm = np.sqrt(square + problem.fit_intercept * (slopes / total) ** 2)
    return Measures(objective, value / total, mistakes / total, norm, np.isfinite(sizes))


class MeanObjective:
    """F as a function of one vector θ = [w, b] (θ = w without intercept), remembering the last point it looked at."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._seen: tuple[FloatArray, Point] | None = None

    @property
    def size(self) -> int:
        """How many parameters θ has."""
        return self.problem.rows.d + self.problem.fit_intercept

    def split(self, theta: FloatArray) -> tuple[FloatArray, float]:
        """Return w and b."""
        return (theta[:-1], float(theta[-1])) if self.problem.fit_intercept else (theta, 0.0)

    def join(self, w: FloatArray, b: float) -> FloatArray:
        """θ of w and b."""
        return np.append(w, b) if self.problem.fit_intercept else np.array(w)

    def at(self, theta: FloatArray) -> Point:
        """Return what a pass over the examples says of θ; made once for as long as θ stays the same."""
        if self._seen is None or not np.array_equal(theta, self._seen[0]):
            self._seen = theta.copy(), self.problem.evaluate(*self.split(theta))
        return self._seen[1]

    def risk(self, theta: FloatArray) -> float:
        """Return the mean loss at θ."""
        return self.at(theta).risk

    def zero_one(self, theta: FloatArray) -> float:
        """Return the share of mistakes at θ."""
        return self.at(theta).zero_one

    def value(self, theta: FloatArray) -> float:
        """F(θ)."""
        return self.at(theta).mean_objective

    def gradient(self, theta: FloatArray) -> FloatArray:
        """A (sub)gradient of F at θ."""
        return self.at(theta).mean_gradient
