"""`verify` on partitions: gaps are checked by sums over them, where they are.

Every rounding is enclosed and Σ αᵢ yᵢ = 0 holds in whole numbers, which add up without rounding wherever they are: see
`objective/summed_bound`. What sums do not say (other proofs, numbers at the ends of the range of floats, sums whose
digits cancel) is looked at from partitions that come to the client one after the other, with numbers of every row kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.types import FloatArray
from ..arithmetic.blocked import BlockedMatrix
from ..certificates.data_hash import PartHash, RowsHash, hash_of_codes, hash_of_weights, joined
from ..certificates.outcome import Verification
from ..certificates.training_data import TrainingData, codes_of
from ..objective.examples import Block, Pieces
from ..objective.objective import Objective
from ..objective.statement import Statement
from ..persistence.verification import verify
from .examples import Engine, OnCluster
from .fitting import joined_summaries
from .parts import Summary


def verify_parts(model_or_path: Any, engine: Engine, summaries: Sequence[Summary], **asked: Any) -> Verification:
    """Check what is proven of a model from the partitions that an engine holds: see `linsep.verify`."""
    found, classes = joined_summaries(summaries, "verify")
    return verify(model_or_path, InPartitions(engine, found, classes), None, **asked)


class InPartitions(TrainingData):
    """Training data in partitions elsewhere."""

    def __init__(self, engine: Engine, summaries: Sequence[Summary], classes: NDArray[Any]) -> None:
        self.names, self._codes = None, {}
        self._engine, self._summaries, self._found = engine, summaries, classes
        self._filled = [k for k, one in enumerate(summaries) if one.n]
        self._on: dict[tuple[Any, ...], OnCluster] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are."""
        return sum(one.n for one in self._summaries), self._summaries[self._filled[0]].d

    def on(self, classes: tuple[Any, ...]) -> OnCluster:
        """Return the examples, each with its place among the classes."""
        if classes not in self._on:
            for k in self._filled:
                codes_of(self._summaries[k].labels, classes)  # which says of one that the fit did not know
            self._on[classes] = OnCluster(self._engine, self._summaries, np.asarray(classes))
        return self._on[classes]

    def problem(self, statement: Statement, classes: tuple[Any, ...], positive: int | None) -> Objective:
        """Return what a statement says is minimised, of one plane or (None) of all."""
        examples, by_class = self.on(classes), None
        if statement.class_weight is not None:
            by_class = statement.by_class(examples.totals, list(classes))
        return replace(statement.on(examples, positive=positive, classes=len(classes)), class_weight=by_class)

    def all_one(self, statement: Statement, classes: tuple[Any, ...]) -> bool:
        """Whether every example counts one: a round, where they have weights."""
        problem = self.problem(statement, classes, 1)
        if problem.class_weight is None and not problem.examples.weighted:
            return True
        return problem.sum(_others_than_one) == 0

    def hashed(self, like: Mapping[str, Any]) -> dict[str, Any]:
        """Return the hash of the data, as `like` was made: of partitions where they are, or of all rows here."""
        parts, examples = like.get("parts"), self.on(tuple(self._found.tolist()))
        if not parts:
            return self._hashed_in_turn(examples)
        if list(parts) != [n for n in examples.sizes if n]:
            return super().hashed(like)
        classes = self._found

        def task(block: Block) -> Pieces:
            rows = RowsHash()
            rows.add(block.rows.X)
            return Pieces([PartHash.of(rows, classes, block.codes, block.weight)])

        return joined(examples.sum(task), examples.d)

    def _hashed_in_turn(self, examples: OnCluster) -> dict[str, Any]:
        """Return the hash of all rows in their order: partitions come here, one after the other."""
        rows = RowsHash()
        for block in examples:
            rows.add(block.rows.X)
        weights = (np.asarray(block.weight) for block in examples)
        return {
            "rows": examples.n,
            "columns": examples.d,
            "X": rows.digest(),
            "y": hash_of_codes(self._found, (block.codes for block in examples)),
            "sample_weight": hash_of_weights(weights) if examples.weighted else None,
        }

    # -- what comes here, where sums do not tell ----------------------------------------------------------------------

    @cached_property
    def X(self) -> BlockedMatrix:
        """The rows, a partition at a time."""

        def rows() -> Iterator[Any]:
            return (self._engine.part(k).rows.X for k in self._filled)

        return BlockedMatrix(rows, *self.shape)

    @cached_property
    def labels(self) -> NDArray[Any]:  # type: ignore[override]
        """The label of every row."""
        parts = (self._engine.part(k) for k in self._filled)
        return np.concatenate([part.labels[part.codes] for part in parts])

    @cached_property
    def sample_weight(self) -> FloatArray | None:  # type: ignore[override]
        """The weight of every row."""
        parts = (self._engine.part(k) for k in self._filled)
        weighted = self._summaries[self._filled[0]].weighted
        return np.concatenate([np.asarray(part.weight) for part in parts]) if weighted else None


def _others_than_one(part: Objective) -> int:
    return int(np.count_nonzero(part.s != 1.0))
