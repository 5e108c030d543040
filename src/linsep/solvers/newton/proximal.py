"""Proximal Newton with working sets: smooth losses with an L1 penalty or an elastic net, to a proven duality gap.

Most weights of the answer are zero. So the problem is solved on a working set of features: those that are not zero and
those whose slopes press hardest against the penalty's box |Σ αᵢ yᵢ xᵢⱼ| ≤ l1. One look at all features then proves how
far from the optimum that is, drops the features that are zero for certain, and picks the next set.

On a working set each step minimises the quadratic model of the losses plus the penalty,

    g·δ + ½ δᵀHδ + l1 ‖w + δ‖₁,      H = l2·I + Σ hᵢ (xᵢ − x̄)(xᵢ − x̄)ᵀ,      hᵢ = cᵢ ℓ''(zᵢ),

by coordinate descent. The intercept is in it: δ_b = −g_b/Σh − x̄·δ is its best value for any δ, which centres the
features at x̄ = Σ hᵢ xᵢ / Σ hᵢ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import blas

from ..._core import Rows, gram_descent
from ...certificates.claim import balancing_shift
from ...objective.duality import Bound, bound, scaled_dual
from ...objective.problem import Point, Problem
from ...penalties import Penalty
from .._checks import check_count
from ..contract import check_needs
from ..result import Observer, Result, Start
from ..run import GapRun, no_step_lowers
from .preconditioner import Cholesky

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

__all__ = ["ProximalNewton", "quadratic_model", "violation"]

#: With this many features or fewer all of them are worked on.
FEW = 256
#: The first working set.
FIRST = 128
#: Where the steepest slope at w = 0 is LEAP times the penalty's, the run comes by way of a C that is less, by STRONGER.
LEAP, STRONGER = 60.0, 10.0
#: Where it is so many times the penalty's there is as good as none, and the way would have no end.
NO_PENALTY = 1e30
#: Newton steps on one working set at the most, before all features are looked at again.
STEPS = 2
#: Up to this many features the model's Hessian is written down; of sparse data it is more work than it saves.
GRAM, GRAM_OF_SPARSE = 2000, 300


@dataclass(frozen=True)
class ProximalNewton:
    """Proximal Newton on working sets, stopped by the relative duality gap: for smooth losses with an L1 penalty.

    Parameters
    ----------
    tol : float
        The relative duality gap at which to stop.
    max_iter : int
        Newton steps at the most, over all working sets.

    Examples
    --------
    >>> from linsep import LinearClassifier
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [3.0, 0.0], [4.0, 1.0]], [0, 0, 1, 1]
    >>> model = LinearClassifier("logistic", penalty="l1", C=2.0).fit(X, y)
    >>> model.history_.solver, float(model.coef_[0, 1]), model.certificate_.proven
    ('proximal_newton', 0.0, True)
    """

    tol: float = 1e-4
    max_iter: int = 1000
    name = "proximal_newton"
    needs = frozenset({"convex", "smooth", "curvature", "conjugate", "l1"})
    helped_by = frozenset({"merging", "centring", "sparse", "scaling"})

    def __post_init__(self) -> None:
        check_count("max_iter", self.max_iter)

    def solve(
        self, problem: Problem, *, start: Start | None = None, seed: int = 0, observer: Observer | None = None
    ) -> Result:
        """Minimise; nothing is random, so the seed is of no consequence."""
        check_needs(self, problem)
        return _Run(self, problem, observer).result(start)


class _Run(GapRun):
    """One run: the point, how many steps led to it, and the features that may still matter."""

    def __init__(self, method: ProximalNewton, problem: Problem, observer: Observer | None) -> None:
        super().__init__(method, observer)
        self.problem, self.k = problem, 0
        self.w, self.b = np.zeros(problem.rows.d), 0.0
        self.alive = np.ones(problem.rows.d, dtype=bool)
        self.reach: FloatArray | None = None  # how far each slope can move, for a gap of one

    def result(self, start: Start | None) -> Result:
        """Solve on one working set after the other until the gap of the whole problem is proven small."""
        best: tuple[Point, Bound] | None = None
        with self.until_it_ends():
            self._begin(start)
            point = self._evaluate()
            self.record(self.k, point)
            while True:
                proof = bound(point)
                if best is None or proof.gap < best[1].gap:
                    best = point, proof
                self.end_if_proven(proof)
                point = self._improve(point, proof)
        point, proof = self._last(best)
        return self.outcome(point.w, point.b, self.k, proof)

    def _begin(self, start: Start | None) -> None:
        if start is not None:
            self.w, self.b = start.w.astype(np.float64), float(start.b) if self.problem.fit_intercept else 0.0
        elif self.problem.fit_intercept:
            shift = balancing_shift(self.problem, self.w, 0.0)
            self.b = shift if np.isfinite(shift) else 0.0
        if start is None and LEAP < self._press() < NO_PENALTY:
            # Far from w = 0 the slopes there say little of which features count: come by way of a stronger penalty.
            nearer = replace(self.problem, C=self.problem.C / STRONGER)
            found = ProximalNewton(tol=0.1, max_iter=50).solve(nearer)
            self.w, self.b = found.w, found.b

    def _press(self) -> float:
        """Return how many times the steepest slope at the start exceeds what the penalty holds at zero."""
        gradient = self.problem.weight_of_loss * self._evaluate().sums.gradient
        return float(np.abs(gradient).max(initial=0.0)) / self.problem.penalty.l1

    def _last(self, best: tuple[Point, Bound] | None) -> tuple[Point, Bound]:
        """Return the best point, the current one included."""
        if best is not None and self.b == best[0].b and np.array_equal(self.w, best[0].w):
            return best
        point = self._evaluate()
        last = point, bound(point)
        return last if best is None or last[1].gap < best[1].gap else best

    def _evaluate(self) -> Point:
        return self.problem.evaluate(self.w, self.b, split=self.problem.fit_intercept)

    # -- working sets -----------------------------------------------------------------------------------------------

    def _improve(self, point: Point, proof: Bound) -> Point:
        """Solve on the next working set; return the new point of the whole problem."""
        self._screen(point, proof)
        chosen = self._working_set(point)
        whole = len(chosen) == self.problem.rows.d
        part = self.problem if whole else self.problem.with_rows(self.problem.rows.columns(chosen))
        # A set that leaves features out need not be solved further than these may be wrong.
        goal = self.method.tol if whole else max(0.5 * self.method.tol, 0.2 * proof.relative_gap)
        steps = _newton(part, self.w[chosen], self.b, goal)
        for at in steps if whole else islice(steps, STEPS):
            self.w = np.zeros_like(self.w)
            self.w[chosen] = at.w
            self.b = at.b
            self.k += 1
            self.record(self.k, at)
            self.tell(self.k, self.w, self.b, at.objective)
            self.end_if_exhausted(self.k)
        return self._evaluate()

    def _screen(self, point: Point, proof: Bound) -> None:
        """Drop the features that are zero at the optimum for certain.

        D bends by at least 1/(L cᵢ) along αᵢ, so that no slope is further from its value at the optimum than
        √(2 L gap Σ cᵢ xᵢⱼ²); one that cannot reach the box has weight zero.
        """
        problem, L = self.problem, self.problem.loss.max_curvature
        if not np.isfinite(L) or problem.rows.d <= FEW:
            return
        if self.reach is None:
            s = np.ones(problem.rows.n) if problem.sample_weight is None else problem.sample_weight
            self.reach = np.sqrt(2.0 * L * problem.weight_of_loss * problem.rows.square_rmatvec(s))
        v, _, _ = scaled_dual(point)
        self.alive &= np.abs(v) + np.sqrt(max(proof.gap, 0.0)) * self.reach * (1 + 1e-9) >= problem.penalty.l1

    def _working_set(self, point: Point) -> IntArray:
        """Return the features that are not zero, and as many that press hardest against the box, ascending."""
        d = self.problem.rows.d
        if d <= FEW:
            return np.arange(d)
        used = self.w != 0
        size = max(FIRST, 2 * int(used.sum()))
        press = np.where(self.alive, np.abs(point.sums.gradient), -1.0)
        press[used] = np.inf
        size = min(size, int((press >= 0).sum()))
        if 2 * size > d:
            return np.arange(d)
        return np.sort(np.argpartition(-press, size - 1)[:size]) if size else np.flatnonzero(used)


# -- Newton's method on one working set -------------------------------------------------------------------------------


def _newton(problem: Problem, w: FloatArray, b: float, goal: float) -> Iterator[Point]:
    """Yield the points that proximal Newton steps lead to, until the problem's own gap is `goal` at most."""
    point = _at(problem, w, b)
    accuracy, least, lowest, without = 0.1, np.inf, np.inf, 0
    while (proof := bound(point)).relative_gap > goal:
        without = 0 if proof.gap < least or proof.primal < lowest * (1 - 1e-14) else without + 1
        least, lowest = min(least, proof.gap), min(lowest, proof.primal)
        new = _step(point, accuracy)
        if new is None or without > 5:
            raise no_step_lowers("gap")
        point, accuracy = new, max(1e-3, 0.3 * accuracy)
        yield point


