"""Words that messages and pictures share: lists of names, names cut short, linear combinations of columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any


def phrase(names: Sequence[str], most: int = 8) -> str:
    """Return names as they are listed in a sentence; of many, the first.

    Examples
    --------
    >>> phrase(["age", "height", "the intercept"])
    'age, height and the intercept'
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def listed(things: Any, most: int) -> str:
    """Return the first of some things.

    Examples
    --------
    >>> listed("abcd", 3)
    'a, b, c, …'
    """
    return ", ".join(map(str, things[:most])) + (", …" if len(things) > most else "")


def most_mistakes(bound: float) -> str:
    """Return how many mistakes Novikoff's bound (R/γ)² allows: a whole number, since they are counted.

    Examples
    --------
    >>> most_mistakes(101.96), most_mistakes(102.0 - 1e-12)
    ('101', '102')
    """
    return f"{math.floor(bound * (1 + 1e-12)):,}"  # what is a whole number but for rounding is one


def cut(name: str, longest: int = 36) -> str:
    """Return a name that fits into a picture.

    Examples
    --------
    >>> cut("circumference", 8)
    'circumf…'
    """
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def combination(terms: Mapping[int, Fraction], constant: int, name: Callable[[int], str]) -> str:
    """Return Σ cⱼ xⱼ in words, the constant's term first.

    Examples
    --------
    >>> combination({0: Fraction(-1), 1: Fraction(1, 2), 2: Fraction(3)}, 2, "ab".__getitem__)
    '3 − a + (1/2)·b'
    """
    text = ""
    for j, factor in sorted(terms.items(), key=lambda item: (item[0] != constant, item[0])):
        size = abs(factor)
        number = str(size) if len(str(size)) < 24 else f"{float(size):.17g}"
        if j != constant:
            number = "" if size == 1 else f"{number}·" if size.denominator == 1 else f"({number})·"
        term = number if j == constant else f"{number}{name(j)}"
        text = f"{text} {'−' if factor < 0 else '+'} {term}" if text else f"{'−' if factor < 0 else ''}{term}"
    return text or "0"
