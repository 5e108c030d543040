"""The check of a model on a file larger than memory: its rows are encoded onto the disk, and read from there."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..blocked import BlockedMatrix
from ..checking import ClaimError, Verification, codes_of
from ..data.encoding import MatrixEncoding, TableEncoding, from_dict
from ..data.readers import Hints, Matrix, stream
from ..data.scratch import Scratch, ScratchWriter, check_space
from ..data.sources import DataError
from ..verification import verify
from .preparation import hints_of, labels, needs, target_column, with_label

__all__ = ["is_long", "of_encoded_rows", "verify_in_parts"]

#: Files with more bytes than this are not taken into memory.
LONG = 100 * 10**6
#: Bytes of a block.
BLOCK = 16 * 10**6


def is_long(model: Any, data: str) -> bool:
    """Whether to check a model in parts: a long file, and nothing but distances from the optimum to check."""
    gaps_only = not hasattr(model, "_seals") and getattr(model, "separability_", None) is None
    path = Path(data)
    return gaps_only and path.is_file() and path.stat().st_size > LONG


def of_encoded_rows(outcome: Verification) -> Verification:
    """Return the outcome for rows that were made from a table as the model's file says, and as predictions are."""
    if not outcome:
        return outcome
    unchecked = tuple(name for name in outcome.unchecked if name != "encoding")
    encoded = "the rows, encoded as the model's file says"
    return replace(outcome, checked=(encoded, *outcome.checked), unchecked=unchecked)


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
        try:
            for X, y in _blocks(data, encoding, target, hints):
                writer.add(X, codes_of(y, classes.tolist()))
        except ClaimError as failure:
            return Verification(False, str(failure))
        finally:
            rows = writer.finish(_width(encoding)) if writer.counts.size else None
            writer.close()
        if rows is None:
            raise DataError(f"{data}: no rows with a label")
        return verify(path, _matrix(rows), classes[np.concatenate(list(rows.codes()))])


def _matrix(rows: Scratch) -> BlockedMatrix:
    return BlockedMatrix(lambda: (block.rows.X for block in rows), rows.n, rows.d)


def _width(encoding: TableEncoding | MatrixEncoding) -> int:
    return encoding.n_features if isinstance(encoding, MatrixEncoding) else len(encoding.names)


def _blocks(
    data: str, encoding: TableEncoding | MatrixEncoding, target: str | None, hints: Hints | None
) -> Iterator[tuple[Any, NDArray[Any]]]:
    """Yield examples and labels, encoded as a model's training examples were."""
    target, hints = encoding.target if target is None else target, hints_of(encoding, hints)
    if isinstance(encoding, MatrixEncoding):
        parts = stream(data, hints, base=encoding.base, n_features=encoding.n_features, size=BLOCK)
    else:
        parts = stream(data, hints, types={k: v for k, v in encoding.types().items() if k != target}, size=BLOCK)
    for part in parts:
        if isinstance(part, Matrix) != isinstance(encoding, MatrixEncoding):
            raise DataError(f"{part.name}: the model was fitted on another kind of file; it needs {needs(encoding)}")
        if isinstance(part, Matrix):
            assert isinstance(encoding, MatrixEncoding)
            if part.y is None:
                raise DataError(f"{part.name}: no labels in it")
            yield encoding.transform(part.X, part.name), part.y
            continue
        column = target_column(part, target)
        frame = with_label(part.frame, column)
        for first in range(0, frame.num_rows, size := max(16, BLOCK // (8 * max(1, frame.num_columns)))):
            some = frame[first : first + size]
            with part.blaming():
                X = encoding.transform(some, part.name)
            yield X, labels(some[column], column, part.name)
