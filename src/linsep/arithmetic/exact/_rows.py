"""Floats as whole numbers times powers of two: the rows of the data, planes, and their scalar products."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..exact_input import exact_matrix
from ._clock import Clock

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
    """X and y, dense or sparse, as rows of numbers of which each is a finite float; without y, all of class +1."""

    @classmethod
    def of(cls, X: Any, y: Any, intercept: bool) -> ExactRows:
        """Return the rows; those that are such already as they are."""
        return X if isinstance(X, cls) else cls(X, y, intercept)

    def __init__(self, X: Any, y: Any, intercept: bool) -> None:
        self.X, self.sparse = exact_matrix(X), sparse.issparse(X)
        self.n, self.d = (int(size) for size in self.X.shape)
        self.y, self.intercept = np.asarray(np.ones(self.n) if y is None else y, dtype=np.float64), intercept
        if self.y.shape != (self.n,) or not np.isin(self.y, (-1.0, 1.0)).all():
            raise ValueError(f"y needs a label −1 or +1 for each of the {self.n} rows of X")

    @property
    def size(self) -> int:
        """How long θ is."""
        return self.d + self.intercept

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

    def products(self, theta: FloatArray, clock: Clock, what: str) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        """Yield aᵢ·θ in floats, and how far off they can be (infinitely where they overflow), some rows at a time."""
        w, b = theta[: self.d], float(theta[self.d]) if self.intercept else 0.0
        # |fl(a·θ̂) − a·θ| ≤ γ |a|·|θ̂| + underflow, for any order of the sum; θ̂ is θ up to one rounding each
        longest = int(np.diff(self.X.indptr).max(initial=0)) if self.sparse else self.d
        gamma, tiny = 2.0**-52 * (longest + 9), 2.0**-1073
        size = self.n if self.sparse else max(1, CHUNK // max(1, self.d))
        for first in range(0, self.n, max(1, size)):
            part = slice(first, min(first + size, self.n))
            X = self.X[part].astype(np.float64)
            clock.check(what, 3.0 * X.size)
            with np.errstate(over="ignore", invalid="ignore"):
                z = np.asarray(self.y[part] * (X @ w + b))
                doubt = np.asarray(abs(X) @ (gamma * np.abs(w) + tiny)) + gamma * abs(b) + (self.size + 8) * tiny
            yield part, z, np.where(np.isfinite(z) & np.isfinite(doubt), doubt, np.inf)

    def column(self, j: int) -> FloatArray:
        """Return one column; the one after the last is the intercept's ones."""
        if j == self.d:
            return np.ones(self.n)
        column = self.X[:, [j]].toarray()[:, 0] if self.sparse else self.X[:, j]
        return np.asarray(column, dtype=np.float64)


def plane_of(coef: Numbers, intercept: Number | None) -> Any:
    """Return θ: in an array, if all of it are floats."""
    theta = [*coef, *([] if intercept is None else [intercept])]
    return theta if any(isinstance(value, Fraction) for value in theta) else np.array(theta, dtype=np.float64)


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
