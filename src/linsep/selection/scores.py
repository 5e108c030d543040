"""Scores that C is chosen by: those of scikit-learn, and the costs of the two mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import get_scorer, make_scorer

from ..certificates.counted_mistakes import costs_of_two


def scorer_named(score: Any, second: Any = 1) -> Any:
    """Return a scorer by its name, ``"costs=1:5"`` among them; None is the accuracy, and a scorer is itself.

    Parameters
    ----------
    score : str, scorer or None
    second : object, default=1
        The second of two classes: saying it of the first is a false alarm.

    Examples
    --------
    >>> scorer_named("costs=1:5")
    make_scorer(mean_cost, greater_is_better=False, response_method='predict', false_alarm=1.0, miss=5.0, second=1)
    """
    own = costs_of_two(score)
    if own is None:
        return get_scorer("accuracy" if score is None else score)
    return make_scorer(mean_cost, greater_is_better=False, false_alarm=own[0], miss=own[1], second=second)


def mean_cost(
    y_true: ArrayLike, y_pred: ArrayLike, *, false_alarm: float, miss: float, second: Any, sample_weight: Any = None
) -> float:
    """Return what the mistakes of predictions cost per row.

    Examples
    --------
    >>> mean_cost([0, 0, 1, 1], [0, 1, 1, 0], false_alarm=1.0, miss=5.0, second=1)
    1.5
    """
    own, said = np.asarray(y_true) == second, np.asarray(y_pred) == second
    cost = np.where(own == said, 0.0, np.where(own, miss, false_alarm))
    return float(np.average(cost, weights=sample_weight))
