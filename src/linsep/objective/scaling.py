"""The same problem in the middle of the range of floats: data, weights, C and penalties times powers of two.

    P(w, b) = l2 · ½‖w‖² + l1 · ‖w‖₁ + C Σ sᵢ ℓ(yᵢ (w·xᵢ + b))

is 2⁻ᵐ times the same expression of X·2ᵏ, w·2⁻ᵏ, l2·2²ᵏ⁺ᵐ, l1·2ᵏ⁺ᵐ, s·2ᵃ and C·2ᵐ⁻ᵃ, and a bound on one is a bound on
the other. Nothing is rounded as long as no number leaves the range; whether one did is told.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._common.types import FloatArray
from .._core import Rows, is_sparse
from ..arithmetic.blocked import BlockedMatrix, rows_of
from ..arithmetic.enclosure import Interval, blocks, shifted
from ..penalties import Penalty

#: Sizes between these need no scaling: products of five of them are floats with all their digits.
LEAST, MOST = 2.0**-200, 2.0**200
#: Exponents of the normal floats.
LOWEST, HIGHEST = -1021, 1023
#: Intervals narrower than this share of the objective are as good as needed.
TIGHT = 1e-9


def in_range(*sizes: float) -> bool:
    """Whether all sizes are zero or so ordinary that no product of a few of them leaves the range of floats."""
    return all(size == 0 or LEAST <= size <= MOST for size in sizes)


def ordinary(problem: Any, W: FloatArray, b: Any) -> bool:
    """Whether floats can hold what a bound on the problem at (W, b) is made of: a look at sizes, not at the data."""
    if problem.examples.resident is None:
        square = float(problem.examples.squares.sum())  # zero also where the squares fell below the range
        s = (
            problem.by_class * problem.examples.totals / np.maximum(problem.examples.counts, 1)
        )  # of each class, the mean
        return square > 0 and in_range(math.sqrt(square), *_sizes(problem, s, W, b))
    with np.errstate(over="ignore"):
        longest = float(problem.rows.squared_norms().max(initial=0.0))
    if longest == 0 and any(np.any(_stored(block)) for _, block in blocks(problem.rows.X)):
        return False  # the squares fell below the range
    return in_range(math.sqrt(longest), *_sizes(problem, problem.sample_weight, W, b))


def _sizes(problem: Any, s: FloatArray | None, W: FloatArray, b: Any) -> list[float]:
    weights = [1.0] if s is None else [float(s.max(initial=0.0)), float(s[s > 0].min(initial=1.0))]
    largest = [float(np.abs(values).max(initial=0.0)) for values in (W, b)]
    return [problem.weight_of_loss, problem.penalty.l2, problem.penalty.l1, *largest, *weights]


def _stored(block: Any) -> FloatArray:
    return np.asarray(block.data if is_sparse(block) else block)


@dataclass(frozen=True)
class Scaled:
    """A problem times powers of two."""

    problem: Any  # X, the weights of the examples, C and the penalty are multiplied
    W: FloatArray  # so are the planes
    k: int  # X was multiplied by 2ᵏ
    m: int  # the objective by 2ᵐ
    a: int  # and the weights of the examples by 2ᵃ
    exact: bool  # whether nothing was rounded: otherwise the problem is near the one given, no more


def middle_of_range(problem: Any, W: FloatArray) -> Scaled:
    """Return the problem with the largest weight of a loss near one, and X as near to that as the penalty lets it.

    Examples
    --------
    >>> from linsep.losses import Hinge
    >>> from linsep.objective.problem import Problem
    >>> X, y = np.array([[1e65], [-1e65]]), np.array([1.0, -1.0])
    >>> scaled = middle_of_range(Problem(Rows(X), y, Hinge(), Penalty(1e-100, 0.0), 1e-230), np.zeros(1))
    >>> scaled.exact, bool(0.5 < np.abs(scaled.problem.rows.X).max() < 2), 0.1 < scaled.problem.penalty.l2 < 10
    (True, True, True)
    """
    s, C, penalty = problem.sample_weight, problem.C, problem.penalty
    a = 0 if s is None else -_exponents(s)[1]
    m = a - (0 if math.isinf(C) else math.frexp(C)[1])
    data = _exponents_of_rows(problem.rows.X)
    k = _best_shift(data, _exponents(W), m, penalty)
    rows, kept = scaled_rows(problem.rows.X, k)
    parts = (W, -k), (penalty.l2, 2 * k + m), (penalty.l1, k + m), (1.0 if math.isinf(C) else C, m - a)
    moved = [shifted(np.asarray(value, dtype=np.float64), exponent) for value, exponent in parts]
    weights, weights_kept = (None, True) if s is None else shifted(s, a)
    exact = kept and weights_kept and all(same for _, same in moved)
    (w, _), (l2, _), (l1, _), (new_C, _) = moved
    # A penalty that left the range counts as one next to it: what is inexact serves for guesses only.
    floats = [min(float(value), np.finfo(float).max) for value in (l2, l1, new_C)]
    changed = replace(
        problem.weighed(rows, weights),
        penalty=Penalty(floats[0], floats[1]),
        C=C if math.isinf(C) else max(floats[2], np.finfo(float).tiny),
    )
    return Scaled(changed, w, k, m, a, exact)


def _best_shift(data: tuple[int, int], plane: tuple[int, int], m: int, penalty: Penalty) -> int:
    """Return k, near what makes the largest entry of X one, for which no number leaves the range if there is one."""
    k, room = -data[1], []
    for (low, high), times, offset in (
        (data, 1, 0),
        (plane, -1, 0),
        ((math.frexp(penalty.l2)[1],) * 2 if penalty.l2 else (0, 0), 2, m),
        ((math.frexp(penalty.l1)[1],) * 2 if penalty.l1 else (0, 0), 1, m),
    ):
        if (low, high) == (0, 0):
            continue
        # low + times · k + offset ≥ LOWEST (or no less than it is) and high + times · k + offset ≤ HIGHEST
        ends = (min(LOWEST - low, 0) - offset) / times, (HIGHEST - high - offset) / times
        room.append((min(ends), max(ends)))
    least, most = max(low for low, _ in room) if room else 0, min(high for _, high in room) if room else 0
    return int(min(max(k, math.ceil(least)), math.floor(most)))


def _exponents(values: Any) -> tuple[int, int]:
    """Return the exponents of the smallest and the largest number that is not zero; zeros where there is none."""
    sizes = np.abs(np.asarray(values, dtype=np.float64))
    sizes = sizes[sizes > 0]
    return (math.frexp(sizes.min())[1], math.frexp(sizes.max())[1]) if sizes.size else (0, 0)


def _exponents_of_rows(X: Any) -> tuple[int, int]:
    found = [_exponents(_stored(block)) for _, block in blocks(X)]
    some = [ends for ends in found if ends != (0, 0)]
    return (min(low for low, _ in some), max(high for _, high in some)) if some else (0, 0)


def scaled_rows(X: Any, k: int) -> tuple[Rows, bool]:
    """Return the rows of X · 2ᵏ in double precision, and whether that is exact."""
    exact = all(shifted(_stored(block), k)[1] for _, block in blocks(X))
    if isinstance(X, BlockedMatrix):
        return rows_of(BlockedMatrix(lambda: (scaled_rows(block, k)[0].X for _, block in blocks(X)), *X.shape)), exact
    if is_sparse(X):
        return Rows(type(X)((shifted(X.data.astype(np.float64), k)[0], X.indices, X.indptr), shape=X.shape)), exact
    return Rows(shifted(np.asarray(X, dtype=np.float64), k)[0]), exact


def tightest(
    problem: Any, W: FloatArray, b: Any, enclose: Callable[[Any, FloatArray, int], tuple[Interval, Interval]]
) -> tuple[Interval, Interval]:
    """Return the closest enclosures of P and of a bound on it, by whatever scaling.

    `enclose` is given a problem, its planes and m, the exponent by which the objective was multiplied.
    """
    if ordinary(problem, W, b):
        return enclose(problem, W, 0)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # what is not finite proves nothing
        scaled = middle_of_range(problem, W)
        if not scaled.exact:
            return enclose(problem, W, 0)
        primal, dual = (end.shifted(-scaled.m) for end in enclose(scaled.problem, scaled.W, scaled.m))
        if is_tight(primal, dual):
            return primal, dual
        return better_of((primal, dual), enclose(problem, W, 0))


def better_of(one: tuple[Interval, Interval], other: tuple[Interval, Interval]) -> tuple[Interval, Interval]:
    """Return what two enclosures of P say together, and the higher of two bounds."""
    primal = Interval(max(one[0].low, other[0].low), min(one[0].high, other[0].high))
    return primal, one[1] if one[1].low >= other[1].low else other[1]


def is_tight(primal: Interval, dual: Interval) -> bool:
    """Whether both are known about as well as doubles can tell."""
    return max(primal.width, dual.width) <= TIGHT * primal.low
