"""What a search found, as the fields of a `Separability`."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from .._core import is_sparse
from ..arithmetic.exact import Dependencies, ProofTimeoutError, check_plane, plane_margin, rounded, sides
from ._question import Plane, Question
from .face import unbounded

Weights = dict[int, Fraction]  # row: λ
Fields = dict[str, Any]
#: Coordinates of a point that are read at a glance.
READABLE = 4


def separable(asked: Question, theta: Plane) -> Fields:
    """Return the fields for a plane that separates strictly: in floats, where the rounded plane does, too."""
    fields = _plane(asked, theta)
    b = fields["intercept"] if asked.intercept else None
    if fields["plane"] is not None and check_plane(asked.X, asked.y, fields["coef"], b):
        fields["plane"], theta = None, fields["coef"] if b is None else np.append(fields["coef"], b)
    width = np.inf
    if fields["coef"].any():
        width, _ = plane_margin(asked.X, asked.y, theta, intercept=asked.intercept, clock=asked.clock)
    return fields | dict(verdict="separable", margin=width, infinite=list(range(asked.size)))


def quasi(
    asked: Question, theta: list[Fraction], points: Weights, total: Weights, dependencies: Dependencies
) -> Fields:
    """Return the fields for a plane that separates weakly, and which coefficients have no finite estimate."""
    on_plane = np.flatnonzero(sides(asked.X, asked.y, theta, intercept=asked.intercept) == 0)
    fields = _plane(asked, theta) | inseparable(asked, points)
    fields |= dict(verdict="quasi", margin=0.0, on_plane=len(on_plane), infinite=None)
    rows, weights = _normalised(asked, total)
    try:
        unheld = unbounded(asked.X, asked.y, rows, on_plane, intercept=asked.intercept, clock=asked.clock)
    except ProofTimeoutError:  # the verdict stands; which coefficients it concerns is left open
        return fields
    if unheld is not None:
        fields |= dict(support=rows, support_weights=weights, infinite=unheld, dependencies=dependencies)
    return fields


def inseparable(asked: Question, points: Weights) -> Fields:
    """Return the fields for a relation that excludes planes which separate strictly."""
    rows, weights = _normalised(asked, points)
    sides = [bool(asked.y[i] > 0) for i in rows]
    return dict(verdict="inseparable", points=rows, weights=weights, sides=sides, common=_common(asked, rows, weights))


def overlap(asked: Question, points: Weights, total: Weights, dependencies: Dependencies) -> Fields:
    """Return the fields for relations that exclude weak planes, too."""
    support, support_weights = _normalised(asked, total)
    found = dict(support=support, support_weights=support_weights, dependencies=dependencies, infinite=[])
    return inseparable(asked, points) | found | dict(verdict="overlap")


def _common(asked: Question, rows: list[int], weights: list[Fraction]) -> tuple[Fraction, ...] | None:
    """Return the point that the rows of either class mix to, where a reader takes it in."""
    if asked.d > READABLE or not asked.intercept:
        return None
    X = asked.X[rows]
    X = X.toarray() if is_sparse(X) else X
    mixed = [(weight, row) for i, weight, row in zip(rows, weights, X.tolist(), strict=True) if asked.y[i] > 0]
    return tuple(sum((weight * Fraction(row[j]) for weight, row in mixed), Fraction(0)) for j in range(asked.d))


def _plane(asked: Question, theta: Plane) -> Fields:
    """Return a plane in floats, and exactly unless it is one of floats."""
    exact = None if isinstance(theta, np.ndarray) else theta
    near = theta if exact is None else rounded(exact)
    b = float(near[asked.d]) if asked.intercept else 0.0
    whole = None if exact is None else tuple(exact) if asked.intercept else (*exact, Fraction(0))
    return dict(coef=np.asarray(near[: asked.d]), intercept=b, plane=whole)


def _normalised(asked: Question, weights: Weights) -> tuple[list[int], list[Fraction]]:
    """Return rows in order and weights that sum to one in each class (over both, without an intercept)."""
    rows = sorted(weights)
    scale = lcm(*(weights[i].denominator for i in rows))
    whole = [weights[i].numerator * (scale // weights[i].denominator) for i in rows]
    total = sum(value for i, value in zip(rows, whole, strict=True) if asked.y[i] > 0 or not asked.intercept)
    return rows, [Fraction(value, total) for value in whole]
