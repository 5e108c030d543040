"""The command line: one function a command, whose help is its docstring.

Results go to standard output, everything else to standard error. A command returns the exit code: 0 for done and
proven, 1 for done but not to ``tol``. For bad usage or bad data it raises, and `main` turns that into one line and 2.
"""

from __future__ import annotations

import importlib.metadata
import json as json_format
import os
import platform
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from . import __version__, _core
from .startup import defer, leave_out

if TYPE_CHECKING:
    from cyclopts import App, Parameter

__all__ = ["COMMANDS", "main", "run"]

#: Packages that only some commands need, and the extra that brings them.
EXTRAS = {"cyclopts": "cli", "rich": "cli", "pyarrow": "cli", "onnx": "onnx", "matplotlib": "plot"}


@dataclass(frozen=True)
class Reading:
    """How a file of separated values is written, where that shall not be guessed.

    Parameters
    ----------
    delimiter
        What separates the values; tab for a tab.
    header
        Whether the first line names the columns.
    encoding
        Of the text: utf-8, latin-1, cp1252, …
    missing
        Further words that stand for a missing value.
    """

    delimiter: str | None = None
    header: Annotated[bool | None, Parameter(negative="--no-header")] = None
    encoding: str = "utf-8"
    missing: tuple[str, ...] = ()


# -- commands -----------------------------------------------------------------------------------------------------


def demo(
    *,
    seed: int = 0,
    noise: float = 0.2,
    data: Path | None = None,
    output: Annotated[Path, Parameter(alias="-o")] = Path("report.html"),
    json: bool = False,
) -> int:
    """Tell handwritten 3s from 7s with every model, and show what they learned, in the terminal and in report.html.

    Parameters
    ----------
    seed
        Decides which images are drawn, their noise, and the order in which the perceptron sees them.
    noise
        Standard deviation of the noise on the training images, whose pixels go from 0 to 1; 0 for none.
    data
        Folder with MNIST's IDX files. Without it the folder that LINSEP_DATA names, or scikit-learn's own digits.
    output
        Where to write the page with all of it and the replay of the perceptron; the last line says where it is.
    json
        Print the numbers for a program instead.
    """
    from . import demo as demonstration
    from .atomic_file import write_atomically

    importlib.import_module("rich")  # whatever is missing is said before the work, not after it
    with _Waiting() as waiting:
        waiting.on("fitting every model to the images")
        found = demonstration.run(_demo_images(data), seed=seed, noise=noise)
        waiting.on(f"writing {output}")
        write_atomically(output, demonstration.page(found).encode())
    if json:
        _print_json(demonstration.to_record(found) | {"report": str(output)})
    else:
        _print_styled(lambda color: demonstration.render(found, report=str(output), color=color))
    return 0


def _demo_images(data: Path | None) -> Any:
    """Return the images to use: a folder that was asked for must have them, LINSEP_DATA may hold other data only."""
    from . import demo as demonstration

    if data is not None:
        return demonstration.mnist(data)
    if folder := os.environ.get("LINSEP_DATA"):
        try:
            return demonstration.mnist(folder)
        except FileNotFoundError as error:
            _note(f"{error}; using scikit-learn's digits instead of LINSEP_DATA")
    return demonstration.embedded_digits()


def doctor(*, json: bool = False) -> int:
    """Show what this installation consists of: versions, compiled kernels, threads.

    Parameters
    ----------
    json
        Print it for a program instead.
    """
    facts = _installation()
    if json:
        _print_json(facts)
        return 0
    for name, fact in facts.items():
        if isinstance(fact, dict):
            fact = ", ".join(f"{key} {value}" for key, value in fact.items())
        print(f"{name:12} {'not set' if fact is None else fact}")
    if facts["kernels"] == "reference":
        print("The plain-Python kernels are correct but slow; install a C++ compiler and reinstall linsep.")
    return 0


