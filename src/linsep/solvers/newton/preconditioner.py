"""Factors of Hessians, H = l2·I + Σ hᵢ [xᵢ, 1][xᵢ, 1]ᵀ, that turn gradients into steps."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from ...objective.problem import Problem
from ..sampling import draw

FloatArray = NDArray[np.float64]

__all__ = ["FACTORED", "Metric", "ScaledFactor", "diagonal", "factored"]

#: Up to this many features the Hessian is factored.
FACTORED = 3000


class Metric(Protocol):
    """H, or something like it, that can be divided by."""

    exact: bool
    cost: float  # of making it, in products of the Hessian with a vector; about

    def solve(self, g: FloatArray) -> FloatArray:
        """Return H⁻¹ g."""
        ...


def factored(problem: Problem, h: FloatArray, rng: np.random.Generator | None = None) -> Metric:
    """Return the factor that is cheapest: of the examples' products where few of them bend, else of the features'.

    With a random generator the latter may come from a sample of the examples.
    """
    rows = np.flatnonzero(h)
    if 2 * len(rows) < problem.rows.d and problem.penalty.l2 > 0:  # Woodbury's formula divides by it
        return _ByRows(problem, h, rows)
    return _ByColumns(problem, h, rows, rng)


class Cholesky:
    """A Cholesky factor of a matrix with a unit diagonal, nudged as little as makes one possible.

    LAPACK's own functions: what SciPy puts around them takes longer than they do on a small matrix.
    """

    def __init__(self, matrix: FloatArray, nudge: float = 1e-10) -> None:
        info = 1
        while info:
            nudged = matrix.copy()
            np.einsum("jj->j", nudged)[:] += nudge
            # The lower triangle of a C-ordered matrix is the upper one of what LAPACK sees.
            self.factor, info = lapack.dpotrf(nudged.T, lower=0, overwrite_a=1, clean=0)
            nudge *= 100

    def solve(self, g: FloatArray) -> FloatArray:
        """Return the matrix's inverse times g."""
        x, _ = lapack.dpotrs(self.factor, g, lower=0)
        return np.asarray(x)

    def inverse(self) -> FloatArray:
        """Return the lower triangle of the matrix's inverse."""
        inverse, _ = lapack.dpotri(self.factor, lower=0)
        return np.tril(inverse.T)


class ScaledFactor:
    """A Cholesky factor of a matrix, of which the lower triangle is filled; the matrix itself is used up."""

    def __init__(self, matrix: FloatArray) -> None:
        diagonal = np.einsum("jj->j", matrix)
        # Columns of one scale, and a nudge for directions in which nothing bends.
        self.scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        matrix *= self.scale[:, None]
        matrix *= self.scale
        self.factor = Cholesky(matrix)

    def solve(self, g: FloatArray) -> FloatArray:
        """Return the matrix's inverse times g."""
        return self.factor.solve(self.scale * g) * self.scale


class _ByColumns:
    """A Cholesky factor of the Hessian, or of its estimate from a sample of the examples, those that matter most."""

    def __init__(
        self, problem: Problem, h: FloatArray, rows: NDArray[np.int64], rng: np.random.Generator | None
    ) -> None:
        n, d = problem.rows.n, problem.rows.d
        stored = max(1, problem.rows.stored)
        # Of many examples more, since some features are rare; some thousands if that costs no more than a few products.
        size = max(2 * d, n // 16, min(4000, 16 * n * n // stored))
        self.exact = rng is None or len(rows) <= 2 * size or problem.rows.narrow
        if rng is not None and not self.exact:
            # Those that bend much matter, and long ones, in which features show that are rare; a few of all the others.
            bends, lengths = h[rows], problem.rows.squared_norms()[rows]
            chosen, p = draw((bends + bends.mean()) * (lengths + lengths.mean()), size, rng)
            rows, whole, h = rows[chosen], h, np.zeros(n)
            h[rows] = whole[rows] / p
        # Half of xxᵀ for each row, then d³/3 steps of the kind that a processor is fastest at.
        self.cost = (len(rows) * (stored / n) ** 2 / 2 + d**3 / 60) / (2 * stored)
        hessian = problem.rows.gram(h, rows)
        hessian = hessian if problem.fit_intercept else hessian[:d, :d]
        np.einsum("jj->j", hessian)[:d] += problem.penalty.l2
        self.factor = ScaledFactor(hessian)

    def solve(self, g: FloatArray) -> FloatArray:
        """Return H⁻¹ g."""
        return self.factor.solve(g)


class _ByRows:
    """The same by Woodbury's formula, (l2·I + ZᵀZ)⁻¹ = (I − Zᵀ (l2·I + ZZᵀ)⁻¹ Z) / l2.

    Z holds the rows that bend, times √h. The intercept, which has no l2, is eliminated last.
    """

    exact, cost = True, 0.0

    def __init__(self, problem: Problem, h: FloatArray, rows: NDArray[np.int64]) -> None:
        self.l2, self.fit_intercept = problem.penalty.l2, problem.fit_intercept
        if len(rows) == 0:
            rows = np.zeros(1, dtype=np.int64)  # one that does not bend either
        root = np.sqrt(h[rows])
        self.Z = problem.rows.dense(rows)
        self.Z *= root[:, None]
        # SciPy's BLAS, as for the factor: see `reference.gram`.
        self.factor = Cholesky(blas.dsyrk(1.0 / self.l2, self.Z.T, trans=1, lower=0).T, nudge=1.0)
        if self.fit_intercept:
            self.products = blas.dgemv(1.0, self.Z.T, root)
            self.column = self._weights(self.products)
            total = float(root @ root)
            # Where nothing bends the intercept it is left to the line search.
            self.rest = max(total - float(self.products @ self.column), 1e-10 * total) or 1.0

    def _weights(self, g: FloatArray) -> FloatArray:
        inner = blas.dgemv(1.0 / self.l2, self.Z.T, g, trans=1)
        return np.asarray((g - blas.dgemv(1.0, self.Z.T, self.factor.solve(inner))) / self.l2)

    def solve(self, g: FloatArray) -> FloatArray:
        """Return H⁻¹ g."""
        if not self.fit_intercept:
            return self._weights(g)
        w = self._weights(g[:-1])
        b = (g[-1] - self.products @ w) / self.rest
        return np.append(w - b * self.column, b)


class _Diagonal:
    """The diagonal of the Hessian."""

    exact, cost = False, 0.0

    def __init__(self, entries: FloatArray) -> None:
        self.entries = np.where(entries > 0, entries, 1.0)

    def solve(self, g: FloatArray) -> FloatArray:
        """Return D⁻¹ g."""
        return g / self.entries


def diagonal(problem: Problem, h: FloatArray) -> Metric:
    """Return the diagonal of the Hessian."""
    entries = problem.rows.square_rmatvec(h) + problem.penalty.l2
    return _Diagonal(np.append(entries, h.sum()) if problem.fit_intercept else entries)
