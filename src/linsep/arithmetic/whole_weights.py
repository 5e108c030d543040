"""Weights of examples as whole numbers of a common unit, so that their sums and the order of those are exact."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, inf, lcm, nextafter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.types import FloatArray, IntArray

#: Sums below this stay within 64 bits.
LARGE = 2**62


@dataclass(frozen=True, eq=False)
class WholeWeights:
    """The weights sᵢ = numbersᵢ · unit.

    Examples
    --------
    >>> weights = WholeWeights.of([0.5, 1.5, 0.0])
    >>> weights.numbers, weights.unit
    (array([1, 3, 0]), Fraction(1, 2))
    >>> WholeWeights.of([1e16, 1.0, 1e-16]).total > 10**40
    True
    """

    numbers: NDArray[Any]  # whole: in 64 bits where their sum fits, else Python's own; sums of either are exact
    unit: Fraction

    @classmethod
    def of(cls, weights: Iterable[float | Fraction] | FloatArray) -> WholeWeights:
        """Return the weights as multiples of the largest unit that all of them are multiples of."""
        if isinstance(weights, np.ndarray) and weights.dtype.kind == "f":
            few, places = np.unique(weights, return_inverse=True)  # most data have few different weights
            ratios = [value.as_integer_ratio() for value in few.tolist()]
        else:
            ratios = [Fraction(value).as_integer_ratio() for value in weights]
            places = np.arange(len(ratios))
        common = lcm(*(denominator for _, denominator in ratios))
        whole = [numerator * (common // denominator) for numerator, denominator in ratios]
        divisor = gcd(*whole) or 1
        numbers = np.empty(len(whole), dtype=object)
        numbers[:] = [number // divisor for number in whole]
        numbers = numbers[places.reshape(-1)]
        packed = numbers.astype(np.int64) if sum(numbers.tolist()) < LARGE else numbers
        return cls(packed, Fraction(divisor, common))

    @property
    def total(self) -> int:
        """Their sum, in units."""
        return int(self.numbers.sum())

    def grouped(self, groups: IntArray, count: int) -> WholeWeights:
        """Return the sum of the weights in each of so many groups."""
        sums = np.zeros(count, dtype=self.numbers.dtype)
        np.add.at(sums, groups, self.numbers)
        return WholeWeights(sums, self.unit)

    def where(self, chosen: NDArray[Any]) -> int:
        """Return the sum of those that a mask or places choose, in units."""
        return int(self.numbers[chosen].sum())

    def value(self, units: int) -> Fraction:
        """Return a sum of weights as it is."""
        return units * self.unit

    @property
    def scale(self) -> int:
        """The power of two that makes the largest about one, in units."""
        most = int(self.numbers.max()) if len(self.numbers) else 1
        return 1 << max(0, most.bit_length() - 1)

    def about(self) -> FloatArray:
        """Return them divided by the scale, each to the nearest float: for hints, not for proofs."""
        scale = self.scale
        return np.array([number / scale for number in self.numbers.tolist()])


def nearest_float(value: Fraction) -> float:
    """Return the float nearest to a number, infinity beyond all of them.

    Examples
    --------
    >>> nearest_float(Fraction(1, 3)), nearest_float(Fraction(10) ** 400)
    (0.3333333333333333, inf)
    """
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return inf if value > 0 else -inf


def two_claims(cost: Fraction, bound: Fraction) -> tuple[float, float]:
    """Return in floats what a plane's mistakes weigh and what no plane goes below: equal only if the bound meets it.

    The first is rounded to nearest, the second, unless the two are one, down.

    Examples
    --------
    >>> two_claims(Fraction(3, 10), Fraction(3, 10)), two_claims(Fraction(2**60 + 1), Fraction(2**60))
    ((0.3, 0.3), (1.152921504606847e+18, 1.1529215046068468e+18))
    """
    made = nearest_float(cost)
    if bound >= cost:
        return made, made
    lower = nearest_float(bound)
    if lower == inf or Fraction(lower) > bound:
        lower = nextafter(lower, -inf)
    return made, min(lower, nextafter(made, -inf))
