"""Factors of Hessians, H = l2·I + Σ hᵢ [xᵢ, 1][xᵢ, 1]ᵀ, that turn gradients into steps."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.linalg import blas

from ..problem import Problem
from .sampling import sample_size

FloatArray = NDArray[np.float64]

__all__ = ["FACTORED", "Metric", "diagonal", "factored"]

#: Up to this many features the Hessian is factored.
FACTORED = 3000


class Metric(Protocol):
    """H, or something like it, that can be divided by."""

    exact: bool

    def solve(self, g: FloatArray) -> FloatArray:
        """Return H⁻¹ g."""
        ...


def factored(problem: Problem, h: FloatArray, rng: np.random.Generator | None = None) -> Metric:
    """Return the factor that is cheapest: of the examples' products where few of them bend, else of the features'.

    With a random generator the latter may come from a sample of the examples.
    """
    rows = np.flatnonzero(h)
    if 2 * len(rows) < problem.rows.d:
        return _ByRows(problem, h, rows)
    return _ByColumns(problem, h, rows, rng)


def cholesky(matrix: FloatArray) -> Any:
    """Return a Cholesky factor, after as small a nudge of the unit diagonal as makes one possible."""
    nudge = 1e-10
    while True:
        try:
            nudged = matrix.copy()
            np.einsum("jj->j", nudged)[:] += nudge
            return scipy.linalg.cho_factor(nudged, lower=True, check_finite=False, overwrite_a=True)
        except scipy.linalg.LinAlgError:
            nudge *= 100


class _ByColumns:
    """A Cholesky factor of the Hessian, or of its estimate from a sample of the examples."""

    def __init__(
        self, problem: Problem, h: FloatArray, rows: NDArray[np.int64], rng: np.random.Generator | None
    ) -> None:
        size = sample_size(problem)
        self.exact = rng is None or len(rows) <= 2 * size
        if rng is not None and not self.exact:
            h = h * (len(rows) / size)
            rows = np.sort(rng.choice(rows, size, replace=False))
        d = problem.rows.d
        hessian = problem.rows.gram(h, rows)
        hessian = hessian if problem.fit_intercept else hessian[:d, :d]
        diagonal = np.einsum("jj->j", hessian)
        diagonal[:d] += problem.penalty.l2
        # Columns of one scale, and a nudge for directions in which nothing bends.
        self.scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        hessian *= self.scale[:, None]
        hessian *= self.scale
        self.factor = cholesky(hessian)

    def solve(self, g: FloatArray) -> FloatArray:
        """Return H⁻¹ g."""
        return np.asarray(scipy.linalg.cho_solve(self.factor, self.scale * g, check_finite=False) * self.scale)


class _ByRows:
    """The same by Woodbury's formula, (l2·I + ZᵀZ)⁻¹ = (I − Zᵀ (l2·I + ZZᵀ)⁻¹ Z) / l2.

    Z holds the rows that bend, times √h. The intercept, which has no l2, is eliminated last.
    """

    exact = True

    def __init__(self, problem: Problem, h: FloatArray, rows: NDArray[np.int64]) -> None:
        self.l2, self.fit_intercept = problem.penalty.l2, problem.fit_intercept
        if len(rows) == 0:
            rows = np.zeros(1, dtype=np.int64)  # one that does not bend either
        root = np.sqrt(h[rows])
        self.Z = problem.rows.dense(rows)
        self.Z *= root[:, None]
        # SciPy's BLAS, as for the factor: see `reference.gram`.
        inner = blas.dsyrk(1.0 / self.l2, self.Z.T, trans=1, lower=1)
        np.einsum("jj->j", inner)[:] += 1.0
        self.factor = scipy.linalg.cho_factor(inner, lower=True, check_finite=False, overwrite_a=True)
        if self.fit_intercept:
            self.products = blas.dgemv(1.0, self.Z.T, root)
            self.column = self._weights(self.products)
            total = float(root @ root)
            # Where nothing bends the intercept it is left to the line search.
            self.rest = max(total - float(self.products @ self.column), 1e-10 * total) or 1.0

    def _weights(self, g: FloatArray) -> FloatArray:
        inner = blas.dgemv(1.0 / self.l2, self.Z.T, g, trans=1)
        inner = scipy.linalg.cho_solve(self.factor, inner, check_finite=False)
        return np.asarray((g - blas.dgemv(1.0, self.Z.T, inner)) / self.l2)

    def solve(self, g: FloatArray) -> FloatArray:
        """Return H⁻¹ g."""
        if not self.fit_intercept:
            return self._weights(g)
        w = self._weights(g[:-1])
        b = (g[-1] - self.products @ w) / self.rest
        return np.append(w - b * self.column, b)


class _Diagonal:
    """The diagonal of the Hessian."""

    exact = False

    def __init__(self, entries: FloatArray) -> None:
        self.entries = np.where(entries > 0, entries, 1.0)

    def solve(self, g: FloatArray) -> FloatArray:
        """Return D⁻¹ g."""
        return g / self.entries


def diagonal(problem: Problem, h: FloatArray) -> Metric:
    """Return the diagonal of the Hessian."""
    entries = problem.rows.square_rmatvec(h) + problem.penalty.l2
    return _Diagonal(np.append(entries, h.sum()) if problem.fit_intercept else entries)
