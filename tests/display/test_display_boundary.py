"""What is drawn of a boundary, against the numbers of the plane."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import sklearn.svm
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from linsep import HardMarginSVC, LinearSVC, LogisticRegression, geometry
from linsep.display import BoundaryDisplay, MarginHistogramDisplay, MistakesDisplay
from linsep.display._view import borders, box_around, clip_line, regions

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal([0, 0], 1, (25, 2)), RNG.normal([2.5, 2], 1, (25, 2))])
Y = np.repeat([-1, 1], 25)
IRIS = load_iris()


def g(model, points, k=0):
    return points @ model.coef_[k] + model.intercept_[k]


def test_boundary_and_margins_are_where_the_plane_says():
    model = LinearSVC(C=1.0).fit(X, Y)
    display = BoundaryDisplay.from_estimator(model, X, Y)
    (boundary,) = display.boundary_
    np.testing.assert_allclose(g(model, boundary.get_xydata()), 0, atol=1e-12)
    for line, level in zip(display.margin_lines_, (-1, 1), strict=True):
        np.testing.assert_allclose(g(model, line.get_xydata()), level, atol=1e-12)
    box = np.array([display.ax_.get_xlim(), display.ax_.get_ylim()]).T
    assert (box[0] <= X).all()
    assert (box[1] >= X).all()
    for end in boundary.get_xydata():  # the line runs from border to border
        assert np.isclose(end, box).any()


def test_a_picture_goes_as_far_as_asked_for():
    model = LinearSVC(C=1.0).fit(X, Y)
    display = BoundaryDisplay.from_estimator(model, X, Y, x_limits=(-20, 20), y_limits=(-30, 30))
    assert (display.ax_.get_xlim(), display.ax_.get_ylim()) == ((-20, 20), (-30, 30))
    (boundary,) = display.boundary_
    ends = boundary.get_xydata()
    np.testing.assert_allclose(g(model, ends), 0, atol=1e-10)
    assert np.isclose(np.abs(ends), [20, 30]).any(axis=1).all()
    shaded = [patch.get_xy() for patch in display.ax_.patches]
    area = sum(abs(np.sum(p[:, 0] * np.roll(p[:, 1], 1) - p[:, 1] * np.roll(p[:, 0], 1))) / 2 for p in shaded)
    assert area == pytest.approx(40 * 60), "the tint covers the whole picture"


@pytest.mark.parametrize("limits", [(1, 1), (2, -2), (np.nan, 1)])
def test_limits_the_wrong_way_round_are_refused(limits):
    model = LinearSVC(C=1.0).fit(X, Y)
    with pytest.raises(ValueError, match=r"y_limits=.* must be two numbers, the smaller one first"):
        BoundaryDisplay.from_estimator(model, X, Y, y_limits=limits)


def test_support_vectors_and_slacks_are_the_models():
    model = LinearSVC(C=1.0).fit(X, Y)
    display = BoundaryDisplay.from_estimator(model, X, Y)
    np.testing.assert_array_equal(display.support_marks_.get_offsets(), model.support_vectors_)
    short = model.slack_ > 1e-3
    segments = np.array(display.slack_lines_.get_segments())
    np.testing.assert_allclose(segments[:, 0], X[short])
    lengths = np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1)
    np.testing.assert_allclose(lengths, model.slack_[short] / np.linalg.norm(model.coef_), rtol=1e-9)
    np.testing.assert_allclose(Y[short] * g(model, segments[:, 1]), 1, atol=1e-9)
    (label,) = (t.get_text() for t in display.ax_.get_legend().get_texts() if "support" in t.get_text())
    assert label == f"support vector ({len(model.support_)})"


def test_scikit_learns_support_vectors_are_marked_too():
    model = sklearn.svm.SVC(kernel="linear").fit(X, Y)
    display = BoundaryDisplay.from_estimator(model, X, Y)
    np.testing.assert_array_equal(np.sort(display.support), np.sort(model.support_))


def test_on_other_data_the_support_is_what_lies_up_to_the_margin():
    model = LinearSVC().fit(X, Y)
    new = X + np.array([0.3, -0.2])
    display = BoundaryDisplay.from_estimator(model, new, Y)
    np.testing.assert_array_equal(display.support, np.flatnonzero(Y * g(model, new) <= 1 + 1e-3))
    liblinear = sklearn.svm.LinearSVC().fit(X, Y)  # keeps no support vectors
    display = BoundaryDisplay.from_estimator(liblinear, X, Y)
    np.testing.assert_array_equal(display.support, np.flatnonzero(Y * liblinear.decision_function(X) <= 1 + 1e-3))


def test_models_without_margin_show_none_unless_asked():
    model = LogisticRegression().fit(X, Y)
    assert BoundaryDisplay.from_estimator(model, X, Y).margin_lines_ == []
    asked = BoundaryDisplay.from_estimator(model, X, Y, margins=True)
    assert len(asked.margin_lines_) == 2
    assert asked.support_marks_ is not None
    assert BoundaryDisplay.from_estimator(LinearSVC().fit(X, Y), X, Y, margins=False).support_marks_ is None


def test_more_features_keep_their_distance_from_the_plane():
    data = load_breast_cancer()
    pipeline = make_pipeline(StandardScaler(), LinearSVC(C=0.1)).fit(data.data, data.target)
    display = BoundaryDisplay.from_estimator(pipeline, data.data, data.target)
    svc, scaled = pipeline[-1], pipeline[:-1].transform(data.data)
    length = np.linalg.norm(svc.coef_)
    np.testing.assert_allclose(display.points[:, 0], geometry.signed_distance(scaled, svc.coef_[0], svc.intercept_[0]))
    np.testing.assert_allclose(display.boundary_[0].get_xdata(), 0, atol=1e-12)
    for line, side in zip(display.margin_lines_, (-1, 1), strict=True):
        np.testing.assert_allclose(line.get_xdata(), side / length)
    # The other axis: the first principal component of what is left after the normal is taken out.
    normal = svc.coef_[0] / length
    rest = scaled - np.outer(scaled @ normal, normal)
    largest = np.linalg.svd(rest - rest.mean(axis=0), compute_uv=False)[0] ** 2 / len(rest)
    assert display.points[:, 1].var() == pytest.approx(largest, rel=1e-6)


@pytest.mark.parametrize("n", [2, 9])
def test_fewer_examples_than_features(n):
    data, labels = RNG.standard_normal((n, 12)), np.arange(n) % 2
    model = LinearSVC().fit(data, labels)
    points = BoundaryDisplay.from_estimator(model, data, labels).points
    rest = data - np.outer(data @ model.coef_[0], model.coef_[0]) / (model.coef_[0] @ model.coef_[0])
    largest = np.linalg.svd(rest - rest.mean(axis=0), compute_uv=False)[0] ** 2 / n
    assert points[:, 1].var() == pytest.approx(largest, rel=1e-6, abs=1e-12)


def test_three_classes_in_two_features():
    points = IRIS.data[:, 2:]
    model = LogisticRegression().fit(points, IRIS.target)
    display = BoundaryDisplay.from_estimator(model, points, IRIS.target)
    assert [t.get_text() for t in display.ax_.get_legend().get_texts()] == ["border", "0", "1", "2"]
    assert len(display.boundary_) == 2
    for line in display.boundary_:  # two classes tie on a border, and the third is below
        scores = np.sort(model.decision_function(line.get_xydata().mean(axis=0)[None])[0])
        assert scores[2] == pytest.approx(scores[1], abs=1e-9)
        assert scores[0] < scores[1]


def test_three_classes_in_many_features_keep_their_borders():
    wine = load_wine()
    data = StandardScaler().fit_transform(wine.data)
    model = LogisticRegression().fit(data, wine.target)
    display = BoundaryDisplay.from_estimator(model, data, wine.target)
    drawn = (display.points @ display.normals.T + display.offsets).argmax(axis=1)
    np.testing.assert_array_equal(drawn, model.predict(data))
    assert display.note == ""


def test_one_class_against_the_rest():
    points = IRIS.data[:, 2:]
    model = LinearSVC().fit(points, IRIS.target)
    display = BoundaryDisplay.from_estimator(model, points, IRIS.target, target=2)
    np.testing.assert_allclose(g(model, display.boundary_[0].get_xydata(), 2), 0, atol=1e-12)
    assert display.classes == ["the rest", 2]
    np.testing.assert_array_equal(display.support, model.support_[model.dual_coef_[2] != 0])
    hard = HardMarginSVC(on_overlap="soft")
    with pytest.warns(UserWarning, match="not"):
        hard.fit(points, IRIS.target)
    np.testing.assert_array_equal(
        BoundaryDisplay.from_estimator(hard, points, IRIS.target, target=0).support, hard.support_[0]
    )


def test_the_distance_from_the_origin_is_drawn():
    model = LogisticRegression().fit(X, Y)
    _, ax = plt.subplots()
    display = BoundaryDisplay.from_estimator(model, X, Y, normal=True, ax=ax)
    ends = display.distance_line_.get_xydata()
    assert np.linalg.norm(ends[1] - ends[0]) == pytest.approx(
        geometry.distance_from_origin(model.coef_[0], model.intercept_[0])
    )
    assert g(model, ends[1]) == pytest.approx(0, abs=1e-9)


def test_a_boundary_outside_the_picture_is_said_in_words():
    model = LogisticRegression().fit(X, Y)
    few = Y < 0
    few[few] = X[few][:, 0] < -0.5
    display = BoundaryDisplay.from_estimator(model, X[few], Y[few])
    assert display.boundary_ == []
    assert display.ax_.get_title() == "the boundary is outside the picture"


def test_what_cannot_be_drawn_is_refused():
    one = LinearSVC().fit(X[:, :1], Y)
    with pytest.raises(ValueError, match="one feature, and its boundary is a point; use MarginHistogramDisplay"):
        BoundaryDisplay.from_estimator(one, X[:, :1], Y)
    model = LinearSVC().fit(IRIS.data, IRIS.target)
    with pytest.raises(ValueError, match=r"target=7 is not one of the classes \[0, 1, 2\]"):
        BoundaryDisplay.from_estimator(model, IRIS.data, IRIS.target, target=7)
    with pytest.raises(ValueError, match="margins=True needs one plane"):
        BoundaryDisplay.from_estimator(model, IRIS.data, IRIS.target, margins=True)
    with pytest.raises(ValueError, match="there is one plane, that of 1"):
        BoundaryDisplay.from_estimator(LinearSVC().fit(X, Y), X, Y, target=-1)
    flat = LogisticRegression(C=1e-9, l1_ratio=1.0).fit(IRIS.data, IRIS.target == 0)
    with pytest.raises(ValueError, match="all weights are zero"):
        BoundaryDisplay.from_estimator(flat, IRIS.data, IRIS.target == 0)


# -- lines and half-planes in a box -------------------------------------------------------------------------------

NUMBERS = st.floats(-3, 3, allow_nan=False).map(lambda v: round(v, 3))
BOX = np.array([-2.0, -1.0]), np.array([2.0, 3.0])


@given(arrays.arrays(float, (4, 2), elements=NUMBERS), arrays.arrays(float, 4, elements=NUMBERS))
@settings(max_examples=60)
def test_regions_are_where_each_class_scores_highest(A, c):
    inside = RNG.uniform(*BOX, (50, 2))
    area = 0.0
    for k, polygon in enumerate(regions(A, c, BOX)):
        if len(polygon) < 3:
            continue
        x, y = polygon.T
        area += abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2
        scores = polygon @ A.T + c
        assert (scores[:, k] >= scores.max(axis=1) - 1e-9).all()
    assert len(inside)
    if len(np.unique(np.column_stack([A, c]), axis=0)) == 4:  # no two classes tie everywhere
        assert area == pytest.approx(16.0, rel=1e-6)


@given(arrays.arrays(float, (4, 2), elements=NUMBERS), arrays.arrays(float, 4, elements=NUMBERS))
@settings(max_examples=60)
def test_on_a_border_two_classes_tie_and_no_other_is_above(A, c):
    for segment in borders(A, c, BOX):
        scores = np.sort(segment.mean(axis=0) @ A.T + c)
        assert scores[-1] == pytest.approx(scores[-2], abs=1e-9)
        assert (segment >= BOX[0] - 1e-9).all()
        assert (segment <= BOX[1] + 1e-9).all()


def test_a_line_beside_the_box_has_no_ends_in_it():
    assert clip_line(np.array([1.0, 0.0]), -5.0, BOX).shape == (0, 2)
    assert clip_line(np.array([1.0, 0.0]), -1.0, BOX).tolist() == [[1.0, -1.0], [1.0, 3.0]]
    low, high = box_around(np.array([[1.0, 2.0]]))
    assert (low < high).all()


def test_the_boundary_of_a_model_with_a_threshold_is_where_its_prediction_changes():
    model = LinearSVC(C=1.0).fit(X, Y)
    model.threshold_ = -0.7
    display = BoundaryDisplay.from_estimator(model, X, Y)
    (boundary,) = display.boundary_
    np.testing.assert_allclose(g(model, boundary.get_xydata()), -0.7, atol=1e-12)
    assert boundary.get_label() == "g(x) = -0.7"
    step = 1e-6 * model.coef_[0]
    for point in boundary.get_xydata():
        assert model.predict([point - step, point + step]).tolist() == [-1, 1]
    for line, level in zip(display.margin_lines_, (-1, 1), strict=True):  # those of the fit, wherever it is cut
        np.testing.assert_allclose(g(model, line.get_xydata()), level, atol=1e-12)


@pytest.mark.parametrize("side", [-1, 1])
def test_mistakes_of_a_model_with_a_threshold_are_those_of_its_predictions(side):
    model = LinearSVC(C=1.0).fit(X, Y)
    model.threshold_ = float(np.sort(model.decision_function(X[side == Y]))[9:11].mean())
    wrong = int((model.predict(X) != Y).sum())
    assert wrong != int(((model.decision_function(X) > 0) != (Y == 1)).sum())
    margins = MarginHistogramDisplay.from_estimator(model, X, Y)
    assert margins.mistakes_ == wrong
    assert f"{abs(model.threshold_):.4g}" in margins.ax_.get_xlabel()
    worst = MistakesDisplay.from_estimator(model, X, Y, shape=(1, 2))
    assert worst.n_mistakes == wrong
