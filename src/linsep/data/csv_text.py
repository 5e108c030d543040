"""CSV and other separated text: its dialect sniffed, read by pyarrow, its faults found and named by line."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from .._common.words import as_typed
from .csv_stretches import read_stretches
from .room import check_room
from .sources import HEAD, DataError, Source, blame

DELIMITERS = (",", "\t", ";", "|")
#: What stands for a missing value besides an empty field.
MISSING = ("", "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "<NA>", "#N/A", "#NA", "NaT")
#: A number as pyarrow reads it, by what sets its decimals apart.
NUMBER = {mark: rf"\s*[+-]?(?:[0-9]+(?:[{mark}][0-9]*)?|[{mark}][0-9]+)(?:[eE][+-]?[0-9]+)?\s*" for mark in ".,"}
#: What can only be a number with a decimal comma, or but for its three decimals; and one with a decimal point.
COMMA = re.compile(r"[+-]?(?:[0-9]+|[1-9][0-9]{0,2}(?:\.[0-9]{3})+),[0-9]+\s*[€$£%]?")
POINT = re.compile(r"[$£€]?\s*[+-]?(?:[0-9]+|[1-9][0-9]{0,2}(?:,[0-9]{3})+)\.[0-9]+\s*[€%]?")
#: What may be thousands as well.
THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:[.,][0-9]{3})")
#: A number that begins with a zero, as codes do.
ZERO = re.compile(r"0[0-9]+")
BLOCK = 8 << 20
#: A file of up to this many bytes is small, and its rows come so many at a time.
WHOLE, ROWS = 128 << 20, 1 << 16
#: What users call the types of numbers.
NUMBERS = {"double": "number", "int64": "whole number"}


@dataclass(frozen=True)
class Dialect:
    """How a file of separated values is written."""

    delimiter: str = ","
    header: bool = True  # whether the first line names the columns
    quoted: bool = True  # whether ``"…"`` protects delimiters and newlines
    spaces: bool = False  # whether spaces follow the delimiters
    encoding: str = "utf-8"
    missing: tuple[str, ...] = MISSING  # what stands for a missing value
    decimal: str = "."  # what sets decimals apart


def sniff(
    head: bytes,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    encoding: str = "utf-8",
    missing: tuple[str, ...] = (),
    decimal: str | None = None,
) -> Dialect:
    r"""Return the dialect that the first bytes show; what is given is not guessed.

    Examples
    --------
    >>> dialect = sniff(b"age;town\n31;'s-Hertogenbosch\n4;Ede\n")
    >>> dialect.delimiter, dialect.header
    (';', True)
    >>> sniff(b"5.1,3.5,setosa\n4.9,3.0,setosa\n").header
    False
    >>> sniff(b"price;town\n7,5;Ede\n12,25;Ulm\n").decimal
    ','
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
    rows = [[cell.strip() for cell in row] for row in rows]
    decimal = _decimal(rows, delimiter) if decimal is None else decimal
    if header is None:
        header = has_header(rows, decimal)
    return Dialect(delimiter, header, quoted, spaces, encoding, (*MISSING, *missing), decimal)


def _decimal(rows: list[list[str]], delimiter: str) -> str:
    """Return what sets decimals apart; where commas separate the values, a column's own values tell."""
    cells = [cell for row in rows for cell in row] if delimiter != "," else []
    by_comma = sum(COMMA.fullmatch(cell) is not None for cell in cells if delimiter == ";" or not _is_thousand(cell))
    by_point = sum(POINT.fullmatch(cell) is not None for cell in cells if not _is_thousand(cell))
    return "," if by_comma > by_point else "."


def _is_thousand(cell: str) -> bool:
    return THOUSANDS.fullmatch(cell) is not None


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
    """Whether a space follows each delimiter; a first line that names the columns may have been added without any."""
    tight = len(rows) > 1 and not any(cell.startswith(" ") for cell in rows[0])
    cells = [cell for row in rows[tight:100] for cell in row[1:] if cell]
    return bool(cells) and all(cell.startswith(" ") for cell in cells)


def _is_number(cell: str, decimal: str) -> bool:
    return re.fullmatch(NUMBER[decimal], cell) is not None


