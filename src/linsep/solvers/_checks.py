"""Checks of settings, and of losses that a solver cannot use."""

from __future__ import annotations

import numpy as np

from .._checks import check_choice, check_count
from ..losses import Loss

__all__ = ["check_choice", "check_count", "check_slope"]


def check_slope(loss: Loss, solver: str) -> None:
    """Raise for a loss that is flat: descent would never move."""
    if not loss.convex and not loss.slope(np.linspace(-2.0, 2.0, 9)).any():
        raise ValueError(
            f"{solver!r} cannot use {loss}: it is flat, no step leads downhill; choose 'hinge' or 'logistic'"
        )
