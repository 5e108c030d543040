"""In which order a stochastic method visits the examples.

Random order means: draw an example with probability proportional to its weight. The draws are made from the examples in
an order of their own, not the one they happen to come in, so a fit depends on the data as a weighted set: shuffling the
rows changes nothing, and a row of weight two is the same as two rows. Problems that share their examples, one for each
class, share the draws as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ..._common.types import FloatArray, IntArray
from ...objective.objective import Objective


def canonical(problems: Sequence[Objective]) -> tuple[IntArray, IntArray]:
    """Return the examples with weight in an order that depends on their contents alone, and where new ones begin.

    They are sorted by their product with a fixed random vector, which differs almost surely unless the rows are equal,
    and by their labels. The problems differ in their labels only: no example is positive in two of them.
    """
    rows, weight = problems[0].rows, problems[0].sample_weight
    key = rows.matvec(np.random.default_rng(20231003).standard_normal(rows.d))
    label = np.zeros(rows.n)
    for k, problem in enumerate(problems, start=1):
        label[problem.y > 0] = k
    order = np.argsort(key)
    if not (np.diff(key[order]) > 0).all():  # equal rows
        order = np.lexsort((label, key))
    if weight is not None:
        order = order[weight[order] > 0]
    new = np.diff(key[order], prepend=np.inf) != 0
    new |= np.diff(label[order], prepend=-1.0) != 0
    return order, np.flatnonzero(new)


def random(problems: Sequence[Objective], seed: int) -> Iterator[IntArray]:
    """Yield passes of random draws, each as many as there are different examples."""
    rng, weight = np.random.default_rng(seed), problems[0].sample_weight
    order, begins = canonical(problems)
    distinct = len(begins)
    if weight is None:
        while True:
            yield order[(rng.random(distinct) * len(order)).astype(np.int64)]
    mass = np.cumsum(weight[order])
    while True:
        drawn = np.searchsorted(mass, rng.random(distinct) * mass[-1], side="right")
        yield order[np.minimum(drawn, len(order) - 1)]  # a product that rounds up to the whole mass is beyond the last


def shuffled(problems: Sequence[Objective], seed: int) -> Iterator[IntArray]:
    """Yield passes through the examples with weight, each time in another random order."""
    rng = np.random.default_rng(seed)
    order = canonical(problems)[0]
    while True:
        yield rng.permutation(order)


def permuted(problems: Sequence[Objective], seed: int) -> Iterator[IntArray]:
    """Yield the same without a look at the contents, as scikit-learn does: shuffled by the places of the rows alone."""
    rng, everything = np.random.default_rng(seed), next(cyclic(problems[0]))
    while True:
        yield rng.permutation(everything)


def cyclic(problem: Objective) -> Iterator[IntArray]:
    """Yield passes through the examples with weight as they come."""
    everything = np.arange(problem.rows.n, dtype=np.int64)
    visited = everything if problem.sample_weight is None else everything[problem.sample_weight > 0]
    while True:
        yield visited


def worst(problem: Objective) -> tuple[Callable[[FloatArray], IntArray], FloatArray]:
    """Return how to pick the example with the lowest weighted agreement, and the weight, the factor of each one's step.

    Equal examples count as one with their weight together, and of several lowest the first in canonical order is taken.
    """
    order, begins = canonical([problem])
    weight = np.ones(len(order)) if problem.sample_weight is None else problem.sample_weight[order]
    merged = np.add.reduceat(weight, begins)
    factor = np.zeros(problem.rows.n)
    first = order[begins]
    factor[first] = merged * (len(merged) / merged.sum())
    return lambda z: first[[int(np.argmin(factor[first] * z[first]))]], factor
