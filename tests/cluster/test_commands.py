"""`linsep fit` and `verify` on a real cluster of processes and a real session of Spark: the file of one machine."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from command import call, run, spawn
from linsep import cli
from linsep.cli.speech import Waiting
from linsep.cluster import sessions
from linsep.persistence.reading import read
from people import people

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A table in one file, and in three, one of them without rows; some rows lack a label, all have a weight."""
    pytest.importorskip("pandas")
    folder = tmp_path_factory.mktemp("files")
    table, y = people(1500)
    table = table.assign(label=np.where(np.arange(1500) % 97 == 5, None, y), w=1.0 + np.arange(1500) % 3)
    (folder / "parts").mkdir()
    for k, one in enumerate((slice(0, 400), slice(400, 400), slice(400, 1500))):
        table[one].to_parquet(folder / "parts" / f"{k}.parquet")
    table.to_parquet(folder / "whole.parquet")
    return folder


def coefficients(path):
    model = json.loads(path.read_text())
    return np.array(model["coefficients"]), model


def same_file(found, alone):
    """The same sections, encodings and coefficients as far as the proofs say."""
    (W, one), (V, other) = coefficients(found), coefficients(alone)
    assert one.keys() == other.keys()
    assert one["encoding"]["columns"] == other["encoding"]["columns"]
    assert one["encoding"]["levels"] == other["encoding"]["levels"]
    assert one["data"]["rows"] == other["data"]["rows"]
    np.testing.assert_allclose(W, V, atol=0.02)
    return True


ASKED = ("--target", "label", "--sample-weight", "w", "--ignore", "row", "--tol", "1e-6")


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_a_fit_on_dask_writes_the_file_of_one_machine(files, tmp_path, loss):
    pytest.importorskip("distributed", reason="pip install 'linsep[dask]'")
    found, alone = tmp_path / "found.json", tmp_path / "alone.json"
    asked = (*ASKED, "--loss", loss, "--reference", "town=Ede")
    done = spawn("fit", files / "parts" / "*.parquet", *asked, "--dask", "local", "-o", found)
    said = done.err.decode()
    assert done.code == 0, said
    assert "the cluster shows what it does at http://127.0.0.1:" in said
    assert "16 rows without a value in 'label' are left out" in said
    assert "Dask, 3 partitions, sums in " in said
    run("fit", files / "whole.parquet", *asked, "-o", alone)
    assert same_file(found, alone)
    out = run("verify", found, files / "whole.parquet")
    assert "bit for bit (SHA-256)" in out
    done = spawn("verify", found, files / "parts", "--dask", "local")
    assert done.code == 0, done.err
    said, before = (text.splitlines()[0].split(" lies within ") for text in (done.out.decode(), out))
    assert said[0] == before[0]  # the gap itself may differ by rounding
    assert said[1].partition(" of the optimum")[2] == before[1].partition(" of the optimum")[2]
    other = spawn("verify", found, files / "parts" / "0.parquet", "--dask", "local")
    assert other.code == 1
    assert b"the data have 395 rows" in other.out
    run("predict", found, files / "whole.parquet", "-o", tmp_path / "p.csv")


@pytest.mark.slow
def test_rounds_and_gap_are_told_on_the_way(files, monkeypatch):
    pytest.importorskip("distributed", reason="pip install 'linsep[dask]'")
    monkeypatch.setattr(Waiting, "_is_due", lambda waiting: True)  # each time, not twice a second
    done = call("fit", files / "parts" / "*.parquet", *ASKED, "--dask", "local")
    assert done.code == 0, done.err
    assert re.search(rb"round \d+, gap \d\.\de-\d\d", done.err), done.err


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs a Java runtime (Debian: default-jre-headless)")
def test_a_fit_on_spark_writes_the_file_of_one_machine(files, tmp_path):
    pytest.importorskip("pyspark", reason="pip install 'linsep[spark]'")
    found, alone = tmp_path / "found.json", tmp_path / "alone.json"
    done = spawn("fit", files / "parts", *ASKED, "--spark", "local[2]", "-o", found)
    said = done.err.decode()
    assert done.code == 0, said
    assert "the cluster shows what it does at http://" in said
    assert "Spark, 3 partitions, sums in " in said
    run("fit", files / "whole.parquet", *ASKED, "-o", alone)
    assert same_file(found, alone)
    assert "bit for bit (SHA-256)" in run("verify", found, files / "whole.parquet")


