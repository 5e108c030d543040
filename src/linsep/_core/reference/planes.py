"""What is measured of several planes on the same examples."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._types import FloatArray
from .matrices import matmat, rmatmat


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

        Σ s ℓ(z),   Σ s over the mistakes (z ≤ 0),   Σ u,   ‖Σ u x / total + l2 w + l1 sign(w)‖²,   ‖w‖²,   ‖w‖₁,
        Σ s over the wrong labels (as z ≤ 0, but a score of zero is for −1)

    where u = s ℓ'(z) y. `G` is room for Σ u x.
    """  # noqa: D400 (the list is the sentence)
    g = np.empty((X.shape[0], W.shape[1]))
    matmat(X, W, g)
    z, s = y * (g + b), 1.0 if weight is None else weight[:, None]
    u = s * loss.slope(z) * y
    rmatmat(X, u, G)
    slope = G / total + l2 * W + l1 * np.sign(W)
    right = z > 0
    wrong = ~(right | ((z == 0) & (y < 0)))
    parts = s * loss.value(z), s * ~right, u, slope**2, W**2, np.abs(W), s * wrong
    out[:] = [part.sum(axis=0) for part in parts]
