"""Dual coordinate descent: one example a step, each to the optimum of its own dual variable, to a proven duality gap.

The weights are w = Σ αᵢ yᵢ xᵢ throughout. The intercept is free, which the dual sees as Σ αᵢ yᵢ = 0; here it is pulled
towards where it last was by a spring (ρ/2)(b − b̄)², a penalty that vanishes as b̄ follows b: the method of multipliers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core import WORTH_A_THREAD
from ...objective.duality import Bound, balanced, bound, dual_bound
from ...objective.objective import Objective
from .._checks import check_count
from ..contract import check_needs
from ..history import Record
from ..result import Observer, Result, Start
from ..run import GapRun
from .gathered import Gathered

FloatArray = NDArray[np.float64]

__all__ = ["DualDescent"]

#: Two halves at once pay for as long as a pass leaves no more than this share of the gap; then one example at a time.
BRISK = 0.4
#: For a loss with corners they pay in the first passes only, which move everything, and if a second thread does.
BLUNT, MANY = 2, 2 * WORTH_A_THREAD
#: The spring holds b as a column of constants would whose square is this share of an average row's: all examples have
#: that column in common, so that a longer one makes each step undo what others did.
SPRING = 0.05
#: After this many passes the gap is measured at the latest; that of a smooth loss falls faster.
FIRST, FIRST_SMOOTH = 32, 8
#: A loss with a corner lets the plane swing about the optimum. In a run longer than this the planes are averaged, each
#: pass with this weight; the average's gap is about this part of what a pass sees.
LONG, NEW, CALMER = 50, 0.1, 0.7
#: A run aims at this part of `tol`: the certificate of many examples has to allow for rounding.
ROOM = 0.97
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
    needs = frozenset({"convex", "dual_step", "conjugate", "l2", "one_plane"})
    helped_by = frozenset({"merging", "centring", "scaling"})

    def __post_init__(self) -> None:
        check_count("max_iter", self.max_iter)

    def solve(
        self, problem: Objective, *, start: Start | None = None, seed: int = 0, observer: Observer | None = None
    ) -> Result:
        """Minimise; of a start without dual variables only b is taken: its weights need not be a sum of examples."""
        check_needs(self, problem)
        return _Run(self, problem, start or Start(np.zeros(problem.rows.d), 0.0), seed, observer).result()


class _Run(GapRun):
    """One run: the dual variables, the weights they make, and the best point met."""

    def __init__(
        self, method: DualDescent, problem: Objective, start: Start, seed: int, observer: Observer | None
    ) -> None:
        super().__init__(replace(method, tol=ROOM * method.tol), observer)
        self.problem, self.seed = problem, seed
        n, d = problem.rows.n, problem.rows.d
        weight = np.ones(n) if problem.sample_weight is None else problem.sample_weight
        self.c = problem.C / problem.penalty.l2 * weight
        self.alpha, self.w, self.b = np.zeros(n), np.zeros(d), np.array([start.b])
        if start.alpha is not None:
            self.alpha = np.clip(start.alpha / problem.penalty.l2, 0.0, self.c)
            self.w = problem.rows.rmatvec(self.alpha * problem.y)
        self.order, self.near = np.flatnonzero(self.c).astype(np.int32), Gathered(problem, self.c)
        self.active, self.slopes = len(self.order), np.array([-np.inf, np.inf, np.inf])
        self.other = np.empty(d)
        self.by_halves = problem.loss.smooth or problem.rows.stored >= MANY
        self.estimate = self.earlier = np.inf
        self.averages: list[tuple[FloatArray, float]] = []  # one, in a long run
        self.constant = SPRING * problem.mean(problem.rows.squared_norms()) if problem.fit_intercept else 0.0
        self.best: tuple[float, FloatArray, float, FloatArray | None] = (np.inf, self.w, start.b, None)
        self.highest: tuple[float, FloatArray | None] = (-np.inf, self.alpha)

    def result(self) -> Result:
        """Make passes until the gap is proven small."""
        passes, measured, hoped = 0, (FIRST_SMOOTH if self.problem.loss.smooth else FIRST) // 2, np.inf
        proof = Bound(np.inf, -np.inf)
        with self.until_it_ends():
            for passes in range(1, self.method.max_iter + 1):
                self._pass(passes)
                # Measuring costs more than a pass: when the pass itself saw a small gap, else ever more rarely.
                promising = self.estimate < 0.7 * hoped and self._is_expected(proof)
                if not (promising or passes >= 2 * measured or passes == self.method.max_iter or self.active == 0):
                    continue
                measured, proof = passes, self._measure(passes)
                self.end_if_proven(proof)
                self.tell(passes, self.w, self.b, proof.primal)
                hoped = self.estimate if promising else np.inf
        if proof.relative_gap > self.method.tol and (self.interrupted or self.problem.loss.smooth):
            proof = self._measure_dual_point(passes)
        _, w, b, z = self.best
        return self.outcome(w, b, passes, proof, alpha=self.highest[1], z=z)

    def _pass(self, k: int) -> None:
        problem = self.problem
        if problem.fit_intercept:  # b = b̄ + constant · Σ αᵢ yᵢ; let b̄ follow it
            # Not as a product of vectors: the threads of a BLAS go on spinning after each, for as long as a pass takes.
            self.b += self.constant * float(np.sum(self.alpha * problem.y))
        shared: dict[str, Any] = dict(
            constant=self.constant, b=self.b, order=self.order, seed=self.seed + k, alpha=self.alpha, w=self.w
        )
        if self.by_halves:
            gap = problem.rows.dual_halves(problem.y, self.c, problem.loss, other=self.other, **shared)
        else:
            self.active = self.near.dual_pass(active=self.active, slopes=self.slopes, **shared)
            low, high, gap = self.slopes
            self.slopes[:2] = low if low < 0 else -np.inf, high if high > 0 else np.inf
        self.earlier, self.estimate = self.estimate, problem.penalty.l2 * float(gap)
        self.by_halves &= k < 3 or self.estimate <= BRISK * self.earlier if problem.loss.smooth else k < BLUNT
        if k >= LONG and not problem.loss.smooth:
            last = float(self.b[0])
            w, b = self.averages[0] if self.averages else (self.w, last)
            self.averages = [(w + NEW * (self.w - w), b + NEW * (last - b))]

    def _is_expected(self, proof: Bound) -> bool:
        """Whether the gap should be small enough now; telling so takes no pass over the data."""
        problem, tol, gap = self.problem, self.method.tol, self.estimate
        if problem.loss.smooth:
            # The last pass saw it under way, and it goes on falling.
            gap *= min(1.0, max(0.1, self.estimate / self.earlier)) if self.earlier > 0 else 1.0
            if self.by_halves:
                gap *= 2.0  # the plane's own dual point is not quite as good as α
            if proof.primal < np.inf:
                return gap <= tol * proof.primal
        if self.averages:
            gap *= CALMER
        # The optimum is no more than with w = 0, and no less than D.
        most = problem.weight_of_loss * problem.total_weight * float(problem.loss.value(np.zeros(1))[0])
        return gap <= tol * most and gap <= tol * self._dual_value()

    def _dual_value(self) -> float:
        """Return D(α), as far as w is the sum that it stands for and the classes balance."""
        l2 = self.problem.penalty.l2
        return dual_bound(self.problem, l2 * self.alpha, l2 * self.w)

    def _measure(self, k: int) -> Bound:
        """Return what is known of the optimum: of a smooth loss by the plane's own dual point, if that will do."""
        if not self.problem.loss.smooth:
            return self._measure_dual_point(k)
        point = self.problem.evaluate(self.w, float(self.b[0]), split=self.problem.fit_intercept)
        own = bound(point)
        if own.relative_gap <= self.method.tol:
            self.best, self.highest = (point.objective, self.w, point.b, None), (own.dual, None)
        elif not self.by_halves and own.primal - self._dual_value() <= self.method.tol * own.primal:
            return self._measure_dual_point(k)
        self.active, self.slopes[:2] = len(self.order), (-np.inf, np.inf)  # some may have been set aside too early
        self._record(k, point.objective, point.risk, point.zero_one)
        return own

    def _measure_dual_point(self, k: int) -> Bound:
        """Note the point, the average and α; return what is known of the optimum from all points so far."""
        problem, l2 = self.problem, self.problem.penalty.l2
        # The weights have been added to many times: begin again from the sum that they stand for.
        self.w = problem.rows.rmatvec(self.alpha * problem.y)
        planes = [self._plane(self.w.copy(), float(self.b[0])), *(self._plane(*each) for each in self.averages)]
        primal, w, b, z = min(planes, key=lambda plane: plane[0])
        if primal < self.best[0]:
            self.best = primal, w, b, z
        self._record(k, primal, problem.mean(problem.loss.value(z)), problem.mean((z <= 0).astype(np.float64)))
        alpha = balanced(problem, l2 * self.alpha)
        dual = dual_bound(problem, alpha, None if problem.fit_intercept else l2 * self.w)
        if dual > self.highest[0]:
            self.highest = dual, alpha
        self._wake(planes[0][3])
        return Bound(self.best[0], self.highest[0])

    def _plane(self, w: FloatArray, b: float) -> tuple[float, FloatArray, float, FloatArray]:
        """Return a plane with its objective first and its agreements last."""
        problem, z = self.problem, self.problem.agreements(w, b)
        scale = problem.weight_of_loss * problem.total_weight
        return problem.penalty.value(w) + scale * problem.mean(problem.loss.value(z)), w, b, z

    def _record(self, k: int, primal: float, risk: float, mistakes: float) -> None:
        scale = self.problem.weight_of_loss * self.problem.total_weight
        best = min(self.best[0], primal) / scale
        self.history.add(Record(k, k, primal / scale, risk, mistakes, best=best))

    def _wake(self, z: FloatArray) -> None:
        """Take up again what was set aside too early: examples with a share in the gap, c ℓ(z) + c ℓ*(−α/c) + α z."""
        aside = self.order[self.active :]
        loss, alpha, c, z = self.problem.loss, self.alpha[aside], self.c[aside], z[aside]
        share = c * (loss.value(z) + loss.conjugate(-alpha / c)) + alpha * z
        wrong = share > NOTHING * c
        self.order[self.active :] = np.concatenate([aside[wrong], aside[~wrong]])
        self.active += int(wrong.sum())
