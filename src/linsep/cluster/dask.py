"""Dask: partitions as futures on its workers, one task a worker and round."""

from __future__ import annotations

import glob
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from typing import Any

import numpy as np

try:
    import dask
    import dask.array as da
    from dask.delayed import Delayed
    from dask.utils import is_dataframe_like, is_series_like
    from distributed import Client, Future, default_client, get_worker, wait
    from distributed.protocol.pickle import dumps, loads
except ImportError as error:  # pragma: no cover - told by a test in a process of its own
    raise ImportError("linsep.dask needs Dask: pip install 'linsep[dask]'") from error

from .. import estimators as single
from .._core import at_most_threads
from ..certificates.outcome import Verification
from ..data.encoding import is_number
from ..persistence.verification import verify as verify_arrays
from .checking import verify_parts
from .estimators import OnCollections, WithProbabilities
from .fitting import as_part, learn, summary
from .parts import Answer, Part, Seat, Summary, joined, work
from .tables import Piece, encode, piece_of, recipe_of
from .tree import Nodes, merged, root

__all__ = ["LeastSquaresClassifier", "LinearSVC", "LogisticRegression", "verify"]

#: Answers of so many workers come to the client; of more, workers join them first.
FAN = 8
#: Seconds after which somebody looks whether the worker is still there.
PATIENCE = 1.0
#: What a call may say of a worker that was lost; a RuntimeError of distributed's own begins with these words.
LOST, LOST_WORDS = (OSError, RuntimeError, CancelledError), "Worker holding Actor was lost"


# -- collections ------------------------------------------------------------------------------------------------------


def is_collection(X: Any) -> bool:
    """Whether X is a Dask array or DataFrame, a list of delayed partitions, or a path of Parquet files."""
    some = isinstance(X, list) and len(X) > 0 and all(isinstance(one, Delayed | Future) for one in X)
    return some or dask.is_dask_collection(X) or isinstance(X, str | os.PathLike)


def fit(model: Any, X: Any, y: Any, sample_weight: Any = None, **asked: Any) -> Any:
    """Fit a model on a collection: see `OnCollections.fit`."""
    client = default_client()
    pieces, names = _pieces(X, y, sample_weight)
    if _is_table(X, names):
        tables = DaskTables(client, [dask.delayed(_piece)(k, *piece) for k, piece in enumerate(pieces)])
        recipe = encode(tables)
        learn(model, *tables.parts(recipe), names=recipe.encoding.names, **asked)
        model.encoding_ = recipe.encoding
        return model
    engine, summaries = DaskEngine.of(client, pieces)
    learn(model, engine, summaries, names=names, **asked)
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    return model


def verify(
    model_or_path: Any, X: Any, y: Any, sample_weight: Any = None, *, time_limit: float | None = None
) -> Verification:
    """Check what is proven of a model from a collection, as `linsep.verify` does from arrays.

    By sums over the partitions, where they are: see `linsep.cluster.checking`.

    Parameters
    ----------
    model_or_path : fitted estimator or path of a model file
    X, y, sample_weight
        What the model was fitted on: collections, or what `linsep.verify` takes.
    time_limit : float, optional
        As for `linsep.verify`.
    """
    if not is_collection(X):
        return verify_arrays(model_or_path, X, y, sample_weight, time_limit=time_limit)
    client, (pieces, names) = default_client(), _pieces(X, y, sample_weight)
    if _is_table(X, names):
        tables = DaskTables(client, [dask.delayed(_piece)(k, *piece) for k, piece in enumerate(pieces)])
        engine, summaries = tables.parts(recipe_of(model_or_path, tables))
    else:
        engine, summaries = DaskEngine.of(client, pieces)
    return verify_parts(model_or_path, engine, summaries, time_limit=time_limit)


