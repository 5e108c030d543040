"""The report as one HTML file: its sections, in the order in which one asks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .markup import NUMBERS, definitions, document, folded, paragraph, section, some, table, text
from .measured import calibration_section, margins_section, metrics_section, mistakes_section, threshold_section
from .records import Content, Journey, Weights
from .svg import Axis, bars, lines

#: More planes than this are folded away.
OPEN_PLANES = 3
SERIES = {
    "objective": "objective",
    "best": "best so far",
    "risk": "risk (mean loss)",
    "zero_one": "share of mistakes",
}


def render(content: Content) -> str:
    """Return the page."""
    return document(content.title, sections(content))


def sections(content: Content) -> list[str]:
    """Return the parts of the page."""
    return [
        _head(content),
        _proof(content),
        metrics_section(content),
        _watch_out(content),
        threshold_section(content),
        calibration_section(content),
        _weights(content.weights),
        margins_section(content),
        mistakes_section(content),
        _separability(content),
        _journeys(content.journeys),
    ]


# -- what was fitted, and what is proven ------------------------------------------------------------------------------


def _head(content: Content) -> str:
    facts = definitions([*content.facts, ("minimised", content.objective)])
    symbols = " z = y (w·x + b) is positive where a row is on its own side." if "z" in content.objective else ""
    words = paragraph(f"{content.objective_in_words}{symbols}")
    return section("What was fitted", facts, words, *map(paragraph, content.notes))


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
            "How the fit went", paragraph("No steps are known: none was measured, or an older model file kept none.")
        )
    return section("How the fit went", *(part for journey in journeys for part in _charts(journey)))


def _charts(journey: Journey) -> Iterable[str]:
    whose = f" for {journey.name}" if journey.name else ""
    if len(journey.step) == 1:  # a solver that looks at all rows only when it may have arrived
        known = ", ".join(f"{SERIES[name]} {values[0]:.6g}" for name, values in journey.series.items())
        yield paragraph(f"The only step that was measured{whose} is the last, {journey.step[0]:,.0f}: {known}.")
        return
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
    columns = {SERIES[name]: values for name, values in journey.series.items()}
    columns |= {} if journey.gap is None else {"gap": journey.gap}
    rows = [[f"{journey.step[k]:,.0f}", *(f"{v[k]:.6g}" for v in columns.values())] for k in some(len(journey.step))]
    yield folded(NUMBERS, table(["step", *columns], rows, numbers=range(1 + len(columns))))


def _by_step(title: str, label: str, step: Any, series: dict[str, Any]) -> str:
    """Return a chart by step, logarithmic where its numbers span more than a scale or two."""
    values = np.concatenate([one[np.isfinite(one)] for one in series.values()])
    positive = values[values > 0]
    wide = bool(len(positive) == len(values) > 0 and positive.max() > 50 * positive.min())
    y = Axis.over(label, values, logarithmic=wide)
    lined = {name: (step, one) for name, one in series.items()}
    return f"<h3>{text(title)}</h3>" + lines(Axis.over("step", step), y, lined, title=title, points=len(step) < 30)
