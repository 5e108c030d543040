"""What a solver's result may claim: its own proof, or the one that its planes give; for every head and storage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..._common.types import FloatArray
from ...arithmetic.enclosure import SLIGHT, relative_gap
from ...objective.class_margins import MassPoint, by_scores, settled
from ...objective.class_margins import balanced as balanced_masses
from ...objective.dual_point import DualPoint, exceptions, largest_shares
from ...objective.duality import Bound, balanced, class_scales, dual_bound, weights
from ...objective.enclosure import OPEN, enclosed_bound, enclosed_by_curvature
from ...objective.examples import Block, InPieces, Pieces, Several, in_one
from ...objective.heads import CrammerSinger
from ...objective.objective import Objective
from ...objective.scaling import middle_of_range, ordinary
from ...objective.statement import Statement
from .certificate import Claim
from .rounding import as_enclosed, hidden, looked_at_closely, rounding, widened


def certify(problem: Objective, result: Any, statement: Statement, classes: ArrayLike, tol: float) -> Claim:
    """Return what a solver's result may claim of a problem, which is the user's statement on data of these classes.

    The result has `w`, `b` and `proof`, and `alpha`, `z` and `enclosed` where the solver knows them. Of examples in
    blocks `alpha` is read some at a time, by ``alpha.read(slice)``. `tol` is the relative gap that was asked for.
    """
    w, b = np.ascontiguousarray(result.w, dtype=np.float64), result.b
    dual_point: DualPoint | MassPoint
    if isinstance(problem.head, CrammerSinger):
        found, error, dual_point = _by_margins(problem, w, b, result, tol)
    elif not ordinary(problem, w, b):
        found, error, dual_point = _out_of_the_ordinary(problem, w, b, result)
    elif problem.penalised:
        found, error, dual_point = _penalised(problem, w, b, result, tol)
    else:
        (found, error), dual_point = _unpenalised(problem, w, b, result, tol), DualPoint()
    primal, dual = float(found.primal), float(min(found.dual, found.primal))  # it is the smaller, but for rounding
    claimed: Any = dict(primal=primal, dual=dual, rounding=float(error), tol=tol, dual_point=dual_point)
    return Claim.of(problem, result, statement, classes, **claimed)


def _by_margins(
    problem: Objective, w: FloatArray, b: FloatArray, result: Any, tol: float
) -> tuple[Bound, float, MassPoint]:
    """Return what the solver's masses prove, or those that follow from the planes: looked at, whatever it is."""
    points: Iterator[MassPoint] = iter([MassPoint()])
    if result.alpha is not None:
        scores, alpha = problem.rows.matmat(w) + b, result.alpha
        # Masses that are all but nothing, or all, follow from the planes and need no room; unless that costs the proof.
        tries = settled(problem, alpha, 1e-3 * tol), alpha, balanced_masses(problem, alpha), by_scores(problem, scores)
        points = (MassPoint.of(problem, masses, w, b, scores) for masses in tries)
    found: list[tuple[Any, ...]] = []
    for point in points:
        found.append((*enclosed_bound(problem, w, b, point, tol=tol), point))
        if relative_gap(*found[-1][:2]) <= tol:
            break
    primal, dual, point = max(found, key=lambda each: each[1].low)
    return *as_enclosed(primal, dual), point


def _penalised(problem: Objective, w: FloatArray, b: Any, result: Any, tol: float) -> tuple[Bound, float, DualPoint]:
    """Return the bound, how far its arithmetic may be off, and the dual point: looked at where an estimate counts."""
    found, dual_point = _strongest(problem, w, b, result, tol)
    if found.dual <= 0 <= _at_zero(problem):
        found, dual_point = Bound(found.primal, 0.0), DualPoint(0.0, 0.0)
    if abs(found.primal) < SLIGHT:  # no share of nothing is small: look closely
        return *as_enclosed(*enclosed_bound(problem, w, b, dual_point, tol=tol)), dual_point
    error = rounding(problem, w, b, found)
    if hidden(found, error, tol):
        found, error = looked_at_closely(found, error, *enclosed_bound(problem, w, b, dual_point, tol=tol))
    return found, error, dual_point


