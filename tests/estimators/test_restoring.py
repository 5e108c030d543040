"""The door by which a model in a document becomes an estimator again."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import linsep
from linsep import HardMarginSVC, LinearSVC, LogisticRegression, Perceptron, SGDClassifier
from linsep.estimators._restoring import Memory, unfitted

X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])
MODELS = {
    "gap": LogisticRegression().fit(X, y),
    "margin": HardMarginSVC().fit(X, y),
    "votes": Perceptron(keep="vote", random_state=0).fit(X, y),
    "stream": SGDClassifier(random_state=0).partial_fit(X, y, classes=[0, 1]),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_model_with_its_memory_is_the_same(model):
    again = clone(model)
    for name, value in vars(model).items():
        if name.endswith("_") and not name.startswith("_"):
            setattr(again, name, value)
    Memory.of(model).restore(again)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert [proof.kind for proof in again._proofs] == [proof.kind for proof in model._proofs]


def test_a_stream_goes_on_where_it_was():
    first, again = (SGDClassifier(random_state=0).partial_fit(X, y, classes=[0, 1]) for _ in range(2))
    del again._stream
    Memory.of(first).restore(again)
    np.testing.assert_array_equal(again.partial_fit(X, y).coef_, first.partial_fit(X, y).coef_)


@pytest.mark.parametrize(
    ("model", "memory", "words"),
    [
        (LinearSVC(), Memory(ballots=[]), "'ballots' is no attribute"),
        (LinearSVC(), Memory(is_soft=True), "'is_soft' is no attribute"),
        (LinearSVC(), Memory(stream=([], np.zeros(0))), "'stream' is no attribute"),
        (HardMarginSVC(), Memory(), "'is_soft' is missing"),
    ],
)
def test_a_memory_of_another_kind_of_model_is_refused(model, memory, words):
    with pytest.raises(ValueError, match=words):
        memory.restore(model)


@pytest.mark.parametrize(
    ("parameters", "words"), [({"C": -1.0}, "C=-1.0"), ({"fit_intercept": 2}, "fit_intercept=2"), ({"tol": 0}, "tol=0")]
)
def test_parameters_that_make_no_sense_are_refused_before_a_fit(parameters, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        unfitted(LinearSVC, parameters)


def test_files_do_not_reach_into_models():
    for path in (Path(linsep.__file__).parent / "persistence").glob("*.py"):
        assert not re.findall(r"\b(?:model|made|estimator)\._\w+ =", path.read_text()), path.name
