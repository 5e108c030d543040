"""How far below a point the optimum can lie, from the curvature there: the proof where no penalty makes a dual finite.

With x̃ = [x, 1], let g and H be the gradient and the Hessian of P(θ) = Σ cᵢ ℓ(yᵢ θ·x̃ᵢ), λ² = gᵀH⁻¹g, and |ℓ'''| ≤ M ℓ''
(logistic M = 1, square M = 0). Along any v the curvature falls no faster than e^(−M max|x̃·v|), and
|x̃ᵢ·v| ≤ ‖x̃ᵢ‖_{H⁻¹} ‖v‖_H. So, with r = ‖v‖_H and m = M maxᵢ ‖x̃ᵢ‖_{H⁻¹} (Bach 2010, *Self-concordant analysis for
logistic regression*, Proposition 1),

    P(θ + v) ≥ P(θ) − λ r + (e^(−mr) + mr − 1)/m²,

which, if s = mλ < 1, is smallest at e^(−mr) = 1 − s and then worth P(θ) − λ² κ(s), where
κ(s) = ((1 − s) log(1 − s) + s)/s² = ½ + s/6 + s²/12 + … ≤ (1 + s)/2. An optimum exists, and P(θ) − P* ≤ λ² (1 + s)/2.

A loss that is quadratic or straight but where ℓ'' jumps, such as the squared hinge, has M = 0 as far as no score comes
to a jump: up to ‖v‖_H = r₀ = minᵢ roomᵢ / ‖x̃ᵢ‖_{H⁻¹}, roomᵢ being how far the i-th is from the next one. H may do
without examples near a jump, since each loss lies above its tangent. If r₀ ≥ 2λ, P(θ + v) ≥ P(θ) − λr + r²/2 is no
less than P(θ) at r₀, hence nowhere beyond, for P is convex: P(θ) − P* ≤ λ²/2.

The softmax has the same form. With p of each example and zᵢₖ = (eₖ − pᵢ) ⊗ x̃ᵢ (the last class is held at zero, since
only differences count), g = −Σ cᵢ zᵢ,yᵢ and H = Σ cᵢ pᵢₖ zᵢₖzᵢₖᵀ. Along v the third derivative is a third central
moment of the scores' change, no more than its range times the variance, and the range is at most 2 maxₖ |zᵢₖ·v|: M = 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg

from .._common.types import BoolArray, FloatArray, IntArray
from .._core import is_sparse
from ..arithmetic.compensated import split_product
from ..arithmetic.enclosure import ULPS, U, blocks, gamma
from ..arithmetic.redundancy import MANY_FEATURES, Redundancy, find_redundancy
from ..geometry import augment
from ..losses import Loss

__all__ = ["MANY_FEATURES", "Derivatives", "Look", "examine", "slopes", "softmax_slopes"]

#: A pivot of the scaled Hessian below this asks for a closer look: are columns redundant, or nearly so?
SMALL_PIVOT = 1e-8
#: How far from the identity the Hessian may be in the coordinates found for it, before these are made better.
NEAR_IDENTITY = 0.1
#: How often they are.
ROUNDS = 6
#: Rows that are off by more than this share in these coordinates are computed with twice the digits.
BLURRED = 1e-8
#: Examples that are nearer than this to where the curvature jumps are taken for their tangents.
NEAR_A_JUMP = 1e-9


@dataclass(frozen=True)
class Derivatives:
    """What some scores say: h that the curvature is no less than, the slopes u, and how far each of these may be off.

    Of a softmax they have one column a class, of the rows zᵢₖ, and there are the probabilities and by what share each
    may be off. Where the curvature jumps, `room` is how far each score is from there.
    """

    h: FloatArray
    u: FloatArray
    off: FloatArray
    p: Any = None
    doubt: Any = None
    room: Any = None

    def part(self, part: slice) -> Derivatives:
        """Return those of some of the examples."""
        some: Any = (None if one is None else one[part] for one in vars(self).values())
        return Derivatives(*some)


#: The derivatives at the rows of a block: given which these are, and the block.
Slopes = Callable[[slice, Any], Derivatives]


@dataclass(frozen=True)
class Look:
    """What the derivatives at a point say of the optimum."""

    gap: float  # how far below the objective it can lie, every rounding accounted for; infinite if none is shown
    step: FloatArray | None  # Newton's, b's entry last, zero for redundant columns; a row a class but the last
    decrement: float  # λ² = gᵀH⁻¹g, up to rounding: about twice what the step gains
    redundancy: Redundancy  # of the columns; nobody looks where the Hessian tells that none is redundant
    sought: Redundancy | None = None  # the same where somebody looked, for further looks at these examples


@dataclass(frozen=True)
class _Sizes:
    """What the rows, in coordinates in which H is nearly the identity, add up to."""

    gram: FloatArray  # Σ hᵢ bᵢbᵢᵀ
    gram_error: float
    gradient: FloatArray  # Σ uᵢ bᵢ
    gradient_error: float
    longest: float  # max ‖bᵢ‖
    reach: float = math.inf  # as far as the curvature jumps nowhere

    @property
    def away(self) -> float:
        """How far from the identity the Hessian is in these coordinates."""
        d = len(self.gradient)
        return float(np.linalg.norm(self.gram - np.eye(d))) * (1.0 + gamma(d * d + 8))

    @property
    def near_identity(self) -> bool:
        """Whether it is so near that other coordinates would not prove much more."""
        return self.away + self.gram_error <= NEAR_IDENTITY

    def through(self, S: FloatArray) -> _Sizes:
        """Return what they add up to in coordinates S times these: the rows are Sᵀbᵢ."""
        length, error, norm = _spectral(S), gamma(2 * len(S) + 16), float(np.linalg.norm(self.gradient))
        return _Sizes(
            S.T @ self.gram @ S,
            length**2 * (self.gram_error + error * _spectral(self.gram)) * (1.0 + error),
            S.T @ self.gradient,
            length * (self.gradient_error + error * norm) * (1.0 + error),
            length * self.longest * (1.0 + error),
            self.reach / length * (1.0 - error),
        )


def examine(
    M: float,
    X: Any,
    at: Slopes,
    *,
    intercept: bool,
    counted: BoolArray | None = None,
    K: int | None = None,
    sought: Redundancy | None = None,
) -> Look:
    """Return what the derivatives at a point θ say of the optimum: P(θ) − P* is no more than the gap, if one is shown.

    M is the head's `self_concordance`, and K the number of classes of a softmax. X may be read block by block, of which
    `at` returns the derivatives; `counted` are the examples that have weight, all if it is not given. `sought` is what
    an earlier look at these examples found of columns that are combinations of others: they are not looked for again.

    Examples
    --------
    >>> from linsep.losses import Square
    >>> X, y = np.array([[0.0], [1.0], [3.0]]), np.array([-1.0, 1.0, 1.0])
    >>> found = slopes(Square(), y, np.ones(3), y * (X[:, 0] * 0.5 - 0.25), np.zeros(3))  # P = 1.1875, P* = 8/7
    >>> examine(0.0, X, lambda part, _: found.part(part), intercept=True).gap
    0.044642857142...
    """
    d = X.shape[1]
    if not math.isfinite(M) or (d if K is None else (K - 1) * (d + intercept)) > MANY_FEATURES:
        return Look(math.inf, None, math.inf, Redundancy(d, looked=False))
    rows = _PlaneRows(X, intercept, counted, at) if K is None else _SoftmaxRows(X, intercept, counted, at, K)
    rows.sought = sought
    with np.errstate(over="ignore", invalid="ignore"):
        return replace(_looked(M, rows), sought=rows.sought)


def slopes(loss: Loss, y: FloatArray, c: FloatArray, z: FloatArray, radius: FloatArray) -> Derivatives:
    """Return hᵢ that cᵢ ℓ''(zᵢ) is no less than, uᵢ = cᵢ ℓ'(zᵢ) yᵢ, and how far each of these may be off."""
    with np.errstate(over="ignore", invalid="ignore"):
        least = most = loss.curvature(z)
        M, room = loss.self_concordance, None
        if loss.jumps is not None:
            away = np.abs(z[:, None] - np.array(loss.jumps)).min(axis=1, initial=np.inf)
            M, room = 0.0, away - radius * (1.0 + 8 * U)
            known = room > NEAR_A_JUMP
            least, most = np.where(known, least, 0.0), np.where(known, most, loss.max_curvature)
        h = c * least * (1.0 - M * radius) * (1.0 - ULPS * U)
        slope = loss.slope(z)
        # By how much the slope can differ within the radius of z, where the curvature grows by e^(Mr) at the most.
        off = c * (most * np.exp(M * radius) * radius + ULPS * U * np.abs(slope))
        return Derivatives(np.maximum(h, 0.0), c * slope * y, off * (1.0 + ULPS * U), room=room)


