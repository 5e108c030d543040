"""The last steps without a penalty: Newton's method in coordinates in which the Hessian is the identity, to a proof.

Without a penalty nothing keeps columns apart that are nearly the same, or of very different size, and a factor of the
Hessian as it is has too few digits for them. Here each step is the one that `certificates.curvature` finds on its way
to the proof: in coordinates made so that the Hessian is the identity there, with agreements and rows of twice the
digits where plain ones are blurred. So every step says how far from the optimum it began, and the last one is the
certificate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.enclosure import Interval
from ...arithmetic.redundancy import Redundancy
from ...objective.curvature import MANY_FEATURES, Look
from ...objective.duality import Bound, penalised
from ...objective.enclosure import bound_below, examined, sharp_primal
from ...objective.problem import Problem
from ...objective.softmax import SoftmaxProblem
from ..result import STOPPED_BY_OBSERVER, Result
from ..run import AS_EXACT_AS_CAN_BE
from .softmax import SoftmaxResult, centred

FloatArray = NDArray[np.float64]

__all__ = ["Landscape", "Reached", "can_be_proven", "descend", "goal_of", "polished", "polished_softmax"]

#: Steps at the most, and halvings of one.
STEPS, HALVINGS = 50, 40
#: Of the fall that a step's slope promises, it must make this share.
ARMIJO = 1e-4
#: Columns that are told apart by less than this share of them are told apart by rounding: no use to follow that.
LOST = 1e-13
#: Problems with at most so much work in a step are solved until this share of the objective is left to gain.
SMALL, FURTHER = 2e7, 1e-13


class Landscape(Protocol):
    """An objective without a penalty, as a function of coefficients."""

    def height(self, point: FloatArray) -> Interval:
        """Enclose the objective."""
        ...

    def look(self, point: FloatArray) -> tuple[Interval, Look]:
        """Enclose it, and find out what the derivatives say of the optimum."""
        ...

    def move(self, point: FloatArray, step: FloatArray, t: float) -> FloatArray:
        """Return the point that lies t times a step away."""
        ...

    def shortest(self, point: FloatArray, redundancy: Redundancy) -> FloatArray:
        """Return the point of least norm that says the same of every row."""
        ...


@dataclass(frozen=True)
class Reached:
    """Where the steps ended: a point, its enclosed objective, what is known of the optimum there, how many it took."""

    point: FloatArray
    primal: Interval
    look: Look
    steps: int


def goal_of(tol: float, work: float) -> float:
    """Return the gap to go for: small problems are solved far beyond tol, since it costs nothing."""
    return min(tol, FURTHER) if work <= SMALL else tol


def descend(land: Landscape, start: FloatArray, tol: float, goal: float) -> Reached:
    """Step until the gap is proven to be no more than `goal` times the objective, or steps lead no further.

    Where columns are redundant, the point of least norm is returned, if it is proven to `tol` as well. A point that is
    not proven to `tol` is no better than the one to start with, which is then returned.
    """
    best = first = Reached(start, *land.look(start), 0)
    if any(near.left < LOST for near in best.look.redundancy.nearly):
        return first
    while best.steps < STEPS and best.look.step is not None and best.look.gap > goal * best.primal.low:
        new = _step(land, best, best.look.step)
        if new is None:
            break
        best = new
    if redundancy := best.look.redundancy:
        point = land.shortest(best.point, redundancy)
        found = Reached(point, *land.look(point), best.steps)
        best = found if found.look.gap <= max(tol * found.primal.low, best.look.gap) else best
    return best if best.look.gap <= tol * best.primal.low else first


def _step(land: Landscape, now: Reached, step: FloatArray) -> Reached | None:
    """Return the first point along a Newton step, halving it, that is better for sure; None if none is."""
    t = 1.0
    for _ in range(HALVINGS):
        with np.errstate(over="ignore"):
            point, promised = land.move(now.point, step, t), t * now.look.decrement
        if not np.isfinite(point).all():
            t *= 0.5
            continue
        primal = land.height(point)
        if primal.high <= now.primal.low - ARMIJO * promised:
            return Reached(point, *land.look(point), now.steps + 1)
        # What is lost in the rounding of the objective is decided by the gap, which is sharper.
        if promised <= 4.0 * (primal.width + now.primal.width):
            primal, look = land.look(point)
            return Reached(point, primal, look, now.steps + 1) if look.gap < 0.5 * now.look.gap else None
        t *= 0.5
    return None


class _OnePlane:
    """The objective of one plane θ = [w, b]."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.d = problem, problem.rows.d

    def height(self, point: FloatArray) -> Interval:
        """Enclose P(θ)."""
        return sharp_primal(self.problem, point[: self.d], float(point[self.d]))[0]

    def look(self, point: FloatArray) -> tuple[Interval, Look]:
        """Enclose P(θ), and look at its derivatives."""
        return examined(self.problem, point[: self.d], float(point[self.d]))

    def move(self, point: FloatArray, step: FloatArray, t: float) -> FloatArray:
        """θ + t·step; without an intercept a step has no entry for it."""
        moved = point.copy()
        moved[: len(step)] += t * step
        return moved

    def shortest(self, point: FloatArray, redundancy: Redundancy) -> FloatArray:
        """Return θ with the least ‖w‖."""
        return redundancy.least_norm(point)


