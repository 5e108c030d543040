"""The table of solvers, the rule that picks one, and the words about a step size."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from linsep import LinearClassifier, losses, schedules, solvers
from linsep._core import Rows
from linsep.objective.problem import Problem
from linsep.penalties import L1, L2, ElasticNet
from linsep.schedules import Constant, Inverse, InverseSqrt, InverseTime
from linsep.solvers import (
    DualDescent,
    GradientDescent,
    LeastSquares,
    Multipliers,
    Newton,
    PerceptronRule,
    Start,
    StochasticDescent,
    ZeroOne,
)
from linsep.solvers.first_order.step_watch import StepWatch


def problem(loss, penalty=None, C=1.0):
    return Problem(Rows(np.array([[0.0], [1.0], [3.0]])), np.array([-1.0, -1.0, 1.0]), loss, penalty or L2(), C)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("gradient_descent", GradientDescent),
        ("sgd", StochasticDescent),
        ("perceptron", PerceptronRule),
        ("least_squares", LeastSquares),
        ("newton", Newton),
        ("dual", DualDescent),
        ("multipliers", Multipliers),
        ("interior_point", solvers.InteriorPoint),
        ("proximal_newton", solvers.ProximalNewton),
    ],
)
def test_every_solver_is_found_by_its_name(name, kind):
    solver = solvers.get(name)
    assert type(solver) is kind
    assert solver.name == name
    if hasattr(solver, "max_iter"):
        assert solvers.get(name, max_iter=7).max_iter == 7
    else:
        with pytest.raises(ValueError, match="max_iter would be ignored"):
            solvers.get(name, max_iter=7)
    assert set(solvers.SOLVERS) == {
        "gradient_descent",
        "sgd",
        "perceptron",
        "least_squares",
        "newton",
        "dual",
        "multipliers",
        "interior_point",
        "proximal_newton",
        "zero_one",
    }


def test_a_solver_object_is_taken_as_it_is():
    solver = GradientDescent(0.5)
    assert solvers.get(solver, max_iter=3) is solver


@pytest.mark.parametrize(("wrong", "words"), [("simplex", "not known.*gradient_descent"), (3, "needs 'solve'")])
def test_an_unknown_solver_is_an_error_that_lists_the_known(wrong, words):
    with pytest.raises(ValueError, match=words):
        solvers.get(wrong)
    with pytest.raises(ValueError, match=words):
        LinearClassifier(solver=wrong).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("setting", [dict(keep="first"), dict(order="sorted"), dict(record="everything")], ids=str)
def test_a_setting_that_a_solver_does_not_know_is_an_error(setting):
    with pytest.raises(ValueError, match=next(iter(setting.values()))):
        StochasticDescent(**setting).solve(problem(losses.Hinge()))


@pytest.mark.parametrize("max_iter", [0, -1, 2.5])
@pytest.mark.parametrize("solver", [GradientDescent, StochasticDescent])
def test_a_number_of_iterations_that_makes_no_sense_is_an_error(solver, max_iter):
    with pytest.raises(ValueError, match="max_iter"):
        solver(max_iter=max_iter).solve(problem(losses.Hinge()))


@pytest.mark.parametrize(
    ("loss", "penalty", "C", "expected"),
    [
        ("square", L2(), 1.0, "least_squares"),
        ("square", L1(), np.inf, "least_squares"),  # no penalty at all
        ("square", L1(), 1.0, "proximal_newton"),
        ("square", ElasticNet(0.5), 1.0, "proximal_newton"),
        ("hinge", L2(), 1.0, "multipliers"),
        ("logistic", L2(), 1.0, "newton"),
        ("perceptron", L2(), np.inf, "sgd"),
    ],
)
def test_the_automatic_choice_suits_the_problem_and_says_why(loss, penalty, C, expected):
    name, reason = solvers.automatic(problem(losses.get(loss), penalty, C))
    assert name == expected
    assert reason


def test_the_reason_for_a_choice_is_in_the_history():
    X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    chosen, asked = LinearClassifier("square").fit(X, y), LinearClassifier("square", solver="least_squares").fit(X, y)
    assert chosen.history_.solver == asked.history_.solver == "least_squares"
    assert "closed-form" in chosen.history_.reason
    assert "asked for" in asked.history_.reason


@pytest.mark.parametrize(
    ("solver", "own", "words"),
    [(PerceptronRule(max_iter=3), "perceptron", "the perceptron's loss"), (ZeroOne(), "zero_one", "the zero-one loss")],
    ids=["perceptron", "zero_one"],
)
def test_a_solver_of_one_loss_refuses_all_others(solver, own, words):
    for name in losses.LOSSES:
        given = problem(losses.get(name), C=np.inf)
        assert solvers.serves(solver, given) == (name == own)
        if name != own:
            with pytest.raises(ValueError, match=f"needs {words}, not .*; "):
                solver.solve(given)


@pytest.mark.parametrize("solver", [GradientDescent(), StochasticDescent(), PerceptronRule(), LeastSquares()], ids=repr)
def test_solving_has_no_side_effects(solver):
    given = problem(losses.Square() if isinstance(solver, LeastSquares) else losses.Perceptron(), C=np.inf)
    X, y, start = given.rows.X.copy(), given.y.copy(), Start(np.array([0.5]), 0.25)
    one, two = (solver.solve(given, start=start, seed=3) for _ in range(2))
    np.testing.assert_array_equal(given.rows.X, X)
    np.testing.assert_array_equal(given.y, y)
    assert (start.w[0], start.b, start.step) == (0.5, 0.25, 0)
    np.testing.assert_array_equal(one.w, two.w)
    assert one.b == two.b


@pytest.mark.parametrize("solver", [GradientDescent(0.1, None, 4), StochasticDescent(0.1, None, max_iter=4)], ids=repr)
def test_an_observer_hears_of_every_iteration_and_can_stop_the_run(solver):
    heard = []

    def observer(iteration, theta, objective):
        heard.append((iteration, theta.shape, objective))
        return iteration == 3

    result = solver.solve(problem(losses.Logistic()), observer=observer)
    assert [iteration for iteration, *_ in heard] == [1, 2, 3]
    assert result.n_iter == 3
    assert not result.converged
    assert result.message == "stopped by a callback"
    assert [objective for *_, objective in heard] == result.history["objective"][1:].tolist()


@pytest.mark.parametrize(
    "solver",
    [GradientDescent(InverseSqrt(0.1), None, 6), StochasticDescent(InverseSqrt(0.1), None, "last", "cyclic", 6)],
    ids=lambda solver: solver.name,
)
def test_a_run_in_two_halves_is_the_same_run(solver):
    given, half = problem(losses.Logistic()), replace(solver, max_iter=3)
    whole = solver.solve(given).last
    again = half.solve(given, start=half.solve(given).last).last
    np.testing.assert_allclose([*again.w, again.b], [*whole.w, whole.b], rtol=1e-12)


# -- step sizes (M20) -------------------------------------------------------------------------------------------------


def walk(watch, curvature, eta, steps):
    """Descend on ½·curvature·x² from x = 1."""
    x = np.ones(1)
    watch.begin(curvature / 2)
    for k in range(steps):
        watch.see(k, x, curvature * x, float(curvature * x @ x / 2))
        x = x - eta * curvature * x
    return watch


@pytest.mark.parametrize(
    "schedule", [Constant(3.0), InverseSqrt(3.0), InverseTime(3.0, 0.5), Inverse(1 / 3)], ids=lambda s: type(s).__name__
)
def test_m20_a_blow_up_names_the_schedule_and_a_smaller_one_of_its_kind(schedule):
    message = walk(StepWatch(schedule), 4.0, 3.0, 5).after_blow_up()
    assert f"{schedule} is too large" in message
    tried = eval(message.split("Try ")[1].split(", or")[0], vars(schedules))
    assert type(tried) is type(schedule)
    assert 0 < tried(0) <= 2 / 4.0  # steps beyond 2/L climb


def test_m20_a_crawl_names_the_schedule_and_a_larger_one():
    message = walk(StepWatch(Constant(1e-5)), 4.0, 1e-5, 100).advice(100)
    assert "Constant(eta=1e-05) is too small" in message
    assert "Try Constant(eta=0.2)" in message  # 1/L = 0.25, to one digit


def test_m20_jumping_over_the_minimum_is_named():
    message = walk(StepWatch(Constant(0.499)), 4.0, 0.499, 100).advice(100)
    assert "too large near the minimum" in message
    assert "InverseSqrt(eta=0.499)" in message
    assert walk(StepWatch(Constant(0.45)), 4.0, 0.45, 100).advice(100) == ""  # jumps that shrink by a fifth arrive


def test_m20_a_step_size_that_suits_is_left_alone():
    assert walk(StepWatch(Constant(0.2)), 4.0, 0.2, 100).advice(100) == ""


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30])
def test_m20_an_objective_beyond_all_bounds_is_a_blow_up(value):
    watch = StepWatch(Constant(1.0))
    watch.begin(1.0)
    assert not watch.blown_up(1.0)
    assert not watch.blown_up(1e5)
    assert watch.blown_up(value)


def test_m20_a_diverging_fit_ends_with_finite_weights_and_its_history(overlapping):
    with pytest.warns(ConvergenceWarning, match="too large"):
        model = LinearClassifier("square", solver=GradientDescent(50.0)).fit(*overlapping)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.history_["objective"]).all()
    assert not model.converged_
