"""What training rows say of all columns of a table, a block at a time or all at once."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import pyarrow as pa

from ..._core import in_threads
from .column_types import Column
from .merging import merge
from .tallies import SAMPLE, Circumstances, State, TextTally, decoded, tally_of
from .values import strings


class TableStatistics:
    """Counts what an encoding needs to know of training rows, a block at a time or all at once.

    Parameters
    ----------
    schema : pyarrow.Schema
        Of the blocks, without the target.
    said : mapping of str to Column
        What columns are, where that shall not be inferred.
    around : Circumstances, optional

    Examples
    --------
    >>> table = pa.table({"age": [20.0, 40.0, None], "town": ["Ede", "Ulm", "Ede"]})
    >>> statistics = TableStatistics(table.schema, {})
    >>> for block in (table[:1], table[1:]):
    ...     statistics.add(block)
    >>> [column.kind for column in statistics.columns]
    ['number', 'category']
    """

    def __init__(self, schema: pa.Schema, said: Mapping[str, Column], around: Circumstances | None = None) -> None:
        around = around or Circumstances()
        self._often: TableStatistics | None = None  # of the rows as often as they count
        self._tallies = {one.name: tally_of(one.name, one.type, said.get(one.name), around) for one in schema}

    def add(self, block: pa.Table, counted: pa.Table | None = None) -> None:
        """Look at the next rows; `counted` are the same as often as they count, where that is not once for all.

        What a column is, say an identifier, the rows tell; means and levels are those of what they count.
        """
        if counted is not None:
            self._often = self._often or copy.deepcopy(self)
            # What is worth counting is decided by the same values.
            self._often.begin({name: decoded(block[name]).drop_null()[:SAMPLE] for name in self.texts()})
            self._often.add(counted)
        places = {name: j for j, name in enumerate(block.column_names)}
        counting = [(places[name], tally) for name, tally in self._tallies.items() if not isinstance(tally, Column)]

        def count(k: int) -> None:
            place, tally = counting[k]
            tally.add(decoded(block.column(place)))

        in_threads(count, range(len(counting)), each=block.num_rows)

    def texts(self) -> list[str]:
        """Return the columns whose first values tell what is worth counting of them."""
        return [name for name, one in self._tallies.items() if isinstance(one, TextTally) and one.said is None]

    def begin(self, first: Mapping[str, pa.ChunkedArray]) -> None:
        """Decide that by the first values of a whole file, before its parts are counted each for itself."""
        for name in self.texts():
            tally = self._tallies[name]
            if isinstance(tally, TextTally) and len(first[name]) and not tally.begun:
                tally.begin(strings(first[name]))

    def merge(self, other: TableStatistics) -> None:
        """Go on with what was counted of the rows that follow, by statistics that were begun alike."""
        if self._often is not None or other._often is not None:
            self._often = self._often or copy.deepcopy(self)
            self._often.merge(other._often or other)
        for name, tally in self._tallies.items():
            if not isinstance(tally, Column):
                merge(tally, other._tallies[name])  # type: ignore[arg-type]

    def __add__(self, other: TableStatistics) -> TableStatistics:
        both = copy.deepcopy(self)
        both.merge(other)
        return both

    @property
    def columns(self) -> tuple[Column, ...]:
        """What the columns are."""
        return tuple(tally if isinstance(tally, Column) else tally.column() for tally in self._tallies.values())

    def state(self) -> State:
        """Return what an encoding keeps of the rows; the days of dates come after all other numbers."""
        found, dates = State(), State()
        for column, tally in zip(self.columns, (self._often or self)._tallies.values(), strict=True):
            if isinstance(tally, Column) or column.kind == "ignored":
                continue
            of_column = tally.state(column)
            (dates if column.kind == "date" else found).numbers.update(of_column.numbers)
            found.levels |= of_column.levels
            found.words |= of_column.words
        found.numbers |= dates.numbers
        return found
