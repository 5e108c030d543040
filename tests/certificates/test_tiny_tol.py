"""A relative gap of 1e-12 is proven, not only reached: sums are taken with as many digits as `tol` asks for."""

import numpy as np
import pandas as pd
import pytest

from command import run, spawn
from exact_oracles import exact_dual, exact_primal
from linsep import LogisticRegression, verify
from linsep._core import Rows
from linsep.losses import Hinge, Logistic, SquaredHinge
from linsep.objective.dual_point import feasible_dual
from linsep.objective.enclosure import sharp_primal
from linsep.objective.problem import Problem
from linsep.penalties import L1, L2, ElasticNet


def many_rows(K, n=20_000, d=8):
    """Rows enough for plain sums to lose more than 1e-12 of the objective."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((n, d)).round(4)
    return X, np.argmax(X @ rng.standard_normal((d, K)) + 1.5 * rng.gumbel(size=(n, K)), axis=1)


@pytest.mark.parametrize("K", [2, 3])
def test_m10_a_tiny_tol_is_proven_in_memory(K):
    X, y = many_rows(K)
    model = LogisticRegression(tol=1e-12).fit(X, y)
    assert model.certificate_.proven
    outcome = verify(model, X, y)
    assert outcome.proven
    assert outcome.relative_gap <= 1e-12  # what is found, with all that rounding may have added


HUGE, NONE = ("--C", "1e8", "--tol", "1e-11"), ("--C", "inf", "--tol", "1e-11")
SETTINGS = [("--tol", "1e-12"), *(pytest.param(some, marks=pytest.mark.slow) for some in (HUGE, NONE))]


@pytest.mark.parametrize("options", SETTINGS)
@pytest.mark.parametrize("K", [pytest.param(2, marks=pytest.mark.slow), 3])
def test_m10_a_tiny_tol_is_proven_of_rows_in_blocks(K, options, tmp_path):
    X, y = many_rows(K)
    file, model = tmp_path / "rows.csv", tmp_path / "model.json"
    pd.DataFrame(X, columns=list("abcdefgh")).assign(y=np.array(["r", "s", "t"])[y]).to_csv(file, index=False)
    done = spawn("fit", file, "--target", "y", *options, "--max-memory", "420MB", "-o", model)
    assert done.code == 0, done.err
    assert "Verified" in run("verify", model, file)


@pytest.mark.parametrize("penalty", [L2(), L1(), ElasticNet(0.3)], ids=str)
@pytest.mark.parametrize("loss", [Logistic(), Hinge(), SquaredHinge()], ids=str)
def test_m13_sharp_enclosures_are_narrow_and_hold_the_exact_numbers(loss, penalty):
    rng = np.random.default_rng(1)
    n, d = 300, 3
    X, y = rng.standard_normal((n, d)) + 5.0, np.where(rng.random(n) < 0.5, 1.0, -1.0)
    problem = Problem(Rows(X), y, loss, penalty, C=0.7)
    w, b = rng.standard_normal(d), 0.3
    primal = sharp_primal(problem, w, b, 1e-15)[0]
    assert primal.low <= exact_primal(problem, w, b) <= primal.high
    assert primal.width <= 1e-13 * primal.high
    alpha, dual = feasible_dual(problem, 0.7 * rng.random(n), 1e-15)
    exact = exact_dual(problem, alpha)
    assert dual.low <= exact <= dual.high
    assert dual.width <= 1e-13 * max(abs(dual.low), primal.high)
