"""Where to cut the scores of two classes: what each threshold gives, and the one that meets an aim."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._common import reading
from .._common.types import BoolArray, FloatArray
from .._common.words import listed
from .out_of_fold import OutOfFold, rates_of, score_rows

#: How many points are kept of the curve that a threshold was chosen on.
KEPT = 80
#: Shares of sums of weights are compared to within rounding.
ROUNDING = 1e-12
#: Scores that lie so near each other leave no row's loss more than a hundredth of a unit from another's.
ALIKE = 0.01


@dataclass(frozen=True)
class Counts:
    """What saying the second class from each of some thresholds on comes to, in rows or in their weights."""

    hits: FloatArray  # rows of the second class of which that is said
    alarms: FloatArray  # rows of the first class of which the second is said
    misses: FloatArray  # rows of the second class of which the first is said
    passed: FloatArray  # rows of the first class of which that is said

    @classmethod
    def at(
        cls, thresholds: FloatArray, scores: FloatArray, positive: BoolArray, weight: FloatArray | None = None
    ) -> Counts:
        """Count at each threshold; scores need no order."""
        order = np.argsort(scores, kind="stable")
        s = (np.ones(len(scores)) if weight is None else weight)[order]
        first = np.searchsorted(scores[order], thresholds, side="left")
        below = [np.append(0.0, np.cumsum(np.where(mine[order], s, 0.0))) for mine in (positive, ~positive)]
        (misses, all_ours), (passed, all_theirs) = ((sums[first], sums[-1]) for sums in below)
        return cls(all_ours - misses, all_theirs - passed, misses, passed)

    def turned(self) -> Counts:
        """Return the same of the first class, with hits where it is said and so on."""
        return Counts(self.passed, self.misses, self.alarms, self.hits)

    @property
    def accuracy(self) -> FloatArray:
        """The share of rows that are right."""
        return (self.hits + self.passed) / (self.hits + self.alarms + self.misses + self.passed)

    @property
    def recall(self) -> FloatArray:
        """The share of the second class that is found."""
        return share(self.hits, self.hits + self.misses)

    @property
    def false_alarms(self) -> FloatArray:
        """The share of the first class that is taken for the second."""
        return share(self.alarms, self.alarms + self.passed)

    @property
    def precision(self) -> FloatArray:
        """The share of those said to be of the second class that are; undefined where nothing is."""
        return share(self.hits, self.hits + self.alarms)

    @property
    def balanced_accuracy(self) -> FloatArray:
        """The mean of the shares of both classes that are right."""
        return (self.recall + 1.0 - self.false_alarms) / 2

    @property
    def f1(self) -> FloatArray:
        """The harmonic mean of precision and recall, of the second class."""
        return share(2 * self.hits, 2 * self.hits + self.alarms + self.misses)


def share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Return part/whole, not a number where there is nothing to share."""
    return np.asarray(np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=whole > 0))


def cuts(scores: FloatArray) -> FloatArray:
    """Return thresholds that tell scores apart in every way that is possible, ascending: midway, and beyond both ends.

    Examples
    --------
    >>> cuts(np.array([3.0, -1.0, 3.0]))[:2]
    array([-1.,  1.])
    """
    s = np.unique(scores)
    midway = s[:-1] / 2 + s[1:] / 2
    # Neighbouring floats have nothing between them: the upper one is reached by itself.
    return np.concatenate([s[:1], np.where(midway > s[:-1], midway, s[1:]), np.nextafter(s[-1:], np.inf)])


AIMS = (
    "accuracy, balanced-accuracy, f1, costs=FALSE_ALARM:MISS, recall@precision=0.9 or precision@recall=0.8 (of the "
    "second class; 'f1 of no' names another)"
)
#: What is the same whichever class is asked for.
OF_BOTH = ("accuracy", "balanced-accuracy")


