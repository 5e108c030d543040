"""Fits on a real session of Spark: columns of every kind, processes that die, files that vanish."""

import os
import shutil
import signal
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import linsep
from here import fit_here

if shutil.which("java") is None:
    pytest.skip("Spark needs a Java runtime (Debian: default-jre-headless)", allow_module_level=True)
pytest.importorskip("pyspark", reason="pip install 'linsep[spark]'")

import pandas as pd
import pyarrow as pa
from pyspark.ml.linalg import Vectors
from pyspark.sql import SparkSession

from linsep.cluster import fitting
from linsep.cluster.choosing import Choosing
from linsep.cluster.examples import OnCluster
from linsep.cluster.fitting import PartitionError
from linsep.data.encoding import TableEncoding
from linsep.spark import LeastSquaresClassifier, LinearSVC, LogisticRegression, blocks, verify
from people import people

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # py4j leaves its sockets to the collector
]

FITS = {
    "logistic": (LogisticRegression, dict(tol=1e-6)),
    "l1": (LogisticRegression, dict(l1_ratio=1.0, C=0.05, tol=1e-6)),
    "hinge": (LinearSVC, dict(C=0.1)),
    "squares": (LeastSquaresClassifier, dict(C=2.0)),
}
NAMES = list("abcde")


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.local.dir": str(tmp_path_factory.mktemp("spark")),
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        "spark.sql.shuffle.partitions": "2",
    }
    builder = SparkSession.builder.master("local[2]").appName("linsep tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def example(n=4000, d=5):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = np.where(X @ np.arange(-1.0, d - 1.0) + rng.logistic(size=n) > 0.5, "yes", "no")
    return X, y, rng.uniform(0.5, 2.0, n)


@pytest.fixture(scope="module")
def table():
    X, y, weight = example()
    return pd.DataFrame(X, columns=NAMES).assign(y=y, s=weight, is_yes=y == "yes")


@pytest.fixture(scope="module")
def frame(spark, table):
    return spark.createDataFrame(table).coalesce(1).repartitionByRange(5, "a").sortWithinPartitions(*NAMES).cache()


def alone(name, X, y, weight=None):
    kind, settings = FITS[name]
    return getattr(linsep, kind.__name__)(**settings).fit(X, y, *([] if weight is None else [weight]))


def collected(df):
    return pd.DataFrame([row.asDict() for row in df.collect()])


def near(found, alone):
    """Whether two fits agree as far as their gaps say: in the objective, and in the norm of the penalty."""
    assert found.converged_
    both = [getattr(one.certificate_, "_all", [one.certificate_]) for one in (found, alone)]
    for one, other in zip(*both, strict=True):
        assert abs(one.primal - other.primal) <= one.gap + other.gap
    if not getattr(found, "l1_ratio", None):
        reach = sum(np.sqrt(2 * sum(max(0.0, one.gap) for one in some)) for some in both)
        assert np.linalg.norm(found.coef_ - alone.coef_) <= reach + 1e-7
    return True


def same_bits(one, other):
    return np.array_equal(one.coef_, other.coef_) and one.dual_gap_ == other.dual_gap_


def lose(spark):
    """Remove the second partition of all that there are."""
    for folder in Path(spark.conf.get("spark.local.dir")).glob("blockmgr-*/linsep-*/1"):
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def kept(frame):
    with blocks(frame, "y", features=NAMES) as kept:
        yield kept


@pytest.fixture(scope="module")
def bits(kept):
    """What a fit on the same partitions in this process finds."""
    parts = [kept.part(k) for k in range(5)]
    X, y = np.concatenate([one.rows.X for one in parts]), np.concatenate([one.labels[one.codes] for one in parts])
    cuts = np.cumsum([one.n for one in parts])[:-1].tolist()
    return {name: fit_here(kind(**settings), X, y, cuts) for name, (kind, settings) in FITS.items()}


@pytest.mark.parametrize("name", FITS)
def test_columns_and_what_is_predicted_of_them(frame, table, kept, bits, name):
    kind, settings = FITS[name]
    X = table[NAMES]
    model = kind(**settings).fit(frame, "y", features=NAMES)
    assert near(model, alone(name, X, table["y"]))
    assert same_bits(model, bits[name])  # of an engine without machines, as on Dask
    assert list(model.feature_names_in_) == NAMES
    assert model.score(frame, "y") == pytest.approx(model.score(X, table["y"]))
    found = collected(model.decision_function(model.predict(frame)))
    assert (found["prediction"] == model.predict(found[NAMES])).all()
    np.testing.assert_allclose(found["rawPrediction"], model.decision_function(found[NAMES]), rtol=1e-12)
    if name == "logistic":
        found = collected(model.predict_proba(frame))
        np.testing.assert_allclose(np.stack(found["probability"]), model.predict_proba(found[NAMES]), rtol=1e-12)
    assert verify(model, kept)


@pytest.mark.parametrize("kind", ["dense", "sparse", "mixed", "array"])
def test_vectors_weights_and_three_classes(spark, kind):
    X, _, s = example(n=1500)
    X = np.where(np.abs(X) > 0.8, X, 0.0)
    y = np.digitize(X[:, 1] + X[:, 2] ** 2, [0.5, 2.0])

    def vector(i):
        if kind == "array":
            return X[i].tolist()
        if kind == "dense" or (kind == "mixed" and (i % 3 == 0 or i > 1000)):
            return Vectors.dense(X[i])
        return Vectors.sparse(5, {int(j): X[i, j] for j in np.flatnonzero(X[i])})

    rows = [(vector(i), int(y[i]), float(s[i])) for i in range(1500)]
    df = spark.createDataFrame(rows, ["features", "label", "weight"]).coalesce(3)
    for name in ("logistic", "hinge"):
        model = FITS[name][0](**FITS[name][1]).fit(df, weight="weight")
        assert near(model, alone(name, sparse.csr_matrix(X), y, s))
    assert verify(model, df, weight="weight")
    assert not verify(model, df)  # other weights are other data
    found = collected(model.decision_function(model.predict(df)))
    assert (found["prediction"] == model.predict(X)).all()
    np.testing.assert_allclose(np.stack(found["rawPrediction"]), model.decision_function(X), rtol=1e-9, atol=1e-12)
    assert model.score(df, "label", "weight") == pytest.approx(model.score(X, y, s))


def test_partitions_that_cannot_be_learned_from_are_named(spark, frame, table):
    bad = table.copy()
    bad.loc[2500, "c"] = np.nan
    df = spark.createDataFrame(bad, schema=frame.schema).coalesce(1)
    with pytest.raises(PartitionError, match=r"partition 0: column 'c' is missing \(null or NaN\) in its row 2500"):
        LogisticRegression().fit(df, "y", features=NAMES)
    with pytest.raises(PartitionError, match=r"partition 0: the label is missing \(null\) in its row 1"):
        LogisticRegression().fit(spark.createDataFrame([(1.0, 1), (2.0, None)], "x double, label int").coalesce(1))
    wide = spark.createDataFrame([(Vectors.dense([1.0, 2.0]), 1), (Vectors.dense([1.0]), 0)], ["features", "label"])
    with pytest.raises(PartitionError, match="partition 0: its row 1 has 1 numbers, its row 0 has 2"):
        LogisticRegression().fit(wide.coalesce(1))
    with pytest.raises(PartitionError, match="partition 1 has 1 columns, partition 0 has 2"):
        LogisticRegression().fit(wide)
    with pytest.raises(ValueError, match="one class only"):
        LinearSVC().fit(frame.where("y = 'yes'"), "y", features=NAMES)
    with pytest.raises(ValueError, match="partitions are empty"):
        LinearSVC().fit(frame.where("a > 100"), "y", features=NAMES)
    with pytest.raises(TypeError, match="column 'm' is map<string,double>, neither a number nor text nor a date"):
        LinearSVC().fit(frame.selectExpr("is_yes", "map('a', a) as m"), "is_yes", features=["m"])
    infinite = frame.selectExpr("y", "'x' as town", "if(a > 2, double('inf'), a) as a")
    with pytest.raises(PartitionError, match=r"partition 4 row \d+, column 'a': 'inf' is not a finite number"):
        LinearSVC().fit(infinite, "y")
    with pytest.raises(ValueError, match="no column 'label'; it has a, b"):
        LinearSVC().fit(frame.select("a", "b"))


def test_tables_with_text_and_gaps_are_encoded_as_on_one_machine(spark):
    table, y = people()
    df = spark.createDataFrame(table.assign(label=y)).coalesce(1).repartitionByRange(4, "row")
    df = df.sortWithinPartitions("row").cache()
    rows = pa.Table.from_pandas(table)
    encoding = TableEncoding.fit(rows)
    X = encoding.transform(rows)
    for name in ("logistic", "hinge"):
        kind, settings = FITS[name]
        model = kind(**settings).fit(df)
        assert near(model, alone(name, X, y))
        assert model.encoding_.names == encoding.names
        found = collected(model.predict(df)).sort_values("row")
        assert (found["prediction"].to_numpy() == model.predict(table)).all()
        assert model.score(df, "label") == pytest.approx(model.score(table, y))
        assert verify(model, df)
    assert collected(model.predict(df.where("row < 0"))).empty


def test_C_is_chosen_over_the_partitions(kept, monkeypatch):
    monkeypatch.setattr(fitting, "Choosing", partial(Choosing, 2, grid=(1e-4, 0.1)))  # a round is dear here
    model = LogisticRegression(C="auto").fit(kept)
    assert model.scores_.shape == (2, 2)
    assert model.Cs_[np.argmax(model.scores_.mean(axis=0))] == model.C_
    assert verify(model, kept)


def test_empty_and_skewed_partitions(spark, table):
    """One row, none, all but one of the others, and the last."""
    pieces = [slice(0, 1), slice(1, 1), slice(1, 3999), slice(3999, 4000)]
    rows = [table.iloc[one].to_numpy().tolist() for one in pieces]
    rdd = spark.sparkContext.parallelize(rows, 4).flatMap(lambda some: some)
    df = spark.createDataFrame(
        rdd, ", ".join(f"{name} double" for name in NAMES) + ", y string, s double, is_yes boolean"
    )
    for name in ("logistic", "hinge"):
        model = FITS[name][0](**FITS[name][1]).fit(df, "y", features=NAMES)
        assert same_bits(model, fit_here(FITS[name][0](**FITS[name][1]), *example()[:2], [1, 1, 3999]))


def test_nothing_of_every_example_comes_to_the_driver(kept):
    model = LinearSVC(C=0.1).fit(kept)
    samples = [one for one in model.history_.rounds if "glance" in one.what or "gather" in one.what]
    assert len(samples) == 2
    assert max(one.received for one in model.history_.rounds if one not in samples) < 4000
    assert all(one.seconds > 0 and one.sent > 0 for one in model.history_.rounds)
    assert "Spark, 5 partitions" in model.history_.reason
    with pytest.raises(ValueError, match="would be ignored"):
        LinearSVC().fit(kept, "y")


@pytest.mark.parametrize(("name", "when"), [("logistic", 3), ("hinge", 3), ("hinge", 8)])
@pytest.mark.parametrize("lost", ["process", "files"])
def test_what_is_lost_on_the_way_changes_no_bit(spark, kept, bits, name, when, lost):
    kind, settings = FITS[name]
    pids = set(spark.sparkContext.parallelize(range(4), 4).map(lambda _: os.getpid()).collect())
    seen = []

    def progress(one, gap):
        seen.append(one)
        if len(seen) == when and lost == "process":
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
        elif len(seen) == when:
            lose(spark)

    assert same_bits(kind(**settings).fit(kept, progress=progress), bits[name])
    assert len(seen) > when


def test_a_process_that_is_killed_inside_a_task_changes_no_bit(spark, kept, bits, tmp_path, monkeypatch):
    """While it computes a partition, and while it sums over one in a round of a fit."""

    def killed_once(flag):  # in here: the executors know nothing of this module
        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        os.kill(os.getpid(), signal.SIGKILL)

    flag = str(tmp_path / "while computing")

    def rows(k):
        killed_once(flag)
        rng = np.random.default_rng(k)
        return [(float(rng.normal()), int(rng.integers(2))) for _ in range(50)]

    df = spark.createDataFrame(spark.sparkContext.parallelize(range(3), 3).flatMap(rows), "x double, label int")
    model = LogisticRegression().fit(df)
    assert os.path.exists(flag)
    assert same_bits(model, LogisticRegression().fit(df))

    in_round, passed = str(tmp_path / "in a round"), OnCluster.sum

    def killing(examples, task, blocks=None):
        def deadly(block):
            if block.first:  # some partitions have been summed over by then
                killed_once(in_round)
            return task(block)

        return passed(examples, deadly if examples._number == 4 else task, blocks)

    monkeypatch.setattr(OnCluster, "sum", killing)
    assert same_bits(LinearSVC(C=0.1).fit(kept), bits["hinge"])
    assert os.path.exists(in_round)


def test_a_lost_driver_goes_on_from_its_checkpoint(kept, bits, tmp_path):
    class Lost(Exception):  # noqa: N818
        pass

    seen = []

    def progress(one, gap):
        seen.append(one)
        if len(seen) == 7:
            raise Lost

    with pytest.raises(Lost):
        LinearSVC(C=0.1).fit(kept, checkpoint=tmp_path / "fit", progress=progress)
    model = LinearSVC(C=0.1).fit(kept, checkpoint=tmp_path / "fit")
    assert [one.seconds > 0 for one in model.history_.rounds[:8]] == [False] * 6 + [True] * 2
    assert same_bits(model, bits["hinge"])


def test_partitions_that_change_are_told(spark):
    """Rows that are drawn anew each time they are computed, and are computed twice."""

    def drawn(_):
        rng = np.random.default_rng()
        return [(float(rng.normal()), int(rng.integers(2))) for _ in range(50)]

    df = spark.createDataFrame(spark.sparkContext.parallelize(range(3), 3).flatMap(drawn), "x double, label int")
    seen = []

    def progress(one, gap):
        seen.append(one)
        if len(seen) == 2:
            lose(spark)

    with pytest.raises(ValueError, match="computed again and are not what they were"):
        LogisticRegression().fit(df, progress=progress)
