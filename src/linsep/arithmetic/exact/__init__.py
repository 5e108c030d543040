"""The checker: planes and proofs of overlap, tested in exact arithmetic on the floats as given.

A float is a whole number times a power of two, so every sum below is a sum of whole numbers and no rounding enters a
verdict. This folder imports nothing of linsep but `exact_input`: whatever found a proof, these files are all one has to
trust.

Labels are y ∈ {−1, +1}; a row is aᵢ = yᵢ [xᵢ, 1] (without an intercept, yᵢ xᵢ) and a plane is θ = [w, b].

- θ *separates* if aᵢ·θ > 0 for all i; it separates *weakly* if aᵢ·θ ≥ 0 for all i and > 0 for one.
- Weights λ > 0 on some rows with Σ λᵢ aᵢ = 0 prove that nothing separates (Gordan): two convex combinations, one of
  each class, are the same point.
- If these rows also span all others, nothing separates even weakly (Stiemke): a weak plane would be zero on them,
  hence on all rows.
- Weights λ ≥ 0 with Σ λᵢ aᵢ = e_j prove that no weak plane has θ_j < 0 (Farkas).
"""

from ._clock import Check, Clock, ProofTimeoutError
from ._combinations import check_cone, check_overlap
from ._margins import check_margin, margin_bounds, plane_margin
from ._rows import mantissas, rounded, whole_multiple
from ._sides import check_plane, sides, unsettled
from ._span import Dependencies, check_dependencies, check_rank, check_support, depends

__all__ = [
    "Check",
    "Clock",
    "Dependencies",
    "ProofTimeoutError",
    "check_cone",
    "check_dependencies",
    "check_margin",
    "check_overlap",
    "check_plane",
    "check_rank",
    "check_support",
    "depends",
    "mantissas",
    "margin_bounds",
    "plane_margin",
    "rounded",
    "sides",
    "unsettled",
    "whole_multiple",
]
