"""Stochastic (sub)gradient descent and the perceptron, against loops written out by hand."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from linsep import LinearClassifier, Perceptron, SGDClassifier
from linsep._core import Rows
from linsep.schedules import Constant, Inverse, InverseSqrt, InverseTime
from linsep.solvers import StochasticDescent
from oracles import LOSSES, MarginFormula

not_converged = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SLOPES = {
    "perceptron": lambda z: -1.0 if z <= 0 else 0.0,
    "hinge": lambda z: -1.0 if z <= 1 else 0.0,
    "squared_hinge": lambda z: -2.0 * max(0.0, 1 - z),
    "logistic": lambda z: -1 / (1 + np.exp(z)),
    "square": lambda z: -2.0 * (1 - z),
}
ETAS = {  # M8: constant (.1), 1/(k+1), 1/√k and 1/(αk), here counted from k = 0
    Constant(0.1): lambda k: 0.1,
    InverseTime(): lambda k: 1 / (k + 1),
    InverseSqrt(0.5): lambda k: 0.5 / np.sqrt(k + 1),
    Inverse(4.0): lambda k: 1 / (4 * (k + 1)),
}


def descend(name, eta, X, y, visits, C=None, weight=None):
    """SGD on the mean objective, one line a step; returns the planes [w, b] after every step."""
    w, b, planes = np.zeros(X.shape[1]), 0.0, []
    shrink = 0.0 if C is None else 1 / (C * len(y))
    for k, i in enumerate(visits):
        slope = SLOPES[name](y[i] * (w @ X[i] + b)) * (1 if weight is None else weight[i])
        w = (1 - eta(k) * shrink) * w - eta(k) * slope * y[i] * X[i]
        b = b - eta(k) * slope * y[i]
        planes.append([*w, b])
    return np.array(planes)


def plane(model):
    return np.append(model.coef_[0], model.intercept_)


# -- SGD (M8, M9) -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", ETAS, ids=str)
@pytest.mark.parametrize("name", SLOPES)
@pytest.mark.parametrize("C", [None, 2.0])
@not_converged
def test_m8_cyclic_descent_equals_a_loop_written_by_hand(overlapping, schedule, name, C):
    X, y = overlapping
    if name == "square":
        X = X / 4  # steps of size one would blow up
    solver = StochasticDescent(schedule, None, "last", "cyclic", max_iter=3)
    model = LinearClassifier(name, C=C, solver=solver).fit(X, y)
    by_hand = descend(name, ETAS[schedule], X, y, np.tile(np.arange(len(y)), 3), C)
    np.testing.assert_allclose(plane(model), by_hand[-1], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("schedule", ETAS, ids=str)
@not_converged
def test_m8_random_descent_equals_a_loop_over_the_examples_it_drew(overlapping, schedule):
    X, y = overlapping
    model = SGDClassifier("logistic", schedule=schedule, stopping=None, max_iter=4, record="update", random_state=1)
    history = model.set_params(keep="last").fit(X, y).history_
    drawn = history["example"][1:].astype(int)  # with this loss every step is an update
    by_hand = descend("logistic", ETAS[schedule], X, y, drawn, C=1.0)
    np.testing.assert_allclose(history.iterates[1:], by_hand, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(history["step_size"][1:], [ETAS[schedule](k) for k in range(len(drawn))], rtol=1e-12)
    np.testing.assert_allclose(plane(model), by_hand[-1], rtol=1e-9, atol=1e-11)


@not_converged
def test_m8_every_example_is_as_likely_as_every_other(overlapping):
    X, y = overlapping
    model = SGDClassifier("logistic", stopping=None, max_iter=25, record="update", random_state=0).fit(X, y)
    counts = np.bincount(model.history_["example"][1:].astype(int), minlength=len(y))
    assert counts.sum() == 25 * len(y)
    chi_square = ((counts - 25) ** 2 / 25).sum()
    assert 25 < chi_square < 115  # 59 degrees of freedom: outside once in ten thousand runs


@not_converged
def test_m8_an_example_is_drawn_in_proportion_to_its_weight(overlapping):
    X, y = overlapping
    weight = np.arange(len(y)) % 4
    model = SGDClassifier("logistic", stopping=None, max_iter=50, record="update", random_state=0)
    drawn = model.fit(X, y, sample_weight=weight).history_["example"][1:].astype(int)
    counts = np.bincount(drawn, minlength=len(y))
    assert (counts[weight == 0] == 0).all()
    shares = np.array([counts[weight == k].sum() for k in (1, 2, 3)]) / len(drawn)
    np.testing.assert_allclose(shares, np.array([1, 2, 3]) / 6, atol=0.03)


@pytest.mark.parametrize("order", ["random", "worst"])
@not_converged
def test_a_weight_of_two_is_the_same_as_two_rows(overlapping, order):
    X, y = overlapping
    weight = np.where(np.arange(len(y)) < 20, 2, 1)
    twice = np.repeat(np.arange(len(y)), weight)
    weighted = Perceptron(order=order, max_iter=30, random_state=0).fit(X, y, sample_weight=weight)
    repeated = Perceptron(order=order, max_iter=30, random_state=0).fit(X[twice], y[twice])
    np.testing.assert_allclose(plane(weighted), plane(repeated), rtol=1e-9)


@not_converged
def test_in_cyclic_order_a_weight_multiplies_the_step_of_its_example(overlapping):
    X, y = overlapping
    weight = np.random.default_rng(0).uniform(0.1, 2, len(y))
    model = Perceptron(order="cyclic", keep="last", max_iter=3).fit(X, y, sample_weight=weight)
    visits = np.tile(np.arange(len(y)), 3)
    by_hand = descend("perceptron", lambda k: 1.0, X, y, visits, weight=weight / weight.mean())
    np.testing.assert_allclose(plane(model), by_hand[-1], rtol=1e-9)


@pytest.mark.parametrize("name", ["logistic", "squared_hinge", "hinge"])
def test_sgd_gets_near_the_minimum_that_an_independent_method_finds(overlapping, name):
    X, y = overlapping
    formula = MarginFormula(X, y, loss=name)
    best = formula.conic_optimum().value
    model = SGDClassifier(name, random_state=0).fit(X, y)
    assert model.converged_
    assert best * (1 - 1e-8) <= formula.value(model.coef_[0], model.intercept_[0]) < 1.05 * best


@pytest.mark.parametrize("name", SLOPES)
@not_converged
def test_m9_the_risk_of_the_best_iterate_never_rises_and_is_the_one_reported(overlapping, name):
    X, y = overlapping
    model = SGDClassifier(name, schedule=0.2, C=None, stopping=None, max_iter=40, random_state=0).fit(X, y)
    history = model.history_
    best, risks = history["best"][1:], history["risk"][1:]
    assert (np.diff(best) <= 0).all()
    np.testing.assert_allclose(best, np.minimum.accumulate(risks), rtol=1e-12)
    z = y * (X @ model.coef_[0] + model.intercept_[0])
    assert LOSSES[name](z).mean() == pytest.approx(best[-1], rel=1e-9)
    assert history["zero_one"][1:].min() <= np.mean(z <= 0)


@not_converged
def test_m9_the_current_and_the_average_iterate_can_be_kept_instead(overlapping):
    X, y = overlapping
    settings = dict(loss="logistic", schedule=0.3, stopping=None, max_iter=5, record="update", random_state=0)
    iterates = SGDClassifier(**settings, keep="last").fit(X, y).history_.iterates[1:]
    np.testing.assert_array_equal(plane(SGDClassifier(**settings, keep="last").fit(X, y)), iterates[-1])
    average = SGDClassifier(**settings, keep="average").fit(X, y)
    np.testing.assert_allclose(plane(average), iterates.mean(axis=0), rtol=1e-10)
    by_pass = SGDClassifier(**settings | dict(record="pass"), keep="average").fit(X, y)
    np.testing.assert_allclose(plane(by_pass), iterates.mean(axis=0), rtol=1e-10)


@not_converged
def test_a_fit_is_the_same_for_the_same_seed_and_another_for_another(overlapping):
    X, y = overlapping
    one, same, other = (SGDClassifier(max_iter=2, stopping=None, random_state=seed).fit(X, y) for seed in (1, 1, 2))
    np.testing.assert_array_equal(plane(one), plane(same))
    assert not np.array_equal(plane(one), plane(other))


@pytest.mark.parametrize("r", [0.3, 1.0])
def test_sgd_gets_near_the_minimum_with_an_l1_penalty(overlapping, r):
    X, y = overlapping

    formula = MarginFormula(X, y, 0.5, 1 - r, r)
    best = formula.smooth_optimum().value
    model = SGDClassifier("logistic", penalty="elasticnet", l1_ratio=r, C=0.5, random_state=0).fit(X, y)
    assert best * (1 - 1e-8) <= formula.value(model.coef_[0], model.intercept_[0]) < 1.05 * best


def test_a_strong_l1_penalty_leaves_weights_of_exactly_zero(overlapping):
    X, y = overlapping
    C = 0.05 / np.abs(y @ X).max()  # at w = 0 hardly an example outweighs the penalty, and the risk is far from it
    for seed in range(5):
        model = SGDClassifier("hinge", penalty="l1", C=C, schedule="inverse_time", keep="last", random_state=seed)
        assert not model.fit(X, y).coef_.any()


def test_partial_fit_in_batches_equals_one_pass(overlapping):
    X, y = overlapping
    solver = StochasticDescent(InverseSqrt(0.5), keep="last", order="cyclic")
    model = LinearClassifier("logistic", C=None, solver=solver)
    for rows in np.split(np.arange(len(y)), [1, 7, 30]):
        model.partial_fit(X[rows], y[rows], classes=[-1, 1])
    by_hand = descend("logistic", lambda k: 0.5 / np.sqrt(k + 1), X, y, np.arange(len(y)))
    np.testing.assert_allclose(plane(model), by_hand[-1], rtol=1e-10)
    assert model.t_ == len(y) + 1


def test_partial_fit_of_the_average_goes_back_to_the_beginning_of_the_stream(overlapping):
    X, y = overlapping
    solver = StochasticDescent(0.1, keep="average", order="cyclic")
    model = LinearClassifier("hinge", C=None, solver=solver)
    for rows in np.split(np.arange(len(y)), [13, 40]):
        model.partial_fit(X[rows], y[rows], classes=[-1, 1])
    by_hand = descend("hinge", lambda k: 0.1, X, y, np.arange(len(y)))
    np.testing.assert_allclose(plane(model), by_hand.mean(axis=0), rtol=1e-10)


def test_partial_fit_on_an_endless_stream_gets_near_the_truth():
    rng = np.random.default_rng(0)
    model = SGDClassifier("logistic", C=None, keep="average", random_state=0)
    for _ in range(300):
        X = rng.standard_normal((20, 2))
        model.partial_fit(X, X @ [3.0, -4.0] + rng.logistic(size=20) > 0, classes=[False, True])
    w = model.coef_[0] / np.linalg.norm(model.coef_)
    np.testing.assert_allclose(w, [0.6, -0.8], atol=0.1)


# -- the perceptron (M10) ---------------------------------------------------------------------------------------------


def textbook(X, y, passes=1000, intercept=True):
    """The perceptron as in the slides; returns the planes after every step, and how often each example moved them."""
    w, b, planes, counts = np.zeros(X.shape[1]), 0.0, [], np.zeros(len(y), dtype=int)
    for _ in range(passes):
        for i in range(len(y)):
            if y[i] * (w @ X[i] + b) <= 0:
                w, b = w + y[i] * X[i], b + y[i] * intercept
                counts[i] += 1
            planes.append([*w, b])
        if (y * (X @ w + b) > 0).all():
            break
    return np.array(planes), counts


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array, lambda X: X.astype(np.float32)], ids=["64", "csr", "32"])
def test_m10_the_cyclic_perceptron_equals_the_textbook_loop_exactly(separable, intercept, to):
    X, y = separable
    if not intercept:
        y = np.where(X @ [2.0, -3.0, 1.0] > 0, 1, -1)
    planes, counts = textbook(X, y, intercept=intercept)
    model = Perceptron(order="cyclic", keep="last", fit_intercept=intercept).fit(to(X), y)
    np.testing.assert_array_equal(plane(model), planes[-1])
    np.testing.assert_array_equal(model.update_counts_, counts)
    assert model.mistakes_ == counts.sum()
    assert model.n_iter_ == len(planes) / len(y)
    assert model.converged_
    assert (model.predict(X) == y).all()


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 25), d=st.integers(1, 4), passes=st.integers(1, 6))
@settings(max_examples=50, deadline=None)
def test_m10_the_perceptron_equals_the_textbook_loop_on_any_data(seed, n, d, passes):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-4, 5, (n, d)).astype(np.float64), np.append([1, -1], rng.choice([-1, 1], n - 2))
    planes, counts = textbook(X, y, passes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # most of these data no plane separates
        model = Perceptron(order="cyclic", keep="last", max_iter=passes).fit(X, y)
    np.testing.assert_array_equal(plane(model), planes[-1])
    np.testing.assert_array_equal(model.update_counts_, counts)
    np.testing.assert_array_equal(model.coef_[0], (counts * y) @ X)


@pytest.mark.parametrize("order", ["random", "cyclic"])
@pytest.mark.parametrize("keep", ["last", "average"])
def test_m10_the_perceptron_is_sgd_with_unit_steps_on_the_perceptron_loss(separable, order, keep):
    X, y = separable
    perceptron = Perceptron(order=order, keep=keep, random_state=5).fit(X, y)
    solver = StochasticDescent(Constant(1.0), "no_mistakes", keep, order)
    sgd = LinearClassifier("perceptron", C=None, solver=solver, tol=2.0, random_state=5).fit(X, y)  # any gap will do
    np.testing.assert_array_equal(plane(perceptron), plane(sgd))
    if order == "random":
        other = SGDClassifier("perceptron", C=None, schedule=1.0, stopping="no_mistakes", keep=keep, random_state=5)
        np.testing.assert_array_equal(plane(perceptron), plane(other.fit(X, y)))


@pytest.mark.parametrize("order", ["random", "cyclic", "worst"])
def test_m10_the_plane_is_a_combination_of_the_examples_by_update_counts(separable, order):
    X, y = separable
    model = Perceptron(order=order, keep="last", random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.coef_[0], (model.update_counts_ * y) @ X)
    assert model.intercept_[0] == (model.update_counts_ * y).sum()
    assert model.mistakes_ == model.update_counts_.sum() > 0


@pytest.mark.parametrize("order", ["random", "cyclic", "worst"])
@pytest.mark.parametrize("keep", ["best", "last"])
def test_m10_the_perceptron_ends_without_mistakes_on_separable_data(separable, order, keep):
    X, y = separable
    model = Perceptron(order=order, keep=keep, random_state=0).fit(X, y)
    assert model.converged_
    assert (y * model.decision_function(X) > 0).all()
    assert model.mistakes_ <= model.mistake_bound_


def test_m10_the_worst_violator_is_the_one_that_is_taken(separable):
    X, y = separable
    history = Perceptron(order="worst").fit(X, y).history_
    iterates, taken = history.iterates, np.nan_to_num(history["example"], nan=-1).astype(int)
    for before, after, i in zip(iterates, iterates[1:], taken[1:], strict=False):
        z = y * (X @ before[:-1] + before[-1])
        assert z[i] == z.min() <= 0
        np.testing.assert_array_equal(after - before, y[i] * np.append(X[i], 1))


def test_m10_every_recorded_update_is_one_example_added(separable):
    X, y = separable
    history = Perceptron(record="update", random_state=0).fit(X, y).history_
    moves, causes = np.diff(history.iterates, axis=0), np.nan_to_num(history["example"][1:], nan=-1).astype(int)
    expected = y[causes, None] * np.column_stack([X[causes], np.ones(len(causes))])
    expected[causes < 0] = 0  # the end of a pass
    np.testing.assert_array_equal(moves, expected)


@pytest.mark.parametrize("order", ["random", "cyclic", "worst"])
def test_m10_multiplying_all_data_changes_nothing_but_the_scale(separable, order):
    X, y = separable
    y = np.where(X @ [2.0, -3.0, 1.0] > 0, 1, -1)
    plain, large = (
        Perceptron(order=order, fit_intercept=False, random_state=0).fit(scale * X, y) for scale in (1.0, 2.0**30)
    )
    assert plain.converged_
    assert large.converged_
    np.testing.assert_array_equal(large.coef_, 2.0**30 * plain.coef_)
    assert large.mistakes_ == plain.mistakes_


@not_converged
def test_m10_the_pocket_keeps_the_plane_with_the_fewest_mistakes(overlapping):
    X, y = overlapping
    model = Perceptron(max_iter=50, random_state=0).fit(X, y)
    errors = model.history_["zero_one"][1:]
    assert np.mean(y * (X @ model.coef_[0] + model.intercept_[0]) <= 0) == pytest.approx(errors.min())
    last = Perceptron(max_iter=50, random_state=0, keep="last").fit(X, y)
    assert model.score(X, y) >= last.score(X, y)


@not_converged
def test_m10_the_averaged_perceptron_is_the_mean_of_all_planes(overlapping):
    X, y = overlapping
    planes, _ = textbook(X, y, passes=7)
    model = Perceptron(order="cyclic", keep="average", max_iter=7).fit(X, y)
    np.testing.assert_allclose(plane(model), planes.mean(axis=0), rtol=1e-10)


@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("intercept", [True, False])
@not_converged
def test_m10_the_voted_perceptron_counts_a_vote_for_every_step_a_plane_survived(overlapping, to, intercept):
    X, y = overlapping
    planes, _ = textbook(X, y, passes=4, intercept=intercept)
    new = np.random.default_rng(7).standard_normal((50, 3))
    votes = np.where(new @ planes[:, :-1].T + planes[:, -1] >= 0, 1, -1).mean(axis=1)
    model = Perceptron(order="cyclic", keep="vote", max_iter=4, fit_intercept=intercept).fit(to(X), y)
    np.testing.assert_allclose(model.decision_function(to(new)), votes, atol=1e-12)
    np.testing.assert_array_equal(model.predict(to(new)), np.where(votes > 0, 1, -1))


@pytest.mark.parametrize("sizes", [[], [1, 2, 3], list(range(1, 40))], ids=["whole", "batches", "one by one"])
def test_m10_a_stream_equals_one_cyclic_pass(separable, sizes):
    X, y = separable
    planes, counts = textbook(X, y, passes=1)
    model = Perceptron(order="cyclic")
    for rows in np.split(np.arange(len(y)), sizes):
        model.partial_fit(X[rows], y[rows], classes=[-1, 1])
    np.testing.assert_array_equal(plane(model), planes[len(y) - 1])
    assert model.mistakes_ == counts.sum()
    assert model.t_ == len(y) + 1


def test_m10_a_stream_goes_on_where_a_fit_ended(separable):
    X, y = separable
    fitted = Perceptron(order="cyclic", keep="last").fit(X, y)
    before = plane(fitted).copy()
    wrong = X[:1], -y[:1]
    assert wrong[1][0] * fitted.decision_function(wrong[0])[0] < 0
    fitted.partial_fit(*wrong)
    np.testing.assert_array_equal(plane(fitted) - before, wrong[1][0] * np.append(wrong[0][0], 1))


def test_m10_a_batch_in_random_order_takes_a_step_for_each_of_its_rows(separable):
    X, y = separable
    model = Perceptron(random_state=0).partial_fit(X, y, classes=[-1, 1])
    assert model.t_ == len(y) + 1


def test_m10_labels_that_the_stream_did_not_announce_are_an_error(separable):
    X, y = separable
    model = Perceptron(order="cyclic").partial_fit(X, y, classes=[-1, 1])
    before = plane(model).copy()
    with pytest.raises(ValueError, match=r"label.*7.*not among the classes"):
        model.partial_fit(X, np.full(len(y), 7))
    with pytest.raises(ValueError, match="classes"):
        model.partial_fit(X, y, classes=[-1, 1, 2])
    np.testing.assert_array_equal(plane(model), before)
    with pytest.raises(ValueError, match="classes"):
        Perceptron().partial_fit(X, y)


def test_m10_data_that_no_plane_separates_are_named_as_the_likely_reason(overlapping):
    with pytest.warns(ConvergenceWarning, match="may not be linearly separable") as caught:
        model = Perceptron(max_iter=200, prove=False, random_state=0).fit(*overlapping)
    assert not model.converged_
    assert model.separability_ is None
    (message,) = [str(w.message) for w in caught]
    assert "step size" not in message  # a perceptron has none that its user could change


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 30), d=st.integers(1, 4))
@settings(max_examples=30, deadline=None)
def test_m11_mistakes_stay_below_novikoffs_bound(seed, n, d):
    rng = np.random.default_rng(seed)
    X, w = rng.integers(-9, 10, (n, d)).astype(np.float64), rng.integers(-3, 4, d)
    y = np.where(X @ w + 0.5 > 0, 1, -1)
    assume(len(set(y)) == 2)
    model = Perceptron(order="cyclic", max_iter=100_000).fit(X, y)
    augmented, theta = np.column_stack([X, np.ones(n)]), plane(model)
    radius = np.linalg.norm(augmented, axis=1).max()
    margin = (y * (augmented @ theta)).min() / np.linalg.norm(theta)
    assert model.radius_ == pytest.approx(radius)
    assert model.margin_ == pytest.approx(margin)
    assert model.mistake_bound_ == pytest.approx((radius / margin) ** 2)
    assert model.mistakes_ <= model.best_mistake_bound_ <= 1.03 * model.mistake_bound_
    assert model.best_mistake_bound_ == pytest.approx((radius / model.best_margin_) ** 2)


# --- looking does not change the answer


@pytest.mark.parametrize("keep", ["best", "last", "average", "vote"])
@pytest.mark.parametrize("order", ["random", "cyclic"])
def test_the_perceptron_reports_the_same_plane_however_much_is_recorded(order, keep):
    xor, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), [-1, 1, 1, -1]
    for seed in range(5):
        models = [
            Perceptron(order=order, keep=keep, record=record, max_iter=7, prove=False, random_state=seed)
            for record in ("pass", "update")
        ]
        with pytest.warns(ConvergenceWarning):
            by_pass, by_update = (model.fit(xor, y) for model in models)
        np.testing.assert_array_equal(by_pass.coef_, by_update.coef_)
        np.testing.assert_array_equal(by_pass.intercept_, by_update.intercept_)
        assert (by_pass.n_iter_, by_pass.t_, by_pass.mistakes_) == (
            by_update.n_iter_,
            by_update.t_,
            by_update.mistakes_,
        )
        assert len(by_update.history_) > len(by_pass.history_)


@pytest.mark.parametrize("stopping", ["no_progress", "parameter_change", "zero_one_unchanged"])
def test_stochastic_descent_reports_the_same_plane_however_much_is_recorded(separable, stopping):
    X, y = separable
    asked = dict(loss="logistic", stopping=stopping, max_iter=30, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        by_pass, by_update = (SGDClassifier(record=record, **asked).fit(X, y) for record in ("pass", "update"))
    np.testing.assert_allclose(by_pass.coef_, by_update.coef_, rtol=1e-12)
    assert by_pass.n_iter_ == by_update.n_iter_


def test_a_mistake_is_z_at_most_zero_and_an_error_a_wrong_label(separable):
    """At w = 0 every row lies on the plane: the perceptron's rule counts all of them, predict gives all one label."""
    X, y = separable
    history = Perceptron(record="update", random_state=0).fit(X, y).history_
    for record in history.records:
        g = X @ record.iterate[:-1] + record.iterate[-1]
        assert record.zero_one == pytest.approx(np.mean(y * g <= 0), abs=1e-15)
        assert record.error == pytest.approx(np.mean(np.where(g > 0, 1, -1) != y), abs=1e-15)
    assert history["zero_one"][0] == 1
    assert history["error"][0] == pytest.approx(np.mean(y > 0))


