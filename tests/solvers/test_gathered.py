"""Examples copied together: the passes stay the same to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from linsep import losses
from linsep._core import Rows
from linsep.objective.problem import Problem
from linsep.penalties import L2
from linsep.solvers.dual import gathered
from linsep.solvers.dual.descent import DualDescent
from linsep.solvers.dual.gathered import Gathered


def words(n: int, d: int, seed: int = 0) -> tuple[sp.csr_matrix, np.ndarray]:
    """Return sparse rows of which some words tell the class."""
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, 0.05, format="csr", random_state=rng)
    return X, np.where(X @ rng.standard_normal(d) + 0.1 * rng.standard_normal(n) > 0, 1.0, -1.0)


def problem(fit_intercept: bool = True, loss: str = "hinge") -> Problem:
    X, y = words(600, 200)
    return Problem(Rows(X), y, losses.get(loss), penalty=L2(), C=10.0, fit_intercept=fit_intercept)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_fit_is_the_same_to_the_last_bit(loss, fit_intercept, monkeypatch):
    copies = []
    copy = gathered._Copy
    monkeypatch.setattr(gathered, "_Copy", lambda *args: copies.append(args[2]) or copy(*args))
    far = DualDescent(tol=1e-9).solve(problem(fit_intercept, loss))
    assert not copies
    monkeypatch.setattr(gathered, "WORTH", 0)
    monkeypatch.setattr(gathered, "PASSES", 0)
    near = DualDescent(tol=1e-9).solve(problem(fit_intercept, loss))
    assert copies
    assert all(len(which) <= 300 for which in copies)
    assert near.w.tobytes() == far.w.tobytes()
    assert near.alpha is None or near.alpha.tobytes() == far.alpha.tobytes()
    assert (near.b, near.n_iter, near.proof) == (far.b, far.n_iter, far.proof)


def test_examples_that_are_not_at_hand_are_taken_up_again(monkeypatch):
    monkeypatch.setattr(gathered, "WORTH", 0)
    monkeypatch.setattr(gathered, "PASSES", 0)
    given = problem(False)
    n, d = given.rows.n, given.rows.d
    near, alpha, w = Gathered(given, np.full(n, 10.0)), np.zeros(n), np.zeros(d)
    for few in (np.arange(100), np.arange(50, 250)):  # the second is no part of the first
        order, slopes = few.astype(np.int32), np.array([-np.inf, np.inf, np.inf])
        near.dual_pass(order, len(order), alpha, constant=0.0, b=np.zeros(1), seed=0, w=w, slopes=slopes)
        assert np.array_equal(np.sort(order), few)
        np.testing.assert_allclose(w, given.rows.rmatvec(alpha * given.y), atol=1e-12)
    assert np.count_nonzero(alpha[:50]) > 0
    assert np.count_nonzero(alpha[100:250]) > 0
    assert not alpha[250:].any()


def test_long_rows_stay_where_they_are():
    X = np.ones((200, 1000))
    assert not Gathered(Problem(Rows(X), np.ones(200), losses.get("hinge"), penalty=L2(), C=1.0), np.ones(200)).worth
