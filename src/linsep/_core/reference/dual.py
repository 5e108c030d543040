"""Dual coordinate descent: one example a step, each to the optimum of its own dual variable."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._types import FloatArray
from .rows import dense_row


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
        new = loss.dual_step(alpha[i], z, bend, c[i])
        change, alpha[i] = new - alpha[i], new  # not by adding the change: rounding would leave the bounds
        w += change * y[i] * x
        b += constant * change * y[i]
    slopes[:] = -np.inf, np.inf, gap
    return active
