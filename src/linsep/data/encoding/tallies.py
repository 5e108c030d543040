"""What training rows say of a column, counted block by block: its type, moments of numbers, levels, words of text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Protocol
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..._common.words import phrase
from ..sources import BadValueError, DataError
from .column_types import (
    CLOCK,
    CODES,
    ENOUGH,
    FEW,
    FEW_CODES,
    IDENTIFIES,
    MOSTLY,
    NAMES,
    NEARLY_ALL,
    NO_KIND,
    NO_VALUES,
    NUMBERS_ROWS,
    ONE_VALUE,
    PAIRS,
    RARE,
    ROUNDED,
    WORDS,
    Column,
    is_date,
    is_text,
    names_rows,
    seem_numbers,
    text_type,
)
from .counting import ENTRY, Different, Moments, Words, mixed
from .fitting import Standard, levels_of, rows_of_rare
from .notation import DECIMALS, ORDERS
from .values import EXAMPLES, floats, is_number, moments_in_time, strings
from .written import Written

#: So many values tell how a column of text may be written, and so many how many words it has.
GLANCE, SAMPLE = 1_000, 10_000
#: Codes are not further apart than this.
APART = 1_000


@dataclass
class State:
    """What an encoding keeps of training rows; the names are those of `TableEncoding`."""

    numbers: dict[str, Standard] = field(default_factory=dict)
    levels: dict[str, list[str]] = field(default_factory=dict)
    words: dict[str, tuple[list[str], list[float]] | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Circumstances:
    """What all columns of a file have in common."""

    file: str = "data"
    room: int = 1 << 62  # bytes that the values of one column may take
    untyped: bool = False  # whether its columns are text because all is, as in CSV, and not because somebody chose so
    decimals: tuple[str, ...] = DECIMALS  # what may set decimals apart, the likelier first
    held_out: float = 0.0  # the share of the file's rows that are not looked at


class Tally(Protocol):
    """Counts what there is to know of one column."""

    def add(self, values: pa.ChunkedArray) -> None:
        """Look at the next rows."""

    def column(self) -> Column:
        """Return what it is."""

    def state(self, column: Column) -> State:
        """Return what an encoding keeps of it, as it is what `column` says."""


def tally_of(name: str, kind: pa.DataType, said: Column | None, around: Circumstances) -> Tally | Column:
    """Return what counts a column of that type, or what the column is where there is nothing to count."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if said is not None and said.kind == "ignored":
        return said
    if is_text(kind) or (said is not None and said.kind in ("category", "text")):
        return TextTally(name, kind, said, around)
    if (said is None and is_date(kind)) or (said is not None and said.kind == "date"):
        return DateTally(name, said, around)
    if (said is None and is_number(kind)) or said is not None:
        return NumberTally(name, kind, said, around)
    if pa.types.is_boolean(kind):
        return TextTally(name, kind, said, around)
    aside = NO_VALUES if pa.types.is_null(kind) else CLOCK if pa.types.is_time(kind) else NO_KIND
    return Column(name, "ignored", aside)


def infer(name: str, column: pa.ChunkedArray) -> Column:
    """Return what a column seems to be: numbers, categories, dates, text, or of no use.

    Examples
    --------
    >>> infer("town", pa.chunked_array([["Ede", "Ulm", "Ede"]]))
    Column(name='town', kind='category', note='', form='')
    >>> infer("planet", pa.chunked_array([["Earth", "Earth", "Earth"]]))
    Column(name='planet', kind='ignored', note='it has one value only', form='')
    >>> infer("price", pa.chunked_array([["1.234,56 €", "7,50 €"]]))
    Column(name='price', kind='number', note='', form=',€')
    """
    tally = tally_of(name, column.type, None, Circumstances())
    if isinstance(tally, Column):
        return tally
    tally.add(decoded(column))
    return tally.column()


def decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the values themselves, where they are kept as places in a dictionary."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


# -- numbers ------------------------------------------------------------------------------------------------------


