"""What a reduction is: the same objective in a form that is easier to minimise, and the way back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from ..._common.types import FloatArray
from ..._core import Rows
from ...objective.objective import Objective
from ..result import Observer, Result, Start

#: Minimises an objective from a start, telling an observer.
Inner = Callable[[Any, Start | None, Observer | None], Result]


class Reduction(ABC):
    """The same objective in another form: how it looks there, what a plane there is here, and what a result.

    It is found once for all objectives that share their examples. `help` is the word by which a solver says that it
    gains, `needs` what the objective must have, as for a solver.
    """

    help: ClassVar[str]
    needs: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def apply(self, objective: Objective) -> Objective:
        """Return the objective in the other form."""

    def start(self, start: Start) -> Start:
        """Return where a run there begins."""
        return start

    def columns(self, rows: Rows) -> Rows:
        """Return other examples as they look there."""
        return rows

    def plane(self, theta: FloatArray) -> FloatArray:
        """Return here what is the plane θ, or the rows of θ, there."""
        return theta

    def observer(self, observer: Observer | None) -> Observer | None:
        """Return an observer there for one that is here."""
        return None if observer is None else _Translated(self, observer)

    def back(self, result: Result, objective: Objective, reduced: Objective) -> Result:
        """Return here what is the result there."""
        return result

    def solve(self, objective: Objective, inner: Inner, start: Start | None, observer: Observer | None) -> Result:
        """Minimise there, by `inner`, and come back."""
        reduced = self.apply(objective)
        start = None if start is None else self.start(start)
        return self.back(inner(reduced, start, self.observer(observer)), objective, reduced)


class _Translated:
    """An observer that hears of planes in another form."""

    def __init__(self, reduction: Reduction, observer: Observer) -> None:
        self._reduction, self._observer = reduction, observer
        self.needs_point = getattr(observer, "needs_point", True)
        self.stop_requested = getattr(observer, "stop_requested", lambda: False)

    def __call__(self, iteration: int, theta: FloatArray, objective: float) -> bool:
        return self._observer(iteration, self._reduction.plane(theta) if theta.size else theta, objective)


def noted(result: Result, note: str) -> Result:
    """Return the result, with a note added to why it was found as it was."""
    result.history.reason = "; ".join(filter(None, [result.history.reason, note]))
    return result
