"""The rules of the house: examples that run, commands that agree. Style and types are steps of `.ci/run`."""

import doctest
import importlib
import pkgutil
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import linsep

ROOT = Path(__file__).parent.parent

MODULES = [m.name for m in pkgutil.walk_packages(linsep.__path__, "linsep.") if "_kernels" not in m.name]


#: Modules of extras that the README does not install; `.ci/run` does, before it runs what takes long.
OF_EXTRAS = {
    "linsep.dask": "distributed",
    "linsep.cluster.dask": "distributed",
    "linsep.spark": "pyspark",
    "linsep.cluster.spark": "pyspark",
    "linsep.cluster.on_spark": "pyspark",
    "linsep.cluster.columns": "pyspark",
    "linsep.play.server": "uvicorn",
}


@pytest.mark.parametrize("name", ["linsep", *MODULES])
def test_examples_in_docstrings_run(name):
    if name in OF_EXTRAS:
        pytest.importorskip(OF_EXTRAS[name])
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


def test_ci_runs_the_readmes_test_command_word_for_word():
    commands = re.findall(r"^(python3 -m venv .*?)\s*(?:#.*)?$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert len(commands) == 2
    (found,) = re.findall(r'^eval "\$\((.*)\)"$', (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    taken = subprocess.run(["bash", "-c", found], cwd=ROOT, capture_output=True, text=True, check=True)
    assert taken.stdout.strip() == commands[1]


def test_ci_ends_where_a_step_of_that_command_fails():
    done = subprocess.run(
        ["bash", "-euc", 'eval "false && true"; echo went on'], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert not done.stdout


def test_ci_checks_style_types_and_imports_and_runs_what_takes_long():
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    for step in ("ruff check", "ruff format --check", "mypy", "lint-imports --no-cache", "pytest -m slow"):
        assert f".venv/bin/{step}" in lines
    assert any(line.startswith("HYPOTHESIS_PROFILE=thorough .venv/bin/pytest -m 'hypothesis") for line in lines)


def test_a_compiler_means_compiled_kernels():
    if shutil.which("c++") or shutil.which("g++"):
        assert linsep._core.kernels_in_use() in ("avx2", "baseline")
