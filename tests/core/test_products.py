"""Products, scores, labels and probabilities: the compiled kernels against NumPy and the plain twins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit, log_softmax, softmax

from kernel_cases import as_double, every_kernel, formats, handle, matrix, shapes
from linsep._core import Rows, reference


@every_kernel
@given(**shapes, **formats, count=st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_products_equal_those_of_numpy_and_of_the_reference(kernels, n, d, seed, kind, dtype, count):
    rng = np.random.default_rng(seed)
    X = matrix(rng, n, d, kind, dtype)
    dense, w, u = as_double(X), rng.standard_normal((count, d)), rng.standard_normal(n)
    expected = dense @ w.T, dense.T @ u, (dense**2).sum(axis=1)
    ones, G = np.hstack([dense, np.ones((n, 1))]), rng.standard_normal((d + 1, d + 1))
    G += G.T
    for module in (kernels, reference):
        products = np.full((n, count), np.nan), np.full(d, np.nan), np.full(n, np.nan)
        first, extra = (X, ()) if module is reference else (handle(module, X), (2,))
        module.matvec(first, w, products[0], *extra)
        module.rmatvec(first, u, products[1], *extra)
        module.squared_norms(first, products[2], *extra)
        module.quadratic_forms(first, G, forms := np.full(n, np.nan), *extra)
        np.testing.assert_allclose(forms, np.einsum("ij,jk,ik->i", ones, G, ones), rtol=1e-10, atol=1e-9)
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


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_column_shows_on_as_many_rows_as_it_is_set_on(form):
    X = np.zeros((40, 4))
    X[:10, 0], X[:, 1], X[3, 2] = 7.0, -0.5, 1e-3
    once = np.ones(40)
    assert Rows(form(X)).shows(once, once) == pytest.approx([10, 40, 1, 40])  # one that is empty misleads nobody
    heavy = np.append(np.full(39, 0.01), 5.0)[:, None]
    assert 1 < Rows(form(heavy)).shows(once, once)[0] < 1.01


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_column_whose_rows_were_all_drawn_is_known(form, monkeypatch):
    monkeypatch.setattr("linsep._core.products.AT_ONCE", 30)  # several pieces
    X = np.zeros((40, 3))
    X[:5, 0], X[:, 1], X[20:, 2] = 30.0, 1.0, 2.0
    weight = np.append(np.ones(20), np.full(20, 4.0))  # each of the last ones stands for three that were not drawn
    shows = Rows(form(X)).shows(weight, weight - 1.0)
    assert shows == pytest.approx([np.inf, 100**2 / (20 * 4 * 3), (20 * 4) ** 2 / (20 * 4 * 3)])
