"""Probabilities that mean what they say: against scikit-learn, SciPy, closed forms, and in every export."""

import json
import sqlite3
import types

import duckdb
import numpy as np
import onnxruntime
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.preprocessing import scale

from linsep import (
    HardMarginSVC,
    LeastSquaresClassifier,
    LinearClassifier,
    LinearSVC,
    LogisticRegression,
    Perceptron,
    SGDClassifier,
    ZeroOneClassifier,
    calibrate,
    load,
    save,
    verify,
)
from linsep.data.encoding import MatrixEncoding
from linsep.estimators._calibration import Calibration, Isotonic, Sigmoid, map_of
from linsep.persistence.document import digest, in_one_line
from linsep.persistence.model_file import ModelFileError, read
from linsep.persistence.onnx_graph import to_onnx
from linsep.persistence.python_source import to_python
from linsep.persistence.sql import to_sql
from linsep.selection.calibration import isotonic, sigmoid, targets

FOLDS = StratifiedKFold(4, shuffle=True, random_state=1)
#: Models without probabilities of their own.
MARGINS = [
    LinearSVC(C=0.1),
    LinearSVC(loss="squared_hinge"),
    LeastSquaresClassifier(),
    LinearClassifier("square"),
    Perceptron(max_iter=20, random_state=0),
    HardMarginSVC(on_overlap="soft"),
]


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X)[:, :3], np.array(["benign", "malignant"])[1 - y]


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X[:, :2], np.array(["a", "b", "c"])[y]


pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("model", MARGINS, ids=lambda model: type(model).__name__)
def test_the_sigmoid_is_scikit_learns_of_the_same_folds(cancer, model):
    X, y = cancer
    ours = calibrate(clone(model).fit(X, y), X, y, cv=FOLDS)
    theirs = CalibratedClassifierCV(clone(model), cv=FOLDS, ensemble=False).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
    np.testing.assert_allclose(np.exp(ours.predict_log_proba(X)), ours.predict_proba(X))
    np.testing.assert_array_equal(ours.predict(X), clone(model).fit(X, y).predict(X))


def test_several_classes_are_mapped_one_against_the_rest(iris):
    X, y = iris
    ours = calibrate(LinearSVC().fit(X, y), X, y, cv=FOLDS)
    theirs = CalibratedClassifierCV(LinearSVC(), cv=FOLDS, ensemble=False).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)


def test_a_softmax_is_mapped_by_its_log_odds(iris):
    X, y = iris
    model = LogisticRegression(C=0.1).fit(X, y)
    ours = calibrate(model, X, y, cv=FOLDS)
    P = cross_val_predict(clone(model), X, y, cv=FOLDS, method="predict_proba")
    odds, of_all = np.log(P) - np.log1p(-P), model.predict_proba(X)
    odds_of_all = np.log(of_all) - np.log1p(-of_all)
    each = [
        sigmoid(odds[:, k], y == label, np.ones(len(y))).probability(odds_of_all[:, k])
        for k, label in enumerate(model.classes_)
    ]
    expected = np.column_stack(each)
    np.testing.assert_allclose(ours.predict_proba(X), expected / expected.sum(axis=1, keepdims=True), rtol=1e-6)


def test_the_sigmoid_is_the_maximum_likelihood_of_platts_targets():
    rng = np.random.default_rng(0)
    positive = rng.random(80) < 0.4
    scores, weight = rng.normal(size=80) + 2 * positive, rng.random(80) + 0.1
    t = targets(positive, weight)
    n = weight[positive].sum(), weight[~positive].sum()
    np.testing.assert_allclose(np.unique(t), sorted([1 / (n[1] + 2), (n[0] + 1) / (n[0] + 2)]))

    def loss(ab):
        z = ab[0] * scores + ab[1]
        return weight @ (t * np.logaddexp(0, -z) + (1 - t) * np.logaddexp(0, z))

    found, best = sigmoid(scores, positive, weight), minimize(loss, [1.0, 0.0], tol=1e-12)
    np.testing.assert_allclose([found.slope, found.offset], best.x, rtol=1e-5)


def test_separated_scores_and_scores_that_say_nothing_have_finite_maps():
    positive = np.array([False, False, True, True])
    found = sigmoid(np.array([-2.0, -1.0, 1.0, 2.0]), positive, np.ones(4))
    assert np.isfinite([found.slope, found.offset]).all()
    turned = sigmoid(np.array([2.0, 1.0, -1.0, -2.0]), positive, np.ones(4))
    assert (turned.slope, turned.offset) == (0.0, pytest.approx(0.0))
    same = sigmoid(np.zeros(4), np.array([False, True, True, True]), np.ones(4))
    share = (3 * 4 / 5 + 1 / 3) / 4  # the mean of the targets
    assert same.probability([7.0]) == pytest.approx(share)
    with pytest.raises(ValueError, match=r"every row has the probability 0\.6833"):
        same.score(0.5)