class NumberTally:
    """A column of numbers: their range and moments, and of whole ones whether they number the rows, or may be codes."""

    def __init__(self, name: str, kind: pa.DataType, said: Column | None, around: Circumstances) -> None:
        self.name, self.said, self.file, self.held_out = name, said, around.file, around.held_out
        self.whole = bool(pa.types.is_integer(kind))
        self.moments = Moments()
        self.low: Any = None
        self.high: Any = None
        self.all_different, self.sum = self.whole and said is None, np.uint64(0)
        self.different = Different() if self.all_different else None
        self.codes: set[int] | None = set() if self.whole else None

    def add(self, values: pa.ChunkedArray) -> None:
        """Look at the next rows."""
        numbers = floats(values, self.name, self.file)
        self.moments.add(numbers)
        if self.said is not None:
            return
        ends = pc.min_max(values).as_py()
        # Where there is nothing but NaN these are NaN, too, and with pyarrow 18 infinite, the wrong way round.
        if ends["min"] is not None and ends["min"] <= ends["max"]:
            self.low = ends["min"] if self.low is None else min(self.low, ends["min"])
            self.high = ends["max"] if self.high is None else max(self.high, ends["max"])
        if self.whole and ends["min"] is not None:
            self._tell_apart(values, ends["max"] - ends["min"])

    def _tell_apart(self, values: pa.ChunkedArray, width: int) -> None:
        if self.codes is not None:
            self.codes = None if width > APART else self.codes | set(pc.unique(values.drop_null()).to_pylist())
            self.codes = None if self.codes is None or len(self.codes) > CODES[-1] else self.codes
        self.all_different &= not values.null_count and width >= len(values) - 1
        if not self.all_different:
            return
        whole = values.to_numpy().astype(np.int64).view(np.uint64)
        # Of most columns a thousand values have two alike, and the others need not be sorted.
        self.all_different = all(len(np.unique(some)) == len(some) for some in (whole[:1000], whole))
        with np.errstate(over="ignore"):
            self.sum += mixed(whole).sum(dtype=np.uint64)
        if self.different is not None:
            self.different.add(whole)

    def column(self) -> Column:
        """Return what it is."""
        if self.said is not None:
            return self.said
        given = self.moments.n
        if self.low is None:
            return Column(self.name, "ignored", NO_VALUES)
        if self.low == self.high and given == self.moments.rows:
            return Column(self.name, "ignored", ONE_VALUE)
        if self.all_different and given >= FEW:
            if self._is_numbering():
                return Column(self.name, "ignored", NUMBERS_ROWS)
            if names_rows(self.name) and self._differs():
                return Column(self.name, "ignored", IDENTIFIES)
        rounded = self.whole and max(self.high, -self.low) > 2**53
        codes = self.codes is not None and len(self.codes) in CODES and given >= ENOUGH
        return Column(
            self.name, "number", ROUNDED if rounded else FEW_CODES if codes else NAMES if self._seem_names() else ""
        )

    def _is_numbering(self) -> bool:
        """Whether they count the rows of the file, from 0 or 1 on; those of rows that are held out may be missing."""
        if self.held_out:  # a class is split to the nearest row, so that there may be some more of them
            return self.low >= 0 and self.high <= 1.01 * self.moments.n / (1 - self.held_out) + 2 and self._seem_names()
        width, begins = self.high - self.low + 1, self.low in (0, 1) or names_rows(self.name)
        return bool(width == self.moments.n and begins and self._is_range())

    def _seem_names(self) -> bool:
        """Whether numbers seem to name the rows: all different, where chance would make some of them equal."""
        n = self.moments.n
        if n < ENOUGH or not self.all_different:
            return False
        # The fewest equal pairs that chance has: every number of the range as likely as any other.
        return n * (n - 1) / 2 >= PAIRS * (self.high - self.low + 1) and self._differs()

    def _differs(self) -> bool:
        """Whether nearly every row has a value of its own, where all rows of each part have."""
        return self.different is not None and self.different.count() >= NEARLY_ALL * self.moments.n

    def _is_range(self) -> bool:
        """Whether the values are all those from the lowest to the highest, told by the sum of their hashes."""
        total = np.uint64(0)
        with np.errstate(over="ignore"):
            for first in range(self.low, self.high + 1, 1 << 20):
                part = np.arange(first, min(first + (1 << 20), self.high + 1), dtype=np.int64)
                total += mixed(part.view(np.uint64)).sum(dtype=np.uint64)
        return bool(total == self.sum)

    def state(self, column: Column) -> State:
        """Return the mean and the deviation."""
        return State(numbers={self.name: self.moments.state(self.name)})


