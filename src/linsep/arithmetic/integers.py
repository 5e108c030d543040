"""Rows and scores in whole numbers: exact signs for the few questions that floating-point arithmetic leaves open."""

from __future__ import annotations

from math import gcd

import numpy as np

from .._types import FloatArray
from .exact import mantissas

Vector = list[int]


class IntegerRows:
    """The matrix A with every column scaled by a power of two, as floats below one and, exactly, as whole numbers.

    Such a scaling moves no point to another side of any plane through the origin, since w can be scaled the other way.

    Attributes
    ----------
    floats : array of shape (n, D)
        ``A[:, j] · 2^(−exponents[j])``, exact unless it underflows (below 2⁻¹⁰²²).

    Examples
    --------
    >>> rows = IntegerRows(np.array([[0.5, 6.0], [-1.0, 1.0]]))
    >>> rows.row(0), rows.row(1)  # columns scaled by 1/2 and 1/8, then all by 8
    ([2, 6], [-4, 1])
    """

    def __init__(self, A: FloatArray) -> None:
        _, self.exponents = np.frexp(np.abs(A).max(axis=0, initial=0.0))
        self.floats = np.ldexp(A, -self.exponents)
        self._whole, exponent = mantissas(A)
        shift = np.where(self._whole != 0, exponent - self.exponents, 0)
        self._shift = shift - min(0, int(shift.min(initial=0)))
        self._rows: dict[int, Vector] = {}

    def vector(self, v: FloatArray) -> FloatArray:
        """Return v in the coordinates of the scaled columns, times a power of two that makes its largest about one.

        So nothing overflows; what underflows is as good as zero, and still a vector of floats.
        """
        mantissa, exponent = np.frexp(v)
        exponent = np.where(mantissa == 0, -(2**20), exponent + self.exponents)
        with np.errstate(under="ignore"):
            return np.asarray(np.ldexp(mantissa, np.maximum(exponent - exponent.max(), -2000)))

    def row(self, k: int) -> Vector:
        """Return row k as whole numbers."""
        if k not in self._rows:
            pairs = zip(self._whole[k].tolist(), self._shift[k].tolist(), strict=True)
            self._rows[k] = [m << s for m, s in pairs]
        return self._rows[k]


def dot(a: Vector, b: Vector) -> int:
    """a·b."""
    return sum(x * y for x, y in zip(a, b, strict=True))


def kernel_step(columns: list[Vector], p: Vector) -> list[Vector]:
    """Return a basis of {v in the span of the columns : a·v = 0}, where p are the products of a with the columns.

    Examples
    --------
    >>> kernel_step([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [2, 4, 0])
    [[2, -1, 0], [0, 0, 1]]
    """
    pivot = max(range(len(p)), key=lambda m: abs(p[m]))
    if p[pivot] == 0:
        raise ValueError("a is perpendicular to all of the columns: its kernel is the whole span")
    base = columns[pivot]
    rest = [m for m in range(len(p)) if m != pivot]
    return [_primitive([p[pivot] * x - p[m] * y for x, y in zip(columns[m], base, strict=True)]) for m in rest]


def _primitive(column: Vector) -> Vector:
    """Divide by the greatest common divisor, which keeps the numbers short."""
    divisor = gcd(*column)
    return [x // divisor for x in column] if divisor > 1 else column


def to_floats(columns: list[Vector]) -> FloatArray:
    """Return the columns, all divided by the same power of two, as a float matrix with entries of at most one."""
    bits = max(abs(x).bit_length() for column in columns for x in column)
    return np.array([[x / (1 << bits) for x in column] for column in columns]).T


def relations(rows: list[Vector]) -> list[Vector]:
    """Return a basis of all λ with Σ λᵢ aᵢ = 0."""
    size = len(rows)
    basis = [[int(i == j) for i in range(size)] for j in range(size)]
    for coordinate in zip(*rows, strict=True):
        p = [dot(list(coordinate), column) for column in basis]
        if any(p):
            basis = kernel_step(basis, p)
    return basis


def conflict_among(rows: list[Vector]) -> list[int] | None:
    """Return which rows make up a conflict, None where that is not seen; the last rows are the first to be left out.

    Examples
    --------
    >>> conflict_among([[1, 1], [-1, -1], [1, 0], [-1, 0]])
    [0, 1]
    """
    count = len(rows)
    while count > 1:
        basis = relations(rows[:count])
        if len(basis) == 1:
            signs = {x > 0 for x in basis[0] if x}
            return [i for i, x in enumerate(basis[0]) if x] if len(signs) == 1 else None
        count -= max(1, len(basis) - 1)
        if not basis:
            return None
    return None
