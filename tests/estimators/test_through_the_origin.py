"""Without an intercept or a margin: what no plane through the origin separates, and what w = 0 is best at."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from linsep import HardMarginSVC, LinearClassifier, Perceptron
from linsep.cli.speech import for_commands

SHIFTED = np.array([[1.0, 1.0], [2.0, 2.0], [5.0, 5.0], [6.0, 6.0]])
WORDS = "not linearly separable by a plane through the origin; with an intercept one does: zero is a convex"


@pytest.mark.parametrize("labels", [[0, 0, 1, 1], ["a", "a", "b", "b"]])
def test_it_says_that_an_intercept_would_do(labels):
    with pytest.warns(ConvergenceWarning, match=WORDS):
        Perceptron(fit_intercept=False).fit(SHIFTED, labels)
    with pytest.raises(ValueError, match=WORDS):
        HardMarginSVC(fit_intercept=False).fit(SHIFTED, labels)
    assert Perceptron().fit(SHIFTED, labels).converged_


def test_of_several_classes_it_says_so_of_the_one():
    X, y = np.vstack([SHIFTED, [[-9.0, 1.0], [-9.0, 2.0]]]), [0, 0, 1, 1, 2, 2]
    with pytest.warns(ConvergenceWarning, match=f"class 0 and the rest are {WORDS}"):
        Perceptron(fit_intercept=False).fit(X, y)


def test_it_does_not_where_that_does_not_help():
    xor = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]) + 1
    with pytest.warns(ConvergenceWarning, match="by a plane through the origin: zero"):
        Perceptron(fit_intercept=False).fit(xor, [0, 0, 1, 1])
    with pytest.warns(ConvergenceWarning, match="not linearly separable: a point"):
        Perceptron().fit(xor, [0, 0, 1, 1])


@pytest.mark.parametrize("prove", [True, False])
@pytest.mark.parametrize(
    ("keep", "words"),
    [
        ("best", "The plane reported is the one with the fewest mistakes of those on the way"),
        ("last", "The plane reported is the last"),
        ("average", "The plane reported is the average over all steps"),
        ("vote", "All planes vote, each as often as it was right"),
        (None, "The plane reported is the one with the fewest mistakes of those on the way"),
    ],
)
def test_m12_it_says_which_plane_is_reported(keep, words, prove):
    X, y = np.array([[0.0], [2.0], [1.0], [3.0]]), np.array([0, 0, 1, 1])
    with pytest.warns(ConvergenceWarning) as said:
        Perceptron(keep=keep, prove=prove, max_iter=7).fit(X, y)
    message = str(said[0].message)
    assert words in message
    assert "keep" not in message
    heard = for_commands(message)
    assert words in heard
    assert "max_iter" not in heard
    assert "linsep separable" in heard or not prove


def test_m24_of_several_classes_it_says_which_planes_are_reported():
    with pytest.warns(ConvergenceWarning, match="planes reported are those with the fewest mistakes"):
        Perceptron().fit([[0.0], [2.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1, 2])


@pytest.mark.parametrize("more", [{}, {"C": None}, {"solver": "sgd"}, {"solver": "perceptron", "C": None}])
def test_w_zero_minimises_the_perceptron_risk_and_a_fit_says_so(more):
    X, y = np.array([[0.0], [2.0], [1.0], [3.0]]), [0, 0, 1, 1]
    with pytest.warns(ConvergenceWarning, match="w = 0 minimises this risk"):
        model = LinearClassifier("perceptron", random_state=0, **more).fit(X, y)
    assert model.coef_.any()


def test_columns_far_from_zero_are_named_beside_the_proof_that_ended_the_run():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3))
    y = X @ [1.0, 2.0, -1.0] + 0.5 * rng.standard_normal(400) > 0
    with pytest.warns(
        ConvergenceWarning, match=r"others may make fewer, since column 'x\d' lies around 100 .*: centre"
    ):
        Perceptron().fit(X + 100, y)
    with pytest.warns(ConvergenceWarning, match=r"those on the way\.$"):
        Perceptron().fit(X, y)
