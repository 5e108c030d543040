"""A fit on a cluster, of files that its workers read: `linsep fit --dask` and `linsep fit --spark`."""

from __future__ import annotations

import copy
import glob
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin

from .._common.types import FloatArray, IntArray
from .._common.words import listed, many
from ..analysis.importance import ImportanceSums
from ..certificates.data_hash import PartHash, RowsHash, joined
from ..certificates.outcome import Verification
from ..cluster.checking import verify_parts
from ..cluster.choosing import Choosing
from ..cluster.examples import OnCluster
from ..cluster.fitting import joined_summaries, learn
from ..cluster.rounds import Round
from ..cluster.sessions import Session
from ..cluster.tables import ROOM, Piece, Recipe, encode, schema_of
from ..data.encoding import Circumstances, TableEncoding, from_dict
from ..data.naming import roles
from ..data.readers import Hints, Table, read
from ..data.sources import DataError, Source
from ..history import histories_of
from ..objective.examples import Block, Pieces, Several
from ..solvers.contract import NotInMemoryError
from .checking_streams import of_encoded_rows, of_labelled_rows
from .choosing import GRID, Asked, Choice, class_of, scorer_of
from .labels import check_few, check_labels, labels, question, target_column, with_label
from .preparation import left_out, needs, notes_of
from .reference import Reference
from .request import Request
from .streaming import LOOKED_AT, doubts_of_sample
from .summaries import Facts
from .training import class_weights
from .weighing import OUTCOME, Weighing

#: What workers read: files that know the types of their columns.
FORMATS = ("parquet", "arrow")


@dataclass(frozen=True)
class Outcome:
    """A model, what there is to say of its rows, and what a model file says of them."""

    model: Any
    facts: Facts
    data: dict[str, Any]
    encoding: dict[str, Any]
    choice: Choice | None = None


def files_of(data: str) -> list[str]:
    """Return the files that a name, a folder or a pattern stands for, each of which is a partition.

    Examples
    --------
    >>> files_of("no/such/*.parquet")
    Traceback (most recent call last):
    ...
    linsep.data.sources.DataError: no/such/*.parquet: no such file; give a file, a folder, or a pattern such as ...
    """
    found = sorted(glob.glob(data)) if glob.has_magic(data) and not os.path.exists(data) else [data]
    if os.path.isdir(data):
        found = sorted(str(one) for one in Path(data).iterdir() if one.suffix in (".parquet", ".arrow", ".feather"))
    if not found or not all(os.path.exists(one) for one in found):
        raise DataError(f"{data}: no such file; give a file, a folder, or a pattern such as 'data/*.parquet'")
    for one in found:
        if Source.of(one).format not in FORMATS:
            raise DataError(f"{one}: the workers of a cluster read Parquet and Arrow files; write it as one of these")
    return [os.path.abspath(one) for one in found]


@dataclass(frozen=True)
class Reader:
    """Reads a file where it is wanted, as a partition: rows with a label, and how much each counts."""

    files: tuple[str, ...]
    target: str
    weighing: Weighing
    columns: tuple[str, ...] | None = None  # those that are features; without it all others
    missing: tuple[str, ...] = ()  # further words that stand for a missing value

    def __call__(self, k: int) -> Piece:
        """Return partition k."""
        name = self.files[k]
        data = read(name, Hints(missing=self.missing))
        assert isinstance(data, Table)
        missing = {self.target, *self.weighing.columns.values()} - {OUTCOME} - set(data.frame.column_names)
        if missing:
            has = listed(data.frame.column_names, 10)
            raise DataError(f"{name}: no column {min(missing)!r}, which other files have; it has {has}")
        known = data.frame if self.weighing.is_grouped else with_label(data.frame, self.target)
        frame, weight, rows = self.weighing.taken(known, name)
        y = labels(frame[self.target], self.target, name)
        features = frame.drop_columns([self.target])
        features = features if self.columns is None else features.select(list(self.columns))
        once = self.weighing.counted(features, weight, rows)
        of_file = len(y) if rows is None else len(np.unique(rows))
        return Piece(name, features, y, weight, once, (data.frame.num_rows - known.num_rows, of_file))


