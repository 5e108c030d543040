"""How few mistakes on held-out rows the optima of a fold can make, for every C of an interval.

At a point θ with a duality gap G at C, the optimum θ* is not far. With l2·½‖w‖² in the penalty, ‖w* − w‖² ≤ 2G/l2, and
the intercept is where the slopes balance for some w of that ball. Where the curvature H of P_C at θ changes slowly,
|ℓ'''| ≤ M ℓ'', the ellipsoid is smaller: with δ = θ* − θ, q = δᵀHδ and r = M max |xᵢ·δ| over the rows of the fit,

    G ≥ P_C(θ) − P_C(θ*) ≥ q ∫₀¹ s e^(−rs) ds = q (1 − e^(−r)(1 + r))/r²,        r ≤ M √q max ‖xᵢ‖ in H⁻¹.

A held-out row whose score keeps its sign all over the ball is predicted alike by every optimum in it. Points are
interpolated between stops (see `stops`); between two of them the optimum lies above the chord of their bounds (see
`path`).

Every length here is rounded upwards. What is known of H⁻¹ is that of a matrix S whose S H Sᵀ was found to be the
identity but for ε, in whatever way S was come by: then xᵀH⁻¹x ≤ ‖Sx‖²/(1 − ε).
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.optimize import brentq

from .._core import Rows
from .._types import FloatArray
from ..arithmetic.enclosure import ULPS, U, gamma
from ..objective.objective import Objective
from .stops import TRUSTED, Point, Stop, Stops

#: Radii are widened by this share of themselves, for the few roundings on the way to them.
WIDER = 1e-6
#: More than all that products on the way to a score lose by falling below the range of floats; its square is in range.
TINY = 1e-140
#: Cells that are no wider than this share of C are not halved again: gaps are known to `TRUSTED` of the objective, and
#: a ball to the square root of that.
NARROW = math.sqrt(TRUSTED)
#: A matrix that is no closer to the inverse of the curvature than this is none.
FAR = 0.1
#: Up to so many columns the curvature is factored.
FACTORED = 600
#: A curvature that is known of a stop nearby does where it makes lengths no more than so many times as long: making one
#: costs as much as bounding many cells, and the number of cells grows like the lengths.
LOOSE = 1.1
#: The longest row counts for little beside the radius: it may be taken from another stop, so many times as long.
LONGER = 2.0


@dataclass(frozen=True)
class Count:
    """Mistakes that are certain all over an interval of C, and rows of which nothing is."""

    mistakes: float
    open: float


@dataclass(frozen=True, eq=False)
class Metric:
    """The curvature H at a stop: where that is, and lengths in H⁻¹."""

    C: float
    z: FloatArray
    held_out: FloatArray  # of the held-out rows
    longest: float  # of any row of the fit, at the most
    measured: bool  # whether that is what it is


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
        self._metrics: list[Metric] = []
        self._norms = np.sqrt(objective.rows.squared_norms()), np.sqrt(held_out.squared_norms())
        self._longest = float(self._norms[0].max(initial=0.0))
        self.curved = math.isfinite(objective.loss.self_concordance) and objective.d <= FACTORED

    def _scores(self, w: FloatArray, b: float) -> FloatArray:
        return self.held_out.matvec(w) + b

    def mistakes(self, C: float) -> float:
        """Return the cost of the mistakes of the point at C."""
        return float(self.weight[self._wrong(self.point(C).mixed("g"))].sum())

    def _wrong(self, g: FloatArray, low: FloatArray | None = None) -> Any:
        """Return which rows are predicted wrongly with scores up to g, or for the other class from `low` on."""
        return np.where(self.signs > 0, g <= 0, (g if low is None else low) > 0)

    def off(self, point: Point, norms: Any) -> Any:
        """Return how far the scores of rows of these norms, mixed of those of the stops, may be off by rounding."""
        pairs = list(zip(point.shares, point.stops, strict=True))
        w = sum(abs(share) * stop.length for share, stop in pairs)
        b = sum(abs(share) * abs(stop.b) for share, stop in pairs)
        return gamma(self.objective.d + 2 * len(pairs) + 16) * (norms * w + b) + TINY

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

    def count_within(self, low: float, high: float, known: Count | None = None) -> Count:
        """Return the mistakes of every optimum between two C, where so much is known of a wider interval already."""
        if known is not None and not known.open:
            return known
        found = self.count(self.point(low), self.point(high))[0]
        return found if known is None or found.mistakes >= known.mistakes else known

    def count_at(self, C: float) -> Count:
        """Return the mistakes of every optimum at C."""
        point = self.point(C)
        return self._certain(point, point.gap, C)

    def scores(self, C: float) -> tuple[FloatArray, FloatArray]:
        """Return between what the scores of the held-out rows lie at the optimum at C."""
        point = self.point(C)
        below, above = self._reach(point, max(point.gap, 0.0), C)
        return point.mixed("g") - below, point.mixed("g") + above

    def _certain(self, point: Point, gap: float, C_low: float) -> Count:
        g, gap = point.mixed("g"), max(gap, 0.0)
        below, above = self._reach(point, gap, C_low)
        mistaken = self._wrong(g + above, g - below)
        right = np.where(self.signs > 0, g - below > 0, g + above <= 0)
        return Count(float(self.weight[mistaken].sum()), float(self.weight[~(mistaken | right)].sum()))

    def _reach(self, point: Point, gap: float, C_low: float) -> tuple[FloatArray, FloatArray]:
        """Return how far below and above its score at the point each held-out row's may be at an optimum."""
        off = self.off(point, self._norms[1])
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
        weaker, norms, longest = self._metric(point, C_low)
        if not longest < math.inf:  # nobody knows the inverse of that curvature
            return None
        target = gap * (M * longest * weaker) ** 2
        if M == 0.0:
            return math.sqrt(2.0 * gap) * weaker * (1.0 + WIDER) * norms
        if not target < 0.9:
            return None
        # φ(r) = 1 − e^(−r)(1 + r) grows, and is at least r²/2 − r³/3: beyond a root that is widened it is larger.
        r = (
            brentq(lambda r: 1.0 - math.exp(-r) * (1.0 + r) - target, 0.0, 10.0, xtol=1e-14)
            if target > 1e-8
            else math.sqrt(2.0 * target) * 1.001
        )
        return float(r) / (M * longest) * (1.0 + WIDER) * norms

    def _metric(self, point: Point, C_low: float) -> tuple[float, FloatArray, float]:
        """Return lengths in H⁻¹ of the held-out rows, and the largest one of the rows of the fit, with their slack.

        H is that of a stop nearby: at another point its curvatures differ by up to e^(M |Δz|), and at a smaller C it is
        smaller in proportion. One that is known does, unless it makes lengths that much longer.
        """
        z, off = point.mixed("z"), self.off(point, self._longest)
        at = bisect_left(self._metrics, point.C, key=_C)
        known = [(self._slack(metric, z, off, C_low), metric) for metric in self._metrics[max(at - 1, 0) : at + 1]]
        slack, metric = min(known, key=_slack, default=(math.inf, None))
        if metric is None or slack > LOOSE:
            stop = min(point.stops, key=lambda one: abs(math.log(one.C / point.C)))
            if all(one.C != stop.C for one in self._metrics):
                insort(self._metrics, self._metric_of(stop), key=_C)
                known.append((self._slack(own := self._metric_at(stop.C), z, off, C_low), own))
                slack, metric = min(known, key=_slack)
        assert metric is not None
        return slack, metric.held_out, metric.longest

    def _metric_at(self, C: float) -> Metric:
        return self._metrics[bisect_left(self._metrics, C, key=_C)]

    def _slack(self, metric: Metric, z: FloatArray, off: float, C_low: float) -> float:
        """Return by what lengths in a metric are to be multiplied, at agreements about z and any C from C_low on."""
        moved = self.objective.loss.self_concordance * (float(np.abs(z - metric.z).max(initial=0.0)) + off)
        return math.exp(min(0.5 * moved, 300.0)) / math.sqrt(min(1.0, C_low / metric.C)) * (1.0 + WIDER)

    def _metric_of(self, stop: Stop) -> Metric:
        """Return the metric of a stop; the longest row need not be known well, and often is from another one."""
        problem, off = self.objective, self.off(Point(stop.C, 0.0, 0.0, 0.0, (stop,), (1.0,)), self._longest)
        h = stop.C * problem.s * problem.loss.curvature(stop.z)
        lower = problem.rows.gram(h, np.arange(problem.n))
        H = np.tril(lower) + np.tril(lower, -1).T
        H[np.arange(problem.d), np.arange(problem.d)] += problem.penalty.l2
        d = problem.d + problem.fit_intercept
        # Curvatures at scores that are off by that much are others by a share of themselves.
        blurred = math.expm1(min(2.0 * problem.loss.self_concordance * off, 1.0)) + 2 * ULPS * U
        root = inverse_root(H[:d, :d], problem.n, blurred)
        if root is None:
            return Metric(stop.C, stop.z, np.full(self.held_out.n, np.inf), math.inf, measured=False)
        slacks = ((self._slack(one, stop.z, 2.0 * off, stop.C), one.longest) for one in self._metrics if one.measured)
        slack, longest = min(slacks, default=(math.inf, math.inf))
        if measured := slack > LONGER:
            longest = float(lengths_by(root, problem.rows, self._norms[0], problem.fit_intercept).max(initial=0.0))
        lengths = lengths_by(root, self.held_out, self._norms[1], problem.fit_intercept)
        return Metric(stop.C, stop.z, lengths, longest if measured else slack * longest, measured)

    @cached_property
    def _lengths(self) -> tuple[FloatArray, FloatArray]:
        """The distances of the rows of the fit, and of those held out, from the middle of the former."""
        rows, s = self.objective.rows, self.objective.s
        middle = rows.rmatvec(s / s.sum()) if self.objective.fit_intercept else np.zeros(rows.d)
        square, off = float(middle @ middle), gamma(2 * rows.d + 16)
        return tuple(  # type: ignore[return-value]
            np.sqrt(
                np.maximum(one.squared_norms() - 2.0 * one.matvec(middle) + square, 0.0)
                + off * (norms + math.sqrt(square)) ** 2
            )
            * (1.0 + WIDER)
            for one, norms in zip((rows, self.held_out), self._norms, strict=True)
        )

    def _intercepts(self, point: Point, radius: float) -> tuple[float, float]:
        """Return by how much the intercept of an optimum may differ, measured in the middle of the rows.

        Slopes grow with the scores, and every score moves by no more than the radius times its row's length.
        """
        z, problem = point.mixed("z"), self.objective
        reach = radius * self._lengths[0] + 2.0 * self.off(point, self._norms[0])
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


