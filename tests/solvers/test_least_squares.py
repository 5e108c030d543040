"""Least squares against the singular value decompositions of NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from linsep import LeastSquaresClassifier, LinearClassifier
from linsep._core import Rows
from linsep.losses import Hinge, Square
from linsep.objective.enclosure import left_by_rounding
from linsep.objective.problem import Problem
from linsep.penalties import L1, L2
from linsep.solvers import LeastSquares
from linsep.solvers.newton import least_squares

FORMATS = {"dense": np.asarray, "csr": sparse.csr_array}
#: Of a plane through all points, or of columns that rounding alone tells apart, nothing is proven, and that is said.
unproven = pytest.mark.filterwarnings("ignore:LeastSquaresClassifier has not reached its goal")
every_format = pytest.mark.parametrize("to", FORMATS.values(), ids=FORMATS)


def oracle(X, y, s=None, C=np.inf, intercept=True):
    """The solution of least norm of min ½‖w‖² + C Σ sᵢ (yᵢ − w·xᵢ − b)², by NumPy on the whole matrix."""
    X, s = np.asarray(X, dtype=np.float64), np.ones(len(y)) if s is None else s
    x_mean, y_mean = (np.average(X, axis=0, weights=s), np.average(y, weights=s)) if intercept else (0.0, 0.0)
    A, t = np.sqrt(s)[:, None] * (X - x_mean), np.sqrt(s) * (y - y_mean)
    if np.isfinite(C):  # ½‖w‖² = C ‖w/√(2C)‖²: so many more rows
        A = np.vstack([A, np.eye(X.shape[1]) / np.sqrt(2 * C)])
        t = np.append(t, np.zeros(X.shape[1]))
    w = np.linalg.lstsq(A, t, rcond=None)[0]
    return w, y_mean - np.sum(x_mean * w)


def random_data(seed, n, d, rank=None):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    if rank is not None:
        X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))
    return X, np.append([1, -1], rng.choice([-1, 1], n - 2)), rng.uniform(0.1, 3, n)


def check(model, expected, rtol=1e-8):
    w, b = expected
    np.testing.assert_allclose(model.coef_[0], w, rtol=rtol, atol=rtol * (np.abs(w).max() + 1e-12))
    np.testing.assert_allclose(model.intercept_[0], b, rtol=rtol, atol=rtol * (1 + np.abs(w).max()))


@unproven
@every_format
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 40),
    d=st.integers(1, 25),
    weighted=st.booleans(),
    intercept=st.booleans(),
    C=st.sampled_from([np.inf, 10.0, 0.01]),
)
@settings(max_examples=60, deadline=None)
def test_least_squares_equals_numpys(to, seed, n, d, weighted, intercept, C):
    X, y, s = random_data(seed, n, d)
    s = s if weighted else None
    A = X - np.average(X, axis=0, weights=s) if intercept else X
    singular = np.linalg.svd(A, compute_uv=False)
    if np.isinf(C) and singular[singular > 1e-10 * singular[0]][-1] < 1e-3 * singular[0]:
        return  # nearly singular: another test
    model = LeastSquaresClassifier(C=C, fit_intercept=intercept).fit(to(X), y, sample_weight=s)
    check(model, oracle(X, y, s, C, intercept), 1e-7)


@pytest.mark.slow
@unproven
@every_format
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(8, 40), d=st.integers(5, 30), weighted=st.booleans())
@settings(max_examples=30, deadline=None)
def test_least_squares_of_deficient_rank_has_the_least_norm(to, seed, n, d, weighted):
    X, y, s = random_data(seed, n, d, rank=3)
    s = s if weighted else None
    model = LeastSquaresClassifier().fit(to(X), y, sample_weight=s)
    check(model, oracle(X, y, s), 1e-6)


@every_format
def test_columns_that_repeat_others_share_their_weight(to):
    X, y, _ = random_data(0, 30, 3)
    once = LeastSquaresClassifier().fit(to(X), y)
    twice = LeastSquaresClassifier().fit(to(np.hstack([X, X])), y)
    np.testing.assert_allclose(twice.coef_[0], np.tile(once.coef_[0] / 2, 2), rtol=1e-8)


@every_format
@pytest.mark.parametrize("constant", [0.0, 1.0, 0.1, -1 / 3, 1e6 + 0.1, 1e-9, 1e12])
@pytest.mark.parametrize("place", [0, 2])
def test_a_constant_column_gets_no_weight(to, constant, place):
    X, y, _ = random_data(1, 30, 4)
    with_constant = np.insert(X, place, constant, axis=1)
    plain, model = LeastSquaresClassifier().fit(to(X), y), LeastSquaresClassifier().fit(to(with_constant), y)
    assert abs(model.coef_[0, place] * constant) < 1e-6
    np.testing.assert_allclose(np.delete(model.coef_[0], place), plain.coef_[0], rtol=1e-6)
    np.testing.assert_allclose(model.decision_function(with_constant), plain.decision_function(X), rtol=1e-5, atol=1e-6)


@every_format
def test_constant_columns_alone_leave_the_intercept(to):
    y = np.array([1, 1, 1, -1])
    model = LeastSquaresClassifier().fit(to(np.full((4, 2), 0.1)), y)
    np.testing.assert_allclose(model.decision_function(np.full((1, 2), 0.1)), 0.5, rtol=1e-9)
    assert np.abs(model.coef_).max() < 1e-6


@every_format
@pytest.mark.parametrize("offset", [1e4, 1e8])
def test_columns_far_from_zero_are_solved_as_if_they_were_near(to, offset):
    X, y, s = random_data(2, 50, 4)
    X = np.round(X * 2**10) / 2**10  # so that adding the offset loses nothing
    model = LeastSquaresClassifier().fit(to(X + offset), y, sample_weight=s)
    near = LeastSquaresClassifier().fit(X, y, sample_weight=s)
    check(near, oracle(X, y, s))
    np.testing.assert_allclose(model.coef_, near.coef_, rtol=2e-6)
    np.testing.assert_allclose(model.decision_function(X + offset), near.decision_function(X), atol=1e-5)


@every_format
def test_columns_of_very_different_size_are_all_used(to):
    X, y, _ = random_data(3, 40, 4)
    scale = np.array([1e-12, 1.0, 1e6, 1e14])
    model, plain = LeastSquaresClassifier().fit(to(X * scale), y), LeastSquaresClassifier().fit(X, y)
    np.testing.assert_allclose(model.coef_ * scale, plain.coef_, rtol=1e-6)


@every_format
def test_single_precision_data_are_solved_in_double_precision(to):
    X, y, s = random_data(4, 50, 6)
    X = X.astype(np.float32)
    check(LeastSquaresClassifier().fit(to(X), y, sample_weight=s), oracle(X, y, s))


@unproven
def test_more_features_than_can_be_squared_are_solved_without_forming_a_matrix():
    X = sparse.random_array(
        (40, least_squares.MANY_FEATURES + 1), density=0.01, random_state=np.random.default_rng(0)
    ).tocsr()
    y = np.where(np.arange(40) % 3, 1, -1)
    model = LeastSquaresClassifier().fit(X, y)
    assert "LSMR" in model.history_.reason
    check(model, oracle(X.toarray(), y), 1e-6)


def test_weights_of_zero_leave_rows_out():
    X, y, s = random_data(5, 30, 4)
    s[10:] = 0
    check(LeastSquaresClassifier().fit(X, y, sample_weight=s), oracle(X[:10], y[:10], s[:10]))


def test_all_data_go_through_the_blocks():
    X, y, _ = random_data(6, 30_000, 40)  # more than one block of 2^20 numbers
    check(LeastSquaresClassifier().fit(X, y), oracle(X, y))


@unproven
def test_the_route_is_on_record():
    X, y, _ = random_data(7, 30, 3)
    assert "normal equations" in LeastSquaresClassifier().fit(X, y).history_.reason
    assert "singular value" in LeastSquaresClassifier().fit(np.hstack([X, X]), y).history_.reason
    assert "LSMR" in LeastSquaresClassifier().fit(sparse.csr_array(X[:2]), y[:2]).history_.reason


def test_the_gradient_vanishes_at_the_solution_and_the_history_says_so():
    X, y, _ = random_data(8, 30, 3)
    model = LeastSquaresClassifier(C=2.0).fit(X, y)
    residual = y - X @ model.coef_[0] - model.intercept_[0]
    np.testing.assert_allclose(model.coef_[0], 4 * residual @ X, atol=1e-10)
    assert abs(residual.sum()) < 1e-10
    assert model.history_["gradient_norm"][-1] < 1e-10
    assert model.history_["risk"][-1] == pytest.approx(np.mean(residual**2))


def test_the_general_classifier_finds_the_same_plane():
    X, y, _ = random_data(9, 30, 3)
    ours, general = LeastSquaresClassifier(C=3.0).fit(X, y), LinearClassifier("square", C=3.0).fit(X, y)
    np.testing.assert_array_equal(ours.coef_, general.coef_)


@pytest.mark.parametrize(
    ("loss", "penalty", "words"), [(Hinge(), L2(), "quadratic loss"), (Square(), L1(), "without L1")]
)
def test_what_has_no_closed_form_is_refused(loss, penalty, words):
    problem = Problem(Rows(np.eye(2)), np.array([1.0, -1.0]), loss, penalty, C=1.0)
    with pytest.raises(ValueError, match=words):
        LeastSquares().solve(problem)


def test_m17_the_classifier_thresholds_the_solution_of_the_normal_equations():
    rng = np.random.default_rng(17)
    X = rng.normal(size=(60, 3))
    y = np.where(X @ [1.0, -2.0, 0.5] + rng.normal(size=60) > 0.3, "yes", "no")
    augmented, target = np.column_stack([X, np.ones(60)]), np.where(y == "yes", 1.0, -1.0)
    w = np.linalg.solve(augmented.T @ augmented, augmented.T @ target)
    model = LeastSquaresClassifier().fit(X, y)
    np.testing.assert_allclose([*model.coef_[0], *model.intercept_], w, rtol=1e-9)
    assert model.predict(X).tolist() == np.where(augmented @ w > 0, "yes", "no").tolist()


def test_m17_the_square_loss_of_a_very_correct_point_is_as_large_as_that_of_a_very_wrong_one():
    assert Square().value(np.array([11.0, -9.0])).tolist() == [100.0, 100.0]  # the lecture's H = 11 and H = −9, y = 1


@pytest.mark.parametrize("intercept", [True, False])
def test_where_every_example_is_fitted_exactly_no_share_of_the_rounding_is_looked_for(intercept, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 60)), rng.integers(0, 2, 40)

    def never(*arguments, **options):
        raise AssertionError("a proof of nothing is looked for")

    monkeypatch.setattr("linsep.objective.enclosure.examine", never)
    with pytest.warns(ConvergenceWarning):
        model = LeastSquaresClassifier(fit_intercept=intercept).fit(X, y)
    assert np.sign(model.decision_function(X)) == pytest.approx(np.where(y == 1, 1, -1))
    assert not model.converged_
    signs = np.where(y == 1, 1.0, -1.0)
    assert left_by_rounding(Problem(Rows(X), signs, Square()), model.coef_[0], model.intercept_[0]) is not None
    twice, both = (
        np.vstack([X[:10], X[:10]]),
        np.r_[signs[:10], -signs[:10]],
    )  # and a loss to prove
    assert left_by_rounding(Problem(Rows(twice), both, Square()), np.zeros(60), 0.0) is None
