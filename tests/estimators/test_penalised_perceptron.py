"""A perceptron with a penalty: what is known of it, and what nobody may say."""

import pytest
from sklearn.datasets import load_iris

from linsep import Perceptron, verify
from linsep.display import NovikoffDisplay
from linsep.replay import replay
from linsep.report.proofs import sentences

X, kind = load_iris(return_X_y=True)
X, y = X[:100], kind[:100]


def test_a_penalty_takes_the_bound_on_mistakes_away():
    model = Perceptron(penalty="l2", alpha=1.0, max_iter=200, tol=None).fit(X, y)
    # It shrinks w, so that it errs on these for ever: far more often than (R/γ)² of the largest margin.
    bound = Perceptron().fit(X, y).best_mistake_bound_
    assert model.mistakes_ > bound
    assert model.separability_.separable
    for name in ("mistake_bound_", "best_mistake_bound_"):
        assert not hasattr(model, name)
    assert not hasattr(model.set_params(penalty="l1").fit(X, y), "mistake_bound_")
    assert hasattr(model.set_params(penalty=None, alpha=None, tol="auto").fit(X, y), "mistake_bound_")


def test_sentence_replay_and_picture_call_nothing_a_bound():
    settings = dict(penalty="l2", alpha=0.01, random_state=0)
    model = Perceptron(**settings).fit(X, y)
    (said,) = [one for one in sentences(model) if "Novikoff" in one]
    assert "penalty" in said
    assert "at most" not in said
    assert replay(Perceptron(**settings), X, y).bound.sentence == (
        "Novikoff: no bound, for the penalty moves the plane as well as the mistakes do."
    )
    with pytest.raises(ValueError, match="with a penalty"):
        NovikoffDisplay.from_estimator(model)


def test_a_penalised_perceptron_is_verified_without_a_bound_and_refused_with_one():
    model = Perceptron(penalty="l2", alpha=0.01, random_state=0).fit(X, y)
    assert verify(model, X, y)
    model.mistake_bound_ = (model.radius_ / model.margin_) ** 2
    assert "with a penalty" in verify(model, X, y).reason
