"""(Sub)gradient descent: the documents' worked examples, independent minimisers, stopping rules and step sizes."""

import re

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from linsep import LinearClassifier, SGDClassifier, schedules, stopping
from linsep._core import Rows
from linsep.losses import Hinge, Logistic
from linsep.objective.problem import Problem
from linsep.schedules import Constant, InverseSqrt
from linsep.solvers import GradientDescent, StepSizeWarning, StochasticDescent, minimize
from oracles import MarginFormula

# -- any function (M6, M7) --------------------------------------------------------------------------------------------


def bowl(x):
    return np.exp(x @ x) + (x[0] - 2) ** 2 + (x[1] - 3) ** 2


def bowl_gradient(x):
    return [2 * x[0] * np.exp(x @ x) + 2 * (x[0] - 2), 2 * x[1] * np.exp(x @ x) + 2 * (x[1] - 3)]


def test_m6_the_worked_example_runs_as_printed():
    run = minimize(bowl, bowl_gradient, [0.5, 0.0], schedule=0.05)
    printed = np.array([[0.5, 0.0], [0.58, 0.3], [0.63, 0.52]])  # cut off after two digits, not rounded
    excess = run.history.iterates[:3] - printed
    assert (excess > -1e-12).all()
    assert (excess < 0.01).all()


def test_m6_descent_stops_at_the_minimum_when_the_step_is_negligible():
    run = minimize(bowl, bowl_gradient, [0.5, 0.0], schedule=0.05)
    steps = np.linalg.norm(np.diff(run.history.iterates, axis=0), axis=1)
    assert run.converged
    assert steps[-1] < 1e-4 <= steps[:-1].min()
    independent = scipy.optimize.minimize(bowl, [0.5, 0.0], method="Nelder-Mead", options=dict(xatol=1e-9, fatol=1e-12))
    np.testing.assert_allclose(run.x, independent.x, atol=1e-3)
    assert run.value == pytest.approx(independent.fun, abs=1e-5)


def valley(x):
    return x[0] ** 2 + abs(x[1])


def valley_subgradient(x):
    return [2 * x[0], 1.0 if x[1] >= 0 else -1.0]


def test_m7_a_constant_step_does_not_converge_and_says_so():
    with pytest.warns(StepSizeWarning, match=r"Constant\(eta=0.1\) is too large.*Try InverseSqrt"):
        run = minimize(valley, valley_subgradient, [0.5, 0.5], schedule=0.1, max_iter=1000)
    assert not run.converged
    jumps = np.abs(np.diff(run.history.iterates[-50:, 1]))
    np.testing.assert_allclose(jumps, 0.1)


def test_m7_steps_that_shrink_like_one_over_root_k_converge():
    run = minimize(
        valley, valley_subgradient, [0.5, 0.5], schedule=InverseSqrt(0.1), stopping=stopping.ParameterChange(2e-3)
    )
    assert run.converged
    np.testing.assert_allclose(run.last, 0, atol=3e-3)
    assert run.value < 3e-3


def test_m7_the_best_point_is_reported_and_not_the_last():
    with pytest.warns(StepSizeWarning):
        run = minimize(valley, valley_subgradient, [0.5, 0.53], schedule=0.1, max_iter=500)
    values = [valley(x) for x in run.history.iterates]
    assert run.value == min(values) < values[-1]
    assert valley(run.x) == run.value


@given(
    eigenvalues=st.lists(st.floats(0.1, 10), min_size=1, max_size=5),
    seed=st.integers(0, 2**32 - 1),
    share=st.floats(0.1, 1.9),
)
@settings(max_examples=30, deadline=None)
def test_descent_on_a_quadratic_follows_the_closed_form(eigenvalues, seed, share):
    # x_k − x* = (I − ηA)^k (x_0 − x*)
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.standard_normal((len(eigenvalues),) * 2))
    A, centre, x0 = Q @ np.diag(eigenvalues) @ Q.T, *rng.standard_normal((2, len(eigenvalues)))
    eta = share / max(eigenvalues)
    run = minimize(
        lambda x: (x - centre) @ A @ (x - centre) / 2, lambda x: A @ (x - centre), x0, schedule=eta,
        stopping=stopping.MaxIterations(20),
    )  # fmt: skip
    decay = Q @ np.diag((1 - eta * np.array(eigenvalues)) ** 20) @ Q.T
    np.testing.assert_allclose(run.last, centre + decay @ (x0 - centre), atol=1e-9)


