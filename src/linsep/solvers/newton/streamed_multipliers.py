"""The method of multipliers for losses with a kink (hinge) on examples in parts, to a proven duality gap.

The method of `multipliers`, with what it needs of each example on disk: the centre ᾱ of its dual variable, and the
variable itself, which is the next centre. One pass gives the inner problem's value, gradient and Hessian and the bound;
a step is halved where it does not lower the inner problem. It begins where a sample leads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...objective.duality import Bound, class_scales
from ...objective.parted import Block, PartedProblem
from .._checks import check_count
from ..result import Result
from ..run import no_step_lowers
from ..streamed import FloatArray, StreamedRun, Told, Vector, Workspace, sample_problem
from .augmented_lagrangian import NARROWER, NARROWEST, NEARBY, WIDEST, Multipliers
from .preconditioner import ScaledFactor

__all__ = ["StreamedMultipliers"]

#: Where dual variables are kept, by turns: the centres, now and as a killed run would want them, those of the best
#: bound, of the last point, and of this pass.
VECTORS = tuple(f"duals-{k}" for k in range(5))


@dataclass(frozen=True)
class StreamedMultipliers:
    """The method of multipliers, for losses with a `dual_step` and an L2 penalty; a pass for each point.

    Parameters
    ----------
    tol : float
        The relative duality gap at which to stop.
    max_iter : int
        Passes at the most.
    """

    tol: float = 1e-4
    max_iter: int = 500
    name = "streamed_multipliers"

    def __post_init__(self) -> None:
        check_count("max_iter", self.max_iter)

    def solve(
        self, problem: PartedProblem, workspace: Workspace, *, sample: Block | None = None, told: Told | None = None
    ) -> tuple[Result, Vector | None]:
        """Minimise; return also the dual variables behind the proof."""
        if problem.penalty.l1 > 0 or problem.penalty.l2 == 0:
            raise ValueError(f"solver {self.name!r} needs the penalty ½‖w‖² alone, not {problem.penalty.formula!r}")
        run = _Run(self, problem, workspace, told)
        return run.result(sample), workspace.vector(run.highest[1]) if run.highest[1] else None


@dataclass(frozen=True, eq=False)
class _Point:
    """What a pass says of (w, b), with dual variables on springs of a width."""

    w: FloatArray
    b: float
    inner: float  # the inner problem's value
    gradient: FloatArray
    hessian: FloatArray
    primal: float
    dual: float
    outer: float  # how much of the gap is the springs'
    duals: str  # the vector that holds them
    loss: float
    mistakes: float


class _Run(StreamedRun):
    """One run: the point, the centres, the width, and the best bounds so far."""

    def __init__(
        self, method: StreamedMultipliers, problem: PartedProblem, workspace: Workspace, told: Told | None
    ) -> None:
        super().__init__(method, workspace, told)
        self.problem = problem
        self.centre: str | None = None  # None: in the middle
        self.kept: str | None = None
        self.width, self.first = WIDEST, True
        self.best: tuple[float, FloatArray, float] = (np.inf, np.zeros(problem.rows.d), 0.0)
        self.highest: tuple[float, str] = (-np.inf, "")

    def result(self, sample: Block | None) -> Result:
        """Take Newton steps until the gap is proven small."""
        w, b = self._start(sample)
        with self.until_it_ends():
            point = self._pass(w, b)
            while self.passes < self.method.max_iter:
                self.end_if_proven(self._proof())
                point = self._next(point)
        primal, w, b = self.best
        return self.outcome(w, b, self.passes, self._proof() if np.isfinite(primal) else None)

    def _start(self, sample: Block | None) -> tuple[FloatArray, float]:
        kept = self.workspace.state
        if kept is not None:
            self.centre, self.width = kept["centre"], float(kept["width"])
            self.passes, self.kept = int(kept["passes"]), self.centre
            return np.array(kept["w"], dtype=np.float64), float(kept["b"])
        part = None if sample is None else sample_problem(self.problem, sample)
        if part is None:
            return np.zeros(self.problem.rows.d), 0.0
        self.width = NEARBY
        found = Multipliers(tol=1e-3).solve(part)
        return found.w, found.b

    def _proof(self) -> Bound:
        return Bound(self.best[0], self.highest[0])

    def _next(self, point: _Point) -> _Point:
        """Let the springs give way where they hold more than all else; else take a Newton step."""
        inner_gap = point.primal - point.dual - point.outer
        if inner_gap <= point.outer and self.width > NARROWEST:
            self.centre, self.width = point.duals, NARROWER * self.width
            new = self._pass(point.w, point.b)
        else:
            new = self._step(point)
        state: dict[str, Any] = dict(centre=self.centre, width=self.width, passes=self.passes)
        self.workspace.keep({**state, "w": new.w.tolist(), "b": new.b})
        self.kept = self.centre
        return new

    def _step(self, point: _Point) -> _Point:
        d = self.problem.rows.d
        step = -ScaledFactor(point.hessian.copy()).solve(point.gradient)
        slope = float(point.gradient @ step)
        t = 1.0
        while t > 1e-8 and slope < 0:
            b = point.b + t * float(step[d]) if self.problem.fit_intercept else 0.0
            new = self._pass(point.w + t * step[:d], b, keep=(point.duals,))
            if new.inner <= point.inner + 1e-4 * t * slope:
                return new
            # where the parabola through what is known is lowest
            t *= float(np.clip(-0.5 * slope * t / (new.inner - point.inner - slope * t), 0.1, 0.5))
        raise no_step_lowers("objective")

    def _pass(self, w: FloatArray, b: float, keep: tuple[str, ...] = ()) -> _Point:
        """Go through the examples once: set their dual variables, and add up what is needed."""
        problem, d, split = self.problem, self.problem.rows.d, self.problem.fit_intercept
        name = next(name for name in VECTORS if name not in (self.centre, self.kept, self.highest[1], *keep))
        into, centre = self.workspace.vector(name), self._centre()
        sums, spring, conjugates = np.zeros(6 + (2 if split else 1) * d), 0.0, np.zeros(2)
        hessian = np.zeros((d + 1, d + 1))
        for part in problem:
            one = part.problem
            c = np.full(one.rows.n, one.C) if one.sample_weight is None else one.C * one.sample_weight
            middle = 0.5 * c if centre is None else np.clip(centre.read(part.which), 0.0, c)
            a, h = np.zeros(one.rows.n), np.zeros(one.rows.n)
            settings: dict[str, Any] = dict(centre=middle, z=one.agreements(w, b), width=self.width, split=split)
            sums += one.rows.sprung_duals(one.y, c, one.loss, a=a, h=h, **settings)
            moved = np.divide((a - middle) ** 2, c, out=np.zeros_like(a), where=c > 0)
            spring += 0.5 * self.width * float(moved.sum())
            hessian += one.rows.gram(h, np.flatnonzero(h))
            shares = np.where(c > 0, c * one.loss.conjugate(-np.divide(a, c, out=np.zeros_like(a), where=c > 0)), 0.0)
            conjugates += float(shares[one.y > 0].sum()), float(shares[one.y < 0].sum())
            into.write(part.which, a)
        return self._point(w, b, sums, spring, conjugates, hessian, name)

    def _centre(self) -> Vector | None:
        return None if self.centre is None else self.workspace.vector(self.centre)

    def _point(
        self,
        w: FloatArray,
        b: float,
        sums: FloatArray,
        spring: float,
        conjugates: FloatArray,
        hessian: FloatArray,
        name: str,
    ) -> _Point:
        problem, d, l2 = self.problem, self.problem.rows.d, self.problem.penalty.l2
        value, conjugate, product, mistakes = (float(total) for total in sums[:4])
        v, totals = sums[6:].reshape(-1, d), sums[4:6]
        scales = np.array(class_scales(*totals.tolist())) if problem.fit_intercept else np.ones(2)
        size = d + problem.fit_intercept
        np.einsum("jj->j", hessian)[:d] += l2
        gradient = l2 * w - v.sum(axis=0)
        if problem.fit_intercept:
            gradient = np.append(gradient, totals[1] - totals[0])
        penalty = problem.penalty.value(w)
        primal = penalty + value
        # A class scaled by p ≤ 1 adds no more than p times its own: ℓ* is convex and ℓ*(0) = 0.
        dual = -problem.penalty.conjugate(scales[: len(v)] @ v) - float(scales @ conjugates)
        inner, outer = penalty - product - conjugate - spring, value + conjugate + product
        point = _Point(w, b, inner, gradient, hessian[:size, :size], primal, dual, outer, name, value, mistakes)
        self._note(point)
        return point

    def _note(self, point: _Point) -> None:
        self.passes += 1
        if point.primal < self.best[0]:
            self.best = point.primal, point.w, point.b
        if point.dual > self.highest[0]:
            self.highest = point.dual, point.duals
        C = self.problem.weight_of_loss
        self.record_pass(self.problem, self.best[0], point.loss / C, point.mistakes / C)
        self.tell_pass(self._proof().relative_gap)
