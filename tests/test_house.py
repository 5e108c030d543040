"""The rules of the house: formatting, types, one-way imports, examples that run, commands that agree."""

import doctest
import importlib
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import linsep

ROOT = Path(__file__).parent.parent
SCRIPTS = Path(sys.executable).parent


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "src", "tests", "benchmarks", "examples"],
        ["ruff", "format", "--check", "src", "tests", "benchmarks", "examples"],
        ["mypy"],
        ["lint-imports", "--no-cache"],
    ],
    ids=" ".join,
)
def test_tool_is_content(command):
    done = subprocess.run([SCRIPTS / command[0], *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


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


def test_the_readme_fits_on_one_screen():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 45


def test_ci_calls_the_test_command_of_the_readme():
    commands = re.findall(r"^(python3 -m venv .*?)\s*(?:#.*)?$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert len(commands) == 2
    assert commands[1] in (ROOT / ".ci" / "run").read_text().splitlines()


def test_a_compiler_means_compiled_kernels():
    if shutil.which("c++") or shutil.which("g++"):
        assert linsep._core.kernels_in_use() in ("avx2", "baseline")
