"""The stopping rules: when each fires, when it must not, and how they are named."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linsep import stopping
from linsep.stopping import (
    DualityGap,
    GradientNorm,
    MaxIterations,
    NoImprovement,
    NoMistakes,
    NoProgress,
    ParameterChange,
    Progress,
    Rule,
    ZeroOneUnchanged,
)

SETTINGS = settings(max_examples=60, deadline=None)

NAMES = {
    "max_iterations": MaxIterations(),
    "gradient_norm": GradientNorm(),
    "parameter_change": ParameterChange(),
    "zero_one_unchanged": ZeroOneUnchanged(),
    "no_mistakes": NoMistakes(),
    "no_progress": NoProgress(),
    "no_improvement": NoImprovement(),
    "duality_gap": DualityGap(),
}


def progress(step=1, theta=(0.0,), previous=(9.0,), objective=1.0, **numbers):
    return Progress(step, np.array(theta), np.array(previous), objective, **numbers)


def first_stop(rule, states):
    """Number of states a rule sees before it says stop, or None."""
    watch = rule.begin()
    return next((k for k, state in enumerate(states) if watch(replace(state, step=k + 1))), None)


# --- by name


@pytest.mark.parametrize("name", NAMES)
def test_m19_rules_are_chosen_by_name(name):
    assert stopping.get(name) == [NAMES[name]]


def test_m19_the_table_holds_these_names():
    assert set(stopping.RULES) == set(NAMES)


def test_m19_names_and_objects_mix():
    mine = GradientNorm(1e-9)
    assert stopping.get(["max_iterations", mine]) == [MaxIterations(1000), mine]
    assert stopping.get(mine) == [mine]
    assert stopping.get(rule for rule in (mine, "no_mistakes")) == [mine, NoMistakes()]
    assert stopping.get(None) == stopping.get([]) == []


@pytest.mark.parametrize("unknown", ["gradient", "", 3, None, GradientNorm])
def test_m19_unknown_rule_is_refused_with_the_list_of_known_ones(unknown):
    with pytest.raises(ValueError, match=r"is not known; use one of max_iterations, .*duality_gap, or a Rule object"):
        stopping.get([unknown])


# --- when they fire


@pytest.mark.parametrize("n", [1, 3, 100])
def test_m19_max_iterations_fires_at_the_nth_step(n):
    assert first_stop(MaxIterations(n), (progress(step=k) for k in range(1, 200))) == n - 1


@pytest.mark.parametrize(("norm", "stops"), [(0.0, True), (0.0999, True), (0.1, False), (5.0, False)])
def test_m19_gradient_norm_fires_below_its_tolerance(norm, stops):
    assert GradientNorm(0.1).begin()(progress(gradient_norm=norm)) is stops


@pytest.mark.parametrize("tol", [4.9, 5.0, 5.1])
def test_m19_parameter_change_fires_when_the_step_is_negligible(tol):
    moved = progress(theta=(1.0, 2.0), previous=(4.0, 6.0))  # ‖(3, 4)‖ = 5
    assert ParameterChange(tol).begin()(moved) is (tol > 5)


def test_m19_parameter_change_stops_the_loop_of_the_lecture_where_the_lecture_stops():
    # 001: x_new = x − η f'(x); stop when ‖x − x_new‖ < threshold. Here f = x², whose steps are .2 · .8^k by hand.
    x, states = 1.0, []
    for k in range(100):
        states.append(progress(step=k + 1, theta=(0.8 * x,), previous=(x,)))
        x *= 0.8
    expected = next(k for k in range(100) if 0.2 * 0.8**k < 1e-3)
    assert first_stop(ParameterChange(1e-3), states) == expected


def test_m19_parameter_change_fires_on_a_step_of_zero():
    assert ParameterChange(1e-300).begin()(progress(theta=(1.0,), previous=(1.0,)))


@SETTINGS
@given(errors=st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3]), min_size=1, max_size=30), patience=st.integers(1, 6))
def test_m19_zero_one_unchanged_counts_the_steps_since_the_best_error(errors, patience):
    expected = next(
        (k for k in range(len(errors)) if k - errors.index(min(errors[: k + 1])) >= patience),
        None,
    )
    states = [progress(zero_one=error) for error in errors]
    assert first_stop(ZeroOneUnchanged(patience), states) == expected


def test_m19_zero_one_unchanged_is_not_fooled_by_an_error_that_swings():
    # 000: the error goes down in a noisy fashion; only a new lowest one counts as a change
    assert first_stop(ZeroOneUnchanged(4), [progress(zero_one=e) for e in [0.1, 0.3] * 10]) == 4


@pytest.mark.parametrize(("error", "stops"), [(0.0, True), (1e-9, False), (1.0, False)])
def test_no_mistakes_fires_at_zero_errors_only(error, stops):
    assert NoMistakes().begin()(progress(zero_one=error)) is stops


@pytest.mark.parametrize(("gap", "stops"), [(0.0, True), (1e-3, True), (1.001e-3, False), (1.0, False)])
def test_duality_gap_fires_at_its_tolerance(gap, stops):
    assert DualityGap(1e-3).begin()(progress(relative_gap=gap)) is stops


@pytest.mark.parametrize(
    ("objectives", "expected"),
    [
        ([1.0] * 10, 3),  # the first one counts as a fall, then three without
        ([0.0] * 10, 3),
        ([0.9**k for k in range(50)], None),
        ([-1.0 - k for k in range(50)], None),  # below zero too
        ([1.0, 0.5, 0.5, 0.5, 0.5], 4),
        ([1.0, 2.0, 1.0, 2.0], 3),  # swinging is no progress
        ([1 - 1e-4 * k for k in range(50)], 3),  # too slow for 1 % in three steps
        ([1 - 4e-3 * k for k in range(50)], None),  # three of these steps together are more than 1 %
    ],
)
def test_no_progress_fires_when_the_objective_stands(objectives, expected):
    states = [progress(objective=value) for value in objectives]
    assert first_stop(NoProgress(tol=0.01, patience=3), states) == expected


# --- when they must not


@pytest.mark.parametrize("rule", [rule for rule in NAMES.values() if rule.needs], ids=repr)
def test_m19_rule_whose_number_is_unknown_never_fires(rule):
    states = [progress(step=k, theta=(float(k),), previous=(k - 1.0,)) for k in range(1, 100)]
    assert all(math.isnan(getattr(state, rule.needs)) for state in states)
    assert first_stop(rule, states) is None


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_m19_run_that_has_blown_up_has_not_converged(value):
    states = [progress(objective=value) for _ in range(100)]
    assert first_stop(NoProgress(), states) is None


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_m19_parameters_that_are_no_numbers_are_no_negligible_change(bad):
    assert not ParameterChange().begin()(progress(theta=(bad,), previous=(0.0,)))


# --- several rules


def test_m19_stopping_at_the_iteration_limit_is_no_success():
    assert not MaxIterations().converged
    assert all(rule.converged for name, rule in NAMES.items() if name != "max_iterations")


def watchers(*rules):
    return [(rule, rule.begin()) for rule in rules]


def test_m19_no_rule_fires_while_none_has_a_reason():
    assert stopping.fired(watchers(MaxIterations(10), GradientNorm(0.1)), progress(gradient_norm=1.0)) is None
    assert stopping.fired([], progress()) is None


@pytest.mark.parametrize("order", [1, -1])
def test_m19_success_counts_before_the_iteration_limit(order):
    limit, flat = MaxIterations(5), GradientNorm(0.1)
    both = watchers(*[limit, flat][::order])
    assert stopping.fired(both, progress(step=5, gradient_norm=0.01)) is flat
    assert stopping.fired(both, progress(step=5, gradient_norm=1.0)) is limit


def test_m19_of_two_successes_the_first_named_is_told():
    gradient, change = GradientNorm(0.1), ParameterChange(0.1)
    still = progress(theta=(1.0,), previous=(1.0,), gradient_norm=0.0)
    assert stopping.fired(watchers(gradient, change), still) is gradient
    assert stopping.fired(watchers(change, gradient), still) is change


def test_m19_every_watcher_sees_every_step():
    # the patience of the second rule runs on while the first one fires
    both = watchers(GradientNorm(0.1), ZeroOneUnchanged(2))
    for step in (1, 2):
        assert isinstance(stopping.fired(both, progress(step, gradient_norm=0.0, zero_one=0.5)), GradientNorm)
    assert isinstance(stopping.fired(both, progress(3, gradient_norm=1.0, zero_one=0.5)), ZeroOneUnchanged)


@pytest.mark.parametrize("rule", [ZeroOneUnchanged(3), NoProgress(patience=3)], ids=repr)
def test_m19_one_rule_object_watches_many_runs(rule):
    one, other = rule.begin(), rule.begin()
    stand = [progress(step, objective=1.0, zero_one=0.5) for step in range(1, 10)]
    assert [one(state) for state in stand[:4]] == [False, False, False, True]
    assert [other(state) for state in stand[:4]] == [False, False, False, True]
    assert first_stop(rule, stand) == 3


# --- parameters


@pytest.mark.parametrize("value", [0, -1, math.nan])
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (MaxIterations, "n"),
        (GradientNorm, "tol"),
        (ParameterChange, "tol"),
        (ZeroOneUnchanged, "patience"),
        (NoProgress, "tol"),
        (NoProgress, "patience"),
        (DualityGap, "tol"),
    ],
)
def test_m19_parameters_must_be_positive(kind, name, value):
    with pytest.raises(ValueError, match=rf"{kind.__name__}\({name}=.*must be positive"):
        kind(**{name: value})


@pytest.mark.parametrize("rule", NAMES.values(), ids=repr)
def test_rules_are_values(rule):
    assert eval(repr(rule), vars(stopping)) == rule
    assert hash(eval(repr(rule), vars(stopping))) == hash(rule)
    with pytest.raises(AttributeError):
        rule.tol = 5.0


@pytest.mark.parametrize("rule", NAMES.values(), ids=repr)
def test_rule_needs_a_number_that_progress_has(rule):
    assert rule.needs == "" or hasattr(progress(), rule.needs)


def test_rule_of_ones_own_says_what_it_lacks():
    class Mine(Rule):
        pass

    with pytest.raises(TypeError, match="Mine does not say when to stop"):
        Mine().begin()


def test_every_rule_says_in_words_why_it_ended_a_run_and_an_own_one_by_its_name():
    for name in stopping.RULES:
        words = stopping.get(name)[0].in_words("passes")
        assert "(" not in words
        assert "=" not in words

    class Mine(stopping.Rule):
        pass

    assert "Mine" in Mine().in_words()
