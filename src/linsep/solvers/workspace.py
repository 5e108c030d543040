"""Where a run on examples elsewhere than in memory keeps what must outlast a pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from .._common.types import FloatArray


class Vector(Protocol):
    """One number for each example, kept elsewhere than in memory."""

    def read(self, which: slice) -> FloatArray:
        """Return some of them."""
        ...

    def write(self, which: slice, values: FloatArray) -> None:
        """Change some of them."""
        ...


class Made:
    """A vector that is made as it is read, of what is in memory or of another one."""

    def __init__(self, read: Callable[[slice], FloatArray]) -> None:
        self.read = read


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
    """One number for each example, in memory; as many as were asked for."""

    def __init__(self) -> None:
        self._values = np.zeros(0)

    def _up_to(self, stop: int) -> FloatArray:
        if stop > len(self._values):
            self._values = np.append(self._values, np.zeros(max(stop, 2 * len(self._values)) - len(self._values)))
        return self._values

    def read(self, which: slice) -> FloatArray:
        return self._up_to(which.stop)[which].copy()

    def write(self, which: slice, values: FloatArray) -> None:
        self._up_to(which.stop)[which] = values
