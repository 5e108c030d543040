"""How columns are named on the command line, files that are read or refused, and how rows and lines are counted."""

import datetime
import sys

import numpy as np
import openpyxl
import pandas as pd
import pytest

from command import call, run, run_json


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place, rng = tmp_path_factory.mktemp("names"), np.random.default_rng(0)
    frame = pd.DataFrame({"Last, first": rng.integers(0, 3, 60), "size": rng.integers(0, 3, 60), "x": rng.random(60)})
    frame.assign(sort=rng.choice(["a", "b", "c"], 60)).to_csv(place / "a.csv", index=False)
    return place


@pytest.mark.parametrize(
    "said",
    [
        ["--category", "Last, first", "size"],
        ["--category", "Last, first", "--category", "size"],
        ["--category", "Last, first", "2"],
        ["--category=size", "--category=Last, first"],
    ],
)
def test_several_columns_after_one_option_and_commas_in_names(folder, said):
    encoding = run_json("fit", folder / "a.csv", "-t", "sort", *said)
    assert encoding["features"] == 3 + 3 + 1


def test_lists_with_commas_are_still_lists(folder):
    assert run_json("fit", folder / "a.csv", "-t", "sort", "--ignore", "size,x")["features"] == 1


def test_a_list_before_the_file_is_explained(folder):
    assert "file first" in run("fit", "--ignore", "size", folder / "a.csv", "-t", "sort", code=2)


def test_the_nearest_name_is_offered(folder, tmp_path):
    assert "no column 'Sorte'; did you mean 'sort'?" in run("fit", folder / "a.csv", "-t", "Sorte", code=2)
    assert "no column 'sizes'; did you mean 'size'?" in run(
        "fit", folder / "a.csv", "-t", "sort", "--category", "sizes", code=2
    )
    run("fit", folder / "a.csv", "-t", "sort", "-o", tmp_path / "m.json")
    (tmp_path / "new.csv").write_text('"Last, first",Size,x\n1,2,3\n')
    complaint = run("predict", tmp_path / "m.json", tmp_path / "new.csv", code=2)
    assert "no column 'size', which the model needs; did you mean 'Size'?" in complaint


def test_separable_tells_one_class_from_the_rest(folder):
    assert "3 classes (a, b, c)" in run("separable", folder / "a.csv", "-t", "sort", code=2)
    assert "--positive" in run("separable", folder / "a.csv", "-t", "sort", code=2)
    found = run_json("separable", folder / "a.csv", "-t", "sort", "--positive", "b")
    assert found["separable"] is False
    complaint = run("separable", folder / "a.csv", "-t", "sort", "--positive", "d", code=2)
    assert "--positive d is not among the classes: a, b, c" in complaint


@pytest.fixture
def workbook(tmp_path):
    rng, book = np.random.default_rng(0), openpyxl.Workbook()
    book.active.append(["born", "town", "score", "zip", "bought"])
    for k in range(80):
        score = None if k % 9 == 0 else float(rng.normal())
        day = datetime.datetime(2001, 1, 1) + datetime.timedelta(days=int(rng.integers(0, 999)))
        book.active.append([day, rng.choice(["Ede", "Ulm"]), score, int(rng.integers(1, 4)), int(rng.integers(0, 2))])
    other = book.create_sheet("other")
    for row in (["x", "y"], [1, "a"], [2, "b"], [3, "a"], [4, "b"]):
        other.append(row)
    book.save(tmp_path / "book.xlsx")
    return tmp_path / "book.xlsx"


def test_workbooks_are_read(workbook, tmp_path):
    pd.read_excel(workbook, engine="openpyxl").to_csv(tmp_path / "book.csv", index=False)
    run("fit", workbook, "-t", "bought", "-o", tmp_path / "m.json", "--category", "zip")
    run("fit", tmp_path / "book.csv", "-t", "bought", "-o", tmp_path / "csv.json", "--category", "zip")
    assert (
        run("explain", tmp_path / "m.json").splitlines()[1:] == run("explain", tmp_path / "csv.json").splitlines()[1:]
    )
    assert run("predict", tmp_path / "m.json", workbook) == run("predict", tmp_path / "csv.json", tmp_path / "book.csv")
    assert "erified" in run("verify", tmp_path / "m.json", workbook)
    assert run_json("fit", workbook, "--sheet", "other", "-t", "y")["rows"] == 4
    assert run_json("fit", workbook, "--sheet", "2", "-t", "y")["rows"] == 4
    assert "no sheet 'third'; it has Sheet, other" in run("fit", workbook, "--sheet", "third", "-t", "y", code=2)
    assert "a workbook is read whole" in run("fit", workbook, "-t", "bought", "--max-memory", "9GB", code=2)


