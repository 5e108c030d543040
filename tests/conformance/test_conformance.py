"""Every head on every storage by every solver that can serve them: the optimum of an oracle, and its certificate.

The oracles are SciPy and CVXPY on the formulas written out in `tests/shared/oracles.py`. Of each fit is asked that its
objective is that of the formula and that no bound lies above the optimum; of solvers that prove what they do, that the
gap is the one asked for, and that the certificate is confirmed from the data alone.
"""

from dataclasses import dataclass, fields
from functools import cache

import numpy as np
import pytest

from linsep import losses, solvers
from linsep._core import Rows
from linsep.certificates.gap.certificate import Certificate
from linsep.certificates.gap.certify import certify
from linsep.objective.enclosure import enclosed_bound
from linsep.objective.examples import InBlocks, InMemory
from linsep.objective.heads import CrammerSinger, Margin, Softmax
from linsep.objective.objective import Objective
from linsep.objective.statement import Statement
from linsep.penalties import L1, L2, ElasticNet
from oracles import LOSSES, ClassMarginFormula, MarginFormula, SoftmaxFormula
from storage import STORAGES, STREAMED, Workspace, rows_of_classes

pytestmark = pytest.mark.slow  # some 600 fits: `.ci/run` makes them


@dataclass(frozen=True)
class Setting:
    """What is asked of a fit beside its loss."""

    C: float = 0.7
    penalty: object = L2()
    tol: float = 1e-6
    intercept: bool = True
    by_class: bool = False
    weighted: bool = False


SETTINGS = {
    "plain": Setting(),
    "no intercept": Setting(intercept=False),
    "C = inf": Setting(C=np.inf),
    "tiny tol": Setting(tol=1e-11),
    "large C, tiny tol": Setting(C=1e8, tol=1e-11),
    "L1": Setting(penalty=L1()),
    "elastic net": Setting(penalty=ElasticNet(0.4)),
    "class weights": Setting(by_class=True),
    "sample weights": Setting(weighted=True),
}
#: Of three classes at once: the head, its formula, and the loss that it is for two.
AT_ONCE = {
    "softmax": (Softmax(3), SoftmaxFormula, "logistic"),
    "crammer_singer": (CrammerSinger(3), ClassMarginFormula, "hinge"),
}
HEADS = [*LOSSES, *AT_ONCE]
#: Solvers that end where no step leads down, and prove nothing.
FIRST_ORDER = {"gradient_descent", "sgd", "perceptron"}
#: What takes coordinate descent more passes than anybody waits for: they grow with C.
GIVES_UP = {("large C, tiny tol", "dual")}
#: Without a penalty nothing bounds how far a hinge may fall, and the certificate says so.
UNPROVEN = {("hinge", "C = inf")}
CLASS_WEIGHTS = {2: np.array([0.5, 2.0]), 3: np.array([0.5, 2.0, 1.25])}


def head_of(name):
    return AT_ONCE[name][0] if name in AT_ONCE else Margin(losses.get(name))


@cache
def examples_of(head, n, d):
    """Rows, classes and weights."""
    X, codes = rows_of_classes(n, d, 3 if head in AT_ONCE else 2)
    return X, codes, np.random.default_rng(1).uniform(0.1, 3.0, n)


@cache
def oracle(head, setting, n, d):
    """The formula, and its optimum."""
    X, codes, weight = examples_of(head, n, d)
    s = weight if setting.weighted else 1.0
    if setting.by_class:
        s = s * CLASS_WEIGHTS[3 if head in AT_ONCE else 2][codes]
    numbers = dict(C=setting.C, l2=setting.penalty.l2, l1=setting.penalty.l1, s=s, intercept=setting.intercept)
    if head in AT_ONCE:
        formula = AT_ONCE[head][1](X, codes, classes=3, **numbers)
    else:
        formula = MarginFormula(X, np.where(codes == 1, 1.0, -1.0), loss=head, **numbers)
    return formula, formula.optimum()


def objective_of(head, setting, examples):
    weights = CLASS_WEIGHTS[3 if head in AT_ONCE else 2] if setting.by_class else None
    return Objective(examples, head_of(head), setting.penalty, setting.C, weights, setting.intercept)


class Elsewhere(InBlocks):
    """Examples that are not in memory, to ask a solver whether it serves them."""

    n, d, counts, squares = 2, 1, np.ones(2, dtype=np.int64), np.ones(2)

    def __iter__(self):
        raise AssertionError("nobody is to go through them")


