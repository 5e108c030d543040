"""The commands on files that others wrote, checked by other means.

They run in this process, as the installed command's script does it; one test compares each with a process of its own.
"""

import gzip
import io
import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import dump_svmlight_file
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    confusion_matrix,
    f1_score,
    log_loss,
    precision_score,
    recall_score,
    roc_auc_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from command import call, run, run_json, spawn
from customers import customers
from linsep.persistence import model_file
from linsep.workflows.preparation import prepare

OF_YES = {"precision": precision_score, "recall": recall_score, "f1": f1_score}


def by_hand(train, test, target="bought"):
    """The pipeline a user of scikit-learn would write."""
    numbers, names = ["age", "income"], ["town", "plan"]
    encode = make_column_transformer(
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), numbers),
        (
            make_pipeline(SimpleImputer(strategy="constant", fill_value="?"), OneHotEncoder(handle_unknown="ignore")),
            names,
        ),
    )
    model = make_pipeline(encode, LogisticRegression(max_iter=1000)).fit(train, train[target])
    return float((model.predict(test) == test[target]).mean())


def test_from_a_file_to_a_verified_model(folder):
    text = run("fit", folder / "train.csv", "--target", "bought", "--ignore", "kind")
    assert "numbers     age, income" in text
    assert "categories  town, plan" in text
    assert "proven to tol" in text
    record = run_json("fit", folder / "train.csv", "--target", "bought", "--ignore", "kind", "-o", folder / "m.json")
    assert record["proven"]
    assert record["certificate"]["relative_gap"] <= 1e-4
    outcome = run_json("verify", folder / "m.json", folder / "train.csv", "--target", "bought")
    assert outcome["ok"]
    assert outcome["proven"]
    assert "NOT verified" in call("verify", folder / "m.json", folder / "test.csv").out.decode()


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "train.csv", "--target", "bought", "--ignore", "kind"],
        ["predict", "model.json", "test.csv", "--proba"],
        ["predict", "model.json", "-"],
        ["evaluate", "model.json", "test.csv", "--json"],
        ["verify", "model.json", "test.csv"],
        ["separable", "train.csv", "--target", "bought", "--ignore", "kind", "--json"],
        ["compare", "train.csv", "--target", "bought", "--ignore", "kind", "--json"],
        ["explain", "model.json"],
        ["export", "model.json", "--to", "sql"],
        ["fit", "nothing.csv", "--target", "y"],
    ],
    ids=" ".join,
)
def test_a_process_of_its_own_does_the_same(folder, arguments):
    words = [str(folder / word) if word.endswith((".csv", ".json")) else word for word in arguments]
    stdin = (folder / "test.csv").read_bytes()
    alone, here = spawn(*words, stdin=stdin), call(*words, stdin=stdin)
    assert (alone.code, without_times(alone.err)) == (here.code, without_times(here.err))
    assert without_times(alone.out) == without_times(here.out)
    assert b"Traceback" not in alone.err


def without_times(text):
    """Return the text without its numbers of seconds, and without progress, which slow machines show."""
    lines = [line for line in text.decode().splitlines() if not line.endswith("…")]
    return re.sub(r'"seconds": [^,}\s]+|[\d.e-]+ m?s\b', "…", "\n".join(lines))


def test_predictions_are_those_of_the_library_and_as_good_as_a_pipeline_by_hand(folder):
    run("predict", folder / "model.json", folder / "test.csv", "-o", folder / "out.csv", "--proba")
    found, truth = pd.read_csv(folder / "out.csv"), pd.read_csv(folder / "test.csv")
    assert list(found.columns) == ["prediction", "probability_no", "probability_yes"]
    assert (found["prediction"] == np.where(found["probability_yes"] >= 0.5, "yes", "no")).all()
    accuracy = (found["prediction"] == truth["bought"]).mean()
    assert abs(accuracy - by_hand(pd.read_csv(folder / "train.csv"), truth)) <= 0.02
    assert not list(folder.glob(".out.csv.*")), "no temporary file is left"


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "csv.gz"])
def test_every_format_gives_the_same_predictions(folder, tmp_path, ending):
    frame, path = customers(seed=1), tmp_path / f"new.{ending}"
    if ending == "parquet":
        frame.to_parquet(path)
    elif ending == "arrow":
        pl.from_pandas(frame).write_ipc(path, compat_level=pl.CompatLevel.oldest())
    else:
        frame.to_csv(path, index=False)
    expected = run("predict", folder / "model.json", folder / "test.csv", "--proba")
    assert run("predict", folder / "model.json", path, "--proba") == expected
    if ending == "csv":
        assert run("predict", folder / "model.json", "-", "--proba", stdin=path.read_bytes()) == expected


