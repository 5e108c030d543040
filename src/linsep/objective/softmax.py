"""One plane a class on examples in memory, all at once: the objective of the softmax."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import Rows
from ..penalties import L2, Penalty
from .duality import Bound
from .examples import InMemory
from .heads import Softmax
from .objective import Objective
from .points import SoftmaxPoint

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

__all__ = ["SoftmaxPoint", "SoftmaxProblem", "repaired", "softmax_bound"]


class SoftmaxProblem(Objective):
    """The objective of one plane a class on examples in memory.

    Examples
    --------
    >>> p = SoftmaxProblem(Rows(np.eye(3)), np.arange(3), 3, C=2.0)
    >>> round(p.evaluate(np.zeros((3, 3)), np.zeros(3)).objective / 6, 6)  # log 3 for each of three examples
    1.098612
    >>> p.formula
    '½‖W‖² + 2·Σ −log softmax(g)ᵧ'
    """

    def __new__(
        cls,
        rows: Rows,
        codes: IntArray,
        classes: int,
        penalty: Penalty | None = None,
        C: float = np.inf,
        sample_weight: FloatArray | None = None,
        fit_intercept: bool = True,
    ) -> Any:
        """Return the objective."""
        examples = InMemory(rows, codes, sample_weight)
        return Objective(examples, Softmax(classes), L2() if penalty is None else penalty, C, None, fit_intercept)


def softmax_bound(point: SoftmaxPoint) -> Bound:
    """Return the bound that a point's own probabilities give."""
    return point.bound


def repaired(point: SoftmaxPoint) -> tuple[FloatArray, None]:
    """Return the point's probabilities, made to give every class its weight where b is free."""
    return point.balanced, None
