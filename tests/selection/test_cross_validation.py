"""Choosing C by cross-validation: against scikit-learn's, and against the rules by hand."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.linear_model import LogisticRegressionCV as TheirCV
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold, cross_val_score

from linsep import LinearSVC, LinearSVCCV, LogisticRegression, LogisticRegressionCV, load, save, verify
from linsep.persistence.document import ModelFileError

GRID = np.geomspace(1e-3, 1e2, 6)


def data(n=120, d=4, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=(d, classes)) + rng.gumbel(size=(n, classes))
    return X, scores.argmax(axis=1)


def theirs(**options):
    pytest.importorskip("sklearn", "1.8", "of old its attributes have other shapes")
    defaults = dict(Cs=GRID, tol=1e-10, max_iter=10_000, use_legacy_attributes=False, l1_ratios=(0.0,), cv=4)
    return TheirCV(**{"scoring": "accuracy"} | defaults | options)


def ours(**options):
    return LogisticRegressionCV(**dict(Cs=GRID, tol=1e-13, cv=4) | options)


# -- scikit-learn as oracle -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss", "balanced_accuracy"])
@pytest.mark.parametrize("refit", [True, False])
def test_scores_choice_and_planes_are_those_of_scikit_learn(classes, scoring, refit):
    X, y = data(classes=classes)
    one = theirs(scoring=scoring, refit=refit, solver="newton-cholesky").fit(X, y)
    two = ours(scoring=scoring, refit=refit).fit(X, y)
    assert two.scores_.shape == one.scores_.shape == (4, 1, 6)
    np.testing.assert_allclose(two.scores_, one.scores_, rtol=1e-5)
    assert two.coefs_paths_.shape == one.coefs_paths_.shape
    np.testing.assert_allclose(two.coefs_paths_, one.coefs_paths_, rtol=1e-3, atol=1e-4)
    assert pytest.approx(one.C_, rel=1e-12) == two.C_
    assert two.l1_ratio_ == one.l1_ratio_ == 0.0
    np.testing.assert_allclose(two.coef_, one.coef_, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(two.intercept_, one.intercept_, rtol=1e-3, atol=1e-4)
    assert two.n_iter_.shape == one.n_iter_.shape
    assert two.score(X, y) == pytest.approx(one.score(X, y), rel=1e-4)


@pytest.mark.parametrize("option", [{"fit_intercept": False}, {"class_weight": {0: 1, 1: 3}}])
def test_options_reach_the_folds(option):
    X, y = data()
    one = theirs(solver="newton-cholesky", **option).fit(X, y)
    two = ours(**option).fit(X, y)
    np.testing.assert_allclose(two.scores_, one.scores_)
    np.testing.assert_allclose(two.coefs_paths_, one.coefs_paths_, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(two.coef_, one.coef_, rtol=1e-3, atol=1e-4)


def test_classes_are_balanced_by_the_rows_that_a_fold_learns_from():
    """As in a grid search over plain estimators; scikit-learn's class counts the held-out rows too."""
    X, y = data()
    found = ours(class_weight="balanced").fit(X, y)
    for at, C in enumerate(GRID):
        plain = cross_val_score(LogisticRegression(C=C, class_weight="balanced", tol=1e-12), X, y, cv=4)
        np.testing.assert_allclose(found.scores_[:, 0, at], plain)


def test_shares_of_l1_are_tried_and_chosen_as_in_scikit_learn():
    X, y = data()
    options = dict(Cs=[0.03, 0.3, 3.0], l1_ratios=(0.0, 0.5, 1.0), scoring="neg_log_loss")
    options["fit_intercept"] = False  # which saga is far from where no other coefficient is left
    one, two = theirs(solver="saga", **options).fit(X, y), ours(tol=1e-11, **options).fit(X, y)
    np.testing.assert_allclose(two.scores_, one.scores_, rtol=1e-4)
    assert (two.C_, two.l1_ratio_) == (one.C_, one.l1_ratio_)
    assert two.coefs_paths_.shape == (4, 3, 3, 1, 4)


