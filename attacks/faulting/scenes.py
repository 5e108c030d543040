"""What is disturbed: every command that ends by itself, and fits in Python, alone, in threads, in processes."""

from __future__ import annotations

import multiprocessing
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROWS = 400


def data() -> tuple[np.ndarray, np.ndarray]:
    """Return rows of five numbers and two overlapping classes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, 5)).round(3)
    return X, np.where(X @ [1, -1, 0.5, 0, 0] + rng.standard_normal(ROWS) > 0, "yes", "no")


def write_table(path: Path) -> None:
    """Write the same with a column of words, as CSV."""
    X, y = data()
    colours = np.random.default_rng(1).choice(["red", "green", "blue"], ROWS)
    lines = [",".join(map(str, row)) + f",{c},{label}" for row, c, label in zip(X.tolist(), colours, y, strict=True)]
    path.write_text("a,b,c,d,e,colour,label\n" + "\n".join(lines) + "\n", "utf-8")


@dataclass(frozen=True)
class Scene:
    """Something that runs in a folder with `data.csv` and `model.json`, and the file that it writes, if any."""

    name: str
    play: Callable[[], int]
    output: str | None = None
    is_command: bool = True


def command(*words: str) -> Callable[[], int]:
    """Return what runs a command of linsep as its script does."""

    def play() -> int:
        from linsep.cli import run

        sys.argv = ["linsep", *words]
        run()
        return 0

    return play


def fit_and_save() -> int:
    """A fit in Python, and its file."""
    import linsep

    X, y = data()
    linsep.save(linsep.LogisticRegression().fit(X, y), "saved.json", data=(X, y))
    return 0


def fit_in_threads() -> int:
    """Four threads fit; the first saves."""
    import linsep

    X, y = data()
    models = [linsep.LinearSVC(C=C) for C in (0.1, 1.0, 10.0, 100.0)]
    threads = [threading.Thread(target=model.fit, args=(X, y)) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    linsep.save(models[0], "saved.json", data=(X, y))
    return 0


def fit_in_joblib() -> int:
    """Cross-validation in the processes of joblib."""
    from sklearn.model_selection import cross_val_score

    import linsep

    X, y = data()
    scores = cross_val_score(linsep.LogisticRegression(), X, y, cv=3, n_jobs=2)
    Path("scores.txt").write_text(f"{scores.tolist()}\n", "utf-8")
    return 0


def fit_after_fork() -> int:
    """A fit, and others in processes that were forked after it."""
    import linsep

    X, y = data()
    linsep.LogisticRegression().fit(X, y)
    workers = [multiprocessing.get_context("fork").Process(target=fit_and_save) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return max(abs(worker.exitcode or 0) for worker in workers)


TARGET = ("--target", "label")
SCENES = [
    Scene("fit", command("fit", "data.csv", *TARGET, "-o", "out.json"), "out.json"),
    Scene("fit of a hinge", command("fit", "data.csv", *TARGET, "--loss", "hinge", "-o", "out.json"), "out.json"),
    Scene(
        "fit in blocks",
        command("fit", "data.csv", *TARGET, "--max-memory", "900MB", "-o", "out.json"),
        "out.json",
    ),
    Scene("predict", command("predict", "model.json", "data.csv", "-o", "out.csv"), "out.csv"),
    Scene("evaluate", command("evaluate", "model.json", "data.csv", *TARGET)),
    Scene("verify", command("verify", "model.json", "data.csv", *TARGET)),
    Scene("separable", command("separable", "data.csv", *TARGET)),
    Scene("compare", command("compare", "data.csv", *TARGET)),
    Scene("explain", command("explain", "model.json")),
    Scene("report", command("report", "model.json", "data.csv", *TARGET, "-o", "out.html"), "out.html"),
    Scene(
        "replay", command("replay", "data.csv", *TARGET, "--max-iter", "20", "-o", "out.html"), "out.html"
    ),
    Scene("export", command("export", "model.json", "--to", "python", "-o", "out.py"), "out.py"),
    Scene("doctor", command("doctor")),
    Scene("demo", command("demo", "-o", "out.html"), "out.html"),
    Scene("fit in Python", fit_and_save, "saved.json", is_command=False),
    Scene("fit in threads", fit_in_threads, "saved.json", is_command=False),
    Scene("fit in joblib", fit_in_joblib, None, is_command=False),
    Scene("fit after fork", fit_after_fork, "saved.json", is_command=False),
]  # fmt: skip
