"""linsep: linear classifiers that prove their answers.

>>> from linsep import Perceptron
>>> Perceptron(order="cyclic").fit([[0.0], [1.0]], ["no", "yes"]).predict([[0.9]])
array(['yes'], dtype='<U3')
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import convexity, display, exact, geometry, losses, penalties, play, schedules, solvers, stopping
    from .analysis.comparison import compare
    from .analysis.diagnosis import diagnose
    from .analysis.leave_one_out import leave_one_out
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
    from .persistence.model_file import load, save
    from .persistence.verification import verify
    from .selection.calibration import calibrate
    from .selection.cross_validation import LinearSVCCV, LogisticRegressionCV
    from .selection.features import stability_selection
    from .selection.path import regularization_path
    from .selection.thresholds import choose_threshold
    from .separation.recession import Estimates, estimates
    from .separation.verdict import NotSeparableError, Separability, separability

__version__ = "0.1.0"

__all__ = [
    "Estimates",
    "HardMarginSVC",
    "LeastSquaresClassifier",
    "LinearClassifier",
    "LinearSVC",
    "LinearSVCCV",
    "LogisticRegression",
    "LogisticRegressionCV",
    "NotSeparableError",
    "Perceptron",
    "SGDClassifier",
    "Separability",
    "ZeroOneClassifier",
    "calibrate",
    "choose_threshold",
    "compare",
    "convexity",
    "diagnose",
    "display",
    "estimates",
    "exact",
    "geometry",
    "leave_one_out",
    "load",
    "losses",
    "penalties",
    "play",
    "regularization_path",
    "save",
    "schedules",
    "separability",
    "solvers",
    "stability_selection",
    "stopping",
    "verify",
]


#: Where the names live that are no modules, if not among the estimators: nothing is imported before it is asked for.
ROOMS = {
    "analysis.comparison": ["compare"],
    "analysis.diagnosis": ["diagnose"],
    "analysis.leave_one_out": ["leave_one_out"],
    "persistence.model_file": ["load", "save"],
    "persistence.verification": ["verify"],
    "selection.calibration": ["calibrate"],
    "selection.cross_validation": ["LinearSVCCV", "LogisticRegressionCV"],
    "selection.features": ["stability_selection"],
    "selection.path": ["regularization_path"],
    "selection.thresholds": ["choose_threshold"],
    "separation.recession": ["Estimates", "estimates"],
    "separation.verdict": ["NotSeparableError", "Separability", "separability"],
}
MODULES = {
    "convexity",
    "display",
    "exact",
    "geometry",
    "losses",
    "penalties",
    "play",
    "schedules",
    "solvers",
    "stopping",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for, and no more: neither solvers nor scikit-learn for a module that needs none.

    Who asks for an estimator will fit it: the solvers come with it, so that the first fit has not to wait for them.
    """
    if name in MODULES:
        return import_module(f".{name}", __name__)
    if name not in __all__:
        raise AttributeError(f"module 'linsep' has no attribute {name!r}")
    room = next((room for room, names in ROOMS.items() if name in names), "estimators")
    if room == "estimators":
        import_module(".solvers", __name__)
    return getattr(import_module(f".{room}", __name__), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