@pytest.mark.parametrize(("eta", "word"), [(3.0, "too large"), (1e-5, "too small")])
def test_m20_minimize_says_what_step_to_try(eta, word):
    with pytest.warns(StepSizeWarning, match=word) as caught:
        run = minimize(lambda x: 5 * x @ x, lambda x: 10 * x, [1.0, 2.0], schedule=eta, max_iter=300)
    assert np.isfinite(run.x).all()
    again = minimize(lambda x: 5 * x @ x, lambda x: 10 * x, [1.0, 2.0], schedule=suggested(caught))
    assert again.converged
    np.testing.assert_allclose(again.x, 0, atol=1e-3)


@pytest.mark.parametrize("eta", [1e6, 10.0, 1.0, 0.5, 0.2, 5e-4])
def test_the_step_size_advised_has_been_tried(eta):
    with pytest.warns(StepSizeWarning, match="too large" if eta > 0.05 else "too small") as caught:
        minimize(bowl, bowl_gradient, [0.5, 0.0], schedule=eta, max_iter=10_000 if eta > 0.05 else 60)
    run = minimize(bowl, bowl_gradient, [0.5, 0.0], schedule=suggested(caught))
    assert run.converged
    np.testing.assert_allclose(bowl_gradient(run.x), 0, atol=1e-2)


@pytest.mark.parametrize(
    ("f", "grad"),
    [
        (bowl, bowl_gradient),
        (lambda x: np.abs(x).sum(), np.sign),
        (lambda x: -np.exp(-x @ x), lambda x: 2 * x * np.exp(-x @ x)),  # bounded: nothing blows up
    ],
)
def test_a_gradient_with_the_wrong_sign_is_named_as_that(f, grad):
    start = np.array([0.5, 0.25])
    with pytest.warns(StepSizeWarning, match="wrong sign") as caught:
        run = minimize(f, lambda x: -np.asarray(grad(x)), start, schedule=0.05)
    assert "step size" not in str(caught[0].message)
    assert not run.converged
    assert run.value == f(start)
    assert "sign" not in minimize(f, grad, start, schedule=schedules.InverseSqrt(0.05)).advice


def test_a_kink_is_no_wrong_sign():
    # At a kink f climbs along both signs of a true subgradient.
    def f(x):
        return 10 * abs(x[0]) + abs(x[1])

    with pytest.warns(StepSizeWarning) as caught:
        minimize(f, lambda x: np.array([10.0 if x[0] >= 0 else -10.0, np.sign(x[1])]), [0.0, 1.0], schedule=0.5)
    assert "sign" not in str(caught[0].message)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (dict(x0=[np.nan, 0.0]), "finite"),
        (dict(grad=lambda x: [1.0]), "shape"),
        (dict(stopping="no_mistakes"), "labelled examples"),
        (dict(stopping="duality_gap"), "needs"),
        (dict(stopping="bored"), "not known"),
        (dict(schedule="fast"), "not known"),
        (dict(schedule=0.0), "positive"),
    ],
)
def test_minimize_refuses_what_makes_no_sense(wrong, words):
    with pytest.raises(ValueError, match=words):
        minimize(**(dict(f=valley, grad=valley_subgradient, x0=[0.5, 0.5]) | wrong))


# -- losses of examples -----------------------------------------------------------------------------------------------


def minimum(name, X, y, C=1.0, s=1.0):
    """The lowest objective there is, and where."""
    return MarginFormula(X, y, C, s=s, loss=name).optimum()


def reached(name, model, X, y, C=1.0, s=1.0):
    """What a model has reached; C = None drops the penalty."""
    return MarginFormula(X, y, np.inf if C is None else C, s=s, loss=name).value(model.coef_[0], model.intercept_[0])


def suggested(caught):
    """The schedule that a warning tells its reader to try."""
    (message,) = [str(w.message) for w in caught if "Try" in str(w.message)]
    call = re.search(r"Try (\w+\([^)]*\))", message).group(1)
    return eval(call, vars(schedules))


