"""Problems at the ends of the range of floats, solved in the middle of it: see `linsep.objective.scaling`.

Sizes such as C = 1e-230 or columns of 1e200 are no harder than others, but their products are: those that fall below
the smallest float are zero, and a solver stops where it stands. Only methods whose way does not depend on the scale of
the data are helped; the steps of a stochastic one would become others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.enclosure import Interval
from ...objective.duality import Bound
from ...objective.problem import Problem
from ...objective.scaling import Scaled, middle_of_range, ordinary
from ...objective.softmax import SoftmaxProblem
from ..result import Observer, Result, Start

FloatArray = NDArray[np.float64]

__all__ = ["SCALE_FREE", "MiddleOfRange", "find_middle"]

#: Solvers that find the same plane on whatever scale.
SCALE_FREE = (
    "newton",
    "proximal_newton",
    "dual",
    "multipliers",
    "interior_point",
    "least_squares",
    "softmax_newton",
    "softmax_proximal_newton",
)


@dataclass(frozen=True, eq=False)
class MiddleOfRange:
    """A problem times powers of two, and the way back."""

    scaled: Scaled
    d: int

    def plane(self, w: FloatArray) -> FloatArray:
        """Return weights as they are on the columns as they are."""
        with np.errstate(over="ignore"):
            return np.ldexp(w, self.scaled.k)

    def start(self, start: Start | None) -> Start | None:
        """Return where a run on this scale begins."""
        if start is None:
            return None
        with np.errstate(over="ignore"):
            alpha = None if start.alpha is None else np.ldexp(start.alpha, self.scaled.m)
            return replace(start, w=np.ldexp(start.w, -self.scaled.k), alpha=alpha)

    def observer(self, observer: Observer | None) -> Observer | None:
        """Return an observer that hears of the planes as they are on the columns as they are."""
        return None if observer is None else _Translated(self, observer)

    def proof(self, proof: Bound) -> Bound:
        """Return between what the optimum lies, on the scale as it is."""
        back = Interval(proof.dual, proof.primal).shifted(-self.scaled.m)
        return Bound(back.high, back.low)

    def back(self, result: Result) -> Result:
        """Return the result for the problem as it is."""
        alpha = None if result.alpha is None else np.ldexp(result.alpha, -self.scaled.m)
        proof = None if result.proof is None else self.proof(result.proof)
        last = replace(result.last, w=self.plane(result.last.w), alpha=None)
        result.history.reason = self.reason(result.history.reason)
        return replace(result, w=self.plane(result.w), alpha=alpha, last=last, proof=proof)

    @staticmethod
    def reason(reason: str) -> str:
        """Return why it was solved as it was, with this added."""
        return "; ".join(filter(None, [reason, "numbers at the ends of the range of floats are scaled inside"]))


class _Translated:
    """An observer that is told of planes on another scale."""

    def __init__(self, middle: MiddleOfRange, observer: Observer) -> None:
        self._middle, self._observer = middle, observer
        self.needs_point = getattr(observer, "needs_point", True)
        self.stop_requested = getattr(observer, "stop_requested", lambda: False)

    def __call__(self, iteration: int, theta: FloatArray, objective: float) -> bool:
        theta = np.array(theta, dtype=np.float64)
        theta[..., : self._middle.d] = self._middle.plane(theta[..., : self._middle.d])
        return self._observer(iteration, theta, objective)


def find_middle(problem: Problem | SoftmaxProblem, solver: str) -> MiddleOfRange | None:
    """Return the problem in the middle of the range of floats, unless it is there or the solver would not gain.

    Examples
    --------
    >>> from linsep._core import Rows
    >>> from linsep.losses import Hinge
    >>> X, y = np.array([[1e65], [-1e65]]), np.array([1.0, -1.0])
    >>> find_middle(Problem(Rows(X), y, Hinge(), C=1e-200), "dual") is None
    False
    >>> find_middle(Problem(Rows(X / 1e65), y, Hinge()), "dual") is None
    True
    """
    d = problem.rows.d
    nowhere = np.zeros(d)
    if solver not in SCALE_FREE or ordinary(problem, nowhere, 0.0):
        return None
    return MiddleOfRange(middle_of_range(problem, nowhere), d)
