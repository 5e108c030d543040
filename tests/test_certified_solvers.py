"""Newton's method and dual descent: within the gap they prove, by independent oracles."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.linear_model import LogisticRegression as ScikitLogistic
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from linsep import LinearClassifier, losses
from linsep._core import Rows
from linsep.penalties import L1
from linsep.problem import Problem
from linsep.solvers import DualDescent, Newton

SOLVERS = [
    *[(Newton, loss) for loss in ("logistic", "squared_hinge", "square")],
    *[(DualDescent, loss) for loss in ("logistic", "squared_hinge", "square", "hinge")],
]


def problem(loss, seed=0, n=60, d=4, C=0.5, **options):
    X, y = make_classification(n, d, n_informative=3, n_redundant=0, flip_y=0.2, random_state=seed)
    X = options.pop("form", np.asarray)(X)
    return Problem(Rows(X), np.where(y > 0, 1.0, -1.0), losses.get(loss), C=C, **options)


def oracle(given):
    """The optimum by SciPy; the hinge's through its dual as a bounded quadratic program."""
    X, y = np.asarray(given.rows.X.todense() if given.rows.is_sparse else given.rows.X, dtype=float), given.y
    s = np.ones(len(y)) if given.sample_weight is None else given.sample_weight
    if isinstance(given.loss, losses.Hinge):
        assert given.fit_intercept
        model = SVC(kernel="linear", C=given.C, tol=1e-10).fit(X, y, sample_weight=s)
        return given.objective(model.coef_[0], float(model.intercept_[0]))

    def value(theta):
        z = y * (X @ theta[:-1] + theta[-1] * given.fit_intercept)
        slope = given.C * s * given.loss.slope(z) * y
        gradient = np.append(X.T @ slope + theta[:-1], slope.sum() * given.fit_intercept)
        return theta[:-1] @ theta[:-1] / 2 + given.C * s @ given.loss.value(z), gradient

    options = {"maxiter": 10_000, "ftol": 1e-15, "gtol": 1e-11}
    return minimize(value, np.zeros(X.shape[1] + 1), jac=True, method="L-BFGS-B", options=options).fun


@pytest.mark.parametrize(("solver", "loss"), SOLVERS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, lambda X: X.astype(np.float32)])
def test_the_optimum_lies_within_the_proven_gap(solver, loss, weighted, form):
    weight = np.random.default_rng(1).uniform(0, 3, 60) if weighted else None
    given = problem(loss, form=form, sample_weight=weight)
    result = solver(tol=1e-6, max_iter=20_000 if solver is DualDescent else 100).solve(given)
    best = oracle(given)
    assert result.converged
    assert result.proof.relative_gap <= 1e-6
    assert result.proof.dual <= best * (1 + 1e-7)
    assert given.objective(result.w, result.b) <= best * (1 + 2e-6)


@pytest.mark.parametrize(("solver", "loss"), [pair for pair in SOLVERS if pair[1] != "hinge"])
def test_without_an_intercept(solver, loss):
    given = problem(loss, fit_intercept=False)
    result = solver(tol=1e-7, max_iter=5000).solve(given)
    assert result.converged
    assert result.b == 0
    assert given.objective(result.w, 0.0) == pytest.approx(oracle(given), rel=1e-6)


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
    given = problem(loss, n=20_000, d=8, C=1.0)
    result = Newton(tol=1e-8).solve(given)
    assert result.converged
    assert given.objective(result.w, result.b) == pytest.approx(oracle(given), rel=1e-7)


def test_many_features_go_to_dual_descent():
    rng = np.random.default_rng(0)
    X = sparse.random_array((300, 4000), density=0.01, rng=rng, format="csr")
    y = np.where(X[:, :100].sum(axis=1) > np.median(X[:, :100].sum(axis=1)), "yes", "no")
    model = LinearClassifier("logistic").fit(X, y)
    assert model.history_.solver == "dual"
    newton = LinearClassifier("logistic", solver="newton", tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), newton.decision_function(X), atol=0.05)


@pytest.mark.parametrize("spoil", ["scales", "collinear", "constant", "duplicates", "imbalance", "wide"])
def test_hard_columns_and_rows_converge_at_default_settings(spoil):
    rng = np.random.default_rng(5)
    n, d = (30, 80) if spoil == "wide" else (2000, 6)
    X = rng.standard_normal((n, d))
    y = X[:, 0] + rng.standard_normal(n) > (3.5 if spoil == "imbalance" else 0.0)
    y[:2] = True, False
    if spoil == "scales":
        X *= 10.0 ** np.arange(-6, 6, 2)
    elif spoil == "collinear":
        X[:, 1] = X[:, 0] + 1e-9 * rng.standard_normal(n)
    elif spoil == "constant":
        X[:, 2] = 7.0
    elif spoil == "duplicates":
        X[n // 2 :] = X[: n // 2]
    assert LinearClassifier("logistic").fit(X, y).dual_gap_ <= 1e-4


def test_weights_of_two_are_two_rows():
    X, y = make_classification(80, 5, random_state=0)
    weight = np.random.default_rng(0).integers(0, 4, 80)
    weighted = LinearClassifier("logistic").fit(X, y, sample_weight=weight)
    repeated = LinearClassifier("logistic").fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-8)


@pytest.mark.parametrize(
    ("solver", "loss", "options", "words"),
    [
        (Newton(), "hinge", {}, "smooth loss"),
        (Newton(), "logistic", {"penalty": L1()}, "L1"),
        (DualDescent(), "hinge", {"penalty": L1()}, "alone"),
        (DualDescent(), "perceptron", {}, "dual"),
    ],
)
def test_what_a_solver_cannot_do_it_says(solver, loss, options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        solver.solve(problem(loss, **options))
