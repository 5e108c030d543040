"""Model files: what is saved comes back to the bit, and what was not saved by linsep is refused with a reason."""

import json
import os
import re
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as OtherLogisticRegression

import linsep
from linsep import (
    HardMarginSVC,
    LeastSquaresClassifier,
    LinearClassifier,
    LinearSVC,
    LogisticRegression,
    Perceptron,
    SGDClassifier,
    ZeroOneClassifier,
    load,
    save,
)
from linsep.history import COLUMNS
from linsep.losses import Hinge
from linsep.penalties import ElasticNet
from linsep.persistence.document import digest as _digest
from linsep.persistence.document import in_one_line as _line
from linsep.persistence.model_file import SECTIONS, ModelFileError, read
from linsep.schedules import InverseSqrt
from linsep.solvers import GradientDescent, Newton
from linsep.stopping import ParameterChange

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
two = np.where(X[:, 0] + 0.3 * rng.normal(size=40) > 0, "yes", "no")
three = np.digitize(X[:, 1], [-0.5, 0.5]) * 10
apart = np.where(X[:, 0] > 0, 1, -1)


def name_of(model):
    """What a test is called by: the same in every process."""
    return re.sub(r" at 0x[0-9A-F]+", "", repr(model))


MODELS = [
    *(Perceptron(keep=keep, max_iter=15, random_state=0) for keep in ("best", "last", "average", "vote")),
    Perceptron(order="cyclic", fit_intercept=False, max_iter=15, class_weight="balanced"),
    SGDClassifier("logistic", max_iter=5, random_state=np.random.RandomState(0), schedule=0.1),
    SGDClassifier("hinge", penalty="elasticnet", l1_ratio=0.3, keep="average", max_iter=5, random_state=1),
    LeastSquaresClassifier(),
    LeastSquaresClassifier(C=0.3, fit_intercept=False),
    LinearClassifier("logistic", C=None, solver=Newton(max_iter=7)),
    LinearClassifier(Hinge(), penalty=ElasticNet(0.1), solver="sgd", random_state=0, max_iter=20),
    LinearClassifier(
        "squared_hinge", solver=GradientDescent(schedule=InverseSqrt(0.5), stopping=[ParameterChange(1e-2)], max_iter=9)
    ),
    LogisticRegression(C=0.1, l1_ratio=0.0),
    LogisticRegression(multi_class="ovr", tol=1e-8),
    LinearSVC(),
    LinearSVC(loss="squared_hinge", C=np.float64(0.5)),
    ZeroOneClassifier(),
    HardMarginSVC(on_overlap="soft"),
]


