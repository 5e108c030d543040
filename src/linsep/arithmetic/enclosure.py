"""Interval enclosures: the numbers between which P(w, b) and D(α) truly lie, every rounding accounted for.

Conventions
-----------
The data, w, b, C and the weights are read as the exact numbers that their floats are. u = 2⁻⁵³ is the unit of
rounding; a sum of k products, in whatever order it is taken, is off by at most γ_k Σ |terms| with γ_k = k u/(1 − k u)
(Higham, *Accuracy and Stability of Numerical Algorithms*, 3.1). An array with a `radius` stands for all numbers that
near to it. A product that falls below the range of floats is off by `SMALLEST` at the most, whatever its size; one that
exceeds the range makes the interval unbounded. What is taken on trust is IEEE arithmetic (subnormal numbers included),
and `ULPS`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._common.types import FloatArray, IntArray
from .._core import is_sparse
from ..losses import Loss
from ..penalties import Penalty
from .blocked import BlockedMatrix
from .compensated import U as U
from .compensated import column_sums, split_product, two_sum

#: What is not rounded to the nearest float: a loss or its conjugate is trusted to within this many u of its terms.
ULPS = 32
#: The smallest positive float: what a product may lose by falling below the range.
SMALLEST = 5e-324
#: A weight below this may have lost digits to the end of the range; it gets no say in a dual point.
SLIGHT = 2.0**-960
#: Sums beyond this are not taken: on the way they might exceed the largest float.
HUGE = 2.0**1000
#: Longer sums are taken in pieces of this many numbers.
CHUNK = 64
#: A sum whose error could change a bound by more than this share of it is taken again, with more digits.
SHARP = 1e-9
#: Units into which the largest dual variable is cut, so that sums of them are sums of whole numbers.
GRID = 52


def gamma(k: int) -> float:
    """γ_k = k u/(1 − k u), rounded up: the relative error of a sum of k products; infinite where nothing is known."""
    return k * U / (1.0 - k * U) * (1.0 + 8 * U) if k * U < 0.5 else math.inf


@dataclass(frozen=True)
class Interval:
    """All numbers from `low` to `high`.

    Examples
    --------
    >>> Interval(1.0, 2.0) - Interval(0.5, 0.75)
    Interval(low=0.2499..., high=1.5000...)
    """

    low: float
    high: float

    def __add__(self, other: Interval) -> Interval:
        if Interval(0.0, 0.0) in (self, other):  # nothing is rounded
            return self if other == Interval(0.0, 0.0) else other
        return outward(self.low + other.low, self.high + other.high)

    def __neg__(self) -> Interval:
        return Interval(0.0 - self.high, 0.0 - self.low)  # 0, not −0

    def __sub__(self, other: Interval) -> Interval:
        return self + -other

    def times(self, factor: float) -> Interval:
        """Return the products with a number that is zero or more."""
        if factor == 0 or self == Interval(0.0, 0.0):
            return Interval(0.0, 0.0)
        return outward(self.low * factor, self.high * factor)

    def over(self, divisor: float) -> Interval:
        """Return the quotients by a positive number."""
        if self == Interval(0.0, 0.0):
            return self
        return outward(self.low / divisor, self.high / divisor)

    def shifted(self, exponent: int) -> Interval:
        """Return the products with a power of two: exact but at the ends of the range of floats."""
        ends, exact = shifted(np.array([self.low, self.high]), exponent)
        return Interval(*ends.tolist()) if exact else outward(*ends.tolist())

    @property
    def width(self) -> float:
        """The distance between the ends."""
        return self.high - self.low


def shifted(values: FloatArray, exponent: int) -> tuple[FloatArray, bool]:
    """Return values · 2^exponent, infinite beyond the largest float, and whether that is exact."""
    with np.errstate(over="ignore", under="ignore"):
        moved = np.ldexp(values, exponent)
        return moved, bool((np.ldexp(moved, -exponent) == values).all())


#: What is known of a number of which nothing is.
EVERYTHING = Interval(-math.inf, math.inf)


def outward(low: float, high: float) -> Interval:
    """Return the interval, a float wider on both sides: for ends that have just been rounded, each once."""
    low, high = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
    return Interval(-math.inf if math.isnan(low) else low, math.inf if math.isnan(high) else high)


def relative_gap(primal: Interval, dual: Interval) -> float:
    """Return a number that (P − D)/P does not exceed, rounded up: infinite where P may be zero, unless D is P there.

    Examples
    --------
    >>> relative_gap(Interval(2.0, 2.0), Interval(1.0, 1.5))
    0.5000000000000...
    >>> relative_gap(Interval(0.0, 5e-324), Interval(0.0, 0.0)), relative_gap(Interval(0.0, 0.0), Interval(0.0, 0.0))
    (inf, 0.0)
    """
    if primal.high <= dual.low:
        return 0.0
    if not (primal.low > 0 and math.isfinite(primal.high) and math.isfinite(dual.low)):
        return math.inf
    gap = math.nextafter(primal.high - dual.low, math.inf)
    return math.nextafter(gap / primal.low, math.inf)


def out_of_range(primal: Interval, dual: Interval) -> str:
    """Return why nothing is known of (P − D)/P, in words; nothing where that is known.

    Examples
    --------
    >>> out_of_range(Interval(0.0, 5e-324), Interval(0.0, 0.0))
    'the objective is too small for floating-point numbers to tell it from zero'
    """
    if math.isfinite(relative_gap(primal, dual)):
        return ""
    if primal.high < SLIGHT:
        return "the objective is too small for floating-point numbers to tell it from zero"
    if math.isinf(primal.high):
        return "the objective, or a number on the way to it, is too large for floating-point numbers"
    if math.isinf(dual.low):
        return "the lower bound, or a number on the way to it, is too large for floating-point numbers"
    return "the objective cannot be told from zero: rounding takes as much"


def total(values: FloatArray, radius: FloatArray) -> Interval:
    """Σ vᵢ of numbers that are known to within a radius each."""
    if not (values.any() or radius.any()):
        return Interval(0.0, 0.0)
    if not float(np.abs(values).max() + radius.max()) * len(values) < HUGE:
        return EVERYTHING
    # fsum returns the float nearest to the exact sum; of many numbers, it is given the sums of short pieces.
    pieces = np.arange(0, len(values), CHUNK if len(values) > CHUNK else 1)
    error = gamma(CHUNK) if len(values) > CHUNK else 0.0
    middle = math.fsum(np.add.reduceat(values, pieces).tolist())
    reach = math.fsum(np.add.reduceat(radius + error * np.abs(values), pieces).tolist()) * (1.0 + gamma(CHUNK + 8))
    # The products with error and gamma may have fallen below the range: one SMALLEST for each and two for the sum.
    reach += (len(values) + 2) * SMALLEST if error else 2 * SMALLEST * (reach > 0)
    return outward(middle - reach, middle + reach)


def blocks(X: Any, *, dense: bool = False) -> Iterator[tuple[slice, Any]]:
    """Rows of X, a block at a time, in double precision: short sums have small errors. `dense`: to be made so."""
    size = 4096 if is_sparse(X) and not dense else max(64, min(4096, 2**22 // max(1, X.shape[1])))
    if isinstance(X, BlockedMatrix):
        yield from X.blocks(size)
        return
    for first in range(0, X.shape[0], size):
        part = slice(first, min(first + size, X.shape[0]))
        yield part, _rows_of(X, part).astype(np.float64, copy=False)


def _rows_of(X: Any, part: slice) -> Any:
    """Return rows that follow each other; of a CSR matrix at most copied as a whole, not row by row as SciPy's are."""
    if not is_sparse(X) or X.format != "csr":
        return X[part]
    start = X.indptr[part.start : part.stop + 1]
    entries = slice(start[0], start[-1])
    return type(X)((X.data[entries], X.indices[entries], start - start[0]), shape=(len(start) - 1, X.shape[1]))


