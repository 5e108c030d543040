"""CSV and other separated text: its dialect sniffed, read by pyarrow, its faults found and named by line."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from .csv_stretches import read_stretches
from .sources import DataError, Source, blame

DELIMITERS = (",", "\t", ";", "|")
#: What stands for a missing value besides an empty field.
MISSING = ("", "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "<NA>", "#N/A", "#NA", "NaT")
NUMBER = r"^\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*$"
#: A column of text of which more than this share are numbers is a column of numbers with something wrong in it.
MOSTLY_NUMBERS = 0.98
#: Below this many rows a share says little.
ENOUGH_ROWS = 50
BLOCK = 8 << 20
#: A file of up to this many bytes is small, and its rows come so many at a time.
WHOLE, ROWS = 128 << 20, 1 << 16
#: What users call the types of numbers.
NUMBERS = {"double": "number", "int64": "whole number"}


@dataclass(frozen=True)
class Dialect:
    """How a file of separated values is written.

    Attributes
    ----------
    delimiter : str
    header : bool
        Whether the first line names the columns.
    quoted : bool
        Whether ``"…"`` protects delimiters and newlines.
    spaces : bool
        Whether spaces follow the delimiters.
    encoding : str
    missing : tuple of str
        What stands for a missing value.
    """

    delimiter: str = ","
    header: bool = True
    quoted: bool = True
    spaces: bool = False
    encoding: str = "utf-8"
    missing: tuple[str, ...] = MISSING


def sniff(
    head: bytes,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    encoding: str = "utf-8",
    missing: tuple[str, ...] = (),
) -> Dialect:
    r"""Return the dialect that the first bytes show; what is given is not guessed.

    Examples
    --------
    >>> dialect = sniff(b"age;town\n31;'s-Hertogenbosch\n4;Ede\n")
    >>> dialect.delimiter, dialect.header
    (';', True)
    >>> sniff(b"5.1,3.5,setosa\n4.9,3.0,setosa\n").header
    False
    """
    encoding = _marked(head) or encoding
    text = _decoded(head, encoding)
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise DataError(f"--delimiter {delimiter!r} is not possible; give one character, or say tab")
    if delimiter is None:
        delimiter = max(DELIMITERS, key=lambda candidate: _consistency(text, candidate))
    quoted = _is_quoted(text, delimiter)
    rows = _rows(text, delimiter, quoted)
    spaces = bool(re.search(re.escape(delimiter) + " ", text)) and _all_spaced(rows)
    if header is None:
        header = _has_header([[cell.strip() for cell in row] for row in rows])
    return Dialect(delimiter, header, quoted, spaces, encoding, (*MISSING, *missing))


def _marked(head: bytes) -> str | None:
    """Return the encoding that a byte order mark announces, as Excel writes it before "Unicode text"."""
    marks = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
    return next((encoding for mark, encoding in marks.items() if head.startswith(mark)), None)


def _decoded(head: bytes, encoding: str) -> str:
    """Return whole lines of the first bytes."""
    try:
        text = head.decode(encoding, "replace")
    except LookupError:
        raise DataError(f"encoding {encoding!r} is not known; utf-8, latin-1 and cp1252 are common ones") from None
    return (text[: text.rfind("\n") + 1] or text).removeprefix("\ufeff")


def _rows(text: str, delimiter: str, quoted: bool, limit: int = 1000) -> list[list[str]]:
    quoting: Any = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting)
    rows: list[list[str]] = []
    try:
        for row in reader:
            if row:
                rows.append(row)
            if len(rows) == limit:
                break
    except csv.Error:
        return rows
    return rows


def _consistency(text: str, delimiter: str) -> tuple[float, int]:
    """Return how many rows agree on their number of fields, if that is more than one; and that number."""
    widths = Counter(len(row) for row in _rows(text, delimiter, _is_quoted(text, delimiter), 200))
    if not widths:
        return 0.0, 0
    width, count = widths.most_common(1)[0]
    return (count / widths.total(), width) if width > 1 else (0.0, 0)


def _is_quoted(text: str, delimiter: str) -> bool:
    """Whether quotes protect: every field that begins with one also ends with one; else they are characters.

    Text in tab-separated files often begins with a quote that nothing closes.
    """
    if '"' not in text or delimiter != "\t":
        return True
    lines = [line.split(delimiter) for line in text.splitlines()]
    if len({len(fields) for fields in lines}) > 1:
        return True
    fields = [field for fields in lines for field in fields]
    begins = [field for field in fields if field.startswith('"')]
    return all(len(field) > 1 and field.endswith('"') for field in begins)


def _all_spaced(rows: list[list[str]]) -> bool:
    cells = [cell for row in rows[:100] for cell in row[1:] if cell]
    return bool(cells) and all(cell.startswith(" ") for cell in cells)


def _is_number(cell: str) -> bool:
    return re.match(NUMBER, cell) is not None


def _has_header(rows: list[list[str]]) -> bool:
    """Whether the first row names columns: no numbers, no repeats, and unlike what stands below it."""
    if len(rows) < 2:
        return bool(rows) and not any(_is_number(cell) for cell in rows[0])
    first, below = rows[0], rows[1:]
    if any(_is_number(cell) for cell in first):
        return False
    columns = [[row[j] for row in below if j < len(row) and row[j]] for j in range(len(first))]
    if any(cells and all(_is_number(cell) for cell in cells) for cells in columns):
        return True
    return (
        len(set(first)) == len(first)
        and all(len(cell) <= 60 for cell in first)
        and not any(cell in cells for cell, cells in zip(first, columns, strict=True) if cell)
    )


# -- reading ------------------------------------------------------------------------------------------------------


def _options(source: Source, dialect: Dialect, types: Mapping[str, pa.DataType] | None, lines_in_values: bool) -> Any:
    width = len(next(iter(_rows(_decoded(source.head, dialect.encoding), dialect.delimiter, dialect.quoted, 1)), []))
    names = None if dialect.header else [f"column_{j + 1}" for j in range(width)]
    missing = [*dialect.missing, *(f" {word}" for word in dialect.missing)] if dialect.spaces else list(dialect.missing)
    return dict(
        read_options=arrow_csv.ReadOptions(block_size=BLOCK, encoding=dialect.encoding, column_names=names),
        parse_options=arrow_csv.ParseOptions(
            delimiter=dialect.delimiter,
            quote_char='"' if dialect.quoted else False,
            newlines_in_values=lines_in_values and dialect.quoted,
        ),
        convert_options=arrow_csv.ConvertOptions(
            null_values=missing,
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
            column_types=types or None,
            # what a boolean is called stays visible: it becomes a level
            true_values=[],
            false_values=[],
        ),
    )


def read_csv(source: Source, dialect: Dialect, types: Mapping[str, pa.DataType] | None = None) -> pa.Table:
    """Return the whole file; types that are not given are inferred from all rows.

    Raises
    ------
    DataError
        For no rows, ragged rows, bytes that are not text, columns of numbers with something else among them.
    """
    table = _read_whole(source, dialect, types)
    if not table.num_rows:
        raise DataError(_no_rows(source))
    return table


def _read_whole(source: Source, dialect: Dialect, types: Mapping[str, pa.DataType] | None) -> pa.Table:
    content, options = source.buffer(), _options(source, dialect, types, b'"' in source.head)
    try:
        is_utf8 = dialect.encoding.lower() in ("utf-8", "utf8")
        table = read_stretches(content, options, quoted=dialect.quoted) if is_utf8 else None
        if table is None:
            # Where the first quote comes late, a line may end within quotes all the same.
            if b'"' not in source.head and re.search(rb'"', memoryview(content)):
                options = _options(source, dialect, types, True)
            table = arrow_csv.read_csv(pa.BufferReader(content), **options)
        return _tidy(source, dialect, table)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise _found(source, dialect, content, error) from error


def _no_rows(source: Source) -> str:
    return f"{source.name}: no rows below the header; if the first line is data, say --no-header"


def stream_csv(source: Source, dialect: Dialect, types: Mapping[str, pa.DataType]) -> Iterator[pa.Table]:
    """Yield the file a block at a time, with the types that are given; a small one is read at once, by all threads."""
    if source.path is not None and source.compression is None and (source.size or 0) <= WHOLE:
        table = _read_whole(source, dialect, types)
        yield from (table.slice(first, ROWS) for first in range(0, table.num_rows, ROWS))
        return
    row = 0
    with blame(source.name), source.open(mapped=False) as stream:
        try:
            options = _options(source, dialect, types, True)  # the quotes to come nobody knows
            for batch in arrow_csv.open_csv(stream, **options):
                table = _tidy(source, dialect, pa.Table.from_batches([batch]), row)
                row += table.num_rows
                if table.num_rows:
                    yield table
        except (pa.ArrowInvalid, UnicodeDecodeError) as error:
            content = source.buffer() if source.path is not None else None
            raise _found(source, dialect, content, error) from error


def _tidy(source: Source, dialect: Dialect, table: pa.Table, before: int = 0) -> pa.Table:
    """Return the table with spaces trimmed; raise where a column cannot be what it seems."""
    columns = {}
    check_names(f"{source.name} line 1", table.column_names)
    for j, name in enumerate(table.column_names):
        column = table.column(j)
        if pa.types.is_binary(column.type):
            raise DataError(_not_text(source, dialect, name, column, before))
        if pa.types.is_string(column.type) and dialect.spaces:
            column = pc.utf8_trim_whitespace(column)
            column = pc.if_else(pc.is_in(column, pa.array(dialect.missing)), None, column)
        columns[name.strip() if dialect.spaces else name] = column
    return pa.table(columns)


def check_names(where: str, names: Sequence[str]) -> None:
    """Raise where two columns have the same name."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(f"{where}: two columns are called {repeated[0]!r}; rename one of them")


