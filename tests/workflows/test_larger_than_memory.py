"""`linsep fit --max-memory`: the installed command on real files, within its limit, killed, resumed and interrupted."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from command import COMMAND, run, spawn
from linsep import verify
from linsep.persistence.model_file import read
from linsep.workflows import memory
from linsep.workflows.preparation import prepare
from linsep.workflows.streaming import Request, fit_in_parts
from linsep.workflows.training import estimator

pytestmark = pytest.mark.slow

LIMIT = "420MB"

#: Runs a command and tells, as a line of its own, the peak of its memory.
MEASURED = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
print(done.returncode, peak, done.stdout.decode(), done.stderr.decode()[-2000:])
"""


def measured(*words):
    """Run a command; return its exit code, its peak memory in bytes, and what it said."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *map(str, words)], capture_output=True, check=True, timeout=600
    )
    code, peak, said = done.stdout.decode().split(" ", 2)
    return int(code), int(peak), said


def customers(n, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.standard_normal((n, 20)), columns=[f"x{j}" for j in range(20)])
    frame["town"] = rng.choice(["Ede", "Ulm", "Bonn"], n, p=[0.6, 0.3, 0.1])
    frame.loc[rng.random(n) < 0.05, "x3"] = np.nan
    score = frame["x0"] - 0.5 * frame["x1"] + (frame["town"] == "Ulm") + 1.5 * rng.standard_normal(n)
    frame["kind"] = np.where(score > 1, "gold", np.where(score > -0.5, "silver", "bronze"))
    frame["bought"] = np.where(score > 0, "yes", "no")
    return frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of the same customers, small and large."""
    place = tmp_path_factory.mktemp("larger")
    few = customers(3000)
    few["words"] = [" ".join(np.random.default_rng(k).choice(["red", "old", "big", "new"], 4)) for k in range(3000)]
    two = few.drop(columns="kind")
    two.to_parquet(place / "two.parquet", row_group_size=700)
    two.to_csv(place / "two.csv", index=False)
    two.to_feather(place / "two.feather")
    few.drop(columns=["bought", "words"]).to_parquet(place / "three.parquet")
    X = sparse.random_array((3000, 300), density=0.03, random_state=np.random.default_rng(0), format="csr")
    y = np.where(X[:, :40].sum(axis=1) + 0.2 * np.random.default_rng(1).standard_normal(3000) > 0.6, 1, -1)
    dump_svmlight_file(X, y, str(place / "two.svm"), zero_based=False)
    many = pd.concat([customers(100_000, seed) for seed in range(9)]).drop(columns="kind")
    many.to_parquet(place / "many.parquet", row_group_size=250_000)
    many[:300_000].to_parquet(place / "some.parquet", row_group_size=100_000)
    return place


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(memory.Budget, "block", property(lambda budget: 40_000))


@pytest.mark.parametrize("file", ["two.parquet", "two.csv", "two.feather", "two.svm", "three.parquet"])
@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge", "square"])
def test_the_answer_is_that_of_the_fit_in_memory(folder, small_blocks, file, loss):
    target = {"two.svm": None, "three.parquet": "kind"}.get(file, "bought")
    words = ("balanced",) if file == "two.csv" else ()
    found = fit_in_parts(Request(str(folder / file), target, 10**10, loss=loss, C=0.5, class_weight=words))
    found.folder.remove()
    examples = prepare(folder / file, target)
    by_class = "balanced" if words else None
    best = estimator(loss, C=0.5, tol=1e-6, class_weight=by_class).fit(examples.X, examples.y).certificate_.primal
    certificate = found.model.certificate_
    assert best * (1 - 1e-6) <= certificate.primal <= best * (1 + 1e-4)
    assert certificate.proven
    assert found.facts.encoding.names == examples.encoding.names
    assert found.facts.rows == len(examples.y)
    assert found.facts.accuracy == pytest.approx(
        float((found.model.predict(examples.X) == examples.y).mean()), abs=2e-3
    )


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_l1_leaves_the_same_weights_at_zero(folder, small_blocks, loss):
    found = fit_in_parts(
        Request(str(folder / "two.parquet"), "bought", 10**10, loss=loss, C=0.05, l1_ratio=1.0, tol=1e-6)
    )
    found.folder.remove()
    examples = prepare(folder / "two.parquet", "bought")
    best = estimator(loss, C=0.05, l1_ratio=1.0, tol=1e-6).fit(examples.X, examples.y)
    assert found.model.certificate_.primal == pytest.approx(best.certificate_.primal, rel=1e-6)
    assert (np.abs(found.model.coef_) > 1e-6).tolist() == (np.abs(best.coef_) > 1e-6).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("--test-share", "0.2")], ids=["all rows", "test rows held out"])