def reader_of(files: Sequence[str], target: str | None, weighing: Weighing, kinds: Mapping[str, str]) -> Reader:
    """Return what reads the files, by the columns of the first one."""
    import pyarrow.parquet as parquet

    first = files[0]
    schema = parquet.read_schema(first) if Source.of(first).format == "parquet" else read(first).frame.schema  # type: ignore[union-attr]
    data = Table(first, pa.Table.from_batches([], schema))
    said = roles(kinds, schema.names, first)
    column = OUTCOME if weighing.is_grouped else target_column(data, target)
    if weighing.is_grouped and target is not None:
        raise DataError("--target would be ignored: --successes and --trials say what is predicted")
    if column in said:
        raise DataError(f"{first}: column {column!r} is the target; do not give it another role")
    return Reader(tuple(files), column, weighing.on(data, None if weighing.is_grouped else column, said))


def fit_on_cluster(request: Request, session: Session, progress: Callable[[str], None]) -> Outcome:
    """Fit files where workers read them."""
    model = request.estimator("leave out --dask and --spark")
    files = files_of(request.data)
    reader = reader_of(files, request.target, request.weighing, request.kinds)
    reader = replace(reader, missing=request.hints.missing)
    progress(f"reading {many(len(files), 'file')}")
    tables = session.tables(reader, len(files))
    lacking, rows = tables.ask(_rows)
    grouped = reader.weighing.is_grouped
    recipe = encode(
        tables,
        kinds=request.kinds,
        around=Circumstances(request.data, ROOM),
        degree=request.degree,
        target=None if grouped else reader.target,
        missing=request.hints.missing,
    )
    recipe = recipe if request.scaled else recipe.unscaled()
    progress("encoding rows")
    engine, summaries = tables.parts(recipe)
    found, classes = joined_summaries(summaries, f"{request.data}, column {reader.target!r}")
    check_few(len(classes), sum(one.n for one in found), f"{request.data}, column {reader.target!r}")
    question(classes, f"{request.data}, column {reader.target!r}")
    model.set_params(class_weight=class_weights(request.class_weight, classes.tolist()))
    encoding = recipe.encoding
    reference = Reference.chosen(request.reference, encoding, penalised=model._statement().penalised)
    examples = OnCluster(engine, found, classes)
    decision = request.wanted.on(model, _no_folds, classes, None, classes, examples.totals)
    rule = None if request.C is not None else _Rule(request.choosing, model, classes, examples.n)
    _learn(model, engine, summaries, encoding, request, rule, progress)
    if rule is not None:
        model.choice_ = rule.choice.to_dict()
    decision.apply(model)
    right, important, hashes = examples.sum(_Measure(model, encoding.origins, classes))
    seen = examples.counts if reader.weighing.sample_weight else examples.totals.astype(np.int64)
    counts = dict(zip(classes.tolist(), seen.tolist(), strict=True))
    notes = [*([left_out(lacking, reader.target)] if lacking else []), *notes_of(encoding)]
    notes.append("; ".join(f"{history.solver}: {history.reason}" for history in histories_of(model)))
    doubts = [] if grouped else doubts_of_sample(examples, LOOKED_AT, classes, encoding, model, request.seed)
    told: dict[str, Any] = dict(weighing=reader.weighing, reference=reference, rows_of_file=rows)
    accuracy = right / float(examples.totals.sum())
    facts = Facts(request.data, examples.d, counts, encoding, notes, accuracy, doubts, **told)
    kept = encoding.to_dict() | reader.weighing.to_dict() | reference.to_dict()
    kept |= {"importance": important.result().to_dict()}
    return Outcome(model, facts, joined(hashes, examples.d), kept, None if rule is None else rule.choice)


def verify_on_cluster(
    path: Path, found: Any, data: str, target: str | None, session: Session, progress: Callable[[str], None]
) -> Verification:
    """Check a model file from files where workers read them: see `linsep verify`."""
    encoding = from_dict(found.encoding)
    if not isinstance(encoding, TableEncoding):
        raise DataError(f"{data}: the model was fitted on another kind of file; it needs {needs(encoding)}")
    files, weighing = files_of(data), Weighing.of_model(found.encoding)
    target = encoding.target if target is None and not weighing.is_grouped else target
    reader = replace(reader_of(files, target, weighing, {}), columns=tuple(encoding.needed), missing=encoding.missing)
    progress(f"reading {many(len(files), 'file')}")
    tables = session.tables(reader, len(files))
    lacking, _ = tables.ask(_rows)
    check_labels(encoding, found.model.classes_.tolist(), lacking)
    engine, summaries = tables.parts(Recipe(encoding, schema_of(tables)))
    progress("verifying")
    outcome = verify_parts(path, engine, summaries)
    return of_labelled_rows(of_encoded_rows(outcome), lacking)


