"""A point in both convex hulls, in floats: weights from the maximum likelihood, reduced to a circuit (Carathéodory).

The likelihood of logistic regression, Σ log σ(aᵢ·θ), has a maximum if and only if the classes overlap, and there

    Σ αᵢ aᵢ = 0,   αᵢ = σ(−aᵢ·θ) > 0

is a relation of all rows. It is found by some steps of Newton's method, whatever the number of columns. A row at a time
is then expressed by others until those left are one more than their rank, so that they determine their weights.

Nothing here decides: what is found is tried in whole numbers by `separation`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._common.types import FloatArray, IntArray
from .._core import is_sparse
from ..arithmetic.exact import Clock

NEWTON = 30  # steps at the most; a maximum that is not reached by then is probably none
STATIONARY = 1e-10  # Σ αᵢ uᵢ of rows that are orthonormal in their columns
LONGEST = 8.0  # the largest change of any aᵢ·θ in one step
FLAT = 1e-13  # share of a column that is rounding if other columns explain the rest
TOGETHER = 64  # rows whose weights are taken over with one inverse


def common_point(A: FloatArray, clock: Clock) -> IntArray | None:
    """Return rows, one more than their rank, with Σ λᵢ aᵢ = 0 for some λ > 0; None where floats see none.

    Examples
    --------
    >>> A = np.array([[-1.0, -1.0], [1.0, 1.0], [-3.0, -1.0], [2.0, 1.0]])  # points 1, 1, 3 and 2 on a line
    >>> sorted(common_point(A, Clock(None)).tolist())
    [0, 1]
    """
    U = _whitened(A, clock)
    alpha = most_likely(U, clock)
    return None if alpha is None else fewest(U, alpha, clock)


def _whitened(A: FloatArray, clock: Clock) -> FloatArray:
    """Return the rows in coordinates of the space that they span, in which Σ uᵢ uᵢᵀ = I."""
    n, q = A.shape
    sizes = np.linalg.norm(A, axis=0)
    sizes[sizes == 0] = 1.0
    A = A / sizes
    while True:
        clock.check("the likelihood", 4.0 * n * q * q)
        Q, R = np.linalg.qr(A)
        explained = np.abs(np.diag(R)) <= FLAT  # by the columns before it
        if len(R) == A.shape[1] and not explained.any():
            return np.asarray(Q)
        A = A[:, : len(R)][:, ~explained]


def most_likely(U: FloatArray, clock: Clock) -> FloatArray | None:
    """Return α = σ(−Uθ) where Σ log σ(uᵢ·θ) is largest, or None where no maximum is seen."""
    n, r = U.shape
    c, z = np.ones(n), np.zeros(n)
    for _ in range(NEWTON):
        clock.check("the likelihood", 2.0 * n * r * r + r**3)
        alpha, slope, H = derivatives(U, c, z)
        if float(np.abs(slope).max(initial=0.0)) <= STATIONARY:
            return alpha
        H[np.diag_indices(r)] += 1e-14
        try:
            move = U @ np.linalg.solve(H, slope)
        except np.linalg.LinAlgError:
            return None
        z = z + step_length(c, z, move, min(1.0, LONGEST / max(float(np.abs(move).max()), 1e-300))) * move
        if float(z.min()) > 0.0:  # a plane: the likelihood rises for ever
            return None
    return None


def fewest(U: FloatArray, weights: FloatArray, clock: Clock) -> IntArray | None:
    """Return rows, one more than their rank, that some λ > 0 combine to zero, given that these weights do.

    A basis of rows takes over the weight of each of the others, uⱼ = Σ shareₖ uₖ. Where a weight of the basis would
    become negative, that row leaves, and uⱼ takes its place: the simplex method for a vertex (Carathéodory).
    """
    from scipy.linalg import lu

    n, r = U.shape
    if not 0 < r < n:
        return None
    clock.check("a basis of points", 2.0 * n * r * r)
    order = np.argsort(lu(U * weights[:, None], p_indices=True)[0])  # heavy rows that are independent come first
    basis, rest = order[:r].copy(), order[r:]
    rest = rest[np.argsort(weights[rest], kind="stable")]
    mu = weights[basis].copy()
    for first in range(0, len(rest) - 1, TOGETHER):
        clock.check("as few points as determine their weights", 4.0 * r**3)
        block = rest[first : min(first + TOGETHER, len(rest) - 1)]
        _exchange(basis, mu, block, weights[block], U[block] @ np.linalg.inv(U[basis]))
    share = U[rest[-1]] @ np.linalg.inv(U[basis])
    return np.append(basis[share < -1e-12], rest[-1])


def _exchange(basis: IntArray, mu: FloatArray, block: IntArray, weights: FloatArray, shares: FloatArray) -> None:
    """Let a basis take over the weights of the rows of a block, whose shares of it these are; change it and μ."""
    for i, j in enumerate(block.tolist()):
        share, own = shares[i], float(weights[i])
        room = np.where(share < 0, mu / np.where(share < 0, -share, 1.0), np.inf)
        k = int(np.argmin(room))
        mu += min(own, float(room[k])) * share
        np.maximum(mu, 0.0, out=mu)
        if room[k] < own:
            mu[k], basis[k] = own - room[k], j
            change = -share / share[k]
            change[k] = 1.0 / share[k] - 1.0
            shares[i + 1 :] += shares[i + 1 :, k, None] * change


# -- Newton's method on the likelihood Σ cᵢ log σ(aᵢ·θ) ----------------------------------------------------------------


def derivatives(A: Any, c: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return α = σ(−z), the slope Aᵀ(c α) and the curvature Aᵀ diag(c α (1 − α)) A at z = Aθ."""
    alpha = 1.0 / (1.0 + np.exp(np.clip(z, -700.0, 700.0)))
    h = c * alpha * (1.0 - alpha)
    H = (A.multiply(h[:, None]).T @ A).todense() if is_sparse(A) else A.T @ (A * h[:, None])
    return alpha, A.T @ (c * alpha), np.asarray(H)


def step_length(c: FloatArray, z: FloatArray, move: FloatArray, longest: float = 1.0) -> float:
    """Return how much of a step raises the likelihood, up to rounding: as much as allowed, halved while it does not."""
    now, length = float(c @ np.logaddexp(0.0, -z)), longest
    while length > 1e-6 and float(c @ np.logaddexp(0.0, -z - length * move)) > now * (1.0 + 1e-14):
        length /= 2
    return length
