"""Feature maps of the page: what a method sees of the two coordinates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.preprocessing import PolynomialFeatures, StandardScaler


@dataclass(frozen=True)
class FeatureMap:
    """What is made of two coordinates: a transformer of scikit-learn, and how a program writes it."""

    label: str
    make: Callable[[], Any] | None = None
    code: str = ""
    degree: int = 1  # of its products


FEATURES = {
    "plain": FeatureMap("the coordinates alone"),
    "standardised": FeatureMap("mean 0 and spread 1", StandardScaler, "StandardScaler()"),
    "squares": FeatureMap(
        "with squares: x₁, x₂, x₁², x₁x₂, x₂²",
        lambda: PolynomialFeatures(2, include_bias=False),
        "PolynomialFeatures(2, include_bias=False)",
        degree=2,
    ),
    "cubes": FeatureMap(
        "with cubes, too",
        lambda: PolynomialFeatures(3, include_bias=False),
        "PolynomialFeatures(3, include_bias=False)",
        degree=3,
    ),
}
