"""Ctrl-C during a fit."""

import json
import os
import subprocess
import sys
from concurrent import futures

import numpy as np
import pytest
from scipy import sparse

from linsep import (
    HardMarginSVC,
    LeastSquaresClassifier,
    LinearClassifier,
    LinearSVC,
    LogisticRegression,
    LogisticRegressionCV,
    ZeroOneClassifier,
    leave_one_out,
    regularization_path,
    solvers,
)
from linsep.losses import Loss
from linsep.solvers import GradientDescent, StochasticDescent, minimising

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


class Interrupted(Loss):
    """The logistic loss of a user who presses Ctrl-C at the n-th slope."""

    name, formula = "interrupted", "log(1 + e^(−z))"

    def __init__(self, after):
        self.after, self.calls = after, 0

    def value(self, z):
        return np.logaddexp(0, -z)

    def slope(self, z):
        self.calls += 1
        if self.calls == self.after:
            raise KeyboardInterrupt
        return -1 / (1 + np.exp(z))


@pytest.mark.parametrize(
    ("solver", "after"),
    [
        (GradientDescent(0.1, None), 20),
        (StochasticDescent(0.1, None), 400),
        (StochasticDescent(0.1, None, "last", "cyclic"), 400),
    ],
    ids=["gd", "sgd", "cyclic"],
)
def test_an_interrupted_fit_raises_and_leaves_the_best_plane_so_far(solver, after, overlapping):
    X, y = overlapping
    model = LinearClassifier(Interrupted(after), solver=solver, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not model.converged_
    assert model.n_iter_ > 1
    w, b = model.coef_[0], model.intercept_[0]
    objective = np.logaddexp(0, -y * (X @ w + b)).mean() + w @ w / (2 * len(y))
    assert objective == pytest.approx(model.history_["best"][-1])
    assert model.score(X, y) > 0.8


def test_an_interrupted_minimisation_raises():
    def grad(x):
        if x[0] < 0.5:
            raise KeyboardInterrupt
        return 2 * x

    with pytest.raises(KeyboardInterrupt):
        solvers.minimize(lambda x: x @ x, grad, [1.0], schedule=0.1)


#: Ctrl-C after the first step that a fit records, as soon as a thread is inside the kernels.
INTERRUPT = """
import json, os, signal, sys, threading
import numpy as np
from linsep import LinearClassifier, Perceptron, SGDClassifier
from linsep.solvers import GradientDescent
from linsep.history import History

recorded, add = threading.Event(), History.add

def record(self, record):
    add(self, record)
    if record.step > 0:
        recorded.set()

History.add = record

def interrupt():
    recorded.wait()
    while not any("_core" in frame.f_code.co_filename for frame in sys._current_frames().values()):
        pass
    os.kill(os.getpid(), signal.SIGINT)

rng = np.random.default_rng(0)
X, y = rng.standard_normal((2000, 30)), rng.integers(0, {classes}, 2000)
outcomes = []
for model in [{models}]:
    recorded.clear()
    threading.Thread(target=interrupt).start()
    try:
        model.fit(X, y)
        raised = False
    except KeyboardInterrupt:
        raised = True
    shape = list(model.coef_.shape) if hasattr(model, "coef_") else None
    outcomes.append(dict(raised=raised, shape=shape))
print(json.dumps(outcomes))
"""


def interrupt(models, classes):
    script = INTERRUPT.format(models=models, classes=classes)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# None of these fits would end by itself within hours.


@pytest.mark.slow
def test_ctrl_c_ends_a_compiled_fit_at_once_and_leaves_a_plane():
    models = """SGDClassifier(stopping=None, max_iter=10**8), Perceptron(max_iter=10**8, prove=False),
        LinearClassifier("logistic", solver=GradientDescent(stopping=None, max_iter=10**8))"""
    for outcome in interrupt(models, 2):
        assert outcome["raised"]
        assert outcome["shape"] == [1, 30]


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_ends_a_fit_of_several_classes_at_once_and_leaves_their_planes(n_jobs):
    (outcome,) = interrupt(f"SGDClassifier(stopping=None, max_iter=10**8, n_jobs={n_jobs})", 3)
    assert outcome["raised"]
    assert outcome["shape"] == [3, 30]


class CtrlC:
    """Ctrl-C at the n-th call of a function of linsep; as a context, it counts them where n is None."""

    def __init__(self, at=None):
        self.at, self.calls, self.pressed = at, 0, None

    def __enter__(self):
        sys.setprofile(self)
        return self

    def __exit__(self, *failure):
        sys.setprofile(None)

    def __call__(self, frame, event, argument):
        if event != "call" or f"{os.sep}linsep{os.sep}" not in frame.f_code.co_filename:
            return
        if frame.f_code.co_name == "<genexpr>":  # Python itself loses what is raised while one is thrown away
            return
        self.calls += 1
        if self.calls == self.at:
            self.pressed = frame.f_code.co_qualname
            raise KeyboardInterrupt


rng = np.random.default_rng(0)
X = rng.normal(size=(2400, 6))
y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
three, thin = rng.integers(0, 3, size=len(X)), sparse.csr_array(X * (rng.random(X.shape) < 0.2))
EVERY = {
    "logistic": lambda: LogisticRegression(tol=1e-8).fit(X, y),
    "softmax": lambda: LogisticRegression().fit(X, three),
    "l1": lambda: LogisticRegression(l1_ratio=1.0).fit(X, y),
    "unpenalised": lambda: LogisticRegression(C=np.inf).fit(X, y),
    "hinge": lambda: LinearSVC(tol=1e-6).fit(X, y),
    "hinge in blocks": lambda: LinearSVC(C=1e3).fit(X * np.logspace(-2, 2, 6), y),
    "sparse": lambda: LinearSVC().fit(thin, y),
    "several hinges": lambda: LinearSVC().fit(X[:300], three[:300]),
    "all classes": lambda: LinearSVC(multi_class="crammer_singer").fit(X[:300], three[:300]),
    "squares": lambda: LeastSquaresClassifier().fit(X, y),
    "widest": lambda: HardMarginSVC().fit(X[:100], X[:100, 0] > 0),
    "zero-one": lambda: ZeroOneClassifier().fit(X[:20, :2], y[:20]),
    "folds": lambda: LogisticRegressionCV(Cs=3, cv=2).fit(X[:300], y[:300]),
    "path": lambda: regularization_path(X[:300], y[:300], tol=0.3),
    "without a row": lambda: leave_one_out(fitted, X[:40], y[:40]),
}
fitted = LogisticRegression().fit(X[:40], y[:40])


@pytest.mark.slow
@pytest.mark.parametrize("fit", EVERY.values(), ids=EVERY)
def test_ctrl_c_is_heard_wherever_a_fit_is(fit):
    with CtrlC() as counted:
        fit()
    heard = 0
    for at in np.unique(np.linspace(1, counted.calls - 3, 60).astype(int)):
        try:
            with CtrlC(at) as press:
                fit()
        except KeyboardInterrupt:
            heard += 1
        else:
            assert press.pressed is None  # it was over before
    assert heard > 30


def test_ctrl_c_within_the_kernel_of_a_whole_run_is_heard(monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("linsep._core.Rows.sprung_newton", interrupted)
    with pytest.raises(KeyboardInterrupt):
        LinearSVC().fit(X[:100], y[:100])


def test_ctrl_c_is_heard_where_all_shares_are_solved_already(monkeypatch):
    def late(tasks, timeout):
        futures.wait(tasks)
        raise KeyboardInterrupt

    monkeypatch.setattr(minimising, "wait", late)
    with pytest.raises(KeyboardInterrupt):
        LinearSVC(n_jobs=2).fit(X[:90], three[:90])
