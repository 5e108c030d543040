"""The bounds that `checker.py` computes, against oracles that know neither it nor linsep."""

import itertools
import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from linsep import checker
from oracles import LOSSES, MarginFormula
from second_opinions import GRID, ONE_HOT, X, Y, as_rows

pytestmark = pytest.mark.slow

small = st.integers(-3, 3)


def problem(loss, X, y, w, b, l2, l1, C, intercept=True):
    one = 1 << 130
    return SimpleNamespace(
        data=checker.Data(as_rows(X), np.shape(X)[1], intercept),
        codes=[int(label > 0) for label in y],
        planes={1: [*map(Fraction, w), *([Fraction(b)] if intercept else [])]},
        c=[int(Fraction(C) * one)] * len(X),
        **dict(K=2, loss=loss, l2=Fraction(l2), l1=Fraction(l1), one=one, intercept=intercept, tol=Fraction(1, 10**4)),
        **dict(shift=Fraction(0), scales=[1, 1], known={}),
    )


def enclosed(p):
    with checker.localcontext(checker.Context(prec=45)):
        return checker.optimum(p)


@given(
    st.sampled_from(sorted(LOSSES)),
    st.lists(st.tuples(small, small, st.sampled_from([-1, 1])), min_size=3, max_size=8),
    st.tuples(small, small, small),
    st.sampled_from([(1.0, 0.0), (0.5, 0.5), (0.0, 1.0), (0.0, 0.0)]),
    st.sampled_from([0.25, 1.0, 8.0]),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_m13_no_point_is_below_the_bound_and_the_objective_is_enclosed(loss, points, plane, penalty, C, intercept):
    A = np.array(points, dtype=float)
    X, y, (l2, l1) = A[:, :2], A[:, 2], penalty
    w, b = np.array(plane[:2]) / 4, plane[2] / 4 if intercept else 0.0

    formula = MarginFormula(X, y, C, l2, l1, intercept=intercept, loss=loss)

    def P(theta):
        return formula.value(theta[:2], theta[2] if intercept else 0.0)

    low, high, dual = enclosed(problem(loss, X, y, w, b, l2, l1, C, intercept))
    at = P(np.array([*w, b]))
    assert float(low) <= at * (1 + 1e-12) + 1e-12
    assert float(high) >= at * (1 - 1e-12) - 1e-12
    starts = [np.array([*w, b]), np.zeros(3)]
    best = min(minimize(P, start, method=method).fun for start in starts for method in ("Nelder-Mead", "BFGS"))
    assert float(dual) <= best * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize(("l2", "l1"), [(1.0, 0.0), (0.5, 0.5), (0.0, 1.0)])
def test_m13_the_bound_is_below_the_optimum_of_cvxpy_and_near_it(loss, l2, l1):
    random = np.random.default_rng(1)
    A = random.normal(size=(25, 3))
    y = np.where(A @ [1.0, 1.0, 0.0] + random.normal(size=25) > 0, 1.0, -1.0)
    least, w, b = MarginFormula(A, y, 2.0, l2, l1, loss=loss).conic_optimum()
    low, high, dual = enclosed(problem(loss, A, y, w, float(b), l2, l1, 2.0))
    assert float(dual) <= least + 1e-6 <= float(high) + 2e-6
    if loss not in ("hinge", "perceptron"):  # whose dual points need the hint of the file
        assert float((high - dual) / low) < 1e-3


def test_m13_the_curvature_bound_holds_with_redundant_columns():
    y = np.where(Y == "yes", 1.0, -1.0)
    for A in (X, ONE_HOT, np.c_[GRID, GRID[:, 0] - 2 * GRID[:, 1]]):

        def P(theta, A=A):
            return np.logaddexp(0, -y * (A @ theta[:-1] + theta[-1])).sum()

        best = minimize(P, np.zeros(A.shape[1] + 1), tol=1e-10)
        low, high, dual = enclosed(problem("logistic", A, y, best.x[:-1], best.x[-1], 0.0, 0.0, 1.0))
        assert float(dual) <= best.fun * (1 + 1e-12)
        assert float((high - dual) / low) < 1e-5


def test_m13_the_curvature_bound_holds_where_a_level_is_all_of_one_class():
    A, y = np.hstack([X[:, :1], np.eye(3)[np.arange(60) % 3]]), np.where(Y == "yes", 1.0, -1.0)
    y[2::3] = 1.0  # so the infimum is that of the other rows, and no plane reaches it
    rest = np.arange(60) % 3 != 2

    def P(theta, some=rest):
        return np.logaddexp(0, -y[some] * (A[some] @ theta[:-1] + theta[-1])).sum()

    best = minimize(P, np.zeros(5), tol=1e-10)
    for far in (10.0, 20.0, 40.0):
        theta = best.x + np.array([0.0, 0.0, 0.0, far - best.x[3], 0.0])
        low, high, dual = enclosed(problem("logistic", A, y, theta[:-1], theta[-1], 0.0, 0.0, 1.0))
        assert float(dual) <= best.fun * (1 + 1e-12)
        assert float(high) >= P(theta, slice(None)) * (1 - 1e-12)
        if far > 15.0:  # before, the rows of that level still have a loss, and are not left out
            assert float((high - dual) / low) < 1e-4


@given(st.lists(st.lists(small, min_size=3, max_size=3), min_size=1, max_size=5))
@settings(max_examples=50, deadline=None)
def test_m13_relations_are_all_there_are(vectors):
    reduced, found = checker.relations(vectors)
    A = np.array(vectors)
    assert len(reduced) == np.linalg.matrix_rank(A) == len(vectors) - len(found)
    for vector, combination in reduced:
        assert (np.array(combination, dtype=object) @ A.astype(object)).tolist() == vector
    for combination in found:
        assert not (np.array(combination, dtype=object) @ A.astype(object)).any()
        assert any(combination)


@given(
    st.lists(st.tuples(small, small, st.sampled_from([-1, 1])), min_size=2, max_size=7),
    st.lists(st.integers(1, 3), min_size=7, max_size=7),
)
@settings(max_examples=60, deadline=None)
def test_m13_cells_give_the_fewest_mistakes(points, weights):
    vectors = [[y * a, y * b, y] for a, b, y in points]
    with_weights = [(v, Fraction(s)) for v, s in zip(vectors, weights, strict=False)]
    angles = np.linspace(0, 2 * math.pi, 241)[:-1] + 0.0013
    planes = np.array([(math.cos(t), math.sin(t), b) for t in angles for b in np.linspace(-5, 5, 161) + 0.0007])
    wrong = (np.array(vectors) @ planes.T <= 0).T @ np.array(weights[: len(points)], dtype=float)
    constant = min(sum(s for (*_, y), s in zip(points, weights, strict=False) if y == side) for side in (-1, 1))
    assert checker.fewest(with_weights) == min(wrong.min(), constant)


@given(
    st.lists(st.sets(st.integers(0, 6), min_size=1, max_size=3), min_size=1, max_size=8),
    st.lists(st.integers(1, 4), min_size=7, max_size=7),
)
@settings(max_examples=80, deadline=None)
def test_m13_no_lighter_set_meets_all_conflicts(conflicts, weights):
    meeting = [
        sum(weights[i] for i in chosen)
        for size in range(8)
        for chosen in itertools.combinations(range(7), size)
        if all(conflict & set(chosen) for conflict in conflicts)
    ]
    asked = [frozenset(conflict) for conflict in conflicts], [Fraction(s) for s in weights]
    assert checker.lightest(*asked, Fraction(100), math.inf) == min(meeting)
    assert checker.lightest(*asked, Fraction(2), math.inf) == min(2, *meeting)
    assert checker.lightest(*asked, Fraction(100), -math.inf) <= min(meeting)


def test_m13_a_plane_that_is_no_optimum_is_measured_exactly():
    """In rational numbers: one weight, three points, the hinge."""
    A, y = [[0.0], [1.0], [3.0]], [-1, 1, 1]
    low, high, dual = enclosed(problem("hinge", A, y, [0.5], -0.25, 1.0, 0.0, 1.0))
    expected = Fraction(1, 8) + Fraction(3, 4) + Fraction(3, 4)  # ½ w² + (1 − ¼) + (1 − ¼) + 0
    assert low == expected
    assert high - expected < Fraction(1, 10**30)
    assert dual <= Fraction(3, 2)  # ½ w² + (1 − z) at w = 1, b = −1