@pytest.fixture
def large():
    """More numbers than are measured after every pass, with some labels wrong."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2100, 100))
    return X, np.where(rng.random(2100) < 0.1, X[:, 0] < 0, X[:, 0] > 0)


def test_large_data_are_measured_for_the_history_alone_after_ever_fewer_passes(large):
    walk = dict(stopping=None, max_iter=21, random_state=0)
    rarely = SGDClassifier(keep="last", **walk)
    often = SGDClassifier(keep="last", **(walk | dict(stopping="gradient_norm")))
    best = SGDClassifier(keep="best", **walk)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for model in (rarely, often, best):
            model.fit(*large)
    assert rarely.history_["passes"].tolist() == [0, 1, 4, 16, 21]
    assert often.history_["passes"].tolist() == best.history_["passes"].tolist() == [0, 1, 2, 3, 4, 6, 9, 13, 19, 21]
    np.testing.assert_array_equal(rarely.coef_, often.coef_)  # looking changes nothing
    for column in ("objective", "gradient_norm", "updates"):
        assert set(rarely.history_[column][:-2]) <= set(often.history_[column])


@pytest.mark.parametrize("kind", [SGDClassifier, Perceptron])
def test_a_short_walk_over_large_data_is_the_same_whether_it_is_measured_or_not(large, kind, monkeypatch):
    X, y = large
    asked = dict(tol=None, max_iter=2, random_state=0)
    unseen = kind(**asked).fit(X, y)
    assert unseen.history_["passes"].tolist() == [0, 1, 2]
    assert np.isnan(unseen.history_["objective"]).all()
    assert "objective" not in unseen.history_.to_frame()
    longer = kind(**(asked | dict(max_iter=9))).fit(X, y).history_
    assert np.isfinite(longer["objective"]).tolist() == [passes >= 4 for passes in longer["passes"]]
    assert longer["passes"].tolist() == [0, 1, 4, 9]
    monkeypatch.setattr("linsep.solvers.first_order.walk.WORTH_MEASURING", 0)
    seen = kind(**asked).fit(X, y)
    assert np.isfinite(seen.history_["objective"]).all()
    for name in ("coef_", "intercept_", "mistakes_", "t_", "converged_"):
        np.testing.assert_allclose(getattr(unseen, name), getattr(seen, name), rtol=1e-12)
    if kind is Perceptron:
        np.testing.assert_array_equal(unseen.update_counts_, seen.update_counts_)
        for name in ("radius_", "margin_", "mistake_bound_"):
            assert np.isnan(getattr(unseen, name))
            assert not np.isnan(getattr(seen, name))


def test_a_short_walk_that_leaves_the_range_of_floats_has_diverged(large):
    with pytest.warns(ConvergenceWarning, match="too large"):
        model = SGDClassifier(learning_rate="constant", eta0=1e308, alpha=0.0, tol=None, max_iter=3).fit(*large)
    assert not model.converged_


def test_steps_on_entries_that_repeat_are_those_on_their_sums(large):
    X, y = large
    halves = sparse.csr_array(
        (np.repeat(X.ravel() / 2, 2), np.tile(np.repeat(np.arange(100), 2), 2100), np.arange(2101) * 200), X.shape
    )
    asked = dict(alpha=0.01, max_iter=2, random_state=0)
    for tol in (None, 1e-3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            once, twice = (SGDClassifier(tol=tol, **asked).fit(rows, y) for rows in (X, halves))
        np.testing.assert_allclose(twice.coef_, once.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(Rows(halves, linear=True).squared_norms(), (X**2).sum(axis=1), rtol=1e-12)


def test_a_perceptron_full_of_mistakes_is_asked_rarely_whether_it_has_none(large):
    X, y = large
    how = dict(keep="last", prove=False, max_iter=21)
    with pytest.warns(ConvergenceWarning):
        busy = Perceptron(**how).fit(X, y)
    assert busy.history_["passes"].tolist() == [0, 1, 4, 16, 21]
    apart = np.abs(X[:, 0]) > 0.5
    X, y = np.tile(X[apart], (2, 1)), np.tile(X[apart, 0] > 0, 2)
    done = Perceptron(**how).fit(X, y)  # without mistakes, which is noticed as soon as before
    assert done.converged_
    assert done.score(X, y) == 1
    assert done.n_iter_ in (1, 2, 3, 4, 6, 9, 13, 19)


def test_weights_have_names_where_iterates_are_kept_only(separable):
    X, y = separable
    assert SGDClassifier(random_state=0).fit(X, y).history_.coordinates == ()
    kept = SGDClassifier(record="update", random_state=0).fit(X, y).history_
    assert len(kept.coordinates) == kept.iterates.shape[1]
