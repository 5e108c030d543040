"""What the page gives away, of drawn points and of files: program, model with its proof, replay, points."""

import contextlib
import csv
import io
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import linsep
from asking import asked, preset
from command import run
from linsep.play.answers import Answers
from linsep.play.files import Files
from linsep.play.methods import ALGORITHMS


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("features", ["plain", "squares"])
def test_the_program_repeats_the_fit_to_the_last_digit(name, features):
    points, _, _ = preset("separable")
    method = {"name": name} | (
        {"schedule": "constant", "eta": 0.3, "stopping": "none", "max_iter": 7}
        if "eta" in ALGORITHMS[name].uses
        else {}
    )
    answer = asked("fit", points=points, features=features, method=method)
    program = asked("download", points=points, features=features, method=method, what="code")["text"]
    names: dict[str, object] = {}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()) as printed:
        warnings.simplefilter("ignore", ConvergenceWarning)
        exec(program, names)
    assert names["model"].coef_[0].tolist() == answer["model"]["coef"]
    assert names["model"].intercept_[0] == answer["model"]["intercept"]
    assert "minimised" in printed.getvalue()


@pytest.mark.parametrize("what", ["model", "replay", "data"])
def test_downloads_are_whole(what, tmp_path):
    points, X, y = preset("separable")
    answer = asked(
        "download", points=points, what=what, **({} if what == "data" else {"method": {"name": "soft_margin"}})
    )
    place = tmp_path / answer["name"]
    place.write_text(answer["text"], "utf-8")
    if what == "model":
        model = linsep.load(place)
        np.testing.assert_array_equal(model.predict(X), y)
        assert linsep.verify(place, X, y)
    elif what == "data":
        np.testing.assert_array_equal(np.loadtxt(place, delimiter=",", skiprows=1), np.column_stack([X, y]))
    else:
        assert "linsep replay" in answer["text"]


@pytest.mark.slow
@pytest.mark.parametrize("features", ["plain", "standardised", "squares"])
@pytest.mark.parametrize("name", ["separable", "overlap"])
def test_the_model_file_and_the_points_are_what_linsep_verify_takes(name, features, tmp_path):
    points, asked_for = preset(name)[0], {"method": {"name": "soft_margin"}, "features": features}
    for what in ("model", "data"):
        answer = asked("download", points=points, what=what, **asked_for)
        (tmp_path / answer["name"]).write_text(answer["text"], "utf-8")
    said = run("verify", tmp_path / "model.json", tmp_path / "points.csv", "--target", "class")
    assert "Verified: the objective" in str(said)


def test_names_go_with_the_points_wherever_these_are_told():
    points = preset("separable")[0]
    named = dict(points=points, method={"name": "perceptron"}, names=["age", "income, £"])
    answer = asked("fit", **named, surface={})
    assert answer["film"]["picture"]["names"] == ["age", "income, £"]
    assert answer["beside"]["surface"]["names"] == ["weight of age", "weight of income, £", "b"]
    table = list(csv.reader(io.StringIO(asked("download", **named, what="data")["text"])))
    assert table[0] == ["age", "income, £", "class"]
    assert asked("download", **named, what="replay")["kind"] == "download"
    assert asked("download", points=points, what="data")["text"].startswith("x1,x2,class\n"), "for every program"


@pytest.fixture
def answers():
    held = Files()
    yield Answers(held)
    held.close()


MANY = b"age,income,town,kind\n" + b"".join(
    b"%d,%s,%c,%c\n" % (k * 7 % 50, b"%d.5" % (k * 13 % 31) if k % 9 else b"", b"PQR"[k % 3], b"ab"[k % 50 > 20])
    for k in range(120)
)


@pytest.fixture
def many(answers):
    """What a page asks about a file of numbers with gaps and words, seen from their plane."""
    about = answers.files.add("many.csv", MANY)
    found = asked("columns", answers, file=about["file"], target="kind", columns=None)
    assert len(found["names"]) > 4
    return dict(file=found["held"], method={"name": "soft_margin"})


def test_the_program_of_many_columns_reads_the_table_of_the_same_page(answers, many, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("points.csv").write_text(asked("download", answers, **many, what="data")["text"], "utf-8")
    names: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(asked("download", answers, **many, what="code")["text"], names)
    assert names["model"].coef_[0].tolist() == asked("fit", answers, **many)["model"]["coef"]


@pytest.mark.slow
@pytest.mark.parametrize("features", ["plain", "standardised"])
def test_linsep_verify_takes_the_model_of_many_columns(answers, many, features, tmp_path):
    for what in ("model", "data"):
        answer = asked("download", answers, **many, features=features, what=what)
        (tmp_path / answer["name"]).write_text(answer["text"], "utf-8")
    said = run("verify", tmp_path / "model.json", tmp_path / "points.csv", "--target", "class")
    assert "Verified: the objective" in str(said)


def test_a_table_too_large_to_be_written_is_refused(answers, many, monkeypatch):
    monkeypatch.setattr("linsep.play.answers.MOST_WRITTEN", 100)
    assert "the page writes at most 100" in asked("download", answers, **many, what="data")["why"]
    assert asked("download", answers, **many, what="model")["kind"] == "download", "without the way from a table"
