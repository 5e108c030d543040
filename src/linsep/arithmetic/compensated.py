"""Compensated sums: Σ uᵢ xᵢ as exact as if it were computed with twice the digits.

Knuth's sum and Dekker's product return a float and what rounding took from it, exactly; what was taken is added up
beside (Ogita, Rump and Oishi, *Accurate sum and dot product*, 2005). Slower than a product by some tens of times: for
the few columns whose plain sum is not good enough, because their numbers are huge and cancel.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._core import is_sparse
from .._types import FloatArray, IntArray

#: Cuts a float into halves of 26 bits: 2²⁷ + 1.
SPLITTER = 134217729.0


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
