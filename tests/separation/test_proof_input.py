"""Bad input to what proves: a clear error or a right verdict, for separability, hard margin, perceptron, zero-one."""

import numpy as np
import pytest
from scipy import sparse

from linsep import HardMarginSVC, LogisticRegression, NotSeparableError, Perceptron, ZeroOneClassifier, separability
from linsep import verify as check

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

rng = np.random.default_rng(0)
R, alternating = rng.standard_normal((20, 3)), np.arange(20) % 2
zeros = sparse.csr_matrix(([0.0, 1.0, 2.0, 0.0, 3.0], ([0, 0, 1, 2, 3], [0, 1, 0, 1, 1])), shape=(4, 2))

VERDICTS = {
    "equal points": (np.ones((6, 3)), [0, 1] * 3, "overlap"),
    "a column of zeros": (np.c_[R, np.zeros(20)], alternating, "overlap"),
    "nothing but zeros": (np.zeros((4, 2)), [0, 1, 0, 1], "overlap"),
    "more columns than rows": (rng.standard_normal((10, 50)), np.arange(10) % 2, "separable"),
    "twins in many columns": (np.vstack([rng.standard_normal((5, 50))] * 2), np.arange(10) // 5, "overlap"),
    "explicit zeros": (zeros, [0, 1, 0, 1], "separable"),
    "eight bits": ((R * 20).astype(np.int8), alternating, "overlap"),
    "true and false": (R > 0, alternating, "overlap"),
    "single precision": (R.astype(np.float32), alternating, "overlap"),
    "half precision": (R.astype(np.float16), alternating, "overlap"),
    "objects": (R.astype(object), alternating, "overlap"),
    "denormal": (np.array([[5e-324], [1e-323], [2e-323]]), [0, 0, 1], "separable"),
    "denormal and mixed up": (R * 5e-321, alternating, "overlap"),
    "huge": (np.array([[1e300], [-1e300], [2e300]]), [1, 0, 1], "separable"),
    "huge and tiny": (R * [1e300, 1e-300, 1.0], alternating, "overlap"),
    "as large as floats get": (
        np.array([[1.7e308, 1.7e308], [-1.7e308] * 2, [1.7e308, 1.6e308]]),
        [1, 0, 1],
        "separable",
    ),
    "squares that vanish": (R * 1e-170, (R[:, 0] > 0).astype(int), "separable"),
    "squares that vanish, mixed up": (R * 1e-170, alternating, "overlap"),
    "in the last bit": (1.0 + np.arange(3.0)[:, None] * 2.0**-52, [0, 0, 1], "separable"),
    "in the last bit, mixed up": (1.0 + np.arange(3.0)[:, None] * 2.0**-52, [0, 1, 0], "overlap"),
}
every_case = pytest.mark.parametrize("case", VERDICTS.values(), ids=VERDICTS)


@every_case
def test_m13_the_verdict_is_right_and_verified(case):
    X, y, verdict = case
    found = separability(X, y, time_limit=20)
    assert found.verdict == verdict
    assert found.verify(X, y)


MODELS = [HardMarginSVC(), Perceptron(max_iter=60, random_state=0), ZeroOneClassifier()]


def outcome(model, X, y):
    """The fitted model, or the error that refused the data."""
    try:
        return model.fit(X, y)
    except ValueError as error:
        return error


@every_case
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_models_are_verified_or_say_what_is_wrong(case, model):
    X, y, verdict = case
    found = outcome(model, X, y)
    if isinstance(found, NotSeparableError):
        assert verdict != "separable"
        assert found.proof.verify(X, y)
    elif isinstance(found, ValueError):
        assert "scale the columns" in str(found)
    else:
        assert check(found, X, y)


#: Overlaps of which nothing is proven, and that is said: fewer rows than columns, coefficients beyond the floats.
UNPROVEN = ("twins in many columns", "denormal and mixed up")


@every_case
def test_unpenalised_likelihoods_converge_just_where_the_classes_overlap(case, request):
    X, y, verdict = case
    found = outcome(LogisticRegression(C=np.inf), X, y)
    if isinstance(found, ValueError):
        assert "scale the columns" in str(found)
    else:
        assert found.converged_ == found.certificate_.proven
        assert found.converged_ == (verdict == "overlap" and request.node.callspec.id not in UNPROVEN)


@pytest.mark.parametrize("size", [5e-324, 1e-320, 1e-170, 1e-9, 1.0, 1e100])
def test_m18_the_fewest_mistakes_do_not_depend_on_the_unit_of_the_columns(size):
    few = ZeroOneClassifier().fit(size * np.array([[1.0], [2.0], [3.0], [4.0]]), [0, 0, 1, 1])
    assert (few.n_mistakes_, few.lower_bound_, few.proven_) == (0, 0, True)
    one = ZeroOneClassifier().fit(size * np.array([[1.0], [2.0], [3.0], [4.0]]), [0, 1, 0, 1])
    assert (one.n_mistakes_, one.lower_bound_, one.proven_) == (1, 1, True)


def test_m14_a_margin_that_floats_cannot_tell_is_said_to_be_unknown():
    with pytest.warns(Warning, match="stopped with no bound: the plane separates, but may not be the widest"):
        HardMarginSVC().fit(1.0 + np.arange(3.0)[:, None] * 2.0**-52, [0, 0, 1])
