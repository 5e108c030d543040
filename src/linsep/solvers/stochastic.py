"""Stochastic (sub)gradient descent: one example a step, and the perceptron, which is the same with η = 1."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .. import schedules, stopping
from ..history import History, Record
from ..problem import MeanObjective, Problem
from ..schedules import Constant, InverseSqrt, InverseTime, Schedule
from ..stopping import NoMistakes, Progress, Rule, ZeroOneUnchanged
from . import visits
from .result import Result, Start, Votes
from .step_watch import StepWatch

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Observer = Callable[[int, FloatArray, float], bool]
Stopping = str | Rule | Iterable[str | Rule] | None

__all__ = ["PerceptronRule", "StochasticDescent", "stream"]

#: From this many stored numbers on, an iterate is evaluated in a second thread while the next pass runs.
WORTH_OVERLAPPING = 200_000
#: A kernel call does at most about this much work, so that Ctrl-C is heard.
WORK_PER_CALL = 50_000_000


@dataclass(frozen=True)
class Iterate:
    """The point after some steps, and the examples that moved it there since the last one."""

    w: FloatArray
    b: float
    step: int
    passes: float
    moved_by: IntArray
    moved_at: IntArray
    sum_w: FloatArray | None
    sum_b: float

    def average(self, since: int) -> tuple[FloatArray, float]:
        """Return the mean of all iterates after step `since`."""
        assert self.sum_w is not None
        return self.sum_w / (self.step - since), self.sum_b / (self.step - since)


@dataclass(frozen=True)
class Evaluation:
    """What is measured of an iterate."""

    theta: FloatArray
    objective: float
    risk: float
    zero_one: float
    gradient: FloatArray


@dataclass(frozen=True)
class StochasticDescent:
    """One random example a step: θ ← θ − η_k ∇(ℓ(zᵢ) + λ penalty).

    Parameters
    ----------
    schedule : Schedule, str, float or None
        The step sizes. None: η/(1 + η λ k) with η = 1/R² where there is a penalty, else 1/(R² √(k + 1)); R is the root
        mean square length of the (augmented) examples.
    stopping : rule, str, list of these, or None
        When to stop before `max_iter`; asked after every pass.
    keep : {"best", "last", "average"}
        Which iterate is reported: the one with the lowest objective at the end of a pass, the current one, or the mean
        of all of them.
    order : {"random", "cyclic", "worst"}
        Draw examples at random, take them as they come, or take the one with the lowest agreement each time.
    max_iter : int
        Passes over the data at the most (for ``order="worst"``, steps).
    record : {"pass", "update"}
        ``"update"`` measures and stores every single update, the example that caused it included.
    """

    schedule: str | float | Schedule | None = None
    stopping: Stopping = ZeroOneUnchanged(5)  # noqa: RUF009 (a frozen record)
    keep: str = "best"
    order: str = "random"
    max_iter: int = 1000
    record: str = "pass"
    name = "sgd"

    def solve(
        self, problem: Problem, *, start: Start | None = None, seed: int = 0, observer: Observer | None = None
    ) -> Result:
        """Minimise, drawing examples by `seed`."""
        return _Run(self, problem, start or Start(np.zeros(problem.rows.d)), seed, observer).result()

    def is_better(self, new: Evaluation, old: Evaluation) -> bool:
        """Whether to keep the new point instead of the old."""
        return new.objective < old.objective


@dataclass(frozen=True)
class PerceptronRule(StochasticDescent):
    """The perceptron: on a mistake (z ≤ 0) add y x to w, until there are none.

    It is stochastic descent with η = 1; ``keep="best"`` is the pocket algorithm (fewest mistakes at the end of a pass),
    ``"average"`` the averaged perceptron, and ``"vote"`` keeps every plane for the voted one.
    """

    schedule: str | float | Schedule | None = Constant(1.0)  # noqa: RUF009 (a frozen record)
    stopping: Stopping = NoMistakes()  # noqa: RUF009 (a frozen record)
    name = "perceptron"

    def is_better(self, new: Evaluation, old: Evaluation) -> bool:
        """Fewer mistakes, or as many and a lower risk."""
        return (new.zero_one, new.objective) < (old.zero_one, old.objective)


class _Run:
    """One run of a stochastic method on one problem."""

    def __init__(
        self, method: StochasticDescent, problem: Problem, start: Start, seed: int, observer: Observer | None
    ) -> None:
        self.method, self.problem, self.start, self.seed, self.observer = method, problem, start, seed, observer
        self.function = MeanObjective(problem)
        self.schedule = automatic_schedule(problem) if method.schedule is None else schedules.get(method.schedule)
        self.by_update = method.record == "update" or method.order == "worst"

    def result(self) -> Result:
        method, problem, history = self.method, self.problem, History()
        watch = StepWatch(self.schedule, problem.rows.n, stable_step(problem))
        watchers = [(rule, rule.begin()) for rule in stopping.get(method.stopping)]
        counts = np.zeros(problem.rows.n, dtype=np.int64)
        moves: list[tuple[IntArray, IntArray]] = []
        current = Iterate(
            self.start.w, self.start.b, self.start.step, 0.0, np.empty(0, int), np.empty(0, int), None, 0.0
        )
        seen = best = self.evaluate(current)
        best_point = current
        watch.blown_up(seen.objective)
        self._record(history, current, seen)
        outcome = dict(converged=False, message=f"stopped after max_iter={method.max_iter}", advice="")
        interrupted = False
        try:
            overlap = problem.rows.stored >= WORTH_OVERLAPPING and not self.by_update
            for iterate, new in evaluated(self.iterates(), self.evaluate, overlap):
                if watch.blown_up(new.objective) or not np.isfinite(new.theta).all():
                    outcome |= dict(message="diverged", advice=watch.after_blow_up())
                    break
                previous, current, seen = seen, iterate, new
                counts += np.bincount(iterate.moved_by, minlength=problem.rows.n)
                if method.keep == "vote":
                    moves.append((iterate.moved_by, iterate.moved_at))
                self._record(history, iterate, seen)
                watch.see(seen.theta, seen.gradient)
                if method.is_better(seen, best):
                    best, best_point = seen, iterate
                passes = len(history) if self.by_update else round(iterate.passes)
                norm = float(np.linalg.norm(seen.gradient))
                progress = Progress(passes, seen.theta, previous.theta, norm, seen.zero_one)
                if (rule := stopping.fired(watchers, progress)) is not None:
                    outcome |= dict(converged=rule.converged, message=f"stopped by {rule}")
                    break
                if self.observer is not None and self.observer(passes, seen.theta, seen.objective):
                    outcome |= dict(message="stopped by a callback")
                    break
            else:
                outcome |= dict(advice=watch.after_max_iter(current.step))
        except KeyboardInterrupt:
            interrupted = True
            outcome |= dict(message="interrupted")
        w, b = self._reported(current, best_point)
        last = Start(current.w, current.b, current.step, current.sum_w, current.sum_b)
        n_iter = int(np.ceil(current.passes)) if method.order != "worst" else current.step - self.start.step
        return Result(
            w,
            b,
            n_iter,
            history=history,
            last=last,
            interrupted=interrupted,
            updates=int(counts.sum()),
            update_counts=counts,
            votes=self._votes(moves, current) if method.keep == "vote" else None,
            **outcome,  # type: ignore[arg-type]
        )

    def _reported(self, current: Iterate, best: Iterate) -> tuple[FloatArray, float]:
        """Return the point the user gets."""
        if self.method.keep == "best":
            return best.w, best.b
        if self.method.keep == "last" or current.sum_w is None or current.step == self.start.step:
            return current.w, current.b
        return current.average(0 if self.start.sum_w is not None else self.start.step)

    def _votes(self, moves: list[tuple[IntArray, IntArray]], current: Iterate) -> Votes:
        examples = np.concatenate([by for by, _ in moves] or [np.empty(0, np.int64)])
        moments = np.concatenate([at for _, at in moves] or [np.empty(0, np.int64)])
        signs = self.problem.y[examples]
        if (weight := self._relative_weight()) is not None:
            signs = signs * weight[examples]
        return Votes(examples, signs, np.diff(moments, append=current.step))

    def _relative_weight(self) -> FloatArray | None:
        """Return the factor of each example's step: its weight, unless examples are drawn by their weight already."""
        if self.problem.sample_weight is None or self.method.order == "random":
            return None
        return self.problem.sample_weight * (self.problem.rows.n / self.problem.total_weight)

    def _orders(self) -> Iterator[IntArray]:
        if self.method.order == "cyclic":
            return visits.cyclic(self.problem)
        return visits.random(self.problem, self.seed)

    def iterates(self) -> Iterator[Iterate]:
        """Yield the point after every pass, or after every update if these are recorded."""
        problem, start = self.problem, self.start
        w, b = start.w.copy(), np.array([start.b])
        averaging = self.method.keep in ("average", "vote")
        sum_w = (np.zeros_like(w) if start.sum_w is None else start.sum_w.copy()) if averaging else None
        sum_b = np.array([start.sum_b]) if averaging else None
        penalty, strength, weight = problem.penalty, problem.strength, self._relative_weight()
        step, passes = start.step, 0.0

        def advance(order: IntArray) -> IntArray:
            nonlocal step
            eta = np.broadcast_to(np.asarray(self.schedule(step + np.arange(len(order))), float), order.shape).copy()
            moved = problem.rows.stochastic_steps(
                problem.y,
                weight,
                order,
                eta,
                problem.loss,
                l2=strength * penalty.l2,
                l1=strength * penalty.l1,
                intercept=problem.fit_intercept,
                w=w,
                b=b,
                sum_w=sum_w,
                sum_b=sum_b,
            )
            step += len(order)
            return moved

        def now(by: IntArray, at: IntArray) -> Iterate:
            total = None if sum_w is None else sum_w.copy()
            return Iterate(w.copy(), float(b[0]), step, passes, by, at, total, 0.0 if sum_b is None else float(sum_b[0]))

        if self.method.order == "worst":
            order, _ = visits.canonical(problem)
            for _ in range(self.method.max_iter):
                example = order[[int(np.argmin(problem.agreements(w, float(b[0]))[order]))]]
                moved, at = advance(example), np.array([step - 1])
                passes += 1.0 / problem.rows.n
                yield now(example[: len(moved)], at[: len(moved)])
            return
        per_call = max(1, int(WORK_PER_CALL // max(1.0, problem.rows.stored / problem.rows.n)))
        for done, order in zip(range(self.method.max_iter), self._orders(), strict=False):
            by, at = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
            size = 1 if self.by_update else per_call
            for first in range(0, len(order), size):
                part = order[first : first + size]
                before = step
                moved = advance(part)
                if self.by_update:
                    passes = done + (first + 1) / len(order)
                    if len(moved):
                        yield now(part[moved], before + moved)
                else:
                    by.append(part[moved])
                    at.append(before + moved)
            passes = done + 1.0
            yield now(np.concatenate(by), np.concatenate(at))

    def evaluate(self, iterate: Iterate) -> Evaluation:
        """Measure a point on all examples."""
        f = self.function
        with np.errstate(over="ignore", invalid="ignore"):
            theta = f.join(iterate.w, iterate.b)
            return Evaluation(theta, f.value(theta), f.risk(theta), f.zero_one(theta), f.gradient(theta))

    def _record(self, history: History, iterate: Iterate, seen: Evaluation) -> None:
        history.add(
            Record(
                step=iterate.step,
                passes=iterate.passes,
                objective=seen.objective,
                risk=seen.risk,
                zero_one=seen.zero_one,
                gradient_norm=float(np.linalg.norm(seen.gradient)),
                step_size=float(self.schedule(max(0, iterate.step - 1))),
                example=int(iterate.moved_by[-1]) if self.by_update and len(iterate.moved_by) else -1,
                iterate=seen.theta if self.by_update else None,
            )
        )


def evaluated(
    iterates: Iterator[Iterate], evaluate: Callable[[Iterate], Evaluation], overlap: bool
) -> Iterator[tuple[Iterate, Evaluation]]:
    """Yield every iterate with its evaluation; with `overlap` the next iterate is computed during the evaluation."""
    if not overlap:
        for iterate in iterates:
            yield iterate, evaluate(iterate)
        return
    with ThreadPoolExecutor(1) as helper:
        waiting: tuple[Iterate, Future[Evaluation]] | None = None
        for iterate in iterates:
            if waiting is not None:
                yield waiting[0], waiting[1].result()
            waiting = iterate, helper.submit(evaluate, iterate)
        if waiting is not None:
            yield waiting[0], waiting[1].result()


def mean_square_length(problem: Problem) -> float:
    """R²: the mean of ‖x‖², with the intercept's 1."""
    return problem.mean(problem.rows.squared_norms() + problem.fit_intercept) or 1.0


def stable_step(problem: Problem) -> float:
    """Return a step at which one example does not overshoot its own minimum."""
    curvature = problem.loss.max_curvature if problem.loss.smooth else 1.0
    return 1.0 / (curvature * mean_square_length(problem))


def automatic_schedule(problem: Problem) -> Schedule:
    """Return steps that suit one example at a time: see `StochasticDescent`."""
    eta = 1.0 / mean_square_length(problem)
    decay = eta * problem.strength * problem.penalty.l2
    return InverseTime(eta, decay) if decay > 0 else InverseSqrt(eta)


def stream(method: StochasticDescent, problem: Problem, start: Start, seed: int) -> Result:
    """Take one pass over a batch of an endless stream, without measuring: what is reported is the current point."""
    run = _Run(replace(method, max_iter=1, record="pass"), problem, start, seed, None)
    iterate = next(run.iterates())
    last = Start(iterate.w, iterate.b, iterate.step, iterate.sum_w, iterate.sum_b)
    w, b = iterate.average(0) if iterate.sum_w is not None else (iterate.w, iterate.b)
    counts = np.bincount(iterate.moved_by, minlength=problem.rows.n)
    outcome = dict(converged=False, message="one pass over a batch", history=History())
    return Result(w, b, 1, last=last, updates=int(counts.sum()), update_counts=counts, **outcome)  # type: ignore[arg-type]
