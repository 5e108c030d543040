"""What every solver returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from .._common.types import FloatArray, IntArray
from ..arithmetic.enclosure import Interval
from ..arithmetic.redundancy import Redundancy
from ..history import History
from ..objective.duality import Bound

if TYPE_CHECKING:
    from ..separation.verdict import Separability

#: Hears of an iteration: its number, the point [w, b], the objective; True ends the run.
Observer = Callable[[int, FloatArray, float], bool]

#: The message of a run that its observer ended.
STOPPED_BY_OBSERVER = "stopped by a callback"
#: The message of a perceptron that is proven never to end.
STOPPED_BY_PROOF = "stopped by a proof"


@dataclass(frozen=True)
class Start:
    """Where a run begins: a point, the step count its schedule goes on from, a sum of iterates, a dual point."""

    w: FloatArray
    b: Any = 0.0
    step: int = 0
    sum_w: FloatArray | None = None
    sum_b: Any = 0.0
    sum_from: int = 0
    alpha: Any = None


@dataclass(frozen=True)
class Votes:
    """The planes of a voted perceptron, as the examples that were added one after the other.

    Plane k is the sum of `signs[j] · x[examples[j]]` over j ≤ k; it stood for `counts[k]` steps.
    """

    examples: IntArray
    signs: FloatArray
    counts: IntArray


@dataclass(frozen=True)
class Result:
    """The outcome of a run.

    Attributes
    ----------
    w, b : array, float
        The point that is reported; of several classes, a column of w and an entry of b for each.
    n_iter : int
        Iterations (of a stochastic method: passes over the data).
    converged : bool
        Whether a stopping rule other than the number of iterations ended the run.
    message : str
        Why it ended.
    history : History
    last : Start
        The current point, from which the run could go on; it need not be the one reported.
    advice : str
        What to change, where the step size was wrong; empty if nothing is.
    interrupted : bool
        Whether Ctrl-C ended it.
    updates : int
        How often the loss moved the point.
    update_counts : array or None
        How often each example did, where that was counted.
    votes : Votes or None
    proof : Bound or None
        Between what the optimum is proven to lie, by solvers that know.
    separability : Separability or None
        What was proven of the classes on the way, by the perceptron.
    alpha : array or None
        The dual point behind `proof`, where it does not follow from (w, b): Σ αᵢ yᵢ = 0 up to rounding if b is free.
    z : array or None
        The agreements yᵢ (w·xᵢ + b), where the solver has just computed them.
    least : float or None
        The lowest of these, where that is all that was kept.
    enclosed : pair of Interval, or None
        The objective and the bound on the optimum with every rounding accounted for, where that is known already.
    redundancy : Redundancy or None
        Which columns are combinations of others, where somebody has looked.
    no_optimum : str
        Why the optimum seems to be attained nowhere, however near to it this is; empty if nothing says so.
    """

    w: FloatArray
    b: Any
    n_iter: int
    converged: bool
    message: str
    history: History
    last: Start
    advice: str = ""
    interrupted: bool = False
    updates: int = 0
    update_counts: IntArray | None = None
    votes: Votes | None = None
    proof: Bound | None = None
    alpha: Any = None
    separability: Separability | None = None
    z: FloatArray | None = None
    least: float | None = None
    enclosed: tuple[Interval, Interval] | None = None
    redundancy: Redundancy | None = None
    no_optimum: str = ""

    def as_part(self) -> Self:
        """Return itself, as a part of another run; raise again the Ctrl-C that ended it, which would be lost there."""
        if self.interrupted:
            raise KeyboardInterrupt
        return self
