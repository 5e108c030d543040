"""Files in: any format that linsep reads becomes a table of named columns, or a matrix that is ready to use."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import ipc, parquet
from scipy import sparse

from .._core import is_sparse, one_ahead
from .csv_text import Dialect, Header, check_names, check_width, header_of, line_of, read_csv, sniff, stream_csv
from .excel import read_excel
from .libsvm import STRETCH, parse_libsvm, stream_libsvm
from .naming import column_called
from .room import check_room
from .sources import BadValueError, DataError, Source, blame

#: Types of columns by name, or what tells them by a file's header.
Types = Mapping[str, pa.DataType] | Callable[[Header], Mapping[str, pa.DataType]]

#: A table with more columns than this is refused, unless the user says otherwise: each is looked at.
COLUMNS = 50_000

#: Rows that a stream of Parquet or Arrow data yields at a time.
ROWS = 100_000
#: Up to this every whole number is a float.
EXACT = 2**53
#: Bytes of a column that a stream of Parquet data reads ahead.
BUFFER = 1 << 16


@dataclass(frozen=True)
class Hints:
    """What the user says of a file instead of letting it be guessed."""

    delimiter: str | None = None
    header: bool | None = None
    encoding: str = "utf-8"
    missing: tuple[str, ...] = ()  # further words that stand for a missing value
    decimal: str | None = None  # what sets decimals apart
    sheet: str | None = None  # of a workbook, by name or, from 1, by number
    max_columns: int = COLUMNS  # a table with more is refused

    def dialect(self, source: Source) -> Dialect:
        """Return the dialect of a file, guessed where it is not said."""
        names = ("delimiter", "header", "encoding", "missing", "decimal")
        return sniff(source.head, **{name: getattr(self, name) for name in names})


@dataclass(frozen=True)
class Table:
    """Named columns of any type.

    Attributes
    ----------
    name : str
        The file.
    frame : pyarrow.Table
    header : bool
        Whether the names come from the file.
    first : int
        How many rows of the file came before.
    line_of : callable, optional
        The line that a row of the file begins on, where the file is text.
    untyped : bool
        Whether a column is text because all is, as in CSV, and not because somebody chose so.
    decimal : str or None
        What sets decimals apart, where the file is text.
    """

    name: str
    frame: pa.Table
    header: bool = True
    first: int = 0
    line_of: Callable[[int], int | None] | None = None
    untyped: bool = False
    decimal: str | None = None

    def where(self, row: int) -> str:
        """Return the file and the place of a row in it, as a person counts: by lines of text, or by rows from 1."""
        line = None if self.line_of is None else self.line_of(self.first + row)
        return f"{self.name} {f'row {self.first + row + 1}' if line is None else f'line {line}'}"

    @contextmanager
    def blaming(self) -> Iterator[None]:
        """Turn the error of a bad value somewhere in this table into one that says where it is."""
        try:
            yield
        except BadValueError as error:
            column = self.frame[error.column]
            row, size = 0, len(column)  # the first that does not fit is within these
            while size > 1:
                half = size // 2
                if error.fits(column.slice(row, half)):
                    row, half = row + half, size - half
                size = half
            value, place = column[row].as_py(), f"{self.where(row)}, column {error.column!r}"
            raise DataError(f"{place}: {str(value)[:40]!r} {error.advice}", error.column) from error

    def column(self, name: str) -> str:
        """Return the column of that name or, from 1 or from −1 at the end, of that number."""
        return column_called(name, self.frame.column_names, self.name)


@dataclass(frozen=True)
class Matrix:
    """Numbers that are ready to use, dense or sparse."""

    name: str  # the file
    X: Any  # dense or CSR
    y: NDArray[Any] | None
    base: int = 0  # what the first column is numbered in the file
    names: list[str] | None = None  # of the columns


def read(
    path: str | Path,
    hints: Hints | None = None,
    *,
    target: str | None = None,
    types: Types | None = None,
) -> Table | Matrix:
    r"""Read a file whole, or standard input for ``-``: CSV, TSV, Parquet, Arrow, Feather, Excel, LIBSVM text or NPZ.

    Parameters
    ----------
    path : str or Path
        ``.gz``, ``.bz2`` and ``.zst`` are unpacked on the way.
    hints : Hints, optional
    target : str, optional
        The array with the labels, where it is an NPZ file that does not call it y.
    types : mapping of str to pyarrow.DataType, or callable, optional
        Of columns of a CSV file whose types shall not be inferred; what is called takes the file's `Header`.

    Returns
    -------
    Table or Matrix

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("age,town\n31,Ede\n,Ulm\n")
    ...     print(read(path).frame.to_pydict())
    {'age': [31, None], 'town': ['Ede', 'Ulm']}
    """
    source, hints = Source.of(path), hints or Hints()
    with blame(source.name):
        if source.format == "libsvm":
            X, y, base = parse_libsvm(source.buffer(), source.name)
            return Matrix(source.name, X, y, base)
        if source.format == "npz":
            return _read_npz(source, target)
        if source.format == "csv":
            csv = _Csv.of(source, hints, types)
            return csv.table(read_csv(source, csv.dialect, csv.names, csv.types))
        if source.format == "excel":
            return _read_excel(source, hints)
        return Table(source.name, _plain(source.name, _read_arrow(source, hints.max_columns), hints.missing))


@dataclass(frozen=True)
class _Csv:
    """How a CSV file is read."""

    source: Source
    dialect: Dialect
    names: list[str]
    types: Mapping[str, pa.DataType]

    @classmethod
    def of(cls, source: Source, hints: Hints, types: Types | None) -> _Csv:
        dialect = hints.dialect(source)
        header = header_of(source, dialect, hints.max_columns)
        return cls(source, dialect, header.names, (types(header) if callable(types) else types) or {})

    def table(self, frame: pa.Table, first: int = 0) -> Table:
        """Return rows that come after so many others."""
        line = partial(line_of, self.source, self.dialect)
        return Table(self.source.name, frame, self.dialect.header, first, line, True, self.dialect.decimal)


def _read_excel(source: Source, hints: Hints) -> Table:
    frame, header = read_excel(source, hints.sheet, hints.header, hints.missing)
    check_width(source.name, frame.num_columns, hints.max_columns)
    return Table(source.name, _plain(source.name, frame, hints.missing), header, untyped=True)


def stream(
    path: str | Path,
    hints: Hints | None = None,
    *,
    types: Types | None = None,
    base: int | None = None,
    n_features: int | None = None,
    size: int | None = None,
    columns: list[str] | None = None,
) -> Iterator[Table | Matrix]:
    """Yield a file's rows in order, some at a time.

    Parameters
    ----------
    path, hints
        As for `read`.
    types : mapping of str to pyarrow.DataType, or callable, optional
        Of the columns of a CSV file, which cannot be inferred from a part of it.
    base, n_features : int, optional
        How LIBSVM text numbers its first column, and how many there are.
    size : int, optional
        How many bytes may be in memory at a time, about.
    columns : list of str, optional
        The only columns of a Parquet file that are wanted.
    """
    source, hints = Source.of(path), hints or Hints()
    if source.format == "csv":
        csv, first = _Csv.of(source, hints, types), 0
        for frame in stream_csv(source, csv.dialect, csv.names, csv.types):
            yield csv.table(frame, first)
            first += frame.num_rows
    elif source.format == "libsvm":
        stretch = STRETCH if size is None else max(1 << 16, min(STRETCH, size // 4))
        for X, y in stream_libsvm(source, base=base, n_features=n_features, stretch=stretch):
            yield Matrix(source.name, X, y, base or 0)
    elif source.format == "npz":
        yield _read_npz(source, None)
    elif source.format == "excel":
        yield _read_excel(source, hints)
    else:
        with blame(source.name):
            first = 0
            for batch in one_ahead(_arrow_batches(source, size, columns, hints.max_columns)):
                frame = _plain(source.name, pa.Table.from_batches([batch]), hints.missing)
                yield Table(source.name, frame, first=first)
                first += batch.num_rows


def _read_arrow(source: Source, most: int) -> pa.Table:
    if source.format == "parquet":
        file = parquet.ParquetFile(source.seekable())
        check_width(source.name, file.metadata.num_columns, most)
        check_room(source.name, _promised(file), "its table")
        return _valid(file.read())
    content = source.seekable()
    reader = (ipc.open_stream if source.head.startswith(b"\xff\xff\xff\xff") else ipc.open_file)(content)
    check_width(source.name, len(reader.schema), most)
    return _valid(reader.read_all())


def _promised(file: parquet.ParquetFile) -> int:
    """Return how many bytes the numbers of a Parquet file take at the least, by what its footer says."""
    bits = sum(kind.bit_width if pa.types.is_primitive(kind) else 32 for kind in file.schema_arrow.types)
    return int(file.metadata.num_rows * bits // 8)


def _valid(part: Any) -> Any:
    """Return a table or a batch; raise where an offset, an index or a text in it is none, which all else believes."""
    part.validate(full=True)
    return part


def _plain(name: str, table: pa.Table, missing: Sequence[str] = ()) -> pa.Table:
    """Return the table without the types that few of pyarrow's functions take: views of text, which polars writes.

    What a user says stands for a missing value is none, and neither is text without a character: as in CSV.
    """
    check_names(name, table.column_names)
    for j, column in enumerate(table.schema):
        if plain := {pa.string_view(): pa.string(), pa.float16(): pa.float32()}.get(column.type):
            table = table.set_column(j, column.name, table.column(j).cast(plain))
        if missing or _has_blanks(table.column(j)):
            table = table.set_column(j, column.name, _without(table.column(j), ("", *missing)))
    return table


def _has_blanks(values: pa.ChunkedArray) -> bool:
    """Whether some text is empty."""
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return False
    chunks = (chunk.dictionary if pa.types.is_dictionary(values.type) else chunk for chunk in values.chunks)
    return any(pc.any(pc.equal(chunk, "")).as_py() for chunk in chunks)


def _without(values: pa.ChunkedArray, words: Sequence[str]) -> pa.ChunkedArray:
    """Return a column whose values are missing where they are one of some words, or the number that one writes."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        values, kind = values.cast(kind.value_type), kind.value_type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        named = pa.array([*words], kind)
        return pc.if_else(pc.is_in(pc.utf8_trim_whitespace(values), named), None, values)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        numbers = pa.array([float(word) for word in words if _is_number(word)], pa.float64())
        return pc.if_else(pc.is_in(values.cast(pa.float64(), safe=False), numbers), None, values)
    return values


