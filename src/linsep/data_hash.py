"""A hash of training data: the same for the same numbers, however they are stored."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ._core import is_sparse
from .checking import read_data
from .statement import plain

__all__ = ["data_hash", "differs"]

#: How many numbers of X are hashed in one go.
CHUNK = 2**17


def data_hash(X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> dict[str, Any]:
    """Return the sizes and the SHA-256 of X, of y and of the weights.

    Dense or sparse, float32 or float64, with or without stored zeros: the same numbers have the same hash. Weights that
    are all one are the same as none.

    Parameters
    ----------
    X, y, sample_weight
        What a model is fitted on.

    Examples
    --------
    >>> one, other = data_hash([[0.0, 1.0]], ["a"]), data_hash(sparse.csr_matrix([[0.0, 1.0]]), ["a"])
    >>> one == other, differs(one, data_hash([[0.0, 2.0]], ["a"]))
    (True, 'the rows of X are not those of the fit: their hash differs')
    """
    X, labels, s = read_data(X, y, sample_weight)
    return {
        "rows": int(X.shape[0]),
        "columns": int(X.shape[1]),
        "X": _hash_of_rows(X),
        "y": _hash_of_labels(labels),
        "sample_weight": None if s is None or (s == 1.0).all() else _sha256(s.astype("<f8").tobytes()),
    }


def differs(said: dict[str, Any], found: dict[str, Any]) -> str:
    """Return in what the data found are not those that were hashed, or nothing."""
    if (said["rows"], said["columns"]) != (found["rows"], found["columns"]):
        had = f"the fit had {said['rows']} of {said['columns']}"
        return f"the data have {found['rows']} rows of {found['columns']} columns, {had}"
    for name, words in (("X", "rows of X"), ("y", "labels"), ("sample_weight", "weights of the examples")):
        if said[name] != found[name]:
            return f"the {words} are not those of the fit: their hash differs"
    return ""


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _hash_of_rows(X: Any) -> str:
    """Hash the lengths of the rows, their columns and their values, the zeros left out."""
    lengths, columns, values = hashlib.sha256(), hashlib.sha256(), hashlib.sha256()
    if is_sparse(X) and X.has_canonical_format and X.data.all():
        # Nothing to tidy, nothing to copy; and two threads, because hashing lets go of the interpreter.
        with ThreadPoolExecutor(2) as pool:
            tasks = [pool.submit(_update, *each) for each in ((columns, X.indices, "<i8"), (values, X.data, "<f8"))]
            _update(lengths, np.diff(X.indptr), "<i8")
            for task in tasks:
                task.result()
    else:
        for rows in _tidied(X):
            _update(lengths, np.diff(rows.indptr), "<i8")
            _update(columns, rows.indices, "<i8")
            _update(values, rows.data, "<f8")
    return _sha256(lengths.digest() + columns.digest() + values.digest())


def _update(digest: Any, numbers: NDArray[Any], dtype: str) -> None:
    for first in range(0, len(numbers), CHUNK):
        digest.update(np.ascontiguousarray(numbers[first : first + CHUNK], dtype=dtype))


def _tidied(X: Any) -> Iterator[Any]:
    """Yield the rows, some at a time, as CSR without zeros."""
    n, d = X.shape
    size = max(1, n if is_sparse(X) else CHUNK // max(1, d))
    for first in range(0, n, size):
        rows = sparse.csr_matrix(X[first : first + size], dtype=np.float64, copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        yield rows


def _hash_of_labels(labels: NDArray[Any]) -> str:
    different, codes = np.unique(labels, return_inverse=True)
    # 1, 1.0 and True are the same label.
    names = [name if isinstance(name, str) else float(name) for name in map(plain, different.tolist())]
    return _sha256(json.dumps(names).encode() + codes.reshape(-1).astype("<i8").tobytes())
