"""The objective over two parameters, against sums over the points in plain NumPy."""

import numpy as np
import pytest

from asking import asked, preset

PLACES = [(0, 0), (13, 40), (60, 60)]


def surface_of(name, method, **asked_for):
    points, X, positive = preset(name)
    answer = asked("fit", points=points, method=method, surface=asked_for)
    return answer, answer["beside"]["surface"], X, 2 * positive - 1


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [None, [0, 2], [2, 1]])
def test_heights_are_the_mean_objective(parameters):
    answer, surface, X, y = surface_of("overlap", {"name": "soft_margin", "C": 2}, parameters=parameters)
    i, j = parameters or [0, 1]
    values = np.reshape(surface["values"], (61, 61))
    for row, column in PLACES:
        theta = np.array(answer["film"]["frames"]["plane"][-1])
        theta[[i, j]] = surface["u"][column], surface["v"][row]
        hinge = np.maximum(0, 1 - y * (X @ theta[:2] + theta[2])).mean()
        wanted = hinge + theta[:2] @ theta[:2] / 2 / (2 * len(y))
        assert values[row, column] == pytest.approx(wanted, rel=1e-3)
    assert surface["label"] == "mean of max(0, 1 − z) with the penalty"


@pytest.mark.slow
def test_the_path_is_that_of_the_film_and_ends_near_the_bottom():
    answer, surface, _, _ = surface_of("overlap", {"name": "logistic"}, parameters=[0, 1])
    frames = answer["film"]["frames"]
    assert surface["path"] == [plane[:2] for plane in frames["plane"]]
    assert min(surface["values"]) >= frames["objective"][-1] * (1 - 1e-4), "with b as it is, nothing lies lower"
    assert min(surface["values"]) < frames["objective"][0]
    assert surface["names"] == ["weight of x₁", "weight of x₂", "b"]


@pytest.mark.slow
def test_m4_mistakes_are_steps():
    _, surface, _, y = surface_of("overlap", {"name": "perceptron"}, height="mistakes")
    assert len(set(surface["values"])) <= len(y) + 1
    for value in set(surface["values"]):
        assert value * len(y) == pytest.approx(round(value * len(y)), abs=1e-2)


@pytest.mark.parametrize(
    "wrong", [3, {"parameters": [0, 0]}, {"parameters": [0, 3]}, {"parameters": "ab"}, {"height": "up"}]
)
def test_a_surface_that_cannot_be_is_refused(wrong):
    points, _, _ = preset("separable")
    assert asked("fit", points=points, method={"name": "perceptron"}, surface=wrong)["kind"] == "error"


def test_without_an_offset_there_is_none_to_choose():
    points, _, _ = preset("separable")
    method = {"name": "perceptron", "intercept": False}
    surface = asked("fit", points=points, method=method, surface={})["beside"]["surface"]
    assert surface["names"] == ["weight of x₁", "weight of x₂"]
