"""Rows in whole numbers, and on subspaces: exact signs for the few questions that floating-point numbers leave open.

On a subspace of all planes floats decide where their error bounds allow, whole numbers elsewhere: on which side a row
is, which rows vanish on a hyperplane, and in two dimensions in which order they turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._common.types import BoolArray, FloatArray, IntArray
from .exact import mantissas, whole_multiple
from .whole_weights import nearest_float

Vector = list[int]

EPS = float(np.finfo(np.float64).eps)
#: Products that underflow are off by less than this.
TINY = 1e-290


class IntegerRows:
    """The matrix A with every column scaled by a power of two, as floats below one and, exactly, as whole numbers.

    Such a scaling moves no point to another side of any plane through the origin, since w can be scaled the other way.
    Its `floats` are exact unless they underflow (below 2⁻¹⁰²²).

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


@dataclass(frozen=True)
class Subspace:
    """A subspace of R^D and the rows that do not vanish on it."""

    integers: IntegerRows  # all rows
    basis: list[Vector]  # u₁ … u_r, exactly
    rows: IntArray  # those that do not vanish
    P: FloatArray  # their products with the basis (times a power of two) in floats
    E: FloatArray  # how far these can be off

    @classmethod
    def whole(cls, integers: IntegerRows) -> Self:
        """Return all of R^D; no row may be zero."""
        n, D = integers.floats.shape
        basis = [[int(i == j) for i in range(D)] for j in range(D)]
        return cls(integers, basis, np.arange(n), integers.floats, np.full((n, D), TINY))

    def exact(self, k: int) -> Vector:
        """Return the products of row k with the basis, exactly."""
        row = self.integers.row(int(self.rows[k]))
        return [dot(row, u) for u in self.basis]

    def signs(self, v: FloatArray) -> tuple[FloatArray, IntArray]:
        """Return the products of the rows with v, and their exact signs."""
        z = self.P @ v
        doubt = self.E @ np.abs(v) + 2 * (len(v) + 1) * EPS * (np.abs(self.P) @ np.abs(v)) + TINY
        signs, unsure = np.sign(z).astype(np.int64), np.flatnonzero(np.abs(z) <= doubt).tolist()
        whole = whole_multiple(v) if unsure else []
        for k in unsure:
            value = dot(self.exact(k), whole)
            signs[k] = (value > 0) - (value < 0)
        return z, signs

    def hyperplane(self, k: int) -> tuple[Subspace, BoolArray, BoolArray]:
        """Return the part where row k vanishes, which rows vanish there, and which of these are on k's side of it."""
        p = self.exact(k)
        basis = kernel_step(self.basis, p)
        U, A = to_floats(basis), self.integers.floats[self.rows]
        P, E = A @ U, 2 * (len(U) + 3) * EPS * (np.abs(A) @ np.abs(U)) + TINY
        vanished = np.zeros(len(P), dtype=bool)
        for m in np.flatnonzero((np.abs(P) <= E).all(axis=1)).tolist():
            row = self.integers.row(int(self.rows[m]))
            vanished[m] = not any(dot(row, u) for u in basis)  # then it is a multiple of row k on this subspace
        place = max(range(len(p)), key=lambda j: abs(p[j]))
        same = [self.exact(m)[place] * p[place] > 0 for m in np.flatnonzero(vanished).tolist()]
        kept = ~vanished
        return Subspace(self.integers, basis, self.rows[kept], P[kept], E[kept]), vanished, np.array(same, dtype=bool)

    def sweep(self) -> Sweep:
        """Return the order in which rows turn, in two dimensions."""
        (p, q), (e_p, e_q) = self.P.T, self.E.T
        right, turns = p > 0, np.ones(len(p), dtype=bool)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            t = q / p
            doubt = (e_q + np.abs(t) * e_p) / (np.abs(p) - e_p) + 4 * EPS * np.abs(t) + TINY
        for k in np.flatnonzero(~(np.abs(p) > 2 * e_p)).tolist():
            a, b = self.exact(k)
            turns[k], right[k] = a != 0, (a or b) > 0
            if a:
                t[k] = nearest_float(Fraction(b, a))
                doubt[k] = EPS * abs(t[k]) + TINY
        return Sweep(right, *self._in_order(np.flatnonzero(turns), t, doubt))

    def _in_order(self, turning: IntArray, t: FloatArray, doubt: FloatArray) -> tuple[IntArray, IntArray]:
        """Return the rows by slope, and after how many of them there is a gap before the next slope."""
        order = turning[np.argsort(t[turning], kind="stable")]
        with np.errstate(over="ignore"):
            above = np.maximum.accumulate(t[order] + doubt[order])
            below = np.minimum.accumulate((t[order] - doubt[order])[::-1])[::-1]
        gap = np.ones(len(order) + 1, dtype=bool)
        gap[1:-1] = above[:-1] < below[1:]
        certain = np.flatnonzero(gap)
        crowded = np.flatnonzero(np.diff(certain) > 1)
        for first, end in zip(certain[crowded].tolist(), certain[crowded + 1].tolist(), strict=True):
            slope = {k: Fraction(b, a) for k in order[first:end].tolist() for a, b in [self.exact(k)]}
            members = sorted(slope, key=slope.__getitem__)
            order[first:end] = members
            for j in range(1, end - first):
                gap[first + j] = slope[members[j - 1]] < slope[members[j]]
        return order, np.flatnonzero(gap)


@dataclass(frozen=True)
class Sweep:
    """What v = (−t, 1) meets in a plane as t runs from −∞ to ∞: half of all directions, −v having the complement.

    The row (p, q) has the product q − p t: it turns at the slope t = q/p, from right to wrong if p > 0.
    """

    first: BoolArray  # which rows are right at t = −∞
    order: IntArray  # the rows that turn, by slope
    gaps: IntArray  # after how many of them there is a gap before the next slope

    def right(self, s: NDArray[Any]) -> NDArray[Any]:
        """Return the weight of the rows that are right in each gap."""
        change = np.where(self.first[self.order], -s[self.order], s[self.order])
        return np.asarray(s[self.first].sum() + np.append(s[:0].sum(), np.cumsum(change))[self.gaps])
