"""Softmax over the scores of K planes: its losses with their gradient, and their Hessian times a direction."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import entr, log_softmax

from ..._common.structure import is_sparse
from ..._common.types import FloatArray, IntArray
from .multipliers import nearest_masses
from .rows import dense_row


def softmax_evaluate(
    X: Any,
    codes: IntArray,
    weight: FloatArray | None,
    W: FloatArray,
    P: FloatArray,
    doubt: FloatArray,
    sums: FloatArray,
    out: FloatArray,
    threads: int = 1,
) -> None:
    """Sums = Σ s (−log p_y), Σ s over the mistakes, Σ s times the entropy of p; out = Σ s p [x, 1]ᵀ.

    P = p, and `doubt` is 1 − p of the class that has the highest.
    """
    n, K = P.shape
    s = np.ones(n) if weight is None else weight
    scores = X @ W[:-1, :K] + W[-1, :K]
    top, each = scores.argmax(axis=1), np.arange(n)
    less = scores - scores[each, top][:, None]
    e = np.exp(less)
    e[each, top] = 0.0
    rest = e.sum(axis=1)
    e[each, top] = 1.0
    np.divide(e, 1.0 + rest[:, None], out=P)
    np.divide(rest, 1.0 + rest, out=doubt)
    losses = np.log1p(rest) - less[each, codes]
    sums[:] = s @ losses, s @ (top != codes), s @ entr(P).sum(axis=1)
    out[:] = 0.0
    out[:-1, :K], out[-1, :K] = X.T @ (s[:, None] * P), s @ P


def class_sums(X: Any, codes: IntArray, s: FloatArray, out: FloatArray, threads: int = 1) -> None:
    """out[k] = Σ s x over the examples of each class."""
    for k in range(len(out)):
        out[k] = (s * (codes == k)) @ X


def round_rows(X: Any, out: FloatArray, threads: int = 1) -> None:
    """Out = X, in its own precision."""
    out[:] = X


def mixed_entropy(
    P: FloatArray, codes: IntArray, s: FloatArray, t_p: float, t_q: float, q: FloatArray, t_y: float, threads: int = 1
) -> float:
    """Σ s times the entropy of t_p p + t_q q + t_y e, e all on the own class."""
    mixed = t_p * P + t_q * q
    mixed[np.arange(len(P)), codes] += t_y
    return float(s @ entr(mixed).sum(axis=1))


def softmax_product(
    X: Any, which: IntArray, P: FloatArray, s: FloatArray, V: FloatArray, out: FloatArray, threads: int = 1
) -> None:
    """Out = Σ s (p ∘ u − p (p·u)) [x, 1]ᵀ with u = [x, 1] V, over the rows `which`; P and s are of all rows."""
    X, p, K = X[which], P[which], P.shape[1]
    u = p * (X @ V[:-1, :K] + V[-1, :K])
    u -= p * u.sum(axis=1, keepdims=True)
    u *= s[which, None]
    out[:] = 0.0
    out[:-1, :K], out[-1, :K] = X.T @ u, u.sum(axis=0)


def softmax_gram(X: Any, which: IntArray, P: FloatArray, s: FloatArray, out: FloatArray, threads: int = 1) -> None:
    """Out = Σ s (diag(p) − ppᵀ) ⊗ [x, 1][x, 1]ᵀ over the rows `which`, whose weights s are; P is that of all rows."""
    x, p, K, size = _with_ones(X, which), P[which], P.shape[1], X.shape[1] + 1
    out[:] = 0.0
    for k in range(K):
        for m in range(k):
            some = (x * (s * p[:, k] * p[:, m])[:, None]).T @ x
            mine, theirs = slice(k * size, (k + 1) * size), slice(m * size, (m + 1) * size)
            out[mine, theirs] = -some
            # p (1 − p) = Σ pₖ pₘ: nothing cancels where p is near one
            out[mine, mine] += some
            out[theirs, theirs] += some


def _with_ones(X: Any, which: IntArray) -> FloatArray:
    """Return the rows [x, 1] that are asked for, dense."""
    return np.column_stack([X[which].toarray() if is_sparse(X) else X[which], np.ones(len(which))]).astype(np.float64)


def class_inverses(
    X: Any,
    P: FloatArray,
    s: FloatArray,
    lengths: FloatArray,
    most: float,
    offsets: FloatArray,
    l2: float,
    intercept: bool,
    nudge: float,
    out: FloatArray,
    threads: int = 1,
) -> None:
    """Out = (l2·I + Σ s pₖ (1 − pₖ) [x, 1][x, 1]ᵀ)⁻¹ of each class, one below the other, over about `most` rows.

    A row is taken with the chance min(1, most · v / Σ v), v = s pₖ (1 − pₖ) (‖x‖² + mean), and counts accordingly more;
    one random number a class, `offsets`, places all draws evenly. A direction in which nothing bends counts as one that
    bends by one, and the diagonal is nudged by a share of itself.
    """
    (n, K), size = P.shape, X.shape[1] + intercept
    if (P[:, :1] == P).all():  # as at zero: what is said of one class holds for all
        offsets = np.full(K, offsets[0])
    for k in range(K):
        h = s * P[:, k] * (1.0 - P[:, k])
        importance = h * (lengths + (lengths.mean() or 1.0))
        chance = np.ones(n) if 2 * most >= n else np.minimum(1.0, importance * (most / (importance.sum() or 1.0)))
        drawn = np.flatnonzero(np.diff(np.floor(np.cumsum(chance) + offsets[k]), prepend=np.floor(offsets[k])))
        x = _with_ones(X, drawn)[:, :size]
        gram = (x * (h[drawn] / chance[drawn])[:, None]).T @ x
        np.einsum("jj->j", gram)[: X.shape[1]] += l2
        diagonal = np.diag(gram)
        scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        gram *= np.outer(scale, scale)
        np.fill_diagonal(gram, 1.0 + nudge)
        out[k * size : (k + 1) * size] = np.linalg.inv(gram) * np.outer(scale, scale)


def softmax_dual_pass(
    X: Any,
    order: IntArray,
    codes: IntArray,
    c: FloatArray,
    squares: FloatArray,
    constant: float,
    logs: FloatArray,
    W: FloatArray,
    moved: FloatArray,
    sums: FloatArray,
) -> None:
    """One pass of dual ascent, in this order: each example's probabilities π to where they are best, given the others.

    W, whose last row are the intercepts, is Σ c ([y = k] − π) x, and `logs` is log π of each example; both change, and
    `moved` takes up Σ of the moves of c ([y = k] − π). The intercepts move as the weights of a column whose square is
    `constant`. In `sums`: the duality gap and Σ c (−log p_y), each example's share as it was met.
    """
    K = len(moved)
    sums[:] = 0.0
    for i in order.tolist():
        x = dense_row(X, i)
        log_p = log_softmax(np.asarray(x @ W[:-1, :K] + W[-1, :K], dtype=np.float64))
        before, met = np.exp(logs[i, :K].astype(np.float64)), c[i] * (squares[i] + constant)
        used = before > 0
        sums += c[i] * (before[used] @ (logs[i, :K] - log_p)[used]), -c[i] * log_p[codes[i]]
        log_pi = _settled(log_p, before, met)
        pi = np.exp(log_pi)
        height = [
            share @ (log_p + met * before - np.where(share > 0, log, 0.0) - 0.5 * met * share)
            for share, log in ((pi, log_pi), (before, logs[i, :K]))
        ]
        if height[0] <= height[1]:
            continue
        step = c[i] * (before - pi)
        moved += step
        logs[i, :K] = log_pi
        W[:-1, :K] += np.outer(x, step)
        W[-1, :K] += constant * step


def _settled(log_p: FloatArray, before: FloatArray, a: float) -> FloatArray:
    """Solve u + a eᵘ + ν = log p + a · before, Σ eᵘ = 1, by Newton's method on u and ν."""
    u, wanted = log_p if a <= 1 else np.log((np.exp(log_p) + a * before) / (1 + a)), log_p + a * before
    for _ in range(40):
        pi = np.exp(u)
        share, left = pi / (1.0 + a * pi), wanted - u - a * pi
        change = (left - (share @ left - (1.0 - pi.sum())) / share.sum()) / (1.0 + a * pi)
        u = np.minimum(u + change, 0.0)
        if pi @ np.abs(change) <= 1e-4:
            break
    return np.asarray(u - np.log(np.exp(u).sum()))


