"""Where a run on examples elsewhere than in memory keeps what must outlast a pass."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from .._types import FloatArray


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
        """Hear of a pass over the examples: how many there were, and the gap that is proven."""
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
