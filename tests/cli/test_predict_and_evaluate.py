"""What predict carries through, what both say of rows unlike the training rows, and how evaluate is printed."""

import io

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score

from command import call, run, run_json
from customers import customers


@pytest.fixture
def strangers(tmp_path):
    """Customers with ids, weights, gaps in a column that had none, and towns that nobody has heard of."""
    frame = customers(60, seed=7).assign(id=[f"{k:03}" for k in range(60)], **{"last, first": "Doe, J"})
    frame["share"] = np.arange(60) % 3
    frame.loc[:4, "income"] = np.nan
    frame.loc[:2, "town"] = "Oslo"
    frame.to_csv(tmp_path / "new.csv", index=False)
    return tmp_path / "new.csv"


@pytest.mark.parametrize("words", [["id", "--keep", "last, first"], ["last, first", "--keep", "id"], ["id,8"], ["7,8"]])
def test_columns_are_carried_through_as_they_are(folder, strangers, words):
    text = run("predict", folder / "model.json", strangers, "--keep", *words)
    found = pd.read_csv(io.StringIO(text), dtype=str)
    assert set(found.columns) == {"id", "last, first", "prediction"}
    assert found.columns[-1] == "prediction"
    assert found["id"].tolist() == [f"{k:03}" for k in range(60)]
    assert set(found["last, first"]) == {"Doe, J"}


def test_columns_are_carried_through_in_every_format(folder, strangers, tmp_path):
    pd.read_csv(strangers, dtype={"id": str}).to_parquet(tmp_path / "new.parquet")
    run("predict", folder / "model.json", tmp_path / "new.parquet", "--keep", "id,age", "-o", tmp_path / "out.parquet")
    found, given = pd.read_parquet(tmp_path / "out.parquet"), pd.read_csv(strangers, dtype={"id": str})
    pd.testing.assert_frame_equal(found[["id", "age"]], given[["id", "age"]])


def test_a_column_that_cannot_be_carried_through_is_named(folder, strangers, tmp_path):
    assert "no column 'ID'" in run("predict", folder / "model.json", strangers, "--keep", "ID", code=2)
    pd.read_csv(strangers).assign(prediction=1).to_csv(tmp_path / "twice.csv")
    twice = run("predict", folder / "model.json", tmp_path / "twice.csv", "--keep", "prediction", code=2)
    assert "'prediction' cannot be kept beside a new one of that name" in twice
    (tmp_path / "header.csv").write_text("age,income,town,plan,id\n")
    kept = run("predict", folder / "model.json", tmp_path / "header.csv", "--keep", "id")
    assert kept == "id,prediction\n"


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_missing_values_and_unseen_levels_are_counted(folder, strangers, command):
    said = call(command, folder / "model.json", strangers).err.decode()
    assert "column 'income': 5 of 60 rows have no value, which counts as the mean of the training rows" in said
    assert "column 'town': 3 of 60 rows have values that the training rows did not have (Oslo)" in said
    words = [command, folder / "model.json", strangers]
    record = run_json(*words, *(["-o", strangers.with_name("out.csv")] if command == "predict" else []))
    assert record["missing_values"]["income"] == 5
    assert record["unseen_levels"] == {"town": 3}
    clean = call(command, folder / "model.json", folder / "test.csv").err.decode()
    assert "did not have" not in clean
    assert "'income'" not in clean


def test_rows_count_as_much_as_their_weight(folder, strangers):
    record = run_json("evaluate", folder / "model.json", strangers, "--sample-weight", "share")
    said = pd.read_csv(io.StringIO(run("predict", folder / "model.json", strangers)))["prediction"]
    truth = pd.read_csv(strangers)
    assert record["accuracy"]["value"] == pytest.approx(
        accuracy_score(truth["bought"], said, sample_weight=truth["share"])
    )
    for column, words in (("shares", "no column 'shares'"), ("age", "cannot be the weight"), ("id", "")):
        err = call("evaluate", folder / "model.json", strangers, "--sample-weight", column).err.decode()
        assert words in err
    assert "needs a number in each row" in run(
        "evaluate", folder / "model.json", strangers, "--sample-weight", "last, first", code=2
    )


