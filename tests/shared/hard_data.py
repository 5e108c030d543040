"""Examples with columns or rows that trouble solvers."""

from __future__ import annotations

import numpy as np


def spoilt(X: np.ndarray, spoil: str, rng: np.random.Generator) -> np.ndarray:
    """Return the rows with columns that are spoilt in that way; as they are if that word is about something else."""
    if spoil == "scales":
        return X * 10.0 ** (2.0 * np.arange(X.shape[1]) - 6.0)
    if spoil == "huge":
        return X * 1e4
    if spoil in ("shifted", "offset"):
        return X + (1e3 if spoil == "shifted" else 1e4)
    X = X.copy()
    if spoil == "collinear":
        X[:, 1] = X[:, 0] + 1e-9 * rng.standard_normal(len(X))
    elif spoil == "constant":
        X[:, 2] = 7.0
    elif spoil == "twice":
        X[:, 3] = X[:, 0]
    elif spoil == "duplicates":
        X[len(X) // 2 :] = X[: len(X) // 2]
    return X


def hard_sides(spoil: str, n: int = 2000, wide: int = 80) -> tuple[np.ndarray, np.ndarray]:
    """Return n rows of six columns and their two classes; thirty rows of so many columns if "wide"."""
    rng = np.random.default_rng(5)
    n, d = (30, wide) if spoil == "wide" else (n, 6)
    X = rng.standard_normal((n, d))
    y = X[:, 0] + rng.standard_normal(n) > (3.5 if spoil == "imbalance" else 0.0)
    y[:2] = True, False
    return spoilt(X, spoil, rng), y


def hard_classes(spoil: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n rows of five columns and their three classes; thirty rows of eighty columns if "wide"."""
    rng = np.random.default_rng(5)
    n, d = (30, 80) if spoil == "wide" else (n, 5)
    X = rng.standard_normal((n, d))
    codes = np.argmax(X[:, :3] + rng.standard_normal((n, 3)) + (spoil == "imbalance") * np.array([4, 0, 0]), axis=1)
    codes[:3] = 0, 1, 2
    if spoil == "repeated":
        return np.repeat(X, 2, axis=0), np.repeat(codes, 2)
    return spoilt(X, spoil, rng), codes
