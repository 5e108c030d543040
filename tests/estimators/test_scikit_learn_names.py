"""scikit-learn's names for stochastic descent: the same planes as scikit-learn's own classes, and one name a thing."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model as theirs
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import scale

import linsep
from linsep import LinearClassifier, LogisticRegression, Perceptron, SGDClassifier

WALKS = {
    "constant": dict(loss="log_loss", learning_rate="constant", eta0=0.01, alpha=0.01),
    "invscaling": dict(loss="squared_error", learning_rate="invscaling", eta0=0.01, alpha=0.1, power_t=0.3),
    "power_t=0": dict(loss="squared_hinge", learning_rate="invscaling", eta0=0.001, alpha=0.1, power_t=0.0),
    "optimal": dict(alpha=0.01),
    "average": dict(average=True, alpha=0.01),
    "late average": dict(average=1000, alpha=0.01),
    "no penalty": dict(loss="perceptron", penalty=None, learning_rate="constant", eta0=1.0),
    "l1": dict(loss="log_loss", penalty="l1", alpha=0.01, learning_rate="constant", eta0=0.01),
}


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y, np.random.default_rng(0).uniform(0.2, 2.0, len(y))


@pytest.mark.parametrize("walk", WALKS)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_walk_in_scikit_learns_words_is_scikit_learns(data, walk, weighted):
    X, y, weight = data
    asked = dict(shuffle=False, tol=None, max_iter=4, **WALKS[walk])
    weight = weight if weighted else None
    ours, peer = (kind(**asked).fit(X, y, sample_weight=weight) for kind in (SGDClassifier, theirs.SGDClassifier))
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, rtol=1e-9, atol=1e-11)
    assert (ours.n_iter_, ours.t_) == (peer.n_iter_, peer.t_)


@pytest.mark.parametrize("asked", [{}, dict(penalty="l2", alpha=0.01), dict(penalty="l1", alpha=0.001), dict(eta0=0.5)])
def test_a_perceptron_in_scikit_learns_words_is_scikit_learns(data, asked):
    X, y, _ = data
    asked = dict(shuffle=False, tol=None, max_iter=4) | asked
    ours, peer = (kind(**asked).fit(X, y) for kind in (Perceptron, theirs.Perceptron))
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-9, atol=1e-11)


def test_a_fit_begins_where_it_is_told_to(data):
    X, y, _ = data
    asked = dict(shuffle=False, tol=None, max_iter=2, alpha=0.01)
    start = dict(coef_init=np.full((1, X.shape[1]), 0.1), intercept_init=[0.5])
    ours, peer = (kind(**asked).fit(X, y, **start) for kind in (SGDClassifier, theirs.SGDClassifier))
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-9, atol=1e-11)
    with pytest.raises(ValueError, match=r"coef_init has shape \(3,\)"):
        SGDClassifier(**asked).fit(X, y, coef_init=np.zeros(3))


def test_rows_that_are_put_aside_teach_nothing(data):
    X, y, _ = data
    asked = dict(alpha=0.01, tol=None, max_iter=3, shuffle=False)
    kept = np.sort(next(StratifiedShuffleSplit(test_size=0.3, random_state=4).split(X, y))[0])
    early = SGDClassifier(early_stopping=True, validation_fraction=0.3, random_state=4, **asked).fit(X, y)
    np.testing.assert_array_equal(early.coef_, SGDClassifier(**asked).fit(X[kept], y[kept]).coef_)
    stopped = SGDClassifier(alpha=0.01, early_stopping=True, random_state=0, n_iter_no_change=3).fit(X, y)
    assert stopped.n_iter_ < 100
    assert stopped.converged_
    with pytest.raises(ValueError, match="early_stopping"):
        stopped.partial_fit(X, y)


def test_adaptive_steps_go_on_where_constant_ones_end(data):
    X, y, _ = data
    asked = dict(alpha=0.01, eta0=0.1, tol=1e-3, random_state=0)
    passes = [SGDClassifier(learning_rate=rate, **asked).fit(X, y).n_iter_ for rate in ("constant", "adaptive")]
    assert passes[0] < passes[1]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (dict(C=2.0, alpha=0.1), "C=2.0 and alpha=0.1 say the same thing twice"),
        (dict(schedule=0.1, eta0=0.1), "schedule=0.1 and eta0=0.1 say"),
        (dict(keep="best", average=True), "keep='best' and average=True say"),
        (dict(stopping="parameter_change", tol=1e-3), "stopping='parameter_change' and tol=0.001 say"),
        (dict(learning_rate="pa1"), "passive-aggressive"),
        (dict(learning_rate="optimal", alpha=0.0), "divides by alpha"),
        (dict(loss="huber"), "'huber' of scikit-learn is not here; use 'modified_huber'"),
        (dict(loss="epsilon_insensitive"), "use 'hinge'"),
        (dict(alpha=-1.0), "alpha=-1.0"),
        (dict(validation_fraction=1.0), "validation_fraction=1.0"),
        (dict(power_t=-1.0), "power_t=-1.0"),
        (dict(tol="tight"), "tol='tight'"),
    ],
    ids=str,
)
def test_one_thing_has_one_name_and_what_is_not_here_says_so(data, asked, words):
    X, y, _ = data
    with pytest.raises(ValueError, match=words):
        clone(SGDClassifier(**asked)).fit(X, y)


@pytest.mark.parametrize("loss", ["log_loss", "hinge"])
def test_l1_leaves_about_as_many_zeros_as_scikit_learn_at_no_higher_risk(data, loss):
    X, y, _ = data
    signs, alpha = np.where(y == 1, 1, -1), 0.01

    def judged(model):
        z = signs * model.decision_function(X)
        losses = np.logaddexp(0, -z) if loss == "log_loss" else np.maximum(0, 1 - z)
        return np.count_nonzero(model.coef_ == 0), losses.mean() + alpha * np.abs(model.coef_).sum()

    asked = dict(loss=loss, penalty="l1")
    ours = [judged(SGDClassifier(C=1 / (alpha * len(y)), random_state=k, **asked).fit(X, y)) for k in range(4)]
    peer = [judged(theirs.SGDClassifier(alpha=alpha, random_state=k, **asked).fit(X, y)) for k in range(4)]
    (zeros, risk), (their_zeros, their_risk) = np.mean(ours, axis=0), np.mean(peer, axis=0)
    assert zeros >= 0.7 * their_zeros
    assert risk <= 1.01 * their_risk


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("SGDClassifier", {}),
        ("SGDClassifier", {"alpha": 1e-3}),
        ("SGDClassifier", {"alpha": 1e-3, "average": True}),
        ("Perceptron", {}),
        ("Perceptron", {"tol": 1e-3}),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_planes_are_as_precise_as_the_examples(kind, more, dtype):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)).astype(dtype), rng.integers(0, 3, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = getattr(theirs, kind)(random_state=0, **more).fit(X, y)
    for rows in (X, sparse.csr_array(X)):
        fitted, streamed = (getattr(linsep, kind)(random_state=0, **more) for _ in range(2))
        for model in (fitted.fit(rows, y), streamed.partial_fit(rows, y, classes=[0, 1, 2])):
            assert (model.coef_.dtype, model.intercept_.dtype) == (expected.coef_.dtype, expected.intercept_.dtype)


def test_a_perceptron_without_mistakes_keeps_the_bits_that_this_takes():
    X, y = np.array([[-1, 1], [2**-25, 2**-25]], dtype=np.float32), [0, 1]
    model = Perceptron(order="cyclic", fit_intercept=False).fit(X, y)
    np.testing.assert_array_equal(model.coef_, [[1 + 2**-25, -1 + 2**-25]])  # as 32-bit numbers 1 and −1: z = 0
    assert model.coef_.dtype == np.float64
    assert model.score(X, y) == 1


def test_an_elastic_net_walks_as_scikit_learns_but_for_what_its_debts_shrink(data):
    """A weight's unpaid share of L1 shrinks with it here, so that sparse rows walk as dense ones do."""
    X, y, _ = data
    asked = dict(penalty="elasticnet", l1_ratio=0.3, alpha=0.01, learning_rate="constant", eta0=0.01)
    walk = dict(shuffle=False, tol=None, max_iter=4)
    ours, peer = (kind(**asked, **walk).fit(X, y) for kind in (SGDClassifier, theirs.SGDClassifier))
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=2e-3)
    np.testing.assert_array_equal(ours.coef_ == 0, peer.coef_ == 0)
    np.testing.assert_allclose(SGDClassifier(**asked, **walk).fit(sparse.csr_array(X), y).coef_, ours.coef_, rtol=1e-9)


