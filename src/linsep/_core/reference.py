"""The kernels in plain Python: the lecture's pseudocode, the compiled kernels' oracle, and their stand-in.

The loops have compiled twins of the same names and meanings. Here the matrix is a NumPy array or a SciPy CSR
array as the user gave it, and the loss is any object with a ``slope``; this is how a user's own loss runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import blas
from scipy.special import expit, softmax

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class HasSlope(Protocol):
    """What a step needs of a loss."""

    def slope(self, z: FloatArray) -> FloatArray:
        """ℓ'(z), or one subgradient."""
        ...


def is_sparse(X: Any) -> bool:
    """Whether X is a SciPy sparse matrix or array."""
    return bool(sparse.issparse(X))


def csr(data: Any, indices: Any, indptr: Any, d: int) -> Any:
    """Return the CSR array over these three arrays, after checking every index; nothing is copied."""
    if len(indptr) == 0 or indptr[0] != 0:
        raise ValueError("CSR indptr must begin with 0")
    if np.any(np.diff(indptr) < 0):
        raise ValueError("CSR indptr decreases: the row boundaries are damaged or overflowed")
    if len(data) != len(indices) or indptr[-1] > len(indices):
        raise ValueError("CSR indptr points past the end of the data")
    used = indices[: indptr[-1]]
    if used.size and (used.min() < 0 or used.max() >= d):
        raise ValueError("CSR column index out of range: the indices are damaged or overflowed")
    return sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, d), copy=False)


def has_repeated_entries(X: Any, threads: int) -> bool:
    """Whether some row of a CSR array names a column twice."""
    tidy = X.copy()
    tidy.sum_duplicates()
    return bool(tidy.nnz < X.nnz)


