"""Refusal of numbers that no 64-bit float holds exactly, by name: exact verdicts are about all others.

A proof speaks of the numbers that were given. A whole number above 2⁵³, a longdouble, a Fraction or a Decimal may lie
between two floats; rounded, it would be another number, and the proof one of other data.
"""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._common.structure import sound

#: What is converted to numbers by rules that may round.
NO_NUMBERS = (str, bytes, date, timedelta, np.datetime64, np.timedelta64)
#: All whole numbers up to this one are floats.
WHOLE = 2**53


def refuse_inexact(values: Any, what: str = "X") -> None:
    """Raise where a number does not fit into a 64-bit float exactly, naming its row, its column and itself.

    Text and dates are refused too, since converting them may round. None, NaN, complex numbers and objects of other
    types are left to whoever converts the numbers. The values may be an array, a nested list, a sparse matrix or a
    table, of one or two dimensions, or one number; `what` is what to call them.

    Examples
    --------
    >>> from fractions import Fraction
    >>> refuse_inexact([[0.5, 2**60], [Fraction(1, 4), 3]])
    >>> refuse_inexact([[1, 2], [3, 2**53 + 1]])
    Traceback (most recent call last):
    ...
    ValueError: X has 9007199254740993 in row 1, column x1, which is no 64-bit float ...
    """
    if sparse.issparse(values):
        _refuse_sparse(values, what)
    elif hasattr(values, "column_names") and hasattr(values, "column"):  # a table of Arrow
        for j, name in enumerate(values.column_names):
            _refuse_column(np.asarray(values.column(j)), what, name)
    elif hasattr(values, "columns") and hasattr(values, "shape"):
        if hasattr(values, "iloc") and all(_are_floats(dtype) for dtype in values.dtypes):
            return
        for j, name in enumerate(values.columns):
            column = values.iloc[:, j] if hasattr(values, "iloc") else values[name]
            _refuse_column(np.asarray(column), what, name)
    else:
        _refuse_array(values, what)


def exact_matrix(X: Any) -> Any:
    """Return X, dense or canonical CSR, of finite numbers; raise for what is none, or no 64-bit float exactly."""
    X = sound(X)
    refuse_inexact(X)
    is_sparse = bool(sparse.issparse(X))
    matrix: Any = sparse.csr_matrix(X) if is_sparse else np.asarray(X)
    if matrix.ndim != 2:
        raise ValueError(f"X has shape {matrix.shape}; it needs rows and columns")
    if is_sparse:
        if matrix.format == X.format:  # what it says of its order may have been true once
            matrix = sparse.csr_matrix((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
    matrix = matrix.astype(np.float64) if matrix.dtype.kind == "O" else matrix
    if matrix.dtype.kind not in "fiub":
        raise ValueError(f"X has dtype {matrix.dtype}; it needs numbers")
    finite = np.isfinite(matrix.data if is_sparse else matrix)
    if not finite.all():
        bad = int(np.argmin(finite))
        row = np.searchsorted(matrix.indptr, bad, side="right") - 1 if is_sparse else bad // matrix.shape[1]
        raise ValueError(f"X has a NaN or an infinite value in row {row}; leave such rows out or fill them in first")
    return matrix


def _refuse_sparse(matrix: Any, what: str) -> None:
    if _are_floats(matrix.dtype):
        return
    given = sound(matrix).tocoo()  # repeated entries add up
    bad = _first_misfit(np.asarray(given.data))
    if bad is not None:
        axes = (given.row, given.col) if given.ndim == 2 else given.coords  # the latter from SciPy 1.13 on
        place = tuple(int(axis[bad]) for axis in axes)
        _refuse(given.data[bad], what, place[0], f"x{place[-1]}" if len(place) > 1 else None)


def _refuse_column(column: NDArray[Any], what: str, name: object) -> None:
    bad = _first_misfit(column)
    if bad is not None:
        _refuse(column[bad], what, bad, str(name))


def _refuse_array(values: Any, what: str) -> None:
    try:
        array = np.asarray(values)
    except (ValueError, TypeError):  # rows of different lengths: whoever converts them says so
        return
    if _are_floats(array.dtype):
        if isinstance(values, np.ndarray) or not (np.abs(array) >= WHOLE).any():
            return
        array = np.array(values, dtype=object)  # whole numbers among floats were rounded on the way
    flat = array.reshape(-1)
    bad = _first_misfit(flat)
    if bad is None:
        return
    place = np.unravel_index(bad, array.shape)
    column = f"x{int(place[1])}" if array.ndim > 1 else None
    _refuse(flat[bad], what, int(place[0]) if array.ndim else None, column)


def _refuse(value: Any, what: str, row: int | None, column: str | None) -> None:
    where = ("" if row is None else f" in row {row}") + ("" if column is None else f", column {column}")
    if isinstance(value, NO_NUMBERS):
        shown = str(value) if isinstance(value, np.str_) else value
        raise ValueError(f"{what} has {shown!r}{where}, which is no number: make numbers of it first")
    raise ValueError(
        f"{what} has {_shown(value)}{where}, which is no 64-bit float (the nearest is {_nearest(value):.17g}): a proof "
        "would be of another number; scale or round it first"
    )


def _shown(value: Any) -> str:
    """Return a number in words of a readable length."""
    if isinstance(value, Rational) and (bits := (int(value.numerator) * int(value.denominator)).bit_length()) > 200:
        return f"a number of {bits} bits"
    return str(value)


def _nearest(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def _are_floats(dtype: Any) -> bool:
    """Whether all numbers of a type are 64-bit floats exactly."""
    kind, size = getattr(dtype, "kind", "O"), getattr(dtype, "itemsize", np.inf)
    return kind == "b" or (kind == "f" and size <= 8) or (kind in "iu" and size <= 4)


def _first_misfit(values: NDArray[Any]) -> int | None:
    """Return the place of the first number that is no 64-bit float, or None."""
    kind = values.dtype.kind
    if _are_floats(values.dtype):
        return None
    if kind == "f":
        with np.errstate(over="ignore", under="ignore"):
            wrong = np.isfinite(values) & (values.astype(np.float64) != values)
        return int(np.argmax(wrong)) if wrong.any() else None
    if kind in "iu":
        large = np.flatnonzero((values > WHOLE) | (values < -WHOLE) if kind == "i" else values > WHOLE)
        return next((int(k) for k in large if not _fits(int(values[k]))), None)
    if kind in "USMm":
        return 0 if values.size else None
    if kind == "O":
        return next((k for k, value in enumerate(values.tolist()) if not _fits(value)), None)
    return None


def _fits(value: Any) -> bool:
    """Whether a value is a 64-bit float exactly, or no finite number at all."""
    if isinstance(value, NO_NUMBERS):
        return False
    if type(value) is float or not isinstance(value, Rational | Decimal | np.floating) or value != value:
        return True
    nearest = _nearest(value)
    if isinstance(value, np.floating) or not np.isfinite(nearest):
        return bool(value == nearest)
    # a Decimal may have an exponent that no Fraction ought to be made of
    return bool(nearest or not value) and Fraction(nearest) == Fraction(value)
