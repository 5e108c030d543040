"""How good predictions are, each number with a bootstrap interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._labels import positions
from .._types import BoolArray, FloatArray, IntArray

RESAMPLES = 200
LEVEL = 0.95


def decide(model: Any, X: Any, threshold: float | None) -> NDArray[Any]:
    """Return the class of each row; with a threshold, the second class where its score reaches that."""
    if threshold is None:
        return np.asarray(model.predict(X))
    return np.asarray(model.classes_[(model.decision_function(X) >= threshold).astype(int)])


@dataclass(frozen=True)
class Measure:
    """A number and the interval that holds 95 % of its values on resampled rows."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Evaluation:
    """What was measured: accuracies and, where the model has them, log loss and area under the ROC curve."""

    rows: int
    classes: list[Any]
    measures: dict[str, Measure]
    confusion: list[list[Measure]]  # a row for each true class, a column for each predicted one


def evaluate(model: Any, X: Any, y: NDArray[Any], *, threshold: float | None = None, seed: int = 0) -> Evaluation:
    """Compare predictions with labels.

    Parameters
    ----------
    model : fitted estimator
    X, y
        Examples that it was not trained on, for numbers that mean something.
    threshold : float, optional
        Where a score counts as positive.
    seed : int, default=0
        Of the resampling.

    Examples
    --------
    >>> from linsep import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array(["no", "no", "yes", "yes"])
    >>> evaluate(LogisticRegression().fit(X, y), X, y).measures["accuracy"]
    Measure(value=1.0, low=1.0, high=1.0)
    """
    classes = model.classes_
    truth = codes_of(y, classes)
    guess = codes_of(decide(model, X, threshold), classes)
    rows = _Rows(model, X, truth, guess)
    n, rng = len(truth), np.random.default_rng(seed)
    found = rows.measure(np.ones(n))
    again = [
        rows.measure(np.bincount(rng.integers(0, n, n), minlength=n).astype(np.float64))  # how often each is drawn
        for _ in range(RESAMPLES)
    ]
    low, high = _interval(np.array(again))
    measured = [Measure(float(v), float(a), float(b)) for v, a, b in zip(found, low, high, strict=True)]
    count = len(rows.names)
    confusion = np.array(measured[count:], dtype=object).reshape(len(classes), len(classes))
    named = {name: one for name, one in zip(rows.names, measured, strict=False) if np.isfinite(one.value)}
    return Evaluation(n, np.asarray(classes).tolist(), named, confusion.tolist())


def codes_of(labels: NDArray[Any], classes: NDArray[Any]) -> IntArray:
    """Return the position of each label among the classes; raise for one that is not there."""
    labels = labels.astype(str) if classes.dtype.kind in "OU" and labels.dtype.kind not in "OU" else labels
    codes = positions(labels, classes.tolist())
    if (codes < 0).any():
        strange = labels[codes < 0][:1].tolist()[0]
        known = ", ".join(map(str, classes[:10]))
        raise ValueError(f"the label {strange!r} occurs, which the model does not know; it knows {known}")
    return codes


def _interval(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return between what the middle 95 % of each column lie; a column without any number has no such place."""
    low, high = np.full((2, values.shape[1]), np.nan)
    known = np.isfinite(values).any(axis=0)
    low[known], high[known] = np.nanquantile(values[:, known], [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return low, high


class _Rows:
    """What each row contributes, so that a resample is a vector of weights."""

    names = ("accuracy", "balanced_accuracy", "log_loss", "auc")

    def __init__(self, model: Any, X: Any, truth: IntArray, guess: IntArray) -> None:
        self.k = len(model.classes_)
        self.cell = truth * self.k + guess
        self.log_losses = self.scores = None
        if hasattr(model, "predict_log_proba"):
            self.log_losses = -np.asarray(model.predict_log_proba(X))[np.arange(len(truth)), truth]
        if self.k == 2:  # the area under the curve is of these scores
            scores = np.asarray(model.decision_function(X))
            self.order = order = np.argsort(scores, kind="stable")
            self.positive = truth[order] == 1
            self.scores = np.cumsum(np.diff(scores[order], prepend=scores[order[0]]) != 0)  # equal ones share a number

    def measure(self, weight: FloatArray) -> list[float]:
        """Return all numbers, with every row counted `weight` times."""
        confusion = np.bincount(self.cell, weights=weight, minlength=self.k**2).reshape(self.k, self.k)
        of_class = confusion.sum(axis=1)
        seen = of_class > 0
        recall = confusion.diagonal()[seen] / of_class[seen]
        log_loss = np.nan if self.log_losses is None else float(weight @ self.log_losses / weight.sum())
        accuracy = float(confusion.diagonal().sum() / weight.sum())
        area = np.nan if self.scores is None else auc(self.scores, self.positive, weight[self.order])
        return [accuracy, float(recall.mean()), log_loss, area, *confusion.ravel().tolist()]


def auc(group: IntArray, positive: BoolArray, weight: FloatArray) -> float:
    """P(score of a positive > score of a negative), ties counted half; `group` numbers equal scores, ascending."""
    up = np.bincount(group, weights=weight * positive)
    down = np.bincount(group, weights=weight * ~positive)
    below = np.cumsum(down) - down
    pairs = up.sum() * down.sum()
    return float(up @ (below + down / 2) / pairs) if pairs else np.nan
