"""What an analyst's odd files are told: one thing is one thing, grouped rows are rows of the file, ids are ids."""

import datetime
import time

import numpy as np
import pandas as pd
import pytest

from command import call, run, run_json

rng = np.random.default_rng(0)
x = rng.normal(size=200)
label = np.where(x + rng.normal(size=200) > 0, "yes", "no")


def written(path, **columns):
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def test_one_thing_is_not_many(tmp_path):
    data, model = written(tmp_path / "one.csv", x=x, y=[None, *label[1:]]), tmp_path / "m.json"
    done = call("fit", data, "--target", "y", "-o", model)
    assert ": 199 rows, 1 feature\n" in done.out.decode()
    assert "1 row without a value in 'y' is left out" in done.err.decode()
    assert "on 1 feature" in run("explain", model)
    done = call("fit", data, "--target", "y", "--max-memory", "9GB", "-o", model)
    assert ": 199 rows, 1 feature\n" in done.out.decode()
    assert "1 row without a value in 'y' is left out" in done.err.decode()
    single = written(tmp_path / "single.csv", x=[0.3], y=["yes"])
    assert run("predict", model, single, "-o", tmp_path / "out.csv").startswith("1 prediction in ")
    assert run("evaluate", model, single).startswith("1 row; ")
    page = run("report", model, single, "-o", tmp_path / "r.html")
    assert " on 1 row, " in page
    said = call("verify", model, written(tmp_path / "shorter.csv", x=x[:1], y=label[:1])).out.decode()
    assert "the data have 1 row of 1 column, the fit had 199 of 1" in said


@pytest.mark.parametrize("more", [(), ("--max-memory", "9GB")], ids=["in memory", "in parts"])
def test_grouped_and_counted_rows_are_those_of_the_file(tmp_path, more):
    trials = rng.integers(5, 30, 40)
    died = rng.binomial(trials, 0.4)
    died[0], trials[0] = 0, 9  # no success: one example for that row
    dose = np.arange(40.0)
    data = written(tmp_path / "doses.csv", dose=dose, n=trials, died=died, sex=np.tile(["f", "m"], 20))
    asked = "fit", data, "--successes", "died", "--trials", "n", *more
    total = int(trials.sum())
    assert f": 40 rows with {total:,} trials, 3 features\n" in run(*asked)
    record = run_json(*asked)
    assert (record["rows_of_file"], record["rows"]) == (40, total)
    counted = "fit", data, "--target", "sex", "--weights", "n", "--ignore", "died", *more
    assert f": 40 rows that stand for {total:,}, 1 feature\n" in run(*counted)
    plain = "fit", data, "--target", "sex", *more
    assert run_json(*plain)["rows_of_file"] == run_json(*plain)["rows"] == 40
    weighed = "fit", data, "--target", "sex", "--sample-weight", "n", *more
    assert ": 40 rows, " in run(*weighed)


def test_a_column_that_numbers_rows_is_an_id_and_one_of_distinct_numbers_is_not(tmp_path):
    distinct = rng.choice(10**9, 200, replace=False)
    data = written(tmp_path / "ids.csv", id=np.arange(1, 201), code=distinct, x=x, y=label)
    kinds = {column["name"]: column["kind"] for column in run_json("fit", data, "--target", "y")["columns"]}
    assert kinds == {"id": "ignored", "code": "number", "x": "number"}


@pytest.mark.parametrize("more", [(), ("--max-memory", "9GB")], ids=["in memory", "in parts"])
@pytest.mark.parametrize("first", [0, 1])
def test_a_column_that_numbers_rows_is_an_id_also_where_some_are_held_out(tmp_path, first, more):
    amounts = rng.choice(2000, 200, replace=False)
    data = written(tmp_path / "ids.csv", dossier=np.arange(first, first + 200), amount=amounts, x=x, y=label)
    found = run_json("fit", data, "--target", "y", "--test-share", "0.25", "-o", tmp_path / "m.json", *more)
    kinds = {column["name"]: column["kind"] for column in found["columns"]}
    assert kinds == {"dossier": "ignored", "amount": "number", "x": "number"}


