"""The fewest mistakes, against e01loss and a plain big-M model: python benchmarks/zero_one.py [--data FOLDER].

Every solver runs in a process of its own with the same time and memory limits. ``--peer PYTHON`` names the interpreter
of an environment in which the PyPI package e01loss is installed (it is not a dependency of anything here). Prints a
table with the ratio of each peer's time to linsep's, and writes ``benchmarks/out/zero_one.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

OUT = Path(__file__).parent / "out" / "zero_one.json"
MEMORY = 4 * 2**30
#: What a peer needs to start and to import, which its limit does not count.
START = 10.0
Fact = dict[str, Any]


# -- the problems -----------------------------------------------------------------------------------------------------


def noisy(n: int, d: int, noise: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([n, d])
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] + noise * rng.standard_normal(n) > 0, 1, -1)


def iris() -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    return X[y > 0], np.where(y[y > 0] == 1, 1, -1)


def breast_cancer() -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return X, np.where(y == 1, 1, -1)


def libsvm(path: Path) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(path))
    return X.toarray(), np.where(y == y.max(), 1, -1)


def problems(data: Path | None) -> dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]]:
    chosen: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
        "two features, 60": lambda: noisy(60, 2),
        "two features, 300": lambda: noisy(300, 2),
        "two features, 5000": lambda: noisy(5000, 2),
        "three features, 60": lambda: noisy(60, 3),
        "four features, 40": lambda: noisy(40, 4),
        "iris 2 vs 3": iris,
        "breast cancer": breast_cancer,
    }
    files = ("fourclass", "sonar_scale.bz2", "breast-cancer_scale", "heart_scale")
    if data is not None:
        chosen |= {name: lambda name=name: libsvm(data / name) for name in files}  # type: ignore[misc]
    return chosen


# -- the solvers, each inside its own process -------------------------------------------------------------------------


def by_linsep(X: np.ndarray, y: np.ndarray, limit: float) -> Fact:
    from linsep import ZeroOneClassifier

    begun = time.perf_counter()
    model = ZeroOneClassifier(time_limit=limit).fit(X, y)
    seconds = time.perf_counter() - begun
    wrong = int(np.count_nonzero(model.predict(X) != y))
    return dict(seconds=seconds, mistakes=wrong, lower=model.lower_bound_, proven=model.proven_)


def by_big_m(X: np.ndarray, y: np.ndarray, limit: float) -> Fact:
    """Min Σ e with z ≥ 1 − M e, |v| ≤ 100 in standardised features: what one would write down first."""
    from scipy import sparse
    from scipy.optimize import Bounds, LinearConstraint, milp

    begun = time.perf_counter()
    n, size = len(y), X.std(axis=0)
    A = y[:, None] * np.column_stack([(X - X.mean(axis=0)) / np.where(size > 0, size, 1.0), np.ones(n)])
    D, box = A.shape[1], 100.0
    M = 1.0 + box * np.abs(A).sum(axis=1)
    constraint = LinearConstraint(sparse.hstack([sparse.csr_array(A), sparse.diags_array(M)], format="csr"), lb=1.0)
    bounds = Bounds(np.append(np.full(D, -box), np.zeros(n)), np.append(np.full(D, box), np.ones(n)))
    cost, whole = np.append(np.zeros(D), np.ones(n)), np.append(np.zeros(D, dtype=int), np.ones(n, dtype=int))
    solved = milp(cost, constraints=constraint, bounds=bounds, integrality=whole, options=dict(time_limit=limit))
    seconds = time.perf_counter() - begun
    v = np.zeros(D) if solved.x is None else solved.x[:D]
    lower = 0 if solved.mip_dual_bound is None else int(np.ceil(solved.mip_dual_bound - 1e-6))
    wrong = int(np.count_nonzero(A @ v <= 0))
    return dict(seconds=seconds, mistakes=wrong, lower=lower, proven=solved.status == 0 and wrong == lower)


def by_e01loss(name: str) -> Callable[[np.ndarray, np.ndarray, float], Fact]:
    def solve(X: np.ndarray, y: np.ndarray, limit: float) -> Fact:
        from e01loss import exact_classify01loss

        begun = time.perf_counter()
        mistakes = int(getattr(exact_classify01loss, f"exact_classify01loss_{name}")(X, y)[1])
        return dict(seconds=time.perf_counter() - begun, mistakes=mistakes, lower=mistakes, proven=True)

    return solve


SOLVERS: dict[str, Callable[[np.ndarray, np.ndarray, float], Fact]] = {
    "linsep": by_linsep,
    "HiGHS big-M": by_big_m,
    "e01loss cell": by_e01loss("cell"),
    "e01loss purge": by_e01loss("purge"),
}


def inside(solver: str, path: str, limit: float) -> None:
    """Run one solver on one file and print what came out of it."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    data = np.load(path)
    print("outcome", json.dumps(SOLVERS[solver](data["X"], data["y"], limit), default=int))


# -- the race ---------------------------------------------------------------------------------------------------------


def run(solver: str, path: str, limit: float, python: str) -> Fact:
    command = [python, __file__, "--inside", solver, "--file", path, "--limit", str(limit)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit + START, check=False)
    except subprocess.TimeoutExpired:
        return dict(failed=f"no answer in {limit:g} s")
    lines = [line for line in done.stdout.splitlines() if line.startswith("outcome ")]
    if lines:
        answer: Fact = json.loads(lines[-1].removeprefix("outcome "))
        return answer
    return dict(failed=(done.stderr.strip().splitlines() or ["no output"])[-1][:60])


def text(fact: Fact, ours: Fact) -> str:
    if "failed" in fact:
        return fact["failed"]
    interval = f"{fact['mistakes']}" if fact["proven"] else f"{fact['lower']} … {fact['mistakes']}"
    wrong = "  WRONG" if fact["proven"] and ours.get("proven") and fact["mistakes"] != ours["mistakes"] else ""
    times = f"  × {fact['seconds'] / ours['seconds']:.3g}" if fact is not ours and "seconds" in ours else ""
    return f"{interval} in {fact['seconds']:.2f} s{times}{wrong}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("LINSEP_DATA"), help="folder with the real data")
    parser.add_argument("--peer", default="", help="the interpreter of an environment that has e01loss")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each solver and problem")
    parser.add_argument("--only", default="", help="problems whose names hold this word")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        inside(arguments.inside, arguments.file, arguments.limit)
        return
    facts = []
    for name, load in problems(arguments.data and Path(arguments.data)).items():
        if arguments.only in name:
            facts.append(race(name, *load(), arguments.limit, arguments.peer))
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(facts, indent=1))


def race(name: str, X: np.ndarray, y: np.ndarray, limit: float, peer: str) -> Fact:
    print(f"\n{name}: {X.shape[0]} × {X.shape[1]}", flush=True)
    outcome: Fact = dict(problem=name, n=X.shape[0], d=X.shape[1], solvers={})
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "data.npz")
        np.savez(path, X=X, y=y)
        for solver in SOLVERS:
            if solver.startswith("e01loss") and not peer:
                continue
            fact = run(solver, path, limit, peer if solver.startswith("e01loss") else sys.executable)
            outcome["solvers"][solver] = fact
            print(f"  {solver:14} {text(fact, outcome['solvers']['linsep'])}", flush=True)
    return outcome


if __name__ == "__main__":
    main()