@dataclass(frozen=True)
class Aim:
    """What a threshold is for.

    Attributes
    ----------
    name : {"accuracy", "balanced-accuracy", "f1", "costs", "recall", "precision"}
        What is to be as high as possible; of costs, as low.
    numbers : tuple of float
        Of costs, that of a false alarm (the second class said of the first) and of a miss; of recall, the precision
        that it may not go below, and of precision the recall.
    label : str
        The class that is to be found, "" for the second: then what is said of the second is of this one.

    Examples
    --------
    >>> Aim.parse("recall@precision=.9"), str(Aim.parse("costs=1:5 of No"))
    (Aim(name='recall', numbers=(0.9,), label=''), 'costs=1:5 of No')
    """

    name: str
    numbers: tuple[float, ...] = ()
    label: str = ""

    @classmethod
    def parse(cls, text: str, instead: str = "") -> Aim:
        """Read an aim; raise `ValueError` for what is none, naming what could be given instead of one."""
        measure, _, label = text.strip().partition(" of ")
        name, _, said = measure.strip().lower().replace("_", "-").partition("=")
        if name in OF_BOTH and label:
            raise ValueError(f"{text}: {name} is of both classes; leave out 'of {label}'")
        if name in (*OF_BOTH, "f1") and not said:
            return cls(name, (), label)
        kind = {"costs": "costs", "cost": "costs", "recall@precision": "recall", "precision@recall": "precision"}
        try:
            numbers = tuple(float(part) for part in said.split(":"))
        except ValueError:
            numbers = ()
        if kind.get(name) == "costs" and len(numbers) == 2:
            if not (min(numbers) >= 0 and 0 < max(numbers) < np.inf):
                raise ValueError(f"{text}: costs are numbers from 0, of a false alarm and of a miss, as in costs=1:5")
            return cls("costs", numbers, label)
        if name in kind and kind[name] != "costs" and len(numbers) == 1:
            if not 0 < numbers[0] <= 1:
                raise ValueError(f"{text}: {name.partition('@')[2]} is a share of rows, above 0 and up to 1")
            return cls(kind[name], numbers, label)
        raise ValueError(f"{text} is no threshold: give {instead}an aim: {AIMS}")

    def __str__(self) -> str:
        written = ":".join(f"{number:g}" for number in self.numbers)
        at = {"recall": "recall@precision=", "precision": "precision@recall=", "costs": "costs="}
        return f"{at.get(self.name, self.name)}{written}{f' of {self.label}' if self.label else ''}"

    @property
    def measure(self) -> str:
        """What the value of a threshold is called."""
        return "cost per row" if self.name == "costs" else self.name.replace("-", " ").replace("f1", "F1")

    def about(self, classes: Iterable[Any]) -> Aim:
        """Return the same with the class that it is about by name; raise where there is none of that name."""
        labels = [str(label) for label in classes]
        if self.label and self.label not in labels:
            raise ValueError(f"{self}: no class is called {self.label}; there are {' and '.join(labels)}")
        return self if self.name in OF_BOTH else replace(self, label=self.label or labels[1])

    def of(self, found: Counts) -> FloatArray:
        """Return what each threshold is worth; of costs, what it costs per row."""
        if self.name == "costs":
            every = found.hits + found.alarms + found.misses + found.passed
            return (self.numbers[0] * found.alarms + self.numbers[1] * found.misses) / every
        return np.asarray(getattr(found, self.name.replace("-", "_")))

    def _bound(self, found: Counts) -> FloatArray | None:
        """Return what may not go below a number."""
        other: Callable[[Counts], FloatArray] | None
        other = {"recall": lambda c: c.precision, "precision": lambda c: c.recall}.get(self.name)
        return None if other is None else other(found)

    def best(self, thresholds: FloatArray, found: Counts, label: Any = "the second class") -> float:
        """Return the threshold that meets it best; of equally good ones that nearest to 0.

        Raises
        ------
        ValueError
            Where none meets it, with what can be reached.
        """
        value, bound = np.nan_to_num(self.of(found), nan=-np.inf), self._bound(found)
        value = -value if self.name == "costs" else value
        if bound is not None:
            allowed = np.nan_to_num(bound, nan=-1.0) >= self.numbers[0] - ROUNDING
            if not allowed.any():
                self._refuse(value, bound, label)
            value = np.where(allowed, value, -np.inf)
        good = value >= value.max() - ROUNDING
        if bound is not None:  # of the same recall, the highest precision
            good &= bound >= bound[good].max() - ROUNDING
        return float(thresholds[good][np.argmin(np.abs(thresholds[good]))])

    def _refuse(self, value: FloatArray, bound: FloatArray, label: Any) -> None:
        most = float(np.nanmax(bound))
        at = float(value[bound >= most - ROUNDING].max())
        other = {"recall": "precision", "precision": "recall"}[self.name]
        reached = np.floor(most * 1e4) / 1e4
        raise ValueError(
            f"{self} cannot be met: out of fold the {other} of {label} reaches {reached:.4f} at the most, where its "
            f"{self.name} is {at:.4f}; ask for {other}={reached:.4f} or less"
        )


