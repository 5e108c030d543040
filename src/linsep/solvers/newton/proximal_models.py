"""The quadratic models of proximal Newton: g·δ + ½ δᵀHδ + l1 ‖w + δ‖₁, each minimised by coordinate descent.

The intercept is in them: δ_b = −g_b/Σh − x̄·δ is its best value for any δ, which centres the features at
x̄ = Σ hᵢ xᵢ / Σ hᵢ.

- of one plane, with the rows in memory: H = l2·I + Σ hᵢ (xᵢ − x̄)(xᵢ − x̄)ᵀ, hᵢ = cᵢ ℓ''(zᵢ), as such or as a product
- of several classes, with the rows in memory: class by class, each a model of one plane, and all together now and then
- of examples elsewhere, where a pass has added H up
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import blas

from ..._common.types import FloatArray, IntArray
from ..._core import Columns, ColumnSums, Rows, gram_descent
from ...objective.objective import Objective
from ...objective.points import MarginPoint, SoftmaxPoint
from ...penalties import Penalty
from ..sampling import draw
from .preconditioner import ScaledFactor


@dataclass(frozen=True)
class Tuning:
    """The constants of the models, with what each trades; the L1 problems of `benchmarks/race.py` show the cost."""

    #: Up to this many features H is written down.
    gram: int = 2000
    #: H is summed over all examples if that is no more work than so many passes over them; else over as many of them
    #: as that allows, drawn at random, but so many for each feature.
    passes: float = 8.0
    per_feature: int = 20
    #: Rounds over the classes for one step at the most.
    rounds: int = 100
    #: After two rounds or more, as many as cost the same, all classes are moved together: if they have no more weights
    #: than this, and the table of their columns no more numbers.
    patience: int = 2
    largest_leap: int = 800
    largest_table: int = 2 * 10**7
    #: From so many multiplications on H is summed in single precision: it shapes a step, not the answer.
    much_work: int = 10**9


TUNED = Tuning()


#: Gives the step, with slopes off by a share of what they are off by now, or after so many passes.
Minimise = Callable[[float, int], FloatArray]


def models_at(point: Any, caution: float = 0.0, finer: float = 1.0) -> list[tuple[Minimise, float]]:
    """Return what to try at a point, one after the other: how a model is minimised, and the shortest step to take then.

    `finer`: how many times the usual examples stand for all in a Hessian that is summed over a sample.

    Where the curvature at the point says little of what comes, a parabola above the loss does: one that touches it
    at z and, for a loss that is even but for its slope, at −z; at last the steepest of all. `caution` says which share
    of the way to the former is gone at once.
    """
    problem, steepest = point.problem, point.problem.head.max_curvature
    if problem.examples.resident is None:
        return [(partial(summed, problem, point.gram, point.w, point.smooth_gradient), 1e-8)]
    if problem.head.planes is not None:
        return [(partial(_classes, point, p), 1e-8) for p in (point.p, None)]
    h, known = problem.weight_of_loss * point.sums.h, None
    if isinstance(point.sums, ColumnSums):
        known = problem.weight_of_loss * point.sums.moments
    if not np.isfinite(steepest):
        return [(partial(_plane, point, h, known, finer), 1e-12)]
    above = (partial(_plane, point, problem.weight_of_loss * steepest * problem.s, None, np.inf), 1e-12)
    if not h.any():
        return [above]
    wider = partial(_wider, point, h, finer)
    first = partial(_plane, point, h, known, finer) if caution == 0 else partial(wider, caution)
    return [(first, 0.2), *([(partial(wider, 1.0), 0.2)] if caution < 1 else []), above]


def _wider(point: MarginPoint, h: FloatArray, finer: float, share: float, accuracy: float, passes: int) -> FloatArray:
    """Minimise the model whose curvatures lie that share of the way from h to those of a parabola above the loss."""
    problem = point.problem
    z = np.abs(problem.agreements(point.w, point.b))
    rise = problem.loss.slope(z) - problem.loss.slope(-z)
    across = problem.weight_of_loss * problem.s * rise / np.maximum(2.0 * z, 1e-8)
    h = h + share * np.maximum(np.where(z > 1e-8, across, h) - h, 0.0)
    return _plane(point, h, None, finer, accuracy, passes)


def _plane(
    point: MarginPoint, h: FloatArray, moments: FloatArray | None, finer: float, accuracy: float, passes: int
) -> FloatArray:
    """Minimise the model of one plane with the rows in memory, from curvatures h."""
    problem, g = point.problem, point.smooth_gradient
    q, q_b = problem.split(g)
    _, step, step_b = _Centred(problem, h, moments, finer).minimise(point.w, q, q_b, accuracy, passes)
    return problem.join(step, step_b)


def summed(
    problem: Objective, gram: FloatArray, w: FloatArray, g: FloatArray, accuracy: float, passes: int = 1000
) -> FloatArray:
    """Minimise the model of examples elsewhere, of one plane or several, whose Hessian a pass has added up.

    The intercepts are eliminated, then it is coordinate descent on the weights.
    """
    size = w.size
    H = problem.weight_of_loss * gram[: g.size, : g.size]
    H = np.tril(H) + np.tril(H, -1).T
    inner, q, flat = H[:size, :size], g.reshape(-1)[:size].copy(), g.reshape(-1)[size:]
    # Of several classes only differences of intercepts bend the objective.
    right = np.column_stack([H[size:, :size], flat])
    across = np.linalg.lstsq(H[size:, size:], right, rcond=None)[0] if len(flat) else None
    if across is not None:
        inner = inner - H[:size, size:] @ across[:, :size]
        q -= H[:size, size:] @ across[:, size]
    model = _ByGram(np.ascontiguousarray(inner), 1e-14 * np.diag(H)[:size], problem.penalty)
    step = model.minimise(w.reshape(-1), q, accuracy, passes)
    if across is not None:
        step = np.append(step, -across[:, size] - across[:, :size] @ step)
    return step.reshape(g.shape)


def _classes(point: SoftmaxPoint, p: FloatArray | None, accuracy: float, passes: int) -> FloatArray:
    return _Classes(point, p).minimise(accuracy)


class _Centred:
    """The model of one plane, or of one of several, with the rows in memory: its intercept is eliminated.

    `moments`: Σ h x and Σ h x² of the columns, where they are known.
    """

    def __init__(
        self, problem: Objective, h: FloatArray, moments: FloatArray | None = None, finer: float = np.inf
    ) -> None:
        rows, penalty = problem.rows, problem.penalty
        self.total, self.l1 = float(h.sum()), penalty.l1
        self.centred = problem.fit_intercept and self.total > 0
        self.quadratic: _ByGram | _ByColumns
        if _by_columns(rows):
            columns = rows if isinstance(rows, Columns) else rows.turned
            first, second = columns.moments(h) if moments is None else moments
            self.centre = first / self.total if self.centred else np.zeros(problem.d)
            self.quadratic = _ByColumns(columns, penalty, h, self.centre, second)
        else:
            self.centre = rows.rmatvec(h) / self.total if self.centred else np.zeros(problem.d)
            H, nudge = _centred_gram(rows, h, self.centre if self.centred else None, finer)
            # A nudge where nothing bends, as large as the rounding that may have made it so.
            self.quadratic = _ByGram(H, nudge * (np.einsum("jj->j", H) + self.total * self.centre**2), penalty)

    def minimise(
        self, w: FloatArray, q: FloatArray, q_b: float, accuracy: float, passes: int = 1000
    ) -> tuple[float, FloatArray, float]:
        """Return by how much the slopes are off at w, and the step from there."""
        slope_b = q_b / self.total if self.centred else 0.0
        q = q - slope_b * self.total * self.centre
        off = max(violation(q, w, self.quadratic.bend, self.l1), abs(q_b) * self.centred)
        if off == 0:
            return 0.0, np.zeros_like(w), 0.0
        step = self.quadratic.minimise(w, q, accuracy, passes)
        return off, step, -slope_b - float(self.centre @ step)


def _by_columns(rows: Any) -> bool:
    """Whether the model on these rows is left a product: where H would be more work than it saves."""
    return isinstance(rows, Columns) or rows.d > TUNED.gram


def work_of_gram(rows: Rows) -> float:
    """Return how many stored numbers a pass could use, about, in the time of summing H over all rows."""
    if rows.is_sparse:
        lengths = np.diff(rows.X.indptr).astype(np.float64)
        return 0.25 * float(np.einsum("i,i->", lengths, lengths))  # without a BLAS, whose threads would spin
    return rows.n * rows.d**2 / 16.0


def _enough(rows: Rows, finer: float) -> float:
    """Return how many of the examples are to stand for all in a Hessian."""
    allowed = TUNED.passes * rows.stored / max(work_of_gram(rows), 1.0)
    return finer * max(allowed * rows.n, TUNED.per_feature * rows.d)


def violation(q: FloatArray, w: FloatArray, bend: FloatArray, l1: float) -> float:
    """Return the largest change of slope that a step along a single coordinate would make."""
    t = bend * w - q
    return float(np.abs(np.sign(t) * np.maximum(np.abs(t) - l1, 0.0) - bend * w).max(initial=0.0))


class _ByGram:
    """The model with H written down."""

    def __init__(self, H: FloatArray, nudge: FloatArray, penalty: Penalty) -> None:
        self.l1, self.H = penalty.l1, H
        self.bend = np.einsum("jj->j", H)
        self.bend += nudge + np.finfo(float).tiny
        self.bend += penalty.l2

    def minimise(self, start: FloatArray, q: FloatArray, accuracy: float, passes: int) -> FloatArray:
        """Return δ. Where coordinate descent is slow, the support's own minimum is tried between its passes."""
        w, q = start.copy(), q.copy()
        accuracy *= violation(q, w, self.bend, self.l1)
        for _ in range(50):
            if gram_descent(self.H, self.l1, accuracy, 50, q, w) <= accuracy:
                break
            self._leap(q, w)
        return w - start

    def _leap(self, q: FloatArray, w: FloatArray) -> None:
        """Go to the minimum over the weights that are not zero, as far as the first whose sign would turn."""
        support = np.flatnonzero(w != 0)
        if not 0 < len(support) <= TUNED.gram:
            return
        signs = np.sign(w[support])
        step = -ScaledFactor(self.H[np.ix_(support, support)]).solve(q[support] + self.l1 * signs)
        new = w[support] + _until_a_sign_turns(w[support], step) * step
        new[signs * new <= 1e-14 * np.abs(w[support])] = 0.0
        q += (new - w[support]) @ self.H[support]
        w[support] = new


