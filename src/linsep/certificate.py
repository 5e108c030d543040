"""Proofs that a fit is near the optimum: a feasible point of the dual problem bounds the objective from below.

For every α with 0-slopes allowed by the loss and, where the intercept is free, Σ αᵢ yᵢ = 0,

    D(α) = −penalty*(Σ αᵢ yᵢ xᵢ) − Σ cᵢ ℓ*(−αᵢ/cᵢ)  ≤  min P  ≤  P(w, b),        cᵢ = C sᵢ.

Any primal point gives such an α: αᵢ = −cᵢ ℓ'(zᵢ), with the heavier class scaled down until the sums agree. The gap
P − D is therefore known at every iterate, whatever found it.

A fitted model carries a `Certificate`: what it claims of its plane, and enough to check that from the data alone.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import losses
from ._core import Rows, conjugate_sum, length
from .curvature import gap_below
from .enclosure import ULPS, Interval, U, agreements, combination, dual_value, feasible, fits, gamma, primal_value
from .losses import Loss
from .penalties import Penalty
from .problem import Point, Problem

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

__all__ = [
    "Bound",
    "Certificate",
    "Certificates",
    "Claim",
    "DualPoint",
    "Statement",
    "Verification",
    "balanced",
    "balancing_shift",
    "bound",
    "certify",
    "dual_bound",
    "scaled_dual",
]


@dataclass(frozen=True)
class Bound:
    """min P lies between `dual` and `primal`."""

    primal: float
    dual: float

    @property
    def gap(self) -> float:
        """How far the primal value can be from the optimum."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the primal value."""
        return self.gap / max(abs(self.primal), np.finfo(float).tiny)


def bound(point: Point) -> Bound:
    """Return the bound that a point's own dual gives.

    Examples
    --------
    >>> from linsep._core import Rows
    >>> from linsep.losses import Logistic
    >>> from linsep.problem import Problem
    >>> problem = Problem(Rows(np.array([[1.0], [-1.0]])), np.array([1.0, -1.0]), Logistic(), C=1.0)
    >>> bound(problem.evaluate(np.array([0.6]), 0.0, split=True)).relative_gap < 0.01
    True
    """
    problem, v, positive, negative = point.problem, *scaled_dual(point)
    C = problem.weight_of_loss
    conjugates = conjugate_sum(problem.y, problem.sample_weight, problem.loss, point.sums.u, positive, negative)
    return Bound(point.objective, -problem.penalty.conjugate(v) - C * conjugates)


def scaled_dual(point: Point) -> tuple[FloatArray, float, float]:
    """Return −Σ αᵢ yᵢ xᵢ of the feasible α that a point gives, and the scales of the two classes that made it so."""
    problem, sums = point.problem, point.sums
    if problem.fit_intercept and not point.split:
        raise ValueError("a bound with a free intercept needs the sums by class: evaluate(w, b, split=True)")
    positive, negative = (
        class_scales(-sums.positive_total, sums.negative_total) if problem.fit_intercept else (1.0, 1.0)
    )
    C = problem.weight_of_loss
    v = C * positive * sums.positive
    if point.split:
        v += C * negative * sums.negative
    shrink = 1.0
    if problem.penalty.l2 == 0:  # only a box of v has a finite conjugate: scale α until v fits
        longest = float(np.abs(v).max(initial=0.0))
        shrink = min(1.0, problem.penalty.l1 / longest) if longest > 0 else 1.0
    return shrink * v, shrink * positive, shrink * negative


def balanced(problem: Problem, alpha: FloatArray) -> FloatArray:
    """Return α with the heavier class scaled down until Σ αᵢ yᵢ = 0, where the intercept is free; never α itself."""
    y = problem.y
    if not problem.fit_intercept:
        return alpha.copy()
    return alpha * np.where(y > 0, *class_scales(float(alpha[y > 0].sum()), float(alpha[y < 0].sum())))


def dual_bound(problem: Problem, alpha: FloatArray) -> float:
    """Return D(α) of a balanced α."""
    y = problem.y
    u = -alpha * y / problem.weight_of_loss
    conjugates = conjugate_sum(y, problem.sample_weight, problem.loss, u, 1.0, 1.0)
    v = problem.rows.rmatvec(alpha * y)
    return -problem.penalty.conjugate(v) - problem.weight_of_loss * conjugates


