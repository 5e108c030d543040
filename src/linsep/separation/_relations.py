"""Relations, solved for in whole numbers: Σ λᵢ aᵢ = 0 between rows, and aliased columns.

Where floats do not resolve it, the dual simplex method finds a plane that is strict on some rows, or the relation that
excludes one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .._common.types import FloatArray, IntArray
from .._core import is_sparse
from ..arithmetic import rational
from ..arithmetic.exact import Dependencies, depends
from ._question import Plane, Question, WholeRows
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


# -- the dual simplex method ------------------------------------------------------------------------------------------


def exactly(asked: Question, basis: list[int], view: View, working: IntArray) -> Relation | Plane:
    """Return a plane with aₑ·θ = 0 on E that is strict on the view's rows, or λ that excludes one.

    The method runs on a working set that grows by the rows that its plane gets wrong.
    """
    first: list[int] = []
    while True:
        found, first = _simplex(asked, basis, working, first)
        if isinstance(found, Relation):
            return found
        new = np.setdiff1d(asked.refused(view, found), working)
        if not len(new):
            return found
        working = np.concatenate([working, new[: max(50, asked.size)]])


def _simplex(
    asked: Question, zero: list[int], working: IntArray, first: list[int]
) -> tuple[Relation | Plane, list[int]]:
    """Return a plane with aₑ·θ = 0 on E and aᵢ·θ > 0 on these rows, or λ that excludes one; and the last basis.

    The dual simplex method for  min c·θ  s.t.  aᵢ·θ ≥ 1, aₑ·θ = 0  with a c = Σ μⱼ aⱼ that makes the first basis
    dual feasible. A basis is E and rows J; its θ has aⱼ·θ = 1. A row that it gets wrong, aᵢ = Σ αⱼ aⱼ, enters for
    the j of least μⱼ/αⱼ with αⱼ > 0; if there is none, aᵢ − Σ αⱼ aⱼ = 0 is the proof.
    """
    e = len(zero)
    rows = [*zero, *first, *(i for i in working.tolist() if i not in set(first))]
    whole = asked.whole_rows(rows)
    basis, pivot = rational.pivots(whole.M, asked.clock)
    P = whole.M[:, pivot]
    rng = np.random.default_rng(asked.seed)
    mu = {k: Fraction(int(rng.integers(1, 2**20))) for k in basis if k >= e}
    while True:
        asked.clock.check("exact pivots")
        ones = np.array([int(k >= e) for k in basis], dtype=object)
        N, D = rational.solve(P[basis], ones[:, None], asked.clock)
        z = P[e:].dot(N[:, 0])
        if all(value > 0 for value in z):
            return _plane(asked.size, whole, pivot, N[:, 0], D), [rows[k] for k in basis if k >= e]
        # a step of length zero would let the method run in circles, unless the first row enters (Bland)
        stuck = any(value == 0 for value in mu.values())
        i = e + (next(k for k, value in enumerate(z) if value <= 0) if stuck else min(range(len(z)), key=z.item))
        alpha, scale = rational.solve(P[basis].T, P[i][:, None], asked.clock)
        share = dict(zip(basis, alpha[:, 0], strict=True))
        leaving = [k for k in basis if k >= e and share[k] > 0]
        if not leaving:
            circuit = {i: scale} | {k: -value for k, value in share.items() if value}
            exact = {rows[k]: weight for k, weight in _weights(whole, circuit).items()}
            return Relation(exact, [rows[k] for k in circuit if k >= e and k != i]), []
        out = min(leaving, key=lambda k: (mu[k] / share[k], k))
        step = mu[out] * scale / share[out]
        mu = {k: value - step * Fraction(share[k], scale) for k, value in mu.items() if k != out} | {i: step}
        basis[basis.index(out)] = i


def _plane(size: int, whole: WholeRows, pivot: Sequence[int], N: Any, D: int) -> list[Fraction]:
    """Return θ in the columns' own scale from N/D on the pivots' whole columns."""
    theta = [Fraction(0)] * size
    for k, value in zip(pivot, N, strict=True):
        theta[whole.columns[k]] = whole.coefficient(k, Fraction(value, D))
    return theta


def _weights(whole: WholeRows, circuit: dict[int, int]) -> dict[int, Fraction]:
    """Return the weights of the rows aᵢ from those of whole rows, which must combine to zero."""
    if whole.M[list(circuit)].T.dot(np.array(list(circuit.values()), dtype=object)).any():
        raise ArithmeticError("a rank was found too low: this cannot be, please report it")
    return {k: whole.weight(k, value) for k, value in circuit.items()}


# -- columns that are combinations of others on all rows (aliased) -----------------------------------------------------


def spanned(asked: Question, rows: list[int]) -> tuple[dict[int, dict[int, Fraction]], IntArray]:
    """Return columns as combinations of others on all rows, if these rows span all; else rows that they do not."""
    A = asked.rows(rows)
    M, _, c = rational.to_whole(A.toarray() if is_sparse(A) else A)
    # the last column, the intercept's, is the first to be kept
    chosen, backwards = rational.pivots(M[:, ::-1], asked.clock)
    pivot = [asked.size - 1 - j for j in backwards]
    free = [j for j in range(asked.size) if j not in set(pivot)]
    found = rational.columns_as_combinations(M, c, chosen, pivot, free, asked.clock)
    for j in free:
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
