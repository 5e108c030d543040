"""Fits on two workers of one thread each against one machine, dask-ml and MLlib, and what memory a client takes.

    LINSEP_DATA=… python benchmarks/cluster.py [--times 1 5] [--repeat 3] [--peers newton lbfgs] [--memory] [--spark]

covtype once and several times over (`pip install 'linsep[dask]' dask-ml`; with `--spark` on a local[2] session, against
MLlib, whose DataFrame is cached: `pip install 'linsep[spark]'`), data already there, to tol 1e-4; the least time of
each counts, and ratios are those of one run. A peer's objective is that of its plane in linsep's terms, relative to
linsep's bound on the optimum. `--memory` compares the client's peak, scheduler included, at two sizes.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from datasets import covtype

PARTITIONS = 8


def persisted(X: Any, y: Any, times: int) -> tuple[Any, Any]:
    """Return the rows so many times over as Dask arrays on the workers."""
    import dask.array as da
    from distributed import default_client, wait

    size = -(-len(X) // PARTITIONS)
    pieces = [slice(k, k + size) for k in range(0, len(X), size)] * times
    futures = default_client().scatter([(X[one], y[one]) for one in pieces], broadcast=False)
    first, second = (default_client().map(lambda pair, k=k: pair[k], futures) for k in (0, 1))
    sizes = [len(y[one]) for one in pieces]
    rows = [da.from_delayed(one, (n, X.shape[1]), X.dtype) for one, n in zip(_lazy(first), sizes, strict=True)]
    labels = [da.from_delayed(one, (n,), y.dtype) for one, n in zip(_lazy(second), sizes, strict=True)]
    there = da.concatenate(rows).persist(), da.concatenate(labels).persist()
    wait(there)
    return there


def _lazy(futures: list[Any]) -> list[Any]:
    import dask

    return [dask.delayed(future) for future in futures]


def least(fit: Any, repeat: int) -> tuple[float, Any]:
    """Return the least time of some fits after a first one, and the last model."""
    found, model = [], fit()
    for _ in range(repeat):
        begun = time.perf_counter()
        model = fit()
        found.append(time.perf_counter() - begun)
    return min(found), model


def against_one_machine(X: Any, y: Any, times: int, repeat: int) -> dict[str, tuple[float, Any]]:
    """Print how long linsep takes on both; return what it took on the cluster."""
    import linsep
    import linsep.dask

    x, labels = persisted(X, y, times)
    whole, all_labels = np.vstack([X] * times), np.concatenate([y] * times)
    out = {}
    for name in ("LogisticRegression", "LinearSVC"):
        there, model = least(lambda name=name: getattr(linsep.dask, name)().fit(x, labels), repeat)
        here, alone = least(lambda name=name: getattr(linsep, name)().fit(whole, all_labels), repeat)
        rounds = model.history_.rounds
        print(
            f"{times} × covtype, {name}: Dask {there:.2f} s, one machine {here:.2f} s, ratio {there / here:.2f}; "
            f"{len(rounds)} rounds, {sum(one.seconds for one in rounds):.2f} s in them; proven {model.converged_}, "
            f"objectives differ by {abs(model.certificate_.primal / alone.certificate_.primal - 1):.1e}",
            flush=True,
        )
        out[name] = there, model
    told = linsep.dask.plan(len(whole), X.shape[1], whole.size, 2, bandwidth=2e9, latency=1e-4).best
    print(f"  the plan says of the logistic one: {told}", flush=True)
    return out


def against_peers(X: Any, y: Any, times: int, solvers: list[str], ours: tuple[float, Any]) -> None:
    """Print how long dask-ml's solvers take, and how good their planes are."""
    from dask_ml.linear_model import LogisticRegression

    from linsep import losses

    x, labels = persisted(X, y, times)
    seconds, model = ours
    for solver in solvers:
        begun = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            peer = LogisticRegression(solver=solver, C=1.0).fit(x, labels)
        took = time.perf_counter() - begun
        w, b = np.ravel(peer.coef_), float(np.ravel(peer.intercept_)[0])
        z = np.where(y == 1, 1.0, -1.0) * (X @ w + b)
        objective = 0.5 * float(w @ w) + times * float(losses.Logistic().value(z).sum())
        above = objective / model.certificate_.dual - 1
        print(
            f"{times} × covtype, dask-ml {solver}: {took:.1f} s, {took / seconds:.0f} times as long; "
            f"its objective is {above:.1e} above the bound, ours {model.certificate_.relative_gap:.1e}",
            flush=True,
        )


