"""What programs written for scikit-learn rely on: grids, iterations, types, and where a score of zero goes."""

import re
import warnings
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as ScikitLogistic
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import normalize
from sklearn.utils import estimator_html_repr

from linsep import (
    HardMarginSVC,
    LeastSquaresClassifier,
    LinearClassifier,
    LinearSVC,
    LogisticRegression,
    Perceptron,
    SGDClassifier,
    ZeroOneClassifier,
    verify,
)

X, y = make_classification(120, 5, n_informative=3, n_redundant=0, flip_y=0.2, random_state=0)
X3, y3 = load_iris(return_X_y=True)
NOISE = sparse.random_array((150, 4000), density=0.01, random_state=np.random.default_rng(0))
WIDE = normalize(sparse.hstack([X3, NOISE], format="csr"))

# -- grids ------------------------------------------------------------------------------------------------------------

GRIDS = {
    "no penalty, any C": {"penalty": [None, "l2"], "C": [0.1, 1, 10]},
    "any penalty, any share": {"penalty": ["l1", "l2", "elasticnet"], "l1_ratio": [0.2, 0.5]},
}


@pytest.mark.filterwarnings("ignore:Setting penalty=None", "ignore:l1_ratio parameter is only used")
@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)
def test_a_grid_may_hold_parameters_without_effect(grid):
    ours = GridSearchCV(LogisticRegression(tol=1e-8), grid, cv=3, error_score="raise").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = GridSearchCV(ScikitLogistic(solver="saga", tol=1e-6, max_iter=10_000), grid, cv=3).fit(X, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-12)


@pytest.mark.parametrize("classifier", [LinearClassifier, SGDClassifier])
def test_a_share_of_l1_beside_l2_is_silently_nothing(classifier):
    plain, other = (classifier("logistic", random_state=0, **more).fit(X, y) for more in ({}, {"l1_ratio": 0.5}))
    np.testing.assert_array_equal(plain.coef_, other.coef_)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (dict(penalty=None, C=4.0), "Setting penalty=None will ignore the C"),
        (dict(penalty="l1", l1_ratio=0.5), r"l1_ratio parameter is only used when penalty is 'elasticnet'"),
        (dict(penalty="l2", l1_ratio=1.0), "Inconsistent values: penalty=l2 with l1_ratio=1.0"),
    ],
)
def test_what_has_no_effect_is_warned_of_where_scikit_learn_does(parameters, words):
    with pytest.warns(UserWarning, match=words):
        LogisticRegression(**parameters).fit(X, y)


@pytest.mark.parametrize(
    "parameters",
    [{}, dict(penalty="l1"), dict(penalty=None), dict(penalty=None, C=np.inf), dict(l1_ratio=None)],
    ids=str,
)
def test_what_says_the_same_twice_or_nothing_is_not_warned_of(parameters):
    LogisticRegression(**parameters).fit(X, y)  # a warning is an error here


# -- iterations -------------------------------------------------------------------------------------------------------

RUNS = {
    "newton": (LogisticRegression(), (X, y), 1),
    "softmax": (LogisticRegression(), (X3, y3), 1),
    "softmax of wide rows": (LogisticRegression(), (WIDE, y3), 1),
    "one against the rest": (LogisticRegression(multi_class="ovr"), (X3, y3), 3),
    "no penalty": (LogisticRegression(C=None), (X[:, :3], y), 1),
    "l1": (LogisticRegression(l1_ratio=1.0), (X, y), 1),
    "dual": (LogisticRegression(solver="dual", random_state=0), (X, y), 1),
}


@pytest.mark.parametrize(("model", "data", "count"), RUNS.values(), ids=RUNS)
def test_iterations_are_an_array_of_what_callbacks_hear(model, data, count, callbacks):
    heard = callbacks.tests._utils.RecordingCallback()
    model.set_callbacks(heard).fit(*data)
    assert isinstance(model.n_iter_, np.ndarray)
    assert model.n_iter_.shape == (count,)
    ends = [one for one in heard.record if one["name"] == "on_fit_task_end" and one["context"].task_name == "iteration"]
    assert len(ends) == model.n_iter_.sum() > 0


