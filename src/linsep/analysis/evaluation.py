"""How good predictions are, each number with a 95 % confidence interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._common.html import card, rows
from .._common.labels import cut, positions
from .._common.types import BoolArray, FloatArray, IntArray
from .._common.words import cut as short
from .._common.words import listed, many
from .intervals import area_under_roc, cell_sizes, effective, of_mean, of_weighted_mean, wilson
from .reliability import Reliability, reliability

#: What measures are called; of two classes there are some of each.
TITLES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "precision": "precision of {}",
    "recall": "recall of {}",
    "f1": "F1 of {}",
    "macro_precision": "mean precision",
    "macro_f1": "mean F1",
    "log_loss": "log loss",
    "brier": "Brier score",
    "auc": "area under ROC",
}


def decide(model: Any, X: Any, threshold: float | None) -> NDArray[Any]:
    """Return the class of each row: as the model predicts, or as it would with another threshold."""
    if threshold is None:
        return np.asarray(model.predict(X))
    return cut(model.classes_, model.decision_function(X), threshold)


@dataclass(frozen=True)
class Measure:
    """A number and its 95 % confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class OfClass:
    """What is measured of one class against the others; precision is undefined where the class is never said."""

    label: Any
    rows: int
    precision: Measure | None
    recall: Measure | None
    f1: Measure | None


@dataclass(frozen=True)
class Confusion:
    """Rows of one class of which another one is said: how many, and which share of their class."""

    truth: Any
    said: Any
    count: float
    share: float


@dataclass(frozen=True)
class Evaluation:
    """What was measured.

    Measures are accuracy, balanced_accuracy, of two classes precision, recall and f1 of the second and auc, of more
    macro_precision and macro_f1 (the mean over the classes); where the model has probabilities, log_loss and brier,
    the mean square of what they are wrong by (of more than two classes, summed over these). What is undefined on these
    rows is left out.
    """

    rows: int
    classes: list[Any]
    measures: dict[str, Measure]
    of_class: list[OfClass]
    confusion: list[list[Measure]]  # a row for each true class, a column for each said; of weighted rows, their weights
    majority: Any  # the most common class
    baseline: Measure  # the accuracy of always saying that
    reliability: Reliability | None = None  # how often what is said comes true, where there are probabilities

    def titled(self, titles: Mapping[str, str] = TITLES, always: str = "always saying {}") -> list[tuple[str, Measure]]:
        """Return the measures by title: after accuracy the baseline, of two classes precision, recall, F1 of both."""
        found = [(titles[name], one) for name, one in self.measures.items() if "{" not in titles[name]]
        of_both = [] if len(self.classes) > 2 else self.of_class[::-1]
        ours = [
            (titles[name].format(short(str(one.label), 24)), getattr(one, name))
            for one in of_both
            for name in ("precision", "recall", "f1")
        ]
        found.insert(1, (always.format(short(str(self.majority), 24)), self.baseline))
        found[3:3] = [(title, one) for title, one in ours if one is not None]
        return found

    def _repr_html_(self) -> str:
        measured = [(title, f"{one.value:.4g}", f"{one.low:.4g} to {one.high:.4g}") for title, one in self.titled()]
        confused = [(one.truth, one.said, f"{one.count:g}", f"{one.share:.1%}") for one in self.worst_confusions(5)]
        tables = rows(["measure", "value", "95 % interval"], measured)
        tables += rows(["truth", "said", "rows", "of its class"], confused) if confused else ""
        return card(f"measured on {many(self.rows, 'row')}", table=tables)

    def worst_told(self) -> list[OfClass]:
        """Return the classes, those with the lowest F1 first; last those that no row is of, or said to be of."""
        return sorted(self.of_class, key=lambda one: np.inf if one.f1 is None else one.f1.value)

    def worst_confusions(self, most: int) -> list[Confusion]:
        """Return the classes that are confused most often, by rows."""
        counts = np.array([[one.value for one in row] for row in self.confusion])
        totals = counts.sum(axis=1)
        np.fill_diagonal(counts, 0.0)
        ranked = np.argsort(-counts, axis=None, kind="stable")[:most]
        pairs = [(int(t), int(s)) for t, s in zip(*np.unravel_index(ranked, counts.shape), strict=True)]
        return [
            Confusion(self.classes[t], self.classes[s], float(counts[t, s]), float(counts[t, s] / totals[t]))
            for t, s in pairs
            if counts[t, s] > 0
        ]


