"""The checklist of a release, as a script: every step is done, and the first that fails ends it.

    python release/check.py [--out FOLDER] [--quick] [--version 0.1.0]

1. The version is the same in the package, the changelog and CITATION.cff, and nothing is left to commit; with
   `--version`, the changelog says on which day it is released.
2. An sdist and a wheel are built.
3. Each is installed in an environment of its own: the wheel as it is, the sdist with a compiler, and the sdist where
   there is none (the plain-Python kernels take over).
4. The command runs there, fits and verifies a file; the tests run against the installed wheel (`--quick`: without).
5. The documentation is built, without warnings.

Before that, somebody reads every message as a whole: `python release/messages.py`.

Nothing is uploaded, and no tag is made: what to type for that is said at the end.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: A file to fit in a new environment: whoever installs it wants this first.
ROWS = "age,income,bought\n23,31000,no\n35,52000,yes\n41,48000,no\n52,88000,yes\n29,39000,no\n47,93000,yes\n"


def main() -> None:
    """Go through the list."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where sdist and wheel go")
    parser.add_argument("--version", help="the version that is to be released")
    parser.add_argument("--quick", action="store_true", help="leave the tests and the documentation out")
    asked = parser.parse_args()
    version = check_version(asked.version)
    with tempfile.TemporaryDirectory(prefix="linsep-release-") as folder:
        work = Path(folder)
        sdist, wheel = build(work, asked.out)
        try_package(work / "wheel", wheel, "[cli]", kernels=True)
        try_package(work / "sdist", sdist, "[cli]", kernels=True)
        try_package(work / "plain", sdist, "[cli]", kernels=False)
        if not asked.quick:
            run_tests(work / "tests", wheel)
            build_docs(work / "tests")
    print(f"\n{version} is ready in {asked.out.name}/. To release it:\n  git tag v{version} && git push --tags")
    print(f"  python -m twine upload {asked.out.name}/*{version}*")


def check_version(wanted: str | None) -> str:
    """Return the version, which is everywhere the same."""
    version = _found(r'^__version__ = "(.+)"', ROOT / "src/linsep/__init__.py")
    places = {"CHANGELOG.md": r"^## \[?([\d.]+)\]?", "CITATION.cff": r"^version: (.+)$"}
    for name, pattern in places.items():
        if (said := _found(pattern, ROOT / name)) != version:
            sys.exit(f"{name} is of {said}, the package of {version}: write the same")
    if wanted is not None and wanted != version:
        sys.exit(f"the package is of {version}, not {wanted}: change __version__ in src/linsep/__init__.py")
    day = _found(r"^## \[?[\d.]+\]? - (.+)$", ROOT / "CHANGELOG.md")
    if wanted is not None and not re.fullmatch(r"\d{4}-\d\d-\d\d", day):
        sys.exit(f"CHANGELOG.md says {day!r} of {version}: write the day of its release, YYYY-MM-DD")
    if said := _run(["git", "status", "--porcelain"], cwd=ROOT):
        sys.exit(f"not committed yet:\n{said}")
    _step(f"version {version}, said alike everywhere")
    return version


def _found(pattern: str, path: Path) -> str:
    match = re.search(pattern, path.read_text("utf-8"), re.MULTILINE)
    return match.group(1).strip() if match else "nothing"


def build(work: Path, out: Path) -> tuple[Path, Path]:
    """Build sdist and wheel, and return where they are."""
    python = _environment(work / "build", "build")
    shutil.rmtree(out, ignore_errors=True)
    _run([python, "-m", "build", "--outdir", str(out), str(ROOT)])
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    _step(f"built {sdist.name} and {wheel.name}")
    return sdist, wheel


def try_package(folder: Path, package: Path, extras: str, *, kernels: bool) -> None:
    """Install a package in a new environment, with a compiler or without, and use it as a newcomer would."""
    hidden = {} if kernels else {"CXX": "/nonexistent/c++", "CC": "/nonexistent/cc", "CMAKE_GENERATOR": "none"}
    python = _environment(folder, f"{package}{extras}", **hidden)
    linsep = str(Path(python).with_name("linsep"))
    (folder / "rows.csv").write_text(ROWS, "utf-8")
    _run([linsep, "fit", "rows.csv", "-t", "bought", "-o", "model.json"], cwd=folder)
    said = _run([linsep, "verify", "model.json", "rows.csv"], cwd=folder)
    in_use = _run(
        [python, "-c", "from linsep._core import kernels_in_use; print(kernels_in_use())"], cwd=folder
    ).strip()
    if "Verified" not in said or (in_use == "reference") == kernels:
        sys.exit(f"{package.name}: verify said {said!r}, with the kernels {in_use!r}")
    _step(f"{package.name} {'with' if kernels else 'without'} a compiler: fits and verifies, kernels {in_use}")


def run_tests(folder: Path, wheel: Path) -> None:
    """Run the tests against the installed wheel: `import linsep` finds no other, since the source is below src/."""
    python = _environment(folder, f"{wheel}[dev,docs]")
    _run([python, "-m", "pytest"], cwd=ROOT)
    _step("the tests pass on the installed wheel")


def build_docs(folder: Path) -> None:
    """Build the documentation, where a warning is an error."""
    _run([str(folder / "venv/bin/python"), "-m", "sphinx", "-W", "--keep-going", "-q", "docs", "docs/_build"], cwd=ROOT)
    _step("the documentation builds without a warning")


def _environment(folder: Path, *packages: str, **variables: str) -> str:
    """Make a new environment with some packages, and return its Python."""
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    python = str(folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python")
    _run([python, "-m", "pip", "install", "-q", *packages], **variables)
    return python


def _run(words: list[str], cwd: Path | None = None, **variables: str) -> str:
    """Run a command and return what it prints; end with all that it said where it fails."""
    done = subprocess.run(words, cwd=cwd, env=os.environ | variables, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def _step(words: str) -> None:
    print(f"done: {words}", flush=True)


if __name__ == "__main__":
    main()
