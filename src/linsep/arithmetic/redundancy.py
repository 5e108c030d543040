"""Columns that are exact combinations of other columns on all rows: found in floats, confirmed in whole numbers.

Without a penalty they leave the coefficients open, though not the objective: whatever all columns can do, those that
are left can do as well. A QR factorisation says which columns lie (nearly) in the span of those before them, the
intercept's column of ones first, and with what coefficients; these are read as fractions, and multiplied out on every
row exactly. What comes out in floats only is *nearly* redundant, which is another matter: its coefficient is determined
by the last digits of the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.linalg

from .._common.types import BoolArray, FloatArray
from .._common.words import combination, phrase, quoted
from .._core import is_sparse
from .enclosure import blocks
from .exact import Clock, ProofTimeoutError, depends
from .rational import columns_as_combinations, pivots, to_whole

Combination = dict[int, Fraction]

#: A column is looked at closely if no more than this share of its length is left beside those before it.
NEAR = 1e-6
#: Coefficients are read as fractions with denominators up to this.
DENOMINATOR = 10**6
#: What is left of a column that is a combination, by rounding: a share of its length.
ROUNDING = 1e-12
#: A term that is no more than this share of the column is taken for rounding.
NEGLIGIBLE = 1e-9
#: Of more columns than this nobody looks.
MANY_FEATURES = 5000
#: Exact systems are solved for up to this many columns, of numbers with up to this many bits, and with this much work:
#: of longer numbers no relation but a simple one holds on many rows.
EXACT_COLUMNS, EXACT_BITS, EXACT_WORK = 300, 32, 2e9
#: After so many columns that are nearly redundant nobody looks any further.
MOST_NEARLY = 20


@dataclass(frozen=True)
class Near:
    """A column that is nearly a combination of others."""

    column: int
    others: tuple[int, ...]  # those with the largest shares in it, at most three; column d is the constant
    left: float  # what the others leave of it, as a share of its length

    def in_words(self, names: Sequence[str]) -> str:
        """Return the sentence."""
        digits = min(16, round(-np.log10(max(self.left, 1e-16))))
        same = "the same as" if len(self.others) == 1 else "a combination of"
        of = f"{same} {phrase([_name(j, names) for j in self.others])}"
        return f"column {_name(self.column, names)} is nearly {of}: about {digits} of their 16 digits agree"


@dataclass(frozen=True)
class Redundancy:
    """Which columns are combinations of others.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 2.0], [1.0, 0.0, 2.0], [1.0, 0.0, 2.0]])
    >>> found = find_redundancy(X, intercept=True)
    >>> found.in_words(["yes", "no", "two"])
    ['no = 1 − yes', 'two = 2']
    """

    d: int  # how many columns there are; column d is the intercept's constant
    combinations: dict[int, Combination] = field(default_factory=dict)  # of columns that are not redundant themselves
    nearly: list[Near] = field(default_factory=list)  # columns that come out as combinations in floats, and are not
    looked: bool = True  # whether anybody has: of more columns than rows, or of very many, nobody does

    def __bool__(self) -> bool:
        return bool(self.combinations)

    def relations(self, names: Sequence[str] | None = None) -> dict[str, str]:
        """Return what each redundant column is, by name."""
        names = [f"x{j}" for j in range(self.d)] if names is None else names
        shown = [quoted(str(name)) for name in names]
        return {
            str(names[j]): combination(others, len(names), shown.__getitem__)
            for j, others in sorted(self.combinations.items())
        }

    def in_words(self, names: Sequence[str] | None = None) -> list[str]:
        """Return the relations, one text for each redundant column."""
        return [f"{quoted(name)} = {relation}" for name, relation in self.relations(names).items()]

    def least_norm(self, theta: FloatArray) -> FloatArray:
        """Return the coefficients of least length that say the same of every row; the last entry may be an intercept.

        Every redundant column gives a direction that changes no score: 1 for itself, minus its combination for the
        others. Those directions are added that make Σ wⱼ² least, the intercept not counted.
        """
        if not self.combinations:
            return theta
        N = np.zeros((len(theta), len(self.combinations)))
        for k, (j, others) in enumerate(sorted(self.combinations.items())):
            N[j, k] = 1.0
            for i, factor in others.items():
                N[i, k] = -float(factor)
        weights = N[: self.d]
        t = scipy.linalg.lstsq(weights, theta[: self.d], check_finite=False)[0]
        return np.asarray(theta - N @ t)


def _name(j: int, names: Sequence[str]) -> str:
    return quoted(str(names[j])) if j < len(names) else "the intercept"


def find_redundancy(X: Any, *, intercept: bool, counted: BoolArray | None = None) -> Redundancy:
    """Return which columns are exact combinations of others, earlier ones (and the intercept) being kept.

    X may be dense, sparse or read block by block; the intercept is a column d of ones. All rows are `counted`, if None.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    >>> find_redundancy(X, intercept=True).combinations
    {1: {0: Fraction(2, 1)}}
    """
    data = _Columns(X, intercept, counted)
    if data.n < data.size or data.d > MANY_FEATURES:
        return Redundancy(data.d, looked=False)
    triangle = data.triangle()
    lengths = np.linalg.norm(triangle, axis=0)
    suspect = np.abs(np.diag(triangle)) <= NEAR * lengths
    waiting, kept = np.flatnonzero(suspect).tolist(), np.flatnonzero(~suspect).tolist()
    combinations: dict[int, Combination] = {}
    nearly: list[Near] = []
    while waiting and len(nearly) < MOST_NEARLY:
        shares, left = _shares(triangle, lengths, kept, waiting)
        for place, share, rest in zip(list(waiting), shares.T, left.tolist(), strict=True):
            waiting.remove(place)
            with np.errstate(over="ignore", invalid="ignore"):  # what no float holds is not confirmed
                factors = share * (lengths[place] / data.scale[place] / lengths[kept] * data.scale[kept])
            found = data.confirmed(place, kept, share, factors) if rest <= ROUNDING else None
            if found is None:  # it joins those that are kept, and the others are looked at anew
                nearly.append(_near(data, place, kept, share, rest))
                kept = sorted([*kept, place])
                break
            combinations[data.column(place)] = found
    return Redundancy(data.d, combinations, nearly)


def _shares(
    triangle: FloatArray, lengths: FloatArray, kept: list[int], places: list[int]
) -> tuple[FloatArray, FloatArray]:
    """Return columns' coefficients on those that are kept, all of length one, and the share of each that is left."""
    unit = np.divide(triangle, lengths, out=np.zeros_like(triangle), where=lengths > 0)
    A, targets = unit[:, kept], unit[:, places]
    if not kept:
        return np.zeros((0, len(places))), np.linalg.norm(targets, axis=0)
    shares = np.asarray(scipy.linalg.lstsq(A, targets, check_finite=False)[0])
    return shares, np.linalg.norm(targets - A @ shares, axis=0)


