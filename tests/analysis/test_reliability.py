"""Whether probabilities mean what they say: against scikit-learn, by chance, and in words where they do not."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_iris
from sklearn.metrics import brier_score_loss

from linsep import LinearSVC, LogisticRegression, calibrate
from linsep.analysis.evaluation import evaluate
from linsep.analysis.intervals import wilson
from linsep.analysis.reliability import reliability
from linsep.report.content import compute, render
from linsep.workflows.evaluating import evaluation_record, evaluation_text


def said_and_true(n, rng, turned=lambda p: p):
    """Return probabilities, and what comes true with other ones."""
    said = rng.beta(1.5, 2.0, n)
    return said, rng.random(n) < turned(said)


@pytest.fixture(scope="module")
def two():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 2))
    return X, np.where(X[:, 0] + rng.normal(size=600) > 0.8, "yes", "no")


def test_bins_are_scikit_learns_and_their_intervals_wilsons_all_at_once():
    said, came = said_and_true(500, np.random.default_rng(0))
    found = reliability(said, came, np.ones(500))
    true, mean = calibration_curve(came, said, n_bins=10)
    np.testing.assert_allclose([one.said for one in found.bins], mean)
    np.testing.assert_allclose([one.came_true for one in found.bins], true)
    for one in found.bins:
        assert (one.low, one.high) == pytest.approx(wilson(one.came_true, one.count, 2.8070337683438))  # 1 − 0.05/10/2
    counts = [one.count for one in found.bins]
    assert found.mean_gap == pytest.approx(np.average(np.abs(mean - true), weights=counts))


def test_weights_are_so_many_rows():
    rng = np.random.default_rng(0)
    said, came = said_and_true(300, rng)
    weight = rng.integers(0, 4, 300)
    rows = np.repeat(np.arange(300), weight)
    one = reliability(said, came, weight.astype(float))
    other = reliability(said[rows], came[rows], np.ones(len(rows)))
    assert [a.came_true for a in one.bins] == pytest.approx([b.came_true for b in other.bins])
    assert one.mean_gap == pytest.approx(other.mean_gap)
    assert all(a.low <= b.low for a, b in zip(one.bins, other.bins, strict=True))  # which tell less than so many others


def test_honest_probabilities_are_seldom_called_off_and_others_nearly_always():
    rng = np.random.default_rng(0)
    draws = [(200, 1000, 5000)[k % 3] for k in range(600)]
    honest = [any(one.is_off for one in reliability(*said_and_true(n, rng), np.ones(n)).bins) for n in draws]
    assert np.mean(honest) <= 0.05
    bold = [reliability(*said_and_true(2000, rng, lambda p: 0.5 + 0.6 * (p - 0.5)), np.ones(2000)) for _ in range(100)]
    assert np.mean([one.is_off for one in bold]) > 0.95


def test_little_is_not_worth_a_fit():
    said = np.full(1_000_000, 0.5)
    found = reliability(said, np.arange(1_000_000) < 495_000, np.ones(1_000_000))
    assert found.bins[0].is_off
    assert not found.is_off
    assert found.advice == ""


@pytest.mark.parametrize("weighted", [False, True])
def test_brier_score_and_log_loss_of_two_classes(two, weighted):
    X, y = two
    weight = np.arange(len(y)) % 3 + 1.0 if weighted else None
    model = calibrate(LinearSVC().fit(X, y), X, y)
    measured = evaluate(model, X, y, sample_weight=weight).measures["brier"]
    expected = brier_score_loss(y, model.predict_proba(X)[:, 1], sample_weight=weight, pos_label="yes")
    assert measured.value == pytest.approx(expected)
    assert measured.low < expected < measured.high
    assert "brier" not in evaluate(LinearSVC().fit(X, y), X, y).measures
    assert evaluate(LinearSVC().fit(X, y), X, y).reliability is None


def test_brier_score_of_three_classes():
    pytest.importorskip("sklearn", "1.7", "of old it has this score of two classes alone")
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(C=0.1).fit(X, y)
    found = evaluate(model, X, y)
    assert found.measures["brier"].value == pytest.approx(brier_score_loss(y, model.predict_proba(X)))
    assert found.reliability.of is None
    assert sum(one.count for one in found.reliability.bins) == len(y)


def test_recalibration_is_offered_where_probabilities_are_off(two):
    X, y = two
    off = LogisticRegression(class_weight={"yes": 9.0, "no": 1.0}).fit(X, y)
    for model, advised in ((off, True), (calibrate(off, X, y, "prior"), False)):
        found = evaluate(model, X, y)
        assert bool(found.reliability.advice) == advised
        assert evaluation_record(found)["reliability"]["is_off"] == advised
        told, page = evaluation_text(found), render(compute(model, X, y))
        for text in (told, page):
            assert ("fit --calibrate sigmoid" in text) == advised
        assert "Brier score" in told
        assert "Brier score" in page
    assert "probability of yes" in told
    assert "the log odds of the fit without the weights of the classes" in page
    assert "probabilities are off by 0." in evaluate(off, X, y).reliability.advice


def test_what_is_off_is_seen_to_be_in_the_digits_that_are_printed():
    """Of 529 rows, 28 came true: from 0.03176 on, which 0.0317 and 0.0318 or 0.032 do not tell from 0.03175."""
    n, hits = 529, 28
    low, _ = wilson(hits / n, n)
    found = reliability(np.full(n, low - 2e-6), np.arange(n) < hits, np.ones(n))
    (one,) = found.bins
    assert one.is_off
    said, low, high = (float(f"{number:.{one.digits}f}") for number in (one.said, one.low, one.high))
    assert said < low < high
    printed = found.advice.split("said with ")[1].split(",")[0]
    assert float(printed) < float(found.advice.split("[")[1].split(",")[0])


def test_the_advice_is_no_method_that_was_used_already(two):
    X, y = two
    turned = np.where(y == "yes", "no", "yes")  # what neither way of calibrating can have foreseen
    either = "it followed the rows of the fit too closely, which sigmoid does less, or these rows are unlike those"
    for method, other in (("sigmoid", "isotonic follows scores more closely"), ("isotonic", either)):
        advice = evaluate(calibrate(LinearSVC().fit(X, y), X, y, method), X, turned).reliability.advice
        assert f"they are by --calibrate {method}" in advice
        assert other in advice
        assert "learns better ones" not in advice


def test_of_several_classes_what_is_said_need_not_be_the_likeliest():
    X, y = load_iris(return_X_y=True)
    X, y = X[20:, :2], y[20:]
    model = calibrate(LogisticRegression(class_weight={0: 1.0, 1: 1.0, 2: 9.0}).fit(X, y), X, y)
    assert (model.predict_proba(X).argmax(axis=1) != model.predict(X)).any()
    said = "the class with its highest score, which need not be the one with the highest probability"
    assert said in render(compute(model, X, y))
    assert said not in render(compute(LogisticRegression().fit(X, y), X, y))