def _pieces(X: Any, y: Any, weight: Any) -> tuple[list[tuple[Any, Any, Any]], list[str] | None]:
    """Return what partitions are made of, (X, y, weights) each, and the names of the columns."""
    if isinstance(X, str | os.PathLike):
        return _of_files(X, y, weight)
    rows = _delayed(X)
    names = list(X.columns) if _is_frame(X) else None
    labels, weights = _alongside(y, X, len(rows), "y"), None
    if weight is not None:
        weights = _alongside(weight, X, len(rows), "sample_weight")
    return list(zip(rows, labels, weights or [None] * len(rows), strict=True)), names


def _of_files(path: str | os.PathLike[str], target: Any, weight: Any) -> tuple[list[tuple[Any, Any, Any]], list[str]]:
    """Return a partition a file, which the workers read."""
    import pyarrow.parquet as parquet

    files = _files(path)
    columns = parquet.read_schema(files[0]).names
    for name in [target, *([] if weight is None else [weight])]:
        if not isinstance(name, str) or name not in columns:
            raise ValueError(
                f"{files[0]} has no column {name!r}: where X is a path, y and sample_weight name its columns"
            )
    features = [name for name in columns if name not in (target, weight)]
    read = dask.delayed(_read_file, pure=True)
    tables = [read(file, (*features, target, *([] if weight is None else [weight]))) for file in files]
    pick = dask.delayed(_column, pure=True)
    labels = [pick(table, (target,)) for table in tables]
    weights = [None if weight is None else pick(table, (weight,)) for table in tables]
    rows = [pick(table, tuple(features)) for table in tables]
    return list(zip(rows, labels, weights, strict=True)), features


def _files(path: str | os.PathLike[str]) -> list[str]:
    given = os.fspath(path)
    files = sorted(glob.glob(given)) if glob.has_magic(given) else _in_folder(given)
    if not files:
        raise FileNotFoundError(
            f"{given}: no such file; give a Parquet file, a folder, or a pattern such as 'data/*.parquet'"
        )
    return files


def _in_folder(path: str) -> list[str]:
    return sorted(glob.glob(os.path.join(path, "*.parquet"))) if os.path.isdir(path) else [path] * os.path.exists(path)


def _read_file(file: str, columns: tuple[str, ...]) -> Any:
    import pyarrow.parquet as parquet

    return parquet.read_table(file, columns=list(columns)).to_pandas()


def _column(table: Any, names: tuple[str, ...]) -> Any:
    return table[list(names)] if len(names) > 1 else table[names[0]]


def _is_frame(X: Any) -> bool:
    return bool(is_dataframe_like(X) and dask.is_dask_collection(X))


def _delayed(X: Any) -> list[Any]:
    """Return the partitions of a collection, or of a list as they are."""
    if isinstance(X, list):
        return X
    if isinstance(X, da.Array):
        if X.ndim == 2 and len(X.chunks[1]) > 1:
            X = X.rechunk({1: -1})
        return list(X.to_delayed(optimize_graph=True).ravel())
    if hasattr(X, "to_delayed"):
        return list(X.to_delayed())
    raise TypeError(
        f"{type(X).__name__} is no collection with partitions: give an array, a DataFrame or a list of delayed"
    )


def _is_table(X: Any, names: list[str] | None) -> bool:
    """Whether a table has columns that are no numbers, which are to be encoded."""
    if isinstance(X, str | os.PathLike):
        import pyarrow.parquet as parquet

        schema = parquet.read_schema(_files(X)[0])
        return not all(is_number(schema.field(name).type) for name in names or ())
    if not _is_frame(X):
        return False
    from pandas.api.types import is_numeric_dtype

    return not all(is_numeric_dtype(kind) for kind in X.dtypes)


def _piece(k: int, X: Any, y: Any, weight: Any) -> Piece:
    """Return a partition of a table."""
    return piece_of(k, X, _plain(y), None if weight is None else _plain(weight))


