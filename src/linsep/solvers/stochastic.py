"""Stochastic (sub)gradient descent: one example a step, and the perceptron, which is the same with η = 1."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import schedules, stopping
from .._core import PACK, interleaved, threads, whole_packs
from ..exact import Clock
from ..history import History, Record
from ..problem import Measures, Problem, measure
from ..schedules import Constant, InverseSqrt, InverseTime, Schedule
from ..separability import ProofTimeoutError, Separability, decided
from ..stopping import NoMistakes, NoProgress, Progress, Rule
from . import visits
from ._checks import check_choice, check_count, check_slope
from .result import STOPPED_BY_PROOF, Observer, Result, Start, Votes
from .run import EndOfRun, SteppedRun
from .step_watch import StepWatch

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Stopping = str | Rule | Iterable[str | Rule] | None

__all__ = ["LARGE", "PerceptronRule", "Prover", "StochasticDescent", "stream"]

#: From this many stored numbers on, measuring a point costs about as much as a pass: it is done in a second thread
#: while the next pass runs, and after the first passes ever more rarely (1, 2, 3, 4, 6, 9, 13, 19, …).
LARGE = 200_000
#: Planes that walk side by side at the most: the sums of more would not fit into a processor's registers.
MOST_TOGETHER = 24
#: The search for a proof of overlap may cost about as much as the passes before it: this much for each, in elementary
#: operations, and for each stored number of each. Less than `LEAST_WORK` would be of no use, more than `MOST_WORK`
#: takes some ten seconds.
PASS_WORK, NUMBER_WORK, LEAST_WORK, MOST_WORK = 5e5, 2.0, 1e7, 1e10
#: What may be spent after a run on small data to complete what it left open: some seconds.
LAST_WORK = 2e9
#: Stored numbers that the first search looks at.
FEW_NUMBERS = 30_000
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
        return self.solve_together([problem], [0], starts=[start], seed=seed, observers={0: observer})[0]

    def solve_together(
        self,
        problems: Sequence[Problem],
        planes: Sequence[int],
        *,
        starts: Sequence[Start | None],
        seed: int = 0,
        observers: Mapping[int, Observer | None],
    ) -> list[Result]:
        """Minimise some of the problems, which differ in their labels only, reading each example once for all of them.

        Parameters
        ----------
        problems : list of Problem
            One for each class against the rest; all of them say in which order the examples come.
        planes : list of int
            Which of them to solve; the results are the same whichever are solved together.
        starts : list of Start or None
            For each problem, solved or not.
        observers : dict
            For those that are solved.
        """
        check_slope(problems[0].loss, self.name)
        begins = [starts[k] or Start(np.zeros(problems[k].rows.d)) for k in planes]
        walk = _Walk(self, problems, planes, begins, seed)
        asked = [ask for observer in observers.values() if (ask := getattr(observer, "stop_requested", None))]
        walk.stop_requested = lambda: any(ask() for ask in asked)
        return _results(walk, observers)

    def shares(self, count: int, n_jobs: int) -> list[range]:
        """Return which of so many planes walk together, for so many threads."""
        if count == 1 or self.by_update:
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

    def prover(self, problem: Problem) -> Prover | None:
        """Return what looks for a proof that the run cannot end by itself; None where nothing does."""
        return None


class Prover:
    """Works towards a proof that no plane separates the examples, while a run goes on.

    After 1, 2, 4, 8, … passes it searches with about as much work as these passes were, among the rows that moved the
    plane most often: what excludes a plane through these excludes one through all. Of large data few are taken at
    first, since a search copies them. Work is counted, not timed: what is found does not depend on the machine.
    """

    def __init__(self, problem: Problem, settled: float = 0.0) -> None:
        self.problem, self.settled = problem, settled
        self.fewest, self.since, self.next = np.inf, 0.0, 1.0
        self.found: Separability | None = None
        self.spent = 0.0
        self.room = FEW_NUMBERS

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

    def ask(self, work: float = LAST_WORK, ranking: FloatArray | None = None) -> Separability | None:
        """Return what that much work proves, or None where it does not suffice.

        With a ranking it looks at the first rows, and does not ask whether a plane separates weakly.
        """
        self.spent = work
        problem, weight = self.problem, self.problem.sample_weight
        kept = np.arange(problem.rows.n) if weight is None else np.flatnonzero(weight)
        part = kept if ranking is None else self._hardest(kept, ranking)
        y = problem.y[part]
        if abs(y.sum()) == len(y):  # one class
            return None
        X = problem.rows.X if len(part) == problem.rows.n else problem.rows.X[part]
        ranking = None if ranking is None else ranking[part]
        try:
            clock = Clock(None, work)
            found = decided(
                X, y, fit_intercept=problem.fit_intercept, clock=clock, ranking=ranking, weakly=ranking is None
            )
        except ProofTimeoutError:
            return None
        if len(part) < len(kept) and found.separable:  # the others may still forbid every plane
            return None
        self.found = found.in_rows(part.tolist())
        return self.found

    def _hardest(self, kept: IntArray, ranking: FloatArray) -> IntArray:
        """Return the first of the kept rows by their ranking, in the order of the data; each time twice as many."""
        rows = self.problem.rows
        count = max(4 * (rows.d + 2), int(self.room * rows.n / max(1, rows.stored)))
        self.room *= 2
        if count >= len(kept):
            return kept
        return np.sort(kept[np.argsort(ranking[kept], kind="stable")[:count]])


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
class Snapshot:
    """Where all planes of a walk stand after some steps, one in each column: no column changes any more."""

    W: FloatArray
    b: FloatArray
    counts: IntArray
    sum_w: FloatArray | None
    sum_b: FloatArray
    sum_from: int
    step: int
    iteration: int
    passes: float
    Y: FloatArray
    room: FloatArray  # to measure in
    planes: tuple[int, ...]  # the problem of each column; those left over fill up a pack
    moves: list[Move]


@dataclass(frozen=True)
class Move:
    """Some steps in a row: which examples they visited, and which planes each of them moved."""

    first: int
    order: IntArray
    moved: NDArray[np.uint8]


@dataclass(frozen=True)
class Iterate:
    """One plane after some steps: a column of a snapshot, taken out only if somebody asks."""

    now: Snapshot
    column: int

    @cached_property
    def w(self) -> FloatArray:
        """The weights."""
        return np.ascontiguousarray(self.now.W[:, self.column])

    @property
    def b(self) -> float:
        """The intercept."""
        return float(self.now.b[self.column])

    @property
    def counts(self) -> IntArray:
        """How often each example moved the plane so far."""
        return self.now.counts[:, self.column].copy()

    @property
    def updates(self) -> int:
        """How often the plane has moved."""
        return int(self.now.counts[:, self.column].sum())

    @property
    def sum_w(self) -> FloatArray | None:
        """The sum of all iterates, where it is taken."""
        return None if self.now.sum_w is None else np.ascontiguousarray(self.now.sum_w[:, self.column])

    def theta(self, fit_intercept: bool) -> FloatArray:
        """[w, b], or w without intercept."""
        return np.append(self.w, self.b) if fit_intercept else self.w.copy()

    def moved(self) -> tuple[IntArray, IntArray]:
        """Return which examples moved the plane since the last snapshot, and at which steps, where that is noted."""
        by, at = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        for move in self.now.moves:
            places = np.flatnonzero(move.moved[:, self.column])
            by.append(move.order[places])
            at.append(move.first + places)
        return np.concatenate(by), np.concatenate(at)

    def as_start(self) -> Start:
        """Return the point as one to go on from."""
        sum_b = float(self.now.sum_b[self.column])
        return Start(self.w, self.b, self.now.step, self.sum_w, sum_b, self.now.sum_from)

    def mean_or_current(self) -> tuple[FloatArray, float]:
        """Return the mean of the iterates, where they were summed, else the iterate itself."""
        steps, sum_w = self.now.step - self.now.sum_from, self.sum_w
        if sum_w is None or steps == 0:
            return self.w, self.b
        return sum_w / steps, float(self.now.sum_b[self.column]) / steps


@dataclass(frozen=True)
class Evaluation:
    """What is measured of an iterate, on all examples."""

    objective: float
    risk: float
    zero_one: float
    gradient_norm: float
    finite: bool

    @classmethod
    def of(cls, measures: Measures, column: int) -> Evaluation:
        """Return the numbers of one plane."""
        numbers = measures.objective, measures.risk, measures.zero_one, measures.gradient_norm
        objective, risk, zero_one, norm = (float(values[column]) for values in numbers)
        return cls(objective, risk, zero_one, norm, bool(measures.finite[column]))


class _Walk:
    """The steps of some planes side by side: a sequence of snapshots that nobody has measured yet."""

    def __init__(
        self,
        method: StochasticDescent,
        problems: Sequence[Problem],
        planes: Sequence[int],
        starts: Sequence[Start],
        seed: int,
    ) -> None:
        self.method, self.problems, self.planes, self.seed = method, problems, tuple(planes), seed
        self.problem, self.start = problems[planes[0]], starts[0]  # what all of them have in common
        if len({(start.step, start.sum_from, start.sum_w is None) for start in starts}) > 1:
            raise ValueError("planes that walk together must begin at the same step")
        self.schedule = automatic_schedule(self.problem) if method.schedule is None else schedules.get(method.schedule)
        # One problem of several is stepped as a pack: the same bits, alone or with others.
        self.width = 1 if len(problems) == 1 else whole_packs(len(planes))
        self.Y, self.W = self._columns([problems[k].y for k in planes]), self._columns([start.w for start in starts])
        self.b, self.room = self._row([start.b for start in starts]), interleaved(self.problem.rows.d, self.width)
        self.counts = np.zeros((self.problem.rows.n, self.width), dtype=np.int64)
        self.step, self.factor = self.start.step, self._factor()
        self.stop_requested: Callable[[], bool] = lambda: False
        self.sum_from = self.start.step if self.start.sum_w is None else self.start.sum_from
        self.sum_w: FloatArray | None = None
        self.sum_b = self._row([start.sum_b for start in starts])
        if method.keep in ("average", "vote"):
            before = [np.zeros_like(start.w) if start.sum_w is None else start.sum_w for start in starts]
            self.sum_w = self._columns(before)

    def _columns(self, vectors: list[FloatArray]) -> FloatArray:
        """Return the vectors side by side, filled up with zeros: a label of zero moves nothing."""
        out = interleaved(len(vectors[0]), self.width)
        out[:, len(vectors) :] = 0.0
        for column, vector in enumerate(vectors):
            out[:, column] = vector
        return out

    def _row(self, numbers: list[float]) -> FloatArray:
        return np.array(numbers + [0.0] * (self.width - len(numbers)))

    def _factor(self) -> FloatArray | None:
        """Return what multiplies each example's step: its weight, unless examples are drawn by their weight already."""
        if self.problem.sample_weight is None or self.method.order != "cyclic":
            return None
        visited = np.count_nonzero(self.problem.sample_weight)
        return self.problem.sample_weight * (visited / self.problem.total_weight)

    def snapshots(self) -> Iterator[Snapshot]:
        """Yield the point after every pass, or after every update if these are recorded."""
        if self.method.order == "worst":
            return islice(self._worst_first(), self.method.max_iter)
        return self._update_by_update() if self.method.by_update else self._pass_by_pass()

    def go_on_with(self, planes: Sequence[int]) -> None:
        """Leave the other planes where they are; where that saves a pack, close the ranks."""
        kept = [column for column, plane in enumerate(self.planes) if plane in planes]
        if self.width == 1 or whole_packs(len(kept)) == self.width:
            self.Y[:, [column for column in range(self.width) if column not in kept]] = 0.0
            return
        self.planes, self.width = tuple(self.planes[column] for column in kept), whole_packs(len(kept))
        room = kept + [kept[0]] * (self.width - len(kept))
        self.Y, self.W = _copy(self.Y, room), _copy(self.W, room)
        self.Y[:, len(kept) :] = 0.0
        self.counts, self.b, self.sum_b = self.counts[:, room].copy(), self.b[room], self.sum_b[room]
        if self.sum_w is not None:
            self.sum_w = _copy(self.sum_w, room)
        self.room = interleaved(self.problem.rows.d, self.width)

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
        orders = visits.cyclic(self.problem) if cyclic else visits.random(self.problems, self.seed)
        return zip(range(1, self.method.max_iter + 1), orders, strict=False)

    def _pass_by_pass(self) -> Iterator[Snapshot]:
        moves: list[Move] = []
        for done, order in self._passes():
            work = self.width * max(1.0, self.problem.rows.stored / self.problem.rows.n)
            size = max(1, int(WORK_PER_CALL // work))
            for first in range(0, len(order), size):
                moves += self._advance(order[first : first + size])
            if self.is_measured(done):
                yield self.now(done, done, moves)
                moves = []

    def _update_by_update(self) -> Iterator[Snapshot]:
        for done, order in self._passes():
            for k in range(len(order)):
                moves = self._advance(order[k : k + 1])
                if moves[0].moved.any() or k == len(order) - 1:
                    yield self.now(done, done - 1 + (k + 1) / len(order), moves)

    def _worst_first(self) -> Iterator[Snapshot]:
        pick, self.factor = visits.worst(self.problem)
        while True:
            moves = self._advance(pick(self.problem.agreements(np.ascontiguousarray(self.W[:, 0]), float(self.b[0]))))
            taken = self.step - self.start.step
            yield self.now(taken, taken / self.problem.rows.n, moves)

    def _advance(self, order: IntArray) -> list[Move]:
        """Take a step for each of these examples; return what moved when, if somebody will ask."""
        problem, strength = self.problem, self.problem.strength
        eta = np.asarray(self.schedule(self.step + np.arange(len(order), dtype=np.float64)), dtype=np.float64)
        noted = self.method.by_update or self.method.keep == "vote"
        moved = np.empty((len(order), self.width), dtype=np.uint8) if noted else None
        problem.rows.stochastic_steps(
            self.Y,
            self.factor,
            order,
            np.ascontiguousarray(np.broadcast_to(eta, order.shape)),
            problem.loss,
            l2=strength * problem.penalty.l2,
            l1=strength * problem.penalty.l1,
            intercept=problem.fit_intercept,
            w=self.W,
            b=self.b,
            sum_w=self.sum_w,
            sum_b=None if self.sum_w is None else self.sum_b,
            counts=self.counts,
            moved=moved,
        )
        self.step += len(order)
        return [] if moved is None else [Move(self.step - len(order), order, moved)]

    def now(self, iteration: int, passes: float, moves: list[Move]) -> Snapshot:
        """Return the point as it now stands, after so many iterations and passes."""
        sum_w = None if self.sum_w is None else self.sum_w.copy()
        point = _copy(self.W), self.b.copy(), self.counts.copy(), sum_w, self.sum_b.copy(), self.sum_from
        return Snapshot(*point, self.step, iteration, passes, self.Y, self.room, self.planes, moves)


def _copy(table: FloatArray, columns: Sequence[int] | None = None) -> FloatArray:
    """Return the table, or some of its columns, in another place."""
    out = interleaved(len(table), table.shape[1] if columns is None else len(columns))
    out[:] = table if columns is None else table[:, columns]
    return out


class _Run(SteppedRun):
    """What is known of one plane on its walk: what was measured, what was best, and why it stopped."""

    def __init__(self, walk: _Walk, plane: int, observer: Observer | None, begin: Iterate, seen: Evaluation) -> None:
        self.walk, self.method, self.problem = walk, walk.method, walk.problems[plane]
        watch = StepWatch(walk.schedule, stable_step(self.problem), self.problem.loss.smooth)
        rules = stopping.without_gap(stopping.get(walk.method.stopping), walk.method.name)
        message = f"stopped after max_iter={walk.method.max_iter}"
        super().__init__(message, observer, watch, rules, advises=walk.method.has_free_steps)
        listening = observer is not None and getattr(observer, "needs_point", True)
        self.needs_point = listening or self.method.by_update or any(rule.needs_point for rule in rules)
        self.prover = walk.method.prover(self.problem)
        self.moves: list[tuple[IntArray, IntArray]] = []
        self.current, self.seen, self.theta = begin, seen, self._theta(begin)
        # The start is not an answer: w = 0 minimises the perceptron risk.
        self.best: Evaluation | None = None
        self.best_point = begin.w, begin.b
        self.outcome: Result | None = None
        self.watch.begin(seen.objective, begin.now.step)
        self._record()

    def take(self, iterate: Iterate, seen: Evaluation) -> None:
        """Note a new point; end the run if there is a reason to, which Ctrl-C is for all runs of the walk."""
        try:
            self._look(iterate, seen)
        except EndOfRun as reason:
            self.end(reason)

    def _look(self, iterate: Iterate, seen: Evaluation) -> None:
        self.end_if_lost(seen.objective, seen.finite)
        self._note(iterate, seen)
        norm, theta, previous = seen.gradient_norm, self._theta(iterate), self.theta
        self.theta = theta
        self._record()
        progress = Progress(iterate.now.iteration, theta, previous, seen.objective, norm, seen.zero_one)
        self.end_if_told(iterate.now.step, progress)
        if self.prover is not None and self.prover.excludes(iterate.now.passes, seen.zero_one, iterate.counts):
            raise EndOfRun(STOPPED_BY_PROOF)

    def exhaust(self) -> None:
        """End the run because the walk is over."""
        self.end(EndOfRun(self.message, advice=self.advice_after(self.current.now.step)))

    def end(self, reason: EndOfRun, interrupted: bool = False) -> None:
        """Keep what is to be reported, and nothing of the planes beside this one."""
        w, b = self.best_point if self.method.keep == "best" else self.current.mean_or_current()
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
        )
        del self.current

    def _note(self, iterate: Iterate, seen: Evaluation) -> None:
        self.current, self.seen = iterate, seen
        if self.method.keep == "vote":
            self.moves.append(iterate.moved())
        if self.best is None or self.method.is_better(seen, self.best):
            self.best = seen
            if self.method.keep == "best":
                self.best_point = iterate.w, iterate.b
        self.watch.see_objective(iterate.now.step, seen.objective)

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
                gradient_norm=seen.gradient_norm,
                step_size=float(self.walk.schedule(max(0, now.step - 1))),
                best=np.nan if self.best is None else self.best.objective,
                example=int(moved_by[-1]) if len(moved_by) else -1,
                updates=self.current.updates,
                iterate=self.theta if by_update else None,
            )
        )


