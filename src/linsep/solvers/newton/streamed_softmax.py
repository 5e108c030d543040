"""Newton's method for the softmax problem on examples in parts, to a proven duality gap.

The method of `softmax`: conjugate gradients, each product with the Hessian a pass over the examples, preconditioned by
the blocks of the Hessian that a sample gives. It begins where the sample leads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.enclosure import Interval
from ...certificates.parted_claim import Passes
from ...certificates.softmax_certificate import enclosed_primal, scores_of, softmax_bound_below
from ...objective.curvature import SoftmaxDerivatives, examine_softmax_in_passes, softmax_slopes
from ...objective.parted import Block, PartedSoftmax
from ...objective.scaling import ordinary_in_parts
from ...objective.softmax import SoftmaxPoint
from .._checks import check_count
from ..run import EndOfRun, no_step_lowers
from ..streamed import StreamedRun, Told, Workspace
from .softmax import SoftmaxNewton, SoftmaxResult, metric_at

FloatArray = NDArray[np.float64]

__all__ = ["PartedSoftmax", "StreamedSoftmax", "enclosed_in_passes"]


def enclosed_in_passes(problem: PartedSoftmax, W: FloatArray, b: FloatArray) -> tuple[Interval, Interval]:
    """Enclose P(W, b), and the best bound on the optimum that can be shown without a penalty: a few passes."""
    passes, primal = Passes(problem.examples, problem.by_class), Interval(0.0, 0.0)

    def at(part: slice, X: Any) -> SoftmaxDerivatives:
        codes, c = passes.at(part)
        scores, radius = scores_of(X, W, b)
        return softmax_slopes(codes, c, scores, radius.max(axis=1))

    for block in problem.examples:
        primal = primal + enclosed_primal(problem.on(block), W, b)
    look = examine_softmax_in_passes(passes.X, problem.classes, at, intercept=problem.fit_intercept)
    return primal, softmax_bound_below(primal, look, ordinary_in_parts(problem, problem.by_class, np.zeros(1), 0.0))


@dataclass(frozen=True)
class StreamedSoftmax:
    """Newton's method with conjugate gradients and a line search, passes over the examples for all of them.

    Parameters
    ----------
    tol : float
        The relative duality gap at which to stop.
    max_iter : int
        Newton steps at the most.
    """

    tol: float = 1e-4
    max_iter: int = 100
    name = "streamed_softmax"

    def __post_init__(self) -> None:
        check_count("max_iter", self.max_iter)

    def solve(
        self, problem: PartedSoftmax, workspace: Workspace, *, sample: Block, told: Told | None = None
    ) -> SoftmaxResult:
        """Minimise, from where an earlier run was or the sample leads."""
        if problem.penalty.l1 > 0:
            raise ValueError(f"solver {self.name!r} cannot minimise an L1 penalty")
        return _Run(self, problem, workspace, sample, told).result()


class _Run(StreamedRun):
    """One run of Newton's method."""

    def __init__(
        self, method: StreamedSoftmax, problem: PartedSoftmax, workspace: Workspace, sample: Block, told: Told | None
    ) -> None:
        super().__init__(method, workspace, told)
        self.problem = problem
        self.sample = problem.on(sample, problem.C * problem.rows.n / sample.rows.n)

    def result(self) -> SoftmaxResult:
        """Step until the gap is proven small."""
        method, problem = self.method, self.problem
        point, k, settled = None, 0, False
        with self.until_it_ends():
            k, W, b = self._start()
            point = self._evaluate(W, b)
            while k < method.max_iter:
                self.end_if_proven(point.bound)
                V = self._direction(point)
                promised = -0.5 * float(np.einsum("jk,jk->", point.smooth_gradient, V))
                new = self._line_search(point, V)
                settled = np.isinf(problem.C) and promised <= 0.1 * method.tol * point.objective
                if new is None:
                    raise no_step_lowers("objective")
                point, k = new, k + 1
                if settled:
                    raise EndOfRun("the last step was negligible; without a penalty no gap is proven")
                self.workspace.keep({"k": k, "W": point.w.tolist(), "b": point.b.tolist()})
        if point is None:
            raise KeyboardInterrupt
        proof = self.last_proof(point)
        ended = settled or self.proves(proof), self.message, self.history
        return SoftmaxResult(point.w, point.b, k, *ended, proof, self.interrupted)

    def _start(self) -> tuple[int, FloatArray, FloatArray]:
        kept = self.workspace.state
        if kept is not None:
            return int(kept["k"]), np.array(kept["W"]), np.array(kept["b"])
        found = SoftmaxNewton(tol=1e-3, max_iter=30).solve(self.sample)
        return 0, found.W, found.b

    def _evaluate(self, W: FloatArray, b: FloatArray) -> SoftmaxPoint:
        point = self.problem.evaluate(W, b)
        self.count_pass(point.bound.relative_gap)
        self.record_pass(self.problem, point.objective, point.value, point.mistakes)
        return point

    def _direction(self, point: SoftmaxPoint, most: int = 60) -> FloatArray:
        """Solve (∇²P) V = −∇P by conjugate gradients until the residual has fallen as far as the gap asks for."""
        gap = point.bound.relative_gap
        accuracy = float(np.clip(0.5 * np.sqrt(self.method.tol / max(gap, 1e-300)), 1e-3, 0.25))
        metric = metric_at(self.sample.evaluate(point.w, point.b))
        residual = -point.smooth_gradient
        V, direction = np.zeros_like(residual), metric.solve(residual)
        size = first = float(np.einsum("jk,jk->", residual, direction))
        for _ in range(most):
            bent = self.problem.product(point, direction)
            self.count_pass(gap)
            if not (curvature := float(np.einsum("jk,jk->", direction, bent))) > 0:
                break  # nothing bends this way
            V += (size / curvature) * direction
            residual -= (size / curvature) * bent
            towards = metric.solve(residual)
            new = float(np.einsum("jk,jk->", residual, towards))
            if new <= accuracy**2 * first:
                break
            direction, size = towards + (new / size) * direction, new
        return V

    def _line_search(self, point: SoftmaxPoint, V: FloatArray) -> SoftmaxPoint | None:
        """Return the first point along the step, halving it, that lowers the objective enough; None if none does."""
        d, slope, t = self.problem.rows.d, float(np.einsum("jk,jk->", point.smooth_gradient, V)), 1.0
        while t > 1e-6 and slope < 0:
            b = point.b + t * V[d] if self.problem.fit_intercept else point.b
            new = self._evaluate(point.w + t * V[:d], b)
            if new.objective <= point.objective + 1e-4 * t * slope:
                return new
            t *= 0.5
        return None
