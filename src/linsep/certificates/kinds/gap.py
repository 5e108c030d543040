"""Gaps: how far a model's objective is from the optimum, of each plane or of all classes at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from ...objective.heads import CrammerSinger, of_all_classes
from ..case import Case
from ..gap.certificate import Certificate, Certificates, Claim, CrammerSingerCertificate, SoftmaxCertificate
from ..gap.check import CLOSE
from ..outcome import ClaimError, Verification
from ..proof import PlaneProofs
from ..training_data import positive_classes


class Gap(PlaneProofs):
    """The gap of every plane, each class against the rest."""

    kind = "gap"
    record: ClassVar[Any] = Claim
    confirms = ("objective_", "dual_gap_", "converged_")
    in_blocks = True

    @staticmethod
    def of(claims: list[Claim]) -> Gap:
        """Return what is proven of a model by its claims: each class against the rest, or all at once."""
        if not claims[0].at_once:
            return Gap(claims)
        by_margins = isinstance(of_all_classes(claims[0].statement.loss, 0), CrammerSinger)
        return (CrammerSingerGap if by_margins else SoftmaxGap)(claims)

    def certificate(self, model: Any) -> Any:
        """Return the certificate of the planes as they are now; with more than two classes, one for each."""
        statement, classes = model._statement(), tuple(np.asarray(model.classes_).tolist())
        planes, intercepts = list(model._planes()), list(np.ravel(model.intercept_))
        positive = positive_classes(classes)
        if not len(planes) == len(intercepts) == len(self.each) == len(positive):  # tampered with: none is certified
            count = len(self.each)
            planes, intercepts, positive = [np.empty(0)] * count, [np.float64(0.0)] * count, [-1] * count
        each, tol = zip(self.each, planes, intercepts, positive, strict=True), model._goal()
        certificates = [Certificate(claim, w, float(b), statement, classes, tol, k) for claim, w, b, k in each]
        return certificates[0] if len(certificates) == 1 else Certificates(certificates)

    def check(self, case: Case) -> Iterator[Verification]:
        """Check how far the objective is from the optimum, and what the model says of that."""
        certificate = self.certificate(case.model)
        outcome = certificate.check(case.examples)
        if outcome:
            covered = self._confirmed(case, outcome, certificate.relative_gap)
            outcome = replace(outcome, covered=covered, reason=outcome.reason + case.remark)
        # A perceptron asks for no mistakes, not for the least loss: its gap only ties the plane to the data.
        decided = any(proof.decides for proof in case.model._proofs)
        yield replace(outcome, reason="", proven=True) if decided and outcome else outcome

    def _confirmed(self, case: Case, outcome: Verification, claimed: float) -> tuple[str, ...]:
        """Return which attributes are confirmed; raise for those that are not so."""
        covered = [*case.covered, "objective_"]
        case.check_objective(lambda weighted: case.formula(weighted, at_once=self.each[0].at_once))
        gap = case.number("dual_gap_", 0)
        if not (gap == claimed or np.isnan([gap, claimed]).all()):
            raise ClaimError(f"dual_gap_ is {gap:.3g}, the proof says {claimed:.3g}")
        if outcome.relative_gap * (1 - CLOSE) <= gap < np.inf:  # as far as it says at the most
            covered.append("dual_gap_")
        # Some estimators end by a rule of their own, which cannot be looked at again.
        if not case.model._own_rule:
            covered += case.check_converged(outcome.proven)
        return tuple(covered)


class SoftmaxGap(Gap):
    """The gap of all classes at once, by softmax."""

    kind = "softmax"
    certifies: ClassVar[type[SoftmaxCertificate]] = SoftmaxCertificate

    def to_dict(self) -> Any:
        """Return the one record in terms of JSON."""
        return self.each[0].to_dict()

    @classmethod
    def from_dict(cls, data: Any, planes: int) -> Self:
        """Read what `to_dict` wrote."""
        return cls([Claim.from_dict(data, at_once=True)])

    def certificate(self, model: Any) -> SoftmaxCertificate:
        """Return the certificate of the planes as they are now."""
        classes = tuple(np.asarray(model.classes_).tolist())
        now = model._statement(), classes, model._goal()
        return self.certifies(self.each[0], model._planes(), model.intercept_, *now)


class CrammerSingerGap(SoftmaxGap):
    """The gap of all classes at once, by the margins between them."""

    kind = "crammer_singer"
    certifies = CrammerSingerCertificate