def evaluate(
    model: Any, X: Any, y: NDArray[Any], *, threshold: float | None = None, sample_weight: ArrayLike | None = None
) -> Evaluation:
    """Compare predictions with labels.

    Intervals are in closed form: Wilson's for proportions, DeLong's variance for the area under the ROC curve.

    Parameters
    ----------
    model : fitted estimator
    X, y
        Examples that it was not trained on, for numbers that mean something.
    threshold : float, optional
        Where a score counts as positive.
    sample_weight : array of shape (n,), optional
        How much each example counts; intervals are those of (Σs)²/Σs² examples.

    Examples
    --------
    >>> from linsep import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array(["no", "no", "yes", "yes"])
    >>> found = evaluate(LogisticRegression().fit(X, y), X, y)
    >>> found.measures["accuracy"].value, round(found.measures["accuracy"].low, 2), found.baseline.value
    (1.0, 0.51, 0.5)
    """
    return measure(model, [look(model, X, codes_of(y, model.classes_), threshold)], sample_weight)


@dataclass(frozen=True)
class Seen:
    """What is measured of rows: their classes, what a model says, and where it has them scores and probabilities.

    `said` is the probability of the second of two classes, of more that of the likeliest one; `came` whether it is so.
    """

    truth: IntArray
    guess: IntArray
    scores: FloatArray | None
    log_losses: FloatArray | None = None
    squares: FloatArray | None = None
    said: FloatArray | None = None
    came: BoolArray | None = None


def look(model: Any, X: Any, truth: IntArray, threshold: float | None = None) -> Seen:
    """Return what a model says of rows of known classes, given by their positions: all that `measure` needs of them."""
    guess = codes_of(decide(model, X, threshold), model.classes_)
    scores = np.asarray(model.decision_function(X)) if len(model.classes_) == 2 else None
    if not hasattr(model, "predict_log_proba"):
        return Seen(truth, guess, scores)
    logs = np.asarray(model.predict_log_proba(X), dtype=np.float64)
    log_losses, P = -logs[np.arange(len(truth)), truth], np.exp(logs)
    if len(model.classes_) == 2:
        squares = np.square(P[:, 1] - truth.astype(np.float64))
        return Seen(truth, guess, scores, log_losses, squares, P[:, 1], truth == 1)
    own = P[np.arange(len(truth)), truth]
    squares = (P**2).sum(axis=1) - own**2 + (1 - own) ** 2
    return Seen(truth, guess, scores, log_losses, squares, P.max(axis=1), P.argmax(axis=1) == truth)


def measure(model: Any, parts: Sequence[Seen], sample_weight: ArrayLike | None = None) -> Evaluation:
    """Return what was seen of rows in measures: see `evaluate`."""
    classes = model.classes_
    seen = Seen(*map(_joined, *(vars(part).values() for part in parts)))
    truth, weight = seen.truth, np.ones(len(seen.truth))
    weight = weight if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    table = _Table(truth, seen.guess, weight, len(classes))
    measures = table.measures() | _of_scores(seen, weight)
    labels = np.asarray(classes).tolist()
    most = int(np.argmax(table.truths))
    return Evaluation(
        len(truth),
        labels,
        {name: one for name, one in measures.items() if one is not None},
        table.of_classes(labels, truth),
        table.cells(),
        labels[most],
        _measure(table.truths[most] / table.total, table.size),
        _reliability(seen, weight, labels, _learned_by(getattr(model, "calibration_", None))),
    )


def _learned_by(calibration: Any) -> str:
    """Return how probabilities were learned, or that they are meant for other rows."""
    return "base rates" if getattr(calibration, "base_rates", ()) else getattr(calibration, "method", "")


def _reliability(seen: Seen, weight: FloatArray, labels: list[Any], method: str) -> Reliability | None:
    if seen.said is None or seen.came is None:
        return None
    return reliability(seen.said, seen.came, weight, labels[1] if len(labels) == 2 else None, method)


def _joined(*parts: Any) -> Any:
    return None if parts[0] is None else np.concatenate(parts)


def codes_of(labels: NDArray[Any], classes: NDArray[Any]) -> IntArray:
    """Return the position of each label among the classes; raise for one that is not there."""
    labels = labels.astype(str) if classes.dtype.kind in "OU" and labels.dtype.kind not in "OU" else labels
    codes = positions(labels, classes.tolist())
    if (codes < 0).any():
        strange = labels[codes < 0][:1].tolist()[0]
        known = listed(classes, 10)
        raise ValueError(
            f"the label {strange!r} occurs, which the model does not know; it knows {known}: leave such rows out"
        )
    return codes


