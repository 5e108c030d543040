"""What is said of an evaluation: measures and confusions with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from .._common.types import FloatArray
from .._common.words import cut, many
from ..analysis.evaluation import Evaluation, Measure
from ..analysis.reliability import Reliability
from ..data.sources import DataError
from .preparation import Examples
from .summaries import finite
from .weighing import Weighing

#: Of more classes than this, only the worst are told, and so many of their confusions.
MANY, WORST = 10, 10


def weights_of(examples: Examples, column: str | None) -> FloatArray | None:
    """Return how much each row counts, by a column of its file."""
    if column is None:
        return None
    if column == examples.weighing.sample_weight:
        return examples.weight
    if examples.frame is None:
        raise DataError(f"{examples.name}: its columns have no names; --sample-weight needs a table")
    if column not in examples.frame.column_names:
        raise DataError(f"{examples.name}: no column {column!r}; --sample-weight names one with numbers")
    if column in (examples.encoding.target, *getattr(examples.encoding, "needed", ())):
        raise DataError(f"column {column!r} cannot be the weight of the rows: the model predicts it or predicts by it")
    rows, counted, _ = Weighing(sample_weight=column).of(examples.frame, examples.name)
    if not len(rows):
        raise DataError(f"{examples.name}, column {column!r}: all weights are 0, and so nothing counts")
    weight = np.zeros(len(examples.y))
    weight[rows] = counted
    return weight


def counted_once(of_fit: Weighing, here: Weighing) -> list[str]:
    """Say that rows to measure on count alike, where those of the fit did not."""
    if of_fit.sample_weight is not None:
        return [f"each row counts once; evaluate --sample-weight {of_fit.sample_weight!r} weighs as in the fit"]
    lacks = of_fit.weights is not None and here.weights is None
    return (
        [f"each row counts once: there is no column {of_fit.weights!r}, by which those of the fit did"] if lacks else []
    )


def evaluation_record(found: Evaluation) -> dict[str, Any]:
    """Return ``{"accuracy": {"value": …, "low": …, "high": …}, …}``."""
    told = found.reliability
    record = {
        "rows": found.rows,
        **{name: asdict(one) for name, one in found.measures.items()},
        "majority_baseline": {"class": found.majority, **asdict(found.baseline)},
        "classes": found.classes,
        "by_class": [asdict(one) for one in found.of_class],
        "confusion": [[asdict(one) for one in row] for row in found.confusion],
        "worst_confusions": [asdict(one) for one in found.worst_confusions(WORST)],
        "reliability": told and asdict(told) | {"is_off": told.is_off, "advice": told.advice},
    }
    return finite(record)  # type: ignore[no-any-return]


def evaluation_text(found: Evaluation) -> str:
    """Return the same for people."""
    lines = [f"{many(found.rows, 'row')}; in brackets, 95 % confidence intervals", ""]
    lines += _aligned([(title, *_cells(one)) for title, one in found.titled()])
    if len(found.classes) > 2:
        lines += ["", *_class_lines(found)]
    few = len(found.classes) <= MANY
    if found.reliability is not None:
        lines += _reliability_lines(found.reliability, few=few)
    return "\n".join([*lines, "", *(_confusion_lines(found) if few else _worst_lines(found))])


def _reliability_lines(found: Reliability, *, few: bool) -> list[str]:
    """Return how often what is said comes true, by tenths, and what to do where it does not; of many classes that."""
    of = "the likeliest class" if found.of is None else cut(str(found.of), 24)
    head = (f"probability of {of}", "rows", "came true", "95 % for all of these", "")
    rows = [
        (
            f"{one.said:.{one.digits}f}",
            f"{one.count:,}",
            *_cells(Measure(one.came_true, one.low, one.high)),
            "*" * one.is_off,
        )
        for one in found.bins
    ]
    off = ["* off by more than chance"] if any(one.is_off for one in found.bins) else []
    return [*(["", *_aligned([head, *rows]), *off] if few else []), *(["", found.advice] if found.advice else [])]


def _cells(one: Measure | None) -> tuple[str, str]:
    return ("undefined", "") if one is None else (f"{one.value:.4f}", f"[{one.low:.4f}, {one.high:.4f}]")


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return lines of cells, words to the left and numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = "<" + ">" * (len(widths) - 1)
    forms = [f"{side}{width}" for side, width in zip(sides, widths, strict=True)]
    return ["  ".join(map(format, row, forms)).rstrip() for row in rows]


def _class_lines(found: Evaluation) -> list[str]:
    """Return the measures of each class; of many, of those with the lowest F1."""
    shown = found.worst_told()[:MANY]
    if len(found.classes) <= MANY:
        heading, shown = [], found.of_class
    else:
        heading = [f"the {MANY} of {len(found.classes)} classes with the lowest F1"]
    head = ["class", "rows", "precision", "", "recall", "", "F1", ""]
    rows = [
        [cut(str(one.label), 30), f"{one.rows:,}", *_cells(one.precision), *_cells(one.recall), *_cells(one.f1)]
        for one in shown
    ]
    return [*heading, *_aligned([head, *rows])]


def _worst_lines(found: Evaluation) -> list[str]:
    """Return which classes are confused most often."""
    worst = found.worst_confusions(WORST)
    rows = [
        (cut(str(one.truth), 30), cut(str(one.said), 30), f"{one.count:,.6g}", f"{100 * one.share:.1f} % of its rows")
        for one in worst
    ]
    head = ("is", "said", "rows", "")
    return [f"the {len(worst)} most frequent confusions", *_aligned([head, *rows])] if rows else ["no confusions"]


def _confusion_lines(found: Evaluation) -> list[str]:
    heads = ["", *(f"said {label}" for label in found.classes)]
    rows = [[f"is {label}", *map(_cell, row)] for label, row in zip(found.classes, found.confusion, strict=True)]
    return _aligned([heads, *rows])


def _cell(one: Measure) -> str:
    return f"{one.value:,.0f} [{one.low:,.0f}, {one.high:,.0f}]"