def _at(problem: Problem, w: FloatArray, b: float) -> Point:
    return problem.evaluate(w, b, split=problem.fit_intercept, curvature=True)


def _step(point: Point, accuracy: float) -> Point | None:
    """Return the point that a proximal Newton step leads to; None if no step lowers P."""
    problem, L = point.problem, point.problem.loss.max_curvature
    h = problem.weight_of_loss * point.sums.h
    if not np.isfinite(L):
        return _line_search(point, *_direction(point, h, accuracy), 1e-12)
    if h.any():
        new = _line_search(point, *_direction(point, h, accuracy), 1e-4)
        if new is not None:
            return new
    # The curvature here says little of what comes: take that of the steepest parabola above the losses.
    s = np.ones_like(h) if problem.sample_weight is None else problem.sample_weight
    return _line_search(point, *_direction(point, problem.weight_of_loss * L * s, accuracy), 1e-12)


def _line_search(point: Point, step: FloatArray, step_b: float, shortest: float) -> Point | None:
    """Return the first point along the step, halving it, that lowers P enough; None if none does."""
    if not (np.isfinite(step).all() and np.isfinite(step_b)) or not (step.any() or step_b):
        return None
    problem, g = point.problem, point.smooth_gradient
    d, l1 = problem.rows.d, problem.penalty.l1
    slope = float(g[:d] @ step) + l1 * float(np.abs(point.w + step).sum() - np.abs(point.w).sum())
    if problem.fit_intercept:
        slope += float(g[d]) * step_b
    # The last steps lower P by less than its rounding error, and the gap still by much.
    noise, t = 1e-14 * abs(point.objective), 1.0
    while t > shortest:
        new = _at(problem, point.w + t * step, point.b + t * step_b)
        if new.objective <= point.objective + 1e-4 * t * slope + noise:
            return new
        t *= 0.5
    return None


