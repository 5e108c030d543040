"""One small model of every kind that is proven, with its examples; and its file edited so that the digests fit."""

import json
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from linsep import (
    HardMarginSVC,
    LeastSquaresClassifier,
    LinearClassifier,
    LinearSVC,
    LogisticRegression,
    Perceptron,
    SGDClassifier,
    ZeroOneClassifier,
)
from linsep.certificates.seal import digest
from linsep.persistence.document import digest as _digest
from linsep.persistence.document import in_one_line as _line

rng = np.random.default_rng(3)
X = rng.normal(size=(60, 3))
two = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, "yes", "no")
three = np.digitize(X[:, 1] + 0.3 * rng.normal(size=60), [-0.5, 0.5])
apart = np.where(X[:, 0] > 0, "yes", "no")
corners = np.array([[0.0, 0.0], [0.2, 0.1], [3.0, 0.0], [3.1, 0.3], [0.0, 3.0], [0.3, 3.2]])
thirds = np.array([0, 0, 1, 1, 2, 2])  # each class apart from the rest

CASES = {
    "logistic": (LogisticRegression(), X, two),
    "hinge": (LinearSVC(), X, two),
    "least squares": (LeastSquaresClassifier(C=1.0), X, two),
    "least squares, no penalty": (LeastSquaresClassifier(), X, two),
    "squared hinge": (LinearClassifier("squared_hinge"), X, two),
    "sgd": (SGDClassifier("logistic", random_state=0), X, two),
    "margin": (HardMarginSVC(), X, apart),
    "mistakes": (ZeroOneClassifier(), X, two),
    "separable": (Perceptron(random_state=0), X, apart),
    "overlap": (Perceptron(random_state=0), X, two),
    "voted": (Perceptron(random_state=0, keep="vote"), X, apart),
    "softmax": (LogisticRegression(), X, three),
    "margins between classes": (LinearSVC(multi_class="crammer_singer"), X, three),
    "logistic, one against the rest": (LogisticRegression(multi_class="ovr"), X, three),
    "hinge, one against the rest": (LinearSVC(), X, three),
    "margin, one against the rest": (HardMarginSVC(), corners, thirds),
    "mistakes, one against the rest": (ZeroOneClassifier(), corners, thirds[[0, 1, 2, 3, 4, 0]]),
    "separable, one against the rest": (Perceptron(random_state=0), corners, thirds),
}


def fitted(model, X, y, sample_weight=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return type(model)(**model.get_params()).fit(X, y, sample_weight)


MODELS = {name: fitted(*case) for name, case in CASES.items()}


def forged(path, edit):
    """Edit a model file, and make both kinds of digests fit."""
    document = json.loads(path.read_text())
    edit(document)
    planes, certificate = zip(document["coefficients"], document["intercept"], strict=True), document["certificate"]
    for k, (w, b) in enumerate(planes):
        for kind in ("gap", "seals"):
            if kind in certificate:
                certificate[kind][k]["plane"] = digest(np.array(w), b)
    for kind in {"softmax", "crammer_singer"} & set(certificate):
        W, b = np.array(document["coefficients"]), np.array(document["intercept"])
        certificate[kind]["planes"] = digest(W, b)
    document["digest"] = _digest({name: _line(value) for name, value in document.items()})
    path.write_text(json.dumps(document))
