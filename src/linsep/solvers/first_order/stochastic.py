"""Stochastic (sub)gradient descent: one example a step, and the perceptron, which is the same with η = 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np

from ... import stopping
from ..._common.checks import check_choice, check_count
from ..._common.types import FloatArray, IntArray
from ..._core import PACK, helpers, threads, whole_packs
from ...history import History, Record
from ...objective.examples import InMemory
from ...objective.objective import Objective
from ...objective.problem import Measures, measure
from ...schedules import Adaptive, Constant, Schedule
from ...stopping import NoMistakes, NoProgress, Progress
from ..contract import check_needs
from ..result import STOPPED_BY_PROOF, Observer, Result, Start, Votes
from ..run import EndOfRun, SteppedRun
from .gradient_descent import Stopping
from .pocket import best_met
from .prover import Prover
from .step_watch import StepWatch
from .truncation import truncated
from .walk import LARGE, Iterate, Snapshot, Walk, schedule_of, stable_step

#: Planes that walk side by side at the most: the sums of more would not fit into a processor's registers.
MOST_TOGETHER = 24
#: Passes without fewer mistakes after which a run that is proven never to end is ended; at once if keep="last".
SETTLED = 50


@dataclass(frozen=True)
class StochasticDescent:
    """One random example a step: θ ← θ − η_k ∇(ℓ(zᵢ) + λ penalty).

    Parameters
    ----------
    schedule : Schedule, str, float or None
        The step sizes. None: η/(1 + η λ k) with η = 1/R² where there is a penalty, else 1/(R² √(k + 1)); R is the root
        mean square length of the (augmented) examples. With L1 alone longer ones, since what is paid is what they add
        up to: η = 1/(L R²), where the loss bends by L, until `NoProgress` would end the run, then a fifth of it, and so
        on (`Adaptive`); with another rule or none, a decay of λ/3.
    stopping : rule, str, list of these, or None
        When to stop before `max_iter`; asked after every pass (of large data, after ever more passes: see
        `Walk.is_measured`).
    keep : {"best", "last", "average"}
        Which iterate is reported: of those at the ends of passes the one with the lowest objective (with an L1 penalty,
        without the weights that lower it by less than `NoProgress` counts as progress), the current one, or
        the mean of all of them.
    order : {"random", "shuffled", "cyclic", "worst"}
        Draw examples at random, take each once a pass in random order or as they come, or take the one with the lowest
        agreement each time.
    max_iter : int
        Passes over the data at the most (for ``order="worst"``, steps).
    record : {"pass", "update"}
        ``"update"`` measures and stores every single update, the example that caused it included; what is reported
        does not depend on it.
    average_from : int
        From which step on iterates are averaged, with ``keep="average"``; before it, the current one is reported.
    absolute : bool
        Whether to walk as scikit-learn does: a step is as long as an example's weight says, not as its share of the
        mean weight; rows are shuffled by their places, not by their contents; and of large data, where no rule asks,
        nothing is measured before the fourth pass.
    held_out : InMemory or None
        Rows that nothing is learned from, for the rule `linsep.stopping.HeldOut`.

    Examples
    --------
    >>> from linsep import LinearClassifier
    >>> model = LinearClassifier("logistic", solver=StochasticDescent("inverse_sqrt"), tol=0.1, random_state=0)
    >>> model.fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]).predict([[0.5], [3.5]])
    array([0, 1])
    """

    schedule: str | float | Schedule | None = None
    stopping: Stopping = NoProgress()  # noqa: RUF009 (a frozen record)
    keep: str = "best"
    order: str = "random"
    max_iter: int = 1000
    record: str = "pass"
    average_from: int = 0
    absolute: bool = False
    held_out: InMemory | None = field(default=None, compare=False)
    name = "sgd"
    needs = frozenset({"slope", "one_plane", "rows", "in_turn"})
    keeps: ClassVar[tuple[str, ...]] = ("best", "last", "average")
    has_free_steps = True  # whether there is a step size to give advice on
    has_pocket = False  # whether the best is that of all planes met, not of those at the ends of passes

    def __post_init__(self) -> None:
        check_choice("keep", self.keep, self.keeps)
        check_choice("order", self.order, ("random", "shuffled", "cyclic", "worst"))
        check_choice("record", self.record, ("pass", "update"))
        check_count("max_iter", self.max_iter)

    def solve(
        self, problem: Objective, *, start: Start | None = None, seed: int = 0, observer: Observer | None = None
    ) -> Result:
        """Minimise, drawing examples by `seed`."""
        return self.solve_together([problem], [0], starts=[start], seed=seed, observers={0: observer})[0]

    def solve_together(
        self,
        problems: Sequence[Objective],
        planes: Sequence[int],
        *,
        starts: Sequence[Start | None],
        seed: int = 0,
        observers: Mapping[int, Observer | None],
    ) -> list[Result]:
        """Minimise some of the problems, which differ in their labels only, reading each example once for all of them.

        Parameters
        ----------
        problems : list of Objective
            One for each class against the rest; all of them say in which order the examples come.
        planes : list of int
            Which of them to solve; the results are the same whichever are solved together.
        starts : list of Start or None
            For each problem, solved or not.
        observers : dict
            For those that are solved.
        """
        check_needs(self, problems[0])
        begins = [starts[k] or Start(np.zeros(problems[k].rows.d)) for k in planes]
        walk = Walk(self, problems, planes, begins, seed)
        asked = [ask for observer in observers.values() if (ask := getattr(observer, "stop_requested", None))]
        walk.stop_requested = lambda: any(ask() for ask in asked)
        walk.heard = any(map(_listens, observers.values()))
        return _results(walk, observers)

    def shares(self, problems: Sequence[Objective], n_jobs: int) -> list[range]:
        """Return which of the planes walk together, for so many threads."""
        count = len(problems)
        if count == 1 or self.by_update or isinstance(schedule_of(self, problems[0]), Adaptive):
            return [range(k, k + 1) for k in range(count)]
        packs = whole_packs(count) // PACK
        walks = max(min(n_jobs, packs), -(-count // MOST_TOGETHER))
        bounds = [min(count, PACK * (packs * k // walks)) for k in range(walks + 1)]
        return [range(*ends) for ends in pairwise(bounds)]

    @property
    def by_update(self) -> bool:
        """Whether every single update is looked at, so that each plane goes its own way."""
        return self.record == "update" or self.order == "worst"

    def is_better(self, new: Evaluation, old: Evaluation) -> bool:
        """Whether to keep the new point instead of the old."""
        return new.objective < old.objective

    def finished(self, problem: Objective, w: FloatArray, b: float) -> tuple[FloatArray, float]:
        """Return the best plane as it is reported: with an L1 penalty without weights that do not pay for it."""
        if not problem.strength * problem.penalty.l1 > 0:
            return w, b
        rules = stopping.get(self.stopping)
        return truncated(problem, w, b, max((r.tol for r in rules if isinstance(r, NoProgress)), default=0.0)), b

    def prover(self, problem: Objective) -> Prover | None:
        """Return what looks for a proof that the run cannot end by itself; None where nothing does."""
        return None


@dataclass(frozen=True)
class PerceptronRule(StochasticDescent):
    """The perceptron: on a mistake (z ≤ 0) add y x to w, until there are none.

    It is stochastic descent with η = 1; ``keep="best"`` is the pocket algorithm (fewest mistakes after any update; on
    large data, after those that stood for longest), ``"average"`` the averaged perceptron, and ``"vote"`` keeps every
    plane for the voted one.

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
    needs = frozenset({"perceptron", "one_plane", "rows", "in_turn"})
    keeps: ClassVar[tuple[str, ...]] = ("best", "last", "average", "vote")
    has_free_steps = False
    has_pocket = True

    def is_better(self, new: Evaluation, old: Evaluation) -> bool:
        """Fewer mistakes, or as many and a lower risk."""
        return (new.zero_one, new.objective) < (old.zero_one, old.objective)

    def finished(self, problem: Objective, w: FloatArray, b: float) -> tuple[FloatArray, float]:
        """Return the best plane as it is: it was not chosen by the objective."""
        return w, b

    def prover(self, problem: Objective) -> Prover | None:
        """Return what looks for a proof."""
        return Prover(problem, 0.0 if self.keep == "last" else SETTLED) if self.prove else None


