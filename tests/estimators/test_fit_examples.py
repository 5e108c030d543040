"""`fit_examples`: the door by which examples come that are not in memory, and behind it the same way as that of fit."""

import numpy as np
import pytest

from linsep import LinearSVC, LogisticRegression, Perceptron
from linsep._core import Rows
from linsep.objective.examples import InMemory
from storage import MemoryBlocks, MemoryWorkspace

MODELS = [
    LogisticRegression(C=0.5),
    LogisticRegression(l1_ratio=0.5, class_weight="balanced"),
    LinearSVC(),
    LinearSVC(loss="squared_hinge"),
]


class Run:
    """Keeps what a fit finishes; is interrupted while it works on one of the objectives, if asked to."""

    def __init__(self, n, stop_at=None):
        self.n, self.results, self.stop_at, self.asked = n, [], stop_at, []

    def finish(self, result):
        self.results.append(result)

    def place(self, k, count):
        self.asked.append((k, count))
        if k == self.stop_at:
            raise KeyboardInterrupt
        return MemoryWorkspace(self.n)


@pytest.fixture
def three():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    return X, (X @ rng.normal(size=(4, 3)) + rng.gumbel(size=(600, 3))).argmax(axis=1)


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_answer_is_that_of_fit(model, classes, three):
    X, codes = three[0], np.minimum(three[1], classes - 1)
    labels = np.array(["a", "b", "c"])[:classes]
    known = type(model)(**model.get_params()).fit(X, labels[codes])
    resident = type(model)(**model.get_params()).fit_examples(InMemory(Rows(X), codes), labels)
    np.testing.assert_array_equal(resident.coef_, known.coef_)
    blocks, run = MemoryBlocks(X, codes, 100), Run(len(X))
    streamed = type(model)(**model.get_params()).fit_examples(blocks, labels, run=run)
    assert streamed.converged_
    assert streamed.certificate_.verify(X, labels[codes])
    assert streamed.objective_ == known.objective_
    np.testing.assert_allclose(streamed.coef_, known.coef_, rtol=0.1, atol=0.05)
    np.testing.assert_array_equal(streamed.classes_, known.classes_)
    assert len(run.results) == len(run.asked) == (1 if isinstance(model, LogisticRegression) or classes == 2 else 3)


def test_a_fit_goes_on_with_the_planes_that_are_left(three):
    X, codes = three
    blocks, run = MemoryBlocks(X, codes, 100), Run(len(X), stop_at=1)
    with pytest.raises(KeyboardInterrupt):
        LinearSVC().fit_examples(blocks, [0, 1, 2], run=run)
    assert len(run.results) == 1
    run.stop_at, run.asked = None, []
    model = LinearSVC().fit_examples(blocks, [0, 1, 2], run=run)
    assert run.asked == [(1, 3), (2, 3)]
    assert model.certificate_.verify(X, codes)
    again = Run(len(X))
    again.results, again.stop_at = run.results, 0  # all of them are there: nothing is solved
    np.testing.assert_array_equal(LinearSVC().fit_examples(blocks, [0, 1, 2], run=again).coef_, model.coef_)


def test_softmax_planes_that_are_finished_are_read_again(three):
    X, codes = three
    blocks, run = MemoryBlocks(X, codes, 100), Run(len(X))
    model = LogisticRegression().fit_examples(blocks, [0, 1, 2], run=run)
    run.stop_at = 0
    again = LogisticRegression().fit_examples(blocks, [0, 1, 2], run=run)
    np.testing.assert_array_equal(again.coef_, model.coef_)
    np.testing.assert_array_equal(again.intercept_, model.intercept_)
    assert again.certificate_.verify(X, codes)


def test_a_fit_that_is_interrupted_before_there_is_a_plane_leaves_no_model(three):
    run = Run(len(three[0]), stop_at=0)
    model = LogisticRegression()
    with pytest.raises(KeyboardInterrupt):
        model.fit_examples(MemoryBlocks(*three, 100), [0, 1, 2], run=run)
    assert not hasattr(model, "coef_")


def test_what_takes_rows_in_memory_says_so(three):
    with pytest.raises(ValueError, match="rows in memory"):
        Perceptron().fit_examples(MemoryBlocks(*three, 100), [0, 1, 2], run=Run(len(three[0])))


def test_columns_have_the_names_that_are_given(three):
    X, codes = three
    names = ["age", "height", "weight", "income"]
    model = LogisticRegression().fit_examples(InMemory(Rows(X), codes), [0, 1, 2], names=names)
    assert sorted(model.explain()[0].features) == sorted(names)
