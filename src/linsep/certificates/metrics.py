"""Curvatures at solved points as metrics: lengths of rows in the inverse of H = l2 + Σ D [x, 1][x, 1]ᵀ.

Every length is rounded upwards. What is known of H⁻¹ is that of a matrix S whose S H Sᵀ was found to be the identity
but for ε, in whatever way S was come by: then xᵀH⁻¹x ≤ ‖Sx‖²/(1 − ε). Of many columns H is not factored. Then with
B = Σ D and m = Σ D x/B, H is no less than l2 ‖δ_w‖² + B (m·δ_w + δ_b)², in which [x, 1] is √(‖x − m‖²/l2 + 1/B) long.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg

from .._common.types import FloatArray
from .._core import Rows
from ..arithmetic.enclosure import gamma
from ..objective.objective import Objective
from .stops import Stop, spaced

#: Lengths are widened by this share of themselves, for the few roundings on the way to them.
WIDER = 1e-6
#: More than all that products on the way to a score lose by falling below the range of floats; its square is in range.
TINY = 1e-140
#: A matrix that is no closer to the inverse of the curvature than this is none.
FAR = 0.1
#: Up to so many columns the curvature is factored.
FACTORED = 600
#: A metric of a stop nearby does where this share of it is left: making one costs as much as bounding many cells, whose
#: number grows like the fourth root of what is lost.
LEFT = 0.3
#: Lengths of the rows of the fit count for little: they may be taken from another stop where this share is left.
LENGTHS_LEFT = 0.2
#: Which shares of a metric are looked at, beside the largest that the curvatures of all rows have.
SHARES = (0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.35, 0.2)
#: Stops that are so far apart in log C have metrics with lengths of their own of all rows.
APART = 1.5
#: Sums over rows are taken in double precision where there are fewer terms at once.
AT_ONCE = 10**9


@dataclass(frozen=True, eq=False)
class Metric:
    """The curvatures D of the rows of a fit, and lengths in H⁻¹; if not factored, `lift` is 1/B."""

    D: FloatArray
    held_out: FloatArray
    rows: FloatArray  # of the fit
    lift: float | None

    @cached_property
    def leverage(self) -> FloatArray:
        """D ‖x‖² of each row of the fit, which is no more than 1."""
        return np.minimum(self.D * self.rows**2 * (1.0 + WIDER), 1.0)

    @cached_property
    def longest(self) -> FloatArray:
        """The longest row of the fit, as an array."""
        return self.rows[[int(self.rows.argmax())]]

    def share(self, D: FloatArray) -> float:
        """Return a k ≤ 1 for which l2 + Σ D [x, 1][x, 1]ᵀ with such D is no less than k H; 0 or less if there is none.

        Some rows may have less than k times their curvature, if it is factored: that takes their leverage at the most.
        If it is not, only the part by which curvature adds to l2 is compared.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(self.D > 0, D / self.D, 1.0)
        least = min(float(ratio.min(initial=1.0)), 1.0) * (1.0 - WIDER)
        if self.lift is not None or least > LEFT:
            return least
        low = ratio < SHARES[0]
        ratio, leverage = ratio[low], self.leverage[low]
        shares = np.array(SHARES)
        taken = np.einsum("kn,n->k", np.maximum(shares[:, None] - ratio, 0.0), leverage)
        return max(least, float((shares - taken * (1.0 + WIDER)).max())) * (1.0 - WIDER)

    def lengths(self, of: FloatArray, share: float) -> FloatArray:
        """Return lengths in the inverse of a form that is no less than so large a share of H."""
        if self.lift is None:
            return of * ((1.0 + WIDER) / math.sqrt(share))
        return np.asarray(np.sqrt(of**2 + self.lift / share) * (1.0 + WIDER))


