"""`RiskSurfaceDisplay`: the risk over two weights, the path of a descent on it, and the zero-one risk beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import losses
from .._common.types import FloatArray
from ..analysis.risk_surface import Limits, around, risks_over
from ..losses import Loss
from ..palette import Theme
from ._canvas import Display, colour_map, large, legend, theme_of, thick
from ._model import LinearModel, codes_of, read


@dataclass
class RiskSurfaceDisplay(Display):
    """A function of two parameters, seen from above or as a landscape, with the way down that a descent took.

    Parameters
    ----------
    x, y : arrays
        The two parameters.
    values : array of shape (len(y), len(x))
        The risk, or any function.
    zero_one : array of the same shape, or None
        The zero-one risk, drawn beside it.
    path : array of shape (steps, 2) or None
        The iterates.
    labels : (str, str)
        Of the parameters.
    name : str
        Of the function.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn; two axes where there is a zero-one risk.
    path_lines_ : list of artists
        The path on each of the axes.

    Examples
    --------
    >>> from linsep import LinearClassifier
    >>> from linsep.display import RiskSurfaceDisplay
    >>> from linsep.solvers import GradientDescent
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [3.0, 4.0], [4.0, 2.0]], [0, 0, 1, 1]
    >>> model = LinearClassifier("logistic", solver=GradientDescent(record="update")).fit(X, y)
    >>> display = RiskSurfaceDisplay.from_estimator(model, X, y)
    >>> display.name, len(display.ax_.ravel())
    ('mean of log(1 + e^(−z))', 2)
    """

    x: FloatArray
    y: FloatArray
    values: FloatArray
    zero_one: FloatArray | None = None
    path: FloatArray | None = None
    labels: tuple[str, str] = ("x", "y")
    name: str = "f"
    kind: str = "contour"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        parameters: tuple[int, int] = (0, 1),
        loss: str | Loss | None = None,
        x_limits: Limits | None = None,
        y_limits: Limits | None = None,
        resolution: int = 81,
        sample: int | None = 10_000,
        feature_names: ArrayLike | None = None,
        ax: Any = None,
        **drawing: Any,
    ) -> Self:
        """Compute the risk around a fitted plane over two of its parameters, the others as fitted, and draw it.

        Parameters
        ----------
        estimator : object
            Any fitted linear classifier of two classes. Those of linsep that record every update (``record="update"``)
            leave their path.
        X, y : array of shape (n, d), array of shape (n,)
            The examples that the risk is the mean of.
        parameters : (int, int)
            Which two: numbers of features, or −1 for the intercept.
        loss : str or Loss, optional
            By default the estimator's own where it says which, else logistic.
        x_limits, y_limits : (float, float), optional
            By default around the path, the fitted plane and zero.
        resolution : int
            Points a side.
        sample : int or None
            Of more examples than this so many are drawn at random, always the same, and the title says so; None takes
            all, which takes its time: every point of the picture looks at every example.
        feature_names : list of str, optional
        ax : two matplotlib Axes, optional
        **drawing
            Passed to `plot`.
        """
        model = read(estimator, feature_names)
        if not model.binary:
            raise ValueError("the risk surface is that of two classes; fit on two of them, or one against the rest")
        X = model.prepare(X)
        labels = np.where(codes_of(model.classes, y, X.shape[0]) == 1, 1.0, -1.0)
        chosen = losses.get(loss or model.loss or "logistic")
        i, j = _check_parameters(model, parameters)
        path = _path(model, i, j)
        theta = np.append(model.coef[0], model.intercept[0])
        met = np.vstack([np.zeros((1, 2)), theta[None, [i, j]], *([path] if path is not None else [])])
        grid = [
            np.linspace(*(around(met[:, k]) if limits is None else limits), resolution)
            for k, limits in enumerate((x_limits, y_limits))
        ]
        title, n = f"mean of {chosen.formula}", X.shape[0]
        if sample is not None and n > sample:
            if sample < 1:
                raise ValueError(f"sample={sample!r} must be at least 1, or None for all examples")
            rows = np.sort(np.random.default_rng(0).choice(n, sample, replace=False))
            X, labels, title = X[rows], labels[rows], f"{title}, {sample:,} of {n:,} examples"
        risk, zero_one = risks_over(X, labels, theta, (i, j), grid, chosen)
        names = [*(f"weight of {name}" for name in model.names), "intercept"]
        return cls(grid[0], grid[1], risk, zero_one, path, (names[i], names[j]), title).plot(ax, **drawing)

    @classmethod
    def from_function(
        cls,
        f: Callable[[FloatArray], Any],
        path: Any = None,
        *,
        x_limits: Limits = (-1.0, 1.0),
        y_limits: Limits = (-1.0, 1.0),
        resolution: int = 81,
        name: str = "f",
        labels: tuple[str, str] = ("x", "y"),
        ax: Any = None,
        **drawing: Any,
    ) -> Self:
        """Evaluate a function of two numbers and draw it, with the path of a descent.

        Parameters
        ----------
        f : callable
            Of an array of two numbers, as for `linsep.solvers.minimize`.
        path : Descent, array of shape (steps, 2), optional
            What `minimize` returned, or the iterates themselves.
        x_limits, y_limits : (float, float)
        resolution : int
        name : str
            What to call the function.
        labels : (str, str)
        ax, **drawing
            Passed to `plot`.
        """
        grid = [np.linspace(*limits, resolution) for limits in (x_limits, y_limits)]
        values = np.array([[float(f(np.array([u, v]))) for u in grid[0]] for v in grid[1]])
        history = getattr(path, "history", None)
        steps = None if path is None else np.asarray(path if history is None else history.iterates, dtype=np.float64)
        if steps is not None and (steps.ndim != 2 or steps.shape[1] != 2):
            raise ValueError(f"path has shape {steps.shape}; it needs two numbers a step: shape (steps, 2)")
        return cls(grid[0], grid[1], values, None, steps, labels, name).plot(ax, **drawing)

    def _kind(self) -> dict[str, Any]:
        return {"projection": "3d"} if self.kind == "surface" else {}

    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "contour",
        log: bool = False,
        bar: bool = True,
        title: str | None = None,
    ) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, two where there is a zero-one risk, optional
            For ``kind="surface"`` they need ``projection="3d"``.
        kind : {"contour", "surface"}
            From above, or as a landscape.
        log : bool
            Whether heights are drawn on a logarithmic scale (contour lines only): steep functions show more.
        bar : bool
            Whether a bar tells the heights of the colours (contour lines only).
        title : str, optional
        """
        if kind not in ("contour", "surface"):
            raise ValueError(f"kind={kind!r} is not possible; use 'contour' or 'surface'")
        if log and (kind == "surface" or self.values.min() <= 0):
            raise ValueError("log=True needs kind='contour' and a function that is positive everywhere in the picture")
        self.kind = kind
        panels = self._axes(ax, 1, 1 if self.zero_one is None else 2, (5.6, 4.6))
        if kind == "surface" and any(panel.name != "3d" for panel in panels):
            raise ValueError("kind='surface' draws on axes made with projection='3d'; leave ax out to have them made")
        self.path_lines_: list[Any] = []
        shown = [(self.values, self.name, log)]
        if self.zero_one is not None:
            shown.append((self.zero_one, "zero-one risk: flat almost everywhere", False))
        for panel, (values, name, logarithmic) in zip(panels, shown, strict=True):
            if kind == "surface":
                self._landscape(panel, values, name)
            else:
                self._from_above(panel, values, name, logarithmic, bar)
        if title:
            panels[0].set_title(f"{title}\n{panels[0].get_title()}", fontsize="medium")
        return self

    def _from_above(self, ax: Any, values: FloatArray, name: str, log: bool, bar: bool) -> None:
        from matplotlib.colors import LogNorm

        theme = theme_of(ax)
        steps = values is self.zero_one
        shown: Any = dict(cmap=colour_map(theme, "sequential"), shading="nearest", rasterized=True)
        shown |= dict(norm=LogNorm()) if log else {}
        picture = ax.pcolormesh(self.x, self.y, values, **shown)
        if not steps:
            levels = np.unique(np.quantile(values, np.linspace(0.01, 0.95, 12)))  # as many where it is nearly flat
            ax.contour(self.x, self.y, values, levels=levels, colors=theme.text, linewidths=0.5, alpha=0.6)
        if bar:
            ax.figure.colorbar(
                picture, ax=ax, label="zero-one risk" if steps else "risk" if self.zero_one is not None else "height"
            )
        if self.path is not None:
            self._draw_path(ax, theme)
        ax.set(xlabel=self.labels[0], ylabel=self.labels[1])
        ax.set(xlim=(self.x[0], self.x[-1]), ylim=(self.y[0], self.y[-1]))
        ax.set_title(name, fontsize="medium")

    def _draw_path(self, ax: Any, theme: Theme) -> None:
        assert self.path is not None
        edge: Any = dict(markeredgecolor=theme.background, zorder=4, linestyle="none")
        look: Any = dict(color=theme.negative, marker=".", markersize=large(5), linewidth=thick(1.4))
        (line,) = ax.plot(*self.path.T, zorder=3, **look)
        ax.plot(*self.path[0], marker="s", color=theme.text, markersize=large(8), label="start", **edge)
        ax.plot(*self.path[-1], marker="*", color=theme.negative, markersize=large(14), label="end", **edge)
        self.path_lines_.append(line)
        legend(ax, loc="best")

    def _landscape(self, ax: Any, values: FloatArray, name: str) -> None:
        from scipy.interpolate import RegularGridInterpolator

        theme = theme_of(ax)
        u, v = np.meshgrid(self.x, self.y)
        ax.plot_surface(u, v, values, cmap=colour_map(theme, "sequential"), linewidth=0, rstride=1, cstride=1)
        if self.path is not None:
            surface = RegularGridInterpolator((self.y, self.x), values, bounds_error=False, fill_value=np.nan)
            lifted = surface(self.path[:, ::-1]) + 0.01 * (values.max() - values.min())  # or it would hide the path
            line = ax.plot(*self.path.T, lifted, color=theme.negative, marker=".", markersize=4, zorder=10)[0]
            self.path_lines_.append(line)
        ax.locator_params(nbins=5)
        ax.set_xlabel(self.labels[0], labelpad=8)
        ax.set_ylabel(self.labels[1], labelpad=8)
        ax.set_title(name, fontsize="medium")


def _check_parameters(model: LinearModel, parameters: tuple[int, int]) -> tuple[int, int]:
    """Return the positions of the two parameters in θ = [w, b]."""
    d = model.coef.shape[1]
    i, j = (d if k == -1 else k for k in parameters)
    if not (0 <= i <= d and 0 <= j <= d and i != j):
        raise ValueError(
            f"parameters={parameters} must be two different numbers of features below {d}, or -1 for the intercept"
        )
    return i, j


def _path(model: LinearModel, i: int, j: int) -> FloatArray | None:
    """Return the iterates that the fit recorded, in two of their coordinates; None where it recorded none."""
    history = getattr(model.estimator, "history_", None)
    iterates = getattr(history, "iterates", np.empty((0, 0)))
    if not len(iterates):
        return None
    with_intercept = np.column_stack([iterates, np.zeros(len(iterates))])  # of zero, where the fit had none
    return with_intercept[:, [i, j]]
