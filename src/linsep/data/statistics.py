"""The encoding of a table larger than memory: the counts, moments and words of `TableEncoding.fit`, block by block."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer

from .._core import in_threads
from .._types import FloatArray
from .csv_text import NUMBER, no_number, seem_numbers
from .encoding import Column, TableEncoding
from .encoding.column_types import FEW, ROUNDED, WORDS, check_names, is_date, is_text, names_rows, text_type
from .encoding.fitting import levels_of, mean_and_squares, scale_of
from .encoding.values import floats, is_number, moments_in_time, strings
from .sources import DataError

#: A sketch of different values has so many bits; beyond as many values it would be full.
BITS = 1 << 25
#: Values are taken to be all different where a sketch says that this share of them is.
ALL = 0.99
#: What a value and its count take in memory, about, beside the value's own characters.
ENTRY = 160


class _Sketch:
    """About how many different values there were: bits set at their hashes (linear counting, Whang et al. 1990)."""

    def __init__(self) -> None:
        self._bits = np.zeros(BITS // 8, dtype=np.uint8)

    def add(self, hashes: NDArray[np.uint64]) -> None:
        places = _mixed(hashes) % np.uint64(BITS)
        np.bitwise_or.at(self._bits, (places >> np.uint64(3)).astype(np.int64), _BIT[(places & np.uint64(7))])

    def count(self) -> float:
        """Return the estimate: −m log(share of bits that are not set)."""
        empty = BITS - int(np.bitwise_count(self._bits).sum())
        return float(-BITS * np.log(max(empty, 1) / BITS))


_BIT = (1 << np.arange(8)).astype(np.uint8)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return numbers that look random but follow from the values (SplitMix64's finish)."""
    x = values + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


class _Numbers:
    """A column of numbers: how many there are, their range, and for whole ones whether they number the rows."""

    def __init__(self, name: str, kind: pa.DataType) -> None:
        self.name, self.whole = name, bool(pa.types.is_integer(kind))
        self.rows = self.nulls = 0
        self.low: Any = None
        self.high: Any = None
        self.odd = False  # whether there are values that are not numbers
        self.all_different, self.sum = self.whole, np.uint64(0)
        self.sketch = _Sketch() if self.whole and names_rows(name) else None

    def add(self, column: pa.ChunkedArray) -> None:
        ends = pc.min_max(column).as_py()
        self.rows, self.nulls = self.rows + len(column), self.nulls + column.null_count
        if ends["min"] is not None and ends["min"] == ends["min"]:  # NaN where there is nothing else
            self.low = ends["min"] if self.low is None else min(self.low, ends["min"])
            self.high = ends["max"] if self.high is None else max(self.high, ends["max"])
        if pa.types.is_floating(column.type):
            self.odd |= bool(pc.any(pc.is_nan(column)).as_py())
        self.all_different &= not column.null_count
        if self.all_different:
            self._tell_apart(column.to_numpy().astype(np.int64).view(np.uint64))

    def _tell_apart(self, values: NDArray[np.uint64]) -> None:
        self.all_different = len(np.unique(values)) == len(values)
        with np.errstate(over="ignore"):
            self.sum += _mixed(values).sum(dtype=np.uint64)
        if self.sketch is not None:
            self.sketch.add(values)

    def kind(self) -> Column:
        """Return what `encoding.infer` would."""
        given = self.rows - self.nulls
        if given == 0 or (self.odd and self.low is None):
            return Column(self.name, "ignored", "it has no values")
        if self.low == self.high and not (self.odd and self.low is not None) and not self.nulls:
            return Column(self.name, "ignored", "it has one value only")
        if self.all_different and given >= FEW:
            if self.high - self.low == given - 1 and self._is_a_range():
                return Column(self.name, "ignored", "it numbers the rows")
            if self.sketch is not None and self.sketch.count() >= ALL * given:
                return Column(self.name, "ignored", "it identifies the rows")
        rounded = self.whole and max(self.high, -self.low) > 2**53
        return Column(self.name, "number", ROUNDED if rounded else "")

    def _is_a_range(self) -> bool:
        """Whether the values are all those from the lowest to the highest, told by the sum of their hashes."""
        total = np.uint64(0)
        with np.errstate(over="ignore"):
            for first in range(self.low, self.high + 1, 1 << 20):
                part = np.arange(first, min(first + (1 << 20), self.high + 1), dtype=np.int64)
                total += _mixed(part.view(np.uint64)).sum(dtype=np.uint64)
        return bool(total == self.sum)


