"""From a file to examples and labels: with a new encoding to train, or with a model's own to use it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .._common.labels import coded
from .._common.types import BoolArray, FloatArray, IntArray
from .._common.words import many, phrase
from .._core import helpers
from ..data.csv_text import Header
from ..data.encoding import Circumstances, MatrixEncoding, TableEncoding, is_number
from ..data.encoding.column_types import ASKED_FOR, FEW_CODES, NAMES
from ..data.encoding.notation import DECIMALS
from ..data.naming import column_called, roles
from ..data.readers import Hints, Matrix, Table, read
from ..data.sources import DataError, of_file
from .labels import (
    SAME,
    labels,
    matrix_labels,
    several_classes,
    some_labels,
    spelt_alike,
    target_column,
    with_label,
)
from .weighing import OUTCOME, Weighing

T = TypeVar("T")
Encoding: TypeAlias = TableEncoding | MatrixEncoding
#: Bytes that a feature takes at the least: its name, its weight and some numbers that a method keeps of it.
FEATURE = 150
NO_WEIGHTS = Weighing()
#: Rows that counts may stand for where each is looked at by itself.
WRITTEN_OUT = 50_000_000
#: What a fit takes beside the estimators.
TO_LEARN = ("linsep.solvers", "linsep.certificates.data_hash", "linsep.workflows.summaries")


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
    weight : array of shape (n,), or None
        How much each example counts.
    weighing : Weighing
        The columns that say so.
    numbers : array of int, or None
        The number of each row among those of the file that have a label, from 0, where these are not all of them;
        successes and failures of one row have its number.
    """

    name: str
    X: Any
    y: NDArray[Any]
    encoding: Encoding
    notes: list[str]
    frame: pa.Table | None = None
    lacking: int = 0
    weight: FloatArray | None = None
    weighing: Weighing = NO_WEIGHTS
    numbers: IntArray | None = None

    def written_out(self) -> Examples:
        """Return the same with every row as often as it was counted, and without weights."""
        if self.weight is None or self.weighing.sample_weight is not None:
            return self
        if (total := self.weight.sum()) > WRITTEN_OUT:
            few = f"its rows stand for {total:,.0f}, and {WRITTEN_OUT:,} are the most that are counted one by one"
            raise DataError(f"{self.name}: {few}; divide the counts, or thin them out")
        rows = np.repeat(np.arange(len(self.y)), self.weight.astype(np.int64))
        numbers = self.file_numbers()
        counted = f"the {many(self.rows_of_file, 'row')} of the file that count stand for {len(rows):,}"
        parts: dict[str, Any] = dict(X=self.X[rows], y=self.y[rows], numbers=numbers[rows], weight=None)
        frame = None if self.frame is None else self.frame.take(rows)
        return replace(
            self, frame=frame, weighing=NO_WEIGHTS, notes=[*self.notes, f"{counted}, which are counted here"], **parts
        )

    def file_numbers(self) -> IntArray:
        """Return the number of each example's row among those of the file that have a label, from 0."""
        return np.arange(len(self.y)) if self.numbers is None else self.numbers

    @property
    def rows_of_file(self) -> int:
        """How many rows of the file they are made of."""
        return len(self.y) if self.numbers is None else len(np.unique(self.numbers))

    @cached_property
    def coded(self) -> tuple[NDArray[Any], IntArray]:
        """The classes in order, and the place of each example's among them."""
        return coded(self.y)

    def split(self, train: IntArray, test: IntArray) -> tuple[Any, Any]:
        """Return the examples of a fold, encoded by what its training rows alone show."""
        if isinstance(self.encoding, MatrixEncoding):
            return self.X[train], self.X[test]
        assert self.frame is not None, "prepare(…, keep_frame=True) keeps the rows"
        rows = self.frame.take(train)
        encoding = self.encoding.refit(rows)
        encoding = encoding if self.encoding.is_scaled else encoding.unscaled()
        return encoding.transform(rows, self.name), encoding.transform(self.frame.take(test), self.name)

    def own_numbers(self) -> Any:
        """Return the examples in the file's own numbers, of which separability is proven.

        Products of numbers that are missing depend on what these are taken for: they stay standardised, as in a fit.
        """
        encoding = self.encoding
        if isinstance(encoding, MatrixEncoding):
            return self.X
        if encoding.degree > 1 and any(one.lacking for one in encoding.numbers.values()):
            return self.X
        assert self.frame is not None, "prepare(…, keep_frame=True) keeps the rows"
        return encoding.unscaled().transform(self.frame, self.name)

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


def types_said(header: Header, kinds: Mapping[str, str], target: str | None) -> dict[str, pa.DataType]:
    """Return which columns are read as text: what the user says is no number may look like one, and so may codes."""
    said = roles(kinds, header.names, header.file)
    labels = None if target is None else column_called(target, header.names, header.file)
    codes = [name for name in header.codes if name != labels and name not in said]
    words = [name for name, role in said.items() if role in ("category", "text", "ignored")]
    return dict.fromkeys([*codes, *words], pa.string())


