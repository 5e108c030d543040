"""A choice of C with proof: no C of an interval makes fewer cross-validated mistakes than a bound says.

Branch and bound over the logarithm of C: a cell is bounded by `certificates.held_out`, fold by fold; the cell with the
lowest bound is halved, until no cell can make fewer mistakes than the best C found, up to a slack.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappush
from itertools import pairwise
from typing import Any

import numpy as np

from .._common.types import FloatArray, IntArray
from .._common.words import many
from .._core import one_blas_thread
from ..certificates.case import Case
from ..certificates.enclosed_fold import AT_ONCE, Cell, bounded, lowest, split
from ..certificates.held_out import NARROW, Count, Fold
from ..certificates.kinds.choice import MOST_CELLS, Choice, Claimed, prove, stored_fold
from ..certificates.stops import Stop
from ..objective.dual_point import DualPoint
from ..objective.duality import weights
from .curves import solve, start_at, start_beyond

#: Chosen while looking at breast cancer, spambase and a9a, as the constants of tubes and metrics were.
#: A point between stops is solved for, where more than this share of a cell's gap is its own; in tubes, of Λ.
TOO_FAR, TOO_FAR_IN_TUBES = 0.3, 0.5
#: A stop is solved for again, where its own Λ is more than this share of that of the points nearby.
LOOSE = 0.25
#: The relative gap of the first stops, and how much closer than needed a later one is solved.
FIRST, CLOSER = 1e-6, 1e-3
#: The least that is asked for, and how near in log C to another a new stop in a tube may be.
CLOSEST, NEAREST = 1e-13, 0.05
#: That of the choice, where it leaves open what the optimum predicts.
LAST = 1e-12
#: How many times the work of plain cross-validation, in fits and cells, a proof may take unless more is asked for:
#: where a row stays on the plane no work would do. Of few fits, so many are meant at the least.
EFFORT, LEAST = 10.0, 100
#: Cells beyond twice those of the search, by which what a check will prove is tried first, and where it has to do.
FEW, MANY = 100, 1000


@dataclass(frozen=True)
class Proven:
    """What is proven of a choice.

    Attributes
    ----------
    C : float
        The choice: the smallest of those with the fewest mistakes.
    mistakes : float
        What it costs on all held-out rows, over all folds.
    bound : float
        No C between `C_min` and `C_max` costs less.
    C_min, C_max : float
    cells, fits : int
        How many intervals were looked at, and how many models were fitted.
    """

    C: float
    mistakes: float
    bound: float
    C_min: float
    C_max: float
    cells: int
    fits: int

    def __str__(self) -> str:
        return (
            f"C={self.C:g} makes {many(self.mistakes, 'mistake')} on held-out rows; no C between {self.C_min:g} and "
            f"{self.C_max:g} makes fewer than {self.bound:g}"
        )


def allowance(prove: float, fits: int) -> float:
    """Return how many cells and fits a proof may take, where plain cross-validation has so many fits.

    Parameters
    ----------
    prove : bool or float
        True for the usual, or how many times as much work as that of the fits.

    Examples
    --------
    >>> allowance(True, 250), allowance(2.5, 1000), allowance(True, 9)
    (2500.0, 2500.0, 1000.0)
    """
    return (EFFORT if prove is True else float(prove)) * max(fits, LEAST)


class Search:
    """Branch and bound over C, for folds that share it."""

    def __init__(self, folds: list[Fold], *, seed: int = 0) -> None:
        self.folds, self.seed, self.fits, self.cells = folds, seed, 0, 0
        self._best, self._slack = (math.inf, math.inf), 0.0  # mistakes, and at which C
        self._asked: dict[tuple[int, float], float] = {}  # to which gap stops in tubes were solved
        self._solved_near: set[tuple[int, float]] = set()
        self._places: list[float] = []

    def solve(self, fold: Fold, C: float, tol: float, *, afar: bool = False) -> None:
        """Solve a fold at C, from where the stops lead or from `afar`."""
        start = start_at(fold, fold.point(C)) if fold.reaches(C) else start_beyond(fold, C)
        solve(fold, C, tol, self.seed, None if afar else start)
        self.fits += 1

    def run(
        self,
        Cs: Any,
        slack: float,
        *,
        most: float = math.inf,
        progress: Callable[[float, float], None] | None = None,
    ) -> Proven:
        """Return the best C of an interval, whose ends and first stops are `Cs`, and a bound on all others.

        After so many cells and fits at the `most`, or with Ctrl-C, they are those that are known by then.
        """
        with one_blas_thread():
            return self._run(np.unique(np.asarray(Cs, dtype=np.float64)), slack, most, progress)

    def _run(
        self, Cs: FloatArray, slack: float, most: float, progress: Callable[[float, float], None] | None
    ) -> Proven:
        self._slack = slack
        for fold in self.folds:
            for C in Cs:
                if not (fold.has(C) or (fold.in_best_form and fold.reaches(C))):  # else it is interpolated
                    self.solve(fold, float(C), FIRST)
        self._best = math.inf, float(Cs[0])
        for C in sorted(Cs, key=self._mistakes):
            if self._mistakes(C) > self._best[0]:
                break
            self._confirm(float(C))
        self._places = sorted({*Cs.tolist(), *(stop.C for fold in self.folds for stop in fold.stops)})
        bound = self._lowest(Cs, slack, most, progress)
        at = self._best[1]
        for fold in self.folds:
            if fold.count_at(at).open:
                self.solve(fold, at, LAST)
        best = self._mistakes(at)
        return Proven(at, best, max(min(best, bound), 0.0), float(Cs[0]), float(Cs[-1]), self.cells, self.fits)

    def _lowest(
        self, Cs: FloatArray, slack: float, most: float, progress: Callable[[float, float], None] | None = None
    ) -> float:
        """Return how few mistakes any C makes, by cells of which so many at the most are looked at."""
        heap = self._bounded(list(pairwise(Cs.tolist())), [[None] * len(self.folds)] * (len(Cs) - 1))
        heapify(heap)
        return self._refined(heap, slack, min(most, MOST_CELLS // 4), progress)

    def _refined(
        self, heap: list[Cell], slack: float, most: float, progress: Callable[[float, float], None] | None
    ) -> float:
        """Halve cells until none can make fewer mistakes than the best so far; return how few one of them can make."""
        bound = -math.inf
        try:
            while True:
                bound = heap[0][0]
                room = math.ceil(min(max(most - self.cells - self.fits, 0), AT_ONCE))
                some = lowest(heap, self._best[0] - slack, room) if room else []
                if not some:
                    break
                for one in self._split(sorted(some, key=lambda cell: cell[1])):
                    heappush(heap, one)
                if progress is not None:
                    progress(self._best[0], heap[0][0])
        except KeyboardInterrupt:  # what was known of all cells before some of them were split
            pass
        return bound

    def _split(self, cells: list[Cell]) -> list[Cell]:
        """Return the parts of cells, after solving where that is needed; a C between them is chosen if it is better."""
        self._solved_near.clear()
        new: list[tuple[float, float]] = []
        known: list[list[Count]] = []
        better = []
        for _, low, high, alike in cells:
            closer = self._closer(low, math.sqrt(low * high), high, alike)
            parts = [(low, high)] if closer else split(self.folds, low, high)
            parts = list(pairwise(map(self._place, [low, *(C for _, C in parts)])))
            better += [(self._mistakes(C, alike), C) for C, _ in parts[1:]]
            new, known = new + parts, known + [alike] * len(parts)
        for found, C in sorted(better):
            if (found, C) < self._best:
                self._confirm(C)
        return self._bounded(new, known)

    def proof(
        self, found: Proven, grid: Any, score: str, held_out: IntArray | None, case: Case, **stored: Any
    ) -> Choice:
        """Return what a check needs to prove it again, and what it will prove.

        A check has all stops at once. Of those that came late some may tell a cell worse than those before had: then
        the search goes over all cells once more, with what there is now.

        Parameters
        ----------
        held_out : array or None
            The fold that each row is held out of; None where they are no partition.
        case : Case
            The model that is fitted with the choice, and its data.
        **stored
            Whether folds are ``encoded`` by their own rows; ``planes``, of the stops of a fold on rows as given.
        """
        first = self._shown(found, grid, score, held_out, case, 2 * found.cells + FEW, **stored)
        if first.left_out or first.claimed.bound >= found.bound - self._slack:
            return first
        work = self.cells + self.fits
        bound = self._lowest(np.unique(np.asarray(grid, dtype=np.float64)), self._slack, 2 * work)
        again = replace(found, bound=max(min(found.mistakes, bound), 0.0))
        second = self._shown(again, grid, score, held_out, case, 2 * found.cells + MANY, **stored)
        return max(first, second, key=lambda one: one.claimed.bound)

    def _shown(
        self, found: Proven, grid: Any, score: str, held_out: IntArray | None, case: Case, cells: int, **stored: Any
    ) -> Choice:
        """Return the proof that the stops give, by so many cells at the most."""
        planes = stored.pop("planes", _planes)
        claimed = Claimed(found.C, found.mistakes, found.bound, tuple(map(float, grid)), score, **stored)
        folds = [stored_fold([stop.C for stop in one.stops], planes(one), _dual_points(one)) for one in self.folds]
        if held_out is None:
            return Choice(claimed, np.empty(0, dtype=np.int64), (), "its folds do not hold out each row once")
        return prove(case, claimed, held_out, folds, cells)

    def _place(self, C: float) -> float:
        """Return C, or one next to it that stands for a stop or the end of a cell already: stops are to be apart."""
        at = bisect_left(self._places, C)
        for near in self._places[max(at - 1, 0) : at + 1]:
            if abs(C - near) <= NARROW * C:
                return near
        self._places.insert(at, C)
        return C

    def _mistakes(self, C: float, alike: Sequence[Count] | None = None) -> float:
        """Return the cost of the points at C; in a fold that a cell leaves nothing open of, it is known."""
        known: Sequence[Count | None] = alike or [None] * len(self.folds)
        pairs = zip(self.folds, known, strict=True)
        return sum(fold.mistakes(C) if count is None or count.open else count.mistakes for fold, count in pairs)

    def _confirm(self, C: float) -> None:
        """Choose C if it is better after solving all folds there: what an interpolated point predicts is no fit."""
        for fold in self.folds:
            if not (fold.has(C) and fold.point(C).gap <= FIRST * fold.point(C).objective(C)):
                self.solve(fold, C, FIRST)
        self._best = min(self._best, (self._mistakes(C), C))

    def _bounded(self, cells: list[tuple[float, float]], known: Sequence[Sequence[Count | None]]) -> list[Cell]:
        """Bound cells, fold by fold; what no row of a fold leaves open is the same in all of it."""
        self.cells += len(cells)
        return bounded(self.folds, cells, known)

    def _closer(self, low: float, middle: float, high: float, alike: Sequence[Count]) -> bool:
        """Solve in folds with something open, where interpolated points are too far from the optimum.

        Return whether that alone may close the cell, so that it need not be split.
        """
        closer = 0.0
        for number, (fold, count) in enumerate(zip(self.folds, alike, strict=True)):
            if not count.open:
                continue
            if fold.tubes is None:
                self._closer_by_gaps(fold, low, middle, high)
            elif not count.own <= TOO_FAR_IN_TUBES * count.whole:
                closer += count.open * self._closer_in_tube(number, low, middle, high, count.own)
        return closer > 0.5 * sum(count.open for count in alike)

    def _closer_by_gaps(self, fold: Fold, low: float, middle: float, high: float) -> None:
        """Solve at the middle, where an interpolated point is too far, and again at ends that are."""
        ends = [fold.point(C) for C in (low, high)]
        point = fold.point(middle)
        # What the halves of the cell will leave open by their width alone is a quarter of what it does now.
        lines = min(one.objective(middle) for one in ends)
        share = (middle - low) / (high - low)
        chord = (1.0 - share) * ends[0].dual + share * ends[1].dual
        width = max(lines - chord, 0.0) / 4.0
        if point.gap > TOO_FAR * max(width, 1e-300):
            self.solve(fold, middle, max(CLOSER * width / max(point.objective(middle), 1e-300), CLOSEST))
        for end in ends:
            if end.is_stop and end.gap > TOO_FAR * width:
                self.solve(fold, end.C, max(CLOSER * width / max(end.objective(end.C), 1e-300), CLOSEST))

    def _closer_in_tube(self, number: int, low: float, middle: float, high: float, own: float) -> bool:
        """Solve stops that tell a cell's points again, where these are what is far from the optimum, or a new one.

        Return whether there was something to solve for: not where floats end, nor between stops that are no wider apart
        than solutions are known.
        """
        fold = self.folds[number]
        at = bisect_left(fold.stops, middle, key=lambda stop: stop.C)
        before, after = fold.stops[max(at - 1, 0)].C, fold.stops[at].C
        if (number, before) in self._solved_near:  # which another cell has asked for
            return True
        self._solved_near.add((number, before))
        assert fold.tubes is not None
        tol = CLOSER * min(own, 1.0) ** 2 / max(fold.point(middle).objective(middle), 1e-300)
        tol = min(max(tol, CLOSEST), FIRST)
        sizes: dict[Stop, float] = {}
        for _, stops, shares in fold.tubes.mixtures([low, middle, high]):
            sizes |= zip(stops, np.abs(shares).max(axis=0).tolist(), strict=True)
        again = [stop.C for stop, share in sizes.items() if not share * fold.tubes.own(stop) <= LOOSE * own]
        again = [C for C in again if self._asked.get((number, C), math.inf) > (0.0 if fold.has(C) else tol)]
        if not again and math.log(after / before) > NEAREST:
            between = math.sqrt(before * after) if after / before > (high / low) ** 2 else middle
            again = [C for C in [self._place(between)] if not fold.has(C)]
        for C in again:
            # From next to the optimum a solver may find no step that gains anything; from afar it comes closer.
            afar = self._asked.get((number, C), math.inf) < tol / LOOSE
            self._asked[number, C] = 0.0 if afar else tol
            self.solve(fold, C, tol, afar=afar)
        return len(again) > 0


def _planes(fold: Fold) -> FloatArray:
    """Return the planes of a fold's stops, the intercept last."""
    return np.array([np.append(stop.w, stop.b) for stop in fold.stops])


def _dual_points(fold: Fold) -> list[DualPoint] | None:
    """Return the dual points of a fold's stops, where they do not follow from the planes."""
    if fold.objective.loss.smooth:
        return None
    found = []
    for stop in fold.stops:
        problem = replace(fold.objective, C=stop.C)
        found.append(DualPoint.of(problem, stop.u * weights(problem), stop.w, stop.b, stop.z))
    return found
