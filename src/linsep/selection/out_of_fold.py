"""Out-of-fold scores: each example scored by a fit that has not seen it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from .._common.types import BoolArray, FloatArray, IntArray
from ..estimators import support_left_out
from ..estimators._fitting import posed

#: Base rates come to 1 as far as anybody writes them.
SUM = 1e-3
Folds = Iterable[tuple[IntArray, IntArray]]


@dataclass(frozen=True)
class OutOfFold:
    """Examples with the scores that fits on the other folds give them."""

    classes: NDArray[Any]
    scores: FloatArray  # shape (n,), or with more than two classes (n, K)
    codes: IntArray  # the number of each example's class
    weight: FloatArray | None  # how much each counts
    fold: IntArray  # the number of the fold that it was held out in

    @property
    def folds(self) -> int:
        """How many there are."""
        return int(self.fold.max()) + 1

    def at(self, base_rates: Mapping[Any, float] | None) -> OutOfFold:
        """Return the same with rows weighted so that each class has the share that it has where a model is used."""
        if base_rates is None:
            return self
        weight = np.ones(len(self.codes)) if self.weight is None else self.weight
        shares = np.bincount(self.codes, weights=weight, minlength=len(self.classes)) / weight.sum()
        rates = rates_of(base_rates, self.classes)
        return replace(self, weight=weight * (rates / shares)[self.codes])

    def some(self, which: BoolArray) -> OutOfFold:
        """Return some of them."""
        weight = None if self.weight is None else self.weight[which]
        return replace(self, scores=self.scores[which], codes=self.codes[which], weight=weight, fold=self.fold[which])


def rates_of(base_rates: Mapping[Any, float], classes: NDArray[Any]) -> FloatArray:
    """Return the share of each class where a model is used; of two classes one may be left out.

    Examples
    --------
    >>> rates_of({"yes": 0.02}, np.array(["no", "yes"]))
    array([0.98, 0.02])
    """
    labels = classes.tolist()
    if unknown := [label for label in base_rates if label not in labels]:
        raise ValueError(f"base_rates has {unknown[0]!r}, which is none of the classes {labels}")
    rates = np.array([float(base_rates.get(label, np.nan)) for label in labels])
    if len(labels) == 2 and np.isnan(rates).sum() == 1:
        rates = np.where(np.isnan(rates), 1.0 - np.nansum(rates), rates)
    if not ((rates > 0) & (rates < 1)).all() or abs(rates.sum() - 1) > SUM:
        raise ValueError(
            f"base_rates={dict(base_rates)} must be the share of each class, above 0, and come to 1 in all"
        )
    return rates


def score_folds(
    model: Any,
    take: Callable[[IntArray, IntArray], tuple[Any, Any]],
    y: NDArray[Any],
    weight: FloatArray | None,
    folds: Folds,
) -> OutOfFold:
    """Fit on every fold but one, and score that one.

    Parameters
    ----------
    model : estimator
        Copied for each fold; its parameters say what is fitted.
    take : callable
        From the rows to learn from and those to score to both, as the fit takes them.
    y, weight
        Of all rows.
    folds : iterable of (train, test)
    """
    classes, codes = np.unique(y, return_inverse=True)
    scores, rows, fold = [], [], []
    for number, (train, test) in enumerate(folds):
        missing = np.setdiff1d(np.arange(len(classes)), codes[train])
        if len(missing):
            raise ValueError(
                f"fold {number + 1} has no example of class {classes[missing[0]]} to learn from; use fewer folds, or a "
                "stratified splitter"
            )
        X_train, X_test = take(train, test)
        with warnings.catch_warnings(), support_left_out():
            warnings.simplefilter("ignore", ConvergenceWarning)  # what is kept is the fit on all rows, which warns
            fitted = clone(model).fit(X_train, y[train], None if weight is None else weight[train])
        scores.append(np.asarray(fitted.decision_function(X_test), dtype=np.float64))
        rows.append(np.asarray(test))
        fold.append(np.full(len(test), number))
    which = np.concatenate(rows)
    return OutOfFold(
        classes, np.concatenate(scores), codes[which], None if weight is None else weight[which], np.concatenate(fold)
    )


def score_rows(model: Any, X: Any, y: ArrayLike, cv: Any, sample_weight: ArrayLike | None) -> OutOfFold:
    """Return the out-of-fold scores of rows in memory, by any of scikit-learn's splitters."""
    from sklearn.model_selection import check_cv  # half a second, which a command without folds need not wait

    _, examples, classes = posed(model, X, y, sample_weight)
    rows, labels = examples.rows.X, classes[examples.codes]
    folds = check_cv(cv, labels, classifier=True).split(rows, labels)
    return score_folds(model, lambda train, test: (rows[train], rows[test]), labels, examples.weight, folds)
