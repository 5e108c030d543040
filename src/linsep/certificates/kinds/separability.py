"""Separability: whether some plane separates the classes, and Novikoff's numbers of a perceptron's own plane."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from ..._common.types import FloatArray
from ..._common.words import at_most, many
from ...arithmetic.enclosure import SMALLEST, Interval, U, agreements, gamma
from ...arithmetic.exact import Check, Clock, plane_margin
from ...arithmetic.whole_weights import nearest_float
from ...objective.objective import Objective
from ...separation.verdict import Separability
from ..case import ROUNDED, Case, exactly
from ..gap.check import CLOSE
from ..outcome import ClaimError, Verification, planes_in_words
from ..proof import PlaneProofs

UNDECIDED = Verification(True, "whether a plane separates the classes was not decided")


class Verdicts(PlaneProofs):
    """Whether the data are separable, each class from the rest: a proof either way, or None where that is not known."""

    kind = "separability"
    record = Separability
    attribute = "separability_"
    confirms = ("objective_", "dual_gap_", "separability_", "radius_", "margin_", "mistake_bound_")
    exact = optional = of_a_cut = True

    @property
    def decides(self) -> bool:  # type: ignore[override]
        """Whether anything is decided."""
        return any(verdict is not None for verdict in self.each)

    def sentences(self, model: Any) -> list[str]:
        """Set the perceptron's mistakes beside the bound (R/γ)² on them."""
        made = f"The perceptron made {many(model.mistakes_, 'mistake')} while it learned"
        if not hasattr(model, "mistake_bound_"):
            return [f"{made}; Novikoff's theorem says nothing of them, for the penalty moves the plane as well."]
        bound = float(np.min(model.mistake_bound_))
        if not np.isfinite(bound):
            return [f"{made}; Novikoff's theorem bounds them only for a plane that separates the classes."]
        return [f"{made}; Novikoff's theorem allows at most (R/γ)² = {at_most(bound)} with the margin of this plane."]

    def check(self, case: Case) -> Iterator[Verification]:
        """Check every verdict, and the numbers of the planes.

        Verdicts are about the data; that the plane at hand errs nowhere, where some plane does not, is counted besides.
        """
        if self.decides:
            if len(self.each) != len(case.positive):
                count = planes_in_words(len(case.positive))
                raise ClaimError(f"there are {len(self.each)} verdicts on separability for {count}")
            for k, verdict in enumerate(self.each):
                Clock(case.time_limit).check("separability")
                try:
                    outcome = UNDECIDED if verdict is None else _of_plane(case, k, verdict)
                except ClaimError as failure:
                    outcome = Verification(False, str(failure))
                yield replace(outcome, reason=f"{case.who(k)}{outcome.reason}")
        yield self._novikoff(case)

    def _novikoff(self, case: Case) -> Verification:
        """Check R, γ and (R/γ)² of the planes; and that one without mistakes has none proven."""
        confirmed = {"radius_", "margin_", "mistake_bound_"}
        for k in range(len(case.positive)):
            confirmed &= _numbers(case, k)
        if case.flag("converged_") and any(one is not None and not one.separable for one in self.each):
            raise ClaimError("the model says that it converged, on data that are proven not to be separable")
        return Verification(True, "", proven=True, covered=tuple(sorted(confirmed)))


def _of_plane(case: Case, k: int, proof: Separability) -> Verification:
    """Return whether some plane separates, and on how many examples the one at hand errs."""
    check = _again(case, k, proof)
    outcome = exactly(check, f"{case.who(k)}the classes are {_verdict(proof)}")
    if not check:
        return outcome
    origin = "" if case.statement.fit_intercept else " (of planes through the origin)"
    reason = f"{_verdict(proof)}: {check.reason}{origin}"
    lists: Any = dict(covered=(*case.covered, "separability_"))
    if case.by_vote:
        reason = f"{reason}; predictions are by vote of all planes of the run, and of those nothing is proven"
        return replace(outcome, reason=reason, proven=not proof.separable, **lists)
    made = int(np.count_nonzero(case.wrong(k) & case.counted))
    reason = f"{reason}; the model's plane{case.cut} makes {many(made, 'mistake')}"
    lists["trusted"] = (*outcome.trusted, ROUNDED)
    among_these = case.statement.fit_intercept or not case.threshold
    return replace(outcome, reason=reason, proven=among_these and (not proof.separable or made == 0), **lists)


