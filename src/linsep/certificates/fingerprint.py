"""What a fit remembers of its data and of its planes, to know them again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import _reading as reading
from ..arithmetic.enclosure import gamma
from ..objective.objective import Objective


def digest(coef: ArrayLike, intercept: ArrayLike) -> str:
    """Return a short text that changes with any bit of the planes, one row each; or of the only plane.

    Examples
    --------
    >>> digest([1.0, 2.0], 3.0) == digest([[1.0, 2.0]], [3.0]), digest([1.0], 0.0) == digest([1.0], -0.0)
    (True, False)
    """
    numbers = np.column_stack([np.atleast_2d(coef), np.ravel(intercept)]).astype("<f8")
    return hashlib.sha256(np.ascontiguousarray(numbers).data).hexdigest()[:32]


@dataclass(frozen=True)
class Fingerprint:
    """Sizes, the squared lengths of each class's rows, the sum of the weights.

    All are sums of terms of one sign, so that they come out the same up to rounding wherever they are computed. The
    classes of one plane are two: its own, then the rest.
    """

    n: int
    d: int
    squares: tuple[float, ...]
    weight: float

    @classmethod
    def of(cls, problem: Objective) -> Self:
        """Return the fingerprint of the problem's data."""
        return cls(problem.n, problem.d, _squares(problem), problem.total_weight)

    def to_dict(self) -> dict[str, Any]:
        """Return that of one plane's data in terms of JSON."""
        positive, negative = self.squares
        return {"n": self.n, "d": self.d, "positive": positive, "negative": negative, "weight": self.weight}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        positive, negative, weight = (reading.number(data, name) for name in ("positive", "negative", "weight"))
        return cls(reading.whole(data, "n"), reading.whole(data, "d"), (positive, negative), weight)

    def differs(self, other: Fingerprint) -> str:
        """Return in what the other's data differ, or nothing."""
        if (self.n, self.d) != (other.n, other.d):
            return f"the data have {other.n} rows of {other.d} columns, the fit had {self.n} of {self.d}"
        if len(self.squares) != len(other.squares):
            return f"the data have {len(other.squares)} classes, the fit had {len(self.squares)}"
        error = 4 * gamma(self.n + self.d + 8)
        slack = error * sum(self.squares)
        if any(abs(one - two) > slack for one, two in zip(self.squares, other.squares, strict=True)):
            return "the rows (or their labels) are not those of the fit"
        if abs(self.weight - other.weight) > error * self.weight:
            return "the weights of the examples are not those of the fit"
        return ""


def _squares(problem: Objective) -> tuple[float, ...]:
    if problem.head.planes is not None:
        return tuple(problem.squares.tolist())
    if problem.examples.resident is None:
        own, everything = float(problem.squares[problem.positive]), float(problem.squares.sum())
        return own, everything - own
    norms = problem.rows.squared_norms()
    everything, difference = float(norms.sum()), float(np.einsum("i,i->", norms, problem.y))
    return (everything + difference) / 2, (everything - difference) / 2
