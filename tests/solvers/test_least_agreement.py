"""The lowest agreement of a perceptron's plane: known from what was measured of it, without another pass."""

import numpy as np
import pytest
from scipy import sparse

from linsep import Perceptron
from linsep._core import Rows
from linsep.losses import Perceptron as Loss
from linsep.objective.problem import Problem, measure
from linsep.solvers import PerceptronRule
from linsep.solvers.first_order.visits import canonical

rng = np.random.default_rng(0)
X, y = rng.standard_normal((60, 5)), rng.choice([-1.0, 1.0], 60)


@pytest.mark.parametrize("keep", ["best", "last", "average", "vote"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_least_agreement_is_that_of_the_plane_that_is_reported(keep, form):
    problem = Problem(Rows(form(X)), y, Loss())
    result = PerceptronRule(keep=keep, max_iter=3).solve(problem)
    if keep in ("average", "vote"):  # the mean was not measured
        assert result.least is None
    else:
        assert result.least == pytest.approx(problem.agreements(result.w, result.b).min(), rel=1e-12)


def test_a_row_without_weight_and_a_number_that_is_none_count():
    problem = Problem(Rows(np.array([[1.0], [-3.0]])), np.ones(2), Loss(), sample_weight=np.array([1.0, 0.0]))
    assert measure(problem, np.ones((2, 1)), np.ones((1, 1)), np.zeros(1)).least.tolist() == [-3.0]
    with np.errstate(invalid="ignore"):
        assert np.isnan(measure(problem, np.ones((2, 1)), np.array([[np.nan]]), np.zeros(1)).least).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_margin_of_the_last_plane_takes_no_pass_of_its_own(monkeypatch):
    products = []
    matvec = Rows.matvec
    monkeypatch.setattr(Rows, "matvec", lambda self, w: products.append(w) or matvec(self, w))
    model = Perceptron(max_iter=2, tol=None, prove=False).fit(sparse.csr_array(X), y)
    assert len(products) == 0
    theta = np.append(model.coef_, model.intercept_)
    z = y * (np.c_[X, np.ones(60)] @ theta)
    assert model.margin_ == pytest.approx(z.min() / np.linalg.norm(theta), rel=1e-12)


@pytest.mark.parametrize("repeated", [False, True])
def test_rows_are_put_in_order_by_their_contents_and_equal_ones_by_their_labels(repeated):
    rows = np.vstack([X, X[::-1]]) if repeated else X
    labels = rng.choice([-1.0, 1.0], len(rows))
    order, begins = canonical([Problem(Rows(rows), labels, Loss())])
    content = [(*row, label) for row, label in zip(rows[order].tolist(), labels[order].tolist(), strict=True)]
    assert sorted(order.tolist()) == list(range(len(rows)))
    assert len(begins) == len(set(content))
    shuffle = rng.permutation(len(rows))
    again = canonical([Problem(Rows(rows[shuffle]), labels[shuffle], Loss())])[0]
    assert [
        (*row, label) for row, label in zip(rows[shuffle][again].tolist(), labels[shuffle][again].tolist(), strict=True)
    ] == content