@dataclass(frozen=True)
class Chosen:
    """A threshold, and what it was chosen by.

    Attributes
    ----------
    threshold : float
        Of the score.
    aim : Aim
    value, spread : float
        What the aim comes to there on all out-of-fold scores, and its standard deviation between folds.
    precision, recall : float
        Of the class that it is about; precision is None where that is never said.
    untuned : dict or None
        The value, precision and recall where each fold is cut at the threshold that the other folds choose, which has
        not seen it; None where these cannot meet the aim.
    folds, rows : int
    curve : dict of list
        Thresholds with the aim's value, precision and recall.
    base_rates : dict or None
        The shares of the classes that rows were weighted to.
    """

    threshold: float
    aim: Aim
    value: float | None
    spread: float
    precision: float | None
    recall: float | None
    untuned: dict[str, float | None] | None
    folds: int
    rows: int
    curve: dict[str, list[float | None]]
    base_rates: dict[Any, float] | None = None

    @classmethod
    def by(cls, aim: Aim, found: OutOfFold, base_rates: Mapping[Any, float] | None = None) -> Chosen:
        """Choose on out-of-fold scores; raise where the aim cannot be met."""
        found = found.at(base_rates)
        if len(found.classes) != 2:
            raise ValueError(f"a threshold is for two classes; of {len(found.classes)} the highest score is predicted")
        aim.about(found.classes)  # which refuses a class that there is not
        at = _best(aim, found)
        here = _counts(aim, found, np.array([at]))
        each = [float(aim.of(_counts(aim, found.some(found.fold == k), np.array([at])))[0]) for k in range(found.folds)]
        value, precision, recall = (one[0] for one in _told(aim, here).values())
        spread = float(np.std(each, ddof=1)) if len(each) > 1 else 0.0
        rest = _untuned(aim, found), found.folds, len(found.codes), _curve(aim, found, at)
        rates = None if base_rates is None else dict(base_rates)
        return cls(at, aim, value, spread, precision, recall, *rest, rates)

    def to_dict(self) -> dict[str, Any]:
        """Return it as a model keeps it, in ``threshold_choice_``."""
        return vars(self) | {"aim": str(self.aim)}


