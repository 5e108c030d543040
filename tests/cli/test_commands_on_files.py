"""The commands on files of other programs and on real data."""

import io
import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from command import run, run_json
from customers import customers

FOLDER = os.environ.get("LINSEP_DATA", "")
with_data = pytest.mark.skipif(not FOLDER, reason="LINSEP_DATA does not name a folder with the data sets")


# -- files of other programs ---------------------------------------------------------------------------------------


def text_like(n=400, d=60, seed=0):
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, d), density=0.15, random_state=rng, format="csr")
    noise = 0.2 * rng.standard_normal(n)
    return X, np.where(X @ rng.standard_normal(d) + noise > 0, 1, -1)


@pytest.mark.parametrize("zero_based", [False, True])
def test_libsvm_text_of_scikit_learn_with_comments_and_queries(tmp_path, zero_based):
    X, y = text_like()
    path = tmp_path / "a.svm"
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # what scikit-learn of old wants
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
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # what scikit-learn of old wants
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
