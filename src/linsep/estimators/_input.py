"""From X, y and weights as users give them to rows, classes and weights as the kernels read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import assert_all_finite, check_array
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import validate_data

from .._common.labels import coded
from .._common.types import FloatArray, IntArray
from .._common.words import shown
from .._core import Rows, is_sparse, sound
from ..arithmetic.exact_input import refuse_inexact
from ..objective.examples import Examples
from ..objective.statement import balanced
from ._specification import Specification

# At the first array that it checks scikit-learn looks for all packages with tables that are installed: milliseconds
# that belong to loading, not to the first fit.
check_array(np.zeros((1, 1)))


def _squares_surely_fit(rows: Rows) -> bool:
    """Whether one look at the numbers alone tells that ‖x‖² of every row is a float, however often its columns repeat.

    m entries for one column add up to no more than √m times their length.
    """
    largest = float(rows.squared_sizes().max(initial=0.0))  # which is no number where one of them is none
    return bool(largest * max(1, rows.stored) < np.finfo(np.float64).max)


def _is_plain(X: Any, y: Any) -> bool:
    """Whether scikit-learn's checks of X and y would change nothing and, but for the numbers in X, find nothing."""
    own = type(X) is np.ndarray and X.ndim == 2 and X.flags.c_contiguous
    known = own or (is_sparse(X) and X.format == "csr" and X.indices.dtype == X.indptr.dtype == np.int32)
    if not known or X.dtype not in (np.float64, np.float32) or not all(X.shape):
        return False
    if type(y) is not np.ndarray or y.shape != X.shape[:1]:
        return False
    return y.dtype.kind in "biuU" or (y.dtype.kind == "f" and bool(np.isfinite(y).all()))


class Input(Specification):
    """The validation of what a fit is given."""

    #: Whether weights are added up as whole numbers, so that none is too small.
    _weighs_exactly = False

    def _check_X(self, X: Any, y: Any = "no_validation", *, reset: bool, order: str | None = "C") -> Any:
        """Return X (and y) as the kernels read them, which they are the first to do.

        Whether the numbers of X that come with y are finite may be left to `_rows`, which looks at them anyway.
        """
        X = sound(X, unread=True)
        learns = not isinstance(y, str)  # from these rows; or else reads them
        if learns and self._is_exact():
            refuse_inexact(X)
        if learns and reset and _is_plain(X, y):
            self.n_features_in_ = int(X.shape[1])
            self.__dict__.pop("feature_names_in_", None)  # of another fit
            return X, y
        return validate_data(self, X, y, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32], order=order)

    def _rows(self, X: Any) -> Rows:
        """Return the examples as rows; raise where a number is none, or squares do not fit into a float."""
        linear = self._is_linear(X)
        rows = Rows(X, linear=linear)
        if not (linear and _squares_surely_fit(rows)) and not np.isfinite(rows.squared_norms()).all():
            assert_all_finite(X, estimator_name=type(self).__name__, input_name="X")
            largest = np.asarray(abs(rows.X).max(axis=0).todense() if rows.is_sparse else np.abs(rows.X).max(axis=0))
            j = int(largest.argmax())
            name = getattr(self, "feature_names_in_", [f"number {k}" for k in range(rows.d)])[j]
            raise ValueError(
                f"column {name} has values up to {largest.ravel()[j]:g}, whose squares overflow; "
                "scale the columns first, e.g. with sklearn.preprocessing.StandardScaler"
            )
        return rows

    def _encode(self, y: ArrayLike) -> tuple[NDArray[Any], IntArray]:
        y = np.asarray(y)
        if y.dtype.kind not in "biufUS":
            check_classification_targets(y)
        classes, places = coded(y)
        # Few values, whole numbers or words, are labels; scikit-learn looks closely at all others, which takes longer.
        if 2 * len(classes) > len(y) or (classes.dtype.kind == "f" and (classes % 1 != 0).any()):
            check_classification_targets(y)
        if len(classes) < 2:
            raise ValueError(
                f"y has one class only, {shown(classes[0])}: {type(self).__name__} needs examples of two or more"
            )
        return classes, places

    def _sample_weight(self, sample_weight: ArrayLike | None, n: int) -> FloatArray | None:
        """Return the weight of each example, or None where all are one."""
        if sample_weight is None:
            return None
        if np.isscalar(sample_weight):
            s = np.full(n, float(sample_weight))  # type: ignore[arg-type]
        else:
            s = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight", copy=True)
        if not np.isfinite(s).all():
            raise ValueError("sample_weight has a value that is not a finite number")
        if s.shape != (n,):
            raise ValueError(f"sample_weight has shape {s.shape}; it needs one weight for each of the {n} rows of X")
        with np.errstate(over="ignore"):
            total = s.sum()
        too_small = not self._weighs_exactly and 0 < total < np.finfo(np.float64).tiny
        if too_small or not np.isfinite(total):
            size = "more" if total > 1 else "less"
            raise ValueError(
                f"sample_weight adds up to {size} than floats reckon with: scale the weights, e.g. to mean 1"
            )
        if (s < 0).any():
            raise ValueError(f"sample_weight[{int(np.argmax(s < 0))}] is negative; weights must be zero or more")
        return s

    def _class_weights(self, examples: Examples, classes: NDArray[Any]) -> FloatArray | None:
        """Return by what `class_weight` multiplies the weights of each class's examples, or None where all are one."""
        class_weight = getattr(self, "class_weight", None)
        if class_weight is None and not examples.weighted:
            return None
        totals = np.pad(examples.totals, (0, len(classes) - len(examples.totals)))
        factors = None if class_weight is None else self._factors(class_weight, classes, totals)
        if not (totals if factors is None else factors * totals).any():
            raise ValueError("sample_weight (times class_weight) is zero for all examples: nothing to learn from")
        return factors

    def _factors(
        self, class_weight: Mapping[Any, float] | str, classes: NDArray[Any], totals: FloatArray
    ) -> FloatArray:
        if not isinstance(class_weight, Mapping) and class_weight != "balanced":
            raise ValueError(
                f"class_weight={shown(class_weight)} must be None, 'balanced' or a dictionary of label: weight"
            )
        if class_weight == "balanced":
            return balanced(totals)
        weight = np.asarray(compute_class_weight(class_weight, classes=classes, y=classes), dtype=np.float64)
        if (weight < 0).any() or not np.isfinite(weight).all():
            raise ValueError(f"class_weight={shown(class_weight)} has a weight that is negative or not finite")
        return weight


def check_batch_labels(classes: NDArray[Any], y: ArrayLike) -> IntArray:
    """Return the position of each label among the classes; raise for one that is not there."""
    labels = np.asarray(y)
    if type_of_target(labels) in ("continuous", "unknown", "continuous-multioutput"):
        check_classification_targets(labels)
    unknown = np.setdiff1d(labels, classes)
    if len(unknown):
        raise ValueError(
            f"y has the label {unknown[0]}, which is not among the classes {np.asarray(classes).tolist()} of the first "
            "partial_fit; name all labels in its 'classes'"
        )
    return np.asarray(np.searchsorted(classes, labels), dtype=np.int64)
