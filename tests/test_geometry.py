"""The geometry of the plane against loops, perpendiculars and the statements of the lectures."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.optimize import minimize

from linsep import geometry as geo

SETTINGS = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])

numbers = st.floats(-10, 10).map(lambda x: round(x, 6))  # no denormals: their norms underflow


@st.composite
def planes(draw, n=4):
    """X, y, w, b with w ≠ 0."""
    d = draw(st.integers(1, 4))
    X, w = draw(arrays(float, (n, d), elements=numbers)), draw(arrays(float, d, elements=numbers))
    assume(np.abs(w).max() > 1e-2)
    y = draw(arrays(float, n, elements=st.sampled_from([-1.0, 1.0])))
    return X, y, w, draw(numbers)


def by_hand(x, w, b):
    total = b
    for xj, wj in zip(x, w, strict=True):
        total += xj * wj
    return total


def length(w):
    return math.sqrt(sum(x * x for x in w))


# --- M1, M2


@SETTINGS
@given(planes())
def test_m1_side_is_the_sign_of_the_discriminant(plane):
    X, _, w, b = plane
    g = [by_hand(x, w, b) for x in X]
    assume(all(abs(value) > 1e-9 for value in g))
    np.testing.assert_array_equal(geo.side(X, w, b), [math.copysign(1, value) for value in g])


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_m1_point_exactly_on_the_plane_goes_to_the_first_class_as_in_predict(zero):
    on_the_plane = np.array([[1.0, 1.0], [zero, zero], [-2.0, -2.0]])
    np.testing.assert_array_equal(geo.side(on_the_plane, [1.0, -1.0]), [-1, -1, -1])
    np.testing.assert_array_equal(geo.side(on_the_plane + 0.5, [-2.0, 2.0], zero), [-1, -1, -1])


def test_m1_one_step_beside_the_plane_decides():
    X = np.array([[np.nextafter(1, 0)], [1.0], [np.nextafter(1, 2)]])
    np.testing.assert_array_equal(geo.side(X, [1.0], -1.0), [-1, -1, 1])


@SETTINGS
@given(planes())
def test_m2_augmented_and_separate_bias_have_the_same_discriminant(plane):
    X, y, w, b = plane
    A, theta = geo.augment(X), np.append(w, b)
    np.testing.assert_allclose(geo.discriminant(A, theta), geo.discriminant(X, w, b), rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(geo.functional_margin(A, y, theta), geo.functional_margin(X, y, w, b), atol=1e-11)


def test_m2_augment_appends_a_column_of_ones():
    np.testing.assert_array_equal(geo.augment(np.array([[2.0, 3.0], [4.0, 5.0]])), [[2, 3, 1], [4, 5, 1]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
def test_m2_augment_keeps_the_dtype_and_stays_sparse(kind, dtype):
    X = np.array([[0, 2], [3, 0]], dtype=dtype)
    A = geo.augment(kind(X))
    assert A.dtype == dtype
    assert sparse.issparse(A) == (kind is not np.asarray)
    np.testing.assert_array_equal(A.toarray() if sparse.issparse(A) else A, [[0, 2, 1], [3, 0, 1]])


# --- M3


@SETTINGS
@given(planes())
def test_m3_every_quantity_is_its_formula(plane):
    X, y, w, b = plane
    g = [by_hand(x, w, b) for x in X]
    z = [label * value for label, value in zip(y, g, strict=True)]
    close = {"rtol": 1e-10, "atol": 1e-10}
    np.testing.assert_allclose(geo.discriminant(X, w, b), g, **close)
    np.testing.assert_allclose(geo.signed_distance(X, w, b), [value / length(w) for value in g], **close)
    np.testing.assert_allclose(geo.functional_margin(X, y, w, b), z, **close)
    np.testing.assert_allclose(geo.geometric_margin(X, y, w, b), [value / length(w) for value in z], **close)
    assert geo.margin(X, y, w, b) == pytest.approx(min(z) / length(w), rel=1e-10, abs=1e-10)
    assert geo.distance_from_origin(w, b) == pytest.approx(abs(b) / length(w))
    np.testing.assert_allclose(geo.normal(w), [x / length(w) for x in w], **close)


def test_m3_a_triangle_of_three_four_five():
    # 3 x₁ + 4 x₂ = 10 passes the origin at distance 2
    w, b = [3.0, 4.0], -10.0
    X, y = np.array([[2.0, 1.0], [5.0, 5.0], [0.0, 0.0]]), [1, 1, -1]
    assert geo.distance_from_origin(w, b) == 2
    np.testing.assert_allclose(geo.normal(w), [0.6, 0.8])
    np.testing.assert_array_equal(geo.discriminant(X, w, b), [0, 25, -10])
    np.testing.assert_allclose(geo.signed_distance(X, w, b), [0, 5, -2])
    np.testing.assert_array_equal(geo.functional_margin(X, y, w, b), [0, 25, 10])
    np.testing.assert_allclose(geo.geometric_margin(X, y, w, b), [0, 5, 2])
    assert geo.margin(X[1:], y[1:], w, b) == 2


@SETTINGS
@given(planes())
def test_m3_walking_back_by_the_signed_distance_arrives_on_the_plane(plane):
    # 002: x − γ w/‖w‖ is in the plane
    X, _, w, b = plane
    feet = X - np.outer(geo.signed_distance(X, w, b), geo.normal(w))
    np.testing.assert_allclose([by_hand(x, w, b) for x in feet], 0, atol=1e-9)


@settings(SETTINGS, max_examples=15)
@given(planes(n=1))
def test_m3_distance_is_the_shortest_way_to_the_plane(plane):
    X, _, w, b = plane
    nearest = minimize(
        lambda p: ((p - X[0]) ** 2).sum(),
        np.zeros(len(w)),
        constraints={"type": "eq", "fun": lambda p: by_hand(p, w, b) / length(w)},
        method="SLSQP",
        options={"ftol": 1e-14},
    )
    assert abs(geo.signed_distance(X, w, b)[0]) == pytest.approx(math.sqrt(max(nearest.fun, 0)), abs=1e-5)


@SETTINGS
@given(planes())
def test_m3_normal_is_a_unit_vector_perpendicular_to_the_plane(plane):
    X, _, w, b = plane
    unit = geo.normal(w)
    assert length(unit) == pytest.approx(1)
    feet = X - np.outer(geo.signed_distance(X, w, b), unit)
    np.testing.assert_allclose((feet - feet[0]) @ unit, 0, atol=1e-9)  # directions inside the plane


@SETTINGS
@given(planes())
def test_m3_negative_bias_puts_the_plane_where_w_points(plane):
    # 003: if b < 0 the plane lies in the direction of w from the origin, otherwise in that of −w
    _, _, w, b = plane
    along = geo.distance_from_origin(w, b) * geo.normal(w) * (1 if b < 0 else -1)
    assert by_hand(along, w, b) == pytest.approx(0, abs=1e-9)


@SETTINGS
@given(planes(), st.floats(0.01, 100))
def test_m3_scaling_the_plane_changes_the_functional_margin_only(plane, c):
    X, y, w, b = plane
    functional, geometric = geo.functional_margin(X, y, w, b), geo.geometric_margin(X, y, w, b)
    np.testing.assert_allclose(geo.functional_margin(X, y, c * w, c * b), c * functional, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(geo.geometric_margin(X, y, c * w, c * b), geometric, rtol=1e-9, atol=1e-9)
    assert geo.distance_from_origin(c * w, c * b) == pytest.approx(geo.distance_from_origin(w, b))


@SETTINGS
@given(planes())
def test_m3_margin_of_a_set_is_positive_exactly_if_the_plane_separates_it(plane):
    X, y, w, b = plane
    separated = all(label * by_hand(x, w, b) > 1e-9 for x, label in zip(X, y, strict=True))
    assume(all(abs(by_hand(x, w, b)) > 1e-8 for x in X))
    assert (geo.margin(X, y, w, b) > 0) == separated


def test_m3_canonical_plane_has_margin_one_over_the_length():
    # 002: where the closest points have z = 1, the margin is 1/‖w‖
    X, y = np.array([[1.0, 1.0], [3.0, 3.0], [-1.0, -1.0]]), [1, 1, -1]
    w = np.array([0.5, 0.5])
    assert geo.functional_margin(X, y, w).min() == 1
    assert geo.margin(X, y, w) == pytest.approx(1 / math.sqrt(0.5)) == pytest.approx(math.sqrt(2))


@SETTINGS
@given(planes())
def test_m3_perceptron_update_raises_the_functional_margin_by_the_squared_length(plane):
    # 003: y g(x) grows by ‖x‖²
    X, y, w, _ = plane
    before, after = (geo.functional_margin(X[:1], y[:1], v)[0] for v in (w, w + y[0] * X[0]))
    assert after - before == pytest.approx(length(X[0]) ** 2, abs=1e-9)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array, np.float32, np.asfortranarray])
def test_m3_every_kind_of_matrix_gives_the_same_answers(kind):
    X, y = np.array([[1.0, 0.0], [0.0, -2.0], [0.5, 4.0]]), [1, -1, 1]  # exact in float32
    w, b = [1.0, 0.25], -0.125
    for function in (geo.discriminant, geo.side, geo.signed_distance):
        answer = function(kind(X), w, b)
        assert answer.dtype == np.float64
        np.testing.assert_array_equal(answer, function(X, w, b))
    for function in (geo.functional_margin, geo.geometric_margin, geo.margin):
        np.testing.assert_array_equal(function(kind(X), y, w, b), function(X, y, w, b))


def test_m3_float32_rows_are_summed_in_double_precision():
    X = np.full((1, 1000), 0.1, dtype=np.float32)
    exact = 1000 * float(np.float32(0.1)) * 0.1
    assert geo.discriminant(X, np.full(1000, 0.1))[0] == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(
    "question",
    [
        lambda w: geo.normal(w),
        lambda w: geo.distance_from_origin(w, 1.0),
        lambda w: geo.signed_distance(np.ones((1, 2)), w),
        lambda w: geo.geometric_margin(np.ones((1, 2)), [1], w),
        lambda w: geo.margin(np.ones((1, 2)), [1], w),
    ],
)
def test_m3_zero_weights_define_no_plane(question):
    with pytest.raises(ValueError, match=r"w = 0 defines no plane: every point has discriminant b"):
        question([0.0, 0.0])


def test_m3_discriminant_side_and_functional_margin_need_no_plane():
    X = np.ones((2, 2))
    np.testing.assert_array_equal(geo.discriminant(X, [0, 0], -3.0), [-3, -3])
    np.testing.assert_array_equal(geo.side(X, [0, 0]), [-1, -1])
    np.testing.assert_array_equal(geo.functional_margin(X, [1, -1], [0, 0], 2.0), [2, -2])


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-100, 1e100, 1e200, 1e300])
def test_m3_very_small_and_very_large_weights_are_a_plane_too(scale):
    w = np.array([3.0, 4.0]) * scale
    np.testing.assert_allclose(geo.normal(w), [0.6, 0.8])
    assert geo.distance_from_origin(w, -10.0 * scale) == pytest.approx(2)
    np.testing.assert_allclose(geo.signed_distance(np.array([[5.0, 5.0]]), w, -10.0 * scale), [5])
