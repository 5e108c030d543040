"""Bounds are bounds: the dual value never exceeds the optimum, whatever point it comes from."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from linsep._core import Rows
from linsep.certificate import Bound, balanced, bound, dual_bound
from linsep.losses import Hinge, Logistic, Square, SquaredHinge
from linsep.penalties import L1, L2, ElasticNet
from linsep.problem import Problem

LOSSES = [Logistic(), SquaredHinge(), Square(), Hinge()]


def random_problem(seed, loss, penalty=None, intercept=True, weighted=False):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((25, 3)) + 0.5
    y = np.where(X @ [1.0, -1.0, 0.5] + rng.standard_normal(25) > 0.3, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    weight = rng.uniform(0.0, 2.0, 25) if weighted else None
    return Problem(Rows(X), y, loss, penalty or L2(), C=0.7, sample_weight=weight, fit_intercept=intercept)


def by_hand(problem, theta):
    """P in plain NumPy, from the definition."""
    w, b = (theta[:-1], theta[-1]) if problem.fit_intercept else (theta, 0.0)
    z = problem.y * (problem.rows.X @ w + b)
    s = 1.0 if problem.sample_weight is None else problem.sample_weight
    penalty = problem.penalty.l2 * w @ w / 2 + problem.penalty.l1 * np.abs(w).sum()
    return penalty + problem.C * np.sum(s * problem.loss.value(z))


def optimum(problem):
    """The lowest value an independent optimiser finds from several starts."""
    size = problem.rows.d + problem.fit_intercept
    runs = []
    for method in ("Nelder-Mead", "Powell", "BFGS"):
        options = {"maxiter": 20_000}
        runs.append(minimize(lambda theta: by_hand(problem, theta), np.zeros(size), method=method, options=options).fun)
    return min(runs)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("penalty", [L2(), L1(), ElasticNet(0.4)], ids=lambda penalty: penalty.formula)
@pytest.mark.parametrize("intercept", [True, False])
def test_the_dual_value_of_any_point_is_below_the_optimum(loss, penalty, intercept):
    problem = random_problem(1, loss, penalty, intercept, weighted=True)
    best = optimum(problem)
    rng = np.random.default_rng(2)
    for scale in (0.0, 0.3, 1.0, 3.0):
        w, b = scale * rng.standard_normal(3), scale * rng.standard_normal() * intercept
        found = bound(problem.evaluate(w, b, split=True))
        assert found.dual <= best + 1e-7 * abs(best)
        assert found.primal == pytest.approx(by_hand(problem, np.append(w, b) if intercept else w))


@given(seed=st.integers(0, 10_000), loss=st.sampled_from([Logistic(), SquaredHinge(), Hinge()]), weighted=st.booleans())
@settings(max_examples=40, deadline=None)
def test_any_dual_point_bounds_any_primal_point(seed, loss, weighted):
    problem = random_problem(seed, loss, weighted=weighted)
    rng = np.random.default_rng(seed)
    s = np.ones(25) if problem.sample_weight is None else problem.sample_weight
    alpha = rng.uniform(0.0, problem.C, 25) * s
    w, b = rng.standard_normal(3), rng.standard_normal()
    assert dual_bound(problem, balanced(problem, alpha)) <= problem.objective(w, b) + 1e-9


def test_one_class_without_weight_leaves_the_trivial_bound():
    problem = random_problem(3, Hinge())
    assert dual_bound(problem, balanced(problem, np.where(problem.y > 0, 0.5, 0.0))) == 0.0


def test_a_bound_with_an_intercept_needs_sums_by_class():
    problem = random_problem(4, Logistic())
    with pytest.raises(ValueError, match="split=True"):
        bound(problem.evaluate(np.zeros(3), 0.0))


def test_the_relative_gap_is_a_share_of_the_primal_value():
    assert Bound(primal=4.0, dual=3.0).relative_gap == 0.25
    assert Bound(primal=0.0, dual=0.0).relative_gap == 0.0