def margin_dual_pass(
    X: Any,
    order: IntArray,
    codes: IntArray,
    c: FloatArray,
    squares: FloatArray,
    constant: float,
    masses: FloatArray,
    W: FloatArray,
    moved: FloatArray,
    still: IntArray,
    sums: FloatArray,
) -> None:
    """One pass of dual ascent by margins, in this order: each example's masses to where they are best, given others.

    W, whose last row are the intercepts, is Σ (c [y = k] − π) x with the masses π, which sum to c; both change, and
    `moved` takes up Σ of the moves of c [y = k] − π. The intercepts move as the weights of a column whose square is
    `constant`. `still` counts how often in a row an example did not move. In `sums`: the duality gap and the losses,
    each example's share as it was met.
    """
    K = len(moved)
    sums[:] = 0.0
    for i in order.tolist():
        x, before = dense_row(X, i), masses[i].copy()
        g = np.asarray(x @ W[:-1, :K] + W[-1, :K], dtype=np.float64)
        raised = g + (np.arange(K) != codes[i])
        sums += max(c[i] * raised.max() - before @ raised, 0.0), c[i] * (raised.max() - g[codes[i]])
        square = max(squares[i] + constant, 1e-300)
        masses[i] = nearest_masses((before + (raised - raised.max()) / square)[None], c[i : i + 1])[0][0]
        change = before - masses[i]
        still[i] = 0 if change.any() else still[i] + 1
        moved += change
        W[:-1, :K] += np.outer(x, change)
        W[-1, :K] += constant * change
