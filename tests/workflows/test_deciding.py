"""`linsep fit --threshold --calibrate`: what is chosen, said, kept, predicted, exported, and refused."""

import json
import re
import sqlite3
import types

import duckdb
import numpy as np
import onnxruntime
import pandas as pd
import pytest
from sklearn import metrics

from command import call, run_json, spawn
from command import run as run_here
from customers import customers
from linsep import load, verify
from linsep.data.encoding import from_dict
from linsep.persistence.model_file import read
from linsep.selection.thresholds import Aim, Counts, cuts
from linsep.workflows.choosing import Asked, _folds
from linsep.workflows.preparation import prepare
from linsep.workflows.training import estimator

BASE = ("--target", "bought", "--ignore", "kind")

IN_MEMORY_OR_PARTS = [(), pytest.param(("--max-memory", "9GB"), marks=pytest.mark.slow)]


def run(*words, code=0):
    """Run a command: here, or where memory is limited, which is that of a process, in one of its own."""
    if "--max-memory" not in words:
        return run_here(*words, code=code)
    done = spawn(*words)
    assert done.code == code, done
    return (done.err if code else done.out).decode()


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    place = tmp_path_factory.mktemp("deciding") / "train.csv"
    customers().to_csv(place, index=False)
    return place


def encoded(path, table):
    """Return the features of a model's file for its training rows."""
    found = read(path)
    frame = prepare(table, "bought", kinds={"kind": "ignored"}, keep_frame=True)
    return found, from_dict(found.encoding).transform(frame.frame, "rows"), frame.y


@pytest.mark.filterwarnings("ignore:Perceptron did not converge")
@pytest.mark.parametrize(
    "words",
    [
        ("--threshold", "f1"),
        ("--threshold", "costs=1:5", "--loss", "hinge", "--folds", "3"),
        ("--threshold", "recall@precision=0.8", "--loss", "square", "--C", "auto", "--folds", "4"),
        ("--threshold", "balanced-accuracy", "--C", "inf"),
        ("--threshold", "accuracy", "--no-scaling"),
        ("--threshold", "precision@recall=0.9", "--loss", "perceptron"),
    ],
    ids=" ".join,
)
def test_the_threshold_is_the_best_of_scores_out_of_fold(table, tmp_path, words):
    """With the folds of --C auto, each encoded by its own training rows and fitted apart."""
    run("fit", table, *BASE, *words, "-o", tmp_path / "m.json", code=int("perceptron" in words))
    options = dict(zip(words[::2], words[1::2], strict=False))
    model, scaled = load(tmp_path / "m.json"), "--no-scaling" not in words and options.get("--C") != "inf"
    examples = prepare(table, "bought", kinds={"kind": "ignored"}, keep_frame=True, scaled=scaled)
    count = int(options.get("--folds", 5))
    C = {} if options.get("--loss") == "perceptron" else {"C": model.C}
    scores = np.empty(len(examples.y))
    for train, test in _folds(examples.y, Asked(folds=count)):
        X_train, X_test = examples.split(train, test)
        fitted = estimator(options.get("--loss", "logistic"), **C).fit(X_train, examples.y[train])
        scores[test] = fitted.decision_function(X_test)
    aim, at = Aim.parse(options["--threshold"]), cuts(scores)
    best = aim.best(at, Counts.at(at, scores, examples.y == "yes"))
    assert model.threshold_ == pytest.approx(best, rel=1e-6)
    assert model.threshold_choice_["aim"] == str(aim)
    assert model.threshold_choice_["folds"] == count