def test_standard_input_is_as_good_as_a_file(folder, tmp_path):
    text = (folder / "train.csv").read_bytes()
    words = ("--target", "bought", "--ignore", "kind", "-o", tmp_path / "model.json")
    run("fit", "-", *words, stdin=gzip.compress(text))
    run("fit", folder / "train.csv", *words[:-1], tmp_path / "other.json")
    assert (tmp_path / "model.json").read_bytes() == (tmp_path / "other.json").read_bytes()
    for none in (dict(data="-", stdin=b"age,income,town,plan\n"), dict(data=folder / "header.csv")):
        (folder / "header.csv").write_text("age,income,town,plan\n")
        assert run("predict", tmp_path / "model.json", none.pop("data"), **none) == "prediction\n"
    assert "write them to a file first" in run("fit", "-", *words, "--max-memory", "9GB", stdin=text, code=2)


@pytest.mark.parametrize("ending", ["tsv", "parquet", "feather"])
def test_predictions_are_written_in_every_format(folder, tmp_path, ending):
    out = tmp_path / f"out.{ending}"
    assert run_json("predict", folder / "model.json", folder / "test.csv", "-o", out)["rows"] == 500
    read = {"tsv": lambda path: pd.read_csv(path, sep="\t"), "parquet": pd.read_parquet, "feather": pd.read_feather}
    expected = pd.read_csv(io.StringIO(run("predict", folder / "model.json", folder / "test.csv")))
    assert read[ending](out)["prediction"].tolist() == expected["prediction"].tolist()


def test_evaluation_is_scikit_learns(folder):
    record = run_json("evaluate", folder / "model.json", folder / "test.csv", "--target", "bought")
    text = run("predict", folder / "model.json", folder / "test.csv", "--proba")
    found, truth = pd.read_csv(io.StringIO(text)), pd.read_csv(folder / "test.csv")["bought"]
    expected = {
        "accuracy": accuracy_score(truth, found["prediction"]),
        "balanced_accuracy": balanced_accuracy_score(truth, found["prediction"]),
        "majority_baseline": truth.value_counts(normalize=True).max(),
        **{name: score(truth, found["prediction"], pos_label="yes") for name, score in OF_YES.items()},
        "log_loss": log_loss(truth, found[["probability_no", "probability_yes"]]),
        "auc": roc_auc_score(truth == "yes", found["probability_yes"]),
    }
    for name, value in expected.items():
        assert record[name]["value"] == pytest.approx(value, rel=1e-9)
        assert record[name]["low"] < value < record[name]["high"]
    confusion = [[cell["value"] for cell in row] for row in record["confusion"]]
    np.testing.assert_array_equal(confusion, confusion_matrix(truth, found["prediction"]))
    assert "balanced accuracy" in run("evaluate", folder / "model.json", folder / "test.csv")


def test_explain_ranks_coefficients_by_readable_name(folder):
    record = run_json("explain", folder / "model.json")
    rows = record["planes"][0]["coefficients"]
    important = [row["importance"] for row in rows]
    assert important == sorted(important, reverse=True)
    encoded = prepare(folder / "train.csv", "bought", kinds={"kind": "ignored"})
    spread = dict(zip(encoded.encoding.names, encoded.X.std(axis=0), strict=True))
    assert important == pytest.approx([abs(row["weight"]) * spread[row["feature"]] for row in rows], rel=1e-3)
    town = [name.startswith("town = ") for name in encoded.encoding.names]
    added = encoded.X[:, town] @ model_file.read(folder / "model.json").model.coef_[0, town]
    assert {row["column"]: row["importance"] for row in record["planes"][0]["columns"]}["town"] == pytest.approx(
        added.std(), rel=1e-3
    )
    assert all(row["odds_ratio"] == pytest.approx(np.exp(row["coefficient"])) for row in rows)
    by_name = {row["feature"]: row["coefficient"] for row in rows}
    assert by_name["income"] > 0
    assert by_name["plan = plus"] < 0 < by_name["plan = basic"]
    assert by_name["age"] == pytest.approx(0.05, abs=0.05)
    text = run("explain", folder / "model.json", "--top", "3")
    assert "█" in text
    assert "threshold   yes is predicted where the score is above 0" in text
    assert "proven to tol" in text


