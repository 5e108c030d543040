"""The rows that have weight in a likelihood, and those of them that lie on every weak plane."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._types import FloatArray, IntArray
from ..arithmetic.exact import Clock
from ._input import counted_rows, matrix_of
from ._question import Question
from .face import Face
from .proof import Separability


@dataclass(frozen=True, eq=False, kw_only=True)
class CountedRows(Question):
    """The rows with weight, their labels ±1 and weights, and where each is in the data given."""

    c: FloatArray
    numbers: IntArray
    place: dict[int, int]

    @classmethod
    def of(
        cls, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, found: Separability, clock: Clock
    ) -> CountedRows:
        """Return the rows of the data that a verdict is about."""
        matrix = matrix_of(X)
        n = int(matrix.shape[0])
        rows = np.arange(n) if sample_weight is None else counted_rows(sample_weight, n)
        c = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        labels = np.where(np.asarray(y) == found.classes[1], 1.0, -1.0)
        place = dict(zip(rows.tolist(), range(len(rows)), strict=True))
        part = matrix if len(rows) == n else matrix[rows]
        return cls(part, labels[rows], found.fit_intercept, clock, c=c[rows], numbers=rows, place=place)

    def has(self, named: Iterable[int]) -> bool:
        """Whether these rows of the data given have weight."""
        return all(i in self.place for i in named)

    def number(self, i: int) -> int:
        """Return which of the rows given one is."""
        return int(self.numbers[i])

    def held(self, found: Separability) -> Face:
        """Return the span of the rows on every weak plane: of all, if the classes overlap; of none, if separable."""
        return self.face([self.place[i] for i in found.support or []])

    def on_face(self, found: Separability) -> CountedRows:
        """Return the rows on every weak plane alone."""
        if found.verdict == "overlap":
            return self
        on = np.flatnonzero(self.sides(found.theta) == 0)
        return replace(self, X=self.X[on], y=self.y[on], c=self.c[on], numbers=self.numbers[on])
