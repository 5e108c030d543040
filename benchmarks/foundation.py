"""The figures of the foundation, against scikit-learn in the same run: python benchmarks/foundation.py [--data FOLDER].

(a) one epoch of the perceptron and of stochastic descent, (b) import, (c) the first fit of a process, (d) the accuracy
on MNIST 3 vs 7. Prints a table and writes it to ``benchmarks/out/foundation.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import sklearn
import sklearn.linear_model as peers

import linsep
from linsep import demo

OUT = Path(__file__).parent / "out" / "foundation.json"
DRAWS = 20
PASSES = 21
#: scikit-learn's default penalty; ours is the same with C = 1/(alpha n).
ALPHA = 1e-4


@dataclass(frozen=True)
class Row:
    """One comparison: what was measured of both, and the figure that counts."""

    section: str
    what: str
    ours: float
    theirs: float
    unit: str
    figure: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("LINSEP_DATA"), help="folder with the real data")
    parser.add_argument("--repeat", type=int, default=5, help="timings of which the best counts")
    parser.add_argument("--sections", default="abcd", help="which to run, such as bc")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # fits that are cut short on purpose say so, every time
    rows = []
    for row in measure(arguments.sections, arguments.data and Path(arguments.data), arguments.repeat):
        if not rows or rows[-1].section != row.section:
            print(f"\n{row.section:66} {'linsep':>9} {'sklearn':>9}")
        rows.append(row)
        print(f"  {row.what:64} {row.ours:9.2f} {row.theirs:9.2f} {row.unit:3} {row.figure}", flush=True)
    write(rows)


def measure(sections: str, folder: Path | None, repeat: int) -> Iterator[Row]:
    if folder is None:
        print("no --data and no LINSEP_DATA: sections (a) and (d) are left out", file=sys.stderr)
    if "a" in sections and folder is not None:
        yield from epochs(folder, repeat)
    if "b" in sections:
        yield imports()
    if "c" in sections:
        yield from first_fits()
    if "d" in sections and folder is not None:
        yield from accuracies(folder)


def write(rows: list[Row]) -> None:
    environment = {
        "linsep": linsep.__version__,
        "kernels": linsep._core.kernels_in_use(),
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "processors": os.cpu_count(),
    }
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps({"environment": environment, "rows": [asdict(row) for row in rows]}, indent=2))
    print(f"\nwritten to {OUT}")


# -- (a) one epoch ------------------------------------------------------------------------------------------------

Maker = Callable[[int], Any]


def epochs(folder: Path, repeat: int) -> Iterator[Row]:
    """Compare on equal numbers of threads, and as both come: ours on all processors, theirs on one."""
    problems = {
        "MNIST 3 vs 7": datasets.mnist_3_vs_7,
        "20 newsgroups, 2 classes": datasets.twenty_newsgroups_binary,
        "20 newsgroups, 20 classes": datasets.twenty_newsgroups,
    }
    for name, load in problems.items():
        X, y = load(folder)
        for n_jobs in (1, 2, None) if len(np.unique(y)) > 2 else (1, None):  # two classes: theirs never takes more
            section = "(a) one epoch, by default" if n_jobs is None else f"(a) one epoch, threads: {n_jobs}"
            for method, (ours, theirs) in contestants(X.shape[0], n_jobs).items():
                with threads(n_jobs):
                    labels, note = hard_enough(ours, X, y)
                    seconds = seconds_per_pass([ours, theirs], X, labels, repeat)
                yield faster(section, f"{name}: {method}{note}", *seconds)


@contextmanager
def threads(count: int | None) -> Iterator[None]:
    """Let linsep use so many threads at the most, whatever for; None for all."""
    if count is not None:
        os.environ["LINSEP_NUM_THREADS"] = str(count)
    yield
    os.environ.pop("LINSEP_NUM_THREADS", None)


def contestants(n: int, n_jobs: int | None) -> dict[str, tuple[Maker, Maker]]:
    """Return for each method how to make ours and theirs, for so many passes and no early stop."""
    same: dict[str, Any] = dict(random_state=0, n_jobs=n_jobs)
    sgd: dict[str, Any] = dict(C=1 / (ALPHA * n), stopping=None, keep="last", **same)
    return {
        "perceptron": (
            lambda passes: linsep.Perceptron(keep="last", prove=False, max_iter=passes, **same),
            lambda passes: peers.Perceptron(tol=None, max_iter=passes, **same),
        ),
        "SGD hinge": (
            lambda passes: linsep.SGDClassifier("hinge", max_iter=passes, **sgd),
            lambda passes: peers.SGDClassifier("hinge", alpha=ALPHA, tol=None, max_iter=passes, **same),
        ),
        "SGD logistic": (
            lambda passes: linsep.SGDClassifier("logistic", max_iter=passes, **sgd),
            lambda passes: peers.SGDClassifier("log_loss", alpha=ALPHA, tol=None, max_iter=passes, **same),
        ),
    }


def hard_enough(make: Maker, X: Any, y: Any) -> tuple[Any, str]:
    """Return the labels, as many of them wrong as it takes to keep our perceptron busy: what it proves at its end would
    count as the passes' time, and passes that it does not make would not count at all.
    """  # noqa: D205 (one sentence)
    rng = np.random.default_rng(0)
    classes, codes = np.unique(y, return_inverse=True)
    others, luck = (codes + rng.integers(1, len(classes), len(y))) % len(classes), rng.random(len(y))
    for share in (0.0, 0.05, 0.2, 0.5):
        labels = classes[np.where(luck < share, others, codes)]
        model = make(PASSES).fit(X, labels)
        if passes_made(model) == PASSES * len(model.coef_):
            break
    return labels, f" ({100 * share:.0f} % of labels wrong)" if share else ""


def passes_made(model: Any) -> float:
    """Return how often the model went through the data, summed over its planes: ours may stop at no mistakes."""
    if not hasattr(model, "history_"):
        return float(model.n_iter_ * len(model.coef_))
    histories = model.history_ if isinstance(model.history_, list) else [model.history_]
    return float(sum(history["passes"][-1] for history in histories))


def seconds_per_pass(makers: list[Maker], X: Any, y: Any, repeat: int) -> list[float]:
    """Return for each maker the time that a pass through the data for all classes adds to a fit."""
    models = [make(passes) for make in makers for passes in (1, PASSES)]
    times = fastest([lambda model=model: model.fit(X, y) for model in models], repeat)
    spent = [(t, passes_made(model)) for t, model in zip(times, models, strict=True)]
    pairs = zip(spent[::2], spent[1::2], strict=True)
    planes = len(models[0].coef_)
    return [planes * (many - one) / (most - least) for (one, least), (many, most) in pairs]


def fastest(actions: list[Callable[[], Any]], repeat: int) -> list[float]:
    """Return the best time of each action, taken in turns so that a busy moment hits all alike."""
    best = [np.inf] * len(actions)
    for _ in range(repeat):
        for k, action in enumerate(actions):
            begin = time.perf_counter()
            action()
            best[k] = min(best[k], time.perf_counter() - begin)
    return best


def faster(section: str, what: str, ours: float, theirs: float) -> Row:
    return Row(section, what, 1000 * ours, 1000 * theirs, "ms", f"{theirs / ours:.2f} times as fast")


# -- (b) and (c): fresh processes -----------------------------------------------------------------------------------

IMPORT = "import time; begin = time.perf_counter(); import {module}; print(time.perf_counter() - begin)"
TWO_FITS = """
import time
import numpy as np
from {module} import {name}
X = np.random.default_rng(0).standard_normal((2000, 50))
y = X[:, 0] > 0
for _ in range(2):
    begin = time.perf_counter()
    {name}({settings}).fit(X, y)
    print(time.perf_counter() - begin)
