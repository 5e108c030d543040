"""`WeightsDisplay` and `WeightImageDisplay`: the coefficients of a model, as bars or as an image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._common.types import FloatArray
from .._common.words import cut
from ..arithmetic.moments import deviations
from ..palette import full_strength
from ._canvas import Display, colour_map, grid_shape, signed, theme_of
from ._model import LinearModel, Shape, check_shape, read


def _planes(model: LinearModel, target: Any) -> list[int]:
    """Return which planes to show: all, or that of one class."""
    return list(range(len(model.coef))) if target is None else [model.plane(target)]


@dataclass
class WeightsDisplay(Display):
    """The weights of a model by feature: ``|w_j|`` is the importance, the sign the direction.

    Weights of features on different scales do not compare; given data, each is multiplied by its feature's spread.

    Parameters
    ----------
    names : list of list of str
        Of the features shown, for each plane, the most important first.
    weights : list of array
        In the same order.
    titles : list of str
        What the signs mean.
    scaled : bool
        Whether the weights were multiplied by the standard deviation of their features.
    left_out : list of int
        How many features are not shown.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn: one panel a plane.
    bars_ : list of BarContainer

    Examples
    --------
    >>> from linsep import LogisticRegression
    >>> from linsep.display import WeightsDisplay
    >>> model = LogisticRegression().fit([[0, 5], [1, 4], [3, 6], [4, 5]], ["no", "no", "yes", "yes"])
    >>> display = WeightsDisplay.from_estimator(model, feature_names=["age", "height"])
    >>> display.names, display.titles
    ([['age', 'height']], ['speaks for yes (+) or no (−)'])
    """

    names: list[list[str]]
    weights: list[FloatArray]
    titles: list[str]
    scaled: bool = False
    left_out: list[int] | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        top: int = 20,
        target: Any = None,
        feature_names: ArrayLike | None = None,
        ax: Any = None,
        **drawing: Any,
    ) -> Self:
        """Read the weights of a fitted linear classifier and draw the largest.

        Parameters
        ----------
        estimator : object
            Any fitted linear classifier with ``coef_``, also at the end of a pipeline.
        X : array of shape (n, d), optional
            If given, each weight is multiplied by the standard deviation of its feature: what one typical change does.
        top : int
            How many features to show.
        target : label, optional
            With more than two classes: show only the plane of this one. By default there is a panel for each.
        feature_names : list of str, optional
            By default those that the fit saw, else x0, x1, …
        ax : matplotlib Axes, one a plane, optional
        **drawing
            Passed to `plot`.
        """
        if top < 1:
            raise ValueError(f"top={top!r} must be at least 1")
        model = read(estimator, feature_names)
        scale = np.ones(model.coef.shape[1]) if X is None else deviations(model.prepare(X))
        planes = _planes(model, target)
        weights = [model.coef[k] * scale for k in planes]
        ranked = [np.argsort(-np.abs(w), kind="stable")[:top] for w in weights]
        return cls(
            [[model.names[j] for j in chosen] for chosen in ranked],
            [w[chosen] for w, chosen in zip(weights, ranked, strict=True)],
            [f"speaks for {model.sides(k)}" for k in planes],
            X is not None,
            [len(scale) - len(chosen) for chosen in ranked],
        ).plot(ax, **drawing)

    def plot(self, ax: Any = None, *, title: str | None = None) -> Self:
        """Draw them, the most important on top."""
        longest = max(len(names) for names in self.names)
        panels = self._axes(ax, *grid_shape(len(self.names), 3), (6.0, 1.3 + 0.28 * longest), len(self.names))
        self.bars_: list[Any] = []
        for k, panel in enumerate(panels):
            self._draw(panel, k)
        if title:
            panels[0].set_title(f"{title}\n{panels[0].get_title()}", fontsize="medium")
        return self

    def _draw(self, ax: Any, k: int) -> None:
        theme, weights = theme_of(ax), self.weights[k]
        colours = [theme.positive if weight >= 0 else theme.negative for weight in weights]
        place = np.arange(len(weights))[::-1]
        bars = ax.barh(place, weights, color=colours, height=0.72)
        ax.bar_label(bars, [signed(weight) for weight in weights], padding=3, fontsize="small", color=theme.muted)
        # Bars keep their room, and a dollar sign in a column's name is no formula.
        ax.set_yticks(place, [cut(name).replace("$", r"\$") for name in self.names[k]], fontsize="small")
        ax.axvline(0.0, color=theme.text, linewidth=0.8)
        ax.margins(x=0.18)
        ax.set_xlabel("weight × standard deviation" if self.scaled else "weight")
        hidden = 0 if self.left_out is None else self.left_out[k]
        ax.set_title(self.titles[k] + (f"\n{hidden} smaller ones not shown" if hidden else ""), fontsize="medium")
        self.bars_.append(bars)


@dataclass
class WeightImageDisplay(Display):
    """The weights of a model of images, drawn as an image: which pixels speak for which class.

    Parameters
    ----------
    images : list of array of shape (height, width)
        The weights of each plane.
    titles : list of str
        What the signs mean.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn: one panel a plane.
    images_ : list of AxesImage

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from linsep import Perceptron
    >>> from linsep.display import WeightImageDisplay
    >>> digits = load_digits(n_class=2)
    >>> display = WeightImageDisplay.from_estimator(Perceptron(random_state=0).fit(digits.data, digits.target))
    >>> display.images[0].shape
    (8, 8)
    """

    images: list[FloatArray]
    titles: list[str]

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, shape: Shape = None, target: Any = None, ax: Any = None, **drawing: Any
    ) -> Self:
        """Read the weights of a fitted linear classifier and draw them as images.

        Parameters
        ----------
        estimator : object
            Any fitted linear classifier with ``coef_``, whose features are pixels.
        shape : (int, int), optional
            Height and width; by default a square.
        target : label, optional
            With more than two classes: show only the plane of this one. By default there is a panel for each.
        ax : matplotlib Axes, one a plane, optional
        **drawing
            Passed to `plot`.
        """
        model = read(estimator)
        height, width = check_shape(shape, model.coef.shape[1])
        planes = _planes(model, target)
        images = [model.coef[k].reshape(height, width) for k in planes]
        return cls(images, [f"speaks for {model.sides(k)}" for k in planes]).plot(ax, **drawing)

    def plot(self, ax: Any = None, *, title: str | None = None) -> Self:
        """Draw them on one scale, on which zero is neutral; it ends in an arrow where a few weights tower above it."""
        many = len(self.images) > 1
        size = (2.4, 2.7) if many else (5.0, 4.2)
        panels = self._axes(ax, *grid_shape(len(self.images), 5), size, len(self.images))
        largest = max(float(np.abs(image).max()) for image in self.images)
        strongest = full_strength(np.stack(self.images))
        self.images_ = []
        for panel, image, said in zip(panels, self.images, self.titles, strict=True):
            shades = colour_map(theme_of(panel), "diverging")
            self.images_.append(panel.imshow(image, cmap=shades, vmin=-strongest, vmax=strongest))
            panel.set(xticks=[], yticks=[])
            panel.spines[:].set_visible(True)  # a frame, whatever the style
            panel.set_title(said.replace(" or ", "\nor ") if many else said, fontsize="small" if many else "medium")
        beyond: Any = "both" if largest > strongest else "neither"
        self.figure_.colorbar(self.images_[0], ax=panels, label="weight", shrink=0.8, extend=beyond)
        if title:
            panels[0].set_title(f"{title}\n{panels[0].get_title()}", fontsize="medium")
        return self