def check_told(told: Any, classes: Iterable[Any]) -> None:
    """Raise `ValueError` unless this is what `Chosen.to_dict` gives for a model of these classes.

    Examples
    --------
    >>> check_told({"threshold": 0.5}, ["no", "yes"])
    Traceback (most recent call last):
    ...
    linsep._common.reading.MissingError: it lacks 'aim': not what linsep wrote
    """
    Aim.parse(reading.text(told, "aim")).about(classes)
    for name in ("threshold", "spread"):
        reading.number(told, name)
    for name in ("folds", "rows"):
        reading.count(told, name)
    untuned = reading.entry(told, "untuned")
    for values in (told, *([] if untuned is None else [untuned])):
        for name in ("value", "precision", "recall"):
            reading.optional(values, name, reading.number)
    curve = reading.section(told, "curve")
    lists = [reading.items(curve, name, _number_or_none) for name in ("threshold", "value", "precision", "recall")]
    if set(curve) != {"threshold", "value", "precision", "recall"} or len({len(one) for one in lists}) > 1:
        raise ValueError("the lists of its curve are of different lengths")
    rates = told.get("base_rates")
    for label in () if rates is None else reading.section(told, "base_rates"):
        reading.number(rates, label)


def _number_or_none(data: Mapping[Any, Any], name: Any) -> float | None:
    return reading.optional(data, name, reading.number)


def in_words(told: Mapping[str, Any], classes: Iterable[Any]) -> str:
    """Say what a threshold was chosen for and what that came to, as ``threshold_choice_`` tells it."""
    aim = Aim.parse(told["aim"]).about(classes)
    measure = aim.measure
    found = _numbers(measure, told, f" ± {told['spread']:.4f} between {told['folds']} folds")
    if told["untuned"] is not None:
        found += f"; {_numbers(measure, told['untuned'])} where each fold is cut by what the others choose"
    rates = told.get("base_rates")
    where = "" if rates is None else f" at the base rates {listed([f'{k}={v:g}' for k, v in rates.items()], 8)}"
    return f"for {aim} on {told['rows']:,} out-of-fold scores{where}: {found}{_alike(told)}"


def _alike(told: Mapping[str, Any]) -> str:
    """Say it where scores hardly differ: folds have intercepts of their own, which then decide."""
    at = [one for one in told["curve"]["threshold"] if one is not None and np.isfinite(one)]
    width = max(at, default=0.0) - min(at, default=0.0)
    if width > ALIKE:
        return ""
    return f"; but all scores lie within {width:.1g} of each other, too near to cut between them: give a larger C"


def _numbers(measure: str, told: Mapping[str, Any], spread: str = "") -> str:
    """Return the value that was aimed at, and precision and recall beside it."""
    values = {measure: told["value"]} | {name: told[name] for name in ("precision", "recall")}
    said = [f"{name} {'undefined' if one is None else f'{one:.4f}'}" for name, one in values.items()]
    return ", ".join([said[0] + spread, *said[1:]])


def _counts(aim: Aim, found: OutOfFold, thresholds: FloatArray) -> Counts:
    counts = Counts.at(thresholds, found.scores, found.codes == 1, found.weight)
    return counts.turned() if aim.label == str(found.classes[0]) else counts


def _best(aim: Aim, found: OutOfFold) -> float:
    thresholds = cuts(found.scores)
    return aim.best(thresholds, _counts(aim, found, thresholds), aim.label or found.classes[1])


def _told(aim: Aim, counts: Counts) -> dict[str, list[float | None]]:
    """Return what is told of each threshold, None for what is undefined."""
    columns = {"value": aim.of(counts), "precision": counts.precision, "recall": counts.recall}
    return {name: [one if np.isfinite(one) else None for one in values.tolist()] for name, values in columns.items()}


def _untuned(aim: Aim, found: OutOfFold) -> dict[str, float | None] | None:
    """Return what comes of it where each fold is cut by what the others choose."""
    sums = np.zeros(4)
    for k in range(found.folds):
        try:
            at = _best(aim, found.some(found.fold != k))
        except ValueError:
            return None
        one = _counts(aim, found.some(found.fold == k), np.array([at]))
        sums += [one.hits[0], one.alarms[0], one.misses[0], one.passed[0]]
    return {name: values[0] for name, values in _told(aim, Counts(*sums[:, None])).items()}


