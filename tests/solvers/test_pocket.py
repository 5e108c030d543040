"""The pocket: the best of every plane that a perceptron meets, against a plain walk that looks at each of them."""

import numpy as np
import pytest
from scipy import sparse

from linsep import Perceptron
from linsep.solvers.first_order import pocket

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([-1.0, 1.0, 1.0, -1.0])
never_ends = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def plane(model):
    return np.append(model.coef_[0], model.intercept_[0])


def fewest(X, y, order, weight=None, factor=None):
    """(mistakes, risk) of the best plane after any update, each looked at."""
    A, theta, best = np.c_[X, np.ones(len(X))], np.zeros(X.shape[1] + 1), (np.inf, np.inf)
    s = np.ones(len(y)) if weight is None else weight
    for i in order:
        if y[i] * (A[i] @ theta) <= 0:
            theta = theta + (1.0 if factor is None else factor[i]) * y[i] * A[i]
            z = y * (A @ theta)
            best = min(best, (s[z <= 0].sum(), s @ np.maximum(0, -z)))
    return best


def reached(X, y, model, weight=None):
    z, s = y * (np.c_[X, np.ones(len(X))] @ plane(model)), np.ones(len(y)) if weight is None else weight
    return s[z <= 0].sum(), s @ np.maximum(0, -z)


def overlapping(seed, n=60, d=3):
    rng = np.random.default_rng(seed)
    X = rng.integers(-8, 9, (n, d)).astype(float)  # whole numbers: no sum is rounded
    return X, np.where(X[:, 0] + 6 * rng.standard_normal(n) > 0, 1.0, -1.0)


@never_ends
@pytest.mark.parametrize("record", ["pass", "update"])
def test_m9_of_xor_one_mistake_is_left(record):
    model = Perceptron(record=record).fit(*XOR)
    assert (model.predict(XOR[0]) != XOR[1]).sum() == 1


@never_ends
@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("seed", range(4))
def test_m9_no_plane_that_was_met_makes_fewer_mistakes(seed, to):
    X, y = overlapping(seed)
    model = Perceptron(order="cyclic", max_iter=20, prove=False).fit(to(X), y)
    assert reached(X, y, model) == fewest(X, y, np.tile(np.arange(len(y)), 20))
    ends = model.history_["zero_one"][1:].min() * len(y)
    assert reached(X, y, model)[0] <= ends


@never_ends
def test_m9_it_sees_more_than_the_ends_of_passes():
    better = 0
    for seed in range(10):
        X, y = overlapping(seed)
        model = Perceptron(order="cyclic", max_iter=20, prove=False).fit(X, y)
        better += reached(X, y, model)[0] < model.history_["zero_one"][1:].min() * len(y)
    assert better >= 5


@never_ends
@pytest.mark.parametrize("order", ["random", "cyclic", "worst"])
@pytest.mark.parametrize("weighted", [False, True])
def test_looking_at_every_update_changes_nothing(order, weighted):
    X, y = overlapping(7)
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float) if weighted else None
    how = dict(order=order, max_iter=15, prove=False, random_state=3)
    little, much = (Perceptron(record=record, **how).fit(X, y, sample_weight=weight) for record in ("pass", "update"))
    np.testing.assert_array_equal(plane(little), plane(much))
    best = much.history_["zero_one"][1:].min()
    mass = len(y) if weight is None else weight.sum()
    assert reached(X, y, little, weight)[0] == pytest.approx(best * mass)


@never_ends
def test_each_of_several_classes_has_its_own():
    rng = np.random.default_rng(1)
    X, y = rng.integers(-8, 9, (60, 3)).astype(float), rng.integers(0, 3, 60)
    model = Perceptron(max_iter=10, prove=False, random_state=0).fit(X, y)
    for k, theta in enumerate(np.c_[model.coef_, model.intercept_]):
        sign = np.where(y == k, 1.0, -1.0)
        mistakes = (sign * (np.c_[X, np.ones(60)] @ theta) <= 0).sum()
        assert mistakes <= round(model.history_[k]["zero_one"][1:].min() * 60)


@never_ends
def test_on_large_data_those_are_looked_at_that_stood_for_longest(monkeypatch):
    X, y = overlapping(5, n=300)
    everything = Perceptron(max_iter=30, prove=False, random_state=0).fit(X, y)
    monkeypatch.setattr(pocket, "WORK", 0.0)  # as if the rows were many: about one look a pass
    looks, patience = [], pocket.patience
    monkeypatch.setattr(pocket, "patience", lambda *told: looks.append(told) or patience(*told))
    some = Perceptron(max_iter=30, prove=False, random_state=0).fit(X, y)
    ((steps, updates, most),) = looks
    assert most == steps / 300 <= 30
    assert patience(steps, updates, most) > 0
    ends = some.history_["zero_one"][1:].min() * 300
    assert reached(X, y, everything)[0] <= reached(X, y, some)[0] <= ends


def test_a_walk_that_ends_without_mistakes_is_taken_once(monkeypatch):
    X = np.random.default_rng(0).standard_normal((200, 4))
    monkeypatch.setattr("linsep.solvers.first_order.stochastic.best_met", None)  # not to be called
    assert Perceptron().fit(X, X[:, 0] > 0.2 * X[:, 1]).converged_


@never_ends
def test_it_follows_the_same_random_draws():
    X, y = overlapping(9)
    model = Perceptron(max_iter=8, prove=False, random_state=5).fit(X, y)
    again = Perceptron(max_iter=8, prove=False, random_state=5, record="update").fit(X, y)
    moved = again.history_["example"][1:]
    order = [int(i) for i in moved if i is not None and np.isfinite(i)]
    assert reached(X, y, model) == fewest(X, y, order)
