"""Honest models: small fits of every estimator on every kind of data, each drawn from a seed, saved as a user would."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import linsep
from linsep.penalties import Penalty

__all__ = ["FAMILIES", "Data", "Honest", "folder", "make"]

#: How often another draw is made where a fit says that it cannot be (overflowing squares, one class only, overlap).
TRIES = 60


@dataclass(frozen=True, eq=False)
class Data:
    """What a model is fitted on, and verified with."""

    X: Any
    y: Any
    s: Any = None

    def rows(self) -> np.ndarray:
        """Return X as an array of doubles."""
        X = self.X.toarray() if sparse.issparse(self.X) else self.X
        return np.asarray(X, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Honest:
    """A fitted model in its file, and how it came about."""

    seed: int
    family: str
    data: Data
    text: str
    warned: tuple[str, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def document(self) -> dict[str, Any]:
        """Return the file's content, each time anew."""
        found: dict[str, Any] = json.loads(self.text)
        return found


def folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder for files that live for a moment: in memory, where the system has a place for that."""
    memory = Path("/dev/shm")
    return tempfile.TemporaryDirectory(prefix="forge", dir=memory if memory.is_dir() else None)


# -- data -------------------------------------------------------------------------------------------------------------


def _overlap(rng: np.random.Generator, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(n, d))
    return X, X[:, 0] + rng.normal(size=n)


def _separable(rng: np.random.Generator, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=d)


def _integers(rng: np.random.Generator, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.integers(-2, 3, (n, d)).astype(float)
    return X, X @ rng.integers(-2, 3, d) + 0.7 * rng.normal(size=n)


def _quasi(rng: np.random.Generator, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.integers(-2, 3, (n, d)).astype(float)
    score = X[:, 0].copy()
    on = score == 0  # on the plane, and there of either class
    score[on] = rng.normal(size=int(on.sum()))
    return X, score


def _one_hot(rng: np.random.Generator, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    X = np.eye(d)[rng.integers(0, d, n)]  # rows of equal length: a fingerprint of lengths cannot tell them apart
    return X, X @ rng.normal(size=d) + rng.normal(size=n)


def _signs(rng: np.random.Generator, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.choice([-1.0, 1.0], (n, d))
    return X, X[:, 0] + rng.normal(size=n)


def _aliased(rng: np.random.Generator, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    X, score = _integers(rng, n, d)
    if d > 1:
        X[:, -1] = X[:, 0] if rng.random() < 0.5 else X[:, :-1].sum(axis=1)
    return X, score


def _nearly_aliased(rng: np.random.Generator, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    X, score = _overlap(rng, n, d)
    X[:, -1] = X[:, 0] + 10.0 ** rng.integers(-12, -5) * rng.normal(size=n)
    return X, score


def _repeated(rng: np.random.Generator, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    X, _ = _integers(rng, n, d)
    X = X[rng.integers(0, max(1, n // 2), n)]
    return X, X[:, 0] + rng.normal(size=n)


def _far(rng: np.random.Generator, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    X, score = _overlap(rng, n, d)
    return X + 10.0 ** rng.integers(1, 9, d), score


DESIGNS: dict[str, Callable[[np.random.Generator, int, int], tuple[np.ndarray, np.ndarray]]] = {
    "overlap": _overlap,
    "separable": _separable,
    "integers": _integers,
    "quasi": _quasi,
    "one-hot": _one_hot,
    "signs": _signs,
    "aliased": _aliased,
    "nearly aliased": _nearly_aliased,
    "repeated": _repeated,
    "far from zero": _far,
}

LABELS: list[Callable[[int], list[Any]]] = [
    lambda k: list(range(k)),
    lambda k: [-1, 1] if k == 2 else list(range(1, k + 1)),
    lambda k: ["no", "yes"] if k == 2 else ["a", "b", "c", "d"][:k],
    lambda k: [False, True] if k == 2 else [10 * j for j in range(k)],
    lambda k: [float(j) - 1.0 for j in range(k)],
    lambda k: [f"größe {j}" for j in range(k)],
]


def _scale(rng: np.random.Generator) -> float:
    """Draw a size of numbers, from 1e-300 to 1e300; mostly ordinary."""
    reach = rng.choice([0, 8, 150, 300], p=[0.65, 0.15, 0.12, 0.08])
    return float(10.0 ** rng.uniform(-reach, reach)) if reach else 1.0


def _weights(rng: np.random.Generator, n: int) -> np.ndarray | None:
    kind = rng.choice(["none", "whole", "any", "wide", "tiny"], p=[0.55, 0.15, 0.12, 0.12, 0.06])
    if kind == "none":
        return None
    if kind == "whole":
        s = rng.integers(0, 4, n).astype(float)
    elif kind == "any":
        s = rng.random(n)
    elif kind == "wide":
        s = 10.0 ** rng.uniform(-8, 8, n)
        s[0], s[-1] = 1.0, 1e16
    else:
        s = 10.0 ** rng.uniform(-1, 1, n) * 10.0 ** -rng.uniform(0, 300)
    return s if s.any() else None


def _classes(rng: np.random.Generator, score: np.ndarray, k: int) -> np.ndarray:
    """Cut the scores into k classes that all have members."""
    order = np.argsort(score, kind="stable")
    cuts = np.sort(rng.choice(np.arange(1, len(score)), k - 1, replace=False))
    codes = np.zeros(len(score), dtype=int)
    codes[order] = np.searchsorted(cuts, np.arange(len(score)), side="right")
    if k == 2 and rng.random() < 0.5 and (score > 0).any() and (score <= 0).any():
        codes = (score > 0).astype(int)
    return codes


def _stored(rng: np.random.Generator, X: np.ndarray) -> Any:
    kind = rng.choice(["dense", "csr", "float32", "columns"], p=[0.7, 0.12, 0.12, 0.06])
    if kind == "csr":
        return sparse.csr_matrix(X)
    if kind == "float32" and np.abs(X).max() < 1e18:
        return X.astype(np.float32)
    return np.asfortranarray(X) if kind == "columns" else X


def _named(rng: np.random.Generator, X: Any) -> Any:
    """Return X with names of its columns, one time in ten."""
    if sparse.issparse(X) or rng.random() > 0.1:
        return X
    import pandas as pd

    return pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])


def _draw_data(rng: np.random.Generator, most: int, width: int, classes: int) -> Data:
    n = int(rng.integers(max(2, classes), most + 1))
    d = int(rng.integers(1, width + 1))
    X, score = DESIGNS[str(rng.choice(list(DESIGNS)))](rng, n, d)
    k = min(classes, n)
    labels = LABELS[int(rng.integers(len(LABELS)))](k)
    y = np.array(labels)[_classes(rng, score, k)]
    X = X * (_scale(rng) * (10.0 ** rng.uniform(-8, 8, d) if rng.random() < 0.1 else 1.0))
    return Data(_named(rng, _stored(rng, X)), y, _weights(rng, n))


# -- estimators -------------------------------------------------------------------------------------------------------


def _C(rng: np.random.Generator, data: Data) -> float:
    """Draw C: ordinary, anything, none, or such that losses and penalty ½‖w‖² balance, whatever the data's size."""
    kind = rng.random()
    if kind < 0.3:
        return 1.0
    if kind < 0.55:
        return float(10.0 ** rng.uniform(-10, 10))
    if kind < 0.7:
        return np.inf
    if kind < 0.8:
        return float(10.0 ** rng.uniform(-250, 150))
    return _in_range(10.0 ** rng.uniform(-2, 2) / _squares(data))


