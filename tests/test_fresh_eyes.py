"""What an attack with fresh eyes found, each case once."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from linsep import (
    HardMarginSVC,
    LeastSquaresClassifier,
    LogisticRegression,
    Perceptron,
    ZeroOneClassifier,
    save,
    separability,
    verify,
)

BIG = 2**53


@pytest.mark.parametrize(
    "X",
    [
        np.array([[str(BIG)], [str(BIG + 1)]], dtype=object),
        np.array([[str(BIG)], [str(BIG + 1)]]),
        pd.DataFrame({"t": pd.to_datetime([0, 50])}),
    ],
    ids=["objects", "text", "dates"],
)
@pytest.mark.parametrize("ask", [ZeroOneClassifier().fit, HardMarginSVC().fit, separability])
def test_m13_what_would_have_to_be_converted_is_refused_where_a_verdict_is_exact(X, ask):
    with pytest.raises(ValueError, match=r"no number|needs numbers"):
        ask(X, [0, 1])


@pytest.mark.parametrize("estimator", [LogisticRegression(C=None), LeastSquaresClassifier()])
def test_m16_whole_numbers_between_two_floats_are_refused_where_nothing_is_penalised(estimator):
    with pytest.raises(ValueError, match="9007199254740993 in row 2"):
        estimator.fit(np.array([[BIG], [BIG], [BIG + 1], [BIG + 1]]), [0, 0, 1, 1])


def test_m13_a_verdict_on_planes_through_the_origin_says_so_and_a_threshold_leaves_them(tmp_path):
    X, y = np.arange(1.0, 7.0)[:, None], [0, 0, 0, 1, 1, 1]
    with pytest.warns(ConvergenceWarning):
        model = Perceptron(fit_intercept=False, max_iter=50).fit(X, y)
    save(model, tmp_path / "model.json", threshold=3.5 * abs(model.coef_[0, 0]))
    outcome = verify(tmp_path / "model.json", X, y)
    assert "of planes through the origin" in outcome.reason
    assert "makes 0 mistakes" in outcome.reason
    assert not outcome.proven


@pytest.mark.parametrize("y", [[0, 1], [0, 1, 2]])
def test_m16_columns_of_zeros_without_an_intercept_are_proven(y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticRegression(C=None, fit_intercept=False).fit(np.zeros((len(y), 1)), y)
    assert model.converged_
    assert verify(model, np.zeros((len(y), 1)), y).proven


def test_m24_the_softmax_says_nothing_of_coefficients_that_it_does_not_know():
    rows = [(0, 1, "hi")] * 3 + [(0, 0, "hi")] * 2 + [(1, 0, "lo")] * 2 + [(0, 0, "lo")] * 2
    rows += [(-1, 0, "mid")] * 2 + [(0, 0, "mid")] * 2
    X, y = np.array([row[:2] for row in rows], dtype=float), [row[2] for row in rows]
    with pytest.warns(ConvergenceWarning, match="a plane separates class hi from the rest") as caught:
        LogisticRegression(C=None).fit(X, y)
    assert not any("finite;" in str(warning.message) for warning in caught)


def test_labels_and_weights_that_are_none_are_refused_with_the_reason():
    X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    model = LogisticRegression().fit(X, y)
    for labels in ([0, None, 1, 1], np.array([0, "a", 1, 1], dtype=object)):
        assert "which the fit did not know" in verify(model, X, labels).reason
    with pytest.raises(ValueError, match="sample_weight"):
        verify(model, X, y, np.ones(4) + 1j)
    with pytest.raises(ValueError, match="sample_weight"):
        verify(model, X, y, np.ones(3))


INTERRUPTED = """
import numpy as np, warnings
from linsep import LogisticRegression
from linsep.solvers import minimising
rng = np.random.default_rng(0)
X = rng.normal(size=(400, 3))
y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
model = LogisticRegression(C=None)
def interrupt(*args, **kwargs):
    raise KeyboardInterrupt
minimising.polished = interrupt
try:
    model.fit(X, y)
except KeyboardInterrupt:
    print(model.coef_.shape, model.predict(X).shape)
"""


@pytest.mark.slow
def test_ctrl_c_while_the_gap_is_proven_keeps_the_plane():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["(1,", "3)", "(400,)"], done.stderr
