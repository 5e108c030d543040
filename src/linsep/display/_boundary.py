"""`BoundaryDisplay`: points, the plane between them, its margins, support vectors and slacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._common.types import FloatArray, IntArray
from ..palette import Theme
from ._canvas import Display, class_colour, dashes, large, legend, scatter_classes, theme_of, thick
from ._model import LinearModel, codes_of, read
from ._view import Box, borders, box_around, clip_line, frame, look_at_all, look_at_plane, regions

#: An example this near z = 1 is taken to lie on the margin, where nobody kept the dual variables.
ON_MARGIN = 1e-3


@dataclass
class BoundaryDisplay(Display):
    """The decision boundary of a linear classifier among examples.

    Two features are drawn as they are. Of more, the picture shows the distance from the plane against the direction,
    perpendicular to the plane's normal, along which the examples vary most: distances from the plane are true to scale.

    Parameters
    ----------
    points : array of shape (n, 2)
        The examples as drawn.
    codes : array of int
        The class of each, as a position in `classes`.
    classes : list
        What the legend calls them.
    normals, offsets : arrays of shape (planes, 2) and (planes,)
        ``g_k = normals_k · t + offsets_k`` at the point t of the picture.
    labels : (str, str)
        Of the axes.
    support : array of int or None
        Which examples are support vectors; None where margins mean nothing to the model.
    slack : array or None
        ``ξ = max(0, 1 − z)`` of every example.
    as_it_is : bool
        Whether the axes are the features themselves.
    note : str
        In what the picture simplifies.
    cut : float
        The score from which on the second of two classes is predicted.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    boundary_ : list of Line2D
        The lines where the prediction changes: one between two classes.
    margin_lines_ : list of Line2D
        g = −1 and g = +1.
    support_marks_, slack_lines_
        The rings around support vectors; a segment of length ξ/‖w‖ from each example to its margin; or None.

    Examples
    --------
    >>> from linsep import LinearSVC
    >>> from linsep.display import BoundaryDisplay
    >>> X, y = [[0, 0], [0, 1], [1, 0], [3, 2], [4, 3], [3, 3]], [0, 0, 0, 1, 1, 1]
    >>> display = BoundaryDisplay.from_estimator(LinearSVC(C=10).fit(X, y), X, y)
    >>> len(display.support), len(display.margin_lines_)
    (2, 2)
    """

    points: FloatArray
    codes: IntArray
    classes: list[Any]
    normals: FloatArray
    offsets: FloatArray
    labels: tuple[str, str] = ("x0", "x1")
    support: IntArray | None = None
    slack: FloatArray | None = None
    as_it_is: bool = True
    note: str = ""
    cut: float = 0.0

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        target: Any = None,
        margins: bool | str = "auto",
        feature_names: ArrayLike | None = None,
        ax: Any = None,
        **drawing: Any,
    ) -> Self:
        """Compute the picture of a fitted linear classifier and draw it.

        Parameters
        ----------
        estimator : object
            Any fitted linear classifier with ``coef_``, also at the end of a pipeline.
        X, y : array of shape (n, d), array of shape (n,)
            Examples and their labels; support vectors are the model's own if these are what it was fitted on.
        target : label, optional
            With more than two classes: look at the plane of this one against the rest. By default all regions.
        margins : bool or "auto"
            Whether to draw margins, support vectors and slacks; ``"auto"`` for models with a margin (hinge losses).
        feature_names : list of str, optional
        ax, **drawing
            Passed to `plot`.
        """
        model = read(estimator, feature_names)
        if model.coef.shape[1] < 2:
            raise ValueError(
                "the model has one feature, and its boundary is a point; use MarginHistogramDisplay, "
                "which shows how far examples are from it"
            )
        X = model.prepare(X)
        codes = codes_of(model.classes, y, X.shape[0])
        classes, support, slack = model.classes.tolist(), None, None
        if not model.binary and target is None:
            if margins is True:
                raise ValueError("margins=True needs one plane; name a class with target=… to see it against the rest")
            view, shown = look_at_all(model, X), slice(None)
        else:
            k = model.plane(target)
            view, shown = look_at_plane(model, k, X), slice(k, k + 1)
            if not model.binary:
                codes, classes = (codes == k).astype(np.int64), ["the rest", classes[k]]
            # g(x) = ±1 means something to a model with support vectors, or a loss that ends there.
            has_margin = hasattr(model.estimator, "support_") or (model.loss is not None and model.loss.margin)
            with_margins = has_margin if margins == "auto" else margins
            if with_margins:
                z = np.where(codes == 1, 1.0, -1.0) * model.scores(X)[:, k]
                support, slack = _support(model, k, X, z), np.maximum(0.0, 1.0 - z)
        points, planes = view.plane.project(X), view.plane.planes(model.coef[shown], model.intercept[shown])
        looks: dict[str, Any] = dict(as_it_is=view.plane.identity, note=view.note, cut=model.cut)
        return cls(points, codes, classes, *planes, view.labels, support, slack, **looks).plot(ax, **drawing)

    def plot(
        self,
        ax: Any = None,
        *,
        shade: bool = True,
        slacks: bool = True,
        normal: bool = False,
        key: bool = True,
        title: str | None = None,
        x_limits: tuple[float, float] | None = None,
        y_limits: tuple[float, float] | None = None,
    ) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        shade : bool
            Whether to tint the regions of the classes.
        slacks : bool
            Whether to draw the segments from examples to their margin.
        normal : bool
            Whether to draw the plane's normal vector and, where it is in the picture, its distance from the origin.
        key : bool
            Whether to draw a legend.
        title : str, optional
        x_limits, y_limits : (float, float), optional
            From where to where the picture goes; by default a little beyond the examples.
        """
        box = self._box(x_limits, y_limits)
        (ax,) = self._axes(ax)
        theme = theme_of(ax)
        if shade:
            self._shade(ax, theme, box)
        self._draw_boundary(ax, theme, box)
        self._draw_slacks(ax, theme, slacks)
        scatter_classes(ax, self.points, self.codes, self.classes, self._size(), linewidths=0.6, zorder=3)
        self._draw_support(ax, theme)
        if normal:
            self._draw_normal(ax, theme, box)
        frame(ax, box, self.labels)
        width, height = box[1] - box[0]
        if 1 / 3 <= width / height <= 3:
            ax.set_aspect("equal")  # so that the normal looks perpendicular
        absent = "" if self.boundary_ else "the boundary is outside the picture"
        ax.set_title("\n".join(filter(None, [title, self.note, absent])), fontsize="medium")
        if key:
            legend(ax, "beside")
        return self

    def _box(self, x_limits: tuple[float, float] | None, y_limits: tuple[float, float] | None) -> Box:
        around = np.array(box_around(self.points))
        for k, (name, limits) in enumerate({"x_limits": x_limits, "y_limits": y_limits}.items()):
            if limits is not None:
                if not limits[0] < limits[1]:
                    raise ValueError(f"{name}={limits!r} must be two numbers, the smaller one first")
                around[:, k] = limits
        return around[0], around[1]

    def _shade(self, ax: Any, theme: Theme, box: Box) -> None:
        for k, polygon in enumerate(regions(self.normals, self.offsets - self.cut, box)):
            if len(polygon):
                colour = class_colour(theme, k, len(self.classes))
                ax.fill(*polygon.T, color=colour, alpha=0.12, linewidth=0, zorder=0)

    def _draw_boundary(self, ax: Any, theme: Theme, box: Box) -> None:
        label = f"g(x) = {self.cut:.4g}" if len(self.normals) == 1 else "border"
        segments = borders(self.normals, self.offsets - self.cut, box)
        self.boundary_ = _draw_segments(ax, segments, label, color=theme.text, linewidth=thick(1.8))
        levels = () if self.slack is None else (-1.0, 1.0)
        margins = [clip_line(self.normals[0], float(self.offsets[0]) - level, box) for level in levels]
        look: Any = dict(color=theme.text, linewidth=thick(1.1), linestyle=dashes(1))
        self.margin_lines_ = _draw_segments(ax, margins, "g(x) = ±1", **look)

    def _draw_slacks(self, ax: Any, theme: Theme, wanted: bool) -> None:
        from matplotlib.collections import LineCollection

        self.slack_lines_ = None
        if self.slack is None or not wanted:
            return
        short = np.flatnonzero(self.slack > ON_MARGIN)
        if not len(short):
            return
        a = self.normals[0]
        y = np.where(self.codes[short] == 1, 1.0, -1.0)
        ends = self.points[short] + np.outer(y * self.slack[short], a / (a @ a))
        segments = np.stack([self.points[short], ends], axis=1)
        look: Any = dict(colors=theme.muted, linewidths=thick(1.2), linestyles="dotted")
        self.slack_lines_ = LineCollection(list(segments), zorder=2.5, label="slack, ξ/‖w‖", **look)
        ax.add_collection(self.slack_lines_)

    def _size(self) -> float:
        """Return how large a point is drawn: where they are many, smaller."""
        return large(5.8 if len(self.points) <= 300 else 3.7) ** 2

    def _draw_support(self, ax: Any, theme: Theme) -> None:
        self.support_marks_ = None
        if self.support is not None and len(self.support):
            look: Any = dict(facecolors="none", edgecolors=theme.text, linewidths=thick(1.2))
            label = f"support vector ({len(self.support)})"
            place = self.points[self.support].T
            self.support_marks_ = ax.scatter(*place, s=3 * self._size(), label=label, zorder=4, **look)

    def _draw_normal(self, ax: Any, theme: Theme, box: Box) -> None:
        """Draw w from the boundary, and how far the boundary is from the origin: |b|/‖w‖."""
        from matplotlib.patheffects import withStroke

        if len(self.normals) != 1:
            raise ValueError("normal=True needs one plane; name a class with target=… to see it against the rest")
        a, c = self.normals[0], float(self.offsets[0]) - self.cut
        self._draw_distance(ax, theme, a, c, box)
        segment = clip_line(a, c, box)
        if not len(segment):
            return
        begin = segment.mean(axis=0)
        end = begin + 0.2 * float(np.linalg.norm(box[1] - box[0])) * a / np.linalg.norm(a)
        arrow: Any = dict(arrowstyle="-|>", color=theme.text, linewidth=thick(1.6), shrinkA=0, shrinkB=0)
        ax.annotate("", end, begin, arrowprops=arrow, zorder=5)
        name = ax.annotate("w", end, textcoords="offset points", xytext=(5, 5), weight="bold", zorder=5)
        name.set(color=theme.text, path_effects=[withStroke(linewidth=thick(3), foreground=theme.background)])

    def _draw_distance(self, ax: Any, theme: Theme, a: FloatArray, c: float, box: Box) -> None:
        foot = -c * a / (a @ a)
        inside = all((box[0] <= p).all() and (p <= box[1]).all() for p in (foot, np.zeros(2)))
        if not (self.as_it_is and inside and c):
            return
        self.distance_line_ = ax.plot(*np.array([[0, 0], foot]).T, color=theme.muted, linestyle=dashes(2), zorder=4)[0]
        ax.plot(0, 0, marker="+", markersize=11, color=theme.text, zorder=4)
        text = f"{'|b − cut|' if self.cut else '|b|'}/‖w‖ = {np.linalg.norm(foot):.3g}"
        look: Any = dict(boxstyle="round,pad=0.15", facecolor=theme.background, edgecolor="none", alpha=0.85)
        ax.annotate(
            text, foot / 2, textcoords="offset points", xytext=(6, -10), color=theme.text, fontsize="small", bbox=look
        )


def _draw_segments(ax: Any, segments: list[FloatArray], label: str, **look: Any) -> list[Any]:
    """Draw segments that share one entry of the legend; some may not be in the picture."""
    drawn = [ax.plot(*segment.T, zorder=2, **look)[0] for segment in segments if len(segment)]
    for first in drawn[:1]:
        first.set_label(label)
    return drawn


def _support(model: LinearModel, k: int, X: Any, z: FloatArray) -> IntArray:
    """Return the support vectors of plane k: the model's own on its own data, else the examples up to the margin."""
    kept = getattr(model.estimator, "support_", None)
    if kept is not None:
        vectors = model.estimator.support_vectors_
        if isinstance(kept, list):
            kept, vectors = kept[k], vectors[k]
        elif not model.binary:
            held = np.asarray(model.estimator.dual_coef_)[k] != 0
            kept, vectors = kept[held], vectors[held]
        if len(kept) and max(kept) < X.shape[0] and abs(X[kept] - vectors).max() == 0:
            return np.asarray(kept, dtype=np.int64)
    return np.flatnonzero(z <= 1 + ON_MARGIN)
