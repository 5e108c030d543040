"""Encoded examples on disk, written once and gone through block by block, pass after pass."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from .._common.atomic_file import write_atomically
from .._common.types import FloatArray, IntArray
from .._core import Rows, helpers, is_sparse
from ..objective.examples import Block, InBlocks
from .sources import DataError

#: Of the files in a folder: the rows, the classes, the weights if there are any, and what they are.
ROWS, CODES, WEIGHTS, INDEX = "rows.bin", "codes.bin", "weights.bin", "blocks.json"


@contextmanager
def disk_errors(folder: Path) -> Iterator[None]:
    """Turn a full disk into an error that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        why = "a file may not grow that large here" if error.errno == errno.EFBIG else "the disk is full; make room"
        raise DataError(f"{folder}: {why}, or name a folder on another one: --scratch") from error


def check_space(folder: Path, needed: int) -> None:
    """Raise where the disk has less room than that."""
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise DataError(
            f"{folder}: the encoded rows take about {needed / 1e6:,.1f} MB, and {free / 1e6:,.1f} MB are left on the "
            "disk; make room, or name a folder on another one: --scratch"
        )


class ScratchWriter:
    """Writes blocks of examples, dense or sparse, one after the other.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     writer = ScratchWriter(Path(folder))
    ...     writer.add(np.array([[1.0, 2.0], [0.0, 3.0]]), np.array([0, 1]))
    ...     scratch = writer.finish(d=2)
    ...     [(block.first, block.rows.X.tolist(), block.codes.tolist()) for block in scratch]
    [(0, [[1.0, 2.0], [0.0, 3.0]], [0, 1])]
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._rows, self._codes = (folder / ROWS).open("wb"), (folder / CODES).open("wb")
        self._blocks: list[tuple[int, int]] = []  # rows, stored numbers
        self._sparse = self._weighted = False
        self.counts, self.squares = np.zeros(0, dtype=np.int64), np.zeros(0)

    def add(self, X: Any, codes: IntArray, weight: FloatArray | None = None) -> None:
        """Write one block; all of them have weights, or none."""
        n = X.shape[0]
        with disk_errors(self.folder):
            if weight is not None:
                with (self.folder / WEIGHTS).open("ab" if self._blocks else "wb") as weights:
                    weights.write(np.ascontiguousarray(weight, dtype="<f8").data)
                self._weighted = True
            self._sparse = is_sparse(X)
            if self._sparse:
                self._rows.write(np.ascontiguousarray(X.indptr, dtype="<i8").data)
                self._rows.write(np.ascontiguousarray(X.indices, dtype="<i4").data)
                self._rows.write(bytes(4 * (len(X.indices) % 2)))  # what follows stays aligned
                self._rows.write(np.ascontiguousarray(X.data, dtype="<f8").data)
            else:
                self._rows.write(np.ascontiguousarray(X, dtype="<f8").data)
            self._codes.write(np.ascontiguousarray(codes, dtype="<i2").data)
        self._blocks.append((n, int(X.nnz) if self._sparse else X.size))
        norms = Rows(X).squared_norms()
        self.counts = _added(self.counts, np.bincount(codes))
        self.squares = _added(self.squares, np.bincount(codes, weights=norms))

    def finish(self, d: int, base: int = 0, order: list[int] | None = None) -> Scratch:
        """Close the files; columns were numbered from `base`, and class `order[k]` as k."""
        order = list(range(len(self.counts))) if order is None else order
        with disk_errors(self.folder):
            for file in (self._rows, self._codes):
                file.flush()
                os.fsync(file.fileno())
                file.close()
            index = dict(d=d, base=base, sparse=self._sparse, blocks=self._blocks, weighted=self._weighted)
            places, none = np.argsort(order), np.zeros(len(order), dtype=np.int64)
            counts, squares = _added(self.counts, none), _added(self.squares, none)  # the last classes may have no row
            index |= dict(order=order, counts=counts[places].tolist(), squares=squares[places].tolist())
            write_atomically(self.folder / INDEX, json.dumps(index).encode())
        return Scratch(self.folder)

    def close(self) -> None:
        """Close the files of a run that ends early."""
        self._rows.close()
        self._codes.close()


def _added(sums: Any, more: Any) -> Any:
    """Return the sum of both, the shorter one filled up with zeros."""
    size = max(len(sums), len(more))
    return np.pad(sums, (0, size - len(sums))) + np.pad(more, (0, size - len(more)))


class Scratch(InBlocks):
    """The blocks that a `ScratchWriter` wrote; the next one is read while one works on the last."""

    def __init__(self, folder: Path) -> None:
        index = json.loads((folder / INDEX).read_bytes())
        self.folder, self.d, self._base, self.is_sparse = folder, index["d"], index["base"], index["sparse"]
        self._blocks = [(int(n), int(stored)) for n, stored in index["blocks"]]
        self.n = sum(n for n, _ in self._blocks)
        self.counts, self.squares = np.array(index["counts"], dtype=np.int64), np.array(index["squares"])
        self._order, self.weighted = np.array(index["order"], dtype=np.int64), index["weighted"]

    @property
    def stored(self) -> int:
        """How many numbers there are."""
        return sum(stored for _, stored in self._blocks)

    def _size(self, n: int, stored: int) -> int:
        return 8 * (n + 1) + 4 * (stored + stored % 2) + 8 * stored if self.is_sparse else 8 * stored

    def __iter__(self) -> Iterator[Block]:
        return self._read(range(len(self._blocks)))

    def shuffled(self, seed: int) -> Iterator[Block]:
        """Yield the blocks in random order: each is long enough that looking for it costs nothing."""
        return self._read(np.random.default_rng(seed).permutation(len(self._blocks)).tolist())

    def _read(self, order: Sequence[int]) -> Iterator[Block]:
        """Yield the blocks of these numbers."""
        starts = np.cumsum([(0, 0), *((n, self._size(n, stored)) for n, stored in self._blocks)], axis=0)
        largest = max(self._size(*block) for block in self._blocks)
        buffers = [bytearray(largest) for _ in range(min(2, len(self._blocks)))]
        with (
            (self.folder / ROWS).open("rb", buffering=0) as rows,
            (self.folder / CODES).open("rb") as codes,
            helpers(1) as reader,
        ):

            def fetch(place: int) -> None:
                k = order[place]
                rows.seek(int(starts[k, 1]))
                view = memoryview(buffers[place % 2])[: self._size(*self._blocks[k])]
                while len(view):  # one call reads 2 GB at the most
                    if not (count := rows.readinto(view)):
                        raise DataError(f"{self.folder / ROWS}: it ends too early; start again with --no-resume")
                    view = view[count:]

            ahead = reader.submit(fetch, 0)
            for place, k in enumerate(order):
                ahead.result()
                if place + 1 < len(order):
                    ahead = reader.submit(fetch, place + 1)
                (n, stored), first = self._blocks[k], int(starts[k, 0])
                codes.seek(2 * first)
                found = np.frombuffer(codes.read(2 * n), dtype="<i2")
                weight = self._weights(n, first) if self.weighted else None
                yield Block(first, self._block(buffers[place % 2], n, stored), self._order[found], weight)

    def codes(self, size: int = 1 << 20) -> Iterator[IntArray]:
        """Yield the class of each example, some at a time."""
        with (self.folder / CODES).open("rb") as file:
            while chunk := file.read(2 * size):
                yield self._order[np.frombuffer(chunk, dtype="<i2")]

    def weights(self, size: int = 1 << 20, first: int = 0) -> Iterator[FloatArray]:
        """Yield the weight of each example, some at a time."""
        while len(chunk := self._weights(size, first)):
            yield chunk
            first += size

    def _weights(self, count: int, first: int) -> FloatArray:
        return np.fromfile(self.folder / WEIGHTS, dtype="<f8", count=count, offset=8 * first)

    def _block(self, buffer: bytearray, n: int, stored: int) -> Rows:
        if not self.is_sparse:
            return Rows(np.frombuffer(buffer, dtype="<f8", count=stored).reshape(n, self.d))
        start = np.frombuffer(buffer, dtype="<i8", count=n + 1)
        columns = np.frombuffer(buffer, dtype="<i4", count=stored, offset=8 * (n + 1))
        values = np.frombuffer(buffer, dtype="<f8", count=stored, offset=8 * (n + 1) + 4 * (stored + stored % 2))
        indices = columns - np.int32(self._base) if self._base else columns
        X = sparse.csr_array((values, indices, start.astype(np.int32)), shape=(n, self.d))
        return Rows(X, tidy=True)


class DiskVector:
    """One float for each example, in a file; zeros at first."""

    def __init__(self, path: Path, n: int) -> None:
        self.path, self.n = path, n
        if not path.exists() or path.stat().st_size != 8 * n:
            with disk_errors(path.parent), path.open("wb") as file:
                file.truncate(8 * n)

    def read(self, which: slice) -> FloatArray:
        """Return some of them."""
        count = which.stop - which.start
        return np.fromfile(self.path, dtype="<f8", count=count, offset=8 * which.start)

    def write(self, which: slice, values: FloatArray) -> None:
        """Change some of them."""
        with disk_errors(self.path.parent), self.path.open("r+b") as file:
            file.seek(8 * which.start)
            file.write(np.ascontiguousarray(values, dtype="<f8").data)

    def remove(self) -> None:
        """Delete the file."""
        self.path.unlink(missing_ok=True)