def _curve(aim: Aim, found: OutOfFold, chosen: float) -> dict[str, list[float | None]]:
    thresholds = cuts(found.scores)
    some = np.unique(np.linspace(0, len(thresholds) - 1, KEPT).astype(np.int64))
    at = np.unique(np.append(thresholds[some], chosen))
    return {"threshold": at.tolist(), **_told(aim, _counts(aim, found, at))}


def best_threshold(scores: ArrayLike, positive: ArrayLike) -> float:
    """Return the threshold t for which ``score >= t`` agrees with most of the labels.

    It lies midway between two neighbouring scores; of several that are equally good it is the one closest to zero.

    Parameters
    ----------
    scores : array of shape (n,)
    positive : array of bool, of shape (n,)
        Whether each example is of the positive class.

    Examples
    --------
    >>> best_threshold([-2.0, -1.0, 0.5, 3.0], [False, False, False, True])
    1.75
    """
    scores, positive = np.asarray(scores, dtype=np.float64), np.asarray(positive, dtype=bool)
    thresholds = cuts(scores)
    return Aim("accuracy").best(thresholds, Counts.at(thresholds, scores, positive))


def choose_threshold(
    model: Any,
    X: Any,
    y: ArrayLike,
    aim: str = "balanced-accuracy",
    *,
    cv: Any = 5,
    sample_weight: Any = None,
    base_rates: Mapping[Any, float] | None = None,
) -> Any:
    """Return a fitted model that predicts its second class from another score on, chosen for an aim.

    The threshold is chosen on out-of-fold scores: each row is scored by a fit on the other folds. `coef_`, `intercept_`
    and `decision_function` stay as they are, and so does what is proven of them; `predict`, `linsep.save` and exports
    take the threshold. scikit-learn's `TunedThresholdClassifierCV` and `FixedThresholdClassifier` do it from outside.

    Parameters
    ----------
    model : estimator of linsep
        Fitted on these rows, of two classes.
    X, y, sample_weight
        What it was fitted on.
    aim : str, default="balanced-accuracy"
        ``"accuracy"``, ``"balanced-accuracy"``, ``"f1"`` (of the second class), ``"costs=1:5"`` (of saying the second
        class of the first, and of missing it), ``"recall@precision=0.9"`` (the highest recall with at least that
        precision), ``"precision@recall=0.8"``; ``"f1 of no"`` and so on for the class of that name.
    cv : int or splitter, default=5
    base_rates : dict of {label: share}, optional
        The shares of the classes where the model will be used, if rows were drawn by class: the aim is then that of
        such rows.

    Returns
    -------
    estimator
        A copy with ``threshold_``, the score from which on ``classes_[1]`` is predicted, and ``threshold_choice_``, a
        dictionary: what the aim comes to, its spread between folds, and the curve.

    Raises
    ------
    ValueError
        Where the aim cannot be met, with what can be.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from linsep import LinearSVC, choose_threshold
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> model = choose_threshold(LinearSVC(C=0.1).fit(X, y), X, y, "precision@recall=0.99")
    >>> said = model.decision_function(X) >= model.threshold_
    >>> bool(model.threshold_choice_["recall"] >= 0.99), bool((said == model.predict(X)).all())
    (True, True)
    """
    if not isinstance(aim, str):
        own = "a threshold of your own goes to scikit-learn's FixedThresholdClassifier"
        raise ValueError(f"aim={aim!r} is no aim; use {AIMS}; {own}")
    wanted = Aim.parse(aim)
    check_is_fitted(model, "coef_")
    if len(model.classes_) != 2:
        raise ValueError(f"a threshold is for two classes; of {len(model.classes_)} the highest score is predicted")
    if base_rates is not None:
        rates_of(base_rates, model.classes_)  # which refuses what are none
    chosen = Chosen.by(wanted, score_rows(model, X, y, cv, sample_weight), base_rates)
    cut = copy.copy(model)
    cut.threshold_, cut.threshold_choice_ = chosen.threshold, chosen.to_dict()
    return cut
