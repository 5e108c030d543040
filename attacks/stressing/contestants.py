"""Who is asked: one adapter each, given the objective of a problem, or left out where it cannot be told that.

Everybody runs as its users run it, with its own tolerance and all the iterations it may want.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .problems import Data, Problem

MANY = 10_000  # iterations
Planes = tuple[Any, Any]
Contestant = Callable[[Problem, Data], Planes]


class CannotBeAsked(ValueError):  # noqa: N818
    """It has no such loss, cannot weigh rows, or penalises the intercept."""


def needs(condition: bool) -> None:
    """Leave the problem out unless this holds."""
    if not condition:
        raise CannotBeAsked


def planes(model: Any) -> Planes:
    return model.coef_, model.intercept_


def linsep(problem: Problem, data: Data) -> Planes:
    import linsep as library

    options = dict(C=problem.C, fit_intercept=problem.intercept)
    if problem.loss in ("logistic", "softmax"):
        model = library.LogisticRegression(**options)
    elif problem.loss == "square":
        model = library.LeastSquaresClassifier(**options)
    else:
        model = library.LinearSVC(loss=problem.loss, **options)
    return planes(model.fit(data.X, data.y, data.s))


def scikit_learn(problem: Problem, data: Data) -> Planes:
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.svm import LinearSVC

    options = dict(C=problem.C, fit_intercept=problem.intercept, max_iter=MANY)
    if problem.loss in ("logistic", "softmax"):
        return planes(LogisticRegression(**options).fit(data.X, data.y, data.s))
    if problem.loss == "square":
        ridge = Ridge(alpha=0.5 / problem.C, fit_intercept=problem.intercept)
        return planes(ridge.fit(data.X, signs(data), data.s))
    needs(not problem.intercept)
    return planes(LinearSVC(loss=problem.loss, **options).fit(data.X, data.y, data.s))


def newton_cholesky(problem: Problem, data: Data) -> Planes:
    from sklearn.linear_model import LogisticRegression

    needs(problem.loss in ("logistic", "softmax"))
    options = dict(C=problem.C, fit_intercept=problem.intercept, max_iter=MANY)
    return planes(LogisticRegression(solver="newton-cholesky", **options).fit(data.X, data.y, data.s))


def liblinear(problem: Problem, data: Data) -> Planes:
    from liblinear.liblinearutil import parameter, train
    from liblinear.liblinearutil import problem as rows_of

    kinds = {"logistic": 0, "squared_hinge": 2, "hinge": 3}
    needs(problem.loss in kinds and data.s is None and np.isfinite(problem.C))
    needs(problem.loss != "hinge" or not problem.intercept)
    bias = "-B 1 -R" if problem.intercept else "-B -1"
    model = train(rows_of(signs(data), data.X), parameter(f"-s {kinds[problem.loss]} -c {problem.C!r} {bias}"))
    d = data.X.shape[1]
    w = np.ctypeslib.as_array(model.w, (d + problem.intercept,)) * model.get_labels()[0]
    return w[:d], w[d] if problem.intercept else 0.0


def snapml(problem: Problem, data: Data) -> Planes:
    from snapml import LogisticRegression, SupportVectorMachine

    needs(problem.loss in ("logistic", "hinge") and data.s is None and np.isfinite(problem.C) and not problem.intercept)
    options = dict(regularizer=1 / problem.C, max_iter=MANY, use_gpu=False, random_state=0, fit_intercept=False)
    kind = LogisticRegression if problem.loss == "logistic" else SupportVectorMachine
    model = kind(**options).fit(data.X, signs(data))
    return np.asarray(model.coef_, dtype=float), 0.0


def statsmodels(problem: Problem, data: Data) -> Planes:
    import statsmodels.api as sm

    needs(np.isinf(problem.C) and problem.loss in ("logistic", "softmax", "square"))
    X = np.hstack([np.ones((len(data.X), 1)), data.X])
    s = np.ones(len(X)) if data.s is None else data.s
    if problem.loss == "softmax":
        needs(data.s is None)
        found = np.asarray(sm.MNLogit(data.y, X).fit(maxiter=MANY, disp=True).params)
        W = np.hstack([np.zeros((len(found), 1)), found]).T
        return W[:, 1:], W[:, 0]
    if problem.loss == "square":
        found = np.asarray(sm.WLS(signs(data), X, weights=s).fit().params)
    else:
        found = np.asarray(sm.GLM(data.y, X, family=sm.families.Binomial(), freq_weights=s).fit(maxiter=MANY).params)
    return found[1:], found[0]


def glum(problem: Problem, data: Data) -> Planes:
    from glum import GeneralizedLinearRegressor

    needs(problem.loss in ("logistic", "square"))
    total = float(len(data.y) if data.s is None else data.s.sum())
    binary = problem.loss == "logistic"
    model = GeneralizedLinearRegressor(
        family="binomial" if binary else "normal",
        alpha=1 / problem.C / total / (1 if binary else 2),
        l1_ratio=0,
        fit_intercept=problem.intercept,
        max_iter=MANY,
    )
    return planes(model.fit(data.X, data.y.astype(float) if binary else signs(data), sample_weight=data.s))


def signs(data: Data) -> np.ndarray:
    """Return classes as −1 and +1."""
    return np.where(data.y == 1, 1.0, -1.0)


CONTESTANTS: dict[str, Contestant] = {
    "linsep": linsep,
    "scikit-learn": scikit_learn,
    "scikit-learn newton-cholesky": newton_cholesky,
    "LIBLINEAR": liblinear,
    "snapML": snapml,
    "statsmodels": statsmodels,
    "glum": glum,
}
#: What has to be importable for each.
PACKAGES = {"LIBLINEAR": "liblinear", "snapML": "snapml", "statsmodels": "statsmodels", "glum": "glum"}
