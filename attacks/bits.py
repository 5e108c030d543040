"""Determinism: the same data and seed give the same bits, and what may change them changes no optimum.

    python attacks/bits.py [--rows 3000] [--json out.json]

Every estimator is fitted in one process for each surrounding (numbers of threads of the kernels and of BLAS,
kernels for AVX2, for any processor, in plain Python) and there in many ways: again, from a copy with other strides,
from a table, read-only, mapped from a file, with other index types, under other names of the classes, with its rows in
another order, dense or sparse.

*Bits* are compared where the arithmetic is the same: threads, repetition, strides, tables, index types, names of the
classes, prediction in parts. Elsewhere sums are added in another order or rounded otherwise (rows in another order,
dense against sparse, float32, kernels, BLAS threads): there the objectives have to lie within `tol` of each other.

The exit code is 1 if one of these does not hold.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

#: Settings of a process, and whether the bits are those of the first.
SURROUNDINGS: dict[str, tuple[dict[str, str], bool]] = {
    "one thread": ({}, True),
    "two threads": ({"LINSEP_NUM_THREADS": "2"}, True),
    "seven threads": ({"LINSEP_NUM_THREADS": "7"}, True),
    "another hash seed": ({"PYTHONHASHSEED": "12345"}, True),
    "two threads of BLAS": ({"OPENBLAS_NUM_THREADS": "2"}, False),
    "kernels for any processor": ({"LINSEP_KERNELS": "baseline"}, False),
    "kernels in plain Python": ({"LINSEP_KERNELS": "reference"}, False),
}
SLOW = "kernels in plain Python"  # a tenth of the rows
TOL = 1e-4

LOSSES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "logistic": lambda z: np.logaddexp(0, -z),
    "hinge": lambda z: np.maximum(0, 1 - z),
    "squared_hinge": lambda z: np.maximum(0, 1 - z) ** 2,
    "square": lambda z: (1 - z) ** 2,
}


def cases() -> dict[str, tuple[Callable[[], Any], int, str | None]]:
    """Return estimators: how each is made, of how many classes, and the loss of what it minimises with C = 1."""
    import linsep

    return {
        "logistic": (linsep.LogisticRegression, 2, "logistic"),
        "logistic, L1": (lambda: linsep.LogisticRegression(l1_ratio=1.0, C=0.1), 2, None),
        "logistic, dual": (lambda: linsep.LogisticRegression(solver="dual", random_state=3), 2, "logistic"),
        "softmax": (linsep.LogisticRegression, 3, "softmax"),
        "hinge": (linsep.LinearSVC, 2, "hinge"),
        "hinge, dual": (lambda: linsep.LinearSVC(solver="dual", random_state=3), 2, "hinge"),
        "squared hinge": (lambda: linsep.LinearSVC(loss="squared_hinge"), 2, "squared_hinge"),
        "least squares": (lambda: linsep.LeastSquaresClassifier(C=1.0), 2, "square"),
        "stochastic": (lambda: linsep.SGDClassifier(random_state=3, max_iter=5, tol=None), 2, None),
        "perceptron": (lambda: linsep.Perceptron(max_iter=20, random_state=3), 2, None),
        "C by cross-validation": (lambda: linsep.LogisticRegressionCV(Cs=4, cv=3), 2, None),
    }


def data(n: int, K: int) -> tuple[np.ndarray, np.ndarray]:
    """Return overlapping classes: a third of the entries are zero."""
    rng = np.random.default_rng(17)
    X = rng.standard_normal((n, 12)) * (rng.random((n, 12)) > 1 / 3)
    scores = X @ rng.standard_normal((12, K)) + rng.standard_normal((n, K))
    return X, np.argmax(scores, axis=1)


def ways(X: np.ndarray, y: np.ndarray, folder: Path) -> Iterator[tuple[str, Any, Any, str, np.ndarray | None]]:
    """Yield each way to give the same: rows, labels, the way whose bits it has to have ("" for none), their order."""
    import pandas as pd

    names = np.array(["apple", "pear", "quince"])
    wide = np.empty((2 * len(X), 2 * X.shape[1]))
    wide[::2, ::2] = X
    locked = X.copy()
    locked.flags.writeable = False
    np.save(folder / "rows.npy", X)
    yield "an array", X, y, "an array", None
    yield "again", X, y, "an array", None
    yield "columns first", np.asfortranarray(X), y, "an array", None
    yield "every other row and column of a larger one", wide[::2, ::2], y, "an array", None
    yield "backwards in memory", X[::-1].copy()[::-1], y, "an array", None
    yield "read-only", locked, y, "an array", None
    yield "mapped from a file", np.load(folder / "rows.npy", mmap_mode="r"), y, "an array", None
    yield "a table", pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]), y, "an array", None
    yield "other byte order", X.astype(">f8"), y, "an array", None
    yield "classes by name", X, names[y], "an array", None
    yield "classes −5, 2, 40", X, np.array([-5, 2, 40])[y], "an array", None
    yield "sparse", sparse.csr_array(X), y, "sparse", None
    wider = sparse.csr_array(X)
    wider.indices, wider.indptr = wider.indices.astype(np.int64), wider.indptr.astype(np.int64)
    yield "sparse with 64-bit indices", wider, y, "sparse", None
    yield "sparse by columns", sparse.csc_array(X), y, "sparse", None
    yield "sparse triples, entries in any order", _triples(X), y, "sparse", None
    order = np.random.default_rng(1).permutation(len(X))
    yield "rows in another order", X[order], y[order], "", order
    yield "float32", X.astype(np.float32), y, "", None


def _triples(X: np.ndarray) -> sparse.coo_array:
    triples = sparse.coo_array(X)
    order = np.random.default_rng(2).permutation(triples.nnz)
    return sparse.coo_array((triples.data[order], (triples.row[order], triples.col[order])), shape=X.shape)


def objective(loss: str, X: np.ndarray, y: np.ndarray, coef: np.ndarray, intercept: np.ndarray) -> float:
    """P at C = 1, in NumPy."""
    scores = X @ coef.T + intercept
    if loss == "softmax":
        losses = np.logaddexp.reduce(scores, axis=1) - scores[np.arange(len(y)), y]
    else:
        losses = LOSSES[loss](np.where(y == 1, 1, -1) * scores[:, 0])
    return float((coef**2).sum() / 2 + losses.sum())


def child(n: int) -> None:
    """Print what every way gave, in JSON: a digest of the bits, and the objective."""
    warnings.simplefilter("ignore")
    found: dict[str, dict[str, list[Any]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (make, K, loss) in cases().items():
            X, y = data(n, K)
            for way, rows, labels, like, _ in ways(X, y, Path(folder)):
                model = make().fit(rows, labels)
                value = None if loss is None else objective(loss, X, y, model.coef_, model.intercept_)
                found.setdefault(name, {})[way] = [digest(model.coef_, model.intercept_), value, like]
            whole = digest(model.decision_function(X))
            parts = digest(np.concatenate([model.decision_function(part) for part in np.array_split(X, 7)]))
            found[name]["prediction"] = [whole, None, "prediction"]
            found[name]["prediction in parts"] = [parts, None, "prediction"]
    print(json.dumps(found))


def digest(*arrays: np.ndarray) -> str:
    """Return what tells bits from other bits."""
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()[:16]


def near(one: float | None, other: float | None) -> bool:
    """Say whether two objectives may both be within `tol` of one optimum."""
    return one is None or other is None or abs(one - other) <= 1.01 * TOL * max(one, other)


def compared(found: dict[str, dict[str, dict[str, list[Any]]]]) -> tuple[Counter[str], list[str]]:
    """Return how many comparisons there were of each sort, and those that do not hold."""
    counts: Counter[str] = Counter()
    faults = []
    first = next(iter(found))
    for around, models in found.items():
        for model, by_way in models.items():
            for way, (bits, value, like) in by_way.items():
                # BLAS, which the plain kernels ask, may add the products of fewer rows in another order.
                if like in by_way and not (around == SLOW and like == "prediction"):
                    counts["ways with the same bits"] += 1
                    if bits != by_way[like][0]:
                        faults.append(f"{around}, {model}: {way} gives other bits than {like}")
                if around != SLOW and not near(value, models[model]["an array"][1]):
                    faults.append(f"{around}, {model}: {way} gives another optimum")
                counts["ways with the same optimum"] += value is not None
                if around in (first, SLOW):
                    continue
                there = found[first][model][way]
                if SURROUNDINGS[around][1]:
                    counts["surroundings with the same bits"] += 1
                    if bits != there[0]:
                        faults.append(f"{around}, {model}: {way} gives other bits than with {first}")
                else:
                    counts["surroundings with the same optimum"] += value is not None
                    if not near(value, there[1]):
                        faults.append(f"{around}, {model}: {way} gives another optimum than with {first}")
    return counts, faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path, help="a file for all digests")
    chosen = parser.parse_args()
    if chosen.child:
        child(chosen.rows)
        return 0
    found = {}
    for around, (settings, _) in SURROUNDINGS.items():
        alone = {"LINSEP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
        rows = chosen.rows // 10 if around == SLOW else chosen.rows
        command = [sys.executable, __file__, "--child", "--rows", str(rows)]
        done = subprocess.run(command, env=os.environ | alone | settings, capture_output=True, text=True, check=True)
        found[around] = json.loads(done.stdout)
        print(f"{around}: {sum(map(len, found[around].values()))} ways", file=sys.stderr, flush=True)
    counts, faults = compared(found)
    for sort, count in counts.items():
        print(f"{count} {sort}")
    for fault in faults:
        print(fault)
    print(f"{len(faults)} of these do not hold")
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1), "utf-8")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
