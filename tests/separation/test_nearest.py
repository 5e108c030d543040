"""The nearest points of two hulls, against a general optimiser."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize

from linsep._core import Rows
from linsep.separation.nearest import nearest_points


def distance_by_slsqp(X, y, intercept):
    signed = X * y[:, None]
    n = len(y)
    masks = [(y > 0).astype(float), (y < 0).astype(float)] if intercept else [np.ones(n)]
    constraints = [dict(type="eq", fun=lambda b, m=m: m @ b - 1, jac=lambda b, m=m: m) for m in masks]
    start = sum(m / m.sum() for m in masks)
    run = minimize(
        lambda b: 0.5 * np.sum((signed.T @ b) ** 2),
        start,
        jac=lambda b: signed @ (signed.T @ b),
        bounds=[(0, None)] * n,
        constraints=constraints,
        options=dict(ftol=1e-14, maxiter=500),
    )
    return np.sqrt(2 * run.fun)


@given(seed=st.integers(0, 10_000), n=st.integers(4, 25), d=st.integers(1, 5), intercept=st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_distance_is_that_of_a_general_optimiser(seed, n, d, intercept):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.where(np.arange(n) % 2, 1.0, -1.0))
    X = rng.standard_normal((n, d)) + y[:, None] * rng.uniform(0, 3)
    found = nearest_points(Rows(X), y, intercept=intercept, tol=1e-8, max_iter=10_000)
    distance = distance_by_slsqp(X, y, intercept)
    assert float(np.linalg.norm(found.v)) == pytest.approx(distance, abs=1e-4 * np.abs(X).max())
    if distance > 1e-2:
        assert found.relative_gap <= 1e-8
        assert found.low <= found.high * (1 + 1e-12)
    same = nearest_points(Rows(sparse.csr_matrix(X)), y, intercept=intercept, tol=1e-8, max_iter=10_000)
    np.testing.assert_allclose(same.v, found.v, atol=1e-6 * np.abs(X).max())


@given(seed=st.integers(0, 10_000), n=st.integers(4, 40), d=st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_whole_points_in_special_position_are_no_obstacle(seed, n, d):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, d)).astype(float)
    y = np.where(X @ rng.integers(-2, 3, d) > 0, 1.0, -1.0)
    assume(len(set(y)) == 2)
    X[y > 0, 0] += 10.0
    found = nearest_points(Rows(X), y, intercept=True, tol=1e-9, max_iter=10_000)
    assert found.relative_gap <= 1e-9
    p, q = (X[found.support[y[found.support] == t]].T @ found.weights[y[found.support] == t] for t in (1, -1))
    np.testing.assert_allclose(p - q, found.v, atol=1e-9)


@pytest.mark.parametrize(
    ("seed", "n", "d", "most"), [(154679283, 26, 6, 1), (400899650, 26, 5, 2), (520958277, 23, 8, 1)]
)
def test_a_new_row_that_wants_no_weight_is_left_out(seed, n, d, most):
    rng = np.random.default_rng(seed)  # seeds by which 0/0 came up
    rng.integers(6, 60), rng.integers(2, 12), rng.integers(1, 3)
    low = -most if rng.random() < 0.5 else 0
    X, y = rng.integers(low, most + 1, (n, d)).astype(float), np.where(rng.random(n) < 0.5, 1.0, -1.0)
    found = nearest_points(Rows(X), y, intercept=bool(seed % 2), tol=1e-8, max_iter=10_000)
    assert float(np.linalg.norm(found.v)) == pytest.approx(distance_by_slsqp(X, y, bool(seed % 2)), abs=1e-4)


def test_rounds_can_be_watched_and_stopped():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(500) % 2, 1.0, -1.0)
    X = rng.standard_normal((500, 20)) + 0.4 * y[:, None]
    ticks = []
    found = nearest_points(
        Rows(X),
        y,
        intercept=True,
        tol=1e-9,
        max_iter=10_000,
        observer=lambda k, best: True,
        tick=lambda: ticks.append(1),
    )
    assert found.stopped
    assert not ticks
    limited = nearest_points(Rows(X), y, intercept=True, tol=1e-9, max_iter=5, tick=lambda: ticks.append(1))
    assert ticks
    assert limited.n_iter < 40
