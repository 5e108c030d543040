"""Kernels and matrices of every kind that the tests of the kernels run over."""

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy import sparse

from linsep._core import _kernels

COMPILED = [_kernels]
if _kernels.has_avx2():
    from linsep._core import _kernels_avx2

    COMPILED.append(_kernels_avx2)

every_kernel = pytest.mark.parametrize("kernels", COMPILED, ids=lambda module: module.__name__.rsplit(".", 1)[-1])
every_loss = pytest.mark.parametrize(
    "name", ["perceptron", "hinge", "squared_hinge", "modified_huber", "logistic", "square"]
)


def matrix(rng, n, d, kind, dtype):
    """A random matrix with rows of length about one: dense, or CSR with either width of index."""
    X = (rng.standard_normal((n, d)) / np.sqrt(d)).astype(dtype)
    if kind == "dense":
        return X
    X = sparse.csr_array(np.where(rng.random((n, d)) < 0.4, X, dtype(0)))
    X.indices, X.indptr = X.indices.astype(kind), X.indptr.astype(kind)
    return X


def handle(kernels, X):
    return kernels.csr(X.data, X.indices, X.indptr, X.shape[1]) if sparse.issparse(X) else kernels.dense(X)


def as_double(X):
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


shapes = dict(n=st.integers(1, 12), d=st.integers(1, 300), seed=st.integers(0, 2**32 - 1))
formats = dict(
    kind=st.sampled_from(["dense", np.int32, np.int64]), dtype=st.sampled_from([np.float32, np.float64])
)  # beyond 128 columns the dense product runs in blocks
