"""Fits on a real cluster of processes: collections of every kind, workers that die and come, clients that are lost."""

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from scipy import sparse

import linsep

pytest.importorskip("distributed", reason="pip install 'linsep[dask]'")

import dask
import dask.array as da
import dask.dataframe as dd
import pandas as pd
import pyarrow as pa
from distributed import Client, LocalCluster

from here import fit_here
from linsep.cluster.dask import DaskEngine
from linsep.dask import LeastSquaresClassifier, LinearSVC, LogisticRegression, plan, verify
from linsep.data.encoding import TableEncoding
from people import people

pytestmark = pytest.mark.slow

FITS = {
    "logistic": (LogisticRegression, dict(tol=1e-6)),
    "l1": (LogisticRegression, dict(l1_ratio=1.0, C=0.05, tol=1e-6)),
    "hinge": (LinearSVC, dict(C=0.1)),
    "squares": (LeastSquaresClassifier, dict(C=2.0)),
}


def started(workers):
    return LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address="127.0.0.1:0"
    )


@pytest.fixture(scope="module")
def cluster():
    with started(2) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def client(request):
    if "own_cluster" in request.keywords:
        yield None
        return
    with Client(request.getfixturevalue("cluster"), timeout="30s") as client:
        yield client


def example(seed=0, n=4000, d=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X @ np.arange(-1.0, d - 1.0) + rng.logistic(size=n) > 0.5, "yes", "no")


def arrays(count=5, n=800, d=5):
    """Return X and y that workers make, and make again where one was lost."""

    def partition(k):
        rng = np.random.default_rng(k)
        X = rng.normal(size=(n, d))
        return X, np.where(X @ np.arange(-1.0, d - 1.0) + rng.logistic(size=n) > 0.5, "yes", "no")

    made = [dask.delayed(partition, nout=2)(k) for k in range(count)]
    X = da.concatenate([da.from_delayed(x, (n, d), dtype=float) for x, _ in made])
    return X, da.concatenate([da.from_delayed(y, (n,), dtype="<U3") for _, y in made])


def near(found, alone):
    """Whether two fits agree as far as their gaps say."""
    assert found.converged_
    assert abs(found.certificate_.primal - alone.certificate_.primal) <= found.certificate_.gap + alone.certificate_.gap
    np.testing.assert_allclose(found.coef_, alone.coef_, atol=0.02)
    return True


def alone(name, X, y, weight=None):
    kind, settings = FITS[name]
    return getattr(linsep, kind.__name__)(**settings).fit(X, y, *([] if weight is None else [weight]))


@pytest.mark.parametrize("name", FITS)
def test_arrays_and_what_is_predicted_of_them(name):
    kind, settings = FITS[name]
    X, y = example()
    x, labels = da.from_array(X, chunks=(700, 2)), da.from_array(y, chunks=1500)
    model = kind(**settings).fit(x, labels)
    assert near(model, alone(name, X, y))
    predicted, scores, share = model.predict(x), model.decision_function(x), model.score(x, labels)
    for lazy in (predicted, scores, share):
        assert dask.is_dask_collection(lazy)
    assert (predicted.compute() == model.predict(X)).all()
    assert np.array_equal(scores.compute(), model.decision_function(X))
    assert share.compute() == pytest.approx(model.score(X, y))
    if name == "logistic":
        assert np.array_equal(model.predict_proba(x).compute(), model.predict_proba(X))
    assert linsep.verify(model, X, y)
    if name == "hinge":
        assert verify(model, x, labels)
        assert verify(model, x, labels).proven
        refused = verify(model, x, da.where(labels == "yes", "no", "yes"))
        assert not refused
        assert refused.reason == "the rows (or their labels) are not those of the fit"


def test_sparse_blocks_weights_and_three_classes():
    X, _ = example()
    X = np.where(np.abs(X) > 1, X, 0.0)
    y, s = np.digitize(X[:, 1] + X[:, 2] ** 2, [0.5, 2.0]), np.random.default_rng(1).uniform(0.5, 2, 4000)
    x = da.from_array(X, chunks=(900, -1)).map_blocks(sparse.csr_matrix, dtype=float, meta=sparse.csr_matrix((0, 0)))
    labels, weights = (da.from_array(one, chunks=900) for one in (y, s))
    for name in ("logistic", "hinge"):
        kind, settings = FITS[name]
        model = kind(**settings).fit(x, labels, weights)
        assert near(model, alone(name, sparse.csr_matrix(X), y, s))
        assert (model.predict(x).compute() == model.predict(X)).all()


