"""A cluster to work on, by its address or on this machine, for as long as it is needed.

Nothing waits longer than `PATIENCE` for a cluster that does not answer.
"""

from __future__ import annotations

import logging
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from .tables import Piece, Tables

#: Seconds after which a cluster that does not answer is not there.
PATIENCE = 15.0
LOCAL = "local"


@dataclass(frozen=True)
class Session:
    """A cluster: where it shows what it does, and tables on it, a partition for each number that is read."""

    dashboard: str | None
    tables: Callable[[Callable[[int], Piece], int], Tables]


@contextmanager
def on_dask(address: str) -> Iterator[Session]:
    """Yield a Dask cluster: one that runs, or processes of this machine, which end with it."""
    try:
        import dask
        from distributed import Client, LocalCluster

        from .dask import DaskTables
    except ImportError as error:
        raise ValueError("--dask needs Dask, which is not installed: pip install 'linsep[dask]'") from error

    def tables(read: Callable[[int], Piece], count: int) -> Tables:
        return DaskTables(client, [dask.delayed(read, pure=False)(k) for k in range(count)])

    if address == LOCAL:
        quiet: dict[str, Any] = dict(host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=logging.ERROR)
        with (
            LocalCluster(processes=True, threads_per_worker=1, **quiet) as cluster,
            Client(cluster, timeout=PATIENCE) as client,
        ):
            yield Session(client.dashboard_link, tables)
        return
    try:
        client = Client(address, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"--dask {address}: no scheduler of Dask answers there within {PATIENCE:g} s; start one (`dask scheduler`, "
            "`dask worker`) and give its address, tcp://host:8786, or say --dask local"
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as error:
            raise ValueError(
                f"--dask {address}: the scheduler has no workers; start some: dask worker {address}"
            ) from error
        yield Session(client.dashboard_link, tables)


@contextmanager
def on_spark(master: str) -> Iterator[Session]:
    """Yield a session of Spark."""
    try:
        from pyspark.sql import SparkSession

        from .on_spark import OfFiles, SparkTables
    except ImportError as error:
        raise ValueError("--spark needs Spark, which is not installed: pip install 'linsep[spark]'") from error
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        raise ValueError("--spark needs a Java runtime, which is not installed (Debian: default-jre-headless)")
    _check_answers(master)
    settings = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    with tempfile.TemporaryDirectory(prefix="linsep-spark-") as folder:
        settings["spark.sql.warehouse.dir"] = folder
        if master.startswith(LOCAL):
            settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.master(master).appName("linsep")
        for name, value in settings.items():
            builder = builder.config(name, value)
        try:
            spark = _aside(builder.getOrCreate)
        except Exception as error:  # whatever Java says
            said = (str(error).strip().splitlines() or [type(error).__name__])[-1]
            raise ValueError(f"--spark {master}: no session of Spark starts ({said[:200]})") from error

        def tables(read: Callable[[int], Piece], count: int) -> Tables:
            numbers = spark.sparkContext.parallelize([(k,) for k in range(count)], count)
            return SparkTables(spark.createDataFrame(numbers, "k int"), OfFiles(read))

        signalled = False
        try:
            yield Session(spark.sparkContext.uiWebUrl, tables)
        except BaseException as error:
            signalled = not isinstance(error, Exception)
            raise
        finally:
            # A signal cuts a call short whose answer would be taken for that of the next one, and Java ends with us.
            if not signalled:
                spark.stop()


def _aside(start: Callable[[], Any]) -> Any:
    """Return what another thread starts: a signal that comes meanwhile ends the waiting, and not the start.

    Spark removes the folder in which Java shall say where it listens when it is interrupted there, and a Java that does
    not find it goes on for ever; one that has started ends with the process that asked for it.
    """
    pool = ThreadPoolExecutor(1)
    try:
        task = pool.submit(start)
        while wait([task], timeout=0.1).not_done:  # a signal may land in any thread: this one hears of it as it wakes
            pass
        return task.result()
    finally:
        pool.shutdown(wait=False)


def _check_answers(master: str) -> None:
    """Raise where nobody listens at the address of a standalone cluster: Spark would try for minutes."""
    masters = "spark://host:7077, yarn, k8s://…, or local[*] for this machine"
    if not master.startswith((LOCAL, "spark://", "yarn", "k8s://")):
        raise ValueError(f"--spark {master}: give {masters}")
    parts = urlsplit(master)
    if parts.scheme != "spark":
        return
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 7077), timeout=PATIENCE):
            pass
    except (OSError, ValueError) as error:
        raise ValueError(
            f"--spark {master}: no master of Spark answers there within {PATIENCE:g} s; give {masters}"
        ) from error
