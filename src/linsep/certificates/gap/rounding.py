"""What rounding may have added to a gap: estimated from the sizes of things, or looked at where an estimate counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._common.types import FloatArray
from ..._core import length
from ...arithmetic.enclosure import SMALLEST, ULPS, Interval, U, gamma
from ...objective.duality import Bound, share
from ...objective.heads import Softmax
from ...objective.objective import Objective
from ...objective.scaling import middle_of_range, ordinary

#: Rounding that is estimated at no more than this share of `tol` is not looked at.
FAINT = 0.1
#: The largest float.
LARGEST = float(np.finfo(float).max)


def rounding(problem: Objective, w: FloatArray, b: Any, found: Bound) -> float:
    """Return what rounding may have added to P − D, from the sizes of things: no pass over the data.

    Sizes that are out of the ordinary are brought into the middle of the range of floats first, for which the data are
    looked at; where that cannot be done, nothing is known.
    """
    if ordinary(problem, w, b):
        return _rounding(problem, w, b, found)
    if problem.examples.resident is None:
        return np.inf
    scaled = middle_of_range(problem, w)
    if not scaled.exact:
        return np.inf
    ends = Interval(found.dual, found.primal).shifted(scaled.m)
    with np.errstate(over="ignore", invalid="ignore"):
        off = _rounding(scaled.problem, scaled.W, b, Bound(ends.high, ends.low))
    return np.inf if np.isnan(off) else Interval(0.0, off).shifted(-scaled.m).high + SMALLEST


def _rounding(problem: Objective, w: FloatArray, b: Any, found: Bound) -> float:
    """Return the same where no product leaves the range of floats.

    With A ≥ Σ αᵢ ‖xᵢ‖ and a ≥ Σ αᵢ, each sum of the fit is off by at most γ_(n+d) times its terms' sizes:
    P + A (‖w‖ + ‖v‖) + a (1 + |b|), where v = Σ αᵢ yᵢ xᵢ. The penalty's conjugate is quadratic in v, so that the square
    of v's own error comes on top: of huge columns that is all there is. Another reader's scores are others in the last
    digits, so that α is another and v moves by up to `moved`.
    """
    C, N, squares = problem.weight_of_loss, problem.total_weight, problem.weighted_squares
    l2, l1 = problem.penalty.l2, problem.penalty.l1
    most, bend = _steepness(problem, found)
    A, a = float(most * np.sqrt(squares)), float(most * np.sqrt(N))
    length_w, largest_b = length(w.reshape(-1)), float(np.abs(b).max())
    # P − D ≥ l2/2 ‖w − v/l2‖²: v cannot be far from w.
    length_v = l2 * length_w + np.sqrt(2.0 * l2 * max(found.gap, 0.0))
    sizes = abs(found.primal) + 4.0 * A * (length_w + length_v / (l2 or 1.0)) + 4.0 * a * (1.0 + largest_b)
    # What it costs at the most to go from α all the way to 0, or from p to the labels. D is concave: a share of that
    # way costs no more than the same share of what lies between D(α) ≤ P and D(0) = −C Σ sᵢ ℓ*(0).
    at_zero = 0.0 if problem.head.planes is not None else abs(float(problem.loss.conjugate(np.zeros(1))[0])) * C * N
    way = 2.0 * (abs(found.primal) + at_zero)
    if l2 == 0 and l1 > 0:  # α was scaled until v fitted into its box, by a rounded factor
        sizes += 4.0 * A / l1 * way
    off = gamma(problem.n + problem.d + 40)
    # Σ |δαᵢ| ‖xᵢ‖ where rounding moves the scores; α that is stored does not move.
    moved = float(2.0 * gamma(problem.d + 8) * bend * C * (length_w * squares + largest_b * np.sqrt(N * squares)))
    if l2 > 0:
        reach = float(4.0 * off * A) + moved  # its square may be too large for a float: then nothing is known
        again = reach * reach / (2.0 * l2) + moved * np.sqrt(2.0 * max(found.gap, 0.0) / l2)
    else:
        again = moved / (l1 or np.inf) * way
    return float(off * sizes + again + (ULPS + (problem.head.planes or 0)) * U * C * N)


def _steepness(problem: Objective, found: Bound) -> tuple[float, float]:
    """Return what Σ |αᵢ| tᵢ does not exceed, as a share of √(Σ sᵢ tᵢ²), and by how much α can move with a score."""
    C, N, P = problem.weight_of_loss, problem.total_weight, max(found.primal, 0.0)
    if isinstance(problem.head, Softmax):
        # Σₖ |Aᵢₖ| = 2 C sᵢ (1 − p) with p that of the own class, and (1 − p)² ≤ 1 − p ≤ −log p; then Cauchy and
        # Schwarz. Σₖ |δpₖ| ≤ 2 maxₖ |δgₖ|.
        return float(2.0 * np.sqrt(C * min(C * N, P))), 2.0
    loss = problem.loss
    # |ℓ'| ≤ the steepest slope, and ℓ'² ≤ 2Lℓ where ℓ ≥ 0 has curvature at most L; then Cauchy and Schwarz.
    # Of the margins between classes it is what leaves one class and what comes to others.
    most = float(np.abs(loss.slopes).max()) * C * np.sqrt(N) * (1.0 if problem.head.planes is None else 2.0)
    if not np.isfinite(loss.max_curvature):
        return most, 0.0
    return float(min(most, np.sqrt(2.0 * loss.max_curvature * C * P))), loss.max_curvature


def as_enclosed(primal: Interval, dual: Interval) -> tuple[Bound, float]:
    """Return what is proven as a bound, and what another machine's rounding may add: as much again.

    A file holds finite numbers only: what is not is the largest of them, and proves nothing.
    """
    error = primal.width + max(primal.width, dual.width)
    numbers = (primal.high, dual.low, LARGEST if np.isnan(error) else error)
    high, low, error = (min(max(value, -LARGEST), LARGEST) for value in numbers)
    return Bound(high, low), error


def hidden(found: Bound, error: float, tol: float) -> bool:
    """Whether what is proven depends on how large rounding truly is: an estimate that counts has to be looked at."""
    if share(max(found.gap, 0.0) + error, max(abs(found.primal) - error, 0.0)) <= tol:
        return error > FAINT * tol * abs(found.primal)
    return found.relative_gap <= tol or error > 0.5 * tol * abs(found.primal)


def looked_at_closely(found: Bound, error: float, primal: Interval, dual: Interval) -> tuple[Bound, float]:
    """Return the bound, or a better one that was found, and what rounding did add to P − D at the most.

    That is doubled, up to what was estimated: on another machine it may be other roundings.
    """
    better = Bound(found.primal, max(found.dual, dual.low))
    off = max(primal.high - better.primal, better.primal - primal.low, 0.0)
    added = off + max(min(better.dual, better.primal) - dual.low, 0.0)
    return better, max(added, min(error, 2.0 * added))


def widened(primal: Interval, dual: Interval) -> float:
    """Return a bound twice as far as what is proven: another machine's rounding must not make the claim false."""
    return primal.low - 2.0 * (primal.high - dual.low) if dual.low > 0 else dual.low
