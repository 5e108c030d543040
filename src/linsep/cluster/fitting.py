"""From partitions to a model: what the client makes of their summaries, and the fit."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets

from .. import __version__
from .._common.labels import coded
from .._common.words import shown
from .._core import sound
from ..history import histories_of
from ..solvers.contract import NotInMemoryError
from ..solvers.workspace import Vector as AnyVector
from .checkpoint import Checkpoint
from .choosing import Choosing
from .examples import Engine, OnCluster
from .parts import Part, Summary
from .rounds import Round

#: More labels than this are numbers to predict, not classes.
MOST_CLASSES = 10_000
#: How rows are read, as on one machine; a partition may have none.
AS_ROWS: dict[str, Any] = dict(
    accept_sparse="csr", dtype=[np.float64, np.float32], order="C", ensure_min_samples=0, input_name="X"
)


class PartitionError(ValueError):
    """A partition that cannot be learned from; the message says which one, and why."""


# -- on the workers ---------------------------------------------------------------------------------------------------


def as_part(k: int, X: Any, y: Any, weight: Any = None) -> Part:
    """Return partition k as a fit takes it; raise where it cannot be learned from.

    Examples
    --------
    >>> as_part(3, [[1.0], [np.nan]], [0, 1])
    Traceback (most recent call last):
    ...
    linsep.cluster.fitting.PartitionError: partition 3: Input X contains NaN...
    """
    try:
        rows, labels = check_array(sound(X), ensure_all_finite=False, **AS_ROWS), np.asarray(y)
        if labels.ndim == 2 and labels.shape[1] == 1:
            labels = labels[:, 0]
        if labels.shape != rows.shape[:1]:
            raise ValueError(f"X has {rows.shape[0]} rows and y has shape {labels.shape}: give each row its label")
        if labels.dtype.kind == "f" and not np.isfinite(labels).all():
            raise ValueError(
                f"the label of its row {int(np.argmin(np.isfinite(labels)))} is missing; leave such rows out"
            )
        if len(labels):
            check_classification_targets(labels)
        own, codes = coded(labels)
        if len(own) > MOST_CLASSES:
            raise ValueError(f"y has {len(own):,} different values: give classes, not numbers to predict")
        part = Part(rows, own, codes, _weights(weight, len(labels)))
        if not np.isfinite(part.rows.squared_norms()).all():  # which says so of every number in one pass
            check_array(rows, **AS_ROWS)
            raise ValueError("it has values whose squares overflow; scale the columns first")
        return part
    except (ValueError, TypeError) as error:
        raise PartitionError(f"partition {k}: {error}") from error


def _weights(weight: Any, n: int) -> Any:
    if weight is None:
        return None
    s = np.asarray(weight, dtype=np.float64).reshape(-1).copy()
    if s.shape != (n,):
        raise ValueError(f"sample_weight has {len(s)} numbers for {n} rows: give each row its weight")
    if not (usable := np.isfinite(s) & (s >= 0)).all():
        row = int(np.argmin(usable))
        raise ValueError(f"sample_weight must be finite, zero or more; that of its row {row} is {s[row]:g}")
    return s


def summary(part: Part, names: Sequence[str] | None = None) -> Summary:
    """Return what the client hears of a partition."""
    rows, K = part.rows, len(part.labels)
    counts = np.bincount(part.codes, minlength=K)
    squares = np.bincount(part.codes, rows.squared_norms(), K).astype(np.float64) if part.n else np.zeros(K)
    totals = np.bincount(part.codes, part.weight, K).astype(np.float64)
    sizes, known = (part.n, rows.d, rows.stored, rows.is_sparse), None if names is None else tuple(names)
    return Summary(*sizes, part.labels, counts, squares, totals, part.weight is not None, known)


# -- at the client ----------------------------------------------------------------------------------------------------


def joined_summaries(summaries: Sequence[Summary], who: str) -> tuple[list[Summary], NDArray[Any]]:
    """Return summaries that fit together, and all labels; raise where a partition differs from the others."""
    filled = [k for k, one in enumerate(summaries) if one.n]
    if not filled:
        raise ValueError(f"all {len(summaries)} partitions are empty: nothing to learn from")
    first = summaries[filled[0]]
    for k in filled:
        one = summaries[k]
        if one.d != first.d:
            raise PartitionError(f"partition {k} has {one.d} columns, partition {filled[0]} has {first.d}")
        if one.names != first.names:
            raise PartitionError(f"partition {k} has other columns than partition {filled[0]}, or in another order")
    kinds = {summaries[k].labels.dtype.kind for k in filled}
    if len(kinds & set("OUS")) and len(kinds) > 1:
        raise ValueError("y has text in some partitions and numbers in others: write labels in one way")
    classes = np.unique(np.concatenate([summaries[k].labels for k in filled]))
    if len(classes) < 2:
        raise ValueError(f"y has one class only, {shown(classes[0])}: {who} needs examples of two or more")
    return [one if one.n else _empty(one, first) for one in summaries], classes


def _empty(one: Summary, like: Summary) -> Summary:
    nothing = np.zeros(0)
    return Summary(
        0, like.d, 0, like.sparse, like.labels[:0], np.zeros(0, dtype=np.int64), nothing, nothing, one.weighted
    )


class _Run:
    """What a fit keeps while it is under way: see `linsep.estimators`. Sums are kept by the examples themselves."""

    def __init__(self, examples: OnCluster) -> None:
        self._examples = examples
        self.results: list[Mapping[str, Any]] = []
        #: How many rounds were over when each plane began.
        self.begun: list[int] = []
        #: The gap that was proven last.
        self.gap = np.inf

    def finish(self, result: dict[str, Any]) -> None:
        """Nothing: whoever goes on finds it again from the sums."""

    def place(self, k: int, count: int) -> _Run:
        """Return the workspace of the next plane: this."""
        self._examples.forget()
        self.begun.append(len(self._examples.rounds))
        return self

    @property
    def state(self) -> None:
        """There is none: the sums tell."""

    def keep(self, state: dict[str, Any]) -> None:
        """Nothing, see `state`."""

    def vector(self, name: str) -> AnyVector:
        """Return a number for each example, beside it."""
        return self._examples.vector(name)

    def passed(self, passes: int, gap: float) -> None:
        """Hear of a pass."""
        self.gap = gap


def learn(
    model: Any,
    engine: Engine,
    summaries: Sequence[Summary],
    *,
    names: Sequence[str] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    told: Callable[[Round, float], None] | None = None,
    choosing: Choosing | None = None,
) -> Any:
    """Fit a model on the partitions that an engine holds.

    Parameters
    ----------
    model : estimator
    engine : Engine
    summaries : list of Summary
        One of each partition, in their order.
    names : list of str, optional
        What the columns are called.
    checkpoint : path, optional
        Where sums are kept from which the same fit goes on.
    told : callable, optional
        Hears of every round, and of the gap that is proven.
    choosing : Choosing, optional
        How C is chosen; where that is "auto", as by default, and the model has ``C_``, ``Cs_`` and ``scores_`` then.
    """
    model._check_parameters()
    if choosing is None and isinstance(model.C, str):
        choosing = Choosing(seed=int(model._asked()["seed"]) if hasattr(model, "random_state") else 0)
    if getattr(model, "warm_start", False):
        raise ValueError("warm_start=True would be ignored: a fit on a cluster begins where a sample leads")
    found, classes = joined_summaries(summaries, type(model).__name__)
    kept = None if checkpoint is None else Checkpoint(checkpoint, _identity(model, found, choosing))
    examples = OnCluster(engine, found, classes, kept)
    run = _Run(examples)
    if told is not None:
        examples.told = lambda one: told(one, run.gap)
    try:
        if choosing is not None:
            _choose(model, examples, classes, choosing, run)
        chosen, run.begun = len(examples.rounds), []
        model.fit_examples(examples, classes, names=names, run=run)
    except NotInMemoryError as error:
        raise NotInMemoryError(_not_on_machines(model)) from error
    ends = [*run.begun[1:], len(examples.rounds)]
    for begin, end, history in zip([chosen, *run.begun[1:]], ends, histories_of(model), strict=True):
        history.rounds = examples.rounds[begin:end]
        history.reason = f"{history.reason}; {engine.name}, {len(found)} partitions, sums in {end - begin} rounds"
    return model


def _not_on_machines(model: Any) -> str:
    """Return why a fit needs rows in one place, and what to do instead."""
    what, instead = f"the {model._loss().name} loss", "use loss='squared_hinge'"
    if model._penalty().l1 > 0:
        what += " with an L1 penalty"
    elif getattr(model, "multi_class", "") == "crammer_singer":
        what, instead = "Crammer and Singer's machine", "use multi_class='ovr'"
    return f"{what} takes rows in one place, and these are on many machines: {instead}"


def _choose(model: Any, examples: OnCluster, classes: NDArray[Any], choosing: Choosing, run: _Run) -> None:
    """Choose C, and say how."""
    C, scores = choosing.choose(model, examples, classes, lambda: run.place(0, 1))
    if isinstance(model.C, str):
        model.C_, model.Cs_, model.scores_ = C, np.array(choosing.grid), scores
    else:
        model.set_params(C=C)


def _identity(model: Any, summaries: Sequence[Summary], choosing: Choosing | None) -> dict[str, Any]:
    """Return what tells one fit from another."""
    data = [(one.n, one.d, one.labels.tolist(), one.squares.tolist(), one.totals.tolist()) for one in summaries]
    digest = hashlib.sha256(json.dumps(data, default=repr).encode()).hexdigest()
    settings = {name: repr(value) for name, value in model.get_params(deep=False).items()}
    how = {} if choosing is None else {"C": repr(choosing)}
    return {"version": __version__, "estimator": type(model).__name__, "data": digest, **settings, **how}
