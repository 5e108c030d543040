"""The table of solvers, and which of them suits an objective."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..objective.objective import Objective
from .contract import Solver, serves
from .dual.descent import DualDescent
from .first_order.gradient_descent import GradientDescent
from .first_order.stochastic import PerceptronRule, StochasticDescent
from .newton.augmented_lagrangian import Multipliers
from .newton.interior_point import InteriorPoint
from .newton.least_squares import LeastSquares
from .newton.newton import Newton
from .newton.preconditioner import FACTORED
from .newton.proximal import ProximalNewton
from .result import Observer, Result, Start
from .zero_one.solver import ZeroOne

SOLVERS: dict[str, Any] = {
    kind.name: kind
    for kind in (
        GradientDescent,
        StochasticDescent,
        PerceptronRule,
        LeastSquares,
        Newton,
        ProximalNewton,
        DualDescent,
        Multipliers,
        InteriorPoint,
        ZeroOne,
    )
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


def _always(objective: Objective, few: bool) -> bool:
    return True


def _few(objective: Objective, few: bool) -> bool:
    return few


#: Solvers from the one that is best where it can be used, when to use it, and why.
PREFERENCES: tuple[tuple[Any, Callable[[Any, bool], bool], str], ...] = (
    (LeastSquares, _always, "a quadratic loss has a closed-form minimum"),
    (ProximalNewton, _always, "a smooth loss and an L1 penalty, which leaves most weights at zero"),
    (Newton, _few, "a smooth loss and few enough features to factor the Hessian"),
    (Multipliers, lambda objective, few: objective.head.planes is not None, "margins between all classes at once"),
    (Multipliers, _few, "a loss with a kink and few enough features to factor a Hessian"),
    (DualDescent, lambda objective, few: objective.loss.smooth, "a smooth loss and many features"),
    (DualDescent, lambda objective, few: not few, "a loss with a kink and many features"),
    (Newton, _always, "a smooth loss and many features: conjugate gradients, which write no Hessian down"),
    (
        Multipliers,  # of rows that come by one after the other dual descent is
        lambda objective, few: objective.head.planes is None,
        "a loss with a kink and many features on many machines: conjugate gradients, which write no Hessian down, and "
        "whose rounds do not grow with the partitions, as those of local dual solves do",
    ),
    (
        InteriorPoint,
        lambda objective, few: few or objective.penalty.l1 > 0,
        "a loss with a kink, and L1 or no penalty: a linear or quadratic program",
    ),
    (StochasticDescent, _always, "stochastic descent suits any loss with a slope"),
)


def automatic(objective: Objective, most_features: int = FACTORED) -> tuple[str, str]:
    """Return the name of the solver that suits an objective, and why.

    Parameters
    ----------
    objective : Objective
    most_features : int
        With more of them no Hessian is to be factored.

    Examples
    --------
    >>> import numpy as np
    >>> from linsep._core import Rows
    >>> from linsep.losses import Square
    >>> from linsep.objective.problem import Problem
    >>> automatic(Problem(Rows(np.eye(2)), np.array([1.0, -1.0]), Square()))
    ('least_squares', 'a quadratic loss has a closed-form minimum')
    """
    few = objective.rows.d <= most_features
    for aside in (
        "",
        "vectors",
        "rows",
        "one_plane_or_rows",
    ):  # where none suits, the one that would if there were room in memory says so
        for kind, when, why in PREFERENCES:
            if serves(kind, objective, but_for=aside) and when(objective, few):
                return kind.name, why
    return StochasticDescent.name, PREFERENCES[-1][-1]  # which says what it lacks


@dataclass(frozen=True)
class Automatic:
    """The solver that suits the objective; where it does not arrive, another one may follow.

    Parameters
    ----------
    tol, max_iter : float, int or None
        Limits of the solver's own, where it has such; None for what it is used to.
    most_features : int
        With more of them no Hessian is to be factored.
    """

    tol: float | None = None
    max_iter: int | None = None
    most_features: int = FACTORED
    name = "auto"

    def choose(self, objective: Objective) -> tuple[Solver, str]:
        """Return the solver, and why it is that one; the labels of an objective play no part in it."""
        name, reason = automatic(objective, self.most_features)
        limits = {key: value for key, value in (("tol", self.tol), ("max_iter", self.max_iter)) if value is not None}
        return get(name, **{key: value for key, value in limits.items() if hasattr(SOLVERS[name], key)}), reason

    def solve(
        self, problem: Objective, *, start: Start | None = None, seed: int = 0, observer: Observer | None = None
    ) -> Result:
        """Minimise by the solver that suits, without reductions: `minimise` does more."""
        return self.choose(problem)[0].solve(problem, start=start, seed=seed, observer=observer)
