"""A fold along a grid of C: solved at some values, and at the others interpolated, to the same proven gap.

In a direction in which the losses bend by λ, w is like C/(λ⁻¹ + C): a logistic curve in log C. The polynomial through
four of its values, δ apart, is at most 3/128 · δ⁴ · max |σ''''| = 0.003 δ⁴ off between the inner two, and the relative
gap is about the square of that. So the first values that are solved for are as far apart as the gap allows; where it
turns out to be larger, one more is solved for, until it is not.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np

from .._common.types import FloatArray
from ..certificates.stops import Point, Stops
from ..objective.duality import weights
from ..objective.objective import Objective
from ..solvers import Automatic, Start, minimise
from .path import null_intercept

#: How far a polynomial through four values of a logistic curve is off, over the fourth power of their distance.
OFF = 3.0 / 128.0 / 8.0
#: What is solved for is solved to this part of the gap: the rest is for interpolation.
OWN = 0.5
#: The model without weights is where to begin if its relative gap is no more than this; else the solver knows better.
NEAR_NULL = 0.1


def suits(objective: Objective) -> bool:
    """Whether points of an objective can be interpolated so: one plane, an L2 penalty, and a loss that bends slowly."""
    if objective.head.planes is not None or objective.examples.resident is None or objective.penalty.l1:
        return False
    return objective.penalty.l2 > 0 and math.isfinite(objective.loss.self_concordance)


def solve(stops: Stops, C: float, tol: float, seed: int = 0, start: Start | None = None) -> None:
    """Solve at C and take the solution up as a stop."""
    objective = replace(stops.objective, C=C)
    asked: Any = dict(start=start, seed=seed, tol=tol, polish=False, reduce=not stops.in_best_form)
    found = minimise(objective, Automatic(tol=tol), **asked).as_part()
    stops.add(C, found.w, float(found.b), found.alpha)
    stops.iterations[C] = found.n_iter


def along(
    stops: Stops, grid: FloatArray, tol: float, seed: int = 0, guide: Stops | None = None
) -> tuple[list[Point], list[int]]:
    """Return a point for each C of a grid, each to a relative gap of `tol`, and the iterations of each.

    Parameters
    ----------
    stops : Stops
        What is solved for on the way is added to them.
    grid : array
        Ascending.
    guide : Stops or None
        Of another fold along the same grid, whose solutions these are not far from.
    """
    for C in first(grid, tol):
        if not stops.has(C):
            solve(stops, C, OWN * tol, seed, start_beyond(stops, C, guide))
    while True:
        points = stops.points(grid)
        open_ = [k for k, point in enumerate(points) if not (point.is_stop or point.within(tol))]
        if not open_:
            return points, [stops.iterations.get(C, 0) for C in grid.tolist()]
        for _, some in groupby(open_, key=lambda k: points[k].stops):
            which = list(some)
            point = points[which[len(which) // 2]]
            solve(stops, point.C, OWN * tol, seed, start_at(stops, point))


def first(grid: FloatArray, tol: float) -> list[float]:
    """Return which values of C to solve for first: evenly, and no further apart than should do."""
    apart = (math.sqrt(tol) / OFF) ** 0.25
    count = math.ceil(math.log(grid[-1] / grid[0]) / apart) + 1
    wanted = np.geomspace(grid[0], grid[-1], count)
    return [float(C) for C in grid[np.unique(np.abs(np.log(grid[:, None] / wanted)).argmin(axis=0))]]


def start_at(stops: Stops, point: Point) -> Start:
    """Return where to begin at a point that is interpolated."""
    return Start(point.mixed("w"), float(point.mixed("b")), alpha=_c(stops, point.C) * point.mixed("u"))


def start_beyond(stops: Stops, C: float, guide: Stops | None = None) -> Start | None:
    """Return where to begin beyond the last stop: dual variables go on as they did, planes as those of the guide do."""
    if not stops.stops:
        return _null(stops, C)
    last = stops.stops[-1]
    before = stops.stops[-2] if len(stops.stops) > 1 else last
    ahead = math.log(C / last.C) / math.log(last.C / before.C) if before is not last else 0.0
    alpha = [_c(stops, one.C) * one.u for one in (before, last)]
    w, b = last.w + ahead * (last.w - before.w), last.b + ahead * (last.b - before.b)
    if guide is not None and all(guide.has(one) for one in (before.C, last.C, C)):  # how that one bends
        theirs = [guide.point(one) for one in (before.C, last.C, C)]
        w += theirs[2].mixed("w") - (1.0 + ahead) * theirs[1].mixed("w") + ahead * theirs[0].mixed("w")
        b += float(theirs[2].mixed("b") - (1.0 + ahead) * theirs[1].mixed("b") + ahead * theirs[0].mixed("b"))
    return Start(w, b, alpha=alpha[1] + ahead * (alpha[1] - alpha[0]))


def _null(stops: Stops, C: float) -> Start | None:
    """Return the model without weights, where C is so small that it is near the optimum."""
    objective = replace(stops.objective, C=C)
    w, b = np.zeros(objective.d), float(null_intercept(objective)[0])
    if objective.evaluate(w, b, split=True).bound.relative_gap > NEAR_NULL:
        return None
    return Start(w, b, alpha=-_c(stops, C) * objective.loss.slope(b * objective.y))


def _c(stops: Stops, C: float) -> Any:
    return weights(replace(stops.objective, C=C))
