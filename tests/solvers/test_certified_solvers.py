"""Newton's method and dual descent: within the gap they prove, by independent oracles."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as ScikitLogistic
from sklearn.preprocessing import scale

from hard_data import hard_sides
from linsep import LinearClassifier, LogisticRegression, losses
from linsep._core import Rows
from linsep.estimators import _fitting
from linsep.objective.objective import Objective
from linsep.objective.problem import Problem
from linsep.penalties import L1
from linsep.solvers import DualDescent, Multipliers, Newton, minimise
from linsep.solvers.newton import augmented_lagrangian
from linsep.solvers.sampling import draw
from oracles import optimum
from storage import MemoryBlocks

SOLVERS = [
    *[(Newton, loss) for loss in ("logistic", "squared_hinge", "square")],
    *[(DualDescent, loss) for loss in ("logistic", "squared_hinge", "square", "hinge")],
    (Multipliers, "hinge"),
]


def problem(loss, seed=0, n=60, d=4, C=0.5, **options):
    X, y = make_classification(n, d, n_informative=3, n_redundant=0, flip_y=0.2, random_state=seed)
    X = options.pop("form", np.asarray)(X)
    return Problem(Rows(X), np.where(y > 0, 1.0, -1.0), losses.get(loss), C=C, **options)


@pytest.mark.parametrize(("solver", "loss"), SOLVERS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, lambda X: X.astype(np.float32)])
def test_the_optimum_lies_within_the_proven_gap(solver, loss, weighted, form):
    weight = np.random.default_rng(1).uniform(0, 3, 60) if weighted else None
    it = problem(loss, form=form, sample_weight=weight)
    result = solver(tol=1e-6, max_iter=20_000 if solver is DualDescent else 100).solve(it)
    best = optimum(it)
    assert result.converged
    assert result.proof.relative_gap <= 1e-6
    assert result.proof.dual <= best * (1 + 1e-7)
    assert it.objective(result.w, result.b) <= best * (1 + 2e-6)


@pytest.mark.parametrize(("solver", "loss"), [pair for pair in SOLVERS if pair[1] != "hinge"])
def test_without_an_intercept(solver, loss):
    it = problem(loss, fit_intercept=False)
    result = solver(tol=1e-7, max_iter=5000).solve(it)
    assert result.converged
    assert result.b == 0
    assert it.objective(result.w, 0.0) == pytest.approx(optimum(it), rel=1e-6)


def bounded_optimum(X, y, c):
    """The hinge's optimum without intercept, from its dual: a quadratic program with bounds alone."""
    K = (X * y[:, None]) @ (X * y[:, None]).T

    def value(alpha):
        return alpha @ K @ alpha / 2 - alpha.sum(), K @ alpha - 1.0

    options = {"maxiter": 10_000, "ftol": 1e-16, "gtol": 1e-10}
    bounds = [(0.0, ci) for ci in c]
    return -minimize(value, np.zeros(len(y)), jac=True, method="L-BFGS-B", bounds=bounds, options=options).fun


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 40),
    d=st.integers(1, 60),
    C=st.sampled_from([1e-3, 0.1, 1.0, 100.0]),
    weighted=st.booleans(),
)
def test_multipliers_reach_the_optimum_of_any_small_problem(seed, n, d, C, weighted):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-2, 3, (n, d)).astype(float), rng.choice([-1.0, 1.0], n)
    weight = rng.integers(0, 3, n).astype(float) if weighted else None
    it = Problem(Rows(X), y, losses.Hinge(), C=C, sample_weight=weight, fit_intercept=False)
    result = Multipliers(tol=1e-8).solve(it)
    best = bounded_optimum(X, y, C * (np.ones(n) if weight is None else weight))
    assert result.proof.dual <= best + 1e-6 * (1 + best)
    assert it.objective(result.w, 0.0) == pytest.approx(best, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
def test_multipliers_begin_from_a_sample_where_there_are_many_examples(intercept):
    it = problem("hinge", n=20_000, d=8, C=1.0, fit_intercept=intercept)
    ours, slow = (solver.solve(it) for solver in (Multipliers(tol=1e-7), DualDescent(tol=1e-4, max_iter=5000)))
    assert ours.converged
    assert ours.proof.dual <= slow.proof.primal
    assert slow.proof.dual <= ours.proof.primal <= slow.proof.primal * (1 + 1e-7)


def test_dual_descent_goes_on_from_a_dual_point():
    it = problem("hinge", n=400, d=20)
    first = DualDescent(tol=1e-7).solve(it)
    assert first.last.alpha is not None
    again = DualDescent(tol=1e-7).solve(it, start=first.last)
    assert again.n_iter < first.n_iter / 4
    assert again.proof.relative_gap <= 1e-7


def test_multipliers_go_on_from_a_dual_point():
    it = problem("hinge", n=2000, d=8, C=1.0)
    first = Multipliers(tol=1e-6).solve(it)
    again = Multipliers(tol=1e-6).solve(it, start=first.last)
    assert again.n_iter < first.n_iter
    assert again.proof.primal == pytest.approx(first.proof.primal, rel=2e-6)


def test_images_are_solved_as_sparse_rows_with_the_same_answer():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 300)) * (rng.random((4000, 300)) < 0.1)
    y = np.where(X[:, :5].sum(axis=1) + rng.standard_normal(4000) > 0, 1.0, -1.0)
    lean = Rows(X).lean()
    assert lean.is_sparse
    np.testing.assert_array_equal(lean.X.toarray(), X)
    dense, compressed = (
        Multipliers(tol=1e-9).solve(Problem(rows, y, losses.Hinge(), C=0.01)) for rows in (Rows(X), lean)
    )
    np.testing.assert_allclose(dense.w, compressed.w, atol=1e-5)


