"""Dual coordinate ascent for the margins between several classes: where the augmented Lagrangian begins.

Each example's masses in turn are brought to where the dual is highest, given the others (Keerthi, Sundararajan, Chang,
Hsieh and Lin 2008, *A sequential dual method for large scale multi-class linear SVMs*). An example that did not move
for some passes is left out for as many. On text that is all there is to do; where rows are long or C is large the
passes find which examples and classes have masses, and Newton's method inside the augmented Lagrangian how much.

The intercepts are held by a spring, as in `descent`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._core.softmax import side_by_side
from ...objective.objective import Objective
from ..result import Start


@dataclass(frozen=True)
class Tuned:
    """What trades passes here for steps of Newton's method."""

    spring: float = 0.05  #: As in `descent`.
    passes: int = 100  #: Passes at the most: they find who has masses, and a Newton step costs as much as many of them.
    own: float = 0.5  #: The gap to go for is this part of `tol`: while it falls, a pass sees more of it than is left.
    aside: int = 20  #: An example is left out for so many passes at the most.


TUNED = Tuned()


def margin_start(problem: Objective, tol: float, rng: np.random.Generator) -> Start:
    """Return planes and masses whose relative gap is about `tol`, or where some passes of dual ascent lead.

    Examples
    --------
    >>> from linsep._core import Rows
    >>> from linsep.objective.examples import InMemory
    >>> from linsep.objective.heads import CrammerSinger
    >>> problem = Objective(InMemory(Rows(np.eye(3)), np.arange(3)), CrammerSinger(3), C=1.0)
    >>> margin_start(problem, 1e-6, np.random.default_rng(0)).w.round(3)
    array([[ 0.667, -0.333, -0.333],
           [-0.333,  0.667, -0.333],
           [-0.333, -0.333,  0.667]])
    """
    K, l2, rows = problem.classes, problem.penalty.l2, problem.rows
    codes, c = np.ascontiguousarray(problem.codes, dtype=np.int64), problem.C / l2 * problem.s
    W = side_by_side(*problem.zeros(), np.float64)
    masses, own = np.zeros((problem.n, K)), (np.arange(problem.n), codes)
    masses[own] = c
    constant = TUNED.spring * problem.weighted_squares / problem.total_weight * problem.fit_intercept
    counted, moved, still = np.flatnonzero(c), np.zeros(K), np.zeros(problem.n, dtype=np.int64)
    due, state = np.zeros(problem.n, dtype=np.int64), dict(masses=masses, W=W, moved=moved, still=still)
    k, whole = 0, True
    while k < TUNED.passes:
        k += 1
        order = counted if whole else counted[due[counted] <= k]
        W[-1, :K] += constant * moved  # where the spring is fastened follows the intercepts
        gap, losses = rows.margin_dual_pass(codes, c, rng.permutation(order), constant=constant, **state)
        due[order] = k + 1 + np.minimum(still[order], TUNED.aside)
        primal = losses + 0.5 * float(np.einsum("jk,jk->", W[:-1], W[:-1]))
        if gap <= TUNED.own * tol * primal:
            if whole:
                break
            whole = True
        else:
            whole = False
    alpha = l2 * masses
    alpha[own] = 0.0
    w, b = problem.head.canonical(W[:-1, :K].copy(), W[-1, :K].copy())
    return Start(w, b, alpha=alpha)
