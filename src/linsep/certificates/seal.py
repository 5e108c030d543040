"""The seal of a fit: which planes it left behind, of which data, and what it minimised; each known by a digest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._common import reading
from .._common.words import many
from ..arithmetic.enclosure import gamma
from ..objective.objective import Objective
from ..objective.statement import Statement, plain
from .outcome import ClaimError


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

    def differs(self, other: Fingerprint) -> str:
        """Return in what the other's data differ, or nothing."""
        if (self.n, self.d) != (other.n, other.d):
            rows, columns = many(other.n, "row"), many(other.d, "column")
            return f"the data have {rows} of {columns}, the fit had {self.n:,} of {self.d:,}"
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


@dataclass(frozen=True)
class Seal:
    """What ties a proof to a plane, its data and its objective; or to the planes of all classes, by softmax."""

    statement: Statement  # of a softmax, whose loss is that of two classes, the logistic one
    classes: tuple[Any, ...]
    positive: int | None  # the class that is +1, all others are −1; None where all planes are one problem, by softmax
    planes: str  # a digest of (w, b)
    data: Fingerprint

    @classmethod
    def of(cls, problem: Objective, result: Any, statement: Statement, classes: ArrayLike, **claimed: Any) -> Self:
        """Return the seal of what was just fitted, and whatever is claimed of it besides."""
        labels, positive = tuple(np.asarray(classes).tolist()), None if problem.head.planes else problem.positive
        planes = digest(np.asarray(result.w, dtype=np.float64).T, result.b)
        return cls(statement, labels, positive, planes, Fingerprint.of(problem), **claimed)

    @property
    def at_once(self) -> bool:
        """Whether it is about the planes of all classes together."""
        return self.positive is None

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        said = {"statement": self.statement.to_dict(), "classes": [plain(label) for label in self.classes]}
        n, d, squares, weight = self.data.n, self.data.d, self.data.squares, self.data.weight
        if self.at_once:
            return {**said, "planes": self.planes, "shape": [n, d], "squares": list(squares), "weight": weight}
        data = {"n": n, "d": d, "positive": squares[0], "negative": squares[1], "weight": weight}
        return {**said, "positive": self.positive, "plane": self.planes, "data": data}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, at_once: bool = False) -> Self:
        """Read what `to_dict` wrote, of one plane or of all `at_once`."""
        statement = Statement.from_dict(reading.section(data, "statement"))
        known = statement, tuple(reading.items(data, "classes", reading.label))
        if at_once:
            n, d = reading.items(data, "shape", reading.whole)
            squares = tuple(reading.items(data, "squares", reading.number))
            found = Fingerprint(n, d, squares, reading.number(data, "weight"))
            return cls(*known, None, reading.text(data, "planes"), found, **cls._claimed(data))
        of = reading.section(data, "data")
        (n, d), sums = (reading.whole(of, name) for name in "nd"), ("positive", "negative", "weight")
        positive, negative, weight = (reading.number(of, name) for name in sums)
        found = Fingerprint(n, d, (positive, negative), weight)
        return cls(*known, reading.whole(data, "positive"), reading.text(data, "plane"), found, **cls._claimed(data))

    @classmethod
    def _claimed(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """Read what is claimed besides."""
        return {}

    def check_model(
        self,
        statement: Statement,
        classes: tuple[Any, ...],
        positive: int | None,
        coef: ArrayLike,
        intercept: ArrayLike,
    ) -> None:
        """Raise unless a model says the same of classes, planes and objective."""
        if classes != self.classes:
            raise ClaimError(f"the model's classes are not those that were certified, {list(self.classes)}")
        if digest(coef, intercept) != self.planes:
            are = "planes are not those that were" if self.at_once else "plane is not the one that was"
            raise ClaimError(f"the {are} certified: coef or intercept was changed")
        if positive != self.positive or (positive is not None and not 0 <= positive < len(classes)):
            raise ClaimError("the proof is about another class than the one this plane predicts")
        if not statement.same_as(self.statement):
            raise ClaimError("the model's parameters are not those that were certified: fit it again")
        if np.any(intercept) and not statement.fit_intercept:
            raise ClaimError(
                f"the objective has no intercept, the {'planes have' if self.at_once else 'plane has one'}"
            )

    def check_data(self, problem: Objective) -> str:
        """Raise unless the data are those of the fit; return what was checked."""
        if difference := self.data.differs(Fingerprint.of(problem)):
            raise ClaimError(difference)
        return f"the {problem.n:,} examples are those of the fit, as far as their lengths tell"
