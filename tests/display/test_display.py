"""What all displays share: they read any linear classifier, refuse others with reasons, and stay readable."""

import builtins
import functools
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
import sklearn.linear_model as skl
from matplotlib.colors import to_hex
from matplotlib.text import Text
from scipy import sparse
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from linsep import LinearClassifier, LinearSVC, LogisticRegression, Perceptron, SGDClassifier, display, palette
from linsep.analysis.agreement import agreements
from linsep.display._model import read
from linsep.solvers import GradientDescent

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal([0, 0], 1, (25, 2)), RNG.normal([2.5, 2], 1, (25, 2))])
Y = np.repeat(["no", "yes"], 25)
IRIS = load_iris(as_frame=True)
DIGITS = load_digits()
FEW = slice(0, 300)


@functools.cache
def digits_model():
    return LogisticRegression(C=0.001).fit(DIGITS.data[FEW], DIGITS.target[FEW])


@functools.cache
def iris_model():
    return LogisticRegression().fit(IRIS.data, IRIS.target)


@functools.cache
def descended():
    return LinearClassifier("logistic", tol=0.01, solver=GradientDescent(record="update")).fit(X, Y)


def surface(**kind):
    return display.RiskSurfaceDisplay.from_estimator(descended(), X, Y, resolution=15, **kind)


PICTURES = {
    "boundary": lambda: display.BoundaryDisplay.from_estimator(LinearSVC().fit(X, Y), X, Y, normal=True, title="SVM"),
    "boundary of three": lambda: display.BoundaryDisplay.from_estimator(iris_model(), IRIS.data, IRIS.target),
    "losses": lambda: display.LossDisplay.from_losses(title="Losses"),
    "surface": surface,
    "landscape": lambda: surface(kind="surface"),
    "convergence": lambda: display.ConvergenceDisplay.from_estimator(SGDClassifier(random_state=0).fit(X, Y)),
    "step sizes": lambda: display.StepSizeDisplay.from_estimator(
        LinearClassifier("logistic", solver=GradientDescent(max_iter=30)), X, Y
    ),
    "margins": lambda: display.MarginHistogramDisplay.from_estimator(LinearSVC().fit(X, Y), X, Y),
    "margins of ten": lambda: display.MarginHistogramDisplay.from_estimator(
        digits_model(), DIGITS.data[FEW], DIGITS.target[FEW]
    ),
    "weights": lambda: display.WeightsDisplay.from_estimator(iris_model()),
    "weight images": lambda: display.WeightImageDisplay.from_estimator(digits_model()),
    "mistakes": lambda: display.MistakesDisplay.from_estimator(digits_model(), DIGITS.data, DIGITS.target, top=4),
    "path": lambda: display.RegularizationPathDisplay.from_estimator(
        LogisticRegression(), IRIS.data, IRIS.target == 1, Cs=[0.01, 0.1, 1]
    ),
    "novikoff": lambda: display.NovikoffDisplay.from_estimator(
        Perceptron(order="cyclic", record="update").fit(IRIS.data, IRIS.target == 0)
    ),
    "outliers": lambda: display.OutlierDisplay.from_data(X, Y, [[9.0, -4.0]], ["yes"]),
}


@pytest.mark.parametrize("style", ["default", "dark_background"])
@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_is_readable_and_whole(name, style):
    with plt.style.context(style):
        figure = PICTURES[name]().figure_
        if style == "default":  # the lay-out is the same
            figure.draw_without_rendering()
        paper = to_hex(figure.get_facecolor())
        said = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
        assert said
        for text in said:
            assert palette.contrast(to_hex(text.get_color()), paper) >= 4.5, text
        if style != "default":
            return
        width, height = figure.canvas.get_width_height()
        titles = [ax.title for ax in figure.axes] + [ax.xaxis.label for ax in figure.axes if ax.axison]
        for text in [t for t in titles if t.get_text()]:
            box = text.get_window_extent()
            assert box.x0 >= -1, text
            assert box.y0 >= -1, text
            assert box.x1 <= width + 1, text
            assert box.y1 <= height + 1, text