def _installation() -> dict[str, Any]:
    from threadpoolctl import threadpool_info  # type: ignore[import-untyped]

    names = (
        "numpy",
        "scipy",
        "scikit-learn",
        "narwhals",
        "cyclopts",
        "rich",
        "pyarrow",
        "pandas",
        "polars",
        "onnx",
        "matplotlib",
    )
    return {
        "linsep": __version__,
        "kernels": _core.kernels_in_use(),
        "threads": _core.threads(),
        "threads of": {pool["prefix"]: pool["num_threads"] for pool in threadpool_info()},
        "python": f"{platform.python_version()} ({sys.executable})",
        "system": f"{platform.system()} {platform.release()} on {platform.machine()}, {os.cpu_count()} processors",
        "packages": {name: _version(name) for name in names},
        "LINSEP_DATA": os.environ.get("LINSEP_DATA"),
    }


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def fit(
    data: Annotated[str, Parameter(allow_leading_hyphen=True)],
    *,
    target: str | None = None,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    loss: str = "logistic",
    C: Annotated[str, Parameter(name="--C")] = "1",
    l1_ratio: float = 0.0,
    tol: float = 1e-4,
    balanced: bool = False,
    degree: int = 1,
    numeric: tuple[str, ...] = (),
    category: tuple[str, ...] = (),
    date: tuple[str, ...] = (),
    text: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
    seed: int = 0,
    max_memory: str | None = None,
    scratch: Path | None = None,
    resume: Annotated[bool, Parameter(negative="--no-resume")] = True,
    reading: Annotated[Reading | None, Parameter(name="*")] = None,
    json: bool = False,
) -> int:
    """Train a model on a file, and prove how near the optimum it is.

    Parameters
    ----------
    data
        CSV, TSV, Parquet, Arrow, Feather, LIBSVM text or NPZ, also as .gz, .bz2 or .zst; - for standard input.
    target
        The column to predict, by name or by number (1 the first, -1 the last).
    output
        Where to write the model, a JSON file.
    loss
        logistic (has probabilities), hinge, squared_hinge, square or perceptron.
    C
        How much the losses count against the penalty; inf for no penalty, auto to cross-validate.
    l1_ratio
        Share of the penalty that is ‖w‖₁ instead of ½‖w‖².
    tol
        The relative duality gap to reach.
    balanced
        Count all classes the same, however many examples they have.
    degree
        2 adds squares and products of the numbers, 3 cubes, and so on.
    numeric
        Columns that are numbers.
    category
        Columns that are categories.
    date
        Columns that are dates.
    text
        Columns that are text.
    ignore
        Columns to leave out.
    seed
        Of everything random.
    max_memory
        512MB, 2GB, …: fit a file larger than memory. Its rows are encoded onto the disk and gone through in passes.
    scratch
        With --max-memory: the folder for the encoded rows, about as large as the table; without it beside the model.
    resume
        With --max-memory: go on with a fit of the same data and settings that was cut short. --no-resume starts anew.
    json
        Print the outcome for a program instead.
    """
    from .jobs import training
    from .jobs.preparation import prepare

    kinds = _kinds(number=numeric, category=category, date=date, text=text, ignored=ignore)
    chosen = training.parse_C(C)
    if max_memory is not None:
        asked: dict[str, Any] = dict(loss=loss, l1_ratio=l1_ratio, tol=tol, balanced=balanced, seed=seed, degree=degree)
        asked |= dict(kinds=kinds, output=output, scratch=scratch, resume=resume, hints=_hints(reading, kinds))
        return _fit_in_parts(data, target, chosen, max_memory, asked, json)
    if scratch is not None or not resume:
        raise ValueError("--scratch and --no-resume would be ignored: they belong to --max-memory")
    with _Waiting() as waiting:
        waiting.on(f"reading {data}")
        hints = _hints(reading, kinds)
        examples = prepare(data, target, hints=hints, kinds=kinds, degree=degree, keep_frame=chosen is None)
        from .data_hash import data_hash
        from .jobs import summaries
        from .model_file import save  # all of which load scikit-learn: it is there by now

        settings: dict[str, Any] = dict(l1_ratio=l1_ratio, tol=tol, balanced=balanced, seed=seed)
        scores: list[tuple[float, float]] = []
        if chosen is None:
            waiting.on("choosing C")
            chosen, scores = training.choose_C(training.estimator(loss, **settings), examples, seed)
        waiting.on(f"fitting {examples.X.shape[0]:,} rows, {examples.X.shape[1]:,} features")
        with ThreadPoolExecutor(1) as pool:  # beside the fit, which leaves a processor idle now and then
            hashed = None if output is None else pool.submit(data_hash, examples.X, examples.y)
            suspicious = pool.submit(training.doubts, examples)
            model = training.estimator(loss, C=chosen, **settings).fit(examples.X, examples.y)
            waiting.on("looking for what is suspicious")
            doubts = [*suspicious.result(), *training.doubts_of_fit(examples, model)]
        if output is not None and hashed is not None:
            save(model, output, data=hashed.result(), encoding=examples.encoding.to_dict())
    for note in (*examples.notes, *doubts):
        _note(note)
    return _print_fit(summaries.Facts.of(examples, model, doubts), model, scores, output, json)


