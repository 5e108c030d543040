"""A classifier whose predictions are known, for scorers that ask one."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from .._common.types import IntArray


class Answers(ClassifierMixin, BaseEstimator):
    """Predicts for row i, which says its number, the i-th of some labels."""

    def __init__(self, labels: IntArray) -> None:
        self.labels = labels
        self.classes_ = np.unique(labels)

    def predict(self, X: Any) -> IntArray:
        """Return the labels of rows by their numbers."""
        return np.asarray(self.labels[np.asarray(X)[:, 0]])
