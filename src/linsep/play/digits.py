"""A digit that was drawn: a 3 or a 7, by a linear classifier of the embedded digits, and the vote of every pixel."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._common.types import FloatArray
from ..demo import draw, embedded_digits
from ..demo.images import enlarged
from ..replay.page import rounded
from . import protocol
from .errors import RefusedError
from .methods import ALGORITHMS, estimator_of

#: Pixels in a row of the pad; of the digits that were learned from, before they were enlarged; and of a cell of these.
SIDE, COARSE, CELL = 28, 8, 5
#: Ink below this is none.
FAINT = 0.1
#: Methods that a digit can be asked of.
READERS = ("logistic", "soft_margin", "perceptron", "least_squares")


@dataclass(frozen=True, eq=False)
class Reader:
    """A classifier of digits, and what is known of it."""

    model: Any
    says: str


@lru_cache(maxsize=len(READERS))
def reader(name: str) -> Reader:
    """Return the classifier of a method: fitted on one half of the digits, tried on the other, the same every time."""
    images = embedded_digits()
    train, test = draw(len(images.y), images.n_train, images.n_test, seed=0)
    model = estimator_of({"name": name})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(images.X[train], images.y[train])
    right = model.score(images.X[test], images.y[test])
    says = (
        f"{ALGORITHMS[name].label}, learned from {len(train)} digits, is right about {right:.1%} of {len(test)} others."
    )
    return Reader(model, says)


def read_digit(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return which digit was drawn, and what every pixel says: w·x is the sum of its votes, positive ones for the 7.

    Examples
    --------
    >>> pixels = np.zeros((28, 28))
    >>> pixels[4:7, 8:20] = 1.0  # a bar,
    >>> for row in range(7, 24):  # and a stroke down from its right
    ...     pixels[row, 19 - row // 2 : 22 - row // 2] = 1.0
    >>> found = read_digit({"pixels": pixels.ravel().tolist(), "method": "logistic"})
    >>> found["digit"], len(found["votes"])
    (7, 784)
    """
    name = protocol.word(body.get("method", READERS[0]), "method", dict.fromkeys(READERS))
    pixels = body.get("pixels")
    if not isinstance(pixels, list) or len(pixels) != SIDE * SIDE:
        raise protocol.MalformedError(f"pixels is a list of {SIDE * SIDE} numbers")
    seen = as_learned(np.array([protocol.number(value, "pixels", 0.0, 1.0) for value in pixels]).reshape(SIDE, SIDE))
    found = reader(name)
    model, x = found.model, seen.ravel()
    votes, offset = model.coef_[0] * x, float(model.intercept_[0])
    score = float(votes.sum() + offset)
    return {
        "digit": int(model.classes_[int(score > 0)]),
        "score": float(f"{score:.6g}"),
        "votes": rounded(votes, 4),
        "seen": rounded(x, 3),
        "offset": float(f"{offset:.6g}"),
        "for": float(f"{votes[votes > 0].sum():.6g}"),
        "against": float(f"{votes[votes < 0].sum():.6g}"),
        "probability": float(f"{model.predict_proba(x[None])[0, 1]:.4g}") if name == "logistic" else None,
        "says": found.says,
    }


def as_learned(pixels: FloatArray) -> FloatArray:
    """Return a drawing as the digits are that were learned from: cropped, made as coarse as they are, and enlarged.

    Its larger side fills the frame, the ink of a cell is the mean of its pixels, and the darkest cell is black.
    """
    from scipy.ndimage import zoom

    inked = pixels > FAINT
    if not inked.any():
        raise RefusedError("Draw a 3 or a 7 first.")
    rows, columns = (np.flatnonzero(inked.any(axis=axis)) for axis in (1, 0))
    crop = pixels[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    frame, side = np.zeros((COARSE * CELL, COARSE * CELL)), COARSE * CELL
    height, width = (max(1, round(size * side / max(crop.shape))) for size in crop.shape)
    large = zoom(crop, (height / crop.shape[0], width / crop.shape[1]), order=1, mode="nearest", grid_mode=True)
    top, left = (side - height) // 2, (side - width) // 2
    frame[top : top + height, left : left + width] = large
    coarse = frame.reshape(COARSE, CELL, COARSE, CELL).mean(axis=(1, 3))
    return np.asarray(enlarged(coarse[None] / coarse.max())[0])
