"""What a fit claims of its plane, and leaves behind so that it can be proven again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _reading as reading
from .._core import length
from ..arithmetic.enclosure import SLIGHT, SMALLEST, ULPS, Interval, U, gamma
from ..objective.dual_point import DualPoint, enclosed_bound, largest_shares
from ..objective.duality import Bound, balanced, bound, dual_bound, penalised, share, weights
from ..objective.parted import PartedProblem
from ..objective.problem import Problem
from ..objective.scaling import middle_of_range, ordinary, ordinary_in_parts
from ..objective.statement import Statement, plain

FloatArray = NDArray[np.float64]

__all__ = [
    "Claim",
    "Fingerprint",
    "Seal",
    "as_enclosed",
    "balancing_shift",
    "certify",
    "digest",
    "hidden",
    "looked_at_closely",
    "rounding",
    "widened",
]


@dataclass(frozen=True)
class Fingerprint:
    """What a fit remembers of its data: sizes, the squared lengths of each class's rows, the sum of the weights.

    All are sums of terms of one sign, so that they come out the same up to rounding wherever they are computed.
    """

    n: int
    d: int
    positive: float
    negative: float
    weight: float

    @classmethod
    def of(cls, problem: Problem) -> Self:
        """Return the fingerprint of the problem's data."""
        norms = problem.rows.squared_norms()
        everything, difference = float(norms.sum()), float(np.einsum("i,i->", norms, problem.y))
        halves = (everything + difference) / 2, (everything - difference) / 2
        return cls(problem.rows.n, problem.rows.d, *halves, problem.total_weight)

    @classmethod
    def of_parts(cls, problem: PartedProblem) -> Self:
        """Return the same of a problem in parts."""
        squares = problem.rows.squares
        positive = float(squares[problem.positive])
        return cls(problem.rows.n, problem.rows.d, positive, float(squares.sum()) - positive, problem.total_weight)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read it from terms of JSON."""
        sums = (reading.number(data, name) for name in ("positive", "negative", "weight"))
        return cls(reading.whole(data, "n"), reading.whole(data, "d"), *sums)

    def differs(self, other: Fingerprint) -> str:
        """Return in what the other's data differ, or nothing."""
        if (self.n, self.d) != (other.n, other.d):
            return f"the data have {other.n} rows of {other.d} columns, the fit had {self.n} of {self.d}"
        error = 4 * gamma(self.n + self.d + 8)
        slack = error * (self.positive + self.negative)
        if abs(self.positive - other.positive) > slack or abs(self.negative - other.negative) > slack:
            return "the rows of X (or their labels) are not those of the fit"
        if abs(self.weight - other.weight) > error * self.weight:
            return "the weights of the examples are not those of the fit"
        return ""


