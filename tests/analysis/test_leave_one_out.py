"""Leave-one-out without as many fits, beside the real one: a fit for each row that is left out."""

import re

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.preprocessing import scale

from command import call, run, run_json
from customers import customers
from linsep import (
    LeastSquaresClassifier,
    LinearClassifier,
    LinearSVC,
    LogisticRegression,
    Perceptron,
    ZeroOneClassifier,
    choose_threshold,
    leave_one_out,
)
from linsep.analysis import leave_one_out_softmax as softmax
from linsep.analysis.bounds import growth
from linsep.solvers import minimise

N = 60


@pytest.fixture(scope="module")
def rows():
    X, y = load_breast_cancer(return_X_y=True)
    chosen = np.random.default_rng(3).choice(len(y), N, replace=False)
    return scale(X)[chosen][:, :6], y[chosen]


def in_earnest(model, X, y, weight=None):
    """Return the scores of each row by a fit to a tiny gap on all others."""
    scores, precise = [], clone(model).set_params(**({"tol": 1e-11} if "tol" in model.get_params() else {}))
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        precise.fit(X[rest], y[rest], **({} if weight is None else {"sample_weight": weight[rest]}))
        scores.append(precise.decision_function(X[i : i + 1])[0])
    return np.array(scores)


def check(found, scores, wrong):
    """Every score lies where it is said to, and so does the number of mistakes."""
    room = 1e-6 * (1.0 + np.abs(scores))  # of the fits that are compared with
    assert (found.low <= scores + room).all()
    assert (scores <= found.high + room).all()
    assert found.training <= found.fewest <= wrong.sum() <= found.most


