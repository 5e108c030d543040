"""Agreement: how far on its own side of the planes an example is, and histograms of that."""

from __future__ import annotations

import numpy as np

from .._common.types import FloatArray, IntArray


def agreements(scores: FloatArray, codes: IntArray) -> FloatArray:
    """Return z = y g(x) for two classes; for more, how far the own score lies above the highest other one.

    Either way an example is misclassified where z < 0.

    Parameters
    ----------
    scores : array of shape (n,) or (n, 1), or (n, K) with K > 2 classes
    codes : array of shape (n,)
        The position of each example's class.

    Examples
    --------
    >>> agreements(np.array([2.0, 0.5]), np.array([0, 1]))
    array([-2. ,  0.5])
    """
    if scores.ndim == 1 or scores.shape[1] == 1:
        return np.where(codes == 1, 1.0, -1.0) * scores.ravel()
    rows = np.arange(len(codes))
    others = scores.copy()
    others[rows, codes] = -np.inf
    return np.asarray(scores[rows, codes] - others.max(axis=1))


def edges_around_zero(z: FloatArray, bins: int) -> FloatArray:
    """Return the edges of bins of one width, one of which is zero, so that no bin mixes mistakes and others."""
    low, high = min(0.0, float(z.min())), max(0.0, float(z.max()))
    width = (high - low) / max(1, bins) or 1.0
    first, last = int(np.floor(low / width)), int(np.ceil(high / width))
    edges = width * np.arange(first, max(last, first + 1) + 1, dtype=np.float64)
    edges[0], edges[-1] = min(edges[0], low), max(edges[-1], high)  # rounding leaves nobody out
    return edges
