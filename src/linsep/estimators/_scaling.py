"""Columns whose scale keeps steps on one example at a time from getting anywhere: found by looking, and by trying."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._core import Rows
from .._types import FloatArray

if TYPE_CHECKING:
    from ..objective.objective import Objective
    from ..solvers import Result

#: A column is far from zero where its mean is this many times its spread, and wide where its spread is; what steps on
#: the intercept see is a column of ones.
FAR, WIDE = 3.0, 10.0
#: Numbers at the most that are looked at, and passes over them on scaled columns.
LOOKED_AT, PASSES = 200_000, 20
#: A fit is no optimum where scaled columns come down to less than this share of its objective.
BETTER = 0.9
#: Fewer rows than this tell nothing of a column's spread.
FEW = 10


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

    def is_better(self, objective: Objective, result: Result, fewer_errors: float) -> bool:
        """Whether a few passes on scaled columns come much further down than a plane, on the objective as it is.

        Columns that vary by less than one are left at that: to follow them takes long weights, which cost a penalty.
        """
        from ..solvers import StochasticDescent

        step = max(1, objective.rows.stored // LOOKED_AT)
        which = np.arange(0, objective.rows.n, step)
        weight = objective.examples.weight  # type: ignore[union-attr]
        some = replace(objective.chosen(which, None if weight is None else weight[which]), C=objective.C * step)
        X: Any = some.rows.X
        spread = np.maximum(self.spread, 1.0)
        middle = np.zeros(some.d) if some.rows.is_sparse or not some.fit_intercept else self.middle
        scaled = X.multiply(1 / spread).tocsr() if some.rows.is_sparse else (X - middle) / spread
        tried = StochasticDescent(max_iter=PASSES).solve(some.with_rows(Rows(scaled)))
        w = tried.w / spread
        b = tried.b - float(middle @ w)
        lower = some.objective(w, b) < BETTER * some.objective(result.w, result.b)
        return lower and some.error(w, b) <= some.error(result.w, result.b) - fewer_errors


def in_the_way(objective: Objective, names: Callable[[], list[str]]) -> str:
    """Say which column is, by its scale; empty where none is, or nobody can tell."""
    rows = objective.examples.resident
    return "" if rows is None or rows.n < FEW else Scale.of(rows).worst(names)


def advice(
    objectives: list[Objective], results: list[Result], names: Callable[[], list[str]], fewer_errors: float
) -> tuple[int, str]:
    """Return which plane scaled columns were seen to improve by much, and words to say so; empty where they did not.

    Of several classes the one is tried that is furthest up.
    """
    column = in_the_way(objectives[0], names)
    if not column:
        return 0, ""
    values = [one.objective(result.w, result.b) for one, result in zip(objectives, results, strict=True)]
    k = int(np.argmax(values))
    if not Scale.of(objectives[k].rows).is_better(objectives[k], results[k], fewer_errors):
        return k, ""
    return k, (
        f"it stopped far from the optimum, which steps on one example at a time do not reach while {column}; "
        "centre and scale the columns first, e.g. with sklearn.preprocessing.StandardScaler"
    )
