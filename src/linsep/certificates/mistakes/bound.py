"""The record of a lower bound on mistakes: why no plane makes fewer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from ..._common import reading

Conflict = tuple[int, ...]

#: What is not proven by the record itself, by the method of the bound.
TRUSTED = {
    "none": "nothing",
    "conflicts": "that no lighter set of points meets all conflicts; `verify` computes it anew",
    "cells": "that no plane was left out; `verify` looks at all of them by other means",
}


@dataclass(frozen=True)
class MistakeBound:
    """Why no plane makes mistakes of less weight than `bound`.

    Attributes
    ----------
    bound : float
    method : {"none", "conflicts", "cells"}
        ``"none"`` stands for the bound zero. ``"conflicts"``: each of `conflicts` costs at least one mistake, and no
        lighter set of points meets them all. ``"cells"``: all planes that could be better were looked at.
    conflicts : tuple of tuples of int
        Rows of X, at most d + 2 each, that no plane has all on their right sides. A row stands for all rows
        that are equal to it and have the same label: their weights add up.
    hopeless : tuple of int
        Rows on which every plane errs: x = 0 where planes go through the origin.
    trusted : str
        What a reader of the proof has to take on trust, or to do again.
    """

    bound: float
    method: str
    conflicts: tuple[Conflict, ...] = ()
    hopeless: tuple[int, ...] = ()

    @property
    def trusted(self) -> str:
        """What is not proven by the record itself."""
        return TRUSTED[self.method]

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        conflicts = [[int(i) for i in conflict] for conflict in self.conflicts]
        return {
            "bound": float(self.bound),
            "method": self.method,
            "conflicts": conflicts,
            "hopeless": [int(i) for i in self.hopeless],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        method, each = reading.text(data, "method"), reading.entry(data, "conflicts")
        if method not in TRUSTED:
            raise ValueError(f"a bound on mistakes by {method!r} is not known")
        conflicts = tuple(tuple(reading.items({"conflict": one}, "conflict", reading.whole)) for one in each)
        hopeless = tuple(reading.items(data, "hopeless", reading.whole))
        return cls(reading.number(data, "bound"), method, conflicts, hopeless)
