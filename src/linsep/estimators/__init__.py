"""The scikit-learn classes."""

from ._hard_margin import HardMarginSVC
from ._linear import LeastSquaresClassifier, LinearClassifier
from ._logistic import LogisticRegression
from ._margin import support_left_out
from ._perceptron import Perceptron
from ._sgd import SGDClassifier
from ._svc import LinearSVC
from ._zero_one import ZeroOneClassifier

__all__ = [
    "HardMarginSVC",
    "LeastSquaresClassifier",
    "LinearClassifier",
    "LinearSVC",
    "LogisticRegression",
    "Perceptron",
    "SGDClassifier",
    "ZeroOneClassifier",
    "support_left_out",
]
