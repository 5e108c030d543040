"""The nearest points of two convex hulls, by an active set: Wolfe's algorithm with one simplex for each class.

    min ½‖v‖²,   v = Σ βᵢ yᵢ xᵢ,   β ≥ 0,   Σ₊ βᵢ = Σ₋ βᵢ = 1

(through the origin, without an intercept: Σ βᵢ = 1 over both). The plane of maximum margin is perpendicular to v, half
way: any β bounds the margin from above by ‖v‖/2 and any v from below by how far it keeps the classes apart. Where the
hulls meet, v is zero and the rows with βᵢ > 0 are the ones that prove it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .._common.types import BoolArray, FloatArray, IntArray
from .._core import Rows, is_sparse

#: Hulls nearer than this share of the longest row are looked at by other means: floats do not tell.
TOUCHING = 1e-9
RIDGE = 1e-15
#: A row's squared distance from the plane through the members, relative to the longest row, that is none.
DEPENDENT = 1e-14
#: The same for rows that are taken in together; from so many members on, when saving time matters.
SAFE, MANY = 1e-9, 150
#: The relative size of a correction for rounding from which on an inverse is computed anew.
UNSURE = 1e-3


@dataclass(frozen=True)
class Nearest:
    """Where the search ended."""

    v: FloatArray  # the difference of the nearest points found
    low: float  # of the margin: half the gap between the classes along v, negative where v does not separate
    high: float  # of the margin: ‖v‖/2; without an intercept both are of the plane through the origin
    middle: float  # x·v = middle is the plane half way between the classes
    support: IntArray  # the rows with βᵢ > 0
    weights: FloatArray  # these βᵢ
    n_iter: int  # rows added to the active set
    stopped: bool = False  # whether the observer ended it

    @property
    def relative_gap(self) -> float:
        """1 − (low/high)²: the relative duality gap of min ½‖w‖², whose value is ½/margin²."""
        return 1.0 - (self.low / self.high) ** 2 if self.low > 0 else np.inf


class _ActiveSet:
    """Rows with positive β, the system of their optimality conditions, and its inverse, changed as rows come and go.

    The system is  [0 Cᵀ; C K] [μ; β] = [1; 0],  K the Gram matrix of the rows yᵢ xᵢ and C their classes.
    """

    def __init__(self, rows: Rows, y: FloatArray, intercept: bool) -> None:
        self.rows, self.y = rows, y
        self.C = np.column_stack([y > 0, y < 0]).astype(np.float64) if intercept else np.ones((len(y), 1))
        self.c = self.C.shape[1]
        self.size = float(rows.squared_norms().max(initial=0.0)) or 1.0  # K is divided by it
        self.k, self.changes = 0, 0
        self._members, self._beta = np.empty(64, dtype=np.int64), np.empty(64)
        self._system, self._inverse = np.zeros((66, 66)), np.zeros((66, 66))

    @property
    def members(self) -> IntArray:
        """The rows."""
        return self._members[: self.k].copy()

    @property
    def beta(self) -> FloatArray:
        """Their weights."""
        return self._beta[: self.k].copy()

    def begin(self, first: IntArray) -> None:
        """Start with these rows, which have to be of both classes, each weighing the same."""
        self._grow(len(first))
        self.k = len(first)
        self._members[: self.k] = first
        self._beta[: self.k] = 1.0 / (self.C[first] @ self.C[first].sum(axis=0))
        live = slice(self.c, self.c + self.k)
        self._system[live, live] = self._products(first, first) * np.outer(self.y[first], self.y[first]) / self.size
        self._system[live, live][np.diag_indices(self.k)] += RIDGE
        self._system[live, : self.c] = self.C[first]
        self._system[: self.c, live] = self.C[first].T
        self._invert()

    def add(self, new: IntArray) -> None:
        """Take in rows, with no weight yet; leave out those that are as good as combinations of others."""
        self._grow(len(new))
        everyone = np.concatenate([self.members, new])
        products = self._products(everyone, new)
        products *= np.outer(self.y[everyone], self.y[new] / self.size)
        columns, own = np.vstack([self.C[new].T, products[: self.k]]), products[self.k :]
        own[np.diag_indices(len(new))] += RIDGE
        h = self._solved(columns)
        if h is None:
            return
        rest = own - columns.T @ h
        if len(new) == 1 or (self.k > MANY and float(np.linalg.eigvalsh(rest).min()) > SAFE):
            if rest[0, 0] > DEPENDENT:
                self._border(new, columns, own, rest, h)
            return
        half = len(new) // 2  # some may depend on others
        self.add(new[:half])
        self.add(new[half:])

    def _products(self, left: IntArray, right: IntArray) -> FloatArray:
        """xᵢ·xⱼ in double precision."""
        X = self.rows.X
        product = X[left].astype(np.float64) @ X[right].astype(np.float64).T
        return np.asarray(product.toarray() if is_sparse(product) else product, dtype=np.float64)

    def _solved(self, columns: FloatArray) -> FloatArray | None:
        """Return the solutions of the system for these right-hand sides, corrected once for rounding.

        Where the correction is not small the inverse has lost its digits and is computed anew; None where that does not
        help.
        """
        n = len(columns)
        for fresh in (False, True):
            if fresh:
                self._invert()
            with np.errstate(over="ignore", invalid="ignore"):
                h = self._inverse[:n, :n] @ columns
                correction = self._inverse[:n, :n] @ (columns - self._system[:n, :n] @ h)
                size, off = float(np.abs(h).max(initial=0.0)), float(np.abs(correction).max(initial=0.0))
            if off <= UNSURE * size and np.isfinite(size):
                return h + correction
        return None

    def _border(self, new: IntArray, columns: FloatArray, own: FloatArray, rest: FloatArray, h: FloatArray) -> None:
        """Put rows and columns around the system and, by the block formula, around its inverse."""
        n, m = self.c + self.k, self.c + self.k + len(new)
        self._system[:n, n:m], self._system[n:m, :n], self._system[n:m, n:m] = columns, columns.T, own
        inner = np.linalg.inv(rest)
        outer = h @ inner
        self._inverse[:n, :n] += outer @ h.T
        self._inverse[:n, n:m], self._inverse[n:m, :n], self._inverse[n:m, n:m] = -outer, -outer.T, inner
        self._members[self.k : self.k + len(new)], self._beta[self.k : self.k + len(new)] = new, 0.0
        self.k += len(new)
        self.changes += len(new)

    def remove(self, place: int) -> None:
        """Leave a row out."""
        n, j, last = self.c + self.k, self.c + place, self.c + self.k - 1
        for matrix in (self._system, self._inverse):  # the last takes its place
            matrix[[j, last], :n] = matrix[[last, j], :n]
            matrix[:n, [j, last]] = matrix[:n, [last, j]]
        self._members[place], self._beta[place] = self._members[self.k - 1], self._beta[self.k - 1]
        h = self._inverse[:last, last].copy()
        self._inverse[:last, :last] -= np.outer(h / self._inverse[last, last], h)
        self.k -= 1
        self.changes += 1

    def settle(self) -> None:
        """Move β to the minimum over the members, leaving out those that would be negative, one bound at a time."""
        while True:
            target, beta = self._unconstrained(), self._beta[: self.k]
            if self.k <= MANY or not (target <= 0).any():
                target = self._refined()
            below = np.flatnonzero(target <= 0)
            if not len(below):
                beta[:] = target
                return
            # a new row that wants no weight is in the way of everything: 0/0 is 0
            ratio, way = np.zeros(len(below)), beta[below] - target[below]
            np.divide(beta[below], way, out=ratio, where=way > 0)
            step = float(ratio.min())
            beta += step * (target - beta)
            np.maximum(beta, 0.0, out=beta)
            # of new rows that are in the way, the worst leaves first: without it the others may be welcome
            out = below[ratio <= step]
            self.remove(int(out[np.argmin(target[out])]))

    def _unconstrained(self) -> FloatArray:
        """Return the minimum over the members for any signs: the inverse times [1; 0]."""
        if self.changes > 50 + self.k:
            self._invert()
        return np.asarray(self._inverse[self.c : self.c + self.k, : self.c].sum(axis=1))

    def _refined(self) -> FloatArray:
        """Return the same, corrected for rounding; invert anew where that has grown."""
        n = self.c + self.k
        right = np.append(np.ones(self.c), np.zeros(self.k))
        S, H = self._system[:n, :n], self._inverse[:n, :n]
        for _ in range(2):
            solution, left = np.zeros(n), right
            for _ in range(5):  # hulls that nearly touch need all digits: μ is ‖v‖² over the longest row's
                solution += H @ left
                left = right - S @ solution
                if float(np.abs(left).max()) <= 1e-16 * n:
                    break
            if float(np.abs(left).max()) <= 1e-14 * n:
                break
            self._invert()
        return np.asarray(solution[self.c :])

    def _invert(self) -> None:
        n = self.c + self.k
        S = self._system[:n, :n]
        try:
            self._inverse[:n, :n] = np.linalg.inv(S)
        except np.linalg.LinAlgError:
            self._inverse[:n, :n] = np.linalg.pinv(S, hermitian=True)
        self.changes = 0

    def _grow(self, more: int) -> None:
        """Make room."""
        room, wanted = len(self._members), self.k + more
        if wanted <= room:
            return
        new = max(wanted, 2 * room)
        self._members, self._beta = np.resize(self._members, new), np.resize(self._beta, new)
        self._system = np.pad(self._system, (0, new - room))
        self._inverse = np.pad(self._inverse, (0, new - room))

    def vector(self) -> FloatArray:
        """V = Σ βᵢ yᵢ xᵢ."""
        which = self._members[: self.k]
        return np.asarray(self.rows.X[which].astype(np.float64).T @ (self._beta[: self.k] * self.y[which]))


def nearest_points(
    rows: Rows,
    y: FloatArray,
    *,
    intercept: bool,
    tol: float,
    max_iter: int,
    observer: Callable[[int, Nearest], bool] | None = None,
    tick: Callable[[], None] = lambda: None,
) -> Nearest:
    """Return the nearest points of the two classes' hulls, to a relative gap of `tol` if the hulls do not meet.

    Labels are ±1, and at most `max_iter` rows are added to two that are near each other. The
    observer is told of every outer round, and returns True to stop; `tick` is called at every step, and may raise.

    Examples
    --------
    >>> X, y = np.array([[0.0, 0.0], [0.0, 1.0], [4.0, 3.0]]), np.array([-1.0, -1.0, 1.0])
    >>> found = nearest_points(Rows(X), y, intercept=True, tol=1e-6, max_iter=100)
    >>> found.v.tolist(), sorted(found.support.tolist())
    ([4.0, 2.0], [1, 2])
    """
    active = _ActiveSet(rows, y, intercept)
    first = _first(rows, y, intercept)
    active.begin(first)
    active.settle()
    scale = float(np.sqrt(rows.squared_norms().max(initial=0.0))) or 1.0
    added, best, stopped = len(first), None, False
    while True:
        v = active.vector()
        scores = y * rows.matvec(v)
        found = _measured(active, v, scores, intercept, added)
        best = found if best is None or found.relative_gap <= best.relative_gap else best
        stopped = observer is not None and observer(added, best)
        if found.relative_gap <= tol or 2 * found.high <= TOUCHING * scale or added >= max_iter or stopped:
            break
        before = active.members
        added += _inner(active, scores, tol, max_iter - added, TOUCHING * scale, tick)
        if np.array_equal(np.sort(before), np.sort(active.members)):
            break  # rounding: no row is seen to be violated any more
    return replace(best if best.low > 0 else found, n_iter=added, stopped=stopped)


def _inner(
    active: _ActiveSet, scores: FloatArray, tol: float, limit: int, touching: float, tick: Callable[[], None]
) -> int:
    """Solve over the rows that are lowest now, a few times as many as there are members; return how many it added."""
    rows, y, intercept = active.rows, active.y, active.c == 2
    many = max(400, 4 * active.k)
    groups = [np.flatnonzero(y == label) for label in (-1.0, 1.0)] if intercept else [np.arange(rows.n)]
    near = [g[np.argpartition(scores[g], many)[:many]] if len(g) > many else g for g in groups]
    candidates = np.unique(np.concatenate([*near, active.members]))
    near_rows, signs = Rows(rows.X[candidates]), y[candidates]
    added = 0
    cautious = False
    for _ in range(10 * len(candidates)):
        v = active.vector()
        z = signs * near_rows.matvec(v)
        square = float(v @ v)
        tick()
        if square <= touching**2:
            break
        fresh = _violated(z, signs, np.isin(candidates, active.members), intercept, 0.1 * tol * square)
        if not len(fresh) or added >= limit:
            break
        fresh = fresh[: 1 if cautious else max(2, active.k // 6)]
        active.add(candidates[fresh])
        active.settle()
        added += len(fresh)
        if float(np.linalg.norm(active.vector())) ** 2 < square * (1 - 1e-14):
            cautious = False
        elif cautious:
            break  # rounding has the last word
        else:
            cautious = True  # one row at a time, the worst, always helps but for rounding
    return added


def _violated(z: FloatArray, signs: FloatArray, inside: BoolArray, intercept: bool, slack: float) -> IntArray:
    """Return the places of rows that are nearer than the members of their class along v, the nearest first."""
    slack += 1e-15 * float(np.abs(z).max())
    short = np.zeros(len(z))
    for label in (-1.0, 1.0) if intercept else (None,):
        mine = np.ones(len(z), dtype=bool) if label is None else signs == label
        short[mine] = float(z[mine & inside].min(initial=np.inf)) - z[mine]
    short[inside] = -np.inf
    found = np.flatnonzero(short > slack)
    return found[np.argsort(-short[found], kind="stable")]


def _measured(active: _ActiveSet, v: FloatArray, scores: FloatArray, intercept: bool, added: int) -> Nearest:
    """Return the point with its bounds, from the scores yᵢ xᵢ·v of all rows."""
    length = float(np.linalg.norm(v))
    y = active.y
    if intercept:
        plus, minus = float(scores[y > 0].min()), float(scores[y < 0].min())
        low, high, middle = (plus + minus) / 2, length / 2, (plus - minus) / 2
    else:
        low, high, middle = float(scores.min()), length, 0.0
    low = low / length if length > 0 else 0.0
    return Nearest(v, low, high, middle, active.members, active.beta, added)


def _first(rows: Rows, y: FloatArray, intercept: bool) -> IntArray:
    """Return two rows that are near each other: one of each class, in a few looks back and forth."""
    if not intercept:
        return np.array([int(np.argmin(rows.squared_norms()))])
    plus, minus = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    squares = rows.squared_norms()
    i = int(plus[0])
    for group in (minus, plus, minus, plus):
        j = i
        distance = squares - 2 * rows.matvec(rows.dense(np.array([j]))[0])
        i = int(group[np.argmin(distance[group])])
    return np.array([i, j])