def has_header(rows: list[list[str]], decimal: str = ".") -> bool:
    """Whether the first row names columns: no numbers, no repeats, and unlike what stands below it."""
    if len(rows) < 2:
        return bool(rows) and not any(_is_number(cell, decimal) for cell in rows[0])
    first, below = rows[0], rows[1:]
    if any(_is_number(cell, decimal) for cell in first):
        return False
    columns = [[row[j] for row in below if j < len(row) and row[j]] for j in range(len(first))]
    if any(cells and all(_is_number(cell, decimal) for cell in cells) for cells in columns):
        return True
    return (
        len(set(first)) == len(first)
        and all(len(cell) <= 60 for cell in first)
        and not any(cell in cells for cell, cells in zip(first, columns, strict=True) if cell)
    )


# -- reading ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Header:
    """The columns of a file, by its first line and the rows below it.

    Attributes
    ----------
    file : str
    names : list of str
    codes : frozenset of str
        Those of whole numbers some of which begin with a zero, which a number does not keep.
    """

    file: str
    names: list[str]
    codes: frozenset[str] = frozenset()


def header_of(source: Source, dialect: Dialect, most: int) -> Header:
    """Return the columns of a file; raise where there are more than `most`, before anything is done with each."""
    first = next(iter(_rows(_first_line(source, dialect), dialect.delimiter, dialect.quoted, 1)), [])
    check_width(source.name, len(first), most)
    names = [name.strip() if dialect.spaces else name for name in first]
    names = names if dialect.header else [f"column_{j + 1}" for j in range(len(first))]
    if "\ufffd" in "".join(names) and "\ufffd".encode() not in source.head:
        raise DataError(f"{source.name}: it is not {dialect.encoding} text (its first line); {_other_encoding(source)}")
    text = _decoded(source.head, dialect.encoding)
    if re.search(rf"(?:^|[\n{re.escape(dialect.delimiter)} \"])0[0-9]", text) is None:
        return Header(source.name, names)
    rows = _rows(text, dialect.delimiter, dialect.quoted, limit=10**6)[dialect.header :]
    columns = zip(*(row for row in rows if len(row) == len(names)), strict=True)
    codes = frozenset(name for name, cells in zip(names, columns, strict=False) if _are_codes(cells))
    return Header(source.name, names, codes)


def _first_line(source: Source, dialect: Dialect) -> str:
    """Return the text up to the end of the first line at least, of which the first bytes may be a part only."""
    head = source.head
    if b"\n" not in head and len(head) == HEAD and source.path is not None:
        with source.open(mapped=False) as stream:
            head = b""
            while b"\n" not in head and (more := stream.read(4 * HEAD)):
                head += more
                check_room(source.name, 4 * len(head), "its first line")
    return _decoded(head, dialect.encoding)


def _are_codes(cells: Sequence[str]) -> bool:
    """Whether all are whole numbers, and some begin with a zero."""
    given = [cell.strip() for cell in cells]
    return any(map(ZERO.fullmatch, given)) and all(cell.isdecimal() or cell in MISSING for cell in given)


def check_width(name: str, width: int, most: int) -> None:
    """Raise where a table has more columns than that, each of which takes a look of its own."""
    if width > most:
        raise DataError(
            f"{name}: {width:,} columns, and each is looked at, which takes long beyond {most:,}; write LIBSVM text or "
            f"NPZ (numpy.savez(path, X=…, y=…)), which are taken as they are, or say --max-columns {width}"
        )


def _options(
    source: Source, dialect: Dialect, names: list[str], types: Mapping[str, pa.DataType] | None, lines_in_values: bool
) -> Any:
    missing = [*dialect.missing, *(f" {word}" for word in dialect.missing)] if dialect.spaces else list(dialect.missing)
    block = max(BLOCK, 4 * len(_first_line(source, dialect)) if b"\n" not in source.head else 0)
    said = {f" {name}": kind for name, kind in (types or {}).items()} if dialect.spaces else {}
    return dict(
        read_options=arrow_csv.ReadOptions(
            block_size=block, encoding=dialect.encoding, column_names=None if dialect.header else names
        ),
        parse_options=arrow_csv.ParseOptions(
            delimiter=dialect.delimiter,
            quote_char='"' if dialect.quoted else False,
            newlines_in_values=lines_in_values and dialect.quoted,
        ),
        convert_options=arrow_csv.ConvertOptions(
            null_values=missing,
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
            column_types={**said, **(types or {})} or None,
            decimal_point=dialect.decimal,
            # what a boolean is called stays visible: it becomes a level
            true_values=[],
            false_values=[],
        ),
    )


