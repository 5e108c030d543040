"""A point of the augmented Lagrangian method, as one plane or several have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._common.types import FloatArray
from ...objective.objective import Objective


@dataclass(frozen=True, eq=False)
class SprungPoint:
    """A point (w, b), and what a pass says of it with dual variables on springs."""

    w: FloatArray
    b: Any  # a float, or one for each class
    primal: float
    dual: float
    outer: float  # how much of the gap is the springs'
    gradient: FloatArray  # of the inner problem
    inner: float = np.nan  # the inner problem's value, where somebody asks
    duals: str = ""  # the vector that holds the dual variables, if they are not in memory


def sprung_sums(objective: Objective, c: FloatArray, **springs: Any) -> FloatArray:
    """Set the dual variables a and what bends, h; return the sums that a run's `point` takes, and how v changes."""
    return objective.rows.sprung_duals(objective.y, c, objective.loss, split=objective.fit_intercept, **springs)