def _print_fit(facts: Any, model: Any, scores: list[tuple[float, float]], output: Path | None, json: bool) -> int:
    from .jobs import summaries

    record = summaries.fit_record(facts, model, scores, output)
    if json:
        _print_json(record)
    else:
        print(summaries.fit_text(facts, model, scores, output))
    return 0 if record["proven"] else 1


def _fit_in_parts(
    data: str, target: str | None, C: float | None, max_memory: str, settings: dict[str, Any], json: bool
) -> int:
    """Fit a file larger than memory."""
    from .jobs import memory, streaming
    from .model_file import save

    if C is None:
        raise ValueError("--C auto takes its data into memory: give C as a number, or leave out --max-memory")
    request = streaming.Request(data, target, memory.parse_size(max_memory), C=C, **settings)
    output = request.output
    with _Waiting() as waiting:
        found = streaming.fit_in_parts(request, waiting.share)
        if output is not None:
            save(found.model, output, encoding=found.facts.encoding.to_dict())
    for note in found.facts.notes:
        _note(note)
    if found.interrupted and found.folder.lasting:
        _note(f"interrupted: this is the best so far. The same command goes on from {found.folder.folder}")
    else:
        found.folder.remove()
    return _print_fit(found.facts, found.model, [], output, json)


def predict(
    model: Path,
    data: Annotated[str, Parameter(allow_leading_hyphen=True)],
    *,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    proba: bool = False,
    reading: Annotated[Reading | None, Parameter(name="*")] = None,
    json: bool = False,
) -> int:
    """Predict every row of a file, however long it is.

    Parameters
    ----------
    model
        A model that `linsep fit` wrote.
    data
        A file with the columns that the model was trained on; - for standard input.
    output
        .csv, .tsv, .parquet, .arrow or .feather; without it CSV goes to standard output.
    proba
        Add one column probability_<class> for each class.
    json
        Print how many rows were written where for a program; this takes -o.
    """
    from .jobs.prediction import predict_file

    if json and output is None:
        raise ValueError("--json and the predictions would both go to standard output; say where these go with -o")
    with _Waiting() as waiting:
        rows = predict_file(_read_model(model), data, output, proba=proba, hints=_hints(reading), progress=waiting.rows)
    if json:
        _print_json({"rows": rows, "output": str(output)})
    elif output is not None:
        print(f"{rows:,} predictions in {output}")
    return 0


def evaluate(
    model: Path,
    data: Annotated[str, Parameter(allow_leading_hyphen=True)],
    *,
    target: str | None = None,
    seed: int = 0,
    reading: Annotated[Reading | None, Parameter(name="*")] = None,
    json: bool = False,
) -> int:
    """Measure how good a model is on rows with known labels, each number with a 95 % bootstrap interval.

    Parameters
    ----------
    model
        A model that `linsep fit` wrote.
    data
        Rows that the model was not trained on; - for standard input.
    target
        The column with the labels; without it the one that the model was trained on.
    seed
        Of the resampling.
    json
        Print the numbers for a program instead.
    """
    from . import evaluation
    from .data.encoding import from_dict
    from .jobs import summaries
    from .jobs.preparation import encoded

    found = _read_model(model)
    with _Waiting() as waiting:
        waiting.on(f"reading {data}")
        examples = encoded(data, from_dict(found.encoding), target, _hints(reading))
        waiting.on("measuring")
        measured = evaluation.evaluate(found.model, examples.X, examples.y, threshold=found.threshold, seed=seed)
    for note in examples.notes:
        _note(note)
    if json:
        _print_json(summaries.evaluation_record(measured))
    else:
        print(summaries.evaluation_text(measured))
    return 0