class Metrics:
    """The metrics of a fold's stops, as far as they are asked for.

    Parameters
    ----------
    objective : Objective
        At any C; with l2 > 0.
    held_out : Rows
    norms : pair of arrays
        Those of the rows of the fit, and of those held out.
    """

    def __init__(self, objective: Objective, held_out: Rows, norms: tuple[FloatArray, FloatArray]) -> None:
        self.objective, self.held_out, self.norms = objective, held_out, norms
        self.factored, self.longest = objective.d <= FACTORED, float(norms[0].max(initial=0.0))
        self._known: dict[float, Metric | None] = {}
        self._of_stops: tuple[Any, list[Stop]] = None, []

    def near(self, C: float, D: FloatArray, stops: list[Stop]) -> tuple[Metric | None, float]:
        """Return a metric, and which share of it curvatures from D on have.

        It is that of the nearest of stops that are well apart or, where little of it is left, of the nearest of all:
        the same whatever was asked for before.
        """
        anchor = _nearest(self._anchors(stops), C)
        metric = self._metric(anchor, anchor)
        share = 0.0 if metric is None else metric.share(D)
        if share <= LEFT and (stop := _nearest(stops, C)) is not anchor:
            own = self._metric(stop, anchor)
            of_own = 0.0 if own is None else own.share(D)
            metric, share = (own, of_own) if of_own > share else (metric, share)
        return metric if share > 0 else None, share

    def _anchors(self, stops: list[Stop]) -> list[Stop]:
        key = len(stops), stops[0].number, stops[-1].number, max(stop.number for stop in stops)
        if key != self._of_stops[0]:
            self._of_stops = key, spaced(stops, APART, len(stops))
        return self._of_stops[1]

    def _metric(self, stop: Stop, anchor: Stop) -> Metric | None:
        """Return the metric of a stop; None where floats do not tell the inverse.

        It is known by its own curvatures, so that of a stop which is solved again later serves on.
        """
        if stop.C not in self._known:
            self._known[stop.C] = self._made(stop, anchor)
        return self._known[stop.C]

    def _made(self, stop: Stop, anchor: Stop) -> Metric | None:
        """Make the metric of a stop: its curvatures are what floats say, neither more nor less."""
        problem = self.objective
        D = stop.C * problem.s * problem.loss.curvature(stop.z)
        if not self.factored:
            return self._unfactored(D)
        d, step = problem.d + problem.fit_intercept, max(1, AT_ONCE // (problem.d + 1) ** 2 - 1)
        lower = sum(
            problem.rows.gram(D, np.arange(first, min(first + step, problem.n))) for first in range(0, problem.n, step)
        )
        H = np.tril(lower) + np.tril(lower, -1).T
        H[np.arange(problem.d), np.arange(problem.d)] += problem.penalty.l2
        root = inverse_root(H[:d, :d], problem.n)
        if root is None:
            return None
        near = None if stop is anchor else self._metric(anchor, anchor)
        share = 0.0 if near is None else near.share(D)
        if near is None or share < LENGTHS_LEFT:
            rows = lengths_by(root, problem.rows, self.norms[0], problem.fit_intercept)
        else:
            rows = near.lengths(near.rows, share)
        return Metric(D, lengths_by(root, self.held_out, self.norms[1], problem.fit_intercept), rows, None)

    def _unfactored(self, D: FloatArray) -> Metric:
        problem, total = self.objective, float(D.sum())
        some = problem.fit_intercept and total > 0
        middle = problem.rows.rmatvec(D / total) if some else np.zeros(problem.d)
        held_out, rows = (
            distances(one, norms, middle, self.longest, problem.n) * ((1.0 + WIDER) / math.sqrt(problem.penalty.l2))
            for one, norms in ((self.held_out, self.norms[1]), (problem.rows, self.norms[0]))
        )
        lift = 0.0 if not problem.fit_intercept else (1.0 + WIDER) / total if total > TINY else math.inf
        return Metric(D, held_out, rows, lift)


def _nearest(stops: list[Stop], C: float) -> Stop:
    return min(stops, key=lambda one: abs(math.log(one.C / C)))


def distances(rows: Rows, norms: FloatArray, middle: FloatArray, longest: float, n: int) -> FloatArray:
    """‖x − m‖ of each row, rounded up, where m is but for rounding a mean of n rows that are no longer than that."""
    square = float(middle @ middle)
    squares = rows.squared_norms() - 2.0 * rows.matvec(middle) + square
    off = gamma(2 * rows.d + 4 * n + 64) * (norms + math.sqrt(square) + longest) ** 2
    return np.asarray(np.sqrt(np.maximum(squares, 0.0) + off) * (1.0 + WIDER))


def inverse_root(H: FloatArray, terms: int) -> FloatArray | None:
    """Return S with xᵀ H⁻¹ x ≤ ‖Sx‖² for every x; None where floats do not show that.

    Parameters
    ----------
    H : array
        Sums of so many `terms`, computed in floats.

    Examples
    --------
    >>> S = inverse_root(np.array([[2.0, 1.0], [1.0, 3.0]]), 10)
    >>> x = np.array([1.0, -1.0])
    >>> bool(0 <= np.sum((S @ x) ** 2) - x @ np.linalg.inv([[2.0, 1.0], [1.0, 3.0]]) @ x < 1e-5)
    True
    >>> inverse_root(np.array([[1.0, 1.0], [1.0, 1.0]]), 10) is None
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
    return S / math.sqrt(1.0 - 2.0 * off) * (1.0 + WIDER) if off < FAR else None


def lengths_by(root: FloatArray, rows: Rows, norms: FloatArray, with_one: bool) -> FloatArray:
    """‖S [x, 1]‖ of each row, rounded up."""
    if rows.is_sparse:
        squares, off = squares_by(root, rows, norms, with_one)
        good = off <= WIDER * squares
        lengths = (np.sqrt(np.maximum(squares + off, 0.0)) + TINY * (norms + 1.0)) * (1.0 + WIDER)
        if not good.all():  # the square of a length loses twice the digits
            poor = np.flatnonzero(~good)
            lengths[poor] = _by_products(root, rows.X[poor], norms[poor], with_one)
        return np.asarray(lengths)
    return _by_products(root, rows.X, norms, with_one)


def squares_by(root: FloatArray, rows: Rows, norms: FloatArray, with_one: bool) -> tuple[FloatArray, FloatArray]:
    """‖S [x, 1]‖² of each row by SᵀS, and how far each may be off: γ times the square of ‖S‖ ‖[x, 1]‖."""
    G = np.zeros((rows.d + 1, rows.d + 1))
    size = rows.d + with_one
    G[:size, :size] = root.T @ root
    off = gamma(3 * rows.d + 32) * float(linalg.norm(root)) ** 2 * (norms**2 + 1.0)
    return rows.quadratic_forms(G), np.asarray(off * (1.0 + WIDER))


def _by_products(root: FloatArray, X: Any, norms: FloatArray, with_one: bool) -> FloatArray:
    products = np.asarray(X @ root[:, : X.shape[1]].T, dtype=np.float64)
    if with_one:
        products = products + root[:, X.shape[1]]
    off = gamma(X.shape[1] + 16) * float(linalg.norm(root)) * (norms + 1.0)
    return np.asarray((np.sqrt(np.einsum("ij,ij->i", products, products)) + off) * (1.0 + WIDER))
