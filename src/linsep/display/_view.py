"""Two-dimensional views of many features: which coordinates to draw, and lines and half-planes clipped to a box."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._common.types import BoolArray, FloatArray
from ..analysis.plane_view import PlaneView, plane_view
from ._model import LinearModel

#: The two lower limits and the two upper ones.
Box = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class View:
    """Two coordinates of a point, what they are called, and in what the picture simplifies, if it does."""

    plane: PlaneView
    labels: tuple[str, str]
    note: str = ""


def look_at_plane(model: LinearModel, k: int, X: Any) -> View:
    """Return the two features as they are; of more, the distance from plane k and the largest remaining spread.

    In the second case nothing is simplified: the plane is the line t₁ = 0 and every point keeps its distance from it.
    """
    w, b = model.coef[k], float(model.intercept[k])
    if len(w) == 2:
        return View(plane_view(X, w, b), (model.names[0], model.names[1]))
    if not w.any():
        raise ValueError(
            "all weights are zero: there is no plane to draw; fit with a larger C, or look at other features"
        )
    return View(
        plane_view(X, w, b), ("signed distance from the plane, g(x)/‖w‖", "direction of largest remaining spread")
    )


def look_at_all(model: LinearModel, X: Any) -> View:
    """Return the two features as they are; of more, the plane in which the classes' weights differ most.

    The differences of the weights of three classes lie in one plane, so that all borders are as they are; of more
    classes the regions are those of points whose other coordinates are those of the mean.
    """
    if model.coef.shape[1] == 2:
        return look_at_plane(model, 0, X)
    _, _, rows = np.linalg.svd(model.coef - model.coef.mean(axis=0))
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    note = "" if len(model.coef) == 3 else "borders as they are through the mean of the data"
    labels = ("first direction of the weights", "second direction of the weights")
    return View(PlaneView(mean, rows[0], rows[1]), labels, note)


def frame(ax: Any, box: Box, labels: tuple[str, str]) -> None:
    """Let axes show the box, and say what its sides are."""
    ax.set(xlim=(box[0][0], box[1][0]), ylim=(box[0][1], box[1][1]), xlabel=labels[0], ylabel=labels[1])


# -- lines and half-planes in a box -------------------------------------------------------------------------------


def box_around(points: FloatArray) -> Box:
    """Return the limits of a picture of these points, with some air."""
    low, high = points.min(axis=0), points.max(axis=0)
    air = np.where(high > low, 0.08 * (high - low), 1.0)
    return low - air, high + air


def clip_line(a: FloatArray, c: float, box: Box) -> FloatArray:
    """Return the two ends, in the box, of the line a·t + c = 0; no rows where it does not pass through."""
    _, crosses, crossings = _around(_corners(box), a, c)
    crossings = crossings[crosses]
    if len(crossings) < 2:
        return np.empty((0, 2))
    along = crossings @ np.array([-a[1], a[0]])
    return crossings[[int(along.argmin()), int(along.argmax())]]


def _corners(box: Box) -> FloatArray:
    (x0, y0), (x1, y1) = box
    return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])


def _around(polygon: FloatArray, a: FloatArray, c: float) -> tuple[BoolArray, BoolArray, FloatArray]:
    """Return which corners have a·t + c ≥ 0, after which of them the border crosses a·t + c = 0, and where."""
    g = polygon @ a + c
    g_next, following = np.roll(g, -1), np.roll(polygon, -1, axis=0)
    crosses = (g >= 0) != (g_next >= 0)
    share = np.divide(g, g - g_next, out=np.zeros_like(g), where=crosses)
    return g >= 0, crosses, polygon + share[:, None] * (following - polygon)


def _clip_polygon(polygon: FloatArray, a: FloatArray, c: float) -> FloatArray:
    """Return the part of a convex polygon where a·t + c ≥ 0 (Sutherland and Hodgman)."""
    inside, crosses, crossings = _around(polygon, a, c)
    return np.hstack([polygon, crossings]).reshape(-1, 2)[np.column_stack([inside, crosses]).ravel()]


def regions(A: FloatArray, c: FloatArray, box: Box) -> list[FloatArray]:
    """Return for each class the polygon, in the box, where it is predicted: first the negative one, of one plane."""
    if len(A) == 1:
        return [_clip_polygon(_corners(box), sign * A[0], float(sign * c[0])) for sign in (-1.0, 1.0)]
    found = []
    for k in range(len(A)):
        polygon = _corners(box)
        for other in range(len(A)):
            if other != k and len(polygon):
                polygon = _clip_polygon(polygon, A[k] - A[other], float(c[k] - c[other]))
        found.append(polygon)
    return found


def borders(A: FloatArray, c: FloatArray, box: Box) -> list[FloatArray]:
    """Return the segments, in the box, on which the prediction changes."""
    if len(A) == 1:
        segments = [clip_line(A[0], float(c[0]), box)]
    else:
        segments = [_border(A, c, i, j, box) for i in range(len(A)) for j in range(i + 1, len(A))]
    return [segment for segment in segments if len(segment) == 2]


def _border(A: FloatArray, c: FloatArray, i: int, j: int, box: Box) -> FloatArray:
    """Return the part of the line g_i = g_j on which no other class scores higher."""
    segment = clip_line(A[i] - A[j], float(c[i] - c[j]), box)
    if len(segment) < 2:
        return segment
    start, end, step = 0.0, 1.0, segment[1] - segment[0]
    for k in set(range(len(A))) - {i, j}:
        ahead = float((A[i] - A[k]) @ segment[0] + c[i] - c[k])
        slope = float((A[i] - A[k]) @ step)
        if slope > 0:
            start = max(start, -ahead / slope)
        elif slope < 0:
            end = min(end, -ahead / slope)
        elif ahead < 0:
            return np.empty((0, 2))
    return segment[0] + np.outer([start, end], step) if start < end else np.empty((0, 2))
