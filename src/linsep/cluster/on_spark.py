"""Partitions on Spark's executors: files beside tokens in a cached RDD, and the rounds that go to where these are.

Beside its file each partition leaves a token in a cached RDD. By it Spark knows where the file is, sends the round's
task there, and computes token and file again where an executor was lost.
"""

from __future__ import annotations

import gc
import hashlib
import os
import pickle
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
import pyarrow
from py4j.protocol import Py4JJavaError
from pyspark import StorageLevel, TaskContext, cloudpickle
from pyspark.sql import DataFrame

from .._core import at_most_threads
from .columns import Features, batches_of, values_of
from .fitting import PartitionError, as_part, summary
from .kept import PART, mapped, remove, store, work_on
from .parts import Answer, Part, Seat, Summary, joined
from .tables import Piece, Recipe, piece_of
from .tree import Nodes, merged, root

S = TypeVar("S")

#: Answers of so many tasks come to the driver; of more, executors join them first.
FAN = 8
#: A round is tried so many times: in local mode Spark itself gives up when one process dies.
TRIES = 4


@dataclass(frozen=True)
class _Token:
    """What a partition leaves in Spark's cache: its number, its folder, what it is like, or what is wrong with it."""

    k: int
    folder: Path
    said: Summary | str
    digest: bytes


class Blocks:
    """The rows of a DataFrame on the executors: see `blocks`."""

    def __init__(self, table: DataFrame, features: Features | None, made_by: Callable[..., Part]) -> None:
        self.table, self.features, self._made_by = table, features, made_by
        self._dense: bool | None = None
        self.digests: tuple[bytes, ...] = ()
        self.summaries = self._computed()
        kinds = {one.sparse for one in self.summaries if one.n}
        if len(kinds) > 1:  # partitions of sparse vectors and of dense ones: all as most numbers want it
            self.unpersist()
            stored = sum(one.stored for one in self.summaries)
            self._dense, self.digests = 4 * stored > sum(one.n * one.d for one in self.summaries), ()
            self.summaries = self._computed()

    def _computed(self) -> list[Summary]:
        """Let the executors write their partitions, and hear of them."""
        make = _Made(uuid.uuid4().hex, partial(self._made_by, dense=self._dense))
        self._tokens = self.table.mapInArrow(make, "token binary").rdd.persist(StorageLevel.MEMORY_AND_DISK)
        cores = self._tokens.context.defaultParallelism
        tokens = sorted(map(_token, _tried(self._tokens.collect)), key=lambda one: one.k)
        few = self._tokens.getNumPartitions() <= cores
        self.by_core = self._tokens if few else self._tokens.coalesce(cores)
        for one in tokens:
            if isinstance(one.said, str):
                self.unpersist()
                raise PartitionError(one.said)
        digests = tuple(one.digest for one in tokens)
        if self.digests not in ((), digests):
            raise ValueError(CHANGED)
        self.digests = digests
        return [one.said for one in tokens if isinstance(one.said, Summary)]

    @property
    def encoding(self) -> Any:
        """How columns that are no numbers became features; None where all are numbers as they are."""
        return self._made_by.recipe.encoding if isinstance(self._made_by, _OfPieces) else None

    def again(self) -> None:
        """Make what was lost again, on other executors."""
        self.unpersist()
        self._computed()

    def part(self, k: int) -> Part:
        """Return one partition."""
        context = self._tokens.context
        found: list[bytes] = _tried(lambda: context.runJob(self._tokens, _sent, [k]))
        part: Part = pickle.loads(found[0])
        return part

    def clear(self, fit: str) -> None:
        """Remove what the tasks of a fit have left."""
        self.by_core.foreach(partial(_cleared, fit))

    def unpersist(self) -> None:
        """Let the executors forget the rows."""
        self.by_core.foreach(partial(_cleared, None))
        self._tokens.unpersist()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.unpersist()


CHANGED = (
    "partitions were computed again and are not what they were: let the DataFrame be the same each time "
    "(write it to files and read these, or localCheckpoint it)"
)


def _token(row: Any) -> _Token:
    found: _Token = pickle.loads(row.token)
    return found


