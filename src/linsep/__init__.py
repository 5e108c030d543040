"""linsep: linear classifiers that prove their answers.

>>> from linsep import Perceptron
>>> Perceptron(order="cyclic").fit([[0.0], [1.0]], ["no", "yes"]).predict([[0.9]])
array(['yes'], dtype='<U3')
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import convexity, geometry, losses, penalties, schedules, solvers, stopping
from .separability import NotSeparableError, Separability, separability

if TYPE_CHECKING:
    from .comparison import compare
    from .estimators import (
        HardMarginSVC,
        LeastSquaresClassifier,
        LinearClassifier,
        LinearSVC,
        LogisticRegression,
        Perceptron,
        SGDClassifier,
        ZeroOneClassifier,
    )
    from .model_file import load, save
    from .recession import Estimates, estimates
    from .verification import verify

__version__ = "0.1.0"

__all__ = [
    "Estimates",
    "HardMarginSVC",
    "LeastSquaresClassifier",
    "LinearClassifier",
    "LinearSVC",
    "LogisticRegression",
    "NotSeparableError",
    "Perceptron",
    "SGDClassifier",
    "Separability",
    "ZeroOneClassifier",
    "compare",
    "convexity",
    "estimates",
    "geometry",
    "load",
    "losses",
    "penalties",
    "save",
    "schedules",
    "separability",
    "solvers",
    "stopping",
    "verify",
]


#: Where what is imported late lives, if not among the estimators.
ROOMS = {
    "Estimates": "recession",
    "compare": "comparison",
    "estimates": "recession",
    "load": "model_file",
    "save": "model_file",
    "verify": "verification",
}


def __getattr__(name: str) -> Any:
    """Import the estimators, and scikit-learn with them, when one is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module 'linsep' has no attribute {name!r}")
    return getattr(import_module(f".{ROOMS.get(name, 'estimators')}", __name__), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