def circumstances(data: Table, hints: Hints, **more: Any) -> Circumstances:
    """Return what all columns of a table have in common."""
    likely = data.decimal or "."
    decimals = (hints.decimal,) if hints.decimal else (likely, *(mark for mark in DECIMALS if mark != likely))
    return Circumstances(data.name, untyped=data.untyped, decimals=decimals, **more)


def notes_of(encoding: TableEncoding) -> list[str]:
    """Return what a user should know of the columns: which are set aside and why, which may be something else."""
    said = [column for column in encoding.columns if column.note not in ("", ASKED_FOR, FEW_CODES, NAMES)]
    notes = [f"column {c.name!r}{' is set aside' if c.kind == 'ignored' else ''}: {c.note}" for c in said]
    for note, advice in (
        (FEW_CODES, "where these are codes and no amounts, say --category"),
        (NAMES, "where these only name the rows, say --ignore"),
    ):
        if names := [repr(column.name) for column in encoding.columns if column.note == note]:
            some = f"{' '.join(names[:8])}{' …' if len(names) > 8 else ''}"
            notes.append(f"{phrase(names)}: {note}; {advice} {some}")
    for name, levels in encoding.levels.items():
        if alike := spelt_alike(levels):
            notes.append(f"column {name!r}: {alike}, and each has a weight of its own; {SAME}")
    return notes


