"""Examples of three classes with columns or rows that trouble solvers."""

from __future__ import annotations

import numpy as np


def hard_classes(spoil: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n rows of five columns, spoilt in that way, and their classes; few rows of many columns if "wide"."""
    rng = np.random.default_rng(5)
    n, d = (30, 80) if spoil == "wide" else (n, 5)
    X = rng.standard_normal((n, d))
    codes = np.argmax(X[:, :3] + rng.standard_normal((n, 3)) + (spoil == "imbalance") * np.array([4, 0, 0]), axis=1)
    codes[:3] = 0, 1, 2
    if spoil == "scales":
        X *= 10.0 ** np.arange(-6, 4, 2)
    elif spoil == "collinear":
        X[:, 1] = X[:, 0] + 1e-9 * rng.standard_normal(n)
    elif spoil == "constant":
        X[:, 2] = 7.0
    elif spoil == "huge":
        X *= 1e4
    elif spoil == "shifted":
        X += 1e3
    elif spoil == "repeated":
        X, codes = np.repeat(X, 2, axis=0), np.repeat(codes, 2)
    return X, codes