class Evaluation(NamedTuple):
    """What is measured of an iterate, on all examples: one of several `Measures`."""

    objective: float
    risk: float
    zero_one: float
    error: float
    gradient_norm: float
    finite: bool
    least: float

    @classmethod
    def of(cls, measures: Measures | None, column: int) -> Evaluation:
        """Return the numbers of one plane."""
        return UNSEEN if measures is None else cls(*(getattr(measures, name)[column].item() for name in cls._fields))


#: Of an iterate that nobody looks at.
UNSEEN = Evaluation(np.nan, np.nan, np.nan, np.nan, np.nan, finite=True, least=np.nan)


class _Run(SteppedRun):
    """What is known of one plane on its walk: what was measured, what was best, and why it stopped."""

    steps = "passes"

    def __init__(self, walk: Walk, plane: int, observer: Observer | None, begin: Iterate, seen: Evaluation) -> None:
        self.walk, self.plane, self.method, self.problem = walk, plane, walk.method, walk.problems[plane]
        stable = None if walk.for_itself else stable_step(self.problem)  # which takes the norms of the rows
        watch = StepWatch(walk.schedule, stable, self.problem.loss.smooth)
        rules = stopping.without_gap(stopping.get(walk.method.stopping), walk.method.name)
        message = f"stopped after max_iter={walk.method.max_iter}"
        super().__init__(message, observer, watch, rules, advises=walk.method.has_free_steps)
        self.needs_point = _listens(observer) or any(rule.needs_point for rule in rules)
        self.prover = walk.method.prover(self.problem)
        self.moves: list[tuple[IntArray, IntArray]] = []
        self.current, self.seen, self.theta = begin, seen, self._theta(begin)
        # The start is not an answer: w = 0 minimises the perceptron risk.
        self.best: Evaluation | None = None  # at the ends of passes
        self.best_recorded: Evaluation | None = None
        self.best_point, self.start = (begin.w, begin.b), begin.as_start()
        self.outcome: Result | None = None
        if walk.method.by_update:  # a name for each of many weights takes longer than a pass
            self.history.coordinates = self.problem.coordinates
        self.watch.begin(seen.objective, begin.now.step)
        self._record()

    def take(self, iterate: Iterate, seen: Evaluation) -> None:
        """Note a new point; end the run if there is a reason to, which Ctrl-C is for all runs of the walk."""
        try:
            self._look(iterate, seen)
        except EndOfRun as reason:
            self.end(reason)

    def _look(self, iterate: Iterate, seen: Evaluation) -> None:
        """Record a point; whatever decides on the answer looks at the ends of passes, however much is recorded."""
        if not iterate.now.measured or seen is UNSEEN:
            self._note(iterate, seen)
            self._record()
            return self.let_hear(iterate.now.iteration, self._theta(iterate), seen.objective)
        self.end_if_lost(seen.objective, seen.finite)
        self._note(iterate, seen)
        self._weigh(iterate, seen)
        norm, theta, previous = seen.gradient_norm, self._theta(iterate), self.theta
        self.theta = theta
        self._record()
        progress = Progress(
            iterate.now.iteration, theta, previous, seen.objective, norm, seen.zero_one, held_out=self._aside(iterate)
        )
        self.end_if_told(iterate.now.step, progress)
        if self.prover is not None and self.prover.excludes(iterate.now.passes, seen.zero_one, iterate.counts):
            raise EndOfRun(STOPPED_BY_PROOF)

    def exhaust(self) -> None:
        """End the run because the walk is over."""
        advice = "" if self.seen is UNSEEN else self.advice_after(self.current.now.step)
        self.end(EndOfRun(self.message, advice=advice))

    def end(self, reason: EndOfRun, interrupted: bool = False) -> None:
        """Keep what is to be reported, and nothing of the planes beside this one."""
        if not interrupted:
            self._look_into_the_pocket()
        best = self.method.keep == "best"
        w, b = self.method.finished(self.problem, *self.best_point) if best else self.current.mean_or_current()
        counts = self.current.counts
        self.outcome = Result(
            w,
            b,
            self.current.now.iteration,
            reason.converged,
            reason.message,
            self.history,
            self.current.as_start(),
            reason.advice,
            interrupted,
            self.current.updates,
            counts,
            self._votes() if self.method.keep == "vote" else None,
            separability=None if self.prover is None else self.prover.found,
            least=self._least(w),
        )
        del self.current

    def _least(self, w: FloatArray) -> float | None:
        """Return the lowest agreement of the plane that is reported, where that is one that was measured."""
        best = self.method.keep == "best"
        seen, measured = (self.best, self.best_point[0]) if best else (self.seen, self.current.w)
        return seen.least if seen is not None and seen is not UNSEEN and w is measured else None

    def _note(self, iterate: Iterate, seen: Evaluation) -> None:
        self.current, self.seen = iterate, seen
        if self.method.keep == "vote":
            self.moves.append(iterate.moved())

        if self._is_better(seen, self.best_recorded):
            self.best_recorded = seen

    def _is_better(self, new: Evaluation, old: Evaluation | None) -> bool:
        return old is None or self.method.is_better(new, old)

    def _weigh(self, iterate: Iterate, seen: Evaluation) -> None:
        if self._is_better(seen, self.best):
            self.best = seen
            if self.method.keep == "best":
                self.best_point = iterate.w, iterate.b
        self.watch.see_objective(iterate.now.step, seen.objective)

    def _look_into_the_pocket(self) -> None:
        """Report the best of all planes met, if better than those at the ends of passes, however few are recorded.

        A plane without mistakes is the best there is; steps on the worst example are all looked at anyway.
        """
        method, steps = self.method, self.current.now.step - self.start.step
        looked = method.has_pocket and method.keep == "best" and method.order != "worst"
        if not looked or isinstance(self.walk.schedule, Adaptive) or self.best is None or self.best.zero_one == 0:
            return
        met = best_met(self.walk, self.plane, self.start, steps, self.current.updates)
        if met is not None:
            w, b = met
            with np.errstate(over="ignore", invalid="ignore"):
                seen = measure(self.problem, self.problem.y[:, None], w[:, None], np.array([b]))
            if self.method.is_better(Evaluation.of(seen, 0), self.best):
                self.best, self.best_point = Evaluation.of(seen, 0), met

    def _aside(self, iterate: Iterate) -> float:
        """Return the share of wrong labels among the rows that were put aside; NaN where none were."""
        if self.method.held_out is None:
            return np.nan
        return replace(self.problem, examples=self.method.held_out).error(iterate.w, iterate.b)

    def goes_on_with_shorter_steps(self) -> bool:
        """Whether steps that adapt go on as shorter ones."""
        schedule = self.walk.schedule
        shorter = schedule.shorter() if isinstance(schedule, Adaptive) else None
        self.walk.schedule = shorter or schedule
        return shorter is not None

    def _theta(self, iterate: Iterate) -> FloatArray:
        return iterate.theta(self.problem.fit_intercept) if self.needs_point else np.empty(0)

    def _votes(self) -> Votes:
        nothing = np.empty(0, dtype=np.int64)
        examples = np.concatenate([nothing, *(by for by, _ in self.moves)])
        moments = np.concatenate([nothing, *(at for _, at in self.moves)])
        signs = self.problem.y[examples]
        if self.walk.factor is not None:
            signs = signs * self.walk.factor[examples]
        return Votes(examples, signs, np.diff(moments, append=self.current.now.step))

    def _record(self) -> None:
        now, seen, by_update = self.current.now, self.seen, self.method.by_update
        moved_by = self.current.moved()[0] if by_update else np.empty(0, dtype=np.int64)
        self.history.add(
            Record(
                step=now.step,
                passes=now.passes,
                objective=seen.objective,
                risk=seen.risk,
                zero_one=seen.zero_one,
                error=seen.error,
                gradient_norm=seen.gradient_norm,
                step_size=float(self.walk.schedule(max(0, now.step - 1))),
                best=np.nan if self.best_recorded is None else self.best_recorded.objective,
                example=int(moved_by[-1]) if len(moved_by) else None,
                updates=self.current.updates,
                iterate=self.current.theta(self.problem.fit_intercept) if by_update else None,
            )
        )


