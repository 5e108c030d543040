"""What a fit costs besides its solver, and the first fit of a process besides the second.

    python benchmarks/overhead.py [--repeats 5]

Every problem is fitted in processes of its own, in which nothing but linsep was imported before. The solver alone is
timed on the objective that the fit poses. Data are generated: a table, and short texts (words by Zipf's law, weighted
as TF-IDF does).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from typing import Any

import numpy as np
from scipy import sparse

import linsep
from linsep._core import Rows
from linsep.objective.examples import InMemory
from linsep.objective.heads import Margin
from linsep.objective.objective import Objective
from linsep.solvers import Automatic

WARM = 30  # fits after the second, of which the fastest counts


def table() -> tuple[Any, np.ndarray]:
    """1,000 rows of 20 columns."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 20))
    return X, np.where(X[:, 0] + X[:, 1] + rng.standard_normal(1000) > 0, 1, 0)


def texts() -> tuple[Any, np.ndarray]:
    """10,000 rows of about 16 out of 10,000 words, of length one; a word speaks for one class more or less."""
    rng = np.random.default_rng(0)
    n, d, words = 10_000, 10_000, 20
    columns = np.minimum(rng.zipf(1.3, (n, words)), d) - 1
    score = rng.standard_normal(d)[columns].sum(axis=1)
    weights = np.log1p(columns) + 1.0
    X = sparse.csr_matrix((weights.ravel(), (np.repeat(np.arange(n), words), columns.ravel())), shape=(n, d))
    X = X.multiply(1.0 / np.sqrt(X.multiply(X).sum(axis=1))).tocsr()
    return X, (score + 2.0 * rng.standard_normal(n) > 0).astype(int)


PROBLEMS = {"1,000 × 20": table, "10,000 short texts": texts}
ESTIMATORS = {"logistic": linsep.LogisticRegression, "hinge": linsep.LinearSVC}


def seconds(task: Any) -> float:
    """Return how long a task takes."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def in_this_process(problem: str, loss: str) -> dict[str, float]:
    """Time the first fit, the second, the fastest of many, and the solver alone."""
    X, y = PROBLEMS[problem]()
    estimator = ESTIMATORS[loss](**({"loss": "hinge"} if loss == "hinge" else {}), random_state=0)
    first, second = (seconds(lambda: estimator.fit(X, y)) for _ in range(2))
    warm = min(seconds(lambda: estimator.fit(X, y)) for _ in range(WARM))

    def objective() -> Objective:  # anew for every run: it keeps what it has computed
        return Objective(InMemory(Rows(X), y), Margin(linsep.losses.get(loss)), C=1.0)

    solver = Automatic(tol=estimator.tol).choose(objective())[0]

    def solve() -> None:
        solver.solve(objective(), seed=0)

    return {"first": first, "second": second, "warm": warm, "solver": min(seconds(solve) for _ in range(WARM))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5, help="processes for each problem; medians are shown")
    parser.add_argument("--one", nargs=2, metavar=("PROBLEM", "LOSS"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(in_this_process(*args.one)))
        return
    print(f"{'':30}{'first':>9}{'second':>9}{'warm':>9}{'solver':>9}   besides it   of the fit   first − second")
    for problem in PROBLEMS:
        for loss in ESTIMATORS:
            command = [sys.executable, __file__, "--one", problem, loss]
            runs = [json.loads(subprocess.check_output(command, text=True)) for _ in range(args.repeats)]
            first, second, warm, solver = (
                1e3 * float(np.median([run[name] for run in runs])) for name in ("first", "second", "warm", "solver")
            )
            times = "".join(f"{value:7.2f}ms" for value in (first, second, warm, solver))
            besides = warm - solver
            print(f"{problem + ', ' + loss:30}{times}{besides:10.2f}ms{besides / warm:12.0%}{first - second:15.2f}ms")


if __name__ == "__main__":
    main()
