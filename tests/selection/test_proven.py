"""Bounds on held-out mistakes for every C: exact fits at C of a dense grid never beat them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.preprocessing import scale

from linsep import LinearClassifier, LinearSVC, LinearSVCCV, LogisticRegression, LogisticRegressionCV, verify
from linsep._core import Rows
from linsep.certificates.held_out import Fold
from linsep.estimators._fitting import posed
from linsep.selection import curves
from linsep.selection.proven import Search
from linsep.selection.tracks import Track

ESTIMATORS = {
    "logistic": LogisticRegression(),
    "logistic, no intercept": LogisticRegression(fit_intercept=False),
    "balanced": LogisticRegression(class_weight="balanced"),
    "elastic net": LogisticRegression(l1_ratio=0.3),
    "hinge": LinearSVC(),
    "hinge, no intercept": LinearSVC(fit_intercept=False),
    "squared hinge": LinearSVC(loss="squared_hinge"),
    "square": LinearClassifier("square"),
    "square, no intercept": LinearClassifier("square", fit_intercept=False),
}
LOW, HIGH = 1e-2, 1e2


def data(seed, n=60, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.normal(size=d)
    score = X @ rng.normal(size=d) + rng.logistic(size=n)
    return X, (score > np.quantile(score, 0.4)).astype(int)


def folds_of(estimator, X, y, weight=None, number=3):
    """Return the folds, and beside each its training rows and held-out ones."""
    plain, examples, classes = posed(estimator, X, y, weight)
    made, rows = [], list(StratifiedKFold(number).split(X, y))
    for train, test in rows:
        part = examples.chosen(train, None if weight is None else weight[train])
        objective = Track(plain, part, classes, 1.0).objectives[0]
        cost = np.ones(len(test)) if weight is None else weight[test]
        made.append(Fold(objective, Rows(X[test]), np.where(y[test] == 1, 1.0, -1.0), cost))
    return made, rows


def scores(estimator, X, y, train, test, C, weight=None):
    """Return the scores of held-out rows by the optimum at C, and how far off they may be by its tolerance."""
    model = type(estimator)(**estimator.get_params() | {"C": C, "tol": 1e-10})
    model.fit(X[train], y[train], None if weight is None else weight[train])
    return model.decision_function(X[test])


def cost_at(estimator, X, y, rows, C, weight=None):
    """Return the cost of the optima at C, counting what is nearly undecided as no mistake: a bound from below."""
    total = 0.0
    for train, test in rows:
        g = scores(estimator, X, y, train, test, C, weight)
        wrong = np.where(y[test] == 1, g <= -1e-5, g > 1e-5)
        total += (np.ones(len(test)) if weight is None else weight[test])[wrong].sum()
    return total


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_dense_grid_never_beats_the_bound(name, seed):
    X, y = data(seed)
    made, rows = folds_of(ESTIMATORS[name], X, y)
    proven = Search(made).run([LOW, 1.0, HIGH], slack=1.0, most=1500)
    grid = np.geomspace(LOW, HIGH, 40)
    costs = [cost_at(ESTIMATORS[name], X, y, rows, C) for C in grid]
    # `cost_at` leans towards fewer mistakes, so the brute force leans against the bound.
    assert proven.bound <= min(costs)
    assert 0 <= proven.bound <= proven.mistakes
    assert LOW <= proven.C <= HIGH
    assert cost_at(ESTIMATORS[name], X, y, rows, proven.C) <= proven.mistakes


def test_weights_are_what_mistakes_cost():
    X, y = data(5)
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    made, rows = folds_of(LogisticRegression(), X, y, weight)
    proven = Search(made).run([LOW, 1.0, HIGH], slack=1.0)
    costs = [cost_at(LogisticRegression(), X, y, rows, C, weight) for C in np.geomspace(LOW, HIGH, 60)]
    assert proven.mistakes - 1.0 <= proven.bound <= min(costs)
    assert cost_at(LogisticRegression(), X, y, rows, proven.C, weight) <= proven.mistakes


@given(st.integers(0, 10_000), st.sampled_from(sorted(ESTIMATORS)), st.floats(0.01, 0.99), st.floats(0.01, 2.0))
def test_what_is_certain_in_a_cell_is_so_of_every_optimum_in_it(seed, name, share, width):
    """The count of one cell, right after stops of little precision, against an exact fit at a random C in it."""
    X, y = data(seed, n=40, d=3)
    estimator = ESTIMATORS[name]
    made, rows = folds_of(estimator, X, y, number=2)
    search, rng = Search(made), np.random.default_rng(seed)
    low = 10.0 ** rng.uniform(-2, 1)
    high = low * 10.0**width
    for fold, (train, test) in zip(made, rows, strict=True):
        for C in (low, high):
            search.solve(fold, C, 1e-5)
        between = [low, low * (high / low) ** 0.5, high]
        C = low * (high / low) ** share
        for a, b in pairwise(between):
            if not a <= C <= b:
                continue
            g = scores(estimator, X, y, train, test, C)
            wrong = np.where(y[test] == 1, g <= 1e-5, g > -1e-5)  # leaning the other way: mistakes, perhaps
            sure = np.where(y[test] == 1, g <= -1e-5, g > 1e-5)
            for count in (fold.count(fold.point(a), fold.point(b))[0], *fold.counts([(a, b)], [None])):
                assert count.mistakes <= wrong.sum()
                assert count.mistakes + count.open >= sure.sum()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["logistic", "logistic, no intercept", "balanced", "square"])
def test_tubes_close_a_wide_range_in_few_cells(name):
    X, y = data(1, n=120)
    made, rows = folds_of(ESTIMATORS[name], X, y)
    proven = Search(made).run([LOW, 1.0, HIGH], slack=1.0, most=400)
    assert proven.bound >= proven.mistakes - 1.0
    assert proven.bound <= min(cost_at(ESTIMATORS[name], X, y, rows, C) for C in np.geomspace(LOW, HIGH, 40))


def test_an_interpolated_point_is_as_far_from_the_optimum_as_it_says():
    X, y = data(3)
    made, _ = folds_of(LogisticRegression(), X, y)
    search, fold = Search(made), made[0]
    for C in (0.1, 0.3, 1.0, 3.0):
        search.solve(fold, C, 1e-10)
    for C in (0.15, 0.5, 2.0):
        point = fold.point(C)
        search_again = folds_of(LogisticRegression(), X, y)[0][0]
        Search([search_again]).solve(search_again, C, 1e-12)
        exact = search_again.point(C)
        assert point.dual <= exact.objective(C) * (1 + 1e-12)
        assert exact.dual <= point.objective(C) * (1 + 1e-12)
        assert point.gap >= 0


def test_a_limit_of_work_ends_it_with_a_bound_that_holds():
    X, y = data(2)
    made, _ = folds_of(LogisticRegression(), X, y)
    heard = []
    at_once = Search(made).run([LOW, HIGH], 0.0, most=10)
    cut = Search(made).run([LOW, HIGH], 0.0, most=100, progress=lambda *both: heard.append(both))
    whole = Search(folds_of(LogisticRegression(), X, y)[0]).run([LOW, HIGH], 0.0, most=4000)
    assert at_once.bound <= cut.bound <= whole.bound <= whole.mistakes <= cut.mistakes <= at_once.mistakes
    assert at_once.bound < at_once.mistakes  # it was cut short
    best, least = np.array(heard).T
    assert (np.diff(best) <= 0).all()
    assert (np.diff(least) >= 0).all()
    assert least[-1] <= cut.bound  # it is heard of now and then
    assert best[-1] >= cut.mistakes


@pytest.mark.slow
def test_the_estimator_proves_its_choice():
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    model = LogisticRegressionCV(Cs=np.geomspace(1e-2, 1e2, 9), prove=True).fit(X, y)
    proof = model.proof_
    assert model.C_ == proof.C
    assert proof.bound >= proof.mistakes - 1
    wrong = cross_val_predict(LogisticRegression(C=model.C_, tol=1e-9), X, y, cv=5) != y
    assert wrong.sum() == proof.mistakes
    assert f"no C between 0.01 and 100 makes fewer than {proof.bound:g}" in str(proof)


@pytest.mark.slow
def test_stops_that_are_far_apart_tell_nothing_and_are_refined():
    """Between them no curvature is left of any metric, and chords are longer than floats."""
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    model = LogisticRegressionCV(Cs=5, prove=True).fit(X, y)
    assert model.proof_.bound >= model.proof_.mistakes - 1
    assert verify(model, X, y).proven


def test_balanced_mistakes_cost_the_same_for_both_classes_together():
    X, y = data(7, n=90)
    rare = np.flatnonzero(y == 1)[:12]
    keep = np.concatenate([np.flatnonzero(y == 0), rare])
    X, y = X[keep], y[keep]
    cv = StratifiedKFold(3)
    model = LogisticRegressionCV(Cs=[LOW, 1.0, HIGH], cv=cv, scoring="balanced_accuracy", prove=True).fit(X, y)

    def cost(C):
        total = 0.0
        for train, test in cv.split(X, y):
            g = scores(LogisticRegression(), X, y, train, test, C)
            recalls = [np.mean((g[y[test] == k] > 0) == k) for k in (0, 1)]
            total += len(test) * (1 - np.mean(recalls))
        return total

    assert model.proof_.mistakes == pytest.approx(cost(model.C_))
    assert model.proof_.bound <= min(cost(C) for C in np.geomspace(LOW, HIGH, 50)) + 1e-9
    assert model.proof_.bound >= model.proof_.mistakes - 1e-3 * len(y) - 1e-9


@pytest.mark.parametrize("weighted", [False, True])
def test_costs_of_the_two_mistakes_are_proven(weighted):
    X, y = data(7, n=90)
    labels, cv = np.where(y == 1, "yes", "no"), StratifiedKFold(3)
    s = np.random.default_rng(0).integers(1, 4, size=len(y)).astype(float) if weighted else np.ones(len(y))
    given = dict(Cs=[LOW, 1.0, HIGH], cv=cv, scoring="costs=1:5")
    model = LogisticRegressionCV(**given, prove=True).fit(X, labels, sample_weight=s if weighted else None)

    def cost(C):
        total = 0.0
        for train, test in cv.split(X, y):
            fit = LogisticRegression(C=C, tol=1e-10).fit(X[train], labels[train], sample_weight=s[train])
            said = fit.predict(X[test])
            each = np.where(said == labels[test], 0.0, np.where(said == "yes", 1.0, 5.0))
            total += s[test] @ each
        return total

    assert model.proof_.mistakes == pytest.approx(cost(model.C_))
    assert model.proof_.bound <= min(cost(C) for C in np.geomspace(LOW, HIGH, 40)) + 1e-9
    found = verify(model, X, labels, sample_weight=s if weighted else None)
    assert found.proven
    assert "a false alarm counting as 1 and a miss as 5" in found.reason
    plain = LogisticRegressionCV(**given).fit(X, labels, sample_weight=s if weighted else None)
    totals = np.array([s[test].sum() for _, test in cv.split(X, y)])
    assert -totals @ plain.scores_[:, 0, 1] == pytest.approx(cost(1.0))
    assert plain.score(X, labels) == pytest.approx(-np.mean(np.where(plain.predict(X) == labels, 0, 1 + 4 * y)))


@pytest.mark.parametrize("said", ["costs=", "costs=1", "costs=-1:2", "costs=a:b", "costs=0:0", "costs=nan:1"])
def test_costs_that_are_none_are_refused(said):
    with pytest.raises(ValueError, match="costs are two numbers from 0, of a false alarm and of a miss"):
        LogisticRegressionCV(scoring=said).fit(*data(7))
    with pytest.raises(ValueError, match="is for two classes, and here are 3"):
        LogisticRegressionCV(scoring="costs=1:5").fit(np.eye(6)[:, :2], [0, 1, 2, 0, 1, 2])


def test_stops_that_come_late_do_not_loosen_what_is_kept():
    """A check has all stops at once; of these data 97 mistakes were found to be the fewest, and 57 were proven."""
    X, y = make_classification(300, 5, n_informative=3, flip_y=0.2, weights=[0.7], random_state=0)
    model = LogisticRegressionCV(scoring="balanced_accuracy", Cs=8, prove=True).fit(X, y)
    assert model.proof_.bound >= model.proof_.mistakes - 1e-3 * len(y) - 1e-9


def test_support_vector_machines_prove_theirs():
    X, y = data(11)
    model = LinearSVCCV(Cs=[0.1, 1.0, 10.0], cv=3, prove=True).fit(X, y)
    rows = list(StratifiedKFold(3).split(X, y))
    costs = [cost_at(LinearSVC(), X, y, rows, C) for C in np.geomspace(0.1, 10.0, 60)]
    assert model.proof_.bound <= min(costs)
    assert model.certificate_.proven


def test_a_stop_that_is_solved_again_replaces_the_first():
    X, y = data(0)
    fold = folds_of(LogisticRegression(), X, y)[0][0]
    search = Search([fold])
    search.solve(fold, 1.0, 1e-2)
    rough = fold.point(1.0).gap
    search.solve(fold, 1.0, 1e-10)
    assert len(fold.stops) == 1
    assert fold.point(1.0).gap < rough
    assert replace(fold.point(1.0), C=1.0) == fold.point(1.0)


def test_a_metric_serves_on_when_its_stop_is_solved_again():
    X, y = data(0)
    fold = folds_of(LogisticRegression(), X, y)[0][0]
    search, found = Search([fold]), []
    for tol in (1e-2, 1e-10):
        search.solve(fold, 1.0, tol)
        D = fold.objective.s * fold.objective.loss.curvature(fold.stops[0].z)
        found.append(fold.metrics.near(1.0, D, fold.stops))
    assert found[0][0] is found[1][0]
    assert 0.5 < found[1][1] < found[0][1]  # what the other solution has of it, not all


def test_columns_that_are_far_from_zero_in_some_folds_only_change_no_score():
    """A fold whose rows say that a column is far from zero must not be solved without its middle alone."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = (X[:, 0] + rng.logistic(size=120) > 0.3).astype(int)
    grid = [1e-3, 0.1, 10.0]
    found = [
        LogisticRegressionCV(Cs=grid, cv=3, tol=1e-8).fit(X + far, y).scores_.mean(axis=(0, 1)) for far in (0, 1000)
    ]
    want = [np.mean(cross_val_predict(LogisticRegression(C=C, tol=1e-8), X, y, cv=3) == y) for C in grid]
    np.testing.assert_allclose(found, [want, want])


