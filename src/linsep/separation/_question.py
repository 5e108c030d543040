"""The data of one question: rows aᵢ = yᵢ [xᵢ, 1] in whole numbers, beside a plane, and in floats of like scale.

Modulo the span V of some of them (the quotient space) rows are seen in floats, in coordinates orthogonal to V.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .._common.reading import ClaimError
from .._common.types import FloatArray, IntArray
from .._core import Rows, is_sparse
from ..arithmetic import rational
from ..arithmetic.exact import Check, Clock, sides
from ..geometry import augment
from ._input import counted_rows, matrix_of
from .face import Face, signed_rows
from .floats import View, filled, pivot_columns, scaled

if TYPE_CHECKING:
    from .proof import Separability

#: The share of a row's length outside V below which floats say nothing.
NEGLIGIBLE = 1e-9
#: A plane θ = [w, b]: floats in an array, or a list of Fractions.
Plane = Any


def held(check: Check) -> Check:
    """Return a check that holds; raise `ClaimError` for one that does not."""
    if not check:
        raise ClaimError(check.reason)
    return check


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

    def only(self, which: IntArray) -> Self:
        """Return the same question of some of the rows."""
        return replace(self, X=self.X[which], y=self.y[which])

    def face(self, rows: Sequence[int]) -> Face:
        """Return the span of some rows."""
        return Face(self.X, self.y, rows, intercept=self.intercept, clock=self.clock)

    def sides(self, theta: Plane) -> IntArray:
        """Return the exact sign of aᵢ·θ of every row."""
        return sides(self.X, self.y, theta, intercept=self.intercept, clock=self.clock)

    def holds(self, check: Callable[..., Check], *claimed: Any) -> Check:
        """Check claims on these rows in exact arithmetic; raise `ClaimError` for what does not hold."""
        return held(check(self.X, self.y, *claimed, intercept=self.intercept, time_limit=self.clock.left()))

    def refused(self, view: View, theta: Plane) -> IntArray:
        """Return the rows that the plane has on the wrong side, or on itself where it should not."""
        signs = self.sides(theta)
        bad = signs < 0
        bad[view.live] |= signs[view.live] == 0
        return np.flatnonzero(bad)


@dataclass(frozen=True, eq=False, kw_only=True)
class CountedRows(Question):
    """The rows with weight, their labels ±1 and weights, and where each is in the data given."""

    c: FloatArray
    numbers: IntArray
    place: range | dict[int, int]

    @classmethod
    def of(cls, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, found: Separability, clock: Clock) -> Self:
        """Return the rows of the data that a verdict is about; raise `ClaimError` for labels that it does not know."""
        matrix, labels = matrix_of(X), np.asarray(y)
        n, (negative, positive) = int(matrix.shape[0]), found.classes
        rows = np.arange(n) if sample_weight is None else counted_rows(sample_weight, n)
        if labels.shape != (n,) or not np.isin(labels[rows], np.array(found.classes)).all():
            raise ClaimError(f"y must hold a label {negative!r} or {positive!r} for each row of X")
        c = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        signs = np.where(labels[rows] == positive, 1.0, -1.0)
        place = range(n) if len(rows) == n else {int(i): k for k, i in enumerate(rows)}
        part = matrix if len(rows) == n else matrix[rows]
        return cls(part, signs, found.fit_intercept, clock, c=c[rows], numbers=rows, place=place)

    def check_names(self, named: Iterable[int]) -> None:
        """Raise `ClaimError` unless all of these rows of the data given have weight."""
        if not all(i in self.place for i in named):
            raise ClaimError("the proof names a row that the data do not have, or that has no weight")

    def held(self, found: Separability) -> Face:
        """Return the span of the rows on every weak plane: of all, if the classes overlap; of none, if separable."""
        return self.face([self.place[i] for i in found.support or []])

    def on_face(self, found: Separability) -> CountedRows:
        """Return the rows on every weak plane alone."""
        if found.verdict == "overlap":
            return self
        on = np.flatnonzero(self.sides(found.theta) == 0)
        return replace(self, X=self.X[on], y=self.y[on], c=self.c[on], numbers=self.numbers[on])


def whole_space(asked: Question) -> View:
    """Return the rows as they are, where V is nothing; without an intercept, rows of zeros are left out."""
    live = np.arange(asked.n) if asked.intercept else np.flatnonzero(filled(asked.X))
    return View(Rows(asked.like_scaled[0]), asked.y, asked.intercept, lambda v: v, live)


def quotient(asked: Question, basis: list[int], inside: Collection[int]) -> View:
    """Return the rows modulo the span of a basis; rows that are known to be inside are left out."""
    X, _ = asked.like_scaled
    asked.clock.check("a change of coordinates", 5.0 * asked.size**3 + 2.0 * asked.size * Rows(X).stored)
    A = signed_rows(X, asked.y, basis, intercept=asked.intercept)
    if is_sparse(X) and asked.size > 1000:
        reduced, lift = _eliminated(asked, A)
    else:
        reduced, lift = _projected(asked, A.toarray() if is_sparse(A) else A)
    rows = Rows(reduced)
    outside = rows.squared_norms() > NEGLIGIBLE**2 * (Rows(X).squared_norms() + asked.intercept)
    outside[list(inside)] = False
    return View(rows, asked.y, False, lift, np.flatnonzero(outside))


def _projected(asked: Question, A: FloatArray) -> tuple[FloatArray, Callable[[FloatArray], FloatArray]]:
    """Return the rows in an orthonormal basis of the complement, for dense data."""
    X, _ = asked.like_scaled
    Q, _ = np.linalg.qr((A / np.linalg.norm(A, axis=1, keepdims=True)).T, mode="complete")
    Z = Q[:, len(A) :]
    reduced = np.asarray(X @ Z[: asked.d], dtype=np.float64)
    if asked.intercept:
        reduced += Z[asked.d]
    return reduced, lambda v: np.asarray(Z @ v)


def _eliminated(asked: Question, A: Any) -> tuple[Any, Callable[[FloatArray], FloatArray]]:
    """Return the rows with as many columns eliminated as the basis has rows, for sparse data."""
    X, _ = asked.like_scaled
    used = np.unique(A.indices)
    # rare columns go first: a common one, such as the intercept's, would fill all rows
    common = np.append(X.getnnz(axis=0), [asked.n] * asked.intercept)[used]
    pivot = used[pivot_columns(A[:, used].toarray() / common)]
    free = np.setdiff1d(np.arange(asked.size), pivot)
    R = sparse.csr_matrix(np.linalg.solve(A[:, pivot].toarray(), A[:, free].toarray()))
    whole = augment(X) if asked.intercept else X
    reduced = sparse.csr_matrix(whole[:, free] - whole[:, pivot] @ R)
    reduced.data[np.abs(reduced.data) < NEGLIGIBLE] = 0.0
    reduced.eliminate_zeros()

    def lift(v: FloatArray) -> FloatArray:
        theta = np.zeros(asked.size)
        theta[free], theta[pivot] = v, -(R @ v)
        return theta

    return reduced, lift