def _line(dialect: Dialect, row: int) -> int:
    return row + 1 + dialect.header


def _not_text(source: Source, dialect: Dialect, name: str, column: Any, before: int) -> str:
    for row, value in enumerate(column.to_pylist()):
        try:
            (value or b"").decode("utf-8")
        except UnicodeDecodeError:
            where = f"{source.name} line {_line(dialect, before + row)}, column {name!r}"
            return f"{where}: {value[:40]!r} is not UTF-8 text; say --encoding latin-1 (or what it is), or convert it"
    return f"{source.name}, column {name!r}: it holds bytes, not text"


def check_numbers(source: Source, dialect: Dialect, table: pa.Table, ignored: set[str]) -> None:
    """Raise for a column of numbers that has something else among them, perhaps a million rows down."""
    for name in table.column_names:
        column = table.column(name)
        if name in ignored or not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            continue
        given = len(column) - column.null_count
        looks = pc.match_substring_regex(column, NUMBER)
        numbers = int(pc.sum(looks).as_py() or 0)
        if not seem_numbers(numbers, given):
            continue
        row = pc.index(looks, value=False).as_py()
        value = column[row].as_py()
        raise no_number(f"{source.name} line {_line(dialect, row)}", name, value, numbers, given)


def seem_numbers(numbers: int, given: int) -> bool:
    """Whether so many numbers among the values of a column mean that the others are mistakes."""
    return given >= ENOUGH_ROWS and MOSTLY_NUMBERS * given <= numbers < given


