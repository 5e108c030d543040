"""Nasty problems: some twenty-four rows each, built so that it is known whether there is an optimum.

The first rows are d + 1 points in general position, each once in every class: no plane tells these apart, so that a fit
without penalty has an optimum. Whatever scales, shifts or repeats columns afterwards leaves that as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

LOSSES = ("logistic", "hinge", "squared_hinge", "square", "softmax")
#: Losses for which fits without penalty are asked for; the others have too many optima there to be interesting.
UNPENALISED = ("logistic", "square", "softmax")
#: C and whether there is an intercept. Machines that penalise the intercept can be asked only where there is none.
SETTINGS = ((1e-12, True), (1.0, True), (1e12, True), (1.0, False), (1e6, False))


class Data(NamedTuple):
    """Rows, classes 0, 1, …, and weights or None; `optimum` says whether a fit without penalty has one."""

    X: np.ndarray
    y: np.ndarray
    s: np.ndarray | None = None
    optimum: bool = True


@dataclass(frozen=True)
class Problem:
    """What is to be minimised: (l2 ½‖w‖² +) C Σ s ℓ, over w and, where there is an intercept, b."""

    family: str
    loss: str
    C: float
    intercept: bool

    @property
    def name(self) -> str:
        """What tells it from the others, in one line."""
        return f"{self.family} / {self.loss} / C={self.C:g}" + ("" if self.intercept else " / no intercept")

    @property
    def data(self) -> Data:
        """The rows, made anew: whoever solves it may spoil them."""
        return FAMILIES[self.family](3 if self.loss == "softmax" else 2)

    @property
    def expected(self) -> str:
        """What a right answer is: "optimum"; "none", where there is none; "refusal", of fewer than two classes."""
        data = self.data
        if len(np.unique(data.y)) < 2:
            return "refusal"
        likelihood = self.loss in ("logistic", "softmax")
        return "none" if np.isinf(self.C) and likelihood and not data.optimum else "optimum"


def base(K: int, n: int = 24, d: int = 3) -> Data:
    """Overlapping classes in general position."""
    rng = np.random.default_rng(7)
    shared = np.repeat(rng.standard_normal((d + 1, d)), K, axis=0)
    X = np.vstack([shared, rng.standard_normal((n - len(shared), d))])
    scores = X @ rng.standard_normal((d, K)) + 0.7 * rng.standard_normal((n, K))
    y = np.argmax(scores, axis=1)
    y[: len(shared)] = np.tile(np.arange(K), d + 1)
    return Data(X, y)


def scaled(*factors: float) -> Callable[[int], Data]:
    """Columns times factors."""
    return lambda K: base(K)._replace(X=base(K).X * np.array(factors))


def shifted(by: float) -> Callable[[int], Data]:
    """Columns far from zero, of which the numbers that tell rows apart are the last digits."""
    return lambda K: base(K)._replace(X=base(K).X + by)


def dependent(noise: float) -> Callable[[int], Data]:
    """The third column is the first, but for a little."""

    def build(K: int) -> Data:
        X = base(K).X
        X[:, 2] = X[:, 0] * (1 + noise * np.random.default_rng(1).standard_normal(len(X)))
        return base(K)._replace(X=X)

    return build


def alike(value: float) -> Callable[[int], Data]:
    """All rows equal, in both classes: nothing is left after dropping what is constant."""
    return lambda K: base(K)._replace(X=np.full((24, 3), value))


def apart(margin: float, astray: float | None = None) -> Callable[[int], Data]:
    """Classes that a plane separates, by so much; or but for one row that is so far on the wrong side."""

    def build(K: int) -> Data:
        rng = np.random.default_rng(3)
        y = np.arange(24) % K
        X = rng.standard_normal((24, 3))
        X[:, 0] = y + np.where(y < K - 1, -1, 1) * margin * (1 + rng.random(24))
        if astray is not None:  # of two classes the row of the first lies beyond all of the last
            X[0] = X[K - 1]
            X[0, 0] += astray
        # With it no plane separates two classes: the row and its neighbour leave none but those that the others forbid.
        return Data(X, y, optimum=astray is not None)

    return build


def weighted(low: float, high: float) -> Callable[[int], Data]:
    """Weights that span so much."""
    return lambda K: base(K)._replace(s=np.geomspace(low, high, 24)[np.random.default_rng(2).permutation(24)])


def no_weight(K: int) -> Data:
    """Some rows count nothing, though not those that make classes overlap."""
    s = np.ones(24)
    s[13::2] = 0.0
    return base(K)._replace(s=s)


def rare(share: int) -> Callable[[int], Data]:
    """Of so many rows on eight points, one is of each class but the first; that one lies among the others."""

    def build(K: int) -> Data:
        points = np.random.default_rng(5).standard_normal((8, 2))
        X = points[np.arange(share) % 8]
        return Data(np.vstack([X, *[points[:3] + 0.1] * (K - 1)]), np.repeat(range(K), [share] + [3] * (K - 1)))

    return build


def few(n: int, d: int) -> Callable[[int], Data]:
    """Fewer rows than columns, or hardly more."""

    def build(K: int) -> Data:
        X = np.random.default_rng(11).standard_normal((n, d))
        return Data(X, np.arange(n) % K if n > 1 else np.zeros(n, dtype=int), optimum=False)

    return build


def outlier(size: float) -> Callable[[int], Data]:
    """One row so far away that the others look alike."""

    def build(K: int) -> Data:
        X = base(K).X
        X[-1] *= size
        return base(K)._replace(X=X)

    return build


def narrow(value: float) -> Callable[[int], Data]:
    """One column, of zeros and one value, in both classes."""
    return lambda K: Data(np.repeat([0.0, value], 4 * K)[:, None], np.tile(np.arange(K), 8))


FAMILIES: dict[str, Callable[[int], Data]] = {
    "plain": base,
    **{f"all columns {f:g}": scaled(f, f, f) for f in (1e-150, 1e-100, 1e-50, 1e-20, 1e-8)},
    **{f"all columns {f:g}": scaled(f, f, f) for f in (1e8, 1e20, 1e50, 1e100, 1e150)},
    "columns 1e-150, 1, 1e150": scaled(1e-150, 1, 1e150),
    "columns 1e-30, 1, 1e30": scaled(1e-30, 1, 1e30),
    "columns 1e-8, 1, 1e8": scaled(1e-8, 1, 1e8),
    "columns of 1e-310": scaled(1e-310, 1e-310, 1),
    **{f"columns + {by:g}": shifted(by) for by in (1e6, 1e12)},
    "condition 1e8": dependent(1e-8),
    "condition 1e15": dependent(1e-15),
    "a column twice": dependent(0.0),
    "all rows zero": alike(0.0),
    "all rows 1e10": alike(1e10),
    "separable by 1": apart(1.0),
    "separable by 1e-12": apart(1e-12),
    "one row astray by 1e-9": apart(1.0, 1e-9),
    "one row astray by 1e-15": apart(1.0, 1e-15),
    "weights 1e-6 to 1e6": weighted(1e-6, 1e6),
    "weights 1e-150 to 1": weighted(1e-150, 1),
    "weights 1 to 1e150": weighted(1, 1e150),
    "a quarter of the weights 0": no_weight,
    "3 : 100,000": rare(100_000),
    "one row": few(1, 3),
    "four rows": few(4, 3),
    "four rows, 40 columns": few(4, 40),
    "a row at 1e15": outlier(1e15),
    "a row at 1e150": outlier(1e150),
    "one column of 0 and 1e-300": narrow(1e-300),
    "one column of 0 and 1e300": narrow(1e300),
}  # fmt: skip


def problems() -> Iterator[Problem]:
    """Yield all problems."""
    for family in FAMILIES:
        for loss in LOSSES:
            for C, intercept in SETTINGS:
                yield Problem(family, loss, C, intercept)
            # Of three classes one row astray leaves open whether some direction is free.
            if loss in UNPENALISED and not (loss == "softmax" and "astray" in family):
                yield Problem(family, loss, np.inf, True)
