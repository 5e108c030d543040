"""How long fits, passes, checks and streamed fits take, against another state of this project: ratios in one run.

    LINSEP_DATA=… python benchmarks/side_by_side.py --against <checkout> [--what fits passes verify streams files]

Each checkout does the same work on the same data in a process of its own, one run here, one run there; printed are the
least time of each, their ratio, and the median of the turns' ratios, which a machine that is slow for a while does not
move. Both are installed with their kernels, each in the `.venv` of its folder; a checkout that turns out to run the
other's code is an error. Without the data of the race, its problems and files are left out; `LINSEP_CACHE` names a
folder that keeps data as they were read for the next time.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.preprocessing import scale

HERE = Path(__file__).resolve().parent.parent
Task = tuple[str, Callable[[], Any]]


def made_up() -> dict[str, tuple[Any, Any]]:
    """Return data of several shapes that nobody has to download."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 20))
    wide = sparse.random_array((5_000, 20_000), density=2e-3, rng=rng, format="csr")
    cancer, sick = load_breast_cancer(return_X_y=True)
    digits, which = load_digits(return_X_y=True)
    iris, kind = load_iris(return_X_y=True)
    return {
        "10,000 × 20": (X, (X @ rng.normal(size=20) + rng.normal(size=10_000) > 0).astype(int)),
        "sparse 5,000 × 20,000": (wide, (wide @ rng.normal(size=20_000) > 0).astype(int)),
        "cancer": (scale(cancer), sick),
        "digits": (digits, which),
        "two digits": (digits[which < 2], which[which < 2]),
        "iris": (iris[kind > 0], kind[kind > 0]),
    }


def models() -> Iterator[tuple[str, Any, tuple[Any, Any]]]:
    """Yield a name, a model of each kind, and what to fit it on."""
    import linsep

    data, logistic, svc = made_up(), linsep.LogisticRegression, linsep.LinearSVC
    for words, model, name in (
        ("logistic", logistic(tol=1e-6), "10,000 × 20"),
        ("logistic, no penalty", logistic(C=None, tol=1e-6), "10,000 × 20"),
        ("logistic, L1", logistic(l1_ratio=1.0), "10,000 × 20"),
        ("hinge", svc(tol=1e-6), "10,000 × 20"),
        ("least squares", linsep.LeastSquaresClassifier(), "10,000 × 20"),
        ("logistic", logistic(), "sparse 5,000 × 20,000"),
        ("hinge", svc(), "sparse 5,000 × 20,000"),
        ("logistic", logistic(), "cancer"),
        ("hinge", svc(), "cancer"),
        ("hard margin", linsep.HardMarginSVC(), "two digits"),
        ("softmax", logistic(), "digits"),
        ("softmax, L1", logistic(l1_ratio=1.0), "digits"),
        ("one against the rest", svc(), "digits"),
        ("perceptron", linsep.Perceptron(random_state=0), "two digits"),
        ("zero-one", linsep.ZeroOneClassifier(), "iris"),
    ):
        yield f"{words}, {name}", model, data[name]


@functools.cache
def loaded(loader: str) -> tuple[Any, Any]:
    """Return a problem of the race, read once, by the first task that is not left out."""
    import datasets

    cache = joblib.Memory(os.environ.get("LINSEP_CACHE"), verbose=0)
    return cache.cache(getattr(datasets, loader))(Path(os.environ["LINSEP_DATA"]))


def fits(_: Path) -> Iterator[Task]:
    """Yield the fits of every kind of model, and of the race's problems to 1e-4 and 1e-6."""
    import linsep

    for name, model, (X, y) in models():
        yield name, lambda model=model, X=X, y=y: model.fit(X, y)
    if "LINSEP_DATA" not in os.environ:
        return
    from race import PROBLEMS

    for name, (loader, intercept) in PROBLEMS.items():
        for tol in (1e-4, 1e-6):
            logistic = linsep.LogisticRegression(C=1.0, tol=tol, fit_intercept=intercept, random_state=0)
            hinge = linsep.LinearSVC(loss="hinge", C=1.0, tol=tol, fit_intercept=False, random_state=0)
            for words, model in (("logistic", logistic), ("hinge", hinge)):
                yield f"{name}, {words}, {tol:g}", lambda loader=loader, model=model: model.fit(*loaded(loader))