def blocks(X: Any) -> Iterator[tuple[slice, Any]]:
    """Rows of X, a block at a time, in double precision: float data lose nothing in the sums."""
    step = max(1, 2**20 // max(1, X.shape[1]))
    for first in range(0, X.shape[0], step):
        rows = slice(first, first + step)
        yield rows, X[rows].astype(np.float64, copy=False)


def matvec(X: Any, w: FloatArray, out: FloatArray) -> None:
    """out[i, k] = x_i · w_k for every row of X and every row of w."""
    for rows, block in blocks(X):
        out[rows] = block @ w.T


def scores(X: Any, W: FloatArray, b: FloatArray, out: FloatArray, threads: int) -> bool:
    """out[i, k] = x_i · w_k + b_k; whether all are finite, and with them every entry of X."""
    with np.errstate(over="ignore", invalid="ignore"):
        matvec(X, W, out)
        out += b
    return bool(np.isfinite(out).all())


def labels(X: Any, W: FloatArray, b: FloatArray, table: IntArray, out: IntArray, threads: int) -> bool:
    """out[i] = table[1] if g ≥ 0, else table[0]; of several planes the entry of the highest; and as `scores`."""
    g = np.empty((X.shape[0], len(W)))
    finite = scores(X, W, b, g, threads)
    table.take(g[:, 0] >= 0 if len(W) == 1 else g.argmax(axis=1), out=out, mode="clip")
    return finite


def probabilities(X: Any, W: FloatArray, b: FloatArray, out: FloatArray, threads: int) -> bool:
    """σ(−g) and σ(g), or the softmax of several g, into `out`; and as `scores`."""
    g = np.empty((X.shape[0], len(W)))
    finite = scores(X, W, b, g, threads)
    with np.errstate(invalid="ignore"):
        out[:] = np.concatenate([expit(-g), expit(g)], axis=1) if len(W) == 1 else softmax(g, axis=1)
    return finite


def rmatvec(X: Any, u: FloatArray, out: FloatArray) -> None:
    """Σ u_i x_i, into `out`."""
    out[:] = 0.0
    for rows, block in blocks(X):
        out += u[rows] @ block


def squared_norms(X: Any, out: FloatArray) -> None:
    """out[i] = ‖x_i‖²."""
    for rows, block in blocks(X):
        squares = block.multiply(block) if is_sparse(block) else block**2  # ** of a sparse matrix is a matrix power
        out[rows] = np.asarray(squares.sum(axis=1)).ravel()


def dense_row(X: Any, i: int) -> FloatArray:
    """Return row i as a dense array of doubles."""
    row = X[[i]].toarray()[0] if is_sparse(X) else X[i]
    return np.asarray(row, dtype=np.float64)


def stochastic_steps(
    X: Any,
    y: FloatArray,
    weight: FloatArray | None,
    order: IntArray,
    eta: FloatArray,
    loss: HasSlope,
    l2: float,
    l1: float,
    intercept: bool,
    W: FloatArray,
    b: FloatArray,
    sum_W: FloatArray | None,
    sum_b: FloatArray | None,
    counts: IntArray | None,
    moved: NDArray[np.uint8] | None,
) -> int:
    """One step of stochastic (sub)gradient descent for each entry of `order`, changing W and b in place.

        w ← S_{η l1}( max(0, 1 − η l2) w − η sᵢ ℓ'(zᵢ) yᵢ xᵢ ),      b ← b − η sᵢ ℓ'(zᵢ) yᵢ

    Each column of W is the w of one plane, with labels in the same column of `y`; where its label is zero a plane does
    not move. Returns how often the planes were moved (the loss had a slope), all together; what is given of the rest is
    added to or filled: the sums of all iterates, how often each example moved each plane, and which steps did.
    """
    total = 0
    for k, i in enumerate(order):
        x = dense_row(X, i)
        slope = loss.slope(y[i] * (x @ W + b))
        moves = (slope != 0) & (y[i] != 0)
        c = np.where(moves, -eta[k] * (1.0 if weight is None else weight[i]) * slope * y[i], 0.0)
        W *= max(0.0, 1.0 - eta[k] * l2)
        if moves.any():
            W += np.outer(x, c)
        if intercept:
            b += c
        W[:] = np.sign(W) * np.maximum(np.abs(W) - eta[k] * l1, 0.0)
        if sum_W is not None and sum_b is not None:
            sum_W += W
            sum_b += b
        if counts is not None:
            counts[i] += moves
        if moved is not None:
            moved[k] = moves
        total += int(moves.sum())
    return total


def measure(
    X: Any,
    y: FloatArray,
    weight: FloatArray | None,
    loss: Any,
    W: FloatArray,
    b: FloatArray,
    total: float,
    l2: float,
    l1: float,
    G: FloatArray,
    out: FloatArray,
) -> None:
    """What is measured of the planes in the columns of W, with labels in the columns of `y`: a row of `out` each for

        Σ s ℓ(z),   Σ s over the mistakes (z ≤ 0),   Σ u,   ‖Σ u x / total + l2 w + l1 sign(w)‖²,   ‖w‖²,   ‖w‖₁

    where u = s ℓ'(z) y. `G` is room for Σ u x.
    """  # noqa: D400 (the list is the sentence)
    g = np.empty((X.shape[0], W.shape[1]))
    matmat(X, W, g)
    z, s = y * (g + b), 1.0 if weight is None else weight[:, None]
    u = s * loss.slope(z) * y
    rmatmat(X, u, G)
    slope = G / total + l2 * W + l1 * np.sign(W)
    parts = s * loss.value(z), s * ~(z > 0), u, slope**2, W**2, np.abs(W)
    out[:] = [part.sum(axis=0) for part in parts]


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
    y: FloatArray, weight: FloatArray | None, loss: Any, u: FloatArray, positive: float, negative: float
) -> float:
    """Σ s ℓ*(a) with a = u y / s, scaled by `positive` or `negative` according to the class."""
    s = np.ones(len(y)) if weight is None else weight
    used = s > 0
    a = (u * y * np.where(y > 0, positive, negative))[used] / s[used]
    return float(s[used] @ loss.conjugate(a))


def hessian_product(X: Any, h: FloatArray, v: FloatArray, c: float, out: FloatArray) -> None:
    """Out = Σ h (x·v + c) [x, 1]."""
    g = np.empty((X.shape[0], 1))
    matvec(X, v[None, :], g)
    t = h * (g[:, 0] + c)
    rmatvec(X, t, out[:-1])
    out[-1] = t.sum()


def matmat(X: Any, W: FloatArray, out: FloatArray) -> None:
    """XW, into `out`."""
    for rows, block in blocks(X):
        out[rows] = block @ W


def rmatmat(X: Any, U: FloatArray, out: FloatArray) -> None:
    """XᵀU, into `out`."""
    out[:] = 0.0
    for rows, block in blocks(X):
        out += block.T @ U[rows]


def gram(X: Any, h: FloatArray, which: IntArray, out: FloatArray) -> None:
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


