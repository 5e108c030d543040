"""Calibration: Platt's sigmoid or isotonic regression of out-of-fold scores, or weights of classes taken out."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .._common.checks import check_choice
from .._common.types import BoolArray, FloatArray
from ..estimators import LogisticRegression
from ..estimators._calibration import METHODS, Calibration, Isotonic, Sigmoid, log_odds_of_softmax
from ..estimators._fitting import posed
from ..losses import scores_are_log_odds
from .out_of_fold import OutOfFold, rates_of, score_rows

#: How near the best sigmoid is: it has two numbers, so it costs nothing to have them right.
TOL = 1e-8


def targets(positive: BoolArray, weight: FloatArray) -> FloatArray:
    """Return Platt's targets: (n₊ + 1)/(n₊ + 2) for the positive rows, 1/(n₋ + 2) for the others.

    No finite number of rows shows that a probability is 0 or 1, and a log loss of such never ends.
    """
    ours = float(weight[positive].sum())
    theirs = float(weight.sum()) - ours
    return np.where(positive, (ours + 1) / (ours + 2), 1 / (theirs + 2))


def sigmoid(scores: FloatArray, positive: BoolArray, weight: FloatArray) -> Sigmoid:
    """Return Platt's sigmoid, the maximum likelihood of his targets: of a logistic fit to the score alone.

    A target t is one row of each class, weighted t and 1 − t. A slope below 0 would turn the order of scores round;
    the best one that does not is 0.
    """
    t, n = targets(positive, weight), len(scores)
    X, y = np.concatenate([scores, scores])[:, None], np.repeat([1, 0], n)
    s = np.concatenate([weight * t, weight * (1 - t)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # where rounding ends it before TOL, that is near enough
        model = LogisticRegression(C=np.inf, tol=TOL).fit(X, y, s)
    slope, offset = float(model.coef_[0, 0]), float(model.intercept_[0])
    if slope > 0 and np.isfinite([slope, offset]).all():
        return Sigmoid(slope, offset)
    share = float(weight @ t) / float(weight.sum())
    return Sigmoid(0.0, float(np.log(share / (1 - share))))


def isotonic(scores: FloatArray, positive: BoolArray, weight: FloatArray) -> Isotonic:
    """Return isotonic regression of Platt's targets, by scikit-learn."""
    from sklearn.isotonic import IsotonicRegression

    found = IsotonicRegression(out_of_bounds="clip").fit(scores, targets(positive, weight), sample_weight=weight)
    shares = np.maximum.accumulate(np.clip(found.y_thresholds_, 0.0, 1.0))  # which rounding may leave
    return Isotonic(tuple(found.X_thresholds_.tolist()), tuple(shares.tolist()))


def is_softmax(model: Any, classes: int) -> bool:
    """Whether all classes of a model are one softmax."""
    return classes > 2 and getattr(model, "multi_class", "ovr") != "ovr" and scores_are_log_odds(model)


def calibration(
    method: str, found: OutOfFold, *, together: bool, base_rates: Mapping[Any, float] | None = None
) -> Calibration:
    """Return how out-of-fold scores become probabilities; of more than two classes each against the rest.

    Of a softmax that is each one's log odds: its scores mean nothing alone.
    """
    found = found.at(base_rates)
    make = {"sigmoid": sigmoid, "isotonic": isotonic}[method]
    weight = np.ones(len(found.codes)) if found.weight is None else found.weight
    counted = weight > 0
    planes = np.atleast_2d((log_odds_of_softmax(found.scores) if together else found.scores).T)
    places = [1] if len(planes) == 1 else range(len(planes))
    maps: Any = tuple(
        make(scores[counted], found.codes[counted] == k, weight[counted])
        for k, scores in zip(places, planes, strict=True)
    )
    rates = () if base_rates is None else tuple(rates_of(base_rates, found.classes).tolist())
    return Calibration(method, maps, together, found.folds, len(found.codes), rates)


def check_prior(model: Any, classes: int) -> None:
    """Raise unless weights of classes shift the scores of such a model by numbers that are known."""
    if not scores_are_log_odds(model):
        raise ValueError(
            f"prior takes the weights of classes out of log odds, and the scores of {type(model).__name__} are none; "
            "use sigmoid or isotonic"
        )
    if classes > 2 and not is_softmax(model, classes):
        raise ValueError("prior is for two classes or a softmax: one against the rest has no closed form; use sigmoid")


