"""Updates that are recorded are found by looking ahead: the same planes, to the last bit, as step by step."""

import numpy as np
import pytest

from linsep import Perceptron, SGDClassifier
from linsep.solvers.first_order import walk

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize(
    "model",
    [
        Perceptron(order="cyclic", max_iter=20, record="update"),
        SGDClassifier("hinge", C=np.inf, stopping=None, max_iter=9, record="update", random_state=0),
        Perceptron(order="random", keep="vote", max_iter=9, record="update", random_state=3),
        SGDClassifier("hinge", C=5.0, schedule=0.05, stopping=None, max_iter=9, record="update", random_state=0),
        SGDClassifier("hinge", penalty="l1", stopping=None, max_iter=9, record="update", random_state=0),
        SGDClassifier("hinge", keep="average", stopping=None, max_iter=9, record="update", random_state=0),
    ],
)
@pytest.mark.parametrize("apart", [0.5, 2.0])
def test_looking_ahead_changes_no_bit(model, apart, monkeypatch):
    rng = np.random.default_rng(1)
    y = np.arange(90) % 2
    X = rng.standard_normal((90, 3)) + apart * (2 * y[:, None] - 1)
    ahead = model.fit(X, y).history_
    plane = np.append(model.coef_[0], model.intercept_)
    counts = []
    looked = walk.Walk._until_moved
    monkeypatch.setattr(walk.Walk, "_until_moved", lambda self, order: counts.append(1) or looked(self, order[:1]))
    steps = model.fit(X, y).history_
    np.testing.assert_array_equal(plane, np.append(model.coef_[0], model.intercept_))
    np.testing.assert_array_equal(ahead.iterates, steps.iterates)
    for name in ("step", "passes", "example", "updates", "objective"):
        np.testing.assert_array_equal(ahead[name], steps[name])
    assert len(counts) >= steps["step"][-1], "one call a step, where the perceptron takes them together"
