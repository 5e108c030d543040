"""Checks of settings, for solvers and estimators alike."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from .words import shown

__all__ = ["check_choice", "check_count", "check_seconds"]


def check_choice(name: str, value: object, choices: tuple[Any, ...]) -> None:
    """Raise unless the setting has one of these values."""
    if value not in choices:
        raise ValueError(f"{name}={shown(value)} is not possible; use one of {', '.join(map(repr, choices))}")


def check_count(name: str, value: object, least: int = 1) -> None:
    """Raise unless the setting is a whole number that is large enough."""
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < least:
        raise ValueError(f"{name}={shown(value)} must be a whole number of at least {least}")


def check_seconds(name: str, value: object) -> None:
    """Raise unless the value is a positive number, or None for no limit."""
    if value is not None and (not isinstance(value, Real) or isinstance(value, bool) or not float(value) > 0):
        raise ValueError(f"{name}={shown(value)} must be a positive number of seconds, or None for no limit")
