"""Choosing C: cross-validation against scikit-learn's, against one fit, and the proven choice against both.

    python benchmarks/choosing.py [--data FOLDER] [--only a9a breast_cancer …] [--values 50] [--no-peer] [--no-proof]

Every line is one data set, five folds and so many values of C from 1e-4 to 1e4: seconds of `LogisticRegressionCV` here,
how many times as long scikit-learn's takes with the fastest of its solvers (`n_jobs=2`), both with the best log loss
that any C has on held-out rows, how many cold fits at C = 1 it is worth, and how many times as long the proven choice
takes (within 1 mistake in 1,000), with what it proves.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegressionCV as TheirCV
from sklearn.model_selection import StratifiedKFold

from linsep import LogisticRegression, LogisticRegressionCV

#: Of each data set how many rows, drawn at random, and whether the choice is to be proven and scikit-learn is asked.
SETS: dict[str, tuple[int | None, bool, bool]] = {
    "breast_cancer": (None, True, False),
    "spambase": (None, True, False),
    "a9a": (None, True, True),
    "twenty_newsgroups_binary": (None, True, True),
    "covtype": (100_000, False, True),
}


def seconds(task: Callable[[], Any]) -> tuple[float, Any]:
    """Return how long a task takes, and what it returns."""
    start = time.perf_counter()
    done = task()
    return time.perf_counter() - start, done


def log_loss(model: Any, X: Any, y: Any) -> float:
    """Return the least mean log loss on held-out rows of any C, by the planes of the folds."""
    losses = []
    for (_, test), planes in zip(StratifiedKFold(5).split(X, y), model.coefs_paths_[:, 0, :, 0], strict=True):
        z = np.where(y[test] == model.classes_[1], 1.0, -1.0)[:, None] * (X[test] @ planes[:, :-1].T + planes[:, -1])
        losses.append(np.logaddexp(0.0, -z).mean(axis=0))
    return float(np.mean(losses, axis=0).min())


def peer(X: Any, y: Any, values: int) -> tuple[float, str, float]:
    """Return the seconds of scikit-learn's fastest solver, its name, and its least log loss."""
    solvers = ["lbfgs", "liblinear"] if sparse.issparse(X) and X.shape[1] > 1000 else ["lbfgs", "newton-cholesky"]
    found = []
    for solver in solvers:
        options: dict[str, Any] = dict(Cs=values, cv=5, n_jobs=2, scoring="accuracy", solver=solver, max_iter=1000)
        model = TheirCV(l1_ratios=(0.0,), use_legacy_attributes=False, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append((seconds(lambda model=model: model.fit(X, y))[0], solver, log_loss(model, X, y)))
    return min(found)


def line(name: str, folder: Path, values: int, *, ask_peer: bool, ask_proof: bool) -> str:
    """Return what is measured of one data set."""
    rows, prove, against = SETS[name]
    X, y = getattr(datasets, name)(folder)
    if rows is not None and rows < len(y):
        chosen = np.random.default_rng(0).choice(len(y), rows, replace=False)
        X, y = X[chosen], y[chosen]
    cold = min(seconds(lambda: LogisticRegression().fit(X, y))[0] for _ in range(3))
    runs = (seconds(lambda: LogisticRegressionCV(Cs=values, cv=5, n_jobs=2).fit(X, y)) for _ in range(2))
    ours, plain = min(runs, key=lambda run: run[0])
    said = f"{name:26} {ours:7.2f} s  {ours / cold:6.1f} fits"
    if against and ask_peer:
        theirs, solver, loss = peer(X, y, values)
        here = log_loss(plain, X, y)
        said += f"  scikit-learn ({solver}) {theirs / ours:6.1f} ×, log loss {loss:.5f}, here {here:.5f}"
    if prove and ask_proof:
        took, model = seconds(lambda: LogisticRegressionCV(Cs=values, cv=5, n_jobs=2, prove=True).fit(X, y))
        said += f"  proven {took / ours:6.1f} ×: {model.proof_}"
    return said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("LINSEP_DATA"), help="folder with the data sets")
    parser.add_argument("--only", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--values", type=int, default=50, help="of C")
    parser.add_argument("--no-peer", action="store_true", help="leave scikit-learn out, which takes minutes")
    parser.add_argument("--no-proof", action="store_true", help="leave the proven choice out")
    asked = parser.parse_args()
    if asked.data is None:
        parser.error("--data (or LINSEP_DATA) must name the folder with the data sets")
    for name in asked.only:
        asks = dict(ask_peer=not asked.no_peer, ask_proof=not asked.no_proof)
        print(line(name, Path(asked.data), asked.values, **asks), flush=True)


if __name__ == "__main__":
    main()
