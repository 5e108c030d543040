"""Dual coordinate ascent for several classes: where Newton's method begins on text, and all but ends.

Each example's probabilities in turn are brought to where the dual is highest, given the others (Yu, Huang and Lin 2011,
*Dual coordinate descent methods for logistic regression and maximum entropy models*). Rows of length one and C near one
leave a fifth of the gap or so a pass, with no regard to how the columns are scaled; long rows or a large C hardly move.
So the passes go on while they are worth more than those of Newton's method, which takes over wherever they end, in
double precision and with a proof.

The intercepts are held by a spring, as in `descent`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..._common.types import FloatArray
from ..._core.softmax import side_by_side
from ...objective.objective import Objective


@dataclass(frozen=True)
class Tuned:
    """What trades passes here for steps of Newton's method."""

    #: The spring holds the intercepts as a column would whose square is this share of an average row's: see `descent`.
    spring: float = 0.05
    #: A pass that leaves more than this share of the gap is the last: conjugate gradients, of which a product costs
    #: about as much, then do better.
    brisk: float = 0.85
    #: The gap to go for is this part of `tol`: the planes' own dual point proves less than the dual variables do.
    own: float = 0.5
    #: Passes at the most.
    passes: int = 100


TUNED = Tuned()


def suits(problem: Objective) -> bool:
    """Whether there is a dual to ascend, of rows and weights within the range of single precision."""
    return problem.penalty.l2 > 0 and problem.rows.rough(problem.C / problem.penalty.l2 * problem.s) is np.float32


def dual_passes(
    problem: Objective, tol: float, rng: np.random.Generator, most: int, *, each: bool = False
) -> Iterator[tuple[int, FloatArray, FloatArray]]:
    """Make passes of dual ascent until the relative gap is about `tol` or they lead no further; give number and planes.

    Parameters
    ----------
    problem : Objective
        Of several classes, with an L2 penalty, its rows in memory.
    tol : float
    rng : Generator
        For the order of the examples.
    most : int
        Passes at the most.
    each : bool
        Whether to give the planes after each pass, not only after the last.

    Examples
    --------
    >>> from linsep._core import Rows
    >>> from linsep.objective.examples import InMemory
    >>> from linsep.objective.heads import Softmax
    >>> problem = Objective(InMemory(Rows(np.eye(3)), np.arange(3)), Softmax(3), C=1.0)
    >>> ((passes, w, b),) = dual_passes(problem, 1e-6, np.random.default_rng(0), 100)
    >>> problem.evaluate(w, b).bound.relative_gap < 1e-5
    True
    """
    K, d, rows = problem.classes, problem.d, problem.rows
    W = side_by_side(np.zeros((d, K)), np.zeros(K), np.float32)
    logs = np.full((problem.n, W.shape[1]), -np.inf, dtype=np.float32)
    logs[np.arange(problem.n), problem.codes] = 0.0  # all of an example's weight is its own class's: W = 0
    l2 = problem.penalty.l2
    c = problem.C / l2 * problem.s
    constant = TUNED.spring * problem.weighted_squares / problem.total_weight * problem.fit_intercept
    order, moved, before, passes = np.flatnonzero(c), np.zeros(K), 0.0, 0

    def planes() -> tuple[int, FloatArray, FloatArray]:
        return passes, *problem.head.canonical(W[:-1, :K].astype(np.float64), W[-1, :K].astype(np.float64))

    for passes in range(1, min(TUNED.passes, most) + 1):
        rng.shuffle(order)
        W[-1, :K] += constant * moved  # where the spring is fastened follows the intercepts
        gap, losses = rows.softmax_dual_pass(problem.codes, c, order, constant=constant, logs=logs, W=W, moved=moved)
        primal = losses + 0.5 * float(np.einsum("jk,jk->", W[:-1], W[:-1], dtype=np.float64))
        # At the end of a pass the gap is smaller than what the pass has met, by about as much as it was after the last.
        left = gap / before if before > 0 else TUNED.brisk
        if left > TUNED.brisk or left * gap <= TUNED.own * tol * primal:
            break
        before = gap
        if each and passes < min(TUNED.passes, most):
            yield planes()
    yield planes()