def _results(walk: Walk, observers: Mapping[int, Observer | None]) -> list[Result]:
    """Walk until there is a reason for every plane to stop."""
    overlap = walk.problem.rows.stored >= LARGE and not walk.method.by_update and threads() > 1
    overlap = overlap and not walk.is_unseen(walk.method.max_iter)
    begin = walk.now(0, 0.0, [])
    seen = _measured(walk, begin)
    runs = {
        plane: _Run(walk, plane, observers[plane], Iterate(begin, k), Evaluation.of(seen, k))
        for k, plane in enumerate(walk.planes)
    }
    try:
        for now, seen in evaluated(walk.snapshots(), lambda now: _measured(walk, now), overlap):
            for k, plane in enumerate(now.planes):
                if runs[plane].outcome is None:
                    runs[plane].take(Iterate(now, k), Evaluation.of(seen, k))
            going = [plane for plane, run in runs.items() if run.outcome is None]
            if not going:
                break
            walk.go_on_with(going)
        for run in runs.values():
            if run.outcome is None:
                run.exhaust()
    except KeyboardInterrupt:
        for run in runs.values():
            if run.outcome is None:
                run.end(EndOfRun("interrupted"), interrupted=True)
    return [run.outcome for run in runs.values() if run.outcome is not None]


def _listens(observer: Observer | None) -> bool:
    """Whether an observer wants to hear of points; one that only knows of Ctrl-C does not."""
    return bool(getattr(observer, "needs_point", observer is not None))


