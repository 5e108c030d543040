"""Work beside the main thread where there is no room for another: it is done, and nothing waits for ever."""

import subprocess
import sys

import numpy as np
import pytest

from linsep import SGDClassifier, cli
from linsep._common import threads
from linsep._core import helpers, in_threads
from linsep.certificates import data_hash
from linsep.cli import startup


@pytest.fixture
def no_room(monkeypatch):
    monkeypatch.setattr(threads, "is_room", lambda count=1: False)
    monkeypatch.setattr("threading.Thread.start", lambda thread: pytest.fail("a thread was started"))


def test_room_is_asked_for_where_addresses_are_limited(monkeypatch):
    assert threads.is_room(4)
    monkeypatch.setattr(threads, "address_limit", lambda: 1 << 40)
    assert threads.is_room(4)
    monkeypatch.setattr(threads, "STACK", 1 << 60)
    assert not threads.is_room(4)


def test_without_room_the_work_is_done_by_whoever_asks(no_room, monkeypatch):
    monkeypatch.setenv("LINSEP_NUM_THREADS", "3")
    found = []
    in_threads(found.append, range(5))
    assert found == [0, 1, 2, 3, 4]
    with helpers(2) as pool:
        with pytest.raises(KeyError, match="five"):
            pool.submit({}.__getitem__, "five").result()
        assert list(pool.map(abs, [-1, 2])) == [1, 2]


def test_hashes_and_fits_are_the_same_without_room(request, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 4)), rng.integers(0, 3, 300)
    monkeypatch.setattr(data_hash, "CHUNK", 100)
    before = data_hash.data_hash(X, y), SGDClassifier(random_state=0, n_jobs=3).fit(X, y).coef_
    request.getfixturevalue("no_room")
    assert data_hash.data_hash(X, y) == before[0]
    assert np.array_equal(SGDClassifier(random_state=0, n_jobs=3).fit(X, y).coef_, before[1])


def test_a_command_says_what_it_lacks_before_it_loads_anything(monkeypatch, capsys):
    monkeypatch.setattr(startup, "address_limit", lambda: 300 << 20)
    monkeypatch.setattr(sys, "argv", ["linsep", "doctor"])
    assert cli.main() == 2
    assert "not enough memory (ulimit -v leaves this process 300 MB of addresses" in capsys.readouterr().err


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("can't start new thread"),
        ImportError("libarrow.so.2600: failed to map segment from shared object"),
        OSError(12, "Cannot allocate memory", "scipy"),
        OSError("Unknown error: Failed to launch worker thread: Resource temporarily unavailable"),
    ],
)
def test_what_libraries_say_of_too_little_memory_is_no_internal_error(error, monkeypatch, capsys):
    monkeypatch.setattr(cli, "_app", lambda: lambda *words, **how: (_ for _ in ()).throw(error))
    monkeypatch.setattr(sys, "argv", ["linsep", "doctor"])
    assert cli.main() == 2
    said = capsys.readouterr().err
    assert said.startswith("linsep: not enough memory (")
    assert "ulimit -v" in said


@pytest.mark.slow
def test_a_process_with_few_addresses_ends_at_once_with_a_line():
    resource = pytest.importorskip("resource")
    command = [sys.executable, "-c", "from linsep.cli import run; run()", "fit", "data.csv", "--target", "y"]
    limit = (250 << 20, 250 << 20)
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=20, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit),
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("linsep: not enough memory (ulimit -v leaves this process 250 MB")
