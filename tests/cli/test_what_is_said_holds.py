"""What the commands say of numbers and names: which rows, which intervals, which odds, in which order."""

import json
import re
import time

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.datasets import dump_svmlight_file

from command import call, run, run_json
from linsep import LogisticRegression
from linsep.cli.speech import Waiting


@pytest.fixture
def shop(tmp_path):
    """A file of two numbers, weights and a label."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(600, 2)), columns=["a", "b"])
    frame["w"] = rng.integers(1, 4, 600)
    frame["y"] = np.where(frame.a + 0.5 * frame.b + rng.logistic(size=600) > 0, "yes", "no")
    frame.to_csv(tmp_path / "shop.csv", index=False)
    return tmp_path, frame


def test_odds_ratios_are_those_of_the_probabilities(shop):
    place, _ = shop
    words = ("fit", place / "shop.csv", "-t", "y", "--ignore", "w", "--calibrate", "sigmoid", "-o", place / "m.json")
    run(*words, "--loss", "hinge")
    (plane,) = run_json("explain", place / "m.json")["planes"]
    ratio = {one["feature"]: one["odds_ratio"] for one in plane["coefficients"]}
    rows = pd.DataFrame({"a": [0.2, 1.2], "b": [0.3, 0.3]})
    rows.to_csv(place / "two.csv", index=False)
    run("predict", place / "m.json", place / "two.csv", "--proba", "-o", place / "p.csv")
    share = pd.read_csv(place / "p.csv")["probability_yes"].to_numpy()
    odds = share / (1 - share)
    assert ratio["a"] == pytest.approx(odds[1] / odds[0], rel=1e-9)
    assert "odds ratio" in run("explain", place / "m.json")


def test_isotonic_regression_multiplies_no_odds(shop):
    place, _ = shop
    words = ("fit", place / "shop.csv", "-t", "y", "--ignore", "w", "--calibrate", "isotonic", "-o", place / "m.json")
    run(*words)
    assert "odds" not in run("explain", place / "m.json")
    assert "odds_ratio" not in json.dumps(run_json("explain", place / "m.json"))
    run("report", place / "m.json", place / "shop.csv", "--time-limit", "0.1", "-o", place / "r.html")
    assert "odds ratio" not in (place / "r.html").read_text()


def test_sql_of_isotonic_shares_leaves_rows_in_their_order_in_duckdb(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(6000, 2)), columns=["a", "b"])
    frame["y"] = (frame.a + rng.logistic(size=6000) > 0).astype(int)
    frame.to_csv(tmp_path / "t.csv", index=False)
    run("fit", tmp_path / "t.csv", "-t", "y", "--calibrate", "isotonic", "-o", tmp_path / "m.json")
    run("predict", tmp_path / "m.json", tmp_path / "t.csv", "--proba", "-o", tmp_path / "p.csv")
    expression = run("export", tmp_path / "m.json", "--to", "sql", "--dialect", "duckdb")
    with duckdb.connect(":memory:") as base:
        base.register("t", frame)
        found = base.execute(f"SELECT {expression} FROM t").df()
    told = pd.read_csv(tmp_path / "p.csv")
    np.testing.assert_allclose(found["probability_1"], told["probability_1"], atol=1e-9)
    done = call("export", tmp_path / "m.json", "--to", "sql", "-o", tmp_path / "m.sql")
    assert b"DuckDB may give the rows in another order: select a key beside them, or say --dialect duckdb" in done.err


def test_shares_that_came_true_have_intervals_for_all_of_them(shop):
    place, _ = shop
    run("fit", place / "shop.csv", "-t", "y", "--ignore", "w", "-o", place / "m.json")
    said = run("evaluate", place / "m.json", place / "shop.csv")
    assert "came true  95 % for all of these" in said
    bins = run_json("evaluate", place / "m.json", place / "shop.csv")["reliability"]["bins"]
    z, n, p = norm.isf(0.025 / len(bins)), bins[0]["count"], bins[0]["came_true"]
    middle, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    assert bins[0]["high"] == pytest.approx((middle + half) / (1 + z * z / n), abs=1e-4)


def test_rows_that_count_unequally_in_a_fit_and_alike_in_a_test_are_said_to(shop):
    place, frame = shop
    fit = "fit", place / "shop.csv", "-t", "y", "--sample-weight", "w", "-o", place / "m.json"
    done = call(*fit, "--test-share", "0.3")
    once = "each row counts once; evaluate --sample-weight 'w' weighs as in the fit"
    assert once in done.err.decode()
    assert "on these rows, weighed by w; " in done.out.decode()
    assert once in call("evaluate", place / "m.json", place / "shop.csv").err.decode()
    assert once not in call("evaluate", place / "m.json", place / "shop.csv", "--sample-weight", "w").err.decode()
    told = run_json(*fit)["training_accuracy"]
    assert once in call("report", place / "m.json", place / "shop.csv", "-o", place / "r.html").err.decode()
    run("predict", place / "m.json", place / "shop.csv", "-o", place / "p.csv")
    right = pd.read_csv(place / "p.csv").prediction == frame.y
    assert told == pytest.approx(np.average(right, weights=frame.w))


def test_a_file_with_names_for_a_model_without_is_told_from_a_bad_number(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({0: rng.normal(size=80), 1: rng.normal(size=80), 2: np.arange(80) % 2})
    frame.to_csv(tmp_path / "bare.csv", index=False, header=False)
    frame.to_csv(tmp_path / "named.csv", index=False, header=["first", "second", "third"])
    run("fit", tmp_path / "bare.csv", "-t", "-1", "-o", tmp_path / "m.json")
    said = run("predict", tmp_path / "m.json", tmp_path / "named.csv", code=2)
    assert (
        "line 1, column 'column_1': 'first' is not a number; if the first line names the columns, say --header" in said
    )
    space = {"__name__": "exported"}
    exec(run("export", tmp_path / "m.json", "--to", "python"), space)
    with pytest.raises(ValueError, match="column 'column_1': 'first' is not a number"):
        space["predict"]({"column_1": "first", "column_2": 1.0})


def test_a_name_of_two_lines_stands_in_one(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=90), "two\nlines": rng.choice(["p", "q", "r"], 90)})
    frame["y"] = np.where(frame.a + rng.normal(size=90) > 0, "yes", "no")
    frame.to_csv(tmp_path / "t.csv", index=False)
    said = run("fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m.json")
    assert "categories  'two\\nlines'\n" in said
    told = run("explain", tmp_path / "m.json")
    assert "\ntwo\\nlines " in told
    assert "two\\nlines = p " in told
    names = [one["feature"] for one in run_json("explain", tmp_path / "m.json")["planes"][0]["coefficients"]]
    assert "two\nlines = p" in names


def test_fewer_folds_than_asked_for_are_said(shop):
    place, frame = shop
    few = pd.concat([frame[frame.y == "yes"].head(7), frame[frame.y == "no"].head(60)])
    few.to_csv(place / "few.csv", index=False)
    done = call("fit", place / "few.csv", "-t", "y", "--C", "auto", "--folds", "50")
    assert "7 folds instead of 50: of the rarest class, yes, there are 7 rows, one for each" in done.err.decode()
    assert "between 7 folds" in done.out.decode()
    assert "instead of" not in call("fit", place / "few.csv", "-t", "y", "--C", "auto").err.decode()


def test_rows_are_named_alike_by_separable(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(2600, 2)), columns=["a", "b"]).assign(y=rng.integers(0, 2, 2600))
    frame.loc[2500, ["a", "b"]] = frame.loc[1200, ["a", "b"]].to_numpy()
    frame.loc[[1200, 2500], "y"] = [0, 1]
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert "rows 1,201 and 2,501 are the same point with different labels" in run(
        "separable", tmp_path / "t.csv", "-t", "y"
    )


def test_the_label_is_no_column_of_a_mistake(shop):
    place, _ = shop
    run("fit", place / "shop.csv", "-t", "y", "--ignore", "w", "-o", place / "m.json")
    run("report", place / "m.json", place / "shop.csv", "--time-limit", "0.1", "-o", place / "r.html")
    mistakes = (place / "r.html").read_text().partition("The worst mistakes")[2].partition("Can a plane")[0]
    assert "<dt>a" in mistakes
    assert "<dt>w" in mistakes
    assert "<dt>y" not in mistakes


def test_a_certificate_of_scores_is_not_said_to_be_one_of_mistakes(shop):
    place, _ = shop
    words = "fit", place / "shop.csv", "-t", "y", "--ignore", "w", "--threshold", "0.3", "-o", place / "m.json"
    run(*words)
    run("report", place / "m.json", place / "shop.csv", "--time-limit", "0.1", "-o", place / "r.html")
    page = (place / "r.html").read_text()
    assert "not at 0: this is about the scores, wherever they are cut." in page
    assert "what is said above of a margin" not in page
    assert "`" not in page.partition("The certificate")[2].partition("How good it is")[0]


def test_columns_of_a_file_larger_than_memory_that_give_the_answer_away_are_found(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=30_000), "y": rng.choice(["no", "yes"], 30_000)})
    frame["reason"] = np.where(frame.y == "yes", rng.choice(["price", "service"], 30_000), "none")
    frame.to_csv(tmp_path / "t.csv", index=False)
    done = call("fit", tmp_path / "t.csv", "-t", "y", "--max-memory", "9GB", "-o", tmp_path / "m.json")
    assert done.code == 0
    said = done.err.decode()
    assert "in a sample of " in said
    assert "'reason = none' alone tells yes from the rest" in said


def test_what_goes_by_has_no_rate_before_it_was_timed(capsys):
    waiting = Waiting(patience=0.0)
    time.sleep(0.01)
    waiting._told = -1.0
    waiting.share("predicting", 2, 0)
    assert capsys.readouterr().err == "linsep: predicting: 2 rows …\n"
    waiting._told = -1.0
    waiting.share("pass 1", 46_180, 522_911)
    assert capsys.readouterr().err == "linsep: pass 1: 46,180 of 522,911 rows …\n"
    time.sleep(0.02)
    waiting._told = -1.0
    waiting.share("pass 1", 92_360, 522_911)
    assert " a second, " in capsys.readouterr().err


def test_classes_of_thousands_of_rows_stand_without_quotation_marks_in_a_report(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=2600), "y": np.arange(2600) % 2, "w": rng.integers(1, 3, 2600)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    run("fit", tmp_path / "t.csv", "-t", "y", "--weights", "w", "-o", tmp_path / "m.json")
    run("report", tmp_path / "m.json", tmp_path / "t.csv", "--time-limit", "0.1", "-o", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    counted = frame.groupby("y")["w"].sum()  # a row that was seen twice is two rows
    assert f"{counted.sum():,} rows (0: {counted[0]:,}, 1: {counted[1]:,})" in page
    assert "summed over all rows, each as much as it counts (s), is to be small" in page


def test_a_replay_says_which_of_its_numbers_are_in_the_units_of_the_file(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(100 + 9 * rng.normal(size=(30, 3)), columns=["a", "b", "c"])
    frame["y"] = np.where(frame.a > 100, "yes", "no")
    frame[["a", "b", "y"]].to_csv(tmp_path / "two.csv", index=False)
    frame.to_csv(tmp_path / "three.csv", index=False)
    said = run("replay", tmp_path / "two.csv", "-t", "y", "-o", tmp_path / "r.html")  # drawn around (100, 100)
    assert "w, b, R and γ are in these units, while the picture has the file's; --no-scaling" in said
    said = run("replay", tmp_path / "three.csv", "-t", "y", "-o", tmp_path / "r.html")
    assert "w, b, R, γ and distances are in these units; --no-scaling" in said


def test_successes_and_failures_of_a_row_are_held_out_together(tmp_path):
    dose = np.array([1.69, 1.72, 1.76, 1.78, 1.81, 1.84])
    frame = pd.DataFrame({"dose": dose, "n": [59, 60, 62, 56, 63, 59], "dead": [6, 13, 18, 28, 52, 53]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = "fit", tmp_path / "t.csv", "--successes", "dead", "--trials", "n", "-o", tmp_path / "m.json"
    done = call(*words, "--threshold", "accuracy", "--folds", "9")
    assert "6 folds instead of 9: there are 6 rows of trials, one for each" in done.err.decode()
    said = done.out.decode()
    assert "on 6 out-of-fold scores: accuracy " in said
    # Each dose is scored by a fit to the others, of which both outcomes have one score.
    scores = []
    for k in range(6):
        rest = frame.drop(k)
        X = (rest.dose - np.average(rest.dose, weights=rest.n)).to_numpy()
        scale = np.sqrt(np.average(X**2, weights=rest.n))
        model = LogisticRegression(tol=1e-10).fit(
            np.repeat(X / scale, 2)[:, None], [0, 1] * 5, np.column_stack([rest.n - rest.dead, rest.dead]).ravel()
        )
        at = (dose[k] - np.average(rest.dose, weights=rest.n)) / scale
        scores.append(float(model.decision_function([[at]])[0]))
    right = [
        sum(frame.dead[k] if scores[k] >= cut else frame.n[k] - frame.dead[k] for k in range(6))
        for cut in [*scores, np.inf]
    ]
    assert f"accuracy {max(right) / frame.n.sum():.4f} ± " in said


def test_a_workbook_of_several_sheets_says_which_is_read(tmp_path):
    with pd.ExcelWriter(tmp_path / "b.xlsx") as book:
        pd.DataFrame({"about": ["this book"]}).to_excel(book, sheet_name="Info", index=False)
        pd.DataFrame({"a": [1, 2, 3, 4], "y": [0, 0, 1, 1]}).to_excel(book, sheet_name="Data", index=False)
    said = run("fit", tmp_path / "b.xlsx", "-t", "y", code=2)
    assert "its first sheet, 'Info', is read; --sheet names another: 'Data'" in said
    assert "first sheet" not in call("fit", tmp_path / "b.xlsx", "-t", "y", "--sheet", "Data").err.decode()


def test_a_row_of_trials_is_not_said_to_be_equal_to_itself(tmp_path):
    frame = pd.DataFrame({"dose": [1.0, 2.0, 3.0], "n": [9, 9, 9], "dead": [2, 4, 8]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    run("fit", tmp_path / "t.csv", "--successes", "dead", "--trials", "n", "-o", tmp_path / "m.json")
    run("report", tmp_path / "m.json", tmp_path / "t.csv", "-o", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert re.search(r"overlap: no plane separates, not even weakly; row [123] was seen with both labels", page)
    assert re.search("<code>linsep verify [^<]*m.json [^<]*t.csv</code>", page), "the file of the fit is known here"


def test_a_proven_choice_is_said_to_be_one_by_mistakes(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(41, 2)), columns=["a", "b"])
    frame["y"] = np.where(frame.a + rng.normal(size=41) > 0, "yes", "no")
    frame.to_csv(tmp_path / "t.csv", index=False)
    said = run("fit", tmp_path / "t.csv", "-t", "y", "--C", "auto", "--prove")
    assert re.search(r"C  +[\d.e-]+, that with the fewest mistakes in all folds: accuracy ", said)


def test_columns_with_gaps_that_are_not_named_are_counted_by_kind(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"c{k}": rng.choice(["a", "b"], 40) for k in range(10)})
    frame.assign(y=np.arange(40) % 2).to_csv(tmp_path / "t.csv", index=False)
    run("fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m.json")
    frame.iloc[0], frame.iloc[1] = None, "new"
    frame.to_csv(tmp_path / "new.csv", index=False)
    said = call("predict", tmp_path / "m.json", tmp_path / "new.csv", "-o", tmp_path / "p.csv").err.decode()
    for told, more in (("no value", "missing values"), ("a value that", "values not seen in training")):
        (left,) = re.findall(rf"and (\d+) more columns with {more}\n", said)
        assert (said.count(f" has {told}"), int(left)) == (4, 6)


@pytest.mark.slow
def test_a_unit_of_words_and_of_products_is_said_and_adds_up_to_the_score(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(20, 60, (80, 2)), columns=["a", "b"])
    frame["t"] = [" ".join(rng.choice(["good", "bad", "fine", "poor", "it", "was"], 6)) for _ in range(80)]
    frame["y"] = (frame.a - frame.b + rng.normal(0, 5, 80) > 0).astype(int)
    frame.to_csv(tmp_path / "t.csv", index=False)
    run("fit", tmp_path / "t.csv", "-t", "y", "--text", "t", "--degree", "2", "-o", tmp_path / "m.json")
    told = run_json("explain", tmp_path / "m.json")
    (plane,) = told["planes"]
    per_unit = {one["feature"]: one["coefficient"] for one in plane["coefficients"]}
    a, b = frame.a - frame.a.mean(), frame.b - frame.b.mean()
    parts = {"a": frame.a, "b": frame.b, "a^2": a * a, "b^2": b * b, "a × b": a * b}
    one_word = frame.assign(t="good unheard")  # of which the model knows one
    one_word.to_csv(tmp_path / "one.csv", index=False)
    run("predict", tmp_path / "m.json", tmp_path / "one.csv", "--proba", "-o", tmp_path / "p.csv")
    share = pd.read_csv(tmp_path / "p.csv").probability_1
    score = plane["intercept"] + per_unit["t: good"] + sum(per_unit[name] * part for name, part in parts.items())
    np.testing.assert_allclose(score, np.log(share / (1 - share)), atol=1e-9)
    notes = ["differences from the means of the rows of the fit", "from 0, not in it, to 1, the only word in it"]
    run("report", tmp_path / "m.json", tmp_path / "t.csv", "--time-limit", "0.1", "-o", tmp_path / "r.html")
    for page in (run("explain", tmp_path / "m.json"), (tmp_path / "r.html").read_text(), " ".join(told["units"])):
        assert all(note in page for note in notes)
    run(
        "fit",
        tmp_path / "t.csv",
        "-t",
        "y",
        "--ignore",
        "t",
        "--degree",
        "2",
        "--no-scaling",
        "-o",
        tmp_path / "m.json",
    )
    assert run_json("explain", tmp_path / "m.json")["units"] == []


@pytest.mark.slow
def test_a_perceptron_does_not_call_separable_what_scaling_alone_has_made_so(tmp_path):
    (tmp_path / "a.csv").write_text("x,y,k\n2,1,p\n1,3,p\n-1,-1,m\n-2,-1.5,m\n3,0,p\n1,0.5,m\n-1,1,p\n")  # row 6: ½ + ½
    asked = tmp_path / "a.csv", "-t", "k"
    assert run_json("separable", *asked)["verdict"] == "quasi"
    compared, replayed = run("compare", *asked), run("replay", *asked, "-o", tmp_path / "r.html")
    for said in compared, replayed, call("fit", *asked, "--loss", "perceptron").err.decode():
        assert "separates these numbers by a margin of" in said
        assert "although the data are linearly separable" not in said
    assert "no separating plane was found" not in replayed


@pytest.mark.parametrize("more", [[], ["--balanced"]])
def test_a_rare_class_is_told_of_files_larger_than_memory_as_of_others(tmp_path, more):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=600), "y": np.where(np.arange(600) % 40, "no", "yes")})
    frame.to_csv(tmp_path / "a.csv", index=False)
    asked = "fit", tmp_path / "a.csv", "-t", "y", *more
    here, there = (call(*asked, *limit).err.decode() for limit in ([], ["--max-memory", "9GB", "-o", tmp_path / "m"]))
    (told,) = (line for line in here.splitlines() if "only 15 of 600 rows are yes: accuracy says little" in line)
    assert told in there.splitlines()


def test_columns_of_libsvm_text_are_named_as_it_numbers_them_and_not_said_to_be_standardised(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)) * [1.0, 1e4, 1.0], np.tile([0, 1], 30)
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), zero_based=False)
    assert "column 'feature 2' varies by" in run("compare", tmp_path / "a.svm")
    told = run("doctor", tmp_path / "a.svm")
    assert "'feature 2' varies by" in told
    assert "`linsep fit` does with tables, not with LIBSVM text or NPZ" in told


def test_the_command_in_a_report_verifies_files_of_any_encoding_and_delimiter(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"größe": rng.normal(170, 9, 80), "wer": rng.choice(["süß", "groß"], 80)})
    frame.to_csv(tmp_path / "a.csv", index=False, sep=":", encoding="cp1252")
    monkeypatch.chdir(tmp_path)
    said = "--encoding", "cp1252", "--delimiter", ":"
    run("fit", "a.csv", "-t", "wer", *said, "-o", "m.json")
    run("report", "m.json", "a.csv", *said, "-o", "r.html")
    (command,) = re.findall("<code>linsep (verify m.json a.csv [^<]*)</code>", (tmp_path / "r.html").read_text())
    assert "Verified" in run(*command.split())


def test_estimates_of_categories_are_those_that_a_fit_without_a_penalty_tells(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"town": rng.choice(["Bonn", "Ede", "Ulm"], 90), "x": rng.normal(size=90)})
    frame["y"] = np.where(frame.town == "Ulm", "b", rng.choice(["a", "b"], 90))
    frame.to_csv(tmp_path / "a.csv", index=False)
    asked = tmp_path / "a.csv", "-t", "y"
    fitted = call("fit", *asked, "--C", "inf")
    assert "the estimate of town = Ulm is +∞; the others are finite" in fitted.err.decode()
    assert "`linsep separable --estimates` proves it, and the supremum" in fitted.err.decode()
    told = run("separable", *asked, "--estimates")
    assert "the estimate of town = Ulm is +∞; the others are finite" in told
    assert "reference   town = Bonn: coefficients of other levels are relative to these" in told
    assert "not determined" not in told
    record = run_json("separable", *asked, "--estimates")
    assert record["reference"] == {"town": "Bonn"}
    assert record["estimates"] == {"x": "finite", "town = Ede": "finite", "town = Ulm": "+inf", "intercept": "finite"}


def test_the_speed_of_a_pass_is_its_own_also_where_the_one_before_had_the_same_name(monkeypatch):
    now, told = [0.0], []
    monkeypatch.setattr("linsep.cli.speech.time.monotonic", lambda: now[0])
    waiting = Waiting(patience=0.0)
    waiting._tell = told.append
    for _ in range(3):
        for done in (100, 200, 300):
            now[0] += 10.0
            waiting.share("pass 9", done, 300)
    assert told[-2:] == [
        "pass 9: 200 of 300 rows, 10 a second, 10 s left",
        "pass 9: 300 of 300 rows, 10 a second, 0 s left",
    ]
