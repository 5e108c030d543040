"""Coordinate descent on a quadratic model with an L1 penalty: what a proximal Newton step minimises."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._types import FloatArray
from .rows import dense_row


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
