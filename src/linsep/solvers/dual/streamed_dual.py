"""Dual coordinate descent on examples in parts, for many features, to a proven duality gap.

Each block in turn is read with its dual variables, which take a few passes of `dual_descent` there while the weights
w = Σ αᵢ yᵢ xᵢ stay in memory, and goes back to the disk (Yu, Hsieh, Chang and Lin 2010, *Large linear classification
when data cannot fit in memory*). Every so often a pass without steps adds up what is proven.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...objective.duality import Bound, class_scales
from ...objective.parted import Block, PartedProblem
from ...objective.problem import Problem
from .._checks import check_count
from ..result import Result
from ..streamed import FloatArray, StreamedRun, Told, Vector, Workspace, sample_problem
from .descent import DualDescent

__all__ = ["StreamedDual"]

#: Passes over a block while it is in memory.
INNER = 3
#: How loose the intercept's spring is at first, and by what Σ αᵢ yᵢ is to fall in a pass for it to stay so.
LOOSE, FALLS = 2.0, 0.7


@dataclass(frozen=True)
class StreamedDual:
    """Dual coordinate descent, for losses that have a `dual_step` and an L2 penalty.

    Parameters
    ----------
    tol : float
        The relative duality gap at which to stop.
    max_iter : int
        Passes over all blocks at the most.
    """

    tol: float = 1e-4
    max_iter: int = 2000
    name = "streamed_dual"

    def __post_init__(self) -> None:
        check_count("max_iter", self.max_iter)

    def solve(
        self, problem: PartedProblem, workspace: Workspace, *, sample: Block | None = None, told: Told | None = None
    ) -> tuple[Result, Vector | None]:
        """Minimise; return also the dual variables behind the proof. A sample gives the intercept to begin with."""
        if problem.penalty.l1 > 0 or problem.penalty.l2 == 0:
            raise ValueError(f"solver {self.name!r} needs the penalty ½‖w‖² alone, not {problem.penalty.formula!r}")
        run = _Run(self, problem, workspace, told)
        return run.result(sample), None if problem.loss.smooth else run.alpha


class _Run(StreamedRun):
    """One run: the weights in memory, the dual variables (over l2) on the disk."""

    def __init__(self, method: StreamedDual, problem: PartedProblem, workspace: Workspace, told: Told | None) -> None:
        super().__init__(method, workspace, told)
        self.problem = problem
        self.alpha = workspace.vector("duals")
        self.w, self.b = np.zeros(problem.rows.d), np.zeros(1)
        # b is on a spring: b = b̄ + constant · Σ αᵢ yᵢ. A stiff one would make every block balance by itself, against
        # the others; a loose one lets b be wrong for long. It begins loose, and is tightened as need be.
        self.largest = problem.weighted_squares / problem.total_weight if problem.fit_intercept else 0.0
        self.constant = LOOSE * self.largest / problem.rows.n
        self.balance, self.before = 0.0, np.inf  # Σ αᵢ yᵢ, and what it was a pass ago
        self.estimate, self.primal = np.inf, np.inf

    def result(self, sample: Block | None) -> Result:
        """Make passes until the gap is proven small."""
        method = self.method
        proof, measured = None, 0
        with self.until_it_ends():
            self._start(sample)
            while self.passes < method.max_iter:
                self._pass()
                self.workspace.keep({"b": float(self.b[0]), "passes": self.passes})
                hopeful = proof is not None and self.estimate <= method.tol * proof.primal
                if hopeful or self.passes >= max(measured + 1, int(1.5 * measured)):
                    measured, proof = self.passes, self._measure()
                    self.end_if_proven(proof)
                else:
                    self.tell_pass(np.inf if proof is None else proof.relative_gap)
        if proof is None or self.interrupted:  # the plane has moved on since the last one
            proof = self._measure()
        return self.outcome(self.w, float(self.b[0]), self.passes, proof)

    def _start(self, sample: Block | None) -> None:
        kept = self.workspace.state
        if kept is not None:
            self.b[0], self.passes = float(kept["b"]), int(kept["passes"])
            self._add_up()
            return
        part = None if sample is None else sample_problem(self.problem, sample)
        if part is not None and self.problem.fit_intercept:
            self.b[0] = DualDescent(tol=1e-2, max_iter=50).solve(part).b

    def _c(self, problem: Problem) -> FloatArray:
        """What bounds α: C s/l2."""
        s = np.ones(problem.rows.n) if problem.sample_weight is None else problem.sample_weight
        return problem.C / problem.penalty.l2 * s

    def _add_up(self) -> None:
        """Set w and Σ αᵢ yᵢ from the dual variables on the disk, whatever these are."""
        self.w[:], self.balance = 0.0, 0.0
        for part in self.problem:
            one = part.problem
            signed = np.clip(self.alpha.read(part.which), 0.0, self._c(one)) * one.y
            self.w += one.rows.rmatvec(signed)
            self.balance += float(signed.sum())

    def _pass(self) -> None:
        """Visit every block once, and each of its examples a few times."""
        self.passes += 1
        if self.problem.fit_intercept:  # let b̄ follow b
            self._tighten()
            self.b += self.constant * self.balance
        estimate = 0.0
        for k, part in enumerate(self.problem):
            one, c = part.problem, self._c(part.problem)
            alpha = np.clip(self.alpha.read(part.which), 0.0, c)
            before = float(alpha @ one.y)
            order = np.flatnonzero(c).astype(np.int32)
            active, slopes = len(order), np.array([-np.inf, np.inf, 0.0])
            for inner in range(INNER):
                active = one.rows.dual_pass(
                    one.y,
                    c,
                    one.loss,
                    constant=self.constant,
                    b=self.b,
                    order=order,
                    active=active,
                    seed=(self.passes * 7919 + k) * INNER + inner,
                    alpha=alpha,
                    w=self.w,
                    slopes=slopes,
                )
                if inner == 0:
                    estimate += float(slopes[2])
                low, high = slopes[:2]
                slopes[:2] = low if low < 0 else -np.inf, high if high > 0 else np.inf
                if active == 0:
                    break
            self.alpha.write(part.which, alpha)
            self.balance += float(alpha @ one.y) - before
        self.estimate = self.problem.penalty.l2 * estimate

    def _tighten(self) -> None:
        """Make the spring stiffer where Σ αᵢ yᵢ costs too much and does not fall by itself, else looser."""
        now, l2 = abs(self.balance), self.problem.penalty.l2
        costs = l2 * now * (1.0 + abs(float(self.b[0]))) > 0.2 * self.method.tol * self.primal
        factor = 2.0 if costs and now > FALLS * self.before else 0.8
        self.constant = min(factor * self.constant, self.largest)
        self.before = now

    def _measure(self) -> Bound:
        """Return what is proven at this point: P(w, b) and D(α), the classes made to balance."""
        if self.problem.loss.smooth:  # α follows from the plane, and needs no room in a file
            point = self.problem.evaluate(self.w, float(self.b[0]))
            proof, value, mistakes = point.bound, point.value, point.mistakes
            if proof.relative_gap <= self.method.tol:
                proof = point.exact_bound()
        else:
            proof, value, mistakes = self._measure_duals()
        self.primal = min(self.primal, proof.primal)
        self.record_pass(self.problem, proof.primal, value, mistakes)
        self.tell_pass(proof.relative_gap)
        return proof

    def _measure_duals(self) -> tuple[Bound, float, float]:
        problem, l2 = self.problem, self.problem.penalty.l2
        v, totals, conjugates = np.zeros((2, problem.rows.d)), np.zeros(2), np.zeros(2)
        value = mistakes = 0.0
        for part in problem:
            one, c = part.problem, self._c(part.problem)
            sums = one.evaluate(self.w, float(self.b[0]), gradient=False).sums
            value, mistakes = value + sums.value, mistakes + sums.mistakes
            alpha = np.clip(self.alpha.read(part.which), 0.0, c)
            a = np.divide(alpha, c, out=np.zeros_like(c), where=c > 0)
            shares = l2 * c * one.loss.conjugate(-a)
            for side, of_class in enumerate((one.y > 0, one.y < 0)):
                v[side] += one.rows.rmatvec(np.where(of_class, l2 * alpha * one.y, 0.0))
                totals[side] += l2 * float(alpha[of_class].sum())
                conjugates[side] += float(shares[of_class].sum())
        scales = np.array(class_scales(*totals.tolist())) if problem.fit_intercept else np.ones(2)
        # A class scaled by p ≤ 1 adds no more than p times its own: ℓ* is convex and ℓ*(0) = 0.
        dual = -problem.penalty.conjugate(scales @ v) - float(scales @ conjugates)
        return Bound(problem.penalty.value(self.w) + problem.weight_of_loss * value, dual), value, mistakes
