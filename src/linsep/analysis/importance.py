"""Importance: how much a feature, or a column of the file, moves the score in some rows, the same wherever it is told.

A feature j adds w_j x_j to the score, whose standard deviation over the rows is |w_j|·sd(x_j). A column of which
several features are made adds their sum: the levels of a category, the words of a text. Rows count as in the fit: one
that stands for n of them as those n would.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._common.types import FloatArray, IntArray
from ..arithmetic.moments import Moments, deviations, in_blocks

#: How many a file keeps.
DIGITS = 4
#: In a sentence.
MEANING = "importance: the standard deviation of what it adds to the score, over the rows of the fit"


@dataclass(frozen=True)
class Importance:
    """What rows of a fit say."""

    spread: FloatArray  # the standard deviation of each feature
    columns: dict[str, FloatArray]  # of each column of the file with several features, the importance in each plane

    def of_features(self, coef: FloatArray) -> FloatArray:
        """Return the importance of each feature in each plane; infinite where a coefficient is."""
        return np.asarray(np.abs(coef) * np.where(np.isinf(coef), 1.0, self.spread))

    def of_columns(self, coef: FloatArray, origins: Sequence[str]) -> dict[str, FloatArray]:
        """Return the importance of each column in each plane; the features of a column have its name as origin."""
        single = self.of_features(coef)
        found = {name: self.columns.get(name, single[:, j]) for j, name in reversed(list(enumerate(origins)))}
        for j in np.flatnonzero(np.isinf(single).any(axis=0)).tolist():  # what a column adds with it is infinite, too
            found[origins[j]] = np.where(np.isinf(single[:, j]), np.inf, found[origins[j]])
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON, in few digits."""
        return {"features": _short(self.spread), "columns": {name: _short(one) for name, one in self.columns.items()}}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], shape: tuple[int, ...]) -> Importance:
        """Read what `to_dict` wrote, for planes of that shape; raise for anything else."""
        spread = np.array(data["features"], dtype=np.float64)
        columns = {str(name): np.array(one, dtype=np.float64) for name, one in data["columns"].items()}
        if spread.shape != shape[1:] or any(one.shape != shape[:1] for one in columns.values()):
            raise ValueError("one number for each feature, and for each plane, was expected")
        if not all(np.isfinite(one).all() and (one >= 0).all() for one in (spread, *columns.values())):
            raise ValueError("a standard deviation is a number from 0")
        return cls(spread, columns)


def _short(values: FloatArray) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in values.tolist()]


def odds_ratio(coefficient: float) -> float:
    """Return by what the odds are multiplied where a column is one unit more; ∞ beyond what a float holds."""
    with np.errstate(over="ignore"):
        return float(np.exp(coefficient))


def written(ratio: float) -> str:
    """Return a ratio of odds in few digits, but more where they are nearly even.

    Examples
    --------
    >>> written(odds_ratio(0.0003125)), written(odds_ratio(2.0))
    ('1.00031', '7.389')
    """
    return f"{ratio:.6g}" if abs(ratio - 1) < 0.1 else f"{ratio:.4g}".replace("inf", "∞")


def importance(
    X: Any,
    coef: FloatArray,
    origins: Sequence[str],
    spread: FloatArray | None = None,
    weight: FloatArray | None = None,
) -> Importance:
    """Return what rows in memory, of these weights, say; the standard deviations of their features may be known.

    Examples
    --------
    >>> X, coef = np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 1.0]]), np.array([[3.0, 1.0, -1.0]])
    >>> found = importance(X, coef, ["age", "town", "town"])
    >>> found.of_features(coef)
    array([[3. , 0.5, 0.5]])
    >>> found.of_columns(coef, ["age", "town", "town"])
    {'town': array([1.]), 'age': array([3.])}
    """
    columns = ColumnSums(coef, origins)
    for rows, own in in_blocks(X, weight) if columns.groups else ():
        columns.add(rows, own)
    return Importance(deviations(X, weight) if spread is None else spread, columns.result())


class ColumnSums:
    """The importance of columns with several features, from rows some at a time."""

    def __init__(self, coef: FloatArray, origins: Sequence[str]) -> None:
        places: dict[str, list[int]] = {}
        for j, name in enumerate(origins):
            places.setdefault(name, []).append(j)
        self.groups: dict[str, IntArray] = {name: np.array(own) for name, own in places.items() if len(own) > 1}
        self._coef, self._moments = coef, {name: Moments() for name in self.groups}

    def add(self, X: Any, weight: FloatArray | None = None) -> None:
        """Go on with the next rows."""
        for name, own in self.groups.items():
            self._moments[name].add(np.asarray(X[:, own] @ self._coef[:, own].T), weight)

    def __add__(self, other: ColumnSums) -> ColumnSums:
        """Return what the rows of both say."""
        both = copy.copy(self)
        both._moments = {name: one + other._moments[name] for name, one in self._moments.items()}
        return both

    def result(self) -> dict[str, FloatArray]:
        """Return what all rows so far say."""
        return {name: one.deviations() for name, one in self._moments.items()}


class ImportanceSums:
    """What rows say, some at a time."""

    def __init__(self, coef: FloatArray, origins: Sequence[str]) -> None:
        self._features, self._columns = Moments(), ColumnSums(coef, origins)

    def add(self, X: Any, weight: FloatArray | None = None) -> None:
        """Go on with the next rows."""
        self._features.add(X, weight)
        self._columns.add(X, weight)

    def __add__(self, other: ImportanceSums) -> ImportanceSums:
        """Return what the rows of both say."""
        both = copy.copy(self)
        both._features, both._columns = self._features + other._features, self._columns + other._columns
        return both

    def result(self) -> Importance:
        """Return what all rows so far say."""
        return Importance(self._features.deviations(), self._columns.result())
