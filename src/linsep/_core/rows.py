"""`Rows`: the examples, with every pass over them that a solver asks for."""

from __future__ import annotations

from .coordinate import CoordinateRows
from .dual import DualRows
from .multipliers import MultiplierRows
from .objective import ObjectiveRows
from .softmax import SoftmaxRows
from .stochastic import StochasticRows


class Rows(ObjectiveRows, SoftmaxRows, StochasticRows, DualRows, MultiplierRows, CoordinateRows):
    """The examples as rows, dense or sparse, float32 or float64: the only type that knows which.

    Examples
    --------
    >>> import numpy as np
    >>> rows = Rows(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> rows.matvec(np.array([1.0, -1.0]))
    array([-1., -1.])
    >>> rows.rmatvec(np.array([1.0, 1.0]))
    array([4., 6.])
    """