def test_tables_delayed_partitions_and_parquet(tmp_path):
    X, y = example()
    table = pd.DataFrame(X, columns=list("abcde")).assign(label=y, weight=1.0 + (y == "no"))
    frame = dd.from_pandas(table, npartitions=3)
    whole = alone("logistic", X, y)
    model = LogisticRegression(tol=1e-6).fit(frame[list("abcde")], frame["label"])
    assert near(model, whole)
    assert list(model.feature_names_in_) == list("abcde")
    predicted = model.predict(frame[list("abcde")])
    assert (predicted.compute() == model.predict(table[list("abcde")])).all()
    assert model.score(frame[list("abcde")], frame["label"]).compute() == pytest.approx(
        model.score(table[list("abcde")], y)
    )

    pieces = [slice(0, 1000), slice(1000, 1000), slice(1000, 4000)]
    delayed = [dask.delayed(X[one]) for one in pieces], [dask.delayed(y[one]) for one in pieces]
    model = LogisticRegression(tol=1e-6).fit(*delayed)
    assert near(model, whole)
    found = dask.compute(*model.predict(delayed[0]))
    assert (np.concatenate(found) == model.predict(X)).all()
    assert dask.compute(model.score(*delayed))[0] == pytest.approx(model.score(X, y))

    for k, one in enumerate(pieces):
        table[one].to_parquet(tmp_path / f"{k}.parquet")
    weighted = alone("logistic", X, y, table["weight"].to_numpy())
    for path in (tmp_path, f"{tmp_path}/*.parquet"):
        assert near(LogisticRegression(tol=1e-6).fit(path, "label", "weight"), weighted)
    with pytest.raises(ValueError, match="no column 'lable'"):
        LogisticRegression().fit(tmp_path, "lable")
    with pytest.raises(FileNotFoundError, match="no such file"):
        LogisticRegression().fit(f"{tmp_path}/*.csv", "label")


def test_tables_with_text_and_gaps_are_encoded_as_on_one_machine(tmp_path):
    table, y = people()
    frame = dd.from_pandas(table.assign(label=y, w=1.0 + (y == "no")), npartitions=4)
    names = list(table.columns)
    rows = pa.Table.from_pandas(table)
    encoding = TableEncoding.fit(rows)
    X = encoding.transform(rows)
    for name in ("logistic", "hinge"):
        kind, settings = FITS[name]
        model = kind(**settings).fit(frame[names], frame["label"])
        assert near(model, alone(name, X, y))
        assert model.encoding_.names == encoding.names
        predicted = model.predict(frame[names])
        assert dask.is_dask_collection(predicted)
        assert (predicted.compute() == model.predict(table)).all()
        assert (model.predict(table) == alone(name, X, y).predict(X)).mean() > 0.99
        assert model.score(frame[names], frame["label"]).compute() == pytest.approx(model.score(table, y))
        assert verify(model, frame[names], frame["label"])
        assert not verify(model, frame[names], frame["label"] + "?")
    assert np.array_equal(
        LogisticRegression().fit(frame[names], frame["label"]).predict_proba(frame[names]).compute(),
        LogisticRegression().fit(frame[names], frame["label"]).predict_proba(table),
    )
    for k, one in enumerate((slice(0, 1000), slice(1000, 1000), slice(1000, 3000))):
        table.assign(label=y, w=1.0 + (y == "no"))[one].to_parquet(tmp_path / f"{k}.parquet")
    weighted = alone("logistic", X, y, 1.0 + (y == "no"))
    assert near(LogisticRegression(tol=1e-6).fit(tmp_path, "label", "w"), weighted)
    x, labels = (da.from_array(one, chunks=(1000, *one.shape[1:])) for one in (X.toarray(), y))
    assert not hasattr(model.fit(x, labels), "encoding_")
    bad = frame[names].assign(income=frame["income"].where(frame["row"] != 2500, np.inf))
    with pytest.raises(ValueError, match=r"partition 3 row 251, column 'income': 'inf'"):
        LogisticRegression().fit(bad, frame["label"])


