"""The check of a model on a file larger than memory: its rows are encoded onto the disk, and read from there."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.types import BoolArray, FloatArray
from .._common.words import many
from ..arithmetic.blocked import BlockedMatrix
from ..certificates.outcome import ClaimError, Verification
from ..certificates.training_data import codes_of
from ..data.encoding import MatrixEncoding, TableEncoding, from_dict
from ..data.readers import Hints, Matrix, Table, stream
from ..data.scratch import Scratch, ScratchWriter, check_space
from ..data.sources import DataError
from ..persistence.verification import verify
from .holding_out import of_rows_of_fit, split_of
from .labels import check_labels, labels, target_column, with_label
from .preparation import Examples, as_written, hints_of, needs
from .weighing import OUTCOME, Weighing

#: Files with more bytes than this are not taken into memory.
LONG = 100 * 10**6
#: Bytes of a block.
BLOCK = 16 * 10**6


def is_long(model: Any, data: str) -> bool:
    """Whether to check a model in parts: a long file, and proofs that can be checked so."""
    path = Path(data)
    return all(proof.in_blocks for proof in model._proofs) and path.is_file() and path.stat().st_size > LONG


def of_encoded_rows(outcome: Verification) -> Verification:
    """Return the outcome for rows that were made from a table as the model's file says, and as predictions are."""
    if not outcome:
        return outcome
    unchecked = tuple(name for name in outcome.unchecked if name != "encoding")
    encoded = "the rows, encoded as the model's file says"
    return replace(outcome, checked=(encoded, *outcome.checked), unchecked=unchecked)


def of_labelled_rows(outcome: Verification, lacking: int) -> Verification:
    """Return the outcome for a file of which so many rows have no label: what is found is about the others.

    Examples
    --------
    >>> print(of_labelled_rows(Verification(True, "all is so on these 8 rows"), 2))
    Verified: all is so on these 8 rows; 2 rows without a label were left out.
    """
    if not lacking:
        return outcome
    rows = f"{many(lacking, 'row')} without a label {'was' if lacking == 1 else 'were'}"
    return replace(outcome, reason=f"{outcome.reason}; {rows} left out")


def of_grouped_rows(outcome: Verification, examples: Examples) -> Verification:
    """Return the outcome for rows with successes among trials, each of which is up to two to the fit."""
    if not examples.weighing.is_grouped:
        return outcome
    rows = many(examples.rows_of_file, "row")
    return replace(outcome, reason=f"{outcome.reason}; these are the failures and the successes of {rows} of the file")


def verify_in_parts(
    path: Path, found: Any, data: str, target: str | None, *, hints: Hints | None = None, scratch: Path | None = None
) -> Verification:
    """Check a model file from a data file of any length; one number for each row and sum is held, but no rows.

    Parameters
    ----------
    path : Path
        The model file.
    found : ModelFile
        What is in it.
    data, target, hints
        As for `linsep verify`.
    scratch : Path, optional
        The folder for the encoded rows.
    """
    encoding, classes = from_dict(found.encoding), found.model.classes_
    with tempfile.TemporaryDirectory(prefix="linsep-", dir=scratch) as folder:
        check_space(Path(folder), Path(data).stat().st_size)
        writer = ScratchWriter(Path(folder))
        blocks = _Blocks(data, encoding, target, hints, Weighing.of_model(found.encoding))
        try:
            for X, y, weight in blocks:
                writer.add(X, codes_of(y, classes.tolist()), weight)
        except ClaimError as failure:
            return Verification(False, str(failure))
        finally:
            width = encoding.n_features if isinstance(encoding, MatrixEncoding) else len(encoding.names)
            rows = writer.finish(width) if writer.counts.size else None
            writer.close()
        if rows is None:
            raise DataError(f"{data}: no row has a label, and so there is nothing to verify; give the file of the fit")
        check_labels(encoding, classes.tolist(), blocks.lacking)
        split = split_of(found)
        fitted = ~split.test if split is not None and split.rows == rows.n else np.ones(rows.n, dtype=bool)
        weights = np.concatenate(list(rows.weights()))[fitted] if rows.weighted else None
        outcome = verify(path, _matrix(rows, fitted), classes[np.concatenate(list(rows.codes()))[fitted]], weights)
        return of_rows_of_fit(of_labelled_rows(outcome, blocks.lacking), int((~fitted).sum()))


def _matrix(rows: Scratch, fitted: BoolArray) -> BlockedMatrix:
    """Return the rows of a fit, among those in a folder."""

    def read() -> Iterator[Any]:
        for block in rows:
            some = fitted[block.first : block.first + block.rows.n]
            if some.any():
                yield block.rows.X if some.all() else block.rows.X[some]

    return BlockedMatrix(read, int(fitted.sum()), rows.d)


class _Blocks:
    """Examples and labels, encoded as a model's training examples were; `lacking` counts the rows without a label."""

    def __init__(
        self,
        data: str,
        encoding: TableEncoding | MatrixEncoding,
        target: str | None,
        hints: Hints | None,
        weighing: Weighing,
    ) -> None:
        self.data, self.weighing, self.lacking = data, weighing, 0
        self.encoding, self.hints = as_written(encoding, hints), hints_of(encoding, hints)
        self.target = encoding.target if target is None else target

    def __iter__(self) -> Iterator[tuple[Any, NDArray[Any], FloatArray | None]]:
        encoding = self.encoding
        for part in self._parts():
            if isinstance(part, Matrix) != isinstance(encoding, MatrixEncoding):
                raise DataError(
                    f"{part.name}: the model was fitted on another kind of file; it needs {needs(encoding)}"
                )
            if isinstance(part, Matrix):
                assert isinstance(encoding, MatrixEncoding)
                if part.y is None:
                    raise DataError(f"{part.name}: no labels in it; give the file that the model was fitted on")
                yield encoding.transform(part.X, part.name), part.y, None
            else:
                yield from self._of_table(part)

    def _parts(self) -> Iterator[Table | Matrix]:
        encoding = self.encoding
        if isinstance(encoding, MatrixEncoding):
            return stream(self.data, self.hints, base=encoding.base, n_features=encoding.n_features, size=BLOCK)
        types = {name: kind for name, kind in encoding.types().items() if name != self.target}
        return stream(self.data, self.hints, types=types, size=BLOCK)

    def _of_table(self, part: Table) -> Iterator[tuple[Any, NDArray[Any], FloatArray | None]]:
        assert isinstance(self.encoding, TableEncoding)
        frame, column = part.frame, OUTCOME
        if not self.weighing.is_grouped:
            column = target_column(part, self.target)
            frame = with_label(frame, column)
        self.lacking += part.frame.num_rows - frame.num_rows
        for first in range(0, frame.num_rows, size := max(16, BLOCK // (8 * max(1, frame.num_columns)))):
            some, weight, _ = self.weighing.taken(frame[first : first + size], part.name)
            with part.blaming():
                X = self.encoding.transform(some, part.name)
            yield X, labels(some[column], column, part.name), weight
