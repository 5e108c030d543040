"""Certificates: what a fit claims of its planes and leaves behind, and the check of that from the data alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike

from ..._common import reading
from ..._common.html import card
from ..._common.types import FloatArray
from ...objective.class_margins import MassPoint
from ...objective.dual_point import DualPoint
from ...objective.duality import share
from ...objective.statement import Statement
from ..outcome import Verification, between, within
from ..proof import Alone
from ..seal import Seal
from ..training_data import TrainingData, positive_classes
from .check import GapCheck

NUMBERS = ("primal", "dual", "rounding", "tol")


@dataclass(frozen=True)
class Claim(Seal):
    """The bound that was proven, and what one needs to prove it again.

    `rounding` bounds what the arithmetic of the fit may have added to the gap: an estimate from the sizes of things,
    made without another look at the data. `Certificate.verify` does the sums again and bounds each one's error.
    """

    primal: float
    dual: float
    rounding: float
    tol: float
    dual_point: DualPoint | MassPoint = field(default_factory=DualPoint)

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        claimed = super().to_dict() | {name: getattr(self, name) for name in NUMBERS}
        follows = self.at_once and isinstance(self.dual_point, DualPoint)  # from the planes of a softmax
        return claimed if follows else claimed | {"dual_point": self.dual_point.to_dict()}

    @classmethod
    def _claimed(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        numbers: dict[str, Any] = {name: reading.number(data, name) for name in NUMBERS}
        if "planes" in data and "dual_point" not in data:  # of all classes at once, by softmax: it follows from them
            return numbers
        kind: Any = MassPoint if "planes" in data else DualPoint
        return numbers | {"dual_point": kind.from_dict(reading.section(data, "dual_point"))}


@dataclass(frozen=True, eq=False)
class Certificate(Alone):
    """What is proven of a fitted plane, or of all planes of a softmax, and how to check it without trusting the fit.

    Attributes
    ----------
    claim : Claim
        What the fit left behind.
    coef, intercept : array, float
        The plane as it is now, or one row and one intercept a class: what was changed since the fit does not verify.
    statement : Statement
        What the model says now that it minimises.
    classes : tuple or None
        The labels that the model gives now; None where no model says so.
    model_tol : float or None
        The model's `tol`, where it has one.
    positive : int or None
        The class that this plane predicts, where a model says so. Of two classes it is always the second.

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
    intercept: Any
    statement: Statement
    classes: tuple[Any, ...] | None = None
    model_tol: float | None = None
    positive: int | None = None

    @property
    def primal(self) -> float:
        """P, the objective at the fitted plane or planes."""
        return self.claim.primal

    @property
    def dual(self) -> float:
        """What no plane's objective lies below."""
        return self.claim.dual

    @property
    def tol(self) -> float:
        """The relative gap that counts as proof."""
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
        return self.certain_gap <= self.tol

    @property
    def certain_gap(self) -> float:
        """The relative gap with all rounding counted against it: what is compared with `tol`."""
        return share(self.gap + self.rounding, max(abs(self.primal) - self.rounding, 0.0))

    def __str__(self) -> str:
        return f"{between(self.primal, self.dual)}: {within(self.certain_gap, self.proven, self.tol)}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return shown(self)

    @property
    def who(self) -> str:
        """Of which class it is."""
        assert self.claim.positive is not None
        return f"class {self.claim.classes[self.claim.positive]!r} against the rest"

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
        return self.check(TrainingData(X, y, sample_weight))

    def check(self, examples: TrainingData, time_limit: float | None = None) -> Verification:
        """Check every claim on examples that were read already."""
        return GapCheck(self).run(examples)

    def to_dict(self, *, plane: bool = True) -> dict[str, Any]:
        """Return the certificate in terms of JSON; without the plane where a model file already holds that."""
        data = self.claim.to_dict()
        if plane:
            data |= {"coef": np.asarray(self.coef).tolist(), "intercept": np.asarray(self.intercept).tolist()}
        return data

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], coef: ArrayLike | None = None, intercept: ArrayLike | None = None
    ) -> Self:
        """Read what `to_dict` wrote; give the plane, or one a row, if it is kept elsewhere."""
        claim = Claim.from_dict(data, at_once="planes" in data)
        w = np.asarray(reading.entry(data, "coef") if coef is None else coef, dtype=np.float64)
        b = np.asarray(reading.entry(data, "intercept") if intercept is None else intercept, dtype=np.float64)
        return cls(claim, w, b if claim.at_once else float(b), claim.statement)


class SoftmaxCertificate(Certificate):
    """What is proven of all planes of a softmax model together.

    Examples
    --------
    >>> from linsep import LogisticRegression
    >>> X, y = [[0.0], [1.0], [3.0], [4.0], [6.0], [7.0]], ["a", "a", "b", "b", "c", "c"]
    >>> certificate = LogisticRegression().fit(X, y).certificate_
    >>> certificate.proven, bool(certificate.verify(X, y)), bool(certificate.verify(X, y[::-1]))
    (True, True, False)
    """


class CrammerSingerCertificate(SoftmaxCertificate):
    """What is proven of all planes of Crammer and Singer's machine together.

    Examples
    --------
    >>> from linsep import LinearSVC
    >>> X, y = [[0.0], [1.0], [3.0], [4.0], [6.0], [7.0]], ["a", "a", "b", "b", "c", "c"]
    >>> certificate = LinearSVC(multi_class="crammer_singer").fit(X, y).certificate_
    >>> certificate.proven, bool(certificate.verify(X, y)), bool(certificate.verify(X, y[::-1]))
    (True, True, False)
    """


class Certificates(Alone, Sequence[Certificate]):
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
    def certain_gap(self) -> float:
        """The largest of the relative gaps with all rounding counted against them: what is compared with `tol`."""
        return max(one.certain_gap for one in self)

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
        return self.check(TrainingData(X, y, sample_weight))

    def check(self, examples: TrainingData, time_limit: float | None = None) -> Verification:
        """Check them all on examples that were read already."""
        if difference := self._not_of_one_model():
            return Verification(False, difference)
        outcomes = [one.check(examples) for one in self]
        for one, outcome in zip(self, outcomes, strict=True):
            if not outcome:
                return dataclasses.replace(outcome, reason=f"{one.who}: {outcome.reason}")
        k = max(range(len(self)), key=lambda k: outcomes[k].relative_gap)
        worst, unchecked = outcomes[k], dict.fromkeys(what for outcome in outcomes for what in outcome.unchecked)
        reason = f"{self[k].who}, the worst of {len(self)}: {worst.reason}"
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
        parts = reading.items(data, "certificates", reading.section)
        w = [None] * len(parts) if coef is None else np.asarray(coef)
        b = [None] * len(parts) if intercept is None else np.asarray(intercept)
        return cls([Certificate.from_dict(*each) for each in zip(parts, w, b, strict=True)])

    def __str__(self) -> str:
        head = f"Of {len(self)} classes against the rest: {between(self.primal, self.dual)}"
        return f"{head}: {within(self.certain_gap, self.proven, self.tol, ' in the worst')}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return shown(self)


def shown(certificate: Any) -> str:
    """Return what a notebook shows of a certificate, or of several together."""
    title, tone = ("Proven", "good") if certificate.proven else ("Not proven to tol", "bad")
    return card(title, str(certificate), "Nobody has to believe it: .verify(X, y) checks it on the data.", tone=tone)
