"""Positive relations Σ λᵢ aᵢ = 0 between rows, and planes orthogonal to rows, solved for in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .._core import is_sparse
from .._types import FloatArray, IntArray
from ..arithmetic import rational
from ._question import Question, WholeRows
from .floats import View

#: Bits of the weights that may be chosen freely.
GRAIN = 24


@dataclass(frozen=True)
class Relation:
    """Weights with Σ λᵢ aᵢ = 0, positive outside E, and rows outside E that span its rows with E, independently."""

    weights: dict[int, Fraction]
    independent: list[int]


def circuit(asked: Question, basis: list[int], support: IntArray) -> Relation | None:
    """Return λ > 0 on these rows, and any on the basis E, with Σ λᵢ aᵢ = 0, if that determines λ."""
    found = combined(asked, basis, support, np.ones(len(support)))
    if found is None or len(found.independent) != len(found.weights.keys() - basis) - 1:
        return None
    return found


def combined(asked: Question, basis: list[int], support: IntArray, weights: FloatArray) -> Relation | None:
    """Return λ > 0 on these rows, near the weights given, and any on E, with Σ λᵢ aᵢ = 0, if floats were right.

    Rows that depend on others keep their weights, rounded; those of independent rows are solved for.
    """
    rows = [*basis, *support.tolist()]
    whole = asked.whole_rows(rows)
    M = whole.M
    chosen, pivot = rational.pivots(M, asked.clock)
    free = sorted(set(range(len(basis), len(rows))) - set(chosen))
    if not free or len(chosen) > rational.WIDEST:
        return None
    given = _grains(weights[np.array(free) - len(basis)], whole.row_exponents[free])
    N, D = rational.solve(M[chosen][:, pivot].T, -M[free][:, pivot].T.dot(given)[:, None], asked.clock)
    solved = N[:, 0]
    outside = [value for k, value in zip(chosen, solved, strict=True) if k >= len(basis)]
    positive = all(value > 0 or (value == 0 and len(free) == 1) for value in outside)
    others = sorted(set(range(M.shape[1])) - set(pivot))  # what a rank found modulo a prime may have missed
    if not positive or (M[chosen][:, others].T.dot(solved) + M[free][:, others].T.dot(given) * D).any():
        return None
    exact = dict(zip([*chosen, *free], [*solved, *(given * D)], strict=True))
    independent = [rows[k] for k in chosen if k >= len(basis) and exact[k]]
    return Relation({rows[k]: whole.weight(k, value) for k, value in exact.items() if value}, independent)


def _grains(weights: FloatArray, exponents: IntArray) -> Any:
    """Return weights of rows in whole numbers, for rows in whole numbers of these exponents."""
    wanted = weights * np.ldexp(1.0, exponents - exponents.max())
    return np.maximum(1, np.round(np.ldexp(wanted / wanted.max(), GRAIN))).astype(np.int64).astype(object)


def fewest_rows(view: View, support: IntArray, weights: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return as few of the rows as combine to the same point (Carathéodory)."""
    while True:
        block, lengths = view.block(support)
        block = block.toarray() if is_sparse(block) else block
        U, sizes, _ = np.linalg.svd(block, full_matrices=True)
        rank = int((sizes > 1e-11 * sizes.max(initial=0.0)).sum())
        if len(support) - rank < 2:
            return support, weights
        direction = U[:, -1] / lengths  # a second relation between the rows
        positive = direction > 0
        if not positive.any():
            direction, positive = -direction, ~positive
        steps = weights[positive] / direction[positive]
        weights = weights - steps.min() * direction
        out = np.flatnonzero(positive)[int(steps.argmin())]
        stays = np.arange(len(support)) != out
        support, weights = support[stays], np.maximum(weights[stays], 0.0)


def orthogonal(asked: Question, basis: list[int], theta: FloatArray) -> list[Fraction]:
    """Return θ with as many coefficients changed as E has rows, so that aₑ·θ = 0 exactly."""
    whole = asked.whole_rows(basis)
    M, columns = whole.M, whole.columns
    rows, pivot = rational.pivots(M, asked.clock)
    exact = [Fraction(value) for value in theta]
    rest = [k for k in range(len(columns)) if k not in set(pivot)]
    given, scale = _whole_coefficients(whole, exact, rest)
    rhs = -(M[rows][:, rest].dot(given) if rest else np.zeros(len(rows), dtype=object))
    N, D = rational.solve(M[rows][:, pivot], rhs[:, None], asked.clock)
    for k, numerator in zip(pivot, N[:, 0], strict=True):
        exact[columns[k]] = whole.coefficient(k, Fraction(numerator, D * scale))
    return exact


def _whole_coefficients(whole: WholeRows, theta: list[Fraction], which: list[int]) -> tuple[Any, int]:
    """Return some θ_j 2^c_j, those of the whole columns, times a power of two that makes them whole; and that power."""
    phi = [theta[whole.columns[k]] * Fraction(2) ** int(whole.column_exponents[k]) for k in which]
    scale = max((value.denominator for value in phi), default=1)  # all are powers of two
    return np.array([int(value * scale) for value in phi] or [0], dtype=object), scale
