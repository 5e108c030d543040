"""The dual simplex method in whole numbers: a plane that is strict on some rows, or the relation that excludes one."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from .._types import IntArray
from ..arithmetic import rational
from ._question import Plane, Question, WholeRows
from ._relations import Relation
from .floats import View


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