def sizes(X: Any) -> Any:
    """|X|, entry by entry; SciPy's own would sort the entries of every row first."""
    if not is_sparse(X):
        return np.abs(X)
    return type(X)((np.abs(X.data), X.indices, X.indptr), shape=X.shape)


def agreements(X: Any, y: FloatArray, w: FloatArray, b: float) -> tuple[FloatArray, FloatArray]:
    """zᵢ = yᵢ (w·xᵢ + b), and how far each may be off: γ_(d+2) (|xᵢ|·|w| + |b|)."""
    z, size = np.empty(len(y)), np.empty(len(y))
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite makes the interval unbounded
        for part, block in blocks(X):
            z[part] = block @ w
            size[part] = sizes(block) @ np.abs(w)
        z, size = z + b, size + abs(b)
    longest = int(np.diff(X.indptr).max(initial=0)) if is_sparse(X) else X.shape[1]
    return y * z, gamma(longest + 8) * size + (longest + 2) * SMALLEST


def sharp_agreements(X: Any, y: FloatArray, w: FloatArray, b: float) -> tuple[FloatArray, FloatArray]:
    """zᵢ = yᵢ (w·xᵢ + b) with twice the digits, and how far each may be off; for huge terms that cancel.

    Examples
    --------
    >>> z, radius = sharp_agreements(np.array([[1.0, 1.0 + 2**-40]]), np.ones(1), np.array([-1e12, 1e12]), 0.5)
    >>> float(z[0]), bool(radius[0] < 1e-15)
    (1.4094947017729282, True)
    """
    z, radius = agreements(X, y, w, b)
    fraction, exponent = np.frexp(w)
    for part, block in blocks(X, dense=True):
        dense = np.asarray(block.toarray() if is_sparse(block) else block)
        with np.errstate(over="ignore", invalid="ignore"):
            # Each column takes over its weight's power of two: an error is then a share of the largest term.
            high, low, off = (part[:, 0] for part in split_product(np.ldexp(dense, exponent), fraction[:, None]))
            total, rest = two_sum(high, np.float64(b))  # type: ignore[arg-type]
            rest = rest + low
            found = total + rest
            off = off + 4 * U * (np.abs(found) + np.abs(rest)) + (len(w) + 2) * SMALLEST
        better = off < radius[part]
        z[part] = np.where(better, y[part] * found, z[part])
        radius[part] = np.where(better, off, radius[part])
    return z, radius


