"""Explaining: what is proven of the planes, their heaviest weights, a summary and a report."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._types import FloatArray
from ._certificate import Certified


@dataclass(frozen=True)
class Explanation:
    """The weights of one plane, the most important first: |w_j| is the importance of a feature, its sign the direction.

    Attributes
    ----------
    features : list of str
        Names, ranked.
    weights : array
        In the same order.
    towards, away : label
        The class that a positive weight speaks for, and the other (None: the rest).
    intercept : float
    """

    features: list[str]
    weights: FloatArray
    towards: Any
    away: Any
    intercept: float

    def __str__(self) -> str:
        width = max(len(name) for name in [*self.features, "intercept"])
        longest = float(np.abs(self.weights).max()) if len(self.weights) else 1.0
        rest = "the rest" if self.away is None else self.away
        lines = [f"{'':{width}}   speaks for {self.towards} (+) or {rest} (−)"]
        for name, weight in zip(self.features, self.weights, strict=True):
            bar = "█" * round(20 * abs(weight) / (longest or 1.0))
            lines.append(f"{name:{width}} {weight:+12.5g} {bar}")
        return "\n".join([*lines, f"{'intercept':{width}} {self.intercept:+12.5g}"])


class Explaining(Certified):
    """What a fitted model says of itself."""

    def explain(self, top: int | None = None) -> Explanation | list[Explanation]:
        """Return the features by importance |w_j|; with more than two classes, a list with one explanation each."""
        check_is_fitted(self, "coef_")
        names = self._feature_names()
        explanations = []
        planes = self._planes()
        for k, (w, b) in enumerate(zip(planes, self.intercept_, strict=True)):
            ranked = np.argsort(-np.abs(w), kind="stable")[:top]
            towards, away = (self.classes_[1], self.classes_[0]) if len(planes) == 1 else (self.classes_[k], None)
            explanations.append(Explanation([str(names[j]) for j in ranked], w[ranked], towards, away, float(b)))
        return explanations[0] if len(explanations) == 1 else explanations

    def summary(self) -> str:
        """Return a few lines: what was minimised, how it ended, and the heaviest weights."""
        check_is_fitted(self, "coef_")
        histories = self.history_ if isinstance(self.history_, list) else [self.history_]
        ended = "converged" if self.converged_ else "NOT converged"
        lines = [
            f"{type(self).__name__} on {self.n_features_in_} features, classes {', '.join(map(str, self.classes_))}",
            f"minimised   {self.objective_}",
            f"solver      {histories[0].solver} ({histories[0].reason})",
            f"proven      {self._proven()}",
            f"ended       {ended} after {self._iterations()} iteration{'s' * (self._iterations() != 1)}",
        ]
        for name, relation in getattr(self, "redundant_", {}).items():
            lines.append(f"redundant   {name} = {relation}")
        explained = self.explain(top=5)
        for part in explained if isinstance(explained, list) else [explained]:
            lines += ["", str(part)]
        return "\n".join(lines)

    def _proven(self) -> str:
        if np.isfinite(self.dual_gap_):
            return f"within {max(self.dual_gap_, 0.0):.1e} of the optimum, relative to the objective"
        return "nothing: this solver computes no duality gap"

    def report(self, path: str | os.PathLike[str], X: Any, y: ArrayLike, **about: Any) -> None:
        """Write one HTML file: what was fitted, what is proven of it, how good it is on these rows, and its mistakes.

        Parameters
        ----------
        path : str or path
        X, y
            Rows to measure it on, best those that it was not fitted on.
        **about
            More about the data: ``training=(X_train, y_train)`` is what separability and what to watch out for are told
            of, ``title``, ``threshold``, and what else `linsep.report.compute` takes.

        Examples
        --------
        >>> import tempfile
        >>> from linsep import LogisticRegression
        >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     LogisticRegression().fit(X, y).report(f"{folder}/report.html", X, y)
        """
        from ..report import write_report  # what shows a model stands above it: imported where it is asked for

        check_is_fitted(self, "coef_")
        write_report(self, path, X, y, **about)
