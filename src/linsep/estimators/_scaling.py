"""What keeps steps on one example at a time from getting anywhere, found by looking and by trying: scales, lengths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._common.types import FloatArray
from .._core import Rows
from ..schedules import InverseSqrt

if TYPE_CHECKING:
    from ..objective.objective import Objective
    from ..solvers import Result

#: A column is far from zero where its mean is this many times its spread, and wide where its spread is; what steps on
#: the intercept see is a column of ones.
FAR, WIDE = 3.0, 10.0
#: Numbers at the most that are looked at, and passes over them on scaled columns.
LOOKED_AT, PASSES = 200_000, 20
#: A fit is no optimum where others come down to less than this share of its objective; so near they come themselves.
BETTER, NEAR = 0.9, 0.01
#: Fewer rows than this tell nothing of a column's spread.
FEW = 10
#: What to do.
REMEDY = "centre and scale the columns first, e.g. with sklearn.preprocessing.StandardScaler"


@dataclass(frozen=True, eq=False)
class Scale:
    """Where the columns lie and how far they spread.

    Examples
    --------
    >>> scale = Scale.of(Rows(np.array([[0.0, 100.0], [1.0, 101.0], [-1.0, 102.0]])))
    >>> scale.worst(lambda: ["a", "b"])
    "column 'b' lies around 101 and varies by 0.816"
    """

    middle: FloatArray
    spread: FloatArray

    @classmethod
    def of(cls, rows: Rows) -> Self:
        """Return mean and standard deviation of each column."""
        X: Any = rows.X[:: max(1, rows.stored // LOOKED_AT)]
        with np.errstate(over="ignore", invalid="ignore"):  # then it is not told to be anywhere
            if not rows.is_sparse:
                return cls(X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64))
            middle = np.asarray(X.mean(axis=0)).ravel()
            squares = np.asarray(X.multiply(X).mean(axis=0)).ravel()
            return cls(middle, np.sqrt(np.maximum(squares - middle**2, 0.0)))

    @property
    def _far(self) -> Any:
        return np.abs(self.middle) > FAR * np.maximum(self.spread, 1.0)

    def worst(self, names: Callable[[], list[str]]) -> str:
        """Say which column is in the way, by where it lies or by how far it spreads; empty where none is."""
        lengths = np.hypot(self.middle, self.spread)
        wrong = np.isfinite(lengths) & (self._far | (self.spread > WIDE))
        if not wrong.any():
            return ""
        j = int(np.argmax(np.where(wrong, lengths, 0.0)))
        around = f" lies around {self.middle[j]:.3g} and" if self._far[j] else ""
        return f"column {names()[j]!r}{around} varies by {self.spread[j]:.3g}"

    def is_in_the_way(self, objective: Objective, result: Result, fewer_errors: float, missed: float) -> bool:
        """Whether a plane lies far from the optimum: that is much lower, and has so much fewer errors.

        Any fewer will do where the plane missed more than such a share of the way down from w = 0. Some rows tell.
        """
        some = _some(objective)
        w, b = self._lower(some)
        now, then, zero = (some.objective(*plane) for plane in ((result.w, result.b), (w, b), (0 * w, 0.0)))
        if not then < BETTER * now:
            return False
        fewer = some.error(result.w, result.b) - some.error(w, b)
        return fewer >= fewer_errors or (fewer > 0 and zero > then and bool(now - then > missed * (zero - then)))

    def _lower(self, some: Objective) -> tuple[FloatArray, float]:
        """Return a plane near the optimum; one of a few passes on scaled columns, where no other solver comes near it.

        Columns that vary by less than one are left at that: to follow them takes long weights, which cost a penalty.
        """
        from ..solvers import Automatic, StochasticDescent, automatic, minimise

        if automatic(some)[0] != StochasticDescent.name:
            found = minimise(some, Automatic(tol=NEAR, max_iter=PASSES), polish=False).as_part()
            return found.w, found.b
        X: Any = some.rows.X
        spread = np.maximum(self.spread, 1.0)
        middle = np.zeros(some.d) if some.rows.is_sparse or not some.fit_intercept else self.middle
        scaled = X.multiply(1 / spread).tocsr() if some.rows.is_sparse else (X - middle) / spread
        tried = StochasticDescent(max_iter=PASSES).solve(some.with_rows(Rows(scaled))).as_part()
        w = tried.w / spread
        return w, tried.b - float(middle @ w)


def _some(objective: Objective) -> Objective:
    """Return the same objective of as many rows as are looked at."""
    step = max(1, objective.rows.stored // LOOKED_AT)
    which = np.arange(0, objective.rows.n, step)
    weight = objective.examples.weight  # type: ignore[union-attr]
    return replace(objective.chosen(which, None if weight is None else weight[which]), C=objective.C * step)


def in_the_way(objective: Objective, names: Callable[[], list[str]]) -> str:
    """Say which column is, by its scale; empty where none is, or nobody can tell."""
    rows = objective.examples.resident
    # No mean and no spread is larger than the largest number, and none of these than the longest row.
    if rows is None or rows.n < FEW or rows.squared_norms().max() <= min(FAR, WIDE) ** 2:
        return ""
    return Scale.of(rows).worst(names)


def advice(
    objectives: list[Objective],
    results: list[Result],
    names: Callable[[], list[str]],
    fewer_errors: float,
    missed: float = np.inf,
) -> tuple[int, str]:
    """Return which plane is seen to lie far from its optimum, and words to say so; empty where none does.

    Of several classes the one is tried that is furthest up.
    """
    column = in_the_way(objectives[0], names)
    if not column:
        return 0, ""
    values = [one.objective(result.w, result.b) for one, result in zip(objectives, results, strict=True)]
    k = int(np.argmax(values))
    if not Scale.of(objectives[k].rows).is_in_the_way(objectives[k], results[k], fewer_errors, missed):
        return k, ""
    return (
        k,
        f"it stopped far from the optimum, which steps on one example at a time do not reach while {column}; {REMEDY}",
    )


def instead_of_steps(objective: Objective, result: Result, names: Callable[[], list[str]]) -> str:
    """Return what to say of a run that ended badly with steps nobody chose: which column is in the way of any steps."""
    column = in_the_way(objective, names)
    if not column or result.converged:
        return result.advice
    if result.advice:
        return f"steps on one example at a time get nowhere while {column}; {REMEDY}"
    return f"{result.message}; raise max_iter, or {REMEDY}: {column}"


def too_long(objectives: list[Objective], results: list[Result]) -> tuple[int, str]:
    """Return which plane ended higher than no plane at all, and shorter steps that were seen to get down from there."""
    from ..solvers import StochasticDescent

    for k, (objective, result) in enumerate(zip(objectives, results, strict=True)):
        if objective.examples.resident is None or not len(result.history):
            continue
        first = result.history.records[0]
        if first.step or not result.history["best"][-1] > first.objective > 0:
            continue
        some = _some(objective)
        zero = some.objective(np.zeros(some.d), 0.0)
        for eta in 10.0 ** np.arange(-1, -5, -1) / some.mean_square_length:
            shorter = InverseSqrt(float(f"{eta:.1g}"))
            tried = StochasticDescent(shorter, max_iter=PASSES).solve(some).as_part()
            if some.objective(tried.w, tried.b) < BETTER * zero:
                return k, f"it ended higher than no plane at all, its steps being too long for this loss. Try {shorter}"
    return 0, ""
