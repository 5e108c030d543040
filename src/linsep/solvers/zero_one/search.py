"""The plane with the fewest mistakes: an anytime search whose answer is an interval that closes.

A plane, always at hand, says how few mistakes are possible; `cover` (conflicts that cost a mistake each) and
`cells` (every cell that can hold a better plane) prove how few are not. What decides is counted in whole
numbers: weights are multiples of a common unit, and their sums exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import TypeVar

import numpy as np

from ..._checks import check_seconds
from ..._core import Rows
from ..._types import BoolArray, FloatArray
from ...arithmetic.exact import sides
from ...arithmetic.whole_weights import WholeWeights, two_claims
from ...certificates.mistakes.bound import MistakeBound
from ...certificates.mistakes.climbing import VertexWalk, centre, climb
from ...history import Record
from ...losses import Logistic, Square
from ...objective.duality import Bound
from ...objective.objective import Objective
from ...objective.problem import Problem
from ...penalties import L2
from ..contract import check_needs
from ..newton.least_squares import LeastSquares
from ..newton.newton import Newton
from ..result import STOPPED_BY_OBSERVER, Observer, Result, Start
from ..run import EndOfRun, Run
from .cells import CellSearch
from .cover import Cover
from .local import OutOfTime, elastic, roomy

Progress = Callable[[float, float, float], None]
T = TypeVar("T")

EPS = float(np.finfo(np.float64).eps)
SMALLEST = float(np.finfo(np.float64).smallest_subnormal)
#: Seconds that a linear program, which nothing can interrupt, is given at first; then twice as many, and so on.
SLICE = 1.0

#: Numbers that the search is ready to hold; it works on dense rows.
LARGEST = 2**27
#: Up to this many rows the hinge loss is minimised too, as a linear program.
LP_ROWS = 1500
#: A box for v in the linear programs that look for any plane at all, however steep.
STEEP = 1e7
#: What a sweep costs: seconds, and seconds a row, with plain NumPy. They only decide what to try first.
SWEEP, SWEEP_ROW = 2.5e-4, 2.5e-7
#: Cells that take no longer than this are looked at before conflicts are collected.
AT_ONCE = 0.5
#: Seconds at the end for a plane with room around it, which the time limit does not count.
TIDY_UP = 0.5
#: Sets of mistakes of the same weight that are kept until the end, when the one with the most room is chosen.
TIES = 50
#: The share of the room of the heaviest point that the lightest gets.
LEAST_ROOM = 1e-3
#: A point that is nearer to the plane than this, in standardised columns, is as good as on it where a centre is sought.
NEAR = 1e-100
#: Steps over vertices at the beginning, and steps without success after which a walk begins anew.
STROLL, AT_A_LOSS = 300, 3000


@dataclass(frozen=True)
class ZeroOneResult(Result):
    """The outcome of a search for the fewest mistakes.

    Attributes
    ----------
    mistakes : float
        Σ sᵢ [zᵢ ≤ 0] of the plane: the exact sum, of exact signs, rounded once.
    lower : MistakeBound
        What no plane can go below, and why; its bound is that of `mistakes` if and only if the exact sums are equal.
    trace : array of shape (steps, 3)
        Seconds, mistakes of the best plane, lower bound: whenever one of the two moved.
    """

    mistakes: float = np.inf
    lower: MistakeBound = field(default_factory=lambda: MistakeBound(0.0, "none"))
    trace: FloatArray = field(default_factory=lambda: np.empty((0, 3)))


@dataclass(frozen=True)
class ZeroOne:
    """Minimise Σ sᵢ [zᵢ ≤ 0] exactly, or as far as time allows.

    Seeds come from least squares, logistic regression, the hinge loss and searches along random lines. In up to three
    dimensions (two features and an intercept) every relevant cell is looked at; in more, conflicts are collected
    until they prove the best plane optimal, or cells are looked at where there are few enough.

    Parameters
    ----------
    time_limit : float or None
        Seconds; None for no limit.
    progress : callable or None
        Called with the weight of mistakes of the best plane, the lower bound and the seconds gone.
    """

    time_limit: float | None = 60.0
    progress: Progress | None = None

    name = "zero_one"
    needs = frozenset({"counting", "one_plane", "rows"})

    def __post_init__(self) -> None:
        check_seconds("time_limit", self.time_limit)

    def solve(
        self, problem: Objective, *, start: Start | None = None, seed: int = 0, observer: Observer | None = None
    ) -> ZeroOneResult:
        """Search, from `start` if there is one; Ctrl-C and the time limit keep the best plane so far."""
        check_needs(self, problem)
        search = _Search(self, problem, seed, observer)
        with search.until_it_ends():
            search.run(start)
        return search.result()


class _Search(Run):
    """The state of one search: the best plane, the lower bound, and the time."""

    def __init__(self, method: ZeroOne, problem: Objective, seed: int, observer: Observer | None) -> None:
        self.begun = perf_counter()
        super().__init__("the search ended", observer)
        self.method, self.problem = method, problem
        self.limit = np.inf if method.time_limit is None else float(method.time_limit)
        self.stop_requested: Callable[[], bool] = getattr(observer, "stop_requested", lambda: False)
        self.rng = np.random.default_rng(seed)
        self.trace = list[tuple[float, float, float]]()
        self.w, self.b = np.zeros(problem.rows.d), 0.0
        self.points = _Points(problem)
        self.cost, self.bound, self.method_of_bound = self.points.total + 1, 0, "none"  # in units of weight
        self.cover: Cover | None = None
        self.tied: dict[bytes, tuple[BoolArray, FloatArray | None]] = {}
        self.walk: VertexWalk | None = None

    # -- the time, and who watches --------------------------------------------------------------------------------

    def elapsed(self) -> float:
        return perf_counter() - self.begun

    def poll(self) -> None:
        if self.elapsed() > self.limit:
            raise EndOfRun(f"the time limit of {self.limit:g} s is over")
        if self.stop_requested():
            raise EndOfRun(STOPPED_BY_OBSERVER)
        self.report()

    def report(self) -> None:
        """Tell who listens how far the two numbers are apart."""
        if self.method.progress is not None:
            self.method.progress(*self.in_floats(), self.elapsed())

    def patiently(self, call: Callable[[float], T]) -> T:
        """Return call(seconds), which Ctrl-C cannot interrupt: with few seconds at first, then with more.

        It runs in this thread. HiGHS has threads of its own in each that calls it, and a process that ends while
        they are at work may be aborted.
        """
        most = SLICE
        while True:
            self.poll()
            try:
                return call(min(most, self.limit - self.elapsed()))
            except OutOfTime:
                most *= 2

    # -- the two numbers ------------------------------------------------------------------------------------------

    def lower(self) -> int:
        """What no plane can go below."""
        return self.points.hopeless_weight + max(self.bound, self.cover.bound if self.cover else 0)

    def proven(self) -> bool:
        return self.cost <= self.lower()

    def in_floats(self) -> tuple[float, float]:
        """Return the two numbers as they are told; before there is a plane, the first is infinite."""
        lower = min(self.lower(), self.cost)
        made, lower_made = two_claims(self.points.each.value(self.cost), self.points.each.value(lower))
        return (np.inf if self.cost > self.points.total else made), lower_made

    def consider(self, w: FloatArray, b: float) -> None:
        """Take the plane if it is the best so far; a point that may lie on it counts as a mistake."""
        cost = self.points.cost(w, b)
        if cost < self.cost:
            self.w, self.b, self.cost = w, b, cost
            self.tied = {}
            self.note()
        if cost <= self.cost:
            self.tie(self.points.agreements(w, b) > 0, self.points.vector(w, b))

    def tie(self, right: BoolArray, v: FloatArray | None = None) -> None:
        """Remember a set of points that some plane (v, if it is known) has right, as good as the best."""
        if len(self.tied) < TIES:
            self.tied.setdefault(right.tobytes(), (right, v))

    def consider_vector(self, v: FloatArray | None) -> None:
        if v is not None:
            self.consider(*self.points.plane(v))

    def consider_set(self, right: BoolArray) -> None:
        """Consider the plane with the most room between the points that are to be right."""
        if right.any():
            self.consider_vector(self.patiently(lambda seconds: self.points.middle(right, seconds)))

    def note(self) -> None:
        """Remember the two numbers, and tell the observer."""
        step, mean = len(self.trace) + 1, self.cost / max(1, self.points.total)
        self.trace.append((self.elapsed(), *self.in_floats()))
        self.history.add(Record(step, step, mean, mean, mean, best=mean))
        self.tell(step, self.w, self.b, mean, join=self.problem.join)

    # -- the search -----------------------------------------------------------------------------------------------

    def run(self, start: Start | None) -> None:
        """Search until the two numbers meet; raises when the time is up."""
        alike = (1.0, -1.0) if self.problem.fit_intercept else (0.0,)  # one class for all: the better one first,
        for b in sorted(alike, key=lambda b: self.points.cost(self.w, b)):  # for Ctrl-C may leave it at that
            self.consider(self.w, b)
        if start is not None:
            self.consider(start.w, start.b)
        if len(self.points.s) == 0:
            self.bound, self.method_of_bound = (
                self.cost - self.points.hopeless_weight,
                "cells",
            )  # and no plane is better
            return
        self.seeds()
        if self.proven():
            return
        if self.points.D <= 3 and self.seconds_for_cells() < 0.5 * (self.limit - self.elapsed()):
            self.look_at_cells()
            return
        self.cover = Cover(self.points.A, self.points.B, self.points.weights, self.rng, self.patiently)
        self.try_rest(self.cover.pack())
        if self.seconds_for_cells() > AT_ONCE:
            self.wander(STROLL)
        if self.seconds_for_cells() > AT_ONCE:
            share = min(0.1 * self.limit, 0.3 * self.seconds_for_cells())
            self.collect(self.cover, until=self.elapsed() + share)
        if not self.proven() and self.seconds_for_cells() < self.limit - self.elapsed():
            self.look_at_cells()
        self.collect(self.cover, until=np.inf)

    def seeds(self) -> None:
        """Begin with what surrogate losses find, and climb from there."""
        points = self.points
        if len(points.s) <= LP_ROWS:
            self.consider_vector(self.patiently(lambda left: elastic(points.B, points.s, points.box(STEEP), left)))
        for problem, solver in points.surrogates():
            if self.proven():
                return
            self.poll()
            solved = solver.solve(problem)
            self.climb_from(problem.join(solved.w, solved.b), 50)
        self.climb_from(points.vector(self.w, self.b), 20 * points.D + 100)

    def climb_from(self, v: FloatArray | None, patience: int) -> FloatArray | None:
        """Search along lines from v, consider where that leads, and return it."""
        if v is None or not v.any():
            return None

        def heard(news: FloatArray | None) -> None:
            self.consider_vector(news)
            self.poll()

        reached = climb(self.points.B, self.points.s, v, self.rng, patience, heard)
        self.consider_vector(reached)
        return reached

    def wander(self, steps: int, seconds: float = np.inf) -> None:
        """Walk from vertex to vertex for a while; where it is stuck or at a loss, begin again near the best plane."""
        points, end = self.points, self.elapsed() + seconds
        for _ in range(steps):
            if self.proven() or self.elapsed() > end:
                return
            self.poll()
            if self.walk is None or self.walk.steps >= AT_A_LOSS:
                v = points.vector(self.w, self.b)
                self.walk = VertexWalk(points.B, points.s, self.rng)
                self.walk.begin(v if v.any() else np.ones(points.D))
            best = self.walk.best
            stuck = not self.walk.step()
            if self.walk.best < best:
                self.walk.steps = 0
                self.consider_vector(self.walk.vector)
            if stuck:
                self.walk = None

    def seconds_for_cells(self) -> float:
        """A guess at what looking at all cells would take: K^(D−2) sweeps."""
        K = int((self.points.agreements(self.w, self.b) <= 0).sum())
        depth = max(0, self.points.D - 2)
        return float(K) ** depth * (SWEEP + SWEEP_ROW * len(self.points.s)) if depth * np.log(K + 1) < 40 else np.inf

    def look_at_cells(self) -> None:
        """Prove the optimum, or find it, by looking at all cells."""
        points = self.points

        def improved(right: BoolArray, cost: int) -> None:
            excess = int(cost) + points.hopeless_weight - self.cost
            if excess < 0:
                self.consider_set(right)
            elif excess == 0:
                self.tie(right)

        cells = CellSearch(points.A, points.weights.numbers, self.poll, improved)
        least = int(cells.run(self.problem.join(self.w, self.b)))
        if least >= self.bound:
            self.bound, self.method_of_bound = least, "cells"
        self.note()

    def collect(self, cover: Cover, until: float) -> None:
        """Collect conflicts until the bound meets the best plane, or nothing is left to look at, or until that time."""
        while not self.proven() and cover.open and self.elapsed() < until:
            before, begun = cover.bound, self.elapsed()
            rest = cover.step(self.cost - self.points.hopeless_weight, lambda: self.elapsed() >= until)
            if rest is not None:
                self.try_rest(rest)
                cover.conclude(self.cost - self.points.hopeless_weight)
            if cover.bound > before:
                self.note()
            self.wander(AT_A_LOSS, 0.4 * (self.elapsed() - begun))

    def try_rest(self, rest: BoolArray) -> None:
        """Consider a plane that has these points right, and climb from there."""
        if rest.any():
            self.climb_from(self.patiently(lambda seconds: self.points.middle(rest, seconds)), 50)

    # -- the outcome ----------------------------------------------------------------------------------------------

    def result(self) -> ZeroOneResult:
        """Return the best plane, counted as predictions are, and the proof."""
        problem = self.problem
        w, b = self.points.off_the_plane(*self.with_room())
        signs = sides(problem.rows.X, problem.y, problem.join(w, b), intercept=problem.fit_intercept)
        self.cost = self.points.each.where(signs <= 0)
        made, lower = self.in_floats()
        proven = self.proven()
        self.trace.append((self.elapsed(), made, lower))
        self.report()
        interval = f"between {lower:g} and {made:g} mistakes are possible"
        message = "no plane makes fewer mistakes" if proven else f"{self.message}; {interval}"
        self.history.reason = self.how()
        return ZeroOneResult(
            w,
            b,
            len(self.trace),
            proven,
            message,
            self.history,
            Start(w, b),
            interrupted=self.interrupted,
            proof=Bound(made, lower),
            mistakes=made,
            lower=self.proof(lower),
            trace=np.array(self.trace),
        )

    def with_room(self) -> tuple[FloatArray, float]:
        """Return of all sets of points that the best planes have right the one with the most room, and its centre."""
        best, most = (self.w, self.b), -np.inf
        end = self.elapsed() + TIDY_UP
        for right, inside in self.tied.values():
            if self.elapsed() > end:
                break
            if not right.any():
                continue
            try:
                v, height = self.points.centre(right, inside, TIDY_UP)
            except OutOfTime:
                continue
            if v is not None and height > most and self.points.cost(*self.points.plane(v)) <= self.cost:
                best, most = self.points.plane(v), height
        return best

    def how(self) -> str:
        """Name the method behind the lower bound."""
        if self.cover is not None and self.cover.bound > self.bound:
            return f"{len(self.cover.conflicts)} conflicts"
        return {"none": "", "cells": "all cells"}[self.method_of_bound]

    def proof(self, lower: float) -> MistakeBound:
        """Return the record behind the lower bound, in rows of X."""
        hopeless = tuple(self.points.hopeless.tolist())
        if self.lower() <= self.points.hopeless_weight:
            return MistakeBound(lower, "none" if lower == 0 else "conflicts", (), hopeless)
        if self.cover is None or self.cover.bound <= self.bound:
            return MistakeBound(lower, "cells", (), hopeless)
        first = self.points.first
        conflicts = tuple(tuple(int(first[i]) for i in conflict) for conflict in self.cover.conflicts)
        return MistakeBound(lower, "conflicts", conflicts, hopeless)


class _Points:
    """The examples as the search sees them: equal ones as one, in an order of their own, those of no weight left out.

    So the answer does not depend on the order of the rows, and a weight of two is the same as two rows.

    Attributes
    ----------
    A : array of shape (n, D)
        yᵢ [xᵢ, 1], or yᵢ xᵢ without intercept.
    B : array of shape (n, D)
        The same of the standardised columns: better for linear programs and line searches.
    weights, s : WholeWeights, array
        What they weigh: exactly, and in floats up to a common factor, for hints.
    each, total : WholeWeights, int
        What each row of X weighs, in the same unit, and the sum of that.
    first, place : array, array
        The first row of X that each stands for; and of every row of X, which of these it is, −1 for none.
    hopeless, hopeless_weight : array, int
        Rows of X on which every plane errs, x = 0 without intercept, and their weight.
    """

    def __init__(self, problem: Objective) -> None:
        rows, self.intercept = problem.rows, problem.fit_intercept
        if rows.n * rows.d > LARGEST:
            raise ValueError(
                f"X has {rows.n} × {rows.d} entries, more than the {LARGEST} that a search for the fewest mistakes "
                "can hold as dense rows; take a sample of the rows or fewer features, or use a convex loss"
            )
        X = np.asarray(rows.X.toarray() if rows.is_sparse else rows.X, dtype=np.float64) + 0.0
        s = np.ones(rows.n) if problem.sample_weight is None else problem.sample_weight
        live = s > 0
        void = np.zeros(rows.n, dtype=bool) if self.intercept else ~X.any(axis=1)
        self.each = WholeWeights.of(s)
        self.total = self.each.total
        self.hopeless = np.flatnonzero(live & void)
        self.hopeless_weight = self.each.where(self.hopeless)
        used = np.flatnonzero(live & ~void)
        table = np.column_stack([problem.y[used], X[used]])
        table, first, inverse = np.unique(table, axis=0, return_index=True, return_inverse=True)
        self.first = used[first]
        self.place = np.full(rows.n, -1)
        self.place[used] = inverse.ravel()
        self.weights = WholeWeights(self.each.numbers[used], self.each.unit).grouped(inverse.ravel(), len(table))
        self.s = self.weights.about()
        self.y, self.X = np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1:])
        self._scale()
        self.A, self.B = self._signed(self.X), self._signed((self.X - self.mean) / self.size)
        self.D = self.A.shape[1]

    def _scale(self) -> None:
        d = self.X.shape[1]
        self.mean = self.X.mean(axis=0) if self.intercept and len(self.X) else np.zeros(d)
        apart = np.abs(self.X - self.mean)
        largest = apart.max(axis=0, initial=0.0)
        divisor = np.where(largest > 0, largest, 1.0)  # the squares of tiny numbers would vanish
        size = largest * np.sqrt(((apart / divisor) ** 2).mean(axis=0)) if len(self.X) else np.zeros(d)
        size = np.where(largest > 0, np.maximum(size, SMALLEST), 0.0)
        constant = size <= 16 * EPS * np.abs(self.mean)
        self.size = np.where(constant, np.inf, size)
        # any multiple is the same plane: this one keeps the weights of tiny columns finite
        self.unit = float(np.ldexp(1.0, min(0, int(np.frexp(size.min(initial=1.0, where=~constant))[1]) + 900)))

    def _signed(self, X: FloatArray) -> FloatArray:
        rows = np.column_stack([X, np.ones(len(X))]) if self.intercept else X
        return np.ascontiguousarray(rows * self.y[:, None])

    def surrogates(self) -> list[tuple[Objective, LeastSquares | Newton]]:
        """Return problems whose solutions are good planes to begin with, and what solves them."""
        rows = Rows((self.X - self.mean) / self.size)
        shared = dict(sample_weight=self.s, fit_intercept=self.intercept)
        weak, strong = 1.0 / self.s.mean(), 100.0 / self.s.mean()
        return [
            (Problem(rows, self.y, Logistic(), L2(), C=weak, **shared), Newton(max_iter=30)),  # type: ignore[arg-type]
            (Problem(rows, self.y, Logistic(), L2(), C=strong, **shared), Newton(max_iter=30)),  # type: ignore[arg-type]
            (Problem(rows, self.y, Square(), L2(), C=weak, **shared), LeastSquares()),  # type: ignore[arg-type]
        ]

    def box(self, limit: float = 1.0) -> FloatArray:
        """How long v may be in each coordinate: the intercept has to reach every plane that cuts the points."""
        box = np.full(self.D, limit)
        if self.intercept:
            box[-1] = limit * (1.0 + float(np.abs(self.B[:, :-1]).sum(axis=1).max(initial=0.0)))
        return box

    def middle(self, right: BoolArray, seconds: float) -> FloatArray | None:
        """Return a vector that has these points right, with as much room as there is; heavier points get more."""
        v = roomy(self.B[right], self.shares(right), self.box(), seconds)
        if v is None and len(self.s) <= LP_ROWS:  # so little room that the linear program sees none
            v = elastic(self.B[right], self.s[right], self.box(STEEP), seconds)
        return v

    def centre(self, right: BoolArray, v: FloatArray | None, seconds: float) -> tuple[FloatArray | None, float]:
        """Return the vector in the middle of those that have these points right, as v has, and how much room it has."""
        if v is None or not self._inside(right, v):
            v = self.middle(right, seconds)
        if v is None or not self._inside(right, v):
            return v, -np.finfo(np.float64).max
        return centre(self.B[right], self.shares(right), v)

    def _inside(self, right: BoolArray, v: FloatArray) -> bool:
        """Whether v has these points right by so much that the squares of their distances' inverses are floats."""
        return bool((self.B[right] @ v).min() > NEAR * np.abs(v).max())

    def shares(self, right: BoolArray) -> FloatArray:
        """Return the weights of points, relative to the largest of all; the lightest get some room too."""
        shares: FloatArray = np.clip(self.s[right] / self.s.max(), LEAST_ROOM, 1.0)
        return shares

    def plane(self, v: FloatArray) -> tuple[FloatArray, float]:
        """Return w and b of a vector of the standardised rows."""
        w = (v[:-1] if self.intercept else v) * self.unit / self.size
        return w, float(v[-1] * self.unit - self.mean @ w) if self.intercept else 0.0

    def vector(self, w: FloatArray, b: float) -> FloatArray:
        """Return the vector of the standardised rows of a plane."""
        v = np.where(np.isfinite(self.size), w * np.where(np.isfinite(self.size), self.size, 0.0), 0.0)
        return np.append(v, b + self.mean @ w) if self.intercept else v

    def agreements(self, w: FloatArray, b: float) -> FloatArray:
        """Return z of every point, zero where rounding might make it positive."""
        z = self.y * (self.X @ w + b)
        z[z <= 2 * (len(w) + 2) * EPS * (np.abs(self.X) @ np.abs(w) + abs(b))] *= 0.0
        return z

    def cost(self, w: FloatArray, b: float) -> int:
        """Σ sᵢ [zᵢ ≤ 0] in units, the hopeless ones included; of no plane, more than all of them."""
        if not (np.isfinite(w).all() and np.isfinite(b)):
            return self.total + 1
        return self.hopeless_weight + self.weights.where(self.agreements(w, b) <= 0)

    def off_the_plane(self, w: FloatArray, b: float) -> tuple[FloatArray, float]:
        """Move the plane off points that lie on it, where it has an intercept and that can be done."""
        z = self.y * (self.X @ w + b)
        doubtful = np.abs(z) <= 2 * (len(w) + 2) * EPS * (np.abs(self.X) @ np.abs(w) + abs(b))
        clear = np.abs(z[~doubtful])
        if not doubtful.any() or not self.intercept:
            return w, b
        step = 0.5 * float(clear.min(initial=1.0))
        return w, min((b + step, b - step), key=lambda moved: self.cost(w, moved))