def _near(data: _Columns, place: int, kept: list[int], shares: FloatArray, left: float) -> Near:
    main = sorted(np.argsort(-np.abs(shares), kind="stable")[:3].tolist())
    return Near(data.column(place), tuple(data.column(kept[k]) for k in main if abs(shares[k]) > 0.01), left)


class _Columns:
    """The columns of [1, X], or of X, on the rows that count; a *place* is a number among them."""

    def __init__(self, X: Any, intercept: bool, counted: BoolArray | None) -> None:
        self.X, self.intercept = X, intercept
        self.counted = None if counted is None or counted.all() else counted
        self.n = X.shape[0] if self.counted is None else int(self.counted.sum())
        self.d = X.shape[1]
        self.size = self.d + intercept
        self.scale = np.ones(self.size)

    def column(self, place: int) -> int:
        """Return the number of the column at a place."""
        return (place - 1 if place else self.d) if self.intercept else place

    def _rows(self) -> Iterator[FloatArray]:
        """Yield dense rows, the constant's 1 first."""
        for part, block in blocks(self.X, dense=True):
            dense = np.asarray(block.toarray() if is_sparse(block) else block, dtype=np.float64)
            dense = dense if self.counted is None else dense[self.counted[part]]
            yield np.hstack([np.ones((len(dense), 1)), dense]) if self.intercept else dense

    def triangle(self) -> FloatArray:
        """Return the triangular factor of the columns, each scaled by a power of two."""
        largest = np.zeros(self.size)
        for rows in self._rows():
            largest = np.maximum(largest, np.abs(rows).max(axis=0, initial=0.0))
        self.scale = np.ldexp(1.0, np.clip(-np.frexp(largest)[1], -1000, 1000))
        found = np.zeros((0, self.size))
        for rows in self._rows():
            stacked = np.vstack([found, rows * self.scale])
            found = scipy.linalg.qr(stacked, mode="r", overwrite_a=True, check_finite=False)[0][: self.size]
        return np.asarray(found)

    def confirmed(self, place: int, kept: list[int], shares: FloatArray, factors: FloatArray) -> Combination | None:
        """Return the combination that a column is on all rows, if it is one: with about those factors."""
        taken = [k for k, share in enumerate(shares) if abs(share) > NEGLIGIBLE]
        if not np.isfinite(factors[taken]).all():
            return None  # what no float is cannot be told, nor projected out
        guess = {kept[k]: Fraction(float(factors[k])).limit_denominator(DENOMINATOR) for k in taken}
        guess = {p: factor for p, factor in guess.items() if factor}
        found = guess if self._holds(place, guess) else self._solved(place, [kept[k] for k in taken])
        return None if found is None else {self.column(p): factor for p, factor in found.items()}

    def _holds(self, place: int, combination: Combination) -> bool:
        """Whether a column is that combination on all rows, exactly."""
        places = [place, *combination]
        factors = list(combination.values())
        floats = np.array([float(factor) for factor in factors])
        try:
            for rows in self._rows():
                some = rows[:, places]
                if len(factors) == 1 and Fraction(floats[0]) == factors[0] and abs(np.frexp(floats[0])[0]) == 0.5:
                    if not np.array_equal(some[:, 0], some[:, 1] * floats[0]):  # a power of two: no rounding
                        return False
                    continue
                size = np.abs(some[:, 1:]) @ np.abs(floats) + np.abs(some[:, 0])
                if (np.abs(some[:, 1:] @ floats - some[:, 0]) > 1e-12 * size).any():
                    return False  # by more than rounding
                others = {k + 1: factor for k, factor in enumerate(factors)}
                if not depends(some, 0, others, intercept=False, clock=Clock(None, EXACT_WORK)):
                    return False
        except ProofTimeoutError:
            return False
        return True

    def _solved(self, place: int, others: list[int]) -> Combination | None:
        """Return the combination by exact equations on as many rows as it takes, if it then holds on all."""
        if len(others) > EXACT_COLUMNS:
            return None
        places, clock = [*others, place], Clock(None, EXACT_WORK)
        some = np.vstack([rows[: 4 * len(places)][:, places] for _, rows in zip(range(8), self._rows(), strict=False)])
        try:
            M, _, c = to_whole(some)
            if max(abs(value).bit_length() for value in M.ravel()) > EXACT_BITS:
                return None
            chosen, columns = pivots(M[:, :-1], clock)
            if len(columns) < len(others):
                return None  # too few rows to tell
            (found,) = columns_as_combinations(M, c, chosen, columns, [len(others)], clock).values()
        except (ProofTimeoutError, ArithmeticError):
            return None
        found = {others[j]: factor for j, factor in found.items()}
        return found if self._holds(place, found) else None
