"""Newton's method for smooth losses, to a proven duality gap.

Each step solves (∇²P) p = −∇P by conjugate gradients, preconditioned by the Cholesky factor of the same Hessian taken
over a sample of the examples, and used again while it serves; where the sample is everything, the factor alone gives
the step. Too many features for a factor: the diagonal preconditions. A sample of the examples also gives the point to
start from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._core import length
from ...objective.duality import bound
from ...objective.problem import Point, Problem
from .._checks import check_count
from ..contract import check_needs
from ..result import Observer, Result, Start
from ..run import EndOfRun, GapRun, no_step_lowers
from ..sampling import sample, sample_size
from .preconditioner import FACTORED, Metric, diagonal, factored

FloatArray = NDArray[np.float64]

__all__ = ["Newton"]

#: A sample knows a feature that it has seen so often.
KNOWN = 50
#: A step is made longer if at its end this share of its slope is left.
STEEP = 0.25
#: What a step gains is lost in the rounding of the objective below this share of it; the gap, which goes with the
#: gradient, may still be large there, if some columns are huge.
FLAT = 1e-12


@dataclass(frozen=True)
class Newton:
    """Newton's method with a line search, stopped by the relative duality gap.

    Parameters
    ----------
    tol : float
        The relative duality gap at which to stop.
    max_iter : int
        Newton steps at the most.
    """

    tol: float = 1e-4
    max_iter: int = 100
    name = "newton"
    needs = frozenset({"smooth", "curvature", "conjugate", "no_l1"})
    helped_by = frozenset({"merging", "centring", "sparse", "scaling", "polishing"})

    def __post_init__(self) -> None:
        check_count("max_iter", self.max_iter)

    def solve(
        self, problem: Problem, *, start: Start | None = None, seed: int = 0, observer: Observer | None = None
    ) -> Result:
        """Minimise."""
        check_needs(self, problem)
        return _Run(self, problem, seed, observer).result(start)


class _Run(GapRun):
    """One run of Newton's method."""

    def __init__(self, method: Newton, problem: Problem, seed: int, observer: Observer | None) -> None:
        super().__init__(method, observer)
        self.problem, self.rng = problem, np.random.default_rng(seed)
        self.metric: Metric | None = None
        self.first: Metric | None = None  # of the first step, where a sample has told it

    def result(self, start: Start | None) -> Result:
        """Step until the gap is proven small."""
        problem, tol = self.problem, self.method.tol
        w, b = (np.zeros(problem.rows.d), 0.0) if start is None else (start.w, start.b)
        point, proof, k = None, None, 0
        with self.until_it_ends():
            if start is None:
                w, b = self._from_sample()
            point = self._evaluate(w, b)
            accuracy = 0.3
            for k in range(self.method.max_iter + 1):
                proof = bound(point)
                self.record(k, point, length(point.smooth_gradient) / (problem.weight_of_loss * problem.total_weight))
                self.end_if_proven(proof)
                if k:
                    self.tell(k, point.w, point.b, point.objective)
                step = self._direction(point, accuracy)
                new = self._line_search(point, step)
                decrement = -float(point.smooth_gradient @ step)
                # Without a penalty no dual point is feasible to the last digit; about half of this is left to gain.
                if problem.penalty.l2 == 0 and decrement <= tol * abs(point.objective):
                    point = new or point
                    raise EndOfRun(f"a step gains no more than {decrement:.1e}", converged=True)
                if new is None:
                    raise no_step_lowers("objective")
                point, accuracy = new, max(0.01, 0.3 * accuracy)
        if point is None:
            point = self._evaluate(w, b)
        if proof is None or proof.primal != point.objective:
            proof = bound(point)
        self.ended = point
        return self.outcome(point.w, point.b, k, proof)

    def _evaluate(self, w: FloatArray, b: float) -> Point:
        return self.problem.evaluate(w, b, split=self.problem.fit_intercept, curvature=True)

    def _from_sample(self) -> tuple[FloatArray, float]:
        """Return the optimum on a sample of the examples, roughly: a better start than zero."""
        problem = self.problem
        size = sample_size(problem)
        part = sample(problem, size, self.rng) if problem.rows.n >= 4 * size else None
        if part is None:
            return np.zeros(problem.rows.d), 0.0
        run = _Run(Newton(tol=1e-2, max_iter=20), part, 0, None)
        result = run.result(None)
        if problem.rows.narrow and part.rows.filled().min() >= KNOWN:
            self.first = run._metric(run.ended)  # as good as that of all examples, so far from the end
        return result.w, result.b

    def _direction(self, point: Point, accuracy: float) -> FloatArray:
        metric, self.first = self.first or self.metric or self._metric(point), None
        if metric.exact:
            return -metric.solve(point.smooth_gradient)
        p, products = conjugate_gradients(point, metric, accuracy)
        self.metric = metric if products <= metric.cost else None  # else a new one is cheaper than such products
        return p

    def _metric(self, point: Point) -> Metric:
        problem, h = point.problem, point.problem.weight_of_loss * point.sums.h
        return factored(problem, h, self.rng) if problem.rows.d <= FACTORED else diagonal(problem, h)

    def _line_search(self, point: Point, step: FloatArray) -> Point | None:
        """Return a point along the step that lowers the objective enough; None if none does.

        Half the step is tried, and half of that, until one does. Where the whole step does and it still goes down, as
        on classes that are (all but) separable, one more guess goes to where the slope should vanish.
        """
        slope = float(point.smooth_gradient @ step)
        if -slope <= FLAT * abs(point.objective):
            new = self._along(point, step, 1.0)
            return new if bound(new).gap < bound(point).gap else None
        t = 1.0
        while t > 1e-10:
            new = self._along(point, step, t)
            if new.objective <= point.objective + 1e-4 * t * slope:
                break
            t *= 0.5
        else:
            return None
        left = float(new.smooth_gradient @ step)
        if t == 1.0 and slope < left < STEEP * slope:
            longer = self._along(point, step, min(slope / (slope - left), 10.0))
            return longer if longer.objective < new.objective else new
        return new

    def _along(self, point: Point, step: FloatArray, t: float) -> Point:
        d = self.problem.rows.d
        b = point.b + t * float(step[d]) if self.problem.fit_intercept else 0.0
        return self._evaluate(point.w + t * step[:d], b)


def conjugate_gradients(point: Point, metric: Metric, accuracy: float, most: int = 50) -> tuple[FloatArray, int]:
    """Solve (∇²P) p = −∇P until the residual, in the metric, has fallen to `accuracy` of what it was.

    Returns p and how many products with ∇²P it took.
    """
    problem, d = point.problem, point.problem.rows.d

    def hessian(v: FloatArray) -> FloatArray:
        c = float(v[d]) if problem.fit_intercept else 0.0
        out = problem.weight_of_loss * problem.rows.hessian_product(point.sums.h, np.ascontiguousarray(v[:d]), c)
        out[:d] += problem.penalty.l2 * v[:d]
        return out if problem.fit_intercept else out[:d]

    residual = -point.smooth_gradient
    p = np.zeros_like(residual)
    towards = metric.solve(residual)
    direction, size = towards, float(residual @ towards)
    first, products = size, 0
    while products < most:
        bent = hessian(direction)
        products += 1
        if not (bend := float(direction @ bent)) > 0:
            break  # nothing bends this way
        t = size / bend
        p += t * direction
        residual -= t * bent
        towards = metric.solve(residual)
        new = float(residual @ towards)
        if new <= accuracy**2 * first:
            break
        direction, size = towards + (new / size) * direction, new
    return p, products
