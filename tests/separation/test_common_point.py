"""Rows whose hulls meet, found by the likelihood: the relation is solved for by other means and has to be positive."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linsep import separability
from linsep.exact import Clock, ProofTimeoutError
from linsep.separation.common_point import common_point, fewest, most_likely


def relation(A):
    """The λ with Σ λᵢ aᵢ = 0, by a singular value decomposition, and how unique it is."""
    U, sizes, _ = np.linalg.svd(A)
    rank = int((sizes > 1e-9 * sizes.max()).sum())
    return U[:, -1] * np.sign(U[:, -1].sum()), len(A) - rank


def mixed(seed, n, q, rank=None):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, q))
    return A if rank is None else A[:, :rank] @ rng.standard_normal((rank, q))


@given(st.integers(0, 10_000), st.integers(1, 12), st.booleans())
def test_m13_rows_of_a_common_point_determine_positive_weights(seed, q, deficient):
    A = mixed(seed, 6 * q + 6, q, max(1, q // 2) if deficient else None)
    rows = common_point(A, Clock(None))
    if rows is None:  # half of the points in every direction: then a plane separates
        z = A @ np.linalg.lstsq(A, np.ones(len(A)), rcond=None)[0]
        assert np.linalg.matrix_rank(A) > 0
        assert q == 1 or (z > 0).mean() > 0.5
        return
    weights, dimension = relation(A[rows])
    assert dimension == 1
    assert (weights > 0).all()


def test_m13_the_maximum_of_the_likelihood_is_a_relation_of_all_rows():
    U = np.linalg.qr(mixed(0, 60, 8))[0]
    alpha = most_likely(U, Clock(None))
    assert (alpha > 0).all()
    np.testing.assert_allclose(U.T @ alpha, 0, atol=1e-10)


def test_m13_where_a_plane_separates_there_is_no_common_point():
    A = np.abs(mixed(1, 30, 5))
    assert common_point(A, Clock(None)) is None


def test_as_many_rows_as_columns_have_no_relation():
    assert fewest(np.eye(3), np.ones(3), Clock(None)) is None


def test_a_common_point_is_bounded_in_work():
    with pytest.raises(ProofTimeoutError, match="the likelihood"):
        common_point(mixed(0, 60, 8), Clock(None, 1e3))


@pytest.mark.parametrize("columns", ["independent", "dependent", "nearly dependent"])
def test_m13_broad_data_that_overlap_are_proven_to(columns):
    X = np.round(64 * mixed(2, 700, 120)) / 64
    if columns != "independent":
        sums = X[:, :3] + X[:, 3:6] + (columns == "nearly dependent") * 2.0**-30 * mixed(4, 700, 3)
        X = np.hstack([X, sums, np.zeros((len(X), 1))])
    y = np.where(np.random.default_rng(3).random(len(X)) < 0.5, -1, 1)
    found = separability(X, y)
    assert found.verdict == "overlap"
    assert len(found.points) <= X.shape[1] + 2
    assert found.verify(X, y)
