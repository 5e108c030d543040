"""linsep: linear classifiers that prove their answers.

>>> from linsep import Perceptron
>>> Perceptron(order="cyclic").fit([[0.0], [1.0]], ["no", "yes"]).predict([[0.9]])
array(['yes'], dtype='<U3')
"""

from typing import TYPE_CHECKING, Any

from . import convexity, geometry, losses, penalties, schedules, solvers, stopping
from .separability import NotSeparableError, Separability, separability

if TYPE_CHECKING:
    from .estimators import HardMarginSVC, LeastSquaresClassifier, LinearClassifier, Perceptron, SGDClassifier

__version__ = "0.1.0"

__all__ = [
    "HardMarginSVC",
    "LeastSquaresClassifier",
    "LinearClassifier",
    "NotSeparableError",
    "Perceptron",
    "SGDClassifier",
    "Separability",
    "convexity",
    "geometry",
    "losses",
    "penalties",
    "schedules",
    "separability",
    "solvers",
    "stopping",
]


def __getattr__(name: str) -> Any:
    """Import the estimators, and scikit-learn with them, when one is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module 'linsep' has no attribute {name!r}")
    from . import estimators

    return getattr(estimators, name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
