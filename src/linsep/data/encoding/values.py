"""The values of a column as numbers, moments in time or text; one that is none of these is an error that names it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..._common.types import FloatArray
from ..naming import instead
from ..sources import BadValueError, DataError
from .column_types import is_text
from .notation import as_moments, as_numbers

#: A date as it is written in each order.
EXAMPLES = {"": "2024-01-31", "ymd": "2024-01-31", "dmy": "31.01.2024", "mdy": "01/31/2024", "named": "31 Jan 2024"}


def column_of(table: pa.Table, name: str, file: str) -> pa.ChunkedArray:
    """Return a column that the model needs; raise where there is none."""
    if (place := table.schema.get_field_index(name)) < 0:  # a list of all names for each takes long where they are many
        raise DataError(f"{file}: no column {name!r}, which the model needs; {instead(name, table.column_names)}")
    return table.column(place)


def is_number(kind: Any) -> bool:
    """Whether a type is of numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def is_plain(values: pa.ChunkedArray) -> bool:
    """Whether values can be taken for floats as they are: whole and all there, or floats and none of them infinite."""
    if pa.types.is_integer(values.type):
        return not values.null_count
    if values.type not in (pa.float32(), pa.float64()):
        return False
    # A sum is finite unless a value is not, or they are huge, and is found in less time than both ends.
    if math.isfinite(pc.sum(values).as_py() or 0.0):
        return True
    return not np.isinf([end or 0.0 for end in pc.min_max(values).as_py().values()]).any()


def as_seen(values: pa.ChunkedArray) -> pa.ChunkedArray | NDArray[Any]:
    """Return numbers as NumPy sees them where they lie, if they lie in one piece: parts of that are had at once."""
    if values.num_chunks != 1 or values.null_count:
        return values
    return np.asarray(values.chunk(0).to_numpy())


def strings(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return values as text."""
    if pa.types.is_boolean(column.type):
        return pc.if_else(column, "True", "False")  # as pandas writes them to a file
    return column if column.type == pa.string() else column.cast(pa.string())


def floats(values: pa.ChunkedArray, column: str, file: str, form: str = "") -> FloatArray:
    """Return numbers, with NaN where they are missing; text is read in the form that `Column` names."""
    try:
        array = _as_floats(values, form)
    except pa.ArrowException:
        unit = f" in {form[1:]}" if form[1:] else ""
        written = f" and are written{unit} with {form[:1]!r} before decimals" if form else ""
        advice = (
            f"is not a number, as the column's values must be{written}; correct it, say --missing with it if it stands "
            f"for a missing value, or --decimal if decimals are not set apart by {form[:1] or '.'!r}"
        )
        raise BadValueError(file, column, advice, lambda some: _is_possible(_as_floats, some, form)) from None
    with np.errstate(over="ignore", invalid="ignore"):
        is_finite = np.isfinite(array.sum())
    if not is_finite and np.isinf(array).any():
        advice = "is not a finite number; correct it, or leave it empty if the value is missing"
        raise BadValueError(file, column, advice, lambda some: not np.isinf(_as_floats(some, form)).any())
    return array


def _as_floats(values: pa.ChunkedArray, form: str) -> FloatArray:
    if is_text(values.type):
        return np.asarray(_checked(values, _numbers_in(values, form)).to_numpy(), dtype=np.float64)
    # Whole numbers above 2^53 are rounded, which `infer` notes.
    numbers = values if values.type == pa.float64() else values.cast(pa.float64(), safe=not is_number(values.type))
    return np.asarray(numbers.to_numpy(), dtype=np.float64)


def _numbers_in(values: pa.ChunkedArray, form: str) -> pa.ChunkedArray:
    numbers, units = as_numbers(strings(values), form[:1] or ".", form[1:])
    return pc.if_else(pc.is_in(units, value_set=pa.array(["", form[1:]])), numbers, None)


def _checked(values: pa.ChunkedArray, found: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return what was found in text; raise where it was not in all of it."""
    if found.null_count > values.null_count:
        raise pa.ArrowInvalid("something else")
    return found


def moments_in_time(values: pa.ChunkedArray, column: str, file: str, form: str = "") -> pa.ChunkedArray:
    """Return dates and times in milliseconds; text is read in the order that `Column` names."""
    try:
        return _as_moments(values, form)
    except pa.ArrowException:
        advice = f"is not a date; write dates as {EXAMPLES[form]} or {EXAMPLES[form]} 12:30:00"
        raise BadValueError(file, column, advice, lambda some: _is_possible(_as_moments, some, form)) from None


def _as_moments(values: pa.ChunkedArray, form: str) -> pa.ChunkedArray:
    if is_text(values.type):
        return _checked(values, as_moments(strings(values), form or "ymd"))
    values = values.cast(pa.int64()) if pa.types.is_integer(values.type) else values
    return values.cast(pa.timestamp("ms"), safe=False)


def _is_possible(convert: Callable[[pa.ChunkedArray, str], object], values: pa.ChunkedArray, form: str) -> bool:
    try:
        convert(values, form)
    except pa.ArrowException:
        return False
    return True
