"""How long `verify` takes, against another state of this project: ratios in one run.

    python benchmarks/verifying.py --against <another checkout> [--repeats 7] [--rounds 3]

Each checkout fits the same models on the same data in a process of its own and verifies them, the checkouts by turns;
the least time of each counts. The kernels of both have to be built (`pip install -e .`, or copied beside `_core`).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent


def problems() -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield a name, a fitted model, and the data that it was fitted on."""
    import numpy as np
    from scipy import sparse
    from sklearn.datasets import load_breast_cancer, load_digits, load_iris
    from sklearn.preprocessing import scale

    import linsep

    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 20))
    y = (X @ rng.normal(size=20) + rng.normal(size=10_000) > 0).astype(int)
    wide = sparse.random_array((5_000, 20_000), density=2e-3, rng=rng, format="csr")
    words = (wide @ rng.normal(size=20_000) > 0).astype(int)
    cancer, sick = load_breast_cancer(return_X_y=True)
    cancer = scale(cancer)
    digits, which = load_digits(return_X_y=True)
    iris, kind = load_iris(return_X_y=True)
    logistic, svc = linsep.LogisticRegression, linsep.LinearSVC
    for name, model, data in (
        ("logistic 10,000 × 20", logistic(tol=1e-6), (X, y)),
        ("logistic 10,000 × 20, no penalty", logistic(C=None, tol=1e-6), (X, y)),
        ("logistic 10,000 × 20, L1", logistic(l1_ratio=1.0), (X, y)),
        ("hinge 10,000 × 20", svc(tol=1e-6), (X, y)),
        ("least squares 10,000 × 20", linsep.LeastSquaresClassifier(), (X, y)),
        ("logistic, sparse 5,000 × 20,000", logistic(), (wide, words)),
        ("hinge, sparse 5,000 × 20,000", svc(), (wide, words)),
        ("logistic, breast cancer", logistic(), (cancer, sick)),
        ("hard margin, two digits", linsep.HardMarginSVC(), (digits[which < 2], which[which < 2])),
        ("softmax, digits", logistic(), (digits, which)),
        ("one against the rest, digits", svc(), (digits, which)),
        ("perceptron, two digits", linsep.Perceptron(random_state=0), (digits[which < 2], which[which < 2])),
        ("zero-one, iris", linsep.ZeroOneClassifier(), (iris[kind > 0], kind[kind > 0])),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield name, model.fit(*data), *data


def least(function: Callable[[], Any], repeats: int) -> float:
    """Return the least of some times, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def measure(repeats: int) -> dict[str, float]:
    """Return the seconds that each check takes in this process."""
    from linsep import verify

    found = {}
    for name, model, X, y in problems():
        if not verify(model, X, y):
            raise SystemExit(f"{name}: an honest model is refused: {verify(model, X, y).reason}")
        found[name] = least(lambda model=model, X=X, y=y: verify(model, X, y), repeats)
    return found


def measured_in(checkout: Path, repeats: int) -> dict[str, float]:
    """Return what `measure` finds in a process that uses that checkout."""
    command = [sys.executable, __file__, "--measure", "--repeats", str(repeats)]
    run = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": str(checkout / "src")}, capture_output=True, text=True, check=False
    )
    if run.returncode:
        raise SystemExit(f"{checkout}: {run.stderr}")
    return dict(json.loads(run.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description="How long verify takes, against another checkout of linsep.")
    parser.add_argument("--against", type=Path, help="folder of the other checkout")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        print(json.dumps(measure(asked.repeats)))
        return
    if asked.against is None:
        parser.error("--against names the folder of another checkout to compare with")
    rounds = [[measured_in(tree, asked.repeats) for tree in (HERE, asked.against)] for _ in range(asked.rounds)]
    print(f"{'verify':36} {'here':>10} {'there':>10}   here / there")
    for name in rounds[0][0]:
        here, there = (min(found[side][name] for found in rounds) for side in (0, 1))
        print(f"{name:36} {here * 1e3:7.2f} ms {there * 1e3:7.2f} ms   {here / there:.2f}")


if __name__ == "__main__":
    main()
