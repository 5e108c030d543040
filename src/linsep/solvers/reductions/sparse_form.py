"""Dense rows that are mostly zeros, as images are: kept as a sparse matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from ..._core import Rows
from ...objective.objective import Objective
from .reduction import Reduction


@dataclass(frozen=True, eq=False)
class SparseForm(Reduction):
    """The same rows without their zeros."""

    rows: Rows
    help = "sparse"
    needs = frozenset({"rows"})

    @classmethod
    def find(cls, objectives: Sequence[Objective]) -> Self | None:
        """Return the sparse form, where that is shorter."""
        rows, lean = objectives[0].rows, objectives[0].rows.lean()
        return None if lean is rows else cls(lean)

    def apply(self, objective: Objective) -> Objective:
        """Return the objective on sparse rows."""
        return objective.with_rows(self.rows)
