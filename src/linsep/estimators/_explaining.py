"""Explaining: what is proven of the planes, their heaviest weights, a summary and a report."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._common.types import FloatArray
from .._common.words import many
from .._core import sound
from ..arithmetic.moments import deviations
from ._certificate import Certified
from ._input import Input


@dataclass(frozen=True)
class Explanation:
    """The weights of one plane, the most important first; a weight's sign is the direction.

    The importance of a feature is ``|w_j|·sd(x_j)``, the standard deviation of what it adds to the score, as in
    ``linsep explain`` and reports, where rows were given; else ``|w_j|``, which depends on the feature's units.

    Attributes
    ----------
    features : list of str
        Names, ranked.
    weights : array
        In the same order.
    towards, away : label
        The class that a positive weight speaks for, and the other (None: the rest).
    intercept : float
    importance : array
        In the same order.
    by_spread : bool
        Whether importance is by the spread of the features in rows, too.
    """

    features: list[str]
    weights: FloatArray
    towards: Any
    away: Any
    intercept: float
    importance: FloatArray
    by_spread: bool

    def __str__(self) -> str:
        width = max(len(name) for name in [*self.features, "intercept"])
        longest = float(self.importance.max(initial=0.0))
        rest = "the rest" if self.away is None else self.away
        lines = [f"{'':{width}}   speaks for {self.towards} (+) or {rest} (−)"]
        for name, weight, counts in zip(self.features, self.weights, self.importance, strict=True):
            share = 1.0 if counts == longest else counts / longest  # of weights at the end of floats, too
            bar = "█" * round(20 * share * bool(longest))
            lines.append(f"{name:{width}} {weight:+12.5g} {bar}")
        own = "|weight|, in each column's own units; explain(X=rows) ranks by its spread in these rows as well"
        ranked = "|weight| × spread of the column" if self.by_spread else own
        return "\n".join([*lines, f"{'intercept':{width}} {self.intercept:+12.5g}", f"ranked by {ranked}"])


class Explaining(Input, Certified):
    """What a fitted model says of itself."""

    def explain(self, top: int | None = None, X: Any = None) -> Explanation | list[Explanation]:
        """Return the features by importance; with more than two classes, a list with one explanation each.

        Parameters
        ----------
        top : int, optional
            How many of them.
        X : array, sparse matrix or DataFrame, optional
            Rows, best those of the fit: then importance is ``|w_j|·sd(x_j)``, as in ``linsep explain``; else ``|w_j|``.

        Examples
        --------
        >>> from linsep import LogisticRegression
        >>> X = [[0.0, 0.0], [0.0, 30.0], [2.0, 20.0], [2.0, 50.0]]
        >>> model = LogisticRegression().fit(X, [0, 0, 1, 1])
        >>> model.explain().features, model.explain(X=X).features
        (['x0', 'x1'], ['x1', 'x0'])
        """
        check_is_fitted(self, "coef_")
        spread = np.ones(self.n_features_in_) if X is None else deviations(self._check_X(sound(X), reset=False))
        names = self._feature_names()
        explanations = []
        planes = self._planes()
        for k, (w, b) in enumerate(zip(planes, self.intercept_, strict=True)):
            importance = np.abs(w) * spread
            ranked = np.argsort(-importance, kind="stable")[:top]
            towards, away = (self.classes_[1], self.classes_[0]) if len(planes) == 1 else (self.classes_[k], None)
            features, how = [str(names[j]) for j in ranked], (importance[ranked], X is not None)
            explanations.append(Explanation(features, w[ranked], towards, away, float(b), *how))
        return explanations[0] if len(explanations) == 1 else explanations

    def summary(self) -> str:
        """Return a few lines: what was minimised, how it ended, and the heaviest weights."""
        check_is_fitted(self, "coef_")
        histories = self.history_ if isinstance(self.history_, list) else [self.history_]
        ended = "converged" if self.converged_ else "NOT converged"
        features, classes = many(self.n_features_in_, "feature"), ", ".join(map(str, self.classes_))
        lines = [
            f"{type(self).__name__} on {features}, classes {classes}",
            f"minimised   {self.objective_}",
            f"solver      {histories[0].solver} ({histories[0].reason})",
            f"proven      {self._proven()}",
            f"ended       {ended} after {many(self._iterations(), 'iteration')}",
        ]
        for name, relation in getattr(self, "redundant_", {}).items():
            lines.append(f"redundant   {name} = {relation}")
        explained = self.explain(top=5)
        for part in explained if isinstance(explained, list) else [explained]:
            lines += ["", str(part)]
        return "\n".join(lines)

    def _proven(self) -> str:
        if np.isfinite(gap := self._certain_gap()):
            return f"within {gap:.1e} of the optimum, relative to the objective"
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
