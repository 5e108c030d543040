"""Predicting: scores and classes of new rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .. import _core
from .._common.labels import cut
from .._common.types import FloatArray
from ._calibration import Calibration
from ._input import Input


def _is_calibrated(estimator: Any) -> bool:
    if hasattr(estimator, "calibration_"):
        return True
    raise AttributeError(
        f"{type(estimator).__name__} has scores, but no probabilities before linsep.calibrate(model, X, y)"
    )


class Predicting(Input):
    """Scores and classes by the fitted planes."""

    #: Where ``classes_[1]`` begins, if not above 0: `linsep.choose_threshold` and model files set it, a fit forgets it.
    threshold_: float
    #: How scores become probabilities: `linsep.calibrate` and model files set it, a fit forgets it.
    calibration_: Calibration

    def decision_function(self, X: Any) -> FloatArray:
        """g(x) = w·x + b: positive for ``classes_[1]``; with more than two classes, one column each."""
        scores = self._as_precise_as(X, self._read(X, _core.scores))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row: ``classes_[1]`` where g(x) > 0, else ``classes_[0]``; of more, the highest.

        A tie goes where ``predict_proba(X).argmax(axis=1)`` goes, to the first class of those with the highest score: a
        row on the plane itself to ``classes_[0]``. A model with a ``threshold_`` (see `linsep.choose_threshold`) says
        ``classes_[1]`` where g(x) reaches that.
        """
        if hasattr(self, "threshold_"):
            return cut(self.classes_, self.decision_function(X), self.threshold_)
        return self._read(X, lambda rows, W, b: _core.labels(rows, W, b, self.classes_))

    @available_if(_is_calibrated)
    def predict_proba(self, X: Any) -> FloatArray:
        """Return probabilities, one column a class, of a model that `linsep.calibrate` has calibrated."""
        return self.calibration_.probabilities(self.decision_function(X))

    @available_if(_is_calibrated)
    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return their logarithms."""
        return self.calibration_.log_probabilities(self.decision_function(X))

    def _read(self, X: Any, kernel: Callable[[Any, FloatArray, FloatArray], tuple[NDArray[Any], bool]]) -> NDArray[Any]:
        """Return what the kernel makes of the rows and the planes.

        Rows that can be read as they are need no check beforehand, which would take as long as the reading: finite
        scores say that all entries are finite.
        """
        if not hasattr(self, "coef_"):
            check_is_fitted(self, "coef_")
        as_it_is = self._readable(X)
        rows = X if as_it_is else self._check_X(X, reset=False, order=None)
        out, finite = kernel(rows, self._planes(), np.asarray(self.intercept_, dtype=np.float64))
        if as_it_is and not finite:
            self._check_X(X, reset=False)  # raises, unless finite numbers overflowed
        return out

    def _as_precise_as(self, X: Any, values: FloatArray) -> FloatArray:
        """Return what was computed of X as 32-bit floats where X and the planes are."""
        single = getattr(X, "dtype", None) == np.float32 == self.coef_.dtype
        return values.astype(np.float32) if single else values

    def _readable(self, X: Any) -> bool:
        """Whether the kernels can read X as it is and scikit-learn would find nothing in it but its values to check."""
        if type(X) is np.ndarray:
            laid_out = X.ndim == 2 and (X.flags.c_contiguous or X.flags.f_contiguous) and X.flags.aligned
        else:
            laid_out = type(X) in (sparse.csr_array, sparse.csr_matrix)
        return (
            laid_out
            and X.dtype in (np.float64, np.float32)
            and X.dtype.isnative
            and X.shape[0] > 0
            and X.shape[1] == getattr(self, "n_features_in_", None)
            and not hasattr(self, "feature_names_in_")
        )

    def sparsify(self) -> Self:
        """Keep ``coef_`` as a sparse matrix, as in scikit-learn: smaller where most weights are zero, by L1.

        Predictions, `certificate_`, `explain` and files are the same; what else reads ``coef_`` as an array needs
        `densify` first.

        Examples
        --------
        >>> from linsep import LogisticRegression
        >>> X, y = [[0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [4.0, 0.0]], [0, 0, 1, 1]
        >>> model = LogisticRegression(l1_ratio=1.0).fit(X, y).sparsify()
        >>> model.coef_.nnz, model.predict(X), bool(model.certificate_.verify(X, y))
        (1, array([0, 0, 1, 1]), True)
        """
        check_is_fitted(self, "coef_")
        self.coef_ = sparse.csr_matrix(self.coef_)  # type: ignore[assignment]
        return self

    def densify(self) -> Self:
        """Keep ``coef_`` as an array, as after a fit."""
        check_is_fitted(self, "coef_")
        self.coef_ = self._planes()
        return self
