"""Examples in blocks are fitted as those in memory are: merged, scaled, tried again, whatever they weigh."""

import numpy as np
import pytest
from scipy import sparse

from linsep import LinearClassifier, LogisticRegression
from linsep._core import Rows
from linsep.arithmetic.blocked import BlockedMatrix, BlockedRows
from linsep.losses import Hinge, Logistic, SquaredHinge, get
from linsep.objective.examples import InMemory
from linsep.objective.heads import Margin
from linsep.objective.objective import Objective
from linsep.solvers import Automatic, minimise
from linsep.solvers.dual.descent import DualDescent
from linsep.solvers.reductions import repeats
from linsep.solvers.reductions.repeats import gather_repeats
from oracles import MarginFormula
from storage import MemoryBlocks, on_disk, rows_of_classes

FORMS = [np.asarray, sparse.csr_array]


def repeated(classes=2, n=60, copies=20, d=40):
    """Rows that all occur many times, in random order, with their weights."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((n, d)) < 0.2, rng.standard_normal((n, d)), 0.0)
    codes = (X @ rng.standard_normal((d, classes)) + rng.standard_normal((n, classes))).argmax(axis=1)
    codes[:classes] = range(classes)
    order = rng.permutation(np.repeat(np.arange(n), copies))
    return X[order], codes[order], rng.integers(0, 3, n * copies).astype(float)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("model", "classes"),
    [
        (LogisticRegression(), 2),
        (LogisticRegression(), 3),
        (LogisticRegression(l1_ratio=1.0), 2),
        (LinearClassifier("hinge", class_weight={0: 0.5, 1: 2.0}), 2),
        (LinearClassifier("squared_hinge"), 3),
    ],
    ids=["logistic", "softmax", "l1", "hinge", "squared hinge"],
)
def test_m10_repeated_rows_in_blocks_are_merged_into_weights(monkeypatch, form, weighted, model, classes):
    X, codes, weight = repeated(classes)
    weight = weight if weighted else None
    model.set_params(tol=1e-7)
    blocks = MemoryBlocks(form(X), codes, 97, sample_size=200, weight=weight)
    plain = model.fit_examples(blocks, range(classes)).certificate_.primal  # too small to be looked at
    monkeypatch.setattr(repeats, "WORTH", 0)
    model.fit_examples(MemoryBlocks(form(X), codes, 97, sample_size=200, weight=weight), range(classes))
    histories = model.history_ if isinstance(model.history_, list) else [model.history_]
    assert all("1,200 rows merged into 60 different ones" in history.reason for history in histories)
    assert model.certificate_.primal == pytest.approx(plain, rel=2e-7)
    assert model.certificate_.verify(form(X), codes, sample_weight=weight).proven


def test_rows_are_merged_across_blocks_if_there_is_room_for_the_different_ones():
    X, codes, _ = repeated()
    found = gather_repeats(MemoryBlocks(X, codes, 97, sample_size=120), worth=0)
    different = np.unique(np.column_stack([X, codes]), axis=0)
    assert found.rows.n == len(different) == 60
    np.testing.assert_array_equal(found.rows.X[found.group], X)
    np.testing.assert_array_equal(found.codes[found.group], codes)
    np.testing.assert_array_equal(found.weight, np.bincount(found.group))
    assert gather_repeats(MemoryBlocks(X, codes, 97, sample_size=118), worth=0) is None  # no room for 60
    few = MemoryBlocks(X, codes, 97, sample_size=120)
    few.holds = 1.0
    assert gather_repeats(few, worth=0) is None
    rng = np.random.default_rng(0)
    assert gather_repeats(MemoryBlocks(rng.standard_normal((1200, 4)), codes, 97, sample_size=1200), worth=0) is None


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("loss", "size", "C", "weights"),
    [("logistic", 1e-150, 1e250, None), ("squared_hinge", 1e120, 1e-235, 1.0), ("hinge", 1e65, 1e-100, 1e-90)],
)
def test_m10_numbers_at_the_ends_of_the_range_are_scaled_in_blocks(form, loss, size, C, weights):
    X, codes = rows_of_classes(60, 4, 2)
    weight = None if weights is None else weights * np.random.default_rng(0).uniform(0.1, 3.0, 60)
    memory, blocks = (
        LinearClassifier(loss, C=C, tol=1e-6).fit_examples(examples, [0, 1])
        for examples in (
            InMemory(Rows(form(X * size)), codes, weight),
            MemoryBlocks(form(X * size), codes, 17, 0, weight),
        )
    )
    assert "scaled inside" in blocks.history_.reason
    assert blocks.certificate_.proven
    assert blocks.certificate_.primal == pytest.approx(memory.certificate_.primal, rel=1e-6)
    assert blocks.certificate_.verify(form(X * size), codes, sample_weight=weight).proven


@pytest.mark.parametrize("storage", [InMemory, MemoryBlocks])
def test_where_the_first_method_does_not_arrive_another_is_tried(monkeypatch, storage):
    X, codes = rows_of_classes(60, 4, 2)
    examples = InMemory(Rows(X), codes) if storage is InMemory else MemoryBlocks(X, codes, 17)
    objective = Objective(examples, Margin(SquaredHinge()), C=1e3)
    monkeypatch.setattr(DualDescent, "max_iter", 3)
    monkeypatch.setattr(DualDescent.__init__, "__defaults__", (1e-4, 3))
    found = minimise(objective, Automatic(tol=1e-8, most_features=1))
    assert found.history.solver == "interior_point"
    assert "dual ended at a gap of" in found.history.reason
    assert found.converged


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), Logistic()], ids=repr)
def test_an_empty_block_changes_nothing_where_nobody_gives_a_workspace(tmp_path, loss):
    X, codes = rows_of_classes(60, 4, 2)
    blocks = on_disk(X, codes, tmp_path, [0, 20, 20, 60], np.full(60, 0.5))
    found = minimise(Objective(blocks, Margin(loss)), Automatic(tol=1e-8)) if loss.smooth else None
    penalised = minimise(Objective(blocks, Margin(loss), C=2.0), Automatic(tol=1e-8))
    memory = minimise(Objective(InMemory(Rows(X), codes), Margin(loss), C=1.0), Automatic(tol=1e-8))
    assert penalised.proof.primal == pytest.approx(memory.proof.primal, rel=2e-8)
    assert found is None or found.converged


@pytest.mark.parametrize("form", FORMS)
def test_a_matrix_that_is_read_in_blocks_is_the_matrix(form):
    rng = np.random.default_rng(0)
    X, y, s = np.round(rng.standard_normal((30, 5)), 1), np.where(rng.random(30) < 0.5, 1.0, -1.0), rng.random(30)
    w, which, some = rng.standard_normal(5), np.array([0, 3]), np.array([2, 3, 17, 29])
    whole = Rows(form(X))
    read = BlockedRows(BlockedMatrix(lambda: iter([form(X[:0]), form(X[:13]), form(X[13:])]), 30, 5))
    for want in (dict(split=True, curvature=True), dict(gradient=False)):
        found, expected = (vars(rows.evaluate(y, s, Logistic(), w, 0.3, **want)) for rows in (read, whole))
        for name in expected:
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-13, atol=1e-13)
    for ask in (
        lambda rows: rows.hessian_product(s, w, 0.7),
        lambda rows: np.tril(rows.gram(s, some)),
        lambda rows: rows.square_rmatvec(s),
        lambda rows: rows.columns(which).matvec(w[which]),
        lambda rows: rows.some(some).matvec(w),
        lambda rows: rows.dense(np.array([17, 2])),
    ):
        np.testing.assert_allclose(ask(read), ask(whole), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("form", FORMS)
def test_blocks_on_disk_can_be_had_in_random_order(tmp_path, form):
    X, codes = rows_of_classes(60, 4, 3)
    weight = np.arange(60.0)
    blocks = on_disk(form(X), codes, tmp_path, [7, 20, 20, 41], weight)
    orders = set()
    for seed in range(5):
        seen = np.zeros(60, dtype=int)
        order = []
        for block in blocks.shuffled(seed):
            np.testing.assert_array_equal(block.rows.dense(np.arange(block.rows.n)), X[block.which])
            np.testing.assert_array_equal(block.codes, codes[block.which])
            np.testing.assert_array_equal(block.weight, weight[block.which])
            seen[block.which] += 1
            order.append(block.first)
        assert (seen == 1).all()
        orders.add(tuple(order))
    assert len(orders) > 1


def test_coordinate_descent_over_many_blocks_takes_about_as_many_passes_as_in_memory():
    rng = np.random.default_rng(0)
    X = sparse.random_array((1000, 2000), density=0.01, random_state=rng, format="csr")
    codes = (X @ rng.standard_normal(2000) + 0.3 * rng.standard_normal(1000) > 0).astype(int)
    for loss in (Hinge(), SquaredHinge()):
        memory, blocks = (
            DualDescent(tol=1e-6).solve(Objective(examples, Margin(loss), C=1.0))
            for examples in (InMemory(Rows(X), codes), MemoryBlocks(X, codes, 25))
        )
        assert blocks.converged
        assert blocks.n_iter <= 2 * memory.n_iter  # each pass visits an example up to three times


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("C", [0.1, 1.0, pytest.param(30.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_coordinate_descent_over_few_blocks_takes_about_as_many_passes_as_in_memory(loss, C, intercept):
    X, codes = rows_of_classes(200, 6, 2, seed=5)
    best = MarginFormula(X, np.where(codes == 1, 1.0, -1.0), C, loss=loss, intercept=intercept).optimum().value

    def passes(examples):
        found = DualDescent(tol=1e-6).solve(Objective(examples, Margin(get(loss)), C=C, fit_intercept=intercept))
        assert found.converged
        assert best * (1 - 1e-7) <= found.proof.primal <= best * (1 + 1e-6)
        assert found.proof.dual <= best * (1 + 1e-12)
        return found.n_iter

    memory = passes(InMemory(Rows(X), codes))
    for size in (100, 40, 10, 5):
        assert passes(MemoryBlocks(X, codes, size)) <= 2.5 * memory


def test_rows_with_weights_and_without_any_take_few_passes_in_blocks():
    X, codes = rows_of_classes(200, 6, 2, seed=5)
    weight = np.random.default_rng(1).choice([0.0, 0.5, 3.0], 200)
    best = MarginFormula(X, np.where(codes == 1, 1.0, -1.0), 1.0, s=weight, loss="squared_hinge").optimum().value
    memory, blocks = (
        DualDescent(tol=1e-9).solve(Objective(examples, Margin(SquaredHinge()), C=1.0))
        for examples in (InMemory(Rows(X), codes, weight), MemoryBlocks(X, codes, 40, weight=weight))
    )
    assert blocks.n_iter <= 2.5 * memory.n_iter
    assert blocks.proof.primal == pytest.approx(best, rel=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_a_sample_that_has_hardly_seen_a_feature_does_not_mislead_a_fit_in_blocks(seed):
    rng = np.random.default_rng(seed)
    X = (rng.random((6000, 50)) < np.geomspace(0.004, 0.3, 50)).astype(float)
    codes = (rng.random(6000) < 1 / (1 + np.exp(3.5 - X @ rng.normal(0, 1.5, 50)))).astype(int)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    passes = {}
    for size in (0, 200, 800):
        model = LogisticRegression(random_state=seed)
        blocks = Counting(X, codes, 500, sample_size=size)
        assert model.fit_examples(blocks, [0, 1]).certificate_.proven
        passes[size] = blocks.passes - (size > 0)  # one to draw the sample
    assert max(passes.values()) <= passes[0] + 2


class Counting(MemoryBlocks):
    """Blocks that count how often they are gone through."""

    passes = 0

    def __iter__(self):
        self.passes += 1
        return super().__iter__()
