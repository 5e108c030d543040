"""What the estimators share whose verdicts are exact: they refuse numbers that are no doubles, instead of rounding."""

from __future__ import annotations

from collections.abc import Mapping

from numpy.typing import ArrayLike

from .._types import FloatArray
from ..arithmetic.exact_input import refuse_inexact
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
