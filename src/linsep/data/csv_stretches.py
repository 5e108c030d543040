"""Parallel reading of long CSV files: a stretch of lines for each thread, whole numbers in few bytes.

pyarrow reads a long file in threads too, into numbers of 64 bits. Memory that no process has used before is slow to
get, as slow as all else that is done with a table; here each stretch gives it back, and what is kept is small.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from .._core import in_threads

#: How long a stretch is; what is shorter than three is left to others.
STRETCH = 4 << 20
#: Where the end of a line is looked for at a time.
LINE = 1 << 16
#: Whole numbers are kept as the first of these that holds them.
WHOLE = (pa.int8(), pa.int16(), pa.int32(), pa.int64())


def read_stretches(content: pa.Buffer, options: Mapping[str, Any], *, quoted: bool) -> pa.Table | None:
    r"""Return what ``pyarrow.csv.read_csv`` would; None where that takes a look at the whole file.

    This is where lines may end within quotes, where the stretches do not agree on what a column holds, and where
    something is wrong: whoever then reads the whole file can say on which line.

    Parameters
    ----------
    content : pyarrow.Buffer
        Text in UTF-8.
    options : mapping
        What ``pyarrow.csv.read_csv`` takes.
    quoted : bool
        Whether quotes protect what is within them.

    Examples
    --------
    >>> text = b"age,town\n" + 600_000 * b"31,Ede\n52,Ulm\n"
    >>> read_stretches(pa.py_buffer(text), {}, quoted=True).schema
    age: int8
    town: string
    """
    stretches = _cut(content)
    if len(stretches) < 3 or (quoted and b'"' in bytes(stretches[0])):
        return None
    try:
        first = _narrowed(csv.read_csv(pa.BufferReader(stretches[0]), **options))
        reader = _Reader(options, first, max(stretch.size for stretch in stretches))
        if len(set(first.column_names)) < first.num_columns:
            return None
        tables = [first, *[None] * (len(stretches) - 1)]

        def read(k: int) -> None:
            if not (quoted and b'"' in bytes(stretches[k])):
                tables[k] = reader.read(stretches[k])

        in_threads(read, range(1, len(stretches)))
    except (pa.ArrowException, UnicodeDecodeError):
        return None
    read_all = [table for table in tables if table is not None]
    return _joined(read_all) if len(read_all) == len(tables) else None


class _Reader:
    """Reads further stretches: with the types of those before, which is quick, or with their own where that fails."""

    def __init__(self, options: Mapping[str, Any], first: pa.Table, size: int) -> None:
        read_options = csv.ReadOptions(column_names=first.column_names, use_threads=False, block_size=size)
        self._own = dict(options, read_options=read_options)
        self._said = options.get("convert_options") or csv.ConvertOptions()
        self._expected: dict[str, pa.DataType] = {}
        self._expect(first)

    def read(self, stretch: pa.Buffer) -> pa.Table:
        convert = copy(self._said)
        convert.column_types = {**self._expected, **self._said.column_types}
        try:
            return csv.read_csv(pa.BufferReader(stretch), **dict(self._own, convert_options=convert))
        except pa.ArrowInvalid:  # numbers that are longer, have fractions, or are none
            table = _narrowed(csv.read_csv(pa.BufferReader(stretch), **self._own))
            self._expect(table)
            return table

    def _expect(self, table: pa.Table) -> None:
        kinds = {name: _common((kind, self._expected.get(name, pa.null()))) for name, kind in _types(table).items()}
        self._expected = {name: kind for name, kind in kinds.items() if kind not in (None, pa.null())}


def _types(table: pa.Table) -> dict[str, pa.DataType]:
    return {field.name: field.type for field in table.schema}


def _cut(content: pa.Buffer) -> list[pa.Buffer]:
    """Return stretches of whole lines."""
    stretches, begin = [], 0
    while begin < content.size:
        end = min(content.size, begin + STRETCH)
        while end < content.size:
            ahead = bytes(content.slice(end, min(LINE, content.size - end)))
            end += ahead.find(b"\n") + 1 or len(ahead)
            if b"\n" in ahead:
                break
        stretches.append(content.slice(begin, end - begin))
        begin = end
    return stretches


def _narrowed(table: pa.Table) -> pa.Table:
    """Return the table with its whole numbers in as few bytes as hold them."""
    return pa.Table.from_arrays([_narrow(column) for column in table.columns], names=table.column_names)


def _narrow(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if column.type != pa.int64() or column.null_count == len(column):
        return column
    # −128 has the seven bits of 127, and so on: ~x = −x − 1.
    low, high = (end.as_py() for end in pc.min_max(column).values())
    bits = max((x if x >= 0 else ~x).bit_length() for x in (low, high))
    return column.cast(next(kind for kind in WHOLE if bits < kind.bit_width))


def _joined(tables: list[pa.Table]) -> pa.Table | None:
    """Return the tables one below the other; None where a column is text in some of them and something else in others.

    What is empty everywhere in a stretch may be text as well as missing: that is for the whole column to tell.
    """
    columns = []
    for parts in zip(*(table.columns for table in tables), strict=True):
        kinds = {part.type for part in parts}
        kind = _common(kinds)
        if kind is None or (kind == pa.string() and len(kinds) > 1):
            return None
        columns.append(pa.chunked_array([chunk for part in parts for chunk in part.cast(kind).chunks], type=kind))
    return pa.Table.from_arrays(columns, names=tables[0].column_names)


def _common(kinds: Iterable[pa.DataType]) -> pa.DataType | None:
    """Return the type that holds values of all these; None where there is none but text."""
    different, numbers = set(kinds) - {pa.null()}, (*WHOLE, pa.float64())
    if len(different) > 1 and different <= set(numbers):
        return max(different, key=numbers.index)
    return pa.null() if not different else different.pop() if len(different) == 1 else None
