"""C by cross-validation over partitions: whole rows in folds, by a rule that asks where a row stands and nothing else.

Of every class each fold gets the same share: of so many of its rows in a row as there are folds, one each, in an order
that is drawn by the seed. Who holds a row is no part of that, nor how rows are cut into partitions. A fold is learned
without by giving its rows no weight, so that nothing moves; all values of C are scored on it in one round.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .._common.types import FloatArray, IntArray
from ..objective.examples import Block, InBlocks
from ..selection.folds import LOOSER, grid_of
from ..selection.tracks import Track
from ..solvers.workspace import Workspace
from .examples import OnCluster

S = TypeVar("S")

#: How many values are tried where nobody says which: three to a power of ten.
TRIED = 25


@dataclass(frozen=True)
class Folds:
    """Which rows are held out together.

    Attributes
    ----------
    count, seed : int
    before : dict
        Of each block, by the number of its first row, how many rows of each class there are before it.

    Examples
    --------
    >>> from linsep._core import Rows
    >>> block = Block(0, Rows(np.zeros((8, 1))), np.array([0, 0, 0, 0, 1, 1, 1, 1]))
    >>> fold = Folds(2, 0, {0: (0, 0)}).of(block)
    >>> np.bincount(fold[:4]), np.bincount(fold[4:])
    (array([2, 2]), array([2, 2]))
    """

    count: int
    seed: int
    before: dict[int, tuple[int, ...]]

    def of(self, block: Block) -> IntArray:
        """Return the fold of each row of a block."""
        found = np.empty(block.rows.n, dtype=np.int64)
        for k, first in enumerate(self.before[block.first]):
            which = np.flatnonzero(block.codes == k)
            rank = first + np.arange(len(which))
            found[which] = (rank + _drawn(self.seed, k, rank // self.count)) % self.count
        return found

    def learned(self, block: Block, fold: int) -> Block:
        """Return a block without the rows of a fold, which count nothing."""
        weight = np.ones(block.rows.n) if block.weight is None else block.weight
        return replace(block, weight=np.where(self.of(block) == fold, 0.0, weight))


def _drawn(seed: int, k: int, turn: IntArray) -> IntArray:
    """Return a number for each turn of a class: those of `splitmix64`, by where they stand in its sequence."""
    with np.errstate(over="ignore"):
        x = turn.astype(np.uint64) + np.uint64(1) + np.uint64((seed * 0x9E3779B9 + k * 0x85EBCA6B) % 2**63)
        x *= np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return (x >> np.uint64(33)).astype(np.int64)


class Learned(InBlocks):
    """The examples without those of a fold."""

    weighted = True

    def __init__(self, examples: OnCluster, folds: Folds, fold: int, totals: FloatArray) -> None:
        self._examples, self._folds, self._fold, self.totals = examples, folds, fold, totals
        self.n, self.d, self.counts, self.squares = examples.n, examples.d, examples.counts, examples.squares
        self.sample_size, self.holds = examples.sample_size, examples.holds
        self.in_turn, self.dear = examples.in_turn, examples.dear

    def __getstate__(self) -> dict[str, Any]:
        """Return what a task takes along: what is known of all examples."""
        return {name: value for name, value in super().__getstate__().items() if name not in ("_examples", "_folds")}

    def sum(self, task: Callable[[Block], S], blocks: Any = None) -> S:
        """Return Σ task(block) in one round."""
        if blocks is not None:
            return super().sum(task, blocks)
        folds, fold = self._folds, self._fold
        return self._examples.sum(lambda block: task(folds.learned(block, fold)))

    def __iter__(self) -> Any:
        return (self._folds.learned(block, self._fold) for block in self._examples)

    def glance(self, size: int) -> Any:
        """Return about so many rows, evenly spread over all partitions."""
        return self._examples.glance(size)


@dataclass(frozen=True)
class Choosing:
    """How C is chosen.

    Attributes
    ----------
    folds, seed : int
    rule : callable
        Which of the values is chosen, by a table of scores: a row a fold, a column a value.
    score : callable
        What a matrix of weights says, of rows of each class (rows) that were taken for each (columns).
    grid : tuple of float
    said : str
        The rule and the score in words, for a checkpoint.
    """

    folds: int = 5
    seed: int = 0
    rule: Callable[[FloatArray], int] = lambda scores: int(np.argmax(scores.mean(axis=0)))
    score: Callable[[FloatArray], float] = lambda said: float(np.trace(said) / said.sum())
    grid: tuple[float, ...] = tuple(grid_of(TRIED).tolist())

    said: str = "accuracy"

    def __repr__(self) -> str:
        return f"{self.said}: {self.folds} folds by seed {self.seed}"

    def choose(
        self, model: Any, examples: OnCluster, classes: NDArray[Any], place: Callable[[], Workspace]
    ) -> tuple[float, FloatArray]:
        """Return the C that is chosen, and the scores of all: a row a fold, a column a value."""
        folds = self._folds(examples, classes)
        model = clone(model).set_params(C=1.0)  # without a penalty there is none to weigh
        model.n_features_in_ = examples.d
        totals = examples.sum(lambda block: _totals(block, folds.of(block), folds.count, len(classes)))
        scores = []
        for fold in range(folds.count):
            learned = Learned(examples, folds, fold, totals.sum(axis=0) - totals[fold])
            track = Track(model, learned, classes, LOOSER * model._tol(), self.seed, place)
            models = [_light(track.model(C)) for C in self.grid]
            said = examples.sum(_Said(models, folds, fold, np.asarray(classes)))
            scores.append([self.score(one) for one in said])
        table = np.array(scores)
        return self.grid[self.rule(table)], table

    def _folds(self, examples: OnCluster, classes: NDArray[Any]) -> Folds:
        least = int(examples.counts.min())
        if least < 2:
            raise ValueError("C='auto' needs at least two examples of each class to cross-validate; give C as a number")
        if least < self.folds:
            rarest = classes[int(np.argmin(examples.counts))]
            warnings.warn(
                f"{least:,} folds instead of {self.folds:,}: of the rarest class, {rarest}, there are {least:,} rows, "
                "one for each",
                stacklevel=2,
            )
        return Folds(min(self.folds, least), self.seed, examples.before)


def _totals(block: Block, fold: IntArray, count: int, classes: int) -> FloatArray:
    """Return Σ s of each fold and class."""
    at = fold * classes + block.codes
    return np.bincount(at, block.weight, count * classes).astype(np.float64).reshape(count, classes)


def _light(model: Any) -> Any:
    """Return a model with what it takes to predict."""
    return model._light() if hasattr(model, "_light") else model


@dataclass(frozen=True)
class _Said:
    """What models say of a fold: of each model a matrix, Σ s of a class's rows by what they are taken for."""

    models: Sequence[Any]
    folds: Folds
    fold: int
    classes: NDArray[Any]

    def __call__(self, block: Block) -> FloatArray:
        held, K = np.flatnonzero(self.folds.of(block) == self.fold), len(self.classes)
        if not len(held):
            return np.zeros((len(self.models), K, K))
        rows, own = block.rows.X[held], block.codes[held]
        weight = None if block.weight is None else block.weight[held]
        found = []
        for model in self.models:
            taken_for = np.searchsorted(self.classes, model.predict(rows))
            found.append(np.bincount(own * K + taken_for, weight, K * K).astype(np.float64).reshape(K, K))
        return np.array(found)
