"""The demo's images: handwritten 3s and 7s, scikit-learn's as large as MNIST's, or from MNIST's own files."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from .._common.types import FloatArray, IntArray
from ..data.idx import load_mnist

NEGATIVE, POSITIVE = 3, 7


@dataclass(frozen=True)
class Images:
    """Square images of 3s and 7s, and how the demo uses them."""

    name: str
    X: FloatArray  # of shape (n, side²): pixels from 0 to 1
    y: IntArray  # 3 or 7
    n_train: int  # how many are drawn
    n_test: int
    suggestion: str  # what to try after these

    @property
    def side(self) -> int:
        """Pixels in a row."""
        return math.isqrt(self.X.shape[1])


def embedded_digits(side: int = 28) -> Images:
    """Return the digits that come with scikit-learn, as large as MNIST's: nothing has to be fetched for them.

    Parameters
    ----------
    side : {28, 8}
        28 × 28 pixels, of which 20 × 20 are the digit, by cubic interpolation; or the 8 × 8 that they have.

    Examples
    --------
    >>> images = embedded_digits()
    >>> images.X.shape, images.n_train, images.n_test
    ((362, 784), 181, 181)
    >>> embedded_digits(8).X.shape
    (362, 64)
    """
    if side not in (8, 28):
        raise ValueError(f"side={side!r} is not possible; use 28, or 8 for the digits as they are")
    digits = load_digits()
    X, y = _threes_and_sevens(digits.data / 16, digits.target)
    half, name = len(y) // 2, "scikit-learn's digits"
    if side == 28:
        X, name = enlarged(X.reshape(-1, 8, 8)).reshape(len(X), -1), f"{name}, enlarged from 8 × 8 pixels"
    return Images(name, X, y, half, len(y) - half, "--data FOLDER reads MNIST's own files")


def enlarged(images: FloatArray) -> FloatArray:
    """Return 8 × 8 images as MNIST has them: 20 × 20 pixels in the middle of 28 × 28."""
    from scipy.ndimage import zoom

    large = zoom(images, (1, 2.5, 2.5), order=3, mode="nearest", grid_mode=True)
    return np.pad(np.clip(large, 0.0, 1.0), ((0, 0), (4, 4), (4, 4)))


def mnist(folder: str | Path) -> Images:
    """Return the 3s and 7s among the MNIST training images in a folder, drawn from as in the lecture: 4,132 and 680."""
    images, labels = load_mnist(folder)
    X, y = _threes_and_sevens(images.reshape(len(images), -1), labels)
    n_train, n_test = 4132, 680
    if len(y) < n_train + n_test:
        raise ValueError(f"{folder}: has {len(y):,} images of 3s and 7s; the demo draws {n_train + n_test:,} of them")
    return Images("MNIST", X / 255, y, n_train, n_test, "--noise 0.5 shows what noise does to the weights")


def _threes_and_sevens(X: NDArray[Any], y: NDArray[Any]) -> tuple[NDArray[Any], IntArray]:
    chosen = np.isin(y, (NEGATIVE, POSITIVE))
    return X[chosen], y[chosen].astype(np.int64)


def draw(n: int, n_train: int, n_test: int, seed: int) -> tuple[IntArray, IntArray]:
    """Return the row numbers of a random training set and of a random test set that has none of them.

    Examples
    --------
    >>> train, test = draw(10, 4, 2, seed=0)
    >>> len(train), len(test), set(train) & set(test)
    (4, 2, set())
    """
    shuffled = np.random.default_rng(seed).permutation(n)
    return shuffled[:n_train], shuffled[n_train : n_train + n_test]
