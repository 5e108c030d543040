"""Newton's method on the likelihood Σ cᵢ log σ(aᵢ·θ): its derivatives, and how far a step goes (backtracking)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core import is_sparse
from .._types import FloatArray


def derivatives(A: Any, c: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return α = σ(−z), the slope Aᵀ(c α) and the curvature Aᵀ diag(c α (1 − α)) A at z = Aθ."""
    alpha = 1.0 / (1.0 + np.exp(np.clip(z, -700.0, 700.0)))
    h = c * alpha * (1.0 - alpha)
    H = (A.multiply(h[:, None]).T @ A).todense() if is_sparse(A) else A.T @ (A * h[:, None])
    return alpha, A.T @ (c * alpha), np.asarray(H)


def step_length(c: FloatArray, z: FloatArray, move: FloatArray, longest: float = 1.0) -> float:
    """Return how much of a step raises the likelihood, up to rounding: as much as allowed, halved while it does not."""
    now, length = float(c @ np.logaddexp(0.0, -z)), longest
    while length > 1e-6 and float(c @ np.logaddexp(0.0, -z - length * move)) > now * (1.0 + 1e-14):
        length /= 2
    return length