def softmax_slopes(codes: IntArray, c: FloatArray, scores: FloatArray, radius: FloatArray) -> Derivatives:
    """Return what the scores say, with the errors that follow from theirs."""
    n, K = scores.shape
    with np.errstate(over="ignore", invalid="ignore"):
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        # Scores that are off by r make p off by a factor of e^(2r) at the most.
        doubt = np.expm1(2.0 * radius) * (1.0 + ULPS * U) + (ULPS + K) * U
        h = np.maximum(c[:, None] * p * (1.0 - doubt[:, None]), 0.0) * (1.0 - ULPS * U)
        u = np.zeros((n, K))
        u[np.arange(n), codes] = -c
        return Derivatives(h, u, ULPS * U * np.abs(u), p, doubt)


def _looked(M: float, rows: _PlaneRows) -> Look:
    """Return the bound from H ≥ Σ hᵢ zᵢzᵢᵀ and g = Σ uᵢ zᵢ, each uᵢ off by no more than is said with it."""
    if rows.size == 0:  # no column says anything: all planes have the same objective
        return Look(0.0, None, 0.0, rows.redundancy)
    R, sure = _whitening(rows)
    if not sure and rows.leave_out_redundant():
        R, _ = _whitening(rows)
    if R is None:
        return Look(math.inf, None, math.inf, rows.redundancy)
    found = _near_identity(rows, R)
    if found is None:
        return Look(math.inf, None, math.inf, rows.redundancy)
    sizes, R, S = found
    v = scipy.linalg.lstsq(sizes.gram, -sizes.gradient, check_finite=False)[0]
    return Look(_bound(M, sizes), rows.full(R @ (S @ v)), float(-sizes.gradient @ v), rows.redundancy)