def class_scales(positive: float, negative: float) -> tuple[float, float]:
    """Return factors, at most one, that make the two classes' sums of α equal; zero where they cannot."""
    if not (positive > 0 and negative > 0):
        return 0.0, 0.0
    return (negative / positive, 1.0) if positive > negative else (1.0, positive / negative)


# -- what a model claims ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Statement:
    """What was minimised: the loss, the penalty, and how they and the examples are weighed."""

    loss: Loss
    penalty: Penalty
    C: float
    fit_intercept: bool
    class_weight: Mapping[Any, float] | str | None = None

    def problem(self, rows: Rows, y: FloatArray, sample_weight: FloatArray | None) -> Problem:
        """Return the problem on these examples."""
        return Problem(rows, y, self.loss, self.penalty, self.C, sample_weight, self.fit_intercept)

    def class_weights(
        self, codes: IntArray, classes: Sequence[Any], sample_weight: FloatArray | None = None
    ) -> FloatArray:
        """Return the weight of each class: "balanced" gives Σ s / (k Σₖ s), as scikit-learn 1.9 counts them.

        So a weight of 2 is the same as two rows here too; a class without weight gets none.
        """
        if isinstance(self.class_weight, str):
            counts = np.bincount(codes, weights=sample_weight, minlength=len(classes)).astype(np.float64)
            shares = np.divide(counts.sum(), len(classes) * counts, out=np.zeros(len(classes)), where=counts > 0)
            return np.asarray(shares, dtype=np.float64)
        given = {} if self.class_weight is None else self.class_weight
        return np.array([float(given.get(label, 1.0)) for label in classes])

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON; only losses that have a name in `linsep.losses` can be written down."""
        if losses.LOSSES.get(self.loss.name) is not type(self.loss):
            raise ValueError(f"{self.loss!r} is no loss of linsep.losses, so a file cannot say what it is")
        weights = self.class_weight
        return {
            "loss": self.loss.name,
            "l2": self.penalty.l2,
            "l1": self.penalty.l1,
            "C": None if np.isinf(self.C) else self.C,
            "fit_intercept": self.fit_intercept,
            "class_weight": [[plain(k), float(v)] for k, v in weights.items()]
            if isinstance(weights, Mapping)
            else weights,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        weights, C = data["class_weight"], data["C"]
        return cls(
            losses.get(str(data["loss"])),
            Penalty(float(data["l2"]), float(data["l1"])),
            np.inf if C is None else float(C),
            bool(data["fit_intercept"]),
            {label: float(weight) for label, weight in weights} if isinstance(weights, list) else weights,
        )

    def same_as(self, other: Statement) -> bool:
        """Whether both say the same; a named penalty is its two numbers."""
        return self.terms() == other.terms()

    def terms(self) -> tuple[Any, ...]:
        """Return what it says, in terms that can be compared."""
        # Without a penalty its form is of no consequence.
        penalty = (0.0, 0.0) if np.isinf(self.C) else (self.penalty.l2, self.penalty.l1)
        weights = self.class_weight
        return (
            self.loss,
            penalty,
            self.C,
            self.fit_intercept,
            dict(weights) if isinstance(weights, Mapping) else weights,
        )


def plain(label: Any) -> Any:
    """Return a label as JSON knows it."""
    value = label.item() if isinstance(label, np.generic) else label
    if not isinstance(value, str | int | float | bool):
        raise ValueError(f"the label {label!r} is neither text nor a number, so a file cannot hold it")
    return value


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
class DualPoint:
    """αᵢ = −cᵢ ℓ'(zᵢ) times the scale of its class, except at `rows`, where it is one of `values`.

    z are the agreements with the plane, its intercept moved by `shift`. For a smooth loss near the optimum there are no
    exceptions: α follows from the plane. For the hinge they are the points on the margin; the others are at 0 or at C
    by their side of it.
    """

    positive: float = 1.0
    negative: float = 1.0
    rows: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    values: FloatArray = field(default_factory=lambda: np.empty(0))
    shift: float = 0.0

    def expand(self, problem: Problem, z: FloatArray) -> FloatArray:
        """Return α, balanced but for rounding."""
        alpha = self._by_slope(problem, z)
        if len(self.rows) and not (self.rows.min() >= 0 and self.rows.max() < len(alpha)):
            raise _ClaimError("the dual point names a row that the data do not have")
        alpha[self.rows] = self.values
        return balanced(problem, alpha)

    def _by_slope(self, problem: Problem, z: FloatArray) -> FloatArray:
        z = z + self.shift * problem.y
        return -weights(problem) * problem.loss.slope(z) * np.where(problem.y > 0, self.positive, self.negative)

    @classmethod
    def of(cls, problem: Problem, alpha: FloatArray, w: FloatArray, b: float) -> Self:
        """Return the dual point with no more exceptions than α needs."""
        c, z = weights(problem), problem.agreements(w, b)
        positive, negative = _largest_shares(problem, alpha, c)
        # Where rounding could put z on the other side of a kink, the slope there is not to be relied on.
        reach = gamma(problem.rows.d + 8) * (np.sqrt(problem.rows.squared_norms()) * length(w) + abs(b))
        sure = problem.loss.slope(z - reach) == problem.loss.slope(z + reach)
        expected = cls(positive, negative)._by_slope(problem, z)
        rows = np.flatnonzero(~sure | (np.abs(alpha - expected) > 4 * U * c))
        return cls(positive, negative, rows, alpha[rows])

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        scalars = {"positive": self.positive, "negative": self.negative, "shift": self.shift}
        return {**scalars, "rows": self.rows.tolist(), "values": self.values.tolist()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        rows, values = np.asarray(data["rows"], dtype=np.int64), np.asarray(data["values"], dtype=np.float64)
        if rows.shape != values.shape:
            raise ValueError(f"a dual point needs as many values as rows, not {len(values)} for {len(rows)}")
        return cls(float(data["positive"]), float(data["negative"]), rows, values, float(data["shift"]))


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
        return cls(
            Statement.from_dict(data["statement"]),
            tuple(data["classes"]),
            int(data["positive"]),
            float(data["primal"]),
            float(data["dual"]),
            float(data["rounding"]),
            float(data["tol"]),
            str(data["plane"]),
            Fingerprint(**data["data"]),
            DualPoint.from_dict(data["dual_point"]),
        )


def weights(problem: Problem) -> FloatArray:
    """cᵢ = C sᵢ."""
    s = np.ones(problem.rows.n) if problem.sample_weight is None else problem.sample_weight
    return problem.weight_of_loss * s


def digest(w: FloatArray, b: float) -> str:
    """Return a short text that changes with any bit of the plane."""
    numbers = np.append(np.asarray(w, dtype="<f8"), b).astype("<f8")
    return hashlib.sha256(numbers.tobytes()).hexdigest()[:32]


def rounding(problem: Problem, w: FloatArray, b: float, found: Bound) -> float:
    """Return what rounding may have added to P − D, from the sizes of things: no pass over the data.

    With A ≥ Σ αᵢ ‖xᵢ‖ and a ≥ Σ αᵢ, each sum of the fit is off by at most γ_(n+d) times its terms' sizes:
    P + A (‖w‖ + ‖v‖) + a (1 + |b|), where v = Σ αᵢ yᵢ xᵢ.
    """
    loss, C, W = problem.loss, problem.weight_of_loss, problem.total_weight
    squares = problem.mean(problem.rows.squared_norms()) * W
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
    if l2 == 0 and problem.penalty.l1 > 0:
        # α was scaled until v fitted into its box, by a rounded factor; D's slope along α is Σ αᵢ zᵢ = D − Σ cᵢ ℓ(zᵢ).
        sizes += 4.0 * A / problem.penalty.l1 * (abs(found.primal) + abs(found.dual))
    return float(gamma(problem.rows.n + problem.rows.d + 40) * sizes + ULPS * U * C * W)


def certify(
    problem: Problem, result: Any, statement: Statement, classes: ArrayLike, positive: int, tol: float
) -> Claim:
    """Return what a solver's result may claim: its own proof, or the one that its plane gives.

    Parameters
    ----------
    problem : Problem
    result : Result
        With `w` and `b`, and `proof` and `alpha` where the solver knows them.
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
    if penalised(problem):
        found, dual_point = _strongest(problem, w, b, result.proof, result.alpha, tol)
        if found.dual < 0 <= dual_bound(problem, np.zeros(problem.rows.n)):
            found, dual_point = Bound(found.primal, 0.0), DualPoint(0.0, 0.0)
        error = rounding(problem, w, b, found)
        if found.primal == 0:  # no share of nothing is small: look closely
            error = enclosed_bound(problem, w, b, dual_point)[0].high
    else:
        (found, error), dual_point = _unpenalised(problem, w, b, result.proof), DualPoint()
    labels = tuple(np.asarray(classes).tolist())
    fingerprint = Fingerprint.of(problem)
    primal, dual = float(found.primal), float(min(found.dual, found.primal))  # it is the smaller, but for rounding
    return Claim(statement, labels, positive, primal, dual, float(error), tol, digest(w, b), fingerprint, dual_point)


