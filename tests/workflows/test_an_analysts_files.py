"""Files as analysts have them, and what the commands say of them: each line here surprised somebody who tried."""

import importlib.util
import io
import json
import re

import duckdb
import numpy as np
import pandas as pd
import pytest

from command import call, run, run_json
from linsep.data.encoding.column_types import text_type
from linsep.estimators._calibration import Calibration
from linsep.workflows.streaming import Request, fit_in_parts

GERMAN = [
    "Januar",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
]


def visits(n=200, seed=0):
    """Return days with times, a number, and an answer that depends on both."""
    rng = np.random.default_rng(seed)
    day = pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D")
    x = rng.normal(size=n).round(3)
    return pd.DataFrame(
        {"day": day, "x": x, "y": np.where(x + (day.month > 6) + rng.normal(0, 1, n) > 0.5, "yes", "no")}
    )


FORMS = {
    "31 Jan 2021": lambda day: day.strftime("%d %b %Y"),
    "Jan 31, 2021": lambda day: day.strftime("%b %d, %Y"),
    "31-Jan-21": lambda day: day.strftime("%d-%b-%y"),
    "January 31st, 2021 05:30 PM": lambda day: day.strftime("%B %dth, %Y 05:30 PM"),
    "Sun, 31 Jan 2021 17:30:00 +0100": lambda day: day.strftime("%a, %d %b %Y 17:30:00 +0100"),
    "31. Januar 2021": lambda day: f"{day.day}. {GERMAN[day.month - 1]} {day.year}",
    "31. Jän. 2021": lambda day: f"{day.day}. {GERMAN[day.month - 1][:3].replace('Jan', 'Jän')}. {day.year}",
}
HOURS = {"January 31st, 2021 05:30 PM": 17.5, "Sun, 31 Jan 2021 17:30:00 +0100": 16.5}


@pytest.mark.parametrize("form", FORMS)
def test_months_may_be_written_as_words(tmp_path, form):
    frame = visits()
    written = frame.assign(day=[FORMS[form](day) for day in frame["day"]])
    written.to_csv(tmp_path / "words.csv", index=False)
    moved = frame.assign(day=frame["day"] + pd.Timedelta(hours=HOURS.get(form, 0.0)))
    moved.to_csv(tmp_path / "plain.csv", index=False)
    asked = "-t", "y"
    words, plain = (run_json("fit", tmp_path / f"{name}.csv", *asked) for name in ("words", "plain"))
    assert words["certificate"]["primal"] == pytest.approx(plain["certificate"]["primal"], rel=1e-12)
    parts = run_json("fit", tmp_path / "words.csv", *asked, "--max-memory", "9GB")
    assert parts["certificate"]["primal"] == pytest.approx(plain["certificate"]["primal"], rel=1e-4)


