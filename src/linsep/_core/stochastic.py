"""Stochastic descent: steps of several planes side by side, and what is measured of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._types import FloatArray, IntArray
from .loading import kernels
from .products import StoredRows

#: How many planes the kernels step at a time.
PACK: int = kernels.PACK


class StochasticRows(StoredRows):
    """Rows that are visited one at a time."""

    def stochastic_steps(
        self,
        y: FloatArray,
        weight: FloatArray | None,
        order: IntArray,
        eta: FloatArray,
        loss: Any,
        *,
        l2: float,
        l1: float,
        intercept: bool,
        w: FloatArray,
        b: FloatArray,
        sum_w: FloatArray | None = None,
        sum_b: FloatArray | None = None,
        counts: IntArray | None = None,
        moved: NDArray[np.uint8] | None = None,
    ) -> int:
        """Take one stochastic step for each entry of `order`, changing `w` and `b` (and the notes) in place.

        `w` and `y` are vectors, or have one column for each of several planes (as many as `whole_packs` says). Returns
        how often planes were moved. See `reference.stochastic_steps`.
        """
        loops, rows, chosen = self._loop(loss)
        columns = [None if part is None else part.reshape(len(part), -1) for part in (y, w, sum_w, counts, moved)]
        y, w, sum_w, counts, moved = columns  # type: ignore[assignment]
        steps = order, eta, chosen, l2, l1, intercept
        return int(loops.stochastic_steps(rows, y, weight, *steps, w, b, sum_w, sum_b, counts, moved))

    def measure(
        self,
        y: FloatArray,
        weight: FloatArray | None,
        loss: Any,
        W: FloatArray,
        b: FloatArray,
        *,
        total: float,
        l2: float,
        l1: float,
        room: FloatArray | None = None,
    ) -> FloatArray:
        """Return seven numbers for each plane, a column of W: see `reference.measure`; `room` is as large as W."""
        out, room = np.empty((7, W.shape[1])), np.empty_like(W) if room is None else room
        loops, rows, chosen = self._loop(loss)
        loops.measure(rows, y, weight, chosen, W, b, total, l2, l1, room, out)
        return out


def whole_packs(planes: int) -> int:
    """Return how many planes the kernels step side by side where so many are wanted: the next multiple of four.

    >>> whole_packs(10)
    12
    """
    return -(-planes // PACK) * PACK


def interleaved(length: int, planes: int) -> FloatArray:
    """Return room for so many planes, one in each column, so that no pack lies across two lines of the cache.

    >>> interleaved(3, 4).shape
    (3, 4)
    """
    line = 64
    room = np.empty(length * planes + line // 8)
    first = -room.ctypes.data % line // 8
    return room[first : first + length * planes].reshape(length, planes)
