"""Samples of the examples: they stand for all of them, and rare features are in them."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from linsep._core import Rows
from linsep.losses import Logistic
from linsep.objective.examples import InMemory
from linsep.objective.heads import Softmax
from linsep.objective.objective import Objective
from linsep.objective.problem import Problem
from linsep.solvers import Newton
from linsep.solvers.newton import newton
from linsep.solvers.sampling import sample


def rare_problem(n=40_000, columns=1, often=12):
    """Standardised columns, the last ones of which were 1 in a few rows and 0 in all others."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3 + columns))
    for j in range(3, 3 + columns):
        X[:, j] = np.isin(np.arange(n), rng.choice(n, often, replace=False))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-X[:, 0])), 1.0, -1.0)
    return Problem(Rows(X), y, Logistic())


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("weight", [None, 2.0])
def test_a_sample_stands_for_all_examples(form, weight):
    it = rare_problem()
    s = None if weight is None else np.full(it.rows.n, weight)
    it = Problem(Rows(form(it.rows.X)), it.y, it.loss, sample_weight=s)
    w, totals = np.array([1.0, -0.5, 0.2, 0.01]), []
    for seed in range(20):
        part = sample(it, 4000, np.random.default_rng(seed))
        assert part.C == it.C
        assert 2000 < part.rows.n <= 4400
        totals.append([part.total_weight, part.evaluate(w, 0.1).objective])
    exact = it.total_weight, it.evaluate(w, 0.1).objective
    np.testing.assert_allclose(np.mean(totals, axis=0), exact, rtol=0.01)


def test_examples_with_a_rare_feature_are_all_there_as_themselves():
    part = sample(rare_problem(), 4000, np.random.default_rng(1))
    rare = np.asarray(part.rows.X)[:, 3] > 1.0
    assert rare.sum() == 12
    np.testing.assert_array_equal(part.sample_weight[rare], 1.0)


def test_newton_needs_few_steps_whatever_the_seed():
    it = rare_problem(columns=20, often=6)
    assert max(Newton().solve(it, seed=seed).n_iter for seed in range(8)) <= 3


def test_a_sample_without_one_of_the_classes_is_none():
    X, y = np.ones((1000, 2)), -np.ones(1000)
    y[0] = 1.0
    s = np.where(y > 0, 0.0, 1.0)
    assert sample(Problem(Rows(X), y, Logistic(), sample_weight=s), 100, np.random.default_rng(0)) is None


def test_examples_that_are_all_zeros_can_be_drawn_too():
    y = np.where(np.arange(1000) % 2, 1.0, -1.0)
    part = sample(Problem(Rows(np.zeros((1000, 2))), y, Logistic()), 100, np.random.default_rng(0))
    assert 50 < part.rows.n < 150


def test_newton_of_several_classes_ends_on_a_sample_by_what_a_step_gains():
    """Under a weak penalty the gap is a large multiple of what is left to gain, which scikit-learn's optimum tells."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 10))
    codes = (X @ rng.standard_normal((10, 4)) + rng.gumbel(size=(4000, 4))).argmax(axis=1)
    objective = Objective(InMemory(Rows(X), codes), Softmax(4), C=100.0)
    rough, fine = (newton._Run(Newton(1e-2, 20), objective, of_sample=of_sample) for of_sample in (True, False))
    assert rough.result(None).n_iter < fine.result(None).n_iter
    their = LogisticRegression(C=100.0, tol=1e-4, solver="newton-cholesky").fit(X, codes)
    assert rough.ended.objective <= 1.01 * objective.objective(their.coef_.T, their.intercept_)
    assert rough.ended.bound.relative_gap > 1e-2  # a proof would have asked for more
