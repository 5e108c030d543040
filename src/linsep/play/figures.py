"""The lectures' figures that have points: those of the scripts in ``examples/``, to two decimals, with methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from .presets import Points, Preset, sides

#: The lectures, by the numbers that ``examples/README.md`` has for them; the fifth (004) has no figure.
DOCUMENTS = {
    "000": "000: the non-separable case",
    "001": "001: empirical risk and descent",
    "002": "002: perceptron and maximum margin",
    "003": "003: geometry and stochastic descent",
}


def _two_clouds(seed: int, n: int, first: Any, second: Any, spread: float = 1.0) -> Points:
    rng = np.random.default_rng(seed)
    return sides(rng.normal(first, spread, (n, 2)), rng.normal(second, spread, (n, 2)))


def _hulls(shift: float) -> Points:
    rng = np.random.default_rng(12)
    return sides(rng.normal([0, 0], 1, (25, 2)), np.array([shift, 1.0]) + rng.normal([0, 0], 1, (25, 2)))


def _outliers() -> Points:
    rng = np.random.default_rng(3)
    spread = [[1.0, 0.8], [0.8, 1.0]]
    upper, lower = (rng.multivariate_normal(centre, spread, 40) for centre in ([-1, 1], [1, -1]))
    return sides(np.concatenate([lower, rng.normal([7, -6], 0.6, (12, 2))]), upper)


def _one_outlier() -> Points:
    X, positive = _two_clouds(5, 20, [0, 0], [4, 0], 0.5)
    return np.concatenate([X, [[1.4, 2.6]]]), np.append(positive, True)


def _novikoff() -> Points:
    rng, y = np.random.default_rng(9), np.repeat([-1, 1], 30)
    along, across = rng.uniform(1, 5, 60), rng.uniform(0.5, 2.0, 60)
    return np.outer(along, [0.8, 0.6]) + np.outer(y * across, [-0.6, 0.8]), y > 0


def _steps() -> Points:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal([1.0, 2.6], 0.7, (12, 2)), rng.normal([2.6, 0.8], 0.7, (12, 2))]).round(1)
    order = rng.permutation(24)
    return X[order], order >= 12


def _ring() -> Points:
    X = np.random.default_rng(14).normal(size=(90, 2))
    away = np.linalg.norm(X, axis=1)
    kept = np.abs(away - 1.2) > 0.15
    return X[kept], away[kept] < 1.2


def _two_bounds() -> Points:
    rng, y = np.random.default_rng(0), np.repeat([-1, 1], 20)
    X = np.column_stack([y * rng.uniform(0.4, 1.2, 40), rng.uniform(-1, 1, 40)])
    order = rng.permutation(40)
    return X[order] + 6.0, y[order] > 0


FIGURES = {
    "hinge": Preset(
        "The hinge's stricter requirement",
        "Not only on the right side, but beyond g = ±1: what a point lacks is its slack.",
        lambda rng: _two_clouds(6, 25, [0, 0], [2.6, 1.6]),
        "soft_margin",
        settings={"C": 0.05},
        document="000",
    ),
    "hulls": Preset(
        "Points that no line separates",
        "The hulls of both classes share a point, and so no line has them on its two sides.",
        lambda rng: _hulls(2.5),
        document="000",
    ),
    "noisy": Preset(
        "Current risk and best so far",
        "Stochastic descent is noisy: the risk of the line jumps about, the best so far never rises.",
        lambda rng: _two_clouds(12, 80, [0, 0], [2, 1.5]),
        "sgd",
        settings={"loss": "hinge", "C": "inf", "schedule": "constant", "eta": 0.1, "stopping": "none", "max_iter": 3},
        document="000",
    ),
    "bishop": Preset(
        "Least squares and outliers (Bishop's 4.4)",
        "The far points are right whatever the line: least squares turns towards them, logistic regression does not.",
        lambda rng: _outliers(),
        "least_squares",
        compare=("least_squares", "logistic"),
        document="001",
    ),
    "flat": Preset(
        "The zero-one risk is flat",
        "Seen from above, the share of mistakes has terraces and no slope; the path follows the slope of another risk.",
        lambda rng: _two_clouds(1, 12, [-1, -1], [1, 1], 1.2),
        "gradient_descent",
        settings={"C": "inf", "intercept": False, "schedule": "constant", "eta": 0.5},
        surface="mistakes",
        document="001",
    ),
    "apart": Preset(
        "Linear separability",
        "A line separates these, and the proof is the line itself.",
        lambda rng: _hulls(5.0),
        document="002",
    ),
    "novikoff": Preset(
        "R and γ in the theorem of Novikoff",
        "Through the origin: the mistakes cannot pass (R/γ)², whatever the order.",
        lambda rng: _novikoff(),
        settings={"intercept": False, "order": "random", "seed": 3},
        document="002",
    ),
    "widest": Preset(
        "Which line is best? Maximum margin",
        "Perceptron, logistic regression and maximum margin all separate; the last leaves the most room.",
        lambda rng: _two_clouds(4, 20, [0, 0], [3.2, 2.4], 0.8),
        "hard_margin",
        compare=("perceptron", "logistic", "hard_margin"),
        document="002",
    ),
    "turned": Preset(
        "One outlier turns the widest margin",
        "Drag the single point away from the others: the hard margin follows it, the soft one less.",
        lambda rng: _one_outlier(),
        "soft_margin",
        settings={"C": 0.1},
        compare=("hard_margin",),
        document="002",
    ),
    "update": Preset(
        "The perceptron, step by step",
        "Each mistake adds y·x to w and y to b: step through with → and read the numbers.",
        lambda rng: _steps(),
        document="003",
    ),
    "map": Preset(
        "The same through φ(x)",
        "With squares and products as features a plane cuts out a disc.",
        lambda rng: _ring(),
        features="squares",
        document="003",
    ),
    "bias": Preset(
        "(2R/γ)² with a bias",
        "Far from the origin b ← b + y makes more mistakes than (2R/γ)², the bound of another rule; its own is (R/γ)².",
        lambda rng: _two_bounds(),
        settings={"max_iter": 10_000},
        steps=4000,
        document="003",
    ),
    "stopping": Preset(
        "When to stop",
        "The share of mistakes stands still long before the logistic loss does: stop when it has not changed for long.",
        lambda rng: _two_clouds(12, 80, [0, 0], [2, 1.5]),
        "gradient_descent",
        settings={"C": 10, "stopping": "zero_one_unchanged", "max_iter": 4000},
        document="003",
    ),
}
