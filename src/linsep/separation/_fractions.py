"""Fractions in sentences and in files: "p/q" in base 16, in which Python reads any number of digits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from operator import index
from typing import Any


def short_fraction(value: Fraction) -> str:
    """Return a fraction, or six digits of a long one."""
    return str(value) if value.denominator < 10**6 else f"{float(value):.6g}"


def written_fraction(value: Fraction) -> str:
    """Return "p/q" in base 16, in which Python reads any number of digits."""
    value = Fraction(value)
    return f"{value.numerator:x}/{value.denominator:x}"


def read_fraction(text: str) -> Fraction:
    """Read what `written_fraction` wrote."""
    numerator, denominator = text.split("/")
    return Fraction(int(numerator, 16), int(denominator, 16))


def weights_written(weights: Mapping[int, Fraction]) -> list[list[Any]]:
    """Return pairs of a row or a column and its weight, in terms of JSON."""
    return [[int(i), written_fraction(weight)] for i, weight in weights.items()]


def weights_read(pairs: Iterable[Sequence[Any]]) -> dict[int, Fraction]:
    """Read what `weights_written` wrote."""
    return {index(i): read_fraction(text) for i, text in pairs}