def fitted(model, y=two, X=X, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return type(model)(**model.get_params() | settings).fit(X, y)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.json"


def forged(path, edit):
    """Change the document and make up a digest that fits."""
    document = json.loads(path.read_text())
    edit(document)
    document["digest"] = _digest({name: _line(value) for name, value in document.items()})
    path.write_text(json.dumps(document))


# --- what comes back


@pytest.mark.parametrize("y", [two, three, apart], ids=["two classes", "three classes", "separable"])
@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_every_estimator_predicts_the_same_bits(model, y, path):
    model = fitted(model, y)
    save(model, path)
    again = load(path)
    assert type(again) is type(model)
    for name in ("coef_", "intercept_", "classes_"):
        assert getattr(again, name).tobytes() == getattr(model, name).tobytes()
    assert again.classes_.dtype == model.classes_.dtype
    assert again.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    assert again.predict(X).tobytes() == model.predict(X).tobytes()
    if hasattr(model, "predict_proba"):
        assert again.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    assert again.summary() == model.summary()


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_parameters_and_attributes_come_back(model, path):
    model = fitted(model)
    save(model, path)
    again = load(path)
    for name, value in model.get_params().items():
        if not isinstance(value, np.random.RandomState):
            assert getattr(again, name) == value
    missing = {name for name in vars(model) if name.endswith("_") and not hasattr(again, name)}
    assert missing <= {"slack_", "support_", "support_vectors_", "dual_coef_", "update_counts_", "progress_"}
    for name in ("n_iter_", "converged_", "dual_gap_", "objective_", "n_features_in_"):
        assert getattr(again, name) == getattr(model, name)


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_a_loaded_model_saves_to_the_same_file(model, path, tmp_path):
    save(fitted(model), path, data=(X, two), encoding={"columns": ["a"]})
    save(load(path), tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


# --- how the fit went


def histories(model):
    return model.history_ if isinstance(model.history_, list) else [model.history_]


@pytest.mark.parametrize("y", [two, three], ids=["two classes", "three classes"])
@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_how_the_fit_went_comes_back_to_the_bit(model, y, path):
    model = fitted(model, y)
    save(model, path)
    again = histories(load(path))
    assert len(again) == len(histories(model))
    for history, kept in zip(histories(model), again, strict=True):
        assert (kept.solver, kept.reason, kept.offered) == (history.solver, history.reason, history.offered)
        few = history.thinned(200)
        assert len(kept) == len(few) <= 200
        for column in COLUMNS:
            assert kept[column].tobytes() == few[column].tobytes()


def test_a_long_history_is_thinned_and_says_so(path):
    solver = GradientDescent(schedule=0.01, stopping=[ParameterChange(1e-12)], max_iter=1500)
    save(fitted(LinearClassifier("logistic", solver=solver)), path)
    kept = load(path).history_
    assert 100 <= len(kept) <= 200
    assert kept["step"][[0, -1]].tolist() == [0, 1500]
    assert (kept.offered, kept.stride) == (1501, 8)
    assert path.stat().st_size < 50_000


def test_the_histories_of_many_planes_stay_small_together(path):
    y = np.arange(400) % 100
    wide = np.random.default_rng(1).normal(size=(400, 2))
    model = fitted(SGDClassifier("hinge", max_iter=60, stopping=None, random_state=0), y, wide)
    save(model, path)
    kept = load(path).history_
    assert all(len(one) == 61 for one in model.history_)
    assert sum(map(len, kept)) <= 2000
    assert all(one["step"][-1] == other["step"][-1] for one, other in zip(kept, model.history_, strict=True))


def test_a_history_speaks_of_no_single_row(path):
    model = fitted(Perceptron(record="update", max_iter=5, random_state=0))
    assert model.history_.iterates.size
    assert (model.history_["example"] >= 0).any()
    save(model, path)
    kept = load(path).history_
    assert kept.iterates.size == 0
    assert np.isnan(kept["example"]).all()
    np.testing.assert_array_equal(kept["step"], model.history_.thinned(200)["step"])


@pytest.mark.parametrize("model", [m for m in MODELS if getattr(m, "random_state", 0) is not None], ids=name_of)
def test_the_same_seed_writes_the_same_file(model, path, tmp_path):
    for where in (path, tmp_path / "again.json"):
        save(fitted(clone(model)), where)
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("y", [two, three], ids=["two classes", "three classes"])
def test_files_of_version_1_are_read_too(y, path):
    model = fitted(LinearSVC(), y)
    save(model, path)

    def as_version_1(document):
        runs = document.pop("history")
        del document["calibration"]
        document["version"] = 1
        document["fitted"]["history_"] = [[run["solver"], run["reason"]] for run in runs]

    forged(path, as_version_1)
    again = load(path)
    assert again.predict(X).tobytes() == model.predict(X).tobytes()
    assert again.summary() == model.summary()
    assert [len(history) for history in histories(again)] == [0] * len(histories(model))


def test_a_loaded_model_can_be_fitted_again_and_forgets_the_file(path):
    save(fitted(LogisticRegression()), path, data=(X, two), encoding={"a": 1})
    model = load(path).fit(X[:30], two[:30])
    save(model, path)
    assert read(path).data is None
    assert read(path).encoding is None
    assert load(path).coef_.tobytes() == LogisticRegression().fit(X[:30], two[:30]).coef_.tobytes()


def test_a_stream_goes_on_after_loading(path):
    one = SGDClassifier("logistic", keep="average", random_state=0).partial_fit(X[:20], two[:20], ["no", "yes"])
    save(one, path)
    other = load(path)
    for model in (one, other):
        model.partial_fit(X[20:], two[20:])
    assert other.coef_.tobytes() == one.coef_.tobytes()
    assert other.t_ == one.t_


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_a_voted_perceptron_on_any_kind_of_data(path, kind, dtype):
    data = kind(X.astype(dtype))
    model = fitted(Perceptron(keep="vote", max_iter=10, random_state=0), three, data)
    save(model, path)
    assert load(path).decision_function(data).tobytes() == model.decision_function(data).tobytes()


LABELS = [
    np.array(["ä", "日本"])[(two == "yes").astype(int)],
    two == "yes",
    np.where(two == "yes", 7, -3).astype(np.int8),
    np.where(two == "yes", 2**62, -(2**62)),
    np.where(two == "yes", 1.0, 0.0).astype(np.float32),
    np.where(two == "yes", "a", "b").astype(object),
]


@pytest.mark.parametrize("y", LABELS, ids=lambda y: f"{y.dtype} {y[0]}")
def test_labels_keep_their_type(y, path):
    model = fitted(LinearSVC(class_weight=dict.fromkeys(np.unique(y).tolist(), 2.0)), y)
    save(model, path)
    again = load(path)
    assert again.classes_.dtype == model.classes_.dtype
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert [type(label) for label in again.predict(X).tolist()] == [type(label) for label in model.predict(X).tolist()]
    assert again.class_weight == model.class_weight


def test_feature_names_come_back(path):
    frame = pd.DataFrame(X, columns=["length", "größe", "x y"])
    save(LogisticRegression().fit(frame, two), path)
    again = load(path)
    assert again.feature_names_in_.tolist() == ["length", "größe", "x y"]
    again.predict(frame)
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame.rename(columns={"length": "other"}))


numbers = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=60, deadline=None)
@given(st.lists(numbers, min_size=3, max_size=3), numbers)
def test_any_finite_plane_comes_back_to_the_bit(tmp_path_factory, w, b):
    path = tmp_path_factory.getbasetemp() / "any_plane.json"
    model = fitted(LeastSquaresClassifier())
    model.coef_, model.intercept_ = np.array([w]), np.array([b])
    save(model, path)
    again = load(path)
    assert again.coef_.tobytes() == model.coef_.tobytes()
    assert again.intercept_.tobytes() == model.intercept_.tobytes()


