"""How good a model is on rows with labels: thresholds, calibration, margins and the worst mistakes, in numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import BoolArray, FloatArray, IntArray
from ..analysis.agreement import agreements, edges_around_zero
from ..analysis.evaluation import codes_of, decide
from .records import Bin, Curve, Histogram, Mistake

#: From the number of a row to its cells by name.
Cells = Callable[[int], Mapping[str, Any]]

#: How many mistakes are shown, and how many cells of each row.
MISTAKES, CELLS = 10, 12
#: Points of a curve, bars of a histogram, bins of a calibration.
POINTS, BARS, BINS = 200, 30, 10


def distances(model: Any, X: Any, codes: IntArray, threshold: float | None) -> tuple[FloatArray, IntArray]:
    """Return how far each row is on its own side, and what is said of it.

    With two classes that is y (g(x) − t)/‖w‖ for the threshold t, the distance from the plane; with more, the score of
    the row's class minus the highest other one.
    """
    said = codes_of(decide(model, X, threshold), model.classes_)
    scores = np.asarray(model.decision_function(X))
    if scores.ndim > 1:
        return agreements(scores, codes), said
    return agreements(scores - (threshold or 0.0), codes) / (float(np.linalg.norm(model.coef_)) or 1.0), said


# -- thresholds and probabilities -------------------------------------------------------------------------------------


def curve(model: Any, X: Any, codes: IntArray, threshold: float | None) -> Curve | None:
    """Return accuracy, precision and recall at the thresholds that change them, thinned to what a picture shows."""
    if len(model.classes_) != 2:
        return None
    score = np.asarray(model.decision_function(X))
    order = np.argsort(score, kind="stable")
    places = np.unique(np.linspace(0, len(order) - 1, POINTS).astype(np.int64))
    thresholds = np.unique(score[order[places]])
    chosen = threshold or 0.0
    measured = _at_thresholds(score[order], codes[order] == 1, np.append(thresholds, chosen))
    shown = {name: values[:-1] for name, values in measured.items()}
    return Curve(thresholds, shown, chosen, {name: float(values[-1]) for name, values in measured.items()})


def _at_thresholds(score: FloatArray, positive: BoolArray, thresholds: FloatArray) -> dict[str, FloatArray]:
    """Return the measures of predicting the second class where the score, ascending, is at least each threshold."""
    first = np.searchsorted(score, thresholds, side="left")
    missed = np.append(0, np.cumsum(positive))[first]
    hits, said = positive.sum() - missed, len(score) - first
    return {
        "accuracy": (hits + first - missed) / len(score),
        "precision": _share(hits, said),
        "recall": _share(hits, np.full(len(first), positive.sum())),
    }


def _share(part: IntArray, whole: IntArray) -> FloatArray:
    """Return part/whole, not a number where there is nothing to share."""
    return np.asarray(np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0))


def calibration(model: Any, X: Any, codes: IntArray) -> list[Bin] | None:
    """Return how often what is said with some probability comes true; with many classes, of the likeliest one."""
    if not hasattr(model, "predict_proba"):
        return None
    shares = np.asarray(model.predict_proba(X))
    if shares.shape[1] == 2:
        said, came = shares[:, 1], codes == 1
    else:
        said, came = shares.max(axis=1), shares.argmax(axis=1) == codes
    place = np.minimum((said * BINS).astype(np.int64), BINS - 1)
    counts = np.bincount(place, minlength=BINS)
    sums, hits = (np.bincount(place, weights=values, minlength=BINS) for values in (said, came.astype(np.float64)))
    return [
        Bin(int(count), float(total / count), float(hit / count))
        for count, total, hit in zip(counts, sums, hits, strict=True)
        if count
    ]


# -- margins and mistakes ---------------------------------------------------------------------------------------------


def histogram(distance: FloatArray, codes: IntArray, classes: NDArray[Any]) -> Histogram:
    """Return the distances of each class in bars of equal width, with a border at 0."""
    edges = edges_around_zero(distance, BARS)
    two = len(classes) == 2
    groups = {str(label): codes == k for k, label in enumerate(classes)} if two else {"all classes": codes >= 0}
    place = np.clip(np.searchsorted(edges, distance, side="right") - 1, 0, len(edges) - 2)
    return Histogram(edges, {name: np.bincount(place[mine], minlength=len(edges) - 1) for name, mine in groups.items()})


def worst(classes: NDArray[Any], codes: IntArray, said: IntArray, distance: FloatArray, cells: Cells) -> list[Mistake]:
    """Return the rows farthest on the wrong side, with their cells."""
    wrong = np.flatnonzero(said != codes)
    ranked = wrong[np.argsort(distance[wrong], kind="stable")][:MISTAKES]
    return [
        Mistake(int(i) + 1, str(classes[codes[i]]), str(classes[said[i]]), float(distance[i]), _shown(cells(int(i))))
        for i in ranked
    ]


def _shown(cells: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(str(name), _cell(value)) for name, value in list(cells.items())[:CELLS]]


def _cell(value: Any) -> str:
    if value is None:
        return "(missing)"
    return f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)


def frame_cells(table: Any) -> Cells:
    """Return how to read the cells of a row of a data frame."""
    import narwhals as nw

    frame = nw.from_native(table, eager_only=True)
    return lambda i: dict(zip(frame.columns, frame.row(i), strict=True))


def loudest_cells(coef: FloatArray, X: Any, names: Sequence[str]) -> Cells:
    """Return how to name the features that speak the loudest in a row: those with the largest |w_j x_j|."""

    def cells(i: int) -> dict[str, float]:
        row = np.asarray(X[[i]].toarray() if hasattr(X, "tocsr") else X[[i]], dtype=np.float64)[0]
        loudness = np.abs(coef * row).max(axis=0)
        order = np.argsort(-loudness, kind="stable")[:CELLS]
        return {names[j]: float(row[j]) for j in order if row[j] != 0 or len(row) <= CELLS}

    return cells