@pytest.mark.parametrize("form", FORMS)
def test_exports_read_months_as_words(tmp_path, form):
    frame = visits()
    written = frame.assign(day=[FORMS[form](day) for day in frame["day"]])
    written.loc[3, "day"] = ""
    file, model = tmp_path / "words.csv", tmp_path / "m.json"
    written.to_csv(file, index=False)
    run("fit", file, "-t", "y", "-o", model)
    expected = pd.read_csv(io.StringIO(run("predict", model, file, "--proba")))
    run("export", model, "--to", "python", "-o", tmp_path / "m.py")
    spec = importlib.util.spec_from_file_location("exported", tmp_path / "m.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rows = written.to_dict("records")
    assert [module.predict(row) for row in rows] == expected["prediction"].tolist()
    np.testing.assert_allclose(
        [module.probabilities(row)["yes"] for row in rows], expected["probability_yes"], rtol=1e-9
    )
    if "+0100" not in form:  # STRPTIME takes zones for another type
        query = run("export", model, "--to", "sql", "--dialect", "duckdb")
        found = duckdb.sql(f"SELECT {query} FROM written").df()
        np.testing.assert_allclose(found["probability_yes"], expected["probability_yes"], rtol=1e-9)
    assert "31 Jan 2024" in run("export", model, "--to", "sql", "--dialect", "sqlite", code=2)


def test_words_that_are_no_months_stay_words(tmp_path):
    frame = visits().assign(day=[f"{k % 7} marbles 20" for k in range(200)])
    frame.to_csv(tmp_path / "words.csv", index=False)
    assert "dates" not in run("fit", tmp_path / "words.csv", "-t", "y")


def test_spaces_after_commas_below_a_header_without_any(tmp_path):
    rng = np.random.default_rng(0)
    lines = [
        f"{rng.integers(20, 60)}, {rng.choice(['a', 'b', '?'])}, {rng.choice(['<=50K', '>50K'])}" for _ in range(80)
    ]
    (tmp_path / "tight.csv").write_text("\n".join(["age,work,income", *lines]))
    (tmp_path / "spaced.csv").write_text("\n".join(["age, work, income", *lines]))
    tight, spaced = (run("fit", tmp_path / f"{name}.csv", "-t", "income") for name in ("tight", "spaced"))
    assert tight == spaced.replace("spaced", "tight")
    assert "<=50K" in tight
    (tmp_path / "text.csv").write_text("x,y\n1, a\n2,b\n3,b\n4, a\n")
    assert "classes      a: 2, b: 2" in run(
        "fit", tmp_path / "text.csv", "-t", "y"
    )  # where some have none, spaces count


def test_one_class_is_named_as_such(tmp_path):
    (tmp_path / "one.csv").write_text("x,y\n" + "\n".join(f"{k},1" for k in range(100)))
    assert "all of its 100 rows are 1; a classifier needs" in run("fit", tmp_path / "one.csv", "-t", "y", code=2)
    parts = run("fit", tmp_path / "one.csv", "-t", "y", "--max-memory", "9GB", code=2)
    assert "all of its 100 rows are of one class" in parts


@pytest.mark.parametrize("command", ["evaluate", "report"])
def test_a_label_that_the_model_does_not_know_is_named_with_its_row(tmp_path, command):
    frame = visits()
    frame.to_csv(tmp_path / "a.csv", index=False)
    run("fit", tmp_path / "a.csv", "-t", "y", "-o", tmp_path / "m.json")
    frame.loc[5:6, "y"] = "yes."
    frame.to_csv(tmp_path / "b.csv", index=False)
    done = run(
        command, tmp_path / "m.json", tmp_path / "b.csv", *["-o", tmp_path / "r.html"] * (command == "report"), code=2
    )
    assert "b.csv, column 'y': row 6 has the label 'yes.' (2 rows have such a label), which the model does not" in done
    assert "it knows no, yes" in done


def test_no_row_that_counts_is_said_in_words_of_the_command(tmp_path):
    visits().to_csv(tmp_path / "a.csv", index=False)
    done = run("fit", tmp_path / "a.csv", "-t", "y", "--class-weight", "yes=0", "no=0", code=2)
    assert "every row has the weight 0" in done
    assert "sample_weight" not in done


def test_columns_to_keep_are_listed_as_others_are(tmp_path):
    visits().to_csv(tmp_path / "a.csv", index=False)
    run("fit", tmp_path / "a.csv", "-t", "y", "-o", tmp_path / "m.json")
    assert run("predict", tmp_path / "m.json", tmp_path / "a.csv", "--keep", "day", "x").startswith(
        "day,x,prediction\n"
    )


def grouped(n=400):
    """Return rows of four groups, all of one answer in the last."""
    rng = np.random.default_rng(1)
    group, dose = rng.choice(list("ABCD"), n, p=[0.4, 0.3, 0.2, 0.1]), rng.normal(size=n).round(3)
    y = rng.random(n) < 1 / (1 + np.exp(-dose - (group == "B")))
    return pd.DataFrame({"group": group, "dose": dose, "y": np.where((group == "D") | y, "yes", "no")})


def test_importance_is_that_of_the_coefficients_that_are_told(tmp_path):
    frame = grouped()
    frame.to_csv(tmp_path / "a.csv", index=False)
    run("fit", tmp_path / "a.csv", "-t", "y", "--reference", "group=B", "-o", tmp_path / "m.json")
    told = {row["feature"]: row for row in run_json("explain", tmp_path / "m.json")["planes"][0]["coefficients"]}
    assert told["group = B"]["importance"] == 0.0
    for level in "ACD":
        row, spread = told[f"group = {level}"], np.std(frame["group"] == level)
        assert row["importance"] == pytest.approx(abs(row["coefficient"]) * spread, rel=1e-3)


def test_an_infinite_coefficient_is_infinitely_important(tmp_path):
    grouped().to_csv(tmp_path / "a.csv", index=False)
    run("fit", tmp_path / "a.csv", "-t", "y", "--C", "inf", "-o", tmp_path / "m.json")
    said = run("explain", tmp_path / "m.json")
    assert re.search(r"group = D +\+∞ +∞ +∞ █+\n", said)
    assert re.search(r"group +∞ █+\n", said)
    run("report", tmp_path / "m.json", tmp_path / "a.csv", "-o", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "+∞" in page
    assert not re.search(r"\b(?:inf|nan)\b", page.split("<body>")[-1])


def test_explain_says_where_infinite_estimates_were_not_found_in_time(tmp_path, monkeypatch):
    monkeypatch.setattr("linsep.workflows.reference.SECONDS", 0.0)
    grouped().to_csv(tmp_path / "a.csv", index=False)
    done = call("fit", tmp_path / "a.csv", "-t", "y", "--C", "inf", "-o", tmp_path / "m.json")
    assert done.code == 0
    assert "which ones was not found in time" in run("explain", tmp_path / "m.json")


def test_a_report_of_grouped_data_knows_the_rows_of_the_fit(tmp_path):
    rng = np.random.default_rng(2)
    n = rng.integers(5, 30, 40)
    frame = pd.DataFrame({"dose": rng.normal(size=40).round(2), "group": np.repeat(list("ABCD"), 10), "n": n})
    frame["died"] = np.where(frame["group"] == "D", n, rng.binomial(n, 0.4))
    frame.to_csv(tmp_path / "a.csv", index=False)
    run("fit", tmp_path / "a.csv", "--successes", "died", "--trials", "n", "--C", "inf", "-o", tmp_path / "m.json")
    run("report", tmp_path / "m.json", tmp_path / "a.csv", "-o", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "The model was fitted on these very rows" in page
    assert "not converged" not in page  # beside "proven", which it is: there is an infimum and no optimum


def trials(folder):
    """Write 40 rows of successes among trials, two of them with the same values; return the file and its table."""
    rng = np.random.default_rng(2)
    n = rng.integers(5, 30, 40)
    frame = pd.DataFrame({"dose": rng.normal(size=40).round(2), "group": np.repeat(list("ABCD"), 10), "n": n})
    frame.loc[1, ["dose", "group"]] = frame.loc[0, ["dose", "group"]]
    frame["died"] = np.where(frame["group"] == "D", n, rng.binomial(n, 1 / (1 + np.exp(-frame["dose"]))))
    frame.to_csv(folder / "a.csv", index=False)
    return folder / "a.csv", frame


def test_what_is_said_of_grouped_data_counts_the_rows_of_the_file(tmp_path):
    file, frame = trials(tmp_path)
    model, page = tmp_path / "m.json", tmp_path / "r.html"
    run("fit", file, "--successes", "died", "--trials", "n", "-o", model)
    said = run("report", model, file, "-o", page)
    assert "rows are equal" not in said  # 40 rows with successes and failures contradict nothing
    mistakes = re.findall(r"Row ([\d,]+)(?:, (\d+) times,)? is (\w+), said (\w+)", page.read_text())
    rows = [(int(row), truth) for row, _, truth, _ in mistakes]
    assert len(rows) == len(set(rows)) == 10
    for row, times, truth, _ in mistakes:
        died, n = frame.loc[int(row) - 1, ["died", "n"]]
        assert int(times or 1) == (died if truth == "success" else n - died)
    examples = int((frame["died"] > 0).sum() + (frame["died"] < frame["n"]).sum())
    checked = run("verify", model, file)
    assert f"these {examples} rows lies" in checked
    assert "these are the failures and the successes of 40 rows of the file." in checked
    done = call("evaluate", model, file)
    assert f"the 40 rows of the file that count stand for {frame['n'].sum()}" in done.err.decode()
    assert "the model was fitted on these very rows" in done.err.decode()
    frame.assign(dose=frame["dose"] + 1).to_csv(file, index=False)
    assert "very rows" not in call("evaluate", model, file).err.decode()


def test_rows_that_do_not_count_do_not_shift_the_numbers_of_others(tmp_path):
    frame = pd.DataFrame({"x": [0.0, 1, 2, 3, 9, 5, 5, 7], "y": list("aaaabbab"), "n": [0, 3, 2, 4, 1, 2, 6, 3]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    done = call("fit", tmp_path / "a.csv", "-t", "y", "--weights", "n", "-o", tmp_path / "m.json")
    equal = "2 rows are equal to one with another label (rows 6 and 7, counted from 1)"
    assert equal in done.err.decode()
    measured = call("evaluate", tmp_path / "m.json", tmp_path / "a.csv")  # counted as in the fit: the same seven rows
    assert "the model was fitted on these very rows" in measured.err.decode()
    assert f"{frame['n'].sum()} rows;" in measured.out.decode()
    said = run(
        "report", tmp_path / "m.json", tmp_path / "a.csv", "--train", tmp_path / "a.csv", "-o", tmp_path / "r.html"
    )
    assert equal in said


def test_both_checks_prove_an_unpenalised_fit_with_a_separated_level(tmp_path):
    file, _ = trials(tmp_path)
    run("fit", file, "--successes", "died", "--trials", "n", "--C", "inf", "-o", tmp_path / "m.json")
    assert "Second opinion, of checker.py. Proven" in run("verify", tmp_path / "m.json", file, "--independent")


@pytest.mark.parametrize("loss", ["logistic", "hinge", "square", "perceptron", "modified_huber"])
def test_what_is_not_checked_is_said_without_names_of_attributes(tmp_path, loss):
    visits().to_csv(tmp_path / "a.csv", index=False)
    file, model = tmp_path / "a.csv", tmp_path / "m.json"
    call("fit", file, "-t", "y", "--loss", loss, "-o", model)
    call("report", model, file, "-o", tmp_path / "r.html")
    checked = call("verify", model, file)
    page = re.search(r"Not checked, by any proof: ([^<]*)", (tmp_path / "r.html").read_text())[1]
    for said in (checked.out.decode().split("Not checked: ")[-1], page):
        assert "how the fit went, " in said
        assert "the number of iterations, " in said
        assert "_" not in said
        assert "random" not in said
    names = json.loads(call("verify", model, file, "--json").out)["unchecked"]
    assert {"history_", "n_iter_"} <= set(names)  # programs have the names


def test_a_fit_says_that_it_is_right_no_more_often_than_one_answer_for_all(tmp_path):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"a": rng.normal(size=400), "b": rng.normal(size=400)})
    frame["state"] = np.where(rng.random(400) < 0.1, "fail", "ok")
    frame["weight"] = 1.0 + frame.index % 2
    frame.to_csv(tmp_path / "a.csv", index=False)
    most, told = (frame["state"] == "ok").mean(), ", no more than by always saying ok; "
    for more in ([], ["--max-memory", "9GB", "-o", str(tmp_path / "m.json")]):
        said = run("fit", tmp_path / "a.csv", "-t", "state", "--loss", "hinge", "--ignore", "weight", *more)
        assert f"accuracy    {most:.4f} on these rows{told}" in said
    assert told not in run("fit", tmp_path / "a.csv", "-t", "state", "--loss", "hinge", "--sample-weight", "weight")
    frame.assign(a=frame["a"] + 3.0 * (frame["state"] == "ok")).to_csv(tmp_path / "b.csv", index=False)
    assert told not in run("fit", tmp_path / "b.csv", "-t", "state", "--loss", "hinge")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (["--threshold", "costs=1:20"], "its threshold was chosen for costs=1:20, not for accuracy"),
        (["--threshold", "-9"], "its threshold was given, not chosen for accuracy"),
        (["--class-weight", "ok=5"], "it was fitted with weights of classes"),
    ],
)
def test_accuracy_is_not_held_against_a_model_made_for_something_else(tmp_path, asked, why):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"a": rng.normal(size=400), "state": np.where(rng.random(400) < 0.1, "fail", "ok")})
    frame.to_csv(tmp_path / "a.csv", index=False)
    said = run("fit", tmp_path / "a.csv", "-t", "state", "--loss", "hinge", *asked)
    assert f", no more than by always saying ok ({why}); `linsep" in said


