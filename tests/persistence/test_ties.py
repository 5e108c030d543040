"""A score of exactly 0 is the first class wherever predictions are told: in files, exports, words and reports."""

import sqlite3
import types

import duckdb
import numpy as np
import onnxruntime
import pytest

from linsep import LinearSVC, LogisticRegression, save
from linsep.analysis.evaluation import decide, evaluate
from linsep.data.encoding import MatrixEncoding
from linsep.persistence import model_file
from linsep.persistence.onnx_graph import to_onnx
from linsep.persistence.python_source import to_python
from linsep.persistence.sql import to_sql
from linsep.report.content import compute, render
from linsep.workflows.explaining import explanation_record

ROWS = np.array([[0.0, 0.0], [2.0, 0.0], [-2.0, 0.0], [0.0, 0.0]])
TRUTH = np.array(["low", "up", "low", "up"])


@pytest.fixture(params=["logistic", "svm", "softmax", "rest"])
def model(request):
    """A model through the origin, where all its scores are 0."""
    X, two = np.array([[-1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [1.0, -1.0]]), ["low", "low", "up", "up"]
    if request.param in ("logistic", "svm"):
        kind = LogisticRegression if request.param == "logistic" else LinearSVC
        return kind(fit_intercept=False).fit(X, two)
    kind = "auto" if request.param == "softmax" else "ovr"
    return LogisticRegression(fit_intercept=False, multi_class=kind).fit(X, ["low", "mid", "up", "up"])


def stored(model, path, **more):
    save(model, path, encoding=MatrixEncoding(2, columns=["x0", "x1"]).to_dict(), **more)
    return model_file.read(path)


def by_python(found):
    module = types.ModuleType("classifier")
    exec(to_python(found), module.__dict__)
    return [module.predict({"x0": a, "x1": b}) for a, b in ROWS]


def by_sql(connect, found):
    with connect(":memory:") as base:
        base.execute("CREATE TABLE t (n INTEGER, x0 DOUBLE, x1 DOUBLE)")
        base.executemany("INSERT INTO t VALUES (?, ?, ?)", [(k, *row) for k, row in enumerate(ROWS.tolist())])
        return [row[0] for row in base.execute(f"SELECT {to_sql(found)} FROM t ORDER BY n").fetchall()]


def by_onnx(found):
    session = onnxruntime.InferenceSession(to_onnx(found))
    inputs = [one.name for one in session.get_inputs()]
    feed = {inputs[0]: ROWS} if len(inputs) == 1 else {f"x{j}": ROWS[:, [j]] for j in range(2)}
    return list(session.run(["label"], feed)[0])


def everywhere(found):
    yield decide(found.model, ROWS, found.threshold).tolist()
    yield by_python(found)
    yield by_onnx(found)
    yield from (by_sql(connect, found) for connect in (sqlite3.connect, duckdb.connect))


def test_m1_a_score_of_0_is_the_first_class_in_files_and_exports(model, tmp_path):
    found = stored(model, tmp_path / "model.json")
    assert not model.decision_function(ROWS[[0, 3]]).any()
    expected = model.predict(ROWS).tolist()
    assert expected[0] == expected[3] == "low"
    for said in everywhere(found):
        assert said == expected


def test_m16_a_score_that_reaches_a_threshold_of_ones_own_is_the_second_class(tmp_path):
    model = LogisticRegression(fit_intercept=False).fit([[-1.0, 0.0], [1.0, 0.0]], ["low", "up"])
    for said in everywhere(stored(model, tmp_path / "model.json", threshold=0.0)):
        assert said == ["up", "up", "low", "up"]


def test_m1_explain_and_report_say_and_count_the_same(tmp_path):
    X, y = [[-1.0, 0.0], [1.0, 0.0]], ["low", "up"]
    for kind, words in ((LogisticRegression, "its probability is above 0.5 (the score is above 0)"), (LinearSVC, "")):
        model = kind(fit_intercept=False).fit(X, y)
        told = explanation_record(stored(model, tmp_path / "model.json"))
        assert told["threshold_in_words"].startswith("up is predicted where the score is above 0")
        found = compute(model, ROWS, TRUTH, training=(X, y))
        accuracy = model.score(ROWS, TRUTH)
        assert accuracy == evaluate(model, ROWS, TRUTH).measures["accuracy"].value == 0.75
        assert found.curve.at_chosen == {"accuracy": accuracy, "precision": 1.0, "recall": 0.5}
        assert [values for at, values in found.curve.table if at == 0] == [found.curve.at_chosen]
        page = render(found)
        assert (words or "up is said where the score is above 0: ") in page
        at_0 = compute(model, ROWS, TRUTH, training=(X, y), threshold=0.0)
        assert at_0.curve.at_chosen == {"accuracy": 0.75, "precision": 2 / 3, "recall": 1.0}
        assert "the score is at least 0" in render(at_0)
