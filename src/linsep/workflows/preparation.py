"""From a file to examples and labels: with a new encoding to train, or with a model's own to use it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .._types import IntArray
from ..data.encoding import MatrixEncoding, TableEncoding, is_number
from ..data.readers import Hints, Matrix, Table, read
from ..data.sources import BadValueError, DataError
from .labels import labels, matrix_labels, several_classes, some_labels, target_column, with_label

T = TypeVar("T")
Encoding: TypeAlias = TableEncoding | MatrixEncoding
#: Bytes that a feature takes at the least: its name, its weight and some numbers that a method keeps of it.
FEATURE = 150


@dataclass(frozen=True)
class Examples:
    """Examples and labels, and how they came out of their file.

    Attributes
    ----------
    name : str
        The file.
    X : array or CSR array of shape (n, d)
    y : array of shape (n,)
    encoding : TableEncoding or MatrixEncoding
    notes : list of str
        What a user should know: columns set aside, rows left out.
    frame : pyarrow.Table or None
        The rows as they were read, where they were asked for.
    lacking : int
        Rows of the file without a label, which are left out.
    """

    name: str
    X: Any
    y: NDArray[Any]
    encoding: Encoding
    notes: list[str]
    frame: pa.Table | None = None
    lacking: int = 0

    def split(self, train: IntArray, test: IntArray) -> tuple[Any, Any]:
        """Return the examples of a fold, encoded by what its training rows alone show."""
        if isinstance(self.encoding, MatrixEncoding):
            return self.X[train], self.X[test]
        assert self.frame is not None, "prepare(…, keep_frame=True) keeps the rows"
        rows = self.frame.take(train)
        encoding = self.encoding.refit(rows)
        return encoding.transform(rows, self.name), encoding.transform(self.frame.take(test), self.name)

    def file_rows(self, rows: IntArray) -> dict[str, IntArray]:
        """Return what each column of the file but the target says in some rows: equal numbers for equal values."""
        assert self.frame is not None, "keep_frame=True keeps the rows"
        some = self.frame.take(rows)
        return {name: _numbered(some[name]) for name in some.column_names if name != self.encoding.target}


def _numbered(column: pa.ChunkedArray) -> IntArray:
    """Return the number of each value among those of the column; a missing one has its own."""
    if pa.types.is_nested(column.type):
        column = pa.chunked_array([[repr(value) for value in column.to_pylist()]])
    values = column.combine_chunks()
    values = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    return np.asarray(values.indices.fill_null(-1), dtype=np.int64)


def types_said(kinds: Mapping[str, str]) -> dict[str, pa.DataType]:
    """Return how columns that the user spoke of are read: a category may look like a number and is none."""
    said = {"category": pa.string(), "text": pa.string(), "ignored": pa.string(), "number": pa.float64()}
    return {name: said[kind] for name, kind in kinds.items() if kind in said}


def prepare(
    path: str | Path,
    target: str | None,
    *,
    hints: Hints | None = None,
    kinds: Mapping[str, str] | None = None,
    degree: int = 1,
    keep_frame: bool = False,
    scaled: bool = True,
) -> Examples:
    """Read training examples, and decide how their columns are encoded.

    Parameters
    ----------
    path : str or Path
        A file, or ``-`` for standard input.
    target : str or None
        The column with the labels, by name or number; LIBSVM text needs none.
    hints : Hints, optional
        How the file is written.
    kinds : mapping, optional
        What columns are: number, category, date, text or ignored.
    degree : int, default=1
        Of products of numbers.
    keep_frame : bool, default=False
        Whether to keep the rows as they were read too, for `Examples.split`, also of a table of numbers only.
    scaled : bool, default=True
        Whether numbers are standardised, which a penalty needs; what is said of the file's own numbers takes False.
    """
    hints, kinds = hints or Hints(), dict(kinds or {})

    def examples_of(data: Table | Matrix) -> Examples:
        return _training_examples(data, target, hints, kinds, degree, keep_frame, scaled)

    def read_and_encode() -> Table | Examples:
        data = read(path, hints, target=target, types=types_said(kinds))
        return (
            data if isinstance(data, Table) and _takes_transformers(data, target, kinds, degree) else examples_of(data)
        )

    found = _while_loading(read_and_encode)
    return examples_of(found) if isinstance(found, Table) else found


def _training_examples(
    data: Table | Matrix,
    target: str | None,
    hints: Hints,
    kinds: Mapping[str, str],
    degree: int,
    keep_frame: bool,
    scaled: bool,
) -> Examples:
    """Return the examples of a file, its columns encoded by what they show."""
    if isinstance(data, Matrix):
        if kinds or degree != 1:
            raise DataError(f"{data.name}: its numbers are used as they are; --degree and column types need a table")
        check_width(data.name, data.X.shape[1])
        encoding = MatrixEncoding(data.X.shape[1], data.base, data.names, target)
        return Examples(data.name, data.X, several_classes(matrix_labels(data), data.name), encoding, [])
    frame, y, notes, column = _labelled(data, target)
    y = several_classes(y, data.name, column)
    kinds = {data.column(name): kind for name, kind in kinds.items()}
    if column in kinds:
        raise DataError(f"{data.name}: column {column!r} is the target; do not give it another role")
    try:
        with data.blaming():
            fitted, X = TableEncoding.fit_transform(
                frame.drop_columns([column]),
                data.name,
                scaled=scaled,
                kinds=kinds,
                degree=degree,
                target=column,
                header=data.header,
                missing=hints.missing,
            )
    except DataError as error:
        if isinstance(error.__cause__, BadValueError):
            raise
        raise DataError(f"{data.name}: {error}") from error
    aside = [
        f"column {c.name!r}{' is set aside' if c.kind == 'ignored' else ''}: {c.note}"
        for c in fitted.columns
        if c.note and c.note != "asked for"
    ]
    # Of numbers alone, rows that are equal once encoded are equal in the file.
    keep_frame = keep_frame or any(column.kind != "number" for column in fitted.columns)
    return Examples(data.name, X, y, fitted, [*notes, *aside], frame if keep_frame else None)


def check_width(name: str, d: int) -> None:
    """Raise where a matrix has no columns, or more than there is memory for a weight and a name of each."""
    if d < 1:
        raise DataError(f"{name}: no row has a value, as in 3:0.5, and so there is nothing to learn from")
    if hasattr(os, "sysconf") and d * FEATURE > os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"):
        raise DataError(f"{name}: column numbers go up to {d:,}, for which there is no memory; number those that occur")


def _takes_transformers(data: Table, target: str | None, kinds: Mapping[str, str], degree: int) -> bool:
    """Whether encoding takes transformers of scikit-learn: all but plain numbers do."""
    said, plain = set(kinds.values()), [is_number(column.type) for column in data.frame.schema if column.name != target]
    return degree != 1 or not said <= {"number", "ignored"} or not all(plain)


def _read(path: str | Path, hints: Hints, target: str | None, types: Mapping[str, pa.DataType]) -> Table | Matrix:
    return _while_loading(lambda: read(path, hints, target=target, types=types))


def _while_loading(work: Callable[[], T]) -> T:
    """Return what some work gives, done in another thread while this one loads what comes next: scikit-learn.

    The work may not load any of it too: two threads that load the same package may each see half of it.
    """
    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(work)
        for module in ("linsep.estimators", "linsep.persistence.model_file"):
            import_module(module)
        return working.result()


def hints_of(encoding: Encoding, hints: Hints | None) -> Hints:
    """Return how a model's files are written, where the user does not say otherwise."""
    hints = hints or Hints()
    if isinstance(encoding, MatrixEncoding):
        return hints
    header = encoding.header if hints.header is None else hints.header
    return replace(hints, header=header, missing=(*encoding.missing, *hints.missing))


