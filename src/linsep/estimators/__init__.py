"""The scikit-learn classes."""

from ._hard_margin import HardMarginSVC
from ._linear import LeastSquaresClassifier, LinearClassifier
from ._stochastic import Perceptron, SGDClassifier

__all__ = ["HardMarginSVC", "LeastSquaresClassifier", "LinearClassifier", "Perceptron", "SGDClassifier"]
