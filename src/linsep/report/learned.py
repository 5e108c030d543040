"""What a model learned, and how: its heaviest weights and the recorded steps of its fit, in numbers and as sections."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._common.types import FloatArray
from ..analysis.importance import MEANING, Importance, odds_ratio, written
from ..estimators._calibration import slope_of
from ..history import histories_of
from .markup import NUMBERS, folded, paragraph, section, some, table, text
from .proofs import certificates
from .svg import Axis, bars, lines

#: How many weights of a plane, planes, steps of a fit, and fits are shown; more planes than the last are folded away.
WEIGHTS, PLANES, STEPS, FITS, OPEN_PLANES = 20, 50, 200, 10, 3
SERIES = {
    "objective": "objective",
    "best": "best so far",
    "risk": "risk (mean loss)",
    "zero_one": "share of mistakes",
}
#: What the share of mistakes counts, which is not one minus the accuracy where rows lie on a plane.
COUNTED = (
    "A row counts as a mistake by step unless its own class has the higher score: a tie, a row on the plane itself, "
    "is one too. Where a fit begins with all weights at 0, all rows are."
)


@dataclass(frozen=True)
class Weights:
    """The most important weights of one plane, by name."""

    towards: str  # what positive weights speak for
    away: str  # what negative ones do
    names: list[str]
    weights: FloatArray  # in the same order
    importance: FloatArray  # see `linsep.analysis.importance`
    intercept: float
    per_unit: FloatArray | None  # per unit of the file's columns, where these were rescaled
    intercept_at_zero: float | None  # and the intercept where all of them are 0
    odds_ratios: list[float] | None  # per unit, of two classes whose probabilities follow a sigmoid of the score
    columns: list[tuple[str, float]]  # columns of the file by importance, where features are parts of them
    left_out: int  # how many weights there are besides
    unit_notes: Sequence[str] = ()  # what a unit is of features that are no column of the file


def planes(
    model: Any,
    names: Sequence[str],
    origins: Sequence[str],
    known: Importance,
    per_unit: tuple[FloatArray, FloatArray] | None,
    relative: FloatArray | None = None,
    unit_notes: Sequence[str] = (),
) -> list[Weights]:
    """Return the most important weights of each plane: |w_j|·sd(x_j) is the importance, the sign the direction.

    Weights relative to reference levels stand for the model's own where they are given.
    """
    two, weights, slope = len(model.coef_) == 1, model.coef_ if relative is None else relative, slope_of(model)
    important, by_column = known.of_features(weights), known.of_columns(weights, origins)
    found = []
    for k, (w, b) in enumerate(zip(weights[:PLANES], np.ravel(model.intercept_), strict=False)):
        order = np.argsort(-important[k], kind="stable")[:WEIGHTS]
        unit, at_zero = (None, None) if per_unit is None else (per_unit[0][k, order], float(per_unit[1][k]))
        columns = sorted(((name, float(one[k])) for name, one in by_column.items()), key=lambda pair: -pair[1])
        towards, away = (model.classes_[1], model.classes_[0]) if two else (model.classes_[k], "the rest")
        chosen, units = w[order], w[order] if unit is None else unit
        odds = None if slope is None else [odds_ratio(slope * one) for one in units]
        shown = columns[:WEIGHTS] if 1 < len(columns) < len(w) else []
        told = [names[j] for j in order], chosen, important[k, order], float(b), unit, at_zero, odds, shown
        found.append(Weights(str(towards), str(away), *told, len(w) - len(order), unit_notes))
    return found


def weights_section(planes: Sequence[Weights]) -> str:
    """Return the weights of each plane as bars."""
    notes = [MEANING, *(planes[0].unit_notes if planes else ())]
    title = "What speaks for what"
    meaning = paragraph(" ".join(f"{note[0].upper()}{note[1:]}." for note in notes), "quiet")
    if len(planes) == 1:
        return section(title, *_plane(planes[0]), meaning)
    few = len(planes) <= OPEN_PLANES
    shown = (folded(f"{one.towards} against {one.away}", "".join(_plane(one)), is_open=few) for one in planes)
    return section(title, *shown, meaning)


def _plane(plane: Weights) -> list[str]:
    against = f"for {plane.towards} against {plane.away}"
    more = f" {plane.left_out:,} less important ones are not shown." if plane.left_out else ""
    ways = f"A bar to the right speaks for {plane.towards}, one to the left for {plane.away}: the longer, the more."
    signed = np.copysign(plane.importance, plane.weights).tolist()
    columns = [_columns(plane.columns, against)] if plane.columns else []
    heading = ["<h3>Features</h3>"] if columns else []
    chart = bars(plane.names, signed, title=f"Importance of features {against}")
    return [*columns, *heading, paragraph(f"{ways}{more}"), chart, folded(NUMBERS, _weights_table(plane))]


def _columns(columns: Sequence[tuple[str, float]], against: str) -> str:
    names, values = [name for name, _ in columns], [value for _, value in columns]
    return "<h3>Columns of the file</h3>" + bars(names, values, title=f"Importance of columns {against}", signed=False)


def _weights_table(plane: Weights) -> str:
    """Return the weights in numbers: per unit of the file's columns where these are known."""
    unit, intercept = plane.weights, plane.intercept
    if plane.per_unit is not None and plane.intercept_at_zero is not None:
        unit, intercept = plane.per_unit, plane.intercept_at_zero
    heads = ["feature", "importance", "weight per unit"]
    columns = [[f"{value:.3g}".replace("inf", "∞") for value in plane.importance]]
    columns += [[f"{value:+.4g}".replace("inf", "∞") for value in unit]]
    if plane.odds_ratios is not None:
        heads.append("odds ratio")
        columns.append([written(value) for value in plane.odds_ratios])
    rows = [list(row) for row in zip(plane.names, *columns, strict=True)]
    return table(heads, [*rows, ["intercept", "", f"{intercept:+.4g}", *[""] * (len(heads) - 3)]])