def prior(
    model: Any,
    weights: FloatArray | None,
    classes: NDArray[Any],
    totals: FloatArray,
    base_rates: Mapping[Any, float] | None = None,
) -> Calibration:
    """Return probabilities without the weights of the classes, and at other base rates than the rows', in closed form.

    With the examples of class k counted wₖ times, the fit learns ``P(k|x) wₖ`` up to a factor: for two classes the log
    odds are too high by log(w₊/w₋), for a softmax each score by log wₖ. Rows that were drawn by class, a share πₖ of
    them where qₖ are of class k in truth, are so many times πₖ/qₖ.

    Parameters
    ----------
    model : estimator
    weights : array or None
        Those of the classes.
    classes, totals : array
        The classes, and how much the rows of each count.
    base_rates : dict of {label: share}, optional
    """
    check_prior(model, len(classes))
    w = np.ones(len(classes)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not (w > 0).all():
        raise ValueError("a class of weight 0 has no probability: give it a weight, or leave its rows out")
    rates = () if base_rates is None else tuple(rates_of(base_rates, classes).tolist())
    if rates:
        w = w * (totals / totals.sum()) / np.array(rates)
    together = len(classes) > 2
    offsets = -np.log(w) if together else [-float(np.log(w[1] / w[0]))]
    return Calibration("prior", tuple(Sigmoid(1.0, float(one)) for one in offsets), together, base_rates=rates)


def calibrate(
    model: Any,
    X: Any,
    y: ArrayLike,
    method: str = "sigmoid",
    *,
    cv: Any = 5,
    sample_weight: Any = None,
    base_rates: Mapping[Any, float] | None = None,
) -> Any:
    """Return a fitted model with probabilities that mean what they say.

    Sigmoid and isotonic regression map out-of-fold scores: each row is scored by a fit on the other folds, as
    scikit-learn's ``CalibratedClassifierCV(ensemble=False)`` does from outside. More than two classes are mapped one
    against the rest, and the probabilities divided by their sum. Weights of classes count in the fit, and not in the
    map. `coef_`, `intercept_`, `decision_function` and `predict` stay as they are, and so does what is proven.

    Parameters
    ----------
    model : estimator of linsep
        Fitted on these rows.
    X, y, sample_weight
        What it was fitted on.
    method : {"sigmoid", "isotonic", "prior"}, default="sigmoid"
        Platt's sigmoid, with his targets; isotonic regression of the same targets, for 1,000 rows and more; or, for a
        logistic model with `class_weight`, its own log odds without the weights of the classes, in closed form.
    cv : int or splitter, default=5
        Not used by ``"prior"``, which needs no folds.
    base_rates : dict of {label: share}, optional
        The shares of the classes where the model will be used, if the rows were drawn by class (half of them positive,
        say, where 1 in 50 is): probabilities are then those of such a row.

    Returns
    -------
    estimator
        A copy with ``calibration_``, and with `predict_proba` and `predict_log_proba`. `linsep.save` and exports take
        it along; another fit forgets it.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from linsep import LinearSVC, calibrate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> model = calibrate(LinearSVC(C=0.1).fit(X, y), X, y)
    >>> model.predict_proba(X[18:20]).round(2)
    array([[1. , 0. ],
           [0.1, 0.9]])
    """
    check_choice("method", method, METHODS)
    check_is_fitted(model, "coef_")
    calibrated = copy.copy(model)
    if base_rates is not None:
        rates_of(base_rates, model.classes_)  # which refuses what are none
    if method == "prior":
        check_prior(model, len(model.classes_))
        _, examples, classes = posed(model, X, y, sample_weight)
        weights = model._class_weights(examples, classes)
        calibrated.calibration_ = prior(model, weights, classes, examples.totals, base_rates)
    else:
        found = score_rows(model, X, y, cv, sample_weight)
        together = is_softmax(model, len(model.classes_))
        calibrated.calibration_ = calibration(method, found, together=together, base_rates=base_rates)
    return calibrated