def test_C_is_chosen_over_the_partitions():
    X, y = arrays()
    model = LogisticRegression(C="auto").fit(X, y)
    cuts = np.cumsum(X.chunks[0])[:-1].tolist()
    here = fit_here(LogisticRegression(C="auto"), *dask.compute(X, y), cuts)
    assert model.C_ == here.C_
    assert np.array_equal(model.scores_, here.scores_)
    assert same_bits(model, here)
    assert verify(model, X, y)
    with pytest.raises(ValueError, match="C='auto' is for collections"):
        LogisticRegression(C="auto").fit(*dask.compute(X, y))
    with pytest.raises(ValueError, match="must be a positive number"):
        LogisticRegression(C="best").fit(X, y)
    with pytest.raises(ValueError, match="C='auto' would be ignored: penalty=None"):
        LogisticRegression(C="auto", penalty=None).fit(X, y)


def test_partitions_that_cannot_be_learned_from_are_named():
    X, y = example()
    X[2500, 1] = np.nan
    with pytest.raises(ValueError, match="partition 2: Input X contains NaN"):
        LogisticRegression().fit(da.from_array(X, chunks=(1000, -1)), da.from_array(y, chunks=1000))
    good, labels = example(n=10)
    wide = [dask.delayed(good), dask.delayed(good[:, :3])]
    with pytest.raises(ValueError, match="partition 1 has 3 columns, partition 0 has 5"):
        LogisticRegression().fit(wide, [dask.delayed(labels)] * 2)
    with pytest.raises(ValueError, match="X has 2 partitions, y has 1"):
        LogisticRegression().fit(wide, [dask.delayed(labels)])
    with pytest.raises(TypeError, match="y must be a collection as X is"):
        LogisticRegression().fit(wide, ["labels.parquet"])
    with pytest.raises(ValueError, match="checkpoint and progress would be ignored"):
        LogisticRegression().fit(good, labels, checkpoint="fit")


def test_a_plan_says_which_method_and_the_fit_agrees():
    X, y = arrays()
    model = LogisticRegression().fit(X, y)
    told = plan(4000, 5, 20_000, workers=2)
    assert told.best.method == "Newton"
    assert model.history_.solver == "newton"
    assert told.best.rounds / 2 <= len(model.history_.rounds) <= 2 * told.best.rounds


def test_nothing_of_every_example_comes_to_the_client():
    X, y = arrays()
    model = LinearSVC(C=0.1).fit(X.persist(), y.persist())
    samples = [one for one in model.history_.rounds if "glance" in one.what or "gather" in one.what]
    assert len(samples) == 2  # 256 rows, and some thousands to begin with, however many there are
    assert max(one.received for one in model.history_.rounds if one not in samples) < 4000
    assert all(one.seconds > 0 and one.sent > 0 for one in model.history_.rounds)


@pytest.fixture(scope="module")
def bits(cluster):
    """What a fit is that nothing happens to."""
    with Client(cluster, timeout="30s"):
        return {name: FITS[name][0](**FITS[name][1]).fit(*arrays()) for name in ("logistic", "hinge")}


def same_bits(one, other):
    return np.array_equal(one.coef_, other.coef_) and one.dual_gap_ == other.dual_gap_


@pytest.mark.parametrize("name", ["logistic", "hinge"])
@pytest.mark.own_cluster
def test_one_worker_and_three_find_the_same_bits(bits, name):
    kind, settings = FITS[name]
    for workers in (1, 3):
        with started(workers) as cluster, Client(cluster, timeout="30s"):
            assert same_bits(kind(**settings).fit(*arrays()), bits[name])


@pytest.mark.parametrize(("name", "when"), [("logistic", 3), ("hinge", 3), ("hinge", 8)])
@pytest.mark.own_cluster
def test_a_worker_that_is_killed_changes_no_bit(bits, name, when):
    kind, settings = FITS[name]
    with started(2) as cluster, Client(cluster, timeout="30s") as client:
        X, y = (one.persist() for one in arrays())
        pids, seen = client.run(os.getpid), []

        def progress(one, gap):
            seen.append(one)
            if len(seen) == when:
                os.kill(next(iter(pids.values())), signal.SIGKILL)

        assert same_bits(kind(**settings).fit(X, y, progress=progress), bits[name])
        assert len(seen) > when


