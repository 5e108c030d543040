"""The Hessian of the sum of losses, Σ h [x, 1][x, 1]ᵀ: its products with vectors, and the matrix itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import blas

from ..._types import FloatArray, IntArray
from ..formats import is_sparse
from .products import matvec, rmatvec


def hessian_product(X: Any, h: FloatArray, v: FloatArray, c: float, out: FloatArray, threads: int = 1) -> None:
    """Out = Σ h (x·v + c) [x, 1]."""
    g = np.empty((X.shape[0], 1))
    matvec(X, v[None, :], g)
    t = h * (g[:, 0] + c)
    rmatvec(X, t, out[:-1])
    out[-1] = t.sum()


def gram(X: Any, h: FloatArray, which: IntArray, out: FloatArray, threads: int = 1) -> None:
    """Add Σ h [x, 1][x, 1]ᵀ over the rows `which` to the lower triangle of `out`.

    In single precision where it is much work: a Hessian shapes a step, not the answer. SciPy's BLAS, because its LAPACK
    comes next: NumPy has another one, and the threads of the two are in each other's way.
    """
    dtype = np.float64 if len(which) * X.shape[1] ** 2 < 10**9 else np.float32
    syrk = blas.dsyrk if dtype is np.float64 else blas.ssyrk
    size = max(1, 2**21 // X.shape[1])
    root = np.sqrt(h).astype(dtype, copy=False)
    for first in range(0, len(which), size):
        part = which[first : first + size]
        rows = X if len(part) == X.shape[0] else X[part]
        block = np.empty((len(part), X.shape[1] + 1), dtype)
        np.multiply(rows.toarray() if is_sparse(X) else rows, root[part, None], out=block[:, :-1], casting="same_kind")
        block[:, -1] = root[part]
        out += syrk(1.0, block.T, lower=0).T
