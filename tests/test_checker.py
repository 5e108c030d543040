"""The second opinion: `checker.py` on its own, against `linsep.verify`, and against oracles that know neither."""

import ast
import csv
import itertools
import json
import math
import shutil
import subprocess
import sys
import warnings
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
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
from oracles import LOSSES, MarginFormula

SOURCE = Path(checker.__file__)


def as_rows(X):
    """Return rows as the checker takes them."""
    X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=float)
    return [([j for j, x in enumerate(row) if x], [x for x in row if x]) for row in X.tolist()]


def second_opinion(path, X, y, weights=None):
    model = json.loads(Path(path).read_text())
    weights = None if weights is None else np.asarray(weights).tolist()
    return checker.check(model, as_rows(X), [str(label) for label in np.asarray(y).tolist()], weights)


def quietly(model, X, y, **fit):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, **fit)


rng = np.random.default_rng(7)
X = rng.normal(size=(60, 3))
Y = np.where(X @ [1.0, -2.0, 0.5] + 0.5 * rng.normal(size=60) > 0, "yes", "no")
THREE = np.argmax(X @ rng.normal(size=(3, 3)) + 0.5 * rng.normal(size=(60, 3)), axis=1)
EASY = X[:, 0] + X[:, 1] > 0
ONE_HOT = np.hstack([X[:, :1], np.eye(3)[rng.integers(3, size=60)]])
GRID = np.round(X * 2**20) / 2**20
WEIGHTS = rng.integers(0, 4, size=60).astype(float)

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
    for name, (_, X, y, weights) in HONEST.items():
        found = second_opinion(fitted(name), X, y, weights)
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


# -- against oracles --------------------------------------------------------------------------------------------------

small = st.integers(-3, 3)


def problem(loss, X, y, w, b, l2, l1, C, intercept=True):
    one = 1 << 130
    return SimpleNamespace(
        data=checker.Data(as_rows(X), np.shape(X)[1], intercept),
        codes=[int(label > 0) for label in y],
        planes={1: [*map(Fraction, w), *([Fraction(b)] if intercept else [])]},
        c=[int(Fraction(C) * one)] * len(X),
        **dict(K=2, loss=loss, l2=Fraction(l2), l1=Fraction(l1), one=one, intercept=intercept),
        **dict(shift=Fraction(0), scales=[1, 1], known={}),
    )


def enclosed(p):
    with checker.localcontext(checker.Context(prec=45)):
        return checker.optimum(p)