MODELS = [
    LogisticRegression(),
    LogisticRegression(C=30.0, fit_intercept=False),
    LogisticRegression(C=0.01),
    LinearClassifier("modified_huber", C=0.1),
    LinearSVC(loss="squared_hinge", C=0.1),
    LinearSVC(loss="squared_hinge", C=0.1, fit_intercept=False),
    LinearSVC(),
    LinearSVC(C=0.02),
    LinearSVC(C=0.02, fit_intercept=False),
    LogisticRegression(penalty="elasticnet", l1_ratio=0.5),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_scores_without_the_row_lie_where_they_are_proven_to(rows, model):
    X, y = rows
    scores = in_earnest(model, X, y)
    wrong = (scores > 0) != (y == 1)
    without, found = (leave_one_out(clone(model).fit(X, y), X, y, refits=refits) for refits in (0, N))
    check(without, scores, wrong)
    check(found, scores, wrong)
    assert found.fewest == found.most == found.mistakes == wrong.sum()
    if getattr(model, "loss", "") != "hinge":
        assert abs(without.mistakes - wrong.sum()) <= 1


def kinds(model, n):
    """Return of each row whether its dual variable is 0, C or between."""
    alpha = np.zeros(n)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    return np.where(alpha <= 1e-6 * model.C, 0, np.where(alpha >= (1 - 1e-6) * model.C, 2, 1))


@pytest.mark.parametrize(("intercept", "C"), [(True, 1.0), (False, 0.1)])
def test_the_span_is_exact_where_the_rows_on_the_margin_stay_there(rows, intercept, C):
    X, y = rows
    model, same = LinearSVC(C=C, fit_intercept=intercept, tol=1e-11).fit(X, y), []
    found, before = leave_one_out(model, X, y, refits=0), kinds(model, N)
    for i in model.support_:
        rest = np.delete(np.arange(N), i)
        without = clone(model).fit(X[rest], y[rest])
        if (kinds(without, N - 1) == before[rest]).all():
            same.append(before[i])
            assert found.scores[i] == pytest.approx(without.decision_function(X[i : i + 1])[0], abs=1e-5)
    assert len(same) >= 2


def test_intervals_of_smooth_losses_are_narrow_where_a_penalty_holds_the_plane(rows):
    X, y = rows
    found = leave_one_out(LogisticRegression(C=0.1).fit(X, y), X, y, refits=0)
    assert (found.high - found.low).max() < 0.2 * np.abs(found.scores).max()
    scores = in_earnest(LogisticRegression(C=0.1), X, y)
    assert np.abs(found.scores - scores).max() < 0.02 * np.abs(scores).max()


@pytest.mark.parametrize("C", [0.3, np.inf])
@pytest.mark.parametrize("intercept", [True, False])
def test_least_squares_is_exact_with_weights(rows, C, intercept):
    X, y = rows
    weight = np.random.default_rng(0).uniform(0.2, 3.0, N)
    model = LeastSquaresClassifier(C=C, fit_intercept=intercept).fit(X, y, weight)
    found = leave_one_out(model, X, y, weight, refits=0)
    ridge = Ridge(alpha=0.0 if np.isinf(C) else 0.5 / C, fit_intercept=intercept)  # ½‖w‖²/C + Σ s (…)²
    scores = []
    for i in range(N):
        rest = np.delete(np.arange(N), i)
        scores.append(ridge.fit(X[rest], 2.0 * y[rest] - 1.0, weight[rest]).predict(X[i : i + 1])[0])
    np.testing.assert_allclose(found.scores, scores, rtol=1e-8, atol=1e-10)
    assert (found.high - found.low).max() < 1e-4
    assert found.fewest == found.most == ((np.array(scores) > 0) != (y == 1)).sum()


def test_more_columns_than_rows_and_sparse_rows_are_the_same():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((24, 60)) * (rng.random((24, 60)) < 0.3), np.arange(24) % 2
    X[:, 0] += 2.0 * y
    for model in (LogisticRegression(C=0.1), LinearSVC(C=0.05), LeastSquaresClassifier(C=0.1)):
        scores = in_earnest(model, X, y)
        for form in (X, sparse.csr_array(X)):
            found = leave_one_out(model.fit(form, y), form, y)
            check(found, scores, (scores > 0) != (y == 1))
            assert found.fewest == found.most


def test_one_against_the_rest_counts_what_predict_says():
    X, y = load_iris(return_X_y=True)
    X, y = scale(X)[::4], y[::4]
    for model in (LinearSVC(C=0.3), LogisticRegression(multi_class="ovr", n_jobs=1)):
        scores = in_earnest(model, X, y)
        found = leave_one_out(model.fit(X, y), X, y)
        assert found.scores.shape == (len(y), 3)
        check(found, scores, scores.argmax(axis=1) != y)
        assert found.fewest == found.most == (scores.argmax(axis=1) != y).sum()
        assert found.bounds == []


@pytest.mark.parametrize("C", [0.1, 3.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_softmax_moves_all_its_scores(C, intercept):
    X, y = load_iris(return_X_y=True)
    X, y = scale(X)[::4, 1:], y[::4]
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    model = LogisticRegression(C=C, fit_intercept=intercept)
    scores = in_earnest(model, X, y, weight)
    scores -= scores.mean(axis=1, keepdims=True)
    wrong = scores.argmax(axis=1) != y
    for form in (X, sparse.csr_array(X)):
        model.fit(form, y, weight)
        without, found = (leave_one_out(model, form, y, weight, refits=refits) for refits in (0, len(y)))
        for one in (without, found):
            assert (one.low <= scores + 1e-6).all()
            assert (scores <= one.high + 1e-6).all()
            assert one.fewest <= wrong.sum() <= one.most
        assert found.fewest == found.most == found.mistakes == wrong.sum()
        moved = np.abs(scores - (model.decision_function(form) - model.decision_function(form).mean(1, keepdims=True)))
        assert np.median(np.abs(without.scores - scores)) < 0.1 * np.median(moved)
        assert without.most < len(y)


def test_without_a_penalty_nothing_is_claimed_of_rows_that_no_other_holds():
    """The last row alone has its column: without it nothing says what that is worth; nor where a plane separates."""
    rng = np.random.default_rng(6)
    X = np.column_stack([rng.standard_normal((40, 2)), np.eye(40)[39]])
    y = (X[:, 0] + rng.standard_normal(40) > 0).astype(int)
    found = leave_one_out(LeastSquaresClassifier().fit(X, y), X, y)
    assert np.isinf([found.low[39], found.high[39]]).all()
    assert np.isfinite(found.low[:39]).all()
    ridge = Ridge(alpha=0.0)
    for i in range(39):
        rest = np.delete(np.arange(40), i)
        assert found.scores[i] == pytest.approx(ridge.fit(X[rest], 2.0 * y[rest] - 1.0).predict(X[i : i + 1])[0])
    with pytest.warns(ConvergenceWarning):
        model = LogisticRegression(C=np.inf).fit(X[:, :2], X[:, 0] > 0)
    apart = leave_one_out(model, X[:, :2], X[:, 0] > 0, refits=0)
    assert apart.fewest == 0
    assert apart.most > 0


def test_a_threshold_and_rows_without_weight_are_minded(rows):
    X, y = rows
    model = choose_threshold(LogisticRegression(C=0.1).fit(X, y), X, y, "recall@precision=0.99")
    found = leave_one_out(model, X, y)
    scores = in_earnest(LogisticRegression(C=0.1), X, y)
    assert model.threshold_ != 0
    assert found.fewest == found.most == ((scores > model.threshold_) != (y == 1)).sum()
    weight = np.ones(N)
    weight[:10] = 0.0
    for model in (LogisticRegression(), LinearSVC(C=0.1)):
        some = leave_one_out(clone(model).fit(X, y, weight), X, y, weight)
        alone = leave_one_out(clone(model).fit(X[10:], y[10:]), X[10:], y[10:])
        assert (some.fewest, some.most, len(some.wrong)) == (alone.fewest, alone.most, N - 10)


@pytest.mark.parametrize("model", [LogisticRegression(penalty="l1"), LogisticRegression(), LinearSVC()], ids=str)
def test_planes_that_are_worse_than_none_are_nothing_to_begin_with(rows, model, monkeypatch):
    X, y = rows
    model = clone(model).fit(X, y)
    honest = leave_one_out(model, X, y)
    begun = []

    def heard(*words, start, **others):
        begun.append(start)
        return minimise(*words, start=start, **others)

    monkeypatch.setattr(softmax, "minimise", heard)
    model.intercept_ = model.intercept_ - 1e308  # as an edited file may have it: no step finds the way back
    found = leave_one_out(model, X, y)
    assert begun[0] is None
    np.testing.assert_allclose(found.scores, honest.scores, rtol=1e-4, atol=1e-4)


def test_the_only_row_of_a_class_is_left_open_and_l1_says_that_nothing_is_proven(rows):
    X, y = rows
    one = np.r_[np.flatnonzero(y == 1), np.flatnonzero(y == 0)[:1]]
    for model in (LogisticRegression(), LinearSVC()):
        found = leave_one_out(model.fit(X[one], y[one]), X[one], y[one])
        assert found.most > found.fewest or found.mistakes == found.fewest
    lasso = leave_one_out(LogisticRegression(penalty="l1").fit(X, y), X, y)
    wrong = (in_earnest(LogisticRegression(penalty="l1"), X, y) > 0) != (y == 1)
    assert lasso.mistakes == wrong.sum()
    assert "nothing" in lasso.proven


@pytest.mark.slow
def test_support_vectors_and_joachims_bound_the_real_mistakes():
    rng, stable = np.random.default_rng(5), 0
    for seed in range(4):
        X, y = rng.standard_normal((40, 2)), (np.arange(40) % 3 == 0).astype(int)
        X[:, 0] += (1.0 + seed / 2) * y
        for C, intercept in [(0.02, True), (0.1, True), (0.5, True), (0.02, False), (0.5, False)]:
            model, wrong, stays = LinearSVC(C=C, fit_intercept=intercept).fit(X, y), 0, True
            for i in range(40):
                rest = np.delete(np.arange(40), i)
                without = clone(model).set_params(tol=1e-9).fit(X[rest], y[rest])
                wrong += without.predict(X[i : i + 1])[0] != y[i]
                stays = stays and bool((kinds(without, 39) == 1).any())
            bounds = {bound.name: bound for bound in leave_one_out(model, X, y, refits=0).bounds}
            assert wrong / 40 <= bounds["support vectors"].value + 1e-12
            assert "is left" in bounds["ξα (Joachims)"].assumes or not intercept
            if stays or not intercept:  # what the bound assumes
                stable += bounds["ξα (Joachims)"].value < bounds["support vectors"].value
                assert wrong / 40 <= bounds["ξα (Joachims)"].value <= bounds["support vectors"].value + 1e-12
    assert stable > 5


def test_ways_to_part_points_are_counted():
    """Every labelling of points in general position, asked of a linear program."""
    rng = np.random.default_rng(0)
    for n, d in [(4, 2), (5, 2), (6, 3), (3, 4)]:
        X = np.column_stack([rng.standard_normal((n, d - 1)), np.ones(n)])
        count = 0
        for number in range(2**n):
            signs = 2.0 * ((number >> np.arange(n)) & 1) - 1.0
            done = linprog(np.zeros(d), A_ub=-signs[:, None] * X, b_ub=-np.ones(n), bounds=[(None, None)] * d)
            count += done.status == 0
        assert round(np.exp(growth(n, d))) == count


def test_bounds_on_new_rows_hold_and_say_when_they_say_nothing():
    rng = np.random.default_rng(2)
    directions = np.array([1.0, 0.5])

    def drawn(n):
        X = rng.uniform(-1.0, 1.0, (n, 2))
        return X, (X @ directions + 0.05 * rng.standard_normal(n) > 0).astype(int)

    new = drawn(20_000)
    for n in (60, 4_000):
        X, y = drawn(n)
        model = LogisticRegression().fit(X, y)
        found = {bound.name: bound for bound in leave_one_out(model, X, y).bounds}
        error = 1.0 - model.score(*new)
        assert all(error <= bound.value for bound in found.values())
        told = [bound.says_something for bound in found.values()]
        assert any(told) == (n == 4_000)
        for bound in found.values():
            assert ("says nothing" in str(bound)) != bound.says_something
            assert bound.confidence == 0.95
            assert "independently" in bound.assumes


def test_novikoff_bounds_the_perceptron_left_out():
    rng = np.random.default_rng(4)
    X = rng.uniform(-1.0, 1.0, (110, 2))
    X, y = X[np.abs(X[:, 0]) > 0.4], (X[:, 0] > 0)[np.abs(X[:, 0]) > 0.4]
    bounds = leave_one_out(LinearSVC(C=1e4).fit(X, y), X, y, refits=0).bounds
    novikoff = next(bound for bound in bounds if "Novikoff" in bound.name)
    assert novikoff.says_something
    machine = Perceptron(order="cyclic")
    wrong = ((in_earnest(machine, X, y) > 0) != y).sum()
    assert wrong / len(y) <= novikoff.value


def test_what_has_no_leave_one_out_is_refused(rows):
    X, y = rows
    for model, words in [
        (LogisticRegression(), "not fitted yet"),
        (Perceptron().fit(X, y), "optimum of a convex loss"),
        (ZeroOneClassifier(time_limit=1.0).fit(X[:10, :2], y[:10]), "optimum of a convex loss"),
    ]:
        with pytest.raises(ValueError, match=re.escape(words)):
            leave_one_out(model, X, y)
    with pytest.raises(ValueError, match="refits=-1"):
        leave_one_out(LogisticRegression().fit(X, y), X, y, refits=-1)


def test_the_command_tells_it_of_the_rows_of_the_fit_alone(tmp_path):
    frame = customers(80, seed=1)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.iloc[:-1].to_csv(tmp_path / "other.csv", index=False)
    model = tmp_path / "m.json"
    run("fit", tmp_path / "t.csv", "--target", "bought", "--ignore", "kind", "-o", model, "--test-share", "0.2")
    found = run_json("evaluate", model, tmp_path / "t.csv", "--leave-one-out")
    assert found["rows"] == 64  # its test rows are no rows of the fit
    assert found["training"] <= found["fewest"] <= found["mistakes"] <= found["most"]
    assert {"name", "value", "assumes", "confidence", "says_something", "of"} == set(found["bounds"][0])
    text = run("evaluate", model, tmp_path / "t.csv", "--leave-one-out")
    assert f"proven                           {found['fewest']}" in text
    assert "assumes: rows are drawn independently" in text
    refused = call("evaluate", model, tmp_path / "other.csv", "--leave-one-out")
    assert refused.code == 2
    assert b"has not the rows of the fit" in refused.err
    refused = call("evaluate", model, tmp_path / "t.csv", "--leave-one-out", "--sample-weight", "age")
    assert b"--sample-weight would be ignored" in refused.err


def test_mistakes_on_the_rows_of_the_fit_are_those_that_the_model_makes():
    X, y = load_breast_cancer(return_X_y=True)
    model = LogisticRegression(C=1e-4, tol=0.9, max_iter=1).fit(scale(X), y)
    optimum = LogisticRegression(C=1e-4).fit(scale(X), y)
    mistakes = [int((one.predict(scale(X)) != y).sum()) for one in (model, optimum)]
    assert mistakes[0] != mistakes[1]
    assert leave_one_out(model, scale(X), y, refits=0).training == mistakes[0]
