"""What the tests of the checker ask it."""

import numpy as np
from scipy import sparse


def as_rows(X):
    """Return rows as the checker takes them."""
    X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=float)
    return [([j for j, x in enumerate(row) if x], [x for x in row if x]) for row in X.tolist()]


rng = np.random.default_rng(7)
X = rng.normal(size=(60, 3))
Y = np.where(X @ [1.0, -2.0, 0.5] + 0.5 * rng.normal(size=60) > 0, "yes", "no")
THREE = np.argmax(X @ rng.normal(size=(3, 3)) + 0.5 * rng.normal(size=(60, 3)), axis=1)
EASY = X[:, 0] + X[:, 1] > 0
ONE_HOT = np.hstack([X[:, :1], np.eye(3)[rng.integers(3, size=60)]])
GRID = np.round(X * 2**20) / 2**20
WEIGHTS = rng.integers(0, 4, size=60).astype(float)