def no_number(where: str, name: str, value: str, numbers: int, given: int) -> DataError:
    """Return what to say of a value among numbers that is none."""
    return DataError(
        f"{where}, column {name!r}: {value[:40]!r} is not a number, but {numbers:,} of {given:,} values are; correct "
        f"it, say --missing {value[:20]!r} if it means a missing value, or --category {name}"
    )


def _found(source: Source, dialect: Dialect, content: Any, error: Exception) -> DataError:
    """Return an error that says where; the slow look through the file is only taken when it is known to be bad."""
    if isinstance(error, UnicodeDecodeError) or "utf-8" in str(error).lower():
        advice = "say --encoding latin-1, or convert it"
        return DataError(f"{source.name}: it is not {dialect.encoding} text ({error}); {advice}")
    if content is not None and (ragged := _ragged(source, dialect, bytes(content))):
        return DataError(ragged)
    if "Empty CSV" in str(error):
        return DataError(_no_rows(source))
    message = str(error).splitlines()[0]
    found = re.search(r"column #(\d+).*?conversion error to (\S+): (.*)", message)
    if not found:
        return DataError(f"{source.name}: {message}")
    number, kind, what = found.groups()
    row = re.search(r"Row #(\d+)", message)
    line = int(row.group(1)) if row else _line_of_no_number(dialect, content, int(number)) if kind == "double" else None
    where = f"{source.name}{f' line {line}' if line else ''}, column {_name(source, dialect, int(number))!r}"
    expected = NUMBERS.get(kind, f"value of the type {kind}")
    return DataError(f"{where}: {what}, where a {expected} is expected; correct it")


def _line_of_no_number(dialect: Dialect, content: Any, j: int) -> int | None:
    """Return the first line on which column j, from 0, holds neither a number nor what stands for a missing one."""
    if content is None:
        return None
    before = 0
    for k, (row, ends) in enumerate(_records(dialect, bytes(content))):
        value = row[j].strip() if j < len(row) else ""
        if k >= dialect.header and value not in dialect.missing and not _is_number(value):
            return before + 1
        before = ends
    return None


def _records(dialect: Dialect, content: bytes) -> Iterator[tuple[list[str], int]]:
    """Yield the fields of each record, and the number of the line it ends on."""
    quoting: Any = csv.QUOTE_MINIMAL if dialect.quoted else csv.QUOTE_NONE
    text = io.StringIO(content.decode(dialect.encoding, "replace").removeprefix("\ufeff"), newline="")
    reader = csv.reader(text, delimiter=dialect.delimiter, quoting=quoting)
    for row in reader:
        if row:
            yield row, reader.line_num


def _name(source: Source, dialect: Dialect, j: int) -> str:
    """Return what column number j, from 0, is called."""
    first = next(iter(_rows(_decoded(source.head, dialect.encoding), dialect.delimiter, dialect.quoted, 1)), [])
    return first[j] if dialect.header and j < len(first) else f"column_{j + 1}"


def _ragged(source: Source, dialect: Dialect, content: bytes) -> str | None:
    """Say which line has too few or too many fields."""
    expected, before = None, 0
    try:
        for row, ends in _records(dialect, content):
            if expected is None:
                expected = len(row)
            elif len(row) != expected:
                is_last = ends >= content.count(b"\n") and not content.endswith(b"\n")
                cut_off = "the file seems to end in the middle of a record; fetch it again"
                advice = cut_off if is_last else "correct this line"
                where = f"{source.name} line {before + 1}"
                return f"{where}: {len(row)} fields, but the lines before have {expected}; {advice}"
            before = ends
    except csv.Error as error:
        return f"{source.name} line {before + 1}: {error}"
    return None
