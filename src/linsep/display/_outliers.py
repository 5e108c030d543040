"""`OutlierDisplay`: boundaries without and with some extra points, in one picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_array

from .. import palette
from .._common.types import FloatArray, IntArray
from .._core import is_sparse
from ..estimators import LeastSquaresClassifier, LogisticRegression
from ..geometry import side
from ..palette import Theme
from ._canvas import Display, dashes, large, legend, line_look, pyplot, scatter_classes, theme_of, thick
from ._model import LinearModel, check_points, codes_of, read
from ._view import box_around, clip_line, frame


@dataclass
class OutlierDisplay(Display):
    """What extra points do to the boundaries of models: very correct ones hurt least squares, not logistic regression.

    Parameters
    ----------
    points, codes : arrays of shape (n, 2) and (n,)
        All examples, the extra ones last, and their classes as positions in `classes`.
    n_extra : int
        How many are extra.
    classes : list
    without, with_extra : dict of str to array of shape (3,)
        For each model (w₁, w₂, b) of its plane, fitted on the first examples and on all.
    labels : (str, str)
        Of the axes.
    losses : list of str, optional
        Of each model, so that a loss has the same colour in every picture.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    lines_ : list of dict of str to Line2D
        The boundaries, without the extra points (dashed) and with them.

    Examples
    --------
    >>> from linsep.display import OutlierDisplay
    >>> X, y = [[0, 0], [1, 0], [0, 3], [1, 3], [0, 4]], [0, 0, 1, 1, 1]
    >>> display = OutlierDisplay.from_data(X, y, [[12, 9]], [1])
    >>> display.turned["least squares"] > 10 * display.turned["logistic"]
    True
    """

    points: FloatArray
    codes: IntArray
    n_extra: int
    classes: list[Any]
    without: dict[str, FloatArray]
    with_extra: dict[str, FloatArray]
    labels: tuple[str, str] = ("x0", "x1")
    losses: list[str] | None = None

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: ArrayLike,
        extra_X: Any,
        extra_y: ArrayLike,
        *,
        estimators: Mapping[str, Any] | None = None,
        ax: Any = None,
        **drawing: Any,
    ) -> Self:
        """Fit models on examples, then on these and some extra ones, and draw both.

        Parameters
        ----------
        X, y : array of shape (n, 2), array of shape (n,)
            Examples of two classes.
        extra_X, extra_y : array of shape (m, 2), array of shape (m,)
            What comes on top.
        estimators : dict of str to estimator, optional
            Linear classifiers by what the legend says, copied before they are fitted; by default least squares and
            logistic regression.
        ax, **drawing
            Passed to `plot`.
        """
        pyplot()
        names = getattr(X, "columns", ["x0", "x1"])
        first, extra = (_dense(part, name) for part, name in ((X, "X"), (extra_X, "extra_X")))
        if first.shape[1] != 2 or extra.shape[1] != 2:
            raise ValueError(
                f"X has {first.shape[1]} columns and extra_X {extra.shape[1]}; this picture is of two: choose them"
            )
        points = np.vstack([first, extra])
        classes = np.unique(check_array(y, ensure_2d=False, dtype=None, input_name="y"))
        if len(classes) != 2:
            raise ValueError(f"y has {len(classes)} classes; this picture is of two: leave the rows of others out")
        parts = codes_of(classes, y, len(first)), codes_of(classes, extra_y, len(extra), "extra_y")
        codes = np.concatenate(parts)
        labels = classes[codes]
        if estimators is None:
            estimators = {"least squares": LeastSquaresClassifier(), "logistic": LogisticRegression()}
        before = {name: _fitted(model, first, labels[: len(first)]) for name, model in estimators.items()}
        without = {name: _plane(model) for name, model in before.items()}
        with_extra = {name: _plane(_fitted(model, points, labels)) for name, model in estimators.items()}
        said, named = (str(names[0]), str(names[1])), [getattr(model.loss, "name", "") for model in before.values()]
        return cls(points, codes, len(extra), classes.tolist(), without, with_extra, said, named).plot(ax, **drawing)

    @property
    def turned(self) -> dict[str, float]:
        """By how many degrees each boundary turned when the extra points came."""
        return {name: _angle(plane[:2], self.with_extra[name][:2]) for name, plane in self.without.items()}

    @property
    def mistakes(self) -> dict[str, tuple[int, int]]:
        """How many of the first examples each model gets wrong, without the extra points and with them."""
        first = slice(0, len(self.points) - self.n_extra)
        y = np.where(self.codes[first] == 1, 1.0, -1.0)

        def wrong(plane: FloatArray) -> int:
            return int((y != side(self.points[first], plane[:2], plane[2])).sum())

        return {name: (wrong(plane), wrong(self.with_extra[name])) for name, plane in self.without.items()}

    def plot(self, ax: Any = None, *, title: str | None = None) -> Self:
        """Draw all of it in one panel: each boundary without the extra points, dashed, and with them."""
        (ax,) = self._axes(ax, size=(7.4, 5.6))
        theme, box = theme_of(ax), box_around(self.points)
        self._draw_points(ax, theme)
        places = palette.loss_places(self.losses or list(self.without))
        start, dash = dashes(1)
        self.lines_: list[dict[str, Any]] = [{}, {}]
        for number, (place, (name, counts)) in enumerate(zip(places, self.mistakes.items(), strict=True)):
            # Dashes lie above the lines, and where two boundaries are the same in each other's gaps.
            dashed = (start + sum(dash) * number / len(self.without), dash)
            for k, (planes, words) in enumerate(((self.without, "without"), (self.with_extra, "with"))):
                segment = clip_line(planes[name][:2], float(planes[name][2]), box)
                look = line_look(theme, place, 2.2) | dict(linestyle="-" if k else dashed, zorder=2.5 - 0.5 * k)
                label = f"{name} {words}: {counts[k]} mistake{'s' * (counts[k] != 1)}"
                self.lines_[k][name] = ax.plot(*segment.T, label=label, **look)[0]
        frame(ax, box, self.labels)
        ax.set_title(title or "", fontsize="medium")
        legend(ax, "beside", handlelength=3.2)
        return self

    def _draw_points(self, ax: Any, theme: Theme) -> None:
        """Draw the examples by class, and rings around those that came on top."""
        scatter_classes(ax, self.points, self.codes, self.classes, large(5.5) ** 2, linewidths=0.5)
        ring: Any = dict(facecolors="none", edgecolors=theme.text, linewidths=thick(1.0))
        extra = self.points[len(self.points) - self.n_extra :]
        label = f"{self.n_extra} extra point{'s' * (self.n_extra > 1)}"
        ax.scatter(*extra.T, s=large(10) ** 2, label=label, **ring)


def _dense(X: Any, name: str) -> FloatArray:
    X = check_points(X, name)
    return np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)


def _fitted(estimator: Any, X: FloatArray, y: NDArray[Any]) -> LinearModel:
    return read(clone(estimator).fit(X, y))


def _plane(model: LinearModel) -> FloatArray:
    return np.append(model.coef[0], model.intercept[0])


def _angle(one: FloatArray, other: FloatArray) -> float:
    cosine = float(one @ other) / float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))
