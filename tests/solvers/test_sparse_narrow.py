"""Sparse rows of some thousand columns: no Hessian is factored where that is dearer than the passes it would save."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from linsep import LinearSVC, LogisticRegression
from linsep._core import Rows
from linsep.losses import Logistic
from linsep.objective.problem import Problem
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


def test_dense_rows_and_long_ones_are_factored() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((400, 30)), rng.integers(0, 2, 400)
    for rows in (X, sparse.csr_array(X)):
        assert not preconditioner.is_dear(_objective(rows, y))


def _objective(X: Any, y: np.ndarray) -> Any:
    return Problem(Rows(X), 2.0 * y - 1.0, Logistic())