def column_descent(
    A: Any,
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
    """Do the same for H = A Aᵀ − c cᵀ + l2·I with the diagonal `bend`: only δ, t = Aᵀδ and `along` = c·δ change."""
    largest = 0.0
    for _ in range(passes):
        largest = 0.0
        for j in np.flatnonzero(bend > 0).tolist():
            a = dense_row(A, j)
            now = w[j] + delta[j]
            change = soft_step(now, q[j] + a @ t - c[j] * along[0] + l2 * delta[j], bend[j], l1) - now
            delta[j] += change
            t += change * a
            along += c[j] * change
            largest = max(largest, abs(change) * bend[j])
        if largest <= accuracy:
            break
    return largest


def dual_pass(
    X: Any,
    y: FloatArray,
    c: FloatArray,
    loss: Any,
    q: FloatArray,
    constant: float,
    b: FloatArray,
    order: NDArray[np.int32],
    active: int,
    seed: int,
    alpha: FloatArray,
    w: FloatArray,
    slopes: FloatArray,
) -> int:
    """One pass of dual coordinate descent: each example's α to its own optimum, with w = Σ αᵢ yᵢ xᵢ kept up to date.

    Nothing is set aside as settled, so all stay active, and those that moved most are not taken up again. Its random
    order is not the compiled one's. The third of the slopes becomes an estimate of the duality gap.
    """
    gap = 0.0
    np.random.default_rng(seed).shuffle(order[:active])
    for i in order[:active]:
        x = dense_row(X, i)
        bend = max(q[i] + constant, 1e-200)
        if c[i] == 0:
            continue
        z = y[i] * (x @ w + b[0])
        gap += c[i] * float(loss.value(np.asarray(z)) + loss.conjugate(np.asarray(-alpha[i] / c[i]))) + alpha[i] * z
        change = loss.dual_step(alpha[i], z, bend, c[i]) - alpha[i]
        w += change * y[i] * x
        b += constant * change * y[i]
        alpha[i] += change
    slopes[:] = -np.inf, np.inf, gap
    return active


def dual_halves(
    X: Any,
    y: FloatArray,
    c: FloatArray,
    loss: Any,
    q: FloatArray,
    constant: float,
    b: FloatArray,
    order: NDArray[np.int32],
    seed: int,
    alpha: FloatArray,
    w: FloatArray,
) -> float:
    """One pass by two halves of the examples, drawn at random; see `ordered_halves`."""
    np.random.default_rng(seed).shuffle(order)
    return ordered_halves(X, y, c, loss, q, constant, b, order, alpha, w)


def ordered_halves(
    X: Any,
    y: FloatArray,
    c: FloatArray,
    loss: Any,
    q: FloatArray,
    constant: float,
    b: FloatArray,
    order: NDArray[np.int32],
    alpha: FloatArray,
    w: FloatArray,
) -> float:
    """One pass by the two halves of `order`, each from the same (w, b) and with its own moves counted twice.

    The new (w, b) is the mean of the two. Returns an estimate of the duality gap, as `dual_pass` does.
    """
    ends, gap = [], 0.0
    for half in np.split(order, [len(order) // 2]):
        v, a = w.copy(), b.copy()
        for i in half:
            bend = 2.0 * (q[i] + constant)
            if c[i] == 0 or bend == 0:
                continue
            x = dense_row(X, i)
            z = y[i] * (x @ v + a[0])
            share = loss.value(np.asarray(z)) + loss.conjugate(np.asarray(-alpha[i] / c[i]))
            gap += c[i] * float(share) + alpha[i] * z
            change = loss.dual_step(alpha[i], z, bend, c[i]) - alpha[i]
            v += 2.0 * change * y[i] * x
            a += 2.0 * constant * change * y[i]
            alpha[i] += change
        ends.append((v, a))
    w[:], b[:] = ((first + second) / 2.0 for first, second in zip(*ends, strict=True))
    return gap


def sprung(loss: Any, centre: FloatArray, z: FloatArray, width: float, c: FloatArray) -> FloatArray:
    """Return argmin_a ½ (h/c)(a − ᾱ)² + z (a − ᾱ) + c ℓ*(−a/c) of each example: its dual variable on a spring."""
    steps = [loss.dual_step(m, t, width / k, k) if k > 0 else 0.0 for m, t, k in zip(centre, z, c, strict=True)]
    return np.array(steps, dtype=np.float64)


def sprung_duals(
    X: Any,
    y: FloatArray,
    c: FloatArray,
    loss: Any,
    centre: FloatArray,
    z: FloatArray,
    width: float,
    split: bool,
    a: FloatArray,
    h: FloatArray,
    sums: FloatArray,
) -> None:
    """Replace `a` by the dual variables at z, and `h` by −da/dz for a loss made of straight pieces.

    In `sums` go Σ c ℓ(z), Σ c ℓ*(−a/c), Σ a z, Σ c over the mistakes, Σ a by class, and what Σ a y x gains, by class if
    `split`.
    """
    now = sprung(loss, centre, z, width, c)
    change = (now - a) * y
    a[:] = now
    h[:] = np.where((now > 0) & (now < c), c / width, 0.0)
    used = c > 0
    positive = (y > 0) if split else np.ones(len(y), dtype=bool)
    sums[:3] = c @ loss.value(z), c[used] @ loss.conjugate(-now[used] / c[used]), now @ z
    sums[3:6] = c[~(z > 0)].sum(), now[positive].sum(), now[~positive].sum()
    rmatvec(X, np.where(positive, change, 0.0), sums[6 : 6 + X.shape[1]])
    if split:
        rmatvec(X, np.where(positive, 0.0, change), sums[6 + X.shape[1] :])


def sprung_line_search(
    c: FloatArray,
    loss: Any,
    centre: FloatArray,
    z: FloatArray,
    dz: FloatArray,
    width: float,
    first: float,
    linear: float,
    quadratic: float,
    accuracy: float,
) -> float:
    """Return the t at which t·linear + ½t²·quadratic + Σ (inner loss at z + t dz) is least, roughly: by halving."""

    def slope(t: float) -> float:
        return float(linear + t * quadratic - sprung(loss, centre, z + t * dz, width, c) @ dz)

    if not first < 0:
        return 0.0
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(60):
        now = slope(t)
        if abs(now) <= -accuracy * first:
            break
        low, high = (low, t) if now > 0 else (t, high)
        t = 2 * t if np.isinf(high) else 0.5 * (low + high)
    return t


def sprung_newton(
    X: Any,
    y: FloatArray,
    c: FloatArray,
    loss: Any,
    l2: float,
    intercept: bool,
    tol: float,
    target: float,
    narrower: float,
    narrowest: float,
    more: int,
    most: int,
    point: FloatArray,
    z: FloatArray,
    a: FloatArray,
    h: FloatArray,
    centre: FloatArray,
    width: FloatArray,
    best_point: FloatArray,
    best_alpha: FloatArray,
    proof: FloatArray,
    log: FloatArray,
    ended: IntArray,
) -> None:
    """Run the method of multipliers until the relative gap is `target`; see `solvers.newton.augmented_lagrangian`.

    It ends no more than `more` steps after a gap of `tol`, and after `most` steps at the latest. In `ended` go why (0:
    the gap is proven, 1: that was enough steps, 2: no step leads anywhere, 3: the log is full), the steps, the rows of
    the log, and whether z are the agreements of the best point, computed afresh.
    """
    arrays = point, z, a, h, centre, width, best_point, best_alpha, proof
    run = _Sprung(X, y, c, loss, l2, intercept, *arrays, log)
    ended[0] = run.run(tol, target, narrower, narrowest, more, most)
    ended[1:] = run.steps, run.notes, run.fresh and run.best_is_here


@dataclass
class _Sprung:
    """One run of `sprung_newton`."""

    X: Any
    y: FloatArray
    c: FloatArray
    loss: Any
    l2: float
    intercept: bool
    point: FloatArray
    z: FloatArray
    a: FloatArray
    h: FloatArray
    centre: FloatArray
    width: FloatArray
    best_point: FloatArray
    best_alpha: FloatArray
    proof: FloatArray
    log: FloatArray
    steps: int = 0
    notes: int = 0

    def run(self, tol: float, target: float, narrower: float, narrowest: float, more: int, most: int) -> int:
        """Take Newton steps; return why it ended."""
        self.refresh()
        enough = most
        while True:
            if not self.measure(target, narrower, narrowest):
                return 3
            if self.gap() <= target:
                return 0
            if self.gap() <= tol and enough == most:
                enough = min(most, self.steps + more)
            if self.steps >= enough:
                return 1
            if not self.step():
                return 2

    def gap(self) -> float:
        """Return the relative gap."""
        return float((self.proof[0] - self.proof[1]) / max(abs(self.proof[0]), np.finfo(float).tiny))

    def refresh(self) -> None:
        """Compute afresh what is otherwise kept up to date by adding to it, and drop what rested on that."""
        self.z[:] = self.agreements(self.point)
        self.a[:] = 0.0
        self.v = np.zeros((1 + self.intercept, self.X.shape[1]))
        self.proof[:] = np.inf, -np.inf
        self.fresh, self.best_is_here = True, False

    def agreements(self, point: FloatArray) -> FloatArray:
        """Y (w·x + b)."""
        g = np.empty((self.X.shape[0], 1))
        matvec(self.X, point[None, :-1], g)
        return np.asarray(self.y * (g[:, 0] + point[-1]))

    def measure(self, target: float, narrower: float, narrowest: float) -> bool:
        """Note the point; springs that hold more than all else give way. False where the log is full."""
        while self.notes < len(self.log):
            inner, outer = self.note()
            if self.gap() <= target:
                if self.fresh:
                    return True
                self.refresh()
            elif inner <= outer and self.width[0] > narrowest:
                self.centre[:] = self.a
                self.width *= narrower
            else:
                return True
        return False

    def note(self) -> tuple[float, float]:
        """Set the dual variables at z; return how much of the gap is the inner problem's, and how much the springs'."""
        sums = np.empty(6 + self.v.size)
        settings = self.centre, self.z, float(self.width[0]), self.intercept, self.a, self.h
        sprung_duals(self.X, self.y, self.c, self.loss, *settings, sums)
        self.v += sums[6:].reshape(self.v.shape)
        self.totals = sums[4:6]
        scales = np.ones(2)
        if self.intercept:
            scales = self.totals.min() / self.totals if self.totals.min() > 0 else np.zeros(2)
        w, v, scale = self.point[:-1], scales[: len(self.v)] @ self.v, np.where(self.y > 0, *scales)
        used = self.c > 0
        conjugate = self.c[used] @ self.loss.conjugate(-(self.a * scale)[used] / self.c[used])
        primal, dual = 0.5 * self.l2 * w @ w + sums[0], -v @ v / (2.0 * self.l2) - conjugate
        if primal < self.proof[0]:
            self.proof[0], self.best_point[:], self.best_is_here = primal, self.point, True
        if dual > self.proof[1]:
            self.proof[1], self.best_alpha[:] = dual, self.a * scale
        self.log[self.notes] = self.steps, primal, sums[0], sums[3], self.proof[0]
        self.notes += 1
        outer = float(sums[:3].sum())
        return float(primal - dual) - outer, outer

    def step(self) -> bool:
        """Take one Newton step on the inner problem; return whether it led anywhere."""
        d, size = self.X.shape[1], self.X.shape[1] + self.intercept
        gradient = np.append(self.l2 * self.point[:d] - self.v.sum(axis=0), self.totals[1] - self.totals[0])[:size]
        H = np.zeros((d + 1, d + 1))
        gram(self.X, self.h, np.flatnonzero(self.h), H)
        H = (np.tril(H) + np.tril(H, -1).T + self.l2 * np.diag(np.append(np.ones(d), 0.0)))[:size, :size]
        bends = np.diag(H) > 0
        scale = 1.0 / np.sqrt(np.where(bends, np.diag(H), 1.0))
        H = H * scale[:, None] * scale
        np.fill_diagonal(H, 1.0 + 1e-10)
        way = np.zeros(d + 1)
        way[:size] = -scale * np.linalg.solve(H, scale * gradient)
        dz, w, dw = self.agreements(way), self.point[:d], way[:d]
        line = float(gradient @ way[:size]), self.l2 * float(w @ dw), self.l2 * float(dw @ dw)
        t = sprung_line_search(self.c, self.loss, self.centre, self.z, dz, float(self.width[0]), *line, 0.1)
        self.steps += 1
        self.point += t * way
        self.z += t * dz
        if t:
            self.fresh = self.best_is_here = False
        return t != 0


def group_rows(X: Any, codes: IntArray, group: IntArray, first: IntArray, threads: int) -> int:
    """Number the different pairs of row and code in the order in which they come; return how many there are.

    ``group[i]`` is the number of row i's pair, ``first[g]`` where pair g comes first. 0 where `first` has no room.
    """
    numbers: dict[tuple[Any, ...], int] = {}
    for i, code in enumerate(codes.tolist()):
        x = X[[i]]
        parts = (x.indices.tobytes(), x.data.tobytes()) if is_sparse(X) else (x.tobytes(),)
        pair = (code, *parts)
        if pair not in numbers:
            if len(numbers) == len(first):
                return 0
            numbers[pair] = len(numbers)
            first[numbers[pair]] = i
        group[i] = numbers[pair]
    return len(numbers)


class LibsvmText:
    """LIBSVM text, "label index:value …" a line, parsed into the three arrays of a CSR matrix.

    Attributes
    ----------
    lines, colons : int
        How much room to make: there are no more rows and entries than these.
    n, stored : int
        Rows and entries, once it is parsed; so are the following.
    lowest, highest : int
        Column numbers as written; `highest` is −1 where there are none.
    fault, place : int
        What is wrong, 0 for nothing (1 label, 2 index, 3 colon, 4 value, 5 order, 6 range), and at which byte.

    Examples
    --------
    >>> text = LibsvmText(np.frombuffer(b"+1 1:0.5 3:2 # a comment", dtype=np.uint8), 1)
    >>> labels, values = np.empty(text.lines), np.empty(text.colons)
    >>> columns, start = np.empty(text.colons, np.int32), np.empty(text.lines + 1, np.int32)
    >>> text.parse(labels, values, columns, start)
    >>> text.n, text.stored, text.lowest, text.highest, text.fault
    (1, 2, 1, 3, 0)
    >>> values, columns, start
    (array([0.5, 2. ]), array([1, 3], dtype=int32), array([0, 2], dtype=int32))
    """

    LABEL, INDEX, COLON, VALUE, ORDER, RANGE = range(1, 7)

    def __init__(self, text: NDArray[np.uint8], threads: int) -> None:
        self._text = text.tobytes()
        self.lines = self._text.count(b"\n") + bool(self._text and self._text[-1:] != b"\n")
        self.colons = self._text.count(b":")
        self.n, self.stored = 0, 0
        self.lowest, self.highest, self.fault, self.place = 2**63 - 1, -1, 0, 0
        self._labels: list[float] = []
        self._values: list[float] = []
        self._columns: list[int] = []
        self._start = [0]

    def parse(self, labels: Any, values: Any, columns: Any, start: Any) -> None:
        """Fill the arrays from their beginning: columns as they are numbered in the text, `start` of every row."""
        begin = 0
        for line in self._text.split(b"\n"):
            self._read_line(line, begin)
            begin += len(line) + 1
            if self.fault:
                return
        self.n, self.stored = len(self._labels), len(self._values)
        labels[: self.n], values[: self.stored] = self._labels, self._values
        columns[: self.stored], start[: self.n + 1] = self._columns, self._start

    def _read_line(self, line: bytes, begin: int) -> None:
        tokens = [(found.group(), begin + found.start()) for found in re.finditer(rb"\S+", line.partition(b"#")[0])]
        if not tokens:
            return
        label = _finite(tokens[0][0])
        if label is None:
            self.fault, self.place = self.LABEL, tokens[0][1]
            return
        before = -1
        for token, place in tokens[1:]:
            if token.startswith(b"qid:") and len(token) > 4:
                continue
            index, colon, value = re.fullmatch(rb"([0-9]*)(:?)(.*)", token, re.DOTALL).groups()  # type: ignore[union-attr]
            number = _finite(value)
            self.fault = self._fault(index, colon, number, before)
            if self.fault:
                self.place = place
                return
            if before < 0:
                self.lowest = min(self.lowest, int(index))
            before = int(index)
            self._columns.append(before)
            self._values.append(number)  # type: ignore[arg-type]
        self.highest = max(self.highest, before)
        self._labels.append(label)
        self._start.append(len(self._columns))

    def _fault(self, index: bytes, colon: bytes, number: float | None, before: int) -> int:
        if not index:
            return self.INDEX
        if not colon or len(index) > 12:
            return self.COLON
        if int(index) >= 2**31 - 1:
            return self.RANGE
        if int(index) <= before:
            return self.ORDER
        return self.VALUE if number is None else 0


def _finite(token: bytes) -> float | None:
    """Return the number in plain decimal or scientific notation, or None if it is none or not finite."""
    if not re.fullmatch(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", token):
        return None
    value = float(token)
    return value if np.isfinite(value) else None
