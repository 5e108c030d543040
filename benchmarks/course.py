"""The course of a race, inside its environment: every problem, every loss, every solver, then the extras."""

from __future__ import annotations

import argparse
import json
import os
import platform
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import datasets
import extras
import joblib
import numpy as np
import report
import scipy.sparse as sp
from contest import Limits, contest, progress
from peers import Case, solvers

PACKAGES = ("linsep", "scikit-learn", "liblinear-official", "snapml", "glum", "skglm", "celer", "numpy", "scipy")
#: What each problem is also tried as: fewer rows, fewer columns, other C, other numbers, rare positives, an intercept
#: where it has none (and none where it has one).
VARIANTS = ("", "/4", "/16", ", thin", ", C=0.01", ", C=100", ", float32", ", uneven", ", intercept")
SMALL = "breast-cancer"  # as small as this, memory is what libraries take, and only scikit-learn is a match


def run(args: argparse.Namespace, problems: dict[str, tuple[str, bool]]) -> None:
    limits = Limits(run=args.limit or (10.0 if args.quick else 60.0), repeat=not args.quick, short=args.repeats)
    result: report.Fact = dict(
        machine=machine(), versions=versions(), race=[], runs=[], memory=[], predict=[], growth=[]
    )
    if args.add and (args.out / "race.json").exists():
        result = read(args.out / "race.json") | {key: result[key] for key in ("machine", "versions")}
    with TemporaryDirectory(prefix="linsep-race-") as folder:
        for name, (loader, intercept) in problems.items():
            progress(f"{name}: loading")
            X, y = joblib.Memory(args.cache, verbose=0).cache(getattr(datasets, loader))(args.data)
            for variant in ("",) if args.variants is None else args.variants or VARIANTS:
                case = Case(name + variant, "", intercept, *X.shape, sp.issparse(X))
                race_problem(args, *changed(case, X, y, variant), Path(folder), limits, result)
                report.write(result, args.out)
    if not args.no_extras:
        result["predict"] = extras.predict(100_000 if args.quick else 10_000_000)
    report.write(result, args.out)
    print(report.full_text(result))
    progress(f"written: {args.out}/race.txt, race.json, race.png")


def changed(case: Case, X: Any, y: np.ndarray, variant: str) -> tuple[Case, Any, np.ndarray]:
    """Return a problem as one of `VARIANTS` has it: what nobody has tuned for is near, and costs little to look at."""
    rng = np.random.default_rng(0)
    if variant.startswith("/"):
        some = np.sort(rng.permutation(len(y))[: len(y) // int(variant[1:])])
        X, y = X[some], y[some]
    elif variant == ", thin":
        X = X[:, ::4]
    elif variant == ", uneven":
        some = np.flatnonzero((y != np.unique(y)[-1]) | (rng.random(len(y)) < 0.05))
        X, y = X[some], y[some]
    elif variant == ", float32":
        X = X.astype(np.float32)
    elif variant == ", intercept":
        case = replace(case, intercept=not case.intercept)
    elif variant:
        case = replace(case, C=float(variant.removeprefix(", C=")))
    return replace(case, rows=X.shape[0], columns=X.shape[1]), X, y


def read(path: Path) -> report.Fact:
    return json.loads(path.read_text(encoding="utf-8"))


def race_problem(
    args: argparse.Namespace, case: Case, X: Any, y: np.ndarray, folder: Path, limits: Limits, result: report.Fact
) -> None:
    """Run one problem with each loss, and put what was measured into `result`."""
    path = folder / "data"
    classes, codes = np.unique(y, return_inverse=True)
    joblib.dump((X, 2.0 * codes - 1.0 if len(classes) == 2 else codes), path)
    losses = [loss for loss in args.losses if (loss == "softmax") == (len(classes) > 2)]
    first = replace(case, classes=len(classes))
    for loss in losses:
        case = replace(first, loss=loss, intercept=first.intercept and loss != "hinge")
        optimum, scores = contest(case, entrants(case, args.peers), path, limits)
        report.put(result["race"], report.verdict(case, optimum, scores))
        report.put(result["runs"], [report.runs(case, optimum, scores)])
        if not args.no_extras and not case.problem.startswith(SMALL) and case.loss != "softmax":
            report.put(result["memory"], [extras.memory(case, path, limits)])
        if not args.no_extras and case.problem == "covtype":
            report.put(result["growth"], extras.growth(case, path, folder, limits))


def entrants(case: Case, words: list[str] | None) -> list[str]:
    """Return the names of who takes part: for the small data scikit-learn only, as its goal says."""
    words = ["sklearn"] if case.problem.startswith(SMALL) else words
    names = [peer.name for peer in solvers(case)]
    return [name for name in names if not words or name == "linsep" or any(word in name for word in words)]


def machine() -> str:
    return f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def versions() -> dict[str, str | None]:
    return {package: version(package) for package in PACKAGES}


def version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
