"""Projection of many features onto two axes: the distance from a plane, and the direction of the largest variance left.

A point x is shown at

    u = (x − o)·n,      v = (x − o)·t

where n = w/‖w‖ is the plane's normal, o the point of the plane below the examples' mean, and t ⟂ n the direction in
which what is left of the examples after taking away their share along n has the largest variance. So u is the signed
distance from the plane, exactly; of everything else, v shows as much as one direction can.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator, eigsh

from .._common.types import FloatArray
from ..geometry import discriminant, normal

#: Up to this many features the covariance matrix is formed; beyond, only products with the examples are.
FORMED = 500


@dataclass(frozen=True, eq=False)
class PlaneView:
    """Two directions and where they cross."""

    origin: FloatArray  # o, shown at (0, 0)
    across: FloatArray  # n, of length one
    along: FloatArray  # t, of length one and orthogonal to n; zero where there is only one feature
    shown: float = 1.0  # the share of the examples' variance that the view shows
    identity: bool = False  # whether u and v are simply the two features

    def project(self, X: Any) -> FloatArray:
        """Return (u, v) of every row.

        Examples
        --------
        >>> plane_view(np.array([[0.0, 5.0, 1.0], [2.0, -5.0, 1.0]]), [2.0, 0.0, 0.0], -3.0).project(np.eye(3))
        array([[-0.5,  0. ],
               [-1.5,  1. ],
               [-1.5,  0. ]])
        """
        axes = np.column_stack([self.across, self.along])
        return np.asarray(X @ axes - self.origin @ axes, dtype=np.float64)

    def planes(self, W: ArrayLike, b: Any = 0.0) -> tuple[FloatArray, FloatArray]:
        """Return (p, q) and r of planes, one a row of W: g = p u + q v + r wherever w·x + b = 0 crosses the view.

        Every point of the view is o + u n + v t, so p = w·n, q = w·t and r = w·o + b.
        """
        W = np.asarray(W, dtype=np.float64)
        return W @ np.column_stack([self.across, self.along]), np.asarray(W @ self.origin + b)


def plane_view(X: Any, w: ArrayLike, b: float = 0.0) -> PlaneView:
    """Return the view that shows the plane w·x + b = 0 edge on, and the examples as spread out as can be.

    Two features are shown as they are.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
    w : array of shape (d,)
        Where w = 0 there is no normal, and the two directions of the largest spread are shown.
    b : float

    Returns
    -------
    PlaneView

    Examples
    --------
    >>> X = np.array([[0.0, 5.0, 1.0], [2.0, -5.0, 1.0], [1.0, 0.0, 1.5]])
    >>> view = plane_view(X, [2.0, 0.0, 0.0], -3.0)
    >>> view.across, view.along.round(2), view.origin.round(2)
    (array([1., 0., 0.]), array([0., 1., 0.]), array([1.5 , 0.  , 1.17]))
    >>> view.project(X)[:, 0]  # distances from the plane
    array([-1.5,  0.5, -0.5])
    """
    w = np.asarray(w, dtype=np.float64)
    if X.shape[1] == 2:
        return PlaneView(np.zeros(2), np.array([1.0, 0.0]), np.array([0.0, 1.0]), identity=True)
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    has_plane = bool(w.any()) and bool(np.isfinite(w).all())
    n = normal(w) if has_plane else _largest_spread(X, mean, np.zeros_like(mean))
    along = _largest_spread(X, mean, n)
    origin = mean - (float(discriminant(mean, w, b)) / float(w @ n)) * n if has_plane else mean
    return PlaneView(origin, n, along, _share(X, mean, n, along))


def _largest_spread(X: Any, mean: FloatArray, n: FloatArray) -> FloatArray:
    """Return the unit vector t ⟂ n that maximises the variance of X t: the first eigenvector of (I − nnᵀ)Σ(I − nnᵀ).

    Its sign, which the variance leaves open, is such that its largest entry is positive.
    """
    d = len(mean)
    if d == 1:
        return np.zeros(1) if n.any() else np.ones(1)

    def spread(t: FloatArray) -> FloatArray:
        t = np.ravel(t) - (n @ np.ravel(t)) * n
        centred = X @ t - mean @ t
        image = np.asarray(X.T @ centred).ravel() - mean * centred.sum()
        return np.asarray((image - (n @ image) * n) / X.shape[0])

    if d <= FORMED:
        matrix = np.column_stack([spread(column) for column in np.eye(d)])
        t = np.linalg.eigh((matrix + matrix.T) / 2)[1][:, -1]
    else:  # a fixed start, so that the same examples give the same view
        begin = np.random.default_rng(0).standard_normal(d)
        operator = LinearOperator((d, d), matvec=spread, dtype=np.float64)
        t = eigsh(operator, k=1, v0=begin - (n @ begin) * n, tol=1e-6)[1][:, 0]
    t = t - (n @ t) * n
    length = float(np.linalg.norm(t))
    if length < 1e-8:  # nothing is left to spread: any direction in the plane will do
        t = np.eye(d)[int(np.argmin(np.abs(n)))]
        t = t - (n @ t) * n
        length = float(np.linalg.norm(t))
    return np.asarray(t * (np.sign(t[np.argmax(np.abs(t))]) / length))


def _share(X: Any, mean: FloatArray, *axes: FloatArray) -> float:
    """Return the variance along the axes, as a share of all."""
    squares = X.multiply(X) if hasattr(X, "multiply") else X * X
    total = float(np.sum(np.asarray(squares.mean(axis=0)).ravel() - mean**2))
    shown = sum(float(np.var(np.asarray(X @ axis))) for axis in axes)
    return min(1.0, shown / total) if total > 0 else 1.0
