"""Floating-point search for a separating plane: rows modulo a subspace, the perceptron on them, linear programs.

Nothing here decides: what is found is tried in whole numbers by `separation`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .. import losses
from .._common.types import BoolArray, FloatArray, IntArray
from .._core import Rows, is_sparse
from ..arithmetic.exact import Clock
from ..geometry import augment

LINPROG = 5e6  # operations that a linear program costs besides its iterations


@dataclass(frozen=True)
class View:
    """The rows modulo V in floats: aᵢ·θ for θ ⟂ V, where θ = lift(v)."""

    rows: Rows
    y: FloatArray
    intercept: bool
    lift: Callable[[FloatArray], FloatArray]
    live: IntArray  # rows that floats see outside V

    @property
    def size(self) -> int:
        """How long v is."""
        return self.rows.d + self.intercept

    def agreements(self, v: FloatArray) -> FloatArray:
        """aᵢ·θ of every row."""
        return self.y * (self.rows.matvec(v[: self.rows.d]) + (v[-1] if self.intercept else 0.0))

    def block(self, which: IntArray) -> tuple[Any, FloatArray]:
        """Return some rows aᵢ, each divided by its length, and these lengths."""
        part = self.rows.X[which].astype(np.float64)
        part = augment(part) if self.intercept else part
        squares = part.multiply(part).sum(axis=1) if is_sparse(part) else np.einsum("ij,ij->i", part, part)
        lengths = np.sqrt(np.asarray(squares).ravel())
        lengths[lengths == 0] = 1.0
        signs = self.y[which] / lengths
        return sparse.diags(signs) @ part if is_sparse(part) else part * signs[:, None], lengths


def scaled(X: Any) -> tuple[Any, IntArray]:
    """Return X with columns multiplied by 2^k to be of size about one where they differ much, and these k."""
    sizes = abs(X).max(axis=0).todense() if is_sparse(X) else np.maximum(X.max(axis=0), -X.min(axis=0))
    largest = np.asarray(sizes).ravel()
    k = -np.frexp(largest.astype(np.float64))[1].astype(np.int64)
    k[largest == 0] = 0
    if np.abs(k).max(initial=0) <= 8:
        return X, np.zeros_like(k)
    if not is_sparse(X):
        return np.ldexp(X.astype(np.float64), k), k
    scaled = X.astype(np.float64)
    scaled.data = np.ldexp(scaled.data, k[scaled.indices])
    return scaled, k


def filled(X: Any) -> BoolArray:
    """Whether each row has a number other than zero."""
    return np.asarray((X != 0).sum(axis=1)).ravel() > 0


class Perceptron:
    """The perceptron on the rows of a view, and its average."""

    def __init__(self, view: View, rng: np.random.Generator) -> None:
        d = view.rows.d
        self.view, self.rng, self.steps = view, rng, 0
        self.walk: dict[str, Any] = dict(w=np.zeros(d), b=np.zeros(1), sum_w=np.zeros(d), sum_b=np.zeros(1))

    def step(self, which: IntArray) -> int:
        """Visit these rows once, in random order; return how many were mistaken."""
        view, order = self.view, self.rng.permutation(which)
        self.steps += len(order)
        steps = view.y, None, order, np.ones(len(order)), losses.Perceptron()
        return view.rows.stochastic_steps(*steps, l2=0.0, l1=0.0, intercept=view.intercept, **self.walk)

    def practise(self, hard: IntArray, clock: Clock, enough: Callable[[], bool], passes: int = 100) -> None:
        """Visit the hardest rows until they are right, or it is enough."""
        for _ in range(passes):
            clock.check("the perceptron's passes", 5.0 * self.view.rows.stored * len(hard) / self.view.rows.n)
            if self.step(hard) == 0 or enough():
                return

    def planes(self) -> tuple[FloatArray, FloatArray]:
        """Return the last plane and the mean of all."""
        w, b, sum_w, sum_b = self.walk.values()
        last, total = (np.append(w, b), np.append(sum_w, sum_b)) if self.view.intercept else (w.copy(), sum_w)
        return last, total / max(1, self.steps)


def program(A: Any, clock: Clock) -> tuple[float, FloatArray, FloatArray]:
    """Return t, v and λ ≥ 0 of  max t  s.t.  A v ≥ t, |v| ≤ 1, 0 ≤ t ≤ 1."""
    n, q = A.shape
    ones: Any = np.ones((n, 1))
    matrix: Any = sparse.hstack([-A, ones], format="csc") if is_sparse(A) else np.hstack([-A, ones])
    bounds = [(-1.0, 1.0)] * q + [(0.0, 1.0)]
    found = _solved(clock, np.append(np.zeros(q), -1.0), A_ub=matrix, b_ub=np.zeros(n), bounds=bounds)
    if found.x is None:  # floats failed: let exact arithmetic go on from all rows alike
        return 0.0, np.zeros(q), np.zeros(n)
    return float(found.x[-1]), np.asarray(found.x[:-1]), np.maximum(0.0, -np.asarray(found.ineqlin.marginals))


def partition(A: Any, clock: Clock) -> FloatArray:
    """Return λ ≥ 0 with Aᵀλ = 0 that is positive wherever any such λ is: at least one there, or as good as zero.

    It solves  max Σ s  s.t.  Aᵀ(s + r) = 0, 0 ≤ s ≤ 1, r ≥ 0.
    """
    n, q = A.shape
    matrix: Any = sparse.hstack([A.T, A.T], format="csc") if is_sparse(A) else np.hstack([A.T, A.T])
    cost, bounds = np.append(-np.ones(n), np.zeros(n)), [(0.0, 1.0)] * n + [(0.0, None)] * n
    found = _solved(clock, cost, A_eq=matrix, b_eq=np.zeros(q), bounds=bounds)
    if found.x is None:
        return np.zeros(n)
    s, r = found.x[:n], found.x[n:]
    return np.where(s > 0.5, s + r, 0.0)


def _solved(clock: Clock, cost: FloatArray, **program: Any) -> Any:
    from scipy.optimize import linprog  # takes longer to import than all of linsep

    clock.check("linear programs", LINPROG)
    matrix: Any = program.get("A_ub", program.get("A_eq"))
    iteration = 5.0 * (matrix.nnz if is_sparse(matrix) else matrix.size) + Clock.STEP
    options: Any = {}
    if clock.end is not None:
        options["time_limit"] = clock.left()
    if clock.budget is not None:
        options["maxiter"] = 1 + int((clock.budget - clock.spent) / iteration)
    found = linprog(cost, **program, method="highs-ds", options=options)
    clock.check("linear programs", float(found.nit) * iteration)
    return found


def pivot_columns(A: FloatArray) -> IntArray:
    """Return as many columns as A has rows on which it is well regular, by elimination with column pivoting."""
    from scipy.linalg import qr

    return np.sort(qr(A, mode="r", pivoting=True)[1][: len(A)])
