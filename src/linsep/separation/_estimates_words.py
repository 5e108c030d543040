"""Estimates in sentences: which coefficients are finite, infinite or not determined, and the likelihood's supremum."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from .._words import combination, phrase
from ._aliases import Dependencies, involved

if TYPE_CHECKING:
    from .estimates import Estimates

FINITE, PLUS, MINUS, OPEN = "finite", "+inf", "-inf", "not determined"
KINDS = (PLUS, MINUS, FINITE, OPEN)


def verdicts_in_words(
    name: Callable[[int], str], verdicts: Mapping[int, str], dependencies: Dependencies, d: int, *, diverges: bool
) -> str:
    """Say of each coefficient what is known, grouped: 'the estimate of x1 is +∞; the others are finite'."""
    aliased = involved(dependencies)
    open_ = [j for j, kind in verdicts.items() if kind == OPEN and j not in aliased]
    parts = [
        _estimates_of(name, [j for j, kind in verdicts.items() if kind == PLUS], "+∞"),
        _estimates_of(name, [j for j, kind in verdicts.items() if kind == MINUS], "−∞"),
        _estimates_of(name, open_, "not determined by the data"),
        _estimates_of(name, aliased, f"not determined (aliased: {_relations_told(name, dependencies, d)})"),
    ]
    if aliased and diverges and not any(parts[:3]):
        parts[3] += ", and some combination of these runs to infinity"
    parts = [part for part in parts if part]
    finite = [j for j, kind in verdicts.items() if kind == FINITE]
    if finite:
        who = "all estimates are" if not parts else "the others are" if len(finite) > 1 else "the other is"
        parts.append(f"{who} finite")
    return "; ".join(parts)


def _relations_told(name: Callable[[int], str], dependencies: Dependencies, d: int, most: int = 3) -> str:
    """Say which columns are which combinations of others: 'c = 1 − a − b'."""
    said = []
    for j, others in list(dependencies.items())[:most]:
        of = combination(others, d, name) if len(others) <= 6 else f"a combination of {len(others)} others"
        said.append(f"{name(j)} = {of}")
    return ", ".join(said) + (f" and {len(dependencies) - most} more" if len(dependencies) > most else "")


def _estimates_of(name: Callable[[int], str], columns: Sequence[int], what: str) -> str:
    if not columns:
        return ""
    one = len(columns) == 1
    return f"the estimate{'' if one else 's'} of {phrase([name(j) for j in columns])} {'is' if one else 'are'} {what}"


def supremum_in_words(found: Estimates) -> str:
    """The supremum in words."""
    low, high = found.supremum
    name = "maximum" if found.separability.verdict == "overlap" else "supremum"
    if (low, high) == (0.0, 0.0):
        return f"{name} of the log-likelihood 0"
    if not found.proven:
        return f"{name} of the log-likelihood at least {signed(low, 8)} (not proven from above)"
    width = high - low
    digits = max(2, min(15, math.floor(math.log10(-low / width)))) if 0 < width < -low else 15
    return f"{name} of the log-likelihood {signed(high, min(8, digits))}, proven to {_rounded_up(width)}"


def signed(value: float, digits: int) -> str:
    return f"{value:.{digits}g}".replace("-", "−", 1) if math.isfinite(value) else "−∞"


def _rounded_up(width: float) -> str:
    """Return a width with one digit, rounded up."""
    if width == 0:
        return "0"
    exponent = math.floor(math.log10(width))
    leading = math.ceil(width / 10.0**exponent)
    return f"{leading}e{exponent:+03d}" if leading < 10 else f"1e{exponent + 1:+03d}"
