"""Rows that count: frequencies, weights, classes and successes among trials, against the rows written out."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression as Other

from command import call, run, run_json
from linsep import checker, load
from linsep.workflows import checking_streams
from linsep.workflows.training import class_weights

GROUPS = pd.DataFrame(
    {
        "dose": [1.0, 2, 4, 8, 16, 32, 1, 2, 4, 8, 16, 32],
        "sex": list("mmmmmmffffff"),
        "died": [1, 4, 9, 13, 18, 20, 0, 2, 6, 10, 12, 16],
        "n": 20,
    }
)


def written_out():
    rows = [
        (dose, sex, outcome)
        for dose, sex, died, n in GROUPS.itertuples(index=False)
        for outcome, count in (("success", died), ("failure", n - died))
        for _ in range(count)
    ]
    return pd.DataFrame(rows, columns=["dose", "sex", "y"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("weighing")
    GROUPS.to_csv(place / "grouped.csv", index=False)
    written_out().to_csv(place / "long.csv", index=False)
    rows = written_out()
    counted = rows.groupby([*rows.columns], sort=False).size()  # in the order of the rows, as sums are to the last bit
    counted.reset_index(name="times").to_csv(place / "counted.csv", index=False)
    return place


def fitted(folder, name, *words, code=0):
    run("fit", folder / name, *words, "-o", folder / "m.json", code=code)
    return load(folder / "m.json"), json.loads((folder / "m.json").read_text())


WAYS = {
    "grouped.csv": ("--successes", "died", "--trials", "n"),
    "counted.csv": ("--target", "y", "--weights", "times"),
}


@pytest.mark.parametrize("memory", [(), ("--max-memory", "4GB")], ids=["in memory", "in parts"])
@pytest.mark.parametrize("name", WAYS)
def test_counts_are_the_same_as_so_many_rows(folder, monkeypatch, name, memory):
    monkeypatch.setattr(checking_streams, "LONG", 0)
    long, whole = fitted(folder, "long.csv", "--target", "y", "--tol", "1e-9")
    model, document = fitted(folder, name, *WAYS[name], "--tol", "1e-9", *memory)
    np.testing.assert_allclose(model.coef_, long.coef_, rtol=1e-7)
    np.testing.assert_allclose(model.intercept_, long.intercept_, rtol=1e-7)
    assert model.certificate_.primal == pytest.approx(long.certificate_.primal, rel=1e-12)
    assert set(document["encoding"]["weights"].values()) == ({"died", "n"} if name == "grouped.csv" else {"times"})
    assert run_json("verify", folder / "m.json", folder / name)["proven"]
    _spreads_are_those(document, whole)


def _spreads_are_those(document, whole):
    ours, theirs = (one["encoding"]["importance"] for one in (document, whole))
    np.testing.assert_allclose(ours["features"], theirs["features"], rtol=1e-3)
    np.testing.assert_allclose(ours["columns"]["sex"], theirs["columns"]["sex"], rtol=1e-3)


def test_rows_that_were_counted_are_measured_as_so_many_rows(folder):
    fitted(folder, "counted.csv", *WAYS["counted.csv"])
    long = run_json("evaluate", folder / "m.json", folder / "long.csv")
    counted = run_json("evaluate", folder / "m.json", folder / "counted.csv")
    assert counted == long
    call_report(folder, "counted.csv", f"Measured on {long['rows']} rows")
    plain = pd.read_csv(folder / "counted.csv").drop(columns="times")
    plain.to_csv(folder / "plain.csv", index=False)
    said = call("evaluate", folder / "m.json", folder / "plain.csv")
    assert f"{len(plain)} rows;" in said.out.decode()
    assert "each row counts once: there is no column 'times', by which those of the fit did" in said.err.decode()
    weighed = run_json("evaluate", folder / "m.json", folder / "counted.csv", "--sample-weight", "times")
    assert weighed["accuracy"]["value"] == pytest.approx(long["accuracy"]["value"])


def call_report(folder, name, sentence):
    run("report", folder / "m.json", folder / name, "-o", folder / "r.html")
    assert sentence in (folder / "r.html").read_text()


def test_grouped_data_without_a_penalty_are_the_maximum_likelihood_of_the_trials(folder):
    fitted(folder, "grouped.csv", *WAYS["grouped.csv"], "--C", "inf", "--tol", "1e-8")
    long = written_out()
    X = np.column_stack([long["dose"], long["sex"] == "m"])
    oracle = Other(C=np.inf, tol=1e-10, max_iter=10_000).fit(X, long["y"])
    out = run("predict", folder / "m.json", folder / "grouped.csv", "--proba", "-o", folder / "p.csv")
    assert "12 predictions" in out
    found = pd.read_csv(folder / "p.csv")["probability_success"]
    expected = oracle.predict_proba(np.column_stack([GROUPS["dose"], GROUPS["sex"] == "m"]))[:, 1]
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("memory", [(), ("--max-memory", "4GB")], ids=["in memory", "in parts"])
def test_sample_weights_and_class_weights_are_in_the_objective_that_is_proven(folder, memory):
    words = ("--target", "y", "--sample-weight", "times", "--class-weight", "success=5,failure=0.5", "--tol", "1e-9")
    model, document = fitted(folder, "counted.csv", *words, *memory)
    counted = pd.read_csv(folder / "counted.csv")
    dose = (counted["dose"] - counted["dose"].mean()) / counted["dose"].std(ddof=0)
    X = np.column_stack([dose, counted["sex"] == "f", counted["sex"] == "m"])
    s = counted["times"] * np.where(counted["y"] == "success", 5.0, 0.5)
    oracle = Other(tol=1e-10, max_iter=10_000).fit(X, counted["y"], s)
    np.testing.assert_allclose(model.coef_, oracle.coef_, atol=2e-4)
    assert document["objective"] == "½‖w‖² + Σ s·log(1 + e^(−z))"
    record = run_json("verify", folder / "m.json", folder / "counted.csv", "--independent")
    assert record["proven"]
    assert record["independent"]["code"] == 0


def test_grouped_rows_are_measured_by_trial(folder):
    fitted(folder, "grouped.csv", *WAYS["grouped.csv"])
    by_trial = run_json("evaluate", folder / "m.json", folder / "long.csv", "--target", "y")
    grouped = run_json("evaluate", folder / "m.json", folder / "grouped.csv")
    assert grouped["rows"] == by_trial["rows"] == 240
    assert grouped["accuracy"] == by_trial["accuracy"]
    report = "report", folder / "m.json", folder / "grouped.csv", "--train", folder / "grouped.csv"
    assert "240 rows" in run(*report, "-o", folder / "r.html")


def test_another_count_is_another_file(folder, tmp_path):
    fitted(folder, "grouped.csv", *WAYS["grouped.csv"])
    GROUPS.assign(died=[2, *GROUPS["died"][1:]]).to_csv(tmp_path / "other.csv", index=False)
    said = run_json("verify", folder / "m.json", tmp_path / "other.csv", code=1)
    assert "weights of the examples are not those of the fit" in said["reason"]


def test_the_checker_alone_reads_the_rows_with_their_weights(folder, capsys):
    fitted(folder, "grouped.csv", *WAYS["grouped.csv"])
    run("verify", folder / "m.json", folder / "grouped.csv", "--rows", folder / "rows.csv")
    assert checker.main([str(folder / "m.json"), str(folder / "rows.csv"), "--weights", "weight"]) == 0
    assert "Proven" in capsys.readouterr().out
    assert checker.main([str(folder / "m.json"), str(folder / "rows.csv")]) == 2


@pytest.mark.parametrize("memory", [(), ("--max-memory", "4GB")], ids=["in memory", "in parts"])
@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--successes", "n", "--trials", "died"], "row 1 has 20, which is more than there are in column 'died'"),
        (["--successes", "died"], "--successes and --trials belong together"),
        (["--target", "sex", "--weights", "dose", "--sample-weight", "n"], "give one of --weights, --sample-weight"),
        (["--target", "sex", "--weights", "sex"], "column 'sex' is --weights; do not give it another role"),
        (["--target", "sex", "--weights", "n", "--class-weight", "m=1,w=2"], "'w=2' is no pair of a class and its"),
        (["--target", "sex", "--class-weight", "m=-1"], "'-1' is no weight"),
        (["--target", "sex", "--class-weight", "m=2", "--balanced"], "--balanced would be ignored"),
        (["--target", "sex", "--successes", "died", "--trials", "n"], "--target would be ignored"),
        (["--target", "died", "--sample-weight", "sex"], "--sample-weight needs a number in each row"),
    ],
)
def test_weights_that_are_none_are_refused(folder, words, why, memory):
    assert why in run("fit", folder / "grouped.csv", *words, *memory, code=2)


def test_a_count_is_a_whole_number(folder, tmp_path):
    GROUPS.assign(n=2.5).to_csv(tmp_path / "t.csv", index=False)
    said = run("fit", tmp_path / "t.csv", "--target", "sex", "--weights", "n", code=2)
    assert "row 1 has 2.5, which is no whole number; for weights that are no counts say --sample-weight" in said


def test_class_weights_survive_odd_names():
    classes = ["a,b", "c=d", "=", "x, y=1", True, 3]
    words = ["a,b=2", "c=d=3,==4", "x, y=1=5, True=6", "3=7"]
    assert class_weights(words, classes) == {"a,b": 2, "c=d": 3, "=": 4, "x, y=1": 5, True: 6, 3: 7}
    assert class_weights(["balanced"], classes) == "balanced"
    assert class_weights([], classes) is None


def test_weights_are_read_as_other_numbers_of_the_file_are(tmp_path):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.normal(size=80).round(2), "w": rng.integers(1, 9000, 80) / 4, "y": ["a", "b"] * 40})
    frame.to_csv(tmp_path / "plain.csv", index=False)
    german = [f"{w:,.2f} €".translate(str.maketrans(",.", ".,")) for w in frame["w"]]
    frame.assign(x=frame["x"].map(lambda x: str(x).replace(".", ",")), w=german).to_csv(
        tmp_path / "german.csv", sep=";", index=False
    )
    told = [
        run_json("fit", tmp_path / name, "-t", "y", "--sample-weight", "w")["certificate"]
        for name in ("plain.csv", "german.csv")
    ]
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("", "column 'w': row 3 has no value; say how much it counts, 0 for not at all"),
        ("heavy", "column 'w': --sample-weight needs a number in each row; 'heavy' is none"),
    ],
)
def test_a_row_without_a_weight_is_named(tmp_path, value, told):
    frame = pd.DataFrame({"x": range(8), "w": ["1,5", "2", value, *"45678"], "y": ["a", "b"] * 4})
    frame.to_csv(tmp_path / "a.csv", sep=";", index=False)
    assert told in run("fit", tmp_path / "a.csv", "-t", "y", "--sample-weight", "w", code=2)


@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    """Patients with numbers of their own in digits and in text, who stand for one to five others."""
    place, rng = tmp_path_factory.mktemp("numbered"), np.random.default_rng(0)
    frame = pd.DataFrame({"case no": [f"{517 + 13 * k:07d}" for k in range(60)], "id": 900 - np.arange(60)})
    frame["age"], frame["times"] = rng.normal(60, 9, 60).round(), rng.integers(1, 6, 60)
    frame["remark"] = [" ".join(rng.choice(["no", "pain", "came", "late", "left", "early"], 4)) for _ in range(60)]
    frame["ill"] = np.where(frame["age"] + rng.normal(0, 9, 60) > 60, "yes", "no")
    frame.to_csv(place / "weighed.csv", index=False)
    frame = frame.drop(columns="ill").assign(died=frame["times"] - frame["times"] // 2)
    frame.to_csv(place / "grouped.csv", index=False)
    return place, frame


@pytest.mark.parametrize("memory", [(), ("--max-memory", "4GB")], ids=["in memory", "in parts"])
@pytest.mark.parametrize(
    ("name", "ways"),
    [
        ("weighed.csv", ("--target", "ill", "--weights", "times")),
        ("grouped.csv", ("--successes", "died", "--trials", "times")),
    ],
)
def test_what_names_the_rows_names_them_however_often_they_count(numbered, memory, name, ways):
    place, frame = numbered
    encoding = fitted(place, name, *ways, *memory)[1]["encoding"]
    kinds = {column["name"]: column["kind"] for column in encoding["columns"]}
    assert kinds == {"case no": "ignored", "id": "ignored", "age": "number", "remark": "text"}
    assert encoding["numbers"]["age"][0] == pytest.approx(np.average(frame["age"], weights=frame["times"]))
