"""Preconditioned conjugate gradients: steps of Newton's method by products with a Hessian that nobody writes down."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..._common.types import BoolArray, FloatArray
from .preconditioner import Metric


def conjugate_gradients(
    bend: Callable[[FloatArray], FloatArray],
    right: FloatArray,
    metric: Metric,
    accuracy: float,
    most: int,
    told: Callable[[], None] | None = None,
    free: BoolArray | None = None,
) -> tuple[FloatArray, int]:
    """Solve H p = right until the residual, in the metric, has fallen to `accuracy` of what it was.

    Returns p, and how many products with H, `bend`, it took. `free`: which coordinates are free; the others are kept.
    """
    residual = right.copy() if free is None else np.where(free, right, 0.0)
    p = np.zeros_like(residual)
    direction = metric.solve(residual)
    first = size = dot(residual, direction)
    products = 0
    while products < most:
        bent = bend(direction)
        if free is not None:
            bent[~free] = 0.0
        products += 1
        if told is not None:
            told()
        if not (curvature := dot(direction, bent)) > 0:
            break  # nothing bends this way
        t = size / curvature
        p += t * direction
        bent *= t
        residual -= bent
        towards = metric.solve(residual)
        new = dot(residual, towards)
        if new <= accuracy**2 * first:
            break
        direction *= new / size
        direction += towards
        size = new
    return p, products


def dot(A: FloatArray, B: FloatArray) -> float:
    """Σ AB, of vectors or matrices."""
    return float(A @ B) if A.ndim == 1 else float(np.einsum("jk,jk->", A, B))
