"""The risk over two parameters of a plane, the others as they are: what a landscape of it is drawn from."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import losses
from .._common.types import FloatArray
from .._core import is_sparse
from ..geometry import augment
from ..losses import Loss

Limits = tuple[float, float]


def around(values: FloatArray) -> Limits:
    """Return from where to where a picture of these numbers goes, with air around them."""
    low, high = float(values.min()), float(values.max())
    air = 0.25 * (high - low) or 1.0
    return low - air, high + air


def risks_over(
    X: Any, y: FloatArray, theta: FloatArray, where: tuple[int, int], grid: list[FloatArray], loss: Loss
) -> tuple[FloatArray, FloatArray]:
    """Return the mean loss and the share of mistakes at every point of the grid, a row for each of grid[1]."""
    fixed, varied = theta.copy(), augment(X)[:, list(where)]
    fixed[list(where)] = 0.0
    g = np.asarray(X @ fixed[:-1], dtype=np.float64) + fixed[-1]
    first, second = np.asarray(varied.toarray() if is_sparse(varied) else varied).T
    zero_one = losses.ZeroOne()
    risk, mistakes = np.empty((2, len(grid[1]), len(grid[0])))
    for row, v in enumerate(grid[1]):
        z = y[:, None] * ((g + v * second)[:, None] + np.outer(first, grid[0]))
        risk[row], mistakes[row] = loss.value(z).mean(axis=0), zero_one.value(z).mean(axis=0)
    return risk, mistakes
