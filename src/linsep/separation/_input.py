"""What is asked of data before a question about planes is put: finite numbers that floats hold exactly, and weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .._core import is_sparse
from .._types import IntArray
from ..arithmetic.exact_input import refuse_inexact


def matrix_of(X: Any) -> Any:
    """Return X as a float matrix, dense or CSR; raise for what is not finite, or no 64-bit float exactly."""
    refuse_inexact(X)
    if is_sparse(X):
        matrix: Any = sparse.csr_matrix(X)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
    else:
        matrix = np.asarray(X)
        if matrix.dtype.kind == "O":
            matrix = matrix.astype(np.float64)
        if matrix.ndim != 2:
            raise ValueError(f"X has shape {matrix.shape}; it needs rows and columns")
    if matrix.dtype.kind not in "fiub":
        raise ValueError(f"X has dtype {matrix.dtype}; it needs numbers")
    if 0 in matrix.shape:
        raise ValueError(f"X has shape {matrix.shape}: there is nothing to separate, or nothing to do it by")
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    values = matrix.data if is_sparse(matrix) else matrix
    if not np.isfinite(values).all():
        row = _first_bad_row(matrix)
        raise ValueError(f"X has a NaN or an infinite value in row {row}; leave such rows out or fill them in first")
    return matrix


def _first_bad_row(matrix: Any) -> int:
    if is_sparse(matrix):
        return int(np.searchsorted(matrix.indptr, int(np.argmax(~np.isfinite(matrix.data))), side="right")) - 1
    return int(np.argmax(~np.isfinite(matrix).all(axis=1)))


def counted_rows(sample_weight: ArrayLike, n: int) -> IntArray:
    """Return the rows that have weight; raise for weights that are none.

    Examples
    --------
    >>> counted_rows([1.0, 0.0, 2.5], 3)
    array([0, 2])
    """
    weight = np.asarray(sample_weight)
    if weight.shape != (n,):
        raise ValueError(f"sample_weight has shape {weight.shape}; it needs one weight for each of the {n} rows of X")
    if weight.dtype.kind not in "fiub" or not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError("sample_weight has a weight that is negative or not a finite number")
    return np.flatnonzero(weight > 0)


def columns_of(X: Any) -> list[str] | None:
    """Return what a table calls its columns, or None for what is no table."""
    return [str(name) for name in X.columns] if hasattr(X, "columns") else None
