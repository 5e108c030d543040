"""The search for a proof that a perceptron will never end, beside its passes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..._common.types import FloatArray, IntArray
from ...objective.objective import Objective

if TYPE_CHECKING:  # loaded where it is asked: few runs want a proof
    from ...separation.verdict import Separability

#: The search for a proof of overlap may cost about as much as the passes before it: this much for each, in elementary
#: operations, and for each stored number of each. Less than `LEAST_WORK` would be of no use, more than `MOST_WORK`
#: takes some ten seconds.
PASS_WORK, NUMBER_WORK, LEAST_WORK, MOST_WORK = 5e5, 2.0, 1e7, 1e10
#: What may be spent after a run on small data to complete what it left open: some seconds.
LAST_WORK = 2e9
#: Stored numbers that the first search looks at.
FEW_NUMBERS = 30_000


class Prover:
    """Works towards a proof that no plane separates the examples, while a run goes on.

    After 1, 2, 4, 8, … passes it searches with about as much work as these passes were, among the rows that moved the
    plane most often: what excludes a plane through these excludes one through all. Of large data few are taken at
    first, since a search copies them. Work is counted, not timed: what is found does not depend on the machine.
    """

    def __init__(self, problem: Objective, settled: float = 0.0) -> None:
        self.problem, self.settled = problem, settled
        self.fewest, self.since, self.next = np.inf, 0.0, 1.0
        self.found: Separability | None = None
        self.spent = 0.0
        self.room = FEW_NUMBERS

    def excludes(self, passes: float, zero_one: float, counts: IntArray) -> bool:
        """Whether it is proven that no plane separates, and the fewest mistakes have stood for `settled` passes."""
        if zero_one < self.fewest:
            self.fewest, self.since = zero_one, passes
        if self.found is None and passes >= self.next:
            self.next = 2.0 * passes
            work = passes * (PASS_WORK + NUMBER_WORK * self.problem.rows.stored)
            if work >= max(LEAST_WORK, self.spent):
                self.ask(min(work, MOST_WORK), -counts.astype(np.float64))
        overlap = self.found is not None and not self.found.separable
        return overlap and passes - self.since >= self.settled

    def ask(self, work: float = LAST_WORK, ranking: FloatArray | None = None) -> Separability | None:
        """Return what that much work proves, or None where it does not suffice.

        With a ranking it looks at the first rows, and does not ask whether a plane separates weakly.
        """
        from ...arithmetic.exact import Clock
        from ...separation.verdict import ProofTimeoutError, decided

        self.spent = work
        problem, weight = self.problem, self.problem.sample_weight
        kept = np.arange(problem.rows.n) if weight is None else np.flatnonzero(weight)
        part = kept if ranking is None else self._hardest(kept, ranking)
        y = problem.y[part]
        if abs(y.sum()) == len(y):  # one class
            return None
        X = problem.rows.X if len(part) == problem.rows.n else problem.rows.X[part]
        ranking = None if ranking is None else ranking[part]
        try:
            clock = Clock(None, work)
            found = decided(
                X, y, fit_intercept=problem.fit_intercept, clock=clock, ranking=ranking, weakly=ranking is None
            )
        except ProofTimeoutError:
            return None
        if len(part) < len(kept) and found.separable:  # the others may still forbid every plane
            return None
        self.found = found.in_rows(part.tolist())
        return self.found

    def _hardest(self, kept: IntArray, ranking: FloatArray) -> IntArray:
        """Return the first of the kept rows by their ranking, in the order of the data; each time twice as many."""
        rows = self.problem.rows
        count = max(4 * (rows.d + 2), int(self.room * rows.n / max(1, rows.stored)))
        self.room *= 2
        if count >= len(kept):
            return kept
        return np.sort(kept[np.argsort(ranking[kept], kind="stable")[:count]])
