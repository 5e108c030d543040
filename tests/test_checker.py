"""The second opinion: `checker.py` on its own, against `linsep.verify`, and on files and forgeries."""

import ast
import csv
import json
import math
import shutil
import subprocess
import sys
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from command import call
from linsep import (
    HardMarginSVC,
    LeastSquaresClassifier,
    LinearClassifier,
    LinearSVC,
    LogisticRegression,
    Perceptron,
    SGDClassifier,
    ZeroOneClassifier,
    checker,
    save,
    separability,
    verify,
)
from linsep.certificates.outcome import Verification
from linsep.losses import Hinge
from linsep.penalties import ElasticNet, Penalty
from linsep.workflows.second_opinion import Opinions
from second_opinions import EASY, THREE, WEIGHTS, X, Y, as_rows, rng

SOURCE = Path(checker.__file__)


def second_opinion(path, X, y, weights=None):
    model = json.loads(Path(path).read_text())
    weights = None if weights is None else np.asarray(weights).tolist()
    return checker.check(model, as_rows(X), [str(label) for label in np.asarray(y).tolist()], weights)


def quietly(model, X, y, **fit):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, **fit)


HONEST = {
    "logistic": (LogisticRegression(), X, Y, None),
    "logistic, weights": (LogisticRegression(class_weight="balanced", C=0.1), X, Y, WEIGHTS),
    "logistic, class weights": (LogisticRegression(class_weight={"no": 2.0}), X, Y, None),
    "logistic, L1": (LogisticRegression(l1_ratio=1.0, C=0.5, tol=1e-6), X, Y, None),
    "logistic, elastic net": (LogisticRegression(l1_ratio=0.3), X, Y, None),
    "logistic, no intercept": (LogisticRegression(fit_intercept=False), X, Y, None),
    "logistic, no penalty": (LogisticRegression(C=None), X, Y, None),
    "logistic, no penalty, weights": (LogisticRegression(penalty=None), X, Y, WEIGHTS),
    "one against the rest": (LogisticRegression(multi_class="ovr"), X, THREE, None),
    "softmax": (LogisticRegression(), X, THREE, WEIGHTS),
    "softmax, L1": (LogisticRegression(l1_ratio=1.0, tol=1e-6), X, THREE, None),
    "softmax, no intercept": (LogisticRegression(fit_intercept=False), X, THREE, None),
    "softmax, no penalty": (LogisticRegression(C=None), X, THREE, None),
    "hinge": (LinearSVC(), X, Y, None),
    "hinge, three classes": (LinearSVC(C=10.0), X, THREE, WEIGHTS),
    "squared hinge": (LinearSVC(loss="squared_hinge"), X, Y, None),
    "squared hinge, L1": (LinearSVC(loss="squared_hinge", penalty="l1", tol=1e-6), X, Y, None),
    "least squares": (LeastSquaresClassifier(), X, Y, None),
    "least squares, penalised": (LeastSquaresClassifier(C=2.0), X, THREE, WEIGHTS),
    "linear": (LinearClassifier("square", penalty=ElasticNet(0.25), solver="proximal_newton"), X, Y, None),
    "linear, objects": (LinearClassifier(Hinge(), penalty=Penalty(2.0, 0.0), C=3.0), X, Y, None),
    "sgd": (SGDClassifier(random_state=0), X, Y, None),
    "perceptron, overlap": (Perceptron(random_state=0), X, Y, None),
    "perceptron, separable": (Perceptron(random_state=0), X, EASY, None),
    "perceptron, three classes": (Perceptron(random_state=0), X, THREE, None),
    "margin": (HardMarginSVC(), X, EASY, None),
    "margin, no intercept": (HardMarginSVC(fit_intercept=False), X, EASY, None),
    "zero-one": (ZeroOneClassifier(), X, Y, None),
    "zero-one, cells": (ZeroOneClassifier(), X[:30, :2], Y[:30], None),
    "zero-one, weights": (ZeroOneClassifier(), X, Y, WEIGHTS),
}


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Return a function from a name to the file of that fit, made once."""
    folder, made = tmp_path_factory.mktemp("models"), {}

    def path_of(name):
        if name not in made:
            model, X, y, weights = HONEST[name]
            made[name] = folder / f"{len(made)}.json"
            save(quietly(model, X, y, **({} if weights is None else {"sample_weight": weights})), made[name])
        return made[name]

    return path_of


# -- the file itself --------------------------------------------------------------------------------------------------


def test_m13_the_checker_is_short_and_takes_nothing_from_anybody():
    text = SOURCE.read_text()
    assert len(text.splitlines()) <= 500
    imported = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(text))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or "linsep"]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported <= sys.stdlib_module_names
    assert not any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(ast.parse(text)))
    for way_round in ("__import__", "importlib", "exec(", "eval("):
        assert way_round not in text


def alone(folder, *arguments):
    """Run a copy of the file where nothing but the standard library can be imported."""
    copy = shutil.copy(SOURCE, folder / "checker.py")
    return subprocess.run(
        [sys.executable, "-I", "-S", "-X", "utf8", copy, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


def write_csv(path, X, y, weights=None, names=None):
    X = np.asarray(X, dtype=float)
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(
            [*(names or [f"x{j}" for j in range(X.shape[1])]), "label", *(["weight"] if weights is not None else [])]
        )
        for i, row in enumerate(X.tolist()):
            out.writerow([*map(repr, row), np.asarray(y).tolist()[i], *([weights[i]] if weights is not None else [])])
    return path


@pytest.mark.parametrize("name", HONEST)
def test_m13_runs_alone_on_every_estimator(name, fitted, tmp_path):
    _, X, y, weights = HONEST[name]
    data = write_csv(tmp_path / "rows.csv", X, y, weights)
    more = [] if weights is None else ["--weights", "weight"]
    run = alone(tmp_path, fitted(name), data, "--target", "label", *more)
    found = second_opinion(fitted(name), X, y, weights)
    assert run.returncode == found.code, run.stdout + run.stderr
    assert str(found).splitlines()[0] in run.stdout


# -- against linsep.verify --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HONEST)
def test_m13_agrees_with_verify_on_honest_models(name, fitted):
    _, X, y, weights = HONEST[name]
    found, first = second_opinion(fitted(name), X, y, weights), verify(fitted(name), X, y, weights)
    assert first, first.reason
    assert (found.code == 0) == first.proven, (str(found), str(first))
    if first.primal is not None and len(found.bounds) == 1:
        low, high, dual = found.bounds[0]
        assert low <= Fraction(first.primal.high)
        assert high >= Fraction(first.primal.low)
        assert dual <= high
        assert found.gap <= first.relative_gap * 1.5 + 1e-12


@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e150])
def test_m13_no_scale_is_too_small_or_too_large(scale, tmp_path):
    A, y = X * scale, (Y == "yes").astype(int)
    fits = [LogisticRegression(), LogisticRegression(l1_ratio=1.0), LinearSVC(), LeastSquaresClassifier()]
    for model in fits:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # how the fit gets there is not the question
            save(model.fit(A, y), tmp_path / "model.json")
        found = second_opinion(tmp_path / "model.json", A, y)
        assert (found.code == 0) == model.converged_, (model, str(found))


def test_m13_proves_what_is_asked_for_of_all_but_the_rough(fitted):
    rough = {"sgd"}
    for name, (_, rows, y, weights) in HONEST.items():
        found = second_opinion(fitted(name), rows, y, weights)
        assert found.code == (1 if name in rough else 0), (name, str(found))


# -- forgeries --------------------------------------------------------------------------------------------------------


def edited(path, folder, edit):
    """Return a file with an edit; its digests are not looked at by the checker, so they need not be made up."""
    model = json.loads(Path(path).read_text())
    edit(model)
    forged = folder / "forged.json"
    forged.write_text(json.dumps(model))
    return forged


def inverted(model):
    """The attack: predictions turned round, and every word of the certificate with them."""
    model["coefficients"] = [[-x for x in w] for w in model["coefficients"]]
    model["intercept"] = [-b for b in model["intercept"]]
    for proof in [*model["certificate"].get("gap", []), *model["certificate"].get("seals", [])]:
        proof["positive"] = 0
        proof["data"]["positive"], proof["data"]["negative"] = proof["data"]["negative"], proof["data"]["positive"]
        point = proof.get("dual_point", {})
        if point:
            point["positive"], point["negative"] = point["negative"], point["positive"]
            point["shift"] = -point["shift"]


TWO_CLASSES = [
    *("logistic", "logistic, no penalty", "hinge", "squared hinge", "least squares"),
    *("margin", "zero-one", "zero-one, cells", "perceptron, separable"),
]


@pytest.mark.parametrize("name", TWO_CLASSES)
def test_m13_inverted_predictions_are_not_proven(name, fitted, tmp_path):
    _, X, y, weights = HONEST[name]
    assert second_opinion(edited(fitted(name), tmp_path, inverted), X, y, weights).code != 0


@pytest.mark.parametrize("name", ["one against the rest", "softmax", "softmax, no penalty", "hinge, three classes"])
@pytest.mark.parametrize("order", [(1, 2, 0), (0, 0, 0)])
def test_m13_permuted_and_repeated_planes_are_not_proven(name, order, fitted, tmp_path):
    def permute(model):
        model["coefficients"] = [model["coefficients"][k] for k in order]
        model["intercept"] = [model["intercept"][k] for k in order]
        if "gap" in model["certificate"]:
            model["certificate"]["gap"] = [model["certificate"]["gap"][k] for k in order]

    _, X, y, weights = HONEST[name]
    assert second_opinion(edited(fitted(name), tmp_path, permute), X, y, weights).code != 0


@pytest.mark.parametrize("name", [name for name in HONEST if not name.startswith("perceptron")])
def test_m13_other_weights_and_other_labels_are_not_proven(name, fitted, tmp_path):
    _, X, y, weights = HONEST[name]

    def change(model):
        model["coefficients"][0][0] = model["coefficients"][0][0] + 2.0

    assert second_opinion(edited(fitted(name), tmp_path, change), X, y, weights).code != 0 or name == "sgd"
    other = np.asarray(y).copy()
    other[:10] = other[:10][::-1]
    other[[0, 1]] = np.unique(y)[:2]
    refused = other.tolist() != np.asarray(y).tolist()
    assert second_opinion(fitted(name), X, other, weights).code != 0 or not refused


def test_m13_an_edited_objective_is_the_objective_that_is_checked(fitted, tmp_path):
    def stronger(model):
        model["estimator"]["parameters"]["C"] = 10.0
        model["certificate"]["gap"][0]["statement"]["C"] = 10.0

    found = second_opinion(edited(fitted("logistic"), tmp_path, stronger), X, Y)
    assert found.code == 1
    assert found.gap > 1e-3


def test_m13_forged_overlap_margin_and_conflicts_are_refused(fitted, tmp_path):
    def weights(model):
        proof = model["certificate"]["separability"][0]
        proof["support_weights"][0] = proof["weights"][0] = "1/3"

    def few(model):
        proof = model["certificate"]["separability"][0]
        proof["support"], proof["support_weights"] = [0, 1], ["1/1", "1/1"]

    for edit in (weights, few):
        assert second_opinion(edited(fitted("perceptron, overlap"), tmp_path, edit), X, Y).code == 2

    def points(model):
        model["certificate"]["margin"][0]["points"] = [0, 1, 2, 3]

    assert second_opinion(edited(fitted("margin"), tmp_path, points), X, EASY).code != 0

    def conflicts(model):
        model["certificate"]["mistakes"][0]["conflicts"].append([0, 1])

    found = second_opinion(edited(fitted("zero-one"), tmp_path, conflicts), X, Y)
    assert found.code == 2
    assert "no conflict" in found.sentence

    def fewer(model):
        model["certificate"]["mistakes"][0]["conflicts"].pop()

    found = second_opinion(edited(fitted("zero-one"), tmp_path, fewer), X, Y)
    assert found.code == 1
    assert "the file says" in found.sentence


def test_m13_damaged_files_end_in_a_sentence(fitted, tmp_path):
    data = write_csv(tmp_path / "rows.csv", X, Y)
    model = json.loads(fitted("hinge").read_text())
    texts = ["", "[]", "{}", json.dumps(model | {"coefficients": 3}), json.dumps(model | {"classes": None})]
    for text in texts:
        (tmp_path / "damaged.json").write_text(text)
        run = alone(tmp_path, tmp_path / "damaged.json", data, "--target", "label")
        assert run.returncode == 2
        assert run.stdout.startswith("NOT verified")
        assert "Traceback" not in run.stderr


# -- files ------------------------------------------------------------------------------------------------------------


def test_m13_reads_libsvm_and_separability(fitted, tmp_path):
    text = "\n".join(
        f"{int(y == 'yes')} " + " ".join(f"{j + 1}:{x!r}" for j, x in enumerate(row))
        for row, y in zip(X.tolist(), Y, strict=True)
    )
    (tmp_path / "rows.svm").write_text(text)
    save(LogisticRegression().fit(X, (Y == "yes").astype(int)), tmp_path / "model.json")
    assert alone(tmp_path, tmp_path / "model.json", tmp_path / "rows.svm").returncode == 0
    (tmp_path / "verdict.json").write_text(json.dumps(separability(X, Y).to_dict()))
    run = alone(tmp_path, tmp_path / "verdict.json", write_csv(tmp_path / "rows.csv", X, Y))
    assert run.returncode == 0
    assert "no plane separates" in run.stdout


def test_m13_a_table_of_numbers_needs_no_linsep(tmp_path):
    data = write_csv(tmp_path / "rows.csv", X * 100 + 3, Y, names=["a", "b", "c"])
    made = call("fit", data, "--target", "label", "-o", tmp_path / "model.json")
    assert made.code in (0, 1), made.err
    run = alone(tmp_path, tmp_path / "model.json", data)
    assert run.returncode == 0, run.stdout
    fewer = write_csv(tmp_path / "fewer.csv", X[:, :2], Y, names=["a", "b"])
    told = alone(tmp_path, tmp_path / "model.json", fewer).stdout
    assert "not the model's columns: ['a', 'b', 'label']; 2 features, not 3" in told


def leaves(value, path=()):
    """Yield where every number, text or list of a document is."""
    if isinstance(value, dict | list):
        yield path
        for key in value if isinstance(value, dict) else range(min(len(value), 2)):
            yield from leaves(value[key], (*path, key))
    else:
        yield path


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hinge", "softmax", "perceptron, overlap", "margin", "zero-one"])
def test_m13_no_edit_of_one_field_ends_in_an_error(name, fitted):
    _, X, y, weights = HONEST[name]
    text = fitted(name).read_text()
    short, labels = as_rows(X), [str(label) for label in np.asarray(y).tolist()]
    s = None if weights is None else weights.tolist()
    model = {key: value for key, value in json.loads(text).items() if key != "history"}
    for path in list(leaves(model))[1:]:
        for new in (None, -1, 1e300, "nonsense", [], {}):
            forged = json.loads(json.dumps(model))
            at = forged
            for key in path[:-1]:
                at = at[key]
            at[path[-1]] = new
            assert checker.check(forged, short, labels, s).code in (0, 1, 2)


# -- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path):
    """Return a table with categories and gaps, and a model that the command fitted on it."""
    towns = np.array(["Ede", "Ulm", "Aix"])[rng.integers(3, size=60)]
    with open(tmp_path / "people.csv", "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["age", "height", "town", "buys"])
        out.writerows(
            [repr(a), "" if i % 9 == 0 else repr(b), town, label]
            for i, (a, b, town, label) in enumerate(zip(X[:, 0].tolist(), X[:, 1].tolist(), towns, Y, strict=True))
        )
    made = call("fit", tmp_path / "people.csv", "--target", "buys", "-o", tmp_path / "model.json")
    assert made.code in (0, 1), made.err
    return tmp_path / "people.csv", tmp_path / "model.json"


def test_m13_verify_independent_prints_both_and_hands_over_features(table, tmp_path):
    data, model = table
    done = call("verify", model, data, "--independent", "--rows", tmp_path / "rows.csv")
    assert done.code == 0, done.out
    out = done.out.decode()
    assert "Verified" in out
    assert "Second opinion, of checker.py. Proven" in out
    run = alone(tmp_path, model, tmp_path / "rows.csv")
    assert run.returncode == 0, run.stdout
    assert "how its features were made" in run.stdout
    assert alone(tmp_path, model, data).returncode == 2


def test_m13_verify_independent_is_loud_where_the_two_disagree(table, monkeypatch):
    data, model = table
    monkeypatch.setattr(checker, "check", lambda *_: checker.Finding(2, "no", gap=math.inf))
    done = call("verify", model, data, "--independent")
    assert done.code == 2
    assert "DISAGREE" in done.out.decode()
    done = call("verify", model, data, "--independent", "--json")
    assert json.loads(done.out)["disagree"] is True


def test_m13_numbers_with_gaps_and_without_names(tmp_path):
    rows = [
        [f"{a!r}" if i % 7 else "", f"{b!r}", str(int(y == "yes"))]
        for i, (a, b, y) in enumerate(zip(*X.T[:2].tolist(), Y, strict=True))
    ]
    (tmp_path / "bare.csv").write_text("\n".join(",".join(row) for row in rows))
    made = call("fit", tmp_path / "bare.csv", "--target", "column_3", "-o", tmp_path / "model.json", "--no-header")
    assert made.code != 2, made.err.decode()
    assert alone(tmp_path, tmp_path / "model.json", tmp_path / "bare.csv").returncode == made.code


# -- an attack, and what it found -------------------------------------------------------------------------------------

LINE = [[-2.0], [-1.0], [1.0], [2.0]]


def saved(model, A, y, path, **more):
    save(quietly(model, np.array(A), np.array(y)), path, **more)
    return json.loads(path.read_text())


@pytest.mark.parametrize("classes", [[2**53, 2**53 + 1], ["1", 1], [1, "1"], ["a", " a"], [1, 1.0], ["a", "a"]])
def test_m13_classes_whose_labels_would_be_one_are_refused_or_told_apart(classes, tmp_path):
    model = saved(ZeroOneClassifier(), LINE, [0, 0, 1, 1], tmp_path / "model.json")
    model |= {"coefficients": [[0.0]], "intercept": [1.0]}  # always the second class
    model["classes"]["values"] = classes
    labels = [str(classes[k]) for k in (0, 0, 1, 1)]
    found = checker.check(model, as_rows(LINE), labels)
    assert found.code == (1 if classes[0] == 2**53 else 2), str(found)
    assert "mistakes weigh 2" in found.sentence or "told apart" in found.sentence
    verdict = separability(np.array(LINE), [0, 0, 1, 1]).to_dict() | {"classes": classes}
    found = checker.check(verdict, as_rows(LINE), labels)
    assert found.code == (0 if classes[0] == 2**53 else 2), str(found)


@pytest.mark.parametrize("texts", [("0", "1"), ("0.0", "1.0")])
def test_m13_whole_numbers_are_read_as_numbers(texts, tmp_path):
    model = saved(ZeroOneClassifier(), LINE, [0, 0, 1, 1], tmp_path / "model.json")
    assert checker.check(model, as_rows(LINE), [texts[k] for k in (0, 0, 1, 1)]).code == 0
    found = checker.check(model, as_rows(LINE), ["0", "0", "1", "maybe"])
    assert found.code == 2
    assert "'maybe' is not among" in found.sentence


def test_m13_what_is_predicted_by_vote_is_not_called_proven(tmp_path):
    model = saved(Perceptron(keep="vote", random_state=0), X, EASY, tmp_path / "model.json")
    assert "ballots" in str(model["fitted"])
    found = second_opinion(tmp_path / "model.json", X, EASY)
    assert found.code == 1
    assert "by a vote" in found.sentence


def test_m13_division_by_zero_ends_in_a_sentence(tmp_path):
    data = write_csv(tmp_path / "rows.csv", X, Y, names=["a", "b", "c"])
    assert call("fit", data, "--target", "label", "-o", tmp_path / "model.json").code in (0, 1)
    model = json.loads((tmp_path / "model.json").read_text())
    model["encoding"]["numbers"]["a"][1] = 0.0
    (tmp_path / "model.json").write_text(json.dumps(model))
    run = alone(tmp_path, tmp_path / "model.json", data)
    assert run.returncode == 2
    assert run.stdout.startswith("NOT verified")


@pytest.mark.parametrize(("first", "proven", "second", "code"), [
    (True, True, 0, 0), (True, False, 0, 1), (True, True, 1, 1), (True, False, 2, 2), (False, False, 1, 2),
    (False, False, 0, 2), (False, False, 2, 2),
])  # fmt: skip
def test_m13_one_check_that_does_not_verify_is_exit_code_2(first, proven, second, code):
    opinion = Verification(first, "so", proven=proven)
    assert Opinions(opinion, checker.Finding(second, "so")).code == code


@pytest.mark.parametrize("estimator", [HardMarginSVC, ZeroOneClassifier, Perceptron])
@pytest.mark.parametrize("threshold", [0.25, -0.25, 50.0])
def test_m13_a_threshold_without_intercept_is_no_plane_through_the_origin(estimator, threshold, tmp_path):
    path = tmp_path / "model.json"
    model = saved(estimator(fit_intercept=False), LINE, [0, 0, 1, 1], path, threshold=threshold)
    found = checker.check(model, as_rows(LINE), ["0", "0", "1", "1"])
    assert found.code == 1, str(found)
    assert "plane through the origin" in found.sentence
    w = model["coefficients"][0][0]
    wrong = sum((w * x - threshold) * y <= 0 for (x,), y in zip(LINE, (-1, -1, 1, 1), strict=True))
    if estimator is not HardMarginSVC:
        assert f"weigh {wrong}," in found.sentence or f"leaves {wrong} rows" in found.sentence
    assert verify(path, np.array(LINE), [0, 0, 1, 1])


def test_m13_libsvm_text_may_begin_with_an_empty_row_and_have_queries(tmp_path):
    save(quietly(LogisticRegression(), np.array([[0.0], [1.0]]), [1, 0]), tmp_path / "model.json")
    for text in ("1\n0 1:1\n", "1 qid:3\n0 qid:4 1:1\n"):
        (tmp_path / "rows.svm").write_text(text)
        run = alone(tmp_path, tmp_path / "model.json", tmp_path / "rows.svm")
        assert run.returncode == 0, run.stdout


def test_margins_between_classes_are_refused_by_name(tmp_path):
    model = LinearSVC(multi_class="crammer_singer").fit(X, THREE)
    save(model, tmp_path / "model.json")
    found = checker.check(json.loads((tmp_path / "model.json").read_text()), as_rows(X), [str(y) for y in THREE])
    assert found.code == 2
    assert "no bound is known for the loss 'hinge' (crammer_singer)" in found.sentence


def test_a_second_opinion_that_knows_no_bound_contradicts_nobody():
    first = Verification(True, "proven", proven=True)
    assert not Opinions(first, checker.Finding(2, "no bound is known for the loss 'hinge' (crammer_singer)")).disagree
    assert Opinions(first, checker.Finding(2, "the file is damaged")).disagree
