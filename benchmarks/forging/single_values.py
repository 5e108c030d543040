"""Edits of one value, anywhere in a file: another number, another type, gone, twice, or in another's place."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .edits import Donors, Forgery, UnfitError, edit

__all__ = ["places_of"]


@edit("one value")
def _one_value(forgery: Forgery, rng: np.random.Generator, donors: Donors) -> None:
    """Change one value, anywhere: sections are drawn alike, so that long ones do not take all."""
    document = forgery.document
    section = str(rng.choice([name for name in document if name != "digest"]))
    places = places_of(document[section], document, section)
    # Numbers in long lists are many; the names above them are what differs in meaning.
    holder, key = places[int(rng.integers(len(places)))] if rng.random() < 0.5 else _spread(places, rng)
    change = _changes(holder, key)
    change[int(rng.integers(len(change)))](holder, key, rng)


def places_of(value: Any, holder: Any, key: Any) -> list[tuple[Any, Any]]:
    """Return all places, (holder, key), under a value and its own."""
    found = [(holder, key)]
    if isinstance(value, dict):
        for name in value:
            found += places_of(value[name], value, name)
    elif isinstance(value, list):
        for k, item in enumerate(value):
            found += places_of(item, value, k)
    return found


def _spread(places: list[tuple[Any, Any]], rng: np.random.Generator) -> tuple[Any, Any]:
    """Draw a place such that every holder is as likely as any other."""
    holders = list({id(holder): holder for holder, _ in places}.values())
    holder = holders[int(rng.integers(len(holders)))]
    inside = [place for place in places if place[0] is holder]
    return inside[int(rng.integers(len(inside)))]


Change = Callable[[Any, Any, np.random.Generator], None]


def _set(make_value: Callable[[Any], Any]) -> Change:
    def change(holder: Any, key: Any, rng: np.random.Generator) -> None:
        before = holder[key]
        holder[key] = make_value(before)
        if holder[key] == before and type(holder[key]) is type(before) and str(holder[key]) == str(before):
            raise UnfitError("nothing changed")

    return change


def _ulp(up: bool) -> Change:
    return _set(lambda x: math.nextafter(float(x), math.inf if up else -math.inf))


NUMBER: list[Change] = [
    _set(lambda x: -x),
    _set(lambda x: 0 * x),
    _set(lambda x: 2 * x),
    _set(lambda x: x / 2),
    _set(lambda x: 10 * x),
    _set(lambda x: x + 1),
    _set(lambda x: x - 1),
    _set(lambda x: float(x) * 1e300),
    _set(lambda x: float(x) * 1e-300),
    _ulp(True),
    _ulp(False),
]
#: Half as often: what is no number, or none of that size.
NUMBER = NUMBER * 2 + [
    _set(lambda x: math.inf),
    _set(lambda x: -1e308),
    _set(lambda x: 10**400),
    _set(lambda x: 5e-324),
    _set(str),
    _set(lambda x: None),
    _set(lambda x: True),
    _set(lambda x: [x]),
    _set(lambda x: {"float": "nan"}),
    _set(lambda x: {"float": "inf"}),
]

WORD: list[Change] = [
    _set(lambda x: x + "x"),
    _set(lambda x: ""),
    _set(lambda x: x[::-1]),
    _set(lambda x: 0),
    _set(lambda x: None),
    _set(lambda x: [x]),
    _set(lambda x: "balanced"),
    _set(lambda x: x[:-1]),
    _set(lambda x: x.replace("/", "/-")),
    _set(lambda x: "0/1"),
    _set(lambda x: "1/0"),
]

TRUTH: list[Change] = [_set(lambda x: not x), _set(int), _set(lambda x: None), _set(str)]

NOTHING: list[Change] = [
    _set(lambda x: 0.0),
    _set(lambda x: 1.0),
    _set(lambda x: {}),
    _set(lambda x: []),
    _set(lambda x: "x"),
]


def _doubled(holder: Any, key: Any, rng: np.random.Generator) -> None:
    inside = holder[key]
    inside.insert(int(rng.integers(len(inside))), copy.deepcopy(inside[int(rng.integers(len(inside)))]))


def _one_less(holder: Any, key: Any, rng: np.random.Generator) -> None:
    del holder[key][int(rng.integers(len(holder[key])))]


def _swapped(holder: Any, key: Any, rng: np.random.Generator) -> None:
    inside = holder[key]
    i, j = rng.choice(len(inside), 2, replace=False)
    if inside[i] == inside[j]:
        raise UnfitError("both are the same")
    inside[i], inside[j] = inside[j], inside[i]


def _keys_swapped(holder: Any, key: Any, rng: np.random.Generator) -> None:
    inside = holder[key]
    names = list(inside)
    i, j = (names[k] for k in rng.choice(len(names), 2, replace=False))
    inside[i], inside[j] = inside[j], inside[i]


def _key_gone(holder: Any, key: Any, rng: np.random.Generator) -> None:
    names = list(holder[key])
    del holder[key][names[int(rng.integers(len(names)))]]


def _gone(holder: Any, key: Any, rng: np.random.Generator) -> None:
    del holder[key]


def _key_added(holder: Any, key: Any, rng: np.random.Generator) -> None:
    name = str(rng.choice(["margin_", "proven_", "n_mistakes_", "separability_", "x", "coef_", "float", "array"]))
    holder[key][name] = 0.0


MANY: list[Change] = [
    _doubled, _one_less, _swapped, _swapped, _gone,
    _set(lambda x: x[::-1]), _set(lambda x: []), _set(lambda x: None), _set(lambda x: {}), _set(lambda x: 0),
]  # fmt: skip

NAMED: list[Change] = [
    _keys_swapped, _key_gone, _key_added, _gone, _set(lambda x: {}), _set(lambda x: None), _set(list), _set(lambda x: 0)
]  # fmt: skip


def _changes(holder: Any, key: Any) -> list[Change]:
    value = holder[key]
    if isinstance(value, bool):
        return TRUTH
    if isinstance(value, int | float):
        return NUMBER
    if isinstance(value, str):
        return WORD
    if isinstance(value, list):
        return MANY
    return NAMED if isinstance(value, dict) else NOTHING
