"""Interval enclosures in decimal arithmetic, whose exponents have no end: where products of floats leave their range.

A float is a finite decimal number, so that sums and products of floats are taken without any rounding here; quotients,
exponentials and logarithms are bounded from both sides with 60 digits. It is some thousand times as slow as arithmetic
on floats, and for few numbers only. Every operation names its context: the one in force elsewhere would round.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal, Inexact, localcontext
from typing import Any, NamedTuple

import numpy as np

from .._common.types import FloatArray
from .._core import is_sparse
from ..losses import Loss, is_ours
from ..penalties import Penalty
from .blocked import BlockedMatrix
from .enclosure import Interval

Row = tuple[list[int], list[Decimal]]

#: More numbers than this take too long.
FEW = 10**5
#: Digits of what cannot be exact.
DIGITS = 60
#: Sums of products of a few floats have fewer digits than this; one that had more would raise.
EXACT = Context(prec=20_000, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[Inexact])
DOWN, UP = (
    Context(prec=DIGITS, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
    for rounding in (ROUND_FLOOR, ROUND_CEILING)
)
#: Below this 1 + q is not formed: log(1 + q) lies between q − q²/2 and q.
MINUTE = Decimal("1e-30")
ZERO, HALF, ONE = Decimal(0), Decimal("0.5"), Decimal(1)


class Span(NamedTuple):
    """All decimal numbers from `low` to `high`."""

    low: Decimal
    high: Decimal


NOTHING = Span(ZERO, ZERO)


def point(value: Decimal) -> Span:
    """Return the span of one number, rounded to both sides."""
    return Span(DOWN.plus(value), UP.plus(value))


def add(a: Span, b: Span) -> Span:
    """Return all sums."""
    return Span(DOWN.add(a.low, b.low), UP.add(a.high, b.high))


def minus(a: Span) -> Span:
    """Return all negatives."""
    return Span(a.high.copy_negate(), a.low.copy_negate())


def times(a: Span, b: Span) -> Span:
    """Return all products."""
    pairs = [(x, y) for x in a for y in b]
    return Span(min(DOWN.multiply(x, y) for x, y in pairs), max(UP.multiply(x, y) for x, y in pairs))


def quotient(a: Decimal, b: Decimal) -> Span:
    """a/b, for b > 0."""
    return Span(DOWN.divide(a, b), UP.divide(a, b))


def exp(x: Decimal) -> Span:
    """e^x, for x ≤ 0: decimal's own is rounded to the nearest number."""
    low, high = DOWN.plus(x), min(UP.plus(x), ZERO)
    return Span(max(DOWN.next_minus(DOWN.exp(low)), ZERO), min(UP.next_plus(UP.exp(high)), ONE))


def log(x: Span) -> Span:
    """Return log x, for x > 0."""
    return Span(DOWN.next_minus(DOWN.ln(x.low)), UP.next_plus(UP.ln(x.high)))


def log1p(q: Span) -> Span:
    """log(1 + q), for q ≥ 0."""
    if q.high < MINUTE:
        return Span(DOWN.subtract(q.low, UP.multiply(q.low, q.low)), q.high)
    return log(add(point(ONE), q))


def log_sum_exp(scores: Iterable[Decimal]) -> Span:
    """log(1 + Σ e^t), as the largest and what the others add.

    Examples
    --------
    >>> found = log_sum_exp([Decimal(0)])  # log 2
    >>> float(found.low), float(found.high)
    (0.6931471805599453, 0.6931471805599453)
    """
    ordered = sorted([ZERO, *scores])
    largest = ordered.pop()
    with localcontext(EXACT):
        differences = [score - largest for score in ordered]
    rest = NOTHING
    for difference in differences:
        rest = add(rest, exp(difference))
    return add(point(largest), log1p(rest))


def _of_rest(p: Span) -> Span:
    """(1 − p) log(1 − p), which is −p + p²/2 + p³/6 + … of a small p."""
    if p.high < MINUTE:
        return add(minus(p), Span(ZERO, UP.multiply(p.high, p.high)))
    left = Span(max(DOWN.subtract(ONE, p.high), ZERO), UP.subtract(ONE, p.low))
    if left.low == 0:  # x log x falls from 0 to its least value, −1/e
        lowest = times(left, log(Span(left.high, left.high))).low if left.high > 0 else ZERO
        return Span(max(lowest, Decimal("-0.37")) if left.high < Decimal("0.36") else Decimal("-0.37"), ZERO)
    return times(left, log(left))


def to_interval(span: Span) -> Interval:
    """Return the floats around it.

    Examples
    --------
    >>> to_interval(Span(Decimal("1e-400"), Decimal("0.5")))
    Interval(low=0.0, high=0.5)
    """
    low, high = float(span.low), float(span.high)
    low = math.nextafter(low, -math.inf) if Decimal(low) > span.low else low
    return Interval(low, math.nextafter(high, math.inf) if Decimal(high) < span.high else high)


class DecimalRows:
    """The rows of a small matrix, as decimal numbers and without zeros.

    Examples
    --------
    >>> DecimalRows(np.array([[1e300, 1e-300], [1.0, 0.0]])).products([Decimal(1e-300), Decimal(1e300)])[1]
    Decimal('1.00000...E-300')
    """

    def __init__(self, X: Any) -> None:
        self.d = int(X.shape[1])
        self.rows = [_row(X, i) for i in range(X.shape[0])]

    def products(self, w: Sequence[Decimal]) -> list[Decimal]:
        """w·xᵢ, exactly."""
        with localcontext(EXACT):
            return [sum((x * w[j] for j, x in zip(*row, strict=True)), ZERO) for row in self.rows]

    def combination(self, u: Sequence[Decimal]) -> list[Decimal]:
        """Σ uᵢ xᵢ, exactly."""
        found = [ZERO] * self.d
        with localcontext(EXACT):
            for factor, (columns, values) in zip(u, self.rows, strict=True):
                if factor:
                    for j, x in zip(columns, values, strict=True):
                        found[j] += factor * x
        return found


