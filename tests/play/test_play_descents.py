"""The step-size playground, against steps taken by hand, mpmath's gradient and SciPy's minimum."""

import mpmath
import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize

from asking import asked
from linsep.play.descents import FUNCTIONS

BOWL = {"function": "bowl", "start": [0.5, 0], "eta": 0.05}


def bowl(x, y):
    return mpmath.e ** (x**2 + y**2) + (x - 2) ** 2 + (y - 3) ** 2


def test_m7_the_walk_is_the_lectures_with_all_digits():
    answer = asked("descend", **BOWL)
    place = np.array([0.5, 0.0])
    for k in range(5):
        np.testing.assert_allclose(answer["path"][k], place, rtol=1e-5, atol=1e-9)
        assert answer["values"][k] == pytest.approx(float(bowl(*place)), rel=1e-5)
        slope = np.array([float(mpmath.diff(bowl, tuple(place), n)) for n in ((1, 0), (0, 1))])
        np.testing.assert_allclose(answer["gradients"][k], slope, rtol=1e-5)
        place = place - 0.05 * slope
    assert answer["printed"] == {"0": "(1/2, 0)", "1": "(.58, .3)", "2": "(.63, .52)"}
    least = scipy_minimize(lambda x: float(bowl(*x)), [0.5, 0.5]).fun
    assert answer["values"][-1] == pytest.approx(least, rel=1e-5)
    assert answer["converged"]
    assert answer["advice"] == ""


@pytest.mark.parametrize(
    ("eta", "name", "says"),
    [
        (0.0005, "bowl", "η = 0.0005 is too small"),
        (0.15, "bowl", "η = 0.15 is too large near the minimum"),
        (0.3, "bowl", "η = 0.3 is too large: the objective grew without bound"),
        (0.001, "kink", "η = 0.001 is too small"),
        (0.1, "kink", "jumps back and forth"),
        (1.2, "kink", "grew without bound"),
    ],
)
def test_m20_what_is_wrong_with_a_step_size_is_named_and_another_one_helps(eta, name, says):
    question = {"function": name, "start": FUNCTIONS[name].start, "eta": eta}
    answer = asked("descend", **question)
    assert says in answer["advice"]
    assert "eta=" not in answer["advice"]
    better = asked("descend", **(question | answer["try"]), steps=500)
    assert min(better["values"]) < min(answer["values"]) or better["advice"] == ""
    if "without bound" in says:
        assert max(np.abs(answer["thrown"])) > max(np.abs(answer["path"][-1]))


@pytest.mark.slow
def test_falling_steps_arrive_where_constant_ones_jump():
    start = {"function": "kink", "start": [0.5, 0.52], "steps": 500}
    constant = asked("descend", **start, eta=0.1)
    falling = asked("descend", **start, eta=0.1, schedule="inverse_sqrt")
    assert abs(falling["path"][-1][1]) < 0.01 < abs(constant["path"][-1][1]) + 0.02
    assert falling["printed"] == {} == constant["printed"]


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_level_lines_are_those_of_the_function(name):
    ground = asked("landscape", function=name)
    grid = np.meshgrid(ground["u"], ground["v"])
    values = np.reshape(ground["values"], grid[0].shape)
    wanted = np.vectorize(lambda x, y: float(bowl(x, y)) if name == "bowl" else x**2 + abs(y))(*grid)
    np.testing.assert_allclose(values, wanted, rtol=1e-3, atol=1e-4)
    assert values.min() < ground["levels"][0] < ground["levels"][-1] < values.max()
    x, y = FUNCTIONS[name].start
    assert ground["u"][0] < x < ground["u"][-1]
    assert ground["v"][0] < y < ground["v"][-1]


@pytest.mark.parametrize(
    "wrong",
    [
        {"function": "cup"},
        {"start": [1]},
        {"start": [11, 0]},
        {"eta": 0},
        {"eta": "1"},
        {"schedule": "up"},
        {"steps": 501},
    ],
)
def test_a_walk_that_cannot_be_is_refused(wrong):
    assert asked("descend", **(BOWL | wrong))["kind"] == "error"
