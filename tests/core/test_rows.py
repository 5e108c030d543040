"""`Rows`, the type that hides which kernels are in use and how a matrix is stored."""

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from kernel_cases import COMPILED, every_kernel, handle, matrix
from linsep import LeastSquaresClassifier, LinearClassifier, Perceptron, SGDClassifier, _core
from linsep._core import Rows, reference
from linsep.losses import Hinge


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_do_not_copy_what_the_kernels_can_read(dtype):
    dense = np.ones((4, 3), dtype=dtype)
    assert np.shares_memory(Rows(dense).X, dense)
    for kind in (np.int32, np.int64):
        csr = matrix(np.random.default_rng(0), 4, 3, kind, dtype)
        for part in ("data", "indices", "indptr"):
            assert np.shares_memory(getattr(Rows(csr).X, part), getattr(csr, part))


@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "model",
    [
        Perceptron(order="cyclic", max_iter=2),
        SGDClassifier(max_iter=2, stopping="max_iterations"),
        LeastSquaresClassifier(),
        LinearClassifier("logistic", solver="gradient_descent", max_iter=2),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_does_not_copy_the_numbers(model, dtype, to):
    """Of a sparse matrix it does copy the indices, once: another thread may write into the caller's."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((44_000, 100), dtype=np.float32).astype(dtype), rng.integers(0, 2, 44_000)
    peaks = []
    for n in (33_000, 44_000):
        part = to(X[:n])
        tracemalloc.start()
        try:
            model.fit(part, y[:n])
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    indices = 4 * X[:11_000].size if to is sparse.csr_array else 0
    assert peaks[1] - peaks[0] - indices < X[:11_000].nbytes / 2  # what a fit needs may not grow as the data do


@pytest.mark.parametrize(
    "change",
    [
        np.asfortranarray,
        lambda X: np.repeat(X, 2, axis=0)[::2],
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: X[::-1][::-1],
        lambda X: X.astype(">f8"),
        lambda X: X.astype(np.float32),
        lambda X: X.astype(np.int64),
        sparse.csc_array,
        sparse.coo_array,
        sparse.csr_matrix,
        lambda X: sparse.csr_array(X.astype(np.int8)),
    ],
)
def test_rows_read_any_layout(change):
    X = np.arange(35.0).reshape(7, 5) % 11
    rows, w, u = Rows(change(X)), np.arange(5.0), np.arange(7.0)
    np.testing.assert_array_equal(rows.matvec(w), X @ w)
    np.testing.assert_array_equal(rows.rmatvec(u), X.T @ u)
    np.testing.assert_array_equal(rows.squared_norms(), (X**2).sum(axis=1))


def test_rows_read_csr_with_entries_stored_twice_and_out_of_order():
    # [[0, 3, 1], [5, 0, 0]], where the 3 is stored as 1 + 2 and the 5 as 4 + 1
    data, indices, indptr = np.array([1.0, 1, 2, 4, 1]), np.array([2, 1, 1, 0, 0]), np.array([0, 3, 5])
    rows = Rows(sparse.csr_array((data, indices, indptr), shape=(2, 3)))
    np.testing.assert_array_equal(rows.matvec(np.array([1.0, 10, 100])), [130, 5])
    np.testing.assert_array_equal(rows.rmatvec(np.array([1.0, 10])), [50, 3, 1])
    np.testing.assert_array_equal(rows.squared_norms(), [10, 25])


def test_rows_read_csr_whose_parts_are_not_contiguous():
    X = sparse.csr_array(np.array([[0.0, 3, 1], [5, 0, 0]]))
    X.data = np.repeat(X.data, 2)[::2]
    np.testing.assert_array_equal(Rows(X).matvec(np.array([1.0, 10, 100])), [130, 5])


def test_rows_read_csr_with_indices_of_two_widths():
    X = sparse.csr_array(np.array([[0.0, 3, 1], [5, 0, 0]]))
    X.indices = X.indices.astype(np.int64)
    np.testing.assert_array_equal(Rows(X).matvec(np.array([1.0, 10, 100])), [130, 5])


@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_rows_read_only_arrays_work_and_stay_as_they_were(to):
    X = to(np.arange(6.0).reshape(2, 3))
    parts = [X.data, X.indices, X.indptr] if sparse.issparse(X) else [X]
    before = [part.copy() for part in parts]
    for part in parts:
        part.flags.writeable = False
    rows = Rows(X)
    rows.matvec(np.ones(3)), rows.rmatvec(np.ones(2)), rows.squared_norms()
    order = np.array([0, 1, 1])
    options = dict(l2=0.1, l1=0.1, intercept=True, w=np.zeros(3), b=np.zeros(1))
    rows.stochastic_steps(np.array([1.0, -1.0]), None, order, np.ones(3), Hinge(), **options)
    for part, copy in zip(parts, before, strict=True):
        np.testing.assert_array_equal(part, copy)


DAMAGE = {
    "negative index": ("indices", 2, -1),
    "index past the last column": ("indices", 2, 3),
    "overflowed index": ("indices", 2, -(2**31)),
    "decreasing row bounds": ("indptr", 1, 4),
    "row bounds past the end": ("indptr", -1, 10**6),
    "negative row bound": ("indptr", 1, -2),
    "row bounds that do not begin with 0": ("indptr", 0, 1),
}


@pytest.mark.parametrize(("part", "at", "value"), DAMAGE.values(), ids=DAMAGE)
@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("kernels", [*COMPILED, reference, None], ids=lambda m: "Rows" if m is None else m.__name__)
def test_damaged_csr_is_an_error_and_not_a_crash(part, at, value, kind, kernels):
    X = sparse.csr_array(np.ones((4, 3)))
    X.indptr, X.indices = np.array([0, 1, 3, 3, 5], dtype=kind), np.array([0, 1, 2, 0, 1], dtype=kind)
    X.data = np.ones(5)
    getattr(X, part)[at] = value
    with pytest.raises(ValueError, match="CSR"):
        Rows(X) if kernels is None else handle(kernels, X)
    if kernels is None:  # nor where the rows are read without a look at them beforehand
        with pytest.raises(ValueError, match="CSR"):
            _core.scores(X, np.ones((1, 3)), np.ones(1))


@every_kernel
@given(rows=st.lists(st.lists(st.integers(0, 6), max_size=5), min_size=1, max_size=12), ordered=st.booleans())
@settings(max_examples=100, deadline=None)
def test_columns_that_a_row_names_twice_are_found(kernels, rows, ordered):
    rows = [sorted(set(row)) for row in rows] if ordered else rows
    start = np.cumsum([0, *map(len, rows)]).astype(np.int32)
    columns = np.array([j for row in rows for j in row], dtype=np.int32)
    X = kernels.csr(np.ones(len(columns)), columns, start, 7)
    for number in (1, 3):
        assert kernels.has_repeated_entries(X, number) == any(len(set(row)) < len(row) for row in rows)


def test_filled_columns_are_counted():
    X = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]])
    assert Rows(X).filled().tolist() == Rows(sparse.csr_array(X)).filled().tolist() == [1, 0, 2]


def test_columns_in_any_order_are_fine_and_repeated_ones_are_added():
    mixed = sparse.csr_array((np.array([1.0, 2.0, 3.0]), np.array([2, 0, 1]), np.array([0, 2, 3])), shape=(2, 3))
    np.testing.assert_array_equal(Rows(mixed).squared_norms(), [5.0, 9.0])
    twice = sparse.csr_array((np.array([1.0, 2.0, 3.0]), np.array([2, 2, 1]), np.array([0, 2, 3])), shape=(2, 3))
    np.testing.assert_array_equal(Rows(twice).squared_norms(), [9.0, 9.0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_that_are_mostly_zeros_become_sparse_and_others_stay(dtype):
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((3000, 400)) * (rng.random((3000, 400)) < 0.2)).astype(dtype)
    lean = Rows(X).lean()
    assert lean.is_sparse
    assert lean.X.dtype == dtype
    np.testing.assert_array_equal(lean.X.toarray(), X)
    assert not Rows(rng.standard_normal((3000, 400))).lean().is_sparse
    assert not Rows(X[:10]).lean().is_sparse  # too little to be worth it
    X[::11] = 0  # a sample that misleads: the rows looked at are emptier than the rest
    X[1:11] = 1.0
    assert Rows(X).lean().is_sparse


@every_kernel
@pytest.mark.parametrize("repeated", [False, True])
def test_a_column_named_again_by_another_of_many_rows_is_not_named_twice(kernels, repeated):
    columns = np.tile(np.array([2, 0], dtype=np.int32), 600)  # not in order: each of them has to be looked at
    columns[-1] = 2 if repeated else 0
    X = kernels.csr(np.ones(1200), columns, np.arange(0, 1201, 2, dtype=np.int32), 3)
    assert kernels.has_repeated_entries(X, 1) == repeated


def test_sums_over_columns_are_made_once_for_the_same_numbers(monkeypatch):
    """A fit at the next C begins where the last one ended: its first sums are known; others are not taken for them."""
    from linsep._core import columns as module

    calls, kernel = [], module.kernels.column_sums
    monkeypatch.setattr(module, "kernels", SimpleNamespace(column_sums=lambda *a: (calls.append(1), kernel(*a))))
    rng = np.random.default_rng(0)
    X, u, s = rng.normal(size=(7, 3)), rng.normal(size=7), np.ones(7)
    turned = Rows(X).turned
    for _ in range(2):
        np.testing.assert_allclose(turned.sums(u, s, None)[0], X.T @ u)
        np.testing.assert_allclose(turned.moments(s)[1], (X**2).sum(axis=0))
    assert len(calls) == 2
    u[3] += 1.0  # in place
    np.testing.assert_allclose(turned.sums(u, s, None)[0], X.T @ u)
    assert len(calls) == 3
    y = np.where(u > 0, 1.0, -1.0)
    np.testing.assert_allclose(turned.sums(u, s, y)[0], X[y > 0].T @ u[y > 0])
    np.testing.assert_allclose(turned.columns(np.array([2])).sums(u, s, None)[0], X[:, [2]].T @ u)
