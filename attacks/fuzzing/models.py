"""Edited model files: whatever an entry is turned into, every command that reads a model works or says so in a line."""

from __future__ import annotations

import contextlib
import io
import json
import random
import sys
import warnings
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from .files import room

#: What may stand instead of an entry, whatever that was.
VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 0.5, -0.5, 2**31, 10**18, 10**39, 1e308, -1e308, 5e-324, "", "x", "1", "nan"),
    *("\ud800", [], {}, [[]], [0], [None], ["a", "a"], [1.5] * 300, {"x": 1}, {"float": "nan"}, {"float": "inf"}),
    *({"array": {"dtype": "float64", "shape": [0], "values": []}}, {"float": "x"}, [[[[]]]], "table", "matrix"),
]  # fmt: skip
#: How the models of a table are fitted.
FITS: dict[str, tuple[str, ...]] = {
    "logistic": (),
    "hinge": ("--loss", "hinge", "--balanced"),
    "squared hinge": ("--loss", "squared_hinge", "--no-intercept"),
    "least squares": ("--loss", "square", "--no-scaling"),
    "perceptron": ("--loss", "perceptron"),
    "sparse": ("--l1-ratio", "1", "--reference", "town=Ulm"),
    "no penalty": ("--C", "inf", "--ignore", "note"),
    "chosen": ("--C", "auto", "--folds", "2", "--rule", "1se"),
    "chosen and proven": ("--C", "auto", "--folds", "2", "--prove", "--effort", "1"),
    "held out": ("--test-share", "0.2", "--threshold", "f1"),
    "sigmoid": ("--calibrate", "sigmoid", "--threshold", "costs=1:5"),
    "isotonic": ("--loss", "hinge", "--calibrate", "isotonic", "--base-rates", "yes=0.1,no=0.9"),
    "weighed": ("--sample-weight", "often", "--class-weight", "yes=5,no=1"),
    "products": ("--degree", "2", "--numeric", "age", "often", "--ignore", "town", "when", "note"),
}
#: What reads a model; MODEL and DATA are put in, and o stands for a file to be written.
COMMANDS: list[tuple[str, ...]] = [
    ("predict", "MODEL", "DATA"),
    ("predict", "MODEL", "DATA", "--proba", "--keep", "age", "-o", "o.parquet"),
    ("evaluate", "MODEL", "DATA", "-t", "y", "--json"),
    ("evaluate", "MODEL", "DATA", "-t", "y", "--leave-one-out"),
    ("verify", "MODEL", "DATA"),
    ("verify", "MODEL", "DATA", "--independent", "--json"),
    ("explain", "MODEL"),
    ("explain", "MODEL", "--json"),
    ("explain", "MODEL", "--path", "DATA"),
    ("report", "MODEL", "DATA", "-o", "o.html", "--time-limit", "1"),
    ("export", "MODEL", "--to", "python"),
    ("export", "MODEL", "--to", "sql"),
    ("export", "MODEL", "--to", "onnx", "-o", "o.onnx"),
]


@cache
def tables() -> dict[str, Path]:
    """Return small files that models are of: of two and of three classes, of successes and trials, and matrices."""
    choose, lines, counted = random.Random(0), list[str](), list[str]()
    matrix, wide = list[str](), list[str]()
    for k in range(40):
        age, town, often = choose.randint(18, 80), choose.choice(["Ede", "Ulm", "Bonn"]), choose.randint(1, 3)
        yes = age + choose.gauss(0, 20) > 45
        note = " ".join(choose.choices(["good", "bad", "late", "cold"], k=3))
        when = f"2024-{1 + k % 12:02}-{1 + k % 28:02}"
        cell = "" if k % 9 == 0 else age
        lines.append(f"{cell},{town},{when},{note},{often},{'yes' if yes else 'no'},{choose.choice('abc')}")
        counted.append(f"{age},{town},{min(often, yes + 1)},{often}")
        matrix.append(f"{1 if yes else -1} 1:{age / 50} 3:{often}")
        wide.append(f"{matrix[-1]} {4000 * often}:1")
    files = {
        "table.csv": ["age,town,when,note,often,y,z", *lines],
        "counts.csv": ["age,town,won,of", *counted],
        "matrix.libsvm": matrix,
        "wide.libsvm": wide,
    }
    for name, content in files.items():
        (room() / name).write_text("\n".join(content) + "\n", "utf-8")
    return {name.partition(".")[0]: room() / name for name in files}