@pytest.mark.parametrize(
    ("ours", "said", "share"),
    [
        (LogisticRegression, {}, theirs.LogisticRegression().l1_ratio),
        (SGDClassifier, {"random_state": 0}, theirs.SGDClassifier().l1_ratio),
        (SGDClassifier, {"random_state": 0, "alpha": 0.01}, theirs.SGDClassifier().l1_ratio),
        (Perceptron, {"random_state": 0, "order": "random"}, theirs.Perceptron().l1_ratio),
        (LinearClassifier, {"loss": "logistic"}, theirs.SGDClassifier().l1_ratio),
    ],
)
def test_an_elastic_net_has_scikit_learns_share_of_l1_if_none_is_said(ours, said, share):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((80, 4)), rng.integers(0, 2, 80)
    unsaid, with_it = (ours(penalty="elasticnet", **said, **more).fit(X, y) for more in ({}, {"l1_ratio": share}))
    assert unsaid.l1_ratio == share
    np.testing.assert_array_equal(unsaid.coef_, with_it.coef_)
    other = ours(penalty="elasticnet", **said, l1_ratio=0.9).fit(X, y)
    assert (other.coef_ != unsaid.coef_).any()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("model", "words"),
    [
        (SGDClassifier(alpha=0.1, random_state=0), "scikit-learn's alpha has none; without it there is one"),
        (Perceptron(tol=1e-3, random_state=0), "scikit-learn's tol has none; without it there is one"),
        (linsep.ZeroOneClassifier(), "a convex loss .*; what is proven stands in lower_bound_proof_"),
    ],
)
def test_a_fit_without_a_certificate_says_why(model, words):
    X, y = [[0.0], [1.0], [2.0], [3.0], [9.0]], [0, 0, 1, 1, 0]
    model.fit(X, y)
    with pytest.raises(AttributeError, match=words):
        _ = model.certificate_
    assert not hasattr(model, "certificate_")


