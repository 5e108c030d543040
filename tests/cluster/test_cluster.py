"""Fits on partitions, whatever the engine: the answers of one machine, in bits that depend on the partitions alone."""

import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from here import fit_here
from linsep import LeastSquaresClassifier, LinearClassifier, LinearSVC, LogisticRegression, verify
from linsep._core import Rows
from linsep.arithmetic.enclosure import Interval
from linsep.cluster import plain
from linsep.cluster.checkpoint import Checkpoint, _record
from linsep.cluster.fitting import PartitionError
from linsep.cluster.tree import added, merged, root
from linsep.objective import examples
from linsep.objective.examples import Pieces, Several

MODELS = {
    "logistic": LogisticRegression(tol=1e-6),
    "l1": LogisticRegression(l1_ratio=1.0, C=0.05, tol=1e-6),
    "elastic net": LogisticRegression(l1_ratio=0.5, C=0.05, tol=1e-6),
    "no penalty": LogisticRegression(C=np.inf),
    "balanced": LogisticRegression(class_weight="balanced", fit_intercept=False, tol=1e-6),
    "hinge": LinearSVC(C=0.1, tol=1e-5),
    "squared hinge": LinearSVC(loss="squared_hinge", C=0.1, tol=1e-6),
    "squares": LeastSquaresClassifier(C=2.0),
}


def fresh(name):
    model = clone(MODELS[name])
    return model.set_params(random_state=0) if hasattr(model, "random_state") else model


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6000, 5))
    X[:, 1] += 0.5
    scores = X @ [1.0, -2.0, 0.0, 0.5, 0.0] + 2.0 * rng.logistic(size=6000)
    return X, np.digitize(scores, [-3.0, 1.0]), rng.uniform(0.5, 2.0, 6000)


