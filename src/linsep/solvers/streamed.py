"""What the methods for examples in parts share: where they keep what must outlast a pass, and where they begin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..objective.duality import Bound
from ..objective.objective import Objective
from ..objective.parted import Block
from .history import Record
from .run import GapRun, Method

FloatArray = NDArray[np.float64]
#: Hears of every pass: how many there were, and the gap that is proven.
Told = Callable[[int, float], None]

__all__ = ["FloatArray", "InProcess", "StreamedRun", "Told", "Vector", "Workspace", "sample_problem"]


class Vector(Protocol):
    """One number for each example, kept elsewhere than in memory."""

    def read(self, which: slice) -> FloatArray:
        """Return some of them."""
        ...

    def write(self, which: slice, values: FloatArray) -> None:
        """Change some of them."""
        ...


class Workspace(Protocol):
    """What outlasts a pass, and the process if that is killed."""

    @property
    def state(self) -> dict[str, Any] | None:
        """What was kept last, in terms of JSON; None at the beginning."""
        ...

    def keep(self, state: dict[str, Any]) -> None:
        """Remember where the run stands: a pass is complete."""
        ...

    def vector(self, name: str) -> Vector:
        """Return the vector of that name; zeros, if it is new."""
        ...

    def passed(self, passes: int, gap: float) -> None:
        """Hear of a pass: how many there were, and the gap that is proven."""
        ...


class InProcess:
    """A workspace in memory, for a run that nobody wants to go on with."""

    state: dict[str, Any] | None = None

    def __init__(self) -> None:
        self._vectors: dict[str, _Held] = {}

    def keep(self, state: dict[str, Any]) -> None:
        """Nobody asks again."""

    def vector(self, name: str) -> Vector:
        """Return the vector of that name."""
        return self._vectors.setdefault(name, _Held())

    def passed(self, passes: int, gap: float) -> None:
        """Nobody listens."""


class _Held:
    """The numbers of each block."""

    def __init__(self) -> None:
        self._blocks: dict[int, FloatArray] = {}

    def read(self, which: slice) -> FloatArray:
        found = self._blocks.get(which.start)
        return np.zeros(which.stop - which.start) if found is None else found.copy()

    def write(self, which: slice, values: FloatArray) -> None:
        self._blocks[which.start] = values.copy()


def sample_problem(problem: Objective, sample: Block) -> Objective | None:
    """Return the problem on a sample, which counts as much as all examples; None where it says nothing of them."""
    positive = int((sample.codes == problem.positive).sum())
    if not 0 < positive < len(sample.codes):
        return None
    return problem.on(sample, None if sample.weight is not None else problem.C * problem.n / len(sample.codes))


class HasWeights(Protocol):
    """A problem of any kind."""

    @property
    def weight_of_loss(self) -> float:
        """What multiplies the sum of losses in P."""
        ...

    @property
    def total_weight(self) -> float:
        """N = Σ sᵢ."""
        ...


class Provable(Protocol):
    """A point of which another pass proves more."""

    @property
    def objective(self) -> float:
        """P(w, b)."""
        ...

    def exact_bound(self) -> Bound:
        """Return what that pass proves."""
        ...


class StreamedRun(GapRun):
    """A run that goes through all examples pass by pass, counts the passes, and could go on another day."""

    def __init__(self, method: Method, workspace: Workspace, told: Told | None) -> None:
        super().__init__(method)
        self.workspace, self.told, self.passes = workspace, told, 0

    def count_pass(self, gap: float) -> None:
        """Count a pass, and tell of it."""
        self.passes += 1
        self.tell_pass(gap)

    def tell_pass(self, gap: float) -> None:
        """Let whoever listens hear of a pass, and of the gap that is proven."""
        if self.told is not None:
            self.told(self.passes, gap)

    def last_proof(self, point: Provable) -> Bound:
        """Return what is proven of the last point; whoever has interrupted the run and is in a hurry does so again."""
        hurried = self.interrupted
        with self.until_it_ends():
            return point.exact_bound()
        return Bound(point.objective, 0.0) if hurried else self.last_proof(point)  # losses are not negative

    def record_pass(self, problem: HasWeights, primal: float, value: float, mistakes: float) -> None:
        """Remember a pass: the objective, the sum of the losses and of the mistakes' weights at its point."""
        scale = problem.total_weight
        objective = primal / (problem.weight_of_loss * scale)
        self.history.add(Record(self.passes, self.passes, objective, value / scale, mistakes / scale, best=objective))
