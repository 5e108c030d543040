"""The values of a column as numbers, moments in time or text; one that is none of these is an error that names it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..._types import FloatArray
from ..sources import BadValueError, DataError


def column_of(table: pa.Table, name: str, file: str) -> pa.ChunkedArray:
    """Return a column that the model needs; raise where there is none."""
    if name not in table.column_names:
        shown = ", ".join(table.column_names[:12])
        raise DataError(f"{file}: no column {name!r}, which the model needs; it has {shown}")
    return table[name]


def is_number(kind: Any) -> bool:
    """Whether a type is of numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def strings(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return values as text."""
    if pa.types.is_boolean(column.type):
        return pc.if_else(column, "True", "False")  # as pandas writes them to a file
    return column if column.type == pa.string() else column.cast(pa.string())


def floats(values: pa.ChunkedArray, column: str, file: str) -> FloatArray:
    """Return numbers, with NaN where they are missing."""
    try:
        array = _as_floats(values)
    except pa.ArrowInvalid:
        advice = "is not a number, as the column's values must be; correct it"
        raise BadValueError(file, column, advice, lambda some: _is_possible(_as_floats, some)) from None
    if np.isinf(array).any():
        advice = "is not a finite number; correct it, or leave it empty if the value is missing"
        raise BadValueError(file, column, advice, lambda some: not np.isinf(_as_floats(some)).any())
    return array


def _as_floats(values: pa.ChunkedArray) -> FloatArray:
    # Whole numbers above 2^53 are rounded, which `infer` notes.
    numbers = values if values.type == pa.float64() else values.cast(pa.float64(), safe=not is_number(values.type))
    return np.asarray(numbers.to_numpy(), dtype=np.float64)


def moments_in_time(values: pa.ChunkedArray, column: str, file: str) -> pa.ChunkedArray:
    """Return dates and times in milliseconds."""
    try:
        return _as_moments(values)
    except pa.ArrowException:
        advice = "is not a date; write dates as 2024-01-31 or 2024-01-31 12:30:00"
        raise BadValueError(file, column, advice, lambda some: _is_possible(_as_moments, some)) from None


def _as_moments(values: pa.ChunkedArray) -> pa.ChunkedArray:
    values = values.cast(pa.int64()) if pa.types.is_integer(values.type) else values
    return values.cast(pa.timestamp("ms"), safe=False)


def _is_possible(convert: Callable[[pa.ChunkedArray], object], values: pa.ChunkedArray) -> bool:
    try:
        convert(values)
    except pa.ArrowException:
        return False
    return True
