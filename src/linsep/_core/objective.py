"""Passes over the examples that a sum of losses needs: its value, gradient and Hessian, and the sum of conjugates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._types import FloatArray, IntArray
from . import reference
from .loading import compiled, kernels, kernels_for
from .products import StoredRows
from .workers import IN_ONE_PIECE, threads, threads_for


@dataclass(frozen=True)
class Sums:
    """What one pass over the examples gives: see `Rows.evaluate`."""

    positive_total: float  # Σ u over the positive class (over all, if not split)
    negative_total: float
    value: float  # Σ s ℓ(z)
    mistakes: float  # Σ s over the examples with z ≤ 0
    positive: FloatArray  # Σ u x over the positive class (over all, if not split)
    negative: FloatArray  # over the negative class; empty if not split
    u: FloatArray  # s ℓ'(z) y of each example
    h: FloatArray  # s ℓ''(z); empty if not asked for

    @property
    def gradient(self) -> FloatArray:
        """Σ u x over all examples."""
        return self.positive + self.negative if len(self.negative) else self.positive


class ObjectiveRows(StoredRows):
    """Rows over which losses are summed."""

    def evaluate(
        self,
        y: FloatArray,
        weight: FloatArray | None,
        loss: Any,
        w: FloatArray,
        b: float,
        *,
        split: bool = False,
        curvature: bool = False,
        gradient: bool = True,
    ) -> Sums:
        """Return the sum of losses at (w, b) with its gradient, by class if `split`, and each example's share in it."""
        sums, u = np.empty(4 + gradient * (2 if split else 1) * self.d), np.empty(self.n)
        h = np.empty(self.n if curvature else 0)
        loops, rows, chosen = self._loop(loss)
        loops.evaluate(rows, y, weight, chosen, w, b, split, u, h if curvature else None, sums, self._threads())
        positive_total, negative_total, value, mistakes = sums[:4].tolist()
        totals = positive_total, negative_total, value, mistakes
        return Sums(*totals, sums[4 : 4 + self.d], sums[4 + self.d :], u, h)

    def hessian_product(self, h: FloatArray, v: FloatArray, c: float) -> FloatArray:
        """Σ h (x·v + c) [x, 1]: the Hessian of the sum of losses times (v, c)."""
        out = np.empty(self.d + 1)
        kernels.hessian_product(self._handle, h, v, c, out, self._threads())
        return out

    def gram(self, h: FloatArray, which: IntArray) -> FloatArray:
        """Σ h [x, 1][x, 1]ᵀ over the rows `which`, (d + 1) × (d + 1); only the lower triangle is sure to be filled."""
        out = np.zeros((self.d + 1, self.d + 1))
        if compiled is not None and (self.is_sparse or self.narrow):
            compiled.gram(self._handle, h, which, out, threads())
        else:
            reference.gram(self.X, h, which, out)
        return out


def conjugate_sum(
    y: FloatArray, weight: FloatArray | None, loss: Any, u: FloatArray, positive: float, negative: float
) -> float:
    """Σ s ℓ*(a) with a = u y / s, scaled by `positive` or `negative` according to the class."""
    loops, chosen = kernels_for(loss)
    return float(loops.conjugate_sum(y, weight, chosen, u, positive, negative, threads_for(len(y), IN_ONE_PIECE)))
