"""What nobody has checked yet, read in one pass: by planes the rows of a matrix, for predictions; and LIBSVM text."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.structure import is_sparse, sound
from .._common.types import FloatArray
from . import reference
from .formats import csr_parts
from .loading import compiled, kernels
from .workers import threads, threads_for


def scores(X: Any, W: FloatArray, b: FloatArray) -> tuple[FloatArray, bool]:
    """Return g = x·w + b, one row of `W` a column, and whether all are finite: then so is every entry of X.

    >>> scores(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]), np.array([0.5]))
    (array([[11.5]]), True)
    """
    out = np.empty((X.shape[0], len(W)))
    return out, _read(X, "scores", W, b, out)


def labels(X: Any, W: FloatArray, b: FloatArray, classes: NDArray[Any]) -> tuple[NDArray[Any], bool]:
    """Return ``classes[1]`` where g > 0, else ``classes[0]``; of several planes the highest one's; and as `scores`.

    >>> labels(np.array([[1.0], [-1.0]]), np.array([[3.0]]), np.array([0.0]), np.array(["no", "yes"]))
    (array(['yes', 'no'], dtype='<U3'), True)
    """
    # Values of eight bytes are written as they are; others are looked up afterwards.
    straight = classes.dtype.kind in "iuf" and classes.itemsize == 8 and classes.dtype.isnative
    table = np.ascontiguousarray(classes).view(np.int64) if straight else np.arange(len(classes))
    out = np.empty(X.shape[0], dtype=np.int64)
    finite = _read(X, "labels", W, b, table, out)
    return out.view(classes.dtype) if straight else classes.take(out), finite


def probabilities(X: Any, W: FloatArray, b: FloatArray) -> tuple[FloatArray, bool]:
    """Return σ(−g) and σ(g) in two columns; of several planes the softmax of g; and as `scores`.

    >>> probabilities(np.array([[1.0]]), np.array([[0.0]]), np.array([0.0]))
    (array([[0.5, 0.5]]), True)
    """
    out = np.empty((X.shape[0], max(2, len(W))))
    return out, _read(X, "probabilities", W, b, out)


def _read(X: Any, loop: str, W: FloatArray, b: FloatArray, *into: NDArray[Any]) -> bool:
    """Let planes read the rows of X: float32 or float64, dense or CSR, checked by nobody yet."""
    W, b = np.ascontiguousarray(W, dtype=np.float64), np.ascontiguousarray(b, dtype=np.float64)
    sparse_rows = is_sparse(X)
    if compiled is None or not (sparse_rows or X.flags.c_contiguous):  # columns one after the other suit a BLAS
        X = reference.csr(*csr_parts(sound(X)), X.shape[1]) if sparse_rows else X
        return bool(getattr(reference, loop)(X, W, b, *into, 1))
    handle = compiled.unread_csr(*csr_parts(X), X.shape[1]) if sparse_rows else compiled.dense(X)
    work = len(W) * (X.nnz if sparse_rows else X.size)
    return bool(getattr(compiled, loop)(handle, W, b, *into, threads_for(work)))


def libsvm_text(text: NDArray[np.uint8]) -> Any:
    """Return LIBSVM text ready to be parsed, and how much room that takes; see `reference.LibsvmText`."""
    return kernels.LibsvmText(text, threads())
