"""Exact zeros for a plane that stochastic steps have found under an L1 penalty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._common.types import FloatArray
from ...objective.objective import Objective


def truncated(problem: Objective, w: FloatArray, b: float, share: float = 0.0) -> FloatArray:
    """Return w without the weights that do not pay for themselves; those that hardly do may cost a share of F in all.

    Steps on one example push a weight that ought to be zero off it again and again, and the best plane of a run may be
    one where they have just done so. The smallest are tried first; what costs nothing goes before what does.

    Examples
    --------
    >>> from linsep import losses, penalties
    >>> from linsep._core import Rows
    >>> from linsep.objective.problem import Problem
    >>> X, y = np.array([[-1.0, 0.1], [1.0, 0.1]]), np.array([-1.0, 1.0])
    >>> truncated(Problem(Rows(X), y, losses.Hinge(), penalties.L1()), np.array([1.0, 0.01]), 0.0)
    array([1., 0.])
    """
    w, z, s, column = w.copy(), problem.agreements(w, b), problem.s, _columns(problem.rows.X)
    penalty = problem.strength * (problem.penalty.l1 * np.abs(w) + 0.5 * problem.penalty.l2 * w**2)
    left = share * float(s @ problem.loss.value(z) / problem.total_weight + penalty.sum())
    for spends in (False, True) if left > 0 else (False,):
        for j in np.argsort(np.abs(w), kind="stable"):
            if w[j] == 0:
                continue
            rows, x = column(int(j))
            without = z[rows] - problem.y[rows] * w[j] * x
            loss = s[rows] @ (problem.loss.value(without) - problem.loss.value(z[rows])) / problem.total_weight
            cost = float(loss - penalty[j])
            if cost <= spends * left:
                w[j], z[rows], left = 0.0, without, left - max(0.0, cost)
    return w


def _columns(X: Any) -> Callable[[int], tuple[Any, FloatArray]]:
    """Return how to get the rows that a column is not zero in, or all, and its entries there."""
    if isinstance(X, np.ndarray):
        return lambda j: (slice(None), np.asarray(X[:, j], dtype=np.float64))
    columns = X.tocsc()

    def entries(j: int) -> tuple[Any, FloatArray]:
        part = slice(*columns.indptr[j : j + 2])
        return columns.indices[part], np.asarray(columns.data[part], dtype=np.float64)

    return entries
