"""Columns far from zero, such as years and time stamps: solved with their middle taken away.

With a free intercept nothing changes but the intercept, w·x + b = w·(x − m) + (b + w·m): the weights, the dual
variables (Σ αᵢ yᵢ = 0) and the duality gap are those of the columns as they are. What does change is how much such a
column looks like the intercept's own column of ones; the Hessian of the two could not be factored.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core import Rows
from ...objective.duality import Bound
from ...objective.problem import Problem
from ..result import Observer, Result, Start

FloatArray = NDArray[np.float64]

__all__ = ["CENTRING", "Centre", "find_centre"]

#: Solvers that see the Hessian, or go along with coordinates: they gain where columns are centred.
CENTRING = ("newton", "proximal_newton", "dual", "multipliers", "interior_point")
#: A column is far from zero if its middle is so many times as large as what it spreads around it.
FAR = 1000.0
#: So many rows tell where a column lies.
TOLD_BY = 256


@dataclass(frozen=True, eq=False)
class Centre:
    """The middle of the columns that are far from zero, and the rows without it.

    Attributes
    ----------
    middle : array of shape (d,)
        m; zero for all other columns.
    rows : Rows
        x − m.
    """

    middle: FloatArray
    rows: Rows

    def shift(self, w: FloatArray) -> Any:
        """w·m, of one plane or (w a matrix with one in each column) of several."""
        return self.middle @ w

    def moved(self, problem: Problem) -> Problem:
        """Return the problem on the rows without the middle."""
        return problem.with_rows(self.rows)

    def start(self, start: Start | None) -> Start | None:
        """Return where a run on these rows begins."""
        return None if start is None else replace(start, b=start.b + float(self.shift(start.w)))

    def observer(self, observer: Observer | None) -> Observer | None:
        """Return an observer that hears of the planes as they are on the columns as they are."""
        return None if observer is None else _Translated(self, observer)

    def back(self, result: Result, problem: Problem) -> Result:
        """Return the result for the columns as they are."""
        b = result.b - float(self.shift(result.w))
        proof = None if result.proof is None else Bound(problem.objective(result.w, b), result.proof.dual)
        last = replace(result.last, b=result.last.b - float(self.shift(result.last.w)))
        result.history.reason = f"{np.count_nonzero(self.middle)} columns far from zero are centred inside"
        return replace(result, b=b, proof=proof, last=last, z=None)


class _Translated:
    """An observer that is told of planes in other coordinates."""

    def __init__(self, centre: Centre, observer: Observer) -> None:
        self._centre, self._observer = centre, observer
        self.needs_point = getattr(observer, "needs_point", True)
        self.stop_requested = getattr(observer, "stop_requested", lambda: False)

    def __call__(self, iteration: int, theta: FloatArray, objective: float) -> bool:
        d = len(self._centre.middle)
        if theta.shape[-1] == d + 1:
            theta = theta.copy()
            theta[..., d] -= self._centre.shift(theta[..., :d].T)
        return self._observer(iteration, theta, objective)


def find_centre(rows: Rows, *, fit_intercept: bool) -> Centre | None:
    """Return the middle of the columns, where some lie far from zero and an intercept can make up for it.

    Examples
    --------
    >>> years = np.array([[1999.5, 0.1], [2000.0, 0.9], [2000.5, 0.4]])
    >>> find_centre(Rows(years), fit_intercept=True).middle
    array([2000.,    0.])
    >>> find_centre(Rows(years - [2000.0, 0.0]), fit_intercept=True) is None
    True
    """
    if not fit_intercept or rows.is_sparse or rows.n < 2:
        return None
    sample = np.asarray(rows.X[:: max(1, rows.n // TOLD_BY)], dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):  # then they are not told to be far
        middle, spread = sample.mean(axis=0), sample.std(axis=0)
    far = np.abs(middle) > FAR * spread
    # A column that hardly changes is nearly the intercept's; one that does not change at all does no harm.
    if not (far & (spread > 0)).any():
        return None
    middle = np.where(far, middle, 0.0)
    return Centre(middle, Rows(np.asarray(rows.X, dtype=np.float64) - middle))
