"""Files that a page was given: read by the library, bounded, and forgotten when newer ones come."""

from __future__ import annotations

import secrets
import tempfile
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from .._core import is_sparse
from .._types import BoolArray, FloatArray
from .errors import RefusedError

#: Bytes, rows and columns of a file, numbers that it becomes, and files that are remembered.
MOST_BYTES, MOST_ROWS, MOST_COLUMNS, MOST_NUMBERS, MOST_FILES = 20_000_000, 50_000, 300, 20_000_000, 8
#: Endings that are read; another is taken for CSV.
ENDINGS = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".svm", ".libsvm")
#: Of so many rows and fewer, two columns become points that can be moved.
MOST_DRAWN = 5000


@dataclass(frozen=True, eq=False)
class Held:
    """Examples of a file that stay with the server."""

    X: FloatArray
    positive: BoolArray
    names: list[str]


class Files:
    """Files by the number under which a page knows them."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="linsep-play-")
        self._paths: OrderedDict[str, Path] = OrderedDict()
        self._held: OrderedDict[str, Held] = OrderedDict()
        self._lock = Lock()
        self.first: dict[str, Any] | None = None  # what a page shows when it opens

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
        path = Path(self._folder.name) / f"{number}{ending if ending in ENDINGS else '.csv'}"
        path.write_bytes(data)
        try:
            described = _described(path)
        except ValueError as error:
            path.unlink()
            raise RefusedError(str(error).replace(str(path), name[:80])) from error
        with self._lock:
            self._paths[number] = path
            while len(self._paths) > MOST_FILES:
                self._paths.popitem(last=False)[1].unlink()
        return {"file": number, "name": name[:200], **described}

    def choose(self, number: Any, target: Any, columns: Any) -> dict[str, Any]:
        """Return two columns as points, or hold all of them; with what was decided about them."""
        from ..workflows.preparation import prepare

        with self._lock:
            path = self._paths.get(number) if isinstance(number, str) else None
        if path is None:
            raise RefusedError("The server no longer has this file; drop it onto the page again.")
        names = _described(path)["columns"]
        if target not in names:
            raise RefusedError("Choose the column that says the class.")
        two = isinstance(columns, list) and len(columns) == 2
        if two and (set(columns) - set(names) or target in columns or columns[0] == columns[1]):
            raise RefusedError("Choose two different columns beside the one with the class.")
        kinds = {name: "number" if name in columns else "ignored" for name in names if name != target} if two else {}
        examples = prepare(path, target, kinds=kinds, scaled=not two)
        X = examples.X.toarray() if is_sparse(examples.X) else np.asarray(examples.X, dtype=np.float64)
        if X.size > MOST_NUMBERS:
            raise RefusedError(f"The file becomes {X.size:,} numbers; the page takes at most {MOST_NUMBERS:,}.")
        positive, classes, notes = _two_classes(examples.y)
        record = {"classes": classes, "notes": [*notes, *examples.notes], "rows": len(X)}
        if two and X.shape[1] == 2 and len(X) <= MOST_DRAWN:
            points = {"x": X[:, 0].tolist(), "y": X[:, 1].tolist(), "positive": positive.astype(int).tolist()}
            return record | {"points": points, "names": columns}
        with self._lock:
            self._held[path.stem] = Held(X, positive, list(examples.encoding.names))
            while len(self._held) > MOST_FILES:
                self._held.popitem(last=False)
        return record | {"held": path.stem, "names": list(examples.encoding.names)[:MOST_COLUMNS]}

    def held(self, number: Any) -> Held:
        """Return examples that the server holds."""
        with self._lock:
            found = self._held.get(number) if isinstance(number, str) else None
        if found is None:
            raise RefusedError("The server no longer has this file; drop it onto the page again.")
        return found

    def close(self) -> None:
        """Forget all of them."""
        self._folder.cleanup()


def _described(path: Path) -> dict[str, Any]:
    from ..data.encoding import is_number
    from ..data.readers import Table, read

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
