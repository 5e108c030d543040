"""What is asked of data before a question about planes is put: finite numbers that floats hold exactly, and weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._common.types import IntArray
from ..arithmetic.exact_input import exact_matrix


def matrix_of(X: Any) -> Any:
    """Return X as a float matrix, dense or CSR; raise for what is not finite, or no 64-bit float exactly."""
    matrix = exact_matrix(X)
    if 0 in matrix.shape:
        raise ValueError(f"X has shape {matrix.shape}: there is nothing to separate, or nothing to do it by")
    return matrix if matrix.dtype in (np.float32, np.float64) else matrix.astype(np.float64)


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