@dataclass(frozen=True)
class Seal:
    """Which plane a fit left behind, of which data, and what it minimised: for proofs that are no duality gap."""

    statement: Statement
    classes: tuple[Any, ...]
    positive: int  # the class that is +1; all others are −1
    plane: str  # a digest of (w, b)
    data: Fingerprint

    @classmethod
    def of(
        cls, problem: Problem, w: FloatArray, b: float, statement: Statement, classes: ArrayLike, positive: int
    ) -> Self:
        """Return the seal of a fitted plane."""
        labels = tuple(np.asarray(classes).tolist())
        return cls(statement, labels, positive, digest(w, float(b)), Fingerprint.of(problem))

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        return {
            "statement": self.statement.to_dict(),
            "classes": [plain(label) for label in self.classes],
            "positive": self.positive,
            "plane": self.plane,
            "data": vars(self.data).copy(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        return cls(
            Statement.from_dict(reading.section(data, "statement")),
            tuple(reading.items(data, "classes", reading.label)),
            reading.whole(data, "positive"),
            reading.text(data, "plane"),
            Fingerprint.from_dict(reading.section(data, "data")),
        )


@dataclass(frozen=True)
class Claim:
    """What a fit leaves behind: what it minimised, the bound it proved, and what one needs to prove it again.

    `rounding` bounds what the arithmetic of the fit may have added to the gap: an estimate from the sizes of things,
    made without another look at the data. `Certificate.verify` does the sums again and bounds each one's error.
    """

    statement: Statement
    classes: tuple[Any, ...]
    positive: int  # the class that is +1; all others are −1
    primal: float
    dual: float
    rounding: float
    tol: float
    plane: str  # a digest of (w, b)
    data: Fingerprint
    dual_point: DualPoint = field(default_factory=DualPoint)

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        return {
            "statement": self.statement.to_dict(),
            "classes": [plain(label) for label in self.classes],
            "positive": self.positive,
            "primal": self.primal,
            "dual": self.dual,
            "rounding": self.rounding,
            "tol": self.tol,
            "plane": self.plane,
            "data": vars(self.data).copy(),
            "dual_point": self.dual_point.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        primal, dual, rounding, tol = (reading.number(data, name) for name in ("primal", "dual", "rounding", "tol"))
        return cls(
            Statement.from_dict(reading.section(data, "statement")),
            tuple(reading.items(data, "classes", reading.label)),
            reading.whole(data, "positive"),
            primal,
            dual,
            rounding,
            tol,
            reading.text(data, "plane"),
            Fingerprint.from_dict(reading.section(data, "data")),
            DualPoint.from_dict(reading.section(data, "dual_point")),
        )


def digest(w: FloatArray, b: float) -> str:
    """Return a short text that changes with any bit of the plane."""
    sha = hashlib.sha256(np.ascontiguousarray(w, dtype="<f8").ravel().data)
    sha.update(np.array([b], dtype="<f8").data)
    return sha.hexdigest()[:32]


def rounding(problem: Problem | PartedProblem, w: FloatArray, b: float, found: Bound) -> float:
    """Return what rounding may have added to P − D, from the sizes of things: no pass over the data.

    Sizes that are out of the ordinary are brought into the middle of the range of floats first, for which the data are
    looked at; where that cannot be done, nothing is known.
    """
    if problem.examples.resident is None:
        usual = ordinary_in_parts(problem, problem.class_weight, w, b)
        return _rounding(problem, w, b, found) if usual else np.inf
    if ordinary(problem, w, b):
        return _rounding(problem, w, b, found)
    scaled = middle_of_range(problem, w)
    if not scaled.exact:
        return np.inf
    ends = Interval(found.dual, found.primal).shifted(scaled.m)
    with np.errstate(over="ignore", invalid="ignore"):
        off = _rounding(scaled.problem, scaled.W, b, Bound(ends.high, ends.low))
    return np.inf if np.isnan(off) else Interval(0.0, off).shifted(-scaled.m).high + SMALLEST


def _rounding(problem: Problem | PartedProblem, w: FloatArray, b: float, found: Bound) -> float:
    """Return the same where no product leaves the range of floats.

    With A ≥ Σ αᵢ ‖xᵢ‖ and a ≥ Σ αᵢ, each sum of the fit is off by at most γ_(n+d) times its terms' sizes:
    P + A (‖w‖ + ‖v‖) + a (1 + |b|), where v = Σ αᵢ yᵢ xᵢ. The penalty's conjugate is quadratic in v, so that the square
    of v's own error comes on top: of huge columns that is all there is. Another reader's agreements are others in the
    last digits, so that α is another and v moves by up to `moved`.
    """
    loss, C, W = problem.loss, problem.weight_of_loss, problem.total_weight
    squares = problem.weighted_squares
    # |ℓ'| ≤ the steepest slope, and ℓ'² ≤ 2Lℓ where ℓ ≥ 0 has curvature at most L; then Cauchy and Schwarz.
    most = float(np.abs(loss.slopes).max()) * C * np.sqrt(W)
    if np.isfinite(loss.max_curvature):
        most = min(most, np.sqrt(2.0 * loss.max_curvature * C * max(found.primal, 0.0)))
    A, a = float(most * np.sqrt(squares)), float(most * np.sqrt(W))
    length_w = length(w)
    # P − D ≥ l2/2 ‖w − v/l2‖²: v cannot be far from w.
    l2 = problem.penalty.l2
    length_v = l2 * length_w + np.sqrt(2.0 * l2 * max(found.gap, 0.0))
    sizes = abs(found.primal) + 4.0 * A * (length_w + length_v / (l2 or 1.0)) + 4.0 * a * (1.0 + abs(b))
    if l2 == 0 and problem.penalty.l1 > 0:  # α was scaled until v fitted into its box, by a rounded factor
        sizes += 4.0 * A / problem.penalty.l1 * (A * length_w + a * (1.0 + abs(b)))
    off = gamma(problem.rows.n + problem.rows.d + 40)
    moved = _moved(problem, length_w, b)
    if l2 > 0:
        reach = float(4.0 * off * A) + moved  # its square may be too large for a float: then nothing is known
        again = reach * reach / (2.0 * l2) + moved * np.sqrt(2.0 * max(found.gap, 0.0) / l2)
    else:
        again = moved / (problem.penalty.l1 or np.inf) * (A * length_w + a * (1.0 + abs(b)))
    return float(off * sizes + again + ULPS * U * C * W)


def _moved(problem: Problem | PartedProblem, length_w: float, b: float) -> float:
    """Return Σ |δαᵢ| ‖xᵢ‖ of α = −cℓ'(z), where rounding moves z; α that is stored does not move."""
    loss, squares = problem.loss, problem.weighted_squares
    if not np.isfinite(loss.max_curvature):
        return 0.0
    sizes = length_w * squares + abs(b) * np.sqrt(problem.total_weight * squares)
    return float(2.0 * gamma(problem.rows.d + 8) * loss.max_curvature * problem.weight_of_loss * sizes)


def certify(
    problem: Problem, result: Any, statement: Statement, classes: ArrayLike, positive: int, tol: float
) -> Claim:
    """Return what a solver's result may claim: its own proof, or the one that its plane gives.

    Parameters
    ----------
    problem : Problem
    result : Result
        With `w` and `b`, and `proof`, `alpha` and `z` where the solver knows them.
    statement : Statement
        What was minimised, in the user's terms.
    classes : array
        All labels.
    positive : int
        Which of them is +1.
    tol : float
        The relative gap that was asked for.
    """
    w, b = np.ascontiguousarray(result.w, dtype=np.float64), float(result.b)
    if not ordinary(problem, w, b):
        found, error, dual_point = _out_of_the_ordinary(problem, w, b, result)
    elif penalised(problem):
        found, dual_point = _strongest(problem, w, b, result, tol)
        if found.dual < 0 <= dual_bound(problem, np.zeros(problem.rows.n)):
            found, dual_point = Bound(found.primal, 0.0), DualPoint(0.0, 0.0)
        error = rounding(problem, w, b, found)
        if abs(found.primal) < SLIGHT:  # no share of nothing is small: look closely
            found, error = as_enclosed(*enclosed_bound(problem, w, b, dual_point))
        elif hidden(found, error, tol):
            found, error = looked_at_closely(found, error, *enclosed_bound(problem, w, b, dual_point))
    else:
        (found, error), dual_point = _unpenalised(problem, w, b, result), DualPoint()
    labels = tuple(np.asarray(classes).tolist())
    fingerprint = Fingerprint.of(problem)
    primal, dual = float(found.primal), float(min(found.dual, found.primal))  # it is the smaller, but for rounding
    return Claim(statement, labels, positive, primal, dual, float(error), tol, digest(w, b), fingerprint, dual_point)


def _out_of_the_ordinary(problem: Problem, w: FloatArray, b: float, result: Any) -> tuple[Bound, float, DualPoint]:
    """Return the bound, what rounding may have added, and the dual point, where a solver's own sums are not to be used.

    The dual points that suggest themselves are found in the middle of the range of floats, and the best one is kept.
    """
    scaled = middle_of_range(problem, w)
    points = [DualPoint(0.0, 0.0)]
    with np.errstate(all="ignore"):  # these are guesses: what they prove is looked at below
        if penalised(problem):
            points += [DualPoint(), DualPoint(shift=_finite(balancing_shift(scaled.problem, scaled.W, b)))]
            if result.alpha is not None:
                alpha = np.ldexp(np.asarray(result.alpha, dtype=np.float64), scaled.m)
                points += [DualPoint.of(scaled.problem, alpha, scaled.W, b).times(-scaled.m)]
    outcomes = [(*enclosed_bound(problem, w, b, point), point) for point in points]
    primal, dual, dual_point = max(outcomes, key=lambda outcome: outcome[1].low)
    return *as_enclosed(primal, dual), dual_point


def _finite(value: float) -> float:
    return value if np.isfinite(value) else 0.0


def as_enclosed(primal: Interval, dual: Interval) -> tuple[Bound, float]:
    """Return what is proven as a bound, and what another machine's rounding may add: as much again.

    A file holds finite numbers only: what is not is the largest of them, and proves nothing.
    """
    error = primal.width + max(primal.width, dual.width)
    numbers = (primal.high, dual.low, LARGEST if np.isnan(error) else error)
    high, low, error = (min(max(value, -LARGEST), LARGEST) for value in numbers)
    return Bound(high, low), error


#: Rounding that is estimated at no more than this share of `tol` is not looked at.
FAINT = 0.1
#: The largest float.
LARGEST = float(np.finfo(float).max)


def _unpenalised(problem: Problem, w: FloatArray, b: float, result: Any) -> tuple[Bound, float]:
    """Return a bound without a penalty, and how far its arithmetic may be off."""
    proof, enclosed = result.proof, getattr(result, "enclosed", None)
    # A quadratic's own solver knows how far it can fall; others have only dual points that are feasible up to rounding.
    if enclosed is None and problem.loss.quadratic and proof is not None and proof.dual > 0:
        return proof, rounding(problem, w, b, proof)
    primal, dual = enclosed or enclosed_bound(problem, w, b, DualPoint())
    return Bound(primal.high, widened(primal, dual)), primal.width


def hidden(found: Bound, error: float, tol: float) -> bool:
    """Whether what is proven depends on how large rounding truly is: an estimate that counts has to be looked at."""
    if share(max(found.gap, 0.0) + error, max(abs(found.primal) - error, 0.0)) <= tol:
        return error > FAINT * tol * abs(found.primal)
    return found.relative_gap <= tol or error > 0.5 * tol * abs(found.primal)


def looked_at_closely(found: Bound, error: float, primal: Interval, dual: Interval) -> tuple[Bound, float]:
    """Return the bound, or a better one that was found, and what rounding did add to P − D at the most.

    That is doubled, up to what was estimated: on another machine it may be other roundings.
    """
    better = Bound(found.primal, max(found.dual, dual.low))
    off = max(primal.high - better.primal, better.primal - primal.low, 0.0)
    added = off + max(min(better.dual, better.primal) - dual.low, 0.0)
    return better, max(added, min(error, 2.0 * added))


def widened(primal: Interval, dual: Interval) -> float:
    """Return a bound twice as far as what is proven: another machine's rounding must not make the claim false."""
    return primal.low - 2.0 * (primal.high - dual.low) if dual.low > 0 else dual.low


def _strongest(problem: Problem, w: FloatArray, b: float, result: Any, tol: float) -> tuple[Bound, DualPoint]:
    """Return a bound and its dual point: the plane's own where that is good enough, because it needs no room."""
    proof, alpha = result.proof, result.alpha
    if proof is None or (alpha is not None and problem.loss.smooth):
        own, dual_point = _own(problem, w, b, tol)
        if proof is None or own.relative_gap <= max(tol, proof.relative_gap):
            return own, dual_point
    if alpha is None:
        return proof, DualPoint()
    if not problem.loss.smooth:
        proof, alpha = _settled(problem, proof, alpha, tol)
    return proof, DualPoint.of(problem, alpha, w, b, getattr(result, "z", None))


def _settled(problem: Problem, proof: Bound, alpha: FloatArray, tol: float) -> tuple[Bound, FloatArray]:
    """Put dual variables that are all but at 0 or at c there, where the proof stays as good: they need no room then."""
    c, near = weights(problem), 1e-3 * tol
    top = c * np.where(problem.y > 0, *largest_shares(problem, alpha, c))
    settled = np.where(alpha < near * c, 0.0, np.where(alpha > top - near * c, top, alpha))
    if np.array_equal(settled, alpha):
        return proof, alpha
    settled = balanced(problem, settled)
    found = Bound(proof.primal, dual_bound(problem, settled))
    good_enough = found.relative_gap <= max(tol, proof.relative_gap)
    return (found, settled) if good_enough else (proof, alpha)


def _own(problem: Problem, w: FloatArray, b: float, tol: float) -> tuple[Bound, DualPoint]:
    """Return the bound that the plane itself gives, or that of the plane shifted so that the classes balance."""
    point = problem.evaluate(w, b, split=problem.fit_intercept)
    found, dual_point = bound(point), DualPoint()
    if problem.fit_intercept and problem.loss.smooth and found.relative_gap > tol:
        shift = balancing_shift(problem, w, b)
        moved = bound(problem.evaluate(w, b + shift, split=True)).dual
        if moved > found.dual:
            found, dual_point = Bound(found.primal, moved), DualPoint(shift=shift)
    return found, dual_point


def balancing_shift(problem: Problem, w: FloatArray, b: float) -> float:
    """Return δ near which (w, b + δ) has Σ cᵢ ℓ'(zᵢ) yᵢ = 0: the best intercept for w, by a few Newton steps."""
    z, y, c, shift = problem.agreements(w, b), problem.y, weights(problem), 0.0
    for _ in range(5):
        moved = z + shift * y
        bend = float((c * problem.loss.curvature(moved)).sum())
        if not bend > 0:
            break
        shift -= float((c * y * problem.loss.slope(moved)).sum()) / bend
    return shift
