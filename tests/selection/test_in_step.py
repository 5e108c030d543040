"""Folds that are solved in step: every plane is as near to its fold's optimum as asked, by fits of each fold alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.model_selection import ShuffleSplit, StratifiedKFold

from linsep import LogisticRegressionCV
from linsep._core import Rows
from linsep.certificates.held_out import Fold
from linsep.certificates.stops import Stops
from linsep.losses import Logistic
from linsep.objective.problem import Problem
from linsep.selection import in_step
from linsep.selection.folds import LOOSER

GRID = np.geomspace(1e-3, 1e3, 7)


def data(seed, *, heavy=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 3))
    if heavy:  # rare features, and a few long rows
        X = np.where(rng.random(X.shape) < 0.1, 30.0 * X, 0.01 * X)
    return X, np.where(X @ [1.0, -2.0, 0.5] + rng.logistic(size=120) > 0.3, 1, 0)


def value(theta, X, y, C, weight):
    """The objective of logistic regression, written out."""
    z = np.where(y == 1, 1.0, -1.0) * (X @ theta[:3] + (theta[3] if len(theta) > 3 else 0.0))
    return 0.5 * theta[:3] @ theta[:3] + C * float(weight @ np.logaddexp(0.0, -z))


@pytest.fixture
def stepped(monkeypatch):
    """How many folds went in step, of each run."""
    found, own = [], in_step.InStep.along
    monkeypatch.setattr(in_step.InStep, "along", lambda self, *args: found.append(len(self.folds)) or own(self, *args))
    return found


@pytest.mark.parametrize("heavy", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_each_plane_is_as_near_to_the_optimum_of_its_fold_as_asked(form, intercept, heavy, stepped):
    X, y = data(0, heavy=heavy)
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    model = LogisticRegressionCV(Cs=GRID, cv=3, fit_intercept=intercept).fit(form(X), y, weight)
    assert stepped == [3]
    for (train, _), planes in zip(StratifiedKFold(3).split(X, y), model.coefs_paths_[:, 0, :, 0], strict=True):
        for C, theta in list(zip(GRID, planes, strict=True))[::3]:
            best = Theirs(C=C, solver="newton-cholesky", tol=1e-10, fit_intercept=intercept)
            best.fit(X[train], y[train], weight[train])
            part = X[train], y[train], C, weight[train]
            least = value(np.append(best.coef_[0], best.intercept_), *part)
            assert least * (1 - 1e-9) <= value(theta, *part) <= least / (1 - LOOSER * model.tol)


@pytest.mark.parametrize(
    "asked", [dict(cv=ShuffleSplit(3, random_state=0)), dict(cv=3, class_weight="balanced")], ids=["drawn", "balanced"]
)
def test_rows_that_are_not_held_out_once_or_weigh_differently_go_fold_by_fold(asked, stepped):
    X, y = data(0)
    assert LogisticRegressionCV(Cs=GRID, **asked).fit(X, y).scores_.shape == (3, 1, 7)
    assert not stepped


def test_what_steps_leave_too_far_is_solved_for_alone(monkeypatch):
    X, y = data(0)
    monkeypatch.setattr(in_step, "STEPS", 0)
    parts = list(StratifiedKFold(3).split(X, y))
    signs = np.where(y == 1, 1.0, -1.0)
    folds = [
        Fold(Problem(Rows(X[train]), signs[train], Logistic(), C=1.0), Rows(X[test]), signs[test], np.ones(len(test)))
        for train, test in parts
    ]
    in_step.InStep(folds, parts, Rows(X), signs, None).along([0.1, 10.0], 1e-6)
    assert all(fold.point(C).within(0.5e-6) for fold in folds for C in (0.1, 10.0))
    np.testing.assert_allclose(folds[0].stops[1].g, X[parts[0][1]] @ folds[0].stops[1].w + folds[0].stops[1].b)


def test_the_point_of_a_stop_is_known_until_that_is_solved_again():
    X, y = data(0)
    stops = Stops(Problem(Rows(X), np.where(y == 1, 1.0, -1.0), Logistic(), C=1.0))
    for C in (1.0, 4.0):
        stops.add(C, np.zeros(3), 0.0)
    first, between = stops.point(1.0), stops.point(2.0)
    stops.add(8.0, np.zeros(3), 0.0)
    assert stops.point(1.0) is first
    assert stops.point(2.0) is not between
    stops.add(1.0, np.ones(3), 0.0)
    assert stops.point(1.0).objective(1.0) != first.objective(1.0)
