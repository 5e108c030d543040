"""Seals: that a model's planes are those that its fit left behind, of these data; for proofs that are no gap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import _reading as reading
from ...objective.objective import Objective
from ...objective.statement import Statement, plain
from ..case import Case
from ..fingerprint import Fingerprint, digest
from ..outcome import ClaimError, Verification
from ..proof import PlaneProofs

FloatArray = NDArray[np.float64]

__all__ = ["Seal", "Seals"]


@dataclass(frozen=True)
class Seal:
    """Which plane a fit left behind, of which data, and what it minimised."""

    statement: Statement
    classes: tuple[Any, ...]
    positive: int  # the class that is +1; all others are −1
    plane: str  # a digest of (w, b)
    data: Fingerprint

    @classmethod
    def of(
        cls, problem: Objective, w: FloatArray, b: float, statement: Statement, classes: ArrayLike, positive: int
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
            "data": self.data.to_dict(),
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

    def check(self, case: Case, k: int) -> Verification:
        """Raise where plane k or the data are not those of the fit."""
        if digest(case.coef[k], float(case.intercept[k])) != self.plane:
            raise ClaimError("the plane is not the one of the fit: coef or intercept was changed")
        if not case.statement.same_as(self.statement):
            raise ClaimError("the model's parameters are not those of the fit: fit it again")
        if case.classes != self.classes:
            raise ClaimError(f"the model's classes are not those of the fit, {list(self.classes)}")
        if self.positive != case.positive[k]:
            raise ClaimError("the proof is about another class than the one this plane predicts")
        problem = case.problem(k)
        if case.intercept[k] != 0 and not problem.fit_intercept:
            raise ClaimError(f"the plane has the intercept {case.intercept[k]:g}, the objective has none")
        if difference := self.data.differs(Fingerprint.of(problem)):
            raise ClaimError(difference)
        checked = (
            "the plane and the parameters are those of the fit",
            f"the {problem.rows.n} examples are those of the fit, as far as their lengths tell",
        )
        return Verification(True, "", proven=True, checked=checked, covered=case.covered)


class Seals(PlaneProofs):
    """The seals of all planes: nothing is proven by them, but what is proven besides is about these planes."""

    kind = "seals"
    record = Seal
    exact = True

    @classmethod
    def of(cls, problems: list[Objective], results: list[Any], statement: Statement, classes: ArrayLike) -> Self:
        """Return the seals of planes that were just fitted."""
        positive = [1] if len(problems) == 1 else range(len(problems))
        each = zip(problems, results, positive, strict=True)
        return cls([Seal.of(problem, result.w, result.b, statement, classes, k) for problem, result, k in each])

    def check_plane(self, case: Case, k: int) -> Verification:
        """Check the seal of a plane."""
        return self.each[k].check(case, k)  # type: ignore[no-any-return]