def test_the_file_says_what_it_is(path):
    save(fitted(LinearSVC()), path, data=(X, two))
    document = json.loads(path.read_text())
    assert tuple(document) == SECTIONS
    assert (document["format"], document["version"]) == ("linsep model", 5)
    assert document["estimator"]["class"] == "LinearSVC"
    assert np.shape(document["coefficients"]) == (1, 3)
    assert document["objective"] == "½‖w‖² + Σ max(0, 1 − z)"
    assert document["data"]["rows"] == 40
    assert document["versions"]["linsep"] == linsep.__version__
    assert len(path.read_text().splitlines()) == len(SECTIONS) + 2


def test_threshold_and_encoding_have_their_place(path):
    encoding = {"columns": [{"name": "age", "mean": 0.1 + 0.2}], "version": 3}
    save(fitted(LogisticRegression()), path, threshold=0.25, encoding=encoding)
    found = read(path)
    assert (found.threshold, found.encoding) == (0.25, encoding)
    assert load(path).threshold_ == 0.25
    np.testing.assert_array_equal(
        load(path).predict(X), np.where(found.model.decision_function(X) >= 0.25, "yes", "no")
    )


def test_files_of_version_3_are_read_with_their_threshold(path):
    model = fitted(LogisticRegression())
    save(model, path, threshold=0.25)

    def as_version_3(document):
        del document["calibration"]
        document["version"] = 3

    forged(path, as_version_3)
    again = load(path)
    assert (again.threshold_, hasattr(again, "calibration_")) == (0.25, False)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_a_certificate_stays_small_in_the_file(path):
    many = rng.normal(size=(3000, 3))
    y = (many[:, 0] + rng.normal(size=3000) > 0).astype(int)
    save(fitted(LogisticRegression(), y, many), path)
    assert path.stat().st_size < 3000
    save(fitted(LinearSVC(), y, many), path)
    assert path.stat().st_size < 5000


# --- what cannot be saved


class Own(Hinge):
    pass


class Derived(LinearSVC):
    pass


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (LinearSVC(), "not fitted"),
        (fitted(LinearClassifier(Own(), solver="sgd", random_state=0, max_iter=3)), "a file cannot say what it is"),
        (Derived().fit(X, two), "Derived is no estimator of linsep"),
        (OtherLogisticRegression().fit(X, two), "no estimator of linsep|cannot be saved"),
        ("model", "str is no estimator"),
    ],
)
def test_what_cannot_be_saved_is_an_error_and_leaves_no_file(model, reason, path):
    with pytest.raises(ModelFileError, match=reason):
        save(model, path)
    assert not path.exists()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_planes_that_are_no_planes_are_not_saved(path, bad):
    model = fitted(LinearSVC())
    model.coef_ = model.coef_ * bad
    with pytest.raises(ModelFileError, match="not a finite number"):
        save(model, path)
    model = fitted(LinearSVC())
    model.coef_ = model.coef_[:, :2]
    with pytest.raises(ModelFileError, match=r"shape \(1, 3\)"):
        save(model, path)


