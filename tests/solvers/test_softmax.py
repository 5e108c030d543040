"""The softmax problem and its solver: bounds that are bounds, optima that others find too."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression as ScikitLogistic
from sklearn.preprocessing import scale

from hard_data import hard_classes
from linsep._core import Rows
from linsep.penalties import L1, ElasticNet
from linsep.solvers import Newton
from objectives import softmax_objective
from oracles import optimum, written_out


def random_problem(seed=0, n=40, d=3, K=4, C=0.7, weighted=False, form=np.asarray, **options):
    rng = np.random.default_rng(seed)
    codes = np.append(np.arange(K), rng.integers(0, K, n - K))
    X = (rng.standard_normal((n, d)) + np.eye(K, d)[codes]).astype(np.float32).astype(np.float64)
    weight = rng.uniform(0.1, 3.0, n) if weighted else None
    return softmax_objective(Rows(form(X)), codes, K, C=C, sample_weight=weight, **options)


# -- the problem and the bound ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, lambda X: X.astype(np.float32)])
def test_the_objective_is_the_one_of_the_definition(weighted, form):
    problem = random_problem(weighted=weighted, form=form, penalty=ElasticNet(0.3))
    rng = np.random.default_rng(1)
    W, b = rng.standard_normal((3, 4)), rng.standard_normal(4)
    assert problem.evaluate(W, b).objective == pytest.approx(written_out(problem).value(W, b), rel=1e-12)


def test_large_scores_do_not_overflow():
    problem = random_problem()
    point = problem.evaluate(1e5 * np.ones((3, 4)) * np.arange(4), np.zeros(4))
    assert np.isfinite(point.objective)
    assert np.isfinite(point.bound.dual)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_gradient_is_that_of_finite_differences(intercept):
    problem = random_problem(weighted=True, fit_intercept=intercept)
    rng = np.random.default_rng(2)
    W, b = rng.standard_normal((3, 4)), rng.standard_normal(4) * intercept
    gradient, step = problem.evaluate(W, b).smooth_gradient, 1e-6
    for j in range(3 + intercept):
        for k in range(4):
            values = []
            for sign in (1, -1):
                moved, shifted = W.copy(), b.copy()
                if j < 3:
                    moved[j, k] += sign * step
                else:
                    shifted[k] += sign * step
                values.append(written_out(problem).value(moved, shifted))
            assert gradient[j, k] == pytest.approx((values[0] - values[1]) / (2 * step), abs=1e-5)


@given(
    seed=st.integers(0, 10_000),
    weighted=st.booleans(),
    intercept=st.booleans(),
    penalty=st.sampled_from([ElasticNet(0.0), ElasticNet(0.4), L1()]),
    size=st.sampled_from([0.0, 0.1, 1.0, 10.0]),
    K=st.integers(2, 6),
)
@settings(max_examples=60, deadline=None)
def test_the_bound_of_any_point_is_below_any_value(seed, weighted, intercept, penalty, size, K):
    problem = random_problem(seed, K=K, weighted=weighted, fit_intercept=intercept, penalty=penalty)
    rng = np.random.default_rng(seed)
    points = [(size * rng.standard_normal((3, K)), size * rng.standard_normal(K) * intercept) for _ in range(2)]
    found = [problem.evaluate(W, b).bound for W, b in points]
    for bound in found:
        for W, b in [*points, (np.zeros((3, K)), np.zeros(K))]:
            assert bound.dual <= written_out(problem).value(W, b) * (1 + 1e-12)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_the_bound_at_the_optimum_is_tight(intercept, weighted):
    problem = random_problem(5, weighted=weighted, fit_intercept=intercept)
    best = optimum(problem)
    result = Newton(tol=1e-9).solve(problem)
    assert result.proof.dual <= best * (1 + 1e-9)
    assert result.proof.primal >= best * (1 - 1e-7)
    assert result.proof.relative_gap <= 1e-9


# -- the solver -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_optimum_is_the_one_scikit_learn_finds(load, intercept):
    X, y = load(return_X_y=True)
    X, K = scale(X), int(y.max()) + 1
    problem = softmax_objective(Rows(X), y, K, C=0.1, fit_intercept=intercept)
    ours = Newton(tol=1e-10).solve(problem)
    theirs = ScikitLogistic(C=0.1, fit_intercept=intercept, tol=1e-10, solver="newton-cholesky").fit(X, y)
    assert ours.converged
    np.testing.assert_allclose(ours.w.T, theirs.coef_, atol=2e-5)
    np.testing.assert_allclose(ours.b, theirs.intercept_, atol=2e-5)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, lambda X: X.astype(np.float32)])
def test_dense_sparse_and_single_precision_prove_the_same(C, form):
    X, y = load_wine(return_X_y=True)
    X = X.astype(np.float32).astype(np.float64)
    plain, other = (Newton().solve(softmax_objective(Rows(f(X)), y, 3, C=C)) for f in (np.asarray, form))
    assert other.converged
    assert other.proof.relative_gap <= 1e-4
    assert other.proof.primal == pytest.approx(plain.proof.primal, rel=1e-4)
    assert other.proof.dual <= plain.proof.primal


def test_many_features_are_preconditioned_by_their_diagonal():
    rng = np.random.default_rng(0)
    X = sparse.random_array((300, 4000), density=0.01, random_state=rng, format="csr") * 10
    codes = np.asarray(X[:, :900].toarray().reshape(300, 3, 300).sum(axis=2).argmax(axis=1))
    problem = softmax_objective(Rows(X), codes, 3, C=1.0)
    result = Newton(tol=1e-8).solve(problem)
    theirs = ScikitLogistic(solver="newton-cg", tol=1e-8).fit(X, codes)
    assert result.proof.relative_gap <= 1e-8
    np.testing.assert_allclose(result.w.T, theirs.coef_, atol=1e-5)


@pytest.mark.parametrize("spoil", ["scales", "collinear", "constant", "imbalance", "wide", "huge"])
def test_hard_columns_and_rows_converge_at_default_settings(spoil):
    X, codes = hard_classes(spoil, 1000)
    result = Newton().solve(softmax_objective(Rows(X), codes, 3, C=1.0))
    assert result.converged
    assert result.proof.relative_gap <= 1e-4


def test_without_a_penalty_it_stops_where_nothing_is_left_to_gain():
    problem = random_problem(3, n=300, C=np.inf)
    result = Newton().solve(problem)
    assert result.converged
    assert "gains no more" in result.message
    assert result.proof.primal == pytest.approx(optimum(problem), rel=1e-7)


def test_the_observer_hears_of_planes_and_may_stop():
    heard = []

    def observer(k, theta, objective):
        heard.append((k, theta.shape, objective))
        return k == 2

    result = Newton(tol=1e-14).solve(random_problem(), observer=observer)
    assert [(k, shape) for k, shape, _ in heard] == [(1, (4, 4)), (2, (4, 4))]
    assert heard[1][2] < heard[0][2]
    assert result.message == "stopped by a callback"
    assert result.n_iter == 2


def test_an_interruption_keeps_the_best_so_far():
    def observer(k, theta, objective):
        if k == 2:
            raise KeyboardInterrupt
        return False

    problem = random_problem()
    result = Newton(tol=1e-14).solve(problem, observer=observer)
    assert result.interrupted
    assert not np.array_equal(result.w, np.zeros((3, 4)))
    assert result.proof.primal < problem.evaluate(np.zeros((3, 4)), np.zeros(4)).objective


def test_an_L1_penalty_and_a_bad_C_are_refused():
    with pytest.raises(ValueError, match="L1"):
        Newton().solve(random_problem(penalty=L1()))
    with pytest.raises(ValueError, match="C=0"):
        random_problem(C=0.0)


SAME_BITS = """
import numpy as np
from linsep._core import Rows
from linsep.objective.examples import InMemory
from linsep.objective.heads import Softmax
from linsep.objective.objective import Objective
from linsep.solvers import Newton
from scipy import sparse
rng = np.random.default_rng(0)
dense = rng.standard_normal((4000, 300))
for X in (dense, sparse.random_array((4000, 5000), density=0.02, random_state=rng, format="csr")):
    codes = rng.integers(0, 7, 4000)
    objective = Objective(InMemory(Rows(X), codes), Softmax(7), C=0.01)
    print(Newton(tol=1e-3).solve(objective).w.tobytes().hex()[:2000])
"""


@pytest.mark.slow
def test_the_number_of_threads_changes_no_bit():
    def run(threads):
        environment = {"LINSEP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(
            [sys.executable, "-c", SAME_BITS], capture_output=True, text=True, check=True, env=environment
        )
        return done.stdout

    assert run(1) == run(2) == run(5)
