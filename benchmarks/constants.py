"""Whether the tuned constants generalise: each is chosen on all data sets but one, and tried on that one.

    LINSEP_DATA=… python benchmarks/constants.py [--only dual leap] [--rows 20000] [--out FOLDER]

A constant takes its own value, half and twice that (about). On each data set the time of a fit to a gap of 1e-4 is
measured, in seconds of one processor. What is least by the geometric mean over all data sets but one is what one would
have set without having seen that one: the table shows how much longer the fit there takes with it than with its own
best value, beside the same for the value that is shipped. A constant that does not generalise shows a large number.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import time
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

os.environ |= {"LINSEP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import datasets
import numpy as np

HERE = Path(__file__).resolve().parent
SETS = {
    "a9a": "a9a",
    "ijcnn1": "ijcnn1",
    "20news": "twenty_newsgroups_binary",
    "debian": "debian_descriptions",
    "covtype": "covtype",
    "mnist37": "mnist_3_vs_7",
    "sms": "sms",
    "w8a": "w8a",
    "spambase": "spambase",
    "madelon": "madelon",
    "breast-cancer": "breast_cancer",
}


@dataclass(frozen=True)
class Constant:
    """One number of a `TUNED`: where it stands, the loss whose fits use it, and the values to try."""

    module: str
    name: str
    loss: str
    values: tuple[float, ...]

    @property
    def title(self) -> str:
        """Module and name, for people."""
        return f"{self.module.rpartition('.')[2]}.{self.name}"


CONSTANTS = [
    Constant("dual.descent", "brisk", "logistic", (0.2, 0.4, 0.8)),
    Constant("dual.descent", "first_smooth", "logistic", (4, 8, 16)),
    Constant("dual.descent", "long", "hinge", (25, 50, 100)),
    Constant("newton.newton", "sample_tol", "logistic", (3e-3, 1e-2, 3e-2)),
    Constant("newton.newton", "known", "logistic", (25, 50, 100)),
    Constant("newton.newton", "steep", "logistic", (0.12, 0.25, 0.5)),
    Constant("newton.augmented_lagrangian", "narrower", "hinge", (0.3, 0.5, 0.7)),
    Constant("newton.augmented_lagrangian", "share", "hinge", (4, 8, 16)),
    Constant("newton.augmented_lagrangian", "passes", "hinge", (50, 100, 200)),
    Constant("newton.proximal", "first", "l1", (64, 128, 256)),
    Constant("newton.proximal", "leap", "l1", (6.0, 12.0, 24.0)),
    Constant("newton.proximal", "stronger", "l1", (2.0, 3.0, 5.0)),
    Constant("newton.proximal", "per_feature", "l1", (20, 40, 80)),
    Constant("newton.proximal", "passes", "l1", (2, 4, 8)),
]


def some(X: Any, y: np.ndarray, most: int) -> tuple[Any, np.ndarray]:
    """Return at most so many of the rows, drawn at random."""
    if len(y) <= most:
        return X, y
    chosen = np.sort(np.random.default_rng(0).permutation(len(y))[:most])
    return X[chosen], y[chosen]


def model(loss: str) -> Any:
    import linsep

    if loss == "hinge":
        return linsep.LinearSVC(loss="hinge", tol=1e-4, random_state=0)
    return linsep.LogisticRegression(penalty="l1" if loss == "l1" else "l2", tol=1e-4, random_state=0)


def seconds(estimator: Any, X: Any, y: np.ndarray, repeats: int = 3) -> float:
    """Return the least time of a processor that a fit takes."""
    times = []
    while len(times) < repeats or (sum(times) < 0.05 and len(times) < 50):
        start = time.process_time()
        estimator.fit(X, y)
        times.append(time.process_time() - start)
    return min(times)


def measured(constant: Constant, data: dict[str, tuple[Any, np.ndarray]]) -> np.ndarray:
    """Return the seconds on each data set with each value."""
    module = importlib.import_module(f"linsep.solvers.{constant.module}")
    shipped, found = module.TUNED, np.empty((len(data), len(constant.values)))
    try:
        for i, (X, y) in enumerate(data.values()):
            for _ in range(2):  # the values by turns, so that what else the machine does meets all of them
                for j, value in enumerate(constant.values):
                    module.TUNED = replace(shipped, **{constant.name: value})
                    spent = seconds(model(constant.loss), X, y)
                    found[i, j] = spent if _ == 0 else min(found[i, j], spent)
    finally:
        module.TUNED = shipped
    return found


def left_out(found: np.ndarray) -> np.ndarray:
    """Return, for each data set, which value the others would have chosen."""
    relative = np.log(found / found.min(axis=1, keepdims=True))
    return (relative.sum(axis=0) - relative).argmin(axis=1)


def text(constants: list[Constant], names: list[str], tables: list[np.ndarray]) -> str:
    lines = [f"{'constant':30} {'shipped':>8} {'others choose':>14} {'worst, shipped':>22} {'worst, left out':>22}"]
    for constant, found in zip(constants, tables, strict=True):
        module = importlib.import_module(f"linsep.solvers.{constant.module}")
        own = getattr(module.TUNED, constant.name)
        lost = found / found.min(axis=1, keepdims=True)
        chosen = left_out(found)
        shipped = lost[:, constant.values.index(own)]
        blind = lost[np.arange(len(names)), chosen]
        picks = "/".join(f"{constant.values[k]:g}" for k in np.unique(chosen))
        worst = [f"{each.max():.2f} {names[int(each.argmax())]}" for each in (shipped, blind)]
        lines.append(f"{constant.title:30} {own:8g} {picks:>14} {worst[0]:>22} {worst[1]:>22}")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Whether the tuned constants hold on data that did not set them.")
    parser.add_argument("--data", type=Path, default=os.environ.get("LINSEP_DATA"), help="folder with the data sets")
    parser.add_argument("--only", nargs="+", default=[""], help="constants whose name contains one of these words")
    parser.add_argument("--rows", type=int, default=20_000, help="rows of a data set at the most [20000]")
    parser.add_argument("--out", type=Path, default=HERE / "out", help="folder for constants.txt and constants.json")
    args = parser.parse_args()
    if args.data is None:
        parser.error("--data (or LINSEP_DATA) must name the folder with the data sets")
    warnings.simplefilter("ignore")
    data = {name: some(*getattr(datasets, loader)(args.data), args.rows) for name, loader in SETS.items()}
    chosen = [one for one in CONSTANTS if any(word in one.title for word in args.only)]
    tables = []
    for constant in chosen:
        tables.append(measured(constant, data))
        print(constant.title, file=sys.stderr, flush=True)
    found = text(chosen, list(data), tables)
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "constants.txt").write_text(found, encoding="utf-8")
    facts = [
        dict(constant=one.title, loss=one.loss, values=one.values, sets=list(data), seconds=table.tolist())
        for one, table in zip(chosen, tables, strict=True)
    ]
    (args.out / "constants.json").write_text(json.dumps(facts, indent=1), encoding="utf-8")
    print(found)


if __name__ == "__main__":
    main()
