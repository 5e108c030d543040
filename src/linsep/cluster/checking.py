"""`verify` on partitions: these come to the client one after the other, with numbers of every row kept there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..arithmetic.blocked import BlockedMatrix
from ..certificates.outcome import Verification
from ..persistence.verification import verify
from .examples import Engine
from .fitting import joined_summaries
from .parts import Summary


def verify_parts(model_or_path: Any, engine: Engine, summaries: Sequence[Summary], **asked: Any) -> Verification:
    """Check what is proven of a model from the partitions that an engine holds: see `linsep.verify`.

    Every rounding is enclosed and Σ αᵢ yᵢ = 0 holds in whole numbers, for which the dual variables are needed in one
    place: some ten numbers of every row are, but no more than one partition's rows.
    """
    found, _ = joined_summaries(summaries, "verify")
    filled = [k for k, one in enumerate(found) if one.n]

    def rows() -> Iterator[Any]:
        return (engine.part(k).rows.X for k in filled)

    labels: list[Any] = []
    weights: list[Any] = []
    for k in filled:
        part = engine.part(k)
        labels.append(part.labels[part.codes])
        weights.append(part.weight)
    X = BlockedMatrix(rows, sum(one.n for one in found), found[filled[0]].d)
    weight = None if weights[0] is None else np.concatenate(weights)
    return verify(model_or_path, X, np.concatenate(labels), weight, **asked)
