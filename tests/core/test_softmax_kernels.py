"""The passes of the softmax: compiled, in plain Python, and by SciPy's softmax on the dense matrix."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import entr, log_softmax, softmax

from kernel_cases import COMPILED, handle
from linsep._core import Rows, _kernels, reference
from linsep._core.softmax import side_by_side


def example(n, d, K, seed, kind, dtype):
    """Rows, classes, weights and planes, with the matrix as NumPy sees it."""
    rng = np.random.default_rng(seed)
    dense = (rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6)).astype(dtype)
    X = dense if kind == "dense" else sparse.csr_array(dense)
    s = rng.random(n) if seed % 2 else None
    return X, dense.astype(np.float64), rng.integers(K, size=n), s, rng.standard_normal((d, K)), rng.standard_normal(K)


cases = dict(
    n=st.integers(1, 30),
    d=st.integers(1, 20),
    K=st.integers(2, 40),
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(["dense", "csr"]),
    dtype=st.sampled_from([np.float32, np.float64]),
)


@pytest.mark.parametrize("kernels", [*COMPILED, reference], ids=lambda module: module.__name__.rsplit(".", 1)[-1])
@given(**cases)
@settings(max_examples=25, deadline=None)
def test_sums_of_a_softmax_are_those_of_scipy(kernels, n, d, K, seed, kind, dtype):
    X, dense, codes, s, w, b = example(n, d, K, seed, kind, dtype)
    W = side_by_side(w, b, np.float64)
    P, doubt, sums, out = np.empty((n, K)), np.empty(n), np.empty(3), np.empty(W.shape)
    kernels.softmax_evaluate(handle(kernels, X), codes, s, W, P, doubt, sums, out, 2)
    scores, weight = dense @ w + b, np.ones(n) if s is None else s
    p = softmax(scores, axis=1)
    np.testing.assert_allclose(P, p, rtol=1e-11, atol=1e-300)
    np.testing.assert_allclose(doubt, np.sort(p, axis=1)[:, :-1].sum(axis=1), rtol=1e-11, atol=1e-300)
    losses = -log_softmax(scores, axis=1)[np.arange(n), codes]
    wrong = scores.argmax(axis=1) != codes
    expected = weight @ losses, weight @ wrong, weight @ entr(p).sum(axis=1)
    np.testing.assert_allclose(sums, expected, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(out[:d, :K], dense.T @ (weight[:, None] * p), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(out[d, :K], weight @ p, rtol=1e-10)


@pytest.mark.parametrize("kernels", [*COMPILED, reference], ids=lambda module: module.__name__.rsplit(".", 1)[-1])
@pytest.mark.parametrize("real", [np.float32, np.float64])
@given(**cases)
@settings(max_examples=25, deadline=None)
def test_products_are_the_slope_of_the_gradient(kernels, real, n, d, K, seed, kind, dtype):
    X, dense, _, _, w, b = example(n, d, K, seed, kind, dtype)
    rng = np.random.default_rng(seed + 1)
    V, s, which = rng.standard_normal((d + 1, K)), rng.random(n), np.flatnonzero(rng.random(n) < 0.7)
    p = softmax(dense @ w + b, axis=1)
    planes = side_by_side(V, None, real)
    out = np.empty(planes.shape)
    kernels.softmax_product(handle(kernels, X), which, p, s, planes, out, 2)
    rows = np.column_stack([dense, np.ones(n)])[which]
    hessian = np.einsum("i,ik,kl->ikl", s[which], p[which], np.eye(K)) - np.einsum(
        "i,ik,il->ikl", s[which], p[which], p[which]
    )
    expected = np.einsum("ij,ikl,im,ml->jk", rows, hessian, rows, V)
    tolerance = 1e-4 if real is np.float32 else 1e-11
    np.testing.assert_allclose(out[:, :K], expected, rtol=tolerance, atol=tolerance * (1 + np.abs(expected).max()))


def test_tiny_losses_keep_their_digits():
    """−log p of a class that is all but certain is e^−40, not the rounding of one."""
    rows = Rows(np.array([[40.0]]))
    found = rows.softmax(np.array([0]), None, np.array([[1.0, 0.0]]), np.zeros(2))
    assert found.value == pytest.approx(np.exp(-40.0), rel=1e-12)
    assert found.entropy == pytest.approx(41 * np.exp(-40.0), rel=1e-12)


@pytest.mark.parametrize("K", [2, 3, 5, 17])
@pytest.mark.parametrize("spread", [0.0, 1e-9, 1.0, 30.0, 300.0])
def test_losses_have_their_digits_however_many_classes_compete(K, spread):
    """One row at a time and four together, by mpmath: from classes all alike to such as no float tells from 0."""
    scores = spread * np.random.default_rng(K).standard_normal((7, K))
    scores -= scores.max(axis=1, keepdims=True)  # so that no difference is rounded
    codes = np.arange(7) % K
    with mpmath.workdps(700):
        powers = [[mpmath.exp(g) for g in row] for row in scores.tolist()]
        p = [[power / mpmath.fsum(row) for power in row] for row in powers]
        losses = [-mpmath.log(row[own]) for row, own in zip(p, codes, strict=True)]
        entropies = [-mpmath.fsum(q * mpmath.log(q) for q in row) for row in p]
        doubts = [float(mpmath.fsum(sorted(row)[:-1])) for row in p]
    for rows in (*([k] for k in range(7)), range(7)):
        found = Rows(np.eye(7)[rows]).softmax(codes[rows], None, scores, np.zeros(K))
        assert found.value == pytest.approx(float(mpmath.fsum(losses[k] for k in rows)), rel=1e-14)
        assert found.entropy == pytest.approx(float(mpmath.fsum(entropies[k] for k in rows)), rel=2e-14, abs=1e-300)
        np.testing.assert_allclose(found.doubt, [doubts[k] for k in rows], rtol=2e-14, atol=1e-300)
        assert found.mistakes == sum(row.argmax() != own for row, own in zip(scores[rows], codes[rows], strict=True))


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_sums_and_products_are_the_same_for_any_number_of_threads(monkeypatch, kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30_000, 40)) * (rng.random((30_000, 40)) < 0.3)
    rows, codes, w = Rows(X if kind == "dense" else sparse.csr_array(X)), rng.integers(5, size=30_000), np.eye(40, 5)
    found = []
    for threads in "123":
        monkeypatch.setenv("LINSEP_NUM_THREADS", threads)
        sums = rows.softmax(codes, None, w, np.zeros(5))
        product = rows.softmax_products(sums.p, sums.doubt, np.ones(30_000))(np.eye(41, 5))
        found.append((sums.value, sums.entropy, sums.expected[0].tobytes(), product.tobytes()))
    assert found[0] == found[1] == found[2]


def test_rows_of_any_size_have_products():
    """Beyond the range of single precision the products are in double precision."""
    for scale in (1e-30, 1.0, 1e30):
        X = scale * np.random.default_rng(0).standard_normal((50, 3))
        p = softmax(np.random.default_rng(1).standard_normal((50, 4)), axis=1)
        found = Rows(X).softmax_products(p, 1 - p.max(axis=1), np.ones(50))(
            np.vstack([np.eye(3, 4) / scale, np.zeros((1, 4))])
        )
        unit = Rows(X / scale).softmax_products(p, 1 - p.max(axis=1), np.ones(50))(
            np.eye(4)[[0, 1, 2, 3]] * [[1], [1], [1], [0]]
        )
        np.testing.assert_allclose(found[:3] / scale, unit[:3], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_exact_products_are_the_hessians_to_the_last_digits(form):
    """Steps that only need a direction get less: single precision, without rows that hardly bend."""
    rng = np.random.default_rng(2)
    X, V, s = rng.standard_normal((200, 6)), rng.standard_normal((7, 3)), rng.random(200)
    p = softmax(20.0 * rng.standard_normal((200, 3)), axis=1)
    U = X @ V[:-1] + V[-1]
    pulls = s[:, None] * p * (U - (p * U).sum(axis=1, keepdims=True))
    expected = np.vstack([X.T @ pulls, pulls.sum(axis=0)])
    rows = Rows(form(X))
    exact, rough = (rows.softmax_products(p, 1 - p.max(axis=1), s, exact=one)(V) for one in (True, False))
    np.testing.assert_allclose(exact, expected, rtol=1e-12, atol=1e-12)
    assert 1e-10 < np.abs(rough - expected).max() < 1e-3


def test_a_class_that_does_not_exist_is_refused():
    W, P = np.zeros((3, 4)), np.empty((2, 3))
    with pytest.raises(ValueError, match="does not exist"):
        _kernels.softmax_evaluate(
            _kernels.dense(np.eye(2)), np.array([0, 3]), None, W, P, np.empty(2), np.empty(3), np.empty((3, 4)), 1
        )


@pytest.mark.parametrize("real", [np.float32, np.float64])
@given(**cases)
@settings(max_examples=25, deadline=None)
def test_a_whole_hessian_has_the_products_of_its_columns(real, n, d, K, seed, kind, dtype):
    X, dense, _, _, w, b = example(n, d, K, seed, kind, dtype)
    rng = np.random.default_rng(seed + 1)
    s, which = rng.random(n), np.flatnonzero(rng.random(n) < 0.7)
    p = softmax(dense @ w + b, axis=1)
    found = np.tril(Rows(X).softmax_gram(p, s[which], which, real))
    rows = np.column_stack([dense, np.ones(n)])[which]
    bends = np.einsum("ik,kl->ikl", p[which], np.eye(K)) - np.einsum("ik,il->ikl", p[which], p[which])
    expected = np.einsum("i,ikl,ij,im->kjlm", s[which], bends, rows, rows).reshape(K * (d + 1), -1)
    tolerance = 1e-5 if real is np.float32 else 1e-12
    np.testing.assert_allclose(found, np.tril(expected), rtol=tolerance, atol=tolerance * (1 + np.abs(expected).max()))


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_the_block_of_a_class_is_a_weighted_gram(scale):
    rng = np.random.default_rng(0)
    X, h, which = rng.standard_normal((50, 3)) * scale, rng.random(20), np.arange(0, 40, 2)
    found = Rows(X).rough_gram(h, which)
    rows = np.column_stack([X, np.ones(50)])[which]
    expected = (rows * h[:, None]).T @ rows
    sizes = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    np.testing.assert_allclose(np.tril(found) / sizes, np.tril(expected) / sizes, atol=1e-6)


@pytest.mark.parametrize("most", [3, 100])
@pytest.mark.parametrize("intercept", [False, True])
@given(**cases)
@settings(max_examples=15, deadline=None)
def test_the_inverses_of_blocks_are_those_of_the_plain_twin(most, intercept, n, d, K, seed, kind, dtype):
    X, dense, _, _, w, b = example(n, d, K, seed, kind, dtype)
    rng = np.random.default_rng(seed + 1)
    s, offsets = rng.random(n), rng.random(K)
    p = np.zeros((n, K)) + 1 / K if seed % 5 == 0 else softmax(dense @ w + b, axis=1)
    told = dict(intercept=intercept, nudge=1e-6)
    found = Rows(X).class_inverses(p, s, most, offsets, 1.0, **told)
    size, lengths = d + intercept, (dense**2).sum(axis=1)
    expected = np.empty((K * size, size))
    reference.class_inverses(dense, p, s, lengths, most, offsets, 1.0, intercept, 1e-6, expected)
    expected = expected.reshape(K, size, size)
    for one, other in zip(found, expected, strict=True):
        sizes = np.sqrt(np.outer(np.diag(other), np.diag(other)))
        np.testing.assert_allclose(one / sizes, other / sizes, atol=2e-3)
    if intercept:
        return
    whole = dense.T @ (dense * (s * p[:, 0] * (1 - p[:, 0]))[:, None]) + np.eye(d)
    if 2 * most >= n:  # of all rows
        np.testing.assert_allclose(found[0] @ whole, np.eye(d), atol=1e-3)


@pytest.mark.parametrize("kernels", [*COMPILED, reference], ids=lambda module: module.__name__.rsplit(".", 1)[-1])
@given(**cases)
@settings(max_examples=25, deadline=None)
def test_the_entropy_of_a_mixture_is_that_of_scipy(kernels, n, d, K, seed, kind, dtype):
    _, dense, codes, s, w, b = example(n, d, K, seed, kind, dtype)
    rng = np.random.default_rng(seed + 1)
    p, q, s = softmax(200 * (dense @ w + b), axis=1), softmax(rng.standard_normal(K)), np.ones(n) if s is None else s
    for t_p, t_q, t_y in [(1.0, 0.0, 0.0), (0.9, 0.1, 0.0), (0.3, 0.3, 0.4), (0.5, 0.0, 0.5)]:
        mixed = t_p * p + t_q * q + t_y * np.eye(K)[codes]
        found = kernels.mixed_entropy(p, codes, s, t_p, t_q, q, t_y, 2)
        np.testing.assert_allclose(found, s @ entr(mixed).sum(axis=1), rtol=1e-12, atol=1e-14 * n)


@pytest.mark.parametrize("kernels", [*COMPILED, reference], ids=lambda module: module.__name__.rsplit(".", 1)[-1])
@given(**cases)
@settings(max_examples=25, deadline=None)
def test_sums_of_classes_and_rounded_rows_are_those_of_numpy(kernels, n, d, K, seed, kind, dtype):
    X, dense, codes, _, _, _ = example(n, d, K, seed, kind, dtype)
    s, out, single = np.random.default_rng(seed).random(n), np.empty((K, d)), np.empty((n, d), dtype=np.float32)
    kernels.class_sums(handle(kernels, X), codes, s, out, 2)
    np.testing.assert_allclose(out, np.eye(K)[codes].T @ (dense * s[:, None]), rtol=1e-12, atol=1e-12)
    whole = np.ascontiguousarray(dense, dtype=dtype)
    kernels.round_rows(handle(kernels, whole), single, 2)
    np.testing.assert_array_equal(single, dense.astype(np.float32))