def test_the_peak_stays_below_the_limit_and_the_model_verifies(folder, tmp_path, more):
    model, data = tmp_path / "model.json", folder / "many.parquet"
    code, peak, said = measured(
        COMMAND, "fit", data, "--target", "bought", "--max-memory", LIMIT, "-o", model, "--json", *more
    )
    assert code == 0, said
    assert peak < memory.parse_size(LIMIT)
    assert os.listdir(tmp_path) == ["model.json"]
    code, peak, said = measured(COMMAND, "verify", model, data)
    assert code == 0, said
    assert "bit for bit" in said
    code, peak, said = measured(COMMAND, "predict", model, data, "-o", tmp_path / "out.parquet")
    assert code == 0, said
    assert peak < 600 * 10**6  # blocks of a hundred thousand rows, however many there are


#: The command, which sends itself a signal when it is about to write its state for the second time.
SIGNALLED = """
import os, sys
from linsep import cli

states = []

def hook(event, arguments):
    if event == "os.rename" and str(arguments[1]).endswith("state.json"):
        states.append(arguments[1])
        if len(states) == 2:
            os.kill(os.getpid(), {signal})

sys.addaudithook(hook)
sys.exit(cli.main())
"""


def signalled(number, *words):
    """Run a command that gets that signal in the midst of its passes; return its exit code and what it said."""
    program = [sys.executable, "-c", SIGNALLED.format(signal=int(number)), *map(str, words)]
    done = subprocess.run(program, capture_output=True, check=False, timeout=600)
    return done.returncode, done.stderr


#: The file of a run that is cut short, and its loss: the method of the hinge keeps the most between passes.
CUT_SHORT = [("some", "hinge"), *(pytest.param("many", loss, marks=pytest.mark.slow) for loss in ("logistic", "hinge"))]


@pytest.mark.parametrize(("file", "loss"), CUT_SHORT)
def test_a_run_that_is_killed_goes_on(folder, tmp_path, file, loss):
    model, data = tmp_path / "model.json", folder / f"{file}.parquet"
    words = ["fit", data, "--target", "bought", "--max-memory", LIMIT, "--loss", loss, "-o", model]
    code, _ = signalled(signal.SIGKILL, *words)
    assert code == -signal.SIGKILL
    assert not model.exists()
    state = tmp_path / "model.json.partial" / "state.json"
    before = json.loads(state.read_bytes())
    # other settings are refused, and nothing is lost by asking
    other = spawn(*words, "--C", "7")
    assert other.code == 2
    assert b"other settings: --C was 1.0 and is now 7.0" in other.err
    assert json.loads(state.read_bytes()) == before
    again = spawn(*words, "--json")
    assert again.code == 0, again.err
    assert b"counting rows" not in again.err
    assert os.listdir(tmp_path) == ["model.json"]
    examples = prepare(data, "bought")
    best = estimator(loss).fit(examples.X, examples.y).certificate_
    primal = json.loads(again.out)["certificate"]["primal"]
    assert primal == pytest.approx(best.primal, rel=1e-4)


@pytest.mark.parametrize("file", ["some", pytest.param("many", marks=pytest.mark.slow)])
def test_ctrl_c_writes_the_best_so_far(folder, tmp_path, file):
    model, data = tmp_path / "model.json", folder / f"{file}.parquet"
    words = ["fit", data, "--target", "bought", "--max-memory", LIMIT, "--tol", "1e-13", "-o", model]
    code, err = signalled(signal.SIGINT, *words)
    assert code == 1, err
    assert b"this is the best so far" in err
    found = read(model)
    examples = prepare(data, "bought")
    X = type(examples.encoding).from_dict(found.encoding).transform(pd_table(data))
    assert verify(model, X, examples.y)


def pd_table(path):
    import pyarrow.parquet

    return pyarrow.parquet.read_table(path)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--max-memory", "50MB"], "is too small"),
        (["--max-memory", "much"], "is no amount of memory"),
        (["--max-memory", "50GB", "--C", "auto", "--folds", "1"], "--folds 1 is too few"),
        (["--max-memory", "50GB", "--loss", "perceptron"], "--loss perceptron takes its data into memory"),
        (["--scratch", "."], "would be ignored"),
    ],
)
def test_what_is_not_possible_is_said(folder, tmp_path, words, complaint):
    said = run("fit", folder / "two.parquet", "--target", "bought", "-o", tmp_path / "m.json", *words, code=2)
    assert complaint in said


