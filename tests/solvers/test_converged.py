"""`converged_` is said of nothing whose gap is not proven: every solver on every loss and penalty that it serves."""

import warnings

import numpy as np
import pytest

from linsep import LinearClassifier
from linsep._core import Rows
from linsep.losses import get
from linsep.objective.problem import Problem
from linsep.penalties import get as penalty_of
from linsep.solvers import SOLVERS, serves
from storage import rows_of_classes

X, CODES = rows_of_classes(80, 3, 2)
CASES = [
    (loss, penalty, C, solver)
    for loss in ("perceptron", "hinge", "squared_hinge", "logistic", "square")
    for penalty in ("l2", "l1", "elasticnet")
    for C in (1.0, np.inf)
    for solver, kind in SOLVERS.items()
    if solver != "perceptron"  # which proves nothing, and takes its time over it
    if serves(
        kind,
        Problem(Rows(X), 2.0 * CODES - 1, get(loss), penalty_of(penalty, 0.5 if penalty == "elasticnet" else None), C),
    )
    and (C == 1.0 or penalty == "l2")
]


@pytest.mark.parametrize("tol", [1e-3, pytest.param(1e-8, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("loss", "penalty", "C", "solver"), CASES)
def test_converged_means_a_proven_gap(loss, penalty, C, solver, tol):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what has not arrived
        ratio = 0.5 if penalty == "elasticnet" else None
        model = LinearClassifier(
            loss, penalty=penalty, l1_ratio=ratio, C=C, solver=solver, tol=tol, random_state=0
        ).fit(X, CODES)
    assert not model.converged_ or model.dual_gap_ <= tol
    assert model.converged_ == model.certificate_.proven