def _alongside(values: Any, X: Any, count: int, name: str) -> list[Any]:
    """Return labels or weights in the partitions of X."""
    rows = X.chunks[0] if isinstance(X, da.Array) else None
    if isinstance(values, np.ndarray) and rows is not None and not np.isnan(sum(rows)):
        values = da.from_array(values, chunks=(rows,))
    if isinstance(values, da.Array) and rows is not None and values.chunks[0] != rows:
        known = not np.isnan(sum(rows)) and not np.isnan(sum(values.chunks[0]))
        if known and sum(values.chunks[0]) == sum(rows):
            values = values.rechunk({0: rows})
        elif known:
            raise ValueError(f"X has {sum(rows)} rows, {name} has {sum(values.chunks[0])}: give one for each")
    if not is_collection(values):
        raise TypeError(f"{name} must be a collection as X is, partitioned alike; it is {type(values).__name__}")
    found = _delayed(values)
    if len(found) != count:
        raise ValueError(f"X has {count} partitions, {name} has {len(found)}: partition both alike")
    return found


def mapped(method: Callable[[Any], Any], X: Any, *, dtype: Any, columns: int | None = None) -> Any:
    """Return a collection of what the method makes of each partition."""
    if isinstance(X, da.Array):
        like = np.empty((0,) if columns is None else (0, columns), dtype=dtype)
        if columns is None:
            return X.rechunk({1: -1}).map_blocks(method, drop_axis=1, dtype=dtype, meta=like)
        return X.rechunk({1: -1}).map_blocks(method, chunks=(X.chunks[0], (columns,)), dtype=dtype, meta=like)
    if isinstance(X, list):
        return [dask.delayed(method)(one) for one in X]
    if _is_frame(X):
        return X.map_partitions(_Framed(method), meta=_Framed(method)(X._meta))
    raise TypeError("predictions of a path: read it first, e.g. dask.dataframe.read_parquet(path)")


class _Framed:
    """A method whose values keep the index of the table they were made of."""

    def __init__(self, method: Callable[[Any], Any]) -> None:
        self.method = method

    def __call__(self, X: Any) -> Any:
        import pandas

        values = self.method(X)
        kind = pandas.Series if values.ndim == 1 else pandas.DataFrame
        return kind(values, index=X.index)


def accuracy(predicted: Any, y: Any, sample_weight: Any = None) -> Any:
    """Return the share of labels that are predicted right, not yet computed."""
    if isinstance(predicted, list):
        weights = [None] * len(predicted) if sample_weight is None else sample_weight
        hits = [dask.delayed(_hits)(*each) for each in zip(predicted, y, weights, strict=True)]
        return dask.delayed(_share)(hits)
    right = predicted == y
    if sample_weight is None:
        return right.mean()
    return (right * sample_weight).sum() / sample_weight.sum()


def _hits(predicted: Any, y: Any, weight: Any) -> tuple[float, float]:
    s = np.ones(len(predicted)) if weight is None else np.asarray(weight)
    return float(s @ (np.asarray(predicted) == np.asarray(y))), float(s.sum())


def _share(hits: list[tuple[float, float]]) -> float:
    return sum(right for right, _ in hits) / sum(total for _, total in hits)


# -- the engine -------------------------------------------------------------------------------------------------------