def test_sample_weights_count_in_fits_and_scores():
    X, y = data()
    weight = np.random.default_rng(1).integers(1, 5, len(y)).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        one = theirs(solver="newton-cholesky").fit(X, y, sample_weight=weight)
    two = ours().fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(two.scores_, one.scores_)
    np.testing.assert_allclose(two.coef_, one.coef_, rtol=1e-3, atol=1e-4)
    assert two.score(X, y, sample_weight=weight) == pytest.approx(one.score(X, y, sample_weight=weight))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_support_vector_machines_score_as_plain_ones_do(loss):
    X, y = data()
    found = LinearSVCCV(Cs=GRID, cv=4, loss=loss, tol=1e-9).fit(X, y)
    for at, C in enumerate(GRID):
        plain = cross_val_score(LinearSVC(C=C, loss=loss, tol=1e-10), X, y, cv=4)
        np.testing.assert_allclose(found.scores_[:, 0, at], plain)
    assert GRID[found.scores_.mean(axis=0)[0].argmax()] == found.C_
    assert found.certificate_.proven
    np.testing.assert_allclose(found.coef_, LinearSVC(C=found.C_, loss=loss, tol=1e-9).fit(X, y).coef_, atol=1e-4)


@pytest.mark.parametrize("Cs", [[2.0], [0.1, 1.0, np.inf]])
def test_one_value_of_c_and_no_penalty_at_all(Cs):
    X, y = data()
    found = ours(tol=1e-9, Cs=Cs).fit(X, y)
    for at, C in enumerate(Cs):
        plain = cross_val_score(LogisticRegression(C=C, tol=1e-10), X, y, cv=4)
        np.testing.assert_allclose(found.scores_[:, 0, at], plain)


def test_sparse_rows_and_names_of_classes():
    X, y = data()
    names = np.array(["no", "yes"])[y]
    one, two = ours(tol=1e-8).fit(X, y), ours(tol=1e-8).fit(sparse.csr_array(X), names)
    np.testing.assert_allclose(one.scores_, two.scores_)
    assert set(two.predict(X)) == {"no", "yes"}


# -- rules ------------------------------------------------------------------------------------------------------------


def test_one_standard_error_by_hand():
    X, y = data(n=80, seed=3)
    best, careful = ours(tol=1e-8).fit(X, y), ours(tol=1e-8, rule="1se").fit(X, y)
    folds = best.scores_[:, 0]
    np.testing.assert_array_equal(folds, careful.scores_[:, 0])
    top = max(range(6), key=lambda at: folds[:, at].mean())
    mean = sum(folds[:, top]) / 4
    error = (sum((one - mean) ** 2 for one in folds[:, top]) / 3) ** 0.5 / 4**0.5
    within = [C for at, C in enumerate(GRID) if folds[:, at].mean() >= mean - error]
    assert GRID[top] == best.C_
    assert careful.C_ == min(within) < best.C_


def test_of_equal_scores_the_smallest_c_is_chosen():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]] * 5)
    found = LogisticRegressionCV(Cs=[1.0, 10.0, 100.0], cv=2).fit(X, (X[:, 0] > 0).astype(int))
    assert found.scores_.min() == 1.0
    assert found.C_ == 1.0


def test_the_table_has_a_row_for_each_c():
    X, y = data()
    found = ours(tol=1e-6).fit(X, y)
    table = found.to_frame()
    assert list(table.columns) == ["l1_ratio", "C", "mean", "std", "fold_1", "fold_2", "fold_3", "fold_4"]
    np.testing.assert_allclose(table["C"], GRID)
    np.testing.assert_allclose(table["mean"], found.scores_.mean(axis=0)[0])


