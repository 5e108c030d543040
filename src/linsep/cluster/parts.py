"""What a worker does: a task on each partition that it holds, and the numbers of every example that tasks leave there.

A pass may write a number for each example, such as its dual variable, which a later one reads. It stays beside its
partition and never travels. It follows from the task that wrote it, which the client keeps: where a worker has died, or
a partition was moved, the task is run again on that partition, to the same bits.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.types import FloatArray, IntArray
from .._core import Rows
from ..objective.examples import Block
from .tree import Nodes, merged


class Part:
    """A partition where it is: its rows, the number of each label among its own, its weights, and what tasks left."""

    def __init__(self, X: Any, labels: NDArray[Any], codes: IntArray, weight: FloatArray | None) -> None:
        self.rows, self.labels, self.codes, self.weight = Rows(X), labels, codes, weight
        self._block: tuple[Seat, Block] | None = None
        #: What tasks wrote, by the number of the task and the name of the vector.
        self.left: dict[int, dict[str, FloatArray]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.rows.X, self.labels, self.codes, self.weight)

    def __sizeof__(self) -> int:
        X = self.rows.X
        parts = [X.data, X.indices, X.indptr] if self.rows.is_sparse else [X]
        return sum(part.nbytes for part in (*parts, self.codes, *([] if self.weight is None else [self.weight])))

    @property
    def n(self) -> int:
        """How many rows it has."""
        return self.rows.n

    def block(self, seat: Seat) -> Block:
        """Return it as the solvers see it."""
        if self._block is None or self._block[0] != seat:
            codes = np.asarray(seat.codes, dtype=np.int64)[self.codes]
            self._block = seat, Block(seat.first, self.rows, codes, self.weight)
        return self._block[1]


@dataclass(frozen=True)
class Seat:
    """Where a partition stands among all: its number, that of its first row, and those of its labels."""

    k: int
    first: int
    codes: tuple[int, ...]


@dataclass(frozen=True)
class Summary:
    """What a client hears of a partition: sizes, its labels, and of each label how many, Σ ‖x‖² and Σ s."""

    n: int
    d: int
    stored: int
    sparse: bool
    labels: NDArray[Any]
    counts: IntArray
    squares: FloatArray
    totals: FloatArray
    weighted: bool
    names: tuple[str, ...] | None = None


class MissingError(Exception):
    """A worker lacks what an earlier task has left."""


class _Desk:
    """What the task on one partition, whose examples these are, may read, and has written."""

    def __init__(self, which: slice, read: Mapping[str, FloatArray]) -> None:
        self.first, self.n = which.start, which.stop - which.start
        self.read, self.written = read, dict[str, FloatArray]()

    def among(self, which: slice) -> slice:
        """Return which of the partition's own examples some of all are."""
        return slice(which.start - self.first, which.stop - self.first)


_desk: ContextVar[_Desk] = ContextVar("desk")


@dataclass(frozen=True)
class Vector:
    """A number for each example, kept where its partition is: tasks read and write it there, nobody else can."""

    name: str

    def read(self, which: slice) -> FloatArray:
        """Return those of the partition, or of a piece of it; zeros, if none were written."""
        desk = _desk.get()
        found = desk.read.get(self.name)
        return np.zeros(which.stop - which.start) if found is None else found[desk.among(which)].copy()

    def write(self, which: slice, values: FloatArray) -> None:
        """Change those of the partition, or of a piece of it, for the tasks that follow."""
        desk = _desk.get()
        if self.name not in desk.written:
            desk.written[self.name] = np.zeros(desk.n)
        desk.written[self.name][desk.among(which)] = values


@dataclass(frozen=True)
class Job:
    """A task for every partition.

    Attributes
    ----------
    number : int
        What it writes is known by.
    task : callable
        Gives of a block what is to be added up.
    reads : dict
        The vectors that there are: each one's name, and the number of the job that wrote it.
    again : dict
        Jobs that wrote them, by their numbers and as they were sent, for whoever lacks what they left.
    """

    number: int
    task: Callable[[Block], Any]
    reads: Mapping[str, int]
    again: Mapping[int, bytes] = field(default_factory=dict)

    def run(self, part: Part, seat: Seat) -> Any:
        """Return what the task gives, and leave beside the partition what it writes."""
        part.left = {number: left for number, left in part.left.items() if number in self.reads.values()}
        return self._done(part, seat, self.again)

    def _done(self, part: Part, seat: Seat, again: Mapping[int, bytes]) -> Any:
        for number in set(self.reads.values()) - set(part.left):
            if number not in again:
                raise MissingError
            earlier: Job = pickle.loads(again[number])
            earlier._done(part, seat, again)
        block = part.block(seat)
        desk = _Desk(block.which, {name: part.left[number][name] for name, number in self.reads.items()})
        token = _desk.set(desk)
        try:
            found = self.task(block)
        finally:
            _desk.reset(token)
        if desk.written:
            part.left[self.number] = desk.written
        return found


@dataclass(frozen=True)
class Answer:
    """What a job has given: sums, which vectors it wrote, and whether somebody lacked one."""

    nodes: Nodes
    wrote: frozenset[str] = frozenset()
    missing: bool = False


def work(sent: bytes, seats: Sequence[Seat], parts: Sequence[Part], leaves: int) -> Answer:
    """Do a job on some partitions of so many; rows of none add nothing."""
    job: Job = pickle.loads(sent)
    nodes, wrote = Nodes(), frozenset[str]()
    for seat, part in zip(seats, parts, strict=True):
        try:
            found = job.run(part, seat) if part.n else None
        except MissingError:
            return Answer({}, missing=True)
        wrote |= frozenset(part.left.get(job.number, ()))
        nodes = merged(nodes, {(0, seat.k): found}, leaves=leaves)
    return Answer(nodes, wrote)


def joined(answers: Sequence[Answer], leaves: int) -> Answer:
    """Return what several workers answered as one answer."""
    if any(answer.missing for answer in answers):
        return Answer({}, missing=True)
    wrote = frozenset[str]().union(*(answer.wrote for answer in answers))
    return Answer(merged(*(answer.nodes for answer in answers), leaves=leaves), wrote)