@pytest.mark.parametrize("name", display.__all__)
def test_every_display_draws_on_given_axes_again(name):
    key = {
        "BoundaryDisplay": "boundary",
        "ConvergenceDisplay": "convergence",
        "LossDisplay": "losses",
        "MarginHistogramDisplay": "margins",
        "MistakesDisplay": "mistakes",
        "NovikoffDisplay": "novikoff",
        "OutlierDisplay": "outliers",
        "RegularizationPathDisplay": "path",
        "RiskSurfaceDisplay": "surface",
        "StepSizeDisplay": "step sizes",
        "WeightImageDisplay": "weight images",
        "WeightsDisplay": "weights",
    }[name]
    drawn = PICTURES[key]()
    assert type(drawn).__name__ == name
    panels = np.size(drawn.ax_) if name != "MistakesDisplay" else len(drawn.images)
    figure, axes = plt.subplots(1, panels)
    assert drawn.plot(ax=axes) is drawn
    assert drawn.figure_ is figure
    assert drawn.ax_ is axes
    assert all(ax.has_data() for ax in np.ravel(axes))
    if name != "MistakesDisplay":
        with pytest.raises(ValueError, match=f"draws {panels} panel.* but ax has {panels + 1}"):
            drawn.plot(ax=plt.subplots(1, panels + 1)[1])


# -- reading estimators -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator",
    [
        LinearSVC(),
        LogisticRegression(),
        skl.LogisticRegression(),
        skl.RidgeClassifier(),
        skl.Perceptron(),
        SVC(kernel="linear"),
    ],
    ids=lambda e: f"{type(e).__module__.split('.')[0]} {type(e).__name__}",
)
def test_scores_are_those_of_any_linear_classifier(estimator):
    fitted = estimator.fit(X, Y)
    model = read(fitted)
    np.testing.assert_allclose(model.scores(model.prepare(X))[:, 0], fitted.decision_function(X), atol=1e-12)


def test_pipelines_searches_and_sparse_weights_are_read_through():
    pipeline = make_pipeline(StandardScaler(), skl.LogisticRegression()).fit(IRIS.data, IRIS.target)
    for estimator in (
        pipeline,
        GridSearchCV(pipeline, {"logisticregression__C": [1.0]}, cv=2).fit(IRIS.data, IRIS.target),
    ):
        model = read(estimator)
        np.testing.assert_allclose(
            model.scores(model.prepare(IRIS.data)), estimator.decision_function(IRIS.data), atol=1e-12
        )
        assert model.names == list(IRIS.data.columns)
    thin = skl.LogisticRegression().fit(X, Y)
    dense = read(thin).coef
    np.testing.assert_array_equal(read(thin.sparsify()).coef, dense)


def test_sparse_examples_look_like_dense_ones():
    model = LogisticRegression().fit(DIGITS.data[FEW], DIGITS.target[FEW] == 3)
    dense, thin = (
        display.BoundaryDisplay.from_estimator(model, data, DIGITS.target[FEW] == 3)
        for data in (DIGITS.data[FEW], sparse.csr_array(DIGITS.data[FEW]))
    )
    np.testing.assert_allclose(thin.points, dense.points, atol=1e-6)


def test_agreements_are_negative_exactly_for_mistakes():
    fitted = LogisticRegression(C=0.01).fit(IRIS.data, IRIS.target)
    z = agreements(fitted.decision_function(IRIS.data), IRIS.target.to_numpy())
    np.testing.assert_array_equal(z < 0, fitted.predict(IRIS.data) != IRIS.target)


# -- refusals -----------------------------------------------------------------------------------------------------