def test_isotonic_regression_of_the_same_targets(cancer):
    X, y = cancer
    ours = calibrate(LinearSVC().fit(X, y), X, y, "isotonic", cv=FOLDS)
    scores = cross_val_predict(LinearSVC(), X, y, cv=FOLDS, method="decision_function")
    t = targets(y == "malignant", np.ones(len(y)))
    expected = IsotonicRegression(out_of_bounds="clip").fit(scores, t).predict(ours.decision_function(X))
    np.testing.assert_allclose(ours.predict_proba(X)[:, 1], expected)
    assert np.isfinite(ours.predict_log_proba(X)).all()


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_weights_of_rows_are_so_many_rows(cancer, method):
    X, y = cancer
    weight = np.arange(len(y)) % 3
    rows = np.repeat(np.arange(len(y)), weight)
    fold = np.arange(len(y)) // 3 % 3  # a row and its copies in one fold
    of_rows = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    of_copies = [(np.flatnonzero(fold[rows] != k), np.flatnonzero(fold[rows] == k)) for k in range(3)]
    model = LeastSquaresClassifier()
    one = calibrate(clone(model).fit(X, y, weight), X, y, method, cv=of_rows, sample_weight=weight)
    other = calibrate(clone(model).fit(X[rows], y[rows]), X[rows], y[rows], method, cv=of_copies)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=1e-5)


# --- weights of classes, in closed form


@pytest.mark.parametrize("weights", ["balanced", {"no": 1.0, "yes": 7.0}])
def test_two_classes_of_a_saturated_model_lose_the_weights_exactly(weights):
    """With one column of two values and no penalty a fit is the shares of the rows, whatever the weights."""
    X = np.repeat([0.0, 0.0, 1.0, 1.0], [30, 6, 20, 14])[:, None]
    y = np.repeat(["no", "yes", "no", "yes"], [30, 6, 20, 14])
    model = LogisticRegression(C=np.inf, class_weight=weights, tol=1e-12).fit(X, y)
    true = [[30 / 36, 6 / 36], [20 / 34, 14 / 34]]
    assert np.abs(model.predict_proba([[0.0], [1.0]]) - true).max() > 0.1
    corrected = calibrate(model, X, y, "prior")
    np.testing.assert_allclose(corrected.predict_proba([[0.0], [1.0]]), true, atol=1e-6)
    np.testing.assert_array_equal(corrected.predict(X), model.predict(X))


def test_a_softmax_loses_the_weights_exactly():
    counts = np.array([[30, 6, 9], [20, 14, 5]])
    X = np.repeat([0.0, 1.0], counts.sum(axis=1))[:, None]
    y = np.concatenate([np.repeat(["a", "b", "c"], row) for row in counts])
    model = LogisticRegression(C=1e8, class_weight={"a": 1.0, "b": 5.0, "c": 0.5}, tol=1e-12).fit(X, y)
    corrected = calibrate(model, X, y, "prior")
    np.testing.assert_allclose(
        corrected.predict_proba([[0.0], [1.0]]), counts / counts.sum(axis=1, keepdims=True), atol=1e-5
    )


@pytest.mark.parametrize("weights", [None, "balanced", {"no": 1.0, "yes": 7.0}])
def test_rows_that_were_drawn_by_class_are_corrected_by_bayes(weights):
    """Of a population with 3 % yes half of the rows are: a saturated fit shows P(x|class), and Bayes tells the rest."""
    counts = np.array([[30, 6], [20, 44]])  # x = 0 and 1, no and yes: 50 of each class
    X = np.repeat([0.0, 0.0, 1.0, 1.0], counts.ravel())[:, None]
    y = np.concatenate([np.repeat(["no", "yes"], row) for row in counts])
    joint = counts / counts.sum(axis=0) * [0.97, 0.03]
    model = LogisticRegression(C=np.inf, class_weight=weights, tol=1e-12).fit(X, y)
    corrected = calibrate(model, X, y, "prior", base_rates={"yes": 0.03})
    expected = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(corrected.predict_proba([[0.0], [1.0]]), expected, atol=1e-6)
    assert corrected.calibration_.base_rates == (0.97, 0.03)
    assert corrected.calibration_.in_words == "by the log odds of the fit, corrected to base rates of 0.97, 0.03"


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_maps_at_base_rates_are_those_of_weighted_rows(cancer, method):
    X, y = cancer
    found = calibrate(LinearSVC().fit(X, y), X, y, method, cv=FOLDS, base_rates={"malignant": 0.1})
    scores, ours = cross_val_predict(LinearSVC(), X, y, cv=FOLDS, method="decision_function"), y == "malignant"
    weight = np.where(ours, 0.1 / ours.mean(), 0.9 / (~ours).mean())
    expected = {"sigmoid": sigmoid, "isotonic": isotonic}[method](scores, ours, weight)
    np.testing.assert_allclose(
        found.predict_proba(X)[:, 1], expected.probability(found.decision_function(X)), rtol=1e-6
    )


