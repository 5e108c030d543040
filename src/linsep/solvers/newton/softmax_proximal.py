"""Proximal Newton for the softmax problem with an L1 penalty or an elastic net, to a proven duality gap.

As in `proximal_newton`, the problem is solved on a working set of features. There each step minimises the quadratic
model of all losses plus the penalty class by class: with the other classes' steps held, that of class k is

    q·δ + ½ δᵀHδ + l1 ‖wₖ + δ‖₁,      H = l2·I + Σ hᵢ (xᵢ − x̄)(xᵢ − x̄)ᵀ,      hᵢ = cᵢ pᵢₖ (1 − pᵢₖ),

the very model of two classes. Through the scores u of the steps the classes know of each other: the slope of the model
moves by Σ cᵢ pᵢₖ (uᵢₖ − Σₗ pᵢₗ uᵢₗ) xᵢ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ...objective.duality import Bound
from ...objective.softmax import SoftmaxPoint, SoftmaxProblem, softmax_bound
from .._checks import check_count
from ..result import Observer
from ..run import GapRun, no_step_lowers
from .preconditioner import ScaledFactor
from .proximal import FEW, FIRST, LEAP, NO_PENALTY, STEPS, STRONGER, quadratic_model, violation
from .softmax import SoftmaxResult

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

__all__ = ["SoftmaxProximalNewton"]

#: Rounds over the classes for one step at the most.
ROUNDS = 100
#: After two rounds or more, as many as cost the same, all classes are moved together: if they have no more weights than
#: this, and the table of their columns no more numbers.
PATIENCE, LARGEST_LEAP, LARGEST_TABLE = 2, 800, 2 * 10**7


@dataclass(frozen=True)
class SoftmaxProximalNewton:
    """Proximal Newton on working sets, stopped by the relative duality gap: softmax with an L1 penalty.

    Parameters
    ----------
    tol : float
        The relative duality gap at which to stop.
    max_iter : int
        Newton steps at the most, over all working sets.

    Examples
    --------
    >>> from linsep._core import Rows
    >>> from linsep.penalties import L1
    >>> problem = SoftmaxProblem(Rows(np.eye(3)), np.arange(3), 3, penalty=L1(), C=4.0)
    >>> result = SoftmaxProximalNewton(tol=1e-8).solve(problem)
    >>> result.W.round(3) + 0.0, result.converged
    (array([[1.792, 0.   , 0.   ],
           [0.   , 1.792, 0.   ],
           [0.   , 0.   , 1.792]]), True)
    """

    tol: float = 1e-4
    max_iter: int = 1000
    name = "softmax_proximal_newton"

    def __post_init__(self) -> None:
        check_count("max_iter", self.max_iter)

    def solve(
        self,
        problem: SoftmaxProblem,
        *,
        start: tuple[FloatArray, FloatArray] | None = None,
        observer: Observer | None = None,
    ) -> SoftmaxResult:
        """Minimise. The observer hears of every step, with one row [wₖ, bₖ] a class, and may stop the run."""
        if problem.penalty.l1 == 0:
            raise ValueError(f"solver {self.name!r} is for penalties with L1, not {problem.penalty.formula!r}")
        return _Run(self, problem.lean(), observer).result(start)


class _Run(GapRun):
    """One run: the point and how many steps led to it."""

    def __init__(self, method: SoftmaxProximalNewton, problem: SoftmaxProblem, observer: Observer | None) -> None:
        super().__init__(method, observer)
        self.problem, self.k = problem, 0
        self.W, self.b = np.zeros((problem.rows.d, problem.classes)), np.zeros(problem.classes)

    def result(self, start: tuple[FloatArray, FloatArray] | None) -> SoftmaxResult:
        """Solve on one working set after the other until the gap of the whole problem is proven small."""
        best: tuple[SoftmaxPoint, Bound] | None = None
        with self.until_it_ends():
            self._begin(start)
            point = self._evaluate()
            self.record(self.k, point)
            while True:
                proof = softmax_bound(point)
                if best is None or proof.gap < best[1].gap:
                    best = point, proof
                self.end_if_proven(proof)
                point = self._improve(point, proof)
        point = self._evaluate()
        last = point, softmax_bound(point)
        point, proof = last if best is None or last[1].gap < best[1].gap else best
        ended = self.proves(proof), self.message, self.history
        return SoftmaxResult(point.w, point.b, self.k, *ended, proof, self.interrupted)

    def _begin(self, start: tuple[FloatArray, FloatArray] | None) -> None:
        problem = self.problem
        if start is not None:
            self.W, self.b = start[0].copy(), start[1] * problem.fit_intercept
            return
        if problem.fit_intercept:  # where all weights are zero, the best intercepts are known
            self.b = np.log(np.maximum(problem.class_totals / problem.total_weight, 1e-300))
            self.b = np.maximum(self.b, -30.0) - self.b.max()
        steepest = np.abs(self._evaluate().smooth_gradient[: problem.rows.d]).max(initial=0.0)
        if LEAP < float(steepest) / problem.penalty.l1 < NO_PENALTY:
            # Far from W = 0 the slopes there say little of which features count: come by way of a stronger penalty.
            found = SoftmaxProximalNewton(tol=0.1, max_iter=50).solve(replace(problem, C=problem.C / STRONGER))
            self.W, self.b = found.W, found.b

    def _evaluate(self) -> SoftmaxPoint:
        return self.problem.evaluate(self.W, self.b)

    def _improve(self, point: SoftmaxPoint, proof: Bound) -> SoftmaxPoint:
        """Solve on the next working set; return the new point of the whole problem."""
        chosen = self._working_set(point)
        whole = len(chosen) == self.problem.rows.d
        part = self.problem if whole else self.problem.with_rows(self.problem.rows.columns(chosen))
        # A set that leaves features out need not be solved further than these may be wrong.
        goal = self.method.tol if whole else max(0.5 * self.method.tol, 0.2 * proof.relative_gap)
        steps = _newton(part, self.W[chosen], self.b, goal)
        for at in steps if whole else islice(steps, STEPS):
            self.W = np.zeros_like(self.W)
            self.W[chosen], self.b = at.w, at.b
            self.k += 1
            self.record(self.k, at)
            self.tell(self.k, self.W, self.b, at.objective, join=self.problem.planes)
            self.end_if_exhausted(self.k)
        return self._evaluate()

    def _working_set(self, point: SoftmaxPoint) -> IntArray:
        """Return the features with a weight, and as many whose slopes press hardest against the box, ascending."""
        d = self.problem.rows.d
        used = self.W.any(axis=1)
        size = max(FIRST, 2 * int(used.sum()))
        if d <= FEW or 2 * size > d:
            return np.arange(d)
        press = np.abs(point.smooth_gradient[:d]).max(axis=1)
        press[used] = np.inf
        return np.sort(np.argpartition(-press, size - 1)[:size])


# -- Newton's method on one working set -------------------------------------------------------------------------------


def _newton(problem: SoftmaxProblem, W: FloatArray, b: FloatArray, goal: float) -> Iterator[SoftmaxPoint]:
    """Yield the points that proximal Newton steps lead to, until the problem's own gap is `goal` at most."""
    point = problem.evaluate(W, b)
    accuracy, least, lowest, without = 0.1, np.inf, np.inf, 0
    while (proof := softmax_bound(point)).relative_gap > goal:
        without = 0 if proof.gap < least or proof.primal < lowest * (1 - 1e-14) else without + 1
        least, lowest = min(least, proof.gap), min(lowest, proof.primal)
        new = _line_search(point, _Model(point, point.p), accuracy)
        if new is None:
            # The curvature here says little of what comes: take that of the steepest parabola above the losses.
            new = _line_search(point, _Model(point, None), accuracy)
        if new is None or without > 5:
            raise no_step_lowers("gap")
        point, accuracy = new, max(1e-3, 0.3 * accuracy)
        yield point


