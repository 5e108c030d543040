"""Linear algebra where addresses are limited: OpenBLAS asks for its memory for ever, unless it has it before."""

import subprocess
import sys

import numpy as np
import pytest

from linsep import LogisticRegression
from linsep._common import threads
from linsep._core import blas

FIT = """
import resource
import numpy as np
import scipy.linalg, threadpoolctl
import linsep, linsep.estimators, linsep.solvers.minimising, linsep.solvers.newton
linsep.LogisticRegression
X = np.random.default_rng(0).standard_normal((300, 6))
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + (20 << 20),) * 2)
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))  # seconds of a processor, which a fit that waits for ever spends
try:
    linsep.LogisticRegression().fit(X, X[:, 0] > 0)
except MemoryError as error:
    print(error)
"""


@pytest.fixture
def limited(monkeypatch):
    monkeypatch.setattr(threads, "address_limit", lambda: 1 << 40)
    yield
    blas._take_buffers.cache_clear()


def test_a_fit_without_room_for_the_buffers_of_linear_algebra_says_so(limited, monkeypatch):
    blas._take_buffers.cache_clear()
    monkeypatch.setattr(threads, "are_free", lambda size: False)
    with blas.one_blas_thread(), pytest.raises(MemoryError, match=r"linear algebra takes \d+ MB more of addresses"):
        LogisticRegression().fit(np.eye(2), [0, 1])


def test_with_room_the_buffers_are_taken_once(limited, monkeypatch):
    asked = []
    blas._take_buffers.cache_clear()
    monkeypatch.setattr(threads, "are_free", lambda size: asked.append(size) or True)
    for _ in range(2):
        blas.take_buffers()
    assert len(asked) == 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="addresses are counted by Linux")
def test_a_fit_in_little_memory_ends():
    done = subprocess.run([sys.executable, "-c", FIT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-300:]
    assert done.stdout == "" or "linear algebra takes" in done.stdout or "memory" in done.stdout
