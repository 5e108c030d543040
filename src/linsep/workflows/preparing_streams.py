"""From a file of any length to encoded blocks on the disk, in one pass or two."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .._common.types import FloatArray, IntArray
from .._core import one_ahead
from ..data.csv_text import Header
from ..data.encoding import Column, MatrixEncoding, TableEncoding, TableStatistics
from ..data.naming import roles
from ..data.readers import Matrix, Table, stream
from ..data.scratch import ScratchWriter, check_space
from ..data.sources import BadValueError, DataError, Source, of_file
from .holding_out import SECTION, Drawing, check_weighing
from .labels import CLASSES, check_few, labels, question, target_column, with_label
from .memory import Budget, give_back
from .preparation import Encoding, check_width, circumstances, left_out, notes_of, types_said
from .request import Progress, Request
from .weighing import OUTCOME, Weighing

#: The folder of the test rows, in that of the others.
TEST = "test"


def file_to_stream(data: str) -> Source:
    """Return the file; raise for what cannot be gone through twice."""
    source = Source.of(data)
    if source.path is None:
        raise DataError(f"{source.name}: --max-memory goes through the data several times; write them to a file first")
    if source.format in ("npz", "excel"):
        what = {"npz": "NPZ", "excel": "a workbook"}[source.format]
        raise DataError(f"{data}: {what} is read whole; write Parquet, Arrow, CSV or LIBSVM text for --max-memory")
    if source.format in ("parquet", "arrow") and source.compression is not None:
        raise DataError(
            f"{data}: {source.format} inside {source.compression} is read whole; unpack it for --max-memory"
        )
    return source


@dataclass(frozen=True)
class Preparation:
    """The way from a file to blocks in a folder."""

    request: Request
    source: Source
    folder: Path
    budget: Budget
    progress: Progress

    def run(self) -> dict[str, Any]:
        """Write the blocks; return the encoding, the classes and what there is to say of the rows, in terms of JSON."""
        write = self._write_matrix if self.source.format == "libsvm" else self._write_table
        with closing(_Sides(self.folder, _drawing(self.request))) as sides:
            encoding, classes, notes = write(sides)
        how = encoding.to_dict() | self.request.weighing.to_dict() | sides.split
        found = {"encoding": how, "classes": np.asarray(classes).tolist(), "notes": notes}
        return found | {"rows_of_file": sides.rows_of_file}

    def _write_matrix(self, sides: _Sides) -> tuple[Encoding, NDArray[Any], list[str]]:
        """Write LIBSVM text in one pass: the numbers of columns and classes are known when it is over."""
        request, name = self.request, self.source.name
        if request.kinds or request.degree != 1 or request.weighing:
            raise DataError(
                f"{name}: its numbers are used as they are; --degree, column types and weights need a table"
            )
        size = self.source.size or 0
        check_space(self.folder, size * 3 // 2)
        places = dict[float, int]()
        lowest, width, rows = 2**31, 0, 0
        for block in stream(request.data, request.hints, base=0, size=self.budget.block * 2):
            assert isinstance(block, Matrix)
            assert block.y is not None
            values, found = np.unique(block.y, return_inverse=True)
            codes = np.array([places.setdefault(float(value), len(places)) for value in values], dtype=np.int64)
            _check_classes(len(places), rows, name)
            sides.add(block.X, codes[found])
            lowest, width = min(lowest, int(block.X.indices.min(initial=2**31 - 1))), max(width, block.X.shape[1])
            rows += block.X.shape[0]
            self.progress("reading rows", rows, 0)
        base = 0 if lowest == 0 else 1
        classes = labels(pa.chunked_array([pa.array(list(places))]), "label", name) if places else np.empty(0)
        _check_classes(len(classes), rows, name, least=2)
        check_width(name, width - base)
        order = np.argsort(np.argsort(classes))
        sides.finish(width - base, base, order.tolist())
        return MatrixEncoding(width - base, base, None, request.target), np.sort(classes), []

    def _write_table(self, sides: _Sides) -> tuple[Encoding, NDArray[Any], list[str]]:
        """Write a table in two passes: one to decide on the encoding, one to encode."""
        counted = _Counting(self.request, self.source, self.budget, self.progress).run()
        give_back()
        encoding = counted.encoding
        d = len(encoding.names)
        width = 8 * (d if not encoding.is_sparse else 12)
        check_space(self.folder, counted.rows * (width + 2))
        done, total = 0, counted.rows + counted.lacking
        for rows, X, codes, weight, lines in one_ahead(self._encoded(counted)):
            if lines is not None:
                sides.rows_of_file = (sides.rows_of_file or 0) + lines
            if X.shape[0]:
                sides.add(X, codes, weight)
            done += rows
            self.progress("encoding rows", done, total)
        sides.finish(d, 0, list(range(len(counted.classes))))
        return encoding, counted.classes, counted.notes

    def _encoded(self, counted: _Counted) -> Iterator[tuple[int, Any, IntArray, FloatArray | None, int | None]]:
        """Yield blocks: how many rows were read, their encoding, classes and weights, and how many the file has."""
        encoding, name = counted.encoding, self.source.name
        width = 8 * max(len(encoding.columns), 0 if encoding.is_sparse else len(encoding.names))
        rows_at_once, columns = max(16, self.budget.block // width), [*encoding.needed, *counted.others]
        reading: dict[str, Any] = dict(types=counted.types, size=self.budget.block, columns=columns)
        for block in stream(self.request.data, self.request.hints, **reading):
            assert isinstance(block, Table)
            for first in range(0, block.frame.num_rows, rows_at_once):
                some = block.frame[first : first + rows_at_once]
                frame, weight, rows = counted.labelled(some, name)
                with block.blaming():
                    X = encoding.transform(frame, name) if frame.num_rows else np.empty((0, len(encoding.names)))
                lines = None if rows is None else len(np.unique(rows))
                yield some.num_rows, X, counted.codes(frame), weight, lines


def _drawing(request: Request) -> Drawing | None:
    """Return what draws the test rows, where there shall be some."""
    if request.test_share is None:
        return None
    check_weighing(request.weighing)
    return Drawing(request.test_share, request.seed)


class _Sides:
    """Where encoded rows go: those to fit into a folder, test rows, if there shall be some, into one in it."""

    def __init__(self, folder: Path, drawing: Drawing | None) -> None:
        self.drawing, self.writers = drawing, [ScratchWriter(folder)]
        self.rows_of_file: int | None = None
        if drawing is not None:
            (folder / TEST).mkdir(exist_ok=True)
            self.writers.append(ScratchWriter(folder / TEST))

    def add(self, X: Any, codes: IntArray, weight: FloatArray | None = None) -> None:
        """Write one block."""
        if self.drawing is None:
            self.writers[0].add(X, codes, weight)
            return
        test = self.drawing.take(codes)
        for writer, side in zip(self.writers, (~test, test), strict=True):
            if side.any():
                writer.add(X[side], codes[side], None if weight is None else weight[side])

    def finish(self, d: int, base: int, order: list[int]) -> None:
        """Close the files: see `ScratchWriter.finish`."""
        self.split = {} if self.drawing is None else {SECTION: self.drawing.split().to_dict()}
        for writer in self.writers:
            writer.finish(d, base, order)

    def close(self) -> None:
        """Close the files of a run that ends early."""
        for writer in self.writers:
            writer.close()


def _check_classes(count: int, rows: int, where: str, least: int = 0) -> None:
    if count < least:
        found = f"all of its {rows:,} rows are of one class" if count else "no row has a label"
        raise DataError(f"{where}: {found}; a classifier needs examples of at least two classes")
    if least or count > CLASSES:
        check_few(count, rows, where)


@dataclass(frozen=True)
class _Counted:
    """What the first pass over a table found."""

    encoding: TableEncoding
    types: dict[str, pa.DataType]
    target: str
    classes: NDArray[Any]
    values: pa.Array  # of the target, in the order of the classes
    rows: int
    lacking: int
    notes: list[str]
    weighing: Weighing

    @property
    def others(self) -> list[str]:
        """The columns that are no features: the labels and the weights."""
        return [*([] if self.weighing.is_grouped else [self.target]), *self.weighing.columns.values()]

    def labelled(self, frame: pa.Table, name: str) -> tuple[pa.Table, FloatArray | None, IntArray | None]:
        """Return the examples of some rows, how much each counts, and which row it is of."""
        return _labelled(frame, self.target, self.weighing, name)

    def codes(self, frame: pa.Table) -> IntArray:
        """Return the class of each row."""
        found = pc.index_in(_plain(frame[self.target]), value_set=self.values)
        if found.null_count:
            raise DataError(f"column {self.target!r} is being changed while it is read; fit the file when it is whole")
        return np.asarray(found.to_numpy(), dtype=np.int64)


class _Counting:
    """The first pass over a table: types, the encoding, the classes.

    The types of a CSV file's columns are told by its first rows; where a later row does not fit, the pass is begun
    again with a wider type for that column.
    """

    def __init__(self, request: Request, source: Source, budget: Budget, progress: Progress) -> None:
        self.request, self.source, self.budget, self.progress = request, source, budget, progress

    def run(self) -> _Counted:
        """Return what was found."""
        self.wider: dict[str, pa.DataType] = {}
        while True:
            self.seen: dict[str, pa.DataType] = {}
            try:
                return self._count()
            except BadValueError as error:
                self._blame(error)
            except DataError as error:
                wider = _wider(error.__cause__, self.seen, self.wider)
                if wider is None:
                    raise
                self.wider |= wider

    def _types(self, header: Header) -> dict[str, pa.DataType]:
        return types_said(header, self.request.kinds, self.request.target) | self.wider

    def _blocks(self) -> Iterator[Table]:
        for block in stream(self.request.data, self.request.hints, types=self._types, size=self.budget.block):
            assert isinstance(block, Table)
            yield block

    def _blame(self, error: BadValueError) -> NoReturn:
        """Raise an error that says where the value is that was found wrong after all rows were seen."""
        for block in self._blocks():
            with block.blaming():
                if not error.fits(block.frame[error.column]):
                    raise error
        raise error

    def _count(self) -> _Counted:
        request, name = self.request, self.source.name
        statistics: TableStatistics | None = None
        counts: dict[Any, int] = {}
        target, done, lacking, values_type = "", 0, 0, pa.null()
        header, decimal, drawing, places = True, None, _drawing(request), dict[Any, int]()
        for block in self._blocks():
            frame = block.frame
            if statistics is None:
                self.seen = dict(zip(frame.column_names, frame.schema.types, strict=True))
                header, decimal = block.header, block.decimal
                target, statistics = self._begin(block)
                weighing = self.weighing
            if not weighing.is_grouped:
                lacking += frame.num_rows - with_label(frame, target).num_rows
            frame, weight, rows = _labelled(frame, target, weighing, name)
            values_type = _plain(frame[target]).type
            if pa.types.is_nested(values_type):
                labels(frame[target], target, name)  # which says why it cannot be
            for pair in _plain(frame[target]).value_counts().to_pylist():
                counts[pair["values"]] = counts.get(pair["values"], 0) + pair["counts"]
            seen, many_so_far = done + block.frame.num_rows, len(counts) if pa.types.is_string(values_type) else 0
            _check_classes(many_so_far, seen, f"{name}, column {target!r}")
            if drawing is not None:
                frame = frame.filter(pa.array(~drawing.take(_numbered(frame[target], places))))
            with block.blaming():
                statistics.add(*weighing.counted(frame.drop_columns([target]), weight, rows))
            done += block.frame.num_rows
            self.budget.check(f"{name}: reading its rows")
            self.progress("counting rows", done, 0)
        if statistics is None:
            raise DataError(f"{name}: no rows below the header; if the first line is data, say --no-header")
        classes, values = self._classes(counts, values_type, target, done - lacking)
        if drawing is not None:
            drawing.split()  # which says if there are none
        with of_file(name):
            encoding = TableEncoding.of(
                statistics,
                degree=request.degree,
                target=None if weighing.is_grouped else target,
                header=header,
                missing=request.hints.missing,
                decimal=decimal,
            )
        encoding = encoding if request.scaled else encoding.unscaled()
        notes = [left_out(lacking, target)] if lacking else []
        notes, seen = [*notes, *notes_of(encoding)], {**self.seen, **self.wider}
        return _Counted(encoding, seen, target, classes, values, done - lacking, lacking, notes, weighing)

    def _begin(self, block: Table) -> tuple[str, TableStatistics]:
        kinds = roles(self.request.kinds, block.frame.column_names, block.name)
        target = self.request.target
        if not self.request.weighing.is_grouped:
            target = target_column(block, target)
        elif target is not None:
            raise DataError("--target would be ignored: --successes and --trials say what is predicted")
        self.weighing = self.request.weighing.on(block, target, kinds)
        if target in kinds:
            raise DataError(f"{block.name}: column {target!r} is the target; do not give it another role")
        others = {target, *self.weighing.columns.values()}
        schema = pa.schema([field for field in block.frame.schema if field.name not in others])
        said = {name: Column.said(name, role) for name, role in kinds.items()}
        share = self.request.test_share or 0.0
        around = circumstances(block, self.request.hints, room=self.budget.free // 4, held_out=share)
        return target or OUTCOME, TableStatistics(schema, said, around)

    def _classes(
        self, counts: Mapping[Any, int], kind: pa.DataType, target: str, rows: int
    ) -> tuple[NDArray[Any], pa.Array]:
        """Return the classes in order, and the values of the target that stand for them."""
        where = f"{self.source.name}, column {target!r}"
        values = pa.array(list(counts), type=kind)
        found = labels(pa.chunked_array([values]), target, self.source.name)
        _check_classes(len(found), rows, where, least=2)
        question(found, where)
        order = np.argsort(found)
        return found[order], values.take(pa.array(order))


def _labelled(
    frame: pa.Table, target: str, weighing: Weighing, name: str
) -> tuple[pa.Table, FloatArray | None, IntArray | None]:
    """Return the examples of rows that have a label: see `Weighing.taken`."""
    return weighing.taken(frame if weighing.is_grouped else with_label(frame, target), name)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _numbered(column: pa.ChunkedArray, places: dict[Any, int]) -> IntArray:
    """Return a number for each value, the same in every block; `places` remembers those that have come by."""
    found = _plain(column).combine_chunks().dictionary_encode()
    numbers = [places.setdefault(value, len(places)) for value in found.dictionary.to_pylist()]
    return np.asarray(np.array(numbers, dtype=np.int64)[found.indices.to_numpy()])


def _wider(
    cause: BaseException | None, seen: Mapping[str, pa.DataType], types: Mapping[str, pa.DataType]
) -> dict[str, pa.DataType] | None:
    """Return the column that did not fit its type, with the next wider one; None where that is not what went wrong."""
    found = re.search(r"column #(\d+).*conversion error", str(cause)) if isinstance(cause, pa.ArrowInvalid) else None
    if found is None or int(found.group(1)) >= len(seen):
        return None
    name = list(seen)[int(found.group(1))]
    ladder = [pa.null(), pa.int64(), pa.float64(), pa.string()]
    now = types.get(name, seen[name])
    if now == pa.string():
        return None
    return {name: ladder[ladder.index(now) + 1] if now in ladder else pa.string()}
