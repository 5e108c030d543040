"""What every run accounts for: what it remembers, who may end it, and why it ended.

A solver's own class is a run with the algorithm added. Its steps stand in ``with self.until_it_ends():``; from however
deep inside, ``raise EndOfRun(why)`` leads out of there, and so does Ctrl-C. What follows reports the best point so far.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from .. import stopping
from .._common.checks import check_count
from .._common.types import FloatArray
from .._core import WORTH_A_THREAD
from .._core.blas import one_blas_thread
from ..history import History, Record
from ..objective.duality import Bound
from ..objective.objective import Objective
from ..objective.points import Point
from ..stopping import Progress, Rule
from .contract import check_needs
from .first_order.step_watch import StepWatch
from .result import STOPPED_BY_OBSERVER, Observer, Result, Start
from .workspace import Workspace

#: How the message ends of a run that could go on for ever without getting any further.
AS_EXACT_AS_CAN_BE = "this is as exact as the arithmetic allows"


class EndOfRun(Exception):  # noqa: N818 - not an error
    """A reason to end a run, in words; whether that is a success, and what to change where the steps were wrong."""

    def __init__(self, message: str, converged: bool = False, advice: str = "") -> None:
        super().__init__(message)
        self.message, self.converged, self.advice = message, converged, advice


def no_step_lowers(what: str) -> EndOfRun:
    """Return the reason to end where the arithmetic allows no better point."""
    return EndOfRun(f"no step lowers the {what} any more: {AS_EXACT_AS_CAN_BE}")


def words_of(proof: Bound) -> str:
    """Return the message of a run that ends with a proof."""
    return f"the duality gap is {proof.relative_gap:.1e}"


class Run:
    """One run: its history, its observer, and how it ended.

    Parameters
    ----------
    message : str
        Why it ended, unless it ends for another reason.
    observer : callable or None
        Hears of steps, and may end the run.

    Examples
    --------
    >>> run = Run("stopped after 5 steps", observer=lambda k, theta, objective: k == 3)
    >>> with run.until_it_ends():
    ...     for k in range(5):
    ...         run.tell(k, np.ones(2), 0.0, objective=1 / (k + 1))
    >>> k, run.message, run.interrupted
    (3, 'stopped by a callback', False)
    """

    def __init__(self, message: str = "", observer: Observer | None = None) -> None:
        self.history, self.observer = History(), observer
        self.message, self.converged, self.advice, self.interrupted = message, False, "", False

    @contextmanager
    def until_it_ends(self) -> Iterator[None]:
        """Surround the steps: reasons to end lead out of here, and are remembered."""
        try:
            yield
        except EndOfRun as reason:
            self.message, self.converged, self.advice = reason.message, reason.converged, reason.advice
        except KeyboardInterrupt:
            self.interrupted, self.message = True, "interrupted"

    def tell(
        self,
        k: int,
        w: FloatArray,
        b: Any,
        objective: float,
        join: Callable[[FloatArray, Any], FloatArray] = np.append,
    ) -> None:
        """Let the observer hear of a point, joined into one array: it may end the run."""
        if self.observer is not None:
            self.let_hear(k, join(w, b), objective)

    def let_hear(self, k: int, theta: FloatArray, objective: float) -> None:
        """Let the observer hear of a point: it may end the run."""
        if self.observer is not None and self.observer(k, theta, objective):
            raise EndOfRun(STOPPED_BY_OBSERVER)


class Method(Protocol):
    """A method that stops at a gap."""

    @property
    def tol(self) -> float:
        """The relative duality gap at which to stop."""
        ...

    @property
    def max_iter(self) -> int:
        """Iterations at the most."""
        ...


#: Up to so many features two threads factor a Hessian hardly sooner than one.
SMALL_FACTOR = 512


def _passes_take_all_threads(objective: Objective) -> bool:
    """Whether passes over the rows have use for all threads, and small factors in between had better leave them alone.

    The threads of a BLAS go on spinning after each product (w8a, logistic: 47 ms with them, 34 without).
    """
    rows = objective.examples.resident
    return rows is not None and rows.is_sparse and rows.d <= SMALL_FACTOR and rows.stored >= WORTH_A_THREAD


@dataclass(frozen=True)
class GapSolver(ABC):
    """A solver that stops at a gap, `tol`, or after `max_iter` iterations; examples may be in memory or in blocks."""

    tol: float = 1e-4
    max_iter: int = 100
    name: ClassVar[str]

    def __post_init__(self) -> None:
        check_count("max_iter", self.max_iter)

    def solve(
        self,
        objective: Objective,
        *,
        start: Start | None = None,
        seed: int = 0,
        observer: Observer | None = None,
        workspace: Workspace | None = None,
    ) -> Result:
        """Minimise; a workspace with a state goes on from there."""
        check_needs(self, objective)
        with one_blas_thread() if _passes_take_all_threads(objective) else nullcontext():
            result: Result = self._run(objective, seed, observer, workspace).result(start)
        return result

    @abstractmethod
    def _run(self, objective: Objective, *told: Any) -> Any:
        """Return a run that is told a seed, an observer and a workspace."""


class GapRun(Run):
    """A run that ends once the gap is proven to be `tol` or less.

    Where the examples are elsewhere than in memory, passes are counted, and the workspace hears of each.
    """

    def __init__(self, method: Method, observer: Observer | None = None, workspace: Workspace | None = None) -> None:
        super().__init__(f"stopped after max_iter={method.max_iter}", observer)
        self.method, self.workspace, self.passes = method, workspace, 0

    def count_pass(self, gap: float) -> None:
        """Count a pass, and tell of it and of the gap that is proven."""
        self.passes += 1
        if self.workspace is not None:
            self.workspace.passed(self.passes, gap)

    def last_proof(self, point: Point) -> Bound:
        """Return what is proven of the last point; whoever has interrupted the run and is in a hurry does so again."""
        hurried = self.interrupted
        with self.until_it_ends():
            return point.exact_bound()
        return Bound(point.objective, 0.0) if hurried else self.last_proof(point)  # losses are not negative

    def proves(self, proof: Bound) -> bool:
        """Whether that is good enough."""
        return proof.relative_gap <= self.method.tol

    def end_if_proven(self, proof: Bound) -> None:
        """End the run if that is good enough."""
        if self.proves(proof):
            raise EndOfRun(words_of(proof))

    def end_if_exhausted(self, k: int) -> None:
        """End the run if that was the last iteration; needless where these are counted by a loop."""
        if k >= self.method.max_iter:
            raise EndOfRun(self.message)

    def record(self, k: int, point: Point, gradient_norm: float = np.nan) -> None:
        """Remember a point of a method that only ever goes down: it is the best so far."""
        value = point.mean_objective
        self.history.add(Record(k, k, value, point.risk, point.zero_one, gradient_norm, best=value))

    def outcome(
        self,
        w: FloatArray,
        b: Any,
        k: int,
        proof: Bound | None,
        *,
        converged: bool | None = None,
        alpha: Any = None,
        z: FloatArray | None = None,
    ) -> Result:
        """Return what is reported: a point after k iterations; unless told, it has converged if that is proven."""
        if converged is None:
            converged = self.converged or (proof is not None and self.proves(proof))
        ended, last = (converged, self.message, self.history), Start(w, b, k, alpha=alpha)
        return Result(w, b, k, *ended, last, interrupted=self.interrupted, proof=proof, alpha=alpha, z=z)


class SteppedRun(Run):
    """A run that steps by a schedule: its step sizes are watched, and its stopping rules may end it.

    Parameters
    ----------
    watch : StepWatch
    rules : list of Rule
    advises : bool
        Whether there is a step size to give advice on.
    """

    steps = "steps"  # what the rules count

    def __init__(
        self, message: str, observer: Observer | None, watch: StepWatch, rules: list[Rule], *, advises: bool = True
    ) -> None:
        super().__init__(message, observer)
        self.watch, self.advises = watch, advises
        self.watchers = [(rule, rule.begin()) for rule in rules]

    def end_if_lost(self, objective: float, finite: bool) -> None:
        """End the run if the point is beyond all bounds."""
        if self.watch.blown_up(objective) or not finite:
            raise EndOfRun("diverged", advice=self.watch.after_blow_up() if self.advises else "")

    def end_if_told(self, step: int, progress: Progress) -> None:
        """End the run if a rule says so, or else the observer."""
        rule = stopping.fired(self.watchers, progress)
        if rule is not None and not self.goes_on_with_shorter_steps():
            advice = self.advice_after(step) if rule.needs_good_steps else ""
            self.history.ended = rule.in_words(self.steps)
            raise EndOfRun(f"stopped by {rule}", rule.converged and not advice, advice)
        self.let_hear(progress.step, progress.theta, progress.objective)

    def goes_on_with_shorter_steps(self) -> bool:
        """Whether a run that a rule would end takes shorter steps instead."""
        return False

    def advice_after(self, step: int) -> str:
        """Say what was wrong with so many steps; empty if nothing was."""
        return self.watch.advice(step) if self.advises else ""
