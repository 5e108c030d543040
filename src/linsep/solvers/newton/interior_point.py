"""The primal-dual interior point method for margin losses (hinge, squared hinge), to a proven duality gap.

With ℓ*(−a) = −a + a²/(2L) on 0 ≤ a ≤ u (hinge: u = 1 and no quadratic part; squared hinge: u = ∞ and L = 2), the
optimum is where

    l2·w + q = Σ αᵢ yᵢ xᵢ,   Σ αᵢ yᵢ = 0,   zᵢ − 1 + αᵢ/(L cᵢ) = sᵢ − tᵢ,   αᵢ sᵢ = 0,   (u cᵢ − αᵢ) tᵢ = 0,

all of α, u c − α, s and t being at least 0. The products are kept at μ > 0 instead of 0, and μ falls at every step,
which costs one system of the size d + 1 (Mehrotra 1992; for support vector machines Ferris and Munson 2002). How large
C is, how the columns are scaled and whether the classes are separable makes little difference to it.

Without L1, q is 0. With it, q lies in the penalty's box: w = e − f with e, f ≥ 0, eⱼ (l1 − qⱼ) = 0 and fⱼ (l1 + qⱼ) = 0
are two more products. Hinge and L1 are a linear program, squared hinge or an elastic net make it a quadratic one. Most
weights of its answer are zero, so that of many features a working set is solved, to which those are added that leave
the box (column generation).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._common.types import FloatArray, IntArray
from ...history import Record
from ...losses import SquaredHinge
from ...objective.duality import Bound, balanced, dual_bound, proven_by, weights
from ...objective.examples import in_one
from ...objective.objective import Objective
from ..contract import check_needs
from ..result import STOPPED_BY_OBSERVER, Observer, Result, Start
from ..run import EndOfRun, GapRun, GapSolver, no_step_lowers
from ..sampling import both_classes
from ..workspace import Made, Workspace
from .interior_system import Step, System
from .proximal import ProximalNewton

#: Which share of the way to the boundary a step may go.
SHORT_OF_IT = 0.995
#: Steps without a smaller gap after which no more is to be expected.
PATIENCE = 12
#: Products that add up to less than this share of the objective do not show in it.
NOTHING = 1e-20
#: How far from a plane without a loss an example is at the least, where nothing else says how far: the margin is 1.
CLEAR = 2.0
#: So many unknowns at the most are solved for at the end.
SETTLED = 1000
#: With this many features or fewer, or with no L1, all are worked on; else the first working set has so many.
FEW, FIRST = 512, 256
#: Features that are within this share of the box's end come along with those that leave it: they may be the next.
NEAR = 0.7
#: To what gap, or by how many steps, a smooth loss in the place of one with a kink is minimised at first.
SMOOTH, STEPS = 0.5, 3
#: A working set that leaves features out is solved to this share of the gap that they leave.
ROUGH = 0.1


@dataclass(frozen=True)
class InteriorPoint(GapSolver):
    """The interior point method, for losses with a margin: with ½‖w‖², L1, an elastic net or no penalty.

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

    max_iter: int = 200
    name = "interior_point"
    needs = frozenset({"quadratic_conjugate", "one_plane", "vectors"})
    helped_by = frozenset({"merging", "centring", "sparse", "scaling"})

    def solve(self, objective: Objective, **told: Any) -> Result:
        """Minimise; of examples elsewhere the rows come by in passes, and numbers of each stay in memory."""
        if objective.examples.resident is not None:
            return super().solve(objective, **told)
        check_needs(self, objective)
        found = super().solve(objective.on(in_one(objective.examples)), **told)
        alpha = Made(lambda which: np.asarray(found.alpha[which]))
        return replace(found, alpha=alpha, last=replace(found.last, alpha=alpha))

    def _run(self, objective: Objective, seed: int, *told: Any) -> Any:
        sets = objective.penalty.l1 > 0 and objective.d > FEW
        return (_WorkingSets if sets else _Run)(self, objective, *told)


