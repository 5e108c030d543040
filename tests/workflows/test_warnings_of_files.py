"""What to watch out for in a file: said in its own columns and rows."""

import numpy as np
import pandas as pd

from command import call, run, run_json

WORDS = np.array(["slow app today", "great service thank you", "price too high", "love the team", "cannot log in"])


def told(record, kind):
    return [suspect["message"] for suspect in record["suspects"] if suspect["kind"] == kind]


def test_a_date_that_gives_the_answer_away_is_found_beside_a_text(tmp_path):
    rng = np.random.default_rng(0)
    left = rng.random(300) < 0.4
    day = pd.Timestamp("2021-01-01") + pd.to_timedelta(np.where(left, 300, 0) + rng.integers(0, 290, 300), "D")
    comment = [" ".join(rng.choice(WORDS, 4)) for _ in range(300)]
    frame = pd.DataFrame({"closed": day.strftime("%Y-%m-%d"), "comment": comment, "left": left})
    frame.to_csv(tmp_path / "t.csv", index=False)
    record = run_json("fit", tmp_path / "t.csv", "--target", "left", "--text", "comment", "-o", tmp_path / "m.json")
    (message,) = told(record, "leak")
    assert "'closed in days' alone tells True from the rest (300 of 300 rows right)" in message
    page = tmp_path / "r.html"
    run("report", tmp_path / "m.json", tmp_path / "t.csv", "--time-limit", "0.1", "-o", page)
    assert "Nothing stands out" not in page.read_text()
    assert "closed in days&#x27; alone tells True" in page.read_text()


def test_rows_are_called_equal_only_where_they_are_in_the_file(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"name": [f"n{k}" for k in range(200)], "a": np.arange(200) % 101, "y": "no"})
    frame["b"] = rng.permutation(200)
    frame.loc[::3, "y"] = "yes"
    frame.loc[10, ["a", "b"]] = frame.loc[9, ["a", "b"]].to_numpy()  # set apart by their names alone
    frame.loc[100, ["name", "a", "b"]] = frame.loc[99, ["name", "a", "b"]].to_numpy()
    frame.to_csv(tmp_path / "t.csv", index=False)
    record = run_json("fit", tmp_path / "t.csv", "--target", "y", "--ignore", "name")
    (equal,), (alike,) = told(record, "contradiction"), told(record, "encoded alike")
    assert equal.startswith("2 rows are equal to one with another label (rows 100 and 101, counted from 1)")
    assert alike.startswith("2 rows differ from one with another label only in what the encoding leaves out")
    assert "(rows 10 and 11, counted from 1, in 'name')" in alike


def test_time_that_runs_out_is_told_in_the_words_of_the_command(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc")).assign(label=rng.integers(0, 2, 60))
    frame.to_csv(tmp_path / "t.csv", index=False)
    said = run("separable", tmp_path / "t.csv", "--target", "label", "--time-limit", "0", code=2)
    assert "undecided within --time-limit 0" in said
    assert "raise --time-limit" in said
    assert "time_limit" not in said


def test_labels_and_levels_that_differ_only_in_case_or_spaces_are_pointed_out(tmp_path):
    labels = ["Well", "ill"] * 20 + ["well", "ill"]
    wards = ["Inner  Ward", "Surgery"] * 15 + ["Surgery", "inner ward"] * 6
    frame = pd.DataFrame({"age": np.arange(42) % 9, "ward": wards, "finding": labels})
    frame.to_csv(tmp_path / "t.csv", index=False)
    for way in ([], ["--max-memory", "4GB"]):
        said = call("fit", tmp_path / "t.csv", "-t", "finding", *way, "-o", tmp_path / "m.json").err.decode()
        assert (
            "column 'finding': 'Well' and 'well' differ only in case or spaces, and each is a class of its own" in said
        )
        assert (
            "column 'ward': 'Inner  Ward' and 'inner ward' differ only in case or spaces, and each has a weight" in said
        )
    frame.replace({"well": "Well", "inner ward": "Inner  Ward"}).to_csv(tmp_path / "t.csv", index=False)
    done = call("fit", tmp_path / "t.csv", "-t", "finding", "-o", tmp_path / "m.json")
    assert "differ only in case" not in done.err.decode()
