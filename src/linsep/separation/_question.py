"""The data of one question: rows aᵢ = yᵢ [xᵢ, 1] in floats of like scale, in whole numbers, and beside a plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from .._core import is_sparse
from .._types import FloatArray, IntArray
from ..arithmetic import rational
from ..arithmetic.exact import Clock, sides
from .face import Face, signed_rows
from .floats import View, scaled

#: A plane θ = [w, b]: floats in an array, or a list of Fractions.
Plane = Any


@dataclass(frozen=True, eq=False)
class WholeRows:
    """Rows aᵢ in whole numbers, M = 2^r aᵢ 2^c, on the columns where they are not all zero."""

    M: Any
    columns: list[int]
    row_exponents: IntArray
    column_exponents: IntArray

    def weight(self, k: int, value: int) -> Fraction:
        """Return the weight of row aₖ that a weight of the whole row k means."""
        return Fraction(value) / Fraction(2) ** int(self.row_exponents[k])

    def coefficient(self, k: int, value: Fraction) -> Fraction:
        """Return θ in the column's own scale from what it is for the whole column k."""
        return value / Fraction(2) ** int(self.column_exponents[k])


@dataclass(frozen=True, eq=False)
class Question:
    """Whether a plane separates these rows, and what the answer may cost."""

    X: Any
    y: FloatArray
    intercept: bool
    clock: Clock
    seed: int = 0

    @property
    def n(self) -> int:
        """How many rows there are."""
        return int(self.X.shape[0])

    @property
    def d(self) -> int:
        """How many columns there are."""
        return int(self.X.shape[1])

    @property
    def size(self) -> int:
        """How long θ is."""
        return self.d + self.intercept

    @cached_property
    def like_scaled(self) -> tuple[Any, IntArray]:
        """X with columns of about the same size, and the powers of two that make them so."""
        return scaled(self.X)

    def rows(self, which: Sequence[int] | IntArray) -> Any:
        """Return some rows aᵢ, dense or sparse as X is."""
        return signed_rows(self.X, self.y, which, intercept=self.intercept)

    def whole_rows(self, which: Sequence[int]) -> WholeRows:
        """Return some rows aᵢ in whole numbers, each up to a positive factor."""
        A = self.rows(which)
        columns = np.unique(A.indices) if is_sparse(A) else np.arange(self.size)
        M, r, c = rational.to_whole(A[:, columns].toarray() if is_sparse(A) else A)
        return WholeRows(M, columns.tolist(), r, c)

    def only(self, which: IntArray) -> Question:
        """Return the same question of some of the rows."""
        return replace(self, X=self.X[which], y=self.y[which])

    def face(self, rows: Sequence[int]) -> Face:
        """Return the span of some rows."""
        return Face(self.X, self.y, rows, intercept=self.intercept, clock=self.clock)

    def sides(self, theta: Plane) -> IntArray:
        """Return the exact sign of aᵢ·θ of every row."""
        return sides(self.X, self.y, theta, intercept=self.intercept, clock=self.clock)

    def refused(self, view: View, theta: Plane) -> IntArray:
        """Return the rows that the plane has on the wrong side, or on itself where it should not."""
        signs = self.sides(theta)
        bad = signs < 0
        bad[view.live] |= signs[view.live] == 0
        return np.flatnonzero(bad)
