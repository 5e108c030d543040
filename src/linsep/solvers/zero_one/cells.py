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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._common.types import BoolArray, FloatArray, IntArray
from ...arithmetic.integers import EPS, IntegerRows, Subspace
from ...certificates.mistakes.climbing import climb

#: A reference vector in a subspace is climbed to until this many line searches per dimension brought nothing.
PATIENCE = 6
#: Of equally good cells, so many are kept in one sweep.
TIES = 8


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
    >>> search = CellSearch(A, np.ones(3), lambda: None, lambda right, cost: found.append(right))
    >>> float(search.run(np.array([0.0, 1.0])))
    1.0
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
        top = Subspace.whole(self.integers)
        self._explore(top, self.integers.vector(v), (), np.empty(0, dtype=np.int64))
        return self.best

    # -- one subspace ---------------------------------------------------------------------------------------------

    def _explore(self, flat: Subspace, v: FloatArray, pivots: tuple[int, ...], right: IntArray) -> None:
        """Look at all cells of the subspace; `right` are rows that vanish on it and are right beside it."""
        self.poll()
        r = len(flat.basis)
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

    def _offer(self, flat: Subspace, mask: BoolArray, right: IntArray) -> None:
        all_right = np.zeros(len(self.A), dtype=bool)
        all_right[flat.rows[mask]] = True
        all_right[right] = True
        cost = self.s[~all_right].sum()
        if cost <= self.best:
            self.best = cost
            self.improved(all_right, cost)

    def _look_at(self, flat: Subspace, v: FloatArray, right: IntArray) -> IntArray:
        """Offer the cell of v and return the positions of its mistakes, the narrowest first."""
        z, sign = flat.signs(v)
        self._offer(flat, sign > 0, right)
        wrong = np.flatnonzero((sign <= 0) & (self.s[flat.rows] > 0))
        return wrong[np.argsort(-z[wrong], kind="stable")]

    def _reference(self, flat: Subspace, z: FloatArray) -> FloatArray:
        """Return a good vector of the subspace, beginning near one whose products with the rows are z."""
        if len(flat.rows) == 0:
            return np.ones(len(flat.basis))
        start = np.asarray(np.linalg.lstsq(flat.P, z, rcond=None)[0])
        start = start if start.any() else np.ones(len(start))
        return climb(flat.P, self.about[flat.rows], start, self._rng, PATIENCE * len(start), lambda _: self.poll())

    def _facet(self, flat: Subspace, k: int) -> tuple[Subspace, BoolArray, IntArray]:
        """Return the subspace on which row k vanishes too, which rows do not, and which that do ought to be right."""
        child, vanished, same = flat.hyperplane(k)
        members = flat.rows[vanished]
        beside = max(members[same], members[~same], key=lambda side: self.s[side].sum())
        return child, ~vanished, beside

    # -- two dimensions -------------------------------------------------------------------------------------------

    def _sweep(self, flat: Subspace, needed: Any) -> list[BoolArray]:
        """Return which rows are right in the best cells of a two-dimensional subspace; none if less than is needed."""
        self.sweeps += 1
        s, sweep = self.s[flat.rows], flat.sweep()
        if s.dtype == object and needed > 0:  # sums of long numbers take time: floats tell where they are of no use
            about = self.about[flat.rows]
            weight, rounding = sweep.right(about), 4 * (len(s) + 1) * EPS * about.sum()
            if max(weight.max(), about.sum() - weight.min()) + rounding < needed / self.largest:
                return []
        weight, total = sweep.right(s), s.sum()
        most = max(weight.max(), total - weight.min())
        masks = []
        for turned, gains in ((False, weight), (True, total - weight)):
            for k in np.flatnonzero(gains >= most)[:TIES].tolist():
                mask = sweep.first.copy()
                mask[sweep.order[: sweep.gaps[k]]] ^= True
                masks.append(~mask if turned else mask)
        return masks