@pytest.mark.slow
def test_where_w_is_nearly_zero_that_is_said_of_margins_and_of_thresholds(tmp_path):
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300)})
    frame["state"] = np.where(frame["a"] + rng.normal(0, 1, 300) > 0.5, "fail", "ok")
    frame.to_csv(tmp_path / "a.csv", index=False)
    told = run("compare", tmp_path / "a.csv", "-t", "state", "--C", "1e-8")
    assert re.search(r"^hinge: w is so near 0 that every row gets the same answer, and there is no margin", told, re.M)
    assert not re.search(r"e\+0[3-9]", told)
    assert "so near 0" not in run("compare", tmp_path / "a.csv", "-t", "state")
    choose = ["fit", tmp_path / "a.csv", "-t", "state", "--loss", "hinge", "--threshold", "f1", "--C"]
    said = "too near to cut between them: give a larger C"
    assert said in run(*choose, "1e-7", "-o", tmp_path / "m.json")
    assert said in run("explain", tmp_path / "m.json")
    assert said not in run(*choose, "1")


def test_grouped_data_are_asked_for_a_plane_as_they_are_fitted(tmp_path):
    file, frame = trials(tmp_path)
    asked = file, "--successes", "died", "--trials", "n"
    fitted = call("fit", *asked, "--C", "inf", "-o", tmp_path / "m.json")
    assert "`linsep separable --estimates` proves it" in fitted.err.decode()
    record = run_json("separable", *asked, "--estimates")
    assert record["estimates"]["group = D"] == "+inf"
    # The supremum counts every trial, as the fit's objective does.
    objective = float(re.search(r"objective is ([\d.]+);", fitted.out.decode()).group(1))
    assert record["supremum"] == pytest.approx([-objective] * 2, rel=1e-4)
    rows = [int(row) for row in re.findall(r"row (\d+)", run("separable", *asked))]
    assert 1 <= max(rows) <= len(frame)


