"""`ConvergenceDisplay`: how a fit went, by step or by pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.pipeline import Pipeline

from .._common.types import FloatArray
from ..history import History, histories_of, least_so_far
from ..palette import LOSSES, loss_places
from ._canvas import Display, dashes, legend, theme_of, thick

#: A gap of zero has no place on a logarithmic axis: it is drawn here.
SMALLEST_GAP = 1e-16


@dataclass(frozen=True)
class Curve:
    """The recorded steps of one run, and what its objective is proven not to lie below (NaN where nothing is).

    `best` and `best_zero_one` are the least so far of what they are named after, each on its own.
    """

    x: FloatArray
    objective: FloatArray
    best: FloatArray
    risk: FloatArray
    zero_one: FloatArray
    best_zero_one: FloatArray
    lower: float = np.nan

    @classmethod
    def of(cls, history: History, by: str, lower: float) -> Self:
        """Return the curve of a run by steps or passes."""
        best, best_zero_one = (least_so_far(history, column) for column in ("objective", "zero_one"))
        x = history["step" if by == "step" else "passes"]
        return cls(x, history["objective"], best, history["risk"], history["zero_one"], best_zero_one, lower)

    @property
    def gap(self) -> FloatArray:
        """How far the best point so far can be from the optimum, as a share of its objective."""
        best = np.fmin.accumulate(self.objective)
        return np.maximum((best - self.lower) / np.maximum(np.abs(best), 1e-300), SMALLEST_GAP)


@dataclass
class ConvergenceDisplay(Display):
    """Objective and best so far, the proven gap, and the share of mistakes, as a fit went on.

    A mistake is an example with z ≤ 0, as the perceptron counts them: on the wrong side, or on the plane itself. At
    w = 0 all are, while predictions, where a score of 0 is the first class, are partly right. Best is what is best of
    the points that were recorded; a perceptron looks at every update, and with ``record="pass"`` may report a plane
    between two of these points.

    Parameters
    ----------
    curves : dict of str to Curve
        One for each run, by what the legend says.
    by : {"step", "pass"}
        What is counted along the x-axis.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn: one panel for the objective, and where they are known one each for gap and mistakes.
    panels_ : list of str
        What the panels are: ``"objective"``, ``"gap"``, ``"zero_one"``.
    lines_ : dict of (str, str) to Line2D
        By curve and by what it shows: ``"objective"``, ``"best"``, ``"risk"``, ``"lower"``, ``"gap"``, ``"zero_one"``,
        ``"best_zero_one"``.

    Examples
    --------
    >>> from linsep import LogisticRegression
    >>> from linsep.display import ConvergenceDisplay
    >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    >>> ConvergenceDisplay.from_estimator(model).panels_
    ['objective', 'gap', 'zero_one']
    """

    curves: dict[str, Curve]
    by: str = "step"

    @classmethod
    def from_estimator(cls, estimator: Any, *, by: str = "step", ax: Any = None, **drawing: Any) -> Self:
        """Read what a fit of linsep remembers and draw it; with more than two classes, one curve for each plane.

        Parameters
        ----------
        estimator : object
            A fitted estimator of linsep, also at the end of a pipeline or found by a search: it has ``history_``.
        by : {"step", "pass"}
            Whether to count steps, or passes over the data.
        ax : matplotlib Axes, one a panel, optional
        **drawing
            Passed to `plot`.
        """
        estimator = getattr(estimator, "best_estimator_", estimator)
        estimator = estimator[-1] if isinstance(estimator, Pipeline) else estimator
        histories = histories_of(estimator)
        if not histories:
            raise TypeError(
                f"{type(estimator).__name__} has no history_: fit an estimator of linsep, which remembers how it went"
            )
        names = [type(estimator).__name__] if len(histories) == 1 else [str(label) for label in estimator.classes_]
        lower = _lower_bounds(estimator, histories)
        return cls.from_histories(dict(zip(names, histories, strict=True)), by=by, lower=lower, ax=ax, **drawing)

    @classmethod
    def from_histories(
        cls,
        histories: Mapping[str, History],
        *,
        by: str = "step",
        lower: list[float] | None = None,
        ax: Any = None,
        **drawing: Any,
    ) -> Self:
        """Draw several runs in one picture.

        Parameters
        ----------
        histories : dict of str to History
            By what the legend says.
        by : {"step", "pass"}
        lower : list of float, optional
            What each run's objective is proven not to lie below; NaN where nothing is.
        ax : matplotlib Axes, one a panel, optional
        **drawing
            Passed to `plot`.
        """
        if by not in ("step", "pass"):
            raise ValueError(f"by={by!r} is not possible; use 'step' or 'pass'")
        bounds = lower or [np.nan] * len(histories)
        curves = {
            name: Curve.of(history, by, bound) for (name, history), bound in zip(histories.items(), bounds, strict=True)
        }
        return cls(curves, by).plot(ax, **drawing)

    def plot(self, ax: Any = None, *, log: bool = False, title: str | None = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, one a panel, optional
        log : bool
            Whether the x-axis is logarithmic: long runs show their beginning.
        title : str, optional
        """
        curves = self.curves.values()
        self.panels_ = ["objective"]
        self.panels_ += ["gap"] * any(np.isfinite(curve.lower) for curve in curves)
        self.panels_ += ["zero_one"] * any(np.isfinite(curve.zero_one).any() for curve in curves)
        panels = self._axes(ax, len(self.panels_), 1, (6.8, 2.6 if len(self.panels_) > 1 else 4.6))
        self.lines_: dict[tuple[str, str], Any] = {}
        for panel, what in zip(panels, self.panels_, strict=True):
            self._draw_objective(panel) if what == "objective" else self._draw_one(panel, what)
            if log:
                panel.set_xscale("symlog", linthresh=1.0)
                panel.set_xlim(left=0.0)
        panels[-1].set_xlabel("steps" if self.by == "step" else "passes over the data")
        panels[0].set_title(title or "", fontsize="medium")
        return self

    def _draw_objective(self, ax: Any) -> None:
        theme, one = theme_of(ax), len(self.curves) == 1
        for k, (name, curve) in zip(_places(self.curves), self.curves.items(), strict=True):
            colour = theme.series[k % len(theme.series)]
            thin: Any = dict(linewidth=thick(1.0), alpha=0.75, marker=_mark(curve))
            parts: list[tuple[str, FloatArray, str, Any]] = [
                ("objective", curve.objective, "objective", thin),
                ("best", curve.best, "best so far", dict(linewidth=thick(2.2))),
            ]
            if one:  # of several runs it would be one line too many
                parts.append(("risk", curve.risk, "risk (mean loss)", dict(linewidth=thick(1.4), linestyle=dashes(2))))
            for what, values, words, look in parts:
                if _adds_something(what, curve):
                    self.lines_[name, what] = ax.plot(curve.x, values, color=colour, **look)[0]
                    if one:
                        self.lines_[name, what].set_label(words)
            if np.isfinite(curve.lower):
                look = dict(color=colour, linestyle=dashes(1), linewidth=thick(1.0))
                self.lines_[name, "lower"] = ax.axhline(curve.lower, **look)
                self.lines_[name, "lower"].set_label("proven lower bound" if one else "")
            if not one:
                self.lines_[name, "objective"].set_label(name)
        ax.set_ylabel("mean objective")
        legend(ax, "beside")

    def _draw_one(self, ax: Any, what: str) -> None:
        """Draw the gap, or the share of mistakes, of each run."""
        from matplotlib.ticker import PercentFormatter

        theme, label = theme_of(ax), "proven gap,\nrelative" if what == "gap" else "mistakes\n(z ≤ 0)"
        ax.set(ylabel=label, yscale="log" if what == "gap" else "linear")
        for k, (name, curve) in zip(_places(self.curves), self.curves.items(), strict=True):
            if what != "gap" or np.isfinite(curve.lower):
                style = dashes(k) if len(self.curves) > 1 else "-"
                look: Any = dict(color=theme.series[k % len(theme.series)], linestyle=style, marker=_mark(curve))
                self.lines_[name, what] = ax.plot(curve.x, getattr(curve, what), label=name, **look)[0]
                if what == "zero_one" and _adds_something("best_zero_one", curve, "zero_one"):
                    look |= dict(linewidth=thick(2.2), marker="", linestyle="-")
                    self.lines_[name, "best_zero_one"] = ax.plot(curve.x, curve.best_zero_one, **look)[0]
                    self.lines_[name, what].set(linewidth=thick(1.0), alpha=0.75)
        if what == "zero_one":
            ax.set_ylim(bottom=0)
            ax.yaxis.set_major_formatter(PercentFormatter(1.0))


