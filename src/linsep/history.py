"""What a run remembers: one record a step, thinned so that memory stays bounded however long the run."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np

from ._types import FloatArray

__all__ = ["History", "Record"]

#: Iterates are large: all that a history keeps of them stays below this many bytes.
ITERATE_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Record:
    """One recorded step.

    `objective` is what the run descends: the mean objective F (see `objective.problem`), or a plain function.
    Numbers that were not measured are NaN. `best` is the objective of the best point so far, the one that would be
    reported; `example` is the one that caused the update, −1 where no single one did; `updates` is how often the loss
    has moved the point so far, where that is counted (for the perceptron, its mistakes).
    """

    step: int
    passes: float
    objective: float
    risk: float = np.nan
    zero_one: float = np.nan
    gradient_norm: float = np.nan
    step_size: float = np.nan
    best: float = np.nan
    example: int = -1
    updates: float = np.nan
    iterate: FloatArray | None = None


COLUMNS = tuple(field.name for field in fields(Record) if field.name != "iterate")


class History:
    """The recorded steps of one run.

    When more than `capacity` records have come, every second one is dropped and from then on only every second
    (fourth, eighth, …) is kept; the first and the latest are always there, and `stride` says how thin it is.

    Parameters
    ----------
    capacity : int
        How many records are kept at the most.

    Attributes
    ----------
    stride : int
        One record in this many was kept.
    solver, reason : str
        Which solver ran, and why it was picked.

    Examples
    --------
    >>> history = History(capacity=4)
    >>> for k in range(10):
    ...     history.add(Record(step=k, passes=k, objective=1 / (k + 1)))
    >>> history["step"], history.stride
    (array([0., 4., 8., 9.]), 4)
    """

    def __init__(self, capacity: int = 10_000) -> None:
        self.capacity = max(2, capacity)
        self.stride = 1
        self.solver = ""
        self.reason = ""
        self._kept: list[Record] = []
        self._offered = 0
        self._latest: Record | None = None

    def add(self, record: Record) -> None:
        """Offer one record."""
        self._latest = record
        if self._offered % self.stride == 0:
            self._kept.append(record)
        self._offered += 1
        if record.iterate is not None:  # two are always kept, the first and the latest
            self.capacity = min(self.capacity, max(2, ITERATE_BYTES // max(1, record.iterate.nbytes)))
        self._thin()

    def _thin(self) -> None:
        while len(self) > self.capacity:
            self._kept = self._kept[::2]
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

    def to_frame(self, backend: Any = "pandas") -> Any:
        """Return the records as a DataFrame of that library (``"pandas"``, ``"polars"`` or ``"pyarrow"``)."""
        import narwhals as nw

        table: dict[str, Any] = {column: self[column] for column in COLUMNS}
        table |= {column: table[column].astype(np.int64) for column in ("step", "example")}
        return nw.from_dict(table, backend=backend).to_native()

    def thinned(self, capacity: int) -> History:
        """Return a copy that keeps fewer records and no word of single examples: no iterates, no causes of updates.

        Examples
        --------
        >>> history = History()
        >>> for k in range(10):
        ...     history.add(Record(step=k, passes=k, objective=1 / (k + 1), example=3))
        >>> few = history.thinned(5)
        >>> few["step"], few["example"], few.offered
        (array([0., 4., 8., 9.]), array([-1., -1., -1., -1.]), 10)
        """
        few = History.of([replace(one, example=-1, iterate=None) for one in self.records], self.stride, self.offered)
        few.capacity, few.solver, few.reason = max(2, min(capacity, self.capacity)), self.solver, self.reason
        few._thin()
        return few

    @classmethod
    def of(cls, records: list[Record], stride: int, offered: int) -> Self:
        """Return the history that kept these records: one in `stride` of those that were offered, and the latest."""
        # One in `stride`, the first included; and the latest, where that is none of these.
        expected = (offered - 1) // stride + 1 + ((offered - 1) % stride > 0) if stride > 0 and offered > 0 else 0
        if stride < 1 or offered < 0 or len(records) != expected:
            raise ValueError(f"{len(records)} records cannot be one in {stride} of {offered}, and the latest")
        made = cls(max(len(records), 10_000))
        made.stride, made._offered = stride, offered
        if records:
            made._latest = records[-1]
            made._kept = records if (offered - 1) % stride == 0 else records[:-1]
        return made

    def __repr__(self) -> str:
        thin = "" if self.stride == 1 else f", one step in {self.stride} kept"
        return f"<History of {self.solver or 'a run'}: {len(self)} records{thin}>"


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


def histories_of(model: Any) -> list[History]:
    """Return how the fit of each of a model's planes went; nothing where none was remembered."""
    history = getattr(model, "history_", [])
    return history if isinstance(history, list) else [history]