class DaskEngine:
    """Partitions as futures; a job goes to all those of a worker at once, and its answer comes straight back.

    An actor on each worker holds its partitions: a call takes 2 ms, where a task and its result go six times between
    client, scheduler and worker. Where one is lost, or there are many, tasks do it: the scheduler sees to it that the
    partitions are there, made again where they must, and workers join each other's answers.
    """

    name = "Dask"
    dumps = staticmethod(dumps)

    def __init__(self, client: Client, parts: Sequence[Any]) -> None:
        self.client, self.parts = client, list(parts)
        self._holders: list[Any] | None = None
        self._seated = False  # whether they have heard where their partitions stand among all

    @classmethod
    def of(cls, client: Client, pieces: Sequence[tuple[Any, Any, Any]]) -> tuple[DaskEngine, list[Summary]]:
        """Let the workers read the partitions; return them and what they say of them."""
        read = dask.delayed(_read, pure=False)
        return cls.made(client, client.compute([read(k, *piece) for k, piece in enumerate(pieces)]))

    @classmethod
    def made(cls, client: Client, parts: Sequence[Future]) -> tuple[DaskEngine, list[Summary]]:
        """Return partitions that workers make, and what they say of them."""
        engine = cls(client, parts)
        return engine, engine._summaries()

    def _summaries(self) -> list[Summary]:
        """Return what each partition is like; raise what went wrong with one."""
        wait(self.parts)
        for part in self.parts:
            if part.status == "error":
                part.result()
        try:
            groups = self._held_together()
            if len(groups) <= FAN:
                holders = self._made(groups)
                calls = [(holder, holder.look()) for holder in holders]
                found = {k: one for call in calls for k, one in _answer(*call).items()}
                self._holders = holders
                return [found[k] for k in range(len(self.parts))]
        except LOST as error:
            _raise_if_not_lost(error)  # tasks wait until somebody has made the partitions again
        return list(self.client.gather([self.client.submit(_look, part, pure=False) for part in self.parts]))

    def run(self, sent: bytes, seats: Sequence[Seat]) -> tuple[Answer, int]:
        """Let workers do a job on their partitions, and join their answers."""
        try:
            if self._holders is None:
                groups = self._held_together()
                if len(groups) > FAN:
                    return self._by_tasks(sent, seats, groups)
                self._holders, self._seated = self._made(groups), False
            calls = [(holder, holder.work(sent, None if self._seated else seats)) for holder in self._holders]
            self._seated = True
            return joined([_answer(*call) for call in calls], len(seats)), len(calls)
        except LOST as error:
            _raise_if_not_lost(error)
            self._holders = None
            return self._by_tasks(sent, seats, self._held_together())

    def _held_together(self) -> list[tuple[str, list[int]]]:
        """Return the workers, and the numbers of the partitions that each holds; "" of those that nobody does."""
        holders, held = self.client.who_has(self.parts), defaultdict[str, list[int]](list)
        for k, part in enumerate(self.parts):
            who = holders.get(part.key) or ("",)
            held[min(who, key=lambda one: (len(held[one]), one))].append(k)
        return [(who, group) for who, group in held.items() if group]

    def _made(self, groups: list[tuple[str, list[int]]]) -> list[Any]:
        """Return an actor on each worker with the partitions that are there."""
        futures = [
            self.client.submit(
                _Holder,
                group,
                [self.parts[k] for k in group],
                actor=True,
                workers=[who] if who else None,
                allow_other_workers=True,
            )
            for who, group in groups
        ]
        return list(self.client.gather(futures))

    def _of(self, group: list[int], seats: Sequence[Seat]) -> tuple[list[Seat], list[Any], int]:
        return [seats[k] for k in group], [self.parts[k] for k in group], len(seats)

    def _by_tasks(self, sent: bytes, seats: Sequence[Seat], groups: list[tuple[str, list[int]]]) -> tuple[Answer, int]:
        """Do a job by tasks, which workers that die or come do not trouble."""
        futures = [self.client.submit(_work, sent, *self._of(group, seats), pure=False) for _, group in groups]
        while len(futures) > FAN:
            some = [futures[i : i + FAN] for i in range(0, len(futures), FAN)]
            futures = [self.client.submit(joined, each, len(seats), pure=False) for each in some]
        return joined(self.client.gather(futures), len(seats)), len(groups)

    def part(self, k: int) -> Part:
        """Return one partition."""
        found: Part = self.parts[k].result()
        return found