def _is_number(word: str) -> bool:
    try:
        return bool(np.isfinite(float(word)))
    except ValueError:
        return False


def _arrow_batches(source: Source, size: int | None, columns: list[str] | None, most: int) -> Iterator[pa.RecordBatch]:
    content = source.seekable(mapped=False)
    if source.format == "parquet":
        file = parquet.ParquetFile(content, pre_buffer=False, buffer_size=BUFFER)
        check_width(source.name, file.metadata.num_columns, most)
        width = 8 * len(columns or file.schema_arrow.names)
        rows = ROWS if size is None else max(64, min(ROWS, size // max(1, width)))
        for batch in file.iter_batches(batch_size=rows, columns=columns, use_threads=True):
            yield _valid(batch)
            if size is not None:
                pa.default_memory_pool().release_unused()
        return
    if source.head.startswith(b"\xff\xff\xff\xff"):
        batches: Any = ipc.open_stream(content)
        check_width(source.name, len(batches.schema), most)
    else:
        whole = ipc.open_file(content)
        check_width(source.name, len(whole.schema), most)
        batches = (whole.get_batch(k) for k in range(whole.num_record_batches))
    for batch in map(_valid, batches):
        rows = ROWS if size is None else max(64, min(ROWS, size // max(1, batch.nbytes // max(1, batch.num_rows))))
        yield from (batch.slice(first, rows) for first in range(0, batch.num_rows, rows))


def _read_npz(source: Source, target: str | None) -> Matrix:
    """Read X and y, or what `scipy.sparse.save_npz` wrote; no pickled objects."""
    import io

    name = source.name
    try:
        content = io.BytesIO(source.buffer())
        with zipfile.ZipFile(content) as archive:
            check_room(name, sum(part.file_size for part in archive.infolist()), "what it unpacks to")
        with np.load(content, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
    except DataError:
        raise
    except (zipfile.BadZipFile, zlib.error, RuntimeError, TokenError, ValueError, MemoryError) as error:  # damaged, …
        raise DataError(f"{name}: not a readable NPZ file ({error}); write it with numpy.savez") from error
    if other := [key for key, array in arrays.items() if not isinstance(array, np.ndarray)]:
        raise DataError(f"{name}: {other[0]!r} in it is no array; write it with numpy.savez")
    X = _npz_matrix(name, arrays)
    if target is not None and target not in arrays:
        raise DataError(f"{name}: no array {target!r} in it, only {', '.join(arrays)}")
    y = arrays.get(target or "y")
    if y is not None and y.shape != (X.shape[0],):
        raise DataError(f"{name}: {X.shape[0]:,} rows, and labels of shape {y.shape}; give each row its label")
    names = [str(one) for one in np.ravel(arrays["names"])] if "names" in arrays else None
    if names is not None:
        check_names(name, names)
        if len(names) != X.shape[1]:
            raise DataError(f"{name}: {len(names)} names for {X.shape[1]:,} columns; give each column its name")
    return Matrix(name, X, y, 0, names)


def _npz_matrix(name: str, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Return X, dense or CSR, in floats; raise for numbers that nothing can be learned from."""
    if {"data", "indices", "indptr", "shape"} <= arrays.keys():
        columns_first = arrays.get("format", np.array(b"csr")).item() in (b"csc", "csc")
        kind = sparse.csc_array if columns_first else sparse.csr_array
        try:
            parts: Any = tuple(arrays[part] for part in ("data", "indices", "indptr"))
            X: Any = kind(parts, shape=tuple(arrays["shape"]))
            X.check_format(full_check=True)  # whoever counts on its indices reads and writes by them
        except (ValueError, TypeError) as error:
            raise DataError(f"{name}: the sparse matrix is damaged ({error}); write it again") from error
        X = X.tocsr()
    elif "X" in arrays:
        X = arrays["X"]
    else:
        raise DataError(f"{name}: no array X in it, only {', '.join(arrays)}; write numpy.savez(path, X=…, y=…)")
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise DataError(f"{name}: the array X must be numbers in rows and columns, not {X.dtype} of shape {X.shape}")
    if not X.shape[1]:
        raise DataError(f"{name}: it has no columns, and so nothing to learn from")
    values = X.data if is_sparse(X) else X
    if X.dtype.kind in "iu" and values.size and max(int(values.max()), -int(values.min())) > EXACT:
        raise DataError(f"{name}: whole numbers above 2^53 are more than floats tell apart; subtract their least")
    if not np.isfinite(values).all():
        at = np.unravel_index(int(np.argmin(np.isfinite(values))), values.shape)
        if is_sparse(X):
            row = int(np.searchsorted(X.indptr, at[0], side="right")) - 1
            at = (np.int64(row), X.indices[at[0]])
        where = f"row {int(at[0]) + 1}, column {int(at[1]) + 1}"
        advice = "fill in what is missing, or write a table (Parquet, CSV), where values may be missing"
        raise DataError(f"{name}: {where} is not a finite number; {advice}")
    return X if X.dtype.kind == "f" and X.dtype.itemsize >= 4 else X.astype(np.float64)
