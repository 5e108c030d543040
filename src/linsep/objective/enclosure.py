"""Enclosures of an objective and of bounds on its optimum, every rounding accounted for: for every head and storage."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np

from .._common.types import BoolArray, FloatArray, IntArray
from .._core import Rows
from ..arithmetic import decimal_enclosure as decimals
from ..arithmetic.blocked import BlockedMatrix
from ..arithmetic.decimal_enclosure import few_numbers, knows
from ..arithmetic.enclosure import (
    EVERYTHING,
    SHARP,
    SMALLEST,
    Interval,
    U,
    agreements,
    blocks,
    feasible,
    loss_sum,
    penalty_value,
    relative_gap,
    sharp_agreements,
)
from ..arithmetic.redundancy import Redundancy
from .class_margins import MassPoint, gain, rivals
from .curvature import MANY_FEATURES, Derivatives, Look, examine, slopes, softmax_slopes
from .dual_point import DualPoint, feasible_dual
from .duality import weights
from .examples import in_one
from .heads import CrammerSinger, Margin, Softmax
from .objective import Objective
from .scaling import better_of, is_tight, middle_of_range, ordinary, tightest
from .softmax_dual import enclosed_dual, enclosed_masses, softmax_losses
from .summed_bound import summed_bound

#: Scores that leave more than this share of the objective open are computed with twice the digits: where the curvature
#: proves the gap, without a penalty; and otherwise, where a huge C makes much of little.
BLURRED, COARSE = 1e-12, 1e-7
#: Sums are to leave no more than this share of a relative gap open that is to be proven.
OPEN = 0.03
#: The share of the losses at w = 0 that rounding leaves where every example is fitted.
ROUNDING = 1e-24
NOTHING = Interval(0.0, 0.0)
#: Shares of the objective that are given up, one after the other, for a bound from fewer examples.
LEFT_OUT = (1e-7, 3e-6, 5e-5)
#: How many numbers of every example such a bound keeps in memory: its code, weight, score, loss and derivatives.
KEPT_OF_EACH = 12


class _OnePlane:
    """One plane: scores are the agreements z."""

    def __init__(self, problem: Objective) -> None:
        self.problem, self.c = problem, weights(problem)

    def scores(self, w: FloatArray, b: float, method: Any = agreements) -> tuple[FloatArray, FloatArray]:
        """Return the scores, and how far each may be off."""
        z, radius = method(self.problem.rows.X, self.problem.y, w, b)
        return z, radius

    def losses(self, z: FloatArray, radius: FloatArray) -> Interval:
        """Enclose Σ cᵢ ℓᵢ."""
        return loss_sum(self.problem.loss, z, radius, self.c)

    def each(self, z: FloatArray) -> FloatArray:
        """Return the loss of each example, up to rounding."""
        return np.asarray(self.c * self.problem.loss.value(z))

    def slopes(self, z: FloatArray, radius: FloatArray) -> Derivatives:
        """Return the derivatives of some examples."""
        return slopes(self.problem.loss, self.problem.y, self.c, z, radius)

    def dual(self, z: FloatArray, w: FloatArray, b: float, dual_point: DualPoint | MassPoint, share: float) -> Interval:
        """Enclose D of an exactly feasible point, sums leaving no more than that share open."""
        return feasible_dual(self.problem, dual_point.expand(self.problem, z), share)[1]

    def at_zero(self) -> Interval:
        """Enclose D(0): without a penalty Σ αᵢ yᵢ xᵢ has to be exactly zero, which only α = 0 is sure to give."""
        return feasible_dual(self.problem, np.zeros(self.problem.n))[1]


class _AllClasses(_OnePlane):
    """One plane a class: scores are the gᵢₖ."""

    def scores(self, w: FloatArray, b: Any, method: Any = agreements) -> tuple[FloatArray, FloatArray]:
        X, ones = self.problem.rows.X, np.ones(self.problem.n)
        each = [method(X, ones, np.ascontiguousarray(one), float(c)) for one, c in zip(w.T, b, strict=True)]
        scores, radius = (np.column_stack(part) for part in zip(*each, strict=True))
        return scores, radius

    def losses(self, z: FloatArray, radius: FloatArray) -> Interval:
        return softmax_losses(self.problem, z, radius, self.c)

    def each(self, z: FloatArray) -> FloatArray:
        own = z[np.arange(len(z)), self.problem.codes]
        return np.asarray(self.c * (np.logaddexp.reduce(z, axis=1) - own))

    def slopes(self, z: FloatArray, radius: FloatArray) -> Derivatives:
        return softmax_slopes(self.problem.codes, self.c, z, radius.max(axis=1))

    def dual(self, z: FloatArray, w: FloatArray, b: Any, dual_point: DualPoint | MassPoint, share: float) -> Interval:
        with np.errstate(all="ignore"):  # the point's own sums are guesses: what they prove is looked at
            return enclosed_dual(self.problem.evaluate(w, b), share)

    def at_zero(self) -> Interval:
        return Interval(0.0, 0.0)


class _ClassMargins(_AllClasses):
    """One plane a class, and the margins between them: losses are those of z = gᵧ − max gₖ over k ≠ y."""

    def losses(self, z: FloatArray, radius: FloatArray) -> Interval:
        return loss_sum(self.problem.loss, *self._agreements(z, radius), self.c)

    def each(self, z: FloatArray) -> FloatArray:
        return np.asarray(self.c * self.problem.loss.value(rivals(z, self.problem.codes)[0]))

    def _agreements(self, scores: FloatArray, radius: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the agreements, and how far each may be off: a maximum by no more than what it is of."""
        z = rivals(scores, self.problem.codes)[0]
        own = np.arange(len(z)), self.problem.codes
        others = radius.copy()
        others[own] = 0.0
        return z, (radius[own] + others.max(axis=1)) * (1.0 + 4 * U) + 2 * U * np.abs(z) + SMALLEST

    def dual(self, z: FloatArray, w: FloatArray, b: Any, dual_point: DualPoint | MassPoint, share: float) -> Interval:
        point = dual_point if isinstance(dual_point, MassPoint) else MassPoint()
        with np.errstate(all="ignore"):  # what is claimed is a guess: what it proves is looked at
            masses = np.maximum(point.expand(self.problem, z), 0.0)
            p = np.divide(masses, self.c[:, None], out=np.zeros_like(masses), where=self.c[:, None] > 0)
            p[~np.isfinite(p).all(axis=1)] = 0.0
            p /= np.maximum(p.sum(axis=1, keepdims=True), 1.0)
            return enclosed_masses(self.problem, p, gain, share)


