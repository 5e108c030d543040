"""The fewest mistakes, exactly, by looking at every cell that can hold them.

The rows aᵢ = yᵢ [xᵢ, 1] cut the space of v = [w, b] into open cones, the cells; within one, each point is on one side
of the plane. Let v₀ be any vector. A best cell that does not hold v₀ has a facet, on some aᵢ·v = 0, that separates it
from v₀; and since stepping over a facet of a best cell gains nothing, the point i is right in the cell and wrong at
v₀ (or stepping over is free, and leads closer to v₀). So it is enough to look, for each mistake i of v₀, at the facets
in the subspace aᵢ·v = 0: the same problem with one dimension less. In two dimensions a sweep settles it: sort the
lines by slope, and add up what changes sides between one and the next. With K mistakes at v₀ that is about
K^(D−2) sweeps of n log n.

Degenerate positions need no special case: rows parallel to aᵢ vanish on its subspace together and go to one side
together, and events of the sweep at the same slope are one event. Whether two slopes are the same, or a product is
zero, is decided by floating-point arithmetic where its error bound allows, and by whole numbers elsewhere. Where the
weights are whole numbers, too, their sums are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._types import BoolArray, FloatArray, IntArray
from ...arithmetic.integers import IntegerRows, Vector, dot, kernel_step, to_floats
from ...certificates.mistakes.climbing import climb

EPS = float(np.finfo(np.float64).eps)
#: Products that underflow are off by less than this.
TINY = 1e-290
#: A reference vector in a subspace is climbed to until this many line searches per dimension brought nothing.
PATIENCE = 6
#: Of equally good cells, so many are kept in one sweep.
TIES = 8


@dataclass(frozen=True)
class Flat:
    """A subspace of R^D and the rows that do not vanish on it.

    Attributes
    ----------
    columns : list of vectors
        Its basis u₁ … u_r, exactly.
    rows : array
        Which rows they are.
    P : array of shape (rows, r)
        Their products with the basis (times a power of two), in floats;
    E : array of the same shape
        how far these can be off.
    """

    columns: list[Vector]
    rows: IntArray
    P: FloatArray
    E: FloatArray


class CellSearch:
    """Search for the cell with the least weight of mistakes.

    Parameters
    ----------
    A : array of shape (n, D)
        The rows; none may be zero.
    s : array of shape (n,)
        What a mistake costs, in whole numbers if sums are to be exact.
    poll : callable
        Called often; may raise to end the search.
    improved : callable
        Called with the mask of the right points, and the weight of the others, of every cell that no cell before beats:
        in the end of all the best cells, or of some of them where there are many.

    Examples
    --------
    >>> A = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 0.0]])  # planes through the origin, two features
    >>> found = []
    >>> CellSearch(A, np.ones(3), lambda: None, lambda right, cost: found.append(right)).run(np.array([0.0, 1.0]))
    np.float64(1.0)
    >>> found[-1]
    array([ True,  True, False])
    """

    def __init__(
        self, A: FloatArray, s: NDArray[Any], poll: Callable[[], None], improved: Callable[[BoolArray, Any], None]
    ) -> None:
        self.integers = IntegerRows(A)
        self.A, self.s = self.integers.floats, s
        self.largest = s.max(initial=1)
        self.about = (s / self.largest).astype(np.float64)  # for hints
        self.poll, self.improved = poll, improved
        self.best: Any = s.sum() + 1  # more than any cell
        self.sweeps = 0
        self._seen: set[frozenset[int]] = set()
        self._rng = np.random.default_rng(0)

    def run(self, v: FloatArray) -> Any:
        """Return the least weight of mistakes; v is a good vector to begin with, and the better the faster."""
        D = self.A.shape[1]
        columns = [[int(i == j) for i in range(D)] for j in range(D)]
        top = Flat(columns, np.arange(len(self.A)), self.A, np.full(self.A.shape, TINY))
        self._explore(top, self.integers.vector(v), (), np.empty(0, dtype=np.int64))
        return self.best

    # -- one subspace ---------------------------------------------------------------------------------------------

    def _explore(self, flat: Flat, v: FloatArray, pivots: tuple[int, ...], right: IntArray) -> None:
        """Look at all cells of the subspace; `right` are rows that vanish on it and are right beside it."""
        self.poll()
        r = len(flat.columns)
        if r == 2:
            for mask in self._sweep(flat, self.s.sum() - self.s[right].sum() - self.best):
                self._offer(flat, mask, right)
            return
        if r == 1:
            for side in (np.ones(1), -np.ones(1)):
                self._look_at(flat, side, right)
            return
        wrong = self._look_at(flat, v, right)
        done: set[int] = set()
        for k in wrong.tolist():
            i = int(flat.rows[k])
            key = frozenset((*pivots, i))
            if i in done or key in self._seen:
                continue
            child, kept, beside = self._facet(flat, k)
            done.update(beside.tolist())
            if len(self.A) - len(child.rows) == len(key):
                self._seen.add(key)  # no other row vanishes here, so the order of the pivots does not matter
            start = self._reference(child, (flat.P @ v)[kept]) if r > 3 else np.ones(r - 1)
            self._explore(child, start, (*pivots, i), np.append(right, beside))

    def _offer(self, flat: Flat, mask: BoolArray, right: IntArray) -> None:
        all_right = np.zeros(len(self.A), dtype=bool)
        all_right[flat.rows[mask]] = True
        all_right[right] = True
        cost = self.s[~all_right].sum()
        if cost <= self.best:
            self.best = cost
            self.improved(all_right, cost)

    def _look_at(self, flat: Flat, v: FloatArray, right: IntArray) -> IntArray:
        """Offer the cell of v and return the positions of its mistakes, the narrowest first."""
        z, sign = self._signs(flat, v)
        self._offer(flat, sign > 0, right)
        wrong = np.flatnonzero((sign <= 0) & (self.s[flat.rows] > 0))
        return wrong[np.argsort(-z[wrong], kind="stable")]

    def _signs(self, flat: Flat, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the products of the rows with v, and their signs, exactly those of v as it is in floats."""
        z = flat.P @ v
        bound = flat.E @ np.abs(v) + 2 * (len(v) + 1) * EPS * (np.abs(flat.P) @ np.abs(v)) + TINY
        sign = np.sign(z)
        doubtful = np.flatnonzero(np.abs(z) <= bound)
        if len(doubtful):
            whole = _whole(v)
            for k in doubtful.tolist():
                product = dot(self._products(flat, k), whole)
                sign[k] = (product > 0) - (product < 0)
        return z, sign

    def _products(self, flat: Flat, k: int) -> Vector:
        """Return the products of one row with the basis, exactly."""
        row = self.integers.row(int(flat.rows[k]))
        return [dot(row, column) for column in flat.columns]

    def _reference(self, flat: Flat, z: FloatArray) -> FloatArray:
        """Return a good vector of the subspace, beginning near one whose products with the rows are z."""
        if len(flat.rows) == 0:
            return np.ones(len(flat.columns))
        start = np.asarray(np.linalg.lstsq(flat.P, z, rcond=None)[0])
        start = start if start.any() else np.ones(len(start))
        return climb(flat.P, self.about[flat.rows], start, self._rng, PATIENCE * len(start), lambda _: self.poll())

    def _facet(self, flat: Flat, k: int) -> tuple[Flat, BoolArray, IntArray]:
        """Return the subspace on which row k vanishes too, which rows do not, and which that do ought to be right."""
        p = self._products(flat, k)
        columns = kernel_step(flat.columns, p)
        U = to_floats(columns)
        P = self.A[flat.rows] @ U
        E = 2 * (len(U) + 3) * EPS * (np.abs(self.A[flat.rows]) @ np.abs(U)) + TINY
        vanishing = np.zeros(len(P), dtype=bool)
        for m in np.flatnonzero((np.abs(P) <= E).all(axis=1)):
            row = self.integers.row(int(flat.rows[m]))
            vanishing[m] = not any(dot(row, column) for column in columns)
        parallel = np.flatnonzero(vanishing)
        pivot = max(range(len(p)), key=lambda m: abs(p[m]))
        same = np.array([self._products(flat, m)[pivot] * p[pivot] > 0 for m in parallel.tolist()])
        members = flat.rows[parallel]
        sides = members[same], members[~same]
        beside = max(sides, key=lambda side: self.s[side].sum())
        kept = ~vanishing
        return Flat(columns, flat.rows[kept], P[kept], E[kept]), kept, beside

    # -- two dimensions -------------------------------------------------------------------------------------------

    def _sweep(self, flat: Flat, needed: Any) -> list[BoolArray]:
        """Return which rows are right in the best cells of a two-dimensional subspace; none if less than is needed.

        At v = (−τ, 1) the row (p, q) has the product p (q/p − τ): it changes sides at τ = q/p. As τ runs from −∞ to
        ∞, v passes through half of all directions; at the others every row is on its other side.
        """
        self.sweeps += 1
        s = self.s[flat.rows]
        positive, fixed, tau, delta = self._events(flat)
        order, boundaries = self._sorted_events(flat, np.flatnonzero(~fixed), tau, delta)
        if s.dtype == object and needed > 0:  # sums of long numbers take time: floats tell where they are of no use
            about = self.about[flat.rows]
            weight, rounding = _weights(about, positive, order, boundaries), 4 * (len(s) + 1) * EPS * about.sum()
            if max(weight.max(), about.sum() - weight.min()) + rounding < needed / self.largest:
                return []
        weight, total = _weights(s, positive, order, boundaries), s.sum()
        most = max(weight.max(), total - weight.min())
        masks = []
        for turned, gains in ((False, weight), (True, total - weight)):
            for k in np.flatnonzero(gains >= most)[:TIES].tolist():
                mask = positive.copy()
                mask[order[: boundaries[k]]] ^= True
                masks.append(~mask if turned else mask)
        return masks

    def _events(self, flat: Flat) -> tuple[BoolArray, BoolArray, FloatArray, FloatArray]:
        """Return which rows are right at τ = −∞, which never change, where the others do, and how sure that is."""
        (p, q), (e_p, e_q) = flat.P.T, flat.E.T
        size = np.abs(p) - e_p
        hard = np.flatnonzero(size <= e_p)
        positive, fixed = p > 0, np.zeros(len(p), dtype=bool)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            tau = q / p
            delta = (e_q + np.abs(tau) * e_p) / size + 4 * EPS * np.abs(tau) + TINY
        for k in hard.tolist():
            p_k, q_k = self._products(flat, k)
            fixed[k] = p_k == 0
            positive[k] = (p_k or q_k) > 0
            if p_k:
                tau[k], delta[k] = _quotient(q_k, p_k)
        return positive, fixed, tau, delta

    def _sorted_events(
        self, flat: Flat, moving: IntArray, tau: FloatArray, delta: FloatArray
    ) -> tuple[IntArray, IntArray]:
        """Return the rows in the order of their events, and how many events come before each gap between them."""
        order = moving[np.argsort(tau[moving])]
        with np.errstate(over="ignore"):
            highest = np.maximum.accumulate(tau[order] + delta[order])
            lowest = np.minimum.accumulate((tau[order] - delta[order])[::-1])[::-1]
        gap = np.ones(len(order) + 1, dtype=bool)
        gap[1:-1] = highest[:-1] < lowest[1:]
        edges = np.flatnonzero(gap)
        unsure = np.flatnonzero(np.diff(edges) > 1)
        for first, last in zip(edges[unsure].tolist(), edges[unsure + 1].tolist(), strict=True):
            members = order[first:last].tolist()
            exact = {k: Fraction(q, p) for k in members for p, q in [self._products(flat, k)]}
            members.sort(key=exact.__getitem__)
            order[first:last] = members
            for place, (a, b) in enumerate(pairwise(members), first + 1):
                gap[place] = exact[a] < exact[b]
        return order, np.flatnonzero(gap)


def _weights(s: NDArray[Any], positive: BoolArray, order: IntArray, boundaries: IntArray) -> NDArray[Any]:
    """Return the weight of the rows that are right in each gap of a sweep."""
    change = np.where(positive[order], -s[order], s[order])
    return np.asarray(s[positive].sum() + np.append(s[:0].sum(), np.cumsum(change))[boundaries])


def _whole(v: FloatArray) -> Vector:
    """Return v times a power of two that makes it whole."""
    ratios = [float(x).as_integer_ratio() for x in v]
    common = max(denominator for _, denominator in ratios)
    return [numerator * (common // denominator) for numerator, denominator in ratios]


def _quotient(q: int, p: int) -> tuple[float, float]:
    """Return q/p as a float and how far off that is."""
    try:
        tau = q / p
    except OverflowError:
        return (np.inf if (q > 0) == (p > 0) else -np.inf), np.inf
    return tau, EPS * abs(tau) + TINY
