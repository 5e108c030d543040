"""What the race asks beyond fitting time: memory, the cost of `predict`, growth with the number of rows."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp
from contest import START_LIMIT, Limits, Worker, few_rows, progress, silence
from peers import LINSEP, Case

SHARES = (8, 4, 2, 1)  # growth: one eighth of the rows, a quarter, a half, all
FITS = 5  # growth: on a machine that others use too, one fit says little of a size; the best of these counts
PREDICT_ROWS = (1, 10, 1_000, 100_000, 1_000_000, 10_000_000)
#: predict: kinds of data with their columns, and how many rows they have at the most
PREDICTED = (("dense", 22, 10_000_000), ("dense", 54, 1_000_000), ("dense", 784, 100_000), ("csr", 1_000, 10_000_000))
ENTRIES = 10  # of a sparse row
Fact = dict[str, Any]


def in_child(function: Callable[..., Any], *args: Any, limit: float) -> Any:
    """Call `function(*args)` in a fresh process; None where it fails or takes too long."""
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=_answer, args=(theirs, function, args), daemon=True)
    process.start()
    theirs.close()
    try:
        answer = ours.recv() if ours.poll(limit) else f"more than {limit:g} s"
    except EOFError:
        answer = "the process died"
    process.kill()
    process.join()
    if isinstance(answer, str):
        progress(f"  {function.__name__}: {answer}")
        return None
    return answer


def _answer(connection: Connection, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    silence()
    try:
        connection.send(function(*args))
    except Exception as error:  # noqa: BLE001 -- a benchmark never fails
        connection.send(f"{type(error).__name__}: {error}")


# memory


def memory(case: Case, path: Path, limits: Limits) -> Fact:
    """Peak memory of a linsep fit above what was there before, in sizes of the input."""
    ratio = in_child(peak_over_input, case, path, limit=limits.ladder)
    return dict(problem=case.problem, loss=case.loss, ratio=ratio, goal=2.0 if case.sparse else 1.0)


def peak_over_input(case: Case, path: Path) -> float:
    X, y = joblib.load(path)
    LINSEP.build(case, 1e-4).fit(*few_rows(X, y))  # libraries and thread pools are not the fit's
    before = reset_peak()
    LINSEP.build(case, 1e-4).fit(X, y)
    return (peak() - before) / input_bytes(X)


def input_bytes(X: Any) -> int:
    return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sp.issparse(X) else X.nbytes


def reset_peak() -> int:
    """Make the present the peak, on Linux; `ru_maxrss` would remember loading, and the parent before `exec`."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak()


def peak() -> int:
    """Return the largest resident size, in bytes, since `reset_peak`."""
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


# predict


def predict(most_rows: int) -> list[Fact]:
    """Time of scikit-learn's `predict` over linsep's; linsep's cost per row over the same at the most rows."""
    facts: list[Fact] = []
    for kind, columns, most in PREDICTED:
        rows = tuple(rows for rows in PREDICT_ROWS if rows <= min(most, most_rows))
        facts += in_child(predict_ratios, kind, columns, rows, limit=START_LIMIT) or []
    return facts


def predict_ratios(kind: str, columns: int, sizes: tuple[int, ...]) -> list[Fact]:
    from sklearn.linear_model import LogisticRegression

    X, y = random_rows(kind, columns, max(sizes))
    few = few_rows(X, y)
    case = Case("random", "logistic", True, len(y), columns, kind == "csr")
    ours, theirs = LINSEP.build(case, 1e-4).fit(*few), LogisticRegression().fit(*few)
    facts = []
    for rows in sizes:
        part = X[:rows]
        seconds = best_seconds(ours.predict, part)
        ratio = best_seconds(theirs.predict, part) / seconds
        facts.append(dict(kind=kind, columns=columns, rows=rows, ratio=ratio, seconds=seconds))
    for fact in facts:
        fact["per_row"] = (fact["seconds"] / fact["rows"]) / (facts[-1]["seconds"] / facts[-1]["rows"])
    return facts


def random_rows(kind: str, columns: int, rows: int) -> tuple[Any, np.ndarray]:
    """Return standard normal rows, a few non-zeros each where they are sparse, labelled by their sum."""
    rng = np.random.default_rng(0)
    if kind == "dense":
        X = rng.standard_normal((rows, columns))
    else:
        steps = np.arange(ENTRIES, dtype=np.int32) * (columns // ENTRIES)
        indices = rng.integers(columns // ENTRIES, size=(rows, 1), dtype=np.int32) + steps
        indptr = np.arange(0, ENTRIES * rows + 1, ENTRIES, dtype=np.int32)
        X = sp.csr_matrix((rng.standard_normal(ENTRIES * rows), indices.ravel(), indptr), (rows, columns))
    return X, np.where(np.asarray(X.sum(axis=1)).ravel() > 0, 1.0, -1.0)


def best_seconds(function: Callable[[Any], Any], X: Any, trials: int = 5, enough: float = 0.02) -> float:
    """Return the best time of a call, each trial being as many calls as take `enough` seconds."""
    function(X)
    start = time.perf_counter()
    function(X)
    calls = max(1, int(enough / (time.perf_counter() - start)))
    return min(seconds_of(function, X, calls) for _ in range(trials)) / calls


def seconds_of(function: Callable[[Any], Any], X: Any, calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        function(X)
    return time.perf_counter() - start


# growth


def growth(case: Case, path: Path, folder: Path, limits: Limits) -> list[Fact]:
    """Seconds of a linsep fit on parts of the (shuffled) rows, and the ratio to half of them (at most 2 wanted)."""
    X, y = joblib.load(path)
    order = np.random.default_rng(0).permutation(len(y))
    facts: list[Fact] = []
    for share in SHARES:
        rows = np.sort(order[: len(y) // share])
        part = folder / "part"
        joblib.dump((X[rows], y[rows]), part)
        seconds = best_fit(
            Case(case.problem, case.loss, case.intercept, len(rows), *X.shape[1:], case.sparse), part, limits
        )
        before = facts[-1]["seconds"] if facts else None
        ratio = seconds / before if seconds and before else None
        facts.append(dict(problem=case.problem, loss=case.loss, rows=len(rows), seconds=seconds, ratio=ratio))
    return facts


def best_fit(case: Case, path: Path, limits: Limits) -> float | None:
    with Worker(case, LINSEP.name, path) as worker:
        first = worker.ask(1e-4, limits.run)
        if first is None:
            return None
        again = max(FITS, limits.repeats(first.seconds)) if limits.repeat else 1
        runs = [first, *(worker.ask(1e-4, limits.run) for _ in range(again - 1))]
        return min(run.seconds for run in runs if run is not None)
