"""Columns far from zero, such as years and time stamps: solved with their middle taken away.

With a free intercept nothing changes but the intercept, w·x + b = w·(x − m) + (b + w·m): the weights, the dual
variables (Σ αᵢ yᵢ = 0) and the duality gap are those of the columns as they are. What does change is how much such a
column looks like the intercept's own column of ones; the Hessian of the two could not be factored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ..._common.types import FloatArray
from ..._common.words import many
from ..._core import Rows, is_sparse
from ...objective.duality import Bound
from ...objective.examples import Changed, Examples, InMemory
from ...objective.objective import Objective
from ..result import Result, Start
from .reduction import Reduction, noted

#: A column is far from zero if its middle is so many times as large as what it spreads around it.
FAR = 1000.0
#: So many rows tell where a column lies.
TOLD_BY = 256


def _without(rows: Rows, middle: FloatArray) -> Rows:
    return Rows(np.asarray(rows.X, dtype=np.float64) - middle)


@dataclass(frozen=True, eq=False)
class Centre(Reduction):
    """The middle of the columns that are far from zero, and the rows without it.

    Examples
    --------
    >>> from linsep.losses import Hinge
    >>> from linsep.objective.problem import Problem
    >>> years, y = np.array([[1999.5, 0.1], [2000.0, 0.9], [2000.5, 0.4]]), np.array([1.0, -1.0, 1.0])
    >>> Centre.find([Problem(Rows(years), y, Hinge())]).middle
    array([2000.,    0.])
    >>> Centre.find([Problem(Rows(years - [2000.0, 0.0]), y, Hinge())]) is None
    True
    """

    middle: FloatArray  # m; zero for all other columns
    examples: Examples  # x − m
    help = "centring"

    @classmethod
    def find(cls, objectives: Sequence[Objective]) -> Self | None:
        """Return the middle of the columns, where some lie far from zero and an intercept can make up for it."""
        examples = objectives[0].examples
        if not objectives[0].fit_intercept:
            return None
        # The first block tells, if there are more: wherever it says that a column lies, any middle will do.
        some = examples.glance(TOLD_BY)
        if some is None or is_sparse(some):
            return None
        sample = np.asarray(some, dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):  # then they are not told to be far
            middle, spread = sample.mean(axis=0), sample.std(axis=0)
        far = np.abs(middle) > FAR * spread
        # A column that hardly changes is nearly the intercept's; one that does not change at all does no harm, though
        # rounding may give it a spread. Where squares vanish there is none.
        if not (far & (spread > 0) & (sample != sample[0]).any(axis=0)).any():
            return None
        middle = np.where(far, middle, 0.0)
        if isinstance(examples, InMemory):
            return cls(middle, examples.with_rows(_without(examples.rows, middle)))
        return cls(middle, Changed(examples, lambda rows: _without(rows, middle), examples.d))

    def apply(self, objective: Objective) -> Objective:
        """Return the objective on the rows without the middle."""
        if isinstance(self.examples, InMemory):
            return objective.with_rows(self.examples.rows)  # its labels may be its own
        return replace(objective, examples=self.examples)

    def columns(self, rows: Rows) -> Rows:
        """Return other rows without the middle."""
        return _without(rows, self.middle)

    def shift(self, w: FloatArray) -> Any:
        """w·m, of one plane or (w a matrix with one in each column) of several."""
        shift = self.middle @ w
        return float(shift) if shift.ndim == 0 else shift

    def start(self, start: Start) -> Start:
        """Return where a run on these rows begins."""
        return replace(start, b=start.b + self.shift(start.w))

    def plane(self, theta: FloatArray) -> FloatArray:
        """Return the plane as it is on the columns as they are; its last entry is b."""
        theta = theta.copy()
        theta[..., -1] -= self.shift(theta[..., :-1].T)
        return theta

    def back(self, result: Result, objective: Objective, reduced: Objective) -> Result:
        """Return the result for the columns as they are."""
        b = result.b - self.shift(result.w)
        proof = None if result.proof is None else Bound(objective.evaluate(result.w, b).objective, result.proof.dual)
        last = replace(result.last, b=result.last.b - self.shift(result.last.w))
        noted(result, f"{many(int(np.count_nonzero(self.middle)), 'column')} far from zero, centred inside")
        return replace(result, b=b, proof=proof, last=last, z=None, least=None)
