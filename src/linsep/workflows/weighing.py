"""How much the rows of a file count: by a column of counts or of weights, or by successes among trials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .._common.types import FloatArray, IntArray
from ..data.encoding.column_types import is_text
from ..data.encoding.notation import DECIMALS, as_numbers
from ..data.encoding.tallies import decoded
from ..data.readers import Table
from ..data.sources import DataError

#: The classes of grouped data, the second one counted by the column of successes.
OUTCOMES = ("failure", "success")
#: What the column of these is called, where there is one.
OUTCOME = "success or failure"
#: Rows that a table is repeated to at the most, to find out what its columns say.
REPEATED = 2_000_000


class Weighed(NamedTuple):
    """Examples of a table: the row that each is of, its weight and, of grouped data, its class."""

    rows: IntArray
    weight: FloatArray
    y: NDArray[Any] | None = None


@dataclass(frozen=True)
class Weighing:
    """The columns that say how much a row counts; they are no features.

    Attributes
    ----------
    weights : str or None
        How often each row was seen: the same as so many rows.
    sample_weight : str or None
        How much each row's loss counts.
    successes, trials : str or None
        Of how many trials, all with the values in this row, so many were successes: the same as so many rows of the
        class success, and the others of the class failure.

    Examples
    --------
    >>> table = pa.table({"dose": [1.0, 2.0], "died": [0, 3], "n": [4, 5]})
    >>> Weighing(successes="died", trials="n").of(table, "beetles")
    Weighed(rows=array([0, 1, 1]), weight=array([4., 2., 3.]), y=array(['failure', 'failure', 'success'], dtype='<U7'))
    """

    weights: str | None = None
    sample_weight: str | None = None
    successes: str | None = None
    trials: str | None = None

    def __post_init__(self) -> None:
        if (self.successes is None) != (self.trials is None):
            raise DataError("--successes and --trials belong together: give both columns")
        if sum(name is not None for name in (self.weights, self.sample_weight, self.successes)) > 1:
            raise DataError("give one of --weights, --sample-weight, and --successes with --trials")

    def __bool__(self) -> bool:
        return bool(self.columns)

    @property
    def columns(self) -> dict[str, str]:
        """The columns, by what they say."""
        said = {one.name: getattr(self, one.name) for one in fields(self)}
        return {what: column for what, column in said.items() if column is not None}

    @property
    def is_grouped(self) -> bool:
        """Whether a row stands for several trials, and there is no column of labels."""
        return self.successes is not None

    @classmethod
    def of_model(cls, encoding: Mapping[str, Any] | None) -> Self:
        """Return what a model's file says, beside how its columns are encoded."""
        said = (encoding or {}).get("weights") or {}
        if not isinstance(said, Mapping) or not {type(column) for column in said.values()} <= {str}:
            raise DataError(
                f"the model's file is damaged: no rows are weighed by {str(said)[:60]}; fit the model again"
            )
        if unknown := set(said) - {one.name for one in fields(cls)}:
            raise DataError(
                f"the model's file is damaged: no rows are weighed by {unknown.pop()[:60]!r}; fit the model again"
            )
        return cls(**said)

    @classmethod
    def of_others(cls, encoding: Mapping[str, Any] | None, target: str | None) -> Self:
        """Return what tells how often other rows than those of the fit were seen, to measure a model on.

        One of grouped data is measured on such, if on no column of labels. How much a row counts by `sample_weight` is
        a matter of the fit.
        """
        found = cls.of_model(encoding)
        return cls() if found.sample_weight is not None or (found.is_grouped and target is not None) else found

    def where_told(self, frame: pa.Table) -> Self:
        """Return the same, or nothing where a table has no column of counts: each of its rows was seen once."""
        return type(self)() if self.weights is not None and self.weights not in frame.column_names else self

    def to_dict(self) -> dict[str, Any]:
        """Return what a model's file says."""
        return {"weights": self.columns} if self else {}

    def on(self, data: Table, target: str | None, kinds: Mapping[str, str] | None = None) -> Self:
        """Return the same with the names of a table's columns; raise where one has another role too."""
        found = type(self)(**{what: data.column(column) for what, column in self.columns.items()})
        for what, column in found.columns.items():
            if column == target or column in (kinds or {}) or list(found.columns.values()).count(column) > 1:
                raise DataError(f"{data.name}: column {column!r} is {_option(what)}; do not give it another role")
        return found

    def of(self, frame: pa.Table, name: str) -> Weighed:
        """Return the examples of a table's rows; those without weight are left out."""
        if self.is_grouped:
            k, n = self._counts(frame, "successes", name), self._counts(frame, "trials", name)
            _refuse(k > n, f"{name}, column {self.successes!r}", k, f"more than there are in column {self.trials!r}")
            weight = np.column_stack([n - k, k]).ravel()
            rows, y = np.repeat(np.arange(len(k)), 2), np.tile(np.array(OUTCOMES), len(k))
            return Weighed(rows[weight > 0], weight[weight > 0], y[weight > 0])
        weight = self._counts(frame, "weights", name) if self.weights else self._numbers(frame, "sample_weight", name)
        return Weighed(np.flatnonzero(weight > 0), weight[weight > 0])

    def taken(self, frame: pa.Table, name: str) -> tuple[pa.Table, FloatArray | None, IntArray | None]:
        """Return a table's examples without the columns of weights, the weights, and the row that each is of.

        Grouped ones have an `OUTCOME`.
        """
        if not self:
            return frame, None, None
        rows, weight, y = self.of(frame, name)
        found = frame.take(rows).drop_columns(list(self.columns.values()))
        return found if y is None else found.append_column(OUTCOME, pa.array(y.tolist())), weight, rows

    def counted(
        self, examples: pa.Table, weight: FloatArray | None, rows: IntArray | None
    ) -> tuple[pa.Table, pa.Table | None]:
        """Return each row once, which tells what columns are, and as often as it was seen, which tells their means.

        Very many are thinned out, which changes means and scales little, and nothing that is proven. Without counts
        there is but the first.
        """
        if weight is None or self.sample_weight is not None:
            return examples, None
        share = min(1.0, REPEATED / float(weight.sum()))
        often = np.repeat(np.arange(len(weight)), np.maximum(1, np.round(weight * share)).astype(np.int64))
        first = np.arange(len(weight)) if rows is None else np.unique(rows, return_index=True)[1]
        return examples.take(first), examples.take(often)

    def _counts(self, frame: pa.Table, what: str, name: str) -> FloatArray:
        counts = self._numbers(frame, what, name)
        hint = "; for weights that are no counts say --sample-weight" if what == "weights" else ""
        _refuse(counts % 1 != 0, f"{name}, column {getattr(self, what)!r}", counts, f"no whole number{hint}")
        return counts

    def _numbers(self, frame: pa.Table, what: str, name: str) -> FloatArray:
        column = getattr(self, what)
        where = f"{name}, column {column!r}"
        try:
            values = _as_written(decoded(frame[column]))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            words = [word for word in frame[column].cast(pa.string()).to_pylist() if _is_none(word)]
            example = f"; {words[0]!r} is none" if words else ""
            raise DataError(f"{where}: {_option(what)} needs a number in each row{example}") from None
        if np.isnan(values).any():
            row = int(np.argmax(np.isnan(values))) + 1
            raise DataError(f"{where}: row {row:,} has no value; say how much it counts, 0 for not at all")
        _refuse(np.isinf(values), where, values, "no number")
        _refuse(values < 0, where, values, "below zero")
        return values


def _as_written(values: pa.ChunkedArray) -> FloatArray:
    """Return numbers; those that are text may have decimal commas and units, as in other columns."""
    if is_text(values.type):
        read = [as_numbers(values, decimal)[0] for decimal in DECIMALS]
        values = next((one for one in read if one.null_count == values.null_count), values)
    return np.asarray(values.cast(pa.float64()).to_numpy(), dtype=np.float64)


def _is_none(word: str | None) -> bool:
    """Whether a word is no number, however decimals are written."""
    values = pa.chunked_array([[word]], type=pa.string())
    return word is not None and all(as_numbers(values, decimal)[0].null_count for decimal in DECIMALS)


def _option(what: str) -> str:
    return f"--{what.replace('_', '-')}"


def _refuse(bad: NDArray[Any], where: str, values: FloatArray, why: str) -> None:
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(f"{where}: row {row + 1} has {values[row]:g}, which is {why}")
