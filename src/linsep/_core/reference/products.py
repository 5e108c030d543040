"""Products of the data with vectors and matrices, Xw, Xᵀu, XW and XᵀU; squared lengths of the rows; and predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, softmax

from ..._common.structure import is_sparse
from ..._common.types import FloatArray, IntArray
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


def quadratic_forms(X: Any, G: FloatArray, out: FloatArray, threads: int = 1) -> None:
    """out[i] = [x_i, 1]ᵀ G [x_i, 1] for a symmetric G."""
    for rows, block in blocks(X):
        products = block @ G[:-1, :-1] + 2.0 * G[-1, :-1]
        terms = block.multiply(products) if is_sparse(block) else block * products
        out[rows] = np.asarray(terms.sum(axis=1)).ravel() + G[-1, -1]


def matmat(X: Any, W: FloatArray, out: FloatArray, threads: int = 1) -> None:
    """XW, into `out`."""
    for rows, block in blocks(X):
        out[rows] = block @ W


def rmatmat(X: Any, U: FloatArray, out: FloatArray, threads: int = 1) -> None:
    """XᵀU, into `out`."""
    out[:] = 0.0
    for rows, block in blocks(X):
        out += block.T @ U[rows]


def scores(X: Any, W: FloatArray, b: FloatArray, out: FloatArray, threads: int) -> bool:
    """out[i, k] = x_i · w_k + b_k; whether all are finite, and with them every entry of X."""
    with np.errstate(over="ignore", invalid="ignore"):
        matvec(X, W, out)
        out += b
    return bool(np.isfinite(out).all())


def labels(X: Any, W: FloatArray, b: FloatArray, table: IntArray, out: IntArray, threads: int) -> bool:
    """out[i] = table[1] if g > 0, else table[0]; of several planes the entry of the highest; and as `scores`."""
    g = np.empty((X.shape[0], len(W)))
    finite = scores(X, W, b, g, threads)
    table.take(g[:, 0] > 0 if len(W) == 1 else g.argmax(axis=1), out=out, mode="clip")
    return finite


def probabilities(X: Any, W: FloatArray, b: FloatArray, out: FloatArray, threads: int) -> bool:
    """σ(−g) and σ(g), or the softmax of several g, into `out`; and as `scores`."""
    g = np.empty((X.shape[0], len(W)))
    finite = scores(X, W, b, g, threads)
    with np.errstate(invalid="ignore"):
        out[:] = np.concatenate([expit(-g), expit(g)], axis=1) if len(W) == 1 else softmax(g, axis=1)
    return finite