def verify(
    model: Path,
    data: Annotated[str, Parameter(allow_leading_hyphen=True)],
    *,
    target: str | None = None,
    scratch: Path | None = None,
    reading: Annotated[Reading | None, Parameter(name="*")] = None,
    json: bool = False,
) -> int:
    """Check all that a model claims to be proven, from its training data alone.

    Exit code 0: all is as claimed and within tol; 1: it is not.

    Parameters
    ----------
    model
        A model that `linsep fit` wrote.
    data
        The file it was trained on.
    target
        The column with the labels; without it the one that the model was trained on.
    scratch
        The folder for the encoded rows of a long file, which is not taken into memory.
    json
        Print the outcome for a program instead.
    """
    from .data.encoding import from_dict
    from .jobs import checking_streams, summaries
    from .jobs.preparation import encoded
    from .verification import verify as check

    found = _read_model(model)
    with _Waiting() as waiting:
        waiting.on(f"reading {data}")
        if checking_streams.is_long(found.model, data):
            hints = _hints(reading)
            outcome = checking_streams.verify_in_parts(model, found, data, target, hints=hints, scratch=scratch)
        else:
            examples = encoded(data, from_dict(found.encoding), target, _hints(reading))
            waiting.on("verifying")
            outcome = check(model, examples.X, examples.y)
    if json:
        _print_json(summaries.verification_record(outcome))
    else:
        print(outcome)
    return 0 if outcome and outcome.proven else 1


def separable(
    data: Annotated[str, Parameter(allow_leading_hyphen=True)],
    *,
    target: str | None = None,
    numeric: tuple[str, ...] = (),
    category: tuple[str, ...] = (),
    date: tuple[str, ...] = (),
    text: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
    degree: int = 1,
    time_limit: float = 60.0,
    reading: Annotated[Reading | None, Parameter(name="*")] = None,
    json: bool = False,
) -> int:
    """Decide whether a plane separates two classes, and prove the answer.

    Parameters
    ----------
    data
        A file, as for `linsep fit`.
    target
        The column to predict.
    numeric
        Columns that are numbers.
    category
        Columns that are categories.
    date
        Columns that are dates.
    text
        Columns that are text.
    ignore
        Columns to leave out.
    degree
        2 adds squares and products of the numbers.
    time_limit
        Seconds to take at the most.
    json
        Print the verdict and its proof for a program instead.
    """
    from .jobs.preparation import prepare
    from .separability import separability

    kinds = _kinds(number=numeric, category=category, date=date, text=text, ignored=ignore)
    with _Waiting() as waiting:
        waiting.on(f"reading {data}")
        examples = prepare(data, target, hints=_hints(reading, kinds), kinds=kinds, degree=degree)
        waiting.on("looking for a plane, and for a proof that there is none")
        found = separability(examples.X, examples.y, time_limit=time_limit)
    for note in examples.notes:
        _note(note)
    if json:
        _print_json({"verdict": found.verdict, "separable": found.separable, "proof": found.to_dict()})
    else:
        print(found)
    return 0


def compare(
    data: Annotated[str, Parameter(allow_leading_hyphen=True)],
    *,
    target: str | None = None,
    test: str | None = None,
    C: Annotated[float, Parameter(name="--C")] = 1.0,
    tol: float = 1e-4,
    degree: int = 1,
    numeric: tuple[str, ...] = (),
    category: tuple[str, ...] = (),
    date: tuple[str, ...] = (),
    text: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
    seed: int = 0,
    reading: Annotated[Reading | None, Parameter(name="*")] = None,
    json: bool = False,
) -> int:
    """Fit every loss to the same file, and set side by side what each reaches.

    Parameters
    ----------
    data
        A file, as for `linsep fit`.
    target
        The column to predict.
    test
        Another file, to count errors on.
    C
        How much the losses count against the penalty.
    tol
        The relative duality gap to reach.
    degree
        2 adds squares and products of the numbers.
    numeric
        Columns that are numbers.
    category
        Columns that are categories.
    date
        Columns that are dates.
    text
        Columns that are text.
    ignore
        Columns to leave out.
    seed
        Of everything random.
    json
        Print the rows for a program instead.
    """
    from .comparison import compare as side_by_side
    from .jobs.preparation import encoded, prepare
    from .jobs.summaries import finite

    kinds = _kinds(number=numeric, category=category, date=date, text=text, ignored=ignore)
    with _Waiting() as waiting:
        waiting.on(f"reading {data}")
        examples = prepare(data, target, hints=_hints(reading, kinds), kinds=kinds, degree=degree)
        others = None if test is None else encoded(test, examples.encoding, target, _hints(reading))
        waiting.on("fitting every loss")
        further = {} if others is None else dict(X_test=others.X, y_test=others.y)
        table = side_by_side(examples.X, examples.y, C=C, tol=tol, random_state=seed, **further)
    for note in examples.notes:
        _note(note)
    if json:
        _print_json({"rows": finite(table.to_dict())})
    else:
        print(table)
    return 0 if all(row.proven for row in table if row.loss not in ("zero_one", "perceptron")) else 1


