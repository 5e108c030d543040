"""The algorithms, one a file, and the table that finds them by name.

A solver is an immutable record with ``solve(problem, *, start, seed, observer) -> Result``; it has no side effects.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..certificates.mistakes.bound import MistakeBound
from ..objective.problem import Problem
from ._checks import check_choice, check_count
from .dual.descent import DualDescent
from .first_order.gradient_descent import Descent, GradientDescent, StepSizeWarning, minimize
from .first_order.stochastic import PerceptronRule, StochasticDescent, stream
from .newton.augmented_lagrangian import Multipliers
from .newton.interior_point import InteriorPoint
from .newton.least_squares import LeastSquares
from .newton.newton import Newton
from .newton.preconditioner import FACTORED
from .newton.proximal import ProximalNewton
from .result import STOPPED_BY_OBSERVER, Result, Start, Votes
from .zero_one.search import ZeroOne, ZeroOneResult

__all__ = [
    "SOLVERS",
    "STOPPED_BY_OBSERVER",
    "Descent",
    "DualDescent",
    "GradientDescent",
    "InteriorPoint",
    "LeastSquares",
    "MistakeBound",
    "Multipliers",
    "Newton",
    "PerceptronRule",
    "ProximalNewton",
    "Result",
    "Solver",
    "Start",
    "StepSizeWarning",
    "StochasticDescent",
    "Votes",
    "ZeroOne",
    "ZeroOneResult",
    "automatic",
    "check_choice",
    "check_count",
    "get",
    "minimize",
    "stream",
]


class Solver(Protocol):
    """Anything that minimises a problem."""

    @property
    def name(self) -> str:
        """What users call it."""
        ...

    def solve(
        self,
        problem: Problem,
        *,
        start: Start | None = None,
        seed: int = 0,
        observer: Callable[[int, NDArray[np.float64], float], bool] | None = None,
    ) -> Result:
        """Minimise. The observer hears of every iteration and may stop the run by returning True."""
        ...


SOLVERS: dict[str, Any] = {
    "gradient_descent": GradientDescent,
    "sgd": StochasticDescent,
    "perceptron": PerceptronRule,
    "least_squares": LeastSquares,
    "newton": Newton,
    "proximal_newton": ProximalNewton,
    "dual": DualDescent,
    "multipliers": Multipliers,
    "interior_point": InteriorPoint,
    "zero_one": ZeroOne,
}


def get(solver: str | Solver, **settings: Any) -> Solver:
    """Return the solver of that name with those settings, or the solver itself.

    Examples
    --------
    >>> get("sgd", max_iter=5).max_iter
    5
    """
    if isinstance(solver, str):
        if solver not in SOLVERS:
            raise ValueError(f"solver={solver!r} is not known; use 'auto', one of {', '.join(SOLVERS)}, or an object")
        unknown = [key for key in settings if key not in SOLVERS[solver].__dataclass_fields__]
        if unknown:
            raise ValueError(f"{', '.join(unknown)} would be ignored: solver {solver!r} has no such setting")
        chosen: Solver = SOLVERS[solver](**settings)
        return chosen
    if not (hasattr(solver, "solve") and hasattr(solver, "name")):
        raise ValueError(f"solver={solver!r} needs 'solve' and 'name'; use a name or an object of linsep.solvers")
    return solver


def automatic(problem: Problem) -> tuple[str, str]:
    """Return the name of the solver that suits the problem, and why.

    Examples
    --------
    >>> from linsep._core import Rows
    >>> from linsep.losses import Square
    >>> automatic(Problem(Rows(np.eye(2)), np.array([1.0, -1.0]), Square()))
    ('least_squares', 'a quadratic loss has a closed-form minimum')
    """
    if problem.loss.quadratic and problem.penalty.l1 == 0:
        return "least_squares", "a quadratic loss has a closed-form minimum"
    loss, penalty = problem.loss, problem.penalty
    if loss.convex and loss.smooth and penalty.l1 > 0 and loss.defines("curvature", "conjugate"):
        return "proximal_newton", "a smooth loss and an L1 penalty, which leaves most weights at zero"
    if loss.smooth and penalty.l1 == 0 and loss.defines("curvature", "conjugate"):
        if problem.rows.d <= FACTORED:
            return "newton", "a smooth loss and few enough features to factor the Hessian"
        if loss.defines("dual_step") and penalty.l2 > 0:
            return "dual", "a smooth loss and many features"
        return "newton", "a smooth loss"
    if loss.defines("dual_step") and penalty.l2 > 0 and penalty.l1 == 0:
        if problem.rows.d <= FACTORED:
            return "multipliers", "a loss with a kink and few enough features to factor a Hessian"
        return "dual", "a loss with a kink and many features"
    return "sgd", "stochastic descent suits any loss with a slope"