def test_a_callback_sees_the_model_of_as_many_iterations(callbacks):
    heard = callbacks.tests._utils.RecordingCallback()
    n_iter = LogisticRegression().set_callbacks(heard).fit(X, y).n_iter_[0]
    ends = [one for one in heard.record if one["name"] == "on_fit_task_end" and one["context"].task_name == "iteration"]
    assert n_iter > 2
    for k, one in enumerate(ends[:-1], start=1):
        with pytest.warns(ConvergenceWarning, match=f"max_iter={k}"):
            stopped = LogisticRegression(max_iter=k).fit(X, y)
        assert stopped.n_iter_ == k
        np.testing.assert_allclose(one["kwargs"]["fitted_estimator"].coef_, stopped.coef_, rtol=1e-12)


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC(), LinearClassifier("logistic")], ids=repr)
@pytest.mark.parametrize("data", [(X, y), (X3, y3)], ids=["two classes", "three"])
def test_no_iteration_leaves_the_plane_where_a_fit_begins(model, data):
    with pytest.warns(ConvergenceWarning, match="max_iter=0"):
        model.set_params(max_iter=0).fit(*data)
    assert not model.coef_.any()
    assert np.max(model.n_iter_) == 0
    assert not model.converged_
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(model.predict_proba(data[0]), 1 / len(model.classes_))


def test_no_iteration_after_a_fit_leaves_its_plane():
    model = LogisticRegression(warm_start=True).fit(X, y)
    before = model.coef_.copy()
    model.set_params(max_iter=0).fit(X, y)
    np.testing.assert_array_equal(model.coef_, before)


@pytest.mark.parametrize("data", [(X, y), (X3, y3)], ids=["two classes", "three"])
def test_a_tolerance_of_zero_goes_on_until_nothing_improves(data):
    with pytest.warns(ConvergenceWarning, match="not tol=0: .* or raise tol"):
        model = LogisticRegression(tol=0.0).fit(*data)
    assert not model.converged_
    assert model.dual_gap_ < 1e-12


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (LogisticRegression(max_iter=1), "raise max_iter, or scale the features. It"),
        (SGDClassifier("logistic", max_iter=1, random_state=0), "scale the features, or choose another stopping rule"),
    ],
)
def test_another_stopping_rule_is_advised_where_there_are_some(model, words):
    with pytest.warns(ConvergenceWarning, match=f"max_iter=1; .*{words}"):
        model.fit(X, y)


# -- ties -------------------------------------------------------------------------------------------------------------