# -- dates --------------------------------------------------------------------------------------------------------


class DateTally:
    """A column of dates: their days are numbers, their months and weekdays categories."""

    def __init__(self, name: str, said: Column | None, around: Circumstances) -> None:
        self.name, self.said, self.file = name, said, around.file
        self.low: Any = None
        self.high: Any = None
        self.days, parts = Moments(), (f"month of {name}", f"weekday of {name}")
        self.parts = [TextTally(part, pa.string(), Column(part, "category"), around) for part in parts]

    def add(self, values: pa.ChunkedArray) -> None:
        """Look at the next rows."""
        moment = moments_in_time(values, self.name, self.file)
        ends = pc.min_max(moment.cast(pa.int64())).as_py()
        if ends["min"] is not None:
            self.low = ends["min"] if self.low is None else min(self.low, ends["min"])
            self.high = ends["max"] if self.high is None else max(self.high, ends["max"])
        self.days.add(floats(moment.cast(pa.int64()), self.name, self.file) / 86_400e3)
        for part, of_moment in zip(self.parts, (pc.month, pc.day_of_week), strict=True):
            part.add(of_moment(moment))

    def column(self) -> Column:
        """Return what it is."""
        if self.said is not None:
            return self.said
        if self.low is None or self.low == self.high:
            return Column(self.name, "ignored", NO_VALUES if self.low is None else ONE_VALUE)
        return Column(self.name, "date")

    def state(self, column: Column) -> State:
        """Return the moments of the days, and the levels of months and weekdays."""
        days = f"{self.name} in days"
        return State({days: self.days.state(self.name)}, {part.name: part.levels() for part in self.parts})


# -- text ---------------------------------------------------------------------------------------------------------


