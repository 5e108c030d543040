"""Folds with every rounding enclosed, and how few held-out mistakes any C of an interval makes, by stored stops alone.

A point between stops is the sum of theirs with the shares as the floats that they are. Its scores are then the same sum
of scores, and so is a dual point of dual points: each of these is exactly balanced, so the sum is. What is known of a
point is an upper bound of its penalty and of its loss, and a lower bound of the optimum at its C.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any

import numpy as np

from .._common.types import FloatArray
from .._core import IN_ONE_PIECE, in_threads, one_blas_thread, one_thread
from ..arithmetic.enclosure import (
    SMALLEST,
    U,
    combination,
    conjugate_sum,
    feasible,
    gamma,
    loss_sum,
    penalty_conjugate,
    penalty_value,
)
from ..objective.dual_point import DualPoint
from ..objective.duality import weights
from .held_out import NARROW, Count, Fold
from .metrics import TINY
from .stops import TRUSTED, Point, Stop, ways

#: Cells that are looked at together.
AT_ONCE = 32
#: How few mistakes any C of it makes, its ends, and what is known of each fold.
Cell = tuple[float, float, float, list[Count]]


@dataclass(frozen=True, eq=False)
class EnclosedStop(Stop):
    """A stop whose dual point is exactly feasible, and how far Σ αᵢyᵢxᵢ, which is v here, may be off."""

    alpha: FloatArray
    v_off: FloatArray


class EnclosedFold(Fold):
    """One fold, whose stops are planes and dual points as they are stored."""

    def store(self, C: float, w: FloatArray, b: float, dual_point: DualPoint) -> None:
        """Take up a stop."""
        problem = replace(self.objective, C=C)
        z, c = problem.agreements(w, b), weights(problem)
        alpha = dual_point.expand(problem, z)
        alpha = feasible(problem.loss, alpha, problem.y, c, balance=problem.fit_intercept)
        v, v_off = combination(problem.rows.X, alpha * problem.y)
        u = np.divide(alpha, c, out=np.zeros_like(alpha), where=c > 0)
        self._insert(EnclosedStop(len(self.stops), C, w, b, u, z, self._scores(w, b), v, alpha, v_off))

    def rests(self, C: FloatArray, stops: Sequence[Any], shares: FloatArray) -> FloatArray:
        """Return ‖l2 w − v‖ of mixtures of stops, each at its C, rounded up."""
        W, V, V_off = (np.array([getattr(stop, name) for stop in stops]) for name in ("w", "v", "v_off"))
        l2, t, k = self.objective.penalty.l2, C[:, None] * shares / [stop.C for stop in stops], len(stops)
        size = l2 * (np.abs(shares) @ np.abs(W)) + np.abs(t) @ np.abs(V)
        off = gamma(k + 16) * size + (np.abs(t) @ V_off) * (1.0 + gamma(k + 16)) + 4 * k * SMALLEST
        entries = np.abs(l2 * (shares @ W) - t @ V) + off
        squares = np.einsum("mj,mj->m", entries, entries)
        return np.asarray(np.sqrt(squares) * (1.0 + gamma(self.objective.d + 16)) + TINY)

    def _mixtures(self, Cs: list[float], stops: list[Any], left: int) -> list[Point]:
        """Return the points at Cs, each with its penalty and loss from above and the optimum from below."""
        if not Cs:
            return []
        Z, W = (np.array([getattr(stop, name) for stop in stops]) for name in ("z", "w"))
        x, nodes, shares, safe = ways(Cs, stops, left)
        found = []
        for C, at, some, chord in zip(Cs, x, shares, safe, strict=True):
            bare, size = Point(C, 0.0, 0.0, 0.0, tuple(stops), tuple(some.tolist())), np.abs(some)
            off = self.off(bare, self.norms[0])
            loss = loss_sum(self.objective.loss, some @ Z, off, self.objective.s).high
            w = np.abs(some @ W) + gamma(len(stops) + 4) * (size @ np.abs(W)) + SMALLEST
            penalty = penalty_value(self.objective.penalty, w).high
            tries = [some] if len(stops) == 1 else [some, some * np.exp(nodes - at)]
            dual = max(self._dual(C, stops, one, np.maximum(chord, 0.0)) for one in tries)
            found.append(replace(bare, penalty=penalty, loss=loss, dual=dual - TRUSTED * (penalty + C * loss)))
        return found

    def _dual(self, C: float, stops: list[Any], shares: FloatArray, safe: FloatArray) -> float:
        """Return the lower bound at C of a mixture of dual points, with as much of the safe one as makes it feasible.

        The safe one is of shares that are not negative: it leaves the box by rounding at the most, and then all of it
        is made smaller.
        """
        problem = replace(self.objective, C=C)
        loss, c = problem.loss, weights(problem)
        A, k = np.array([stop.alpha for stop in stops]), len(stops)
        own = np.array([stop.C for stop in stops])
        lowest, highest = loss.slopes
        with np.errstate(invalid="ignore"):
            top, bottom = (np.where(c > 0, -end * c, 0.0) for end in (lowest, highest))

        def mixed(some: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
            t = C * some / own
            return t, t @ A, gamma(k + 4) * (np.abs(t) @ np.abs(A)) + k * SMALLEST * (np.abs(t) @ np.abs(A) > 0)

        _, first, off = mixed(shares)
        _, second, off_second = mixed(safe)
        need = _needed(first - off - bottom, second - off_second - bottom)
        need = max(need, _needed(top - first - off, top - second - off_second))
        t, alpha, off = mixed((1.0 - need) * shares + need * safe)
        if (alpha - off < bottom).any():
            t, alpha, off = mixed(safe)
            if highest > 0 and (alpha - off < bottom).any():  # a box that is no cone
                return -math.inf
        shrink = 1.0
        with np.errstate(invalid="ignore", divide="ignore"):
            beyond = float(np.where(top > 0, (np.abs(alpha) + off) / top, 0.0).max(initial=0.0))
        if lowest > -np.inf and beyond > 1.0 - 16 * U:
            shrink = (1.0 - 32 * U) / beyond
        t, alpha, off = shrink * t, shrink * alpha, off * (1.0 + 8 * U) + 4 * U * np.abs(alpha)
        conjugates = conjugate_sum(loss, alpha, c, off)
        V, V_off = (np.array([getattr(stop, name) for stop in stops]) for name in ("v", "v_off"))
        v, v_off = t @ V, np.abs(t) @ V_off + gamma(k + 8) * (np.abs(t) @ np.abs(V)) + k * SMALLEST
        bound = -penalty_conjugate(problem.penalty, v, v_off * (1.0 + 16 * U)) - conjugates
        return bound.low


def _needed(first: FloatArray, second: FloatArray) -> float:
    """Return how much of a second point makes all rooms of a first one no less than zero, where that one's are not."""
    short = first < 0
    with np.errstate(invalid="ignore", divide="ignore"):
        need = float((first[short] / (first[short] - np.maximum(second[short], 0.0))).max(initial=0.0))
    return min(need * (1.0 + 1e-9), 1.0) if need >= 0 else 1.0


