"""The last steps without a penalty: Newton's method in coordinates in which the Hessian is the identity, to a proof.

Without a penalty nothing keeps columns apart that are nearly the same, or of very different size, and a factor of the
Hessian as it is has too few digits for them. Here each step is the one that `objective.curvature` finds on its way
to the proof: in coordinates made so that the Hessian is the identity there, with agreements and rows of twice the
digits where plain ones are blurred. So every step says how far from the optimum it began, and the last one is the
certificate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._common.types import FloatArray
from ...arithmetic.enclosure import Interval, agreements, relative_gap
from ...arithmetic.redundancy import Redundancy
from ...objective.curvature import MANY_FEATURES, Look
from ...objective.duality import Bound
from ...objective.enclosure import OPEN, bound_below, bound_on_fewer, enclosed_value, examined, left_by_rounding
from ...objective.examples import Pieces
from ...objective.objective import Objective
from ..result import STOPPED_BY_OBSERVER, Result
from ..run import AS_EXACT_AS_CAN_BE
from .line_search import ARMIJO


@dataclass(frozen=True)
class Tuning:
    """The constants of these steps, with what each trades; `benchmarks/estimates.py` shows what they cost."""

    #: Steps at the most, and halvings of one.
    steps: int = 50
    halvings: int = 40
    #: Columns that are told apart by less than this share of them are told apart by rounding: no use to follow that.
    lost: float = 1e-13
    #: Of problems with little work in a step less is left to gain, down to this share of the objective: the goal falls
    #: from `tol` with this power of the work's share in `little`.
    furthest: float = 1e-13
    little: float = 2e7
    power: float = 4.0


TUNED = Tuning()
#: What there is to say where some examples alone prove the gap.
VANISHING = (
    "the optimum is near, but seems to be attained nowhere: the losses of some examples vanish as coefficients run to "
    "infinity; use a finite C"
)


@dataclass(frozen=True)
class _Reached:
    """Where the steps ended: a point, its enclosed objective, what is known of the optimum there, how many it took."""

    point: FloatArray
    primal: Interval
    look: Look
    steps: int
    fewer: Interval | None = None  # a bound from some examples alone, where all of them prove nothing


class _Landscape:
    """An objective without a penalty, as a function of θ = [w, b]; of several classes, of their columns [wₖ, bₖ]."""

    def __init__(self, problem: Objective, tol: float) -> None:
        self.problem, self.d, self.share = problem, problem.d, OPEN * tol
        self.sought: Redundancy | None = None  # found by the first look that has to, for all

    def split(self, point: FloatArray) -> tuple[FloatArray, Any]:
        return point[: self.d], float(point[self.d]) if point.ndim == 1 else point[self.d]

    def look(self, point: FloatArray, steps: int) -> _Reached:
        """Enclose the objective, and find out what the derivatives say of the optimum."""
        primal, look = examined(self.problem, *self.split(point), self.share, self.sought)
        self.sought = look.sought
        return _Reached(point, primal, look, steps)

    def move(self, point: FloatArray, step: FloatArray, t: float) -> FloatArray:
        """Return the point moved by t times a step: without an entry for b if that is not free, nor the last class."""
        moved = point.copy()
        if point.ndim == 1:
            moved[: len(step)] += t * step
            return moved
        moved[: step.shape[1], :-1] += t * step.T
        return np.vstack(self.problem.head.canonical(*self.split(moved)))

    def step(self, now: _Reached, step: FloatArray) -> _Reached | None:
        """Return the first point along a Newton step, halving it, that is better for sure; None if none is."""
        t = 1.0
        for _ in range(TUNED.halvings):
            with np.errstate(over="ignore", invalid="ignore"):  # ∞ of one class less ∞ of another is no number
                point, promised = self.move(now.point, step, t), t * now.look.decrement
            t *= 0.5
            if not np.isfinite(point).all():
                continue
            primal = enclosed_value(self.problem, *self.split(point), self.share)
            if primal.high <= now.primal.low - ARMIJO * promised:
                return self.look(point, now.steps + 1)
            # What is lost in the rounding of the objective is decided by the gap, which is sharper.
            if promised <= 4.0 * (primal.width + now.primal.width):
                found = self.look(point, now.steps + 1)
                return found if found.look.gap < 0.5 * now.look.gap else None
        return None

    def descend(self, start: FloatArray, tol: float, goal: float) -> _Reached:
        """Step until the gap is proven to be no more than `goal` times the objective, or steps lead no further.

        Where columns are redundant, the point of least norm is returned, if it is proven to `tol` as well. A point that
        is not proven to `tol` is no better than the one to start with, which is then returned.
        """
        best = first = self.look(start, 0)
        if any(near.left < TUNED.lost for near in best.look.redundancy.nearly):
            return first
        while best.steps < TUNED.steps and best.look.step is not None and best.look.gap > goal * best.primal.low:
            new = self.step(best, best.look.step)
            if new is None:
                break
            best = new
        found = self.shortest(best)
        best = found if found.look.gap <= max(tol * found.primal.low, best.look.gap) else best
        if best.look.gap <= tol * best.primal.low:
            return best
        return self.on_fewer(best, tol) or first

    def shortest(self, best: _Reached) -> _Reached:
        """Return the point of least norm among those that predict the same."""
        if not (redundancy := best.look.redundancy):
            return best
        return self.look(np.apply_along_axis(redundancy.least_norm, 0, best.point), best.steps)

    def on_fewer(self, best: _Reached, tol: float) -> _Reached | None:
        """Return where some examples alone prove the gap, because the others' losses vanish; None if they do not.

        Examples in memory were looked at before: where no optimum is attained there, nobody comes here.
        """
        if self.problem.examples.resident is not None:
            return None
        fewer = bound_on_fewer(self.problem, *self.split(best.point))
        if fewer is None or relative_gap(best.primal, fewer) > tol:
            return None
        return replace(best, fewer=fewer)


def can_be_proven(problem: Objective) -> bool:
    """Whether there is no penalty, and the curvature of the loss can prove an optimum all the same."""
    finite = bool(np.isfinite(problem.head.self_concordance))
    return finite and not problem.penalised and problem.free <= MANY_FEATURES


def _without_loss(result: Result, problem: Objective) -> Result | None:
    """Return the plane made longer until no example has a loss, for sure; None where some are on its wrong side.

    Of a loss that vanishes from z = 1 on nothing is less than that. Newton's steps end at z = 1, where rounding decides
    whether there is a loss left of which no share can be proven.
    """
    w, b = result.w, result.b

    def closest(part: Objective) -> Pieces:
        z, radius = agreements(part.rows.X, part.y, w, b)
        counted = np.s_[:] if part.sample_weight is None else part.sample_weight > 0
        return Pieces([float((z - 4.0 * radius)[counted].min(initial=np.inf))])

    least = min(problem.sum(closest))
    if not 0.0 < least < np.inf:
        return None
    longer = max(1.0, 1.0 / least)
    w, b, zero = longer * result.w, longer * result.b, Interval(0.0, 0.0)
    if not np.isfinite(w).all() or enclosed_value(problem, w, b) != zero:
        return None
    last = replace(result.last, w=w, b=b)
    return replace(result, w=w, b=b, last=last, proof=Bound(0.0, 0.0), enclosed=(zero, zero), z=None, alpha=None)


def came_to_an_end(result: Result) -> bool:
    """Whether a run ended by itself, at something like an optimum."""
    stopped = result.interrupted or result.message == STOPPED_BY_OBSERVER
    arrived = result.converged or AS_EXACT_AS_CAN_BE in result.message
    return arrived and not stopped and bool(np.isfinite(result.w).all())


def polished(result: Result, problem: Objective, tol: float) -> Result:
    """Return a solver's result with the gap proven, after as many more steps as that takes; itself, where none can be.

    Where columns are redundant the coefficients are those of least norm, the intercept not counted.

    Parameters
    ----------
    result : Result
    problem : Objective
    tol : float
        The relative gap that was asked for.

    Examples
    --------
    >>> from linsep._core import Rows
    >>> from linsep.losses import Logistic
    >>> from linsep.objective.problem import Problem
    >>> from linsep.solvers import Newton
    >>> x = np.array([0.0, 1.0, 2.0, 3.0])
    >>> problem = Problem(Rows(np.c_[x, x]), np.array([-1.0, 1.0, -1.0, 1.0]), Logistic())
    >>> found = polished(Newton().solve(problem), problem, 1e-4)
    >>> found.w.round(6), found.proof.relative_gap < 1e-12
    (array([0.454092, 0.454092]), True)
    """
    if not (can_be_proven(problem) and came_to_an_end(result)):
        return result
    if problem.head.planes is None and problem.loss.margin and (none := _without_loss(result, problem)) is not None:
        return none
    if left_by_rounding(problem, result.w, result.b) is not None:
        return result
    work = problem.n * (problem.head.planes or 1) * (problem.free + 1.0) ** 2
    # The less work, the further beyond tol, since it costs nothing.
    goal = float(min(tol, max(TUNED.furthest, tol * (work / TUNED.little) ** TUNED.power)))
    land = _Landscape(problem, tol)
    start = np.append(result.w, result.b) if result.w.ndim == 1 else np.vstack([result.w, result.b])
    found = land.descend(start, tol, goal)
    dual = found.fewer or bound_below(problem, found.primal, found.look)
    w, b = land.split(found.point.copy())
    proof, last = Bound(found.primal.high, dual.low), replace(result.last, w=w, b=b)
    shared: dict[str, Any] = dict(redundancy=found.look.redundancy, z=None, alpha=None)
    shared["no_optimum"] = "" if found.fewer is None else VANISHING
    return replace(result, w=w, b=b, last=last, proof=proof, enclosed=(found.primal, dual), **shared)
