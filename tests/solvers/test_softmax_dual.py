"""Dual ascent for several classes: its kernel against the plain twin, its planes against scikit-learn's, its end."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as ScikitLearn

from linsep import LogisticRegression
from linsep._core import Rows, reference
from linsep.objective.examples import InMemory
from linsep.objective.heads import Softmax
from linsep.objective.objective import Objective
from linsep.solvers.dual.of_classes import dual_passes, suits


def texts(n=300, d=4000, K=4, seed=0, words=20):
    """Rows of length one with a few words each; some words are told by the class."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(K, size=n)
    columns = np.where(
        rng.random((n, words)) < 0.3,
        codes[:, None] * 50 + rng.integers(50, size=(n, words)),
        rng.integers(d, size=(n, words)),
    )
    X = sparse.csr_array((np.ones(n * words), columns.ravel(), np.arange(0, n * words + 1, words)), shape=(n, d))
    X.sum_duplicates()
    return sparse.csr_array(X / np.sqrt(X.multiply(X).sum(axis=1))[:, None]), codes


def objective(X, codes, C=1.0, **more):
    return Objective(InMemory(Rows(X), codes), Softmax(int(codes.max()) + 1), C=C, **more)


@given(st.integers(0, 2**32 - 1), st.integers(2, 30), st.sampled_from([0.01, 1.0, 100.0]), st.booleans())
@settings(max_examples=25, deadline=None)
def test_a_pass_is_that_of_the_plain_twin(seed, K, C, dense):
    rng = np.random.default_rng(seed)
    n, d = 12, 6
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6)
    rows, codes, order = Rows(X if dense else sparse.csr_array(X)), rng.integers(K, size=n), rng.permutation(n)
    width = -(-K // 8) * 8
    states = []
    for one in (rows.softmax_dual_pass, lambda *a, **k: plain(rows, *a, **k)):
        W, logs = np.zeros((d + 1, width), np.float32), np.full((n, width), -np.inf, np.float32)
        logs[np.arange(n), codes] = 0.0
        moved = np.zeros(K)
        sums = [one(codes, np.full(n, C), order, constant=0.1, logs=logs, W=W, moved=moved) for _ in range(3)]
        states.append((sums, W, np.exp(logs), moved))
    (sums, W, pi, moved), (sums_, W_, pi_, moved_) = states
    np.testing.assert_allclose(sums, sums_, rtol=1e-2, atol=1e-3 * C)
    np.testing.assert_allclose(W, W_, atol=3e-3 * C)
    np.testing.assert_allclose(pi[:, :K], pi_[:, :K], atol=3e-3)
    np.testing.assert_allclose(moved, moved_, atol=1e-2 * C)


def plain(rows, codes, c, order, **state):
    sums = np.empty(2)
    reference.softmax_dual_pass(rows.X, order, codes, c, rows.squared_norms(), sums=sums, **state)
    return tuple(sums)


@pytest.mark.parametrize("C", [1e-4, 0.1, 1.0, 30.0, 1e3, 1e6])
@pytest.mark.parametrize("dense", [False, True])
def test_no_pass_lowers_the_dual(C, dense):
    """D = Σ c H(π) − ½‖W‖², with W = Σ c ([y = k] − π) x, never falls, however large C is."""
    X, codes = texts(n=60, d=500, K=3)
    rows = Rows(X.toarray() if dense else X)
    W, logs = np.zeros((501, 8), np.float32), np.full((60, 8), -np.inf, np.float32)
    logs[np.arange(60), codes] = 0.0
    rng, c, heights = np.random.default_rng(0), np.full(60, C), [0.0]
    for _ in range(8):
        rows.softmax_dual_pass(codes, c, rng.permutation(60), constant=0.0, logs=logs, W=W, moved=np.zeros(3))
        pi = np.exp(logs[:, :3].astype(np.float64))
        np.testing.assert_allclose(pi.sum(axis=1), 1.0, rtol=1e-5)
        entropy = -(pi * np.where(pi > 0, logs[:, :3], 0.0)).sum()
        v = X.T @ (C * (np.eye(3)[codes] - pi))
        heights.append(C * entropy - 0.5 * (v**2).sum())
    assert (np.diff(heights) >= -1e-4 * np.abs(heights).max()).all()


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_planes_are_those_of_scikit_learn(fit_intercept, weighted):
    X, codes = texts()
    weight = np.random.default_rng(1).integers(1, 4, size=len(codes)).astype(float) if weighted else None
    ours = LogisticRegression(tol=1e-10, fit_intercept=fit_intercept).fit(X, codes, sample_weight=weight)
    theirs = ScikitLearn(tol=1e-12, fit_intercept=fit_intercept, max_iter=10_000, solver="newton-cg")
    theirs.fit(X, codes, sample_weight=weight)
    assert ours.converged_
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)