def _line_search(point: SoftmaxPoint, model: _Model, accuracy: float) -> SoftmaxPoint | None:
    """Return the first point along the model's step, halving it, that lowers P enough; None if none does."""
    problem, d = point.problem, point.problem.rows.d
    step, step_b, U = model.minimise(accuracy)
    if not (np.isfinite(step).all() and np.isfinite(step_b).all()) or not (step.any() or step_b.any()):
        return None
    g, l1 = point.smooth_gradient, problem.penalty.l1
    slope = float(np.einsum("jk,jk->", g[:d], step)) + l1 * float(np.abs(point.w + step).sum() - np.abs(point.w).sum())
    if problem.fit_intercept:
        slope += float(g[d] @ step_b)
    # The last steps lower P by less than its rounding error, and the gap still by much.
    noise, t = 1e-14 * abs(point.objective), 1.0
    while t > 1e-8:
        W, b = point.w + t * step, point.b + t * step_b
        # Cheaply first, from the scores of the step; the point itself is evaluated anew.
        if SoftmaxPoint(problem, W, b, point.scores + t * U).objective <= point.objective + 1e-4 * t * slope + noise:
            new = problem.evaluate(W, b - b.mean())
            return new if new.objective <= point.objective + noise else None
        t *= 0.5
    return None


