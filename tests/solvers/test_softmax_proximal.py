"""Softmax with an L1 penalty: optima that others find too, and gaps that are proven."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import softmax
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression as ScikitLogistic
from sklearn.preprocessing import scale

from hard_data import hard_classes
from linsep import LogisticRegression
from linsep._core import Rows
from linsep.penalties import L1, L2, ElasticNet
from linsep.solvers import ProximalNewton
from objectives import softmax_objective
from oracles import optimum


def random_problem(seed=0, n=40, d=3, K=4, C=0.7, weighted=False, form=np.asarray, **options):
    rng = np.random.default_rng(seed)
    codes = np.append(np.arange(K), rng.integers(0, K, n - K))
    X = (rng.standard_normal((n, d)) + np.eye(K, d)[codes]).astype(np.float32).astype(np.float64)
    weight = rng.uniform(0.1, 3.0, n) if weighted else None
    return softmax_objective(Rows(form(X)), codes, K, C=C, sample_weight=weight, **({"penalty": L1()} | options))


@given(
    seed=st.integers(0, 10_000),
    r=st.sampled_from([0.2, 0.7, 1.0]),
    C=st.sampled_from([0.05, 0.7, 20.0]),
    K=st.integers(2, 5),
    weighted=st.booleans(),
    intercept=st.booleans(),
    form=st.sampled_from([np.asarray, sparse.csr_array, lambda X: X.astype(np.float32)]),
)
@settings(max_examples=25, deadline=None)
def test_the_optimum_lies_within_the_proven_gap(seed, r, C, K, weighted, intercept, form):
    options = dict(penalty=ElasticNet(r), C=C, K=K, weighted=weighted, fit_intercept=intercept, form=form)
    problem = random_problem(seed, **options)
    result = ProximalNewton(tol=1e-7).solve(problem)
    best = optimum(problem)
    assert result.converged
    assert result.proof.relative_gap <= 1e-7
    assert result.proof.dual <= best * (1 + 1e-9)
    assert result.proof.primal <= best * (1 + 2e-7)
    assert problem.evaluate(result.w, result.b).objective == pytest.approx(result.proof.primal, rel=1e-12)


@pytest.mark.parametrize("r", [0.5, 1.0])
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_the_planes_are_those_scikit_learn_finds(load, r):
    pytest.importorskip("sklearn", "1.8", "of old it takes another word for this objective")
    X, y = load(return_X_y=True)
    X = scale(X)
    ours = LogisticRegression(l1_ratio=r, C=0.5, tol=1e-9).fit(X, y)
    theirs = ScikitLogistic(l1_ratio=r, C=0.5, solver="saga", tol=1e-9, max_iter=100_000).fit(X, y)
    assert ours.history_.solver == "proximal_newton"
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-4)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-4)


@pytest.mark.parametrize("spoil", ["scales", "collinear", "constant", "imbalance", "wide", "shifted", "repeated"])
@pytest.mark.parametrize("C", [0.1, 100.0])
def test_hard_columns_and_rows_converge_at_default_settings(spoil, C):
    X, codes = hard_classes(spoil, 300)
    model = LogisticRegression(l1_ratio=1.0, C=C).fit(X, codes)
    assert model.converged_
    assert model.certificate_.proven
    assert model.certificate_.verify(X, codes).proven


@pytest.mark.parametrize("form", [sparse.csr_array, lambda X: X.toarray()])
def test_of_many_features_most_are_left_out(form):
    rng = np.random.default_rng(0)
    X = sparse.random_array((400, 3000), density=0.02, random_state=rng, format="csr") * 10
    codes = np.asarray(X[:, :300].toarray().reshape(400, 3, 100).sum(axis=2).argmax(axis=1))
    problem = softmax_objective(Rows(form(X)), codes, 3, penalty=L1(), C=0.05)
    result = ProximalNewton(tol=1e-6).solve(problem)
    assert result.converged
    assert 0 < np.count_nonzero(result.w.any(axis=1)) < 300
    smaller = np.flatnonzero(result.w.any(axis=1))
    part = softmax_objective(Rows(X[:, smaller].toarray()), codes, 3, penalty=L1(), C=0.05)
    assert optimum(part) == pytest.approx(result.proof.primal, rel=2e-6)


def test_a_strong_penalty_leaves_the_intercepts_alone():
    problem = random_problem(1, C=1e-4, weighted=True)
    result = ProximalNewton().solve(problem)
    assert not result.w.any()
    np.testing.assert_allclose(softmax(result.b), problem.class_totals / problem.total_weight)


def test_a_warm_start_needs_fewer_steps():
    X, y = load_wine(return_X_y=True)
    model = LogisticRegression(l1_ratio=1.0, warm_start=True).fit(scale(X), y)
    steps = model.n_iter_
    assert model.set_params(C=1.05).fit(scale(X), y).n_iter_ < steps


def test_the_observer_hears_of_planes_and_may_stop():
    heard = []

    def observer(k, theta, objective):
        heard.append((k, theta.shape, objective))
        return k == 2

    result = ProximalNewton(tol=1e-14).solve(random_problem(), observer=observer)
    assert [(k, shape) for k, shape, _ in heard] == [(1, (4, 4)), (2, (4, 4))]
    assert heard[1][2] < heard[0][2]
    assert (result.message, result.n_iter) == ("stopped by a callback", 2)


def test_an_interruption_keeps_the_best_so_far():
    def observer(k, theta, objective):
        if k == 2:
            raise KeyboardInterrupt
        return False

    problem = random_problem()
    result = ProximalNewton(tol=1e-14).solve(problem, observer=observer)
    assert result.interrupted
    assert result.proof.primal < problem.evaluate(np.zeros((3, 4)), np.zeros(4)).objective


def test_too_few_steps_are_told():
    result = ProximalNewton(tol=1e-12, max_iter=1).solve(random_problem())
    assert not result.converged
    assert "max_iter=1" in result.message


def test_what_it_is_not_for_is_refused():
    with pytest.raises(ValueError, match="a penalty with L1"):
        ProximalNewton().solve(random_problem(penalty=L2()))
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"needs a penalty without L1.*use 'proximal_newton'"):
        LogisticRegression(l1_ratio=1.0, solver="newton").fit(X, y)
    for solver in ("proximal_newton", ProximalNewton(), "saga"):
        assert LogisticRegression(l1_ratio=1.0, solver=solver).fit(X, y).converged_
