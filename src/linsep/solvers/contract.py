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
from ..objective.objective import Objective
from .result import Observer, Result, Start


class Solver(Protocol):
    """Anything that minimises an objective: an immutable record without side effects."""

    @property
    def name(self) -> str:
        """What users call it."""
        ...

    def solve(
        self, objective: Objective, /, *, start: Start | None = None, seed: int = 0, observer: Observer | None = None
    ) -> Result:
        """Minimise. The observer hears of every iteration and may stop the run by returning True."""
        ...


@dataclass(frozen=True)
class Need:
    """What a solver may need of an objective: in words, whether it is so, and in words what there is instead."""

    words: str
    met: Callable[[Objective], bool]
    found: Callable[[Objective], str]
    advice: str = "choose another loss, such as 'hinge'"


def _of_loss(words: str, met: Callable[[Loss], bool], advice: str = Need.advice) -> Need:
    return Need(words, lambda objective: met(objective.loss), lambda objective: repr(objective.loss.name), advice)


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


#: Numbers of every row that a method may keep in memory, while the rows themselves are elsewhere.
VECTORS = 32
#: Two agreements on the wrong side, the plane itself included, and two on the right one.
_SIDES = np.array([-2.0, 0.0, 1e-3, 2.0])
#: The words of `needs`, in the order in which they are checked.
NEEDS = {
    "quadratic": _of_loss("a quadratic loss", lambda loss: loss.quadratic),
    "convex": _of_loss("a convex loss", lambda loss: loss.convex),
    "smooth": _of_loss("a smooth loss", lambda loss: loss.smooth),
    "kink": _of_loss("a loss with a kink", lambda loss: not loss.smooth),
    "slope": _of_loss(
        "a loss that is not flat, so that some step leads downhill",
        lambda loss: loss.convex or bool(loss.slope(np.linspace(-2.0, 2.0, 9)).any()),
        f"{Need.advice}, or minimise it exactly by ZeroOneClassifier",
    ),
    "curvature": _of_loss("a loss that defines its curvature", lambda loss: loss.defines("curvature")),
    "conjugate": _of_loss("a loss that defines its conjugate", lambda loss: loss.defines("conjugate")),
    "dual_step": _of_loss("a loss that defines its dual_step", lambda loss: loss.defines("dual_step")),
    "quadratic_conjugate": _of_loss("hinge or squared hinge", has_quadratic_conjugate),
    "one_plane": Need(
        "one plane",
        lambda objective: objective.head.planes is None,
        lambda objective: f"{objective.head.planes} at once, by {objective.head.words}",
    ),
    "one_plane_or_rows": Need(
        "one plane, or its rows in memory",
        lambda objective: objective.head.planes is None or objective.examples.resident is not None,
        lambda objective: f"{objective.head.planes} at once and rows on disk",
        "give it more memory, or fit one class against the rest",
    ),
    "rows": Need(
        "its rows in memory",
        lambda objective: objective.examples.resident is not None,
        lambda objective: "on disk",
        "use a smooth loss such as 'squared_hinge', or 'hinge' with the penalty ½‖w‖² alone",
    ),
    "in_turn": Need(
        "its rows one block after the other",
        lambda objective: objective.examples.in_turn,
        lambda objective: "on many machines at once",
        "use 'auto'",
    ),
    "vectors": Need(
        f"room in memory for some {VECTORS} numbers of every row",
        lambda objective: objective.examples.resident is not None or objective.examples.holds >= VECTORS,
        lambda objective: f"for {objective.examples.holds:.3g}",
        "give it more, or use a smooth loss such as 'squared_hinge', or 'hinge' with the penalty ½‖w‖² alone",
    ),
    "perceptron": _of_loss("the perceptron's loss", lambda loss: bool((loss.slope(_SIDES) == [-1, -1, 0, 0]).all())),
    "counting": _of_loss("the zero-one loss", lambda loss: bool((loss.value(_SIDES) == [1, 1, 0, 0]).all())),
    "l2": _of_penalty("the penalty ½‖w‖² alone", lambda penalty: penalty.l2 > 0 and penalty.l1 == 0),
    "l1": _of_penalty("a penalty with L1", lambda penalty: penalty.l1 > 0),
    "no_l1": _of_penalty("a penalty without L1", lambda penalty: penalty.l1 == 0),
}


class NotInMemoryError(ValueError):
    """Nothing but what there is no room for in memory keeps a solver from minimising an objective."""


def helped_by(solver: Any) -> frozenset[str]:
    """Return which reductions, and whether polishing, help a solver, or the solver of a name, as it declares."""
    if isinstance(solver, str):
        from .choice import SOLVERS

        solver = SOLVERS.get(solver)
    return getattr(solver, "helped_by", frozenset())


def in_passes(solver: str) -> bool:
    """Whether the solver of a name takes the examples one after the other: its iterations are passes over them.

    Examples
    --------
    >>> in_passes("dual"), in_passes("newton")
    (True, False)
    """
    from .choice import SOLVERS

    return "in_turn" in getattr(SOLVERS.get(solver), "needs", ())


def serves(solver: Any, objective: Objective, *, but_for: str = "") -> bool:
    """Whether a solver, or the class of one, can minimise the objective; `but_for`: a need that is left aside."""
    return all(NEEDS[need].met(objective) for need in getattr(solver, "needs", ()) if need != but_for)


def check_needs(solver: Solver, objective: Objective) -> None:
    """Raise where an objective lacks what a solver needs, and say which solver would do."""
    if serves(solver, objective):
        return
    from .choice import SOLVERS, automatic  # which know all solvers

    needs: frozenset[str] = solver.needs  # type: ignore[attr-defined]
    lacking = next(NEEDS[need] for need in NEEDS if need in needs and not NEEDS[need].met(objective))
    other = automatic(objective)[0]
    advice = f"use {other!r}" if serves(SOLVERS[other], objective) else lacking.advice
    in_memory = [NEEDS[need] for need in ("rows", "vectors", "one_plane_or_rows")]
    kind = NotInMemoryError if lacking in in_memory else ValueError
    raise kind(f"solver {solver.name!r} needs {lacking.words}, not {lacking.found(objective)}; {advice}")
