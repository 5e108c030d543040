"""Versions: environments with the oldest and the newest packages that pyproject claims, and the fast tests in each.

    python attacks/versions.py [--which oldest newest] [--tests tests/estimators …] [--keep FOLDER]

The oldest are the lower bounds of `dependencies` and of the extra `cli` in pyproject.toml, taken literally; of the
other packages that tests import, pip takes what fits beside them. linsep is built anew in each. Tests that need an
extra which is not there are skipped by themselves. The exit code is 1 if a build or a test fails.
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
#: What the tests of this command import besides.
BESIDE = ("pytest", "pytest-xdist", "hypothesis", "mpmath", "pandas")
TESTS = ("tests/estimators", "tests/persistence", "tests/data", "tests/core", "tests/test_losses.py")


def claimed() -> list[str]:
    """Return what pyproject asks for: the core, and what commands need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return [*project["dependencies"], *project["optional-dependencies"]["cli"]]


def oldest(requirements: list[str]) -> list[str]:
    """Return requirements with their lower bounds as the versions to take.

    >>> oldest(["numpy>=1.26", "rich>=13"])
    ['numpy==1.26.*', 'rich==13.*']
    """
    return [re.sub(r">=([\d.]+).*", r"==\1.*", of) for of in requirements]


def build(which: str, folder: Path) -> Path:
    """Make an environment, install into it, and return its interpreter."""
    place = folder / which
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    python = place / "bin" / "python"
    wanted = oldest(claimed()) if which == "oldest" else claimed()
    pip = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, *wanted, *BESIDE], check=True)
    subprocess.run([*pip, "--no-deps", str(ROOT)], check=True)
    return python


def versions(python: Path) -> str:
    """Return which versions an environment has."""
    names = [re.split(r"[<>=\[]", of)[0] for of in claimed()]
    code = f"import importlib.metadata as m; print(', '.join(f'{{n}} {{m.version(n)}}' for n in {names}))"
    return subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--which", nargs="+", default=["oldest", "newest"], choices=["oldest", "newest"])
    parser.add_argument("--tests", nargs="+", default=list(TESTS))
    parser.add_argument("--keep", type=Path, help="a folder for the environments, which stay")
    chosen = parser.parse_args()
    failed = []
    with tempfile.TemporaryDirectory() as scratch:
        for which in chosen.which:
            python = build(which, chosen.keep or Path(scratch))
            print(f"{which}: {versions(python)}", flush=True)
            command = [str(python), "-m", "pytest", "-p", "no:cacheprovider", *chosen.tests]
            done = subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}, check=False)
            if done.returncode:
                failed.append(which)
    print(f"failed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
