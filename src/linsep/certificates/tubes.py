"""Tubes around the optima along C: how far every optimum between two values of C can be from a chord.

From one value of C to the next the centre θ(C) of the tube goes along a line, and so do dual variables α whose sum
Σ αᵢyᵢ is zero. With v = Σ αᵢyᵢxᵢ, cᵢ = C sᵢ and ρᵢ = αᵢ + cᵢ ℓ'(zᵢ), the slope of the objective at the centre is

    r = [l2 w − v, 0] + Σ ρᵢ yᵢ [xᵢ, 1],        ρ'' = (c ℓ'(z))''  ≤  ℓ'' (2 Δc |Δz| + c M Δz²)        along the chord,

so that ρ is known between the ends from what it is at them, but for the square of the chord's length, and l2 w − v goes
along a line. Let Dᵢ ≤ cᵢ ℓ''(zᵢ) all along and Q(δ) = l2 ‖δ_w‖² + κ Σ Dᵢ (xᵢ·δ)². Where the curvature changes slowly,
|ℓ'''| ≤ M ℓ'', the objective's slope grows by no less than √Q on the way from the centre to √Q = T, while κ is no more
than (1 − e^(−q))/q for q = M T max ‖xᵢ‖ in Q⁻¹. By Cauchy and Schwarz r takes at most Λ/√κ off that,

    Λ² = ‖l2 w − v‖²/l2 + Σ ρᵢ²/Dᵢ,

and the optimum is within T = Λ/√κ. With L the longest row in (l2 + Σ Dᵢ xᵢxᵢᵀ)⁻¹ and x = M L Λ, κ = x/(−log(1 − x))
will do. A row with next to no curvature counts as ρᵢ times its length instead.

Neither feasible dual points nor values of the objective are needed, and nothing is a small difference of large numbers.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from .._common.types import FloatArray
from ..arithmetic.enclosure import ULPS, gamma
from .metrics import TINY, WIDER, Metric
from .stops import Point, Stop, lagrange, spaced

if TYPE_CHECKING:
    from .held_out import Fold

# These and the constants of `metrics` were chosen while looking at breast cancer, spambase and a9a: they decide how
# much work a bound takes, not whether it holds.
#: So many stops on either side tell a point between two of them: with spaces δ it is off like δ⁸.
SIDE = 4
#: Curvatures are followed row by row where the longest row's could fall by more than this share; all of them together
#: may fall to the other one.
STRAIGHT, LESS = 0.2, 0.7
#: Numbers of the rows of a fit that are held at once.
HELD = 2**20


@dataclass(frozen=True, eq=False)
class Node:
    """An end of chords: z, ℓ'' and |ρ| of the rows of the fit, ‖l2 w − v‖, held-out scores and how far those are."""

    C: float
    z: FloatArray
    h: FloatArray
    rho: FloatArray
    rest: float
    g: FloatArray
    off: FloatArray
    z_off: float


@dataclass(frozen=True, eq=False)
class Reach:
    """How far from the chord's an optimum's scores of held-out rows can be, Λ, and what it is by the ends alone."""

    scores: FloatArray | float
    whole: float
    own: float


class Tubes:
    """What the stops of a fold say of all optima between them."""

    def __init__(self, fold: Fold) -> None:
        self.fold, self.problem = fold, fold.objective
        self.M = self.problem.loss.self_concordance
        self._own: dict[int, float] = {}

    # -- ends of chords -----------------------------------------------------------------------------------------------

    def window(self, at: int, C: float) -> list[Stop]:
        """Return the stops that tell points from the one before number `at` to that, or the latter if it is at C.

        These are no closer to each other than half of those two: a polynomial through points in heaps is a bad one.
        """
        stops = self.fold.stops
        if stops[at].C == C:
            return stops[at : at + 1]
        apart = 0.5 * math.log(stops[at].C / stops[at - 1].C)
        return spaced(reversed(stops[:at]), apart, SIDE)[::-1] + spaced(stops[at:], apart, SIDE)

    def mixtures(self, Cs: Iterable[float]) -> Iterator[tuple[FloatArray, list[Stop], FloatArray]]:
        """Yield ascending Cs in parts, the stops that tell each part, and what each stop counts at each C."""
        stops, most = self.fold.stops, max(1, HELD // max(self.problem.n, 1))
        places = ((C, bisect_left(stops, C, key=_C)) for C in Cs)
        for (at, _), some in groupby(places, key=lambda one: (one[1], one[0] == stops[one[1]].C)):
            C = np.array([one[0] for one in some])
            told = self.window(at, float(C[0]))
            shares = lagrange(np.log([stop.C for stop in told]), np.log(C))
            for first in range(0, len(C), most):
                yield C[first : first + most], told, shares[first : first + most]

    def scores(self, Cs: Iterable[float]) -> FloatArray:
        """Return the scores of the held-out rows at ascending Cs, a row each."""
        return np.vstack([shares @ np.array([stop.g for stop in told]) for _, told, shares in self.mixtures(Cs)])

    def nodes(self, Cs: Iterable[float]) -> Iterator[Node]:
        """Yield the ends of chords at ascending Cs."""
        for C, stops, shares in self.mixtures(Cs):
            yield from self._told(C, stops, shares)

    def _told(self, C: FloatArray, stops: list[Stop], shares: FloatArray) -> Iterator[Node]:
        fold, loss, s = self.fold, self.problem.loss, self.problem.s
        z, u, g = (shares @ np.array([getattr(stop, name) for stop in stops]) for name in ("z", "u", "g"))
        slope, h = (function(z.ravel()).reshape(z.shape) for function in (loss.slope, loss.curvature))
        largest = max(float(np.abs(stop.u).max(initial=0.0)) for stop in stops)
        rests = fold.rests(C, stops, shares)
        for k, some in enumerate(shares):
            point = Point(float(C[k]), 0.0, 0.0, 0.0, tuple(stops), tuple(some.tolist()))
            off = float(fold.off(point, fold.longest))
            sizes = largest * float(np.abs(some).sum()) + float(np.abs(slope[k]).max(initial=0.0))
            rounded = gamma(len(stops) + 2 * ULPS) * sizes + TINY
            # Scores that are off by no more than ½/M have curvatures no more than twice as large.
            rho = C[k] * s * (np.abs(u[k] + slope[k]) + 2.0 * off * h[k] + rounded)
            yield Node(point.C, z[k], h[k], rho, float(rests[k]), g[k], fold.off(point, fold.norms[1]), off)

    # -- chords -------------------------------------------------------------------------------------------------------

    def reach(self, a: Node, b: Node) -> Reach:
        """Return how far optima between two ends are from the chord; infinitely where nothing is known."""
        s, M, off = self.problem.s, self.M, max(a.z_off, b.z_off)
        if not M * off < 0.5:
            return Reach(math.inf, math.inf, math.inf)
        dz = (np.abs(b.z - a.z) + 2.0 * off) * (1.0 + WIDER)
        bend = np.exp(0.5 * M * dz + M * off) * (1.0 + WIDER)
        D = a.C * s * np.minimum(a.h, b.h) / bend * (1.0 - WIDER)
        own = np.maximum(a.rho, b.rho)
        wide = 2.0 * (b.C - a.C) * dz + (b.C * M) * dz**2
        rho = (own + s * np.maximum(a.h, b.h) * bend * wide * (0.125 + WIDER)) * (1.0 + WIDER)
        metric, share = self.fold.metrics.near(math.sqrt(a.C * b.C), D, self.fold.stops)
        rest = max(a.rest, b.rest)
        if metric is None:
            return Reach(math.inf, math.inf, rest)
        whole, alone = (self._size(some, D, rest, metric, share) for some in (rho, own))
        x = M * float(metric.lengths(metric.longest, share)[0]) * whole
        if STRAIGHT < x < math.inf and metric.lift is None:
            return self._row_by_row(rho, D, rest, metric, share, Reach(math.inf, whole, alone))
        if not x < 0.9:
            return Reach(math.inf, whole, alone)
        kappa = x / -math.log1p(-x) if x > 1e-8 else 1.0 - x
        return Reach(whole / kappa * (1.0 + WIDER) * metric.lengths(metric.held_out, share), whole, alone)

    def _row_by_row(
        self, rho: FloatArray, D: FloatArray, rest: float, metric: Metric, share: float, found: Reach
    ) -> Reach:
        """Return how far optima are from a chord, κ being each row's own, e^(−q/2) at the most, by its own length.

        A few long rows may then lose all of their curvature, which is little of the whole.
        """
        lengths = metric.lengths(metric.rows, LESS * share)
        for T in (1.2 * found.whole, 2.0 * found.whole, 4.0 * found.whole):
            with np.errstate(over="ignore"):  # beyond all floats no curvature is left
                weaker = D * np.exp(-0.5 * self.M * T * lengths) * (1.0 - WIDER)
            left = metric.share(weaker)
            if left >= LESS * share and self._size(rho, weaker, rest, metric, left) < T:
                return replace(found, scores=T * (1.0 + WIDER) * metric.lengths(metric.held_out, left))
        return found

    def _size(self, rho: FloatArray, D: FloatArray, rest: float, metric: Metric, share: float) -> float:
        """Return Λ: of rows with next to no curvature by their lengths, of the others by that."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratio = np.where(rho > 0, rho / D, 0.0)
        flat = np.flatnonzero(ratio > metric.rows.min(initial=math.inf))
        lengths = metric.lengths(metric.rows[flat], share)
        which = ratio[flat] > lengths
        by_length = float((rho[flat] * lengths)[which].sum())
        ratio[flat[which]] = 0.0
        square = rest**2 / self.problem.penalty.l2 + float(ratio @ rho)
        return (math.sqrt(square) + by_length) * (1.0 + WIDER)

    def own(self, stop: Stop) -> float:
        """Return about what Λ is at a stop, by the rows with some curvature."""
        if stop.number not in self._own:
            node = next(self.nodes([stop.C]))
            D = stop.C * self.problem.s * node.h
            some = D > TINY
            square = node.rest**2 / self.problem.penalty.l2 + float((node.rho[some] ** 2 / D[some]).sum())
            self._own[stop.number] = math.sqrt(square)
        return self._own[stop.number]


def _C(stop: Stop) -> float:
    return stop.C
