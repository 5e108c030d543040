"""Positive combinations of rows that exclude planes: Gordan's proof of overlap and Farkas' for a coefficient's sign."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ._clock import Check, Clock
from ._rows import ExactRows, mantissas, whole_multiple


def check_overlap(
    X: Any,
    y: Any,
    points: Sequence[int],
    weights: Sequence[Fraction],
    *,
    intercept: bool = True,
    time_limit: float | None = None,
) -> Check:
    """Check that two convex combinations of the points, one of each class, are exactly the same point.

    Without an intercept the weights sum to one over both classes, and the combination of the yᵢ xᵢ has to be zero.

    Examples
    --------
    >>> half, one = Fraction(1, 2), Fraction(1)
    >>> bool(check_overlap([[0.0], [1.0], [2.0]], [-1, 1, -1], [0, 1, 2], [half, one, half]))
    True
    >>> check_overlap([[0.0], [1.0], [2.0]], [-1, 1, -1], [0, 1], [one, one]).reason
    'the two combinations differ in column 0'
    """
    data, clock = ExactRows.of(X, y, intercept), Clock(time_limit)
    form = _check_form(data, points, weights)
    if not form:
        return form
    whole = whole_multiple(weights)
    one = Fraction(whole[0]) / weights[0]
    classes = (1.0, -1.0) if data.intercept else (None,)
    for label in classes:
        total = sum(w for i, w in zip(points, whole, strict=True) if label in (None, data.y[i]))
        if total != one:
            of = "all" if label is None else f"class {label:+.0f}"
            return Check(False, f"the weights of {of} sum to {_short(total / one)}, not to one")
    difference, _ = combination(data, points, whole, clock)
    wrong = [j for j, value in difference.items() if value != 0 and j < data.d]
    if wrong:
        return Check(False, f"the two combinations differ in column {min(wrong)}")
    return Check(True, f"two convex combinations of {len(points)} points coincide")


def check_cone(
    X: Any,
    y: Any,
    points: Sequence[int],
    weights: Sequence[Fraction],
    column: int,
    sign: int,
    *,
    intercept: bool = True,
    time_limit: float | None = None,
) -> Check:
    """Check that Σ λᵢ aᵢ = ±e_j with positive λ: no plane without a point on its wrong side has ±θ_j < 0 (Farkas).

    Parameters
    ----------
    X, y, intercept, time_limit
        As for `check_overlap`.
    points, weights
        Rows, and positive weights.
    column, sign
        j (d is the intercept), and +1 or −1.

    Examples
    --------
    >>> one = Fraction(1)
    >>> bool(check_cone([[0.0], [1.0]], [-1, 1], [0, 1], [one, one], 0, 1))
    True
    >>> check_cone([[0.0], [1.0]], [-1, 1], [0, 1], [one, one], 0, -1).reason
    'the combination is not the coefficient itself in column 0'
    """
    data, clock = ExactRows(X, y, intercept), Clock(time_limit)
    form = _check_form(data, points, weights)
    if not form:
        return form
    whole = whole_multiple(weights)
    scale = Fraction(whole[0]) / weights[0]
    total, base = combination(data, points, whole, clock)
    unit = sign * scale / Fraction(2) ** base
    wrong = [j for j in {*total, column} if total.get(j, 0) != (unit if j == column else 0)]
    if wrong:
        return Check(False, f"the combination is not the coefficient itself in column {min(wrong)}")
    return Check(True, f"a combination of {len(points)} points is the coefficient itself")


def _check_form(data: ExactRows, points: Sequence[int], weights: Sequence[Fraction]) -> Check:
    """Check that there is a positive rational weight for each of some different rows."""
    if len(points) != len(weights) or not len(points):
        return Check(False, f"{len(points)} points with {len(weights)} weights are no proof")
    if len(set(points)) < len(points) or not all(0 <= i < data.n for i in points):
        return Check(False, f"the points must be different rows, from 0 to {data.n - 1}")
    if not all(isinstance(w, Fraction | int) and w > 0 for w in weights):
        return Check(False, "a weight is not a positive rational number")
    return Check(True, "")


def combination(
    data: ExactRows, points: Sequence[int], weights: Sequence[int], clock: Clock
) -> tuple[dict[int, int], int]:
    """Σ λᵢ aᵢ, column by column, as whole numbers times a power of two, and that power's exponent."""
    rows = [data.row(int(i)) for i in points]
    numbers = [mantissas(values) for _, values in rows]
    base = min(int(e.min(initial=0)) for _, e in numbers)
    total: dict[int, int] = {}
    for i, weight, (columns, _), (m, e) in zip(points, weights, rows, numbers, strict=True):
        clock.check("the combinations of points")
        signed = weight if data.y[i] > 0 else -weight
        for j, a, k in zip(columns, m.tolist(), (e - base).tolist(), strict=True):
            total[j] = total.get(j, 0) + ((a * signed) << k)
    return total, base


def _short(value: Fraction) -> str:
    return str(value) if len(str(value)) < 30 else f"{float(value):.17g}"
