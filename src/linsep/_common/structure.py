"""What compiled code may read: the structure of sparse matrices, alignment and order of bytes, before anything else.

Nothing of linsep is imported here, since the checker of exact proofs relies on it.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse

#: Formats whose indices are read by compiled code, which believes them.
INDEXED = ("csr", "csc", "bsr", "coo")


def is_sparse(X: Any) -> bool:
    """Whether X is a SciPy sparse matrix or array."""
    return bool(sparse.issparse(X))


def sound(X: Any, *, unread: bool = False) -> Any:
    """X as compiled code may read it; raise `ValueError` where a sparse one is damaged.

    Every way in for users' data goes through here first: neither SciPy's loops nor ours look where an index points
    before they read and write there, nor whether a number lies across two words of the memory. What is no array (a
    list, a table) is left to whoever makes one of it. Where our kernels are the first to read the entries of a CSR
    matrix, they check them on the way: `unread` leaves that to them.

    Of a sparse matrix the indices are copied, in 32 bits where these suffice, and the copy is what is checked and read
    from then on: another thread that writes into them cannot lead a loop astray. Its numbers are not copied; should
    they change meanwhile, the answer is that of no matrix, but there is one.

    Examples
    --------
    >>> X = sparse.csr_array([[1.0, 2.0], [0.0, 3.0]])
    >>> own = sound(X)
    >>> np.shares_memory(own.data, X.data), np.shares_memory(own.indices, X.indices)
    (True, False)
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
        return sound(_indexed(X))
    names = ("data", "row", "col") if X.format == "coo" else ("data", "indices", "indptr")
    data, first, second = (np.asarray(getattr(X, name)) for name in names)
    unread = unread and X.format == "csr" and X.dtype in (np.float32, np.float64)
    if not first.dtype == second.dtype == np.int32:  # the copy may lack the digits that are wrong
        _check_structure(X, data, first, second, unread=False)
    largest = max(*X.shape, len(first))
    first, second = _copied(first, largest), _copied(second, largest)
    _check_structure(X, data, first, second, unread=unread)
    form = getattr(sparse, f"{X.format}_{'array' if isinstance(X, sparse.sparray) else 'matrix'}")
    data = aligned(data, data.dtype.newbyteorder("="))
    return form((data, (first, second)) if X.format == "coo" else (data, first, second), shape=X.shape)


def _copied(indices: Any, largest: int) -> Any:
    """Return a copy of indices, of 32 bits if the largest possible fits in."""
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        return indices  # which are none, and are refused
    return indices.astype(np.int32 if largest <= np.iinfo(np.int32).max else np.int64)


def _indexed(X: Any) -> Any:
    """Return a matrix of lists, of a dictionary or of diagonals with indices instead."""
    if X.format == "dia":
        return type(X)((X.data, X.offsets.copy()), shape=X.shape).tocsr()
    if X.format != "lil":
        return X.tocsr()
    columns, values = [list(row) for row in X.rows], [list(row) for row in X.data]
    lengths = [len(row) for row in columns]
    if lengths != [len(row) for row in values]:
        raise _damage(X, "a row has more numbers than columns, or fewer")
    indices = np.fromiter(chain.from_iterable(columns), np.int64, sum(lengths))
    data = np.fromiter(chain.from_iterable(values), X.dtype, sum(lengths))
    form = sparse.csr_array if isinstance(X, sparse.sparray) else sparse.csr_matrix
    return form((data, indices, np.cumsum([0, *lengths])), shape=X.shape)


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
