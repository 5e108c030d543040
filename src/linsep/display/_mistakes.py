"""`MistakesDisplay`: a gallery of misclassified images, the worst first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from .._common.types import FloatArray, IntArray
from .._core import is_sparse, sound
from ..analysis.agreement import agreements
from ._canvas import Display, grid_shape, signed, theme_of
from ._model import Shape, check_shape, codes_of, read, scored


@dataclass
class MistakesDisplay(Display):
    """The images that a model gets wrong, the most wrong first.

    Parameters
    ----------
    images : array of shape (shown, height, width)
    rows : array of int
        Their row numbers in X.
    truth, answers : lists
        What they are, and what the model says.
    agreement : array
        z of each, or how far the score of the right class is below the highest; the lowest first.
    n_mistakes, n : int
        How many there are, of how many examples.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn: one panel an image.

    Examples
    --------
    >>> from linsep.display import MistakesDisplay
    >>> images = [[0.0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 1, 0]]
    >>> display = MistakesDisplay.from_predictions(images, ["a", "b", "b"], [0.5, -2.0, 3.0])
    >>> display.rows, display.truth, display.answers
    (array([1, 0]), ['b', 'a'], ['a', 'b'])
    """

    images: FloatArray
    rows: IntArray
    truth: list[Any]
    answers: list[Any]
    agreement: FloatArray
    n_mistakes: int
    n: int

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, shape: Shape = None, top: int = 12, ax: Any = None, **drawing: Any
    ) -> Self:
        """Find the examples that a fitted linear classifier gets wrong and draw the worst.

        Parameters
        ----------
        estimator : object
            Any fitted linear classifier with ``coef_``, also at the end of a pipeline.
        X, y : array of shape (n, pixels), array of shape (n,)
            Images, one a row, and their labels.
        shape : (int, int), optional
            Height and width; by default a square.
        top : int
            How many to show.
        ax : matplotlib Axes, one an image, optional
        **drawing
            Passed to `plot`.
        """
        model = read(estimator)
        scores = model.decisions(model.prepare(X))
        return cls._worst(X, y, model.classes, scores, shape, top).plot(ax, **drawing)

    @classmethod
    def from_predictions(
        cls,
        X: Any,
        y: ArrayLike,
        scores: ArrayLike,
        *,
        shape: Shape = None,
        top: int = 12,
        ax: Any = None,
        **drawing: Any,
    ) -> Self:
        """Draw the worst mistakes by what ``decision_function`` said.

        Parameters
        ----------
        X, y : array of shape (n, pixels), array of shape (n,)
        scores : array of shape (n,), or (n, classes) with more than two
            One column for each class in the order of their labels; all classes must be in y.
        shape, top, ax, **drawing
            As for `from_estimator`.
        """
        classes, table = scored(y, scores)
        return cls._worst(X, y, classes, table, shape, top).plot(ax, **drawing)

    @classmethod
    def _worst(cls, X: Any, y: ArrayLike, classes: NDArray[Any], scores: FloatArray, shape: Shape, top: int) -> Self:
        if top < 1:
            raise ValueError(f"top={top!r} must be at least 1")
        X = check_array(sound(X), accept_sparse="csr", dtype=np.float64, input_name="X")
        codes = codes_of(classes, y, X.shape[0])
        if len(scores) != len(codes):
            raise ValueError(f"scores has {len(scores)} rows, X has {len(codes)}; give the scores of each row of X")
        size = check_shape(shape, X.shape[1])
        answers = (scores[:, 0] > 0).astype(np.int64) if scores.shape[1] == 1 else scores.argmax(axis=1)
        z = agreements(scores, codes)
        wrong = np.flatnonzero(answers != codes)
        shown = wrong[np.argsort(z[wrong], kind="stable")][:top]
        pixels = X[shown].toarray() if is_sparse(X) else X[shown]
        truth, said = classes[codes[shown]].tolist(), classes[answers[shown]].tolist()
        return cls(pixels.reshape(-1, *size), shown, truth, said, z[shown], len(wrong), len(codes))

    def plot(self, ax: Any = None, *, columns: int = 6, title: str | None = None) -> Self:
        """Draw them, so many beside each other."""
        count = max(1, len(self.images))
        panels = self._axes(ax, *grid_shape(count, columns), (1.6, 2.1) if len(self.images) else (4.0, 2.0), count)
        if not len(self.images):
            panels[0].text(0.5, 0.5, f"no mistakes among {self.n} examples", ha="center", va="center", wrap=True)
            panels[0].set_axis_off()
            return self
        self._draw(panels)
        heading = f"{self.n_mistakes} of {self.n} misclassified; the worst {len(self.images)}"
        heading = heading if self.n_mistakes > len(self.images) else f"{self.n_mistakes} of {self.n} misclassified"
        words = f"{title}: {heading}" if title else f"{heading}, worst first"
        self.figure_.suptitle(words, fontsize="medium").set_parse_math(False)
        return self

    def _draw(self, panels: list[Any]) -> None:
        shades = "gray_r" if theme_of(panels[0]).name == "light" else "gray"
        low, high = float(self.images.min()), float(self.images.max())
        for k, panel in enumerate(panels):
            panel.imshow(self.images[k], cmap=shades, vmin=low, vmax=high)
            panel.set(xticks=[], yticks=[])
            panel.spines[:].set_visible(True)  # a frame, whatever the style
            panel.set_title(f"{self.truth[k]} taken for {self.answers[k]}", fontsize="small")
            panel.set_xlabel(f"row {self.rows[k]}, z = {signed(self.agreement[k])}", fontsize="small")
