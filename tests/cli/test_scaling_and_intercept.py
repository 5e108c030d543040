"""`linsep fit --no-scaling --no-intercept`: the file's own numbers, a plane through the origin."""

import csv
import io
import json
import runpy
import sqlite3

import numpy as np
import onnxruntime
import pandas as pd
import pytest

from command import call, run
from linsep import LogisticRegression
from proven_models import forged


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(40, 9, 80).round(1), "income": rng.normal(3, 1, 80).round(2)})
    frame["kind"] = np.where(frame["age"] / 10 + frame["income"] + rng.normal(0, 0.5, 80) > 7, "yes", "no")
    frame.to_csv(tmp_path / "people.csv", index=False)
    return frame, tmp_path / "people.csv"


@pytest.mark.parametrize("within", [[], ["--max-memory", "1GB"]])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_files_own_numbers_are_fitted(people, tmp_path, intercept, within):
    frame, path = people
    options = ["--no-scaling", *([] if intercept else ["--no-intercept"]), *within]
    assert "(standardised)" in run("fit", path, "--target", "kind", "-o", tmp_path / "scaled.json")
    said = run("fit", path, "--target", "kind", *options, "-o", tmp_path / "model.json")
    assert "numbers     age, income\n" in said
    model = LogisticRegression(fit_intercept=intercept).fit(frame[["age", "income"]].to_numpy(), frame["kind"])
    assert "Verified" in run("verify", tmp_path / "model.json", path)
    shown = json.loads(run("explain", tmp_path / "model.json", "--json"))["planes"][0]
    found = {row["feature"]: row["coefficient"] for row in shown["coefficients"]}
    np.testing.assert_allclose([found["age"], found["income"]], model.coef_[0], rtol=1e-2)
    assert shown["intercept"] == pytest.approx(model.intercept_[0], rel=1e-2, abs=1e-12)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--no-scaling", "--C", "auto"], "--C auto standardises in each of its parts"),
    ],
)
def test_what_cannot_be_combined_is_refused(people, options, complaint):
    assert complaint in run("fit", people[1], "--target", "kind", *options, code=2)


@pytest.fixture(scope="module")
def gaps(tmp_path_factory):
    """A file in which ages lack here and there, one in which incomes do too, and a model of each kind."""
    place, rng = tmp_path_factory.mktemp("gaps"), np.random.default_rng(1)
    frame = pd.DataFrame({"age": rng.normal(400, 9, 120).round(1), "income": rng.normal(30, 1, 120).round(2)})
    frame["kind"] = np.where(frame["age"] / 9 + frame["income"] + rng.normal(0, 2, 120) > 74.5, "yes", "no")
    frame.loc[::7, "age"] = np.nan
    frame.to_csv(place / "train.csv", index=False)
    later = frame.assign(income=frame["income"].where(np.arange(120) % 5 > 0))
    later.to_csv(place / "later.csv", index=False)
    for name, options in (("own", ["--no-scaling"]), ("inf", ["--C", "inf"]), ("scaled", ["--C", "1e9"])):
        run("fit", place / "train.csv", "-t", "kind", *options, "-o", place / f"{name}.json")
    return place, frame, later


@pytest.mark.parametrize("name", ["own", "inf"])
def test_a_missing_number_counts_as_the_mean_also_where_numbers_are_as_they_are(gaps, name):
    place, frame, later = gaps
    means = frame[["age", "income"]].mean()
    lacks = later["age"].isna().to_numpy(float)
    X = np.column_stack([later[["age", "income"]].fillna(means), lacks])
    penalty = np.inf if name == "inf" else 1.0
    trained = np.column_stack([frame[["age", "income"]].fillna(means), lacks])
    model = LogisticRegression(C=penalty, tol=1e-10).fit(trained, frame["kind"])
    heard = call("predict", place / f"{name}.json", place / "later.csv", "--proba")
    found = pd.read_csv(io.BytesIO(heard.out))
    np.testing.assert_allclose(found["probability_yes"], model.predict_proba(X)[:, 1], atol=2e-3)
    assert (
        "column 'income': 24 of 120 rows have no value, which counts as the mean of the training rows"
        in heard.err.decode()
    )
    assert "Verified" in run("verify", place / f"{name}.json", place / "train.csv", "--independent")


def test_a_column_with_gaps_is_as_important_on_any_scale(gaps):
    importance = {}
    for name in ("inf", "scaled"):
        shown = json.loads(run("explain", gaps[0] / f"{name}.json", "--json"))["planes"][0]["coefficients"]
        importance[name] = [row["importance"] for row in sorted(shown, key=lambda row: row["feature"])]
    np.testing.assert_allclose(importance["inf"], importance["scaled"], rtol=0.02)


@pytest.mark.parametrize("name", ["own", "inf"])
def test_exports_take_the_same_number_for_a_missing_one(gaps, tmp_path, name):
    place, _, later = gaps
    model = place / f"{name}.json"
    expected = pd.read_csv(io.StringIO(run("predict", model, place / "later.csv", "--proba")))["probability_yes"]
    with sqlite3.connect(":memory:") as base:
        later.to_sql("t", base, index=False)
        found = pd.read_sql(f"SELECT {run('export', model, '--to', 'sql')} FROM t", base)["probability_yes"]
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    run("export", model, "--to", "python", "-o", tmp_path / "m.py")
    program = runpy.run_path(str(tmp_path / "m.py"))
    with (place / "later.csv").open(newline="") as file:
        found = [program["probabilities"](row)["yes"] for row in csv.DictReader(file)]
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    run("export", model, "--to", "onnx", "-o", tmp_path / "m.onnx")
    feed = {column: later[[column]].to_numpy(float) for column in ("age", "income")}
    found = onnxruntime.InferenceSession(tmp_path / "m.onnx").run(["probabilities"], feed)[0][:, 1]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_a_file_that_has_no_such_number_predicts_as_the_linsep_that_wrote_it(gaps, tmp_path):
    place, _, _ = gaps
    older = tmp_path / "older.json"
    older.write_bytes((place / "inf.json").read_bytes())

    def rewrite(document):
        numbers = document["encoding"]["numbers"]
        document["version"] = 4
        document["encoding"]["numbers"] = {name: state[:3] for name, state in numbers.items()}

    forged(older, rewrite)
    (tmp_path / "row.csv").write_text("age,income\n400,\n400,0\n")
    heard = call("predict", older, tmp_path / "row.csv", "--proba")
    assert "which counts as 0" in heard.err.decode()
    found = pd.read_csv(io.BytesIO(heard.out))
    assert found["probability_yes"][0] == found["probability_yes"][1]
