"""Test rows held out: drawn from each class, encoded by the others, remembered, and measured on."""

import json

import numpy as np
import pandas as pd
import pytest

from command import EXACTLY, call, run, run_json
from customers import customers
from linsep.data.sources import DataError
from linsep.persistence.model_file import read, save
from linsep.workflows.holding_out import Drawing, Split, split_of

ASKED = "--target", "bought", "--ignore", "kind", "--test-share", "0.2"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A file, and a model that has seen four fifths of it."""
    place = tmp_path_factory.mktemp("held")
    customers(400).to_csv(place / "all.csv", index=False)
    record = run_json("fit", place / "all.csv", *ASKED, "--seed", "3", "-o", place / "model.json")
    (place / "record.json").write_text(json.dumps(record))
    return place


def test_a_split_takes_its_share_of_every_class_and_depends_on_the_seed():
    y = np.repeat(["a", "b", "c"], [100, 40, 1])
    split = Split.choose(y, 0.25, seed=0)
    assert [int(split.test[y == label].sum()) for label in "abc"] == [25, 10, 0]
    assert (Split.choose(y, 0.25, seed=0).test == split.test).all()
    assert (Split.choose(y, 0.25, seed=1).test != split.test).any()
    for share in (0.0, 1.0, -1.0, np.nan):
        with pytest.raises(DataError, match="--test-share"):
            Split.choose(y, share, seed=0)
    with pytest.raises(DataError, match="leaves none to test on"):
        Split.choose(np.array([0, 1]), 0.1, seed=0)


@pytest.mark.parametrize("share", [0.01, 0.2, 0.25, 1 / 3, 0.37, 0.5, 0.63, 0.8, 0.99])
def test_every_class_has_its_share_to_within_a_row_however_the_rows_come(share):
    rng = np.random.default_rng(1)
    y = rng.choice(40, 3000, p=rng.dirichlet(np.full(40, 0.3)))
    whole = Drawing(share, 5)
    test = whole.take(y)
    for code in np.unique(y):
        of_class = test[y == code]
        assert abs(of_class.sum() - share * len(of_class)) < 1
        assert not of_class[0]
    parts, first = Drawing(share, 5), 0
    for size in (1, 6, 0, 700, 3, 2290):
        np.testing.assert_array_equal(parts.take(99 - y[first : first + size]), test[first : first + size])
        first += size
    assert (first, parts.split()) == (3000, whole.split())
    np.testing.assert_array_equal(whole.split().test, test)


def test_rows_are_drawn_with_equal_chances_and_classes_and_places_independently():
    y, seeds = np.repeat([0, 1], 100), range(2000)
    drawn = np.array([Drawing(0.2, seed).take(y) for seed in seeds])
    chance = drawn.mean(axis=0)
    later = np.r_[5:100, 105:200]  # the first row of a class is never drawn, and the next four a little more often
    assert np.abs(chance[later] - 0.2).max() < 5 * (0.2 * 0.8 / 2000) ** 0.5
    together = (drawn[:, 50:100:5] & drawn[:, 150:200:5]).mean()
    assert abs(together - 0.04) < 0.005
    assert (drawn.reshape(2000, 2, 20, 5).sum(axis=3) == 1).all()


def test_the_model_is_that_of_the_training_rows_alone(folder, tmp_path):
    test = split_of(read(folder / "model.json")).test
    assert test.sum() == json.loads((folder / "record.json").read_text())["test"]["rows"]
    frame = pd.read_csv(folder / "all.csv", **EXACTLY)
    frame[~test].to_csv(tmp_path / "train.csv", index=False)
    frame[test].to_csv(tmp_path / "test.csv", index=False)
    run("fit", tmp_path / "train.csv", *ASKED[:4], "--seed", "3", "-o", tmp_path / "alone.json")
    held, alone = read(folder / "model.json"), read(tmp_path / "alone.json")
    np.testing.assert_array_equal(held.model.coef_, alone.model.coef_)
    assert held.data == alone.data
    expected = run_json("evaluate", tmp_path / "alone.json", tmp_path / "test.csv")
    assert json.loads((folder / "record.json").read_text())["test"]["accuracy"] == expected["accuracy"]


def test_evaluate_and_report_on_the_file_measure_the_test_rows(folder, tmp_path):
    fitted = json.loads((folder / "record.json").read_text())["test"]
    done = call("evaluate", folder / "model.json", folder / "all.csv", "--json")
    assert f"measured on the {fitted['rows']} others, its test rows (--test-share 0.2)" in done.err.decode()
    found = json.loads(done.out)
    assert {name: found[name] for name in ("rows", "accuracy", "log_loss", "confusion")} == {
        name: fitted[name] for name in ("rows", "accuracy", "log_loss", "confusion")
    }
    page = tmp_path / "r.html"
    record = run_json("report", folder / "model.json", folder / "all.csv", "-o", page)
    assert (record["rows"], record["accuracy"]) == (fitted["rows"], fitted["accuracy"]["value"])
    said = f"They are the {fitted['rows']} test rows of all.csv (--test-share 0.2), which the fit did not see."
    assert said in page.read_text()


def test_rows_are_numbered_as_in_the_file(folder, tmp_path):
    from linsep.workflows.reporting import report_model

    content = report_model(read(folder / "model.json"), folder / "all.csv", None, model=folder / "model.json")
    frame, test = pd.read_csv(folder / "all.csv"), split_of(read(folder / "model.json")).test
    for mistake in content.mistakes:
        assert test[mistake.row - 1]
        assert frame["bought"][mistake.row - 1] == mistake.truth


def test_verify_knows_which_rows_are_those_of_the_fit(folder):
    outcome = run_json("verify", folder / "model.json", folder / "all.csv")
    assert outcome["proven"]
    held = split_of(read(folder / "model.json")).count
    assert outcome["reason"].endswith(f"{held} test rows, no part of the fit, were left out")
    assert run_json("verify", folder / "model.json", folder / "all.csv", "--independent")["proven"]


def test_other_rows_are_others_and_the_rows_of_the_fit_are_said_to_be(folder, tmp_path):
    customers(400, seed=5).to_csv(tmp_path / "others.csv", index=False)
    assert "measured on the" not in call("evaluate", folder / "model.json", tmp_path / "others.csv").err.decode()
    frame = pd.read_csv(folder / "all.csv", **EXACTLY)
    frame[~split_of(read(folder / "model.json")).test].to_csv(tmp_path / "train.csv", index=False)
    said = call("evaluate", folder / "model.json", tmp_path / "train.csv").err.decode()
    assert "fitted on these very rows: expect worse on others" in said


@pytest.mark.parametrize(
    "said", [{"rows": 9}, {"packed": "?"}, {"seed": -1}, {"share": "x"}, {"rows": None}, {"rows": 1, "packed": "/w=="}]
)
def test_a_damaged_split_is_named(folder, tmp_path, said):
    found = read(folder / "model.json")
    encoding = {**found.encoding, "test_rows": {**found.encoding["test_rows"], **said}}
    save(found.model, tmp_path / "m.json", data=found.data, encoding=encoding)
    assert "test rows is damaged" in run("evaluate", tmp_path / "m.json", folder / "all.csv", code=2)


def test_weighed_rows_are_split_and_counted_ones_are_refused(folder, tmp_path):
    frame = pd.read_csv(folder / "all.csv").assign(share=np.arange(400) % 3, seen=2)
    frame.to_csv(tmp_path / "w.csv", index=False)
    words = tmp_path / "w.csv", *ASKED, "-o", tmp_path / "m.json"
    record = run_json("fit", *words, "--ignore", "seen", "--sample-weight", "share")
    measured = run_json("evaluate", tmp_path / "m.json", tmp_path / "w.csv")
    assert measured["accuracy"] == record["test"]["accuracy"]
    assert (
        run_json("evaluate", tmp_path / "m.json", tmp_path / "w.csv", "--sample-weight", "share")["rows"]
        == record["test"]["rows"]
    )
    assert run_json("verify", tmp_path / "m.json", tmp_path / "w.csv")["proven"]
    assert "by seen a row stands for several" in run("fit", *words, "--weights", "seen", code=2)


def test_a_report_on_the_test_rows_names_the_file_that_verifies_the_model(folder, tmp_path):
    run("report", folder / "model.json", folder / "all.csv", "-o", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "TRAINING_DATA" not in page
    assert f"linsep verify {folder / 'model.json'} {folder / 'all.csv'}" in page
