"""The limit of the estimates: the maximum of the likelihood on the rows of the face, and bounds on the supremum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.linalg

from .._common.types import FloatArray
from .._core import Rows, is_sparse
from ..arithmetic.enclosure import Interval
from ..arithmetic.exact import Clock
from ..losses import Logistic
from ..objective.dual_point import DualPoint
from ..objective.enclosure import enclosed_bound
from ..objective.problem import Problem
from ._question import CountedRows
from .common_point import derivatives, step_length
from .face import signed_rows
from .floats import scaled

NEWTON = 100  # steps at the most
NEAR = 1e-6  # the share of a log-likelihood to which it is enclosed where it counts as proven
SMALL = 2 * 10**7  # numbers up to which columns are made orthogonal before the fit


def _on(rows: CountedRows, columns: Sequence[int]) -> tuple[Any, list[int], bool]:
    """Return some columns of the rows, which ones of them are features, and whether the intercept is one."""
    d = rows.X.shape[1]
    features = [j for j in columns if j < d]
    return rows.X[:, features].astype(np.float64), features, d in columns


def enclosed_supremum(rows: CountedRows, columns: Sequence[int], limit: FloatArray) -> Interval:
    """Return the supremum of the rows' log-likelihood, given a point near it and columns that are independent there."""
    X, features, intercept = _on(rows, columns)
    w, b = limit[features], float(limit[-1]) if intercept else 0.0
    if not features:  # of zeros, which say nothing
        X, w = np.zeros((len(rows.y), 1)), np.zeros(1)
    problem = Problem(Rows(X), rows.y, Logistic(), sample_weight=rows.c, fit_intercept=intercept)
    least, bound = enclosed_bound(problem, w, b, DualPoint())
    if not columns:  # nothing to choose: it is what it is
        bound = least
    return Interval(-least.high, min(0.0, -bound.low))


def fitted(rows: CountedRows, columns: Sequence[int]) -> FloatArray:
    """Return where the rows' log-likelihood is largest, on some independent columns; zero on others."""
    X, features, intercept = _on(rows, columns)
    A = signed_rows(X, rows.y, intercept=intercept)
    A, exponents = scaled(A)
    c = rows.c / rows.c.max(initial=0.0)
    if A.shape[0] * A.shape[1] <= SMALL:
        A, R = np.linalg.qr(np.asarray(A.toarray() if is_sparse(A) else A))
        theta = scipy.linalg.solve_triangular(R, _newton(A, c, rows.clock), check_finite=False)
    else:
        theta = _newton(A, c, rows.clock)
    limit = np.zeros(rows.size)
    with np.errstate(over="ignore"):
        limit[[*features, *([rows.size - 1] if intercept else [])]] = np.ldexp(theta, exponents)
    return limit if np.isfinite(limit).all() else np.zeros(rows.size)  # too large for floats: nothing is proven there


def _newton(A: Any, c: FloatArray, clock: Clock) -> FloatArray:
    """Return θ where Σ cᵢ log(1 + exp(−aᵢ·θ)) is least: full steps, halved while they do not help."""
    n, r = A.shape
    theta, best = np.zeros(r), np.inf
    for _ in range(NEWTON):
        clock.check("the limit of the likelihood", 2.0 * n * r * r + r**3)
        z = A @ theta
        _, slope, H = derivatives(A, c, z)
        step = np.linalg.lstsq(H, slope, rcond=None)[0]
        decrement = float(slope @ step)
        # rounding is all that is left
        if not 0.0 < decrement < best and decrement <= 1e-20 * float(c @ np.logaddexp(0.0, -z)):
            break
        best = min(best, decrement)
        theta = theta + step_length(c, z, A @ step) * step
    return theta


def wider(found: Interval) -> tuple[float, float]:
    """Return ends a little further out, so that a machine that adds up in another order confirms them."""
    slack = 0.5 * found.width + 1e-15 * abs(found.low)
    wider = found.low - slack, found.high + slack
    if math.isfinite(slack) and wider[1] - wider[0] <= NEAR * -wider[0]:
        return wider
    return found.low * (1.0 + 1e-12), 0.0
