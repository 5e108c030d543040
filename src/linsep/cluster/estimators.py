"""The estimators on collections: `fit` where the partitions are, predictions that stay there.

`OnCollections` is put before a class of `linsep.estimators`; `engine` is the module of an engine, of which it asks
whether something is one of its collections, to fit on one, and to map a function over one.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from .rounds import Round

#: What one fit finds, and another may not.
OF_THE_LAST = ("encoding_", "C_", "Cs_", "scores_")
#: What a model that is sent to partitions can do without.
AT_HOME = ("history_", "_proofs")


class OnCollections:
    """fit, predict and score on the collections of an engine; on anything else as on one machine."""

    engine: ClassVar[Any]

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Callable[[Round, float], None] | None = None,
    ) -> Self:
        """Learn from examples where they are.

        Parameters
        ----------
        X : collection
            The examples: a collection of the engine's (see its module), or what fits on one machine take. A table with
            columns of text, categories or dates is encoded as `linsep fit` does it, by what all partitions say, its
            numbers standardised; the model keeps that as ``encoding_``, and predicts from such tables.
        y : collection
            Their labels, partitioned as X is; where X is a path, the name of its column.
        sample_weight : collection, optional
            How much each example counts; where X is a path, the name of its column.
        checkpoint : path, optional
            A file where the sums of every round are kept. The same fit, begun again, goes on from there, to the same
            bits. It is plain data, and is not deleted.
        progress : callable, optional
            Hears of every round when it is over, and of the relative gap that is proven by then.

        Returns
        -------
        self
        """
        for name in OF_THE_LAST:
            self.__dict__.pop(name, None)
        if not self.engine.is_collection(X):
            if checkpoint is not None or progress is not None:
                raise ValueError("checkpoint and progress would be ignored: X is no collection of the cluster's")
            if isinstance(self.C, str):  # type: ignore[attr-defined]
                raise ValueError(f"C={self.C!r} is for collections of the cluster's: use linsep.LogisticRegressionCV")  # type: ignore[attr-defined]
            return super().fit(X, y, sample_weight)  # type: ignore[misc, no-any-return]
        found: Self = self.engine.fit(self, X, y, sample_weight, checkpoint=checkpoint, told=progress)
        return found

    def _C(self) -> float:
        """Return C; of "auto" the one that was chosen."""
        if not (isinstance(self.C, str) and self.C == "auto"):  # type: ignore[attr-defined]
            return super()._C()  # type: ignore[misc, no-any-return]
        if getattr(self, "penalty", "") is None:
            raise ValueError("C='auto' would be ignored: penalty=None says that there is none to weigh")
        return float(getattr(self, "C_", 1.0))

    def _asked(self) -> dict[str, Any]:
        """Return what is asked of a solver: without a seed of the user's always the same one, so that a fit repeats."""
        asked: dict[str, Any] = super()._asked()  # type: ignore[misc]
        return asked if getattr(self, "random_state", None) is not None else asked | {"seed": 0}

    def predict(self, X: Any) -> Any:
        """Return the class of each row, lazily where X is a collection."""
        return self._mapped("predict", X, dtype=self.classes_.dtype)  # type: ignore[attr-defined]

    def decision_function(self, X: Any) -> Any:
        """Return the scores of each row, lazily where X is a collection."""
        K = len(self.classes_)  # type: ignore[attr-defined]
        return self._mapped("decision_function", X, dtype=np.float64, columns=None if K == 2 else K)

    def _mapped(self, method: str, X: Any, **gives: Any) -> Any:
        """Let a model of one machine do what it does with each partition of a collection."""
        if not self.engine.is_collection(X):
            return getattr(super(), method)(features(self, X))
        return self.engine.mapped(_Method(self._light(), method), X, **gives)

    def _light(self) -> Any:
        """Return the model as its class on one machine, with what it takes to predict."""
        single = copy.copy(self)
        single.__class__ = type(self).__mro__[type(self).__mro__.index(OnCollections) + 1]
        for name in AT_HOME:
            single.__dict__.pop(name, None)
        return single

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Return the accuracy, lazily where X is a collection."""
        if not self.engine.is_collection(X):
            return super().score(X, y, sample_weight)  # type: ignore[misc]
        return self.engine.accuracy(self.predict(X), y, sample_weight)


class WithProbabilities(OnCollections):
    """Probabilities besides."""

    def predict_proba(self, X: Any) -> Any:
        """Return P(k|x), one column a class, lazily where X is a collection."""
        return self._mapped("predict_proba", X, dtype=np.float64, columns=len(self.classes_))  # type: ignore[attr-defined]

    def predict_log_proba(self, X: Any) -> Any:
        """Return log P(k|x), lazily where X is a collection."""
        return self._mapped("predict_log_proba", X, dtype=np.float64, columns=len(self.classes_))  # type: ignore[attr-defined]


class _Method:
    """A method of a model, which partitions without rows go by."""

    def __init__(self, model: Any, name: str) -> None:
        self.model, self.name = model, name

    def __call__(self, X: Any) -> Any:
        X = features(self.model, X)
        if X.shape[0]:
            return getattr(self.model, self.name)(X)
        like = getattr(self.model, self.name)(_one_row(X, self.model.n_features_in_))
        return like[:0]


def features(model: Any, X: Any) -> Any:
    """Return a table's rows as the model takes them: encoded, where it was fitted on a table of more than numbers."""
    encoding = getattr(model, "encoding_", None)
    if encoding is None or not hasattr(X, "columns"):
        return X
    import pyarrow

    from .tables import transformed

    return transformed(encoding, pyarrow.Table.from_pandas(X, preserve_index=False), "the table")


def _one_row(X: Any, d: int) -> Any:
    if hasattr(X, "columns"):
        return type(X)(np.zeros((1, d)), columns=X.columns)
    return np.zeros((1, d))
