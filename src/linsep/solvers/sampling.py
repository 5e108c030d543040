"""Samples of the examples: what a few thousand of them say is where a run on all of them best begins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..objective.examples import gather
from ..objective.objective import Objective as Problem

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

__all__ = ["both_classes", "draw", "gather", "sample", "sample_size"]


def both_classes(y: FloatArray, weight: FloatArray | None) -> bool:
    """Whether there are examples of either class that count."""
    counted = y if weight is None else y[weight > 0]
    return bool((counted > 0).any() and (counted < 0).any())


def sample_size(problem: Problem) -> int:
    """Return how many examples say enough about the features; of many examples more, since some features are rare."""
    return max(4000, 5 * problem.rows.d, problem.rows.n // 16)


def sample(problem: Problem, size: int, rng: np.random.Generator) -> Problem | None:
    """Return the same problem on at most about `size` examples; None if they lack a class.

    An example is taken with the chance p = min(1, size · v / Σ v), v = ‖x‖² + mean ‖x‖², and then counts 1/p times.
    Long ones are those in which rare features show, once these are standardised: a few of many would say of such a
    feature that it decides all, and steps from there would have to find the way back.
    """
    lengths = problem.rows.squared_norms()
    importance = lengths + (lengths.mean() or 1.0)
    p = np.minimum(1.0, importance * (size / importance.sum()))
    chosen = np.flatnonzero(rng.random(problem.rows.n) < p)
    weight = 1.0 / p[chosen]
    if problem.sample_weight is not None:
        weight *= problem.sample_weight[chosen]
    if not both_classes(problem.y[chosen], weight):
        return None
    return problem.chosen(chosen, weight)


def draw(importance: FloatArray, size: int, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
    """Draw at most about `size` examples, the important ones rather; return them, and the chance that each one had.

    The chance is p = min(1, size · v / Σ v). One random number places all draws evenly (systematic sampling).

    Examples
    --------
    >>> chosen, p = draw(np.array([0.0, 100.0, 1.0, 1.0]), 2, np.random.default_rng(0))
    >>> int(chosen[0]), float(p[0])
    (1, 1.0)
    """
    p = np.minimum(1.0, importance * (size / importance.sum()))
    ticks = np.floor(np.cumsum(p) + rng.random())
    chosen = np.flatnonzero(np.diff(ticks, prepend=0.0))
    return chosen, p[chosen]