class TextTally:
    """A column of text: how often each value occurs, as long as they are few; its words; and what it may be read as."""

    def __init__(self, name: str, kind: pa.DataType, said: Column | None, around: Circumstances) -> None:
        self.name, self.said, self.around = name, said, around
        self.rows = self.nulls = 0
        self.counts: Counter[str] = Counter()
        self.taken, self.values = 0, Different()
        self.sample: list[str] = []
        self.begun = False  # whether it is decided what is worth counting
        self.words: Words | None = Words(name, around.room) if said is not None and said.kind == "text" else None
        self.written = self._readings(kind)
        self.dates = 0  # how many values are dates, however they are written
        self.zeros = False  # whether a number begins with 0, as codes do
        self.bare = True  # whether there are but digits

    def _readings(self, kind: pa.DataType) -> list[Written]:
        """Return what the values may be read as."""
        said = self.said
        if not is_text(kind) or (said is not None and said.kind in ("category", "text")):
            return []
        forms = {"number": self.around.decimals, "date": ORDERS}
        if said is not None:
            form = said.form[:1] if said.kind == "number" else said.form
            forms = {said.kind: (form,) if form else forms[said.kind]}
        ways = [(kind, form, False) for kind, some in forms.items() for form in some]
        ways += [("number", form, True) for form in forms.get("number", ())]
        return [
            Written(self.name, kind, form, self._tally_of(kind), shared=is_shared) for kind, form, is_shared in ways
        ]

    def _tally_of(self, kind: str) -> NumberTally | DateTally:
        if kind == "date":
            return DateTally(self.name, None, self.around)
        return NumberTally(self.name, pa.float64(), None, self.around)

    @property
    def given(self) -> int:
        """How many values there were."""
        return self.rows - self.nulls

    def add(self, values: pa.ChunkedArray) -> None:
        """Look at the next rows."""
        values = strings(values)
        present = values.drop_null()
        if not self.begun and len(present):
            self.begin(present)
        if self.said is None and len(self.sample) < SAMPLE:
            self.sample += present[: SAMPLE - len(self.sample)].to_pylist()
        found = {written: written.add(values) for written in self.written}
        self.dates += _count(_are_dates(found))
        if self.written and self.said is None:
            self.zeros |= bool(pc.any(pc.match_substring_regex(present, r"^\s*0[0-9]+\s*$")).as_py())
            self.bare &= bool(pc.all(pc.match_substring_regex(present, r"^\s*[0-9]*\s*$")).as_py())
        if self.said is None or self.said.kind == "category":
            self._count(present)
        if self.words is not None:
            self.words.add(["" if text is None else text for text in values.to_pylist()])
        self.rows, self.nulls = self.rows + len(values), self.nulls + values.null_count

    def begin(self, present: pa.ChunkedArray) -> None:
        """Decide by the first values what is worth counting: those that are looked at next, or the file's own first."""
        self.begun = True
        if self.said is not None:
            return
        glance = present[:GLANCE]
        found = {written: written.reads(glance) for written in self.written}
        likely = {"number": None, "date": _are_dates(found)}  # dates may be written in several ways, see below
        plain = max((_count(these) for written, these in found.items() if not written.shared), default=0)
        self.written = [
            written
            for written, these in found.items()
            if _count(these) > (plain if written.shared else 0)
            and 2 * _count(likely[written.kind] or these) >= len(glance)
        ]
        for written in self.written:  # the rows before had none
            written.add(pa.chunked_array([pa.nulls(self.rows, pa.string())]))
        if _words_a_row(present[:SAMPLE].to_pylist()) >= WORDS:
            self.words = Words(self.name, self.around.room)
            self.words.rows = self.rows

    def _count(self, present: pa.ChunkedArray) -> None:
        found = {pair["values"]: pair["counts"] for pair in present.value_counts().to_pylist()}
        if self.said is None:
            # The same in every process, whose counts may be merged.
            hashes = (crc32(value.encode(errors="surrogatepass")) for value in found)
            self.values.add(np.fromiter(hashes, dtype=np.uint64, count=len(found)))
        if self.taken <= self.around.room:
            self.taken += sum(ENTRY + len(value) for value in found if value not in self.counts)
            self.counts.update(found)
            if self.taken > self.around.room:
                self.counts.clear()

    def column(self) -> Column:
        """Return what it is."""
        if self.said is not None and not self.written:
            return self._noted(self.said)
        if self.said is None and self.different <= 1:
            if self.given and self.nulls and not self.written:  # rows with a mark and rows without
                return Column(self.name, "category")
            return Column(self.name, "ignored", ONE_VALUE if self.given else NO_VALUES)
        written = self._understood()
        if self.said is not None and self.said.form:
            return self.said
        if written is not None:
            return written.column()
        digits = sum(text.lstrip()[:1].isdigit() for text in self.sample) / max(1, len(self.sample))
        words, digits = _words_a_row(self.sample), 0.0 if self.zeros else digits
        return self._noted(text_type(self.name, words, self.different, self.given, digits))

    def _noted(self, column: Column) -> Column:
        """Return the same with a word on its levels, if there is none, where hardly a row has one of its own."""
        rare = 0 if column.kind != "category" or column.note else rows_of_rare(self.counts, self.rows)
        return replace(column, note=f"{rare:,} of {self.given:,} {RARE}") if 10 * rare > 9 * self.given else column

    @property
    def different(self) -> float:
        """How many different values there were, about where they are too many to hold."""
        return self.values.count() if self.taken > self.around.room else float(len(self.counts))

    def _understood(self) -> Written | None:
        """Return what the values are to be read as, if they are numbers or dates; raise where that takes a word."""
        whole = [one for one in self.written if not one.odd and one.is_one_unit and self._differ(one)]
        if not whole:
            self._check_one_way()
        if self.said is not None and not whole:
            ways = [one for one in self.written if not one.shared or len(one.units - {""}) > 1]
            raise self._odd(min(ways, key=lambda one: sum(one.odd.values())))
        dates = [one for one in whole if one.kind == "date"]
        if len(dates) > 1:
            raise self._ambiguous()
        if self.said is not None or dates:
            return (dates or whole)[0]
        if self.zeros or (self.bare and not self.around.untyped):
            return None
        if not whole:
            self._check_odd()
        return whole[0] if whole else None

    def _differ(self, one: Written) -> bool:
        """Whether numbers with a unit that may be none all have it, and are enough to tell them from names: 12 A."""
        if not one.shared or self.said is not None:
            return True
        return not one.bare and self.different - len(one.odd) > CODES[-1]

    def _check_one_way(self) -> None:
        """Raise for a column of dates that are written in several ways."""
        ways = [one for one in self.written if one.kind == "date"]
        most = max(ways, key=lambda one: one.count, default=None)
        if most is None or self.dates == most.count or (self.said is None and self.dates < MOSTLY * self.given):
            return
        odd = pa.chunked_array([list(most.odd)], type=pa.string())
        others = odd.filter(_are_dates({one: one.reads(odd) for one in ways})).combine_chunks()
        advice = (
            f"is a date, but {most.count:,} of {self.given:,} values are written as {EXAMPLES[most.form]} is; to have "
            f"them read, write all as {EXAMPLES['ymd']} (in pandas, to_datetime with format= and errors='coerce' reads "
            f"one way at a time, fillna joins them); or say --category {self.name!r} or --ignore {self.name!r}"
        )
        raise BadValueError(self.around.file, self.name, advice, lambda some: not _has(some, others))

    def _ambiguous(self) -> DataError:
        example = next(iter(self.counts), "") or (self.sample[0] if self.sample else "its dates")
        return DataError(
            f"column {self.name!r}: {example!r} and all its other dates may begin with the day or with the month; say "
            f"--day-first {self.name!r} or --month-first {self.name!r}",
            self.name,
        )

    def _check_odd(self) -> None:
        """Raise for a column of numbers, or of dates, that has a few words among them."""
        for one in self.written:
            different = int(self.different) - len(one.odd)
            is_plain = one.kind == "date" or self.around.untyped or not self.bare
            is_one = one.is_one_unit and self._differ(one)
            is_one |= one.is_mixed and different > CODES[-1]
            if not seem_numbers(one.count, self.given, different, len(one.odd)):
                continue
            if one.shared and one.is_one_unit and one.bare and different > CODES[-1]:
                raise one.lack()
            if is_plain and is_one:
                raise self._odd(one)

    def _odd(self, one: Written) -> DataError:
        """Return what to say of values that are none of the others' kind."""
        if not one.odd:
            units = phrase(sorted(one.units - {""}))
            return DataError(
                f"column {self.name!r} has numbers in {units}; write all in one unit, or say --category {self.name!r}",
                self.name,
            )
        advice = one.strange(None if self.said else self.given)
        odd = pa.array(list(one.odd), type=pa.string())
        return BadValueError(self.around.file, self.name, advice, lambda some: not _has(some, odd))

    def levels(self) -> list[str]:
        """Return the levels with a feature each."""
        if self.taken > self.around.room:
            raise DataError(
                f"column {self.name!r} has too many different values to count in {self.around.room / 1e6:,.0f} MB; say "
                f"--text {self.name!r} or --ignore {self.name!r}, or raise --max-memory"
            )
        return levels_of(self.counts, self.rows, lacking=self.nulls > 0)

    def state(self, column: Column) -> State:
        """Return levels or words, or what there is of numbers or dates that are written as text."""
        if column.kind == "category":
            return State(levels={self.name: self.levels()})
        if column.kind == "text":
            return State(words={self.name: None if self.words is None else self.words.vocabulary()})
        written = self._understood()
        return State() if written is None else written.tally.state(column)


def _are_dates(found: Mapping[Written, pa.ChunkedArray]) -> pa.ChunkedArray | None:
    """Return which values are dates in one way of writing them at least; None where none is looked for."""
    ways = [these for written, these in found.items() if written.kind == "date"]
    return reduce(pc.or_, ways) if ways else None


def _count(these: pa.ChunkedArray | None) -> int:
    return 0 if these is None else int(pc.sum(these).as_py() or 0)


def _has(some: pa.ChunkedArray, words: pa.Array) -> bool:
    return bool(pc.any(pc.is_in(strings(decoded(some)), value_set=words)).as_py())


def _words_a_row(sample: list[str]) -> float:
    return float(np.mean([len(re.findall(r"\s+", text)) + 1 for text in sample])) if sample else 0.0