def _again(case: Case, k: int, proof: Separability) -> Check:
    """Check one verdict, on the examples that have weight."""
    names, problem = getattr(case.model, "feature_names_in_", None), case.problem(k)
    expected = case.classes if len(case.positive) == 1 else (False, True)
    if tuple(proof.classes) != expected or proof.fit_intercept != case.statement.fit_intercept:
        raise ClaimError("the verdict on separability is about other classes or other planes")
    if proof.feature_names != (None if names is None else [str(name) for name in names]):
        raise ClaimError("the verdict on separability has other names of columns than the model")
    about = replace(proof, classes=(-1.0, 1.0))
    return about.verify(problem.rows.X, problem.y, case.weights, time_limit=case.time_limit)


def _verdict(proof: Separability) -> str:
    words = {"separable": "separable", "quasi": "separable only weakly"}
    return words.get(proof.verdict, "not separable")


def _numbers(case: Case, k: int) -> set[str]:
    """Return which numbers of a plane are confirmed; raise for those that are not so."""
    problem, w, b = case.problem(k), case.coef[k], float(case.intercept[k])
    clock, theta = Clock(case.time_limit), np.append(w, b)
    kept = Interval(*plane_margin(problem.rows.X, problem.y, theta, augmented=True, clock=clock))
    R, in_floats = _radius(problem), margin_in_floats(problem.rows.X, problem.y, w, b)
    radius, margin = case.number("radius_", k), case.number("margin_", k)
    confirmed = set()
    if _compared("radius_", radius, R, R):
        confirmed.add("radius_")
    if _compared("margin_", margin, kept, in_floats):
        confirmed.add("margin_")
    if problem.penalised:
        if hasattr(case.model, "mistake_bound_"):
            raise ClaimError("mistake_bound_ is given, but with a penalty (R/γ)² does not bound the mistakes")
        return confirmed
    bound = case.number("mistake_bound_", k)
    with np.errstate(over="ignore"):
        expected = float(np.square(np.float64(radius) / margin)) if margin > 0 else np.inf
    if not (bound == expected or abs(bound - expected) <= 1e-12 * expected < np.inf):
        raise ClaimError(f"mistake_bound_ is {bound:.12g}; radius_ and margin_ give {expected:.12g}")
    # A margin that floats cannot tell from none may be none, and then there is no bound.
    return confirmed | {"mistake_bound_"} if len(confirmed) == 2 and (margin > 0) == (kept.low > 0) else confirmed


def _radius(problem: Objective) -> Interval:
    """Enclose R, the largest ‖[x, 1]‖ or ‖x‖."""
    longest = float((problem.rows.squared_norms() + problem.fit_intercept).max())
    lost = problem.rows.d * SMALLEST  # by squares that fall below the range
    R, off = float(np.sqrt(longest)), gamma(problem.rows.d + 8)
    return Interval(R * (1 - off), float(np.sqrt(longest + lost)) * (1 + off) if lost > U * longest else R * (1 + off))


def _compared(name: str, said: float, found: Interval, in_floats: Interval) -> bool:
    """Whether a number is the one found, to a tiny share of itself; raise where no machine's floats make it that."""
    share = CLOSE * 1e-3 * min(abs(found.low), abs(found.high))
    if found.width <= share and found.low - share <= said <= found.high + share:
        return True
    if not in_floats.low <= said <= in_floats.high:
        raise ClaimError(f"{name} is {said:.12g}; the data and the plane give {found.low:.12g}")
    return said == found.low == found.high


def margin_in_floats(X: Any, y: FloatArray, w: FloatArray, b: float) -> Interval:
    """Return between what any machine's floats may find min yᵢ(w·xᵢ + b)/‖[w, b]‖.

    Examples
    --------
    >>> found = margin_in_floats(np.array([[0.1], [0.3]]), np.array([-1.0, 1.0]), np.array([1.0]), -0.1)
    >>> found.low < 0.0 < found.high
    True
    """
    theta = np.append(w, b)
    if not theta.any():
        return Interval(0.0, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        z, r = agreements(X, y, w, b)
        r = np.where(np.isfinite(z) & np.isfinite(r), 2 * r, np.inf)
        z = np.where(np.isfinite(z), z, 0.0)
        return _over_length((float((z - r).min()), float((z + r).min())), theta)


def _over_length(values: tuple[float, float], theta: FloatArray) -> Interval:
    """Return the values divided by ‖θ‖, rounded outwards; θ of any size."""
    largest = float(np.abs(theta).max())
    root = Fraction(float(np.sqrt(np.sum((theta / largest) ** 2))))
    off = Fraction(gamma(len(theta) + 8))
    found = []
    for value, outwards in zip(values, (-1, 1), strict=True):
        if not np.isfinite(value):
            found.append(value)
            continue
        quotient = Fraction(value) / (Fraction(largest) * root)
        end = nearest_float(quotient + outwards * abs(quotient) * off)
        found.append(float(np.nextafter(end, outwards * np.inf)) if quotient else 0.0)
    return Interval(*found)
