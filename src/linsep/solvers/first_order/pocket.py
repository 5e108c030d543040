"""The pocket: the best of all planes that a perceptron has met, not of those at the ends of its passes alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..._common.types import FloatArray
from ..._core import interleaved
from ..result import Start
from .walk import Walk

#: What looking may cost beside the walk itself, in elementary operations: some tenths of a second.
WORK = 2e8


def best_met(walk: Walk, plane: int, start: Start, steps: int, updates: int) -> tuple[FloatArray, float] | None:
    """Return the plane with the fewest mistakes, of as many that with the lowest risk, among those a walk has met.

    The same steps are taken again, and planes are looked at on the way; so a walk that ends without mistakes, whose
    last plane is the best, pays nothing. Every plane is looked at where that costs no more than `WORK`, or the walk;
    else those that stood for longest, as a plane with few mistakes does (Gallant's pocket): the number of visits is
    chosen so that about as many stand for it as can be looked at. None where no plane was.
    """
    again = Walk(replace(walk.method, record="pass"), walk.problems, [plane], [start], walk.seed)
    rows, width = again.problem.rows, again.width
    most = max(steps / max(1, rows.n), WORK / (width * (rows.stored + rows.n + rows.d)))
    stood, kept = np.full(width, -1, dtype=np.int64), np.full((4, width), np.inf)
    kept[3] = again.problem.total_weight
    kept_w = interleaved(rows.d, width)
    counted = again.problem.sample_weight
    again.pocket = dict(patience=patience(steps, updates, most), stood=stood, counted=counted, kept=kept, kept_w=kept_w)
    again.take(steps)
    return (np.ascontiguousarray(kept_w[:, 0]), float(kept[2, 0])) if np.isfinite(kept[0, 0]) else None


def patience(steps: int, updates: int, most: float) -> int:
    """Return for how many visits a plane has to stand so that about `most` planes do: each visit moves a share of them.

    Examples
    --------
    >>> patience(steps=1000, updates=100, most=100.0), patience(steps=1000, updates=100, most=10.0)
    (0, 22)
    """
    if updates <= most:
        return 0
    return int(np.ceil(np.log(most / updates) / np.log1p(-min(updates / steps, 0.99))))
