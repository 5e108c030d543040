"""The scikit-learn classes."""

from ._linear import LeastSquaresClassifier, LinearClassifier
from ._stochastic import Perceptron, SGDClassifier

__all__ = ["LeastSquaresClassifier", "LinearClassifier", "Perceptron", "SGDClassifier"]
