"""Twice the digits: compensated sums Σ uᵢ xᵢ, and error-free splitting of matrix products.

Knuth's sum and Dekker's product return a float and what rounding took from it, exactly; what was taken is added up
beside (Ogita, Rump and Oishi, *Accurate sum and dot product*, 2005). Slower than a product by some tens of times: for
the few columns whose plain sum is not good enough, because their numbers are huge and cancel.

A matrix product has each factor cut into slices of so few bits that the products of slices, and their sums, are floats
without rounding (Ozaki, Ogita, Oishi and Rump, *Error-free transformations of matrix multiplication*, 2012). Ten plain
products of slices stand for one; what rounding there is comes from adding these up, and from the last bits left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._common.types import BoolArray, FloatArray, IntArray
from .._core import is_sparse

#: Cuts a float into halves of 26 bits: 2²⁷ + 1.
SPLITTER = 134217729.0
#: The unit of rounding.
U = 2.0**-53
#: Slices of each factor.
SLICES = 4
#: Products of slices that are added up.
TERMS = SLICES * (SLICES + 1) // 2
#: Rows and columns whose largest entry is outside of this range are not cut: slices or their products would leave that
#: of the floats.
LEAST, MOST = 2.0**-300, 2.0**300


def two_sum(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a + b rounded, and what rounding took from it.

    Examples
    --------
    >>> two_sum(np.array([1e16]), np.array([1.0]))
    (array([1.e+16]), array([1.]))
    """
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def two_product(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a · b rounded, and what rounding took from it (but for what falls below the range of floats)."""
    p, (ah, al), (bh, bl) = a * b, _halves(a), _halves(b)
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


def _halves(a: FloatArray) -> tuple[FloatArray, FloatArray]:
    c = SPLITTER * a
    high = c - (c - a)
    return high, a - high


def column_sums(parts: Iterable[tuple[slice, Any]], u: FloatArray, columns: IntArray) -> tuple[FloatArray, float]:
    """Σ uᵢ xᵢⱼ for some columns j, from blocks of rows; and how many u² each |uᵢ xᵢⱼ| may have added to the error.

    The second number is one for all columns: how often a term was rounded, times how many such roundings were added up.

    Examples
    --------
    >>> X = np.array([[1e16], [1.0], [-1e16]])
    >>> column_sums([(slice(0, 3), X)], np.ones(3), np.array([0]))[0]
    array([1.])
    """
    total, left, levels, count = np.zeros(len(columns)), np.zeros(len(columns)), 2, 0
    for part, block in parts:
        chosen = block[:, columns]
        dense = np.asarray(chosen.toarray() if is_sparse(chosen) else chosen, dtype=np.float64)
        p, errors = two_product(dense, u[part][:, None])
        left += errors.sum(axis=0)
        depth = 0
        while len(p) > 1:  # neighbours two by two, and the one that is left over
            half = len(p) // 2
            s, errors = two_sum(p[:half], p[half : 2 * half])
            left += errors.sum(axis=0)
            p, depth = np.concatenate([s, p[2 * half :]]), depth + 1
        total, errors = two_sum(total, p[0])
        left += errors
        levels, count = max(levels, depth + 2) + 1, count + 2 * len(dense)
    return total + left, float(levels) * (count + 64)


def split_product(A: FloatArray, B: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """AB as a sum of two floats for each entry, and how far that sum may be off.

    With β = ⌊(53 − log₂ k)/2⌋ bits a slice for an inner size k, what is left out of row i and column j is no more than
    8 (SLICES + 1) k 2^(−β SLICES) max|aᵢ| max|bⱼ|, and what the roundings of the sums lose no more than a few u² of it.

    Examples
    --------
    >>> A, B = np.array([[1.0, 1e-20, -1.0]]), np.array([[1e10], [1.0], [1e10]])
    >>> high, low, error = split_product(A, B)
    >>> bool(abs(high[0, 0] + low[0, 0] - 1e-20) <= error[0, 0] < 1e-14)
    True
    """
    k = max(1, A.shape[1])
    bits = (53 - math.ceil(math.log2(k + 1))) // 2
    rows = np.abs(A).max(axis=1, initial=0.0)
    columns = np.abs(B).max(axis=0, initial=0.0)
    size = np.outer(rows, columns) * k
    cut = np.outer(_in_range(rows), _in_range(columns))
    a = _slices(np.where(_in_range(rows)[:, None], A, 0.0), 1, bits)
    b = _slices(np.where(_in_range(columns), B, 0.0), 0, bits)
    high, low = a[0] @ b[0], np.zeros_like(size)
    for order in range(1, SLICES):
        for p in range(order + 1):
            high, rest = two_sum(high, a[p] @ b[order - p])
            low += rest
    lost = 8.0 * (SLICES + 1) * math.ldexp(1.0, -bits * SLICES) + 4.0 * TERMS**2 * U**2
    # Of what was not cut no more is known than how large it can be.
    return high, low, np.where(cut, lost, 2.0) * size * (1.0 + 8 * U)


def _in_range(largest: FloatArray) -> BoolArray:
    return np.asarray((largest == 0) | ((largest >= LEAST) & (largest <= MOST)))


def _slices(A: FloatArray, axis: int, bits: int) -> list[FloatArray]:
    """Cut each row (or column) into whole multiples of 2^(e − bits), 2^(e − 2 bits), …; 2^e is above all of it."""
    exponent = np.frexp(np.abs(A).max(axis=axis, keepdims=True, initial=0.0))[1]
    rest, slices = A, []
    for k in range(1, SLICES + 1):
        # Next to 1.5·2⁵² units a float has no room for anything finer than a unit.
        rounder = np.ldexp(0.75, exponent - bits * k + 53)
        top = (rest + rounder) - rounder
        slices.append(top)
        rest = rest - top
    return slices
