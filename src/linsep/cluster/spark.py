"""Spark: a DataFrame's partitions as files on the executors (see `kept`), one task a core and round.

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

try:
    import pandas
    import pyarrow
    from py4j.protocol import Py4JJavaError
    from pyspark import StorageLevel, TaskContext, cloudpickle
    from pyspark.sql import DataFrame, functions
except ImportError as error:  # pragma: no cover - told by a test in a process of its own
    raise ImportError("linsep.spark needs Spark: pip install 'linsep[spark]', and a Java runtime") from error

from .. import estimators as single
from .._core import at_most_threads
from ..certificates.outcome import Verification
from ..persistence.verification import verify as verify_arrays
from .checking import verify_parts
from .columns import Features, batches_of, label_column, values_of, weight_column
from .estimators import OnCollections, WithProbabilities
from .fitting import PartitionError, as_part, learn, summary
from .kept import PART, remove, store, work_on
from .kept import mapped as mapped_file
from .parts import Answer, Part, Seat, Summary, joined
from .rounds import Round

S = TypeVar("S")

__all__ = ["Blocks", "LeastSquaresClassifier", "LinearSVC", "LogisticRegression", "blocks", "verify"]

#: Answers of so many tasks come to the driver; of more, executors join them first.
FAN = 8
#: A round is tried so many times: in local mode Spark itself gives up when one process dies.
TRIES = 4
#: What the columns are called that predictions add, as in Spark's own models.
COLUMNS = {
    "predict": "prediction",
    "decision_function": "rawPrediction",
    "predict_proba": "probability",
    "predict_log_proba": "logProbability",
}


# -- DataFrames as blocks ---------------------------------------------------------------------------------------------


def blocks(
    df: DataFrame, label: str = "label", weight: str | None = None, *, features: str | Sequence[str] | None = None
) -> Blocks:
    """Keep the rows of a DataFrame on the executors as fits take them, for several fits.

    Parameters
    ----------
    df : DataFrame
        Computed once; where an executor is lost, its partitions are computed again, and must be the same again.
    label : str
        The column of the labels.
    weight : str, optional
        A column that says how much each row counts.
    features : str or list of str, optional
        A column of vectors or arrays, or columns of numbers; without it "features", if there is such a column, else all
        the others.

    Returns
    -------
    Blocks
        For `fit`; release them by `unpersist()` or at the end of a ``with``.
    """
    chosen = Features.of(df, features, [label, *([] if weight is None else [weight])])
    columns = [chosen.column(df), label_column(df, label), *([] if weight is None else [weight_column(df, weight)])]
    return Blocks(df.select(*columns), chosen)


@dataclass(frozen=True)
class _Token:
    """What a partition leaves in Spark's cache: its number, its folder, what it is like, or what is wrong with it."""

    k: int
    folder: Path
    said: Summary | str
    digest: bytes


class Blocks:
    """The rows of a DataFrame on the executors: see `blocks`."""

    def __init__(self, table: DataFrame, features: Features) -> None:
        self.table, self.features = table, features
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
        make = _Made(uuid.uuid4().hex, self.features, self._dense)
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
    return [pickle.dumps(mapped_file(_token(row).folder / PART)) for row in rows]


class _Made:
    """Writes a partition into the folder of its executor."""

    def __init__(self, name: str, features: Features, dense: bool | None) -> None:
        self.name, self.features, self.dense = name, features, dense

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        k = TaskContext.get().partitionId()
        folders = os.environ["SPARK_LOCAL_DIRS"].split(",")
        folder = Path(folders[k % len(folders)]) / f"linsep-{self.name}" / str(k)
        try:
            part = self._part(k, batches_of(batches))
            store(folder / PART, part)
            said: Summary | str = summary(part)
        except ValueError as error:
            said = str(error) if isinstance(error, PartitionError) else f"partition {k}: {error}"
        digest = hashlib.sha256(pickle.dumps(said)).digest()
        token = pickle.dumps(_Token(k, folder, said, digest))
        yield pyarrow.RecordBatch.from_pydict({"token": [token]})

    def _part(self, k: int, columns: dict[str, list[Any]]) -> Part:
        if not columns:
            return as_part(k, np.empty((0, 1)), np.empty(0))
        X = self.features.rows(columns["features"], dense=self.dense)
        weight = values_of(columns["weight"], "the weight") if "weight" in columns else None
        return as_part(k, X, values_of(columns["label"], "the label"), weight)


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


# -- what estimators ask ----------------------------------------------------------------------------------------------


def is_collection(X: Any) -> bool:
    """Whether X is a DataFrame of Spark's, or blocks of one."""
    return isinstance(X, DataFrame | Blocks)


