"""Margins between classes (Crammer and Singer 2001): masses that make up their dual, in floats and enclosed.

An example agrees with the planes of all classes by z = gᵧ − max gₖ over k ≠ y, and loses max(0, 1 − z) = max(0, 1 + gₖ
− gᵧ over k ≠ y). Masses aᵢₖ ≥ 0 off the own class, no more than cᵢ = C sᵢ of an example, bound the optimum from below:

    D(a) = Σ aᵢₖ − penalty*(V),        vₖ = Σ (Σₗ aᵢₗ xᵢ : yᵢ = k) − Σ (aᵢₖ xᵢ : yᵢ ≠ k),

and where the intercepts are free, as much has to flow out of every class as into it: see `softmax_dual`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._common import reading
from .._common.reading import ClaimError
from .._common.types import FloatArray, IntArray
from .._core import length
from ..arithmetic.enclosure import Interval, U, gamma, total
from .duality import Bound, weights
from .flows import balanced_flow

if TYPE_CHECKING:
    from .objective import Objective


def rivals(scores: FloatArray, codes: IntArray) -> tuple[FloatArray, IntArray]:
    """Return the agreements z = gᵧ − max gₖ over k ≠ y, and which class k that is.

    Examples
    --------
    >>> rivals(np.array([[1.0, 3.0, 2.5], [0.0, 0.5, 0.0]]), np.array([1, 0]))
    (array([ 0.5, -0.5]), array([2, 1]))
    """
    each, others = np.arange(len(codes)), scores.copy()
    others[each, codes] = -np.inf
    rival = np.argmax(others, axis=1)
    return scores[each, codes] - others[each, rival], rival


def by_scores(problem: Objective, scores: FloatArray) -> FloatArray:
    """Return the masses that follow from scores: all of c is its rival's, where an example agrees by less than one."""
    z, rival = rivals(scores, problem.codes)
    masses = np.zeros(scores.shape)
    masses[np.arange(len(z)), rival] = np.where(z < 1.0, weights(problem), 0.0)
    return masses


def flow_of(problem: Objective, masses: FloatArray) -> FloatArray:
    """Return what flows from class k to class l: Σ aᵢₗ over the examples of class k."""
    out = np.zeros((problem.classes, problem.classes))
    for k in range(problem.classes):
        out[k] = masses[problem.codes == k].sum(axis=0)
    return out


def balanced(problem: Objective, masses: FloatArray) -> FloatArray:
    """Return masses, some taken away until as much flows out of every class as into it, if the intercepts are free.

    What is too much is taken from all examples of a class alike.
    """
    if not problem.fit_intercept:
        return masses
    flow = flow_of(problem, masses)
    left = np.array(balanced_flow(flow.tolist()), dtype=np.float64)
    shares: FloatArray = np.divide(left, flow, out=np.zeros_like(flow), where=flow > 0)
    return masses * shares[problem.codes]


def signed_masses(problem: Objective, masses: FloatArray) -> FloatArray:
    """Return what each example adds to each plane: what leaves the own class there, and less what comes elsewhere."""
    signed = -masses
    signed[np.arange(len(masses)), problem.codes] = masses.sum(axis=1)
    return signed


def combined(problem: Objective, masses: FloatArray) -> FloatArray:
    """Return V of masses off the own class: shape (d, K)."""
    return problem.rows.rmatmat(signed_masses(problem, masses))


def dual_value(problem: Objective, masses: FloatArray) -> float:
    """Return D of balanced masses."""
    return float(masses.sum()) - problem.penalty.conjugate(combined(problem, masses).reshape(-1))


def settled(problem: Objective, masses: FloatArray, near: float) -> FloatArray:
    """Return masses with those that are all but zero, or all but c (by a share `near` of it), as just that."""
    c = weights(problem)[:, None]
    whole = masses > (1.0 - near) * c
    some = np.where(masses < near * c, 0.0, masses)
    return np.where(whole.any(axis=1, keepdims=True), np.where(whole, c, 0.0), some)


def bound_of(problem: Objective, primal: float, masses: FloatArray) -> tuple[Bound, FloatArray]:
    """Return between what the optimum lies, and the balanced masses that say so."""
    masses = balanced(problem, masses)
    return Bound(primal, dual_value(problem, masses)), masses


def gain(masses: FloatArray) -> Interval:
    """Enclose Σ aᵢₖ of masses that are numbers exactly."""
    each = masses.ravel()
    return total(each, np.zeros(len(each)))


@dataclass(frozen=True)
class MassPoint:
    """Masses as they follow from the scores, except at `rows`, which have `values` at `classes` and nothing elsewhere.

    A row stands there once for each class that it has a mass at, or once with a value of zero.
    """

    rows: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    classes: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    values: FloatArray = field(default_factory=lambda: np.empty(0))

    def expand(self, problem: Objective, scores: FloatArray) -> FloatArray:
        """Return the masses, balanced but for rounding."""
        masses = by_scores(problem, scores)
        for name, places, most in (("row", self.rows, len(masses)), ("class", self.classes, problem.classes)):
            if len(places) and not (places.min() >= 0 and places.max() < most):
                raise ClaimError(f"the dual point names a {name} that the data do not have")
        masses[self.rows] = 0.0
        masses[self.rows, self.classes] = self.values
        return masses

    @classmethod
    def of(cls, problem: Objective, masses: FloatArray, w: FloatArray, b: FloatArray, scores: FloatArray) -> Self:
        """Return the masses with no more exceptions than they need."""
        each, c = np.arange(problem.n), weights(problem)
        lengths, longest = np.sqrt(problem.rows.squared_norms()), length(w.reshape(-1))
        reach = 4 * gamma(problem.d + 8) * (lengths * longest + float(np.abs(b).max()))
        z, rival = rivals(scores, problem.codes)
        first, others = scores[each, rival], scores.copy()
        others[each, problem.codes] = others[each, rival] = -np.inf
        # Another reader's scores are others in the last digits: where these tell which class it is, or whether.
        unsure = (np.abs(1.0 - z) <= reach) | ((z < 1.0 + reach) & (first - others.max(axis=1) <= reach))
        off = np.abs(masses - by_scores(problem, scores)).max(axis=1) > 4 * U * c
        rows = np.flatnonzero(unsure | off)
        which, classes = np.nonzero(masses[rows])
        nothing = np.setdiff1d(np.arange(len(rows)), which)  # which says so by a zero, at any class
        which, classes = np.append(which, nothing), np.append(classes, np.zeros(len(nothing), dtype=np.int64))
        order = np.lexsort((classes, which))
        rows, classes = rows[which[order]], classes[order]
        return cls(rows, classes, masses[rows, classes])

    def times(self, m: int) -> Self:
        """Return the dual point of the objective times 2ᵐ."""
        with np.errstate(over="ignore"):
            return self if m == 0 else replace(self, values=np.ldexp(self.values, m))

    def to_dict(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        return {name: part.tolist() for name, part in vars(self).items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        rows, classes = (np.asarray(reading.entry(data, name), dtype=np.int64) for name in ("rows", "classes"))
        values = np.asarray(reading.entry(data, "values"), dtype=np.float64)
        if not rows.shape == classes.shape == values.shape:
            raise ValueError(
                f"a dual point needs as many values and classes as rows, not {len(values)} and {len(classes)} for "
                f"{len(rows)}"
            )
        return cls(rows, classes, values)
