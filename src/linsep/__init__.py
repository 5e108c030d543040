"""linsep: linear classifiers that prove their answers.

>>> from linsep import Perceptron
>>> Perceptron(order="cyclic").fit([[0.0], [1.0]], ["no", "yes"]).predict([[0.9]])
array(['yes'], dtype='<U3')
"""

from . import convexity, geometry, losses, penalties, schedules, solvers, stopping
from .estimators import LeastSquaresClassifier, LinearClassifier, Perceptron, SGDClassifier

__version__ = "0.1.0"

__all__ = [
    "LeastSquaresClassifier",
    "LinearClassifier",
    "Perceptron",
    "SGDClassifier",
    "convexity",
    "geometry",
    "losses",
    "penalties",
    "schedules",
    "solvers",
    "stopping",
]