def _C(metric: Metric) -> float:
    return metric.C


def _slack(pair: tuple[float, Metric | None]) -> float:
    return pair[0]


def _crossing(a: Point, b: Point) -> float:
    lost, gained = a.loss - b.loss, b.penalty - a.penalty
    return min(max(gained / lost, a.C), b.C) if lost > 0 and gained > 0 else math.sqrt(a.C * b.C)


def inverse_root(H: FloatArray, terms: int, blurred: float) -> FloatArray | None:
    """Return S with xᵀ H⁻¹ x ≤ ‖Sx‖² for every x; None where floats do not show that.

    Parameters
    ----------
    H : array
        Sums of so many `terms`, computed in floats.
    blurred : float
        The share of themselves that all terms may be too large by.

    Examples
    --------
    >>> S = inverse_root(np.array([[2.0, 1.0], [1.0, 3.0]]), 10, 0.0)
    >>> x = np.array([1.0, -1.0])
    >>> bool(0 <= np.sum((S @ x) ** 2) - x @ np.linalg.inv([[2.0, 1.0], [1.0, 3.0]]) @ x < 1e-5)
    True
    >>> inverse_root(np.array([[1.0, 1.0], [1.0, 1.0]]), 10, 0.0) is None
    True
    """
    if not len(H):
        return np.zeros((0, 0))
    scale = np.sqrt(np.maximum(H.diagonal(), 0.0))
    if not (np.isfinite(H).all() and (scale > TINY).all()):
        return None
    try:
        S = linalg.solve_triangular(linalg.cholesky(H / np.outer(scale, scale), lower=True), np.eye(len(H)), lower=True)
    except linalg.LinAlgError:
        return None
    S = np.tril(S) / scale
    # Each entry of H is off by its share of √(Hᵢᵢ Hⱼⱼ) at the most, by Cauchy and Schwarz, and so are both products.
    sizes = np.abs(S) @ scale
    off = float(linalg.norm(S @ H @ S.T - np.eye(len(H)))) + gamma(terms + 4 * len(H) + 64) * float(sizes @ sizes)
    left = (1.0 - 2.0 * off) * (1.0 - blurred)
    return S / math.sqrt(left) * (1.0 + WIDER) if off < FAR and blurred < FAR else None