#: Without a penalty the proof takes n d² steps; a fit makes it up to this many, and leaves the rest to `verify`.
QUICK = 2 * 10**7


def _unpenalised(problem: Problem, w: FloatArray, b: float, proof: Bound | None) -> tuple[Bound, float]:
    """Return a bound without a penalty, and how far its arithmetic may be off."""
    if proof is not None and proof.dual > 0:
        return proof, rounding(problem, w, b, proof)
    rows = problem.rows
    found = Bound(problem.objective(w, b), 0.0)
    quick = rows.n * (rows.d + 1) ** 2 <= QUICK and np.isfinite(problem.loss.self_concordance)
    if not quick and found.primal > 0:
        return found, rounding(problem, w, b, found)
    primal, dual = enclosed_bound(problem, w, b, DualPoint())
    # Twice the distance that is proven: another machine's rounding must not make the claim false.
    low = primal.low - 2.0 * (primal.high - dual.low) if dual.low > 0 else dual.low
    return Bound(primal.high, low), primal.width


def _strongest(
    problem: Problem, w: FloatArray, b: float, proof: Bound | None, alpha: FloatArray | None, tol: float
) -> tuple[Bound, DualPoint]:
    """Return a bound and its dual point: the plane's own where that is good enough, because it needs no room."""
    if proof is None or (alpha is not None and problem.loss.smooth):
        own, dual_point = _own(problem, w, b, tol)
        if proof is None or own.relative_gap <= max(tol, proof.relative_gap):
            return own, dual_point
    if alpha is None:
        return proof, DualPoint()
    if not problem.loss.smooth:
        proof, alpha = _settled(problem, proof, alpha, tol)
    return proof, DualPoint.of(problem, alpha, w, b)


