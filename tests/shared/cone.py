"""Oracles for what maximum likelihood says of each coefficient: linear programs over the cone, in fractions."""

from fractions import Fraction

import numpy as np


def in_cone(rows, target):
    """Whether some λ ≥ 0 has Σ λᵢ rowᵢ = target: the first phase of the simplex method, by Bland's rule."""
    m = len(target)
    flips = [-1 if value < 0 else 1 for value in target]
    table = []
    for k in range(m):
        units = [Fraction(int(i == k)) for i in range(m)]
        table.append([Fraction(flips[k] * row[k]) for row in rows] + units + [Fraction(flips[k] * target[k])])
    basis = [len(rows) + k for k in range(m)]
    while True:
        # the cost is the sum of the artificial variables
        own = [k for k in range(m) if basis[k] >= len(rows)]
        enters = next((i for i in range(len(rows)) if sum(table[k][i] for k in own) > 0), None)
        if enters is None:
            return all(table[k][-1] == 0 for k in own)
        ratios = [(table[k][-1] / table[k][enters], basis[k], k) for k in range(m) if table[k][enters] > 0]
        _, _, leaves = min(ratios)
        pivot = table[leaves][enters]
        table[leaves] = [value / pivot for value in table[leaves]]
        for k in range(m):
            if k != leaves and table[k][enters]:
                factor = table[k][enters]
                table[k] = [u - factor * v for u, v in zip(table[k], table[leaves], strict=True)]
        basis[leaves] = enters


def signed(X, y, intercept=True):
    """The rows aᵢ = yᵢ [xᵢ, 1] in whole numbers."""
    return [tuple(int(t) * int(v) for v in ([*x, 1] if intercept else x)) for x, t in zip(X, y, strict=True)]


def opposite(row):
    return tuple(-value for value in row)


def unit(j, size, sign=1):
    return tuple(sign * int(k == j) for k in range(size))


def face_of(X, y, intercept=True):
    """The rows that are on every plane without a point on its wrong side: their opposites are in the cone of all."""
    A = signed(X, y, intercept)
    return [i for i, a in enumerate(A) if in_cone(A, opposite(a))]


def verdict_of(X, y, intercept=True):
    A = signed(X, y, intercept)
    if not in_cone([(*a, 1) for a in A], (*[0] * len(A[0]), 1)):
        return "separable"
    return "overlap" if len(face_of(X, y, intercept)) == len(A) else "quasi"


def estimates_of(X, y, intercept=True):
    """The verdict on each coefficient: whether some plane of the cone has it above zero, and some below (Farkas)."""
    A, found = signed(X, y, intercept), []
    size = len(A[0])
    for j in range(size):
        up, down = (not in_cone(A, unit(j, size, sign)) for sign in (-1, 1))
        found.append("not determined" if up and down else "+inf" if up else "-inf" if down else "finite")
    return found


def aliased_of(X, intercept=True):
    """The columns that some θ with a·θ = 0 on all rows moves: e_j is no combination of the rows."""
    A = signed(X, np.ones(len(X)), intercept)
    both = [*A, *map(opposite, A)]
    return [j for j in range(len(A[0])) if not in_cone(both, unit(j, len(A[0])))]


def design(rng):
    """Few whole points, labelled by a plane through many of them; columns may depend on others, rows lack weight."""
    d, n, size = int(rng.integers(1, 4)), int(rng.integers(2, 16)), int(rng.choice([1, 2, 4]))
    X = rng.integers(-size, size + 1, (n, d))
    g = X @ rng.integers(-2, 3, d) + rng.integers(-2, 3)
    y = np.where(g > 0, 1, np.where(g < 0, -1, rng.choice([-1, 1], n)))
    if rng.random() < 0.4:
        y[rng.integers(n)] *= -1
    if rng.random() < 0.3:
        extra = rng.choice(["copy", "sum", "zero", "constant", "levels", "rare"])
        if extra == "levels":
            X = np.column_stack([X[:, :1], np.eye(2, dtype=int)[rng.integers(0, 2, n)]])
        else:
            columns = {
                "copy": X[:, 0],
                "sum": X.sum(axis=1) - 2,
                "zero": np.zeros(n, dtype=int),
                "constant": np.full(n, 3),
                "rare": ((np.arange(n) == 0) & (y > 0)).astype(int),
            }
            X = np.column_stack([X, columns[extra]])
    weight = rng.choice([0.0, 0.5, 1.0, 3.0], n, p=[0.2, 0.2, 0.4, 0.2]) if rng.random() < 0.25 else None
    return X, y, weight, bool(rng.random() < 0.8)


def designs(seed, count):
    """So many designs with both classes among the rows that have weight."""
    rng = np.random.default_rng(seed)
    made = 0
    while made < count:
        X, y, weight, intercept = design(rng)
        kept = np.ones(len(y), dtype=bool) if weight is None else weight > 0
        if len(set(y[kept].tolist())) == 2:
            made += 1
            yield X, y, weight, intercept, kept
