"""Dual coordinate descent: one example a step, each to the optimum of its own dual variable."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._common.types import FloatArray
from .rows import dense_row


def _optimum(x: FloatArray, y: float, c: float, loss: Any, bend: float, b: float, alpha: float, w: FloatArray) -> Any:
    """Return an example's α at its own optimum, and its share c ℓ(z) + c ℓ*(−α/c) + α z of the gap before."""
    z = y * (x @ w + b)
    share = c * float(loss.value(np.asarray(z)) + loss.conjugate(np.asarray(-alpha / c))) + alpha * z
    return loss.dual_step(alpha, z, bend, c), share


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
        if c[i] == 0:
            continue
        x, bend = dense_row(X, i), max(q[i] + constant, 1e-200)
        new, share = _optimum(x, y[i], c[i], loss, bend, b[0], alpha[i], w)
        change, alpha[i] = new - alpha[i], new  # not by adding the change: rounding would leave the bounds
        gap += share
        w += change * y[i] * x
        b += constant * change * y[i]
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
    seed: int | None,
    alpha: FloatArray,
    w: FloatArray,
    other: FloatArray | None = None,
    threads: int = 1,
) -> float:
    """One pass by the two halves of `order`, each from the same (w, b) and with its own moves counted twice.

    The order is shuffled first, unless the seed is None. The new (w, b) is the mean of the two; `other` is room for a
    second copy of the weights. Returns an estimate of the duality gap, as `dual_pass` does.
    """
    if seed is not None:
        np.random.default_rng(seed).shuffle(order)
    ends, gap = [], 0.0
    for half in np.split(order, [len(order) // 2]):
        v, a = w.copy(), b.copy()
        for i in half:
            bend = 2.0 * (q[i] + constant)
            if c[i] == 0 or bend == 0:
                continue
            x = dense_row(X, i)
            new, share = _optimum(x, y[i], c[i], loss, bend, a[0], alpha[i], v)
            change, alpha[i] = new - alpha[i], new
            gap += share
            v += 2.0 * change * y[i] * x
            a += 2.0 * constant * change * y[i]
        ends.append((v, a))
    w[:], b[:] = ((first + second) / 2.0 for first, second in zip(*ends, strict=True))
    return gap
