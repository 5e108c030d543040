"""How few mistakes on held-out rows the optima of a fold can make, for every C of an interval.

Where the loss bends slowly, optima are in tubes (see `tubes`). Else, at a point θ with a duality gap G at C, the
optimum θ* is not far. With l2·½‖w‖² in the penalty, ‖w* − w‖² ≤ 2G/l2, and the intercept is where the slopes balance
for some w of that ball. Where the curvature H of P_C at θ changes slowly, |ℓ'''| ≤ M ℓ'', but the penalty has a share
of L1, the ellipsoid is smaller: with δ = θ* − θ, q = δᵀHδ and r = M max |xᵢ·δ| over the rows of the fit,

    G ≥ P_C(θ) − P_C(θ*) ≥ q ∫₀¹ s e^(−rs) ds = q (1 − e^(−r)(1 + r))/r²,        r ≤ M √q max ‖xᵢ‖ in H⁻¹.

A held-out row whose score keeps its sign all over tube or ball is predicted alike by every optimum in it. Points are
interpolated between stops (see `stops`); between two of them the optimum lies above the chord of their bounds (see
`path`). Every length here is rounded upwards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from .._common.types import FloatArray
from .._core import Rows
from ..arithmetic.enclosure import ULPS, gamma
from ..objective.objective import Objective
from .metrics import TINY, WIDER, Metrics, distances
from .stops import TRUSTED, Point, Stop, Stops
from .tubes import Node, Tubes

#: Cells that are no wider than this share of C are not halved again: gaps are known to `TRUSTED` of the objective, and
#: a ball to the square root of that.
NARROW = math.sqrt(TRUSTED)


@dataclass(frozen=True)
class Count:
    """Mistakes that are certain all over an interval of C, and rows of which nothing is.

    In a tube, `own` is Λ of the interval's ends, beside which it has the width to thank for.
    """

    mistakes: float
    open: float
    whole: float = 0.0
    own: float = 0.0


class Fold(Stops):
    """One fold: what it is fitted on, what is held out, and the stops so far.

    Parameters
    ----------
    objective : Objective
        Of one plane, at any C, on rows in memory.
    held_out : Rows
    signs : array of ±1
        The labels of the held-out rows.
    weight : array
        What a mistake on each of them costs.
    """

    def __init__(self, objective: Objective, held_out: Rows, signs: FloatArray, weight: FloatArray) -> None:
        super().__init__(objective)
        self.held_out, self.signs, self.weight = held_out, signs, weight
        self.norms = np.sqrt(objective.rows.squared_norms()), np.sqrt(held_out.squared_norms())
        self.longest = float(self.norms[0].max(initial=0.0))
        self.metrics = Metrics(objective, held_out, self.norms)
        slow = math.isfinite(objective.loss.self_concordance)
        self.curved = slow and self.metrics.factored
        self.tubes = Tubes(self) if slow and not objective.penalty.l1 else None
        self._grams: dict[tuple[int, ...], FloatArray] = {}

    def _scores(self, w: FloatArray, b: float) -> FloatArray:
        return self.held_out.matvec(w) + b

    def mistakes(self, C: float) -> float:
        """Return the cost of the mistakes of the point at C."""
        g = self.point(C).mixed("g") if self.tubes is None else self.tubes.scores([C])[0]
        return float(self.weight[self._wrong(g)].sum())

    def _wrong(self, g: FloatArray, low: FloatArray | None = None) -> Any:
        """Return which rows are predicted wrongly with scores up to g, or for the other class from `low` on."""
        return np.where(self.signs > 0, g <= 0, (g if low is None else low) > 0)

    def off(self, point: Point, norms: Any) -> Any:
        """Return how far the scores of rows of these norms, mixed of those of the stops, may be off by rounding."""
        pairs = list(zip(point.shares, point.stops, strict=True))
        w = sum(abs(share) * stop.length for share, stop in pairs)
        b = sum(abs(share) * abs(stop.b) for share, stop in pairs)
        return gamma(self.objective.d + 2 * len(pairs) + 16) * (norms * w + b) + TINY

    def rests(self, C: FloatArray, stops: Sequence[Stop], shares: FloatArray) -> FloatArray:
        """Return ‖l2 w − v‖ of mixtures of stops, each at its C, by the products of what is mixed."""
        key = tuple(stop.number for stop in stops)
        if key not in self._grams:
            mixed = np.array([self.objective.penalty.l2 * stop.w for stop in stops] + [stop.v for stop in stops])
            self._grams[key] = mixed @ mixed.T
        parts = np.hstack([shares, -C[:, None] * shares])
        return np.asarray(np.sqrt(np.maximum(np.einsum("mk,kl,ml->m", parts, self._grams[key], parts), 0.0)))

    # -- bounds -------------------------------------------------------------------------------------------------------

    def count(self, a: Point, b: Point) -> tuple[Count, float]:
        """Return the mistakes of every optimum between two points, and which part of the gap is their own."""
        border = _crossing(a, b)
        bound = a.dual + (b.dual - a.dual) * (border - a.C) / (b.C - a.C)
        bound -= TRUSTED * (abs(a.dual) + abs(b.dual))
        halves = [
            self._certain(one, max(one.objective(border) - bound, one.gap), max(min(one.C, border), a.C))
            for one in (a, b)
        ]
        own = max(one.gap / max(one.objective(border) - bound, one.gap, 1e-300) for one in (a, b))
        fewest = min(halves, key=lambda half: half.mistakes)
        return Count(fewest.mistakes, max(half.open for half in halves)), own

    def counts(self, cells: Sequence[tuple[float, float]], known: Sequence[Count | None]) -> list[Count]:
        """Return the mistakes of every optimum in cells, ascending, where so much is known of wider ones already."""
        todo = [cell for cell, one in zip(cells, known, strict=True) if one is None or one.open]
        if self.tubes is None:
            found = {cell: self.count(*map(self.point, cell))[0] for cell in todo}
        else:
            ends, found = self.tubes.nodes(sorted({C for cell in todo for C in cell})), {}
            wanted = set(todo)
            for a, b in pairwise(ends):
                if (a.C, b.C) in wanted:
                    found[a.C, b.C] = self._in_tube(a, b)
        return [
            one if one is not None and (cell not in found or found[cell].mistakes < one.mistakes) else found[cell]
            for cell, one in zip(cells, known, strict=True)
        ]

    def count_at(self, C: float) -> Count:
        """Return the mistakes of every optimum at C."""
        if self.tubes is not None:
            node = next(self.tubes.nodes([C]))
            return self._in_tube(node, node)
        point = self.point(C)
        return self._certain(point, point.gap, C)

    def _in_tube(self, a: Node, b: Node) -> Count:
        """Return the mistakes of all optima between two ends of a chord."""
        assert self.tubes is not None
        reach = self.tubes.reach(a, b)
        far = reach.scores + np.maximum(a.off, b.off)
        found = self._sure(np.minimum(a.g, b.g) - far, np.maximum(a.g, b.g) + far)
        return replace(found, whole=reach.whole, own=reach.own)

    def _sure(self, low: FloatArray, high: FloatArray) -> Count:
        """Return the mistakes that are certain of scores between two bounds."""
        mistaken = self._wrong(high, low)
        right = np.where(self.signs > 0, low > 0, high <= 0)
        return Count(float(self.weight[mistaken].sum()), float(self.weight[~(mistaken | right)].sum()))

    def scores(self, C: float) -> tuple[FloatArray, FloatArray]:
        """Return between what the scores of the held-out rows lie at the optimum at C."""
        point = self.point(C)
        below, above = self._reach(point, max(point.gap, 0.0), C)
        return point.mixed("g") - below, point.mixed("g") + above

    def _certain(self, point: Point, gap: float, C_low: float) -> Count:
        g, gap = point.mixed("g"), max(gap, 0.0)
        below, above = self._reach(point, gap, C_low)
        return self._sure(g - below, g + above)

    def _reach(self, point: Point, gap: float, C_low: float) -> tuple[FloatArray, FloatArray]:
        """Return how far below and above its score at the point each held-out row's may be at an optimum."""
        off = self.off(point, self.norms[1])
        if self.curved:
            found = self._ellipsoid(point, gap, C_low)
            if found is not None:
                return found + off, found + off
        radius = math.sqrt(2.0 * gap / self.objective.penalty.l2) * (1.0 + WIDER)
        reach = radius * self._lengths[1] + off
        if not self.objective.fit_intercept:
            return reach, reach
        low, high = self._intercepts(point, radius)
        return reach - low, reach + high

    def _ellipsoid(self, point: Point, gap: float, C_low: float) -> FloatArray | None:
        M = self.objective.loss.self_concordance
        z, off = point.mixed("z"), M * float(self.off(point, self.longest))
        D = C_low * self.objective.s * self.objective.loss.curvature(z) * (math.exp(-off) - WIDER)
        metric, share = self.metrics.near(point.C, D, self.stops)
        if metric is None or not off < 1.0:  # nobody knows the inverse of that curvature
            return None
        longest, norms = float(metric.longest[0]), metric.held_out
        weaker = (1.0 + WIDER) / math.sqrt(share)
        target = gap * (M * longest * weaker) ** 2
        if M == 0.0:
            return math.sqrt(2.0 * gap) * weaker * (1.0 + WIDER) * norms
        if not target < 0.9:
            return None
        from scipy.optimize import brentq  # most fits ask for no such proof, and need not wait for its modules

        # φ(r) = 1 − e^(−r)(1 + r) grows, and is at least r²/2 − r³/3: beyond a root that is widened it is larger.
        r = (
            brentq(lambda r: 1.0 - math.exp(-r) * (1.0 + r) - target, 0.0, 10.0, xtol=1e-14)
            if target > 1e-8
            else math.sqrt(2.0 * target) * 1.001
        )
        return float(r) / (M * longest) * (1.0 + WIDER) * norms

    @cached_property
    def _lengths(self) -> tuple[FloatArray, FloatArray]:
        """The distances of the rows of the fit, and of those held out, from the middle of the former."""
        rows, s = self.objective.rows, self.objective.s
        middle = rows.rmatvec(s / s.sum()) if self.objective.fit_intercept else np.zeros(rows.d)
        pairs = zip((rows, self.held_out), self.norms, strict=True)
        return tuple(distances(one, norms, middle, self.longest, rows.n) for one, norms in pairs)  # type: ignore[return-value]

    def _intercepts(self, point: Point, radius: float) -> tuple[float, float]:
        """Return by how much the intercept of an optimum may differ, measured in the middle of the rows.

        Slopes grow with the scores, and every score moves by no more than the radius times its row's length.
        """
        z, problem = point.mixed("z"), self.objective
        reach = radius * self._lengths[0] + 2.0 * self.off(point, self.norms[0])
        s, y, slope = problem.s, problem.y, problem.loss.slope
        bend = s * problem.loss.curvature(z) if problem.loss.smooth else s
        step = 1.05 * float(bend @ reach) / max(float(bend.sum()), 1e-300) + 1e-12
        found = []
        for side in (-1.0, 1.0):
            shift = side * step
            for _ in range(60):
                terms = s * y * slope(z + y * (shift - side * reach))
                if side * float(terms.sum()) > gamma(problem.n + 2 * ULPS) * float(np.abs(terms).sum()):
                    break
                shift *= 1.5
            else:
                shift = side * math.inf
            found.append(shift)
        return found[0], found[1]


def _crossing(a: Point, b: Point) -> float:
    lost, gained = a.loss - b.loss, b.penalty - a.penalty
    return min(max(gained / lost, a.C), b.C) if lost > 0 and gained > 0 else math.sqrt(a.C * b.C)


def lengths_in(inverse: FloatArray, rows: Rows, with_one: bool) -> FloatArray:
    """√([x, 1]ᵀ H⁻¹ [x, 1]) of each row."""
    X: Any = rows.X
    products = X @ inverse[: rows.d, : rows.d]
    squares = X.multiply(products).sum(axis=1) if rows.is_sparse else np.einsum("ij,ij->i", X, products)
    squares = np.asarray(squares, dtype=np.float64).ravel()
    if with_one:
        squares = squares + 2.0 * (X @ inverse[: rows.d, rows.d]) + inverse[rows.d, rows.d]
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))