def test_many_features_take_conjugate_gradients_on_the_workers():
    X = sparse.random(1500, 3500, 0.01, format="csr", random_state=0)
    y = np.where(X @ np.random.default_rng(0).normal(size=3500) > 0, "yes", "no")
    pieces = [slice(0, 400), slice(400, 1500)]
    delayed = [dask.delayed(X[one]) for one in pieces], [dask.delayed(y[one]) for one in pieces]
    model = LogisticRegression(tol=1e-6).fit(*delayed)
    assert near(model, alone("logistic", X, y))
    assert "conjugate gradients, which write no Hessian down; Dask, 2 partitions" in model.history_.reason
    assert linsep.verify(model, X, y)
    machine = LinearSVC().fit(*delayed)
    assert near(machine, linsep.LinearSVC().fit(X, y))
    assert "conjugate gradients, which write no Hessian down, and whose rounds do not grow" in machine.history_.reason
    assert machine.history_.solver == "multipliers"
    assert linsep.verify(machine, X, y)


@pytest.mark.own_cluster
def test_a_worker_that_spills_changes_no_bit():
    """Of 26 MB on one worker 10 may stay in memory."""
    limits = {"target": 10 / 2048, "spill": False, "pause": False, "terminate": False}
    settings = {f"distributed.worker.memory.{name}": value for name, value in limits.items()}
    shape = dict(count=4, n=40_000, d=10)
    with dask.config.set(settings):
        cluster = LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit="2GiB",
        )
    with cluster, Client(cluster, timeout="30s") as client:
        X, y = (one.persist() for one in arrays(**shape))
        model = LinearSVC(C=0.1).fit(X, y)
        (spilled,) = client.run(lambda dask_worker: dask_worker.data.spilled_total.disk).values()
        assert spilled > 0
        rows, labels = dask.compute(*arrays(**shape))
    assert same_bits(model, fit_here(LinearSVC(C=0.1), rows, labels, [40_000, 80_000, 120_000]))


@pytest.mark.own_cluster
def test_a_worker_that_comes_changes_no_bit(bits):
    with started(1) as cluster, Client(cluster, timeout="30s") as client:
        X, y = (one.persist() for one in arrays())
        seen = []

        def progress(one, gap):
            seen.append(one)
            if len(seen) == 4:
                cluster.scale(2)
                client.wait_for_workers(2, timeout=30)

        assert same_bits(LinearSVC(C=0.1).fit(X, y, progress=progress), bits["hinge"])


def test_a_client_that_is_lost_goes_on_from_its_checkpoint(cluster, bits, tmp_path):
    script = textwrap.dedent("""
        import os, sys
        sys.path[:0] = sys.argv[3:]
        from distributed import Client
        from test_dask import LinearSVC, arrays
        seen = []
        def progress(one, gap):
            seen.append(one)
            if len(seen) == 7:
                os.kill(os.getpid(), 9)
        with Client(sys.argv[1], timeout="30s"):
            LinearSVC(C=0.1).fit(*arrays(), checkpoint=sys.argv[2], progress=progress)
        """)
    path, here = tmp_path / "fit", os.path.dirname(__file__)
    words = [cluster.scheduler_address, path, here, os.path.join(here, "..", "shared")]
    died = subprocess.run([sys.executable, "-c", script, *words], timeout=120)
    assert died.returncode == -signal.SIGKILL
    model = LinearSVC(C=0.1).fit(*arrays(), checkpoint=path)
    assert [one.seconds > 0 for one in model.history_.rounds[:8]] == [False] * 6 + [True] * 2
    assert same_bits(model, bits["hinge"])


@pytest.mark.parametrize("error", [RuntimeError("cannot reshape"), RecursionError("too deep")])
def test_an_error_of_our_own_is_no_lost_worker(monkeypatch, error):
    def broken(self, groups):
        raise error

    monkeypatch.setattr(DaskEngine, "_made", broken)
    monkeypatch.setattr(DaskEngine, "_held_together", lambda self: [])
    monkeypatch.setattr(DaskEngine, "_by_tasks", lambda self, *_: "by tasks")
    with pytest.raises(type(error), match=str(error)):
        DaskEngine(None, []).run(b"", [])


@pytest.mark.parametrize("error", [OSError("no answer"), RuntimeError("Worker holding Actor was lost.  Status: lost")])
def test_the_work_of_a_lost_worker_goes_over_to_tasks(monkeypatch, error):
    def broken(self, groups):
        raise error

    monkeypatch.setattr(DaskEngine, "_made", broken)
    monkeypatch.setattr(DaskEngine, "_held_together", lambda self: [])
    monkeypatch.setattr(DaskEngine, "_by_tasks", lambda self, *_: "by tasks")
    assert DaskEngine(None, []).run(b"", []) == "by tasks"
