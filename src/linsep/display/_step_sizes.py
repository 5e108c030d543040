"""`StepSizeDisplay`: the same fit with steps that are too small, right, and too large."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, is_dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from .. import schedules as all_schedules
from .._common.complaints import complaints
from .._common.types import FloatArray
from ..history import History
from ..schedules import Constant, InverseSqrt, Schedule
from ..solvers import StepSizeWarning
from ._canvas import Display, legend, line_look, pyplot, theme_of

#: What is compared by default, as multiples of a step size that suits the data: steps that shrink forgive more.
CONSTANT_FACTORS, SHRINKING_FACTORS = (1e-3, 1.0, 100.0), (1e-3, 1.0, 1e4)


@dataclass(frozen=True)
class StepSizeRun:
    """One run: its objective by step, and what was said about its steps, if anything."""

    steps: FloatArray
    objective: FloatArray
    message: str

    @classmethod
    def of(cls, history: History, message: str) -> Self:
        """Return the run that left this history."""
        return cls(history["step"], history["objective"], message)

    @property
    def best(self) -> float:
        """The lowest objective after the start."""
        return float(np.min(self.objective[1:], initial=np.inf))


@dataclass
class StepSizeDisplay(Display):
    """How the objective falls, or does not, with different step sizes.

    Parameters
    ----------
    runs : dict of str to StepSizeRun
        By what the legend calls the step size.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    lines_ : dict of str to Line2D

    Examples
    --------
    >>> from linsep import LinearClassifier
    >>> from linsep.display import StepSizeDisplay
    >>> from linsep.solvers import GradientDescent
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> model = LinearClassifier("logistic", solver=GradientDescent(max_iter=50))
    >>> display = StepSizeDisplay.from_estimator(model, X, y)
    >>> list(display.verdicts.values())
    ['too small', 'right', 'too large']
    """

    runs: dict[str, StepSizeRun]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        schedules: Iterable[str | float | Schedule] | None = None,
        ax: Any = None,
        **drawing: Any,
    ) -> Self:
        """Fit copies of an estimator of linsep with different step sizes and draw how they went.

        Parameters
        ----------
        estimator : object
            One that steps: `SGDClassifier`, or `LinearClassifier` with a solver that has a schedule. It is not changed.
        X, y : array of shape (n, d), array of shape (n,)
            Examples of two classes.
        schedules : list of Schedule, str or float, optional
            By default a thousandth, one and a hundred times what suits the data (ten thousand, if they shrink).
        ax, **drawing
            Passed to `plot`.
        """
        pyplot()
        chosen = _around_the_right_one(estimator, X, y) if schedules is None else map(all_schedules.get, schedules)
        return cls({_words(schedule): _run(estimator, X, y, schedule) for schedule in chosen}).plot(ax, **drawing)

    @classmethod
    def from_descents(cls, descents: Mapping[str, Any], *, ax: Any = None, **drawing: Any) -> Self:
        """Draw runs of `linsep.solvers.minimize`, by what the legend says.

        Examples
        --------
        >>> from linsep.solvers import minimize
        >>> run = minimize(lambda x: x @ x, lambda x: 2 * x, [1.0], schedule=0.25)
        >>> StepSizeDisplay.from_descents({"η = 0.25": run}).verdicts
        {'η = 0.25': 'right'}
        """
        return cls({name: StepSizeRun.of(run.history, run.advice) for name, run in descents.items()}).plot(
            ax, **drawing
        )

    @property
    def verdicts(self) -> dict[str, str]:
        """``"too small"``, ``"right"`` or ``"too large"``: what the fit said, else what the runs say of each other.

        A run that said nothing, but ended more than a twentieth of the best one's way above it, is too large if it went
        up and down, else too small.
        """
        lowest = min(run.best for run in self.runs.values())
        return {name: _verdict(run, lowest) for name, run in self.runs.items()}

    def plot(self, ax: Any = None, *, log: bool | None = None, title: str | None = None) -> Self:
        """Draw them.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        log : bool, optional
            Whether the y-axis is logarithmic; by default where a run climbs far above where it began.
        title : str, optional
        """
        (ax,) = self._axes(ax)
        theme = theme_of(ax)
        self.lines_, verdicts = {}, self.verdicts
        for k, (name, run) in enumerate(self.runs.items()):
            look = dict(label=f"{name}: {verdicts[name]}", **line_look(theme, k))
            self.lines_[name] = ax.plot(run.steps, run.objective, **look)[0]
        values = np.concatenate([run.objective for run in self.runs.values()])
        low, start = float(values.min()), max(float(run.objective[0]) for run in self.runs.values())
        if log is None:
            log = low > 0 and float(values.max()) > 10 * start
        if log:
            ax.set_yscale("log")
        ax.set(xlabel="steps", ylabel="objective", title=title or "")
        legend(ax)
        return self


def _verdict(run: StepSizeRun, lowest: float) -> str:
    for words in ("too small", "too large"):
        if words in run.message:
            return words
    start = float(run.objective[0])
    if run.best - lowest <= 0.05 * (start - lowest):
        return "right"
    ups = np.diff(run.objective[1:]) > 0.05 * abs(start - lowest)
    return "too large" if ups.any() or run.best > start else "too small"


def _around_the_right_one(estimator: Any, X: Any, y: ArrayLike) -> list[Schedule]:
    """Return step sizes around the one that the estimator has, or would choose for these data."""
    given = _schedule_of(estimator)
    if given is None:
        etas = _fit(estimator, X, y)[0]["step_size"]
        first = float(etas[np.isfinite(etas)][0])
        given = Constant(first) if etas[-1] == first else InverseSqrt(first)
    given = all_schedules.get(given)
    first = float(given(0))
    factors = CONSTANT_FACTORS if isinstance(given, Constant) else SHRINKING_FACTORS
    return [given.with_first(float(f"{factor * first:.2g}")) for factor in factors]


def _schedule_of(estimator: Any) -> Any:
    if hasattr(estimator, "schedule"):
        return estimator.schedule
    solver = getattr(estimator, "solver", None)
    if is_dataclass(solver) and hasattr(solver, "schedule"):
        return solver.schedule
    raise TypeError(
        f"{type(estimator).__name__} has no step sizes to compare; use SGDClassifier, or "
        "LinearClassifier(solver=GradientDescent())"
    )


def _run(estimator: Any, X: Any, y: ArrayLike, schedule: Schedule) -> StepSizeRun:
    _schedule_of(estimator)  # raises where there is none
    copy = clone(estimator)
    if hasattr(copy, "schedule"):
        copy.set_params(schedule=schedule)
    else:
        copy.set_params(solver=replace(copy.solver, schedule=schedule))
    return StepSizeRun.of(*_fit(copy, X, y))


def _fit(estimator: Any, X: Any, y: ArrayLike) -> tuple[History, str]:
    """Return how the fit went, and what it said."""
    with complaints(ConvergenceWarning, StepSizeWarning) as said:
        fitted = clone(estimator).fit(X, y)
    if isinstance(fitted.history_, list):
        raise ValueError(f"y has {len(fitted.classes_)} classes; step sizes are compared for two: leave the others out")
    return fitted.history_, " ".join(said)


def _words(schedule: Schedule) -> str:
    """Return the formula with its numbers; a factor of one is not written."""
    if not schedule.formula:
        return str(schedule)
    return f"η = {schedule.formula.format(**vars(schedule))}".replace(" 1 k", " k").replace("(1 (k + 1))", "(k + 1)")
