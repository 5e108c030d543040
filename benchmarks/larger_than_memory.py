"""A Parquet file of 2 GB, fitted with ``--max-memory 512MB`` and in memory: peaks, times and their ratio, in one run.

``LINSEP_DATA=… python benchmarks/larger_than_memory.py [--gigabytes 2] [--limit 512MB]``. The file is covtype's rows
drawn again and again, with noise so that it does not compress; it is deleted afterwards.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

ROWS, COLUMNS = 100_000, 54
COMMAND = str(Path(sys.executable).with_name("linsep"))

#: Runs a command; prints its exit code, seconds, peak bytes, and its standard output.
MEASURED = """
import resource, subprocess, sys, time
began = time.perf_counter()
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
seconds = time.perf_counter() - began
print(done.returncode, seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024, done.stdout.decode())
"""


def write_parquet(folder: Path, path: Path, size: float) -> int:
    """Write covtype's rows with noise, half of the columns as float32, until the file has that many bytes."""
    options = csv.ReadOptions(autogenerate_column_names=True)
    raw = csv.read_csv(folder / "covtype.data.gz", read_options=options)
    X = np.column_stack([raw.column(j).to_numpy() for j in range(COLUMNS)]).astype(np.float32)
    y = (raw.column(COLUMNS).to_numpy() == 2).astype(np.int64)
    noise, rng, writer, rows = 0.05 * X.std(axis=0) + 1e-4, np.random.default_rng(0), None, 0
    while not path.exists() or path.stat().st_size < size:
        chosen = rng.integers(len(X), size=ROWS)
        values = X[chosen] + noise * rng.standard_normal((ROWS, COLUMNS))
        kinds = (np.float32, np.float64)
        columns: dict[str, Any] = {f"f{j}": values[:, j].astype(kinds[j % 2]) for j in range(COLUMNS)}
        table = pa.table({**columns, "kind": y[chosen]})
        writer = writer or parquet.ParquetWriter(path, table.schema, use_dictionary=["kind"])
        writer.write_table(table)
        rows += ROWS
    assert writer is not None
    writer.close()
    return rows


def measured(*words: object) -> tuple[float, float, Any]:
    """Run a command; return its seconds, its peak memory in MB, and its record."""
    done = subprocess.run([sys.executable, "-c", MEASURED, *map(str, words)], stdout=subprocess.PIPE, check=True)
    code, seconds, peak, said = done.stdout.decode().split(" ", 3)
    if code != "0":
        raise SystemExit(f"{' '.join(map(str, words))} ended with {code}")
    return float(seconds), float(peak) / 1e6, json.loads(said)


def larger_than_memory(data: Path, place: Path, size: float, limit: str, losses: tuple[str, ...]) -> None:
    """Print a line for each loss."""
    path = place / "covtype.parquet"
    rows = write_parquet(data, path, size)
    print(f"{path.stat().st_size / 1e9:.2f} GB of Parquet, {rows:,} rows, {COLUMNS} numbers each")
    for loss in losses:
        common = ("fit", path, "--target", "kind", "--loss", loss, "--json", "-o")
        part = measured(COMMAND, *common, place / "parts.json", "--max-memory", limit)
        whole = measured(COMMAND, *common, place / "whole.json")
        ours, theirs = (run[2]["certificate"]["primal"] for run in (part, whole))
        print(
            f"{loss:14} in {limit}: {part[0]:6.1f} s, peak {part[1]:5.0f} MB; in memory: {whole[0]:6.1f} s, peak "
            f"{whole[1]:6.0f} MB; ratio of times {part[0] / whole[0]:.2f}; objective {ours / theirs - 1:+.1e}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=2.0)
    parser.add_argument("--limit", default="512MB")
    parser.add_argument("--losses", default="logistic")
    asked = parser.parse_args()
    if not (folder := os.environ.get("LINSEP_DATA")):
        raise SystemExit("LINSEP_DATA must name the folder with covtype.data.gz")
    with tempfile.TemporaryDirectory(prefix="linsep-benchmark-") as place:
        larger_than_memory(
            Path(folder), Path(place), asked.gigabytes * 1e9, asked.limit, tuple(asked.losses.split(","))
        )


if __name__ == "__main__":
    main()
