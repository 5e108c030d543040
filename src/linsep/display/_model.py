"""Reading any fitted linear classifier: its planes, its classes, the names of its features, and how examples agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from .. import losses
from .._common.labels import positions
from .._common.types import FloatArray, IntArray
from .._core import is_sparse, sound
from ..losses import Loss

#: Losses of classes that have no parameter of this name.
KNOWN = {
    "Perceptron": "perceptron",
    "LeastSquaresClassifier": "square",
    "HardMarginSVC": "hinge",
    "LogisticRegression": "logistic",
    "ZeroOneClassifier": "zero_one",
}
#: The height and width of an image; None for a square.
Shape = tuple[int, int] | None


@dataclass(frozen=True)
class LinearModel:
    """The planes g_k(x) = w_k·x + b_k of a fitted classifier; of two classes one, positive for ``classes[1]``."""

    estimator: Any  # the linear one, the last step of a pipeline
    before: Any  # the pipeline's other steps, through which examples go first; or None
    coef: FloatArray  # of shape (planes, d)
    intercept: FloatArray
    classes: NDArray[Any]
    names: list[str]  # of the features

    @property
    def binary(self) -> bool:
        """Whether there is one plane between two classes."""
        return len(self.coef) == 1

    def prepare(self, X: Any) -> Any:
        """Return the examples as the planes see them; raise unless they have as many features."""
        if self.before is not None:
            X = self.before.transform(X)
        X = check_points(X)
        if X.shape[1] != self.coef.shape[1]:
            raise ValueError(
                f"X has {X.shape[1]} columns, {type(self.estimator).__name__} was fitted on {self.coef.shape[1]}; "
                "pass data with the same columns"
            )
        return X

    def scores(self, X: Any) -> FloatArray:
        """Return g_k(x), one column a plane, of examples that were prepared."""
        return np.asarray(X @ self.coef.T, dtype=np.float64) + self.intercept

    @property
    def cut(self) -> float:
        """The score from which on the second of two classes is predicted, where it is another than 0."""
        return float(getattr(self.estimator, "threshold_", 0.0)) if self.binary else 0.0

    def decisions(self, X: Any) -> FloatArray:
        """Return the scores relative to the cut: above 0 where the second of two classes is predicted."""
        scores = self.scores(X)
        if not hasattr(self.estimator, "threshold_") or not self.binary:
            return scores
        # A score at the threshold is on the positive side, and one at 0 is not.
        return np.where(scores >= self.cut, np.maximum(scores - self.cut, np.finfo(np.float64).tiny), scores - self.cut)

    def plane(self, target: Any) -> int:
        """Return which plane speaks for a class; None is only possible where there is one plane."""
        labels = self.classes.tolist()
        if self.binary and target in (None, labels[1]):
            return 0
        if self.binary:
            raise ValueError(f"target={target!r}: between two classes there is one plane, that of {labels[1]!r}")
        if target not in labels:
            raise ValueError(f"target={target!r} is not one of the classes {labels}; name the one to look at")
        return int(labels.index(target))

    def sides(self, k: int) -> str:
        """Return for whom positive and negative weights of plane k speak."""
        towards, away = (self.classes[1], self.classes[0]) if self.binary else (self.classes[k], "the rest")
        return f"{towards} (+) or {away} (−)"

    @property
    def loss(self) -> Loss | None:
        """The loss that the estimator says it has, or that its name says, where it is one of linsep."""
        own = getattr(self.estimator, "loss", KNOWN.get(type(self.estimator).__name__))
        return losses.get(own) if isinstance(own, Loss) or (isinstance(own, str) and own in losses.LOSSES) else None


def read(estimator: Any, feature_names: ArrayLike | None = None) -> LinearModel:
    """Return the planes of a fitted linear classifier, of linsep or scikit-learn, also in a pipeline or a search."""
    estimator = getattr(estimator, "best_estimator_", estimator)
    check_is_fitted(estimator)
    before = None
    if isinstance(estimator, Pipeline):
        before = estimator[:-1] if len(estimator) > 1 else None
        estimator = estimator[-1]
    name = type(estimator).__name__
    if not hasattr(estimator, "coef_"):
        raise TypeError(
            f"{name} has no coef_: the displays of linsep show linear classifiers, such as LogisticRegression"
        )
    if not hasattr(estimator, "classes_"):
        raise TypeError(f"{name} has no classes_: the displays of linsep show classifiers, and this is none")
    coef, classes = estimator.coef_, np.asarray(estimator.classes_)
    coef = np.atleast_2d(np.asarray(coef.toarray() if is_sparse(coef) else coef, dtype=np.float64))
    planes = 1 if len(classes) == 2 else len(classes)
    pairwise = planes > 1 and hasattr(estimator, "decision_function_shape")  # of three classes there are three pairs
    if len(coef) != planes or pairwise:
        raise ValueError(
            f"{name} has {len(coef)} planes for {len(classes)} classes, one for each pair of them; "
            "use a model with one plane a class, such as linsep.LinearSVC"
        )
    intercept = np.broadcast_to(np.ravel(np.asarray(getattr(estimator, "intercept_", 0.0), dtype=np.float64)), planes)
    return LinearModel(estimator, before, coef, intercept, classes, _names(estimator, before, coef, feature_names))


def _names(estimator: Any, before: Any, coef: FloatArray, given: ArrayLike | None) -> list[str]:
    """Return the names of the features: those given, those seen in the fit, or x0 and so on."""
    d = coef.shape[1]
    if given is not None:
        names = [str(name) for name in np.ravel(np.asarray(given, dtype=object))]
        if len(names) != d:
            raise ValueError(f"feature_names has {len(names)} names, the model has {d} features; give one for each")
        return names
    seen = getattr(estimator, "feature_names_in_", None)
    if seen is None and before is not None and hasattr(before, "get_feature_names_out"):
        seen = before.get_feature_names_out()
    return [f"x{j}" for j in range(d)] if seen is None else [str(name) for name in seen]


def check_points(X: Any, name: str = "X") -> Any:
    """Return examples as an array or a CSR matrix; raise where one has a value that has no place in a picture."""
    X = check_array(
        sound(X), accept_sparse="csr", dtype=[np.float64, np.float32], input_name=name, ensure_all_finite=False
    )
    values = X.data if is_sparse(X) else X
    if not np.isfinite(values).all():
        entries = sparse.coo_array(X)
        row, column = (places[~np.isfinite(entries.data)][0] for places in (entries.row, entries.col))
        raise ValueError(
            f"{name} has a NaN or an infinite value in row {row}, column {column}; leave such rows out or fill them in"
        )
    return X


def codes_of(classes: NDArray[Any], y: ArrayLike, n: int, name: str = "y") -> IntArray:
    """Return the position of each label among the classes; raise for one that is not there."""
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise ValueError(f"{name} has shape {labels.shape}; it needs one label for each of the {n} rows")
    codes = positions(labels, classes.tolist())
    if (codes < 0).any():
        row = int(np.argmax(codes < 0))
        raise ValueError(
            f"{name}[{row}] is {labels[row : row + 1].tolist()[0]!r}, which is not one of the classes "
            f"{classes.tolist()}; leave such rows out"
        )
    return codes


def scored(y: ArrayLike, scores: ArrayLike) -> tuple[NDArray[Any], FloatArray]:
    """Return the classes of y, and a table of scores with one column for two of them, one a class for more."""
    classes, table = np.unique(np.asarray(y)), np.asarray(scores, dtype=np.float64)
    table = table[:, None] if table.ndim == 1 else table
    wanted = 1 if len(classes) == 2 else len(classes)
    if len(classes) < 2 or table.shape[1] != wanted:
        raise ValueError(
            f"y has {len(classes)} classes and scores {table.shape[1]} columns; give one column for two classes, "
            "one a class for more"
        )
    return classes, table


def check_shape(shape: Shape, d: int) -> tuple[int, int]:
    """Return the height and width of an image of d pixels: those given, or a square's."""
    if shape is None:
        side = round(d**0.5)
        if side * side != d:
            raise ValueError(
                f"{d} features make no square image; pass shape=(height, width), with height × width = {d}"
            )
        return side, side
    if len(shape) != 2 or min(shape) < 1 or shape[0] * shape[1] != d:
        raise ValueError(
            f"shape={shape} has not as many pixels as the model has features, {d}; pass shape=(height, width)"
        )
    return int(shape[0]), int(shape[1])
