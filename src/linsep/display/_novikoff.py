"""`NovikoffDisplay`: the mistakes that a perceptron made, against the bound on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._common.types import FloatArray
from .._common.words import at_most, many
from ..estimators import Perceptron
from ..history import History, histories_of
from ..palette import Theme
from ._canvas import Display, dashes, legend, theme_of, thick


@dataclass(frozen=True)
class MistakeCurve:
    """One perceptron: its mistakes by the examples seen, and what Novikoff says they cannot exceed.

    `bound` is (R/γ)² with the margin of the plane that it found, `best_bound` with the largest margin there is; both in
    the augmented space [x, 1], infinite or NaN where no plane separates or nobody computed them.
    """

    seen: FloatArray
    mistakes: FloatArray
    bound: float
    best_bound: float


@dataclass
class NovikoffDisplay(Display):
    """The mistakes that a perceptron made, as it made them, against Novikoff's bound (R/γ)² on any number of passes.

    Parameters
    ----------
    curves : dict of str to MistakeCurve
        One for each plane, by what the legend says.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    lines_, bound_lines_ : dict of str to Line2D
        The mistakes; the smallest finite bound, where there is one.

    Examples
    --------
    >>> from linsep import Perceptron
    >>> from linsep.display import NovikoffDisplay
    >>> X, y = [[0, 0], [0, 1], [3, 2], [4, 3]], [0, 0, 1, 1]
    >>> display = NovikoffDisplay.from_estimator(Perceptron(order="cyclic", record="update").fit(X, y))
    >>> curve = display.curves["mistakes"]
    >>> int(curve.mistakes[-1]), bool(curve.mistakes[-1] <= curve.best_bound <= curve.bound)
    (4, True)
    """

    curves: dict[str, MistakeCurve]

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **drawing: Any) -> Self:
        """Read the mistakes and the bounds of a fitted perceptron and draw them.

        Parameters
        ----------
        estimator : Perceptron
            Of linsep, fitted on all data at once. With ``record="update"`` its mistakes are drawn as it made them,
            otherwise only how many they were in the end.
        ax, **drawing
            Passed to `plot`.
        """
        if not isinstance(estimator, Perceptron):
            raise TypeError(f"{type(estimator).__name__} is no linsep.Perceptron: Novikoff's bound is on its mistakes")
        check_is_fitted(estimator, "coef_")
        if not hasattr(estimator, "mistake_bound_"):
            raise ValueError(
                "a perceptron that learns from a stream, or with a penalty, knows no bound; fit it without a penalty, "
                "on all data at once"
            )
        histories = histories_of(estimator)
        names = ["mistakes"] if len(histories) == 1 else [str(label) for label in estimator.classes_]
        totals = _totals(estimator, histories)
        bounds, best = np.atleast_1d(estimator.mistake_bound_), np.atleast_1d(estimator.best_mistake_bound_)
        curves = {
            name: MistakeCurve(*_counted(history, int(total)), float(own), float(least))
            for name, history, total, own, least in zip(names, histories, totals, bounds, best, strict=True)
        }
        return cls(curves).plot(ax, **drawing)

    def plot(self, ax: Any = None, *, title: str | None = None) -> Self:
        """Draw it, on a logarithmic scale."""
        (ax,) = self._axes(ax, size=(7.0, 4.6))
        theme = theme_of(ax)
        self.lines_: dict[str, Any] = {}
        self.bound_lines_: dict[str, Any] = {}
        for k, name in enumerate(self.curves):
            self._draw(ax, theme, k, name)
        ax.set_yscale("log")
        ax.set_ylim(bottom=0.8)
        ax.set(xlabel="examples seen", ylabel="mistakes")
        ax.set_title(title or "Mistakes made, and the most there can be", fontsize="medium")
        legend(ax, "beside" if len(self.curves) > 1 else "inside")
        return self

    def _draw(self, ax: Any, theme: Theme, k: int, name: str) -> None:
        curve, colour = self.curves[name], theme.series[k % len(theme.series)]
        said = "" if len(self.curves) == 1 else f"{name}: "
        counted = curve.mistakes > 0
        look: Any = dict(color=colour, linewidth=thick(1.8), marker="." if len(curve.seen) < 40 else "")
        look |= dict(drawstyle="steps-post", label=f"{said}{many(int(curve.mistakes[-1]), 'mistake')}")
        self.lines_[name] = ax.plot(curve.seen[counted], curve.mistakes[counted], **look)[0]
        bounds = [(curve.best_bound, "(R/γ)², largest γ", 1), (curve.bound, "(R/γ)², γ of its own plane", 2)]
        for bound, words, style in bounds:
            if np.isfinite(bound):
                label = f"{said}{words}: {at_most(bound)}"
                line = ax.axhline(bound, color=colour, linewidth=thick(1.2), linestyle=dashes(style), label=label)
                self.bound_lines_.setdefault(name, line)
        if name not in self.bound_lines_:
            ax.plot([], [], linestyle="none", label=f"{said}no bound: no plane that separates was found")


def _totals(estimator: Perceptron, histories: list[History]) -> FloatArray:
    """Return how many mistakes each plane made; a model from a file knows them from its history."""
    if hasattr(estimator, "update_counts_"):
        return np.asarray(np.atleast_2d(estimator.update_counts_).sum(axis=1), dtype=np.float64)
    if not all(len(history) for history in histories):
        raise ValueError("an older model file keeps no history to count mistakes by; fit the perceptron again")
    return np.array([history["updates"][-1] for history in histories])


def _counted(history: History, total: int) -> tuple[FloatArray, FloatArray]:
    """Return after how many examples there had been how many mistakes; of a thinned history, only the last."""
    steps, by_example = history["step"], history["example"] >= 0
    if history.stride == 1 and int(by_example.sum()) == total:
        return np.append(steps[by_example], steps[-1]), np.append(np.arange(1.0, total + 1), float(total))
    return steps[-1:], np.array([float(total)])
