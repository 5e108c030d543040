"""Hessians, and descent by coordinates on them: the compiled kernels against the plain twins and the minimum."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import linsep
from kernel_cases import COMPILED, as_double, every_kernel, formats, handle, matrix, shapes
from linsep import losses
from linsep._core import Rows, mixed_conjugates, mixed_values, reference
from linsep._core.reference.objective import _ColumnModel


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
    A, l1, l2, h = matrix(rng, n + 3, d, kind, dtype), 0.3, 0.1, rng.uniform(0.0, 2.0, d)
    which = rng.permutation(n + 3)[:n]
    chosen = as_double(A)[which]
    u = rng.standard_normal(d)
    c = chosen * np.sqrt(h) @ (u / (np.linalg.norm(u) * 1.5))  # so that A diag(h) Aᵀ − c cᵀ bends upwards
    H = chosen * h @ chosen.T - np.outer(c, c) + l2 * np.eye(n)
    bend, slope = np.diag(H).copy(), rng.standard_normal(n)
    w = rng.standard_normal(n) * (rng.random(n) < 0.5)

    def run(module, rows, passes, accuracy):
        delta, t, along = np.zeros(n), np.zeros(d), np.zeros(1)
        module.column_descent(rows, which, h, c, bend, slope, w, l1, l2, accuracy, passes, delta, t, along)
        np.testing.assert_allclose(t, h * (chosen.T @ delta), atol=1e-9)
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


@columns
@settings(max_examples=40, deadline=None)
def test_sums_by_columns_are_products_with_the_matrix_by_class_if_asked(n, d, seed, kind, dtype):
    rng = np.random.default_rng(seed)
    A, y = matrix(rng, n, d, kind, dtype), rng.choice([-1.0, 1.0], d)
    which, u, h = rng.permutation(n)[: max(1, n // 2)], rng.standard_normal(d), rng.uniform(0.0, 2.0, d)
    some = as_double(A)[which]
    for labels, positive in ((None, np.ones(d)), (y, y > 0)):
        expected = some @ (u * positive), some @ (u * (1 - positive)), some @ h, some**2 @ h
        for module in [reference, *COMPILED]:
            out = np.empty((4, len(which)))
            module.column_sums(A if module is reference else handle(module, A), which, u, h, labels, out, 2)
            np.testing.assert_allclose(out, expected, atol=1e-9)


@columns
@settings(max_examples=40, deadline=None)
def test_columns_evaluate_as_rows_do(n, d, seed, kind, dtype):
    rng = np.random.default_rng(seed)
    rows = Rows(matrix(rng, n, d, kind, dtype))
    which = rng.permutation(d)[: max(1, d // 2)]
    part, columns = Rows(as_double(rows.X)[:, which]), rows.turned.columns(which)
    y, s, w, h = rng.choice([-1.0, 1.0], n), rng.uniform(0.0, 2.0, n), rng.standard_normal(len(which)), rng.random(n)
    np.testing.assert_allclose(columns.matvec(w), part.matvec(w), atol=1e-9)
    np.testing.assert_allclose(columns.rmatvec(h), part.rmatvec(h), atol=1e-9)
    again = columns.rows()
    np.testing.assert_array_equal(as_double(again.X), as_double(part.X))
    if again.is_sparse:  # a Hessian of rows that are not sorted takes several times as long
        assert sparse.csr_array((again.X.data, again.X.indices, again.X.indptr), shape=again.X.shape).has_sorted_indices
    for split in (False, True):
        want = dict(split=split, curvature=True)
        one, other = (kind.evaluate(y, s, losses.Logistic(), w, 0.3, **want) for kind in (part, columns))
        for name in ("value", "mistakes", "positive", "negative", "gradient", "u", "h", "positive_total"):
            np.testing.assert_allclose(getattr(other, name), getattr(one, name), atol=1e-9)
        x = as_double(part.X)
        np.testing.assert_allclose(other.moments, [x.T @ one.h, (x**2).T @ one.h], atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [np.int32, np.int64])
def test_columns_of_many_sparse_rows_are_scipys_whatever_the_number_of_threads(dtype, width):
    X = sparse.random_array(
        (3000, 2000), density=0.15, format="csr", dtype=dtype, random_state=np.random.default_rng(0)
    )
    X = sparse.csr_array((X.data, X.indices.astype(width), X.indptr.astype(width)), shape=X.shape)
    expected = sparse.csr_array(X.T)
    for module in COMPILED:
        rows = handle(module, X)
        for count in (1, 2, 5):
            start, data, indices = np.empty(2001, width), np.empty(X.nnz, dtype), np.empty(X.nnz, width)
            module.turn(rows, start, data, indices, count)
            for found, wanted in ((start, expected.indptr), (data, expected.data), (indices, expected.indices)):
                np.testing.assert_array_equal(found, wanted)


# -- mixtures of known points -----------------------------------------------------------------------------------------


@every_kernel
@given(
    name=st.sampled_from(["logistic", "squared_hinge", "square", "hinge", "modified_huber"]),
    n=st.integers(1, 600),
    mixed=st.integers(1, 4),
    weighted=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=40, deadline=None)
def test_sums_over_mixtures_are_those_of_the_reference(kernels, name, n, mixed, weighted, seed):
    rng, loss = np.random.default_rng(seed), losses.get(name)
    Z, shares = 3.0 * rng.standard_normal((mixed, n)), rng.standard_normal((5, mixed))
    safe = rng.dirichlet(np.ones(mixed), 5)
    U, weight = -loss.slope(Z), rng.integers(0, 3, n).astype(float) if weighted else None
    low, high = (-end for end in reversed(loss.slopes))
    found = []
    for module, chosen in ((kernels, loss.kernel), (reference, loss)):
        values, conjugates, needs = np.empty(5), np.empty(5), np.empty(5)
        module.mixed_values(Z, weight, chosen, shares, values, 2)
        module.mixed_conjugates(U, weight, chosen, shares, safe, low, high, needs, conjugates, 2)
        found.append((values, conjugates, needs))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
    brought = (1 - needs)[:, None] * (shares @ U) + needs[:, None] * (
        safe @ U
    )  # feasible, and by no more than it takes
    assert (brought >= low - 1e-9).all()
    assert (brought <= high + 1e-9).all()
    assert ((needs >= 0) & (needs <= 1)).all()
    assert (needs[((shares @ U >= low) & (shares @ U <= high)).all(axis=1)] == 0).all()


def test_sums_over_mixtures_are_the_same_for_any_number_of_threads(monkeypatch):
    rng, loss = np.random.default_rng(0), losses.Logistic()
    Z, shares = rng.standard_normal((4, 90_000)), rng.dirichlet(np.ones(4), 3)
    found = []
    for number in ("1", "2", "3"):
        monkeypatch.setenv("LINSEP_NUM_THREADS", number)
        sums = mixed_values(Z, None, loss, shares), *mixed_conjugates(-loss.slope(Z), None, loss, shares, shares)
        found.append(np.concatenate(sums))
    assert all(np.array_equal(found[0], other) for other in found[1:])


@every_kernel
@given(
    name=st.sampled_from(["logistic", "squared_hinge", "square", "modified_huber"]),
    n=st.integers(1, 600),
    K=st.integers(2, 7),
    weighted=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=40, deadline=None)
def test_losses_of_all_folds_are_those_of_the_reference(kernels, name, n, K, weighted, seed):
    rng, loss = np.random.default_rng(seed), losses.get(name)
    Z, y, held_out_of = 5.0 * rng.standard_normal((K, n)), rng.choice([-1.0, 1.0], n), rng.integers(0, K, n)
    weight = rng.uniform(0.0, 2.0, n) if weighted else None
    found = []
    for module, chosen in ((kernels, loss.kernel), (reference, loss)):
        slope, U, values = np.empty((K, n)), np.empty((n, K)), np.empty(K)
        module.fold_losses(Z, y, weight, chosen, held_out_of, slope, U, values, 2)
        found.append((slope, U, values))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    assert (found[0][0][held_out_of, np.arange(n)] == 0).all()


@every_kernel
def test_entropies_in_packs_have_all_digits(kernels):
    # From where 1 − p is 1, to one half, and as near to one: against logarithms one at a time.
    small = np.concatenate([[0.0, 5e-324, 1e-310], 10.0 ** np.linspace(-300, -0.302, 2000), [0.5]])
    for p in (small, 1.0 - small):
        wanted = losses.Logistic().conjugate(-p)
        for k in range(0, len(p), 97):
            found = kernels.conjugate_sum(np.ones(1), None, "logistic", -p[k : k + 1], 1.0, 1.0, 1)
            np.testing.assert_allclose(found, wanted[k], rtol=1e-14, atol=0)
        found = kernels.conjugate_sum(np.ones(len(p)), None, "logistic", -p, 1.0, 1.0, 1)
        np.testing.assert_allclose(found, wanted.sum(), rtol=1e-13)


def newton_case(seed, n, d, kind, dtype, weighted):
    """Columns, rows of A, of which some are chosen, with labels and weights of the examples."""
    rng = np.random.default_rng(seed)
    A = matrix(rng, n + 3, d, kind, dtype)
    which, y = rng.permutation(n + 3)[:n], rng.choice([-1.0, 1.0], d)
    return A, which, y, rng.uniform(0.5, 2.0, d) if weighted else np.ones(d)


def rough_steps(module, A, which, y, c, loss, steps, enough=0.0, share=1.0, passes=8, single=True, **how):
    w, b, scores, manner = np.zeros(len(which)), np.zeros(1), np.zeros(len(y)), np.array([0.0, share, 0.0, 0.0])
    changing = dict(w=w, b=b, scores=scores, manner=manner)
    pace = dict(steps=steps, passes=passes, enough=enough, armijo=1e-4, shortest=1e-4, single=single)
    taken = module.column_newton(A, which, y, c, loss, **how, **pace, **changing)
    return taken, w, b, scores, manner


def newton_objective(A, which, y, c, loss, w, b, l1, l2):
    z = y * (as_double(A)[which].T @ w + b)
    return float(c @ loss.value(z) + l1 * np.abs(w).sum() + 0.5 * l2 * w @ w)


penalties = st.sampled_from([(0.3, 0.1), (0.3, 0.0), (2.0, 0.5)])
newton_cases = given(
    n=st.integers(1, 12),
    d=st.integers(2, 30),
    seed=st.integers(0, 2**32 - 1),
    weighted=st.booleans(),
    intercept=st.booleans(),
    penalty=penalties,
    loss=st.sampled_from([losses.Logistic(), losses.Square(), losses.SquaredHinge()]),
    **formats,
)


@newton_cases
@settings(max_examples=12, deadline=None)
def test_rough_newton_steps_by_columns_are_those_of_the_reference(
    n, d, seed, weighted, intercept, penalty, loss, kind, dtype
):
    (l1, l2), case = penalty, newton_case(seed, n, d, kind, dtype, weighted)
    how = dict(l1=l1, l2=l2, intercept=intercept)
    # One step: of several, whether a pass was exact enough may turn on the last digit.
    taken, *expected = rough_steps(reference, *case, loss, 1, **how)
    for kernels in COMPILED:
        A, *rest = case
        ours, *found = rough_steps(kernels, handle(kernels, A), *rest, loss.kernel, 1, **how)
        assert ours == taken
        for this, that in zip(found, expected, strict=True):
            np.testing.assert_allclose(this, that, rtol=1e-4, atol=1e-4)  # its models are in single precision


def columns_in_common(seed):
    """Columns that have much in common, so that descent along one at a time is slow."""
    rng = np.random.default_rng(seed)
    A = np.where(rng.random((9, 200)) < 0.5, rng.uniform(0.5, 1.5, (9, 200)), 0.0)
    y = np.where(rng.standard_normal(9) @ A + rng.standard_normal(200) > 0, 1.0, -1.0)
    return sparse.csr_array(A), np.arange(9), y, np.ones(200)


@pytest.mark.parametrize(("single", "error"), [(True, 1e-3), (False, 1e-9)])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("passes", [5, 6, 9])  # the first pass, then three steps between four points, and so on
def test_extrapolated_passes_by_columns_are_those_of_the_reference(passes, intercept, single, error):
    loss = losses.Logistic()
    for seed in range(5):
        A, *rest = columns_in_common(seed)
        how = dict(share=1e-3, passes=passes, single=single, l1=0.3, l2=0.1, intercept=intercept)
        _, *expected = rough_steps(reference, A, *rest, loss, 1, **how)
        for kernels in COMPILED:
            _, *found = rough_steps(kernels, handle(kernels, A), *rest, loss.kernel, 1, **how)
            for this, that in zip(found, expected, strict=True):
                np.testing.assert_allclose(this, that, rtol=error, atol=error)


def test_extrapolated_passes_lead_further_than_as_many_plain_ones():
    for seed in range(5):
        A, _, y, _ = columns_in_common(seed)
        ways = (500, False), (13, False), (13, True)
        lowest, plain, extrapolated = (_descended(A.toarray(), y, *way) for way in ways)
        assert extrapolated - lowest <= 0.5 * (plain - lowest)


def _descended(columns, y, passes, every_few):
    model = _ColumnModel(columns, -0.5 * y, np.full(len(y), 0.25), np.zeros(len(columns)), 0.3, 0.0, False)
    for _ in range(passes):
        model.one_pass(list(range(len(columns))))
        if every_few:
            model.extrapolate()
    return model.value(model.w)


@newton_cases
@settings(max_examples=8, deadline=None)
def test_rough_newton_steps_lower_the_objective_and_keep_the_scores(
    n, d, seed, weighted, intercept, penalty, loss, kind, dtype
):
    (l1, l2), (A, which, y, c) = penalty, newton_case(seed, n, d, kind, dtype, weighted)
    for kernels in [reference, *COMPILED]:
        plain = kernels is reference
        rows, chosen = (A, loss) if plain else (handle(kernels, A), loss.kernel)
        values = []
        for steps in (0, 1, 2, 6):
            how = dict(l1=l1, l2=l2, intercept=intercept)
            taken, w, b, scores, _ = rough_steps(kernels, rows, which, y, c, chosen, steps, **how)
            np.testing.assert_allclose(scores, as_double(A)[which].T @ w + b, atol=1e-9)
            assert taken <= steps
            assert intercept or b[0] == 0
            values.append(newton_objective(A, which, y, c, loss, w, b, l1, l2))
        assert (np.diff(values) <= 1e-14 * values[0]).all()


@every_kernel
def test_rough_newton_steps_end_near_the_optimum(kernels):
    rng = np.random.default_rng(3)
    X = sparse.random_array((400, 60), density=0.2, random_state=rng, format="csr")
    y = np.where(X @ rng.standard_normal(60) + 0.3 * rng.standard_normal(400) > 0.2, 1.0, -1.0)
    A, which, c = sparse.csr_array(X.T), np.arange(60), np.ones(400)
    how = dict(l1=1.0, l2=0.0, intercept=True)
    taken, w, b, *_ = rough_steps(kernels, handle(kernels, A), which, y, c, "logistic", 50, enough=1e-3, **how)
    assert 1 < taken < 50
    best = linsep.LogisticRegression(penalty="l1", tol=1e-10).fit(X, y)
    optimum = newton_objective(A, which, y, c, losses.Logistic(), best.coef_[0], best.intercept_, 1.0, 0.0)
    assert newton_objective(A, which, y, c, losses.Logistic(), w, b, 1.0, 0.0) <= 1.01 * optimum
