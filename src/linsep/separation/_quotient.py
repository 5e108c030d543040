"""Rows modulo the span V of some of them (the quotient space), in floats: coordinates orthogonal to V."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from scipy import sparse

from .._core import Rows, is_sparse
from .._types import FloatArray
from ..geometry import augment
from ._question import Question
from .face import signed_rows
from .floats import View, filled, pivot_columns

#: The share of a row's length outside V below which floats say nothing.
NEGLIGIBLE = 1e-9


def whole_space(asked: Question) -> View:
    """Return the rows as they are, where V is nothing; without an intercept, rows of zeros are left out."""
    live = np.arange(asked.n) if asked.intercept else np.flatnonzero(filled(asked.X))
    return View(Rows(asked.like_scaled[0]), asked.y, asked.intercept, lambda v: v, live)


def quotient(asked: Question, basis: list[int], inside: Collection[int]) -> View:
    """Return the rows modulo the span of a basis; rows that are known to be inside are left out."""
    X, _ = asked.like_scaled
    asked.clock.check("a change of coordinates", 5.0 * asked.size**3 + 2.0 * asked.size * Rows(X).stored)
    A = signed_rows(X, asked.y, basis, intercept=asked.intercept)
    if is_sparse(X) and asked.size > 1000:
        reduced, lift = _eliminated(asked, A)
    else:
        reduced, lift = _projected(asked, A.toarray() if is_sparse(A) else A)
    rows = Rows(reduced)
    outside = rows.squared_norms() > NEGLIGIBLE**2 * (Rows(X).squared_norms() + asked.intercept)
    outside[list(inside)] = False
    return View(rows, asked.y, False, lift, np.flatnonzero(outside))


def _projected(asked: Question, A: FloatArray) -> tuple[FloatArray, Callable[[FloatArray], FloatArray]]:
    """Return the rows in an orthonormal basis of the complement, for dense data."""
    X, _ = asked.like_scaled
    Q, _ = np.linalg.qr((A / np.linalg.norm(A, axis=1, keepdims=True)).T, mode="complete")
    Z = Q[:, len(A) :]
    reduced = np.asarray(X @ Z[: asked.d], dtype=np.float64)
    if asked.intercept:
        reduced += Z[asked.d]
    return reduced, lambda v: np.asarray(Z @ v)


def _eliminated(asked: Question, A: Any) -> tuple[Any, Callable[[FloatArray], FloatArray]]:
    """Return the rows with as many columns eliminated as the basis has rows, for sparse data."""
    X, _ = asked.like_scaled
    used = np.unique(A.indices)
    # rare columns go first: a common one, such as the intercept's, would fill all rows
    common = np.append(X.getnnz(axis=0), [asked.n] * asked.intercept)[used]
    pivot = used[pivot_columns(A[:, used].toarray() / common)]
    free = np.setdiff1d(np.arange(asked.size), pivot)
    R = sparse.csr_matrix(np.linalg.solve(A[:, pivot].toarray(), A[:, free].toarray()))
    whole = augment(X) if asked.intercept else X
    reduced = sparse.csr_matrix(whole[:, free] - whole[:, pivot] @ R)
    reduced.data[np.abs(reduced.data) < NEGLIGIBLE] = 0.0
    reduced.eliminate_zeros()

    def lift(v: FloatArray) -> FloatArray:
        theta = np.zeros(asked.size)
        theta[free], theta[pivot] = v, -(R @ v)
        return theta

    return reduced, lift