@pytest.mark.slow
def test_a_checkpoint_of_a_command_is_gone_on_with(files, tmp_path):
    pytest.importorskip("distributed", reason="pip install 'linsep[dask]'")
    asked = ("fit", files / "parts", *ASKED, "--dask", "local", "--checkpoint", tmp_path / "rounds")
    first, again = tmp_path / "first.json", tmp_path / "again.json"
    for path in (first, again):
        assert spawn(*asked, "-o", path).code == 0
        assert (tmp_path / "rounds").read_bytes().startswith(b"linsep checkpoint 1\n")
    assert np.array_equal(coefficients(first)[0], coefficients(again)[0])
    other = spawn(*asked, "--C", "2")
    assert other.code == 2
    assert b"a checkpoint of another fit (C differ)" in other.err


@pytest.mark.slow
def test_C_is_chosen_on_a_cluster(files, tmp_path):
    whole, model = files / "whole.parquet", tmp_path / "model.json"
    asked = ["--target", "label", "--C", "auto", "--rule", "1se", "--score", "f1", "-o"]
    run("fit", whole, *asked, tmp_path / "alone.json")
    said = run("fit", files / "parts", *asked, model, "--dask", "local")
    assert "the smallest within one standard error of the best of 25: f1 of" in said
    found, alone = (read(path).model.choice_ for path in (model, tmp_path / "alone.json"))
    assert found["rows"] == alone["rows"]
    for one, other in zip(found["curve"], alone["curve"], strict=True):  # folds are others
        assert abs(one["mean"] - other["mean"]) < 0.05
    assert "Verified" in run("verify", model, files / "parts", "--dask", "local")
    err = run(
        "fit", files / "parts", "--target", "label", "--C", "auto", "--score", "roc_auc", "--dask", "local", code=2
    )
    assert "--score roc_auc asks for scores of single rows, which stay on the workers" in err


@pytest.mark.slow
def test_clusters_that_do_not_answer_are_told_of_in_time(files):
    pytest.importorskip("distributed", reason="pip install 'linsep[dask]'")
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # but does not listen
        address = f"127.0.0.1:{nobody.getsockname()[1]}"
        begun = time.monotonic()
        err = run("fit", files / "parts", "--target", "label", "--dask", f"tcp://{address}", code=2)
        assert f"--dask tcp://{address}: no scheduler of Dask answers there within 15 s" in err
        assert time.monotonic() - begun < 60
    err = run("fit", files / "parts", "--target", "label", "--dask", "nonsense://1", code=2)
    assert "--dask nonsense://1: no scheduler of Dask answers there" in err


@pytest.mark.slow
def test_spark_that_is_not_there_is_told_of_in_time(files):
    pytest.importorskip("pyspark", reason="pip install 'linsep[spark]'")
    if shutil.which("java") is None:
        pytest.skip("Spark needs a Java runtime (Debian: default-jre-headless)")
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        master = f"spark://127.0.0.1:{nobody.getsockname()[1]}"
        err = run("fit", files / "parts", "--target", "label", "--spark", master, code=2)
        assert f"--spark {master}: no master of Spark answers there" in err
    err = run("fit", files / "parts", "--target", "label", "--spark", "bogus", code=2)
    assert "--spark bogus: give spark://host:7077, yarn, k8s://…, or local[*] for this machine" in err


