"""What a fit claims of its plane or planes, and leaves behind so that it can be proven again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from ... import _reading as reading
from ...objective.dual_point import DualPoint
from ...objective.statement import Statement, plain
from ..fingerprint import Fingerprint

NUMBERS = ("primal", "dual", "rounding", "tol")


@dataclass(frozen=True)
class Claim:
    """What was minimised, the bound that was proven, and what one needs to prove it again.

    `rounding` bounds what the arithmetic of the fit may have added to the gap: an estimate from the sizes of things,
    made without another look at the data. `Certificate.verify` does the sums again and bounds each one's error.
    """

    statement: Statement  # of a softmax, whose loss is that of two classes, the logistic one
    classes: tuple[Any, ...]
    positive: int | None  # the class that is +1, all others are −1; None where all planes are one problem, by softmax
    primal: float
    dual: float
    rounding: float
    tol: float
    planes: str  # a digest of (w, b)
    data: Fingerprint
    dual_point: DualPoint = field(default_factory=DualPoint)

    @property
    def at_once(self) -> bool:
        """Whether it is about the planes of all classes together."""
        return self.positive is None

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        said = {"statement": self.statement.to_dict(), "classes": [plain(label) for label in self.classes]}
        numbers = {name: getattr(self, name) for name in NUMBERS}
        if self.at_once:
            data = {"shape": [self.data.n, self.data.d], "squares": list(self.data.squares), "weight": self.data.weight}
            return {**said, **numbers, "planes": self.planes, **data}
        proof = {"plane": self.planes, "data": self.data.to_dict(), "dual_point": self.dual_point.to_dict()}
        return {**said, "positive": self.positive, **numbers, **proof}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, at_once: bool = False) -> Self:
        """Read what `to_dict` wrote, of one plane or of all `at_once`."""
        statement = Statement.from_dict(reading.section(data, "statement"))
        classes = tuple(reading.items(data, "classes", reading.label))
        primal, dual, rounding, tol = (reading.number(data, name) for name in NUMBERS)
        numbers = primal, dual, rounding, tol
        if at_once:
            n, d = reading.items(data, "shape", reading.whole)
            squares = tuple(reading.items(data, "squares", reading.number))
            fingerprint = Fingerprint(n, d, squares, reading.number(data, "weight"))
            return cls(statement, classes, None, *numbers, reading.text(data, "planes"), fingerprint)
        positive, plane = reading.whole(data, "positive"), reading.text(data, "plane")
        fingerprint = Fingerprint.from_dict(reading.section(data, "data"))
        dual_point = DualPoint.from_dict(reading.section(data, "dual_point"))
        return cls(statement, classes, positive, *numbers, plane, fingerprint, dual_point)