def test_what_is_predicted_measured_and_told_is_cut_there(table, tmp_path):
    said = run("fit", table, *BASE, "--threshold", "precision@recall=0.95", "-o", tmp_path / "m.json")
    found, X, y = encoded(tmp_path / "m.json", table)
    expected = np.where(found.model.decision_function(X) >= found.threshold, "yes", "no")
    accuracy = (expected == y).mean()
    assert f"accuracy    {accuracy:.4f} on these rows" in said
    p = 1 / (1 + np.exp(-found.threshold))
    words = f"yes is predicted where the score is at least {found.threshold:.6g}, its probability at least {p:.4g}"
    assert f"threshold   {words}\n" in said
    assert "chosen      for precision@recall=0.95 of yes on 500 out-of-fold scores: precision 0." in said
    assert "where each fold is cut by what the others choose" in said
    assert words in run("explain", tmp_path / "m.json")
    run("predict", tmp_path / "m.json", table, "-o", tmp_path / "p.csv")
    assert pd.read_csv(tmp_path / "p.csv")["prediction"].tolist() == expected.tolist()
    measured = run_json("evaluate", tmp_path / "m.json", table)
    assert measured["accuracy"]["value"] == pytest.approx(accuracy)
    assert measured["recall"]["value"] == pytest.approx(metrics.recall_score(y, expected, pos_label="yes"))
    assert run_json("report", tmp_path / "m.json", table, "-o", tmp_path / "r.html")["accuracy"] == pytest.approx(
        accuracy
    )
    page = (tmp_path / "r.html").read_text()
    assert "It was chosen for precision@recall=0.95 of yes on 500 out-of-fold scores" in page
    assert f"in use: {p:.4g}" in page
    run("verify", tmp_path / "m.json", table)
    module = types.ModuleType("classifier")
    exec(run("export", tmp_path / "m.json", "--to", "python"), module.__dict__)
    rows = pd.read_csv(table).replace({np.nan: None}).to_dict("records")
    assert [module.predict(row) for row in rows] == expected.tolist()


@pytest.mark.parametrize(
    ("words", "score"),
    [
        (("--threshold", "0.25"), np.log(0.25 / 0.75)),
        (("--loss", "hinge", "--threshold", "-0.5"), -0.5),
        (("--loss", "hinge", "--threshold=1.5"), 1.5),
        (("--loss", "modified_huber", "--threshold", "0.7"), 0.7),
    ],
    ids=str,
)
def test_a_number_is_a_probability_where_there_are_some_and_else_a_score(table, tmp_path, words, score):
    record = run_json("fit", table, *BASE, *words, "-o", tmp_path / "m.json")
    assert load(tmp_path / "m.json").threshold_ == pytest.approx(score) == record["threshold"]["score"]
    assert record["threshold"]["choice"] is None


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_a_number_is_a_probability_of_a_calibrated_model(table, tmp_path, method):
    words = ("--loss", "hinge", "--calibrate", method, "--threshold", "0.3")
    said = run("fit", table, *BASE, *words, "-o", tmp_path / "m.json")
    found, X, _ = encoded(tmp_path / "m.json", table)
    model = found.model
    np.testing.assert_array_equal(model.predict(X) == "yes", model.predict_proba(X)[:, 1] >= 0.3)
    how = {"sigmoid": "Platt's sigmoid", "isotonic": "isotonic regression"}[method]
    assert f"probability by {how} of 500 out-of-fold scores, 5 folds" in said
    assert "its probability at least 0.3\n" in said
    run("predict", tmp_path / "m.json", table, "--proba", "-o", tmp_path / "p.csv")
    np.testing.assert_allclose(pd.read_csv(tmp_path / "p.csv")["probability_yes"], model.predict_proba(X)[:, 1])


def test_several_classes_have_probabilities(table, tmp_path):
    words = ("--target", "kind", "--ignore", "bought", "--loss", "hinge", "--calibrate", "sigmoid")
    run("fit", table, *words, "-o", tmp_path / "m.json")
    run("predict", tmp_path / "m.json", table, "--proba", "-o", tmp_path / "p.csv")
    shares = pd.read_csv(tmp_path / "p.csv").filter(like="probability_")
    assert list(shares) == ["probability_bronze", "probability_gold", "probability_silver"]
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


