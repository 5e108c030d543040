"""Our solvers for benchopt, run by benchopt itself in benchmarks of the same form as the field's."""

import shutil
import subprocess
import sys
from pathlib import Path

import cvxpy
import numpy as np
import pytest

HERE = Path(__file__).resolve().parents[2] / "benchmarks" / "benchopt"
DATA = """
import numpy as np
from benchopt import BaseDataset
class Dataset(BaseDataset):
    name = "made up"
    def get_data(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((200, 5))
        return dict(X=X, y=np.where(X @ np.arange(1.0, 6.0) + rng.standard_normal(200) > 0, 1.0, -1.0))
"""
OBJECTIVE = """
import numpy as np
from benchopt import BaseObjective
class Objective(BaseObjective):
    name = "ours"
    min_benchopt_version = "1.6"
    parameters = {parameters}
    def set_data(self, X, y):
        self.X, self.y = X, y
    def get_one_result(self):
        return dict(beta=np.zeros({size}))
    def evaluate_result(self, beta):
        {value}
    def get_objective(self):
        return dict(X=self.X, y=self.y, {handed})
"""
LOGISTIC = dict(
    parameters='{"lmbd": [0.1], "fit_intercept": [False, True]}',
    size="self.X.shape[1] + self.fit_intercept",
    handed="lmbd=self.lmbd, fit_intercept=self.fit_intercept",
    value=(
        "w, b = (beta[:-1], beta[-1]) if self.fit_intercept else (beta, 0.0); "
        "return dict(value=np.logaddexp(0, -self.y * (self.X @ w + b)).sum() + 0.5 * self.lmbd * w @ w)"
    ),
)
HINGE = dict(
    parameters='{"C": [0.01]}',
    size="self.X.shape[1]",
    handed="C=self.C",
    value="return dict(value=self.C * np.maximum(1 - self.y * (self.X @ beta), 0).sum() + 0.5 * beta @ beta)",
)


def optimum(solver, intercept):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    y = np.where(X @ np.arange(1.0, 6.0) + rng.standard_normal(200) > 0, 1.0, -1.0)
    w, b = cvxpy.Variable(5), cvxpy.Variable()
    z = cvxpy.multiply(y, X @ w + (b if intercept else 0.0))
    if solver == "logreg_l2":
        objective = cvxpy.sum(cvxpy.logistic(-z)) + 0.05 * cvxpy.sum_squares(w)
    else:
        objective = 0.01 * cvxpy.sum(cvxpy.pos(1 - z)) + 0.5 * cvxpy.sum_squares(w)
    return cvxpy.Problem(cvxpy.Minimize(objective)).solve(solver="CLARABEL")


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "objective"), [("logreg_l2", LOGISTIC), ("linear_svm", HINGE)])
def test_benchopt_runs_our_solver_to_its_end(tmp_path, solver, objective):
    pytest.importorskip("benchopt")
    pandas = pytest.importorskip("pandas")
    for folder in ("solvers", "datasets"):
        (tmp_path / folder).mkdir()
    shutil.copy(HERE / f"{solver}.py", tmp_path / "solvers" / "linsep.py")
    (tmp_path / "datasets" / "made_up.py").write_text(DATA, "utf-8")
    (tmp_path / "objective.py").write_text(OBJECTIVE.format(**objective), "utf-8")
    words = [sys.executable, "-m", "benchopt", "run", ".", "-r", "1", "-n", "100", "--timeout", "60", "--no-plot"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = (tmp_path / "outputs").glob("*.parquet")
    curves = pandas.read_parquet(found)
    assert set(curves["solver_name"]) == {"linsep"}
    for name, curve in curves.groupby("objective_name"):
        assert curve["objective_value"].min() == pytest.approx(optimum(solver, "fit_intercept=True" in name), rel=1e-6)