def fit(model: Any, X: Blocks, y: None = None, sample_weight: None = None, **asked: Any) -> Any:
    """Fit a model on blocks: see `OnCollections.fit`."""
    engine = SparkEngine(X)
    names = list(X.features.names) if X.features.kind == "columns" else None
    try:
        learn(model, engine, X.summaries, names=names, **asked)
    finally:
        engine.close()
    model.features_ = X.features
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    return model


def verify(
    model_or_path: Any,
    X: Any,
    label: Any = "label",
    weight: Any = None,
    *,
    features: str | Sequence[str] | None = None,
    time_limit: float | None = None,
) -> Verification:
    """Check what is proven of a model from a DataFrame, as `linsep.verify` does from arrays.

    Partitions come to the driver one after the other, several times, with some ten numbers kept of every row.

    Parameters
    ----------
    model_or_path : fitted estimator or path of a model file
    X, label, weight, features
        What the model was fitted on: a DataFrame and its columns (the model's own, if it knows them), blocks, or what
        `linsep.verify` takes.
    time_limit : float, optional
        As for `linsep.verify`.
    """
    if isinstance(X, DataFrame):
        if features is None and hasattr(model_or_path, "features_"):
            features = model_or_path.features_.names
        with blocks(X, label, weight, features=features) as kept:
            return verify_parts(model_or_path, SparkEngine(kept), kept.summaries, time_limit=time_limit)
    if isinstance(X, Blocks):
        return verify_parts(model_or_path, SparkEngine(X), X.summaries, time_limit=time_limit)
    return verify_arrays(model_or_path, X, label, weight, time_limit=time_limit)


def mapped(method: Any, X: DataFrame, *, dtype: Any, columns: int | None = None) -> DataFrame:
    """Return the DataFrame with a column of what the method makes of each row."""
    kind = {"b": "boolean", "i": "bigint", "u": "bigint", "f": "double"}.get(np.dtype(dtype).kind, "string")
    chosen = Features.of(X, method.model.features_.names)

    def values(table: pandas.DataFrame) -> pandas.Series:
        found = method(chosen.of_pandas(table))
        return pandas.Series(found if found.ndim == 1 else list(found))

    values.__annotations__ = {"table": pandas.DataFrame, "return": pandas.Series}
    made = functions.pandas_udf(values, kind if columns is None else f"array<{kind}>")
    return X.withColumn(COLUMNS[method.name], made(chosen.column(X)))


def accuracy(predicted: DataFrame, y: str, sample_weight: str | None = None) -> float:
    """Return the share of rows whose label is predicted right."""
    right = (functions.col(COLUMNS["predict"]) == label_column(predicted, y)).cast("double")
    s = functions.lit(1.0) if sample_weight is None else weight_column(predicted, sample_weight)
    hits, total = predicted.select(functions.sum(right * s), functions.sum(s)).first()
    return float(hits / total)


# -- the estimators ---------------------------------------------------------------------------------------------------


class _OnDataFrames(OnCollections):
    """fit on a DataFrame, of which columns are named."""

    engine = sys.modules[__name__]

    def fit(
        self,
        X: Any,
        label: Any = "label",
        weight: Any = None,
        *,
        features: str | Sequence[str] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Callable[[Round, float], None] | None = None,
    ) -> Self:
        """Learn from the rows of a DataFrame where they are.

        Parameters
        ----------
        X : DataFrame, or Blocks
            The examples; a DataFrame is kept as `blocks` for this fit.
        label : str
            The column of their labels.
        weight : str, optional
            A column that says how much each counts.
        features : str or list of str, optional
            A column of vectors or arrays, or columns of numbers; without it "features", if there is such a column, else
            all the others.
        checkpoint : path, optional
            A file where the sums of every round are kept. The same fit, begun again, goes on from there, to the same
            bits. It is plain data, and is not deleted.
        progress : callable, optional
            Hears of every round when it is over, and of the relative gap that is proven by then.

        Returns
        -------
        self
        """
        if isinstance(X, DataFrame):
            with blocks(X, label, weight, features=features) as kept:
                return super().fit(kept, checkpoint=checkpoint, progress=progress)
        if features is not None or (isinstance(X, Blocks) and (label != "label" or weight is not None)):
            raise ValueError("label, weight and features would be ignored: they name columns of a DataFrame")
        if isinstance(X, Blocks):
            return super().fit(X, checkpoint=checkpoint, progress=progress)
        return super().fit(X, label, weight, checkpoint=checkpoint, progress=progress)


class LogisticRegression(_OnDataFrames, WithProbabilities, single.LogisticRegression):
    """`linsep.LogisticRegression` on Spark DataFrames."""


class LinearSVC(_OnDataFrames, single.LinearSVC):
    """`linsep.LinearSVC` on Spark DataFrames; nothing is said of single examples (``support_`` and the like)."""


class LeastSquaresClassifier(_OnDataFrames, single.LeastSquaresClassifier):
    """`linsep.LeastSquaresClassifier` on Spark DataFrames."""