def test_separable_and_compare(folder, tmp_path):
    assert run_json("separable", folder / "train.csv", "--target", "bought", "--ignore", "kind")["verdict"] == "overlap"
    (tmp_path / "apart.csv").write_text("x,y\n" + "".join(f"{k + 0.5 * (k > 9)},{int(k > 9)}\n" for k in range(20)))
    found = run_json("separable", tmp_path / "apart.csv", "--target", "y", "--numeric", "x")
    assert found["separable"] is True
    test = ["--test", folder / "test.csv"]
    rows = run_json("compare", folder / "train.csv", "--target", "bought", "--ignore", "kind", *test)["rows"]
    assert [row["loss"] for row in rows] == [
        "perceptron",
        "hinge",
        "squared_hinge",
        "modified_huber",
        "logistic",
        "square",
        "zero_one",
    ]
    assert all(row["proven"] for row in rows[1:5])
    assert "test errors" in run("compare", folder / "train.csv", "--target", "bought", "--ignore", "kind", *test)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "square", "perceptron"])
def test_every_loss_can_be_fitted_saved_and_used(folder, tmp_path, loss):
    options = ["--target", "bought", "--ignore", "kind", "--loss", loss, "-o", tmp_path / "m.json"]
    done = call("fit", folder / "train.csv", *options)
    assert done.code == (1 if loss == "perceptron" else 0), done.err.decode()
    run("predict", tmp_path / "m.json", folder / "test.csv")
    err = run("predict", tmp_path / "m.json", folder / "test.csv", "--proba", code=2)
    assert "has no probabilities; fit with --loss logistic" in err


def test_C_by_cross_validation_and_no_penalty(folder):
    record = run_json("fit", folder / "train.csv", "--target", "bought", "--ignore", "kind", "--C", "auto")
    tried = {row["C"]: row["accuracy"] for row in record["cross_validation"]}
    assert tried[record["C"]] == max(tried.values())


def test_cross_validation_encodes_each_fold_by_its_training_rows_alone(folder):
    from linsep.workflows.choosing import GRID, choose
    from linsep.workflows.preparation import prepare
    from linsep.workflows.training import estimator

    kinds = {"kind": "ignored"}
    examples = prepare(folder / "train.csv", "bought", kinds=kinds, keep_frame=True)
    train, test = np.arange(100), np.arange(100, 500)
    X_train, X_test = examples.split(train, test)
    frame = pd.read_csv(folder / "train.csv")
    mean, scale = frame["income"][:100].mean(), frame["income"][:100].std(ddof=0)
    np.testing.assert_allclose(X_train[:, 1], (frame["income"][:100] - mean) / scale, atol=1e-12)
    np.testing.assert_allclose(X_test[:, 1], (frame["income"][100:] - mean) / scale, atol=1e-12)
    choice = choose(estimator("logistic"), examples)
    scores = {one["C"]: one["mean"] for one in choice.curve}
    assert list(scores) == list(GRID)
    assert scores[choice.C] == max(scores.values())


def test_a_column_that_is_the_answer_is_told(tmp_path):
    frame = customers().drop(columns="kind")
    frame.assign(invoice=np.where(frame["bought"] == "yes", "sent", "none")).to_csv(tmp_path / "t.csv", index=False)
    record = run_json("fit", tmp_path / "t.csv", "--target", "bought")
    assert [suspect["kind"] for suspect in record["suspects"]] == ["leak"]
    assert "invoice" in record["suspects"][0]["message"]


def test_m23_products_of_numbers(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (400, 2))
    frame = pd.DataFrame({"p": X[:, 0], "q": X[:, 1], "inside": (X**2).sum(axis=1) < 0.6})
    frame.to_csv(tmp_path / "disc.csv", index=False)
    straight = run_json("fit", tmp_path / "disc.csv", "--target", "inside")
    curved = run_json("fit", tmp_path / "disc.csv", "--target", "inside", "--degree", "2", "--C", "100")
    assert straight["training_accuracy"] < 0.7 < 0.97 < curved["training_accuracy"]


