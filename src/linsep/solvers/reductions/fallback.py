"""What follows a run that did not arrive: another method, where there is one that such problems cannot trouble."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...objective.objective import Objective
from ..contract import serves
from ..newton.interior_point import InteriorPoint
from ..newton.preconditioner import FACTORED
from ..result import STOPPED_BY_OBSERVER, Observer, Result

#: With more features than a factor takes, the rows are made dense, up to this many numbers.
DENSE = 10**7


def second_try(first: Result, problem: Objective, solver: Any, observer: Observer | None) -> Result:
    """Return the better of a solver's result and, where that has not proven its `tol`, of an interior point's.

    Parameters
    ----------
    first : Result
        What the solver has found.
    problem : Objective
    solver : Solver
    observer : callable or None
        Hears of the steps.
    """
    over = first.converged or first.interrupted or first.message == STOPPED_BY_OBSERVER
    if over or isinstance(solver, InteriorPoint) or first.proof is None or not _suits(problem):
        return first
    second = InteriorPoint(tol=solver.tol).solve(problem, observer=observer)
    if second.proof is None or not second.proof.relative_gap < first.proof.relative_gap:
        return replace(first, interrupted=second.interrupted)
    second.history.solver = InteriorPoint.name
    second.history.reason = f"{solver.name} ended at a gap of {first.proof.relative_gap:.1e}"
    return second


def _suits(problem: Objective) -> bool:
    """Whether an interior point method can take the problem, and its systems are not too large."""
    n, d = problem.rows.n, problem.rows.d
    return (d <= FACTORED or (2 * n < d and n * d <= DENSE)) and serves(InteriorPoint, problem)
