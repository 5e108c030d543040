"""A quick start: what no command uses is not loaded, and what is deferred is there when it is asked for."""

import os
import signal
import subprocess
import sys
import time

import pytest

from linsep import cli

CODE = """
import sys
from linsep.cli.startup import SELDOM, defer, leave_out
defer(*SELDOM)
leave_out("pandas", "psutil")
{body}
inside = ("asyncio.events", "numpy.f2py.f2py2e", "numpy.testing._private", "psutil", "pyarrow.parquet.core")
print(sorted(name for name in sys.modules if name in ("pandas", "scipy.stats._stats_py", *inside)))
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


@pytest.mark.parametrize(
    ("body", "loaded"),
    [
        (
            "import scipy.stats as s\nfrom scipy import stats\nassert stats is s\nassert stats.norm.cdf(0.0) == 0.5",
            "'scipy.stats._stats_py'",
        ),
        ("import asyncio\nassert asyncio.run(asyncio.sleep(0, 'here')) == 'here'", "'asyncio.events'"),
        ("from pyarrow import parquet\nassert parquet.ParquetFile.__name__ == 'ParquetFile'", "'pyarrow.parquet.core'"),
        ("import pyarrow.parquet.core", "'pyarrow.parquet.core'"),
    ],
)
def test_what_is_deferred_is_loaded_when_it_is_used(body, loaded):
    assert loaded in loaded_after(body)


def test_threads_that_use_what_is_deferred_at_once_all_find_it(tmp_path):
    source = "import sys, time\nassert not hasattr(sys.modules[__name__], 'x')\ntime.sleep(0.1)\nx = 1\n"
    (tmp_path / "slow_one.py").write_text(source)
    body = f"""
sys.path.insert(0, {str(tmp_path)!r})
defer("slow_one")
import slow_one
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool:
    assert list(pool.map(lambda _: slow_one.x, range(4))) == [1] * 4
"""
    assert loaded_after(body) == "[]"


def test_what_is_left_out_seems_not_to_be_installed():
    body = "try:\n    import pandas\nexcept ModuleNotFoundError as error:\n    assert error.name == 'pandas'"
    assert loaded_after(body) == "[]"


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_plain_fit_loads_nothing_of_what_it_is_not_asked_for(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n0,no\n1,no\n2,yes\n3,no\n4,yes\n5,yes\n")
    code = """
import sys
from linsep.cli import learning
learning.fit(sys.argv[1], target="y", output=None)
asked_for = (
    *("linsep.selection.", "linsep.workflows.holding_out", "linsep.workflows.evaluating", "linsep.report"),
    *("linsep.separation.", "linsep.solvers.zero_one.search", "linsep.estimators._zero_one", "linsep.estimators._sgd"),
    *("linsep.estimators._perceptron", "linsep.estimators._hard_margin", "linsep.analysis.evaluation"),
)
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


@pytest.mark.parametrize("moment", ["_prepare_streams", "print_exit"])
@pytest.mark.parametrize(("raised", "number"), [(KeyboardInterrupt(), 2), (cli._Ended(15), 15)])
def test_a_signal_before_a_command_listens_or_when_it_is_done_shows_no_traceback(monkeypatch, raised, number, moment):
    class EndedError(Exception):
        pass

    def interrupted(*_):
        raise raised

    def killed(process, signalled):
        assert (process, signalled) == (os.getpid(), number)
        raise EndedError

    monkeypatch.setattr(sys, "argv", ["linsep", "--version"])
    monkeypatch.setattr(cli, "_hear_signals", lambda: None)
    monkeypatch.setattr(cli, "is_plain", lambda: True)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(os, "kill", killed)
    if moment == "_prepare_streams":
        monkeypatch.setattr(cli, moment, interrupted)
    else:
        monkeypatch.setattr(sys.stderr, "flush", interrupted)
    with pytest.raises(EndedError):
        cli.run()


#: A command that is within a pool of threads, or in a loop that does not come back, when a signal comes.
BUSY = """
import os, signal, sys, time
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which nohup has ignored
from concurrent.futures import ThreadPoolExecutor
from linsep import cli

def busy():
    {before}
    print("busy", flush=True)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(time.sleep, 60).result()

cli._app = lambda: lambda *words, **how: busy()
cli.run()
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_a_command_within_two_seconds_whatever_it_waits_for(number):
    reset = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    with subprocess.Popen([sys.executable, "-c", BUSY.format(before=reset)], stdout=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"busy\n"
        begin = time.monotonic()
        child.send_signal(number)
        try:
            assert child.wait(10) == -number
            assert time.monotonic() - begin < 3  # two, and what a busy machine adds
        finally:
            child.kill()


ENDS = """
import atexit, os, sys
{before}
from linsep import cli
sys.argv = ["linsep", "--version"]
if {pandas}:
    cli._app = lambda: lambda *words, **how: __import__("pandas") and 0
cli.run()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("", ""),
        ("atexit.register(print, 'at exit')", "at exit"),
        ("sys.setprofile(lambda *event: None); import threading; threading._register_atexit(print, 'end')", "end"),
    ],
    ids=["nothing to wait for", "registered", "profiled"],
)
def test_what_is_registered_at_exit_runs(before, said):
    code = ENDS.format(before=before, pandas=False)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.partition("\n")[2].strip() == said


@pytest.mark.slow
def test_a_variable_turns_off_the_quick_start_and_the_quick_end():
    late = "import threading; threading._register_atexit(print, 'ordinary end')"
    for value, outcome in (("1", (0, "ordinary end")), ("0", (2, ""))):
        done = subprocess.run(
            [sys.executable, "-c", ENDS.format(before=late, pandas=True)],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"LINSEP_PLAIN_START": value},
        )
        assert (done.returncode, done.stdout.strip()) == outcome, done.stderr
