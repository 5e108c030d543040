"""Values of a JSON document, read as what they have to be: a number that is text is an error that names it."""

from __future__ import annotations

import math
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ClaimError",
    "MissingError",
    "count",
    "entry",
    "flag",
    "items",
    "label",
    "number",
    "optional",
    "packed",
    "section",
    "text",
    "unpacked",
    "whole",
]

T = TypeVar("T")


class ClaimError(Exception):
    """A check that a certificate does not pass; the message says which."""


class MissingError(KeyError, ValueError):
    """An entry that a document lacks; the message names it."""

    def __str__(self) -> str:
        return f"it lacks {self.args[0]!r}: not what linsep wrote"


def number(data: Mapping[str, Any], name: str) -> float:
    """Return a finite number.

    Examples
    --------
    >>> number({"tol": 1}, "tol")
    1.0
    >>> number({"tol": "1"}, "tol")
    Traceback (most recent call last):
    ...
    ValueError: tol is '1', which is no finite number
    """
    value = _value(data, name, "no finite number", int, float, np.integer, np.floating)
    if not math.isfinite(value):
        raise ValueError(f"{name} is {value!r}, which is no finite number")
    return float(value)


def whole(data: Mapping[str, Any], name: str) -> int:
    """Return a whole number."""
    return int(_value(data, name, "no whole number", int, np.integer))


def count(data: Mapping[str, Any], name: str) -> int:
    """Return a whole number, zero or more."""
    value = whole(data, name)
    if value < 0:
        raise ValueError(f"{name} is {value}, which is below zero")
    return value


def flag(data: Mapping[str, Any], name: str) -> bool:
    """Return True or False."""
    return bool(_value(data, name, "neither true nor false", bool, np.bool_))


def text(data: Mapping[str, Any], name: str) -> str:
    """Return a text."""
    return str(_value(data, name, "no text", str))


def label(data: Mapping[Any, Any], name: Any) -> Any:
    """Return the label of a class: text, a number, or a truth value."""
    value = entry(data, name)
    if not isinstance(value, str | int | float | bool):
        raise ValueError(f"{value!r} is no label of a class")
    return value


def optional(data: Mapping[str, Any], name: str, read: Callable[..., T], *how: Any) -> T | None:
    """Return what is read in that way, or None where the entry is null.

    Examples
    --------
    >>> optional({"points": None}, "points", items, whole) is None
    True
    """
    return None if entry(data, name) is None else read(data, name, *how)


def items(data: Mapping[str, Any], name: str, read: Callable[[Mapping[Any, Any], Any], T]) -> list[T]:
    """Return a list of things that are each read in that way.

    Examples
    --------
    >>> items({"points": [3, 4]}, "points", whole)
    [3, 4]
    """
    return [read({name: value}, name) for value in _value(data, name, "no list", list, tuple)]


def section(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return an object."""
    value: Mapping[str, Any] = _value(data, name, "no object", Mapping)
    return value


def entry(data: Mapping[Any, Any], name: Any) -> Any:
    """Return whatever it is.

    Examples
    --------
    >>> entry({"tol": 1e-4}, "coef")
    Traceback (most recent call last):
    ...
    linsep._common.reading.MissingError: it lacks 'coef': not what linsep wrote
    """
    if not isinstance(data, Mapping):
        raise ValueError(f"{data!r} is no object with {name!r} in it")
    if name not in data:
        raise MissingError(name)
    return data[name]


def packed(values: NDArray[Any], kind: str) -> str:
    """Return numbers of a kind as base64 (RFC 4648), which `unpacked` reads.

    Examples
    --------
    >>> packed(np.array([1, 2]), "<u2"), unpacked({"rows": "AQACAA=="}, "rows", "<u2")
    ('AQACAA==', array([1, 2], dtype=uint16))
    """
    return b64encode(np.ascontiguousarray(values, dtype=kind).data).decode("ascii")


def unpacked(data: Mapping[str, Any], name: str, kind: str) -> NDArray[Any]:
    """Return numbers of a kind that `packed` wrote."""
    return np.frombuffer(b64decode(text(data, name), validate=True), dtype=kind)


def _value(data: Mapping[str, Any], name: str, otherwise: str, *kinds: type) -> Any:
    """Return a value of these kinds; True and False are numbers to Python alone."""
    value = entry(data, name)
    if not isinstance(value, kinds) or (isinstance(value, bool | np.bool_) and bool not in kinds):
        raise ValueError(f"{name} is {value!r}, which is {otherwise}")
    return value
