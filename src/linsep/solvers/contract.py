"""What a solver is: one method, what it needs of an objective, and which reductions help it.

`needs` and `helped_by` are declared by the class of a solver, as words; here stands what the words mean. A solver of
the user's own may leave both out: it is then asked to minimise whatever there is, as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..losses import Loss
from ..objective.problem import Problem
from .result import Observer, Result, Start

__all__ = ["HELP", "NEEDS", "Need", "Solver", "check_needs", "has_quadratic_conjugate", "helped_by", "serves"]


class Solver(Protocol):
    """Anything that minimises an objective: an immutable record without side effects."""

    @property
    def name(self) -> str:
        """What users call it."""
        ...

    def solve(
        self, problem: Problem, *, start: Start | None = None, seed: int = 0, observer: Observer | None = None
    ) -> Result:
        """Minimise. The observer hears of every iteration and may stop the run by returning True."""
        ...


@dataclass(frozen=True)
class Need:
    """What a solver may need of an objective: in words, whether it is so, and in words what there is instead."""

    words: str
    met: Callable[[Any], bool]
    found: Callable[[Any], str]


def _of_loss(words: str, met: Callable[[Loss], bool]) -> Need:
    return Need(words, lambda objective: met(objective.loss), lambda objective: str(objective.loss))


def _of_penalty(words: str, met: Callable[[Any], bool]) -> Need:
    return Need(words, lambda objective: met(objective.penalty), lambda objective: repr(objective.penalty.formula))


def has_quadratic_conjugate(loss: Loss) -> bool:
    """Whether ℓ*(−a) = −a + a²/(2L) between the ends that `slopes` gives a.

    Examples
    --------
    >>> from linsep.losses import Hinge, Logistic, SquaredHinge
    >>> [has_quadratic_conjugate(loss()) for loss in (Hinge, SquaredHinge, Logistic)]
    [True, True, False]
    """
    if not (loss.margin and loss.convex and loss.defines("conjugate")):
        return False
    a = np.array([0.0, 0.3, 0.9]) * min(1.0, -loss.slopes[0])
    return bool(loss.slopes[1] == 0 and np.allclose(loss.conjugate(-a), -a + a**2 / (2 * loss.max_curvature)))


#: The words of `needs`, in the order in which they are checked.
NEEDS = {
    "quadratic": _of_loss("a quadratic loss", lambda loss: loss.quadratic),
    "convex": _of_loss("a convex loss", lambda loss: loss.convex),
    "smooth": _of_loss("a smooth loss", lambda loss: loss.smooth),
    "kink": _of_loss("a loss with a kink", lambda loss: not loss.smooth),
    "slope": _of_loss("a loss that is not flat, so that some step leads downhill", lambda loss: _has_slope(loss)),
    "curvature": _of_loss("a loss that defines its curvature", lambda loss: loss.defines("curvature")),
    "conjugate": _of_loss("a loss that defines its conjugate", lambda loss: loss.defines("conjugate")),
    "dual_step": _of_loss("a loss that defines its dual_step", lambda loss: loss.defines("dual_step")),
    "quadratic_conjugate": _of_loss("hinge or squared hinge", has_quadratic_conjugate),
    "rows": Need("its rows in memory", lambda objective: hasattr(objective.rows, "X"), lambda objective: "in blocks"),
    "l2": _of_penalty("the penalty ½‖w‖² alone", lambda penalty: penalty.l2 > 0 and penalty.l1 == 0),
    "l1": _of_penalty("a penalty with L1", lambda penalty: penalty.l1 > 0),
    "no_l1": _of_penalty("a penalty without L1", lambda penalty: penalty.l1 == 0),
}
#: The words of `helped_by`: the reductions, and the steps that prove an optimum without a penalty.
HELP = frozenset({"merging", "centring", "sparse", "scaling", "polishing"})


def _has_slope(loss: Loss) -> bool:
    return loss.convex or bool(loss.slope(np.linspace(-2.0, 2.0, 9)).any())


def helped_by(solver: Any) -> frozenset[str]:
    """Return what helps a solver, or the solver of a name, as it declares."""
    if isinstance(solver, str):
        from .choice import SOLVERS

        solver = SOLVERS.get(solver.removeprefix("softmax_"))
    return getattr(solver, "helped_by", frozenset())


def serves(solver: Any, objective: Any) -> bool:
    """Whether a solver, or the class of one, can minimise the objective."""
    return all(NEEDS[need].met(objective) for need in getattr(solver, "needs", ()))


def check_needs(solver: Solver, objective: Any) -> None:
    """Raise where an objective lacks what a solver needs, and say which solver would do."""
    if serves(solver, objective):
        return
    from .choice import automatic  # which knows all solvers

    lacking = next(NEEDS[need] for need in NEEDS if need in solver.needs and not NEEDS[need].met(objective))  # type: ignore[attr-defined]
    found, other = lacking.found(objective), automatic(objective)[0]
    raise ValueError(f"solver {solver.name!r} needs {lacking.words}, not {found}; use {other!r}")
