"""The worst mistakes, and why: what moves the score of single rows, in numbers and as a section."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._common.types import FloatArray, IntArray
from .._common.words import cut
from .markup import paragraph, section, text

#: From the number of a row to its cells by name.
Cells = Callable[[int], Mapping[str, Any]]

#: How many mistakes are shown, and how many cells of each row.
MISTAKES, CELLS = 10, 12
#: Words of a text that are named, and columns that move the score by less than this share of all are not.
WORDS, SLIGHT = 8, 0.02
#: A longer value than this has a line of its own.
LONG = 30


@dataclass(frozen=True)
class Mistake:
    """One row that is on the wrong side."""

    row: int  # its number, from 1
    truth: str
    said: str
    distance: float
    cells: list[tuple[str, str]]  # columns of the row, those that matter the most first
    pushes: dict[str, float]  # how much columns move the score from truth to what was said, against the average row
    times: int = 1  # how often it was counted


def worst(
    model: Any,
    codes: IntArray,
    said: IntArray,
    distance: FloatArray,
    reasons: Reasons,
    numbers: IntArray | None = None,
) -> list[Mistake]:
    """Return the rows farthest on the wrong side, with what matters in them; `numbers` are those of the rows.

    A row of the file that was counted several times is one.
    """
    numbers = np.arange(len(codes)) if numbers is None else numbers
    wrong = np.flatnonzero(said != codes)
    ranked = wrong[np.argsort(distance[wrong], kind="stable")]
    _, first, counts = np.unique(
        np.column_stack([numbers[ranked], codes[ranked]]), axis=0, return_index=True, return_counts=True
    )
    shown = np.argsort(first)[:MISTAKES]
    labels = [str(label) for label in model.classes_]
    found = []
    for i, times in zip(ranked[first[shown]].tolist(), counts[shown].tolist(), strict=True):
        cells, pushes = reasons.of(i, int(codes[i]), int(said[i]))
        truth, answer = labels[codes[i]], labels[said[i]]
        found.append(Mistake(int(numbers[i]) + 1, truth, answer, float(distance[i]), cells, pushes, times))
    return found


@dataclass(frozen=True)
class Reasons:
    """What moves the score of single rows, by the columns that their features are made of."""

    coef: FloatArray  # of shape (K, d)
    X: Any
    average: FloatArray  # of the rows of the fit
    names: Sequence[str]  # of each feature
    origins: Sequence[str]  # of the column that it is part of
    cells: Cells | None = None  # without it the features are what is shown

    def of(self, i: int, truth: int, said: int) -> tuple[list[tuple[str, str]], dict[str, float]]:
        """Return the cells of a row, those that matter the most first, and by how much columns push it to be wrong."""
        row = np.asarray(self.X[[i]].toarray() if hasattr(self.X, "tocsr") else self.X[[i]], dtype=np.float64)[0]
        w = self.coef[said] - self.coef[truth] if len(self.coef) > 1 else (2 * said - 1) * self.coef[0]
        push = w * (row - self.average)
        if self.cells is None:
            ranked_features: list[int] = np.argsort(-np.abs(push), kind="stable").tolist()
            order = [j for j in ranked_features if row[j] != 0 or len(row) <= CELLS][:CELLS]
            return (
                [(self.names[j], _cell(float(row[j]))) for j in order],
                {self.names[j]: float(push[j]) for j in order},
            )
        pushes: dict[str, float] = {}
        for name, value in zip(self.origins, push.tolist(), strict=True):
            pushes[name] = pushes.get(name, 0.0) + value
        cells = dict(self.cells(i))
        ranked = sorted((name for name in cells if name in pushes), key=lambda name: -abs(pushes[name]))
        least = SLIGHT * sum(map(abs, pushes.values()))
        matter = [name for name in ranked if abs(pushes[name]) >= least]
        rest = [name for name in cells if name not in pushes] + [name for name in ranked if name not in matter]
        shown = [*matter, *rest][:CELLS]
        pairs = [pair for name in shown for pair in ((str(name), _cell(cells[name])), *self._words(name, push, row))]
        return pairs, {name: pushes[name] for name in matter}

    def _words(self, column: str, push: FloatArray, row: FloatArray) -> list[tuple[str, str]]:
        """Return the words of a text that matter, each with its push."""
        begin = f"{column}: "
        given: list[int] = np.flatnonzero(row).tolist()
        mine = [j for j in given if self.origins[j] == column and self.names[j].startswith(begin)]
        loudest = sorted(mine, key=lambda j: -abs(push[j]))[:WORDS]
        words = ", ".join(f"{self.names[j].removeprefix(begin)} {push[j]:+z.3g}" for j in loudest)
        return [(f"words of {column}", words)] if words else []


def _cell(value: Any) -> str:
    if value is None or value == "":
        return "(missing)"
    return f"{value:.6g}" if isinstance(value, float | np.floating) else cut(str(value), 240)


def frame_cells(table: Any) -> Cells:
    """Return how to read the cells of a row of a data frame."""
    import narwhals as nw

    frame = nw.from_native(table, eager_only=True)
    return lambda i: dict(zip(frame.columns, frame.row(i), strict=True))


def mistakes_section(mistakes: Sequence[Mistake], n_mistakes: int) -> str:
    """Return the rows farthest on the wrong side."""
    if not mistakes:
        return section("The worst mistakes", paragraph("There are none: all rows are on their own side."))
    shown = "".join(
        "<li>"
        + paragraph(f"Row {one.row:,}{_often(one)} is {one.truth}, said {one.said} (wrong by {-one.distance:.3g})")
        + f"{_reasons(one)}</li>"
        for one in mistakes
    )
    return section(
        "The worst mistakes",
        paragraph(
            f"{sum(one.times for one in mistakes):,} of {n_mistakes:,}, the farthest on the wrong side first. Of each "
            "row the columns that matter the most come first, with how much they move its score towards what was said "
            "(+) or the truth (−), compared with the average row."
        ),
        f'<ol class="mistakes">{shown}</ol>',
    )


def _often(one: Mistake) -> str:
    return f", {one.times:,} times," if one.times > 1 else ""


def _reasons(one: Mistake) -> str:
    """Return the cells of a row, each with its push."""
    rows = []
    for name, value in one.cells:
        push = f'<span class="push">{one.pushes[name]:+z.3g}</span>' if name in one.pushes else ""
        kind = ' class="long"' if len(value) > LONG else ""
        rows.append(f"<dt{kind}>{text(name)}</dt><dd{kind}>{text(value)}{push}</dd>")
    return f"<dl>{''.join(rows)}</dl>"
