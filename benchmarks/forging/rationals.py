"""Exact answers by plain means: whole numbers, a simplex method without fractions, and all cells of planes.

A row is aᵢ = yᵢ [xᵢ, 1] (or yᵢ xᵢ), times any positive number: its sign with a plane is all that counts here.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import gcd

__all__ = ["common", "least_mistakes", "recession", "whole_rows"]

Row = tuple[int, ...]


def common(values: Sequence[float | Fraction]) -> tuple[list[int], int]:
    """Return whole numbers m and e ≥ 0 with value = m / 2ᵉ exactly.

    Examples
    --------
    >>> common([0.5, 3.0])
    ([1, 6], 1)
    """
    pairs = [value.as_integer_ratio() for value in values]
    e = max((q.bit_length() - 1 for _, q in pairs), default=0)
    return [p << (e - q.bit_length() + 1) for p, q in pairs], e


def whole_rows(X: Sequence[Sequence[float]], y: Sequence[int], intercept: bool) -> list[Row]:
    """Return the rows aᵢ in whole numbers, each divided by what its numbers share."""
    found = []
    for x, sign in zip(X, y, strict=True):
        row, _ = common([*x, 1.0] if intercept else list(x))
        share = gcd(*row) or 1
        found.append(tuple(sign * value // share for value in row))
    return found


# -- linear programs --------------------------------------------------------------------------------------------------


def _maximum(A: list[list[int]], b: list[int], c: list[int]) -> Fraction:
    """Return max c·x subject to Ax ≤ b and x ≥ 0, where b ≥ 0: the simplex method in whole numbers, Bland's rule."""
    m, n = len(A), len(c)
    table = [[*row, *(int(i == k) for k in range(m)), b[i]] for i, row in enumerate(A)]
    goal = [-value for value in c] + [0] * (m + 1)
    basis, scale = list(range(n, n + m)), 1
    while True:
        enter = next((j for j in range(n + m) if goal[j] < 0), None)
        if enter is None:
            return Fraction(goal[-1], scale)
        leave = -1
        for i, row in enumerate(table):
            if row[enter] <= 0:
                continue
            if leave < 0:
                leave = i
                continue
            ours, best = row[-1] * table[leave][enter], table[leave][-1] * row[enter]
            if ours < best or (ours == best and basis[i] < basis[leave]):
                leave = i
        if leave < 0:
            raise OverflowError("unbounded")
        pivot, line = table[leave][enter], table[leave]
        for i, row in enumerate(table):
            if i != leave:
                factor = row[enter]
                table[i] = [(value * pivot - factor * other) // scale for value, other in zip(row, line, strict=True)]
        factor = goal[enter]
        goal = [(value * pivot - factor * other) // scale for value, other in zip(goal, line, strict=True)]
        scale, basis[leave] = pivot, enter


def recession(rows: Sequence[Row]) -> str:
    """Return "separable", "quasi" or "overlap": how many rows some θ has on their right sides, with none wrong.

    The program is max Σ uᵢ subject to uᵢ ≤ aᵢ·θ and 0 ≤ uᵢ ≤ 1. Directions can be long, so each uᵢ is 0 or 1 at best.

    Examples
    --------
    >>> recession([(1, 1), (1, -1)]), recession([(0, 1), (0, -1), (1, 0)]), recession([(1,), (-1,)])
    ('separable', 'quasi', 'overlap')
    """
    rows = list(dict.fromkeys(rows))  # equal rows ask for the same
    n, d = len(rows), len(rows[0])
    A = [[*(-a for a in row), *row, *(int(i == k) for k in range(n))] for i, row in enumerate(rows)]
    A += [[0] * (2 * d) + [int(i == k) for k in range(n)] for i in range(n)]
    most = _maximum(A, [0] * n + [1] * n, [0] * (2 * d) + [1] * n)
    return "separable" if most == n else "overlap" if most == 0 else "quasi"


def moves(rows: Sequence[Row], j: int) -> tuple[bool, bool]:
    """Return whether some θ with aᵢ·θ ≥ 0 for all i has θⱼ > 0, and whether one has θⱼ < 0.

    Examples
    --------
    >>> moves([(1, 1), (1, -1)], 0), moves([(1, 0), (-1, 0)], 0), moves([(1, 0), (-1, 0)], 1)
    ((True, False), (False, False), (True, True))
    """
    d = len(rows[0])
    A = [[*(-a for a in row), *row] for row in rows] + [[1] * (2 * d)]
    b = [0] * len(rows) + [1]
    up, down = ([sign * int(k == j) for k in range(d)] + [-sign * int(k == j) for k in range(d)] for sign in (1, -1))
    return _maximum(A, b, up) > 0, _maximum(A, b, down) > 0


# -- cells ------------------------------------------------------------------------------------------------------------


def least_mistakes(rows: Sequence[Row], weights: Sequence[Fraction]) -> Fraction:
    """Return the least weight of rows with aᵢ·θ ≤ 0 that any θ can have, by looking at all cells.

    Every cell touches a ray on which as many independent rows vanish as dimensions but one. A step off the ray keeps
    the signs of all other rows, and is the same question for those that vanish on it, one dimension lower.

    Examples
    --------
    >>> least_mistakes([(1, 0), (-1, 0), (0, 1)], [Fraction(1), Fraction(2), Fraction(3)])
    Fraction(1, 1)
    """
    merged: dict[Row, Fraction] = {}
    for row, weight in zip(rows, weights, strict=True):
        merged[_direction(row)] = merged.get(_direction(row), Fraction(0)) + weight
    hopeless = merged.pop(tuple([0] * len(rows[0])), Fraction(0)) if rows else Fraction(0)
    return hopeless + _cells(list(merged.items()), {})


def _direction(row: Row) -> Row:
    share = gcd(*row) or 1
    return tuple(value // share for value in row)


def _cells(rows: list[tuple[Row, Fraction]], seen: dict[frozenset[Row], Fraction]) -> Fraction:
    """Return the least mistakes on rows that are not zero, with equal directions merged."""
    if not rows:
        return Fraction(0)
    key = frozenset(row for row, _ in rows)
    if key in seen:
        return seen[key]
    rank = len(_echelon([row for row, _ in rows]))
    best: Fraction | None = None
    if rank == 1:
        first = rows[0][0]
        sides = [Fraction(0), Fraction(0)]
        for row, weight in rows:
            sides[sum(a * b for a, b in zip(row, first, strict=True)) < 0] += weight
        best = min(sides)
    for chosen in combinations([row for row, _ in rows], rank - 1) if rank > 1 else ():
        theta = _ray(list(chosen), [row for row, _ in rows], rank)
        if theta is None:
            continue
        signs = [sum(a * b for a, b in zip(row, theta, strict=True)) for row, _ in rows]
        rest = _cells([pair for pair, sign in zip(rows, signs, strict=True) if sign == 0], seen)
        for side in (1, -1):
            wrong = sum((w for (_, w), sign in zip(rows, signs, strict=True) if side * sign < 0), rest)
            best = wrong if best is None else min(best, wrong)
    assert best is not None
    seen[key] = best
    return best


def _echelon(rows: list[Row]) -> list[list[int]]:
    """Return a basis of the rows' span, in reduced echelon form of whole numbers."""
    basis: list[list[int]] = []
    for row in rows:
        left = list(row)
        for known in basis:
            lead = next(j for j, value in enumerate(known) if value)
            if left[lead]:
                left = [known[lead] * a - left[lead] * b for a, b in zip(left, known, strict=True)]
        if not any(left):
            continue
        share = gcd(*left)
        left = [value // share for value in left]
        lead = next(j for j, value in enumerate(left) if value)
        for k, known in enumerate(basis):
            if known[lead]:
                mixed = [left[lead] * a - known[lead] * b for a, b in zip(known, left, strict=True)]
                basis[k] = [value // gcd(*mixed) for value in mixed]
        basis.append(left)
    return basis


def _ray(chosen: list[Row], rows: list[Row], rank: int) -> list[int] | None:
    """Return θ in the span of the rows that vanishes on the chosen ones, which are one fewer than its dimensions."""
    basis = _echelon(rows)
    # θ = Σ tₖ basisₖ with Σ tₖ (basisₖ·a) = 0 for each chosen a: one relation among rank unknowns.
    products = [tuple(sum(p * q for p, q in zip(known, a, strict=True)) for known in basis) for a in chosen]
    reduced = _echelon(products)
    if len(reduced) < rank - 1:
        return None
    leads = [next(j for j, value in enumerate(row) if value) for row in reduced]
    free = next(j for j in range(rank) if j not in leads)
    t = [Fraction(0)] * rank
    t[free] = Fraction(1)
    for row, lead in zip(reduced, leads, strict=True):
        t[lead] = Fraction(-row[free], row[lead])
    theta = [sum((t[k] * basis[k][j] for k in range(rank)), Fraction(0)) for j in range(len(rows[0]))]
    scale = 1
    for value in theta:
        scale = scale * value.denominator // gcd(scale, value.denominator)
    return [int(value * scale) for value in theta]
