"""Stochastic (sub)gradient descent, one example a step: the lecture's pseudocode; and measures of its planes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._common.types import FloatArray, IntArray
from .products import matmat, rmatmat
from .rows import dense_row


def stochastic_steps(
    X: Any,
    y: FloatArray,
    weight: FloatArray | None,
    order: IntArray,
    eta: FloatArray,
    loss: Any,
    l2: float,
    l1: float,
    intercept: bool,
    W: FloatArray,
    b: FloatArray,
    sum_W: FloatArray | None,
    sum_b: FloatArray | None,
    counts: IntArray | None,
    moved: NDArray[np.uint8] | None,
    owed: FloatArray | None = None,
    paid: FloatArray | None = None,
    patience: int = 0,
    stood: IntArray | None = None,
    counted: FloatArray | None = None,
    kept: FloatArray | None = None,
    kept_W: FloatArray | None = None,
) -> int:
    """One step of stochastic (sub)gradient descent for each entry of `order`, changing W and b in place.

        w ← S( max(0, 1 − η l2) w − η sᵢ ℓ'(zᵢ) yᵢ xᵢ ),      b ← b − η sᵢ ℓ'(zᵢ) yᵢ

    S is the cumulative L1 penalty: every weight owes Σ η l1 (`owed`, of which an L2 penalty takes its share as it does
    of w), pays towards zero what it has not `paid`, and goes on owing at zero what it could not pay.

    Each column of W is the w of one plane, with labels in the same column of `y`; where its label is zero a plane does
    not move. Returns how often the planes were moved (the loss had a slope), all together; what is given of the rest is
    added to or filled: the sums of all iterates, how often each example moved each plane, and which steps did; and the
    pocket, where `stood` counts visits since a plane last moved (below zero: it never has). A plane that has stood for
    `patience` visits is kept if it makes fewer mistakes (z ≤ 0) than what is kept, or as many at a lower objective:
    its w in `kept_W`, and its mistakes, objective and b in the first rows of `kept`, of which the last is Σ s, where s
    is `counted`.
    """
    total = 0
    for k, i in enumerate(order):
        x = dense_row(X, i)
        slope = loss.slope(y[i] * (x @ W + b))
        moves = (slope != 0) & (y[i] != 0)
        c = np.where(moves, -eta[k] * (1.0 if weight is None else weight[i]) * slope * y[i], 0.0)
        W *= max(0.0, 1.0 - eta[k] * l2)
        if moves.any():
            W += np.outer(x, c)
        if intercept:
            b += c
        if l1 > 0 and owed is not None and paid is not None:
            owed *= max(0.0, 1.0 - eta[k] * l2)
            paid *= max(0.0, 1.0 - eta[k] * l2)
            owed += eta[k] * l1
            left = np.where(W > 0, np.maximum(0.0, W - (owed + paid)), np.minimum(0.0, W + (owed - paid)))
            left = np.where(W == 0, 0.0, left)
            paid += left - W
            W[:] = left
        if sum_W is not None and sum_b is not None:
            sum_W += W
            sum_b += b
        if counts is not None:
            counts[i] += moves
        if moved is not None:
            moved[k] = moves
        total += int(moves.sum())
        if stood is not None and kept is not None and kept_W is not None:
            stood[:] = np.where(c != 0, 0, np.where(stood < 0, stood, stood + 1))
            if (stood == patience).any():
                _look(X, y, counted, loss, l2, l1, W, b, stood == patience, kept, kept_W)
    return total


def _look(
    X: Any,
    y: FloatArray,
    weight: FloatArray | None,
    loss: Any,
    l2: float,
    l1: float,
    W: FloatArray,
    b: FloatArray,
    due: NDArray[np.bool_],
    kept: FloatArray,
    kept_W: FloatArray,
) -> None:
    """Keep those of the planes that are due which are better than what is kept."""
    g = np.empty((X.shape[0], W.shape[1]))
    matmat(X, W, g)
    z, s = y * (g + b), 1.0 if weight is None else weight[:, None]
    mistakes = (s * ~(z > 0)).sum(axis=0)
    objective = (s * loss.value(z)).sum(axis=0) / kept[3] + 0.5 * l2 * (W**2).sum(axis=0) + l1 * np.abs(W).sum(axis=0)
    better = due & ((mistakes < kept[0]) | ((mistakes == kept[0]) & (objective < kept[1])))
    kept[:3, better] = np.array([mistakes, objective, b])[:, better]
    kept_W[:, better] = W[:, better]


def measure(
    X: Any,
    y: FloatArray,
    weight: FloatArray | None,
    loss: Any,
    W: FloatArray,
    b: FloatArray,
    total: float,
    l2: float,
    l1: float,
    G: FloatArray,
    out: FloatArray,
) -> None:
    """What is measured of the planes in the columns of W, with labels in the columns of `y`: a row of `out` each for

        Σ s ℓ(z),   Σ s over the mistakes (z ≤ 0),   Σ u,   ‖Σ u x / total + l2 w + l1 sign(w)‖²,   ‖w‖²,   ‖w‖₁,
        Σ s over the wrong labels (as z ≤ 0, but a score of zero is for −1),   the least z

    where u = s ℓ'(z) y. `G` is room for Σ u x.
    """  # noqa: D400 (the list is the sentence)
    g = np.empty((X.shape[0], W.shape[1]))
    matmat(X, W, g)
    z, s = y * (g + b), 1.0 if weight is None else weight[:, None]
    u = s * loss.slope(z) * y
    rmatmat(X, u, G)
    slope = G / total + l2 * W + l1 * np.sign(W)
    right = z > 0
    wrong = ~(right | ((z == 0) & (y < 0)))
    parts = s * loss.value(z), s * ~right, u, slope**2, W**2, np.abs(W), s * wrong
    out[:] = [*(part.sum(axis=0) for part in parts), z.min(axis=0)]
