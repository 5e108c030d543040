"""`linsep fit --test-share` with `--max-memory`: rows, model and measures are those of the fit in memory."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from command import call, run, run_json
from customers import customers
from linsep.data.sources import DataError
from linsep.persistence.model_file import read
from linsep.workflows import checking_streams, memory
from linsep.workflows.holding_out import SECTION, split_of
from linsep.workflows.streaming import Request, fit_in_parts

SHARE = "--test-share", "0.3", "--seed", "4"
IN_PARTS = "--max-memory", "9GB"
FILES = {"two.csv": ("--target", "bought"), "three.parquet": ("--target", "kind"), "numbers.svm": ()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files with words, gaps, levels, rows without a label, and sparse numbers."""
    place = tmp_path_factory.mktemp("held")
    rng = np.random.default_rng(0)
    frame = customers(900)
    frame["words"] = [" ".join(rng.choice(["red", "old", "big", "new", f"w{k % 40}"], 3)) for k in range(900)]
    frame.loc[rng.random(900) < 0.03, "bought"] = None
    frame.drop(columns="kind").to_csv(place / "two.csv", index=False)
    customers(900, 1).drop(columns="bought").to_parquet(place / "three.parquet", row_group_size=100)
    X = rng.normal(size=(600, 12)) * (rng.random((600, 12)) < 0.3)
    dump_svmlight_file(X, rng.choice([3, 1, 2], 600, p=[0.5, 0.4, 0.1]), str(place / "numbers.svm"), zero_based=False)
    return place


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(memory.Budget, "block", property(lambda budget: 8_000))
    monkeypatch.setattr(checking_streams, "BLOCK", 8_000)


@pytest.mark.parametrize("file", FILES)
def test_both_ways_hold_out_the_same_rows_and_come_to_the_same(folder, tmp_path, file):
    asked = "fit", folder / file, *FILES[file], *SHARE, "--tol", "1e-9"
    records = [
        run_json(*asked, *more, "-o", tmp_path / f"{name}.json") for name, more in (("one", ()), ("parts", IN_PARTS))
    ]
    one, parts = (read(tmp_path / f"{name}.json") for name in ("one", "parts"))
    assert split_of(one) == split_of(parts)
    assert {name: one.data[name] for name in ("rows", "columns", "y")} == {
        name: parts.data[name] for name in ("rows", "columns", "y")
    }
    for name in ("columns", "levels", "words"):
        assert one.encoding.get(name) == parts.encoding.get(name)
    np.testing.assert_allclose(parts.model.coef_, one.model.coef_, atol=1e-3)
    first, second = (record["test"] for record in records)
    assert first["confusion"] == second["confusion"]
    for name in ("log_loss", "auc", "accuracy"):
        assert (name in first) == (name in second)
        if name in first:
            assert second[name]["value"] == pytest.approx(first[name]["value"], abs=1e-4)
    assert records[0]["rows"] == records[1]["rows"] == one.data["rows"]
    again = run_json("evaluate", tmp_path / "parts.json", folder / file)
    assert again["confusion"] == second["confusion"]
    assert again["accuracy"] == second["accuracy"]


@pytest.mark.parametrize("file", FILES)
def test_a_model_verifies_on_the_whole_file_in_memory_and_in_parts(folder, tmp_path, monkeypatch, file):
    model = tmp_path / "m.json"
    run("fit", folder / file, *FILES[file], *SHARE, *IN_PARTS, "-o", model)
    held = split_of(read(model)).count
    for limit in (10**9, 0):
        monkeypatch.setattr(checking_streams, "LONG", limit)
        outcome = run_json("verify", model, folder / file)
        assert outcome["proven"], outcome
        assert outcome["reason"].endswith(f"{held} test rows, no part of the fit, were left out")


def test_a_model_of_one_way_verifies_in_parts_on_its_training_rows_alone(folder, tmp_path, monkeypatch):
    model = tmp_path / "m.json"
    run("fit", folder / "three.parquet", "--target", "kind", *SHARE, "-o", model)
    split = split_of(read(model))
    pd.read_parquet(folder / "three.parquet")[~split.test].to_parquet(tmp_path / "train.parquet")
    monkeypatch.setattr(checking_streams, "LONG", 0)
    outcome = run_json("verify", model, tmp_path / "train.parquet")
    assert outcome["proven"]
    assert "test rows" not in outcome["reason"]
    pd.read_parquet(folder / "three.parquet")[split.test].to_parquet(tmp_path / "test.parquet")
    assert not json.loads(call("verify", model, tmp_path / "test.parquet", "--json").out)["ok"]


