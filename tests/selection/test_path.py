"""The regularisation path: what it promises of values of C that were not tried, against an independent solver."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import scale

from linsep import (
    LeastSquaresClassifier,
    LinearClassifier,
    LinearSVC,
    LogisticRegression,
    SGDClassifier,
    regularization_path,
    verify,
)
from linsep.arithmetic.enclosure import Interval
from linsep.certificates.path import Knot, chord, crossing, gaps_between


def data(n=60, d=4, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=(d, classes)) + rng.gumbel(size=(n, classes))
    return X, scores.argmax(axis=1)


ESTIMATORS = {
    "logistic": LogisticRegression(),
    "hinge": LinearSVC(),
    "squared hinge": LinearSVC(loss="squared_hinge"),
    "square": LinearClassifier("square"),
    "least squares": LeastSquaresClassifier(),
    "L1": LogisticRegression(l1_ratio=1.0),
    "elastic net": LogisticRegression(l1_ratio=0.5),
    "balanced, no intercept": LogisticRegression(class_weight="balanced", fit_intercept=False),
}


def optimum(estimator, X, y, C, s):
    """Return P*(C) by CVXPY."""
    w, b, signs = cp.Variable(X.shape[1]), cp.Variable(), np.where(y == 1, 1.0, -1.0)
    z = cp.multiply(signs, X @ w + (b if estimator.fit_intercept else 0.0))
    losses = {
        "logistic": cp.logistic(-z),
        "hinge": cp.pos(1 - z),
        "squared_hinge": cp.square(cp.pos(1 - z)),
        "square": cp.square(1 - z),
    }[estimator._loss().name]
    r = estimator._penalty()
    penalty = 0.5 * r.l2 * cp.sum_squares(w) + r.l1 * cp.norm1(w)
    problem = cp.Problem(cp.Minimize(penalty + C * (s @ losses)))
    return problem.solve(solver=cp.CLARABEL)


def objective(model, X, y, C, s):
    """Return the objective of a fitted plane at another C than its own."""
    z = np.where(y == 1, 1.0, -1.0) * (X @ model.coef_[0] + model.intercept_[0])
    r = model._penalty()
    penalty = 0.5 * r.l2 * model.coef_[0] @ model.coef_[0] + r.l1 * np.abs(model.coef_[0]).sum()
    return penalty + C * s @ model._loss().value(z)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_promised_gap_holds_between_the_grid_points(name):
    """Random C, none of which was solved for, against CVXPY."""
    X, y = data()
    estimator, tol = ESTIMATORS[name], 0.02
    path = regularization_path(X, y, estimator, C_max=100.0, tol=tol)
    assert path.worst <= tol
    s = np.ones(len(y)) if estimator.class_weight is None else len(y) / (2 * np.bincount(y)[y])
    for C in np.exp(np.random.default_rng(1).uniform(np.log(path.C_min), np.log(100.0), 12)):
        best, ours = optimum(estimator, X, y, C, s), objective(path.model(C), X, y, C, s)
        assert best * (1 - 1e-6) <= ours <= best / (1 - tol) * (1 + 1e-6)
    below = 0.5 * path.C_min
    nothing = clone(path.models[0]).fit(X, y)
    nothing.coef_, nothing.intercept_ = np.zeros_like(nothing.coef_), path.null
    assert objective(nothing, X, y, below, s) <= optimum(estimator, X, y, below, s) / (1 - tol) * (1 + 1e-6)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_verify_checks_a_path_from_the_data_alone(name):
    X, y = data(seed=3)
    path = regularization_path(X, y, ESTIMATORS[name], C_max=10.0, tol=0.05)
    found = verify(path, X, y)
    assert found
    assert found.proven
    assert "within 0.05 of the optimum" in found.reason
    assert not verify(path, X, 1 - y)
    assert not verify(path, X[::-1] * 1.001, y)


def test_several_classes_at_once_and_one_against_the_rest():
    X, y = load_iris(return_X_y=True)
    for estimator in (LogisticRegression(), LinearSVC(), LogisticRegression(multi_class="ovr")):
        path = regularization_path(X, y, estimator, C_max=10.0)
        assert verify(path, X, y), estimator
        assert path.coefs.shape == (len(path.models), 3, 4)


def test_forged_paths_are_refused():
    X, y = data(seed=5)
    path = regularization_path(X, y, C_max=10.0, tol=0.05)
    certificate = path.certificate
    assert certificate.verify(X, y)
    fewer = replace(
        certificate, certificates=certificate.certificates[::3], borders=np.array([*path.borders[:-1:3], 10.0])
    )
    for forged in (
        replace(certificate, tol=path.worst * 0.9),
        replace(certificate, borders=np.append(path.borders[:-1], 1e3)),
        replace(certificate, borders=path.borders[::-1].copy()),
        replace(certificate, null=path.null + 3.0),
        replace(certificate, certificates=certificate.certificates[1:], borders=path.borders[1:]),
        replace(certificate, certificates=[*certificate.certificates[:-1], certificate.certificates[0]]),
        fewer,
    ):
        outcome = forged.verify(X, y)
        assert not outcome
        assert outcome.reason
    path.models[2].coef_ = path.models[2].coef_ * 1.0001
    assert not verify(path, X, y)


def test_a_smaller_tol_takes_about_as_many_more_models_as_its_root():
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    few, many = (len(regularization_path(X, y, tol=tol).models) for tol in (1e-1, 1e-3))
    assert 5 <= many / few <= 20


def test_it_begins_where_weights_begin_to_matter():
    """With L1 alone that is the smallest C with a weight other than zero, known in closed form."""
    X, y = data()
    path = regularization_path(X, y, LogisticRegression(l1_ratio=1.0), C_max=10.0)
    p = y.mean()
    smallest = 1.0 / np.abs(X.T @ (y - p)).max()
    assert smallest <= path.C_min <= 1.2 * smallest
    assert not regularization_path(X, y, LogisticRegression(l1_ratio=1.0), C_max=0.5 * smallest).coefs.any()


def test_a_plane_that_stays_where_it_is_does_not_hold_up_the_others():
    """That of a class between two others, by hinge: nothing is better than to say no, for every small C."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6))
    y = np.digitize(X @ rng.normal(size=6) + rng.normal(size=120), [-1, 1])
    path = regularization_path(X, y, LinearSVC(), tol=0.02, C_max=50.0)
    assert path.C_min > 1e-5
    assert path.verify(X, y).proven


