"""Newton's method for smooth losses on examples in parts, to a proven duality gap.

One pass gives value, gradient, Hessian and bound. The step minimises the model they make together with the penalty:
with ½‖w‖² by a Cholesky factor, with ‖w‖₁ by coordinate descent on the model. It begins where a sample leads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._core import gram_descent
from ...objective.duality import Bound
from ...objective.parted import Block, PartedPoint, PartedProblem
from .._checks import check_count
from ..result import Result
from ..run import EndOfRun, no_step_lowers
from ..streamed import FloatArray, StreamedRun, Told, Workspace, sample_problem
from .least_squares import WELL_CONDITIONED
from .newton import Newton
from .preconditioner import ScaledFactor
from .proximal import ProximalNewton

__all__ = ["StreamedNewton"]

#: Passes of coordinate descent over the model at the most, and how exact its slopes get, as a share of l1.
DESCENT, SLOPES = 1000, 1e-4


@dataclass(frozen=True)
class StreamedNewton:
    """Newton's method with a line search, a pass over the examples for each point.

    Parameters
    ----------
    tol : float
        The relative duality gap at which to stop.
    max_iter : int
        Newton steps at the most.
    """

    tol: float = 1e-4
    max_iter: int = 100
    name = "streamed_newton"

    def __post_init__(self) -> None:
        check_count("max_iter", self.max_iter)

    def solve(
        self, problem: PartedProblem, workspace: Workspace, *, sample: Block | None = None, told: Told | None = None
    ) -> tuple[Result, None]:
        """Minimise; the dual variables behind the proof follow from the plane."""
        return _Run(self, problem, workspace, told).result(sample), None


class _Run(StreamedRun):
    """One run of Newton's method."""

    def __init__(self, method: StreamedNewton, problem: PartedProblem, workspace: Workspace, told: Told | None) -> None:
        super().__init__(method, workspace, told)
        self.problem = problem

    def result(self, sample: Block | None) -> Result:
        """Step until the gap is proven small."""
        method, problem = self.method, self.problem
        k, w, b = self._start(sample)
        point: PartedPoint | None = None
        proof = None
        with self.until_it_ends():
            point = self._evaluate(k, w, b)
            while k < method.max_iter:
                self.end_if_proven(point.bound)
                step, slope = self._direction(point)
                if problem.loss.quadratic and np.isinf(problem.C) and -slope <= 1e-3 * method.tol * point.objective:
                    proof = _quadratic_proof(point, slope)
                    raise EndOfRun(f"a step gains no more than {-slope:.1e}", converged=True)
                new = self._line_search(k + 1, point, step, slope)
                # Without a penalty no dual point is feasible to the last digit; about half of this is left to gain.
                if np.isinf(problem.C) and not problem.loss.quadratic and -slope <= method.tol * point.objective:
                    point = new or point
                    raise EndOfRun(f"a step gains no more than {-slope:.1e}", converged=True)
                if new is None:
                    raise no_step_lowers("objective")
                point, k = new, k + 1
        if point is None:  # before the first pass was over: nothing is known of where the run stands
            return self.outcome(w, b, k, None)
        proof = proof or self.last_proof(point)
        converged = not self.interrupted and (self.converged or self.proves(proof))
        return self.outcome(point.w, point.b, k, proof, converged=converged)

    def _start(self, sample: Block | None) -> tuple[int, FloatArray, float]:
        kept = self.workspace.state
        if kept is not None:
            return int(kept["k"]), np.array(kept["w"], dtype=np.float64), float(kept["b"])
        part = None if sample is None else sample_problem(self.problem, sample)
        if part is None:
            return 0, np.zeros(self.problem.rows.d), 0.0
        small = ProximalNewton if part.penalty.l1 > 0 else Newton
        found = small(tol=1e-3, max_iter=30).solve(part)
        return 0, found.w, found.b

    def _evaluate(self, k: int, w: FloatArray, b: float) -> PartedPoint:
        point = self.problem.evaluate(w, b, gram=True)
        self.count_pass(point.bound.relative_gap)
        if np.isfinite(point.objective):
            self.record_pass(self.problem, point.bound.primal, point.value, point.mistakes)
        return point

    def _direction(self, point: PartedPoint) -> tuple[FloatArray, float]:
        """Return the step, and how fast the objective falls at its beginning (a number below zero)."""
        problem, d = self.problem, self.problem.rows.d
        assert point.gram is not None
        size = d + problem.fit_intercept
        H = problem.weight_of_loss * point.gram[:size, :size]
        np.einsum("jj->j", H)[:d] += problem.penalty.l2
        g = point.smooth_gradient
        if problem.penalty.l1 == 0:
            step = -ScaledFactor(H).solve(g)
            return step, float(g @ step)
        step = _proximal_step(H, g, point.w, problem.penalty.l1)
        grown = float(np.abs(point.w + step[:d]).sum() - np.abs(point.w).sum())
        return step, float(g @ step) + problem.penalty.l1 * grown

    def _line_search(self, k: int, point: PartedPoint, step: FloatArray, slope: float) -> PartedPoint | None:
        """Return the first point along the step, halving it, that lowers the objective enough; None if none does."""
        d, t = self.problem.rows.d, 1.0
        while t > 1e-6 and slope < 0:
            b = point.b + t * float(step[d]) if self.problem.fit_intercept else 0.0
            new = self._evaluate(k, point.w + t * step[:d], b)
            if new.objective <= point.objective + 1e-4 * t * slope:
                self.workspace.keep({"k": k, "w": new.w.tolist(), "b": new.b})
                return new
            t *= 0.5
        return None


def _quadratic_proof(point: PartedPoint, slope: float) -> Bound:
    """P − P* = ½ gᵀH⁻¹g of a quadratic without a penalty; nothing where H is singular, or nearly so."""
    assert point.gram is not None
    size = point.problem.rows.d + point.problem.fit_intercept
    H = np.tril(point.gram[:size, :size])
    scale = 1.0 / np.sqrt(np.maximum(np.diag(H), 1e-300))
    least = float(np.linalg.eigvalsh(H * scale[:, None] * scale, UPLO="L")[0])
    return Bound(point.objective, point.objective + 0.5 * slope if least > WELL_CONDITIONED else 0.0)


def _proximal_step(H: FloatArray, g: FloatArray, w: FloatArray, l1: float) -> FloatArray:
    """Return argmin_δ g·δ + ½ δᵀHδ + l1 ‖w + δ‖₁, where δ has a last entry for b if H has: that is eliminated first."""
    d = len(w)
    H = np.tril(H) + np.tril(H, -1).T
    q, inner, column, bend = g[:d].copy(), H[:d, :d], np.zeros(d), 0.0
    if len(g) > d:
        column, bend = H[:d, d], float(H[d, d])
        if bend > 0:
            inner = inner - np.outer(column, column) / bend
            q -= column * (g[d] / bend)
    new = w.copy()
    gram_descent(np.ascontiguousarray(inner), l1, SLOPES * l1, DESCENT, q, new)
    step = new - w
    if len(g) == d:
        return step
    return np.append(step, -(g[d] + column @ step) / bend if bend > 0 else 0.0)
