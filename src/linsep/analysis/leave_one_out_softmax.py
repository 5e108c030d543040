"""Leave-one-out of all planes of a softmax at once: the Newton step of `leave_one_out` with K × K blocks.

With Qᵢ what H⁻¹ says of the K scores of row i, Aᵢ = cᵢ (diag p − ppᵀ) and rᵢ = cᵢ (p − e_y), the scores without the row
move by (I − QᵢAᵢ)⁻¹ Qᵢ rᵢ. Only their differences count, so all of it is centred over the classes. The curvature of
−log p changes by no more than the range of the change of the scores, which is at most √2 times its length.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._common.types import BoolArray, FloatArray
from ..certificates.metrics import WIDER
from ..objective.duality import weights
from ..objective.objective import Objective
from ..solvers import Automatic, Result, Start, minimise
from .reach import ALONG, after_a_step, inverted, largest_of_others, radius

#: A share of the curvature that is left without a row, below which it says nothing.
SINGULAR = 1e-9
#: The range of K numbers is no more than this times their length, once their mean is taken away.
RANGE = math.sqrt(2.0)


def optimum(problem: Objective, start: Start, tol: float) -> Result:
    """Return the optimum, from planes on if these are better than none: those of a file may be anything."""
    with np.errstate(over="ignore", invalid="ignore"):
        better = problem.objective(start.w, start.b) < problem.objective(*problem.zeros())
    return minimise(problem, Automatic(tol=tol), start=start if better else None, tol=tol).as_part()


class SoftmaxPlanes:
    """The planes of a softmax at their optimum, and what becomes of the scores of each row without it."""

    def __init__(self, problem: Objective, W: FloatArray, b: FloatArray, *, tol: float, factored: int) -> None:
        self.problem, self.tol, self.factored = problem, tol, factored
        self.found = optimum(problem, Start(W, b), tol)
        self.fitted = _scores(problem, self.found)

    def left_out(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the scores without each row, centred, and between what they lie."""
        curved = self._curved(self.problem, self.found)
        if curved is None:
            return self.fitted, np.full_like(self.fitted, -np.inf), np.full_like(self.fitted, np.inf)
        step, reach = curved.left_out()
        return self.fitted + step, self.fitted + step - reach, self.fitted + step + reach

    def without(self, i: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the scores of row i by the optimum without it, and between what they lie."""
        problem, which = self.problem, np.delete(np.arange(self.problem.n), i)
        nothing = np.full(problem.classes, np.inf)
        rest = problem.chosen(which, problem.s[which])
        if not rest.class_totals.all():  # a class without rows has no optimum
            return self.fitted[i], -nothing, nothing
        found = optimum(rest, Start(self.found.w, self.found.b), self.tol)
        row = rest.with_rows(problem.rows.some(np.array([i])))
        scores, curved = _scores(row, found)[0], self._curved(rest, found)
        if curved is None or not curved.known(row)[0]:
            return scores, -nothing, nothing
        reach = curved.radius() * np.sqrt(np.diagonal(curved.blocks(row)[0])) * (1.0 + WIDER)
        return scores, scores - reach, scores + reach

    def _curved(self, problem: Objective, found: Result) -> _Curved | None:
        size = (problem.d + problem.fit_intercept) * problem.classes
        return None if problem.penalty.l1 or size > self.factored else _Curved(problem, found)


class _Curved:
    """The curvature at a point near the optimum."""

    def __init__(self, problem: Objective, found: Result) -> None:
        self.problem, K, d = problem, problem.classes, problem.d
        point = problem.evaluate(found.w, found.b)
        self.size = (d + problem.fit_intercept) * K
        H = problem.weight_of_loss * problem.head.gram(point, problem.rows)[: self.size, : self.size]
        H[np.arange(d * K), np.arange(d * K)] += problem.penalty.l2
        self.inverse, self.flat = inverted(H)
        g = np.ravel(point.smooth_gradient)
        self.rest = math.sqrt(max(float(g @ self.inverse @ g), 0.0))
        self.p, self.Q = point.p, self.blocks(problem)
        self.longest = np.where(self.known(problem), np.linalg.eigvalsh(self.Q)[:, -1], np.inf)  # squared

    def blocks(self, problem: Objective) -> FloatArray:
        """Return Qᵢ of each row, centred over the classes: shape (n, K, K)."""
        X, K = _rows(problem), problem.classes
        inverse = self.inverse.reshape(-1, K, X.shape[1], K)
        Q = np.einsum("ia,akbl,ib->ikl", X, inverse, X, optimize=True)
        J = np.eye(K) - 1.0 / K
        return np.asarray(J @ Q @ J)

    def known(self, problem: Objective) -> BoolArray:
        """Return which rows have differences of scores with no share in directions without curvature."""
        X, K = _rows(problem), problem.classes
        along = np.einsum("ia,akf->ikf", X, self.flat.reshape(X.shape[1], K, -1), optimize=True)
        along -= along.mean(axis=1, keepdims=True)
        return np.asarray(np.linalg.norm(along, axis=(1, 2)) <= ALONG * np.sqrt(np.square(X).sum(axis=1) + 1.0))

    def radius(self) -> float:
        """Return how far the optimum is."""
        longest = RANGE * math.sqrt(max(float(self.longest.max(initial=0.0)), 0.0))
        return float(radius(np.array([self.rest]), np.array([longest]))[0])

    def left_out(self) -> tuple[FloatArray, FloatArray]:
        """Return how scores move a Newton step towards the optimum without their row, and how far they may be off."""
        problem, p, c, n = self.problem, self.p, weights(self.problem), self.problem.n
        A = c[:, None, None] * (np.eye(problem.classes) * p[:, None, :] - p[:, :, None] * p[:, None, :])
        r = c[:, None] * p
        r[np.arange(n), problem.codes] -= c
        left = 1.0 - np.linalg.eigvals(self.Q @ A).real.max(axis=1)  # those of a product of two positive matrices
        told = (left > SINGULAR) & np.isfinite(self.longest)
        left = np.where(told, left, 1.0)
        without = np.linalg.solve(np.eye(problem.classes) - self.Q @ A * told[:, None, None], self.Q)
        step = np.einsum("ikl,il->ik", without, r)
        length = np.sqrt(np.maximum(np.einsum("ik,ik->i", step, r), 0.0))
        steep = RANGE * np.sqrt(largest_of_others(np.maximum(self.longest, 0.0)) / left)  # M L
        away, wider = after_a_step(length, steep, self.rest / np.sqrt(left))
        own = np.sqrt(np.maximum(np.diagonal(without, axis1=1, axis2=2), 0.0))
        reach = (away * wider)[:, None] * own * (1.0 + WIDER) + WIDER * np.abs(step)
        return step, np.where(told[:, None], reach, np.inf)


def _rows(problem: Objective) -> FloatArray:
    """x̃ of each row."""
    X: Any = problem.rows.X
    X = np.asarray(X.toarray() if problem.rows.is_sparse else X, dtype=np.float64)
    return np.column_stack([X, np.ones(len(X))]) if problem.fit_intercept else X


def _scores(problem: Objective, found: Result) -> FloatArray:
    """gᵢₖ, less their mean over the classes."""
    g = np.column_stack([problem.rows.matvec(np.ascontiguousarray(w)) for w in found.w.T]) + found.b
    return np.asarray(g - g.mean(axis=1, keepdims=True))
