"""The check of a zero-one model: its mistakes counted exactly, and why no plane makes fewer.

Nothing here is of the solver: conflicts are confirmed by `exact` and added up by `hitting`, and a bound by looking at
all planes is found anew by `facets`. Nothing is taken from a file but hints; what is claimed is compared.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from ..._common.types import FloatArray, IntArray
from ...arithmetic.exact import Clock, check_overlap, sides, unsettled
from ...arithmetic.integers import IntegerRows, relations
from ...arithmetic.whole_weights import WholeWeights, nearest_float
from ...objective.objective import Objective
from ...separation.face import signed_rows
from ..outcome import ClaimError
from .bound import MistakeBound
from .facets import EXHAUSTIVE, least_weight_of_mistakes
from .hitting import hits_weigh_at_least, lightest_hit

#: What an integer program in floats may be off by, where it is taken at its word and no proof is claimed.
SLACK = 1e-5
#: Seconds for the exact bound on sets that meet all conflicts, and for HiGHS where that is left open.
PATIENCE = 60.0


@dataclass
class MistakeCheck:
    """One check of a plane's mistakes and of the bound below them, on data with labels ±1.

    A mistake is an example that is not strictly on its own side, z ≤ 0: one on the plane itself counts, on whichever
    side `predict` would put it. Weights are those of the problem, sample weight times class weight as that product is
    in floats, and all sums of them are exact.
    """

    problem: Objective
    time_limit: float | None = None
    checked: list[str] = field(default_factory=list)  # what was computed anew
    trusted: list[str] = field(default_factory=list)  # what was taken on trust

    def __post_init__(self) -> None:
        problem = self.problem
        s = np.ones(problem.rows.n) if problem.sample_weight is None else problem.sample_weight
        self.weights = WholeWeights.of(np.asarray(s, dtype=np.float64))
        self.clock = Clock(self.time_limit)
        self.plane = np.zeros(problem.rows.d + problem.fit_intercept)  # where a search for a better one begins
        self.made: Fraction | None = None  # what the plane's mistakes weigh
        self.unsettled = 0
        self.lower = Fraction(0)
        self.by_highs = False  # whether its word was taken for the bound

    def mistakes(self, w: FloatArray, b: float, claimed: float) -> Fraction:
        """Count the examples that are not strictly on their own side, by exact signs; return what they weigh."""
        problem = self.problem
        X, y, intercept = problem.rows.X, problem.y, problem.fit_intercept
        theta = self.plane = np.append(w, b) if intercept else w
        signs = sides(X, y, theta, intercept=intercept, clock=self.clock)
        near = unsettled(X, y, theta, intercept=intercept)
        self.unsettled = int(np.count_nonzero(near & (self.weights.numbers > 0)))
        self.made = self.weights.value(self.weights.where(signs <= 0))
        if claimed != nearest_float(self.made):
            raise ClaimError(f"the plane errs on {in_words(self.made)}, not on {claimed!r} as is claimed")
        self.checked.append(f"the mistakes of the plane, {in_words(self.made)}, by exact signs")
        return self.made

    def bound(self, proof: MistakeBound, claimed: float) -> None:
        """Prove the lower bound again; of the proof, conflicts and the method are hints, and nothing else is used."""
        if proof.bound != claimed or not 0 <= claimed < np.inf:
            raise ClaimError(f"the lower bound claimed is {claimed!r}, its proof is of {proof.bound!r}")
        self.lower = Fraction(claimed)
        if self.made is not None and claimed >= nearest_float(self.made):
            if claimed > nearest_float(self.made):
                raise ClaimError(f"no bound is above the mistakes that a plane makes, but {claimed!r} is claimed")
            self.lower = self.made  # both are the same sum, rounded
        hopeless = self._hopeless()
        if tuple(hopeless) != tuple(proof.hopeless):
            raise ClaimError("the examples on which every plane errs are not those of the proof")
        left = self.lower - self.weights.value(self.weights.where(np.array(hopeless, dtype=np.int64)))
        if hopeless:
            self.checked.append(f"{len(hopeless)} examples are zero, where planes through the origin always err")
        if left <= 0:
            return
        if proof.method == "cells":
            self._facets(left)
        else:
            self._conflicts(proof, left)

    def sentence(self, made: Fraction | None = None, where: str = "") -> str:
        """Return what was found, in words: what the plane makes, and what no plane goes below.

        `made` is what it makes somewhere else than at a score of 0, and `where` says so.
        """
        made = self.made if made is None else made
        assert made is not None
        counted = self.problem.sample_weight is None
        what = f"{in_words(made)} mistake{'s' * (made != 1)}" if counted else "mistakes"
        what += f"{where} (examples not strictly on their own side)"
        what += "" if counted else f" of weight {in_words(made)}"
        if self.unsettled:
            what += f"; {self.unsettled} lie within rounding of the plane, where predict may say otherwise"
        plane = "no plane" if self.problem.fit_intercept else "no plane through the origin"
        fewer = f"{plane} makes fewer" if counted else f"{plane} makes them of less weight"
        fewer += "" if made <= self.lower else f" than {in_words(self.lower)}"
        if self.by_highs:
            return f"the plane makes {what}; that {fewer} is what HiGHS finds in floats, which proves nothing"
        return f"the plane makes {what}, and {fewer}"

    def _hopeless(self) -> list[int]:
        if self.problem.fit_intercept:
            return []
        empty = self.problem.rows.squared_norms() == 0
        candidates = np.flatnonzero(empty).tolist()
        rows = self.problem.rows.dense(np.array(candidates, dtype=np.int64))
        return [i for i, row in zip(candidates, rows, strict=True) if self.weights.numbers[i] > 0 and not row.any()]

    def _facets(self, least: Fraction) -> None:
        """Find the fewest mistakes anew, from the plane at hand."""
        _, weights, first = self._groups()
        A = signed_rows(self.problem.rows.dense(first), self.problem.y[first], intercept=self.problem.fit_intercept)
        live = (weights.numbers > 0) & A.any(axis=1)
        s = [weights.value(int(number)) for number in weights.numbers[live]]
        found = least_weight_of_mistakes(A[live], s, self.plane if self.plane.any() else A[live][0], self.clock)
        if found < least:
            lower, some = in_words(least), in_words(found)
            raise ClaimError(f"the lower bound of {lower} does not hold: some plane errs on {some} only")
        if A.shape[1] <= 3 and np.count_nonzero(live) <= EXHAUSTIVE:
            self.checked.append("the lower bound, by a sweep of all planes through each example")
        else:
            self.checked.append("the lower bound, by sweeping planes through the mistakes of the plane, and of theirs")

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
        each = [weights.value(number) for number in weights.numbers.tolist()]
        proven = hits_weigh_at_least(met, each, least, time_limit=self._patience())
        if proven is False:
            raise ClaimError(f"the conflicts do not prove {proof.bound!r}: a lighter set of rows meets them all")
        if proven is None:
            self._by_highs(met, weights, least)
        else:
            self.checked.append("that rows which meet all conflicts weigh at least the bound, in rational numbers")

    def _patience(self) -> float:
        """Return the seconds that a step may take which cannot be interrupted; raise where none are left."""
        self.clock.check("sets of rows that meet all conflicts")
        left = self.clock.left()
        return PATIENCE if left is None else min(PATIENCE, left)

    def _by_highs(self, met: list[set[int]], weights: WholeWeights, least: Fraction) -> None:
        """Ask an integer program in floats, where exact arithmetic leaves it open: its word is no proof."""
        lightest = lightest_hit([sorted(one) for one in met], weights.about(), self._patience())
        needed = nearest_float(least / weights.value(weights.scale))
        if lightest < needed * (1 - SLACK) - SLACK:
            raise ClaimError(f"the conflicts are not enough: HiGHS finds {lightest / needed:.4g} of the bound only")
        self.by_highs = True
        self.trusted.append("HiGHS, in floats, that no lighter set of rows meets all conflicts")

    def _groups(self) -> tuple[IntArray, WholeWeights, IntArray]:
        """Return to which set of equal rows with equal labels each row belongs, each set's weight and its first row."""
        rows = self.problem.rows
        X = np.asarray(rows.X.toarray() if rows.is_sparse else rows.X, dtype=np.float64) + 0.0  # no −0
        table = np.column_stack([self.problem.y, X])
        _, first, inverse = np.unique(table, axis=0, return_index=True, return_inverse=True)
        groups = inverse.reshape(-1).astype(np.int64)
        return groups, self.weights.grouped(groups, len(first)), first

    def _conflict(self, conflict: tuple[int, ...]) -> None:
        """Find λ > 0 with Σ λᵢ aᵢ = 0 on these rows, and have the exact checker confirm it."""
        problem, n = self.problem, self.problem.rows.n
        if not all(0 <= i < n and self.weights.numbers[i] > 0 for i in conflict):
            raise ClaimError(f"the conflict {conflict} names a row that the data do not have, or that has no weight")
        X, y = problem.rows.dense(np.array(conflict, dtype=np.int64)), problem.y[list(conflict)]
        integers = IntegerRows(signed_rows(X, y, intercept=problem.fit_intercept))
        basis = relations([integers.row(k) for k in range(len(conflict))])
        if len(basis) == 1:
            shares = [abs(x) for x in basis[0]]
            total = sum(shares) // (2 if problem.fit_intercept else 1)
            weights = [Fraction(x, total) for x in shares]
            if check_overlap(X, y, range(len(conflict)), weights, intercept=problem.fit_intercept):
                return
        raise ClaimError(f"rows {conflict} are no conflict: some plane has them all on their right sides")


def in_words(weight: Fraction) -> str:
    """Return a sum of weights as a number to read, that says where it is rounded.

    Examples
    --------
    >>> in_words(Fraction(25)), in_words(Fraction(1, 4)), in_words(Fraction(1, 3))
    ('25', '0.25', 'about 0.3333333333333333')
    """
    nearest = nearest_float(weight)
    if not np.isfinite(nearest):
        return "more than 1.8e308"
    text = str(int(nearest)) if nearest % 1 == 0 and nearest < 2**53 else repr(nearest)
    return text if Fraction(nearest) == weight else f"about {text}"
