"""Predictions for a file of any length, a block at a time, into a file that is there whole or not at all."""

from __future__ import annotations

import csv as text
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv, ipc, parquet

from .._common.atomic_file import atomic_file
from .._common.types import FloatArray
from ..analysis.evaluation import decide
from ..data.encoding import MatrixEncoding, TableEncoding, from_dict
from ..data.naming import roles
from ..data.readers import Hints, Matrix, Table, stream
from ..data.sources import DataError
from .gaps import Gaps
from .preparation import as_written, hints_of, needs

Part = Table | Matrix


def probabilities(model: Any, X: Any) -> FloatArray:
    """Return one column a class; raise for models that have none."""
    if not hasattr(model, "predict_proba"):
        raise DataError(
            f"{type(model).__name__} has no probabilities; fit with --loss logistic, or --calibrate sigmoid"
        )
    return np.asarray(model.predict_proba(X))


def predict_file(
    found: Any,
    path: str | Path,
    output: Path | None,
    *,
    proba: bool = False,
    keep: Sequence[str] = (),
    hints: Hints | None = None,
    progress: Callable[[int], None] = lambda rows: None,
) -> tuple[int, Gaps]:
    """Predict every row of a file; return how many there were, and what they lacked.

    Parameters
    ----------
    found : ModelFile
    path : str or Path
        ``-`` for standard input.
    output : Path or None
        CSV, TSV, Parquet or Arrow by its ending; None for CSV on standard output.
    proba : bool, default=False
        Whether to add one column ``probability_<class>`` for each class.
    keep : sequence of str
        Columns of the file that come first, as they are: by name or number, several separated by commas.
    hints : Hints, optional
    progress : callable
        Told the number of rows after every block.
    """
    encoding, total = as_written(from_dict(found.encoding), hints), 0
    gaps, parts = Gaps(encoding), _parts(path, encoding, hints, keep)
    first = next(parts, None)
    carried = _carried(first, keep)
    with _writer(output, _schema(found.model, proba, carried)) as write:
        for part in chain([] if first is None else [first], parts):
            X = _features(part, encoding)
            if not X.shape[0]:
                continue
            columns = {} if isinstance(part, Matrix) else {name: part.frame[name] for name in carried.names}
            columns["prediction"] = _labels(decide(found.model, X, found.threshold))
            if proba:
                shares = probabilities(found.model, X)
                columns |= {_column(label): shares[:, k] for k, label in enumerate(found.model.classes_)}
            write(pa.table(columns))
            gaps.add(None if isinstance(part, Matrix) else part.frame)
            total += X.shape[0]
            progress(total)
    return total, gaps


def _parts(
    path: str | Path, encoding: TableEncoding | MatrixEncoding, hints: Hints | None, keep: Sequence[str]
) -> Iterator[Part]:
    """Yield the file some rows at a time; columns that are only carried through are text, whatever they look like."""
    hints = hints_of(encoding, hints)
    if isinstance(encoding, TableEncoding):
        needed = encoding.types()
        yield from stream(
            path,
            hints,
            types=lambda header: dict.fromkeys(_kept(keep, header.names, header.file), pa.string()) | needed,
        )
    else:
        yield from stream(path, hints, base=encoding.base, n_features=encoding.n_features)


def _kept(keep: Sequence[str], names: Sequence[str], file: str) -> list[str]:
    return list(roles(dict.fromkeys(keep, "kept"), names, file))


def _carried(first: Part | None, keep: Sequence[str]) -> pa.Schema:
    """Return the columns that are carried through; raise for one that is not there, or that would be there twice."""
    if isinstance(first, Matrix) and keep:
        raise DataError(f"{first.name}: its columns have no names to carry through; leave out --keep")
    if not isinstance(first, Table):
        return pa.schema([(name.strip(), pa.string()) for word in keep for name in word.split(",")])
    names = _kept(keep, first.frame.column_names, first.name)
    if taken := [name for name in names if name == "prediction" or name.startswith(_column(""))]:
        raise DataError(f"{first.name}: column {taken[0]!r} cannot be kept beside a new one of that name; rename it")
    return pa.schema([first.frame.schema.field(name) for name in names])


def _features(part: Part, encoding: TableEncoding | MatrixEncoding) -> Any:
    if isinstance(part, Matrix) != isinstance(encoding, MatrixEncoding):
        raise DataError(f"{part.name}: the model was fitted on another kind of file; it needs {needs(encoding)}")
    if isinstance(part, Matrix):
        return encoding.transform(part.X, part.name)
    with part.blaming():
        return encoding.transform(part.frame, part.name)


def _labels(values: NDArray[Any]) -> pa.Array:
    return pa.array(values.tolist() if values.dtype.kind in "OU" else values)


def _column(label: Any) -> str:
    return f"probability_{label}"


def _schema(model: Any, proba: bool, carried: pa.Schema) -> pa.Schema:
    fields = [*carried, pa.field("prediction", _labels(model.classes_).type)]
    if proba:
        probabilities(model, np.zeros((1, model.n_features_in_)))
        fields += [pa.field(_column(label), pa.float64()) for label in model.classes_]
    return pa.schema(fields)


@contextmanager
def _writer(output: Path | None, schema: pa.Schema) -> Iterator[Callable[[pa.Table], None]]:
    """Yield a function that writes tables; the file takes its name when all is written."""
    if output is None:
        with ExitStack() as stack:
            opened: list[Any] = []

            def write(table: pa.Table | None) -> None:
                if not opened:  # nothing is printed before the first rows are known to be good
                    opened.append(stack.enter_context(_csv_writer(sys.stdout.buffer, schema, ",")))
                if table is not None:
                    opened[0].write_table(table)

            yield write
            write(None)
        sys.stdout.flush()
        return
    try:
        with atomic_file(output) as file, _open_writer(output, file, schema) as writer:
            yield writer.write_table
    except FileNotFoundError:
        raise DataError(f"{output.parent}: no such folder to write {output.name} into; make it first") from None
    except OSError as error:
        what = f"{error.strerror or error}: nothing was written, and what was there is untouched"
        raise type(error)(error.errno, what, str(output)) from error


def _csv_writer(file: Any, schema: pa.Schema, delimiter: str) -> Any:
    """Return pyarrow's writer, after a header that is quoted only where it must be."""
    header = io.StringIO()
    text.writer(header, delimiter=delimiter, lineterminator="\n").writerow(schema.names)
    file.write(header.getvalue().encode())
    style = csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style="needed")
    return csv.CSVWriter(pa.PythonFile(file, mode="w"), schema, write_options=style)


def _open_writer(output: Path, file: Any, schema: pa.Schema) -> Any:
    ending = output.suffix.lower()
    if ending == ".parquet":
        return parquet.ParquetWriter(file, schema)
    if ending in (".arrow", ".feather"):
        return ipc.new_file(file, schema)
    if ending in (".csv", ".txt", ".tsv", ".tab", ""):
        return _csv_writer(file, schema, "\t" if ending in (".tsv", ".tab") else ",")
    raise DataError(f"{output}: the ending {ending} is not known; use .csv, .tsv, .parquet, .arrow or .feather")
