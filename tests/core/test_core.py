"""The compiled kernels against the plain-Python ones, and `Rows`, the type that hides which are in use."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
import tracemalloc
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit, log_softmax, softmax

import springs as plain_springs
from linsep import LeastSquaresClassifier, LinearClassifier, Perceptron, SGDClassifier, _core, losses
from linsep._core import Rows, _kernels, compiled_name, kernels_in_use, reference, threads
from linsep.losses import Hinge, Loss, SquaredHinge
from linsep.solvers import StochasticDescent

COMPILED = [_kernels]
if _kernels.has_avx2():
    from linsep._core import _kernels_avx2

    COMPILED.append(_kernels_avx2)

every_kernel = pytest.mark.parametrize("kernels", COMPILED, ids=lambda module: module.__name__.rsplit(".", 1)[-1])
every_loss = pytest.mark.parametrize("name", ["perceptron", "hinge", "squared_hinge", "logistic", "square"])


def matrix(rng, n, d, kind, dtype):
    """A random matrix with rows of length about one: dense, or CSR with either width of index."""
    X = (rng.standard_normal((n, d)) / np.sqrt(d)).astype(dtype)
    if kind == "dense":
        return X
    X = sparse.csr_array(np.where(rng.random((n, d)) < 0.4, X, dtype(0)))
    X.indices, X.indptr = X.indices.astype(kind), X.indptr.astype(kind)
    return X


def handle(kernels, X):
    return kernels.csr(X.data, X.indices, X.indptr, X.shape[1]) if sparse.issparse(X) else kernels.dense(X)


def as_double(X):
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


shapes = dict(n=st.integers(1, 12), d=st.integers(1, 300), seed=st.integers(0, 2**32 - 1))
formats = dict(
    kind=st.sampled_from(["dense", np.int32, np.int64]), dtype=st.sampled_from([np.float32, np.float64])
)  # beyond 128 columns the dense product runs in blocks


@every_kernel
@every_loss
@given(
    **shapes,
    **formats,
    l2=st.sampled_from([0.0, 0.05, 5.0]),  # 5 shrinks some iterates to zero
    l1=st.sampled_from([0.0, 0.01]),
    weighted=st.booleans(),
    intercept=st.booleans(),
    summed=st.booleans(),
    width=st.sampled_from([1, 4, 12, 28]),  # one plane, packs of four, and more packs than one sweep takes
)
@settings(max_examples=40, deadline=None)
def test_compiled_steps_equal_the_reference(
    kernels, name, n, d, seed, kind, dtype, l2, l1, weighted, intercept, summed, width
):
    rng = np.random.default_rng(seed)
    X = matrix(rng, n, d, kind, dtype)
    y = rng.choice([-1.0, 0.0, 1.0], (n, width), p=[0.45, 0.1, 0.45])
    weight = rng.uniform(0.2, 2.0, n) if weighted else None
    steps = int(rng.integers(0, 30))
    order, eta = rng.integers(0, n, steps), rng.uniform(0.01, 0.4, steps)
    begin = rng.standard_normal((d, width)), rng.standard_normal(width) * intercept
    ran = []
    for module in (kernels, reference):
        W, b = (part.copy() for part in begin)
        sums = (np.ones((d, width)), np.ones(width)) if summed else (None, None)
        counts, moved = np.ones((n, width), dtype=np.int64), np.empty((steps, width), dtype=np.uint8)
        matrix_or_handle = X if module is reference else handle(module, X)
        loss = losses.get(name) if module is reference else name
        owed, paid = np.zeros(1), np.zeros((d, width))
        notes = *sums, counts, moved, owed, paid
        total = module.stochastic_steps(matrix_or_handle, y, weight, order, eta, loss, l2, l1, intercept, W, b, *notes)
        assert total == moved.sum() == (counts - 1).sum()
        ran.append((moved, counts, W, b, owed, paid, *(sums if summed else ())))
    if name in ("perceptron", "hinge"):  # the slopes of the others may round to zero in one and not in the other
        np.testing.assert_array_equal(ran[0][0], ran[1][0])
        np.testing.assert_array_equal(ran[0][1], ran[1][1])
    for ours, theirs in zip(ran[0][2:], ran[1][2:], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)


@every_kernel
@every_loss
@given(**shapes, **formats, weighted=st.booleans(), width=st.sampled_from([1, 4, 12, 28]))
@settings(max_examples=25, deadline=None)
def test_what_is_measured_of_planes_equals_the_reference(kernels, name, n, d, seed, kind, dtype, weighted, width):
    rng = np.random.default_rng(seed)
    X = matrix(rng, n, d, kind, dtype)
    y, W = rng.choice([-1.0, 0.0, 1.0], (n, width)), rng.standard_normal((d, width)) * rng.integers(0, 2, (d, width))
    weight = rng.uniform(0.2, 2.0, n) if weighted else None
    head, tail = (y, weight), (W, rng.standard_normal(width), 3.0, 0.2, 0.1)
    ran = []
    for module in (kernels, reference):
        G, out = np.full((d, width), np.nan), np.full((7, width), np.nan)
        matrix_or_handle = X if module is reference else handle(module, X)
        module.measure(matrix_or_handle, *head, losses.get(name) if module is reference else name, *tail, G, out)
        ran.append((G, out))
    for ours, theirs in zip(*ran, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)
    with pytest.raises(ValueError, match="shapes"):
        kernels.measure(handle(kernels, X), *head, name, *tail, np.empty((d + 1, width)), np.empty((7, width)))


@every_kernel
@pytest.mark.parametrize("kind", ["dense", np.int32])
def test_a_plane_takes_the_same_steps_whichever_are_beside_it(kernels, kind):
    rng = np.random.default_rng(0)
    X, (n, d, width) = matrix(rng, 40, 150, kind, np.float64), (40, 150, 28)
    y, W = rng.choice([-1.0, 1.0], (n, width)), rng.standard_normal((d, width))
    order, eta = rng.integers(0, n, 200), np.full(200, 0.1)

    def steps(planes):
        parts = [np.ascontiguousarray(part[:, planes]) for part in (y, W)]
        b, sums = np.zeros(len(planes)), (np.zeros((d, len(planes))), np.zeros(len(planes)))
        rest = 0.1, 0.001, True, parts[1], b, *sums, None, None, np.zeros(1), np.zeros((d, len(planes)))
        kernels.stochastic_steps(handle(kernels, X), parts[0], None, order, eta, "logistic", *rest)
        out = np.empty((7, len(planes)))
        G = np.empty((d, len(planes)))
        kernels.measure(handle(kernels, X), parts[0], None, "logistic", parts[1], b, 40.0, 0.1, 0.01, G, out)
        return np.vstack([parts[1], b, *sums, out])

    everything, some = steps(range(width)), [5, 0, 27, 13]
    np.testing.assert_array_equal(steps(some), everything[:, some])


@every_kernel
@every_loss
@given(z=st.one_of(st.sampled_from([0.0, -0.0, 1.0, np.nextafter(0, 1), np.nextafter(1, 2)]), st.floats(-600, 600)))
@settings(max_examples=60, deadline=None)
def test_compiled_slopes_are_those_of_the_losses(kernels, name, z):
    # From w = 0 and b = z, a step of size one on x = y = 1 leaves w = −ℓ'(z).
    w, b, one = np.zeros((1, 1)), np.array([z]), np.ones(1)
    X, order, y = kernels.dense(np.ones((1, 1))), np.zeros(1, dtype=np.int64), np.ones((1, 1))
    kernels.stochastic_steps(X, y, None, order, one, name, 0.0, 0.0, True, w, b, *[None] * 6)
    np.testing.assert_allclose(-w[0, 0], losses.get(name).slope(np.array(z)), rtol=1e-13, atol=0)


@every_kernel
@given(**shapes, **formats, count=st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_products_equal_those_of_numpy_and_of_the_reference(kernels, n, d, seed, kind, dtype, count):
    rng = np.random.default_rng(seed)
    X = matrix(rng, n, d, kind, dtype)
    dense, w, u = as_double(X), rng.standard_normal((count, d)), rng.standard_normal(n)
    expected = dense @ w.T, dense.T @ u, (dense**2).sum(axis=1)
    for module in (kernels, reference):
        products = np.full((n, count), np.nan), np.full(d, np.nan), np.full(n, np.nan)
        first, extra = (X, ()) if module is reference else (handle(module, X), (2,))
        module.matvec(first, w, products[0], *extra)
        module.rmatvec(first, u, products[1], *extra)
        module.squared_norms(first, products[2], *extra)
        for ours, theirs in zip(products, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-12)


@every_kernel
@given(**shapes | dict(d=st.integers(1, 900)), **formats, columns=st.integers(1, 31), threads=st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_products_with_matrices_equal_those_of_numpy_and_of_the_reference(
    kernels, n, d, seed, kind, dtype, columns, threads
):
    rng = np.random.default_rng(seed)
    X = matrix(rng, n, d, kind, dtype)
    dense, W, U = as_double(X), rng.standard_normal((d, columns)), rng.standard_normal((n, columns))
    for module in (kernels, reference):
        products = np.full((n, columns), np.nan), np.full((d, columns), np.nan)
        first, extra = (X, ()) if module is reference else (handle(module, X), (threads,))
        module.matmat(first, W, products[0], *extra)
        module.rmatmat(first, U, products[1], *extra)
        np.testing.assert_allclose(products[0], dense @ W, rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(products[1], dense.T @ U, rtol=1e-11, atol=1e-12)
    with pytest.raises(ValueError, match="shapes"):
        kernels.matmat(handle(kernels, X), np.ones((d + 1, 2)), np.empty((n, 2)), 1)
    with pytest.raises(ValueError, match="shapes"):
        kernels.rmatmat(handle(kernels, X), np.ones((n, 2)), np.empty((d, 3)), 1)


@every_kernel
@given(
    **shapes | dict(n=st.sampled_from([1, 2, 5, 300, 600])), **formats, planes=st.integers(1, 14), spoil=st.booleans()
)
@settings(max_examples=60, deadline=None)
def test_scores_labels_and_probabilities_equal_those_of_numpy_and_of_the_reference(
    kernels, n, d, seed, kind, dtype, planes, spoil
):
    rng = np.random.default_rng(seed)
    X = matrix(rng, n, d, kind, dtype)
    W, b, table = rng.standard_normal((planes, d)), rng.standard_normal(planes), rng.integers(-9, 9, max(2, planes))
    if spoil and (stored := X.data if sparse.issparse(X) else X).size:  # also where the weight is zero
        stored.flat[-1] = rng.choice([np.nan, np.inf])
        W[:, X.indices[-1] if sparse.issparse(X) else -1] *= rng.integers(0, 2)
    finite = np.isfinite(as_double(X)).all()
    fine = np.isfinite(as_double(X)).all(axis=1)
    g = as_double(X)[fine] @ W.T + b
    for module in (kernels, reference):
        first, width = X if module is reference else handle(module, X), max(2, planes)
        scores, labels, shares = np.empty((n, planes)), np.empty(n, dtype=np.int64), np.empty((n, width))
        assert module.scores(first, W, b, scores, 2) == finite
        assert module.labels(first, W, b, table, labels, 2) == finite
        assert module.probabilities(first, W, b, shares, 2) == finite
        np.testing.assert_allclose(scores[fine], g, rtol=1e-11, atol=1e-12)
        winners = (g[:, 0] >= 0).astype(int) if planes == 1 else g.argmax(axis=1)
        near = np.sort(np.abs(g) if planes == 1 else g.max(axis=1, keepdims=True) - g, axis=1)[:, int(planes > 1)]
        sure = near > 1e-9
        np.testing.assert_array_equal(labels[fine][sure], table[winners[sure]])
        expected = np.exp(log_softmax(np.column_stack([-g, g]) / 2 if planes == 1 else g, axis=1))
        np.testing.assert_allclose(shares[fine], expected, rtol=1e-9, atol=1e-300)


@every_kernel
def test_probabilities_of_extreme_scores_are_probabilities(kernels):
    first = kernels.dense(np.ones((1, 1)))
    for g in (-1e300, -800.0, -0.0, 30.0, 1e308):
        two, three = np.empty((1, 2)), np.empty((1, 3))
        assert kernels.probabilities(first, np.array([[0.0]]), np.array([g]), two, 1)
        assert kernels.probabilities(first, np.zeros((3, 1)), np.array([g, 0.0, 0.0]), three, 1)
        np.testing.assert_allclose(two[0], [expit(-g), expit(g)], rtol=1e-14)
        np.testing.assert_allclose(three[0], softmax([g, 0.0, 0.0]), rtol=1e-14)


@every_kernel
@pytest.mark.parametrize(
    "wrong",
    [dict(W=np.ones((1, 4))), dict(b=np.ones(2)), dict(out=np.zeros((2, 2))), dict(out=np.zeros((3, 1)))],
    ids=str,
)
def test_planes_that_do_not_fit_the_rows_are_refused(kernels, wrong):
    given = dict(W=np.ones((1, 3)), b=np.ones(1), out=np.empty((2, 1))) | wrong
    with pytest.raises(ValueError, match="shapes"):
        kernels.scores(kernels.dense(np.ones((2, 3))), *given.values(), 1)


@every_kernel
@pytest.mark.parametrize(
    "wrong",
    [
        dict(y=np.ones((3, 1))),
        dict(order=2),
        dict(order=-1),
        dict(eta=np.ones(2)),
        dict(name="huber"),
        dict(W=np.zeros((2, 1))),
        dict(W=np.zeros((3, 3))),
        dict(counts=np.zeros((2, 4), dtype=np.int64)),
        dict(moved=np.zeros((2, 1), dtype=np.uint8)),
    ],
    ids=str,
)
def test_compiled_steps_refuse_what_does_not_fit(kernels, wrong):
    given = dict(y=np.ones((2, 1)), order=0, eta=np.ones(1), name="hinge", W=np.zeros((3, 1)), counts=None, moved=None)
    y, order, eta, name, W, counts, moved = (given | wrong).values()
    head = kernels.dense(np.ones((2, 3))), y, None, np.array([order]), eta, name
    with pytest.raises(ValueError, match=r"shapes|example|step|huber|four"):
        kernels.stochastic_steps(*head, 0.0, 0.0, True, W, np.zeros(1), None, None, counts, moved, None, None)


# -- Rows -----------------------------------------------------------------------------------------------------------


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
def test_a_fit_does_not_copy_the_data(model, dtype, to):
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
    assert peaks[1] - peaks[0] < X[:11_000].nbytes / 2  # what a fit needs may not grow as the data do


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


# -- dual descent by two halves ---------------------------------------------------------------------------------------


def halves(rng, n, d, kind, dtype):
    """The arguments of a pass somewhere on the way."""
    X = matrix(rng, n, d, kind, dtype)
    y, c = rng.choice([-1.0, 1.0], n), rng.uniform(0.1, 3.0, n) * (rng.random(n) < 0.9)
    alpha = c * rng.random(n)
    q = np.einsum("ij,ij->i", as_double(X), as_double(X))
    return X, y, c, q, alpha, as_double(X).T @ (alpha * y)


@every_kernel
@pytest.mark.parametrize("name", ["logistic", "squared_hinge", "square"])
@settings(deadline=None)
@given(**shapes, **formats, constant=st.sampled_from([0.0, 0.7]), seed_of_order=st.integers(0, 2**63))
def test_a_pass_by_halves_does_what_the_plain_one_does(kernels, name, n, d, seed, kind, dtype, constant, seed_of_order):
    X, y, c, q, alpha, w = halves(np.random.default_rng(seed), n, d, kind, dtype)
    order, b = np.arange(n, dtype=np.int32), np.array([0.3])
    plain_alpha, plain_w, plain_b = alpha.copy(), w.copy(), b.copy()
    into = alpha, w, np.empty(d), 2
    gap = kernels.dual_halves(handle(kernels, X), y, c, name, q, constant, b, order, seed_of_order, *into)
    np.testing.assert_array_equal(np.sort(order), np.arange(n))
    loss = losses.get(name)
    expected = reference.dual_halves(X, y, c, loss, q, constant, plain_b, order, None, plain_alpha, plain_w)
    np.testing.assert_allclose(alpha, plain_alpha, atol=2e-6)  # the logistic step's last correction is to first order
    np.testing.assert_allclose(w, plain_w, atol=2e-5)
    np.testing.assert_allclose(b, plain_b, atol=2e-5)
    if name != "logistic":  # whose gap is one to second order
        assert gap == pytest.approx(expected, rel=1e-6, abs=1e-9)


@settings(deadline=None)
@given(**shapes, **formats)
def test_the_gap_that_a_logistic_pass_sees_is_right_near_the_optimum(n, d, seed, kind, dtype):
    X, y, c, q, alpha, w = halves(np.random.default_rng(seed), n, d, kind, dtype)
    rows, b, other = Rows(X), np.zeros(1), np.empty(d)
    order = np.flatnonzero(c).astype(np.int32)
    how = dict(constant=0.0, b=b, alpha=alpha, w=w, order=order)
    for k in range(30):
        gap = rows.dual_halves(y, c, losses.Logistic(), seed=k, other=other, **how)
        if gap < 1e-5:
            break
    before = alpha.copy(), w.copy()
    gap = rows.dual_halves(y, c, losses.Logistic(), seed=99, other=other, **how)
    plain = reference.dual_halves(X, y, c, losses.Logistic(), q, 0.0, b, order, None, *before)
    assert gap == pytest.approx(plain, rel=0.2, abs=1e-10)


@pytest.mark.parametrize("name", ["logistic", "squared_hinge", "square"])
@settings(deadline=None)
@given(**shapes, **formats)
def test_the_dual_rises_at_every_pass_by_halves(name, n, d, seed, kind, dtype):
    X, y, c, _, alpha, w = halves(np.random.default_rng(seed), n, d, kind, dtype)
    rows, loss = Rows(X), losses.get(name)

    def dual():
        v = as_double(X).T @ (alpha * y)
        shares = np.divide(alpha, c, out=np.zeros(n), where=c > 0)
        return -v @ v / 2 - c @ loss.conjugate(-shares)

    before = dual()
    for k in range(5):
        how = dict(constant=0.0, b=np.zeros(1), order=np.arange(n, dtype=np.int32), other=np.empty(d))
        rows.dual_halves(y, c, loss, seed=k, alpha=alpha, w=w, **how)
        np.testing.assert_allclose(w, as_double(X).T @ (alpha * y), atol=1e-9)
        after = dual()
        assert after >= before - 1e-6 * (1 + abs(before))
        before = after


def test_a_fit_by_halves_is_the_same_for_any_number_of_threads(monkeypatch):
    rng = np.random.default_rng(0)
    X = sparse.random_array((3000, 5000), density=0.06, rng=rng, format="csr")
    y = rng.random(3000) < 0.5
    fits = []
    for count in ("1", "2", "3"):
        monkeypatch.setenv("LINSEP_NUM_THREADS", count)
        model = LinearClassifier("logistic", random_state=0).fit(X, y)
        assert model.history_.solver == "dual"
        fits.append(model.coef_)
    np.testing.assert_array_equal(fits[0], fits[1])
    np.testing.assert_array_equal(fits[0], fits[2])


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


# -- threads and processes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_results_do_not_depend_on_the_number_of_threads(monkeypatch, to):
    rng = np.random.default_rng(1)
    X, y = to(rng.standard_normal((9_000, 200))), rng.integers(0, 3, 9_000)
    w, u, results = rng.standard_normal((2, 200)), rng.standard_normal(9_000), []
    for count in ("1", "2", "5"):
        monkeypatch.setenv("LINSEP_NUM_THREADS", count)
        rows = Rows(X)
        model = SGDClassifier(random_state=0, max_iter=2, stopping="max_iterations")
        with pytest.warns(match="did not converge"):
            model.set_params(max_iter=2, stopping=None).fit(X, y)
        products = rows.matmat(np.tile(w.T, 4)), rows.rmatmat(np.outer(u, np.arange(7.0)))
        results.append([rows.matvec(w), rows.rmatvec(u), rows.squared_norms(), *products, model.coef_])
    for other in results[1:]:
        for ours, theirs in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_the_number_of_threads_is_read_at_every_call(monkeypatch):
    monkeypatch.setenv("LINSEP_NUM_THREADS", "3")
    assert threads() == 3
    monkeypatch.delenv("LINSEP_NUM_THREADS")
    assert threads() >= 1


@pytest.mark.parametrize("wrong", ["0", "-1", "two", "1.5"])
def test_a_number_of_threads_that_makes_no_sense_is_an_error(monkeypatch, wrong):
    monkeypatch.setenv("LINSEP_NUM_THREADS", wrong)
    with pytest.raises(ValueError, match="LINSEP_NUM_THREADS"):
        threads()


def test_another_thread_runs_while_the_kernels_do():
    rng = np.random.default_rng(0)
    X, steps = rng.standard_normal((1000, 200)), 600_000
    rows, order, eta = Rows(X), rng.integers(0, 1000, steps), np.full(steps, 0.01)
    options = dict(l2=0.01, l1=0.0, intercept=True, w=np.zeros(200), b=np.zeros(1))
    y = rng.choice([-1.0, 1.0], 1000)
    arguments = y, None, order, eta, losses.Logistic()

    def ticks_of_this_thread():
        work, ticks = threading.Thread(target=rows.stochastic_steps, args=arguments, kwargs=options), 0
        work.start()
        while work.is_alive():
            time.sleep(0.001)
            ticks += 1
        return ticks

    # A kernel that held the lock would let this thread run once or twice, however often one tries.
    assert any(ticks_of_this_thread() > 5 for _ in range(20))


class CountingSlope(Hinge):
    """The squared hinge in the hinge's clothes: were the compiled hinge to run, the result would be another."""

    calls = 0

    def slope(self, z):
        type(self).calls += 1
        return SquaredHinge().slope(z)


