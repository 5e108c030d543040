"""The estimators in scikit-learn's machinery: pickles, clones, pipelines, searches and callbacks."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from every_model import every_model
from linsep import LeastSquaresClassifier, LinearClassifier, LogisticRegression, Perceptron, SGDClassifier
from linsep.estimators import _input
from linsep.schedules import InverseSqrt
from linsep.solvers import GradientDescent
from linsep.stopping import ParameterChange

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@every_model
def test_a_pickled_model_predicts_the_same(model, three):
    X, y = three
    model = clone(model).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.summary() == model.summary()


def test_a_clone_has_the_same_parameters_objects_included():
    solver = GradientDescent(InverseSqrt(2.0), [ParameterChange(1e-3)])
    model = LinearClassifier("perceptron", solver=solver, C=None)
    again = clone(model)
    assert again.get_params() == model.get_params()
    assert again.solver == solver


def test_pipelines_and_searches_work(three):
    X, y = three
    pipeline = make_pipeline(StandardScaler(), SGDClassifier("logistic", random_state=0))
    search = GridSearchCV(
        pipeline, {"sgdclassifier__C": [1e-4, 1.0], "sgdclassifier__loss": ["hinge", "logistic"]}, cv=3
    )
    search.fit(X, y)
    assert search.best_score_ > 0.6
    assert search.best_params_["sgdclassifier__C"] == 1.0
    assert cross_val_score(LeastSquaresClassifier(), X, y, cv=3).min() > 0.5
    solvers_tried = GridSearchCV(LinearClassifier("square"), {"solver": ["auto", "sgd", GradientDescent()]}, cv=3)
    assert solvers_tried.fit(X, y).best_score_ > 0.6


def test_sample_weights_are_routed_through_pipelines_and_searches(three):
    X, y = three
    weight = np.random.default_rng(0).uniform(0.1, 3, len(y))
    expected = LeastSquaresClassifier(C=2.0).fit(X, y, sample_weight=weight)
    assert not np.allclose(expected.coef_, LeastSquaresClassifier(C=2.0).fit(X, y).coef_)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = LeastSquaresClassifier().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(inner, {"C": [2.0]}, cv=3).fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(search.best_estimator_.coef_, expected.coef_)
        pipeline = make_pipeline(StandardScaler(with_mean=False, with_std=False), clone(inner).set_params(C=2.0))
        pipeline[0].set_fit_request(sample_weight=False)
        np.testing.assert_allclose(pipeline.fit(X, y, sample_weight=weight)[-1].coef_, expected.coef_)
        stream = SGDClassifier().set_partial_fit_request(sample_weight=True, classes=True)
        assert stream.get_metadata_routing().partial_fit.requests["sample_weight"] is True


class Watcher:
    """A callback that writes down what it hears and stops a fit after some iterations."""

    def __init__(self, stop_after=None):
        self.stop_after, self.tasks, self.scores, self.begun, self.ended = stop_after, [], [], 0, 0

    def setup(self, estimator, context):
        self.begun += 1

    def teardown(self, estimator, context):
        self.ended += 1

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self.tasks.append(context.task_name)
        if context.task_name == "iteration":
            self.scores.append(fitted_estimator.score(X, y))
            return self.stop_after is not None and self.tasks.count("iteration") >= self.stop_after
        return False


ITERATIVE = {
    "sgd": SGDClassifier("logistic", stopping=None, max_iter=30, random_state=0),
    "perceptron": Perceptron(max_iter=30, random_state=0),
    "gradient descent": LinearClassifier("logistic", solver=GradientDescent(stopping=None, max_iter=30)),
}
every_iterative = pytest.mark.parametrize("model", [pytest.param(clone(m), id=name) for name, m in ITERATIVE.items()])


@every_iterative
def test_a_callback_hears_of_every_iteration_with_a_model_that_can_predict(model, overlapping, callbacks):
    X, y = overlapping
    watcher = Watcher()
    model = clone(model).set_callbacks(watcher).fit(X, y)
    assert watcher.tasks == ["iteration"] * 30 + ["problem 0", "fit"]
    assert (watcher.begun, watcher.ended) == (1, 1)
    errors = 1 - np.array(watcher.scores)
    np.testing.assert_allclose(errors, model.history_["zero_one"][1:], atol=1e-12)


@every_iterative
@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
def test_a_callback_can_stop_a_fit_early_without_a_warning(model, overlapping, callbacks):
    model = clone(model).set_callbacks(Watcher(stop_after=4)).fit(*overlapping)
    assert model.n_iter_ == 4
    assert not model.converged_
    assert np.isfinite(model.coef_).all()


def test_callbacks_work_with_several_classes_and_threads(three, callbacks):
    X, y = three
    watcher = Watcher()
    SGDClassifier("logistic", stopping=None, max_iter=5, random_state=0, n_jobs=2).set_callbacks(watcher).fit(X, y)
    assert watcher.tasks.count("iteration") == 15
    assert sorted(watcher.tasks[-4:-1]) == ["problem 0", "problem 1", "problem 2"]
    assert watcher.tasks[-1] == "fit"


def test_a_fit_with_callbacks_equals_one_without(three, callbacks):
    X, y = three
    plain = SGDClassifier("logistic", random_state=0).fit(X, y)
    watched = SGDClassifier("logistic", random_state=0).set_callbacks(Watcher()).fit(X, y)
    np.testing.assert_array_equal(plain.coef_, watched.coef_)


def test_scikit_learns_progress_bar_and_monitor_work(overlapping, capsys, callbacks):
    X, y = overlapping
    monitor = callbacks.ScoringMonitor(scoring="accuracy")
    model = clone(ITERATIVE["sgd"]).set_callbacks(callbacks.ProgressBar(), monitor).fit(X, y)
    assert "SGDClassifier" in capsys.readouterr().out
    log = monitor.get_logs()
    iterations = [row["accuracy"] for row in log.data if row["task_name"] == "iteration"]
    np.testing.assert_allclose(iterations, 1 - model.history_["zero_one"][1:])


def test_a_progress_bar_on_a_search_reaches_the_estimators(overlapping, capsys, callbacks):
    search = GridSearchCV(clone(ITERATIVE["sgd"]), {"C": [0.1, 1.0]}, cv=2)
    search.set_callbacks(callbacks.ProgressBar(max_propagation_depth=2)).fit(*overlapping)
    assert "SGDClassifier" in capsys.readouterr().out


def test_labels_that_are_floats_are_looked_at_once(monkeypatch):
    X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    expected = LogisticRegression().fit(X, y.astype(int)).coef_
    with monkeypatch.context() as patched:  # scikit-learn's checks, which would find nothing
        patched.setattr(_input, "validate_data", None)
        np.testing.assert_array_equal(LogisticRegression().fit(X, y).coef_, expected)
    for wrong in (np.nan, np.inf):
        with pytest.raises(ValueError, match=r"(?i)nan|inf"):
            LogisticRegression().fit(X, np.where(y > 0, wrong, y))
