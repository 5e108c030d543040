"""What the commands say where something is wrong."""

import json
from pathlib import Path

import numpy as np
import pytest

from command import call, run, run_json
from customers import customers


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["fit", "train.csv"], "say which column to predict with --target; it has age, income, town"),
        (["explain", "m.json", "train.csv"], "train.csv': more than this command takes without an option."),
        (["fit", "train.csv", "--target", "sold"], "no column 'sold'; it has age"),
        (["fit", "nothing.csv", "--target", "y"], "nothing.csv: no such file"),
        (["fit", "train.csv", "--target", "income"], "measurements"),
        (
            ["fit", "train.csv", "--target", "bought", "--loss", "huge"],
            "--loss huge is not known; use one of perceptron, hinge",
        ),
        (["fit", "train.csv", "--target", "bought", "--C", "-1"], "--C -1 is not possible"),
        (["fit", "train.csv", "--target", "bought", "--text", "nope"], "no column 'nope'"),
        (["fit", "train.csv", "--target", "bought", "--ignore", "bought"], "is the target"),
        (
            ["fit", "one.csv", "--target", "y"],
            "all of its 3 rows are 1; a classifier needs examples of at least two classes",
        ),
        (["predict", "model.json", "one.csv"], "no column 'age', which the model needs; it has x, y"),
        (["predict", "train.csv", "train.csv"], "train.csv"),
        (["fit", "train.csv", "--target"], "--target"),
        (["predict", "model.json", "test.csv", "-o", "no/such/folder.csv"], "no such folder"),
        (["predict", "model.json", "test.csv", "-o", "out.doc"], "the ending .doc is not known"),
        (["evaluate", "model.json", "test.csv", "--target", "kind"], "which the model does not know; it knows no, yes"),
        (["export", "model.json", "--to", "onnx"], "say where to write with -o"),
        (["fit", "train.csv", "--target", "bought", "-o", "train.csv"], "which would overwrite it"),
        (["fit", "train.csv", "--target", "bought", "-o", "no/such/folder.json"], "no such folder"),
        (["predict", "model.json", "test.csv", "-o", "model.json"], "which would overwrite it"),
        (["fit", "train.csv", "--target", "bought", "--delimiter", "ab"], "--delimiter 'ab' is not possible"),
        (["fit", "train.csv", "--target", "bought", "--date", "plan"], "line 2, column 'plan': "),
        (["fit", "empty.csv", "--target", "y"], "empty.csv: it is empty"),
        (["fit", "infinite.csv", "--target", "y"], "infinite.csv line 4, column 'x': '-inf' is not a finite number"),
        (["fit", "infinite.csv", "--target", "y", "--max-memory", "9GB"], "infinite.csv line 4, column 'x': '-inf'"),
        (["fit", "high.svm"], "column numbers go up to 2,147,483,640, for which there is no memory"),
        (["fit", "bare.svm"], "no row has a value"),
        (["fit", "bare.svm", "--max-memory", "9GB", "-o", "m.json"], "no row has a value"),
        (["evaluate", "model.json", "unknown.csv"], "unknown.csv, column 'bought': no row has a label"),
        (["verify", "model.json", "unknown.csv"], "unknown.csv, column 'bought': no row has a label"),
        (["fit", "halves.csv", "--target", "y"], "halves.csv, column 'y': these are measurements, 0.5 for one"),
        (["fit", "halves.csv", "--target", "y", "--max-memory", "9GB", "-o", "m.json"], "these are measurements, 0.5"),
    ],
)
def test_bad_usage_is_a_line_or_two_and_exit_code_two(folder, arguments, complaint):
    (folder / "empty.csv").write_text("\n\n")
    (folder / "high.svm").write_text("1 2147483640:1\n-1 1:1\n")
    (folder / "bare.svm").write_text("1\n-1\n")
    (folder / "unknown.csv").write_text("age,income,town,plan,bought\n1,2,Ede,plus,\n")
    (folder / "infinite.csv").write_text("x,y\n1,1\n2,\n-inf,1\n4,2\n")  # the row without a label counts as well
    (folder / "halves.csv").write_text("x,y\n1,0.5\n2,1.5\n3,0.5\n")
    (folder / "one.csv").write_text("x,y\n1,1\n2,1\n3,1\n")
    names = {path.name for path in folder.iterdir()}
    arguments = [str(folder / word) if word.endswith((".csv", ".json", ".doc", ".svm")) else word for word in arguments]
    message = run(*arguments, code=2)
    assert complaint in message
    for_programs = call(*arguments, "--json")
    assert for_programs.code == 2
    assert json.loads(for_programs.out)["error"] in for_programs.err.decode()
    assert len(message.strip().splitlines()) <= 2
    assert {path.name for path in folder.iterdir()} == names, "nothing half-written is left behind"


@pytest.mark.slow
def test_a_column_that_changes_type_far_down_is_named_with_its_line(tmp_path):
    rows = np.random.default_rng(0).standard_normal((120_000, 2)).round(4)
    lines = [f"{p},{q},{int(p > q)}" for p, q in rows]
    (tmp_path / "good.csv").write_text("\n".join(["p,q,y", *lines[:500]]) + "\n")
    lines[110_000] = "0.5,n/k,1"
    (tmp_path / "late.csv").write_text("\n".join(["p,q,y", *lines]) + "\n")
    complaint = run("fit", tmp_path / "late.csv", "--target", "y", "-o", tmp_path / "m.json", code=2)
    assert "late.csv line 110002, column 'q': 'n/k' is not a number" in complaint
    run("fit", tmp_path / "good.csv", "--target", "y", "-o", tmp_path / "m.json")
    complaint = run("predict", tmp_path / "m.json", tmp_path / "late.csv", "-o", tmp_path / "out.csv", code=2)
    assert "late.csv line 110002, column 'q': 'n/k' is not a number" in complaint
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good.csv", "late.csv", "m.json"]


def test_a_header_in_another_encoding(tmp_path):
    (tmp_path / "names.csv").write_bytes("âge,y\n1,no\n2,yes\n3,yes\n4,no\n".encode("latin-1"))
    assert "names.csv: it is not utf-8 text" in run("fit", tmp_path / "names.csv", "--target", "y", code=2)
    assert "âge" in run("fit", tmp_path / "names.csv", "--target", "y", "--encoding", "latin-1")


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="the system has no device that is always full")
def test_a_full_disk_is_said_and_a_device_stays_a_device(folder):
    for words in (
        ("fit", folder / "train.csv", "--target", "bought"),
        ("predict", folder / "model.json", folder / "test.csv"),
        ("export", folder / "model.json", "--to", "python"),
    ):
        assert "linsep: /dev/full: No space left" in run(*words, "-o", "/dev/full", code=2)
    assert Path("/dev/full").is_char_device()


def test_a_fit_that_does_not_reach_tol_says_so(tmp_path):
    frame = customers()
    frame.to_csv(tmp_path / "a.csv", index=False)
    done = run_json("fit", tmp_path / "a.csv", "--target", "bought", "--ignore", "kind", "--tol", "1e-18", code=1)
    assert done["proven"] is False
