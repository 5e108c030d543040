"""What the methods for examples in parts share: where they keep what must outlast a pass, and where they begin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..duality import Bound
from ..history import History, Record
from ..parted import Block, PartedProblem
from ..problem import Problem

FloatArray = NDArray[np.float64]
#: Hears of every pass: how many there were, and the gap that is proven.
Told = Callable[[int, float], None]

__all__ = ["FloatArray", "Told", "Vector", "Workspace", "note", "sample_problem"]


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


def sample_problem(problem: PartedProblem, sample: Block) -> Problem | None:
    """Return the problem on a sample, which counts as much as all examples; None where it says nothing of them."""
    positive = int((sample.codes == problem.positive).sum())
    if not 0 < positive < len(sample.codes):
        return None
    if sample.weight is None:
        return problem.on(sample.rows, sample.codes, problem.C * problem.rows.n / len(sample.codes))
    part = problem.on(sample.rows, sample.codes, problem.C)
    own = 1.0 if part.sample_weight is None else part.sample_weight
    return replace(part, sample_weight=own * sample.weight)


def note(history: History, problem: PartedProblem, passes: int, proof: Bound, value: float, mistakes: float) -> None:
    """Record a pass: the sum of the losses and of the mistakes' weights at its point."""
    scale = problem.total_weight
    objective = proof.primal / (problem.weight_of_loss * scale)
    history.add(Record(passes, passes, objective, value / scale, mistakes / scale, best=objective))
