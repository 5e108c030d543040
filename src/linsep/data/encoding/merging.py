"""Tallies of a column's parts as one: what several have counted, each over rows of its own, in the rows' order."""

from __future__ import annotations

from typing import Any

import numpy as np

from .column_types import CODES, ODD
from .counting import ENTRY
from .tallies import SAMPLE, DateTally, NumberTally, Tally, TextTally
from .written import Written


def merge(tally: Tally, other: Tally) -> None:
    """Let a tally go on with what another one of the same column, begun alike, has counted of the rows that follow."""
    for kind, how in ((NumberTally, _merge_numbers), (DateTally, _merge_dates), (TextTally, _merge_texts)):
        if isinstance(tally, kind) and isinstance(other, kind):
            how(tally, other)
            return
    raise TypeError(f"{type(tally).__name__} and {type(other).__name__} are not of the same column")


def _merge_ends(tally: Any, other: Any) -> None:
    if other.low is not None:
        tally.low = other.low if tally.low is None else min(tally.low, other.low)
        tally.high = other.high if tally.high is None else max(tally.high, other.high)


def _merge_numbers(tally: Any, other: Any) -> None:
    tally.moments.merge(other.moments)
    _merge_ends(tally, other)
    both = None if tally.codes is None or other.codes is None else tally.codes | other.codes
    tally.codes = None if both is None or len(both) > CODES[-1] else both
    tally.all_different &= other.all_different
    with np.errstate(over="ignore"):
        tally.sum += other.sum
    if tally.different is not None and other.different is not None:
        tally.different.merge(other.different)


def _merge_dates(tally: Any, other: Any) -> None:
    _merge_ends(tally, other)
    tally.days.merge(other.days)
    for part, of_other in zip(tally.parts, other.parts, strict=True):
        _merge_texts(part, of_other)


def _merge_texts(tally: Any, other: Any) -> None:
    tally.rows, tally.nulls, tally.dates = tally.rows + other.rows, tally.nulls + other.nulls, tally.dates + other.dates
    tally.begun |= other.begun
    tally.zeros, tally.bare = tally.zeros or other.zeros, tally.bare and other.bare
    tally.sample += other.sample[: SAMPLE - len(tally.sample)]
    tally.values.merge(other.values)
    room = tally.around.room
    if max(tally.taken, other.taken) > room:
        tally.taken = room + 1
    else:
        tally.taken += sum(ENTRY + len(value) for value in other.counts if value not in tally.counts)
        tally.counts.update(other.counts)
    if tally.taken > room:
        tally.counts.clear()
    if tally.words is not None and other.words is not None:
        tally.words.merge(other.words)
    for written, of_other in zip(tally.written, other.written, strict=True):
        _merge_readings(written, of_other)


def _merge_readings(written: Written, other: Written) -> None:
    written.count, written.bare = written.count + other.count, written.bare + other.bare
    written.units |= other.units
    if len(written.odd) <= ODD:
        written.odd.update(other.odd)
    merge(written.tally, other.tally)