def test_without_the_package_a_workbook_is_refused_with_the_command_to_install_it(workbook, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    complaint = run("fit", workbook, "-t", "bought", code=2)
    assert "pip install 'linsep[excel]'" in complaint


@pytest.mark.parametrize("more", [[], ["--max-memory", "9GB"]])
def test_lines_are_right_after_quoted_line_breaks_and_empty_lines(tmp_path, more):
    text = 'note,x,y\n"two\nlines",1,0\n\n\nplain,2,1\n"a\n\nb",3,0\nplain,-inf,1\nplain,4,0\n'
    (tmp_path / "a.csv").write_text(text)
    line = 1 + text[: text.index("-inf")].count("\n")
    assert f"a.csv line {line}, column 'x': '-inf'" in run("fit", tmp_path / "a.csv", "-t", "y", *more, code=2)
    (tmp_path / "good.csv").write_text(text.replace("-inf", "7"))
    run("fit", tmp_path / "good.csv", "-t", "y", "-o", tmp_path / "m.json", "--ignore", "note", *more)
    (tmp_path / "bad.csv").write_text(text.replace("-inf", "seven"))
    complaint = run("predict", tmp_path / "m.json", tmp_path / "bad.csv", code=2)
    assert f"bad.csv line {line}, column 'x': 'seven' is not a number" in complaint


@pytest.mark.slow
def test_a_million_columns_are_refused_at_once_with_how_to_go_on(tmp_path):
    d = 1_000_000
    with (tmp_path / "wide.csv").open("w") as file:
        for row in [(f"c{j}" for j in range(d)), *((str(i * j % 7) for j in range(d)) for i in range(2))]:
            file.write(",".join(row) + "\n")
    for arguments in (["-t", "c0"], ["-t", "c0", "--max-memory", "9GB"]):
        complaint = run("fit", tmp_path / "wide.csv", *arguments, code=2)
        assert "wide.csv: 1,000,000 columns" in complaint
        assert "--max-columns 1000000" in complaint


def test_the_limit_of_columns_can_be_raised_and_lowered(folder):
    assert "4 columns" in run("fit", folder / "a.csv", "-t", "sort", "--max-columns", "3", code=2)
    assert call("fit", folder / "a.csv", "-t", "sort", "--max-columns", "4").code == 0


def test_names_with_commas_are_told_apart_in_lists(folder, tmp_path):
    names = "'Last, first', 'size', 'x'"
    assert f"it has {names}, 'sort'" in run("fit", folder / "a.csv", code=2)
    assert f"did you mean 'size'? It has {names}, 'sort'" in run("fit", folder / "a.csv", "-t", "sice", code=2)
    assert f"numbers     {names} (standardised)" in run("fit", folder / "a.csv", "-t", "sort")
    levels = pd.DataFrame({"town": ["Ede, north", "Ulm"] * 30, "x": np.arange(60.0) % 7, "y": ["a", "b", "b"] * 20})
    levels.to_csv(tmp_path / "b.csv", index=False)
    told = run("fit", tmp_path / "b.csv", "-t", "y", "--reference", "town=ulm", code=2)
    assert "'town' has no level 'ulm', but 'Ede, north', 'Ulm'" in told


def test_columns_that_follow_from_others_are_told_apart_from_the_signs_of_the_formula(tmp_path):
    town = np.array(["Ede", "Ulm", "Bonn"] * 20)
    same = np.where(town == "Ede", "E", np.where(town == "Ulm", "U", "B"))
    pd.DataFrame({"town": town, "code": same, "y": np.where(town == "Ede", "a", ["a", "b"] * 30)}).to_csv(
        tmp_path / "a.csv", index=False
    )
    told = run("separable", tmp_path / "a.csv", "-t", "y", "--estimates")
    assert "(aliased: 'town = Ede' = 'code = E', 'town = Ulm' = 'code = U'" in told


@pytest.mark.parametrize(("encoding", "named"), [("cp1252", "Preis (€)"), ("latin-1", "größe")])
def test_names_in_another_encoding_are_not_taken_for_others(tmp_path, encoding, named):
    rows = [f"{k % 7};{'ä' if k % 3 else 'ö'};{'ja' if k % 2 else 'nein'}" for k in range(40)]
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    for path, written in ((old, encoding), (new, "utf-8")):
        path.write_text("\n".join([f"{named};Stück;gekündigt", *rows]), encoding=written)
    told = run("fit", old, "-t", "gekündigt", code=2)
    assert f"old.csv: it is not utf-8 text (its first line); say --encoding {encoding} (or what it is)" in told
    assert "data" in run("fit", old, "-t", "gekündigt", "--encoding", encoding)
    run("fit", new, "-t", "gekündigt", "-o", tmp_path / "m.json")
    told = run("predict", tmp_path / "m.json", old, code=2)
    assert f"say --encoding {encoding} (or what it is)" in told


def test_values_in_another_encoding_are_told_by_predict_too(tmp_path):
    rows = [f"{k % 7};{'ä' if k % 3 else 'ö'};{'ja' if k % 2 else 'nein'}" for k in range(40)]
    for name, written in (("old.csv", "latin-1"), ("new.csv", "utf-8")):
        (tmp_path / name).write_text("\n".join(["x;part;y", *rows]), encoding=written)
    run("fit", tmp_path / "new.csv", "-t", "y", "-o", tmp_path / "m.json")
    told = run("predict", tmp_path / "m.json", tmp_path / "old.csv", code=2)
    assert "old.csv line 2, column 'part': b'\\xf6' is not UTF-8 text" in told
    assert "say --encoding latin-1 (or what it is)" in told


def test_the_doctor_says_how_many_levels_of_two_columns_are_the_same(tmp_path):
    rng = np.random.default_rng(0)
    town = rng.integers(0, 4, 200)
    rows = [f"{'abcd'[k]},z{k},{rng.normal():.3f},{rng.choice(['ja', 'nein'])}" for k in town]
    (tmp_path / "a.csv").write_text("\n".join(["town,zip,x,y", *rows]) + "\n")
    told = run("doctor", tmp_path / "a.csv", "-t", "y")
    assert "in every row, and 3 more relations of 'town' and 'zip': without a penalty" in told
