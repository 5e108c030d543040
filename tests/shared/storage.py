"""Where examples can be, for tests: in memory, dense or sparse; on disk, in one block, in many, or with empty ones."""

import numpy as np
from scipy import sparse

from linsep._core import Rows
from linsep.data.scratch import DiskVector, ScratchWriter
from linsep.objective.examples import Block, InBlocks, InMemory


class MemoryBlocks(InBlocks):
    """The rows of a matrix, some at a time."""

    def __init__(self, X, codes, size, sample_size=0, weight=None):
        self.X, self.codes, self.size, self.sample_size = X, np.asarray(codes), size, sample_size
        self.weight, self.weighted = weight, weight is not None
        self.n, self.d = X.shape
        self.counts = np.bincount(self.codes)
        self.squares = np.bincount(self.codes, weights=Rows(X).squared_norms())

    def __iter__(self):
        return self._blocks(range(0, self.n, self.size))

    def shuffled(self, seed):
        return self._blocks(np.random.default_rng(seed).permutation(np.arange(0, self.n, self.size)).tolist())

    def _blocks(self, starts):
        for first in starts:
            part = slice(first, first + self.size)
            yield Block(first, Rows(self.X[part]), self.codes[part], None if self.weight is None else self.weight[part])


class MemoryVector:
    """One number for each example."""

    def __init__(self, n):
        self.values = np.zeros(n)

    def read(self, which):
        return self.values[which].copy()

    def write(self, which, values):
        self.values[which] = values


class MemoryWorkspace:
    """Keeps everything, and stops the run after so many passes if asked to."""

    def __init__(self, n, stop_after=None):
        self.n, self.state, self.kept, self.vectors, self.stop_after = n, None, 0, {}, stop_after

    def keep(self, state):
        self.state, self.kept = state, self.kept + 1
        if self.kept == self.stop_after:
            raise SystemExit("killed")

    def passed(self, passes, gap):
        self.passes = passes

    def vector(self, name):
        return self.vectors.setdefault(name, MemoryVector(self.n))


class Workspace:
    """What a run keeps between passes: its state here, vectors on disk."""

    def __init__(self, folder, n):
        self.folder, self.n, self.state, self.gaps, self.vectors = folder, n, None, [], {}

    def keep(self, state):
        """Remember where the run stands."""
        self.state = state

    def passed(self, passes, gap):
        """Hear of a pass."""
        self.gaps.append(gap)

    def vector(self, name):
        """Return the vector of that name; zeros, if it is new."""
        if name not in self.vectors:
            self.vectors[name] = DiskVector(self.folder / f"{name}.bin", self.n)
        return self.vectors[name]


def on_disk(X, codes, folder, cuts, weight=None):
    """Write the rows up to each of the cuts as a block, and return the examples."""
    writer = ScratchWriter(folder)
    for first, last in zip([0, *cuts], [*cuts, X.shape[0]], strict=True):
        writer.add(X[first:last], codes[first:last], None if weight is None else weight[first:last])
    return writer.finish(d=X.shape[1])


def _many(n):
    return range(n // 4, n, n // 4)


#: Examples from rows, classes, weights (or None) and a folder.
STORAGES = {
    "dense": lambda X, codes, weight, folder: InMemory(Rows(X), codes, weight),
    "sparse": lambda X, codes, weight, folder: InMemory(Rows(sparse.csr_array(X)), codes, weight),
    "one block": lambda X, codes, weight, folder: on_disk(X, codes, folder, [], weight),
    "many blocks": lambda X, codes, weight, folder: on_disk(X, codes, folder, _many(len(X)), weight),
    "sparse blocks": lambda X, codes, weight, folder: on_disk(
        sparse.csr_array(X), codes, folder, _many(len(X)), weight
    ),
    "an empty block": lambda X, codes, weight, folder: on_disk(X, codes, folder, [0, 20, 20, len(X)], weight),
}
#: Those of them that leave their rows on disk.
STREAMED = [name for name in STORAGES if "block" in name]


def rows_of_classes(n, d, classes, seed=0):
    """Return rows whose classes overlap, and these."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    scores = X @ rng.standard_normal((d, classes)) + 1.5 * rng.standard_normal((n, classes))
    codes = scores.argmax(axis=1)
    codes[:classes] = np.arange(classes)
    return X, codes
