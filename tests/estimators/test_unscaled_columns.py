"""Columns far from zero or of very different size: a stochastic fit that they keep from its optimum says so."""

import re
import warnings
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from linsep import LinearSVC, Perceptron, SGDClassifier
from linsep._core import Rows
from linsep.estimators import _scaling as scaling
from linsep.losses import Hinge
from linsep.objective.problem import Problem
from linsep.schedules import InverseSqrt


def blobs(seed):
    return make_classification(400, 6, n_informative=4, flip_y=0.05, random_state=seed)


def changed(X, how):
    X = X.copy()
    if how == "all far":
        return X + 100
    if how == "one far":
        X[:, 2] += 100
    else:
        X[:, 2] *= 100
    return X


@pytest.mark.parametrize("how", ["all far", "one far", "one wide"])
@pytest.mark.parametrize("seed", [3, 4, 5])
def test_a_fit_far_from_its_optimum_names_the_column(how, seed):
    X, y = blobs(seed)
    Z = changed(X, how)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = SGDClassifier(random_state=0).fit(Z, y)
    best = LinearSVC(loss="hinge", tol=1e-3).fit(X, y).score(X, y)
    if model.score(Z, y) < best - 0.05:
        (words,) = [str(one.message) for one in said]
        assert "far from the optimum" in words
        assert "'x2'" in words or how == "all far"
        assert ("lies around" in words) == (how != "one wide")
    assert model.converged_ == (not said)


def test_what_it_advises_helps():
    X, y = load_wine(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="column 'x12' varies by 314") as said:
        model = SGDClassifier("logistic", random_state=0).fit(X, y)
    assert "StandardScaler" in str(said[0].message)
    assert not model.converged_
    Z = StandardScaler().fit_transform(X)
    again = SGDClassifier("logistic", random_state=0).fit(Z, y)  # without a word
    assert again.converged_
    assert again.score(Z, y) > 0.98 > 0.8 > model.score(X, y)


def test_scikit_learns_rule_is_told_off_as_well():
    X, y = blobs(0)
    with pytest.warns(ConvergenceWarning, match="far from the optimum"):
        assert not SGDClassifier(alpha=1e-3, random_state=0).fit(X + 100, y).converged_
    assert SGDClassifier(alpha=1e-3, random_state=0).fit(X, y).converged_


def test_sparse_rows_are_scaled_only():
    X, y = blobs(2)
    with pytest.warns(ConvergenceWarning, match="'x2' varies by"):
        SGDClassifier(random_state=0).fit(sparse.csr_array(changed(X, "one wide")), y)


def test_columns_that_do_no_harm_are_left_alone():
    X, y = blobs(0)
    noise = np.random.default_rng(0).normal(size=len(y))
    assert SGDClassifier(random_state=0).fit(np.c_[X, noise], y).converged_
    one = np.array([0.0, 1.0] * 20)[:, None] * 40  # wide, and enough
    assert SGDClassifier(random_state=0).fit(one, one.ravel() > 0).converged_


def test_the_perceptron_names_the_column_beside_max_iter():
    X, y = load_iris(return_X_y=True)
    X, y = X[:100] - X[:100].mean(axis=0), y[:100]
    words = "raise max_iter, or scale the columns first: column 'x1' lies around 1e\\+03 and varies by 0.476"
    with pytest.warns(ConvergenceWarning, match=words):
        Perceptron(max_iter=20).fit(X + np.array([0, 1000, 0, 0]), y)
    assert Perceptron(max_iter=20).fit(X, y).converged_


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_few_mistakes_do_not_excuse_losses_far_above_the_optimums(loss):
    X, y = load_digits(return_X_y=True)
    X, y = X[(y == 3) | (y == 7)], y[(y == 3) | (y == 7)]
    with pytest.warns(ConvergenceWarning, match=r"far from the optimum.* lies around 1\d\d and varies by"):
        model = SGDClassifier(loss, random_state=0).fit(X + 100, y)
    assert model.score(X + 100, y) > 0.97
    assert SGDClassifier(loss, random_state=0).fit(X, y).converged_  # without a word


@pytest.mark.parametrize("loss", ["square", "squared_hinge", "modified_huber"])
@pytest.mark.parametrize("how", ["all far", "one far", "one wide"])
def test_losses_that_bend_name_the_column_as_well(loss, how):
    X, y = load_wine(return_X_y=True)
    X, y = changed(StandardScaler().fit_transform(X[y < 2]), how), y[y < 2]
    with pytest.warns(ConvergenceWarning, match="far from the optimum|get nowhere") as said:
        model = SGDClassifier(loss, random_state=0).fit(X, y)
    assert model.score(X, y) < 0.98
    assert "StandardScaler" in str(said[0].message)
    assert "'x2'" in str(said[0].message) or how == "all far"


def test_steps_that_end_above_no_plane_at_all_are_told_to_be_too_long_and_what_is_advised_helps():
    X, y = make_classification(400, 20, flip_y=0.2, random_state=1)
    X = StandardScaler().fit_transform(X)

    def mean_objective(model):
        w, b = model.coef_[0], model.intercept_[0]
        losses = np.maximum(0, 1 - (2 * y - 1) * (X @ w + b)) ** 2
        return (w @ w / 2 + losses.sum()) / len(y)

    with pytest.warns(ConvergenceWarning, match="ended higher than no plane at all") as said:
        model = SGDClassifier("squared_hinge", random_state=0).fit(X, y)
    assert mean_objective(model) > 1
    advised = InverseSqrt(float(re.search(r"Try InverseSqrt\(eta=(.*?)\)", str(said[0].message))[1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        again = SGDClassifier("squared_hinge", schedule=advised, random_state=0).fit(X, y)
    best = LinearSVC(loss="squared_hinge").fit(X, y)
    assert mean_objective(best) < mean_objective(again) < 1.3 * mean_objective(best)


def test_steps_that_the_user_chose_are_advised_on_and_passes_that_ran_out_name_the_column():
    X, y = load_wine(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match=r"the step size Constant\(eta=1.0\) is too large"):
        SGDClassifier("square", schedule=1.0, random_state=0).fit(X, y)
    with pytest.warns(
        ConvergenceWarning, match=r"max_iter=2; raise max_iter, or centre and scale.*: column 'x12' varies"
    ):
        SGDClassifier("logistic", max_iter=2, random_state=0).fit(X, y)


@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_no_column_is_in_the_way_where_rows_are_short_and_then_nobody_looks_at_them(to, monkeypatch):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(40) > 0.5, 1.0, -1.0)
    short = rng.standard_normal((40, 3)) * [1.0, 0.1, 0.01] + [2.0, 0.0, 0.0]
    short *= min(scaling.FAR, scaling.WIDE) / np.linalg.norm(short, axis=1, keepdims=True)
    names = partial(list, "abc")
    assert scaling.Scale.of(Rows(to(short))).worst(names) == ""  # so looking would have told nothing
    assert "'a' lies around" in scaling.in_the_way(Problem(Rows(to(np.add(short, [9.0, 0.0, 0.0]))), y, Hinge()), names)
    monkeypatch.setattr(scaling.Scale, "of", lambda rows: pytest.fail("looked at the columns"))
    assert scaling.in_the_way(Problem(Rows(to(0.999 * short)), y, Hinge()), names) == ""