def test_grouped_data_are_compared_replayed_and_diagnosed_as_so_many_rows(tmp_path):
    file, frame = trials(tmp_path)
    long = pd.DataFrame({"row": np.repeat(frame.index, frame.n)}).join(frame, on="row")
    long["y"] = np.where(long.groupby("row").cumcount() < long.died, "success", "failure")
    long.drop(columns=["row", "died", "n"]).to_csv(tmp_path / "long.csv", index=False)
    grouped, one_by_one = (file, "--successes", "died", "--trials", "n"), (tmp_path / "long.csv", "-t", "y")
    both = [{row["loss"]: row["risk"] for row in told("compare", *ways)["rows"]} for ways in (grouped, one_by_one)]
    assert both[0]["logistic"] == pytest.approx(both[1]["logistic"], rel=1e-4)
    rows = frame.n.sum()
    assert told("replay", *grouped, "-o", tmp_path / "a.html")["facts"]["examples"].startswith(f"{rows} with")
    drawn = re.search(r'"row": ?\[([\d, ]+)\]', (tmp_path / "a.html").read_text()).group(1)
    assert set(map(int, drawn.split(","))) == set(range(len(frame)))
    diagnosis = told("doctor", *grouped)
    assert diagnosis["rows"] == rows
    assert "contradiction" not in {one["kind"] for one in diagnosis["findings"]}
    assert "--target would be ignored" in run("doctor", *grouped, "-t", "group", code=2)


