"""Where the examples are: in memory, as one block, or elsewhere, as many that come by one after the other.

Whatever a method asks of examples is a sum over them, or one number for each. `resident` is what fast paths ask for:
the rows, if all of them are in memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any, Self, TypeAlias, TypeVar

import numpy as np
from scipy import sparse

from .._common.types import FloatArray, IntArray
from .._core import Rows, is_sparse
from ..arithmetic.blocked import BlockedMatrix, rows_of

S = TypeVar("S")

#: A column is kept in single precision where its largest number is no more than so many times its spread.
FAR = 1e3
#: A task goes through dense rows so many numbers at a time, which a processor keeps near while they are read again; of
#: more features a sum of their products would be as large as the rows that it is of. (covtype, one thread: a pass of
#: the augmented Lagrangian 3.3 ms instead of 5.2, at half and twice as many 3.4 and 3.1.)
AT_ONCE, FEW = 1 << 19, 512


class Several(tuple[Any, ...]):
    """Numbers and arrays that are added one by one.

    Examples
    --------
    >>> total = Several((1.0, np.ones(2)))
    >>> total += Several((2.0, np.ones(2)))
    >>> total
    (3.0, array([2., 2.]))
    """

    __slots__ = ()

    def __add__(self, other: Any) -> Self:
        return type(self)(_added(a, b) for a, b in zip(self, other, strict=True))


def _added(a: Any, b: Any) -> Any:
    a += b  # an array in place: there may be room for no more than two of them
    return a


@dataclass(frozen=True)
class Block:
    """Some examples that follow each other: the number of the first, their rows, and the class of each.

    They may have weights; in a sample, how many of all examples each one stands for.
    """

    first: int
    rows: Rows
    codes: IntArray
    weight: FloatArray | None = None

    @property
    def which(self) -> slice:
        """Which of all examples these are."""
        return slice(self.first, self.first + self.rows.n)

    def pieces(self) -> Iterator[Block]:
        """Yield it piece by piece, each of which stays near while a task goes through it several times."""
        rows, size = self.rows, max(1, AT_ONCE // max(1, self.rows.d))
        if rows.is_sparse or rows.d > FEW or rows.n <= size:
            yield self
            return
        for begin in range(0, rows.n, size):
            some = slice(begin, begin + size)
            weight = None if self.weight is None else self.weight[some]
            yield Block(self.first + begin, rows.some(some), self.codes[some], weight)


class InPieces:
    """A task that goes through a block piece by piece, and adds up what it finds."""

    def __init__(self, task: Callable[[Block], Any]) -> None:
        self.task = task
        self.__qualname__ = getattr(task, "__qualname__", type(task).__qualname__)

    def __call__(self, block: Block) -> Any:
        """Return what the task gives of all pieces together."""
        return reduce(add, map(self.task, block.pieces()))


@dataclass(frozen=True, eq=False)
class InMemory:
    """Examples in memory: one block."""

    rows: Rows
    given: IntArray | None = None  # the class of each
    weight: FloatArray | None = None  # of each, all ones if None
    signs: FloatArray | None = None  # ±1.0 instead of classes, where there are two: class 1 is +1
    holds = np.inf
    in_turn, dear = True, False

    @property
    def resident(self) -> Rows:
        """The rows."""
        return self.rows

    @property
    def n(self) -> int:
        """How many there are."""
        return self.rows.n

    @property
    def d(self) -> int:
        """How many columns they have."""
        return self.rows.d

    @cached_property
    def codes(self) -> IntArray:
        """The class of each."""
        if self.given is not None:
            return self.given
        assert self.signs is not None
        return (self.signs > 0).astype(np.int64)

    @cached_property
    def counts(self) -> IntArray:
        """How many each class has."""
        return np.bincount(self.codes)

    @cached_property
    def squares(self) -> FloatArray:
        """Σ ‖x‖² over the examples of each class."""
        return np.asarray(np.bincount(self.codes, weights=self.rows.squared_norms()), dtype=np.float64)

    @property
    def weighted(self) -> bool:
        """Whether they have weights."""
        return self.weight is not None

    @cached_property
    def totals(self) -> FloatArray:
        """Σ s over the examples of each class."""
        return np.bincount(self.codes, weights=self.weight).astype(np.float64)

    def __iter__(self) -> Iterator[Block]:
        yield Block(0, self.rows, self.codes, self.weight)

    def sum(self, task: Callable[[Block], S]) -> S:
        """Return what the task gives of the only block."""
        return task(next(iter(self)))

    def glance(self, size: int) -> Any:
        """Return about so many rows, evenly spread; None if there are not two."""
        return _spread(self.rows, size) if self.n > 1 else None

    def sample(self, seed: int = 0, *, weighted: bool = False) -> Block | None:
        """Return nothing: who has all rows takes what it needs of them."""
        return None

    def with_rows(self, rows: Rows) -> InMemory:
        """Return the same examples with other columns."""
        return InMemory(rows, self.given, self.weight, self.signs)

    def chosen(self, which: IntArray | slice, weight: FloatArray | None, rows: Rows | None = None) -> InMemory:
        """Return some of them, with these weights, and rows that may be known."""
        given = None if self.given is None else self.given[which]
        signs = None if self.signs is None else self.signs[which]
        return InMemory(self.rows.some(which) if rows is None else rows, given, weight, signs)


class InBlocks(ABC):
    """Examples elsewhere than in memory: whoever can go through the blocks can sum over them."""

    n: int
    d: int
    counts: IntArray  # how many examples each class has
    squares: FloatArray  # Σ ‖x‖² over the examples of each class
    weighted: bool = False  # whether the blocks have weights
    resident = None
    sample_size: int = 0  # about how many examples a sample may have; none if 0
    holds: float = np.inf  # how many numbers of every example there is room for in memory
    dear: bool = True  # whether a pass costs more than what is added up in it
    in_turn: bool = True  # whether blocks come by here, one after the other, each seeing what the last has changed

    @abstractmethod
    def __iter__(self) -> Iterator[Block]: ...

    def __getstate__(self) -> dict[str, Any]:
        """Return what a task takes along that is sent to the blocks: samples stay here."""
        return {name: value for name, value in self.__dict__.items() if name != "_samples"}

    @cached_property
    def totals(self) -> FloatArray:
        """Σ s over the examples of each class: one pass, where they have weights."""
        return self._weighed(lambda block: 1.0) if self.weighted else self.counts.astype(np.float64)

    @cached_property
    def weighted_squares(self) -> FloatArray:
        """Σ s‖x‖² over the examples of each class: one pass, where they have weights."""
        return self._weighed(lambda block: block.rows.squared_norms()) if self.weighted else self.squares

    def _weighed(self, values: Callable[[Block], Any]) -> FloatArray:
        size = len(self.counts)

        def task(block: Block) -> FloatArray:
            assert block.weight is not None
            return np.bincount(block.codes, block.weight * values(block), size).astype(np.float64)

        return self.sum(task)

    def shuffled(self, seed: int) -> Iterator[Block]:
        """Yield the blocks in random order, where they can be had in any."""
        return iter(self)

    def sum(self, task: Callable[[Block], S], blocks: Iterable[Block] | None = None) -> S:
        """Return Σ task(block), in one pass, added in the order of the blocks, or in another one that is given."""
        total: Any = None
        for block in self if blocks is None else blocks:
            found = task(block)
            total = found if total is None else total + found
        return total  # type: ignore[no-any-return]

    def glance(self, size: int) -> Any:
        """Return about so many rows, evenly spread over the first block that has two; None if no block has."""
        return next((_spread(block.rows, size) for block in self if block.rows.n > 1), None)

    def sample(self, seed: int = 0, *, weighted: bool = False) -> Block | None:
        """Return a sample of the size that is allowed, the same one each time; None if that is none."""
        if not self.sample_size:
            return None
        known: dict[tuple[int, bool], Block] = self.__dict__.setdefault("_samples", {})
        if (seed, weighted) not in known:
            rng = np.random.default_rng(seed)
            known[seed, weighted] = gather(self, self.sample_size, rng, weighted=weighted, short=True)
        return known[seed, weighted]


#: Where examples are. They can be gone through again and again; a block is good until the next one comes.
Examples: TypeAlias = InMemory | InBlocks


class Changed(InBlocks):
    """Examples in blocks whose rows are changed as they come by, into such of d columns."""

    def __init__(self, examples: Any, change: Callable[[Rows], Rows], d: int) -> None:
        self._examples, self._change, self.d = examples, change, d
        self.n, self.counts, self.weighted = examples.n, examples.counts, examples.weighted
        self.sample_size, self.holds = getattr(examples, "sample_size", 0), examples.holds
        self.in_turn, self.dear = examples.in_turn, examples.dear

    def __iter__(self) -> Iterator[Block]:
        return self._changed(iter(self._examples))

    def sum(self, task: Callable[[Block], S], blocks: Iterable[Block] | None = None) -> S:
        """Return Σ task(block) of the changed blocks, added where and in the order in which the others are."""
        if blocks is not None:
            return super().sum(task, blocks)
        change = self._change  # without the rest of this object, where the task is sent to the blocks
        total: S = self._examples.sum(lambda block: task(replace(block, rows=change(block.rows))))
        return total

    def shuffled(self, seed: int) -> Iterator[Block]:
        """Yield the blocks in random order."""
        return self._changed(self._examples.shuffled(seed))

    def _changed(self, blocks: Iterator[Block]) -> Iterator[Block]:
        for block in blocks:
            yield replace(block, rows=self._change(block.rows))

    @cached_property
    def squares(self) -> FloatArray:  # type: ignore[override]
        """Σ ‖x‖² over the examples of each class: one more pass."""
        size = len(self.counts)
        return self.sum(lambda block: np.bincount(block.codes, block.rows.squared_norms(), size).astype(np.float64))


class Pieces(tuple[Any, ...]):
    """Pieces of a table that are put one below the other where others are added.

    Examples
    --------
    >>> Pieces(("a",)) + Pieces(("b",))
    ('a', 'b')
    """

    __slots__ = ()

    def __add__(self, other: Any) -> Self:
        return type(self)((*self, *other))


def stacked(pieces: Any) -> Any:
    """Return matrices, dense or sparse, one below the other."""
    return sparse.vstack(pieces, format="csr") if is_sparse(pieces[0]) else np.vstack(pieces)


def _spread(rows: Rows, size: int) -> Any:
    return rows.X[:: max(1, rows.n // size)]


def gather(blocks: Any, size: int, rng: np.random.Generator, *, weighted: bool = False, short: bool = False) -> Block:
    """Return so many examples, about, as one block: the same share of each, or long ones rather.

    Which ones of a block depends on where it begins and not on the blocks before it: they may be drawn side by side.
    For a start they may come in single precision, `short`, where that is enough: half as much to send.
    """
    share = min(1.0, size / max(1, blocks.n))
    typical, seed = float(blocks.squares.sum()) / max(1, blocks.n) or 1.0, int(rng.integers(2**63))

    def draw(block: Block) -> Pieces:
        p = np.full(block.rows.n, share)
        if weighted:
            p = np.minimum(1.0, 0.5 * share * (block.rows.squared_norms() / typical + 1.0))
        chosen = np.flatnonzero(np.random.default_rng((seed, block.first)).random(block.rows.n) < p)
        weight = (1.0 if block.weight is None else block.weight[chosen]) / p[chosen]
        X = block.rows.X[chosen]
        return Pieces([(_shorter(X) if short else X, block.codes[chosen], weight)])

    found, codes, weights = zip(*blocks.sum(draw), strict=True)
    weight = np.concatenate(weights) if weighted or blocks.weighted else None
    return Block(0, Rows(stacked(found)), np.concatenate(codes), weight)


def _shorter(X: Any) -> Any:
    """Return a matrix in single precision, if none of its numbers grows or vanishes so; else as it is.

    Nor may a column be so far off that its spread would be lost in rounding.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        short = X.astype(np.float32)
        numbers, shorter = (X.data, short.data) if is_sparse(X) else (X, short)
        near = is_sparse(X) or not len(X) or (np.abs(X).max(axis=0) <= FAR * X.std(axis=0)).all()
    kept = near and np.isfinite(shorter).all() and np.count_nonzero(shorter) == np.count_nonzero(numbers)
    return short if kept else X


def in_one(examples: Any) -> Block:
    """Return the examples as one matrix that is read block by block, with numbers of every row in memory."""
    codes = np.concatenate([np.array(block.codes, dtype=np.int64) for block in examples])
    weight = np.concatenate([np.array(block.weight) for block in examples]) if examples.weighted else None
    rows = rows_of(BlockedMatrix(lambda: (block.rows.X for block in examples), examples.n, examples.d))
    return Block(0, rows, codes, weight)
