"""Load: predictions through one loaded model, in turn and from 64 threads, with memory flat; a fit in 512 MB.

    python attacks/load.py [--calls 100000] [--seconds 10]

A model is saved and loaded, then asked for the class of one row again and again: by one caller for some seconds, by
64 threads for some seconds, and `--calls` times while resident memory is looked at. Answers are compared with those of
one call for all rows. Another process, whose address space is bounded, fits 100 MB of rows. The exit code is 1 if fewer
than 1,000 calls a second are answered, an answer is wrong, memory grows by more than 5 MB, or the fit fails.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

import linsep

ENOUGH, CALLERS, GROWTH, ROOM = 1000.0, 64, 5.0, 512  # calls a second, threads, MB, MB
FIT = """
import resource, sys
import numpy as np
import linsep, sklearn.linear_model, scipy.optimize
linsep.LogisticRegression().fit(np.eye(4), [0, 1, 0, 1])
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
# What libraries have reserved by now, without using it, is not counted.
resource.setrlimit(resource.RLIMIT_AS, (size + {room} * 2**20,) * 2)
rng = np.random.default_rng(0)
X = rng.standard_normal((250_000, 50))
y = X @ rng.standard_normal(50) + rng.standard_normal(250_000) > 0
model = linsep.LogisticRegression().fit(X, y)
assert model.converged_
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def loaded() -> tuple[Any, np.ndarray, np.ndarray]:
    """Return a model from its file, rows, and their classes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 20))
    y = np.where(X @ rng.standard_normal(20) + rng.standard_normal(2000) > 0, "yes", "no")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        linsep.save(linsep.LogisticRegression().fit(X, y), path, data=(X, y))
        model = linsep.load(path)
    return model, X, model.predict(X)


def asked(model: Any, X: np.ndarray, classes: np.ndarray, until: float, first: int, counts: list[int]) -> None:
    """Ask for one row after the other until then; count answers, and those that are wrong."""
    k = first
    while time.perf_counter() < until:
        k = (k + 1) % len(X)
        counts[0] += 1
        counts[1] += bool(model.predict(X[k : k + 1])[0] != classes[k])


def in_turn(seconds: float) -> tuple[float, int]:
    """Return calls a second of one caller, and wrong answers."""
    ready, counts = loaded(), [0, 0]
    began = time.perf_counter()
    asked(*ready, began + seconds, 0, counts)
    return counts[0] / (time.perf_counter() - began), counts[1]


def at_once(seconds: float) -> tuple[float, int]:
    """Return calls a second of 64 threads together, and wrong answers."""
    model, X, classes = loaded()
    all_counts, began = [[0, 0] for _ in range(CALLERS)], time.perf_counter()
    threads = [
        threading.Thread(target=asked, args=(model, X, classes, began + seconds, 31 * k, counts))
        for k, counts in enumerate(all_counts)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    passed = time.perf_counter() - began
    return sum(counts[0] for counts in all_counts) / passed, sum(counts[1] for counts in all_counts)


def growth(calls: int) -> float:
    """Return by how many MB resident memory grows over so many calls, after a tenth of them."""
    model, X, _ = loaded()
    for k in range(calls // 10):
        model.predict(X[k % 2000 : k % 2000 + 1])
    before = resident()
    for k in range(calls):
        model.predict(X[k % 2000 : k % 2000 + 1])
    return resident() - before


def resident() -> float:
    """Return what this process has in memory, in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def fitted_in_little() -> tuple[bool, str]:
    """Return whether 100 MB of rows are fitted with so much more address space, and what it took or said."""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "LINSEP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", FIT.replace("{room}", str(ROOM))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    return done.returncode == 0, done.stdout.strip() or done.stderr.strip()[-200:]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=10.0)
    chosen = parser.parse_args()
    faults = 0
    for name, (rate, wrong) in {"one caller": in_turn(chosen.seconds), "64 threads": at_once(chosen.seconds)}.items():
        print(f"{name}: {rate:.0f} predictions a second, {wrong} wrong")
        faults += rate < ENOUGH or wrong > 0
    grown = growth(chosen.calls)
    print(f"{chosen.calls} calls: resident memory grew by {grown:.2f} MB")
    faults += grown > GROWTH
    done, said = fitted_in_little()
    print(f"a fit of 100 MB of rows with {ROOM} MB of address space: " + (f"{said} MB resident" if done else said))
    return 1 if faults or not done else 0


if __name__ == "__main__":
    sys.exit(main())
