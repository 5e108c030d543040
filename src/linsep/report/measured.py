"""The sections on how good a model is: measures, threshold, calibration, margins and mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..analysis.evaluation import Measure
from .markup import NUMBERS, definitions, folded, paragraph, section, some, table
from .records import Bin, Content, Curve, Mistake
from .svg import Axis, histogram, lines

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


def metrics_section(content: Content) -> str:
    """Return measures with their intervals, and the table of confusions."""
    found = content.evaluation
    where = WHERE[content.unseen]
    rows = [(MEASURES.get(name, name), f"{one.value:.4f}", _interval(one)) for name, one in found.measures.items()]
    return section(
        "How good it is",
        paragraph(f"Measured on {found.rows:,} rows. {where}"),
        table(["measure", "value", "95 % interval"], rows, numbers=(1, 2)),
        _confusion(found.classes, found.confusion),
        paragraph("Intervals hold 95 % of the values on resampled rows (bootstrap).", "quiet"),
    )


def _interval(one: Measure) -> str:
    return f"{one.low:.4f} to {one.high:.4f}"


def _confusion(classes: Sequence[Any], confusion: Sequence[Sequence[Measure]]) -> str:
    if len(classes) > CONFUSED:
        return paragraph(f"With {len(classes)} classes the table of confusions is too large to show.")
    heads = ["rows that are …", *(f"said {label}" for label in classes)]
    rows = [
        [str(label), *(f"{one.value:,.0f}\n{one.low:,.0f}–{one.high:,.0f}" for one in row)]
        for label, row in zip(classes, confusion, strict=True)
    ]
    return table(heads, rows, numbers=range(1, len(heads)))


def threshold_section(content: Content) -> str:
    """Return what each threshold would give; nothing with more than two classes."""
    curve = content.curve
    if curve is None:
        return ""
    positive = content.evaluation.classes[1]
    chart = lines(
        Axis.over("threshold on the score", [*curve.threshold, curve.chosen]),
        Axis("share", 0.0, 1.0),
        {name: (curve.threshold, values) for name, values in curve.measures.items()},
        title="Accuracy, precision and recall at each threshold",
        mark=(curve.chosen, f"in use: {curve.chosen:g}"),
        dots=[(curve.chosen, value) for value in curve.at_chosen.values()],
    )
    said = ", ".join(f"{name} {_share(value)}" for name, value in curve.at_chosen.items())
    return section(
        "The threshold",
        paragraph(f"{positive} is said where the score is at least {curve.chosen:g}: {said}."),
        chart,
        folded(NUMBERS, _curve_table(curve)),
    )


def _curve_table(curve: Curve) -> str:
    rows = [
        [f"{curve.threshold[k]:.5g}", *(_share(values[k]) for values in curve.measures.values())]
        for k in some(len(curve.threshold))
    ]
    return table(["threshold", *curve.measures], rows, numbers=range(1 + len(curve.measures)))


def _share(value: float) -> str:
    return f"{value:.4f}" if np.isfinite(value) else "undefined"


def calibration_section(content: Content) -> str:
    """Return how often what is said comes true."""
    if content.calibration is None:
        return section(
            "Calibration", paragraph("This model has scores, but no probabilities; a logistic model has them.")
        )
    many = len(content.evaluation.classes) > 2
    of = "the likeliest class" if many else str(content.evaluation.classes[1])
    said, came = [one.said for one in content.calibration], [one.came_true for one in content.calibration]
    chart = lines(
        Axis("probability that was said", 0.0, 1.0),
        Axis("share that came true", 0.0, 1.0),
        {"this model": (said, came)},
        title="How often what was said with some probability came true",
        diagonal=True,
        points=True,
    )
    ideal = f"Where {of} is said with probability p, it should be true for a share p of the rows: the dashed line."
    return section("Calibration", paragraph(ideal), chart, _bins(content.calibration))


def _bins(calibration: Sequence[Bin]) -> str:
    rows = [(f"{one.count:,}", f"{one.said:.3f}", f"{one.came_true:.3f}") for one in calibration]
    return table(["rows", "said", "came true"], rows, numbers=(0, 1, 2))


def margins_section(content: Content) -> str:
    """Return how far rows are on their own side."""
    found = content.margins
    two = len(content.evaluation.classes) == 2
    label = "distance on the row's own side" if two else "lead of the row's own class in score"
    chart = histogram(
        Axis(label, float(found.edges[0]), float(found.edges[-1])),
        found.edges,
        found.counts,
        title="How far the rows are on their own side",
        mark="wrong | right",
    )
    wrong = f"{content.n_mistakes:,} of {content.evaluation.rows:,} rows are on the wrong side, left of the line."
    rows = [
        [f"{low:.4g} to {high:.4g}", *(f"{count[k]:,}" for count in found.counts.values())]
        for k, (low, high) in enumerate(zip(found.edges[:-1], found.edges[1:], strict=True))
    ]
    numbers = table([label, *found.counts], rows, numbers=range(1, 1 + len(found.counts)))
    return section("Margins", paragraph(wrong), chart, folded(NUMBERS, numbers))


def mistakes_section(content: Content) -> str:
    """Return the rows farthest on the wrong side."""
    if not content.mistakes:
        return section("The worst mistakes", paragraph("There are none: all rows are on their own side."))
    shown = "".join(_mistake(mistake) for mistake in content.mistakes)
    return section(
        "The worst mistakes",
        paragraph(f"{len(content.mistakes)} of {content.n_mistakes:,}, the farthest on the wrong side first."),
        f'<ol class="mistakes">{shown}</ol>',
    )


def _mistake(mistake: Mistake) -> str:
    what = f"Row {mistake.row:,} is {mistake.truth}, said {mistake.said} (wrong by {-mistake.distance:.3g})"
    return f"<li>{paragraph(what)}{definitions(mistake.cells)}</li>"
