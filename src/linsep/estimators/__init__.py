"""The scikit-learn classes."""

from ._linear import LeastSquaresClassifier, LinearClassifier
from ._stochastic import Perceptron, SGDClassifier
from ._zero_one import ZeroOneClassifier

__all__ = ["LeastSquaresClassifier", "LinearClassifier", "Perceptron", "SGDClassifier", "ZeroOneClassifier"]
