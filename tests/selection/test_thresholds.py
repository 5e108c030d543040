"""Thresholds for an aim: by brute force, out of fold, in files, and inside scikit-learn's own meta-estimators."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import (
    FixedThresholdClassifier,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
)
from sklearn.preprocessing import scale

from linsep import (
    LeastSquaresClassifier,
    LinearSVC,
    LogisticRegression,
    Perceptron,
    ZeroOneClassifier,
    choose_threshold,
    load,
    save,
    verify,
)
from linsep.persistence.model_file import read
from linsep.report.proofs import sentences
from linsep.selection.out_of_fold import OutOfFold
from linsep.selection.thresholds import Aim, Chosen, Counts, cuts

TOLD = ["accuracy", "balanced-accuracy", "f1", "costs=1:5", "recall@precision=0.8", "precision@recall=0.7"]


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X)[:, :4], y


def overlapping(n=120, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    scores = np.round(rng.normal(size=n) + positive, 1)  # with ties
    return scores, positive, rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize("weighted", [False, True])
def test_counts_at_each_threshold_are_scikit_learns_measures(weighted):
    scores, positive, weight = overlapping()
    s = weight if weighted else None
    at = cuts(scores)
    found = Counts.at(at, scores, positive, s)
    oracle = {
        "accuracy": metrics.accuracy_score,
        "balanced_accuracy": metrics.balanced_accuracy_score,
        "f1": metrics.f1_score,
        "recall": metrics.recall_score,
    }
    for name, measure in oracle.items():
        expected = [measure(positive, scores >= t, sample_weight=s) for t in at]
        np.testing.assert_allclose(getattr(found, name), expected)
    said = [(scores >= t).any() for t in at]
    expected = [metrics.precision_score(positive, scores >= t, sample_weight=s, zero_division=np.nan) for t in at]
    np.testing.assert_allclose(found.precision, np.where(said, expected, np.nan))


def worth(aim, scores, positive, weight, t):
    """Return what a threshold is worth, by counting; minus infinity where the aim is not met."""
    said = scores >= t
    hits, alarms = weight[said & positive].sum(), weight[said & ~positive].sum()
    misses = weight[~said & positive].sum()
    precision = hits / (hits + alarms) if said.any() else -1.0
    recall = hits / (hits + misses)
    if aim.startswith("costs"):
        return -(1 * alarms + 5 * misses) / weight.sum()
    if aim.startswith("recall@"):
        return recall if precision >= 0.8 - 1e-12 else -np.inf
    if aim.startswith("precision@"):
        return precision if recall >= 0.7 - 1e-12 else -np.inf
    name = {"accuracy": "accuracy_score", "balanced-accuracy": "balanced_accuracy_score", "f1": "f1_score"}[aim]
    return getattr(metrics, name)(positive, said, sample_weight=weight)


@pytest.mark.slow
@pytest.mark.parametrize("aim", TOLD)
@given(seed=st.integers(0, 200))
def test_no_threshold_meets_an_aim_better(aim, seed):
    scores, positive, weight = overlapping(40, seed)
    every = [*(scores - 1e-9), *(scores + 1e-9), -99.0, 99.0]
    best = max(worth(aim, scores, positive, weight, t) for t in every)
    at = cuts(scores)
    wanted = Aim.parse(aim)
    if best == -np.inf:
        with pytest.raises(ValueError, match=r"cannot be met: out of fold the precision .* reaches 0\.\d+ at the most"):
            wanted.best(at, Counts.at(at, scores, positive, weight))
        return
    chosen = wanted.best(at, Counts.at(at, scores, positive, weight))
    assert worth(aim, scores, positive, weight, chosen) == pytest.approx(best)


@pytest.mark.parametrize("aim", ["f1", "costs=1:5", "recall@precision=0.7", "precision@recall=0.8"])
def test_an_aim_of_the_first_class_is_that_of_the_second_where_labels_and_scores_are_turned(aim):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 3))
    y = np.where(X @ [1.0, -1.0, 0.0] + rng.normal(size=300) > 1, "b", "a")
    turned = np.where(y == "a", "z", "b")  # of which the rare one comes first
    one = choose_threshold(LogisticRegression(tol=1e-10).fit(X, y), X, y, aim)
    other = choose_threshold(LogisticRegression(tol=1e-10).fit(X, turned), X, turned, f"{aim} of b")
    assert one.threshold_ == pytest.approx(-other.threshold_)
    for name in ("value", "precision", "recall", "spread"):
        assert one.threshold_choice_[name] == pytest.approx(other.threshold_choice_[name])
    assert other.threshold_choice_["aim"] == f"{aim} of b"
    assert ((one.predict(X) == "b") == (other.predict(X) == "b")).all()


def test_an_aim_that_cannot_be_met_says_what_can():
    scores, positive = np.array([3.0, 2.0, 1.0, 0.0]), np.array([False, True, True, False])
    at = cuts(scores)
    with pytest.raises(ValueError, match=r"recall@precision=0\.9 cannot .* precision of yes reaches 0\.6666") as error:
        Aim.parse("recall@precision=0.9").best(at, Counts.at(at, scores, positive), "yes")
    assert "where its recall is 1.0000; ask for precision=0.6666 or less" in str(error.value)
    again = Aim.parse(str(error.value).split("ask for ")[1].split(" ")[0].join(["recall@", ""]))
    assert again.best(at, Counts.at(at, scores, positive)) == 0.5


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("luck", "luck is no threshold: give an aim: accuracy"),
        ("accuracy of yes", "accuracy is of both classes; leave out 'of yes'"),
        ("accuracy=3", "is no threshold"),
        ("costs=1", "is no threshold"),
        ("costs=0:0", "costs are numbers from 0"),
        ("costs=-1:5", "costs are numbers from 0"),
        ("costs=nan:5", "costs are numbers from 0"),
        ("costs=1:inf", "costs are numbers from 0"),
        ("recall@precision=90", "precision is a share of rows, above 0 and up to 1"),
        ("precision@recall=0", "recall is a share of rows, above 0 and up to 1"),
        ("recall@precision", "is no threshold"),
        ("recall@precision=nan", "precision is a share"),
    ],
)
def test_what_is_no_aim_is_refused(text, says):
    with pytest.raises(ValueError, match=says):
        Aim.parse(text)


def test_aims_have_several_spellings():
    assert Aim.parse("balanced_accuracy") == Aim.parse("Balanced-Accuracy") == Aim("balanced-accuracy")
    assert Aim.parse("cost=1:5") == Aim("costs", (1.0, 5.0))
    assert [str(Aim.parse(text)) for text in TOLD] == TOLD


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC(), LeastSquaresClassifier()], ids=repr)
def test_it_is_chosen_on_scores_of_fits_that_have_not_seen_the_row(cancer, model):
    X, y = cancer
    folds = StratifiedKFold(4, shuffle=True, random_state=3)
    found = choose_threshold(model.fit(X, y), X, y, "costs=1:5", cv=folds)
    scores = cross_val_predict(clone(model), X, y, cv=folds, method="decision_function")
    costs = [(((scores >= t) & (y == 0)).sum() + 5 * ((scores < t) & (y == 1)).sum()) / len(y) for t in cuts(scores)]
    told = found.threshold_choice_
    assert told["value"] == pytest.approx(min(costs))
    assert (told["aim"], told["folds"], told["rows"]) == ("costs=1:5", 4, len(y))
    here = ((scores >= found.threshold_) & (y == 0)).sum() + 5 * ((scores < found.threshold_) & (y == 1)).sum()
    assert told["value"] == pytest.approx(here / len(y))
    assert found.threshold_ in told["curve"]["threshold"]
    assert min(told["curve"]["value"]) == pytest.approx(told["value"])
    np.testing.assert_array_equal(found.predict(X), found.decision_function(X) >= found.threshold_)
    assert not hasattr(model, "threshold_")
    assert not hasattr(found.fit(X, y), "threshold_")
    assert not hasattr(found, "threshold_choice_")


def test_an_aim_at_base_rates_is_that_of_weighted_rows(cancer):
    X, y = cancer
    folds = StratifiedKFold(4, shuffle=True, random_state=3)
    found = choose_threshold(LinearSVC().fit(X, y), X, y, "f1", cv=folds, base_rates={1: 0.05})
    scores = cross_val_predict(LinearSVC(), X, y, cv=folds, method="decision_function")
    weight = np.where(y == 1, 0.05 / y.mean(), 0.95 / (1 - y.mean()))
    best = max(metrics.f1_score(y, scores >= t, sample_weight=weight) for t in cuts(scores))
    assert found.threshold_choice_["value"] == pytest.approx(best)
    assert found.threshold_choice_["base_rates"] == {1: 0.05}
    assert found.threshold_ > choose_threshold(LinearSVC().fit(X, y), X, y, "f1", cv=folds).threshold_
    with pytest.raises(ValueError, match="none of the classes"):
        choose_threshold(LinearSVC().fit(X, y), X, y, "f1", base_rates={2: 0.5})


def test_what_is_told_untuned_is_of_thresholds_that_have_not_seen_the_fold(cancer):
    X, y = cancer
    folds = list(StratifiedKFold(3).split(X, y))
    scores = cross_val_predict(LogisticRegression(), X, y, cv=folds, method="decision_function")
    said = np.zeros(len(y), dtype=bool)
    for _, test in folds:
        others = np.setdiff1d(np.arange(len(y)), test)
        at = cuts(scores[others])
        said[test] = scores[test] >= Aim("f1").best(at, Counts.at(at, scores[others], y[others] == 1))
    told = choose_threshold(LogisticRegression().fit(X, y), X, y, "f1", cv=folds).threshold_choice_
    assert told["untuned"]["value"] == pytest.approx(metrics.f1_score(y, said))
    assert told["untuned"]["precision"] == pytest.approx(metrics.precision_score(y, said))
    each = [metrics.f1_score(y[test], scores[test] >= told["threshold"]) for _, test in folds]
    assert told["spread"] == pytest.approx(np.std(each, ddof=1))


def test_a_model_of_a_file_predicts_with_its_threshold(cancer, tmp_path):
    X, y = cancer
    model = choose_threshold(LinearSVC().fit(X, y), X, y, "recall@precision=0.99")
    save(model, tmp_path / "m.json", data=(X, y))
    again = load(tmp_path / "m.json")
    assert again.threshold_ == model.threshold_ == read(tmp_path / "m.json").threshold
    assert again.threshold_choice_ == model.threshold_choice_
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert (again.predict(X) != LinearSVC().fit(X, y).predict(X)).any()
    for outcome in (verify(tmp_path / "m.json", X, y), verify(again, X, y)):
        assert outcome
        assert f"predictions are cut at {model.threshold_:g}, not at 0" in outcome.reason
        assert "threshold_choice_" in outcome.unchecked
        assert "threshold_" not in outcome.unchecked


def test_a_bound_on_mistakes_speaks_of_the_threshold_in_use(tmp_path):
    X, y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]]), np.array([0, 1, 0, 1, 1])
    model = ZeroOneClassifier().fit(X, y)
    model.threshold_ = float(np.max(model.decision_function(X))) + 1.0
    said = verify(model, X, y)
    assert "3 mistakes" in said.reason.replace("makes 3 ", "3 ")
    assert "where its scores are cut at" in said.reason
    assert not said.proven
    assert any("are cut at" in sentence for sentence in sentences(model))


def test_votes_are_cut_too():
    X, y = np.array([[0.0], [1.0], [3.0], [4.0], [2.0]]), np.array([0, 0, 1, 1, 0])
    model = Perceptron(keep="vote", random_state=0).fit(X, y)
    model.threshold_ = 2.0  # more than all votes
    assert not model.predict(X).any()


def test_what_cannot_have_a_threshold_is_refused(cancer):
    X, y = cancer
    with pytest.raises(NotFittedError, match="not fitted"):
        choose_threshold(LinearSVC(), X, y)
    three = np.arange(len(y)) % 3
    with pytest.raises(ValueError, match="two classes; of 3 the highest score"):
        choose_threshold(LinearSVC().fit(X, three), X, three)
    found = OutOfFold(np.arange(3), np.zeros((4, 3)), np.array([0, 1, 2, 0]), None, np.zeros(4, dtype=int))
    with pytest.raises(ValueError, match="two classes"):
        Chosen.by(Aim("f1"), found)
    with pytest.raises(ValueError, match="fold 1 has no example of class 1 to learn from"):
        choose_threshold(LinearSVC().fit(X, y), X, y, cv=[(np.flatnonzero(y == 0), np.flatnonzero(y == 1))])


# --- inside scikit-learn


@pytest.mark.slow
@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC()], ids=repr)
@pytest.mark.parametrize("scoring", ["balanced_accuracy", "f1"])
def test_scikit_learn_tunes_the_threshold_of_our_models(cancer, model, scoring):
    X, y = cancer
    folds = StratifiedKFold(3)
    theirs = TunedThresholdClassifierCV(
        model, scoring=scoring, cv=folds, thresholds=400, response_method="decision_function"
    ).fit(X, y)
    ours = choose_threshold(clone(model).fit(X, y), X, y, scoring, cv=folds)
    fixed = FixedThresholdClassifier(model, threshold=ours.threshold_, response_method="decision_function").fit(X, y)
    np.testing.assert_array_equal(fixed.predict(X), ours.predict(X))
    scores = cross_val_predict(clone(model), X, y, cv=folds, method="decision_function")
    measure = {"balanced_accuracy": metrics.balanced_accuracy_score, "f1": metrics.f1_score}[scoring]
    assert measure(y, scores >= ours.threshold_) >= measure(y, scores >= theirs.best_threshold_)


def test_probabilities_are_cut_by_scikit_learn_too(cancer):
    X, y = cancer
    fixed = FixedThresholdClassifier(LogisticRegression(), threshold=0.9).fit(X, y)
    np.testing.assert_array_equal(fixed.predict(X), LogisticRegression().fit(X, y).predict_proba(X)[:, 1] >= 0.9)


@pytest.mark.parametrize("aim", [0.5, None])
def test_a_number_is_no_aim(aim):
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]] * 5), np.array([0, 0, 1, 1] * 5)
    with pytest.raises(ValueError, match=r"is no aim; use accuracy, .* FixedThresholdClassifier"):
        choose_threshold(LinearSVC().fit(X, y), X, y, aim)