@pytest.mark.parametrize(
    ("rates", "says"),
    [
        ({"luck": 0.5}, "none of the classes"),
        ({"a": 0.5}, "must be the share of each class"),
        ({"a": 0.5, "b": 0.5, "c": 0.0}, "above 0"),
        ({"a": 0.5, "b": 0.5, "c": 0.5}, "come to 1"),
    ],
)
def test_what_are_no_base_rates_is_refused_before_the_work(iris, rates, says):
    X, y = iris
    for method in ("prior", "sigmoid"):
        with pytest.raises(ValueError, match=says):
            calibrate(LogisticRegression().fit(X, y), X, y, method, base_rates=rates)


def test_what_has_no_closed_form_is_refused(iris):
    X, y = iris
    with pytest.raises(ValueError, match="the scores of LinearSVC are none; use sigmoid or isotonic"):
        calibrate(LinearSVC().fit(X, y), X, y, "prior")
    with pytest.raises(ValueError, match="one against the rest has no closed form"):
        calibrate(LogisticRegression(multi_class="ovr").fit(X, y), X, y, "prior")
    model = LogisticRegression(class_weight={"a": 1.0, "b": 0.0, "c": 1.0}).fit(X, y)
    with pytest.raises(ValueError, match="a class of weight 0"):
        calibrate(model, X, y, "prior")
    with pytest.raises(ValueError, match="method"):
        calibrate(model, X, y, "luck")
    with pytest.raises(NotFittedError, match="not fitted"):
        calibrate(LinearSVC(), X, y)


# --- as scikit-learn's conventions have it


def test_probabilities_are_there_once_they_are_known(cancer):
    X, y = cancer
    for model in (LinearSVC(), SGDClassifier("hinge", random_state=0), ZeroOneClassifier(time_limit=0.1)):
        model.fit(X[:60], y[:60])
        assert not hasattr(model, "predict_proba")
        with pytest.raises(AttributeError) as refused:
            _ = model.predict_proba
        assert "linsep.calibrate(model, X, y)" in str(refused.value.__cause__)
        calibrated = calibrate(model, X[:60], y[:60], cv=2)
        np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1.0)
        assert not hasattr(calibrated.fit(X[:60], y[:60]), "predict_proba")


def test_logistic_probabilities_stay_scikit_learns(cancer):
    X, y = cancer
    model = LogisticRegression(class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-model.decision_function(X))))


# --- in files


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "prior"])
def test_files_keep_them_bit_for_bit_and_proofs_stay(cancer, tmp_path, method):
    X, y = cancer
    model = LogisticRegression(class_weight="balanced").fit(X, y)
    calibrated = calibrate(model, X, y, method)
    save(calibrated, tmp_path / "m.json", data=(X, y))
    again = load(tmp_path / "m.json")
    assert again.calibration_ == calibrated.calibration_
    np.testing.assert_array_equal(again.predict_proba(X), calibrated.predict_proba(X))
    outcome = verify(tmp_path / "m.json", X, y)
    assert outcome.proven
    assert "calibration_" in outcome.unchecked


def put(**changes):
    def change(section):
        section.update(changes)

    return change


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (put(method="luck"), "method 'luck' is not known"),
        (put(planes=[]), "another number of maps"),
        (put(planes=[{"slope": -1.0, "offset": 0.0}]), "turn the order"),
        (put(planes=[{"slope": "1", "offset": 0.0}]), "no finite number"),
        (put(planes=[{"slope": 1.0}]), "offset"),
        (put(together=True), "softmax is of more than two"),
        (put(folds=-1), "folds"),
        (put(base_rates=[1.0]), "as many base rates"),
        (put(method="isotonic", planes=[{"scores": [1.0, 0.0], "shares": [0.1, 0.2]}]), "ascend"),
        (put(method="isotonic", planes=[{"scores": [0.0, 1.0], "shares": [0.3, 0.2]}]), "ascend"),
        (put(method="isotonic", planes=[{"scores": [0.0, 1.0], "shares": [0.3, 1.2]}]), "between 0 and 1"),
        (put(method="isotonic", planes=[{"scores": [0.0], "shares": [0.3, 0.4]}]), "as many shares"),
    ],
)
def test_damaged_calibrations_are_refused(cancer, tmp_path, change, says):
    X, y = cancer
    save(calibrate(LinearSVC().fit(X, y), X, y), tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text())
    change(document["calibration"])
    document["digest"] = digest({name: in_one_line(value) for name, value in document.items()})
    (tmp_path / "m.json").write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match=f'"calibration".*{says}'):
        load(tmp_path / "m.json")


