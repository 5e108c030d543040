"""The scikit-learn classes."""

from ._linear import LeastSquaresClassifier, LinearClassifier
from ._logistic import LogisticRegression
from ._stochastic import Perceptron, SGDClassifier
from ._svc import LinearSVC

__all__ = [
    "LeastSquaresClassifier",
    "LinearClassifier",
    "LinearSVC",
    "LogisticRegression",
    "Perceptron",
    "SGDClassifier",
]