def _at_zero(problem: Objective) -> float:
    """D(0): zero, but for losses of the user's own."""
    if problem.head.planes is not None or problem.examples.resident is None:
        return 0.0
    return dual_bound(problem, np.zeros(problem.n))


def _out_of_the_ordinary(problem: Objective, w: FloatArray, b: Any, result: Any) -> tuple[Bound, float, DualPoint]:
    """Return the bound, what rounding may have added, and the dual point, where a solver's own sums are not to be used.

    The dual points that suggest themselves are found in the middle of the range of floats, and the best one is kept;
    of a softmax there is one only, which follows from the planes.
    """
    if problem.head.planes is not None:
        return *as_enclosed(*enclosed_bound(problem, w, b)), DualPoint()
    points, alpha = [DualPoint(0.0, 0.0)], result.alpha
    if problem.examples.resident is None:  # a number is kept for each example
        alpha = None if alpha is None else alpha.read(slice(0, problem.n))
        problem = problem.on(in_one(problem.examples))
    scaled = middle_of_range(problem, w)
    with np.errstate(all="ignore"):  # these are guesses: what they prove is looked at below
        if problem.penalised:
            shift = balancing_shift(scaled.problem, scaled.W, b)
            points += [DualPoint(), DualPoint(shift=shift if np.isfinite(shift) else 0.0)]
            if alpha is not None:
                alpha = np.ldexp(np.asarray(alpha, dtype=np.float64), scaled.m)
                points += [DualPoint.of(scaled.problem, alpha, scaled.W, b).times(-scaled.m)]
    outcomes = [(*enclosed_bound(problem, w, b, point), point) for point in points]
    primal, dual, dual_point = max(outcomes, key=lambda outcome: outcome[1].low)
    return *as_enclosed(primal, dual), dual_point


def _unpenalised(problem: Objective, w: FloatArray, b: Any, result: Any, tol: float) -> tuple[Bound, float]:
    """Return a bound without a penalty, and how far its arithmetic may be off."""
    proof, enclosed = result.proof, result.enclosed
    # A quadratic's own solver knows how far it can fall; others have only dual points that are feasible up to rounding.
    quadratic = problem.head.planes is None and problem.loss.quadratic
    if enclosed is None and quadratic and proof is not None and proof.dual > 0:
        return proof, rounding(problem, w, b, proof)
    if enclosed is None and problem.examples.resident is None:
        enclosed = enclosed_by_curvature(problem, w, b, OPEN * tol)
    primal, dual = enclosed or enclosed_bound(problem, w, b, tol=tol)
    return Bound(primal.high, widened(primal, dual)), primal.width


def _strongest(problem: Objective, w: FloatArray, b: Any, result: Any, tol: float) -> tuple[Bound, DualPoint]:
    """Return a bound and its dual point: the plane's own where that is good enough, because it needs no room."""
    proof, alpha = result.proof, result.alpha
    if problem.head.planes is not None:
        return proof, DualPoint()
    if problem.examples.resident is None:
        return (proof, DualPoint()) if alpha is None else _with_exceptions(problem, w, b, proof, alpha, tol)
    if proof is None or (alpha is not None and problem.loss.smooth):
        own, dual_point = _own(problem, w, b, tol)
        if proof is None or own.relative_gap <= max(tol, proof.relative_gap):
            return own, dual_point
    if alpha is None:
        return proof, DualPoint()
    if not problem.loss.smooth:
        proof, alpha = _settled(problem, proof, alpha, tol)
    return proof, DualPoint.of(problem, alpha, w, b, result.z)


def _settled(problem: Objective, proof: Bound, alpha: FloatArray, tol: float) -> tuple[Bound, FloatArray]:
    """Put dual variables that are all but at 0 or at c there, where the proof stays as good: they need no room then."""
    c, near = weights(problem), 1e-3 * tol
    top = c * np.where(problem.y > 0, *largest_shares(problem, alpha, c))
    settled = np.where(alpha < near * c, 0.0, np.where(alpha > top - near * c, top, alpha))
    if np.array_equal(settled, alpha):
        return proof, alpha
    settled = balanced(problem, settled)
    found = Bound(proof.primal, dual_bound(problem, settled))
    good_enough = found.relative_gap <= max(tol, proof.relative_gap)
    return (found, settled) if good_enough else (proof, alpha)


