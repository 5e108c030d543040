"""The algorithms, one a file; the table that finds them by name, and `minimise`, the way that every fit goes.

A solver is an immutable record with ``solve(problem, *, start, seed, observer) -> Result``; it has no side effects.
"""

from __future__ import annotations

from .._common.checks import check_choice, check_count
from ..certificates.mistakes.bound import MistakeBound
from .choice import SOLVERS, Automatic, automatic, get
from .contract import Solver, check_needs, helped_by, serves
from .dual.descent import DualDescent
from .first_order.gradient_descent import Descent, GradientDescent, StepSizeWarning, minimize
from .first_order.stochastic import PerceptronRule, StochasticDescent, stream
from .minimising import ASKED_FOR, best_form, minimise, minimise_all
from .newton.augmented_lagrangian import Multipliers
from .newton.interior_point import InteriorPoint
from .newton.least_squares import LeastSquares
from .newton.newton import Newton
from .newton.proximal import ProximalNewton
from .result import STOPPED_BY_OBSERVER, Result, Start, Votes
from .zero_one.solver import ZeroOne, ZeroOneResult

__all__ = [
    "ASKED_FOR",
    "SOLVERS",
    "STOPPED_BY_OBSERVER",
    "Automatic",
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
    "best_form",
    "check_choice",
    "check_count",
    "check_needs",
    "get",
    "helped_by",
    "minimise",
    "minimise_all",
    "minimize",
    "serves",
    "stream",
]