def _squares(data: Data) -> float:
    """Return about what C has to be divided by for losses and penalty to balance."""
    weight = 1.0 if data.s is None else float(np.max(data.s))
    with np.errstate(over="ignore", under="ignore"):
        return _in_range(weight * float(np.abs(data.rows()).max() ** 2))


def _in_range(value: float) -> float:
    return float(min(max(value, 1e-300), 1e300))


#: Where losses weigh more than this against L1, the path to a fit takes seconds, or minutes: such are not drawn.
STRONG = 1e8


def _common(rng: np.random.Generator, data: Data) -> dict[str, Any]:
    """Draw what most estimators have."""
    by_label = zip(np.unique(data.y).tolist(), (1.0, 3.0, 0.5, 2.0), strict=False)
    weights: list[Any] = [None, "balanced", dict(by_label)]
    return dict(
        fit_intercept=bool(rng.random() < 0.75),
        class_weight=weights[int(rng.choice(3, p=[0.75, 0.12, 0.13]))],
    )


def _penalty(rng: np.random.Generator, C: float, data: Data) -> dict[str, Any]:
    kind = str(rng.choice(["l2", "l1", "elasticnet", "none", "own"]))
    if kind in ("l1", "elasticnet") and _strength(C, data) > STRONG:
        kind = "l2"
    if kind == "elasticnet":
        return dict(penalty="elasticnet", l1_ratio=float(rng.choice([0.25, 0.5, 0.9])))
    if kind == "own":
        small = 10.0 ** rng.uniform(-100, 3) if rng.random() < 0.3 else rng.random()
        if rng.random() < 0.5:  # as large as the losses, or small, at any size of things
            small = _in_range(min(C, 1e10) * _squares(data) * 10.0 ** rng.uniform(-2, 2))
        l1 = float(rng.choice([0.0, 0.3, 2.0])) if _strength(C, data) <= STRONG else 0.0
        return dict(penalty=Penalty(float(small), l1))
    return dict(penalty=None if kind == "none" else str(kind))