def test_libsvm_and_npz(tmp_path):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((300, 12)) < 0.4, rng.standard_normal((300, 12)), 0.0)
    y = np.where(X @ rng.standard_normal(12) > 0, 1, -1)
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), zero_based=False)
    np.savez(tmp_path / "a.npz", X=X, y=y)
    np.savez(tmp_path / "named.npz", X=X, y=y, names=[f"gene {j}" for j in range(12)])
    for name, third in ("a.svm", "feature 3"), ("a.npz", "feature 2"), ("named.npz", "gene 2"):
        run("fit", tmp_path / name, "-o", tmp_path / "m.json")
        assert run_json("verify", tmp_path / "m.json", tmp_path / name)["proven"]
        lines = run("predict", tmp_path / "m.json", tmp_path / name).split()
        assert np.mean(np.array(lines[1:], dtype=int) == y) > 0.95
        plane = run_json("explain", tmp_path / "m.json")["planes"][0]
        found = {one["feature"]: one["importance"] for one in plane["coefficients"]}
        coef = json.loads((tmp_path / "m.json").read_text())["coefficients"][0]
        assert found[third] == pytest.approx(abs(coef[2]) * X[:, 2].std(), rel=1e-3)
    (tmp_path / "few.svm").write_text("0 1:1\n0 2:-1\n")
    run("fit", tmp_path / "a.svm", "-o", tmp_path / "m.json")
    assert len(run("predict", tmp_path / "m.json", tmp_path / "few.svm").split()) == 3


# -- the file's own numbers ---------------------------------------------------------------------------------------

QUASI = "a,b,y\n0,0,0\n0,0,1\n1,0,1\n0,1,0\n3,3,0\n3,3,1\n7,7,0\n7,7,1\n5,2,1\n2,6,0\n"
ENDOMETRIAL = "NV,x,y\n1,1,1\n1,2,1\n0,1,0\n0,2,1\n0,3,0\n0,4,1\n0,5,0\n"


def test_separable_says_which_estimates_are_infinite_and_in_which_direction(tmp_path):
    (tmp_path / "quasi.csv").write_text("a,b,y\n0,0,no\n1,0,yes\n2,0,no\n1,1,yes\n")
    asked = "separable", tmp_path / "quasi.csv", "--target", "y", "--numeric", "a", "--numeric", "b", "--estimates"
    found = run_json(*asked)
    assert found["estimates"] == {"a": "finite", "b": "+inf", "intercept": "finite"}
    low, high = found["supremum"]
    assert low == pytest.approx(-1.9095425, abs=1e-6)
    assert high - low < 1e-9
    assert "Quasi-complete separation: the estimate of b is +∞; the others are finite" in call(*asked).out.decode()


def test_separable_is_about_the_numbers_in_the_file(tmp_path):
    (tmp_path / "quasi.csv").write_text(QUASI)
    found = run_json("separable", tmp_path / "quasi.csv", "--target", "y")
    assert found["verdict"] == "quasi"
    assert found["proof"]["infinite"] == [0, 1]


def test_both_commands_name_the_one_coefficient_without_a_finite_estimate(tmp_path):
    (tmp_path / "nv.csv").write_text(ENDOMETRIAL)
    assert run_json("separable", tmp_path / "nv.csv", "--target", "y")["proof"]["infinite"] == [0]
    done = call("fit", tmp_path / "nv.csv", "--target", "y", "--C", "inf")
    assert done.code == 0  # near the infimum, and proven
    # The rows with NV = 0, on which the others depend: no coefficient does better, and these can be added at no loss.
    x, y = np.array([1.0, 2, 3, 4, 5]), np.array([0, 1, 0, 1, 0])
    infimum = 5 * log_loss(y, LogisticRegression(C=np.inf, tol=1e-10).fit(x[:, None], y).predict_proba(x[:, None]))
    reached, bound = re.search(
        r"objective is ([\d.]+); no plane reaches less than ([\d.]+)", done.out.decode()
    ).groups()
    assert float(bound) <= infimum <= float(reached) <= 1.0001 * infimum
    assert "the estimate of NV is +∞; the others are finite" in done.err.decode()