_WITH_HEAD = {Margin: _OnePlane, Softmax: _AllClasses, CrammerSinger: _ClassMargins}


def _with_head(problem: Objective) -> _OnePlane:
    found: _OnePlane = _WITH_HEAD[type(problem.head)](problem)
    return found


def sharp_primal(
    problem: Objective, w: FloatArray, b: Any, share: float = COARSE
) -> tuple[Interval, FloatArray, FloatArray]:
    """Enclose P(w, b), with twice the digits where plain ones leave too much of it open; also scores and their radii.

    Too much is more than that share, or than `BLURRED` where the curvature proves the gap.
    """
    penalty = penalty_value(problem.penalty, w.ravel())
    losses, z, radius = sharp_losses(problem, w, b, share, penalty)
    return penalty + losses, z, radius


def sharp_losses(
    problem: Objective, w: FloatArray, b: Any, share: float, penalty: Interval = NOTHING
) -> tuple[Interval, FloatArray, FloatArray]:
    """Enclose C Σ sᵢ ℓᵢ as sharply as that and the penalty together need it; also scores and their radii."""
    head = _with_head(problem)
    z, radius = head.scores(w, b)
    losses = head.losses(z, radius)
    primal = penalty + losses
    by_curvature = np.isfinite(problem.head.self_concordance) and not problem.penalised
    most = (min(BLURRED, share) if by_curvature else share) * abs(primal.high)
    if problem.d <= MANY_FEATURES and primal.width > most and ordinary(problem, w, b):
        z, radius = head.scores(w, b, sharp_agreements)
        losses = head.losses(z, radius)
    return losses, z, radius


def enclosed_value(problem: Objective, w: FloatArray, b: Any, share: float = COARSE) -> Interval:
    """Enclose P(w, b) without a penalty, as sharply as need be; of examples in blocks, in one pass."""
    return problem.sum(lambda part: sharp_primal(part, w, b, share)[0])


def left_by_rounding(problem: Objective, w: FloatArray, b: Any) -> Interval | None:
    """Return P(w, b) where examples can all be fitted, and are but for rounding, of which no share is proven."""
    if problem.n > problem.free + problem.fit_intercept:
        return None
    primal, at_zero = enclosed_value(problem, w, b), float(problem.loss.value(np.zeros(1))[0])
    return primal if primal.high <= ROUNDING * problem.total_weight * at_zero else None


def examined(
    problem: Objective, w: FloatArray, b: Any, share: float = COARSE, sought: Redundancy | None = None
) -> tuple[Interval, Look]:
    """Enclose P(w, b) where there is no penalty, and return what the derivatives there say of the optimum.

    `sought` is what an earlier look found of redundant columns, which are the same at every point.
    """
    M = problem.head.self_concordance
    known: Any = dict(intercept=problem.fit_intercept, K=problem.head.planes, sought=sought)
    if problem.examples.resident is None:
        passes = _Passes(problem)

        def at(part: slice, X: Any) -> Derivatives:
            head = _with_head(passes.on(part, X))
            return head.slopes(*head.scores(w, b))

        return enclosed_value(problem, w, b, share), examine(M, passes.X, at, **known)
    primal, z, radius = sharp_primal(problem, w, b, share)
    head = _with_head(problem)
    found = cache(lambda: head.slopes(z, radius))  # only where they say anything
    return primal, examine(M, problem.rows.X, lambda part, _: found().part(part), counted=head.c > 0, **known)