def test_sample_weights_count_as_rows():
    X, y = data()
    s = np.random.default_rng(2).integers(1, 4, size=len(y)).astype(float)
    path = regularization_path(X, y, C_max=1.0, sample_weight=s)
    again = regularization_path(np.repeat(X, s.astype(int), axis=0), np.repeat(y, s.astype(int)), C_max=1.0)
    np.testing.assert_allclose(path.Cs, again.Cs, rtol=1e-6)
    assert path.verify(X, y, s)
    assert not path.verify(X, y)


def test_a_table_of_the_path():
    X, y = data()
    path = regularization_path(X, y, LogisticRegression(l1_ratio=1.0), C_max=10.0)
    table = path.to_frame()
    assert list(table.columns) == ["C", "from", "to", "objective", "relative_gap", "nonzero"]
    assert (table["from"] <= table["C"]).all()
    assert (table["C"] <= table["to"]).all()
    assert table["nonzero"].iloc[-1] == 4


@given(st.lists(st.floats(0.01, 10.0), min_size=4, max_size=4), st.floats(0.0, 1.0), st.floats(1.01, 50.0))
def test_the_gap_at_the_border_is_the_largest(numbers, share, factor):
    """Of two models anywhere between their values of C, whatever their lines and bounds are."""
    pen, loss, more, less = numbers
    a = Knot(1.0, Interval(pen, pen), Interval(loss, loss), 0.9 * (pen + loss))
    top = Interval(pen + more, pen + more)
    low = Interval(loss * less / (1 + less), loss * less / (1 + less))
    b = Knot(factor, top, low, 0.8 * (top.low + factor * low.low))
    border = crossing(a, b)
    first, second = gaps_between(a, b, border)
    C = 1.0 + share * (factor - 1.0)
    model, most = (a, first) if border >= C else (b, second)
    assert 1.0 - chord(a, b, C) / model.objective(C).low <= most * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (dict(C_max=0.0), "C_max=0.0 must be a positive number"),
        (dict(C_max=np.inf), "C_max=inf must be a positive number"),
        (dict(tol=0.0), "tol=0.0 must be a share"),
        (dict(max_models=0), "max_models=0 must be a whole number"),
        (dict(estimator=LogisticRegression(penalty=None)), "without a penalty there is no path"),
        (dict(estimator=SGDClassifier(average=True)), "SGDClassifier proves nothing of its fits"),
    ],
)
def test_senseless_paths_are_refused(settings, words):
    X, y = data()
    with pytest.raises(ValueError, match=words):
        regularization_path(X, y, **settings)


def test_too_many_models_say_how_far_it_came():
    X, y = data()
    with pytest.raises(RuntimeError, match=r"up to C=.* is proven, by .* models"):
        regularization_path(X, y, tol=1e-6, max_models=5)
    path = regularization_path(X, y, C_max=1.0)
    with pytest.raises(ValueError, match="not on the path, which goes up to C=1"):
        path.model(2.0)
