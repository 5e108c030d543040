"""Examples in parts: the names of before."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..losses import Loss
from ..penalties import L2, Penalty
from .examples import Block, Examples, in_one
from .heads import Margin, Softmax
from .objective import Objective, Part
from .points import MarginPoint

FloatArray = NDArray[np.float64]
Blocks = Examples
PartedPoint = MarginPoint

__all__ = ["Block", "Blocks", "Part", "PartedPoint", "PartedProblem", "PartedSoftmax", "in_one"]


class PartedProblem(Objective):
    """One plane on examples in blocks."""

    def __new__(
        cls,
        rows: Examples,
        positive: int,
        loss: Loss,
        penalty: Penalty | None = None,
        C: float = np.inf,
        class_weight: FloatArray | None = None,
        fit_intercept: bool = True,
    ) -> Any:
        """Return the objective."""
        return Objective(rows, Margin(loss, positive), penalty or L2(), C, class_weight, fit_intercept)


class PartedSoftmax(Objective):
    """One plane a class on examples in blocks."""

    def __new__(
        cls,
        rows: Examples,
        classes: int,
        penalty: Penalty | None = None,
        C: float = np.inf,
        class_weight: FloatArray | None = None,
        fit_intercept: bool = True,
    ) -> Any:
        """Return the objective."""
        return Objective(rows, Softmax(classes), penalty or L2(), C, class_weight, fit_intercept)
