"""`linsep fit --C auto`: what C is chosen by, what is said of it, and what the model file keeps."""

import json

import numpy as np
import pytest

from command import run, run_json, spawn
from customers import customers
from linsep.persistence.model_file import read
from linsep.workflows.choosing import GRID, Asked, Choice, choose
from linsep.workflows.preparation import prepare
from linsep.workflows.training import estimator

BASE = ("--target", "bought", "--ignore", "kind", "--C", "auto")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    place = tmp_path_factory.mktemp("choosing") / "train.csv"
    customers().to_csv(place, index=False)
    return place


def test_the_curve_is_that_of_plain_fits(table):
    """Each C by a fit of its own on the rows of a fold as they are encoded for it."""
    from sklearn.model_selection import StratifiedKFold

    examples = prepare(table, "bought", kinds={"kind": "ignored"}, keep_frame=True)
    choice = choose(estimator("logistic", tol=1e-7), examples, Asked(folds=3, seed=4))
    folds = list(StratifiedKFold(3, shuffle=True, random_state=4).split(examples.y, examples.y))
    for at in (4, 12, 20):
        scores = []
        for train, test in folds:
            X_train, X_test = examples.split(train, test)
            model = estimator("logistic", C=GRID[at], tol=1e-9).fit(X_train, examples.y[train])
            scores.append(model.score(X_test, examples.y[test]))
        assert choice.curve[at]["mean"] == pytest.approx(np.mean(scores))
        assert choice.curve[at]["spread"] == pytest.approx(np.std(scores, ddof=1))


def test_one_standard_error_by_hand():
    scores = np.full((4, len(GRID)), 0.5)
    scores[:, 10] = [0.8, 0.9, 0.8, 0.9]  # mean 0.85, standard error 0.0289
    scores[:, 7], scores[:, 6] = 0.83, 0.82
    best, careful = (Choice.by(Asked(rule=rule), scores, 100) for rule in ("best", "1se"))
    assert (GRID[10], GRID[7]) == (best.C, careful.C)
    assert best.curve[10] == {"C": GRID[10], "mean": pytest.approx(0.85), "spread": pytest.approx(0.05773502691896)}


def test_what_is_said_and_kept(table, tmp_path):
    said = run("fit", table, *BASE, "--folds", "4", "--rule", "1se", "-o", tmp_path / "m.json")
    model = read(tmp_path / "m.json").model
    assert "the smallest within one standard error of the best of 25: accuracy 0." in said
    assert "between 4 folds, 500 rows" in said
    assert model.choice_["C"] == model.C
    assert [one["C"] for one in model.choice_["curve"]] == list(GRID)
    assert (model.choice_["folds"], model.choice_["rule"], model.choice_["score"]) == (4, "1se", "accuracy")
    run("verify", tmp_path / "m.json", table)


def test_balanced_classes_are_scored_balanced_unless_said_otherwise(table):
    record = run_json("fit", table, *BASE, "--balanced")
    assert record["choice"]["score"] == "balanced_accuracy"
    assert set(record["cross_validation"][0]) == {"C", "balanced_accuracy", "spread"}
    assert run_json("fit", table, *BASE, "--balanced", "--score", "accuracy")["choice"]["score"] == "accuracy"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--C", "1", "--folds", "3"), "would be ignored: they belong to --C auto"),
        (("--C", "1", "--prove"), "would be ignored: they belong to --C auto"),
        (("--C", "auto", "--effort", "3"), "--effort is a positive number that belongs to --prove"),
        (("--C", "auto", "--prove", "--effort", "0"), "--effort is a positive number that belongs to --prove"),
        (("--C", "auto", "--prove", "--score", "f1"), "--prove bounds mistakes"),
        (("--C", "auto", "--prove", "--rule", "1se"), "--prove bounds mistakes"),
        (("--C", "auto", "--prove", "--l1-ratio", "1"), "a penalty with a share of L2"),
        (("--C", "auto", "--prove", "--max-memory", "600MB"), "--prove takes all rows into memory"),
        (("--C", "auto", "--rule", "2se"), "--rule 2se is not known"),
        (("--C", "auto", "--folds", "1"), "--folds 1 is too few"),
        (("--C", "auto", "--score", "luck"), "--score luck is not known"),
        (("--C", "auto", "--score", "costs=1"), "--score costs=1: costs are two numbers from 0"),
        (("--C", "auto", "--score", "neg_log_loss", "--loss", "hinge"), "needs probabilities"),
        (("--C", "auto", "--loss", "perceptron"), "the perceptron has no penalty"),
    ],
)
def test_what_makes_no_sense_is_refused(table, words, says):
    assert says in run("fit", table, "--target", "bought", "--ignore", "kind", *words, code=2)


