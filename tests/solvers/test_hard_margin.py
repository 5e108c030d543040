"""The hard margin, against a quadratic program and LIBSVM; its proof, and the refusal of data that overlap."""

import pickle
import signal
import threading
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from linsep import HardMarginSVC, NotSeparableError, geometry
from linsep._core import Rows
from linsep.losses import Hinge
from linsep.objective.problem import Problem
from linsep.solvers.dual.hard_margin import HardMargin


def quadratic_program(X, y, intercept=True):
    """min ½‖w‖² subject to y(w·x + b) ≥ 1, by SLSQP; returns the margin."""
    A = y[:, None] * (np.column_stack([X, np.ones(len(y))]) if intercept else X)
    d = X.shape[1]
    start = SVC(kernel="linear", C=1e8).fit(X, y)
    theta = np.append(start.coef_[0], start.intercept_) if intercept else start.coef_[0]
    run = minimize(
        lambda t: 0.5 * t[:d] @ t[:d],
        theta,
        jac=lambda t: np.append(t[:d], [0.0] * intercept),
        constraints=[dict(type="ineq", fun=lambda t: A @ t - 1, jac=lambda t: A)],
        options=dict(maxiter=500, ftol=1e-13),
    )
    return 1 / np.linalg.norm(run.x[:d])


def separable_blobs(seed, n=40, d=3, gap=0.5):
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((n, d)), rng.standard_normal(d)
    w /= np.linalg.norm(w)
    y = np.where(X @ w > 0, 1, -1)
    y[:2], X[0], X[1] = (1, -1), X[0] + 5 * w, X[1] - 5 * w
    return X + gap * y[:, None] * w, y


@given(seed=st.integers(0, 10_000), n=st.integers(4, 50), d=st.integers(1, 5), intercept=st.booleans())
@settings(max_examples=30, deadline=None)
def test_m14_the_margin_is_that_of_the_quadratic_program(seed, n, d, intercept):
    X, y = separable_blobs(seed, n, d)
    model = HardMarginSVC(tol=1e-8, fit_intercept=intercept).fit(X, y)
    assert model.margin_ == pytest.approx(quadratic_program(X, y, intercept), rel=1e-4)
    z = y * (X @ model.coef_[0] + model.intercept_)
    assert z.min() == pytest.approx(1.0)
    assert model.margin_ == pytest.approx(1 / np.linalg.norm(model.coef_))
    assert model.margin_ == pytest.approx(geometry.margin(X, y, model.coef_[0], model.intercept_[0]))
    np.testing.assert_allclose(z[model.support_], 1.0, rtol=1e-4)
    np.testing.assert_allclose(model.dual_coef_ @ model.support_vectors_, model.coef_, rtol=1e-3, atol=1e-6)
    if intercept:
        assert abs(model.dual_coef_.sum()) <= 1e-9 * np.abs(model.dual_coef_).sum()
    assert model.dual_gap_ <= 1e-8
    assert model.certificate_.verify(X, y)


def test_m14_iris_and_libsvm_agree():
    X, y = load_iris(return_X_y=True)
    X, y = X[y < 2], y[y < 2]
    ours, theirs = HardMarginSVC(tol=1e-9).fit(X, y), SVC(kernel="linear", C=1e10, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-5)
    assert sorted(ours.support_) == sorted(theirs.support_)
    order, theirs_order = np.argsort(ours.support_), np.argsort(theirs.support_)
    np.testing.assert_allclose(ours.dual_coef_[0, order], theirs.dual_coef_[0, theirs_order], rtol=1e-4)


def test_m14_one_outlier_moves_the_plane_and_a_support_vector_holds_it():
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [4.0, 0.0], [4.0, 1.0]]), [0, 0, 1, 1]
    before = HardMarginSVC().fit(X, y)
    assert before.margin_ == pytest.approx(2.0)
    outlier = HardMarginSVC().fit(np.vstack([X, [1.0, 5.0]]), [*y, 1])
    assert outlier.margin_ < 0.8 * before.margin_
    assert 4 in outlier.support_
    far = HardMarginSVC().fit(np.vstack([X, [40.0, 5.0]]), [*y, 1])
    np.testing.assert_allclose(far.coef_, before.coef_, atol=1e-6)


