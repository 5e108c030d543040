"""What is drawn beside the picture, against the library's losses and duals, and against counting and scikit-learn."""

import numpy as np
import pytest
from sklearn.svm import SVC

from asking import asked, preset
from linsep import losses
from linsep.play.answers import Answers
from linsep.play.files import Files
from linsep.play.methods import ALGORITHMS


@pytest.mark.parametrize("name", ALGORITHMS)
def test_m5_the_loss_of_a_method_is_a_table_of_the_librarys(name):
    answer = asked("fit", points=preset("separable")[0], method={"name": name})
    loss = answer["beside"]["loss"]
    z = np.array(loss["z"])
    np.testing.assert_allclose(loss["values"], losses.get(loss["name"]).value(z), rtol=1e-5, atol=1e-5)
    assert (np.diff(z) > 0).all()
    assert z[0] <= -2
    assert z[-1] >= 3
    assert {0, 1} <= set(loss["z"]), "jumps and kinks are in the table"


def test_a_feature_map_sends_what_z_is_made_of():
    points, _, positive = preset("xor")
    y = 2 * positive - 1
    answer = asked("fit", points=points, features="squares", method={"name": "logistic"})
    frames, basis = answer["film"]["frames"], np.array(answer["beside"]["loss"]["basis"])
    plane = np.array(frames["plane"][-1])
    z = y * (plane[:-1] @ basis + plane[-1])
    np.testing.assert_allclose(z, answer["each"]["z"], rtol=1e-3, atol=1e-3)


@pytest.mark.slow
def test_a_projection_sends_z_itself():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 4))
    rows = [",".join([*map(repr, row.tolist()), str(int(row[0] - row[2] > 0))]) for row in X]
    answers = Answers(Files())
    about = answers.files.add("many.csv", "\n".join(["p,q,r,s,kind", *rows]).encode())
    held = asked("columns", answers, file=about["file"], target="kind", columns=None)["held"]
    answer = asked("fit", answers, file=held, method={"name": "soft_margin"})
    loss, each = answer["beside"]["loss"], np.array(answer["each"]["z"])
    answers.files.close()
    assert len(loss["agreements"]) == len(answer["film"]["frames"]["step"])
    assert len(loss["rows"]) == 150 == len(set(loss["rows"]))
    np.testing.assert_allclose(loss["agreements"][-1], each[loss["rows"]], rtol=6e-3, atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("method", [{"name": "soft_margin"}, {"name": "logistic"}, {"name": "gradient_descent"}])
def test_the_gap_bounds_the_distance_from_the_optimum_and_never_rises(method):
    points, X, positive = preset("overlap")
    y = 2 * positive - 1
    answer = asked("fit", points=points, method=method)
    gap = np.array(answer["beside"]["gap"])
    best = np.minimum.accumulate(answer["film"]["frames"]["objective"])
    optimum = asked("fit", points=points, method={"name": "logistic"})["film"]["frames"]["objective"][-1]
    if method["name"] == "soft_margin":
        model = SVC(kernel="linear", C=1.0, tol=1e-8).fit(X, y)
        hinge = np.maximum(0, 1 - y * model.decision_function(X)).mean()
        optimum = hinge + (model.coef_**2).sum() / 2 / len(y)
    assert (np.diff(gap) <= 0).all()
    assert (best - optimum <= gap * best + 1e-4).all()
    assert gap[-1] < 1e-3


@pytest.mark.slow
def test_a_method_without_a_dual_has_no_gap():
    points = preset("separable")[0]
    for name in ("perceptron", "least_squares", "zero_one"):
        assert asked("fit", points=points, method={"name": name})["beside"]["gap"] is None


@pytest.mark.slow
def test_m18_the_bounds_of_the_search_close_in():
    points, _, _ = preset("overlap")
    answer = asked("fit", points=points, method={"name": "zero_one"})
    bounds, frames = answer["beside"]["bounds"], answer["film"]["frames"]
    upper, lower = ([value for value in bounds[name] if value is not None] for name in ("upper", "lower"))
    assert len(bounds["upper"]) == len(frames["step"])
    assert (np.diff(upper) <= 0).all()
    assert (np.diff(lower) >= 0).all()
    assert upper[-1] == lower[-1] == round(frames["zero_one"][-1] * 40)
    assert upper[0] > lower[0]
    assert asked("fit", points=points, method={"name": "logistic"})["beside"]["bounds"] is None


@pytest.mark.slow
def test_m11_both_bounds_on_mistakes():
    points, X, y = preset("margin")
    answer = asked("fit", points=points, method={"name": "perceptron"})
    gamma = 1 / np.linalg.norm(SVC(kernel="linear", C=1e8, tol=1e-10).fit(X, y).coef_)
    R = np.linalg.norm(X, axis=1).max()
    lecture = answer["beside"]["lecture"]
    assert lecture["most"] == pytest.approx((2 * R / gamma) ** 2, rel=1e-3)
    assert "here b moves by y" in lecture["sentence"]
    without = asked("fit", points=preset("separable")[0], method={"name": "perceptron", "intercept": False})
    assert without["beside"]["lecture"] is None
    assert asked("fit", points=preset("overlap")[0], method={"name": "perceptron"})["beside"]["lecture"] is None
