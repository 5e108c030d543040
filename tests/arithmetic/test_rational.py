"""Exact linear algebra, against fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linsep.arithmetic.rational import fraction_of, pivots, solve, to_whole
from linsep.exact import Clock


def rank_by_fractions(M):
    rows, rank = [[Fraction(int(v)) for v in row] for row in M], 0
    for j in range(len(rows[0])):
        k = next((i for i in range(rank, len(rows)) if rows[i][j]), None)
        if k is None:
            continue
        rows[rank], rows[k] = rows[k], rows[rank]
        for i in range(rank + 1, len(rows)):
            factor = rows[i][j] / rows[rank][j]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[rank], strict=True)]
        rank += 1
        if rank == len(rows):
            break
    return rank


@pytest.mark.slow
@given(seed=st.integers(0, 2**32 - 1), q=st.integers(1, 12), k=st.integers(1, 3), bits=st.sampled_from([1, 4, 60, 300]))
@settings(max_examples=60, deadline=None)
def test_solutions_solve(seed, q, k, bits):
    rng = np.random.default_rng(seed)
    draw = lambda *shape: rng.integers(-(2**10), 2**10, shape).astype(object) ** (1 + bits // 10)  # noqa: E731
    M, B = draw(q, q), draw(q, k)
    if rank_by_fractions(M) < q:
        with pytest.raises(ArithmeticError, match="singular"):
            solve(M, B, Clock(None))
        return
    N, D = solve(M, B, Clock(None))
    assert D > 0
    assert (M.dot(N) == B * D).all()


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 7), d=st.integers(1, 7), r=st.integers(1, 7))
@settings(max_examples=60, deadline=None)
def test_pivots_find_the_rank(seed, n, d, r):
    rng = np.random.default_rng(seed)
    M = (rng.integers(-3, 4, (n, r)) @ rng.integers(-3, 4, (r, d))).astype(object)
    rows, columns = pivots(M, Clock(None))
    assert len(rows) == len(columns) == rank_by_fractions(M)
    if rows:
        assert rank_by_fractions(M[rows][:, columns]) == len(rows)


@given(values=st.lists(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3), min_size=1))
def test_floats_are_whole_numbers_scaled_by_rows_and_columns(values):
    A = np.array(values)
    M, r, c = to_whole(A)
    for i, j in np.ndindex(*A.shape):
        assert Fraction(M[i, j]) * Fraction(2) ** int(r[i] + c[j]) == Fraction(A[i, j])


@given(n=st.integers(-(10**6), 10**6), d=st.integers(1, 10**6))
def test_fractions_are_read_off_their_residues(n, d):
    p = 2**61 - 1
    expected = Fraction(n, d)
    found = fraction_of(n * pow(d, -1, p) % p, p, 10**6)
    assert Fraction(*found) == expected
