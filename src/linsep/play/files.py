"""Files that a page was given: read by the library, bounded, and forgotten when newer ones come."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._common.types import BoolArray, FloatArray
from .._core import is_sparse
from .errors import RefusedError

#: Bytes, rows and columns of a file, numbers that it becomes, and files that are remembered.
MOST_BYTES, MOST_ROWS, MOST_COLUMNS, MOST_NUMBERS, MOST_FILES = 20_000_000, 50_000, 300, 20_000_000, 8
#: Bytes of memory that a file may take while it is read: a third of them unpacked, which so many rows and columns need.
MOST_MEMORY = 480_000_000
#: Endings that are read; another is taken for CSV.
ENDINGS = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".svm", ".libsvm")
#: Of so many rows and fewer, two columns become points that can be moved.
MOST_DRAWN = 5000
#: Categories whose levels are told.
LISTED = 12


@dataclass(frozen=True, eq=False)
class Held:
    """Examples of a file that stay with the server."""

    X: FloatArray
    positive: BoolArray
    names: list[str]


class Files:
    """Files by the number under which a page knows them: a folder of its own each, which all who compute can read."""

    def __init__(self, folder: Path | None = None) -> None:
        self._own = None if folder is not None else tempfile.TemporaryDirectory(prefix="linsep-play-")
        self.folder = Path(self._own.name) if self._own is not None else Path(folder or "")

    @property
    def first(self) -> dict[str, Any] | None:
        """What a page shows when it opens."""
        path = self.folder / "first.json"
        found: dict[str, Any] | None = json.loads(path.read_text("utf-8")) if path.exists() else None
        return found

    @first.setter
    def first(self, record: dict[str, Any]) -> None:
        (self.folder / "first.json").write_text(json.dumps(record), "utf-8")

    def open(self, path: Path) -> None:
        """Take a file of the command line, which every page opens with."""
        if path.stat().st_size > MOST_BYTES:
            raise RefusedError(f"{path}: the page takes files of at most {MOST_BYTES:,} bytes")
        self.first = self.add(path.name, path.read_bytes())

    def add(self, name: str, data: bytes) -> dict[str, Any]:
        """Keep a file, and return what its columns are."""
        if len(data) > MOST_BYTES:
            raise RefusedError(f"The file has {len(data):,} bytes; the page takes at most {MOST_BYTES:,}.")
        ending = Path(name).suffix.lower()
        number = secrets.token_hex(8)
        place = self.folder / number
        place.mkdir()
        path = place / f"file{ending if ending in ENDINGS else '.csv'}"
        path.write_bytes(data)
        os.utime(place, ns=(time.time_ns(),) * 2)  # finer than the file system's own clock
        try:
            described = _described(path)
        except ValueError as error:
            shutil.rmtree(place)
            raise RefusedError(_in_words_of_the_page(str(error)).replace(str(path), name[:80])) from error
        kept = sorted((one for one in self.folder.iterdir() if one.is_dir()), key=lambda one: one.stat().st_mtime_ns)
        for old in kept[:-MOST_FILES]:
            shutil.rmtree(old, ignore_errors=True)
        return {"file": number, "name": name[:200], **described}

    def _place(self, number: Any, name: str) -> Path:
        """Return where a file, or what was made of it, is kept."""
        known = isinstance(number, str) and re.fullmatch("[0-9a-f]{16}", number) is not None
        for path in (self.folder / str(number)).glob(name) if known else ():
            return path
        raise RefusedError("The server no longer has this file; drop it onto the page again.")

    def choose(self, number: Any, target: Any, columns: Any) -> dict[str, Any]:
        """Return two columns as points, or hold all of them; with what was decided about them."""
        from ..workflows.preparation import prepare

        path = self._place(number, "file.*")
        names = _described(path)["columns"]
        if target not in names:
            raise RefusedError("Choose the column that says the class.")
        two = isinstance(columns, list) and len(columns) == 2
        if two and (any(one not in names for one in columns) or target in columns or columns[0] == columns[1]):
            raise RefusedError("Choose two different columns beside the one with the class.")
        kinds = {name: "number" if name in columns else "ignored" for name in names if name != target} if two else {}
        examples = prepare(path, target, kinds=kinds, scaled=not two)
        X = examples.X.toarray() if is_sparse(examples.X) else np.asarray(examples.X, dtype=np.float64)
        if X.size > MOST_NUMBERS:
            raise RefusedError(f"The file becomes {X.size:,} numbers; the page takes at most {MOST_NUMBERS:,}.")
        positive, classes, notes = _two_classes(examples.y)
        said = [_in_words_of_the_page(note) for note in [*notes, *examples.notes]]
        record = {"classes": classes, "notes": [*said, *_decisions(examples.encoding, two=two)], "rows": len(X)}
        if two and X.shape[1] == 2 and len(X) <= MOST_DRAWN:
            points = {"x": X[:, 0].tolist(), "y": X[:, 1].tolist(), "positive": positive.astype(int).tolist()}
            return record | {"points": points, "names": columns}
        names = list(examples.encoding.names)
        (path.parent / "names.json").write_text(json.dumps(names), "utf-8")
        for name, values in (("positive.npy", positive), ("X.npy", X)):  # another process may be reading the old ones
            np.save(path.parent / f"new_{name}", values)
            os.replace(path.parent / f"new_{name}", path.parent / name)
        return record | {"held": number, "names": names[:MOST_COLUMNS]}

    def held(self, number: Any) -> Held:
        """Return examples that the server holds; those who compute share their pages of memory."""
        place = self._place(number, "X.npy").parent
        names = json.loads((place / "names.json").read_text("utf-8"))
        return Held(np.asarray(np.load(place / "X.npy", mmap_mode="r")), np.load(place / "positive.npy"), names)

    def close(self) -> None:
        """Forget all of them."""
        if self._own is not None:
            self._own.cleanup()


def _described(path: Path) -> dict[str, Any]:
    from ..data.encoding import is_number
    from ..data.readers import Table, read
    from ..data.room import at_most

    with at_most(MOST_MEMORY):
        data = read(path)
    if not isinstance(data, Table):
        raise RefusedError("This file has no named columns; the page takes tables, such as CSV or Parquet.")
    rows, columns = data.frame.num_rows, data.frame.column_names
    if rows > MOST_ROWS or len(columns) > MOST_COLUMNS:
        raise RefusedError(
            f"The file has {rows:,} rows and {len(columns):,} columns; the page takes at most {MOST_ROWS:,} and "
            f"{MOST_COLUMNS:,}. `linsep fit` takes any number."
        )
    if len(columns) < 2 or rows < 2:
        raise RefusedError("The file needs two columns and two rows at the least.")
    numeric = [name for name in columns if is_number(data.frame[name].type)]
    return {"rows": rows, "columns": columns, "numeric": numeric}


def _in_words_of_the_page(note: str) -> str:
    """Return a note without advice that only a command can follow.

    Examples
    --------
    >>> _in_words_of_the_page("columns 'a' and 'b': few whole numbers; where these are codes, say --category 'a' 'b'")
    "columns 'a' and 'b': few whole numbers; where these are codes, `linsep fit` takes --category 'a' 'b'"
    """
    return re.sub(r"\bsay (?=--)", "`linsep fit` takes ", note)


def _decisions(encoding: Any, *, two: bool) -> list[str]:
    """Return what the columns were made into, of each kind a sentence; of a category, its levels."""
    by_kind = {kind: [one.name for one in encoding.columns if one.kind == kind] for kind in ("number", "date")}
    said = []
    if (numbers := by_kind["number"]) and not two:
        said.append(f"{_columns(numbers)} taken as numbers, each with mean 0 and spread 1")
    if dates := by_kind["date"]:
        said.append(f"{_columns(dates)} taken as dates, in days")
    if lacking := [name for name, one in encoding.numbers.items() if one.lacking]:
        said.append(f"Where {_some(lacking)} is missing, the mean stands for it, and a feature of its own says so")
    for name, levels in list(encoding.levels.items())[:LISTED]:
        said.append(f"{name!r} is taken as a category: a feature, 0 or 1, for each of {_some(levels)}")
    if len(encoding.levels) > LISTED:
        said.append(f"So are {len(encoding.levels) - LISTED} other columns")
    for name, (words, _) in encoding.words.items():
        said.append(f"{name!r} is taken as text: a feature for each of {len(words):,} words")
    return said


def _columns(names: list[str]) -> str:
    return f"{_some(names)} is" if len(names) == 1 else f"{len(names)} columns ({_some(names)}) are"


def _some(names: list[str]) -> str:
    return ", ".join(repr(name) for name in names[:4]) + (", …" if len(names) > 4 else "")


def _two_classes(y: Any) -> tuple[BoolArray, list[str], list[str]]:
    """Return which rows are positive; of more than two classes, the most frequent one stands against the rest."""
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    if len(classes) < 2:
        raise RefusedError(f"The column has one class only, {str(classes[0])[:40]!r}; choose another one.")
    if len(classes) == 2:
        return codes == 1, [str(name) for name in classes], []
    most = int(np.argmax(counts))
    note = f"There are {len(classes)} classes: {classes[most]}, the most frequent, stands against the rest."
    return codes == most, ["(the rest)", str(classes[most])], [note]