@dataclass(frozen=True)
class Journey:
    """How one fit went: the numbers that were recorded, by step, thinned to `len(step)` of `recorded` steps.

    `gap` is how far the best plane so far was above the proven bound, as a share of its objective; None where nothing
    is proven.
    """

    name: str
    recorded: int
    step: FloatArray
    series: dict[str, FloatArray]
    gap: FloatArray | None


def journeys(model: Any) -> list[Journey]:
    """Return the recorded steps of each plane's fit; a model from a file has kept few of them, or none."""
    kept, proofs = histories_of(model), certificates(model)
    alone = len(kept) == 1
    found = []
    for k, history in enumerate(kept[:FITS]):
        proof = proofs[k] if len(proofs) == len(kept) else None
        journey = _journey("" if alone else str(model.classes_[k]), history, proof)
        if journey is not None:
            found.append(journey)
    return found


def _journey(name: str, history: Any, proof: Any) -> Journey | None:
    kept = len(history)
    thin = np.unique(np.linspace(0, kept - 1, min(kept, STEPS)).astype(np.int64))
    series = {column: history[column][thin] for column in SERIES} if kept else {}
    series = {column: values for column, values in series.items() if np.isfinite(values).sum() >= min(kept, 2)}
    if "risk" in series and np.allclose(series["risk"], series["objective"], rtol=1e-9, atol=0.0, equal_nan=True):
        del series["risk"]  # nothing is penalised: it would lie on the objective
    if not series:
        return None
    return Journey(name, history.offered, history["step"][thin], series, _gap(series.get("best"), proof))


def _gap(best: FloatArray | None, proof: Any) -> FloatArray | None:
    """Return (P − D)/P at the best plane so far, for the bound D that is proven in the end.

    The history has the mean objective F = P/(C Σs), the certificate P and D: both have the same ratio of D to the last
    objective, whatever the scale.
    """
    if best is None or proof is None or not proof.proven or not proof.primal > 0 or not best[-1] > 0:
        return None
    bound = best[-1] * proof.dual / proof.primal
    return np.asarray((best - bound) / best)


def journeys_section(journeys: Sequence[Journey]) -> str:
    """Return how each fit went, as curves."""
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
    columns = {SERIES[name]: values for name, values in journey.series.items()}
    if np.array_equal(columns.get(SERIES["best"], ()), columns.get(SERIES["objective"], ())):
        del columns[SERIES["best"]]  # every step is the best so far
    wrong = {name: values for name, values in columns.items() if name == SERIES["zero_one"]}
    drawn = {name: values for name, values in columns.items() if name not in wrong}
    gap = {} if journey.gap is None else {"gap to the proven bound": journey.gap}
    for title, label, series in (
        (f"Mean objective by step{whose}", "mean objective", drawn),
        (f"Gap of the best so far to the proven bound{whose}, as a share", "relative gap", gap),
        (f"Share of mistakes by step{whose}", SERIES["zero_one"], wrong),
    ):
        if series:
            yield _by_step(title, label, journey.step, series)
    if wrong:
        yield paragraph(COUNTED, "quiet")
    columns |= {} if journey.gap is None else {"gap": journey.gap}
    rows = [[f"{journey.step[k]:,.0f}", *(f"{v[k]:.4g}" for v in columns.values())] for k in some(len(journey.step))]
    yield folded(NUMBERS, table(["step", *columns], rows, named=False))


def _by_step(title: str, label: str, step: Any, series: dict[str, Any]) -> str:
    """Return a chart by step, logarithmic where its numbers span more than a scale or two."""
    values = np.concatenate([one[np.isfinite(one)] for one in series.values()])
    positive = values[values > 0]
    wide = bool(len(positive) == len(values) > 0 and positive.max() > 50 * positive.min())
    y = Axis.over(label, values, logarithmic=wide)
    lined = {name: (step, one) for name, one in series.items()}
    return f"<h3>{text(title)}</h3>" + lines(Axis.over("step", step), y, lined, title=title, points=len(step) < 30)
