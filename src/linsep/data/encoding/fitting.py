"""What an encoding makes of counts: mean and scale of numbers, levels of categories and their spellings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..._common.types import FloatArray

#: Levels that stand for a missing value, and for those too rare to have a weight of their own.
MISSING, OTHER = "(missing)", "(other)"
#: What the levels of weekdays are called.
WEEKDAYS = {
    str(k): f"{k} ({day})"
    for k, day in enumerate(("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"))
}


class Standard(NamedTuple):
    """How a column of numbers becomes a feature, (x − mean)/scale, in the units of the file.

    `lacking` says whether the training rows lacked some, which is a feature then, and `fill` what a missing one counts
    as: the mean of the others, also where numbers are taken as they are (mean 0, scale 1).
    """

    mean: float
    scale: float
    lacking: bool
    fill: float

    @property
    def filled(self) -> float:
        """The feature of a missing number."""
        return (self.fill - self.mean) / self.scale


def mean_and_squares(values: FloatArray) -> tuple[float, float]:
    """Return the mean m and Σ (x − m)², corrected by Σ (x − m), which rounding keeps from being 0.

    With `scale_of` this is scikit-learn's `StandardScaler` to the last bit, as the tests see to. To load that one takes
    longer than all else that is done with a column of numbers.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # infinite or NaN then, as `Moments` tells
        mean = values.sum() / len(values)
        deviations = values - mean
        correction = deviations.sum()
        deviations **= 2
        return float(mean), float(deviations.sum() - correction**2 / len(values))


def scale_of(n: int, mean: float, squares: float) -> float:
    """Return the deviation of n numbers with that mean and sum of squares; 1 where it is no more than rounding."""
    variance, eps = squares / n, float(np.finfo(np.float64).eps)
    rounding = n * eps * variance + min(abs(n * mean * eps), 1e150) ** 2
    return 1.0 if variance <= rounding else float(np.sqrt(variance))


def _least(n: int) -> int:
    """Return how often a value has to occur among n rows for a weight of its own."""
    return 1 if n < 100 else max(2, n // 10_000)


def rows_of_rare(counts: Mapping[str, int], n: int) -> int:
    """Return how many of n rows have a value that is too rare for a weight of its own."""
    return sum(count for count in counts.values() if count < _least(n))


def levels_of(counts: Mapping[str, int], n: int, *, lacking: bool) -> list[str]:
    """Return the values that are frequent among n rows, in order, and what stands for rare and missing ones."""
    kept = sorted(value for value, count in counts.items() if count >= _least(n))
    if not kept:
        return []
    rare = len(kept) < len(counts)
    return list(dict.fromkeys([*kept, *([OTHER] if rare else []), *([MISSING] if lacking else [])]))


def level_called(feature: str, level: str) -> str:
    """Return what a level is called: those of weekdays are numbers with their names.

    Examples
    --------
    >>> level_called("weekday of born", "0")
    '0 (Monday)'
    """
    return WEEKDAYS.get(level, level) if feature.startswith("weekday of ") else level


def spellings(levels: Sequence[str]) -> dict[str, int]:
    """Return the number of the level that a value stands for, also as other programs write the same value.

    A whole number is 1 or, where the column had gaps, 1.0; a truth value True, true, TRUE or 1.

    Examples
    --------
    >>> spellings(["1", "2.0", "Ede"])
    {'1': 0, '2.0': 1, 'Ede': 2, '1.0': 0, '2': 1}
    >>> spellings(["False"])["false"]
    0
    """
    found = {level: k for k, level in enumerate(levels)}
    plain = [level for level in levels if level not in (OTHER, MISSING)]
    truths = {level.lower() for level in plain} <= {"true", "false"}
    for level in plain:
        number = level.removesuffix(".0")
        others = [number, f"{number}.0"] if re.fullmatch(r"-?[0-9]+", number) else []
        if truths:
            word = level.lower()
            others = [word, word.title(), word.upper(), *(("1", "1.0") if word == "true" else ("0", "0.0"))]
        for other in others:
            found.setdefault(other, found[level])
    return found
