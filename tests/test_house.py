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


def test_python_blocks_of_the_readme_run():
    X, y = [[0.0, 0.0], [0.0, 1.0], [3.0, 2.0], [4.0, 3.0]], [0, 0, 1, 1]
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(block, {"X": X, "y": y})


def test_ci_calls_the_test_command_of_the_readme():
    commands = re.findall(r"^(python3 -m venv .*?)\s*(?:#.*)?$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert len(commands) == 2
    assert commands[1] in (ROOT / ".ci" / "run").read_text().splitlines()


def test_a_compiler_means_compiled_kernels():
    if shutil.which("c++") or shutil.which("g++"):
        assert linsep._core.kernels_in_use() in ("avx2", "baseline")