def test_m14_data_that_overlap_raise_with_the_proof(overlapping):
    X, y = overlapping
    with pytest.raises(
        NotSeparableError, match="the classes -1 and 1 are not linearly separable: a point lies"
    ) as caught:
        HardMarginSVC().fit(X, y)
    assert caught.value.proof.verdict == "overlap"
    assert caught.value.proof.verify(X, y)
    with pytest.raises(NotSeparableError, match="rows 1 and 2 are the same point"):
        HardMarginSVC().fit([[0.0], [1.0], [1.0], [2.0]], ["no", "no", "yes", "yes"])


def test_m14_hulls_that_touch_by_a_hair_are_told_apart():
    near = np.array([[0.1, 0.1], [0.3, 0.3], [0.7, 0.7]])
    with pytest.raises(NotSeparableError):
        HardMarginSVC().fit(near, [0, 1, 0])
    near[1, 1] = np.nextafter(0.3, 1)
    with pytest.warns(ConvergenceWarning, match="may not be the widest"):
        model = HardMarginSVC().fit(near, [0, 1, 0])
    assert abs(model.margin_) < 1e-14


def test_m14_several_classes_are_one_against_the_rest_or_an_error_that_names_the_class():
    X, y = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 5.0], [1.0, 5.0], [9.0, 9.0], [9.0, 0.0]]), list("aabbcc")
    model = HardMarginSVC(tol=1e-8).fit(X, y)
    for k, label in enumerate("abc"):
        alone = HardMarginSVC(tol=1e-8).fit(X, np.array(y) == label)
        np.testing.assert_allclose(model.coef_[k], alone.coef_[0], atol=1e-9)
        assert model.margin_[k] == pytest.approx(alone.margin_)
        assert model.certificate_[k].verify(X, np.array(y) == label)
    assert (model.predict(X) == y).all()
    with pytest.raises(NotSeparableError, match="class b and the rest are not linearly separable") as caught:
        HardMarginSVC().fit([[0.0], [1.0], [2.0]], ["a", "b", "c"])
    assert caught.value.proof.verify([[0.0], [1.0], [2.0]], [False, True, False])


def test_m14_a_proof_that_was_changed_is_refused():
    X, y = separable_blobs(1)
    proof = HardMarginSVC(tol=1e-8).fit(X, y).certificate_
    assert proof.proven
    assert proof.gap == pytest.approx(proof.primal - proof.dual)
    assert proof.verify(X, y)
    turned = y.copy()
    turned[proof.points[0]] *= -1
    refused = {
        "keeps a margin": replace(proof, low=proof.low * (1 + 1e-9)),
        "allows a margin": replace(proof, high=proof.high * (1 - 1e-9)),
        "keeps a margin of": replace(proof, intercept=proof.intercept + 0.01),
        "positive": replace(proof, weights=-proof.weights),
        "coefficients": replace(proof, coef=proof.coef[:-1]),
    }
    for reason, changed in refused.items():
        check = changed.verify(X, y)
        assert not check
        assert reason in check.reason
    assert not proof.verify(X, turned)
    assert not proof.verify(X, np.where(y > 0, 5, 0))
    X[proof.points[0]] *= 1.01
    assert not proof.verify(X, y)


def test_examples_without_weight_are_left_out(overlapping):
    X, y = separable_blobs(2)
    noisy, labels = np.vstack([X, X[:3]]), np.append(y, -y[:3])
    weight = np.append(np.full(len(y), 2.0), np.zeros(3))
    np.testing.assert_allclose(
        HardMarginSVC().fit(noisy, labels, sample_weight=weight).coef_, HardMarginSVC().fit(X, y).coef_
    )
    with pytest.raises(NotSeparableError) as caught:
        HardMarginSVC().fit(*overlapping, sample_weight=np.arange(60) % 3)
    assert all(i % 3 for i in caught.value.proof.points)
    with pytest.raises(ValueError, match="one class only"):
        HardMarginSVC().fit(X, y, sample_weight=y > 0)