class _Rule:
    """How C is chosen by a table of scores; `choice` is what was."""

    choice: Choice

    def __init__(self, asked: Asked, model: Any, classes: Any, rows: int) -> None:
        self.asked, self.classes, self.rows, self.of = asked, classes, rows, class_of(asked.score, classes)
        self._scorer = scorer_of(asked.score, model, classes)
        self.score(np.eye(len(classes)))  # which says of one that asks for more, before anything is fitted

    def __call__(self, scores: FloatArray) -> int:
        self.choice = Choice.by(self.asked, scores, self.rows, self.of)
        return GRID.index(self.choice.C)

    def score(self, said: FloatArray) -> float:
        """Return what a scorer says of so many rows of each class that were taken for each."""
        K = len(self.classes)
        own, taken_for = np.divmod(np.arange(K * K), K)
        try:
            return float(self._scorer(_Answers(taken_for), np.arange(K * K)[:, None], own, sample_weight=said.ravel()))
        except (ValueError, AttributeError) as error:
            raise DataError(
                f"--score {self.asked.score} asks for scores of single rows, which stay on the workers: use accuracy, "
                "balanced_accuracy, f1_macro or another score of predicted labels"
            ) from error

    @property
    def choosing(self) -> Choosing:
        """What a fit is asked for."""
        return Choosing(self.asked.folds, self.asked.seed, self, self.score, GRID, f"{self.asked}")


def _learn(
    model: Any,
    engine: Any,
    summaries: Any,
    encoding: TableEncoding,
    request: Request,
    rule: _Rule | None,
    progress: Callable[[str], None],
) -> None:
    from sklearn.exceptions import ConvergenceWarning

    seen: list[Round] = []

    def told(one: Round, gap: float) -> None:
        seen.append(one)
        progress(f"round {len(seen)}{f', gap {gap:.1e}' if gap < np.inf else ''}")

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the summary says what is proven
            asked: dict[str, Any] = dict(names=encoding.names, checkpoint=request.checkpoint, told=told)
            learn(model, engine, summaries, choosing=None if rule is None else rule.choosing, **asked)
    except NotInMemoryError as error:
        why = str(error).partition(":")[0]
        raise DataError(f"{why}: say --loss squared_hinge, or leave out --dask and --spark") from error


def _no_folds(train: Any, test: Any) -> tuple[Any, Any]:
    raise AssertionError("what takes folds is refused before")


def _rows(k: int, piece: Piece) -> Several:
    """Return how many rows lack a label, and how many of the file are used."""
    return Several(piece.rows)


@dataclass(frozen=True)
class _Measure:
    """What a model does on a partition: Σ s of rows that it is right on, what is important, and the rows' hash."""

    model: Any
    origins: Sequence[str]
    classes: ArrayLike

    def __getstate__(self) -> dict[str, Any]:
        from ..cluster.estimators import AT_HOME

        light = copy.copy(self.model)
        for name in AT_HOME:
            light.__dict__.pop(name, None)
        return {"model": light, "origins": self.origins, "classes": self.classes}

    def __call__(self, block: Block) -> Several:
        X, rows, important = block.rows.X, RowsHash(), ImportanceSums(self.model.coef_, self.origins)
        hits = self.model.predict(X) == np.asarray(self.classes)[block.codes]
        rows.add(X)
        important.add(X, block.weight)
        right = float(hits.sum() if block.weight is None else block.weight @ hits)
        return Several((right, important, Pieces([PartHash.of(rows, self.classes, block.codes, block.weight)])))


class _Answers(ClassifierMixin, BaseEstimator):
    """A classifier for scorers: it predicts for row i, which says its number, the i-th of some labels."""

    def __init__(self, labels: IntArray) -> None:
        self.labels = labels
        self.classes_ = np.unique(labels)

    def predict(self, X: Any) -> IntArray:
        """Return the labels of rows by their numbers."""
        return np.asarray(self.labels[np.asarray(X)[:, 0]])
