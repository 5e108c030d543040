"""Columns that are combinations of others on all rows (aliased), and rows that span all rows."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from .._core import is_sparse
from .._types import IntArray
from ..arithmetic import rational
from ..arithmetic.exact import depends
from ._question import Question

#: A column, and the columns that it is a combination of, with their factors; column d is the constant 1.
Dependencies = Mapping[int, Mapping[int, Fraction]]


def involved(dependencies: Dependencies) -> list[int]:
    """Return the columns of some relations between columns.

    Examples
    --------
    >>> involved({3: {0: Fraction(1), 1: Fraction(0)}})
    [0, 3]
    """
    return sorted({*dependencies, *(j for others in dependencies.values() for j, factor in others.items() if factor)})


def spanned(asked: Question, rows: list[int]) -> tuple[dict[int, dict[int, Fraction]], IntArray]:
    """Return columns as combinations of others on all rows, if these rows span all; else rows that they do not."""
    A = asked.rows(rows)
    M, _, c = rational.to_whole(A.toarray() if is_sparse(A) else A)
    # the last column, the intercept's, is the first to be kept
    chosen, backwards = rational.pivots(M[:, ::-1], asked.clock)
    pivot = [asked.size - 1 - j for j in backwards]
    free = [j for j in range(asked.size) if j not in set(pivot)]
    N, D = rational.solve(M[chosen][:, pivot], M[chosen][:, free], asked.clock)
    found: dict[int, dict[int, Fraction]] = {}
    for k, j in enumerate(free):
        found[j] = {
            p: Fraction(value, D) * Fraction(2) ** int(c[j] - c[p])
            for p, value in zip(pivot, N[:, k], strict=True)
            if value
        }
        if depends(asked.X, j, found[j], intercept=asked.intercept, clock=asked.clock):
            continue
        theta = [-found[j].get(p, Fraction(0)) for p in range(asked.size)]
        theta[j] = Fraction(1)
        return {}, np.flatnonzero(asked.sides(theta))[: max(50, 2 * asked.size)]
    return found, np.empty(0, dtype=np.int64)


def aliases(asked: Question, rows: list[int]) -> tuple[dict[int, dict[int, Fraction]], list[int]]:
    """Return columns that are combinations of others on all rows, and rows that span all, beginning with some."""
    while True:
        dependencies, strangers = spanned(asked, rows)
        if not len(strangers):
            return dependencies, rows
        rows = [*rows, *strangers.tolist()]


def without_aliases(theta: list[Fraction], dependencies: Dependencies) -> list[Fraction]:
    """Return the same plane with no weight on columns that are combinations of others on all rows."""
    moved = list(theta)
    for column, others in dependencies.items():
        weight, moved[column] = moved[column], Fraction(0)
        for j, factor in others.items():
            moved[j] += weight * factor
    return moved