def _near_identity(rows: _PlaneRows, R: FloatArray) -> tuple[_Sizes, FloatArray, FloatArray] | None:
    """Return what the rows add up to in coordinates RS in which H is as near the identity as can be, and R and S.

    R is made better round by round. Where its own rounding is all that is left, RS would be rounded as much, so that it
    stays a product. None where numbers are not finite, or none but zero.
    """
    for left in reversed(range(ROUNDS)):
        sizes = _measure(rows, R)
        if not np.isfinite(sizes.gram).all():
            return None
        if sizes.near_identity:
            return sizes, R, np.eye(len(R))
        S, _ = _inverse_factor(sizes.gram)
        if S is None:
            return None
        better = sizes.through(S)
        if better.near_identity or not left:
            return better, R, S
        R = R @ S
    return None


#: Rows, how far each may be off, their h, u, how far each of these may be off, and how far each is from a jump.
Piece = tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray | None]


class _PlaneRows:
    """The rows [x, 1] and their derivatives, block by block and dense.

    They are of the columns that say anything, each scaled by a power of two.
    """

    def __init__(self, X: Any, intercept: bool, counted: BoolArray | None, at: Slopes) -> None:
        self.X, self.intercept, self.counted, self.at, self.n = X, intercept, counted, at, X.shape[0]
        self.redundancy = Redundancy(X.shape[1])
        self.sought: Redundancy | None = None
        ends = X.min(axis=0), X.max(axis=0)
        first, low, high = (
            np.asarray(end.toarray() if is_sparse(end) else end, dtype=np.float64).reshape(-1)
            for end in (X[[0]], *ends)
        )
        # A column of zeros, or beside an intercept one of equal numbers, adds nothing that the others cannot do.
        same = first if intercept else np.zeros_like(first)
        self.largest = np.maximum(np.abs(low), np.abs(high))
        self._use((low != same) | (high != same))
        if not self.used.all():
            constant = {int(j): {X.shape[1]: Fraction(first[j])} if same[j] else {} for j in np.flatnonzero(~self.used)}
            self.redundancy = Redundancy(X.shape[1], constant)

    def _use(self, used: BoolArray) -> None:
        self.used = used
        # exact, and no column drowns another's errors; for denormal numbers the largest power of two there is
        self.scale = np.ldexp(1.0, np.minimum(-np.frexp(self.largest[used])[1], 1023))
        self.length = int(used.sum()) + self.intercept

    def leave_out_redundant(self) -> bool:
        """Look for columns that are combinations of others, and do without them; return whether there are any."""
        if self.sought is None:
            self.sought = find_redundancy(self.X, intercept=self.intercept, counted=self.counted)
        self.redundancy = self.sought
        used = np.ones(self.X.shape[1], dtype=bool)
        used[list(self.redundancy.combinations)] = False
        before = int(self.used.sum())
        self._use(used & self.used)
        return int(self.used.sum()) < before

    def full(self, theta: FloatArray) -> FloatArray:
        """Return coefficients of these rows as those of all columns, the intercept's last."""
        out = np.zeros(self.X.shape[1] + self.intercept)
        out[: len(self.used)][self.used] = theta[: len(self.scale)] * self.scale
        if self.intercept:
            out[-1] = theta[-1]
        return out

    @property
    def size(self) -> int:
        """How many coefficients there are."""
        return self.length

    @cached_property
    def terms(self) -> int:
        """How many numbers a sum over the examples adds one to the other: those of a block, and the blocks."""
        heights = [part.stop - part.start for part, _ in blocks(self.X, dense=True)]
        return max(heights, default=0) + len(heights) + 16

    def parts(self) -> Iterator[tuple[FloatArray, Derivatives]]:
        """Yield rows and what is known of them."""
        for part, block in blocks(self.X, dense=True):
            dense = np.asarray(block.toarray() if is_sparse(block) else block)[:, self.used] * self.scale
            yield augment(dense) if self.intercept else dense, self.at(part, block)

    def __iter__(self) -> Iterator[Piece]:
        for dense, found in self.parts():
            yield dense, np.zeros(len(dense)), found.h, found.u, found.off, found.room


