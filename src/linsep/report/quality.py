"""How good a model is on rows with labels: measures, thresholds, calibration, margins and the worst mistakes.

Of each topic first the numbers, then the section of the report that shows them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import BoolArray, FloatArray, IntArray
from ..analysis.agreement import agreements, edges_around_zero
from ..analysis.evaluation import Evaluation, codes_of, decide
from .markup import NUMBERS, definitions, folded, paragraph, section, some, table
from .svg import Axis, lines
from .svg import histogram as bars_of_counts

#: From the number of a row to its cells by name.
Cells = Callable[[int], Mapping[str, Any]]

#: How many mistakes are shown, and how many cells of each row.
MISTAKES, CELLS = 10, 12
#: Points of a curve, bars of a histogram, bins of a calibration.
POINTS, BARS, BINS = 200, 30, 10
#: A confusion table of more classes than this is not shown.
CONFUSED = 30
MEASURES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "log_loss": "log loss",
    "auc": "area under the ROC curve",
}
#: What is known of the rows that a model was measured on.
WHERE = {
    True: "They are others than those of the fit.",
    False: "The model was fitted on these very rows: expect worse on others.",
    None: "If the model was fitted on these rows, expect worse on others.",
}


def metrics_section(found: Evaluation, unseen: bool | None) -> str:
    """Return measures with their intervals, and the table of confusions."""
    rows = [
        (MEASURES.get(name, name), f"{one.value:.4f}", f"{one.low:.4f} to {one.high:.4f}")
        for name, one in found.measures.items()
    ]
    return section(
        "How good it is",
        paragraph(f"Measured on {found.rows:,} rows. {WHERE[unseen]}"),
        table(["measure", "value", "95 % interval"], rows),
        _confusion(found),
        paragraph("Intervals are 95 % confidence intervals: Wilson's for shares, DeLong's for the area.", "quiet"),
    )


def _confusion(found: Evaluation) -> str:
    if len(found.classes) > CONFUSED:
        return paragraph(f"With {len(found.classes)} classes the table of confusions is too large to show.")
    rows = [
        [str(label), *(f"{one.value:,.0f}\n{one.low:,.0f}–{one.high:,.0f}" for one in row)]
        for label, row in zip(found.classes, found.confusion, strict=True)
    ]
    return table(["rows that are …", *(f"said {label}" for label in found.classes)], rows)


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


# -- thresholds --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Curve:
    """What each threshold on the score would give, in ascending order, and the one in use."""

    threshold: FloatArray
    measures: dict[str, FloatArray]
    chosen: float
    at_chosen: dict[str, float]


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


def threshold_section(curve: Curve | None, classes: Sequence[Any]) -> str:
    """Return what each threshold would give; nothing with more than two classes."""
    if curve is None:
        return ""
    chart = lines(
        Axis.over("threshold on the score", [*curve.threshold, curve.chosen]),
        Axis("share", 0.0, 1.0),
        {name: (curve.threshold, values) for name, values in curve.measures.items()},
        title="Accuracy, precision and recall at each threshold",
        mark=(curve.chosen, f"in use: {curve.chosen:g}"),
        dots=[(curve.chosen, value) for value in curve.at_chosen.values()],
    )
    said = ", ".join(f"{name} {_written(value)}" for name, value in curve.at_chosen.items())
    rows = [
        [f"{curve.threshold[k]:.5g}", *(_written(values[k]) for values in curve.measures.values())]
        for k in some(len(curve.threshold))
    ]
    return section(
        "The threshold",
        paragraph(f"{classes[1]} is said where the score is at least {curve.chosen:g}: {said}."),
        chart,
        folded(NUMBERS, table(["threshold", *curve.measures], rows, named=False)),
    )


def _written(value: float) -> str:
    return f"{value:.4f}" if np.isfinite(value) else "undefined"


# -- probabilities -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bin:
    """Rows whose probability lies in the same tenth: how many, what was said on average, and how often it came true."""

    count: int
    said: float
    came_true: float


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


def calibration_section(bins: list[Bin] | None, classes: Sequence[Any]) -> str:
    """Return how often what is said comes true."""
    if bins is None:
        return section(
            "Calibration", paragraph("This model has scores, but no probabilities; a logistic model has them.")
        )
    of = "the likeliest class" if len(classes) > 2 else str(classes[1])
    chart = lines(
        Axis("probability that was said", 0.0, 1.0),
        Axis("share that came true", 0.0, 1.0),
        {"this model": ([one.said for one in bins], [one.came_true for one in bins])},
        title="How often what was said with some probability came true",
        diagonal=True,
        points=True,
    )
    ideal = f"Where {of} is said with probability p, it should be true for a share p of the rows: the dashed line."
    rows = [(f"{one.count:,}", f"{one.said:.3f}", f"{one.came_true:.3f}") for one in bins]
    return section("Calibration", paragraph(ideal), chart, table(["rows", "said", "came true"], rows, named=False))


# -- margins -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Histogram:
    """How many rows of each class lie how far on their own side."""

    edges: FloatArray
    counts: dict[str, IntArray]


def histogram(distance: FloatArray, codes: IntArray, classes: NDArray[Any]) -> Histogram:
    """Return the distances of each class in bars of equal width, with a border at 0."""
    edges = edges_around_zero(distance, BARS)
    two = len(classes) == 2
    groups = {str(label): codes == k for k, label in enumerate(classes)} if two else {"all classes": codes >= 0}
    place = np.clip(np.searchsorted(edges, distance, side="right") - 1, 0, len(edges) - 2)
    return Histogram(edges, {name: np.bincount(place[mine], minlength=len(edges) - 1) for name, mine in groups.items()})


def margins_section(found: Histogram, n_mistakes: int, measured: Evaluation) -> str:
    """Return how far rows are on their own side."""
    two = len(measured.classes) == 2
    label = "distance on the row's own side" if two else "lead of the row's own class in score"
    chart = bars_of_counts(
        Axis(label, float(found.edges[0]), float(found.edges[-1])),
        found.edges,
        found.counts,
        title="How far the rows are on their own side",
        mark="wrong | right",
    )
    wrong = f"{n_mistakes:,} of {measured.rows:,} rows are on the wrong side, left of the line."
    rows = [
        [f"{low:.4g} to {high:.4g}", *(f"{count[k]:,}" for count in found.counts.values())]
        for k, (low, high) in enumerate(zip(found.edges[:-1], found.edges[1:], strict=True))
    ]
    return section("Margins", paragraph(wrong), chart, folded(NUMBERS, table([label, *found.counts], rows)))


# -- mistakes ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mistake:
    """One row that is on the wrong side; `row` counts from 1."""

    row: int
    truth: str
    said: str
    distance: float
    cells: list[tuple[str, str]]


def worst(classes: NDArray[Any], codes: IntArray, said: IntArray, distance: FloatArray, cells: Cells) -> list[Mistake]:
    """Return the rows farthest on the wrong side, with their cells."""
    wrong = np.flatnonzero(said != codes)
    ranked = wrong[np.argsort(distance[wrong], kind="stable")][:MISTAKES]
    shown = {i: [(str(name), _cell(value)) for name, value in list(cells(int(i)).items())[:CELLS]] for i in ranked}
    return [
        Mistake(int(i) + 1, str(classes[codes[i]]), str(classes[said[i]]), float(distance[i]), shown[i]) for i in ranked
    ]


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


def mistakes_section(mistakes: Sequence[Mistake], n_mistakes: int) -> str:
    """Return the rows farthest on the wrong side."""
    if not mistakes:
        return section("The worst mistakes", paragraph("There are none: all rows are on their own side."))
    shown = "".join(
        "<li>"
        + paragraph(f"Row {one.row:,} is {one.truth}, said {one.said} (wrong by {-one.distance:.3g})")
        + f"{definitions(one.cells)}</li>"
        for one in mistakes
    )
    return section(
        "The worst mistakes",
        paragraph(f"{len(mistakes)} of {n_mistakes:,}, the farthest on the wrong side first."),
        f'<ol class="mistakes">{shown}</ol>',
    )
