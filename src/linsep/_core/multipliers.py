"""The augmented Lagrangian (method of multipliers): its inner problem, and a whole run for few features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._types import FloatArray
from .loading import kernels, kernels_for
from .products import StoredRows
from .workers import IN_ONE_PIECE, threads_for


@dataclass(frozen=True)
class Springs:
    """What a run of the method of multipliers changes: see `springs.hpp`."""

    point: FloatArray  # [w, b]
    z: FloatArray  # its agreements
    a: FloatArray  # dual variables
    h: FloatArray  # how they bend
    centre: FloatArray  # where their springs pull them
    width: FloatArray  # one number: how slack the springs are
    best_point: FloatArray
    best_alpha: FloatArray
    proof: FloatArray  # P of the best point, D of the best dual point


@dataclass(frozen=True)
class Ending:
    """How a run of the method of multipliers ended."""

    why: str  # "proven", "tired" (of steps), "stuck" (no step leads anywhere) or "full" (no room to take notes)
    steps: int
    log: FloatArray  # for each point: the steps so far, P, Σ c ℓ(z), Σ c over the mistakes, the least P so far
    settled: bool  # whether z are the agreements of the best point, computed afresh


class MultiplierRows(StoredRows):
    """Rows whose dual variables are held by springs (proximal terms)."""

    def sprung_duals(
        self,
        y: FloatArray,
        c: FloatArray,
        loss: Any,
        *,
        centre: FloatArray,
        z: FloatArray,
        width: float,
        split: bool,
        a: FloatArray,
        h: FloatArray,
    ) -> FloatArray:
        """Replace `a` and `h` by each example's dual variable on a spring, and how it bends; return sums.

        The sums are those that `multipliers.hpp` names.
        """
        sums = np.empty(6 + (2 if split else 1) * self.d)
        loops, rows, chosen = self._loop(loss)
        loops.sprung_duals(rows, y, c, chosen, centre, z, width, split, a, h, sums, self._threads())
        return sums

    def sprung_newton(
        self,
        y: FloatArray,
        c: FloatArray,
        loss: Any,
        springs: Springs,
        *,
        l2: float,
        intercept: bool,
        tol: float,
        target: float,
        narrower: float,
        narrowest: float,
        more: int,
        most: int,
    ) -> Ending:
        """Run the method of multipliers from `springs`, which it changes; see `springs.hpp` and its twin."""
        at = springs
        arrays = at.point, at.z, at.a, at.h, at.centre, at.width, at.best_point, at.best_alpha, at.proof
        log, ended = np.empty((4 * most + 64, 5)), np.zeros(4, dtype=np.int64)
        settings = l2, intercept, tol, target, narrower, narrowest, more, most
        loops, rows, chosen = self._loop(loss)
        loops.sprung_newton(rows, y, c, chosen, *settings, *arrays, log, ended, self._threads())
        why, steps, notes, settled = ended.tolist()
        return Ending(kernels.ENDS[why], steps, log[:notes], bool(settled))


def sprung_line_search(
    c: FloatArray,
    loss: Any,
    *,
    centre: FloatArray,
    z: FloatArray,
    dz: FloatArray,
    width: float,
    first: float,
    linear: float,
    quadratic: float,
    accuracy: float,
) -> float:
    """Return the t that minimises t·linear + ½t²·quadratic + Σ (inner loss at z + t dz); see `multipliers.hpp`."""
    loops, chosen = kernels_for(loss)
    where = c, chosen, centre, z, dz, width, first, linear, quadratic, accuracy
    return float(loops.sprung_line_search(*where, threads_for(len(c), IN_ONE_PIECE)))
