"""The step sizes: their values from k = 0, their sums, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linsep import schedules
from linsep.schedules import Constant, Inverse, InverseSqrt, InverseTime, Schedule

SETTINGS = settings(max_examples=40, deadline=None)

ALL = [Constant(), InverseTime(), InverseSqrt(), Inverse(), Constant(3.0), InverseTime(0.5, 0.01), Inverse(20.0)]
each_schedule = pytest.mark.parametrize("schedule", ALL, ids=repr)

positive = st.floats(1e-3, 1e3)
steps = st.integers(0, 10**9)


@pytest.mark.parametrize(
    ("schedule", "first_four"),
    [
        (Constant(), [0.1, 0.1, 0.1, 0.1]),  # 000: a popular choice
        (InverseTime(), [1, 1 / 2, 1 / 3, 1 / 4]),  # 000: 1/(k + 1)
        (InverseTime(0.5, decay=2.0), [0.5, 0.5 / 3, 0.1, 0.5 / 7]),
        (InverseSqrt(), [1, 1 / math.sqrt(2), 1 / math.sqrt(3), 1 / 2]),  # 001: O(1/√k)
        (InverseSqrt(0.2), [0.2, 0.2 / math.sqrt(2), 0.2 / math.sqrt(3), 0.1]),
        (Inverse(), [1, 1 / 2, 1 / 3, 1 / 4]),
        (Inverse(alpha=4.0), [1 / 4, 1 / 8, 1 / 12, 1 / 16]),  # 003: 1/(α t), t = 1, 2, …
    ],
    ids=repr,
)
def test_m8_first_step_sizes(schedule, first_four):
    assert [schedule(k) for k in range(4)] == pytest.approx(first_four, rel=1e-15)
    np.testing.assert_allclose(schedule(np.arange(4)), first_four, rtol=1e-15)


@SETTINGS
@given(eta=positive, decay=positive, k=steps)
def test_m8_step_sizes_at_any_step(eta, decay, k):
    assert Constant(eta)(k) == eta
    assert InverseTime(eta, decay)(k) == pytest.approx(eta / (1 + decay * k))
    assert InverseSqrt(eta)(k) == pytest.approx(eta / math.sqrt(k + 1))
    assert Inverse(eta)(k) == pytest.approx(1 / (eta * (k + 1)))


def block_sums(schedule, power):
    """Σ η_k^power over k = N, …, 2N − 1 for N = 2⁸, 2⁹, …, 2¹⁹."""
    eta = schedule(np.arange(2**20)) ** power
    return np.array([eta[2**j : 2 ** (j + 1)].sum() for j in range(8, 20)])


@each_schedule
def test_m8_converges_says_whether_both_conditions_hold(schedule):
    # A sum is infinite if its blocks of doubling length do not vanish, finite if they shrink geometrically.
    steps, squares = block_sums(schedule, 1), block_sums(schedule, 2)
    infinite_path = bool((steps[1:] > 0.9 * steps[:-1]).all())
    finite_noise = bool((squares[1:] < 0.75 * squares[:-1]).all())
    assert infinite_path  # every schedule reaches any point
    assert schedule.converges == finite_noise


@pytest.mark.parametrize(
    ("name", "converges"), [("constant", 0), ("inverse_time", 1), ("inverse_sqrt", 0), ("inverse", 1)]
)
def test_m8_schedules_are_found_by_name(name, converges):
    schedule = schedules.get(name)
    assert schedule.converges is bool(converges)
    assert schedule == schedules.SCHEDULES[name]()
    assert schedules.get(schedule) is schedule


@pytest.mark.parametrize("number", [0.5, 2, np.float32(0.5), np.float64(0.5), np.int64(2)])
def test_number_is_a_constant_step(number):
    schedule = schedules.get(number)
    assert schedule == Constant(float(number))
    assert type(schedule.eta) is float


@each_schedule
def test_steps_are_positive_and_never_grow(schedule):
    eta = schedule(np.arange(1000))
    assert eta.shape == (1000,)
    assert eta.dtype == np.float64
    assert (eta > 0).all()
    assert (np.diff(eta) <= 0).all()


@each_schedule
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float64])
def test_array_of_steps_is_answered_step_by_step(schedule, dtype):
    k = np.array([0, 5, 10**6, 2**31 - 1], dtype=dtype)
    np.testing.assert_allclose(schedule(k), [schedule(int(step)) for step in k], rtol=1e-15)


@each_schedule
@SETTINGS
@given(eta=positive, k=st.integers(0, 10_000))
def test_with_first_scales_the_whole_schedule(schedule, eta, k):
    other = schedule.with_first(eta)
    assert type(other) is type(schedule)
    assert other(0) == pytest.approx(eta)
    assert other(k) / other(0) == pytest.approx(schedule(k) / schedule(0))


@pytest.mark.parametrize("value", [0, -0.1, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda v: Constant(v), r"Constant\(eta="),
        (lambda v: InverseTime(v), r"InverseTime\(eta="),
        (lambda v: InverseTime(1.0, v), r"InverseTime\(decay="),
        (lambda v: InverseSqrt(v), r"InverseSqrt\(eta="),
        (lambda v: Inverse(v), r"Inverse\(alpha="),
        (lambda v: schedules.get(v), r"Constant\(eta="),
        (lambda v: InverseTime().with_first(v), r"InverseTime\(eta="),
    ],
)
def test_step_size_must_be_positive_and_finite(make, words, value):
    with pytest.raises(ValueError, match=words + ".*must be positive and finite"):
        make(value)


@pytest.mark.parametrize("unknown", ["fast", "", None, True, [0.1], Constant])
def test_unknown_schedule_is_refused_with_the_list_of_known_ones(unknown):
    with pytest.raises(ValueError, match=r"is not known; use one of constant, .*inverse, a number or a Schedule"):
        schedules.get(unknown)


@each_schedule
def test_schedules_are_values(schedule):
    assert eval(repr(schedule), vars(schedules)) == schedule
    assert hash(eval(repr(schedule), vars(schedules))) == hash(schedule)
    with pytest.raises(AttributeError):
        schedule.eta = 5.0


def test_schedule_of_ones_own_says_what_it_lacks():
    class Mine(Schedule):
        pass

    assert Mine().converges is False
    with pytest.raises(TypeError, match="Mine does not say its step sizes"):
        Mine()(0)
    with pytest.raises(TypeError, match="Mine cannot be rescaled"):
        Mine().with_first(1.0)
