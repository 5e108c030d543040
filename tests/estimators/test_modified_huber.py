"""The loss modified_huber: scikit-learn's walks and probabilities, and proofs like those of the other losses."""

import subprocess
import sys

import cvxpy as cp
import numpy as np
import pytest
from sklearn import linear_model
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.preprocessing import scale

import linsep.checker
from command import call
from linsep import LinearClassifier, SGDClassifier, load, losses, save, verify


def least(X, y, C):
    """The optimum by CVXPY: the loss is Huber's function of max(0, 1 − z), straight from 2 on."""
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    z = cp.multiply(y, X @ w + b)
    objective = 0.5 * cp.sum_squares(w) + C * cp.sum(cp.huber(cp.pos(1 - z), 2))
    return cp.Problem(cp.Minimize(objective)).solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("shuffle", [False, True])
def test_steps_and_probabilities_are_those_of_scikit_learn(shuffle):
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    asked = dict(loss="modified_huber", alpha=0.01, shuffle=shuffle, tol=None, max_iter=5, random_state=0)
    ours, theirs = SGDClassifier(**asked).fit(X, y), linear_model.SGDClassifier(**asked).fit(X, y)
    if not shuffle:
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
    theirs.coef_, theirs.intercept_ = ours.coef_, ours.intercept_
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-12, atol=1e-15)


def test_of_several_classes_probabilities_are_scikit_learns():
    X, y = load_iris(return_X_y=True)
    ours = SGDClassifier("modified_huber", random_state=0).fit(scale(X), y)
    theirs = linear_model.SGDClassifier(loss="modified_huber").fit(scale(X), y)
    theirs.coef_, theirs.intercept_ = ours.coef_, ours.intercept_
    far = np.vstack([scale(X), -50 * np.ones((1, 4)), 50 * np.ones((1, 4))])
    np.testing.assert_allclose(ours.predict_proba(far), theirs.predict_proba(far), rtol=1e-12, atol=1e-15)
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(ours.predict_log_proba(far), np.log(ours.predict_proba(far)))


@pytest.mark.parametrize("solver", ["auto", "newton", "dual"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_optimum_is_proven(solver, C):
    X, y = make_classification(120, 5, flip_y=0.2, random_state=1)
    model = LinearClassifier("modified_huber", C=C, solver=solver, tol=1e-7, max_iter=50_000).fit(X, y)
    assert model.certificate_.proven
    assert model.certificate_.primal == pytest.approx(least(X, 2 * y - 1, C), rel=1e-6)
    assert verify(model, X, y).ok


def test_the_checker_knows_it(tmp_path):
    X, y = make_classification(80, 3, n_redundant=0, flip_y=0.2, random_state=2)
    data, model = str(tmp_path / "d.csv"), str(tmp_path / "m.json")
    np.savetxt(data, np.c_[X, y], delimiter=",", header="a,b,c,y", comments="")
    assert call("fit", data, "--target", "y", "--loss", "modified_huber", "-o", model).code == 0
    checker = [sys.executable, linsep.checker.__file__, model, data, "--target", "y"]
    done = subprocess.run(checker, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_its_scores_are_not_taken_for_log_odds(tmp_path):
    X, y = make_classification(80, 3, n_redundant=0, random_state=2)
    model = SGDClassifier("modified_huber", random_state=0).fit(X, y)
    assert not losses.scores_are_log_odds(model)
    assert losses.scores_are_log_odds(SGDClassifier("logistic", random_state=0).fit(X, y))
    assert not losses.scores_are_log_odds(SGDClassifier("hinge", random_state=0).fit(X, y))
    save(model, tmp_path / "m.json")
    np.testing.assert_array_equal(load(tmp_path / "m.json").predict_proba(X), model.predict_proba(X))
