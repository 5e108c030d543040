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
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import __version__, _core

if TYPE_CHECKING:
    from cyclopts import App

__all__ = ["COMMANDS", "main"]

#: Packages that only some commands need, and the extra that brings them.
EXTRAS = {"cyclopts": "cli", "rich": "cli"}


# -- commands -----------------------------------------------------------------------------------------------------


def demo(*, seed: int = 0, noise: float = 0.2, data: Path | None = None, json: bool = False) -> int:
    """Tell handwritten 3s from 7s with a perceptron and by least squares, and draw what they learned.

    Parameters
    ----------
    seed
        Decides which images are drawn, their noise, and the order in which the perceptron sees them.
    noise
        Standard deviation of the noise on the training images, whose pixels go from 0 to 1; 0 for none.
    data
        Folder with MNIST's IDX files. Without it the folder that LINSEP_DATA names, or scikit-learn's own digits.
    json
        Print the numbers for a program instead.
    """
    from . import demo as demonstration

    found = demonstration.run(_demo_images(data), seed=seed, noise=noise)
    if json:
        _print_json(demonstration.to_record(found))
    else:
        _print_styled(lambda color: demonstration.render(found, color=color))
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

    names = ("numpy", "scipy", "scikit-learn", "narwhals", "cyclopts", "rich", "pandas", "polars", "pyarrow")
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


#: In the order in which the help lists them.
COMMANDS: tuple[Callable[..., int], ...] = (demo, doctor)


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


def _note(message: object) -> None:
    print(f"linsep: {message}", file=sys.stderr)


# -- the entry point ----------------------------------------------------------------------------------------------


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
    if isinstance(error, OSError | ValueError):
        return str(error)
    return f"internal error, {type(error).__name__}: {error}. Run it again with --debug and report what it shows"
