"""Points to begin with: each shows one thing, and goes with the method that shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._common.types import BoolArray, FloatArray

#: Decimals of drawn coordinates: short in an address, and the same number in every language.
DECIMALS = 2
Points = tuple[FloatArray, BoolArray]  # where they are, and which of them are positive, in the order of the examples


@dataclass(frozen=True)
class Preset:
    """A picture to begin with."""

    label: str
    says: str
    points: Callable[[np.random.Generator], Points]
    method: str = "perceptron"
    features: str = "plain"
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the method
    compare: tuple[str, ...] = ()  # methods that are drawn beside it
    surface: str = ""  # the height of the objective's landscape, where that is to be open
    steps: int = 0  # of the film at the most, where the usual number would hide what it shows
    document: str = ""  # which lecture's figure it is

    def to_dict(self) -> dict[str, Any]:
        """Return its points and what goes with them."""
        X, positive = self.points(np.random.default_rng(7))
        X = np.round(X, DECIMALS)
        return {
            "label": self.label,
            "says": self.says,
            "method": {"name": self.method, **self.settings},
            "features": self.features,
            "compare": self.compare,
            "surface": self.surface,
            "steps": self.steps,
            "document": self.document,
            "points": {"x": X[:, 0].tolist(), "y": X[:, 1].tolist(), "positive": positive.astype(int).tolist()},
        }


def sides(negative: FloatArray, positive: FloatArray) -> Points:
    """Return the points of both classes, the negative ones first."""
    return np.concatenate([negative, positive]), np.repeat([False, True], [len(negative), len(positive)])


def _blobs(rng: np.random.Generator, n: int, away: float, spread: float) -> Points:
    centre = np.array([away, 0.6 * away])
    return sides(*(centre * side + spread * rng.standard_normal((n, 2)) for side in (-1, 1)))


def _separable(rng: np.random.Generator) -> Points:
    return sides(
        np.array([[-1.9, 1.3], [-1.1, 2.1], [-0.4, 1.5], [-2.6, 0.2], [-1.3, 0.4], [-3.1, 1.7], [0.6, 2.3]]),
        np.array([[1.4, 0.6], [2.3, 1.2], [0.5, -0.7], [2.8, -0.4], [-0.6, -1.6], [1.6, -1.4], [3.1, 1.9]]),
    )


def _small_margin(rng: np.random.Generator) -> Points:
    along = rng.uniform(-2.6, 2.6, (2, 14))
    away = rng.uniform(0.05, 1.6, (2, 14)) * np.array([[-1], [1]])
    away[:, 0] = (-0.06, 0.06)
    u, v = np.array([0.94, 0.34]), np.array([-0.34, 0.94])
    return sides(*(along[k][:, None] * u + (away[k][:, None] + 0.9) * v for k in (0, 1)))


def _overlap(rng: np.random.Generator) -> Points:
    return _blobs(rng, 20, 0.7, 0.95)


def _outlier(rng: np.random.Generator) -> Points:
    centres = np.array([[[-1.3, -0.3]], [[-0.3, 0.6]]])
    negative, positive = rng.standard_normal((2, 14, 2)) * [0.5, 0.35] + centres
    far = np.array([3.3, 2.3]) + rng.standard_normal((7, 2)) * [0.25, 0.2]
    return sides(negative, np.concatenate([positive, far]))


def _xor(rng: np.random.Generator) -> Points:
    centres = np.array([[-1.7, 1.2], [1.7, -1.2], [1.7, 1.2], [-1.7, -1.2]])
    parts = [centre + 0.45 * rng.standard_normal((7, 2)) for centre in centres]
    return sides(np.concatenate(parts[:2]), np.concatenate(parts[2:]))


def _rings(rng: np.random.Generator) -> Points:
    def ring(n: int, radius: float) -> FloatArray:
        turn = 2 * np.pi * np.arange(n) / n
        away = radius + 0.16 * rng.standard_normal((n, 1))
        return np.asarray(away * np.column_stack([1.25 * np.cos(turn), np.sin(turn)]))

    return sides(ring(22, 2.2), ring(12, 0.8))


PRESETS = {
    "separable": Preset("Separable", "A line can tell these classes apart, and the perceptron finds one.", _separable),
    "margin": Preset(
        "Small margin",
        "The classes nearly touch: the perceptron needs many more mistakes, but never more than (R/γ)².",
        _small_margin,
    ),
    "overlap": Preset(
        "Overlap",
        "No line separates these. The perceptron would go on for ever: here a proof tells it to stop.",
        _overlap,
    ),
    "outlier": Preset(
        "Outliers",
        "Seven points far on the right side of any good line: least squares is pulled by them, the others are not.",
        _outlier,
        "least_squares",
    ),
    "xor": Preset(
        "XOR",
        "No line can do this, but a line in the features x₁, x₂, x₁², x₁x₂, x₂² can.",
        _xor,
        "perceptron",
        "squares",
    ),
    "rings": Preset(
        "Rings",
        "A ring around a disc: with squares as features, a plane cuts out a circle.",
        _rings,
        "logistic",
        "squares",
    ),
}