def _logistic(rng: np.random.Generator, data: Data, multi: str = "softmax") -> Any:
    C, ratio = _C(rng, data), float(rng.choice([0.0, 0.0, 0.5, 1.0]))
    if _strength(C, data) > STRONG:
        ratio = 0.0
    return linsep.LogisticRegression(C=C, l1_ratio=ratio, multi_class=multi, **_common(rng, data))


def _strength(C: float, data: Data) -> float:
    """Return about how much the losses weigh against a penalty on the weights."""
    weight = 1.0 if data.s is None else float(np.max(data.s))
    with np.errstate(over="ignore"):
        return float(min(C, 1e300) * weight * np.abs(data.rows()).max())


def _svc(rng: np.random.Generator, data: Data) -> Any:
    C, penalty = _C(rng, data), str(rng.choice(["l2", "l2", "l1"]))
    penalty = "l2" if _strength(C, data) > STRONG else penalty
    loss = str(rng.choice(["hinge", "squared_hinge"]))
    return linsep.LinearSVC(penalty, loss, C=C, **_common(rng, data))


def _class_margins(rng: np.random.Generator, data: Data) -> Any:
    C = _C(rng, data)
    return linsep.LinearSVC(C=C if np.isfinite(C) else 1.0, multi_class="crammer_singer", **_common(rng, data))


def _any_loss(rng: np.random.Generator, data: Data) -> Any:
    C, loss = _C(rng, data), str(rng.choice(["hinge", "squared_hinge", "logistic", "square", "perceptron"]))
    return linsep.LinearClassifier(loss, C=C, **_penalty(rng, C, data), **_common(rng, data), random_state=0)


def _least_squares(rng: np.random.Generator, data: Data) -> Any:
    return linsep.LeastSquaresClassifier(C=_C(rng, data), **_common(rng, data))


def _hard_margin(rng: np.random.Generator, data: Data) -> Any:
    return linsep.HardMarginSVC(fit_intercept=bool(rng.random() < 0.75))


def _perceptron(rng: np.random.Generator, data: Data) -> Any:
    own: Any = dict(order=str(rng.choice(["random", "cyclic", "worst"])))
    own["keep"] = str(rng.choice(["best", "last", "average", "vote"]))
    return linsep.Perceptron(max_iter=30, random_state=int(rng.integers(9)), **own, **_common(rng, data))


def _sgd(rng: np.random.Generator, data: Data) -> Any:
    C, loss = _C(rng, data), str(rng.choice(["hinge", "squared_hinge", "logistic", "square", "perceptron"]))
    own: Any = dict(max_iter=20, random_state=int(rng.integers(9)), keep=str(rng.choice(["best", "last", "average"])))
    return linsep.SGDClassifier(loss, C=C, **_penalty(rng, 0.0, data), **own, **_common(rng, data))


def _zero_one(rng: np.random.Generator, data: Data) -> Any:
    return linsep.ZeroOneClassifier(time_limit=2.0, **_common(rng, data))


def _proven_choice(rng: np.random.Generator, data: Data) -> Any:
    """A choice of C with proof; folds that are fitted at many C by an oracle want ordinary data."""
    low = float(10.0 ** rng.uniform(-2, 0))
    own: Any = dict(Cs=np.geomspace(low, low * 100.0, int(rng.integers(2, 5))), cv=int(rng.integers(2, 4)))
    own |= dict(prove=float(rng.choice([0.3, 1.0])), class_weight=[None, "balanced"][int(rng.random() < 0.3)])
    own |= dict(scoring=[None, None, "balanced_accuracy", "costs=1:3", "costs=0.7:0.2"][int(rng.integers(5))])
    loss = str(rng.choice(["logistic", "hinge", "squared_hinge"]))
    if loss == "logistic":
        return linsep.LogisticRegressionCV(fit_intercept=bool(rng.random() < 0.75), **own)
    return linsep.LinearSVCCV(loss=loss, fit_intercept=loss == "hinge" or bool(rng.random() < 0.75), **own)