def passes(_: Path) -> Iterator[Task]:
    """Yield one pass over data in memory: the objective and its gradient."""
    from linsep._core import Rows
    from linsep.losses import Logistic

    try:
        from linsep.objective.problem import Problem  # the layout by rooms
    except ImportError:
        from linsep.problem import Problem
    rng = np.random.default_rng(0)
    for n, d in ((600, 30), (50_000, 30), (12_000, 784), (200_000, 54)):
        X = rng.normal(size=(n, d))
        problem = Problem(Rows(X), np.sign(rng.normal(size=n)), Logistic(), C=1.0)
        w = rng.normal(size=d)
        many = max(1, 2_000_000 // (n * d))
        yield f"pass over {n:,} × {d}", lambda p=problem, w=w, many=many: [p.evaluate(w, 0.1) for _ in range(many)]


def checks(_: Path) -> Iterator[Task]:
    """Yield the checks of fitted models of every kind."""
    from linsep import verify

    for name, model, (X, y) in models():
        model.fit(X, y)
        if not verify(model, X, y):
            raise SystemExit(f"{name}: an honest model is refused: {verify(model, X, y).reason}")
        yield f"verify {name}", lambda model=model, X=X, y=y: verify(model, X, y)


def fitted_by_command(*words: Path | str) -> Callable[[], Any]:
    """Return a task that runs `linsep` with these words in a process of its own."""
    command = [sys.executable, "-c", "from linsep.cli import run; run()", *map(str, words)]
    return lambda: subprocess.run(command, check=True, capture_output=True)


def streams(folder: Path) -> Iterator[Task]:
    """Yield fits by the command line with little memory, each a process."""
    rng, names = np.random.default_rng(0), ",".join([*(f"f{j}" for j in range(30)), "y"])
    X = rng.normal(size=(300_000, 30)).round(4)
    scores = np.column_stack([X @ rng.normal(size=30) + rng.gumbel(size=len(X)) for _ in range(3)])
    for labels, kind in (((scores[:, 0] > 0).astype(int), "two"), (scores.argmax(axis=1), "three")):
        path = folder / f"{kind}.csv"
        if not path.exists():
            np.savetxt(path, np.column_stack([X, labels]), ["%g"] * 30 + ["%d"], ",", header=names, comments="")
        for loss in ("logistic", "hinge") if kind == "two" else ("logistic",):
            words = ("fit", path, "--target", "y", "--loss", loss, "--max-memory", "500MB", "-o", folder / "m.json")
            yield f"streamed {loss}, {kind} classes", fitted_by_command(*words)


def files(folder: Path) -> Iterator[Task]:
    """Yield the commands of files.py and larger_than_memory.py on smaller files, from start to model file."""
    if "LINSEP_DATA" not in os.environ:
        return
    import larger_than_memory
    from files import Bench, covtype_file, debian_files

    data = Path(os.environ["LINSEP_DATA"])
    bench = Bench(argparse.Namespace(data=data, size=2e8), folder)
    text, table, large = folder / "debian.svm", folder / "covtype.csv", folder / "large.parquet"
    if not text.exists():
        debian_files(bench)
        covtype_file(bench)
        larger_than_memory.write_parquet(data, large, 5e8)
    model = folder / "covtype.json"
    for loss in ("logistic", "hinge"):
        yield f"LIBSVM text, {loss}", fitted_by_command("fit", text, "--loss", loss, "-o", folder / "text.json")
    yield "covtype from CSV", fitted_by_command("fit", table, "--target", "cover", "-o", model)
    yield "predict covtype's CSV", fitted_by_command("predict", model, table, "-o", folder / "out.csv")
    words = ("fit", large, "--target", "kind", "-o", folder / "large.json")
    yield "Parquet of 500 MB", fitted_by_command(*words)
    yield "Parquet of 500 MB in 600 MB", fitted_by_command(*words, "--max-memory", "600MB")


WHAT = {"fits": fits, "passes": passes, "verify": checks, "streams": streams, "files": files}


def serve(what: str, only: list[str], folder: Path) -> None:
    """Say which tasks there are; then run the named one for every line that comes, and answer with its seconds."""
    import linsep

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tasks = {name: task for name, task in WHAT[what](folder) if not only or any(word in name for word in only)}
        print(json.dumps([linsep.__file__, list(tasks)]), flush=True)
        for line in sys.stdin:
            task = tasks[line.strip()]
            start = time.perf_counter()
            task()
            print(time.perf_counter() - start, flush=True)


class Side:
    """A checkout's process, which runs one task at a time when it is asked to."""

    def __init__(self, checkout: Path, what: str, only: list[str], folder: str) -> None:
        own = checkout / ".venv" / "bin" / "python"
        words = ["--measure", what, "--folder", folder, "--only", *only]
        self.process = subprocess.Popen(
            [str(own if own.exists() else sys.executable), __file__, *words],
            env=os.environ | {"PYTHONPATH": str(checkout / "src")},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        used, self.tasks = json.loads(self.answer())
        if not Path(used).resolve().is_relative_to(checkout.resolve()):
            raise SystemExit(f"{checkout}: its process uses {used}; install that checkout in a .venv of its folder")

    def answer(self) -> str:
        """Return the next line that the process writes."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"a checkout's process ended with exit code {self.process.wait()}")
        return line

    def run(self, task: str) -> float:
        """Return how many seconds a run of the task takes there."""
        assert self.process.stdin is not None
        self.process.stdin.write(task + "\n")
        self.process.stdin.flush()
        return float(self.answer())


def by_turns(sides: tuple[Side, Side], task: str, seconds: float) -> np.ndarray:
    """Return what each run took, a row for each side; who is first changes from turn to turn."""
    for side in sides:
        side.run(task)
    turns: list[list[float]] = []
    while len(turns) < 4 or (np.sum(turns) < 2 * seconds and len(turns) < 400):
        order = (0, 1) if len(turns) % 2 else (1, 0)
        taken = {which: sides[which].run(task) for which in order}
        turns.append([taken[0], taken[1]])
    return np.array(turns).T


def main() -> None:
    parser = argparse.ArgumentParser(description="How long work takes, against another checkout of linsep.")
    parser.add_argument("--against", type=Path, help="folder of the other checkout")
    parser.add_argument("--what", nargs="+", choices=list(WHAT), default=list(WHAT))
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each side repeats a task [3]")
    parser.add_argument("--only", nargs="*", default=[], help="tasks whose name contains one of these words")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--measure", choices=list(WHAT), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        serve(asked.measure, asked.only, asked.folder)
        return
    if asked.against is None:
        parser.error("--against names the folder of another checkout to compare with")
    print(f"{'':44} {'here':>10} {'there':>10}   least   median of here / there")
    with tempfile.TemporaryDirectory() as folder:
        for what in asked.what:
            here, there = (Side(tree, what, asked.only, folder) for tree in (HERE, asked.against))
            for task in here.tasks:
                taken = by_turns((here, there), task, asked.seconds)
                (own, other), middle = taken.min(axis=1), np.median(taken[0] / taken[1])
                print(
                    f"{task:44} {own * 1e3:7.2f} ms {other * 1e3:7.2f} ms   {own / other:.2f}    {middle:.2f}",
                    flush=True,
                )
            for side in (here, there):
                side.process.communicate()


if __name__ == "__main__":
    main()
