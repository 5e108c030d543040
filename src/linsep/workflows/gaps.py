"""What rows lack of what a model was trained on: values that are missing, and levels that it has never seen."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pyarrow.compute as pc

from .._common.words import listed, many
from ..data.encoding import MISSING, OTHER, MatrixEncoding, TableEncoding, spellings
from ..data.encoding.values import strings

#: How many sentences are said, and how many unseen levels of each.
NAMED, LEVELS = 8, 5


class Gaps:
    """Counts over the rows of a table, some rows at a time.

    Parameters
    ----------
    encoding : TableEncoding or MatrixEncoding
        Of the model; a matrix has no gaps.

    Examples
    --------
    >>> encoding = TableEncoding.fit(pa.table({"age": [20.0, 40.0], "town": ["Ede", "Ulm"]}))
    >>> gaps = Gaps(encoding)
    >>> gaps.add(pa.table({"age": [None, 30.0], "town": ["Rom", "Ede"]}))
    >>> for note in gaps.notes():
    ...     print(note)
    column 'age': 1 of 2 rows has no value, which counts as the mean of the training rows
    column 'town': 1 of 2 rows has a value that the training rows did not have (Rom): it counts as none
    """

    def __init__(self, encoding: TableEncoding | MatrixEncoding) -> None:
        self.rows, self.missing = 0, Counter[str]()
        self.unseen: dict[str, Counter[str]] = {}
        self._encoding = encoding if isinstance(encoding, TableEncoding) else None
        levels = {} if self._encoding is None else self._encoding.levels
        self._known = {name: pa.array(list(spellings(kept)), type=pa.string()) for name, kept in levels.items()}

    def add(self, frame: pa.Table | None) -> None:
        """Go on with the next rows."""
        if self._encoding is None or frame is None:
            return
        self.rows += frame.num_rows
        for column in self._encoding.columns:
            if column.kind == "ignored":
                continue
            values = frame[column.name]
            self.missing[column.name] += pc.sum(pc.is_null(values, nan_is_null=True)).as_py() or 0
            if column.name in self._known:
                words = strings(values)
                strange = words.filter(pc.invert(pc.is_in(words, value_set=self._known[column.name]))).drop_null()
                found = {pair["values"]: pair["counts"] for pair in strange.value_counts().to_pylist()}
                self.unseen.setdefault(column.name, Counter()).update(found)

    def notes(self) -> list[str]:
        """Say what was found, a sentence a column and kind."""
        lacking = [self._of_missing(name, count) for name, count in self.missing.items() if count]
        strange = [self._of_unseen(name, found) for name, found in self.unseen.items() if found]
        named = max(NAMED - len(strange), NAMED // 2)  # of those that lack values, for the others to have room
        return [
            *_first(lacking, named, "missing values"),
            *_first(strange, NAMED - min(len(lacking), named), "values not seen in training"),
        ]

    def to_dict(self) -> dict[str, dict[str, int]]:
        """Return the counts by column, those above 0."""
        unseen = {name: found.total() for name, found in self.unseen.items()}
        parts = {"missing_values": self.missing, "unseen_levels": unseen}
        return {what: {name: n for name, n in counts.items() if n} for what, counts in parts.items()}

    def _of(self, name: str, count: int) -> str:
        return f"column {name!r}: {count:,} of {self.rows:,} rows {'has' if count == 1 else 'have'}"

    def _of_missing(self, name: str, count: int) -> str:
        assert self._encoding is not None
        kind = next(column.kind for column in self._encoding.columns if column.name == name)
        levels = self._encoding.levels.get(name, [])
        if kind == "category":
            counts = "a level of its own" if MISSING in levels else OTHER if OTHER in levels else "none"
        elif kind == "text":
            counts = "an empty text"
        else:
            one = self._encoding.numbers.get(name) or self._encoding.numbers[f"{name} in days"]
            unfilled = (one.mean, one.scale, one.fill) == (0.0, 1.0, 0.0)  # as files of version 4 and before were
            middle = "0" if unfilled else "the mean of the training rows"
            counts = "missing, with a weight of its own" if one.lacking else middle
        return f"{self._of(name, count)} no value, which counts as {counts}"

    def _of_unseen(self, name: str, found: Counter[str]) -> str:
        assert self._encoding is not None
        count, levels = found.total(), [level for level, _ in found.most_common()]
        what, they = ("a value", "it counts") if count == 1 else ("values", "they count")
        rare = OTHER in self._encoding.levels[name]  # whose own names the model does not keep
        had = "are rare in the training rows, or not among them" if rare else "the training rows did not have"
        had = had.replace("are", "is", 1) if count == 1 else had
        said = f"{what} that {had} ({listed(levels, LEVELS)})"
        return f"{self._of(name, count)} {said}: {they} as {OTHER if rare else 'none'}"


def _first(notes: list[str], count: int, what: str) -> list[str]:
    left = notes[count:]
    return [*notes[:count], *([f"and {many(len(left), 'more column')} with {what}"] if left else [])]
