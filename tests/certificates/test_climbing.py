"""Searches for fewer mistakes along lines and over vertices, and the centre of a cell."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from linsep.certificates.mistakes.climbing import VertexWalk, centre
from linsep.certificates.mistakes.facets import least_weight_of_mistakes


@pytest.mark.slow
@given(seed=st.integers(0, 10**6), D=st.integers(2, 5), grid=st.booleans())
@settings(max_examples=30, deadline=None)
def test_a_walk_never_claims_more_than_its_vector_does(seed, D, grid):
    rng = np.random.default_rng(seed)
    A = rng.integers(-2, 3, (20, D)).astype(float) if grid else rng.standard_normal((20, D))
    A = A[A.any(axis=1)]
    s = rng.integers(1, 4, len(A)).astype(float)
    walk = VertexWalk(A, s, rng)
    walk.begin(rng.standard_normal(D))
    for _ in range(30):
        walk.step()
    assert walk.best == s[A @ walk.vector <= 0].sum()
    assert walk.best >= least_weight_of_mistakes(A, s, np.ones(D))


@pytest.mark.parametrize("seed", range(5))
def test_m18_a_walk_finds_the_fewest_mistakes(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 3))
    A = np.where(X[:, 0] + rng.standard_normal(60) > 0, 1.0, -1.0)[:, None] * np.c_[X, np.ones(60)]
    walk = VertexWalk(A, np.ones(60), rng)
    walk.begin(A.mean(axis=0))
    for _ in range(300):
        walk.step()
    assert walk.best == least_weight_of_mistakes(A, np.ones(60), walk.vector)


@pytest.mark.parametrize("seed", range(3))
def test_the_centre_maximises_its_objective(seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((15, 3)) + np.array([2.0, 0.0, 0.0])
    inside = np.array([1.0, 0.0, 0.0])
    A = A[A @ inside > 0]
    s = rng.uniform(0.1, 2.0, len(A))
    v, height = centre(A, s, inside)

    def minus(u):
        z = A @ u
        return np.inf if z.min() <= 0 else 0.5 * u @ u - s @ np.log(z) / s.sum()

    peer = minimize(minus, inside, method="Nelder-Mead", options=dict(xatol=1e-9, fatol=1e-12, maxiter=10_000))
    assert height == pytest.approx(-peer.fun, abs=1e-6)
    np.testing.assert_allclose(v, peer.x, atol=1e-3)
