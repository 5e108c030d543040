"""Column types: whether a column holds numbers, categories, dates or text, or is of no use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..sources import DataError
from .values import is_number, strings

KINDS = ("number", "category", "date", "text", "ignored")
#: A column of text has at least so many words a row, on average.
WORDS = 3
#: What is said of a column of whole numbers that floats cannot tell apart.
ROUNDED = "its whole numbers above 2^53 are rounded; if it identifies something, say --category or --ignore"
#: Below this many rows, values that are all different do not make a column an identifier.
FEW = 20


@dataclass(frozen=True)
class Column:
    """What a column is taken for, and why it is set aside if it is.

    Examples
    --------
    >>> infer("town", pa.chunked_array([["Ede", "Ulm", "Ede"]]))
    Column(name='town', kind='category', note='')
    >>> infer("planet", pa.chunked_array([["Earth", "Earth", None]]))
    Column(name='planet', kind='ignored', note='it has one value only')
    """

    name: str
    kind: str
    note: str = ""


def infer(name: str, column: pa.ChunkedArray) -> Column:
    """Return what a column seems to be: numbers, categories, dates, text, or of no use."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    given = len(column) - column.null_count
    if pa.types.is_floating(column.type) and given and pc.all(pc.is_nan(column)).as_py():
        return Column(name, "ignored", "it has no values")
    if is_number(column.type) and given and not _is_constant(column):
        return _infer_number(name, column, given)
    different = _count_distinct(column)
    if different <= 1 and (given == len(column) or not is_number(column.type)):
        return Column(name, "ignored", "it has one value only" if given else "it has no values")
    if given == 0:
        return Column(name, "ignored", "it has no values")
    kind = column.type
    if is_date(kind):
        return Column(name, "date")
    if pa.types.is_boolean(kind):
        return Column(name, "category")
    if is_number(kind):
        return _infer_number(name, column, given)
    if is_text(kind):
        return _infer_text(name, column, given, different)
    return Column(name, "ignored", f"its type, {kind}, has no encoding")


def _count_distinct(column: pa.ChunkedArray) -> int:
    if pa.types.is_null(column.type):
        return 0
    if pa.types.is_nested(column.type):
        return len(column)
    return int(pc.count_distinct(column, mode="only_valid").as_py())


def _is_constant(column: pa.ChunkedArray) -> bool:
    ends = pc.min_max(column)
    return bool(ends["min"].as_py() == ends["max"].as_py())


def is_date(kind: Any) -> bool:
    """Whether a type is of dates, or of dates with times."""
    return bool(pa.types.is_temporal(kind) and not pa.types.is_time(kind) and not pa.types.is_duration(kind))


def is_text(kind: Any) -> bool:
    """Whether a type is of text."""
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_dictionary(kind)
    )


def _infer_number(name: str, column: pa.ChunkedArray, given: int) -> Column:
    if not pa.types.is_integer(column.type):
        return Column(name, "number")
    ends = pc.min_max(column)
    if max(ends["max"].as_py(), -ends["min"].as_py()) > 2**53:
        number = Column(name, "number", ROUNDED)
    else:
        number = Column(name, "number")
    if not given == len(column) >= FEW:
        return number
    consecutive = ends["max"].as_py() - ends["min"].as_py() == given - 1
    called_so = names_rows(name)
    if (consecutive or called_so) and _count_distinct(column) == given:
        return Column(name, "ignored", "it numbers the rows" if consecutive else "it identifies the rows")
    return number


def names_rows(name: str) -> bool:
    """Whether a column is called as identifiers are."""
    return name.lower().split("_")[-1] in ("id", "key", "index", "number", "no")


def _infer_text(name: str, column: pa.ChunkedArray, given: int, different: int) -> Column:
    sample = strings(column).drop_null()[:10_000]
    words = pc.mean(pc.add(pc.count_substring_regex(sample, r"\s+"), 1)).as_py()
    return text_type(name, words, different, given)


def text_type(name: str, words: float, different: float, given: int, share: float = 1.0) -> Column:
    """Return what a column of text is, by its words a row and its different values; that share of all is all."""
    if words >= WORDS and different > 0.3 * given:
        return Column(name, "text")
    if different >= share * given >= FEW:
        return Column(name, "ignored", "it identifies the rows")
    return Column(name, "category")


def check_names(kinds: Mapping[str, str], names: Sequence[str], prefix: str = "") -> None:
    """Raise for a column that the user says something of and that is not there."""
    unknown = [name for name in kinds if name not in names]
    if unknown:
        raise DataError(f"{prefix}no column {unknown[0]!r}; there are {', '.join(names)}")


def column_types(table: pa.Table, kinds: Mapping[str, str]) -> tuple[Column, ...]:
    """Return what each column is: what the user says, or what it seems to be."""
    check_names(kinds, table.column_names)
    return tuple(
        Column(name, kinds[name], "asked for" if kinds[name] == "ignored" else "")
        if name in kinds
        else infer(name, table[name])
        for name in table.column_names
    )