def _until_a_sign_turns(w: FloatArray, step: FloatArray) -> float:
    turning = np.sign(w) * (w + step) < 0
    return min(1.0, float((-w / np.where(turning, step, 1.0))[turning].min(initial=1.0)))


def _centred_gram(
    rows: Rows, h: FloatArray, centre: FloatArray | None, finer: float = np.inf
) -> tuple[FloatArray, float]:
    """Return Σ h (x − x̄)(x − x̄)ᵀ and how far, as a share of the diagonal, rounding may have taken it off.

    Of many examples some stand for all, long ones and those that bend the losses rather than others.
    """
    which, enough = np.flatnonzero(h != 0), _enough(rows, finer)
    if len(which) > 2.0 * enough:
        lengths = rows.squared_norms()
        which, chance = draw(h * (lengths + lengths.mean()), int(enough), np.random.default_rng(len(which)))
        h_all, h = h, np.zeros_like(h)
        h[which] = h_all[which] / chance
        centre = rows.rmatvec(h) / h.sum() if centre is not None else None
    if rows.is_sparse:
        lower = rows.gram(h, which)[:-1, :-1]
        H = lower + lower.T
        np.einsum("jj->j", H)[:] *= 0.5
        if centre is not None:
            H -= np.outer(h.sum() * centre, centre)
        return H, 1e-14
    # In single precision where it is much work: it shapes a step, not the answer. The centre is taken off before.
    single = len(which) * rows.d**2 >= TUNED.much_work
    syrk, dtype = (blas.ssyrk, np.float32) if single else (blas.dsyrk, np.float64)
    H, size, root = np.zeros((rows.d, rows.d)), max(1, 2**21 // rows.d), np.sqrt(h)
    for first in range(0, len(which), size):
        part = which[first : first + size]
        block = rows.X[part] if centre is None else rows.X[part] - centre
        block = (block * root[part, None]).astype(dtype, copy=False)
        H += syrk(1.0, block.T, lower=0).T
    H += np.tril(H, -1).T
    return H, 1e-6 if single else 1e-14


class _ByColumns:
    """The model with H = A diag(h) Aᵀ − c cᵀ + l2·I left as a product: A holds the features, one a row."""

    def __init__(
        self, columns: Columns, penalty: Penalty, h: FloatArray, centre: FloatArray, lengths: FloatArray
    ) -> None:
        self.columns, self.penalty, self.h = columns, penalty, h
        self.c = np.sqrt(h.sum()) * centre
        self.bend = np.maximum(lengths - self.c**2, 0.0) + 1e-14 * lengths + np.finfo(float).tiny + self.penalty.l2

    def minimise(self, w: FloatArray, q: FloatArray, accuracy: float, passes: int) -> FloatArray:
        l1, l2 = self.penalty.l1, self.penalty.l2
        accuracy *= violation(q, w, self.bend, l1)
        delta = np.zeros_like(w)
        changing = dict(delta=delta, t=np.zeros(self.columns.n), along=np.zeros(1))
        for some in range(0, passes, 20):  # in between Python hears of Ctrl-C
            how = dict(l1=l1, l2=l2, accuracy=accuracy, passes=min(20, passes - some))
            if self.columns.descent(self.h, self.c, self.bend, q, w, **how, **changing) <= accuracy:
                break
        return delta


# -- several classes --------------------------------------------------------------------------------------------------


class _Classes:
    """The quadratic model of P at a point: with the curvature of its p, or with half of each example's weight.

    diag(p) − ppᵀ is never more than ½·I, so that the latter lies above the losses wherever one goes.
    """

    def __init__(self, point: SoftmaxPoint, p: FloatArray | None) -> None:
        self.point, self.p = point, p
        problem = point.problem
        self.c = problem.weight_of_loss * problem.s
        self.step, self.step_b = np.zeros_like(point.w), np.zeros_like(point.b)
        self.U = np.zeros_like(point.p)
        self.mean = np.zeros(problem.rows.n)  # Σₗ pᵢₗ uᵢₗ
        bends = 0.5 * np.ones_like(point.p) if p is None else p * (1.0 - p)
        self.parts = [_Centred(problem, self.c * h) for h in bends.T]

    def minimise(self, accuracy: float) -> FloatArray:
        """Return the step, with slopes off by a share of what they are off by now."""
        enough, exactness, waited = 0.0, 0.5, 0
        for done in range(TUNED.rounds if self.p is not None else 1):
            moved = max(self._improve(k, part, exactness) for k, part in enumerate(self.parts))
            enough = enough or accuracy * moved
            exactness = max(0.1 * accuracy, 0.3 * exactness)
            if moved <= enough and done:
                break
            waited += 1
            if self.p is not None and waited > max(TUNED.patience, self._price_of_leap()):
                self._leap(self.p)
                waited = 0
        return np.vstack([self.step, self.step_b]) if self.point.problem.fit_intercept else self.step

    def _improve(self, k: int, part: _Centred, accuracy: float) -> float:
        """Move one class to its own minimum; return by how much slopes were off before."""
        problem, (g, g_b) = self.point.problem, self.point.problem.split(self.point.smooth_gradient)
        q, q_b = g[:, k] + problem.penalty.l2 * self.step[:, k], float(g_b[k])
        if self.p is not None:
            t = self.pull(self.p, k)
            q, q_b = q + problem.rows.rmatvec(t), q_b + float(t.sum())
        off, step, step_b = part.minimise(self.point.w[:, k] + self.step[:, k], q, q_b, accuracy)
        if off == 0:
            return 0.0
        self.step[:, k] += step
        self.step_b[k] += step_b * problem.fit_intercept
        u = problem.rows.matvec(step) + step_b * problem.fit_intercept
        self.U[:, k] += u
        if self.p is not None:
            self.mean += self.p[:, k] * u
        return off

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
        if size > TUNED.largest_leap or size * problem.rows.n > TUNED.largest_table:
            return
        columns = problem.rows.columns(features).dense(np.arange(problem.rows.n))
        k_all = k
        if problem.fit_intercept:  # one more column, of ones, for every class
            columns = np.column_stack([columns, np.ones(len(columns))])
            place = np.append(place, np.full(problem.classes, len(features)))
            k_all = np.append(k, np.arange(problem.classes))
        T, g = self.pull(p, slice(None)), self.point.smooth_gradient
        slopes = g[j, k] + problem.penalty.l2 * self.step[j, k] + problem.penalty.l1 * np.sign(now[j, k])
        if problem.fit_intercept:
            slopes = np.append(slopes, g[-1])
        slopes += (columns.T @ T)[place, k_all]
        V = -self._solve(columns, place, k_all, p, slopes, len(j))
        t = _until_a_sign_turns(now[j, k], V[: len(j)])
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