def test_legacy_attributes_are_by_class():
    X, y = data(classes=3)
    found = ours(tol=1e-6, use_legacy_attributes=True).fit(X, y)
    assert found.C_.shape == found.l1_ratio_.shape == (3,)
    assert {label: scores.shape for label, scores in found.scores_.items()} == dict.fromkeys(range(3), (4, 6))
    assert found.coefs_paths_[0].shape == (4, 6, 5)
    assert found.n_iter_.shape == (1, 4, 6)


def test_results_do_not_depend_on_n_jobs():
    X, y = data()
    one, two = ours(tol=1e-6, n_jobs=1).fit(X, y), ours(tol=1e-6, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.coefs_paths_, two.coefs_paths_)
    np.testing.assert_array_equal(one.coef_, two.coef_)


# -- splitters, groups, metadata --------------------------------------------------------------------------------------


def test_any_splitter_and_any_scorer():
    X, y = data()
    for cv in (KFold(3), ShuffleSplit(3, random_state=0), list(StratifiedKFold(3).split(X, y))):
        assert ours(tol=1e-6, cv=cv).fit(X, y).scores_.shape == (3, 1, 6)
    cost = make_scorer(
        lambda y, found: 3 * np.sum((y == 1) & (found == 0)) + np.sum((y == 0) & (found == 1)), greater_is_better=False
    )
    found = ours(tol=1e-6, scoring=cost).fit(X, y)
    assert found.scores_.max() <= 0
    assert found.score(X, y) == cost(found, X, y)


def test_groups_go_to_the_splitter():
    X, y = data()
    groups = np.arange(len(y)) % 6
    found = ours(tol=1e-6, cv=GroupKFold(3)).fit(X, y, groups=groups)
    expected = cross_val_score(LogisticRegression(C=GRID[2], tol=1e-8), X, y, cv=GroupKFold(3), groups=groups)
    np.testing.assert_allclose(found.scores_[:, 0, 2], expected)


def test_metadata_is_routed():
    X, y = data()
    weight = np.where(y == 1, 3.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        unweighted = get_scorer("accuracy").set_score_request(sample_weight=False)
        weighted = get_scorer("accuracy").set_score_request(sample_weight=True)
        models = [
            ours(tol=1e-6, scoring=scorer, cv=GroupKFold(3)).set_fit_request(sample_weight=True)
            for scorer in (unweighted, weighted)
        ]
        one, two = (model.fit(X, y, sample_weight=weight, groups=np.arange(len(y)) % 6) for model in models)
        np.testing.assert_array_equal(one.coefs_paths_, two.coefs_paths_)
        assert not np.allclose(one.scores_, two.scores_)
        with pytest.raises(TypeError, match="sample_weight"):
            one.score(X, y, sample_weight=weight)
        assert two.score(X, y, sample_weight=weight) == two.at_choice().score(X, y, sample_weight=weight)


# -- refused before the work ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"Cs": 0}, "at least 1"),
        ({"Cs": []}, "must be positive numbers"),
        ({"Cs": [1.0, -1.0]}, "must be positive numbers"),
        ({"Cs": [1.0, np.nan]}, "must be positive numbers"),
        ({"Cs": "many"}, "must be numbers"),
        ({"Cs": True}, "must be numbers"),
        ({"rule": "2se"}, "rule"),
        ({"refit": "yes"}, "True or False"),
        ({"scoring": "no such"}, "no such"),
        ({"prove": True, "scoring": "neg_log_loss"}, "counts mistakes"),
        ({"prove": True, "rule": "1se"}, "rule='best'"),
        ({"prove": True, "Cs": [1.0, np.inf]}, "has an infinite one"),
        ({"prove": True, "Cs": [1.0]}, "is one value"),
        ({"prove": True, "l1_ratios": [1.0]}, "share of L2"),
        ({"l1_ratios": [2.0]}, "between 0 and 1"),
    ],
)
def test_what_makes_no_sense_is_refused(options, says, monkeypatch):
    X, y = data()
    forbid_work(monkeypatch)
    with pytest.raises(ValueError, match=says):
        LogisticRegressionCV(**options).fit(X, y)


