"""The scikit-learn classes, each loaded when it is asked for: a fit of one has no use for the others."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._hard_margin import HardMarginSVC
    from ._linear import LeastSquaresClassifier, LinearClassifier
    from ._logistic import LogisticRegression
    from ._margin import support_left_out
    from ._perceptron import Perceptron
    from ._sgd import SGDClassifier
    from ._svc import LinearSVC
    from ._zero_one import ZeroOneClassifier

ROOMS = {
    "HardMarginSVC": "_hard_margin",
    "LeastSquaresClassifier": "_linear",
    "LinearClassifier": "_linear",
    "LinearSVC": "_svc",
    "LogisticRegression": "_logistic",
    "Perceptron": "_perceptron",
    "SGDClassifier": "_sgd",
    "ZeroOneClassifier": "_zero_one",
    "support_left_out": "_margin",
}

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


def __getattr__(name: str) -> Any:
    if name not in ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{ROOMS[name]}", __name__), name)