def test_evaluate_says_the_same_digits_every_time_and_takes_no_seed(folder):
    first, again = (run("evaluate", folder / "model.json", folder / "test.csv") for _ in range(2))
    assert first == again
    assert "always saying yes" in first or "always saying no" in first
    assert call("evaluate", folder / "model.json", folder / "test.csv", "--seed", "1").code == 2


def test_many_classes_have_a_short_table(tmp_path):
    rng = np.random.default_rng(0)
    label, x = np.repeat(np.arange(25), 12), np.repeat(np.arange(25.0), 12) + rng.standard_normal(300)
    pd.DataFrame({"x": x, "z": rng.standard_normal(300), "label": [f"c{k}" for k in label]}).to_csv(
        tmp_path / "many.csv", index=False
    )
    run("fit", tmp_path / "many.csv", "--target", "label", "-o", tmp_path / "m.json")
    text = run("evaluate", tmp_path / "m.json", tmp_path / "many.csv")
    assert "the 10 most frequent confusions" in text
    assert "the 10 of 25 classes with the lowest F1" in text
    assert len(text.splitlines()) < 40
    few = pd.read_csv(tmp_path / "many.csv").iloc[: 12 * 15]
    few.to_csv(tmp_path / "few.csv", index=False)
    worst = run("evaluate", tmp_path / "m.json", tmp_path / "few.csv").split("lowest F1\n")[1].split("\n\n")[0]
    named = [line.split()[0] for line in worst.splitlines()[1:]]
    assert len(named) == 10
    assert not {"c22", "c23", "c24"} & set(named), "classes without a row, nor said of one, have no F1"
    record = run_json("evaluate", tmp_path / "m.json", tmp_path / "many.csv")
    assert len(record["confusion"]) == 25
    assert len(record["worst_confusions"]) == 10


# -- words ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_parameter_of_the_library_is_named_to_who_typed_a_command(folder, tmp_path):
    same = "--target", "bought", "--ignore", "kind"
    asked = [
        ["fit", folder / "train.csv", *same, "--loss", "perceptron"],
        ["fit", folder / "train.csv", *same, "--loss", "hinge", "--C", "inf"],
        ["compare", folder / "train.csv", *same],
        ["verify", folder / "model.json", folder / "test.csv"],
        [
            "report",
            folder / "model.json",
            folder / "test.csv",
            "--train",
            folder / "test.csv",
            "-o",
            tmp_path / "r.html",
        ],
        ["evaluate", folder / "three.json", folder / "test.csv"],
        ["predict", folder / "model.json", folder / "three.json"],
    ]
    for words in asked:
        done = call(*words)
        said = f"{done.out.decode()}\n{done.err.decode()}".replace("checked: ", "\nchecked: ")
        said = "\n".join(line for line in said.splitlines() if not line.startswith(("Not checked", "proven")))
        for word in ("chosen by keep", "max_iter", "finite C", "of X", "tol=", "penalty=", "double", "solver="):
            assert word not in said.replace("within tol=0.0001 that the model names", ""), (words[0], word, said)


def test_a_word_among_amounts_of_new_rows_can_be_said_to_be_missing(tmp_path):
    rng = np.random.default_rng(0)
    spent = rng.lognormal(6, 1, 300)
    bought = np.where(np.log(spent) + rng.logistic(size=300) > 6, "yes", "no")
    frame = pd.DataFrame({"spent": [f"€{amount:,.2f}" for amount in spent], "bought": bought})
    frame.loc[::9, "spent"] = ""
    frame.to_csv(tmp_path / "old.csv", index=False)
    run("fit", tmp_path / "old.csv", "-t", "bought", "-o", tmp_path / "m.json")
    for word in ("n.a.", ""):
        pd.DataFrame({"spent": ["€1,000.00", word, "€20.00"]}).to_csv(tmp_path / f"new{word}.csv", index=False)
    done = call("predict", tmp_path / "m.json", tmp_path / "newn.a..csv")
    assert done.code == 2
    told = done.err.decode()
    assert "line 3, column 'spent': 'n.a.' is not a number" in told
    assert "say --missing with it if it stands for a missing value" in told
    said = run("predict", tmp_path / "m.json", tmp_path / "newn.a..csv", "--proba", "--missing", "n.a.")
    assert said == run("predict", tmp_path / "m.json", tmp_path / "new.csv", "--proba")
