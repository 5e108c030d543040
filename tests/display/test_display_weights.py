"""Weights, images, mistakes, margins, paths and outliers: what is drawn, against the numbers."""

import numpy as np
import pytest
import sklearn.linear_model as skl
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from linsep import HardMarginSVC, LinearSVC, LogisticRegression, Perceptron, palette, regularization_path
from linsep.display import (
    MarginHistogramDisplay,
    MistakesDisplay,
    OutlierDisplay,
    RegularizationPathDisplay,
    WeightImageDisplay,
    WeightsDisplay,
)

IRIS = load_iris(as_frame=True)
DIGITS = load_digits()
CANCER = load_breast_cancer(as_frame=True)
RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal([0, 0], 1, (20, 2)), RNG.normal([2.5, 2], 1, (20, 2))])
Y = np.repeat([-1, 1], 20)


# -- weights ------------------------------------------------------------------------------------------------------


def test_m22_bars_are_the_weights_the_most_important_first():
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(CANCER.data, CANCER.target)
    display = WeightsDisplay.from_estimator(model, top=7)
    w = model[-1].coef_[0]
    ranked = np.argsort(-np.abs(w))[:7]
    np.testing.assert_allclose([bar.get_width() for bar in display.bars_[0]], w[ranked])
    labels = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert labels == [CANCER.data.columns[j] for j in ranked]
    heights = [bar.get_y() for bar in display.bars_[0]]
    assert heights == sorted(heights, reverse=True)  # the first is on top
    assert display.ax_.get_title() == "speaks for 1 (+) or 0 (−)\n23 smaller ones not shown"


def test_m22_the_sign_is_the_direction():
    display = WeightsDisplay.from_estimator(LinearSVC().fit(X, Y))
    colours = {
        bar.get_facecolor() for bar, weight in zip(display.bars_[0], display.weights[0], strict=True) if weight > 0
    }
    assert len(colours) == 1
    flipped = WeightsDisplay.from_estimator(LinearSVC().fit(X, -Y))
    assert {bar.get_facecolor() for bar in flipped.bars_[0]}.isdisjoint(colours)
    assert display.titles == flipped.titles == ["speaks for 1 (+) or -1 (−)"]


def test_m22_each_class_has_a_panel_or_one_is_asked_for():
    model = LogisticRegression().fit(IRIS.data, IRIS.target)
    display = WeightsDisplay.from_estimator(model)
    assert display.ax_.shape == (1, 3)
    one = WeightsDisplay.from_estimator(model, target=2)
    np.testing.assert_array_equal(one.weights[0], display.weights[2])
    np.testing.assert_allclose(np.sort(one.weights[0]), np.sort(model.coef_[2]))
    with pytest.raises(ValueError, match="top=0 must be at least 1"):
        WeightsDisplay.from_estimator(model, top=0)


def test_m22_many_classes_fill_a_grid():
    model = LogisticRegression(C=0.001).fit(DIGITS.data[:300], DIGITS.target[:300])
    display = WeightsDisplay.from_estimator(model, top=3)
    assert display.ax_.shape == (4, 3)
    assert [ax.axison for ax in display.ax_.ravel()] == [True] * 10 + [False] * 2
    assert len(display.bars_) == 10


@pytest.mark.parametrize("thin", [False, True], ids=["dense", "sparse"])
def test_m22_data_put_weights_on_one_scale(thin):
    data = sparse.csr_array(CANCER.data.to_numpy()) if thin else CANCER.data.to_numpy()
    model = skl.RidgeClassifier().fit(data, CANCER.target)
    display = WeightsDisplay.from_estimator(model, data, top=30, feature_names=CANCER.data.columns)
    expected = np.abs(model.coef_.ravel() * CANCER.data.to_numpy().std(axis=0))
    np.testing.assert_allclose(np.abs(display.weights[0]), np.sort(expected)[::-1], rtol=1e-6)
    assert display.ax_.get_xlabel() == "weight × standard deviation"


def test_weights_become_images_on_one_scale():
    model = LogisticRegression(C=0.001).fit(DIGITS.data[:300], DIGITS.target[:300])
    display = WeightImageDisplay.from_estimator(model)
    assert len(display.images_) == 10
    for k, image in enumerate(display.images_):
        np.testing.assert_array_equal(image.get_array(), model.coef_[k].reshape(8, 8))
        assert image.get_clim() == pytest.approx((-np.abs(model.coef_).max(), np.abs(model.coef_).max()))
    wide = WeightImageDisplay.from_estimator(model, shape=(4, 16), target=3)
    np.testing.assert_array_equal(wide.images[0], model.coef_[3].reshape(4, 16))


