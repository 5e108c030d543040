"""The interior point method against the other solvers, and where these do not arrive."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from linsep import LinearSVC, LogisticRegression
from linsep._core import Rows
from linsep.losses import Hinge, Logistic, SquaredHinge
from linsep.objective.problem import Problem
from linsep.penalties import L2
from linsep.solvers import InteriorPoint, Multipliers, Newton
from linsep.solvers.newton.interior_point import best_intercept


def data(kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(200) > 0, 1.0, -1.0)
    return {
        "overlapping": (X, y),
        "separable": (X + 20 * (y > 0)[:, None] * np.eye(5)[0], y),
        "few rows": (rng.standard_normal((20, 100)), np.where(np.arange(20) % 2, 1.0, -1.0)),
        "imbalanced": (rng.standard_normal((1001, 3)), np.where(np.arange(1001) < 1, 1.0, -1.0)),
    }[kind]


KINDS = ["overlapping", "separable", "few rows", "imbalanced"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)
@pytest.mark.parametrize("C", [1e-8, 1e-2, 1e3, 1e8])
def test_any_C_on_any_data(kind, loss, C):
    X, y = data(kind)
    result = InteriorPoint(tol=1e-6).solve(Problem(Rows(X), y, loss, C=C))
    assert result.converged
    assert result.n_iter < 40
    assert result.proof.relative_gap <= 1e-6


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("loss", "other"), [(Hinge(), Multipliers(1e-9)), (SquaredHinge(), Newton(1e-9))])
def test_the_optimum_is_that_of_other_solvers_with_weights_also_of_zero(loss, other, intercept):
    X, y = data("overlapping")
    s = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    for rows in (Rows(X), Rows(sparse.csr_array(X)), Rows(X.astype(np.float32))):
        problem = Problem(rows, y, loss, L2(), 0.7, s, intercept)
        ours, theirs = InteriorPoint(tol=1e-9).solve(problem), other.solve(problem)
        np.testing.assert_allclose(ours.w, theirs.w, atol=1e-4)
        assert ours.proof.dual <= theirs.proof.primal * (1 + 1e-12)
        assert theirs.proof.dual <= ours.proof.primal * (1 + 1e-12)
        assert not ours.alpha[s == 0].any()


def test_the_best_intercept_is_no_worse_than_any_other():
    X, y = data("overlapping")
    for loss in (Hinge(), SquaredHinge()):
        problem = Problem(Rows(X), y, loss, C=1.0)
        w = np.array([0.3, 0.2, -0.1, 0.0, 1.0])
        best = problem.objective(w, best_intercept(problem, w))
        assert best <= min(problem.objective(w, b) for b in np.linspace(-3, 3, 301)) + 1e-12


def test_large_C_is_the_hard_margin_without_a_warning():
    X, y = data("separable")
    for C in (1e5, 1e8):
        model, oracle = LinearSVC(C=C).fit(X, y), SVC(kernel="linear", C=C).fit(X, y)
        assert model.certificate_.relative_gap <= 1e-4
        assert model.certificate_.verify(X, y)
        np.testing.assert_allclose(model.coef_, oracle.coef_, rtol=0.02, atol=1e-3)


@pytest.mark.parametrize("C", [1e-8, 1e-4])
def test_a_thousand_to_one_with_a_small_C(C):
    X, y = data("imbalanced")
    model = LinearSVC(C=C).fit(X, y)
    assert model.certificate_.proven
    assert "multipliers ended at a gap" in model.history_.reason or model.history_.solver == "multipliers"
    assert LinearSVC(C=C, solver="interior_point").fit(X, y).history_.reason == "asked for"


def test_a_limit_of_the_users_own_is_kept():
    X, y = data("imbalanced")
    with pytest.warns(UserWarning, match="max_iter=3"):
        assert LinearSVC(C=1e-4, max_iter=3).fit(X, y).history_.solver == "multipliers"


def test_what_it_cannot_do_it_says():
    X, y = data("overlapping")
    with pytest.raises(ValueError, match="hinge or squared hinge"):
        InteriorPoint().solve(Problem(Rows(X), y, Logistic(), C=1.0))
    with pytest.raises(ValueError, match="hinge or squared hinge"):
        LogisticRegression(solver="interior_point").fit(X, y)


def test_observers_and_interruptions_leave_the_best_so_far():
    X, y = data("overlapping")
    problem, heard = Problem(Rows(X), y, Hinge(), C=100.0), []
    stopped = InteriorPoint().solve(problem, observer=lambda k, theta, value: heard.append(value) or k >= 3)
    assert len(heard) == stopped.n_iter == 3
    assert heard == sorted(heard, reverse=True)

    def interrupt(*_):
        raise KeyboardInterrupt

    result = InteriorPoint().solve(problem, observer=interrupt)
    assert result.interrupted
    assert result.proof.dual <= result.proof.primal == pytest.approx(problem.objective(result.w, result.b))