def _of_scores(seen: Seen, weight: FloatArray) -> dict[str, Measure | None]:
    """Return log loss, Brier score and the area under the ROC curve, where the model has what they are of."""
    found: dict[str, Measure | None] = {}
    for name, losses in (("log_loss", seen.log_losses), ("brier", seen.squares)):
        if losses is not None:
            mean, low, high = of_weighted_mean(losses, weight)
            found[name] = Measure(mean, max(0.0, low), high)
    if seen.scores is not None:
        found["auc"] = _defined(*area_under_roc(seen.scores, seen.truth == 1, weight))
    return found


def _defined(value: float, low: float, high: float) -> Measure | None:
    return Measure(float(value), float(low), float(high)) if np.isfinite(value) else None


def _measure(share: float, size: float) -> Measure:
    return Measure(float(share), *map(float, wilson(share, size)))


class _Table:
    """The table of confusions, as sums of weights and of their squares, and what is read off it."""

    def __init__(self, truth: IntArray, guess: IntArray, weight: FloatArray, K: int) -> None:
        self.sums, squares = cell_sizes(truth * K + guess, weight, (K, K))
        self.truths, self.guesses, self.hits = self.sums.sum(axis=1), self.sums.sum(axis=0), self.sums.diagonal()
        self.total, self.size = float(weight.sum()), effective(weight)
        self.squares, ours, theirs = squares, squares.sum(axis=1), squares.sum(axis=0)
        union = self.truths + self.guesses - self.hits  # rows that are of the class or said to be
        self.recall = _shares(self.hits, self.truths, ours)
        self.precision = _shares(self.hits, self.guesses, theirs)
        # F1 = 2 p/(1 + p), where p is the share of hits in that union.
        hits = _shares(self.hits, union, ours + theirs - squares.diagonal())
        self.f1 = 2 * hits / (1 + hits)

    def measures(self) -> dict[str, Measure | None]:
        """Return what needs no scores; of two classes, what is measured of the second."""
        found: dict[str, Measure | None] = {
            "accuracy": _measure(self.hits.sum() / self.total, self.size),
            "balanced_accuracy": _mean(self.recall, self.truths > 0),
        }
        if len(self.sums) == 2:
            of_second = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
            return found | {name: _defined(*values[:, 1]) for name, values in of_second.items()}
        # As scikit-learn has it: the precision of a class that is never said counts as 0.
        precision = np.where(self.guesses > 0, self.precision, 0.0)
        return found | {"macro_precision": _mean(precision, self._occur), "macro_f1": self._macro_f1()}

    @property
    def _occur(self) -> BoolArray:
        """Whether each class occurs, as a label or as a prediction."""
        return np.asarray(self.truths + self.guesses > 0)

    def _macro_f1(self) -> Measure | None:
        """Return the mean of F1 over the classes that occur.

        A row that is wrong counts against two classes, which are not independent for that: the variance is that of the
        linearised mean, and the interval at least as wide as if they were.
        """
        some = self._occur
        independent = _mean(self.f1, some)
        if independent is None:
            return None
        per_row = np.divide(some / some.sum(), self.truths + self.guesses, out=np.zeros(len(some)), where=some)
        slopes = np.where(some, self.f1[0], 0.0) * per_row
        influence = np.diag(2 * per_row) - slopes[:, None] - slopes[None, :]
        value, variance = independent.value, float((self.squares * influence**2).sum())
        low, high = wilson(value, value * (1 - value) / variance) if variance > 0 else (1.0, 0.0)
        return Measure(value, min(independent.low, float(low)), max(independent.high, float(high)))

    def of_classes(self, labels: list[Any], truth: IntArray) -> list[OfClass]:
        """Return what is measured of each class."""
        rows = np.bincount(truth, minlength=len(labels))
        numbers = zip(self.precision.T, self.recall.T, self.f1.T, strict=True)
        return [
            OfClass(label, int(n), *(_defined(*one) for one in three))
            for label, n, three in zip(labels, rows, numbers, strict=True)
        ]

    def cells(self) -> list[list[Measure]]:
        """Return the table; an interval is that of the share of all rows, as a number of rows."""
        low, high = wilson(self.sums / self.total, self.size)
        three = np.stack([self.sums, low * self.total, high * self.total], axis=-1)
        return [[Measure(*map(float, one)) for one in row] for row in three]


def _shares(part: FloatArray, whole: FloatArray, squares: FloatArray) -> FloatArray:
    """Return a row of shares, nan where there is nothing to share, and two of their limits."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share, size = part / whole, whole**2 / squares
    return np.stack([share, *wilson(share, size)])


def _mean(three: FloatArray, some: BoolArray) -> Measure | None:
    """Return the mean over some classes."""
    if not some.any():
        return None
    values, low, high = three[:, some]
    return Measure(float(values.mean()), *of_mean(values, low, high))