def _cleared(fit: str | None, row: Any) -> None:
    folder = _token(row).folder
    remove(folder if fit is None else folder / fit)


def _sent(rows: Iterable[Any]) -> list[bytes]:
    return [pickle.dumps(mapped(_token(row).folder / PART)) for row in rows]


class _Made:
    """Writes a partition into the folder of its executor."""

    def __init__(self, name: str, make: Callable[[int, dict[str, list[Any]]], Part]) -> None:
        self.name, self.make = name, make

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        k = TaskContext.get().partitionId()
        folders = os.environ["SPARK_LOCAL_DIRS"].split(",")
        folder = Path(folders[k % len(folders)]) / f"linsep-{self.name}" / str(k)
        try:
            part = self.make(k, batches_of(batches))
            store(folder / PART, part)
            said: Summary | str = summary(part)
        except ValueError as error:
            said = str(error) if isinstance(error, PartitionError) else f"partition {k}: {error}"
        digest = hashlib.sha256(pickle.dumps(said)).digest()
        token = pickle.dumps(_Token(k, folder, said, digest))
        yield pyarrow.RecordBatch.from_pydict({"token": [token]})


@dataclass(frozen=True)
class OfFeatures:
    """Makes a partition of a column of features, of labels and of weights."""

    features: Features

    def __call__(self, k: int, columns: dict[str, list[Any]], *, dense: bool | None = None) -> Part:
        """Return partition k."""
        if not columns:
            return as_part(k, np.empty((0, 1)), np.empty(0))
        X = self.features.rows(columns["features"], dense=dense)
        return as_part(k, X, *_labels_and_weights(columns))


def _labels_and_weights(columns: dict[str, list[Any]]) -> tuple[Any, Any]:
    weight = values_of(columns["weight"], "the weight") if "weight" in columns else None
    return values_of(columns["label"], "the label"), weight


# -- tables -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PieceOf:
    """Makes a piece of a table of its features, labels and weights; None of a partition without rows."""

    features: Features

    def __call__(self, k: int, columns: dict[str, list[Any]]) -> Piece | None:
        """Return piece k."""
        if not columns:
            return None
        return piece_of(k, self.features.table(columns["features"]), *_labels_and_weights(columns))


@dataclass(frozen=True)
class OfFiles:
    """Reads the piece of a partition's number, whatever rows the partition has."""

    read: Callable[[int], Piece]

    def __call__(self, k: int, columns: dict[str, list[Any]]) -> Piece | None:
        """Return piece k."""
        return self.read(k)


@dataclass(frozen=True)
class _OfPieces:
    """Makes a partition of a piece, by a recipe."""

    piece_of: Callable[[int, dict[str, list[Any]]], Piece | None]
    recipe: Recipe

    def __call__(self, k: int, columns: dict[str, list[Any]], *, dense: bool | None = None) -> Part:
        piece = self.piece_of(k, columns)
        return as_part(k, np.empty((0, 1)), np.empty(0)) if piece is None else self.recipe(k, piece)


class SparkTables:
    """Partitions of a DataFrame, computed by the executors each time something is asked of them."""

    name = "Spark"

    def __init__(self, table: DataFrame, made_by: Callable[[int, dict[str, list[Any]]], Piece | None]) -> None:
        self.table, self.made_by = table, made_by

    def ask(self, task: Callable[[int, Piece], Any]) -> Any:
        """Return the sum of what a task gives of every partition."""
        asked = _Asked(task, self.made_by)
        found = self.table.mapInArrow(asked, "found binary").rdd.map(lambda row: pickle.loads(row.found))
        leaves = found.getNumPartitions()
        each = _tried(found.collect) if leaves <= FAN else [_tried(lambda: found.treeReduce(partial(_said, leaves)))]
        for one in each:
            if isinstance(one, str):
                raise PartitionError(one)
        return root(merged(*each, leaves=leaves))

    def blocks(self, recipe: Recipe, features: Features | None = None) -> Blocks:
        """Keep the rows on the executors as the recipe makes them."""
        return Blocks(self.table, features, _OfPieces(self.made_by, recipe))

    def parts(self, make: Recipe) -> tuple[SparkEngine, list[Summary]]:
        """Let the executors make examples of the partitions."""
        kept = self.blocks(make)
        return SparkEngine(kept), kept.summaries


