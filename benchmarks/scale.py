"""How time and memory of a fit grow with the examples, up to what a machine holds: text, JSON and a picture.

    python benchmarks/scale.py [--dense 10e6] [--sparse 5e6] [--steps 5] [--out FOLDER]

Made data, in single precision: dense rows of 50 columns, and sparse rows of 20 entries in a fifth as many columns as
rows. Sizes double up to those asked for; each fit, to a gap of 1e-4, is a process of its own. Time should grow no
faster than the stored entries do.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

HERE = Path(__file__).resolve().parent
LOSSES = ("logistic", "hinge", "l1")
WIDTH, ENTRIES, ROWS_TO_COLUMN = 50, 20, 5
Fact = dict[str, Any]


def made(kind: str, rows: int) -> tuple[Any, np.ndarray]:
    """Return examples whose labels a plane explains but for noise; of sparse ones, with words as rare as in texts."""
    rng = np.random.default_rng(0)
    if kind == "dense":
        X = rng.standard_normal((rows, WIDTH), dtype=np.float32)
        scores = X @ rng.standard_normal(WIDTH, dtype=np.float32)
        return X, scores + 3.0 * rng.logistic(size=rows) > 0
    columns = max(100, rows // ROWS_TO_COLUMN)
    # The k-th column is drawn with a chance that falls like 1/√k, which is the square of a uniform number.
    indices = (columns * rng.random(rows * ENTRIES, dtype=np.float32) ** 2).astype(np.int32)
    np.minimum(indices, columns - 1, out=indices)
    indptr = np.arange(0, rows * ENTRIES + 1, ENTRIES)
    X = sparse.csr_array((np.full(rows * ENTRIES, 0.25, np.float32), indices, indptr), shape=(rows, columns))
    X.sum_duplicates()
    return X, X @ rng.standard_normal(columns, dtype=np.float32) + 0.3 * rng.logistic(size=rows) > 0


def model(loss: str) -> Any:
    import linsep

    if loss == "hinge":
        return linsep.LinearSVC(loss="hinge", tol=1e-4)
    return linsep.LogisticRegression(penalty="l1" if loss == "l1" else "l2", tol=1e-4)


def fit(kind: str, rows: int, loss: str, answer: Any) -> None:
    """Fit in this process, and send the seconds, the memory beyond that of the data, and the gap."""
    X, y = made(kind, rows)
    estimator, before = model(loss), peak()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        start = time.perf_counter()
        estimator.fit(X, y)
        seconds = time.perf_counter() - start
    stored = X.nnz if sparse.issparse(X) else X.size
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sparse.issparse(X) else X.nbytes
    answer.put(
        dict(
            kind=kind,
            loss=loss,
            rows=rows,
            columns=X.shape[1],
            stored=stored,
            seconds=seconds,
            memory=(peak() - before) / size,
            gap=estimator.certificate_.relative_gap,
            said=[str(each.message) for each in said],
        )
    )


def peak() -> float:
    """Bytes that this process has had in memory at the most."""
    return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measured(kind: str, rows: int, loss: str, limit: float) -> Fact | None:
    """Return what a fit took; None where it took longer than the limit."""
    spawn = multiprocessing.get_context("spawn")
    answer = spawn.Queue()
    process = spawn.Process(target=fit, args=(kind, rows, loss, answer))
    process.start()
    process.join(limit)
    if process.is_alive():
        process.kill()
        process.join()
        return None
    return None if process.exitcode else answer.get()


def text(facts: list[Fact]) -> str:
    lines = [f"{'':18} {'rows':>11} {'columns':>9} {'seconds':>8} {'ns an entry':>12} {'memory':>7} {'gap':>8}"]
    for fact in facts:
        each = 1e9 * fact["seconds"] / fact["stored"]
        lines.append(
            f"{fact['kind'] + ', ' + fact['loss']:18} {fact['rows']:11,} {fact['columns']:9,} {fact['seconds']:8.2f} "
            f"{each:12.1f} {fact['memory']:7.2f} {fact['gap']:8.1e}  {' '.join(fact['said'])[:80]}"
        )
    lines.append("memory: what the fit took at its peak beyond the data, over the size of the data")
    return "\n".join(lines) + "\n"


def draw(facts: list[Fact], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 2, figsize=(12, 5), layout="constrained", sharey=True)
    for axes, kind in zip(panels, ("dense", "sparse"), strict=True):
        for loss in LOSSES:
            points = [
                (fact["stored"], fact["seconds"]) for fact in facts if (fact["kind"], fact["loss"]) == (kind, loss)
            ]
            if points:
                stored, seconds = zip(*points, strict=True)
                line = axes.loglog(stored, seconds, "o-", label=loss)[0]
                proportional = [seconds[0] * n / stored[0] for n in stored]
                axes.loglog(stored, proportional, ":", color=line.get_color())
        axes.set(title=f"{kind} (dotted: in proportion)", xlabel="stored entries", ylabel="seconds to a gap of 1e-4")
        if axes.lines:
            axes.legend()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description="How time and memory of a fit grow with the examples.")
    parser.add_argument("--dense", type=float, default=10e6, help="rows of the largest dense fit [1e7]")
    parser.add_argument("--sparse", type=float, default=5e6, help="rows of the largest sparse fit [5e6]")
    parser.add_argument("--steps", type=int, default=5, help="sizes, each twice the one before [5]")
    parser.add_argument("--losses", nargs="+", choices=LOSSES, default=LOSSES)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for one process [600]")
    parser.add_argument("--out", type=Path, default=HERE / "out", help="folder for scale.txt, scale.json, scale.png")
    args = parser.parse_args()
    facts: list[Fact] = []
    for kind, most in (("dense", args.dense), ("sparse", args.sparse)):
        for loss in args.losses:
            for rows in (int(most / 2**step) for step in reversed(range(args.steps))):
                fact = measured(kind, rows, loss, args.limit)
                print(kind, loss, rows, "not in time" if fact is None else f"{fact['seconds']:.2f} s", file=sys.stderr)
                if fact is None:
                    break
                facts.append(fact)
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "scale.txt").write_text(text(facts), encoding="utf-8")
    (args.out / "scale.json").write_text(json.dumps(facts, indent=1), encoding="utf-8")
    draw(facts, args.out / "scale.png")
    print(text(facts))


if __name__ == "__main__":
    main()