def explain(model: Path, *, top: int = 20, json: bool = False) -> int:
    """Show what a model has learned: its coefficients, the heaviest first, and what is proven of it.

    Parameters
    ----------
    model
        A model that `linsep fit` wrote.
    top
        How many coefficients to show; 0 for all.
    json
        Print all for a program instead.
    """
    from .jobs import summaries

    found = _read_model(model)
    if json:
        _print_json(summaries.explanation_record(found))
    else:
        print(summaries.explanation_text(found, top or None))
    return 0


def report(
    model: Path,
    data: Annotated[str, Parameter(allow_leading_hyphen=True)],
    *,
    target: str | None = None,
    output: Annotated[Path, Parameter(alias="-o")] = Path("report.html"),
    train: str | None = None,
    time_limit: float = 10.0,
    seed: int = 0,
    reading: Annotated[Reading | None, Parameter(name="*")] = None,
    json: bool = False,
) -> int:
    """Write one HTML file on a model: what is proven, how good it is, its weights, its worst mistakes.

    Parameters
    ----------
    model
        A model that `linsep fit` wrote.
    data
        Rows with known labels to measure it on, best ones that it was not trained on; - for standard input.
    target
        The column with the labels; without it the one that the model was trained on.
    output
        Where to write the page, which needs nothing else.
    train
        The file that it was trained on: separability and what to watch out for are then told of that.
    time_limit
        Seconds for the search for a proof of separability.
    seed
        Of the resampling.
    json
        Print where it went and the numbers for a program instead.
    """
    from .atomic_file import write_atomically
    from .jobs.reporting import report_model, report_record, report_text
    from .report import render

    found = _read_model(model)
    with _Waiting() as waiting:
        waiting.on(f"reading {data} and measuring")
        options: dict[str, Any] = dict(
            model=model, train=train, hints=_hints(reading), time_limit=time_limit, seed=seed
        )
        content = report_model(found, data, target, **options)
        waiting.on(f"writing {output}")
        write_atomically(output, render(content).encode())
    for note in content.notes:
        _note(note)
    if json:
        _print_json(report_record(content, output))
    else:
        print(report_text(content, output))
    return 0


def replay(
    data: Annotated[str, Parameter(allow_leading_hyphen=True)],
    *,
    target: str | None = None,
    output: Annotated[Path, Parameter(alias="-o")] = Path("replay.html"),
    loss: str = "perceptron",
    solver: str = "auto",
    order: Literal["random", "cyclic", "worst"] | None = None,
    C: Annotated[float | None, Parameter(name="--C")] = None,
    schedule: str | None = None,
    eta: float | None = None,
    max_iter: int | None = None,
    steps: int | None = None,
    positive: str | None = None,
    degree: int = 1,
    numeric: tuple[str, ...] = (),
    category: tuple[str, ...] = (),
    date: tuple[str, ...] = (),
    text: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
    seed: int = 0,
    reading: Annotated[Reading | None, Parameter(name="*")] = None,
    json: bool = False,
) -> int:
    """Show a fit step by step: one HTML file to play, pause and step through, or a GIF or MP4 for slides.

    Parameters
    ----------
    data
        A file, as for `linsep fit`.
    target
        The column to predict.
    output
        Where to: .html, .gif or .mp4.
    loss
        perceptron, hinge, squared_hinge, logistic or square.
    solver
        auto (the perceptron, or stochastic descent for other losses), perceptron, sgd, gradient_descent, newton, dual.
    order
        In which order examples come, for a method that takes one at a time; worst is the worst violator each time.
    C
        How much the losses count against the penalty; inf for no penalty.
    schedule
        Step sizes: constant, inverse_time, inverse_sqrt or inverse; by default such as suit the data.
    eta
        The first step size.
    max_iter
        Passes over the data (of a method that takes all examples at once, steps) at the most.
    steps
        After how many recorded steps to stop at the latest.
    positive
        Of more than two classes, the one to tell from the rest.
    degree
        2 adds squares and products of the numbers: with two columns the boundary is drawn in their plane, curved.
    numeric
        Columns that are numbers.
    category
        Columns that are categories.
    date
        Columns that are dates.
    text
        Columns that are text.
    ignore
        Columns to leave out.
    seed
        Of everything random.
    json
        Print where it went and how the fit did for a program instead.
    """
    from .jobs import summaries
    from .jobs.preparation import prepare
    from .jobs.replaying import Method, replay_examples
    from .replay import check_ending, save

    check_ending(output)
    kinds = _kinds(number=numeric, category=category, date=date, text=text, ignored=ignore)
    method = Method(loss, solver, order, C, schedule, eta, max_iter)
    with _Waiting() as waiting:
        waiting.on(f"reading {data}")
        examples = prepare(data, target, hints=_hints(reading, kinds), kinds=kinds, degree=degree)
        waiting.on("fitting, step by step")
        film = replay_examples(examples, method, steps=steps, positive=positive, seed=seed)
        waiting.on(f"writing {output}")
        save(film, output)
    if json:
        _print_json(summaries.replay_record(film, output))
    else:
        print(summaries.replay_text(film, output))
    return 0


