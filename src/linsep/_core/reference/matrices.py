"""Products of the data with matrices: XW and XᵀU."""

from __future__ import annotations

from typing import Any

from ..._types import FloatArray
from .rows import blocks


def matmat(X: Any, W: FloatArray, out: FloatArray, threads: int = 1) -> None:
    """XW, into `out`."""
    for rows, block in blocks(X):
        out[rows] = block @ W


def rmatmat(X: Any, U: FloatArray, out: FloatArray, threads: int = 1) -> None:
    """XᵀU, into `out`."""
    out[:] = 0.0
    for rows, block in blocks(X):
        out += block.T @ U[rows]