def test_counts_that_are_too_many_to_be_looked_at_one_by_one_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("x,k,n\n1,3,1000000000000\n2,5,9\n")
    bad = run("compare", tmp_path / "a.csv", "--successes", "k", "--trials", "n", code=2)
    assert "its rows stand for 1,000,000,000,009, and 50,000,000 are the most that are counted one by one" in bad


def test_a_category_whose_levels_nearly_all_are_rare_says_so(tmp_path):
    rng = np.random.default_rng(0)
    codes = [f"{code:05d}" for code in rng.integers(0, 6_000, 300)]
    frame = pd.DataFrame({"zip": codes, "x": rng.normal(size=300), "y": rng.integers(0, 2, 300)})
    frame.to_csv(tmp_path / "a.csv", index=False)
    rare = (frame.zip.map(frame.zip.value_counts()) == 1).sum()
    said = f"column 'zip': {rare} of 300 rows have values that too few others have: these share one weight, (other)"
    assert said in call("fit", tmp_path / "a.csv", "-t", "y", "--category", "zip").err.decode()


def test_between_text_and_category_both_sides_say_what_the_other_would_be():
    sides = [text_type("remark", 4.0, different, 1_000) for different in (299, 301, 501)]
    assert [side.kind for side in sides] == ["category", "text", "text"]
    assert sides[0].note.endswith("for its words say --text")
    assert sides[1].note.endswith("where a text as a whole is one of few, say --category")
    assert not sides[2].note


