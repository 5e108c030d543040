"""The plane with the fewest mistakes: an anytime search whose answer is an interval that closes.

A plane, always at hand, says how few mistakes are possible; `cover` (conflicts that cost a mistake each) and
`cells` (every cell that can hold a better plane) prove how few are not. What decides is counted in whole
numbers: weights are multiples of a common unit, and their sums exact.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TypeVar

import numpy as np

from ..._common.types import BoolArray, FloatArray
from ...arithmetic.exact import sides
from ...arithmetic.whole_weights import two_claims
from ...certificates.mistakes.bound import MistakeBound
from ...certificates.mistakes.climbing import VertexWalk, climb
from ...history import Record
from ...objective.duality import Bound
from ...objective.objective import Objective
from ..result import STOPPED_BY_OBSERVER, Observer, Start
from ..run import EndOfRun, Run
from .cells import CellSearch
from .cover import Cover
from .local import OutOfTime, elastic
from .points import LP_ROWS, STEEP, Points
from .solver import ZeroOne, ZeroOneResult

T = TypeVar("T")

#: Seconds that a linear program, which nothing can interrupt, is given at first; then twice as many, and so on.
SLICE = 1.0

#: What a sweep costs: seconds, and seconds a row, with plain NumPy. They only decide what to try first.
SWEEP, SWEEP_ROW = 2.5e-4, 2.5e-7
#: Cells that take no longer than this are looked at before conflicts are collected.
AT_ONCE = 0.5
#: Seconds at the end for a plane with room around it, which the time limit does not count.
TIDY_UP = 0.5
#: Sets of mistakes of the same weight that are kept until the end, when the one with the most room is chosen.
TIES = 50
#: Steps over vertices at the beginning, and steps without success after which a walk begins anew.
STROLL, AT_A_LOSS = 300, 3000


def search(
    method: ZeroOne, problem: Objective, start: Start | None, seed: int, observer: Observer | None
) -> ZeroOneResult:
    """Search, from `start` if there is one; Ctrl-C and the time limit keep the best plane so far."""
    running = _Search(method, problem, seed, observer)
    with running.until_it_ends():
        running.run(start)
    return running.result()


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
        self.points = Points(problem)
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
            solved = solver.solve(problem).as_part()
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
                if right.any():  # the plane with the most room between the points that are to be right
                    self.consider_vector(self.patiently(lambda seconds: points.middle(right, seconds)))
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
