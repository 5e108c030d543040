"""The checker of zero-one bounds: the least weight of mistakes, against every pattern of signs that is possible."""

import itertools
from fractions import Fraction
from math import ldexp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from linsep.certificates.mistakes import facets
from linsep.certificates.mistakes.facets import least_weight_of_mistakes
from linsep.exact import Clock, ProofTimeoutError
from linsep.solvers.zero_one.cells import CellSearch


def fewest(A, s):
    """By branching over right and wrong, row by row, with a linear program for each pattern: integers are small."""

    def possible(rows):
        return linprog(np.zeros(A.shape[1]), -rows, -np.ones(len(rows)), bounds=(None, None)).status == 0

    best = float(s.sum())

    def branch(k, kept, paid):
        nonlocal best
        if paid >= best:
            return
        if k == len(A):
            best = paid
            return
        if possible(A[[*kept, k]]):
            branch(k + 1, [*kept, k], paid)
        branch(k + 1, kept, paid + s[k])

    branch(0, [], 0.0)
    return best


@pytest.mark.slow
@given(seed=st.integers(0, 10**6), D=st.integers(1, 5), exhaustive=st.booleans())
@settings(max_examples=40, deadline=None)
def test_m18_the_checker_agrees_with_all_patterns_of_signs(seed, D, exhaustive):
    rng = np.random.default_rng(seed)
    A = rng.integers(-2, 3, (int(rng.integers(1, 9)), D)).astype(float)
    A = A[A.any(axis=1)]
    s = rng.choice([1.0, 2.0, 0.5], len(A))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(facets, "EXHAUSTIVE", 8000 if exhaustive else 0)
        found = least_weight_of_mistakes(A, s, rng.standard_normal(D))
    assert found == (fewest(A, s) if len(A) else 0.0)


def fewest_exactly(A, s):
    """All patterns of signs that a generic direction can have, in fractions: brute force over sets of right rows."""
    n, best = len(A), sum(s)
    for size in range(n, -1, -1):
        for right in map(list, itertools.combinations(range(n), size)):
            cost = sum((s[i] for i in range(n) if i not in right), Fraction(0))
            if cost < best and (
                not right or linprog(np.zeros(A.shape[1]), -A[right], -np.ones(size), bounds=(None, None)).status == 0
            ):
                best = cost
    return best


#: Mantissas of 53 bits, and sizes that no sum of floats can hold together.
spread = st.builds(ldexp, st.integers(2**52, 2**53), st.sampled_from([-1120, -105, -55, -52, -50, 900]) | st.just(-52))


@pytest.mark.slow
@given(
    seed=st.integers(0, 10**6),
    D=st.integers(1, 4),
    exhaustive=st.booleans(),
    s=st.lists(spread, min_size=6, max_size=6),
)
@settings(max_examples=30, deadline=None)
def test_m18_weights_of_any_span_are_added_up_exactly(seed, D, exhaustive, s):
    rng = np.random.default_rng(seed)
    A = rng.integers(-2, 3, (6, D)).astype(float)
    live = A.any(axis=1)
    A, s = A[live], [weight for weight, alive in zip(s, live, strict=True) if alive]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(facets, "EXHAUSTIVE", 8000 if exhaustive else 0)
        found = least_weight_of_mistakes(A, s, rng.standard_normal(D))
    assert found == (fewest_exactly(A, [Fraction(weight) for weight in s]) if len(A) else 0)


@pytest.mark.parametrize("d", [2, 3, 4])
@pytest.mark.parametrize("grid", [True, False])
def test_m18_the_checker_agrees_with_the_search(d, grid):
    rng = np.random.default_rng(d)
    X = rng.integers(-4, 5, (40, d)).astype(float) if grid else rng.standard_normal((40, d))
    y = np.where(X[:, 0] + rng.standard_normal(40) > 0, 1.0, -1.0)
    A = y[:, None] * np.c_[X, np.ones(40)]
    v = np.linalg.lstsq(A, np.ones(40), rcond=None)[0]
    searched = CellSearch(A, np.ones(40), lambda: None, lambda right, cost: None).run(v)
    assert least_weight_of_mistakes(A, np.ones(40), v) == searched


@pytest.mark.parametrize("bend", [0.0, 1.0, -1.0])
@pytest.mark.parametrize("scale", [1.0, 2.0**-400, 2.0**400])
def test_m18_one_unit_in_the_last_place_decides(bend, scale):
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.5, 0.5 + bend * 2.0**-53]]) * [1.0, scale]
    A = np.array([1.0, 1.0, -1.0])[:, None] * np.c_[X, np.ones(3)]
    assert least_weight_of_mistakes(A, np.ones(3), np.array([1.0, 0.3, 0.1])) == (1 if bend == 0 else 0)


def test_the_checker_keeps_to_its_time():
    A = np.random.default_rng(0).standard_normal((40, 8))
    with pytest.raises(ProofTimeoutError, match="facets"):
        least_weight_of_mistakes(A, np.ones(40), np.ones(8), Clock(0.2))


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_m18_where_it_begins_may_be_of_any_size(scale):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 3))
    y = np.where(X[:, 0] + rng.standard_normal(12) > 0, 1.0, -1.0)
    A = y[:, None] * np.c_[X, np.ones(12)] * [scale, 1.0, 1.0, 1.0]
    expected = least_weight_of_mistakes(A, np.ones(12), np.ones(4))
    v = np.array([scale, 1.0, -1.0, 0.5])  # its product with the column is no float
    assert least_weight_of_mistakes(A, np.ones(12), v) == expected
    assert CellSearch(A, np.ones(12), lambda: None, lambda right, cost: None).run(v) == expected