def encoded(
    path: str | Path,
    encoding: Encoding,
    target: str | None,
    hints: Hints | None = None,
    *,
    keep_frame: bool = False,
) -> Examples:
    """Read examples with their labels, encoded as a model's training examples were; keep the rows too if asked to."""
    target = encoding.target if target is None else target
    types = encoding.types() if isinstance(encoding, TableEncoding) else None
    types = {name: kind for name, kind in (types or {}).items() if name != target}
    data = _read(path, hints_of(encoding, hints), target, types)
    if isinstance(data, Matrix) != isinstance(encoding, MatrixEncoding):
        raise DataError(f"{data.name}: the model was fitted on another kind of file; it needs {needs(encoding)}")
    if isinstance(data, Matrix):
        assert isinstance(encoding, MatrixEncoding)
        X = encoding.transform(data.X, data.name)
        return Examples(data.name, X, some_labels(matrix_labels(data), data.name), encoding, [])
    frame, y, notes, column = _labelled(data, target)
    some_labels(y, f"{data.name}, column {column!r}")
    with data.blaming():
        X = encoding.transform(frame, data.name)
    lacking = data.frame.num_rows - frame.num_rows
    return Examples(data.name, X, y, encoding, notes, frame if keep_frame else None, lacking)


def needs(encoding: Encoding) -> str:
    """Say what an encoding takes."""
    if isinstance(encoding, MatrixEncoding):
        return f"LIBSVM text or NPZ with {encoding.n_features} columns"
    return f"a table with the columns {', '.join(encoding.needed)}"


def _labelled(data: Table, target: str | None) -> tuple[pa.Table, NDArray[Any], list[str], str]:
    """Return the rows that have a label, and the labels."""
    column = target_column(data, target)
    frame, notes = with_label(data.frame, column), []
    if lacking := data.frame.num_rows - frame.num_rows:
        notes.append(f"{lacking:,} rows without a value in {column!r} are left out, and not counted in row numbers")
    return frame, labels(frame[column], column, data.name), notes, column
