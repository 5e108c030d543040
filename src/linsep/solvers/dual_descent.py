"""Dual coordinate descent: one example a step, each to the optimum of its own dual variable, to a proven duality gap.

The weights are w = Σ αᵢ yᵢ xᵢ throughout. The intercept is free, which the dual sees as Σ αᵢ yᵢ = 0; here it is pulled
towards where it last was by a spring (ρ/2)(b − b̄)², a penalty that vanishes as b̄ follows b: the method of multipliers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..duality import Bound, balanced, dual_bound
from ..history import History, Record
from ..problem import Problem
from ._checks import check_count
from .result import STOPPED_BY_OBSERVER, Result, Start

FloatArray = NDArray[np.float64]
Observer = Callable[[int, FloatArray, float], bool]

__all__ = ["DualDescent"]


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


#: How often a pass visits an example at the most, however much it weighs.
MOST_VISITS = 100


def _visits(c: FloatArray) -> NDArray[np.int32]:
    """Return the examples of one pass: each that counts once, and the heavy ones as often as they outweigh the typical.

    Two heavy examples that are alike and of different classes pull at the same weights, and settle in as many visits
    as they are heavy; as many light ones of the same total weight would be visited that often.
    """
    counted = np.flatnonzero(c)
    if len(counted) == 0:
        return counted.astype(np.int32)
    times = np.clip(np.round(c[counted] / np.median(c[counted])), 1, MOST_VISITS).astype(np.int64)
    # No more than twice the visits: where weights differ by orders of magnitude, a pass is still about a pass.
    if times.sum() > 2 * len(counted):
        times = np.maximum(1, times * len(counted) // times.sum())
    return np.repeat(counted, times).astype(np.int32)


class _Run:
    """One run: the dual variables, the weights they make, and the best point met."""

    def __init__(self, method: DualDescent, problem: Problem, b: float, seed: int, observer: Observer | None) -> None:
        self.method, self.problem, self.seed, self.observer = method, problem, seed, observer
        n, d = problem.rows.n, problem.rows.d
        weight = np.ones(n) if problem.sample_weight is None else problem.sample_weight
        self.c = problem.C / problem.penalty.l2 * weight
        self.alpha, self.w, self.b = np.zeros(n), np.zeros(d), np.array([b])
        self.order = _visits(self.c)
        self.active, self.slopes = len(self.order), np.empty(3)
        self.estimate = self.earlier = np.inf
        # A column as long as an average row: b then moves about as fast as the weights.
        self.constant = problem.mean(problem.rows.squared_norms()) if problem.fit_intercept else 0.0
        self.history = History()
        self.best: tuple[float, FloatArray, float] = (np.inf, self.w, b)
        self.highest: tuple[float, FloatArray] = (-np.inf, self.alpha)
        self._wake()

    def result(self) -> Result:
        """Make passes until the gap is proven small."""
        interrupted, message = False, f"stopped after max_iter={self.method.max_iter}"
        passes, measured, hoped = 0, 2, np.inf
        proof = Bound(np.inf, -np.inf)
        try:
            for passes in range(1, self.method.max_iter + 1):
                self._pass(passes)
                # Measuring costs more than a pass: when the pass itself saw a small gap, else ever more rarely.
                promising = self.estimate < 0.7 * hoped and self._expected() <= self.method.tol * proof.primal < np.inf
                if not (promising or passes >= 2 * measured or passes == self.method.max_iter or self.active == 0):
                    continue
                measured, proof = passes, self._measure(passes)
                if proof.relative_gap <= self.method.tol:
                    message = f"the duality gap is {proof.relative_gap:.1e}"
                    break
                if self.observer is not None and self.observer(passes, np.append(self.w, self.b), proof.primal):
                    message = STOPPED_BY_OBSERVER
                    break
                if promising or self.active == 0 or passes % 8 == 0:
                    hoped = self.estimate if promising else np.inf
                    self._wake()
        except KeyboardInterrupt:
            interrupted, message = True, "interrupted"
            proof = self._measure(passes)
        _, w, b = self.best
        converged = proof.relative_gap <= self.method.tol
        alpha = self.highest[1]
        last = Start(w, b, passes, alpha=alpha)
        return Result(w, b, passes, converged, message, self.history, last, "", interrupted, proof=proof, alpha=alpha)

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
        self.earlier, self.estimate = self.estimate, problem.penalty.l2 * float(gap)

    def _expected(self) -> float:
        """Return what the gap should be now: the last pass saw it as it was under way, and it goes on falling."""
        return self.estimate * min(1.0, self.estimate / self.earlier) if self.earlier > 0 else self.estimate

    def _wake(self) -> None:
        """Look at every example again: one may have been set aside too early."""
        self.active, self.slopes[:2] = len(self.order), (-np.inf, np.inf)

    def _measure(self, k: int) -> Bound:
        """Note the point; return what is known of the optimum from all points so far."""
        problem = self.problem
        # The weights have been added to many times: begin again from the sum that they stand for.
        self.w = problem.rows.rmatvec(self.alpha * problem.y)
        point = problem.evaluate(self.w, float(self.b[0]), gradient=False)
        if point.objective < self.best[0]:
            self.best = point.objective, self.w.copy(), point.b
        alpha = balanced(problem, problem.penalty.l2 * self.alpha)
        dual = dual_bound(problem, alpha, None if problem.fit_intercept else problem.penalty.l2 * self.w)
        if dual > self.highest[0]:
            self.highest = dual, alpha
        best = self.best[0] / (problem.weight_of_loss * problem.total_weight)
        self.history.add(Record(k, k, point.mean_objective, point.risk, point.zero_one, best=best))
        return Bound(self.best[0], self.highest[0])
