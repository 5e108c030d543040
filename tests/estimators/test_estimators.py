"""Every estimator against scikit-learn's own checks."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from clock import stepped_time
from linsep import (
    HardMarginSVC,
    LeastSquaresClassifier,
    LinearClassifier,
    LinearSVC,
    LinearSVCCV,
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    SGDClassifier,
    ZeroOneClassifier,
)
from linsep.solvers import GradientDescent

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning",  # the checks use data that no perceptron can separate
    "ignore:Estimator .* does not inherit:UserWarning",
)


@pytest.fixture
def steady(monkeypatch):
    """A limit of seconds is one of work: what a search finds within it does not depend on the machine."""
    stepped_time(monkeypatch, 1e-3)


@pytest.mark.usefixtures("steady")
@parametrize_with_checks(
    [
        Perceptron(),
        Perceptron(order="worst", max_iter=200),
        Perceptron(keep="average"),
        SGDClassifier(),
        SGDClassifier(loss="logistic"),
        LeastSquaresClassifier(),
        LeastSquaresClassifier(C=1.0),
        LinearClassifier(),
        LinearClassifier("square"),
        LinearClassifier("logistic", solver=GradientDescent()),
        LogisticRegression(),
        LogisticRegression(multi_class="ovr"),
        LogisticRegression(C=0.1, solver="lbfgs", tol=1e-8),
        LinearSVC(),
        LinearSVC(loss="squared_hinge"),
        LinearSVC(multi_class="crammer_singer"),
        LogisticRegressionCV(Cs=3, cv=3),
        LogisticRegressionCV(Cs=[0.1, 1.0], cv=2, l1_ratios=[0.0, 0.5], rule="1se", use_legacy_attributes=True),
        LinearSVCCV(Cs=[0.01, 1.0], cv=3, loss="squared_hinge"),
        ZeroOneClassifier(time_limit=1.0),  # of the checks, some have data that take minutes; see `steady`
        HardMarginSVC(on_overlap="soft"),  # most of the checks' data are not separable
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
