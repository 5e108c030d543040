"""Exact zeros of stochastic descent under an L1 penalty."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model
from sklearn.datasets import make_classification
from sklearn.preprocessing import scale

from linsep import SGDClassifier, losses, penalties
from linsep._core import Rows
from linsep.objective.problem import Problem
from linsep.solvers.first_order.truncation import truncated


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("penalty", [penalties.L1(), penalties.ElasticNet(0.5)], ids=str)
@pytest.mark.parametrize("loss", [losses.Hinge(), losses.Logistic(), losses.Square()], ids=str)
def test_the_objective_is_no_higher_without_the_weights_left_out(loss, penalty, kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 12)) * (rng.random((80, 12)) < 0.6)
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(80) > 0, 1.0, -1.0)
    problem = Problem(Rows(kind(X)), y, loss, penalty, C=0.2, sample_weight=rng.integers(1, 4, 80).astype(float))
    w = rng.standard_normal(12) * 0.1
    before = w.copy()
    sparser = truncated(problem, w, 0.1)
    np.testing.assert_array_equal(w, before)
    assert problem.objective(sparser, 0.1) <= problem.objective(w, 0.1)
    assert (sparser == 0).any()
    np.testing.assert_array_equal(sparser[sparser != 0], w[sparser != 0])
    largest = np.arange(12) == np.abs(sparser).argmax()  # the last one tried pays for itself
    assert problem.objective(np.where(largest, 0, sparser), 0.1) > problem.objective(sparser, 0.1)


@pytest.mark.parametrize("seed", range(10, 14))
def test_there_are_about_as_many_zeros_as_scikit_learn_leaves(seed):
    X, y = make_classification(500, 40, n_informative=5, random_state=seed)
    X, alpha = scale(X), 0.003
    theirs = linear_model.SGDClassifier(penalty="l1", alpha=alpha, random_state=0).fit(X, y)
    ours = SGDClassifier(penalty="l1", C=1 / alpha / len(y), random_state=0).fit(X, y)

    def objective(model):
        hinge = np.maximum(0, 1 - np.where(y == 1, 1, -1) * model.decision_function(X))
        return hinge.mean() + alpha * np.abs(model.coef_).sum()

    assert (ours.coef_ == 0).sum() >= (theirs.coef_ == 0).sum() - 1
    assert objective(ours) <= 1.1 * objective(theirs)  # either may be lower, by the luck of their orders