EVERY = [
    HardMarginSVC(),
    LeastSquaresClassifier(),
    LinearClassifier(),
    LinearSVC(),
    LogisticRegression(),
    LogisticRegression(multi_class="ovr"),
    Perceptron(random_state=0),
    SGDClassifier("logistic", random_state=0),
    ZeroOneClassifier(),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", EVERY, ids=repr)
@pytest.mark.parametrize("labels", [["a", "b"], ["a", "b", "c"]], ids=len)
def test_a_tie_goes_to_the_first_class_as_argmax_does(model, labels):
    corners = 10.0 * np.eye(3)[: len(labels)]
    model = model.fit(np.repeat(corners, 3, axis=0), np.repeat(labels, 3))
    model.coef_, model.intercept_ = np.zeros_like(model.coef_), np.zeros_like(model.intercept_)
    for rows in (corners, sparse.csr_array(corners), corners.astype(np.float32)):
        assert model.predict(rows).tolist() == ["a"] * len(corners)
        if hasattr(model, "predict_proba"):
            assert (model.predict_proba(rows).argmax(axis=1) == 0).all()


def test_a_tie_of_votes_goes_to_the_first_class():
    model = Perceptron(keep="vote", random_state=0).fit([[-1.0], [1.0]], ["a", "b"])
    model.decision_function = lambda X: np.zeros(len(X))
    assert model.predict([[0.0], [3.0]]).tolist() == ["a", "a"]


# -- 32-bit floats ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("data", [(X, y), (X3, y3)], ids=["two classes", "three"])
@pytest.mark.parametrize("more", [{}, {"l1_ratio": 1.0}, {"multi_class": "ovr"}], ids=str)
def test_32_bit_data_give_a_32_bit_model_that_is_proven(to, data, more):
    single, labels = to(data[0].astype(np.float32)), data[1]
    model = LogisticRegression(**more).fit(single, labels)
    assert {part.dtype for part in (model.coef_, model.intercept_)} == {np.dtype(np.float32)}
    for scores in (model.decision_function, model.predict_proba, model.predict_log_proba):
        assert scores(single).dtype == np.float32
        assert scores(single.astype(np.float64)).dtype == np.float64
    assert model.converged_
    assert verify(model, single, labels).proven
    exact = LogisticRegression(**more).fit(single.astype(np.float64), labels)
    assert exact.coef_.dtype == np.float64
    np.testing.assert_allclose(model.predict_proba(single), exact.predict_proba(single), atol=2e-3)


def test_32_bits_that_would_cost_the_proof_are_not_taken():
    model = LogisticRegression(l1_ratio=1.0, tol=1e-10).fit(X.astype(np.float32), y)
    assert model.coef_.dtype == np.float64
    assert model.converged_


# -- in a notebook ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", EVERY, ids=repr)
def test_a_notebook_links_to_the_documentation_of_this_class_that_is_installed(model):
    page = estimator_html_repr(model)
    (link,) = {link.partition("#")[0] for link in re.findall(r'href="([^"]+)"', page)}
    assert link.startswith("file:///")
    assert f"class {type(model).__name__}(" in Path(unquote(urlsplit(link).path)).read_text(encoding="utf-8")
    meant = "param-doc-description"  # what a parameter means, beside its name, as scikit-learn has it of late
    assert (meant in page) == (meant in estimator_html_repr(ScikitLogistic()))


# -- L1 with the hinge ------------------------------------------------------------------------------------------------


def test_the_hinge_with_l1_reaches_the_linear_programs_optimum_with_exact_zeros():
    rows, sick = load_breast_cancer(return_X_y=True)
    model = LinearSVC(penalty="l1").fit(rows, sick)
    w, b = model.coef_[0], model.intercept_[0]
    reached = np.abs(w).sum() + np.maximum(0, 1 - (2 * sick - 1) * (rows @ w + b)).sum()
    n, d = rows.shape  # u − v = w with u, v ≥ 0, then b and the slacks
    signed = (2 * sick - 1)[:, None] * np.column_stack([rows, -rows, np.ones(n)])
    costs = np.concatenate([np.ones(2 * d), [0.0], np.ones(n)])
    bounds = [(0, None)] * (2 * d) + [(None, None)] + [(0, None)] * n
    margins = sparse.hstack([sparse.csr_array(-signed), -sparse.eye_array(n)], format="csr")
    optimum = linprog(costs, A_ub=margins, b_ub=-np.ones(n), bounds=bounds, method="highs").fun
    assert optimum <= reached * (1 + 1e-9) <= optimum * (1 + 1e-4)
    assert model.converged_
    assert verify(model, rows, sick).proven
    assert 10 <= (w == 0).sum() < d


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("max_iter", [1, 3])
def test_what_is_not_proven_has_not_converged(loss, penalty, max_iter):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LinearSVC(penalty, loss, max_iter=max_iter, random_state=0).fit(X, y)
    assert model.converged_ == (model.dual_gap_ <= model.tol)
