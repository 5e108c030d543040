"""An engine in this process: partitions in groups, as workers would hold them, of which some lose what tasks left."""

import random

import cloudpickle
import numpy as np

from linsep.cluster.fitting import as_part, learn, summary
from linsep.cluster.parts import joined, work
from linsep.cluster.tables import piece_of
from linsep.cluster.tree import merged, root


class Here:
    """Partitions held by so many workers; after round `dies_after` all that tasks left on the first one is lost."""

    name = "this process"
    dumps = staticmethod(cloudpickle.dumps)

    def __init__(self, parts, workers=1, dies_after=None):
        self.parts, self.workers, self.dies_after, self.runs = parts, workers, dies_after, 0

    def run(self, sent, seats):
        self.runs += 1
        groups = [range(k, len(self.parts), self.workers) for k in range(self.workers)]
        random.Random(self.runs).shuffle(groups)  # whoever is first
        if self.runs == self.dies_after:
            for k in range(0, len(self.parts), self.workers):
                self.parts[k] = cloudpickle.loads(cloudpickle.dumps(self.parts[k]))
        some = [work(sent, [seats[k] for k in group], [self.parts[k] for k in group], len(seats)) for group in groups]
        return joined(some, len(seats)), len(groups)

    def part(self, k):
        return self.parts[k]


def fit_here(model, X, y, cuts, weight=None, *, workers=1, dies_after=None, **asked):
    """Fit a model on rows that are cut into partitions."""
    pieces = [slice(*pair) for pair in zip([0, *cuts], [*cuts, X.shape[0]], strict=True)]
    parts = [as_part(k, X[one], y[one], None if weight is None else weight[one]) for k, one in enumerate(pieces)]
    engine = Here(parts, workers, dies_after)
    return learn(model, engine, [summary(part) for part in parts], **asked)


def example(classes=2):
    """Return rows of which some lie on the wrong side, labels and weights."""
    rng = np.random.default_rng(1)
    X = rng.normal([0.0, 0.5, 0.0, 0.0], size=(2000, 4))
    scores = X @ [1.0, -2.0, 0.0, 0.5] + 2.0 * rng.logistic(size=2000)
    return X, np.digitize(scores, [-1.0, 1.0][: classes - 1]), rng.uniform(0.5, 2.0, 2000)


class TablesHere:
    """A table cut into partitions."""

    name = "this process"

    def __init__(self, table, y, cuts, weight=None):
        pieces = [slice(*pair) for pair in zip([0, *cuts], [*cuts, len(table)], strict=True)]
        self.pieces = [
            piece_of(k, table[one], y[one], None if weight is None else weight[one]) for k, one in enumerate(pieces)
        ]

    def ask(self, task):
        task = cloudpickle.loads(cloudpickle.dumps(task))
        leaves = {(0, k): task(k, piece) for k, piece in enumerate(self.pieces)}
        return root(merged(leaves, leaves=len(leaves)))

    def parts(self, make):
        parts = [make(k, piece) for k, piece in enumerate(self.pieces)]
        return Here(parts), [summary(part) for part in parts]
