"""`RegularizationPathDisplay`: the regularisation path, the weights as C grows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .._common.types import FloatArray
from ._canvas import Display, dashes, legend, line_look, pyplot, theme_of, thick
from ._model import read


def weights_over_C(estimator: Any, X: Any, y: ArrayLike, Cs: FloatArray) -> tuple[FloatArray, Any]:
    """Return the weights of a copy fitted for every C, each from where the last one ended, and that copy."""
    model = clone(estimator)
    warm = {"warm_start": True} if "warm_start" in model.get_params() else {}
    found = []
    for C in Cs:
        model.set_params(C=float(C), **warm).fit(X, y)
        found.append(read(model).coef.copy())
    return np.array(found), model


@dataclass
class RegularizationPathDisplay(Display):
    """How the weights of a model change with C: from almost none to almost no penalty.

    Parameters
    ----------
    Cs : array
        Ascending.
    weights : array of shape (len(Cs), d)
        Of one plane.
    names : list of str
        Of the features.
    C : float or None
        The estimator's own, marked in the picture.
    title : str
        What the signs mean.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    lines_ : dict of str to Line2D
        By feature.

    Examples
    --------
    >>> from linsep import LogisticRegression
    >>> from linsep.display import RegularizationPathDisplay
    >>> X, y = [[0, 5], [1, 4], [3, 6], [4, 5]], [0, 0, 1, 1]
    >>> display = RegularizationPathDisplay.from_estimator(LogisticRegression(), X, y, Cs=[0.01, 0.1, 1.0])
    >>> display.weights.shape
    (3, 2)
    """

    Cs: FloatArray
    weights: FloatArray
    names: list[str]
    C: float | None = None
    title: str = ""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        Cs: ArrayLike | None = None,
        target: Any = None,
        feature_names: ArrayLike | None = None,
        ax: Any = None,
        **drawing: Any,
    ) -> Self:
        """Fit copies of an estimator for many C, each from where the last ended, and draw their weights.

        Parameters
        ----------
        estimator : object
            A linear classifier with a parameter C, of linsep or scikit-learn, also at the end of a pipeline, fitted or
            not. It is not changed.
        X, y : array of shape (n, d), array of shape (n,)
        Cs : array, optional
            By default 21 from 0.001 to 10, evenly on a logarithmic scale.
        target : label, optional
            Whose weights to draw; needed with more than two classes.
        feature_names : list of str, optional
        ax, **drawing
            Passed to `plot`.
        """
        pyplot()
        before, last, seen = None, estimator, X
        if isinstance(estimator, Pipeline):
            before, last = clone(estimator[:-1]), estimator[-1]
            X = before.fit_transform(X, y)
        if "C" not in last.get_params():
            raise TypeError(f"{type(last).__name__} has no parameter C: there is no penalty to vary")
        asked = np.unique(np.asarray(np.logspace(-3, 1, 21) if Cs is None else Cs, dtype=np.float64))
        if len(asked) < 2 or not (asked > 0).all() or not np.isfinite(asked).all():
            raise ValueError("Cs must be at least two different positive numbers")
        weights, fitted = weights_over_C(last, X, y, asked)
        if before is not None and feature_names is None and not hasattr(fitted, "feature_names_in_"):
            feature_names = before.get_feature_names_out(getattr(seen, "columns", None))
        model = read(fitted, feature_names)
        k = model.plane(target)
        own = last.get_params()["C"]
        marked = float(own) if own is not None and asked[0] <= own <= asked[-1] else None
        title = f"weights that speak for {model.sides(k)}"
        return cls(asked, weights[:, k], model.names, marked, title).plot(ax, **drawing)

    @classmethod
    def from_path(cls, path: Any, *, plane: int = 0, feature_names: ArrayLike | None = None, ax: Any = None) -> Self:
        """Draw the weights of one plane along a path of `linsep.regularization_path`.

        Parameters
        ----------
        path : RegularizationPath
        plane : int, default=0
            Which one, with more than two classes.
        feature_names : list of str, optional
        ax : matplotlib Axes, optional
        """
        pyplot()
        model = read(path.models[-1], feature_names)
        title = f"weights that speak for {model.sides(plane)}; within {path.tol:g} of the optimum at every C"
        return cls(path.Cs, path.coefs[:, plane], model.names, None, title).plot(ax)

    def plot(self, ax: Any = None, *, top: int = 8, title: str | None = None) -> Self:
        """Draw the path of every weight; the `top` largest ones at the end have colours and names."""
        (ax,) = self._axes(ax, size=(7.4, 4.8))
        theme = theme_of(ax)
        ranked = np.argsort(-np.abs(self.weights[-1]), kind="stable")
        self.lines_ = {}
        for j in ranked[top:][::-1]:
            self.lines_[self.names[j]] = ax.plot(self.Cs, self.weights[:, j], color=theme.grid, linewidth=0.8)[0]
        for rank, j in enumerate(ranked[:top]):
            look = dict(label=self.names[j].replace("$", r"\$"), **line_look(theme, rank))
            self.lines_[self.names[j]] = ax.plot(self.Cs, self.weights[:, j], **look)[0]
        ax.axhline(0.0, color=theme.text, linewidth=0.8)
        if self.C is not None:
            ax.axvline(self.C, color=theme.muted, linewidth=thick(1.0), linestyle=dashes(1), label=f"C = {self.C:g}")
        ax.set_xscale("log")
        ax.set(xlabel="C: how much the losses count against the penalty", ylabel="weight")
        others = max(0, len(self.names) - top)
        said = self.title + (f"\n{others} more in grey" if others else "")
        ax.set_title(f"{title}\n{said}" if title else said, fontsize="medium")
        legend(ax, "beside")
        return self
