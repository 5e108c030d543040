"""Columns as users name them: by name or number, several in a list; and which one was meant where none is called so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from .._common.words import listed
from .sources import DataError

#: Among more names than this nobody looks for a similar one.
MANY = 10_000


def column_called(word: str, names: Sequence[str], file: str) -> str:
    """Return the column of that name or, from 1 or from −1 at the end, of that number.

    Examples
    --------
    >>> column_called("-1", ["age", "town"], "people.csv")
    'town'
    >>> column_called("Agee", ["age", "town"], "people.csv")
    Traceback (most recent call last):
    ...
    linsep.data.sources.DataError: people.csv: no column 'Agee'; did you mean 'age'? It has age, town
    """
    if word in names:
        return word
    number = int(word) if word.lstrip("-").isdecimal() else 0
    if 1 <= number <= len(names):
        return names[number - 1]
    if -len(names) <= number <= -1:
        return names[number]
    raise DataError(f"{file}: no column {word!r}; {instead(word, names)}")


def instead(word: str, names: Sequence[str]) -> str:
    """Say which columns there are, and which of them is called most like a word."""
    folded = {name.strip().casefold(): name for name in names[:MANY]}
    near = get_close_matches(word.strip().casefold(), folded, 1, 0.7)
    return f"{f'did you mean {folded[near[0]]!r}? It' if near else 'it'} has {listed(names, 12)}"


def roles(said: Mapping[str, str], names: Sequence[str], file: str) -> dict[str, str]:
    """Return what is said of each column, where a word is its name, its number, or several of them with commas.

    Examples
    --------
    >>> roles({"age,town": "category", "Name, first": "text"}, ["age", "town", "Name, first"], "people.csv")
    {'age': 'category', 'town': 'category', 'Name, first': 'text'}
    """
    found: dict[str, str] = {}
    for word, role in said.items():
        for part in [word] if word in names else word.split(","):
            name = column_called(part.strip(), names, file)
            if found.setdefault(name, role) != role:
                raise DataError(f"{file}: column {name!r} cannot be {found[name]} and {role} at once")
    return found
