"""The sum of losses with gradient and Hessian, descents on a quadratic model of it, and the sum of conjugates."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import blas

from ..._common.structure import is_sparse
from ..._common.types import FloatArray, IntArray
from .products import matvec, rmatvec
from .rows import dense_row


def evaluate(
    X: Any,
    y: FloatArray,
    weight: FloatArray | None,
    loss: Any,
    w: FloatArray,
    b: float,
    split: bool,
    u: FloatArray,
    h: FloatArray | None,
    sums: FloatArray,
    threads: int = 1,
) -> None:
    """U = s ℓ'(z) y and h = s ℓ''(z) of each example.

    In `sums` go Σ u by class, Σ s ℓ(z), Σ s over the mistakes, and (by class if `split`) the gradient if there is room.
    """
    g = np.empty((X.shape[0], 1))
    matvec(X, w[None, :], g)
    z = y * (g[:, 0] + b)
    s = np.ones(len(y)) if weight is None else weight
    u[:] = s * loss.slope(z) * y
    if h is not None:
        h[:] = s * loss.curvature(z)
    positive = (y > 0) if split else np.ones(len(y), dtype=bool)
    sums[:4] = u[positive].sum(), u[~positive].sum(), s @ loss.value(z), s[~(z > 0)].sum()
    if len(sums) == 4:
        return
    rmatvec(X, np.where(positive, u, 0.0), sums[4 : 4 + X.shape[1]])
    if split:
        rmatvec(X, np.where(positive, 0.0, u), sums[4 + X.shape[1] :])


def conjugate_sum(
    y: FloatArray,
    weight: FloatArray | None,
    loss: Any,
    u: FloatArray,
    positive: float,
    negative: float,
    threads: int = 1,
) -> float:
    """Σ s ℓ*(a) with a = u y / s, scaled by `positive` or `negative` according to the class."""
    s = np.ones(len(y)) if weight is None else weight
    used = s > 0
    a = (u * y * np.where(y > 0, positive, negative))[used] / s[used]
    return float(s[used] @ loss.conjugate(a))


def mixed_values(
    Z: FloatArray, weight: FloatArray | None, loss: Any, shares: FloatArray, out: FloatArray, threads: int = 1
) -> None:
    """Out = Σ s ℓ(z) of each mixture z = Σ shares · rows of Z; a row of `shares` for each."""
    s = np.ones(Z.shape[1]) if weight is None else weight
    out[:] = [s @ loss.value(some @ Z) for some in shares]


def mixed_conjugates(
    U: FloatArray,
    weight: FloatArray | None,
    loss: Any,
    shares: FloatArray,
    safe: FloatArray,
    low: float,
    high: float,
    needs: FloatArray,
    out: FloatArray,
    threads: int = 1,
) -> None:
    """Out = Σ s ℓ*(−u) of each mixture u of the rows of U, brought between `low` and `high`.

    That is done by the least part of the mixture `safe`, which lies there, that will do; `needs` says how much.
    """
    s = np.ones(U.shape[1]) if weight is None else weight
    used = s > 0
    for k, (some, there) in enumerate(zip(shares @ U, safe @ U, strict=True)):
        beyond = np.maximum(low - some, some - high)
        out_there = beyond > 0
        way = np.maximum(np.abs(there - some), beyond)[out_there]
        needs[k] = np.max(beyond[out_there] / way, initial=0.0)
        u = np.clip((1.0 - needs[k]) * some + needs[k] * there, low, high)
        out[k] = s[used] @ loss.conjugate(-u[used])


def fold_losses(
    Z: FloatArray,
    y: FloatArray,
    weight: FloatArray | None,
    loss: Any,
    held_out_of: IntArray,
    slope: FloatArray,
    U: FloatArray,
    values: FloatArray,
    threads: int = 1,
) -> None:
    """Of the planes of all folds, whose agreements are the rows of Z: what rows say that a fold does not hold out.

    slope = ℓ'(z), and U = s y ℓ'(z) with a column for each plane, zero on rows that are held out; values = Σ s ℓ(z).
    """
    s = np.ones(Z.shape[1]) if weight is None else weight
    for k, z in enumerate(Z):
        kept = held_out_of != k
        slope[k] = np.where(kept, loss.slope(z), 0.0)
        U[:, k] = s * y * slope[k]
        values[k] = s[kept] @ loss.value(z[kept])


def hessian_product(X: Any, h: FloatArray, v: FloatArray, c: float, out: FloatArray, threads: int = 1) -> None:
    """Out = Σ h (x·v + c) [x, 1]."""
    g = np.empty((X.shape[0], 1))
    matvec(X, v[None, :], g)
    t = h * (g[:, 0] + c)
    rmatvec(X, t, out[:-1])
    out[-1] = t.sum()


def gram(X: Any, h: FloatArray, which: IntArray, out: FloatArray, threads: int = 1) -> None:
    """Add Σ h [x, 1][x, 1]ᵀ over the rows `which` to the lower triangle of `out`.

    In single precision where it is much work: a Hessian shapes a step, not the answer. SciPy's BLAS, because its LAPACK
    comes next: NumPy has another one, and the threads of the two are in each other's way.
    """
    dtype = np.float64 if len(which) * X.shape[1] ** 2 < 10**9 else np.float32
    syrk = blas.dsyrk if dtype is np.float64 else blas.ssyrk
    size = max(1, 2**21 // X.shape[1])
    root = np.sqrt(h).astype(dtype, copy=False)
    for first in range(0, len(which), size):
        part = which[first : first + size]
        rows = X if len(part) == X.shape[0] else X[part]
        block = np.empty((len(part), X.shape[1] + 1), dtype)
        np.multiply(rows.toarray() if is_sparse(X) else rows, root[part, None], out=block[:, :-1], casting="same_kind")
        block[:, -1] = root[part]
        out += syrk(1.0, block.T, lower=0).T


def soft_step(w: float, q: float, bend: float, l1: float) -> float:
    """Return argmin_u ½ bend (u − w)² + q (u − w) + l1 |u|."""
    t = bend * w - q
    return float(np.sign(t) * max(abs(t) - l1, 0.0) / bend)


def gram_descent(H: FloatArray, l1: float, accuracy: float, passes: int, q: FloatArray, w: FloatArray) -> float:
    """Minimise q·δ + ½ δᵀHδ + l1 ‖w + δ‖₁ one coordinate at a time; w becomes w + δ and q the gradient there.

    Ends when a pass changes no slope by more than `accuracy`; returns the largest such change of the last pass.
    """
    largest = 0.0
    for _ in range(passes):
        largest = 0.0
        for j in np.flatnonzero(np.einsum("jj->j", H) > 0):
            change = soft_step(w[j], q[j], H[j, j], l1) - w[j]
            w[j] += change
            q += change * H[j]
            largest = max(largest, abs(change) * H[j, j])
        if largest <= accuracy:
            break
    return largest


def column_sums(
    A: Any,
    which: IntArray,
    u: FloatArray,
    h: FloatArray,
    y: FloatArray | None,
    out: FloatArray,
    threads: int = 1,
) -> None:
    """Of some columns, the rows `which` of A: Σ u x of the positive and the negative class, Σ h x and Σ h x².

    Without labels all examples count as positive.
    """
    A, positive = A[which], np.ones(len(u), dtype=bool) if y is None else y > 0
    for row, vector in enumerate((np.where(positive, u, 0.0), np.where(positive, 0.0, u), h)):
        product = np.empty((A.shape[0], 1))
        matvec(A, vector[None, :], product)
        out[row] = product[:, 0]
    squares = A.multiply(A).tocsr() if is_sparse(A) else A.astype(np.float64) ** 2
    out[3] = squares @ h


def column_descent(
    A: Any,
    which: IntArray,
    h: FloatArray,
    c: FloatArray,
    bend: FloatArray,
    q: FloatArray,
    w: FloatArray,
    l1: float,
    l2: float,
    accuracy: float,
    passes: int,
    delta: FloatArray,
    t: FloatArray,
    along: FloatArray,
) -> float:
    """Descend as `gram_descent` does, for H = A diag(h) Aᵀ − c cᵀ + l2·I with the diagonal `bend`; A: its rows `which`.

    Only δ, t = h ∘ Aᵀδ and `along` = c·δ change.
    """
    largest = 0.0
    for _ in range(passes):
        largest = 0.0
        for j in np.flatnonzero(bend > 0).tolist():
            a = dense_row(A, int(which[j]))
            now = w[j] + delta[j]
            change = soft_step(now, q[j] + a @ t - c[j] * along[0] + l2 * delta[j], bend[j], l1) - now
            delta[j] += change
            t += change * h * a
            along += c[j] * change
            largest = max(largest, abs(change) * bend[j])
        if largest <= accuracy:
            break
    return largest


def column_newton(
    A: Any,
    which: IntArray,
    y: FloatArray,
    c: FloatArray,
    loss: Any,
    l1: float,
    l2: float,
    intercept: bool,
    steps: int,
    passes: int,
    enough: float,
    armijo: float,
    shortest: float,
    single: bool,
    w: FloatArray,
    b: FloatArray,
    scores: FloatArray,
    manner: FloatArray,
) -> int:
    """Take rough proximal Newton steps on Σ c ℓ(y (Xw + b)) + ½ l2 ‖w‖² + l1 ‖w‖₁; X: the rows `which` of A, turned.

    A step minimises a quadratic model by coordinate descent: passes over the columns, until they change slopes by less
    than the share `manner[1]` of what the very first one did, `manner[0]`; every few are extrapolated. Where one is
    enough the next model is to be four times as exact. Where a step must be shortened, curvatures of the next model lie
    the share `manner[2]` of the way to a parabola above the loss. `manner[3]` counts the stored numbers that passes go
    over. Where `single` the compiled loop keeps its models in single precision. Changes `w`, `b`, their `scores` and
    `manner`; returns how many steps it took.

    It ends early where a first pass changes slopes by the share `enough` or less of that, or where no length of a
    cautious step, down to `shortest`, makes the share `armijo` of the fall that its slope promises.
    """
    columns = np.array([dense_row(A, int(j)) for j in which]).reshape(len(which), len(y))
    lengths = np.diff(A.indptr)[which] if is_sparse(A) else np.full(len(which), len(y))
    left, taken = list(range(len(which))), 0

    def objective(step: FloatArray, t: FloatArray, length: float) -> float:
        return float(c @ loss.value(y * (scores + length * t)) + _penalty(w + length * step, l1, l2))

    while taken < steps:
        z = y * scores
        u, h = c * loss.slope(z) * y, c * _widened(loss, z, float(manner[2]))
        model = _ColumnModel(columns, u, h, w, l1, l2, intercept)
        off = model.one_pass(left) + (abs(u.sum()) if intercept else 0.0)
        manner[3] += lengths[left].sum()
        moving = [j for j in left if w[j] != 0 or model.w[j] != 0]
        if manner[0] == 0:
            manner[0] = off
        else:
            left = moving
        if not off > enough * manner[0]:
            break
        done = 1
        while off > manner[1] * manner[0] and done < passes:
            model.extrapolate()
            off, done = model.one_pass(moving), done + 1
            manner[3] += lengths[moving].sum()
        manner[1] *= 0.25 if done == 1 else 1.0
        step, step_b, t = model.step()
        slope = u @ t + l2 * w @ step + l1 * (np.abs(w + step).sum() - np.abs(w).sum())
        length = _armijo(partial(objective, step, t), armijo * slope, shortest)
        if length >= shortest:
            w += length * step
            b += length * step_b
            scores += length * t
            taken += 1
        elif manner[2] == 1:
            break
        manner[2] = _caution(float(manner[2]), length, shortest)
    return taken


def _armijo(objective: Callable[[float], float], rise: float, shortest: float) -> float:
    """Return the first of the lengths 1, ½, ¼, … that makes the fall asked for; one below `shortest` if none does."""
    here, length = objective(0.0), 1.0
    while length >= shortest and not objective(length) <= here + length * rise:
        length *= 0.5
    return length


def _caution(before: float, length: float, shortest: float) -> float:
    """Return how far the next model's curvatures go to a parabola above the loss, by how long a step could be."""
    if length == 1:
        return 0.0 if before < 0.5 else 0.25 * before
    return min(1.0, max(0.25, 2.0 * before)) if length >= shortest else 1.0