def forbid_work(monkeypatch):
    def never(*_args, **_named):
        raise AssertionError("something was fitted")

    monkeypatch.setattr("linsep.selection.tracks.minimise_all", never)


def test_folds_without_a_class_are_refused(monkeypatch):
    X, y = data()
    forbid_work(monkeypatch)
    order = np.argsort(y, kind="stable")
    with pytest.raises(ValueError, match="fold 1 of 2 has no example of class 'no' to learn from"):
        ours(cv=KFold(2)).fit(X[order], np.array(["no", "yes"])[np.repeat([0, 1], 60)])
    with pytest.raises(ValueError, match="no folds at all"):
        ours(cv=[]).fit(X, y)


def test_scores_of_probabilities_are_refused_for_support_vector_machines(monkeypatch):
    X, y = data()
    forbid_work(monkeypatch)
    for scoring in ("neg_log_loss", "neg_brier_score"):
        with pytest.raises(ValueError, match=r"cannot be had of LinearSVCCV.*LogisticRegressionCV for one of prob"):
            LinearSVCCV(scoring=scoring).fit(X, y)


def test_a_score_of_two_classes_is_refused_for_three(monkeypatch):
    X, y = data(classes=3)
    forbid_work(monkeypatch)
    with pytest.raises(ValueError, match="multiclass"):
        LogisticRegressionCV(scoring="f1").fit(X, y)


@pytest.mark.parametrize("cv", [3, None, KFold(3), [(np.arange(60), np.arange(60, 120))]])
def test_groups_without_a_splitter_that_knows_them_are_refused(cv, monkeypatch):
    X, y = data()
    forbid_work(monkeypatch)
    with pytest.raises(ValueError, match="groups would be ignored"):
        ours(cv=cv).fit(X, y, groups=np.arange(len(y)))


def test_three_classes_have_no_proof(monkeypatch):
    X, y = data(classes=3)
    forbid_work(monkeypatch)
    with pytest.raises(ValueError, match="two classes"):
        ours(prove=True).fit(X, y)


def test_what_goes_nowhere_is_refused():
    X, y = data()
    found = ours(tol=1e-6)
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        found.fit(X, y, depth=3)
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        found.fit(X, y).score(X, y, depth=3)


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model", [LogisticRegressionCV(Cs=3, l1_ratios=[0.0, 0.5]), LinearSVCCV(Cs=[0.1, 1.0], rule="1se")]
)
def test_a_file_has_the_model_at_the_choice_and_the_curve(model, tmp_path):
    X, y = data()
    model.fit(X, y)
    save(model, tmp_path / "model.json", data=(X, y))
    again = load(tmp_path / "model.json")
    assert type(again) is type(model).__mro__[2]
    assert again.C == model.C_
    np.testing.assert_array_equal(again.coef_, model.coef_)
    np.testing.assert_array_equal(again.choice_["folds"], model.scores_)
    assert again.choice_["rule"] == model.rule
    assert again.certificate_.proven
    assert verify(tmp_path / "model.json", X, y).proven
    assert verify(model, X, y).proven


def test_a_mean_of_planes_is_not_saved(tmp_path):
    X, y = data()
    with pytest.raises(ModelFileError, match="refit=True"):
        save(ours(tol=1e-6, refit=False).fit(X, y), tmp_path / "model.json")
    with pytest.raises(ModelFileError, match="not fitted"):
        save(ours(), tmp_path / "model.json")


def test_pickles():
    X, y = data()
    model = ours(tol=1e-6).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.scores_, model.scores_)
    assert again.certificate_.proven


def test_progress_is_told_fold_by_fold(capsys):
    X, y = data()
    ours(tol=1e-6, verbose=1).fit(X, y)
    told = [line.split(":")[0] for line in capsys.readouterr().err.splitlines()]
    assert told == [*(f"fold {k} of 4" for k in (1, 2, 3, 4)), "LogisticRegressionCV"]
