"""Sums with twice the digits, against exact fractions."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from linsep.arithmetic.compensated import column_sums, two_product, two_sum
from linsep.arithmetic.enclosure import blocks, combination, sharpened
from linsep.penalties import L1, L2

numbers = st.floats(-1e100, 1e100).filter(lambda a: a == 0 or abs(a) > 1e-100)


@given(a=numbers, b=numbers)
def test_nothing_is_lost(a, b):
    total, taken = (float(part[0]) for part in two_sum(np.array([a]), np.array([b])))
    assert Fraction(total) + Fraction(taken) == Fraction(a) + Fraction(b)
    product, taken = (float(part[0]) for part in two_product(np.array([a]), np.array([b])))
    assert Fraction(product) + Fraction(taken) == Fraction(a) * Fraction(b)


@given(seed=st.integers(0, 10_000), n=st.integers(1, 40), blocks=st.integers(1, 3), form=st.sampled_from(["", "csr"]))
@settings(max_examples=40, deadline=None)
def test_sums_that_cancel_lie_within_their_radius(seed, n, blocks, form):
    rng = np.random.default_rng(seed)
    X, u = rng.standard_normal((n, 2)) * 10.0 ** rng.integers(-12, 13, (n, 2)), rng.standard_normal(n)
    X, u = np.vstack([X, X * (1 + 2.0**-50)]), np.append(u, -u)  # all but cancel
    exact = [sum(Fraction(a) * Fraction(b) for a, b in zip(u, column, strict=True)) for column in X.T]
    cut = np.linspace(0, 2 * n, blocks + 1).astype(int)
    parts = [(slice(i, j), X[i:j]) for i, j in pairwise(cut) if j > i]
    sums, _ = column_sums(parts, u, np.array([0, 1]))
    np.testing.assert_allclose(sums, [float(value) for value in exact], rtol=1e-12)
    data = sparse.csr_array(X) if form else X
    for penalty in (L2(), L1()):
        plain, at_first = combination(data, u)
        v, radius = sharpened(data, u, plain, at_first, penalty, 1e-300)
        assert all(abs(Fraction(a) - e) <= Fraction(r) for a, r, e in zip(v, radius, exact, strict=True))
        large = at_first > 1e-9  # of a box of size 1 less does no harm, and what lies within it none at all
        if penalty.l1:
            large &= np.abs(plain) + at_first >= max(1.0, float((np.abs(plain) - at_first).max()))
        assert (radius <= 1e-9 * at_first)[large].all()


def test_sums_that_are_good_enough_are_left_alone():
    X, u = np.eye(3), np.ones(3)
    v, radius = combination(X, u)
    again = sharpened(X, u, v, radius, L2(), 1.0)
    assert again[0] is v
    assert again[1] is radius


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
@pytest.mark.parametrize("n", [0, 1, 4096, 9000])
def test_blocks_of_sparse_rows_are_all_rows_and_one_of_all_is_no_copy(form, n):
    rng = np.random.default_rng(0)
    dense, end = rng.standard_normal((n, 7)) * (rng.random((n, 7)) < 0.3), 0
    X = form(dense)
    for part, block in blocks(X):
        assert part.start == end
        end = part.stop
        np.testing.assert_array_equal(block.toarray(), dense[part])
        assert X.format == "csc" or n not in (1, 4096) or X.nnz == 0 or np.shares_memory(block.data, X.data)
    assert end == n
