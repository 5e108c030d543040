"""Where a run on examples elsewhere than in memory keeps what must outlast a pass."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

__all__ = ["Vector", "Workspace"]


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
