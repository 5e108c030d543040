"""Fewer mistakes by searches along lines and over vertices: hints without proof, for searches and for checks.

Everything here works on the homogeneous rows aᵢ = yᵢ [xᵢ, 1] (or yᵢ xᵢ): v makes a mistake at i where aᵢ·v ≤ 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..._common.types import FloatArray


def weight_of_mistakes(z: FloatArray, s: FloatArray) -> float:
    """Σ sᵢ [zᵢ ≤ 0]."""
    return float(s[z <= 0].sum())


def line_search(g: FloatArray, h: FloatArray, s: FloatArray) -> tuple[float, float]:
    """Return the t that minimises Σ sᵢ [gᵢ + t hᵢ ≤ 0], and the minimum; of the best stretches, the widest.

    Examples
    --------
    >>> line_search(np.array([-1.0, 3.0, -9.0]), np.array([1.0, -1.0, 0.0]), np.ones(3))
    (2.0, 1.0)
    """
    moving = np.flatnonzero(h)
    if len(moving) == 0:
        return 0.0, weight_of_mistakes(g, s)
    t = -g[moving] / h[moving]
    order = np.argsort(t)
    t, up = t[order], h[moving][order] > 0
    change = np.where(up, -s[moving][order], s[moving][order])
    still = weight_of_mistakes(g[h == 0], s[h == 0])
    cost = still + s[moving][order][up].sum() + np.append(0.0, np.cumsum(change))  # before, between, after the events
    width = np.append(np.append(1.0 + abs(t[0]), np.diff(t)), 1.0 + abs(t[-1]))
    cost[width <= 0] = np.inf
    lowest = cost.min()
    tied = np.flatnonzero(cost <= lowest + 1e-12 * abs(lowest))
    k = int(tied[np.argmax(width[tied])])
    if k == 0:
        return float(t[0] - width[0]), float(cost[0])
    return float(t[-1] + width[-1] if k == len(t) else (t[k - 1] + t[k]) / 2), float(cost[k])


def climb(
    A: FloatArray,
    s: FloatArray,
    v: FloatArray,
    rng: np.random.Generator,
    patience: int,
    heard: Callable[[FloatArray | None], None],
) -> FloatArray:
    """Improve v by exact searches along random lines, until `patience` of them in a row bring nothing.

    A direction is random, one coordinate, or a row on which v errs (the perceptron's step). Moves that keep the
    number of mistakes are taken too: they lead across plateaus. `heard` is called before every search, with the new
    vector if the last one brought one with fewer mistakes; it may raise to end the climb.
    """
    D = A.shape[1]
    size = np.abs(A).mean(axis=0)
    scale = 1.0 / np.where(size > 1e-100, size, 1.0)
    z = A @ v
    cost, failures = weight_of_mistakes(z, s), 0
    news: FloatArray | None = v
    while failures < patience and cost > 0:
        heard(news)
        news = None
        kind = rng.integers(3)
        if kind == 0:
            u = rng.standard_normal(D) * scale
        elif kind == 1:
            u = np.zeros(D)
            u[rng.integers(D)] = 1.0
        else:
            u = A[rng.choice(np.flatnonzero(z <= 0))] * scale**2
        h = A @ u
        t, found = line_search(z, h, s)
        failures += 1
        if found > cost:
            continue
        moved = v + t * u
        length = np.abs(moved / scale).max()
        if not (np.isfinite(length) and length > 0):
            continue
        moved /= length
        z_moved = A @ moved
        true = weight_of_mistakes(z_moved, s)
        if true < cost:
            failures, news = 0, moved
        if true <= cost:
            v, z, cost = moved, z_moved, true
    return v


#: |a·u| below this share of the largest is taken for zero.
FLAT = 1e-11


class VertexWalk:
    """A tabu search over the vertices of the arrangement: planes through D − 1 points, one exchanged at a time.

    At a vertex the rows S with aₖ·v = 0 cost nothing, since v + ε u with A_S u = 1 has all of them right. Along the
    edge uⱼ (aⱼ·uⱼ = 1, aₖ·uⱼ = 0 for the other k ∈ S) the next vertices are where another row vanishes, and their costs
    follow from one another by adding up what changes sides. Each step looks at all vertices on the D − 1 edges and
    takes the best whose row did not leave lately, be it worse than the one before. `best` is the least weight of
    mistakes met, and `vector` a v that makes them, off all points.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> walk = VertexWalk(np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 0.0], [2.0, 1.0]]), np.ones(4), rng)
    >>> walk.begin(np.array([-1.0, 0.0]))
    >>> for _ in range(5):
    ...     _ = walk.step()
    >>> walk.best
    1.0
    """

    def __init__(self, A: FloatArray, s: FloatArray, rng: np.random.Generator) -> None:
        self.A, self.s, self.rng = A, s, rng
        self.best = np.inf
        self.vector: FloatArray | None = None
        self.active: list[int] = []
        self.v = np.zeros(A.shape[1])
        self.free_from = np.zeros(len(A), dtype=np.int64)  # the step at which a row may enter again
        self.steps = 0

    def begin(self, v: FloatArray) -> None:
        """Walk from v to a vertex: in a random direction within what is left, to the best point that vanishes there."""
        self.active, self.v = [], v / np.linalg.norm(v)
        self._look(self.v)
        while len(self.active) < min(self.A.shape[1] - 1, len(self.A)):
            held = np.vstack([self.A[self.active], self.v])
            u = self.rng.standard_normal(len(v))
            u -= np.linalg.lstsq(held, held @ u, rcond=None)[0]
            if not self._go(u[:, None], self.active):
                return

    def step(self) -> bool:
        """Go to a neighbour; return whether that was possible."""
        self.steps += 1
        if len(self.active) < self.A.shape[1] - 1:
            return False
        try:
            edges = np.linalg.inv(np.vstack([self.A[self.active], self.v]))[:, :-1]
        except np.linalg.LinAlgError:
            return False
        return self._go(edges, self.active)

    def _go(self, U: FloatArray, active: list[int]) -> bool:
        """Move along the best of these directions to the best vertex on it that is allowed."""
        z = self.A @ self.v
        z[active] = 0.0
        H = self.A @ U
        H[np.abs(H) <= FLAT * np.abs(H).max(axis=0)] = 0.0
        edge = len(active) == self.A.shape[1] - 1
        if edge:
            H[active] = np.eye(len(active))
        else:
            H[active] = 0.0
        t, cost = self._costs(z, H)
        entering = self.free_from <= self.steps
        entering[active] = False
        allowed = (entering[:, None] | (cost < self.best)) & np.isfinite(t)
        allowed[active] = False
        if not allowed.any():
            return False
        tried = np.where(allowed, cost, np.inf)
        ties = np.flatnonzero(tried.ravel() <= tried.min())
        m, j = divmod(int(self.rng.choice(ties)), H.shape[1])
        moved = self.v + t[m, j] * U[:, j]
        length = float(np.linalg.norm(moved))
        if not (np.isfinite(length) and length > 0):
            return False
        self.v = moved / length
        if edge:
            out, self.active = active[j], [*active[:j], m, *active[j + 1 :]]
            self.free_from[out] = self.steps + int(self.rng.integers(3, 10))
        else:
            self.active = [*active, m]
        if cost[m, j] <= self.best:
            self._look(self._off())
        return True

    def _costs(self, z: FloatArray, H: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return for each row and direction at which t the row vanishes (inf for never) and the cost of that vertex."""
        moves = H != 0
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(moves, -z[:, None] / H, np.inf)
        order = np.argsort(t, axis=0)
        rises = H > 0
        change = np.where(moves, np.where(rises, -self.s[:, None], self.s[:, None]), 0.0)
        first = self.s @ rises + self.s @ (~moves & (z < 0)[:, None])
        after = first + np.cumsum(np.take_along_axis(change, order, axis=0), axis=0)
        cost = np.empty_like(after)
        np.put_along_axis(cost, order, after, axis=0)
        return t, np.where(rises, cost, cost - np.maximum(change, 0.0))

    def _off(self) -> FloatArray:
        """Return the vertex moved off its points, so that it has them right, and off nothing else."""
        A_S = self.A[self.active]
        u = np.linalg.lstsq(A_S, np.ones(len(A_S)), rcond=None)[0]
        z, h = self.A @ self.v, self.A @ u
        z[self.active] = 0.0
        turning = (z * h < 0) & (np.abs(z) > FLAT)
        reach = float((-z[turning] / h[turning]).min(initial=1.0))
        return np.asarray(self.v + 0.5 * reach * u)

    def _look(self, v: FloatArray) -> None:
        cost = weight_of_mistakes(self.A @ v, self.s)
        if cost < self.best:
            self.best, self.vector = cost, v