@pytest.mark.parametrize("shape", [(8, 9), (64,), (-8, -8)])
def test_a_wrong_shape_of_images_is_refused(shape):
    model = Perceptron(max_iter=1000).fit(DIGITS.data[:200], DIGITS.target[:200] == 0)
    with pytest.raises(ValueError, match="not as many pixels as the model has features, 64"):
        WeightImageDisplay.from_estimator(model, shape=shape)
    with pytest.raises(ValueError, match="30 features make no square image; pass shape"):
        WeightImageDisplay.from_estimator(skl.RidgeClassifier().fit(CANCER.data, CANCER.target))


# -- mistakes -----------------------------------------------------------------------------------------------------


def test_the_gallery_shows_the_worst_first():
    model = LogisticRegression(C=0.001).fit(DIGITS.data[:300], DIGITS.target[:300])
    display = MistakesDisplay.from_estimator(model, DIGITS.data, DIGITS.target, top=5)
    predicted, scores = model.predict(DIGITS.data), model.decision_function(DIGITS.data)
    wrong = np.flatnonzero(predicted != DIGITS.target)
    by_how_much = {int(i): scores[i].max() - scores[i, DIGITS.target[i]] for i in wrong}
    assert display.n_mistakes == len(wrong)
    assert display.rows.tolist() == sorted(by_how_much, key=by_how_much.get, reverse=True)[:5]
    for panel, row in zip(display.ax_.ravel(), display.rows, strict=False):
        np.testing.assert_array_equal(panel.images[0].get_array(), DIGITS.images[row])
        assert panel.get_title() == f"{DIGITS.target[row]} taken for {predicted[row]}"
    again = MistakesDisplay.from_predictions(DIGITS.data, DIGITS.target, scores, top=5)
    np.testing.assert_array_equal(again.rows, display.rows)


def test_no_mistakes_are_said_in_words():
    display = MistakesDisplay.from_predictions(np.eye(4), [0, 0, 1, 1], [-1.0, -2.0, 1.0, 2.0])
    assert [text.get_text() for text in display.ax_.texts] == ["no mistakes among 4 examples"]
    with pytest.raises(ValueError, match="3 classes and scores 1 columns"):
        MistakesDisplay.from_predictions(np.eye(4), [0, 1, 2, 2], [-1.0, -2.0, 1.0, 2.0])


# -- margins ------------------------------------------------------------------------------------------------------


def test_the_histogram_counts_every_example_once_and_mistakes_left_of_zero():
    model = LinearSVC().fit(X, Y)
    display = MarginHistogramDisplay.from_estimator(model, X, Y)
    z = Y * model.decision_function(X)
    assert display.counts_.sum(axis=1).tolist() == [20, 20]
    assert display.mistakes_ == (z <= 0).sum()
    left = display.edges_[:-1] < 0
    assert 0.0 in display.edges_
    assert display.counts_[:, left].sum() == (z < 0).sum()
    assert sum(bar.get_height() for bar in display.ax_.patches) == len(Y)
    assert f"{display.mistakes_} of 40" in display.ax_.get_title()


def test_distances_are_margins_over_the_length_of_w():
    model = LinearSVC().fit(X, Y)
    functional, geometric = (MarginHistogramDisplay.from_estimator(model, X, Y, geometric=g) for g in (False, True))
    np.testing.assert_allclose(geometric.agreement * np.linalg.norm(model.coef_), functional.agreement)
    many = LinearSVC().fit(IRIS.data, IRIS.target)
    display = MarginHistogramDisplay.from_estimator(many, IRIS.data, IRIS.target)
    assert display.mistakes_ == (many.predict(IRIS.data) != IRIS.target).sum()
    with pytest.raises(ValueError, match="geometric=True is for two classes"):
        MarginHistogramDisplay.from_estimator(many, IRIS.data, IRIS.target, geometric=True)
    with pytest.raises(ValueError, match="2 classes and scores 3 columns"):
        MarginHistogramDisplay.from_predictions([0, 1], np.zeros((2, 3)))


# -- paths --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator", [LogisticRegression(tol=1e-9), skl.LogisticRegression(tol=1e-10)], ids=["linsep", "sklearn"]
)
def test_the_path_is_that_of_separate_fits(estimator):
    Cs = [1.0, 0.01, 0.1]
    y = IRIS.target == 1
    display = RegularizationPathDisplay.from_estimator(estimator, IRIS.data, y, Cs=Cs)
    np.testing.assert_array_equal(display.Cs, sorted(Cs))
    for C, weights in zip(display.Cs, display.weights, strict=True):
        alone = skl.LogisticRegression(C=C, solver="newton-cholesky", tol=1e-10).fit(IRIS.data, y)
        np.testing.assert_allclose(weights, alone.coef_[0], atol=1e-4)
    for j, name in enumerate(IRIS.data.columns):
        np.testing.assert_array_equal(display.lines_[name].get_ydata(), display.weights[:, j])
    assert display.C == 1.0
    assert not hasattr(estimator, "coef_")


