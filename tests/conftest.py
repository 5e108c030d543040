"""Data that several test files share, and how hypothesis draws: the same examples every time, unless told otherwise."""

import os
import signal
import sys

# Two processes test on two processors: a thread each, but where a test asks for more. Before NumPy looks.
for name in ("LINSEP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

# Pictures are drawn on no screen.
os.environ.setdefault("MPLBACKEND", "Agg")

# A shell that is no terminal's starts what it leaves in the background deaf to Ctrl-C; tests, and the programs that
# they start, hear it wherever they run.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples every time, and few, so that all tests take minutes; `.ci/run` looks at many more of formulas,
# arithmetic and proofs. None has a deadline: how long an example takes is the machine's affair.
settings.register_profile("steady", derandomize=True, max_examples=50, deadline=None)
settings.register_profile("thorough", derandomize=True, max_examples=1000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    """Close the figures of a test: matplotlib keeps them, and warns of too many."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def overlapping():
    """Sixty points in three dimensions that no plane separates, labels ±1."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    return X, np.where(X @ [1.0, -2.0, 0.5] + 0.8 * rng.standard_normal(60) > 0.2, 1, -1)


@pytest.fixture(scope="session")
def separable():
    """Forty points with whole coordinates, so that sums are exact, that a plane separates; labels ±1."""
    rng = np.random.default_rng(3)
    X = rng.integers(-9, 10, (400, 3)).astype(np.float64)
    score = X @ [2.0, -3.0, 1.0] + 4
    clear = np.flatnonzero(np.abs(score) > 5)[:40]
    return X[clear], np.where(score[clear] > 0, 1, -1)


@pytest.fixture(scope="session")
def callbacks():
    """`sklearn.callback`, which scikit-learn has from 1.9 on."""
    pytest.importorskip("sklearn.callback.tests._utils", reason="scikit-learn has callbacks from 1.9 on")
    return pytest.importorskip("sklearn.callback")


@pytest.fixture(scope="session")
def browser():
    """One headless Chromium for all tests that look at HTML files."""
    from browser import Browser, find

    program = find()
    if program is None:
        pytest.skip("no Chromium found; install Debian's package chromium to test HTML files in a browser")
    running = Browser(program)
    yield running
    running.close()
