"""Proofs against the plain ways to get half of them: ratios in one run.

    LINSEP_DATA=<folder> python benchmarks/proof.py [--only separability] [--repeats 3]

A section is a function that takes the folder (or None) and yields lines of the table; `SECTIONS` names them.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets
import numpy as np
from scipy.optimize import linprog
from sklearn.svm import SVC

from linsep import HardMarginSVC, separability
from linsep.data.idx import load_mnist

REPEATS = 3


@dataclass(frozen=True)
class Line:
    """One comparison: our seconds, the peer's, and what both found."""

    problem: str
    ours: float
    peer: str
    theirs: float | None
    found: str

    def __str__(self) -> str:
        ratio = "" if self.theirs is None else f"{self.theirs / self.ours:7.1f} ×"
        theirs = "" if self.theirs is None else f"{self.theirs:8.3f} s"
        return f"{self.problem:34} {self.ours:8.3f} s   {self.peer:28} {theirs:>10} {ratio:>9}   {self.found}"


def best_of(function: Callable[[], Any], repeats: int | None = None) -> tuple[float, Any]:
    """Return the least of some times, and what the function returned."""
    times, answer = [], None
    for _ in range(repeats or REPEATS):
        start = time.perf_counter()
        answer = function()
        times.append(time.perf_counter() - start)
    return min(times), answer


# separability


def feasibility_program(X: np.ndarray, y: np.ndarray) -> Any:
    """The usual recipe: is there θ with y(w·x + b) ≥ 1? All rows at once, and a tolerance in the answer."""
    A = -y[:, None] * np.column_stack([X, np.ones(len(X))])
    return linprog(np.zeros(A.shape[1]), A, -np.ones(len(X)), bounds=(None, None), method="highs")


def wide_margin(X: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    clear = np.abs(g) > 0.1
    return X[clear], np.sign(g[clear])


def one_flipped(X: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    y = np.sign(g)
    y[int(np.argsort(np.abs(g))[len(g) // 2])] *= -1
    return X, y


def separability_section(folder: Path | None) -> Iterator[Line]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100_000, 20))
    g = X @ rng.standard_normal(20) + 0.3
    noisy = np.sign(g + 0.3 * rng.standard_normal(len(g)))
    problems = {
        "100,000 × 20, a margin": wide_margin(X, g),
        "100,000 × 20, hardly any margin": (X, np.sign(g)),
        "100,000 × 20, one label wrong": one_flipped(X, g),
        "100,000 × 20, noise": (X, noisy),
        "100,000 × 20, labels at random": (X, rng.choice([-1.0, 1.0], len(g))),
    }
    for name, (rows, y) in problems.items():
        ours, found = best_of(lambda rows=rows, y=y: separability(rows, y))
        theirs, program = best_of(lambda rows=rows, y=y: feasibility_program(rows, y), 1)
        same = "same verdict" if found.separable == (program.status == 0) else "ANOTHER VERDICT"
        yield Line(name, ours, "linprog on all rows", theirs, f"{found.verdict}, {same}, {verified(found, rows, y)}")


def verified(found: Any, X: Any, y: Any) -> str:
    seconds, check = best_of(lambda: found.verify(X, y), 1)
    return f"{'verified' if check else 'REFUSED'} in {seconds:.3f} s"


def text_section(folder: Path | None) -> Iterator[Line]:
    if folder is None:
        return
    X, y = datasets.twenty_newsgroups_binary(folder)
    ours, found = best_of(lambda: separability(X, y), 1)
    yield Line(
        f"20 newsgroups, {X.shape[0]:,} × {X.shape[1]:,}", ours, "", None, f"{found.verdict}, {verified(found, X, y)}"
    )
    X, y = datasets.a9a(folder)
    ours, found = best_of(lambda: separability(X, y), 1)
    what = f"{found.verdict}, {len(found.infinite)} coefficients without a finite estimate, {verified(found, X, y)}"
    yield Line(f"a9a, {X.shape[0]:,} × {X.shape[1]}", ours, "", None, what)


# hard margin


def hard_margin_section(folder: Path | None) -> Iterator[Line]:
    if folder is None:
        return
    X, y = datasets._libsvm(folder / "sonar_scale.bz2", columns=60)
    yield hard_margin("sonar, 208 × 60", X.toarray(), y)
    images, digits = load_mnist(folder)
    few = digits < 2
    yield hard_margin("MNIST 0 vs 1, 12,665 × 784", images[few].reshape(few.sum(), -1) / 255.0, digits[few])
    X, y = datasets.mnist_3_vs_7(folder)
    yield hard_margin("MNIST 3 vs 7, 12,396 × 784", X, y, peer=False)


def hard_margin(name: str, X: np.ndarray, y: np.ndarray, peer: bool = True) -> Line:
    ours, model = best_of(lambda: HardMarginSVC().fit(X, y))
    found = f"margin {model.margin_:.8f}, proven to {model.dual_gap_:.0e}"
    if not peer:
        return Line(name, ours, "", None, found)
    theirs, libsvm = best_of(lambda: SVC(kernel="linear", C=1e10).fit(X, y))
    kept = float(np.min(np.where(y == libsvm.classes_[1], 1, -1) * libsvm.decision_function(X)))
    margin = kept / float(np.linalg.norm(libsvm.coef_))
    return Line(name, ours, 'SVC(kernel="linear", C=1e10)', theirs, f"{found}; the peer keeps {margin:.8f}")


SECTIONS: dict[str, Callable[[Path | None], Iterator[Line]]] = {
    "separability": separability_section,
    "text": text_section,
    "hard_margin": hard_margin_section,
}


def main() -> None:
    global REPEATS
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=SECTIONS, help="one section")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="times are the least of so many")
    wanted = parser.parse_args()
    REPEATS = wanted.repeats
    folder = Path(os.environ["LINSEP_DATA"]) if "LINSEP_DATA" in os.environ else None
    if folder is None:
        print("LINSEP_DATA names no folder: only problems made by rule are run")
    for name, section in SECTIONS.items():
        if wanted.only in (None, name):
            print(f"\n{name.replace('_', ' ')}", flush=True)
            for line in section(folder):
                print(line, flush=True)


if __name__ == "__main__":
    main()
