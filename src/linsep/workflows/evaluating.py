"""What is said of an evaluation: measures and confusions with their intervals."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..analysis.evaluation import Evaluation, Measure
from .summaries import finite

TITLES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "log_loss": "log loss",
    "auc": "area under ROC",
}


def evaluation_record(found: Evaluation) -> dict[str, Any]:
    """Return ``{"accuracy": {"value": …, "low": …, "high": …}, …}``."""
    measures = {name: asdict(one) for name, one in found.measures.items()}
    confusion = [[asdict(one) for one in row] for row in found.confusion]
    return finite({"rows": found.rows, **measures, "classes": found.classes, "confusion": confusion})  # type: ignore[no-any-return]


def evaluation_text(found: Evaluation) -> str:
    """Return the same for people."""
    lines = [f"{found.rows:,} rows; in brackets, where 95 % of resampled values lie", ""]
    lines += [
        f"{TITLES[name]:18} {one.value:.4f}  [{one.low:.4f}, {one.high:.4f}]" for name, one in found.measures.items()
    ]
    return "\n".join([*lines, "", *_confusion_lines(found)])


def _confusion_lines(found: Evaluation) -> list[str]:
    cells = [[_cell(one) for one in row] for row in found.confusion]
    heads = [f"said {label}" for label in found.classes]
    sides = [f"is {label}" for label in found.classes]
    width = max(len(side) for side in sides)
    widths = [max(len(heads[k]), *(len(row[k]) for row in cells)) for k in range(len(heads))]
    lines = [" " * width + "".join(f"  {head:>{w}}" for head, w in zip(heads, widths, strict=True))]
    for side, row in zip(sides, cells, strict=True):
        lines.append(f"{side:{width}}" + "".join(f"  {cell:>{w}}" for cell, w in zip(row, widths, strict=True)))
    return lines


def _cell(one: Measure) -> str:
    return f"{one.value:,.0f} [{one.low:,.0f}, {one.high:,.0f}]"