@given(
    st.sampled_from(sorted(LOSSES)),
    st.lists(st.tuples(small, small, st.sampled_from([-1, 1])), min_size=3, max_size=8),
    st.tuples(small, small, small),
    st.sampled_from([(1.0, 0.0), (0.5, 0.5), (0.0, 1.0), (0.0, 0.0)]),
    st.sampled_from([0.25, 1.0, 8.0]),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_m13_no_point_is_below_the_bound_and_the_objective_is_enclosed(loss, points, plane, penalty, C, intercept):
    A = np.array(points, dtype=float)
    X, y, (l2, l1) = A[:, :2], A[:, 2], penalty
    w, b = np.array(plane[:2]) / 4, plane[2] / 4 if intercept else 0.0

    formula = MarginFormula(X, y, C, l2, l1, intercept=intercept, loss=loss)

    def P(theta):
        return formula.value(theta[:2], theta[2] if intercept else 0.0)

    low, high, dual = enclosed(problem(loss, X, y, w, b, l2, l1, C, intercept))
    at = P(np.array([*w, b]))
    assert float(low) <= at * (1 + 1e-12) + 1e-12
    assert float(high) >= at * (1 - 1e-12) - 1e-12
    starts = [np.array([*w, b]), np.zeros(3)]
    best = min(minimize(P, start, method=method).fun for start in starts for method in ("Nelder-Mead", "BFGS"))
    assert float(dual) <= best * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize(("l2", "l1"), [(1.0, 0.0), (0.5, 0.5), (0.0, 1.0)])
def test_m13_the_bound_is_below_the_optimum_of_cvxpy_and_near_it(loss, l2, l1):
    random = np.random.default_rng(1)
    A = random.normal(size=(25, 3))
    y = np.where(A @ [1.0, 1.0, 0.0] + random.normal(size=25) > 0, 1.0, -1.0)
    least, w, b = MarginFormula(A, y, 2.0, l2, l1, loss=loss).conic_optimum()
    low, high, dual = enclosed(problem(loss, A, y, w, float(b), l2, l1, 2.0))
    assert float(dual) <= least + 1e-6 <= float(high) + 2e-6
    if loss not in ("hinge", "perceptron"):  # whose dual points need the hint of the file
        assert float((high - dual) / low) < 1e-3


def test_m13_the_curvature_bound_holds_with_redundant_columns():
    y = np.where(Y == "yes", 1.0, -1.0)
    for A in (X, ONE_HOT, np.c_[GRID, GRID[:, 0] - 2 * GRID[:, 1]]):

        def P(theta, A=A):
            return np.logaddexp(0, -y * (A @ theta[:-1] + theta[-1])).sum()

        best = minimize(P, np.zeros(A.shape[1] + 1), tol=1e-10)
        low, high, dual = enclosed(problem("logistic", A, y, best.x[:-1], best.x[-1], 0.0, 0.0, 1.0))
        assert float(dual) <= best.fun * (1 + 1e-12)
        assert float((high - dual) / low) < 1e-5


@given(st.lists(st.lists(small, min_size=3, max_size=3), min_size=1, max_size=5))
@settings(max_examples=50, deadline=None)
def test_m13_relations_are_all_there_are(vectors):
    reduced, found = checker.relations(vectors)
    A = np.array(vectors)
    assert len(reduced) == np.linalg.matrix_rank(A) == len(vectors) - len(found)
    for vector, combination in reduced:
        assert (np.array(combination, dtype=object) @ A.astype(object)).tolist() == vector
    for combination in found:
        assert not (np.array(combination, dtype=object) @ A.astype(object)).any()
        assert any(combination)


@given(
    st.lists(st.tuples(small, small, st.sampled_from([-1, 1])), min_size=2, max_size=7),
    st.lists(st.integers(1, 3), min_size=7, max_size=7),
)
@settings(max_examples=60, deadline=None)
def test_m13_cells_give_the_fewest_mistakes(points, weights):
    vectors = [[y * a, y * b, y] for a, b, y in points]
    with_weights = [(v, Fraction(s)) for v, s in zip(vectors, weights, strict=False)]
    angles = np.linspace(0, 2 * math.pi, 241)[:-1] + 0.0013
    planes = np.array([(math.cos(t), math.sin(t), b) for t in angles for b in np.linspace(-5, 5, 161) + 0.0007])
    wrong = (np.array(vectors) @ planes.T <= 0).T @ np.array(weights[: len(points)], dtype=float)
    constant = min(sum(s for (*_, y), s in zip(points, weights, strict=False) if y == side) for side in (-1, 1))
    assert checker.fewest(with_weights) == min(wrong.min(), constant)


@given(
    st.lists(st.sets(st.integers(0, 6), min_size=1, max_size=3), min_size=1, max_size=8),
    st.lists(st.integers(1, 4), min_size=7, max_size=7),
)
@settings(max_examples=80, deadline=None)
def test_m13_no_lighter_set_meets_all_conflicts(conflicts, weights):
    meeting = [
        sum(weights[i] for i in chosen)
        for size in range(8)
        for chosen in itertools.combinations(range(7), size)
        if all(conflict & set(chosen) for conflict in conflicts)
    ]
    asked = [frozenset(conflict) for conflict in conflicts], [Fraction(s) for s in weights]
    assert checker.lightest(*asked, Fraction(100), math.inf) == min(meeting)
    assert checker.lightest(*asked, Fraction(2), math.inf) == min(2, *meeting)
    assert checker.lightest(*asked, Fraction(100), -math.inf) <= min(meeting)


def test_m13_a_plane_that_is_no_optimum_is_measured_exactly():
    """In rational numbers: one weight, three points, the hinge."""
    A, y = [[0.0], [1.0], [3.0]], [-1, 1, 1]
    low, high, dual = enclosed(problem("hinge", A, y, [0.5], -0.25, 1.0, 0.0, 1.0))
    expected = Fraction(1, 8) + Fraction(3, 4) + Fraction(3, 4)  # ½ w² + (1 − ¼) + (1 − ¼) + 0
    assert low == expected
    assert high - expected < Fraction(1, 10**30)
    assert dual <= Fraction(3, 2)  # ½ w² + (1 − z) at w = 1, b = −1


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
