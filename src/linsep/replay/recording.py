"""Run a fit once more and keep every step of it: the plane, the example that moved it, what was measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from .._common.complaints import complaints
from .._common.types import FloatArray, IntArray
from .._common.words import listed
from ..estimators import LinearClassifier
from ..estimators._base import LinearEstimator
from ..estimators._specification import solved_by
from ..history import History, Record
from ..objective.objective import Objective
from ..solvers import STOPPED_BY_OBSERVER, Result, Solver, Start, automatic, check_count
from ..solvers.result import Observer

#: Every step is measured on all examples, so data with many numbers get fewer steps, unless the user says how many.
STEPS, FEWEST_STEPS, WORK = 5000, 200, 2_000_000_000


@dataclass(frozen=True, eq=False)
class Recording:
    """A fit and its steps."""

    model: Any  # fitted
    problem: Objective  # what was minimised: examples, labels ±1, loss, penalty
    history: History  # with the iterate of every record
    classes: tuple[str, str]  # what −1 and +1 stand for
    result: Result
    limit: int  # steps after which the fit was stopped, where it had not ended by itself
    warnings: tuple[str, ...]  # what the fit complained of

    @property
    def cut_short(self) -> bool:
        """Whether the limit ended the fit."""
        return self.result.message == STOPPED_BY_OBSERVER

    def plane(self, record: Record) -> tuple[FloatArray, float]:
        """Return w and b of a record."""
        assert record.iterate is not None  # what `record_fit` returns has one in every record
        return plane_of(record.iterate, self.problem.rows.d)


def plane_of(theta: FloatArray, d: int) -> tuple[FloatArray, float]:
    """Return w and b of an iterate; b is 0 where it has none."""
    return theta[:d], float(theta[d]) if len(theta) > d else 0.0


def record_fit(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    steps: int | None = None,
    positive: Any = None,
    given_up: Callable[[], bool] | None = None,
    draft: bool = False,
) -> Recording:
    """Fit a copy of an estimator, keeping every step.

    Parameters
    ----------
    estimator : estimator or solver
        Any estimator of linsep; a solver runs on the hinge loss (the perceptron rule on its own).
    X : array or sparse matrix of shape (n, d)
    y : array of shape (n,)
    steps : int, optional
        After how many steps to stop at the latest; by default 5000, fewer on large data.
    positive : label, optional
        Of more than two classes, the one to tell from the rest.
    given_up : callable, optional
        Asked at every step; where it says so, the fit ends there, as if its steps had been used up.
    draft : bool, default=False
        Whether somebody waits: stochastic descent with a penalty, whose single steps take long, is kept by passes.
    """
    model = _copy(estimator)
    y = np.asarray(y)
    codes, classes = two_classes(y, positive)
    labels = _named(y, codes, classes, positive)
    if steps is not None:
        check_count("steps", steps)
    stored = int(X.nnz if hasattr(X, "nnz") else np.size(X))
    limit = max(FEWEST_STEPS, min(STEPS, WORK // max(1, stored))) if steps is None else steps
    recorder = _Recorder(model, limit, given_up or (lambda: False), draft=draft)
    with solved_by(model, recorder.chosen), complaints(ConvergenceWarning, repeated=True) as said:
        model.fit(X, labels)
    if recorder.problem is None or recorder.result is None:
        raise ValueError(f"{type(model).__name__} takes no steps that could be shown; use another estimator")
    return Recording(model, recorder.problem, recorder.history(), classes, recorder.result, limit, tuple(said))


def two_classes(y: NDArray[Any], positive: Any = None) -> tuple[IntArray, tuple[str, str]]:
    """Return labels 0 and 1, and the names of both classes; of more than two, one stands against the rest.

    Examples
    --------
    >>> two_classes(np.array(["b", "a", "c"]), "c")
    (array([0, 0, 1]), ('(the rest)', 'c'))
    """
    classes = np.unique(y)
    if positive is None and len(classes) == 2:
        return (y == classes[1]).astype(np.int64), (str(classes[0]), str(classes[1]))
    if len(classes) < 2:
        raise ValueError(f"y has one class only, {listed(classes, 10)}: a replay shows a plane between two")
    if positive is None:
        raise ValueError(
            f"y has {len(classes)} classes ({listed(classes, 10)}); say which one stands against the rest: positive=…"
        )
    chosen = [name for name in classes if name == positive or str(name) == str(positive)]
    if not chosen:
        raise ValueError(f"positive={positive!r} is not among the classes: {listed(classes, 10)}")
    other = str(classes[classes != chosen[0]][0]) if len(classes) == 2 else "(the rest)"
    return (y == chosen[0]).astype(np.int64), (other, str(chosen[0]))


def _named(y: NDArray[Any], codes: IntArray, classes: tuple[str, str], positive: Any) -> NDArray[Any]:
    """Return the labels to fit, which messages name: the user's own, or the two names where their order is right."""
    if positive is None:
        return y
    return np.array(classes)[codes] if classes[0] < classes[1] else codes


