"""What the estimators share whose verdicts are exact: they refuse numbers that are no doubles, instead of rounding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from numpy.typing import ArrayLike

from .._common.types import FloatArray
from ..arithmetic.exact_input import refuse_inexact
from ..objective.objective import Objective
from ._base import LinearEstimator


class ExactEstimator(LinearEstimator):
    """A linear classifier that proves something exactly of the numbers it was given."""

    def _is_exact(self) -> bool:
        """Whether this fit proves anything exactly."""
        return True

    def _sample_weight(self, sample_weight: ArrayLike | None, n: int) -> FloatArray | None:
        class_weight = getattr(self, "class_weight", None)
        if self._is_exact():
            refuse_inexact(sample_weight, "sample_weight")
            for weight in class_weight.values() if isinstance(class_weight, Mapping) else ():
                refuse_inexact(weight, "class_weight")
        return super()._sample_weight(sample_weight, n)


def intercept_helps(problem: Objective) -> bool:
    """Whether a plane with an intercept separates what none through the origin does; of large data nobody asks."""
    from ..solvers.first_order.prover import Prover
    from ..solvers.first_order.walk import LARGE

    if problem.fit_intercept or problem.rows.stored > LARGE:
        return False
    found = Prover(replace(problem, fit_intercept=True)).ask()
    return found is not None and found.separable
