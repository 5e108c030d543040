"""Every estimator against scikit-learn's own checks."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from linsep import HardMarginSVC, LeastSquaresClassifier, LinearClassifier, Perceptron, SGDClassifier
from linsep.solvers import GradientDescent

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning",  # the checks use data that no perceptron can separate
    "ignore:Estimator .* does not inherit:UserWarning",
)


@parametrize_with_checks(
    [
        Perceptron(),
        Perceptron(order="worst"),
        Perceptron(keep="average"),
        SGDClassifier(),
        SGDClassifier(loss="logistic"),
        LeastSquaresClassifier(),
        LeastSquaresClassifier(C=1.0),
        LinearClassifier(),
        LinearClassifier("square"),
        LinearClassifier("logistic", solver=GradientDescent()),
        HardMarginSVC(on_overlap="soft"),  # most of the checks' data are not separable
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
