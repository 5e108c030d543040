"""Versions: environments with the oldest and the newest packages that pyproject claims, and the fast tests in each.

    python attacks/versions.py [--which oldest newest] [--tests tests/estimators] [--keep FOLDER] [--wheel FILE]

The oldest are the lower bounds in pyproject.toml, taken literally, of `dependencies`, of the extras that `all` names,
and of what tests import besides. linsep is built once, as a wheel, whose kernels know no package but Python; `--wheel`
takes one that there is. What tests ask of a newer package than they find
(callbacks of scikit-learn 1.9), or of an extra that is not there, they skip. The exit code is 1 if a build or a test
fails.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: Extras that commands and pictures need, and what the tests import besides, of the extra `dev`.
EXTRAS = ("cli", "plot", "onnx", "excel")
BESIDE = (
    "cvxpy",
    "duckdb",
    "hypothesis",
    "mpmath",
    "onnxruntime",
    "openpyxl",
    "pandas",
    "polars",
    "pytest",
    "pytest-xdist",
)
#: What Matplotlib of old does not know to be deprecated.
OF_OLD = ("pyparsing<3.3",)


def name_of(requirement: str) -> str:
    """Return the package that a requirement names.

    >>> name_of("pytest-xdist>=3.5")
    'pytest-xdist'
    """
    return re.split(r"[<>=\[]", requirement)[0]


def claimed() -> list[str]:
    """Return what pyproject asks for: the core, the extras, and what tests import."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    beside = [of for of in extras["dev"] if name_of(of) in BESIDE]
    return [*project["dependencies"], *(of for extra in EXTRAS for of in extras[extra]), *beside]


def oldest(requirements: list[str]) -> list[str]:
    """Return requirements with their lower bounds as the versions to take.

    >>> oldest(["numpy>=1.26", "polars>=1"])
    ['numpy==1.26.*', 'polars==1.0.*']
    """
    bounds = [(name_of(of), of.partition(">=")[2]) for of in requirements]
    return [f"{name}=={bound if '.' in bound else bound + '.0'}.*" for name, bound in bounds]


def wheel(folder: Path) -> Path:
    """Build linsep, and return its wheel."""
    command = ["-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-deps", "-w", str(folder), str(ROOT)]
    subprocess.run([sys.executable, *command], check=True)
    return next(folder.glob("linsep-*.whl"))


def build(which: str, folder: Path, linsep: Path) -> Path:
    """Make an environment, install the wheel into it with what it needs, and return its interpreter."""
    place = folder / which
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    python = place / "bin" / "python"
    wanted = [*oldest(claimed()), *OF_OLD] if which == "oldest" else claimed()
    pip = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, *wanted], check=True)
    subprocess.run([*pip, "--no-deps", "--force-reinstall", str(linsep)], check=True)
    return python


def versions(python: Path) -> str:
    """Return which versions an environment has."""
    names = [name_of(of) for of in claimed()]
    code = f"import importlib.metadata as m; print(', '.join(f'{{n}} {{m.version(n)}}' for n in {names}))"
    return subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--which", nargs="+", default=["oldest", "newest"], choices=["oldest", "newest"])
    parser.add_argument("--tests", nargs="+", default=["tests"])
    parser.add_argument("--keep", type=Path, help="a folder for the environments, which stay")
    parser.add_argument("--wheel", type=Path, help="linsep, built before")
    chosen = parser.parse_args()
    failed = []
    with tempfile.TemporaryDirectory() as scratch:
        linsep = chosen.wheel or wheel(Path(scratch))
        for which in chosen.which:
            python = build(which, chosen.keep or Path(scratch), linsep)
            print(f"{which}: {versions(python)}", flush=True)
            command = [str(python), "-m", "pytest", "-p", "no:cacheprovider", *chosen.tests]
            done = subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}, check=False)
            if done.returncode:
                failed.append(which)
    print(f"failed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