def test_newton_agrees_with_scikit_learn_on_breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    ours = LinearClassifier("logistic", tol=1e-10).fit(X, y)
    theirs = ScikitLogistic(tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert ours.history_.solver == "newton"
    assert ours.dual_gap_ <= 1e-10
    assert "within" in ours.summary()


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_a_sample_gives_the_start_and_the_metric_of_a_large_problem(loss):
    it = problem(loss, n=20_000, d=8, C=1.0)
    result = Newton(tol=1e-8).solve(it)
    assert result.converged
    assert it.objective(result.w, result.b) == pytest.approx(optimum(it), rel=1e-7)


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, 60), n=st.integers(1, 200))
def test_a_draw_keeps_sums_on_average_and_takes_what_matters_most(seed, size, n):
    values = np.random.default_rng(seed).exponential(size=n) ** 4
    draws = [draw(values, size, np.random.default_rng(k)) for k in range(200)]
    for chosen, p in draws:
        assert len(chosen) <= size + 1
        assert (np.diff(chosen) > 0).all()
        assert ((p > 0) & (p <= 1)).all()
        sure = np.flatnonzero(values * size >= values.sum() * (1 + 1e-12))
        assert np.isin(sure, chosen).all()
    means = [np.sum(values[chosen] / p) for chosen, p in draws]
    assert np.mean(means) == pytest.approx(values.sum(), rel=0.35)


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_a_factor_from_a_sample_serves_rare_features_and_images(C):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 60)) * (rng.random((6000, 60)) < 0.2)
    X[:, 0] = 30.0 * (rng.random(6000) < 0.001)  # in six rows or so
    y = np.where(X[:, 1:40].sum(axis=1) + rng.standard_normal(6000) > 0, 1.0, -1.0)
    it = Problem(Rows(X), y, losses.Logistic(), C=C)
    result = Newton(tol=1e-8).solve(it)
    assert result.converged
    assert result.n_iter <= 12
    assert it.objective(result.w, result.b) == pytest.approx(optimum(it), rel=1e-7)


def test_steps_grow_longer_where_classes_are_all_but_separable():
    X, y = load_breast_cancer(return_X_y=True)
    it = Problem(Rows(scale(X)), np.where(y > 0, 1.0, -1.0), losses.Logistic(), C=1.0)
    assert Newton(tol=1e-4).solve(it).n_iter <= 6  # seven without


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
@pytest.mark.parametrize("intercept", [False, True])
def test_dual_descent_by_halves_and_by_examples_prove_the_same_optimum(C, loss, intercept):
    rng = np.random.default_rng(0)
    X = sparse.random_array((400, 900), density=0.05, random_state=rng, format="csr")
    y = np.where(rng.random(400) < 0.5, 1.0, -1.0)
    it = Problem(Rows(X), y, losses.get(loss), C=C, fit_intercept=intercept)
    dual, newton = (solver(tol=1e-7).solve(it) for solver in (DualDescent, Newton))
    assert dual.converged
    assert dual.proof.dual <= newton.proof.primal * (1 + 1e-9)
    assert dual.proof.primal == pytest.approx(newton.proof.primal, rel=3e-7)
    model = LinearClassifier(loss, C=C, solver="dual", fit_intercept=intercept).fit(X, y)
    assert model.certificate_.verify(X, y)


def test_many_features_go_to_dual_descent():
    rng = np.random.default_rng(0)
    X = sparse.random_array((300, 4000), density=0.01, random_state=rng, format="csr")
    y = np.where(X[:, :100].sum(axis=1) > np.median(X[:, :100].sum(axis=1)), "yes", "no")
    model = LinearClassifier("logistic", tol=1e-6, random_state=0).fit(X, y)
    assert model.history_.solver == "dual"
    newton = LinearClassifier("logistic", solver="newton", tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), newton.decision_function(X), atol=0.01)


