"""Passes of dual descent: the compiled kernels against the plain twins and the dual itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from kernel_cases import as_double, every_kernel, formats, handle, matrix, shapes
from linsep import LinearClassifier, losses
from linsep._core import Rows, reference
from linsep.losses import Hinge, SquaredHinge


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
    np.testing.assert_allclose(alpha, plain_alpha, atol=2e-6)  # the logistic step's last correction is to second order
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
    X = sparse.random_array((3000, 5000), density=0.06, random_state=rng, format="csr")
    y = rng.random(3000) < 0.5
    fits = []
    for count in ("1", "2", "3"):
        monkeypatch.setenv("LINSEP_NUM_THREADS", count)
        model = LinearClassifier("logistic", random_state=0).fit(X, y)
        assert model.history_.solver == "dual"
        fits.append(model.coef_)
    np.testing.assert_array_equal(fits[0], fits[1])
    np.testing.assert_array_equal(fits[0], fits[2])


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


@every_kernel
@pytest.mark.parametrize(
    ("share", "z", "q", "c"),
    [
        (3.0605166e-9, -11.29016, 1.2073459, 12.470555),  # Newton's steps are as long as the bracket, to and fro
        (3.8885588e-4, -7.689626, 1.6946459, 7.2673145),
        (1.4647e-6, -9.74154, 0.976569, 18.3345),
        (1.80858e-9, -8.25354, 3.93285, 4.55083),
        (0.0, 0.04, 7.6, 0.005),
        (1.0, 30.0, 100.0, 3.0),
        (0.5, -2000.0, 1e-6, 1.0),
        (0.9, 0.02, 0.05, 1.9),
    ],
)
def test_a_logistic_step_arrives_wherever_it_begins(kernels, share, z, q, c):
    alpha, w = np.array([share * c]), np.array([z / np.sqrt(q)])
    expected = losses.Logistic().dual_step(alpha[0], z, q, c)
    given = kernels.dense(np.array([[np.sqrt(q)]])), np.ones(1), np.array([c]), "logistic", np.array([q]), 0.0
    order, slopes = np.zeros(1, dtype=np.int32), np.array([-np.inf, np.inf, 0.0])
    kernels.dual_pass(*given, np.zeros(1), order, 1, 0, alpha, w, slopes)
    assert alpha[0] == pytest.approx(expected, abs=1e-6 * c)
