"""The primal-dual interior point method for margin losses (hinge, squared hinge), to a proven duality gap.

With ℓ*(−a) = −a + a²/(2L) on 0 ≤ a ≤ u (hinge: u = 1 and no quadratic part; squared hinge: u = ∞ and L = 2), the
optimum is where

    w = Σ αᵢ yᵢ xᵢ,   Σ αᵢ yᵢ = 0,   zᵢ − 1 + αᵢ/(L cᵢ) = sᵢ − tᵢ,   αᵢ sᵢ = 0,   (u cᵢ − αᵢ) tᵢ = 0,

all of α, u c − α, s and t being at least 0. The two products are kept at μ > 0 instead of 0, and μ falls at every step,
which costs one system of the size d + 1 (Mehrotra 1992; for support vector machines Ferris and Munson 2002). How large
C is, how the columns are scaled and whether the classes are separable makes little difference to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._checks import check_count
from ..._types import FloatArray
from ...history import Record
from ...objective.duality import Bound, balanced, dual_bound, weights
from ...objective.objective import Objective
from ..contract import check_needs
from ..result import Observer, Result, Start
from ..run import GapRun, no_step_lowers
from ..sampling import both_classes
from .preconditioner import factored

#: Which share of the way to the boundary a step may go.
SHORT_OF_IT = 0.995
#: How often a step is corrected by what its equations still miss.
REFINEMENTS = 3
#: Steps without a smaller gap after which no more is to be expected.
PATIENCE = 12


@dataclass(frozen=True)
class InteriorPoint:
    """The interior point method, for losses with a margin and the penalty ½‖w‖².

    Parameters
    ----------
    tol : float
        The relative duality gap at which to stop.
    max_iter : int
        Steps at the most.

    Examples
    --------
    >>> from linsep import LinearSVC
    >>> model = LinearSVC(C=1e8, solver="interior_point").fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> model.coef_.round(3), model.intercept_.round(3), model.dual_gap_ <= 1e-4
    (array([[1.]]), array([-2.]), True)
    """

    tol: float = 1e-4
    max_iter: int = 200
    name = "interior_point"
    needs = frozenset({"quadratic_conjugate", "l2", "one_plane", "rows"})
    helped_by = frozenset({"centring", "scaling"})

    def __post_init__(self) -> None:
        check_count("max_iter", self.max_iter)

    def solve(
        self, problem: Objective, *, start: Start | None = None, seed: int = 0, observer: Observer | None = None
    ) -> Result:
        """Minimise; there is nothing to draw, and a path through the interior cannot begin at the end of another."""
        check_needs(self, problem)
        return _Run(self, problem, observer).result()


class _Run(GapRun):
    """One run: w, b, the dual variables α and the distances s and t, all of them well inside."""

    def __init__(self, method: InteriorPoint, problem: Objective, observer: Observer | None) -> None:
        super().__init__(method, observer)
        self.whole = problem
        self.counted = np.flatnonzero(weights(problem))  # an example of no weight has no interior
        weight, everything = problem.sample_weight, len(self.counted) == problem.rows.n
        self.problem = problem if weight is None or everything else problem.chosen(self.counted, weight[self.counted])
        self.c, self.y = weights(self.problem), self.problem.y
        self.top = -problem.loss.slopes[0] * self.c
        self.bounded = bool(np.isfinite(self.top).all())
        self.bend = 1.0 / (problem.loss.max_curvature * self.c)
        self.steps = 0
        self.best = (np.inf, np.zeros(problem.rows.d), 0.0)
        self.highest = (-np.inf, np.zeros(len(self.c)))

    def result(self) -> Result:
        """Step until the gap is proven small."""
        waited = 0
        with self.until_it_ends():
            self._begin()
            self.mu = self._centrality()
            proof = self._note()
            while True:
                self.end_if_proven(proof)
                if self.steps:
                    self.tell(self.steps, *self.best[1:], self.best[0], join=self.problem.join)
                self.end_if_exhausted(self.steps)
                with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # no such step is taken
                    moved = waited < PATIENCE and self._step()
                if not moved:
                    raise no_step_lowers("gap")
                before, proof = proof.relative_gap * self.mu, self._note()
                waited = 0 if proof.relative_gap * self._centrality() < 0.9 * before else waited + 1
        if np.isinf(self.best[0]):  # interrupted before anything was found
            self.best = self.problem.objective(self.best[1], 0.0), *self.best[1:]
            self.highest = dual_bound(self.problem, self.highest[1]), self.highest[1]
        (primal, w, b), (dual, some) = self.best, self.highest
        alpha = np.zeros(self.whole.rows.n)
        alpha[self.counted] = some
        return self.outcome(w, b, self.steps, Bound(primal, dual), alpha=alpha)

    def _begin(self) -> None:
        """Set α to the middle of its range, w to what is like it, s and t to what fits z, away from zero."""
        problem, y = self.problem, self.y
        middle = 0.5 * np.minimum(self.c, self.top)
        if problem.fit_intercept and both_classes(y, self.c):
            middle = balanced(problem, middle)
        v = problem.rows.rmatvec(middle * y)
        bent = float(v @ v) / problem.penalty.l2 + float(self.bend @ middle**2)
        # w is that of the best multiple of the middle; that it is not yet Σ αᵢ yᵢ xᵢ is for the steps to mend.
        self.alpha, best = middle, min(1.0, float(middle.sum()) / bent if bent > 0 else 1.0)
        self.w = best * v / problem.penalty.l2
        self.b = best_intercept(problem, self.w)
        self.z = problem.agreements(self.w, self.b)
        short = self.z - 1.0 + self.bend * self.alpha
        away = max(0.1, float(np.abs(short).mean()))
        self.s = np.maximum(short, 0.0) + away
        self.t = np.maximum(-short, 0.0) + away if self.bounded else np.zeros_like(short)

    def _note(self) -> Bound:
        """Keep the better of the points; return what is known of the optimum."""
        problem = self.problem
        w, scale = self.w, problem.weight_of_loss * problem.total_weight
        b = best_intercept(problem, w)
        point = problem.evaluate(w, b, gradient=False)
        if point.objective < self.best[0]:
            self.best = point.objective, w, b
        alpha = balanced(problem, self.alpha)
        dual = dual_bound(problem, alpha)
        if dual > self.highest[0]:
            self.highest = dual, alpha
        numbers = point.objective / scale, point.risk, point.zero_one
        self.history.add(Record(self.steps, self.steps, *numbers, best=self.best[0] / scale))
        return Bound(self.best[0], self.highest[0])

    # -- how it moves --------------------------------------------------------------------------------------------

    def _step(self) -> bool:
        """Take one step, first looked at without any μ, then with as much as that look advises."""
        room = self.top - self.alpha if self.bounded else np.ones_like(self.alpha)
        divisor = self.s / self.alpha + self.t / room + self.bend
        system = _System(self.problem, 1.0 / divisor)
        self.mu, pairs = self._centrality(), len(self.c) * (1 + self.bounded)
        zero = np.zeros_like(self.alpha)
        look = self._direction(system, divisor, room, zero, zero)
        d_alpha, d_s, d_t = look[2:5]
        size = self._longest(look)
        after = float((self.alpha + size * d_alpha) @ (self.s + size * d_s))
        after += float((room - size * d_alpha) @ (self.t + size * d_t)) if self.bounded else 0.0
        if not self.mu > 0:  # it fell below the range of floats
            return False
        aim = self.mu * min(1.0, max(after / (pairs * self.mu), 0.0)) ** 3
        step = self._direction(system, divisor, room, aim - d_alpha * d_s, aim + d_alpha * d_t)
        size = min(1.0, SHORT_OF_IT * self._longest(step))
        if not (np.isfinite(size) and size > 1e-12 and all(np.isfinite(part).all() for part in step)):
            return False
        d_w, d_b, d_alpha, d_s, d_t, d_z = step
        self.w, self.b, self.alpha = self.w + size * d_w, self.b + size * d_b, self.alpha + size * d_alpha
        self.s, self.t, self.z = self.s + size * d_s, self.t + size * d_t, self.z + size * d_z
        self.steps += 1
        if self.steps % 8 == 0:
            self.z = self.problem.agreements(self.w, self.b)  # afresh: errors have added up
        return True

    def _centrality(self) -> float:
        """μ: the mean of the products."""
        if not self.bounded:
            return float(self.alpha @ self.s) / len(self.c)
        return (float(self.alpha @ self.s) + float((self.top - self.alpha) @ self.t)) / (2 * len(self.c))

    def _direction(
        self, system: _System, divisor: FloatArray, room: FloatArray, at_zero: FloatArray, at_top: FloatArray
    ) -> tuple[FloatArray, float, FloatArray, FloatArray, FloatArray, FloatArray]:
        """Solve the linearised equations for given products αs and (u c − α)t; return Δw, Δb, Δα, Δs, Δt and Δz."""
        problem, y = self.problem, self.y
        missing = self.s - self.t - (self.z - 1.0 + self.bend * self.alpha)
        r = missing + (at_zero / self.alpha - self.s)
        if self.bounded:
            r -= at_top / room - self.t
        u = (self.alpha + r / divisor) * y
        right = problem.rows.rmatvec(u) - problem.penalty.l2 * self.w
        d_w, d_b = system.solve(np.append(right, u.sum()) if problem.fit_intercept else right)
        d_z = problem.agreements(d_w, d_b)
        d_alpha = (r - d_z) / divisor
        d_s = (at_zero - self.s * d_alpha) / self.alpha - self.s
        d_t = (at_top + self.t * d_alpha) / room - self.t if self.bounded else np.zeros_like(d_s)
        return d_w, d_b, d_alpha, d_s, d_t, d_z

    def _longest(self, step: tuple[FloatArray, float, FloatArray, FloatArray, FloatArray, FloatArray]) -> float:
        """Return how much of a step, at most all of it, leaves everything inside."""
        _, _, d_alpha, d_s, d_t, _ = step
        pairs = [(self.alpha, d_alpha), (self.s, d_s)]
        if self.bounded:
            pairs += [(self.top - self.alpha, -d_alpha), (self.t, d_t)]
        shares = [float((value[change < 0] / -change[change < 0]).min(initial=np.inf)) for value, change in pairs]
        return min(1.0, *shares)


class _System:
    """H = l2·I + Σ hᵢ [xᵢ, 1][xᵢ, 1]ᵀ: its factor, and corrections for what that misses."""

    def __init__(self, problem: Objective, h: FloatArray) -> None:
        self.problem, self.h, self.factor = problem, h, factored(problem, h)

    def solve(self, right: FloatArray) -> tuple[FloatArray, float]:
        found = self.factor.solve(right)
        missed = right - self._times(found)
        for _ in range(REFINEMENTS):
            better = found + self.factor.solve(missed)
            misses = right - self._times(better)
            if not np.abs(misses).max() < 0.5 * np.abs(missed).max():
                break
            found, missed = better, misses
        w, b = self.problem.split(found)
        return np.ascontiguousarray(w), b

    def _times(self, v: FloatArray) -> FloatArray:
        w, b = self.problem.split(v)
        out = self.problem.rows.hessian_product(self.h, np.ascontiguousarray(w), b)
        out[: len(w)] += self.problem.penalty.l2 * w
        return out[: len(v)]


def best_intercept(problem: Objective, w: FloatArray) -> float:
    """Return the b that is best for w, of a convex loss that vanishes from z = 1 on: by halving an interval.

    The slope in b, Σ cᵢ yᵢ ℓ'(zᵢ), never falls; it is at most 0 where all positive examples fall short of the margin
    and at least 0 where all negative ones do.
    """
    if not problem.fit_intercept:
        return 0.0
    c, y, g = weights(problem), problem.y, problem.rows.matvec(w)

    def slope(b: float) -> float:
        return float((c * y * problem.loss.slope(y * (g + b))).sum())

    kinks = np.sort((y - g)[c > 0])  # where z = 1
    low, high = 0, len(kinks) - 1
    while low < high:  # the first kink from which on the slope is not negative
        middle = (low + high) // 2
        low, high = (low, middle) if slope(np.nextafter(kinks[middle], np.inf)) >= 0 else (middle + 1, high)
    last = float(kinks[low])
    if not problem.loss.smooth or low == 0:
        return last
    before = float(kinks[low - 1])
    rise, fall = slope(last), -slope(before)  # between two kinks the slope is linear
    return before + (last - before) * min(max(fall / (rise + fall), 0.0), 1.0) if rise > -fall else before
