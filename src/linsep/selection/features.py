"""Choosing features: stability selection by complementary pairs of halves, with a bound on those chosen by chance.

A fit with an L1 penalty on half of the rows takes up features one after the other as C grows; its choice is the first q
of them. The rows are parted into two halves again and again, and a feature is selected if it is chosen in at least a
share τ of all halves. Meinshausen and Bühlmann (2010) do so with single halves; the two of a pair have no row in
common, which is what lets Shah and Samworth (2013) prove, of whatever rows and whatever way to choose,

    E |selected ∩ unlikely| ≤ q² / ((2τ − 1) d),        unlikely: chosen in a half with a chance of at most q/d.

Where the features without influence are chosen with equal chances, and those with influence no less often than they,
all of the former are unlikely, and it is the bound of Meinshausen and Bühlmann on the number that is chosen in error.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._common.checks import check_count
from .._common.frames import frame_of
from .._common.html import card
from .._common.types import FloatArray, IntArray
from .._common.words import many, phrase, shown
from ..estimators import LogisticRegression
from ..estimators._fitting import posed
from ..objective.examples import InMemory
from ..objective.objective import Objective
from .path import null_intercept

#: By what C grows from fit to fit, and how far beyond the first feature at the most.
STEP, FARTHEST = 1.25, 1e5
#: The relative gap of these fits: it is enough to tell which features come first.
TOL = 1e-3


@dataclass(frozen=True, eq=False, repr=False)
class StabilitySelection:
    """How often each feature was chosen; what `stability_selection` returns.

    Attributes
    ----------
    frequency : array of shape (d,)
        In which share of the halves each feature was among the first.
    names : list of str
        Of the features.
    q : int
        How many features are chosen in each half, at the most.
    pairs : int
        How many times the rows were parted.
    threshold : float
        τ: the share from which on a feature is selected.

    Examples
    --------
    >>> import numpy as np
    >>> from linsep import stability_selection
    >>> rng = np.random.default_rng(0)
    >>> X, noise = rng.standard_normal((200, 30)), rng.standard_normal(200)
    >>> found = stability_selection(X, X[:, 3] - X[:, 7] + noise > 0, pairs=10)
    >>> found.selected.tolist(), found.bound() <= 1.0
    ([3, 7], True)
    """

    frequency: FloatArray
    names: list[str]
    q: int
    pairs: int
    threshold: float

    @property
    def selected(self) -> IntArray:
        """The features that are chosen in at least that share of the halves, ascending."""
        return np.flatnonzero(self.frequency >= self.threshold - 1e-12)

    def bound(self, threshold: float | None = None) -> float:
        """Return how many features that are chosen by chance are among the selected, on average, at the most."""
        tau = _checked_threshold(self.threshold if threshold is None else threshold)
        return min(self.q**2 / ((2.0 * tau - 1.0) * len(self.frequency)), float(len(self.frequency)))

    def to_frame(self, backend: Any = "pandas") -> Any:
        """Return a table with a row for each feature, the most frequent first."""
        order = np.argsort(-self.frequency, kind="stable")
        table = {
            "feature": [self.names[j] for j in order],
            "frequency": self.frequency[order],
            "selected": np.isin(order, self.selected),
        }
        return frame_of(table, backend).to_native()

    def __str__(self) -> str:
        chosen = phrase([self.names[j] for j in self.selected]) if len(self.selected) else "none"
        return (
            f"{many(len(self.selected), 'feature')} of {len(self.names):,} in at least {100 * self.threshold:g} % of "
            f"{2 * self.pairs} halves: {chosen}\n"
            "expected among them, of features that a half chooses with a chance of at most "
            f"{self.q}/{len(self.names)}: ≤ {self.bound():.3g}"
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return card(*str(self).splitlines())


def stability_selection(
    X: Any,
    y: ArrayLike,
    estimator: Any = None,
    *,
    q: int | None = None,
    threshold: float = 0.9,
    pairs: int = 50,
    sample_weight: ArrayLike | None = None,
    random_state: Any = 0,
    progress: Callable[[int], None] | None = None,
) -> StabilitySelection:
    """Return how often each feature is among the first that an L1 penalty takes up, over random halves of the rows.

    Parameters
    ----------
    X, y, sample_weight
        As for `fit`. An L1 penalty weighs features by their scale: standardise them, if that means nothing.
    estimator : estimator, optional
        With an L1 or elastic net penalty; its own C does not count. By default ``LogisticRegression(l1_ratio=1.0)``.
    q : int, optional
        How many features are chosen in each half. By default as many as bound those selected by chance by one.
    threshold : float, default=0.9
        The share of the halves from which on a feature is selected: more than 0.5.
    pairs : int, default=50
        How many times the rows are parted into two halves.
    random_state : int, RandomState or None
    progress : callable, optional
        Hears the number of pairs that are done.

    Returns
    -------
    StabilitySelection

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from linsep import stability_selection
    >>> data = load_breast_cancer(as_frame=True)
    >>> print(stability_selection(data.data.apply(scale), data.target, pairs=5))
    2 features of 30 in at least 90 % of 10 halves: worst radius and worst concave points
    expected among them, of features that a half chooses with a chance of at most 4/30: ≤ 0.667
    """
    estimator = LogisticRegression(l1_ratio=1.0) if estimator is None else estimator
    threshold = _checked_threshold(threshold)
    check_count("pairs", pairs)
    if "C" not in estimator.get_params() or not estimator._penalty().l1:
        raise ValueError(
            f"{type(estimator).__name__} takes up no features one by one: it needs an L1 penalty, as with l1_ratio=1"
        )
    model, examples, classes = posed(estimator, X, y, sample_weight)
    q = max(math.isqrt(int((2.0 * threshold - 1.0) * examples.d)), 1) if q is None else q
    check_count("q", q)
    if q > examples.d:
        raise ValueError(f"q={q} features cannot be chosen of {examples.d}; give a smaller q")
    halves, random = _Halves(model, examples, classes, q), check_random_state(random_state)
    counts, half = np.zeros(examples.d), examples.n // 2
    for pair in range(pairs):
        order = random.permutation(examples.n)
        for which in (order[:half], order[half : 2 * half]):
            counts[halves.first(np.sort(which))] += 1.0
        if progress is not None:
            progress(pair + 1)
    return StabilitySelection(counts / (2 * pairs), halves.names, q, pairs, threshold)


def _checked_threshold(threshold: object) -> float:
    if not isinstance(threshold, Real) or isinstance(threshold, bool) or not 0.5 < float(threshold) <= 1:
        raise ValueError(f"threshold={shown(threshold)} must be a share above 0.5 and up to 1: else nothing is bounded")
    return float(threshold)


class _Halves:
    """The way to choose: the first q features that a fit takes up as C grows."""

    def __init__(self, model: Any, examples: InMemory, classes: Any, q: int) -> None:
        self.model, self.examples, self.classes, self.q = model, examples, classes, q
        self.warm = {"warm_start": True} if "warm_start" in model.get_params() else {}
        model.classes_, self.names = classes, model._feature_names()

    def first(self, which: IntArray) -> IntArray:
        """Return the features that are chosen by these rows; of those that come together, the heaviest."""
        weight = None if self.examples.weight is None else self.examples.weight[which]
        half = self.examples.chosen(which, weight)
        if len(half.counts) < len(self.classes) or not half.counts.all():
            raise ValueError(
                f"a half of the rows has none of class {self.classes[_missing(half, len(self.classes))]!r}: there are "
                "too few of it for stability selection"
            )
        chosen: list[int] = []
        C = first_C(self.model, half)
        model, most = self.model, C * FARTHEST
        model.__dict__.pop("coef_", None)  # of another half
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a fit that is not quite there chooses as well
            while len(chosen) < self.q and most > C:
                C *= STEP
                model.set_params(C=C, tol=TOL, **self.warm).fit_examples(half, self.classes, names=self.names)
                sizes = np.abs(model._planes()).max(axis=0)
                order = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
                chosen += [int(j) for j in order if int(j) not in chosen]
        return np.array(chosen[: self.q], dtype=np.int64)


def first_C(model: Any, examples: InMemory) -> float:
    """Return the C from which on the first feature has weight: l1 over the steepest slope at w = 0."""
    objectives = model._objectives(examples, model._class_weights(examples, model.classes_))
    return float(model._penalty().l1) / max(1e-300, *map(_steepest, objectives))


def _steepest(objective: Objective) -> float:
    (w, _), b = objective.zeros(), null_intercept(objective)
    point = objective.evaluate(w, b if objective.head.planes else float(b[0]))
    slopes = point.smooth_gradient[: objective.d] / objective.weight_of_loss
    return float(np.abs(slopes).max(initial=0.0))


def _missing(half: InMemory, classes: int) -> int:
    return int(np.argmin(np.append(half.counts, np.zeros(classes - len(half.counts)))))