@pytest.mark.parametrize("kind", [SGDClassifier, LinearClassifier])
def test_m18_a_flat_loss_is_sent_to_who_can_minimise_it(kind):
    with pytest.raises(ValueError, match="minimise it exactly by ZeroOneClassifier"):
        kind("zero_one").fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (dict(C=np.float64(2.0), alpha=np.float64(0.1)), "C=2.0 and alpha=0.1 say the same"),
        (dict(eta0=np.float64(0.0)), "eta0=0.0 must be"),
        (dict(average=np.int64(-1)), "average=-1 must be"),
        (dict(verbose=np.int64(-1)), "verbose=-1 must be"),
    ],
    ids=str,
)
def test_messages_show_numbers_as_they_are_typed(asked, words):
    with pytest.raises(ValueError, match=words):
        SGDClassifier(**asked).fit([[0.0], [1.0]], [0, 1])


def test_rules_and_schedules_are_said_as_they_are_typed(data):
    X, y, _ = data
    rule, schedule = linsep.stopping.MaxIterations(np.int64(3)), linsep.schedules.Constant(np.float64(0.1))
    assert (str(rule), str(schedule)) == ("MaxIterations(n=3)", "Constant(eta=0.1)")
    with pytest.warns(ConvergenceWarning, match=r"stopped by MaxIterations\(n=3\);"):
        SGDClassifier(stopping=rule, schedule=schedule, random_state=0).fit(X, y)


def test_verbose_says_how_the_fit_ended_and_epsilon_is_of_other_losses(data, capsys):
    X, y, _ = data
    asked = dict(alpha=0.01, tol=None, max_iter=2, random_state=0)
    loud, quiet = SGDClassifier(verbose=1, epsilon=0.3, **asked).fit(X, y), SGDClassifier(**asked).fit(X, y)
    assert capsys.readouterr().err == "SGDClassifier: sgd, 2 iterations: stopped after max_iter=2\n"
    np.testing.assert_array_equal(loud.coef_, quiet.coef_)
