"""Dual coordinate descent: one example a step, each to the optimum of its own dual variable, to a proven duality gap.

The weights are w = Σ αᵢ yᵢ xᵢ throughout. The intercept is free, which the dual sees as Σ αᵢ yᵢ = 0; here it is pulled
towards where it last was by a spring (ρ/2)(b − b̄)², a penalty that vanishes as b̄ follows b: the method of multipliers.

Of examples in blocks each block in turn is read with its dual variables, which take a few passes there while w stays in
memory, and goes back to the disk (Yu, Hsieh, Chang and Lin 2010, *Large linear classification when data cannot fit in
memory*). Blocks come in another order in every pass, as examples do: in the same one each would undo what the last did.
Each fits w to its own examples all the same, so that two alike take w to and fro: what a pass leaves of the way to the
optimum is much like the way it went. So after every pass the way from the last one goes on to where D is highest on it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._common.types import FloatArray
from ..._core import VISIT_IN_NUMBERS
from ...history import Record
from ...losses import Loss
from ...objective.duality import Bound, balanced, class_scales, dual_bound
from ...objective.examples import Block, Several
from ...objective.objective import Objective
from ..result import Observer, Result, Start
from ..run import GapRun, GapSolver
from ..sampling import sample_objective
from ..workspace import InProcess, Vector, Workspace
from .gathered import Gathered

#: A plane with its objective first, then its mean loss and its share of mistakes, and its agreements where known.
Plane = tuple[float, FloatArray, float, float, float, FloatArray | None]


@dataclass(frozen=True)
class Tuned:
    """What was tuned, with what it trades; set by `benchmarks/race.py`, what concerns blocks by `files.py`."""

    #: Two halves at once pay if a second thread does …
    many: int = 400_000
    #: … for as long as a pass leaves no more than this share of the gap; then one at a time.
    brisk: float = 0.4
    #: For a loss with corners they pay in the first passes only, which move everything.
    blunt: int = 2
    #: The spring holds b as a column of constants would whose square is this share of an average row's: all examples
    #: have that column in common, so that a longer one makes each step undo what others did.
    spring: float = 0.05
    #: In blocks a stiff spring would make every block balance by itself, against the others; a loose one lets b be
    #: wrong for long. It is as loose as this, over n: that of the fewest passes on 60 × 4 and 2,000 × 4,000, in 1 to 40
    #: blocks. (One that changed from pass to pass took up to ten times as many.)
    loose: float = 4.0
    #: After this many passes the gap is measured at the latest; that of a smooth loss falls faster.
    first: int = 32
    first_smooth: int = 8
    #: By what the passes grow from one measuring to the next; in blocks, where a pass is as dear as measuring, less.
    later: float = 2.0
    later_in_blocks: float = 1.5
    #: Passes over a block while it is in memory.
    inner: int = 3
    #: A loss with a corner lets the plane swing about the optimum. In a run longer than this the planes are averaged …
    long: int = 50
    #: … each pass with this weight …
    new: float = 0.1
    #: … and the average's gap is about this part of what a pass sees.
    calmer: float = 0.7
    #: A run aims at this part of `tol`: the certificate of many examples has to allow for rounding.
    room: float = 0.97
    #: An example whose share in the gap is below this part of c has none: that is rounding.
    nothing: float = 1e-12


TUNED = Tuned()


@dataclass(frozen=True)
class DualDescent(GapSolver):
    """Dual coordinate descent with shrinking, for losses that have a `dual_step` and an L2 penalty.

    Of a start without dual variables only b is taken: its weights need not be a sum of examples.

    Parameters
    ----------
    tol : float
        The relative duality gap at which to stop.
    max_iter : int
        Passes over the data at the most.
    """

    max_iter: int = 20_000
    name = "dual"
    needs = frozenset({"convex", "dual_step", "conjugate", "l2", "one_plane", "in_turn"})
    helped_by = frozenset({"merging", "centring", "scaling"})

    def _run(self, objective: Objective, *told: Any) -> _Run:
        return _Run(self, objective, *told)


class _Run(GapRun):
    """One run: the weights that the dual variables make, the intercept, and the best point met."""

    def __init__(
        self,
        method: DualDescent,
        objective: Objective,
        seed: int,
        observer: Observer | None,
        workspace: Workspace | None,
    ) -> None:
        super().__init__(replace(method, tol=TUNED.room * method.tol), observer)
        self.objective, self.seed, self.l2 = objective, seed, objective.penalty.l2
        self.passes, self.smooth = 0, objective.loss.smooth
        self.w, self.b = np.zeros(objective.d), np.zeros(1)
        self.estimate = self.earlier = self.lowest = np.inf
        self.averages: list[tuple[FloatArray, float]] = []  # one, in a long run
        self.best: Plane = (np.inf, self.w, float(self.b[0]), np.nan, np.nan, None)
        self.highest: tuple[float, Any] = (-np.inf, None)
        # The optimum is no more than with w = 0, and no less than D was when it was last asked for.
        self.most = objective.weight_of_loss * objective.total_weight * float(objective.loss.value(np.zeros(1))[0])
        self.least, self.highest_possible = 0.0, np.inf
        self.in_blocks = objective.examples.resident is None
        self.duals = _InBlocks(self, workspace or InProcess()) if self.in_blocks else _InMemory(self)

    def result(self, start: Start | None) -> Result:
        """Make passes until the gap is proven small."""
        if start is not None:
            self.b[0] = start.b
            self.duals.take(start.alpha)
        measured, hoped, proof = self.duals.measured, np.inf, Bound(np.inf, -np.inf)
        with self.until_it_ends():
            if isinstance(self.duals, _InBlocks):
                self.duals.begin()
            while self.passes < self.method.max_iter:
                self.passes += 1
                self._pass()
                # Measuring costs more than a pass: when the pass itself saw a small gap, else ever more rarely.
                promising = self.estimate < 0.7 * hoped and self._is_expected(proof)
                due = self.passes >= max(measured + 1, int(self.duals.later * measured))
                if promising or due or self.passes == self.method.max_iter or self.duals.idle:
                    measured, proof = self.passes, self._measure(promising)
                    hoped = self.estimate if promising else np.inf
                if isinstance(self.duals, _InBlocks):
                    self.duals.passed(proof)
                if measured == self.passes:
                    self.end_if_proven(proof)
                    self.tell(self.passes, self.w, self.b, proof.primal)
        if not self.proves(proof) and (self.interrupted or self.smooth or proof.primal == np.inf):
            proof = self._last_measure()
        _, w, b, _, _, z = self.best
        return self.outcome(w, b, self.passes, proof, alpha=self.highest[1], z=z)

    def _pass(self) -> None:
        """Visit every example that has not settled."""
        if self.objective.fit_intercept:  # b = b̄ + constant · Σ αᵢ yᵢ; let b̄ follow it
            self.b += self.duals.pull()
        self.earlier, self.estimate = self.estimate, self.l2 * self.duals.visit()
        if self.passes >= TUNED.long and not self.smooth:
            last = float(self.b[0])
            w, b = self.averages[0] if self.averages else (self.w, last)
            self.averages = [(w + TUNED.new * (self.w - w), b + TUNED.new * (last - b))]

    def _is_expected(self, proof: Bound) -> bool:
        """Whether the gap should be small enough now; telling so takes no pass over the data."""
        tol, gap = self.method.tol, self.estimate
        if self.smooth:
            # The last pass saw it under way, and it goes on falling.
            gap *= min(1.0, max(0.1, self.estimate / self.earlier)) if self.earlier > 0 else 1.0
            if self.duals.by_halves:
                gap *= 2.0  # the plane's own dual point is not quite as good as α
            if proof.primal < np.inf:
                return gap <= tol * proof.primal
        if self.averages:
            gap *= TUNED.calmer
        if gap > tol * self.most:
            return False
        # D rises, by no more than the gap there was: it is asked for again where that leaves open whether it is enough.
        if tol * self.least < gap <= tol * self.highest_possible:
            self.least = self.duals.dual_value()
            self.highest_possible = self.least + self.estimate
        return gap <= tol * self.least

    def _measure(self, promising: bool) -> Bound:
        """Return what is known of the optimum: of a smooth loss by the plane's own dual point, if that will do."""
        if not self.smooth:
            return self._measure_duals()
        point = self.objective.evaluate(self.w, float(self.b[0]), split=self.objective.fit_intercept)
        own: Bound = point.bound
        if self.in_blocks and (promising or self.proves(own)):
            own = point.exact_bound()
        if self.proves(own):
            self.best, self.highest = self.plane(self.w, point.b, point.value, point.mistakes), (own.dual, None)
        elif not self.duals.by_halves and own.primal - self.duals.dual_value() <= self.method.tol * own.primal:
            return self._measure_duals()
        self.duals.wake_all()
        self._record(point.objective, point.risk, point.zero_one)
        return own

    def _last_measure(self) -> Bound:
        """Return what is proven at the end of a run that proved no more: the plane has moved on since."""
        if not (self.in_blocks and self.smooth):
            return self._measure_duals()
        point = self.objective.evaluate(self.w, float(self.b[0]))
        self.best = self.plane(self.w, point.b, point.value, point.mistakes)
        bound: Bound = point.exact_bound()
        return bound

    def _measure_duals(self) -> Bound:
        """Note the point, the average and α; return what is known of the optimum."""
        planes, dual, alpha = self.duals.measure([(self.w.copy(), float(self.b[0])), *self.averages])
        best = min(planes, key=lambda plane: plane[0])
        if best[0] < self.best[0]:
            self.best = best
        self._record(best[0], best[3], best[4])
        if dual > self.highest[0] or self.in_blocks:  # where α is not copied, it is the last one
            self.highest = dual, alpha
        return Bound(self.best[0], self.highest[0])

    def plane(self, w: FloatArray, b: float, value: float, mistakes: float, z: FloatArray | None = None) -> Plane:
        """Return a plane from Σ s ℓ(z) and Σ s over its mistakes."""
        objective, N = self.objective, self.objective.total_weight
        primal = objective.penalty.value(w) + objective.weight_of_loss * value
        return primal, w, b, value / N, mistakes / N, z

    def _record(self, primal: float, risk: float, mistakes: float) -> None:
        scale = self.objective.weight_of_loss * self.objective.total_weight
        self.lowest = min(self.lowest, primal)
        self.history.add(Record(self.passes, self.passes, primal / scale, risk, mistakes, best=self.lowest / scale))


