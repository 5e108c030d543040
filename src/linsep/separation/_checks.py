"""The check of a verdict on planes: all of its proof, on the data, in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._common.reading import ClaimError
from .._common.types import FloatArray, IntArray
from ..arithmetic.exact import (
    Check,
    Clock,
    check_dependencies,
    check_margin,
    check_overlap,
    check_plane,
    check_support,
    rounded,
)
from ._question import CountedRows, held
from .face import unbounded

if TYPE_CHECKING:
    from .proof import Separability

#: What a verdict stands on, besides what depends on the data.
EXPECTED = {
    "separable": ("coef", "intercept", "margin"),
    "quasi": ("coef", "intercept", "margin", "points", "weights", "support", "support_weights"),
    "overlap": ("points", "weights", "support", "support_weights"),
    "inseparable": ("points", "weights"),
}
_KIND = {
    "coef": "coefficients",
    "intercept": "coefficients",
    "margin": "margins",
    "points": "points that coincide",
    "weights": "points that coincide",
    "support": "rows that span others",
    "support_weights": "rows that span others",
}


def verify(proof: Separability, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, clock: Clock) -> Check:
    """Check a verdict on data; rows without weight are left out, and no proof may name them."""
    try:
        rows = CountedRows.of(X, y, sample_weight, proof, clock)
        rows.check_names((*(proof.points or []), *(proof.support or [])))
        _check_fields(proof, rows.d)
        return _check_proof(proof.in_rows(rows.place), rows)
    except ClaimError as failure:
        return Check(False, str(failure))


def _check_fields(proof: Separability, d: int) -> None:
    """Check that everything which goes with the verdict is there, in the right number, and nothing else."""
    if proof.verdict not in EXPECTED:
        raise ClaimError(f"{proof.verdict!r} is no verdict that could be checked")
    for name in ("coef", "intercept", "margin", "points", "weights", "support", "support_weights"):
        there, expected = getattr(proof, name) is not None, name in EXPECTED[proof.verdict]
        if there != expected and not (proof.verdict == "quasi" and name in ("support", "support_weights")):
            raise ClaimError(f"{_KIND[name]} {'do not go' if there else 'must go'} with {proof.verdict!r}")
    if proof.verdict not in ("separable", "quasi") and proof.plane is not None:
        raise ClaimError(f"a plane does not go with {proof.verdict!r}")
    if proof.dependencies and proof.verdict not in ("overlap", "quasi"):
        raise ClaimError(f"columns that depend on others do not go with {proof.verdict!r}")
    if proof.on_plane != 0 and proof.verdict != "quasi":
        raise ClaimError(f"points on a plane do not go with {proof.verdict!r}")
    expected_infinite = {"separable": list(range(d + proof.fit_intercept)), "overlap": [], "inseparable": None}
    if proof.verdict in expected_infinite and proof.infinite != expected_infinite[proof.verdict]:
        raise ClaimError(f"other coefficients are without a finite estimate if data are {proof.verdict!r}")
    if proof.feature_names is not None and len(proof.feature_names) != d:
        raise ClaimError(f"there are {len(proof.feature_names)} names for {d} columns")
    if proof.coef is not None and proof.intercept is not None:
        _check_sizes(proof.coef, proof.intercept, proof.plane, d, proof.fit_intercept)


def _check_sizes(coef: FloatArray, b: float, plane: tuple[Fraction, ...] | None, d: int, fit_intercept: bool) -> None:
    """Check that there are as many coefficients as columns, and that the plane in floats is the exact one's."""
    if np.shape(coef) != (d,):
        raise ClaimError(f"the plane has {len(coef)} coefficients, the data {d} columns")
    if not fit_intercept and b != 0:
        raise ClaimError(f"a plane through the origin has no intercept, not {b}")
    if plane is None:
        return
    if len(plane) != d + 1 or (not fit_intercept and plane[-1] != 0):
        raise ClaimError(f"the plane has {len(plane)} numbers for {d} coefficients, or one too many")
    if not np.array_equal(rounded(plane), [*coef, b]):
        raise ClaimError("the coefficients are not those of the plane, rounded")


def _check_proof(proof: Separability, rows: CountedRows) -> Check:
    """Check the proof itself."""
    if proof.verdict in ("separable", "quasi"):
        plane = _check_plane(proof, rows)
        if proof.separable:
            return plane
    if proof.verdict == "overlap":
        if (proof.points, proof.weights) != (proof.support, proof.support_weights):  # else checked with their span
            rows.holds(check_overlap, proof.points, proof.weights)
        return rows.holds(check_support, proof.support, proof.support_weights, proof.dependencies)
    touching = rows.holds(check_overlap, proof.points, proof.weights)
    if proof.verdict == "quasi":
        _check_infinite(proof, rows)
    return touching


def _check_plane(proof: Separability, rows: CountedRows) -> Check:
    """Check that the plane separates, its margin, and how many points are on it."""
    plane: Any = (proof.coef, proof.intercept) if proof.plane is None else (proof.plane[:-1], proof.plane[-1])
    margin: Any = proof.margin
    coef, b = plane[0], plane[1] if proof.fit_intercept else None
    left = rows.clock.left
    found = held(check_plane(rows.X, rows.y, coef, b, strict=proof.separable, time_limit=left()))
    if not proof.separable:
        zeros = len(_on_plane(proof, rows))
        if proof.on_plane != zeros:
            raise ClaimError(f"{zeros} points lie on the plane, not {proof.on_plane}")
        if margin != 0:
            raise ClaimError(f"a weak plane has no margin, not {margin}")
    elif np.any(coef):
        held(check_margin(rows.X, rows.y, coef, b, margin, time_limit=left()))
    elif margin != np.inf:  # of one class
        raise ClaimError("a plane without weights is infinitely far away")
    return found


def _check_infinite(proof: Separability, rows: CountedRows) -> None:
    """Check which coefficients are said to have no finite estimate, and so that the others have one."""
    limits: Any = dict(intercept=rows.intercept, time_limit=rows.clock.left())
    held(check_dependencies(rows.X, proof.dependencies, **limits))
    if proof.infinite is None:
        held(Check(proof.support is None, "rows that hold coefficients go with saying which ones"))
        return
    if proof.support is None or proof.support_weights is None:
        raise ClaimError("there is no proof that some coefficients have a finite estimate")
    rows.holds(check_overlap, proof.support, proof.support_weights)
    on_plane = _on_plane(proof, rows)
    found = unbounded(rows.X, rows.y, proof.support, on_plane, intercept=rows.intercept, clock=rows.clock)
    if found is None:
        raise ClaimError("the rows of the proof do not span all points on the plane")
    if found != proof.infinite:
        raise ClaimError(f"{len(found)} of {rows.size} coefficients are without a finite estimate, or others")


def _on_plane(proof: Separability, rows: CountedRows) -> IntArray:
    """Return the rows on the plane."""
    return np.flatnonzero(rows.sides(proof.theta) == 0)