class OwnSquaredHinge(Loss):
    name, formula = "own", "max(0, 1 − z)²"

    def value(self, z):
        return SquaredHinge().value(z)

    def slope(self, z):
        return SquaredHinge().slope(z)


@pytest.mark.parametrize("loss", [CountingSlope(), OwnSquaredHinge()], ids=repr)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_loss_of_ones_own_runs_its_own_slope(loss):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 3)), rng.integers(0, 2, 20)
    solver = StochasticDescent(0.05, None, "last", max_iter=3)
    model = LinearClassifier(loss, solver=solver, random_state=0).fit(X, y)
    expected = LinearClassifier("squared_hinge", solver=solver, random_state=0).fit(X, y)
    assert compiled_name(loss) is None
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-12)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, rtol=1e-12)


def test_a_subclass_of_a_compiled_loss_is_asked_once_a_step():
    CountingSlope.calls = 0
    rows, options = Rows(np.ones((2, 1))), dict(l2=0.0, l1=0.0, intercept=True, w=np.zeros(1), b=np.zeros(1))
    rows.stochastic_steps(np.ones(2), None, np.array([0, 1, 0]), np.full(3, 0.1), CountingSlope(), **options)
    assert CountingSlope.calls == 3


FIT = """
import json, warnings
{before}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import linsep
    from linsep import _core
    at_import = len(caught)
    X, y = [[0.0, 1.0], [1.0, 0.0], [3.0, 4.0], [4.0, 2.0]], [0, 0, 1, 1]
    models = [linsep.Perceptron(order="cyclic"), linsep.SGDClassifier(random_state=0), linsep.LeastSquaresClassifier()]
    fitted = [model.fit(X, y) for model in models]
    models[0].predict(X)
found = [(w.category.__name__, str(w.message)) for w in caught]
planes = [[*m.coef_[0], *m.intercept_] for m in fitted]
print(json.dumps(dict(kernels=_core.kernels_in_use(), at_import=at_import, warnings=found, planes=planes)))
"""


