"""Softmax over the scores of K planes: its losses with their gradient, and their Hessian times a direction."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import entr

from ..._types import FloatArray, IntArray


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


def softmax_product(
    X: Any, which: IntArray, P: FloatArray, s: FloatArray, V: FloatArray, out: FloatArray, threads: int = 1
) -> None:
    """Out = Σ s (p ∘ u − p (p·u)) [x, 1]ᵀ with u = [x, 1] V, over the rows `which`."""
    X = X[which]
    u = P * (X @ V[:-1] + V[-1])
    u -= P * u.sum(axis=1, keepdims=True)
    u *= s[:, None]
    out[:-1], out[-1] = X.T @ u, u.sum(axis=0)
