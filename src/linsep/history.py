"""What a run remembers: one record a step, thinned so that memory stays bounded however long the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np

from ._common.frames import frame_of
from ._common.types import FloatArray
from ._common.words import many

__all__ = ["History", "Record"]

#: Records that are kept at the most: a run of as many steps as `linsep.solvers.minimize` takes by itself is kept whole.
CAPACITY = 20_000
#: Records that stay or go together, and how many are always there: the first of these, and the latest.
PAIR, LEAST = 2, 3
#: Iterates are large: all that a history keeps of them stays below this many bytes.
ITERATE_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Record:
    """One recorded step.

    `objective` is what the run descends: the mean objective F (see `objective.problem`), or a plain function.
    Numbers that were not measured are NaN. `zero_one` is the zero-one risk, the share of rows with z ≤ 0, as the
    perceptron counts mistakes: a row on the plane itself is one, so at w = 0 it is 1. `error` is the share of rows that
    `predict` gives another label, 1 − accuracy: a row on the plane goes to ``classes_[0]``. They differ by rows on the
    plane only. `best` is the objective of the best point recorded so far (for the perceptron, of that with the fewest
    mistakes); `example` is the row that caused the update, None where no single one did; `updates` is how often the
    loss has moved the point so far, where that is counted (for the perceptron, its mistakes).
    """

    step: int
    passes: float
    objective: float
    risk: float = np.nan
    zero_one: float = np.nan
    gradient_norm: float = np.nan
    step_size: float = np.nan
    best: float = np.nan
    example: int | None = None
    updates: float = np.nan
    error: float = np.nan
    iterate: FloatArray | None = None


COLUMNS = tuple(field.name for field in fields(Record) if field.name != "iterate")


class History:
    """The recorded steps of one run.

    When more than `capacity` records have come, they are thinned, by pairs: two that follow each other are kept, the
    next two (six, fourteen, …) are not, so that a point which jumps back and forth is still seen to do so. The first
    and the latest are always there, and `stride` says how thin it is.

    Parameters
    ----------
    capacity : int
        How many records are kept at the most.

    Attributes
    ----------
    stride : int
        One pair of records in this many was kept.
    solver, reason : str
        Which solver ran, and why it was picked.
    ended : str
        Why a run that a stopping rule ended did so, in words.
    coordinates : tuple of str
        What the numbers of an iterate are called, where iterates are kept: w0, w1, …, b, or x, y.
    rounds : sequence of Round
        On a cluster: what each task on all partitions was, and the seconds and bytes that it took.

    Examples
    --------
    >>> history = History(capacity=7)
    >>> for k in range(13):
    ...     history.add(Record(step=k, passes=k, objective=1 / (k + 1)))
    >>> history["step"], history.stride
    (array([ 0.,  1.,  4.,  5.,  8.,  9., 12.]), 2)
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.capacity = max(LEAST, capacity)
        self.stride = 1
        self.solver = ""
        self.reason = ""
        self.ended = ""
        self.coordinates: tuple[str, ...] = ()
        self.rounds: Sequence[Any] = ()
        self._kept: list[Record] = []
        self._offered = 0
        self._latest: Record | None = None

    def add(self, record: Record) -> None:
        """Offer one record."""
        self._latest = record
        if _is_kept(self._offered, self.stride):
            self._kept.append(record)
        self._offered += 1
        if record.iterate is not None:
            self.capacity = min(self.capacity, max(LEAST, ITERATE_BYTES // max(1, record.iterate.nbytes)))
        self._thin()

    def _thin(self) -> None:
        while len(self) > self.capacity:
            self._kept = [record for k, record in enumerate(self._kept) if _is_kept(k, 2)]
            self.stride *= 2

    @property
    def offered(self) -> int:
        """How many records have come, those that were not kept included."""
        return self._offered

    @property
    def records(self) -> list[Record]:
        """The records that were kept, the latest included."""
        if self._latest is None or self._kept[-1] is self._latest:
            return list(self._kept)
        return [*self._kept, self._latest]

    def __len__(self) -> int:
        return len(self._kept) + (self._latest is not None and self._kept[-1] is not self._latest)

    def __getitem__(self, column: str) -> FloatArray:
        if column not in COLUMNS:
            raise KeyError(f"a history has no column {column!r}; it has {', '.join(COLUMNS)}")
        return np.array([getattr(record, column) for record in self.records], dtype=np.float64)

    @property
    def iterates(self) -> FloatArray:
        """The recorded iterates, one a row; empty unless they were asked for."""
        kept = [record.iterate for record in self.records if record.iterate is not None]
        return np.array(kept) if kept else np.empty((0, 0))

    def to_frame(self, backend: Any = "pandas", *, iterates: bool = False) -> Any:
        """Return the records as a DataFrame, without the columns that no record has a number for.

        Parameters
        ----------
        backend : str or module
            The library: ``"pandas"``, ``"polars"`` or ``"pyarrow"``.
        iterates : bool
            Whether the coordinates of the iterates are further columns, where iterates were recorded
            (``record="update"``; `linsep.solvers.minimize` records them always).

        Examples
        --------
        >>> from linsep.solvers import minimize
        >>> run = minimize(lambda x: x @ x, lambda x: 2 * x, [1.0, 2.0], schedule=0.25, max_iter=2, stopping=None)
        >>> print(run.history.to_frame(iterates=True)[["step", "objective", "x", "y"]])
           step  objective     x    y
        0     0     5.0000  1.00  2.0
        1     1     1.2500  0.50  1.0
        2     2     0.3125  0.25  0.5
        """
        table: dict[str, Any] = {column: self[column] for column in COLUMNS}
        table = {column: values for column, values in table.items() if not len(self) or not np.isnan(values).all()}
        table["step"] = table["step"].astype(np.int64)
        if iterates and len(self.iterates) == len(self):
            table |= dict(zip(self.coordinates, self.iterates.T, strict=True))
        if "example" in table:
            table["example"] = [None if np.isnan(row) else int(row) for row in table["example"]]
        frame = frame_of(table, backend)
        native = frame.to_native()
        # Whole numbers of which some are missing have a type of their own in pandas.
        pandas = frame.implementation.is_pandas() and "example" in table
        return native.astype({"example": "Int64"}) if pandas else native

    def thinned(self, capacity: int) -> History:
        """Return a copy that keeps fewer records and no word of single examples: no iterates, no causes of updates.

        Examples
        --------
        >>> history = History()
        >>> for k in range(10):
        ...     history.add(Record(step=k, passes=k, objective=1 / (k + 1), example=3))
        >>> few = history.thinned(5)
        >>> few["step"], few["example"], few.offered
        (array([0., 1., 8., 9.]), array([nan, nan, nan, nan]), 10)
        """
        few = History.of([replace(one, example=None, iterate=None) for one in self.records], self.stride, self.offered)
        few.capacity, few.solver, few.reason = max(LEAST, min(capacity, self.capacity)), self.solver, self.reason
        few._thin()
        return few

    @classmethod
    def of(cls, records: list[Record], stride: int, offered: int) -> Self:
        """Return the history that kept these records: one pair in `stride` of those offered, and the latest.

        Older files have single records instead of pairs.
        """
        fits = stride > 0 and offered >= 0 and any(len(records) == _count(offered, stride, few) for few in (PAIR, 1))
        if not fits:
            raise ValueError(f"{len(records)} records cannot be one in {stride} of {offered}, and the latest")
        made = cls(max(len(records), CAPACITY))
        made.stride, made._offered = stride, offered
        if records:
            made._latest = records[-1]
            made._kept = records if _is_kept(offered - 1, stride) else records[:-1]
        return made

    def __repr__(self) -> str:
        thin = "" if self.stride == 1 else f", one pair of steps in {self.stride} kept"
        return f"<History of {self.solver or 'a run'}: {many(len(self), 'record')}{thin}>"


def least_so_far(history: History, column: str) -> FloatArray:
    """Return the least value of a column up to each record; NaN before the first point that would be an answer.

    Examples
    --------
    >>> history = History()
    >>> for objective, best in [(0.0, np.nan), (3.0, 3.0), (5.0, 3.0), (2.0, 2.0)]:
    ...     history.add(Record(step=len(history), passes=0.0, objective=objective, best=best))
    >>> least_so_far(history, "objective")
    array([nan,  3.,  3.,  2.])
    """
    return np.fmin.accumulate(np.where(np.isnan(history["best"]), np.nan, history[column]))


def _is_kept(k: int, stride: int, together: int = PAIR) -> bool:
    """Whether record k is one of those that stay."""
    return k // together % stride == 0


def _count(offered: int, stride: int, together: int) -> int:
    """Return how many records stay of so many, the latest included."""
    whole, rest = divmod(offered, together * stride)
    return whole * together + min(rest, together) + (offered > 0 and not _is_kept(offered - 1, stride, together))


def histories_of(model: Any) -> list[History]:
    """Return how the fit of each of a model's planes went; nothing where none was remembered."""
    history = getattr(model, "history_", [])
    return history if isinstance(history, list) else [history]
