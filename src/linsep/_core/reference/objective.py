"""The sum of losses with its gradient, and the sum of conjugates that a dual bound needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._types import FloatArray
from .products import matvec, rmatvec


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
