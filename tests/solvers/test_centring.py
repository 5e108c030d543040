"""Columns far from zero: the same planes as of the columns without their middle, at default settings."""

import numpy as np
import pytest
from sklearn.base import clone

from linsep import LinearClassifier, LinearSVC, LogisticRegression

MODELS = [
    LogisticRegression(tol=1e-8),
    LogisticRegression(l1_ratio=1.0, tol=1e-8),
    LogisticRegression(multi_class="ovr", tol=1e-8),
    LinearSVC(tol=1e-8),
    LinearSVC(loss="squared_hinge", tol=1e-8),
    LinearClassifier("logistic", tol=1e-8),
]


@pytest.fixture(scope="module")
def years():
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((150, 3)), 3)
    y = (X @ rng.standard_normal((3, 3)) + rng.gumbel(size=(150, 3))).argmax(axis=1)
    return X, y


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_planes_are_those_of_the_centred_columns(model, classes, years):
    X, y = years[0], years[1] if classes == 3 else years[1] > 0
    middle = np.array([2.0**20, 0.0, -(2.0**16)])
    there, here = clone(model).fit(X + middle, y), clone(model).fit(X, y)
    np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-4)
    scores = [each.decision_function(at).reshape(len(X), -1) for each, at in ((there, X + middle), (here, X))]
    if scores[0].shape[1] == 3 and isinstance(there, LogisticRegression):
        scores = [each - each.mean(axis=1, keepdims=True) for each in scores]  # a softmax is the same
    np.testing.assert_allclose(*scores, atol=1e-3)
    assert there.certificate_.verify(X + middle, y)
    histories = there.history_ if isinstance(there.history_, list) else [there.history_]
    assert all("2 columns far from zero" in history.reason for history in histories)


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC(), LogisticRegression(l1_ratio=0.5)], ids=repr)
@pytest.mark.parametrize("classes", [2, 3])
def test_time_stamps_in_nanoseconds_are_proven_at_default_settings(model, classes, years):
    X, y = years[0].copy(), years[1] if classes == 3 else years[1] > 0
    X[:, 0] = 1.7e9 + X[:, 0]
    model = clone(model).fit(X, y)
    assert model.certificate_.proven
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC()], ids=repr)
def test_a_warm_start_goes_on_from_the_plane_as_it_is(model, years):
    X, y = years[0] + 2.0**20, years[1]
    model = clone(model).set_params(warm_start=True).fit(X, y)
    coef = model.coef_.copy()
    assert model.fit(X, y).n_iter_ <= 3
    np.testing.assert_allclose(model.coef_, coef, atol=1e-2)


class Watch:
    """A callback that looks at the model of every iteration."""

    def __init__(self):
        self.scores = []

    def setup(self, estimator, context):
        pass

    teardown = on_fit_task_begin = setup

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self.scores.append(np.abs(fitted_estimator.decision_function(X)).max())
        return False


@pytest.mark.parametrize("classes", [2, 3])
def test_observers_hear_of_planes_for_the_columns_as_they_are(classes, years, callbacks):
    X, y = years[0] + 2.0**20, years[1] if classes == 3 else years[1] > 0
    watch = Watch()
    LogisticRegression().set_callbacks(watch).fit(X, y)
    assert watch.scores
    assert max(watch.scores) < 100  # a plane of other coordinates would be off by a million


def test_a_column_with_one_value_in_nearly_all_rows_is_not_far_from_zero():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal(3000), np.full(3000, -0.1)])
    X[7, 1] = 80.0  # as of a rare level that is standardised; the few rows that tell where columns lie have none
    model = LogisticRegression().fit(X, X[:, 0] + rng.logistic(size=3000) > 0)
    assert "far from zero" not in model.history_.reason
