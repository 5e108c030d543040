"""Rough proximal Newton steps on sparse rows, by their columns: a compiled loop, cheaper than a step by a good model.

Far from the optimum they lead as far. Near it they still pay where a Hessian would be more work than it saves: where
the columns of a working set are short.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._common.types import FloatArray, IntArray
from ...objective.duality import Bound
from ...objective.objective import Objective
from .line_search import ARMIJO
from .preconditioner import work_of_factor
from .proximal_models import work_of_gram


@dataclass(frozen=True)
class Tuning:
    """The constants of these steps, with what each trades; the L1 problems of `benchmarks/race.py` show the cost."""

    #: Of fewer stored numbers any way takes as long: there dense and sparse rows go the same one, to the same digits.
    from_stored: int = 1_000
    #: So many at the most, of so many passes over the columns, until slopes are off by a share of what they first were.
    steps: int = 20
    passes: int = 12
    enough: float = 0.02
    #: From one working set to the next that share is made so much less, at the most and at the least.
    finer: tuple[float, float] = (0.03, 0.3)
    #: So many stored numbers are gone over at once.
    at_once: int = 10**8
    #: The shortest step that is tried.
    shortest: float = 0.2
    #: They are to be less work than a working set's Hessian, which costs as much as going over so many stored numbers
    #: however small it is, and more as it is factored. The first are expected to go
    #: over each number so often, the next so many times as often as these.
    dear: float = 1.5e6
    expected: float = 18.0
    growth: float = 1.5
    #: They go on as long as each working set leaves no more than this share of the gap or, far from the optimum, lowers
    #: P by this share: first in single precision. They end after so many times the work of a Hessian.
    gain: float = 0.5
    fall: float = 1e-3
    budget: float = 3.0


TUNED = Tuning()


class RoughSteps:
    """Rough steps on one working set after the other, and whether they still pay.

    Examples
    --------
    >>> from scipy import sparse
    >>> from linsep._core import Rows
    >>> from linsep.losses import Logistic
    >>> from linsep.objective.problem import Problem
    >>> from linsep.penalties import L1
    >>> X = sparse.csr_array(np.array([[0.0, 1.0], [1.0, 0.0], [3.0, 0.0], [4.0, 1.0]]))
    >>> problem = Problem(Rows(X), np.array([-1.0, -1.0, 1.0, 1.0]), Logistic(), L1(), 2.0)
    >>> w, b = RoughSteps(problem).take(np.arange(2), np.zeros(2), 0.0)
    >>> bool(w[0] > 0), float(w[1])
    (True, 0.0)
    """

    def __init__(self, problem: Objective) -> None:
        self.problem, self.pay, self.single, self.expected = problem, True, True, TUNED.expected
        # How exact the next ones are to be, and what the kernel keeps from call to call.
        self.enough, self.manner = TUNED.enough, np.array([0.0, 1.0, 0.0, 0.0])

    @staticmethod
    def serve(problem: Objective) -> bool:
        """Whether there are such steps for these examples, and enough of these to take them."""
        one_plane = problem.head.planes is None and problem.examples.resident is not None
        return one_plane and problem.rows.stored >= TUNED.from_stored and problem.rows.steps_roughly(problem.loss)

    def take(self, chosen: IntArray, w: FloatArray, b: float, budget: float = np.inf) -> tuple[FloatArray, float]:
        """Return where steps on these features lead, from a point whose other weights are zero.

        They end where they have gone over so many stored numbers as the `budget` says, and pay no longer then.
        """
        problem, moved, level = self.problem, w[chosen], np.array([b])
        columns, c = problem.rows.turned.columns(chosen), problem.weight_of_loss * problem.s
        changing = dict(w=moved, b=level, scores=columns.matvec(moved) + b, manner=self.manner)
        penalty = dict(l1=problem.penalty.l1, l2=problem.penalty.l2, intercept=problem.fit_intercept)
        pace = dict(passes=TUNED.passes, enough=self.enough, armijo=ARMIJO, shortest=TUNED.shortest, single=self.single)
        stored, end = TUNED.passes * max(1, columns.stored), self.manner[3] + budget
        left, at_once = TUNED.steps, max(1, int(min(TUNED.at_once, budget) // stored))
        while left > 0:  # in between Python hears of Ctrl-C
            steps = min(at_once, left)
            taken = columns.newton(problem.y, c, problem.loss, steps=steps, **penalty, **pace, **changing)
            left = left - steps if taken == steps else 0
            if left > 0 and self.manner[3] > end:
                self.pay, left = False, 0
        new = np.zeros_like(w)
        new[chosen] = moved
        return new, float(level[0])

    def are_less_work(self, chosen: IntArray) -> bool:
        """Whether they are less work on these features than steps by the Hessian of these."""
        return self.expected * self.problem.rows.turned.columns(chosen).stored < self._work_by_hessian(chosen)

    def _work_by_hessian(self, chosen: IntArray) -> float:
        """Return how many stored numbers could be gone over meanwhile."""
        rows = self.problem.rows
        share = rows.turned.columns(chosen).stored / rows.stored
        return share**2 * work_of_gram(rows) + work_of_factor(len(chosen)) + TUNED.dear

    def go_on(self, chosen: IntArray, w: FloatArray, b: float, left: float) -> tuple[FloatArray, float]:
        """Take more exact ones on these features, where the gap is to be made `left` times what it is."""
        least, most = TUNED.finer
        self.enough *= min(most, max(least, most * left))
        before = self.manner[3]
        found = self.take(chosen, w, b, TUNED.budget * self._work_by_hessian(chosen))
        stored = max(1, self.problem.rows.turned.columns(chosen).stored)
        self.expected = min(TUNED.growth * float(self.manner[3] - before) / stored, TUNED.steps * TUNED.passes)
        return found

    def judge(self, before: Bound, after: Bound) -> None:
        """Hear of the bounds before and after: where little was gained, more digits may help; else they do not pay."""
        if after.gap > TUNED.gain * before.gap and after.primal > (1.0 - TUNED.fall) * before.primal:
            self.pay, self.single = self.pay and self.single, False