@pytest.mark.parametrize("name", ["logistic", "squared_hinge"])
@pytest.mark.parametrize("weighted", [False, True])
def test_gradient_descent_finds_the_minimum_of_a_smooth_risk(overlapping, name, weighted):
    X, y = overlapping
    s = np.random.default_rng(1).uniform(0.1, 3, len(y)) if weighted else np.ones(len(y))
    best = minimum(name, X, y, s=s)
    solver = GradientDescent(stopping=stopping.GradientNorm(1e-8), max_iter=20_000)
    model = LinearClassifier(name, solver=solver).fit(X, y, sample_weight=s if weighted else None)
    assert reached(name, model, X, y, s=s) == pytest.approx(best.value, rel=1e-9)
    np.testing.assert_allclose([*model.coef_[0], *model.intercept_], [*best.w, best.b], atol=1e-4)


def test_gradient_descent_without_an_intercept_leaves_it_at_zero(overlapping):
    X, y = overlapping
    model = LinearClassifier("logistic", solver=GradientDescent(), fit_intercept=False).fit(X, y)
    assert model.intercept_[0] == 0
    # at the minimum w = C Σ σ(−zᵢ) yᵢ xᵢ
    pull = (expit(-y * (X @ model.coef_[0])) * y) @ X
    np.testing.assert_allclose(model.coef_[0], pull, atol=0.05)


def test_m9_the_best_iterate_of_subgradient_descent_is_reported(overlapping):
    X, y = overlapping
    solver = GradientDescent(Constant(2.0), None, max_iter=200)
    with pytest.warns(ConvergenceWarning):
        model = LinearClassifier("hinge", solver=solver).fit(X, y)
    best, objectives = model.history_["best"][1:], model.history_["objective"][1:]
    assert (np.diff(best) <= 0).all()
    np.testing.assert_array_equal(best, np.minimum.accumulate(objectives))
    assert best[-1] < objectives[-1]
    assert reached("hinge", model, X, y) / len(y) == pytest.approx(best[-1], rel=1e-12)


@pytest.mark.parametrize("name", ["perceptron", "hinge", "logistic"])
def test_m26_full_and_stochastic_descent_reach_the_same_minimum(overlapping, separable, name):
    # The perceptron risk is 0 on separable data; with a penalty its minimum is the trivial w = 0.
    (X, y), C = (separable, None) if name == "perceptron" else (overlapping, 1.0)
    lowest = 0.0 if name == "perceptron" else minimum(name, X, y).value
    rule = "no_mistakes" if name == "perceptron" else None
    full = LinearClassifier(name, C=C, tol=1e-15, solver=GradientDescent(stopping=rule, max_iter=3000))
    single = LinearClassifier(name, C=C, solver=StochasticDescent(stopping=rule, max_iter=300), random_state=0)
    for model in (full, single):
        if rule is None:
            with pytest.warns(ConvergenceWarning, match="max_iter"):
                model.fit(X, y)
        else:
            model.fit(X, y)
        assert reached(name, model, X, y, C) == pytest.approx(lowest, rel=0.01, abs=1e-12)


@pytest.mark.parametrize("name", ["perceptron", "hinge", "logistic"])
def test_m26_histories_compare_the_cost_of_a_step_with_its_progress(overlapping, name):
    X, y = overlapping
    with pytest.warns(ConvergenceWarning):
        full = LinearClassifier(name, solver=GradientDescent(stopping=None, max_iter=5)).fit(X, y).history_
    with pytest.warns(ConvergenceWarning):
        single = SGDClassifier(name, stopping=None, max_iter=5, random_state=0).fit(X, y).history_
    np.testing.assert_array_equal(full["passes"], np.arange(6))
    np.testing.assert_array_equal(full["step"], full["passes"])
    np.testing.assert_array_equal(single["passes"], np.arange(6))
    np.testing.assert_array_equal(single["step"], len(y) * single["passes"])
    assert full["objective"][0] == pytest.approx(single["objective"][0])
    if name != "perceptron":  # whose risk is lowest at the start
        progress = {
            run: history["objective"][0] - history["objective"][1] for run, history in (("full", full), ("one", single))
        }
        assert progress["one"] > progress["full"] > 0


# -- stopping rules (M19) ---------------------------------------------------------------------------------------------


def problem(data, loss, C=1.0):
    X, y = data
    return Problem(Rows(X), y.astype(np.float64), loss, C=C)


def solve(data, loss, rules, solver=GradientDescent, **options):
    return solver(stopping=rules, max_iter=2000, record="update", **options).solve(problem(data, loss))


@pytest.mark.parametrize("solver", [GradientDescent, StochasticDescent])
def test_m19_max_iterations_ends_a_fit(overlapping, solver):
    result = solve(overlapping, Logistic(), stopping.MaxIterations(7), solver)
    assert result.n_iter == 7
    assert not result.converged


