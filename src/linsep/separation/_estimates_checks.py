"""The check of maximum likelihood estimates: every verdict in exact arithmetic, the supremum with roundings bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..arithmetic.exact import Check, Clock, check_cone, check_rank
from ._counted_rows import CountedRows
from ._estimates_words import FINITE, KINDS, MINUS, OPEN, PLUS, signed, supremum_in_words
from ._limit import enclosed_supremum
from ._recession_cone import sign

if TYPE_CHECKING:
    from .estimates import Estimates


def verify(found: Estimates, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, clock: Clock) -> Check:
    """Check all that is said of the coefficients, on data."""
    base = found.separability.verify(X, y, sample_weight, time_limit=clock.left())
    if not base:
        return base
    rows = CountedRows.of(X, y, sample_weight, found.separability, clock)
    named = [*found.spanning, *(i for weights in found.proofs.values() for i in weights)]
    if not rows.has(named):
        return Check(False, "the proof names a row that the data do not have, or that has no weight")
    for check in (_check_relations, _check_directions, _check_verdicts, _check_supremum):
        checked = check(found, rows)
        if not checked:
            return checked
    return Check(True, f"{len(found.verdicts)} estimates are as told; {supremum_in_words(found)}")


def _check_relations(found: Estimates, rows: CountedRows) -> Check:
    """Check that the aliased columns depend on each other, and that there are no others that do."""
    intercept = found.separability.fit_intercept
    points = [rows.place[i] for i in found.spanning]
    return check_rank(rows.X, points, found.dependencies, intercept=intercept, time_limit=rows.clock.left())


def _check_directions(found: Estimates, rows: CountedRows) -> Check:
    for plane in found.directions:
        if len(plane) != rows.size:
            return Check(False, f"a direction has {len(plane)} numbers for {rows.size} coefficients")
        signs = rows.sides(plane)
        if (signs < 0).any():
            return Check(False, f"row {rows.number(int(np.argmax(signs < 0)))} is on the wrong side of a direction")
    return Check(True, "")


def _check_verdicts(found: Estimates, rows: CountedRows) -> Check:
    proof = found.separability
    if len(found.verdicts) != rows.size or any(kind not in KINDS for kind in found.verdicts):
        return Check(False, f"{rows.size} coefficients need as many verdicts, each one of {', '.join(KINDS)}")
    if proof.verdict not in ("separable", "quasi", "overlap") or proof.infinite is None:
        return Check(False, f"nothing follows for coefficients from {proof.verdict!r}")
    unheld = set(found.aliased if proof.verdict == "overlap" else proof.infinite)
    for j, kind in enumerate(found.verdicts):
        if (kind == FINITE) != (j not in unheld):
            return Check(False, f"the estimate of {found.name(j)} is {'not finite' if j in unheld else 'finite'}")
        if kind == OPEN and j not in found.aliased:
            seen = {sign(plane[j]) for plane in found.directions}
            if not {1, -1} <= seen:
                return Check(False, f"no two directions show that {found.name(j)} is not determined")
        if kind in (PLUS, MINUS):
            shown = _check_infinite(found, rows, j, 1 if kind == PLUS else -1)
            if not shown:
                return shown
    if any(found.verdicts[j] != OPEN for j in found.aliased):
        return Check(False, "the estimates of columns that depend on each other are not determined")
    if set(found.proofs) != {j for j, kind in enumerate(found.verdicts) if kind in (PLUS, MINUS)}:
        return Check(False, "there are proofs for other coefficients than those of infinite estimates")
    return Check(True, "")


def _check_infinite(found: Estimates, rows: CountedRows, j: int, side: int) -> Check:
    """Check that some direction has this sign at j, and that none has the other."""
    weights, name = found.proofs.get(j, {}), found.name(j)
    if not any(sign(plane[j]) == side for plane in found.directions):
        return Check(False, f"no direction shows that {name} has no finite estimate")
    points = [rows.place[i] for i in weights]
    farkas = points, list(weights.values()), j, side
    cone = check_cone(rows.X, rows.y, *farkas, intercept=rows.intercept, time_limit=rows.clock.left())
    return cone if cone else Check(False, f"{name}: {cone.reason}")


def _check_supremum(found: Estimates, rows: CountedRows) -> Check:
    low, high = found.supremum
    if found.separability.separable:
        alone = found.limit is None and (low, high) == (0.0, 0.0)
        return Check(alone, "" if alone else "the likelihood of separable classes has the supremum 0, and no limit")
    if found.limit is None or found.limit.shape != (rows.size,) or not np.isfinite(found.limit).all():
        return Check(False, f"the limit needs {rows.size} finite numbers")
    face = rows.held(found.separability)
    if any(value and j not in face.columns for j, value in enumerate(found.limit)):
        return Check(False, "the limit has weights on columns that depend on others")
    between = enclosed_supremum(rows.on_face(found.separability), face.columns, found.limit)
    if not (low <= between.low and between.high <= high <= 0):
        said = f"between {signed(between.low, 12)} and {signed(between.high, 12)}"
        return Check(False, f"the supremum of the log-likelihood is only known to be {said}")
    if not found.proven and high != 0:
        return Check(False, "the limit attains too little of the supremum for its numbers to be the estimates")
    return Check(True, "")
