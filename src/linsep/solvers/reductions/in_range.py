"""Problems at the ends of the range of floats, solved in the middle of it: see `linsep.objective.scaling`.

Sizes such as C = 1e-230 or columns of 1e200 are no harder than others, but their products are: those that fall below
the smallest float are zero, and a solver stops where it stands. Only methods whose way does not depend on the scale of
the data are helped; the steps of a stochastic one would become others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ..._common.types import FloatArray
from ...arithmetic.enclosure import Interval
from ...objective.duality import Bound
from ...objective.examples import Changed, in_one
from ...objective.objective import Objective
from ...objective.scaling import Scaled, middle_of_range, ordinary, scaled_rows
from ..result import Observer, Result, Start
from ..workspace import Made
from .reduction import Inner, Reduction, noted


@dataclass(frozen=True, eq=False)
class MiddleOfRange(Reduction):
    """An objective times powers of two, and the way back.

    Examples
    --------
    >>> from linsep._core import Rows
    >>> from linsep.losses import Hinge
    >>> from linsep.objective.problem import Problem
    >>> X, y = np.array([[1e65], [-1e65]]), np.array([1.0, -1.0])
    >>> MiddleOfRange.find([Problem(Rows(X), y, Hinge(), C=1e-200)]) is None
    False
    >>> MiddleOfRange.find([Problem(Rows(X / 1e65), y, Hinge())]) is None
    True
    """

    scaled: Scaled
    d: int
    help = "scaling"

    @classmethod
    def find(cls, objectives: Sequence[Objective]) -> Self | None:
        """Return the objective in the middle of the range of floats, unless it is there."""
        objective = objectives[0]
        nowhere = np.zeros(objective.d)
        if ordinary(objective, nowhere, 0.0):
            return None
        resident = objective.examples.resident is not None
        whole = objective if resident else objective.on(in_one(objective.examples))
        return cls(middle_of_range(whole, nowhere), len(nowhere))

    def apply(self, objective: Objective) -> Objective:
        """Return the objective with other rows, weights, penalty and C."""
        scaled, there = self.scaled, self.scaled.problem
        if objective.examples.resident is not None:
            return replace(objective.weighed(there.rows, there.sample_weight), penalty=there.penalty, C=there.C)
        # Rows are scaled as they come by, and the weights of their classes instead of their own.
        k = scaled.k
        examples = Changed(objective.examples, lambda rows: scaled_rows(rows.X, k)[0], self.d)
        by_class = np.ldexp(objective.by_class, scaled.a)
        return replace(objective, examples=examples, class_weight=by_class, penalty=there.penalty, C=there.C)

    def start(self, start: Start) -> Start:
        """Return where a run on this scale begins."""
        alpha = None if start.alpha is None else np.ldexp(start.alpha, self.scaled.m)
        return replace(start, w=np.ldexp(start.w, -self.scaled.k), alpha=alpha)

    def plane(self, theta: FloatArray) -> FloatArray:
        """Return the plane as it is on the columns as they are."""
        theta = np.array(theta, dtype=np.float64)
        theta[..., : self.d] = self._weights(theta[..., : self.d])
        return theta

    def back(self, result: Result, objective: Objective, reduced: Objective) -> Result:
        """Return the result for the objective as it is."""
        alpha = None if result.alpha is None else self._alpha(result.alpha)
        proof = None if result.proof is None else self._proof(result.proof)
        last = replace(result.last, w=self._weights(result.last.w), alpha=None)
        noted(result, "numbers at the ends of the range of floats are scaled inside")
        return replace(result, w=self._weights(result.w), alpha=alpha, last=last, proof=proof)

    def solve(self, objective: Objective, inner: Inner, start: Start | None, observer: Observer | None) -> Result:
        """Minimise there, and come back."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # its proof will tell how near it came
            return super().solve(objective, inner, start, observer)

    def _weights(self, w: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return np.ldexp(w, self.scaled.k)

    def _alpha(self, alpha: Any) -> Any:
        if isinstance(alpha, np.ndarray):
            return np.ldexp(alpha, -self.scaled.m)
        return Made(lambda which: np.ldexp(alpha.read(which), -self.scaled.m))

    def _proof(self, proof: Bound) -> Bound:
        back = Interval(proof.dual, proof.primal).shifted(-self.scaled.m)
        return Bound(back.high, back.low)
