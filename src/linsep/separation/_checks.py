"""The check of a verdict on planes: all of its proof, on the data, in exact arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._types import FloatArray, IntArray
from ..arithmetic.exact import (
    Check,
    Clock,
    check_dependencies,
    check_margin,
    check_overlap,
    check_plane,
    check_support,
    rounded,
    sides,
)
from ._input import counted_rows, matrix_of
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
    matrix, labels = matrix_of(X), np.asarray(y)
    if labels.shape != (matrix.shape[0],):
        return Check(False, f"y must hold a label {proof.classes[0]!r} or {proof.classes[1]!r} for each row of X")
    if sample_weight is not None:
        counted = counted_rows(sample_weight, matrix.shape[0])
        named = np.array([*(proof.points or []), *(proof.support or [])], dtype=np.int64)
        place = np.full(matrix.shape[0], -1)
        place[counted] = np.arange(len(counted))
        if not all(0 <= i < len(place) and place[i] >= 0 for i in named.tolist()):
            return Check(False, "the proof names a row that the data do not have, or that has no weight")
        proof, matrix, labels = proof.in_rows(place.tolist()), matrix[counted], labels[counted]
    if not np.isin(labels, np.array(proof.classes)).all():
        return Check(False, f"y must hold a label {proof.classes[0]!r} or {proof.classes[1]!r} for each row of X")
    signs = np.where(labels == proof.classes[1], 1.0, -1.0)
    fields = _check_fields(proof, matrix.shape[1])
    return _check_proof(proof, matrix, signs, clock) if fields else fields


def _check_fields(proof: Separability, d: int) -> Check:
    """Check that everything which goes with the verdict is there, in the right number, and nothing else."""
    if proof.verdict not in EXPECTED:
        return Check(False, f"{proof.verdict!r} is no verdict that could be checked")
    for name in ("coef", "intercept", "margin", "points", "weights", "support", "support_weights"):
        there, expected = getattr(proof, name) is not None, name in EXPECTED[proof.verdict]
        if there != expected and not (proof.verdict == "quasi" and name in ("support", "support_weights")):
            return Check(False, f"{_KIND[name]} {'do not go' if there else 'must go'} with {proof.verdict!r}")
    if proof.verdict not in ("separable", "quasi") and proof.plane is not None:
        return Check(False, f"a plane does not go with {proof.verdict!r}")
    if proof.dependencies and proof.verdict not in ("overlap", "quasi"):
        return Check(False, f"columns that depend on others do not go with {proof.verdict!r}")
    if proof.on_plane != 0 and proof.verdict != "quasi":
        return Check(False, f"points on a plane do not go with {proof.verdict!r}")
    expected_infinite = {"separable": list(range(d + proof.fit_intercept)), "overlap": [], "inseparable": None}
    if proof.verdict in expected_infinite and proof.infinite != expected_infinite[proof.verdict]:
        return Check(False, f"other coefficients are without a finite estimate if data are {proof.verdict!r}")
    if proof.feature_names is not None and len(proof.feature_names) != d:
        return Check(False, f"there are {len(proof.feature_names)} names for {d} columns")
    return _check_sizes(proof, d)


def _check_sizes(proof: Separability, d: int) -> Check:
    """Check that there are as many coefficients as columns, and that the plane in floats is the exact one's."""
    if proof.coef is None or proof.intercept is None:
        return Check(True, "")
    if np.shape(proof.coef) != (d,):
        return Check(False, f"the plane has {len(proof.coef)} coefficients, the data {d} columns")
    if not proof.fit_intercept and proof.intercept != 0:
        return Check(False, f"a plane through the origin has no intercept, not {proof.intercept}")
    if proof.plane is None:
        return Check(True, "")
    if len(proof.plane) != d + 1 or (not proof.fit_intercept and proof.plane[-1] != 0):
        return Check(False, f"the plane has {len(proof.plane)} numbers for {d} coefficients, or one too many")
    if not np.array_equal(rounded(proof.plane), [*proof.coef, proof.intercept]):
        return Check(False, "the coefficients are not those of the plane, rounded")
    return Check(True, "")


def _check_proof(proof: Separability, X: Any, signs: FloatArray, clock: Clock) -> Check:
    """Check the proof itself."""
    if proof.verdict in ("separable", "quasi"):
        plane = _check_plane(proof, X, signs, clock)
        if proof.separable or not plane:
            return plane
    points: Any = (proof.points, proof.weights)
    support: Any = (proof.support, proof.support_weights)
    intercept: Any = dict(intercept=proof.fit_intercept)
    if proof.verdict == "overlap" and points == support:
        touching = Check(True, "the same combinations are checked below")
    else:
        touching = check_overlap(X, signs, *points, **intercept, time_limit=clock.left())
    if not touching or proof.verdict == "inseparable":
        return touching
    if proof.verdict == "quasi":
        held = _check_infinite(proof, X, signs, clock)
        return touching if held else held
    return check_support(X, signs, *support, proof.dependencies, **intercept, time_limit=clock.left())


def _check_plane(proof: Separability, X: Any, signs: FloatArray, clock: Clock) -> Check:
    """Check that the plane separates, its margin, and how many points are on it."""
    plane: Any = (proof.coef, proof.intercept) if proof.plane is None else (proof.plane[:-1], proof.plane[-1])
    margin: Any = proof.margin
    coef, b = plane[0], plane[1] if proof.fit_intercept else None
    found = check_plane(X, signs, coef, b, strict=proof.separable, time_limit=clock.left())
    if not found:
        return found
    if not proof.separable:
        zeros = len(_on_plane(proof, X, signs, clock))
        if proof.on_plane != zeros:
            return Check(False, f"{zeros} points lie on the plane, not {proof.on_plane}")
        return found if proof.margin == 0 else Check(False, f"a weak plane has no margin, not {proof.margin}")
    if not np.any(coef):  # of one class
        return found if proof.margin == np.inf else Check(False, "a plane without weights is infinitely far away")
    kept = check_margin(X, signs, coef, b, margin, time_limit=clock.left())
    return found if kept else kept


def _check_infinite(proof: Separability, X: Any, signs: FloatArray, clock: Clock) -> Check:
    """Check which coefficients are said to have no finite estimate, and so that the others have one."""
    size, intercept = X.shape[1] + proof.fit_intercept, proof.fit_intercept
    depend = check_dependencies(X, proof.dependencies, intercept=intercept, time_limit=clock.left())
    if not depend:
        return depend
    if proof.infinite is None:
        return Check(proof.support is None, "rows that hold coefficients go with saying which ones")
    if proof.support is None or proof.support_weights is None:
        return Check(False, "there is no proof that some coefficients have a finite estimate")
    weights = check_overlap(
        X, signs, proof.support, proof.support_weights, intercept=intercept, time_limit=clock.left()
    )
    if not weights:
        return weights
    on_plane = _on_plane(proof, X, signs, clock)
    found = unbounded(X, signs, proof.support, on_plane, intercept=intercept, clock=clock)
    if found is None:
        return Check(False, "the rows of the proof do not span all points on the plane")
    if found != proof.infinite:
        return Check(False, f"{len(found)} of {size} coefficients are without a finite estimate, or others")
    return Check(True, "")


def _on_plane(proof: Separability, X: Any, signs: FloatArray, clock: Clock) -> IntArray:
    """Return the rows on the plane."""
    return np.flatnonzero(sides(X, signs, proof.theta, intercept=proof.fit_intercept, clock=clock) == 0)
