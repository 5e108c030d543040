"""95 % confidence intervals in closed form: of proportions, of their means, of means, and of the area under a curve.

Nothing is drawn at random, so that the digits are the same every time. Rows may be weighted: what a weighted share of
rows is worth is told by its effective size (Σs)²/Σs² (Kish), which is their number where the weights are equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._common.types import BoolArray, FloatArray, IntArray

#: The quantile of the normal distribution that leaves 2.5 % above.
Z = 1.959963984540054


def wilson(share: ArrayLike, size: ArrayLike, z: float = Z) -> tuple[FloatArray, FloatArray]:
    """Return Wilson's score interval of a proportion that was seen among so many; all of [0, 1] among none.

    Examples
    --------
    >>> low, high = wilson(0.9, 100)
    >>> print(f"{low:.4f} {high:.4f}")
    0.8256 0.9448
    """
    p, m = np.asarray(share, dtype=np.float64), np.asarray(size, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        pull = z**2 / m
        centre = (p + pull / 2) / (1 + pull)
        reach = np.sqrt(p * (1 - p) * pull + pull**2 / 4) / (1 + pull)
        known = (m > 0) & np.isfinite(p)
        low, high = np.where(known, centre - reach, 0.0), np.where(known, centre + reach, 1.0)
    return np.clip(np.fmin(low, p), 0.0, 1.0), np.clip(np.fmax(high, p), 0.0, 1.0)  # rounding leaves p inside


def of_mean(values: FloatArray, low: FloatArray, high: FloatArray) -> tuple[float, float]:
    """Return the interval of the mean of independent quantities, from that of each.

    The squares of the distances to the limits add up (Zou and Donner's method of variance estimates recovery), so that
    one seen 3 times of 3 widens it, though its variance was estimated to be 0.
    """
    middle, K = float(values.mean()), len(values)
    return (
        middle - float(np.sqrt(((values - low) ** 2).sum())) / K,
        middle + float(np.sqrt(((high - values) ** 2).sum())) / K,
    )


def of_weighted_mean(values: FloatArray, weight: FloatArray) -> tuple[float, float, float]:
    """Return the mean of values and its interval by the normal distribution; infinite where there is one value only."""
    mean, variance = _mean_and_variance(values, weight)
    reach = Z * np.sqrt(variance)
    return mean, mean - reach, mean + reach


def _mean_and_variance(values: FloatArray, weight: FloatArray) -> tuple[float, float]:
    """Return a weighted mean, and the variance of that mean."""
    n, total = len(values), weight.sum()
    mean = float(weight @ values / total)
    if n < 2:
        return mean, np.inf
    return mean, float((weight**2 @ (values - mean) ** 2) / total**2 * n / (n - 1))


def area_under_roc(scores: FloatArray, positive: BoolArray, weight: FloatArray) -> tuple[float, float, float]:
    """Return P(score of a positive > that of a negative), ties counted half, and its interval.

    The variance is DeLong's, from the share of the other class that each row is on the right side of. The interval is
    Wilson's for the number of pairs, were they independent, that would have this variance; with no pair on the wrong
    side, for as many as the smaller class has rows. nan where a class is missing.

    Examples
    --------
    >>> area, low, high = area_under_roc(np.arange(6.0), np.arange(6) >= 3, np.ones(6))
    >>> print(f"{area} {low:.3f} {high}")
    1.0 0.439 1.0
    """
    if positive.all() or not positive.any():
        return np.nan, np.nan, np.nan
    group = np.unique(scores, return_inverse=True)[1].reshape(-1)
    up, down = (np.bincount(group, weights=weight * mine, minlength=group.max() + 1) for mine in (positive, ~positive))
    below, above = np.cumsum(down) - down / 2, up.sum() - np.cumsum(up) + up / 2
    of_positives, of_negatives = (below / down.sum())[group[positive]], (above / up.sum())[group[~positive]]
    area, one = _mean_and_variance(of_positives, weight[positive])
    _, other = _mean_and_variance(of_negatives, weight[~positive])
    variance, spread = one + other, area * (1 - area)
    smaller = min(effective(weight[positive]), effective(weight[~positive]))
    size = spread / variance if np.isfinite(variance) and min(variance, spread) > 0 else smaller
    low, high = wilson(area, size)
    return area, float(low), float(high)


def effective(weight: Any) -> float:
    """Return how many rows of equal weight tell as much: (Σs)²/Σs²."""
    return float(weight.sum() ** 2 / (weight**2).sum()) if len(weight) else 0.0


def cell_sizes(codes: IntArray, weight: FloatArray, shape: tuple[int, int]) -> tuple[FloatArray, FloatArray]:
    """Return Σs and Σs² over the rows of each cell of a table."""
    cells = shape[0] * shape[1]
    total, squares = (np.bincount(codes, weights=w, minlength=cells).reshape(shape) for w in (weight, weight**2))
    return np.asarray(total, dtype=np.float64), np.asarray(squares, dtype=np.float64)
