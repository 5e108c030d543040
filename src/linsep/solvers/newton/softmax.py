"""Newton's method for the softmax problem, to a proven duality gap.

Each step solves (∇²P) V = −∇P by conjugate gradients. Few features: the inverses of the Hessian's blocks on the
diagonal, one a class, C Σ sᵢ pᵢₖ(1 − pᵢₖ) xᵢxᵢᵀ + l2·I, precondition, and serve several steps; many: the diagonal does.
A step's scores are a by-product of the conjugate gradients, so that the line search needs no product with the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.enclosure import Interval
from ...arithmetic.redundancy import Redundancy
from ...objective.duality import Bound
from ...objective.softmax import SoftmaxPoint, SoftmaxProblem, softmax_bound
from .._checks import check_count
from ..history import History
from ..result import Observer
from ..run import EndOfRun, GapRun, no_step_lowers, words_of
from .preconditioner import FACTORED, Cholesky

FloatArray = NDArray[np.float64]

__all__ = ["SoftmaxNewton", "SoftmaxResult", "metric_at"]

#: Problems with at most this much work in a product are solved far beyond tol: it costs nothing.
SMALL = 200_000


@dataclass(frozen=True)
class SoftmaxResult:
    """The outcome of a run: as `linsep.solvers.Result`, with one column of W and one entry of b for each class."""

    W: FloatArray
    b: FloatArray
    n_iter: int
    converged: bool
    message: str
    history: History
    proof: Bound
    interrupted: bool = False
    enclosed: tuple[Interval, Interval] | None = None
    redundancy: Redundancy | None = None


@dataclass(frozen=True)
class SoftmaxNewton:
    """Newton's method with conjugate gradients and a line search, stopped by the relative duality gap.

    Parameters
    ----------
    tol : float
        The relative duality gap at which to stop.
    max_iter : int
        Newton steps at the most.

    Examples
    --------
    >>> from linsep._core import Rows
    >>> problem = SoftmaxProblem(Rows(np.eye(3)), np.arange(3), 3, C=1.0)
    >>> SoftmaxNewton().solve(problem).W.round(3)
    array([[ 0.49 , -0.245, -0.245],
           [-0.245,  0.49 , -0.245],
           [-0.245, -0.245,  0.49 ]])
    """

    tol: float = 1e-4
    max_iter: int = 100
    name = "softmax_newton"

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
        if problem.penalty.l1 > 0:
            raise ValueError(f"solver {self.name!r} cannot minimise an L1 penalty; use 'softmax_proximal_newton'")
        return _Run(self, problem, observer).result(start)


class _Run(GapRun):
    """One run of Newton's method."""

    def __init__(self, method: SoftmaxNewton, problem: SoftmaxProblem, observer: Observer | None) -> None:
        super().__init__(method, observer)
        self.problem = problem
        self.metric: _Blocks | _Diagonal | None = None
        self.served = 0
        small = problem.rows.stored * problem.classes <= SMALL
        self.goal = min(method.tol, 1e-11) if small else method.tol

    def result(self, start: tuple[FloatArray, FloatArray] | None) -> SoftmaxResult:
        """Step until the gap is proven small."""
        problem, method, K = self.problem, self.method, self.problem.classes
        W, b = (np.zeros((problem.rows.d, K)), np.zeros(K)) if start is None else start
        # Without a penalty only points of no gradient at all have a dual value: no gap tells when to stop.
        unbounded, settled = problem.penalty.l2 == 0, False
        point, k = problem.evaluate(*centred(W, b)), 0
        with self.until_it_ends():
            for k in range(method.max_iter + 1):
                proof = softmax_bound(point)
                norm = _dot(point.smooth_gradient, point.smooth_gradient) ** 0.5
                self.record(k, point, norm / (problem.weight_of_loss * problem.total_weight))
                if proof.relative_gap <= self.goal:
                    break
                if k:
                    self.tell(k, point.w, point.b, point.objective, join=problem.planes)
                if k == method.max_iter:
                    break
                V, scores = self._direction(point, self._accuracy(proof))
                promised = -0.5 * _dot(point.smooth_gradient, V)
                new = self._line_search(point, V, scores) or self._nearer(point, V, proof)
                settled = unbounded and promised <= 0.1 * method.tol * point.objective
                if new is None:
                    raise no_step_lowers("objective")
                point = new
                if settled and promised <= 0.1 * self.goal * point.objective:
                    k += 1
                    raise EndOfRun("the last step was negligible")
        proof = softmax_bound(point)
        proven = self.proves(proof)
        if settled:
            self.message += "; without a penalty no gap is proven"
        if proven:
            self.message = words_of(proof)
        ended = proven or settled, self.message, self.history
        return SoftmaxResult(point.w, point.b, k, *ended, proof, self.interrupted)

    def _accuracy(self, proof: Bound) -> float:
        """Return how far the residual is to fall: no further than takes the gap below the goal."""
        return float(np.clip(0.5 * np.sqrt(self.goal / max(proof.relative_gap, 1e-300)), 1e-3, 0.25))

    def _direction(self, point: SoftmaxPoint, accuracy: float) -> tuple[FloatArray, FloatArray]:
        """Return the Newton step and its scores, in a metric that is renewed when it has served long enough."""
        if self.metric is None or self.served >= self.metric.worth:
            self.metric, self.served = metric_at(point), 0
        V, scores, iterations = _conjugate_gradients(point, self.metric, accuracy)
        self.served += iterations
        return V, scores

    def _line_search(self, point: SoftmaxPoint, V: FloatArray, U: FloatArray) -> SoftmaxPoint | None:
        """Return the first point along the step V, halving it, that lowers the objective enough; None if none does."""
        problem, d = self.problem, self.problem.rows.d
        slope = _dot(point.smooth_gradient, V)
        t = 1.0
        while t > 1e-10:
            W, b = centred(point.w + t * V[:d], point.b + t * V[d] if problem.fit_intercept else point.b)
            # Cheaply first, from the scores of the step; the point itself is evaluated anew.
            if SoftmaxPoint(problem, W, b, point.scores + t * U).objective <= point.objective + 1e-4 * t * slope:
                new = problem.evaluate(W, b)
                return new if new.objective < point.objective else None
            t *= 0.5
        return None

    def _nearer(self, point: SoftmaxPoint, V: FloatArray, proof: Bound) -> SoftmaxPoint | None:
        """Return the end of a step whose gain is lost in the rounding of the objective, if the gap is smaller there.

        The gap goes with the gradient, which may be large where the objective is as flat as a float can tell: it is if
        some columns are huge.
        """
        if proof.relative_gap <= self.method.tol:
            return None
        d, intercept = self.problem.rows.d, self.problem.fit_intercept
        new = self.problem.evaluate(*centred(point.w + V[:d], point.b + V[d] if intercept else point.b))
        new = _balanced(new) if intercept else new
        smaller = softmax_bound(new).gap < 0.9 * proof.gap
        return new if smaller and new.objective <= point.objective * (1 + 1e-9) else None