@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
def test_wide_fits_are_proven_for_any_c(C):
    X, codes = texts(n=120, d=3500)
    fitted = LogisticRegression(C=C, max_iter=1000).fit(X, codes)
    assert fitted.converged_
    assert fitted.certificate_.relative_gap <= 1e-4


def test_a_class_with_one_example_has_its_weight():
    X, codes = texts(n=200)
    codes[7] = 4  # the only one
    fitted = LogisticRegression().fit(X, codes)
    assert fitted.converged_
    assert fitted.predict_proba(X)[:, 4].sum() == pytest.approx(1.0, abs=0.2)


def test_text_takes_a_few_passes(monkeypatch):
    X, codes = texts(n=2000, d=10_000)
    passes, whole = [], Rows.softmax_dual_pass
    monkeypatch.setattr(Rows, "softmax_dual_pass", lambda *a, **k: passes.append(whole(*a, **k)) or passes[-1])
    problem = objective(X, codes)
    ((_, w, b),) = dual_passes(problem, 1e-4, np.random.default_rng(0), 100)
    assert len(passes) <= 12
    assert problem.evaluate(w, b).bound.relative_gap < 1e-3


def test_passes_end_where_they_lead_no_further(monkeypatch):
    """Long rows: each pass undoes much of what the others did, and Newton's method takes over."""
    passes, whole = [], Rows.softmax_dual_pass
    monkeypatch.setattr(Rows, "softmax_dual_pass", lambda *a, **k: passes.append(whole(*a, **k)) or passes[-1])
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 30)) + 3.0
    list(dual_passes(objective(X, rng.integers(3, size=200), C=100.0), 1e-8, rng, 100))
    assert len(passes) < 30


def test_passes_are_iterations_that_max_iter_limits(monkeypatch):
    passes, whole = [], Rows.softmax_dual_pass
    monkeypatch.setattr(Rows, "softmax_dual_pass", lambda *a, **k: passes.append(whole(*a, **k)) or passes[-1])
    X, codes = texts()
    fitted = LogisticRegression().fit(X, codes)
    assert fitted.converged_
    assert 2 < len(passes) <= fitted.n_iter_[0] == fitted.history_["step"][-1]
    for most in (0, 1, 2):
        passes.clear()
        with pytest.warns(ConvergenceWarning, match=f"max_iter={most}"):
            short = LogisticRegression(max_iter=most).fit(X, codes)
        assert len(passes) == most == short.n_iter_[0]
        assert short.coef_.any() == (most > 0)


def test_what_single_precision_cannot_hold_is_left_to_newton():
    X, codes = texts(n=50, d=200)
    assert suits(objective(X, codes))
    assert not suits(objective(1e20 * X, codes))
    assert not suits(objective(X, codes, C=np.inf))


def test_the_result_is_the_same_for_any_number_of_threads(monkeypatch):
    X, codes = texts(n=3000, d=5000)
    found = []
    for threads in "12":
        monkeypatch.setenv("LINSEP_NUM_THREADS", threads)
        found.append(LogisticRegression(random_state=0).fit(X, codes).coef_.tobytes())
    assert found[0] == found[1]
