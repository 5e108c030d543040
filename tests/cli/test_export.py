"""`linsep export`: the same predictions in SQL, in plain Python and in ONNX."""

import csv
import importlib.util
import io
import os
import sqlite3
import subprocess
import sys

import duckdb
import numpy as np
import onnx
import onnxruntime
import pandas as pd
import polars as pl
import pytest

from command import EXACTLY, run

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
    said = run("predict", place / f"{kind}.json", place / "all.csv", "--proba")
    return pd.read_csv(io.StringIO(said), **EXACTLY).iloc[:, 1:]


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
        feed = pd.to_datetime(diary[1]["day"]).astype("datetime64[ns]").to_numpy().astype("int64").reshape(-1, 1)
    shares = session.run(["probabilities"], {kind: feed})[0]
    np.testing.assert_allclose(shares, shares_of(diary, kind), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", ["note", "day"])
def test_an_onnx_model_says_what_its_inputs_are(diary, tmp_path, kind):
    run("export", diary[0] / f"{kind}.json", "--to", "onnx", "-o", tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    said = session.get_modelmeta().custom_metadata_map
    word = {"note": "the words are told apart", "day": "nanoseconds since 1970-01-01, UTC"}[kind]
    assert word in said[f"input {kind}"]
    assert said["output probabilities"] == "of the classes False, True, in this order"
    (one,) = onnx.load(tmp_path / "m.onnx").graph.input
    assert one.doc_string == said[f"input {kind}"]


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


def test_text_in_the_dialect_of_duckdb(diary):
    expression = run("export", diary[0] / "note.json", "--to", "sql", "--dialect", "duckdb")
    with duckdb.connect(":memory:") as base:
        base.execute("CREATE TABLE data (n INTEGER, note VARCHAR)")
        base.executemany("INSERT INTO data VALUES (?, ?)", list(enumerate(diary[1]["note"])))
        found = base.execute(f"SELECT {expression} FROM data ORDER BY n").fetchall()
    np.testing.assert_allclose([row[1:] for row in found], shares_of(diary, "note"), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", ["day", "note"])
def test_words_for_missing_dates_and_text(diary, tmp_path, kind):
    frame = pd.DataFrame({kind: ["", "NA", "?", "null", diary[1][kind][0]], "n": range(5)})
    other = {"day": "note", "note": "day"}[kind]
    frame.assign(**{other: "", "spam": False}).to_csv(tmp_path / "gaps.csv", index=False)
    expected = run("predict", diary[0] / f"{kind}.json", tmp_path / "gaps.csv", "--proba")
    shares = pd.read_csv(io.StringIO(expected)).iloc[:, 1:]
    expression = run("export", diary[0] / f"{kind}.json", "--to", "sql", "--dialect", "duckdb")
    with duckdb.connect(":memory:") as base:
        base.register("data", frame)
        found = base.execute(f"SELECT {expression} FROM data ORDER BY n").fetchall()
    np.testing.assert_allclose([row[1:] for row in found], shares, rtol=1e-9, atol=1e-12)
    if kind == "day":
        with sqlite3.connect(":memory:") as base:
            frame.to_sql("data", base)
            found = base.execute(f"SELECT {expression} FROM data ORDER BY n").fetchall()
        np.testing.assert_allclose([row[1:] for row in found], shares, rtol=1e-9, atol=1e-12)


def test_text_is_refused_by_other_sql(diary):
    asked = "export", diary[0] / "note.json", "--to", "sql"
    assert "use --dialect duckdb, or --to python or onnx" in run(*asked, code=2)
    assert "SQLite has no function" in run(*asked, "--dialect", "sqlite", code=2)
    assert "would be ignored" in run("export", diary[0] / "note.json", "--to", "python", "--dialect", "duckdb", code=2)


def test_a_dialect_changes_nothing_where_there_is_no_text(diary):
    plain = run("export", diary[0] / "day.json", "--to", "sql")
    for dialect in ("sqlite", "duckdb"):
        assert run("export", diary[0] / "day.json", "--to", "sql", "--dialect", dialect) == plain