class _ColumnModel:
    """A quadratic model of the losses at w plus the penalty, the intercept always at its best; and its point so far."""

    def __init__(
        self, columns: FloatArray, u: FloatArray, h: FloatArray, w: FloatArray, l1: float, l2: float, intercept: bool
    ) -> None:
        self.columns, self.u, self.h, self.l1, self.l2 = columns, u, h, l1, l2
        self.total = float(h.sum()) if intercept else 0.0
        self.centre = columns @ h / self.total if self.total > 0 else np.zeros(len(w))
        squares = columns**2 @ h
        self.bend = np.maximum(squares - self.total * self.centre**2, 0.0) + 1e-14 * squares + l2 + np.finfo(float).tiny
        self.start, self.w, self.t = w, w.copy(), np.zeros(len(u))
        self.path: list[FloatArray] = []  # w after each pass

    def one_pass(self, some: list[int]) -> float:
        """Move some weights, one after the other, each to its minimum; return by how much that changes slopes."""
        off = 0.0
        for j in some:
            slope = (self.u + self.h * self.t) @ (self.columns[j] - self.centre[j]) + self.l2 * self.w[j]
            change = soft_step(self.w[j], slope, self.bend[j], self.l1) - self.w[j]
            self.w[j] += change
            self.t += change * self.columns[j]
            off += abs(change) * self.bend[j]
        return off

    def extrapolate(self) -> None:
        """After three steps, go to the combination of their ends whose own step is the shortest, if that is lower."""
        self.path.append(self.w.copy())
        if len(self.path) <= 3:
            return
        steps = np.diff(self.path, axis=0)
        products = steps * self.bend @ steps.T
        products += 1e-10 * np.trace(products) * np.eye(3)
        shares = np.linalg.solve(products, np.ones(3)) if products.any() else np.full(3, np.nan)
        there = shares / shares.sum() @ np.array(self.path[1:])
        if self.value(there) < self.value(self.w):
            self.w[:] = there
            self.t = (self.w - self.start) @ self.columns
        self.path = [self.w.copy()]

    def value(self, w: FloatArray) -> float:
        """Return the model's value, with the intercept at its best."""
        t = (w - self.start) @ self.columns
        slope_b = float((self.u + self.h * t).sum())
        best = -0.5 * slope_b**2 / self.total if self.total > 0 else 0.0
        return float(self.u @ t + 0.5 * self.h @ t**2 + best) + _penalty(w, self.l1, self.l2)

    def step(self) -> tuple[FloatArray, float, FloatArray]:
        """Return the step of the weights, of the intercept, and of the scores."""
        step_b = -float((self.u + self.h * self.t).sum()) / self.total if self.total > 0 else 0.0
        return self.w - self.start, step_b, self.t + step_b


def _penalty(w: FloatArray, l1: float, l2: float) -> float:
    return float(l1 * np.abs(w).sum() + 0.5 * l2 * w @ w)


def _widened(loss: Any, z: FloatArray, share: float) -> FloatArray:
    """Return curvatures that share of the way to those of a parabola that touches the loss at z and −z."""
    h, size = loss.curvature(z), np.abs(z)
    across = (loss.slope(size) - loss.slope(-size)) / np.maximum(2.0 * size, 1e-8)
    return np.asarray(h + share * np.maximum(np.where(size > 1e-8, across, h) - h, 0.0))