class OutOfStep:
    """A session of Spark whose connection has the answer of a call that was cut short; and its builder."""

    def __init__(self):
        self.stopped = False
        self.sparkContext = self  # as Spark spells it
        self.uiWebUrl = None

    def __getattr__(self, name):
        if name in ("master", "appName", "config", "getOrCreate"):
            return lambda *_: self
        raise AttributeError(name)

    def stop(self):
        self.stopped = True
        raise KeyError("p")  # what py4j makes of it


@pytest.mark.parametrize(
    ("end", "stopped"), [(cli._Ended(15), False), (KeyboardInterrupt(), False), (ValueError(), True)]
)
def test_a_signal_that_cuts_a_call_of_spark_short_asks_nothing_more_of_it(monkeypatch, end, stopped):
    sql = pytest.importorskip("pyspark.sql", reason="pip install 'linsep[spark]'")
    session = OutOfStep()
    monkeypatch.setattr(sql, "SparkSession", SimpleNamespace(builder=session))
    monkeypatch.setenv("JAVA_HOME", "somewhere")
    with pytest.raises(KeyError if stopped else type(end)), sessions.on_spark("local[2]"):
        raise end
    assert session.stopped == stopped


def test_a_signal_while_spark_starts_does_not_cut_the_start_short():
    begun, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def start():
        begun.set()
        if may_end.wait(10):
            ended.set()

    def press():
        begun.wait(10)
        signal.raise_signal(signal.SIGINT)

    presses = threading.Thread(target=press)
    presses.start()
    with pytest.raises(KeyboardInterrupt):
        sessions._aside(start)
    presses.join()
    may_end.set()
    assert ended.wait(10)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--dask", "local", "--spark", "local[2]"], "give one of --dask and --spark"),
        (["--dask", "local", "--max-memory", "1GB"], "--max-memory is not served on a cluster"),
        (["--dask", "local", "--test-share", "0.2"], "--test-share is not served on a cluster"),
        (["--dask", "local", "--calibrate", "sigmoid"], "--calibrate, is not served on a cluster"),
        (["--dask", "local", "--C", "auto", "--prove"], "--prove is not served on a cluster"),
        (["--checkpoint", "rounds"], "--checkpoint would be ignored: it belongs to --dask and --spark"),
    ],
)
def test_what_a_cluster_does_not_serve_is_refused(files, more, said):
    assert said in run("fit", files / "whole.parquet", "--target", "label", *more, code=2)


@pytest.mark.slow
def test_files_that_workers_cannot_read_are_named(files, tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    err = run("fit", tmp_path / "a.csv", "--target", "y", "--dask", "local", code=2)
    assert "a.csv: the workers of a cluster read Parquet and Arrow files" in err
    err = run("fit", tmp_path / "*.parquet", "--target", "y", "--dask", "local", code=2)
    assert "*.parquet: no such file; give a file, a folder, or a pattern such as 'data/*.parquet'" in err


@pytest.mark.slow
@pytest.mark.parametrize(("package", "option"), [("dask", "--dask"), ("pyspark", "--spark")])
def test_without_the_extra_the_command_says_what_to_install(files, package, option):
    script = f"import sys; sys.modules['{package}'] = None; from linsep.cli import main; sys.exit(main())"
    words = ["fit", str(files / "parts"), "--target", "label", option, "local"]
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    extra = option[2:]
    assert f"{option} needs {extra.title()}, which is not installed: pip install 'linsep[{extra}]'" in done.stderr


@pytest.mark.slow
def test_a_bad_file_among_others_is_named(files, tmp_path):
    pytest.importorskip("distributed", reason="pip install 'linsep[dask]'")
    for name in ("0", "2"):
        shutil.copy(files / "parts" / f"{name}.parquet", tmp_path / f"{name}.parquet")
    os.truncate(tmp_path / "2.parquet", 1000)
    done = call("fit", tmp_path, "--target", "label", "--dask", "local")
    assert done.code == 2
    assert f"{tmp_path}/2.parquet: the file is damaged or ends too early" in done.err.decode()