def test_each_plane_of_several_classes_says_whose_it_is_and_whether_it_tells_anything(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2))
    frame = pd.DataFrame(
        {"a": x[:, 0], "b": rng.choice(["u", "v", "w"], 200), "y": np.where(x[:, 0] > 0, "up", "down")}
    )
    frame.loc[[3, 50, 120], "y"] = "rare"
    frame.to_csv(tmp_path / "a.csv", index=False)
    run("fit", tmp_path / "a.csv", "-t", "y", "--loss", "hinge", "-o", tmp_path / "m.json")
    said = run("explain", tmp_path / "m.json")
    assert "\nclass down\ncolumn" in said
    assert "\nclass rare: hardly depends on any column, nearly all of its score is the intercept\n" in said


def test_weekdays_of_a_reference_have_their_names(tmp_path):
    frame = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=200).strftime("%Y-%m-%d"), "y": [0, 1, 1, 0] * 50})
    frame.to_csv(tmp_path / "a.csv", index=False)
    said = run("fit", tmp_path / "a.csv", "-t", "y", "--C", "inf")
    assert "weekday of day = 0 (Monday)" in said


def test_the_ending_of_an_export_says_its_kind(tmp_path):
    pd.DataFrame({"x": [1.0, 2, 3, 4], "y": [0, 1, 0, 1]}).to_csv(tmp_path / "a.csv", index=False)
    run("fit", tmp_path / "a.csv", "-t", "y", "-o", tmp_path / "m.json")
    for ending, kind in ((".onnx", "onnx"), (".sql", "sql"), (".py", "python")):
        assert run_json("export", tmp_path / "m.json", "-o", tmp_path / f"e{ending}")["format"] == kind
    for words in ((), ("-o", tmp_path / "e.txt")):
        said = run("export", tmp_path / "m.json", *words, code=2)
        assert "say to what: --to onnx, --to sql or --to python, or -o with a name in .onnx, .sql or .py" in said


def test_isotonic_regression_of_few_scores_says_that_they_are_few():
    said = [Calibration("isotonic", (), folds=5, rows=rows).in_words for rows in (999, 1_000)]
    assert said[0] == "by isotonic regression of 999 out-of-fold scores, 5 folds (fewer than the 1,000 it needs)"
    assert "fewer" not in said[1]


def test_probabilities_for_other_base_rates_are_not_called_badly_learned(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    frame = pd.DataFrame({"x": x, "y": np.where(x + rng.normal(size=600) > 1, "yes", "no")})
    frame.to_csv(tmp_path / "a.csv", index=False)
    fitted = run("fit", tmp_path / "a.csv", "-t", "y", "--base-rates", "yes=0.7", "-o", tmp_path / "m.json")
    assert "by the log odds of the fit, corrected to base rates of 0.3, 0.7\n" in fitted
    said = run("evaluate", tmp_path / "m.json", tmp_path / "a.csv")
    assert "they are for the base rates that --base-rates said, which these rows may not have" in said
    assert "learns better ones" not in said


def test_a_comparison_says_how_many_rows_lie_on_the_weak_plane(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n0,a\n0,b\n0,a\n1,b\n2,b\n")
    said = call("compare", tmp_path / "a.csv", "-t", "y").out.decode()
    assert (
        "proven: a plane has no row on its wrong side, but 3 of 5 rows on itself, and none separates them all" in said
    )


def test_two_columns_with_a_level_in_common_are_not_said_to_depend_on_each_other(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice(list("abcdef"), 400) for name in ("job", "trade")})
    frame.loc[:30] = "?"
    frame["y"] = rng.integers(0, 2, 400)
    frame.to_csv(tmp_path / "a.csv", index=False)
    found = run_json("doctor", tmp_path / "a.csv", "-t", "y")["findings"]
    (message,) = [one["message"] for one in found if one["kind"] == "redundant"]
    assert message.startswith("some feature of 'job' and 'trade' is a sum of others of them in every row")
    assert message.endswith("leave one out, or join levels that always come together")


def test_a_solver_that_does_not_suit_names_losses_as_they_are_typed(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n0,a\n1,b\n2,b\n")
    said = run("replay", tmp_path / "a.csv", "-t", "y", "--loss", "hinge", "--solver", "newton", code=2)
    assert "needs a smooth loss, not 'hinge'; use " in said


def test_a_model_that_says_the_same_of_every_row_is_said_to(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=300), "y": rng.choice(["away", "home"], 300, p=[0.7, 0.3])})
    frame.to_csv(tmp_path / "a.csv", index=False)
    for threshold, all_of_them in (("costs=1:50", True), ("0.5", False)):
        said = run("fit", tmp_path / "a.csv", "-t", "y", "--threshold", threshold)
        assert ("on these rows, of all of which home is predicted, no more than by" in said) == all_of_them