def read_csv(
    source: Source, dialect: Dialect, names: list[str], types: Mapping[str, pa.DataType] | None = None
) -> pa.Table:
    """Return the whole file; types that are not given are inferred from all rows.

    Raises
    ------
    DataError
        For no rows, ragged rows, bytes that are not text.
    """
    table = _read_whole(source, dialect, names, types)
    if not table.num_rows:
        raise DataError(_no_rows(source))
    return table


def _read_whole(
    source: Source, dialect: Dialect, names: list[str], types: Mapping[str, pa.DataType] | None
) -> pa.Table:
    content, options = source.buffer(), _options(source, dialect, names, types, b'"' in source.head)
    try:
        is_utf8 = dialect.encoding.lower() in ("utf-8", "utf8")
        table = read_stretches(content, options, quoted=dialect.quoted) if is_utf8 else None
        if table is None:
            # Where the first quote comes late, a line may end within quotes all the same.
            if b'"' not in source.head and re.search(rb'"', memoryview(content)):
                options = _options(source, dialect, names, types, True)
            table = arrow_csv.read_csv(pa.BufferReader(content), **options)
        return _tidy(source, dialect, table)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise _found(source, dialect, content, error) from error


def _no_rows(source: Source) -> str:
    return f"{source.name}: no rows below the header; if the first line is data, say --no-header"


def stream_csv(
    source: Source, dialect: Dialect, names: list[str], types: Mapping[str, pa.DataType]
) -> Iterator[pa.Table]:
    """Yield the file a block at a time, with the types that are given; a small one is read at once, by all threads."""
    if source.path is not None and source.compression is None and (source.size or 0) <= WHOLE:
        table = _read_whole(source, dialect, names, types)
        yield from (table.slice(first, ROWS) for first in range(0, table.num_rows, ROWS))
        return
    row = 0
    with blame(source.name), source.open(mapped=False) as stream:
        try:
            options = _options(source, dialect, names, types, True)  # the quotes to come nobody knows
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


def line_of(source: Source, dialect: Dialect, row: int) -> int | None:
    """Return the line that a row begins on, from 1, or None where the file cannot be gone through once more.

    A value in quotes may have several lines, and lines may be empty.
    """
    return _first_line_where(source, dialect, None, lambda k, fields: k == row)


def _not_text(source: Source, dialect: Dialect, name: str, column: Any, before: int) -> str:
    for row, value in enumerate(column.to_pylist()):
        try:
            (value or b"").decode("utf-8")
        except UnicodeDecodeError:
            line = line_of(source, dialect, before + row)
            where = f"{source.name} {f'row {before + row + 1}' if line is None else f'line {line}'}, column {name!r}"
            return f"{where}: {value[:40]!r} is not UTF-8 text; {_other_encoding(source)}"
    return f"{source.name}, column {name!r}: it holds bytes, not text"


def _other_encoding(source: Source) -> str:
    """Return what to do about bytes that are no text; € and quotes of Windows are where Latin-1 has nothing."""
    likely = "cp1252" if re.search(rb"[\x80-\x9f]", source.head) else "latin-1"
    return f"say --encoding {likely} (or what it is), or convert it"


def _found(source: Source, dialect: Dialect, content: Any, error: Exception) -> DataError:
    """Return an error that says where; the slow look through the file is only taken when it is known to be bad."""
    if isinstance(error, UnicodeDecodeError) or re.search("utf-?8", str(error).lower()):
        if where := _undecodable(source, dialect, content):
            return DataError(f"{where} is not UTF-8 text; {_other_encoding(source)}")
        return DataError(f"{source.name}: it is not {dialect.encoding} text ({error}); {_other_encoding(source)}")
    if ragged := _ragged(source, dialect, content):
        return DataError(ragged)
    if "Empty CSV" in str(error):
        return DataError(_no_rows(source))
    message = str(error).splitlines()[0]
    found = re.search(r"column #(\d+).*?conversion error to (\S+): (.*)", message)
    if not found:
        return DataError(f"{source.name}: {message}")
    number, kind, what = found.groups()
    value = re.search(r"invalid value '(.*)'", what)
    line = _line_of_no_number(source, dialect, content, int(number)) if kind in NUMBERS else None
    where = f"{source.name}{f' line {line}' if line else ''}, column {_name(source, dialect, int(number))!r}"
    if kind not in NUMBERS or value is None:
        return DataError(f"{where}: {what}, where a value of the type {kind} is expected; correct it")
    if line == 1 and not dialect.header:
        return DataError(
            f"{where}: {value[1][:40]!r} is not a {NUMBERS[kind]}; if the first line names the columns, say --header"
        )
    word = value[1][:40]
    return DataError(
        f"{where}: {word!r} is not a {NUMBERS[kind]}; correct it, say {as_typed('--missing', [word])} if it stands for "
        f" a missing value, or --decimal if decimals are not set apart by {dialect.decimal!r}"
    )


