"""What is proven beside a comparison of losses: whether a plane without mistakes exists, in the file's own numbers."""

from __future__ import annotations

import numpy as np

from ..separation.verdict import ProofTimeoutError, Separability, separability
from .preparation import Examples

#: Seconds that the proof may take.
SECONDS = 10.0
SAID = {
    "separable": "a plane separates the classes",
    "quasi": "a plane has no row on its wrong side, but {on:,} of {n:,} rows on itself, and none separates them all",
    "overlap": "no plane separates the classes",
}


def verdict_on(examples: Examples) -> Separability | None:
    """Return the verdict of `linsep separable` on the same file; None for more than two classes, or after long."""
    if len(np.unique(examples.y)) > 2:
        return None
    try:
        return separability(examples.own_numbers(), examples.y, time_limit=SECONDS)
    except ProofTimeoutError:
        return None


def verdict_text(verdict: Separability | None, n: int) -> str:
    """Return what is proven of n rows, below the table."""
    if verdict is None:
        return ""
    said = SAID.get(verdict.verdict, verdict.verdict).format(on=verdict.on_plane, n=n)
    return f"\n\nproven: {said} (linsep separable)"
