"""Dual coordinate descent: one example a step, each to the optimum of its own dual variable, to a proven duality gap.

The weights are w = Σ αᵢ yᵢ xᵢ throughout. The intercept is free, which the dual sees as Σ αᵢ yᵢ = 0; here it is pulled
towards where it last was by a spring (ρ/2)(b − b̄)², a penalty that vanishes as b̄ follows b: the method of multipliers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._core import conjugate_sum
from ..duality import Bound, balanced, dual_bound
from ..history import History, Record
from ..problem import Problem
from ._checks import check_count
from .result import STOPPED_BY_OBSERVER, Result, Start

FloatArray = NDArray[np.float64]
Observer = Callable[[int, FloatArray, float], bool]

__all__ = ["DualDescent"]

#: The pass after which the gap is measured for the first time, unless it seems small before.
FIRST = 16
#: An example whose share in the gap is below this part of c has none: that is rounding.
NOTHING = 1e-12


@dataclass(frozen=True)
class DualDescent:
    """Dual coordinate descent with shrinking, for losses that have a `dual_step` and an L2 penalty.

    Parameters
    ----------
    tol : float
        The relative duality gap at which to stop.
    max_iter : int
        Passes over the data at the most.
    """

    tol: float = 1e-4
    max_iter: int = 20_000
    name = "dual"

    def __post_init__(self) -> None:
        check_count("max_iter", self.max_iter)

    def solve(
        self, problem: Problem, *, start: Start | None = None, seed: int = 0, observer: Observer | None = None
    ) -> Result:
        """Minimise; a start gives the intercept only, since its weights need not be a combination of examples."""
        if problem.penalty.l1 > 0 or problem.penalty.l2 == 0:
            raise ValueError(f"solver 'dual' needs the penalty ½‖w‖² alone, not {problem.penalty.formula!r}")
        return _Run(self, problem, 0.0 if start is None else start.b, seed, observer).result()


class _Run:
    """One run: the dual variables, the weights they make, and the best point met."""

    def __init__(self, method: DualDescent, problem: Problem, b: float, seed: int, observer: Observer | None) -> None:
        self.method, self.problem, self.seed, self.observer = method, problem, seed, observer
        n, d = problem.rows.n, problem.rows.d
        weight = np.ones(n) if problem.sample_weight is None else problem.sample_weight
        self.c = problem.C / problem.penalty.l2 * weight
        self.alpha, self.w, self.b = np.zeros(n), np.zeros(d), np.array([b])
        self.order = np.flatnonzero(self.c).astype(np.int32)
        self.active, self.slopes = len(self.order), np.array([-np.inf, np.inf, np.inf])
        self.estimate = np.inf
        # A column as long as an average row: b then moves about as fast as the weights.
        self.constant = problem.mean(problem.rows.squared_norms()) if problem.fit_intercept else 0.0
        self.history = History()
        self.best: tuple[float, FloatArray, float, FloatArray | None] = (np.inf, self.w, b, None)
        self.highest: tuple[float, FloatArray] = (-np.inf, self.alpha)

    def result(self) -> Result:
        """Make passes until the gap is proven small."""
        interrupted, message = False, f"stopped after max_iter={self.method.max_iter}"
        passes, measured, hoped = 0, FIRST // 2, np.inf
        proof = Bound(np.inf, -np.inf)
        try:
            for passes in range(1, self.method.max_iter + 1):
                self._pass(passes)
                # Measuring costs more than a pass: when the pass itself saw a small gap, else ever more rarely.
                promising = self.estimate < 0.7 * hoped and self._seems_small()
                if not (promising or passes >= 2 * measured or passes == self.method.max_iter or self.active == 0):
                    continue
                measured, proof = passes, self._measure(passes)
                if proof.relative_gap <= self.method.tol:
                    message = f"the duality gap is {proof.relative_gap:.1e}"
                    break
                if self.observer is not None and self.observer(passes, np.append(self.w, self.b), proof.primal):
                    message = STOPPED_BY_OBSERVER
                    break
                hoped = self.estimate if promising else np.inf
        except KeyboardInterrupt:
            interrupted, message = True, "interrupted"
            proof = self._measure(passes)
        converged, (_, w, b, z), (_, alpha) = proof.relative_gap <= self.method.tol, self.best, self.highest
        ended, last = (converged, message, self.history), Start(w, b, passes, alpha=alpha)
        return Result(w, b, passes, *ended, last, interrupted=interrupted, proof=proof, alpha=alpha, z=z)

    def _pass(self, k: int) -> None:
        problem = self.problem
        if problem.fit_intercept:  # b = b̄ + constant · Σ αᵢ yᵢ; let b̄ follow it
            self.b += self.constant * float(self.alpha @ problem.y)
        self.active = problem.rows.dual_pass(
            problem.y,
            self.c,
            problem.loss,
            constant=self.constant,
            b=self.b,
            order=self.order,
            active=self.active,
            seed=self.seed + k,
            alpha=self.alpha,
            w=self.w,
            slopes=self.slopes,
        )
        low, high, gap = self.slopes
        self.slopes[:2] = low if low < 0 else -np.inf, high if high > 0 else np.inf
        self.estimate = problem.penalty.l2 * float(gap)

    def _seems_small(self) -> bool:
        """Whether the gap that the last pass saw would do, as a share of D(α); that takes no pass over the data."""
        problem, l2, tol = self.problem, self.problem.penalty.l2, self.method.tol
        C = problem.weight_of_loss
        if self.estimate > tol * C * problem.total_weight * float(problem.loss.value(np.zeros(1))[0]):  # D ≤ P(0)
            return False
        conjugates = conjugate_sum(problem.y, problem.sample_weight, problem.loss, -l2 / C * self.alpha * problem.y, 1, 1)
        return self.estimate <= tol * (-problem.penalty.conjugate(l2 * self.w) - C * conjugates)

    def _measure(self, k: int) -> Bound:
        """Note the point; return what is known of the optimum from all points so far."""
        problem, l2, b = self.problem, self.problem.penalty.l2, float(self.b[0])
        # The weights have been added to many times: begin again from the sum that they stand for.
        self.w = problem.rows.rmatvec(self.alpha * problem.y)
        z = problem.agreements(self.w, b)
        losses = problem.loss.value(z)
        risk, mistakes = problem.mean(losses), problem.mean((z <= 0).astype(np.float64))
        scale = problem.weight_of_loss * problem.total_weight
        primal = problem.penalty.value(self.w) + scale * risk
        if primal < self.best[0]:
            self.best = primal, self.w.copy(), b, z
        alpha = balanced(problem, l2 * self.alpha)
        dual = dual_bound(problem, alpha, None if problem.fit_intercept else l2 * self.w)
        if dual > self.highest[0]:
            self.highest = dual, alpha
        self._wake(z, losses)
        self.history.add(Record(k, k, primal / scale, risk, mistakes, best=self.best[0] / scale))
        return Bound(self.best[0], self.highest[0])

    def _wake(self, z: FloatArray, losses: FloatArray) -> None:
        """Take up again what was set aside too early: examples that have a share in the gap, c ℓ(z) + c ℓ*(−α/c) + α z."""
        aside = self.order[self.active :]
        alpha, c = self.alpha[aside], self.c[aside]
        share = c * (losses[aside] + self.problem.loss.conjugate(-alpha / c)) + alpha * z[aside]
        wrong = share > NOTHING * c
        self.order[self.active :] = np.concatenate([aside[wrong], aside[~wrong]])
        self.active += int(wrong.sum())