def test_m19_gradient_norm_ends_a_fit(overlapping):
    result = solve(overlapping, Logistic(), stopping.GradientNorm(1e-3))
    norms = result.history["gradient_norm"]
    assert result.converged
    assert norms[-1] < 1e-3 <= norms[:-1].min()


def test_m19_parameter_change_ends_a_fit(overlapping):
    result = solve(overlapping, Logistic(), stopping.ParameterChange(1e-3))
    moves = np.linalg.norm(np.diff(result.history.iterates, axis=0), axis=1)
    assert result.converged
    assert moves[-1] < 1e-3 <= moves[:-1].min()


@pytest.mark.parametrize("solver", [GradientDescent, StochasticDescent])
def test_m19_an_unchanged_zero_one_error_ends_a_fit(overlapping, solver):
    options = {} if solver is GradientDescent else dict(order="cyclic")
    rule = stopping.ZeroOneUnchanged(patience=10)
    result = solver(stopping=rule, max_iter=2000, **options).solve(problem(overlapping, Hinge()))
    lowest = np.minimum.accumulate(result.history["zero_one"][1:])
    assert result.converged
    assert lowest[-11] == lowest[-1]
    assert lowest[-12] > lowest[-11] or len(lowest) == 11


def test_m19_no_mistakes_ends_a_fit(separable):
    result = solve(separable, Hinge(), stopping.NoMistakes())
    assert result.converged
    assert result.history["zero_one"][-1] == 0 < result.history["zero_one"][-2]


@pytest.mark.parametrize("solver", [GradientDescent, StochasticDescent])
def test_m19_no_progress_ends_a_fit(overlapping, solver):
    result = solver(stopping=stopping.NoProgress(0.01, 5), max_iter=2000).solve(problem(overlapping, Logistic()))
    best = result.history["best"]
    assert result.converged
    assert best[-1] > best[-6] * 0.99


@pytest.mark.parametrize("rules", ["gradient_norm", ["max_iterations", stopping.GradientNorm(1e-4)]])
def test_m19_rules_are_chosen_by_name_or_as_objects_and_together(overlapping, rules):
    result = solve(overlapping, Logistic(), rules)
    assert result.converged
    assert "GradientNorm(tol=0.0001)" in result.message


@pytest.mark.parametrize(
    "model",
    [SGDClassifier(stopping="duality_gap"), LinearClassifier(solver=GradientDescent(stopping="duality_gap"))],
    ids=lambda model: type(model).__name__,
)
def test_m19_a_rule_that_could_never_fire_is_refused(overlapping, model):
    # A run without a dual point has no gap: the rule would be ignored in silence.
    with pytest.raises(ValueError, match=r"(?i)gap"):
        model.fit(*overlapping)


# -- step sizes (M20) -------------------------------------------------------------------------------------------------


def descent(kind, name, schedule):
    if kind == "sgd":
        return SGDClassifier(name, schedule=schedule, random_state=0)
    return LinearClassifier(name, tol=0.1, solver=GradientDescent(schedule))


WRONG_STEPS = [
    ("gd", "square", 10.0, "large"),
    ("gd", "logistic", 1e6, "large"),
    ("gd", "hinge", 1e6, "large"),
    ("sgd", "square", 10.0, "large"),
    ("sgd", "logistic", 1e6, "large"),
    ("sgd", "hinge", 1e6, "large"),
    ("gd", "square", 1e-7, "small"),
    ("gd", "logistic", 1e-7, "small"),
    ("gd", "hinge", 1e-7, "small"),
    ("sgd", "square", 1e-7, "small"),
    ("sgd", "logistic", 1e-7, "small"),
    ("sgd", "hinge", 1e-7, "small"),
]


@pytest.mark.parametrize(("kind", "name", "eta", "word"), WRONG_STEPS)
def test_m20_a_wrong_step_size_is_named_with_one_to_try_that_works(overlapping, kind, name, eta, word):
    X, y = overlapping
    with pytest.warns(ConvergenceWarning, match=rf"Constant\(eta={eta}\) is too {word}.*Try \w+\(") as caught:
        model = descent(kind, name, eta).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()
    again = descent(kind, name, suggested(caught)).fit(X, y)  # and a warning here is an error
    assert reached(name, again, X, y) < 1.25 * minimum(name, X, y).value


