"""A quick start: what no command uses is not loaded, and what is deferred is there when it is asked for."""

import subprocess
import sys

import pytest

from linsep import cli

CODE = """
import sys
from linsep.cli.startup import defer, leave_out
defer("scipy.stats")
leave_out("pandas")
{body}
print(sorted(name for name in sys.modules if name in ("pandas", "scipy.stats._stats_py")))
"""


def loaded_after(body):
    done = subprocess.run([sys.executable, "-c", CODE.format(body=body)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[-2]


@pytest.mark.slow
def test_scikit_learn_is_loaded_without_what_no_command_uses():
    assert loaded_after("import sklearn.preprocessing, pyarrow.csv, linsep.persistence.model_file") == "[]"


@pytest.mark.slow
def test_a_fit_needs_neither():
    assert (
        loaded_after("from linsep import LinearSVC\nLinearSVC().fit([[0.0], [1.0]], [0, 1]).predict([[2.0]])") == "[]"
    )


def test_what_is_deferred_is_loaded_when_it_is_used():
    body = "import scipy.stats\nfrom scipy import stats\nassert stats.norm.cdf(0.0) == 0.5\nassert stats is scipy.stats"
    assert loaded_after(body) == "['scipy.stats._stats_py']"


def test_what_is_left_out_seems_not_to_be_installed():
    body = "try:\n    import pandas\nexcept ModuleNotFoundError as error:\n    assert error.name == 'pandas'"
    assert loaded_after(body) == "[]"


def test_the_first_fit_loads_nothing_and_looks_for_no_packages():
    code = """
import importlib.metadata, sys
from linsep import LinearSVC, LogisticRegression
importlib.metadata.entry_points = None
before = set(sys.modules)
for model in (LogisticRegression(), LinearSVC(loss="hinge")):
    model.fit([[0.0], [1.0], [3.0]], [0, 1, 1])
print(sorted(name for name in set(sys.modules) - before if name.partition(".")[0] == "linsep"))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


def test_a_plain_fit_loads_nothing_of_what_it_is_not_asked_for(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n0,no\n1,no\n2,yes\n3,no\n4,yes\n5,yes\n")
    code = """
import sys
from linsep.cli import learning
learning.fit(sys.argv[1], target="y", output=None)
asked_for = ("linsep.selection.", "linsep.workflows.holding_out", "linsep.workflows.evaluating", "linsep.report")
print(sorted(name for name in sys.modules if name.startswith(asked_for)))
"""
    words = [sys.executable, "-c", code, str(tmp_path / "t.csv")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "[]"), done.stderr


@pytest.mark.parametrize(("cause", "code"), [(KeyboardInterrupt(), 130), (cli._Ended(15), 143)])
def test_a_signal_while_a_class_is_made_is_no_internal_error(monkeypatch, capsys, cause, code):
    def interrupted():
        raise RuntimeError("Error calling __set_name__") from cause  # as Python 3.11 does

    monkeypatch.setattr(cli, "_app", interrupted)
    assert cli.main() == code
    assert "internal error" not in capsys.readouterr().err
