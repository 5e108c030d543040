"""The replay: any iterative fit, step by step, as one HTML file, or as a GIF or MP4 for slides.

>>> import tempfile
>>> from linsep import Perceptron
>>> from linsep.replay import replay
>>> X, y = [[0.0, 0.0], [0.0, 1.0], [3.0, 2.0], [4.0, 3.0]], ["no", "no", "yes", "yes"]
>>> with tempfile.TemporaryDirectory() as folder:
...     shown = replay(Perceptron(order="cyclic"), X, y, f"{folder}/replay.html")
>>> len(shown.records), shown.records[-1].updates
(7, 4)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from .._common.atomic_file import write_atomically
from .._common.types import IntArray
from .animation import save_animation
from .film import Film, make_film
from .page import render
from .recording import record_fit

__all__ = ["Film", "check_ending", "make_film", "record_fit", "render", "replay", "save", "save_animation"]


def replay(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    path: str | os.PathLike[str] | None = None,
    *,
    steps: int | None = None,
    positive: Any = None,
    title: str | None = None,
    feature_names: Sequence[str] | None = None,
    original: tuple[ArrayLike, Sequence[str], Callable[[Any], Any]] | None = None,
    numbers: IntArray | None = None,
) -> Film:
    """Fit once more, keeping every step, and show it.

    Parameters
    ----------
    estimator : estimator, pipeline or solver
        An estimator of linsep (a copy of it is fitted), a pipeline whose last step is one, or a solver of
        `linsep.solvers`. Before the last step of a pipeline stands a feature map: of two columns, the boundary is drawn
        in their plane, curved.
    X : array, sparse matrix or DataFrame of shape (n, d)
    y : array of shape (n,)
    path : str or path, optional
        Where to: ``.html``, ``.gif`` or ``.mp4`` (the last two need matplotlib, MP4 also FFmpeg).
    steps : int, optional
        After how many steps to stop at the latest; by default 5000, fewer on large data.
    positive : label, optional
        Of more than two classes, the one to tell from the rest.
    title : str, optional
    feature_names : list of str, optional
        By default the columns of a DataFrame, else x0, x1, …
    original : (points, names, φ), optional
        Two coordinates for every row, their names, and the function that makes rows of X of such coordinates: what a
        pipeline says by itself.
    numbers : array of int of shape (n,), optional
        The row of a file that each example is of, from 0, where several are of one.

    Returns
    -------
    Film
        What is shown, in numbers.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import PolynomialFeatures
    >>> from linsep import Perceptron
    >>> X = [[0.0, 0.0], [0.5, 0.0], [0.0, -0.5], [2.0, 0.0], [0.0, 2.0], [-2.0, 0.5]]
    >>> curved = make_pipeline(PolynomialFeatures(2, include_bias=False), Perceptron(random_state=0))
    >>> replay(curved, X, [0, 0, 0, 1, 1, 1]).scene.kind
    'map'
    """
    if path is not None:
        check_ending(path)  # before a long fit
    names = _names(X, feature_names)
    if isinstance(estimator, Pipeline):
        phi, raw, estimator = estimator[:-1], X, estimator[-1]
        X = phi.fit_transform(X, y) if len(phi) else X
        if len(phi) and original is None:
            original, names = _original(raw, names, phi), _outputs(phi, names)
    elif not hasattr(X, "shape"):
        X = np.asarray(X, dtype=np.float64)
    if original is not None:
        points, axes, make = original
        original = np.asarray(points, dtype=np.float64), list(axes), make
    recording = record_fit(estimator, X, y, steps=steps, positive=positive)
    film = make_film(recording, names=names, original=original, title=title, numbers=numbers)
    if path is not None:
        save(film, path)
    return film


def save(film: Film, path: str | os.PathLike[str]) -> None:
    """Write a film as a page or an animation, by the ending of the name."""
    if check_ending(path) in (".html", ".htm"):
        write_atomically(path, render(film).encode())
    else:
        save_animation(film, path)


def check_ending(path: str | os.PathLike[str]) -> str:
    """Return the ending of a name; raise where it says nothing that a replay can be."""
    ending = Path(path).suffix.lower()
    if ending not in (".html", ".htm", ".gif", ".mp4"):
        raise ValueError(f"{path}: a replay is written as .html, .gif or .mp4; choose one of these endings")
    return ending


def _names(X: Any, said: Sequence[str] | None) -> list[str] | None:
    if said is not None:
        return [str(name) for name in said]
    return [str(name) for name in X.columns] if hasattr(X, "columns") else None


def _original(raw: Any, names: list[str] | None, phi: Any) -> tuple[Any, list[str], Callable[[Any], Any]] | None:
    """Return the plane that a pipeline's input has, where that is one of two numbers."""
    if len(np.shape(raw)) != 2 or np.shape(raw)[1] != 2 or hasattr(raw, "nnz"):
        return None
    try:
        points = np.asarray(raw, dtype=np.float64)
    except (TypeError, ValueError):  # categories or text: no plane to draw in
        return None
    columns = getattr(raw, "columns", None)

    def mapped(grid: Any) -> Any:
        """φ of points of the plane, in the kind of table that it was fitted on."""
        return phi.transform(grid if columns is None else type(raw)(dict(zip(columns, grid.T, strict=True))))

    return points, names or ["x0", "x1"], mapped


def _outputs(phi: Any, names: list[str] | None) -> list[str] | None:
    """Return the names of a feature map's features, where it knows them."""
    try:
        return [str(name) for name in phi.get_feature_names_out(names)]
    except (AttributeError, ValueError):  # it, or one of its steps, does not name what it makes
        return None
