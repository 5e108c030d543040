"""The solver that makes the fewest mistakes, and its result; `search` is how."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..._common.checks import check_seconds
from ..._common.types import FloatArray
from ...certificates.mistakes.bound import MistakeBound
from ...objective.objective import Objective
from ..contract import check_needs
from ..result import Observer, Result, Start

Progress = Callable[[float, float, float], None]


@dataclass(frozen=True)
class ZeroOneResult(Result):
    """The outcome of a search for the fewest mistakes.

    Attributes
    ----------
    mistakes : float
        Σ sᵢ [zᵢ ≤ 0] of the plane: the exact sum, of exact signs, rounded once.
    lower : MistakeBound
        What no plane can go below, and why; its bound is that of `mistakes` if and only if the exact sums are equal.
    trace : array of shape (steps, 3)
        Seconds, mistakes of the best plane, lower bound: whenever one of the two moved.
    """

    mistakes: float = np.inf
    lower: MistakeBound = field(default_factory=lambda: MistakeBound(0.0, "none"))
    trace: FloatArray = field(default_factory=lambda: np.empty((0, 3)))


@dataclass(frozen=True)
class ZeroOne:
    """Minimise Σ sᵢ [zᵢ ≤ 0] exactly, or as far as time allows.

    Seeds come from least squares, logistic regression, the hinge loss and searches along random lines. In up to three
    dimensions (two features and an intercept) every relevant cell is looked at; in more, conflicts are collected
    until they prove the best plane optimal, or cells are looked at where there are few enough.

    Parameters
    ----------
    time_limit : float or None
        Seconds; None for no limit.
    progress : callable or None
        Called with the weight of mistakes of the best plane, the lower bound and the seconds gone.
    """

    time_limit: float | None = 60.0
    progress: Progress | None = None

    name = "zero_one"
    needs = frozenset({"counting", "one_plane", "rows"})

    def __post_init__(self) -> None:
        check_seconds("time_limit", self.time_limit)

    def solve(
        self, problem: Objective, *, start: Start | None = None, seed: int = 0, observer: Observer | None = None
    ) -> ZeroOneResult:
        """Search, from `start` if there is one; Ctrl-C and the time limit keep the best plane so far."""
        check_needs(self, problem)
        from .search import search  # and exact arithmetic, which no other solver needs

        return search(self, problem, start, seed, observer)