# --- where a probability is


@pytest.mark.parametrize("found", [Sigmoid(2.0, -1.0), Isotonic((0.0, 0.5, 2.0, 3.0), (0.1, 0.4, 0.4, 0.9))], ids=repr)
@pytest.mark.parametrize("p", [0.2, 0.4, 0.5, 0.9])
def test_the_score_of_a_probability_is_the_first_that_reaches_it(found, p):
    at = found.score(p)
    assert found.probability([at])[0] == pytest.approx(p)
    assert found.probability([at - 1e-6])[0] < p


def test_probabilities_that_no_row_has_are_refused():
    for p in (0.05, 0.95):
        with pytest.raises(ValueError, match=r"probabilities go from 0\.1 to 0\.9 only"):
            Isotonic((0.0, 1.0), (0.1, 0.9)).score(p)


def test_the_map_of_a_model(cancer, iris):
    X, y = cancer
    assert map_of(LogisticRegression().fit(X, y)) == Sigmoid(1.0, 0.0)
    assert map_of(LinearSVC().fit(X, y)) is None
    assert map_of(LogisticRegression().fit(*iris)) is None
    calibrated = calibrate(LinearSVC().fit(X, y), X, y)
    assert map_of(calibrated) == calibrated.calibration_.maps[0]


# --- in exports

CASES = [
    *((model, method) for model in (LinearSVC(), LogisticRegression()) for method in ("sigmoid", "isotonic")),
    (LogisticRegression(class_weight="balanced"), "prior"),
]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("model", "method"), CASES, ids=repr)
def test_all_exports_give_the_same_probabilities(cancer, iris, tmp_path, model, method, classes):
    X, y = cancer if classes == 2 else iris
    model = calibrate(clone(model).fit(X, y), X, y, method)
    if classes == 2:
        model.threshold_ = map_of(model).score(0.3)
    names = [f"x{j}" for j in range(X.shape[1])]
    save(model, tmp_path / "m.json", encoding=MatrixEncoding(len(names), columns=names).to_dict())
    found, rows = read(tmp_path / "m.json"), np.vstack([X[::7], 5 * X[::40], 0 * X[:1]])
    expected, labels = model.predict_proba(rows), model.predict(rows).tolist()
    module = types.ModuleType("classifier")
    exec(to_python(found), module.__dict__)
    given = [dict(zip(names, row, strict=True)) for row in rows.tolist()]
    assert [module.predict(row) for row in given] == labels
    by_python = [[module.probabilities(row)[label] for label in model.classes_.tolist()] for row in given]
    np.testing.assert_allclose(by_python, expected, atol=1e-12)
    session = onnxruntime.InferenceSession(to_onnx(found))
    said, by_onnx = session.run(["label", "probabilities"], {session.get_inputs()[0].name: rows})
    assert said.tolist() == labels
    np.testing.assert_allclose(by_onnx, expected, atol=1e-12)
    for connect in (sqlite3.connect, duckdb.connect):
        with connect(":memory:") as base:
            base.execute(f"CREATE TABLE t (n INTEGER, {', '.join(f'{name} DOUBLE' for name in names)})")
            base.executemany(
                f"INSERT INTO t VALUES ({', '.join('?' * (len(names) + 1))})",
                [(k, *row) for k, row in enumerate(rows.tolist())],
            )
            told = base.execute(f"SELECT {to_sql(found)} FROM t ORDER BY n").fetchall()
        assert [row[0] for row in told] == labels
        np.testing.assert_allclose([row[1:] for row in told], expected, atol=1e-12)


def test_a_calibration_says_what_it_was_made_of(cancer):
    X, y = cancer
    found = calibrate(LinearSVC().fit(X, y), X, y, cv=3).calibration_
    assert (found.method, found.folds, found.rows, found.together) == ("sigmoid", 3, len(y), False)
    assert Calibration.from_dict(json.loads(json.dumps(found.to_dict())), 2) == found
