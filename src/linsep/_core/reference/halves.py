"""Dual coordinate descent by two halves of the examples, each as if the other made the same moves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._types import FloatArray
from .rows import dense_row


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
    other: FloatArray,
    threads: int = 1,
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
            new = loss.dual_step(alpha[i], z, bend, c[i])
            change, alpha[i] = new - alpha[i], new
            v += 2.0 * change * y[i] * x
            a += 2.0 * constant * change * y[i]
        ends.append((v, a))
    w[:], b[:] = ((first + second) / 2.0 for first, second in zip(*ends, strict=True))
    return gap
