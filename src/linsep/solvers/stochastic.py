"""Stochastic (sub)gradient descent: one example a step, and the perceptron, which is the same with η = 1."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import schedules, stopping
from .._core import length, threads
from ..exact import Clock
from ..history import History, Record
from ..problem import MeanObjective, Problem
from ..schedules import Constant, InverseSqrt, InverseTime, Schedule
from ..separability import ProofTimeoutError, Separability, decided
from ..stopping import NoMistakes, NoProgress, Progress, Rule
from . import visits
from ._checks import check_choice, check_count, check_slope
from .result import STOPPED_BY_OBSERVER, STOPPED_BY_PROOF, Result, Start, Votes
from .step_watch import StepWatch

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Observer = Callable[[int, FloatArray, float], bool]
Stopping = str | Rule | Iterable[str | Rule] | None

__all__ = ["LARGE", "PerceptronRule", "Prover", "StochasticDescent", "stream"]

#: From this many stored numbers on, measuring a point costs about as much as a pass: it is done in a second thread
#: while the next pass runs, and after the first passes ever more rarely (1, 2, 3, 4, 6, 9, 13, 19, …).
LARGE = 200_000
#: The search for a proof of overlap may cost about as much as the passes before it: this much for each, in elementary
#: operations, and for each stored number of each. Less than `LEAST_WORK` would be of no use, more than `MOST_WORK`
#: takes some ten seconds.
PASS_WORK, NUMBER_WORK, LEAST_WORK, MOST_WORK = 5e5, 2.0, 1e7, 1e10
#: Passes without fewer mistakes after which a run that is proven never to end is ended; at once if keep="last".
SETTLED = 50
#: A kernel call does at most about this much work, so that Ctrl-C is heard.
WORK_PER_CALL = 50_000_000


@dataclass(frozen=True)
class StochasticDescent:
    """One random example a step: θ ← θ − η_k ∇(ℓ(zᵢ) + λ penalty).

    Parameters
    ----------
    schedule : Schedule, str, float or None
        The step sizes. None: η/(1 + η λ k) with η = 1/R² where there is a penalty, else 1/(R² √(k + 1)); R is the root
        mean square length of the (augmented) examples.
    stopping : rule, str, list of these, or None
        When to stop before `max_iter`; asked after every pass (of large data, after ever more passes).
    keep : {"best", "last", "average"}
        Which iterate is reported: of those measured the one with the lowest objective, the current one, or the mean of
        all of them.
    order : {"random", "cyclic", "worst"}
        Draw examples at random, take them as they come, or take the one with the lowest agreement each time.
    max_iter : int
        Passes over the data at the most (for ``order="worst"``, steps).
    record : {"pass", "update"}
        ``"update"`` measures and stores every single update, the example that caused it included.

    Examples
    --------
    >>> from linsep import LinearClassifier
    >>> model = LinearClassifier("logistic", solver=StochasticDescent("inverse_sqrt"), random_state=0)
    >>> model.fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]).predict([[0.5], [3.5]])
    array([0, 1])
    """

    schedule: str | float | Schedule | None = None
    stopping: Stopping = NoProgress()  # noqa: RUF009 (a frozen record)
    keep: str = "best"
    order: str = "random"
    max_iter: int = 1000
    record: str = "pass"
    name = "sgd"
    keeps: ClassVar[tuple[str, ...]] = ("best", "last", "average")
    has_free_steps = True  # whether there is a step size to give advice on

    def __post_init__(self) -> None:
        check_choice("keep", self.keep, self.keeps)
        check_choice("order", self.order, ("random", "cyclic", "worst"))
        check_choice("record", self.record, ("pass", "update"))
        check_count("max_iter", self.max_iter)

    def solve(
        self, problem: Problem, *, start: Start | None = None, seed: int = 0, observer: Observer | None = None
    ) -> Result:
        """Minimise, drawing examples by `seed`."""
        check_slope(problem.loss, self.name)
        walk = _Walk(self, problem, start or Start(np.zeros(problem.rows.d)), seed)
        walk.stop_requested = getattr(observer, "stop_requested", walk.stop_requested)
        return _Run(walk, observer).result()

    def is_better(self, new: Evaluation, old: Evaluation) -> bool:
        """Whether to keep the new point instead of the old."""
        return new.objective < old.objective

    def prover(self, problem: Problem) -> Prover | None:
        """Return what looks for a proof that the run cannot end by itself; None where nothing does."""
        return None


class Prover:
    """Works towards a proof that no plane separates the examples, while a run goes on.

    After 1, 2, 4, 8, … passes it searches with about as much work as these passes were, beginning with the rows that
    moved the plane most often. Work is counted, not timed: what is found does not depend on the machine.
    """

    def __init__(self, problem: Problem, settled: float = 0.0) -> None:
        self.problem, self.settled = problem, settled
        self.fewest, self.since, self.next = np.inf, 0.0, 1.0
        self.found: Separability | None = None
        self.spent = 0.0

    def excludes(self, passes: float, zero_one: float, counts: IntArray) -> bool:
        """Whether it is proven that no plane separates, and the fewest mistakes have stood for `settled` passes."""
        if zero_one < self.fewest:
            self.fewest, self.since = zero_one, passes
        if self.found is None and passes >= self.next:
            self.next = 2.0 * passes
            work = passes * (PASS_WORK + NUMBER_WORK * self.problem.rows.stored)
            if work >= max(LEAST_WORK, self.spent):
                self.ask(min(work, MOST_WORK), -counts.astype(np.float64))
        overlap = self.found is not None and not self.found.separable
        return overlap and passes - self.since >= self.settled

    def ask(self, work: float = MOST_WORK, ranking: FloatArray | None = None) -> Separability | None:
        """Return what that much work proves, or None where it does not suffice."""
        self.spent = work
        problem, weight = self.problem, self.problem.sample_weight
        kept = np.arange(problem.rows.n) if weight is None else np.flatnonzero(weight)
        everyone = len(kept) == problem.rows.n
        X, y = problem.rows.X if everyone else problem.rows.X[kept], problem.y[kept]
        if abs(y.sum()) == len(y):  # one class
            return None
        if ranking is not None:
            ranking = ranking[kept]
        try:
            clock = Clock(None, work)
            found = decided(X, y, fit_intercept=problem.fit_intercept, clock=clock, ranking=ranking)
        except ProofTimeoutError:
            return None
        self.found = found.in_rows(kept.tolist())
        return self.found


@dataclass(frozen=True)
class PerceptronRule(StochasticDescent):
    """The perceptron: on a mistake (z ≤ 0) add y x to w, until there are none.

    It is stochastic descent with η = 1; ``keep="best"`` is the pocket algorithm (fewest mistakes at the end of a pass),
    ``"average"`` the averaged perceptron, and ``"vote"`` keeps every plane for the voted one.

    Parameters
    ----------
    prove : bool
        Whether to work towards a proof that no plane separates, as much as on the passes themselves, and to stop with
        it: at once for ``keep="last"``, else once the fewest mistakes have stood for `SETTLED` passes.
    """

    schedule: str | float | Schedule | None = Constant(1.0)  # noqa: RUF009 (a frozen record)
    stopping: Stopping = NoMistakes()  # noqa: RUF009 (a frozen record)
    prove: bool = False
    name = "perceptron"
    keeps: ClassVar[tuple[str, ...]] = ("best", "last", "average", "vote")
    has_free_steps = False

    def is_better(self, new: Evaluation, old: Evaluation) -> bool:
        """Fewer mistakes, or as many and a lower risk."""
        return (new.zero_one, new.objective) < (old.zero_one, old.objective)

    def prover(self, problem: Problem) -> Prover | None:
        """Return what looks for a proof."""
        return Prover(problem, 0.0 if self.keep == "last" else SETTLED) if self.prove else None


@dataclass(frozen=True)
class Iterate:
    """The point after some steps, and which examples moved it, at which steps, since the last one."""

    w: FloatArray
    b: float
    step: int
    iteration: int
    passes: float
    moved_by: IntArray
    moved_at: IntArray
    sum_w: FloatArray | None
    sum_b: float
    sum_from: int

    def as_start(self) -> Start:
        """Return the point as one to go on from."""
        return Start(self.w, self.b, self.step, self.sum_w, self.sum_b, self.sum_from)


@dataclass(frozen=True)
class Evaluation:
    """What is measured of an iterate, on all examples."""

    theta: FloatArray
    objective: float
    risk: float
    zero_one: float
    gradient: FloatArray


class _Walk:
    """The steps of one run: a sequence of iterates that nobody has measured yet."""

    def __init__(self, method: StochasticDescent, problem: Problem, start: Start, seed: int) -> None:
        self.method, self.problem, self.start, self.seed = method, problem, start, seed
        self.schedule = automatic_schedule(problem) if method.schedule is None else schedules.get(method.schedule)
        self.by_update = method.record == "update" or method.order == "worst"
        self.w, self.b = start.w.copy(), np.array([start.b])
        self.step, self.factor = start.step, self._factor()
        self.stop_requested: Callable[[], bool] = lambda: False
        averaging = method.keep in ("average", "vote")
        self.sum_from = start.step if start.sum_w is None else start.sum_from
        self.sum_w = (np.zeros_like(self.w) if start.sum_w is None else start.sum_w.copy()) if averaging else None
        self.sum_b = np.array([start.sum_b]) if averaging else None

    def _factor(self) -> FloatArray | None:
        """Return what multiplies each example's step: its weight, unless examples are drawn by their weight already."""
        if self.problem.sample_weight is None or self.method.order != "cyclic":
            return None
        visited = np.count_nonzero(self.problem.sample_weight)
        return self.problem.sample_weight * (visited / self.problem.total_weight)

    def iterates(self) -> Iterator[Iterate]:
        """Yield the point after every pass, or after every update if these are recorded."""
        if self.method.order == "worst":
            return islice(self._worst_first(), self.method.max_iter)
        return self._update_by_update() if self.by_update else self._pass_by_pass()

    def is_measured(self, done: int) -> bool:
        """Whether the point after so many passes is looked at."""
        if self.problem.rows.stored < LARGE or done == self.method.max_iter or self.stop_requested():
            return True
        measured = 1
        while measured < done:
            measured += max(1, measured // 2)
        return measured == done

    def _passes(self) -> Iterator[tuple[int, IntArray]]:
        cyclic = self.method.order == "cyclic"
        orders = visits.cyclic(self.problem) if cyclic else visits.random(self.problem, self.seed)
        return zip(range(1, self.method.max_iter + 1), orders, strict=False)

    def _pass_by_pass(self) -> Iterator[Iterate]:
        size = max(1, int(WORK_PER_CALL // max(1.0, self.problem.rows.stored / self.problem.rows.n)))
        moves: list[tuple[IntArray, IntArray]] = []
        for done, order in self._passes():
            moves += [self._advance(order[first : first + size]) for first in range(0, len(order), size)]
            if self.is_measured(done):
                by, at = (np.concatenate(parts) for parts in zip(*moves, strict=True))
                yield self._now(done, done, by, at)
                moves = []

    def _update_by_update(self) -> Iterator[Iterate]:
        for done, order in self._passes():
            for k in range(len(order)):
                by, at = self._advance(order[k : k + 1])
                if len(by) or k == len(order) - 1:
                    yield self._now(done, done - 1 + (k + 1) / len(order), by, at)

    def _worst_first(self) -> Iterator[Iterate]:
        pick, self.factor = visits.worst(self.problem)
        while True:
            by, at = self._advance(pick(self.problem.agreements(self.w, float(self.b[0]))))
            taken = self.step - self.start.step
            yield self._now(taken, taken / self.problem.rows.n, by, at)

    def _advance(self, order: IntArray) -> tuple[IntArray, IntArray]:
        """Take a step for each of these examples; return those that moved the point, and when."""
        problem, strength = self.problem, self.problem.strength
        eta = np.asarray(self.schedule(self.step + np.arange(len(order), dtype=np.float64)), dtype=np.float64)
        moved = problem.rows.stochastic_steps(
            problem.y,
            self.factor,
            order,
            np.ascontiguousarray(np.broadcast_to(eta, order.shape)),
            problem.loss,
            l2=strength * problem.penalty.l2,
            l1=strength * problem.penalty.l1,
            intercept=problem.fit_intercept,
            w=self.w,
            b=self.b,
            sum_w=self.sum_w,
            sum_b=self.sum_b,
        )
        at = self.step + moved
        self.step += len(order)
        return order[moved], at

    def _now(self, iteration: int, passes: float, by: IntArray, at: IntArray) -> Iterate:
        sum_w = None if self.sum_w is None else self.sum_w.copy()
        sum_b = 0.0 if self.sum_b is None else float(self.sum_b[0])
        point = self.w.copy(), float(self.b[0]), self.step
        return Iterate(*point, iteration, passes, by, at, sum_w, sum_b, self.sum_from)


class _Run:
    """A walk that is measured: what it met, what was best, and when to stop."""

    def __init__(self, walk: _Walk, observer: Observer | None) -> None:
        self.walk, self.method, self.problem, self.observer = walk, walk.method, walk.problem, observer
        self.function, self.history = MeanObjective(walk.problem), History()
        smooth = walk.problem.loss.smooth
        self.watch = StepWatch(walk.schedule, stable_step(walk.problem), smooth)
        rules = stopping.without_gap(stopping.get(walk.method.stopping), walk.method.name)
        self.watchers = [(rule, rule.begin()) for rule in rules]
        self.prover = walk.method.prover(walk.problem)
        self.counts = np.zeros(walk.problem.rows.n, dtype=np.int64)
        self.moves: list[tuple[IntArray, IntArray]] = []
        none = np.empty(0, dtype=np.int64)
        start = walk.start
        sums = start.sum_w, start.sum_b, walk.sum_from
        self.current = Iterate(start.w, start.b, start.step, 0, 0.0, none, none, *sums)
        self.seen = self.evaluate(self.current)
        # The start is not an answer: w = 0 minimises the perceptron risk.
        self.best: Evaluation | None = None
        self.best_iterate = self.current
        self.watch.begin(self.seen.objective, start.step)
        self._record()

    def result(self) -> Result:
        """Walk until there is a reason to stop."""
        converged, message, advice = False, f"stopped after max_iter={self.method.max_iter}", ""
        interrupted = False
        overlap = self.problem.rows.stored >= LARGE and not self.walk.by_update and threads() > 1
        try:
            for iterate, seen in evaluated(self.walk.iterates(), self.evaluate, overlap):
                if self.watch.blown_up(seen.objective) or not np.isfinite(seen.theta).all():
                    message, advice = "diverged", self._advice(self.watch.after_blow_up())
                    break
                if (verdict := self._take(iterate, seen)) is not None:
                    converged, message, advice = verdict
                    break
            else:
                advice = self._advice(self.watch.advice(self.current.step))
        except KeyboardInterrupt:
            interrupted, message = True, "interrupted"
        w, b = self._reported()
        return Result(
            w,
            b,
            self.current.iteration,
            converged,
            message,
            self.history,
            self.current.as_start(),
            advice,
            interrupted,
            int(self.counts.sum()),
            self.counts,
            self._votes() if self.method.keep == "vote" else None,
            separability=None if self.prover is None else self.prover.found,
        )

    def _advice(self, words: str) -> str:
        return words if self.method.has_free_steps else ""

    def _take(self, iterate: Iterate, seen: Evaluation) -> tuple[bool, str, str] | None:
        """Note a new point; if there is a reason to stop, return whether it converged, why, and any advice."""
        previous, self.current, self.seen = self.seen, iterate, seen
        self.counts += np.bincount(iterate.moved_by, minlength=self.problem.rows.n)
        if self.method.keep == "vote":
            self.moves.append((iterate.moved_by, iterate.moved_at))
        if self.best is None or self.method.is_better(seen, self.best):
            self.best, self.best_iterate = seen, iterate
        self._record()
        self.watch.see(iterate.step, seen.theta, seen.gradient, seen.objective)
        norm = length(seen.gradient)
        progress = Progress(iterate.iteration, seen.theta, previous.theta, seen.objective, norm, seen.zero_one)
        if (rule := stopping.fired(self.watchers, progress)) is not None:
            advice = self._advice(self.watch.advice(iterate.step)) if rule.needs_good_steps else ""
            return rule.converged and not advice, f"stopped by {rule}", advice
        if self.observer is not None and self.observer(iterate.iteration, seen.theta, seen.objective):
            return False, STOPPED_BY_OBSERVER, ""
        if self.prover is not None and self.prover.excludes(iterate.passes, seen.zero_one, self.counts):
            return False, STOPPED_BY_PROOF, ""
        return None

    def evaluate(self, iterate: Iterate) -> Evaluation:
        """Measure a point on all examples."""
        f = self.function
        with np.errstate(over="ignore", invalid="ignore"):
            theta = f.join(iterate.w, iterate.b)
            return Evaluation(theta, f.value(theta), f.risk(theta), f.zero_one(theta), f.gradient(theta))

    def _reported(self) -> tuple[FloatArray, float]:
        """Return the point the user gets."""
        if self.method.keep == "best":
            return self.best_iterate.w, self.best_iterate.b
        return mean_or_current(self.current)

    def _votes(self) -> Votes:
        nothing = np.empty(0, dtype=np.int64)
        examples = np.concatenate([nothing, *(by for by, _ in self.moves)])
        moments = np.concatenate([nothing, *(at for _, at in self.moves)])
        signs = self.problem.y[examples]
        if self.walk.factor is not None:
            signs = signs * self.walk.factor[examples]
        return Votes(examples, signs, np.diff(moments, append=self.current.step))

    def _record(self) -> None:
        iterate, seen, by_update = self.current, self.seen, self.walk.by_update
        self.history.add(
            Record(
                step=iterate.step,
                passes=iterate.passes,
                objective=seen.objective,
                risk=seen.risk,
                zero_one=seen.zero_one,
                gradient_norm=length(seen.gradient),
                step_size=float(self.walk.schedule(max(0, iterate.step - 1))),
                best=np.nan if self.best is None else self.best.objective,
                example=int(iterate.moved_by[-1]) if by_update and len(iterate.moved_by) else -1,
                iterate=seen.theta if by_update else None,
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


def mean_or_current(iterate: Iterate) -> tuple[FloatArray, float]:
    """Return the mean of the iterates, where they were summed, else the iterate itself."""
    steps = iterate.step - iterate.sum_from
    if iterate.sum_w is None or steps == 0:
        return iterate.w, iterate.b
    return iterate.sum_w / steps, iterate.sum_b / steps


def stable_step(problem: Problem) -> float:
    """Return a step at which one example does not overshoot its own minimum."""
    curvature = problem.loss.max_curvature if problem.loss.smooth else 1.0
    return 1.0 / (curvature * problem.mean_square_length)


def automatic_schedule(problem: Problem) -> Schedule:
    """Return steps that suit one example at a time: see `StochasticDescent`."""
    eta = 1.0 / problem.mean_square_length
    decay = min(eta * problem.strength * problem.penalty.l2, 1e300)  # weights close to nothing must not overflow
    return InverseTime(eta, decay) if decay > 0 else InverseSqrt(eta)


def stream(method: StochasticDescent, problem: Problem, start: Start, seed: int) -> Result:
    """Take one pass over a batch of an endless stream, without measuring: what is reported is the current point."""
    check_slope(problem.loss, method.name)
    walk = _Walk(replace(method, max_iter=1, record="pass"), problem, start, seed)
    iterate = next(walk.iterates())
    w, b = mean_or_current(iterate)
    counts = np.bincount(iterate.moved_by, minlength=problem.rows.n)
    report = "one pass over a batch"
    return Result(w, b, 1, False, report, History(), iterate.as_start(), "", False, int(counts.sum()), counts)