def bound_below(problem: Objective, primal: Interval, look: Look) -> Interval:
    """Enclose the best bound on the optimum that can be shown without a penalty."""
    zero = Interval(0.0, 0.0) if problem.examples.resident is None else _with_head(problem).at_zero()
    usable = np.isfinite(primal.high) and ordinary(problem, np.zeros(problem.d), 0.0)
    low = primal.low - look.gap if usable else -np.inf  # else products on the way could leave the range of floats
    return zero if zero.low >= low else Interval(low, low)


def enclosed_by_curvature(
    problem: Objective, w: FloatArray, b: Any, share: float = COARSE
) -> tuple[Interval, Interval]:
    """Enclose P(w, b) and the best bound without a penalty; of examples in blocks, in a few passes."""
    if (rest := left_by_rounding(problem, w, b)) is not None:
        return rest, Interval(0.0, 0.0)
    primal, look = examined(problem, w, b, share)
    bound = bound_below(problem, primal, look)
    if bound.low > 0 or problem.examples.resident is None or problem.d > MANY_FEATURES:
        return primal, bound
    return primal, bound_on_fewer(problem, w, b) or bound


def bound_on_fewer(problem: Objective, w: FloatArray, b: Any) -> Interval | None:
    """Return a bound from some examples alone, which is one on all because no loss is below zero; or None.

    Where a plane has some examples on its right side and the others on it, coefficients run to infinity and the first
    ones' losses to zero: the infimum is the minimum of the others' losses. Of examples in blocks the loss of each is
    kept, where there is room.
    """
    if problem.examples.resident is None:
        if not problem.examples.in_turn or problem.examples.holds < KEPT_OF_EACH:
            return None
        problem = problem.on(in_one(problem.examples))
    head = _with_head(problem)
    with np.errstate(all="ignore"):
        each = head.each(head.scores(w, b)[0])
    if not (0 < problem.head.self_concordance < np.inf and 0 < each.sum() < np.inf):
        return None  # a quadratic attains its minimum
    for kept in _fewer(problem.rows.X, each):
        weight = None if problem.sample_weight is None else problem.sample_weight[kept]
        fewer = problem.chosen(kept, weight)
        bound = bound_below(fewer, *examined(fewer, w, b))
        if bound.low > 0:
            return bound
    return None


def _fewer(X: Any, losses: FloatArray) -> Iterator[IntArray]:
    """Yield examples without some whose losses are a small share of all: those of a column, as a level has, or any."""
    of_columns = np.zeros(X.shape[1])
    for part, block in blocks(X):
        of_columns += _filled(block).T @ losses[part]
    for by_column, of_set in ((True, of_columns), (False, losses)):
        order, last = np.argsort(of_set), 0
        for share in LEFT_OUT:
            count = int(np.searchsorted(np.cumsum(of_set[order]), share * losses.sum()))
            if last < count < len(order):
                out = order[:count]
                yield np.flatnonzero(_empty_in(X, out)) if by_column else np.setdiff1d(np.arange(len(losses)), out)
            last = count


def _filled(block: Any) -> Any:
    """1.0 where a block of rows has an entry that is not zero, dense or sparse as it is."""
    return (block != 0).astype(np.float64)


def _empty_in(X: Any, columns: IntArray) -> BoolArray:
    """Whether each row has nothing but zeros in these columns."""
    some = [np.asarray(_filled(block[:, columns]).sum(axis=1)).reshape(-1) == 0 for _, block in blocks(X)]
    return np.concatenate(some)


class _Passes:
    """Examples in blocks as one matrix, and the objective on the rows that come by."""

    def __init__(self, problem: Objective) -> None:
        self.problem, self.X = problem, BlockedMatrix(self._read, problem.n, problem.d)
        self.first, self.block = 0, problem

    def _read(self) -> Iterator[Any]:
        for which, block in self.problem:
            self.first, self.block = which.start, block
            yield block.rows.X

    def on(self, part: slice, X: Any) -> Objective:
        """Return the objective on some rows of the block that was read last."""
        which, s = slice(part.start - self.first, part.stop - self.first), self.block.sample_weight
        return self.block.chosen(which, None if s is None else s[which], Rows(X))


