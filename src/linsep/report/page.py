"""The report as one HTML file: text, tables and charts, all that comes from data escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from ..evaluation import Measure
from ..palette import DARK, LIGHT, Theme
from .content import Bin, Content, Journey, Mistake, Weights
from .svg import Axis, bars, histogram, lines

__all__ = ["document", "render", "section", "style"]

#: Longer cells are cut: a report is no place for a novel.
LONGEST = 300
#: More planes than this are folded away.
OPEN_PLANES = 3

MEASURES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "log_loss": "log loss",
    "auc": "area under the ROC curve",
}
SERIES = {"objective": "objective", "best": "best so far", "zero_one": "share of mistakes"}


def render(content: Content) -> str:
    """Return the page."""
    parts = [
        _head(content),
        _proof(content),
        _metrics(content),
        _watch_out(content),
        _threshold(content),
        _calibration(content),
        *_weight_sections(content.weights),
        _margins(content),
        _mistakes(content),
        _separability(content),
        _journey(content.journeys),
    ]
    return document(content.title, parts)


def document(title: str, parts: Iterable[str]) -> str:
    """Return a whole page of its parts, which are HTML; the title is text."""
    shown = escape(_cut(title))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{shown}</title>\n<style>\n{style()}</style>\n</head>\n<body>\n<main>\n<h1>{shown}</h1>\n"
        + "\n".join(part for part in parts if part)
        + "\n</main>\n</body>\n</html>\n"
    )


def style() -> str:
    """Return the style sheet: the colours of the palette, then what is drawn with them."""
    sheet = files(__package__).joinpath("page.css").read_text("utf-8")
    dark = f"@media screen and (prefers-color-scheme: dark) {{\n:root {{ {_variables(DARK)} }}\n}}\n"
    return f":root {{ color-scheme: light dark; {_variables(LIGHT)} }}\n{dark}{sheet}"


def _variables(theme: Theme) -> str:
    named = ("background", "surface", "text", "muted", "grid", "negative", "positive", "negative_text", "positive_text")
    colours = {name.replace("_", "-"): getattr(theme, name) for name in named}
    colours |= {f"s{k}": colour for k, colour in enumerate(theme.series)}
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())


def section(title: str, *body: str, kind: str = "") -> str:
    """Return a section with a heading; title and body are HTML."""
    opening = f'<section class="{kind}">' if kind else "<section>"
    return f"{opening}\n<h2>{title}</h2>\n" + "\n".join(body) + "\n</section>"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text):,} characters)"


def _text(value: object) -> str:
    return escape(_cut(str(value)))


def _paragraph(text: str, kind: str = "") -> str:
    opening = f'<p class="{kind}">' if kind else "<p>"
    return f"{opening}{_text(text)}</p>"


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]], *, numbers: Sequence[int] = ()) -> str:
    """Return a table that scrolls sideways by itself where it is too wide."""
    top = "".join(f'<th scope="col">{_text(head)}</th>' for head in heads)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td class="number">{_text(cell)}</td>' if j in numbers else f"<td>{_text(cell)}</td>"
            for j, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return f'<div class="wide" tabindex="0"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


# -- sections ---------------------------------------------------------------------------------------------------------


def _head(content: Content) -> str:
    facts = "".join(f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in content.facts)
    return section(
        "What was fitted",
        f"<dl>{facts}<dt>minimised</dt><dd><code>{_text(content.objective)}</code></dd></dl>",
    )


def _proof(content: Content) -> str:
    badge = "proven" if content.is_proven else "not proven"
    meaning = (
        "In plain words: whoever fits the same kind of model to the same rows, with whatever program, cannot get an "
        "objective below that bound. The fit is as good as finished."
        if content.is_proven
        else "In plain words: a better plane for this objective may exist; how much better is not bounded as asked for."
    )
    again = f"Nobody has to believe this. Check it again from the training data alone: <code>{_text(content.recheck)}</code>"
    return section(
        f'The certificate <span class="badge">{badge}</span>',
        _lines(content.proof),
        _paragraph(meaning),
        f"<p>{again}</p>",
        kind="good" if content.is_proven else "warning",
    )


def _lines(text: str) -> str:
    """Return each line as a paragraph."""
    return "".join(_paragraph(line) for line in text.splitlines() if line.strip())


def _metrics(content: Content) -> str:
    found = content.evaluation
    where = (
        "These are the rows that the model was fitted on: expect worse on others."
        if content.trained_here
        else "These rows were not used for the fit."
    )
    rows = [(MEASURES.get(name, name), f"{one.value:.4f}", _interval(one)) for name, one in found.measures.items()]
    return section(
        "How good it is",
        _paragraph(f"{found.rows:,} rows. {where} In brackets: where 95 % of the values on resampled rows lie."),
        _table(["measure", "value", "95 % interval"], rows, numbers=(1, 2)),
        _confusion(found.classes, found.confusion),
    )


def _interval(one: Measure, digits: int = 4) -> str:
    return f"[{one.low:.{digits}f}, {one.high:.{digits}f}]"


def _confusion(classes: Sequence[Any], confusion: Sequence[Sequence[Measure]]) -> str:
    if len(classes) > 30:
        return _paragraph(f"With {len(classes)} classes the table of confusions is too large to show.")
    heads = ["", *(f"said {label}" for label in classes)]
    rows = [
        [f"is {label}", *(f"{one.value:,.0f} [{one.low:,.0f}, {one.high:,.0f}]" for one in row)]
        for label, row in zip(classes, confusion, strict=True)
    ]
    return _table(heads, rows, numbers=range(1, len(heads)))


def _watch_out(content: Content) -> str:
    if not content.suspects:
        return section(
            "What to watch out for",
            _paragraph(
                "Nothing stands out: no column that gives the answer away, dominates or repeats another, no equal "
                "rows with different labels, no rare class."
            ),
        )
    items = "".join(f"<li>{_text(suspect.message)}</li>" for suspect in content.suspects)
    return section("What to watch out for", f"<ul>{items}</ul>", kind="warning")


def _threshold(content: Content) -> str:
    curve = content.curve
    if curve is None:
        return ""
    series = {name: (curve.threshold, values) for name, values in curve.measures.items()}
    positive = content.evaluation.classes[1]
    x = Axis.over("threshold on the score", [*curve.threshold, curve.chosen])
    chart = lines(
        x,
        Axis("share", 0.0, 1.0),
        series,
        title="Accuracy, precision and recall at each threshold",
        mark=(curve.chosen, f"in use: {curve.chosen:g}"),
    )
    said = ", ".join(f"{name} {value:.4f}" for name, value in curve.at_chosen.items())
    return section(
        "The threshold",
        _paragraph(f"{positive} is predicted where the score is at least {curve.chosen:g}: {said}."),
        chart,
    )


def _calibration(content: Content) -> str:
    if content.calibration is None:
        return section(
            "Calibration", _paragraph("This model has scores but no probabilities; a logistic model has them.")
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
    return section(
        "Calibration",
        _paragraph(f"Of the rows to which {of} was given some probability, as many should be it: the dashed line."),
        chart,
        _bins(content.calibration),
    )


def _bins(calibration: Sequence[Bin]) -> str:
    rows = [(f"{one.count:,}", f"{one.said:.3f}", f"{one.came_true:.3f}") for one in calibration]
    return _folded("the numbers", _table(["rows", "said", "came true"], rows, numbers=(0, 1, 2)))


def _folded(title: str, body: str, *, is_open: bool = False) -> str:
    return f"<details{' open' if is_open else ''}><summary>{_text(title)}</summary>{body}</details>"


def _weight_sections(planes: Sequence[Weights]) -> list[str]:
    if len(planes) == 1:
        return [section("What speaks for what", *_plane(planes[0]))]
    folded = [
        _folded(f"{plane.towards} against {plane.away}", "".join(_plane(plane)), is_open=len(planes) <= OPEN_PLANES)
        for plane in planes
    ]
    return [section("What speaks for what", *folded)]


def _plane(plane: Weights) -> list[str]:
    more = f" {plane.left_out:,} lighter ones are not shown." if plane.left_out else ""
    rows = [
        (name, f"{weight:+.5g}", f"{unit:+.5g}")
        for name, weight, unit in zip(plane.names, plane.weights, plane.per_unit, strict=True)
    ]
    table = _table(["feature", "weight", "per unit of the column"], rows, numbers=(1, 2))
    return [
        _paragraph(
            f"A weight to the right speaks for {plane.towards}, one to the left for {plane.away}; its length is its "
            f"importance. Intercept {plane.intercept:+.5g}.{more}"
        ),
        bars(plane.names, plane.weights.tolist(), title=f"Weights for {plane.towards} against {plane.away}"),
        _folded("the numbers", table),
    ]


def _margins(content: Content) -> str:
    found = content.margins
    two = len(content.evaluation.classes) == 2
    label = "distance from the plane, on the row's own side" if two else "lead of the row's own class in score"
    chart = histogram(
        Axis(label, float(found.edges[0]), float(found.edges[-1])),
        found.edges,
        found.counts,
        title="How far the rows are on their own side",
        mark="wrong | right",
    )
    wrong = f"{content.n_mistakes:,} of {content.evaluation.rows:,} rows are on the wrong side, left of the line."
    return section("Margins", _paragraph(wrong), chart)


def _mistakes(content: Content) -> str:
    if not content.mistakes:
        return section("The worst mistakes", _paragraph("There is none: all rows are on their own side."))
    shown = "".join(_mistake(mistake) for mistake in content.mistakes)
    return section(
        "The worst mistakes",
        _paragraph(f"{len(content.mistakes)} of {content.n_mistakes:,}, the farthest on the wrong side first."),
        f'<ol class="mistakes">{shown}</ol>',
    )


def _mistake(mistake: Mistake) -> str:
    cells = "".join(f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in mistake.cells)
    what = f"row {mistake.row:,} is {mistake.truth}, said {mistake.said} (by {-mistake.distance:.3g})"
    return f"<li><p>{_text(what)}</p><dl>{cells}</dl></li>"


def _separability(content: Content) -> str:
    rows = "the measured rows, which are those of the fit" if content.trained_here else "the rows of the fit"
    return section(
        "Can a plane separate the classes at all?",
        _lines(content.separability),
        _paragraph(f"Decided for {rows}, and proven in exact arithmetic."),
    )


def _journey(journeys: Sequence[Journey]) -> str:
    if not journeys:
        return section("How the fit went", _paragraph("Nothing was recorded, or it is not kept in a model file."))
    return section("How the fit went", *(_charted(journey) for journey in journeys[:10]))


def _charted(journey: Journey) -> str:
    drawn = {SERIES[name]: values for name, values in journey.series.items() if name != "zero_one"}
    spread = np.concatenate([values[np.isfinite(values)] for values in drawn.values()] or [np.zeros(1)])
    wide = bool(len(spread) and spread.min() > 0 and spread.max() > 50 * spread.min())
    charts = []
    if drawn:
        title = f"Objective by step{f' for {journey.name}' if journey.name else ''}"
        y = Axis.over("objective", spread, logarithmic=wide)
        lined = {name: (journey.step, values) for name, values in drawn.items()}
        charts.append(lines(Axis.over("step", journey.step), y, lined, title=title, points=len(journey.step) < 30))
    if "zero_one" in journey.series:
        lined = {SERIES["zero_one"]: (journey.step, journey.series["zero_one"])}
        y = Axis.over(SERIES["zero_one"], [0.0, *journey.series["zero_one"]])
        charts.append(lines(Axis.over("step", journey.step), y, lined, title="Share of mistakes by step"))
    name = f"{journey.name}: " if journey.name else ""
    return _paragraph(f"{name}{journey.solver} ({journey.reason})") + "".join(charts)
