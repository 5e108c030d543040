"""The augmented Lagrangian method with Newton's inside, for losses with a kink (hinge), to a proven duality gap.

Each example's dual variable is tied by a spring (a proximal term) to where it was, ᾱ, with a slack h:

    min over (w, b)  penalty(w) + Σ max over a of  −a z − cᵢ ℓ*(−a/cᵢ) − ½ (h/cᵢ)(a − ᾱᵢ)²

This inner problem is smooth, and bends only where examples lie in a band of width h around the kink: Newton's method
factors the Hessian of these few; of many features in blocks it takes conjugate gradients. Then ᾱ moves to a, h is
halved, and the gap falls by an order of magnitude.
(Rockafellar 1976; with semismooth Newton inside: Li, Sun and Toh 2018.)

The dual variables are where their examples are. In memory an exact line search costs no pass over the rows, and what a
step changes is added to what was known; in blocks one pass gives value, gradient and Hessian of the inner problem and
the bound; a step that does not lower the inner problem is halved, and another pass made. (One that is too short was
never seen: on pieces of a quadratic, Newton goes all the way.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._common.types import FloatArray
from ..._core import VISIT_IN_NUMBERS, Ending, Springs, conjugate_sum, sprung_line_search
from ...history import Record
from ...objective.duality import Bound, class_scales
from ...objective.objective import Objective
from ..dual.descent import DualDescent
from ..result import Observer, Result, Start
from ..run import EndOfRun, GapRun, GapSolver, no_step_lowers, words_of
from ..sampling import both_classes, sample
from ..workspace import InProcess, Workspace
from .class_springs import OfClasses
from .conjugate_gradients import dot
from .preconditioner import FACTORED, factored, work_of_factor
from .springs_in_blocks import InBlocks
from .sprung_point import SprungPoint, sprung_sums


@dataclass(frozen=True)
class Tuned:
    """What was tuned, with what it trades; set by `benchmarks/race.py` (hinge)."""

    widest: float = 4.0  #: The first width: at w = 0 all examples are in the band. Narrower: fewer bend, more steps.
    nearby: float = 0.5  #: The first width from a point that is near the optimum.
    narrower: float = 0.5  #: What becomes of the width at each outer step: outer steps against inner ones.
    narrowest: float = 1e-9  #: Where that ends: below, rounding is all that moves.
    share: int = 8  #: A run on many examples begins with one on this share of them, an eighth …
    rough: float = 1e-2  #: … to this gap.
    exact: float = 1e-13  #: A small run goes on to this gap whatever was asked: it costs next to nothing, and the same
    #: fit from repeated rows and from weights, say, is then the same to many digits.
    small: int = 2000  #: Small is up to so many stored numbers; from there to …
    large: int = 8000  #: … so many the goal goes over into what was asked, order by order.
    more: int = 20  #: Steps that may follow when what was asked is proven.
    at_once: int = 2_000_000  #: Up to so many numbers a run of few features is one call of a kernel …
    work: int = 10**9  #: … or several of about so many operations, so that Ctrl-C is heard.
    many: int = 300  #: With so many features other runs begin with dual coordinate descent …
    passes: int = 100  #: … of so many passes: they find the band, and a Newton step costs as much as many of them.
    factors: float = 10.0  #: Of sparse examples as many more as take the time of so many factors of the Hessian.
    trial: int = 10  #: So do runs on many sparse examples, where so many passes …
    hopeful: float = 0.02  #: … leave no larger a gap: between .0065 and .085 where they paid and where they did not.
    #: Of fewer features they do where so many passes over one example of so many leave no larger a gap: below .015
    #: where they paid (w8a thin, a9a at C = .01), else above .05, of 8, 16 or 32. (a9a: a glance takes .5 of 20 ms.)
    glance: tuple[int, int] = 4, 32
    bright: float = 0.03
    accuracy: float = 0.1  #: What an exact line search leaves of the slope.
    enclosed: float = 1e-10  #: What rounding may add to a gap of several classes.


TUNED = Tuned()


@dataclass(frozen=True)
class Multipliers(GapSolver):
    """The augmented Lagrangian method, for losses with a kink that have a `dual_step`, and an L2 penalty.

    Parameters
    ----------
    tol : float
        The relative duality gap at which to stop.
    max_iter : int
        Newton steps at the most; of examples in blocks, passes.
    """

    max_iter: int = 500
    name = "multipliers"
    needs = frozenset({"kink", "convex", "dual_step", "conjugate", "l2", "one_plane_or_rows"})
    helped_by = frozenset({"merging", "centring", "sparse", "scaling"})

    def _run(self, objective: Objective, *told: Any) -> _Run:
        return _Run(self, objective, *told)


def goal(tol: float, stored: int) -> float:
    """Return the gap that a run aims at: what was asked, or less where that costs little, without a cliff between.

    Examples
    --------
    >>> [f"{goal(1e-4, stored):.0e}" for stored in (500, 2000, 4000, 8000)]
    ['1e-13', '1e-13', '3e-09', '1e-04']
    """
    if stored >= TUNED.large or tol <= TUNED.exact:
        return tol
    share = min(1.0, np.log(TUNED.large / max(stored, 1)) / np.log(TUNED.large / TUNED.small))
    return float(tol * (TUNED.exact / tol) ** share)


class _Run(GapRun):
    """One run: the width of the springs, the best bounds so far, and the steps taken."""

    def __init__(
        self,
        method: Multipliers,
        objective: Objective,
        seed: int,
        observer: Observer | None,
        workspace: Workspace | None,
    ) -> None:
        super().__init__(method, observer)
        self.objective, self.seed = objective, seed
        self.steps, self.width, self.enough = 0, TUNED.widest, method.max_iter
        self.nearby, self.narrower = TUNED.nearby, TUNED.narrower
        self.duals: Any
        if objective.head.planes is not None:
            # Their proof is enclosed, whatever it is: of a tiny `tol` that takes some.
            tol = max(method.tol - TUNED.enclosed, 0.25 * method.tol)
            self.duals, self.target = OfClasses(self), goal(tol, objective.rows.stored)
        elif objective.examples.resident is None:
            self.duals, self.target = InBlocks(self, workspace or InProcess()), method.tol
        else:
            self.duals, self.target = _InMemory(self), goal(method.tol, objective.rows.stored)
        self.lowest: tuple[float, FloatArray, Any] = (np.inf, *objective.zeros())
        self.highest = -np.inf

    def result(self, start: Start | None) -> Result:
        """Take Newton steps until the gap is proven small."""
        with self.until_it_ends():
            start = self._start(start)
            if self.duals.is_small():
                self.duals.at_once(start)
            else:
                self._step_by_step(start)
        primal, w, b = self.lowest
        proof = self.proof() if np.isfinite(primal) else None
        return self.outcome(w, b, self.steps, proof, alpha=self.duals.best(), z=self.duals.agreements(w))

    def _start(self, start: Start | None) -> Start:
        """Return where to begin: as told, or where a sample of the examples leads, or passes of dual descent."""
        start = self.duals.resumed() or start or self.duals.rough()
        if start is None:
            return Start(*self.objective.zeros())
        if self.steps == 0:
            self.width = self.nearby
        return start

    def of_sample(self, part: Objective, gap: float) -> Start:
        """Return where this method leads on some of the examples, to a gap that is soon reached.

        Of many features dual descent does, which writes no matrix of them.
        """
        method: GapSolver = Multipliers(tol=gap) if part.d <= FACTORED else DualDescent(tol=gap)
        return method.solve(part, seed=self.seed).as_part().last

    def _step_by_step(self, start: Start) -> None:
        """Take one step after the other; springs that hold more than all else give way before."""
        point = self.duals.begin(start.w.copy(), start.b, start.alpha)
        while True:
            proof = self.proof()
            if proof.relative_gap <= self.target:
                if self.duals.fresh:
                    raise EndOfRun(words_of(proof))
                point = self.duals.refreshed(point)
            elif point.primal - point.dual - point.outer <= point.outer and self.width > TUNED.narrowest:
                self.width *= self.narrower
                point = self.duals.released(point)
            else:
                self._end_if_enough(proof, point)
                point = self._step(point)

    def _end_if_enough(self, proof: Bound, point: SprungPoint) -> None:
        """End the run after as many steps as may be, or a few after what was asked is proven."""
        if self.proves(proof) and self.enough == self.method.max_iter:
            self.enough = min(self.enough, self.steps + TUNED.more)
        if self.steps:
            self.tell(self.steps, point.w, point.b, self.lowest[0], join=self.objective.planes)
        if self.steps >= self.enough:
            raise EndOfRun(self.message)

    def _step(self, point: SprungPoint) -> SprungPoint:
        step = self.duals.direction(point)
        found: SprungPoint | None = self.duals.moved(point, step, dot(point.gradient, step))
        if found is None:
            raise no_step_lowers("objective")
        return found

    def proof(self) -> Bound:
        """Return what is known of the optimum from all points so far."""
        return Bound(self.lowest[0], self.highest)

    def point(
        self, w: FloatArray, b: float, sums: FloatArray, v: FloatArray, conjugates: Any, **more: Any
    ) -> SprungPoint:
        """Return a point from its sums; `conjugates` gives Σ c ℓ*(−a/c) with the classes scaled. Note the better one.

        Parameters
        ----------
        sums : array
            Σ c ℓ(z), Σ c ℓ*(−a/c), Σ a z, Σ c over the mistakes, Σ a by class.
        v : array
            Σ aᵢ yᵢ xᵢ, a row for each class if b is free.
        """
        objective = self.objective
        value, conjugate, product, mistakes = sums[:4].tolist()
        scales = class_scales(*sums[4:6]) if objective.fit_intercept else (1.0, 1.0)
        penalty = objective.penalty.value(w)
        primal = penalty + value
        total = v[0] if len(v) == 1 else scales[0] * v[0] + scales[1] * v[1]
        dual = -objective.penalty.conjugate(total) - conjugates(scales)
        gradient = objective.penalty.l2 * w - v.sum(axis=0)
        if objective.fit_intercept:
            gradient = np.append(gradient, sums[5] - sums[4])
        point = SprungPoint(w, b, primal, dual, value + conjugate + product, gradient, **more)
        return self.noted(point, value, mistakes, lambda: self.duals.keep(scales, **more))

    def noted(self, point: SprungPoint, value: float, mistakes: float, keep: Callable[[], None]) -> SprungPoint:
        """Remember a point, if it is the best one, and by `keep` its dual variables, if these are."""
        objective = self.objective
        if point.primal < self.lowest[0]:
            self.lowest = point.primal, point.w, point.b
        if point.dual > self.highest:
            self.highest = point.dual
            keep()
        scale = objective.weight_of_loss * objective.total_weight
        numbers = point.primal / scale, value / scale, mistakes / scale
        self.history.add(Record(self.steps, self.steps, *numbers, best=self.lowest[0] / scale))
        return point

    def forget(self) -> None:
        """Drop what was proven: it rested on sums that are now computed afresh."""
        self.lowest, self.highest = (np.inf, *self.lowest[1:]), -np.inf


class _InMemory:
    """Dual variables in memory, with the agreements z: a step adds to both, and to v = Σ aᵢ yᵢ xᵢ."""

    def __init__(self, run: _Run) -> None:
        self.run, self.objective = run, run.objective
        n, d = self.objective.n, self.objective.d
        s, C = self.objective.sample_weight, self.objective.C
        self.c = np.full(n, C) if s is None else C * s
        self.z, self.a, self.h, self.centre = np.zeros(n), np.zeros(n), np.zeros(n), 0.5 * self.c
        self.v = np.zeros((2 if self.objective.fit_intercept else 1, d))
        self.alpha, self.fresh = self.a, True
        self.w: FloatArray | None = None  # of the last point that was noted

    def resumed(self) -> None:
        """There is nothing to go on from."""

    def rough(self) -> Start | None:
        """Return where a sample of the examples leads, or dual descent; None where neither is worth it."""
        objective, run, y = self.objective, self.run, self.objective.y
        if objective.fit_intercept and not both_classes(y, self.c):  # b alone serves a single class, at no cost
            return Start(np.zeros(objective.d), 2.0 * float(np.sign(self.c @ y)), alpha=self.a)
        large, rng = objective.n >= TUNED.share * max(2000, 5 * objective.d), np.random.default_rng(run.seed)
        if large and objective.rows.is_sparse:
            if objective.d >= TUNED.many:
                found = self._descended(TUNED.trial)
                if found.proof is not None and found.proof.relative_gap <= TUNED.hopeful:
                    return self._descended(self._passes(), found.last).last
            elif not objective.rows.narrow and self._is_bright():
                return self._descended(self._passes()).last
        part = sample(objective, objective.n // TUNED.share, rng) if large else None
        if part is not None:
            return replace(run.of_sample(part, TUNED.rough), alpha=None)
        if objective.d < TUNED.many:
            return None
        return self._descended(self._passes()).last

    def _is_bright(self) -> bool:
        """Whether a few passes of dual descent go far: on some of the examples, which count as they do among all."""
        passes, share = TUNED.glance
        which = slice(0, None, share)
        part = self.objective.chosen(which, None if self.objective.sample_weight is None else self.objective.s[which])
        if not both_classes(part.y, part.sample_weight):
            return False
        found = DualDescent(tol=TUNED.bright, max_iter=passes).solve(part, seed=self.run.seed).as_part()
        return found.proof is not None and found.proof.relative_gap <= TUNED.bright

    def _passes(self) -> int:
        """Return how many passes of dual descent Newton steps are worth."""
        rows = self.objective.rows
        if not rows.is_sparse:
            return TUNED.passes
        visits = rows.stored + VISIT_IN_NUMBERS * rows.n
        return max(TUNED.passes, int(TUNED.factors * work_of_factor(rows.d) / visits))

    def _descended(self, passes: int, start: Start | None = None) -> Result:
        """Return where so many passes of dual descent lead; where that is far enough, the run ends there."""
        run, method = self.run, DualDescent(tol=self.run.method.tol, max_iter=passes)
        found = method.solve(self.objective, start=start, seed=run.seed).as_part()
        if found.proof is not None and found.proof.relative_gap <= run.target:
            assert found.z is not None, "of a loss with a kink the agreements are known"
            run.lowest, run.highest = (found.proof.primal, found.w, found.b), found.proof.dual
            self.alpha, self.z, self.w = found.alpha, found.z, found.w
            run.history.add(replace(found.history.records[-1], step=0, passes=0))
            raise EndOfRun(words_of(found.proof))
        return found

    def _set_centres(self, alpha: FloatArray | None) -> None:
        if alpha is not None:
            self.centre = np.clip(alpha, 0.0, self.c)

    # -- all steps in one kernel -----------------------------------------------------------------------------------

    def is_small(self) -> bool:
        """Whether the whole run is a matter of milliseconds, and nobody wants to hear of each step."""
        rows, observer = self.objective.rows, self.run.observer
        listened_to = getattr(observer, "needs_point", observer is not None)
        return rows.runs_at_once(self.objective.loss) and rows.n * rows.d <= TUNED.at_once and not listened_to

    def at_once(self, start: Start) -> None:
        """Take all steps in one kernel, or many."""
        objective, run, method, rows = self.objective, self.run, self.run.method, self.objective.rows
        self._set_centres(start.alpha)
        point, best = np.append(start.w, start.b), (np.empty(rows.d + 1), np.empty(rows.n), np.empty(2))
        at = Springs(point, self.z, self.a, self.h, self.centre, np.array([run.width]), *best)
        settings: dict[str, Any] = dict(l2=objective.penalty.l2, intercept=objective.fit_intercept, more=TUNED.more)
        settings |= dict(tol=method.tol, target=run.target, narrower=TUNED.narrower, narrowest=TUNED.narrowest)
        while True:
            most = min(method.max_iter - run.steps, max(1, TUNED.work // (rows.n * (rows.d + 8) ** 2)))
            ending = rows.sprung_newton(objective.y, self.c, objective.loss, at, **settings, most=most)
            self._take_over(at, ending)
            if ending.why == "proven":
                raise EndOfRun(words_of(run.proof()))
            if ending.why == "stuck":
                raise no_step_lowers("objective")
            if run.steps >= method.max_iter or (ending.why == "tired" and ending.steps < most):
                return
            run.tell(run.steps, *run.lowest[1:], run.lowest[0])

    def _take_over(self, at: Springs, ending: Ending) -> None:
        run = self.run
        ending.log[:, 1:] /= self.objective.weight_of_loss * self.objective.total_weight
        for step, primal, value, mistakes, best in ending.log.tolist():
            k = run.steps + int(step)
            run.history.add(Record(k, k, primal, value, mistakes, best=best))
        run.steps += ending.steps
        (primal, run.highest), point = at.proof.tolist(), at.best_point
        run.lowest, self.alpha = (primal, point[:-1].copy(), float(point[-1])), at.best_alpha
        self.w, self.fresh = run.lowest[1], ending.settled

    # -- one step after the other ----------------------------------------------------------------------------------

    def begin(self, w: FloatArray, b: float, alpha: FloatArray | None) -> SprungPoint:
        """Set the agreements, and the dual variables' centres."""
        self._set_centres(alpha)
        self.z = self.objective.agreements(w, b)
        return self._note(w, b)

    def released(self, point: SprungPoint) -> SprungPoint:
        """Move the centres to where the dual variables are."""
        self.centre = self.a.copy()
        return self._note(point.w, point.b)

    def refreshed(self, point: SprungPoint) -> SprungPoint:
        """Compute z and v afresh, and prove anew what rested on them."""
        objective, y = self.objective, self.objective.y
        self.z = objective.agreements(point.w, point.b)
        sides = [y > 0, y < 0] if objective.fit_intercept else [y != 0]
        self.v = np.array([objective.rows.rmatvec(np.where(side, self.a * y, 0.0)) for side in sides])
        self.fresh = True
        self.run.forget()
        return self._note(point.w, point.b)

    def _note(self, w: FloatArray, b: float) -> SprungPoint:
        """Set the dual variables at z."""
        objective, self.w = self.objective, w
        sums = sprung_sums(objective, self.c, a=self.a, h=self.h, centre=self.centre, z=self.z, width=self.run.width)
        self.v += sums[6:].reshape(self.v.shape)
        conjugates = self._conjugates if objective.fit_intercept else lambda scales: float(sums[1])
        return self.run.point(w, b, sums, self.v, conjugates)

    def _conjugates(self, scales: tuple[float, float]) -> float:
        objective, C, y = self.objective, self.objective.weight_of_loss, self.objective.y
        return C * conjugate_sum(y, objective.sample_weight, objective.loss, -self.a * y / C, *scales)

    def keep(self, scales: tuple[float, float]) -> None:
        """Remember the dual variables, the classes scaled."""
        self.alpha = self.a * np.where(self.objective.y > 0, *scales) if self.objective.fit_intercept else self.a.copy()

    def direction(self, point: SprungPoint) -> FloatArray:
        """Return Newton's step."""
        return -factored(self.objective, self.h).solve(point.gradient)

    def moved(self, point: SprungPoint, step: FloatArray, slope: float) -> SprungPoint | None:
        """Go as far along the step as is best."""
        objective, d, l2 = self.objective, self.objective.d, self.objective.penalty.l2
        dw, db = np.ascontiguousarray(step[:d]), float(step[d]) if objective.fit_intercept else 0.0
        dz = objective.agreements(dw, db)
        springs: dict[str, Any] = dict(centre=self.centre, z=self.z, dz=dz, width=self.run.width)
        springs |= dict(first=slope, linear=l2 * float(point.w @ dw), quadratic=l2 * float(dw @ dw))
        t = sprung_line_search(self.c, objective.loss, **springs, accuracy=TUNED.accuracy)
        self.run.steps += 1
        if t == 0.0:
            return None
        self.z, self.fresh = self.z + t * dz, False
        return self._note(point.w + t * dw, point.b + t * db)

    def best(self) -> FloatArray:
        return self.alpha

    def agreements(self, w: FloatArray) -> FloatArray | None:
        """Return z of the plane that is reported, where that is the last one and they were computed afresh."""
        return self.z if self.fresh and w is self.w and not self.run.interrupted else None