def test_the_score_of_one_class_is_that_of_the_second_by_its_name(table):
    """Labels are words here, which scikit-learn's own scorer refuses once the models are fitted."""
    from sklearn.metrics import f1_score
    from sklearn.model_selection import StratifiedKFold

    examples = prepare(table, "bought", kinds={"kind": "ignored"}, keep_frame=True)
    choice = choose(estimator("logistic", tol=1e-7), examples, Asked("f1", folds=3))
    positive = np.unique(examples.y)[1]
    scores = []
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(examples.y, examples.y):
        X_train, X_test = examples.split(train, test)
        model = estimator("logistic", C=GRID[12], tol=1e-9).fit(X_train, examples.y[train])
        scores.append(f1_score(examples.y[test], model.predict(X_test), pos_label=positive))
    assert choice.curve[12]["mean"] == pytest.approx(np.mean(scores))
    assert choice.of == positive
    assert f"f1 of {positive} 0." in run("fit", table, *BASE, "--score", "f1")


def test_a_bound_on_every_c_is_said_and_kept(tmp_path):
    """Against fits at a grid of C between those that are tried, each fold encoded by its training rows alone."""
    from sklearn.model_selection import StratifiedKFold

    place = tmp_path / "few.csv"
    customers().head(80).to_csv(place, index=False)
    said = run("fit", place, *BASE, "--folds", "3", "--prove", "-o", tmp_path / "m.json")
    kept = read(tmp_path / "m.json").model.choice_
    proof = kept["proof"]
    assert f"mistakes in 3 folds; no C between 0.0001 and 10000 makes fewer than {proof['bound']:g}" in said
    assert proof["mistakes"] - 1 <= proof["bound"] <= proof["mistakes"]
    assert kept["C"] == read(tmp_path / "m.json").model.C
    examples = prepare(place, "bought", kinds={"kind": "ignored"}, keep_frame=True)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(examples.y, examples.y))
    parts = [(*examples.split(*fold), *fold) for fold in folds]

    def mistakes(C):
        models = [estimator("logistic", C=C, tol=1e-9).fit(X, examples.y[train]) for X, _, train, _ in parts]
        return sum(
            np.sum(model.predict(X) != examples.y[test]) for model, (_, X, _, test) in zip(models, parts, strict=True)
        )

    assert mistakes(kept["C"]) == proof["mistakes"]
    assert proof["bound"] <= min(mistakes(C) for C in np.geomspace(1e-4, 1e4, 20))


def test_costs_are_a_score_and_are_proven(tmp_path):
    place = tmp_path / "few.csv"
    customers().head(80).to_csv(place, index=False)
    said = run("fit", place, *BASE, "--folds", "3", "--prove", "--score", "costs=1:4", "-o", tmp_path / "m.json")
    kept = read(tmp_path / "m.json").model.choice_
    counted = "mistakes, a false alarm counting as 1 and a miss as 4, in 3 folds"
    assert f"the chosen C makes {kept['proof']['mistakes']:g} {counted}; no C between" in said
    chosen = next(one for one in kept["curve"] if one["C"] == kept["C"])
    assert -80 * chosen["mean"] == pytest.approx(kept["proof"]["mistakes"], rel=0.05)  # folds of 27, 27 and 26 rows
    assert counted in run("verify", tmp_path / "m.json", place).replace("on held-out rows ", "")
    plain = run_json("fit", place, *BASE, "--folds", "3", "--score", "costs=1:4")
    assert plain["choice"]["score"] == "costs=1:4"


def test_the_score_of_one_class_is_refused_for_three_before_the_work(table, monkeypatch):
    def never(*_args, **_named):
        raise AssertionError("something was fitted")

    monkeypatch.setattr("linsep.selection.tracks.minimise_all", never)
    said = run("fit", table, "--target", "kind", "--C", "auto", "--score", "f1", code=2)
    assert "--score f1 is of one of two classes, and here are" in said
    assert "use f1_macro" in said


@pytest.mark.slow
def test_a_file_larger_than_memory_is_sampled(table, tmp_path):
    in_memory = run_json("fit", table, *BASE)
    done = spawn("fit", table, *BASE, "--max-memory", "600MB", "-o", tmp_path / "m.json", "--json")
    assert done.code == 0, done.err
    record = json.loads(done.out)
    assert record["choice"]["rows"] == 500  # which all fit
    assert record["proven"]
    scores = {one["C"]: one["accuracy"] for one in record["cross_validation"]}
    assert scores[record["C"]] == max(scores.values())
    assert max(scores.values()) == pytest.approx(
        max(one["accuracy"] for one in in_memory["cross_validation"]), abs=0.02
    )
    assert json.loads((tmp_path / "m.json").read_text())["fitted"]["choice_"]


@pytest.mark.parametrize(
    ("best", "said"),
    [
        (
            len(GRID) - 1,
            "watch out   10000 is the largest C that is tried: a larger one may be better; compare --C inf",
        ),
        (0, "watch out   0.0001 is the smallest C that is tried: the columns seem to say little of the target"),
        (None, "watch out   every C has the same score: it does not tell them apart; another --score may"),
        (7, None),
    ],
)
def test_a_choice_at_the_end_of_the_grid_says_so(best, said):
    scores = np.full((3, len(GRID)), 0.5)
    scores[:, [] if best is None else [best]] = 0.9
    assert [line for line in Choice.by(Asked(), scores, 100).lines if line.startswith("watch")] == [said] * bool(said)
