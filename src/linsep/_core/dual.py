"""Dual coordinate descent: passes over all examples, by one thread or by two halves at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import FloatArray
from .products import StoredRows
from .workers import threads


class DualRows(StoredRows):
    """Rows with a dual variable each."""

    def dual_pass(
        self,
        y: FloatArray,
        c: FloatArray,
        loss: Any,
        *,
        constant: float,
        b: FloatArray,
        order: NDArray[np.int32],
        active: int,
        seed: int,
        alpha: FloatArray,
        w: FloatArray,
        slopes: FloatArray,
    ) -> int:
        """One pass of dual coordinate descent, changing `alpha`, `w`, `b`, `order` and `slopes`; see `dual.hpp`."""
        (loops, rows, chosen), q = self._loop(loss), self.squared_norms()
        return int(loops.dual_pass(rows, y, c, chosen, q, constant, b, order, active, seed, alpha, w, slopes))

    def dual_halves(
        self,
        y: FloatArray,
        c: FloatArray,
        loss: Any,
        *,
        constant: float,
        b: FloatArray,
        order: NDArray[np.int32],
        seed: int,
        alpha: FloatArray,
        w: FloatArray,
        other: FloatArray,
    ) -> float:
        """One pass of dual descent by two halves at once, changing `alpha`, `w`, `b` and `order`; see `halves.hpp`.

        Returns an estimate of the duality gap; `other` is room for a second copy of the weights.
        """
        (loops, rows, chosen), q = self._loop(loss), self.squared_norms()
        into = alpha, w, other, threads()
        return float(loops.dual_halves(rows, y, c, chosen, q, constant, b, order, seed, *into))
