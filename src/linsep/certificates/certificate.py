"""What is proven of a fitted plane: how near the optimum it is, and how to check that from the data alone.

`objective.duality` has the bounds, `claim` what a fit leaves behind, `checking` the outcome of a check.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import losses
from ..arithmetic.enclosure import Interval
from ..objective.dual_point import DualPoint, enclosed_bound, feasible_dual
from ..objective.duality import Bound, balanced, bound, dual_bound, penalised, weights
from ..objective.problem import Problem
from ..objective.statement import Statement
from .checking import ClaimError, Examples, Verification, positive_classes, verdict_in_words, within
from .claim import Claim, Fingerprint, certify, digest, rounding
from .gap_proof import GapCheck, GapProof

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
class Certificate(GapProof):
    """What is proven of a fitted plane, and how to check it without trusting the fit.

    Attributes
    ----------
    claim : Claim
        What the fit left behind.
    coef, intercept : array, float
        The plane as it is now: one that was changed since the fit does not verify.
    statement : Statement
        What the model says now that it minimises.
    classes, positive : tuple or None, int or None
        The labels that the model gives now, and the one that this plane predicts; None where no model says so. Of two
        classes it is always the second.
    model_tol : float or None
        The model's `tol`, where it has one.

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
    positive: int | None = None
    model_tol: float | None = None

    @property
    def _claimed(self) -> Claim:
        return self.claim

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
        return self.check(Examples(X, y, sample_weight))

    def check(self, examples: Examples) -> Verification:
        """Check every claim on examples that were read already."""
        return _Check(self).run(examples)

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
        """The relative gap that counts as proof."""
        return self._all[0].tol

    @property
    def proven(self) -> bool:
        """Whether every one is."""
        return all(one.proven for one in self)

    def verify(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Verification:
        """Check them all; the first that fails is the one reported, else the one with the largest gap."""
        return self.check(Examples(X, y, sample_weight))

    def check(self, examples: Examples) -> Verification:
        """Check them all on examples that were read already."""
        if difference := self._not_of_one_model():
            return Verification(False, difference)
        outcomes = [one.check(examples) for one in self]
        for one, outcome in zip(self, outcomes, strict=True):
            if not outcome:
                return dataclasses.replace(outcome, reason=f"{_who(one)}: {outcome.reason}")
        k = max(range(len(self)), key=lambda k: outcomes[k].relative_gap)
        worst, unchecked = outcomes[k], dict.fromkeys(what for outcome in outcomes for what in outcome.unchecked)
        reason = f"{_who(self[k])}, the worst of {len(self)}: {worst.reason}"
        return dataclasses.replace(worst, reason=reason, unchecked=tuple(unchecked))

    def _not_of_one_model(self) -> str:
        """Return why these are not the certificates of one model's planes, the k-th of class k; or nothing."""
        classes = self[0].claim.classes
        if len(self) != len(positive_classes(classes)):
            return f"there are {len(self)} certificates for {len(classes)} classes"
        for k, one in enumerate(self):
            if one.claim.classes != classes or not one.statement.same_as(self[0].statement):
                return "the certificates are not of the same classes and the same objective"
            if one.claim.positive != k:
                return f"certificate {k} is about another class than {classes[k]!r}, which its plane predicts"
        return ""

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


def _who(one: Certificate) -> str:
    return f"class {one.claim.classes[one.claim.positive]!r} against the rest"


class _Check(GapCheck[Problem]):
    """One verification: a certificate's claims against data."""

    def __init__(self, certificate: Certificate) -> None:
        now = certificate.statement, certificate.classes, certificate.model_tol
        super().__init__(certificate.claim, certificate.proven, *now)
        self.claim, self.positive = certificate.claim, self._predicted(certificate)
        self.w, self.b = np.asarray(certificate.coef, dtype=np.float64), float(certificate.intercept)

    def _predicted(self, certificate: Certificate) -> int:
        """Return the class that the plane predicts: the second of two, else as the model says or, alone, the claim."""
        if len(self.classes) == 2:
            return 1
        return certificate.claim.positive if certificate.positive is None else certificate.positive

    def trusted(self) -> tuple[str, ...]:
        """Return what is taken on trust: also the formulas of a loss of the user's own."""
        loss = self.claim.statement.loss
        own = () if losses.is_ours(loss) else (f"the formulas of {loss!r}, its conjugate among them",)
        return super().trusted() + own

    def same_planes(self, d: int) -> None:
        """Raise unless the plane is the one that was certified."""
        if self.w.shape != (d,):
            raise ClaimError(f"the plane has {self.w.size} weights, the data have {d} columns")
        if digest(self.w, self.b) != self.claim.plane:
            raise ClaimError("the plane is not the one that was certified: coef or intercept was changed")
        if self.claim.positive != self.positive or not 0 <= self.positive < len(self.classes):
            raise ClaimError("the proof is about another class than the one this plane predicts")

    def problem(self, examples: Examples, s: FloatArray | None) -> Problem:
        """Return the problem of the class that the plane predicts against the others."""
        y = np.where(examples.codes(self.classes) == self.positive, 1.0, -1.0)
        problem = self.statement.problem(examples.rows, y, s)
        if difference := self.claim.data.differs(Fingerprint.of(problem)):
            raise ClaimError(difference)
        return problem

    def enclose(self, problem: Problem) -> tuple[Interval, Interval, str]:
        """Enclose P(w, b) and D(α)."""
        if self.b != 0 and not problem.fit_intercept:
            raise ClaimError(f"the plane has the intercept {self.b:g}, the objective has none")
        primal, dual = enclosed_bound(problem, self.w, self.b, self.claim.dual_point)
        exact = ", with Σ αᵢyᵢ = 0 in whole numbers" if problem.fit_intercept else ""
        how = f"a dual point that is exactly feasible{exact}" if penalised(problem) else "the curvature at the plane"
        return primal, dual, how if dual.low else "losses being at least 0"

    def slack(self, problem: Problem, primal: Interval, dual: Interval) -> float:
        """Return by how much a fit's own numbers may be off."""
        return rounding(problem, self.w, self.b, Bound(primal.high, min(dual.low, self.claim.dual)))