def _row(X: Any, i: int) -> Row:
    if is_sparse(X):
        part = slice(X.indptr[i], X.indptr[i + 1])
        columns, values = X.indices[part], X.data[part]
    else:
        columns = np.flatnonzero(X[i])
        values = X[i][columns]
    return columns.tolist(), exactly(values)


def exactly(values: FloatArray) -> list[Decimal]:
    """Return floats as the decimal numbers they are."""
    return [Decimal(value) for value in np.asarray(values, dtype=np.float64).tolist()]


def power_of_two(k: int) -> Decimal:
    """2ᵏ, exactly: also 5⁻ᵏ 10ᵏ of a negative k.

    Examples
    --------
    >>> power_of_two(-3)
    Decimal('0.125')
    """
    with localcontext(EXACT):
        return Decimal(2**k) if k >= 0 else Decimal(5**-k).scaleb(k)


def scale_exactly(values: Iterable[Decimal], factor: Decimal) -> list[Decimal]:
    """Return the products, exactly."""
    with localcontext(EXACT):
        return [value * factor for value in values]


def weights_exactly(C: float, s: FloatArray | None, n: int) -> list[Decimal]:
    """cᵢ = C sᵢ."""
    return scale_exactly([ONE] * n if s is None else exactly(s), Decimal(C))


def agreements_exactly(rows: DecimalRows, y: FloatArray, w: FloatArray, b: float) -> list[Decimal]:
    """yᵢ (w·xᵢ + b)."""
    with localcontext(EXACT):
        scores = [product + Decimal(b) for product in rows.products(exactly(w))]
    return [score if side > 0 else score.copy_negate() for score, side in zip(scores, y.tolist(), strict=True)]


def shrinking(penalty: Penalty, v: Iterable[Decimal], attempt: int) -> float:
    """Return 1 if |v| ≤ l1, else a factor that takes v there; a little less at every attempt, since it is rounded."""
    longest, l1 = max((x.copy_abs() for x in v), default=ZERO), Decimal(penalty.l1)
    if longest <= l1:
        return 1.0
    return float(DOWN.divide(l1, longest)) * (1.0 - 4.0**attempt * 2.0**-47)


def few_numbers(X: Any) -> bool:
    """Whether a matrix is in memory and small enough."""
    if isinstance(X, BlockedMatrix):
        return False
    stored = X.nnz if is_sparse(X) else X.shape[0] * X.shape[1]
    return bool(stored + X.shape[0] <= FEW)


def knows(loss: Loss) -> bool:
    """Whether a loss can be computed without rounding: as a power, or as the logarithm of a likelihood."""
    return is_ours(loss) and (loss.is_likelihood or loss.power is not None)


def penalty_value(penalty: Penalty, w: Sequence[Decimal]) -> Span:
    """l2 · ½‖w‖² + l1 · ‖w‖₁."""
    with localcontext(EXACT):
        squares, sizes = sum((x * x for x in w), ZERO), sum((abs(x) for x in w), ZERO)
        return point(Decimal(penalty.l2) * squares * HALF + Decimal(penalty.l1) * sizes)


def penalty_conjugate(penalty: Penalty, v: Iterable[Decimal]) -> Span:
    """Σ max(0, |v| − l1)²/(2 l2), infinite where a positive number is divided by zero."""
    l1, l2 = Decimal(penalty.l1), Decimal(penalty.l2)
    with localcontext(EXACT):
        beyond = [max(abs(x) - l1, ZERO) for x in v]
        excess = sum((x * x for x in beyond), ZERO)
        divisor = 2 * l2
    if excess == 0:
        return NOTHING
    return quotient(excess, divisor) if divisor > 0 else Span(ZERO, Decimal("Infinity"))


def loss_sum(loss: Loss, z: Sequence[Decimal], c: Sequence[Decimal]) -> Span:
    """Σ cᵢ ℓ(zᵢ)."""
    found = NOTHING
    for agreement, weight in zip(z, c, strict=True):
        if weight:
            found = add(found, times(point(weight), _value(loss, agreement)))
    return found


def _value(loss: Loss, z: Decimal) -> Span:
    """ℓ(z)."""
    if loss.is_likelihood:
        return log_sum_exp([z.copy_negate()])
    with localcontext(EXACT):
        short = Decimal(loss.edge) - z
        short = max(short, ZERO) if loss.cut else short
        return point(short * short if loss.power == 2 else short)


def conjugate_sum(loss: Loss, alpha: Sequence[Decimal], c: Sequence[Decimal]) -> Span:
    """Σ cᵢ ℓ*(−αᵢ/cᵢ), of a feasible α."""
    found = NOTHING
    for a, weight in zip(alpha, c, strict=True):
        if a:
            found = add(found, _conjugate(loss, a, weight))
    return found


def _conjugate(loss: Loss, a: Decimal, c: Decimal) -> Span:
    if loss.is_likelihood:
        p = quotient(a, c)
        return times(point(c), add(times(p, log(p)), _of_rest(p)))  # the negative entropy
    with localcontext(EXACT):
        linear, square, divisor = point(-Decimal(loss.edge) * a), a * a, 4 * c
    if loss.power == 1:
        return linear
    return add(linear, quotient(square, divisor))
