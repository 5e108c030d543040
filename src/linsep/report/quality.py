"""How good a model is on rows with labels: measures, calibration and margins.

Of each topic first the numbers, then the section of the report that shows them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.types import FloatArray, IntArray
from .._common.words import many
from ..analysis.agreement import agreements, edges_around_zero
from ..analysis.evaluation import TITLES, Evaluation, Measure, codes_of, decide
from ..analysis.reliability import Bin, Reliability
from ..estimators._calibration import LIKELIEST
from .markup import NUMBERS, folded, paragraph, section, table
from .svg import Axis, lines
from .svg import histogram as bars_of_counts

#: Bars of a histogram.
BARS = 30
#: Of more classes than this, only the worst confusions are shown, and so many of them.
CONFUSED, WORST = 4, 15
MEASURES = TITLES | {
    "macro_precision": "precision, mean over the classes",
    "macro_f1": "F1, mean over the classes",
    "auc": "area under the ROC curve",
}
#: What is known of the rows that a model was measured on.
WHERE = {
    True: "They are others than those of the fit.",
    False: "The model was fitted on these very rows: expect worse on others.",
    None: "If the model was fitted on these rows, expect worse on others.",
}


def metrics_section(found: Evaluation, unseen: bool | None, said: str = "") -> str:
    """Return measures with their intervals, and the table of confusions; `said` is what else is known of the rows."""
    named = found.titled(MEASURES, "accuracy of always saying {}")
    rows = [(title, f"{one.value:.4f}", f"{one.low:.4f} to {one.high:.4f}") for title, one in named]
    return section(
        "How good it is",
        paragraph(f"Measured on {many(found.rows, 'row')}. {said or WHERE[unseen]}"),
        table(["measure", "value", "95 % interval"], rows),
        _confusion(found),
        paragraph("Intervals are 95 % confidence intervals: Wilson's for shares, DeLong's for the area.", "quiet"),
    )


def _confusion(found: Evaluation) -> str:
    if len(found.classes) > CONFUSED:
        return _worst_confusions(found)
    rows = [
        [str(label), *(f"{one.value:,.0f}\n{one.low:,.0f}–{one.high:,.0f}" for one in row)]
        for label, row in zip(found.classes, found.confusion, strict=True)
    ]
    return table(["rows that are …", *(f"said {label}" for label in found.classes)], rows)


def _worst_confusions(found: Evaluation) -> str:
    """Return which of many classes are confused most often, and how well each is told."""
    worst = [
        (f"{one.truth} → {one.said}", f"{one.count:,.0f}", f"{one.share:.1%}") for one in found.worst_confusions(WORST)
    ]
    heading = "<h3>The most frequent confusions</h3>"
    confused = heading + table(["is → said", "rows", "of its rows"], worst) if worst else ""
    rows = [
        (str(one.label), f"{one.rows:,}", *map(_share_of, (one.precision, one.recall, one.f1)))
        for one in found.worst_told()
    ]
    every = folded(
        f"all {len(rows)} classes, those with the lowest F1 first",
        table(["class", "rows", "precision", "recall", "F1"], rows),
    )
    return confused + every


def _share_of(one: Measure | None) -> str:
    return "undefined" if one is None else f"{one.value:.3f}"


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


# -- probabilities -----------------------------------------------------------------------------------------------------


def calibration_section(found: Reliability | None, classes: Sequence[Any], how: str = "") -> str:
    """Return how often what is said comes true; `how` says where the probabilities come from."""
    if found is None:
        return section(
            "Calibration",
            paragraph("This model has scores, but no probabilities; logistic models have them, and fit --calibrate."),
        )
    bins, of = found.bins, "the likeliest class" if len(classes) > 2 else str(classes[1])
    chart = lines(
        Axis("probability that was said", 0.0, 1.0),
        Axis("share of rows where it came true", 0.0, 1.0),
        {"this model": ([one.said for one in bins], [one.came_true for one in bins])},
        title="How often what was said with some probability came true",
        diagonal=True,
        points=True,
    )
    ideal = f"Where {of} is said with probability p, it should be true for a share p of the rows: the dashed line."
    rows = [
        (
            *(f"{one.count:,}", f"{one.said:.{one.digits}f}", f"{one.came_true:.{one.digits}f}"),
            *(f"{one.low:.{one.digits}f} to {one.high:.{one.digits}f}", _off(one)),
        )
        for one in bins
    ]
    heads = ["rows", "said", "came true", "interval, 95 % for all of these", ""]
    advice = (
        f"P{found.advice[1:]}."
        if found.advice
        else "What is off is no more than chance would have it, or too little to matter."
    )
    said = [paragraph(f"Probabilities are {how}.")] if how else []
    if how and len(classes) > 2:
        said.append(paragraph(f"What is said of a row is the class with its highest score, which {LIKELIEST}."))
    return section("Calibration", paragraph(ideal), *said, chart, paragraph(advice), table(heads, rows, named=False))


def _off(one: Bin) -> str:
    return "off" if one.is_off else ""


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
    label = "distance to the plane on the row's own side" if two else "lead of the row's own class in score"
    chart = bars_of_counts(
        Axis(label, float(found.edges[0]), float(found.edges[-1])),
        found.edges,
        found.counts,
        title="How far the rows are on their own side",
        mark="wrong | right",
    )
    are = "is" if n_mistakes == 1 else "are"
    wrong = f"{n_mistakes:,} of {many(measured.rows, 'row')} {are} on the wrong side, left of the line."
    wrong += " Distances are those of the features as the model takes them." if two else ""
    rows = [
        [f"{low:.4g} to {high:.4g}", *(f"{count[k]:,}" for count in found.counts.values())]
        for k, (low, high) in enumerate(zip(found.edges[:-1], found.edges[1:], strict=True))
    ]
    return section("Margins", paragraph(wrong), chart, folded(NUMBERS, table([label, *found.counts], rows)))
