"""The estimator for a loss by name, with C chosen by cross-validation where that is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.sources import DataError

__all__ = ["LOSSES", "choose_C", "estimator", "is_proven", "parse_C"]

#: Losses by name, in the order of the help.
LOSSES = ("logistic", "hinge", "squared_hinge", "square", "perceptron")
GRID = tuple(10.0**k for k in range(-3, 4))
FOLDS = 5


def parse_C(text: str) -> float | None:
    """Return C as a number, or None for ``auto``.

    Examples
    --------
    >>> parse_C("0.5"), parse_C("inf"), parse_C("auto")
    (0.5, inf, None)
    """
    if text == "auto":
        return None
    try:
        C = float(text)
    except ValueError:
        C = np.nan
    if not C > 0:
        raise DataError(f"--C {text} is not possible; give a positive number, inf for no penalty, or auto")
    return C


def estimator(
    loss: str, *, C: float = 1.0, l1_ratio: float = 0.0, tol: float = 1e-4, balanced: bool = False, seed: int = 0
) -> Any:
    """Return the estimator that minimises a loss.

    Parameters
    ----------
    loss : {"logistic", "hinge", "squared_hinge", "square", "perceptron"}
    C : float, default=1.0
    l1_ratio : float, default=0.0
        r in ``(1 − r)·½‖w‖² + r·‖w‖₁``.
    tol : float, default=1e-4
        The relative duality gap to reach.
    balanced : bool, default=False
        Whether both classes count the same, however many examples they have.
    seed : int, default=0

    Examples
    --------
    >>> type(estimator("hinge")).__name__
    'LinearSVC'
    """
    # Here, because these load scikit-learn, which can be done while a file is read.
    from ..estimators import LeastSquaresClassifier, LinearClassifier, LinearSVC, LogisticRegression, Perceptron

    if loss not in LOSSES:
        raise DataError(f"--loss {loss} is not known; use one of {', '.join(LOSSES)}")
    shared: dict[str, Any] = dict(class_weight="balanced" if balanced else None, random_state=seed)
    if loss == "perceptron":
        if C != 1.0 or l1_ratio:
            raise DataError("--C and --l1-ratio would be ignored: the perceptron has no penalty")
        return Perceptron(**shared)
    if loss == "logistic":
        return LogisticRegression(C=C, l1_ratio=l1_ratio, tol=tol, **shared)
    if loss != "square" and l1_ratio in (0.0, 1.0):
        return LinearSVC("l1" if l1_ratio else "l2", loss, C=C, tol=tol, **shared)
    if loss == "square" and not l1_ratio and np.isinf(C):
        return LeastSquaresClassifier(class_weight=shared["class_weight"])
    return LinearClassifier(loss, penalty="elasticnet", l1_ratio=l1_ratio, C=C, tol=tol, **shared)


def choose_C(model: Any, X: Any, y: Any, seed: int = 0) -> tuple[float, list[tuple[float, float]]]:
    """Return the C with the best cross-validated accuracy, the smallest of equals, and the accuracy of each."""
    from sklearn.model_selection import GridSearchCV, StratifiedKFold

    least = int(np.unique(y, return_counts=True)[1].min())
    if least < 2:
        raise DataError("--C auto needs at least two examples of each class to cross-validate; give C as a number")
    folds = StratifiedKFold(min(FOLDS, least), shuffle=True, random_state=seed)
    search = GridSearchCV(model, {"C": list(GRID)}, cv=folds, refit=False).fit(X, y)
    scores = [float(score) for score in search.cv_results_["mean_test_score"]]
    return GRID[int(np.argmax(scores))], list(zip(GRID, scores, strict=True))


def is_proven(model: Any) -> bool:
    """Whether the fit reached what was asked for: a certificate where there is one, else its own stopping rule."""
    certificate = getattr(model, "certificate_", None)
    return bool(model.converged_ if certificate is None else certificate.proven)
