"""Threads of the kernels: how many, that results do not depend on them, and who else may run."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from linsep import LogisticRegressionCV, SGDClassifier, losses
from linsep._core import Rows, one_blas_thread, threads


@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_results_do_not_depend_on_the_number_of_threads(monkeypatch, to):
    rng = np.random.default_rng(1)
    X, y = to(rng.standard_normal((9_000, 200))), rng.integers(0, 3, 9_000)
    w, u, results = rng.standard_normal((2, 200)), rng.standard_normal(9_000), []
    for count in ("1", "2", "5"):
        monkeypatch.setenv("LINSEP_NUM_THREADS", count)
        rows = Rows(X)
        model = SGDClassifier(random_state=0, max_iter=2, stopping="max_iterations")
        with pytest.warns(match="did not converge"):
            model.set_params(max_iter=2, stopping=None).fit(X, y)
        products = rows.matmat(np.tile(w.T, 4)), rows.rmatmat(np.outer(u, np.arange(7.0)))
        results.append([rows.matvec(w), rows.rmatvec(u), rows.squared_norms(), *products, model.coef_])
    for other in results[1:]:
        for ours, theirs in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_the_number_of_threads_is_read_at_every_call(monkeypatch):
    monkeypatch.setenv("LINSEP_NUM_THREADS", "3")
    assert threads() == 3
    monkeypatch.delenv("LINSEP_NUM_THREADS")
    assert threads() >= 1


@pytest.mark.parametrize("wrong", ["0", "-1", "two", "1.5"])
def test_a_number_of_threads_that_makes_no_sense_is_an_error(monkeypatch, wrong):
    monkeypatch.setenv("LINSEP_NUM_THREADS", wrong)
    with pytest.raises(ValueError, match=r"LINSEP_NUM_THREADS"):
        threads()


def test_another_thread_runs_while_the_kernels_do():
    rng = np.random.default_rng(0)
    X, steps = rng.standard_normal((1000, 200)), 600_000
    rows, order, eta = Rows(X), rng.integers(0, 1000, steps), np.full(steps, 0.01)
    options = dict(l2=0.01, l1=0.0, intercept=True, w=np.zeros(200), b=np.zeros(1))
    y = rng.choice([-1.0, 1.0], 1000)
    arguments = y, None, order, eta, losses.Logistic()

    def ticks_of_this_thread():
        work, ticks = threading.Thread(target=rows.stochastic_steps, args=arguments, kwargs=options), 0
        work.start()
        while work.is_alive():
            time.sleep(0.001)
            ticks += 1
        return ticks

    # A kernel that held the lock would let this thread run once or twice, however often one tries.
    assert any(ticks_of_this_thread() > 5 for _ in range(20))


CREW = """
import os
import sys
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from linsep._core import Rows
rows = Rows(np.random.default_rng(0).standard_normal((40_000, 50)))  # enough for threads
w = np.arange(50.0)
expected = rows.X @ w
def right(_): return np.allclose(rows.matvec(w), expected)
assert all(map(right, range(3)))
with ThreadPoolExecutor(4) as pool:
    assert all(pool.map(right, range(40)))  # callers that meet at the threads
child = os.fork()
if child == 0:  # the threads stayed behind in the parent
    os._exit(0 if right(0) and right(1) else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_threads_serve_several_callers_and_children_of_a_fork():
    settings = os.environ | {"LINSEP_NUM_THREADS": "3", "PYTHONWARNINGS": "ignore::DeprecationWarning"}
    done = subprocess.run([sys.executable, "-c", CREW], env=settings, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("count", ["0", "-1", "two", "²", "1" * 21, "99999999999999999999999999", "2048", "1.5"])
def test_a_number_of_threads_that_is_none_is_refused_in_words(count, monkeypatch):
    monkeypatch.setenv("LINSEP_NUM_THREADS", count)
    with pytest.raises(ValueError, match=r"LINSEP_NUM_THREADS=.* must be a positive whole number, 1024 at the most"):
        threads()


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_linear_algebra_has_its_threads_again_when_the_last_one_that_asked_for_one_has_left():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        assert set(blas_threads()) <= {1}
        first.__exit__(None, None, None)  # not in the order in which they came, as threads do
        assert set(blas_threads()) <= {1}
        second.__exit__(None, None, None)
        assert blas_threads() == before


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_choice_gives_the_threads_of_linear_algebra_back(n_jobs):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 4))
    y = (X[:, 0] + rng.standard_normal(200) > 0).astype(int)
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        LogisticRegressionCV(Cs=5, prove=True, n_jobs=n_jobs).fit(X, y)
        assert blas_threads() == before
