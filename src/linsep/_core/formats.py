"""What the kernels read: float32 or float64, dense in C order or CSR, each without a copy where it is so already."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._common.structure import aligned, check_rows, is_sparse, sound
from .._common.types import FloatArray


def length(v: FloatArray) -> float:
    """‖v‖, without a BLAS: its threads would have to wait for ours."""
    return float(np.sqrt(np.einsum("i,i->", v, v)))


def native(X: Any) -> Any:
    """X as the kernels read it: C-contiguous float32 or float64 (or CSR of these). Copies only what is not."""
    dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    if not is_sparse(X):
        return aligned(X, dtype.newbyteorder("="))
    return (X if X.format == "csr" else sound(X).tocsr()).astype(dtype, copy=False)  # whose parts `csr_parts` looks at


def csr_parts(X: Any) -> tuple[Any, Any, Any]:
    """Return the three arrays of a CSR matrix, contiguous, with both index arrays of one width; SciPy may mix them."""
    check_rows(X)
    width = np.int32 if X.indices.dtype == X.indptr.dtype == np.int32 else np.int64
    return aligned(X.data, X.dtype), aligned(X.indices, width), aligned(X.indptr, width)
