"""Predictions: scores, labels and probabilities of rows that nobody has looked at yet."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, softmax

from ..._types import FloatArray, IntArray
from .products import matvec


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