def enclosed_bound(
    problem: Objective, w: FloatArray, b: Any, dual_point: DualPoint | MassPoint | None = None, *, tol: float = np.inf
) -> tuple[Interval, Interval]:
    """Enclose P(w, b), and D(α) or, without a penalty, the best bound that can be shown; for a gap of `tol`.

    Of examples in blocks sums are taken, or, where these are not sharp enough, the blocks are read as one matrix with
    numbers kept of each. Where sizes are out of the ordinary, the problem is looked at in the middle of the range of
    floats.
    """
    if not (np.isfinite(w).all() and np.isfinite(b).all()):
        return EVERYTHING, EVERYTHING  # nothing is known of a plane that floats cannot hold
    point = DualPoint() if dual_point is None else dual_point
    if problem.examples.resident is None and (by_sums := _by_sums(problem, w, b, point, OPEN * tol)) is not None:
        return by_sums
    whole = problem if problem.examples.resident is not None else problem.on(in_one(problem.examples))
    found = tightest(whole, w, b, lambda scaled, v, m: _enclosed(scaled, v, b, point.times(m), OPEN * tol))
    if not isinstance(point, DualPoint) or problem.head.planes is not None:
        return found
    if is_tight(*found) or ordinary(whole, w, b):
        return found
    if not (few_numbers(whole.rows.X) and knows(whole.loss)):
        return found
    return better_of(found, _enclosed_in_decimals(whole, w, b, point))


def _by_sums(
    problem: Objective, w: FloatArray, b: Any, dual_point: DualPoint | MassPoint, share: float
) -> tuple[Interval, Interval] | None:
    """Enclose both with nothing kept of every example: by sums over blocks; None where these do not say enough."""
    if not ordinary(problem, w, b):
        return None
    coarse = min(COARSE, share)
    if not problem.penalised:
        found = enclosed_by_curvature(problem, w, b, coarse)
        return found if OPEN * relative_gap(*found) <= share else None
    return summed_bound(problem, w, b, dual_point, lambda part: sharp_losses(part, w, b, coarse), min(SHARP, share))


def _enclosed(
    problem: Objective, w: FloatArray, b: Any, dual_point: DualPoint | MassPoint, share: float
) -> tuple[Interval, Interval]:
    """Enclose both, sums leaving no more than that share open, where it is less than what is usual."""
    if not problem.penalised:
        return enclosed_by_curvature(problem, w, b, min(COARSE, share))
    primal, z, _ = sharp_primal(problem, w, b, min(COARSE, share))
    return primal, _with_head(problem).dual(z, w, b, dual_point, min(SHARP, share))


def _enclosed_in_decimals(
    problem: Objective, w: FloatArray, b: float, dual_point: DualPoint
) -> tuple[Interval, Interval]:
    """Enclose the same in arithmetic without a range; without a penalty there is no better bound than zero here."""
    rows = decimals.DecimalRows(problem.rows.X)
    z = decimals.agreements_exactly(rows, problem.y, w, b)
    c = decimals.weights_exactly(problem.weight_of_loss, problem.sample_weight, problem.rows.n)
    penalty = decimals.penalty_value(problem.penalty, decimals.exactly(w))
    primal = decimals.to_interval(decimals.add(penalty, decimals.loss_sum(problem.loss, z, c)))
    if not problem.penalised:
        return primal, Interval(0.0, 0.0)
    return primal, _dual_in_decimals(problem, rows, w, np.array([float(t) for t in z]), c, dual_point)


def _dual_in_decimals(
    problem: Objective,
    rows: decimals.DecimalRows,
    w: FloatArray,
    z: FloatArray,
    c: list[Decimal],
    dual_point: DualPoint | MassPoint,
) -> Interval:
    """Enclose D of a point that is feasible exactly; it is guessed in the middle of the range of floats."""
    scaled = middle_of_range(problem, w)
    limits = np.array([float(t) for t in decimals.scale_exactly(c, decimals.power_of_two(scaled.m))])
    with np.errstate(all="ignore"):
        alpha = dual_point.times(scaled.m).expand(scaled.problem, np.clip(z, -1e300, 1e300))
    back = decimals.power_of_two(-scaled.m)
    for attempt in range(8):
        alpha = feasible(problem.loss, alpha, problem.y, limits, balance=problem.fit_intercept)
        v = rows.combination(decimals.scale_exactly(decimals.exactly(alpha * problem.y), back))
        shrink = 1.0 if problem.penalty.l2 > 0 else decimals.shrinking(problem.penalty, v, attempt)
        if shrink == 1:
            break
        alpha = alpha * shrink
    exact = decimals.scale_exactly(decimals.exactly(alpha), back)
    conjugates = decimals.conjugate_sum(problem.loss, exact, c)
    penalty = decimals.penalty_conjugate(problem.penalty, v)
    return decimals.to_interval(decimals.minus(decimals.add(penalty, conjugates)))