def test_a_target_of_hundreds_of_whole_numbers_is_questioned(tmp_path):
    data = written(tmp_path / "amounts.csv", x=np.arange(600.0), y=np.arange(600) % 300)
    err = call("fit", data, "--target", "y", "--tol", "0.1", "--loss", "square").err.decode()
    assert "300 different whole numbers, from 0 to 299" in err
    assert "if they are amounts, make classes of" in err


@pytest.mark.slow
def test_a_table_of_a_million_columns_is_refused_in_seconds(tmp_path):
    data = tmp_path / "wide.csv"
    data.write_text("\n".join([",".join(f"c{j}" for j in range(10**6)), *[",".join("1" * 10**6)] * 3]) + "\n")
    for more in ((), ("--max-memory", "9GB")):
        start = time.process_time()
        assert "1,000,000 columns, and each is looked at" in run("fit", data, "--target", "c0", *more, code=2)
        assert time.process_time() - start < 10


def test_a_word_for_missing_values_is_a_level_without_a_penalty(tmp_path):
    data = written(tmp_path / "q.csv", x=x, town=np.where(np.arange(200) % 7 == 0, "?", "Ede"), y=label)
    record = run_json("fit", data, "--target", "y", "--C", "inf", "-o", tmp_path / "m.json")
    assert record["proven"]
    assert "town = Ede" in run("explain", tmp_path / "m.json")
    assert run_json("verify", tmp_path / "m.json", data)["proven"]


def test_a_column_of_marks_is_a_category(tmp_path):
    marked = rng.random(200) < 0.3
    y = np.where(marked ^ (rng.random(200) < 0.1), "yes", "no")
    data = written(tmp_path / "marks.csv", mark=np.where(marked, "x", ""), one=np.where(marked, "1", ""), x=x, y=y)
    model = tmp_path / "m.json"
    for more in ((), ("--max-memory", "9GB")):
        done = call("fit", data, "--target", "y", "-o", model, *more)
        assert "categories  mark\n" in done.out.decode()
        assert "numbers     one, x (standardised)\n" in done.out.decode()
        assert run_json("fit", data, "--target", "y", *more)["training_accuracy"] > 0.85
        assert run_json("fit", data, "--target", "y", *more)["features"] == 5
    assert run_json("verify", model, data)["proven"]


def test_a_workbook_with_dates_percentages_and_gaps(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["day", "share", "town", "bought"])
    for k in range(2000):
        share = None if k % 11 == 0 else (k % 97) / 97
        day = None if k % 13 == 0 else datetime.datetime(2020, 1, 1) + datetime.timedelta(days=k % 700, hours=k % 24)
        town = None if k % 17 == 0 else ["Ulm", "Ede", "Bonn"][k % 3]
        book.active.append([day, share, town, "yes" if (share or 0.5) + (k % 5) / 5 > 0.9 else "no"])
    for day, share in book.active.iter_rows(min_row=2, max_col=2):
        day.number_format, share.number_format = "DD.MM.YYYY HH:MM", "0.0%"
    book.save(path := tmp_path / "sales.xlsx")
    record = run_json("fit", path, "--target", "bought", "-o", tmp_path / "m.json")
    kinds = {column["name"]: column["kind"] for column in record["columns"]}
    assert (record["rows"], kinds) == (2000, {"day": "date", "share": "number", "town": "category"})
    assert run_json("verify", tmp_path / "m.json", path)["proven"]
    gaps = call("predict", tmp_path / "m.json", path, "-o", tmp_path / "out.csv").err.decode()
    for column, step in (("day", 13), ("share", 11), ("town", 17)):
        assert f"column {column!r}: {len(range(0, 2000, step))} of 2,000 rows have no value" in gaps