def cases(storages):
    """Yield every head, storage, setting and solver that go together."""
    inside = InMemory(Rows(np.eye(2)), np.array([0, 1]))
    for head in HEADS:
        for name, setting in SETTINGS.items():
            for storage in storages:
                objective = objective_of(head, setting, Elsewhere() if storage in STREAMED else inside)
                for solver, kind in solvers.SOLVERS.items():
                    if solvers.serves(kind, objective):
                        # Coordinate descent goes through a disk a few hundred times.
                        marks = [pytest.mark.slow] if solver == "dual" and storage in STREAMED[1:3] else []
                        yield pytest.param(
                            head, storage, name, solver, marks=marks, id=f"{head}-{storage}-{name}-{solver}"
                        )


def solver_of(name, setting):
    """Return the solver, patient where that helps, and with the tolerance that is asked for, where it has such."""
    hasty = name in FIRST_ORDER or (setting, name) in GIVES_UP
    wanted = {"tol": SETTINGS[setting].tol, "max_iter": 100 if hasty else 20_000}
    known = {field.name for field in fields(solvers.SOLVERS[name])}
    return solvers.SOLVERS[name](**{key: value for key, value in wanted.items() if key in known})


def conforms(head, storage, name, solver, folder, n=60, d=4):
    """Fit, and hold the result against the oracle and against its own certificate."""
    setting = SETTINGS[name]
    X, codes, weight = examples_of(head, n, d)
    formula, best = oracle(head, setting, n, d)
    examples = STORAGES[storage](X, codes, weight if setting.weighted else None, folder)
    objective = objective_of(head, setting, examples)
    workspace = Workspace(folder, n) if storage in STREAMED else None
    result = solvers.minimise(objective, solver_of(solver, name), workspace=workspace)
    value = formula.value(result.w, result.b)
    small = 1e-12 * formula.value(np.zeros(formula.shape)) + 1e-300  # an objective of 0 is enclosed by the least floats

    # the oracle found no worse, and nothing is below what the oracle found
    assert best.value * (1 - 1e-7) - small <= value
    classes = range(len(examples.counts))
    weights = dict(zip(classes, CLASS_WEIGHTS[len(classes)].tolist(), strict=True)) if setting.by_class else None
    loss = losses.get(AT_ONCE[head][2] if head in AT_ONCE else head)
    statement = Statement(loss, setting.penalty, setting.C, setting.intercept, weights)
    claim = certify(objective, result, statement, classes, setting.tol)
    assert claim.primal == pytest.approx(value, rel=1e-11, abs=small)
    assert claim.dual - claim.rounding <= best.value * (1 + 1e-12) + small
    primal, dual = enclosed_bound(objective, result.w, result.b, claim.dual_point)
    assert primal.low <= value * (1 + 1e-12) + small
    assert primal.high >= value * (1 - 1e-12) - small
    assert dual.low <= best.value * (1 + 1e-12) + small

    certificate = Certificate(claim, result.w.T, result.b, statement)
    if solver in FIRST_ORDER:
        return
    if (name, solver) in GIVES_UP:
        assert not result.converged
        assert not certificate.proven
        return
    assert result.converged, result.message
    assert value <= best.value * (1 + setting.tol) + small
    assert certificate.proven == ((head, name) not in UNPROVEN)
    if certificate.proven:
        assert certificate.relative_gap <= setting.tol
        assert primal.high - dual.low <= 2 * setting.tol * abs(value) + small
        confirmed = certificate.verify(X, codes, weight if setting.weighted else None)
        assert confirmed, confirmed.reason


@pytest.mark.filterwarnings("ignore::linsep.solvers.StepSizeWarning")
@pytest.mark.parametrize(("head", "storage", "setting", "solver"), list(cases(STORAGES)))
def test_every_solver_finds_the_optimum_and_proves_it(head, storage, setting, solver, tmp_path):
    conforms(head, storage, setting, solver, tmp_path)


#: More of everything, but for what takes coordinate descent too long.
LARGER = [
    case
    for case in cases(["dense", "many blocks"])
    if case.values[3] not in FIRST_ORDER and not case.marks and case.values[2:] != ("tiny tol", "dual")
]


@pytest.mark.slow
@pytest.mark.parametrize(("head", "storage", "setting", "solver"), LARGER)
def test_more_examples_and_columns(head, storage, setting, solver, tmp_path):
    conforms(head, storage, setting, solver, tmp_path, n=600, d=20)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_a_tiny_tol_is_reached_in_any_order_of_the_rows(seed, tmp_path):
    setting = SETTINGS["large C, tiny tol"]
    X, codes, _ = examples_of("crammer_singer", 600, 20)
    order = np.random.default_rng(seed).permutation(600)
    examples = STORAGES["dense"](X[order], codes[order], None, tmp_path)
    objective = objective_of("crammer_singer", setting, examples)
    result = solvers.minimise(objective, solver_of("multipliers", "large C, tiny tol"))
    assert result.converged, result.message