def lengths_by(root: FloatArray, rows: Rows, norms: FloatArray, with_one: bool) -> FloatArray:
    """‖S [x, 1]‖ of each row, rounded up."""
    X: Any = rows.X
    products = np.asarray(X @ root[:, : rows.d].T, dtype=np.float64)
    if with_one:
        products = products + root[:, rows.d]
    off = gamma(rows.d + 16) * float(linalg.norm(root)) * (norms + 1.0)
    return np.asarray((np.sqrt(np.einsum("ij,ij->i", products, products)) + off) * (1.0 + WIDER))


def costs(codes: NDArray[Any], weight: FloatArray | None, *, balanced: bool) -> FloatArray:
    """Return what a mistake on each held-out row costs; `balanced`: those of both classes the same together.

    Examples
    --------
    >>> costs(np.array([0, 0, 0, 1]), None, balanced=True).round(3)
    array([0.667, 0.667, 0.667, 2.   ])
    """
    cost = np.ones(len(codes)) if weight is None else weight.copy()
    if balanced:
        cost *= 0.5 * cost.sum() / np.bincount(codes, weights=cost, minlength=2)[codes]
    return cost


def lengths_in(inverse: FloatArray, rows: Rows, with_one: bool) -> FloatArray:
    """√([x, 1]ᵀ H⁻¹ [x, 1]) of each row."""
    X: Any = rows.X
    products = X @ inverse[: rows.d, : rows.d]
    squares = X.multiply(products).sum(axis=1) if rows.is_sparse else np.einsum("ij,ij->i", X, products)
    squares = np.asarray(squares, dtype=np.float64).ravel()
    if with_one:
        squares = squares + 2.0 * (X @ inverse[: rows.d, rows.d]) + inverse[rows.d, rows.d]
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))
