"""`linsep export` on whole files: every row, with gaps and with levels never seen, in every form as `linsep predict`.

The files are a made one and, where LINSEP_DATA names the folder with real data, Titanic, Adult and Spambase.
"""

import csv
import importlib.util
import io
import os
import sqlite3
from pathlib import Path

import duckdb
import numpy as np
import onnxruntime
import pandas as pd
import pytest

from command import EXACTLY, run
from customers import customers
from linsep.data.csv_text import MISSING
from linsep.persistence.model_file import read

#: How each file is fitted, -999 for a missing number included.
FITS = {
    "customers.csv": ("--target", "bought", "--degree", "2", "--missing", "-999"),
    "kinds.csv": ("--target", "kind", "--ignore", "bought", "--missing", "-999"),
    "titanic.csv": ("--target", "survived", "--ignore", "alive", "--missing", "-999"),
    "adult.data": ("--target", "15", "--missing", "-999"),
    "spambase.data": ("--target", "58", "--missing", "-999"),
}


def cells_of(path):
    """Return the cells of a file as they are written, and whether the first line has names."""
    with path.open(newline="") as file:
        rows = [row for row in csv.reader(file, skipinitialspace=True) if row]
    return rows, path.suffix == ".csv"


def altered(rows, kinds, seed):
    """Return rows with one cell in seven missing, variously spelt, and one in seven of the levels never seen."""
    rng = np.random.default_rng(seed)
    found = [list(row) for row in rows]
    for row in found:
        for j, kind in enumerate(kinds):
            chance = rng.random()
            if chance < 1 / 7:
                row[j] = str(rng.choice([*WORDS[:6], "-999"]))
            elif kind == "category" and chance < 2 / 7:
                row[j] = "never seen"
    return found


WORDS = *MISSING, "-999"
MADE = "customers.csv", "kinds.csv"


@pytest.fixture(
    scope="module", params=[*MADE, *(pytest.param(name, marks=pytest.mark.slow) for name in FITS if name not in MADE)]
)
def case(request, tmp_path_factory):
    """A model, the rows to predict as a file and as cells, its columns and their kinds, and what linsep says."""
    place, name = tmp_path_factory.mktemp("whole"), request.param
    data = place / name
    if name in MADE:
        customers(300).to_csv(data, index=False)
    elif "LINSEP_DATA" not in os.environ:
        pytest.skip("LINSEP_DATA names the folder with real data")
    else:
        data.write_bytes((Path(os.environ["LINSEP_DATA"]) / name).read_bytes())
    run("fit", data, *FITS[name], "-o", place / "model.json")
    rows, header = cells_of(data)
    names = rows.pop(0) if header else [f"column_{j + 1}" for j in range(len(rows[0]))]
    kinds = {column["name"]: column["kind"] for column in read(place / "model.json").encoding["columns"]}
    rows += altered(rows, [kinds.get(column, "") for column in names], 0)
    with (path := place / f"all{data.suffix}").open("w", newline="") as file:
        csv.writer(file).writerows([*([names] if header else []), *rows])
    said = run("predict", place / "model.json", path, "--proba")
    expected = pd.read_csv(io.StringIO(said), **EXACTLY)
    assert len(expected) == len(rows)
    return place / "model.json", path, names, kinds, rows, expected


def _float(cell):
    return None if cell in MISSING else float(cell)


def check(labels, shares, expected):
    """Compare labels and, to the last digits, probabilities: of the smallest ones, their logarithms."""
    assert list(map(str, labels)) == expected["prediction"].astype(str).tolist()
    shares, best = np.array(shares, dtype=float), expected.iloc[:, 1:].to_numpy()
    np.testing.assert_allclose(shares, best, rtol=0, atol=1e-13)
    some = best > 1e-300
    np.testing.assert_allclose(np.log(shares[some]), np.log(best[some]), rtol=1e-12, atol=1e-12)


def test_python(case, tmp_path):
    model, path, *_, expected = case
    run("export", model, "--to", "python", "-o", tmp_path / "classifier.py")
    spec = importlib.util.spec_from_file_location("classifier", tmp_path / "classifier.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with path.open(newline="") as file:
        found = [(module.predict(row), [*module.probabilities(row).values()]) for row in module.rows(file)]
    check(*zip(*found, strict=True), expected)


@pytest.mark.parametrize("typed", [True, False], ids=["numbers", "text"])
def test_python_by_the_cells_of_a_row(case, tmp_path, typed):
    model, _, names, kinds, rows, expected = case
    run("export", model, "--to", "python", "-o", tmp_path / "classifier.py")
    spec = importlib.util.spec_from_file_location("classifier", tmp_path / "classifier.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    given = [dict(zip(names, row, strict=True)) for row in rows]
    if typed:
        numbers = [name for name in names if kinds.get(name) == "number"]
        given = [row | {name: _float(row[name]) for name in numbers} for row in given]
    found = [(module.predict(row), [*module.probabilities(row).values()]) for row in given]
    check(*zip(*found, strict=True), expected)


@pytest.mark.parametrize("typed", [True, False], ids=["numbers", "text"])
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_sql(case, dialect, typed):
    """Columns of numbers with NULL where one is missing; and text as in the file, which is what SQLite imports."""
    model, _, names, kinds, rows, expected = case
    expression = run("export", model, "--to", "sql", "--dialect", dialect)
    number = "DOUBLE" if typed else "VARCHAR"
    columns = ", ".join(f'"{name}" {number if kinds.get(name) == "number" else "VARCHAR"}' for name in names)
    if typed:
        rows = [[None if cell in MISSING else cell for cell in row] for row in rows]  # −999 is a number like others
    with {"sqlite": sqlite3, "duckdb": duckdb}[dialect].connect(":memory:") as base:
        base.execute(f"CREATE TABLE data (n INTEGER, {columns})")
        if dialect == "sqlite":
            places = ", ".join("?" * (len(names) + 1))
            base.executemany(f"INSERT INTO data VALUES ({places})", [(k, *row) for k, row in enumerate(rows)])
        else:
            frame = pd.DataFrame(rows, columns=names, dtype=object)
            frame.insert(0, "n", range(len(rows)))
            base.register("frame", frame)
            base.execute("INSERT INTO data SELECT * FROM frame")
        found = base.execute(f"SELECT {expression} FROM data ORDER BY n").fetchall()
    check([row[0] for row in found], [row[1:] for row in found], expected)


def test_sql_on_the_file_itself(case):
    model, path, names, *_, expected = case
    expression = run("export", model, "--to", "sql", "--dialect", "duckdb")
    asked = f"header={path.suffix == '.csv'}, names={names}, nullstr={list(WORDS)}, sample_size=-1"
    with duckdb.connect(":memory:") as base:
        base.execute("SET preserve_insertion_order = true")
        found = base.execute(f"SELECT {expression} FROM read_csv('{path}', {asked})").fetchall()
    check([row[0] for row in found], [row[1:] for row in found], expected)


def test_onnx(case, tmp_path):
    model, _, names, kinds, rows, expected = case
    run("export", model, "--to", "onnx", "-o", tmp_path / "m.onnx")
    session, feed = onnxruntime.InferenceSession(tmp_path / "m.onnx"), {}
    for one in session.get_inputs():
        j = names.index(one.name)
        cells = ["" if row[j] in WORDS else row[j] for row in rows]
        if kinds[one.name] == "number":
            feed[one.name] = np.array([float(cell or "nan") for cell in cells]).reshape(-1, 1)
        else:
            feed[one.name] = np.array(cells, dtype=object).reshape(-1, 1)
    check(*session.run(["label", "probabilities"], feed), expected)
