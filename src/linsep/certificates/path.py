"""Gaps between the values of C of a regularisation path: what stored models prove of every C that was not tried.

Of a model (w, b) the objective P_C = penalty(w) + C · loss(w, b) is a line in C. So the optimum P*(C), the least of all
such lines, is concave: between two values of C it lies above the chord of any two lower bounds. And where a line and a
chord are positive, 1 − chord/line is monotone. So a gap that holds at both ends of an interval holds within.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arithmetic.enclosure import Interval, U, penalty_value, relative_gap
from ..objective.enclosure import sharp_primal
from .gap.certificate import Certificate, Certificates, SoftmaxCertificate
from .outcome import ClaimError, Verification
from .proof import Alone
from .training_data import TrainingData

NOTHING = Interval(0.0, 0.0)


@dataclass(frozen=True)
class Knot:
    """A plane, or the planes of a softmax, on a path: its line penalty + C · loss, and a lower bound at its own C.

    Examples
    --------
    >>> Knot(2.0, Interval(1.0, 1.0), Interval(3.0, 3.0), 6.5).objective(4.0)
    Interval(low=12.99..., high=13.00...)
    """

    C: float
    penalty: Interval
    loss: Interval
    dual: float

    @classmethod
    def of(cls, C: float, penalty: Interval, primal: Interval, dual: float) -> Knot:
        """Return the knot of a model whose objective is known at its own C."""
        return cls(C, penalty, (primal - penalty).over(C), dual)

    def objective(self, C: float) -> Interval:
        """Enclose P_C of the model."""
        return self.penalty + self.loss.times(C)


def chord(a: Knot, b: Knot, C: float) -> float:
    """Return what P*(C) does not lie below, for a C between those of two knots."""
    share = (C - a.C) / (b.C - a.C)
    # Eight roundings at the most, each of a share of the two bounds.
    return (1.0 - share) * a.dual + share * b.dual - 8 * U * (abs(a.dual) + abs(b.dual))


def crossing(a: Knot, b: Knot) -> float:
    """Return the C up to which the first model is the better one, within the two."""
    slower, gained = a.loss.high - b.loss.high, b.penalty.high - a.penalty.high
    if not (slower > 0 and gained > 0):  # rounding: one of them is better everywhere
        return float(np.sqrt(a.C * b.C)) or 0.5 * b.C
    return float(np.clip(gained / slower, a.C, b.C))


def gaps_between(a: Knot, b: Knot, C: float) -> tuple[float, float]:
    """Return the largest relative gap of the first model up to C, and of the second one from there."""
    bound = Interval(*[chord(a, b, C)] * 2)
    ends = [(knot.objective(knot.C), Interval(knot.dual, knot.dual)) for knot in (a, b)]
    own = [relative_gap(*end) for end in ends]
    first, second = (relative_gap(knot.objective(C), bound) for knot in (a, b))
    return max(first, own[0]), max(second, own[1])


@dataclass(frozen=True, eq=False)
class PathCertificate(Alone):
    """What is proven of a path: for every C up to the largest, which model is within `tol` of the optimum there.

    Attributes
    ----------
    null : array
        The intercepts of the model without weights, which serves up to the first of `borders`.
    certificates : list
        Of each model at its own C, ascending.
    borders : array
        Model k serves between borders k and k + 1; the last border is the largest C.
    tol : float
        The relative gap that is proven of each model wherever it serves.
    """

    null: Any
    certificates: Sequence[Certificate | Certificates]
    borders: Any
    tol: float

    def __str__(self) -> str:
        return (
            f"For every C up to {self.borders[-1]:g} one of {len(self.certificates)} models, or w = 0 below "
            f"{self.borders[0]:.3g}, is within {self.tol:g} of the optimum at that C."
        )

    def verify(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Verification:
        """Check all of it from the data alone, with each rounding error bounded."""
        return self.check(TrainingData(X, y, sample_weight))

    def check(self, examples: TrainingData, time_limit: float | None = None) -> Verification:
        """Check it on examples that were read already: each model at its own C, and then what lies between."""
        try:
            self._ascending()
            columns = [self._knots(number, model, examples) for number, model in enumerate(self.certificates)]
            columns.insert(0, self._null_knots(examples))
        except ClaimError as failure:
            return Verification(False, str(failure))
        worst = 0.0
        for k, C in enumerate(self.borders[:-1]):
            gap = max(max(gaps_between(a, b, C)) for a, b in zip(columns[k], columns[k + 1], strict=True))
            if not gap <= self.tol:
                said = f"from {columns[k][0].C:.6g} to {columns[k + 1][0].C:.6g} the models are within {gap:.3g} only"
                return Verification(False, f"{said} of the optimum, not within tol={self.tol:g}")
            worst = max(worst, gap)
        reason = f"{str(self)[:-1]}; the largest gap is {worst:.2e}"
        checked = (f"the objective and the lower bound of {len(self.certificates)} models", "the chords between them")
        return Verification(True, reason, None, None, True, checked, ("IEEE arithmetic",))

    def _ascending(self) -> None:
        own = [_each(one)[0].statement.C for one in self.certificates]
        borders = np.asarray(self.borders, dtype=np.float64)
        if len(borders) != len(own) + 1 or not np.isfinite(borders).all() or not borders[0] >= 0:
            raise ClaimError(f"{len(own)} models need {len(own) + 1} borders, positive and finite")
        inside = all(low <= C <= high for low, C, high in zip(borders, own, borders[1:], strict=False))
        if not (inside and borders[-1] == own[-1] and (np.diff(own) > 0).all()):
            raise ClaimError("each model has to serve its own C, in ascending order, and the last one ends the path")
        if len({_but_for_C(one) for one in self.certificates}) > 1:
            raise ClaimError("the models of a path may differ in C alone")

    def _knots(self, number: int, certificate: Any, examples: TrainingData) -> list[Knot]:
        """Return the knots of one model's planes, as the data say."""
        found = []
        for one in _each(certificate):
            outcome = one.check(examples)
            if not outcome:
                raise ClaimError(f"model {number + 1} of {len(self.certificates)}: {outcome.reason}")
            if outcome.primal is None or outcome.dual is None:
                raise ClaimError(f"model {number + 1} of {len(self.certificates)} says nothing of its objective")
            penalty = penalty_value(one.statement.penalty, np.asarray(one.coef, dtype=np.float64).ravel())
            found.append(Knot.of(one.statement.C, penalty, outcome.primal, outcome.dual.low))
        return found

    def _null_knots(self, examples: TrainingData) -> list[Knot]:
        """Return the lines of the model without weights, whose objective at C = 0 is 0 like the optimum."""
        found = []
        each, at_once = _each(self.certificates[0]), isinstance(self.certificates[0], SoftmaxCertificate)
        intercepts = [np.asarray(self.null, dtype=np.float64)] if at_once else [float(b) for b in np.ravel(self.null)]
        if len(intercepts) != len(each):
            raise ClaimError(f"the model without weights has {len(intercepts)} planes, the others {len(each)}")
        for one, b in zip(each, intercepts, strict=True):
            classes = one.claim.classes if one.classes is None else one.classes
            data = examples.weighed(classes, examples.weights(one.statement, classes))
            positive = None if at_once else 1 if len(classes) == 2 else one.positive
            problem = one.statement.on(data, positive=positive, classes=len(classes))
            w, _ = problem.zeros()
            loss = sharp_primal(problem, w, b)[0].over(problem.weight_of_loss)
            found.append(Knot(0.0, NOTHING, loss, 0.0))
        return found


def _but_for_C(certificate: Any) -> str:
    """Return what a model says of its planes, but for C and the planes themselves."""
    said = [(one.classes, one.positive, replace(one.statement, C=1.0).terms()) for one in _each(certificate)]
    return f"{type(certificate).__name__}: {said}"


def _each(certificate: Any) -> list[Certificate]:
    return list(certificate) if isinstance(certificate, Certificates) else [certificate]