def fit_elsewhere(before="", **environment):
    env = {key: value for key, value in os.environ.items() if not key.startswith("LINSEP_")} | environment
    command = [sys.executable, "-c", FIT.format(before=before)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def fit_here():
    X, y = [[0.0, 1.0], [1.0, 0.0], [3.0, 4.0], [4.0, 2.0]], [0, 0, 1, 1]
    models = Perceptron(order="cyclic"), SGDClassifier(random_state=0), LeastSquaresClassifier()
    return [[*model.fit(X, y).coef_[0], *model.intercept_] for model in models]


@pytest.mark.slow
def test_the_reference_kernels_can_be_asked_for_and_give_the_same_fits():
    ran = fit_elsewhere(LINSEP_KERNELS="reference")
    assert ran["kernels"] == "reference"
    assert ran["warnings"] == []
    np.testing.assert_allclose(ran["planes"], fit_here(), rtol=1e-10, atol=1e-12)


@pytest.mark.slow
def test_without_compiled_kernels_the_first_fit_warns_once_and_says_what_to_do():
    blocked = "import sys; sys.modules['linsep._core._kernels'] = sys.modules['linsep._core._kernels_avx2'] = None"
    ran = fit_elsewhere(blocked)
    assert ran["kernels"] == "reference"
    assert ran["at_import"] == 0
    ((category, message),) = ran["warnings"]
    assert category == "RuntimeWarning"
    assert "compiler" in message
    assert "pip install" in message
    np.testing.assert_allclose(ran["planes"], fit_here(), rtol=1e-10, atol=1e-12)


def test_the_environment_chooses_the_kernels(monkeypatch):
    monkeypatch.setenv("LINSEP_KERNELS", "baseline")
    assert _core.loading.load() is _kernels
    monkeypatch.setenv("LINSEP_KERNELS", "reference")
    assert _core.loading.load() is None
    monkeypatch.setenv("LINSEP_KERNELS", "fast")
    with pytest.warns(RuntimeWarning, match="LINSEP_KERNELS='fast' is not known"):
        assert _core.loading.load() is not None


def test_the_compiled_kernels_are_in_use_where_there_is_a_compiler():
    has_compiler = shutil.which("c++") or shutil.which("g++")
    assert kernels_in_use() in (("avx2", "baseline") if has_compiler else ("avx2", "baseline", "reference"))


@every_kernel
@given(**shapes, **formats, width=st.sampled_from([0.01, 1.0, 4.0]), split=st.booleans())
@settings(max_examples=60, deadline=None)
def test_compiled_duals_on_springs_equal_the_reference(kernels, n, d, seed, kind, dtype, width, split):
    rng = np.random.default_rng(seed)
    X, y, c = matrix(rng, n, d, kind, dtype), rng.choice([-1.0, 1.0], n), rng.choice([0.0, 0.5, 2.0], n)
    centre, z, before = c * rng.random(n), rng.uniform(-1, 3, n), c * rng.random(n)
    ran = []
    for module in (kernels, reference):
        a, h, sums = before.copy(), np.empty(n), np.empty(6 + (1 + split) * d)
        if module is reference:
            module.sprung_duals(X, y, c, Hinge(), centre, z, width, split, a, h, sums)
        else:
            module.sprung_duals(handle(module, X), y, c, "hinge", centre, z, width, split, a, h, sums, 2)
        ran.append((a, h, sums))
    for ours, theirs in zip(*ran, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    a, _, sums = ran[0]
    gained = as_double(X).T @ ((a - before) * y)
    np.testing.assert_allclose(sums[6:].reshape(1 + split, d).sum(axis=0), gained, atol=1e-12)


@every_kernel
@given(n=st.integers(1, 50), seed=st.integers(0, 2**32 - 1), width=st.sampled_from([0.01, 1.0]))
@settings(max_examples=60, deadline=None)
def test_the_line_search_ends_where_the_slope_is_small(kernels, n, seed, width):
    rng = np.random.default_rng(seed)
    c = rng.uniform(0.1, 2.0, n)
    centre, z, dz = c * rng.random(n), rng.uniform(-1, 3, n), rng.standard_normal(n)
    quadratic = 1.0

    def slope(t):
        return linear + t * quadratic - reference.sprung(Hinge(), centre, z + t * dz, width, c) @ dz

    linear = reference.sprung(Hinge(), centre, z, width, c) @ dz - rng.uniform(0.1, 5.0)
    first = slope(0.0)
    parts = (centre, z, dz, width, first, linear, quadratic, 0.01)
    for t in (kernels.sprung_line_search(c, "hinge", *parts, 2), reference.sprung_line_search(c, Hinge(), *parts)):
        assert t > 0
        assert abs(slope(t)) <= 0.0101 * abs(first)
    uphill = (centre, z, dz, width, 1.0, linear, quadratic, 0.01)
    assert kernels.sprung_line_search(c, "hinge", *uphill, 2) == 0.0


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
@given(**shapes, **formats)
@settings(max_examples=40, deadline=None)
def test_the_gram_matrix_of_sparse_rows(kernels, n, d, seed, kind, dtype):
    rng = np.random.default_rng(seed)
    X = matrix(rng, n, d, kind if kind != "dense" else np.int32, dtype)
    for i in range(n):  # out of order in every second row
        if i % 2:
            part = slice(X.indptr[i], X.indptr[i + 1])
            X.indices[part], X.data[part] = X.indices[part][::-1].copy(), X.data[part][::-1].copy()
    h, which = rng.random(n), rng.permutation(n)[: n // 2 + 1]
    out = np.zeros((d + 1, d + 1))
    kernels.gram(handle(kernels, X), h, which, out, 2)
    rows = np.hstack([as_double(X), np.ones((n, 1))])[which]
    np.testing.assert_allclose(np.tril(out), np.tril(rows.T @ (h[which, None] * rows)), atol=1e-10)


@every_kernel
@given(n=st.integers(1, 150), d=st.integers(1, 70), seed=st.integers(0, 2**32 - 1), **formats)
@settings(max_examples=40, deadline=None)
def test_the_gram_matrix_of_narrow_rows(kernels, n, d, seed, kind, dtype):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)).astype(dtype)
    if kind != "dense":
        X = sparse.csr_array(np.where(rng.random((n, d)) < 0.8, X, dtype(0)))
        X.indices, X.indptr = X.indices.astype(kind), X.indptr.astype(kind)
    h, which = rng.random(n), rng.permutation(n)[: n // 2 + 1]
    out = np.zeros((d + 1, d + 1))
    kernels.gram(handle(kernels, X), h, which, out, 2)
    rows = np.hstack([as_double(X), np.ones((n, 1))])[which]
    np.testing.assert_allclose(np.tril(out), np.tril(rows.T @ (h[which, None] * rows)), rtol=1e-12, atol=1e-11)


def test_the_hessian_of_narrow_rows_is_the_same_for_any_number_of_threads(monkeypatch):
    rng = np.random.default_rng(0)
    rows, h = Rows(rng.standard_normal((40_000, 30))), rng.random(40_000)
    assert rows.narrow
    found = []
    for number in ("1", "2", "3"):
        monkeypatch.setenv("LINSEP_NUM_THREADS", number)
        found.append(np.tril(rows.gram(h, np.arange(rows.n))))
    assert all(np.array_equal(found[0], other) for other in found[1:])


@every_kernel
@given(z=st.one_of(st.floats(-800, 800), st.floats(-2, 2)))
@settings(max_examples=300, deadline=None)
def test_the_compiled_logistic_loss_is_right_to_the_last_digits(kernels, z):
    X, y, w, u, h, sums = np.ones((1, 1)), np.ones(1), np.array([z]), np.empty(1), np.empty(1), np.empty(5)
    kernels.evaluate(kernels.dense(X), y, None, "logistic", w, 0.0, False, u, h, sums, 1)
    with localcontext(prec=400):  # 1 + e is not 1 for the smallest e
        e = (-Decimal(z)).exp()
        exact = (1 + e).ln(), -e / (1 + e), e / (1 + e) ** 2
    least = 1e-307  # below it a float has fewer digits
    for ours, theirs in zip((sums[2], u[0], h[0]), exact, strict=True):
        assert abs(ours - float(theirs)) <= 6 * np.finfo(float).eps * abs(float(theirs)) + least


def springs(rng, X, y, c, start):
    """Where a run of the method of multipliers begins: at zero, or anywhere."""
    n, d = X.shape
    point = rng.standard_normal(d + 1) if start else np.zeros(d + 1)
    arrays = point, *np.zeros((3, n)), 0.5 * c, np.array([0.5 if start else 4.0])
    return _core.Springs(*arrays, best_point=np.empty(d + 1), best_alpha=np.empty(n), proof=np.empty(2))


@every_kernel
@given(
    n=st.integers(2, 40),
    d=st.integers(1, 8),
    seed=st.integers(0, 2**32 - 1),
    intercept=st.booleans(),
    start=st.booleans(),
    **formats,
)
@settings(max_examples=40, deadline=None)
def test_the_method_of_multipliers_ends_where_the_reference_does(kernels, n, d, seed, intercept, start, kind, dtype):
    rng = np.random.default_rng(seed)
    X, c = matrix(rng, n, d, kind, dtype), rng.choice([0.0, 0.5, 2.0], n)
    y, c[:2] = rng.choice([-1.0, 1.0], n), 1.0
    y[:2] = 1.0, -1.0
    ran = []
    for module in (kernels, reference):
        at = springs(np.random.default_rng(seed), X, y, c, start)
        at.point[-1] *= intercept
        arrays = at.point, at.z, at.a, at.h, at.centre, at.width, at.best_point, at.best_alpha, at.proof
        log, ended = np.empty((2000, 5)), np.zeros(4, dtype=np.int64)
        settings_of = 1.0, intercept, 1e-4, 1e-9, 0.5, 1e-9, 100, 300
        if module is reference:
            plain_springs.sprung_newton(X, y, c, Hinge(), *settings_of, *arrays, log, ended)
        else:
            module.sprung_newton(handle(module, X), y, c, "hinge", *settings_of, *arrays, log, ended, 2)
        assert ended[0] == 0  # proven
        assert ended[3]
        check_multipliers(as_double(X), y, c, intercept, at, log[: ended[2]], ended)
        ran.append(at)
    ours, theirs = ran
    np.testing.assert_allclose(ours.proof, theirs.proof, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.best_point[:d], theirs.best_point[:d], atol=1e-3)


def check_multipliers(X, y, c, intercept, at, log, ended):
    """The objective and the bound are those of the point and of the dual point, which is feasible."""
    w, alpha = at.best_point[:-1], at.best_alpha
    z = y * (X @ w + at.best_point[-1])
    np.testing.assert_allclose(at.z, z, atol=1e-12)
    primal = 0.5 * w @ w + c @ np.maximum(0.0, 1.0 - z)
    v = X.T @ (alpha * y)
    np.testing.assert_allclose(at.proof, [primal, alpha.sum() - 0.5 * v @ v], rtol=1e-12, atol=1e-12)
    assert primal - at.proof[1] <= 1.1e-9 * primal
    assert (alpha >= 0).all()
    assert (alpha <= c * (1 + 1e-15)).all()
    if intercept:
        assert abs(alpha @ y) <= 1e-12 * (1 + alpha.sum())
    assert log[-1, 0] == ended[1]
    assert (np.diff(log[:, 0]) >= 0).all()
    np.testing.assert_allclose(log[-1, 1:3], [primal, c @ np.maximum(0.0, 1.0 - z)], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(log[-1, 3], c[~(z > 0)].sum())


@every_kernel
def test_the_method_of_multipliers_ends_after_the_steps_it_may_take_and_goes_on(kernels):
    rng = np.random.default_rng(0)
    X, y, c = rng.standard_normal((100, 5)), rng.choice([-1.0, 1.0], 100), np.ones(100)
    at = springs(rng, X, y, c, False)
    arrays = at.point, at.z, at.a, at.h, at.centre, at.width, at.best_point, at.best_alpha, at.proof
    ended = np.zeros(4, dtype=np.int64)

    def run(most, room):
        log = np.empty((room, 5))
        of = 1.0, True, 1e-4, 1e-8, 0.5, 1e-9, 100, most
        kernels.sprung_newton(kernels.dense(X), y, c, "hinge", *of, *arrays, log, ended, 1)
        return ended.tolist()

    assert run(3, 100)[:2] == [1, 3]
    assert run(100, 2)[0] == 3  # no room for notes
    assert run(100, 500)[0] == 0


def is_minimum(q, w, l1, accuracy):
    """Whether −q is a slope of l1 ‖·‖₁ at w, to within `accuracy`."""
    at_zero = np.maximum(np.abs(q) - l1, 0.0)
    return bool((np.where(w == 0, at_zero, np.abs(q + l1 * np.sign(w))) <= accuracy).all())


def check_gram_descent(kernels, m, seed, l1, walks):
    """So many passes, to such an accuracy, of the kernels and those beside them; the last ends at the minimum."""
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((m + 2, m))
    B[:, rng.random(m) < 0.2] = 0.0  # coordinates along which nothing bends stay where they are
    H, start, slope = B.T @ B, rng.standard_normal(m) * (rng.random(m) < 0.5), rng.standard_normal(m)
    for passes, accuracy, beside in walks:
        ran = []
        for module in (kernels, *beside):
            q, w = slope.copy(), start.copy()
            largest = module.gram_descent(H, l1, accuracy, passes, q, w)
            np.testing.assert_allclose(q, slope + H @ (w - start), atol=1e-9)
            ran.append((np.array([largest]), q, w))
        for ours, theirs in zip(ran[0], ran[-1], strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8)
    bends = np.diag(H) > 0
    assert is_minimum(q[bends], w[bends], l1, 1e-6)
    np.testing.assert_array_equal(w[~bends], start[~bends])


gram_matrices = given(m=st.integers(1, 20), seed=st.integers(0, 2**32 - 1), l1=st.sampled_from([0.0, 0.3, 100.0]))


@every_kernel
@gram_matrices
@settings(max_examples=60, deadline=None)
def test_descent_on_a_gram_matrix_equals_the_reference_and_ends_at_the_minimum(kernels, m, seed, l1):
    # The same passes as the reference, which takes long for many; at the end the minimum itself is the oracle.
    beside = (reference,)
    check_gram_descent(
        kernels, m, seed, l1, [(1, 0.0, beside), (3, 0.0, beside), (100, 0.0, beside), (20_000, 1e-10, ())]
    )


@pytest.mark.slow
@every_kernel
@gram_matrices
@settings(max_examples=60, deadline=None)
def test_descent_on_a_gram_matrix_equals_the_reference_to_the_end(kernels, m, seed, l1):
    check_gram_descent(kernels, m, seed, l1, [(20_000, 1e-10, (reference,))])


def check_column_descent(n, d, seed, kind, dtype, compiled, unpacked):
    """One pass, and passes to the minimum: the reference's end is found on A itself, or on A unpacked."""
    rng = np.random.default_rng(seed)
    A, l1, l2 = matrix(rng, n, d, kind, dtype), 0.3, 0.1
    u = rng.standard_normal(d)
    c = as_double(A) @ (u / (np.linalg.norm(u) * 1.5))  # so that A Aᵀ − c cᵀ bends upwards
    H = as_double(A) @ as_double(A).T - np.outer(c, c) + l2 * np.eye(n)
    bend, slope = np.diag(H).copy(), rng.standard_normal(n)
    w = rng.standard_normal(n) * (rng.random(n) < 0.5)

    def run(module, rows, passes, accuracy):
        delta, t, along = np.zeros(n), np.zeros(d), np.zeros(1)
        module.column_descent(rows, c, bend, slope, w, l1, l2, accuracy, passes, delta, t, along)
        np.testing.assert_allclose(t, as_double(A).T @ delta, atol=1e-9)
        np.testing.assert_allclose(along, c @ delta, atol=1e-9)
        return delta

    once, end = run(reference, A, 1, 0.0), run(reference, as_double(A) if unpacked else A, 20_000, 1e-11)
    assert is_minimum(slope + H @ end, w + end, l1, 1e-6)
    for kernels in compiled:
        np.testing.assert_allclose(run(kernels, handle(kernels, A), 1, 0.0), once, atol=1e-7)
        np.testing.assert_allclose(run(kernels, handle(kernels, A), 20_000, 1e-11), end, atol=1e-7)


columns = given(n=st.integers(1, 12), d=st.integers(1, 30), seed=st.integers(0, 2**32 - 1), **formats)


@columns
@settings(max_examples=60, deadline=None)
def test_descent_by_columns_equals_the_reference_and_ends_at_the_minimum(n, d, seed, kind, dtype):
    # The reference takes long to its end: once for all kernels, and with rows that need no unpacking.
    check_column_descent(n, d, seed, kind, dtype, COMPILED, unpacked=True)


@pytest.mark.slow
@every_kernel
@columns
@settings(max_examples=60, deadline=None)
def test_descent_by_columns_equals_the_reference_for_each_kernel_on_the_same_rows(kernels, n, d, seed, kind, dtype):
    check_column_descent(n, d, seed, kind, dtype, [kernels], unpacked=False)


@pytest.mark.slow
@every_kernel
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), losses.Logistic(), losses.Square()], ids=str)
@given(n=st.integers(1, 40), d=st.integers(1, 20), seed=st.integers(0, 2**32 - 1), **formats)
@settings(max_examples=25, deadline=None)
def test_passes_of_dual_descent_climb_and_end_where_the_reference_does(kernels, loss, n, d, seed, kind, dtype):
    rng = np.random.default_rng(seed)
    X, y, c = matrix(rng, n, d, kind, dtype), rng.choice([-1.0, 1.0], n), rng.uniform(0.1, 2.0, n)
    q, b = (as_double(X) ** 2).sum(axis=1), np.zeros(1)

    def dual(alpha):
        v = as_double(X).T @ (alpha * y)
        return -0.5 * v @ v - c @ loss.conjugate(-alpha / c)

    def run(module, rows, chosen, passes):
        alpha, w, order, active = np.zeros(n), np.zeros(d), np.arange(n, dtype=np.int32), n
        slopes, value = np.array([-np.inf, np.inf, 0.0]), dual(alpha)
        for k in range(passes):
            active = module.dual_pass(rows, y, c, chosen, q, 0.0, b, order, active, k, alpha, w, slopes)
            slopes[:2] = slopes[0] if slopes[0] < 0 else -np.inf, slopes[1] if slopes[1] > 0 else np.inf
            assert sorted(order) == list(range(n))
            assert value <= dual(alpha) + 1e-9  # it never goes down
            value = dual(alpha)
            if k % 5 == 4:
                active = n
        np.testing.assert_allclose(w, as_double(X).T @ (alpha * y), atol=1e-9)
        return value

    ours, theirs = run(kernels, handle(kernels, X), loss.kernel, 60), run(reference, X, loss, 15)
    assert ours >= theirs - 1e-3 * (1.0 + abs(theirs))


