"""The rules of the house: examples that run, commands that agree. Style and types are steps of `.ci/run`."""

import doctest
import importlib
import pkgutil
import re
import shutil
from pathlib import Path

import pytest

import linsep

ROOT = Path(__file__).parent.parent

MODULES = [m.name for m in pkgutil.walk_packages(linsep.__path__, "linsep.") if "_kernels" not in m.name]


@pytest.mark.parametrize("name", ["linsep", *MODULES])
def test_examples_in_docstrings_run(name):
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert failed == 0


@pytest.mark.parametrize("page", ["README.md", "docs/tour.md"])
def test_python_blocks_of_a_page_run_one_after_the_other(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)


def test_every_requirement_has_a_test_and_every_test_a_requirement():
    required = re.findall(r"^\| (M\d+) \|", (ROOT / "docs" / "requirements.md").read_text(), re.MULTILINE)
    sources = [path.read_text() for path in (ROOT / "tests").rglob("test_*.py")]
    prefixes = re.findall(r"^\s*def test_((?:m\d+_)+)", "\n".join(sources), re.MULTILINE)
    tested = {row.upper() for prefix in prefixes for row in re.findall(r"m\d+", prefix)}
    assert len(required) == len(set(required))
    assert set(required) == tested


def test_the_readme_fits_on_one_screen():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 45


def test_ci_takes_the_steps_of_the_readmes_test_command():
    commands = re.findall(r"^(python3 -m venv .*?)\s*(?:#.*)?$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert len(commands) == 2
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    steps = [lines.index(step) for step in commands[1].split(" && ")]
    assert steps == sorted(steps)


def test_ci_checks_style_types_and_imports_before_the_tests():
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    checks = ["ruff check", "ruff format --check", "mypy", "lint-imports --no-cache"]
    steps = [lines.index(f".venv/bin/{step}") for step in [*checks, "pytest", "pytest -m slow"]]
    assert steps == sorted(steps)


def test_a_compiler_means_compiled_kernels():
    if shutil.which("c++") or shutil.which("g++"):
        assert linsep._core.kernels_in_use() in ("avx2", "baseline")
