"""Mistakes: how many examples a plane has on the wrong side, and that no plane has fewer."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ..case import EXACT, Case
from ..mistakes.bound import MistakeBound
from ..mistakes.check import MistakeCheck, in_words
from ..outcome import ClaimError, Verification
from ..proof import PlaneByPlane


class Mistakes(PlaneByPlane):
    """The bound below the mistakes of every plane, each class against the rest."""

    kind = "mistakes"
    record = MistakeBound
    attribute = "lower_bound_proof_"
    confirms = ("objective_", "converged_", "n_mistakes_", "lower_bound_", "lower_bound_proof_", "proven_")
    exact = of_a_cut = True

    def says_optimal(self, model: Any) -> bool:
        """Return whether the model says so."""
        return bool(model.proven_)

    def sentences(self, model: Any) -> list[str]:
        """Return what the planes make, and what no plane goes below."""
        pairs = zip(np.ravel(model.n_mistakes_), np.ravel(model.lower_bound_), strict=True)
        counts = [[in_words(Fraction(float(number))) for number in pair] for pair in pairs]
        what = "mistakes in training (rows not strictly on their own side, by their weight)"
        return [f"The plane makes {made} {what}; no plane makes fewer than {low}." for made, low in counts]

    def check_plane(self, case: Case, k: int) -> Verification:
        """Check the number of mistakes of a plane, and the bound below it."""
        claimed, lower = case.number("n_mistakes_", k), case.number("lower_bound_", k)
        if not isinstance(self.each[k], MistakeBound):
            raise ClaimError(f"{self.each[k]!r} is no proof of a bound on mistakes")
        check = MistakeCheck(case.problem(k), case.time_limit, [], [EXACT])
        made = check.mistakes(case.coef[k], float(case.intercept[k]), claimed)
        check.bound(self.each[k], lower)
        case.check_objective(case.formula)
        planes = range(len(case.positive))
        optimal = all(case.number("n_mistakes_", j) <= case.number("lower_bound_", j) for j in planes)
        for name in ("proven_", "converged_"):
            if case.flag(name) != optimal:
                raise ClaimError(f"{name} is {not optimal}, but {claimed:g} mistakes are made and {lower:g} proven")
        if case.threshold:
            made = check.weights.value(check.weights.where(case.wrong(k)))
        among_these = case.statement.fit_intercept or not case.threshold  # cut elsewhere, it leaves the origin
        proven = not check.by_highs and among_these and made <= check.lower
        lists = tuple(check.checked), tuple(check.trusted), (), (*case.covered, *self.confirms)
        return Verification(True, check.sentence(made, case.cut), None, None, proven, *lists)
