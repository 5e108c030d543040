"""What an edit is: a forgery on its way, donors of parts, and the list of all edits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from .honest import FAMILIES, Data, Honest, make

__all__ = ["EDITS", "Donors", "Forgery", "UnfitError", "edit", "is_unfit"]


class UnfitError(Exception):
    """An edit that this file offers no place for."""


def is_unfit(error: Exception) -> bool:
    """Whether an edit failed because an earlier one left nothing of the kind it edits."""
    return isinstance(error, UnfitError | LookupError | TypeError | ValueError | AttributeError | ArithmeticError)


class Donors:
    """Other honest models, whose parts a forgery can borrow; fitted when first asked for."""

    def __init__(self, honest: Honest) -> None:
        self.honest = honest
        self._same_data: Honest | None = None

    def same_data(self) -> dict[str, Any]:
        """Return a fit of the same estimator, with other settings, on the same data."""
        if self._same_data is None:
            self._same_data = _donor(DONORS + self.honest.seed, self.honest.family, self.honest.data)
        return self._same_data.document

    def same_family(self) -> dict[str, Any]:
        """Return a fit of the same estimator on other data."""
        return _shared(DONORS + self.honest.seed % POOL, self.honest.family).document

    def any(self) -> dict[str, Any]:
        """Return a fit of another estimator on other data."""
        others = [family for family in FAMILIES if family != self.honest.family]
        return _shared(DONORS + self.honest.seed % POOL, others[self.honest.seed % len(others)]).document


#: Where the seeds of donors begin, and how many there are of each estimator.
DONORS, POOL = 10**9, 16


def _donor(seed: int, family: str, data: Data | None = None) -> Honest:
    try:
        return make(seed, family, data)
    except (RuntimeError, ArithmeticError, ValueError) as error:  # what a fit does wrong, honest runs report
        raise UnfitError(f"no donor: {error}") from error


@cache
def _shared(seed: int, family: str) -> Honest:
    return _donor(seed, family)


@dataclass
class Forgery:
    """A file and the data shown with it, on the way from honest to forged."""

    document: dict[str, Any]
    data: Data
    kinds: list[str] = field(default_factory=list)
    reseal: bool = True

    @property
    def proofs(self) -> dict[str, Any]:
        """The certificate."""
        found: dict[str, Any] = self.document["certificate"]
        return found

    def claims(self) -> list[dict[str, Any]]:
        """Return whatever is claimed of a plane, or of all."""
        at_once = [self.proofs[kind] for kind in ("softmax", "crammer_singer") if kind in self.proofs]
        return [*self.proofs.get("gap", []), *at_once, *self.proofs.get("seals", [])]

    def parameters(self) -> dict[str, Any]:
        """Return what the estimator was made with."""
        found: dict[str, Any] = self.document["estimator"]["parameters"]
        return found


Edit = Callable[[Forgery, np.random.Generator, Donors], None]

#: All edits by name; those of a single value are one of them.
EDITS: dict[str, Edit] = {}


def edit(name: str) -> Callable[[Edit], Edit]:
    def listed(function: Edit) -> Edit:
        EDITS[name] = function
        return function

    return listed