def test_a_column_that_changes_type_far_down_a_csv_file(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.integers(0, 9, 400_000), "z": rng.standard_normal(400_000)})
    frame["y"] = np.where(frame["x"] + 3 * frame["z"] > 4, "a", "b")
    frame["x"] = frame["x"].astype(str)
    frame.loc[390_000, "x"] = "2.5"  # the first rows look like whole numbers
    frame.to_csv(tmp_path / "numbers.csv", index=False)
    found = fit_in_parts(Request(str(tmp_path / "numbers.csv"), "y", 10**10))
    found.folder.remove()
    assert [column.kind for column in found.facts.encoding.columns] == ["number", "number"]
    frame.loc[395_000, "x"] = "oops"
    frame.to_csv(tmp_path / "bad.csv", index=False)
    with pytest.raises(ValueError, match=r"line 395002, column 'x': 'oops' is not a number"):
        fit_in_parts(Request(str(tmp_path / "bad.csv"), "y", 10**10))


def test_other_data_are_refused(folder, tmp_path, small_blocks):
    data = tmp_path / "data.csv"
    data.write_bytes((folder / "two.csv").read_bytes())
    request = Request(str(data), "bought", 10**10, output=tmp_path / "m.json")
    fit_in_parts(request)  # whoever writes the model removes the folder: here nobody does
    data.write_bytes((folder / "two.csv").read_bytes() + b"\n")
    with pytest.raises(ValueError, match=r"an unfinished fit of other data.*--no-resume"):
        fit_in_parts(request)


@pytest.mark.parametrize(
    "error", [RuntimeError("internal"), ValueError("internal")], ids=lambda error: type(error).__name__
)
def test_after_an_internal_error_no_folder_refuses_the_next_command(folder, tmp_path, small_blocks, monkeypatch, error):
    output = tmp_path / "model.json"
    asked = dict(target="bought", max_memory=10**10, output=output)

    def fails(*args, **kwargs):
        raise error

    with monkeypatch.context() as broken:
        broken.setattr("linsep.estimators.LogisticRegression.fit_examples", fails)
        with pytest.raises(Exception, match="internal"):
            fit_in_parts(Request(str(folder / "two.parquet"), **asked))
    assert not list(tmp_path.iterdir())
    assert fit_in_parts(Request(str(folder / "two.parquet"), C=3.0, **asked)).model.converged_


def test_want_of_room_on_the_disk_is_no_reason_to_begin_again(folder, tmp_path, small_blocks, monkeypatch):
    asked = Request(str(folder / "two.parquet"), "bought", 10**10, output=tmp_path / "model.json")

    def fails(*args, **kwargs):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr("linsep.estimators.LogisticRegression.fit_examples", fails)
        with pytest.raises(OSError, match="space"):
            fit_in_parts(asked)
    assert (tmp_path / "model.json.partial" / "prepared.json").exists()
    assert fit_in_parts(asked).model.converged_


@pytest.mark.parametrize("setting", [dict(C=np.inf), dict(tol=1e-11), dict(C=1e8, tol=1e-11)], ids=str)
def test_what_is_hard_to_prove_of_three_classes_is_proven_as_in_memory(folder, small_blocks, setting):
    found = fit_in_parts(Request(str(folder / "three.parquet"), "kind", 10**10, **setting))
    found.folder.remove()
    examples = prepare(folder / "three.parquet", "kind")
    best = estimator("logistic", **setting).fit(examples.X, examples.y)
    assert found.model.certificate_.proven
    assert found.model.converged_ == best.converged_
    assert found.model.certificate_.primal == pytest.approx(best.certificate_.primal, rel=1e-4)
    assert not found.facts.notes


@pytest.mark.parametrize("file", ["two.parquet", "three.parquet"])
def test_a_tol_that_rounding_hides_ends_as_in_memory(folder, small_blocks, file):
    target = "bought" if file.startswith("two") else "kind"
    found = fit_in_parts(Request(str(folder / file), target, 10**10, tol=1e-12))
    found.folder.remove()
    assert found.model.dual_gap_ <= 1e-12
    assert found.model.certificate_.rounding <= 1e-11 * found.model.certificate_.primal


@pytest.mark.parametrize("target", ["bought", "kind"])
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_the_same_command_gives_the_same_bits(tmp_path, monkeypatch, target, loss):
    """However many pages the libraries take this time: blocks and samples do not follow them."""
    customers(60_000).drop(columns={"bought": "kind", "kind": "bought"}[target]).to_parquet(tmp_path / "t.parquet")

    def fitted(taken):
        monkeypatch.setattr(memory, "peak_memory", lambda: taken)
        found = fit_in_parts(Request(str(tmp_path / "t.parquet"), target, 400 * 10**6, loss=loss))
        found.folder.remove()
        return found.model

    one, other = fitted(208_789_504), fitted(211_117_184)
    assert one.coef_.tolist() == other.coef_.tolist()
    assert one.certificate_.dual == other.certificate_.dual