class _Values:
    """A column of categories or text: how often each value occurs, as long as they are few; and its words."""

    def __init__(self, name: str, said: str | None, room: int) -> None:
        self.name, self.said, self.room = name, said, room
        self.rows = self.nulls = self.numbers = 0
        self.first_odd: tuple[int, str] | None = None  # the first that is no number
        self.counts: Counter[str] = Counter()
        self.taken, self.sketch = 0, None if said == "category" else _LazySketch()
        self.sample: list[str] = []
        self.words: _Words | None = _Words(name, room) if said == "text" else None

    def add(self, column: pa.ChunkedArray, *, look_for_numbers: bool) -> None:
        values = strings(column)
        if self.said is None and len(self.sample) < 10_000:
            self.sample += values.drop_null()[: 10_000 - len(self.sample)].to_pylist()
            if self.words is None and self._words_a_row() >= WORDS and self.rows == 0:
                self.words = _Words(self.name, self.room)
        if look_for_numbers:
            self._count_numbers(values)
        self.rows, self.nulls = self.rows + len(values), self.nulls + values.null_count
        if self.said != "text":
            self._count(values)
        if self.words is not None:
            self.words.add(["" if text is None else text for text in values.to_pylist()])

    def _count(self, values: pa.ChunkedArray) -> None:
        found = {pair["values"]: pair["counts"] for pair in values.drop_null().value_counts().to_pylist()}
        if self.sketch is not None:
            self.sketch.add(found)
        if self.taken <= self.room:
            self.taken += sum(ENTRY + len(value) for value in found if value not in self.counts)
            self.counts.update(found)
            if self.taken > self.room:
                self.counts.clear()

    def _count_numbers(self, values: pa.ChunkedArray) -> None:
        looks = pc.match_substring_regex(values, NUMBER)
        count = int(pc.sum(looks).as_py() or 0)
        if self.first_odd is None and count < len(values) - values.null_count:
            row = pc.index(looks, value=False).as_py()
            self.first_odd = self.rows + row, str(values[row].as_py())
        self.numbers += count

    def _words_a_row(self) -> float:
        return float(np.mean([len(re.findall(r"\s+", text)) + 1 for text in self.sample])) if self.sample else 0.0

    def check_numbers(self, file: str, line: int) -> None:
        """Raise for a column of numbers that has something else among them."""
        given = self.rows - self.nulls
        if self.first_odd is not None and seem_numbers(self.numbers, given):
            row, value = self.first_odd
            raise no_number(f"{file} line {row + line}", self.name, value, self.numbers, given)

    def kind(self) -> Column:
        """Return what `encoding.infer` would."""
        given = self.rows - self.nulls
        if self.said is not None:
            return Column(self.name, self.said)
        overflow = self.taken > self.room
        assert self.sketch is not None
        different = self.sketch.count() if overflow else float(len(self.counts))
        if different <= 1:
            return Column(self.name, "ignored", "it has one value only" if given else "it has no values")
        return text_type(self.name, self._words_a_row(), different, given, ALL if overflow else 1.0)

    def levels(self) -> list[str]:
        """Return the levels with a feature each."""
        if self.taken > self.room:
            raise DataError(
                f"column {self.name!r} has too many different values to count in {self.room / 1e6:,.0f} MB; say "
                f"--text {self.name!r} or --ignore {self.name!r}, or raise --max-memory"
            )
        return levels_of(self.counts, self.rows, lacking=self.nulls > 0)


class _LazySketch:
    """A sketch that takes no room until values come that are many."""

    def __init__(self) -> None:
        self._few: list[NDArray[np.uint64]] | None = []
        self._sketch: _Sketch | None = None

    def add(self, values: Mapping[str, int]) -> None:
        hashes = np.fromiter((hash(value) for value in values), dtype=np.int64, count=len(values)).view(np.uint64)
        if self._few is not None:
            self._few.append(hashes)
            if sum(map(len, self._few)) < 100_000:
                return
            self._sketch, hashes, self._few = _Sketch(), np.concatenate(self._few), None
        assert self._sketch is not None
        self._sketch.add(hashes)

    def count(self) -> float:
        """Return about how many different values there were."""
        if self._sketch is not None:
            return self._sketch.count()
        return float(len(np.unique(np.concatenate(self._few)))) if self._few else 0.0


