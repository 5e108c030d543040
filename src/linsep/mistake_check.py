"""The check of a zero-one model: its mistakes counted exactly, and why no plane makes fewer.

Nothing here is of the solver: conflicts are confirmed by `exact` and added up by `hitting`, and a bound by looking at
all planes is found anew by `facets`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .checking import ClaimError
from .exact import Clock, check_overlap, sides
from .facets import EXHAUSTIVE, least_weight_of_mistakes
from .hitting import hits_weigh_at_least, lightest_hit
from .integers import IntegerRows, relations
from .mistake_bound import MistakeBound
from .problem import Problem

FloatArray = NDArray[np.float64]

__all__ = ["MistakeCheck"]

#: With weights that are not whole, a search proves its bound up to this share of it.
SHARE = Fraction(1, 10**4)
#: What an integer program in floats may be off by.
SLACK = 1e-5
#: Seconds for the exact bound on sets that meet all conflicts, before HiGHS is taken at its word.
PATIENCE = 60.0


@dataclass
class MistakeCheck:
    """One check of a plane's mistakes and of the bound below them, on data with labels ±1.

    `checked` and `trusted` say afterwards what was computed anew and what was taken on trust.
    """

    problem: Problem
    time_limit: float | None = None
    checked: list[str] = field(default_factory=list)
    trusted: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        problem = self.problem
        s = np.ones(problem.rows.n) if problem.sample_weight is None else problem.sample_weight
        self.weights = [Fraction(float(weight)) for weight in s]
        self.whole = all(weight.denominator == 1 for weight in self.weights)
        self.clock = Clock(self.time_limit)
        self.plane = np.zeros(problem.rows.d + problem.fit_intercept)  # where a search for a better one begins

    def mistakes(self, w: FloatArray, b: float, claimed: float) -> None:
        """Count the examples that are not strictly on their own side, by exact signs."""
        problem = self.problem
        theta = self.plane = np.append(w, b) if problem.fit_intercept else w
        signs = sides(problem.rows.X, problem.y, theta, intercept=problem.fit_intercept, clock=self.clock)
        found = sum((self.weights[i] for i in np.flatnonzero(signs <= 0)), Fraction(0))
        if not self._same(found, claimed):
            raise ClaimError(f"the plane errs on {float(found):g}, not on {claimed:g} as is claimed")
        self.checked.append(f"the mistakes of the plane, {float(found):g}, by exact signs")

    def bound(self, proof: MistakeBound, claimed: float) -> None:
        """Prove the lower bound again."""
        if not self._same(Fraction(float(proof.bound)), claimed):
            raise ClaimError(f"the lower bound claimed is {claimed:g}, its proof is of {proof.bound:g}")
        hopeless = self._hopeless()
        if tuple(hopeless) != tuple(proof.hopeless):
            raise ClaimError("the examples on which every plane errs are not those of the proof")
        left = Fraction(float(proof.bound)) - sum((self.weights[i] for i in hopeless), Fraction(0))
        if hopeless:
            self.checked.append(f"{len(hopeless)} examples are zero, where planes through the origin always err")
        if left <= 0:
            return
        if proof.method == "cells":
            self._facets(left)
        else:
            self._conflicts(proof, left)

    def _same(self, exact: Fraction, claimed: float) -> bool:
        """Whether a claimed sum of weights is the exact one, up to the rounding of a sum."""
        slack = 0.0 if self.whole else 4 * np.finfo(float).eps * len(self.weights) * float(sum(self.weights))
        return abs(float(exact - Fraction(float(claimed)))) <= slack

    def _hopeless(self) -> list[int]:
        if self.problem.fit_intercept:
            return []
        empty = self.problem.rows.squared_norms() == 0
        candidates = np.flatnonzero(empty).tolist()
        return [i for i in candidates if self.weights[i] > 0 and not np.any(self._row(i))]

    def _row(self, i: int) -> FloatArray:
        row: Any = self.problem.rows.X[[i]]
        dense: FloatArray = np.asarray(row.toarray() if self.problem.rows.is_sparse else row, dtype=np.float64)
        return dense.ravel()

    def _facets(self, least: Fraction) -> None:
        """Find the fewest mistakes anew, from the plane at hand."""
        _, weights, first = self._groups()
        s = np.array([float(weight) for weight in weights])
        A = self._signed(np.array([self._row(i) for i in first.tolist()]), self.problem.y[first])
        live = (s > 0) & A.any(axis=1)
        found = least_weight_of_mistakes(A[live], s[live], self.plane if self.plane.any() else A[live][0], self.clock)
        if not (self._same(Fraction(found), float(least)) or found > least):
            raise ClaimError(f"the lower bound of {float(least):g} does not hold: some plane errs on {found:g} only")
        if A.shape[1] <= 3 and np.count_nonzero(live) <= EXHAUSTIVE:
            self.checked.append("the lower bound, by a sweep of all planes through each example")
        else:
            self.checked.append("the lower bound, by sweeping planes through the mistakes of the plane, and of theirs")

    def _signed(self, X: FloatArray, y: FloatArray) -> FloatArray:
        """Return the rows aᵢ = yᵢ [xᵢ, 1], or yᵢ xᵢ."""
        return (np.column_stack([X, np.ones(len(X))]) if self.problem.fit_intercept else X) * y[:, None]

    # -- conflicts ------------------------------------------------------------------------------------------------

    def _conflicts(self, proof: MistakeBound, least: Fraction) -> None:
        groups, weights, _ = self._groups()
        met = []
        for conflict in proof.conflicts:
            self.clock.check("the conflicts")
            self._conflict(conflict)
            met.append({int(groups[i]) for i in conflict})
        self.checked.append(
            f"{len(met)} conflicts: of each, two convex combinations that coincide exactly, so that no plane has all "
            "its rows on their right sides"
        )
        if not self.whole:
            least *= 1 - SHARE
        proven = hits_weigh_at_least(met, weights, least, time_limit=self.clock.left() or PATIENCE)
        if proven is None:
            lightest = lightest_hit([sorted(one) for one in met], np.array([float(x) for x in weights]), PATIENCE)
            if lightest < float(least) * (1 - SLACK) - SLACK:
                raise ClaimError(f"the conflicts prove {lightest:g} only, not {float(least):g}")
            self.trusted.append("HiGHS, that no lighter set of rows meets all conflicts")
            return
        if not proven:
            raise ClaimError(f"the conflicts do not prove {proof.bound:g}: a lighter set of rows meets them all")
        to = "" if self.whole else f", to within {float(SHARE):g} of it"
        self.checked.append(f"that rows which meet all conflicts weigh at least the bound{to}, in rational numbers")

    def _groups(self) -> tuple[NDArray[np.int64], list[Fraction], NDArray[np.int64]]:
        """Return to which set of equal rows with equal labels each row belongs, each set's weight and its first row."""
        rows = self.problem.rows
        X = np.asarray(rows.X.toarray() if rows.is_sparse else rows.X, dtype=np.float64) + 0.0  # no −0
        table = np.column_stack([self.problem.y, X])
        _, first, inverse = np.unique(table, axis=0, return_index=True, return_inverse=True)
        groups = inverse.reshape(-1).astype(np.int64)
        weights = [Fraction(0)] * (int(groups.max(initial=-1)) + 1)
        for group, weight in zip(groups.tolist(), self.weights, strict=True):
            weights[group] += weight
        return groups, weights, first

    def _conflict(self, conflict: tuple[int, ...]) -> None:
        """Find λ > 0 with Σ λᵢ aᵢ = 0 on these rows, and have the exact checker confirm it."""
        problem, n = self.problem, self.problem.rows.n
        if not all(0 <= i < n and self.weights[i] > 0 for i in conflict):
            raise ClaimError(f"the conflict {conflict} names a row that the data do not have, or that has no weight")
        X = np.array([self._row(i) for i in conflict])
        y = problem.y[list(conflict)]
        integers = IntegerRows(self._signed(X, y))
        basis = relations([integers.row(k) for k in range(len(conflict))])
        if len(basis) == 1:
            shares = [abs(x) for x in basis[0]]
            total = sum(shares) // (2 if problem.fit_intercept else 1)
            weights = [Fraction(x, total) for x in shares]
            if check_overlap(X, y, range(len(conflict)), weights, intercept=problem.fit_intercept):
                return
        raise ClaimError(f"rows {conflict} are no conflict: some plane has them all on their right sides")
