"""Rows of a matrix as a user gave it, dense or CSR: the checks that compiled loops rely on, and what is repeated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from ..._common.structure import is_sparse
from ..._common.types import FloatArray, IntArray


def dense(X: Any) -> Any:
    """Return the array itself."""
    return X


def csr(data: Any, indices: Any, indptr: Any, d: int) -> Any:
    """Return the CSR array over these three arrays, after checking every index; nothing is copied."""
    if len(indptr) == 0 or indptr[0] != 0:
        raise ValueError("CSR indptr must begin with 0")
    if np.any(np.diff(indptr) < 0):
        raise ValueError("CSR indptr decreases: the row boundaries are damaged or overflowed")
    if len(data) != len(indices) or indptr[-1] > len(indices):
        raise ValueError("CSR indptr points past the end of the data")
    used = indices[: indptr[-1]]
    if used.size and (used.min() < 0 or used.max() >= d):
        raise ValueError("CSR column index out of range: the indices are damaged or overflowed")
    return sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, d), copy=False)


def blocks(X: Any) -> Iterator[tuple[slice, Any]]:
    """Rows of X, a block at a time, in double precision: float data lose nothing in the sums."""
    step = max(1, 2**20 // max(1, X.shape[1]))
    for first in range(0, X.shape[0], step):
        rows = slice(first, first + step)
        yield rows, X[rows].astype(np.float64, copy=False)


def dense_row(X: Any, i: int) -> FloatArray:
    """Return row i as a dense array of doubles."""
    row = X[[i]].toarray()[0] if is_sparse(X) else X[i]
    return np.asarray(row, dtype=np.float64)


def group_rows(X: Any, codes: IntArray, group: IntArray, first: IntArray, threads: int) -> int:
    """Number the different pairs of row and code in the order in which they come; return how many there are.

    ``group[i]`` is the number of row i's pair, ``first[g]`` where pair g comes first. 0 where `first` has no room.
    """
    numbers: dict[tuple[Any, ...], int] = {}
    for i, code in enumerate(codes.tolist()):
        x = X[[i]]
        parts = (x.indices.tobytes(), x.data.tobytes()) if is_sparse(X) else (x.tobytes(),)
        pair = (code, *parts)
        if pair not in numbers:
            if len(numbers) == len(first):
                return 0
            numbers[pair] = len(numbers)
            first[numbers[pair]] = i
        group[i] = numbers[pair]
    return len(numbers)


def has_repeated_entries(X: Any, threads: int) -> bool:
    """Whether some row of a CSR array names a column twice."""
    tidy = X.copy()
    tidy.sum_duplicates()
    return bool(tidy.nnz < X.nnz)