class _Planes:
    """The objective of a softmax model, as a function of its planes: one column [wₖ, bₖ] a class."""

    def __init__(self, problem: SoftmaxProblem) -> None:
        self.problem, self.d = problem, problem.rows.d

    def height(self, point: FloatArray) -> Interval:
        """Enclose P."""
        return sharp_primal(self.problem, point[: self.d], point[self.d])[0]

    def look(self, point: FloatArray) -> tuple[Interval, Look]:
        """Enclose P, and look at its derivatives."""
        return examined(self.problem, point[: self.d], point[self.d])

    def move(self, point: FloatArray, step: FloatArray, t: float) -> FloatArray:
        """Return the planes moved by t times a step, which holds the last class's still."""
        moved = point.copy()
        moved[: step.shape[1], :-1] += t * step.T
        return np.vstack(centred(moved[: self.d], moved[self.d]))

    def shortest(self, point: FloatArray, redundancy: Redundancy) -> FloatArray:
        """Return the planes of least norm, each."""
        return np.column_stack([redundancy.least_norm(plane) for plane in point.T])


def can_be_proven(problem: Problem) -> bool:
    """Whether there is no penalty, and the curvature of the loss can prove an optimum all the same."""
    finite = bool(np.isfinite(problem.loss.self_concordance))
    return finite and not penalised(problem) and problem.rows.d <= MANY_FEATURES


def came_to_an_end(result: Result | SoftmaxResult, planes: FloatArray) -> bool:
    """Whether a run ended by itself, at something like an optimum."""
    stopped = result.interrupted or result.message == STOPPED_BY_OBSERVER
    arrived = result.converged or AS_EXACT_AS_CAN_BE in result.message
    return arrived and not stopped and bool(np.isfinite(planes).all())


def polished(result: Result, problem: Problem, tol: float) -> Result:
    """Return a solver's result with the gap proven, after as many more steps as that takes.

    Where columns are redundant the coefficients are those of least norm, the intercept not counted.

    Parameters
    ----------
    result : Result
    problem : Problem
        For which `can_be_proven` holds.
    tol : float
        The relative gap that was asked for.

    Examples
    --------
    >>> from linsep._core import Rows
    >>> from linsep.losses import Logistic
    >>> from linsep.solvers import Newton
    >>> x = np.array([0.0, 1.0, 2.0, 3.0])
    >>> problem = Problem(Rows(np.c_[x, x]), np.array([-1.0, 1.0, -1.0, 1.0]), Logistic())
    >>> found = polished(Newton().solve(problem), problem, 1e-4)
    >>> found.w.round(6), found.proof.relative_gap < 1e-12
    (array([0.454092, 0.454092]), True)
    """
    if not came_to_an_end(result, result.w):
        return result
    d = problem.rows.d
    goal = goal_of(tol, problem.rows.n * (d + 1.0) ** 2)
    found = descend(_OnePlane(problem), np.append(result.w, result.b), tol, goal)
    dual = bound_below(problem, found.primal, found.look)
    w, b = found.point[:d].copy(), float(found.point[d])
    proof, last = Bound(found.primal.high, dual.low), replace(result.last, w=w, b=b)
    shared = dict(n_iter=result.n_iter + found.steps, redundancy=found.look.redundancy, z=None, alpha=None)
    return replace(result, w=w, b=b, last=last, proof=proof, enclosed=(found.primal, dual), **shared)  # type: ignore[arg-type]


def polished_softmax(result: SoftmaxResult, problem: SoftmaxProblem, tol: float) -> SoftmaxResult:
    """Return the same of a softmax model."""
    d, K = problem.rows.d, problem.classes
    size = (K - 1) * (d + problem.fit_intercept)
    if penalised(problem) or size > MANY_FEATURES or not came_to_an_end(result, result.W):
        return result
    goal = goal_of(tol, problem.rows.n * K * float(size) ** 2)
    found = descend(_Planes(problem), np.vstack([result.W, result.b]), tol, goal)
    dual = bound_below(problem, found.primal, found.look)
    W, b, n_iter = found.point[:d].copy(), found.point[d].copy(), result.n_iter + found.steps
    proof, enclosed = Bound(found.primal.high, dual.low), (found.primal, dual)
    return replace(result, W=W, b=b, n_iter=n_iter, proof=proof, enclosed=enclosed, redundancy=found.look.redundancy)