class _Model:
    """The quadratic model of P at a point: with the curvature of its p, or with half of each example's weight.

    diag(p) − ppᵀ is never more than ½·I, so that the latter lies above the losses wherever one goes.
    """

    def __init__(self, point: SoftmaxPoint, p: FloatArray | None) -> None:
        self.point, self.p = point, p
        problem = point.problem
        self.c = problem.weight_of_loss * problem.s
        self.step, self.step_b = np.zeros_like(point.w), np.zeros_like(point.b)
        self.U = np.zeros_like(point.scores)
        self.mean = np.zeros(problem.rows.n)  # Σₗ pᵢₗ uᵢₗ
        self.parts = [_Class(self, k) for k in range(problem.classes)]

    def minimise(self, accuracy: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the step in W and in b and its scores, with slopes off by a share of what they are off by now."""
        enough, exactness, waited = 0.0, 0.5, 0
        for k in range(ROUNDS if self.p is not None else 1):
            moved = max(part.improve(exactness) for part in self.parts)
            enough = enough or accuracy * moved
            exactness = max(0.1 * accuracy, 0.3 * exactness)
            if moved <= enough and k:
                break
            waited += 1
            if self.p is not None and waited > max(PATIENCE, self._price_of_leap()):
                self._leap(self.p)
                waited = 0
        return self.step, self.step_b, self.U

    def _price_of_leap(self) -> float:
        """About how many rounds over the classes cost as much as moving all of them together."""
        rows, K = self.point.problem.rows, self.point.problem.classes
        size = int(np.count_nonzero(self.point.w + self.step)) + K
        return size**2 * (rows.n + size) / (8.0 * K * (rows.stored + rows.d**2))

    def pull(self, p: FloatArray, k: int | slice) -> FloatArray:
        """cᵢ pᵢₖ (uᵢₖ − Σₗ pᵢₗ uᵢₗ): what the steps so far have added to the slopes of the losses."""
        if isinstance(k, int):
            return np.asarray(self.c * p[:, k] * (self.U[:, k] - self.mean))
        return np.asarray(self.c[:, None] * p * (self.U - self.mean[:, None]))

    def _leap(self, p: FloatArray) -> None:
        """Go to the minimum over the weights that are not zero, as far as the first whose sign would turn.

        Between columns that say nearly the same, or differ from the intercept by little, rounds over the classes crawl.
        """
        problem, now = self.point.problem, self.point.w + self.step
        j, k = np.nonzero(now)
        features, place = np.unique(j, return_inverse=True)
        size = len(j) + problem.classes * problem.fit_intercept
        if size > LARGEST_LEAP or size * problem.rows.n > LARGEST_TABLE:
            return
        columns = problem.rows.columns(features).dense(np.arange(problem.rows.n))
        if problem.fit_intercept:  # one more column, of ones, for every class
            columns = np.column_stack([columns, np.ones(len(columns))])
            place = np.append(place, np.full(problem.classes, len(features)))
            k_all = np.append(k, np.arange(problem.classes))
        else:
            k_all = k
        T, g = self.pull(p, slice(None)), self.point.smooth_gradient
        slopes = g[j, k] + problem.penalty.l2 * self.step[j, k] + problem.penalty.l1 * np.sign(now[j, k])
        if problem.fit_intercept:
            slopes = np.append(slopes, g[-1])
        slopes += (columns.T @ T)[place, k_all]
        V = -self._solve(columns, place, k_all, p, slopes, len(j))
        turning = np.sign(now[j, k]) * (now[j, k] + V[: len(j)]) < 0
        t = min(1.0, float((-now[j, k] / np.where(turning, V[: len(j)], 1.0))[turning].min(initial=1.0)))
        self.step[j, k] += t * V[: len(j)]
        if problem.fit_intercept:
            self.step_b += t * V[len(j) :]
        full = np.zeros((columns.shape[1], problem.classes))
        full[place, k_all] = t * V
        u = columns @ full
        self.U += u
        self.mean += np.einsum("ik,ik->i", p, u)

    def _solve(
        self, columns: FloatArray, place: IntArray, k: IntArray, p: FloatArray, slopes: FloatArray, penalised: int
    ) -> FloatArray:
        """Return H⁻¹ slopes, where H is the model's Hessian on the weights (place, k)."""
        A = columns[:, place]
        weighted = A * p[:, k]
        H = (weighted * self.c[:, None]).T @ A
        H *= k[:, None] == k
        H -= (weighted * self.c[:, None]).T @ weighted
        diagonal = np.einsum("jj->j", H)
        diagonal[:penalised] += self.point.problem.penalty.l2
        return ScaledFactor(H).solve(slopes)


class _Class:
    """The model's part in one class."""

    def __init__(self, model: _Model, k: int) -> None:
        problem, self.model, self.k = model.point.problem, model, k
        self.rows, self.fit_intercept = problem.rows, problem.fit_intercept
        h = model.c * (0.5 if model.p is None else model.p[:, k] * (1.0 - model.p[:, k]))
        self.total = float(h.sum())
        self.centred = self.fit_intercept and self.total > 0
        self.centre = problem.rows.rmatvec(h) / self.total if self.centred else np.zeros(problem.rows.d)
        self.quadratic = quadratic_model(problem.rows, problem.penalty, model.point.w[:, k].copy(), h, self.centre)

    def improve(self, accuracy: float) -> float:
        """Move this class to its own minimum; return by how much slopes were off before."""
        model, k, d = self.model, self.k, self.rows.d
        penalty, gradient = model.point.problem.penalty, model.point.smooth_gradient
        q = gradient[:d, k] + penalty.l2 * model.step[:, k]
        q_b = float(gradient[d, k]) if self.fit_intercept else 0.0
        if model.p is not None:
            t = model.pull(model.p, k)
            q, q_b = q + self.rows.rmatvec(t), q_b + float(t.sum())
        slope_b = q_b / self.total if self.centred else 0.0
        q = q - slope_b * self.total * self.centre
        self.quadratic.w = model.point.w[:, k] + model.step[:, k]
        off = max(violation(q, self.quadratic.w, self.quadratic.bend, penalty.l1), abs(q_b) * self.centred)
        if off == 0:
            return 0.0
        step = self.quadratic.minimise(q, accuracy)
        step_b = -slope_b - float(self.centre @ step)
        model.step[:, k] += step
        model.step_b[k] += step_b * self.fit_intercept
        u = self.rows.matvec(step) + step_b * self.fit_intercept
        model.U[:, k] += u
        if model.p is not None:
            model.mean += model.p[:, k] * u
        return off
