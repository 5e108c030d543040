"""The second check of a model, by `linsep.checker`: its rows handed over, its outcome beside that of the first."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checker
from .._common.types import FloatArray
from .._core import is_sparse

#: How it begins where the second check knows no bound for such a model: that contradicts nobody.
UNKNOWN = "no bound is known"


@dataclass(frozen=True)
class Opinions:
    """What `linsep.verify` and `linsep.checker` found."""

    first: Any
    second: checker.Finding

    @property
    def disagree(self) -> bool:
        """Whether one proves what the other does not even find to be so."""
        refused, proven = not self.first, bool(self.first and self.first.proven)
        unknown = self.second.sentence.startswith(UNKNOWN)
        return (refused and self.second.code == 0) or (proven and self.second.code == 2 and not unknown)

    @property
    def code(self) -> int:
        """0: both prove it; 1: one proves less than was asked for; 2: one does not verify it, or they disagree."""
        return 2 if not self.first or self.disagree else max(int(not self.first.proven), self.second.code)

    def __str__(self) -> str:
        lines = [str(self.first), "", f"Second opinion, of checker.py. {self.second}"]
        loudly = ["", "THE TWO CHECKS DISAGREE: do not rely on this model, and report it to the authors of linsep."]
        return "\n".join([*lines, *(loudly if self.disagree else [])])

    def record(self) -> dict[str, Any]:
        """Return the second one, and what follows from both, in terms of JSON."""
        gap = self.second.gap if np.isfinite(self.second.gap) else None
        said = dict(code=self.second.code, sentence=self.second.sentence, relative_gap=gap)
        return {"independent": said | {"unchecked": self.second.unchecked}, "disagree": self.disagree}


def check_independently(model: Path, X: Any, y: NDArray[Any], weight: FloatArray | None, first: Any) -> Opinions:
    """Have `linsep.checker` check a model file on the same encoded rows.

    Parameters
    ----------
    model : Path
    X, y, weight
        Rows as the model takes them, their labels, and how much each counts.
    first : Verification
        What `linsep.verify` found.
    """
    content = json.loads(Path(model).read_text(encoding="utf-8"))
    labels = [str(label) for label in np.asarray(y).tolist()]
    weights = None if weight is None else weight.tolist()
    return Opinions(first, checker.check(content, list(_rows(X)), labels, weights))


def write_rows(path: Path, X: Any, y: NDArray[Any], weight: FloatArray | None, target: str | None) -> None:
    """Write encoded rows as CSV that `checker.py` reads where linsep is not installed, each float to its last bit.

    Weights are a column of that name, for its `--weights weight`.
    """
    weights = [[]] * len(y) if weight is None else [[repr(s)] for s in weight.tolist()]
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        names = [f"feature {j + 1}" for j in range(X.shape[1])]
        out.writerow([*names, *([] if weight is None else ["weight"]), target or "label"])
        for (columns, values), label, s in zip(_rows(X), np.asarray(y).tolist(), weights, strict=True):
            row = [0.0] * X.shape[1]
            for j, value in zip(columns, values, strict=True):
                row[j] = value
            out.writerow([*map(repr, row), *s, label])


def _rows(X: Any) -> Iterator[tuple[list[int], list[float]]]:
    """Yield which columns of each row are not zero, and their values."""
    for i in range(X.shape[0]):
        if is_sparse(X):
            part = slice(X.indptr[i], X.indptr[i + 1])
            yield X.indices[part].tolist(), X.data[part].astype(np.float64).tolist()
        else:
            columns = np.flatnonzero(X[i])
            yield columns.tolist(), X[i][columns].astype(np.float64).tolist()
