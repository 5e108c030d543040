"""Examples in partitions on the workers of an engine: a pass is a round, and nothing of size n comes to the client.

An `Engine` is what is asked of Dask or Spark: send a job to where the partitions are, and add up what it gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from time import perf_counter
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._common.types import FloatArray, IntArray
from ..objective.examples import Block, InBlocks, Pieces, stacked
from .checkpoint import Checkpoint
from .parts import Answer, Job, Part, Seat, Summary, Vector
from .rounds import Round, size_of
from .tree import merged, root

S = TypeVar("S")

#: A sample, from where fits begin, comes to the client: no more than so many bytes of it, however many examples there
#: are; and as many rows for each feature, and such a share of all, as fits in memory take.
SAMPLE_BYTES = 16 * 2**20
ROWS, PER_FEATURE, SHARE = 4000, 5, 16
#: Fewer say nothing.
LEAST = 1000


class Engine(Protocol):
    """Where the partitions are."""

    @property
    def name(self) -> str:
        """What users call it."""
        ...

    def dumps(self, job: Any) -> bytes:
        """Return a job, closures and all, as it travels."""
        ...

    def run(self, sent: bytes, seats: Sequence[Seat]) -> tuple[Answer, int]:
        """Let `work` do a job on every partition; return their answers `joined`, and to how many places it was sent."""
        ...

    def part(self, k: int) -> Part:
        """Return one partition, which comes to the client."""
        ...


@dataclass(frozen=True)
class _Recipe:
    """The job that wrote a vector, as it was sent, and what that had read."""

    sent: bytes
    reads: Mapping[str, int]


class OnCluster(InBlocks):
    """Examples in partitions elsewhere.

    Parameters
    ----------
    engine : Engine
    summaries : list of Summary
        One of each partition, in their order.
    classes : array
        All labels, ascending.
    checkpoint : Checkpoint or None
        Where the sums are kept, and those of an earlier fit are found.
    """

    holds = 0.0  # numbers of every example are not for the client
    in_turn = dear = False

    def __init__(
        self,
        engine: Engine,
        summaries: Sequence[Summary],
        classes: NDArray[Any],
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self._engine, self._checkpoint = engine, checkpoint
        self.told: Callable[[Round], None] | None = None  # hears of every round, when it is over
        self.sizes = tuple(one.n for one in summaries)
        firsts = accumulate(self.sizes, initial=0)
        codes = [tuple(np.searchsorted(classes, one.labels).tolist()) for one in summaries]
        self._seats = [Seat(k, *each) for k, each in enumerate(zip(firsts, codes, strict=False))]
        self.n, self.d = sum(self.sizes), max(one.d for one in summaries)
        self.weighted = summaries[0].weighted
        self.stored, self.is_sparse = sum(one.stored for one in summaries), any(one.sparse for one in summaries)
        self.counts: IntArray = self._by_class(summaries, "counts", len(classes)).astype(np.int64)
        self.before = self._before(summaries, len(classes))
        self.squares: FloatArray = self._by_class(summaries, "squares", len(classes))
        self.totals: FloatArray = self._by_class(summaries, "totals", len(classes))
        self.sample_size = self._sample_size()
        self.rounds: list[Round] = []
        self._number, self._versions, self._recipes = 0, dict[str, int](), dict[int, _Recipe]()

    def _by_class(self, summaries: Sequence[Summary], name: str, size: int) -> FloatArray:
        """Return the sum of what each partition says of its labels, in the order of the tree."""
        leaves = {}
        for seat, one in zip(self._seats, summaries, strict=True):
            of_all = np.zeros(size)
            of_all[list(seat.codes)] = getattr(one, name)
            leaves[0, seat.k] = of_all
        found: FloatArray = root(merged(leaves, leaves=len(summaries)))
        return found

    def _before(self, summaries: Sequence[Summary], size: int) -> dict[int, tuple[int, ...]]:
        """Return, by the number of a partition's first row, how many rows of each class are before it."""
        found, so_far = dict[int, tuple[int, ...]](), np.zeros(size, dtype=np.int64)
        for seat, one in zip(self._seats, summaries, strict=True):
            found[seat.first] = tuple(so_far.tolist())
            so_far[list(seat.codes)] += one.counts
        return found

    def _sample_size(self) -> int:
        row = (12 * self.stored // max(1, self.n) if self.is_sparse else 8 * self.d) + 24
        size = min(SAMPLE_BYTES // row, self.n // 4, max(ROWS, PER_FEATURE * self.d, self.n // SHARE))
        return size if size >= LEAST else 0

    def __getstate__(self) -> dict[str, Any]:
        """Return what a task takes along to the partitions: what is known of all of them, and no way back here."""
        known = "n", "d", "counts", "squares", "totals", "weighted", "sample_size"
        return {name: self.__dict__[name] for name in known}

    # -- rounds ------------------------------------------------------------------------------------------------------

    def sum(self, task: Callable[[Block], S], blocks: Iterable[Block] | None = None) -> S:
        """Return Σ task(block): one round, added in the order of the tree."""
        if blocks is not None:
            return super().sum(task, blocks)
        self._number += 1
        job = Job(self._number, task, dict(self._versions))
        sent = self._engine.dumps(job)
        what = getattr(task, "__qualname__", type(task).__name__).replace(".<locals>", "")
        known = None if self._checkpoint is None else self._checkpoint.known(self._number)
        value, wrote = self._round(job, sent, what) if known is None else known
        if known is not None:
            self._note(Round(what, 0.0, 0, 0))
        elif self._checkpoint is not None:
            self._checkpoint.keep(self._number, (value, sorted(wrote)))
        if wrote:
            self._recipes[self._number] = _Recipe(sent, job.reads)
            self._versions |= dict.fromkeys(wrote, self._number)
            self._recipes = self._needed()
        return value  # type: ignore[no-any-return]

    def _round(self, job: Job, sent: bytes, what: str) -> tuple[Any, frozenset[str]]:
        """Send a job; where a partition lacks what others left, with the jobs that left it."""
        begun = perf_counter()
        answer, places = self._engine.run(sent, self._seats)
        if answer.missing:
            again = {number: recipe.sent for number, recipe in self._recipes.items()}
            sent = self._engine.dumps(Job(job.number, job.task, job.reads, again))
            answer, places = self._engine.run(sent, self._seats)
        value = root(answer.nodes)
        self._note(Round(what, perf_counter() - begun, places * len(sent), size_of(value)))
        return value, answer.wrote

    def _note(self, one: Round) -> None:
        self.rounds.append(one)
        if self.told is not None:
            self.told(one)

    def _needed(self) -> dict[int, _Recipe]:
        """Return the jobs that the vectors there are follow from."""
        needed, asked = dict[int, _Recipe](), set(self._versions.values())
        while asked:
            number = asked.pop()
            needed[number] = self._recipes[number]
            asked |= set(needed[number].reads.values()) - set(needed)
        return needed

    # -- numbers of every example --------------------------------------------------------------------------------------

    def vector(self, name: str) -> Vector:
        """Return a number for each example, that tasks read and write where these are."""
        return Vector(name)

    def forget(self) -> None:
        """Forget what tasks have left: the next plane begins anew."""
        self._versions, self._recipes = {}, {}

    # -- rows that come here -------------------------------------------------------------------------------------------

    def glance(self, size: int) -> Any:
        """Return about so many rows, evenly spread over all partitions; None if there are not two."""
        stride = max(1, self.n // size)

        def some(block: Block) -> Pieces:
            return Pieces([block.rows.X[-block.first % stride :: stride]])

        return stacked(self.sum(some)) if self.n > 1 else None

    def __iter__(self) -> Iterator[Block]:
        """Yield the partitions one after the other, each of which comes here: for what no sum can say."""
        for seat, n in zip(self._seats, self.sizes, strict=True):
            if n:
                yield self._engine.part(seat.k).block(seat)
