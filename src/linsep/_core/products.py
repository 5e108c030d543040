"""The matrix behind `Rows`: dense or sparse, float32 or float64, with its products and its norms."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy import sparse

from .._common.structure import is_sparse
from .._common.types import FloatArray, IntArray
from . import reference
from .blas import take_buffers
from .formats import csr_parts, native
from .loading import compiled, compiled_name, kernels
from .workers import WORTH_A_THREAD, threads

#: Up to this share of entries that are not zero a dense matrix is cheaper to work on as a sparse one.
MOSTLY_ZERO = 0.3
#: Below this many entries a copy does not pay.
WORTH_COMPRESSING = 1_000_000
#: Dense rows are squared so many numbers at a time.
AT_ONCE = 1 << 17
#: Up to so many columns a Hessian is as cheap as a few products with it.
NARROW: int = kernels.NARROW


class StoredRows:
    """Rows of a matrix, and what needs to know neither losses nor labels.

    Entries of a sparse row for the same column are added up, unless it is known that there are none (`tidy`), or all
    that is asked of the rows is linear in them, and norms, which look for such entries themselves (`linear`).
    """

    def __init__(self, X: Any, *, tidy: bool = False, linear: bool = False) -> None:
        take_buffers()
        self.X = native(X)
        self.n, self.d = (int(size) for size in self.X.shape)
        self.is_sparse = is_sparse(self.X)
        self._norms: FloatArray | None = None
        self._linear = linear
        if not self.is_sparse:
            self._handle = kernels.dense(self.X)
            return
        self._handle = kernels.csr(*csr_parts(self.X), self.d)
        if not tidy and not linear and kernels.has_repeated_entries(self._handle, self._threads()):
            self.X = self.X.copy()  # the user's own matrix stays as it is
            self.X.sum_duplicates()
            self._handle = kernels.csr(*csr_parts(self.X), self.d)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.X,)

    def _threads(self, times: int = 1) -> int:
        """How many threads may share a pass that uses each number so many times; a short one is one thread's anyway."""
        return threads() if times * self.stored >= WORTH_A_THREAD else 1

    def _loop(self, loss: Any) -> tuple[Any, Any, Any]:
        """Return the kernels that know a loss, with the rows and the loss as they take them."""
        name = compiled_name(loss)
        return (reference, self.X, loss) if compiled is None or name is None else (compiled, self._handle, name)

    @property
    def stored(self) -> int:
        """How many numbers the matrix stores."""
        return int(self.X.nnz) if self.is_sparse else self.n * self.d

    @property
    def narrow(self) -> bool:
        """Whether there are so few columns, half of them filled at least, that a Hessian costs as much as a product."""
        return compiled is not None and self.d <= NARROW and 2 * self.stored >= self.n * self.d

    def matvec(self, w: FloatArray) -> FloatArray:
        """Xw for a vector, Xwᵀ for a matrix with one vector in each row; always in double precision."""
        w = np.ascontiguousarray(w, dtype=np.float64)
        vectors = w.reshape(-1, self.d)
        out = np.empty((self.n, len(vectors)))
        kernels.matvec(self._handle, vectors, out, self._threads(len(vectors)))
        return out if w.ndim == 2 else out[:, 0]

    def rmatvec(self, u: FloatArray) -> FloatArray:
        """Xᵀu, in double precision."""
        out = np.empty(self.d)
        kernels.rmatvec(self._handle, np.ascontiguousarray(u, dtype=np.float64), out, self._threads())
        return out

    def square_rmatvec(self, u: FloatArray) -> FloatArray:
        """Σ uᵢ xᵢ², entry by entry."""
        return self._squares.rmatvec(u) if self.is_sparse else np.asarray((self.X**2).T @ u, dtype=np.float64)

    @cached_property
    def _squares(self) -> Self:
        """The squares of sparse rows, made once: a Hessian's diagonal is asked for at every step."""
        X = type(self)(self.X).X if self._linear else self.X
        return type(self)(type(X)((np.square(X.data), X.indices, X.indptr), shape=X.shape), tidy=True)

    def matmat(self, W: FloatArray) -> FloatArray:
        """XW for a matrix with one vector in each column, in double precision."""
        out = np.empty((self.n, W.shape[1]))
        kernels.matmat(self._handle, np.ascontiguousarray(W), out, self._threads(W.shape[1]))
        return out

    def rmatmat(self, U: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """XᵀU for a matrix with one vector in each column, in double precision; into `out`, if that is given."""
        out = np.empty((self.d, U.shape[1])) if out is None else out
        kernels.rmatmat(self._handle, np.ascontiguousarray(U), out, self._threads(U.shape[1]))
        return out

    def squared_norms(self) -> FloatArray:
        """‖xᵢ‖² of every row, computed once."""
        if self._norms is None:
            rows = type(self)(self.X) if self._linear and self.is_sparse else self
            self._norms = rows.squared_sizes()  # now that it is filled: another thread may be asking
        return self._norms

    def squared_sizes(self) -> FloatArray:
        """Σ x² over what each row stores: ‖xᵢ‖², but for entries for the same column that nobody has added up."""
        if not self.is_sparse and self._norms is not None:
            return self._norms
        sizes = np.empty(self.n)
        kernels.squared_norms(self._handle, sizes, self._threads())
        if not self.is_sparse:
            self._norms = sizes
        return sizes

    def quadratic_forms(self, G: FloatArray) -> FloatArray:
        """[x, 1]ᵀ G [x, 1] of every row, for a symmetric G of size d + 1."""
        out = np.empty(self.n)
        kernels.quadratic_forms(
            self._handle, np.ascontiguousarray(G), out, self._threads(self.stored // max(self.n, 1) + 1)
        )
        return out

    def groups(self, codes: IntArray, most: int) -> tuple[IntArray, IntArray] | None:
        """Number the different pairs of row and code: the number of each row, and the row where each comes first.

        None where they are more than `most`. See `reference.group_rows`.
        """
        codes = np.ascontiguousarray(codes, dtype=np.int64)
        group, first = np.empty(self.n, dtype=np.int64), np.empty(most, dtype=np.int64)
        count = kernels.group_rows(self._handle, codes, group, first, threads())
        return (group, first[:count]) if count else None

    def filled(self) -> IntArray:
        """How many entries of each column are not zero (or stored as one)."""
        if self.is_sparse:
            return np.bincount(self.X.indices, minlength=self.d)
        return np.asarray(np.count_nonzero(self.X, axis=0))

    def shows(self, weight: FloatArray, unseen: FloatArray) -> FloatArray:
        """Return on how many rows each column shows, in effect: (Σ s x²)² / Σ s u x⁴; n of an empty column.

        With all weights one this is its participation ratio.
        """
        second, fourth = np.zeros(self.d), np.zeros(self.d)
        size = self.n if self.is_sparse else max(1, AT_ONCE // self.d)
        for part in (slice(at, at + size) for at in range(0, self.n, size)):  # which stays near, squared and again
            squares = self.X.multiply(self.X).tocsr() if self.is_sparse else np.square(self.X[part], dtype=np.float64)
            second += squares.T @ weight[part]
            squares = squares.multiply(squares).tocsr() if self.is_sparse else np.square(squares, out=squares)
            fourth += squares.T @ (weight * unseen)[part]
        everywhere = np.where(second > 0, np.inf, float(self.n))
        out: FloatArray = np.divide(second**2, fourth, out=everywhere, where=fourth > 0)
        return out

    def dense(self, which: IntArray | slice) -> FloatArray:
        """Return the rows `which` as a dense matrix in double precision."""
        part = self.X[which]
        return np.asarray(part.toarray() if self.is_sparse else part, dtype=np.float64)

    def some(self, which: IntArray | slice) -> Self:
        """Return the rows `which`."""
        return type(self)(self.X[which])

    def columns(self, which: IntArray) -> Self:
        """Return the same rows with the columns `which` alone."""
        return type(self)(self.X[:, which], tidy=True)

    def lean(self) -> Self:
        """Return the rows as a sparse matrix, if they are dense and mostly zeros, as images are; else themselves."""
        if self.is_sparse or compiled is None or self.n * self.d < WORTH_COMPRESSING:
            return self
        sample = self.X[:: max(1, self.n // 256)]
        if np.count_nonzero(sample) > MOSTLY_ZERO * sample.size:
            return self
        start = np.zeros(self.n + 1, dtype=np.int64)
        compiled.count_entries(self.X, start, self._threads())
        np.cumsum(start, out=start)
        if start[-1] > MOSTLY_ZERO * self.X.size:
            return self
        if start[-1] <= np.iinfo(np.int32).max:
            start = start.astype(np.int32)
        data, indices = np.empty(start[-1], dtype=self.X.dtype), np.empty(start[-1], dtype=start.dtype)
        compiled.compress(self.X, start, data, indices, self._threads())
        return type(self)(sparse.csr_array((data, indices, start), shape=(self.n, self.d)), tidy=True)