def _measured(walk: Walk, now: Snapshot) -> Measures | None:
    """Return what a pass over the examples says of a point; None where nobody looks and it is one."""
    if walk.is_unseen(now.passes) and np.isfinite(now.W).all():
        return None
    room = walk.room if walk.room.shape == now.W.shape else None  # ranks may have been closed in the meantime
    with np.errstate(over="ignore", invalid="ignore"):
        return measure(walk.problem, now.Y, now.W, now.b, room)


def evaluated(
    snapshots: Iterator[Snapshot], evaluate: Callable[[Snapshot], Measures | None], overlap: bool
) -> Iterator[tuple[Snapshot, Measures | None]]:
    """Yield every snapshot with its evaluation; with `overlap` the next one is computed during the evaluation."""
    if not overlap:
        for now in snapshots:
            yield now, evaluate(now)
        return
    with helpers(1) as helper:
        waiting: tuple[Snapshot, Future[Measures | None]] | None = None
        for now in snapshots:
            if waiting is not None:
                yield waiting[0], waiting[1].result()
            waiting = now, helper.submit(evaluate, now)
        if waiting is not None:
            yield waiting[0], waiting[1].result()


def stream(method: StochasticDescent, problem: Objective, start: Start, seed: int) -> Result:
    """Take one pass over a batch of an endless stream, without measuring: what is reported is the current point."""
    check_needs(method, problem)
    walk = Walk(replace(method, max_iter=1, record="pass", stopping=None), [problem], [0], [start], seed)
    iterate = Iterate(next(walk.snapshots()), 0)
    w, b = iterate.mean_or_current()
    counts, report = iterate.counts, "one pass over a batch"
    return Result(w, b, 1, False, report, History(), iterate.as_start(), "", False, int(counts.sum()), counts)
