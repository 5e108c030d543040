"""The check of a zero-one model: its mistakes counted exactly, and why no plane makes fewer."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .checking import ClaimError
from .exact import Clock, check_overlap, sides
from .hitting import hits_weigh_at_least
from .problem import Problem
from .solvers import MistakeBound
from .solvers._integers import IntegerRows, relations

FloatArray = NDArray[np.float64]

__all__ = ["MistakeCheck"]

#: With weights that are not whole, a search proves its bound up to this share of it.
SHARE = Fraction(1, 10**4)
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

    def mistakes(self, w: FloatArray, b: float, claimed: float) -> None:
        """Count the examples that are not strictly on their own side, by exact signs."""
        problem = self.problem
        theta = np.append(w, b) if problem.fit_intercept else w
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
            self._cells(proof)
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

    def _cells(self, proof: MistakeBound) -> None:
        wrong = proof.check(self.problem)
        if wrong:
            raise ClaimError(f"the lower bound does not hold: {wrong}")
        self.checked.append("the lower bound, by going through all cells of planes once more")
        self.trusted.append("that the search leaves out no cell")

    # -- conflicts ------------------------------------------------------------------------------------------------

    def _conflicts(self, proof: MistakeBound, least: Fraction) -> None:
        groups, weights = self._groups()
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
            if wrong := proof.check(self.problem, PATIENCE):
                raise ClaimError(f"the lower bound does not hold: {wrong}")
            self.trusted.append("HiGHS, that no lighter set of rows meets all conflicts")
            return
        if not proven:
            raise ClaimError(f"the conflicts do not prove {proof.bound:g}: a lighter set of rows meets them all")
        to = "" if self.whole else f", to within {float(SHARE):g} of it"
        self.checked.append(f"that rows which meet all conflicts weigh at least the bound{to}, in rational numbers")

    def _groups(self) -> tuple[NDArray[np.int64], list[Fraction]]:
        """Return of every row to which set of equal rows with equal labels it belongs, and what each set weighs."""
        rows = self.problem.rows
        X = np.asarray(rows.X.toarray() if rows.is_sparse else rows.X, dtype=np.float64) + 0.0  # no −0
        table = np.column_stack([self.problem.y, X])
        _, inverse = np.unique(table, axis=0, return_inverse=True)
        groups = inverse.reshape(-1).astype(np.int64)
        weights = [Fraction(0)] * (int(groups.max(initial=-1)) + 1)
        for group, weight in zip(groups.tolist(), self.weights, strict=True):
            weights[group] += weight
        return groups, weights

    def _conflict(self, conflict: tuple[int, ...]) -> None:
        """Find λ > 0 with Σ λᵢ aᵢ = 0 on these rows, and have the exact checker confirm it."""
        problem, n = self.problem, self.problem.rows.n
        if not all(0 <= i < n and self.weights[i] > 0 for i in conflict):
            raise ClaimError(f"the conflict {conflict} names a row that the data do not have, or that has no weight")
        X = np.array([self._row(i) for i in conflict])
        y = problem.y[list(conflict)]
        A = (np.column_stack([X, np.ones(len(X))]) if problem.fit_intercept else X) * y[:, None]
        integers = IntegerRows(A)
        basis = relations([integers.row(k) for k in range(len(conflict))])
        if len(basis) == 1:
            shares = [abs(x) for x in basis[0]]
            total = sum(shares) // (2 if problem.fit_intercept else 1)
            weights = [Fraction(x, total) for x in shares]
            if check_overlap(X, y, range(len(conflict)), weights, intercept=problem.fit_intercept):
                return
        raise ClaimError(f"rows {conflict} are no conflict: some plane has them all on their right sides")
