"""Fewer mistakes by exact searches along lines: hints without proof, for searches and for checks.

Everything here works on the homogeneous rows aᵢ = yᵢ [xᵢ, 1] (or yᵢ xᵢ): v makes a mistake at i where aᵢ·v ≤ 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

__all__ = ["climb", "line_search", "weight_of_mistakes"]


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
        if found > cost:
            failures += 1
            continue
        moved = v + t * u
        length = np.abs(moved / scale).max()
        if not (np.isfinite(length) and length > 0):
            failures += 1
            continue
        moved /= length
        z_moved = A @ moved
        true = weight_of_mistakes(z_moved, s)
        failures = failures + 1
        if true < cost:
            failures, news = 0, moved
        if true <= cost:
            v, z, cost = moved, z_moved, true
    return v