def _settled(problem: Problem, proof: Bound, alpha: FloatArray, tol: float) -> tuple[Bound, FloatArray]:
    """Put dual variables that are all but at 0 or at c there, where the proof stays as good: they need no room then."""
    c, near = weights(problem), 1e-3 * tol
    top = c * np.where(problem.y > 0, *_largest_shares(problem, alpha, c))
    settled = np.where(alpha < near * c, 0.0, np.where(alpha > top - near * c, top, alpha))
    if np.array_equal(settled, alpha):
        return proof, alpha
    settled = balanced(problem, settled)
    found = Bound(proof.primal, dual_bound(problem, settled))
    good_enough = found.relative_gap <= max(tol, proof.relative_gap)
    return (found, settled) if good_enough else (proof, alpha)


def _largest_shares(problem: Problem, alpha: FloatArray, c: FloatArray) -> tuple[float, float]:
    """Return the largest αᵢ/cᵢ of each class: one, unless the class was scaled down."""
    shares = np.divide(alpha, c, out=np.zeros_like(alpha), where=c > 0)
    positive, negative = (float(shares[side].max(initial=0.0)) for side in (problem.y > 0, problem.y < 0))
    return positive, negative


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


# -- the certificate --------------------------------------------------------------------------------------------------


class _ClaimError(Exception):
    """A check that a certificate does not pass; the message says which."""