class _InMemory:
    """The dual variables (over l2) in memory, and an order of the examples, those that have settled last."""

    later = TUNED.later

    def __init__(self, run: _Run) -> None:
        self.run, self.objective, objective = run, run.objective, run.objective
        self.c = objective.C / run.l2 * objective.s
        self.alpha = np.zeros(objective.n)
        self.order, self.near = np.flatnonzero(self.c).astype(np.int32), Gathered(objective, self.c)
        self.active, self.slopes = len(self.order), np.array([-np.inf, np.inf, np.inf])
        self.other = np.empty(objective.d)
        self.by_halves = objective.rows.stored + VISIT_IN_NUMBERS * len(self.order) >= TUNED.many
        self.constant = TUNED.spring * objective.weighted_squares / objective.total_weight * objective.fit_intercept
        self.measured = (TUNED.first_smooth if run.smooth else TUNED.first) // 2

    def take(self, alpha: FloatArray | None) -> None:
        """Begin with these dual variables."""
        if alpha is not None:
            self.alpha = _into_range(alpha / self.run.l2, self.c, self.objective.loss)
            self.run.w = self.objective.rows.rmatvec(self.alpha * self.objective.y)

    @property
    def idle(self) -> bool:
        return self.active == 0

    def pull(self) -> float:
        """Return how far the spring of b is stretched."""
        # Not as a product of vectors: the threads of a BLAS go on spinning after each, for as long as a pass takes.
        return self.constant * float(np.sum(self.alpha * self.objective.y))

    def visit(self) -> float:
        """Visit the examples that have not settled; return the gap that was seen."""
        objective, run, k = self.objective, self.run, self.run.passes
        shared: dict[str, Any] = dict(
            constant=self.constant, b=run.b, order=self.order, seed=run.seed + k, alpha=self.alpha, w=run.w
        )
        if self.by_halves:
            gap = float(objective.rows.dual_halves(objective.y, self.c, objective.loss, other=self.other, **shared))
            brisk = k < 3 or run.l2 * gap <= TUNED.brisk * run.estimate
            self.by_halves = brisk if run.smooth else k < TUNED.blunt
            return gap
        self.active = self.near.dual_pass(active=self.active, slopes=self.slopes, **shared)
        return _next_slopes(self.slopes)

    def dual_value(self) -> float:
        """Return D(α), as far as w is the sum that it stands for and the classes balance."""
        return dual_bound(self.objective, self.run.l2 * self.alpha, self.run.l2 * self.run.w)

    def measure(self, planes: list[tuple[FloatArray, float]]) -> tuple[list[Plane], float, FloatArray]:
        """Return the planes, D(α) with the classes made to balance, and that α."""
        objective, run, l2 = self.objective, self.run, self.run.l2
        # The weights have been added to many times: begin again from the sum that they stand for.
        run.w = objective.rows.rmatvec(self.alpha * objective.y)
        found = [self._plane(run.w.copy(), planes[0][1]), *(self._plane(*plane) for plane in planes[1:])]
        alpha = balanced(objective, l2 * self.alpha)
        self._wake(found[0][5])
        return found, dual_bound(objective, alpha, None if objective.fit_intercept else l2 * run.w), alpha

    def _plane(self, w: FloatArray, b: float) -> Plane:
        objective, z = self.objective, self.objective.agreements(w, b)
        N = objective.total_weight
        value, mistakes = objective.mean(objective.loss.value(z)), objective.mean((z <= 0).astype(np.float64))
        return self.run.plane(w, b, N * value, N * mistakes, z)

    def _wake(self, z: FloatArray | None) -> None:
        """Take up again what was set aside too early: examples with a share in the gap, c ℓ(z) + c ℓ*(−α/c) + α z."""
        assert z is not None
        aside = self.order[self.active :]
        loss, alpha, c, z = self.objective.loss, self.alpha[aside], self.c[aside], z[aside]
        share = c * (loss.value(z) + loss.conjugate(-alpha / c)) + alpha * z
        wrong = share > TUNED.nothing * c
        self.order[self.active :] = np.concatenate([aside[wrong], aside[~wrong]])
        self.active += int(wrong.sum())

    def wake_all(self) -> None:
        """Take up all examples: some may have been set aside too early."""
        self.active, self.slopes[:2] = len(self.order), (-np.inf, np.inf)