def _balanced(point: SoftmaxPoint) -> SoftmaxPoint:
    """Return the point with intercepts that give every class its weight, as far as two Newton steps on them alone do.

    Otherwise probabilities would have to be mixed until they do, and those of huge rows with the others.
    """
    problem = point.problem
    for _ in range(2):
        weighted = problem.s[:, None] * point.p
        given = weighted.sum(axis=0)
        hessian = np.diag(given) - weighted.T @ point.p
        shift = np.linalg.lstsq(hessian, problem.class_totals - given)[0]
        shift -= shift.mean()
        point = SoftmaxPoint(problem, point.w, point.b + shift, point.scores + shift)
    return problem.evaluate(point.w, point.b)


def centred(W: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return W and b less their mean over the classes: the same probabilities, and no larger penalty."""
    return W - W.mean(axis=1, keepdims=True), b - b.mean()


class _Blocks:
    """The inverses of the Hessian's blocks on the diagonal, one a class, from the rows that bend most."""

    def __init__(self, point: SoftmaxPoint) -> None:
        problem, p, d = point.problem, point.p, point.problem.rows.d
        size = d + problem.fit_intercept
        # They shape a step, not the answer: where they are large, single precision will do.
        self.dtype = np.float64 if problem.classes * size**2 <= 10**6 else np.float32
        self.inverses = np.empty((problem.classes, size, size), dtype=self.dtype)
        work = problem.classes * size**3
        curvature, lengths = p * (1.0 - p), problem.rows.squared_norms()
        for k in range(problem.classes):
            if k and np.array_equal(curvature[:, k], curvature[:, k - 1]):  # at zero, say, where all classes are alike
                self.inverses[k] = self.inverses[k - 1]
                continue
            h = problem.s * curvature[:, k]
            rows = _heaviest(h, lengths, most=max(1000, 2 * d))
            work += len(rows) * size**2
            block = problem.rows.gram(problem.weight_of_loss * h, rows)[:size, :size]
            block[np.arange(d), np.arange(d)] += problem.penalty.l2
            self.inverses[k] = self._inverse(block)
        #: So many iterations of conjugate gradients cost about twice what this did.
        self.worth = work / (2 * problem.rows.stored * problem.classes)

    @staticmethod
    def _inverse(block: FloatArray) -> FloatArray:
        """Return the inverse of a symmetric matrix of which the lower triangle is filled."""
        diagonal = np.einsum("jj->j", block)
        # Columns of one scale, and a nudge for directions in which nothing bends.
        scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        block *= scale[:, None]
        block *= scale
        inverse = Cholesky(block).inverse()
        inverse += np.tril(inverse, -1).T
        inverse *= scale[:, None]
        inverse *= scale
        return np.asarray(inverse)

    def solve(self, G: FloatArray) -> FloatArray:
        """Return M⁻¹ G, class by class."""
        columns = np.matmul(self.inverses, G.T.astype(self.dtype)[:, :, None])
        return np.ascontiguousarray(columns[:, :, 0].T, dtype=np.float64)


def _heaviest(h: FloatArray, lengths: FloatArray, most: int) -> NDArray[np.int64]:
    """Return the rows that bend, at most so many, ascending: those that bend much rather, and long ones."""
    if len(h) <= most:
        return np.flatnonzero(h)
    weight = h * (lengths + (lengths.mean() or 1.0))
    rows = np.flatnonzero(weight > 1e-3 * weight.max())
    if len(rows) > most:
        rows = np.sort(rows[np.argpartition(weight[rows], -most)[-most:]])
    return rows


class _Diagonal:
    """The diagonal of the Hessian."""

    worth = 4.0

    def __init__(self, point: SoftmaxPoint) -> None:
        problem, p = point.problem, point.p
        h = problem.weight_of_loss * problem.s[:, None] * p * (1.0 - p)
        X = problem.rows.X
        squares = X.multiply(X) if problem.rows.is_sparse else X**2
        diagonal = np.asarray(squares.T @ h) + problem.penalty.l2
        if problem.fit_intercept:
            diagonal = np.vstack([diagonal, h.sum(axis=0)])
        self.diagonal = np.where(diagonal > 0, diagonal, 1.0)

    def solve(self, G: FloatArray) -> FloatArray:
        """Return D⁻¹ G."""
        return G / self.diagonal


def metric_at(point: SoftmaxPoint) -> _Blocks | _Diagonal:
    """Return what preconditions a step from a point."""
    return _Blocks(point) if point.problem.rows.d <= FACTORED else _Diagonal(point)


class _Quadratic:
    """The model of P around a point that a Newton step minimises: its products with the Hessian."""

    def __init__(self, point: SoftmaxPoint) -> None:
        self.problem, self.p = point.problem, point.p
        self.weight = self.problem.weight_of_loss * self.problem.s[:, None]

    def scores(self, V: FloatArray) -> FloatArray:
        """The change of the scores along V."""
        d = self.problem.rows.d
        U = self.problem.rows.matmat(V[:d])
        if self.problem.fit_intercept:
            U += V[d]
        return U

    def bend(self, V: FloatArray, U: FloatArray, out: FloatArray) -> None:
        """(∇²P) V = Σ C s (p ∘ u − p (p·u)) xᵀ + l2·V, into `out`, from V and its scores."""
        d, p = self.problem.rows.d, self.p
        T = p * U
        T -= p * T.sum(axis=1, keepdims=True)
        T *= self.weight
        self.problem.rows.rmatmat(T, out[:d])
        out[:d] += self.problem.penalty.l2 * V[:d]
        if self.problem.fit_intercept:
            out[d] = T.sum(axis=0)


def _conjugate_gradients(
    point: SoftmaxPoint, metric: _Blocks | _Diagonal, accuracy: float, most: int = 100
) -> tuple[FloatArray, FloatArray, int]:
    """Solve (∇²P) V = −∇P until the residual, in the metric, has fallen to `accuracy`.

    Returns V, the scores that go with it, and how many iterations it took.
    """
    model = _Quadratic(point)
    residual = -point.smooth_gradient
    V, scores, bent = np.zeros_like(residual), np.zeros_like(point.p), np.empty_like(residual)
    direction = metric.solve(residual)
    size = first = _dot(residual, direction)
    iterations = 0
    while iterations < most:
        iterations += 1
        U = model.scores(direction)
        model.bend(direction, U, bent)
        if not (curvature := _dot(direction, bent)) > 0:
            break  # nothing bends this way
        t = size / curvature
        V += t * direction
        scores += t * U
        bent *= t
        residual -= bent
        towards = metric.solve(residual)
        new = _dot(residual, towards)
        if new <= accuracy**2 * first:
            break
        direction *= new / size
        direction += towards
        size = new
    return V, scores, iterations


def _dot(A: FloatArray, B: FloatArray) -> float:
    return float(np.einsum("jk,jk->", A, B))