def _direction(point: Point, h: FloatArray, accuracy: float) -> tuple[FloatArray, float]:
    """Return the step to the minimum of the quadratic model, up to a share of what its slopes are off by now."""
    problem, d = point.problem, point.problem.rows.d
    total = float(h.sum())
    centred = problem.fit_intercept and total > 0
    centre = problem.rows.rmatvec(h) / total if centred else np.zeros(d)
    slope_b = float(point.smooth_gradient[d]) / total if centred else 0.0
    q = point.smooth_gradient[:d] - slope_b * total * centre
    step = quadratic_model(problem.rows, problem.penalty, point.w, h, centre).minimise(q, accuracy)
    return step, -slope_b - float(centre @ step)


def quadratic_model(
    rows: Rows, penalty: Penalty, w: FloatArray, h: FloatArray, centre: FloatArray
) -> _ByGram | _ByColumns:
    """Return q·δ + ½ δᵀHδ + l1 ‖w + δ‖₁ with H = l2·I + Σ hᵢ (xᵢ − x̄)(xᵢ − x̄)ᵀ, to be minimised for any q."""
    model = _ByGram if rows.d <= (GRAM_OF_SPARSE if rows.is_sparse else GRAM) else _ByColumns
    return model(rows, penalty, w, h, centre)


def violation(q: FloatArray, w: FloatArray, bend: FloatArray, l1: float) -> float:
    """Return the largest change of slope that a step along a single coordinate would make."""
    t = bend * w - q
    return float(np.abs(np.sign(t) * np.maximum(np.abs(t) - l1, 0.0) - bend * w).max(initial=0.0))