def fewest(
    folds: Sequence[Fold], cells: Sequence[tuple[float, float]], target: float, most_cells: int, clock: Any
) -> float:
    """Return how few mistakes an optimum for any C of some cells makes, `target` being enough.

    Cells below the target are split, the lowest first, until there is none, or there have been too many.
    """
    heap: list[Cell] = bounded(folds, cells, [[None] * len(folds) for _ in cells])
    heapify(heap)
    left = most_cells
    while left > 0:
        clock.check("the choice of C")
        some = lowest(heap, target, min(left, AT_ONCE))
        if not some:
            break
        new: list[tuple[float, float]] = []
        known: list[list[Count]] = []
        for _, low, high, counts in sorted(some, key=_ends):
            found = split(folds, low, high)
            new, known = new + found, known + [counts] * len(found)
        for one in bounded(folds, new, known):
            heappush(heap, one)
        left -= len(new)
    return float(heap[0][0])


def bounded(
    folds: Sequence[Fold], cells: Sequence[tuple[float, float]], known: Sequence[Sequence[Count | None]]
) -> list[Cell]:
    """Return cells, ascending, with the mistakes of every optimum in them, where so much is known of wider ones."""
    by_fold: list[list[Count]] = [[] for _ in folds]

    def count(k: int) -> None:
        by_fold[k] = folds[k].counts(cells, [one[k] for one in known])

    def count_beside_others(k: int) -> None:
        with one_thread():
            count(k)

    with one_blas_thread():
        if min(fold.objective.n for fold in folds) >= IN_ONE_PIECE:
            in_threads(count_beside_others, range(len(folds)))
        else:
            for k in range(len(folds)):
                count(k)
    by_cell = ([counts[k] for counts in by_fold] for k in range(len(cells)))
    rows = zip(cells, by_cell, strict=True)
    return [(sum(one.mistakes for one in counts), low, high, counts) for (low, high), counts in rows]


def lowest(heap: list[Cell], target: float, most: int) -> list[Cell]:
    """Take the lowest cells out of a heap, so many at the most, if they are below a target and can be split.

    None of them where the very lowest cannot.
    """
    if heap[0][0] >= target or _narrow(heap[0]):
        return []
    found = [heappop(heap)]
    while heap and len(found) < most and heap[0][0] < target and not _narrow(heap[0]):
        found.append(heappop(heap))
    return found


def split(folds: Sequence[Fold], low: float, high: float) -> list[tuple[float, float]]:
    """Return the parts of a cell: of tubes, whose width falls with the square of the cell's, four, else two."""
    ends = [low, math.sqrt(low * high), high]
    if all(fold.tubes is not None for fold in folds):
        ends = [low, math.sqrt(low * ends[1]), ends[1], math.sqrt(ends[1] * high), high]
    return list(pairwise(ends))


def _narrow(cell: Cell) -> bool:
    return not cell[1] * (1.0 + NARROW) < math.sqrt(cell[1] * cell[2])


def _ends(cell: Cell) -> tuple[float, float]:
    return cell[1], cell[2]