@dataclass(frozen=True)
class Verification:
    """The outcome of checking a certificate against data; true if every claim holds.

    Attributes
    ----------
    ok : bool
        Whether the certificate is about these data and this plane, and all it claims is so.
    reason : str
        Why, in a sentence.
    primal, dual : Interval or None
        Between what the objective and the bound truly lie, as far as the check got.
    proven : bool
        Whether the plane is within `tol` of the optimum, by these data and with rounding accounted for.
    checked, trusted : tuple of str
        What was computed anew, and what was taken on trust.
    """

    ok: bool
    reason: str
    primal: Interval | None = None
    dual: Interval | None = None
    proven: bool = False
    checked: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()

    @property
    def relative_gap(self) -> float:
        """The largest share of the objective that the optimum can lie below it; infinite where nothing is known."""
        if self.primal is None or self.dual is None:
            return np.inf
        return share(self.primal.high - self.dual.low, self.primal.low)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        head = "Verified" if self.ok else "NOT verified"
        lines = [f"{head}: {self.reason}."]
        lines += [f"{title}: {'; '.join(what)}." for title, what in self._lists() if what]
        return "\n".join(lines)

    def _lists(self) -> list[tuple[str, tuple[str, ...]]]:
        return [("Checked", self.checked), ("Taken on trust", self.trusted)]


def share(gap: float, objective: float) -> float:
    """Return the gap as a share of the objective: 0 where both are."""
    return max(float(gap), 0.0) / max(abs(float(objective)), float(np.finfo(float).tiny))


