"""Measures and their intervals: against scikit-learn and SciPy, and against what they promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm
from sklearn import metrics

from linsep import LogisticRegression
from linsep.analysis.evaluation import evaluate
from linsep.analysis.intervals import area_under_roc, of_mean, wilson


@given(st.integers(0, 60), st.integers(1, 60))
def test_the_interval_of_a_proportion_is_wilsons(hits, more):
    n = hits + more
    expected = binomtest(hits, n).proportion_ci(method="wilson")
    assert np.array(wilson(hits / n, n)) == pytest.approx([expected.low, expected.high], abs=1e-9)


def test_the_area_and_its_variance_are_those_of_all_pairs():
    rng = np.random.default_rng(0)
    positive = rng.random(70) < 0.4
    scores = np.round(rng.standard_normal(70) + positive, 1)  # with ties
    won = (scores[positive][:, None] > scores[~positive]) + 0.5 * (scores[positive][:, None] == scores[~positive])
    a, b = won.mean(axis=1), won.mean(axis=0)
    area, variance = won.mean(), a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b)  # DeLong
    found, low, high = area_under_roc(scores, positive, np.ones(70))
    assert found == pytest.approx(area) == pytest.approx(metrics.roc_auc_score(positive, scores))
    assert [low, high] == pytest.approx(np.array(wilson(area, area * (1 - area) / variance)).tolist())
    assert high - low == pytest.approx(2 * 1.96 * np.sqrt(variance), rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("distance", [0.5, 2.0, 4.0])
def test_the_interval_of_an_area_holds_what_it_promises(distance):
    rng, area, held = np.random.default_rng(1), norm.cdf(distance / np.sqrt(2)), 0
    for _ in range(300):
        positive = rng.random(80) < 0.3
        _, low, high = area_under_roc(rng.standard_normal(80) + distance * positive, positive, np.ones(80))
        held += low <= area <= high
    assert held / 300 > 0.9


def test_a_class_seen_three_times_of_three_widens_the_mean():
    shares, sizes = np.array([1.0, 0.9]), np.array([3, 10_000])
    low, high = of_mean(shares, *wilson(shares, sizes))
    assert low < 0.72
    assert 0.95 <= high <= 1.0


class _Sayer:
    """A model that says what it is told to."""

    def __init__(self, classes, said):
        self.classes_, self.said = np.asarray(classes), np.asarray(said)

    def predict(self, X):
        return self.said

    def decision_function(self, X):
        return (self.said == self.classes_[1]).astype(float)


def test_many_classes_have_a_list_of_the_worst_confusions_and_means_of_scikit_learn():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 40, 3000)
    said = np.where(rng.random(3000) < 0.2, rng.integers(0, 40, 3000), truth)
    said[(truth == 7) & (rng.random(3000) < 0.5)] = 8
    said[said == 3] = 4  # which is never said
    found = evaluate(_Sayer(np.arange(40), said), np.zeros((3000, 1)), truth)
    assert found.measures["macro_f1"].value == pytest.approx(metrics.f1_score(truth, said, average="macro"))
    macro = metrics.precision_score(truth, said, average="macro", zero_division=0)
    assert found.measures["macro_precision"].value == pytest.approx(macro)
    worst = found.worst_confusions(5)
    counts = metrics.confusion_matrix(truth, said)
    assert [(one.truth, one.said) for one in worst[:2]] == [(3, 4), (7, 8)]
    assert (worst[1].count, worst[1].share) == (counts[7, 8], pytest.approx(counts[7, 8] / counts[7].sum()))
    assert len(worst) == 5
    assert found.majority == np.bincount(truth).argmax()


@pytest.mark.slow
def test_the_interval_of_the_mean_f1_holds_what_it_promises():
    rng, K, n = np.random.default_rng(2), 4, 200
    share = np.full((K, K), 0.1)
    np.fill_diagonal(share, 0.7)
    share /= share.sum()
    truth_of_f1 = (2 * share.diagonal() / (share.sum(axis=0) + share.sum(axis=1))).mean()
    held = 0
    for _ in range(200):
        cell = rng.choice(K * K, n, p=share.ravel())
        one = evaluate(_Sayer(np.arange(K), cell % K), np.zeros((n, 1)), cell // K).measures["macro_f1"]
        held += one.low <= truth_of_f1 <= one.high
    assert held / 200 > 0.91


def test_weights_count_as_scikit_learn_counts_them_and_not_as_more_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2))
    y = np.where(X[:, 0] + rng.standard_normal(300) > 0.4, "yes", "no")
    weight = rng.integers(0, 4, 300).astype(float)
    model = LogisticRegression().fit(X, y)
    said, score = model.predict(X), model.decision_function(X)
    found = evaluate(model, X, y, sample_weight=weight).measures
    asked = dict(sample_weight=weight)
    expected = {
        "accuracy": metrics.accuracy_score(y, said, **asked),
        "balanced_accuracy": metrics.balanced_accuracy_score(y, said, **asked),
        "precision": metrics.precision_score(y, said, pos_label="yes", **asked),
        "recall": metrics.recall_score(y, said, pos_label="yes", **asked),
        "f1": metrics.f1_score(y, said, pos_label="yes", **asked),
        "log_loss": metrics.log_loss(y, model.predict_proba(X), **asked),
        "brier": metrics.brier_score_loss(y, model.predict_proba(X)[:, 1], pos_label="yes", **asked),
        "auc": metrics.roc_auc_score(y == "yes", score, **asked),
    }
    assert {name: one.value for name, one in found.items()} == pytest.approx(expected)
    plain, tenfold = (evaluate(model, X, y, sample_weight=np.full(300, w)) for w in (1.0, 10.0))
    for name, one in plain.measures.items():
        assert (tenfold.measures[name].low, one.value) == pytest.approx((one.low, tenfold.measures[name].value))


def test_what_is_undefined_is_left_out():
    found = evaluate(_Sayer(["no", "yes"], np.repeat("no", 4)), np.zeros((4, 1)), np.repeat("no", 4))
    assert set(found.measures) == {"accuracy", "balanced_accuracy"}
    assert found.of_class[1].precision is None