class _Words:
    """In how many rows each word of a column of text occurs."""

    def __init__(self, name: str, room: int) -> None:
        self.name, self.room, self.rows, self.taken = name, room, 0, 0
        self.counts: dict[str, int] = {}
        self._split = TfidfVectorizer(sublinear_tf=True).build_analyzer()

    def add(self, texts: list[str]) -> None:
        self.rows += len(texts)
        counts = self.counts
        for text in texts:
            for word in set(self._split(text)):
                counts[word] = counts.get(word, 0) + 1
        self.taken = ENTRY * len(counts)

    def vocabulary(self) -> tuple[list[str], list[float]] | None:
        """Return the words and their idf, log((1 + n)/(1 + rows with it)) + 1; None where no word occurs twice."""
        if self.taken > self.room:
            raise DataError(
                f"column {self.name!r} has {len(self.counts):,} different words, too many for {self.room / 1e6:,.0f} "
                f"MB; say --ignore {self.name!r}, or raise --max-memory"
            )
        least = 2 if self.rows > FEW else 1
        words = sorted(word for word, count in self.counts.items() if count >= least)
        if not words:
            return None
        rows = np.array([self.counts[word] for word in words], dtype=np.float64)
        idf = np.log((1.0 + self.rows) / (1.0 + rows)) + 1.0
        return words, idf.tolist()


class _Dates:
    """A column of dates: their range, months and weekdays; their days are numbers."""

    def __init__(self, name: str, said: str | None, room: int) -> None:
        self.name, self.said = name, said
        self.range = _Numbers(name, pa.int64())
        self.range.all_different = False
        self.parts = {
            f"month of {name}": _Values(f"month of {name}", "category", room),
            f"weekday of {name}": _Values(f"weekday of {name}", "category", room),
        }

    def add(self, column: pa.ChunkedArray, file: str) -> FloatArray:
        """Count, and return the days."""
        moment = moments_in_time(column, self.name, file)
        self.range.add(moment.cast(pa.int64()))
        for part, values in zip(self.parts.values(), (pc.month(moment), pc.day_of_week(moment)), strict=True):
            part.add(values, look_for_numbers=False)
        return floats(moment.cast(pa.int64()), self.name, file) / 86_400e3

    def kind(self) -> Column:
        """Return what `encoding.infer` would."""
        given = self.range.rows - self.range.nulls
        if self.said is None and (given == 0 or self.range.low == self.range.high):
            return Column(self.name, "ignored", "it has one value only" if given else "it has no values")
        return Column(self.name, "date")


class _Moments:
    """Mean and deviation of a column's numbers, those that are missing left out.

    As scikit-learn's `StandardScaler.partial_fit` has them: the squared deviations of two parts from their own means
    and those of the means from the common one add up (Chan, Golub and LeVeque 1983).
    """

    def __init__(self) -> None:
        self.n, self.mean, self._squares = 0, 0.0, 0.0

    def add(self, values: FloatArray) -> None:
        """Look at the next numbers."""
        given = values[~np.isnan(values)] if np.isnan(values.sum()) else values
        if not len(given):
            return
        n, before = len(given), self.n
        mean, squares = mean_and_squares(given)
        total = before + n
        if before:
            squares += self._squares + before * n / total * (self.mean - mean) ** 2
            mean = (before * self.mean + n * mean) / total
        self.n, self.mean, self._squares = total, mean, squares

    @property
    def scale(self) -> float:
        """The deviation, 1 where it is no more than rounding."""
        return scale_of(self.n, self.mean, self._squares)


