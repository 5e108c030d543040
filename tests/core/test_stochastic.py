"""Steps of stochastic descent: the compiled kernels against the plain twins and the losses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel_cases import every_kernel, every_loss, formats, handle, matrix, shapes
from linsep import LinearClassifier, losses
from linsep._core import Rows, compiled_name, reference
from linsep.losses import Hinge, Loss, SquaredHinge
from linsep.solvers import StochasticDescent

#: What steps without a pocket are given for it.
NO_POCKET = 0, None, None, None, None


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
        notes = *sums, counts, moved, owed, paid, *NO_POCKET
        total = module.stochastic_steps(matrix_or_handle, y, weight, order, eta, loss, l2, l1, intercept, W, b, *notes)
        assert total == moved.sum() == (counts - 1).sum()
        ran.append((moved, counts, W, b, owed, paid, *(sums if summed else ())))
    if name in ("perceptron", "hinge"):  # the slopes of the others may round to zero in one and not in the other
        np.testing.assert_array_equal(ran[0][0], ran[1][0])
        np.testing.assert_array_equal(ran[0][1], ran[1][1])
    for ours, theirs in zip(ran[0][2:], ran[1][2:], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)


@every_kernel
@given(
    n=st.integers(1, 12),
    d=st.integers(1, 40),
    seed=st.integers(0, 2**32 - 1),
    kind=formats["kind"],
    l2=st.sampled_from([0.0, 0.5]),
    l1=st.sampled_from([0.0, 0.125]),
    weighted=st.booleans(),
    patience=st.integers(0, 4),
    width=st.sampled_from([1, 4, 28]),
)
@settings(max_examples=60, deadline=None)
def test_the_compiled_pocket_equals_the_reference(kernels, n, d, seed, kind, l2, l1, weighted, patience, width):
    # Small whole numbers and steps of halves: no sum is rounded, so that what is equal is equal in both.
    rng = np.random.default_rng(seed)
    X = matrix(rng, n, d, kind, np.float64)
    parts = X if kind == "dense" else X.data
    parts[:] = rng.integers(-2, 3, parts.shape)
    y = rng.choice([-1.0, 0.0, 1.0], (n, width), p=[0.45, 0.1, 0.45])
    weight, counted = (rng.integers(1, 3, n).astype(float) if weighted else None for _ in range(2))
    order = rng.integers(0, n, 6 if l2 else 30)
    ran = []
    for module in (kernels, reference):
        W, b, owed, paid = np.zeros((d, width)), np.zeros(width), np.zeros(1), np.zeros((d, width))
        stood, kept, kept_W = np.full(width, -1), np.full((4, width), np.inf), np.zeros((d, width))
        kept[3] = 8.0
        for part in np.array_split(order, 3):  # what stood goes on standing in the next call
            matrix_or_handle = X if module is reference else handle(module, X)
            head = matrix_or_handle, y, weight, part, np.ones(len(part))
            loss = losses.Perceptron() if module is reference else "perceptron"
            notes = None, None, None, None, owed, paid, patience, stood, counted, kept, kept_W
            module.stochastic_steps(*head, loss, l2, l1, True, W, b, *notes)
        ran.append((stood, kept, kept_W))
    for ours, theirs in zip(*ran, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@every_kernel
@every_loss
@given(**shapes, **formats, weighted=st.booleans(), width=st.sampled_from([1, 4, 12, 28]), begun=st.booleans())
@settings(max_examples=25, deadline=None)
def test_what_is_measured_of_planes_equals_the_reference(
    kernels, name, n, d, seed, kind, dtype, weighted, width, begun
):
    rng = np.random.default_rng(seed)
    X = matrix(rng, n, d, kind, dtype)
    y, W = rng.choice([-1.0, 0.0, 1.0], (n, width)), rng.standard_normal((d, width)) * rng.integers(0, 2, (d, width))
    W *= begun  # most runs begin at zero, where no product is needed
    weight = rng.uniform(0.2, 2.0, n) if weighted else None
    head, tail = (y, weight), (W, rng.standard_normal(width), 3.0, 0.2, 0.1)
    ran = []
    for module in (kernels, reference):
        G, out = np.full((d, width), np.nan), np.full((8, width), np.nan)
        matrix_or_handle = X if module is reference else handle(module, X)
        module.measure(matrix_or_handle, *head, losses.get(name) if module is reference else name, *tail, G, out)
        ran.append((G, out))
    for ours, theirs in zip(*ran, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)
    with pytest.raises(ValueError, match="shapes"):
        kernels.measure(handle(kernels, X), *head, name, *tail, np.empty((d + 1, width)), np.empty((8, width)))


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
        rest = 0.1, 0.001, True, parts[1], b, *sums, None, None, np.zeros(1), np.zeros((d, len(planes))), *NO_POCKET
        kernels.stochastic_steps(handle(kernels, X), parts[0], None, order, eta, "logistic", *rest)
        out = np.empty((8, len(planes)))
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
    kernels.stochastic_steps(X, y, None, order, one, name, 0.0, 0.0, True, w, b, *[None] * 6, *NO_POCKET)
    np.testing.assert_allclose(-w[0, 0], losses.get(name).slope(np.array(z)), rtol=1e-13, atol=0)


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
    head = kernels.dense(np.ones((2, 3))), y, None, np.array([order]), eta, name, 0.0, 0.0, True, W, np.zeros(1)
    with pytest.raises(ValueError, match=r"shapes|example|step|huber|four"):
        kernels.stochastic_steps(*head, None, None, counts, moved, None, None, *NO_POCKET)


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
