"""The checker: planes and proofs of overlap, tested in exact arithmetic on the floats as given.

A float is a whole number times a power of two, so every sum below is a sum of whole numbers and no rounding enters a
verdict. This file imports nothing of linsep but `exact_input`: whatever found a proof, these lines are all one has to
trust.

Labels are y ∈ {−1, +1}; a row is aᵢ = yᵢ [xᵢ, 1] (without an intercept, yᵢ xᵢ) and a plane is θ = [w, b].

- θ *separates* if aᵢ·θ > 0 for all i; it separates *weakly* if aᵢ·θ ≥ 0 for all i and > 0 for one.
- Weights λ > 0 on some rows with Σ λᵢ aᵢ = 0 prove that nothing separates (Gordan): two convex combinations, one of
  each class, are the same point.
- If these rows also span all others, nothing separates even weakly (Stiemke): a weak plane would be zero on them,
  hence on all rows.
- Weights λ ≥ 0 with Σ λᵢ aᵢ = e_j prove that no weak plane has θ_j < 0 (Farkas).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .exact_input import refuse_inexact

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Number = float | Fraction
Numbers = Sequence[Number] | FloatArray

__all__ = [
    "Check",
    "Clock",
    "ProofTimeoutError",
    "check_cone",
    "check_dependencies",
    "check_margin",
    "check_overlap",
    "check_plane",
    "check_rank",
    "check_support",
    "depends",
    "mantissas",
    "margin_bounds",
    "plane_margin",
    "sides",
    "unsettled",
]

#: A rank found modulo this prime is never above the true one.
PRIME = 2**31 - 1
#: How many numbers of X are looked at in one go.
CHUNK = 2**20


#: Rows whose sides floats do not tell are looked at one by one if they are this few, or their numbers longer than this.
FEW, SHORT = 20, 31

#: What any step costs at least, in elementary operations: about twenty microseconds' worth.
STEP = 2e4


class ProofTimeoutError(TimeoutError):
    """The exact arithmetic was not done in the time, or with the work, allowed: nothing is proven either way."""


class Clock:
    """Time, or work, that is left; raises once there is none.

    Parameters
    ----------
    limit : float or None
        Seconds; None for no limit.
    budget : float or None
        Elementary operations, of which some 10⁹ take a second: the same on all machines, so that what is decided
        within them does not depend on how fast one is.

    Examples
    --------
    >>> Clock(None).check("the weights")
    >>> Clock(0.0).check("the weights")
    Traceback (most recent call last):
    ...
    linsep.arithmetic.exact.ProofTimeoutError: undecided within time_limit=0 s, while ...
    """

    def __init__(self, limit: float | None, budget: float | None = None) -> None:
        if limit is not None and not limit >= 0:
            raise ValueError(f"time_limit={limit!r} must be a number of seconds, zero or more, or None for no limit")
        self.limit, self.end = limit, None if limit is None else time.monotonic() + limit
        self.budget, self.spent = budget, 0.0

    def left(self) -> float | None:
        """Return how many seconds are left, or None where there is no limit."""
        return None if self.end is None else max(0.0, self.end - time.monotonic())

    def check(self, what: str, work: float = 0.0) -> None:
        """Count some work; raise `ProofTimeoutError`, naming it, if that is too much or the time is up."""
        self.spent += STEP + work
        if self.budget is not None and self.spent > self.budget:
            raise ProofTimeoutError(f"undecided within {self.budget:.1g} operations, while working on {what}")
        if self.end is not None and time.monotonic() >= self.end:
            raise ProofTimeoutError(
                f"undecided within time_limit={self.limit:g} s, while working on {what}; raise time_limit, "
                "or use fewer columns: exact numbers grow with their count"
            )


@dataclass(frozen=True)
class Check:
    """What a check found: true or false, and why."""

    holds: bool
    reason: str

    def __bool__(self) -> bool:
        return self.holds


# -- floats as whole numbers ------------------------------------------------------------------------------------------


def mantissas(values: FloatArray) -> tuple[IntArray, IntArray]:
    """Return odd whole numbers m (or 0) and exponents e with value = m·2ᵉ exactly.

    Examples
    --------
    >>> mantissas(np.array([3.0, 0.5, 0.0]))
    (array([3, 1, 0]), array([ 0, -1,  0]))
    """
    fraction, exponent = np.frexp(values)
    m = np.ldexp(fraction, 53).astype(np.int64)
    zeros = np.frexp((m & -m).astype(np.float64))[1] - 1  # how often two divides m
    zeros = np.where(m == 0, 0, zeros).astype(np.int64)
    return m >> zeros, np.where(m == 0, 0, exponent.astype(np.int64) - 53 + zeros)


class _Data:
    """X and y, dense or sparse, as rows of numbers of which each is a finite double."""

    def __init__(self, X: Any, y: Any, intercept: bool) -> None:
        refuse_inexact(X)
        self.sparse = sparse.issparse(X)
        matrix: Any = sparse.csr_matrix(X) if self.sparse else np.asarray(X)
        if matrix.ndim != 2:
            raise ValueError(f"X has shape {matrix.shape}; it needs rows and columns")
        if self.sparse and not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        self.X = matrix.astype(np.float64) if matrix.dtype.kind == "O" else matrix
        self.n, self.d = (int(size) for size in matrix.shape)
        self.y, self.intercept = np.asarray(y, dtype=np.float64), intercept
        if self.y.shape != (self.n,) or not np.isin(self.y, (-1.0, 1.0)).all():
            raise ValueError(f"y needs a label −1 or +1 for each of the {self.n} rows of X")
        values: Any = self.X.data if self.sparse else self.X
        if values.dtype.kind not in "fiub":
            raise ValueError(f"X has dtype {values.dtype}; it needs numbers")
        if not np.isfinite(values).all():
            raise ValueError("X has a value that is not a finite number")

    @property
    def size(self) -> int:
        """How long θ is."""
        return self.d + self.intercept

    @property
    def gamma(self) -> float:
        """The share of |a|·|θ| that a sum a·θ, in any order and with θ rounded, is off by at the most."""
        longest = int(np.diff(self.X.indptr).max(initial=0)) if self.sparse else self.d
        return 2.0**-52 * (longest + 9)

    def row(self, i: int) -> tuple[list[int], FloatArray]:
        """Return the columns and the values of one row, the intercept's 1 at the end."""
        if self.sparse:
            part = slice(self.X.indptr[i], self.X.indptr[i + 1])
            columns, values = self.X.indices[part].tolist(), self.X.data[part].astype(np.float64)
        else:
            values = self.X[i].astype(np.float64)
            columns = np.flatnonzero(values).tolist()
            values = values[columns]
        return ([*columns, self.d], np.append(values, 1.0)) if self.intercept else (columns, values)

    def chunks(self) -> Iterator[tuple[int, Any]]:
        """Yield the first row and the rows, in double precision, of parts of X that fit into a cache."""
        size = self.n if self.sparse else max(1, CHUNK // max(1, self.d))
        for first in range(0, self.n, max(1, size)):
            yield first, self.X[first : first + size].astype(np.float64)


def _signs(data: _Data, theta: Numbers, clock: Clock) -> Iterator[tuple[int, IntArray]]:
    """Yield the first row and the signs of aᵢ·θ, part by part: by floats where these prove them, else exactly."""
    (w, b), whole = _split(_rounded(theta), data), None
    for first, X in data.chunks():
        clock.check("the sides of the points", 3.0 * X.size)
        part = slice(first, first + X.shape[0])
        z, doubt = _products(data, part, X, w, b)
        sign = np.where(z > 0, 1, -1)
        unsure = np.flatnonzero(~(np.abs(z) > doubt))
        if len(unsure):
            whole = _whole(theta) if whole is None else whole
            sign[unsure] = data.y[part][unsure].astype(np.int64) * _exact_signs(data, first + unsure, whole, clock)
        yield first, sign


def _exact_signs(data: _Data, which: IntArray, whole: Sequence[int], clock: Clock) -> IntArray:
    """Return the signs of x·θ for some rows: of many at once in whole numbers of 64 bits, where the data are short."""
    short = _short_rows(data, which) if len(which) > FEW else None
    if short is None:
        found = []
        for i in which.tolist():
            clock.check("the sides of points close to the plane", 5.0 * STEP)
            found.append(_sign(_dot(data.row(i), whole)[0]))
        return np.array(found, dtype=np.int64)
    rows, one = short
    bits = 62 - SHORT - data.size.bit_length()  # no sum of products leaves 64 bits
    total: Any = np.zeros(len(which), dtype=object)
    sizes, negative = [abs(value) for value in whole], np.array([value < 0 for value in whole])
    for k in range(0, max(size.bit_length() for size in sizes), bits):
        clock.check("the sides of points close to the plane", 10.0 * len(which))
        digit = np.array([(size >> k) & ((1 << bits) - 1) for size in sizes], dtype=np.int64)
        digit[negative] *= -1
        part = rows @ digit[: data.d] + (one * digit[data.d] if data.intercept else 0)
        total += np.asarray(part).astype(object) << k
    return np.asarray(total > 0, dtype=np.int64) - np.asarray(total < 0, dtype=np.int64)


def _short_rows(data: _Data, which: IntArray) -> tuple[Any, int] | None:
    """Return rows times a power of two, and that power, if this makes all of them whole and short; else None."""
    part = data.X[which]
    m, e = mantissas(np.asarray(part.data if data.sparse else part, dtype=np.float64))
    base = min(0, int(e.min(initial=0)))
    longest = max(0, int((np.frexp(np.abs(m).astype(np.float64))[1] + e).max(initial=0)))
    if longest - base > SHORT:
        return None
    values = m << (e - base)
    if data.sparse:
        return sparse.csr_matrix((values, part.indices, part.indptr), shape=part.shape), 1 << -base
    return values, 1 << -base


def _split(theta: FloatArray, data: _Data) -> tuple[FloatArray, float]:
    """Return w and b of θ."""
    return theta[: data.d], float(theta[data.d]) if data.intercept else 0.0


def _products(data: _Data, part: slice, X: Any, w: FloatArray, b: float) -> tuple[FloatArray, FloatArray]:
    """Return aᵢ·θ of some rows X in floats, and how far off they can be: infinitely where they overflow."""
    # |fl(a·θ̂) − a·θ| ≤ γ |a|·|θ̂| + underflow, for any order of the sum; θ̂ is θ up to one rounding each
    gamma, tiny = data.gamma, 2.0**-1073
    with np.errstate(over="ignore", invalid="ignore"):
        z = np.asarray(data.y[part] * (X @ w + b))
        doubt = np.asarray(abs(X) @ (gamma * np.abs(w) + tiny)) + gamma * abs(b) + (data.size + 8) * tiny
    return z, np.where(np.isfinite(z) & np.isfinite(doubt), doubt, np.inf)


def _rounded(theta: Numbers) -> FloatArray:
    """Return θ in floats, times a power of two that makes the largest about one."""
    if isinstance(theta, np.ndarray):
        with np.errstate(under="ignore"):
            return np.ldexp(theta, -int(np.frexp(np.abs(theta).max(initial=0.0))[1]))
    exact = [Fraction(value) for value in theta]
    bits = max((abs(v.numerator).bit_length() - v.denominator.bit_length() for v in exact if v), default=0)
    factor = Fraction(2) ** -bits
    return np.array([float(v * factor) for v in exact])


def _whole(theta: Numbers) -> list[int]:
    """Return θ times a positive number that makes it whole."""
    if isinstance(theta, np.ndarray):
        m, e = mantissas(theta)
        return list(m.astype(object) << (e - e.min(initial=0)).astype(object))
    exact = [Fraction(value) for value in theta]
    scale = lcm(*{v.denominator for v in exact})
    return [v.numerator * (scale // v.denominator) for v in exact]


def _dot(row: tuple[list[int], FloatArray], whole: Sequence[int]) -> tuple[int, int]:
    """Return x·θ as a whole number times a power of two, and that power's exponent."""
    columns, values = row
    m, e = mantissas(values)
    base = int(e.min(initial=0))
    total = sum((a * whole[j]) << (k - base) for j, a, k in zip(columns, m.tolist(), e.tolist(), strict=True))
    return total, base


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def sides(X: Any, y: Any, theta: Numbers, *, intercept: bool = True, clock: Clock | None = None) -> IntArray:
    """Return the exact sign of aᵢ·θ for every row: +1 on its own side, 0 on the plane, −1 on the wrong side.

    Examples
    --------
    >>> sides([[0.1], [0.3]], [-1, 1], [Fraction(1), Fraction(-0.1)])
    array([0, 1])
    """
    parts = _signs(_Data(X, y, intercept), theta, clock or Clock(None))
    return np.concatenate([np.empty(0, dtype=np.int64), *(signs for _, signs in parts)])


def unsettled(X: Any, y: Any, theta: FloatArray, *, intercept: bool = True) -> NDArray[np.bool_]:
    """Return which rows lie so near a plane, or on it, that w·x + b in floats may have another sign than it truly has.

    Examples
    --------
    >>> unsettled([[0.1], [0.3]], [-1, 1], np.array([1.0, -0.1]))
    array([ True, False])
    """
    data = _Data(X, y, intercept)
    w, b = _split(theta, data)
    settled = np.empty(data.n, dtype=bool)
    for first, part in data.chunks():
        rows = slice(first, first + part.shape[0])
        z, doubt = _products(data, rows, part, w, b)
        settled[rows] = np.abs(z) > doubt
    return ~settled


# -- the checks -------------------------------------------------------------------------------------------------------


def check_plane(
    X: Any,
    y: Any,
    coef: Numbers,
    intercept: Number | None = 0.0,
    *,
    strict: bool = True,
    time_limit: float | None = None,
) -> Check:
    """Check that a plane separates: strictly, or weakly (no point on the wrong side and one off the plane).

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
    y : array of −1 and +1
    coef : floats or Fractions, d of them
    intercept : float or Fraction; None for a plane through the origin
    strict : bool
    time_limit : float, optional
        Seconds after which `ProofTimeoutError` is raised.

    Examples
    --------
    >>> check_plane([[0.0], [1.0]], [-1, 1], [2.0], -1.0)
    Check(holds=True, reason='all 2 points are strictly on their own side')
    >>> bool(check_plane([[0.0], [1.0]], [-1, 1], [1.0], 0.0))
    False
    """
    data, clock = _Data(X, y, intercept is not None), Clock(time_limit)
    b = [] if intercept is None else [intercept]
    if len(coef) != data.d:
        return Check(False, f"the plane has {len(coef)} coefficients, the data {data.d} columns")
    theta: Any = [*coef, *b]
    in_floats = isinstance(coef, np.ndarray) and coef.dtype.kind == "f" and not isinstance(intercept, Fraction)
    if in_floats or not any(isinstance(value, Fraction) for value in theta):
        theta = np.array(theta, dtype=np.float64)
    floats = theta if isinstance(theta, np.ndarray) else [value for value in theta if isinstance(value, float)]
    if not np.isfinite(floats).all():
        return Check(False, "a coefficient of the plane is not a finite number")
    some = False
    for first, signs in _signs(data, theta, clock):
        wrong = signs <= 0 if strict else signs < 0
        if wrong.any():
            k = int(np.argmax(wrong))
            where = "on the plane" if signs[k] == 0 else "on the wrong side"
            return Check(False, f"row {first + k} is {where}")
        some = some or bool((signs > 0).any())
    if strict:
        return Check(True, f"all {data.n} points are strictly on their own side")
    return Check(some, "no point is on the wrong side" if some else "all points are on the plane itself")


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
    data, clock = _Data(X, y, intercept), Clock(time_limit)
    return _check_weights(data, points, weights, clock)


def _check_weights(data: _Data, points: Sequence[int], weights: Sequence[Fraction], clock: Clock) -> Check:
    if len(points) != len(weights) or not len(points):
        return Check(False, f"{len(points)} points with {len(weights)} weights are no proof")
    if len(set(points)) < len(points) or not all(0 <= i < data.n for i in points):
        return Check(False, f"the points must be different rows, from 0 to {data.n - 1}")
    if not all(isinstance(w, Fraction | int) and w > 0 for w in weights):
        return Check(False, "a weight is not a positive rational number")
    whole = _whole(weights)
    one = Fraction(whole[0]) / weights[0]
    classes = (1.0, -1.0) if data.intercept else (None,)
    for label in classes:
        total = sum(w for i, w in zip(points, whole, strict=True) if label in (None, data.y[i]))
        if total != one:
            of = "all" if label is None else f"class {label:+.0f}"
            return Check(False, f"the weights of {of} sum to {_short(total / one)}, not to one")
    difference, _ = _combination(data, points, whole, clock)
    wrong = [j for j, value in difference.items() if value != 0 and j < data.d]
    if wrong:
        return Check(False, f"the two combinations differ in column {min(wrong)}")
    return Check(True, f"two convex combinations of {len(points)} points coincide")


def _combination(
    data: _Data, points: Sequence[int], weights: Sequence[int], clock: Clock
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


def margin_bounds(
    X: Any,
    y: Any,
    coef: FloatArray,
    intercept: float | None,
    points: Sequence[int] | IntArray,
    weights: Numbers,
    *,
    time_limit: float | None = None,
) -> tuple[float, float]:
    """Return bounds on the largest margin: what this plane keeps at least, and what no plane can exceed.

    The plane keeps min yᵢ(w·xᵢ + b)/‖w‖. Convex combinations p and q of the classes' points are no nearer to each other
    than twice the margin of any plane, so ½‖p − q‖ is above it (through the origin: ‖Σ βᵢ yᵢ xᵢ‖ with Σ βᵢ = 1). Both
    numbers are those of exact arithmetic, the lower one rounded down and the upper one rounded up.

    Parameters
    ----------
    X, y, coef, intercept
        As for `check_plane`, in floats.
    points, weights
        Rows and positive weights; each class's are divided by their sum.

    Examples
    --------
    >>> low, high = margin_bounds([[0.0], [2.0]], [-1, 1], np.array([1.0]), -1.0, [0, 1], [1.0, 1.0])
    >>> round(low, 12), round(high, 12)
    (1.0, 1.0)
    """
    data, clock = _Data(X, y, intercept is not None), Clock(time_limit)
    theta = coef if intercept is None else np.append(coef, intercept)
    if coef.shape != (data.d,) or not np.isfinite(theta).all() or not coef.any():
        raise ValueError(f"a plane in {data.d} columns needs as many finite coefficients, not all zero")
    kept, _ = _plane_margin(data, theta, False, clock)
    return kept, _margin_above(data, points, weights, clock)


def plane_margin(
    X: Any, y: Any, theta: Numbers, *, intercept: bool = True, augmented: bool = False, clock: Clock | None = None
) -> tuple[float, float]:
    """Return the floats between which the margin of a plane lies, min yᵢ(w·xᵢ + b)/‖w‖: next to it, or it itself.

    `augmented` divides by ‖[w, b]‖ instead: the margin of a plane through the origin, of the points [x, 1].

    Examples
    --------
    >>> plane_margin([[0.0], [1.0]], [-1, 1], [Fraction(2), Fraction(-1)])
    (0.5, 0.5)
    """
    return _plane_margin(_Data(X, y, intercept), theta, augmented, clock or Clock(None))


def _plane_margin(data: _Data, theta: Numbers, augmented: bool, clock: Clock) -> tuple[float, float]:
    whole = _whole(theta)
    z = _least_agreement(data, theta, whole, clock)
    if z == 0:
        return 0.0, 0.0
    square = z**2 / sum(value**2 for value in (whole if augmented else whole[: data.d]))
    low, high = (_root(square, up=up) for up in ((False, True) if z >= 0 else (True, False)))
    return (low, high) if z >= 0 else (-low, -high)


def _least_agreement(data: _Data, theta: Numbers, whole: Sequence[int], clock: Clock) -> Fraction:
    """Return min yᵢ aᵢ·θ of θ in whole numbers, exactly; floats only say which rows can have it."""
    nearest = []
    for i in _nearest_rows(data, theta, clock).tolist():
        clock.check("the margin of the plane", 5.0 * STEP)
        total, base = _dot(data.row(i), whole)
        nearest.append(int(data.y[i]) * total * Fraction(2) ** base)
    return Fraction(min(nearest))


def _nearest_rows(data: _Data, theta: Numbers, clock: Clock) -> IntArray:
    """Return the rows that can have the least aᵢ·θ, as far as floats tell: those within their rounding of it."""
    w, b = _split(_rounded(theta), data)
    lowest, highest = np.empty(data.n), np.empty(data.n)
    for first, X in data.chunks():
        clock.check("the distances of the points", 3.0 * X.size)
        part = slice(first, first + X.shape[0])
        z, doubt = _products(data, part, X, w, b)
        z = np.where(np.isfinite(doubt), z, 0.0)
        lowest[part], highest[part] = z - doubt, z + doubt
    return np.flatnonzero(lowest <= highest.min())  # what these two sums round is within what doubt allows for


def check_margin(
    X: Any,
    y: Any,
    coef: Numbers,
    intercept: Number | None,
    margin: float,
    *,
    time_limit: float | None = None,
) -> Check:
    """Check that every point is on its own side of a plane and no nearer to it than a margin: y(w·x + b) ≥ margin·‖w‖.

    Examples
    --------
    >>> bool(check_margin([[0.0], [1.0]], [-1, 1], [2.0], -1.0, 0.5))
    True
    >>> check_margin([[0.0], [1.0]], [-1, 1], [2.0], -1.0, 0.5000000000000001).reason
    'a point is nearer to the plane than 0.5000000000000001: its margin is 0.5'
    """
    theta: Any = coef if intercept is None else [*coef, intercept]
    if isinstance(coef, np.ndarray) and coef.dtype.kind == "f" and not isinstance(intercept, Fraction):
        theta = np.array(theta, dtype=np.float64)
    if not np.any(theta[: len(coef)]):
        return Check(False, "a plane needs coefficients that are not all zero")
    if not 0 <= margin < np.inf:
        return Check(False, f"a margin is a finite number, zero or more, not {margin}")
    kept, _ = plane_margin(X, y, theta, intercept=intercept is not None, clock=Clock(time_limit))
    if margin > kept:
        return Check(False, f"a point is nearer to the plane than {margin!r}: its margin is {kept:.12g}")
    return Check(True, f"no point is nearer to the plane than {margin:.6g}")


def _margin_above(data: _Data, points: Sequence[int] | IntArray, weights: Numbers, clock: Clock) -> float:
    rows = [int(i) for i in points]
    if not all(isinstance(weight, Fraction) or np.isfinite(weight) for weight in weights):
        raise ValueError("the weights of a bound must be finite numbers")
    exact = _whole([Fraction(weight) for weight in weights])
    if len(set(rows)) < len(rows) or not all(0 <= i < data.n for i in rows) or not all(w > 0 for w in exact):
        raise ValueError("the weights of a bound must be positive, on different rows of X")
    sums = {1.0: 0, -1.0: 0}
    for i, weight in zip(rows, exact, strict=True):
        sums[float(data.y[i])] += weight
    if not data.intercept:
        sums = dict.fromkeys(sums, sum(sums.values()))
    if not all(sums.values()):
        return np.inf
    scale = lcm(*sums.values())
    shares = [weight * (scale // sums[float(data.y[i])]) for i, weight in zip(rows, exact, strict=True)]
    difference, base = _combination(data, rows, shares, clock)
    square = Fraction(sum(value**2 for j, value in difference.items() if j < data.d), scale**2) * Fraction(4) ** base
    return _root(square / 4 if data.intercept else square, up=True)


def _root(square: Fraction, *, up: bool) -> float:
    """√square as a float, rounded up or down: exactly, whatever its size.

    Examples
    --------
    >>> _root(Fraction(2), up=False) < 2**0.5 <= _root(Fraction(2), up=True), _root(Fraction(9, 4), up=True)
    (True, 1.5)
    """
    if square == 0:
        return 0.0
    # r/2ᵏ ≤ √square < (r + 1)/2ᵏ with an r of more bits than a float has
    k = 70 - (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    shifted = square * Fraction(4) ** k
    r = isqrt(shifted.numerator // shifted.denominator)
    root = Fraction(r + (up and r * r != shifted)) / Fraction(2) ** k
    try:
        nearest = root.numerator / root.denominator
    except OverflowError:
        return np.inf if up else float(np.finfo(np.float64).max)
    if (Fraction(nearest) < root) if up else (Fraction(nearest) > root):
        return float(np.nextafter(nearest, np.inf if up else 0.0))
    return nearest


Dependencies = Mapping[int, Mapping[int, Fraction]]


def check_support(
    X: Any,
    y: Any,
    points: Sequence[int],
    weights: Sequence[Fraction],
    dependencies: Dependencies | None = None,
    *,
    intercept: bool = True,
    time_limit: float | None = None,
) -> Check:
    """Check that no plane separates even weakly: the combinations coincide, and the points span all rows.

    The span is proven by counting: the points have a rank of at least r, and each of the other (columns − r) columns is
    on all rows a combination of further columns.

    Parameters
    ----------
    X, y, points, weights, intercept, time_limit
        As for `check_overlap`.
    dependencies : mapping of column to {column: Fraction}
        Columns that are combinations of columns which are not themselves among the keys; column d is the constant 1.

    Examples
    --------
    >>> third = Fraction(1, 3)
    >>> X, y = [[0.0, 0.0], [2.0, 0.0], [1.0, 0.0]], [-1, -1, 1]
    >>> half, one = Fraction(1, 2), Fraction(1)
    >>> bool(check_support(X, y, [0, 1, 2], [half, half, one], {1: {}}))
    True
    >>> check_support(X, y, [0, 1, 2], [half, half, one]).reason
    'the points span 2 of 3 dimensions, and 0 columns are given as dependent'
    """
    data, clock = _Data(X, y, intercept), Clock(time_limit)
    dependencies = dependencies or {}
    combined = _check_weights(data, points, weights, clock)
    if not combined:
        return combined
    spanned = _check_rank(data, points, dependencies, clock)
    if not spanned:
        return spanned
    return Check(True, f"two convex combinations of {len(points)} points coincide, and they span all rows")


def check_rank(
    X: Any,
    points: Sequence[int],
    dependencies: Dependencies | None = None,
    *,
    intercept: bool = True,
    time_limit: float | None = None,
) -> Check:
    """Check that some rows span all rows, and that the columns given as dependent are all that depend on others.

    Examples
    --------
    >>> X = [[1.0, 2.0], [3.0, 6.0], [5.0, 10.0]]
    >>> bool(check_rank(X, [0, 1], {1: {0: Fraction(2)}}))
    True
    >>> check_rank(X, [0, 1]).reason
    'the points span 2 of 3 dimensions, and 0 columns are given as dependent'
    """
    data, clock = _Data(X, np.ones(np.shape(X)[0]), intercept), Clock(time_limit)
    if len(set(points)) < len(points) or not all(0 <= i < data.n for i in points):
        return Check(False, f"the points must be different rows, from 0 to {data.n - 1}")
    return _check_rank(data, points, dependencies or {}, clock)


def check_dependencies(
    X: Any, dependencies: Dependencies, *, intercept: bool = True, time_limit: float | None = None
) -> Check:
    """Check that columns are the combinations of further columns that they are said to be, on all rows."""
    return _check_dependencies(_Data(X, np.ones(np.shape(X)[0]), intercept), dependencies, Clock(time_limit))


def _check_dependencies(data: _Data, dependencies: Dependencies, clock: Clock) -> Check:
    for column, others in dependencies.items():
        if not 0 <= column < data.size or any(j in dependencies or not 0 <= j < data.size for j in others):
            return Check(False, f"column {column} is given as a combination of columns that depend on others")
        if not _depends(data, column, others, clock):
            return Check(False, f"column {column} is not the combination of columns that it is said to be")
    return Check(True, "the columns are the combinations that they are said to be")


def _check_rank(data: _Data, points: Sequence[int], dependencies: Dependencies, clock: Clock) -> Check:
    depend = _check_dependencies(data, dependencies, clock)
    if not depend:
        return depend
    rank = _rank(data, points, [j for j in range(data.size) if j not in dependencies], clock)
    if rank + len(dependencies) < data.size:
        counted = f"the points span {rank} of {data.size} dimensions"
        return Check(False, f"{counted}, and {len(dependencies)} columns are given as dependent")
    return Check(True, f"{len(points)} rows span all rows, in {rank} dimensions")


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
    data, clock = _Data(X, y, intercept), Clock(time_limit)
    if len(points) != len(weights) or not len(points):
        return Check(False, f"{len(points)} points with {len(weights)} weights are no proof")
    if len(set(points)) < len(points) or not all(0 <= i < data.n for i in points):
        return Check(False, f"the points must be different rows, from 0 to {data.n - 1}")
    if not all(isinstance(w, Fraction | int) and w > 0 for w in weights):
        return Check(False, "a weight is not a positive rational number")
    whole = _whole(weights)
    scale = Fraction(whole[0]) / weights[0]
    base = min(int(mantissas(data.row(int(i))[1])[1].min(initial=0)) for i in points)
    total, _ = _combination(data, points, whole, clock)
    unit = sign * scale / Fraction(2) ** base
    wrong = [j for j in {*total, column} if total.get(j, 0) != (unit if j == column else 0)]
    if wrong:
        return Check(False, f"the combination is not the coefficient itself in column {min(wrong)}")
    return Check(True, f"a combination of {len(points)} points is the coefficient itself")


def depends(
    X: Any, column: int, others: Mapping[int, Fraction], *, intercept: bool = True, clock: Clock | None = None
) -> bool:
    """Whether a column is on all rows the combination Σ c_j x_j of others (column d is the constant 1).

    Examples
    --------
    >>> depends([[1.0, 2.0], [3.0, 6.0]], 1, {0: Fraction(2)})
    True
    """
    data = _Data(X, np.ones(np.shape(X)[0]), intercept)
    return _depends(data, column, others, clock or Clock(None))


def _depends(data: _Data, column: int, others: Mapping[int, Fraction], clock: Clock) -> bool:
    """Whether x_column = Σ c_j x_j on all rows."""
    scale = lcm(*(c.denominator for c in others.values()))
    terms = [(column, -scale), *((j, c.numerator * (scale // c.denominator)) for j, c in others.items())]
    parts = [(factor, *mantissas(_column(data, j))) for j, factor in terms]
    base = min(int(e.min(initial=0)) for _, _, e in parts)
    bits = max(int(np.frexp(np.abs(m).astype(np.float64))[1].max(initial=0)) for _, m, _ in parts)
    shift = max(int(e.max(initial=0)) for _, _, e in parts) - base
    longest = max(abs(factor).bit_length() for factor, _, _ in parts)
    if bits + shift + longest + len(parts).bit_length() < 62:  # no sum leaves 64 bits
        return not np.any(sum((m << (e - base)) * factor for factor, m, e in parts))
    for i in range(data.n):
        clock.check("columns that depend on others")
        if sum((int(m[i]) * factor) << int(e[i] - base) for factor, m, e in parts):
            return False
    return True


def _column(data: _Data, j: int) -> FloatArray:
    if j == data.d:
        return np.ones(data.n)
    column = data.X[:, [j]].toarray()[:, 0] if data.sparse else data.X[:, j]
    return np.asarray(column, dtype=np.float64)


def _rank(data: _Data, points: Sequence[int], columns: Sequence[int], clock: Clock) -> int:
    """Return a rank that these rows have at least, on these columns: the one modulo a prime."""
    place = {j: k for k, j in enumerate(columns)}
    M = np.zeros((len(points), len(columns)), dtype=np.int64)
    for k, i in enumerate(points):
        js, values = data.row(int(i))
        m, e = mantissas(values)
        residues = (m % PRIME) * _powers_of_two(e) % PRIME
        for j, residue in zip(js, residues.tolist(), strict=True):
            if j in place:
                M[k, place[j]] = residue
    return _rank_modulo(M, clock)


def _powers_of_two(e: IntArray) -> IntArray:
    """2ᵉ modulo the prime, for which 2³¹ = 1."""
    return np.left_shift(np.int64(1), e % 31)


def _rank_modulo(M: IntArray, clock: Clock) -> int:
    rank = 0
    for j in range(M.shape[1]):
        clock.check("the span of the points", 3.0 * M.size)
        pivots = np.flatnonzero(M[rank:, j])
        if not len(pivots):
            continue
        k = rank + int(pivots[0])
        M[[rank, k]] = M[[k, rank]]
        M[rank] = M[rank] * pow(int(M[rank, j]), -1, PRIME) % PRIME
        below = M[rank + 1 :]
        below[:] = (below - below[:, [j]] * M[rank] % PRIME) % PRIME
        rank += 1
        if rank == M.shape[0]:
            break
    return rank
