"""What the kernels read: float32 or float64, dense in C order or CSR, each without a copy where it is so already."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._types import FloatArray


def is_sparse(X: Any) -> bool:
    """Whether X is a SciPy sparse matrix or array."""
    return bool(sparse.issparse(X))


def length(v: FloatArray) -> float:
    """‖v‖, without a BLAS: its threads would have to wait for ours."""
    return float(np.sqrt(np.einsum("i,i->", v, v)))


def native(X: Any) -> Any:
    """X as the kernels read it: C-contiguous float32 or float64 (or CSR of these). Copies only what is not."""
    dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    if not is_sparse(X):
        return np.ascontiguousarray(X, dtype=dtype.newbyteorder("="))
    return X.tocsr().astype(dtype, copy=False)


def csr_parts(X: Any) -> tuple[Any, Any, Any]:
    """Return the three arrays of a CSR matrix, contiguous, with both index arrays of one width; SciPy may mix them."""
    width = np.int32 if X.indices.dtype == X.indptr.dtype == np.int32 else np.int64
    indices, indptr = (np.ascontiguousarray(part, dtype=width) for part in (X.indices, X.indptr))
    return np.ascontiguousarray(X.data), indices, indptr
