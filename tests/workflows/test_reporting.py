"""`linsep report`: a model file and a table, told in the table's own columns, scales and rows."""

import json
import os
import subprocess
import sys
from html import unescape
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv
from sklearn.exceptions import ConvergenceWarning

from command import call
from linsep import LogisticRegression, SGDClassifier, save
from linsep.data.encoding import from_dict
from linsep.data.sources import DataError
from linsep.persistence.model_file import read
from linsep.report import render
from linsep.workflows.explaining import explanation_record, explanation_text
from linsep.workflows.preparation import prepare
from linsep.workflows.reference import Reference
from linsep.workflows.reporting import report_model, report_record, report_text
from linsep.workflows.training import kept_encoding

COMMAND = Path(sys.executable).with_name("linsep.exe" if os.name == "nt" else "linsep")


def table(seed, n=120):
    rng = np.random.default_rng(seed)
    height, town = rng.normal(170.0, 10.0, n), rng.choice(["<b>Ede</b>", "Ulm"], n)
    score = (height - 170) / 10 + (town == "Ulm") + rng.normal(0.0, 0.7, n)
    label = np.where(score > 0.3, "tall", "short").astype(object)
    label[0] = None
    return pa.table({"id": [f"p{i}" for i in range(n)], "height": height, "town": town, "label": label})


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Training and test data, and a model."""
    folder = tmp_path_factory.mktemp("files")
    for seed, name in enumerate(("train.csv", "test.csv")):
        csv.write_csv(table(seed), folder / name)
    examples = prepare(folder / "train.csv", "label")
    model = LogisticRegression().fit(examples.X, examples.y)
    data = (examples.X, examples.y)
    save(model, folder / "model.json", data=data, encoding=kept_encoding(examples, model, Reference()))
    return folder


@pytest.fixture(scope="module")
def content(files):
    found = read(files / "model.json")
    return report_model(found, files / "test.csv", None, model=files / "model.json", train=files / "train.csv")


def test_rows_are_those_of_the_file(files, content):
    frame = csv.read_csv(files / "test.csv").to_pylist()
    rows = [row for row in frame if row["label"]]
    assert content.mistakes
    for mistake in content.mistakes:
        row, cells = rows[mistake.row - 1], dict(mistake.cells)
        assert set(cells) == {"height", "town", "id"}, "the label is told above them"
        ranked = sorted(mistake.pushes, key=lambda name: -abs(mistake.pushes[name]))
        assert list(cells)[: len(ranked)] == ranked, "what matters the most for the row comes first"
        assert set(ranked) <= {"height", "town"}
        assert (cells["id"], cells["town"], mistake.truth) == (row["id"], row["town"], row["label"])
    assert "not counted in row numbers" in content.notes[0]
    assert "&lt;b&gt;Ede&lt;/b&gt;" in render(content)
    assert "<b>Ede" not in render(content)


def test_weights_are_told_per_unit_of_the_column_too(files, content):
    found = read(files / "model.json")
    (plane,) = content.weights
    scale = csv.read_csv(files / "train.csv").filter(pa.compute.field("label") != "")["height"].to_numpy().std()
    k = plane.names.index("height")
    assert plane.per_unit[k] == pytest.approx(plane.weights[k] / scale)
    heights, towns = np.array([150.0, 190.0]), plane.names.index("town = Ulm")
    score = plane.per_unit[k] * heights + plane.per_unit[towns] + plane.intercept_at_zero
    rows = pa.table({"height": heights, "town": ["Ulm", "Ulm"]})
    expected = found.model.decision_function(from_dict(found.encoding).transform(rows))
    np.testing.assert_allclose(score, expected)


def test_importance_is_the_same_in_report_and_explanation(files, content):
    found = read(files / "model.json")
    told = explanation_record(found)["planes"][0]
    (plane,) = content.weights
    assert plane.names == [row["feature"] for row in told["coefficients"]]
    np.testing.assert_array_equal(plane.importance, [row["importance"] for row in told["coefficients"]])
    assert plane.columns == [(row["column"], row["importance"]) for row in told["columns"]]
    assert "standard deviation of what it adds to the score" in render(content)
    assert "standard deviation of what it adds to the score" in explanation_text(found)


def test_what_is_known_of_the_rows_is_said(files, content):
    found = read(files / "model.json")
    assert content.unseen is True
    same = report_model(found, files / "train.csv", "label", model=files / "model.json")
    assert same.unseen is False
    assert "fitted on these very rows" in render(same)
    assert f"linsep verify {files / 'model.json'} {files / 'train.csv'}" in unescape(render(content))
    assert same.recheck.endswith(f"{files / 'train.csv'} --target label"), "these rows are known to be those of the fit"
    other = report_model(found, files / "test.csv", "label", model=files / "model.json")
    assert other.recheck.endswith("TRAINING_DATA --target label")


def test_how_the_fit_went_is_told_from_the_file(files, content):
    found = read(files / "model.json")
    (journey,) = content.journeys
    np.testing.assert_array_equal(journey.step, found.model.history_["step"])
    np.testing.assert_array_equal(journey.series["objective"], found.model.history_["objective"])
    assert journey.gap[-1] == pytest.approx(found.model.certificate_.relative_gap)
    assert "Share of mistakes by step" in render(content)
    assert journey.series["zero_one"][0] == 1, "all rows lie on the plane of weights 0, where nobody is half right"
    assert "a row on the plane itself, is one too" in render(content)


def test_a_long_fit_is_told_in_few_steps_and_says_so(files, tmp_path):
    examples = prepare(files / "train.csv", "label")
    with pytest.warns(ConvergenceWarning, match="max_iter=500"):
        model = SGDClassifier("hinge", max_iter=500, stopping=None, random_state=0).fit(examples.X, examples.y)
    save(model, tmp_path / "model.json", encoding=examples.encoding.to_dict())
    told = report_model(read(tmp_path / "model.json"), files / "test.csv", None, model=tmp_path / "model.json")
    drawn = len(told.journeys[0].step)
    assert 100 <= drawn <= 200
    assert f"{drawn} of the 501 recorded steps are drawn" in render(told)


def test_training_data_that_are_others_are_refused(files):
    found = read(files / "model.json")
    with pytest.raises(DataError, match=r"test\.csv: not what the model was fitted on"):
        report_model(found, files / "test.csv", None, model=files / "model.json", train=files / "test.csv")


def test_sparse_text_files_name_their_features(tmp_path):
    lines = [f"{k % 2} 1:{k % 7} {2 + k % 2}:1" for k in range(40)]
    (tmp_path / "data.svm").write_text("\n".join(lines))
    examples = prepare(tmp_path / "data.svm", None)
    model = LogisticRegression().fit(examples.X, examples.y)
    save(model, tmp_path / "model.json", encoding=examples.encoding.to_dict())
    found = report_model(read(tmp_path / "model.json"), tmp_path / "data.svm", None, model=tmp_path / "model.json")
    assert found.unseen is None
    assert found.weights[0].per_unit is None
    assert found.weights[0].names[0] in ("feature 2", "feature 3")


def test_the_command_writes_a_page_and_prints_where(files, tmp_path, content):
    words = [COMMAND, "report", files / "model.json", files / "test.csv", "-o", tmp_path / "report.html"]
    done = subprocess.run([*words, "--json"], capture_output=True, encoding="utf-8", timeout=300, check=True)
    record = json.loads(done.stdout)
    assert record["bytes"] == (tmp_path / "report.html").stat().st_size < 3_000_000
    assert record["proven"]
    assert record["mistakes"] == content.n_mistakes
    assert record["accuracy"] == content.evaluation.measures["accuracy"].value
    assert "1 row without a value in 'label' is left out" in done.stderr


def test_a_file_that_is_not_there_is_named(files):
    with pytest.raises((DataError, OSError), match=r"nowhere\.csv"):
        report_model(read(files / "model.json"), files / "nowhere.csv", None, model=files / "model.json")


def test_people_and_programs_are_told_the_same(files, tmp_path, content):
    output = tmp_path / "report.html"
    output.write_text("x")
    text, record = report_text(content, output), report_record(content, output)
    assert f"{record['accuracy']:.4f} on 119 rows, {record['mistakes']} mistakes" in text
    truth = [row["label"] for row in csv.read_csv(files / "test.csv").to_pylist() if row["label"]]
    assert record["accuracy"] == pytest.approx(1 - record["mistakes"] / len(truth))
    json.dumps(record)


def test_a_coefficient_without_a_finite_estimate_is_infinite_in_the_report_too(tmp_path):
    groups = {"A": "no yes no yes", "B": "yes no yes no", "D": "yes yes yes yes"}
    rows = [f"{group},{k},{y}" for group, labels in groups.items() for k, y in enumerate(labels.split())]
    (tmp_path / "t.csv").write_text("\n".join(["group,x,y", *rows]))
    words = ["fit", tmp_path / "t.csv", "--target", "y", "--numeric", "x", "--C", "inf", "-o", tmp_path / "m.json"]
    call(*words)
    page = render(report_model(read(tmp_path / "m.json"), tmp_path / "t.csv", None, model=tmp_path / "m.json"))
    row = page.split("group = D</th>")[1].split("</tr>")[0]
    assert ">+∞<" in row
    assert ">∞<" in row
