"""One of every kind of estimator."""

import pytest
from sklearn.base import clone

from linsep import LeastSquaresClassifier, LinearClassifier, Perceptron, SGDClassifier
from linsep.solvers import GradientDescent

MODELS = {
    "perceptron": Perceptron(max_iter=20, random_state=0),
    "cyclic": Perceptron(order="cyclic", keep="last", max_iter=20),
    "worst": Perceptron(order="worst", max_iter=50),
    "averaged": Perceptron(keep="average", max_iter=20, random_state=0),
    "voted": Perceptron(keep="vote", max_iter=20, random_state=0),
    "sgd": SGDClassifier(random_state=0),
    "sgd l1": SGDClassifier("logistic", penalty="l1", random_state=0),
    "least squares": LeastSquaresClassifier(),
    "ridge": LeastSquaresClassifier(C=0.5),
    "hinge": LinearClassifier(random_state=0),
    "square": LinearClassifier("square"),
    "gradient descent": LinearClassifier("logistic", solver=GradientDescent()),
}
every_model = pytest.mark.parametrize("model", [pytest.param(clone(m), id=name) for name, m in MODELS.items()])
