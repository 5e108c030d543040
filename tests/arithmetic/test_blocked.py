"""Matrices read block by block: products, lengths, hashes and checks are those of the whole."""

import numpy as np
import pytest
from scipy import sparse

from linsep import LinearSVC, LogisticRegression, verify
from linsep._core import Rows
from linsep.arithmetic.blocked import BlockedMatrix, BlockedRows, rows_of
from linsep.certificates.data_hash import data_hash


@pytest.fixture(params=[np.asarray, sparse.csr_array])
def both(request):
    rng = np.random.default_rng(0)
    X = request.param(rng.standard_normal((90, 5)) * (rng.random((90, 5)) < 0.7))
    return X, BlockedMatrix(lambda: (X[first : first + 20] for first in range(0, 90, 20)), 90, 5)


def test_products_and_lengths(both):
    X, blocked = both
    rng = np.random.default_rng(1)
    whole, rows = Rows(X), rows_of(blocked)
    assert isinstance(rows, BlockedRows)
    w, u, W, U = (rng.standard_normal(size) for size in (5, 90, (5, 3), (90, 3)))
    for name, argument in (("matvec", w), ("rmatvec", u), ("matmat", W), ("rmatmat", U)):
        assert getattr(rows, name)(argument) == pytest.approx(getattr(whole, name)(argument))
    assert rows.squared_norms() == pytest.approx(whole.squared_norms())
    dense = X.toarray() if sparse.issparse(X) else X
    assert np.array_equal(blocked.min(axis=0), dense.min(axis=0))
    assert np.array_equal(blocked[[3, 70]], dense[[3, 70]])


def test_hash_is_that_of_the_whole(both):
    X, blocked = both
    y = np.arange(90) % 2
    assert data_hash(blocked, y) == data_hash(X, y)


@pytest.mark.parametrize(
    "model", [LogisticRegression(), LinearSVC(), LogisticRegression(C=np.inf), LogisticRegression(C=0.1)]
)
@pytest.mark.parametrize("classes", [2, 3])
def test_models_verify_on_blocks_as_on_the_whole(both, model, classes):
    X, blocked = both
    rng = np.random.default_rng(2)
    y = (np.asarray(X.sum(axis=1)).ravel() + 2 * rng.standard_normal(90) > 0).astype(int) + (rng.random(90) < 0.3)
    y = np.minimum(y, classes - 1)
    model.fit(X, y)
    outcome, expected = verify(model, blocked, y), verify(model, X, y)
    assert outcome.ok == expected.ok
    assert outcome.proven == expected.proven
    assert outcome.relative_gap == pytest.approx(expected.relative_gap, rel=1e-3, abs=1e-9)
    assert not verify(model, blocked, y[::-1])