@pytest.mark.parametrize("kind", ["gd", "sgd"])
@pytest.mark.parametrize("name", ["hinge", "logistic", "square"])
@pytest.mark.parametrize("eta", 10.0 ** np.arange(-8, 7, 2))
@pytest.mark.filterwarnings("always::sklearn.exceptions.ConvergenceWarning")
def test_m20_a_fit_is_good_or_says_what_is_wrong(overlapping, kind, name, eta, recwarn):
    X, y = overlapping
    model = descent(kind, name, float(eta)).fit(X, y)
    assert np.isfinite(model.coef_).all()
    good = reached(name, model, X, y) < 1.5 * minimum(name, X, y).value
    told = [str(w.message) for w in recwarn if "Constant(eta=" in str(w.message)]
    assert good or told


@pytest.mark.parametrize(
    "schedule", [Constant(1e-7), schedules.InverseTime(1e-7), InverseSqrt(1e-7), schedules.Inverse(1e7)]
)
def test_m20_the_schedule_that_is_named_is_the_one_that_ran(overlapping, schedule):
    with pytest.warns(ConvergenceWarning, match=re.escape(str(schedule))) as caught:
        LinearClassifier("logistic", solver=GradientDescent(schedule)).fit(*overlapping)
    assert type(suggested(caught)) is type(schedule)
    assert suggested(caught)(0) > schedule(0)


@pytest.mark.parametrize("name", ["perceptron", "hinge", "squared_hinge", "logistic", "square"])
@pytest.mark.parametrize("max_iter", [30, 1000])
@pytest.mark.parametrize("solver", [GradientDescent, StochasticDescent])
def test_m20_steps_chosen_for_the_data_are_not_called_wrong(overlapping, name, max_iter, solver):
    model = LinearClassifier(name, solver=solver(stopping=None, max_iter=max_iter), tol=1e-15, random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_iter") as caught:
        model.fit(*overlapping)
    assert not any("step size" in str(w.message) for w in caught)


def test_a_point_that_arrives_in_ever_shorter_jumps_is_told_nothing():
    """e^(x² + y²) + (x − 2)² + (y − 3)² at η = .1: the steps reverse and shrink by .76."""
    f = lambda x: np.exp(x @ x) + (x[0] - 2) ** 2 + (x[1] - 3) ** 2  # noqa: E731
    grad = lambda x: 2 * x * np.exp(x @ x) + 2 * (x - [2, 3])  # noqa: E731
    run = minimize(f, grad, [0.5, 0.0], schedule=0.1)
    assert run.converged
    assert run.advice == ""


def test_jumps_over_a_kink_are_told_of_after_twenty_steps_and_stay_in_the_history():
    f = lambda x: x[0] ** 2 + abs(x[1])  # noqa: E731
    grad = lambda x: np.array([2 * x[0], np.sign(x[1])])  # noqa: E731
    with pytest.warns(StepSizeWarning, match="jumps back and forth"):
        minimize(f, grad, [0.5, 0.45], schedule=0.1, max_iter=20)
    with pytest.warns(StepSizeWarning, match="jumps back and forth"):
        run = minimize(f, grad, [0.5, 0.45], schedule=0.1)
    assert "or Constant" not in run.advice  # it would jump as well, and be told the same
    assert run.history.stride == 1
    assert len(run.history) == 10_001
    np.testing.assert_allclose(np.abs(np.diff(run.history.to_frame(iterates=True)["y"]))[-50:], 0.1)


def test_jumps_over_a_smooth_minimum_are_told_of_a_constant_step_that_arrives():
    f, grad, start = lambda x: x @ x, lambda x: 2 * x, [1.0, 0.5]
    with pytest.warns(StepSizeWarning, match=r"jumps back and forth over it\. Try .*, or Constant\(eta=0\.1\)"):
        minimize(f, grad, start, schedule=1.0, max_iter=50)
    assert minimize(f, grad, start, schedule=0.1).converged


def test_steps_that_land_on_a_kink_stay_there_by_the_subgradient_zero():
    """The lecture's walk from (½, ½) in exact arithmetic; η = ⅛ is a sum of few bits, which .1 is not."""
    run = minimize(lambda x: x[0] ** 2 + abs(x[1]), lambda x: [2 * x[0], np.sign(x[1])], [0.5, 0.5], schedule=0.125)
    assert run.converged
    assert run.last[1] == 0
    assert run.advice == ""