@dataclass(frozen=True, eq=False)
class Certificate:
    """What is proven of a fitted plane, and how to check it without trusting the fit.

    Attributes
    ----------
    claim : Claim
        What the fit left behind.
    coef, intercept : array, float
        The plane as it is now: one that was changed since the fit does not verify.
    statement : Statement
        What the model says now that it minimises.
    classes : tuple or None
        The labels that the model gives now; None where it has none of its own.

    Examples
    --------
    >>> from linsep import LinearClassifier
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> model = LinearClassifier("logistic", C=10.0).fit(X, y)
    >>> certificate = model.certificate_
    >>> certificate.proven, bool(certificate.verify(X, y))
    (True, True)
    >>> model.coef_ *= 1.01
    >>> print(model.certificate_.verify(X, y).reason)
    the plane is not the one that was certified: coef or intercept was changed
    """

    claim: Claim
    coef: FloatArray
    intercept: float
    statement: Statement
    classes: tuple[Any, ...] | None = None

    @property
    def primal(self) -> float:
        """P(w, b), the objective at the fitted plane."""
        return self.claim.primal

    @property
    def dual(self) -> float:
        """What no plane's objective lies below."""
        return self.claim.dual

    @property
    def tol(self) -> float:
        """The relative gap that was asked for."""
        return self.claim.tol

    @property
    def rounding(self) -> float:
        """What the fit's own arithmetic may have added to the gap."""
        return self.claim.rounding

    @property
    def gap(self) -> float:
        """How far above the optimum the objective can be."""
        return max(self.primal - self.dual, 0.0)

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the objective."""
        return share(self.gap, self.primal)

    @property
    def proven(self) -> bool:
        """Whether the relative gap is at most `tol`, with rounding allowed for."""
        if self.gap == self.rounding == 0.0:
            return True
        return share(self.gap + self.rounding, max(abs(self.primal) - self.rounding, 0.0)) <= self.tol

    def verify(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Verification:
        """Check every claim from the data alone, with each rounding error bounded.

        Parameters
        ----------
        X, y, sample_weight
            What the model was fitted on.

        Returns
        -------
        Verification
            True where all is as claimed; otherwise its `reason` says what is not.
        """
        return _Check(self).run(X, y, sample_weight)

    def to_dict(self, *, plane: bool = True) -> dict[str, Any]:
        """Return the certificate in terms of JSON; without the plane where a model file already holds that."""
        data = self.claim.to_dict()
        if plane:
            data |= {"coef": np.asarray(self.coef).tolist(), "intercept": float(self.intercept)}
        return data

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], coef: ArrayLike | None = None, intercept: float | None = None
    ) -> Certificate:
        """Read what `to_dict` wrote; give the plane if it is kept elsewhere."""
        claim = Claim.from_dict(data)
        w = np.asarray(data["coef"] if coef is None else coef, dtype=np.float64)
        return cls(claim, w, float(data["intercept"] if intercept is None else intercept), claim.statement)

    def __str__(self) -> str:
        return f"{_within(self.primal, self.dual, self.relative_gap)}{_verdict(self.proven, self.tol)}."

    __repr__ = __str__


def _within(primal: float, dual: float, relative_gap: float) -> str:
    found = f"The objective is {primal:.10g}; no plane reaches less than {dual:.10g}"
    return f"{found}: within {relative_gap:.1e} of the optimum"


def _verdict(proven: bool, tol: float) -> str:
    return f", proven to tol={tol:g}" if proven else f", which does not prove tol={tol:g}"


class Certificates(Sequence[Certificate]):
    """One certificate for each class against the rest.

    `primal`, `dual` and `gap` are sums, `relative_gap` is the worst, and all must be `proven` for it to be.

    Examples
    --------
    >>> from linsep import LinearClassifier
    >>> X, y = [[0.0], [1.0], [3.0], [4.0], [6.0], [7.0]], ["a", "a", "b", "b", "c", "c"]
    >>> certificates = LinearClassifier("logistic").fit(X, y).certificate_
    >>> len(certificates), certificates.proven, bool(certificates.verify(X, y))
    (3, True, True)
    """

    def __init__(self, certificates: Sequence[Certificate]) -> None:
        self._all = tuple(certificates)

    @overload
    def __getitem__(self, index: int) -> Certificate: ...

    @overload
    def __getitem__(self, index: slice) -> Certificates: ...

    def __getitem__(self, index: int | slice) -> Certificate | Certificates:
        return Certificates(self._all[index]) if isinstance(index, slice) else self._all[index]

    def __len__(self) -> int:
        return len(self._all)

    @property
    def primal(self) -> float:
        """The sum of the objectives."""
        return sum(one.primal for one in self)

    @property
    def dual(self) -> float:
        """The sum of the bounds: no planes have a smaller sum of objectives."""
        return sum(one.dual for one in self)

    @property
    def gap(self) -> float:
        """The sum of the gaps."""
        return sum(one.gap for one in self)

    @property
    def relative_gap(self) -> float:
        """The largest of the relative gaps."""
        return max(one.relative_gap for one in self)

    @property
    def tol(self) -> float:
        """The relative gap that was asked for."""
        return self._all[0].tol

    @property
    def proven(self) -> bool:
        """Whether every one is."""
        return all(one.proven for one in self)

    def verify(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Verification:
        """Check them all; the first that fails is the one reported, else the one with the largest gap."""
        outcomes = [one.verify(X, y, sample_weight) for one in self]
        for one, outcome in zip(self, outcomes, strict=True):
            if not outcome:
                label = one.claim.classes[one.claim.positive]
                return dataclasses.replace(outcome, reason=f"class {label!r} against the rest: {outcome.reason}")
        worst = max(outcomes, key=lambda outcome: outcome.relative_gap)
        return dataclasses.replace(worst, reason=f"in the worst of {len(self)} classes, {worst.reason}")

    def to_dict(self, *, plane: bool = True) -> dict[str, Any]:
        """Return them in terms of JSON."""
        return {"certificates": [one.to_dict(plane=plane) for one in self]}

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], coef: ArrayLike | None = None, intercept: ArrayLike | None = None
    ) -> Certificates:
        """Read what `to_dict` wrote; give the planes, one a row, if they are kept elsewhere."""
        parts = data["certificates"]
        w = [None] * len(parts) if coef is None else np.asarray(coef)
        b = [None] * len(parts) if intercept is None else np.asarray(intercept)
        return cls([Certificate.from_dict(*each) for each in zip(parts, w, b, strict=True)])

    def __str__(self) -> str:
        head = f"Of {len(self)} classes against the rest: {_within(self.primal, self.dual, self.relative_gap)}"
        return f"{head} in the worst{_verdict(self.proven, self.tol)}."

    __repr__ = __str__


class _Check:
    """One verification: a certificate's claims against data."""

    def __init__(self, certificate: Certificate) -> None:
        self.certificate, self.claim = certificate, certificate.claim
        self.checked: list[str] = []
        self.primal: Interval | None = None
        self.dual: Interval | None = None

    def run(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Verification:
        """Return the outcome."""
        X, labels, s = _read(X, y, sample_weight)
        try:
            self._plane(X.shape[1])
            problem = self._problem(X, labels, s)
            self._values(problem)
            reason = self._claims(problem)
        except _ClaimError as failure:
            return self._outcome(False, str(failure))
        return self._outcome(True, reason)

    def _outcome(self, ok: bool, reason: str) -> Verification:
        trusted = ["IEEE arithmetic", f"exp and log to within {ULPS // 2} units in the last place"]
        if losses.LOSSES.get(self.claim.statement.loss.name) is not type(self.claim.statement.loss):
            trusted.append(f"the formulas of {self.claim.statement.loss!r}, its conjugate among them")
        found = Verification(ok, reason, self.primal, self.dual, False, tuple(self.checked), tuple(trusted))
        return dataclasses.replace(found, proven=ok and found.relative_gap <= self.claim.tol)

    def _plane(self, d: int) -> None:
        """The plane and the objective are those that were certified."""
        w, claim = np.asarray(self.certificate.coef), self.claim
        if w.shape != (d,):
            raise _ClaimError(f"the plane has {w.size} weights, the data have {d} columns")
        if digest(w, self.certificate.intercept) != claim.plane:
            raise _ClaimError("the plane is not the one that was certified: coef or intercept was changed")
        if not self.certificate.statement.same_as(claim.statement):
            raise _ClaimError("the model's parameters are not those that were certified: fit it again")
        if self.certificate.classes not in (None, claim.classes):
            raise _ClaimError(f"the model's classes are not those that were certified, {list(claim.classes)}")
        self.checked.append("the plane and the parameters are those that were certified")

    def _problem(self, X: Any, labels: NDArray[Any], s: FloatArray | None) -> Problem:
        """Encode labels and weigh examples anew; the data are those of the fit."""
        claim, statement = self.claim, self.claim.statement
        codes = _codes(labels, claim.classes)
        if statement.class_weight is not None:
            by_class = statement.class_weights(codes, claim.classes, s)[codes]
            s = by_class if s is None else s * by_class
        y = np.where(codes == claim.positive, 1.0, -1.0)
        problem = statement.problem(Rows(X), y, s)
        difference = claim.data.differs(Fingerprint.of(problem))
        if difference:
            raise _ClaimError(difference)
        self.checked.append(f"the {problem.rows.n} examples are those of the fit, as far as their lengths tell")
        return problem

    def _values(self, problem: Problem) -> None:
        """Enclose P(w, b) and D(α)."""
        w, b = np.asarray(self.certificate.coef, dtype=np.float64), float(self.certificate.intercept)
        if b != 0 and not problem.fit_intercept:
            raise _ClaimError(f"the plane has the intercept {b:g}, the objective has none")
        self.primal, self.dual = enclosed_bound(problem, w, b, self.claim.dual_point)
        self.checked.append("the objective at the plane, from every example")
        exact = ", with Σ αᵢyᵢ = 0 in whole numbers" if problem.fit_intercept else ""
        how = f"a dual point that is exactly feasible{exact}" if penalised(problem) else "the curvature at the plane"
        self.checked.append(f"the lower bound, from {how if self.dual.low else 'losses being at least 0'}")

    def _claims(self, problem: Problem) -> str:
        """The numbers claimed are those found; return the verdict in words."""
        assert self.primal is not None
        assert self.dual is not None
        claim = self.claim
        w, b = np.asarray(self.certificate.coef, dtype=np.float64), float(self.certificate.intercept)
        slack = 2 * rounding(problem, w, b, Bound(self.primal.high, self.dual.low))
        if not np.isfinite(slack):  # a loss of the user's own, which does not say how steep or bent it is
            slack = 1e-9 * abs(self.primal.high)
        # Without a penalty the data may prove more than the fit took the time for.
        least = self.dual.low if penalised(problem) else -np.inf
        for name, claimed, low, high in (
            ("objective", claim.primal, self.primal.low, self.primal.high),
            ("lower bound", claim.dual, least, self.dual.high),
        ):
            if not low - slack <= claimed <= high + slack:
                raise _ClaimError(f"the {name} claimed is {claimed:.12g}, the data give {high:.12g}")
        relative_gap = share(self.primal.high - self.dual.low, self.primal.low)
        if self.certificate.proven and not relative_gap <= claim.tol:
            raise _ClaimError(f"tol={claim.tol:g} is claimed, the data prove {relative_gap:.1e}")
        verdict = (
            "as was asked for" if relative_gap <= claim.tol else f"not tol={claim.tol:g}, and it does not claim to be"
        )
        return f"the plane is within {relative_gap:.1e} of the optimum, {verdict}"


def feasible_dual(problem: Problem, alpha: FloatArray) -> tuple[FloatArray, Interval]:
    """Return an exactly feasible point near α, and an enclosure of its D."""
    loss, penalty, c, X, y = problem.loss, problem.penalty, weights(problem), problem.rows.X, problem.y
    for k in range(8):
        alpha = feasible(loss, alpha, y, c, balance=problem.fit_intercept)
        v, radius = combination(X, alpha * y)
        if penalty.l2 > 0 or fits(penalty, v, radius):
            break
        # Only a box of v has a finite conjugate: scale α until v fits, also after it was cut to whole multiples again.
        alpha = alpha * (penalty.l1 / float((np.abs(v) + radius).max()) * (1.0 - 64 * 4.0**k * U))
    return alpha, dual_value(loss, penalty, c, alpha, v, radius)


def enclosed_bound(problem: Problem, w: FloatArray, b: float, dual_point: DualPoint) -> tuple[Interval, Interval]:
    """Enclose P(w, b), and D(α) or, without a penalty, the best bound that can be shown."""
    c, X, y = weights(problem), problem.rows.X, problem.y
    z, radius = agreements(X, y, w, b)
    primal = primal_value(problem.loss, problem.penalty, c, w, z, radius)
    if not penalised(problem):
        # Σ αᵢ yᵢ xᵢ would have to be exactly zero, which only α = 0 is sure to give.
        _, zero = feasible_dual(problem, np.zeros(len(y)))
        low = primal.low - gap_below(problem.loss, X, y, c, z, radius, intercept=problem.fit_intercept)
        return primal, zero if zero.low >= low else Interval(low, low)
    return primal, feasible_dual(problem, dual_point.expand(problem, z))[1]


def penalised(problem: Problem) -> bool:
    """Whether there is a penalty at all."""
    return problem.penalty.l2 > 0 or problem.penalty.l1 > 0


def _read(X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> tuple[Any, NDArray[Any], FloatArray | None]:
    """Return the data as a fit reads them."""
    from sklearn.utils import check_array, column_or_1d  # here, because a certificate is no reason to load all of it

    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
    labels = column_or_1d(np.asarray(y), dtype=None)
    if len(labels) != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows and y {len(labels)} labels: give each row its label")
    if sample_weight is None:
        return X, labels, None
    s = np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), labels.shape)
    if not (np.isfinite(s).all() and (s >= 0).all() and s.any()):
        raise ValueError("sample_weight must be finite, zero or more, and not all zero")
    return X, labels, np.ascontiguousarray(s)


def _codes(labels: NDArray[Any], classes: Sequence[Any]) -> IntArray:
    """Return the position of every label among the classes."""
    places = {label: k for k, label in enumerate(classes)}
    different, inverse = np.unique(labels, return_inverse=True)
    found = np.array([places.get(label, -1) for label in different.tolist()], dtype=np.int64)
    if (found < 0).any():
        raise _ClaimError(f"y has the label {different[found < 0][0]!s}, which the fit did not know")
    return np.asarray(found[inverse.reshape(-1)])
