"""Warm-started fits along C: the objectives of one estimator on the same rows, solved for one C after another."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ..certificates.stops import lagrange
from ..objective.examples import Examples, InMemory
from ..objective.objective import Objective
from ..solvers import Automatic, Result, Start, best_form, minimise, minimise_all
from ..solvers.workspace import Workspace

#: How many of the last solutions tell where the next one is, by a polynomial in log C.
REMEMBERED = 3


class Track:
    """An estimator on some rows, on its way along C.

    Parameters
    ----------
    estimator : estimator
        Which says the loss, the penalty and the weights of classes; it knows its classes and columns.
    examples : InMemory
    classes : array
    tol : float
        The relative gap at which each fit ends.
    place : callable, optional
        Gives the workspace of each fit, where examples are elsewhere than in memory.
    """

    def __init__(
        self,
        estimator: Any,
        examples: Examples,
        classes: Any,
        tol: float,
        seed: int = 0,
        place: Callable[[], Workspace] | None = None,
    ) -> None:
        self.template, self.examples, self.tol, self.seed = copy.copy(estimator), examples, tol, seed
        self.place = place
        self.template.classes_ = classes
        weights = self.template._class_weights(examples, classes)
        self.objectives: list[Objective] = self.template._objectives(examples, weights)
        self._known: list[tuple[float, list[Result]]] = []

    def best_form(self, *, but_for: str = "") -> tuple[Objective, list[Any]]:
        """Return the first objective as a solver wants it, its labels at hand, and the reductions that made it so."""
        objective, chain = best_form(replace(self.objectives[0], C=1.0), Automatic(tol=self.tol), but_for=but_for)
        return replace(objective, examples=replace(cast(InMemory, objective.examples), signs=objective.y)), chain

    def at(self, C: float) -> list[Result]:
        """Return the solution at C, found from where the last ones lead."""
        objectives = [replace(objective, C=C) for objective in self.objectives]
        starts = [self._start(k, objective) for k, objective in enumerate(objectives)] if self._known else None
        found = [result.as_part() for result in self._solved(objectives, starts)]
        self._known = [*self._known, (C, found)][-REMEMBERED:]
        return found

    def _solved(self, objectives: list[Objective], starts: list[Start] | None) -> list[Result]:
        asked: Any = dict(seed=self.seed, tol=self.tol, polish=False)
        solver = self.template._solver() or Automatic(tol=self.tol)
        if self.place is None:
            return minimise_all(objectives, solver, starts=starts, **asked)
        return [
            minimise(one, solver, start=None if starts is None else starts[k], workspace=self.place(), **asked)
            for k, one in enumerate(objectives)
        ]

    def model(self, C: float) -> Any:
        """Return an estimator with the planes of the solution at C, which can predict."""
        found, model = self.at(C), copy.copy(self.template)
        if "C" in model.get_params():
            model.set_params(C=C)
        model.coef_ = np.concatenate([np.atleast_2d(result.w.T) for result in found])
        model.intercept_ = np.concatenate([np.atleast_1d(result.b) for result in found])
        model.n_iter_ = max(result.n_iter for result in found)
        return model

    def _start(self, k: int, objective: Objective) -> Start:
        """Return where the solutions so far lead; the duals of a kinked loss grow as C does."""
        C, last = self._known[-1][0], self._known[-1][1][k]
        alpha = None
        if last.alpha is not None and not objective.loss.smooth and self.place is None:
            alpha = np.asarray(last.alpha) * (objective.C / C)
        # These know more than a plane does, have zeros to keep, or have no penalty: no curve leads there.
        if alpha is not None or objective.penalty.l1 or not objective.penalised:
            return Start(last.w, last.b, alpha=alpha)
        shares = lagrange(np.log([one for one, _ in self._known]), np.log(objective.C))
        w = sum(share * results[k].w for share, (_, results) in zip(shares, self._known, strict=True))
        b = sum(share * np.asarray(results[k].b) for share, (_, results) in zip(shares, self._known, strict=True))
        return Start(np.asarray(w), float(b) if np.ndim(b) == 0 else np.asarray(b))
