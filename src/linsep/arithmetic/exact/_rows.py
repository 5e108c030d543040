"""Floats as whole numbers times powers of two: the rows of the data, planes, and their scalar products."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..exact_input import refuse_inexact

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Number = float | Fraction
Numbers = Sequence[Number] | FloatArray

#: How many numbers of X are looked at in one go.
CHUNK = 2**20


def mantissas(values: FloatArray) -> tuple[IntArray, IntArray]:
    """Return odd whole numbers m (or 0) and exponents e with value = m·2ᵉ exactly.

    Examples
    --------
    >>> mantissas(np.array([3.0, 0.5, 0.0]))
    (array([3, 1, 0]), array([ 0, -1,  0]))
    """
    fraction, exponent = np.frexp(values)
    m = np.ldexp(fraction, 53).astype(np.int64)
    zeros = np.frexp((m & -m).astype(np.float64))[1] - 1  # how often two divides m
    zeros = np.where(m == 0, 0, zeros).astype(np.int64)
    return m >> zeros, np.where(m == 0, 0, exponent.astype(np.int64) - 53 + zeros)


class ExactRows:
    """X and y, dense or sparse, as rows of numbers of which each is a finite float."""

    def __init__(self, X: Any, y: Any, intercept: bool) -> None:
        refuse_inexact(X)
        self.sparse = sparse.issparse(X)
        matrix: Any = sparse.csr_matrix(X) if self.sparse else np.asarray(X)
        if matrix.ndim != 2:
            raise ValueError(f"X has shape {matrix.shape}; it needs rows and columns")
        if self.sparse and not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        self.X = matrix.astype(np.float64) if matrix.dtype.kind == "O" else matrix
        self.n, self.d = (int(size) for size in matrix.shape)
        self.y, self.intercept = np.asarray(y, dtype=np.float64), intercept
        if self.y.shape != (self.n,) or not np.isin(self.y, (-1.0, 1.0)).all():
            raise ValueError(f"y needs a label −1 or +1 for each of the {self.n} rows of X")
        values: Any = self.X.data if self.sparse else self.X
        if values.dtype.kind not in "fiub":
            raise ValueError(f"X has dtype {values.dtype}; it needs numbers")
        if not np.isfinite(values).all():
            raise ValueError("X has a value that is not a finite number")

    @property
    def size(self) -> int:
        """How long θ is."""
        return self.d + self.intercept

    @property
    def gamma(self) -> float:
        """The share of |a|·|θ| that a sum a·θ, in any order and with θ rounded, is off by at the most."""
        longest = int(np.diff(self.X.indptr).max(initial=0)) if self.sparse else self.d
        return 2.0**-52 * (longest + 9)

    def split(self, theta: FloatArray) -> tuple[FloatArray, float]:
        """Return w and b of θ."""
        return theta[: self.d], float(theta[self.d]) if self.intercept else 0.0

    def row(self, i: int) -> tuple[list[int], FloatArray]:
        """Return the columns and the values of one row, the intercept's 1 at the end."""
        if self.sparse:
            part = slice(self.X.indptr[i], self.X.indptr[i + 1])
            columns, values = self.X.indices[part].tolist(), self.X.data[part].astype(np.float64)
        else:
            values = self.X[i].astype(np.float64)
            columns = np.flatnonzero(values).tolist()
            values = values[columns]
        return ([*columns, self.d], np.append(values, 1.0)) if self.intercept else (columns, values)

    def chunks(self) -> Iterator[tuple[int, Any]]:
        """Yield the first row and the rows, in double precision, of parts of X that fit into a cache."""
        size = self.n if self.sparse else max(1, CHUNK // max(1, self.d))
        for first in range(0, self.n, max(1, size)):
            yield first, self.X[first : first + size].astype(np.float64)

    def column(self, j: int) -> FloatArray:
        """Return one column; the one after the last is the intercept's ones."""
        if j == self.d:
            return np.ones(self.n)
        column = self.X[:, [j]].toarray()[:, 0] if self.sparse else self.X[:, j]
        return np.asarray(column, dtype=np.float64)


def rounded(theta: Numbers) -> FloatArray:
    """Return θ in floats, times a power of two that makes the largest about one."""
    if isinstance(theta, np.ndarray):
        with np.errstate(under="ignore"):
            return np.ldexp(theta, -int(np.frexp(np.abs(theta).max(initial=0.0))[1]))
    exact = [Fraction(value) for value in theta]
    bits = max((abs(v.numerator).bit_length() - v.denominator.bit_length() for v in exact if v), default=0)
    factor = Fraction(2) ** -bits
    return np.array([float(v * factor) for v in exact])


def whole_multiple(theta: Numbers) -> list[int]:
    """Return θ times a positive number that makes it whole."""
    if isinstance(theta, np.ndarray):
        m, e = mantissas(theta)
        return list(m.astype(object) << (e - e.min(initial=0)).astype(object))
    exact = [Fraction(value) for value in theta]
    scale = lcm(*{v.denominator for v in exact})
    return [v.numerator * (scale // v.denominator) for v in exact]


def dot(row: tuple[list[int], FloatArray], whole: Sequence[int]) -> tuple[int, int]:
    """Return x·θ as a whole number times a power of two, and that power's exponent."""
    columns, values = row
    m, e = mantissas(values)
    base = int(e.min(initial=0))
    total = sum((a * whole[j]) << (k - base) for j, a, k in zip(columns, m.tolist(), e.tolist(), strict=True))
    return total, base