@pytest.mark.parametrize("memory", IN_MEMORY_OR_PARTS, ids=["in memory", "in parts"])
@pytest.mark.parametrize("weights", [("--balanced",), ("--class-weight", "yes=9", "no=1")], ids=" ".join)
def test_weights_of_classes_are_taken_out_of_probabilities(table, tmp_path, memory, weights):
    said = run("fit", table, *BASE, *weights, *memory, "-o", tmp_path / "m.json")
    found, X, y = encoded(tmp_path / "m.json", table)
    assert "without the weights of the classes (--calibrate none keeps them)" in said
    counts = [(y == "no").sum(), (y == "yes").sum()]
    ratio = 9.0 if "yes=9" in weights else counts[0] / counts[1]
    odds = found.model.decision_function(X) - np.log(ratio)
    np.testing.assert_allclose(found.model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-odds)))
    # The mean of what is said is near what came true, which it is not with the weights.
    assert found.model.predict_proba(X)[:, 1].mean() == pytest.approx((y == "yes").mean(), abs=0.03)
    run("verify", tmp_path / "m.json", table)
    run("fit", table, *BASE, *weights, *memory, "--calibrate", "none", "-o", tmp_path / "plain.json")
    plain = load(tmp_path / "plain.json")
    np.testing.assert_allclose(plain.predict_proba(X)[:, 1], 1 / (1 + np.exp(-found.model.decision_function(X))))


@pytest.mark.parametrize("memory", IN_MEMORY_OR_PARTS, ids=["in memory", "in parts"])
def test_base_rates_are_those_of_where_the_model_is_used(table, tmp_path, memory):
    words = (*BASE, "--base-rates", "yes=0.05", *memory, "--threshold", "recall@precision=0.3")
    said = run("fit", table, *words, "-o", tmp_path / "m.json")
    found, X, y = encoded(tmp_path / "m.json", table)
    assert "by the log odds of the fit, corrected to base rates of 0.95, 0.05\n" in said
    assert "out-of-fold scores at the base rates no=0.95, yes=0.05: recall 0." in said
    odds = found.model.decision_function(X) + np.log(0.05 / 0.95) - np.log((y == "yes").sum() / (y == "no").sum())
    np.testing.assert_allclose(found.model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-odds)))
    assert found.model.threshold_choice_["precision"] >= 0.3
    run("verify", tmp_path / "m.json", table)


HOW = [(), ("--calibrate", "isotonic"), ("--loss", "hinge", "--calibrate", "sigmoid")]


@pytest.mark.parametrize("how", HOW, ids=str)
@pytest.mark.parametrize("target", ["bought", "kind"])
def test_exports_of_a_table_have_the_same_probabilities(table, tmp_path, how, target):
    words = ("--target", target, "--ignore", "kind" if target == "bought" else "bought", "--balanced", *how)
    run("fit", table, *words, "-o", tmp_path / "m.json")
    run("predict", tmp_path / "m.json", table, "--proba", "-o", tmp_path / "p.csv")
    told, rows = pd.read_csv(tmp_path / "p.csv"), pd.read_csv(table)
    shares = list(told)[1:]
    module = types.ModuleType("classifier")
    exec(run("export", tmp_path / "m.json", "--to", "python"), module.__dict__)
    given = rows.astype(object).where(rows.notna(), None).to_dict("records")
    by_python = pd.DataFrame([module.probabilities(row) for row in given]).add_prefix("probability_")
    query = f"SELECT {run('export', tmp_path / 'm.json', '--to', 'sql')} FROM rows"
    with sqlite3.connect(":memory:") as base:
        rows.to_sql("rows", base, index=False)
        by_sqlite = pd.read_sql(query, base)
    by_duckdb = duckdb.sql(query).df()
    run("export", tmp_path / "m.json", "--to", "onnx", "-o", tmp_path / "m.onnx")
    session, feed = onnxruntime.InferenceSession(tmp_path / "m.onnx"), {}
    for one in session.get_inputs():
        column = rows[[one.name]]
        feed[one.name] = column.fillna("").to_numpy(object) if "string" in one.type else column.to_numpy(float)
    by_onnx = pd.DataFrame(session.run(["probabilities"], feed)[0], columns=shares)
    for found in (by_python, by_sqlite, by_duckdb, by_onnx):
        np.testing.assert_allclose(found[shares], told[shares], atol=1e-9)
    assert by_sqlite["prediction"].tolist() == by_duckdb["prediction"].tolist() == told["prediction"].tolist()


