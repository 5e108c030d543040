"""The sections of a report on thresholds and on how scores rank the rows; `selection.thresholds` does the counting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._common.types import BoolArray, FloatArray, IntArray
from .._common.words import cut
from ..analysis.evaluation import Evaluation
from ..estimators._calibration import Isotonic, Sigmoid, map_of
from ..selection.thresholds import Aim, Counts, in_words
from .markup import NUMBERS, folded, paragraph, section, some, table
from .svg import Axis, lines, stepped

#: Probabilities at which a table says what a threshold would give.
SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


@dataclass(frozen=True)
class Curve:
    """What each threshold on the score would give."""

    threshold: FloatArray  # all that change something, in ascending order
    measures: dict[str, FloatArray]  # accuracy, precision and recall at each
    false_alarms: FloatArray  # the share of the first class that is taken for the second, at each
    chosen: float  # the one in use
    at_chosen: dict[str, float]
    least: float  # the least score predicted as the second class: `chosen`, or the first number above 0 by default
    table: list[tuple[float, dict[str, float]]]  # some thresholds to read, the one in use among them
    probability: Sigmoid | Isotonic | None  # of the second class, by the score; None where there is none
    choice: Mapping[str, Any] | None = None  # what the threshold was chosen for, and on which curve


def curve(model: Any, X: Any, codes: IntArray, threshold: float | None) -> Curve | None:
    """Return accuracy, precision and recall at all thresholds that change them."""
    if len(model.classes_) != 2:
        return None
    score, positive = np.asarray(model.decision_function(X), dtype=np.float64), codes == 1
    chosen, probability = threshold or 0.0, map_of(model)
    if isinstance(probability, Sigmoid) and not probability.slope:  # it tells no rows apart
        probability = None
    least = float(np.nextafter(0.0, 1.0)) if threshold is None else threshold
    thresholds = np.unique(score)
    read = thresholds[some(len(thresholds))] if probability is None else _scores_of(probability)
    read = np.unique(np.append(read, chosen))
    cuts = np.where(read == chosen, least, read)
    (found, alarms), (told, _) = (_at_thresholds(score, positive, at) for at in (thresholds, cuts))
    rows = [(float(at), {name: float(values[k]) for name, values in told.items()}) for k, at in enumerate(read)]
    choice = getattr(model, "threshold_choice_", None) if chosen == getattr(model, "threshold_", None) else None
    return Curve(thresholds, found, alarms, chosen, dict(rows)[chosen], least, rows, probability, choice)


def _scores_of(probability: Sigmoid | Isotonic) -> FloatArray:
    """Return the scores of the probabilities to read, as far as there are some."""
    found = []
    for share in SHARES:
        with suppress(ValueError):  # which no row reaches, or all do
            found.append(probability.score(share))
    return np.array(found)


def _at_thresholds(
    score: FloatArray, positive: BoolArray, thresholds: FloatArray
) -> tuple[dict[str, FloatArray], FloatArray]:
    """Return the measures, and the false alarms, of saying the second class where the score reaches each."""
    found = Counts.at(thresholds, score, positive)
    return {name: getattr(found, name) for name in ("accuracy", "precision", "recall")}, found.false_alarms


def threshold_section(curve: Curve | None, classes: Sequence[Any]) -> str:
    """Return what each threshold would give; nothing with more than two classes."""
    if curve is None:
        return ""
    at = np.asarray if curve.probability is None else curve.probability.probability
    has_probability = curve.probability is not None
    name = f"probability of {cut(str(classes[1]), 20)} from which it is said" if has_probability else "score"
    x = (
        Axis.shares(name, np.append(at(curve.threshold), at(curve.chosen)))
        if has_probability
        else Axis.over(f"{name} from which {cut(str(classes[1]), 20)} is said", [*curve.threshold, curve.chosen])
    )
    chosen = float(at(curve.chosen))
    chart = lines(
        x,
        Axis("share of rows", 0.0, 1.0),
        {name: stepped(at(curve.threshold), values) for name, values in curve.measures.items()},
        title="Accuracy, precision and recall at each threshold",
        mark=(chosen, f"in use: {chosen:.4g}"),
        dots=[(chosen, value) for value in curve.at_chosen.values()],
    )
    said = ", ".join(f"{name} {_written(value)}" for name, value in curve.at_chosen.items())
    reaches = "at least" if curve.least == curve.chosen else "above"
    where = f"the score is {reaches} {curve.chosen:g}"
    where = f"its probability is {reaches} {chosen:.4g} ({where})" if has_probability else where
    return section(
        "The threshold",
        paragraph(f"{classes[1]} is said where {where}: {said}."),
        chart,
        folded(NUMBERS, _threshold_table(curve)),
        *([] if curve.choice is None else _chosen(curve, x, classes)),
    )


def _chosen(curve: Curve, x: Axis, classes: Sequence[Any]) -> list[str]:
    """Return what the threshold was chosen for, and the curve that it was chosen on."""
    told = curve.choice
    assert told is not None
    at = np.asarray if curve.probability is None else curve.probability.probability
    aim, points = Aim.parse(told["aim"]), {name: np.array(told["curve"][name], dtype=float) for name in told["curve"]}
    values = points["value"]
    if aim.name != "costs":
        y = Axis(f"{aim.measure} out of fold", 0.0, 1.0)
    else:
        y = Axis.over(f"{aim.measure} out of fold", values[np.isfinite(values)])
    chosen = float(np.ravel(at(told["threshold"]))[0])
    chart = lines(
        x,
        y,
        {aim.measure: stepped(at(points["threshold"]), values)},
        title="What the threshold was chosen by",
        mark=(chosen, f"chosen: {chosen:.4g}"),
        dots=[(chosen, float(told["value"]))] if told["value"] is not None else [],
    )
    return ["<h3>How it was chosen</h3>", paragraph(f"It was chosen {in_words(told, classes)}."), chart]


def _threshold_table(curve: Curve) -> str:
    probability = curve.probability
    heads = ["score" if probability is None else "probability", *curve.measures]
    rows = []
    for at, values in curve.table:
        place = f"{at if probability is None else float(probability.probability([at])[0]):.4g}"
        used = "\nin use" if at == curve.chosen else ""
        rows.append([f"{place}{used}", *(_written(value) for value in values.values())])
    return table(heads, rows, named=False)


def ranking_section(curve: Curve | None, found: Evaluation) -> str:
    """Return how well scores rank the rows: the ROC curve and that of precision and recall; of two classes only."""
    area = found.measures.get("auc")
    if curve is None or area is None:
        return ""
    recall, precision, alarms = curve.measures["recall"][::-1], curve.measures["precision"][::-1], curve.false_alarms
    second, first = (cut(str(label), 20) for label in (found.classes[1], found.classes[0]))
    at = int(np.searchsorted(curve.threshold, curve.least))  # nothing is said above the highest score
    used = (float(alarms[at]), float(recall[::-1][at])) if at < len(alarms) else (0.0, 0.0)
    roc = lines(
        Axis(f"share of {first} taken for {second}", 0.0, 1.0),
        Axis(f"recall: share of {second} that is found", 0.0, 1.0),
        {"ROC": (np.append(0.0, alarms[::-1]), np.append(0.0, recall))},
        title="ROC curve: recall against false alarms, at all thresholds",
        diagonal=True,
        dots=[used],
    )
    share = float(found.of_class[1].rows / found.rows)
    both = lines(
        Axis(f"recall: share of {second} that is found", 0.0, 1.0),
        Axis(f"precision: share of right among those said {second}", 0.0, 1.0),
        {"precision": stepped(np.append(0.0, recall), np.append(precision[:1], precision))},
        title="Precision against recall, at all thresholds",
        dots=[(used[1], curve.at_chosen["precision"])],
    )
    average = float(np.diff(recall, prepend=0.0) @ precision)
    said = (
        f"A row of {second} has a higher score than one of {first} with probability {area.value:.4f}, the area under "
        f"the ROC curve; by chance (dashed) it would be one half. The average precision is {average:.4f}; by chance it "
        f"would be {share:.4f}, the share of {second}. The dots are the threshold in use."
    )
    charts = f'<div class="charts"><div>{roc}</div><div>{both}</div></div>'
    return section("How well scores rank the rows", paragraph(said), charts)


def _written(value: float) -> str:
    return f"{value:.4f}" if np.isfinite(value) else "undefined"
