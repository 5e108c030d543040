"""What compiled code may read: the structure of sparse matrices, alignment and order of bytes, before anything else.

Nothing of linsep is imported here, since the checker of exact proofs relies on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

#: Formats whose indices are read by compiled code, which believes them.
INDEXED = ("csr", "csc", "bsr", "coo")


def is_sparse(X: Any) -> bool:
    """Whether X is a SciPy sparse matrix or array."""
    return bool(sparse.issparse(X))


def sound(X: Any, *, unread: bool = False) -> Any:
    """X itself, or a copy that compiled code may read; raise `ValueError` where a sparse one is damaged.

    Every way in for users' data goes through here first: neither SciPy's loops nor ours look where an index points
    before they read and write there, nor whether a number lies across two words of the memory. What is no array (a
    list, a table) is left to whoever makes one of it. Where our kernels are the first to read the entries of a CSR
    matrix, they check them on the way: `unread` leaves that to them.

    Examples
    --------
    >>> X = sparse.csr_array([[1.0, 2.0], [0.0, 3.0]])
    >>> sound(X) is X
    True
    >>> X.indices[0] = -1
    >>> sound(X)
    Traceback (most recent call last):
    ...
    ValueError: the CSR matrix is damaged or its indices overflowed: indices has -1, and there are 2 columns (0 to 1)
    """
    if isinstance(X, np.ndarray):
        if X.flags.aligned and X.dtype.isnative:
            return X
        return X.astype(X.dtype.newbyteorder("="))
    if not is_sparse(X) or X.ndim != 2:
        return X
    if X.format not in INDEXED:
        return sound(X.tocsr())  # of Python's own lists and tables, or of diagonals, which have no indices
    names = ("data", "row", "col") if X.format == "coo" else ("data", "indices", "indptr")
    parts = [np.asarray(getattr(X, name)) for name in names]
    unread = unread and X.format == "csr" and X.dtype in (np.float32, np.float64)
    _check_structure(X, *parts, unread=unread)
    if all(part.flags.c_contiguous and part.flags.aligned and part.dtype.isnative for part in parts):
        return X
    data, *places = (aligned(part, part.dtype.newbyteorder("=")) for part in parts)
    return type(X)((data, tuple(places)) if X.format == "coo" else (data, *places), shape=X.shape)


def _check_structure(X: Any, data: Any, first: Any, second: Any, *, unread: bool) -> None:
    """Raise unless every index of a sparse matrix lies within it: `first` and `second` are its two arrays of them."""
    height, width = X.shape
    if any(part.ndim != 1 or part.dtype.kind not in "iu" for part in (first, second)):
        raise _damage(X, "its indices must be whole numbers, in one dimension")
    if X.format == "coo":
        if not len(data) == len(first) == len(second):
            raise _damage(X, f"data, row and col have {len(data)}, {len(first)} and {len(second)} entries")
        _check_range(X, "row", first, height, "rows")
        _check_range(X, "col", second, width, "columns")
        return
    if X.format == "bsr":
        if data.ndim != 3 or 0 in data.shape[1:] or height % data.shape[1] or width % data.shape[2]:
            raise _damage(X, f"blocks of shape {data.shape[1:]} do not fill a matrix of shape {X.shape}")
        height, width = height // data.shape[1], width // data.shape[2]
    elif X.format == "csc":
        height, width = width, height
    if len(second) != height + 1 or second[0] != 0:
        raise _damage(X, f"indptr must have {height + 1} entries, the first of which is 0")
    if not 0 <= second[-1] <= min(len(data), len(first)):
        raise _damage(X, f"indptr ends at {second[-1]}, and there are {min(len(data), len(first))} entries")
    if unread:
        return
    if (second[1:] < second[:-1]).any():
        raise _damage(X, f"indptr decreases at entry {int((second[1:] < second[:-1]).argmax()) + 1}")
    _check_range(X, "indices", first[: int(second[-1])], width, "rows" if X.format == "csc" else "columns")


def _check_range(X: Any, part: str, indices: Any, size: int, kind: str) -> None:
    if len(indices) and (indices.min() < 0 or indices.max() >= size):
        bad = indices[int(((indices < 0) | (indices >= size)).argmax())]
        raise _damage(X, f"{part} has {bad}, and there are {size} {kind} (0 to {size - 1})")


def _damage(X: Any, what: str) -> ValueError:
    return ValueError(f"the {X.format.upper()} matrix is damaged or its indices overflowed: {what}")


def check_rows(X: Any) -> None:
    """Raise unless a CSR matrix has as many rows as it says, and indices that are some."""
    if len(X.indptr) != X.shape[0] + 1 or X.indices.dtype.kind not in "iu" or X.indptr.dtype.kind not in "iu":
        raise _damage(X, f"indptr must have {X.shape[0] + 1} entries, and indices must be whole numbers")


def aligned(part: Any, dtype: Any) -> Any:
    """Return an array of that type in C order, each number of which lies at a multiple of its size."""
    part = np.ascontiguousarray(part, dtype=dtype)
    return part if part.flags.aligned else part.copy()
