"""Products of the data with vectors and matrices: Xw, Xᵀu, XW and XᵀU; and the squared lengths of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._types import FloatArray
from ..formats import is_sparse
from .rows import blocks


def matvec(X: Any, w: FloatArray, out: FloatArray, threads: int = 1) -> None:
    """out[i, k] = x_i · w_k for every row of X and every row of w."""
    for rows, block in blocks(X):
        out[rows] = block @ w.T


def rmatvec(X: Any, u: FloatArray, out: FloatArray, threads: int = 1) -> None:
    """Σ u_i x_i, into `out`."""
    out[:] = 0.0
    for rows, block in blocks(X):
        out += u[rows] @ block


def squared_norms(X: Any, out: FloatArray, threads: int = 1) -> None:
    """out[i] = ‖x_i‖²."""
    for rows, block in blocks(X):
        squares = block.multiply(block) if is_sparse(block) else block**2  # ** of a sparse matrix is a matrix power
        out[rows] = np.asarray(squares.sum(axis=1)).ravel()


def matmat(X: Any, W: FloatArray, out: FloatArray, threads: int = 1) -> None:
    """XW, into `out`."""
    for rows, block in blocks(X):
        out[rows] = block @ W


def rmatmat(X: Any, U: FloatArray, out: FloatArray, threads: int = 1) -> None:
    """XᵀU, into `out`."""
    out[:] = 0.0
    for rows, block in blocks(X):
        out += block.T @ U[rows]