def test_without_matplotlib_the_message_names_the_command(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(f"No module named {name!r}")
        return real(name, *args, **kwargs)

    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install 'linsep\[plot\]'"):
        display.LossDisplay.from_losses()


def test_what_is_not_a_fitted_linear_classifier_is_refused():
    with pytest.raises(NotFittedError, match="not fitted"):
        display.BoundaryDisplay.from_estimator(LinearSVC(), X, Y)
    with pytest.raises(NotFittedError, match="not fitted"):
        display.WeightsDisplay.from_estimator(make_pipeline(StandardScaler(), LinearSVC()))
    with pytest.raises(TypeError, match=r"SVC has no coef_"):
        display.WeightsDisplay.from_estimator(SVC(kernel="rbf").fit(X, Y))
    with pytest.raises(TypeError, match=r"Ridge has no classes_"):
        display.WeightsDisplay.from_estimator(skl.Ridge().fit(X, Y == "yes"))
    four = DIGITS.target < 4
    with pytest.raises(ValueError, match="6 planes for 4 classes"):
        display.WeightsDisplay.from_estimator(SVC(kernel="linear").fit(DIGITS.data[four], DIGITS.target[four]))
    of_pairs = SVC(kernel="linear").fit(IRIS.data, IRIS.target)
    with pytest.raises(ValueError, match=r"3 planes for 3 classes, one for each pair of them; use a model with one"):
        display.BoundaryDisplay.from_estimator(of_pairs, IRIS.data, IRIS.target)


@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array, sparse.csc_matrix], ids=["dense", "csr", "csc"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_value_that_has_no_place_in_a_picture_is_named_with_its_row_and_column(bad, to):
    model = LogisticRegression().fit(X, Y)
    wrong = np.where(np.arange(X.size).reshape(X.shape) == 7, bad, X)
    with pytest.raises(ValueError, match=r"X has a NaN or an infinite value in row 3, column 1; leave such rows out"):
        display.MarginHistogramDisplay.from_estimator(model, to(wrong), Y)


@pytest.mark.parametrize("bad", [np.nan, None, 7.5, "seven"])
def test_a_label_that_is_no_class_is_named_with_its_row(bad):
    labels = np.array(Y, dtype=object)
    labels[4] = bad
    model = LogisticRegression().fit(X, Y)
    with pytest.raises(ValueError, match=rf"y\[4\] is {bad!r}, which is not one of the classes .*leave such rows out"):
        display.BoundaryDisplay.from_estimator(model, X, labels)
    with pytest.raises(ValueError, match=rf"extra_y\[0\] is {bad!r}, which is not one of the classes"):
        display.OutlierDisplay.from_data(X, Y, [[9.0, 1.0]], np.array([bad], dtype=object))


FORMULAS = ["$a^{$", "b$", "_$c$"]


@pytest.mark.parametrize(
    "draw",
    [
        lambda data, y: display.BoundaryDisplay.from_estimator(skl.RidgeClassifier().fit(data, y), data, y),
        lambda data, y: display.BoundaryDisplay.from_estimator(
            LinearSVC().fit(data, y), data, y, target=FORMULAS[0], title=FORMULAS[0]
        ),
        lambda data, y: display.MarginHistogramDisplay.from_estimator(LinearSVC().fit(data, y), data, y),
        lambda data, y: display.WeightsDisplay.from_estimator(LinearSVC().fit(data, y)),
        lambda data, y: display.ConvergenceDisplay.from_estimator(LinearSVC().fit(data, y)),
        lambda data, y: display.RiskSurfaceDisplay.from_estimator(
            LogisticRegression().fit(data, y == FORMULAS[0]), data, y == FORMULAS[0], resolution=5
        ),
        lambda data, y: display.RiskSurfaceDisplay.from_estimator(
            LogisticRegression().fit(data, y == FORMULAS[0]), data, y == FORMULAS[0], resolution=5, kind="surface"
        ),
        lambda data, y: display.OutlierDisplay.from_data(
            data.iloc[:100, :2], y[:100], data.iloc[:2, :2], y[:2], title=FORMULAS[0]
        ),
        lambda data, y: display.RegularizationPathDisplay.from_estimator(
            LogisticRegression(), data, y, target=FORMULAS[0], Cs=[0.1, 1.0]
        ),
        lambda data, y: display.MistakesDisplay.from_estimator(
            skl.RidgeClassifier().fit(data, y), data, y, shape=(2, 2), title=FORMULAS[0]
        ),
        lambda data, y: display.WeightImageDisplay.from_estimator(LinearSVC().fit(data, y), shape=(2, 2)),
    ],
)
def test_dollar_signs_in_names_are_no_formulas(draw):
    data = IRIS.data.set_axis(["$x_{$", "$y^$", "c $ d", "\\$"], axis=1)
    shown = draw(data, np.array(FORMULAS)[IRIS.target])
    shown.figure_.canvas.draw()


def test_data_that_do_not_fit_the_model_are_refused():
    model = LinearSVC().fit(X, Y)
    with pytest.raises(ValueError, match="X has 3 columns, LinearSVC was fitted on 2"):
        display.BoundaryDisplay.from_estimator(model, np.zeros((4, 3)), ["no"] * 4)
    with pytest.raises(ValueError, match=r"y\[1\] is .*maybe.* not one of the classes"):
        display.BoundaryDisplay.from_estimator(model, X[:2], ["no", "maybe"])
    with pytest.raises(ValueError, match="one label for each of the 50 rows"):
        display.BoundaryDisplay.from_estimator(model, X, Y[:-1])
    with pytest.raises(ValueError, match="feature_names has 1 names, the model has 2"):
        display.WeightsDisplay.from_estimator(model, feature_names=["a"])