def _copy(estimator: Any) -> Any:
    """Return an unfitted copy that begins at the beginning."""
    if hasattr(estimator, "solve") and not hasattr(estimator, "fit"):
        if estimator.name == "perceptron":
            return LinearClassifier("perceptron", C=None, solver=estimator)
        return LinearClassifier(solver=estimator)
    if not isinstance(estimator, LinearEstimator):
        raise ValueError(
            f"{type(estimator).__name__} does not tell its steps; use an estimator of linsep (or a pipeline that ends "
            "in one), or a solver of linsep.solvers"
        )
    model = clone(estimator)
    if "warm_start" in model.get_params():
        model.set_params(warm_start=False)
    return model


class _Recorder:
    """A solver that runs another and listens."""

    def __init__(self, model: Any, limit: int, given_up: Callable[[], bool], *, draft: bool) -> None:
        self._choose, self._named, self._limit, self._given_up = model._solver, model._named, limit, given_up
        self._draft = draft
        self.name = ""
        self.problem: Objective | None = None
        self.result: Result | None = None
        self._heard, self._seen = 0, list[tuple[int, FloatArray]]()

    def chosen(self) -> Solver:
        """Return itself, knowing whom to listen to where that does not depend on the problem."""
        solver = self._choose()
        self.name = "" if solver is None else solver.name
        return self

    def solve(
        self, problem: Objective, *, start: Start | None = None, seed: int = 0, observer: Observer | None = None
    ) -> Result:
        """Solve, keeping every iterate."""
        assert problem.head.planes is None, "a replay shows one plane, between two classes"
        solver = self._choose() or self._named(automatic(problem)[0])
        # A penalty shrinks the plane at every step, so that none can be passed over on the way to the next update.
        remembers = hasattr(solver, "record") and not (self._draft and problem.penalised)
        if is_dataclass(solver) and remembers:
            solver = replace(solver, record="update")  # type: ignore[type-var]
        self.name, self.problem = solver.name, problem

        def listen(iteration: int, theta: FloatArray, objective: float) -> bool:
            self._heard += 1
            if not remembers:
                self._seen.append((iteration, np.array(theta)))
            stop = observer is not None and observer(iteration, theta, objective)
            return stop or self._heard >= self._limit or self._given_up()

        self.result = solver.solve(problem, start=start, seed=seed, observer=listen)
        return self.result

    def history(self) -> History:
        """Return the history with all iterates: the solver's own, or one made of what was heard."""
        assert self.problem is not None
        assert self.result is not None
        own = self.result.history
        return own if len(own.iterates) else _joined(self.problem, self.result, self._seen)


def _joined(problem: Objective, result: Result, seen: list[tuple[int, FloatArray]]) -> History:
    """Return the records of a solver together with the iterates that its observer heard of.

    The observer hears neither of the start nor of the point that ends the run: w = 0 comes first where the solver's own
    record says that it did, and the point that is reported last.
    """
    by_step = {record.step: record for record in result.history.records}
    history, d = History(), problem.rows.d
    history.solver, history.reason = result.history.solver, result.history.reason
    best = np.inf

    def add(step: int, theta: FloatArray) -> None:
        nonlocal best
        own = by_step.get(step)
        if own is None or np.isnan(own.risk + own.zero_one):  # what the solver has not measured
            point = problem.evaluate(*plane_of(theta, d), gradient=False)
            own = replace(own or Record(step, step, point.mean_objective), risk=point.risk, zero_one=point.zero_one)
        best = min(best, own.objective)
        history.add(replace(own, best=best, iterate=theta))

    zero = problem.evaluate(np.zeros(d), 0.0, gradient=False).mean_objective
    first = by_step.get(0)
    if first is None or np.isclose(first.objective, zero, rtol=1e-9):
        history.add(Record(0, 0.0, zero, iterate=np.zeros(d + 1), zero_one=1.0))
    for step, theta in seen:
        add(step, theta)
    end = np.append(result.w, result.b)
    if not seen or not np.array_equal(seen[-1][1][:d], result.w) or end[d] != np.append(seen[-1][1], 0.0)[d]:
        add(max(result.n_iter, seen[-1][0] if seen else 1, 1), end)
    return history