def test_amounts_in_brackets_are_said_to_be_written_with_a_minus(tmp_path):
    frame = pd.DataFrame({"paid": [f"${k + 100}.50" for k in range(200)], "y": [0, 1] * 100})
    frame.loc[7, "paid"] = "($13,501.51)"
    frame.to_csv(tmp_path / "a.csv", index=False)
    said = run("fit", tmp_path / "a.csv", "-t", "y", code=2)
    assert "an amount below zero is -$13,501.51; correct it" in said
    frame.replace("($13,501.51)", "-$13,501.51").to_csv(tmp_path / "a.csv", index=False)
    run("fit", tmp_path / "a.csv", "-t", "y")


@pytest.mark.parametrize("more", [(), ("--max-memory", "8GB")], ids=["in memory", "in parts"])
def test_empty_text_is_missing_in_typed_tables_as_in_csv(tmp_path, more):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"town": rng.choice(["Ede", "Ulm", ""], 300), "y": rng.choice(["no", "yes", ""], 300)})
    frame["days"] = np.where(rng.random(300) < 0.3, "", rng.normal(9, 2, 300).round(2).astype(str))
    frame["kind"] = pd.Categorical(rng.choice(["a", ""], 300))
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    found = []
    for name in ("a.csv", "a.parquet"):
        run("fit", tmp_path / name, "-t", "y", *more, "-o", tmp_path / "m.json")
        found.append(run_json("explain", tmp_path / "m.json")["planes"])
    assert [one["column"] for one in found[0][0]["columns"]] == [one["column"] for one in found[1][0]["columns"]]
    both = [{one["feature"]: one["coefficient"] for one in planes[0]["coefficients"]} for planes in found]
    assert both[0] == pytest.approx(both[1], rel=1e-3, abs=1e-5)


def test_too_many_classes_are_told_among_the_rows_that_were_read(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n" + "".join(f"{k},name{k % 1500}\n" for k in range(2000)))
    said = run("fit", tmp_path / "a.csv", "-t", "y", "--max-memory", "8GB", "-o", tmp_path / "m.json", code=2)
    assert "1,500 different values in 2,000 rows are no classes" in said


def told(*words):
    """Return what a command says to programs, whatever it exits with."""
    return json.loads(call(*words, "--json").out)


def test_doctor_lists_every_column_that_is_not_understood(tmp_path):
    n = 120
    frame = pd.DataFrame({"x": np.sin(np.arange(n)), "y": ["no", "yes"] * (n // 2)})
    frame["age"] = ["n/k", *map(str, range(1, n))]
    frame["when"] = [f"{1 + k % 11:02d}/{1 + k % 12:02d}/2021" for k in range(n)]
    frame["weight"] = [f"{k / 10} {'kg' if k % 2 else 'g'}" for k in range(n)]
    frame.to_csv(tmp_path / "a.csv", index=False)
    found = run_json("doctor", tmp_path / "a.csv", "-t", "y", "--numeric", "3")["findings"]
    odd = {one["columns"][0]: one["message"] for one in found if one["kind"] == "not understood"}
    assert list(odd) == ["age", "when", "weight"]
    assert "line 2, column 'age': 'n/k' is not a number" in odd["age"]
    assert "--day-first 'when' or --month-first 'when'" in odd["when"]
    assert "has numbers in g and kg" in odd["weight"]
    # Where nothing else is left, all are told too.
    bad = run("doctor", tmp_path / "a.csv", "-t", "y", "--ignore", "x", code=2)
    assert all(f"column {name!r}" in bad for name in odd)


@pytest.mark.slow
def test_no_pass_has_the_number_of_another(tmp_path):
    told = []
    grouped().to_csv(tmp_path / "a.csv", index=False)
    request = Request(str(tmp_path / "a.csv"), "y", 8 * 10**9, C=np.inf)  # a test run has loaded much
    fit_in_parts(request, lambda what, done, of: told.append((what, done))).folder.remove()
    passes = [what.split(",")[0] for what, done in told if what.startswith("pass") and done == 400]
    assert len(passes) == len(set(passes)) > 10