class DaskTables:
    """Partitions of a table, which workers hold while it is looked at, and make again where they must."""

    name = "Dask"

    def __init__(self, client: Client, pieces: Sequence[Delayed]) -> None:
        self.client, self._held = client, client.compute(list(pieces))

    def ask(self, task: Callable[[int, Piece], Any]) -> Any:
        """Return the sum of what a task gives of every partition."""
        sent, leaves = dumps(task), len(self._held)
        found = [self.client.submit(_asked, sent, k, piece, pure=False) for k, piece in enumerate(self._held)]
        while len(found) > FAN:
            some = [found[i : i + FAN] for i in range(0, leaves, FAN)]
            found = [self.client.submit(merged, *each, leaves=leaves, pure=False) for each in some if each]
        return root(merged(*self.client.gather(found), leaves=leaves))

    def parts(self, make: Callable[[int, Piece], Part]) -> tuple[DaskEngine, list[Summary]]:
        """Let the workers make examples of the partitions."""
        sent = dumps(make)
        parts = [self.client.submit(_from_piece, sent, k, piece, pure=False) for k, piece in enumerate(self._held)]
        return DaskEngine.made(self.client, parts)


def _asked(sent: bytes, k: int, piece: Piece) -> Nodes:
    with at_most_threads(get_worker().state.nthreads):
        return {(0, k): loads(sent)(k, piece)}


def _from_piece(sent: bytes, k: int, piece: Piece) -> Part:
    found: Part = loads(sent)(k, piece)
    return found


class _Holder:
    """The partitions of a worker."""

    def __init__(self, numbers: Sequence[int], parts: Sequence[Part]) -> None:
        self.numbers, self.parts, self.threads = numbers, parts, get_worker().state.nthreads
        self.seats, self.leaves = list[Seat](), 0

    def look(self) -> dict[int, Summary]:
        """Return what they are like, by their numbers."""
        return {k: summary(part) for k, part in zip(self.numbers, self.parts, strict=True)}

    def work(self, sent: bytes, seats: Sequence[Seat] | None) -> Answer:
        """Do a job on them; the first time, hear where all partitions stand."""
        if seats is not None:
            self.seats, self.leaves = [seats[k] for k in self.numbers], len(seats)
        with at_most_threads(self.threads):
            return work(sent, self.seats, self.parts, self.leaves)


def _raise_if_not_lost(error: BaseException) -> None:
    """Raise what went wrong in a task of ours: that another try would end as well."""
    if isinstance(error, RuntimeError) and not str(error).startswith(LOST_WORDS):
        raise error


def _answer(holder: Any, call: Any) -> Any:
    """Return what an actor answers; raise where it is there no more, which a call need not hear of."""
    while True:
        try:
            return call.result(timeout=PATIENCE)
        except TimeoutError:
            if holder._future.status != "finished":
                raise OSError("a worker was lost") from None


def _work(sent: bytes, seats: Sequence[Seat], parts: Sequence[Part], leaves: int) -> Answer:
    with at_most_threads(get_worker().state.nthreads):
        return work(sent, seats, parts, leaves)


def _read(k: int, X: Any, y: Any, weight: Any) -> Part:
    return as_part(k, _plain(X), _plain(y), _plain(weight))


def _plain(values: Any) -> Any:
    """Return a table's numbers."""
    return values.to_numpy() if is_dataframe_like(values) or is_series_like(values) else values


def _look(part: Part) -> Summary:
    return summary(part)


# -- the estimators ---------------------------------------------------------------------------------------------------


class LogisticRegression(WithProbabilities, single.LogisticRegression):
    """`linsep.LogisticRegression` on Dask collections."""

    engine = sys.modules[__name__]


class LinearSVC(OnCollections, single.LinearSVC):
    """`linsep.LinearSVC` on Dask collections; nothing is said of single examples (``support_`` and the like)."""

    engine = sys.modules[__name__]


class LeastSquaresClassifier(OnCollections, single.LeastSquaresClassifier):
    """`linsep.LeastSquaresClassifier` on Dask collections."""

    engine = sys.modules[__name__]
