"""The way from an objective to a result: choose a solver, reduce the objective, solve, try again or go on to a proof.

Planes over the same examples (one class against the rest) share their reductions, and run in threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import wait
from dataclasses import dataclass, replace
from threading import Event
from typing import Any

from .. import _core
from .._common.types import FloatArray
from .._core import helpers
from ..certificates.gap.rounding import rounding
from ..objective.duality import share
from ..objective.objective import Objective
from .choice import Automatic
from .contract import Solver, check_needs, helped_by
from .newton.polishing import can_be_proven, polished
from .reductions import Reduction, reductions, through
from .reductions.fallback import second_try
from .result import Observer, Result, Start
from .workspace import Workspace

#: Why a solver was chosen, if the user did.
ASKED_FOR = "asked for"
#: The relative gap that is asked for where nobody says.
DEFAULT_TOL = 1e-4


def minimise(
    objective: Objective,
    solver: Solver,
    *,
    start: Start | None = None,
    seed: int = 0,
    observer: Observer | None = None,
    workspace: Workspace | None = None,
    tol: float | None = None,
    polish: bool = True,
    reduce: bool = True,
) -> Result:
    """Minimise an objective by a solver, or by `Automatic`: in its best form, and at a second try if that may be.

    Parameters
    ----------
    objective : Objective
    solver : Solver
    start : Start or None
    seed : int
        For what is drawn at random.
    observer : callable or None
        Hears of every iteration, of planes for the objective as it is given; True ends the run.
    workspace : Workspace or None
        Where a run on examples in blocks keeps what must outlast a pass; None for memory.
    tol : float or None
        The relative gap that is asked for; None for the solver's own.
    polish : bool
        Whether without a penalty further steps are to prove it.
    reduce : bool
        Whether a better form of it is to be looked for: see `best_form`.

    Examples
    --------
    >>> import numpy as np
    >>> from linsep.losses import Hinge
    >>> from linsep.objective.problem import Problem
    >>> X, y = np.array([[2000.0], [2000.1], [2000.4]]), np.array([-1.0, -1.0, 1.0])
    >>> found = minimise(Problem(_core.Rows(X), y, Hinge(), C=1.0), Automatic(tol=1e-6))
    >>> found.converged, found.history.solver
    (True, 'multipliers')
    """
    run = _Run([objective], solver, [start], seed, lambda k: observer, workspace, reduce=reduce)
    return run.polished(run.solve(range(1)), tol)[0] if polish else run.solve(range(1))[0]


def best_form(objective: Objective, solver: Solver, *, but_for: str = "") -> tuple[Objective, list[Reduction]]:
    """Return an objective as a solver is to see it, for several values of C, and the reductions that made it so.

    `but_for`: the `help` of one that is left out.
    """
    chain = [one for one in _Run([objective], solver, [None], 0, lambda k: None).chain if one.help != but_for]
    for reduction in chain:
        objective = reduction.apply(objective)
    return objective, chain


def minimise_all(
    objectives: Sequence[Objective],
    solver: Solver,
    *,
    starts: Sequence[Start | None] | None = None,
    seed: int = 0,
    observers: Callable[[int], Observer | None] | None = None,
    n_jobs: int = 1,
    tol: float | None = None,
    polish: bool = True,
) -> list[Result]:
    """Minimise objectives that differ in their labels only; parameters as for `minimise`.

    Parameters
    ----------
    observers : callable or None
        Gives the observer of each, by its number, when that one begins.
    n_jobs : int
        Threads; Ctrl-C in one ends all.
    """
    run = _Run(objectives, solver, starts or [None] * len(objectives), seed, observers or (lambda k: None))
    shares = run.shares(n_jobs)
    if len(shares) == 1 or n_jobs == 1:
        results = [run.solve(share) for share in shares]
    else:
        results = run.side_by_side(shares, n_jobs)
    found = [result for some in results for result in some]
    return run.polished(found, tol) if polish else found


class _Run:
    """Objectives on the same examples, and the solver of all."""

    def __init__(
        self,
        objectives: Sequence[Objective],
        solver: Solver,
        starts: Sequence[Start | None],
        seed: int,
        observers: Callable[[int], Observer | None],
        workspace: Workspace | None = None,
        *,
        reduce: bool = True,
    ) -> None:
        self.objectives, self.starts, self.seed, self.observers = objectives, starts, seed, observers
        self.tries_again, self.solver, self.reason, self.tol = False, solver, ASKED_FOR, getattr(solver, "tol", None)
        if isinstance(solver, Automatic):
            self.tries_again = solver.max_iter is None
            self.solver, self.reason = solver.choose(objectives[0])
        check_needs(self.solver, objectives[0])
        self.further: dict[str, Any] = {} if workspace is None else {"workspace": workspace}
        self.interrupt = Event()
        self.chain: list[Reduction] = reductions(objectives, self.solver) if reduce else []

    def shares(self, n_jobs: int) -> list[range]:
        """Return which planes are solved together, one share after the other or side by side."""
        together = getattr(self.solver, "shares", None)
        if together is None:
            return [range(k, k + 1) for k in range(len(self.objectives))]
        found: list[range] = together(self.objectives, n_jobs)
        return found

    def solve(self, share: range) -> list[Result]:
        """Minimise some of the objectives."""
        listeners = {k: StoppableObserver(self.interrupt, self.observers(k)) for k in share}
        if hasattr(self.solver, "solve_together"):
            together = dict(starts=self.starts, seed=self.seed, observers=listeners)
            found = self.solver.solve_together(self.objectives, share, **together)
        else:
            found = [through(self.chain, self.objectives[k], self._solve, self.starts[k], listeners[k]) for k in share]
        if any(result.interrupted for result in found):
            self.interrupt.set()  # the planes that are left take one iteration each
        for result in found:
            result.history.solver = result.history.solver or self.solver.name
            result.history.reason = "; ".join(filter(None, [self.reason, result.history.reason]))
        return [replace(result, interrupted=self.interrupt.is_set()) for result in found]

    def _solve(self, objective: Objective, start: Start | None, observer: Observer | None) -> Result:
        """Solve as it is; where the method is ours to choose and did not arrive, by another."""
        further = self.further if objective.examples.resident is None else {}  # merged rows are in memory
        found = self.solver.solve(objective, start=start, seed=self.seed, observer=observer, **further)
        return second_try(found, objective, self.solver, observer) if self.tries_again else found

    def polished(self, results: list[Result], tol: float | None) -> list[Result]:
        """Return the results with their gaps proven, where no penalty does that by itself.

        Who interrupts these steps, or was in a hurry before, gets the planes as they were found.
        """
        if any(result.interrupted for result in results):
            return results
        tol = next(one for one in (tol, self.tol, DEFAULT_TOL) if one is not None)
        try:
            return [
                _polished(result, objective, tol) if "polishing" in helped_by(result.history.solver) else result
                for result, objective in zip(results, self.objectives, strict=True)
            ]
        except KeyboardInterrupt:
            return [replace(result, interrupted=True) for result in results]

    def side_by_side(self, shares: list[range], n_jobs: int) -> list[list[Result]]:
        """Solve every share in a thread of its own; Ctrl-C sets the event, and they end."""

        def alone(share: range) -> list[Result]:
            with _core.one_thread():
                return self.solve(share)

        with helpers(min(n_jobs, len(shares))) as pool:
            tasks = [pool.submit(alone, share) for share in shares]
            try:
                # A signal may land in a worker; the main thread hears of it when it next wakes.
                while wait(tasks, timeout=0.1).not_done:
                    pass
            except KeyboardInterrupt:
                self.interrupt.set()
            solved = [task.result() for task in tasks]
        # A share may have been solved before the others heard of Ctrl-C, the last one too.
        return [[replace(one, interrupted=self.interrupt.is_set()) for one in share] for share in solved]


def _polished(result: Result, objective: Objective, tol: float) -> Result:
    """Return the result with its gap proven; itself where its solver's own proof will do, or none can be."""
    proof = result.proof
    if not can_be_proven(objective):
        return result
    if objective.head.planes is None and objective.loss.quadratic and proof is not None and proof.dual > 0:
        error = rounding(objective, result.w, result.b, proof)
        if share(max(proof.gap, 0.0) + error, proof.primal - error) <= tol:
            return result
    return polished(result, objective, tol)


@dataclass(frozen=True)
class StoppableObserver:
    """An observer that stops the run when an event says so; a solver may also ask it between observations.

    Where nobody else listens (`needs_point` is false) it does not look at θ, which may then be empty.
    """

    event: Event
    observer: Observer | None

    @property
    def needs_point(self) -> bool:
        """Whether somebody looks at θ."""
        return self.observer is not None

    def stop_requested(self) -> bool:
        """Whether the run is to end."""
        return self.event.is_set()

    def __call__(self, iteration: int, theta: FloatArray, objective: float) -> bool:
        """Whether the run is to end after this iteration."""
        stop = self.observer is not None and self.observer(iteration, theta, objective)
        return stop or self.event.is_set()