@pytest.mark.slow
def test_files_larger_than_memory_decide_on_the_rows_there_is_room_for(table, tmp_path):
    words = (*BASE, "--loss", "hinge", "--calibrate", "sigmoid", "--threshold", "f1")
    run("fit", table, *words, "-o", tmp_path / "a.json")
    run("fit", table, *words, "--max-memory", "9GB", "-o", tmp_path / "b.json")
    a, b = load(tmp_path / "a.json"), load(tmp_path / "b.json")
    assert b.calibration_.rows == b.threshold_choice_["rows"] == 500  # all of them
    # Here columns are encoded once, by all rows: the same but for what a fold's own rows say of a mean.
    assert b.calibration_.maps[0].slope == pytest.approx(a.calibration_.maps[0].slope, rel=0.05)
    assert b.threshold_choice_["value"] == pytest.approx(a.threshold_choice_["value"], abs=0.02)
    run("verify", tmp_path / "b.json", table)


def test_rows_that_count_are_weighed(tmp_path):
    """Rows of a count are so many rows, also out of fold: the weights are those of the fit."""
    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0] * 10, "n": [1, 2, 3, 4] * 10, "y": ["a", "b", "a", "b"] * 10})
    frame.to_csv(tmp_path / "t.csv", index=False)
    record = run_json("fit", tmp_path / "t.csv", "--target", "y", "--weights", "n", "--threshold", "accuracy")
    assert record["threshold"]["choice"]["value"] == pytest.approx(0.8)  # 1 + 3 + 4 of 10, and 3 of 4 rows
    assert record["threshold"]["choice"]["rows"] == 40