def _own(problem: Objective, w: FloatArray, b: float, tol: float) -> tuple[Bound, DualPoint]:
    """Return the bound that the plane itself gives, or that of the plane shifted so that the classes balance."""
    point = problem.evaluate(w, b, split=problem.fit_intercept)
    found, dual_point = point.bound, DualPoint()
    if problem.fit_intercept and problem.loss.smooth and found.relative_gap > tol:
        shift = balancing_shift(problem, w, b)
        moved = problem.evaluate(w, b + shift, split=True).bound.dual
        if moved > found.dual:
            found, dual_point = Bound(found.primal, moved), DualPoint(shift=shift)
    return found, dual_point


def balancing_shift(problem: Objective, w: FloatArray, b: float) -> float:
    """Return δ near which (w, b + δ) has Σ cᵢ ℓ'(zᵢ) yᵢ = 0: the best intercept for w, by a few Newton steps."""
    z, y, c, shift = problem.agreements(w, b), problem.y, weights(problem), 0.0
    for _ in range(5):
        moved = z + shift * y
        bend = float((c * problem.loss.curvature(moved)).sum())
        if not bend > 0:
            break
        shift -= float((c * y * problem.loss.slope(moved)).sum()) / bend
    return shift


# -- examples in blocks -----------------------------------------------------------------------------------------------


def _with_exceptions(
    problem: Objective, w: FloatArray, b: float, proof: Bound, alpha: Any, tol: float
) -> tuple[Bound, DualPoint]:
    """Return the dual point with no more exceptions than it needs, and its bound: those all but at 0 or at c go there.

    For the hinge the others follow from the plane. Where that costs too much of the proof, nothing is moved.
    """
    for near in (1e-3 * tol, 0.0):
        found, dual_point = _settled_in_blocks(problem, w, b, proof.primal, alpha, near)
        if found.relative_gap <= max(tol, proof.relative_gap):
            break
    return found, dual_point


def _settled_in_blocks(
    problem: Objective, w: FloatArray, b: float, primal: float, duals: Any, near: float
) -> tuple[Bound, DualPoint]:
    """Make the classes balance after moving dual variables within a share `near` of an end there: two passes."""
    read = duals.read

    def by_class(block: Block) -> FloatArray:
        part = problem.on(block)
        alpha = _at_ends(part, read(block.which), near)
        return np.array([alpha[part.y > 0].sum(), alpha[part.y < 0].sum()])

    scales = class_scales(*problem.examples.sum(InPieces(by_class))) if problem.fit_intercept else (1.0, 1.0)

    def of_scaled(block: Block) -> Several:
        part, c = problem.on(block), weights(problem.on(block))
        alpha, used = _at_ends(part, read(block.which), near) * np.where(part.y > 0, *scales), c > 0
        conjugates = float(c[used] @ part.loss.conjugate(-alpha[used] / c[used]))
        exceptional = exceptions(part, alpha, DualPoint(*scales), w, b, part.agreements(w, b))
        named = exceptional + block.first, alpha[exceptional]
        return Several((part.rows.rmatvec(alpha * part.y), conjugates, *(Pieces([each]) for each in named)))

    v, conjugates, rows, values = problem.examples.sum(InPieces(of_scaled))
    # Scaled by t ≤ 1 into a box, α adds no more than t times its conjugates: ℓ* is convex and ℓ*(0) = 0.
    into = problem.into_box(v)
    if into < 1.0:
        v = np.clip(into * v, -problem.penalty.l1, problem.penalty.l1)
    found = Bound(primal, -problem.penalty.conjugate(v) - into * conjugates)
    positive, negative = (into * scale for scale in scales)
    return found, DualPoint(positive, negative, np.concatenate(rows), into * np.concatenate(values))


def _at_ends(problem: Objective, alpha: FloatArray, near: float) -> FloatArray:
    c = weights(problem)
    top = c * min(-problem.loss.slopes[0], 1e300)
    return np.where(alpha < near * c, 0.0, np.where(alpha > top - near * c, top, alpha))
