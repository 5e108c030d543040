"""Importance: how much a feature, or a column of the file, moves the score in some rows, the same wherever it is told.

A feature j adds w_j x_j to the score, whose standard deviation over the rows is |w_j|·sd(x_j). A column of which
several features are made adds their sum: the levels of a category, the words of a text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._types import FloatArray, IntArray
from ..arithmetic.moments import Moments

#: Rows that are looked at together, and digits that a file keeps.
ROWS, DIGITS = 4096, 4
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
    return [float(f"{value:.{DIGITS}g}") for value in values]


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


def importance(X: Any, coef: FloatArray, origins: Sequence[str]) -> Importance:
    """Return what rows in memory say.

    Examples
    --------
    >>> X, coef = np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 1.0]]), np.array([[3.0, 1.0, -1.0]])
    >>> found = importance(X, coef, ["age", "town", "town"])
    >>> found.of_features(coef)
    array([[3. , 0.5, 0.5]])
    >>> found.of_columns(coef, ["age", "town", "town"])
    {'town': array([1.]), 'age': array([3.])}
    """
    sums = ImportanceSums(coef, origins)
    for first in range(0, X.shape[0], ROWS):
        sums.add(X[first : first + ROWS])
    return sums.result()


class ImportanceSums:
    """The same from rows some at a time."""

    def __init__(self, coef: FloatArray, origins: Sequence[str]) -> None:
        names, group, size = np.unique(np.asarray(origins, dtype=object), return_inverse=True, return_counts=True)
        self._coef = coef
        self._groups: dict[str, IntArray] = {
            str(names[g]): np.flatnonzero(group == g) for g in np.flatnonzero(size > 1)
        }
        self._features, self._columns = Moments(), {name: Moments() for name in self._groups}

    def add(self, X: Any) -> None:
        """Go on with the next rows."""
        self._features.add(X)
        for name, own in self._groups.items():
            self._columns[name].add(np.asarray(X[:, own] @ self._coef[:, own].T))

    def result(self) -> Importance:
        """Return what all rows so far say."""
        return Importance(self._features.deviations(), {name: one.deviations() for name, one in self._columns.items()})