@pytest.mark.slow
@pytest.mark.parametrize("kind", [LogisticRegressionCV, LinearSVCCV])
@pytest.mark.parametrize("columns", ["plain", "far", "unscaled"])
def test_it_ends_on_any_columns_and_says_what_it_has(kind, columns):
    """Ten times the work of cross-validation at the most; warnings are errors here."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = (X[:, 0] + rng.logistic(size=60) > 0.3).astype(int)
    X = {"plain": X, "far": X + 1000.0, "unscaled": X * [1.0, 100.0, 1e4, 1e-3]}[columns]
    model = kind(Cs=np.geomspace(1e-4, 1e4, 9), cv=3, prove=True).fit(X, y)
    proof = model.proof_
    assert proof.cells + proof.fits <= 1000 + 100  # what is under way when it is enough
    assert 0 <= proof.bound <= proof.mistakes <= round(60 * (1 - model.scores_.mean(axis=0).max()))
    assert f"makes fewer than {proof.bound:g}" in str(proof)


def test_more_effort_proves_no_less():
    X, y = data(1)
    bounds = [LinearSVCCV(Cs=[LOW, HIGH], cv=3, prove=much).fit(X, y).proof_ for much in (0.2, 1.0, 5.0)]
    assert bounds[0].cells < bounds[1].cells
    assert bounds[0].bound <= bounds[1].bound <= bounds[2].bound
    for wrong in (0, -1.0, np.nan, "all"):
        with pytest.raises(ValueError, match="how many times the work"):
            LinearSVCCV(prove=wrong).fit(X, y)


def test_ctrl_c_keeps_the_best_so_far():
    X, y = data(2)
    made, rows = folds_of(LogisticRegression(), X, y)
    search, heard = Search(made), []

    def interrupted(cells, known):
        heard.append(len(cells))
        if len(heard) == 6:  # some of them are being split
            raise KeyboardInterrupt
        return Search._bounded(search, cells, known)

    search._bounded = interrupted
    cut = search.run([LOW, HIGH], 0.0)
    assert cut.cells == sum(heard[:-1])
    assert cut.bound <= min(cost_at(LogisticRegression(), X, y, rows, C) for C in np.geomspace(LOW, HIGH, 40))
    assert 0 < cut.bound <= cut.mistakes
    whole = Search(folds_of(LogisticRegression(), X, y)[0]).run([LOW, HIGH], 0.0, most=4000)
    assert cut.bound <= whole.bound <= whole.mistakes <= cut.mistakes


def test_a_fit_that_is_interrupted_is_no_stop(monkeypatch):
    X, y = data(2)
    fold = folds_of(LogisticRegression(), X, y)[0][0]
    minimise = curves.minimise
    monkeypatch.setattr(curves, "minimise", lambda *args, **asked: replace(minimise(*args, **asked), interrupted=True))
    with pytest.raises(KeyboardInterrupt):
        Search([fold]).solve(fold, 1.0, 1e-6)
    assert not fold.stops