def _line_of_no_number(source: Source, dialect: Dialect, content: Any, j: int) -> int | None:
    """Return the first line on which column j, from 0, holds neither a number nor what stands for a missing one."""

    def is_none(_: int, fields: list[str]) -> bool:
        value = fields[j].strip() if j < len(fields) else ""
        return value not in dialect.missing and not _is_number(value, dialect.decimal)

    return _first_line_where(source, dialect, content, is_none)


def _first_line_where(
    source: Source, dialect: Dialect, content: Any, is_it: Callable[[int, list[str]], bool]
) -> int | None:
    """Return the line on which the first row begins of which that is true, by its number from 0 and its fields."""
    before = 0
    with suppress(csv.Error):
        for k, (fields, ends) in enumerate(_records(source, dialect, content)):
            if k >= dialect.header and is_it(k - dialect.header, fields):
                return before + 1
            before = ends
    return None


def _records(
    source: Source, dialect: Dialect, content: Any = None, errors: str = "replace"
) -> Iterator[tuple[list[str], int]]:
    """Yield the fields of each record, and the number of the line it ends on; nothing where a pipe has run dry."""
    if content is None and source.path is None:
        return
    quoting: Any = csv.QUOTE_MINIMAL if dialect.quoted else csv.QUOTE_NONE
    stream = source.open() if content is None else pa.BufferReader(content)
    encoding = "utf-8-sig" if dialect.encoding.lower() in ("utf-8", "utf8") else dialect.encoding
    with io.TextIOWrapper(stream, encoding, errors, newline="") as text:
        reader = csv.reader(text, delimiter=dialect.delimiter, quoting=quoting)
        for row in reader:
            if row:
                yield row, reader.line_num


def _undecodable(source: Source, dialect: Dialect, content: Any) -> str:
    """Return where the first value is that is no UTF-8 text, and its bytes; nothing where there is none."""
    if dialect.encoding.lower() not in ("utf-8", "utf8"):
        return ""
    before = 0
    with suppress(csv.Error):
        for fields, ends in _records(source, dialect, content, errors="surrogateescape"):
            for j, field in enumerate(fields):
                if re.search("[\udc80-\udcff]", field):
                    value = field.encode("utf-8", "surrogateescape")[:40]
                    return f"{source.name} line {before + 1}, column {_name(source, dialect, j)!r}: {value!r}"
            before = ends
    return ""


def _name(source: Source, dialect: Dialect, j: int) -> str:
    """Return what column number j, from 0, is called."""
    first = next(iter(_rows(_decoded(source.head, dialect.encoding), dialect.delimiter, dialect.quoted, 1)), [])
    return first[j] if dialect.header and j < len(first) else f"column_{j + 1}"


def _ragged(source: Source, dialect: Dialect, content: Any) -> str | None:
    """Say which line has too few or too many fields."""
    expected, before = None, 0
    try:
        records = _records(source, dialect, content)
        for row, ends in records:
            if expected is None:
                expected = len(row)
            elif len(row) != expected:
                is_last = next(records, None) is None and not _ends_with_a_line(source, content)
                cut_off = "the file seems to end in the middle of a record; fetch it again"
                advice = cut_off if is_last else "correct this line"
                where = f"{source.name} line {before + 1}"
                return f"{where}: {len(row)} fields, but the lines before have {expected}; {advice}"
            before = ends
    except csv.Error as error:
        return f"{source.name} line {before + 1}: {error}"
    return None


def _ends_with_a_line(source: Source, content: Any) -> bool:
    content = source.buffer() if content is None else content
    return bytes(content[-1:]) == b"\n"
