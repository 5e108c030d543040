"""What training rows say of a column: mean and scale of numbers, levels of categories, words of text and their idf."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..._core import in_threads
from ..._types import FloatArray
from ..sources import DataError
from .column_types import FEW

#: Numbers as they come: those with missing values as floats.
Numbers = NDArray[Any]
#: Levels that stand for a missing value, and for those too rare to have a weight of their own.
MISSING, OTHER = "(missing)", "(other)"


def moments_of(numbers: Mapping[str, Numbers]) -> dict[str, tuple[float, float, bool]]:
    """Return mean, scale and whether some are missing, of every number."""
    found: list[tuple[float, float, bool]] = [(0.0, 1.0, False)] * len(numbers)
    names, columns = list(numbers), list(numbers.values())

    def measure(j: int) -> None:
        values = columns[j].astype(np.float64, copy=False)
        given = values[~np.isnan(values)] if columns[j].dtype.kind == "f" else values
        if not len(given):
            raise DataError(f"column {names[j]!r} has no numbers; leave it out with --ignore {names[j]!r}")
        mean, squares = mean_and_squares(given)
        found[j] = mean, scale_of(len(given), mean, squares), len(given) < len(values)

    in_threads(measure, range(len(names)))
    return dict(zip(names, found, strict=True))


def mean_and_squares(values: FloatArray) -> tuple[float, float]:
    """Return the mean m and Σ (x − m)², corrected by Σ (x − m), which rounding keeps from being 0.

    With `scale_of` this is scikit-learn's `StandardScaler` to the last bit, as the tests see to. To load that one takes
    longer than all else that is done with a column of numbers.
    """
    mean = values.sum() / len(values)
    deviations = values - mean
    correction = deviations.sum()
    with np.errstate(over="ignore"):
        deviations **= 2
        return float(mean), float(deviations.sum() - correction**2 / len(values))


def scale_of(n: int, mean: float, squares: float) -> float:
    """Return the deviation of n numbers with that mean and sum of squares; 1 where it is no more than rounding."""
    variance, eps = squares / n, float(np.finfo(np.float64).eps)
    rounding = n * eps * variance + min(abs(n * mean * eps), 1e150) ** 2
    return 1.0 if variance <= rounding else float(np.sqrt(variance))


def levels_of_values(values: pa.ChunkedArray) -> list[str]:
    """Return the levels that occur often enough, in alphabetical order, and what stands for the rest."""
    counts = {pair["values"]: pair["counts"] for pair in values.drop_null().value_counts().to_pylist()}
    return levels_of(counts, len(values), lacking=values.null_count > 0)


def levels_of(counts: Mapping[str, int], n: int, *, lacking: bool) -> list[str]:
    """Return the same from how often each value occurs among n rows, and whether some have none."""
    least = 1 if n < 100 else max(2, n // 10_000)
    kept = sorted(value for value, count in counts.items() if count >= least)
    if not kept:
        return []
    rare = len(kept) < len(counts)
    return list(dict.fromkeys([*kept, *([OTHER] if rare else []), *([MISSING] if lacking else [])]))


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


def vocabulary(texts: list[str]) -> tuple[list[str], list[float]] | None:
    """Return the words and their idf; None where no word occurs twice."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=2 if len(texts) > FEW else 1).fit(texts)
    except ValueError:  # an empty vocabulary
        return None
    return [str(word) for word in vectorizer.get_feature_names_out()], [float(value) for value in vectorizer.idf_]
