"""The geometry of the plane g(x) = w·x + b = 0: sides, distances, margins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ._common.types import FloatArray
from ._core import is_sparse, sound

__all__ = [
    "augment",
    "discriminant",
    "distance_from_origin",
    "functional_margin",
    "geometric_margin",
    "margin",
    "normal",
    "side",
    "signed_distance",
]


def augment(X: Any) -> Any:
    """Return [X, 1]: with w ← [w, b] the plane goes through the origin and the discriminant stays what it was.

    Examples
    --------
    >>> augment(np.array([[2.0, 3.0]]))
    array([[2., 3., 1.]])
    """
    X = sound(X)
    ones: Any = np.ones((X.shape[0], 1), dtype=X.dtype)
    return sparse.hstack([X, ones], format="csr") if is_sparse(X) else np.hstack([X, ones])


def discriminant(X: Any, w: ArrayLike, b: float = 0.0) -> FloatArray:
    """g(x) = w·x + b of every row."""
    return np.asarray(sound(X) @ np.asarray(w, dtype=np.float64) + b, dtype=np.float64)


def side(X: Any, w: ArrayLike, b: float = 0.0) -> FloatArray:
    """+1 on the side w points to, −1 on the other and on the plane itself: h(x) = sign(w·x + b).

    As in `predict`, where a score of 0 is ``classes_[0]``.

    Examples
    --------
    >>> side(np.array([[1.0, 0.0], [0.0, 0.0], [-1.0, 0.0]]), [1.0, 0.0])
    array([ 1., -1., -1.])
    """
    return np.where(discriminant(X, w, b) > 0, 1.0, -1.0)


def normal(w: ArrayLike) -> FloatArray:
    """Return the unit vector perpendicular to the plane, w/‖w‖."""
    return np.asarray(w, dtype=np.float64) / _length(w)


def distance_from_origin(w: ArrayLike, b: float) -> float:
    """``|b|/‖w‖``.

    Examples
    --------
    >>> distance_from_origin([3.0, 4.0], -10.0)
    2.0
    """
    return abs(b) / _length(w)


def signed_distance(X: Any, w: ArrayLike, b: float = 0.0) -> FloatArray:
    """g(x)/‖w‖: how far each point is from the plane, positive on the side w points to."""
    return discriminant(X, w, b) / _length(w)


def functional_margin(X: Any, y: ArrayLike, w: ArrayLike, b: float = 0.0) -> FloatArray:
    """Return z = y g(x), the agreement of every example (labels ±1)."""
    return np.asarray(y, dtype=np.float64) * discriminant(X, w, b)


def geometric_margin(X: Any, y: ArrayLike, w: ArrayLike, b: float = 0.0) -> FloatArray:
    """z/‖w‖ = y g(x)/‖w‖, the distance from the plane, negative on the wrong side."""
    return functional_margin(X, y, w, b) / _length(w)


def margin(X: Any, y: ArrayLike, w: ArrayLike, b: float = 0.0) -> float:
    """Return the margin of a set: the smallest geometric margin in it. Positive if and only if (w, b) separates it.

    Examples
    --------
    >>> margin(np.array([[2.0], [-1.0]]), [1, -1], [5.0])
    1.0
    """
    return float(geometric_margin(X, y, w, b).min())


def _length(w: ArrayLike) -> float:
    w = np.asarray(w, dtype=np.float64)
    largest = float(np.abs(w).max(initial=0.0))
    if largest == 0:
        raise ValueError("w = 0 defines no plane: every point has discriminant b")
    return largest * float(np.linalg.norm(w / largest))  # squares of tiny or huge weights would not fit
