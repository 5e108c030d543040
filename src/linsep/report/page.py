"""The report as one HTML file: its sections, in the order in which one asks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..evaluation import Measure
from .markup import definitions, document, folded, paragraph, section, table, text
from .records import Bin, Content, Curve, Journey, Mistake, Weights
from .svg import Axis, bars, histogram, lines

__all__ = ["render", "sections"]

#: More planes than this are folded away; a confusion table of more classes is not shown.
OPEN_PLANES, CONFUSED = 3, 30
#: About so many rows of a curve's numbers are written out.
WRITTEN = 12
NUMBERS = "the numbers"

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
SERIES = {"objective": "objective", "best": "best so far", "zero_one": "share of mistakes"}


def render(content: Content) -> str:
    """Return the page."""
    return document(content.title, sections(content))


def sections(content: Content) -> list[str]:
    """Return the parts of the page."""
    return [
        _head(content),
        _proof(content),
        _metrics(content),
        _watch_out(content),
        _threshold(content),
        _calibration(content),
        _weights(content.weights),
        _margins(content),
        _mistakes(content),
        _separability(content),
        _journeys(content.journeys),
    ]


# -- what was fitted, and what is proven ------------------------------------------------------------------------------


def _head(content: Content) -> str:
    facts = definitions([*content.facts, ("minimised", content.objective)])
    symbols = (
        "z = y (w·x + b): positive where a row is on its own side of the plane." if "z" in content.objective else ""
    )
    notes = "".join(map(paragraph, content.notes))
    return section("What was fitted", facts, paragraph(symbols, "quiet") if symbols else "", notes)


def _proof(content: Content) -> str:
    badge = "proven" if content.is_proven else "not proven"
    meaning = (
        "In plain words: whoever fits the same kind of model to the same rows, with whatever program, cannot do better "
        "than this bound. More computing would change nothing that matters."
        if content.is_proven
        else "In plain words: a better plane for this objective may exist; how much better is not bounded as asked for."
    )
    again = "Nobody has to believe this. To check it again, from the training data alone:"
    return section(
        f'The certificate <span class="badge">{badge}</span>',
        *map(paragraph, content.proof),
        paragraph(meaning),
        f"<p>{again} <code>{text(content.recheck)}</code></p>",
        kind="good" if content.is_proven else "warning",
    )


def _separability(content: Content) -> str:
    rows = "the rows of the fit" if content.knows_fit else "the rows above"
    proven = f"Decided for {rows}, and proven in exact arithmetic." if content.is_decided else f"Asked of {rows}."
    return section(
        "Can a plane separate the classes at all?", *map(paragraph, content.separability), paragraph(proven, "quiet")
    )


def _watch_out(content: Content) -> str:
    if content.suspects:
        items = "".join(f"<li>{paragraph(suspect.message)}</li>" for suspect in content.suspects)
        return section("What to watch out for", f"<ul>{items}</ul>", kind="warning")
    nothing = (
        "Nothing stands out: no column that gives the answer away, dominates or repeats another, no equal rows with "
        "different labels, no rare class."
    )
    return section("What to watch out for", paragraph(nothing))


# -- how good it is ---------------------------------------------------------------------------------------------------


def _metrics(content: Content) -> str:
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
        [str(label), *(f"{one.value:,.0f}\n{one.low:,.0f} to {one.high:,.0f}" for one in row)]
        for label, row in zip(classes, confusion, strict=True)
    ]
    return table(heads, rows, numbers=range(1, len(heads)))


def _threshold(content: Content) -> str:
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
    said = ", ".join(f"{name} {value:.4f}" for name, value in curve.at_chosen.items())
    return section(
        "The threshold",
        paragraph(f"{positive} is said where the score is at least {curve.chosen:g}: {said}."),
        chart,
        folded(NUMBERS, _curve_table(curve)),
    )


def _curve_table(curve: Curve) -> str:
    rows = [
        [f"{curve.threshold[k]:.5g}", *(f"{values[k]:.4f}" for values in curve.measures.values())]
        for k in _some(len(curve.threshold))
    ]
    return table(["threshold", *curve.measures], rows, numbers=range(1 + len(curve.measures)))


def _some(count: int) -> list[int]:
    """Return evenly spread positions, the first and the last among them."""
    return sorted({round(place) for place in np.linspace(0, count - 1, min(WRITTEN, count))})


def _calibration(content: Content) -> str:
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


def _margins(content: Content) -> str:
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


def _mistakes(content: Content) -> str:
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


# -- what it learned, and how -----------------------------------------------------------------------------------------


def _weights(planes: Sequence[Weights]) -> str:
    title = "What speaks for what"
    if len(planes) == 1:
        return section(title, *_plane(planes[0]))
    few = len(planes) <= OPEN_PLANES
    return section(
        title, *(folded(f"{one.towards} against {one.away}", "".join(_plane(one)), is_open=few) for one in planes)
    )


def _plane(plane: Weights) -> list[str]:
    more = f" {plane.left_out:,} lighter ones are not shown." if plane.left_out else ""
    ways = f"A weight to the right speaks for {plane.towards}, one to the left for {plane.away}: the longer, the more."
    chart = bars(plane.names, plane.weights.tolist(), title=f"Weights for {plane.towards} against {plane.away}")
    return [paragraph(f"{ways}{more}"), chart, folded(NUMBERS, _weight_table(plane))]


def _weight_table(plane: Weights) -> str:
    heads, columns = ["feature", "weight"], [[*plane.weights, plane.intercept]]
    if plane.per_unit is not None and plane.intercept_at_zero is not None:
        heads.append("per unit of the column")
        columns.append([*plane.per_unit, plane.intercept_at_zero])
    rows = [[name, *(f"{column[k]:+.5g}" for column in columns)] for k, name in enumerate([*plane.names, "intercept"])]
    return table(heads, rows, numbers=range(1, len(heads)))


def _journeys(journeys: Sequence[Journey]) -> str:
    if not journeys:
        return section(
            "How the fit went", paragraph("No steps are known: there was one only, or a model file kept none.")
        )
    return section("How the fit went", *(part for journey in journeys for part in _charts(journey)))


def _charts(journey: Journey) -> Iterable[str]:
    whose = f" for {journey.name}" if journey.name else ""
    if len(journey.step) < journey.recorded:
        yield paragraph(f"{len(journey.step):,} of the {journey.recorded:,} recorded steps are drawn.", "quiet")
    drawn = {SERIES[name]: values for name, values in journey.series.items() if name != "zero_one"}
    if drawn:
        yield _by_step(f"Mean objective by step{whose}", "mean objective", journey.step, drawn)
    if journey.gap is not None:
        gap = {"gap to the proven bound": journey.gap}
        yield _by_step(
            f"Gap of the best so far to the proven bound{whose}, as a share", "relative gap", journey.step, gap
        )
    if "zero_one" in journey.series:
        wrong = {SERIES["zero_one"]: journey.series["zero_one"]}
        yield _by_step(f"Share of mistakes by step{whose}", SERIES["zero_one"], journey.step, wrong)
    columns = {**{SERIES[name]: values for name, values in journey.series.items()}}
    columns |= {} if journey.gap is None else {"gap": journey.gap}
    rows = [[f"{journey.step[k]:,.0f}", *(f"{v[k]:.6g}" for v in columns.values())] for k in _some(len(journey.step))]
    yield folded(NUMBERS, table(["step", *columns], rows, numbers=range(1 + len(columns))))


def _by_step(title: str, label: str, step: Any, series: dict[str, Any]) -> str:
    """Return a chart by step, logarithmic where its numbers span more than a scale or two."""
    values = np.concatenate([one[np.isfinite(one)] for one in series.values()])
    positive = values[values > 0]
    wide = bool(len(positive) == len(values) > 0 and positive.max() > 50 * positive.min())
    y = Axis.over(label, values, logarithmic=wide)
    lined = {name: (step, one) for name, one in series.items()}
    return f"<h3>{text(title)}</h3>" + lines(Axis.over("step", step), y, lined, title=title, points=len(step) < 30)
