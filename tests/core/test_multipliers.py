"""The method of multipliers: the compiled kernels against the plain twins and its own conditions."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import springs as plain_springs
from kernel_cases import as_double, every_kernel, formats, handle, matrix, shapes
from linsep import _core
from linsep._core import reference
from linsep.losses import Hinge


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


@every_kernel
@given(n=st.integers(1, 3000), seed=st.integers(0, 2**32 - 1), width=st.sampled_from([0.01, 1.0]))
@settings(max_examples=20, deadline=None)
def test_slopes_along_a_step_equal_the_reference(kernels, n, seed, width):
    rng = np.random.default_rng(seed)
    c, t = rng.choice([0.0, 0.5, 2.0], n), np.geomspace(1e-3, 1.0, 5)
    line = c * rng.random(n), rng.uniform(-1, 3, n), rng.standard_normal(n), width, t
    ours, theirs = np.empty(5), np.empty(5)
    kernels.sprung_slopes(c, "hinge", *line, ours, 2)
    reference.sprung_slopes(c, Hinge(), *line, theirs)
    np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10)


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
