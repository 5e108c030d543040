"""Samples of the examples: what a few thousand of them say is where a run on all of them best begins."""

from __future__ import annotations

import numpy as np

from .._common.types import FloatArray, IntArray
from ..objective.examples import Block, gather
from ..objective.objective import Objective

__all__ = ["both_classes", "draw", "gather", "knows", "on_sample", "sample", "sample_objective", "sample_size"]


def both_classes(y: FloatArray, weight: FloatArray | None) -> bool:
    """Whether there are examples of either class that count."""
    counted = y if weight is None else y[weight > 0]
    return bool((counted > 0).any() and (counted < 0).any())


def sample_size(problem: Objective) -> int:
    """Return how many examples say enough about the features; of many examples more, since some features are rare."""
    return max(4000, 5 * problem.rows.d, problem.rows.n // 16)


def sample(problem: Objective, size: int, rng: np.random.Generator) -> Objective | None:
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
    found = np.bincount(problem.codes[chosen], weights=weight, minlength=len(problem.examples.counts))
    return problem.chosen(chosen, weight) if _all_present(problem, found) else None


def sample_objective(problem: Objective, seed: int, least: int = 0, trust: float | None = None) -> Objective | None:
    """Return the objective on a sample of examples that are elsewhere; None where it says nothing of them.

    The sample counts as much as all examples, or, if told how far to trust it, so many times as much as its own: the
    penalty then keeps the weights of features small that it has hardly seen. `least`: how many to take where nobody
    has said how many it may have.
    """
    block = problem.examples.sample(seed, weighted=True)
    if block is None and least:
        block = gather(problem.examples, least, np.random.default_rng(seed), weighted=True)
    return None if block is None else on_sample(problem, block, trust)


def knows(problem: Objective, part: Objective, often: int) -> bool:
    """Whether a sample of a problem says as much of every feature as so many rows do, and of the rarest class as well.

    A row that was drawn with the chance p counts s = 1/p times, for s − 1 others that were not: Σ s x² is known but
    for a variance of Σ s (s − 1) x⁴. Of a feature whose rows were all drawn, everything is known.
    """
    found = np.bincount(part.codes, part.sample_weight, len(part.examples.counts))
    rarest = float(found.min() * len(found) / found.sum())
    s = part.s
    drawn = part.sample_weight is not None and not problem.examples.weighted  # else how often each counts is not known
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is not known
        return bool(part.rows.shows(s, s - 1.0 if drawn else s).min() * rarest >= often)


def on_sample(problem: Objective, block: Block, trust: float | None = None) -> Objective | None:
    """Return the objective on a sample that counts as `sample_objective` says; None where that lacks a class."""
    if not _all_present(problem, np.bincount(block.codes, minlength=len(problem.examples.counts))):
        return None
    share = len(block.codes) / problem.n
    counted = 1.0 if block.weight is not None else 1.0 / share
    return problem.on(block, problem.C * counted * (1.0 if trust is None else trust * share))


def _all_present(problem: Objective, weights: FloatArray | IntArray) -> bool:
    """Whether every class has some weight: of one plane, the positive one and the others together."""
    return bool(weights.all() if problem.head.planes else 0 < weights[problem.positive] < weights.sum())


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