def _places(names: Iterable[str]) -> list[int]:
    """Return each curve's place among colours and dashes: where one is called as a loss, that of the loss."""
    names = list(names)
    return loss_places(names) if any(name in LOSSES for name in names) else list(range(len(names)))


def _mark(curve: Curve) -> str:
    """Return a marker where there are few steps, so that one alone is seen."""
    return "." if len(curve.x) <= 40 else ""


def _adds_something(what: str, curve: Curve, beside: str = "objective") -> bool:
    """Whether a line would not lie on that beside which it is drawn."""
    if what == beside:
        return True
    values = getattr(curve, what)
    known = np.isfinite(values)
    return bool(known.any()) and not np.allclose(values[known], getattr(curve, beside)[known], rtol=1e-12, atol=0.0)


def _lower_bounds(estimator: Any, histories: list[History]) -> list[float]:
    """Return what each run's mean objective is proven not to lie below."""
    certificate = getattr(estimator, "certificate_", None)
    if certificate is None and hasattr(estimator, "lower_bound_"):
        fewest, low = np.atleast_1d(estimator.n_mistakes_), np.atleast_1d(estimator.lower_bound_)
        last = np.array([history["objective"][-1] for history in histories])
        return [float(v) for v in last * np.where(fewest > 0, low / np.maximum(fewest, 1e-300), 0.0)]
    if certificate is None:
        return [np.nan] * len(histories)
    every = list(certificate) if len(histories) > 1 else [certificate]
    return [_lower_bound(one) for one in every]


def _lower_bound(certificate: Any) -> float:
    if hasattr(certificate, "high"):  # of a margin: no plane has a wider one, so none has a smaller ½‖w‖²
        return float(0.5 / certificate.high**2)
    claim, (_, factor) = certificate.claim, certificate.statement.in_force
    weight = claim.data.weight if hasattr(claim, "data") else claim.weight
    lower = certificate.dual / (factor * weight)
    return float(lower) if np.isfinite(lower) else np.nan
