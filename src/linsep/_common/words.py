"""Words that messages and pictures share: lists of names, numbers of things, bounds, combinations of columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any


def quoted(name: str) -> str:
    """Return a name as it can stand in a formula: one of several words or signs in quotation marks.

    Examples
    --------
    >>> quoted("age"), quoted("town = Ulm")
    ('age', "'town = Ulm'")
    """
    return name if name.isidentifier() else f"'{name}'"


def with_unit(name: str, unit: str) -> str:
    """Return what a column is called, and what its numbers are written with.

    Examples
    --------
    >>> with_unit("voltage", "V"), with_unit("age", ""), with_unit("price (€)", "€"), with_unit("weight_kg", "kg")
    ('voltage (V)', 'age', 'price (€)', 'weight_kg')
    """
    bare = name.rstrip(" )]")
    before = bare.removesuffix(unit)
    # The last letters of a word are no unit: a column "Abc" of numbers in c does not say so.
    is_said = bare != before and not (unit[0].isalnum() and before[-1:].isalnum())
    return name if is_said or not unit else f"{name} ({unit})"


def as_typed(option: str, values: Sequence[str]) -> str:
    """Return an option with values, as they are typed; what begins with a hyphen is joined to its option.

    Examples
    --------
    >>> as_typed("--missing", ["k.A.", "-"])
    "--missing 'k.A.' --missing='-'"
    """
    plain = [repr(value) for value in values if not value.startswith("-")]
    joined = [f"{option}={value!r}" for value in values if value.startswith("-")]
    return " ".join([*([option, *plain] if plain else []), *joined])


def told_apart(names: Sequence[Any]) -> list[str]:
    """Return names as they can stand between commas: all of them in quotation marks where one has a comma itself.

    So they are where one has a line break or the like, which is then escaped.

    Examples
    --------
    >>> told_apart(["Ulm", "Ede"]), told_apart(["Ulm", "Ede, north"])
    (['Ulm', 'Ede'], ["'Ulm'", "'Ede, north'"])
    """
    told = [str(name) for name in names]
    doubtful = any(("," in name and name[0] not in "'\"") or name != in_a_line(name) for name in told)
    return [repr(name) for name in told] if doubtful else told


def in_a_line(name: str) -> str:
    r"""Return a name as it can stand in a line of a table: line breaks and the like are escaped.

    Examples
    --------
    >>> print(in_a_line("visits\nin 2021"))
    visits\nin 2021
    """
    return "".join(repr(sign)[1:-1] if sign < " " else sign for sign in name)


def phrase(names: Sequence[str], most: int = 8) -> str:
    """Return names as they are listed in a sentence; of many, the first.

    Examples
    --------
    >>> phrase(["age", "height", "the intercept"])
    'age, height and the intercept'
    >>> phrase(["age"] * 3002, 2)
    'age, age and 3,000 more'
    """
    more, names = len(names) - most, told_apart(names[:most])
    if more > 0:
        return f"{', '.join(names)} and {more:,} more"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def listed(things: Any, most: int) -> str:
    """Return the first of some things.

    Examples
    --------
    >>> listed("abcd", 3)
    'a, b, c, …'
    >>> listed(["Ulm", "Ede, north"], 3)
    "'Ulm', 'Ede, north'"
    """
    return ", ".join(told_apart(things[:most])) + (", …" if len(things) > most else "")


def many(count: float, thing: str, things: str = "") -> str:
    """Return how many there are of something.

    Examples
    --------
    >>> many(1, "row"), many(2000, "row"), many(0, "class", "classes"), many(2.5, "mistake")
    ('1 row', '2,000 rows', '0 classes', '2.5 mistakes')
    """
    told = f"{count:,}" if isinstance(count, int) else f"{count:,.12g}"
    return f"{told} {thing if count == 1 else things or f'{thing}s'}"


def cut(name: str, longest: int = 36) -> str:
    """Return a name that fits into a picture.

    Examples
    --------
    >>> cut("circumference", 8)
    'circumf…'
    """
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def most_mistakes(bound: float) -> int:
    """Return how many mistakes a bound allows: they come whole, so its fraction is cut off, but not what rounding took.

    Examples
    --------
    >>> most_mistakes(101.96), most_mistakes(101.99999999999)
    (101, 102)
    """
    return math.floor(bound * (1 + 1e-12))


def at_most(bound: float) -> str:
    """Return the same in words.

    Examples
    --------
    >>> at_most(101.96), at_most(1234.0), at_most(2.5e20)
    ('101', '1,234', '2.5e+20')
    """
    return f"{most_mistakes(bound):,}" if bound < 1e15 else f"{bound:.3g}"


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


def shown(value: object) -> str:
    """Return a value as somebody would type it: NumPy's numbers as plain ones, also within lists and dictionaries.

    Examples
    --------
    >>> import numpy as np
    >>> shown(np.float64(0.0)), shown({np.int64(1): np.float32(0.5)}), shown("l2")
    ('0.0', '{1: 0.5}', "'l2'")
    """
    if isinstance(value, dict):
        return "{" + ", ".join(f"{shown(key)}: {shown(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(shown, value)) + "]"
    plain = getattr(value, "item", None)
    return repr(plain() if plain is not None and getattr(value, "ndim", None) == 0 else value)


def typed(record: object) -> str:
    """Return a record as somebody would type it.

    Examples
    --------
    >>> from linsep.stopping import ParameterChange
    >>> typed(ParameterChange(1e-3))
    'ParameterChange(tol=0.001)'
    """
    return f"{type(record).__name__}({', '.join(f'{name}={shown(value)}' for name, value in vars(record).items())})"
