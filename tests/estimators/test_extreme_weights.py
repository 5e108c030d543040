"""Sample weights at the ends of what floats hold: a fit takes them or refuses them in words."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import linsep

rng = np.random.default_rng(0)
X = rng.standard_normal((40, 3))
y = (X[:, 0] + rng.standard_normal(40) > 0).astype(int)

MODELS = {
    "logistic": linsep.LogisticRegression,
    "logistic, L1": lambda: linsep.LogisticRegression(l1_ratio=1.0),
    "no penalty": lambda: linsep.LogisticRegression(C=np.inf),
    "hinge": linsep.LinearSVC,
    "squared hinge": lambda: linsep.LinearSVC(loss="squared_hinge"),
    "least squares": linsep.LeastSquaresClassifier,
    "stochastic": lambda: linsep.SGDClassifier(max_iter=3, random_state=0),
    "hard margin": linsep.HardMarginSVC,
}


@pytest.mark.parametrize("size", [5e-324, 1e308])
@pytest.mark.parametrize("share", [5, 40], ids=["of some rows", "of all"])
@pytest.mark.parametrize("name", MODELS)
def test_weights_that_floats_hardly_hold_are_taken_or_refused_in_words(name, share, size):
    weights = np.ones(40)
    weights[:share] = size
    apart = np.where(X[:, 0] > 0, 1, 0) if name == "hard margin" else y
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a bare warning of NumPy's, above all
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            model = MODELS[name]().fit(X, apart, sample_weight=weights)
        except ValueError as refused:
            assert "weight" in str(refused)  # noqa: PT017  it may, and need not, be refused
        else:
            assert np.isfinite(model.coef_).all()
            assert np.isfinite(model.intercept_).all()