def same_answer(found, alone):
    """Both are within the proven gap of the optimum: so is each from the other, in the norm of the penalty."""
    assert found.converged_
    gaps = [
        np.atleast_1d([one.gap for one in getattr(m.certificate_, "_all", [m.certificate_])]) for m in (found, alone)
    ]
    if np.isfinite(found.C):
        l2 = 1.0 - (getattr(found, "l1_ratio", 0.0) or 0.0)
        reach = np.sqrt(2 * gaps[0] / l2) + np.sqrt(2 * gaps[1] / l2) if l2 else np.full(1, 0.02)
        assert np.linalg.norm(found.coef_ - alone.coef_) <= np.linalg.norm(reach) + 1e-7
    else:
        np.testing.assert_allclose(found.coef_, alone.coef_, atol=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_partitions_give_the_answer_of_one_machine(rows, name):
    X, y, _ = rows
    alone = fresh(name).fit(X, y > 0)
    for cuts in ([3000], [1, 1, 17, 4000, 5999]):
        found = fit_here(fresh(name), X, y > 0, cuts)
        same_answer(found, alone)
        assert verify(found, X, y > 0)


@pytest.mark.parametrize("name", ["logistic", "hinge"])
@pytest.mark.parametrize("kind", ["classes", "weights", "sparse"])
def test_more_classes_weights_and_sparse_blocks(rows, name, kind):
    X, y, weight = rows
    y, weight = (y, None) if kind == "classes" else (y > 0, weight)
    X = sparse.csr_array(np.where(np.abs(X) > 1, X, 0.0)) if kind == "sparse" else X
    alone = fresh(name).fit(X, y, weight)
    found = fit_here(fresh(name), X, y, [1000, 2500, 2500, 5000], weight)
    same_answer(found, alone)
    assert verify(found, X, y, weight)


@pytest.mark.parametrize("name", ["logistic", "hinge", "l1"])
def test_bits_depend_on_the_partitions_alone(rows, name):
    X, y, _ = rows
    fits = [fit_here(fresh(name), X, y > 0, [900, 2000, 2100, 4000], workers=workers) for workers in (1, 2, 3, 5)]
    for one in fits[1:]:
        assert np.array_equal(one.coef_, fits[0].coef_)
        assert np.array_equal(one.intercept_, fits[0].intercept_)
        assert one.dual_gap_ == fits[0].dual_gap_


@pytest.mark.parametrize("name", ["logistic", "hinge", "l1"])
def test_tasks_that_go_through_a_partition_piece_by_piece_find_the_same(rows, name, monkeypatch):
    X, y, weight = rows
    monkeypatch.setattr(examples, "AT_ONCE", 700 * X.shape[1])  # none of which divides a partition
    alone = fresh(name).fit(X, y > 0, weight)
    found = fit_here(fresh(name), X, y > 0, [900, 2000, 2100], weight)
    same_answer(found, alone)
    assert verify(found, X, y > 0, weight)
    lost = fit_here(fresh(name), X, y > 0, [900, 2000, 2100], weight, workers=2, dies_after=6)
    assert np.array_equal(found.coef_, lost.coef_)
    assert found.dual_gap_ == lost.dual_gap_


def test_pieces_of_a_block_are_the_block(rows, monkeypatch):
    X, _, weight = rows
    monkeypatch.setattr(examples, "AT_ONCE", 700 * X.shape[1])
    block = examples.Block(50, Rows(X), np.arange(len(X)), weight)
    pieces = list(block.pieces())
    assert [one.first for one in pieces] == list(range(50, 50 + len(X), 700))
    assert np.array_equal(np.vstack([one.rows.X for one in pieces]), X)
    assert np.array_equal(np.concatenate([one.codes for one in pieces]), block.codes)
    assert np.array_equal(np.concatenate([one.weight for one in pieces]), weight)
    sparse_block = examples.Block(0, Rows(sparse.csr_array(X)), block.codes, weight)
    assert list(sparse_block.pieces()) == [sparse_block]


@pytest.mark.parametrize("round_", [5, 8, 12])
def test_dual_variables_that_are_lost_are_made_again(rows, round_):
    X, y, _ = rows
    whole = fit_here(fresh("hinge"), X, y > 0, [900, 2000, 4000])
    lost = fit_here(fresh("hinge"), X, y > 0, [900, 2000, 4000], workers=2, dies_after=round_)
    assert len(whole.history_.rounds) > round_
    assert np.array_equal(whole.coef_, lost.coef_)
    assert whole.dual_gap_ == lost.dual_gap_


@pytest.mark.parametrize("name", ["logistic", "hinge", "l1", "no penalty"])
def test_a_fit_goes_on_from_its_checkpoint_to_the_same_bits(rows, name, tmp_path):
    X, y, _ = rows

    class Lost(Exception):  # noqa: N818
        pass

    rounds = []

    def told(one, gap):
        rounds.append(one)
        if len(rounds) == 5:
            raise Lost

    whole, path = fit_here(fresh(name), X, y > 0, [900, 2000]), tmp_path / "fit"
    with pytest.raises(Lost):
        fit_here(fresh(name), X, y > 0, [900, 2000], checkpoint=path, told=told)
    found = fit_here(fresh(name), X, y > 0, [900, 2000], checkpoint=path)
    assert [one.seconds for one in found.history_.rounds[:4]] == [0.0] * 4
    assert found.history_.rounds[5].seconds > 0
    assert np.array_equal(whole.coef_, found.coef_)
    assert whole.dual_gap_ == found.dual_gap_
    with pytest.raises(ValueError, match=r"another fit \(data differ\)"):
        fit_here(fresh(name), X, y > 0, [900, 2001], checkpoint=path)


def test_a_checkpoint_cut_short_is_used_up_to_there(tmp_path):
    path = tmp_path / "fit"
    kept = Checkpoint(path, {"C": 1.0})
    kept.keep(1, 0.5)
    kept.keep(2, np.arange(1000.0))
    path.write_bytes(path.read_bytes()[:-100])
    again = Checkpoint(path, {"C": 1.0})
    assert again.known(1) == 0.5
    assert again.known(2) is None
    again.keep(2, 0.25)
    assert Checkpoint(path, {"C": 1.0}).known(2) == 0.25


def test_sums_of_every_kind_are_written_to_the_bit(tmp_path):
    matrix = sparse.random(7, 5, 0.4, format="csr", random_state=0)
    values = [
        Several((0.1, np.float64(-np.inf), np.arange(6, dtype=np.float32).reshape(2, 3), None)),
        Pieces([(matrix, np.array([3, 1], dtype=np.int32), "text"), [True, 5, np.nan]]),
        (Interval(-0.0, np.nextafter(1.0, 2.0)), np.zeros((0, 4)), np.array(["a", "żółw"]), np.array(True)),
    ]
    kept = Checkpoint(tmp_path / "fit", {})
    for number, value in enumerate(values):
        kept.keep(number, value)
    again = Checkpoint(tmp_path / "fit", {})
    for number, value in enumerate(values):
        found = again.known(number)
        assert type(found) is type(value)
        assert pickle.dumps(plain.written(found)) == pickle.dumps(plain.written(value))
    assert type(again.known(0)[1]) is np.float64
    assert again.known(0)[2].flags.writeable
    assert (again.known(1)[0][0] != matrix).nnz == 0
    with pytest.raises(TypeError, match="a sum of the kind set cannot be written"):
        kept.keep(9, {1, 2})
    assert Checkpoint(tmp_path / "fit", {}).known(9) is None


class _Opened:
    """Leaves a trace where a pickle of it is loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


def test_foreign_and_damaged_checkpoints_are_refused_in_a_line(tmp_path):
    path = tmp_path / "fit"
    foreign = [b"hello", pickle.dumps(_Opened(str(tmp_path / "ran"))), b"linsep checkpoint 2\n", b"\n" * 100]
    for content in foreign:
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"^[^\n]*fit: this is no checkpoint of a fit by linsep; name another$"):
            Checkpoint(path, {})
        assert path.read_bytes() == content  # whatever it is, it stays
    assert not (tmp_path / "ran").exists()
    path.unlink()
    kept = Checkpoint(path, {"C": 1.0})
    for number in range(3):
        kept.keep(number, np.full(20, float(number)))
    whole = path.read_bytes()
    for at in range(0, len(whole), 29):  # a byte that is wrong: never a sum that is
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        try:
            again = Checkpoint(path, {"C": 1.0})
        except ValueError as error:
            assert re.search("no checkpoint|a damaged checkpoint", str(error))  # noqa: PT017
        else:  # the byte that ends a line: what follows was cut off
            assert whole[at] == ord("\n")
            for number in range(3):
                assert again.known(number) is None or (again.known(number) == float(number)).all()


@pytest.mark.parametrize(
    "value",
    [
        ["array", "O", [1]],
        ["array", "<f8", [2**62]],
        ["array", "<f8", [-1]],
        ["array", "nonsense", [1]],
        ["eval", "1"],
        ["csr", [2, 2], ["array", "<f8", [1]], ["array", "<i4", [1]], ["array", "<i4", [1]]],
        ["float", 3],
        ["tuple", {}],
        {},
        ["Interval"],
    ],
)
def test_a_checkpoint_that_was_made_up_is_refused(tmp_path, value):
    path = tmp_path / "fit"
    Checkpoint(path, {})
    with path.open("ab") as file:
        file.write(_record({"round": 1, "value": value}, bytes(16)))
    with pytest.raises(ValueError, match="a damaged checkpoint"):
        Checkpoint(path, {}).known(1)


def test_rounds_are_few_and_told_with_their_bytes(rows):
    X, y, _ = rows
    heard = []
    model = fit_here(fresh("hinge"), X, y > 0, [3000], told=lambda one, gap: heard.append((one, gap)))
    assert [one for one, _ in heard] == model.history_.rounds
    assert heard[-1][1] <= model.tol
    assert len(heard) < 40
    largest = max(one.received for one, _ in heard if "gather" not in one.what)
    assert largest < 8 * X.shape[0]  # nothing of every example
    assert "this process, 2 partitions" in model.history_.reason
    assert pickle.loads(pickle.dumps(model)).history_.rounds == model.history_.rounds


def test_many_rows_of_few_features_take_few_rounds():
    rng = np.random.default_rng(5)
    X = np.where(rng.random((40_000, 12)) < 0.05, 4.0, 0.0) + np.pad(rng.normal(size=(40_000, 4)), ((0, 0), (0, 8)))
    y = X @ rng.normal(size=12) + 2.0 * rng.logistic(size=40_000) > 0
    found = fit_here(LogisticRegression(), X, y, [10_000, 20_000, 30_000])
    assert found.converged_
    assert len(found.history_.rounds) <= 5
    assert verify(found, X, y)


def test_a_sample_gives_the_hessian_of_many_features():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(20_000, 40))
    X[:, 39] = np.where(rng.random(20_000) < 1e-3, 30.0, 0.0)  # on some twenty rows, which a sample has all of
    y = X @ rng.normal(size=40) + 2.0 * rng.logistic(size=20_000) > 0
    found = fit_here(LogisticRegression(random_state=0), X, y, [5_000, 15_000])
    sums = [one for one in found.history_.rounds if one.what == "_SumsAt"]
    assert found.converged_
    assert len(sums) <= 5
    assert all(one.received < 8 * 3 * 40 for one in sums)  # gradients, no matrices
    assert verify(found, X, y)


def wide(n=3000, d=4000):
    """Return more features than a Hessian is written down for, and labels that follow from some of them."""
    rng = np.random.default_rng(0)
    X = sparse.random(n, d, 0.005, format="csr", random_state=0)
    return X, np.where(3 * X @ (rng.normal(size=d) * (rng.random(d) < 0.1)) + 0.3 * rng.logistic(size=n) > 0, 1, 0)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["logistic", "squared hinge", "hinge"])
@pytest.mark.parametrize("weighted", [False, True])
def test_many_features_take_conjugate_gradients_and_no_matrix_of_them(loss, weighted):
    X, y = wide()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else None
    found = fit_here(fresh(loss), X, y, [500, 500, 1500], weight)
    same_answer(found, fresh(loss).fit(X, y, weight))
    assert verify(found, X, y, weight)
    assert found.history_.solver == ("multipliers" if loss == "hinge" else "newton")
    assert "conjugate gradients, which write no Hessian down" in found.history_.reason
    samples = ("glance", "gather")
    sums = [one.received for one in found.history_.rounds if not any(word in one.what for word in samples)]
    assert max(sums) <= 8 * (4 * X.shape[1] + 100)  # some vectors of d numbers
    again = fit_here(fresh(loss), X, y, [500, 500, 1500], weight, workers=3, dies_after=9)
    assert np.array_equal(found.coef_, again.coef_)


@pytest.mark.slow
@pytest.mark.parametrize(("l1_ratio", "C"), [(1.0, 1.0), (0.02, 5.0)])
def test_l1_on_many_features_adds_up_no_matrix_of_all(l1_ratio, C):
    X, y = wide()
    alone = LogisticRegression(penalty="elasticnet", l1_ratio=l1_ratio, C=C).fit(X, y)
    found = fit_here(LogisticRegression(penalty="elasticnet", l1_ratio=l1_ratio, C=C), X, y, [500, 500, 1500])
    assert found.converged_
    assert verify(found, X, y)
    assert abs(found.certificate_.primal - alone.certificate_.primal) <= found.certificate_.gap + alone.certificate_.gap
    used = int((found.coef_ != 0).sum())
    assert used < 1000 if l1_ratio == 1.0 else used > 3000  # of more than 3,000 by conjugate gradients
    assert max(one.received for one in found.history_.rounds) < 8 * (3001**2 + 8 * X.shape[1])


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (LinearSVC(multi_class="crammer_singer"), "Crammer and Singer's machine takes rows in one place, .*='ovr'"),
        (
            LinearClassifier("hinge", penalty="l1"),
            "the hinge loss with an L1 penalty takes rows in one place, and these",
        ),
    ],
)
def test_what_takes_rows_in_one_place_is_refused_in_words_of_clusters(model, said):
    X, y = wide(40)[0], np.arange(40) % 3  # of two classes Crammer and Singer's machine is one plane
    with pytest.raises(ValueError, match=said):
        fit_here(model, X, y, [10, 20])


def test_each_class_has_its_own_rounds(rows):
    X, y, _ = rows
    model = fit_here(fresh("hinge"), X, y, [3000])
    assert len(model.history_) == 3
    assert all(len(one.rounds) > 3 for one in model.history_)


def test_partitions_that_cannot_be_learned_from_are_named(rows):
    X, y, _ = rows
    bad = X.copy()
    bad[4500, 2] = np.nan
    with pytest.raises(PartitionError, match="partition 2: Input X contains NaN"):
        fit_here(fresh("hinge"), bad, y, [3000, 4000])
    bad[4500, 2] = np.inf
    with pytest.raises(PartitionError, match="partition 2: Input X contains infinity"):
        fit_here(fresh("hinge"), bad, y, [3000, 4000])
    bad[4500, 2] = 1e200
    with pytest.raises(PartitionError, match="partition 2: it has values whose squares overflow"):
        fit_here(fresh("hinge"), bad, y, [3000, 4000])
    with pytest.raises(ValueError, match="one class only"):
        fit_here(fresh("hinge"), X, np.ones(6000), [3000, 4000])
    with pytest.raises(PartitionError, match="partition 1: sample_weight must be finite"):
        fit_here(fresh("hinge"), X, y, [3000], np.r_[np.ones(5999), -1.0])
    with pytest.raises(ValueError, match="warm_start=True would be ignored"):
        fit_here(LogisticRegression(warm_start=True), X, y, [3000])
    with pytest.raises(ValueError, match="its rows one block after the other"):
        fit_here(LinearSVC(solver="dual"), X, y > 0, [3000])


def test_one_class_in_a_partition(rows):
    X, y, _ = rows
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    cuts = np.searchsorted(y, [1, 2]).tolist()
    for name in ("logistic", "hinge"):
        same_answer(fit_here(fresh(name), X, y, cuts), fresh(name).fit(X, y))


def test_sums_of_a_tree_do_not_depend_on_who_adds_them():
    rng = np.random.default_rng(0)
    leaves = {(0, k): Several((float(rng.normal()), rng.normal(size=3))) for k in range(11)}
    whole = root(merged(leaves, leaves=11))
    for _ in range(20):
        some = [dict[tuple[int, int], Several]() for _ in range(4)]
        for k in rng.permutation(11):
            some[rng.integers(4)][0, int(k)] = leaves[0, int(k)]
        found = root(merged(*(merged(one, leaves=11) for one in some), leaves=11))
        assert found[0] == whole[0]
        assert np.array_equal(found[1], whole[1])
    before = leaves[0, 0][1].copy()
    added(leaves[0, 0], leaves[0, 1])
    assert np.array_equal(leaves[0, 0][1], before)  # an answer that is asked for again is as it was


@pytest.mark.parametrize(
    ("package", "name", "needs"), [("dask", "Dask", ""), ("pyspark", "Spark", ", and a Java runtime")]
)
def test_without_an_engine_the_import_says_what_to_install(package, name, needs):
    extra = name.lower()
    script = f"import sys; sys.modules['{package}'] = None; import linsep.{extra}"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert f"ImportError: linsep.{extra} needs {name}: pip install 'linsep[{extra}]'{needs}" in ended.stderr
