"""The flat view of many features, against scikit-learn's PCA and the definition of distance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.decomposition import PCA

from linsep import geometry
from linsep.analysis import plane_view as module
from linsep.analysis.plane_view import plane_view

SETTINGS = settings(max_examples=60, deadline=None)
shapes = st.tuples(st.integers(3, 30), st.integers(3, 8), st.integers(0, 2**31))


def draw(shape):
    n, d, seed = shape
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * rng.uniform(0.1, 9, d) + rng.normal(0, 5, d), rng.standard_normal(d), rng


@SETTINGS
@given(shape=shapes, b=st.floats(-5, 5))
def test_the_first_coordinate_is_the_distance_from_the_plane(shape, b):
    X, w, _ = draw(shape)
    view = plane_view(X, w, b)
    np.testing.assert_allclose(view.project(X)[:, 0], geometry.signed_distance(X, w, b), atol=1e-9)
    assert np.linalg.norm(view.across) == pytest.approx(1)
    assert np.linalg.norm(view.along) == pytest.approx(1)
    assert view.across @ view.along == pytest.approx(0, abs=1e-12)


@SETTINGS
@given(shape=shapes)
def test_the_second_direction_is_the_first_principal_component_of_what_is_left(shape):
    X, w, _ = draw(shape)
    view = plane_view(X, w)
    n = w / np.linalg.norm(w)
    pca = PCA(1, svd_solver="full").fit(X - np.outer(X @ n, n))
    assert np.var(X @ view.along, ddof=1) == pytest.approx(pca.explained_variance_[0], rel=1e-8)
    shown = (np.var(X @ n) + np.var(X @ view.along)) / X.var(axis=0).sum()
    assert view.shown == pytest.approx(shown)


@SETTINGS
@given(shape=shapes, b=st.floats(-5, 5))
def test_any_plane_is_a_line_of_the_view(shape, b):
    X, w, rng = draw(shape)
    view = plane_view(X, w, 1.0)
    other = rng.standard_normal(len(w))
    (p, q), r = view.planes(other, b)
    u, v = rng.standard_normal(2)
    assert p * u + q * v + r == pytest.approx(other @ (view.origin + u * view.across + v * view.along) + b)
    assert np.append(*view.planes(w, 1.0)) == pytest.approx([np.linalg.norm(w), 0, 0], abs=1e-9)
    slopes, offsets = view.planes([other, w], [b, 1.0])
    assert (*slopes[0], offsets[0]) == pytest.approx((p, q, float(r)))


def test_sparse_dense_and_matrix_free_views_are_the_same(monkeypatch):
    X = sparse.random_array((60, 12), density=0.3, random_state=0, format="csr")
    X = sparse.csr_array(X * np.arange(1.0, 13.0)[None, :])
    w = np.arange(12.0) - 4
    dense = plane_view(X.toarray(), w, 0.5)
    for view in (plane_view(X, w, 0.5), monkeypatch.setattr(module, "FORMED", 1) or plane_view(X, w, 0.5)):
        np.testing.assert_allclose(view.along, dense.along, atol=1e-5)
        np.testing.assert_allclose(view.project(X), dense.project(X.toarray()), atol=1e-4)
        assert view.shown == pytest.approx(dense.shown)


def test_two_features_are_shown_as_they_are():
    X = np.array([[1.0, 2.0], [3.0, 5.0]])
    view = plane_view(X, [1.0, 1.0], 3.0)
    assert view.identity
    np.testing.assert_array_equal(view.project(X), X)
    assert np.append(*view.planes([4.0, 5.0], 6.0)).tolist() == [4.0, 5.0, 6.0]


def test_one_feature_without_a_second_direction():
    view = plane_view(np.array([[1.0], [4.0]]), [-2.0], 4.0)
    np.testing.assert_array_equal(view.project(np.array([[1.0], [4.0]])), [[1.0, 0.0], [-2.0, 0.0]])


@pytest.mark.parametrize("w", [[0.0, 0.0, 0.0], [np.nan, 1.0, 1.0]])
def test_without_a_plane_the_two_largest_spreads_are_shown(w):
    X = np.random.default_rng(0).standard_normal((50, 3)) * [1.0, 9.0, 3.0]
    view = plane_view(X, w)
    pca = PCA(2).fit(X)
    np.testing.assert_allclose(np.abs(pca.components_ @ np.array([view.across, view.along]).T), np.eye(2), atol=1e-8)


def test_examples_without_spread_still_have_a_view():
    view = plane_view(np.ones((4, 3)), [0.0, 2.0, 0.0])
    assert np.linalg.norm(view.along) == pytest.approx(1)
    assert view.along @ [0, 1, 0] == 0
    assert view.shown == 1.0
