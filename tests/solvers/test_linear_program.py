"""Hinge with L1, which is a linear program, and with an elastic net: against HiGHS and against CVXPY."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer, load_iris, make_classification

from linsep import LinearClassifier, LinearSVC
from linsep._core import Rows
from linsep.losses import Hinge, SquaredHinge
from linsep.objective.examples import InMemory
from linsep.objective.heads import Margin
from linsep.objective.objective import Objective
from linsep.objective.problem import Problem
from linsep.penalties import L1, ElasticNet
from linsep.solvers import Automatic, InteriorPoint, minimise
from oracles import MarginFormula
from storage import on_disk


def by_highs(X, y, c, *, l1=1.0, intercept=True):
    """The optimum of l1 ‖w‖₁ + Σ cᵢ ξᵢ with yᵢ (w·xᵢ + b) ≥ 1 − ξᵢ, and how many weights are not zero."""
    n, d = X.shape
    c = np.broadcast_to(np.asarray(c, dtype=float), n)
    signed = sparse.csr_array(X).multiply(y[:, None])
    rows = sparse.hstack([signed, -signed, sparse.csr_array(y[:, None]), sparse.eye_array(n)])
    costs = np.concatenate([np.full(2 * d, l1), [0.0], c])
    b = (None, None) if intercept else (0, 0)
    bounds = [(0, None)] * (2 * d) + [b] + [(0, None)] * n
    found = linprog(costs, A_ub=-rows, b_ub=-np.ones(n), bounds=bounds, method="highs")
    return found.fun, np.count_nonzero(found.x[:d] - found.x[d : 2 * d])


def examples(n=120, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-2, 3, d)
    return X, np.where(X @ (rng.standard_normal(d) / X.std(axis=0)) + rng.standard_normal(n) > 0, 1.0, -1.0)


def test_breast_cancer_with_columns_as_they_are():
    X, y = load_breast_cancer(return_X_y=True)
    model = LinearSVC(penalty="l1", tol=1e-8).fit(X, y)
    best, used = by_highs(X, np.where(y == 1, 1.0, -1.0), 1.0)
    assert model.converged_
    assert model.certificate_.primal == pytest.approx(best, rel=1e-8) == pytest.approx(51.7219, rel=1e-5)
    assert np.count_nonzero(model.coef_) == used
    assert model.certificate_.verify(X, y)
    assert model.history_.solver == "interior_point"


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [1e-8, 1e-2, 1.0, 1e4])
@pytest.mark.parametrize("kind", ["dense", "sparse", "float32", "weights"])
def test_the_optimum_and_the_zeros_are_those_of_the_linear_program(kind, C, intercept):
    X, y = examples()
    s = np.random.default_rng(1).integers(0, 3, len(y)).astype(float) if kind == "weights" else np.ones(len(y))
    X = X.astype(np.float32).astype(float) if kind == "float32" else X
    given = {"sparse": sparse.csr_array, "float32": lambda X: X.astype(np.float32)}.get(kind, np.asarray)(X)
    model = LinearSVC(penalty="l1", C=C, tol=1e-8, fit_intercept=intercept).fit(given, y, sample_weight=s)
    best, used = by_highs(X, y, C * s, intercept=intercept)
    assert model.converged_
    assert model.dual_gap_ <= 1e-8
    assert model.certificate_.primal == pytest.approx(best, rel=2e-8)
    assert np.count_nonzero(model.coef_) == used


@pytest.mark.parametrize("ratio", [0.05, 0.5, 0.95])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_an_elastic_net_is_that_of_a_quadratic_program(loss, ratio):
    X, y = examples()
    model = LinearClassifier(loss, penalty="elasticnet", l1_ratio=ratio, C=0.3, tol=1e-8).fit(X, y)
    best = MarginFormula(X, y, loss=loss, C=0.3, l2=1 - ratio, l1=ratio).conic_optimum()
    assert model.converged_
    assert model.certificate_.primal == pytest.approx(best.value, rel=1e-6)
    problem = Problem(Rows(X), y, {"hinge": Hinge, "squared_hinge": SquaredHinge}[loss](), ElasticNet(ratio), 0.3)
    assert InteriorPoint(tol=1e-8).solve(problem).proof.primal == pytest.approx(best.value, rel=1e-6)


def test_three_classes_are_three_linear_programs():
    X, y = load_iris(return_X_y=True)
    model = LinearSVC(penalty="l1", tol=1e-7).fit(X, y)
    best = [by_highs(X, np.where(y == k, 1.0, -1.0), 1.0)[0] for k in range(3)]
    assert model.converged_
    assert model.certificate_.primal == pytest.approx(sum(best), rel=1e-6)


@pytest.mark.parametrize("n", [40, 200])
def test_of_many_features_few_are_worked_on(n):
    rng = np.random.default_rng(2)
    X = sparse.random_array((n, 2000), density=0.05, random_state=rng, format="csr")
    y = np.where(X[:, :5].sum(axis=1) + 0.1 * rng.standard_normal(n) > 0.1, 1.0, -1.0)
    heard = []
    result = InteriorPoint(tol=1e-6).solve(
        Problem(Rows(X), y, Hinge(), L1(), 2.0), observer=lambda k, theta, value: heard.append((k, len(theta)))
    )
    assert result.converged
    assert result.proof.primal == pytest.approx(by_highs(X, y, 2.0)[0], rel=1e-6)
    assert np.count_nonzero(result.w) <= n
    assert all(size == 2001 for _, size in heard)
    assert [k for k, _ in heard] == sorted(k for k, _ in heard)


def test_no_penalty_at_all_is_a_linear_program_too_and_said_to_be_unproven():
    X, y = examples()
    with pytest.warns(UserWarning, match="without a penalty nothing more can be proven"):
        model = LinearSVC(C=np.inf).fit(X, y)
    assert not model.converged_
    best, _ = by_highs(X, y, 1.0, l1=0.0)
    assert model.certificate_.primal == pytest.approx(best, rel=1e-9)


def test_a_separable_set_without_a_penalty_has_no_loss_and_that_is_proven():
    X, y = load_breast_cancer(return_X_y=True)
    model = LinearSVC(C=np.inf).fit(X, y)
    assert model.certificate_.primal == 0
    assert model.score(X, y) == 1


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("seed", range(10))
def test_rounding_leaves_no_loss_where_a_plane_separates_and_nothing_says_how_long_it_is(seed, loss):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((200, 5)) * 10.0 ** rng.integers(-3, 4, 5) + 100 * rng.standard_normal(5)
    y = np.where((X - X.mean(axis=0)) / X.std(axis=0) @ rng.standard_normal(5) > 0, 1, -1)
    model = LinearClassifier(loss, C=np.inf, solver="interior_point").fit(X, y)
    assert model.converged_
    assert model.certificate_.primal == model.certificate_.dual == 0
    assert model.certificate_.verify(X, y).proven
    assert (y * model.decision_function(X)).min() > 1


def test_a_limit_and_an_interruption_leave_the_best_so_far():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((30, 600)), np.where(np.arange(30) % 2, 1.0, -1.0)
    problem = Problem(Rows(X), y, Hinge(), L1(), 1.0)
    short = InteriorPoint(max_iter=3).solve(problem)
    assert (short.n_iter, short.converged) == (3, False)

    def interrupt(k, theta, value):
        raise KeyboardInterrupt

    result = InteriorPoint().solve(problem, observer=interrupt)
    assert result.interrupted
    assert result.proof.dual <= result.proof.primal == pytest.approx(problem.objective(result.w, result.b))
    assert InteriorPoint().solve(problem, observer=lambda *_: True).message == "stopped by a callback"


def test_from_the_disk_where_there_is_room_for_vectors_and_else_refused_by_name(tmp_path):
    X, y = examples()
    codes = (y > 0).astype(int)
    blocks = on_disk(X, codes, tmp_path, [60])
    found = minimise(Objective(blocks, Margin(Hinge()), L1(), 1.0), Automatic(tol=1e-7))
    memory = minimise(Objective(InMemory(Rows(X), codes), Margin(Hinge()), L1(), 1.0), Automatic(tol=1e-7))
    assert found.converged
    assert found.history.solver == memory.history.solver == "interior_point"
    assert found.proof.primal == pytest.approx(memory.proof.primal, rel=1e-9)
    np.testing.assert_allclose(found.alpha.read(slice(20, 70)), memory.alpha[20:70], atol=1e-6)
    blocks.holds = 3.0
    with pytest.raises(ValueError, match="'interior_point' needs room in memory for some 32 numbers of every row, not"):
        minimise(Objective(blocks, Margin(Hinge()), L1(), 1.0), Automatic())


def test_fewer_rows_than_columns_end_at_the_optimum_that_highs_finds():
    X, y = make_classification(120, 700, n_informative=10, flip_y=0.05, random_state=3)
    model = LinearSVC(penalty="l1", loss="hinge", C=1.0, tol=1e-6).fit(X, y)
    best, used = by_highs(X, np.where(y > 0, 1.0, -1.0), 1.0)
    assert model.converged_
    assert model.certificate_.primal == pytest.approx(best, rel=2e-6)
    assert np.count_nonzero(model.coef_) == used