class _InBlocks:
    """The dual variables beside the blocks of their examples, all of which are visited in every pass."""

    later, by_halves, idle, measured = TUNED.later_in_blocks, False, False, 0

    def __init__(self, run: _Run, workspace: Workspace) -> None:
        self.run, self.objective, self.workspace, objective = run, run.objective, workspace, run.objective
        self.alpha, self.way = workspace.vector("duals"), workspace.vector("way of the duals")
        self.last: tuple[FloatArray, float, float] | None = None  # w, Σ αᵢ yᵢ and Σ c ℓ*(−α/c) after the last pass
        self.further = 0.0  # how many times that way they have still to go: a block's own do when it is read
        self.behind = 0.0  # what going further has cost of D, until passes have made up for it
        self.pulled: tuple[float, float] | None = None  # b̄, and Σ αᵢ yᵢ there, when it moved last
        square = objective.weighted_squares / objective.total_weight if objective.fit_intercept else 0.0
        self.constant = min(TUNED.loose / objective.n, 1.0) * square
        self.balance = self.seen = 0.0  # Σ αᵢ yᵢ; the gap that the last pass saw, on the spring

    def take(self, alpha: Any) -> None:
        """Nothing: the dual variables are in the workspace."""

    def begin(self) -> None:
        """Go on where a killed run stood, or begin with the intercept of a sample."""
        run, kept = self.run, self.workspace.state
        if kept is not None:
            run.b[0], run.passes = float(kept["b"]), int(kept["passes"])
            run.w, self.balance = self.objective.examples.sum(self._sums)
            return
        part = sample_objective(self.objective, run.seed) if self.objective.fit_intercept else None
        if part is not None:
            run.b[0] = DualDescent(tol=1e-2, max_iter=50).solve(part).as_part().b

    def _sums(self, block: Block) -> Several:
        """Return Σ αᵢ yᵢ xᵢ and Σ αᵢ yᵢ."""
        part = self.objective.on(block)
        signed = self._read(block, part)[0] * part.y
        return Several((part.rows.rmatvec(signed), float(signed.sum())))

    def _read(self, block: Block, part: Objective) -> tuple[FloatArray, FloatArray]:
        """Return the dual variables of a block, over l2, and what bounds them: C s/l2."""
        c = part.C / self.run.l2 * part.s
        return _into_range(self.alpha.read(block.which) / self.run.l2, c, part.loss), c

    def pull(self) -> float:
        """Return how far b̄ is to follow b: not before the passes leave less of the gap than the spring holds.

        Σ αᵢ yᵢ falls in b̄, and from the second time on it is known how fast (the secant method).
        """
        step = self.constant * self.balance
        if not self.run.smooth:
            return step
        if self.seen > step * self.balance:
            return 0.0
        at, pulled = float(self.run.b[0]) - step, self.pulled
        self.pulled = at, self.balance
        if pulled is not None and (at - pulled[0]) * (pulled[1] - self.balance) > 0:
            step = self.balance * (at - pulled[0]) / (pulled[1] - self.balance)
        return step

    def visit(self) -> float:
        """Visit every block once, and each of its examples a few times; return the gap that was seen."""
        examples: Any = self.objective.examples
        numbers = iter(range(self.objective.n + 1))
        order = examples.shuffled(self.run.seed + self.run.passes)
        gap, change, *way = examples.sum(lambda block: self._visit(block, next(numbers)), order)
        self.balance += change
        self.seen = float(gap)
        if not way:
            return self.seen
        self._go_further(*way)
        return self.seen + self.constant * self.balance**2

    def _visit(self, block: Block, k: int) -> Several:
        part, run = self.objective.on(block), self.run
        last, c = self._read(block, part)
        expected = last + self.further * self.way.read(block.which) / run.l2 if self.further else last
        alpha, seen = _into_range(expected, c, part.loss), 0.0
        if self.further:  # w and b have gone all the way
            short = (alpha - expected) * part.y
            run.w += part.rows.rmatvec(short)
            run.b += self.constant * short.sum()
        order = np.flatnonzero(c).astype(np.int32)
        active, slopes = len(order), np.array([-np.inf, np.inf, 0.0])
        shared: dict[str, Any] = dict(constant=self.constant, b=run.b, order=order, alpha=alpha, w=run.w, slopes=slopes)
        for inner in range(TUNED.inner):
            seed = run.seed + (run.passes * 7919 + k) * TUNED.inner + inner
            active = part.rows.dual_pass(part.y, c, part.loss, active=active, seed=seed, **shared)
            gap = _next_slopes(slopes)
            seen = gap if inner == 0 else seen
            if active == 0:
                break
        self.alpha.write(block.which, run.l2 * alpha)
        way = self._way(block, part, last, alpha, c) if run.smooth else ()
        return Several((seen, float((alpha - expected) @ part.y), *way))

    def _way(
        self, block: Block, part: Objective, last: FloatArray, alpha: FloatArray, c: FloatArray
    ) -> tuple[FloatArray, FloatArray, float]:
        """Keep the way from the last pass; return Σ c ℓ*(−α/c) at its begin, half-way and at its end, and its sums."""
        # What has come to its bound goes no further.
        way = np.where(_into_range(alpha + (alpha - last), c, part.loss) == alpha, 0.0, alpha - last)
        self.way.write(block.which, self.run.l2 * way)
        back = np.where(way == 0, alpha, last)
        along = (back, 0.5 * (back + alpha), alpha)
        conjugates = np.array([_conjugates(part.loss, each, c).sum() for each in along])
        signed = way * part.y
        return conjugates, part.rows.rmatvec(signed), float(signed.sum())

    def _go_further(self, conjugates: FloatArray, dw: FloatArray, db: float) -> None:
        """Follow the way of this pass to where −D is least, of which ℓ* is taken for the parabola that it is behind.

        All of it is on the spring where it is. A pass that did not raise D went too far at its start: then there is no
        going further until the passes have raised D above what it was.
        """
        run, last, (back, between, here) = self.run, self.last, conjugates.tolist()
        w, b, self.further = run.w.copy(), float(run.b[0]), 0.0
        self.last = w, self.balance, here
        if last is None:
            return
        moved, pulled = w - last[0], self.balance - last[1]
        fall = float((w - 0.5 * moved) @ moved) + (b - 0.5 * self.constant * pulled) * pulled + here - last[2]
        self.behind = max(0.0, self.behind + fall)
        slope = float(w @ dw) + b * db + 3.0 * here - 4.0 * between + back
        bend = float(dw @ dw) + self.constant * db * db + 4.0 * (here - 2.0 * between + back)
        if self.behind == 0.0 and bend > 0.0:
            self.further = -slope / bend
            run.w = w + self.further * dw
            run.b += self.further * self.constant * db
            self.balance += self.further * db

    def passed(self, proof: Bound) -> None:
        """Let a killed run go on from here, and whoever listens hear of the pass."""
        run = self.run
        self.workspace.keep({"b": float(run.b[0]), "passes": run.passes})
        self.workspace.passed(run.passes, proof.relative_gap)

    def dual_value(self) -> float:
        """Return D as it was when last measured."""
        return max(self.run.highest[0], 0.0)

    def measure(self, planes: list[tuple[FloatArray, float]]) -> tuple[list[Plane], float, Vector]:
        """Return the planes, D(α) with the classes made to balance, and the α before that."""
        objective, run = self.objective, self.run

        def task(block: Block) -> Several:
            part = objective.on(block)
            sums = [part.evaluate(*plane, gradient=False).sums for plane in planes]
            alpha, c = self._read(block, part)
            shares = _conjugates(part.loss, alpha, c)
            sides = [part.y > 0, part.y < 0]
            return Several(
                (
                    np.array([[each.value, each.mistakes] for each in sums]),
                    np.array([part.rows.rmatvec(np.where(side, alpha * part.y, 0.0)) for side in sides]),
                    np.array([[alpha[side].sum(), shares[side].sum()] for side in sides]),
                )
            )

        measured, v, totals = objective.examples.sum(task)
        scales = np.array(class_scales(*totals[:, 0])) if objective.fit_intercept else np.ones(2)
        # A class scaled by p ≤ 1 adds no more than p times its own: ℓ* is convex and ℓ*(0) = 0.
        dual = -objective.penalty.conjugate(run.l2 * (scales @ v)) - run.l2 * float(scales @ totals[:, 1])
        found = [run.plane(w, b, *numbers) for (w, b), numbers in zip(planes, measured.tolist(), strict=True)]
        return found, dual, self.alpha

    def wake_all(self) -> None:
        """Every pass visits all examples anyway."""


def _conjugates(loss: Loss, alpha: FloatArray, c: FloatArray) -> FloatArray:
    """Return c ℓ*(−α/c)."""
    return c * loss.conjugate(-np.divide(alpha, c, out=np.zeros_like(c), where=c > 0))


def _into_range(alpha: FloatArray, c: FloatArray, loss: Loss) -> FloatArray:
    """Return dual variables where ℓ*(−α/c) is finite: between c times the slopes of the loss, with the sign changed."""
    low, high = (-c * slope if np.isfinite(slope) else -slope for slope in reversed(loss.slopes))
    return np.where(c > 0, np.clip(alpha, low, high), 0.0)


def _next_slopes(slopes: FloatArray) -> float:
    """Make ready for the next pass the extremes by which it sets examples aside; return the gap that this one saw."""
    low, high, gap = slopes.tolist()
    slopes[:2] = low if low < 0 else -np.inf, high if high > 0 else np.inf
    return float(gap)
