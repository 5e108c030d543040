"""Some of the examples, copied together: rows that are visited in random order had better lie near each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._common.types import FloatArray
from ..._core import Rows
from ...objective.objective import Objective

Order = NDArray[np.int32]

#: Copying pays for this many stored numbers, which no nearby cache holds, unless rows are as long as a page anyway.
WORTH, PAGE = 100_000, 512
#: It pays again when no more than this share of the rows at hand is still visited. A run that has been this long may
#: be as long again; a shorter one may be over before a copy has paid.
SHARE, PASSES = 0.5, 25


class Gathered:
    """The rows that passes of dual descent visit: all of a problem's at first, later a copy of those that are left.

    Parameters
    ----------
    problem : Objective
    c : array of shape (n,)
        The bound of each dual variable.
    """

    def __init__(self, problem: Objective, c: FloatArray) -> None:
        self.problem, self.c = problem, c
        self.copy: _Copy | None = None
        self.passes = 0
        self.worth = WORTH <= problem.rows.stored <= PAGE * problem.rows.n

    def dual_pass(self, order: Order, active: int, alpha: FloatArray, **how: Any) -> int:
        """One pass over the first `active` entries of `order`: the same steps as `Rows.dual_pass` takes, but sooner."""
        visited, problem = order[:active], self.problem
        self.passes += 1
        if self.copy is not None and not self.copy.has(visited):
            self.copy = None
        at_hand = problem.rows.n if self.copy is None else self.copy.rows.n
        if self.worth and self.passes > PASSES and active <= SHARE * at_hand:
            self.copy = _Copy(problem, self.c, np.sort(visited))
        if self.copy is None:
            return problem.rows.dual_pass(
                problem.y, self.c, problem.loss, order=order, active=active, alpha=alpha, **how
            )
        return self.copy.dual_pass(visited, alpha, **how)


class _Copy:
    """Some examples, in the order of their numbers."""

    def __init__(self, problem: Objective, c: FloatArray, which: Order) -> None:
        self.which, self.loss = which, problem.loss
        self.rows, self.y, self.c = Rows(problem.rows.X[which], tidy=True), problem.y[which], c[which]
        self.place = np.full(problem.rows.n, -1, dtype=np.int32)
        self.place[which] = np.arange(len(which), dtype=np.int32)

    def has(self, examples: Order) -> bool:
        return bool((self.place[examples] >= 0).all())

    def dual_pass(self, visited: Order, alpha: FloatArray, **how: Any) -> int:
        order, some = self.place[visited], alpha[self.which]
        active = self.rows.dual_pass(self.y, self.c, self.loss, order=order, active=len(order), alpha=some, **how)
        alpha[self.which], visited[:] = some, self.which[order]
        return active