class _ByGram:
    """The model with H written down."""

    def __init__(self, rows: Rows, penalty: Penalty, w: FloatArray, h: FloatArray, centre: FloatArray) -> None:
        self.w, self.l1 = w, penalty.l1
        H, nudge = _centred_gram(rows, h, centre)
        diagonal = np.einsum("jj->j", H)
        # A nudge where nothing bends, as large as the rounding that may have made it so.
        diagonal += nudge * (diagonal + h.sum() * centre**2) + np.finfo(float).tiny
        diagonal += penalty.l2
        self.H, self.bend = H, diagonal

    def minimise(self, q: FloatArray, accuracy: float) -> FloatArray:
        """Return δ. Where coordinate descent is slow, the support's own minimum is tried between its passes."""
        w, q = self.w.copy(), q.copy()
        accuracy *= violation(q, w, self.bend, self.l1)
        for _ in range(50):
            if gram_descent(self.H, self.l1, accuracy, 50, q, w) <= accuracy:
                break
            self._leap(q, w)
        return w - self.w

    def _leap(self, q: FloatArray, w: FloatArray) -> None:
        """Go to the minimum over the weights that are not zero, as far as the first whose sign would turn."""
        support = np.flatnonzero(w)
        if not 0 < len(support) <= GRAM:
            return
        H = self.H[np.ix_(support, support)]
        scale = 1.0 / np.sqrt(np.einsum("jj->j", H))
        factor = Cholesky(H * scale[:, None] * scale)
        signs = np.sign(w[support])
        step = -scale * factor.solve(scale * (q[support] + self.l1 * signs))
        turning = signs * (w[support] + step) < 0
        t = min(1.0, float((-w[support] / np.where(turning, step, 1.0))[turning].min(initial=1.0)))
        new = w[support] + t * step
        new[signs * new <= 1e-14 * np.abs(w[support])] = 0.0
        q += (new - w[support]) @ self.H[support]
        w[support] = new


def _centred_gram(rows: Rows, h: FloatArray, centre: FloatArray) -> tuple[FloatArray, float]:
    """Return Σ h (x − x̄)(x − x̄)ᵀ and how far, as a share of the diagonal, rounding may have taken it off."""
    which = np.flatnonzero(h)
    if rows.is_sparse:
        lower = rows.gram(h, which)[:-1, :-1]
        H = np.tril(lower) + np.tril(lower, -1).T
        H -= h.sum() * np.outer(centre, centre)
        return np.ascontiguousarray(H), 1e-14
    # In single precision where it is much work: it shapes a step, not the answer. The centre is taken off before.
    single = len(which) * rows.d**2 >= 10**9
    syrk, dtype = (blas.ssyrk, np.float32) if single else (blas.dsyrk, np.float64)
    H, size, root = np.zeros((rows.d, rows.d)), max(1, 2**21 // rows.d), np.sqrt(h)
    for first in range(0, len(which), size):
        part = which[first : first + size]
        block = ((rows.X[part] - centre) * root[part, None]).astype(dtype, copy=False)
        H += syrk(1.0, block.T, lower=0).T
    H += np.tril(H, -1).T
    return H, 1e-6 if single else 1e-14


class _ByColumns:
    """The model with H = A Aᵀ − c cᵀ + l2·I left as a product: A holds the features times √h, one a row."""

    def __init__(self, rows: Rows, penalty: Penalty, w: FloatArray, h: FloatArray, centre: FloatArray) -> None:
        self.w, self.penalty = w, penalty
        self.A = _scaled_columns(rows, np.sqrt(h))
        self.c = np.sqrt(h.sum()) * centre
        lengths = self.A.squared_norms()
        self.bend = np.maximum(lengths - self.c**2, 0.0) + 1e-14 * lengths + np.finfo(float).tiny + self.penalty.l2

    def minimise(self, q: FloatArray, accuracy: float) -> FloatArray:
        """Return δ."""
        accuracy *= violation(q, self.w, self.bend, self.penalty.l1)
        delta, t, along = np.zeros_like(self.w), np.zeros(self.A.d), np.zeros(1)
        for _ in range(50):  # in between Python hears of Ctrl-C
            changed = self.A.column_descent(
                self.c,
                self.bend,
                q,
                self.w,
                l1=self.penalty.l1,
                l2=self.penalty.l2,
                accuracy=accuracy,
                passes=20,
                delta=delta,
                t=t,
                along=along,
            )
            if changed <= accuracy:
                break
        return delta


def _scaled_columns(rows: Rows, root: FloatArray) -> Rows:
    """Return the features as rows, each example's entry times its root."""
    if not rows.is_sparse:
        return Rows(np.ascontiguousarray(rows.X.T) * root.astype(rows.X.dtype))
    columns = rows.X.tocsc()
    data = columns.data * root[columns.indices].astype(columns.dtype)
    turned = (data, columns.indices, columns.indptr)
    return Rows(sparse.csr_array(turned, shape=(rows.d, rows.n)), tidy=True)
