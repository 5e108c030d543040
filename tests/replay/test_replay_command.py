"""`linsep replay`."""

import json
import subprocess

import numpy as np
import pandas as pd
import pytest

from command import COMMAND
from films import circle, embedded
from linsep.data.encoding import MatrixEncoding
from linsep.solvers import StochasticDescent
from linsep.workflows.preparation import Examples
from linsep.workflows.replaying import Method, replay_examples


def run(*arguments, code=0):
    words = [str(COMMAND), "replay", *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", timeout=300, check=False)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout if code == 0 else done.stderr


@pytest.mark.slow
def test_m23_the_command_draws_a_curve_in_the_plane_of_the_files_columns(tmp_path):
    X, y = circle()
    frame = pd.DataFrame({"width": 50 + 10 * X[:, 0], "height": X[:, 1], "kind": np.where(y, "far", "near")})
    frame.to_csv(tmp_path / "circle.csv", index=False)
    words = [tmp_path / "circle.csv", "--target", "kind", "--degree", "2", "-o", tmp_path / "replay.html", "--json"]
    record = json.loads(run(*words))
    data = embedded((tmp_path / "replay.html").read_text())
    assert record["bytes"] == (tmp_path / "replay.html").stat().st_size
    assert (record["picture"], record["zero_one"]) == ("map", 0)
    assert record["updates"] == data["frames"]["updates"][-1] <= record["mistake_bound"]
    assert data["picture"]["names"] == ["width", "height"]
    np.testing.assert_allclose(data["points"]["u"], frame["width"], rtol=1e-4)
    assert data["title"] == "Perceptron on circle.csv, step by step"


@pytest.mark.slow
def test_the_command_encodes_columns_as_fit_does(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(40, 9, 80), "town": rng.choice(["Ede", "Ulm"], 80)})
    frame["kind"] = np.where(frame["age"] + 9 * (frame["town"] == "Ede") > 45, "a", "b")
    frame.loc[3, "kind"] = None
    frame.to_csv(tmp_path / "people.csv", index=False)
    method = ["--loss", "logistic", "--solver", "gradient_descent", "--eta", "0.5", "--max-iter", "30"]
    text = run(tmp_path / "people.csv", "--target", "kind", *method, "-o", tmp_path / "replay.html")
    assert "by          gradient descent" in text
    data = embedded((tmp_path / "replay.html").read_text())
    assert data["picture"]["kind"] == "projection"
    assert "1 row without a value in 'kind' is left out, and not counted in row numbers" in data["notes"]
    assert dict(data["facts"])["examples"] == "79 with 3 features"
    assert data["frames"]["step_size"][1] == 0.5


def test_of_three_classes_the_command_asks_for_one_in_its_own_words():
    examples = Examples("a.csv", np.arange(6.0)[:, None], np.array(list("abcabc")), MatrixEncoding(1), [])
    with pytest.raises(ValueError, match=r"a\.csv: 3 classes \(a, b, c\).*--positive"):
        replay_examples(examples, Method())
    with pytest.raises(ValueError, match="--positive d is not among the classes: a, b, c"):
        replay_examples(examples, Method(), positive="d")


@pytest.mark.parametrize(
    ("method", "complaint"),
    [
        (Method(eta=3.0), "--eta would be ignored: the perceptron has no penalty and steps of length one"),
        (Method(C=2.0), "--C would be ignored"),
        (Method("logistic", "newton", order="cyclic"), "order would be ignored: solver 'newton' has no such setting"),
        (Method("logistic", "guess"), "solver='guess' is not known"),
        (Method("guess"), "guess"),
        (Method("hinge", schedule="guess"), "schedule='guess' is not known"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(method, complaint):
    with pytest.raises(ValueError, match=complaint):
        method.estimator(0)


def test_settings_reach_the_method():
    assert Method(order="worst", max_iter=7).estimator(3).get_params()["order"] == "worst"
    assert Method("hinge", schedule="inverse_time", eta=0.25).estimator(0).schedule(0) == 0.25
    assert Method("hinge", order="cyclic", max_iter=4).estimator(0).solver == StochasticDescent(
        order="cyclic", max_iter=4
    )
    assert np.isinf(Method("perceptron", "gradient_descent").estimator(0).C)
    assert Method("logistic", C=5.0).estimator(0).C == 5.0


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    rng, k = np.random.default_rng(1), np.arange(40) % 2
    path = tmp_path_factory.mktemp("replays") / "people.csv"
    frame = pd.DataFrame(
        {"height": rng.normal(170 + 20 * k, 4).round(1), "weight": rng.normal(60 + 25 * k, 5).round(1)}
    )
    frame.assign(kind=np.where(k, "a", "b")).to_csv(path, index=False)
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "by", "ended"),
    [
        ([], "perceptron, random order", "stopped because no mistakes were left"),
        (["--loss", "logistic"], "stochastic gradient descent", "had not fallen by 0.1 % within 5 passes"),
        (["--loss", "logistic", "--max-iter", "3"], "stochastic gradient descent", "stopped after 3 passes (not conv"),
        (["--loss", "hinge", "--solver", "gradient_descent"], "gradient descent", "by 0.01 % within 20 steps"),
        (["--loss", "hinge", "--solver", "gradient_descent", "--eta", "50"], "gradient descent", "(not converged)"),
        (["--loss", "hinge", "--solver", "dual"], "dual coordinate descent", "proven to be within"),
        (
            ["--no-scaling", "--ignore", "weight", "--max-iter", "9"],
            "perceptron, random order",
            "stopped after 9 passes",
        ),
    ],
)
def test_a_replay_says_how_it_went_without_words_of_the_code(people, tmp_path, words, by, ended):
    record = json.loads(run(people, "--target", "kind", *words, "-o", tmp_path / "replay.html", "--json"))
    assert record["facts"]["by"] == by
    assert ended in record["facts"]["ended"]
    assert record["mistake_bound"] is None or isinstance(record["mistake_bound"], int)
    data = embedded((tmp_path / "replay.html").read_text())
    assert data["title"] == f"{by[0].upper()}{by[1:].partition(',')[0]} on people.csv, step by step"
    said = " ".join([*map(str, record["facts"].values()), str(record["advice"]), *record["notes"], *data["notes"]])
    for code in ("max_iter", "tol=", "solver=", "Classifier", "(eta=", "x0", "NoProgress", "--tol"):
        assert code not in said


@pytest.mark.slow
def test_a_step_that_is_too_long_is_told_in_options(people, tmp_path):
    words = ["--target", "kind", "--loss", "hinge", "--solver", "gradient_descent", "--eta", "50"]
    text = run(people, *words, "-o", tmp_path / "replay.html")
    assert "the step size (--schedule constant --eta 50.0) is too large" in text
    assert "Try --schedule inverse_sqrt --eta 0." in text