@cache
def originals(only: tuple[str, ...] = ()) -> list[tuple[str, dict[str, Any], Path]]:
    """Return models of every kind, or of some: their name, their file's content, and the file of their rows."""
    files, found, path = tables(), list[tuple[str, dict[str, Any], Path]](), room() / "original.json"
    fits = [(name, files["table"], ("-t", "y", "--ignore", "z", *options)) for name, options in FITS.items()]
    fits += [(f"{one}, three classes", files["table"], ("-t", "z", "--ignore", "y", *FITS[one]))
             for one in ("logistic", "hinge", "sparse")]  # fmt: skip
    fits += [("counted", files["counts"], ("--successes", "won", "--trials", "of"))]
    fits += [("matrix", files["matrix"], ()), ("packed", files["wide"], ("--l1-ratio", "0.5"))]
    for name, file, options in fits:
        if only and name not in only:
            continue
        code, said = spoken("fit", str(file), *options, "-o", str(path))
        assert code in (0, 1), said
        found.append((name, json.loads(path.read_text("utf-8")), file))
    matrix = next(document for name, document, _ in found if name == "matrix")
    return found + [(name, document, files["matrix"]) for name, document in _by_hand(matrix, only)]


def _by_hand(matrix: dict[str, Any], only: tuple[str, ...]) -> list[tuple[str, dict[str, Any]]]:
    """Return models that no command fits, of the rows of the matrix."""
    import linsep

    lines = [line.split() for line in tables()["matrix"].read_text("utf-8").splitlines()]
    X = np.array([[float(one.partition(":")[2]), 0.0, float(two.partition(":")[2])] for _, one, two in lines])
    y, apart = np.array([float(words[0]) for words in lines]), np.where(X[:, 0] > 1, 1.0, -1.0)
    models: dict[str, tuple[Any, Any]] = {
        "margin": (linsep.HardMarginSVC(), apart),
        "mistakes": (linsep.ZeroOneClassifier(), y),
        "voted": (linsep.Perceptron(random_state=0, keep="vote"), apart),
        "stochastic": (linsep.SGDClassifier("logistic", random_state=0), y),
        "margins between classes": (linsep.LinearSVC(multi_class="crammer_singer"), np.digitize(X[:, 0], [0.8, 1.2])),
    }
    found, path = [], room() / "original.json"
    for name, (model, labels) in models.items():
        if only and name not in only:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            linsep.save(model.fit(X, labels), path, data=(X, labels), encoding=matrix["encoding"])
        found.append((name, json.loads(path.read_text("utf-8"))))
    return found


