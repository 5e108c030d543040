"""`linsep export` of a model whose file writes numbers and dates as people do: 1.234,56 €, 12 %, 31.01.2021."""

import importlib.util
import io
import sqlite3
import subprocess
import sys

import duckdb
import numpy as np
import onnxruntime
import pandas as pd
import pytest

from command import run


def german(number):
    """1234.5 as 1.234,50."""
    return f"{number:,.2f}".replace(",", "_").replace(".", ",").replace("_", ".")


def imported(path):
    """Return a Python file as a module."""
    spec = importlib.util.spec_from_file_location("exported", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def sales(tmp_path_factory):
    """A file as a German spreadsheet writes it, its numbers, a model, and what it predicts of the file."""
    place, rng = tmp_path_factory.mktemp("sales"), np.random.default_rng(7)
    price, share, weight = rng.normal(900.0, 1500.0, 240).round(2), rng.integers(0, 100, 240), rng.normal(3, 1, 240)
    day = pd.Timestamp("2019-03-01") + pd.to_timedelta(rng.integers(0, 900, 240) * 86_400 + 45_000, unit="s")
    bought = np.where(
        price / 1500 + share / 50 + weight.round(2) + (day.month > 6) + rng.normal(0, 1, 240) > 5, "ja", "nein"
    )
    numbers = pd.DataFrame({"Preis": price, "Anteil": share, "Gewicht": weight.round(2), "Tag": day})
    numbers.loc[4, "Preis"] = numbers.loc[6, "Gewicht"] = np.nan
    written = pd.DataFrame(
        {
            "Preis": ["" if np.isnan(p) else f"{german(p)} €" for p in numbers["Preis"]],
            "Anteil": [f"{s} %" for s in share],
            "Gewicht": ["" if np.isnan(g) else german(g) for g in numbers["Gewicht"]],
            "Tag": day.strftime("%d.%m.%Y %H:%M"),
            "gekauft": bought,
        }
    )
    written.loc[5, "Preis"] = "− 7,5"
    numbers.loc[5, "Preis"] = -7.5
    written.loc[8, "Tag"] = ""
    numbers.loc[8, "Tag"] = pd.NaT
    written.to_csv(place / "sales.csv", sep=";", index=False)
    run("fit", place / "sales.csv", "--target", "gekauft", "-o", place / "model.json")
    predicted = pd.read_csv(io.StringIO(run("predict", place / "model.json", place / "sales.csv", "--proba")))
    return place, written, numbers, predicted


def test_the_python_file_reads_what_the_model_reads(sales, tmp_path):
    place, written, numbers, predicted = sales
    run("export", place / "model.json", "--to", "python", "-o", tmp_path / "c.py")
    module = imported(tmp_path / "c.py")
    for frame in (written, numbers.astype(object).where(numbers.notna(), None)):  # as text, and as what it says
        shares = [list(module.probabilities(row).values()) for row in frame.to_dict("records")]
        np.testing.assert_allclose(shares, predicted.iloc[:, 1:], rtol=1e-10, atol=1e-12)
    alone = subprocess.run(
        [sys.executable, "-I", tmp_path / "c.py", place / "sales.csv"], capture_output=True, text=True
    )
    assert alone.stdout.split() == predicted["prediction"].tolist()
    with pytest.raises(ValueError, match=r"column 'Preis': '12.5 \$' is not written as in the file"):
        module.predict({**written.iloc[0], "Preis": "12.5 $"})


@pytest.mark.parametrize(("order", "text"), [("dmy", "3/4/68 5:30 PM"), ("mdy", "4/3/2068 17:30:00.000Z")])
def test_dates_in_python_are_those_of_linsep(tmp_path, order, text):
    days = pd.date_range("2020-01-13", periods=80, freq="37h")
    frame = pd.DataFrame({"day": days.strftime("%d/%m/%Y" if order == "dmy" else "%m/%d/%Y"), "y": days.month > 2})
    frame.loc[80] = [text, True]
    frame.loc[81] = [text.replace("68 ", "69 "), False]
    frame.to_csv(tmp_path / "days.csv", index=False)
    run("fit", tmp_path / "days.csv", "--target", "y", "-o", tmp_path / "m.json")
    run("export", tmp_path / "m.json", "--to", "python", "-o", tmp_path / "c.py")
    predicted = pd.read_csv(io.StringIO(run("predict", tmp_path / "m.json", tmp_path / "days.csv", "--proba")))
    module = imported(tmp_path / "c.py")
    shares = [list(module.probabilities(row).values()) for row in frame.to_dict("records")]
    np.testing.assert_allclose(shares, predicted.iloc[:, 1:], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("as_text", [True, False])
def test_duckdb_reads_numbers_and_dates_as_the_file_writes_them(sales, as_text):
    place, written, numbers, predicted = sales
    expression = run("export", place / "model.json", "--to", "sql", "--dialect", "duckdb")
    frame = (written if as_text else numbers).assign(n=range(len(written)))
    with duckdb.connect(":memory:") as base:
        base.register("data", frame)
        found = base.execute(f"SELECT {expression} FROM data ORDER BY n").fetchall()
    np.testing.assert_allclose([row[1:] for row in found], predicted.iloc[:, 1:], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("as_text", [True, False])
def test_sqlite_reads_numbers_as_the_file_writes_them(sales, tmp_path, as_text):
    place, written, numbers, _ = sales
    columns = ["Preis", "Anteil", "Gewicht"]
    run("fit", place / "sales.csv", "--target", "gekauft", "--ignore", "Tag", "-o", tmp_path / "m.json")
    predicted = pd.read_csv(io.StringIO(run("predict", tmp_path / "m.json", place / "sales.csv", "--proba")))
    expression = run("export", tmp_path / "m.json", "--to", "sql", "--dialect", "sqlite")
    frame = (written if as_text else numbers)[columns].astype(object)
    frame = frame.where(frame.notna(), None)
    with sqlite3.connect(":memory:") as base:
        base.execute("CREATE TABLE data (n INTEGER, Preis, Anteil, Gewicht)")
        base.executemany("INSERT INTO data VALUES (?, ?, ?, ?)", list(frame.itertuples(name=None)))
        found = base.execute(f"SELECT {expression} FROM data ORDER BY n").fetchall()
    np.testing.assert_allclose([row[1:] for row in found], predicted.iloc[:, 1:], rtol=1e-10, atol=1e-12)


def test_sql_without_a_function_for_dates_says_so(sales):
    asked = "export", sales[0] / "model.json", "--to", "sql"
    said = run(*asked, "--dialect", "sqlite", code=2)
    assert "column 'Tag' has dates such as 31.01.2024, and SQLite has no function that reads them" in said
    assert "use --dialect duckdb, or --to python or onnx; or write them as 2024-01-31 and fit again" in said
    assert "standard SQL does not read them" in run(*asked, code=2)


def test_onnx_takes_numbers_and_says_so(sales, tmp_path):
    place, _, numbers, predicted = sales
    run("export", place / "model.json", "--to", "onnx", "-o", tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    said = session.get_modelmeta().custom_metadata_map
    assert said["input Preis"].endswith("What text writes as 1.234,5 € is 1234.5 here")
    feed = {name: numbers[[name]].to_numpy(float) for name in ("Preis", "Anteil", "Gewicht")}
    feed["Tag"] = numbers["Tag"].astype("datetime64[ns]").to_numpy().astype("int64").reshape(-1, 1)
    shares = session.run(["probabilities"], feed)[0]
    np.testing.assert_allclose(shares, predicted.iloc[:, 1:], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("word", ["", "?", "NA"])
def test_words_for_a_missing_value_are_missing_in_every_column_of_text(sales, tmp_path, word):
    place, written, *_ = sales
    frame = written[:12].copy()
    for k, column in enumerate(("Preis", "Anteil", "Gewicht", "Tag")):
        frame.loc[3 * k, column] = word
    frame.to_csv(tmp_path / "gaps.csv", sep=";", index=False)
    predicted = pd.read_csv(io.StringIO(run("predict", place / "model.json", tmp_path / "gaps.csv", "--proba")))
    expression = run("export", place / "model.json", "--to", "sql", "--dialect", "duckdb")
    with duckdb.connect(":memory:") as base:
        base.register("data", frame.assign(n=range(12)))
        found = base.execute(f"SELECT {expression} FROM data ORDER BY n").fetchall()
    np.testing.assert_allclose([row[1:] for row in found], predicted.iloc[:, 1:], rtol=1e-10, atol=1e-12)
    run("export", place / "model.json", "--to", "python", "-o", tmp_path / "m.py")
    module = imported(tmp_path / "m.py")
    shares = [list(module.probabilities(row).values()) for row in frame.to_dict("records")]
    np.testing.assert_allclose(shares, predicted.iloc[:, 1:], rtol=1e-10, atol=1e-12)
    run("fit", place / "sales.csv", "--target", "gekauft", "--ignore", "Tag", "-o", tmp_path / "m.json")
    predicted = pd.read_csv(io.StringIO(run("predict", tmp_path / "m.json", tmp_path / "gaps.csv", "--proba")))
    expression = run("export", tmp_path / "m.json", "--to", "sql", "--dialect", "sqlite")
    with sqlite3.connect(":memory:") as base:
        frame.to_sql("data", base)
        found = base.execute(f'SELECT {expression} FROM data ORDER BY "index"').fetchall()
    np.testing.assert_allclose([row[1:] for row in found], predicted.iloc[:, 1:], rtol=1e-10, atol=1e-12)


def test_onnx_documents_levels_as_the_rows_of_the_fit_spell_them(tmp_path):
    frame = pd.DataFrame({"zip": ["01067", "10115", None, "20095"] * 20, "y": ["a", "b", "b", "a"] * 20})
    frame.to_csv(tmp_path / "a.csv", index=False)
    run("fit", tmp_path / "a.csv", "-t", "y", "-o", tmp_path / "m.json")
    run("export", tmp_path / "m.json", "--to", "onnx", "-o", tmp_path / "m.onnx")
    told = onnxruntime.InferenceSession(tmp_path / "m.onnx").get_modelmeta().custom_metadata_map["input zip"]
    assert told.endswith("The levels of the fit: 01067, 10115, 20095")


def test_the_python_file_takes_quotes_and_tabs_in_a_file_as_the_model_did(tmp_path):
    texts = ['"go on, he said', "yes, yes; no", 'win "cash" now', "call, now, please"]
    rows = [f"{'spam' if k % 4 > 1 else 'ham'}\t{texts[k % 4]} number {'x' * (k % 7 + 2)}" for k in range(60)]
    (tmp_path / "a.tsv").write_text("\n".join(rows) + "\n")
    run("fit", tmp_path / "a.tsv", "-t", "1", "--text", "2", "--no-header", "-o", tmp_path / "m.json")
    run("export", tmp_path / "m.json", "--to", "python", "-o", tmp_path / "c.py")
    asked = [sys.executable, "-I", tmp_path / "c.py", tmp_path / "a.tsv"]
    alone = subprocess.run(asked, capture_output=True, text=True, check=True)
    predicted = pd.read_csv(io.StringIO(run("predict", tmp_path / "m.json", tmp_path / "a.tsv")))
    assert len(predicted) == 60
    assert alone.stdout.split() == predicted["prediction"].tolist()


def test_the_python_file_refuses_a_file_without_the_columns_of_the_fit(tmp_path):
    rows = [f"{1 if k % 2 else -1} 1:{k % 5} 2:{k % 3}" for k in range(30)]
    (tmp_path / "a.svm").write_text("\n".join(rows) + "\n")
    run("fit", tmp_path / "a.svm", "-o", tmp_path / "m.json")
    run("export", tmp_path / "m.json", "--to", "python", "-o", tmp_path / "c.py")
    asked = [sys.executable, "-I", tmp_path / "c.py", tmp_path / "a.svm"]
    alone = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert alone.returncode == 1
    assert not alone.stdout
    assert "the file has no column 'feature 1' (is it CSV, with the columns of the fit?)" in alone.stderr


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The Python file of a small model, and the file of the fit."""
    place = tmp_path_factory.mktemp("program")
    rows = [f"{k % 7},{'ja' if k % 7 > 3 else 'nein'}" for k in range(3000)]
    (place / "a.csv").write_text("\n".join(["x,y", *rows]) + "\n")
    run("fit", place / "a.csv", "-t", "y", "-o", place / "m.json")
    run("export", place / "m.json", "--to", "python", "-o", place / "c.py")
    return place


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "give the name of one CSV file with the columns of the fit"),
        (["none.csv"], "No such file or directory: 'none.csv'"),
        (["latin.csv"], "latin.csv is not UTF-8 text: convert it"),
    ],
)
def test_the_python_file_says_what_was_wrong_without_a_traceback(program, words, said):
    (program / "latin.csv").write_bytes("x,y\n1,schön\n".encode("latin-1"))
    asked = [sys.executable, "-I", program / "c.py", *words]
    alone = subprocess.run(asked, capture_output=True, text=True, check=False, cwd=program)
    assert alone.returncode == 1
    assert said in alone.stderr
    assert "Traceback" not in alone.stderr


def test_the_python_file_ends_quietly_where_nobody_reads_on(program):
    asked = [sys.executable, "-I", program / "c.py", program / "a.csv"]
    with subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0) as alone:
        assert alone.stdout.readline().strip() == b"nein"
        alone.stdout.close()
        assert alone.stderr.read() == b""
        assert alone.wait() == 0