def test_an_l1_path_through_a_pipeline_begins_with_nothing():
    model = make_pipeline(StandardScaler(), LogisticRegression(l1_ratio=1.0))
    display = RegularizationPathDisplay.from_estimator(model, CANCER.data, CANCER.target, Cs=np.logspace(-3, 0, 6))
    in_use = (display.weights != 0).sum(axis=1)
    assert in_use[0] == 0
    assert 0 < in_use[2] < in_use[-1] < 30
    assert display.names == list(CANCER.data.columns)
    with pytest.raises(TypeError, match="Perceptron has no parameter C"):
        RegularizationPathDisplay.from_estimator(Perceptron(), X, Y)
    with pytest.raises(ValueError, match="two different positive numbers"):
        RegularizationPathDisplay.from_estimator(LogisticRegression(), X, Y, Cs=[1.0])
    with pytest.raises(ValueError, match="target=None is not one of the classes"):
        RegularizationPathDisplay.from_estimator(LogisticRegression(), IRIS.data, IRIS.target, Cs=[0.1, 1.0])


# -- outliers -----------------------------------------------------------------------------------------------------


def test_m17_very_correct_points_hurt_least_squares_and_not_logistic_regression():
    rng = np.random.default_rng(3)
    spread = [[1.0, 0.8], [0.8, 1.0]]
    data = np.vstack([rng.multivariate_normal([-1, 1], spread, 40), rng.multivariate_normal([1, -1], spread, 40)])
    labels = np.repeat([0, 1], 40)
    far = rng.normal([7, -6], 0.6, (12, 2))
    display = OutlierDisplay.from_data(data, labels, far, [1] * 12)
    assert display.turned["least squares"] > 15
    assert display.turned["logistic"] < 1
    before, after = display.mistakes["least squares"]
    assert after > before
    assert display.mistakes["logistic"][0] == display.mistakes["logistic"][1]
    # What is drawn: the plane of the normal equations, with and without.
    for panel, (rows, y) in enumerate([(data, labels), (np.vstack([data, far]), np.append(labels, [1] * 12))]):
        w = np.linalg.lstsq(np.column_stack([rows, np.ones(len(rows))]), 2.0 * y - 1, rcond=None)[0]
        ends = display.lines_[panel]["least squares"].get_xydata()
        np.testing.assert_allclose(ends @ w[:2] + w[2], 0, atol=1e-9)
    said = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert said[:3] == ["0", "1", "12 extra points"]
    assert said[3:5] == [f"least squares {words}: {k} mistakes" for words, k in (("without", before), ("with", after))]
    colours = {name: {lines[name].get_color() for lines in display.lines_} for name in display.turned}
    places = {"least squares": palette.LOSSES["square"], "logistic": palette.LOSSES["logistic"]}
    assert colours == {name: {palette.LIGHT.series[place]} for name, place in places.items()}
    # Boundaries that are the same are all seen: dashes lie above, each in the gaps of the other.
    dashed, solid = ([lines[name] for name in display.turned] for lines in display.lines_)
    assert min(line.zorder for line in dashed) > max(line.zorder for line in solid)
    assert len({line._dash_pattern[0] for line in dashed}) == len(dashed)


def test_m14_one_outlier_turns_the_hard_margin():
    apart = X + np.where(Y > 0, 3.0, 0.0)[:, None]
    models = {"hard": HardMarginSVC(), "soft": LinearSVC(C=0.01)}
    display = OutlierDisplay.from_data(apart, Y, [[3.0, 0.0]], [1], estimators=models)
    assert display.turned["hard"] > 2 * display.turned["soft"]
    alone = HardMarginSVC().fit(apart, Y)
    np.testing.assert_allclose(display.without["hard"], [*alone.coef_[0], *alone.intercept_])


def test_outliers_are_of_two_features_and_two_classes():
    with pytest.raises(ValueError, match="X has 4 columns and extra_X 2"):
        OutlierDisplay.from_data(IRIS.data, IRIS.target, [[0, 0]], [1])
    with pytest.raises(ValueError, match="y has 3 classes"):
        OutlierDisplay.from_data(IRIS.data.iloc[:, :2], IRIS.target, [[0, 0]], [1])
    with pytest.raises(ValueError, match=r"extra_y\[0\] is 5, which is not one of the classes"):
        OutlierDisplay.from_data(X, Y, [[0, 0]], [5])


@pytest.mark.parametrize("plane", [0, 2])
def test_a_certified_path_is_drawn_as_it_was_found(plane):
    path = regularization_path(IRIS.data, IRIS.target, LogisticRegression(multi_class="ovr"), C_max=1.0, tol=0.1)
    display = RegularizationPathDisplay.from_path(path, plane=plane, feature_names=IRIS.feature_names)
    for j, name in enumerate(IRIS.feature_names):
        line = display.lines_[name]
        np.testing.assert_array_equal(line.get_xdata(), path.Cs)
        np.testing.assert_array_equal(line.get_ydata(), [model.coef_[plane, j] for model in path.models])
    assert "within 0.1 of the optimum at every C" in line.axes.get_title()
