"""Whether some rows span all rows (Stiemke's proof): columns that depend on others, and a rank modulo a prime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from ._clock import Check, Clock
from ._combinations import check_overlap
from ._rows import ExactRows, IntArray, mantissas

Dependencies = Mapping[int, Mapping[int, Fraction]]

#: A rank found modulo this prime is never above the true one.
PRIME = 2**31 - 1


def check_support(
    X: Any,
    y: Any,
    points: Sequence[int],
    weights: Sequence[Fraction],
    dependencies: Dependencies | None = None,
    *,
    intercept: bool = True,
    time_limit: float | None = None,
) -> Check:
    """Check that no plane separates even weakly: the combinations coincide, and the points span all rows.

    The span is proven by counting: the points have a rank of at least r, and each of the other (columns − r) columns is
    on all rows a combination of further columns.

    Parameters
    ----------
    X, y, points, weights, intercept, time_limit
        As for `check_overlap`.
    dependencies : mapping of column to {column: Fraction}
        Columns that are combinations of columns which are not themselves among the keys; column d is the constant 1.

    Examples
    --------
    >>> third = Fraction(1, 3)
    >>> X, y = [[0.0, 0.0], [2.0, 0.0], [1.0, 0.0]], [-1, -1, 1]
    >>> half, one = Fraction(1, 2), Fraction(1)
    >>> bool(check_support(X, y, [0, 1, 2], [half, half, one], {1: {}}))
    True
    >>> check_support(X, y, [0, 1, 2], [half, half, one]).reason
    'the points span 2 of 3 dimensions, and 0 columns are given as dependent'
    """
    data, clock = ExactRows.of(X, y, intercept), Clock(time_limit)
    combined = check_overlap(data, y, points, weights, time_limit=clock.left())
    if not combined:
        return combined
    spanned = check_rank(data, points, dependencies, time_limit=clock.left())
    if not spanned:
        return spanned
    return Check(True, f"two convex combinations of {len(points)} points coincide, and they span all rows")


def check_rank(
    X: Any,
    points: Sequence[int],
    dependencies: Dependencies | None = None,
    *,
    intercept: bool = True,
    time_limit: float | None = None,
) -> Check:
    """Check that some rows span all rows, and that the columns given as dependent are all that depend on others.

    Examples
    --------
    >>> X = [[1.0, 2.0], [3.0, 6.0], [5.0, 10.0]]
    >>> bool(check_rank(X, [0, 1], {1: {0: Fraction(2)}}))
    True
    >>> check_rank(X, [0, 1]).reason
    'the points span 2 of 3 dimensions, and 0 columns are given as dependent'
    """
    data, clock, dependencies = ExactRows.of(X, None, intercept), Clock(time_limit), dependencies or {}
    if len(set(points)) < len(points) or not all(0 <= i < data.n for i in points):
        return Check(False, f"the points must be different rows, from 0 to {data.n - 1}")
    depend = check_dependencies(data, dependencies, time_limit=clock.left())
    if not depend:
        return depend
    rank = _rank(data, points, [j for j in range(data.size) if j not in dependencies], clock)
    if rank + len(dependencies) < data.size:
        counted = f"the points span {rank} of {data.size} dimensions"
        return Check(False, f"{counted}, and {len(dependencies)} columns are given as dependent")
    return Check(True, f"{len(points)} rows span all rows, in {rank} dimensions")


def check_dependencies(
    X: Any, dependencies: Dependencies, *, intercept: bool = True, time_limit: float | None = None
) -> Check:
    """Check that columns are the combinations of further columns that they are said to be, on all rows."""
    data, clock = ExactRows.of(X, None, intercept), Clock(time_limit)
    for column, others in dependencies.items():
        if not 0 <= column < data.size or any(j in dependencies or not 0 <= j < data.size for j in others):
            return Check(False, f"column {column} is given as a combination of columns that depend on others")
        if not depends(data, column, others, clock=clock):
            return Check(False, f"column {column} is not the combination of columns that it is said to be")
    return Check(True, "the columns are the combinations that they are said to be")


def depends(
    X: Any, column: int, others: Mapping[int, Fraction], *, intercept: bool = True, clock: Clock | None = None
) -> bool:
    """Whether a column is on all rows the combination Σ c_j x_j of others (column d is the constant 1).

    Examples
    --------
    >>> depends([[1.0, 2.0], [3.0, 6.0]], 1, {0: Fraction(2)})
    True
    """
    data, clock = ExactRows.of(X, None, intercept), clock or Clock(None)
    scale = lcm(*(c.denominator for c in others.values()))
    terms = [(column, -scale), *((j, c.numerator * (scale // c.denominator)) for j, c in others.items())]
    parts = [(factor, *mantissas(data.column(j))) for j, factor in terms]
    base = min(int(e.min(initial=0)) for _, _, e in parts)
    bits = max(int(np.frexp(np.abs(m).astype(np.float64))[1].max(initial=0)) for _, m, _ in parts)
    shift = max(int(e.max(initial=0)) for _, _, e in parts) - base
    longest = max(abs(factor).bit_length() for factor, _, _ in parts)
    if bits + shift + longest + len(parts).bit_length() < 62:  # no sum leaves 64 bits
        return not np.any(sum((m << (e - base)) * factor for factor, m, e in parts))
    for i in range(data.n):
        clock.check("columns that depend on others")
        if sum((int(m[i]) * factor) << int(e[i] - base) for factor, m, e in parts):
            return False
    return True


def _rank(data: ExactRows, points: Sequence[int], columns: Sequence[int], clock: Clock) -> int:
    """Return a rank that these rows have at least, on these columns: the one modulo a prime."""
    place = {j: k for k, j in enumerate(columns)}
    M = np.zeros((len(points), len(columns)), dtype=np.int64)
    for k, i in enumerate(points):
        js, values = data.row(int(i))
        m, e = mantissas(values)
        residues = (m % PRIME) * np.left_shift(np.int64(1), e % 31) % PRIME  # modulo which 2³¹ = 1
        for j, residue in zip(js, residues.tolist(), strict=True):
            if j in place:
                M[k, place[j]] = residue
    return _rank_modulo(M, clock)


def _rank_modulo(M: IntArray, clock: Clock) -> int:
    rank = 0
    for j in range(M.shape[1]):
        clock.check("the span of the points", 3.0 * M.size)
        pivots = np.flatnonzero(M[rank:, j])
        if not len(pivots):
            continue
        k = rank + int(pivots[0])
        M[[rank, k]] = M[[k, rank]]
        M[rank] = M[rank] * pow(int(M[rank, j]), -1, PRIME) % PRIME
        below = M[rank + 1 :]
        below[:] = (below - below[:, [j]] * M[rank] % PRIME) % PRIME
        rank += 1
        if rank == M.shape[0]:
            break
    return rank
