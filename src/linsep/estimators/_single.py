"""Planes in single precision, for data in single precision: as scikit-learn gives them, where that costs no proof."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._common.types import FloatArray
from ..certificates.gap.certificate import Certificate, Claim
from ..objective.duality import Bound
from ..objective.objective import Objective

if TYPE_CHECKING:
    from ..solvers import Result


def is_single(objective: Objective) -> bool:
    """Whether the examples are 32-bit floats in memory."""
    resident = objective.examples.resident
    return resident is not None and resident.X.dtype == np.float32


def in_single(objective: Objective, result: Result) -> Result:
    """Return the result with its planes rounded to 32-bit floats, and nothing that was known of them before."""
    with np.errstate(over="ignore"):
        w = np.asarray(result.w, dtype=np.float32).astype(np.float64)
        b: Any = np.asarray(result.b, dtype=np.float32).astype(np.float64)
    b = b if b.ndim else float(b)
    last, proof = replace(result.last, w=w, b=b), bound_at(objective, w, b)
    return replace(result, w=w, b=b, last=last, proof=proof, alpha=None, z=None, least=None, enclosed=None)


def as_single(*parts: FloatArray) -> tuple[Any, ...]:
    """Return the parts as 32-bit floats if they are such numbers, all of them, and otherwise as they are."""
    with np.errstate(over="ignore"):
        narrow = [part.astype(np.float32) for part in parts]
    exact = all(np.array_equal(part, less) for part, less in zip(parts, narrow, strict=True))
    return tuple(narrow) if exact else parts


def is_proven(claim: Claim | None) -> bool:
    """Whether what is claimed is the gap that was asked for."""
    return claim is not None and Certificate(claim, np.empty(0), 0.0, claim.statement).proven


def bound_at(objective: Objective, w: Any, b: Any) -> Bound | None:
    """Return what planes of all classes at once prove of themselves; of one plane that is looked for elsewhere."""
    if objective.head.planes is None:
        return None
    found: Bound = objective.evaluate(w, b, split=objective.fit_intercept).bound
    return found
