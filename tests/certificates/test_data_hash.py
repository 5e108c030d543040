"""The same numbers have the same hash, however they are stored; every change has another, and is named."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from linsep.arithmetic.blocked import BlockedMatrix
from linsep.certificates import data_hash as module
from linsep.certificates.data_hash import PartHash, RowsHash, data_hash, differs, joined

rng = np.random.default_rng(0)
X = np.where(rng.random((20, 4)) < 0.5, 0.0, rng.normal(size=(20, 4)).round(2).astype(np.float32)).astype(np.float64)
y = rng.integers(0, 2, 20)


@pytest.mark.parametrize(
    "same",
    [
        X.astype(np.float32),
        sparse.csr_matrix(X),
        sparse.csc_array(X),
        X.tolist(),
        np.asfortranarray(X),
        X + 0.0,
        np.where(X == 0, -0.0, X),
    ],
    ids=["float32", "csr", "csc", "list", "fortran", "copy", "negative zeros"],
)
def test_storage_does_not_matter(same):
    assert data_hash(same, y) == data_hash(X, y)


def test_stored_zeros_and_the_size_of_parts_do_not_matter(monkeypatch):
    stored = sparse.csr_matrix(X)
    stored.data[3] = 0.0
    dense = stored.toarray()
    assert data_hash(stored, y) == data_hash(dense, y)
    monkeypatch.setattr(module, "CHUNK", 12)
    assert data_hash(stored, y) == data_hash(dense, y)


def test_types_of_equal_labels_and_weights_of_one_do_not_matter():
    assert data_hash(X, y.astype(float)) == data_hash(X, y) == data_hash(X, y.astype(bool), np.ones(20))
    assert differs(data_hash(X, y), data_hash(X, y.astype(str)))


@given(st.integers(0, 19), st.integers(0, 3))
def test_one_bit_of_x_one_label_one_weight_are_noticed(i, j):
    changed, labels, weights = X.copy(), y.copy(), np.ones(20)
    changed[i, j] = np.nextafter(changed[i, j], np.inf)
    labels[i] = 1 - labels[i]
    weights[i] = 2.0
    said = data_hash(X, y)
    assert "the rows are not" in differs(said, data_hash(changed, y))
    assert "labels" in differs(said, data_hash(X, labels))
    assert "weights" in differs(said, data_hash(X, y, weights))
    assert "19 rows" in differs(said, data_hash(np.delete(X, i, 0), np.delete(y, i)))
    assert not differs(said, data_hash(X, y))


def test_the_order_of_rows_matters():
    assert differs(data_hash(X, y), data_hash(X[::-1], y[::-1]))


def hashed_in_parts(parts, weight):
    """Hash the rows as several machines would, each its own."""
    found, first = [], 0
    for size in parts:
        these, rows = slice(first, first + size), RowsHash()
        rows.add(X[these])
        found.append(PartHash.of(rows, [0, 1], y[these], None if weight is None else weight[these]))
        first += size
    return joined(found, X.shape[1])


@pytest.mark.parametrize("weight", [None, np.arange(1.0, 21.0), np.ones(20)])
@pytest.mark.parametrize("parts", [[20], [7, 13], [1, 0, 4, 15]])
def test_rows_that_were_hashed_part_by_part_are_known_again_in_one_place(parts, weight):
    said = hashed_in_parts(parts, weight)
    blocked = BlockedMatrix(lambda: iter([X[:3], sparse.csr_matrix(X[3:12]), X[12:]]), *X.shape)
    for same in (X, sparse.csr_matrix(X), X.astype(np.float32), blocked):
        assert data_hash(same, y, weight, said) == said
    other = X.copy()
    other[8, 1] += 1.0
    assert "the rows are not those" in differs(said, data_hash(other, y, weight, said))
    assert "the labels are not those" in differs(said, data_hash(X, 1 - y, weight, said))
    assert "weights of the examples" in differs(said, data_hash(X, y, np.full(20, 2.0), said))
    assert "the data have 19 rows" in differs(said, data_hash(X[1:], y[1:], None, said))