@pytest.mark.parametrize("encoding", [[1], {"a": np.nan}, {"a": (1, 2)}, {1: "a"}, {"a": {1, 2}}])
def test_an_encoding_has_to_be_json(path, encoding):
    with pytest.raises(ModelFileError, match="encoding"):
        save(fitted(LinearSVC()), path, encoding=encoding)


@pytest.mark.parametrize("threshold", [np.nan, np.inf, "0.5", True])
def test_a_threshold_has_to_be_a_number(path, threshold):
    with pytest.raises(ModelFileError, match="threshold"):
        save(fitted(LinearSVC()), path, threshold=threshold)


# --- files that are refused


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model.json"
    save(fitted(LinearSVC()), path, data=(X, two))
    return path.read_bytes()


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_changed_byte_is_refused_or_changes_nothing(saved, tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "byte.json"
    place = data.draw(st.integers(0, len(saved) - 1))
    other = data.draw(st.integers(0, 255).filter(lambda byte: byte != saved[place]))
    path.write_bytes(saved[:place] + bytes([other]) + saved[place + 1 :])
    try:
        document = json.loads(path.read_bytes())
    except ValueError:
        document = None
    if document == json.loads(saved):  # white space
        load(path)
        return
    with pytest.raises(ModelFileError, match=re.escape(str(path))):
        load(path)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_truncated_file_is_refused(saved, tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "short.json"
    path.write_bytes(saved[: data.draw(st.integers(0, len(saved) - 3))])
    with pytest.raises(ModelFileError, match=r"no JSON.*truncated"):
        load(path)


def put(*keys_and_value):
    *keys, last, value = keys_and_value

    def edit(document):
        for key in keys:
            document = document[key]
        document[last] = value

    return edit


def drop(section, key=None):
    return lambda document: document.pop(section) if key is None else document[section].pop(key)


FORGERIES = [
    (put("format", "pickle"), "not a model that linsep saved"),
    (put("version", 6), "of version 6, this linsep reads the versions 1, 2, 3, 4, 5"),
    (put("version", 1), "unknown: calibration, history"),
    (put("version", True), "of version True"),
    (put("extra", 1), "unknown: extra"),
    (drop("intercept"), "missing: intercept"),
    (put("estimator", "class", "os.system"), "class 'os.system' is not known"),
    (put("estimator", "class", ["LinearSVC"]), "cannot be used"),
    (put("estimator", "parameters", "C", -1.0), "C=-1.0 must be a positive number"),
    (put("estimator", "parameters", "magic", 1), "magic"),
    (put("estimator", "parameters", "loss", {"object": {"class": "os.system", "settings": {}}}), "is not known"),
    (drop("estimator", "parameters"), "lacks 'parameters'"),
    (put("classes", "values", ["no", "no"]), "all different"),
    (put("classes", "dtype", "object_"), "dtype 'object_' is not known"),
    (put("classes", ["no", "yes"]), "array needs exactly"),
    (put("features", "count", 4), "need coefficients of shape"),
    (put("features", "count", -3), "no number of columns"),
    (put("fitted", "is_soft", True), "is no attribute of a fit"),
    (put("features", "names", ["a"]), "3 columns need as many names"),
    (put("coefficients", [[1.0, 2.0]]), "need coefficients of shape"),
    (put("coefficients", [[1.0, 2.0, "3.0"]]), "is no number"),
    (put("coefficients", [[1.0, 2.0, True]]), "is no number"),
    (put("coefficients", [[1.0, 2.0, 10**400]]), "too large"),
    (put("coefficients", {"float": "nan"}), "list of numbers"),
    (put("intercept", [None]), "is no number"),
    (put("threshold", "high"), "threshold='high' must be a finite number"),
    (put("objective", 3), "must be text"),
    (put("fitted", "predict", 3), "no attribute of a fit"),
    (put("fitted", "certificate_", 3), "no attribute of a fit"),
    (put("fitted", "__class__", 3), "no attribute of a fit"),
    (put("fitted", "n_iter_", "many"), "n_iter_ is 'many'"),
    (drop("fitted", "converged_"), "converged_ is missing"),
    (put("history", []), "one run or more"),
    (put("history", {}), "one run or more"),
    (put("history", 0, "offered", 10**18), "cannot be one in 1 of"),
    (put("history", 0, "stride", 0), "cannot be one in 0"),
    (put("history", 0, "stride", 1.0), "stride is 1.0"),
    (put("history", 0, "steps", {}), "0 records cannot be"),
    (put("history", 0, "steps", "step", [0]), "of different lengths"),
    (put("history", 0, "steps", "step", 0, 0.5), "a step has no whole number"),
    (put("history", 0, "steps", "step", 0, None), "a step has no whole number"),
    (put("history", 0, "steps", "objective", 0, "low"), "'low' is no number of a step"),
    (put("history", 0, "steps", "objective", 0, True), "True is no number of a step"),
    (put("history", 0, "steps", "example", [0]), "'example' is not recorded"),
    (drop("history", 0), "one run or more"),
    (put("certificate", "gap", 0, "primal", "low"), "primal is 'low', which is no finite number"),
    (put("certificate", "gap", 0, "statement", "loss", "mine"), "mine"),
    (put("certificate", "oracle", 1), "kind 'oracle' are not known"),
    *((put("certificate", "gap", 0, "statement", "class_weight", bad), "class_weight") for bad in (0.0, 1, "heavy")),
    (put("certificate", "gap", 0, "statement", "class_weight", [["no", -1]]), "negative"),
    (put("encoding", [1]), "encoding must be an object"),
    (put("data", 3), "data must be an object"),
]


@pytest.mark.parametrize(("edit", "reason"), FORGERIES, ids=[reason for _, reason in FORGERIES])
def test_what_is_not_understood_is_refused_with_the_reason(saved, path, edit, reason):
    path.write_bytes(saved)
    forged(path, edit)
    with pytest.raises(ModelFileError, match=re.escape(reason)) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert "Traceback" not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [b"", b"null", b"[]", b"{}", b"\x80\x04\x95", b"\xff\xfe", b"[" * 100_000, b'{"format": NaN}', b'{"a": 1, "a": 2}'],
    ids=["nothing", "null", "list", "empty", "pickle", "not text", "deep", "NaN", "twins"],
)
def test_what_is_no_model_file_is_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=re.escape(str(path))):
        load(path)


