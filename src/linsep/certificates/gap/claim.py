"""What a fit claims of its plane or planes, and leaves behind so that it can be proven again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ... import _reading as reading
from ...objective.dual_point import DualPoint
from ..seal import Seal

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
    dual_point: DualPoint = field(default_factory=DualPoint)

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        claimed = super().to_dict() | {name: getattr(self, name) for name in NUMBERS}
        return claimed if self.at_once else claimed | {"dual_point": self.dual_point.to_dict()}

    @classmethod
    def _claimed(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        numbers: dict[str, Any] = {name: reading.number(data, name) for name in NUMBERS}
        if "planes" in data:  # of all classes at once, where the dual point follows from them
            return numbers
        return numbers | {"dual_point": DualPoint.from_dict(reading.section(data, "dual_point"))}