#: Newton steps at the most for a centre, and the decrement at which it is near enough.
CENTRING, CENTRED = 100, 1e-20


def centre(A: FloatArray, s: FloatArray, v: FloatArray) -> tuple[FloatArray, float]:
    """Return the v that maximises Σ sᵢ log(aᵢ·v) − ½‖v‖² Σ sᵢ, and the maximum divided by Σ sᵢ: the analytic centre.

    Of all v that have the rows right it is the one in the middle, by the (weighted) geometric mean of the distances: an
    approximation to the Bayes point, which no scaling of single rows moves. Newton's method, from a v with A v > 0.

    Examples
    --------
    >>> v, value = centre(np.array([[1.0, 0.0], [0.0, 2.0]]), np.ones(2), np.array([1.0, 0.1]))
    >>> v.round(6)
    array([0.707107, 0.707107])
    """
    s = s / s.sum()

    def value(v: FloatArray) -> float:
        z = A @ v
        return float(s @ np.log(z) - 0.5 * v @ v) if z.min() > 0 else -np.inf

    v = v / np.linalg.norm(v)
    height = value(v)
    for _ in range(CENTRING):
        z = A @ v
        rows = A * (np.sqrt(s) / z)[:, None]
        gradient = A.T @ (s / z) - v
        try:
            step = np.linalg.solve(rows.T @ rows + np.eye(len(v)), gradient)
        except np.linalg.LinAlgError:  # rows as good as on the plane: squares of their sizes drown the rest
            step = np.linalg.lstsq(np.vstack([rows, np.eye(len(v))]), np.append(np.sqrt(s), -v), rcond=None)[0]
        decrement = float(gradient @ step)
        if not decrement > CENTRED:
            break
        if decrement <= 0.01 * s.min():  # so near that whole steps square the distance, and rounding hides the gain
            v = v + step
            height = value(v)
            continue
        t = 1.0 / (1.0 + np.sqrt(decrement / s.min()))  # stays inside: the barrier is self-concordant
        while value(v + 2 * t * step) > value(v + t * step):
            t *= 2
        moved = value(v + t * step)
        if not moved > height:
            break
        v, height = v + t * step, moved
    return v, height