@every_kernel
def test_examples_that_are_much_alike_are_settled_within_a_pass(kernels):
    # Two twins pass their weight to and fro, a thousandth of it a step; the others are done after one.
    n, d = 400, 500
    X = np.eye(n, d)
    X[1] = X[0]
    X[0, n], X[1, n + 1] = 0.05, 0.05
    y, c, q = np.ones(n), np.ones(n), (X**2).sum(axis=1)
    y[1] = -1.0
    alpha, w, order, slopes = np.zeros(n), np.zeros(d), np.arange(n, dtype=np.int32), np.array([-np.inf, np.inf, 0.0])
    for k in range(8):
        kernels.dual_pass(kernels.dense(X), y, c, "hinge", q, 0.0, np.zeros(1), order, n, k, alpha, w, slopes)
    assert slopes[2] < 1e-6  # the gap that the last pass saw


CREW = """
import os
import sys
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from linsep._core import Rows
rows = Rows(np.random.default_rng(0).standard_normal((40_000, 50)))  # enough for threads
w = np.arange(50.0)
expected = rows.X @ w
def right(_): return np.allclose(rows.matvec(w), expected)
assert all(map(right, range(3)))
with ThreadPoolExecutor(4) as pool:
    assert all(pool.map(right, range(40)))  # callers that meet at the threads
child = os.fork()
if child == 0:  # the threads stayed behind in the parent
    os._exit(0 if right(0) and right(1) else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_threads_serve_several_callers_and_children_of_a_fork():
    settings = os.environ | {"LINSEP_NUM_THREADS": "3", "PYTHONWARNINGS": "ignore::DeprecationWarning"}
    done = subprocess.run([sys.executable, "-c", CREW], env=settings, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
