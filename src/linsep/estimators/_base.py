"""`LinearEstimator`: what all estimators are."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin

from ._callbacks import CallbackSupport
from ._explaining import Explaining
from ._fitting import Fitting
from ._predicting import Predicting

#: Where the pages of the classes are: in a notebook the name of an estimator links there.
DOCUMENTATION = "https://linsep.readthedocs.io/en/stable/api/{estimator_name}.html"


class LinearEstimator(Fitting, Predicting, Explaining, CallbackSupport, ClassifierMixin, BaseEstimator):
    """A linear classifier: h(x) = sign(w·x + b), one plane for two classes, one against the rest for more.

    Subclasses say which loss, penalty and C they minimise and which solver they use.
    """

    _doc_link_module = "linsep"
    _doc_link_template = DOCUMENTATION

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        shown = str(super().__repr__(N_CHAR_MAX=N_CHAR_MAX))
        return f"{shown}  # minimised {self.objective_}" if hasattr(self, "objective_") else shown

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