@pytest.mark.parametrize("spoil", ["scales", "collinear", "constant", "duplicates", "imbalance", "wide"])
@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge", "square"])
def test_hard_columns_and_rows_converge_at_default_settings(spoil, loss):
    X, y = hard_sides(spoil)
    assert LinearClassifier(loss).fit(X, y).dual_gap_ <= 1e-4


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge", "square"])
def test_weights_of_two_are_two_rows(loss):
    X, y = make_classification(80, 5, random_state=0)
    weight = np.random.default_rng(0).integers(0, 4, 80)
    weighted = LinearClassifier(loss).fit(X, y, sample_weight=weight)
    repeated = LinearClassifier(loss).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-7)


@pytest.mark.parametrize(
    ("solver", "loss", "options", "words"),
    [
        (Newton(), "hinge", {}, "smooth loss"),
        (Newton(), "logistic", {"penalty": L1()}, "L1"),
        (DualDescent(), "hinge", {"penalty": L1()}, "alone"),
        (DualDescent(), "perceptron", {}, "dual"),
        (Multipliers(), "logistic", {}, "kink"),
        (Multipliers(), "hinge", {"penalty": L1()}, "alone"),
    ],
)
def test_what_a_solver_cannot_do_it_says(solver, loss, options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        solver.solve(problem(loss, **options))


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
@pytest.mark.parametrize("intercept", [True, False])
def test_newton_without_a_penalty(loss, intercept):
    it = problem(loss, n=400, d=5, C=np.inf, fit_intercept=intercept)
    result = Newton(tol=1e-10).solve(it)
    assert result.converged
    gradient = it.evaluate(result.w, result.b).smooth_gradient
    assert np.abs(gradient).max() < 1e-4


@pytest.mark.parametrize("model", [LinearClassifier("logistic", C=np.inf), LogisticRegression(C=np.inf)])
def test_an_unpenalised_likelihood_with_a_maximum_is_fitted_and_proven(model):
    X, y = make_classification(400, 5, n_redundant=0, flip_y=0.3, random_state=0)
    model.set_params(tol=1e-8).fit(X, y)
    theirs = ScikitLogistic(C=np.inf, tol=1e-12, max_iter=10_000, solver="newton-cholesky").fit(X, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-4)
    assert model.converged_
    assert model.certificate_.proven
    assert model.certificate_.verify(X, y)


def test_an_unpenalised_likelihood_without_a_maximum_says_which_coefficients_run_away():
    with pytest.warns(ConvergenceWarning, match=r"no finite optimum exists: the estimate of x0 is \+∞"):
        model = LogisticRegression(C=np.inf).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    assert not model.converged_
    with pytest.warns(ConvergenceWarning, match="a plane separates class 0 from the rest"):
        LogisticRegression(C=np.inf).fit([[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 2, 1])


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_dual_descent_converges_with_examples_that_have_no_features(loss, fit_intercept):
    it = problem(loss, form=lambda X: sparse.csr_array(np.vstack([X[:-3], np.zeros((3, X.shape[1]))])))
    it = Problem(it.rows, it.y, it.loss, C=it.C, fit_intercept=fit_intercept)
    result = DualDescent(tol=1e-6).solve(it)
    assert result.converged
    if not fit_intercept:
        assert (result.alpha[-3:] > 0).all()


def test_an_unpenalised_likelihood_asks_for_a_maximum_before_it_looks_for_it(monkeypatch):
    calls = []
    ask, solve = _fitting.why_no_optimum, LogisticRegression._solve
    monkeypatch.setattr(_fitting, "why_no_optimum", lambda *a: calls.append("ask") or ask(*a))
    monkeypatch.setattr(LogisticRegression, "_solve", lambda self, *a: calls.append("solve") or solve(self, *a))
    with pytest.warns(ConvergenceWarning, match="no finite optimum exists"):
        LogisticRegression(C=np.inf).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    assert calls == ["ask", "solve"]


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_steps_one_by_one_lead_where_the_kernel_leads(intercept, weighted):
    weight = np.random.default_rng(1).uniform(0, 3, 300) if weighted else None
    it = problem("hinge", n=300, d=8, fit_intercept=intercept, sample_weight=weight)
    assert it.rows.narrow
    heard = []
    at_once = Multipliers(tol=1e-7).solve(it)
    one_by_one = Multipliers(tol=1e-7).solve(it, observer=lambda k, theta, value: bool(heard.append(k)))
    assert heard == list(range(1, one_by_one.n_iter))
    assert at_once.converged
    assert one_by_one.converged
    assert abs(at_once.n_iter - one_by_one.n_iter) <= 2  # the same method, but for rounding
    assert at_once.proof.primal == pytest.approx(one_by_one.proof.primal, rel=1e-7)
    np.testing.assert_array_equal(np.diff(at_once.history["step"]) >= 0, True)
    np.testing.assert_allclose(at_once.history["objective"][0], one_by_one.history["objective"][0], rtol=1e-12)
    np.testing.assert_allclose(at_once.z, it.agreements(at_once.w, at_once.b), atol=1e-12)


def test_the_kernel_stops_after_max_iter_and_keeps_the_best_point():
    it = problem("hinge", n=3000, d=8)
    result = Multipliers(tol=1e-9, max_iter=3).solve(it)
    assert not result.converged
    assert result.n_iter == 3
    assert "max_iter=3" in result.message
    assert it.objective(result.w, result.b) == pytest.approx(result.proof.primal)


def test_the_kernel_is_left_when_the_observer_says_so(monkeypatch):
    class Impatient:
        needs_point = False

        def __call__(self, iteration, theta, objective):
            return iteration >= 2

    monkeypatch.setattr(augmented_lagrangian, "TUNED", replace(augmented_lagrangian.TUNED, work=1))  # one step a call
    result = Multipliers(tol=1e-9).solve(problem("hinge", n=3000, d=8), observer=Impatient())
    assert result.n_iter == 2
    assert result.message == "stopped by a callback"


def test_newtons_first_step_in_the_metric_of_a_sample_costs_no_more_of_them():
    rng = np.random.default_rng(0)
    X, w = rng.standard_normal((40_000, 12)), rng.standard_normal(12)
    X[:, -1] *= rng.random(40_000) < 2e-4  # a column that a sample hardly knows
    y = np.where(X @ w + rng.logistic(size=40_000) > 0, 1.0, -1.0)
    it = Problem(Rows(X), y, losses.Logistic(), C=1.0)
    result = Newton(tol=1e-8).solve(it)
    assert result.converged
    assert result.n_iter <= 4
    assert result.proof.relative_gap <= 1e-8


@pytest.mark.parametrize(("solver", "loss"), [(Newton(tol=1e-6), "logistic"), (Multipliers(tol=1e-6), "hinge")])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_fits_of_few_features_are_the_same_bits_for_any_number_of_threads(monkeypatch, solver, loss, form):
    it = problem(loss, n=50_000, d=20, form=form)
    assert it.rows.narrow
    found = []
    for number in ("1", "2", "3"):
        monkeypatch.setenv("LINSEP_NUM_THREADS", number)
        found.append(solver.solve(it))
    assert found[0].converged
    for other in found[1:]:
        np.testing.assert_array_equal(other.w, found[0].w)
        assert other.proof == found[0].proof


@pytest.mark.parametrize("d", [4, 20])
def test_one_row_more_does_not_cost_orders_of_accuracy(d):
    """Small fits go on beyond tol; from small to large the goal goes over into tol without a cliff."""
    goals = [augmented_lagrangian.goal(1e-4, stored) for stored in range(1, 10_000)]
    assert goals == sorted(goals)
    assert max(after / before for before, after in pairwise(goals)) < 1.05
    assert goals[2000] < 2e-13
    for n in np.unique(np.geomspace(1500, 9000, 25).astype(int) // d):
        for more in (0, 1):
            it = problem("hinge", n=n + more, d=d)
            gap = Multipliers().solve(it).proof.relative_gap
            assert gap <= max(augmented_lagrangian.goal(1e-4, it.rows.stored), 1e-11)  # as exact as rounding lets it


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "square", "logistic"])
@pytest.mark.parametrize("size", [60, 17])
def test_dual_descent_in_blocks_leads_where_it_leads_in_memory(loss, size):
    it = problem(loss, n=60, d=4)
    codes = (it.y > 0).astype(int)
    blocks = MemoryBlocks(it.rows.X, codes, size)
    found = DualDescent(tol=1e-6).solve(Objective(blocks, it.head, it.penalty, it.C))
    best = DualDescent(tol=1e-8).solve(it)
    assert found.converged
    assert found.proof.primal == pytest.approx(best.proof.primal, rel=2e-6)


@pytest.mark.parametrize(
    ("solver", "loss"), [(Multipliers(), "hinge"), (DualDescent(), "hinge"), (Newton(), "logistic")]
)
def test_columns_far_from_zero_are_centred_in_blocks_too(solver, loss):
    it = problem(loss, n=200, d=4)
    X = it.rows.X + np.array([2.0**20, 0.0, 0.0, -(2.0**16)])
    far = Objective(MemoryBlocks(X, (it.y > 0).astype(int), 70), it.head, it.penalty, it.C)
    found, best = minimise(far, solver), minimise(it, solver)
    assert "2 columns far from zero" in found.history.reason
    assert found.converged
    assert found.proof.primal == pytest.approx(best.proof.primal, rel=2e-4)
    assert far.evaluate(found.w, found.b).objective == pytest.approx(found.proof.primal, rel=1e-9)
