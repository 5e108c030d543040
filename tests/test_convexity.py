"""The midpoint test on functions whose convexity is known."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linsep import losses
from linsep.convexity import midpoint_test

CONVEX_LOSSES = ["perceptron", "hinge", "squared_hinge", "modified_huber", "logistic", "square"]


def is_counterexample(found, f):
    """Check a counterexample from the definition, without the library."""
    middle = (np.asarray(found.a) + np.asarray(found.b)) / 2
    chord = (float(f(found.a)) + float(f(found.b))) / 2
    return float(f(middle)) == found.at_midpoint > found.on_chord == chord


@pytest.mark.parametrize("name", CONVEX_LOSSES)
def test_m25_convex_losses_pass(name):
    found = midpoint_test(losses.get(name).value, -5, 5)
    assert found
    assert found.convex
    assert found.a is found.b is None
    assert found.trials == 2000


def test_m25_zero_one_fails_with_a_counterexample():
    loss = losses.ZeroOne()
    found = midpoint_test(loss.value, -3, 3)
    assert not found
    assert not found.convex
    assert is_counterexample(found, loss.value)
    # by hand: the chord is ½ at most, so exactly one end is a mistake and the midpoint is one too
    assert sorted([found.a <= 0, found.b <= 0]) == [False, True]
    assert found.a + found.b <= 0
    assert (found.at_midpoint, found.on_chord) == (1.0, 0.5)


@pytest.mark.parametrize("seed", range(5))
def test_m25_zero_one_fails_from_every_seed_and_soon(seed):
    found = midpoint_test(losses.ZeroOne().value, -1, 2, seed=seed)
    assert not found.convex
    assert found.trials <= 100


def mean_loss(name):
    """The risk of w on six points of which no plane through the origin gets all right."""
    X = np.array([[1.0, 0.5], [0.3, 2.0], [-1.0, 1.0], [-0.7, -0.2], [1.5, -1.0], [0.2, 0.1]])
    y = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    return lambda w: losses.get(name).value(y * (X @ w)).mean()


@pytest.mark.parametrize("name", CONVEX_LOSSES)
def test_m25_risks_of_convex_losses_are_convex_in_w(name):
    assert midpoint_test(mean_loss(name), [-3, -3], [3, 3]).convex


def test_m25_zero_one_risk_is_not_convex_in_w():
    risk = mean_loss("zero_one")
    found = midpoint_test(risk, [-3, -3], [3, 3])
    assert not found.convex
    assert found.a.shape == found.b.shape == (2,)
    assert is_counterexample(found, risk)


@pytest.mark.parametrize(
    "f",
    [
        abs,
        math.exp,
        lambda x: x**4,
        lambda x: -3 * x + 7,  # a straight line is convex and concave (000)
        lambda x: 5.0,
        lambda x: max(x, 0.0) + max(-2 * x, 1.0),
        lambda x: (x - 1) ** 2 + 2,  # 000
    ],
)
def test_m25_convex_functions_of_a_number_pass(f):
    assert midpoint_test(f, -4, 4).convex


@pytest.mark.parametrize(
    "f",
    [
        lambda x: -(x**2),
        math.sin,
        lambda x: -abs(x),
        lambda x: x**4 - 0.1 * x**2,  # a shallow dent around 0
        lambda x: x**2 + 0.02 * math.sin(40 * x),  # many small ones
        lambda x: abs(abs(x) - 1),
        lambda x: math.log(1 - math.exp(-x - 4.1)),  # the misprint of 004, moved to where it exists
    ],
)
def test_m25_functions_that_are_not_convex_fail_with_a_counterexample(f):
    found = midpoint_test(f, -4, 4)
    assert not found.convex
    assert is_counterexample(found, f)


def test_m25_worked_functions_of_the_lecture_are_convex():
    # 001: e^(x²+y²) + (x−2)² + (y−3)², and x² + |y|
    assert midpoint_test(lambda v: math.exp(v @ v) + (v[0] - 2) ** 2 + (v[1] - 3) ** 2, [-1, -1], [1, 1])
    assert midpoint_test(lambda v: v[0] ** 2 + abs(v[1]), [-1, -1], [1, 1])
    assert not midpoint_test(lambda v: v[0] * v[1], [-1, -1], [1, 1])  # a saddle, convex along both axes


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("seed", range(3))
def test_m25_straight_lines_of_any_slope_are_convex(scale, seed):
    assert midpoint_test(lambda x: scale * x, -3, 3, seed=seed).convex


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), d=st.integers(1, 4))
def test_m25_quadratics_are_convex_exactly_if_no_eigenvalue_is_negative(seed, d):
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.normal(size=(d, d)))
    eigenvalues = rng.choice([-1.0, 0.5, 1.0, 2.0], size=d)
    A = Q @ np.diag(eigenvalues) @ Q.T
    found = midpoint_test(lambda v: v @ A @ v, -np.ones(d), np.ones(d), trials=500)
    assert found.convex == bool((eigenvalues > 0).all())


def test_m25_infinity_outside_a_convex_set_is_convex():
    assert midpoint_test(lambda x: x * x if abs(x) <= 1 else math.inf, -3, 3).convex
    assert midpoint_test(losses.Hinge().conjugate, -2, 1).convex
    assert not midpoint_test(lambda x: x * x if abs(x) >= 1 else math.inf, -3, 3).convex


def test_points_stay_in_the_box_and_are_as_many_as_promised():
    asked = []
    low, high = np.array([-1.0, 10.0, 0.0]), np.array([1.0, 11.0, 1e-3])

    def f(v):
        asked.append(v)
        return 0.0

    assert midpoint_test(f, low, high, trials=50).trials == 50
    asked = np.array(asked)
    assert asked.shape == (150, 3)  # two ends and a midpoint for every pair
    assert (asked >= low).all()
    assert (asked <= high).all()


def test_same_seed_finds_the_same_counterexample():
    first, again, other = (midpoint_test(math.sin, -3, 3, seed=seed) for seed in (4, 4, 5))
    assert first == again
    assert first.a != other.a


def test_verdict_reads_as_a_sentence():
    assert str(midpoint_test(abs, -1, 1, trials=12)) == "no violation of convexity in 12 pairs of points"
    found = midpoint_test(losses.ZeroOne().value, -1, 1)
    assert str(found).startswith("not convex: f at the midpoint of ")
    assert str(found).endswith(" is 1, above 0.5")


@pytest.mark.parametrize(("low", "high"), [(1, 1), (2, 1), ([0, 0], [1, 0]), (0, [1, 1]), ([0, 0], [1, 1, 1])])
def test_box_without_an_inside_is_refused(low, high):
    with pytest.raises(ValueError, match=r"same shape, and low must be below high"):
        midpoint_test(lambda x: 0.0, low, high)
