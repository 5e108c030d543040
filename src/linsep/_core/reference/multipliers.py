"""The inner problem of the augmented Lagrangian: losses with a proximal term (a spring) on each dual variable."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._common.types import FloatArray, IntArray
from .products import rmatvec


def sprung(loss: Any, centre: FloatArray, z: FloatArray, width: float, c: FloatArray) -> FloatArray:
    """Return argmin_a ½ (h/c)(a − ᾱ)² + z (a − ᾱ) + c ℓ*(−a/c) of each example: its dual variable on a spring."""
    steps = [loss.dual_step(m, t, width / k, k) if k > 0 else 0.0 for m, t, k in zip(centre, z, c, strict=True)]
    return np.array(steps, dtype=np.float64)


def sprung_duals(
    X: Any,
    y: FloatArray,
    c: FloatArray,
    loss: Any,
    centre: FloatArray,
    z: FloatArray,
    width: float,
    split: bool,
    a: FloatArray,
    h: FloatArray,
    sums: FloatArray,
    threads: int = 1,
) -> None:
    """Replace `a` by the dual variables at z, and `h` by −da/dz for a loss made of straight pieces.

    In `sums` go Σ c ℓ(z), Σ c ℓ*(−a/c), Σ a z, Σ c over the mistakes, Σ a by class, and what Σ a y x gains, by class if
    `split`.
    """
    now = sprung(loss, centre, z, width, c)
    change = (now - a) * y
    a[:] = now
    h[:] = np.where((now > 0) & (now < c), c / width, 0.0)
    used = c > 0
    positive = (y > 0) if split else np.ones(len(y), dtype=bool)
    sums[:3] = c @ loss.value(z), c[used] @ loss.conjugate(-now[used] / c[used]), now @ z
    sums[3:6] = c[~(z > 0)].sum(), now[positive].sum(), now[~positive].sum()
    rmatvec(X, np.where(positive, change, 0.0), sums[6 : 6 + X.shape[1]])
    if split:
        rmatvec(X, np.where(positive, 0.0, change), sums[6 + X.shape[1] :])


def sprung_line_search(
    c: FloatArray,
    loss: Any,
    centre: FloatArray,
    z: FloatArray,
    dz: FloatArray,
    width: float,
    first: float,
    linear: float,
    quadratic: float,
    accuracy: float,
    threads: int = 1,
) -> float:
    """Return the t at which t·linear + ½t²·quadratic + Σ (inner loss at z + t dz) is least, roughly: by halving."""

    def slope(t: float) -> float:
        return float(linear + t * quadratic - sprung(loss, centre, z + t * dz, width, c) @ dz)

    if not first < 0:
        return 0.0
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(60):
        now = slope(t)
        if abs(now) <= -accuracy * first:
            break
        low, high = (low, t) if now > 0 else (t, high)
        t = 2 * t if np.isinf(high) else 0.5 * (low + high)
    return t


def simplex_masses(
    G: FloatArray,
    change: FloatArray,
    t: float,
    codes: IntArray,
    c: FloatArray,
    centre: FloatArray,
    width: float,
    masses: FloatArray,
    count: FloatArray,
    threads: int = 1,
) -> float:
    """Set masses ≥ 0 that sum to cᵢ, nearest to centre + (c/width)(g + t·change + [k ≠ y]), and how many are not zero.

    Returns Σ masses · change.
    """
    each = np.arange(len(codes))
    raised = G + t * change + 1.0
    raised[each, codes] -= 1.0
    masses[:], count[:] = nearest_masses(centre + (c / width)[:, None] * raised, c)
    return float(np.einsum("ik,ik->", masses, change))


def nearest_masses(U: FloatArray, c: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return of each row of U the nearest masses ≥ 0 that sum to cᵢ, and how many are not zero."""
    U = U - U.max(axis=1, keepdims=True)
    down = -np.sort(-U, axis=1)
    over = np.cumsum(down, axis=1) - c[:, None]
    count = np.maximum((down * np.arange(1, U.shape[1] + 1) > over).sum(axis=1), 1)
    return np.maximum(U - (over[np.arange(len(U)), count - 1] / count)[:, None], 0.0), count.astype(np.float64)


def sprung_slopes(
    c: FloatArray,
    loss: Any,
    centre: FloatArray,
    z: FloatArray,
    dz: FloatArray,
    width: float,
    t: FloatArray,
    slopes: FloatArray,
    threads: int = 1,
) -> None:
    """Put into `slopes` −Σ a dz, the slope of the sum of inner losses along dz, at z + t dz for each length t."""
    slopes[:] = [-float(sprung(loss, centre, z + length * dz, width, c) @ dz) for length in t]