def test_test_rows_are_measured_as_they_are_cut(table, tmp_path):
    words = ("--threshold", "recall@precision=0.9", "--test-share", "0.3", "-o", tmp_path / "m.json")
    record = run_json("fit", table, *BASE, *words)
    measured = run_json("evaluate", tmp_path / "m.json", table)
    assert record["test"]["precision"] == measured["precision"]
    assert record["threshold"]["choice"]["rows"] == record["rows"]
    assert measured["rows"] == 500 - record["rows"] < 160


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--threshold", "luck"), "--threshold luck is no threshold: give a number, or an aim: accuracy, balanced-acc"),
        (("--threshold", "1.5"), "this model has probabilities, give one between 0 and 1, or an aim"),
        (("--threshold", "0", "--loss", "hinge", "--calibrate", "sigmoid"), "give one between 0 and 1"),
        (("--threshold", "nan", "--loss", "hinge"), "give a finite number"),
        (("--threshold", "costs=1:x"), "is no threshold"),
        (("--threshold", "recall@precision=2"), "precision is a share of rows"),
        (("--threshold", "0.5", "--folds", "3"), "--folds and --rule would be ignored"),
        (("--threshold", "f1", "--folds", "1"), "--folds 1 is too few"),
        (("--threshold", "f1", "--rule", "1se"), "would be ignored"),
        (("--calibrate", "luck"), "luck"),
        (("--base-rates", "yes=0.1", "--loss", "hinge"), "--base-rates would be ignored"),
        (("--base-rates", "yes=0.1", "--calibrate", "none"), "--base-rates would be ignored"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_before_the_file_is_read(tmp_path, words, says):
    said = run("fit", tmp_path / "none.csv", *BASE, *words, code=2)
    assert says in said
    assert "none.csv" not in said


def test_what_the_labels_cannot_have_is_refused_before_the_fit(table, tmp_path):
    for words in (("--threshold", "f1"), ("--threshold", "0.5", "--max-memory", "9GB")):
        assert "--threshold is for two classes; of 3" in run("fit", table, "--target", "kind", *words, code=2)
    for rates in (("yes=1.5",), ("maybe=0.5",), ("yes=0.5", "no=0.4"), ("balanced",)):
        assert f"--base-rates {rates[0]}" in run("fit", table, *BASE, "--base-rates", *rates, code=2)
    pd.DataFrame({"x": range(9), "y": ["a"] * 8 + ["b"]}).to_csv(tmp_path / "rare.csv", index=False)
    said = run("fit", tmp_path / "rare.csv", "--target", "y", "--calibrate", "sigmoid", code=2)
    assert "--calibrate takes at least two rows of each class" in said
    assert "b has one" in said


def test_an_aim_that_cannot_be_met_says_what_can(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": np.r_[rng.normal(size=60), 9.0, 9.0], "y": ["a", "b"] * 30 + ["a", "a"]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = ("fit", tmp_path / "t.csv", "--target", "y", "-o", tmp_path / "m.json", "--threshold")
    said = run(*words, "recall@precision=0.999", code=2)
    assert "cannot be met: out of fold the precision of b reaches 0." in said
    assert not (tmp_path / "m.json").exists()
    reached = said.split("ask for precision=")[1].split(" ")[0]
    run(*words, f"recall@precision={reached}")


def test_help_names_the_aims():
    said = " ".join(run("fit", "--help").replace("│", " ").split())
    for word in ("costs=1:5", "recall@precision=0.9", "precision@recall=0.8", "balanced-accuracy", "isotonic"):
        assert word in said


def test_a_loaded_model_is_proven_as_it_predicts(table, tmp_path):
    run("fit", table, *BASE, "--threshold", "0.8", "-o", tmp_path / "m.json")
    found, X, y = encoded(tmp_path / "m.json", table)
    outcome = verify(found.model, X, y)
    assert outcome.proven
    assert "predictions are cut at 1.38629, not at 0" in outcome.reason
    assert json.loads((tmp_path / "m.json").read_text())["threshold"] == found.model.threshold_


def test_of_three_classes_it_is_said_that_the_highest_score_need_not_be_the_likeliest(table, tmp_path):
    words = "fit", table, "--target", "kind", "--ignore", "bought", "-o", tmp_path / "m.json"
    need = "the class with the highest score is predicted, which need not be the one with the highest probability"
    assert need in run(*words, "--calibrate", "sigmoid", "--balanced")
    assert need in run("explain", tmp_path / "m.json")
    assert "highest score" not in run(*words)
    assert "need not" not in run("explain", tmp_path / "m.json")


def test_a_probability_that_no_row_reaches_is_named(table, tmp_path):
    words = "--calibrate", "isotonic", "--threshold", "0.99999"
    said = run("fit", table, *BASE, *words, "--loss", "hinge", code=2)
    assert "--threshold 0.99999 parts no rows: probabilities go from" in said


def test_an_aim_is_about_the_class_that_it_names_and_says_which_one_that_is(table, tmp_path):
    rows = pd.read_csv(table)
    rare = pd.concat([rows[rows["bought"] == "yes"], rows[rows["bought"] == "no"][:60]])  # "no" < "yes", and rare
    rare.to_csv(tmp_path / "a.csv", index=False)
    said = call("fit", tmp_path / "a.csv", *BASE, "--threshold", "costs=1:20")
    assert "--threshold costs=1:20 is about yes, the second class; where no is to be found, say" in said.err.decode()
    assert "chosen      for costs=1:20 of yes on" in said.out.decode()
    said = call("fit", tmp_path / "a.csv", *BASE, "--threshold", "costs=1:20 of no", "-o", tmp_path / "m.json")
    assert "the second class" not in said.err.decode()
    assert "chosen      for costs=1:20 of no on" in said.out.decode()
    found = run_json("evaluate", tmp_path / "m.json", tmp_path / "a.csv")
    assert found["by_class"][0]["label"] == "no"
    assert found["by_class"][0]["recall"]["value"] > 0.9  # each miss costs as much as twenty alarms
    told = run("evaluate", tmp_path / "m.json", tmp_path / "a.csv")
    for name, title in ("precision", "precision"), ("recall", "recall"), ("f1", "F1"):
        for one in found["by_class"]:
            assert re.search(rf"^{title} of {one['label']} +{one[name]['value']:.4f} ", told, re.MULTILINE)
    assert "no class is called No; there are no and yes" in run(
        "fit", tmp_path / "a.csv", *BASE, "--threshold", "f1 of No", code=2
    )
