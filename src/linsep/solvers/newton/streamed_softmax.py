"""Newton's method for the softmax problem on examples in parts, to a proven duality gap.

The method of `softmax`: conjugate gradients, each product with the Hessian a pass over the examples, preconditioned by
the blocks of the Hessian that a sample gives. It begins where the sample leads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from ..._core import Rows
from ...arithmetic.enclosure import Interval
from ...certificates.parted_claim import Passes
from ...certificates.softmax_certificate import enclosed_primal, scores_of, softmax_bound_below
from ...objective.curvature import SoftmaxDerivatives, examine_softmax_in_passes, softmax_slopes
from ...objective.duality import Bound
from ...objective.parted import Block, Blocks
from ...objective.scaling import ordinary_in_parts
from ...objective.softmax import SoftmaxProblem, repair
from ...penalties import L2, NoPenalty, Penalty
from .._checks import check_count
from ..run import EndOfRun, no_step_lowers
from ..streamed import StreamedRun, Told, Workspace
from .softmax import SoftmaxNewton, SoftmaxResult, metric_at

FloatArray = NDArray[np.float64]

__all__ = ["PartedSoftmax", "StreamedSoftmax", "enclosed_in_passes"]


@dataclass(frozen=True, eq=False)
class PartedSoftmax:
    """A `SoftmaxProblem` whose examples come in parts."""

    rows: Blocks
    classes: int
    penalty: Penalty = field(default_factory=L2)
    C: float = np.inf
    by_class: FloatArray | None = None  # s of the examples of each class
    fit_intercept: bool = True

    def __post_init__(self) -> None:
        if np.isinf(self.C):
            object.__setattr__(self, "penalty", NoPenalty())

    def on(self, block: Block, C: float | None = None) -> SoftmaxProblem:
        """Return the same problem on these examples."""
        s = None if self.by_class is None else self.by_class[block.codes]
        return SoftmaxProblem(block.rows, block.codes, self.classes, self.penalty, C or self.C, s, self.fit_intercept)

    @property
    def weight_of_loss(self) -> float:
        """What multiplies the sum of losses in P."""
        return 1.0 if np.isinf(self.C) else self.C

    @cached_property
    def class_weight(self) -> FloatArray:
        """Nₖ: the weight of each class's examples."""
        return self.rows.counts * (np.ones(self.classes) if self.by_class is None else self.by_class)

    @property
    def total_weight(self) -> float:
        """N = Σ sᵢ."""
        return float(self.class_weight.sum())

    @property
    def squares(self) -> FloatArray:
        """Σ ‖x‖² of each class."""
        return self.rows.squares

    @property
    def weighted_squares(self) -> float:
        """Σ sᵢ ‖xᵢ‖²."""
        return float(self.squares.sum() if self.by_class is None else self.squares @ self.by_class)

    @property
    def formula(self) -> str:
        """The objective that is minimised, in one line."""
        nothing = Block(0, _no_rows(self.rows.d), np.empty(0, dtype=np.int64))
        return self.on(nothing).formula

    @cached_property
    def class_sums(self) -> FloatArray:
        """Σ sᵢ xᵢ over the examples of each class: shape (d, K)."""
        sums = np.zeros((self.rows.d, self.classes))
        for block in self.rows:
            sums += self.on(block).class_sums
        return sums

    def evaluate(self, W: FloatArray, b: FloatArray) -> _Point:
        """Return what one pass over the examples says of (W, b)."""
        loss = entropy = wrong = 0.0
        sums, shares = np.zeros_like(W), np.zeros(self.classes)
        for block in self.rows:
            one = self.on(block)
            point = one.evaluate(W, b)
            loss += point.loss
            entropy += float(np.einsum("i,ik->", one.s, entr(point.p)))
            wrong += point.zero_one * one.total_weight
            more, weight = point.expected
            sums += more
            shares += weight
        return _Point(self, W, b, loss, entropy, wrong, sums, shares)

    def product(self, W: FloatArray, b: FloatArray, V: FloatArray) -> FloatArray:
        """(∇²P at (W, b)) V; V has a last row for b if that is free."""
        d, out = self.rows.d, np.zeros_like(V)
        for block in self.rows:
            one = self.on(block)
            p = one.evaluate(W, b).p
            T = one.rows.matmat(np.ascontiguousarray(V[:d]))
            if self.fit_intercept:
                T += V[d]
            T *= p
            T -= p * T.sum(axis=1, keepdims=True)
            T *= self.weight_of_loss * one.s[:, None]
            out[:d] += one.rows.rmatmat(T)
            if self.fit_intercept:
                out[d] += T.sum(axis=0)
        out[:d] += self.penalty.l2 * V[:d]
        return out


