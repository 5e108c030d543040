"""Solved points of an objective along C, and the points between them: what they are, and how far from the optimum.

Between stops, at which the objective was solved, points and dual points are interpolated in log C: their gaps are of
fourth order with two stops, of eighth order with four where the loss is smooth enough, and cost no fit, nor a pass over
the rows. A dual point is interpolated by its shares u = α/(C s) or, where these fall like 1/C as on classes that are
all but separable, by α itself; what that puts outside of the loss's slopes is brought back by as much of the chord
between two stops as it takes, which is feasible as they are.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from .._common.types import FloatArray
from .._core import length, mixed_conjugates, mixed_values
from ..objective.duality import balanced, weights
from ..objective.objective import Objective

#: Sums of floats are trusted to within this share of the objective.
TRUSTED = 1e-13
#: Where more than this part of a dual point has to come from the chord, the other way to interpolate is tried as well.
MUCH_OF_CHORD = 0.01


@dataclass(frozen=True, eq=False)
class Stop:
    """A solved point: (w, b) at C, its dual shares u = α/(C s), and what follows from them."""

    number: int
    C: float
    w: FloatArray
    b: float
    u: FloatArray
    z: FloatArray  # agreements of the rows of the fit
    g: FloatArray  # scores of other rows
    v: FloatArray  # Σ s u y x

    @cached_property
    def length(self) -> float:
        """‖w‖."""
        return length(self.w)


@dataclass(frozen=True)
class Point:
    """A point between stops: its penalty and loss, and a lower bound at its own C."""

    C: float
    penalty: float
    loss: float
    dual: float
    stops: tuple[Stop, ...]  # it is a sum of these
    shares: tuple[float, ...]

    @property
    def is_stop(self) -> bool:
        """Whether it was solved for."""
        return len(self.stops) == 1

    def mixed(self, name: str) -> FloatArray:
        """Return an array of the stops, interpolated."""
        arrays = (share * getattr(stop, name) for share, stop in zip(self.shares, self.stops, strict=True))
        return np.asarray(sum(arrays)) if len(self.stops) > 1 else np.asarray(getattr(self.stops[0], name))

    def objective(self, C: float) -> float:
        """P_C of the point."""
        return self.penalty + C * self.loss

    @property
    def gap(self) -> float:
        """How far it is from the optimum at its own C."""
        return self.objective(self.C) - self.dual

    def within(self, tol: float) -> bool:
        """Whether its relative gap is no more than that."""
        return self.gap <= tol * self.objective(self.C)


class Stops:
    """The stops of one objective so far, in ascending order of C.

    Parameters
    ----------
    objective : Objective
        Of one plane with an L2 penalty, at any C, on rows in memory.

    Examples
    --------
    >>> from linsep._core import Rows
    >>> from linsep.losses import Square
    >>> from linsep.objective.problem import Problem
    >>> along = Stops(Problem(Rows(np.array([[1.0], [-1.0]])), np.array([1.0, -1.0]), Square(), C=1.0))
    >>> for C in (1.0, 4.0):
    ...     along.add(C, np.array([4 * C / (1 + 4 * C)]), 0.0)  # which are optimal
    >>> point = along.point(2.0)
    >>> bool(abs(point.mixed("w")[0] - 8 / 9) < 0.02), 0 <= point.gap < 0.05
    (True, True)
    """

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        #: Whether its rows are as a solver wants them.
        self.in_best_form = False
        self.stops: list[Stop] = []
        self._points: dict[float, Point] = {}
        self._products: dict[tuple[str, int, int], float] = {}
        self._added = 0
        #: What each C that was solved for has taken.
        self.iterations: dict[float, int] = {}

    def add(self, C: float, w: FloatArray, b: float, alpha: FloatArray | None = None) -> None:
        """Take up a solved point; a dual point follows from it where the loss is smooth."""
        problem = self.objective
        z = problem.agreements(w, b)
        c = weights(problem) / problem.weight_of_loss * C
        alpha = balanced(problem, -c * problem.loss.slope(z) if alpha is None else alpha)
        u = np.divide(alpha, c, out=np.zeros_like(alpha), where=c > 0)
        v = problem.rows.rmatvec(alpha * problem.y) / C
        self.take(C, w, float(b), u=u, z=z, g=self._scores(w, float(b)), v=v)

    def take(self, C: float, w: FloatArray, b: float, **known: FloatArray) -> None:
        """Take up a solved point of which all that makes a `Stop` is known."""
        self._added += 1
        self._insert(Stop(self._added, C, w, b, **known))

    def _insert(self, stop: Stop) -> None:
        at = bisect_left(self.stops, stop.C, key=_C)
        near = [one.C for one in self.stops[max(at - 2, 0) : at + 3]]
        for known in [one for one in self._points if not near or near[0] <= one <= near[-1]]:
            if known == stop.C or not self._points[known].is_stop:
                del self._points[known]  # which knew other stops
        if at < len(self.stops) and self.stops[at].C == stop.C:
            self.stops[at] = stop
        else:
            self.stops.insert(at, stop)

    def _scores(self, w: FloatArray, b: float) -> FloatArray:
        """Return what else is to be interpolated of a stop."""
        return np.empty(0)

    def has(self, C: float) -> bool:
        """Whether there is a stop at C."""
        at = bisect_left(self.stops, C, key=_C)
        return at < len(self.stops) and self.stops[at].C == C

    def reaches(self, C: float) -> bool:
        """Whether C lies between stops, or is one's."""
        return len(self.stops) > 0 and self.stops[0].C <= C <= self.stops[-1].C

    def point(self, C: float) -> Point:
        """Return the point at C, between the stops on both sides."""
        return self.points([C])[0]

    def points(self, Cs: Iterable[float]) -> list[Point]:
        """Return the points at several C, each between the stops on both sides."""
        Cs = [float(C) for C in Cs]
        missing = sorted({C for C in Cs if C not in self._points})
        for at, some in groupby(missing, key=lambda C: bisect_left(self.stops, C, key=_C)):
            for point in self._between(at, list(some)):
                self._points[point.C] = point
        return [self._points[C] for C in Cs]

    def _between(self, at: int, Cs: list[float]) -> list[Point]:
        """Return the points at some C below stop `at` and above the one before; or that stop itself."""
        solved = [C for C in Cs if self.stops[at].C == C]
        found = self._mixtures(solved, self.stops[at : at + 1], 0)
        if len(solved) < len(Cs):
            smooth = math.isfinite(self.objective.loss.self_concordance)
            first = max(at - 2, 0) if smooth else at - 1
            stops = self.stops[first : at + 2] if smooth else self.stops[first : at + 1]
            found += self._mixtures([C for C in Cs if self.stops[at].C != C], stops, at - 1 - first)
        return found

    def _mixtures(self, Cs: list[float], stops: list[Stop], left: int) -> list[Point]:
        """Return the points at Cs of the polynomial in log C through some stops, all of them right of stop `left`."""
        if not Cs:
            return []
        problem, (x, nodes, shares, safe) = self.objective, ways(Cs, stops, left)
        C = np.array(Cs)
        loss = mixed_values(np.array([stop.z for stop in stops]), problem.sample_weight, problem.loss, shares)
        penalty = self._quadratic("w", shares, stops, problem.penalty.value)
        dual, needs = self._duals(C, stops, shares, safe)
        again = np.flatnonzero(needs > MUCH_OF_CHORD)
        if len(again):
            grown = shares[again] * np.exp(nodes - x[again, None])
            dual[again] = np.maximum(dual[again], self._duals(C[again], stops, grown, safe[again])[0])
        dual -= TRUSTED * (np.abs(penalty) + C * np.abs(loss))
        rows = zip(Cs, penalty.tolist(), loss.tolist(), dual.tolist(), shares.tolist(), strict=True)
        return [Point(C, p, value, bound, tuple(stops), tuple(some)) for C, p, value, bound, some in rows]

    def _duals(
        self, C: FloatArray, stops: list[Stop], shares: FloatArray, safe: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the lower bounds that mixtures of dual points give at C, and how much of the safe ones they needed."""
        problem = self.objective
        u = np.array([stop.u for stop in stops])
        conjugates, needs = mixed_conjugates(u, problem.sample_weight, problem.loss, shares, safe)
        mixed = C[:, None] * ((1.0 - needs)[:, None] * shares + needs[:, None] * safe)
        return -self._quadratic("v", mixed, stops, problem.penalty.conjugate) - C * conjugates, needs

    def _quadratic(self, name: str, shares: FloatArray, stops: list[Stop], function: Any) -> FloatArray:
        """Return the penalty, or its conjugate, of mixtures: of an L2 penalty by the products of the stops."""
        if self.objective.penalty.l1 or len(shares) == 1:
            return np.array([function(some @ np.array([getattr(stop, name) for stop in stops])) for some in shares])
        one = float(function(np.ones(1)))
        gram = np.array([[self._product(name, first, second) for second in stops] for first in stops])
        return np.asarray(one * np.einsum("mk,kl,ml->m", shares, gram, shares))

    def _product(self, name: str, first: Stop, second: Stop) -> float:
        key = name, min(first.number, second.number), max(first.number, second.number)
        if key not in self._products:
            # Not by a BLAS, whose threads go on spinning after a product of long vectors while others work.
            self._products[key] = float(np.einsum("i,i->", getattr(first, name), getattr(second, name)))
        return self._products[key]


def _C(stop: Stop) -> float:
    return stop.C


def ways(Cs: list[float], stops: list[Stop], left: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return log C, of the stops too, and what each stop counts at Cs: in the polynomial, and in the chord."""
    x, nodes = np.log(Cs), np.log([stop.C for stop in stops])
    shares = lagrange(nodes, x)
    safe = np.zeros_like(shares)
    safe[:, left] = 1.0
    if len(stops) > 1:
        safe[:, left + 1] = (x - nodes[left]) / (nodes[left + 1] - nodes[left])
        safe[:, left] -= safe[:, left + 1]
    return x, nodes, shares, safe


def spaced(stops: Iterable[Stop], apart: float, most: int) -> list[Stop]:
    """Return the first of some stops, and others after it, each so far in log C from the last one."""
    found: list[Stop] = []
    for stop in stops:
        if len(found) < most and (not found or abs(math.log(stop.C / found[-1].C)) >= apart):
            found.append(stop)
    return found


def lagrange(nodes: FloatArray, at: Any) -> FloatArray:
    """Return what each value counts in the polynomial through them, at one other place or at several, a row each.

    Examples
    --------
    >>> lagrange(np.array([0.0, 1.0, 2.0]), 3.0)
    array([ 1., -3.,  3.])
    """
    steps = np.asarray(at, dtype=np.float64)[..., None] - nodes
    between = nodes[:, None] - nodes + np.eye(len(nodes))
    others = np.where(np.eye(len(nodes), dtype=bool), 1.0, steps[..., None, :] / between)
    return np.asarray(others.prod(axis=-1))
