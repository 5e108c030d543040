"""Problems in parts: sums against the whole, bounds against the optimum, methods against those in memory."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from linsep import LinearClassifier, LogisticRegression, losses, penalties
from linsep._core import Rows
from linsep.certificates.gap.certificate import Certificate
from linsep.certificates.gap.certify import certify
from linsep.objective.examples import InMemory
from linsep.objective.heads import Margin, Softmax
from linsep.objective.objective import Objective
from linsep.objective.problem import Problem
from linsep.solvers import DualDescent, Multipliers, Newton, ProximalNewton
from linsep.solvers.sampling import gather
from objectives import objective_in_blocks
from storage import MemoryBlocks, MemoryWorkspace

SMOOTH = ("logistic", "squared_hinge", "square")


def data(n=1500, d=6, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    score = X @ rng.standard_normal((d, classes)) + 1.5 * rng.standard_normal((n, classes))
    return X, score.argmax(axis=1)


@pytest.mark.parametrize("loss", [*SMOOTH, "hinge"])
@pytest.mark.parametrize("intercept", [True, False])
@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), size=st.integers(1, 90), C=st.sampled_from([1e-3, 1.0, 30.0]))
def test_sums_are_those_of_the_whole_and_bounds_hold(loss, intercept, seed, size, C):
    X, codes = data(80, 4, seed)
    codes[:2] = 0, 1
    rng = np.random.default_rng(seed)
    w, b = rng.standard_normal(4), float(rng.standard_normal()) * intercept
    shared = dict(loss=losses.get(loss), C=C, fit_intercept=intercept)
    parted = objective_in_blocks(MemoryBlocks(X, codes, size), 1, class_weight=np.array([1.0, 2.5]), **shared)
    weight = np.where(codes == 1, 2.5, 1.0)
    whole = Problem(Rows(X), np.where(codes == 1, 1.0, -1.0), sample_weight=weight, **shared)
    point, expected = parted.evaluate(w, b, gram=True), whole.evaluate(w, b, split=True, curvature=True)
    assert point.objective == pytest.approx(expected.objective, rel=1e-12)
    assert point.smooth_gradient == pytest.approx(expected.smooth_gradient, rel=1e-9, abs=1e-9)
    assert np.tril(point.gram) == pytest.approx(np.tril(whole.rows.gram(expected.sums.h, np.arange(80))), rel=1e-9)
    exact = expected.bound
    assert point.exact_bound().dual == pytest.approx(exact.dual, rel=1e-9, abs=1e-9 * exact.primal)
    # without another pass no more is claimed than with one; nor more than zero loss where that is no proof
    assert point.bound.dual <= max(exact.dual, 0.0) + 1e-9 * exact.primal
    assert parted.total_weight == whole.total_weight
    assert parted.weighted_squares == pytest.approx(whole.weighted_squares)
    assert parted.formula == whole.formula


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("intercept", [True, False])
def test_products_with_the_hessian_are_those_of_the_whole_and_look_at_a_block_once_where_there_is_room(
    classes, intercept, monkeypatch
):
    X, codes = data(90, 5, classes=classes)
    rng = np.random.default_rng(1)
    head = Softmax(classes) if classes > 2 else Margin(losses.Logistic(), 1)
    shared = dict(head=head, C=0.7, fit_intercept=intercept)
    shape = (5,) if classes == 2 else (5, classes)
    w, b = rng.normal(size=shape), np.zeros(shape[1:]) if classes > 2 else 0.0
    V = rng.normal(size=(5 + intercept, *shape[1:]))
    whole = Objective(InMemory(Rows(X), codes), **shared)
    expected = whole.bending(whole.evaluate(w, b, curvature=True))(V)
    looks, evaluate = [], type(head).evaluate
    monkeypatch.setattr(type(head), "evaluate", lambda *a, **k: looks.append(1) or evaluate(*a, **k))
    for holds, times in ((np.inf, 4), (1.0, 12)):
        blocks = MemoryBlocks(X, codes, 25)
        blocks.holds = holds
        parted = Objective(blocks, **shared)
        product = parted.bending(parted.evaluate(w, b, curvature=True))
        looks.clear()
        for factor in (1.0, -2.0, 0.5):
            assert product(factor * V) == pytest.approx(factor * expected, rel=1e-5, abs=1e-6)
        assert len(looks) == times


def check(problem, result, duals, X, codes, loss, penalty, C, tol=1e-4, weight=None):
    """Compare with the fit in memory, and verify the certificate from the data alone."""
    class_weight = None if weight is None else dict(enumerate(weight))
    shared = dict(penalty=penalty, C=C, class_weight=class_weight)
    model = LinearClassifier(loss, tol=1e-7, **shared).fit(X, codes)
    statement = model._statement()
    best = model.certificate_.primal
    found = problem.evaluate(result.w, result.b).objective
    assert best * (1 - 1e-6) <= found <= best * (1 + tol)
    claim = certify(problem, replace(result, alpha=duals), statement, [0, 1], tol)
    certificate = Certificate(claim, result.w, result.b, statement, (0, 1))
    outcome = certificate.verify(X, codes)
    assert outcome, outcome.reason
    assert certificate.proven
    assert outcome.proven


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("penalty", ["l2", "l1"])
@pytest.mark.parametrize("weight", [None, (1.0, 3.0)])
def test_newton_in_passes(loss, penalty, weight):
    X, codes = data()
    blocks = MemoryBlocks(sparse.csr_array(X) if penalty == "l1" else X, codes, 200, sample_size=400)
    weights = None if weight is None else np.array(weight)
    problem = objective_in_blocks(blocks, 1, losses.get(loss), penalties.get(penalty), 0.1, weights)
    solver = ProximalNewton() if penalty == "l1" else Newton()
    result = solver.solve(problem, workspace=MemoryWorkspace(len(X)))
    assert result.converged
    assert len(result.history) < 15
    check(problem, result, None, X, codes, loss, penalty, 0.1, weight=weight)


@pytest.mark.parametrize("loss", ["square", "logistic"])
def test_newton_without_a_penalty(loss):
    X, codes = data()
    problem = objective_in_blocks(MemoryBlocks(X, codes, 400), 1, losses.get(loss))
    result = Newton().solve(problem, workspace=MemoryWorkspace(len(X)))
    assert result.converged
    best = LinearClassifier(loss, C=None, tol=1e-9).fit(X, codes)
    assert result.w == pytest.approx(best.coef_[0], abs=2e-3)
    claim = certify(problem, result, best._statement(), [0, 1], 1e-4)
    certificate = Certificate(claim, result.w, result.b, best._statement(), (0, 1))
    assert certificate.verify(X, codes)
    assert certificate.proven


@pytest.mark.parametrize("C", [1e-3, 1.0])
@pytest.mark.parametrize("weight", [None, (1.0, 3.0)])
@pytest.mark.parametrize("with_sample", [True, False])
def test_hinge_by_multipliers_in_passes(C, weight, with_sample):
    X, codes = data()
    blocks = MemoryBlocks(X, codes, 333)
    weights = None if weight is None else np.array(weight)
    problem = objective_in_blocks(blocks, 1, losses.Hinge(), penalties.L2(), C, weights)
    blocks.sample_size = 500 * with_sample
    result = Multipliers().solve(problem, workspace=MemoryWorkspace(len(X)))
    assert result.converged
    assert result.n_iter < 80
    check(problem, result, result.alpha, X, codes, "hinge", "l2", C, weight=weight)


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared_hinge"])
def test_dual_descent_in_passes_for_many_features(loss):
    rng = np.random.default_rng(0)
    X = sparse.random_array((800, 3000), density=0.01, random_state=rng, format="csr")
    codes = (np.asarray(X[:, :300].sum(axis=1)).ravel() > 1.5).astype(int)
    blocks = MemoryBlocks(X, codes, 150)
    problem = objective_in_blocks(blocks, 1, losses.get(loss), penalties.L2(), 1.0)
    blocks.sample_size = 200
    result = DualDescent().solve(problem, workspace=MemoryWorkspace(800))
    assert result.converged
    check(problem, result, result.alpha, X, codes, loss, "l2", 1.0)


@pytest.mark.parametrize("balanced", [False, True])
def test_m24_softmax_in_passes(balanced):
    X, codes = data(classes=4)
    blocks = MemoryBlocks(X, codes, 400, sample_size=400)
    model = LogisticRegression(C=0.5, class_weight="balanced" if balanced else None).fit(X, codes)
    best = model.certificate_.primal
    weight = blocks.counts.sum() / (4 * blocks.counts) if balanced else None
    problem = Objective(blocks, Softmax(4), penalties.L2(), 0.5, weight)
    found = Newton().solve(problem, workspace=MemoryWorkspace(len(X)))
    assert found.converged
    assert found.proof.primal == pytest.approx(best, rel=1e-4)
    statement, classes = model._statement(), tuple(range(4))
    certificate = Certificate(certify(problem, found, statement, classes, 1e-4), found.w.T, found.b, statement, classes)
    assert certificate.verify(X, codes)
    assert certificate.proven


@pytest.mark.parametrize(
    ("solver", "loss"),
    [(Newton(), "logistic"), (Multipliers(), "hinge"), (DualDescent(tol=1e-3), "hinge")],
)
@pytest.mark.parametrize("passes", [1, 2])
def test_a_killed_run_goes_on_from_its_last_pass(solver, loss, passes):
    X, codes = data()
    problem = objective_in_blocks(MemoryBlocks(X, codes, 400), 1, losses.get(loss), C=0.001)
    workspace = MemoryWorkspace(len(X), stop_after=passes)
    with pytest.raises(SystemExit):
        solver.solve(problem, workspace=workspace)
    result = solver.solve(problem, workspace=workspace)
    straight = solver.solve(problem, workspace=MemoryWorkspace(len(X)))
    assert result.converged
    objectives = [problem.evaluate(one.w, one.b).objective for one in (result, straight)]
    assert objectives[0] == pytest.approx(objectives[1], rel=2 * solver.tol)


class _Interrupting(MemoryBlocks):
    """Blocks that somebody interrupts with Ctrl-C in their third pass."""

    passes = 0

    def __iter__(self):
        self.passes += 1
        for block in super().__iter__():
            if self.passes == 3:
                raise KeyboardInterrupt
            yield block


@pytest.mark.parametrize(("solver", "loss"), [(Newton(1e-12), "logistic"), (Multipliers(), "hinge")])
def test_ctrl_c_keeps_the_best_so_far(solver, loss):
    X, codes = data()
    problem = objective_in_blocks(_Interrupting(X, codes, 400), 1, losses.get(loss), C=1.0)
    result = solver.solve(problem, workspace=MemoryWorkspace(len(X)))
    assert result.interrupted
    assert problem.evaluate(result.w, result.b).objective < problem.evaluate(np.zeros(6), 0.0).objective


def test_a_penalty_that_a_method_cannot_minimise_is_refused():
    X, codes = data(50)
    problem = objective_in_blocks(MemoryBlocks(X, codes, 10), 1, losses.Hinge(), penalties.get("l1"), 1.0)
    for solver in (Multipliers(), DualDescent()):
        with pytest.raises(ValueError, match="needs the penalty"):
            solver.solve(problem, workspace=MemoryWorkspace(50))


def test_gather_takes_the_same_share_of_every_block():
    X, codes = data(3000)
    found = gather(MemoryBlocks(X, codes, 1000), 600, np.random.default_rng(0))
    assert 500 < found.rows.n < 700
    assert {tuple(row) for row in found.rows.X} <= {tuple(row) for row in X}


@pytest.mark.parametrize(("off", "scale", "kept"), [(0.0, 1e30, True), (1e6, 1.0, False), (0.0, 1e200, False)])
def test_a_start_takes_single_precision_where_nothing_is_lost(off, scale, kept):
    X, codes = data(3000)
    X[:, 0] = scale * (X[:, 0] + off)
    found = gather(MemoryBlocks(X, codes, 1000), 600, np.random.default_rng(0), short=True)
    expected = X.astype(np.float32) if kept else X
    assert found.rows.X.dtype == expected.dtype
    assert {tuple(row) for row in found.rows.X} <= {tuple(row) for row in expected}