@dataclass(frozen=True, eq=False)
class _Point:
    """A point (W, b) and what one pass over the examples says of it."""

    problem: PartedSoftmax
    W: FloatArray
    b: FloatArray
    loss: float  # Σ s (−log p of the own class)
    entropy: float  # Σ s Σ −p log p
    wrong: float  # Σ s over the mistakes
    sums: FloatArray  # Σ s p x
    shares: FloatArray  # Σ s p

    @cached_property
    def objective(self) -> float:
        """P(W, b)."""
        return self.problem.penalty.value(self.W.ravel()) + self.problem.weight_of_loss * self.loss

    @cached_property
    def gradient(self) -> FloatArray:
        """∇P: shape (d, K), and a last row for b if that is free."""
        problem, C = self.problem, self.problem.weight_of_loss
        g = C * (self.sums - problem.class_sums) + problem.penalty.l2 * self.W
        return np.vstack([g, C * (self.shares - problem.class_weight)]) if problem.fit_intercept else g

    @cached_property
    def _mixed(self) -> tuple[float, FloatArray]:
        problem = self.problem
        return repair(problem.class_weight, self.shares) if problem.fit_intercept else (0.0, np.zeros(problem.classes))

    def _dual(self, entropy: float) -> Bound:
        problem, (t, q) = self.problem, self._mixed
        if problem.penalty.l2 == 0:
            return Bound(self.objective, 0.0)
        sums = (1 - t) * self.sums + t * np.outer(problem.class_sums.sum(axis=1), q)
        v = problem.weight_of_loss * (problem.class_sums - sums)
        dual = problem.weight_of_loss * entropy - problem.penalty.conjugate(v.ravel())
        return Bound(self.objective, max(0.0, dual))

    @cached_property
    def bound(self) -> Bound:
        """A bound without another pass: the entropy is concave, so that of a mixture is at least the mixture's."""
        t, q = self._mixed
        return self._dual((1 - t) * self.entropy + t * self.problem.total_weight * float(entr(q).sum()))

    def exact_bound(self) -> Bound:
        """The bound that the point's own probabilities give once every class has its weight."""
        (t, q), problem, entropy = self._mixed, self.problem, 0.0
        for block in problem.rows:
            one = problem.on(block)
            entropy += float(np.einsum("i,ik->", one.s, entr((1 - t) * one.evaluate(self.W, self.b).p + t * q)))
        return self._dual(entropy)


def enclosed_in_passes(problem: PartedSoftmax, W: FloatArray, b: FloatArray) -> tuple[Interval, Interval]:
    """Enclose P(W, b), and the best bound on the optimum that can be shown without a penalty: a few passes."""
    passes, primal = Passes(problem.rows, problem.by_class), Interval(0.0, 0.0)

    def at(part: slice, X: Any) -> SoftmaxDerivatives:
        codes, c = passes.at(part)
        scores, radius = scores_of(X, W, b)
        return softmax_slopes(codes, c, scores, radius.max(axis=1))

    for block in problem.rows:
        primal = primal + enclosed_primal(problem.on(block), W, b)
    look = examine_softmax_in_passes(passes.X, problem.classes, at, intercept=problem.fit_intercept)
    return primal, softmax_bound_below(primal, look, ordinary_in_parts(problem, problem.by_class, np.zeros(1), 0.0))


def _no_rows(d: int) -> Rows:
    return Rows(np.zeros((0, d)))


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
                promised = -0.5 * float(np.einsum("jk,jk->", point.gradient, V))
                new = self._line_search(point, V)
                settled = np.isinf(problem.C) and promised <= 0.1 * method.tol * point.objective
                if new is None:
                    raise no_step_lowers("objective")
                point, k = new, k + 1
                if settled:
                    raise EndOfRun("the last step was negligible; without a penalty no gap is proven")
                self.workspace.keep({"k": k, "W": point.W.tolist(), "b": point.b.tolist()})
        if point is None:
            raise KeyboardInterrupt
        proof = self.last_proof(point)
        ended = settled or self.proves(proof), self.message, self.history
        return SoftmaxResult(point.W, point.b, k, *ended, proof, self.interrupted)

    def _start(self) -> tuple[int, FloatArray, FloatArray]:
        kept = self.workspace.state
        if kept is not None:
            return int(kept["k"]), np.array(kept["W"]), np.array(kept["b"])
        found = SoftmaxNewton(tol=1e-3, max_iter=30).solve(self.sample)
        return 0, found.W, found.b

    def _evaluate(self, W: FloatArray, b: FloatArray) -> _Point:
        point = self.problem.evaluate(W, b)
        self.count_pass(point.bound.relative_gap)
        self.record_pass(self.problem, point.objective, point.loss, point.wrong)
        return point

    def _direction(self, point: _Point, most: int = 60) -> FloatArray:
        """Solve (∇²P) V = −∇P by conjugate gradients until the residual has fallen as far as the gap asks for."""
        gap = point.bound.relative_gap
        accuracy = float(np.clip(0.5 * np.sqrt(self.method.tol / max(gap, 1e-300)), 1e-3, 0.25))
        metric = metric_at(self.sample.evaluate(point.W, point.b))
        residual = -point.gradient
        V, direction = np.zeros_like(residual), metric.solve(residual)
        size = first = float(np.einsum("jk,jk->", residual, direction))
        for _ in range(most):
            bent = self.problem.product(point.W, point.b, direction)
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

    def _line_search(self, point: _Point, V: FloatArray) -> _Point | None:
        """Return the first point along the step, halving it, that lowers the objective enough; None if none does."""
        d, slope, t = self.problem.rows.d, float(np.einsum("jk,jk->", point.gradient, V)), 1.0
        while t > 1e-6 and slope < 0:
            b = point.b + t * V[d] if self.problem.fit_intercept else point.b
            new = self._evaluate(point.W + t * V[:d], b)
            if new.objective <= point.objective + 1e-4 * t * slope:
                return new
            t *= 0.5
        return None
