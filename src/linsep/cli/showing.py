"""Commands that need no file: demo and play; and what an installation consists of."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, validators

from .. import __version__, _core
from .options import Json, Output, Seed, placed
from .speech import Waiting, note, print_json, print_styled


def demo(
    *,
    seed: Seed = 0,
    noise: float = 0.2,
    data: Path | None = None,
    output: Output | None = None,
    json: Json = False,
) -> int:
    """Tell handwritten 3s from 7s with every model, and show what they learned, in the terminal and in report.html.

    Parameters
    ----------
    seed
        Decides which images are drawn, their noise, and the order in which the perceptron sees them.
    noise
        Standard deviation of the noise on the training images, whose pixels go from 0 to 1; 0 for none.
    data
        Folder with MNIST's IDX files. Without it the folder that LINSEP_DATA names, or scikit-learn's digits, enlarged
        to 28 × 28 pixels.
    output
        Where to write the page with all of it and the replay of the perceptron; without it report.html, or
        report-2.html where that is taken. The last line says where it is.
    """
    from .. import demo as demonstration
    from .._common.atomic_file import write_atomically

    output = placed(output, "report.html")
    importlib.import_module("rich")  # whatever is missing is said before the work, not after it
    with Waiting("fitting every model to the images") as waiting:
        found = demonstration.run(_demo_images(data), seed=seed, noise=noise)
        waiting.on(f"writing {output}")
        write_atomically(output, demonstration.page(found).encode())
    if json:
        print_json(demonstration.to_record(found) | {"report": str(output)})
    else:
        print_styled(lambda color: demonstration.render(found, report=str(output), color=color))
    return 0


def _demo_images(data: Path | None) -> Any:
    """Return the images to use: a folder that was asked for must have them, LINSEP_DATA may hold other data only."""
    from .. import demo as demonstration

    if data is not None:
        return demonstration.mnist(data)
    if folder := os.environ.get("LINSEP_DATA"):
        try:
            return demonstration.mnist(folder)
        except FileNotFoundError as error:
            note(f"{error}; using scikit-learn's digits instead of LINSEP_DATA")
    return demonstration.embedded_digits()


def play(
    data: Path | None = None,
    *,
    port: Annotated[int | None, Parameter(validator=validators.Number(gte=1, lt=2**16))] = None,
    browser: Annotated[bool, Parameter(negative="--no-browser")] = True,
) -> int:
    """Open a page in the browser: draw points or drop a file, choose a method, and watch it learn.

    Everything is computed by this program, on this machine; Ctrl-C ends it.

    Parameters
    ----------
    data
        A table to begin with, such as CSV or Parquet; or the address of such a page, whose points it begins with.
    port
        Where to serve; by default 8421, or any other if that is taken.
    browser
        Whether to open the browser; --no-browser only says the address.
    """
    import threading
    import webbrowser

    from ..play.files import Files
    from ..play.server import Running

    given = Files()
    words = "" if data is None else str(data)
    fragment = words[words.index("#") :] if words.startswith(("http:/", "#")) and "#" in words else ""
    if data is not None and not fragment:
        given.open(data)
    running = Running(given, port)
    print(f"{running.address}{fragment}", flush=True)
    note("open this address in a browser on this machine; Ctrl-C ends the page")
    if browser:
        threading.Timer(0.3, webbrowser.open, [running.address + fragment]).start()
    running.serve()
    return 0


def installation(json: bool) -> int:
    """Show what this installation consists of: versions, compiled kernels, threads."""
    facts = _installation()
    if json:
        print_json(facts)
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

    from . import EXTRAS

    names = ("numpy", "scipy", "scikit-learn", "narwhals", "pandas", "polars", *EXTRAS)
    return {
        "linsep": __version__,
        "kernels": _core.kernels_in_use(),
        "threads": _core.threads(),
        "threads of": {pool["prefix"]: pool["num_threads"] for pool in threadpool_info()},
        "python": f"{platform.python_version()} ({sys.executable})",
        "system": f"{platform.system()} {platform.release()} on {platform.machine()}, {os.cpu_count()} processors",
        "packages": {name.replace("_", "-"): _version(name) for name in names},
        "LINSEP_DATA": os.environ.get("LINSEP_DATA"),
    }


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