class _Run(GapRun):
    """One run: w, b, the dual variables α, the distances s and t, and what L1 adds, all of them well inside."""

    def __init__(
        self, method: InteriorPoint, problem: Objective, observer: Observer | None, workspace: Workspace | None = None
    ) -> None:
        super().__init__(method, observer, workspace)
        self.whole = problem
        self.counted = np.flatnonzero(weights(problem))  # an example of no weight has no interior
        weight, everything = problem.sample_weight, len(self.counted) == problem.rows.n
        self.problem = problem if weight is None or everything else problem.chosen(self.counted, weight[self.counted])
        self.c, self.y = weights(self.problem), self.problem.y
        self.top = -problem.loss.slopes[0] * self.c
        self.bounded = bool(np.isfinite(self.top).all())
        self.bend = 1.0 / (problem.loss.max_curvature * self.c)
        self.l1 = problem.penalty.l1
        self.q = self.e = self.f = np.zeros(problem.d)
        self.size = np.sqrt(self.problem.rows.square_rmatvec(self.c) / self.c.sum()) if self.l1 > 0 else 1.0
        self.steps = 0
        self.best = (np.inf, np.zeros(problem.rows.d), 0.0)
        self.highest = (-np.inf, np.zeros(len(self.c)))

    def result(self, start: Start | None = None) -> Result:
        """Step until the gap is proven small; a path through the interior cannot begin at the end of another."""
        waited = 0
        with self.until_it_ends():
            self._begin()
            self.mu = self._centrality()
            proof = self._note()
            while True:
                self.end_if_proven(proof)
                if self.steps:
                    self.tell(self.steps, *self.best[1:], self.best[0])
                self.end_if_exhausted(self.steps)
                with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # no such step is taken
                    moved = waited < PATIENCE and self._step()
                if not moved:
                    self._settle()
                    self._note()
                    self._lengthen()
                    self.end_if_proven(Bound(self.best[0], self.highest[0]))
                    self._end_without_penalty()
                    raise no_step_lowers("gap")
                before, proof = proof.relative_gap * self.mu, self._note()
                if self.workspace is not None:
                    self.workspace.passed(self.steps, proof.relative_gap)
                waited = 0 if proof.relative_gap * self._centrality() < 0.99 * before else waited + 1
        if np.isinf(self.best[0]):  # interrupted before anything was found
            self.best = self.problem.objective(self.best[1], 0.0), *self.best[1:]
            self.highest = dual_bound(self.problem, self.highest[1]), self.highest[1]
        self._lengthen()
        (primal, w, b), (dual, some) = self.best, self.highest
        alpha = np.zeros(self.whole.rows.n)
        alpha[self.counted] = some
        return self.outcome(w, b, self.steps, Bound(primal, dual), alpha=alpha)

    def _lengthen(self) -> None:
        """Make a plane that separates so long that rounding leaves no loss, where no penalty says how long it is.

        The best intercept puts an example on its margin, where rounding decides whether it has a loss.
        """
        _, w, b = self.best
        least = float(self.problem.agreements(w, b).min(initial=np.inf))
        if not self.problem.penalised and NOTHING < least < CLEAR:
            w, b = CLEAR / least * w, CLEAR / least * b
            self.best = self.problem.objective(w, b), w, b

    def _end_without_penalty(self) -> None:
        """End where no dual point is feasible to the last digit, but what the products leave to gain is little."""
        left = self.mu * sum(len(dual) for dual, _ in self._pairs())
        if not self.problem.penalised and left <= self.method.tol * self.best[0]:
            raise EndOfRun(f"the products add up to {left:.1e}", converged=True)

    def _begin(self) -> None:
        """Set α to the middle of its range, w to what is like it, s and t to what fits z, away from zero."""
        problem, y, l2 = self.problem, self.y, self.problem.penalty.l2
        middle = 0.5 * np.minimum(self.c, self.top)
        if problem.fit_intercept and both_classes(y, self.c):
            middle = balanced(problem, middle)
        v = problem.rows.rmatvec(middle * y)
        self.alpha, self.w = middle, np.zeros(problem.d)
        if self.l1 == 0 < l2:
            bent = float(v @ v) / l2 + float(self.bend @ middle**2)
            # w is that of the best multiple of the middle; that it is not yet Σ αᵢ yᵢ xᵢ is for the steps to mend.
            self.w = min(1.0, float(middle.sum()) / bent if bent > 0 else 1.0) * v / l2
        self.b = best_intercept(problem, self.w)
        self.z = problem.agreements(self.w, self.b)
        short = self.z - 1.0 + self.bend * self.alpha
        away = max(0.1, float(np.abs(short).mean()))
        self.s = np.maximum(short, 0.0) + away
        self.t = np.maximum(-short, 0.0) + away if self.bounded else np.zeros_like(short)
        if self.l1 > 0:
            self.q = 0.5 * problem.into_box(v) * v if l2 == 0 else np.clip(v, -0.5 * self.l1, 0.5 * self.l1)
            level = self._centrality(self._pairs()[: 1 + self.bounded])
            self.e = self.f = level / (self.l1 + np.abs(self.q))

    def _note(self) -> Bound:
        """Keep the better of the points; return what is known of the optimum."""
        problem = self.problem
        w, scale = self._sparse(), problem.weight_of_loss * problem.total_weight
        b = best_intercept(problem, w)
        point = problem.evaluate(w, b, gradient=False)
        if point.objective < self.best[0]:
            self.best = point.objective, w, b
        dual, alpha = proven_by(problem, self.alpha)
        if dual > self.highest[0]:
            self.highest = dual, alpha
        numbers = point.objective / scale, point.risk, point.zero_one
        self.history.add(Record(self.steps, self.steps, *numbers, best=self.best[0] / scale))
        return Bound(self.best[0], self.highest[0])

    def _sparse(self) -> FloatArray:
        """Return w with zeros where the other factor of a product is larger, measured by how a column weighs."""
        if self.l1 == 0:
            return self.w
        room = 1.0 - np.abs(self.q) / self.l1
        return np.where(np.abs(self.w) * self.size > room, self.w, 0.0)

    # -- how it moves --------------------------------------------------------------------------------------------

    def _pairs(self, step: Step | None = None) -> list[tuple[FloatArray, FloatArray]]:
        """Return the pairs whose products are to become zero, or how they change along a step."""
        at, top, l1 = (self, self.top, self.l1) if step is None else (step, 0.0, 0.0)
        pairs = [(at.alpha, at.s)]
        pairs += [(top - at.alpha, at.t)] if self.bounded else []
        return pairs + ([(l1 - at.q, at.e), (l1 + at.q, at.f)] if self.l1 > 0 else [])

    def _step(self) -> bool:
        """Take one step, first looked at without any μ, then with as much as that look advises."""
        here = self._pairs()
        system = System(self)
        self.mu = self._centrality(here)
        if not self.mu > NOTHING * self.best[0] / len(self.c):
            return False
        look = system.direction([np.zeros_like(dual) for dual, _ in here])
        changes, size = self._pairs(look), self._longest(look)
        after = [(a + size * by, s + size * too) for (a, s), (by, too) in zip(here, changes, strict=True)]
        aim = self.mu * min(1.0, max(self._centrality(after) / self.mu, 0.0)) ** 3
        step = system.direction([aim - by * too for by, too in changes])
        size = min(1.0, SHORT_OF_IT * self._longest(step))
        if not (np.isfinite(size) and size > 1e-12 and all(np.isfinite(part).all() for part in step)):
            return False
        for name, change in step._asdict().items():
            setattr(self, name, getattr(self, name) + size * change)
        self.steps += 1
        if self.steps % 8 == 0:
            self.z = self.problem.agreements(self.w, self.b)  # afresh: errors have added up
        return True

    def _centrality(self, pairs: list[tuple[FloatArray, FloatArray]] | None = None) -> float:
        """μ: the mean of the products."""
        pairs = self._pairs() if pairs is None else pairs
        return sum(float(value @ other) for value, other in pairs) / sum(len(value) for value, _ in pairs)

    def _longest(self, step: Step) -> float:
        """Return how much of a step, at most all of it, leaves everything inside."""
        longest = 1.0
        for here, changes in zip(self._pairs(), self._pairs(step), strict=True):
            for value, change in zip(here, changes, strict=True):
                longest = min(longest, float((value[change < 0] / -change[change < 0]).min(initial=np.inf)))
        return longest

    # -- the last digits -----------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Solve the equations of the optimum themselves, for those that have shown on which side they end.

        Near the end products of very large and very small numbers hide each other in the system. A weight of zero, and
        a dual variable at an end, are put there; what is left are equations without any μ.
        """
        problem, y, d = self.problem, self.y, self.problem.d
        share = self.alpha / np.where(np.isfinite(self.top), self.top, self.alpha + self.c)
        free = np.flatnonzero((share > self.s) & (1.0 - share > self.t))
        w = self._sparse()
        used = np.flatnonzero(np.append(w != 0, problem.fit_intercept))
        if not 0 < len(free) + len(used) <= SETTLED:
            return
        alpha = np.where(share > self.s, np.where(self.bounded & (1.0 - share <= self.t), self.top, self.alpha), 0.0)
        A = y[free, None] * np.column_stack([problem.rows.dense(free), np.ones(len(free))])[:, used]
        largest = np.abs(A).max(axis=0, initial=0.0)
        scale = 1.0 / np.where(largest > 0, largest, 1.0)
        ridge = np.where(used < d, problem.penalty.l2, 0.0) * scale**2
        system = np.block([[np.diag(self.bend[free]), A * scale], [(A * scale).T, -np.diag(ridge)]])
        theta = np.append(w, self.b)
        for _ in range(3):
            z = problem.agreements(theta[:d], float(theta[d]))
            v = np.append(problem.rows.rmatvec(alpha * y), float(alpha @ y))
            wanted = np.append(problem.penalty.slope(theta[:d]), 0.0)
            right = np.append((1.0 - z - self.bend * alpha)[free], ((wanted - v)[used]) * scale)
            if not (np.isfinite(system).all() and np.isfinite(right).all()):
                return
            change = np.linalg.lstsq(system, right, rcond=None)[0]
            alpha[free] = np.clip(alpha[free] + change[: len(free)], 0.0, self.top[free])
            theta[used] += scale * change[len(free) :]
        self.w, self.b, self.alpha = theta[:d], float(theta[d]), alpha


class _WorkingSets(GapRun):
    """Runs on some of the features, the others being zero, to which those are added that are outside the box."""

    def __init__(
        self, method: InteriorPoint, problem: Objective, observer: Observer | None, workspace: Workspace | None = None
    ) -> None:
        super().__init__(method, observer, workspace)
        self.problem, self.steps, self.chosen = problem, 0, np.empty(0, dtype=np.int64)
        self.best = (np.inf, np.zeros(problem.d), 0.0)
        self.highest = (-np.inf, np.zeros(problem.n))

    def result(self, start: Start | None = None) -> Result:
        """Solve on one set after the other until the gap of the whole problem is proven small."""
        method, goal, gap = self.method, np.inf, 1.0
        with self.until_it_ends():
            alpha = self._first()
            while True:
                grown = self._grown(alpha)
                if len(grown) == len(self.chosen) and goal <= method.tol:
                    raise no_step_lowers("gap")
                rough = ROUGH * min(goal, gap) if len(grown) > len(self.chosen) else 0.0  # else nothing is left to add
                self.chosen, goal = grown, max(rough, 0.5 * method.tol)
                alpha = self._solve(goal)
                proof = Bound(self.best[0], self.highest[0])
                self.end_if_proven(proof)
                self.end_if_exhausted(self.steps)
                gap = proof.relative_gap
        (primal, w, b), (dual, alpha) = self.best, self.highest
        return self.outcome(w, b, self.steps, Bound(primal, dual), alpha=alpha)

    def _first(self) -> FloatArray:
        """Choose the features that a smooth loss would use; return a dual point to go on from.

        Its answer costs little beside one step of this method, and has most of its features in common with ours.
        """
        problem = self.problem
        if problem.loss.smooth:
            return balanced(problem, 0.5 * weights(problem))
        smooth = replace(problem, head=replace(problem.head, loss=SquaredHinge()))
        found = ProximalNewton(SMOOTH, max_iter=STEPS).solve(smooth).as_part()
        self.chosen = np.flatnonzero(found.w != 0)
        slope = -smooth.loss.slope(problem.agreements(found.w, found.b))
        return balanced(problem, weights(problem) * np.minimum(slope, 1.0))

    def _grown(self, alpha: FloatArray) -> IntArray:
        """Return the set with the features that α leaves furthest outside the box, and those near its ends then."""
        press = np.abs(self.problem.rows.rmatvec(alpha * self.problem.y))
        press[self.chosen] = 0.0
        most = max(FIRST, len(self.chosen) if self.steps else 0)
        first = np.argpartition(-press, min(most, len(press)) - 1)[:most]
        if self.steps and not press.max(initial=0.0) > self.problem.penalty.l1:
            return self.chosen
        outside = first[press[first] > NEAR * self.problem.penalty.l1] if self.steps else first
        return np.sort(np.append(self.chosen, outside))

    def _solve(self, tol: float) -> FloatArray:
        """Solve on the set, keep what is better of the whole problem, and return its dual point."""
        problem, before = self.problem, self.steps
        part = problem.with_rows(problem.rows.columns(self.chosen))
        run = _Run(InteriorPoint(tol, self.method.max_iter - before), part, self._heard(before), self.workspace)
        found = run.result()
        self.steps = before + found.n_iter
        for record in found.history.records:
            self.history.add(replace(record, step=before + record.step, passes=before + record.passes))
        assert found.proof is not None
        if found.proof.primal < self.best[0]:
            self.best = found.proof.primal, self._whole(found.w), found.b
        dual, alpha = proven_by(problem, found.alpha)
        if dual > self.highest[0]:
            self.highest = dual, alpha
        if found.interrupted:
            raise KeyboardInterrupt
        if found.message == STOPPED_BY_OBSERVER:
            raise EndOfRun(found.message)
        return np.asarray(found.alpha)

    def _whole(self, w: FloatArray) -> FloatArray:
        whole = np.zeros(self.problem.d)
        whole[self.chosen] = w
        return whole

    def _heard(self, before: int) -> Observer | None:
        """Return what hears of a run on the set as the observer does of the whole problem."""
        observer = self.observer
        if observer is None:
            return None
        return lambda k, theta, value: observer(before + k, np.append(self._whole(theta[:-1]), theta[-1]), value)


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
