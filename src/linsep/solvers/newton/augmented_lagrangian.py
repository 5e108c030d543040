"""The method of multipliers with Newton's method inside, for losses with a kink (hinge), to a proven duality gap.

Each example's dual variable is tied by a spring to where it was, ᾱ, with a slack h:

    min over (w, b)  penalty(w) + Σ max over a of  −a z − cᵢ ℓ*(−a/cᵢ) − ½ (h/cᵢ)(a − ᾱᵢ)²

This inner problem is smooth, and bends only where examples lie in a band of width h around the kink: Newton's method
factors the Hessian of these few. Then ᾱ moves to a, h is halved, and the gap falls by an order of magnitude.
(Rockafellar 1976; with semismooth Newton inside: Li, Sun and Toh 2018.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core import Ending, Springs, conjugate_sum, sprung_line_search
from ...objective.duality import Bound, class_scales
from ...objective.objective import Objective
from .._checks import check_count
from ..contract import check_needs
from ..dual.descent import DualDescent
from ..history import Record
from ..result import Observer, Result, Start
from ..run import EndOfRun, GapRun, no_step_lowers, words_of
from ..sampling import both_classes, sample
from .preconditioner import factored

FloatArray = NDArray[np.float64]

__all__ = ["Multipliers"]

#: The first width: at w = 0 all examples are in the band.
WIDEST = 4.0
#: The first width from a point that is near the optimum.
NEARBY = 0.5
#: What becomes of the width at each outer step, and where that ends.
NARROWER, NARROWEST = 0.5, 1e-9
#: A run on many examples begins with one on this share of them: an eighth.
SHARE = 8
#: Up to this many stored numbers a run goes on to this gap whatever was asked, for so many more steps at the most: it
#: costs next to nothing, and the same fit from repeated rows and from weights, say, is then the same to many digits.
SMALL, EXACT, MORE = 2000, 1e-13, 20
#: Up to so many numbers a run of few features is one call of a kernel, or several of about so many operations.
AT_ONCE, WORK = 2_000_000, 10**9
#: With so many features other runs begin with so many passes of dual coordinate descent.
MANY, PASSES = 300, 100


@dataclass(frozen=True)
class Multipliers:
    """The method of multipliers, for losses with a `dual_step` and an L2 penalty.

    Parameters
    ----------
    tol : float
        The relative duality gap at which to stop.
    max_iter : int
        Newton steps at the most.
    """

    tol: float = 1e-4
    max_iter: int = 500
    name = "multipliers"
    needs = frozenset({"kink", "convex", "dual_step", "conjugate", "l2", "one_plane"})
    helped_by = frozenset({"merging", "centring", "sparse", "scaling"})

    def __post_init__(self) -> None:
        check_count("max_iter", self.max_iter)

    def solve(
        self, problem: Objective, *, start: Start | None = None, seed: int = 0, observer: Observer | None = None
    ) -> Result:
        """Minimise."""
        check_needs(self, problem)
        return _Run(self, problem, seed, observer).result(start)


class _Run(GapRun):
    """One run: the point (w, b), its agreements z, the dual variables a, their centres, and v = Σ aᵢ yᵢ xᵢ by class."""

    def __init__(self, method: Multipliers, problem: Objective, seed: int, observer: Observer | None) -> None:
        super().__init__(method, observer)
        self.problem, self.seed, self.rng, self.steps = problem, seed, np.random.default_rng(seed), 0
        n, d = problem.rows.n, problem.rows.d
        self.c = np.full(n, problem.C) if problem.sample_weight is None else problem.C * problem.sample_weight
        self.w, self.b, self.z = np.zeros(d), 0.0, np.zeros(n)
        self.a, self.h, self.centre, self.width = np.zeros(n), np.zeros(n), 0.5 * self.c, WIDEST
        self.v, self.totals = np.zeros((2 if problem.fit_intercept else 1, d)), np.zeros(2)
        self.tol = min(method.tol, EXACT) if problem.rows.stored <= SMALL else method.tol
        self.best: tuple[float, FloatArray, float]
        self.highest: tuple[float, FloatArray]
        self._forget()

    def result(self, start: Start | None) -> Result:
        """Take Newton steps until the gap is proven small."""
        with self.until_it_ends():
            self._begin(start)
            if self._is_small():
                self._at_once()
            else:
                self._step_by_step()
        (primal, w, b), (dual, alpha) = self.best, self.highest
        z = self.z if self.fresh and w is self.w and not self.interrupted else None
        return self.outcome(w, b, self.steps, Bound(primal, dual), alpha=alpha, z=z)

    def _is_small(self) -> bool:
        """Whether the whole run is a matter of milliseconds, and nobody wants to hear of each step."""
        rows, listened_to = self.problem.rows, getattr(self.observer, "needs_point", self.observer is not None)
        return rows.narrow and rows.n * rows.d <= AT_ONCE and not listened_to

    def _at_once(self) -> None:
        """Take all steps in one kernel, or many."""
        problem, method, rows = self.problem, self.method, self.problem.rows
        at = Springs(
            np.append(self.w, self.b),
            self.z,
            self.a,
            self.h,
            self.centre,
            np.array([self.width]),
            best_point=np.empty(rows.d + 1),
            best_alpha=np.empty(rows.n),
            proof=np.empty(2),
        )
        settings: dict[str, Any] = dict(
            l2=problem.penalty.l2,
            intercept=problem.fit_intercept,
            tol=method.tol,
            target=self.tol,
            narrower=NARROWER,
            narrowest=NARROWEST,
            more=MORE,
        )
        while True:
            most = min(method.max_iter - self.steps, max(1, WORK // (rows.n * (rows.d + 8) ** 2)))
            ending = rows.sprung_newton(problem.y, self.c, problem.loss, at, **settings, most=most)
            self._take_over(at, ending)
            if ending.why == "proven":
                raise EndOfRun(words_of(Bound(*at.proof.tolist())))
            if ending.why == "stuck":
                raise no_step_lowers("objective")
            if self.steps >= method.max_iter or (ending.why == "tired" and ending.steps < most):
                return
            self.tell(self.steps, self.w, self.b, self.best[0])

    def _take_over(self, at: Springs, ending: Ending) -> None:
        """Remember what the kernel found."""
        ending.log[:, 1:] /= self.problem.weight_of_loss * self.problem.total_weight
        for step, primal, value, mistakes, best in ending.log.tolist():
            k = self.steps + int(step)
            self.history.add(Record(k, k, primal, value, mistakes, best=best))
        self.steps += ending.steps
        self.best = float(at.proof[0]), at.best_point[:-1].copy(), float(at.best_point[-1])
        self.highest = float(at.proof[1]), at.best_alpha
        self.w, self.b, self.fresh = *self.best[1:], ending.settled

    def _step_by_step(self) -> None:
        """Take one step after the other."""
        method, enough = self.method, self.method.max_iter
        self.z = self.problem.agreements(self.w, self.b)
        while (proof := self._measure()).relative_gap > self.tol:
            if self.proves(proof) and enough == method.max_iter:
                enough = min(enough, self.steps + MORE)
            if self.steps:
                self.tell(self.steps, self.w, self.b, self.best[0])
            if self.steps == enough:
                return
            if not self._step():
                raise no_step_lowers("objective")
        raise EndOfRun(words_of(proof))

    def _begin(self, start: Start | None) -> None:
        """Set the point, and the dual variables' centres as far as they are known."""
        y = self.problem.y
        if self.problem.fit_intercept and not both_classes(y, self.c):  # b alone serves a single class, at no cost
            start = Start(self.w, 2.0 * float(np.sign(self.c @ y)), alpha=self.a)
        start = start or self._from_sample() or self._from_descent()
        if start is None:
            return
        self.w, self.b, self.width = start.w.copy(), start.b, NEARBY
        if start.alpha is not None:
            self.centre = np.clip(start.alpha, 0.0, self.c)

    def _from_descent(self) -> Start | None:
        """Return where passes of dual descent lead, where a Newton step costs as much as many: they find the band."""
        if self.problem.rows.d < MANY:
            return None
        return DualDescent(tol=self.method.tol, max_iter=PASSES).solve(self.problem, seed=self.seed).last

    def _from_sample(self) -> Start | None:
        """Return the optimum on a sample of the examples, roughly; None where there are too few to take one."""
        n = self.problem.rows.n
        large = n >= SHARE * max(2000, 5 * self.problem.rows.d)
        part = sample(self.problem, n // SHARE, self.rng) if large else None
        if part is None:
            return None
        return replace(_Run(Multipliers(tol=1e-2), part, self.seed, None).result(None).last, alpha=None)

    # -- what is known -------------------------------------------------------------------------------------------

    def _forget(self) -> None:
        """Drop what was proven: it rested on sums that have since been computed afresh."""
        self.best = (np.inf, self.w, self.b)
        self.highest = (-np.inf, self.a)
        self.fresh = True

    def _measure(self) -> Bound:
        """Note the point and return what is known of the optimum; springs that hold more than all else give way."""
        proof, inner, outer = self._note()
        while proof.relative_gap > self.tol and inner <= outer and self.width > NARROWEST:
            self.centre, self.width = self.a.copy(), NARROWER * self.width
            proof, inner, outer = self._note()
        if proof.relative_gap <= self.tol and not self.fresh:
            self._refresh()
            return self._measure()
        return proof

    def _refresh(self) -> None:
        """Compute afresh what is otherwise kept up to date by adding to it."""
        problem, y = self.problem, self.problem.y
        self.z = problem.agreements(self.w, self.b)
        sides = [y > 0, y < 0] if problem.fit_intercept else [y != 0]
        self.v = np.array([problem.rows.rmatvec(np.where(side, self.a * y, 0.0)) for side in sides])
        self._forget()

    def _note(self) -> tuple[Bound, float, float]:
        """Set the dual variables at z; return the proof, and how much of this point's gap is the inner problem's."""
        problem, y = self.problem, self.problem.y
        sums = problem.rows.sprung_duals(
            y,
            self.c,
            problem.loss,
            centre=self.centre,
            z=self.z,
            width=self.width,
            split=problem.fit_intercept,
            a=self.a,
            h=self.h,
        )
        value, conjugate, product, mistakes = (float(total) for total in sums[:4])
        self.totals = sums[4:6]
        self.v += sums[6:].reshape(self.v.shape)
        primal = problem.penalty.value(self.w) + value
        scales, v = (1.0, 1.0), self.v[0]
        if problem.fit_intercept:
            scales = class_scales(*self.totals)
            v = scales[0] * self.v[0] + scales[1] * self.v[1]
            conjugate = self._conjugates(scales)
        dual = -problem.penalty.conjugate(v) - conjugate
        if primal < self.best[0]:
            self.best = primal, self.w, self.b
        if dual > self.highest[0]:
            self.highest = dual, self.a * np.where(y > 0, *scales) if problem.fit_intercept else self.a.copy()
        outer = value + float(sums[1]) + product
        scale = problem.weight_of_loss * problem.total_weight
        numbers = primal / scale, value / scale, mistakes / scale
        self.history.add(Record(self.steps, self.steps, *numbers, best=self.best[0] / scale))
        return Bound(self.best[0], self.highest[0]), primal - dual - outer, outer

    def _conjugates(self, scales: tuple[float, float]) -> float:
        """Σ c ℓ*(−a/c) with the classes scaled."""
        problem = self.problem
        C = problem.weight_of_loss
        return C * conjugate_sum(problem.y, problem.sample_weight, problem.loss, -self.a * problem.y / C, *scales)

    # -- how it moves --------------------------------------------------------------------------------------------

    def _step(self) -> bool:
        """Take one Newton step on the inner problem; return whether it led anywhere."""
        problem = self.problem
        l2, d = problem.penalty.l2, problem.rows.d
        gradient = l2 * self.w - self.v.sum(axis=0)
        if problem.fit_intercept:
            gradient = np.append(gradient, self.totals[1] - self.totals[0])
        step = -factored(problem, self.h).solve(gradient)
        dw, db = np.ascontiguousarray(step[:d]), float(step[d]) if problem.fit_intercept else 0.0
        dz = problem.agreements(dw, db)
        t = sprung_line_search(
            self.c,
            problem.loss,
            centre=self.centre,
            z=self.z,
            dz=dz,
            width=self.width,
            first=float(gradient @ step),
            linear=l2 * float(self.w @ dw),
            quadratic=l2 * float(dw @ dw),
            accuracy=0.1,
        )
        self.steps += 1
        if t == 0.0:
            return False
        self.w, self.b, self.z, self.fresh = self.w + t * dw, self.b + t * db, self.z + t * dz, False
        return True