def _results(walk: _Walk, observers: Mapping[int, Observer | None]) -> list[Result]:
    """Walk until there is a reason for every plane to stop."""
    begin = walk.now(0, 0.0, [])
    seen = _measured(walk, begin)
    runs = {
        plane: _Run(walk, plane, observers[plane], Iterate(begin, k), Evaluation.of(seen, k))
        for k, plane in enumerate(walk.planes)
    }
    overlap = walk.problem.rows.stored >= LARGE and not walk.method.by_update and threads() > 1
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


def _measured(walk: _Walk, now: Snapshot) -> Measures:
    with np.errstate(over="ignore", invalid="ignore"):
        return measure(walk.problem, now.Y, now.W, now.b, now.room)


def evaluated(
    snapshots: Iterator[Snapshot], evaluate: Callable[[Snapshot], Measures], overlap: bool
) -> Iterator[tuple[Snapshot, Measures]]:
    """Yield every snapshot with its evaluation; with `overlap` the next one is computed during the evaluation."""
    if not overlap:
        for now in snapshots:
            yield now, evaluate(now)
        return
    with ThreadPoolExecutor(1) as helper:
        waiting: tuple[Snapshot, Future[Measures]] | None = None
        for now in snapshots:
            if waiting is not None:
                yield waiting[0], waiting[1].result()
            waiting = now, helper.submit(evaluate, now)
        if waiting is not None:
            yield waiting[0], waiting[1].result()


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
    walk = _Walk(replace(method, max_iter=1, record="pass"), [problem], [0], [start], seed)
    iterate = Iterate(next(walk.snapshots()), 0)
    w, b = iterate.mean_or_current()
    counts, report = iterate.counts, "one pass over a batch"
    return Result(w, b, 1, False, report, History(), iterate.as_start(), "", False, int(counts.sum()), counts)