def places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to every entry; of long lists, to the first two and the last."""
    found = [way] if way else []
    if isinstance(value, dict):
        return found + [place for key in value for place in places(value[key], (*way, key))]
    if isinstance(value, list):
        some = sorted({0, 1, len(value) - 1} & set(range(len(value))))
        return found + [place for k in some for place in places(value[k], (*way, k))]
    return found


def others(value: Any) -> list[Any]:
    """Return what may stand instead of this entry: another kind, length, size or order, or nested."""
    found = [*VALUES, [value], {"x": value}]
    if isinstance(value, bool):
        return [*found, not value]
    if isinstance(value, int | float):
        return [*found, -value, value + 1, value * 1e6, str(value)]
    if isinstance(value, str):
        return [*found, value + "x", value[:-1], value * 20, value[::-1]]
    if isinstance(value, list):
        return [*found, value[::-1], value[:-1], value[1:], value + value, [*value, None]]
    return [*found, {**(value or {}), "more": 1}, list(value or ()), dict(list((value or {}).items())[:-1])]


def edited(document: dict[str, Any], way: tuple[Any, ...], rng: random.Random) -> dict[str, Any]:
    """Return a copy with one entry gone, twice, or something else."""
    document = deepcopy(document)
    holder: Any = document
    for step in way[:-1]:
        holder = holder[step]
    kind = rng.random()
    if kind < 0.15:
        del holder[way[-1]]
    elif kind < 0.2 and isinstance(holder, dict):
        holder[way[-1] + "x"] = holder.pop(way[-1])
    else:
        holder[way[-1]] = deepcopy(rng.choice(others(holder[way[-1]])))
    return document


def sealed(document: dict[str, Any]) -> bytes:
    """Return a file with these sections, whose digest fits."""
    from linsep.persistence.document import digest, joined

    lines = {
        name: json.dumps(value, separators=(",", ":")).encode() for name, value in document.items() if name != "digest"
    }
    return joined(lines | {"digest": json.dumps(digest(lines)).encode()})


def models(rng: random.Random) -> tuple[str, bytes, tuple[str, ...], str]:
    """Return an edited file, a command that reads it, and which data that is given; sections are drawn alike."""
    _, document, file = rng.choice(originals())
    for _ in range(rng.choice([1, 1, 1, 2])):
        section = rng.choice([*document, "encoding", "encoding", "fitted"])
        if section not in document:
            continue
        way = rng.choice(places(document[section], (section,)))
        document = edited(document, way, rng)
    return ".json", sealed(document), rng.choice(COMMANDS), file.name


@cache
def understood(parser: Callable[[], Any], words: tuple[str, ...]) -> Callable[[], Any]:
    """Return the call that a command line means: to find that out takes eight times as long as most cases do."""
    call, given, *_ = parser().parse_args(list(words), print_error=False, exit_on_error=False)
    return lambda: call(*given.args, **given.kwargs)


def spoken(*words: str) -> tuple[int, str]:
    """Run a command in this process; return its code, and what it says, the complaints first."""
    from linsep import cli

    parser = cli._app
    printed, said, before = io.BytesIO(), io.StringIO(), sys.argv
    out = io.TextIOWrapper(printed, "utf-8")
    sys.argv = ["linsep", *words]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said), warnings.catch_warnings():
            warnings.simplefilter("default")
            with mock.patch.object(cli, "_app", return_value=lambda words, **how: understood(parser, tuple(words))()):
                code = cli.main()
        out.flush()
        return code, said.getvalue() + printed.getvalue().decode("utf-8")
    finally:
        sys.argv = before


def answer(case: tuple[str, bytes, tuple[str, ...], str]) -> tuple[int, str]:
    """Run the command on the file; return its code and what it says."""
    path = room() / "edited.json"
    path.write_bytes(case[1])
    given = {"MODEL": str(path), "DATA": str(tables()[case[3].partition(".")[0]])}
    code, said = spoken(*(given.get(word, str(room() / word) if word.startswith("o.") else word) for word in case[2]))
    return code, said.replace(str(path), "MODEL")


def command(case: tuple[str, bytes, tuple[str, ...], str]) -> None:
    """Run the command on the file; raise where it does not end with a code of its own and a line."""
    with np.errstate(all="ignore"):
        code, said = answer(case)
    wrong = [line for line in said.splitlines() if "internal error" in line or "Traceback" in line]
    if wrong or code not in (0, 1, 2) or (code == 2 and len(said.strip()) < 10):
        raise AssertionError(f"{' '.join(case[2])}: {code}, {' '.join((wrong or [said])[-1].split())[:200]}")