def combination(X: Any, u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Σ uᵢ xᵢ, and how far each entry may be off: γ Σ |uᵢ||xᵢ|."""
    v, size, longest, count = np.zeros(X.shape[1]), np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0
    if not u.any():
        return v, size
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite makes the interval unbounded
        for part, block in blocks(X):
            v += block.T @ u[part]
            size += sizes(block).T @ np.abs(u[part])
            terms = np.bincount(block.indices, minlength=block.shape[1]) if is_sparse(block) else block.shape[0]
            longest, count = np.maximum(longest, terms), count + 1
    k = longest + count + 8
    most = int(k.max(initial=1))
    # Rare columns are short sums, and γ_k ≤ γ_most k / most for k ≤ most.
    share = gamma(most) * (1.0 + gamma(most)) * (1.0 + 8 * U) * (k / most)
    return v, share * size + (np.count_nonzero(u) + 4) * SMALLEST


def sharpened(
    X: Any, u: FloatArray, v: FloatArray, radius: FloatArray, penalty: Penalty, size: float, share: float = SHARP
) -> tuple[FloatArray, FloatArray]:
    """Σ uᵢ xᵢ and how far each entry may be off, taken again with twice the digits where a bound of that size needs it.

    It does where these errors could change it by more than that share. Huge columns need it: their products with u all
    but cancel at the optimum, and what is left is the smaller the larger they are.
    """
    columns = harmful(v, radius, penalty, size, share)
    if not len(columns):
        return v, radius
    width = max(1, 2**20 // 4096)
    v, radius = v.copy(), radius.copy()
    for first in range(0, len(columns), width):
        some = columns[first : first + width]
        with np.errstate(over="ignore", invalid="ignore"):  # of what is next to the largest float the halves overflow
            sums, errors = column_sums(blocks(X), u, some)
        # The radius is γ_k Σ |uᵢ xᵢⱼ| with k ≥ 1, so that this is no less than u² Σ |uᵢ xᵢⱼ| for each rounding.
        off = 2 * U * np.abs(sums) + 2 * errors * U * radius[some] + 16 * np.count_nonzero(u) * SMALLEST
        better = off < radius[some]
        v[some[better]], radius[some[better]] = sums[better], off[better]
    return v, radius


def harmful(v: FloatArray, radius: FloatArray, penalty: Penalty, size: float, share: float) -> IntArray:
    """Return the columns whose radii may together take more than that share from a bound of that size.

    What lies within the box |v| ≤ l1 for certain costs nothing. Of what leaves it, where no l2 forgives that, only the
    furthest counts: the dual point is scaled until that fits.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # then that column is worth a closer look, or nothing helps
        furthest = np.abs(v) + radius
        if penalty.l1 and not penalty.l2:
            outside = furthest >= max(penalty.l1, float((np.abs(v) - radius).max(initial=0.0)))
            return np.flatnonzero(outside & ~(radius / penalty.l1 <= share))
        most = share * size
        harm = np.maximum(furthest - penalty.l1, 0.0) * radius / penalty.l2 if penalty.l2 else radius * size
        return np.flatnonzero(harm > most / (2 * len(v))) if harm.sum() > most else np.empty(0, dtype=np.int64)


# -- the primal value -------------------------------------------------------------------------------------------------


def penalty_value(penalty: Penalty, w: FloatArray) -> Interval:
    """l2 · ½‖w‖² + l1 · ‖w‖₁."""
    if penalty.l2 == penalty.l1 == 0 or not w.any():
        return Interval(0.0, 0.0)
    with np.errstate(over="ignore"):
        squares = w * w
    size = np.abs(w)
    quadratic = total(squares, U * squares + SMALLEST * (size > 0)).times(penalty.l2).times(0.5)
    found = quadratic + total(size, np.zeros_like(size)).times(penalty.l1)
    return Interval(max(found.low, 0.0), found.high)


@np.errstate(over="ignore", invalid="ignore")  # what is not finite makes the interval unbounded
def loss_sum(loss: Loss, z: FloatArray, radius: FloatArray, c: FloatArray) -> Interval:
    """Σ cᵢ ℓ(zᵢ): a convex ℓ is highest at an end of [z − r, z + r], and never below its tangent at z.

    c = C s has been rounded: it may be off by u of itself, or by `SMALLEST`; where it is zero, so was s.
    """
    if not (np.isfinite(z).all() and np.isfinite(radius).all() and np.isfinite(c).all()):
        return EVERYTHING
    radius = radius + 4 * U * np.abs(z)  # the ends are rounded too
    left, middle, right = (loss.value(at) for at in (z - radius, z, z + radius))
    high = np.maximum(left, right)
    slope = np.abs(loss.slope(z)) + ULPS * SMALLEST if loss.is_likelihood else np.abs(loss.slope(z))
    low = middle - slope * radius if loss.convex else np.minimum(left, right)
    spread = np.maximum(high - middle, middle - low)
    rounding = ULPS * U * (np.abs(left) + np.abs(middle) + np.abs(right) + spread)
    # Exactly zero, where the loss is flat; a likelihood's is not, however small.
    flat = (left == 0) & (middle == 0) & (right == 0) & (not loss.is_likelihood) | (c == 0)
    off = np.where(flat, 0.0, spread + rounding + ULPS * SMALLEST)
    lost = np.where(flat, 0.0, 4.0 + np.abs(middle) + off) * SMALLEST
    return total(np.where(flat, 0.0, c * middle), c * off * (1.0 + 8 * U) + lost)


# -- the dual value ---------------------------------------------------------------------------------------------------


def feasible(loss: Loss, alpha: FloatArray, y: FloatArray, c: FloatArray, *, balance: bool) -> FloatArray:
    """Return a dual point near α that is exactly feasible: −αᵢ/cᵢ a slope of the loss and, if asked for, Σ αᵢ yᵢ = 0.

    α is cut down to whole multiples of a power of two; these add up without rounding, and what the heavier class has
    too much of is taken from its largest.

    Examples
    --------
    >>> from linsep.losses import Hinge
    >>> alpha = feasible(Hinge(), np.array([0.7, 0.1, 0.3]), np.array([1.0, -1.0, -1.0]), np.ones(3), balance=True)
    >>> bool(alpha[0] == alpha[1] + alpha[2])
    True
    """
    alpha = among_slopes(loss, alpha, c)
    step = unit(float(np.abs(alpha).max(initial=0.0)))
    if not step:
        return np.zeros_like(alpha)
    units = np.trunc(alpha / step).astype(np.int64)
    if balance:
        take_surplus(units, y, bounded=loss.slopes[1] <= 0)
    return np.asarray(units * step, dtype=np.float64)


def among_slopes(loss: Loss, alpha: FloatArray, c: FloatArray) -> FloatArray:
    """Return the α next to these for which −αᵢ/cᵢ is a slope of the loss."""
    lowest, highest = loss.slopes
    below = np.nextafter(np.nextafter(c, 0.0), 0.0)  # c = C s was rounded, perhaps up
    below[c < SLIGHT] = 0.0
    with np.errstate(invalid="ignore"):
        ends = [np.where(below > 0, -end * below, 0.0) for end in (highest, lowest)]
    return np.where(below > 0, np.clip(alpha, *ends), 0.0)


def unit(largest: float, spare: int = 0) -> float:
    """Return the power of two of which numbers up to that size are cut to whole multiples; 0 where there is none.

    So many bits are to spare, for sums of units that are floats without rounding.
    """
    return math.ldexp(1.0, math.frexp(largest)[1] - GRID + spare) if SLIGHT < largest < np.inf else 0.0


def take_surplus(units: IntArray, y: FloatArray, *, bounded: bool) -> None:
    """Make Σ unitsᵢ yᵢ = 0, in place, by taking from the class that has more; `bounded`: nothing below 0."""
    surplus = exact_sum(units[y > 0]) - exact_sum(units[y < 0])
    rows = np.flatnonzero(y > 0 if surplus > 0 else y < 0)
    if take(units, rows, abs(surplus), 0 if bounded else -(2**GRID)):
        units[:] = 0  # the class cannot give as much: the point zero is always feasible


def take(units: IntArray, rows: IntArray, amount: int, least: int = 0) -> int:
    """Take that many units from the largest of some rows, in place, down to `least` each; return what is missing."""
    for i in rows[np.argsort(-np.abs(units[rows]), kind="stable")]:
        if amount == 0:
            break
        taken = min(amount, int(units[i]) - least)
        units[i] -= taken
        amount -= taken
    return amount


def exact_sum(units: IntArray) -> int:
    """Σ unitsᵢ, of whole numbers of up to 53 bits, in parts that fit into 64."""
    return sum(int(part.sum()) for part in np.array_split(units, len(units) // 512 + 1))


@np.errstate(over="ignore", invalid="ignore")
def conjugate_sum(loss: Loss, alpha: FloatArray, c: FloatArray, radius: FloatArray | None = None) -> Interval:
    """Σ cᵢ ℓ*(−αᵢ/cᵢ) over the examples that count; α, of which it is known to be feasible, is within a radius."""
    radius = np.zeros_like(alpha) if radius is None else radius
    used = c > 0
    if loss.conjugate(np.zeros(1))[0] == 0:
        used = (alpha != 0) | (radius != 0)  # the others add nothing
    alpha, c, radius = alpha[used], c[used], radius[used]
    if not (np.isfinite(c).all() and (c > 0).all()):
        return EVERYTHING
    a = np.clip(-alpha / c, *loss.slopes)
    # c and the quotient are rounded, or fall below the range: the true a lies between these, and a convex ℓ* is
    # highest at an end.
    off = (4 * U + 2 * (SMALLEST / c)) * np.abs(a) + radius / c * (1.0 + 8 * U) + 2 * SMALLEST
    ends = [loss.conjugate(np.clip(end, *loss.slopes)) for end in (a - off, a + off)]
    middle = loss.conjugate(a)
    spread = np.maximum(*(np.abs(end - middle) for end in ends))
    off = spread + ULPS * U * (np.abs(middle) + np.abs(a) + spread) + ULPS * SMALLEST
    return total(c * middle, c * off * (1.0 + 8 * U) + (4.0 + np.abs(middle) + off) * SMALLEST)


def fits(penalty: Penalty, v: FloatArray, radius: FloatArray) -> bool:
    """Whether |v| ≤ l1 for sure: without a quadratic part the conjugate is finite only there."""
    return bool((np.nextafter(np.abs(v) + radius, np.inf) <= penalty.l1).all()) or not (v.any() or radius.any())


def into_box(penalty: Penalty, v: FloatArray, radius: FloatArray, attempt: int) -> float:
    """Return the factor that takes v into the box |v| ≤ l1; after a failed attempt, more than by what was missing.

    The dual point is cut to whole multiples of a power of two afterwards, which may take v out again by a little.
    """
    longest = float((np.abs(v) + radius).max())
    beyond = max(64 * U, longest / penalty.l1 - 1.0) if attempt else 64 * U
    return penalty.l1 / longest * max(0.5, 1.0 - 64.0**attempt * beyond)


def penalty_conjugate(penalty: Penalty, v: FloatArray, radius: FloatArray) -> Interval:
    """sup_w (v·w − penalty(w)) = Σ max(0, |v| − l1)²/(2 l2)."""
    size = np.abs(v)
    if not (v.any() or radius.any()):
        return Interval(0.0, 0.0)
    if penalty.l2 == 0:
        return Interval(0.0, 0.0 if fits(penalty, v, radius) else math.inf)
    if not (np.isfinite(v).all() and np.isfinite(radius).all()):
        return Interval(0.0, math.inf)
    spread = radius + 4 * U * (size + penalty.l1)
    with np.errstate(over="ignore"):
        ends = [np.maximum(0.0, size - penalty.l1 + sign * spread) for sign in (-1.0, 1.0)]
        squares = [end * end for end in ends]
    low, high = (total(square, U * square + SMALLEST * (end > 0)) for square, end in zip(squares, ends, strict=True))
    found = Interval(max(low.low, 0.0), high.high).over(penalty.l2).times(0.5)
    return Interval(max(found.low, 0.0), found.high)
