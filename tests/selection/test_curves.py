"""A fold along C, solved at few values: what is interpolated is as near to the optimum as it says, by exact fits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linsep import LinearClassifier, LogisticRegression, LogisticRegressionCV
from linsep.certificates.stops import Stops
from linsep.estimators._fitting import posed
from linsep.selection.curves import along, suits
from linsep.selection.folds import LOOSER
from linsep.selection.tracks import Track

GRID = np.geomspace(1e-4, 1e4, 50)


def data(seed, n=150, d=5, separable=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.geomspace(0.1, 3.0, d) + rng.normal(size=d)
    score = X @ rng.normal(size=d) + (0.0 if separable else rng.logistic(size=n))
    return X, (score > np.quantile(score, 0.4)).astype(int)


def objective_of(estimator, X, y, weight=None):
    return Track(*posed(estimator, X, y, weight), 1.0).objectives[0]


def value(theta, X, y, C, weight=None):
    """The objective of logistic regression, written out."""
    z = np.where(y == 1, 1.0, -1.0) * (X @ theta[: X.shape[1]] + (theta[-1] if len(theta) > X.shape[1] else 0.0))
    s = np.ones(len(y)) if weight is None else weight
    return 0.5 * theta[: X.shape[1]] @ theta[: X.shape[1]] + C * float(s @ np.logaddexp(0.0, -z))


@pytest.mark.parametrize("separable", [False, True])
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_every_value_of_the_grid_is_as_near_as_asked_and_few_are_solved_for(tol, separable):
    X, y = data(0, separable=separable)
    stops = Stops(objective_of(LogisticRegression(), X, y))
    points, iterations = along(stops, GRID, tol)
    assert [point.C for point in points] == GRID.tolist()
    assert len(iterations) == len(GRID)
    assert len(stops.stops) < (0.6 if tol == 1e-3 else 1.01) * len(GRID)
    for C, point in list(zip(GRID, points, strict=True))[::4]:
        best = LogisticRegression(C=C, tol=1e-11).fit(X, y)
        optimum = value(np.append(best.coef_, best.intercept_), X, y, C)
        mine = value(np.append(point.mixed("w"), point.mixed("b")), X, y, C)
        assert mine - optimum <= tol * mine * (1 + 1e-9)
        assert point.objective(C) == pytest.approx(mine, rel=1e-10)
        assert point.dual <= optimum * (1 + 1e-10)


@given(seed=st.integers(0, 10_000), C=st.floats(1e-3, 1e3), separable=st.booleans(), intercept=st.booleans())
@settings(max_examples=25, deadline=None)
def test_a_bound_between_stops_is_below_the_optimum(seed, C, separable, intercept):
    X, y = data(seed, n=40, d=3, separable=separable)
    weight = np.random.default_rng(seed).integers(1, 4, len(y)).astype(float)
    stops = Stops(objective_of(LogisticRegression(fit_intercept=intercept), X, y, weight))
    along(stops, np.geomspace(1e-3, 1e3, 5), 1e-1)
    point = stops.point(C)
    best = LogisticRegression(C=C, tol=1e-10, fit_intercept=intercept).fit(X, y, weight)
    theta = np.append(best.coef_, best.intercept_) if intercept else best.coef_[0]
    optimum = value(theta, X, y, C, weight)
    assert point.dual <= optimum * (1 + 1e-9)
    assert point.objective(C) >= optimum * (1 - 1e-9)


def test_a_guide_changes_no_promise():
    X, y = data(1)
    halves = [Stops(objective_of(LogisticRegression(), X[k::2], y[k::2])) for k in (0, 1)]
    along(halves[0], GRID, 1e-3)
    points, _ = along(halves[1], GRID, 1e-3, guide=halves[0])
    assert all(point.within(1e-3) for point in points)


def test_what_cannot_be_interpolated_is_told():
    X, y = data(2)
    assert suits(objective_of(LogisticRegression(), X, y))
    assert suits(objective_of(LinearClassifier("square"), X, y))
    for estimator in (
        LogisticRegression(l1_ratio=0.5),
        LinearClassifier("hinge"),
        LinearClassifier("squared_hinge"),
        LogisticRegression(C=np.inf),
    ):
        assert not suits(objective_of(estimator, X, y))


@pytest.mark.parametrize("far", [0.0, 1e6])
def test_planes_of_a_cross_validation_are_near_the_optimum_for_every_c(far):
    """Also where columns are far from zero, and are centred inside."""
    X, y = data(3, n=200)
    X = X + far
    model = LogisticRegressionCV(Cs=30, cv=2).fit(X, y)
    assert (model.n_iter_[:, 0] == 0).sum() > 20  # which were not solved for
    folds = [np.arange(len(y)) % 2 == k for k in (0, 1)]
    model = LogisticRegressionCV(Cs=30, cv=[(np.flatnonzero(~f), np.flatnonzero(f)) for f in folds]).fit(X, y)
    for test, path, scores in zip(folds, model.coefs_paths_[:, 0, :, 0], model.scores_[:, 0], strict=True):
        for C, theta, score in list(zip(model.Cs_, path, scores, strict=True))[::5]:
            best = LogisticRegression(C=C, tol=1e-9).fit(X[~test], y[~test])
            optimum = value(np.append(best.coef_, best.intercept_), X[~test], y[~test], C)
            mine = value(theta, X[~test], y[~test], C)
            assert mine - optimum <= LOOSER * model.tol * mine * (1 + 1e-6)
            assert score == pytest.approx(np.mean((X[test] @ theta[:-1] + theta[-1] > 0) == (y[test] == 1)))


def test_planes_are_there_once_it_is_fitted():
    assert not hasattr(LogisticRegressionCV(), "coefs_paths_")
    X, y = data(4)
    assert LogisticRegressionCV(Cs=7, cv=3).fit(X, y).coefs_paths_.shape == (3, 1, 7, 1, 6)
