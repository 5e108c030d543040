"""What is proven of a fitted plane: how near the optimum it is, and how to check that from the data alone.

`linsep.duality` has the bounds, `linsep.claim` what a fit leaves behind, `linsep.checking` the outcome of a check.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import losses
from .blocked import rows_of
from .checking import ClaimError, Verification, codes_of, read_data, verdict_in_words, within
from .claim import Claim, Fingerprint, certify, digest, rounding
from .dual_point import DualPoint, enclosed_bound, feasible_dual
from .duality import Bound, balanced, bound, dual_bound, penalised, share, weights
from .enclosure import ULPS, Interval
from .problem import Problem
from .statement import Statement

FloatArray = NDArray[np.float64]

__all__ = [
    "Bound",
    "Certificate",
    "Certificates",
    "Claim",
    "DualPoint",
    "Statement",
    "Verification",
    "balanced",
    "bound",
    "certify",
    "dual_bound",
    "enclosed_bound",
    "feasible_dual",
    "weights",
]


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
        return f"{within(self.primal, self.dual, self.relative_gap)}{verdict_in_words(self.proven, self.tol)}."

    __repr__ = __str__


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
        head = f"Of {len(self)} classes against the rest: {within(self.primal, self.dual, self.relative_gap)}"
        return f"{head} in the worst{verdict_in_words(self.proven, self.tol)}."

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
        X, labels, s = read_data(X, y, sample_weight)
        try:
            self._plane(X.shape[1])
            problem = self._problem(X, labels, s)
            self._values(problem)
            reason = self._claims(problem)
        except ClaimError as failure:
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
            raise ClaimError(f"the plane has {w.size} weights, the data have {d} columns")
        if digest(w, self.certificate.intercept) != claim.plane:
            raise ClaimError("the plane is not the one that was certified: coef or intercept was changed")
        if not self.certificate.statement.same_as(claim.statement):
            raise ClaimError("the model's parameters are not those that were certified: fit it again")
        if self.certificate.classes not in (None, claim.classes):
            raise ClaimError(f"the model's classes are not those that were certified, {list(claim.classes)}")
        self.checked.append("the plane and the parameters are those that were certified")

    def _problem(self, X: Any, labels: NDArray[Any], s: FloatArray | None) -> Problem:
        """Encode labels and weigh examples anew; the data are those of the fit."""
        claim, statement = self.claim, self.claim.statement
        codes = codes_of(labels, claim.classes)
        if statement.class_weight is not None:
            by_class = statement.class_weights(codes, claim.classes, s)[codes]
            s = by_class if s is None else s * by_class
        y = np.where(codes == claim.positive, 1.0, -1.0)
        problem = statement.problem(rows_of(X), y, s)
        difference = claim.data.differs(Fingerprint.of(problem))
        if difference:
            raise ClaimError(difference)
        self.checked.append(f"the {problem.rows.n} examples are those of the fit, as far as their lengths tell")
        return problem

    def _values(self, problem: Problem) -> None:
        """Enclose P(w, b) and D(α)."""
        w, b = np.asarray(self.certificate.coef, dtype=np.float64), float(self.certificate.intercept)
        if b != 0 and not problem.fit_intercept:
            raise ClaimError(f"the plane has the intercept {b:g}, the objective has none")
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
                raise ClaimError(f"the {name} claimed is {claimed:.12g}, the data give {high:.12g}")
        relative_gap = share(self.primal.high - self.dual.low, self.primal.low)
        if self.certificate.proven and not relative_gap <= claim.tol:
            raise ClaimError(f"tol={claim.tol:g} is claimed, the data prove {relative_gap:.1e}")
        verdict = (
            "as was asked for" if relative_gap <= claim.tol else f"not tol={claim.tol:g}, and it does not claim to be"
        )
        return f"the plane is within {relative_gap:.1e} of the optimum, {verdict}"