def on_spark(X: Any, y: Any, times: int, repeat: int, *, peers: bool) -> None:
    """Print how long linsep takes on Spark, on one machine, and how long MLlib takes."""
    from pyspark.ml import classification
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import col

    import linsep
    import linsep.spark

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    local = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false"}
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "6g")
    for name, value in (local | {"spark.log.level": "ERROR", "spark.ui.showConsoleProgress": "false"}).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    whole, labels = np.vstack([X] * times), np.concatenate([y] * times)
    with tempfile.TemporaryDirectory() as folder:
        _parquet(Path(folder), whole, labels)
        df = spark.read.parquet(folder).select(array_to_vector(col("features")).alias("features"), "label").cache()
        df.count()
        with linsep.spark.blocks(df) as kept:
            for name in ("LogisticRegression", "LinearSVC"):
                there, model = least(lambda name=name: getattr(linsep.spark, name)().fit(kept), repeat)
                here, _ = least(lambda name=name: getattr(linsep, name)().fit(whole, labels), repeat)
                rounds = model.history_.rounds
                print(
                    f"{times} × covtype, {name}: Spark {there:.2f} s, one machine {here:.2f} s, ratio "
                    f"{there / here:.2f}; {len(rounds)} rounds, {sum(one.seconds for one in rounds):.2f} s in them",
                    flush=True,
                )
                if not peers:
                    continue
                peer = getattr(classification, name)(regParam=1.0 / len(labels), standardization=False, tol=1e-4)
                begun = time.perf_counter()
                found = peer.fit(df)
                took = time.perf_counter() - begun
                z = np.where(y == 1, 1.0, -1.0) * (X @ found.coefficients.toArray() + found.intercept)
                losses = times * float(linsep.losses.get(model._loss().name).value(z).sum())
                objective = 0.5 * float(found.coefficients.norm(2) ** 2) + losses
                print(
                    f"{times} × covtype, MLlib {name}: {took:.1f} s, {took / there:.1f} times as long; its objective "
                    f"is {objective / model.certificate_.dual - 1:.1e} above the bound",
                    flush=True,
                )
    spark.stop()


def _parquet(folder: Path, X: Any, y: Any) -> None:
    """Write rows as a column of lists, a file a partition."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    size = -(-len(X) // PARTITIONS)
    for k, first in enumerate(range(0, len(X), size)):
        rows, labels = X[first : first + size], y[first : first + size]
        ends = np.arange(0, rows.size + 1, X.shape[1], dtype=np.int32)
        features = pa.ListArray.from_arrays(ends, rows.ravel().astype(np.float64))
        table = pa.table({"features": features, "label": labels.astype(np.float64)})
        parquet.write_table(table, folder / f"{k}.parquet")


def client_memory(times: int) -> None:
    """Fit and verify on partitions that the workers make; print the peak memory of this process and its scheduler."""
    import dask
    import dask.array as da

    from linsep.dask import LinearSVC, LogisticRegression, verify

    def partition(k: int) -> tuple[Any, Any]:
        rng = np.random.default_rng(k)
        X = rng.normal(size=(50_000, 54))
        return X, (X[:, 0] + rng.logistic(size=50_000) > 0).astype(int)

    made = [dask.delayed(partition, nout=2)(k) for k in range(times)]
    X = da.concatenate([da.from_delayed(x, (50_000, 54), float) for x, _ in made]).persist()
    y = da.concatenate([da.from_delayed(labels, (50_000,), int) for _, labels in made]).persist()
    peaks = []
    for what in ("fits", "checks"):
        models = [kind().fit(X, y) for kind in (LogisticRegression, LinearSVC)]
        if what == "checks":
            assert all(verify(model, X, y) for model in models)
        peaks.append(f"{what} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    print(f"{50_000 * times:,} rows, client and scheduler at most: {', '.join(peaks)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, nargs="*", default=[1, 5])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--peers", nargs="*", default=["newton", "lbfgs"])
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--memory-of", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.memory:
        for times in (10, 40):
            subprocess.run([sys.executable, __file__, "--memory-of", str(times)], check=True)
        return
    if args.spark:
        X, y = covtype(Path(os.environ["LINSEP_DATA"]))
        for times in args.times:
            on_spark(X, y, times, args.repeat, peers=bool(args.peers))
        return
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster),
    ):
        if args.memory_of:
            client_memory(args.memory_of)
            return
        X, y = covtype(Path(os.environ["LINSEP_DATA"]))
        for times in args.times:
            ours = against_one_machine(X, y, times, args.repeat)
            if args.peers:
                against_peers(X, y, times, args.peers, ours["LogisticRegression"])


if __name__ == "__main__":
    main()