def _ordinary(rng: np.random.Generator, most: int, width: int, classes: int) -> Data:
    """Draw data of ordinary size, with enough rows of each class to be held out."""
    n, d = int(rng.integers(12, most + 1)), int(rng.integers(1, width + 1))
    X, score = DESIGNS[str(rng.choice(["overlap", "separable", "integers", "one-hot", "repeated"]))](rng, n, d)
    codes = np.zeros(n, dtype=int)
    codes[np.argsort(score, kind="stable")[int(rng.integers(4, n - 3)) :]] = 1
    y = np.array(LABELS[int(rng.integers(len(LABELS)))](2))[codes]
    return Data(_named(rng, _stored(rng, X)), y, rng.integers(1, 4, n).astype(float) if rng.random() < 0.3 else None)


@dataclass(frozen=True)
class Family:
    """An estimator, and how many rows, columns and classes its data may have, and how these are drawn."""

    draw: Callable[..., Any]
    rows: int = 16
    columns: int = 3
    classes: tuple[int, ...] = (2, 2, 2, 3, 4)
    data: Callable[[np.random.Generator, int, int, int], Data] = _draw_data


FAMILIES: dict[str, Family] = {
    "LogisticRegression, two classes": Family(_logistic, 30, 3, (2,)),
    "LogisticRegression, softmax": Family(_logistic, 16, 3, (3, 4)),
    "LogisticRegression, one against the rest": Family(lambda rng, data: _logistic(rng, data, "ovr"), 12, 2, (3, 4)),
    "LinearSVC": Family(_svc, 24),
    "LinearSVC, margins between classes": Family(_class_margins, 16, 3, (2, 3, 4)),
    "LinearClassifier": Family(_any_loss, 24),
    "LeastSquaresClassifier": Family(_least_squares, 24),
    "HardMarginSVC": Family(_hard_margin, 12, 3, (2, 2, 3)),
    "Perceptron": Family(_perceptron, 12, 2, (2, 2, 2, 3)),
    "SGDClassifier": Family(_sgd, 16),
    "ZeroOneClassifier": Family(_zero_one, 10, 2, (2, 2, 2, 2, 3)),
    "a proven choice of C": Family(_proven_choice, 24, 2, (2,), _ordinary),
}


def make(seed: int, family: str | None = None, data: Data | None = None, room: str | None = None) -> Honest:
    """Return the honest model of a seed; of a given estimator, or on given data, where these are asked for.

    What a fit refuses by a `ValueError` (squares that overflow, classes that no plane separates) is drawn again; any
    other error is a fault, and raised.
    """
    rng = np.random.default_rng([7, seed])
    family = family or str(rng.choice(list(FAMILIES)))
    kind = FAMILIES[family]
    error: ValueError | None = None
    for _ in range(TRIES):
        drawn = data or kind.data(rng, kind.rows, kind.columns, int(rng.choice(kind.classes)))
        model = kind.draw(rng, drawn)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", ConvergenceWarning)
            try:
                model.fit(drawn.X, drawn.y, **({} if drawn.s is None else dict(sample_weight=drawn.s)))
                text = _saved(model, drawn if rng.random() < 0.25 else None, room)
            except ValueError as refusal:
                error = refusal
                continue
        told = tuple(str(warning.message) for warning in caught)
        return Honest(seed, family, drawn, text, told, model.get_params())
    raise RuntimeError(f"no model of the family {family!r} could be fitted from seed {seed}") from error


def _saved(model: Any, data: Data | None, room: str | None) -> str:
    """Return what `linsep.save` writes."""
    with tempfile.TemporaryDirectory() if room is None else _Kept(room) as where:
        path = Path(where) / "honest.json"
        linsep.save(model, path, data=None if data is None else (data.X, data.y, data.s))
        return path.read_text("utf-8")


class _Kept:
    """A folder that stays."""

    def __init__(self, where: str) -> None:
        self.where = where

    def __enter__(self) -> str:
        return self.where

    def __exit__(self, *_: object) -> None:
        return None