def export(
    model: Path,
    *,
    to: Literal["onnx", "sql", "python"],
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    json: bool = False,
) -> int:
    """Write a model, its encoding included, in a form that runs without linsep.

    Parameters
    ----------
    model
        A model that `linsep fit` wrote.
    to
        onnx; sql, what stands between SELECT and FROM; python, a file that needs nothing but Python.
    output
        Where to; without it SQL and Python go to standard output.
    json
        Print where it went for a program; this takes -o.
    """
    from .atomic_file import write_atomically
    from .jobs.export_onnx import to_onnx
    from .jobs.export_python import to_python
    from .jobs.export_sql import to_sql

    if output is None and (json or to == "onnx"):
        raise ValueError("say where to write with -o")
    found = _read_model(model)
    content = to_onnx(found) if to == "onnx" else {"sql": to_sql, "python": to_python}[to](found).encode()
    if output is None:
        print(content.decode())
        return 0
    write_atomically(output, content)
    if json:
        _print_json({"output": str(output), "bytes": len(content), "format": to})
    else:
        print(f"{to} in {output}, {len(content):,} bytes")
    return 0


def _kinds(**columns: tuple[str, ...]) -> dict[str, str]:
    """Return what the user says that columns are; lists may be separated by commas too."""
    said: dict[str, str] = {}
    for kind, names in columns.items():
        for name in (part.strip() for word in names for part in word.split(",")):
            if said.setdefault(name, kind) != kind:
                raise ValueError(f"column {name!r} cannot be {said[name]} and {kind} at once")
    return said


def _hints(reading: Reading | None, kinds: dict[str, str] | None = None) -> Any:
    from .data.readers import Hints

    reading = reading or Reading()
    delimiter = {"tab": "\t", "\\t": "\t", "space": " "}.get(reading.delimiter or "", reading.delimiter)
    as_text = frozenset(name for name, kind in (kinds or {}).items() if kind != "number")
    return Hints(delimiter, reading.header, reading.encoding, reading.missing, as_text)


def _read_model(path: Path) -> Any:
    from .model_file import read

    return read(path)


#: In the order in which the help lists them.
COMMANDS: tuple[Callable[..., int], ...] = (
    demo,
    fit,
    predict,
    evaluate,
    verify,
    separable,
    compare,
    explain,
    report,
    replay,
    export,
    doctor,
)


# -- how commands speak --------------------------------------------------------------------------------------------


def _print_json(record: dict[str, Any]) -> None:
    print(json_format.dumps(record, indent=2, ensure_ascii=False, allow_nan=False))


def _print_styled(render: Callable[[bool], str]) -> None:
    """Print text in rich's markup where there is colour, plain text elsewhere."""
    from rich.console import Console

    console = Console()
    # Sixteen colours cannot show a faint blue beside a faint orange; shades of characters can.
    color = console.color_system in ("256", "truecolor") and not console.no_color
    # Left to itself, rich folds lines at the width it guesses, which is 80 in a pipe.
    console.print(render(color), markup=color, highlight=False, emoji=False, soft_wrap=True)


