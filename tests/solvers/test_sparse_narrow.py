"""Sparse rows of some thousand columns: no Hessian is factored where that is dearer than the passes it would save."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from linsep import LinearSVC, LogisticRegression
from linsep._core import Rows
from linsep.losses import Logistic
from linsep.objective.problem import Problem
from linsep.solvers import Newton
from linsep.solvers.newton import augmented_lagrangian, preconditioner


@pytest.fixture(scope="module")
def short_texts() -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(0)
    X = sparse.random_array((2000, 1200), density=0.006, rng=rng, format="csr")
    return X, (X @ rng.standard_normal(1200) + 0.1 * rng.standard_normal(2000) > 0).astype(int)


def _refuse(*args: Any, **kwargs: Any) -> None:
    raise AssertionError("a Hessian was factored")


@pytest.mark.parametrize("C", [0.01, 1.0, 1e3])
def test_logistic_steps_on_short_texts_factor_nothing(
    short_texts: Any, C: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preconditioner, "factored", _refuse)
    model = LogisticRegression(C=C, solver="newton", tol=1e-6, fit_intercept=False).fit(*short_texts)
    assert model.certificate_.relative_gap <= 1e-6


def test_hinge_on_short_texts_goes_by_dual_descent_for_as_long_as_a_factor_would_take(
    short_texts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(augmented_lagrangian, "factored", _refuse)
    model = LinearSVC(loss="hinge", C=100.0, tol=1e-6, fit_intercept=False).fit(*short_texts)
    assert model.certificate_.relative_gap <= 1e-6


def _counted(calls: list[str], name: str, of: Any) -> Any:
    def counting(*args: Any, **kwargs: Any) -> Any:
        calls.append(name)
        return of(*args, **kwargs)

    return counting


@pytest.fixture(scope="module")
def long_texts() -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(0)
    X = sparse.random_array((1500, 300), density=0.04, rng=rng, format="csr")
    X.data[:] = 1.0
    return X, (X @ rng.standard_normal(300) + rng.standard_normal(1500) > 0).astype(int)


@pytest.mark.parametrize(("C", "factored"), [(1e-3, False), (100.0, True)])
def test_logistic_steps_take_a_dear_factor_only_once_products_have_cost_as_much(
    long_texts: Any, C: float, factored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    for name in ("factored", "diagonal"):
        monkeypatch.setattr(preconditioner, name, _counted(calls, name, getattr(preconditioner, name)))
    model = LogisticRegression(C=C, solver="newton", tol=1e-8, fit_intercept=False).fit(*long_texts)
    assert model.certificate_.relative_gap <= 1e-8
    assert calls[0] == "diagonal"
    assert ("factored" in calls) == factored
    assert calls == sorted(calls)  # there is no way back


def test_the_hinge_ends_where_dual_descent_has_arrived(long_texts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(augmented_lagrangian._InMemory, "begin", _refuse)
    for intercept in (False, True):
        model = LinearSVC(loss="hinge", C=0.01, fit_intercept=intercept, solver="multipliers").fit(*long_texts)
        assert model.converged_
        assert model.certificate_.verify(*long_texts)
        assert np.isfinite(model.history_["objective"]).all()
        assert len(model.history_) == 1


@pytest.mark.parametrize(("C", "glanced"), [(1e-3, True), (10.0, False)])
def test_a_glance_at_some_rows_tells_whether_dual_descent_suffices(
    C: float, glanced: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    X = sparse.random_array((17_000, 80), density=0.05, rng=rng, format="csr")
    y = (X @ rng.standard_normal(80) + 0.3 * rng.standard_normal(17_000) > 0).astype(int)
    calls: list[str] = []
    monkeypatch.setattr(augmented_lagrangian, "factored", _counted(calls, "factored", augmented_lagrangian.factored))
    model = LinearSVC(loss="hinge", C=C, fit_intercept=False).fit(X, y)
    assert model.converged_
    assert ("factored" not in calls) == glanced


def test_small_factors_leave_the_other_threads_to_passes_over_many_sparse_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    X = sparse.random_array((4_000, 100), density=0.3, rng=rng, format="csr")
    y = rng.integers(0, 2, 4_000)
    seen: list[int] = []

    def most_threads(*args: Any) -> bool:
        seen.append(max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"))
        return False

    with threadpool_limits(2, user_api="blas"):
        for rows in (X, X[:300], X.toarray()):
            Newton().solve(_objective(rows, y[: rows.shape[0]]), observer=most_threads)
            assert {seen.pop() for _ in list(seen)} == ({1} if rows is X else {2})


def test_dense_rows_and_long_ones_are_factored() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((400, 30)), rng.integers(0, 2, 400)
    for rows in (X, sparse.csr_array(X)):
        assert not preconditioner.is_dear(_objective(rows, y))


def _objective(X: Any, y: np.ndarray) -> Any:
    return Problem(Rows(X), 2.0 * y - 1.0, Logistic())
