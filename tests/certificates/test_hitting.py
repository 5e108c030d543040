"""The bound on hitting sets against brute force over all of them."""

from fractions import Fraction
from itertools import combinations
from math import ldexp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linsep.certificates.mistakes.hitting import hits_weigh_at_least

POINTS = 7
conflicts = st.lists(st.sets(st.integers(0, POINTS - 1), min_size=1, max_size=4), min_size=0, max_size=9)
weights = st.lists(st.integers(1, 5).map(Fraction), min_size=POINTS, max_size=POINTS)


def lightest(sets, s):
    every = (set(c) for size in range(POINTS + 1) for c in combinations(range(POINTS), size))
    return min(sum((s[i] for i in chosen), Fraction(0)) for chosen in every if all(chosen & one for one in sets))


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(conflicts, weights, st.sampled_from([1, 3]))
def test_it_agrees_with_brute_force(sets, s, divisor):
    s = [weight / divisor for weight in s]
    least = lightest(sets, s)
    assert hits_weigh_at_least(sets, s, least) is True
    assert hits_weigh_at_least(sets, s, least + Fraction(1, 10**30)) is False


#: Floats that no sum of floats adds up: mantissas of 53 bits, and sizes as far apart as there are.
spread = st.builds(
    lambda m, e: Fraction(ldexp(m, e)),
    st.integers(2**52, 2**53),
    st.sampled_from([-1120, -300, -110, -55, -52, -50, 900]),
)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(conflicts, st.lists(spread, min_size=POINTS, max_size=POINTS))
def test_m18_weights_of_any_span_are_added_up_exactly(sets, s):
    least = lightest(sets, s)
    assert hits_weigh_at_least(sets, s, least) is True
    assert hits_weigh_at_least(sets, s, least + Fraction(1, 2**1200)) is False


def test_whole_weights_are_rounded_up():
    pentagon = [(k, (k + 1) % 5) for k in range(5)]  # half of each point is enough for the linear program
    assert hits_weigh_at_least(pentagon, [Fraction(1)] * 5, Fraction(3)) is True
    assert hits_weigh_at_least(pentagon, [Fraction(1)] * 5, Fraction(4)) is False


def test_it_says_when_it_leaves_it_open():
    graph = list(combinations(range(9), 2))  # eight are needed, the linear program says four and a half
    assert hits_weigh_at_least(graph, [Fraction(1)] * 9, Fraction(8)) is True
    assert hits_weigh_at_least(graph, [Fraction(1)] * 9, Fraction(8), nodes=2) is None
    assert hits_weigh_at_least(graph, [Fraction(1)] * 9, Fraction(8), time_limit=0.0) is None


def test_a_linear_program_that_lies_proves_nothing_false(monkeypatch):
    class Lie:
        def __init__(self, n, m):
            self.x, self.ineqlin = np.full(n, 100.0), type("", (), {"marginals": np.zeros(m)})

    monkeypatch.setattr("scipy.optimize.linprog", lambda c, A_ub, b_ub, method: Lie(len(c), len(b_ub)))
    assert hits_weigh_at_least([(0, 1), (1, 2)], [Fraction(1)] * 3, Fraction(2)) is not True