class _Waiting:
    """Says on standard error what is going on, once it has taken more than a second; and how fast rows go by."""

    def __init__(self, patience: float = 1.0) -> None:
        self._patience, self._began, self._what = patience, time.monotonic(), ""
        self._lock = threading.Lock()
        self._status: Any = None
        self._timer: threading.Timer | None = None
        self._told = 0.0
        self._what_began = "", 0.0, 0

    def __enter__(self) -> _Waiting:
        return self

    def __exit__(self, *failure: object) -> None:
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            if self._status is not None:
                self._status.stop()

    def on(self, what: str) -> None:
        """Name the next thing that takes time."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._what = what
            if self._status is not None:
                self._status.update(what)
                return
            self._timer = threading.Timer(self._patience, self._show)
            self._timer.daemon = True
            self._timer.start()

    def rows(self, count: int) -> None:
        """Tell how many rows are done."""
        now = time.monotonic()
        if now - self._told > 0.5 and now - self._began > self._patience:
            self._told = now
            with self._lock:
                self._what = f"{count:,} rows, {count / (now - self._began):,.0f} a second"
                if self._status is not None:
                    self._status.update(self._what)
                    return
            self._show()

    def share(self, what: str, done: int, total: int) -> None:
        """Tell what is going on, how much of it is done, at what rate and, if there is a total, how long it takes."""
        now = time.monotonic()
        if what != self._what_began[0]:
            self._what_began = what, now, done
        if now - self._told > 0.5 and now - self._began > self._patience:
            self._told = now
            rate = (done - self._what_began[2]) / max(now - self._what_began[1], 1e-3) or done / self._patience
            text = f"{what}: {done:,} rows, {rate:,.0f} a second"
            if total:
                text = f"{what}: {done:,} of {total:,} rows, {rate:,.0f} a second, {(total - done) / rate:,.0f} s left"
            with self._lock:
                self._what = text
                if self._status is not None:
                    self._status.update(text)
                    return
            self._show()

    def _show(self) -> None:
        from rich.console import Console

        console = Console(stderr=True)
        with self._lock:
            if not console.is_terminal:
                print(f"linsep: {self._what} …", file=sys.stderr, flush=True)
            elif self._status is None:
                self._status = console.status(self._what)
                self._status.start()


def _note(message: object) -> None:
    print(f"linsep: {message}", file=sys.stderr)


# -- the entry point ----------------------------------------------------------------------------------------------


def run() -> None:
    """Run the command of this process: `main`, started quickly, and left quickly."""
    defer("scipy.stats")
    leave_out("pandas")
    code = main()
    with suppress(BrokenPipeError):
        sys.stderr.flush()
    # All is written. To take the data and a thousand modules apart one by one before the system does takes as long as
    # many a fit.
    os._exit(code)


def main() -> int:
    """Run the command in ``sys.argv`` and return the exit code."""
    debug = "--debug" in sys.argv
    _prepare_streams()
    warnings.showwarning = lambda message, category, *where, **more: _note(f"warning: {message}")
    try:
        code = _app()([word for word in sys.argv[1:] if word != "--debug"])
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except BrokenPipeError:
        # Who was reading has had enough, as in `linsep demo | head`. Python would complain again on leaving.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:  # noqa: BLE001 (the last resort before a user sees a traceback)
        if debug:
            traceback.print_exc()
        _note(_explain(error))
        return 2


def _app() -> App:
    from cyclopts import App, Parameter

    # The commands' annotations name it, and are read only now: a missing package must not keep `main` from saying so.
    globals()["Parameter"] = Parameter
    app = App(
        name="linsep",
        help="Linear classifiers that prove their answers.",
        help_epilogue="With --debug, an error shows its traceback.",
        version=__version__,
        default_parameter=Parameter(negative=()),
        result_action="return_value",
    )
    for command in COMMANDS:
        app.command(command)
    app.register_install_completion_command(help="Let the shell complete commands and options (bash, zsh, fish).")
    return app


def _prepare_streams() -> None:
    """Let a terminal that cannot show a block character show a question mark, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _explain(error: Exception) -> str:
    """Return one line for the user: what was wrong, and what to do where it is not the data."""
    if isinstance(error, ModuleNotFoundError) and (extra := EXTRAS.get((error.name or "").partition(".")[0])):
        return f"{error.name} is not installed, which this command needs: pip install 'linsep[{extra}]'"
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, OSError | ValueError):
        return str(error)
    return f"internal error, {type(error).__name__}: {error}. Run it again with --debug and report what it shows"
