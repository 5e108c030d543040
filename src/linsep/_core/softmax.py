"""Passes over the examples that the softmax of several planes needs: its losses, their gradient and Hessian."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import blas

from .._common.types import FloatArray, IntArray
from .loading import kernels
from .products import StoredRows
from .workers import threads

#: The planes lie side by side in whole registers, of so many bytes.
REGISTER = 32
#: Of rows that are no longer than this, nor shorter than one over it, products in single precision stay in its range.
TAME = 1e12
#: Rows whose curvature is below this share of the mean one bend nothing that a step would notice.
UNBENT = 1e-4
#: So many numbers of rows times classes are multiplied at a time: they stay near.
IN_CACHE = 2**19


class SoftmaxSums(NamedTuple):
    """What one pass over the examples gives: see `SoftmaxRows.softmax`."""

    value: float  # Σ s (−log p of the own class)
    mistakes: float  # Σ s over the examples whose class has not the highest score
    entropy: float  # Σ s Σ −p log p
    p: FloatArray  # of each example, shape (n, K)
    doubt: FloatArray  # 1 − p of the class that has the highest, of each example
    expected: tuple[FloatArray, FloatArray]  # Σ s p xᵀ, shape (d, K), and Σ s p


class SoftmaxRows(StoredRows):
    """Rows over which the losses of a softmax are summed."""

    _rounded: SoftmaxRows | None = None

    def softmax(self, codes: IntArray, weight: FloatArray | None, w: FloatArray, b: FloatArray) -> SoftmaxSums:
        """Return the sum of losses at planes w, shape (d, K), and intercepts b, with what its gradient needs."""
        K = len(b)
        W = side_by_side(w, b, np.float64)
        P, doubt, sums, out = np.empty((self.n, K)), np.empty(self.n), np.empty(3), np.empty(W.shape)
        codes = np.ascontiguousarray(codes, dtype=np.int64)
        kernels.softmax_evaluate(self._handle, codes, weight, W, P, doubt, sums, out, self._threads(K))
        value, mistakes, entropy = sums.tolist()
        return SoftmaxSums(value, mistakes, entropy, P, doubt, (np.ascontiguousarray(out[:-1, :K]), out[-1, :K].copy()))

    def class_sums(self, codes: IntArray, s: FloatArray, K: int) -> FloatArray:
        """Σ s x over the rows of each class: shape (d, K)."""
        out = np.empty((K, self.d))
        kernels.class_sums(self._handle, np.ascontiguousarray(codes, dtype=np.int64), s, out, threads())
        return np.ascontiguousarray(out.T)

    def softmax_products(
        self, p: FloatArray, doubt: FloatArray, s: FloatArray, *, exact: bool = False
    ) -> Callable[[FloatArray], FloatArray]:
        """Return V ↦ Σ s (p ∘ u − p (p·u)) [x, 1]ᵀ, u = [x, 1] V, for V of shape (d + 1, K).

        It shapes a step, not the answer: unless it is to be exact, in single precision where the rows allow it, over
        the rows that bend.
        """
        K, lengths, n = p.shape[1], self.squared_norms(), max(1, self.n)  # a block may be empty
        dtype = np.float64 if exact else self.rough(s)
        rows = self._single() if dtype is np.float32 else self
        bends = s * doubt * (lengths + lengths.sum() / n)
        which = np.arange(self.n) if exact else np.flatnonzero(bends > UNBENT * bends.sum() / n)

        def product(V: FloatArray) -> FloatArray:
            planes = side_by_side(V, None, dtype)
            out = np.empty(planes.shape)
            kernels.softmax_product(rows._handle, which, p, s, planes, out, self._threads(K))
            return out[:, :K]

        return product

    def softmax_dual_pass(
        self, codes: IntArray, c: FloatArray, order: IntArray, *, constant: float, **state: Any
    ) -> tuple[float, float]:
        """One pass of dual ascent in this order, changing `logs`, `W` and `moved`; return gap and losses as met."""
        sums, codes = np.empty(2), np.ascontiguousarray(codes, dtype=np.int64)
        kernels.softmax_dual_pass(self._handle, order, codes, c, self.squared_norms(), constant, **state, sums=sums)
        return float(sums[0]), float(sums[1])

    def margin_dual_pass(
        self, codes: IntArray, c: FloatArray, order: IntArray, *, constant: float, **state: Any
    ) -> tuple[float, float]:
        """One pass of dual ascent by margins, changing `masses`, `W`, `moved` and `still`; return gap and losses."""
        sums = np.empty(2)
        kernels.margin_dual_pass(self._handle, order, codes, c, self.squared_norms(), constant, **state, sums=sums)
        return float(sums[0]), float(sums[1])

    def rough(self, s: FloatArray) -> Any:
        """Return the type of numbers for what shapes a step only: single precision where rows and weights allow it."""
        longest, heaviest = float(self.squared_norms().max(initial=0.0)) or 1.0, float(s.max(initial=1.0))
        return np.float32 if longest > 1 / TAME and longest * heaviest < TAME else np.float64

    def softmax_gram(self, p: FloatArray, s: FloatArray, which: IntArray | None, dtype: Any = np.float64) -> FloatArray:
        """Σ s (diag(p) − ppᵀ) ⊗ [x, 1][x, 1]ᵀ over rows, `which` or all, whose weights s are; the lower triangle.

        The weights of a class side by side; p is that of all rows.
        """
        K, size, rows = p.shape[1], self.d + 1, np.arange(self.n) if which is None else which
        out = np.empty((K * size, K * size), dtype)
        kernels.softmax_gram(self._handle, rows, p, s, out, threads())
        return out

    def class_inverses(
        self,
        p: FloatArray,
        s: FloatArray,
        most: float,
        offsets: FloatArray,
        l2: float,
        *,
        intercept: bool,
        nudge: float,
    ) -> FloatArray:
        """(l2·I + Σ s pₖ (1 − pₖ) [x, 1][x, 1]ᵀ)⁻¹ of each class, in single precision, over about so many rows.

        `offsets` are random numbers, one a class, that say which rows are drawn: see `sampling.draw`. For few columns.
        """
        K, size = p.shape[1], self.d + intercept
        out = np.empty((K * size, size), dtype=np.float32)
        told = most, offsets, l2, intercept, nudge, out, threads()
        kernels.class_inverses(self._handle, p, s, self.squared_norms(), *told)
        return out.reshape(K, size, size)

    def rough_gram(self, h: FloatArray, which: IntArray) -> FloatArray:
        """Σ h [x, 1][x, 1]ᵀ over the rows `which`, whose h these are, as precise as steps need; the lower triangle."""
        dtype = self.rough(h)
        syrk, some = blas.dsyrk if dtype is np.float64 else blas.ssyrk, max(1, IN_CACHE // (self.d + 1))
        out = np.zeros((self.d + 1, self.d + 1), dtype)
        for first in range(0, len(which), some):
            part = slice(first, first + some)
            x = np.ones((len(which[part]), self.d + 1), dtype)
            x[:, :-1] = self.dense(which[part])
            x *= np.sqrt(h[part, None]).astype(dtype)
            out += syrk(1.0, x.T, lower=0).T
        return out

    def _single(self) -> SoftmaxRows:
        """Return dense rows in single precision, made once: to round each number anew takes longer than its product."""
        if self.is_sparse or self.X.dtype == np.float32:
            return self
        if self._rounded is None:
            out = np.empty(self.X.shape, dtype=np.float32)
            kernels.round_rows(self._handle, out, threads())
            self._rounded = SoftmaxRows(out)
        return self._rounded


def mixed_entropy(p: FloatArray, codes: IntArray, s: FloatArray, share: float, t: float, q: FloatArray) -> float:
    """Σ s times the entropy of `share` ((1 − t) p + t q), the rest of each example on its own class."""
    told = share * (1.0 - t), share * t, q, 1.0 - share, threads()
    return float(kernels.mixed_entropy(p, np.ascontiguousarray(codes, dtype=np.int64), s, *told))


def side_by_side(w: FloatArray, b: FloatArray | None, dtype: Any) -> FloatArray:
    """Return a matrix, with b as its last row if given, its columns filled up with zeros to whole registers."""
    columns, lanes = w.shape[1], REGISTER // np.dtype(dtype).itemsize
    out = np.zeros((len(w) + (b is not None), -(-columns // lanes) * lanes), dtype=dtype)
    out[: len(w), :columns] = w
    if b is not None:
        out[-1, :columns] = b
    return out
