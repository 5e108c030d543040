"""Good planes for the zero-one loss, without proof: exact searches along lines, and room around a plane.

Everything here works on the homogeneous rows aᵢ = yᵢ [xᵢ, 1] (or yᵢ xᵢ): v makes a mistake at i where aᵢ·v ≤ 0.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

FloatArray = NDArray[np.float64]

__all__ = ["climb", "elastic", "line_search", "linear_program", "roomy", "weight_of_mistakes", "within"]

#: A linear program over more rows than this begins with the ones that matter and takes in the others as they do.
MANY_ROWS = 500


def linear_program(*cost: Any, **demands: Any) -> Any:
    """SciPy's `linprog`, which takes longer to import than all of linsep."""
    from scipy.optimize import linprog

    return linprog(*cost, **demands)


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


def elastic(A: FloatArray, s: FloatArray, box: FloatArray, seconds: float) -> FloatArray | None:
    """Return v that minimises Σ sᵢ max(0, 1 − aᵢ·v) within |v| ≤ box: the hinge loss, by linear programming.

    None where the time does not suffice.
    """
    n, D = A.shape
    cost = np.append(np.zeros(D), s)
    bounds = [(-limit, limit) for limit in box] + [(0, None)] * n
    left: Any = sparse.hstack([sparse.csr_array(-A), -sparse.eye_array(n)], format="csr")  # the stubs want it dense
    solved = linear_program(cost, A_ub=left, b_ub=-np.ones(n), bounds=bounds, method="highs", options=within(seconds))
    return None if solved.x is None else np.asarray(solved.x[:D])


def within(seconds: float) -> Any:
    """Return the options that keep HiGHS to that time."""
    return dict(time_limit=max(seconds, 0.01)) if np.isfinite(seconds) else {}


def roomy(A: FloatArray, room: FloatArray, box: FloatArray, seconds: float) -> FloatArray | None:
    """Return v with aᵢ·v ≥ t·roomᵢ for all i, t as large as it can be within |v| ≤ box.

    None where that t is not positive, or the time does not suffice. A linear program; of many rows it takes those
    that bind.
    """
    end = perf_counter() + seconds
    D = A.shape[1]
    bounds = [(-limit, limit) for limit in box] + [(None, None)]
    used = np.arange(len(A)) if len(A) <= MANY_ROWS else np.linspace(0, len(A) - 1, MANY_ROWS).astype(int)
    cost = np.append(np.zeros(D), -1.0)
    while True:
        left, options = np.column_stack([-A[used], room[used]]), within(end - perf_counter())
        solved = linear_program(
            cost, A_ub=left, b_ub=np.zeros(len(used)), bounds=bounds, method="highs", options=options
        )
        if solved.x is None or solved.x[D] <= 0:
            return None
        v, t = np.asarray(solved.x[:D]), solved.x[D]
        excess = A @ v - t * room
        short = np.argsort(excess)[:MANY_ROWS]
        short = short[excess[short] < -1e-6 * t]
        grown = np.union1d(used, short)
        if len(grown) == len(used):
            return v
        used = grown
