"""Bounds are bounds: the dual value never exceeds the optimum, whatever point it comes from."""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from exact_oracles import exact_conjugate, exact_dual, exact_primal, exact_rows, exact_weights, least_squares_exactly
from linsep import LinearClassifier
from linsep._core import Rows
from linsep.arithmetic.enclosure import agreements, feasible, total
from linsep.arithmetic.enclosure import conjugate_sum as conjugate_interval
from linsep.certificates.gap.certificate import Certificate
from linsep.certificates.gap.certify import certify
from linsep.losses import Hinge, Logistic, Perceptron, Square, SquaredHinge
from linsep.objective.dual_point import DualPoint, feasible_dual
from linsep.objective.duality import Bound, balanced, dual_bound, weights
from linsep.objective.enclosure import enclosed_bound
from linsep.objective.problem import Problem
from linsep.objective.statement import Statement
from linsep.penalties import L1, L2, ElasticNet, Penalty
from linsep.solvers import DualDescent
from oracles import optimum, written_out

LOSSES = [Logistic(), SquaredHinge(), Square(), Hinge()]


def random_problem(seed, loss, penalty=None, intercept=True, weighted=False):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((25, 3)) + 0.5
    y = np.where(X @ [1.0, -1.0, 0.5] + rng.standard_normal(25) > 0.3, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    weight = rng.uniform(0.0, 2.0, 25) if weighted else None
    return Problem(Rows(X), y, loss, penalty or L2(), C=0.7, sample_weight=weight, fit_intercept=intercept)


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
        found = problem.evaluate(w, b, split=True).bound
        assert found.dual <= best + 1e-7 * abs(best)
        assert found.primal == pytest.approx(written_out(problem).value(w, b))


@given(seed=st.integers(0, 10_000), loss=st.sampled_from([Logistic(), SquaredHinge(), Hinge()]), weighted=st.booleans())
@settings(max_examples=40, deadline=None)
def test_any_dual_point_bounds_any_primal_point(seed, loss, weighted):
    problem = random_problem(seed, loss, weighted=weighted)
    rng = np.random.default_rng(seed)
    s = np.ones(25) if problem.sample_weight is None else problem.sample_weight
    alpha = rng.uniform(0.0, problem.C, 25) * s
    w, b = rng.standard_normal(3), rng.standard_normal()
    assert dual_bound(problem, balanced(problem, alpha)) <= problem.objective(w, b) + 1e-9


@given(seed=st.integers(0, 10_000), loss=st.sampled_from([Logistic(), SquaredHinge(), Hinge()]), weighted=st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_bound_of_a_point_is_that_of_its_own_dual_variables(seed, loss, weighted):
    problem = random_problem(seed, loss, intercept=False, weighted=weighted)
    s = np.ones(25) if problem.sample_weight is None else problem.sample_weight
    w = 2.0 * np.random.default_rng(seed).standard_normal(3)
    alpha = -problem.C * s * loss.slope(problem.agreements(w, 0.0))
    assert problem.evaluate(w, 0.0).bound.dual == pytest.approx(dual_bound(problem, alpha), rel=1e-11, abs=1e-11)


def test_one_class_without_weight_leaves_the_trivial_bound():
    problem = random_problem(3, Hinge())
    assert dual_bound(problem, balanced(problem, np.where(problem.y > 0, 0.5, 0.0))) == 0.0


def test_a_bound_with_an_intercept_needs_sums_by_class():
    problem = random_problem(4, Logistic())
    with pytest.raises(ValueError, match="split=True"):
        problem.evaluate(np.zeros(3), 0.0).exact_bound()


def test_the_relative_gap_is_a_share_of_the_primal_value():
    assert Bound(primal=4.0, dual=3.0).relative_gap == 0.25
    assert Bound(primal=0.0, dual=0.0).relative_gap == 0.0


# --- rounding: the exact values lie in the intervals

ALL = (*LOSSES, Perceptron())
PENALTIES = (L2(), L1(), ElasticNet(0.3), Penalty(3.0, 0.1))


@st.composite
def problems_with_planes(draw, losses=ALL):
    """Small problems of any scale, and a plane that need not be near the optimum."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, d = draw(st.integers(2, 12)), draw(st.integers(1, 4))
    X = rng.standard_normal((n, d)) * 10.0 ** draw(st.integers(-4, 4)) + draw(st.sampled_from([0.0, 1.0, 1e3]))
    X = X.astype(draw(st.sampled_from([np.float64, np.float32])))
    if draw(st.booleans()):
        X[rng.random((n, d)) < 0.4] = 0.0
        X = sparse.csr_array(X)
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    y[:2] = 1.0, -1.0
    s = rng.choice([0.0, 0.1, 1.0, 7.3], n) if draw(st.booleans()) else None
    C, intercept = 10.0 ** draw(st.floats(-4, 4)), draw(st.booleans())
    loss, penalty = draw(st.sampled_from(losses)), draw(st.sampled_from(PENALTIES))
    problem = Problem(Rows(X), y, loss, penalty, C, s, intercept)
    w = rng.standard_normal(d) * 10.0 ** draw(st.integers(-6, 2))
    return problem, w, float(rng.standard_normal()) * 10.0 ** draw(st.integers(-3, 2)) * intercept


@pytest.mark.slow
@given(problems_with_planes())
@settings(max_examples=150, deadline=None)
def test_the_exact_values_lie_in_the_intervals(given_problem):
    problem, w, b = given_problem
    z, _ = agreements(problem.rows.X, problem.y, w, b)
    primal, dual = enclosed_bound(problem, w, b, DualPoint())
    alpha, interval = feasible_dual(problem, DualPoint().expand(problem, z))
    assert interval == dual
    assert primal.low <= exact_primal(problem, w, b) <= primal.high
    assert dual.low <= exact_dual(problem, alpha) <= dual.high
    assert dual.low <= primal.high
    assert np.isfinite(dual.low)


@given(problems_with_planes(), st.integers(0, 2**32), st.floats(1e-3, 1.5))
@settings(max_examples=100, deadline=None)
def test_any_dual_point_becomes_exactly_feasible(given_problem, seed, size):
    problem, _, _ = given_problem
    rng, c = np.random.default_rng(seed), weights(problem)
    alpha = size * c * rng.random(problem.rows.n)
    alpha = feasible(problem.loss, balanced(problem, alpha), problem.y, c, balance=problem.fit_intercept)
    exact = [Fraction(float(a)) for a in alpha]
    if problem.fit_intercept:
        assert sum(a * int(y) for a, y in zip(exact, problem.y, strict=True)) == 0
    low, high = problem.loss.slopes
    for a, limit in zip(exact, exact_weights(problem), strict=True):
        assert high != 0 or a >= 0
        assert low != -1 or a <= limit


@pytest.mark.parametrize("p", [0.0, 5e-324, 1e-300, 1e-17, 0.5, 1 - 1e-16, 1.0])
@pytest.mark.parametrize("C", [1.0, 0.1, 1e-7, 3e5])
def test_the_ends_of_the_logistic_conjugate(p, C):
    c, alpha = np.array([C]), np.array([p * C])
    found = conjugate_interval(Logistic(), alpha, c)
    exact = Fraction(C) * exact_conjugate(Logistic(), -Fraction(float(alpha[0])) / Fraction(C))
    assert found.low <= exact <= found.high
    assert found.width <= 1e-13 * C


def test_long_sums_lie_in_their_intervals():
    rng = np.random.default_rng(0)
    values = rng.standard_normal(10_000) * 10.0 ** rng.integers(-10, 10, 10_000)
    found = total(values, np.zeros(10_000))
    assert found.low <= sum(Fraction(float(v)) for v in values) <= found.high


# --- without a penalty: curvature


def exact_least_squares(problem):
    """The least sum of squares by the normal equations in rationals (Gauss), for columns of full rank."""
    rows = [[*row, Fraction(1)] if problem.fit_intercept else row for row in exact_rows(problem)]
    size, c = len(rows[0]), exact_weights(problem)
    weighed = list(zip(c, rows, problem.y, strict=True))
    system = [
        [
            *[sum(t * r[i] * r[j] for t, r, _ in weighed) for j in range(size)],
            sum(t * r[i] * int(y) for t, r, y in weighed),
        ]
        for i in range(size)
    ]
    for k in range(size):
        pivot = next((i for i in range(k, size) if system[i][k] != 0), None)
        if pivot is None:
            return None
        system[k], system[pivot] = system[pivot], system[k]
        for i in range(size):
            if i != k:
                factor = system[i][k] / system[k][k]
                system[i] = [s - factor * t for s, t in zip(system[i], system[k], strict=True)]
    theta = [row[-1] / row[k] for k, row in enumerate(system)]
    return sum(t * (int(y) - sum(p * q for p, q in zip(theta, r, strict=True))) ** 2 for t, r, y in weighed)


@given(problems_with_planes(losses=[Square()]))
@settings(max_examples=60, deadline=None)
def test_a_quadratic_falls_no_further_than_its_curvature_says(given_problem):
    given_problem, w, b = given_problem
    problem = replace(given_problem, C=np.inf)
    primal, dual = enclosed_bound(problem, w, b, DualPoint())
    assert primal.low <= exact_primal(problem, w, b) <= primal.high
    best = exact_least_squares(problem)
    assert best is None or dual.low <= best


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("away", [0.0, 1e-4, 1e-2, 0.1, 1.0])
def test_the_logistic_loss_falls_no_further_than_its_curvature_says(seed, away):
    problem = replace(random_problem(seed, Logistic(), weighted=bool(seed % 2)), C=np.inf)
    s = np.ones(25) if problem.sample_weight is None else problem.sample_weight

    def value(theta):
        z = problem.y * (problem.rows.X @ theta[:-1] + theta[-1])
        slope = s * Logistic().slope(z) * problem.y
        return s @ Logistic().value(z), np.append(problem.rows.X.T @ slope, slope.sum())

    found = minimize(value, np.zeros(4), jac=True, method="BFGS", options={"gtol": 1e-10})
    theta = found.x + away * np.random.default_rng(seed).standard_normal(4)
    primal, dual = enclosed_bound(problem, theta[:-1], float(theta[-1]), DualPoint())
    assert 0.0 <= dual.low <= found.fun * (1 + 1e-12)
    if away <= 1e-2 and np.linalg.norm(found.x) < 20:
        assert primal.high - dual.low <= 2 * (value(theta)[0] - found.fun) + 1e-9  # and hardly less far


def test_a_large_quadratic_is_proven_at_the_fit_by_its_factor():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 70)) * 10.0 ** rng.uniform(-2, 2, 70)
    y = X[:, 0] / np.abs(X[:, 0]).mean() + rng.standard_normal(5000) > 0.3
    certificate = LinearClassifier("square", C=None).fit(X, y).certificate_
    assert certificate.relative_gap < 1e-12
    assert certificate.proven
    assert certificate.verify(X, y).proven


def test_no_optimum_is_claimed_of_columns_that_rounding_tells_apart_but_a_true_bound(overlapping):
    X, y = overlapping
    X = np.hstack([X, X[:, :1] / 3 + X[:, 1:2]])
    with pytest.warns(ConvergenceWarning, match="column x3 is nearly a combination of x0 and x1"):
        certificate = LinearClassifier("square", C=None).fit(X, y).certificate_
    assert not certificate.proven
    # Rounding is as good as a fifth column, with coefficients of 1e15: the optimum lies below what the others reach.
    optimum = least_squares_exactly(X, y)
    assert 0.0 < certificate.dual <= optimum < 0.95 * certificate.primal
    assert certificate.verify(X, y)


@pytest.mark.parametrize("seed", range(1, 31))
def test_a_bound_from_columns_that_rounding_tells_apart_does_not_hang_on_how_they_are_rounded(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 3))
    y = np.where(X @ [1.0, -2.0, 0.5] + 0.8 * rng.standard_normal(60) > 0.2, 1, -1)
    X = np.hstack([X, X[:, :1] / 3 + X[:, 1:2]])
    with pytest.warns(ConvergenceWarning, match="column x3 is nearly a combination of x0 and x1"):
        certificate = LinearClassifier("square", C=None).fit(X, y).certificate_
    optimum = least_squares_exactly(X, y)
    assert certificate.primal - 2.001 * (certificate.primal - optimum) < certificate.dual <= optimum


@pytest.mark.parametrize("loss", [Perceptron(), Hinge(), SquaredHinge()], ids=repr)
def test_without_a_penalty_zero_is_reached_on_separable_data(loss, separable):
    X, y = separable
    problem, statement = Problem(Rows(X), y.astype(float), loss), Statement(loss, L2(), np.inf, True)
    plane = SimpleNamespace(w=np.array([2.0, -3.0, 1.0]), b=4.0, proof=None, alpha=None, enclosed=None, z=None)
    claim = certify(problem, plane, statement, [-1, 1], 1e-4)
    assert claim.primal == claim.dual == claim.rounding == 0.0
    certificate = Certificate(claim, plane.w, plane.b, statement)
    assert certificate.proven
    assert certificate.verify(X, y).proven


@pytest.mark.parametrize("loss", [Perceptron(), Hinge(), SquaredHinge()], ids=repr)
def test_without_a_penalty_and_without_curvature_zero_is_all_that_is_known(loss):
    problem, statement = replace(random_problem(1, loss), C=np.inf), Statement(loss, L2(), np.inf, True)
    plane = SimpleNamespace(w=np.ones(3), b=0.5, proof=None, alpha=None, enclosed=None, z=None)
    certificate = Certificate(certify(problem, plane, statement, [-1, 1], 1e-4), plane.w, plane.b, statement)
    assert (certificate.dual, certificate.relative_gap, certificate.proven) == (0.0, 1.0, False)
    outcome = certificate.verify(problem.rows.X, problem.y)
    assert outcome
    assert not outcome.proven


def test_one_class_without_weight_costs_nothing_and_is_proven(overlapping):
    X, y = overlapping
    certificate = LinearClassifier("hinge").fit(X, y, sample_weight=(y > 0).astype(float)).certificate_
    assert certificate.primal == certificate.dual == 0.0
    assert certificate.proven
    assert certificate.verify(X, y, (y > 0).astype(float)).proven


def test_an_interior_point_is_settled_at_the_ends():
    problem = random_problem(3, Hinge())
    result = DualDescent(tol=1e-7, max_iter=100_000).solve(problem)
    inside = balanced(problem, np.clip(result.alpha, 1e-9, problem.C - 1e-9))
    proof = Bound(result.proof.primal, dual_bound(problem, inside))
    statement = Statement(problem.loss, problem.penalty, problem.C, True)
    claim = certify(problem, replace(result, alpha=inside, proof=proof), statement, [-1, 1], 1e-4)
    assert len(claim.dual_point.rows) <= 8
    certificate = Certificate(claim, result.w, result.b, statement)
    assert certificate.verify(problem.rows.X, problem.y).proven
