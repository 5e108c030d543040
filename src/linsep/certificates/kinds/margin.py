"""Margins: the proof that a plane of maximum margin is one, by the plane below and two points of the hulls above."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..._common import reading
from ..._common.types import FloatArray, IntArray
from ...arithmetic.exact import Check, Clock, margin_bounds, plane_margin
from ...separation._input import counted_rows, matrix_of
from ..case import EXACT, ROUNDED, Case, exactly
from ..gap.certificate import Certificates, shown
from ..outcome import ClaimError, Verification, within
from ..proof import Alone, PlaneByPlane
from ..training_data import TrainingData

PROOF = "the proof, on every example it speaks of"
#: By what share of themselves bounds may be further apart than they have to.
APART = 1e-9


def formula(fit_intercept: bool) -> str:
    """Return what a plane of maximum margin minimises, in one line."""
    return "½‖w‖² subject to y(w·x + b) ≥ 1" if fit_intercept else "½‖w‖² subject to y w·x ≥ 1"


def _differs(found: tuple[float, float], low: float, high: float) -> str:
    """Return in what bounds that were claimed are not those that data prove, or nothing.

    They may be a little further apart: files of before have rounding taken off.
    """
    least, most = found
    if not (low == least or (1 - APART) * least <= low <= least):
        return f"the plane keeps a margin of {least!r}, not of {low!r}"
    if not (high == most or most <= high <= (1 + APART) * most < np.inf):
        return f"the dual point allows a margin of {most!r}, not of {high!r}"
    return ""


@dataclass(frozen=True, eq=False)
class MarginCertificate(Alone):
    """The largest margin lies between `low` and `high`: the plane keeps the one, two points of the hulls deny more.

    Attributes
    ----------
    coef, intercept : the plane
    points, weights : arrays
        Rows and weights α ≥ 0 of the dual point: D(α) = Σ αᵢ − ½‖Σ αᵢ yᵢ xᵢ‖² with Σ αᵢ yᵢ = 0.
    low, high : float
        Bounds on the margin 1/‖w‖.
    tol : float
        The relative gap that was asked for.
    classes : tuple
        The negative and the positive label.
    fit_intercept : bool
    """

    coef: FloatArray
    intercept: float
    points: IntArray
    weights: FloatArray
    low: float
    high: float
    tol: float
    classes: tuple[Any, Any]
    fit_intercept: bool = True
    exact = True

    @property
    def primal(self) -> float:
        """½‖w‖² of the plane, scaled until min z = 1."""
        return 0.5 / self.low / self.low if self.low > 0 else np.inf

    @property
    def dual(self) -> float:
        """The lower bound on ½‖w‖² of any plane with z ≥ 1."""
        return 0.5 / self.high / self.high if self.high > 0 else np.inf

    @property
    def gap(self) -> float:
        """How far the plane can be from the optimum."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the primal value."""
        if not (self.low > 0 and self.high > 0):
            return np.inf
        ratio = self.low / self.high
        return 1.0 - ratio * ratio

    @property
    def proven(self) -> bool:
        """Whether the relative gap is at most `tol`."""
        if not (0 < self.low <= self.high < np.inf):
            return False
        ratio = Fraction(self.low) / Fraction(self.high)  # a gap as small as tol can be is one of rounding
        return bool(self.tol > 0) and (self.tol >= 1 or 1 - ratio**2 <= Fraction(self.tol))

    def __str__(self) -> str:
        kept = f"The margin is {self.low:.10g}; no plane has one above {self.high:.10g}"
        return f"{kept}: {within(self.relative_gap, self.proven, self.tol)}"

    def _repr_html_(self) -> str:
        return shown(self)

    def verify(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, time_limit: float | None = None
    ) -> Check:
        """Check both bounds on the data, in exact arithmetic and without the solver; rows of no weight are left out."""
        labels = np.asarray(y)
        if not np.isin(labels, np.array(self.classes)).all():
            return Check(False, f"y has labels other than {self.classes[0]!r} and {self.classes[1]!r}")
        signs = np.where(labels == self.classes[1], 1.0, -1.0)
        if np.shape(X)[1] != len(self.coef):
            return Check(False, f"the plane has {len(self.coef)} coefficients, the data {np.shape(X)[1]} columns")
        try:
            found = self.bounds(X, signs, sample_weight, time_limit=time_limit)
        except (ValueError, OverflowError) as error:
            return Check(False, str(error))
        if difference := _differs(found, self.low, self.high):
            return Check(False, difference)
        return Check(True, f"the largest margin lies between {found[0]!r} and {found[1]!r}")

    def check(self, examples: TrainingData, time_limit: float | None = None) -> Verification:
        """Check it alone, on data that were read already."""
        check = self.verify(examples.X, examples.labels, examples.sample_weight, time_limit=time_limit)
        return exactly(check, PROOF)

    def bounds(
        self, X: Any, y: FloatArray, sample_weight: ArrayLike | None = None, *, time_limit: float | None = None
    ) -> tuple[float, float]:
        """Return what the plane and the points prove on data with labels ±1; raise where they cannot be used."""
        points, intercept = self.points, self.intercept if self.fit_intercept else None
        if sample_weight is not None:
            matrix, counted = matrix_of(X), counted_rows(sample_weight, len(y))
            if not np.isin(points, counted).all():
                raise ValueError("the proof names a row that the data do not have, or that has no weight")
            X, y, points = matrix[counted], y[counted], np.searchsorted(counted, points)
        return margin_bounds(X, y, self.coef, intercept, points, self.weights, time_limit=time_limit)

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate in terms of JSON; infinite bounds are None."""
        return {
            "coef": np.asarray(self.coef).tolist(),
            "intercept": float(self.intercept),
            "points": np.asarray(self.points).tolist(),
            "weights": np.asarray(self.weights).tolist(),
            "low": float(self.low) if np.isfinite(self.low) else None,
            "high": float(self.high) if np.isfinite(self.high) else None,
            "tol": float(self.tol),
            "classes": list(self.classes),
            "fit_intercept": bool(self.fit_intercept),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        negative, positive = reading.items(data, "classes", reading.label)
        low, high = (reading.optional(data, name, reading.number) for name in ("low", "high"))
        return cls(
            np.array(reading.items(data, "coef", reading.number), dtype=np.float64),
            reading.number(data, "intercept"),
            np.array(reading.items(data, "points", reading.whole), dtype=np.int64),
            np.array(reading.items(data, "weights", reading.number), dtype=np.float64),
            -np.inf if low is None else low,
            np.inf if high is None else high,
            reading.number(data, "tol"),
            (negative, positive),
            reading.flag(data, "fit_intercept"),
        )


class MarginCertificates(Certificates):
    """The margins of each class against the rest.

    Examples
    --------
    >>> from linsep import HardMarginSVC
    >>> X, y = [[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]], ["a", "b", "c"]
    >>> certificates = HardMarginSVC().fit(X, y).certificate_
    >>> len(certificates), certificates.proven, bool(certificates.verify(X, y)), bool(certificates.verify(X, y[::-1]))
    (3, True, True, False)
    """

    exact = True

    def __init__(self, certificates: Sequence[Any], labels: Sequence[Any]) -> None:
        super().__init__(certificates)
        self.labels = tuple(labels)

    def check(self, examples: TrainingData, time_limit: float | None = None) -> Verification:
        """Check them all on examples that were read already: the plane of each label on y == label."""
        labels = np.asarray(examples.labels)
        if not np.isin(labels, np.array(self.labels)).all():
            return Verification(False, f"y has labels other than {', '.join(map(repr, self.labels))}")
        each: Any = zip(self.labels, self, strict=True)
        outcomes = []
        for label, one in each:
            check = one.verify(examples.X, labels == label, examples.sample_weight, time_limit=time_limit)
            outcome = exactly(check, PROOF)
            outcomes.append(replace(outcome, reason=f"class {label} against the rest: {outcome.reason}"))
        return next((outcome for outcome in outcomes if not outcome), outcomes[-1])


class Margin(PlaneByPlane):
    """The margin of every plane, each class against the rest."""

    kind = "margin"
    record = MarginCertificate
    confirms = ("objective_", "dual_gap_", "converged_", "margin_")
    exact = of_a_cut = True

    def certificate(self, model: Any) -> Any:
        """Return the proof with the plane as it is now; of more than two classes, one for each."""
        classes = tuple(model.classes_.tolist()) if len(model.classes_) == 2 else (False, True)
        now: Any = dict(classes=classes, tol=model.tol, fit_intercept=model.fit_intercept)
        planes = zip(self.each, model._planes(), np.ravel(model.intercept_), strict=True)
        proofs = [replace(proof, coef=w, intercept=float(b), **now) for proof, w, b in planes]
        return proofs[0] if len(proofs) == 1 else MarginCertificates(proofs, model.classes_.tolist())

    def check_plane(self, case: Case, k: int) -> Verification:
        """Check that a plane separates with the margin claimed, and that no plane has a larger one."""
        proof: MarginCertificate = self.each[k]
        _same_plane(case, k, proof)
        problem = case.problem(k)
        X, y = problem.rows.X, problem.y
        try:
            low, high = proof.bounds(X, y, case.weights, time_limit=case.time_limit)
        except (ValueError, OverflowError) as error:
            raise ClaimError(f"the proof of the margin cannot be used: {error}") from error
        proven = _gap(low, high) <= case.model.tol
        confirmed = *self._confirmed(case, k, low, high), *case.check_converged(proven)
        reason = (
            f"the largest margin of any {case.kind} lies between {low!r} and {high!r}, and this one keeps the smaller"
        )
        if case.threshold:
            kept, _ = plane_margin(X[case.counted], y[case.counted], case.plane(k), clock=Clock(case.time_limit))
            reason, proven = _when_cut(case, kept, high)
        checked = (
            "the margin that the plane keeps, in exact arithmetic",
            "the distance of two points of the classes' hulls, in exact arithmetic, which no margin exceeds",
        )
        trusted = "IEEE arithmetic", EXACT, ROUNDED
        lists: Any = dict(checked=checked, trusted=trusted, covered=(*case.covered, "objective_", *confirmed))
        return Verification(True, reason, proven=proven, **lists)

    def _confirmed(self, case: Case, k: int, low: float, high: float) -> list[str]:
        """Return which attributes are confirmed; raise for those that are not so."""
        margin, gap = case.number("margin_", k), case.number("dual_gap_", 0)
        if margin != self.each[k].low:
            raise ClaimError(f"margin_ is {margin:.12g}, the proof says {self.each[k].low:.12g}")
        if difference := _differs((low, high), self.each[k].low, self.each[k].high):
            raise ClaimError(difference)
        worst = max(proof.relative_gap for proof in self.each)
        if not (gap == worst or np.isnan([gap, worst]).all()):
            raise ClaimError(f"dual_gap_ is {gap:.3g}, the proof says {worst:.3g}")
        return ["margin_", "dual_gap_"]


def _same_plane(case: Case, k: int, proof: MarginCertificate) -> None:
    """Raise unless what a proof says of plane, classes and `tol` is what the model says."""
    if not (np.array_equal(proof.coef, case.coef[k]) and proof.intercept == case.intercept[k]):
        raise ClaimError("the plane is not the one that was certified")
    if tuple(proof.classes) != (case.classes if len(case.positive) == 1 else (False, True)):
        raise ClaimError("the proof of the margin is about another class than the one this plane predicts")
    if proof.fit_intercept != case.statement.fit_intercept:
        raise ClaimError("the proof of the margin is about other planes: with an intercept, or without")
    if proof.tol != case.model.tol:
        raise ClaimError(f"the proof is of tol={proof.tol:g}, the model's tol is {case.model.tol:g}")
    case.check_objective(lambda _: formula(case.statement.fit_intercept))


def _gap(low: float, high: float) -> float:
    """Return how far ½‖w‖² of the plane can be from the optimum, as a share of it."""
    return 1.0 - (low / high) ** 2 if low > 0 and 0 < high < np.inf else np.inf


def _when_cut(case: Case, low: float, high: float) -> tuple[str, bool]:
    """Return what is so of the plane (w, b − t), and whether its margin is the largest within `tol`."""
    cut = f"cut at {case.threshold:g}, not at 0,"
    if low <= 0:
        return f"{cut} the plane does not separate the classes, and no {case.kind} has a margin above {high!r}", False
    reason = f"{cut} the plane keeps a margin of {low!r}, and no {case.kind} has one above {high!r}"
    # Cut elsewhere, a plane through the origin is none any more.
    return reason, bool(case.statement.fit_intercept and _gap(low, high) <= case.model.tol)
