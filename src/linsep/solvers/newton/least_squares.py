"""Least squares in one step: the normal equations, and a stable way round them where they break down."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, lsmr

from ..._common.types import BoolArray, FloatArray
from ...history import History, Record
from ...objective.duality import Bound
from ...objective.objective import Objective
from ...objective.problem import MeanObjective
from ..contract import check_needs
from ..result import Observer, Result, Start

#: Below this reciprocal condition number the normal equations have lost half the digits.
WELL_CONDITIONED = 1e-9
#: Up to this many features the matrix XᵀX is formed; beyond, only products with X are used.
MANY_FEATURES = 5000


@dataclass(frozen=True)
class LeastSquares:
    """Solve (XᵀSX + μI) w = XᵀSy for centred X and y; the intercept follows from the means.

    Where XᵀX is singular or nearly so, the singular value decomposition of X gives the solution of least norm; for many
    features, LSMR does so without forming any matrix.
    """

    name = "least_squares"
    needs = frozenset({"quadratic", "no_l1", "one_plane", "rows"})
    helped_by = frozenset({"merging", "scaling", "polishing"})

    def solve(
        self, problem: Objective, *, start: Start | None = None, seed: int = 0, observer: Observer | None = None
    ) -> Result:
        """Minimise; there is nothing to start from, to draw or to observe."""
        check_needs(self, problem)
        system = _System(problem)
        w, route = system.solve()
        b = system.intercept(w)
        history = History()
        history.reason = route
        function = MeanObjective(problem)
        theta = problem.join(w, b)
        gradient = function.gradient(theta)
        norm = float(np.linalg.norm(gradient))
        value = function.value(theta)
        history.add(Record(1, 1, value, function.risk(theta), function.zero_one(theta), norm, best=value))
        proof = system.proof(function.at(theta).objective, problem.total_weight * gradient)
        return Result(w, b, 1, True, f"solved by {route}", history, Start(w, b, 1), proof=proof)


class _System:
    """min_w Σ sᵢ (tᵢ − w·(xᵢ − x̄))² + μ‖w‖², where t are the centred labels."""

    def __init__(self, problem: Objective) -> None:
        self.problem, self.rows = problem, problem.rows
        # With constant curvature c the loss is c/2 (z − t)² and a constant, where t = −ℓ'(0)/c.
        zero = np.zeros(1)
        curvature = float(problem.loss.curvature(zero)[0])
        self.target = -float(problem.loss.slope(zero)[0]) / curvature * problem.y
        self.ridge = problem.penalty.l2 / (curvature * problem.C)
        n = self.rows.n
        self.s = np.ones(n) if problem.sample_weight is None else problem.sample_weight
        if problem.fit_intercept:
            self.x_mean = self.rows.rmatvec(self.s) / problem.total_weight
            self.t_mean = problem.mean(self.target)
        else:
            self.x_mean, self.t_mean = np.zeros(self.rows.d), 0.0
        self.t = self.target - self.t_mean
        self.curvature = curvature
        self.factor: tuple[Any, FloatArray] | None = None  # with the scales of the columns, if all are used

    def intercept(self, w: FloatArray) -> float:
        return float(self.t_mean - self.x_mean @ w) if self.problem.fit_intercept else 0.0

    def solve(self) -> tuple[FloatArray, str]:
        """Return w and how it was found."""
        d = self.rows.d
        if d > MANY_FEATURES or (self.rows.is_sparse and self.rows.n < d):
            return self._by_products(), "LSMR"
        if self.rows.n > d or self.ridge > 0:
            gram = self._gram()
            w = self._by_cholesky(gram)
            if w is not None:
                return w, "normal equations"
        if self.rows.is_sparse:
            return self._by_products(), "LSMR"
        return self._by_svd(), "singular value decomposition"

    def proof(self, objective: float, gradient: FloatArray) -> Bound | None:
        """Return how far a quadratic can fall, P − P* = ½ gᵀH⁻¹g, where there is no penalty and H has been factored.

        With a penalty the dual says it, and more simply.
        """
        if self.factor is None or self.ridge > 0:
            return None
        (factor, scale), d = self.factor, self.rows.d
        g_b = float(gradient[d]) if self.problem.fit_intercept else 0.0
        g = (gradient[:d] - g_b * self.x_mean) / scale
        # H is the curvature times the Gram matrix of centred columns, and for b the sum of the weights.
        fall = float(g @ scipy.linalg.cho_solve(factor, g, check_finite=False)) + g_b**2 / self.problem.total_weight
        return Bound(objective, objective - fall / (2.0 * self.curvature))

    def _blocks(self) -> Iterator[FloatArray]:
        """Yield √s (X − x̄) block by block, dense."""
        size = max(1, 2**20 // max(1, self.rows.d))
        root = np.sqrt(self.s)
        for first in range(0, self.rows.n, size):
            part = slice(first, first + size)
            block = self.rows.X[part].toarray() if self.rows.is_sparse else self.rows.X[part]
            block = block.astype(np.float64)
            block -= self.x_mean
            block *= root[part, None]
            yield block

    def _gram(self) -> FloatArray:
        gram = np.zeros((self.rows.d, self.rows.d))
        for block in self._blocks():
            gram += block.T @ block
        return gram

    def _by_cholesky(self, gram: FloatArray) -> FloatArray | None:
        """Solve the normal equations, or return None where they cannot be trusted. Columns are scaled alike first."""
        moment = self.rows.rmatvec(self.s * self.t) - self.x_mean * float(self.s @ self.t)
        gram[np.diag_indices_from(gram)] += self.ridge
        scale = np.sqrt(np.diag(gram))
        used = ~self._constant(np.diag(gram))
        scaled = gram[np.ix_(used, used)] / np.outer(scale[used], scale[used])
        if scaled.size == 0:
            return np.zeros(self.rows.d)
        try:
            factor = scipy.linalg.cho_factor(scaled, lower=True, check_finite=False)
        except scipy.linalg.LinAlgError:
            return None
        norm = float(np.abs(scaled).sum(axis=0).max())
        condition, _ = scipy.linalg.lapack.dpocon(factor[0], norm, uplo="L")
        if condition < WELL_CONDITIONED:
            return None
        if used.all():
            self.factor = factor, scale
        w = np.zeros(self.rows.d)
        w[used] = scipy.linalg.cho_solve(factor, moment[used] / scale[used], check_finite=False) / scale[used]
        return w

    def _constant(self, squares: FloatArray) -> BoolArray:
        """Return which columns are constant: what is left of them after centring is rounding. Their weight is zero."""
        return squares <= (100 * np.finfo(np.float64).eps) ** 2 * self.problem.total_weight * self.x_mean**2

    def _by_svd(self) -> FloatArray:
        A, t = np.vstack(list(self._blocks())), np.sqrt(self.s) * self.t
        A[:, self._constant(np.einsum("ij,ij->j", A, A))] = 0.0
        if self.ridge > 0:
            A = np.vstack([A, np.sqrt(self.ridge) * np.eye(self.rows.d)])
            t = np.append(t, np.zeros(self.rows.d))
        # Columns of very different size would hide the small ones below the rank tolerance.
        cutoff = np.finfo(np.float64).eps * max(A.shape)
        return np.asarray(scipy.linalg.lstsq(A, t, cond=cutoff, overwrite_a=True, check_finite=False)[0])

    def _by_products(self) -> FloatArray:
        root = np.sqrt(self.s)
        rows, x_mean = self.rows, self.x_mean
        operator = LinearOperator(
            (rows.n, rows.d),
            matvec=lambda v: root * (rows.matvec(np.ravel(v)) - x_mean @ np.ravel(v)),
            rmatvec=lambda u: rows.rmatvec(root * np.ravel(u)) - x_mean * float(root @ np.ravel(u)),
            dtype=np.float64,
        )
        damp, most = float(np.sqrt(self.ridge)), 20 * min(rows.n, rows.d) + 100
        solution = lsmr(operator, root * self.t, damp=damp, atol=1e-13, btol=1e-13, conlim=0.0, maxiter=most)
        return np.asarray(solution[0])
