"""The interior point method ends at the gap that was asked for, also where its matrix is all but singular."""

import numpy as np
import pytest

from linsep._core import Rows
from linsep.losses import Hinge
from linsep.objective.problem import Problem
from linsep.penalties import L1
from linsep.solvers import InteriorPoint


@pytest.mark.parametrize(("n", "d"), [(600, 150), pytest.param(5000, 500, marks=pytest.mark.slow)])
def test_hinge_with_l1_and_many_weights_ends_at_its_gap(n, d):
    rng = np.random.default_rng(0)
    X, w = rng.standard_normal((n, d)), np.zeros(d)
    w[:20] = rng.standard_normal(20)
    y = np.where(X @ w + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0)
    found = InteriorPoint(tol=1e-6).solve(Problem(Rows(X), y, Hinge(), L1(), C=1.0))
    assert found.converged
    assert found.proof.relative_gap <= 1e-6
    assert found.n_iter < 60


@pytest.mark.parametrize("positive", [1, 3])
def test_a_matrix_that_rounding_takes_the_curvature_from_ends_at_the_optimum(positive):
    levels, classes = np.array([1, 2, 1, 2, 1, 1, 1, 0, 2, 0, 2]), np.array([0, 1, 0, 1, 0, 0, 0, 2, 3, 3, 2])
    y = np.where(classes == positive, 1.0, -1.0)
    found = InteriorPoint().solve(Problem(Rows(np.eye(3)[levels]), y, Hinge(), C=np.inf))
    # A score for every level: 2 for each row of the rarer class there.
    best = 2 * sum(min((y[levels == level] > 0).sum(), (y[levels == level] < 0).sum()) for level in range(3))
    assert found.proof.primal == pytest.approx(best, rel=1e-6)
