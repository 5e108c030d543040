"""Why a likelihood without a penalty has no maximum: which coefficients run to infinity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..objective.heads import Margin
from ..objective.objective import Objective
from ._specification import columns_left_out


def why_no_optimum(objectives: list[Objective], classes: NDArray[Any], names: Callable[[], list[str]]) -> str | None:
    """Say why no finite coefficients are best; None where some are, or nobody knows.

    Parameters
    ----------
    objectives : list of Objective
        One for two classes, one a class against the rest, or one for all.
    classes : array
        The labels.
    names : callable
        Gives the names of the columns.
    """
    first = objectives[0]
    if isinstance(first.head, Margin) and not first.loss.is_likelihood:
        return None
    if first.fit_intercept and (label := _weightless(first, classes)) is not None:
        return f"the examples of class {label} have no weight: no finite intercept is best; leave them out"
    if first.penalised or first.examples.resident is None:
        return None
    return _Search(first, classes, names()).run()


def _weightless(objective: Objective, classes: NDArray[Any]) -> Any:
    """Return the first class whose examples have no weight."""
    if objective.examples.resident is None or objective.sample_weight is None:
        return None
    none = np.bincount(objective.codes, weights=objective.sample_weight, minlength=len(classes)) == 0
    return classes[none][0] if none.any() else None


class _Search:
    """The search for coefficients that run away, one class against the rest and then all against each other.

    It takes exact arithmetic, which few fits need: it is loaded here.
    """

    def __init__(self, objective: Objective, classes: NDArray[Any], names: list[str]) -> None:
        from ..solvers.first_order.prover import MOST_WORK

        counted = slice(None) if objective.sample_weight is None else objective.sample_weight > 0
        told = np.setdiff1d(np.arange(objective.d), columns_left_out.get())
        X, names = objective.rows.X[counted], [names[j] for j in told]
        self.X = X if len(told) == objective.d else X[:, told]
        self.codes, self.classes = objective.codes[counted], classes
        self.at_once = objective.head.planes is not None
        self.asked: Any = dict(fit_intercept=objective.fit_intercept, feature_names=names, budget=MOST_WORK)

    def run(self) -> str | None:
        """Say what runs away."""
        from ..separation.no_optimum import explain_no_optimum, explain_no_softmax_optimum

        for k in [1] if len(self.classes) == 2 else range(len(self.classes)):
            y = np.where(self.codes == k, 1.0, -1.0)
            if abs(y.sum()) == len(y):  # one class
                continue
            if (why := self._in_time(explain_no_optimum, self.X, y, time_limit=None)) is not None:
                return self._of_class(k, why)
        if not self.at_once:
            return None
        # Of classes none of which lies apart from all others: they may still lie apart from each other.
        return self._in_time(explain_no_softmax_optimum, self.X, self.codes, self.classes.tolist())

    def _in_time(self, explain: Callable[..., str | None], *examples: Any, **limits: Any) -> str | None:
        """Return an explanation; one that takes too long leaves the fit's own report to stand."""
        from ..separation.verdict import ProofTimeoutError

        try:
            return explain(*examples, **self.asked, **limits)
        except ProofTimeoutError:
            return None

    def _of_class(self, k: int, why: str) -> str:
        """Say of which class it is, where there are several."""
        if len(self.classes) == 2:
            return why
        if not self.at_once:
            return f"class {self.classes[k]} against the rest: {why}"
        # Which coefficients of one class against the rest run away does not say which of the softmax do.
        return f"a plane separates class {self.classes[k]} from the rest, so no finite optimum exists; use a finite C"
