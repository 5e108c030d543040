"""The checklist of a release, as far as it is quick: what has to be the same everywhere, and the day of the release."""

import runpy
import subprocess
from pathlib import Path

import pytest

import linsep

CHECK = Path(__file__).parent.parent / "release" / "check.py"


@pytest.fixture
def checked(tmp_path):
    """Check a repository whose files say these versions, with nothing left to commit."""

    def check(wanted=None, *, package="1.2.0", changelog="## 1.2.0 - 2030-01-31", citation="1.2.0"):
        (tmp_path / "src" / "linsep").mkdir(parents=True)
        (tmp_path / "src" / "linsep" / "__init__.py").write_text(f'__version__ = "{package}"\n')
        (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n{changelog}\n")
        (tmp_path / "CITATION.cff").write_text(f"cff-version: 1.2.0\nversion: {citation}\n")
        (tmp_path / ".gitignore").write_text("*\n")
        subprocess.run(["git", "init", "-q", tmp_path], check=True)
        program = runpy.run_path(str(CHECK))
        program["check_version"].__globals__["ROOT"] = tmp_path
        return program["check_version"](wanted)

    return check


def test_the_same_version_everywhere_and_a_day_can_be_released(checked):
    assert checked("1.2.0") == "1.2.0"


def test_a_rehearsal_needs_no_day(checked):
    assert checked(changelog="## [1.2.0] - Unreleased") == "1.2.0"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"citation": "1.1.0"}, "CITATION.cff is of 1.1.0, the package of 1.2.0"),
        ({"changelog": "## 1.1.0 - 2030-01-31"}, "CHANGELOG.md is of 1.1.0"),
        ({"changelog": "## 1.2.0 - Unreleased"}, "write the day of its release"),
        ({"wanted": "1.3.0"}, "the package is of 1.2.0, not 1.3.0"),
    ],
)
def test_what_is_not_ready_is_told(checked, said, words):
    with pytest.raises(SystemExit, match=words):
        checked(said.pop("wanted", "1.2.0"), **said)


def test_this_repository_says_one_version():
    root = CHECK.parent.parent
    assert f"\nversion: {linsep.__version__}\n" in (root / "CITATION.cff").read_text("utf-8")
    assert f"\n## {linsep.__version__} - " in (root / "CHANGELOG.md").read_text("utf-8")
