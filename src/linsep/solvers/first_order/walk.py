"""The steps of stochastic descent: planes side by side, example by example, and the points on their way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ... import schedules, stopping
from ..._common.types import FloatArray, IntArray
from ..._core import interleaved, whole_packs
from ...objective.objective import Objective
from ...schedules import Adaptive, InverseSqrt, InverseTime, Schedule
from ...stopping import NoMistakes, NoProgress
from ..result import Start
from . import visits

if TYPE_CHECKING:
    from .stochastic import StochasticDescent


#: From this many stored numbers on, measuring a point costs about as much as a pass: it is done in a second thread
#: while the next pass runs, and after the first passes ever more rarely.
LARGE = 200_000
#: By how much more passes: 1, 2, 3, 4, 6, 9, 13, 19, … where something depends on it; 1, 4, 16, 64, … for the history
#: alone, or where a pass that was wrong about more than this share of its examples cannot end without mistakes.
OFTEN, RARELY, MANY_MISTAKES = 0.5, 3.0, 0.01
#: After fewer passes than this scikit-learn's walks are not measured for the history alone: it would take as long.
WORTH_MEASURING = 4
#: Steps that get shorter whenever a rule would end the run need it to be asked steadily: once in so many passes.
STEADILY = 3
#: A kernel call does at most about this much work, so that Ctrl-C is heard.
WORK_PER_CALL = 50_000_000


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
    measured: bool  # whether it ends a pass that is looked at; what lies between is only recorded
    Y: FloatArray
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
        if sum_w is None or steps <= 0:
            return self.w, self.b
        return sum_w / steps, float(self.now.sum_b[self.column]) / steps


class Walk:
    """The steps of some planes side by side: a sequence of snapshots that nobody has measured yet."""

    def __init__(
        self,
        method: StochasticDescent,
        problems: Sequence[Objective],
        planes: Sequence[int],
        starts: Sequence[Start],
        seed: int,
    ) -> None:
        self.method, self.problems, self.planes, self.seed = method, problems, tuple(planes), seed
        self.problem, self.start = problems[planes[0]], starts[0]  # what all of them have in common
        if len({(start.step, start.sum_from, start.sum_w is None) for start in starts}) > 1:
            raise ValueError("planes that walk together must begin at the same step")
        self.schedule = schedule_of(method, self.problem)
        # One problem of several is stepped as a pack: the same bits, alone or with others.
        self.width = 1 if len(problems) == 1 else whole_packs(len(planes))
        self.Y, self.W = self._columns([problems[k].y for k in planes]), self._columns([start.w for start in starts])
        self.b = self._row([start.b for start in starts])
        self.counts = np.zeros((self.problem.rows.n, self.width), dtype=np.int64)
        self.step, self.factor = self.start.step, self._factor()
        self.owed, self.paid = np.zeros(1), np.zeros_like(self.W) if self.problem.penalty.l1 > 0 else None
        self.pocket: dict[str, Any] = {}  # what is kept on the way, for the kernel
        self.stop_requested: Callable[[], bool] = lambda: False
        self.heard = False  # whether somebody listens
        self.moves = 0  # of all planes, in the last pass
        # Of the mean objective's steps; scikit-learn's are on the sum of weights, whose mean is not one.
        self.per_weight = self.problem.total_weight / self.problem.n if method.absolute else 1.0
        self.average_from = method.average_from
        first = max(self.start.step, method.average_from)
        self.sum_from = first if self.start.sum_w is None else self.start.sum_from
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
        if self.problem.sample_weight is None or self.method.order not in ("cyclic", "shuffled"):
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
        self.paid = None if self.paid is None else _copy(self.paid, room)
        self.Y[:, len(kept) :] = 0.0
        self.counts, self.b, self.sum_b = self.counts[:, room].copy(), self.b[room], self.sum_b[room]
        if self.sum_w is not None:
            self.sum_w = _copy(self.sum_w, room)
        self.__dict__.pop("room", None)

    @cached_property
    def room(self) -> FloatArray:
        """Room to measure in."""
        return interleaved(self.problem.rows.d, self.width)

    @cached_property
    def for_itself(self) -> bool:
        """Whether scikit-learn's walk over large data is measured for the history alone, and so not at its beginning.

        Steps on a loss whose slopes are bounded add up to no more than their lengths: there is nothing to blow up.
        """
        method, slopes = self.method, self.problem.loss.slopes
        asked = method.by_update or stopping.get(method.stopping) or self._matters()
        large = self.problem.rows.stored >= LARGE
        return method.absolute and large and not asked and bool(np.isfinite(slopes).all())

    def is_unseen(self, passes: float) -> bool:
        """Whether nobody looks at the point after so many passes."""
        return self.for_itself and passes < WORTH_MEASURING

    def is_measured(self, done: int) -> bool:
        """Whether the point after so many passes is looked at."""
        if self.problem.rows.stored < LARGE or done == self.method.max_iter or self.stop_requested():
            return True
        if isinstance(self.schedule, Adaptive):
            return done % STEADILY == 0
        if self.for_itself and 2 * done > self.method.max_iter:  # the last one tells as much
            return False
        measured, more = 1, OFTEN if self._matters() else RARELY
        while measured < done:
            measured += max(1, int(more * measured))
        return measured == done

    def _matters(self) -> bool:
        """Whether something besides the history depends on what is measured of the point that a pass has led to."""
        method, rules = self.method, stopping.get(self.method.stopping)
        if self.heard or method.keep == "best" or method.prover(self.problem) is not None:
            return True
        if all(isinstance(rule, NoMistakes) for rule in rules) and method.has_pocket:
            return bool(rules) and self.moves < MANY_MISTAKES * self.problem.rows.n
        return bool(rules)

    def _passes(self) -> Iterator[tuple[int, IntArray]]:
        if self.method.order == "cyclic":
            orders = visits.cyclic(self.problem)
        else:
            shuffled = visits.permuted if self.method.absolute else visits.shuffled
            draw = visits.random if self.method.order == "random" else shuffled
            orders = draw(self.problems, self.seed)
        return zip(range(1, self.method.max_iter + 1), orders, strict=False)

    def _pass_by_pass(self) -> Iterator[Snapshot]:
        moves: list[Move] = []
        for done, order in self._passes():
            self.moves = 0
            moves += self._advance_piecewise(order)
            if self.is_measured(done):
                yield self.now(done, done, moves)
                moves = []

    def _advance_piecewise(self, order: IntArray) -> list[Move]:
        """Take many steps, in calls after which Ctrl-C is heard."""
        work = self.width * max(1.0, self.problem.rows.stored / self.problem.rows.n)
        size = max(1, int(WORK_PER_CALL // work))
        pieces = (self._advance(order[first : first + size]) for first in range(0, len(order), size))
        return [move for moves in pieces for move in moves]

    def take(self, steps: int) -> None:
        """Take so many steps, and look at nothing on the way."""
        for _, order in self._passes():
            self._advance_piecewise(order[: max(0, steps - (self.step - self.start.step))])
            if self.step - self.start.step >= steps:
                return

    def _update_by_update(self) -> Iterator[Snapshot]:
        ahead = 1  # steps to look at for the next update: as many as the last ones were apart
        # Where a penalty shrinks the plane at every step, or planes are summed, several at once round otherwise.
        alone = bool(self.problem.strength) or self.sum_w is not None or bool(self.pocket)
        for done, order in self._passes():
            k = 0
            while k < len(order):
                moves = self._until_moved(order[k : k + ahead])
                taken = sum(len(move.order) for move in moves)
                k, ahead = k + taken, 1 if alone else 2 * taken
                last = k == len(order)
                if moves[-1].moved[-1].any() or last:
                    yield self.now(done, done - 1 + k / len(order), moves, last and self.is_measured(done))

    def _until_moved(self, order: IntArray) -> list[Move]:
        """Take steps up to the first that moves a plane: all, and where that was too far once more from before."""
        tables: list[NDArray[Any]] = [self.W, self.b, self.counts]
        before, step, so_far = [table.copy() for table in tables] if len(order) > 1 else [], self.step, self.moves
        moves = self._advance(order)
        moved = np.concatenate([move.moved for move in moves]).any(axis=1)
        taken = int(moved.argmax()) + 1 if moved.any() else len(order)
        if taken == len(order):
            return moves
        self.step, self.moves = step, so_far
        for table, old in zip(tables, before, strict=True):
            table[...] = old
        return self._advance(order[:taken])

    def _worst_first(self) -> Iterator[Snapshot]:
        pick, self.factor = visits.worst(self.problem)
        while True:
            moves = self._advance(pick(self.problem.agreements(np.ascontiguousarray(self.W[:, 0]), float(self.b[0]))))
            taken = self.step - self.start.step
            yield self.now(taken, taken / self.problem.rows.n, moves)

    def _advance(self, order: IntArray) -> list[Move]:
        """Take a step for each of these examples; return what moved when, if somebody will ask."""
        problem, strength = self.problem, self.problem.strength
        alone = self.average_from - self.step  # steps that are not yet averaged
        if self.sum_w is not None and 0 < alone < len(order):
            return self._advance(order[:alone]) + self._advance(order[alone:])
        summed = self.sum_w is not None and alone <= 0
        eta = np.asarray(self.schedule(self.step + np.arange(len(order), dtype=np.float64)), dtype=np.float64)
        eta *= self.per_weight
        noted = self.method.by_update or self.method.keep == "vote"
        moved = np.empty((len(order), self.width), dtype=np.uint8) if noted else None
        self.moves += problem.rows.stochastic_steps(
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
            sum_w=self.sum_w if summed else None,
            sum_b=self.sum_b if summed else None,
            counts=self.counts,
            moved=moved,
            owed=self.owed,
            paid=self.paid,
            **self.pocket,
        )
        self.step += len(order)
        return [] if moved is None else [Move(self.step - len(order), order, moved)]

    def now(self, iteration: int, passes: float, moves: list[Move], measured: bool = True) -> Snapshot:
        """Return the point as it now stands, after so many iterations and passes: a copy, unless it is the last."""
        sum_w = None if self.sum_w is None else self.sum_w.copy()
        W = self.W if passes == self.method.max_iter else _copy(self.W)
        point = W, self.b.copy(), self.counts.copy(), sum_w, self.sum_b.copy(), self.sum_from
        return Snapshot(*point, self.step, iteration, passes, measured, self.Y, self.planes, moves)


def _copy(table: FloatArray, columns: Sequence[int] | None = None) -> FloatArray:
    """Return the table, or some of its columns, in another place."""
    out = interleaved(len(table), table.shape[1] if columns is None else len(columns))
    out[:] = table if columns is None else table[:, columns]
    return out


def stable_step(problem: Objective) -> float:
    """Return a step at which one example does not overshoot its own minimum."""
    curvature = problem.loss.max_curvature if problem.loss.smooth else 1.0
    return 1.0 / (curvature * problem.mean_square_length)


def schedule_of(method: StochasticDescent, problem: Objective) -> Schedule:
    """Return the steps of a method, or such as suit one example at a time: see `StochasticDescent`."""
    if method.schedule is not None:
        return schedules.get(method.schedule)
    l1, l2, rules = problem.penalty.l1, problem.penalty.l2, stopping.get(method.stopping)
    eta = 1.0 / problem.mean_square_length if l2 or not l1 else stable_step(problem)
    decay = min(eta * problem.strength * (l2 or l1 / 3), 1e300)  # weights close to nothing must not overflow
    if decay > 0 and not l2 and rules and all(isinstance(rule, NoProgress) for rule in rules):
        return Adaptive(eta)
    return InverseTime(eta, decay) if decay > 0 else InverseSqrt(eta)
