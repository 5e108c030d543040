"""`LinearEstimator`: what all estimators are."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin

from ._callbacks import CallbackSupport
from ._explaining import Explaining
from ._fitting import Fitting
from ._predicting import Predicting


class LinearEstimator(Fitting, Predicting, Explaining, CallbackSupport, ClassifierMixin, BaseEstimator):
    """A linear classifier: h(x) = sign(w·x + b), one plane for two classes, one against the rest for more.

    Subclasses say which loss, penalty and C they minimise and which solver they use.
    """

    _doc_link_module = "linsep"
    _doc_link_template = "{file}"

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        shown = str(super().__repr__(N_CHAR_MAX=N_CHAR_MAX))
        return f"{shown}  # minimised {self.objective_}" if hasattr(self, "objective_") else shown

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        """Where a notebook's link leads: to the documentation that is installed, the text of the class."""
        return {"file": Path(inspect.getfile(type(self))).absolute().as_uri()}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
