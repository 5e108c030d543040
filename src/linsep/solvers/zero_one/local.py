"""Linear programs for the zero-one loss: the hinge loss, and room around a plane.

Everything here works on the homogeneous rows aᵢ = yᵢ [xᵢ, 1] (or yᵢ xᵢ): v makes a mistake at i where aᵢ·v ≤ 0.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse

from ..._common.types import FloatArray

#: A linear program over more rows than this begins with the ones that matter and takes in the others as they do.
MANY_ROWS = 500


class OutOfTime(Exception):  # noqa: N818 - not an error
    """A linear program was not done in the seconds it was given."""


def linear_program(cost: FloatArray, seconds: float, method: Any = "highs", **demands: Any) -> Any:
    """SciPy's `linprog`, which takes longer to import than all of linsep; raises `OutOfTime` after that time."""
    from scipy.optimize import linprog

    options: Any = dict(time_limit=max(seconds, 0.01)) if np.isfinite(seconds) else {}
    solved: Any = linprog(cost, method=method, options=options, **demands)
    if solved.status == 1:
        raise OutOfTime
    return solved


def elastic(A: FloatArray, s: FloatArray, box: FloatArray, seconds: float) -> FloatArray | None:
    """Return v that minimises Σ sᵢ max(0, 1 − aᵢ·v) within |v| ≤ box: the hinge loss, by linear programming."""
    n, D = A.shape
    cost = np.append(np.zeros(D), s)
    bounds = [(-limit, limit) for limit in box] + [(0, None)] * n
    left: Any = sparse.hstack([sparse.csr_array(-A), -sparse.eye_array(n)], format="csr")  # the stubs want it dense
    solved = linear_program(cost, seconds, A_ub=left, b_ub=-np.ones(n), bounds=bounds)
    return None if solved.x is None else np.asarray(solved.x[:D])


def roomy(A: FloatArray, room: FloatArray, box: FloatArray, seconds: float) -> FloatArray | None:
    """Return v with aᵢ·v ≥ t·roomᵢ for all i, t as large as it can be within |v| ≤ box.

    None where that t is not positive. A linear program; of many rows it takes those that bind.
    """
    end = perf_counter() + seconds
    D = A.shape[1]
    bounds = [(-limit, limit) for limit in box] + [(None, None)]
    used = np.arange(len(A)) if len(A) <= MANY_ROWS else np.linspace(0, len(A) - 1, MANY_ROWS).astype(int)
    cost = np.append(np.zeros(D), -1.0)
    while True:
        left = np.column_stack([-A[used], room[used]])
        solved = linear_program(cost, end - perf_counter(), A_ub=left, b_ub=np.zeros(len(used)), bounds=bounds)
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