"""


def in_turns(scripts: list[str], repeat: int = 7) -> list[list[float]]:
    """Run each script in processes of its own, in turns; return the lowest of each number that it prints."""
    printed: list[list[list[float]]] = [[] for _ in scripts]
    for _ in range(repeat):
        for seen, script in zip(printed, scripts, strict=True):
            command = [sys.executable, "-W", "ignore", "-c", script]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            seen.append([float(line) for line in done.stdout.split()])
    return [[min(values) for values in zip(*seen, strict=True)] for seen in printed]


def imports() -> Row:
    (ours,), (theirs,) = in_turns([IMPORT.format(module=name) for name in ("linsep", "sklearn.linear_model")])
    return faster("(b) import, fresh process", "import linsep, import sklearn.linear_model", ours, theirs)


def first_fits() -> Iterator[Row]:
    few = "random_state=0, max_iter=20"  # short fits, in whose own jitter 10 ms would not drown
    pairs = {
        "perceptron": ("Perceptron", few, "Perceptron", few),
        "SGD": ("SGDClassifier", few, "SGDClassifier", few),
        "least squares": ("LeastSquaresClassifier", "", "RidgeClassifier", "alpha=1e-6"),
    }
    for method, (our_name, our_settings, their_name, their_settings) in pairs.items():
        ours = TWO_FITS.format(module="linsep", name=our_name, settings=our_settings)
        theirs = TWO_FITS.format(module="sklearn.linear_model", name=their_name, settings=their_settings)
        extra = [1000 * (first - second) for first, second in in_turns([ours, theirs])]
        yield Row("(c) first fit minus second, fresh process", method, *extra, "ms", f"{extra[0] - extra[1]:+.1f} ms")


# -- (d) accuracy -------------------------------------------------------------------------------------------------


def accuracies(folder: Path) -> Iterator[Row]:
    X, y = datasets.mnist_3_vs_7(folder)
    perceptrons = {keep: f"perceptron, keep={keep!r}" for keep in ("best", "average", "vote", "last")}
    scores: dict[str, list[float]] = {}
    for seed in range(DRAWS):
        train, test = demo.draw(len(y), 4132, 680, seed)
        models: dict[str, Any] = {
            name: linsep.Perceptron(keep=keep, random_state=seed) for keep, name in perceptrons.items()
        }
        models["least squares"] = linsep.LeastSquaresClassifier()
        models["their perceptron"] = peers.Perceptron(random_state=seed)
        models["their least squares"] = peers.RidgeClassifier(alpha=1e-6)
        for name, model in models.items():
            scores.setdefault(name, []).append(100 * model.fit(X[train], y[train]).score(X[test], y[test]))
    for name in (*perceptrons.values(), "least squares"):
        peer = "their least squares" if name == "least squares" else "their perceptron"
        yield better(name, np.array(scores[name]), np.array(scores[peer]))


def better(name: str, ours: Any, theirs: Any) -> Row:
    """Compare draw by draw, so that the luck of a draw cancels."""
    gain = ours - theirs
    error = gain.std(ddof=1) / np.sqrt(len(gain))
    figure = f"{gain.mean():+.2f} ± {error:.2f} points"
    section = f"(d) MNIST 3 vs 7, 4,132/680 images, mean of {len(gain)} draws"
    return Row(section, name, float(ours.mean()), float(theirs.mean()), "%", figure)


if __name__ == "__main__":
    main()
