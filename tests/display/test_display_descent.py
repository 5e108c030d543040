"""Losses, surfaces, convergence, step sizes, mistakes against their bound: what is drawn, against the numbers."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from linsep import (
    HardMarginSVC,
    LinearClassifier,
    LinearSVC,
    LogisticRegression,
    Perceptron,
    SGDClassifier,
    ZeroOneClassifier,
    load,
    losses,
    save,
)
from linsep.display import ConvergenceDisplay, LossDisplay, NovikoffDisplay, RiskSurfaceDisplay, StepSizeDisplay
from linsep.schedules import Constant, Inverse, InverseSqrt, InverseTime
from linsep.solvers import GradientDescent, StepSizeWarning, minimize

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal([0, 0], 1, (20, 2)), RNG.normal([2.5, 2], 1, (20, 2))])
Y = np.repeat([-1, 1], 20)
APART = X + np.where(Y > 0, 3.0, 0.0)[:, None]
THREE = np.repeat(["a", "b", "c", "b"], 10)


# -- losses -------------------------------------------------------------------------------------------------------


def test_every_loss_is_drawn_as_it_is():
    display = LossDisplay.from_losses(low=-3, high=2)
    assert len(display.lines_) == len(losses.LOSSES)
    for loss, (name, line) in zip(losses.LOSSES.values(), display.lines_.items(), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), loss().value(line.get_xdata()))
        assert loss.formula in name
    z, jump = display.lines_["zero-one: [z ≤ 0]"].get_data()
    assert jump[z == 0] == 1
    assert jump[z > 0].max() == 0


def test_a_loss_of_ones_own_is_drawn_too():
    class Cubic(losses.Loss):
        name, formula = "cubic", "max(0, 1 − z)³"

        def value(self, z):
            return np.maximum(0, 1 - z) ** 3

    assert list(LossDisplay.from_losses([Cubic()]).lines_) == ["cubic: max(0, 1 − z)³"]
    with pytest.raises(ValueError, match="low=1 must be less than high=0"):
        LossDisplay.from_losses(low=1, high=0)


# -- surfaces -----------------------------------------------------------------------------------------------------


def test_m18_the_zero_one_surface_is_flat_and_the_other_is_not():
    model = LinearClassifier("logistic", tol=0.01, solver=GradientDescent(record="update")).fit(X, Y)
    display = RiskSurfaceDisplay.from_estimator(model, X, Y, resolution=41)
    for row, column in ((0, 0), (7, 33), (40, 40)):
        z = Y * (X @ [display.x[column], display.y[row]] + model.intercept_[0])
        assert display.values[row, column] == pytest.approx(np.log1p(np.exp(-z)).mean())
        assert display.zero_one[row, column] == (z <= 0).mean()
    steps = np.diff(display.zero_one, axis=1)
    assert (steps == 0).mean() > 0.5
    assert (np.diff(display.values, axis=1) != 0).all()
    titles = [ax.get_title() for ax in display.ax_.ravel()]
    assert titles == ["mean of log(1 + e^(−z))", "zero-one risk: flat almost everywhere"]


def test_m18_where_it_can_be_solved_exactly_nothing_in_the_picture_is_lower():
    exact = ZeroOneClassifier().fit(X, Y)
    display = RiskSurfaceDisplay.from_estimator(exact, X, Y, resolution=41)
    assert exact.proven_
    assert display.zero_one.min() >= exact.n_mistakes_ / len(Y)


def test_of_many_examples_some_are_drawn_and_the_title_says_so():
    rng = np.random.default_rng(1)
    many = rng.normal(size=(30_000, 2))
    labels = (many[:, 0] + rng.normal(size=30_000) > 0).astype(int)
    model = LogisticRegression().fit(many, labels)
    some, again = (RiskSurfaceDisplay.from_estimator(model, many, labels, resolution=5) for _ in range(2))
    every = RiskSurfaceDisplay.from_estimator(model, many, labels, resolution=5, sample=None)
    assert some.ax_[0, 0].get_title().endswith("10,000 of 30,000 examples")
    assert "examples" not in every.ax_[0, 0].get_title()
    np.testing.assert_array_equal(some.values, again.values)
    np.testing.assert_allclose(some.values, every.values, rtol=0.05)
    with pytest.raises(ValueError, match="sample=0 must be at least 1"):
        RiskSurfaceDisplay.from_estimator(model, many, labels, sample=0)


def test_the_path_drawn_is_the_one_taken():
    model = LinearClassifier("logistic", tol=0.01, solver=GradientDescent(record="update")).fit(X, Y)
    display = RiskSurfaceDisplay.from_estimator(model, X, Y, parameters=(1, -1), resolution=11)
    for line in display.path_lines_:
        np.testing.assert_array_equal(line.get_xydata(), model.history_.iterates[:, [1, 2]])
    assert display.labels == ("weight of x1", "intercept")
    assert RiskSurfaceDisplay.from_estimator(LogisticRegression().fit(X, Y), X, Y, resolution=5).path is None


def test_m6_a_function_and_its_descent():
    def f(x):
        return np.exp(x @ x) + (x[0] - 2) ** 2 + (x[1] - 3) ** 2

    run = minimize(f, lambda x: 2 * x * np.exp(x @ x) + 2 * (x - [2, 3]), [0.5, 0.0], schedule=0.05)
    display = RiskSurfaceDisplay.from_function(f, run, resolution=9, log=True)
    assert display.values[2, 7] == pytest.approx(f(np.array([display.x[7], display.y[2]])))
    np.testing.assert_allclose(
        display.path_lines_[0].get_xydata()[:3], [[0.5, 0], [0.58, 0.3], [0.63, 0.52]], atol=0.01
    )
    high = RiskSurfaceDisplay.from_function(f, run, resolution=41, kind="surface").path_lines_[0].get_data_3d()[2]
    assert high[0] == pytest.approx(f(np.array([0.5, 0.0])), rel=0.05)


def test_surfaces_that_make_no_sense_are_refused():
    model = LogisticRegression().fit(X, Y)
    with pytest.raises(ValueError, match=r"parameters=\(0, 5\)"):
        RiskSurfaceDisplay.from_estimator(model, X, Y, parameters=(0, 5))
    with pytest.raises(ValueError, match="that of two classes"):
        RiskSurfaceDisplay.from_estimator(LinearSVC().fit(X, THREE), X, THREE)
    with pytest.raises(ValueError, match="kind='hill' is not possible"):
        RiskSurfaceDisplay.from_estimator(model, X, Y, kind="hill", resolution=5)
    with pytest.raises(ValueError, match="two numbers a step"):
        RiskSurfaceDisplay.from_function(lambda x: x @ x, [[1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match="positive everywhere"):
        RiskSurfaceDisplay.from_function(lambda x: x[0], log=True, resolution=5)


# -- convergence --------------------------------------------------------------------------------------------------


def test_m9_best_so_far_is_drawn_beside_the_current_one():
    model = SGDClassifier(random_state=0).fit(X, Y)
    display = ConvergenceDisplay.from_estimator(model, by="pass")
    best = display.lines_["SGDClassifier", "best"].get_ydata()
    assert (np.diff(best[1:]) <= 0).all()
    np.testing.assert_array_equal(display.lines_["SGDClassifier", "objective"].get_ydata(), model.history_["objective"])
    np.testing.assert_array_equal(display.lines_["SGDClassifier", "zero_one"].get_xdata(), model.history_["passes"])
    by_step = ConvergenceDisplay.from_estimator(model)
    np.testing.assert_array_equal(by_step.lines_["SGDClassifier", "zero_one"].get_xdata(), model.history_["step"])


@pytest.mark.parametrize(
    "model",
    [LogisticRegression(C=3.0), LinearSVC(C=0.5), LinearClassifier("square", C=2.0)],
    ids=lambda m: type(m).__name__,
)
def test_the_gap_ends_at_what_the_certificate_proves(model):
    model.fit(X, Y)
    display = ConvergenceDisplay.from_estimator(model)
    (curve,) = display.curves.values()
    assert curve.gap[-1] == pytest.approx(model.certificate_.relative_gap, rel=1e-6, abs=1e-14)
    scale = len(Y) * model.C
    assert curve.lower == pytest.approx(model.certificate_.dual / scale)
    assert display.lines_[type(model).__name__, "lower"].get_ydata()[0] == curve.lower
    assert display.panels_ == ["objective", "gap", "zero_one"]


def test_every_class_has_its_curve():
    model = LinearSVC().fit(X, THREE)
    display = ConvergenceDisplay.from_estimator(model)
    assert [t.get_text() for t in display.ax_[0, 0].get_legend().get_texts()] == ["a", "b", "c"]
    for name, one in zip("abc", model.certificate_, strict=True):
        assert display.curves[name].lower == pytest.approx(one.dual / len(THREE))
    softmax = LogisticRegression().fit(X, THREE)
    (curve,) = ConvergenceDisplay.from_estimator(softmax).curves.values()
    assert curve.gap[-1] == pytest.approx(softmax.certificate_.relative_gap, rel=1e-6, abs=1e-14)


def test_margins_and_mistakes_have_bounds_of_their_own():
    hard = HardMarginSVC().fit(APART, Y)
    (curve,) = ConvergenceDisplay.from_estimator(hard).curves.values()
    assert curve.lower <= curve.objective[-1] * (1 + 1e-12)
    assert curve.objective[-1] == pytest.approx(0.5 * float(hard.coef_[0] @ hard.coef_[0]), rel=1e-6)
    exact = ZeroOneClassifier().fit(X, Y)
    (curve,) = ConvergenceDisplay.from_estimator(exact).curves.values()
    assert curve.lower == pytest.approx(exact.lower_bound_ / len(Y))


def test_without_history_or_with_another_count_the_reason_is_told():
    with pytest.raises(TypeError, match="int has no history_"):
        ConvergenceDisplay.from_estimator(3)
    with pytest.raises(ValueError, match="by='hour' is not possible"):
        ConvergenceDisplay.from_estimator(LogisticRegression().fit(X, Y), by="hour")


# -- step sizes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        LinearClassifier("logistic", solver=GradientDescent(max_iter=60)),
        SGDClassifier("logistic", max_iter=20, random_state=0),
        SGDClassifier("hinge", max_iter=20, random_state=0),
    ],
    ids=["full gradient", "stochastic logistic", "stochastic hinge"],
)
def test_m20_too_small_right_and_too_large_are_told_apart(model):
    display = StepSizeDisplay.from_estimator(model, X, Y)
    assert list(display.verdicts.values()) == ["too small", "right", "too large"]
    words = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert [word.split(": ")[1] for word in words] == ["too small", "right", "too large"]
    small, right, _ = display.runs.values()
    assert right.best < small.best
    for name, run in display.runs.items():
        np.testing.assert_array_equal(display.lines_[name].get_ydata(), run.objective)


def test_m20_the_message_is_the_one_that_a_fit_gives():
    model = LinearClassifier("logistic", solver=GradientDescent(Constant(70.0), max_iter=60))
    with pytest.warns(ConvergenceWarning) as said:
        model.fit(X, Y)
    display = StepSizeDisplay.from_estimator(model, X, Y, schedules=[70.0, InverseSqrt(1.0), InverseTime(), Inverse()])
    assert display.runs["η = 70"].message == str(said[0].message)
    assert list(display.runs) == ["η = 70", "η = 1/√(k + 1)", "η = 1/(1 + k)", "η = 1/(k + 1)"]
    assert model.solver.schedule == Constant(70.0)  # the estimator is not changed


def test_m20_descents_of_a_function():
    f, grad = (lambda x: float(x @ x)), (lambda x: 2 * x)
    with pytest.warns(StepSizeWarning):
        runs = {f"η = {eta}": minimize(f, grad, [1.0, 2.0], schedule=eta, max_iter=50) for eta in (1e-6, 0.3, 1.2)}
    assert list(StepSizeDisplay.from_descents(runs).verdicts.values()) == ["too small", "right", "too large"]


def test_what_has_no_steps_is_refused():
    with pytest.raises(TypeError, match="LogisticRegression has no step sizes to compare"):
        StepSizeDisplay.from_estimator(LogisticRegression(), X, Y)
    with pytest.raises(ValueError, match="y has 3 classes"):
        StepSizeDisplay.from_estimator(SGDClassifier(max_iter=2), X, THREE, schedules=[0.1])


# -- Novikoff -----------------------------------------------------------------------------------------------------


def test_m11_mistakes_stay_below_the_bound():
    model = Perceptron(order="cyclic", record="update").fit(APART, Y)
    display = NovikoffDisplay.from_estimator(model)
    steps, mistakes = display.lines_["mistakes"].get_data()
    updates = [record.step for record in model.history_.records if record.example is not None]
    np.testing.assert_array_equal(steps[:-1], updates)
    np.testing.assert_array_equal(mistakes[:-1], np.arange(1, model.mistakes_ + 1))
    bound = display.bound_lines_["mistakes"].get_ydata()[0]
    assert bound == model.best_mistake_bound_
    assert mistakes[-1] == model.mistakes_ <= bound <= model.mistake_bound_
    words = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert words[0] == f"{model.mistakes_} mistakes"
    assert f"{model.best_mistake_bound_:,.0f}" in words[1]


def test_m11_without_a_separating_plane_there_is_no_bound():
    with pytest.warns(ConvergenceWarning):
        model = Perceptron(max_iter=5, prove=False, random_state=0).fit(X, np.tile([-1, 1], 20))
    display = NovikoffDisplay.from_estimator(model)
    assert not display.bound_lines_
    assert display.curves["mistakes"].mistakes.tolist() == [model.mistakes_]  # recorded by pass: only their number
    assert "no bound" in display.ax_.get_legend().get_texts()[1].get_text()


def test_m11_one_curve_for_each_class():
    apart = np.vstack([RNG.normal(centre, 0.5, (10, 2)) for centre in ([0, 0], [6, 0], [0, 6])])
    labels = np.repeat(["a", "b", "c"], 10)
    model = Perceptron(record="update", random_state=0).fit(apart, labels)
    display = NovikoffDisplay.from_estimator(model)
    for name, counts in zip("abc", model.update_counts_, strict=True):
        assert display.curves[name].mistakes[-1] == counts.sum()
    with pytest.raises(TypeError, match=r"LinearSVC is no linsep.Perceptron"):
        NovikoffDisplay.from_estimator(LinearSVC().fit(X, Y))
    with pytest.raises(ValueError, match="learns from a stream"):
        NovikoffDisplay.from_estimator(Perceptron().partial_fit(X, Y, classes=[-1, 1]))


def test_a_pipeline_and_a_model_from_a_file_show_how_their_fit_went(tmp_path):
    alone = LogisticRegression().fit(X, Y)
    save(alone, tmp_path / "model.json")
    steps = make_pipeline(FunctionTransformer(), LogisticRegression()).fit(X, Y)
    expected = ConvergenceDisplay.from_estimator(alone).curves["LogisticRegression"]
    for model in (steps, load(tmp_path / "model.json")):
        curve = ConvergenceDisplay.from_estimator(model).curves["LogisticRegression"]
        np.testing.assert_array_equal(curve.objective, expected.objective)
        assert curve.lower == expected.lower


def test_a_perceptron_from_a_file_still_counts_its_mistakes(tmp_path):
    model = Perceptron(random_state=0).fit(X, np.where(X[:, 0] > 0.3, 1, -1))
    save(model, tmp_path / "model.json")
    fresh, loaded = (NovikoffDisplay.from_estimator(m) for m in (model, load(tmp_path / "model.json")))
    assert loaded.curves["mistakes"].mistakes[-1] == fresh.curves["mistakes"].mistakes[-1] == model.mistakes_