def _said(leaves: int, one: Nodes | str, other: Nodes | str) -> Nodes | str:
    if isinstance(one, str) or isinstance(other, str):
        return one if isinstance(one, str) else other
    return merged(one, other, leaves=leaves)


class _Asked:
    """What a task gives of a partition, or what is wrong with it."""

    def __init__(self, task: Callable[[int, Piece], Any], made_by: Callable[..., Piece | None]) -> None:
        self.task, self.made_by = task, made_by

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        k = TaskContext.get().partitionId()
        try:
            piece = self.made_by(k, batches_of(batches))
            with at_most_threads(TaskContext.get().cpus()):
                found: Nodes | str = {(0, k): None if piece is None else self.task(k, piece)}
        except ValueError as error:
            found = str(error) if isinstance(error, PartitionError) else f"partition {k}: {error}"
        yield pyarrow.RecordBatch.from_pydict({"found": [cloudpickle.dumps(found)]})


# -- the engine -------------------------------------------------------------------------------------------------------


class SparkEngine:
    """Blocks on the executors; a job is one task a core, which goes to where its partitions' tokens are cached."""

    name = "Spark"
    dumps = staticmethod(cloudpickle.dumps)

    def __init__(self, of: Blocks) -> None:
        self.blocks, self.fit, self.wrote = of, uuid.uuid4().hex, False

    def run(self, sent: bytes, seats: Sequence[Seat]) -> tuple[Answer, int]:
        """Let executors do a job on their partitions, and join their answers."""
        work = _Work(self.fit, sent, tuple(seats), self.blocks.digests)
        answer = _tried(lambda: self._answer(work))
        if answer is None:
            self.blocks.again()
            answer = _tried(lambda: self._answer(work))
        if answer is None:
            raise RuntimeError("the files of partitions vanish from the executors' folders as soon as they are written")
        self.wrote |= bool(answer.wrote)
        return answer, self.blocks.by_core.getNumPartitions()

    def _answer(self, work: _Work) -> Answer | None:
        """Return what all tasks give together; None, if an executor lacks files, or has others."""
        answers = self.blocks.by_core.mapPartitions(work)
        both = partial(_both, len(work.seats))
        found = answers.collect() if answers.getNumPartitions() <= FAN else [answers.treeReduce(both)]
        return None if any(one is None for one in found) else joined(found, len(work.seats))

    def part(self, k: int) -> Part:
        """Return one partition."""
        return self.blocks.part(k)

    def close(self) -> None:
        """Remove what the tasks have left."""
        if self.wrote:
            self.blocks.clear(self.fit)


def _both(leaves: int, one: Answer | None, other: Answer | None) -> Answer | None:
    return None if one is None or other is None else joined([one, other], leaves)


@dataclass(frozen=True)
class _Work:
    """A round's task."""

    fit: str
    sent: bytes
    seats: tuple[Seat, ...]
    digests: tuple[bytes, ...]

    def __call__(self, rows: Iterable[Any]) -> list[Answer | None]:
        tokens = [_token(row) for row in rows]
        if not all((one.folder / PART).exists() and one.digest == self.digests[one.k] for one in tokens):
            return [None]
        with at_most_threads(TaskContext.get().cpus()):
            seats = [self.seats[one.k] for one in tokens]
            answer = work_on([one.folder for one in tokens], self.fit, self.sent, seats, len(self.seats))
        _settle()
        return [answer]


_loaded = 0


def _settle() -> None:
    """Keep the collector off the modules that were loaded: Spark lets it go over everything after each task."""
    global _loaded
    if len(sys.modules) != _loaded:
        gc.collect()
        gc.freeze()
        _loaded = len(sys.modules)


def _tried(job: Callable[[], S]) -> S:
    """Return what a job gives, tried again where a process of Python has died under it."""
    for left in range(TRIES - 1, -1, -1):
        try:
            return job()
        except Py4JJavaError as error:
            if not left or "Python worker exited unexpectedly" not in str(error):
                raise
    raise AssertionError