@pytest.mark.parametrize("loss", ["logistic", "square"])
def test_dependent_columns_are_told_in_the_files_numbers_and_the_fit_is_proven(tmp_path, loss):
    rng = np.random.default_rng(1)
    PI, a, b = rng.normal(3.3, 0.9, 60).round(2), rng.integers(0, 900, 60), rng.integers(0, 9, 60)
    frame = pd.DataFrame({"PI": PI, "PI2": 2 * PI, "a": a, "b": b, "total": a + b})
    frame["y"] = np.where(PI + a / 300 + rng.normal(0.0, 1.0, 60) > 4.8, "yes", "no")
    frame.to_csv(tmp_path / "data.csv", index=False)
    done = call("fit", tmp_path / "data.csv", "--target", "y", "--C", "inf", "--loss", loss, "-o", tmp_path / "m.json")
    assert done.code == 0
    assert "PI2 = 2·PI\n" in done.out.decode()
    assert "total = a + b\n" in done.out.decode()
    encoding = json.loads((tmp_path / "m.json").read_text())["encoding"]
    means = frame.drop(columns="y").mean()
    assert encoding["numbers"] == {name: [0.0, 1.0, False, pytest.approx(means[name])] for name in means.index}
    assert run_json("verify", tmp_path / "m.json", tmp_path / "data.csv")["proven"]


def test_missing_numbers_count_as_0_where_numbers_are_as_they_are(tmp_path):
    frame = customers(300, seed=4)[["age", "income", "bought"]]
    frame.to_csv(tmp_path / "data.csv", index=False)
    run_json("fit", tmp_path / "data.csv", "--target", "bought", "--C", "inf", "-o", tmp_path / "m.json")
    done = call("predict", tmp_path / "m.json", tmp_path / "data.csv", "--proba")
    X = frame[["age", "income"]].fillna(0.0).assign(lacking=frame["age"].isna())
    oracle = make_pipeline(StandardScaler(), LogisticRegression(C=1e9, tol=1e-10, max_iter=1000))
    found = pd.read_csv(io.BytesIO(done.out))["probability_yes"]
    np.testing.assert_allclose(found, oracle.fit(X, frame["bought"]).predict_proba(X)[:, 1], atol=1e-5)


# -- rows without a label -----------------------------------------------------------------------------------------


@pytest.fixture
def labelled(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=90).round(3)
    state = np.where(x + rng.normal(size=90) > 0.8, "bad", np.where(x > -0.5, "fair", "good")).astype(object)
    state[[3, 5]] = None
    pd.DataFrame({"x": x, "state": state}).to_csv(tmp_path / "data.csv", index=False)
    run_json("fit", tmp_path / "data.csv", "--target", "state", "-o", tmp_path / "m.json")
    return tmp_path


@pytest.mark.parametrize("long", [False, True])
def test_verify_counts_the_rows_without_a_label(labelled, long, monkeypatch):
    if long:
        monkeypatch.setattr("linsep.workflows.checking_streams.LONG", 0)
    outcome = run_json("verify", labelled / "m.json", labelled / "data.csv")
    assert outcome["proven"]
    assert outcome["reason"].endswith("; 2 rows without a label were left out")


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("word", ["bad", " bad "])
def test_a_model_that_takes_one_of_its_classes_for_missing_is_refused(labelled, word, long, monkeypatch):
    if long:
        monkeypatch.setattr("linsep.workflows.checking_streams.LONG", 0)
    found = model_file.read(labelled / "m.json")
    model_file.save(found.model, labelled / "forged.json", encoding={**found.encoding, "missing": [word]})
    for command in (["verify"], ["verify", "--independent"], ["evaluate"], ["report", "-o", labelled / "r.html"]):
        done = call(*command, labelled / "forged.json", labelled / "data.csv")
        assert done.code == 2
        assert "takes the label 'bad' for a missing value" in done.err.decode()


def test_a_class_in_another_spelling_is_a_word_for_missing_unless_rows_are_left_out(tmp_path):
    rows = [f"{x if x % 7 else '0.0'},{x % 3 % 2}" for x in range(1, 40)]
    (tmp_path / "data.csv").write_text("\n".join(["x,y", *rows]))
    run_json("fit", tmp_path / "data.csv", "--target", "y", "--missing", "0.0", "-o", tmp_path / "m.json")
    assert run_json("verify", tmp_path / "m.json", tmp_path / "data.csv")["proven"]
    (tmp_path / "other.csv").write_text("\n".join(["x,y", *rows]).replace(",0\n", ",0.0\n"))
    done = call("verify", tmp_path / "m.json", tmp_path / "other.csv")
    assert done.code == 2
    assert "takes the label '0.0' for a missing value" in done.err.decode()
