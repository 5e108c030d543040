"""Estimators that can learn from a stream, and those among them that minimise any penalised loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from .. import _core, losses
from .._common.types import FloatArray, IntArray
from ..losses import Loss, ModifiedHuber
from ..objective.examples import InMemory
from ..objective.objective import Objective
from ..penalties import Penalty
from ._base import LinearEstimator
from ._calibration import log_probabilities, shares_of
from ._input import check_batch_labels
from ._single import in_single, is_single
from ._specification import check_C, penalty_of

if TYPE_CHECKING:
    from ..solvers import Result, Start


class StreamingEstimator(LinearEstimator):
    """A linear classifier that can also learn from an endless stream, batch by batch."""

    _stream: list[Start]
    _mistakes: IntArray
    mistakes_: int
    #: Attributes that only a fit on all data can know: a stream takes them away.
    _of_a_whole_fit: tuple[str, ...] = ()

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from one batch of a stream: one pass over it (for ``order="worst"``, one step), going on from the last.

        Nothing is remembered of earlier batches, so there is no best iterate to speak of: ``coef_`` is the current
        plane, or the mean of all planes so far with ``keep="average"``.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, d)
        y : array of shape (n,)
        classes : array, optional
            All labels that the stream can bring; needed the first time.
        sample_weight : array of shape (n,), optional

        Returns
        -------
        self
        """
        from ..solvers import StochasticDescent, stream

        _core.warn_if_slow()
        self._check_parameters()
        if getattr(self, "keep", "best") == "vote":
            raise ValueError("keep='vote' needs all planes of a fit; a stream has no end. Use keep='average'")
        fitted = hasattr(self, "coef_")
        X, y = self._check_X(X, y, reset=not fitted)
        if fitted and classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
            raise ValueError(f"classes={classes!r} differ from those learned so far, {self.classes_.tolist()}")
        if getattr(self, "class_weight", None) == "balanced":
            raise ValueError("class_weight='balanced' needs all data at once; give a dictionary of label: weight")
        known = self.classes_ if fitted else self._first_classes(classes)
        codes = check_batch_labels(known, y)
        weight = self._sample_weight(sample_weight, len(codes))
        examples = InMemory(self._rows(X), codes, weight)
        class_weight = self._class_weights(examples, known)
        self.classes_ = known
        if not hasattr(self, "_stream"):
            self._begin_stream()
        method = self._solver()
        assert isinstance(method, StochasticDescent)
        problems = self._objectives(examples, class_weight)
        random_state = check_random_state(getattr(self, "random_state", None))
        # A fixed seed must not draw the same places in every batch.
        seed = int(random_state.randint(2**31 - 1)) + self._stream[0].step
        results = [stream(method, problem, at, seed) for problem, at in zip(problems, self._stream, strict=True)]
        self._stream = [result.last for result in results]
        self._mistakes = self._mistakes + np.array([result.updates for result in results], dtype=np.int64)
        for name in self._of_a_whole_fit:
            self.__dict__.pop(name, None)
        if self._single_of_single and is_single(problems[0]):
            results = [in_single(problem, result) for problem, result in zip(problems, results, strict=True)]
        self._store(problems, results)
        self.mistakes_ = int(self._mistakes.max())
        self.t_ = 1 + max(at.step for at in self._stream)
        return self

    def _first_classes(self, classes: ArrayLike | None) -> NDArray[Any]:
        if classes is None:
            raise ValueError("the first call of partial_fit needs 'classes', all labels that the stream can bring")
        return self._encode(np.asarray(classes))[0]

    def _begin_stream(self) -> None:
        from ..solvers import Start

        if hasattr(self, "coef_"):  # fitted before: go on from there
            planes = zip(self._planes(), self.intercept_, strict=True)
            self._stream = [Start(w.copy(), float(b)) for w, b in planes]
            self._mistakes = np.zeros(len(self._stream), dtype=np.int64)
            return
        planes_needed = 1 if len(self.classes_) == 2 else len(self.classes_)
        self._stream = [Start(np.zeros(self.n_features_in_)) for _ in range(planes_needed)]
        self._mistakes = np.zeros(planes_needed, dtype=np.int64)

    def _after_fit(self, objectives: list[Objective], results: list[Result]) -> None:
        super()._after_fit(objectives, results)
        self.__dict__.pop("_stream", None)  # a new fit ends the old stream
        self.t_ = 1 + max(result.last.step for result in results)  # as scikit-learn counts
        self.mistakes_ = max(result.updates for result in results)


def _gives_probabilities(estimator: Any) -> bool:
    own = estimator._loss().is_likelihood or isinstance(estimator._loss(), ModifiedHuber)
    if own or hasattr(estimator, "calibration_"):
        return True
    raise AttributeError(
        f"predict_proba needs loss='logistic' or 'modified_huber'; {estimator.loss!r} gives no probability before "
        "linsep.calibrate(model, X, y)"
    )


class PenalisedEstimator(StreamingEstimator):
    """An estimator with parameters `loss`, `penalty`, `C` and `l1_ratio`."""

    loss: str | Loss
    penalty: str | Penalty | None
    C: float | None
    l1_ratio: float | None

    def _loss(self) -> Loss:
        return losses.get(self.loss)

    def _penalty(self) -> Penalty:
        return penalty_of(self.penalty, self.l1_ratio)

    def _C(self) -> float:
        C = check_C(self.C)  # a C that is no number is one that nobody meant, even where it counts for nothing
        return np.inf if self.penalty is None else C

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> FloatArray:
        """P(y|x) = σ(y g(x)), one column a class; with more than two classes, shares of the one-against-rest σ.

        With the loss modified_huber it is (1 + y g(x))/2, between 0 and 1; where no class has a share, all are equal.
        After `linsep.calibrate` it is what that found.
        """
        if hasattr(self, "calibration_"):
            return self.calibration_.probabilities(self.decision_function(X))
        if isinstance(self._loss(), ModifiedHuber):
            return shares_of(self._loss().probability(self.decision_function(X)))  # type: ignore[attr-defined]
        if np.shape(getattr(self, "coef_", ()))[:1] == (1,):
            return self._read(X, _core.probabilities)
        return np.asarray(np.exp(self.predict_log_proba(X)))

    @available_if(_gives_probabilities)
    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return log P(y|x), also where P itself is too small for a float."""
        if hasattr(self, "calibration_"):
            return self.calibration_.log_probabilities(self.decision_function(X))
        if isinstance(self._loss(), ModifiedHuber):
            with np.errstate(divide="ignore"):
                return np.asarray(np.log(self.predict_proba(X)))
        return log_probabilities(self.decision_function(X))
