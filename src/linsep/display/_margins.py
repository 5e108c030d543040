"""`MarginHistogramDisplay`: how far on the right side of the plane examples are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._common.types import FloatArray, IntArray
from ..analysis.agreement import agreements, edges_around_zero
from ._canvas import Display, class_colour, dashes, legend, theme_of
from ._model import codes_of, read, scored

#: What tells classes apart besides their colours.
HATCHES = ("////", "", "....", "xxxx", "----")


@dataclass
class MarginHistogramDisplay(Display):
    """How many examples have which agreement z = y g(x): mistakes are left of zero.

    Parameters
    ----------
    agreement : array
        z of every example, or its distance from the plane; with more than two classes, how far the score of its own
        class is above the highest other one.
    codes : array of int
        The class of each, as a position in `classes`.
    classes : list
    geometric : bool
        Whether they are distances, z/‖w‖.
    cut : float
        The score that they are relative to, that of a model with a ``threshold_``: z = y (g(x) − cut).

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    counts_ : array of shape (classes, bins)
        The heights.
    edges_ : array
        Of the bins.
    mistakes_ : int
        How many examples are on the wrong side, or on the plane itself.

    Examples
    --------
    >>> from linsep.display import MarginHistogramDisplay
    >>> display = MarginHistogramDisplay.from_predictions([0, 0, 1, 1], [-2.0, 0.5, 0.5, 3.0])
    >>> display.agreement.tolist(), display.mistakes_
    ([2.0, -0.5, 0.5, 3.0], 1)
    """

    agreement: FloatArray
    codes: IntArray
    classes: list[Any]
    geometric: bool = False
    cut: float = 0.0

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, geometric: bool = False, ax: Any = None, **drawing: Any
    ) -> Self:
        """Compute the agreements of examples with a fitted linear classifier and draw them.

        Parameters
        ----------
        estimator : object
            Any fitted linear classifier with ``coef_``, also at the end of a pipeline.
        X, y : array of shape (n, d), array of shape (n,)
        geometric : bool
            Whether to draw distances from the plane, z/‖w‖; two classes only.
        ax, **drawing
            Passed to `plot`.
        """
        model = read(estimator)
        if geometric and not model.binary:
            raise ValueError("geometric=True is for two classes: with more there is no one plane to be distant from")
        X = model.prepare(X)
        codes = codes_of(model.classes, y, X.shape[0])
        z = agreements(model.decisions(X), codes)
        if geometric:
            length = float(np.linalg.norm(model.coef))
            if length == 0:
                raise ValueError("all weights are zero: no example has a distance from the plane; use geometric=False")
            z = z / length
        return cls(z, codes, model.classes.tolist(), geometric, model.cut).plot(ax, **drawing)

    @classmethod
    def from_predictions(cls, y: ArrayLike, scores: ArrayLike, *, ax: Any = None, **drawing: Any) -> Self:
        """Draw the agreements of labels with what ``decision_function`` said.

        Parameters
        ----------
        y : array of shape (n,)
        scores : array of shape (n,), or (n, classes) with more than two
        ax, **drawing
            Passed to `plot`.
        """
        classes, table = scored(y, scores)
        codes = codes_of(classes, y, len(table))
        return cls(agreements(table, codes), codes, classes.tolist()).plot(ax, **drawing)

    def plot(self, ax: Any = None, *, bins: int = 30, title: str | None = None) -> Self:
        """Draw it, in so many bins; zero lies between two of them."""
        (ax,) = self._axes(ax)
        theme = theme_of(ax)
        self.edges_ = edges_around_zero(self.agreement, bins)
        groups = [self.agreement[self.codes == k] for k in range(len(self.classes))]
        self.counts_ = np.array([np.histogram(group, self.edges_)[0] for group in groups])
        self.mistakes_ = int((self.agreement <= 0).sum())
        two = len(groups) == 2
        base = np.zeros(len(self.edges_) - 1)
        for k, counts in enumerate(self.counts_):
            hatch = HATCHES[(k + k // len(theme.series)) % len(HATCHES)]
            look: Any = dict(color=class_colour(theme, k, len(groups)), hatch=hatch, edgecolor=theme.background)
            widths, left = np.diff(self.edges_), self.edges_[:-1]
            ax.bar(left, counts, widths, base, align="edge", linewidth=0.5, label=str(self.classes[k]), **look)
            base += counts
        share = self.mistakes_ / len(self.agreement)
        said = f"{self.mistakes_} of {len(self.agreement)} ({share:.1%}) are mistakes, z ≤ 0"
        line = "cut" if self.cut else "plane"
        ax.axvline(0.0, color=theme.text, linewidth=1.6, label=f"{line}, z = 0" if two else None)
        if two and not self.geometric and not self.cut:
            ax.axvline(1.0, color=theme.text, linewidth=1.1, linestyle=dashes(1), label="margin, z = 1")
        g = f"(g(x) {'−' if self.cut > 0 else '+'} {abs(self.cut):.4g})" if self.cut else "g(x)"
        name = f"distance from the {line}, y {g}/‖w‖" if self.geometric else f"agreement z = y {g}"
        name = name if two else "own score − highest other score"
        ax.set(xlabel=f"{name}\n(mistakes are negative)", ylabel="examples")
        ax.set_title(f"{title}: {said}" if title else said, fontsize="medium")
        if two:
            ax.set_ylim(0, 1.25 * max(1.0, float(base.max())))  # room for the legend
            legend(ax, loc="upper left", ncols=2)
        else:
            legend(ax, "beside")
        return self
