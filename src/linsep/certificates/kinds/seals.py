"""Seals: that a model's planes are those that its fit left behind, of these data; for proofs that are no gap."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike

from ...objective.objective import Objective
from ...objective.statement import Statement
from ..case import Case
from ..outcome import Verification
from ..proof import PlaneByPlane
from ..seal import Seal


class Seals(PlaneByPlane):
    """The seals of all planes: nothing is proven by them, but what is proven besides is about these planes."""

    kind = "seals"
    record = Seal
    exact = True

    @classmethod
    def of(cls, problems: list[Objective], results: list[Any], statement: Statement, classes: ArrayLike) -> Self:
        """Return the seals of planes that were just fitted."""
        return cls([Seal.of(*each, statement, classes) for each in zip(problems, results, strict=True)])

    def check_plane(self, case: Case, k: int) -> Verification:
        """Check the seal of a plane."""
        seal: Seal = self.each[k]
        now = case.statement, case.classes, case.positive[k], case.coef[k], case.intercept[k]
        seal.check_model(*now)
        checked = "the plane and the parameters are those that were certified", seal.check_data(case.problem(k))
        return Verification(True, "", proven=True, checked=checked, covered=case.covered)
