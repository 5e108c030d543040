"""Columns as analysts' files have them: the same in memory, in parts, and when the model is used again."""

import contextlib
import json
import re
import shlex
import sqlite3
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from command import call, run, run_json
from linsep.data.readers import Hints
from linsep.data.sources import DataError
from linsep.workflows.on_clusters import reader_of
from linsep.workflows.preparation import encoded, prepare
from linsep.workflows.weighing import Weighing


def german(number, unit=""):
    """Return a number as Germans write it."""
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,")) + unit


def sales(n=300, seed=0):
    """Return a table of numbers and dates, and whether something was bought."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "turnover": np.exp(rng.normal(8.0, 1.0, n)).round(2),
            "discount": rng.integers(0, 40, n),
            "weight": rng.normal(80.0, 10.0, n).round(2),
            "day": pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
        }
    )
    frame["bought"] = np.where(np.log(frame["turnover"]) + rng.normal(0, 1, n) > 8.0, "yes", "no")
    return frame


def as_germans_write(frame):
    return frame.assign(
        turnover=[german(x, " €") for x in frame["turnover"]],
        discount=[f"{x}%" for x in frame["discount"]],
        weight=[german(x) for x in frame["weight"]],
        day=frame["day"].dt.strftime("%d.%m.%Y"),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place, frame = tmp_path_factory.mktemp("sales"), sales()
    as_germans_write(frame).to_csv(place / "german.csv", sep=";", index=False)
    frame.to_parquet(place / "plain.parquet")
    pa_table = pa.Table.from_pandas(as_germans_write(frame), preserve_index=False)
    parquet.write_table(pa_table, place / "text.parquet")
    return place


def test_a_german_file_gives_the_features_of_plain_numbers_and_dates(folder):
    plain, expected = prepare(folder / "plain.parquet", "bought"), ["turnover", "discount", "weight", "day in days"]
    assert plain.encoding.names[:4] == expected
    for name in ("german.csv", "text.parquet"):
        found = prepare(folder / name, "bought")
        assert found.encoding.names == plain.encoding.names
        np.testing.assert_array_equal(found.X, plain.X)


def test_forms_are_kept_in_the_model_and_used_again_also_in_parts(folder, tmp_path):
    for name, more in (("m.json", []), ("parts.json", ["--max-memory", "9GB"])):
        run("fit", folder / "german.csv", "-t", "bought", "-o", tmp_path / name, *more)
        assert "erified" in run("verify", tmp_path / name, folder / "german.csv")
        forms = {c["name"]: c["form"] for c in json.loads((tmp_path / name).read_text())["encoding"]["columns"]}
        assert forms == {"turnover": ",€", "discount": ",%", "weight": "", "day": "dmy"}
        first = run("predict", tmp_path / name, folder / "german.csv")
        assert first == run("predict", tmp_path / name, folder / "text.parquet")
        assert first == run("predict", tmp_path / name, folder / "plain.parquet")
    alone = as_germans_write(sales()).head(1).assign(weight="80")  # nothing to sniff a comma from
    alone.to_csv(tmp_path / "one.csv", sep=";", index=False)
    assert run("predict", tmp_path / "m.json", tmp_path / "one.csv").count("\n") == 2


def measurements(n=200, seed=3):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"p": rng.gamma(20.0, 0.3, n).round(2), "t": rng.normal(0, 9, n).round(1)})
    return frame.assign(state=np.where(frame["p"] + rng.normal(0, 1, n) > 6, "fail", "ok"))


@pytest.mark.parametrize(
    ("unit", "degree"),
    [
        *[(" bar", " °C"), ("mm/s", "°F"), (" µm", "°"), (" kWh", " m³")],
        *[pytest.param(*units, marks=pytest.mark.slow) for units in ((" V", "A"), (" m", " years"))],
    ],
)
def test_measurements_with_their_unit_are_numbers_there_and_at_use(tmp_path, unit, degree):
    plain = measurements()
    plain.to_csv(tmp_path / "plain.csv", index=False)
    written = plain.assign(p=[f"{x}{unit}" for x in plain["p"]], t=[f"{x}{degree}" for x in plain["t"]])
    written.to_csv(tmp_path / "units.csv", index=False)
    found, expected = (prepare(tmp_path / name, "state") for name in ("units.csv", "plain.csv"))
    assert found.encoding.names == expected.encoding.names == ["p", "t"]
    np.testing.assert_array_equal(found.X, expected.X)
    run("fit", tmp_path / "units.csv", "-t", "state", "-o", tmp_path / "m.json")
    predicted = run("predict", tmp_path / "m.json", tmp_path / "units.csv")
    assert predicted == run("predict", tmp_path / "m.json", tmp_path / "plain.csv")
    run("export", tmp_path / "m.json", "--to", "python", "-o", tmp_path / "m.py")
    alone = subprocess.run([sys.executable, "-I", tmp_path / "m.py", tmp_path / "units.csv"], capture_output=True)
    assert alone.stdout.decode().split() == predicted.replace('"', "").split()[1:]
    query = f"SELECT {run('export', tmp_path / 'm.json', '--to', 'sql')} FROM data"
    with contextlib.closing(sqlite3.connect(":memory:")) as base:
        written.to_sql("data", base, index=False)
        assert [row[0] for row in base.execute(query)] == alone.stdout.decode().split()
    written.assign(p=plain["p"].astype(str) + " psi").to_csv(tmp_path / "other.csv", index=False)
    assert b"psi' is not a number" in call("predict", tmp_path / "m.json", tmp_path / "other.csv").err


@pytest.mark.parametrize("values", [("512 GB", "1 TB", "2 TB"), ("MB 123", "MB 124", "MB 77"), ("12 A", "7 A", "3 A")])
def test_several_units_plates_and_seats_are_categories(tmp_path, values):
    frame = measurements().assign(p=[values[k % 3] for k in range(200)])
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert prepare(tmp_path / "a.csv", "state").encoding.names[1:] == [f"p = {one}" for one in sorted(values)]


@pytest.mark.slow
@pytest.mark.parametrize("more", [[], ["--max-memory", "9GB", "-o", "m.json"]])
def test_units_of_one_letter_are_named_questioned_where_mixed_and_may_be_left_out_if_said(tmp_path, monkeypatch, more):
    monkeypatch.chdir(tmp_path)
    frame = measurements(400)
    in_volts = frame.assign(p=[f"{x} V" for x in frame["p"]])
    in_volts.to_csv("volts.csv", index=False)
    assert "numbers     p (V), t (standardised)" in run(
        "fit", "volts.csv", "-t", "state", "-o", "volts.json", *more[:2]
    )
    assert re.search(r"^p \(V\) +[+-]", run("explain", "volts.json"), re.MULTILINE)
    in_volts.assign(p=in_volts["p"].where(frame.index % 9 > 0, "0.004 kV")).to_csv("mixed.csv", index=False)
    told = run("fit", "mixed.csv", "-t", "state", *more, code=2)
    assert "column 'p' has numbers in V and kV; write all in one unit, or say --category 'p'" in told
    in_volts.assign(p=in_volts["p"].where(frame.index % 99 > 0, "broken")).to_csv("words.csv", index=False)
    assert "'broken' is not a number, but 395 of 400 values are" in run(
        "fit", "words.csv", "-t", "state", *more, code=2
    )
    in_volts.assign(p=in_volts["p"].where(frame.index % 99 > 0, "4.5")).to_csv("bare.csv", index=False)
    told = run("fit", "bare.csv", "-t", "state", *more, code=2)
    assert (
        "column 'p': 5 of 400 numbers lack the others' unit, V; say --numeric 'p' if it is meant all the same" in told
    )
    assert "numbers     p (V), t" in run("fit", "bare.csv", "-t", "state", "--numeric", "p", *more)


@pytest.mark.parametrize("every", [2, 20])
def test_a_unit_of_one_letter_that_many_numbers_lack_is_asked_about_too(tmp_path, every):
    frame = measurements(400)
    frame.assign(p=[f"{x}{' g' if k % every else ''}" for k, x in enumerate(frame["p"])]).to_csv(tmp_path / "a.csv")
    with pytest.raises(DataError, match=rf"column 'p': {400 // every} of 400 numbers lack the others' unit, g; say"):
        prepare(tmp_path / "a.csv", "state")


def test_categories_of_very_many_levels_that_begin_with_a_digit_are_pointed_out(tmp_path):
    rng = np.random.default_rng(0)
    pressures = [f"{a}/{b}" for a, b in zip(rng.integers(100, 180, 600), rng.integers(60, 100, 600), strict=True)]
    codes, streets = [f"{k:05d}" for k in rng.integers(0, 500, 600)], [f"K{k}" for k in rng.integers(0, 300, 600)]
    frame = pd.DataFrame({"pressure": pressures, "code": codes, "street": streets, "y": [0, 1] * 300})
    frame.loc[10:, "pressure"] = frame["pressure"][:590].to_numpy()  # so that some repeat
    frame.to_csv(tmp_path / "a.csv", index=False)
    (note,) = prepare(tmp_path / "a.csv", "y").notes
    assert re.match(
        "column 'pressure': text of [0-9]+ different values, most of which begin with a digit, is taken", note
    )
    assert not prepare(tmp_path / "a.csv", "y", kinds={"pressure": "category"}).notes


def test_only_words_that_can_be_typed_are_offered_for_missing(tmp_path):
    values = [f"{x:.2f}" for x in np.random.default_rng(0).normal(50, 9, 300)]
    values[7], values[9], values[11] = "50\n\t<mail>", "n.b.", "a remark of forty letters and more than that"
    pd.DataFrame({"n": values, "y": [0, 1] * 150}).to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(DataError, match=r"correct them, say --missing 'n\.b\.' for what means a missing value"):
        prepare(tmp_path / "a.csv", "y")


def test_a_value_in_another_unit_is_told_which_one_the_column_has(tmp_path):
    frame = measurements(400)
    frame.assign(p=[f"{x} kg" for x in frame["p"]]).to_csv(tmp_path / "a.csv", index=False)
    frame.assign(p="7050 g").to_csv(tmp_path / "new.csv", index=False)
    run("fit", tmp_path / "a.csv", "-t", "state", "-o", tmp_path / "m.json")
    told = run("predict", tmp_path / "m.json", tmp_path / "new.csv", code=2)
    assert "'7050 g' is not a number, as the column's values must be and are written in kg with '.'" in told


def test_letters_of_many_seats_are_no_units(tmp_path):
    frame = measurements().assign(p=[f"{k % 30} {'ACF'[k % 3]}" for k in range(200)])
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert all(name.startswith(("t", "p = ")) for name in prepare(tmp_path / "a.csv", "state").encoding.names)


def test_where_no_value_is_a_number_none_is_offered_as_a_word_for_missing(tmp_path):
    measurements().assign(p=lambda frame: frame["p"].astype(str) + "/V").to_csv(tmp_path / "a.csv", index=False)
    said = call("fit", tmp_path / "a.csv", "-t", "state", "--numeric", "p").err.decode()
    assert "/V' is not a number" in said
    assert "is there a unit to leave out?), or say --category 'p'" in said
    assert "--missing" not in said


def test_another_mark_at_use_is_an_error_that_offers_the_option_which_is_obeyed(folder, tmp_path):
    run("fit", folder / "german.csv", "-t", "bought", "-o", tmp_path / "m.json")
    frame = sales()
    english = frame.assign(day=frame["day"].dt.strftime("%d.%m.%Y"))
    english.to_csv(tmp_path / "english.csv", index=False)
    assert "--decimal" in run("predict", tmp_path / "m.json", tmp_path / "english.csv", code=2)
    said = run("predict", tmp_path / "m.json", tmp_path / "english.csv", "--decimal", ".")
    assert said == run("predict", tmp_path / "m.json", folder / "german.csv")


def test_the_mark_can_be_said(tmp_path):
    (tmp_path / "a.csv").write_text("x|y\n" + "1,125|a\n2,250|b\n" * 20)  # a tenth of a thousand, or two thousand?
    assert prepare(tmp_path / "a.csv", "y", scaled=False).X[0, 0] == 1125.0
    assert prepare(tmp_path / "a.csv", "y", scaled=False, hints=Hints(decimal=",")).X[0, 0] == 1.125


@pytest.mark.parametrize(
    ("form", "first"), [("%d.%m.%Y", "31.01.2021"), ("%m/%d/%Y", "01/31/2021"), ("%d/%m/%Y %H:%M", "31/01/2021 00:00")]
)
def test_dates_in_the_usual_forms(tmp_path, form, first):
    days = pd.Series(pd.date_range("2021-01-31", periods=60, freq="25h"))
    written = days.dt.strftime(form)
    assert written[0] == first
    pd.DataFrame({"day": written, "y": [0, 1] * 30}).to_csv(tmp_path / "a.csv", index=False)
    found = prepare(tmp_path / "a.csv", "y", scaled=False)
    moments = days if "%H" in form else days.dt.normalize()
    assert found.encoding.names[0] == "day in days"
    ms = moments.astype("datetime64[ms]").astype(np.int64)
    np.testing.assert_array_equal(found.X[:, 0], (ms if "%H" not in form else ms // 60_000 * 60_000) / 86_400e3)


@pytest.mark.parametrize("more", [[], ["--max-memory", "9GB"]])
def test_dates_that_may_begin_with_day_or_month_are_asked_about_by_name(tmp_path, more):
    rng = np.random.default_rng(0)
    days = [f"{a:02d}/{b:02d}/2021" for a, b in rng.integers(1, 13, (80, 2))]
    pd.DataFrame({"due": days, "x": rng.random(80), "y": [0, 1] * 40}).to_csv(tmp_path / "a.csv", index=False)
    arguments = ["fit", tmp_path / "a.csv", "-t", "y", "-o", tmp_path / "m.json", *more]
    complaint = run(*arguments, code=2)
    assert "a.csv: column 'due'" in complaint
    assert "--day-first 'due' or --month-first 'due'" in complaint
    for option, form in (("--day-first", "dmy"), ("--month-first", "mdy")):
        run(*arguments, option, "due")
        columns = json.loads((tmp_path / "m.json").read_text())["encoding"]["columns"]
        assert (columns[0]["kind"], columns[0]["form"]) == ("date", form)
        assert "erified" in run("verify", tmp_path / "m.json", tmp_path / "a.csv")


def test_codes_with_leading_zeros_are_categories(tmp_path):
    rng = np.random.default_rng(0)
    zips = [f"{z:05d}" for z in rng.choice([1067, 4109, 20095, 80331], 200)]
    frame = pd.DataFrame({"zip": zips, "x": rng.random(200), "y": rng.integers(0, 2, 200)})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    for name in ("a.csv", "a.parquet"):
        found = prepare(tmp_path / name, "y").encoding
        assert found.levels["zip"] == ["01067", "04109", "20095", "80331"]
    run("fit", tmp_path / "a.csv", "-t", "y", "-o", tmp_path / "m.json", "--max-memory", "9GB")
    assert json.loads((tmp_path / "m.json").read_text())["encoding"]["levels"]["zip"][0] == "01067"


def test_few_whole_numbers_are_pointed_out_as_codes(tmp_path):
    rng = np.random.default_rng(0)
    names = {"grade": rng.integers(1, 4, 200), "region": rng.integers(0, 9, 200), "flag": rng.integers(0, 2, 200)}
    pd.DataFrame({**names, "age": rng.integers(18, 90, 200), "y": rng.integers(0, 2, 200)}).to_csv(
        tmp_path / "a.csv", index=False
    )
    for more in ([], ["--max-memory", "9GB"]):
        done = call("fit", tmp_path / "a.csv", "-t", "y", *more).err.decode()
        assert "'grade' and 'region': whole numbers, few of them different" in done
        assert "--category 'grade' 'region'" in done
    assert "codes" not in call("fit", tmp_path / "a.csv", "-t", "y", "--category", "grade", "region").err.decode()


@pytest.mark.parametrize("more", [[], ["--max-memory", "9GB"]])
def test_words_among_numbers_are_named_with_what_to_say(tmp_path, more):
    rng = np.random.default_rng(0)
    values = [f"{x:.2f}" for x in rng.normal(50, 9, 300)]
    for k in range(20, 60):
        values[k] = "unknown" if k % 2 else "not asked"
    pd.DataFrame({"note": ["a\n\nb"] * 300, "age": values, "y": [0, 1] * 150}).to_csv(tmp_path / "a.csv", index=False)
    complaint = run("fit", tmp_path / "a.csv", "-t", "y", *more, code=2)
    assert "a.csv line 62, column 'age': 'not asked' is not a number, but 260 of 300 values are" in complaint
    assert "--missing 'not asked' 'unknown'" in complaint
    said = run_json("fit", tmp_path / "a.csv", "-t", "y", *more, "--missing", "not asked", "unknown")
    assert said["features"] == 2  # the number, and whether it is missing


def test_a_word_that_begins_with_a_hyphen_can_be_said_to_be_missing_as_the_message_has_it(tmp_path):
    values = [f"{x:.2f}" for x in np.random.default_rng(0).normal(50, 9, 300)]
    values[20:60] = ["-", "k.A."] * 20
    pd.DataFrame({"age": values, "y": [0, 1] * 150}).to_csv(tmp_path / "a.csv", index=False)
    complaint = run("fit", tmp_path / "a.csv", "-t", "y", code=2)
    (typed,) = re.findall(r"say (--missing .*) for what means a missing value", complaint)
    assert typed == "--missing 'k.A.' --missing='-'"
    assert run_json("fit", tmp_path / "a.csv", "-t", "y", *shlex.split(typed))["features"] == 2


@pytest.mark.parametrize("more", [[], ["--max-memory", "9GB"]])
def test_words_for_missing_values_are_such_in_typed_tables_too(tmp_path, more):
    rng = np.random.default_rng(0)
    rows, towns = np.arange(300), np.tile(["Ede", "Ulm", "Bonn"], 100)
    age = np.where((rows >= 20) & (rows < 40), "dog", rng.normal(50, 9, 300).round(2).astype(str))  # text in Parquet
    paid = np.where((rows >= 50) & (rows < 60), -999, rng.integers(0, 99, 300))
    town = pd.Categorical(np.where((rows >= 60) & (rows < 70), "?", towns))
    table, found = pd.DataFrame({"age": age, "paid": paid, "town": town, "y": ["no", "yes"] * 150}), []
    table.to_csv(tmp_path / "a.csv", index=False)
    table.to_parquet(tmp_path / "a.parquet")
    for path in tmp_path / "a.csv", tmp_path / "a.parquet":
        run("fit", path, "-t", "y", "--missing", "dog", "-999", "?", *more, "-o", tmp_path / "m.json")
        assert run_json("verify", tmp_path / "m.json", path)["proven"]
        told = call("predict", tmp_path / "m.json", path).err.decode()
        for column, count in ("age", 20), ("paid", 10), ("town", 10):
            assert f"'{column}': {count} of 300 rows have no value" in told
        found.append(json.loads((tmp_path / "m.json").read_text())["coefficients"][0])
    np.testing.assert_allclose(found[0], found[1], atol=1e-3)


def test_words_for_missing_values_are_such_where_workers_read_a_file(tmp_path):
    pd.DataFrame({"a": ["1.5", "dog", "2.5"], "b": [1, -999, 3], "y": [0, 1, 0]}).to_parquet(tmp_path / "a.parquet")
    reader = replace(reader_of([str(tmp_path / "a.parquet")], "y", Weighing(), {}), missing=("dog", "-999"))
    assert reader(0).frame.to_pydict() == {"a": ["1.5", None, "2.5"], "b": [1, None, 3]}


def test_identifiers_are_called_so_only_where_they_are():
    from linsep.data.encoding import infer

    def note(name, values):
        return infer(name, pa.chunked_array([values])).note

    assert note("customer_id", [7 * k for k in range(50)]) == "it identifies the rows"
    assert note("row", list(range(1, 51))) == "it numbers the rows"
    assert note("year", list(range(1970, 2020))) == ""
    assert note("body_mass_index", [7 * k for k in range(50)]) == ""
    assert "differs in nearly every row" in note("serial", [f"a{k}" for k in range(50)])
    assert note("uuid", [f"a{k}" for k in range(50)]) == "it identifies the rows"


def test_a_target_that_looks_like_an_amount_is_questioned(tmp_path):
    rng = np.random.default_rng(0)
    pd.DataFrame({"x": rng.random(400), "age": rng.integers(20, 60, 400)}).to_csv(tmp_path / "a.csv", index=False)
    for more in ([], ["--max-memory", "9GB"]):
        done = call("fit", tmp_path / "a.csv", "-t", "age", "--tol", "0.1", *more)
        assert "column 'age': 40 different whole numbers, from 20 to 59, each a class" in done.err.decode()


def test_an_older_model_file_without_forms_is_read(folder, tmp_path):
    from linsep.data.encoding import from_dict

    encoding = prepare(folder / "plain.parquet", "bought").encoding.to_dict()
    del encoding["decimal"]
    for column in encoding["columns"]:
        del column["form"]
    found = encoded(folder / "plain.parquet", from_dict(encoding), None)
    np.testing.assert_array_equal(found.X, prepare(folder / "plain.parquet", "bought").X)


@pytest.mark.parametrize("forged", [("day", "ymdd"), ("turnover", "€"), ("bought", "dmy")])
def test_a_form_that_is_none_is_refused(folder, forged):
    from linsep.data.encoding import from_dict

    encoding = prepare(folder / "german.csv", "bought").encoding.to_dict()
    encoding["columns"].append(dict(name="bought", kind="category", note="", form=""))
    for column in encoding["columns"]:
        if column["name"] == forged[0]:
            column["form"] = forged[1]
    with pytest.raises(DataError, match="damaged"):
        from_dict(encoding)


@pytest.mark.parametrize("said", [[], ["--date", "day"], ["--max-memory", "9GB", "-o", "m.json"]])
def test_dates_written_in_two_ways_are_not_taken_for_categories(tmp_path, monkeypatch, said):
    monkeypatch.chdir(tmp_path)
    frame = sales(120)
    as_iso = frame["day"].dt.strftime("%Y-%m-%d").where(np.arange(120) % 5 > 2, frame["day"].dt.strftime("%d.%m.%Y"))
    frame.assign(day=as_iso).to_csv("two.csv", index=False)
    told = run("fit", "two.csv", "-t", "bought", *said, code=2)
    assert (
        f"two.csv line 5, column 'day': '{as_iso[3]}' is a date, but 72 of 120 values are written as 31.01.2024" in told
    )
    assert "to have them read, write all as 2024-01-31 (in pandas, to_datetime with format= and errors='coerce'" in told
    assert "--category 'day' or --ignore 'day'" in told
    assert "categories  day" in run("fit", "two.csv", "-t", "bought", "--category", "day")


def test_days_and_months_that_come_first_by_turns_are_not_taken_for_categories(tmp_path):
    days = [f"{d}/1/2021" if d % 2 else f"1/{d}/2021" for d in range(13, 29)] * 4
    frame = pd.DataFrame({"day": days, "x": np.arange(64.0) % 7, "y": ["a", "b"] * 32})
    frame.to_csv(tmp_path / "a.csv", index=False)
    told = run("fit", tmp_path / "a.csv", "-t", "y", code=2)
    assert "column 'day': '1/14/2021' is a date, but 32 of 64 values are written as 31.01.2024 is" in told


@pytest.mark.parametrize("said", [[], ["--max-memory", "9GB", "-o", "m.json"]])
def test_amounts_that_are_text_are_questioned_as_a_target(tmp_path, monkeypatch, said):
    monkeypatch.chdir(tmp_path)
    frame = sales(200)
    price = [german(x, " €") for x in 1000.5 + np.arange(200) % 40]
    frame.assign(price=price).to_csv("a.csv", index=False, sep=";")
    done = call("fit", "a.csv", "-t", "price", *said)
    assert "column 'price': 40 different numbers, '1.000,50 €' for one, each a class of its own" in done.err.decode()
    frame.assign(price=[german(x, " €") for x in np.arange(200) / 8]).to_csv("b.csv", index=False, sep=";")
    told = run("fit", "b.csv", "-t", "price", *said, code=2)
    assert "column 'price': 200 different values in 200 rows are no classes; is this the right --target?" in told


def test_the_parts_of_one_date_are_not_called_copies_of_each_other(tmp_path):
    frame = sales(200)
    frame.loc[::3, "day"] = None
    frame["day"] = frame["day"].dt.strftime("2021-05-%d")
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert run_json("fit", tmp_path / "a.csv", "-t", "bought")["suspects"] == []


def test_numbers_that_only_name_the_rows_are_pointed_out(tmp_path):
    """Numbers of customers, some of them left out; not amounts, which chance makes all different as well."""
    rng = np.random.default_rng(0)
    frame = sales()
    frame["Kundennr"] = np.sort(rng.choice(np.arange(10_000, 10_400), 300, replace=False))
    frame["income"] = rng.choice(200_000, 300, replace=False)
    frame.to_csv(tmp_path / "t.csv", index=False)
    hint = "'Kundennr': whole numbers that differ in nearly every row; where these only name the rows, say --ignore"
    for words in ((), ("--max-memory", "9GB")):
        done = call("fit", tmp_path / "t.csv", "--target", "bought", *words)
        said = done.err.decode()
        assert done.code == 0
        assert f"{hint} 'Kundennr'" in said
        assert "'income'" not in said


def test_times_of_day_are_set_aside_with_a_way_out(tmp_path):
    rows = [f"{7 + k % 5:02d}:{k % 60:02d};{k % 7},5;{'ja' if k % 5 > 2 else 'nein'}" for k in range(120)]
    (tmp_path / "t.csv").write_text("Uhrzeit;Wert;y\n" + "\n".join(rows) + "\n")
    heard = call("fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m.json").err.decode()
    assert (
        "column 'Uhrzeit' is set aside: times of day; write them behind their date in one column, or as hours" in heard
    )
    assert "categories  Uhrzeit" in run(
        "fit", tmp_path / "t.csv", "-t", "y", "--category", "Uhrzeit", "-o", tmp_path / "m.json"
    )


def test_a_unit_that_stands_in_the_name_of_its_column_is_not_said_twice(tmp_path):
    frame = measurements().assign(p=lambda table: [f"{x} €" for x in table["p"]])
    frame.rename(columns={"p": "price (€)"}).to_csv(tmp_path / "a.csv", index=False)
    told = run("fit", tmp_path / "a.csv", "-t", "state", "-o", tmp_path / "m.json")
    assert "price (€), t" in told
    assert "(€) (€)" not in told + run("explain", tmp_path / "m.json")


def test_a_unit_without_brackets_in_the_name_of_its_column_is_not_said_twice(tmp_path):
    frame = measurements().assign(p=lambda table: [f"{x} %" for x in table["p"]])
    frame.rename(columns={"p": "discount %"}).to_csv(tmp_path / "a.csv", index=False)
    told = run("fit", tmp_path / "a.csv", "-t", "state", "-o", tmp_path / "m.json")
    assert "discount %, t" in told
    assert "(%)" not in told + run("explain", tmp_path / "m.json")


def test_a_category_with_a_level_for_most_rows_is_told(tmp_path):
    rng = np.random.default_rng(0)
    remarks = [f"{rng.choice(['calls', 'pays', 'asks'])} {rng.integers(0, 250)}" for _ in range(400)]
    pd.DataFrame({"remark": remarks, "x": rng.normal(size=400), "y": [0, 1] * 200}).to_csv(tmp_path / "a.csv")
    notes = [note for note in prepare(tmp_path / "a.csv", "y").notes if "remark" in note]
    assert len(notes) == 1
    assert f"column 'remark': text of {len(set(remarks))} different values in 400 rows is taken for" in notes[0]
    assert notes[0].endswith("for its words say --text")


def test_of_many_columns_the_last_one_is_named_too(tmp_path):
    pd.DataFrame(np.arange(60.0).reshape(3, 20)).add_prefix("c").to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(DataError, match=r"it has c0, .*c11, …, c19$"):
        prepare(tmp_path / "a.csv", None)
