"""LIBSVM text."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .loading import kernels
from .workers import threads


def libsvm_text(text: NDArray[np.uint8]) -> Any:
    """Return LIBSVM text ready to be parsed, and how much room that takes; see `reference.LibsvmText`."""
    return kernels.LibsvmText(text, threads())
