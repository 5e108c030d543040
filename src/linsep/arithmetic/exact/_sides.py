"""On which side of a plane each point lies: by floats where their rounding leaves no doubt, else in whole numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ._clock import Check, Clock
from ._rows import ExactRows, FloatArray, IntArray, Number, Numbers, dot, mantissas, plane_of, rounded, whole_multiple

#: Rows whose sides floats do not tell are looked at one by one if they are this few, or their numbers longer than this.
FEW, SHORT = 20, 31


def signs_by_part(data: ExactRows, theta: Numbers, clock: Clock) -> Iterator[tuple[int, IntArray]]:
    """Yield the first row and the signs of aᵢ·θ, part by part: by floats where these prove them, else exactly."""
    whole = None
    for part, z, doubt in data.products(rounded(theta), clock, "the sides of the points"):
        sign = np.where(z > 0, 1, -1)
        unsure = np.flatnonzero(~(np.abs(z) > doubt))
        if len(unsure):
            whole = whole_multiple(theta) if whole is None else whole
            sign[unsure] = data.y[part][unsure].astype(np.int64) * _exact_signs(data, part.start + unsure, whole, clock)
        yield part.start, sign


def _exact_signs(data: ExactRows, which: IntArray, whole: Sequence[int], clock: Clock) -> IntArray:
    """Return the signs of x·θ for some rows: of many at once in whole numbers of 64 bits, where the data are short."""
    short = _short_rows(data, which) if len(which) > FEW else None
    if short is None:
        found = []
        for i in which.tolist():
            clock.check("the sides of points close to the plane", 5.0 * Clock.STEP)
            value, _ = dot(data.row(i), whole)
            found.append((value > 0) - (value < 0))
        return np.array(found, dtype=np.int64)
    rows, one = short
    bits = 62 - SHORT - data.size.bit_length()  # no sum of products leaves 64 bits
    total: Any = np.zeros(len(which), dtype=object)
    sizes, negative = [abs(value) for value in whole], np.array([value < 0 for value in whole])
    for k in range(0, max(size.bit_length() for size in sizes), bits):
        clock.check("the sides of points close to the plane", 10.0 * len(which))
        digit = np.array([(size >> k) & ((1 << bits) - 1) for size in sizes], dtype=np.int64)
        digit[negative] *= -1
        part = rows @ digit[: data.d] + (one * digit[data.d] if data.intercept else 0)
        total += np.asarray(part).astype(object) << k
    return np.asarray(total > 0, dtype=np.int64) - np.asarray(total < 0, dtype=np.int64)


def _short_rows(data: ExactRows, which: IntArray) -> tuple[Any, int] | None:
    """Return rows times a power of two, and that power, if this makes all of them whole and short; else None."""
    part = data.X[which]
    m, e = mantissas(np.asarray(part.data if data.sparse else part, dtype=np.float64))
    base = min(0, int(e.min(initial=0)))
    longest = max(0, int((np.frexp(np.abs(m).astype(np.float64))[1] + e).max(initial=0)))
    if longest - base > SHORT:
        return None
    values = m << (e - base)
    if data.sparse:
        return sparse.csr_matrix((values, part.indices, part.indptr), shape=part.shape), 1 << -base
    return values, 1 << -base


def sides(X: Any, y: Any, theta: Numbers, *, intercept: bool = True, clock: Clock | None = None) -> IntArray:
    """Return the exact sign of aᵢ·θ for every row: +1 on its own side, 0 on the plane, −1 on the wrong side.

    Examples
    --------
    >>> from fractions import Fraction
    >>> sides([[0.1], [0.3]], [-1, 1], [Fraction(1), Fraction(-0.1)])
    array([0, 1])
    """
    parts = signs_by_part(ExactRows(X, y, intercept), theta, clock or Clock(None))
    return np.concatenate([np.empty(0, dtype=np.int64), *(signs for _, signs in parts)])


def unsettled(X: Any, y: Any, theta: FloatArray, *, intercept: bool = True) -> NDArray[np.bool_]:
    """Return which rows lie so near a plane, or on it, that w·x + b in floats may have another sign than it truly has.

    Examples
    --------
    >>> unsettled([[0.1], [0.3]], [-1, 1], np.array([1.0, -0.1]))
    array([ True, False])
    """
    parts = ExactRows(X, y, intercept).products(theta, Clock(None), "the sides of the points")
    return np.concatenate([np.empty(0, dtype=bool), *(~(np.abs(z) > doubt) for _, z, doubt in parts)])


def check_plane(
    X: Any,
    y: Any,
    coef: Numbers,
    intercept: Number | None = 0.0,
    *,
    strict: bool = True,
    time_limit: float | None = None,
) -> Check:
    """Check that a plane separates: strictly, or weakly (no point on the wrong side and one off the plane).

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
    y : array of −1 and +1
    coef : floats or Fractions, d of them
    intercept : float or Fraction; None for a plane through the origin
    strict : bool
    time_limit : float, optional
        Seconds after which `ProofTimeoutError` is raised.

    Examples
    --------
    >>> check_plane([[0.0], [1.0]], [-1, 1], [2.0], -1.0)
    Check(holds=True, reason='all 2 points are strictly on their own side')
    >>> bool(check_plane([[0.0], [1.0]], [-1, 1], [1.0], 0.0))
    False
    """
    data, clock = ExactRows(X, y, intercept is not None), Clock(time_limit)
    if len(coef) != data.d:
        return Check(False, f"the plane has {len(coef)} coefficients, the data {data.d} columns")
    theta = plane_of(coef, intercept)
    floats = theta if isinstance(theta, np.ndarray) else [value for value in theta if isinstance(value, float)]
    if not np.isfinite(floats).all():
        return Check(False, "a coefficient of the plane is not a finite number")
    some = False
    for first, signs in signs_by_part(data, theta, clock):
        wrong = signs <= 0 if strict else signs < 0
        if wrong.any():
            k = int(np.argmax(wrong))
            where = "on the plane" if signs[k] == 0 else "on the wrong side"
            return Check(False, f"row {first + k} is {where}")
        some = some or bool((signs > 0).any())
    if strict:
        return Check(True, f"all {data.n} points are strictly on their own side")
    return Check(some, "no point is on the wrong side" if some else "all points are on the plane itself")