def prepare(
    path: str | Path,
    target: str | None,
    *,
    hints: Hints | None = None,
    kinds: Mapping[str, str] | None = None,
    degree: int = 1,
    keep_frame: bool = False,
    scaled: bool = True,
    weighing: Weighing = NO_WEIGHTS,
    learned: Callable[[NDArray[Any]], BoolArray] | None = None,
    odd: list[DataError] | None = None,
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
    weighing : Weighing, optional
        Which columns say how much rows count.
    learned : callable, optional
        Tells by their labels which rows decide how columns are encoded; without it all do.
    odd : list, optional
        Is given what there is to say of columns that cannot be understood, which are set aside then; without it the
        first of them is an error.
    """
    hints, kinds = hints or Hints(), dict(kinds or {})

    def examples_of(data: Table | Matrix, kinds: Mapping[str, str] = kinds) -> Examples:
        try:
            return _training_examples(data, target, hints, kinds, degree, keep_frame, scaled, weighing, learned)
        except DataError as error:
            if odd is None or isinstance(data, Matrix):
                raise
            odd.append(error)
            if error.column is None:
                raise DataError("; ".join(map(str, odd))) from error
            names = data.frame.column_names
            return examples_of(data, roles(kinds, names, data.name) | {error.column: "ignored"})

    def read_and_encode() -> Table | Examples:
        data = read(path, hints, target=target, types=partial(types_said, kinds=kinds, target=target))
        return (
            data if isinstance(data, Table) and _takes_transformers(data, target, kinds, degree) else examples_of(data)
        )

    found = _while_loading(read_and_encode, *TO_LEARN)
    return examples_of(found) if isinstance(found, Table) else found


def _training_examples(
    data: Table | Matrix,
    target: str | None,
    hints: Hints,
    kinds: Mapping[str, str],
    degree: int,
    keep_frame: bool,
    scaled: bool,
    weighing: Weighing,
    learned: Callable[[NDArray[Any]], BoolArray] | None,
) -> Examples:
    """Return the examples of a file, its columns encoded by what they show."""
    if isinstance(data, Matrix):
        if kinds or degree != 1 or weighing:
            raise DataError(
                f"{data.name}: its numbers are used as they are; --degree, column types and weights need a table"
            )
        check_width(data.name, data.X.shape[1])
        encoding = MatrixEncoding(data.X.shape[1], data.base, data.names, target)
        return Examples(data.name, data.X, several_classes(matrix_labels(data), data.name), encoding, [])
    kinds = roles(kinds, data.frame.column_names, data.name)
    rows = _labelled(data, target, weighing, kinds)
    frame, column = rows.frame, rows.column
    y = several_classes(rows.y, data.name, column)
    if column in kinds:
        raise DataError(f"{data.name}: column {column!r} is the target; do not give it another role")
    seen = frame if column is None else frame.drop_columns([column])
    seen, often = (
        rows.weighing.counted(seen, rows.weight, rows.numbers)
        if learned is None
        else (seen.filter(pa.array(learned(y))), None)
    )
    with of_file(data.name), data.blaming():
        fitted = TableEncoding.fit(
            seen,
            kinds=kinds,
            around=circumstances(data, hints, held_out=1 - seen.num_rows / len(y) if learned else 0.0),
            counted=often,
            degree=degree,
            target=column,
            header=data.header,
            missing=hints.missing,
            decimal=data.decimal,
        )
        fitted = fitted if scaled else fitted.unscaled()
        X = fitted.transform(frame, data.name)
    # Of numbers alone, rows that are equal once encoded are equal in the file.
    kept = frame if keep_frame or any(column.kind != "number" for column in fitted.columns) else None
    notes = [*rows.notes, *notes_of(fitted)]
    return Examples(data.name, X, y, fitted, notes, kept, 0, rows.weight, rows.weighing, rows.numbers)


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


def _while_loading(work: Callable[[], T], *more: str) -> T:
    """Return what some work gives, done in another thread while this one loads what comes next: scikit-learn, and more.

    The work may not load any of it too: two threads that load the same package may each see half of it.
    """
    with helpers(1) as pool:
        working = pool.submit(work)
        for module in ("linsep.estimators._certified", "linsep.persistence.writing", *more):
            import_module(module)
        return working.result()


def hints_of(encoding: Encoding, hints: Hints | None) -> Hints:
    """Return how a model's files are written, where the user does not say otherwise."""
    hints = hints or Hints()
    if isinstance(encoding, MatrixEncoding):
        return hints
    header = encoding.header if hints.header is None else hints.header
    missing, decimal = (*encoding.missing, *hints.missing), hints.decimal or encoding.decimal
    return replace(hints, header=header, missing=missing, decimal=decimal)


def as_written(encoding: Encoding, hints: Hints | None) -> Encoding:
    """Return a model's encoding for files in which the user says that decimals are set apart by another mark."""
    if hints is None or isinstance(encoding, MatrixEncoding):
        return encoding
    return encoding.written(hints.decimal)


def encoded(
    path: str | Path,
    encoding: Encoding,
    target: str | None,
    hints: Hints | None = None,
    *,
    keep_frame: bool = False,
    weighing: Weighing = NO_WEIGHTS,
    others: bool = False,
) -> Examples:
    """Read examples with their labels, encoded as a model's training examples were; keep the rows too if asked to.

    Others than those of the fit need no column that says how often each was seen.
    """
    target, encoding = encoding.target if target is None else target, as_written(encoding, hints)
    types = encoding.types() if isinstance(encoding, TableEncoding) else None
    types = {name: kind for name, kind in (types or {}).items() if name != target}
    data = _read(path, hints_of(encoding, hints), target, types)
    if isinstance(data, Matrix) != isinstance(encoding, MatrixEncoding):
        raise DataError(f"{data.name}: the model was fitted on another kind of file; it needs {needs(encoding)}")
    if isinstance(data, Matrix):
        assert isinstance(encoding, MatrixEncoding)
        X = encoding.transform(data.X, data.name)
        return Examples(data.name, X, some_labels(matrix_labels(data), data.name), encoding, [])
    rows = _labelled(data, target, weighing.where_told(data.frame) if others else weighing)
    some_labels(rows.y, f"{data.name}, column {rows.column!r}")
    with data.blaming():
        X = encoding.transform(rows.frame, data.name)
    kept, counted = rows.frame if keep_frame else None, (rows.weight, rows.weighing, rows.numbers)
    return Examples(data.name, X, rows.y, encoding, rows.notes, kept, rows.lacking, *counted)


def left_out(lacking: int, column: str) -> str:
    """Say that rows without a label are not used."""
    return f"{many(lacking, 'row')} without a value in {column!r} {'is' if lacking == 1 else 'are'} left out"


def needs(encoding: Encoding) -> str:
    """Say what an encoding takes."""
    if isinstance(encoding, MatrixEncoding):
        return f"LIBSVM text or NPZ with {many(encoding.n_features, 'column')}"
    return f"a table with the columns {', '.join(encoding.needed)}"


@dataclass(frozen=True)
class _Labelled:
    """Rows that have a label, the labels, and the column that these are from; none of grouped data."""

    frame: pa.Table
    y: NDArray[Any]
    column: str | None
    weighing: Weighing
    weight: FloatArray | None
    numbers: IntArray | None
    lacking: int

    @property
    def notes(self) -> list[str]:
        """What a user should know of the others."""
        if not self.lacking or self.column is None:
            return []
        return [f"{left_out(self.lacking, self.column)}, and not counted in row numbers"]


def _labelled(data: Table, target: str | None, weighing: Weighing, kinds: Mapping[str, str] | None = None) -> _Labelled:
    """Return the rows that have a label, and what they count."""
    if weighing.is_grouped:
        if target is not None:
            raise DataError("--target would be ignored: --successes and --trials say what is predicted")
        weighing = weighing.on(data, None, kinds)
        frame, weight, numbers = weighing.taken(data.frame, data.name)
        y = np.array(frame[OUTCOME].to_pylist())
        return _Labelled(frame.drop_columns([OUTCOME]), y, None, weighing, weight, numbers, 0)
    column = target_column(data, target)
    weighing, known = weighing.on(data, column, kinds), with_label(data.frame, column)
    frame, weight, numbers = weighing.taken(known, data.name)
    y, lacking = labels(frame[column], column, data.name), data.frame.num_rows - known.num_rows
    return _Labelled(frame, y, column, weighing, weight, numbers, lacking)
