"""The seal of a fit: which planes it left behind, of which data, and what it minimised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import _reading as reading
from ..objective.objective import Objective
from ..objective.statement import Statement, plain
from .fingerprint import Fingerprint, digest
from .outcome import ClaimError


@dataclass(frozen=True)
class Seal:
    """What ties a proof to a plane, its data and its objective; or to the planes of all classes, by softmax."""

    statement: Statement  # of a softmax, whose loss is that of two classes, the logistic one
    classes: tuple[Any, ...]
    positive: int | None  # the class that is +1, all others are −1; None where all planes are one problem, by softmax
    planes: str  # a digest of (w, b)
    data: Fingerprint

    @classmethod
    def of(cls, problem: Objective, result: Any, statement: Statement, classes: ArrayLike, **claimed: Any) -> Self:
        """Return the seal of what was just fitted, and whatever is claimed of it besides."""
        labels, positive = (
            tuple(np.asarray(classes).tolist()),
            problem.positive if problem.head.planes is None else None,
        )
        planes = digest(np.asarray(result.w, dtype=np.float64).T, result.b)
        return cls(statement, labels, positive, planes, Fingerprint.of(problem), **claimed)

    @property
    def at_once(self) -> bool:
        """Whether it is about the planes of all classes together."""
        return self.positive is None

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        said = {"statement": self.statement.to_dict(), "classes": [plain(label) for label in self.classes]}
        if not self.at_once:
            return {**said, "positive": self.positive, "plane": self.planes, "data": self.data.to_dict()}
        data = self.data
        return {
            **said,
            "planes": self.planes,
            "shape": [data.n, data.d],
            "squares": list(data.squares),
            "weight": data.weight,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, at_once: bool = False) -> Self:
        """Read what `to_dict` wrote, of one plane or of all `at_once`."""
        statement = Statement.from_dict(reading.section(data, "statement"))
        known = statement, tuple(reading.items(data, "classes", reading.label))
        if at_once:
            n, d = reading.items(data, "shape", reading.whole)
            squares = tuple(reading.items(data, "squares", reading.number))
            fingerprint = Fingerprint(n, d, squares, reading.number(data, "weight"))
            return cls(*known, None, reading.text(data, "planes"), fingerprint, **cls._claimed(data))
        fingerprint = Fingerprint.from_dict(reading.section(data, "data"))
        plane = reading.whole(data, "positive"), reading.text(data, "plane")
        return cls(*known, *plane, fingerprint, **cls._claimed(data))

    @classmethod
    def _claimed(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """Read what is claimed besides."""
        return {}

    def check_model(
        self,
        statement: Statement,
        classes: tuple[Any, ...],
        positive: int | None,
        coef: ArrayLike,
        intercept: ArrayLike,
    ) -> None:
        """Raise unless a model says the same of classes, planes and objective."""
        if classes != self.classes:
            raise ClaimError(f"the model's classes are not those that were certified, {list(self.classes)}")
        if digest(coef, intercept) != self.planes:
            are = "planes are not those that were" if self.at_once else "plane is not the one that was"
            raise ClaimError(f"the {are} certified: coef or intercept was changed")
        if positive != self.positive or (positive is not None and not 0 <= positive < len(classes)):
            raise ClaimError("the proof is about another class than the one this plane predicts")
        if not statement.same_as(self.statement):
            raise ClaimError("the model's parameters are not those that were certified: fit it again")
        if np.any(intercept) and not statement.fit_intercept:
            raise ClaimError(
                f"the objective has no intercept, the {'planes have' if self.at_once else 'plane has one'}"
            )

    def check_data(self, problem: Objective) -> str:
        """Raise unless the data are those of the fit; return what was checked."""
        if difference := self.data.differs(Fingerprint.of(problem)):
            raise ClaimError(difference)
        return f"the {problem.n} examples are those of the fit, as far as their lengths tell"
