"""Checks of settings, for solvers and estimators alike."""

from __future__ import annotations

from .._checks import check_choice, check_count

__all__ = ["check_choice", "check_count"]