def test_what_test_rows_have_tells_nothing_of_the_encoding(folder, tmp_path):
    frame, model = customers(400, 2)[["age", "income", "town", "bought"]], tmp_path / "m.json"
    frame.to_csv(path := tmp_path / "plain.csv", index=False)
    asked = "--target", "bought", *SHARE, "-o", model
    run("fit", path, *asked)
    split, plain = split_of(read(model)), read(model)
    frame.loc[split.test, "income"] = 1e6
    frame.loc[split.test, "town"] = "elsewhere"
    frame.to_csv(path := tmp_path / "odd.csv", index=False)
    for more in ((), IN_PARTS):
        run("fit", path, *asked, *more)
        odd = read(model)
        assert odd.encoding["levels"] == plain.encoding["levels"]
        np.testing.assert_allclose(odd.encoding["numbers"]["income"][:2], plain.encoding["numbers"]["income"][:2])
        np.testing.assert_allclose(odd.model.coef_, plain.model.coef_, atol=1e-3)


def test_an_unfinished_fit_of_another_share_is_not_gone_on_with_and_one_of_the_same_is(folder, tmp_path):
    asked = dict(target="bought", max_memory=10**10, output=tmp_path / "m.json", seed=4)
    first = fit_in_parts(Request(str(folder / "two.csv"), test_share=0.3, **asked))  # nobody removes its folder
    first.folder.release()  # as when its process ends
    with pytest.raises(DataError, match=r"--test-share was 0\.3 and is now 0\.2"):
        fit_in_parts(Request(str(folder / "two.csv"), test_share=0.2, **asked))
    with pytest.raises(DataError, match=r"--test-share was 0\.3 and is now not given"):
        fit_in_parts(Request(str(folder / "two.csv"), **asked))
    with pytest.raises(DataError, match="--seed was 4 and is now 5"):
        fit_in_parts(Request(str(folder / "two.csv"), test_share=0.3, **asked | dict(seed=5)))
    told = []
    again = fit_in_parts(
        Request(str(folder / "two.csv"), test_share=0.3, **asked), lambda what, done, total: told.append(what)
    )
    assert "counting rows" not in told
    assert "measuring on test rows" in told
    assert again.measured == first.measured
    assert again.encoding[SECTION] == first.encoding[SECTION]
    again.folder.remove()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (["--test-share", "1.5"], "--test-share 1.5 is not possible; give a share of the rows"),
        (["--test-share", "0.0001"], "leaves none to test on; give more rows or a larger share"),
        (["--test-share", "0.2", "--weights", "age"], "by age a row stands for several"),
    ],
)
def test_what_cannot_be_held_out_is_refused_in_words(folder, tmp_path, more, complaint):
    asked = "fit", folder / "two.csv", "--target", "bought", "-o", tmp_path / "m.json", *IN_PARTS
    assert complaint in run(*asked, *more, code=2)
    assert not list(tmp_path.iterdir())


def test_more_test_rows_than_memory_can_measure_on_are_refused_before_the_fit(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("linsep.workflows.streaming.MEASURED", 10**10)
    asked = "fit", folder / "numbers.svm", *SHARE, *IN_PARTS, "-o", tmp_path / "m.json"
    assert "test rows, to measure on which takes --max-memory" in run(*asked, code=2)
    assert not list(tmp_path.iterdir())


def test_weighed_rows_are_held_out_alike(folder, tmp_path):
    frame = customers(300).assign(share=np.arange(300) % 3).drop(columns="kind")
    frame.to_csv(tmp_path / "w.csv", index=False)
    asked = "fit", tmp_path / "w.csv", "--target", "bought", "--sample-weight", "share", *SHARE, "--tol", "1e-8"
    records = [run_json(*asked, *more, "-o", tmp_path / "m.json") for more in ((), IN_PARTS)]
    assert records[0]["test"]["confusion"] == records[1]["test"]["confusion"]
    assert records[0]["rows"] == records[1]["rows"]
    assert run_json("verify", tmp_path / "m.json", tmp_path / "w.csv")["proven"]
