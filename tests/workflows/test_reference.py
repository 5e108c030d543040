"""Categories without a penalty: proven, told relative to a level, and infinite where the data say so."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression as Other

from command import call, run, run_json

QUASI = pd.DataFrame(
    {
        "x": [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3],
        "group": list("AAAABBBBCCCCDDD"),
        "y": [0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1],
    }
)


@pytest.fixture
def table(tmp_path):
    def write(frame):
        frame.to_csv(tmp_path / "t.csv", index=False)
        return tmp_path / "t.csv", tmp_path / "m.json"

    return write


def coefficients(model):
    record = run_json("explain", model, "--top", "0")
    (plane,) = record["planes"]
    return {row["feature"]: row for row in plane["coefficients"]}, plane["intercept"], record


def test_a_level_that_separates_is_named_and_infinite_and_the_fit_is_proven(table):
    data, model = table(QUASI)
    record = run_json("fit", data, "--target", "y", "--C", "inf", "-o", model)  # exit code 0
    assert record["proven"]
    assert record["estimates"] == {"group = D": "+inf"}
    assert record["reference"] == {"group": "A"}
    assert record["redundant"] == []
    # The infimum is the minimum on the rows of the other groups, by another library.
    rest = QUASI[QUASI["group"] != "D"]
    X = np.column_stack([rest["x"], rest["group"] == "B", rest["group"] == "C"])
    oracle = Other(C=np.inf, tol=1e-12, max_iter=10_000).fit(X, rest["y"])
    p = oracle.predict_proba(X)[np.arange(len(rest)), rest["y"]]
    infimum = -np.log(p).sum()
    assert record["certificate"]["dual"] <= infimum * (1 + 1e-12)
    assert infimum <= record["certificate"]["primal"] <= infimum * (1 + 1e-4)
    said = run("explain", model)
    assert "+∞" in next(line for line in said.splitlines() if line.startswith("group = D"))
    told, intercept, _ = coefficients(model)
    assert told["group = D"]["estimate"] == "+inf"
    assert told["group = C"]["estimate"] == "finite"
    expected = [told[name]["coefficient"] for name in ("x", "group = B", "group = C")]
    np.testing.assert_allclose([*expected, intercept], [*oracle.coef_[0], oracle.intercept_[0]], atol=5e-3)
    assert run_json("verify", model, data)["proven"]


def test_the_fit_names_what_runs_to_infinity_as_in_the_file(table):
    data, model = table(QUASI)
    done = call("fit", data, "--target", "y", "--C", "inf", "-o", model)
    said = done.err.decode()
    assert "the estimate of group = D is +∞; the others are finite" in said
    assert "x4" not in said


def test_of_levels_told_twice_fit_and_explain_say_that_some_combination_runs_to_infinity(table):
    data, model = table(QUASI.assign(again=QUASI["group"].str.lower()))
    done, told = call("fit", data, "--target", "y", "--C", "inf", "-o", model), "some combination of these runs to inf"
    assert told in done.err.decode()
    watch = next(line for line in run("explain", model).splitlines() if line.startswith("watch out"))
    assert "group = D" in watch
    assert told in watch


@pytest.mark.parametrize("C", ["inf", "1"])
@pytest.mark.parametrize("memory", [(), ("--max-memory", "4GB")], ids=["in memory", "in parts"])
def test_a_reference_level_changes_what_is_told_and_no_prediction(table, C, memory):
    frame = QUASI[QUASI["group"] != "D"].assign(kind=["u", "v", "u", "u", "v", "v"] * 2)
    data, model = table(frame)
    run("fit", data, "--target", "y", "--C", C, "-o", model, *memory)
    plain = run("predict", model, data, "--proba")
    words = ("--reference", "group=B", "--reference", "kind=v")
    run("fit", data, "--target", "y", "--C", C, "-o", model, *words, *memory)
    assert run("predict", model, data, "--proba") == plain
    assert json.loads(model.read_text())["encoding"]["reference"]["levels"] == {"group": "B", "kind": "v"}
    told, intercept, record = coefficients(model)
    assert record["reference"] == {"group": "B", "kind": "v"}
    assert told["group = B"]["coefficient"] == told["kind = v"]["coefficient"] == 0
    score = (
        intercept + told["x"]["coefficient"] * 3 + told["group = C"]["coefficient"] + told["kind = u"]["coefficient"]
    )
    row = frame.assign(x=3, group="C", kind="u")[:1]
    row.to_csv(data, index=False)
    found = float(run("predict", model, data, "--proba").splitlines()[1].split(",")[2])
    assert found == pytest.approx(1 / (1 + np.exp(-score)), rel=1e-9)


def test_exports_of_a_model_with_a_reference_level_predict_the_same(table, tmp_path):
    data, model = table(QUASI)
    run("fit", data, "--target", "y", "--reference", "group=C", "-o", model)
    shares = [float(line.split(",")[2]) for line in run("predict", model, data, "--proba").splitlines()[1:]]
    space = {}
    exec(run("export", model, "--to", "python"), space)
    for row, share in zip(QUASI.to_dict("records"), shares, strict=True):
        assert space["probabilities"]({"x": row["x"], "group": row["group"]})[1] == pytest.approx(share, rel=1e-14)


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("group=Q", "'group' has no level 'Q', but A, B, C, D"),
        ("group", "write column=level, as in --reference group=A; the categories are group"),
        ("x=1", "write column=level"),
    ],
)
def test_a_reference_that_is_none_is_refused(table, word, why):
    assert why in run("fit", table(QUASI)[0], "--target", "y", "--reference", word, code=2)
