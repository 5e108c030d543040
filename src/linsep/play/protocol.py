"""The protocol between page and server, version 1: JSON messages over a WebSocket, each question with its answer.

A question is ``{"v": 1, "id": 7, "do": "fit", …}``; its answer has the same ``id`` and a ``kind``: what was asked for,
``"refused"`` (it cannot be done, and ``why`` says so for people) or ``"error"`` (the message itself was wrong). Numbers
are finite; a message is bounded in bytes, and so is every list in it. Whatever is wrong with a message ends that
question and nothing else.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._common.types import BoolArray, FloatArray
from .errors import RefusedError

VERSION = 1
#: Bytes of a message, points in it, the largest number among them, and letters of a name.
MOST_BYTES, MOST_POINTS, LARGEST, LONGEST = 4_000_000, 20_000, 1e9, 80
#: What can be asked, and which entries each question has beside v, id and do.
QUESTIONS = {
    "hello": (),
    "fit": ("points", "names", "file", "method", "features", "window", "steps", "draft", "surface"),
    "separability": ("points", "names", "file", "features", "intercept"),
    "planes": ("points", "names", "file", "methods", "features"),
    "judge": ("points", "plane"),
    "download": ("points", "names", "file", "method", "features", "what", "window"),
    "columns": ("file", "target", "columns"),
    "digit": ("pixels", "method"),
    "landscape": ("function",),
    "descend": ("function", "start", "eta", "schedule", "steps"),
}


class MalformedError(ValueError):
    """A message that is none of the protocol's; `id` is its question's number where that could be read."""

    def __init__(self, why: str, number: int | None = None) -> None:
        super().__init__(why)
        self.id = number


@dataclass(frozen=True)
class Question:
    """What a page asks."""

    id: int
    do: str
    body: Mapping[str, Any]


def read(message: str | bytes) -> Question:
    """Return the question of a message.

    Examples
    --------
    >>> read('{"v": 1, "id": 3, "do": "hello"}')
    Question(id=3, do='hello', body={})
    >>> read('{"v": 1, "id": 3, "do": "fit", "steps": NaN}')
    Traceback (most recent call last):
    linsep.play.protocol.MalformedError: NaN is no number
    """
    if len(message) > MOST_BYTES:
        raise MalformedError(f"a message of {len(message):,} bytes; at most {MOST_BYTES:,} are read")
    try:
        record = json.loads(message, parse_constant=_no_number)
    except RecursionError:
        raise MalformedError("the message is nested too deeply") from None
    except ValueError as error:
        raise error if isinstance(error, MalformedError) else MalformedError("the message is not JSON") from None
    if not isinstance(record, dict):
        raise MalformedError("a message is a JSON object")
    number = record.pop("id", None)
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 2**53:
        raise MalformedError("a message has an id, a whole number")
    if (version := record.pop("v", None)) != VERSION:
        raise MalformedError(
            f"this server speaks version {VERSION}, not {str(version)[:20]!r}; load the page again", number
        )
    do = record.pop("do", None)
    if not isinstance(do, str) or do not in QUESTIONS:
        raise MalformedError(f"{str(do)[:40]!r} is none of the questions {', '.join(QUESTIONS)}", number)
    for name in record:
        if name not in QUESTIONS[do]:
            raise MalformedError(f"{do} has no entry {name[:40]!r}", number)
    return Question(number, do, record)


def _no_number(name: str) -> Any:
    raise MalformedError(f"{name} is no number")


def write(number: int | None, kind: str, **entries: Any) -> str:
    """Return the message of an answer; a number that is not finite has no place in it.

    Examples
    --------
    >>> write(3, "refused", why="there is one class only")
    '{"v":1,"id":3,"kind":"refused","why":"there is one class only"}'
    """
    record = {"v": VERSION, "id": number, "kind": kind, **entries}
    return json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


# -- parts of a question --------------------------------------------------------------------------------------------


def points(value: Any) -> tuple[FloatArray, BoolArray]:
    """Return the points of a question and which of them are positive: ``{"x": […], "y": […], "positive": […]}``.

    Examples
    --------
    >>> points({"x": [0, 2], "y": [1, 1.5], "positive": [0, 1]})
    (array([[0. , 1. ],
           [2. , 1.5]]), array([False,  True]))
    """
    if not isinstance(value, dict) or set(value) != {"x", "y", "positive"}:
        raise MalformedError("points are {x, y, positive}")
    x, y, positive = (_list(value[name], name) for name in ("x", "y", "positive"))
    if not len(x) == len(y) == len(positive):
        raise MalformedError(f"points have {len(x)} x, {len(y)} y and {len(positive)} classes")
    if any(one not in (0, 1) for one in positive):
        raise MalformedError("a point's class is 0 or 1")
    if not positive:
        raise RefusedError("There are no points yet. Click into the picture to draw some, or choose a preset.")
    return np.column_stack([numbers(x, "x"), numbers(y, "y")]), np.array(positive, dtype=bool)


def names(value: Any) -> list[str]:
    """Return what the two coordinates are called.

    Examples
    --------
    >>> names(None), names(["age", "income"])
    (['x₁', 'x₂'], ['age', 'income'])
    """
    if value is None:
        return ["x₁", "x₂"]
    two = isinstance(value, list) and len(value) == 2 and value[0] != value[1]
    if not two or any(not isinstance(one, str) or not 0 < len(one) <= LONGEST for one in value):
        raise MalformedError(f"names are two different words of at most {LONGEST} letters")
    return list(value)


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list) or len(value) > MOST_POINTS:
        raise MalformedError(f"{name} is a list of at most {MOST_POINTS:,}")
    return value


def numbers(values: list[Any], name: str) -> FloatArray:
    """Return finite numbers of moderate size."""
    if set(map(type, values)) <= {float}:  # thousands of them while a point is dragged: looked at together
        found = np.array(values, dtype=np.float64)
        if np.all(np.abs(found) <= LARGEST):
            return found
    return np.array([number(value, name) for value in values], dtype=np.float64)


def number(value: Any, name: str, low: float = -LARGEST, high: float = LARGEST) -> float:
    """Return one such number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MalformedError(f"{name}: {str(value)[:40]!r} is no number")
    if not low <= value <= high or not math.isfinite(value):
        raise MalformedError(f"{name}: {str(value)[:40]} is not between {low:g} and {high:g}")
    return float(value)


def pair(value: Any, name: str, low: float = -LARGEST, high: float = LARGEST) -> tuple[float, float]:
    """Return two numbers."""
    if not isinstance(value, list) or len(value) != 2:
        raise MalformedError(f"{name} is a list of two numbers")
    return number(value[0], name, low, high), number(value[1], name, low, high)


def window(value: Any) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Return from where to where the picture goes, across and up."""
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 2:
        raise MalformedError("window is [[left, right], [bottom, top]]")
    across, up = pair(value[0], "window"), pair(value[1], "window")
    if not across[0] < across[1] or not up[0] < up[1]:
        raise MalformedError("window goes from left to right and from bottom to top")
    return across, up


def word(value: Any, name: str, words: Mapping[str, Any]) -> str:
    """Return one of several words."""
    if not isinstance(value, str) or value not in words:
        raise MalformedError(f"{name}: {str(value)[:40]!r} is none of {', '.join(words)}")
    return value


def mapping(value: Any, name: str) -> Mapping[str, Any]:
    """Return an object of the message."""
    if not isinstance(value, dict) or len(value) > 40:
        raise MalformedError(f"{name} is an object of a few entries")
    return value