class _SoftmaxRows(_PlaneRows):
    """The rows zᵢₖ = (eₖ − pᵢ) ⊗ x̃ᵢ without the last class, those of an example one after the other."""

    def __init__(self, X: Any, intercept: bool, counted: BoolArray | None, at: Slopes, K: int) -> None:
        super().__init__(X, intercept, counted, at)
        self.K, self.n = K, self.n * K

    @property
    def size(self) -> int:
        return (self.K - 1) * self.length

    @property
    def some(self) -> int:
        """How many examples are looked at in one go."""
        return max(1, 2**20 // max(1, self.K * self.size))

    @property
    def terms(self) -> int:
        return int(self.some * self.K + self.n // self.K // self.some + super().terms + 16)

    def full(self, theta: FloatArray) -> FloatArray:
        of_one = super().full
        return np.array([of_one(one) for one in theta.reshape(-1, self.length)])

    def __iter__(self) -> Iterator[Piece]:
        K, some = self.K, self.some
        for dense, found in self.parts():
            for first in range(0, len(dense), some):
                x, here = dense[first : first + some], found.part(slice(first, first + some))
                e_less_p = np.eye(K)[None, :, : K - 1] - here.p[:, None, : K - 1]
                z = (e_less_p[:, :, :, None] * x[:, None, None, :]).reshape(len(x) * K, self.size)
                doubt = (here.doubt + 4 * K * U) * np.linalg.norm(x, axis=1) * (1.0 + gamma(self.length + 8))
                yield z, np.repeat(doubt, K), here.h.ravel(), here.u.ravel(), here.off.ravel(), None


def _whitening(rows: _PlaneRows) -> tuple[FloatArray | None, bool]:
    """Return R with RᵀHR near the identity, and whether it is likely to be; None where a column says nothing.

    How near it is gets measured afterwards.
    """
    hessian = np.zeros((rows.size, rows.size))
    for block, _, h, *_ in rows:
        hessian += (block * h[:, None]).T @ block
    diagonal = np.diag(hessian)
    if rows.size == 0 or not np.isfinite(hessian).all():
        return None, True
    if not (diagonal > 0).all():
        return None, False
    scale = 1.0 / np.sqrt(diagonal)
    inverse, smallest = _inverse_factor(hessian * scale[:, None] * scale)
    return None if inverse is None else np.asarray(inverse * scale[:, None]), smallest > SMALL_PIVOT


def _inverse_factor(matrix: FloatArray) -> tuple[FloatArray | None, float]:
    """Return R with RᵀAR near the identity for a matrix A that is all but positive definite, and its smallest pivot.

    Where it is not, because rounding made it so, as little is added to its diagonal as makes it so again: what R then
    leaves to be done is less by as many digits as a float has, and is done in another round (Fukaya and others,
    *Shifted Cholesky QR*, 2020). None where the matrix has numbers that are not finite, or none but zero.
    """
    d, shift = len(matrix), 0.0
    while True:
        try:
            factor = scipy.linalg.cholesky(matrix + shift * np.eye(d), check_finite=False)
            break
        except scipy.linalg.LinAlgError:
            shift = max(100.0 * shift, 8.0 * d * U * float(np.trace(matrix)) / d)
            if not 0.0 < shift < math.inf:
                return None, 0.0
    inverse = scipy.linalg.solve_triangular(factor, np.eye(d), check_finite=False)
    return np.asarray(inverse), 0.0 if shift else float(np.diag(factor).min()) ** 2


def _measure(rows: _PlaneRows, R: FloatArray) -> _Sizes:
    """Return the gradient and the Hessian in the coordinates in which θ = R times them: rows are bᵢ = Rᵀzᵢ."""
    size, length = len(R), float(np.linalg.norm(R))
    gram, gradient = np.zeros((size, size)), np.zeros(size)
    longest, gram_error, gradient_error, reach = 0.0, 0.0, 0.0, math.inf
    error, sums = gamma(size + 8), gamma(rows.terms)
    for block, doubt, h, u, off, room in rows:
        b, slip = _rows_in(R, length, block)
        norm = np.linalg.norm(b, axis=1) * (1.0 + error)
        slip = (slip + doubt * length) * (1.0 + 2 * error)  # ‖bᵢ as computed − bᵢ‖
        gram += (b * h[:, None]).T @ b
        gradient += u @ b
        longest = max(longest, float((norm + slip).max()))
        if room is not None and (bent := h > 0).any():
            with np.errstate(divide="ignore"):
                reach = min(reach, float((room[bent] / (norm + slip)[bent]).min()))
        gram_error += float(h @ (sums * norm**2 + 2.0 * norm * slip + slip**2))
        gradient_error += float(off @ (norm + slip) + np.abs(u) @ (slip + sums * norm))
    wider = 1.0 + gamma(rows.n + 8)
    return _Sizes(gram, gram_error * wider, gradient, gradient_error * wider, longest, reach * (1.0 - 8 * U))


def _rows_in(R: FloatArray, length: float, block: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return bᵢ = Rᵀzᵢ, and how far each may be off in length; where a product is blurred, with twice the digits."""
    size = len(R)
    b = block @ R
    slip = gamma(size + 8) * np.linalg.norm(block, axis=1) * length
    norm = np.linalg.norm(b, axis=1)
    if not float(slip.max(initial=0.0)) > BLURRED * float(norm.max(initial=0.0)):
        return b, slip
    high, low, error = split_product(block, R)
    b = high + low
    return b, (np.linalg.norm(error, axis=1) + 2 * U * np.linalg.norm(b, axis=1)) * (1.0 + gamma(size + 8))


def _spectral(A: FloatArray) -> float:
    """Return a bound on ‖A‖₂ that holds for the absolute values of its entries as well: √(‖A‖₁ ‖A‖_∞)."""
    sizes = np.abs(A)
    return math.sqrt(float(sizes.sum(axis=0).max()) * float(sizes.sum(axis=1).max())) * (1.0 + gamma(2 * len(A) + 8))


def _bound(M: float, sizes: _Sizes) -> float:
    """λ² (1 + s)/2, from ‖g‖ and a lower bound μ on the eigenvalues of H in the coordinates of `sizes`."""
    d = len(sizes.gradient)
    mu = 1.0 - sizes.away - sizes.gram_error - 8 * U
    if not mu > 0:
        return math.inf
    norm = (float(np.linalg.norm(sizes.gradient)) * (1.0 + gamma(d + 8)) + sizes.gradient_error) * (1.0 + 8 * U)
    if not sizes.reach * mu * (1.0 - 8 * U) >= 2.0 * norm:
        return math.inf
    decrement = norm / math.sqrt(mu) * (1.0 + 8 * U)
    s = M * sizes.longest / math.sqrt(mu) * decrement * (1.0 + 8 * U)
    if not s < 1:
        return math.inf
    return decrement**2 * (1.0 + s) / 2.0 * (1.0 + 8 * U)
