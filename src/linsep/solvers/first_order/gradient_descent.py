"""(Sub)gradient descent, for any function and for any loss: θ ← θ − η_k ∇F(θ)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import schedules
from ... import stopping as stopping_rules
from ..._common.checks import check_choice, check_count
from ..._common.types import FloatArray
from ..._core import length
from ...history import History, Record
from ...objective.objective import Objective
from ...objective.problem import MeanObjective
from ...schedules import Constant, InverseSqrt, Schedule
from ...stopping import NoProgress, ParameterChange, Progress, Rule
from ..contract import check_needs
from ..result import Observer, Result, Start
from ..run import EndOfRun, SteppedRun
from .step_watch import StepWatch

Stopping = str | Rule | Iterable[str | Rule] | None

#: Steps at the most for which a smaller step size is tried before it is advised.
TRIAL = 200
WRONG_SIGN = (
    "the gradient has the wrong sign: from the start f rises along the smallest steps against it, and falls along it. "
    "It must point uphill; turn its sign round"
)


class StepSizeWarning(UserWarning):
    """A step size that is too large or too small, with one to try."""


@dataclass(frozen=True)
class Descent:
    """Where a descent ended.

    Attributes
    ----------
    x : array
        The best point met.
    value : float
        The function there.
    last : array
        The current point, which is not always the best.
    n_iter : int
    converged : bool
    message : str
        Why it stopped.
    advice : str
        What to change if the step size was wrong, else empty.
    history : History
    interrupted : bool
    """

    x: FloatArray
    value: float
    last: FloatArray
    n_iter: int
    converged: bool
    message: str
    advice: str
    history: History
    interrupted: bool = False


def descend(
    function: MeanObjective | _Plain,
    start: FloatArray,
    schedule: Schedule,
    rules: list[Rule],
    max_iter: int,
    *,
    stable: float | None = None,
    smooth: bool = True,
    first_step: int = 0,
    start_counts: bool = True,
    keep_iterates: bool = False,
    tries: bool = False,
    observer: Observer | None = None,
) -> Descent:
    """Walk downhill from `start` until a rule says stop, keeping the best point beside the current one.

    Unless `start_counts`, the best point is one that was walked to: w = 0 minimises the perceptron risk, but it is not
    an answer. If it `tries`, it advises of smaller steps only such as were seen to get down.
    """

    def works(smaller: Schedule, near: bool = False) -> bool:
        begin = best if near else start
        tried = descend(function, begin, smaller, rules, TRIAL)
        return tried.value < function.value(begin) and not tried.advice

    watch = StepWatch(schedule, stable, smooth, works if tries else None)
    run = SteppedRun(f"stopped after max_iter={max_iter} iterations", observer, watch, rules)
    if keep_iterates:
        run.history.coordinates = function.coordinates
    theta, value, k = start, function.value(start), 0
    best, best_value = theta, value if start_counts else np.inf

    def record(gradient: FloatArray) -> float:
        norm = float(np.linalg.norm(gradient))
        measures = function.risk(theta), function.zero_one(theta), norm, float(schedule(first_step + k))
        best_so_far = best_value if np.isfinite(best_value) else np.nan
        kept = theta.copy() if keep_iterates else None
        run.history.add(
            Record(first_step + k, k, value, *measures, best_so_far, error=function.error(theta), iterate=kept)
        )
        return norm

    gradient = function.gradient(theta)
    watch.begin(value, first_step)
    watch.see(first_step, theta, gradient, value)
    norm = record(gradient)
    with run.until_it_ends():
        while k < max_iter:
            with np.errstate(over="ignore", invalid="ignore"):
                new = theta - schedule(first_step + k) * gradient
                new_value = function.value(new)
                new_gradient = function.gradient(new)
            run.end_if_lost(new_value, bool(np.isfinite(new_gradient).all()))
            previous, theta, value, gradient, k = theta, new, new_value, new_gradient, k + 1
            if value < best_value:
                best, best_value = theta, value
            watch.see(first_step + k, theta, gradient, value)
            norm = record(gradient)
            run.end_if_told(first_step + k, Progress(k, theta, previous, value, norm, function.zero_one(theta)))
        raise EndOfRun(run.message, advice=run.advice_after(first_step + k))
    if best is start and points_downhill(function.value, start, function.gradient(start)):
        run.converged, run.advice = False, WRONG_SIGN
    reached = best_value if np.isfinite(best_value) else value
    return Descent(best, reached, theta, k, run.converged, run.message, run.advice, run.history, run.interrupted)


def points_downhill(f: Callable[[FloatArray], float], x: FloatArray, gradient: FloatArray) -> bool:
    """Whether f falls along what is said to be its gradient, and rises against it, however short the way.

    No subgradient of a convex function does, kink or not: along it f rises by at least its length for each unit.

    Examples
    --------
    >>> f, x = lambda x: float(x @ x), np.array([1.0, 0.0])
    >>> points_downhill(f, x, -2 * x), points_downhill(f, x, 2 * x)
    (True, False)
    """
    far = length(gradient)
    if not 0 < far < np.inf:
        return False
    ways = [share * (1 + length(x)) / far * gradient for share in (1e-3, 1e-4, 1e-5)]
    return all(f(x - way) > f(x) > f(x + way) for way in ways)


class _Plain:
    """A function without examples."""

    def __init__(
        self, f: Callable[[FloatArray], Any], grad: Callable[[FloatArray], ArrayLike], coordinates: tuple[str, ...]
    ) -> None:
        self._f, self._grad, self.coordinates = f, grad, coordinates

    def value(self, theta: FloatArray) -> float:
        return float(self._f(theta))

    def gradient(self, theta: FloatArray) -> FloatArray:
        gradient = np.asarray(self._grad(theta), dtype=np.float64)
        if gradient.shape != theta.shape:
            raise ValueError(f"grad(x) has shape {gradient.shape}, x has shape {theta.shape}; they must be the same")
        return gradient

    def risk(self, theta: FloatArray) -> float:
        return np.nan

    def zero_one(self, theta: FloatArray) -> float:
        return np.nan

    def error(self, theta: FloatArray) -> float:
        return np.nan


def minimize(
    f: Callable[[FloatArray], Any],
    grad: Callable[[FloatArray], ArrayLike],
    x0: ArrayLike,
    *,
    schedule: str | float | Schedule = 0.01,
    stopping: Stopping = "parameter_change",
    max_iter: int = 10_000,
) -> Descent:
    """Minimise a function by (sub)gradient descent.

    Parameters
    ----------
    f : callable
        The function, of one array.
    grad : callable
        Its gradient, or a subgradient where it has none.
    x0 : array
        Where to begin.
    schedule : Schedule, str or float
        The step sizes; a number is a constant one.
    stopping : rule, str, or list of these
        When to stop; by default when a step is shorter than 1e-4.
    max_iter : int
        When to stop at the latest.

    Returns
    -------
    Descent
        ``x`` (the best point met), ``value``, ``converged``, ``message``, and ``history`` with every iterate.

    Warns
    -----
    StepSizeWarning
        If the step size was too large or too small, with a value to try; or if the gradient has the wrong sign.

    Examples
    --------
    >>> f = lambda x: np.exp(x @ x) + (x[0] - 2) ** 2 + (x[1] - 3) ** 2
    >>> grad = lambda x: 2 * x * np.exp(x @ x) + 2 * (x - [2, 3])
    >>> run = minimize(f, grad, [0.5, 0.0], schedule=0.05)
    >>> run.history.iterates[1:3].round(2).tolist()
    [[0.59, 0.3], [0.64, 0.52]]
    >>> run.converged
    True
    """
    start = np.array(x0, dtype=np.float64)
    if start.ndim != 1 or not np.isfinite(start).all():
        raise ValueError(f"x0={x0!r} must be a list of finite numbers")
    if not np.isfinite(f(start)) or not np.isfinite(grad(start)).all():
        raise ValueError(f"f or its gradient is not a finite number at x0={x0!r}; begin elsewhere")
    check_count("max_iter", max_iter)
    chosen = stopping_rules.get(stopping)
    for rule in chosen:
        if rule.needs not in ("", "gradient_norm"):
            raise ValueError(f"{rule} needs labelled examples; a plain function has none")
    few = len(start) <= len("xyz")
    function = _Plain(f, grad, tuple("xyz"[: len(start)]) if few else tuple(f"x{j}" for j in range(len(start))))
    run = descend(function, start, schedules.get(schedule), chosen, max_iter, keep_iterates=True, tries=True)
    if run.interrupted:
        raise KeyboardInterrupt
    if run.advice:
        warnings.warn(f"minimize: {run.advice}.", StepSizeWarning, stacklevel=2)
    return run


@dataclass(frozen=True)
class GradientDescent:
    """Full-batch (sub)gradient descent on the mean objective: each step sees every example.

    Parameters
    ----------
    schedule : Schedule, str, float or None
        The step sizes. None: 1/L for a smooth loss, where L bounds the curvature, else 1/(R √(k + 1)), where R is the
        root mean square length of the (augmented) examples.
    stopping : rule, str, list of these, or None
        When to stop before `max_iter`; by default when a step is negligible or the objective falls no more.
    max_iter : int
        How many steps at the most.
    record : {"pass", "update"}
        ``"update"`` stores every iterate in the history.

    Examples
    --------
    >>> from linsep import LinearClassifier
    >>> from linsep.schedules import InverseSqrt
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), [0, 0, 1, 1]
    >>> rule = ParameterChange(1e-3)
    >>> model = LinearClassifier("perceptron", C=np.inf, solver=GradientDescent(InverseSqrt(1.0), rule)).fit(X, y)
    >>> model.predict([[0.5], [3.5]])
    array([0, 1])
    """

    schedule: str | float | Schedule | None = None
    stopping: Stopping = (ParameterChange(1e-4), NoProgress(1e-4, 20))
    max_iter: int = 1000
    record: str = "pass"
    name = "gradient_descent"
    needs = frozenset({"slope", "one_plane", "rows"})

    def __post_init__(self) -> None:
        check_choice("record", self.record, ("pass", "update"))
        check_count("max_iter", self.max_iter)

    def solve(
        self, problem: Objective, *, start: Start | None = None, seed: int = 0, observer: Observer | None = None
    ) -> Result:
        """Minimise; `seed` is not used, since nothing is random."""
        check_needs(self, problem)
        function = MeanObjective(problem)
        rules = stopping_rules.without_gap(stopping_rules.get(self.stopping), self.name)
        schedule = automatic_schedule(problem) if self.schedule is None else schedules.get(self.schedule)
        theta = problem.join(*(problem.zeros() if start is None else (start.w, start.b)))
        run = descend(
            function,
            theta,
            schedule,
            rules,
            self.max_iter,
            stable=stable_step(problem),
            smooth=problem.loss.smooth,
            first_step=0 if start is None else start.step,
            start_counts=False,
            keep_iterates=self.record == "update",
            observer=observer,
        )
        (w, b), taken = problem.split(run.x), run.n_iter + (0 if start is None else start.step)
        last = Start(*problem.split(run.last), step=taken)
        ended = run.converged, run.message, run.history
        return Result(w.copy(), b, run.n_iter, *ended, last, run.advice, run.interrupted)


def automatic_schedule(problem: Objective) -> Schedule:
    """Return steps that suit a full gradient: see `GradientDescent`."""
    if problem.loss.smooth:
        return Constant(stable_step(problem))
    return InverseSqrt(problem.mean_square_length**-0.5)


def stable_step(problem: Objective) -> float:
    """Return a step that a full gradient can take without climbing: 1/L.

    The largest eigenvalue of the mean of x xᵀ is at most its trace, the mean of ‖x‖².
    """
    curvature = problem.loss.max_curvature if problem.loss.smooth else 1.0
    return 1.0 / (curvature * problem.mean_square_length + problem.strength * problem.penalty.l2)
