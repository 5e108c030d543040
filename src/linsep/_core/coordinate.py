"""Coordinate descent on the quadratic model of a proximal Newton step with an L1 penalty."""

from __future__ import annotations

from .._types import FloatArray
from .loading import kernels
from .products import StoredRows


class CoordinateRows(StoredRows):
    """Rows that stand for coordinates: one for each column of the data."""

    def column_descent(
        self,
        c: FloatArray,
        bend: FloatArray,
        q: FloatArray,
        w: FloatArray,
        *,
        l1: float,
        l2: float,
        accuracy: float,
        passes: int,
        delta: FloatArray,
        t: FloatArray,
        along: FloatArray,
    ) -> float:
        """Descend along one coordinate a row, changing `delta`, `t` and `along`; see `coordinate.hpp`."""
        loop = kernels.column_descent
        return float(loop(self._handle, c, bend, q, w, l1, l2, accuracy, passes, delta, t, along))


def gram_descent(H: FloatArray, l1: float, accuracy: float, passes: int, q: FloatArray, w: FloatArray) -> float:
    """Minimise q·δ + ½ δᵀHδ + l1 ‖w + δ‖₁ by coordinate, changing `w` and `q`; see `coordinate.hpp`."""
    return float(kernels.gram_descent(H, l1, accuracy, passes, q, w))