def test_an_infinite_number_in_decimal_is_refused(saved, path):
    path.write_bytes(saved)
    forged(path, put("intercept", [0.0]))
    path.write_text(path.read_text().replace('"intercept": [0.0]', '"intercept": [1e999]'))
    with pytest.raises(ModelFileError):
        load(path)


def test_an_edit_by_hand_is_refused_even_where_it_makes_sense(saved, path):
    document = json.loads(saved)
    document["intercept"][0] += 1e-9
    path.write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match="digest does not fit: it was changed"):
        load(path)


def test_a_file_that_is_not_there(path):
    with pytest.raises(FileNotFoundError):
        load(path)


def test_loading_never_unpickles_or_evaluates(saved, path, monkeypatch):
    import builtins
    import pickle

    def forbidden(*args, **kwargs):
        raise AssertionError("code from a file")

    path.write_bytes(saved)
    load(path)
    for module, name in ((pickle, "loads"), (pickle, "load"), (builtins, "eval"), (builtins, "exec")):
        monkeypatch.setattr(module, name, forbidden)
    load(path)


# --- writing


@pytest.mark.slow
def test_a_full_disk_keeps_the_old_model(path):
    save(fitted(LinearSVC()), path)
    before = path.read_bytes()
    program = (
        "import resource, sys\nfrom linsep import load, save\n"
        "model = load(sys.argv[1])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))\n"
        "try:\n    save(model, sys.argv[1])\nexcept OSError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    assert "the model was not saved, and what was there is untouched" in done.stdout
    assert str(path) in done.stdout
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.slow
def test_a_kill_while_saving_leaves_a_model_that_loads(path):
    program = (
        "import sys\nimport numpy as np\nfrom linsep import LeastSquaresClassifier, save\n"
        "X = np.random.default_rng(0).normal(size=(3000, 2000))\n"
        "model = LeastSquaresClassifier(C=1.0).fit(X[:50], np.arange(50) % 2)\n"
        "while True:\n    save(model, sys.argv[1])\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program, str(path)])
    while not path.exists() and child.poll() is None:
        time.sleep(0.005)
    child.kill()
    child.wait()
    assert load(path).coef_.shape == (1, 2000)


@pytest.mark.slow
def test_names_are_exported_late():
    program = "import sys, linsep; assert 'sklearn' not in sys.modules; linsep.save, linsep.load, linsep.verify"
    subprocess.run([sys.executable, "-c", program], check=True)
