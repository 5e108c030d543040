"""Checks of settings, for solvers and estimators alike."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from ..losses import Loss

__all__ = ["check_choice", "check_count", "check_slope"]


def check_choice(name: str, value: object, choices: tuple[Any, ...]) -> None:
    """Raise unless the setting has one of these values."""
    if value not in choices:
        raise ValueError(f"{name}={value!r} is not possible; use one of {', '.join(map(repr, choices))}")


def check_count(name: str, value: object, least: int = 1) -> None:
    """Raise unless the setting is a whole number that is large enough."""
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < least:
        raise ValueError(f"{name}={value!r} must be a whole number of at least {least}")


def check_slope(loss: Loss, solver: str) -> None:
    """Raise for a loss that is flat: descent would never move."""
    if not loss.convex and not loss.slope(np.linspace(-2.0, 2.0, 9)).any():
        raise ValueError(
            f"{solver!r} cannot use {loss}: it is flat, no step leads downhill; choose 'hinge' or 'logistic'"
        )
