"""Out-of-fold scores: each example scored by a fit that has not seen it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv

from .._types import BoolArray, FloatArray, IntArray
from ..estimators import support_left_out
from ..estimators._fitting import posed

Folds = Iterable[tuple[IntArray, IntArray]]


@dataclass(frozen=True)
class OutOfFold:
    """Examples with the scores that fits on the other folds give them.

    Attributes
    ----------
    classes : array
    scores : array of shape (n,), or with more than two classes (n, K)
    codes : array of int
        The number of each example's class.
    weight : array or None
        How much each counts.
    fold : array of int
        The number of the fold that it was held out in.
    """

    classes: NDArray[Any]
    scores: FloatArray
    codes: IntArray
    weight: FloatArray | None
    fold: IntArray

    @property
    def folds(self) -> int:
        """How many there are."""
        return int(self.fold.max()) + 1

    def some(self, which: BoolArray) -> OutOfFold:
        """Return some of them."""
        weight = None if self.weight is None else self.weight[which]
        return replace(self, scores=self.scores[which], codes=self.codes[which], weight=weight, fold=self.fold[which])


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
    _, examples, classes = posed(model, X, y, sample_weight)
    rows, labels = examples.rows.X, classes[examples.codes]
    folds = check_cv(cv, labels, classifier=True).split(rows, labels)
    return score_folds(model, lambda train, test: (rows[train], rows[test]), labels, examples.weight, folds)
