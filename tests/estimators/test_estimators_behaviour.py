"""What users of the scikit-learn classes rely on beyond scikit-learn's own checks."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn import linear_model, svm
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from every_model import MODELS, every_model
from linsep import LeastSquaresClassifier, LinearSVC, LogisticRegression, Perceptron, SGDClassifier
from linsep.analysis.importance import importance

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


# -- inputs -----------------------------------------------------------------------------------------------------------


@every_model
@pytest.mark.parametrize("classes", [2, 3])
def test_dense_equals_sparse_equals_single_precision(model, three, classes):
    X, y = three
    X, y = X[y <= "bee"] if classes == 2 else X, y[y <= "bee"] if classes == 2 else y
    dense = clone(model).fit(X, y)
    for other in (sparse.csr_array(X), X.astype(np.float32), sparse.csr_array(X.astype(np.float32))):
        fitted = clone(model).fit(other, y)
        # As scikit-learn's, these round their planes to the precision of the examples; that costs no proof.
        rounded = isinstance(model, (SGDClassifier, Perceptron)) and other.dtype == np.float32
        near = dict(rtol=1e-6, atol=1e-6) if rounded else dict(rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(fitted.coef_, dense.coef_, **near)
        np.testing.assert_allclose(fitted.intercept_, dense.intercept_, **near)
        near = dict(rtol=1e-5, atol=1e-5) if rounded else dict(rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(fitted.decision_function(other), dense.decision_function(X), **near)
        assert fitted.coef_.dtype == (np.float32 if rounded else np.float64)


CONTAINERS = {
    "list": lambda X: X.tolist(),
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "csr matrix": sparse.csr_matrix,
    "csc array": sparse.csc_array,
    "csc matrix": sparse.csc_matrix,
    "coo array": sparse.coo_array,
    "coo matrix": sparse.coo_matrix,
    "long indices": lambda X: sparse.csr_array(
        (sparse.csr_array(X).data, sparse.csr_array(X).indices.astype(np.int64), sparse.csr_array(X).indptr), X.shape
    ),
    "fortran": np.asfortranarray,
    "every second column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "object": lambda X: X.astype(object),
}


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.parametrize("name", ["perceptron", "sgd", "least squares", "gradient descent"])
def test_every_container_gives_the_same_fit(container, name, three):
    X, y = three
    expected = clone(MODELS[name]).fit(X, y)
    columns = {f"column_{j}": X[:, j] for j in range(X.shape[1])}
    data = container(columns) if container in (pd.DataFrame, pl.DataFrame) else container(X)
    labels = {pd.DataFrame: pd.Series, pl.DataFrame: pl.Series}.get(container, np.asarray)(y)
    model = clone(MODELS[name]).fit(data, labels)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(model.predict(data), expected.predict(X))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@every_model
def test_feature_names_are_kept_and_checked(frame, model, three):
    X, y = three
    names = ["size", "weight", "age", "price"]
    data = frame(dict(zip(names, X.T, strict=True)))
    model = clone(model).fit(data, y)
    assert model.feature_names_in_.tolist() == names
    assert model.n_features_in_ == 4
    with pytest.raises(ValueError, match="feature names"):
        model.predict(data[names[::-1]])
    with pytest.warns(UserWarning, match="feature names"):
        model.predict(X)


@pytest.mark.parametrize(
    "labels",
    [[0, 1], [3, 7], [False, True], ["no", "yes"], np.array(["no", "yes"], dtype=object), [0.0, 1.0]],
    ids=repr,
)
@every_model
def test_labels_may_be_any_two_values(labels, model, overlapping):
    X, y = overlapping
    labels = np.asarray(labels)
    fitted, plain = clone(model).fit(X, labels[(y > 0).astype(int)]), clone(model).fit(X, y)
    np.testing.assert_array_equal(fitted.classes_, labels)
    np.testing.assert_array_equal(fitted.coef_, plain.coef_)
    np.testing.assert_array_equal(fitted.predict(X), labels[(plain.predict(X) > 0).astype(int)])


def test_m1_a_score_of_exactly_zero_goes_to_the_first_class_as_probabilities_do():
    model = LeastSquaresClassifier().fit([[-1.0], [1.0]], ["a", "b"])
    assert model.decision_function([[0.0]])[0] == 0
    assert model.predict([[0.0]])[0] == "a" == model.classes_[0]


# -- reading a model (M22) and more classes (M24) ---------------------------------------------------------------------


def test_m22_explain_ranks_by_size_and_signs_by_direction(three):
    X, y = three
    two = y != "cow"
    model = LeastSquaresClassifier().fit(pd.DataFrame(X[two], columns=["size", "weight", "age", "price"]), y[two])
    explained = model.explain()
    w = dict(zip(["size", "weight", "age", "price"], model.coef_[0], strict=True))
    assert explained.features == sorted(w, key=lambda name: -abs(w[name]))
    assert explained.weights.tolist() == [w[name] for name in explained.features]
    assert explained.features[:2] in (["size", "weight"], ["weight", "size"])  # what the data were made of
    assert w["weight"] > 0 > w["size"]
    assert (explained.towards, explained.away) == ("bee", "ant")
    assert explained.intercept == model.intercept_[0]


def test_m22_explain_reads_well_and_can_be_cut_short(three):
    X, y = three
    model = LeastSquaresClassifier().fit(X, y)
    explanations = model.explain(top=2)
    assert [part.towards for part in explanations] == ["ant", "bee", "cow"]
    assert [len(part.features) for part in explanations] == [2, 2, 2]
    assert [part.features[0] for part in explanations] == ["x0", "x1", "x2"]
    text = str(explanations[1])
    assert "speaks for bee (+) or the rest (−)" in text
    lines = text.splitlines()
    assert lines[1].startswith("x1")
    assert lines[1].count("█") == 20 > lines[2].count("█")
    own = "ranked by |weight|, in each column's own units; explain(X=rows) ranks by its spread in these rows as well"
    assert lines[-1] == own


def test_m22_explain_ranks_by_the_spread_of_columns_as_the_commands_do(three):
    X, y = three
    X = X * np.array([1e-3, 1.0, 1e3, 1.0])
    for kind in (np.asarray, sparse.csr_array):
        model = LogisticRegression().fit(kind(X), y)
        for part, w in zip(model.explain(X=kind(X)), model.coef_, strict=True):
            counts = importance(X, model.coef_, ["x0", "x1", "x2", "x3"]).of_features(w)
            ranked = np.argsort(-counts)
            assert part.features == [f"x{j}" for j in ranked]
            np.testing.assert_allclose(part.importance, counts[ranked])
            np.testing.assert_array_equal(part.weights, w[ranked])
            assert str(part).endswith("ranked by |weight| × spread of the column")
        assert [part.features for part in model.explain()] != [part.features for part in model.explain(X=kind(X))]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (LogisticRegression, linear_model.LogisticRegression),
        (LinearSVC, svm.LinearSVC),
        (SGDClassifier, linear_model.SGDClassifier),
        (Perceptron, linear_model.Perceptron),
    ],
    ids=lambda model: model.__module__.split(".")[0] + model.__name__,
)
def test_a_tol_of_zero_is_possible_where_it_is_in_scikit_learn(ours, theirs, overlapping):
    X, y = overlapping
    model = ours(tol=0.0, max_iter=5)
    try:
        theirs(tol=0.0, max_iter=5).fit(X, y)
    except ValueError:
        with pytest.raises(ValueError, match="tol=0"):
            model.fit(X, y)
    else:
        assert np.max(model.fit(X, y).n_iter_) == 5  # it goes on for as long as it may


@every_model
def test_m24_three_classes_are_three_fits_of_one_against_the_rest(model, three):
    X, y = three
    together = clone(model).fit(X, y)
    assert together.classes_.tolist() == ["ant", "bee", "cow"]
    scores = []
    for k, label in enumerate(together.classes_):
        alone = clone(model).fit(X, np.where(y == label, 1, 0))
        np.testing.assert_allclose(together.coef_[k], alone.coef_[0], rtol=1e-12)  # planes side by side round alike,
        np.testing.assert_allclose(together.intercept_[k], alone.intercept_[0], rtol=1e-12)  # one alone another way
        scores.append(alone.decision_function(X))
    np.testing.assert_allclose(together.decision_function(X), np.column_stack(scores), rtol=1e-9)
    np.testing.assert_array_equal(together.predict(X), together.classes_[np.argmax(scores, axis=0)])
    assert together.score(X, y) > 0.6
    assert len(together.history_) == 3


@every_model
def test_m24_the_number_of_threads_over_the_classes_changes_nothing(model, three):
    X, y = three
    fits = [clone(model).set_params(n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2, None, -1)]
    for other in fits[1:]:
        np.testing.assert_array_equal(other.coef_, fits[0].coef_)


LAYOUTS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "every second": lambda X: np.repeat(X, 2, axis=0)[::2],
    "single": lambda X: X.astype(np.float32),
    "single columns": lambda X: np.asfortranarray(X.astype(np.float32)),
    "foreign bytes": lambda X: X.astype(">f8"),
    "list": lambda X: X.tolist(),
    "csr": sparse.csr_array,
    "csr matrix": lambda X: sparse.csr_matrix(X.astype(np.float32)),
    "csc": sparse.csc_array,
}
every_layout = pytest.mark.parametrize("layout", [pytest.param(to, id=name) for name, to in LAYOUTS.items()])


@every_layout
@pytest.mark.parametrize("classes", [2, 3])
def test_rows_are_read_in_any_layout(layout, classes, three):
    X, y = three
    few = np.isin(y, np.unique(y)[:classes])
    model = LogisticRegression().fit(X[few], y[few])
    scores = X @ model.coef_.T + model.intercept_
    expected = scores if classes == 3 else np.column_stack([-scores[:, 0], scores[:, 0]]) / 2
    np.testing.assert_allclose(model.decision_function(layout(X)), scores if classes == 3 else scores[:, 0], rtol=1e-12)
    np.testing.assert_array_equal(model.predict(layout(X)), model.classes_[expected.argmax(axis=1)])
    np.testing.assert_allclose(model.predict_proba(layout(X)), softmax(expected, axis=1), rtol=1e-12)


@pytest.mark.parametrize("method", ["predict", "decision_function", "predict_proba", "predict_log_proba"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@every_layout
def test_what_is_not_finite_is_found_though_nobody_looks_for_it(layout, value, method, three):
    X, y = three
    model = LogisticRegression().fit(X, y)
    model.coef_[:, 1] = 0.0  # a weight of zero hides nothing
    X = X.copy()
    X[40, 1] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        getattr(model, method)(layout(X))


def test_finite_numbers_whose_scores_overflow_are_no_error(three):
    X, y = three
    model = LogisticRegression().fit(X[y != "cow"], y[y != "cow"])
    model.coef_[:] = [[1e10, 0.0, 0.0, 0.0]]
    assert model.predict([[1e300, 0.0, 0.0, 0.0], [-1e300, 0.0, 0.0, 0.0]]).tolist() == ["bee", "ant"]


@pytest.mark.parametrize("dtype", ["i8", "u8", "f8", "i1", "f4", "?", "U2", "S2", ">i8", object], ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_labels_come_back_as_they_were_given(dtype, classes, three):
    X, y = three
    words = dtype in ("U2", "S2", object)
    labels = np.array(["x", "yy", "z"] if words else [0, 1, 0] if dtype == "?" else [7, 1, 2]).astype(dtype)
    given = labels[np.minimum(np.unique(y, return_inverse=True)[1], classes - 1)]
    predicted = LogisticRegression().fit(X, given).predict(X)
    assert predicted.dtype == given.dtype
    assert set(predicted.tolist()) == set(given.tolist())


def test_a_model_says_what_is_wrong_with_rows(three):
    X, y = three
    with pytest.raises(NotFittedError):
        LogisticRegression().predict(X)
    model = LogisticRegression().fit(X, y)
    for wrong, message in [(X[:, :3], "3 features"), (X[:0], "0 sample"), (X[0], "1D array"), (X * 1j, "omplex")]:
        with pytest.raises(ValueError, match=message):
            model.predict(wrong)


@pytest.mark.parametrize("model", [SGDClassifier("logistic", random_state=0), MODELS["gradient descent"]], ids=repr)
def test_probabilities_follow_from_the_scores(model, three):
    X, y = three
    many = clone(model).fit(X, y)
    np.testing.assert_allclose(many.predict_proba(X).sum(axis=1), 1)
    np.testing.assert_array_equal(many.predict_proba(X).argmax(axis=1), many.decision_function(X).argmax(axis=1))
    two = clone(model).fit(X[y != "cow"], y[y != "cow"])
    odds = two.predict_proba(X)[:, 1] / two.predict_proba(X)[:, 0]
    np.testing.assert_allclose(np.log(odds), two.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(np.exp(two.predict_log_proba(X)), two.predict_proba(X))
    assert not hasattr(SGDClassifier("hinge"), "predict_proba")


@every_model
def test_summary_and_repr_say_what_was_minimised(model, three):
    X, y = three
    assert "minimised" not in repr(model)
    model = clone(model).fit(X, y)
    assert f"# minimised {model.objective_}" in repr(model)
    summary = model.summary()
    assert model.objective_ in summary
    assert "ant, bee, cow" in summary
    assert f"after {model.n_iter_} iteration" in summary
    assert ("NOT converged" in summary) != model.converged_


@pytest.mark.parametrize(
    ("model", "formula"),
    [
        (SGDClassifier(C=10), "½‖w‖² + 10·Σ max(0, 1 − z)"),
        (SGDClassifier("logistic", penalty="l1"), "‖w‖₁ + Σ log(1 + e^(−z))"),
        (SGDClassifier("logistic", penalty="elasticnet", l1_ratio=0.25), "0.75·½‖w‖² + 0.25·‖w‖₁ + Σ log(1 + e^(−z))"),
        (SGDClassifier(penalty=None), "Σ max(0, 1 − z)"),
        (LeastSquaresClassifier(), "Σ (1 − z)²"),
        (LeastSquaresClassifier(class_weight="balanced"), "Σ s·(1 − z)²"),
        (Perceptron(max_iter=3), "Σ max(0, −z)"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_objective_is_printed_as_a_formula(model, formula, overlapping):
    assert model.fit(*overlapping).objective_ == formula


def test_a_history_becomes_a_table(overlapping):
    history = SGDClassifier(random_state=0).fit(*overlapping).history_
    table = history.to_frame()
    assert isinstance(table, pd.DataFrame)
    assert isinstance(history.to_frame("polars"), pl.DataFrame)
    assert len(table) == len(history)
    np.testing.assert_array_equal(table["risk"], history["risk"])


# -- weights, warm starts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["perceptron", "worst", "sgd", "least squares", "ridge", "gradient descent"])
def test_class_weights_are_sample_weights(name, overlapping):
    X, y = overlapping
    weighted = clone(MODELS[name]).set_params(class_weight={-1: 3.0, 1: 0.5}).fit(X, y)
    sampled = clone(MODELS[name]).fit(X, y, sample_weight=np.where(y < 0, 3.0, 0.5))
    np.testing.assert_allclose(weighted.coef_, sampled.coef_, rtol=1e-10)
    counts = np.bincount(y > 0)
    balanced = clone(MODELS[name]).set_params(class_weight="balanced").fit(X, y)
    by_hand = clone(MODELS[name]).fit(X, y, sample_weight=(len(y) / (2 * counts))[(y > 0).astype(int)])
    np.testing.assert_allclose(balanced.coef_, by_hand.coef_, rtol=1e-10)


@every_model
def test_weights_of_zero_leave_rows_out(model, overlapping):
    X, y = overlapping
    weight = (np.arange(len(y)) < 40).astype(float)
    part, zeros = clone(model).fit(X[:40], y[:40]), clone(model).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(zeros.coef_, part.coef_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["perceptron", "cyclic", "worst", "averaged", "voted", "least squares"])
def test_without_a_penalty_equal_weights_change_nothing(name, overlapping):
    X, y = overlapping
    plain, equal = clone(MODELS[name]).fit(X, y), clone(MODELS[name]).fit(X, y, sample_weight=np.full(len(y), 2.0))
    np.testing.assert_allclose(equal.coef_, plain.coef_, rtol=1e-9)


@pytest.mark.parametrize("name", ["ridge", "sgd", "gradient descent"])
def test_with_a_penalty_a_weight_is_a_factor_of_C(name, overlapping):
    X, y = overlapping
    weighted = clone(MODELS[name]).fit(X, y, sample_weight=np.full(len(y), 2.0))
    model = clone(MODELS[name])
    np.testing.assert_allclose(model.set_params(C=2 * model.C).fit(X, y).coef_, weighted.coef_, rtol=1e-9)


@pytest.mark.parametrize("name", ["sgd", "gradient descent"])
def test_a_warm_start_begins_where_the_last_fit_ended(name, overlapping):
    X, y = overlapping
    model = clone(MODELS[name]).set_params(warm_start=True).fit(X, y)
    reached = model.history_["best"][-1]
    again = model.fit(X, y)
    assert again.history_["objective"][0] == pytest.approx(reached, rel=1e-9)
    with pytest.raises(ValueError, match="warm_start"):
        model.fit(X, np.where(y > 0, "a", "b"))
    with pytest.raises(ValueError, match="features"):
        model.fit(X[:, :2], y)


def test_a_warm_start_of_a_perceptron_that_is_right_makes_no_mistakes(separable):
    model = Perceptron(warm_start=True, random_state=0).fit(*separable)
    before = model.coef_.copy()
    assert model.mistakes_ > 0
    model.fit(*separable)
    assert model.mistakes_ == 0
    np.testing.assert_array_equal(model.coef_, before)


def test_a_warning_points_at_the_line_that_called_fit(overlapping):
    with pytest.warns(ConvergenceWarning) as caught:
        Perceptron(max_iter=2).fit(*overlapping)
    assert caught[0].filename == __file__


@every_model
def test_every_model_carries_a_certificate_that_verifies(model, three):
    X, y = three
    model = clone(model).fit(X, y)
    outcome = model.certificate_.verify(X, y)
    assert outcome, outcome.reason
    assert model.dual_gap_ == model.certificate_.relative_gap
    assert pickle.loads(pickle.dumps(model)).certificate_.verify(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("keep", ["best", "last", "average", "vote"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_planes_that_walk_together_are_the_same_in_any_number_of_threads(keep, to):
    rng = np.random.default_rng(0)
    X, y = to(rng.standard_normal((60, 20))), rng.integers(0, 9, 60)  # three packs; classes end at different passes
    model = Perceptron(keep=keep, max_iter=60, random_state=0)
    one, two, three = (clone(model).set_params(n_jobs=k).fit(X, y) for k in (1, 2, 3))
    for other in (two, three):
        np.testing.assert_array_equal(other.coef_, one.coef_)
        np.testing.assert_array_equal(other.intercept_, one.intercept_)
        np.testing.assert_array_equal(other.update_counts_, one.update_counts_)
        np.testing.assert_array_equal(other.decision_function(X), one.decision_function(X))
        for ours, theirs in zip(other.history_, one.history_, strict=True):
            for column in ("passes", "objective", "risk", "zero_one", "gradient_norm"):
                np.testing.assert_array_equal(ours[column], theirs[column])


def test_what_is_recorded_does_not_change_the_walk_of_several_classes(three):
    X, y = three
    by_pass, by_update = (
        SGDClassifier(max_iter=3, stopping=None, keep="last", record=record, random_state=0)
        for record in ("pass", "update")
    )
    np.testing.assert_allclose(by_update.fit(X, y).coef_, by_pass.fit(X, y).coef_, rtol=1e-12)
