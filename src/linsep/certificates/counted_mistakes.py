"""Scores that count mistakes on held-out rows: what a mistake on each row costs, and how that is said."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.types import FloatArray

BALANCED = "balanced_accuracy"
#: Of two classes, a false alarm (the second said of the first) and a miss may cost what one says: ``"costs=1:5"``.
COSTS = "costs="


def costs_of_two(score: Any) -> tuple[float, float] | None:
    """Return what a false alarm and a miss cost by a score such as ``"costs=1:5"``; None for a score of another kind.

    Examples
    --------
    >>> costs_of_two("costs=1:5"), costs_of_two("f1")
    ((1.0, 5.0), None)
    """
    if not isinstance(score, str) or not score.startswith(COSTS):
        return None
    try:
        false_alarm, miss = (float(part) for part in score.removeprefix(COSTS).split(":"))
    except ValueError:
        false_alarm, miss = -1.0, -1.0
    if not (min(false_alarm, miss) >= 0 and 0 < max(false_alarm, miss) < math.inf):
        raise ValueError(f"{score}: costs are two numbers from 0, of a false alarm and of a miss, as in costs=1:5")
    return false_alarm, miss


def counts_mistakes(score: Any) -> bool:
    """Whether a score is that of mistakes on rows, so that how few there can be is bounded for every C."""
    return score in ("accuracy", BALANCED) or costs_of_two(score) is not None


def costs(codes: NDArray[Any], weight: FloatArray | None, score: str | None = "accuracy") -> FloatArray:
    """Return what a mistake on each held-out row costs: the same, or the same of both classes together, or as said.

    Examples
    --------
    >>> costs(np.array([0, 0, 0, 1]), None, "balanced_accuracy").round(3), costs(np.array([0, 1]), None, "costs=1:5")
    (array([0.667, 0.667, 0.667, 2.   ]), array([1., 5.]))
    """
    cost = np.ones(len(codes)) if weight is None else weight.copy()
    if score == BALANCED:
        cost *= 0.5 * cost.sum() / np.bincount(codes, weights=cost, minlength=2)[codes]
    own = costs_of_two(score)
    return cost if own is None else cost * np.array(own)[codes]


def in_words(score: str) -> str:
    """Return how mistakes are counted, where not each as one: to be set behind their number."""
    if score == BALANCED:
        return ", those of both classes counting the same together,"
    own = costs_of_two(score)
    return "" if own is None else ", a false alarm counting as {:g} and a miss as {:g},".format(*own)