class TableStatistics:
    """Counts what an encoding needs to know of training rows, a block at a time.

    Parameters
    ----------
    name : str
        The file.
    schema : pyarrow.Schema
        Of the blocks, without the target.
    kinds : mapping of str to str
        What the user says that columns are.
    room : int
        Bytes that the values of one column may take.
    line : int, optional
        The line of the first row, where the file is text: its columns are then checked for being numbers.
    as_text : frozenset of str
        Columns that are not.

    Examples
    --------
    >>> table = pa.table({"age": [20.0, 40.0, None], "town": ["Ede", "Ulm", "Ede"]})
    >>> statistics = TableStatistics("people", table.schema, {}, room=10**6)
    >>> for block in (table[:1], table[1:]):
    ...     statistics.add(block)
    >>> statistics.encoding() == TableEncoding.fit(table)
    True
    """

    def __init__(
        self,
        name: str,
        schema: pa.Schema,
        kinds: Mapping[str, str],
        *,
        room: int,
        line: int | None = None,
        as_text: frozenset[str] = frozenset(),
    ) -> None:
        check_names(kinds, schema.names, f"{name}: ")
        self.name, self.line, self.as_text, self.rows = name, line, as_text | frozenset(kinds), 0
        self._tallies: dict[str, _Numbers | _Values | _Dates | Column] = {
            column.name: _tally(column.name, column.type, kinds.get(column.name), room) for column in schema
        }
        self._said = dict(kinds)
        self._scaled = self._numbers()
        self._moments = [_Moments() for _ in self._scaled]

    def _numbers(self) -> list[str]:
        """Return the features that are numbers: those of dates come last, as in `TableEncoding`."""
        plain = [name for name, tally in self._tallies.items() if isinstance(tally, _Numbers)]
        return plain + [f"{name} in days" for name, tally in self._tallies.items() if isinstance(tally, _Dates)]

    def add(self, block: pa.Table) -> None:
        """Look at the next rows."""
        numbers: list[FloatArray] = []
        days: list[FloatArray] = []
        for name, tally in self._tallies.items():
            if isinstance(tally, Column):
                continue
            column = block[name]
            if pa.types.is_dictionary(column.type):
                column = column.cast(column.type.value_type)
            if isinstance(tally, _Dates):
                days.append(tally.add(column, self.name))
            elif isinstance(tally, _Values):
                check = self.line is not None and name not in self.as_text and is_text(column.type)
                tally.add(column, look_for_numbers=check)
            else:
                values = floats(column, name, self.name)
                # A column that the user calls a number may be text in the file.
                tally.add(column if is_number(column.type) else pa.chunked_array([pa.array(values, from_pandas=True)]))
                numbers.append(values)
        columns = [*numbers, *days]
        in_threads(lambda j: self._moments[j].add(columns[j]), range(len(columns)))
        self.rows += block.num_rows

    def encoding(
        self, *, degree: int = 1, target: str | None = None, header: bool = True, missing: tuple[str, ...] = ()
    ) -> TableEncoding:
        """Return what `TableEncoding.fit` would of all rows at once."""
        columns = {name: self._column(name, tally) for name, tally in self._tallies.items()}
        numbers = self._scales(columns)
        levels: dict[str, list[str]] = {}
        words: dict[str, tuple[list[str], list[float]] | None] = {}
        for name, tally in self._tallies.items():
            kind = columns[name].kind
            if kind == "date" and isinstance(tally, _Dates):
                levels |= {part: values.levels() for part, values in tally.parts.items()}
            elif kind == "category" and isinstance(tally, _Values):
                levels[name] = tally.levels()
            elif kind == "text" and isinstance(tally, _Values):
                words[name] = None if tally.words is None else tally.words.vocabulary()
        unfitted = TableEncoding(tuple(columns.values()), {}, {}, {}, degree, target, header, missing)
        return unfitted.with_state(numbers, levels, words, f"{self.name}: ")

    def _column(self, name: str, tally: _Numbers | _Values | _Dates | Column) -> Column:
        if isinstance(tally, Column):
            return tally
        if isinstance(tally, _Values) and self.line is not None:
            tally.check_numbers(self.name, self.line)
        if isinstance(tally, _Numbers) and name in self._said:
            return Column(name, "number")
        return tally.kind()

    def _scales(self, columns: Mapping[str, Column]) -> dict[str, tuple[float, float, bool]]:
        """Return mean, scale and whether some are missing, of every number that is used."""
        if not self._scaled or self.rows == 0:
            return {}
        names = [
            name for kind in (_Numbers, _Dates) for name, tally in self._tallies.items() if isinstance(tally, kind)
        ]
        found = {}
        for j, (name, feature) in enumerate(zip(names, self._scaled, strict=True)):
            if columns[name].kind == "ignored":
                continue
            moments = self._moments[j]
            if moments.n == 0:
                raise DataError(f"{self.name}: column {name!r} has no numbers; leave it out with --ignore {name!r}")
            found[feature] = (moments.mean, moments.scale, moments.n < self.rows)
        return found


def _tally(name: str, kind: pa.DataType, said: str | None, room: int) -> _Numbers | _Values | _Dates | Column:
    """Return what counts a column of that type."""
    if said == "ignored":
        return Column(name, "ignored", "asked for")
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if said == "date" or (said is None and is_date(kind)):
        return _Dates(name, said, room)
    if said == "number" or (said is None and is_number(kind)):
        return _Numbers(name, kind)
    if said is not None or is_text(kind) or pa.types.is_boolean(kind):
        return _Values(name, said, room)
    note = "it has no values" if pa.types.is_null(kind) else f"its type, {kind}, has no encoding"
    return Column(name, "ignored", note)
