"""What a fit on examples in parts may claim of its plane."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import length
from ..arithmetic.blocked import BlockedMatrix
from ..arithmetic.enclosure import SLIGHT, Interval, U, agreements, blocks, gamma, loss_sum
from ..objective.curvature import examine_in_passes, slopes
from ..objective.dual_point import DualPoint, enclosed_bound
from ..objective.duality import Bound, class_scales, penalised, weights
from ..objective.parted import Block, Blocks, PartedProblem, in_one
from ..objective.scaling import ordinary_in_parts
from ..objective.statement import Statement
from .claim import Claim, Fingerprint, as_enclosed, digest, rounding, widened

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

__all__ = ["Passes", "certify_parts"]


class Duals(Protocol):
    """One dual variable for each example, wherever they are kept."""

    def read(self, which: slice) -> FloatArray:
        """Return some of them."""
        ...


def certify_parts(
    problem: PartedProblem, result: Any, statement: Statement, classes: ArrayLike, tol: float, duals: Duals | None
) -> Claim:
    """Return what a solver's result may claim; see `linsep.certificates.claim.certify`.

    Parameters
    ----------
    problem : PartedProblem
    result : Result
        With `w`, `b` and `proof`.
    statement : Statement
    classes : array
        All labels.
    tol : float
    duals : Duals or None
        The dual variables behind the proof, where they do not follow from the plane.
    """
    w, b = np.ascontiguousarray(result.w, dtype=np.float64), float(result.b)
    found, dual_point = result.proof, DualPoint()
    if penalised(problem):
        if duals is not None:
            found, dual_point = _with_exceptions(problem, w, b, result.proof, duals, tol)
        if found.dual <= 0:
            found, dual_point = Bound(found.primal, 0.0), DualPoint(0.0, 0.0)
    if not ordinary_in_parts(problem, problem.class_weight, w, b) or abs(found.primal) < SLIGHT:
        # The solver's sums are not to be used: every example is looked at, with a number kept for each.
        found, error = as_enclosed(*enclosed_bound(problem.on(Block(0, *in_one(problem.examples))), w, b, dual_point))
    elif penalised(problem) or (problem.loss.quadratic and found.dual > 0):
        error = rounding(problem, w, b, found)
    else:
        enclosed, low = _by_curvature(problem, w, b)
        found, error = Bound(enclosed.high, widened(enclosed, low)), enclosed.width
    labels = tuple(np.asarray(classes).tolist())
    primal, dual = float(found.primal), float(min(found.dual, found.primal))
    sealed = digest(w, b), Fingerprint.of_parts(problem)
    return Claim(statement, labels, problem.positive, primal, dual, float(error), tol, *sealed, dual_point)


class Passes:
    """Examples in blocks as one matrix, and their classes as they come by.

    Parameters
    ----------
    rows : Blocks
    by_class : array or None
        The weight of each class's examples.
    """

    def __init__(self, rows: Blocks, by_class: FloatArray | None) -> None:
        self.rows, self.by_class = rows, by_class
        self.X = BlockedMatrix(self._read, rows.n, rows.d)
        self.block: Block | None = None

    def _read(self) -> Iterator[Any]:
        for block in self.rows:
            self.block = block
            yield block.rows.X

    def at(self, part: slice) -> tuple[IntArray, FloatArray]:
        """Return the classes and the weights of some rows of the block that was read last."""
        assert self.block is not None
        codes = self.block.codes[part.start - self.block.first : part.stop - self.block.first]
        return codes, np.ones(len(codes)) if self.by_class is None else self.by_class[codes]


def _by_curvature(problem: PartedProblem, w: FloatArray, b: float) -> tuple[Interval, Interval]:
    """Enclose the objective, and the best bound on the optimum that can be shown without a penalty: a few passes."""
    passes, loss, primal = Passes(problem.rows, problem.class_weight), problem.loss, Interval(0.0, 0.0)

    def agree(part: slice, X: Any) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        codes, c = passes.at(part)
        y = np.where(codes == problem.positive, 1.0, -1.0)
        return y, c, *agreements(X, y, w, b)

    def at(part: slice, X: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
        return slopes(loss, *agree(part, X))

    for part, X in blocks(passes.X):
        _, c, z, radius = agree(part, X)
        primal = primal + loss_sum(loss, z, radius, c)
    look = examine_in_passes(loss, passes.X, at, intercept=problem.fit_intercept)
    low = max(0.0, primal.low - look.gap)
    return primal, Interval(low, low)


def _with_exceptions(
    problem: PartedProblem, w: FloatArray, b: float, proof: Bound, duals: Duals, tol: float
) -> tuple[Bound, DualPoint]:
    """Return the dual point with no more exceptions than it needs, and its bound: those all but at 0 or at c go there.

    For the hinge the others follow from the plane. Where that costs too much of the proof, nothing is moved.
    """
    for near in (1e-3 * tol, 0.0):
        found, dual_point = _settled(problem, w, b, proof.primal, duals, near)
        if found.relative_gap <= max(tol, proof.relative_gap):
            break
    return found, dual_point


def _settled(
    problem: PartedProblem, w: FloatArray, b: float, primal: float, duals: Duals, near: float
) -> tuple[Bound, DualPoint]:
    """Make the classes balance after moving dual variables within a share `near` of an end there: two passes."""
    totals = np.zeros(2)
    for part in problem:
        alpha, y = _moved(weights(part.problem), duals.read(part.which), near), part.problem.y
        totals += float(alpha[y > 0].sum()), float(alpha[y < 0].sum())
    scales = class_scales(*totals) if problem.fit_intercept else (1.0, 1.0)
    v, conjugates = np.zeros(problem.rows.d), 0.0
    rows: list[IntArray] = []
    values: list[FloatArray] = []
    for part in problem:
        one, c = part.problem, weights(part.problem)
        alpha = _moved(c, duals.read(part.which), near) * np.where(one.y > 0, *scales)
        v += one.rows.rmatvec(alpha * one.y)
        used = c > 0
        conjugates += float(c[used] @ one.loss.conjugate(-alpha[used] / c[used]))
        z = one.agreements(w, b)
        # Where rounding could put z on the other side of a kink, the slope there is not to be relied on.
        reach = gamma(one.rows.d + 8) * (np.sqrt(one.rows.squared_norms()) * length(w) + abs(b))
        expected = -c * one.loss.slope(z) * np.where(one.y > 0, *scales)
        sure = one.loss.slope(z - reach) == one.loss.slope(z + reach)
        exceptions = np.flatnonzero(~sure | (np.abs(alpha - expected) > 4 * U * c))
        rows.append(exceptions + part.which.start)
        values.append(alpha[exceptions])
    found = Bound(primal, -problem.penalty.conjugate(v) - conjugates)
    return found, DualPoint(*scales, np.concatenate(rows), np.concatenate(values))


def _moved(c: FloatArray, alpha: FloatArray, near: float) -> FloatArray:
    return np.where(alpha < near * c, 0.0, np.where(alpha > (1.0 - near) * c, c, alpha))
