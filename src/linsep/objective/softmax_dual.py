"""Softmax with every rounding bounded: the sum of its losses, and a dual point that is feasible exactly.

The dual point is the matrix of the masses off the own class, aᵢₖ = C sᵢ pᵢₖ ≥ 0 for k ≠ yᵢ, in whole multiples of a
power of two, and what is left of C sᵢ is the own class's. Where the intercepts are free, as much must flow out of every
class as into it,

    Σ (aᵢₗ : yᵢ = k, l ≠ k) = Σ (aᵢₖ : yᵢ ≠ k),

and a surplus is taken away from the flow of a class that gives too much to one that gets too much.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
from scipy.special import entr

from .._common.types import FloatArray, IntArray
from ..arithmetic.enclosure import (
    EVERYTHING,
    SHARP,
    SLIGHT,
    SMALLEST,
    ULPS,
    Interval,
    U,
    combination,
    exact_sum,
    fits,
    into_box,
    penalty_conjugate,
    sharpened,
    take,
    total,
    unit,
)
from .duality import weights
from .flows import balanced_flow, is_balanced
from .objective import Objective
from .points import SoftmaxPoint

Units = IntArray


@np.errstate(over="ignore", invalid="ignore")
def softmax_losses(problem: Objective, scores: FloatArray, radius: FloatArray, c: FloatArray) -> Interval:
    """Enclose Σ cᵢ ℓᵢ. The loss is log(1 + Σ e^(gₖ − g_y)) over k ≠ y, which stays exact where it is small.

    Scores that are off by r move it by no more than (1 − p) (e^(2r) − 1) with p the own class's probability, and each
    difference that is rounded by its share of that.
    """
    if not (np.isfinite(scores).all() and np.isfinite(radius).all() and np.isfinite(c).all()):
        return EVERYTHING
    each, K = np.arange(problem.rows.n), problem.classes
    difference = scores - scores[each, problem.codes][:, None]
    difference[each, problem.codes] = -np.inf
    highest = np.maximum(difference.max(axis=1), 0.0)
    others = np.exp(difference - highest[:, None])
    one, rest = np.exp(-highest), others.sum(axis=1)
    loss = np.where(highest > 0, highest + np.log(one + rest), np.log1p(rest))
    difference[each, problem.codes] = 0.0
    share = others / (one + rest)[:, None] + ULPS * SMALLEST  # what is below the range of floats is not nothing
    moved = share.sum(axis=1) * np.expm1(2.0 * radius.max(axis=1)) + 4 * U * (share * np.abs(difference)).sum(axis=1)
    arithmetic = (ULPS + K) * U * (loss + np.where(highest > 0, 1.0 + highest, 0.0)) + (ULPS + 4) * K * SMALLEST
    off = 1.01 * moved + arithmetic
    error = np.where(c > 0, c * off * (1.0 + 8 * U) + (4.0 + loss + off) * SMALLEST, 0.0)
    return total(np.where(c > 0, c * loss, 0.0), error)


def enclosed_dual(point: SoftmaxPoint, share: float = SHARP) -> Interval:
    """Enclose D of an exactly feasible point near the point's own probabilities; 0 where that is the better bound.

    Sums are to leave no more than that share of it open.
    """
    problem, c = point.problem, weights(point.problem)
    return enclosed_masses(problem, point.balanced, lambda mass: entropy(problem, mass, c), share)


def enclosed_masses(
    problem: Objective, p: FloatArray, gain: Callable[[FloatArray], Interval], share: float = SHARP
) -> Interval:
    """Enclose gain(a) − penalty*(V) of exactly feasible masses a near c p; 0 where that is the better bound.

    Sums are to leave no more than that share of it open.
    """
    scale, c = 1.0, weights(problem)
    for attempt in range(8):
        units, step = _off_class_units(problem, scale * p, c)
        if problem.fit_intercept:
            _balance(units, problem.codes, problem.classes)
        gained = gain(np.asarray(units * step, dtype=np.float64))
        v, radius = _combinations(problem, units, step, gained.high, share)
        if problem.penalty.l2 > 0 or fits(problem.penalty, v, radius):
            break
        # Only a box of v has a finite conjugate: go towards the labels until v fits, also after it was cut to units.
        scale *= into_box(problem.penalty, v, radius, attempt)
    found = gained - penalty_conjugate(problem.penalty, v, radius)
    return found if found.low > 0 else Interval(0.0, max(found.high, 0.0))


def _combinations(
    problem: Objective, units: Units, step: float, size: float, share: float
) -> tuple[FloatArray, FloatArray]:
    """Return Σ Aᵢₖ xᵢ, class after class, and how far each entry may be off; `size` is that of the bound."""
    X, penalty = problem.rows.X, problem.penalty
    columns = flow_columns(problem, units, step)
    each = [sharpened(X, flow, *combination(X, flow), penalty, size, share) for flow in columns]
    v, radius = (np.concatenate(part) for part in zip(*each, strict=True))
    return v, radius


def flow_columns(problem: Objective, units: Units, step: float) -> list[FloatArray]:
    """Return Aᵢₖ of every class: what its own examples give away, less what comes to it."""
    flows = -np.asarray(units * step, dtype=np.float64)
    flows[np.arange(problem.rows.n), problem.codes] = units.sum(axis=1) * step
    return [np.ascontiguousarray(column) for column in flows.T]


def _off_class_units(problem: Objective, p: FloatArray, c: FloatArray) -> tuple[Units, float]:
    """Return aᵢₖ = cᵢ pᵢₖ for k ≠ yᵢ, cut down to whole multiples of a power of two, and that power."""
    mass = off_class(problem, p, c)
    # Units so coarse that those of a whole row add up to a float without rounding.
    step = unit(float(mass.max(initial=0.0)), problem.classes.bit_length())
    if not step:
        return np.zeros(mass.shape, dtype=np.int64), 1.0
    return in_units(mass, c, step), step


def off_class(problem: Objective, p: FloatArray, c: FloatArray) -> FloatArray:
    """Return aᵢₖ = cᵢ pᵢₖ for k ≠ yᵢ, not yet cut."""
    mass = c[:, None] * p
    mass[np.arange(problem.rows.n), problem.codes] = 0.0
    # c = C s was rounded, perhaps up, and so were the products: stay a little below what each row has to give.
    mass *= 1.0 - 16 * U * problem.classes
    mass[c < SLIGHT] = 0.0
    return mass


def in_units(mass: FloatArray, c: FloatArray, step: float) -> Units:
    """Return masses cut down to whole multiples of a step."""
    units = np.trunc(np.maximum(mass, 0.0) / step).astype(np.int64)
    units[units.sum(axis=1) * step > np.nextafter(c, 0.0)] = 0  # no row gives more than it has
    return units


def _balance(units: Units, codes: Units, K: int) -> None:
    """Make as much flow out of every class as into it, in place, by taking away; if that is not enough, everything."""
    flow = flow_of(units, codes, K)
    left = balanced_flow(flow)
    for k, m in product(range(K), repeat=2):
        if left[k][m] < flow[k][m]:
            take(units[:, m], np.flatnonzero(codes == k), flow[k][m] - left[k][m])
    if not is_balanced(left):
        units[:] = 0


def flow_of(units: Units, codes: IntArray, K: int) -> list[list[int]]:
    """Return how many units flow from each class to each."""
    members = [np.flatnonzero(codes == k) for k in range(K)]
    return [[exact_sum(units[rows, m]) if len(rows) else 0 for m in range(K)] for rows in members]


def entropy(problem: Objective, mass: FloatArray, c: FloatArray) -> Interval:
    """Σ cᵢ Σₖ −πᵢₖ log πᵢₖ with π = a/c off the class, and what is left of 1 on it."""
    used = mass.any(axis=1)  # the others have all of their mass on the own class
    mass, c = mass[used], c[used]
    if not np.isfinite(c).all():
        return EVERYTHING
    pi = mass / c[:, None]
    away = np.minimum(pi.sum(axis=1), 1.0)
    terms = entr(pi)
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.where(away < 1.0, -(1.0 - away) * np.log1p(-away), 0.0)
    # Off the class π is off by a few u of itself, and so is their sum s; −x log x at x = 1 − s moves by no more than
    # e (1 + |log(x − e)|) where x moves by e, and at the end of its range by no more than −e log e + e.
    e = (problem.classes + 8) * U * away
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = np.where(1.0 - away > 4 * e, e * (1.0 + np.abs(np.log(1.0 - away - 2 * e))), entr(8 * e) + 8 * e)
    off = ULPS * U * ((terms + pi).sum(axis=1) + own) + moved + ULPS * problem.classes * SMALLEST
    return total(c * (terms.sum(axis=1) + own), c * off * (1.0 + 8 * U) + 8 * SMALLEST)