@pytest.mark.parametrize("to", [sparse.csr_matrix, pd.DataFrame, lambda X: X.astype(np.float32)])
def test_every_container_gives_the_same_plane(to):
    X, y = separable_blobs(3)
    X = X.astype(np.float32).astype(np.float64)
    expected = HardMarginSVC(tol=1e-8).fit(X, y)
    found = HardMarginSVC(tol=1e-8).fit(to(X), y)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-5)
    assert found.certificate_.verify(to(X), y)
    assert found.support_vectors_.shape == (len(found.support_), 3)


def test_data_far_from_the_origin_keep_their_margin():
    X, y = separable_blobs(4)
    far = X + 1e6
    model = HardMarginSVC(tol=1e-6).fit(far, y)
    assert model.margin_ == pytest.approx(HardMarginSVC(tol=1e-8).fit(far - 1e6, y).margin_, rel=1e-4)


def test_where_no_plane_separates_the_soft_margin_can_stand_in(overlapping):
    X, y = overlapping
    with pytest.warns(ConvergenceWarning, match="not linearly separable.*of soft margin"):
        model = HardMarginSVC(on_overlap="soft").fit(X, y)
    assert model.converged_  # to the optimum of the soft margin
    assert model.certificate_.proven
    assert model.margin_ < 0
    assert model.score(X, y) > 0.7
    with pytest.raises(ValueError, match="on_overlap='ignore'"):
        HardMarginSVC(on_overlap="ignore").fit(X, y)
    with pytest.raises(ValueError, match="tol=0"):
        HardMarginSVC(tol=0).fit(X, y)


def test_real_data_that_are_barely_separable():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = HardMarginSVC().fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.certificate_.verify(X, y)
    assert "½‖w‖² subject to y(w·x + b) ≥ 1" in repr(model)
    assert "proven" in model.summary()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_a_run_cut_short_says_so_and_one_interrupted_leaves_a_plane():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    with pytest.warns(ConvergenceWarning, match="may not be the widest"):
        model = HardMarginSVC(max_iter=5).fit(X, y)
    assert (model.predict(X) == y).all()

    problem = Problem(Rows(X), np.where(y > 0, 1.0, -1.0), Hinge())

    def interrupt(k, theta, objective):
        signal.raise_signal(signal.SIGINT)
        return False

    assert threading.current_thread() is threading.main_thread()
    result = HardMargin().solve(problem, observer=interrupt)
    assert result.interrupted
    assert result.w.any()


@given(seed=st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_m14_a_dual_point_bounds_every_plane_that_separates(seed):
    X, y = separable_blobs(seed, 15, 2)
    model = HardMarginSVC().fit(X, y)
    rng = np.random.default_rng(seed)
    w, b = model.coef_[0] + 0.1 * rng.standard_normal(2), model.intercept_[0] + 0.1 * rng.standard_normal()
    kept = geometry.margin(X, y, w, b)
    assume(kept > 0)
    assert kept <= model.certificate_.high * (1 + 1e-12)


def test_m14_no_tolerance_is_left_in_the_check_of_a_margin():
    X, y = separable_blobs(0)
    proof = HardMarginSVC().fit(X, y).certificate_
    assert proof.verify(X, y)
    assert not replace(proof, low=float(np.nextafter(proof.low, np.inf))).verify(X, y)
    assert not replace(proof, high=float(np.nextafter(proof.high, 0.0))).verify(X, y)
    assert replace(proof, low=float(np.nextafter(proof.low, 0.0))).verify(X, y)


@pytest.mark.parametrize("low", [1e-320, 1e-200, 1e200])
def test_m14_bounds_of_any_size_are_no_error(low):
    proof = replace(HardMarginSVC().fit([[0.0], [2.0]], [0, 1]).certificate_, low=low)
    assert proof.primal >= 0
    assert not replace(proof, high=low / 2).proven
    assert isinstance(proof.relative_gap, float)


@pytest.mark.parametrize("scale", [1e-140, 1e-60, 1.0, 1e60, 1e140])
def test_m14_honest_margins_hold_at_any_scale(scale):
    X, y = separable_blobs(1)
    model = HardMarginSVC().fit(X * scale, y)
    assert model.converged_
    assert model.certificate_.verify(X * scale, y)
