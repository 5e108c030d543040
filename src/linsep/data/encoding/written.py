"""A column of text, read as numbers or dates of one form."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from ..._common.words import as_typed
from ..sources import DataError
from .column_types import ODD, Column
from .notation import as_moments, as_numbers, leaves_no_doubt

if TYPE_CHECKING:
    from .tallies import Tally


class Written:
    """How many values of a column are numbers, or dates, of one form, which units they have, and which are none.

    Parameters
    ----------
    name : str
    kind : {"number", "date"}
    form : str
        As `Column` has it.
    tally : Tally
        Counts what is read.
    shared : bool, default=False
        Whether units are looked for that are such only where all values have the same: 230 V, 36 months.
    """

    def __init__(self, name: str, kind: str, form: str, tally: Tally, *, shared: bool = False) -> None:
        self.name, self.kind, self.form, self.tally, self.shared, self.count = name, kind, form, tally, shared, 0
        self.odd: Counter[str] = Counter()
        self.units: set[str] = set()
        self.bare = 0  # how many numbers have no unit

    def add(self, values: pa.ChunkedArray) -> pa.ChunkedArray:
        """Look at the next rows; return which of them are such."""
        found, units = self._read(values)
        self.units |= set(units.unique().drop_null().to_pylist())
        self.bare += int(pc.sum(pc.equal(units, "")).as_py() or 0)
        self.count += len(found) - found.null_count
        if found.null_count > values.null_count and len(self.odd) <= ODD:
            odd = values.filter(pc.and_(pc.is_null(found), pc.is_valid(values)))
            self.odd.update({pair["values"]: pair["counts"] for pair in odd.value_counts().to_pylist()})
        self.tally.add(found)
        return pc.is_valid(found)

    def _read(self, values: pa.ChunkedArray) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
        if self.kind == "date":
            return as_moments(values, self.form), pa.chunked_array([[]], pa.string())
        return as_numbers(values, self.form, shared=self.shared)

    def reads(self, values: pa.ChunkedArray) -> pa.ChunkedArray:
        """Return which of some values are such."""
        return pc.is_valid(self._read(values)[0])

    @property
    def is_one_unit(self) -> bool:
        """Whether no two numbers are written with different units."""
        return len(self.units - {""}) <= 1

    @property
    def is_mixed(self) -> bool:
        """Whether numbers are written with several units, and not with letters that may mean anything."""
        units = self.units - {""}
        return len(units) > 1 and leaves_no_doubt(units)

    def column(self) -> Column:
        """Return what such a column is."""
        if self.kind == "date":
            return Column(self.name, "date", form=self.form)
        return Column(self.name, "number", self.tally.column().note, self.form + "".join(self.units - {""}))

    def lack(self) -> DataError:
        """Return what to say where a few numbers lack a unit that may be none."""
        unit, lack = "".join(self.units - {""}), "lacks" if self.bare == 1 else "lack"
        return DataError(
            f"column {self.name!r}: {self.bare:,} of {self.count:,} numbers {lack} the others' unit, {unit}; say "
            f"--numeric {self.name!r} if it is meant all the same, or --category {self.name!r}",
            self.name,
        )

    def strange(self, given: int | None) -> str:
        """Return what to say of values that are none of the others' kind.

        Parameters
        ----------
        given : int or None
            How many values there are, where nobody said what they are.
        """
        odd = list(self.odd)[:ODD]
        rest = [repr(word[:40]) for word in odd[1:]]
        more = " …" if len(self.odd) > ODD else ""
        shares = "" if given is None else f", but {self.count:,} of {given:,} values are"
        others = f" (nor {'is' if len(rest) == 1 else 'are'} {', '.join(rest)}{more})" if rest else ""
        forms = (
            "; dates are 2024-01-31, 31.01.2024, 01/31/2024 or 31 Jan 2024, with or without a time"
            if self.kind == "date"
            else ""
        )
        in_brackets = [word.strip("()") for word in odd if word.startswith("(") and word.endswith(")")]
        forms += f"; an amount below zero is -{in_brackets[0][:40]}" if in_brackets and self.kind == "number" else ""
        # What is cut short or has line breaks cannot be typed as it stands here.
        typed = [word for word in odd if word.isprintable() and len(word) <= 40]
        missing = f"say {as_typed('--missing', typed)} for what means a missing value, or" if typed else "or say"
        instead = missing if self.count else "as no value is one (is there a unit to leave out?), or say"
        correct = "correct it" if len(self.odd) == 1 else "correct them"
        return f"is not a {self.kind}{shares}{others}{forms}; {correct}, {instead} --category {self.name!r}"
