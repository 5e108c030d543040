"""The commands on files that others wrote, checked by other means.

They run in this process, as the installed command's script does it; one test compares each with a process of its own.
"""

import csv
import gzip
import importlib.util
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import onnxruntime
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, confusion_matrix, log_loss, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from command import call, run, spawn
from linsep.persistence import model_file

FOLDER = os.environ.get("LINSEP_DATA", "")
with_data = pytest.mark.skipif(not FOLDER, reason="LINSEP_DATA does not name a folder with the data sets")


def run_json(*arguments, code=0):
    done = call(*arguments, "--json")
    assert done.code == code, done.err
    return json.loads(done.out)


def customers(n=500, seed=0):
    rng = np.random.default_rng(seed)
    age, income = rng.integers(18, 80, n).astype(float), rng.normal(0.0, 1.0, n)
    town, plan = rng.choice(["Ede", "Ulm", "O'Bath"], n), rng.choice(["basic", "plus"], n)
    score = 0.05 * (age - 45) + income + (town == "Ede") - (plan == "plus") + rng.normal(0.0, 1.0, n)
    age[rng.random(n) < 0.1] = np.nan
    town[rng.random(n) < 0.05] = ""
    kind = np.where(score > 1, "gold", np.where(score > -0.5, "silver", "bronze"))
    frame = pd.DataFrame({"age": age, "income": income, "town": town, "plan": plan})
    return frame.assign(town=frame["town"].replace("", None), bought=np.where(score > 0, "yes", "no"), kind=kind)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of the same customers, and models of them."""
    place = tmp_path_factory.mktemp("customers")
    customers().to_csv(place / "train.csv", index=False)
    customers(seed=1).to_csv(place / "test.csv", index=False)
    run("fit", place / "train.csv", "--target", "bought", "--ignore", "kind", "-o", place / "model.json")
    run("fit", place / "train.csv", "--target", "kind", "--ignore", "bought", "-o", place / "three.json")
    return place


def by_hand(train, test, target="bought"):
    """The pipeline a user of scikit-learn would write."""
    numbers, names = ["age", "income"], ["town", "plan"]
    encode = make_column_transformer(
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), numbers),
        (
            make_pipeline(SimpleImputer(strategy="constant", fill_value="?"), OneHotEncoder(handle_unknown="ignore")),
            names,
        ),
    )
    model = make_pipeline(encode, LogisticRegression(max_iter=1000)).fit(train, train[target])
    return float((model.predict(test) == test[target]).mean())


def test_from_a_file_to_a_verified_model(folder):
    text = run("fit", folder / "train.csv", "--target", "bought", "--ignore", "kind")
    assert "numbers     age, income" in text
    assert "categories  town, plan" in text
    assert "proven to tol" in text
    record = run_json("fit", folder / "train.csv", "--target", "bought", "--ignore", "kind", "-o", folder / "m.json")
    assert record["proven"]
    assert record["certificate"]["relative_gap"] <= 1e-4
    outcome = run_json("verify", folder / "m.json", folder / "train.csv", "--target", "bought")
    assert outcome["ok"]
    assert outcome["proven"]
    assert "NOT verified" in call("verify", folder / "m.json", folder / "test.csv").out.decode()


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "train.csv", "--target", "bought", "--ignore", "kind"],
        ["predict", "model.json", "test.csv", "--proba"],
        ["predict", "model.json", "-"],
        ["evaluate", "model.json", "test.csv", "--json"],
        ["verify", "model.json", "test.csv"],
        ["separable", "train.csv", "--target", "bought", "--ignore", "kind", "--json"],
        ["compare", "train.csv", "--target", "bought", "--ignore", "kind", "--json"],
        ["explain", "model.json"],
        ["export", "model.json", "--to", "sql"],
        ["fit", "nothing.csv", "--target", "y"],
    ],
    ids=" ".join,
)
def test_a_process_of_its_own_does_the_same(folder, arguments):
    words = [str(folder / word) if word.endswith((".csv", ".json")) else word for word in arguments]
    stdin = (folder / "test.csv").read_bytes()
    alone, here = spawn(*words, stdin=stdin), call(*words, stdin=stdin)
    assert (alone.code, without_times(alone.err)) == (here.code, without_times(here.err))
    assert without_times(alone.out) == without_times(here.out)
    assert b"Traceback" not in alone.err


def without_times(text):
    """Return the text without its numbers of seconds, and without progress, which slow machines show."""
    lines = [line for line in text.decode().splitlines() if not line.endswith("…")]
    return re.sub(r'"seconds": [^,}\s]+|[\d.e-]+ m?s\b', "…", "\n".join(lines))


def test_predictions_are_those_of_the_library_and_as_good_as_a_pipeline_by_hand(folder):
    run("predict", folder / "model.json", folder / "test.csv", "-o", folder / "out.csv", "--proba")
    found, truth = pd.read_csv(folder / "out.csv"), pd.read_csv(folder / "test.csv")
    assert list(found.columns) == ["prediction", "probability_no", "probability_yes"]
    assert (found["prediction"] == np.where(found["probability_yes"] >= 0.5, "yes", "no")).all()
    accuracy = (found["prediction"] == truth["bought"]).mean()
    assert abs(accuracy - by_hand(pd.read_csv(folder / "train.csv"), truth)) <= 0.02
    assert not list(folder.glob(".out.csv.*")), "no temporary file is left"


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "csv.gz"])
def test_every_format_gives_the_same_predictions(folder, tmp_path, ending):
    frame, path = customers(seed=1), tmp_path / f"new.{ending}"
    if ending == "parquet":
        frame.to_parquet(path)
    elif ending == "arrow":
        pl.from_pandas(frame).write_ipc(path, compat_level=pl.CompatLevel.oldest())
    else:
        frame.to_csv(path, index=False)
    expected = run("predict", folder / "model.json", folder / "test.csv", "--proba")
    assert run("predict", folder / "model.json", path, "--proba") == expected
    if ending == "csv":
        assert run("predict", folder / "model.json", "-", "--proba", stdin=path.read_bytes()) == expected


def test_standard_input_is_as_good_as_a_file(folder, tmp_path):
    text = (folder / "train.csv").read_bytes()
    words = ("--target", "bought", "--ignore", "kind", "-o", tmp_path / "model.json")
    run("fit", "-", *words, stdin=gzip.compress(text))
    run("fit", folder / "train.csv", *words[:-1], tmp_path / "other.json")
    assert (tmp_path / "model.json").read_bytes() == (tmp_path / "other.json").read_bytes()
    for none in (dict(data="-", stdin=b"age,income,town,plan\n"), dict(data=folder / "header.csv")):
        (folder / "header.csv").write_text("age,income,town,plan\n")
        assert run("predict", tmp_path / "model.json", none.pop("data"), **none) == "prediction\n"
    assert "write them to a file first" in run("fit", "-", *words, "--max-memory", "9GB", stdin=text, code=2)


@pytest.mark.parametrize("ending", ["tsv", "parquet", "feather"])
def test_predictions_are_written_in_every_format(folder, tmp_path, ending):
    out = tmp_path / f"out.{ending}"
    assert run_json("predict", folder / "model.json", folder / "test.csv", "-o", out)["rows"] == 500
    read = {"tsv": lambda path: pd.read_csv(path, sep="\t"), "parquet": pd.read_parquet, "feather": pd.read_feather}
    expected = pd.read_csv(io.StringIO(run("predict", folder / "model.json", folder / "test.csv")))
    assert read[ending](out)["prediction"].tolist() == expected["prediction"].tolist()


def test_evaluation_is_scikit_learns(folder):
    record = run_json("evaluate", folder / "model.json", folder / "test.csv", "--target", "bought")
    text = run("predict", folder / "model.json", folder / "test.csv", "--proba")
    found, truth = pd.read_csv(io.StringIO(text)), pd.read_csv(folder / "test.csv")["bought"]
    expected = {
        "accuracy": accuracy_score(truth, found["prediction"]),
        "balanced_accuracy": balanced_accuracy_score(truth, found["prediction"]),
        "log_loss": log_loss(truth, found[["probability_no", "probability_yes"]]),
        "auc": roc_auc_score(truth == "yes", found["probability_yes"]),
    }
    for name, value in expected.items():
        assert record[name]["value"] == pytest.approx(value, rel=1e-9)
        assert record[name]["low"] < value < record[name]["high"]
    confusion = [[cell["value"] for cell in row] for row in record["confusion"]]
    np.testing.assert_array_equal(confusion, confusion_matrix(truth, found["prediction"]))
    assert "balanced accuracy" in run("evaluate", folder / "model.json", folder / "test.csv")


def test_explain_ranks_coefficients_by_readable_name(folder):
    record = run_json("explain", folder / "model.json")
    rows = record["planes"][0]["coefficients"]
    weights = [abs(row["weight"]) for row in rows]
    assert weights == sorted(weights, reverse=True)
    by_name = {row["feature"]: row["coefficient"] for row in rows}
    assert by_name["income"] > 0
    assert by_name["plan = plus"] < 0 < by_name["plan = basic"]
    assert by_name["age"] == pytest.approx(0.05, abs=0.05)
    text = run("explain", folder / "model.json", "--top", "3")
    assert "█" in text
    assert "threshold   yes is predicted where the score is at least 0" in text
    assert "proven to tol" in text


def test_separable_and_compare(folder, tmp_path):
    assert run_json("separable", folder / "train.csv", "--target", "bought", "--ignore", "kind")["verdict"] == "overlap"
    (tmp_path / "apart.csv").write_text("x,y\n" + "".join(f"{k + 0.5 * (k > 9)},{int(k > 9)}\n" for k in range(20)))
    found = run_json("separable", tmp_path / "apart.csv", "--target", "y", "--numeric", "x")
    assert found["separable"] is True
    test = ["--test", folder / "test.csv"]
    rows = run_json("compare", folder / "train.csv", "--target", "bought", "--ignore", "kind", *test)["rows"]
    assert [row["loss"] for row in rows] == ["perceptron", "hinge", "squared_hinge", "logistic", "square", "zero_one"]
    assert all(row["proven"] for row in rows[1:5])
    assert "test errors" in run("compare", folder / "train.csv", "--target", "bought", "--ignore", "kind", *test)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "square", "perceptron"])
def test_every_loss_can_be_fitted_saved_and_used(folder, tmp_path, loss):
    options = ["--target", "bought", "--ignore", "kind", "--loss", loss, "-o", tmp_path / "m.json"]
    done = call("fit", folder / "train.csv", *options)
    assert done.code == (1 if loss == "perceptron" else 0), done.err.decode()
    run("predict", tmp_path / "m.json", folder / "test.csv")
    err = run("predict", tmp_path / "m.json", folder / "test.csv", "--proba", code=2)
    assert "has no probabilities; fit with --loss logistic" in err


def test_C_by_cross_validation_and_no_penalty(folder):
    record = run_json("fit", folder / "train.csv", "--target", "bought", "--ignore", "kind", "--C", "auto")
    tried = {row["C"]: row["accuracy"] for row in record["cross_validation"]}
    assert tried[record["C"]] == max(tried.values())


def test_cross_validation_encodes_each_fold_by_its_training_rows_alone(folder):
    from linsep.workflows.preparation import prepare
    from linsep.workflows.training import GRID, choose_C, estimator

    kinds = {"kind": "ignored"}
    examples = prepare(folder / "train.csv", "bought", kinds=kinds, keep_frame=True)
    train, test = np.arange(100), np.arange(100, 500)
    X_train, X_test = examples.split(train, test)
    frame = pd.read_csv(folder / "train.csv")
    mean, scale = frame["income"][:100].mean(), frame["income"][:100].std(ddof=0)
    np.testing.assert_allclose(X_train[:, 1], (frame["income"][:100] - mean) / scale, atol=1e-12)
    np.testing.assert_allclose(X_test[:, 1], (frame["income"][100:] - mean) / scale, atol=1e-12)
    C, scores = choose_C(estimator("logistic"), examples)
    assert [tried for tried, _ in scores] == list(GRID)
    assert dict(scores)[C] == max(score for _, score in scores)


def test_a_column_that_is_the_answer_is_told(tmp_path):
    frame = customers().drop(columns="kind")
    frame.assign(invoice=np.where(frame["bought"] == "yes", "sent", "none")).to_csv(tmp_path / "t.csv", index=False)
    record = run_json("fit", tmp_path / "t.csv", "--target", "bought")
    assert [suspect["kind"] for suspect in record["suspects"]] == ["leak"]
    assert "invoice" in record["suspects"][0]["message"]


def test_m23_products_of_numbers(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (400, 2))
    frame = pd.DataFrame({"p": X[:, 0], "q": X[:, 1], "inside": (X**2).sum(axis=1) < 0.6})
    frame.to_csv(tmp_path / "disc.csv", index=False)
    straight = run_json("fit", tmp_path / "disc.csv", "--target", "inside")
    curved = run_json("fit", tmp_path / "disc.csv", "--target", "inside", "--degree", "2", "--C", "100")
    assert straight["training_accuracy"] < 0.7 < 0.97 < curved["training_accuracy"]


def test_libsvm_and_npz(tmp_path):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((300, 12)) < 0.4, rng.standard_normal((300, 12)), 0.0)
    y = np.where(X @ rng.standard_normal(12) > 0, 1, -1)
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), zero_based=False)
    np.savez(tmp_path / "a.npz", X=X, y=y)
    for name in ("a.svm", "a.npz"):
        run("fit", tmp_path / name, "-o", tmp_path / "m.json")
        assert run_json("verify", tmp_path / "m.json", tmp_path / name)["proven"]
        lines = run("predict", tmp_path / "m.json", tmp_path / name).split()
        assert np.mean(np.array(lines[1:], dtype=int) == y) > 0.95
    (tmp_path / "few.svm").write_text("0 1:1\n0 2:-1\n")
    run("fit", tmp_path / "a.svm", "-o", tmp_path / "m.json")
    assert len(run("predict", tmp_path / "m.json", tmp_path / "few.svm").split()) == 3


# -- files of other programs ---------------------------------------------------------------------------------------


def text_like(n=400, d=60, seed=0):
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, d), density=0.15, rng=rng, format="csr")
    noise = 0.2 * rng.standard_normal(n)
    return X, np.where(X @ rng.standard_normal(d) + noise > 0, 1, -1)


@pytest.mark.parametrize("zero_based", [False, True])
def test_libsvm_text_of_scikit_learn_with_comments_and_queries(tmp_path, zero_based):
    X, y = text_like()
    path = tmp_path / "a.svm"
    dump_svmlight_file(X, y, str(path), zero_based=zero_based, comment="by a test", query_id=np.arange(len(y)) // 10)
    record = run_json("fit", path, "-o", tmp_path / "m.json")
    assert (record["rows"], record["features"]) == X.shape
    expected = LogisticRegression(tol=1e-8, max_iter=5000).fit(X, y)
    found = np.array(json.loads((tmp_path / "m.json").read_text())["coefficients"][0])
    np.testing.assert_allclose(found, expected.coef_[0], atol=0.05 * np.abs(expected.coef_).max())
    lines = run("predict", tmp_path / "m.json", path).split()[1:]
    assert np.mean(np.array(lines, dtype=int) == expected.predict(X)) > 0.98


@pytest.mark.parametrize("program", [name for name in ("liblinear-train", "train") if shutil.which(name)] or [None])
def test_a_file_that_liblinear_reads_too(tmp_path, program):
    if program is None:
        pytest.skip("LIBLINEAR's train is not installed (Debian: liblinear-tools)")
    X, y = text_like()
    path, model = tmp_path / "a.svm", tmp_path / "liblinear.model"
    dump_svmlight_file(X, y, str(path), zero_based=False)
    subprocess.run([program, "-q", "-s", "0", "-e", "1e-8", "-B", "1", path, model], check=True, timeout=300)
    out = tmp_path / "liblinear.out"
    predict = program.replace("train", "predict")
    subprocess.run([predict, path, model, out], check=True, timeout=300, stdout=subprocess.DEVNULL)
    theirs = np.array(out.read_text().split(), dtype=float)
    # LIBLINEAR penalises the intercept, linsep does not: two near planes, and all but the rows between them agree.
    run("fit", path, "-o", tmp_path / "m.json")
    ours = np.array(run("predict", tmp_path / "m.json", path).split()[1:], dtype=float)
    assert np.mean(ours == theirs) > 0.97


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "arrow"])
def test_files_of_polars(tmp_path, ending):
    frame = pl.from_pandas(customers())
    path = tmp_path / f"train.{ending}"
    write = {
        "csv": frame.write_csv,
        "tsv": lambda to: frame.write_csv(to, separator="\t", quote_style="non_numeric"),
        "parquet": frame.write_parquet,
        "arrow": frame.write_ipc,
    }[ending]
    write(path)
    ours = run_json("fit", path, "--target", "bought", "--ignore", "kind")
    customers().to_csv(tmp_path / "pandas.csv", index=False)
    expected = run_json("fit", tmp_path / "pandas.csv", "--target", "bought", "--ignore", "kind")
    assert ours["features"] == expected["features"]
    assert ours["certificate"]["primal"] == pytest.approx(expected["certificate"]["primal"], rel=1e-6)


@pytest.mark.slow
def test_m10_rows_that_repeat_are_merged_and_the_model_is_verified_on_all(tmp_path):
    X, y = text_like(3000, 5000)
    path = tmp_path / "again.svm"
    text = io.BytesIO()
    dump_svmlight_file(X, y, text, zero_based=False)
    path.write_bytes(text.getvalue() * 4)
    record = run_json("fit", path, "-o", tmp_path / "m.json")
    assert record["rows"] == 12_000
    assert record["proven"]
    assert (tmp_path / "m.json").stat().st_size < 200_000  # no dual variable for every row
    assert run_json("verify", tmp_path / "m.json", path)["proven"]


# -- export -------------------------------------------------------------------------------------------------------

MODELS = ["model.json", "three.json"]


def expected_of(folder, model):
    return pd.read_csv(io.StringIO(run("predict", folder / model, folder / "test.csv", "--proba")))


@pytest.mark.parametrize("model", MODELS)
def test_sql_in_sqlite_and_duckdb(folder, model):
    expression, expected = run("export", folder / model, "--to", "sql"), expected_of(folder, model)
    frame = pd.read_csv(folder / "test.csv")
    frame = frame.astype(object).where(frame.notna(), None)
    rows = [tuple(row) for row in frame[["age", "income", "town", "plan"]].to_numpy()]
    for connect in (sqlite3.connect, duckdb.connect):
        with connect(":memory:") as base:
            base.execute("CREATE TABLE data (n INTEGER, age DOUBLE, income DOUBLE, town VARCHAR, plan VARCHAR)")
            base.executemany("INSERT INTO data VALUES (?, ?, ?, ?, ?)", [(k, *row) for k, row in enumerate(rows)])
            found = base.execute(f"SELECT {expression} FROM data ORDER BY n").fetchall()
        assert [row[0] for row in found] == expected["prediction"].tolist()
        np.testing.assert_allclose([row[1:] for row in found], expected.iloc[:, 1:], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_a_python_file_without_dependencies(folder, tmp_path, model):
    path, expected = tmp_path / "classifier.py", expected_of(folder, model)
    run("export", folder / model, "--to", "python", "-o", path)
    spec = importlib.util.spec_from_file_location("classifier", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with (folder / "test.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [module.predict(row) for row in rows] == expected["prediction"].tolist()
    shares = [list(module.probabilities(row).values()) for row in rows]
    np.testing.assert_allclose(shares, expected.iloc[:, 1:], rtol=1e-10, atol=1e-12)
    alone = subprocess.run(
        [sys.executable, "-I", path, folder / "test.csv"], capture_output=True, text=True, check=True
    )
    assert alone.stdout.split() == expected["prediction"].tolist()


@pytest.mark.parametrize("model", MODELS)
def test_onnx_in_onnxruntime(folder, tmp_path, model):
    path, expected = tmp_path / "model.onnx", expected_of(folder, model)
    run("export", folder / model, "--to", "onnx", "-o", path)
    session = onnxruntime.InferenceSession(path)
    frame = pd.read_csv(folder / "test.csv")
    feed = {name: frame[[name]].to_numpy(float) for name in ("age", "income")}
    feed |= {name: frame[[name]].fillna("").to_numpy(object) for name in ("town", "plan")}
    label, shares = session.run(["label", "probabilities"], feed)
    assert list(label) == expected["prediction"].tolist()
    np.testing.assert_allclose(shares, expected.iloc[:, 1:], rtol=1e-10, atol=1e-12)


def awkward(n, seed):
    """Truth values, whole numbers with gaps that are categories, levels called as linsep calls its own."""
    rng = np.random.default_rng(seed)
    town = rng.choice(
        ["O'Bath", 'Say "hi"', "naïve, ✓", "(missing)", "(other)", "rare"], n, p=[0.3, 0.3, 0.2, 0.1, 0.06, 0.04]
    )
    town = [None if k % 19 == 0 else f"rare {k}" if name == "rare" else name for k, name in enumerate(town)]
    frame = pd.DataFrame({"a number": rng.normal(1e6, 3, n), "town": town, "code": rng.integers(1, 4, n) * 1.0})
    frame["member"] = rng.random(n) < 0.4
    score = frame["a number"] - 1e6 + 3 * frame["member"] + frame["code"] + (frame["town"] == "(missing)")
    frame.loc[rng.random(n) < 0.1, "a number"] = np.nan
    frame.loc[rng.random(n) < 0.1, "code"] = np.nan
    return frame.assign(y=np.where(score > 4, "it's", "no ✓"))


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """Such files, a model, and what it predicts."""
    place = tmp_path_factory.mktemp("odd")
    awkward(400, 0).to_csv(place / "train.csv", index=False)
    run("fit", place / "train.csv", "--target", "y", "--category", "code", "-o", place / "model.json")
    awkward(200, 1).to_csv(place / "test.csv", index=False)
    return place, pd.read_csv(io.StringIO(run("predict", place / "model.json", place / "test.csv", "--proba")))


def test_values_that_others_spell_differently_are_the_same_values(odd):
    folder, expected = odd
    frame = awkward(200, 1)
    frame.to_parquet(folder / "other.parquet")  # truth values and floats, not words
    pl.from_pandas(frame).with_columns(pl.col("a number").fill_null(float("nan"))).write_csv(
        folder / "other.csv", null_value="NA"
    )  # true and false, NaN and NA
    for other in ("other.parquet", "other.csv"):
        found = pd.read_csv(io.StringIO(run("predict", folder / "model.json", folder / other, "--proba")))
        pd.testing.assert_frame_equal(found, expected)


def test_awkward_rows_in_every_export(odd, tmp_path):
    folder, expected = odd
    shares, frame = expected.iloc[:, 1:].to_numpy(), awkward(200, 1)
    expression = run("export", folder / "model.json", "--to", "sql")
    with sqlite3.connect(":memory:") as base:
        frame.to_sql("t", base, index=False)
        tables = [pd.read_sql(f"SELECT {expression} FROM t", base)]
    with duckdb.connect(":memory:") as base:
        pl.from_pandas(frame).with_columns(pl.col("a number").fill_null(float("nan"))).write_parquet(
            tmp_path / "a.parquet"
        )
        sources = (tmp_path / "a.parquet", folder / "test.csv")
        tables += [base.execute(f"SELECT {expression} FROM '{source}'").df() for source in sources]
    run("export", folder / "model.json", "--to", "onnx", "-o", tmp_path / "m.onnx")
    words = frame.drop(columns="a number").astype(str).where(frame.drop(columns="a number").notna(), "")
    feed = {name: words[[name]].to_numpy(object) for name in ("town", "code", "member")}
    feed["a number"] = frame[["a number"]].to_numpy(float)
    label, found = onnxruntime.InferenceSession(tmp_path / "m.onnx").run(["label", "probabilities"], feed)
    tables.append(pd.DataFrame(found).assign(prediction=label)[["prediction", 0, 1]])
    for table in tables:
        assert table["prediction"].tolist() == expected["prediction"].tolist()
        np.testing.assert_allclose(table.iloc[:, 1:], shares, rtol=1e-10, atol=1e-12)
    run("export", folder / "model.json", "--to", "python", "-o", tmp_path / "m.py")
    frame.to_csv(tmp_path / "test.csv", index=False, sep=";", na_rep="NA")
    command = [sys.executable, "-I", tmp_path / "m.py", tmp_path / "test.csv"]
    alone = subprocess.run(command, capture_output=True, check=True, env=os.environ | {"PYTHONUTF8": "1"})
    assert alone.stdout.decode().splitlines() == expected["prediction"].tolist()


@pytest.fixture(scope="module")
def diary(tmp_path_factory):
    """A file with dates of two centuries and words in several scripts, a model of each, and what they predict."""
    place, rng = tmp_path_factory.mktemp("diary"), np.random.default_rng(0)
    words = np.array(["Cash", "PRIZE", "free", "call", "Überraschung", "home", "наш", "ÉTÉ", "x", "ab_1", "it's", "42"])
    notes = [" ".join(rng.choice(words, 6)) for _ in range(300)]
    moments = pd.to_datetime(rng.integers(-(2**41), 2**42, 300), unit="ms")
    moments = pd.Series(
        [*moments[:290], *pd.to_datetime(["2000-02-29", "2100-02-28", "1970-01-01", "1999-12-31"] * 2), None, None]
    )
    notes[5] = notes[7] = ""
    likely = 0.5 + 0.2 * (moments.dt.month > 6) + 0.2 * np.array(["free" in note for note in notes])
    frame = pd.DataFrame({"note": notes, "day": moments, "spam": rng.random(300) < likely})
    frame["day"] = frame["day"].dt.strftime("%Y-%m-%d %H:%M:%S.%f").str[:-3]
    frame.to_csv(place / "all.csv", index=False)
    for kind in ("note", "day"):
        said = ("--text", "note", "--ignore", "day") if kind == "note" else ("--date", "day", "--ignore", "note")
        run("fit", place / "all.csv", "--target", "spam", "-o", place / f"{kind}.json", *said)
    return place, frame


def shares_of(diary, kind):
    place, _ = diary
    return pd.read_csv(io.StringIO(run("predict", place / f"{kind}.json", place / "all.csv", "--proba"))).iloc[:, 1:]


@pytest.mark.parametrize("kind", ["note", "day"])
def test_text_and_dates_in_the_python_file(diary, tmp_path, kind):
    run("export", diary[0] / f"{kind}.json", "--to", "python", "-o", tmp_path / "c.py")
    spec = importlib.util.spec_from_file_location("c", tmp_path / "c.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with (diary[0] / "all.csv").open(newline="", encoding="utf-8") as file:
        shares = [list(module.probabilities(row).values()) for row in csv.DictReader(file)]
    np.testing.assert_allclose(shares, shares_of(diary, kind), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", ["note", "day"])
def test_text_and_dates_in_onnxruntime(diary, tmp_path, kind):
    run("export", diary[0] / f"{kind}.json", "--to", "onnx", "-o", tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    if kind == "note":
        feed = diary[1][["note"]].to_numpy(object)
    else:
        since = pd.to_datetime(diary[1]["day"]) - pd.Timestamp(0)
        feed = (since / pd.Timedelta(seconds=1)).to_numpy(float).reshape(-1, 1)
    shares = session.run(["probabilities"], {kind: feed})[0]
    np.testing.assert_allclose(shares, shares_of(diary, kind), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("connect", "type_"),
    [(sqlite3.connect, "TEXT"), (duckdb.connect, "VARCHAR"), (duckdb.connect, "TIMESTAMP"), (duckdb.connect, "DATE")],
)
def test_dates_in_sql(diary, tmp_path, connect, type_):
    expression = run("export", diary[0] / "day.json", "--to", "sql")
    days = diary[1]["day"].str[:10] if type_ == "DATE" else diary[1]["day"]
    days.to_frame().assign(note="", spam=False).to_csv(tmp_path / "days.csv", index=False)
    expected = pd.read_csv(io.StringIO(run("predict", diary[0] / "day.json", tmp_path / "days.csv", "--proba")))
    with connect(":memory:") as base:
        base.execute(f"CREATE TABLE data (n INTEGER, day {type_})")
        rows = [(k, None if pd.isna(day) else day) for k, day in enumerate(days)]
        base.executemany("INSERT INTO data VALUES (?, ?)", rows)
        found = base.execute(f"SELECT {expression} FROM data ORDER BY n").fetchall()
    np.testing.assert_allclose([row[1:] for row in found], expected.iloc[:, 1:], rtol=1e-9, atol=1e-12)


def test_text_is_refused_by_sql(diary):
    assert "use --to python or onnx" in run("export", diary[0] / "note.json", "--to", "sql", code=2)


# -- what goes wrong ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["fit", "train.csv"], "say which column to predict with --target; it has age, income, town"),
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
        (["fit", "one.csv", "--target", "y"], "only 1 in 3 rows; a classifier needs examples of at least two classes"),
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
    assert "late.csv line 110002, column 'q': invalid value 'n/k'" in complaint
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


# -- the real data ------------------------------------------------------------------------------------------------


def accuracy_of(train, test, *options, target, tmp_path):
    run("fit", train, "--target", target, *options, "-o", tmp_path / "m.json")
    return run_json("evaluate", tmp_path / "m.json", test, "--target", target)["accuracy"]["value"]


@with_data
def test_sms_spam_from_the_raw_file(tmp_path):
    lines = Path(FOLDER, "SMSSpamCollection").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "train").write_text("".join(lines[:4000]), encoding="utf-8")
    (tmp_path / "test").write_text("".join(lines[4000:]), encoding="utf-8")
    found = accuracy_of(
        tmp_path / "train", tmp_path / "test", "--text", "column_2", target="column_1", tmp_path=tmp_path
    )
    rows = [line.rstrip("\n").split("\t", 1) for line in lines]
    labels, texts = [row[0] for row in rows], [row[1] for row in rows]
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts[:4000], labels[:4000])
    assert found >= model.score(texts[4000:], labels[4000:]) - 0.005


@with_data
def test_adult_from_the_raw_files(tmp_path):
    train = Path(FOLDER, "adult.data")
    (tmp_path / "test.csv").write_text(Path(FOLDER, "adult.test").read_text().replace("K.", "K"))
    found = accuracy_of(train, tmp_path / "test.csv", target="column_15", tmp_path=tmp_path)
    read = dict(header=None, skipinitialspace=True, na_values="?")
    a, b = pd.read_csv(train, **read).dropna(how="all"), pd.read_csv(tmp_path / "test.csv", **read).dropna(how="all")
    numbers = [0, 2, 4, 10, 11, 12]
    names = [j for j in range(14) if j not in numbers]
    known = OneHotEncoder(handle_unknown="ignore")
    levels = make_pipeline(SimpleImputer(strategy="constant", fill_value="?"), known)
    model = make_pipeline(
        make_column_transformer((StandardScaler(), numbers), (levels, names)), LogisticRegression(max_iter=2000)
    ).fit(a[list(range(14))], a[14])
    assert abs(found - model.score(b[list(range(14))], b[14])) <= 0.005


@with_data
def test_titanic_from_the_raw_file(tmp_path):
    frame = pd.read_csv(Path(FOLDER, "titanic.csv"))
    rng = np.random.default_rng(0)
    held = rng.random(len(frame)) < 0.3
    frame[~held].to_csv(tmp_path / "train.csv", index=False)
    frame[held].to_csv(tmp_path / "test.csv", index=False)
    files = tmp_path / "train.csv", tmp_path / "test.csv"
    found = accuracy_of(*files, "--ignore", "alive", target="survived", tmp_path=tmp_path)
    numbers, names = (
        ["pclass", "age", "sibsp", "parch", "fare"],
        ["sex", "embarked", "class", "who", "adult_male", "deck", "embark_town", "alone"],
    )
    frame[names] = frame[names].astype(object).where(frame[names].notna(), "?").astype(str)
    model = make_pipeline(
        make_column_transformer(
            (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), numbers),
            (OneHotEncoder(handle_unknown="ignore"), names),
        ),
        LogisticRegression(max_iter=2000),
    ).fit(frame[~held], frame[~held]["survived"])
    assert found >= model.score(frame[held], frame[held]["survived"]) - 0.005


@with_data
def test_a9a_from_libsvm_text(tmp_path):
    train, test = Path(FOLDER, "a9a"), Path(FOLDER, "a9a.t")
    run("fit", train, "-o", tmp_path / "m.json")
    found = run_json("evaluate", tmp_path / "m.json", test)["accuracy"]["value"]
    X, y = load_svmlight_file(str(train))
    Z, z = load_svmlight_file(str(test), n_features=X.shape[1])
    assert abs(found - LogisticRegression(max_iter=2000).fit(X, y).score(Z, z)) <= 0.002


# -- the file's own numbers ---------------------------------------------------------------------------------------

QUASI = "a,b,y\n0,0,0\n0,0,1\n1,0,1\n0,1,0\n3,3,0\n3,3,1\n7,7,0\n7,7,1\n5,2,1\n2,6,0\n"
ENDOMETRIAL = "NV,x,y\n1,1,1\n1,2,1\n0,1,0\n0,2,1\n0,3,0\n0,4,1\n0,5,0\n"


def test_separable_says_which_estimates_are_infinite_and_in_which_direction(tmp_path):
    (tmp_path / "quasi.csv").write_text("a,b,y\n0,0,no\n1,0,yes\n2,0,no\n1,1,yes\n")
    asked = "separable", tmp_path / "quasi.csv", "--target", "y", "--numeric", "a", "--numeric", "b", "--estimates"
    found = run_json(*asked)
    assert found["estimates"] == {"a": "finite", "b": "+inf", "intercept": "finite"}
    low, high = found["supremum"]
    assert low == pytest.approx(-1.9095425, abs=1e-6)
    assert high - low < 1e-9
    assert "Quasi-complete separation: the estimate of b is +∞; the others are finite" in call(*asked).out.decode()


def test_separable_is_about_the_numbers_in_the_file(tmp_path):
    (tmp_path / "quasi.csv").write_text(QUASI)
    found = run_json("separable", tmp_path / "quasi.csv", "--target", "y")
    assert found["verdict"] == "quasi"
    assert found["proof"]["infinite"] == [0, 1]


def test_both_commands_name_the_one_coefficient_without_a_finite_estimate(tmp_path):
    (tmp_path / "nv.csv").write_text(ENDOMETRIAL)
    assert run_json("separable", tmp_path / "nv.csv", "--target", "y")["proof"]["infinite"] == [0]
    done = call("fit", tmp_path / "nv.csv", "--target", "y", "--C", "inf")
    assert done.code == 1
    assert "the estimate of NV is +∞; the others are finite" in done.err.decode()


@pytest.mark.parametrize("loss", ["logistic", "square"])
def test_dependent_columns_are_told_in_the_files_numbers_and_the_fit_is_proven(tmp_path, loss):
    rng = np.random.default_rng(1)
    PI, a, b = rng.normal(3.3, 0.9, 60).round(2), rng.integers(0, 900, 60), rng.integers(0, 9, 60)
    frame = pd.DataFrame({"PI": PI, "PI2": 2 * PI, "a": a, "b": b, "total": a + b})
    frame["y"] = np.where(PI + a / 300 + rng.normal(0.0, 1.0, 60) > 4.8, "yes", "no")
    frame.to_csv(tmp_path / "data.csv", index=False)
    done = call("fit", tmp_path / "data.csv", "--target", "y", "--C", "inf", "--loss", loss, "-o", tmp_path / "m.json")
    assert done.code == 0
    assert "PI2 = 2·PI\n" in done.out.decode()
    assert "total = a + b\n" in done.out.decode()
    encoding = json.loads((tmp_path / "m.json").read_text())["encoding"]
    assert set(map(tuple, encoding["numbers"].values())) == {(0.0, 1.0, False)}
    assert run_json("verify", tmp_path / "m.json", tmp_path / "data.csv")["proven"]


def test_missing_numbers_count_as_0_where_numbers_are_as_they_are(tmp_path):
    frame = customers(300, seed=4)[["age", "income", "bought"]]
    frame.to_csv(tmp_path / "data.csv", index=False)
    run_json("fit", tmp_path / "data.csv", "--target", "bought", "--C", "inf", "-o", tmp_path / "m.json")
    done = call("predict", tmp_path / "m.json", tmp_path / "data.csv", "--proba")
    X = frame[["age", "income"]].fillna(0.0).assign(lacking=frame["age"].isna())
    oracle = make_pipeline(StandardScaler(), LogisticRegression(C=1e9, tol=1e-10, max_iter=1000))
    found = pd.read_csv(io.BytesIO(done.out))["probability_yes"]
    np.testing.assert_allclose(found, oracle.fit(X, frame["bought"]).predict_proba(X)[:, 1], atol=1e-5)


# -- rows without a label -----------------------------------------------------------------------------------------


@pytest.fixture
def labelled(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=90).round(3)
    state = np.where(x + rng.normal(size=90) > 0.8, "bad", np.where(x > -0.5, "fair", "good")).astype(object)
    state[[3, 5]] = None
    pd.DataFrame({"x": x, "state": state}).to_csv(tmp_path / "data.csv", index=False)
    run_json("fit", tmp_path / "data.csv", "--target", "state", "-o", tmp_path / "m.json")
    return tmp_path


@pytest.mark.parametrize("long", [False, True])
def test_verify_counts_the_rows_without_a_label(labelled, long, monkeypatch):
    if long:
        monkeypatch.setattr("linsep.workflows.checking_streams.LONG", 0)
    outcome = run_json("verify", labelled / "m.json", labelled / "data.csv")
    assert outcome["proven"]
    assert outcome["reason"].endswith("; 2 rows without a label were left out")


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("word", ["bad", " bad "])
def test_a_model_that_takes_one_of_its_classes_for_missing_is_refused(labelled, word, long, monkeypatch):
    if long:
        monkeypatch.setattr("linsep.workflows.checking_streams.LONG", 0)
    found = model_file.read(labelled / "m.json")
    model_file.save(found.model, labelled / "forged.json", encoding={**found.encoding, "missing": [word]})
    for command in (["verify"], ["verify", "--independent"], ["evaluate"], ["report", "-o", labelled / "r.html"]):
        done = call(*command, labelled / "forged.json", labelled / "data.csv")
        assert done.code == 2
        assert "takes the label 'bad' for a missing value" in done.err.decode()


def test_a_class_in_another_spelling_is_a_word_for_missing_unless_rows_are_left_out(tmp_path):
    rows = [f"{x if x % 7 else '0.0'},{x % 3 % 2}" for x in range(1, 40)]
    (tmp_path / "data.csv").write_text("\n".join(["x,y", *rows]))
    run_json("fit", tmp_path / "data.csv", "--target", "y", "--missing", "0.0", "-o", tmp_path / "m.json")
    assert run_json("verify", tmp_path / "m.json", tmp_path / "data.csv")["proven"]
    (tmp_path / "other.csv").write_text("\n".join(["x,y", *rows]).replace(",0\n", ",0.0\n"))
    done = call("verify", tmp_path / "m.json", tmp_path / "other.csv")
    assert done.code == 2
    assert "takes the label '0.0' for a missing value" in done.err.decode()
